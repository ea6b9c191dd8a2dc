//! The run that locks the roots of a command line, with or without moving versions.

use std::sync::Arc;

use super::args::LockOptions;
use super::job::LockJob;
use super::moves::Moves;
use crate::cli::args::{Common, RootArgs};
use crate::cli::progress::Progress;
use crate::cli::{Stderr, World};
use crate::report::{CommandResult, Sentence};
use crate::run::options::{RootChoice, RunOptions};
use crate::run::platforms::{self, PlatformArg};
use crate::run::user::config::UserConfigs;
use crate::run::user::modules::{self, AutoModules, UserModules};
use crate::run::{self, RootResults};
use crate::sources::net::Event;

/// A lock run as it was typed.
#[derive(Clone, Copy)]
pub(in crate::cli) struct LockRequest<'a> {
    /// The name of the command.
    pub(in crate::cli) command: &'static str,
    pub(in crate::cli) roots: &'a RootArgs,
    pub(in crate::cli) options: &'a LockOptions,
    /// The versions that move; `None` if none does.
    pub(in crate::cli) moves: Option<&'a Moves>,
}

/// A function that does a lock job for roots, by itself or as a part of another job.
pub(in crate::cli) type DriveLock<'d> =
    &'d dyn Fn(&mut LockJob<'_>, &RootChoice, &RunOptions, World<'_>) -> RootResults;

/// Locks all roots of a command line, each from its own lock file.
pub(in crate::cli) fn run(
    common: &Common,
    request: LockRequest<'_>,
    world: World<'_>,
    stderr: &mut Stderr<'_>,
) -> CommandResult {
    run_with(
        common,
        request,
        world,
        stderr,
        &|job, choice, run, world| run::over_roots(job, choice, run, world),
    )
}

/// Sets up a lock job, has it done, and makes the result of the command.
pub(in crate::cli) fn run_with(
    common: &Common,
    request: LockRequest<'_>,
    world: World<'_>,
    stderr: &mut Stderr<'_>,
    drive: DriveLock<'_>,
) -> CommandResult {
    let options = request.options;
    let progress = Progress::new(common, world.env, stderr);
    let observer = &|event: &Event<'_>| progress.observe(event);
    let run = &common.options();
    let cache = modules::cache(run, world);
    let user = Arc::new(UserConfigs::new(run, world, observer));
    let configuration = options.configuration.options();
    // `lock` makes requests anyway, and a module that is not visible may require a provider.
    let auto = AutoModules::Fetched;
    let modules = UserModules::new(Arc::clone(&user), &configuration, auto, cache.as_ref());
    let mut job = LockJob::new(user, options, request.moves, modules, configuration);
    let choice = request.roots.choice();
    let all = drive(&mut job, &choice, run, world);
    progress.finish();
    let versions_in_use = job.locked.compare(&all.results);
    let mut result = all.into_result(request.command);
    result.versions_in_use = versions_in_use;
    result.remarks.extend(job.remarks());
    result.remarks.extend(doubts(options));
    result
}

/// Warns of each platform that was typed and that no provider is commonly released for.
fn doubts(options: &LockOptions) -> impl Iterator<Item = Sentence> {
    let mut named = options.platforms.platforms.clone();
    for platform in &options.drop_platforms {
        named.push(PlatformArg::Named(platform.clone()));
    }
    platforms::remarks(&named)
        .into_iter()
        .map(Sentence::warning)
}
