//! The merging of whole modules: which block overrides which.

use std::collections::BTreeMap;

use crate::diag::FileId;
use crate::expr;
use crate::flavor::Flavor;
use crate::hcl::tree::{Block, Body, Item};
use crate::module_config::file::{ModuleFile, SourcePlace};
use crate::module_config::language::{self, ESCAPE};
use crate::module_config::merge::bodies::{decode, decode_body, label_texts, merge_block, replace};
use crate::module_config::merge::effects;
use crate::module_config::merge::merged::{
    MergedAttribute, MergedBlock, MergedGroup, MergedModule,
};
use crate::module_config::merge::settings::SettingsMerge;
use crate::module_config::merge::standing::EffectivePlaces;

/// The files of a module, merged so far.
pub(crate) struct ModuleMerge {
    flavor: Flavor,
    settings: SettingsMerge,
    locals: BTreeMap<String, MergedAttribute>,
    blocks: Vec<MergedBlock>,
    groups: Vec<MergedGroup>,
    /// The index of each declared block.
    known: BTreeMap<BlockKey, BlockIndex>,
}

/// The identity of a block: its type with its labels, and with the alias of a provider.
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
            locals: BTreeMap::new(),
            blocks: Vec::new(),
            groups: Vec::new(),
            known: BTreeMap::new(),
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
            locals: self.locals,
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
            if !file.is_override()
                && let Some(kind) = ["terraform", "locals"]
                    .into_iter()
                    .find(|kind| *kind == block.kind.text)
            {
                let (file, span) = (file.id, block.header);
                self.groups.push(MergedGroup {
                    kind,
                    header: SourcePlace { file, span },
                    span: block.span,
                });
            }
            match (&*block.kind.text, file.is_override()) {
                ("terraform", _) => self.settings.block(block),
                ("locals", is_override) => self.locals(file.id, block.body, is_override),
                (_, false) => self.declare(file.id, block),
                (_, true) => self.override_block(file.id, block),
            }
        }
        self.settings.finish();
    }

    fn locals(&mut self, file: FileId, body: Body, is_override: bool) {
        for value in decode_body(file, body).attributes.into_list() {
            let name = &value.written.name.text;
            match self.locals.get_mut(name) {
                Some(base) if is_override => replace(base, value),
                None if !is_override => drop(self.locals.insert(name.clone(), value)),
                // A second declaration, or an override without a base: `overrides` and `duplicates`
                // report these.
                _ => {}
            }
        }
    }

    fn declare(&mut self, file: FileId, block: Block) {
        let mut block = declared(file, block, self.flavor);
        let at = self.blocks.len();
        let key = match block.kind.as_str() {
            "required_providers" => return,
            // Override files cannot change these (config rules 3.9).
            "moved" | "removed" | "import" | "language" => None,
            _ => Some(key_of(&block)),
        };
        if let Some(key) = key {
            if self.known.contains_key(&key) {
                return;
            }
            self.known.insert(key, BlockIndex::Block(at));
        }
        // The data source of a check shares the namespace of those of the module, so that an override
        // file reaches it by its labels.
        if block.kind == "check"
            && let Some(data) = block.body.blocks.get_mut("data")
            && let Some(data) = data.first_mut()
        {
            unescape(data, self.flavor);
            self.known
                .entry(key_of(data))
                .or_insert(BlockIndex::InCheck(at));
        }
        self.blocks.push(block);
    }

    /// Merges a block into its base; only a default provider does not need one.
    fn override_block(&mut self, file: FileId, block: Block) {
        let Some(schema) = effects::schema_of(&block.kind.text, self.flavor) else {
            return;
        };
        // Terraform passes over these silently (config rules 3.9).
        if block.kind.text == "ephemeral" && !self.flavor.is_opentofu() {
            return;
        }
        let block = declared(file, block, self.flavor);
        let key = key_of(&block);
        let base = match self.known.get(&key) {
            Some(BlockIndex::Block(at)) => self.blocks.get_mut(*at),
            Some(BlockIndex::InCheck(at)) => {
                let check = self.blocks.get_mut(*at);
                check
                    .and_then(|check| check.body.blocks.get_mut("data"))
                    .and_then(|data| data.first_mut())
            }
            None => None,
        };
        match base {
            Some(base) => merge_block(base, block, schema, self.flavor),
            // A second label would be the alias, and that needs a base (config rules 3.8).
            None if key.0 == "provider" && key.1.len() == 1 => {
                self.known.insert(key, BlockIndex::Block(self.blocks.len()));
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
        && let Some(alias) = block.body.attributes.get("alias")
        && let Ok(alias) = expr::constant(alias.file, &alias.written.value)
    {
        labels.extend(alias.to_text());
    }
    (block.kind.clone(), labels)
}

/// Takes a block of the module over as it is written.
fn declared(file: FileId, block: Block, flavor: Flavor) -> MergedBlock {
    let mut merged = decode(file, block);
    unescape(&mut merged, flavor);
    merged
}

/// Moves the content of a block `_` out of it: only names of the program's own arguments differ in
/// meaning there, so all others merge with those outside.
fn unescape(block: &mut MergedBlock, flavor: Flavor) {
    let Some(schema) = effects::schema_of(&block.kind, flavor) else {
        return;
    };
    let escapes = block.body.blocks.remove(ESCAPE).unwrap_or_default();
    let Some(escape) = escapes.into_iter().next() else {
        return;
    };
    for argument in escape.body.attributes.into_list() {
        let body = if schema.has_argument(&argument.written.name.text) {
            &mut block.escaped
        } else {
            &mut block.body
        };
        body.attributes.add(argument);
    }
    for (kind, mut blocks) in escape.body.blocks {
        let body = if schema.has_block(&kind) {
            &mut block.escaped
        } else {
            &mut block.body
        };
        body.blocks.entry(kind).or_default().append(&mut blocks);
    }
}
