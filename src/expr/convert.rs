//! Conversion of values to types (rules 2).
//!
//! As everywhere in this room, an answer is exactly the program's or none: where its own answer
//! depends on more than the two types say, the conversion is [`Misfit::Uncertain`].

use std::collections::BTreeMap;

use super::failure::Failure;
use super::operators::{to_bool, to_number};
use super::sets::as_set;
use super::typed::Typed;
use super::types::{AttributeType, Presence, Type};
use super::unify::{possible, unify};
use super::value::Value;

/// Why a value has no counterpart of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// The program refuses the conversion, for this reason.
    Refused(String),
    /// The program may have an answer, but not one that is certain here, for this reason.
    Uncertain(&'static str),
}

pub(super) type Fit<T = Typed> = Result<T, Misfit>;

/// Converts a value to a type; optional attributes that are not there become null.
///
/// ```
/// use lockctl::expr::{Type, Typed, Value, convert};
///
/// let strings = Type::List(Box::new(Type::String));
/// let given = Value::Tuple(vec![Value::Bool(true), Value::string("a")]);
/// let converted = convert(Typed::of(given), &strings).unwrap();
/// assert_eq!(converted.value, Value::Tuple(vec![Value::string("true"), Value::string("a")]));
/// ```
///
/// # Errors
/// The first thing that does not fit.
pub fn convert(given: Typed, ty: &Type) -> Result<Typed, Misfit> {
    // Whatever is open in the type is filled by what the value has there.
    if *ty == Type::Any || given.ty == *ty {
        return Ok(given);
    }
    let given = match given.unmarked() {
        (given, marks) if marks.is_none() => given,
        (given, marks) => return Ok(convert(given, ty)?.marked(marks)),
    };
    if given.value == Value::Unknown {
        return match possible(&given.ty, ty)? {
            true => Ok(Typed::unknown(ty.plain())),
            false => Err(mismatch(&given.ty, ty)),
        };
    }
    if given.value == Value::Null {
        return match possible(&given.ty, ty)? {
            true if given.ty == Type::Any => Ok(Typed::null(ty.plain())),
            true if ty.has_any() => Err(Misfit::Uncertain("a null whose type is open")),
            true => Ok(Typed::null(ty.plain())),
            false => Err(mismatch(&given.ty, ty)),
        };
    }
    match ty {
        Type::Any => Ok(given),
        Type::Bool | Type::Number | Type::String => primitive(&given, ty),
        Type::List(item) | Type::Set(item) => sequence(given, ty, item),
        Type::Map(item) => map(given, ty, item),
        Type::Tuple(types) => tuple(given, ty, types),
        Type::Object(attributes) => object(given, ty, attributes),
    }
}

fn mismatch(from: &Type, to: &Type) -> Misfit {
    Misfit::Refused(format!("{} is no {to}", kind(from)))
}

/// Names what a value is, briefly.
pub(super) fn kind(ty: &Type) -> &'static str {
    match ty {
        Type::Any => "null",
        Type::Bool => "a bool",
        Type::Number => "a number",
        Type::String => "a string",
        Type::List(_) => "a list",
        Type::Set(_) => "a set",
        Type::Map(_) => "a map",
        Type::Tuple(_) => "a tuple",
        Type::Object(_) => "an object",
    }
}

fn primitive(given: &Typed, ty: &Type) -> Fit {
    let value = match (ty, &given.value) {
        (Type::String, value) => value.to_text().map(Value::String),
        (Type::Bool, Value::String(_)) => to_bool(&given.value, "").ok().map(Value::Bool),
        (Type::Number, Value::String(_)) => match to_number(&given.value) {
            Ok(number) => Some(Value::Number(number)),
            Err(Failure::Uncertain(reason)) => return Err(Misfit::Uncertain(reason)),
            Err(_) => None,
        },
        _ => None,
    };
    match value {
        Some(value) => Ok(Typed {
            ty: ty.clone(),
            value,
        }),
        None => Err(mismatch(&given.ty, ty)),
    }
}

/// Takes a value apart: its items, each with its type.
pub(super) fn items_of(ty: Type, value: Value) -> Option<Vec<Typed>> {
    let Value::Tuple(items) = value else {
        return None;
    };
    Some(match ty {
        Type::Tuple(types) => {
            let pairs = types.into_iter().zip(items);
            pairs.map(|(ty, value)| Typed { ty, value }).collect()
        }
        Type::List(item) | Type::Set(item) => {
            let typed = |value| Typed {
                ty: (*item).clone(),
                value,
            };
            items.into_iter().map(typed).collect()
        }
        _ => return None,
    })
}

/// Takes a value apart: its attributes, each with its type.
pub(super) fn attributes_of(ty: Type, value: Value) -> Option<BTreeMap<String, Typed>> {
    let Value::Object(items) = value else {
        return None;
    };
    Some(match ty {
        Type::Object(types) => {
            let pairs = types.into_values().zip(items);
            pairs
                .map(|(attribute, (name, value))| {
                    let ty = attribute.ty;
                    (name, Typed { ty, value })
                })
                .collect()
        }
        Type::Map(item) => {
            let typed = |(name, value)| {
                let ty = (*item).clone();
                (name, Typed { ty, value })
            };
            items.into_iter().map(typed).collect()
        }
        _ => return None,
    })
}

/// Converts to a list or a set.
fn sequence(given: Typed, ty: &Type, item: &Type) -> Fit {
    let is_set = matches!(given.ty, Type::Set(_));
    let (from, refused) = (given.ty.clone(), mismatch(&given.ty, ty));
    let items = items_of(given.ty, given.value).ok_or(refused)?;
    let item = common(&from, items.iter().map(|item| &item.ty), item, ty)?;
    let items = items.into_iter().map(|one| convert(one, &item));
    let items = items.collect::<Fit<Vec<Typed>>>()?;
    let (item_type, items) = of_one_type(items, &item, &from, ty)?;
    let mut values: Vec<Value> = items.into_iter().map(|item| item.value).collect();
    if let Type::Set(_) = ty {
        // Items of a set have no marks of their own: the whole has them.
        let (bare, marks) = Value::Tuple(values).bare();
        values = match bare {
            Value::Tuple(values) => values,
            _ => Vec::new(),
        };
        if !is_set || from != Type::Set(item_type.clone()) {
            values = as_set(values)?;
        }
        let value = Value::Tuple(values).marked(marks);
        return Ok(Typed {
            ty: Type::Set(item_type),
            value,
        });
    }
    Ok(Typed {
        ty: Type::List(item_type),
        value: Value::Tuple(values),
    })
}

fn map(given: Typed, ty: &Type, item: &Type) -> Fit {
    let (from, refused) = (given.ty.clone(), mismatch(&given.ty, ty));
    let items = attributes_of(given.ty, given.value).ok_or(refused)?;
    let item = common(&from, items.values().map(|item| &item.ty), item, ty)?;
    let names: Vec<String> = items.keys().cloned().collect();
    let items = items.into_values().map(|one| convert(one, &item));
    let items = items.collect::<Fit<Vec<Typed>>>()?;
    let (item_type, items) = of_one_type(items, &item, &from, ty)?;
    let values = items.into_iter().map(|item| item.value);
    Ok(Typed {
        ty: Type::Map(item_type),
        value: Value::Object(names.into_iter().zip(values).collect()),
    })
}

/// Finds the type that the items of a collection are to have; an open one is the best that the items
/// have in common.
fn common<'t>(
    from: &Type,
    types: impl Iterator<Item = &'t Type>,
    item: &Type,
    ty: &Type,
) -> Fit<Type> {
    if let Type::List(from_item) | Type::Set(from_item) | Type::Map(from_item) = from {
        return if possible(from_item, item)? {
            Ok(item.clone())
        } else {
            Err(mismatch(from, ty))
        };
    }
    if *item != Type::Any {
        return Ok(item.clone());
    }
    let types: Vec<&Type> = types.collect();
    if types.is_empty() {
        return Ok(Type::Any);
    }
    match unify(&types)? {
        Some(Type::Any) => only_beside_null(&types, ty),
        Some(common) => Ok(common),
        None => Err(nothing_in_common()),
    }
}

/// Finds the type of items of which some are null and the others no primitive values.
fn only_beside_null(types: &[&Type], ty: &Type) -> Fit<Type> {
    let mut others = types.iter().filter(|ty| ***ty != Type::Any);
    let Some(first) = others.next() else {
        return Ok(Type::Any);
    };
    // Nulls in a map take the type of the other items; lists refuse them.
    match ty {
        Type::Map(_) if others.all(|ty| ty == first) => Ok((*first).clone()),
        Type::Map(_) => Err(Misfit::Uncertain("a null beside items of several types")),
        _ => Err(nothing_in_common()),
    }
}

fn nothing_in_common() -> Misfit {
    Misfit::Refused("the elements have no type in common".to_owned())
}

/// Brings all items of a collection to one type, which they may have missed where the wanted one is
/// open inside.
fn of_one_type(
    items: Vec<Typed>,
    wanted: &Type,
    from: &Type,
    ty: &Type,
) -> Fit<(Box<Type>, Vec<Typed>)> {
    let Some(first) = items.first() else {
        let kept = match (wanted, from) {
            (Type::Any, Type::List(item) | Type::Set(item) | Type::Map(item)) => (**item).clone(),
            _ => wanted.plain(),
        };
        return Ok((Box::new(kept), items));
    };
    if items.iter().all(|item| item.ty == first.ty) {
        return Ok((Box::new(first.ty.clone()), items));
    }
    // Items of a set are expected to agree by themselves.
    if let Type::Set(_) = ty {
        return Err(nothing_in_common());
    }
    let types: Vec<&Type> = items.iter().map(|item| &item.ty).collect();
    let common = unify(&types)?.ok_or_else(nothing_in_common)?;
    if common.has_any() {
        return Err(Misfit::Uncertain(
            "items that differ where the type is open",
        ));
    }
    let items = items.into_iter().map(|item| convert(item, &common));
    Ok((Box::new(common.clone()), items.collect::<Fit<_>>()?))
}

fn tuple(given: Typed, ty: &Type, types: &[Type]) -> Fit {
    let is_tuple = matches!(&given.ty, Type::Tuple(from) if from.len() == types.len());
    let refused = mismatch(&given.ty, ty);
    let items = items_of(given.ty, given.value).filter(|_| is_tuple);
    let items = items.ok_or(refused)?.into_iter().zip(types);
    let items = items
        .map(|(item, ty)| convert(item, ty))
        .collect::<Fit<Vec<Typed>>>()?;
    let (types, values) = items.into_iter().map(|item| (item.ty, item.value)).unzip();
    Ok(Typed {
        ty: Type::Tuple(types),
        value: Value::Tuple(values),
    })
}

fn object(given: Typed, ty: &Type, wanted: &BTreeMap<String, AttributeType>) -> Fit {
    if let Type::Map(item) = &given.ty {
        for attribute in wanted.values() {
            if !possible(item, &attribute.ty)? {
                return Err(mismatch(&given.ty, ty));
            }
        }
    }
    let refused = mismatch(&given.ty, ty);
    let mut items = attributes_of(given.ty, given.value).ok_or(refused)?;
    let (mut types, mut values) = (BTreeMap::new(), BTreeMap::new());
    for (name, attribute) in wanted {
        let item = match (items.remove(name), &attribute.presence) {
            (Some(item), _) => convert(item, &attribute.ty)?,
            (None, Presence::Required) => {
                return Err(Misfit::Refused(format!("attribute {name:?} is missing")));
            }
            (None, _) => Typed::null(attribute.ty.plain()),
        };
        types.insert(name.clone(), AttributeType::required(item.ty));
        values.insert(name.clone(), item.value);
    }
    Ok(Typed {
        ty: Type::Object(types),
        value: Value::Object(values),
    })
}

/// Fills in the defaults of optional attributes, first those outside, then those inside of them; an
/// attribute that is null counts as absent, a value that is null stays. Values of variables are filled
/// before they are converted.
///
/// What does not fit the type at all is left as it is: the conversion will refuse it.
///
/// # Errors
/// Only what is not certain.
pub fn fill(given: Typed, ty: &Type) -> Result<Typed, Misfit> {
    if [Value::Null, Value::Unknown].contains(&given.value) || !has_defaults(ty) {
        return Ok(given);
    }
    let given = match given.unmarked() {
        (given, marks) if marks.is_none() => given,
        (given, marks) => return Ok(fill(given, ty)?.marked(marks)),
    };
    let from = given.ty.clone();
    match (ty, &from) {
        (Type::List(item) | Type::Set(item), Type::Tuple(_) | Type::List(_) | Type::Set(_)) => {
            filled_items(given, &from, |_| Some(item))
        }
        (Type::Tuple(types), Type::Tuple(_)) => filled_items(given, &from, |at| types.get(at)),
        (Type::Map(item), Type::Object(_) | Type::Map(_)) => {
            filled_attributes(given, &from, |_| Some(item), &BTreeMap::new())
        }
        (Type::Object(wanted), Type::Object(_) | Type::Map(_)) => {
            let inside = |name: &str| wanted.get(name).map(|attribute| &attribute.ty);
            filled_attributes(given, &from, inside, wanted)
        }
        _ => Ok(given),
    }
}

fn has_defaults(ty: &Type) -> bool {
    match ty {
        Type::Any | Type::Bool | Type::Number | Type::String => false,
        Type::List(item) | Type::Set(item) | Type::Map(item) => has_defaults(item),
        Type::Tuple(items) => items.iter().any(has_defaults),
        Type::Object(items) => items
            .values()
            .any(|item| matches!(item.presence, Presence::Default(_)) || has_defaults(&item.ty)),
    }
}

fn filled_items<'t>(given: Typed, from: &Type, inside: impl Fn(usize) -> Option<&'t Type>) -> Fit {
    let items = items_of(given.ty, given.value).unwrap_or_default();
    let items = items
        .into_iter()
        .enumerate()
        .map(|(at, item)| match inside(at) {
            Some(ty) => fill(item, ty),
            None => Ok(item),
        });
    let items = items.collect::<Fit<Vec<Typed>>>()?;
    let types: Vec<Type> = items.iter().map(|item| item.ty.clone()).collect();
    let ty = match from {
        Type::List(item) | Type::Set(item) => {
            still_one_type(from, types.iter(), item)?;
            from.clone()
        }
        _ => Type::Tuple(types),
    };
    let values = items.into_iter().map(|item| item.value).collect();
    let value = match ty {
        Type::Set(_) => as_set(values)?,
        _ => values,
    };
    Ok(Typed {
        ty,
        value: Value::Tuple(value),
    })
}

fn filled_attributes<'t>(
    given: Typed,
    from: &Type,
    inside: impl Fn(&str) -> Option<&'t Type>,
    wanted: &BTreeMap<String, AttributeType>,
) -> Fit {
    let items = attributes_of(given.ty, given.value).unwrap_or_default();
    let items = items.into_iter().map(|(name, item)| {
        let filled = match inside(&name) {
            Some(ty) => fill(item, ty)?,
            None => item,
        };
        Ok((name, filled))
    });
    let mut items = items.collect::<Fit<BTreeMap<String, Typed>>>()?;
    for (name, attribute) in wanted {
        let is_absent = items.get(name).is_none_or(|item| item.value == Value::Null);
        if let (true, Presence::Default(default)) = (is_absent, &attribute.presence) {
            items.insert(name.clone(), fill(default.clone(), &attribute.ty)?);
        }
    }
    let ty = match from {
        Type::Map(item) => {
            still_one_type(from, items.values().map(|item| &item.ty), item)?;
            from.clone()
        }
        _ => {
            let types = items.iter();
            let types =
                types.map(|(name, item)| (name.clone(), AttributeType::required(item.ty.clone())));
            Type::Object(types.collect())
        }
    };
    let values = items.into_iter().map(|(name, item)| (name, item.value));
    Ok(Typed {
        ty,
        value: Value::Object(values.collect()),
    })
}

/// Checks that defaults left the items of a collection with the type that they had.
fn still_one_type<'t>(
    from: &Type,
    mut types: impl Iterator<Item = &'t Type>,
    item: &Type,
) -> Fit<()> {
    match types.all(|ty| ty == item) {
        true => Ok(()),
        false => Err(Misfit::Uncertain(match from {
            Type::Map(_) => "defaults that do not have the type of the map",
            _ => "defaults that change the type of the items",
        })),
    }
}
