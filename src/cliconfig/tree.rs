//! One tree for both forms: keys and values, as HCL 1 knows nothing else.
//!
//! `a "b" { … }`, `a = { b = { … } }` and `{"a":{"b":{…}}}` are the same to it, and so are they
//! here. Scalars are secrets until somebody needs one.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::native::{Fault, Origin, prepare};
use super::veil;
use crate::diag::{self, Span, Texts};
use crate::hcl::{
    self,
    tree::{Attribute, Block, Body, Expr, ExprKind, Item, ObjectItem, ObjectKey, Word},
};
use crate::world::Secret;

/// A file taken apart.
pub(super) struct Parsed {
    /// The text for [`crate::diag::Texts`]: as long as the file, with `*` over whatever may be
    /// secret.
    pub(super) shown: Vec<u8>,
    /// What the file says; as in the programs, nothing holds where it cannot be parsed.
    pub(super) tree: Result<Vec<Entry>, Vec<Fault>>,
}

/// A key with its value.
pub(super) struct Entry {
    pub(super) key: Word,
    pub(super) value: Node,
}

/// A value.
pub(super) enum Node {
    Text(Secret),
    /// A number, a truth value, `null`, or a bare word.
    Scalar,
    List(Vec<Self>),
    Object(Vec<Entry>),
}

impl Node {
    /// Lists the entries of an object, or of a list of objects, which means the same.
    pub(super) fn entries(&self) -> Vec<&Entry> {
        let mut found = Vec::new();
        let mut open = vec![self];
        while let Some(node) = open.pop() {
            match node {
                Self::Object(entries) => found.extend(entries),
                Self::List(nodes) => open.extend(nodes.iter().rev()),
                Self::Text(_) | Self::Scalar => {}
            }
        }
        found
    }

    /// Tells whether a block could be written in its place.
    pub(super) fn is_block(&self) -> bool {
        match self {
            Self::Object(_) => true,
            Self::List(nodes) => nodes.iter().any(|node| matches!(node, Self::Object(_))),
            Self::Text(_) | Self::Scalar => false,
        }
    }
}

/// Takes a file apart. What begins with `{` is JSON, whatever the name of the file says
/// (`sources.md` 2.1).
pub(super) fn parse(bytes: &[u8]) -> Parsed {
    let (mut shown, tree) = match std::str::from_utf8(bytes) {
        Ok(text) if text.trim_start().starts_with('{') => (veil::outline(bytes), json(text)),
        Ok(text) => native(text),
        Err(error) => {
            let at = error.valid_up_to();
            let fault = Fault::new(Span::new(at, at), "this is not UTF-8");
            (veil::outline(bytes), Err(vec![fault]))
        }
    };
    if let Ok(entries) = &tree {
        veil::show_names(entries, bytes, &mut shown);
    }
    Parsed { shown, tree }
}

fn json(text: &str) -> Result<Vec<Entry>, Vec<Fault>> {
    match serde_json::from_str::<Json>(text) {
        Ok(json) => Ok(Placed::new(text).entries(json)),
        Err(error) => {
            let at = offset(text, error.line(), error.column());
            Err(vec![Fault::new(Span::new(at, at), json_note(&error))])
        }
    }
}

/// Says what is wrong with a text in JSON: a fixed text, which shows nothing of the file.
fn json_note(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    match message {
        "EOF while parsing an object" => "the file ends inside an object: `}` is missing",
        "EOF while parsing a list" => "the file ends inside a list: `]` is missing",
        "EOF while parsing a string" => "the file ends inside a string: `\"` is missing",
        "EOF while parsing a value" => "the file ends where a value must stand",
        message => message,
    }
    .to_owned()
}

fn native(text: &str) -> (Vec<u8>, Result<Vec<Entry>, Vec<Fault>>) {
    let prepared = prepare(text);
    if let Some(fault) = prepared.fault {
        return (prepared.shown, Err(vec![fault]));
    }
    let convert = Convert {
        origins: prepared.origins,
    };
    // The places in the structure are no places in the file, so it has a table of its own.
    let structure = Texts::default().add("", Vec::new());
    let (body, mut found) = hcl::parse(structure, prepared.structure.as_bytes());
    found.retain(|problem| problem.severity == diag::Severity::Error);
    let fault = |problem: diag::Diagnostic| {
        let span = problem.primary.map(|label| convert.place(label.span));
        Fault::new(span.unwrap_or_default(), problem.title)
    };
    let faults: Vec<Fault> = found.into_iter().map(fault).collect();
    let tree = match faults.is_empty() {
        true => Ok(convert.body(&body)),
        false => Err(faults),
    };
    (prepared.shown, tree)
}

/// Turns line and column, both from 1, into an offset.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let lines = text.split_inclusive('\n');
    let before: usize = lines.take(line.saturating_sub(1)).map(str::len).sum();
    (before + column.saturating_sub(1)).min(text.len())
}

/// From the tree of `hcl` to ours, with the texts put back.
struct Convert {
    origins: BTreeMap<usize, Origin>,
}

impl Convert {
    /// Finds the place in the file of what stands at or before a place in the structure.
    fn place(&self, span: Span) -> Span {
        let mut before = self.origins.range(..=span.start);
        before
            .next_back()
            .map_or(Span::default(), |(_, origin)| origin.span)
    }

    fn body(&self, body: &Body) -> Vec<Entry> {
        let item = |item: &Item| match item {
            Item::Attribute(Attribute { name, value, .. }) => Entry {
                key: self.word(name),
                value: self.node(value),
            },
            Item::Block(block) => self.block(block),
        };
        body.items.iter().map(item).collect()
    }

    /// A label is the key of an object within.
    fn block(&self, block: &Block) -> Entry {
        let inner = Node::Object(self.body(&block.body));
        let labels = block.labels.iter().rev();
        let value = labels.fold(inner, |value, label| {
            Node::Object(vec![Entry {
                key: self.word(label),
                value,
            }])
        });
        Entry {
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
    fn node(&self, expr: &Expr) -> Node {
        match &expr.kind {
            ExprKind::Tuple(nodes) => {
                Node::List(nodes.iter().map(|node| self.node(node)).collect())
            }
            ExprKind::Object(items) => {
                Node::Object(items.iter().filter_map(|item| self.item(item)).collect())
            }
            _ => {
                let origin = self.origins.get(&expr.span.start);
                let text = origin.and_then(|origin| origin.text.clone());
                text.map_or(Node::Scalar, Node::Text)
            }
        }
    }

    /// Keys are names by now, whatever they were before.
    fn item(&self, item: &ObjectItem) -> Option<Entry> {
        let ObjectKey::Name(name) = &item.key else {
            return None;
        };
        Some(Entry {
            key: self.word(name),
            value: self.node(&item.value),
        })
    }
}

/// A JSON value with all its keys, also where one occurs twice, since HCL 1 merges them.
enum Json {
    Text(Secret),
    Scalar,
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

/// Gives every key of a JSON text its place: the text holds the keys in the order of the tree.
struct Placed {
    keys: std::vec::IntoIter<Span>,
}

impl Placed {
    fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut keys = Vec::new();
        let mut at = 0;
        while let Some(found) = text[at..].find('"') {
            let start = at + found;
            let mut end = start + 1;
            while end < bytes.len() && bytes[end] != b'"' {
                end += 1 + usize::from(bytes[end] == b'\\');
            }
            at = (end + 1).min(bytes.len());
            if text[at..].trim_start().starts_with(':') {
                keys.push(Span::new(start, at));
            }
        }
        Self {
            keys: keys.into_iter(),
        }
    }

    fn entries(&mut self, json: Json) -> Vec<Entry> {
        match self.node(json) {
            Node::Object(entries) => entries,
            _ => Vec::new(),
        }
    }

    /// As deep as `serde_json` lets it become (128 levels).
    fn node(&mut self, json: Json) -> Node {
        match json {
            Json::Text(text) => Node::Text(text),
            Json::Scalar => Node::Scalar,
            Json::List(items) => {
                Node::List(items.into_iter().map(|item| self.node(item)).collect())
            }
            Json::Object(entries) => {
                let entry = |(text, value)| {
                    let span = self.keys.next().unwrap_or_default();
                    Entry {
                        key: Word { text, span },
                        value: self.node(value),
                    }
                };
                Node::Object(entries.into_iter().map(entry).collect())
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Json, E> {
        Ok(Json::Scalar)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Json, E> {
        Ok(Json::Scalar)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Json, E> {
        Ok(Json::Scalar)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Json, E> {
        Ok(Json::Scalar)
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Scalar)
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(Secret::new(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut object = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            object.push(entry);
        }
        Ok(Json::Object(object))
    }
}
