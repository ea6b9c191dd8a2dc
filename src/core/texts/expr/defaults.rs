//! Defaults of optional attributes (rules 1.2).

use std::collections::BTreeMap;

use super::failure::{Fit, Misfit};
use super::sets::as_set;
use super::shapes::Shapes;
use super::typed::Typed;
use super::types::{AttributeType, Presence, Type};
use super::value::Value;

/// Fills in the defaults of optional attributes, first those outside, then those inside of them; an
/// attribute that is null counts as absent, a value that is null stays. Values of variables are filled
/// before they are converted.
///
/// Parts that do not fit the type stay as they are: the conversion will refuse them.
///
/// # Errors
/// Only if the result is not certain.
pub fn fill(given: Typed, ty: &Type) -> Result<Typed, Misfit> {
    any(given, ty, &mut Shapes::default())
}

fn any(given: Typed, ty: &Type, shapes: &mut Shapes) -> Fit {
    // A value that is null has no attributes to fill in (rules 1.2).
    if [Value::Null, Value::Unknown].contains(&given.value) || !shapes.has_defaults(ty) {
        return Ok(given);
    }
    let given = match given.unmarked() {
        (given, marks) if marks.is_none() => given,
        (given, marks) => return Ok(any(given, ty, shapes)?.marked(marks)),
    };
    let from = given.ty.clone();
    match (ty, &from) {
        (Type::List(item) | Type::Set(item), Type::Tuple(_) | Type::List(_) | Type::Set(_)) => {
            filled_items(given, &from, |_| Some(item), shapes)
        }
        (Type::Tuple(types), Type::Tuple(_)) => {
            filled_items(given, &from, |at| types.get(at), shapes)
        }
        (Type::Map(item), Type::Object(_) | Type::Map(_)) => {
            filled_attributes(given, &from, |_| Some(item), &BTreeMap::new(), shapes)
        }
        (Type::Object(wanted), Type::Object(_) | Type::Map(_)) => {
            let inside = |name: &str| wanted.get(name).map(|attribute| &attribute.ty);
            filled_attributes(given, &from, inside, wanted, shapes)
        }
        _ => Ok(given),
    }
}

fn filled_items<'t>(
    given: Typed,
    from: &Type,
    inside: impl Fn(usize) -> Option<&'t Type>,
    shapes: &mut Shapes,
) -> Fit {
    let (mut types, mut values) = (Vec::new(), Vec::new());
    for (at, item) in given
        .into_items()
        .unwrap_or_default()
        .into_iter()
        .enumerate()
    {
        let filled = match inside(at) {
            Some(ty) => any(item, ty, shapes)?,
            None => item,
        };
        types.push(filled.ty);
        values.push(filled.value);
    }
    let ty = match from {
        Type::List(item) | Type::Set(item) => {
            still_one_type(from, types.iter(), item)?;
            from.clone()
        }
        _ => Type::Tuple(types.into()),
    };
    let value = match ty {
        // Defaults may make items equal, and change their order.
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
    shapes: &mut Shapes,
) -> Fit {
    shapes.charge(wanted.len() * size_of::<Value>())?;
    let mut items = BTreeMap::new();
    for (name, item) in given.into_attributes().unwrap_or_default() {
        let filled = match inside(&name) {
            Some(ty) => any(item, ty, shapes)?,
            None => item,
        };
        items.insert(name, filled);
    }
    for (name, attribute) in wanted {
        let is_absent = items.get(name).is_none_or(|item| item.value == Value::Null);
        if let Presence::Default(default) = &attribute.presence
            && is_absent
        {
            shapes.charge(default.weight())?;
            // Defaults apply from the outside in: this one may lack attributes itself (rules 1.2).
            items.insert(name.clone(), any(default.clone(), &attribute.ty, shapes)?);
        }
    }
    let Type::Map(item) = from else {
        return Ok(Typed::object(items));
    };
    still_one_type(from, items.values().map(|item| &item.ty), item)?;
    Ok(Typed::map((**item).clone(), items))
}

/// Checks that defaults did not change the type of the items of a collection.
fn still_one_type<'t>(
    from: &Type,
    mut types: impl Iterator<Item = &'t Type>,
    item: &Type,
) -> Fit<()> {
    if types.all(|ty| ty == item) {
        return Ok(());
    }
    Err(Misfit::Uncertain(match from {
        Type::Map(_) => "defaults that do not have the type of the map",
        _ => "defaults that change the type of the items",
    }))
}
