//! Checks of the body of a block: its arguments and blocks, and values that are evaluated at once
//! (config rules 11.3, 12).

use crate::diag::{Diagnostic, rules};
use crate::expr::{self, Value};
use crate::flavor::Flavor;
use crate::hcl::tree::{Attribute, Block, Body, Expr, Item};
use crate::module_config::faults::Faults;
use crate::module_config::file::ModuleFileRole;
use crate::module_config::language::{ESCAPE, NestedRule, Schema, ValueCheck};
use crate::module_config::syntax::references;

/// Walks over the arguments of a body that may stand there.
pub(crate) fn known<'b>(
    schema: &'static Schema,
    body: &'b Body,
    flavor: Flavor,
) -> impl Iterator<Item = &'b Attribute> {
    body.attributes()
        .filter(move |argument| schema.argument(&argument.name.text, flavor).is_some())
}

/// Reports what is wrong about a body; returns the blocks that may stand there, in their order.
pub(crate) fn check<'b>(
    body: &'b Body,
    schema: &Schema,
    faults: &mut Faults,
) -> Vec<(&'static str, &'b Block)> {
    for argument in schema.arguments_of(faults.flavor) {
        // An override need not repeat what its base has.
        if argument.needed
            && faults.role != ModuleFileRole::Override
            && body.attribute(argument.name).is_none()
        {
            missing(body, argument.name, faults);
        }
    }
    let mut blocks = Vec::new();
    for item in &body.items {
        match item {
            Item::Attribute(attribute) => {
                match schema.argument(&attribute.name.text, faults.flavor) {
                    Some(argument) => value(&attribute.value, argument.takes, faults),
                    None => {
                        unsupported_argument(attribute, schema, faults);
                    }
                }
            }
            Item::Block(block) => {
                let kind = kind_of(block, schema, faults);
                blocks.extend(kind.map(|kind| (kind, block)));
            }
        }
    }
    blocks
}

/// Finds a block in the table of what may stand here; reports what is wrong about it.
pub(crate) fn kind_of(block: &Block, schema: &Schema, faults: &mut Faults) -> Option<&'static str> {
    let kind = &block.kind.text;
    // A block that only another flavor has is as unknown as any other name (config rules 1.8, 11.4).
    let Some(known) = schema.block(kind, faults.flavor) else {
        let remark = format!("{} has no such block here", faults.flavor.program());
        let here = schema.blocks_of(faults.flavor).map(|known| known.kind);
        faults.unknown("Unsupported block type", &block.kind, &remark, here);
        return None;
    };
    labels_fit(block, known.labels, faults).then_some(known.kind)
}

/// Returns whether a block has the labels that it must have; reports it if not.
pub(crate) fn labels_fit(block: &Block, labels: &[&str], faults: &mut Faults) -> bool {
    let kind = &block.kind.text;
    if let Some(label) = labels.get(block.labels.len()) {
        let title = format!("Missing {label} for {kind}");
        faults.error(rules::LABEL_WRONG, title, block.header, "");
        return false;
    }
    if let Some(label) = block.labels.get(labels.len()) {
        let title = format!("Extraneous label for {kind}");
        faults.error(rules::LABEL_WRONG, title, label.span, "");
        return false;
    }
    true
}

/// Reports an argument that may not stand where it does.
pub(crate) fn unsupported_argument(argument: &Attribute, schema: &Schema, faults: &mut Faults) {
    let remark = format!("{} has no such argument here", faults.flavor.program());
    let known = schema.arguments_of(faults.flavor).map(|known| known.name);
    faults.unknown("Unsupported argument", &argument.name, &remark, known);
}

/// Looks at the nested blocks that a table has; returns those that count, in their order.
pub(super) fn known_blocks<'b>(
    block: &'b Block,
    kind: &str,
    schema: &Schema,
    faults: &mut Faults,
) -> Vec<(&'static str, &'b Block)> {
    let mut counted: Vec<(&'static str, &'b Block)> = Vec::new();
    for inner in block.body.blocks() {
        // Everything else is checked by the provider or the module.
        let Some(known) = schema.block(&inner.kind.text, faults.flavor) else {
            continue;
        };
        if !labels_fit(inner, known.labels, faults) {
            continue;
        }
        match known.rule {
            NestedRule::Reserved => {
                let title = format!("Reserved block type name in {kind} block");
                let remark = "this name is kept for later versions";
                faults.invalid(title, inner.kind.span, remark);
            }
            NestedRule::Refused(title) => faults.invalid(title, inner.header, ""),
            NestedRule::Once if counted.iter().any(|(name, _)| *name == known.kind) => {
                let name = match known.kind {
                    ESCAPE => "escaping",
                    name => name,
                };
                let title = format!("Duplicate {name} block");
                faults.invalid(title, inner.header, "only one is allowed here");
            }
            NestedRule::Once | NestedRule::Any => counted.push((known.kind, inner)),
        }
    }
    counted
}

/// Reports an argument that must be there, unless it may be among what could not be read.
pub(crate) fn missing(body: &Body, name: &str, faults: &mut Faults) {
    // After a syntax error in the body, the argument may be in the part that could not be read.
    if !faults.may_hide(body.span) {
        let remark = format!("{name} is missing");
        faults.invalid("Missing required argument", faults.gap(body), &remark);
    }
}

/// Reports blocks where only arguments may stand, as the programs do: the first of them.
pub(crate) fn arguments_only(body: &Body, faults: &mut Faults) {
    // The programs report the first block only, however many there are.
    if let Some(nested) = body.blocks().next() {
        let title = format!("Unexpected \"{}\" block", nested.kind.text);
        let remark = "write an argument instead";
        faults.error(rules::UNSUPPORTED_ITEM, title, nested.kind.span, remark);
    }
}

fn value(value: &Expr, takes: ValueCheck, faults: &mut Faults) {
    match takes {
        ValueCheck::Anything
        | ValueCheck::Reference
        | ValueCheck::UncheckedReferences
        | ValueCheck::Expression => {}
        ValueCheck::Text => drop(text(value, faults)),
        ValueCheck::Truth => drop(truth(value, faults)),
        ValueCheck::References => references::check_list(value, faults),
    }
}

/// Evaluates a constant string; what is none is reported.
pub(crate) fn text(value: &Expr, faults: &mut Faults) -> Option<String> {
    let constant = constant(value, faults)?;
    let text = constant.to_text();
    if text.is_none() {
        unsuitable(value, "a string is needed here", faults);
    }
    text
}

/// Evaluates a constant bool; what is none is reported.
pub(crate) fn truth(value: &Expr, faults: &mut Faults) -> Option<bool> {
    let truth = match constant(value, faults)? {
        Value::Bool(truth) => Some(truth),
        // The conversions of the language: `"1"` is true as well.
        Value::String(text) => match &*text {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    };
    if truth.is_none() {
        unsuitable(value, "a bool is needed here", faults);
    }
    truth
}

/// Evaluates what may hold neither variables nor functions, and reports it if the program would.
///
/// What we alone cannot evaluate decides no requirement.
pub(crate) fn constant(value: &Expr, faults: &mut Faults) -> Option<Value> {
    match expr::constant(faults.file, value) {
        Ok(constant) => Some(constant),
        Err(error) => {
            faults.add(error.refused);
            None
        }
    }
}

fn unsuitable(value: &Expr, remark: &str, faults: &mut Faults) {
    faults.error(
        rules::WRONG_TYPE,
        "Unsuitable value type",
        value.span,
        remark,
    );
}

/// Reports every block but the first, which is what may stand only once.
pub(crate) fn at_most_one<'b>(
    blocks: &[(&'static str, &'b Block)],
    kind: &'static str,
    title: &str,
    faults: &mut Faults,
) -> Option<&'b Block> {
    let mut all = blocks
        .iter()
        .filter(|(known, _)| *known == kind)
        .map(|(_, block)| *block);
    let first = all.next()?;
    for other in all {
        let again = Diagnostic::error(rules::CONFIGURATION_INVALID, title)
            .at(faults.file, other.header, "declared again")
            .see(faults.file, first.header, "first declared here");
        faults.push(again);
    }
    Some(first)
}
