//! The part of a module that override files change: as a comparison of the module without them and with them, and as
//! findings.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::path::Path;

use crate::config::Loaded;
use crate::diag::{Diagnostic, FileId, MAX_PROBLEMS, Texts, named, rules};
use crate::effective::build::effective;
use crate::effective::module::{EffectiveBlock, EffectiveItem, EffectiveModule};
use crate::effective::native::{Places, place_text, push_block, push_header};
use crate::flavor::Flavor;
use crate::hcl;
use crate::module_config::merge;
use crate::module_config::{ModuleFile, SourcePlace};

/// Compares a module with what its files say that override nothing; empty if override files change nothing.
///
/// A line starts with `-` for what override files take away, with `+` for what they set, with a space for the blocks
/// around; the place of what begins there follows.
#[must_use]
pub fn compare(
    files: &[ModuleFile],
    module: &EffectiveModule<'_>,
    texts: &Texts,
    flavor: Flavor,
) -> String {
    let primary: Vec<ModuleFile> = files
        .iter()
        .copied()
        .filter(|file| !file.is_override())
        .collect();
    let mut lines = ComparedLines {
        lines: String::new(),
        texts,
    };
    if primary.len() < files.len() {
        let merged = merge::merge(&primary, texts, flavor);
        let base = effective(&primary, &merged, texts, flavor);
        lines.items(&items(&base), &items(module), 0);
    }
    lines.lines
}

fn items<'m>(module: &EffectiveModule<'m>) -> Vec<EffectiveItem<'m>> {
    module
        .blocks
        .iter()
        .cloned()
        .map(EffectiveItem::Block)
        .collect()
}

/// Finds the blocks of a root and of its local modules that override files change or add.
#[must_use]
pub fn overridden(loaded: &Loaded, texts: &Texts, flavor: Flavor) -> Vec<Diagnostic> {
    let mut dirs = loaded.local_modules();
    dirs.insert(Path::new(""));
    let mut found = Vec::new();
    for node in &loaded.modules {
        // Calls may share a module.
        let is_new = node.dir.as_deref().is_some_and(|dir| dirs.remove(dir));
        let files: BTreeSet<FileId> = node
            .files
            .iter()
            .filter(|file| file.is_override())
            .map(|file| file.id)
            .collect();
        if !is_new || files.is_empty() {
            continue;
        }
        let merged = node.merged(texts, flavor);
        for block in effective(&node.files, &merged, texts, flavor).blocks {
            let Some(place) = first_in(&block, &files) else {
                continue;
            };
            let mut header = String::new();
            push_header(&mut header, &block);
            let rule = named(rules::OVERRIDDEN);
            let diagnostic = if files.contains(&block.origin.file) {
                rule.diagnostic(format!("{header} is in an override file only"))
            } else {
                rule.diagnostic(format!("{header} is overridden")).see(
                    block.origin.file,
                    block.origin.span,
                    "declared here",
                )
            };
            found.push(
                diagnostic
                    .at(place.file, place.span, "")
                    .help("move this to the file of the block; see `lockctl explain config`"),
            );
        }
    }
    found.truncate(MAX_PROBLEMS);
    found
}

/// Returns the first place in a block that is in one of some files.
fn first_in(block: &EffectiveBlock<'_>, files: &BTreeSet<FileId>) -> Option<SourcePlace> {
    let is_wanted = |place: &SourcePlace| files.contains(&place.file);
    let own = Some(block.origin).filter(is_wanted);
    own.or_else(|| {
        block.items.iter().find_map(|item| match item {
            EffectiveItem::Attribute(attribute) => Some(attribute.origin).filter(is_wanted),
            EffectiveItem::Block(nested) => first_in(nested, files),
        })
    })
}

struct ComparedLines<'a> {
    lines: String,
    texts: &'a Texts,
}

impl ComparedLines<'_> {
    fn items(&mut self, base: &[EffectiveItem<'_>], items: &[EffectiveItem<'_>], depth: usize) {
        let mut left: BTreeMap<ItemKey<'_>, VecDeque<usize>> = BTreeMap::new();
        for (index, item) in base.iter().enumerate() {
            left.entry(key(item)).or_default().push_back(index);
        }
        let mut after = Vec::new();
        for item in items {
            let index = left.get_mut(&key(item)).and_then(VecDeque::pop_front);
            after.push((index.map(|index| &base[index]), item));
        }
        // What nothing replaces by its name comes first.
        let gone: BTreeSet<usize> = left.into_values().flatten().collect();
        for index in gone {
            self.whole('-', &base[index], depth);
        }
        for (before, item) in after {
            match (before, item) {
                (None, item) => self.whole('+', item, depth),
                (Some(EffectiveItem::Block(before)), EffectiveItem::Block(block)) => {
                    self.merged(before, block, depth);
                }
                (Some(before), item) if before != item => {
                    self.whole('-', before, depth);
                    self.whole('+', item, depth);
                }
                _ => {}
            }
        }
    }

    /// Adds a block that is there before and after, if anything in it differs.
    fn merged(&mut self, before: &EffectiveBlock<'_>, block: &EffectiveBlock<'_>, depth: usize) {
        let start = self.lines.len();
        let mut opening = String::new();
        push_header(&mut opening, block);
        opening.push_str(" {");
        self.push(' ', &opening, Some(block.origin), depth);
        let inside = self.lines.len();
        self.items(&before.items, &block.items, depth + 1);
        if self.lines.len() == inside {
            self.lines.truncate(start);
        } else {
            self.push(' ', "}", None, depth);
        }
    }

    fn whole(&mut self, sign: char, item: &EffectiveItem<'_>, depth: usize) {
        let mut text = String::new();
        match item {
            EffectiveItem::Attribute(attribute) => {
                text = format!("{} = {}\n", attribute.name, attribute.text);
            }
            EffectiveItem::Block(block) => push_block(&mut text, block, Places::Hidden, None),
        }
        let text = hcl::format(&text);
        let mut place = Some(item.origin());
        for line in text.lines() {
            self.push(sign, line, place.take(), depth);
        }
    }

    fn push(&mut self, sign: char, line: &str, place: Option<SourcePlace>, depth: usize) {
        let place = place.map_or_else(String::new, |place| {
            format!(" # {}", place_text(place, self.texts))
        });
        let indent = 2 * depth;
        let _ = writeln!(self.lines, "{sign} {:indent$}{line}{place}", "");
    }
}

/// The identity of an item: the name of an argument, or the place and the labels of a block.
type ItemKey<'i> = (&'i str, Option<SourcePlace>, &'i [Cow<'i, str>]);

fn key<'i>(item: &'i EffectiveItem<'i>) -> ItemKey<'i> {
    match item {
        EffectiveItem::Attribute(_) => (item.name(), None, &[]),
        EffectiveItem::Block(block) => (item.name(), Some(block.origin), &block.labels),
    }
}
