//! `csvdecode`.

use std::collections::{BTreeMap, BTreeSet};

use super::{Fault, Function, Gives, Limits, Needs, Takes, text};
use crate::expr::typed::Typed;
use crate::expr::types::{AttributeType, Type};
use crate::expr::value::{Value, normalised};

type Ran = Result<Typed, Fault>;

pub(super) const TABLE: &[Function] = &[Function {
    name: "csvdecode",
    takes: &[Takes::Text],
    rest: None,
    needs: Needs::Parts,
    gives: Gives::Open,
    run: decoded,
}];

fn refused(reason: &str) -> Fault {
    Fault::Call(reason.to_owned())
}

/// Makes a list of objects, whose attributes have the names of the first row.
fn decoded(args: &[Typed], limits: &Limits<'_>) -> Ran {
    // A line break is one character, also inside of a field.
    let text = text(args, 0).replace("\r\n", "\n");
    let mut rest = text.strip_suffix('\r').unwrap_or(&text);
    let Some(given) = row(&mut rest)? else {
        return Err(refused("there is no first row"));
    };
    let distinct: BTreeSet<&String> = given.iter().collect();
    if distinct.len() < given.len() {
        return Err(refused("two columns have one name"));
    }
    let names: Vec<String> = given.into_iter().map(normalised).collect();
    let required = |name: &String| (name.clone(), AttributeType::required(Type::String));
    let types: BTreeMap<String, AttributeType> = names.iter().map(required).collect();
    if types.len() < names.len() {
        return Err(Fault::Uncertain("two names are one to the program"));
    }
    let (mut rows, mut work) = (Vec::new(), 0);
    while let Some(fields) = row(&mut rest)? {
        if fields.len() != names.len() {
            return Err(refused("wrong number of fields"));
        }
        let pairs = names
            .iter()
            .cloned()
            .zip(fields.into_iter().map(Value::string));
        let row = Value::Object(pairs.collect());
        work += row.weight();
        limits.allow(work)?;
        rows.push(row);
    }
    Ok(Typed::list(Type::Object(types.into()), rows))
}

/// Takes the next row, past empty lines; `None` at the end.
fn row(rest: &mut &str) -> Result<Option<Vec<String>>, Fault> {
    *rest = rest.trim_start_matches('\n');
    if rest.is_empty() {
        return Ok(None);
    }
    let mut fields = Vec::new();
    loop {
        fields.push(field(rest)?);
        match rest.strip_prefix(',') {
            Some(behind) => *rest = behind,
            None => break,
        }
    }
    *rest = rest.strip_prefix('\n').unwrap_or(rest);
    Ok(Some(fields))
}

/// Takes a field up to what ends it.
fn field(rest: &mut &str) -> Result<String, Fault> {
    let Some(quoted) = rest.strip_prefix('"') else {
        let end = rest.find([',', '\n']).unwrap_or(rest.len());
        let (field, behind) = rest.split_at(end);
        *rest = behind;
        return match field.contains('"') {
            true => Err(refused("bare \" in non-quoted field")),
            false => Ok(field.to_owned()),
        };
    };
    let (mut field, mut inside) = (String::new(), quoted);
    loop {
        let Some((before, behind)) = inside.split_once('"') else {
            return Err(refused("extraneous or missing \" in quoted field"));
        };
        field.push_str(before);
        match behind.chars().next() {
            Some('"') => {
                field.push('"');
                inside = &behind[1..];
            }
            None | Some(',' | '\n') => {
                *rest = behind;
                return Ok(field);
            }
            Some(_) => return Err(refused("extraneous or missing \" in quoted field")),
        }
    }
}
