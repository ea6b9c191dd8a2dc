//! `lockctl lock`: create or complete the lock file.

mod altered;
mod args;
mod conversion;
mod dropped;
pub(in crate::front::cli) mod edit;
mod ending;
mod in_use;
mod job;
mod memory;
mod moves;
mod opened;
mod pins;
mod provenance;
mod remarks;
mod reports;
mod rows;
mod text;
mod wanted;

use std::path::PathBuf;
use std::rc::Rc;

use job::LockJob;
use text::Tense;

use crate::cli::{Command, MarkdownText};
use crate::driver::{self, ChangedFiles, RunInputs};
use crate::report::reading::Total;
use crate::report::{CommandResult, Look, Sentence, TextBlock};
use crate::run::options::{Configuration, Options, RootArgs, job_count};
use crate::run::platforms::{self, PlatformArg};
use crate::run::session::Session;
use crate::run::user::modules::{AutoModules, UserModules};
use crate::workspace::{PinUse, Reading};

pub(in crate::front::cli) use args::{LockArgs, LockOptions};
use ending::conclude;
pub(in crate::front::cli) use moves::{Moves, NamedProvider};

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
    /// Lock files of the other program are converted first.
    pub(in crate::front::cli) converts: bool,
    /// The pins of modules that move.
    pub(in crate::front::cli) pins: &'a PinUse,
}

/// A command that locks roots: `lock` itself, and those that move versions or convert entries first.
pub(in crate::front::cli) trait LockCommand {
    /// Returns how lock files are made.
    fn options(&self) -> &LockOptions;

    /// Does what was typed, as [`Command::run`] does.
    fn lock(&self, session: &Rc<Session<'_>>) -> CommandResult;

    /// Checks what is typed; see [`Command::check`].
    ///
    /// # Errors
    /// With the sentence that the user reads.
    fn check_arguments(&self, _options: &Options) -> Result<(), String> {
        Ok(())
    }
}

impl<C: LockCommand> Command for C {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        self.lock(session)
    }

    fn check(&self, options: &Options) -> Result<(), String> {
        self.check_arguments(options)
    }

    fn configuration(&self) -> Option<&Configuration> {
        Some(&self.options().configuration)
    }

    fn packages(&self) -> Vec<PathBuf> {
        self.options().packages()
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        let tense = Tense::of(self.options());
        let mut blocks = edit::text::blocks(result, self.options().writes(), look);
        blocks.extend(text::of_all(result, tense, look));
        blocks
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

    fn lock(&self, session: &Rc<Session<'_>>) -> CommandResult {
        let changed = match self.changed.files(session, &self.roots) {
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
            converts: false,
            pins: &PinUse::Kept,
        };
        run(session, request)
    }
}

/// Locks all roots of a command line.
pub(in crate::front::cli) fn run(
    session: &Rc<Session<'_>>,
    request: LockRequest<'_>,
) -> CommandResult {
    let args = request.options;
    // `lock` makes requests anyway, and a module that is not visible may require a provider.
    let modules = UserModules::new(session, &args.configuration, AutoModules::Fetched);
    let mut job = LockJob::new(session, request);
    let inputs = RunInputs {
        reading: Some(Reading {
            pins: request.pins,
            ..modules.reading()
        }),
        changed: request.changed,
        jobs: job_count(args.jobs),
        ..RunInputs::of_locks(session, request.roots)
    };
    let mut all = driver::over_roots(&mut job, inputs);
    if let Some(first) = all.results.first_mut() {
        for failure in job.moved_pins.failures() {
            first.fail(failure);
        }
    }
    let versions_in_use = job.locked.compare(&all.results);
    let mut result = all.into_result(request.command);
    result.versions_in_use = versions_in_use;
    session.facts.share();
    result.remarks.extend(session.facts.remarks());
    let roots = result.roots().len();
    if roots > 1 && !session.options.verbose {
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
