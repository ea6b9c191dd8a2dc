//! The tree as text in native syntax, in the layout that `fmt` gives to it.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::diag::Texts;
use crate::effective::literal::quoted;
use crate::effective::module::{EffectiveBlock, EffectiveItem, EffectiveModule};
use crate::hcl;
use crate::module_config::SourcePlace;

/// The comments of a printed tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Places {
    /// Above each block its place, the places of what override files set, and remarks.
    Shown,
    /// The blocks alone, without any comment.
    Hidden,
}

/// Prints a module; the blocks of it alone are a configuration of the same meaning.
#[must_use]
pub fn native(module: &EffectiveModule, places: Places, texts: &Texts) -> String {
    let mut text = String::new();
    // On several threads it takes longer: most of the time is that of the allocator.
    for block in &module.blocks {
        if !text.is_empty() {
            text.push('\n');
        }
        if places == Places::Shown {
            let _ = writeln!(text, "# {}", origin(block, texts));
        }
        push_block(&mut text, block, places, None);
    }
    hcl::format(&text)
}

/// Prints a block of the top level, or the same as if it were one.
#[must_use]
pub(super) fn block_text(block: &EffectiveBlock, places: Places) -> String {
    let mut text = String::new();
    push_block(&mut text, block, places, None);
    hcl::format(&text)
}

fn push_block(text: &mut String, block: &EffectiveBlock, places: Places, parent: Option<&str>) {
    if places == Places::Shown {
        for remark in &block.remarks {
            // A remark may name what a stranger wrote.
            let _ = writeln!(text, "# {}", remark.replace(char::is_control, " "));
        }
    }
    text.push_str(&header(block));
    text.push_str(" {");
    let is_type = |name: &str| parent.is_none() && block.kind == "variable" && name == "type";
    let mut before = None;
    for item in &block.items {
        // Blocks are set apart from what is around them.
        let is_block = matches!(item, EffectiveItem::Block(_));
        text.push_str(if before == Some(true) || (is_block && before.is_some()) {
            "\n\n"
        } else {
            "\n"
        });
        before = Some(is_block);
        match item {
            EffectiveItem::Attribute(attribute) => {
                let value = match &*attribute.text {
                    // Types are written in full, as `fmt` writes them.
                    "list" | "map" | "set" if is_type(&attribute.name) => {
                        Cow::Owned(format!("{}(any)", attribute.text))
                    }
                    text if is_type(&attribute.name) => Cow::Borrowed(text),
                    text => hcl::unquoted(text),
                };
                let _ = write!(text, "{} = {value}", attribute.name);
            }
            EffectiveItem::Block(nested) => push_block(text, nested, places, Some(&block.kind)),
        }
    }
    if before.is_some() {
        text.push('\n');
    }
    text.push('}');
    if parent.is_none() {
        text.push('\n');
    }
}

/// Writes the type and the labels of a block.
pub(super) fn header(block: &EffectiveBlock) -> String {
    let mut header = block.kind.clone();
    for label in &block.labels {
        let _ = write!(header, " {}", quoted(label));
    }
    header
}

/// Names the place of a block, and the places of what comes from other files.
pub(super) fn origin(block: &EffectiveBlock, texts: &Texts) -> String {
    let mut origin = place_text(block.origin, texts);
    let mut others = Vec::new();
    collect_others(block, block.origin, &mut Vec::new(), &mut others);
    for (name, place) in others {
        let _ = write!(origin, "; {name} from {}", place_text(place, texts));
    }
    origin
}

/// Collects what is not of the file of the block around it, each with the names of the blocks that it is in.
fn collect_others<'b>(
    block: &'b EffectiveBlock,
    around: SourcePlace,
    path: &mut Vec<&'b str>,
    others: &mut Vec<(String, SourcePlace)>,
) {
    for item in &block.items {
        let (name, place) = match item {
            EffectiveItem::Attribute(attribute) => (&attribute.name, attribute.origin),
            EffectiveItem::Block(block) => (&block.kind, block.origin),
        };
        path.push(name);
        if place.file != around.file {
            let other = (path.join("."), place);
            // A `dynamic` block generates many of one place.
            if others.last() != Some(&other) {
                others.push(other);
            }
        }
        if let EffectiveItem::Block(nested) = item {
            collect_others(nested, place, path, others);
        }
        path.pop();
    }
}

pub(super) fn place_text(place: SourcePlace, texts: &Texts) -> String {
    let line = texts.position(place.file, place.span.start).line;
    // The name of a file may hold anything.
    let name = texts.name(place.file).replace(char::is_control, "?");
    format!("{name}:{line}")
}
