//! Platforms whose `h1:` are to be removed: reasons against it, and what became of them.

use super::args::LockOptions;
use crate::addr::ProviderAddr;
use crate::locker::ProviderOutcome;
use crate::package::WantedPlatforms;
use crate::platform::{self, Platform};
use crate::report::json::DroppedHash;
use crate::report::{Failure, RootResult};
use crate::run::root::Root;

/// Makes sure that no platform is to be dropped that is wanted for one of these providers.
///
/// # Errors
/// If one is: its hashes would be added again, by this run or by the next one.
pub(super) fn check(
    options: &LockOptions,
    root: &Root,
    providers: &[&ProviderAddr],
    wanted: &WantedPlatforms,
) -> Result<(), Failure> {
    let wants = |provider: &ProviderAddr, platform: &Platform| {
        let wanted = wanted.of(provider);
        wanted.all || wanted.has(platform)
    };
    for platform in &options.drop_platforms {
        let Some(provider) = providers.iter().find(|provider| wants(provider, platform)) else {
            continue;
        };
        let short = provider.short(root.flavor);
        let (project, file) = (root.project(), root.project_name());
        let is_in_project = !project.platforms.is_empty()
            || !project.platforms_of(provider, root.flavor).is_empty();
        let (cause, help) = if !options.platforms.platforms.is_empty() {
            (
                format!("--platform names it, or a preset that has it, for {short}"),
                "leave it out of --platform".to_owned(),
            )
        } else if is_in_project {
            (
                format!("`platforms` in {file} names it, or a preset that has it, for {short}"),
                format!("take it out of `platforms` in {file}: else the next run adds it again"),
            )
        } else {
            (
                "it is one of the common platforms, which are wanted unless others are named"
                    .to_owned(),
                format!(
                    "write the platforms that stay to {file}, as in `platforms = [\"linux_amd64\"]`: else the next \
                     run adds it again"
                ),
            )
        };
        return Err(
            Failure::new(format!("{platform} is to be dropped, but it is wanted"))
                .because(cause)
                .help(help),
        );
    }
    Ok(())
}

/// Names the platforms whose hashes are not known, and the hashes that `init` will add again.
pub(super) fn remarks(result: &mut RootResult, outcome: &ProviderOutcome, name: &str, root: &Root) {
    let unknown = &outcome.dropped.unknown;
    if !unknown.is_empty() {
        result.warn(format!(
            "{name}: which h1: belongs to {} alone is not known, so none was removed; `{} --platform {}` \
             downloads the package and keeps what it holds",
            platform::join(unknown, ", "),
            root.advice.lock,
            platform::join(unknown, ","),
        ));
    }
    let host = outcome.provider.hostname();
    if root.flavor.records_claims_of(host.ascii()) && !outcome.dropped.hashes.is_empty() {
        result.remark(format!(
            "{name}: `{} init` adds the removed h1: again if its registry states them",
            root.flavor.command()
        ));
    }
}

/// Lists the hashes that dropped platforms had.
pub(super) fn lines(dropped: &[DroppedHash]) -> impl Iterator<Item = String> {
    let hash = |row: &DroppedHash| format!("  {}  {}", row.hash, row.platforms.join(" and "));
    std::iter::once("of platforms that are not wanted any more:".to_owned())
        .chain(dropped.iter().map(hash))
}
