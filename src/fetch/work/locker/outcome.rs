//! The result of a run: the lock file to write, and what was done for each provider.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::{AgeSearch, LockError};
use crate::addr::ProviderAddr;
use crate::archive::zip::Oddity;
use crate::authenticate::Signer;
use crate::hash::{Hash, Hashes, Match, Scheme};
use crate::lockfile::LockFile;
use crate::package::Provenance;
use crate::package::calendar::timestamp;
use crate::platform::Platform;
use crate::store::{FactOrigin, StoredFact};
use crate::version::Version;

/// The result of a run for one root.
#[derive(Debug)]
pub struct Locked {
    /// The lock file to write.
    pub lock: LockFile,
    /// The outcome of each provider that is required, or may be, sorted.
    pub providers: Vec<ProviderOutcome>,
    /// Entries that nothing visible requires, and that stay because not everything could be seen.
    pub unrequired: Vec<ProviderAddr>,
    /// The reasons why the hashes of some of these could not be completed.
    pub unavailable: Vec<LockError>,
    /// Entries that nothing requires, and that were removed.
    pub removed: Vec<ProviderAddr>,
    /// Entries of Terraform's registry and the OpenTofu ones that replace them.
    pub carried_over: Vec<(ProviderAddr, ProviderAddr)>,
}

/// The outcome of a run for one provider.
#[derive(Clone, Debug)]
pub struct ProviderOutcome {
    pub provider: ProviderAddr,
    pub version: Version,
    /// The version was selected in this run.
    pub selected: bool,
    /// The version that was locked before, if it was another one.
    pub moved_from: Option<Version>,
    /// The newest release that the source offers, even if the constraints exclude it.
    pub newest: Option<Version>,
    pub warnings: Vec<String>,
    /// The search for the version, where a least age is stated.
    pub age: Option<AgeSearch>,
    /// Every hash in the signed list of the release; `None` if there is none.
    pub signed: Option<Arc<Hashes>>,
    /// The release has a list that no key signs, which its program accepts.
    pub is_unsigned_release: bool,
    /// The `h1:` that is claimed of each wanted platform's package that was not hashed.
    pub stated: BTreeMap<Platform, Hash>,
    /// The signers of the signed list.
    pub signers: Vec<Signer>,
    /// Platforms whose package is in no signed list, although the release has one: it came from a mirror.
    pub unsigned: Vec<Platform>,
    /// The `h1:` of each wanted platform's package, as computed in this run.
    pub computed: BTreeMap<Platform, Hash>,
    /// Hashes that a mirror states and that were checked in this run.
    pub confirmed: Hashes,
    /// The evidence for each hash that was seen in this run.
    pub evidence: EvidenceByHash,
    /// The comparison of each package with the hashes that were in the lock file.
    pub matched: BTreeMap<Platform, Match>,
    /// Hashes that the lock file lacked.
    pub added: Vec<Hash>,
    /// Recorded hashes that did not stay, because evidence contradicts them.
    pub replaced: Vec<ContradictedHash>,
    /// Recorded hashes that did not stay, because their platforms were dropped.
    pub dropped: Dropped,
    /// Recorded `h1:` that were compared with no package: they may be those of packages that were not hashed. Only
    /// of a release with a signed list.
    pub not_compared: Vec<Hash>,
    /// The number of recorded `h1:` that are left over when every platform that the source offers has one;
    /// 0 unless a package matched nothing that was recorded.
    pub unexplained: usize,
    /// Wanted platforms that the release does not offer.
    pub skipped: Vec<Platform>,
    /// A mirror lacks the skipped platforms; the release may have packages for them.
    pub lacked_by_mirror: bool,
    /// Wanted platforms without any fact, because no source was asked; there are at least as many recorded
    /// `h1:` without a known platform.
    pub unknown: Vec<Platform>,
    /// Those of the skipped platforms that the source announces all the same.
    pub missing: Vec<Platform>,
    /// Packages that are signed under the name of another version or platform, with that name.
    pub misnamed: Vec<(Platform, String)>,
    /// Properties of packages about whose hash programs disagree.
    pub oddities: Vec<(Platform, Oddity)>,
}

/// Recorded `h1:` of platforms that were to be dropped (rules 3.5).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// The recorded hashes that were removed, each with the dropped platforms whose package has it.
    pub hashes: BTreeMap<Hash, Vec<Platform>>,
    /// Dropped platforms whose recorded `h1:` could not be identified, sorted; there may be one.
    pub unknown: Vec<Platform>,
}

/// The evidence for hashes: a signed list, a package, both, or a claim.
///
/// Roots that lock the same release share the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EvidenceByHash {
    pub(super) listed: Arc<BTreeMap<Hash, Arc<ListedFile>>>,
    pub(super) packages: Vec<SeenPackage>,
    /// The registry or mirror that claims each hash that nothing else shows.
    pub(super) claimed: Arc<BTreeMap<Hash, String>>,
}

/// A package with known content: it was hashed, or a fact describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SeenPackage {
    pub(super) h1: Hash,
    pub(super) zh: Option<Hash>,
    /// Its URL or path, if it was hashed.
    pub(super) location: Option<String>,
    pub(super) fact: Option<Arc<StoredFact>>,
}

impl EvidenceByHash {
    /// Returns true if a fact alone says that a package has a hash.
    #[must_use]
    pub fn is_by_fact(&self, hash: &Hash) -> bool {
        self.package(hash)
            .is_some_and(|package| package.fact.is_some())
    }

    /// Returns the key that signed the fact that a hash rests on, if it rests on one.
    #[must_use]
    pub fn attested_by(&self, hash: &Hash) -> Option<&str> {
        match &self.package(hash)?.fact.as_ref()?.origin {
            FactOrigin::Signed(key) => Some(key),
            FactOrigin::Computed | FactOrigin::Imported(_) => None,
        }
    }

    fn package(&self, hash: &Hash) -> Option<&SeenPackage> {
        self.packages
            .iter()
            .rfind(|package| package.h1 == *hash || package.zh.as_ref() == Some(hash))
    }

    /// Returns the evidence for a hash, if there is any.
    #[must_use]
    pub fn of(&self, hash: &Hash) -> Option<HashEvidence> {
        let package = self.package(hash);
        // The list has the `zh:` of a package, so an `h1:` is listed as the zip that it was computed from.
        let zh = package.map_or(Some(hash), |package| package.zh.as_ref());
        let listed = zh.and_then(|zh| self.listed.get(zh));
        let stated_by = match package {
            None if listed.is_none() => self.claimed.get(hash).cloned(),
            _ => None,
        };
        if listed.is_none() && package.is_none() && stated_by.is_none() {
            return None;
        }
        Some(HashEvidence {
            file: listed.map(|listed| listed.file.clone()),
            key_id: listed.map(|listed| listed.key_id.clone()),
            package: package.and_then(|package| package.location.clone()),
            stated_by,
            fact: package.and_then(|package| Some(KeptFact::of(package.fact.as_ref()?))),
        })
    }
}

/// The place where a hash was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HashEvidence {
    /// The file that the signed list names with the hash, or whose content has it; absent if no signature
    /// covers it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The 64-bit ID of the primary key that signed the list, 16 upper-case hexadecimal digits; absent
    /// if no signature covers the hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_id: Option<String>,
    /// The URL or the path of the package that has the hash; absent if no package was looked at for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// Who states the hash, a hostname or the URL of a mirror; absent unless nothing else is known of
    /// it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stated_by: Option<String>,
    /// The fact that an earlier run kept about the package; absent if this run looked at the package.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fact: Option<KeptFact>,
}

/// A fact about a package that was not computed in this run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeptFact {
    /// Since when it has been kept on this machine, in RFC 3339 and UTC.
    pub since: String,
    /// The file that it was imported from; absent if it was computed on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imported_from: Option<String>,
    /// The name and ID of the key that signed it; absent if none of a shared store did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signed_by: Option<String>,
}

impl KeptFact {
    fn of(stored: &Arc<StoredFact>) -> Self {
        let (imported_from, signed_by) = match &stored.origin {
            FactOrigin::Computed => (None, None),
            FactOrigin::Imported(from) => (Some(from.clone()), None),
            FactOrigin::Signed(key) => (None, Some(key.clone())),
        };
        Self {
            since: timestamp(stored.since()),
            imported_from,
            signed_by,
        }
    }
}

/// A line of a checksum list with a good signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFile {
    /// The file name in that line.
    pub file: String,
    /// The 64-bit ID of the primary key of the signer, 16 upper-case hexadecimal digits.
    pub key_id: String,
}

/// A recorded hash that was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContradictedHash {
    /// The hash as it was recorded.
    pub hash: Hash,
    /// The evidence that contradicts it.
    pub against: ContradictedBy,
}

/// The evidence against a recorded hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ContradictedBy {
    /// The signed checksum list of the release does not contain it.
    SignedList,
    /// No package of the signed list has it, and every one was hashed.
    EveryPackage,
    /// A fact shows that it is the hash of a package of another release, whose `zh:` was recorded beside it.
    OtherRelease,
}

impl ProviderOutcome {
    /// Returns the strongest evidence for a hash of the entry.
    ///
    /// A hash that was computed in this run over bytes that match a signed list is proven; any other hash
    /// in that list is signed.
    #[must_use]
    pub fn provenance(&self, hash: &Hash) -> Provenance {
        let is_computed_from_signed = self
            .computed
            .iter()
            .any(|(platform, computed)| computed == hash && !self.unsigned.contains(platform));
        // The zip is in a signed list; what it holds was computed by the owner of the key.
        let is_attested = self.evidence.attested_by(hash).is_some();
        if is_attested && hash.scheme() == Scheme::H1 {
            return Provenance::Attested;
        }
        // A signature covered the package when the fact was computed.
        if !is_attested && self.evidence.is_by_fact(hash)
            || (self.signed.is_some() && is_computed_from_signed)
        {
            return Provenance::Proven;
        }
        let is_computed = self.computed.values().any(|computed| computed == hash);
        if self
            .signed
            .as_ref()
            .is_some_and(|signed| signed.contains(hash))
        {
            Provenance::Signed
        } else if is_computed || self.confirmed.contains(hash) {
            Provenance::Computed
        } else if self.evidence.claimed.contains_key(hash) {
            Provenance::Claimed
        } else {
            Provenance::Kept
        }
    }
}
