//! Unit files in JSON syntax: strings are templates, `//` keys are comments (rules 2.1).

use super::schema::{BlockShape, TOP};
use crate::diag::{Diagnostic, FileId, Span, rules};
use crate::hcl;
use crate::hcl::tree::{
    Attribute, Block, Body, Expr, ExprKind, Item, ObjectItem, ObjectKey, UnaryOp, Word,
};
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
            None => items.push(Item::Attribute(Attribute {
                name: word(member),
                value: expr(&member.value),
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
            items.push(block(member, vec![word(labelled)], object, shape));
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
        kind: word(member),
        labels,
        body: body(value, shape.blocks),
        header: member.name_span,
        span: member.span(),
    })
}

fn word(member: &Member) -> Word {
    Word {
        text: member.name.clone(),
        span: member.name_span,
    }
}

fn expr(value: &JsonValue) -> Expr {
    let span = value.span;
    let kind = match &value.kind {
        ValueKind::Null => ExprKind::Null,
        ValueKind::Bool(truth) => ExprKind::Bool(*truth),
        ValueKind::String(text) => template(text),
        ValueKind::Number(text) => match text.strip_prefix('-') {
            None => ExprKind::Number(text.clone()),
            // The syntax tree has no negative numbers: a sign is an operator.
            Some(digits) => {
                let kind = ExprKind::Number(digits.to_owned());
                ExprKind::Unary(UnaryOp::Negate, Box::new(Expr { kind, span }))
            }
        },
        ValueKind::Array(items) => ExprKind::Tuple(items.iter().map(expr).collect()),
        ValueKind::Object(members) => {
            let item = |member: &Member| ObjectItem {
                key: ObjectKey::Expr(Expr {
                    kind: template(&member.name),
                    span: member.name_span,
                }),
                value: expr(&member.value),
            };
            ExprKind::Object(members.iter().map(item).collect())
        }
    };
    Expr { kind, span }
}

/// Parses a string as a template; a string with a fault stays a literal.
fn template(text: &str) -> ExprKind {
    if !text.contains("${") && !text.contains("%{") {
        return ExprKind::String(text.to_owned());
    }
    match hcl::template(FileId::ALONE, text) {
        Ok(read) => read.kind,
        Err(_) => ExprKind::String(text.to_owned()),
    }
}
