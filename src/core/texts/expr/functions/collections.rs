//! Functions of maps, and those that look into collections of any kind.

use std::collections::BTreeMap;

use super::arguments::{CallArguments, CallFault, CallResult, is_list_or_tuple};
use crate::expr::Number;
use crate::expr::convert::{convert, to_number};
use crate::expr::typed::Typed;
use crate::expr::types::Type;
use crate::expr::unify::unify;
use crate::expr::value::Value;

/// Makes a number of a count.
fn counted(count: usize) -> Typed {
    Typed::number(Number::from(u32::try_from(count).unwrap_or(u32::MAX)))
}

/// Computes `alltrue`, or `anytrue` if `all` is false: the first item that differs from `all` decides.
pub(super) fn truths(args: &CallArguments<'_>, all: bool) -> CallResult {
    let differs = |item: &Typed| (item.value == Value::Bool(true)) != all;
    let result = if args.items(0).iter().any(differs) {
        !all
    } else {
        all
    };
    Ok(Typed::bool(result))
}

pub(super) fn coalesce(args: &CallArguments<'_>) -> CallResult {
    if args.values.is_empty() {
        return Err(CallFault::call("at least one argument is required"));
    }
    let types: Vec<&Type> = args.values.iter().map(|arg| &arg.ty).collect();
    let Some(ty) = unify(&types)? else {
        let reason = "all arguments must have the same type";
        return Err(CallFault::call(reason));
    };
    for arg in args.values {
        let arg = convert(arg.clone(), &ty)?;
        // Empty strings are skipped like nulls.
        let is_empty = arg.value == Value::String(String::new());
        // An unknown argument may have a value that counts.
        if arg.is_unknown() || !(arg.is_null() || is_empty) {
            return Ok(arg);
        }
    }
    let reason = "no non-null, non-empty-string arguments";
    Err(CallFault::call(reason))
}

pub(super) fn coalescelist(args: &CallArguments<'_>) -> CallResult {
    let is_list = |arg: &Typed| is_list_or_tuple(&arg.ty) && !arg.is_null();
    if !args.values.iter().all(is_list) {
        let reason = "coalescelist arguments must be lists or tuples";
        return Err(CallFault::call(reason));
    }
    let is_filled = |arg: &&Typed| matches!(&arg.value, Value::Tuple(items) if !items.is_empty());
    args.values
        .iter()
        .find(is_filled)
        .cloned()
        .ok_or_else(|| CallFault::call("no non-null arguments"))
}

pub(super) fn contains(args: &CallArguments<'_>) -> CallResult {
    Ok(Typed::bool(position(args)?.is_some()))
}

pub(super) fn index(args: &CallArguments<'_>) -> CallResult {
    if matches!(args.ty(0), Type::Set(_)) {
        return Err(CallFault::call("argument must be a list or a tuple"));
    }
    let position = position(args)?.map(counted);
    position.ok_or_else(|| CallFault::call("item not found"))
}

/// Finds the position of the second argument among the items of the first.
fn position(args: &CallArguments<'_>) -> CallResult<Option<usize>> {
    args.check_sequence(0)
        .map_err(|_| CallFault::call("argument must be list, tuple, or set"))?;
    let wanted = &args.values[1];
    for (at, item) in args.items(0).into_iter().enumerate() {
        // Equal values of two types may be equal after a conversion.
        if item.value == wanted.value {
            if item.ty == wanted.ty {
                return Ok(Some(at));
            }
            return Err(CallFault::Uncertain("these values have different types"));
        }
    }
    Ok(None)
}

pub(super) fn element(args: &CallArguments<'_>) -> CallResult {
    if !is_list_or_tuple(args.ty(0)) {
        return Err(CallFault::call("cannot read elements from this"));
    }
    let mut items = args.items(0);
    let Ok(at) = usize::try_from(args.whole(1)?) else {
        return Err(CallFault::Uncertain("a negative index"));
    };
    if items.is_empty() {
        let reason = "cannot use element function with an empty list";
        return Err(CallFault::call(reason));
    }
    let length = items.len();
    // Indexes wrap around at the end.
    Ok(items.swap_remove(at % length))
}

pub(super) fn keys(args: &CallArguments<'_>) -> CallResult {
    let Value::Object(items) = &args.values[0].value else {
        let reason = "a map or an object is needed here";
        return Err(CallFault::argument(0, reason));
    };
    let names = items.keys().map(|name| Value::String(name.clone()));
    Ok(match args.ty(0) {
        // The keys of an object are a tuple, those of a map a list.
        Type::Map(_) => Typed::list(Type::String, names.collect()),
        _ => Typed::tuple(names.map(Typed::of).collect()),
    })
}

pub(super) fn length(args: &CallArguments<'_>) -> CallResult {
    match &args.values[0].value {
        Value::Tuple(items) => Ok(counted(items.len())),
        Value::Object(items) => Ok(counted(items.len())),
        Value::String(text) if text.is_ascii() && !text.contains('\r') => Ok(counted(text.len())),
        // The programs count grapheme clusters, by the tables of their version of Unicode.
        Value::String(_) => Err(CallFault::Uncertain("this counts characters beyond ASCII")),
        _ => Err(CallFault::call(
            "argument must be a string, a collection type, or a structural type",
        )),
    }
}

pub(super) fn lookup(args: &CallArguments<'_>) -> CallResult {
    let (Value::Object(_), key) = (&args.values[0].value, args.text(1)) else {
        return Err(CallFault::argument(0, "lookup() requires a map"));
    };
    if args.values.len() > 3 {
        let reason = "lookup() takes two or three arguments";
        return Err(CallFault::call(reason));
    }
    let attributes = args.values[0].clone().into_attributes();
    if let Some(item) = attributes.and_then(|mut attributes| attributes.remove(key)) {
        return Ok(item);
    }
    match (args.values.get(2), args.ty(0)) {
        // The default must have the type of the items: the result has one type.
        (Some(default), Type::Map(item)) => convert(default.clone(), item).map_err(|_| {
            let reason = "the default must have the type of the map's items";
            CallFault::argument(2, reason)
        }),
        (Some(default), _) => Ok(default.clone()),
        (None, Type::Map(_)) => {
            let reason = format!("lookup failed to find key {key:?}");
            Err(CallFault::Call(reason))
        }
        (None, _) => {
            let reason = format!("the given object has no attribute {key:?}");
            Err(CallFault::Argument(0, reason))
        }
    }
}

pub(super) fn merge(args: &CallArguments<'_>) -> CallResult {
    // Nulls are skipped.
    let maps: Vec<&Typed> = args.values.iter().filter(|arg| !arg.is_null()).collect();
    args.allow(maps.iter().map(|map| map.weight()).sum())?;
    let mut merged = BTreeMap::new();
    for (at, map) in maps.iter().enumerate() {
        let Some(attributes) = (*map).clone().into_attributes() else {
            let reason = format!(
                "arguments must be maps or objects, argument {} is not",
                at + 1
            );
            return Err(CallFault::Call(reason));
        };
        merged.extend(attributes);
    }
    match maps.first().map(|map| &map.ty) {
        Some(ty @ Type::Map(item)) if maps.iter().all(|map| map.ty == *ty) => {
            Ok(Typed::map((**item).clone(), merged))
        }
        _ => Ok(Typed::object(merged)),
    }
}

pub(super) fn one(args: &CallArguments<'_>) -> CallResult {
    args.check_sequence(0)?;
    let mut items = args.items(0);
    match (items.pop(), items.is_empty()) {
        (None, _) => Ok(Typed::null(match args.ty(0) {
            Type::List(item) | Type::Set(item) => (**item).clone(),
            _ => Type::Any,
        })),
        (Some(only), true) => Ok(only),
        (Some(_), false) => {
            let reason = "must be a list, set, or tuple value with either zero or one elements";
            Err(CallFault::argument(0, reason))
        }
    }
}

pub(super) fn sum(args: &CallArguments<'_>) -> CallResult {
    args.check_sequence(0)?;
    let items = args.items(0);
    if items.is_empty() {
        return Err(CallFault::argument(0, "cannot sum an empty list"));
    }
    let mut total = Number::from(0);
    for item in items {
        let number = to_number(&item.value)
            .map_err(|_| CallFault::argument(0, "all items must be numbers"))?;
        let sum = total.add(number);
        // Only an exact sum is certain: the programs round to 512 binary digits.
        total = sum.ok_or(CallFault::Uncertain("the result may be rounded"))?;
    }
    Ok(Typed::number(total))
}

pub(super) fn values(args: &CallArguments<'_>) -> CallResult {
    let Some(attributes) = args.values[0].clone().into_attributes() else {
        let reason = "values() requires a map or an object";
        return Err(CallFault::call(reason));
    };
    Ok(match args.ty(0) {
        Type::Map(item) => {
            let values = attributes.into_values().map(|item| item.value);
            Typed::list((**item).clone(), values.collect())
        }
        _ => Typed::tuple(attributes.into_values().collect()),
    })
}

pub(super) fn zipmap(args: &CallArguments<'_>) -> CallResult {
    let keys = args.texts(0);
    if !is_list_or_tuple(args.ty(1)) {
        return Err(CallFault::call("zipmap() requires a list of values"));
    }
    let values = args.items(1);
    if keys.len() != values.len() {
        return Err(CallFault::Call(format!(
            "number of keys ({}) does not match number of values ({})",
            keys.len(),
            values.len()
        )));
    }
    let mut pairs = BTreeMap::new();
    for (key, value) in keys.into_iter().zip(values) {
        let key = key.ok_or_else(|| CallFault::call("no key may be null"))?;
        pairs.insert(key.to_owned(), value);
    }
    Ok(match args.ty(1) {
        Type::List(item) => Typed::map((**item).clone(), pairs),
        _ => Typed::object(pairs),
    })
}
