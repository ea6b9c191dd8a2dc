//! What a run came to.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{AgeSearch, Dropped, LockError, Unanswered};
use crate::addr::ProviderAddr;
use crate::archive::zip::Oddity;
use crate::authenticate::Signer;
use crate::hash::{Hash, Hashes, Match};
use crate::lockfile::LockFile;
use crate::package::Provenance;
use crate::platform::Platform;
use crate::store::StoredFact;
use crate::version::Version;

/// What a run came to.
#[derive(Debug)]
pub struct Locked {
    /// The lock file to write.
    pub lock: LockFile,
    /// What was done for each provider that is required, or may be, sorted.
    pub providers: Vec<ProviderOutcome>,
    /// Entries that nothing visible requires, and that stay because not everything could be seen.
    pub unrequired: Vec<ProviderAddr>,
    /// Why the hashes of some of these could not be completed.
    pub unavailable: Vec<LockError>,
    /// Entries that nothing requires, and that were removed.
    pub removed: Vec<ProviderAddr>,
    /// Entries of Terraform's registry and the OpenTofu ones that replace them.
    pub carried_over: Vec<(ProviderAddr, ProviderAddr)>,
}

/// What was done for one provider.
#[derive(Clone, Debug)]
pub struct ProviderOutcome {
    /// Which one.
    pub provider: ProviderAddr,
    /// The version that is locked.
    pub version: Version,
    /// Whether the version was selected in this run.
    pub selected: bool,
    /// The version that was locked before, if it was another one.
    pub moved_from: Option<Version>,
    /// The newest release that the source offers, whatever the constraints.
    pub newest: Option<Version>,
    /// The warnings of the source about the provider.
    pub warnings: Vec<String>,
    /// How the version was searched, where a least age is stated.
    pub age: Option<AgeSearch>,
    /// Every hash in the signed list of the release; `None` if there is none.
    pub signed: Option<Arc<Hashes>>,
    /// Whether the release has a list that no key signs, which its program accepts.
    pub is_unsigned_release: bool,
    /// The hash that is stated of each wanted platform's package that was not looked at.
    pub stated: BTreeMap<Platform, Hash>,
    /// Registries that were asked what they state, and gave no answer.
    pub unanswered: Vec<Unanswered>,
    /// The signers of that list.
    pub signers: Vec<Signer>,
    /// Platforms whose package is in no signed list, although the release has one: it came from a mirror.
    pub unsigned: Vec<Platform>,
    /// The hash of each wanted platform's package, as computed in this run.
    pub computed: BTreeMap<Platform, Hash>,
    /// Hashes that a mirror states and that were checked in this run.
    pub confirmed: Hashes,
    /// Where each hash was seen in this run.
    pub evidence: Evidence,
    /// How each package compares with the hashes that were in the lock file.
    pub matched: BTreeMap<Platform, Match>,
    /// Hashes that the lock file lacked.
    pub added: Vec<Hash>,
    /// How many hashes were in the lock file and were neither signed nor computed in this run.
    pub kept: usize,
    /// Recorded hashes that did not stay, because evidence contradicts them.
    pub replaced: Vec<Replaced>,
    /// Recorded hashes that did not stay, because their platforms were dropped.
    pub dropped: Dropped,
    /// How many recorded `h1:` are left over when every platform that the source offers has one;
    /// 0 unless a package matched nothing that was recorded.
    pub unexplained: usize,
    /// Wanted platforms that the release does not offer.
    pub skipped: Vec<Platform>,
    /// Wanted platforms of which nothing is known, because no source was asked; as many recorded `h1:` or
    /// more belong to no platform that is known.
    pub unknown: Vec<Platform>,
    /// Those of the skipped platforms that the source announces all the same.
    pub missing: Vec<Platform>,
    /// Packages that are signed under the name of something else, with that name.
    pub misnamed: Vec<(Platform, String)>,
    /// What is unusual about packages.
    pub oddities: Vec<(Platform, Oddity)>,
}

/// Where hashes were seen: in a signed list, in a package, or both.
///
/// Roots that lock the same release share the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    pub(super) listed: Arc<BTreeMap<Hash, Arc<ListedFile>>>,
    pub(super) packages: Vec<SeenPackage>,
    /// Who states hashes that nothing shows.
    pub(super) claimed: Arc<BTreeMap<Hash, String>>,
}

/// A package that was looked at, or of which a fact says what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SeenPackage {
    pub(super) h1: Hash,
    pub(super) zh: Option<Hash>,
    /// Where it is, if it was looked at.
    pub(super) place: Option<String>,
    pub(super) fact: Option<Arc<StoredFact>>,
}

impl Evidence {
    /// Returns whether a fact alone says that a package has a hash.
    #[must_use]
    pub fn is_by_fact(&self, hash: &Hash) -> bool {
        self.package(hash).is_some_and(|one| one.fact.is_some())
    }

    fn package(&self, hash: &Hash) -> Option<&SeenPackage> {
        let mut packages = self.packages.iter();
        packages.rfind(|one| one.h1 == *hash || one.zh.as_ref() == Some(hash))
    }

    /// Returns where a hash was seen, if it was.
    #[must_use]
    pub fn of(&self, hash: &Hash) -> Option<HashEvidence> {
        let package = self.package(hash);
        let listed = package.map_or(Some(hash), |one| one.zh.as_ref());
        let listed = listed.and_then(|zh| self.listed.get(zh)).map(Arc::clone);
        let stated_by = match package {
            None if listed.is_none() => self.claimed.get(hash).cloned(),
            _ => None,
        };
        if listed.is_none() && package.is_none() && stated_by.is_none() {
            return None;
        }
        Some(HashEvidence {
            stated_by,
            listed,
            package: package.and_then(|one| one.place.clone()),
            fact: package.and_then(|one| one.fact.clone()),
        })
    }
}

/// Where a hash was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HashEvidence {
    /// Where it is listed, or where the zip is that it was computed from; `None` if no signature covers
    /// it.
    pub listed: Option<Arc<ListedFile>>,
    /// Where the package is that has it, a URL or a path; `None` if it was not looked at.
    pub package: Option<String>,
    /// The fact that says that the package has it, if it was not looked at.
    pub fact: Option<Arc<StoredFact>>,
    /// Who states it, a hostname or the URL of a mirror, if nothing else is known of it.
    pub stated_by: Option<String>,
}

/// A line of a checksum list with a good signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFile {
    /// The name of the file.
    pub file: String,
    /// The 64-bit ID of the primary key of the signer, 16 upper-case hexadecimal digits.
    pub key_id: String,
}

/// A recorded hash that was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The hash.
    pub hash: Hash,
    /// What contradicts it.
    pub against: Against,
}

/// What contradicts a recorded hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// The signed list of the release: it is not in there.
    SignedList,
    /// The packages of that list: every one was hashed, and none has it.
    EveryPackage,
}

impl ProviderOutcome {
    /// Returns how a hash of the entry is known.
    ///
    /// What was computed in this run over bytes that match a signed list is proven; whatever else
    /// is in that list is signed.
    #[must_use]
    pub fn provenance(&self, hash: &Hash) -> Provenance {
        let mut owners = self.computed.iter().filter(|(_, own)| *own == hash);
        let is_computed = owners.clone().next().is_some() || self.confirmed.contains(hash);
        match &self.signed {
            // A signature covered the package when that was computed.
            _ if self.evidence.is_by_fact(hash) => Provenance::Proven,
            Some(_) if owners.any(|(platform, _)| !self.unsigned.contains(platform)) => {
                Provenance::Proven
            }
            Some(signed) if signed.contains(hash) => Provenance::Signed,
            _ if is_computed => Provenance::Computed,
            _ if self.evidence.claimed.contains_key(hash) => Provenance::Claimed,
            _ => Provenance::Kept,
        }
    }
}
