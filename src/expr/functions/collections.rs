//! Functions of maps, and those that look into collections of any kind.

use std::collections::BTreeMap;

use super::strings::{counted, whole};
use super::{Fault, Function, Gives, Limits, Needs, Takes, items, text, texts};
use crate::expr::Number;
use crate::expr::convert::convert;
use crate::expr::operators;
use crate::expr::typed::Typed;
use crate::expr::types::Type;
use crate::expr::unify::unify;
use crate::expr::value::Value;

type Ran = Result<Typed, Fault>;

const fn of(
    name: &'static str,
    takes: &'static [Takes],
    run: fn(&[Typed], &Limits<'_>) -> Ran,
) -> Function {
    Function {
        name,
        takes,
        rest: None,
        needs: Needs::Whole,
        gives: Gives::Open,
        run,
    }
}

const ONE: &[Takes] = &[Takes::Any];

pub(super) const TABLE: &[Function] = &[
    Function {
        needs: Needs::Parts,
        gives: Gives::Truth,
        ..of("alltrue", &[Takes::Truths], |args, _| truths(args, true))
    },
    Function {
        needs: Needs::Parts,
        gives: Gives::Truth,
        ..of("anytrue", &[Takes::Truths], |args, _| truths(args, false))
    },
    Function {
        rest: Some(Takes::Maybe),
        needs: Needs::Nothing,
        ..of("coalesce", &[], |args, _| coalesce(args))
    },
    Function {
        rest: Some(Takes::Maybe),
        ..of("coalescelist", &[], |args, _| {
            let is_list = |arg: &Typed| matches!(arg.ty, Type::List(_) | Type::Tuple(_));
            if !args.iter().all(|arg| is_list(arg) && !arg.is_null()) {
                let reason = "coalescelist arguments must be lists or tuples".to_owned();
                return Err(Fault::Call(reason));
            }
            let filled =
                |arg: &&Typed| matches!(&arg.value, Value::Tuple(items) if !items.is_empty());
            let found = args.iter().find(filled).cloned();
            found.ok_or_else(|| Fault::Call("no non-null arguments".to_owned()))
        })
    },
    Function {
        needs: Needs::Parts,
        gives: Gives::Truth,
        ..of("contains", &[Takes::Any, Takes::Any], |args, _| {
            Ok(Typed::bool(place_of(args)?.is_some()))
        })
    },
    of("element", &[Takes::Any, Takes::Number], |args, _| {
        element(args)
    }),
    Function {
        needs: Needs::Parts,
        gives: Gives::Number,
        ..of("index", &[Takes::Any, Takes::Any], |args, _| {
            if matches!(args[0].ty, Type::Set(_)) {
                return Err(Fault::Call("argument must be a list or a tuple".to_owned()));
            }
            let place = place_of(args)?.map(counted);
            place.ok_or_else(|| Fault::Call("item not found".to_owned()))
        })
    },
    of("keys", ONE, |args, _| keys(args)),
    Function {
        gives: Gives::Number,
        ..of("length", ONE, |args, _| length(args))
    },
    Function {
        rest: Some(Takes::Maybe),
        ..of("lookup", &[Takes::Any, Takes::Text], |args, _| lookup(args))
    },
    Function {
        rest: Some(Takes::Maybe),
        ..of("merge", &[], merge)
    },
    of("one", ONE, |args, _| {
        sequence(args, 0)?;
        let mut items = items(args, 0);
        match (items.pop(), items.is_empty()) {
            (None, _) => Ok(Typed::null(item_type(&args[0].ty))),
            (Some(only), true) => Ok(only),
            (Some(_), false) => Err(Fault::Argument(
                0,
                "must be a list, set, or tuple value with either zero or one elements".to_owned(),
            )),
        }
    }),
    Function {
        needs: Needs::Parts,
        gives: Gives::Number,
        ..of("sum", ONE, |args, _| sum(args))
    },
    of("values", ONE, |args, _| {
        let Some(found) = args[0].clone().into_attributes() else {
            let reason = "values() requires a map or an object".to_owned();
            return Err(Fault::Call(reason));
        };
        let found: Vec<Typed> = found.into_values().collect();
        Ok(match &args[0].ty {
            Type::Map(item) => {
                let values = found.into_iter().map(|one| one.value);
                Typed::list((**item).clone(), values.collect())
            }
            _ => Typed::tuple(found),
        })
    }),
    of("zipmap", &[Takes::Texts, Takes::Any], |args, _| {
        zipmap(args)
    }),
];

fn no_map(at: usize) -> Fault {
    Fault::Argument(at, "a map or an object is needed here".to_owned())
}

/// Checks that an argument is a list, a set or a tuple.
pub(super) fn sequence(args: &[Typed], at: usize) -> Result<(), Fault> {
    match args.get(at).map(|arg| &arg.ty) {
        Some(Type::List(_) | Type::Set(_) | Type::Tuple(_)) => Ok(()),
        _ => Err(Fault::Argument(
            at,
            "a list, a set or a tuple is needed here".to_owned(),
        )),
    }
}

/// Returns the type of the items of a list or a set.
fn item_type(ty: &Type) -> Type {
    match ty {
        Type::List(item) | Type::Set(item) => (**item).clone(),
        _ => Type::Any,
    }
}

fn truths(args: &[Typed], all: bool) -> Ran {
    for item in items(args, 0) {
        let truth = item.value == Value::Bool(true);
        if truth != all {
            return Ok(Typed::bool(truth));
        }
    }
    Ok(Typed::bool(all))
}

fn coalesce(args: &[Typed]) -> Ran {
    if args.is_empty() {
        return Err(Fault::Call("at least one argument is required".to_owned()));
    }
    let types: Vec<&Type> = args.iter().map(|arg| &arg.ty).collect();
    let Some(ty) = unify(&types)? else {
        let reason = "all arguments must have the same type";
        return Err(Fault::Call(reason.to_owned()));
    };
    for arg in args {
        let arg = convert(arg.clone(), &ty)?;
        let is_empty = arg.value == Value::String(String::new());
        if arg.is_unknown() || !(arg.is_null() || is_empty) {
            return Ok(arg);
        }
    }
    Err(Fault::Call(
        "no non-null, non-empty-string arguments".to_owned(),
    ))
}

/// Finds the place of the second argument among the items of the first.
fn place_of(args: &[Typed]) -> Result<Option<usize>, Fault> {
    let wrong = || Fault::Call("argument must be list, tuple, or set".to_owned());
    sequence(args, 0).map_err(|_| wrong())?;
    let wanted = &args[1];
    for (at, item) in items(args, 0).into_iter().enumerate() {
        if item.value == wanted.value {
            return match item.ty == wanted.ty {
                true => Ok(Some(at)),
                false => Err(Fault::Uncertain("these values have different types")),
            };
        }
    }
    Ok(None)
}

fn element(args: &[Typed]) -> Ran {
    if !matches!(args[0].ty, Type::List(_) | Type::Tuple(_)) {
        let reason = "cannot read elements from this".to_owned();
        return Err(Fault::Call(reason));
    }
    let mut items = items(args, 0);
    let Ok(at) = usize::try_from(whole(args, 1)?) else {
        return Err(Fault::Uncertain("a negative index"));
    };
    match items.len() {
        0 => Err(Fault::Call(
            "cannot use element function with an empty list".to_owned(),
        )),
        length => Ok(items.swap_remove(at % length)),
    }
}

fn keys(args: &[Typed]) -> Ran {
    let Value::Object(found) = &args[0].value else {
        return Err(no_map(0));
    };
    let names = found
        .keys()
        .map(|name| Value::String(name.clone()))
        .collect();
    Ok(match args[0].ty {
        Type::Map(_) => Typed::list(Type::String, names),
        _ => Typed::tuple(names.into_iter().map(Typed::of).collect()),
    })
}

fn length(args: &[Typed]) -> Ran {
    match &args[0].value {
        Value::Tuple(items) => Ok(counted(items.len())),
        Value::Object(items) => Ok(counted(items.len())),
        Value::String(text) if text.is_ascii() && !text.contains('\r') => Ok(counted(text.len())),
        Value::String(_) => Err(Fault::Uncertain("this counts characters beyond ASCII")),
        _ => Err(Fault::Call(
            "argument must be a string, a collection type, or a structural type".to_owned(),
        )),
    }
}

fn lookup(args: &[Typed]) -> Ran {
    let (Value::Object(_), key) = (&args[0].value, text(args, 1)) else {
        return Err(Fault::Argument(0, "lookup() requires a map".to_owned()));
    };
    if args.len() > 3 {
        return Err(Fault::Call(
            "lookup() takes two or three arguments".to_owned(),
        ));
    }
    let found = args[0].clone().into_attributes();
    if let Some(item) = found.and_then(|mut found| found.remove(key)) {
        return Ok(item);
    }
    match (args.get(2), &args[0].ty) {
        (Some(default), Type::Map(item)) => convert(default.clone(), item).map_err(|_| {
            Fault::Argument(
                2,
                "the default must have the type of the map's items".to_owned(),
            )
        }),
        (Some(default), _) => Ok(default.clone()),
        (None, Type::Map(_)) => Err(Fault::Call(format!("lookup failed to find key {key:?}"))),
        (None, _) => {
            let reason = format!("the given object has no attribute {key:?}");
            Err(Fault::Argument(0, reason))
        }
    }
}

fn merge(args: &[Typed], limits: &Limits<'_>) -> Ran {
    let given: Vec<&Typed> = args.iter().filter(|arg| !arg.is_null()).collect();
    limits.allow(given.iter().map(|arg| arg.weight()).sum())?;
    let mut all = BTreeMap::new();
    for (at, arg) in given.iter().enumerate() {
        let Some(found) = (*arg).clone().into_attributes() else {
            let reason = format!(
                "arguments must be maps or objects, argument {} is not",
                at + 1
            );
            return Err(Fault::Call(reason));
        };
        all.extend(found);
    }
    let first = given.first().map(|arg| &arg.ty);
    Ok(match first {
        Some(map @ Type::Map(_)) if given.iter().all(|arg| arg.ty == *map) => {
            let all = all.into_iter();
            Typed {
                ty: map.clone(),
                value: Value::Object(all.map(|(name, item)| (name, item.value)).collect()),
            }
        }
        _ => Typed::object(all),
    })
}

fn sum(args: &[Typed]) -> Ran {
    sequence(args, 0)?;
    let items = items(args, 0);
    if items.is_empty() {
        return Err(Fault::Argument(0, "cannot sum an empty list".to_owned()));
    }
    let mut total = Number::from(0);
    for item in items {
        let number = operators::to_number(&item.value)
            .map_err(|_| Fault::Argument(0, "all items must be numbers".to_owned()))?;
        let sum = total.add(number);
        total = sum.ok_or(Fault::Uncertain("the result may be rounded"))?;
    }
    Ok(Typed::number(total))
}

fn zipmap(args: &[Typed]) -> Ran {
    let keys = texts(args, 0);
    if !matches!(args[1].ty, Type::List(_) | Type::Tuple(_)) {
        let reason = "zipmap() requires a list of values".to_owned();
        return Err(Fault::Call(reason));
    }
    let values = items(args, 1);
    if keys.len() != values.len() {
        return Err(Fault::Call(format!(
            "number of keys ({}) does not match number of values ({})",
            keys.len(),
            values.len()
        )));
    }
    let mut pairs = BTreeMap::new();
    for (key, value) in keys.into_iter().zip(values) {
        let null = || Fault::Call("no key may be null".to_owned());
        pairs.insert(key.ok_or_else(null)?.to_owned(), value);
    }
    Ok(match &args[1].ty {
        Type::List(item) => {
            let pairs = pairs.into_iter().map(|(key, item)| (key, item.value));
            Typed {
                ty: Type::Map(item.clone()),
                value: Value::Object(pairs.collect()),
            }
        }
        _ => Typed::object(pairs),
    })
}
