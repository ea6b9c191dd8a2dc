//! From JSON values to the tree, driven by the table of what may stand where.

use std::collections::BTreeSet;

use jsonc_parser::ast::{ObjectProp, StringLit, Value};
use jsonc_parser::common::{Range, Ranged};

use super::check::BROKEN;
use super::schema::{Nested, Rest, Schema};
use super::text;
use crate::config::bodies::Takes;
use crate::config::contents::Faults;
use crate::diag::{Diagnostic, Span};
use crate::hcl::tree::{
    Attribute, Block, Body, Expr, ExprKind, Item, ObjectItem, ObjectKey, UnaryOp, Word,
};

/// The key that marks a comment, where a body is expected.
const COMMENT: &str = "//";

/// The most bytes that the labels of all blocks of a file may have together, counted for each block.
const MAX_NAMES_BYTES: usize = 64 << 20;

/// One conversion; recursion is as deep as the text is nested.
pub(super) struct Convert<'a> {
    /// The text that was parsed, in which spans count.
    text: &'a str,
    faults: &'a mut Faults,
    /// How many bytes the labels of blocks may still have. Each object of an array repeats what
    /// stands once in the text, so that a small file could fill the memory.
    names_left: usize,
    /// How many strings were no references where some are needed.
    refused: usize,
}

impl<'a> Convert<'a> {
    pub(super) fn new(text: &'a str, faults: &'a mut Faults) -> Self {
        Self {
            text,
            faults,
            names_left: MAX_NAMES_BYTES,
            refused: 0,
        }
    }
}

impl Convert<'_> {
    /// Makes a body of a value, by a table.
    pub(super) fn body(&mut self, value: &Value, schema: &'static Schema) -> Body {
        let members = match (schema.rest, value) {
            (Rest::Names, Value::Object(object)) => object.properties.iter().collect(),
            (Rest::Names, other) => {
                self.incorrect(other, "an object is needed here");
                Vec::new()
            }
            _ => self.members(value),
        };
        let mut seen = BTreeSet::new();
        let mut items = Vec::new();
        for member in members {
            let name = self.key(member);
            let argument = schema.argument(&name.text, self.faults.flavor);
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
                self.repeated(&name, schema.rest);
                continue;
            }
            let takes = match (argument, schema.rest) {
                (Some(argument), _) => argument.takes,
                (None, Rest::Expressions) => Takes::Expression,
                (None, _) => Takes::Anything,
            };
            let value = self.expr(&member.value);
            items.push(Item::Attribute(Attribute {
                value: text::meant(value, takes, self.faults, &mut self.refused),
                span: span(member.range),
                name,
            }));
        }
        let whole = span(value.range());
        Body {
            items,
            span: Span::new(whole.start + 1, whole.end.saturating_sub(1)),
        }
    }

    fn unknown(&mut self, name: &Word, schema: &Schema) {
        let remark = format!(
            "{} knows nothing of this name here",
            self.faults.flavor.program()
        );
        let flavor = self.faults.flavor;
        let arguments = schema
            .arguments
            .iter()
            .filter(|known| (known.known_to)(flavor));
        let blocks = schema
            .blocks
            .iter()
            .filter(|known| (known.known_to)(flavor));
        let here = arguments
            .map(|known| known.name)
            .chain(blocks.map(|known| known.kind));
        let title = "Extraneous JSON object property";
        self.faults.unknown(title, name, &remark, here);
    }

    fn repeated(&mut self, name: &Word, rest: Rest) {
        let title = match rest {
            Rest::Names => "Duplicate attribute definition",
            _ => "Duplicate argument",
        };
        self.faults.invalid(title, name.span, "this is set before");
    }

    /// Lists the members of an object, or of all objects of an array.
    fn members<'v, 't>(&mut self, value: &'v Value<'t>) -> Vec<&'v ObjectProp<'t>> {
        match value {
            Value::NullKeyword(_) => Vec::new(),
            Value::Object(object) => object.properties.iter().collect(),
            Value::Array(array) => {
                let mut members = Vec::new();
                for element in &array.elements {
                    match element {
                        Value::Object(object) => members.extend(&object.properties),
                        other => self.incorrect(other, "an object is needed here"),
                    }
                }
                members
            }
            other => {
                self.incorrect(other, "an object is needed here, or an array of objects");
                Vec::new()
            }
        }
    }

    fn incorrect(&mut self, value: &Value, remark: &str) {
        let at = Span::new(value.start(), value.start() + 1);
        let at = match value {
            Value::Object(_) | Value::Array(_) => at,
            scalar => span(scalar.range()),
        };
        self.faults.invalid("Incorrect JSON value type", at, remark);
    }

    /// Adds the blocks that a value stands for: below each label, one for each object.
    fn unpack(
        &mut self,
        value: &Value,
        nested: &'static Nested,
        header: &mut Header,
        items: &mut Vec<Item>,
    ) {
        if let Some(label) = nested.labels.get(header.labels.len()) {
            let members = self.members(value);
            if members.is_empty() {
                let at = Span::new(value.start(), value.start() + 1);
                let remark = format!("a name is needed here: the {label} of the block");
                self.faults
                    .error("label-wrong", "Missing block label", at, &remark);
            }
            for member in members {
                let label = self.key(member);
                header.labels.push(label);
                self.unpack(&member.value, nested, header, items);
                header.labels.pop();
            }
            return;
        }
        match value {
            Value::NullKeyword(_) => {}
            Value::Object(_) => {
                let at = self.header(value, header);
                items.extend(self.block(value, at, nested, header));
            }
            Value::Array(array) => {
                let at = self.header(value, header);
                let elements = array.elements.iter();
                items.extend(elements.filter_map(|one| self.block(one, at, nested, header)));
            }
            other => self.incorrect(other, "an object is needed here, or an array of objects"),
        }
    }

    fn block(&mut self, value: &Value, at: Span, nested: &Nested, header: &Header) -> Option<Item> {
        let labels = header.labels.iter();
        let names = labels.map(|label| label.text.len()).sum();
        let Some(left) = self.names_left.checked_sub(names) else {
            if self.names_left > 0 {
                let help = "give these blocks shorter names, or split the file";
                let error = Diagnostic::error("object-too-large", "Too many blocks of long names");
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
            span: span(value.range()),
        }))
    }

    /// Returns what stands for the header: the programs take the bracket behind it; on the same
    /// line the last name says more.
    fn header(&self, value: &Value, header: &Header) -> Span {
        let open = value.start();
        let name = header.labels.last().unwrap_or(&header.kind);
        let between = self.text.get(name.span.end..open);
        match between.is_some_and(|between| !between.contains('\n')) {
            true => name.span,
            false => Span::new(open, open + 1),
        }
    }

    fn key(&self, member: &ObjectProp) -> Word {
        let range = span(member.name.range());
        Word {
            text: self.decoded(member.name.as_str(), range),
            span: range,
        }
    }

    fn decoded(&self, text: &str, at: Span) -> String {
        let raw = self.text.get(at.start..at.end).unwrap_or_default();
        match raw.contains(BROKEN) {
            true => text.replace(BROKEN, "\u{FFFD}"),
            false => text.to_owned(),
        }
    }

    fn string(&self, literal: &StringLit) -> Expr {
        let span = span(literal.range);
        Expr {
            kind: ExprKind::String(self.decoded(&literal.value, span)),
            span,
        }
    }

    fn expr(&self, value: &Value) -> Expr {
        let span = span(value.range());
        let kind = match value {
            Value::StringLit(literal) => return self.string(literal),
            Value::NullKeyword(_) => ExprKind::Null,
            Value::BooleanLit(literal) => ExprKind::Bool(literal.value),
            Value::NumberLit(literal) => match literal.value.strip_prefix('-') {
                None => ExprKind::Number(literal.value.to_owned()),
                Some(digits) => ExprKind::Unary(
                    UnaryOp::Negate,
                    Box::new(Expr {
                        kind: ExprKind::Number(digits.to_owned()),
                        span: Span::new(span.start + 1, span.end),
                    }),
                ),
            },
            Value::Array(array) => {
                let elements = array.elements.iter();
                ExprKind::Tuple(elements.map(|element| self.expr(element)).collect())
            }
            Value::Object(object) => {
                let members = object.properties.iter();
                let item = |member: &ObjectProp| {
                    let name = self.key(member);
                    ObjectItem {
                        key: ObjectKey::Expr(Expr {
                            kind: ExprKind::String(name.text),
                            span: name.span,
                        }),
                        value: self.expr(&member.value),
                    }
                };
                ExprKind::Object(members.map(item).collect())
            }
        };
        Expr { kind, span }
    }
}

/// The names that lead to a block.
struct Header {
    kind: Word,
    labels: Vec<Word>,
}

fn span(range: Range) -> Span {
    Span::new(range.start, range.end)
}
