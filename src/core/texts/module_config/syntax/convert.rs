//! From JSON values to the tree, driven by the table of what may stand where.

use std::collections::BTreeSet;

use crate::diag::{Diagnostic, Span, rules};
use crate::hcl::tree::{Block, Body, Item, Word};
use crate::json::{JsonValue, Member, ValueKind};
use crate::module_config::faults::Faults;
use crate::module_config::language::{BlockType, Rest, Schema};

/// The key that marks a comment, where a body is expected.
const COMMENT: &str = "//";

/// The most bytes that the labels of all blocks of a file may have together, counted for each block.
const MAX_NAMES_BYTES: usize = 64 << 20;

/// One conversion; recursion is as deep as the text is nested.
pub(super) struct JsonConverter<'a> {
    /// The text that was parsed, in which spans count.
    text: &'a [u8],
    faults: &'a mut Faults,
    /// The number of bytes that labels of blocks may still have. Each object of an array repeats what
    /// stands once in the text, so that a small file could fill the memory.
    names_left: usize,
}

impl<'a> JsonConverter<'a> {
    pub(super) fn new(text: &'a [u8], faults: &'a mut Faults) -> Self {
        Self {
            text,
            faults,
            names_left: MAX_NAMES_BYTES,
        }
    }
}

impl JsonConverter<'_> {
    /// Makes a body of a value, by a table.
    pub(super) fn body(&mut self, value: &JsonValue, schema: &'static Schema) -> Body {
        let members = match (schema.rest, &value.kind) {
            (Rest::Names, ValueKind::Object(members)) => members.iter().collect(),
            // Arguments of any name are one object, and no array of them (config rules 2.1).
            (Rest::Names, _) => {
                self.incorrect(value, "an object is needed here");
                Vec::new()
            }
            _ => self.members(value),
        };
        let mut seen = BTreeSet::new();
        let mut items = Vec::new();
        for member in members {
            let name = member.word();
            let argument = schema.argument(&name.text, self.faults.flavor);
            // A comment only where a body is expected, not where a label is (config rules 2.2).
            if name.text == COMMENT {
                continue;
            }
            if let Some(nested) = schema.block(&name.text, self.faults.flavor) {
                let mut header = Header {
                    kind: name.clone(),
                    labels: Vec::new(),
                };
                self.unpack(&member.value, nested, &mut header, &mut items);
                continue;
            }
            if schema.rest == Rest::Refused && argument.is_none() {
                self.unknown(&name, schema);
                continue;
            }
            if (argument.is_some() || schema.rest == Rest::Names) && !seen.insert(name.text.clone())
            {
                let title = match schema.rest {
                    Rest::Names => "Duplicate attribute definition",
                    _ => "Duplicate argument",
                };
                self.faults.invalid(title, name.span, "this is set before");
                continue;
            }
            items.push(member.argument());
        }
        let whole = value.span;
        Body {
            items,
            span: Span::new(whole.start + 1, whole.end.saturating_sub(1)),
        }
    }

    fn unknown(&mut self, name: &Word, schema: &Schema) {
        let remark = format!("{} has no such name here", self.faults.flavor.program());
        let flavor = self.faults.flavor;
        let arguments = schema.arguments_of(flavor).map(|known| known.name);
        let blocks = schema.blocks_of(flavor).map(|known| known.kind);
        let here = arguments.chain(blocks);
        let title = "Extraneous JSON object property";
        self.faults.unknown(title, name, &remark, here);
    }

    /// Lists the members of an object, or of all objects of an array.
    fn members<'v>(&mut self, value: &'v JsonValue) -> Vec<&'v Member> {
        match &value.kind {
            ValueKind::Null => Vec::new(),
            ValueKind::Object(members) => members.iter().collect(),
            ValueKind::Array(elements) => {
                let mut all = Vec::new();
                for element in elements {
                    match &element.kind {
                        ValueKind::Object(members) => all.extend(members),
                        _ => self.incorrect(element, "an object is needed here"),
                    }
                }
                all
            }
            _ => {
                self.incorrect(value, "an object is needed here, or an array of objects");
                Vec::new()
            }
        }
    }

    fn incorrect(&mut self, value: &JsonValue, remark: &str) {
        let at = match value.kind {
            ValueKind::Object(_) | ValueKind::Array(_) => opening(value),
            _ => value.span,
        };
        self.faults.invalid("Incorrect JSON value type", at, remark);
    }

    /// Adds the blocks that a value stands for: below each label, one for each object.
    fn unpack(
        &mut self,
        value: &JsonValue,
        nested: &'static BlockType,
        header: &mut Header,
        items: &mut Vec<Item>,
    ) {
        // Labels are nested keys, and arrays may stand at each level (config rules 2.1).
        if let Some(label) = nested.labels.get(header.labels.len()) {
            let members = self.members(value);
            if members.is_empty() {
                let at = opening(value);
                let remark = format!("a name is needed here: the {label} of the block");
                self.faults
                    .error(rules::LABEL_WRONG, "Missing block label", at, &remark);
            }
            for member in members {
                let label = member.word();
                header.labels.push(label);
                self.unpack(&member.value, nested, header, items);
                header.labels.pop();
            }
            return;
        }
        match &value.kind {
            ValueKind::Null => {}
            ValueKind::Object(_) => {
                let at = self.header(value, header);
                items.extend(self.block(value, at, nested, header));
            }
            ValueKind::Array(elements) => {
                let at = self.header(value, header);
                for element in elements {
                    items.extend(self.block(element, at, nested, header));
                }
            }
            _ => self.incorrect(value, "an object is needed here, or an array of objects"),
        }
    }

    fn block(
        &mut self,
        value: &JsonValue,
        at: Span,
        nested: &BlockType,
        header: &Header,
    ) -> Option<Item> {
        let names = header.labels.iter().map(|label| label.text.len()).sum();
        let Some(left) = self.names_left.checked_sub(names) else {
            // Reported once, at the first block that is too much.
            if self.names_left > 0 {
                let help = "give these blocks shorter names, or split the file";
                let error =
                    Diagnostic::error(rules::OBJECT_TOO_LARGE, "Too many blocks of long names");
                self.faults
                    .push(error.at(self.faults.file, at, "").help(help));
            }
            self.names_left = 0;
            return None;
        };
        self.names_left = left;
        Some(Item::Block(Block {
            kind: header.kind.clone(),
            labels: header.labels.clone(),
            body: self.body(value, nested.body),
            header: at,
            span: value.span,
        }))
    }

    /// Returns what stands for the header: the programs take the bracket behind it; on the same
    /// line the last name says more.
    fn header(&self, value: &JsonValue, header: &Header) -> Span {
        let open = value.span.start;
        let name = header.labels.last().unwrap_or(&header.kind);
        let between = self.text.get(name.span.end..open);
        if between.is_some_and(|between| !between.contains(&b'\n')) {
            name.span
        } else {
            opening(value)
        }
    }
}

/// The names that lead to a block.
struct Header {
    kind: Word,
    labels: Vec<Word>,
}

/// Makes an argument of each member of an object.
pub(super) fn arguments(value: &JsonValue) -> Vec<Item> {
    match &value.kind {
        ValueKind::Object(members) => members.iter().map(Member::argument).collect(),
        _ => Vec::new(),
    }
}

/// Returns the place of the bracket that opens a value.
fn opening(value: &JsonValue) -> Span {
    Span::new(value.span.start, value.span.start + 1)
}
