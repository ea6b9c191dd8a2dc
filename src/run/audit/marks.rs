//! Marks of versions in other commands, from advisories in the cache; no request is made.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::database::{AdvisorySource, DatabasePlace, DatabaseUse};
use crate::addr::ProviderAddr;
use crate::audit::{AuditLevel, AuditedRelease, MatchVerdict, ModuleSelection, audit};
use crate::report::Sentence;
use crate::run::World;
use crate::run::options::RunOptions;
use crate::run::user::config::{UserConfigs, silent};
use crate::version::Version;

/// Marks releases with the cached advisories about their own modules.
pub(crate) fn known_advisories<'r>(
    options: &RunOptions,
    world: World<'_>,
    releases: impl IntoIterator<Item = (&'r ProviderAddr, &'r Version)>,
    name: impl Fn(&ProviderAddr) -> String,
) -> Vec<Sentence> {
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
    let source = AdvisorySource {
        world,
        options,
        user: Arc::new(UserConfigs::new(options, world, &silent)),
    };
    // Without a kept database no version is marked: only `audit` has to be complete.
    let Ok(loaded) = DatabasePlace::typed(None, options)
        .and_then(|place| source.load(&place, &selection, DatabaseUse::Kept))
    else {
        return Vec::new();
    };
    releases
        .into_iter()
        .filter_map(|release| {
            let ids: Vec<String> = audit(release, &loaded.database)
                .into_iter()
                .filter(|found| {
                    found.level == AuditLevel::Provider && found.verdict == MatchVerdict::Affected
                })
                .map(|found| found.advisory.id.clone())
                .collect();
            let (provider, version) = (name(release.provider), release.version);
            let text = || {
                let ids = ids.join(", ");
                format!(
                    "{provider} {version} has known vulnerabilities: {ids}; see `lockctl audit`"
                )
            };
            (!ids.is_empty()).then(|| Sentence::warning(text()))
        })
        .collect()
}
