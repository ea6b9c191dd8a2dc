//! The modules of a root with what they hold, for `config`.

use serde::Serialize;

use super::FilePosition;
use crate::diag::Texts;
use crate::effective::{EffectiveAttribute, EffectiveBlock, EffectiveModule};
use crate::module_config::SourcePlace;

/// A module with all its blocks, after its override files were applied.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "ConfiguredModule"))]
pub struct ConfiguredModuleRow {
    /// Its address, as in `module.network`; empty for the root module.
    pub module: String,
    /// Its directory, from the root on.
    pub dir: String,
    /// Its blocks in the order of the files that declare; behind them those that only override files add.
    pub blocks: Vec<ConfiguredBlockRow>,
}

/// A block with its place.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "ConfiguredBlock"))]
pub struct ConfiguredBlockRow {
    /// The type of the block, as in `resource`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The labels in their order.
    pub labels: Vec<String>,
    /// The place of the header.
    #[serde(flatten)]
    pub place: FilePosition,
    /// Remarks on it, as the reason why a dynamic block was not expanded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Its arguments in their order.
    pub arguments: Vec<ConfiguredArgumentRow>,
    /// Its nested blocks in their order.
    pub blocks: Vec<Self>,
}

/// An argument with the place that sets it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "ConfiguredArgument"))]
pub struct ConfiguredArgumentRow {
    /// The name before the equals sign.
    pub name: String,
    /// The expression in native syntax.
    pub value: String,
    /// The place of the name.
    #[serde(flatten)]
    pub place: FilePosition,
    /// The places of the arguments that it replaces; absent if it replaces none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<FilePosition>,
}

impl ConfiguredModuleRow {
    /// Resolves the places of a module.
    #[must_use]
    pub fn of(module: String, dir: String, effective: &EffectiveModule<'_>, texts: &Texts) -> Self {
        Self {
            module,
            dir,
            blocks: effective
                .blocks
                .iter()
                .map(|block| ConfiguredBlockRow::of(block, texts))
                .collect(),
        }
    }
}

impl ConfiguredBlockRow {
    fn of(block: &EffectiveBlock<'_>, texts: &Texts) -> Self {
        Self {
            kind: block.kind.to_string(),
            labels: block.labels.iter().map(ToString::to_string).collect(),
            place: place(block.origin, texts),
            remarks: block.remarks.clone(),
            arguments: block
                .attributes()
                .map(|attribute| ConfiguredArgumentRow::of(attribute, texts))
                .collect(),
            blocks: block
                .blocks()
                .map(|nested| Self::of(nested, texts))
                .collect(),
        }
    }
}

impl ConfiguredArgumentRow {
    fn of(attribute: &EffectiveAttribute<'_>, texts: &Texts) -> Self {
        Self {
            name: attribute.name.to_string(),
            value: attribute.text.to_string(),
            place: place(attribute.origin, texts),
            overrides: attribute
                .replaces
                .iter()
                .map(|replaced| place(*replaced, texts))
                .collect(),
        }
    }
}

fn place(place: SourcePlace, texts: &Texts) -> FilePosition {
    FilePosition::new(place.file, place.span, texts)
}
