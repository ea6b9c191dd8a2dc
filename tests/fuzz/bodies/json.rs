//! JSON: the same tree by two ways of reading and by another parser.

use std::io::BufReader;

use lockctl::json::{JsonFault, JsonValue, MAX_NESTING, Members, ValueKind, parse, read};
use serde_json::Value;

use super::{Budget, diagnostics};

const BUDGET: Budget = Budget {
    base_bytes: 256 * 1024,
    bytes: 400,
    base_allocations: 1_000,
    allocations: 40,
};

pub fn run(data: &[u8]) {
    let parsed = BUDGET.spend(data, || parse(data));
    let slow = BufReader::with_capacity(1, data);
    let read = read(slow, &Members::All).expect("memory");
    assert_eq!(read, parsed, "read byte for byte it is the same");
    let other: Result<Value, _> = serde_json::from_slice(data);
    match &parsed {
        Ok(value) => {
            check_spans(data, value);
            let mut text = String::new();
            write(&mut text, value);
            let again = parse(text.as_bytes()).expect("what is written is read");
            let mut rewritten = String::new();
            write(&mut rewritten, &again);
            assert_eq!(rewritten, text);
            // Half of a surrogate pair, bytes that are no UTF-8, and the range of numbers are taken otherwise.
            if let Ok(other) = other {
                check_like(value, &other);
            }
        }
        Err(faults) => {
            assert!(!faults.is_empty(), "a refusal has a reason");
            for fault in faults {
                diagnostics::check_span(data, fault.span);
                assert!(fault.line >= 1 && fault.column >= 1 && fault.column <= data.len() + 2);
            }
            let is_root = |value: &Value| value.is_object() || value.is_array();
            if let Some(other) = other.ok().filter(is_root) {
                // An exponent of ten digits is no number to the programs; serde_json makes 0 of it.
                let is_out_of_range = |fault: &JsonFault| {
                    let text = &data[fault.span.start..fault.span.end];
                    fault.title == "Invalid JSON number" && text.len() > 11
                };
                assert!(
                    depth(&other) > MAX_NESTING || faults.iter().all(is_out_of_range),
                    "{faults:?}"
                );
            }
        }
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(elements) => 1 + elements.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

fn check_spans(text: &[u8], value: &JsonValue) {
    diagnostics::check_span(text, value.span);
    let inside = |span: lockctl::diag::Span| {
        assert!(
            value.span.start < span.start && span.end < value.span.end,
            "{value:?}"
        );
    };
    match &value.kind {
        ValueKind::Array(elements) => {
            for element in elements {
                inside(element.span);
                check_spans(text, element);
            }
        }
        ValueKind::Object(members) => {
            for member in members {
                inside(member.span());
                check_spans(text, &member.value);
            }
        }
        _ => {}
    }
}

fn write(out: &mut String, value: &JsonValue) {
    let quoted = |text: &str| Value::from(text).to_string();
    match &value.kind {
        ValueKind::Null => out.push_str("null"),
        ValueKind::Bool(truth) => out.push_str(&truth.to_string()),
        ValueKind::Number(number) => out.push_str(number),
        ValueKind::String(text) => out.push_str(&quoted(text)),
        ValueKind::Array(elements) => {
            out.push('[');
            for (at, element) in elements.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                write(out, element);
            }
            out.push(']');
        }
        ValueKind::Object(members) => {
            out.push('{');
            for (at, member) in members.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                out.push_str(&quoted(&member.name));
                out.push(':');
                write(out, &member.value);
            }
            out.push('}');
        }
    }
}

fn check_like(value: &JsonValue, other: &Value) {
    match (&value.kind, other) {
        (ValueKind::Null, Value::Null) | (ValueKind::Number(_), Value::Number(_)) => {}
        (ValueKind::Bool(truth), Value::Bool(other)) => assert_eq!(truth, other),
        (ValueKind::String(text), Value::String(other)) => assert_eq!(text, other),
        (ValueKind::Array(elements), Value::Array(others)) => {
            assert_eq!(elements.len(), others.len());
            for (element, other) in elements.iter().zip(others) {
                check_like(element, other);
            }
        }
        (ValueKind::Object(members), Value::Object(others)) => {
            for member in members {
                assert!(others.contains_key(&member.name), "{:?}", member.name);
            }
            for (name, other) in others {
                check_like(value.member(name).expect("the last one counts"), other);
            }
        }
        (kind, other) => panic!("{kind:?} is {other:?} to serde_json"),
    }
}
