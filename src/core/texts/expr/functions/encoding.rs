//! Functions that read and write other formats.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::arguments::{CallArguments, CallFault, CallResult};
use crate::expr::Number;
use crate::expr::typed::Typed;
use crate::expr::types::Type;
use crate::expr::value::Value;
use crate::json;

pub(super) fn jsondecode(args: &CallArguments<'_>) -> CallResult {
    // The parser expects an object or an array at the top; inside brackets any value is valid.
    let text = args.text(0);
    let parsed = json::parse(format!("[{text}]").as_bytes()).map_err(|faults| {
        // The programs pass over some brackets behind the value.
        if text.trim_end().ends_with([']', '}']) {
            return CallFault::Uncertain("this JSON may end before its last bracket");
        }
        CallFault::call(faults.first().map_or("", |fault| fault.title))
    })?;
    match &parsed.kind {
        json::ValueKind::Array(items) if items.len() == 1 => decoded(&items[0]),
        _ => Err(CallFault::call("one value is needed here")),
    }
}

pub(super) fn jsonencode(args: &CallArguments<'_>) -> CallResult {
    let mut out = String::new();
    if let Some(arg) = args.values.first() {
        encode(&arg.value, &mut out);
    }
    Ok(Typed::string(out))
}

/// Converts a JSON value; of several members with one name the last counts.
fn decoded(value: &json::JsonValue) -> CallResult {
    Ok(match &value.kind {
        json::ValueKind::Null => Typed::null(Type::Any),
        json::ValueKind::Bool(value) => Typed::bool(*value),
        json::ValueKind::Number(text) => match Number::parse(text) {
            Some(number) => Typed::number(number),
            None => return Err(CallFault::Uncertain("a number has too many digits")),
        },
        json::ValueKind::String(text) => Typed::string(text.as_str()),
        json::ValueKind::Array(items) => {
            Typed::tuple(items.iter().map(decoded).collect::<CallResult<_>>()?)
        }
        json::ValueKind::Object(members) => {
            let mut attributes = BTreeMap::new();
            for member in members {
                // Unlike in a configuration in JSON, a repeated name is no fault here (`config` rules 2.4).
                attributes.insert(member.name.clone(), decoded(&member.value)?);
            }
            Typed::object(attributes)
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
            // Go escapes these for HTML, too.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
