//! The merging itself: blocks that declare something, and what stands in them.

use std::collections::BTreeMap;
use std::mem;

use crate::config::decode::blocks;
use crate::config::decode::contents::Place;
use crate::config::language::{ESCAPE, Merging, Schema};
use crate::config::merge::fates;
use crate::config::merge::settings::Settings;
use crate::config::merge::{
    MergedAttribute, MergedBlock, MergedBody, MergedModule, ModuleFile, ParsedFile,
};
use crate::diag::FileId;
use crate::expr;
use crate::flavor::Flavor;
use crate::hcl::tree::{Block, Body, Item};

/// Merges files: those that declare come before those that override, each list in its order.
pub(super) fn merge(files: impl IntoIterator<Item = ParsedFile>, flavor: Flavor) -> MergedModule {
    let mut merge = Merge {
        flavor,
        settings: Settings::default(),
        locals: BTreeMap::new(),
        blocks: Vec::new(),
        known: BTreeMap::new(),
    };
    for (file, body) in files {
        merge.file(file, body);
    }
    MergedModule {
        settings: merge.settings.merged,
        locals: merge.locals,
        blocks: merge.blocks,
    }
}

struct Merge {
    flavor: Flavor,
    settings: Settings,
    locals: BTreeMap<String, MergedAttribute>,
    blocks: Vec<MergedBlock>,
    /// Where each declared thing stands.
    known: BTreeMap<Key, At>,
}

/// What makes a block one of a kind: its type with its labels, and with the alias of a provider.
type Key = (String, Vec<String>);

#[derive(Clone, Copy)]
enum At {
    /// A block of the module.
    Block(usize),
    /// The data source in a `check` block.
    InCheck(usize),
}

impl Merge {
    fn file(&mut self, file: ModuleFile, body: Body) {
        self.settings.start(file, self.flavor);
        for item in body.items {
            let Item::Block(block) = item else { continue };
            if !blocks::is_known(&block, self.flavor) {
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
        let Some(schema) = fates::schema_of(&block.kind.text, self.flavor) else {
            return;
        };
        // Terraform passes over these without a word (rules 3.9).
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

fn key_of(block: &MergedBlock) -> Key {
    let mut labels: Vec<String> = block.labels.iter().map(|one| one.text.clone()).collect();
    if block.kind == "provider" {
        let alias = block.body.attributes.get("alias");
        let alias = alias.and_then(|one| expr::constant(one.file, &one.written.value).ok());
        labels.extend(alias.and_then(|alias| alias.to_text()));
    }
    (block.kind.clone(), labels)
}

/// Merges a block into the one that it overrides.
pub(super) fn merge_block(
    base: &mut MergedBlock,
    given: MergedBlock,
    schema: &Schema,
    flavor: Flavor,
) {
    for (name, argument) in given.body.attributes {
        let fate = schema.fate(&name, flavor);
        if fates::counts(fate, base.body.attributes.get(&name), &argument) {
            // A name means one thing: in JSON, blocks may look like an argument.
            if !schema.has_block(&name) {
                base.body.blocks.remove(&name);
            }
            set(&mut base.body, name, argument);
        }
    }
    for (kind, all) in given.body.blocks {
        let known = schema.block(&kind, flavor);
        let merging = known.map_or(Merging::Replaces, |known| known.merging);
        match (merging, known) {
            (Merging::Merges, Some(known)) => {
                let base = base.body.blocks.entry(kind).or_default();
                for one in all.into_iter().take(1) {
                    merge_nested(base, |_| true, one, known.body, flavor);
                }
            }
            (Merging::MergesByLabels, Some(known)) => {
                let base = base.body.blocks.entry(kind).or_default();
                for one in all {
                    let labels = texts(&one);
                    merge_nested(base, |base| texts(base) == labels, one, known.body, flavor);
                }
            }
            (Merging::Stays, _) => {}
            _ => {
                if !schema.has_argument(&kind) {
                    base.body.attributes.remove(&kind);
                }
                base.body.blocks.insert(kind, all);
            }
        }
    }
    base.body.blocks.retain(|_, all| !all.is_empty());
    for (name, argument) in given.escaped.attributes {
        set(&mut base.escaped, name, argument);
    }
    base.escaped.blocks.extend(given.escaped.blocks);
}

/// Merges a nested block into its like; without one it stands there itself, as far as it counts.
fn merge_nested(
    known: &mut Vec<MergedBlock>,
    is_like: impl FnMut(&MergedBlock) -> bool,
    given: MergedBlock,
    schema: &Schema,
    flavor: Flavor,
) {
    let at = known.iter().position(is_like);
    if let Some(at) = at {
        merge_block(&mut known[at], given, schema, flavor);
        return;
    }
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
        known.push(new);
    }
}

fn texts(block: &MergedBlock) -> Vec<String> {
    block.labels.iter().map(|one| one.text.clone()).collect()
}

fn set(body: &mut MergedBody, name: String, argument: MergedAttribute) {
    match body.attributes.get_mut(&name) {
        Some(base) => replace(base, argument),
        None => drop(body.attributes.insert(name, argument)),
    }
}

/// Puts an argument in the place of another one.
pub(super) fn replace(base: &mut MergedAttribute, argument: MergedAttribute) {
    let mut replaces = mem::take(&mut base.replaces);
    replaces.push(base.name_place());
    *base = MergedAttribute {
        replaces,
        ..argument
    };
}

/// Takes a block of the module over as it is written.
fn declared(file: FileId, block: Block, flavor: Flavor) -> MergedBlock {
    let mut merged = decode(file, block);
    unescape(&mut merged, flavor);
    merged
}

/// Takes a nested block over as it is written.
pub(super) fn decode(file: FileId, block: Block) -> MergedBlock {
    MergedBlock {
        kind: block.kind.text,
        labels: block.labels,
        header: Place {
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
                let name = written.name.text.clone();
                merged.attributes.entry(name).or_insert(MergedAttribute {
                    file,
                    written,
                    replaces: Vec::new(),
                });
            }
            Item::Block(block) => {
                let kind = match (&*block.kind.text, &*block.labels) {
                    ("dynamic", [made]) => made.text.clone(),
                    (kind, _) => kind.to_owned(),
                };
                let all = merged.blocks.entry(kind).or_default();
                all.push(decode(file, block));
            }
        }
    }
    merged
}

/// Takes what stands in a block `_` out of it: there only the names of the program's own arguments
/// mean something else than outside.
fn unescape(block: &mut MergedBlock, flavor: Flavor) {
    let Some(schema) = fates::schema_of(&block.kind, flavor) else {
        return;
    };
    let escapes = block.body.blocks.remove(ESCAPE).unwrap_or_default();
    let Some(escape) = escapes.into_iter().next() else {
        return;
    };
    for (name, argument) in escape.body.attributes {
        let body = match schema.has_argument(&name) {
            true => &mut block.escaped,
            false => &mut block.body,
        };
        body.attributes.entry(name).or_insert(argument);
    }
    for (kind, mut all) in escape.body.blocks {
        let body = match schema.has_block(&kind) {
            true => &mut block.escaped,
            false => &mut block.body,
        };
        body.blocks.entry(kind).or_default().append(&mut all);
    }
}
