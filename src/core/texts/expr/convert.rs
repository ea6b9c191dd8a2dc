//! Conversion of values to types (rules 2).
//!
//! A result is exactly the program's: where that depends on more than the two types, the conversion is
//! [`Misfit::Uncertain`].

use std::collections::BTreeMap;

use super::Number;
use super::failure::{EvalFailure, Fit, Misfit};
use super::sets::as_set;
use super::shapes::Shapes;
use super::typed::Typed;
use super::types::{AttributeType, Presence, Type};
use super::unify::{possible, unify};
use super::value::Value;

/// Converts a value to a type; optional attributes that are not there become null.
///
/// ```
/// use lockctl_core::expr::{Type, Typed, Value, convert};
///
/// let strings = Type::List(Box::new(Type::String));
/// let given = Value::Tuple(vec![Value::Bool(true), Value::string("a")]);
/// let converted = convert(Typed::of(given), &strings).unwrap();
/// assert_eq!(converted.value, Value::Tuple(vec![Value::string("true"), Value::string("a")]));
/// ```
///
/// # Errors
/// The first part of the value that does not fit.
pub fn convert(given: Typed, ty: &Type) -> Result<Typed, Misfit> {
    any(given, ty, &mut Shapes::default())
}

fn any(given: Typed, ty: &Type, shapes: &mut Shapes) -> Fit {
    // `any` takes the type that the value has.
    if *ty == Type::Any || given.ty == *ty {
        return Ok(given);
    }
    let given = match given.unmarked() {
        (given, marks) if marks.is_none() => given,
        (given, marks) => return Ok(any(given, ty, shapes)?.marked(marks)),
    };
    if let Value::Unknown | Value::Null = given.value {
        if !possible(&given.ty, ty)? {
            return Err(mismatch(&given.ty, ty));
        }
        if given.value == Value::Null && given.ty != Type::Any && shapes.is_open(ty) {
            return Err(Misfit::Uncertain("a null whose type is open"));
        }
        return Ok(Typed {
            ty: shapes.plain(ty),
            value: given.value,
        });
    }
    match ty {
        // The value was returned above; the arm is for the compiler.
        Type::Any => Ok(given),
        Type::Bool | Type::Number | Type::String => primitive(&given, ty),
        Type::List(item) | Type::Set(item) => sequence(given, ty, item, shapes),
        Type::Map(item) => map(given, ty, item, shapes),
        Type::Tuple(types) => tuple(given, ty, types, shapes),
        Type::Object(attributes) => object(given, ty, attributes, shapes),
    }
}

fn mismatch(from: &Type, to: &Type) -> Misfit {
    let given = match from {
        Type::Any => "null",
        Type::Bool => "a bool",
        Type::Number => "a number",
        Type::String => "a string",
        Type::List(_) => "a list",
        Type::Set(_) => "a set",
        Type::Map(_) => "a map",
        Type::Tuple(_) => "a tuple",
        Type::Object(_) => "an object",
    };
    Misfit::Refused(format!("{given} is no {to}"))
}

fn primitive(given: &Typed, ty: &Type) -> Fit {
    let value = match (ty, &given.value) {
        (Type::String, value) => value.to_text().map(Value::String),
        // Numbers and bools do not convert to each other (rules 2.1).
        (Type::Bool, Value::String(_)) => to_bool(&given.value, "").ok().map(Value::Bool),
        (Type::Number, Value::String(_)) => match to_number(&given.value) {
            Ok(number) => Some(Value::Number(number)),
            Err(EvalFailure::Uncertain(reason)) => return Err(Misfit::Uncertain(reason)),
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

/// Converts to a list or a set.
fn sequence(given: Typed, ty: &Type, item: &Type, shapes: &mut Shapes) -> Fit {
    let from = given.ty.clone();
    let is_set = matches!(from, Type::Set(_));
    let items = given.into_items().ok_or_else(|| mismatch(&from, ty))?;
    let item = common(&from, items.iter().map(|item| &item.ty), item, ty)?;
    let items = all(items, &from, &item, shapes)?;
    let (item_type, items) = of_one_type(items, &item, &from, ty, shapes)?;
    let mut values: Vec<Value> = items.into_iter().map(|item| item.value).collect();
    if let Type::Set(_) = ty {
        // Items of a set have no marks of their own: the whole has them.
        let (bare, marks) = Value::Tuple(values).bare();
        values = match bare {
            Value::Tuple(values) => values,
            _ => Vec::new(),
        };
        // A set of this type is in its order already. Other items are ordered by their new type: the order of
        // numbers changes when they become strings (rules 2.5).
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

fn map(given: Typed, ty: &Type, item: &Type, shapes: &mut Shapes) -> Fit {
    let from = given.ty.clone();
    let items = given.into_attributes().ok_or_else(|| mismatch(&from, ty))?;
    let item = common(&from, items.values().map(|item| &item.ty), item, ty)?;
    let names: Vec<String> = items.keys().cloned().collect();
    let items = all(items.into_values(), &from, &item, shapes)?;
    let (item_type, items) = of_one_type(items, &item, &from, ty, shapes)?;
    let values = items.into_iter().map(|item| item.value);
    Ok(Typed {
        ty: Type::Map(item_type),
        value: Value::Object(names.into_iter().zip(values).collect()),
    })
}

/// Converts all items of a value of a type.
fn all(
    items: impl IntoIterator<Item = Typed>,
    from: &Type,
    item: &Type,
    shapes: &mut Shapes,
) -> Fit<Vec<Typed>> {
    let is_collection = matches!(from, Type::List(_) | Type::Set(_) | Type::Map(_));
    // Nulls of one type become the same value. It is made once: the type may be large.
    let mut null: Option<Typed> = None;
    let mut converted = Vec::new();
    for value in items {
        if !is_collection || value.value != Value::Null {
            converted.push(any(value, item, shapes)?);
            continue;
        }
        if null.is_none() {
            null = Some(any(value, item, shapes)?);
        }
        converted.extend(null.clone());
    }
    Ok(converted)
}

/// Determines the type of the items of a collection: the wanted one, or if it is open, the one that the items have
/// in common.
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
        Some(Type::Any) => {
            // Some items are null, and none of the others is primitive.
            let Some(first) = types.iter().find(|ty| ***ty != Type::Any) else {
                return Ok(Type::Any);
            };
            let is_like_first = |ty: &&Type| **ty == Type::Any || ty == first;
            // Nulls in a map take the type of the other items; lists refuse them.
            match ty {
                Type::Map(_) if types.iter().all(is_like_first) => Ok((*first).clone()),
                Type::Map(_) => Err(Misfit::Uncertain("a null beside items of several types")),
                _ => Err(nothing_in_common()),
            }
        }
        Some(common) => Ok(common),
        None => Err(nothing_in_common()),
    }
}

fn nothing_in_common() -> Misfit {
    Misfit::Refused("the elements have no type in common".to_owned())
}

/// Converts all items of a collection to one type. They may still differ where the wanted type is open inside.
fn of_one_type(
    items: Vec<Typed>,
    wanted: &Type,
    from: &Type,
    ty: &Type,
    shapes: &mut Shapes,
) -> Fit<(Box<Type>, Vec<Typed>)> {
    let Some(first) = items.first() else {
        // An empty collection keeps the type of its items where the wanted one is open.
        let kept = match (wanted, from) {
            (Type::Any, Type::List(item) | Type::Set(item) | Type::Map(item)) => (**item).clone(),
            _ => shapes.plain(wanted),
        };
        return Ok((Box::new(kept), items));
    };
    if items.iter().all(|item| item.ty == first.ty) {
        return Ok((Box::new(first.ty.clone()), items));
    }
    // The programs do not convert the items of a set to a common type.
    if let Type::Set(_) = ty {
        return Err(nothing_in_common());
    }
    let types: Vec<&Type> = items.iter().map(|item| &item.ty).collect();
    let common = unify(&types)?.ok_or_else(nothing_in_common)?;
    if shapes.is_open(&common) {
        return Err(Misfit::Uncertain(
            "items that differ where the type is open",
        ));
    }
    let items = items
        .into_iter()
        .map(|item| any(item, &common, shapes))
        .collect::<Fit<_>>()?;
    Ok((Box::new(common), items))
}

fn tuple(given: Typed, ty: &Type, types: &[Type], shapes: &mut Shapes) -> Fit {
    // A list does not become a tuple, even of the same length (rules 2.3).
    let from = given.ty.clone();
    let is_tuple = matches!(&from, Type::Tuple(from) if from.len() == types.len());
    let items = given.into_items().filter(|_| is_tuple);
    let items = items
        .ok_or_else(|| mismatch(&from, ty))?
        .into_iter()
        .zip(types)
        .map(|(item, ty)| any(item, ty, shapes))
        .collect::<Fit<Vec<Typed>>>()?;
    Ok(Typed::tuple(items))
}

fn object(
    given: Typed,
    ty: &Type,
    wanted: &BTreeMap<String, AttributeType>,
    shapes: &mut Shapes,
) -> Fit {
    // A small value may lack many attributes of a large type, in each of its items.
    shapes.charge(wanted.len() * size_of::<Value>())?;
    // The programs check the items of a map against all attributes, also those that it lacks.
    if let Type::Map(item) = &given.ty {
        for attribute in wanted.values() {
            if !possible(item, &attribute.ty)? {
                return Err(mismatch(&given.ty, ty));
            }
        }
    }
    let from = given.ty.clone();
    let mut items = given.into_attributes().ok_or_else(|| mismatch(&from, ty))?;
    let mut attributes = BTreeMap::new();
    for (name, attribute) in wanted {
        let item = match (items.remove(name), &attribute.presence) {
            (Some(item), _) => any(item, &attribute.ty, shapes)?,
            (None, Presence::Required) => {
                return Err(Misfit::Refused(format!("attribute {name:?} is missing")));
            }
            // Defaults were filled in before; without one the attribute is null (rules 1.2).
            (None, _) => Typed::null(shapes.plain(&attribute.ty)),
        };
        attributes.insert(name.clone(), item);
    }
    if shapes.is_open(ty) {
        return Ok(Typed::object(attributes));
    }
    // All values of one type share it: a list may have thousands of them.
    let values = attributes
        .into_iter()
        .map(|(name, item)| (name, item.value))
        .collect();
    Ok(Typed {
        ty: shapes.plain(ty),
        value: Value::Object(values),
    })
}

/// Converts to a truth value; a string may spell one.
pub(super) fn to_bool(value: &Value, title: &'static str) -> Result<bool, EvalFailure> {
    match value {
        Value::Bool(value) => Ok(*value),
        Value::String(text) if text == "true" || text == "1" => Ok(true),
        Value::String(text) if text == "false" || text == "0" => Ok(false),
        _ => Err(EvalFailure::Type(title)),
    }
}

/// Converts to a number; a string may spell one, a little more freely than a literal.
pub(super) fn to_number(value: &Value) -> Result<Number, EvalFailure> {
    let text = match value {
        Value::Number(number) => return Ok(*number),
        Value::String(text) => text,
        _ => return Err(EvalFailure::Type("Invalid operand")),
    };
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let zero = if unsigned.starts_with('.') { "0" } else { "" };
    let sign = if text.starts_with('-') { "-" } else { "" };
    match Number::parse(&format!("{sign}{zero}{unsigned}")) {
        Some(number) if unsigned != "." => Ok(number),
        _ if unsigned.eq_ignore_ascii_case("inf") => {
            Err(EvalFailure::Uncertain("this is infinite"))
        }
        // Too many digits for lockctl, an exponent of two, or indeed no number.
        _ => {
            let is_digit_or_dot = |c: char| c.is_ascii_digit() || c == '.';
            let may_be_number = unsigned.starts_with(is_digit_or_dot)
                && unsigned.ends_with(is_digit_or_dot)
                && unsigned
                    .chars()
                    .all(|c| c.is_ascii_digit() || "+-.eEpP".contains(c));
            Err(if may_be_number {
                EvalFailure::Uncertain("this may be a number")
            } else {
                EvalFailure::Type("Invalid operand")
            })
        }
    }
}
