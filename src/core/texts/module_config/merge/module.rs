//! The merging of whole modules: which block overrides which.

use std::collections::BTreeMap;
use std::mem;

use crate::expr;
use crate::flavor::Flavor;
use crate::hcl::tree::{Block, Body, Item};
use crate::module_config::file::{ModuleFile, SourcePlace};
use crate::module_config::language::{self, ESCAPE};
use crate::module_config::merge::bodies::{decode, decode_body, label_texts, merge_block, replace};
use crate::module_config::merge::effects;
use crate::module_config::merge::merged::{
    MergedBlock, MergedBody, MergedGroup, MergedItem, MergedModule,
};
use crate::module_config::merge::settings::SettingsMerge;
use crate::module_config::merge::standing::EffectivePlaces;

/// The files of a module, merged so far.
pub(crate) struct ModuleMerge {
    flavor: Flavor,
    settings: SettingsMerge,
    blocks: Vec<MergedBlock>,
    groups: Vec<MergedGroup>,
    /// The index of each declared block, from the first block of an override file on.
    known: Option<BTreeMap<BlockKey, BlockIndex>>,
}

/// The identity of a block: its type with its labels, and with the alias of a provider. A local value has one, too.
type BlockKey = (String, Vec<String>);

#[derive(Clone, Copy)]
enum BlockIndex {
    /// A block of the module.
    Block(usize),
    /// The data source in a `check` block.
    InCheck(usize),
}

impl ModuleMerge {
    /// Merges files: those that declare come before those that override, each list in its order.
    pub(crate) fn of(files: impl IntoIterator<Item = (ModuleFile, Body)>, flavor: Flavor) -> Self {
        let mut merge = Self {
            flavor,
            settings: SettingsMerge::default(),
            blocks: Vec::new(),
            groups: Vec::new(),
            known: None,
        };
        for (file, body) in files {
            merge.file(file, body);
        }
        merge
    }

    /// Says which arguments and blocks of the files are left.
    ///
    /// What override files say of `encryption` is left out: no requirement depends on it, and merging it
    /// takes quadratic time.
    pub(crate) fn standing(&self) -> EffectivePlaces {
        EffectivePlaces::of(self.settings.merged(), &self.blocks)
    }

    pub(crate) fn into_merged(self) -> MergedModule {
        MergedModule {
            settings: self.settings.into_merged(self.flavor),
            blocks: self.blocks,
            groups: self.groups,
        }
    }

    fn file(&mut self, file: ModuleFile, body: Body) {
        self.settings.start(file, self.flavor);
        for item in body.items {
            let Item::Block(block) = item else { continue };
            // A block with a wrong count of labels is reported with its file, and declares nothing.
            let is_known = language::MODULE
                .block(&block.kind.text, self.flavor)
                .is_some_and(|block_type| block_type.labels.len() == block.labels.len());
            if !is_known {
                continue;
            }
            match (&*block.kind.text, file.is_override()) {
                ("terraform", is_override) => {
                    if !is_override {
                        let (file, span) = (file.id, block.header);
                        self.groups.push(MergedGroup {
                            header: SourcePlace { file, span },
                            span: block.span,
                        });
                    }
                    self.settings.block(block);
                }
                ("required_providers", false) => {}
                (_, false) => self.blocks.push(declared(file, block, self.flavor)),
                ("locals", true) => {
                    for value in decode_body(file, block.body).into_attributes() {
                        let name = value.written.name.text.clone();
                        let key = ("locals".to_owned(), vec![name]);
                        // An override without a base is reported by `overrides`.
                        if let Some(BlockIndex::Block(at)) = self.known().get(&key).copied()
                            && let Some(base) = self.blocks[at].body.attribute_mut(&key.1[0])
                        {
                            replace(base, value);
                        }
                    }
                }
                (_, true) => self.override_block(file, block),
            }
        }
        self.settings.finish();
    }

    /// Indexes the blocks of the files that declare. The first of several that declare the same is overridden.
    fn known(&mut self) -> &mut BTreeMap<BlockKey, BlockIndex> {
        self.known.get_or_insert_with(|| {
            let mut known = BTreeMap::new();
            for (at, block) in self.blocks.iter().enumerate() {
                match &*block.kind {
                    "locals" => {
                        for value in block.body.attributes() {
                            let key = (block.kind.clone(), vec![value.written.name.text.clone()]);
                            known.entry(key).or_insert(BlockIndex::Block(at));
                        }
                    }
                    // Override files cannot change these (config rules 3.9).
                    "moved" | "removed" | "import" | "language" => {}
                    kind => {
                        known.entry(key_of(block)).or_insert(BlockIndex::Block(at));
                        // The data source of a check shares the namespace of those of the module, so that an override file
                        // reaches it by its labels.
                        if kind == "check"
                            && let Some(data) =
                                block.body.blocks().find(|nested| nested.kind == "data")
                        {
                            known.entry(key_of(data)).or_insert(BlockIndex::InCheck(at));
                        }
                    }
                }
            }
            known
        })
    }

    /// Merges a block into its base; only a default provider does not need one.
    fn override_block(&mut self, file: ModuleFile, block: Block) {
        let Some(schema) = effects::schema_of(&block.kind.text, self.flavor) else {
            return;
        };
        // Terraform passes over these silently (config rules 3.9).
        if block.kind.text == "ephemeral" && !self.flavor.is_opentofu() {
            return;
        }
        let block = declared(file, block, self.flavor);
        let key = key_of(&block);
        let base = match self.known().get(&key).copied() {
            Some(BlockIndex::Block(at)) => self.blocks.get_mut(at),
            Some(BlockIndex::InCheck(at)) => self.blocks[at].body.block_mut("data"),
            None => None,
        };
        match base {
            Some(base) => merge_block(base, block, schema, self.flavor),
            // A second label would be the alias, and that needs a base (config rules 3.8).
            None if key.0 == "provider" && key.1.len() == 1 => {
                let index = BlockIndex::Block(self.blocks.len());
                self.known().insert(key, index);
                self.blocks.push(block);
            }
            None => {}
        }
    }
}

fn key_of(block: &MergedBlock) -> BlockKey {
    let mut labels = label_texts(block);
    // The alias is an argument, but it distinguishes the configurations of a provider.
    if block.kind == "provider"
        && let Some(alias) = block.body.attribute("alias")
        && let Ok(alias) = expr::constant(alias.file, &alias.written.value)
    {
        labels.extend(alias.to_text());
    }
    (block.kind.clone(), labels)
}

/// Takes a block of the module over as it is written.
fn declared(file: ModuleFile, block: Block, flavor: Flavor) -> MergedBlock {
    let mut merged = decode(file, block);
    unescape(&mut merged, flavor);
    if merged.kind == "check"
        && merged.body.blocks().any(|nested| nested.kind == "data")
        && let Some(data) = merged.body.block_mut("data")
    {
        unescape(data, flavor);
    }
    merged
}

/// Moves the content of a block `_` out of it: only names of the program's own arguments differ in
/// meaning there, so all others merge with those outside.
fn unescape(block: &mut MergedBlock, flavor: Flavor) {
    let Some(schema) = effects::schema_of(&block.kind, flavor) else {
        return;
    };
    if !block.body.blocks().any(|nested| nested.kind == ESCAPE) {
        return;
    }
    let Some(mut escape) = block.body.take_blocks(ESCAPE).into_iter().next() else {
        return;
    };
    let mut kept = MergedBody::default();
    let mut first = None;
    for item in mem::take(&mut escape.body).into_items() {
        let (place, is_kept, is_new) = match &item {
            MergedItem::Attribute(argument) => {
                let name = &argument.written.name.text;
                (
                    argument.name_place(),
                    schema.has_argument(name),
                    block.body.attribute_mut(name).is_none(),
                )
            }
            // A block `_` in it is the provider's.
            MergedItem::Block(nested) => {
                let kind = nested.made_kind();
                (
                    nested.header,
                    schema.has_block(kind) || kind == ESCAPE,
                    true,
                )
            }
        };
        if is_kept {
            first.get_or_insert(place);
            kept.push(item);
        } else if is_new {
            block.body.push(item);
        }
    }
    if let Some(header) = first {
        block.body.push(MergedItem::Block(MergedBlock {
            header,
            body: kept,
            ..escape
        }));
    }
}
