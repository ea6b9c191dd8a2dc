//! Checks of a body whose content decides requirements: names of arguments and blocks, labels, and values
//! that are evaluated at once (config rules 11.3, 12).

use crate::diag::{Diagnostic, rules};
use crate::expr::{self, Value};
use crate::hcl::tree::{Attribute, Block, Body, Expr, Item};
use crate::module_config::faults::Faults;
use crate::module_config::language::{Rest, Schema};

/// Reports what may not stand in a body; returns the blocks that the program has, in their order.
pub(super) fn check<'b>(
    body: &'b Body,
    schema: &Schema,
    faults: &mut Faults,
) -> Vec<(&'static str, &'b Block)> {
    let is_open = matches!(schema.rest, Rest::Arguments | Rest::Names);
    let mut blocks = Vec::new();
    for item in &body.items {
        match item {
            Item::Attribute(argument) => {
                let name = &argument.name.text;
                if !is_open && schema.argument(name, faults.flavor).is_none() {
                    unsupported_argument(argument, schema, faults);
                }
            }
            Item::Block(block) => {
                let is_known = schema.block(&block.kind.text, faults.flavor).is_some();
                if is_known || !is_open {
                    let kind = kind_of(block, schema, faults);
                    blocks.extend(kind.map(|kind| (kind, block)));
                }
            }
        }
    }
    blocks
}

/// Finds a block in the table of what may stand here; reports what is wrong about it.
pub(super) fn kind_of(block: &Block, schema: &Schema, faults: &mut Faults) -> Option<&'static str> {
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
pub(super) fn labels_fit(block: &Block, labels: &[&str], faults: &mut Faults) -> bool {
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
pub(super) fn unsupported_argument(argument: &Attribute, schema: &Schema, faults: &mut Faults) {
    let remark = format!("{} has no such argument here", faults.flavor.program());
    let known = schema.arguments_of(faults.flavor).map(|known| known.name);
    faults.unknown("Unsupported argument", &argument.name, &remark, known);
}

/// Reports blocks where only arguments may stand, as the programs do: the first of them.
pub(super) fn arguments_only(body: &Body, faults: &mut Faults) {
    // The programs report the first block only, however many there are.
    if let Some(nested) = body.blocks().next() {
        let title = format!("Unexpected \"{}\" block", nested.kind.text);
        let remark = "write an argument instead";
        faults.error(rules::UNSUPPORTED_ITEM, title, nested.kind.span, remark);
    }
}

/// Evaluates a constant string; what is none is reported.
pub(super) fn text(value: &Expr, faults: &mut Faults) -> Option<String> {
    let constant = constant(value, faults)?;
    let text = constant.to_text();
    if text.is_none() {
        unsuitable(value, "a string is needed here", faults);
    }
    text
}

/// Evaluates a constant bool; what is none is reported.
pub(super) fn truth(value: &Expr, faults: &mut Faults) -> Option<bool> {
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
pub(super) fn constant(value: &Expr, faults: &mut Faults) -> Option<Value> {
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
pub(super) fn at_most_one<'b>(
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
