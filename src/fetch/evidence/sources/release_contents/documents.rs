//! The documents about releases, as far as they are read.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A document of JSON:API, as Terraform's registry writes them.
#[derive(Deserialize)]
pub(super) struct Listed<T> {
    pub(super) data: T,
    #[serde(default)]
    pub(super) included: Vec<IncludedItem>,
}

#[derive(Deserialize)]
pub(super) struct Source {
    #[serde(default)]
    pub(super) attributes: SourceAttributes,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct SourceAttributes {
    pub(super) source: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct IncludedItem {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) id: String,
    pub(super) attributes: IncludedAttributes,
}

/// The attributes of a version, or of a page.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct IncludedAttributes {
    pub(super) version: String,
    pub(super) category: String,
    pub(super) language: String,
    pub(super) slug: String,
    #[serde(deserialize_with = "or_empty")]
    pub(super) subcategory: String,
    pub(super) title: String,
}

fn or_empty<'de, D: serde::Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(Option::<String>::deserialize(from)?.unwrap_or_default())
}

/// A release, as the documentation of OpenTofu's registry describes it.
#[derive(Deserialize)]
pub(super) struct TofuRelease {
    #[serde(default)]
    pub(super) docs: Option<BTreeMap<String, serde_json::Value>>,
    #[serde(default)]
    pub(super) license: Option<Vec<TofuLicence>>,
    #[serde(default)]
    pub(super) link: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct TofuLicence {
    #[serde(default)]
    pub(super) spdx: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct GithubLicence {
    #[serde(default)]
    pub(super) license: Option<SpdxLicence>,
}

#[derive(Deserialize)]
pub(super) struct SpdxLicence {
    #[serde(default)]
    pub(super) spdx_id: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct GithubRelease {
    #[serde(default)]
    pub(super) body: Option<String>,
}
