//! One tree for both forms: keys and values, as HCL 1 has nothing else.
//!
//! `a "b" { … }`, `a = { b = { … } }` and `{"a":{"b":{…}}}` are the same to it, and so are they
//! here. Scalars are secrets until one is needed.

use std::collections::BTreeMap;

use super::native::{ConfigFault, NativeOrigin, prepare};
use super::node::{ConfigEntry, ConfigValue};
use super::veil;
use crate::diag::{self, FileId, Span};
use crate::hcl::{
    self,
    tree::{Attribute, Block, Body, Expr, ExprKind, Item, ObjectItem, ObjectKey, Word},
};
use crate::json::{self, JsonValue, Member, Unfinished, ValueKind};
use crate::world::Secret;

/// A file taken apart.
pub(super) struct Parsed {
    /// The text for [`crate::diag::Texts`]: as long as the file, with `*` over whatever may be
    /// secret.
    pub(super) shown: Vec<u8>,
    /// The entries of the file; as in the programs, nothing holds where it cannot be parsed.
    pub(super) tree: Result<Vec<ConfigEntry>, Vec<ConfigFault>>,
}

/// Takes a file apart. What begins with `{` is JSON, whatever the name of the file says
/// (rules 1.4).
pub(super) fn parse(bytes: &[u8]) -> Parsed {
    let (mut shown, tree) = match std::str::from_utf8(bytes) {
        Ok(text) if text.trim_start().starts_with('{') => (veil::outline(bytes), json(text)),
        Ok(text) => native(text),
        Err(error) => {
            let at = error.valid_up_to();
            let fault = ConfigFault::new(Span::new(at, at), "this is not UTF-8");
            (veil::outline(bytes), Err(vec![fault]))
        }
    };
    if let Ok(entries) = &tree {
        veil::show_names(entries, bytes, &mut shown);
    }
    Parsed { shown, tree }
}

fn json(text: &str) -> Result<Vec<ConfigEntry>, Vec<ConfigFault>> {
    match json::parse(text.as_bytes()).map(|value| value.kind) {
        Ok(ValueKind::Object(members)) => Ok(entries(members)),
        // A text that begins with `{` is an object or no JSON.
        Ok(_) => Ok(Vec::new()),
        Err(mut faults) => {
            // Behind the first end of the text, the others say the same.
            if let Some(end) = faults.iter().position(|fault| fault.ends_in.is_some()) {
                faults.truncate(end + 1);
            }
            // Fixed texts, which show nothing of the file: it may hold tokens.
            let reported = faults.iter().map(|fault| {
                let note = match (fault.ends_in, fault.remark) {
                    (Some(Unfinished::Object), _) => {
                        "the file ends inside an object: `}` is missing"
                    }
                    (Some(Unfinished::Array), _) => "the file ends inside a list: `]` is missing",
                    (Some(Unfinished::String), _) => {
                        "the file ends inside a string: `\"` is missing"
                    }
                    (Some(Unfinished::Value), _) => "the file ends where a value is expected",
                    (None, "") => fault.title,
                    (None, remark) => remark,
                };
                let at = match fault.ends_in {
                    Some(_) => text.len(),
                    None => fault.span.start,
                };
                ConfigFault::new(Span::new(at, at), note)
            });
            Err(reported.collect())
        }
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

fn native(text: &str) -> (Vec<u8>, Result<Vec<ConfigEntry>, Vec<ConfigFault>>) {
    // `hcl` reads HCL 2, and its errors would quote values; so it gets a structure without any text of the file.
    let prepared = prepare(text);
    if let Some(fault) = prepared.fault {
        return (prepared.shown, Err(vec![fault]));
    }
    let convert = NativeConverter {
        origins: prepared.origins,
    };
    // The places in the structure are no places in the file, so it has a table of its own.
    let (body, problems) = hcl::parse(FileId::ALONE, prepared.structure.as_bytes());
    let faults: Vec<ConfigFault> = problems
        .into_iter()
        .filter(|problem| problem.severity == diag::Severity::Error)
        .map(|problem| {
            let span = problem.primary.map(|label| convert.place(label.span));
            ConfigFault::new(span.unwrap_or_default(), problem.title)
        })
        .collect();
    let tree = if faults.is_empty() {
        Ok(convert.body(&body))
    } else {
        Err(faults)
    };
    (prepared.shown, tree)
}

/// From the tree of `hcl` to ours, with the texts put back.
struct NativeConverter {
    origins: BTreeMap<usize, NativeOrigin>,
}

impl NativeConverter {
    /// Finds the place in the file of what stands at or before a place in the structure.
    fn place(&self, span: Span) -> Span {
        self.origins
            .range(..=span.start)
            .next_back()
            .map_or(Span::default(), |(_, origin)| origin.span)
    }

    fn body(&self, body: &Body) -> Vec<ConfigEntry> {
        let item = |item: &Item| match item {
            Item::Attribute(Attribute { name, value, .. }) => ConfigEntry {
                key: self.word(name),
                value: self.node(value),
            },
            Item::Block(block) => self.block(block),
        };
        body.items.iter().map(item).collect()
    }

    /// A label is the key of an object within.
    fn block(&self, block: &Block) -> ConfigEntry {
        let mut value = ConfigValue::Object(self.body(&block.body));
        for label in block.labels.iter().rev() {
            value = ConfigValue::Object(vec![ConfigEntry {
                key: self.word(label),
                value,
            }]);
        }
        ConfigEntry {
            key: self.word(&block.kind),
            value,
        }
    }

    fn word(&self, word: &Word) -> Word {
        let origin = self.origins.get(&word.span.start);
        let text = origin.and_then(|origin| origin.text.as_ref());
        Word {
            text: text.map_or_else(String::new, |text| text.reveal().to_owned()),
            span: self.place(word.span),
        }
    }

    /// As deep as the walk before let it become.
    fn node(&self, expr: &Expr) -> ConfigValue {
        match &expr.kind {
            ExprKind::Tuple(nodes) => {
                ConfigValue::List(nodes.iter().map(|node| self.node(node)).collect())
            }
            ExprKind::Object(items) => {
                ConfigValue::Object(items.iter().filter_map(|item| self.item(item)).collect())
            }
            _ => {
                let origin = self.origins.get(&expr.span.start);
                let text = origin.and_then(|origin| origin.text.clone());
                let text = text.unwrap_or_else(|| Secret::new(""));
                match origin {
                    Some(origin) if !origin.is_scalar => ConfigValue::Text(text),
                    _ => ConfigValue::Scalar(text),
                }
            }
        }
    }

    /// Keys are names by now, whatever they were before.
    fn item(&self, item: &ObjectItem) -> Option<ConfigEntry> {
        let ObjectKey::Name(name) = &item.key else {
            return None;
        };
        Some(ConfigEntry {
            key: self.word(name),
            value: self.node(&item.value),
        })
    }
}
