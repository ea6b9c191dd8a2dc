//! Unit files in JSON syntax: strings are templates, `//` keys are comments (rules 2.1).

use crate::diag::{Diagnostic, FileId, Span};
use crate::hcl::tree::{Attribute, Block, Body, Item, Word};
use crate::json::{self, JsonValue, Member, ValueKind};

/// The blocks of a unit file, each with the number of its labels; every other member is an argument.
const BLOCKS: [(&str, usize); 12] = [
    ("include", 1),
    ("locals", 0),
    ("terraform", 0),
    ("remote_state", 0),
    ("generate", 1),
    ("dependency", 1),
    ("dependencies", 0),
    ("feature", 1),
    ("exclude", 0),
    ("errors", 0),
    ("engine", 0),
    ("catalog", 0),
];

/// The blocks in `terraform`, likewise.
const COMMANDS: [(&str, usize); 4] = [
    ("extra_arguments", 1),
    ("before_hook", 1),
    ("after_hook", 1),
    ("error_hook", 1),
];

/// Parses a unit file in JSON; the body is empty if it has a syntax error.
pub(super) fn parse(file: FileId, bytes: &[u8]) -> (Body, Vec<Diagnostic>) {
    let span = Span::new(0, bytes.len());
    match json::parse(bytes) {
        Ok(value) => (body(&value, &BLOCKS), Vec::new()),
        Err(faults) => {
            let items = Vec::new();
            (
                Body { items, span },
                faults.iter().map(|fault| fault.diagnostic(file)).collect(),
            )
        }
    }
}

/// Makes a body of the members of an object, or of all objects of an array.
fn body(value: &JsonValue, kinds: &[(&str, usize)]) -> Body {
    let mut items = Vec::new();
    for member in members(value) {
        // These keys are comments (rules 2.1).
        if member.name == "//" {
            continue;
        }
        let kind = kinds.iter().find(|(kind, _)| *kind == member.name);
        // `generate` and `remote_state` may also be attributes (rules 2.2).
        let is_object = matches!(
            member.value.kind,
            ValueKind::Object(_) | ValueKind::Array(_)
        );
        match kind.filter(|_| is_object) {
            Some((_, labels)) => blocks(member, *labels, &mut items),
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

fn blocks(member: &Member, labels: usize, items: &mut Vec<Item>) {
    // An include without a label has its arguments where labels would be (rules 3.1).
    let is_bare = member.name == "include"
        && member
            .value
            .member("path")
            .is_some_and(|path| !matches!(path.kind, ValueKind::Object(_)));
    if labels == 0 || is_bare {
        for object in objects(&member.value) {
            items.push(block(member, Vec::new(), object));
        }
        return;
    }
    for labelled in members(&member.value) {
        for object in objects(&labelled.value) {
            items.push(block(member, vec![labelled.word()], object));
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

fn block(member: &Member, labels: Vec<Word>, value: &JsonValue) -> Item {
    let kinds: &[_] = if member.name == "terraform" {
        &COMMANDS
    } else {
        &[]
    };
    Item::Block(Block {
        kind: member.word(),
        labels,
        body: body(value, kinds),
        header: member.name_span,
        span: member.span(),
    })
}
