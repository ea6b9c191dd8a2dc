//! Functions that read and write other formats.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Fault, Function, Gives, Limits, Needs, Takes, text};
use crate::expr::Number;
use crate::expr::typed::Typed;
use crate::expr::types::Type;
use crate::expr::value::Value;
use crate::json;

type Ran = Result<Typed, Fault>;

const fn of(
    name: &'static str,
    takes: &'static [Takes],
    gives: Gives,
    run: fn(&[Typed], &Limits<'_>) -> Ran,
) -> Function {
    Function {
        name,
        takes,
        rest: None,
        needs: Needs::Parts,
        gives,
        run,
    }
}

pub(super) const TABLE: &[Function] = &[
    of("jsondecode", &[Takes::Text], Gives::Open, |args, _| {
        // In brackets any value may stand, not only an object.
        let text = text(args, 0);
        let parsed = json::parse(format!("[{text}]").as_bytes()).map_err(|faults| {
            // The programs pass over some brackets behind the value.
            if text.trim_end().ends_with([']', '}']) {
                return Fault::Uncertain("this JSON may end before its last bracket");
            }
            let first = faults.first().map(|fault| fault.title.to_owned());
            Fault::Call(first.unwrap_or_default())
        })?;
        match &parsed.kind {
            json::ValueKind::Array(all) if all.len() == 1 => decoded(&all[0]),
            _ => Err(Fault::Call("one value is needed here".to_owned())),
        }
    }),
    of("jsonencode", &[Takes::Maybe], Gives::Text, |args, _| {
        let mut out = String::new();
        if let Some(arg) = args.first() {
            encode(&arg.value, &mut out);
        }
        Ok(Typed::string(out))
    }),
];

/// Makes a value of what a JSON text holds; of several members of one name the last one counts.
fn decoded(value: &json::Value) -> Ran {
    Ok(match &value.kind {
        json::ValueKind::Null => Typed::null(Type::Any),
        json::ValueKind::Bool(value) => Typed::bool(*value),
        json::ValueKind::Number(text) => match Number::parse(text) {
            Some(number) => Typed::number(number),
            None => return Err(Fault::Uncertain("a number has too many digits")),
        },
        json::ValueKind::String(text) => Typed::string(text.as_str()),
        json::ValueKind::Array(items) => {
            let items = items.iter().map(decoded);
            Typed::tuple(items.collect::<Result<_, _>>()?)
        }
        json::ValueKind::Object(members) => {
            let members = members.iter();
            let members = members.map(|member| {
                let value = decoded(&member.value)?;
                Ok((member.name.clone(), value))
            });
            Typed::object(members.collect::<Result<BTreeMap<_, _>, Fault>>()?)
        }
    })
}

/// Writes a value as JSON, with the escapes of the programs.
fn encode(value: &Value, out: &mut String) {
    match value {
        Value::Null | Value::Unknown => out.push_str("null"),
        Value::Marked(_, value) => encode(value, out),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number.to_string()),
        Value::String(text) => quote(text, out),
        Value::Tuple(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                encode(item, out);
            }
            out.push(']');
        }
        Value::Object(items) => {
            out.push('{');
            for (at, (name, item)) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                quote(name, out);
                out.push(':');
                encode(item, out);
            }
            out.push('}');
        }
    }
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
