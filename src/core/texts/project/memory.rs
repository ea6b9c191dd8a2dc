//! `trust { provider "ADDR" { … } }`: what `lockctl trust` has written about the releases of a provider.

use super::names::own_name;
use super::values::{BodySchema, ProjectReader};
use super::{ProviderName, SettingPlace};
use crate::hcl::tree::{Block, Body};
use crate::package::KeyId;

/// The block that holds the memory.
pub const TRUST: &str = "trust";
/// The block of a provider in it.
pub const PROVIDER: &str = "provider";
/// The fingerprints of the keys that sign the releases; no element means that nothing signs them.
pub const SIGNED_BY: &str = "signed_by";
/// The main module of the program.
pub const MODULE: &str = "module";
/// The repository whose workflow attests that it built the packages.
pub const PROVENANCE: &str = "provenance";
/// The number of `zh:` hashes of the entry.
pub const ZH: &str = "zh";
/// The day when the block was written, or its change was accepted.
pub const SINCE: &str = "since";
/// The reason why a change was accepted.
pub const REASON: &str = "reason";

const REMEMBERED: BodySchema = BodySchema {
    subject: "a provider block in trust",
    arguments: &[SIGNED_BY, MODULE, PROVENANCE, ZH, SINCE, REASON],
    blocks: &[],
};

/// The memory of the releases of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RememberedProvider {
    pub provider: ProviderName,
    /// The keys that sign its releases, by fingerprint; empty if nothing signs them, `None` if that was not known.
    pub signed_by: Option<Vec<KeyId>>,
    /// The main module of its program, if that was known.
    pub module: Option<String>,
    /// The repository whose workflow attests its packages, as in `github.com/acme/terraform-provider-box`.
    pub provenance: Option<String>,
    /// The number of `zh:` hashes of its entry.
    pub zh: Option<usize>,
    /// The day when that was written or accepted, as it is written.
    pub since: Option<String>,
    /// The place of the block in the file.
    pub place: SettingPlace,
}

impl RememberedProvider {
    /// Returns true if it remembers all that the other one does of the same provider.
    #[must_use]
    pub fn holds(&self, other: &Self) -> bool {
        self.provider.overlaps(&other.provider)
            // One more key accepts more signatures.
            && (other.signed_by.is_none() || self.signed_by == other.signed_by)
            && (other.module.is_none() || self.module == other.module)
            && (other.provenance.is_none() || self.provenance == other.provenance)
            && self.zh >= other.zh
    }
}

pub(super) fn read(body: &Body, reader: &mut ProjectReader) -> Vec<RememberedProvider> {
    let mut named = Vec::new();
    let blocks = reader.blocks(body, PROVIDER);
    let remembered = blocks.into_iter().filter_map(|block| {
        let provider = own_name(block, &mut named, reader)?;
        Some(remembered(provider, block, reader))
    });
    remembered.collect()
}

fn remembered(
    provider: ProviderName,
    block: &Block,
    reader: &mut ProjectReader,
) -> RememberedProvider {
    let body = &block.body;
    reader.names(body, &REMEMBERED);
    let signed_by = reader.texts(body, SIGNED_BY).map(|texts| {
        let mut keys = Vec::new();
        for text in texts {
            // The ID of a key is too short: another key with the same ID can be made.
            match KeyId::parse(&text.value).filter(KeyId::is_fingerprint) {
                Some(key) => keys.push(key),
                None => reader.invalid(
                    "Invalid key",
                    text.span,
                    "this is not the fingerprint of a key",
                    "write 40 hexadecimal digits, or let `lockctl trust` write them",
                ),
            }
        }
        keys
    });
    RememberedProvider {
        provider,
        signed_by,
        module: reader.text(body, MODULE).map(|text| text.value),
        provenance: reader.text(body, PROVENANCE).map(|text| text.value),
        zh: reader.count(body, ZH),
        since: reader.text(body, SINCE).map(|text| text.value),
        place: reader.place(block.header),
    }
}
