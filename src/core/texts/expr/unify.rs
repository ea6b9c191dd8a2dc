//! Possible conversions between types, and the common type of several (rules 2).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::failure::{Fit, Misfit};
use super::types::{AttributeType, Presence, Type};

/// Returns true if values of one type may convert to another, as far as the types alone decide.
pub(super) fn possible(from: &Type, to: &Type) -> Fit<bool> {
    Ok(match (from, to) {
        (_, Type::Any) | (Type::Any, _) => true,
        (Type::Bool | Type::Number | Type::String, Type::String)
        | (Type::String, Type::Bool | Type::Number)
        | (Type::Bool, Type::Bool)
        | (Type::Number, Type::Number) => true,
        (Type::List(from) | Type::Set(from), Type::List(to) | Type::Set(to))
        | (Type::Map(from), Type::Map(to)) => possible(from, to)?,
        (Type::Tuple(from), Type::List(to) | Type::Set(to)) => all_possible(from.iter(), to)?,
        (Type::Object(from), Type::Map(to)) => {
            all_possible(from.values().map(|attribute| &attribute.ty), to)?
        }
        // A tuple type takes the exact length only (rules 2.3).
        (Type::Tuple(from), Type::Tuple(to)) => {
            from.len() == to.len() && every(from.iter().zip(to.iter()))?
        }
        (Type::Map(from), Type::Object(to)) => {
            every(to.values().map(|attribute| (&**from, &attribute.ty)))?
        }
        (Type::Object(from), Type::Object(to)) => {
            let is_there = |(name, attribute): (&String, &AttributeType)| {
                // Further attributes are discarded (rules 2.2).
                from.contains_key(name) || attribute.presence != Presence::Required
            };
            let both = to
                .iter()
                .filter_map(|(name, to)| Some((&from.get(name)?.ty, &to.ty)));
            to.iter().all(is_there) && every(both)?
        }
        _ => false,
    })
}

fn every<'t>(mut pairs: impl Iterator<Item = (&'t Type, &'t Type)>) -> Fit<bool> {
    pairs.try_fold(true, |so_far, (from, to)| Ok(so_far && possible(from, to)?))
}

/// Returns true if the parts of a structure may convert to the type of a collection's items.
fn all_possible<'t>(types: impl Iterator<Item = &'t Type>, to: &Type) -> Fit<bool> {
    let types: Vec<&Type> = types.collect();
    match to {
        _ if types.is_empty() => Ok(true),
        Type::Any => Ok(match unify(&types)? {
            Some(Type::Any) => types.iter().all(|ty| **ty == Type::Any),
            found => found.is_some(),
        }),
        _ => every(types.into_iter().map(|from| (from, to))),
    }
}

/// Determines the common type of these types, for the places where a type is open; `None` if the program has
/// none, either.
pub(super) fn unify(types: &[&Type]) -> Fit<Option<Type>> {
    if types.windows(2).all(|pair| pair[0] == pair[1]) {
        return Ok(types.first().map(|ty| (*ty).clone()));
    }
    let has = |is: fn(&Type) -> bool| types.iter().any(|ty| is(ty));
    let has_null = has(|ty| *ty == Type::Any);
    let kinds = (
        has(Type::is_primitive),
        has(|ty| matches!(ty, Type::Tuple(_))),
        has(|ty| matches!(ty, Type::Object(_))),
        has(|ty| matches!(ty, Type::List(_) | Type::Set(_) | Type::Map(_))),
    );
    match kinds {
        (true, false, false, false) => {
            let has = |wanted| types.iter().any(|ty| **ty == wanted);
            // Null takes the type of the others.
            Ok(
                match (has(Type::String), has(Type::Bool), has(Type::Number)) {
                    // All primitive types convert to strings (rules 2.1).
                    (true, ..) => Some(Type::String),
                    // Bools and numbers do not convert to each other (rules 2.1).
                    (_, true, true) => None,
                    (_, true, _) => Some(Type::Bool),
                    _ => Some(Type::Number),
                },
            )
        }
        // The type of a null beside a structure only a value could show.
        (_, _, _, false) if has_null => Ok(Some(Type::Any)),
        (false, true, false, false) if !has_null => tuples(types),
        (false, false, true, false) if !has_null => objects(types),
        (false, false, false, true) if !has_null => collections(types),
        // A structure never converts to a primitive type, nor a tuple to an object.
        (true, ..) | (_, true, true, false) if !has_null => Ok(None),
        // The others may convert to each other in ways that depend on their order.
        _ => Err(Misfit::Uncertain("elements of different kinds")),
    }
}

/// Unifies tuples position by position, or to a list if they differ in length.
fn tuples(types: &[&Type]) -> Fit<Option<Type>> {
    let rows: Vec<&[Type]> = types
        .iter()
        .filter_map(|ty| match ty {
            Type::Tuple(items) => Some(&**items),
            _ => None,
        })
        .collect();
    if rows.windows(2).any(|pair| pair[0].len() != pair[1].len()) {
        let all: Vec<&Type> = rows.into_iter().flatten().collect();
        return Ok(unify(&all)?.map(|item| Type::List(Box::new(item))));
    }
    let columns = rows.first().map_or(0, |row| row.len());
    // A tuple type takes its exact length only, so each position has a type of its own (rules 2.3).
    let mut common = Vec::new();
    for at in 0..columns {
        let column: Vec<&Type> = rows.iter().map(|row| &row[at]).collect();
        match unify(&column)? {
            Some(item) => common.push(item),
            None => return Ok(None),
        }
    }
    Ok(Some(Type::Tuple(common.into())))
}

/// Unifies objects attribute by attribute, or to a map if their attributes differ.
fn objects(types: &[&Type]) -> Fit<Option<Type>> {
    let rows: Vec<&BTreeMap<String, AttributeType>> = types
        .iter()
        .filter_map(|ty| match ty {
            Type::Object(items) => Some(&**items),
            _ => None,
        })
        .collect();
    if rows
        .windows(2)
        .any(|pair| !pair[0].keys().eq(pair[1].keys()))
    {
        // As in the programs, objects with different attributes become a map of one type.
        let all: Vec<&Type> = rows
            .into_iter()
            .flat_map(|row| row.values().map(|attribute| &attribute.ty))
            .collect();
        return Ok(unify(&all)?.map(|item| Type::Map(Box::new(item))));
    }
    let mut common = BTreeMap::new();
    for name in rows.first().into_iter().flat_map(|row| row.keys()) {
        let column: Vec<&Type> = rows.iter().map(|row| &row[name].ty).collect();
        match unify(&column)? {
            Some(item) => common.insert(name.clone(), AttributeType::required(item)),
            None => return Ok(None),
        };
    }
    Ok(Some(Type::Object(Arc::new(common))))
}

/// Unifies lists, sets or maps by the types of their items.
fn collections(types: &[&Type]) -> Fit<Option<Type>> {
    let first = types.first().map(|ty| std::mem::discriminant(*ty));
    let is_first = |ty: &&Type| Some(std::mem::discriminant(*ty)) == first;
    if !types.iter().all(is_first) {
        // The programs may convert them to each other, in an order that is not certain.
        return Err(Misfit::Uncertain("collections of different kinds"));
    }
    let items: Vec<&Type> = types
        .iter()
        .filter_map(|ty| match ty {
            Type::List(item) | Type::Set(item) | Type::Map(item) => Some(&**item),
            _ => None,
        })
        .collect();
    let Some(item) = unify(&items)?.map(Box::new) else {
        return Ok(None);
    };
    Ok(Some(match types.first() {
        Some(Type::List(_)) => Type::List(item),
        Some(Type::Set(_)) => Type::Set(item),
        _ => Type::Map(item),
    }))
}
