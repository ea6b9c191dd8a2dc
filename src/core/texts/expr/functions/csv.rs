//! `csvdecode`.

use std::collections::{BTreeMap, BTreeSet};

use super::arguments::{CallArguments, CallFault, CallResult};
use crate::expr::typed::Typed;
use crate::expr::types::{AttributeType, Type};
use crate::expr::value::{Value, normalised};

/// Makes a list of objects; the first row names their attributes.
pub(super) fn csvdecode(args: &CallArguments<'_>) -> CallResult {
    // A line break is one character, also inside of a field.
    let text = args.text(0).replace("\r\n", "\n");
    let mut rest = text.strip_suffix('\r').unwrap_or(&text);
    let Some(header) = row(&mut rest)? else {
        return Err(CallFault::call("there is no first row"));
    };
    // The program compares names before it normalises them.
    if header.iter().collect::<BTreeSet<&String>>().len() < header.len() {
        return Err(CallFault::call("two columns have one name"));
    }
    let names: Vec<String> = header.into_iter().map(normalised).collect();
    let required = |name: &String| (name.clone(), AttributeType::required(Type::String));
    let types: BTreeMap<String, AttributeType> = names.iter().map(required).collect();
    if types.len() < names.len() {
        return Err(CallFault::Uncertain("two names are one to the program"));
    }
    let (mut rows, mut work) = (Vec::new(), 0);
    while let Some(fields) = row(&mut rest)? {
        if fields.len() != names.len() {
            return Err(CallFault::call("wrong number of fields"));
        }
        let pairs = names
            .iter()
            .cloned()
            .zip(fields.into_iter().map(Value::string));
        let row = Value::Object(pairs.collect());
        work += row.weight();
        args.allow(work)?;
        rows.push(row);
    }
    Ok(Typed::list(Type::Object(types.into()), rows))
}

/// Takes the next row, past empty lines; `None` at the end.
fn row(rest: &mut &str) -> CallResult<Option<Vec<String>>> {
    // Empty lines are no rows.
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
fn field(rest: &mut &str) -> CallResult<String> {
    let Some(quoted) = rest.strip_prefix('"') else {
        let end = rest.find([',', '\n']).unwrap_or(rest.len());
        let (field, behind) = rest.split_at(end);
        *rest = behind;
        // As in the reader of Go, a quote must be the first character of a field.
        if field.contains('"') {
            return Err(CallFault::call("bare \" in non-quoted field"));
        }
        return Ok(field.to_owned());
    };
    let (mut field, mut inside) = (String::new(), quoted);
    loop {
        let Some((before, behind)) = inside.split_once('"') else {
            return Err(CallFault::call("extraneous or missing \" in quoted field"));
        };
        field.push_str(before);
        match behind.chars().next() {
            // Two quotes in a row are one that belongs to the text.
            Some('"') => {
                field.push('"');
                inside = &behind[1..];
            }
            None | Some(',' | '\n') => {
                *rest = behind;
                return Ok(field);
            }
            Some(_) => return Err(CallFault::call("extraneous or missing \" in quoted field")),
        }
    }
}
