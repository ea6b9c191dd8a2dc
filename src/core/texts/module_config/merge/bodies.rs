//! The merging itself: blocks that declare something, and what stands in them.

use std::mem;

use crate::diag::FileId;
use crate::flavor::Flavor;
use crate::hcl::tree::{Block, Body, Item};
use crate::module_config::file::SourcePlace;
use crate::module_config::language::{Merging, Schema};
use crate::module_config::merge::effects;
use crate::module_config::merge::merged::{MergedAttribute, MergedBlock, MergedBody};

/// Merges a block into the one that it overrides.
pub(super) fn merge_block(
    base: &mut MergedBlock,
    given: MergedBlock,
    schema: &Schema,
    flavor: Flavor,
) {
    for argument in given.body.attributes.into_list() {
        let name = &argument.written.name.text;
        let effect = schema.effect(name, flavor);
        if effects::counts(effect, base.body.attributes.get(name), &argument) {
            // A name means one thing: in JSON, blocks may look like an argument.
            if !schema.has_block(name) {
                base.body.blocks.remove(name);
            }
            set(&mut base.body, argument);
        }
    }
    // Nested blocks replace all blocks of their type, wherever these stand (config rules 3.3); only the
    // program's own blocks, as `lifecycle`, are merged argument by argument (config rules 3.10).
    for (kind, blocks) in given.body.blocks {
        let block_type = schema.block(&kind, flavor);
        let merging = block_type.map_or(Merging::Replaces, |block_type| block_type.merging);
        match (merging, block_type) {
            (Merging::Merges, Some(block_type)) => {
                let mut merged = base.body.blocks.remove(&kind).unwrap_or_default();
                // A second block of the kind is a fault of its file, which is reported there.
                if let Some(block) = blocks.into_iter().next() {
                    merge_nested(&mut merged, |_| true, block, block_type.body, flavor);
                }
                if !merged.is_empty() {
                    base.body.blocks.insert(kind, merged);
                }
            }
            (Merging::MergesByLabels, Some(block_type)) => {
                let mut merged = base.body.blocks.remove(&kind).unwrap_or_default();
                for block in blocks {
                    let labels = label_texts(&block);
                    let is_like = |base: &MergedBlock| label_texts(base) == labels;
                    merge_nested(&mut merged, is_like, block, block_type.body, flavor);
                }
                if !merged.is_empty() {
                    base.body.blocks.insert(kind, merged);
                }
            }
            (Merging::Stays, _) => {}
            _ => {
                // As above: JSON of the base may have written the blocks as an argument.
                if !schema.has_argument(&kind) {
                    base.body.attributes.remove(&kind);
                }
                base.body.blocks.insert(kind, blocks);
            }
        }
    }
    for argument in given.escaped.attributes.into_list() {
        set(&mut base.escaped, argument);
    }
    base.escaped.blocks.extend(given.escaped.blocks);
}

/// Merges a nested block into its like; without one, the block itself is added, as far as it counts.
fn merge_nested(
    blocks: &mut Vec<MergedBlock>,
    is_like: impl FnMut(&MergedBlock) -> bool,
    given: MergedBlock,
    schema: &Schema,
    flavor: Flavor,
) {
    if let Some(index) = blocks.iter().position(is_like) {
        merge_block(&mut blocks[index], given, schema, flavor);
        return;
    }
    // An empty base, so that arguments that do not count (null, for one) are left out here as well.
    let mut new = MergedBlock {
        kind: given.kind.clone(),
        labels: given.labels.clone(),
        header: given.header,
        body: MergedBody::default(),
        escaped: MergedBody::default(),
    };
    let has_labels = !new.labels.is_empty();
    merge_block(&mut new, given, schema, flavor);
    if has_labels || !new.body.is_empty() {
        blocks.push(new);
    }
}

pub(super) fn label_texts(block: &MergedBlock) -> Vec<String> {
    block
        .labels
        .iter()
        .map(|label| label.text.clone())
        .collect()
}

fn set(body: &mut MergedBody, argument: MergedAttribute) {
    match body.attributes.get_mut(&argument.written.name.text) {
        Some(base) => replace(base, argument),
        None => body.attributes.add(argument),
    }
}

/// Puts an argument in the place of another one.
pub(super) fn replace(base: &mut MergedAttribute, argument: MergedAttribute) {
    let mut replaces = mem::take(&mut base.replaces);
    // Earlier places stay: a third file may replace what a second one set (config rules 3.2).
    replaces.push(base.name_place());
    *base = MergedAttribute {
        replaces,
        ..argument
    };
}

/// Takes a nested block over as it is written.
pub(super) fn decode(file: FileId, block: Block) -> MergedBlock {
    MergedBlock {
        kind: block.kind.text,
        labels: block.labels,
        header: SourcePlace {
            file,
            span: block.header,
        },
        body: decode_body(file, block.body),
        escaped: MergedBody::default(),
    }
}

/// Takes the arguments and blocks of a body; of several arguments with one name the first counts.
pub(super) fn decode_body(file: FileId, body: Body) -> MergedBody {
    let mut merged = MergedBody::default();
    for item in body.items {
        match item {
            Item::Attribute(written) => {
                merged.attributes.add(MergedAttribute {
                    file,
                    written,
                    replaces: Vec::new(),
                });
            }
            Item::Block(block) => {
                // `dynamic "x"` generates blocks `x`, and is overridden together with them (config rules 3.3).
                let kind = match (&*block.kind.text, &*block.labels) {
                    ("dynamic", [made]) => made.text.clone(),
                    (kind, _) => kind.to_owned(),
                };
                let blocks = merged.blocks.entry(kind).or_default();
                blocks.push(decode(file, block));
            }
        }
    }
    merged
}
