//! The merging of whole modules: which block overrides which.

use std::collections::BTreeMap;

use crate::diag::FileId;
use crate::expr;
use crate::flavor::Flavor;
use crate::hcl::tree::{Block, Body, Item};
use crate::module_config::file::ModuleFile;
use crate::module_config::language::{self, ESCAPE};
use crate::module_config::merge::bodies::{decode, decode_body, merge_block, replace};
use crate::module_config::merge::effects;
use crate::module_config::merge::merged::{MergedAttribute, MergedBlock, MergedModule};
use crate::module_config::merge::settings::SettingsMerge;
use crate::module_config::merge::standing::Standing;

/// Merges files: those that declare come before those that override, each list in its order.
pub(super) fn merge(
    files: impl IntoIterator<Item = (ModuleFile, Body)>,
    flavor: Flavor,
) -> MergedModule {
    let merge = Merge::of(files, flavor);
    MergedModule {
        settings: merge.settings.into_merged(flavor),
        locals: merge.locals,
        blocks: merge.blocks,
    }
}

/// Merges files like [`merge`], and only says which of their arguments and blocks are left.
///
/// What override files say of `encryption` is left out: no requirement depends on it, and merging it
/// takes quadratic time.
pub(crate) fn standing(
    files: impl IntoIterator<Item = (ModuleFile, Body)>,
    flavor: Flavor,
) -> Standing {
    let merge = Merge::of(files, flavor);
    Standing::of(merge.settings.merged(), &merge.blocks)
}

struct Merge {
    flavor: Flavor,
    settings: SettingsMerge,
    locals: BTreeMap<String, MergedAttribute>,
    blocks: Vec<MergedBlock>,
    /// The index of each declared block.
    known: BTreeMap<Key, At>,
}

/// The identity of a block: its type with its labels, and with the alias of a provider.
type Key = (String, Vec<String>);

#[derive(Clone, Copy)]
enum At {
    /// A block of the module.
    Block(usize),
    /// The data source in a `check` block.
    InCheck(usize),
}

impl Merge {
    fn of(files: impl IntoIterator<Item = (ModuleFile, Body)>, flavor: Flavor) -> Self {
        let mut merge = Self {
            flavor,
            settings: SettingsMerge::default(),
            locals: BTreeMap::new(),
            blocks: Vec::new(),
            known: BTreeMap::new(),
        };
        for (file, body) in files {
            merge.file(file, body);
        }
        merge
    }

    fn file(&mut self, file: ModuleFile, body: Body) {
        self.settings.start(file, self.flavor);
        for item in body.items {
            let Item::Block(block) = item else { continue };
            if !is_known(&block, self.flavor) {
                continue;
            }
            match (&*block.kind.text, file.is_override()) {
                ("terraform", _) => self.settings.block(block),
                ("locals", false) => self.locals(file.id, block.body),
                ("locals", true) => self.override_locals(file.id, block.body),
                (_, false) => self.declare(file.id, block),
                (_, true) => self.override_block(file.id, block),
            }
        }
        self.settings.finish();
    }

    fn locals(&mut self, file: FileId, body: Body) {
        for (name, value) in decode_body(file, body).attributes {
            self.locals.entry(name).or_insert(value);
        }
    }

    fn override_locals(&mut self, file: FileId, body: Body) {
        for (name, value) in decode_body(file, body).attributes {
            if let Some(base) = self.locals.get_mut(&name) {
                replace(base, value);
            }
        }
    }

    fn declare(&mut self, file: FileId, block: Block) {
        let mut block = declared(file, block, self.flavor);
        let at = self.blocks.len();
        let key = match block.kind.as_str() {
            "required_providers" => return,
            "moved" | "removed" | "import" | "language" => None,
            _ => Some(key_of(&block)),
        };
        if let Some(key) = key {
            if self.known.contains_key(&key) {
                return;
            }
            self.known.insert(key, At::Block(at));
        }
        let data = block
            .body
            .blocks
            .get_mut("data")
            .filter(|_| block.kind == "check");
        if let Some(data) = data.and_then(|all| all.first_mut()) {
            unescape(data, self.flavor);
            self.known.entry(key_of(data)).or_insert(At::InCheck(at));
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
            Some(At::Block(at)) => self.blocks.get_mut(*at),
            Some(At::InCheck(at)) => {
                let check = self.blocks.get_mut(*at);
                let all = check.and_then(|check| check.body.blocks.get_mut("data"));
                all.and_then(|all| all.first_mut())
            }
            None => None,
        };
        match base {
            Some(base) => merge_block(base, block, schema, self.flavor),
            None if key.0 == "provider" && key.1.len() == 1 => {
                self.known.insert(key, At::Block(self.blocks.len()));
                self.blocks.push(block);
            }
            None => {}
        }
    }
}

/// Returns whether a block may stand at the top level as it does.
fn is_known(block: &Block, flavor: Flavor) -> bool {
    let known = language::MODULE.block(&block.kind.text, flavor);
    known.is_some_and(|known| known.labels.len() == block.labels.len())
}

fn key_of(block: &MergedBlock) -> Key {
    let mut labels: Vec<String> = block.labels.iter().map(|one| one.text.clone()).collect();
    if block.kind == "provider" {
        let alias = block.body.attributes.get("alias");
        let alias = alias.and_then(|one| expr::constant(one.file, &one.written.value).ok());
        labels.extend(alias.and_then(|alias| alias.to_text()));
    }
    (block.kind.clone(), labels)
}

/// Takes a block of the module over as it is written.
fn declared(file: FileId, block: Block, flavor: Flavor) -> MergedBlock {
    let mut merged = decode(file, block);
    unescape(&mut merged, flavor);
    merged
}

/// Takes what stands in a block `_` out of it: there only the names of the program's own arguments
/// mean something else than outside.
fn unescape(block: &mut MergedBlock, flavor: Flavor) {
    let Some(schema) = effects::schema_of(&block.kind, flavor) else {
        return;
    };
    let escapes = block.body.blocks.remove(ESCAPE).unwrap_or_default();
    let Some(escape) = escapes.into_iter().next() else {
        return;
    };
    for (name, argument) in escape.body.attributes {
        let body = if schema.has_argument(&name) {
            &mut block.escaped
        } else {
            &mut block.body
        };
        body.attributes.entry(name).or_insert(argument);
    }
    for (kind, mut all) in escape.body.blocks {
        let body = if schema.has_block(&kind) {
            &mut block.escaped
        } else {
            &mut block.body
        };
        body.blocks.entry(kind).or_default().append(&mut all);
    }
}
