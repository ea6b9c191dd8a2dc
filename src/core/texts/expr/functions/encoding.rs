//! Functions that read and write other formats: JSON, base64, percent encoding.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::arguments::{CallArguments, CallFault, CallResult};
use super::files;
use crate::expr::Number;
use crate::expr::typed::Typed;
use crate::expr::types::Type;
use crate::expr::value::Value;
use crate::json;

/// Decodes as Go does, which ignores bits that are left at the end.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// The characters that are escaped in the query of a URL.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

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
    let value = args.values.first();
    Ok(Typed::string(
        value.map(|arg| encoded(&arg.value)).unwrap_or_default(),
    ))
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
fn encoded(value: &Value) -> String {
    match value {
        Value::Null | Value::Unknown => "null".to_owned(),
        Value::Marked(_, value) => encoded(value),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Tuple(items) => {
            let items: Vec<String> = items.iter().map(encoded).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(items) => {
            let items: Vec<String> = items
                .iter()
                .map(|(name, item)| format!("{}:{}", quoted(name), encoded(item)))
                .collect();
            format!("{{{}}}", items.join(","))
        }
    }
}

fn quoted(text: &str) -> String {
    // A text has no value that JSON lacks.
    let mut quoted = serde_json::to_string(text).unwrap_or_default();
    // Go escapes these for HTML, too.
    for c in ['<', '>', '&', '\u{2028}', '\u{2029}'] {
        if quoted.contains(c) {
            quoted = quoted.replace(c, &format!("\\u{:04x}", u32::from(c)));
        }
    }
    quoted
}

/// Decodes base64, which may have several lines.
pub(super) fn base64_decode(args: &CallArguments<'_>) -> CallResult {
    let bytes = LENIENT
        .decode(args.text(0).replace(['\n', '\r'], ""))
        .map_err(|_| CallFault::call("this is no base64"))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Typed::string(text)),
        Err(_) => Err(CallFault::call("the result is no UTF-8")),
    }
}

pub(super) fn base64_encode(args: &CallArguments<'_>) -> CallResult {
    Ok(Typed::string(STANDARD.encode(args.text(0))))
}

pub(super) fn filebase64(args: &CallArguments<'_>) -> CallResult {
    let bytes = files::read(args.around, args.text(0), args.work)?;
    Ok(Typed::string(STANDARD.encode(bytes)))
}

pub(super) fn urlencode(args: &CallArguments<'_>) -> CallResult {
    // A space is `+` in a query.
    let escaped = utf8_percent_encode(args.text(0), QUERY).to_string();
    Ok(Typed::string(escaped.replace("%20", "+")))
}
