//! The merging itself: blocks that declare something, and what stands in them.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use crate::flavor::Flavor;
use crate::hcl::tree::{Block, Body, Item};
use crate::module_config::file::{ModuleFile, SourcePlace, Syntax};
use crate::module_config::language::{Merging, Schema};
use crate::module_config::merge::effects;
use crate::module_config::merge::merged::{MergedAttribute, MergedBlock, MergedBody, MergedItem};

/// Merges a block into the one that it overrides.
pub(super) fn merge_block(
    base: &mut MergedBlock,
    given: MergedBlock,
    schema: &Schema,
    flavor: Flavor,
) {
    let mut given_blocks: BTreeMap<String, Vec<MergedBlock>> = BTreeMap::new();
    for item in given.body.into_items() {
        let argument = match item {
            MergedItem::Attribute(argument) => argument,
            MergedItem::Block(block) => {
                let kind = block.made_kind().to_owned();
                given_blocks.entry(kind).or_default().push(block);
                continue;
            }
        };
        let name = &argument.written.name.text;
        let effect = schema.effect(name, flavor);
        if effects::counts(effect, base.body.attribute_mut(name).as_deref(), &argument) {
            // A name means one thing: in JSON, blocks may look like an argument.
            if !schema.has_block(name) {
                base.body.take_blocks(name);
            }
            match base.body.attribute_mut(name) {
                Some(base) => replace(base, argument),
                None => base.body.push(MergedItem::Attribute(argument)),
            }
        }
    }
    // Nested blocks replace all blocks of their type, wherever these stand (config rules 3.3); only the
    // program's own blocks, as `lifecycle`, are merged argument by argument (config rules 3.10).
    for (kind, blocks) in given_blocks {
        for block in merged_blocks(&mut base.body, &kind, blocks, schema, flavor) {
            base.body.push(MergedItem::Block(block));
        }
    }
}

/// Takes the blocks of a kind out of a body, unless they stay, and returns those that take their place.
fn merged_blocks(
    base: &mut MergedBody,
    kind: &str,
    blocks: Vec<MergedBlock>,
    schema: &Schema,
    flavor: Flavor,
) -> Vec<MergedBlock> {
    let block_type = schema.block(kind, flavor);
    let merging = block_type.map_or(Merging::Replaces, |block_type| block_type.merging);
    match (merging, block_type) {
        (Merging::Merges, Some(block_type)) => {
            let mut merged = base.take_blocks(kind);
            // A second block of the kind is a fault of its file, which is reported there.
            if let Some(block) = blocks.into_iter().next() {
                merge_nested(&mut merged, |_| true, block, block_type.body, flavor);
            }
            merged
        }
        (Merging::MergesByLabels, Some(block_type)) => {
            let mut merged = base.take_blocks(kind);
            for block in blocks {
                let labels = label_texts(&block);
                let is_like = |base: &MergedBlock| label_texts(base) == labels;
                merge_nested(&mut merged, is_like, block, block_type.body, flavor);
            }
            merged
        }
        (Merging::Stays, _) => Vec::new(),
        _ => {
            // JSON of the base may have written the blocks as an argument.
            if !schema.has_argument(kind) {
                base.remove_attribute(kind);
            }
            base.take_blocks(kind);
            blocks
        }
    }
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
pub(super) fn decode(file: ModuleFile, block: Block) -> MergedBlock {
    MergedBlock {
        kind: block.kind.text,
        labels: block.labels,
        header: SourcePlace {
            file: file.id,
            span: block.header,
        },
        body: decode_body(file, block.body),
    }
}

/// Takes the arguments and blocks of a body; of several arguments with one name the first counts.
pub(super) fn decode_body(file: ModuleFile, body: Body) -> MergedBody {
    let mut names = BTreeSet::new();
    body.items
        .into_iter()
        .filter_map(|item| match item {
            // Native syntax has no two of one name.
            Item::Attribute(written)
                if file.syntax == Syntax::Json && !names.insert(written.name.text.clone()) =>
            {
                None
            }
            Item::Attribute(written) => Some(MergedItem::Attribute(MergedAttribute {
                file: file.id,
                written,
                replaces: Vec::new(),
            })),
            Item::Block(block) => Some(MergedItem::Block(decode(file, block))),
        })
        .collect()
}
