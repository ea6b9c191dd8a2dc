//! `dynamic` blocks become the blocks that they generate, where these are known before a plan.
//!
//! A generated block holds the arguments of `content`, in which values replace the iterator (`substitute`);
//! everything else stays as it is written, so that the module means the same. A `dynamic` block that is not known
//! stays, with the reason as a remark.

mod substitute;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::config::{ExtraNames, PlannedValues, UnknownReason};
use crate::effective::module::{
    EffectiveAttribute, EffectiveBlock, EffectiveItem, EffectiveModule,
};
use crate::expr::{Number, Type, Typed};
use crate::hcl::references::is_identifier;
use crate::hcl::tree::{Expr, ExprKind};
use crate::module_config::SourcePlace;
use substitute::Substitution;

/// Maximum number of blocks that the `dynamic` blocks of one module generate.
pub const MAX_GENERATED_BLOCKS: usize = 10_000;
/// Maximum size of the blocks of one module that are generated, in bytes of memory.
pub const MAX_GENERATED_BYTES: usize = 64 << 20;

/// Maximum number of blocks of one module that are generated, those of `dynamic` blocks that turn out to stay
/// included.
const MAX_ATTEMPTS: usize = 10 * MAX_GENERATED_BLOCKS;

/// Replaces `dynamic` blocks by the blocks that they generate; `values` are those of the module.
#[must_use]
pub fn expand<'m>(
    module: EffectiveModule<'m>,
    values: &mut PlannedValues<'_>,
) -> EffectiveModule<'m> {
    let mut expansion = Expansion {
        values,
        blocks_left: MAX_GENERATED_BLOCKS,
        attempts_left: MAX_ATTEMPTS,
        bytes_left: MAX_GENERATED_BYTES,
        parsed: BTreeMap::new(),
    };
    EffectiveModule {
        blocks: module
            .blocks
            .into_iter()
            .map(|block| expansion.top(block))
            .collect(),
        ..module
    }
}

/// The reason why a `dynamic` block stays as it is.
#[derive(Debug)]
enum Stays {
    /// Something is not known before a plan.
    Unknown(UnknownReason),
    /// More would be generated than a limit allows, here or in a block that is generated.
    TooMuch(String),
}

impl<T: Into<UnknownReason>> From<T> for Stays {
    fn from(reason: T) -> Self {
        Self::Unknown(reason.into())
    }
}

struct Expansion<'v, 'a> {
    values: &'v mut PlannedValues<'a>,
    blocks_left: usize,
    attempts_left: usize,
    bytes_left: usize,
    /// The expressions of the block that is expanded, by the places of their arguments.
    parsed: BTreeMap<SourcePlace, Option<Rc<Expr>>>,
}

impl Expansion<'_, '_> {
    /// Expands the contents of a block of the module.
    fn top<'m>(&mut self, block: EffectiveBlock<'m>) -> EffectiveBlock<'m> {
        // No `dynamic` block generates the program's own blocks.
        let own: &[&str] = match &*block.kind {
            "resource" => &["connection", "lifecycle", "provisioner"],
            "data" | "ephemeral" => &["lifecycle"],
            "action" | "provider" | "check" => &[],
            _ => return block,
        };
        self.parsed.clear();
        let mut items = Vec::new();
        for item in block.items {
            match item {
                EffectiveItem::Block(data) if block.kind == "check" => {
                    items.push(EffectiveItem::Block(self.top(data)));
                }
                EffectiveItem::Block(nested) if !own.contains(&&*nested.kind) => {
                    let generated = nested.labels.first().map_or("", |label| &**label);
                    let expanded = if own.contains(&generated) && nested.kind == "dynamic" {
                        Err(format!("{generated} is no block of the provider").into())
                    } else {
                        self.block(&nested, &ExtraNames::new())
                    };
                    match expanded {
                        Ok(blocks) => items.extend(blocks.into_iter().map(EffectiveItem::Block)),
                        Err(Stays::Unknown(reason) | Stays::TooMuch(reason)) => {
                            items.push(EffectiveItem::Block(kept(nested, &reason)));
                        }
                    }
                }
                item => items.push(item),
            }
        }
        EffectiveBlock { items, ..block }
    }

    /// Returns the blocks that a block makes: those that it generates, or itself with expanded contents.
    ///
    /// # Errors
    /// The reason why an iterator in it cannot be replaced.
    fn block<'m>(
        &mut self,
        block: &EffectiveBlock<'m>,
        iterators: &ExtraNames,
    ) -> Result<Vec<EffectiveBlock<'m>>, Stays> {
        let is_generated = iterators.values().any(Option::is_some);
        if block.kind != "dynamic" {
            self.spend(usize::from(is_generated), 0)?;
            return Ok(vec![EffectiveBlock {
                items: self.items(block, iterators, iterators)?,
                ..block.clone()
            }]);
        }
        let (blocks_left, bytes_left) = (self.blocks_left, self.bytes_left);
        let reason = match self.generated(block, iterators) {
            Ok(blocks) => return Ok(blocks),
            Err(Stays::TooMuch(reason)) if is_generated => return Err(Stays::TooMuch(reason)),
            Err(Stays::TooMuch(reason) | Stays::Unknown(reason)) => reason,
        };
        // Only what is kept counts. Bytes that were too many stay spent: no other block makes as many again.
        self.blocks_left = blocks_left;
        if self.bytes_left > 0 {
            self.bytes_left = bytes_left;
        }
        let mut inside = iterators.clone();
        inside.extend(iterator_of(block).map(|name| (name, None)));
        let stays = EffectiveBlock {
            items: self.items(block, iterators, &inside)?,
            ..block.clone()
        };
        Ok(vec![kept(stays, &reason)])
    }

    /// Makes the contents of a block. A `dynamic` block has an iterator of its own in all but `for_each`.
    fn items<'m>(
        &mut self,
        block: &EffectiveBlock<'m>,
        iterators: &ExtraNames,
        inside: &ExtraNames,
    ) -> Result<Vec<EffectiveItem<'m>>, Stays> {
        let is_dynamic = block.kind == "dynamic";
        let mut items = Vec::new();
        for item in &block.items {
            match item {
                EffectiveItem::Attribute(attribute) => {
                    let text = match &*attribute.name {
                        "iterator" if is_dynamic => attribute.text.clone(),
                        "for_each" if is_dynamic => self.text(attribute, iterators)?,
                        _ => self.text(attribute, inside)?,
                    };
                    items.push(EffectiveItem::Attribute(EffectiveAttribute {
                        text,
                        ..attribute.clone()
                    }));
                }
                EffectiveItem::Block(nested) => {
                    let blocks = self.block(nested, inside)?;
                    items.extend(blocks.into_iter().map(EffectiveItem::Block));
                }
            }
        }
        Ok(items)
    }

    /// Returns the expression of an argument without the iterators that have a value.
    fn text<'m>(
        &mut self,
        attribute: &EffectiveAttribute<'m>,
        iterators: &ExtraNames,
    ) -> Result<Cow<'m, str>, Stays> {
        if iterators.values().all(Option::is_none) {
            return Ok(attribute.text.clone());
        }
        let expr = self.expr(attribute)?;
        let mut substitution = Substitution {
            text: &attribute.text,
            file: attribute.origin.file,
            iterators,
            values: self.values,
            bytes_left: self.bytes_left,
            edits: Vec::new(),
        };
        let text = substitution.apply(&expr);
        self.bytes_left = substitution.bytes_left;
        if self.bytes_left == 0 {
            return Err(Stays::TooMuch(substitute::too_large()));
        }
        let text = text?;
        let item = size_of::<EffectiveItem<'_>>() + attribute.name.len();
        self.spend(0, item + text.len())?;
        Ok(text.into())
    }

    /// Parses an argument, once for all blocks that are generated from it.
    fn expr(&mut self, attribute: &EffectiveAttribute<'_>) -> Result<Rc<Expr>, Stays> {
        let parsed = self.parsed.entry(attribute.origin);
        let expr = parsed
            .or_insert_with(|| attribute.expr().map(Rc::new))
            .clone();
        Ok(expr.ok_or_else(|| format!("{} is no expression", attribute.name))?)
    }

    /// Takes off what is generated.
    fn spend(&mut self, blocks: usize, bytes: usize) -> Result<(), Stays> {
        self.attempts_left = self.attempts_left.saturating_sub(blocks);
        let Some(blocks_left) = self
            .blocks_left
            .checked_sub(blocks)
            .filter(|_| self.attempts_left > 0)
        else {
            let limit = MAX_GENERATED_BLOCKS;
            let reason = format!("more than {limit} blocks would be generated");
            return Err(Stays::TooMuch(reason));
        };
        let Some(bytes_left) = self.bytes_left.checked_sub(bytes) else {
            self.bytes_left = 0;
            return Err(Stays::TooMuch(substitute::too_large()));
        };
        (self.blocks_left, self.bytes_left) = (blocks_left, bytes_left);
        Ok(())
    }

    /// Generates the blocks of a `dynamic` block.
    fn generated<'m>(
        &mut self,
        block: &EffectiveBlock<'m>,
        iterators: &ExtraNames,
    ) -> Result<Vec<EffectiveBlock<'m>>, Stays> {
        let [kind] = &*block.labels else {
            return Err("it has no label".into());
        };
        let contents: Vec<&EffectiveBlock<'_>> = block
            .blocks()
            .filter(|nested| nested.kind == "content")
            .collect();
        let [content] = *contents else {
            return Err("it needs one content block".into());
        };
        let for_each = block.attribute("for_each").ok_or("it has no for_each")?;
        let name = iterator_of(block).ok_or("its iterator is no name")?;
        let value = self.value(for_each, iterators)?;
        let mut blocks = Vec::new();
        for (key, value) in elements(value)? {
            self.spend(1, 0)?;
            let symbol = BTreeMap::from([("key".to_owned(), key), ("value".to_owned(), value)]);
            let mut inside = iterators.clone();
            inside.insert(name.clone(), Some(Arc::new(Typed::object(symbol))));
            let labels = match block.attribute("labels") {
                Some(labels) => self
                    .value(labels, &inside)?
                    .into_items()
                    .ok_or("labels is no list")?
                    .into_iter()
                    .map(|item| item.value.to_text().map(Cow::Owned))
                    .collect::<Option<Vec<Cow<'_, str>>>>()
                    .ok_or("a label is no text that may be shown")?,
                None => Vec::new(),
            };
            blocks.push(EffectiveBlock {
                labels,
                items: self.items(content, &inside, &inside)?,
                ..EffectiveBlock::new(kind.clone(), block.origin)
            });
        }
        Ok(blocks)
    }

    /// Computes an argument of a `dynamic` block, which must not be secret as a whole.
    fn value(
        &mut self,
        attribute: &EffectiveAttribute<'_>,
        iterators: &ExtraNames,
    ) -> Result<Typed, Stays> {
        let expr = self.expr(attribute)?;
        let value = self
            .values
            .evaluate(attribute.origin.file, &expr, iterators)?;
        let (value, marks) = value.unmarked();
        if marks.is_none() {
            return Ok(value);
        }
        let kind = if marks.sensitive {
            "sensitive"
        } else {
            "ephemeral"
        };
        Err(format!("{} is {kind}", attribute.name).into())
    }
}

/// Returns a block with the reason why it is not expanded.
fn kept<'m>(mut block: EffectiveBlock<'m>, reason: &str) -> EffectiveBlock<'m> {
    block.remarks.push(format!("not expanded: {reason}"));
    block
}

/// Returns the name of the current element in a `dynamic` block.
fn iterator_of(block: &EffectiveBlock<'_>) -> Option<String> {
    match block.attribute("iterator") {
        Some(iterator) => match iterator.expr()?.kind {
            ExprKind::Variable(name) => Some(name),
            _ => None,
        },
        None => block.labels.first().map(ToString::to_string),
    }
    .filter(|name| is_identifier(name))
}

/// Takes a collection apart into its elements, each with its key.
fn elements(value: Typed) -> Result<Vec<(Typed, Typed)>, Stays> {
    if value.is_null() {
        return Err("for_each is null".into());
    }
    let is_set = matches!(value.ty, Type::Set(_));
    if let Type::Map(_) | Type::Object(_) = value.ty {
        return Ok(value
            .into_attributes()
            .unwrap_or_default()
            .into_iter()
            .map(|(name, value)| (Typed::string(name), value))
            .collect());
    }
    let items = value.into_items().ok_or("for_each is no collection")?;
    let key = |index: u32, item: &Typed| {
        if is_set {
            item.clone()
        } else {
            Typed::number(Number::from(index))
        }
    };
    Ok((0_u32..)
        .zip(items)
        .map(|(index, item)| (key(index, &item), item))
        .collect())
}
