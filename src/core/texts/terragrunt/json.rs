//! Unit files in JSON syntax: strings are templates, `//` keys are comments (rules 2.1).

use super::schema::{BlockShape, TOP};
use crate::diag::{Diagnostic, FileId, Span, rules};
use crate::hcl::tree::{Attribute, Block, Body, Item, Word};
use crate::json::{self, JsonValue, Member, ValueKind};

/// Parses a unit file in JSON; the body is empty if it has a syntax error.
pub(super) fn parse(file: FileId, bytes: &[u8]) -> (Body, Vec<Diagnostic>) {
    let span = Span::new(0, bytes.len());
    match json::parse(bytes) {
        Ok(value) => (body(&value, TOP), Vec::new()),
        Err(faults) => {
            let error = |fault: &json::JsonFault| {
                let error = Diagnostic::error(rules::SYNTAX_ERROR, fault.title);
                error.at(file, fault.span, fault.remark)
            };
            let items = Vec::new();
            (Body { items, span }, faults.iter().map(error).collect())
        }
    }
}

/// Makes a body of the members of an object, or of all objects of an array.
fn body(value: &JsonValue, shapes: &'static [BlockShape]) -> Body {
    let mut items = Vec::new();
    for member in members(value) {
        // These keys are comments (rules 2.1).
        if member.name == "//" {
            continue;
        }
        let shape = shapes.iter().find(|shape| shape.kind == member.name);
        // `generate` and `remote_state` may also be attributes (rules 2.2).
        let is_object = matches!(
            member.value.kind,
            ValueKind::Object(_) | ValueKind::Array(_)
        );
        match shape.filter(|_| is_object) {
            Some(shape) => blocks(member, shape, &mut items),
            // An argument, whose strings are templates.
            None => items.push(Item::Attribute(Attribute {
                name: member.word(),
                value: json::templates(FileId::ALONE, &json::expr(&member.value)),
                span: member.span(),
            })),
        }
    }
    Body {
        items,
        span: value.span,
    }
}

fn members(value: &JsonValue) -> Vec<&Member> {
    match &value.kind {
        ValueKind::Object(members) => members.iter().collect(),
        ValueKind::Array(parts) => parts.iter().flat_map(members).collect(),
        _ => Vec::new(),
    }
}

fn blocks(member: &Member, shape: &'static BlockShape, items: &mut Vec<Item>) {
    // An include without a label has its arguments where labels would be (rules 3.1).
    let is_bare = shape.kind == "include"
        && member
            .value
            .member("path")
            .is_some_and(|path| !matches!(path.kind, ValueKind::Object(_)));
    if shape.labels == 0 || is_bare {
        for object in objects(&member.value) {
            items.push(block(member, Vec::new(), object, shape));
        }
        return;
    }
    for labelled in members(&member.value) {
        for object in objects(&labelled.value) {
            items.push(block(member, vec![labelled.word()], object, shape));
        }
    }
}

/// Lists the objects of an array, or the value itself.
fn objects(value: &JsonValue) -> Vec<&JsonValue> {
    match &value.kind {
        ValueKind::Array(parts) => parts.iter().collect(),
        _ => vec![value],
    }
}

fn block(
    member: &Member,
    labels: Vec<Word>,
    value: &JsonValue,
    shape: &'static BlockShape,
) -> Item {
    Item::Block(Block {
        kind: member.word(),
        labels,
        body: body(value, shape.blocks),
        header: member.name_span,
        span: member.span(),
    })
}
