//! Hashes that sources state and nothing signs: which of them count, which replace a download, and
//! which are contradicted (rules 4).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::fetch::Hashed;
use super::{LockError, RootRequest, Settings};
use crate::addr::{Hostname, ProviderAddr};
use crate::hash::{Hash, Hashes, Scheme};
use crate::package::{ClaimedPackage, Claims, H1Trust, PackageMeta};
use crate::platform::Platform;
use crate::sources::SourceError;
use crate::store::Facts;

/// What is stated of the packages of a release by those whose statements count.
#[derive(Clone, Default)]
pub(super) struct CountedClaims {
    /// What the source of the packages states, each statement once.
    own: Vec<Arc<Claims>>,
    /// What other registries state of the packages that they call the same.
    others: Vec<Arc<Claims>>,
    /// Other registries that were asked in vain.
    pub(super) unanswered: Vec<Unanswered>,
}

/// A registry that was asked what it states, and gave no answer.
#[derive(Clone, Debug)]
pub struct Unanswered {
    /// Which one.
    pub host: Hostname,
    /// Why.
    pub cause: SourceError,
}

/// The package of a wanted platform that is not downloaded, because a source states its `h1:`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StatedPackage {
    pub(super) zh: Hash,
    pub(super) h1: Hash,
}

/// What the statements about a provider count for.
#[derive(Clone, Copy)]
pub(super) struct Weight<'a> {
    request: &'a RootRequest<'a>,
    settings: &'a Settings,
    provider: &'a ProviderAddr,
}

impl<'a> Weight<'a> {
    pub(super) fn new(
        request: &'a RootRequest<'a>,
        settings: &'a Settings,
        provider: &'a ProviderAddr,
    ) -> Self {
        Self {
            request,
            settings,
            provider,
        }
    }

    /// Returns whether OpenTofu records what the source of the packages states.
    fn recorded_by_program(self) -> bool {
        let flavor = self.request.source.flavor;
        self.settings.rules(flavor).records_claims(self.provider)
    }

    /// Returns whether a user believes what a registry states.
    fn believes(self, host: &Hostname) -> bool {
        let policy = self.request.claims;
        policy.h1 == H1Trust::Claimed && policy.from.contains(host)
    }

    /// Returns whether all that the source of the packages states is written.
    fn writes_all(self) -> bool {
        let is_wanted = match self.request.claims.h1 {
            H1Trust::Proven => false,
            H1Trust::AsTofu => true,
            H1Trust::Claimed => self.believes(self.provider.hostname()),
        };
        is_wanted && self.recorded_by_program()
    }

    /// Returns whether statements of some registry may replace a download.
    pub(super) fn may_replace(self) -> bool {
        let asks = self.request.source.registries.is_some() && !self.settings.prove;
        asks && (self.believes(self.provider.hostname()) || self.elsewhere().next().is_some())
    }

    /// Returns the addresses under which other registries are asked about a provider.
    pub(super) fn elsewhere(self) -> impl Iterator<Item = ProviderAddr> + 'a {
        let asks = self.request.source.registries.is_some();
        let hosts = self.request.claims.from.iter();
        hosts
            .filter(move |host| asks && self.believes(host))
            .filter_map(move |host| self.provider.at_other_registry(host))
    }

    /// Takes what counts of the statements that came with packages, and with those of the same names
    /// elsewhere.
    pub(super) fn count<'m>(
        self,
        metas: impl Iterator<Item = &'m Arc<PackageMeta>>,
        elsewhere: Vec<Result<Arc<PackageMeta>, Unanswered>>,
    ) -> CountedClaims {
        let mut counted = CountedClaims::default();
        if self.recorded_by_program() || self.believes(self.provider.hostname()) {
            counted.own = distinct(metas.filter_map(|meta| meta.claims.clone()));
        }
        let mut others = Vec::new();
        for answer in elsewhere {
            match answer {
                Ok(meta) => others.extend(meta.claims.clone()),
                Err(unanswered) => counted.unanswered.push(unanswered),
            }
        }
        counted.others = distinct(others.into_iter());
        counted
    }

    /// Returns what is written of all statements, though nothing proves it.
    pub(super) fn recordable(self, claims: &CountedClaims) -> Hashes {
        if !self.writes_all() || self.settings.prove {
            return Hashes::default();
        }
        let dropped = self.request.dropped;
        let packages = claims.own.iter().flat_map(|one| &one.packages);
        let hashes = packages.flat_map(|(platform, package)| {
            let is_dropped = dropped.contains(platform);
            let hashes = package.hashes.iter();
            hashes.filter(move |hash| !is_dropped || hash.scheme() != Scheme::H1)
        });
        hashes.cloned().collect()
    }

    /// Returns the platforms whose packages must be looked at to prove what is stated of them.
    pub(super) fn to_prove(self, claims: &CountedClaims) -> BTreeSet<Platform> {
        if !self.writes_all() || !self.settings.prove {
            return BTreeSet::new();
        }
        let platforms = claims.own.iter().flat_map(|one| one.packages.keys());
        platforms.cloned().collect()
    }
}

impl CountedClaims {
    fn all(&self) -> impl Iterator<Item = &Arc<Claims>> {
        self.own.iter().chain(&self.others)
    }

    /// Returns who states a hash.
    pub(super) fn by(&self, hash: &Hash) -> Option<&str> {
        let mut all = self.all();
        let states = |package: &ClaimedPackage| package.hashes.contains(hash);
        let one = all.find(|one| one.packages.values().any(states))?;
        Some(&one.by)
    }

    /// Finds the packages of which one `h1:` is stated beside the `zh:` that a list has under their
    /// name; that the list is signed is checked later.
    pub(super) fn replacements(
        &self,
        listed: &BTreeSet<(Platform, Hash)>,
    ) -> BTreeMap<Platform, StatedPackage> {
        let mut found = BTreeMap::new();
        let packages = self.all().flat_map(|one| &one.packages);
        for (platform, package) in packages {
            let mut zips = package.hashes.of(Scheme::Zh);
            let zh = zips.find(|zh| listed.contains(&(platform.clone(), (*zh).clone())));
            let mut stated = package.hashes.of(Scheme::H1);
            let (Some(zh), Some(h1), None) = (zh, stated.next(), stated.next()) else {
                continue;
            };
            let stated = || StatedPackage {
                zh: zh.clone(),
                h1: h1.clone(),
            };
            found.entry(platform.clone()).or_insert_with(stated);
        }
        found
    }
}

/// A stated hash that is shown to be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FalseClaim {
    /// Who states it: a hostname, or the URL of a mirror.
    pub by: String,
    /// Of which platform's package.
    pub platform: Platform,
    /// The hash.
    pub hash: Hash,
    /// What contradicts it.
    pub against: ClaimAgainst,
}

/// What contradicts a stated hash.
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

/// What is known of a package of which something is stated.
pub struct KnownContent {
    /// Its `h1:`; of an unusual zip those of both programs.
    pub h1: Vec<Hash>,
    /// Whether a fact says so, rather than the package itself.
    pub by_fact: bool,
}

/// Compares what somebody states with the checksum list of the release, and with what is known of its
/// packages (rules 4.3).
#[must_use]
pub fn false_claims(
    claims: &Claims,
    list: Option<&Hashes>,
    known: impl Fn(&Platform, &ClaimedPackage) -> Option<KnownContent>,
) -> Vec<FalseClaim> {
    let mut found = Vec::new();
    for (platform, package) in &claims.packages {
        let mut wrong = |hash: &Hash, against| {
            found.push(FalseClaim {
                by: claims.by.clone(),
                platform: platform.clone(),
                hash: hash.clone(),
                against,
            });
        };
        for zh in package.hashes.of(Scheme::Zh) {
            if list.is_some_and(|list| !list.contains(zh)) {
                wrong(zh, ClaimAgainst::List);
            }
        }
        let known = known(platform, package);
        for h1 in package.hashes.of(Scheme::H1) {
            if !h1.is_well_formed() {
                wrong(h1, ClaimAgainst::Form);
            } else if let Some(known) = known.as_ref().filter(|known| !known.h1.contains(h1))
                && let Some(own) = known.h1.first().cloned()
            {
                wrong(
                    h1,
                    match known.by_fact {
                        true => ClaimAgainst::Fact(own),
                        false => ClaimAgainst::Package(own),
                    },
                );
            }
        }
    }
    found
}

/// Compares what is stated with the list of the release, with its packages and with facts.
///
/// Another registry may have built a package of the same name itself; what it states counts only where it
/// means the same zip.
pub(super) fn contradictions(
    one: &Hashed,
    request: &RootRequest<'_>,
    facts: &dyn Facts,
) -> Option<LockError> {
    let claims = &one.proven.offered.claims;
    let list = one.proven.lists.view();
    let known = |platform: &Platform, stated: &ClaimedPackage| {
        known_content(platform, stated, one, request, facts)
    };
    let mut found = Vec::new();
    for by in &claims.own {
        found.extend(false_claims(by, list.map(|list| list.hashes), known));
    }
    for by in &claims.others {
        let mut same = Claims::clone(by);
        same.packages.retain(|_, package| {
            let mut zips = package.hashes.of(Scheme::Zh).peekable();
            let is_listed = |zh: &Hash| list.is_some_and(|list| list.zips.contains(zh));
            zips.peek().is_some() && zips.all(is_listed)
        });
        found.extend(false_claims(&same, None, known));
    }
    let selected = &one.proven.offered.selected;
    (!found.is_empty()).then(|| LockError::FalseClaims {
        provider: Box::new(selected.provider.clone()),
        version: selected.version.clone(),
        claims: found,
    })
}

/// Returns what is known of a package of which something is stated: of that of the platform, else of one
/// with the same zip.
fn known_content(
    platform: &Platform,
    stated: &ClaimedPackage,
    one: &Hashed,
    request: &RootRequest<'_>,
    facts: &dyn Facts,
) -> Option<KnownContent> {
    let is_stated = |zh: &Hash| stated.hashes.contains(zh);
    let packages = || one.packages.iter();
    let own = packages().find(|package| package.platform == *platform);
    let package = own.or_else(|| {
        packages().find(|package| package.content.zh().is_some_and(|zh| is_stated(&zh)))
    });
    if let Some(package) = package {
        let content = &package.content;
        let own = std::iter::once(&content.h1).chain(content.member_h1());
        return Some(KnownContent {
            h1: own.cloned().collect(),
            by_fact: content.fact.is_some(),
        });
    }
    let mut zips = stated.hashes.of(Scheme::Zh);
    let fact = zips.find_map(|zh| request.trusted.find(facts, zh))?;
    Some(KnownContent {
        h1: vec![fact.fact.h1.clone()],
        by_fact: true,
    })
}

/// How many characters of a stated hash a message repeats: any of a known scheme is shorter.
const MAX_SHOWN_CHARS: usize = 100;

impl fmt::Display for FalseClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hash: String = self.hash.as_str().chars().take(MAX_SHOWN_CHARS).collect();
        write!(f, "{} states {hash} for {}, but ", self.by, self.platform)?;
        match &self.against {
            ClaimAgainst::List => f.write_str("its checksum list does not have it"),
            ClaimAgainst::Package(own) => write!(f, "the package has {own}"),
            ClaimAgainst::Fact(own) => write!(f, "an earlier run computed {own}"),
            ClaimAgainst::Form => f.write_str("no package can have it"),
        }
    }
}

/// Drops equal statements.
pub(super) fn distinct(claims: impl Iterator<Item = Arc<Claims>>) -> Vec<Arc<Claims>> {
    let mut all: Vec<Arc<Claims>> = Vec::new();
    for one in claims {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    all
}
