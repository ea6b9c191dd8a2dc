//! The part of a module that override files change: as a comparison of the module without them and with them, and as
//! findings.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use crate::config::Loaded;
use crate::diag::{Diagnostic, FileId, MAX_PROBLEMS, Texts, named, rules};
use crate::effective::build::effective;
use crate::effective::module::{EffectiveBlock, EffectiveItem, EffectiveModule};
use crate::effective::native::{Places, block_text, header, place_text};
use crate::flavor::Flavor;
use crate::hcl;
use crate::module_config::SourcePlace;

/// A line of the comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedLine {
    /// `-` for what override files take away, `+` for what they set, a space for the blocks around.
    pub sign: char,
    /// The line, with the place of what begins there.
    pub text: String,
}

/// Compares a module without its override files and with them; empty if they change nothing.
#[must_use]
pub fn compare(
    base: &EffectiveModule,
    module: &EffectiveModule,
    texts: &Texts,
) -> Vec<ComparedLine> {
    let mut lines = ComparedLines {
        lines: Vec::new(),
        texts,
    };
    let blocks = |module: &EffectiveModule| -> Vec<EffectiveItem> {
        module
            .blocks
            .iter()
            .cloned()
            .map(EffectiveItem::Block)
            .collect()
    };
    lines.items(&blocks(base), &blocks(module), 0);
    lines.lines
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
        for block in &effective(node, texts, flavor).blocks {
            let Some(place) = first_in(block, &files) else {
                continue;
            };
            let header = header(block);
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
fn first_in(block: &EffectiveBlock, files: &BTreeSet<FileId>) -> Option<SourcePlace> {
    let own = Some(block.origin).filter(|place| files.contains(&place.file));
    own.or_else(|| {
        block.items.iter().find_map(|item| match item {
            EffectiveItem::Attribute(attribute) => {
                Some(attribute.origin).filter(|place| files.contains(&place.file))
            }
            EffectiveItem::Block(nested) => first_in(nested, files),
        })
    })
}

struct ComparedLines<'a> {
    lines: Vec<ComparedLine>,
    texts: &'a Texts,
}

impl ComparedLines<'_> {
    fn items(&mut self, base: &[EffectiveItem], items: &[EffectiveItem], depth: usize) {
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
    fn merged(&mut self, before: &EffectiveBlock, block: &EffectiveBlock, depth: usize) {
        let start = self.lines.len();
        self.push(
            ' ',
            &format!("{} {{", header(block)),
            Some(block.origin),
            depth,
        );
        self.items(&before.items, &block.items, depth + 1);
        if self.lines.len() == start + 1 {
            self.lines.truncate(start);
        } else {
            self.push(' ', "}", None, depth);
        }
    }

    fn whole(&mut self, sign: char, item: &EffectiveItem, depth: usize) {
        let text = match item {
            EffectiveItem::Attribute(attribute) => {
                hcl::format(&format!("{} = {}\n", attribute.name, attribute.text))
            }
            EffectiveItem::Block(block) => block_text(block, Places::Hidden),
        };
        let mut place = Some(place(item));
        for line in text.lines() {
            self.push(sign, line, place.take(), depth);
        }
    }

    fn push(&mut self, sign: char, line: &str, place: Option<SourcePlace>, depth: usize) {
        let place = place.map_or_else(String::new, |place| {
            format!(" # {}", place_text(place, self.texts))
        });
        let text = format!("{:1$}{line}{place}", "", 2 * depth);
        self.lines.push(ComparedLine { sign, text });
    }
}

/// The identity of an item: the name of an argument, or the place and the labels of a block.
type ItemKey<'i> = (&'i str, Option<SourcePlace>, &'i [String]);

fn key(item: &EffectiveItem) -> ItemKey<'_> {
    match item {
        EffectiveItem::Attribute(attribute) => (&attribute.name, None, &[]),
        EffectiveItem::Block(block) => (&block.kind, Some(block.origin), &block.labels),
    }
}

fn place(item: &EffectiveItem) -> SourcePlace {
    match item {
        EffectiveItem::Attribute(attribute) => attribute.origin,
        EffectiveItem::Block(block) => block.origin,
    }
}
