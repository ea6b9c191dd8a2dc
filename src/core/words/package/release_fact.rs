//! Known content of a release: the files that its signed lists name.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use super::{AttestedBuild, KeyId, ReleaseDates};
use crate::addr::ProviderAddr;
use crate::hash::Hash;
use crate::platform::Platform;
use crate::version::Version;

/// A release as its checksum lists with good signatures describe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseFact {
    pub provider: ProviderAddr,
    pub version: Version,
    /// Some list names several packages, and so all of the release. Some registries have a list for each
    /// platform.
    pub lists_release: bool,
    /// The keys that signed the lists.
    pub signers: BTreeSet<SignerKey>,
    /// The times when these keys expire, by the fingerprint of the primary key.
    pub key_ends: BTreeMap<String, SystemTime>,
    /// Every date that was stated of the release.
    pub dates: ReleaseDates,
    /// The packages in the lists, by their `zh:`.
    pub packages: BTreeMap<Hash, ReleasePackage>,
    /// The `zh:` of other files in the lists.
    pub others: BTreeSet<Hash>,
    /// The attested builds of packages whose attestations were asked for; `None` if there is none that counts.
    pub attested: AttestedBuilds,
}

/// The attested builds of packages, by their `zh:`; `None` if a package has none that counts.
pub type AttestedBuilds = BTreeMap<Hash, Option<AttestedBuild>>;

/// The key that made a signature, by fingerprints of 40 upper-case hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SignerKey {
    /// The fingerprint of the primary key.
    pub fingerprint: String,
    /// The fingerprint of the subkey that signed, if it was one.
    pub subkey: Option<String>,
}

/// A package that a list names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleasePackage {
    pub platform: Platform,
    /// The `h1:` of its files, if a fact about its zip was known.
    pub h1: Option<Hash>,
}

impl SignerKey {
    /// Returns true if `key` names it: the primary key, which also names its subkeys, or the subkey itself.
    #[must_use]
    pub fn is(&self, key: &KeyId) -> bool {
        std::iter::once(&self.fingerprint)
            .chain(&self.subkey)
            .any(|fingerprint| key.names(fingerprint))
    }

    /// Returns the 64-bit ID of the primary key.
    #[must_use]
    pub fn key_id(&self) -> &str {
        // The ID of a key of version 4 is the end of its fingerprint (RFC 4880, 12.2).
        let start = self.fingerprint.len().saturating_sub(16);
        self.fingerprint.get(start..).unwrap_or_default()
    }
}

impl ReleaseFact {
    /// Returns true if a hash is that of a listed file, or of a package in one.
    #[must_use]
    pub fn has(&self, hash: &Hash) -> bool {
        self.packages.contains_key(hash)
            || self.others.contains(hash)
            || self
                .packages
                .values()
                .any(|package| package.h1.as_ref() == Some(hash))
    }

    /// Counts the packages whose `h1:` is unknown.
    #[must_use]
    pub fn unseen(&self) -> usize {
        self.packages
            .values()
            .filter(|package| package.h1.is_none())
            .count()
    }

    /// Adds what a later run found out about the release.
    ///
    /// A release may get further packages later, so listed files are never taken away.
    pub fn add(&mut self, later: &Self) {
        // A list of a whole release replaces an earlier one; lists of single platforms are added up.
        if later.lists_release {
            self.signers.clone_from(&later.signers);
        } else {
            self.signers.extend(later.signers.iter().cloned());
        }
        // A publisher may extend a key.
        self.key_ends.extend(later.key_ends.clone());
        self.lists_release |= later.lists_release;
        self.dates.extend(later.dates.iter());
        for (zh, package) in &later.packages {
            let known = self
                .packages
                .entry(zh.clone())
                .or_insert_with(|| package.clone());
            if package.h1.is_some() {
                known.h1.clone_from(&package.h1);
            }
        }
        self.others.extend(later.others.iter().cloned());
        for (zh, build) in &later.attested {
            let known = self.attested.entry(zh.clone()).or_default();
            // A service that has removed an attestation takes away no proof.
            if build.is_some() {
                known.clone_from(build);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{KeyId, SignerKey};

    const PRIMARY: &str = "C874011F0AB405110D02105534365D9472D7468F";
    const SUBKEY: &str = "B36CBA91A2C0730C435FC280B0B441097685B676";

    #[track_caller]
    fn check(pin: &str, subkey: Option<&str>, wanted: bool) {
        let signer = SignerKey {
            fingerprint: PRIMARY.to_owned(),
            subkey: subkey.map(str::to_owned),
        };
        let key = KeyId::parse(pin).expect("a key");
        assert_eq!(signer.is(&key), wanted, "{pin}");
    }

    #[test]
    fn a_primary_key_stands_for_its_subkeys() {
        for by in [None, Some(SUBKEY)] {
            check(PRIMARY, by, true);
            check(&PRIMARY[24..], by, true);
            check(&PRIMARY[24..].to_lowercase(), by, true);
            // The beginning of a fingerprint is no ID.
            check(&PRIMARY[..16], by, false);
            let is_subkey = by.is_some();
            check(SUBKEY, by, is_subkey);
            check(&SUBKEY[24..], by, is_subkey);
        }
    }
}
