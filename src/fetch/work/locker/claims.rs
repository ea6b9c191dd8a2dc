//! Hashes that sources state and nothing signs: which of them count, which replace a download, and
//! which are wrong (rules 4).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::{LockSettings, RootRequest};
use crate::addr::{Hostname, ProviderAddr};
use crate::hash::{Hash, Hashes, Scheme};
use crate::package::{ClaimedPackage, Claims, H1Trust, PackageMeta};
use crate::platform::Platform;

/// The claims about the packages of a release that count.
#[derive(Clone, Default)]
pub(super) struct CountedClaims {
    /// The claims of the source of the packages, each statement once.
    pub(super) of_source: Vec<Arc<Claims>>,
    /// The claims of other registries about the packages that they call the same.
    pub(super) of_others: Vec<Arc<Claims>>,
}

/// The package of a wanted platform that is not downloaded, because a source states its `h1:`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClaimedZip {
    pub(super) zh: Hash,
    pub(super) h1: Hash,
}

/// The rules for claims about a provider.
#[derive(Clone, Copy)]
pub(super) struct ClaimTrust<'a> {
    request: &'a RootRequest<'a>,
    settings: &'a LockSettings,
    provider: &'a ProviderAddr,
}

impl<'a> ClaimTrust<'a> {
    pub(super) fn new(
        request: &'a RootRequest<'a>,
        settings: &'a LockSettings,
        provider: &'a ProviderAddr,
    ) -> Self {
        Self {
            request,
            settings,
            provider,
        }
    }

    /// Returns true if OpenTofu records the claims of the source of the packages.
    fn recorded_by_program(self) -> bool {
        let flavor = self.request.source.flavor;
        self.settings.rules(flavor).records_claims(self.provider)
    }

    /// Returns true if the user trusts the claims of a registry.
    fn trusts(self, host: &Hostname) -> bool {
        let policy = self.request.claims;
        policy.h1 == H1Trust::Claimed && policy.from.contains(host)
    }

    /// Returns true if all claims of the source of the packages are written.
    fn writes_all(self) -> bool {
        let is_wanted = match self.request.claims.h1 {
            H1Trust::Proven => false,
            // The next `tofu init` would record them as well (rules 4.1).
            H1Trust::AsTofu => true,
            H1Trust::Claimed => self.trusts(self.provider.hostname()),
        };
        is_wanted && self.recorded_by_program()
    }

    /// Returns true if claims of some registry may replace a download.
    pub(super) fn may_replace(self) -> bool {
        let has_registries = self.request.source.registries.is_some();
        has_registries
            && !self.settings.prove
            && (self.trusts(self.provider.hostname()) || self.elsewhere().next().is_some())
    }

    /// Returns the addresses of a provider at the other registries to ask.
    pub(super) fn elsewhere(self) -> impl Iterator<Item = ProviderAddr> + 'a {
        let has_registries = self.request.source.registries.is_some();
        self.request
            .claims
            .from
            .iter()
            .filter(move |host| has_registries && self.trusts(host))
            .filter_map(move |host| self.provider.at_other_registry(host))
    }

    /// Takes the claims that count of those that came with packages, and with those of the same names
    /// elsewhere.
    pub(super) fn count(
        self,
        metas: &[Arc<PackageMeta>],
        elsewhere: Vec<Arc<PackageMeta>>,
    ) -> CountedClaims {
        let mut counted = CountedClaims::default();
        // With enforced validation, and from any other host, nothing that is stated counts (rules 4.2), unless the
        // user trusts the host (rules 4.4).
        if self.recorded_by_program() || self.trusts(self.provider.hostname()) {
            counted.of_source = distinct(metas.iter().filter_map(|meta| meta.claims.clone()));
        }
        counted.of_others = distinct(elsewhere.iter().filter_map(|meta| meta.claims.clone()));
        counted
    }

    /// Returns the claimed hashes that are written, though nothing proves them.
    pub(super) fn recordable(self, claims: &CountedClaims) -> Hashes {
        let mut recordable = Vec::new();
        if self.writes_all() && !self.settings.prove {
            for (platform, package) in claims.of_source.iter().flat_map(|by| &by.packages) {
                // The `zh:` of a dropped platform stay: the next `init` adds the signed list again (rules 3.5).
                let is_dropped = self.request.dropped.contains(platform);
                recordable.extend(
                    package
                        .hashes
                        .iter()
                        .filter(|hash| !is_dropped || hash.scheme() != Scheme::H1)
                        .cloned(),
                );
            }
        }
        recordable.into_iter().collect()
    }

    /// Returns the platforms whose packages must be hashed to prove the claims about them (rules 4.5).
    pub(super) fn to_prove(self, claims: &CountedClaims) -> BTreeSet<Platform> {
        if !self.writes_all() || !self.settings.prove {
            return BTreeSet::new();
        }
        claims
            .of_source
            .iter()
            .flat_map(|by| by.packages.keys())
            .cloned()
            .collect()
    }
}

impl CountedClaims {
    fn all(&self) -> impl Iterator<Item = &Arc<Claims>> {
        self.of_source.iter().chain(&self.of_others)
    }

    /// Returns the registry or mirror that claims a hash.
    pub(super) fn claimant(&self, hash: &Hash) -> Option<&str> {
        let has_hash = |package: &ClaimedPackage| package.hashes.contains(hash);
        self.all()
            .find(|claims| claims.packages.values().any(has_hash))
            .map(|claims| &*claims.by)
    }

    /// Finds the packages with a claimed `h1:` beside the `zh:` that a list has under their name; the signature
    /// of the list is checked later.
    pub(super) fn replacements(
        &self,
        listed: &BTreeSet<(Platform, Hash)>,
    ) -> BTreeMap<Platform, ClaimedZip> {
        let mut replacements = BTreeMap::new();
        for (platform, package) in self.all().flat_map(|claims| &claims.packages) {
            // The `zh:` ties the claim to the signed bytes: a package that another registry built anew has
            // another one, and its `h1:` must not count here (rules 4.4).
            let listed_zh = package
                .hashes
                .of(Scheme::Zh)
                .find(|zh| listed.contains(&(platform.clone(), (*zh).clone())));
            let mut h1 = package.hashes.of(Scheme::H1);
            // A single `h1:` (rules 4.4): of two, nothing says which is that of the zip.
            if let (Some(zh), Some(h1), None) = (listed_zh, h1.next(), h1.next()) {
                replacements
                    .entry(platform.clone())
                    .or_insert_with(|| ClaimedZip {
                        zh: zh.clone(),
                        h1: h1.clone(),
                    });
            }
        }
        replacements
    }
}

/// A claimed hash that is shown to be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FalseClaim {
    /// The claimant: a hostname, or the URL of a mirror.
    pub by: String,
    /// The platform of the package that it is claimed of.
    pub platform: Platform,
    /// The hash as it is claimed.
    pub hash: Hash,
    /// The evidence that contradicts it.
    pub against: ClaimAgainst,
}

/// Evidence that contradicts a claimed hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimAgainst {
    /// The checksum list of the release: it does not have it.
    List,
    /// The package, which has this hash.
    Package(Hash),
    /// An earlier run, which computed this hash of the zip.
    Fact(Hash),
    /// Its form: no package can have it.
    Form,
}

/// The hashes of a package with claims about it.
pub struct KnownContent {
    /// Its `h1:`; of an unusual zip those of both programs.
    pub h1: Vec<Hash>,
    /// A fact says so, rather than the package itself.
    pub by_fact: bool,
}

/// Compares the claims of somebody with the checksum list of the release, and with what is known of its
/// packages (rules 4.3).
#[must_use]
pub fn false_claims(
    claims: &Claims,
    list: Option<&Hashes>,
    known: impl Fn(&Platform, &ClaimedPackage) -> Option<KnownContent>,
) -> Vec<FalseClaim> {
    let mut false_claims = Vec::new();
    for (platform, package) in &claims.packages {
        let mut refute = |hash: &Hash, against| {
            false_claims.push(FalseClaim {
                by: claims.by.clone(),
                platform: platform.clone(),
                hash: hash.clone(),
                against,
            });
        };
        for zh in package.hashes.of(Scheme::Zh) {
            if list.is_some_and(|list| !list.contains(zh)) {
                refute(zh, ClaimAgainst::List);
            }
        }
        let known = known(platform, package);
        for h1 in package.hashes.of(Scheme::H1) {
            // OpenTofu looks at no value and would record it (`sources` rules 3.8).
            if !h1.is_well_formed() {
                refute(h1, ClaimAgainst::Form);
            } else if let Some(known) = known.as_ref().filter(|known| !known.h1.contains(h1))
                && let Some(true_h1) = known.h1.first().cloned()
            {
                let against = if known.by_fact {
                    ClaimAgainst::Fact(true_h1)
                } else {
                    ClaimAgainst::Package(true_h1)
                };
                refute(h1, against);
            }
        }
    }
    false_claims
}

/// Maximum number of characters of a claimed hash that a message repeats: any of a known scheme is shorter.
const MAX_SHOWN_CHARS: usize = 100;

impl fmt::Display for FalseClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hash: String = self.hash.as_str().chars().take(MAX_SHOWN_CHARS).collect();
        write!(f, "{} states {hash} for {}, but ", self.by, self.platform)?;
        match &self.against {
            ClaimAgainst::List => f.write_str("its checksum list does not have it"),
            ClaimAgainst::Package(h1) => write!(f, "the package has {h1}"),
            ClaimAgainst::Fact(h1) => write!(f, "an earlier run computed {h1}"),
            ClaimAgainst::Form => f.write_str("no package can have it"),
        }
    }
}

/// Drops statements that are equal: roots and platforms of a release often come with the same one.
pub(super) fn distinct(claims: impl IntoIterator<Item = Arc<Claims>>) -> Vec<Arc<Claims>> {
    let mut distinct: Vec<Arc<Claims>> = Vec::new();
    for statement in claims {
        if !distinct.contains(&statement) {
            distinct.push(statement);
        }
    }
    distinct
}
