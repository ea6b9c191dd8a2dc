//! Lock files completed while no source may be asked: from what they record and what facts say.
//!
//! A recorded `zh:` takes the place of the signed list: whoever trusts it trusts the files of that zip, and
//! a fact says what these hash to (`store` rules 1.2). What neither shows is an error, unless enough
//! recorded `h1:` are left that may be the missing ones.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::assemble;
use super::claims::CountedClaims;
use super::fetch::{Content, Hashed, HashedPackage};
use super::prove::{Proven, ReleaseLists};
use super::query::{Offered, Selected};
use super::work::{self, RootWork};
use super::{LockError, Locked, RootRequest, Settings};
use crate::coverage::Attribution;
use crate::hash::Hashes;
use crate::package::WantedSet;
use crate::platform::Platform;
use crate::resolve::{Goal, Query};
use crate::store::Facts;

/// Completes lock files as [`run`](super::run) does, but makes no request: every version that is needed must
/// be locked, and the hashes of every wanted platform recorded or known.
///
/// # Errors
/// For each root everything that is not known, sorted by provider.
pub fn complete(
    facts: &dyn Facts,
    settings: &Settings,
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
        assemble::assemble(root, facts, settings)
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
    let release = request
        .trusted
        .attribute(facts, &query.provider, &version, recorded);
    let chosen = request.platforms.of(&query.provider);
    let wanted = wanted(&release, chosen);
    let lacking = wanted.iter();
    let lacking = lacking.filter(|platform| release.package(platform).is_none());
    let (skipped, unknown): (Vec<Platform>, Vec<Platform>) =
        lacking.cloned().partition(|platform| {
            let must_exist = chosen.named.contains(platform) && request.requires(&query.provider);
            !must_exist && release.lacks(platform)
        });
    let unexplained = release.unexplained().len();
    if unknown.len() > unexplained {
        return Err(LockError::PackagesNotAsked {
            provider: Box::new(query.provider),
            version,
            platforms: unknown,
            unexplained,
        });
    }
    let packages = release.packages();
    let packages = packages.filter(|fact| wanted.contains(&fact.id.platform));
    let packages = packages.filter_map(|fact| {
        Some(HashedPackage {
            platform: fact.id.platform.clone(),
            meta: None,
            content: Arc::new(Content::known(facts.find(&fact.zh)?)),
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
        known: BTreeMap::new(),
        claims: CountedClaims::default(),
        stated: BTreeMap::new(),
        platforms: release.offered().iter().cloned().collect(),
        skipped,
        unknown,
    };
    Ok(Hashed {
        proven: Proven {
            offered,
            lists: ReleaseLists::default(),
        },
        packages,
    })
}

/// Returns the platforms that are wanted, sorted.
fn wanted(release: &Attribution, wanted: &WantedSet) -> BTreeSet<Platform> {
    let mut platforms: BTreeSet<Platform> = wanted.known().into_iter().collect();
    if wanted.all {
        platforms.extend(release.offered().iter().cloned());
        if release.offered().is_empty() {
            platforms.extend(Platform::common());
        }
    }
    platforms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::ProviderAddr;
    use crate::flavor::Flavor;
    use crate::hash::Hash;
    use crate::locker::TrustedFacts;
    use crate::package::{Fact, PackageId};
    use crate::store::{Origin, StoredFact};

    /// Knows one package of every zip.
    struct OneFact(Origin);

    impl Facts for OneFact {
        fn find(&self, zh: &Hash) -> Option<Arc<StoredFact>> {
            let fact = Fact {
                zh: zh.clone(),
                h1: "h1:own".parse().expect("valid"),
                size: 1,
                id: PackageId {
                    provider: provider(),
                    version: "1.0.0".parse().expect("valid"),
                    platform: "linux_amd64".parse().expect("valid"),
                },
                offered: Vec::new(),
                files: Vec::new(),
            };
            let origin = self.0.clone();
            let stored = StoredFact {
                fact,
                origin,
                since: 0,
            };
            Some(Arc::new(stored))
        }

        fn keep(&self, _: &Fact) {}
    }

    fn provider() -> ProviderAddr {
        ProviderAddr::parse("acme/demo", Flavor::Terraform1_11).expect("valid")
    }

    #[track_caller]
    fn check(origin: Origin, trusted: TrustedFacts, is_known: bool) {
        let zh: Hash = format!("zh:{}", "0".repeat(64)).parse().expect("valid");
        let version = "1.0.0".parse().expect("valid");
        let hashes = std::iter::once(zh.clone()).collect();
        let found = trusted.attribute(&OneFact(origin), &provider(), &version, &hashes);
        assert_eq!(found.platforms_of(&zh).len(), usize::from(is_known));
    }

    #[test]
    fn imported_facts_explain_nothing_unless_they_are_trusted() {
        let imported = || Origin::Imported("ci".to_owned());
        check(Origin::Computed, TrustedFacts::Own, true);
        check(imported(), TrustedFacts::Own, false);
        check(imported(), TrustedFacts::Imported, true);
    }
}
