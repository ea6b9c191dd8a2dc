//! Lock files completed while no source may be asked: from what they record and what facts say.
//!
//! A recorded `zh:` takes the place of the signed list: whoever trusts it trusts the files of that zip, and
//! a fact says what these hash to (`store` rules 1.2). What neither shows is an error, unless enough
//! recorded `h1:` are left that may be the missing ones.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::assemble;
use super::fetch::{Content, Hashed, HashedPackage};
use super::prove::Proven;
use super::query::{Offered, Selected};
use super::work::{self, RootWork};
use super::{Contradicted, LockError, Locked, RootRequest};
use crate::hash::{Hash, Hashes, Scheme};
use crate::platform::Platform;
use crate::resolve::{Goal, Query};
use crate::store::{Facts, StoredFact};
use crate::version::Version;

/// Completes lock files as [`run`](super::run) does, but makes no request: every version that is needed must
/// be locked, and the hashes of every wanted platform recorded or known.
///
/// # Errors
/// For each root everything that is not known, sorted by provider.
pub fn complete(
    facts: &dyn Facts,
    roots: &[RootRequest<'_>],
) -> Vec<Result<Locked, Vec<LockError>>> {
    let sources = work::sources(roots.iter().map(|root| root.source));
    let complete = |request| {
        let root = work::start(request, &sources);
        let recorded = root.before.clone();
        let root: RootWork<'_, Hashed> = root.advance(|query, errors| {
            let entry = recorded.providers.get(&query.provider);
            let hashes = entry.map(|entry| &entry.hashes);
            let known = known(facts, request, query, hashes.unwrap_or(&Hashes::default()));
            known.map_err(|error| errors.push(error)).ok()
        });
        let root = work::pass_over_unavailable(root);
        assemble::assemble(root, facts, Contradicted::Alarm)
    };
    roots.iter().map(complete).collect()
}

/// Finds out what is known about the packages of a provider.
fn known(
    facts: &dyn Facts,
    request: &RootRequest<'_>,
    query: Query,
    recorded: &Hashes,
) -> Result<Hashed, LockError> {
    query.check()?;
    let locked = query.locked.as_ref().filter(|locked| match &query.goal {
        Goal::Keep => true,
        Goal::Exactly(wanted) => wanted == *locked,
        Goal::Newest(_) => false,
    });
    let Some(version) = locked.cloned() else {
        return Err(LockError::VersionsNotAsked {
            provider: Box::new(query.provider),
        });
    };
    let release = Release::find(facts, request, &query, &version, recorded);
    let wanted = release.wanted(request, &query);
    let lacking: Vec<Platform> = wanted
        .iter()
        .filter(|platform| !release.packages.contains_key(platform))
        .cloned()
        .collect();
    let (skipped, unknown): (Vec<Platform>, Vec<Platform>) = lacking
        .into_iter()
        .partition(|platform| release.is_surely_absent(request, &query, platform));
    if unknown.len() > release.unexplained {
        return Err(LockError::PackagesNotAsked {
            provider: Box::new(query.provider),
            version,
            platforms: unknown,
            unexplained: release.unexplained,
        });
    }
    let packages = release.packages.into_iter();
    let packages = packages.filter(|(platform, _)| wanted.contains(platform));
    let packages = packages.flat_map(|(platform, facts)| {
        facts.into_iter().map(move |fact| HashedPackage {
            platform: platform.clone(),
            meta: None,
            content: Arc::new(Content::known(fact)),
            confirmed: Hashes::default(),
        })
    });
    let packages = packages.collect();
    let selected = Selected {
        provider: query.provider,
        version,
        constraints: query.constraints,
        locked: query.locked,
        newest: None,
        warnings: Vec::new(),
        age: None,
    };
    let offered = Offered {
        selected,
        metas: Vec::new(),
        platforms: release.offered.into_iter().collect(),
        skipped,
        unknown,
    };
    Ok(Hashed {
        proven: Proven {
            offered,
            proof: None,
        },
        packages,
    })
}

/// What facts say about a locked release.
struct Release {
    /// The packages whose `zh:` is recorded; as a rule one for each platform.
    packages: BTreeMap<Platform, Vec<Arc<StoredFact>>>,
    /// The platforms that its signed list has packages for; none if no fact states them.
    offered: BTreeSet<Platform>,
    /// How many recorded `h1:` belong to no package that is known.
    unexplained: usize,
}

impl Release {
    fn find(
        facts: &dyn Facts,
        request: &RootRequest<'_>,
        query: &Query,
        version: &Version,
        recorded: &Hashes,
    ) -> Self {
        let known = recorded.of(Scheme::Zh).filter_map(|zh| facts.find(zh));
        let own = known.filter(|one| {
            let id = &one.fact.id;
            request.trusted.includes(&one.origin)
                && id.provider.type_name() == query.provider.type_name()
                && id.version == *version
        });
        let mut packages: BTreeMap<Platform, Vec<Arc<StoredFact>>> = BTreeMap::new();
        let mut offered = BTreeSet::new();
        let mut explained: BTreeSet<Hash> = BTreeSet::new();
        for one in own {
            offered.extend(one.fact.offered.iter().cloned());
            explained.insert(one.fact.h1.clone());
            let of_platform = packages.entry(one.fact.id.platform.clone()).or_default();
            of_platform.push(one);
        }
        let unexplained = recorded.of(Scheme::H1);
        let unexplained = unexplained.filter(|h1| !explained.contains(h1)).count();
        Self {
            packages,
            offered,
            unexplained,
        }
    }

    /// Returns the platforms that are wanted, sorted.
    fn wanted(&self, request: &RootRequest<'_>, query: &Query) -> BTreeSet<Platform> {
        let wanted = request.platforms.of(&query.provider);
        let mut platforms: BTreeSet<Platform> = wanted.known().into_iter().collect();
        if wanted.all {
            platforms.extend(self.offered.iter().cloned());
            if self.offered.is_empty() {
                platforms.extend(Platform::common());
            }
        }
        platforms
    }

    /// Returns whether the release has no package for a platform, and need not have one.
    fn is_surely_absent(
        &self,
        request: &RootRequest<'_>,
        query: &Query,
        platform: &Platform,
    ) -> bool {
        let wanted = request.platforms.of(&query.provider);
        let is_named = wanted.named.contains(platform) && request.requires(&query.provider);
        !is_named && !self.offered.is_empty() && !self.offered.contains(platform)
    }
}
