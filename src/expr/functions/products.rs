//! Functions that combine whole collections: `setproduct`, `matchkeys`, `transpose`.

use std::collections::BTreeMap;

use super::collections::sequence;
use super::{Fault, Function, Gives, Limits, Needs, Takes, items};
use crate::expr::convert::convert;
use crate::expr::sets::as_set;
use crate::expr::typed::Typed;
use crate::expr::types::Type;
use crate::expr::unify::unify;
use crate::expr::value::{Marks, Value};

type Ran = Result<Typed, Fault>;

/// How many comparisons count as one value that is made.
const COMPARED_AT_ONCE: usize = 64;

const fn of(
    name: &'static str,
    takes: &'static [Takes],
    needs: Needs,
    run: fn(&[Typed], &Limits<'_>) -> Ran,
) -> Function {
    Function {
        name,
        takes,
        rest: None,
        needs,
        gives: Gives::Open,
        run,
    }
}

pub(super) const TABLE: &[Function] = &[
    of(
        "matchkeys",
        &[Takes::List, Takes::List, Takes::List],
        Needs::Whole,
        matching,
    ),
    Function {
        rest: Some(Takes::Any),
        ..of("setproduct", &[], Needs::Nothing, product)
    },
    of("transpose", &[Takes::TextLists], Needs::Parts, transposed),
];

/// Returns the values whose keys are among others.
fn matching(args: &[Typed], limits: &Limits<'_>) -> Ran {
    let (keys, wanted) = (&args[1].ty, &args[2].ty);
    let Some(ty) = unify(&[keys, wanted])? else {
        let reason = "keys and searchset must be of the same type";
        return Err(Fault::Call(reason.to_owned()));
    };
    let mut marks = Marks::default();
    let mut bare = |at: usize| {
        let (arg, own) = args[at].clone().bare();
        marks = marks.and(own);
        arg
    };
    let (values, keys, wanted) = (bare(0), bare(1), bare(2));
    if !wanted.value.is_wholly_known() {
        return Err(Fault::Uncertain("a key that is not known"));
    }
    let is_known = values.value.is_wholly_known() && keys.value.is_wholly_known();
    let found_ty = values.ty.clone();
    let (Value::Tuple(values), Value::Tuple(keys), Value::Tuple(wanted)) = (
        values.value,
        convert(keys, &ty)?.value,
        convert(wanted, &ty)?.value,
    ) else {
        return Err(Fault::Uncertain("these are no lists"));
    };
    if values.len() != keys.len() {
        let reason = "length of keys and values should be equal";
        return Err(Fault::Call(reason.to_owned()));
    }
    if !is_known && !wanted.is_empty() {
        return Ok(Typed::unknown(found_ty).marked(marks));
    }
    limits.allow(keys.len().saturating_mul(wanted.len()) / COMPARED_AT_ONCE)?;
    let pairs = values.into_iter().zip(keys);
    let found = pairs.filter(|(_, key)| wanted.contains(key));
    let found = Typed {
        ty: found_ty,
        value: Value::Tuple(found.map(|(value, _)| value).collect()),
    };
    Ok(found.marked(marks))
}

/// Makes all tuples that take one item from each collection: a list of them, or a set if one of the
/// collections is a set.
fn product(args: &[Typed], limits: &Limits<'_>) -> Ran {
    if args.len() < 2 {
        let reason = "at least two arguments are required";
        return Err(Fault::Call(reason.to_owned()));
    }
    let (mut types, mut columns) = (Vec::new(), Vec::new());
    let mut is_known = true;
    for (at, arg) in args.iter().enumerate() {
        if arg.is_unknown() && arg.ty == Type::Any {
            is_known = false;
            continue;
        }
        sequence(args, at)
            .map_err(|_| Fault::Argument(at, "a set or a list is required".to_owned()))?;
        let ty = item_type(&arg.ty, at)?;
        if arg.is_unknown() || (matches!(arg.ty, Type::Set(_)) && !arg.value.is_wholly_known()) {
            is_known = false;
            continue;
        }
        let column = items(args, at).into_iter();
        let column = column.map(|item| Ok(convert(item, &ty)?.value));
        columns.push(column.collect::<Result<Vec<Value>, Fault>>()?);
        types.push(ty);
    }
    if !is_known {
        return match columns.iter().any(Vec::is_empty) {
            true => Err(Fault::Uncertain("nothing of something that is not known")),
            false => Ok(Typed::unknown(Type::Any)),
        };
    }
    let rows = rows(&columns, limits)?;
    let ty = Type::Tuple(types.into());
    Ok(
        match args.iter().any(|arg| matches!(arg.ty, Type::Set(_))) {
            true => Typed {
                ty: Type::Set(Box::new(ty)),
                value: Value::Tuple(as_set(rows)?),
            },
            false => Typed::list(ty, rows),
        },
    )
}

/// Returns the type that all items of a sequence have in common.
fn item_type(ty: &Type, at: usize) -> Result<Type, Fault> {
    match ty {
        Type::List(item) | Type::Set(item) => Ok((**item).clone()),
        Type::Tuple(types) if types.is_empty() => Ok(Type::Any),
        Type::Tuple(types) => {
            let types: Vec<&Type> = types.iter().collect();
            match unify(&types)? {
                Some(Type::Any) if types.iter().any(|ty| **ty != Type::Any) => {
                    Err(Fault::Uncertain("elements of an open type"))
                }
                Some(ty) => Ok(ty),
                None => {
                    let reason = "all elements must be of the same type".to_owned();
                    Err(Fault::Argument(at, reason))
                }
            }
        }
        _ => Ok(Type::Any),
    }
}

/// Takes one value from each column, in all ways, the last column turning first.
fn rows(columns: &[Vec<Value>], limits: &Limits<'_>) -> Result<Vec<Value>, Fault> {
    let count = |total: usize, column: &Vec<Value>| total.checked_mul(column.len());
    let total = columns.iter().try_fold(1, count);
    let total = total.ok_or(Fault::Uncertain("this computes too much"))?;
    let weight: usize = columns
        .iter()
        .map(|column| column.iter().map(Value::weight).max().unwrap_or(0))
        .sum();
    limits.allow(total.saturating_mul(weight.saturating_add(1)))?;
    let row = |number: usize| {
        let (mut rest, mut row) = (number, Vec::new());
        for column in columns.iter().rev() {
            row.push(column[rest % column.len()].clone());
            rest /= column.len();
        }
        row.reverse();
        Value::Tuple(row)
    };
    Ok((0..total).map(row).collect())
}

/// Makes the texts of a map's lists the keys, and its keys the texts.
fn transposed(args: &[Typed], _: &Limits<'_>) -> Ran {
    let Value::Object(lists) = &args[0].value else {
        return Err(Fault::Uncertain("this is no map"));
    };
    let null = || Fault::Call("nothing in the lists may be null".to_owned());
    let mut turned: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (key, list) in lists {
        let Value::Tuple(texts) = list else {
            return Err(null());
        };
        for text in texts {
            let Value::String(text) = text else {
                return Err(null());
            };
            let keys = turned.entry(text.clone()).or_default();
            keys.push(Value::String(key.clone()));
        }
    }
    let turned = turned.into_iter();
    Ok(Typed {
        ty: Takes::TextLists.ty(),
        value: Value::Object(
            turned
                .map(|(text, keys)| (text, Value::Tuple(keys)))
                .collect(),
        ),
    })
}
