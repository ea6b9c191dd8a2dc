//! Checks of a body whose content decides requirements: names of arguments and blocks, and labels (config
//! rules 11.3, 12).

use crate::diag::rules;
use crate::hcl::tree::{Block, Body, Item};
use crate::module_config::faults::Faults;
use crate::module_config::language::Schema;

/// Reports what may not stand in a body; returns the blocks that the program has, in their order.
pub(super) fn check<'b>(
    body: &'b Body,
    schema: &Schema,
    faults: &mut Faults,
) -> Vec<(&'static str, &'b Block)> {
    let mut blocks = Vec::new();
    for item in &body.items {
        match item {
            Item::Attribute(argument) => {
                let name = &argument.name;
                if schema.argument(&name.text, faults.flavor).is_none() {
                    let remark = format!("{} has no such argument here", faults.flavor.program());
                    let known = schema.arguments_of(faults.flavor).map(|known| known.name);
                    faults.unknown("Unsupported argument", name, &remark, known);
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
fn kind_of(block: &Block, schema: &Schema, faults: &mut Faults) -> Option<&'static str> {
    let kind = &block.kind.text;
    // A block that only another flavor has is as unknown as any other name (config rules 1.8, 11.4).
    let Some(known) = schema.block(kind, faults.flavor) else {
        let remark = format!("{} has no such block here", faults.flavor.program());
        let here = schema.blocks_of(faults.flavor).map(|known| known.kind);
        faults.unknown("Unsupported block type", &block.kind, &remark, here);
        return None;
    };
    if let Some(label) = known.labels.get(block.labels.len()) {
        let title = format!("Missing {label} for {kind}");
        faults.error(rules::LABEL_WRONG, title, block.header, "");
        return None;
    }
    if let Some(label) = block.labels.get(known.labels.len()) {
        let title = format!("Extraneous label for {kind}");
        faults.error(rules::LABEL_WRONG, title, label.span, "");
        return None;
    }
    Some(known.kind)
}
