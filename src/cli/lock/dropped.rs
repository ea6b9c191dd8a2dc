//! Platforms whose `h1:` are to be removed: what is in the way, and what became of them.

use std::collections::BTreeMap;

use super::args::LockOptions;
use crate::addr::ProviderAddr;
use crate::hash::Hash;
use crate::locker::ProviderOutcome;
use crate::package::WantedPlatforms;
use crate::platform::{self, Platform};
use crate::report::json::DroppedHash;
use crate::report::{Failure, RootResult};
use crate::run::root::Root;

/// Returns why platforms cannot be dropped: they are wanted for some of these providers.
///
/// Their hashes would be added again, by this run or by the next one.
pub(super) fn in_the_way(
    options: &LockOptions,
    root: &Root,
    providers: &[&ProviderAddr],
    wanted: &WantedPlatforms,
) -> Option<Failure> {
    let is_wanted = |provider: &ProviderAddr, platform: &Platform| {
        let wanted = wanted.of(provider);
        wanted.all || wanted.has(platform)
    };
    let (platform, provider) = options.drop_platforms.iter().find_map(|platform| {
        let mut providers = providers.iter();
        let provider = providers.find(|provider| is_wanted(provider, platform))?;
        Some((platform, provider))
    })?;
    let short = provider.short(root.flavor);
    let project = root.project();
    let has_own = !project.platforms_of(provider, root.flavor).is_empty();
    let (cause, help) = if !options.platforms.platforms.is_empty() {
        (
            format!("--platform names it, or a preset that has it, for {short}"),
            "leave it out of --platform".to_owned(),
        )
    } else if has_own || !project.platforms.is_empty() {
        let file = root.project_name();
        (
            format!("`platforms` in {file} names it, or a preset that has it, for {short}"),
            format!("take it out of `platforms` in {file}: else the next run adds it again"),
        )
    } else {
        (
            "it is one of the common platforms, which are wanted unless others are named"
                .to_owned(),
            format!(
                "write the platforms that stay to {}, as in `platforms = [{:?}]`: else the next run \
                 adds it again",
                root.project_name(),
                "linux_amd64"
            ),
        )
    };
    Some(Failure {
        title: format!("{platform} is to be dropped, but it is wanted"),
        causes: vec![cause],
        help: Some(help),
    })
}

/// Lists the hashes that were removed.
pub(super) fn rows(one: &ProviderOutcome) -> Vec<DroppedHash> {
    let dropped = one.dropped.hashes.iter();
    let dropped = dropped.map(|(hash, platforms)| DroppedHash {
        hash: hash.clone(),
        platforms: platforms.iter().map(ToString::to_string).collect(),
    });
    dropped.collect()
}

/// Returns the platforms of the hashes that were added and removed, as far as they are known.
pub(super) fn owners(one: &ProviderOutcome) -> BTreeMap<Hash, Vec<Platform>> {
    let mut owners = one.dropped.hashes.clone();
    for (platform, h1) in &one.computed {
        owners.entry(h1.clone()).or_default().push(platform.clone());
    }
    owners
}

/// Says which hashes could not be attributed to a platform, and which will come back.
pub(super) fn remarks(result: &mut RootResult, one: &ProviderOutcome, root: &Root) {
    let name = format!("{} {}", one.provider.short(root.flavor), one.version);
    let unknown = &one.dropped.unknown;
    if !unknown.is_empty() {
        result.warn(format!(
            "{name}: which h1: belongs to {} alone is not known, so none was removed; `{} --platform {}` \
             downloads the package and keeps what it holds",
            platform::join(unknown, ", "),
            root.advice.lock,
            platform::join(unknown, ","),
        ));
    }
    let host = one.provider.hostname();
    let comes_back = root.flavor.records_claims_of(host.ascii());
    if comes_back && !one.dropped.hashes.is_empty() {
        result.remark(format!(
            "{name}: `{} init` adds the removed h1: again if its registry states them",
            root.flavor.command()
        ));
    }
}

/// Names a provider with its dropped platforms, and lists the hashes that these had.
pub(super) fn lines(name: &str, dropped: &[DroppedHash], are: &str) -> Vec<String> {
    let hashes = dropped.iter();
    let hashes = hashes.map(|one| format!("  {}  {}", one.hash, one.platforms.join(" and ")));
    let first = match dropped.len() {
        1 => format!("{name}: 1 h1: hash of a platform that is not wanted any more {are} removed"),
        more => {
            format!(
                "{name}: {more} h1: hashes of platforms that are not wanted any more {are} removed"
            )
        }
    };
    std::iter::once(first).chain(hashes).collect()
}
