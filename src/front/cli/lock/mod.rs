//! `lockctl lock`: create or complete the lock file.

mod altered;
mod args;
mod dropped;
mod ending;
mod in_use;
mod job;
mod moves;
mod opened;
mod provenance;
mod remarks;
mod reports;
mod rows;
mod several;
mod text;
mod wanted;

use std::path::PathBuf;
use std::sync::Arc;

use crate::cli::args::{Common, Configuration, RootArgs, job_count};
use crate::cli::{Command, Look, MarkdownText, Stderr, World};
use crate::report::reading::Total;
use crate::report::{CommandResult, Sentence, TextBlock};
use crate::run::platforms::{self, PlatformArg};
use crate::run::progress::Progress;
use crate::run::user::config::UserConfigs;
use crate::run::user::modules::{self, AutoModules, UserModules};
use crate::run::{self, ChangedFiles, RootResults, RunInputs};
use crate::sources::net::Event;
pub(in crate::front::cli) use args::{LockArgs, LockOptions};
pub(in crate::front::cli) use job::LockJob;
pub(in crate::front::cli) use moves::{Moves, NamedProvider};
pub(in crate::front::cli) use opened::{LockOutcome, OpenRoot, StartingLock, sound};
pub(in crate::front::cli) use provenance::added;
use text::Tense;

/// A lock run as it was typed.
#[derive(Clone, Copy)]
pub(in crate::front::cli) struct LockRequest<'a> {
    /// The name of the command.
    pub(in crate::front::cli) command: &'static str,
    pub(in crate::front::cli) roots: &'a RootArgs,
    /// The files that changed, if only changed roots are locked.
    pub(in crate::front::cli) changed: Option<&'a ChangedFiles>,
    pub(in crate::front::cli) options: &'a LockOptions,
    /// The versions that move, or the providers that are locked; `None` to lock all and move none.
    pub(in crate::front::cli) moves: Option<&'a Moves>,
}

/// A command that locks roots: `lock` itself, and those that move versions or convert entries first.
pub(in crate::front::cli) trait LockCommand {
    /// Returns how lock files are made.
    fn options(&self) -> &LockOptions;

    /// Does what was typed, as [`Command::run`] does.
    fn lock(&self, common: &Common, world: World<'_>, stderr: &mut Stderr<'_>) -> CommandResult;

    /// Checks what is typed; see [`Command::check`].
    ///
    /// # Errors
    /// With the sentence that the user reads.
    fn check_arguments(&self, _common: &Common) -> Result<(), String> {
        Ok(())
    }
}

impl<C: LockCommand> Command for C {
    fn run(&self, common: &Common, world: World<'_>, stderr: &mut Stderr<'_>) -> CommandResult {
        self.lock(common, world, stderr)
    }

    fn check(&self, common: &Common) -> Result<(), String> {
        self.check_arguments(common)
    }

    fn configuration(&self) -> Option<&Configuration> {
        Some(&self.options().configuration)
    }

    fn packages(&self) -> Vec<PathBuf> {
        self.options().packages()
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        text::of_all(result, Tense::of(self.options()), look)
    }

    fn total(&self) -> Total {
        Total::Result
    }

    fn markdown(&self) -> MarkdownText {
        MarkdownText::Blocks
    }
}

impl LockCommand for LockArgs {
    fn options(&self) -> &LockOptions {
        &self.options
    }

    fn lock(&self, common: &Common, world: World<'_>, stderr: &mut Stderr<'_>) -> CommandResult {
        let changed = match self.changed.files(common, &self.roots, world) {
            Ok(changed) => changed,
            Err(failure) => return CommandResult::failed("lock", [failure]),
        };
        let only = self.only();
        let request = LockRequest {
            command: "lock",
            roots: &self.changed.roots(&self.roots),
            changed: changed.as_ref(),
            options: &self.options,
            moves: only.as_ref(),
        };
        run(common, request, world, stderr)
    }
}

/// Locks all roots of a command line, each from its own lock file.
pub(in crate::front::cli) fn run(
    common: &Common,
    request: LockRequest<'_>,
    world: World<'_>,
    stderr: &mut Stderr<'_>,
) -> CommandResult {
    run_with(common, request, world, stderr, &|job, inputs| {
        run::over_roots(job, inputs)
    })
}

/// Sets up a lock job, has it done by itself or as a part of another job, and makes the result of the command.
pub(in crate::front::cli) fn run_with(
    common: &Common,
    request: LockRequest<'_>,
    world: World<'_>,
    stderr: &mut Stderr<'_>,
    drive: &dyn Fn(&mut LockJob<'_>, RunInputs<'_>) -> RootResults,
) -> CommandResult {
    let args = request.options;
    let progress = Progress::new(common.progress(world.env), world.env, stderr);
    let observer = &|event: &Event<'_>| progress.observe(event);
    let options = &common.options();
    let configuration = &args.configuration.options();
    let cache = modules::cache(options, world);
    let user = Arc::new(UserConfigs::new(options, world, observer));
    // `lock` makes requests anyway, and a module that is not visible may require a provider.
    let auto = AutoModules::Fetched;
    let modules = UserModules::new(Arc::clone(&user), configuration, auto, cache.as_ref());
    let mut job = LockJob::new(user, args, request.moves, configuration);
    let choice = &request.roots.choice();
    let inputs = RunInputs {
        choice,
        options,
        reading: Some(modules.reading(configuration)),
        changed: request.changed,
        jobs: job_count(args.jobs),
        world,
    };
    let all = drive(&mut job, inputs);
    progress.finish();
    let versions_in_use = job.locked.compare(&all.results);
    let mut result = all.into_result(request.command);
    result.versions_in_use = versions_in_use;
    result.remarks.extend(job.remarks());
    let roots = result.roots().len();
    if roots > 1 && !common.verbose {
        result.remarks.extend(job.uncovered.remark(roots));
    }
    result.remarks.extend(modules.remarks());
    let mut named = args.platforms.platforms.clone();
    for platform in &args.drop_platforms {
        named.push(PlatformArg::Named(platform.clone()));
    }
    let doubts = platforms::remarks(&named);
    result
        .remarks
        .extend(doubts.into_iter().map(Sentence::warning));
    result
}
