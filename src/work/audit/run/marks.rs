//! Marks of versions in other commands, from advisories in the cache; no request is made.

use std::collections::{BTreeMap, BTreeSet};

use super::database::{self, DatabasePlace, DatabaseUse};
use crate::addr::ProviderAddr;
use crate::audit::{AuditLevel, AuditedRelease, MatchVerdict, ModuleSelection, audit};
use crate::report::Sentence;
use crate::run::session::Session;
use crate::version::Version;

/// Releases that advisories in the cache are about, with the identifiers of these.
#[derive(Default)]
pub(crate) struct KnownAdvisories(BTreeMap<(ProviderAddr, Version), Vec<String>>);

impl KnownAdvisories {
    /// Returns the identifiers of the advisories about a release, sorted; none if the cache has none.
    pub(crate) fn of(&self, provider: &ProviderAddr, version: &Version) -> Vec<String> {
        self.0
            .get(&(provider.clone(), version.clone()))
            .cloned()
            .unwrap_or_default()
    }

    /// Returns a warning for each release.
    pub(crate) fn warnings(&self, name: impl Fn(&ProviderAddr) -> String) -> Vec<Sentence> {
        self.0
            .iter()
            .map(|((provider, version), ids)| {
                let (provider, ids) = (name(provider), ids.join(", "));
                Sentence::warning(format!(
                    "{provider} {version} has known vulnerabilities: {ids}; see `lockctl audit`"
                ))
            })
            .collect()
    }
}

/// Finds the advisories about the modules of releases, as far as the cache has them.
pub(crate) fn known_advisories<'r>(
    session: &Session<'_>,
    releases: impl IntoIterator<Item = (&'r ProviderAddr, &'r Version)>,
) -> KnownAdvisories {
    let releases: Vec<AuditedRelease<'r>> = releases
        .into_iter()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .map(|(provider, version)| AuditedRelease {
            provider,
            version,
            // Builds would add the two lower levels (`audit` rules 1.1), which mark no version.
            builds: &[],
        })
        .collect();
    let mut selection = ModuleSelection::default();
    for release in &releases {
        release.select(&mut selection);
    }
    // Without a kept database no version is marked: only `audit` has to be complete.
    let Ok(loaded) = DatabasePlace::typed(None, session.options)
        .and_then(|place| database::load(session, &place, &selection, DatabaseUse::Kept))
    else {
        return KnownAdvisories::default();
    };
    let mut known = BTreeMap::new();
    for release in releases {
        let ids: Vec<String> = audit(release, &loaded.database)
            .into_iter()
            .filter(|found| {
                found.level == AuditLevel::Provider && found.verdict == MatchVerdict::Affected
            })
            .map(|found| found.advisory.id.clone())
            .collect();
        if !ids.is_empty() {
            known.insert((release.provider.clone(), release.version.clone()), ids);
        }
    }
    KnownAdvisories(known)
}
