//! One tree for both forms: keys and values, as HCL 1 has nothing else.
//!
//! `a "b" { … }`, `a = { b = { … } }` and `{"a":{"b":{…}}}` are the same to it, and so are they
//! here. Scalars are secrets until one is needed.

use super::native::{self, ConfigFault};
use super::node::{ConfigEntry, ConfigValue};
use super::veil;
use crate::diag::Span;
use crate::hcl::tree::Word;
use crate::json::{self, JsonValue, Member, ValueKind};
use crate::world::Secret;

/// A file taken apart.
pub(super) struct Parsed {
    /// The text for [`crate::diag::Texts`]: as long as the file, with `*` over everything that may be secret.
    pub(super) shown: Vec<u8>,
    /// The entries of the file; as in the programs, nothing holds where it cannot be parsed.
    pub(super) tree: Result<Vec<ConfigEntry>, ConfigFault>,
}

/// Parses a file. A text that begins with `{` is JSON, even if its name says otherwise (rules 1.4).
pub(super) fn parse(bytes: &[u8]) -> Parsed {
    let mut shown = veil::outline(bytes);
    let tree = match std::str::from_utf8(bytes) {
        Ok(text) if text.trim_start().starts_with('{') => json(text),
        Ok(text) => native::parse(text),
        Err(error) => {
            let at = error.valid_up_to();
            Err(ConfigFault::new(Span::new(at, at), "this is not UTF-8"))
        }
    };
    if let Ok(entries) = &tree {
        veil::show_names(entries, bytes, &mut shown);
    }
    Parsed { shown, tree }
}

fn json(text: &str) -> Result<Vec<ConfigEntry>, ConfigFault> {
    match json::parse(text.as_bytes()).map(|value| value.kind) {
        Ok(ValueKind::Object(members)) => Ok(entries(members)),
        // A text that begins with `{` is an object or no JSON.
        Ok(_) => Ok(Vec::new()),
        // Fixed texts, which show nothing of the file: it may hold tokens.
        Err(faults) => Err(match faults.first() {
            Some(fault) if fault.remark.is_empty() => ConfigFault::new(fault.span, fault.title),
            Some(fault) => ConfigFault::new(fault.span, fault.remark),
            None => ConfigFault::new(Span::default(), "this is no JSON"),
        }),
    }
}

fn entries(members: Vec<Member>) -> Vec<ConfigEntry> {
    members
        .into_iter()
        .map(|member| ConfigEntry {
            key: Word {
                text: member.name,
                span: member.name_span,
            },
            value: node(member.value),
        })
        .collect()
}

fn node(value: JsonValue) -> ConfigValue {
    match value.kind {
        ValueKind::String(text) => ConfigValue::Text(Secret::new(text)),
        ValueKind::Null => ConfigValue::Scalar(Secret::new("null")),
        ValueKind::Bool(value) => ConfigValue::Scalar(Secret::new(value.to_string())),
        ValueKind::Number(text) => ConfigValue::Scalar(Secret::new(text)),
        ValueKind::Array(elements) => ConfigValue::List(elements.into_iter().map(node).collect()),
        ValueKind::Object(members) => ConfigValue::Object(entries(members)),
    }
}
