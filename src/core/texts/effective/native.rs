//! The tree as text in native syntax, in the layout that `fmt` gives to it.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::diag::Texts;
use crate::effective::literal::push_quoted;
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

/// Adds the text of a module; the blocks of it alone are a configuration of the same meaning.
pub fn native(printed: &mut String, module: &EffectiveModule<'_>, places: Places, texts: &Texts) {
    let mut text = String::new();
    for (index, block) in module.blocks.iter().enumerate() {
        if index > 0 {
            printed.push('\n');
        }
        if places == Places::Shown {
            let _ = writeln!(text, "# {}", origin(block, texts));
        }
        push_block(&mut text, block, places, None);
        // Block by block, as the text of a large module does not stay in the caches of a processor.
        hcl::push_formatted(printed, &text);
        text.clear();
    }
}

/// Adds a block as it is before it is formatted.
pub(super) fn push_block(
    text: &mut String,
    block: &EffectiveBlock<'_>,
    places: Places,
    parent: Option<&str>,
) {
    if places == Places::Shown {
        for remark in &block.remarks {
            // A remark may name what a stranger wrote.
            let _ = writeln!(text, "# {}", remark.replace(char::is_control, " "));
        }
    }
    push_header(text, block);
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
                text.push_str(&attribute.name);
                text.push_str(" = ");
                text.push_str(&value);
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

/// Adds the type and the labels of a block.
pub(super) fn push_header(text: &mut String, block: &EffectiveBlock<'_>) {
    text.push_str(&block.kind);
    for label in &block.labels {
        text.push(' ');
        push_quoted(text, label);
    }
}

/// Names the place of a block, and the places of what comes from other files.
pub(super) fn origin(block: &EffectiveBlock<'_>, texts: &Texts) -> String {
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
    block: &'b EffectiveBlock<'_>,
    around: SourcePlace,
    path: &mut Vec<&'b str>,
    others: &mut Vec<(String, SourcePlace)>,
) {
    for item in &block.items {
        let (name, place) = (item.name(), item.origin());
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
    let name = texts.name(place.file);
    // The name of a file may hold anything.
    if name.contains(char::is_control) {
        return format!("{}:{line}", name.replace(char::is_control, "?"));
    }
    format!("{name}:{line}")
}
