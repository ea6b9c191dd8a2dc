//! `lockctl lock`: create or complete the lock file.

mod altered;
mod args;
mod conversion;
pub(crate) mod convert;
mod dropped;
pub(crate) mod edit;
mod ending;
pub(crate) mod fmt;
mod job;
mod memory;
mod moves;
mod opened;
mod pins;
mod provenance;
mod remarks;
mod rows;
pub(crate) mod text;
pub(crate) mod update;
mod wanted;

use std::path::PathBuf;
use std::rc::Rc;

use job::LockJob;

use crate::driver::{self, ChangedFiles, RunInputs};
use crate::report::reading::Total;
use crate::report::{CommandResult, Look, Sentence, TextBlock};
use crate::run::command::Command;
use crate::run::edits::PlannedEdits;
use crate::run::options::{Configuration, Options, RootArgs, SourceArgs, job_count};
use crate::run::platforms::{self, PlatformArg};
use crate::run::provenance::Attester;
use crate::run::session::Session;
use crate::run::user::modules::{AutoModules, UserModules};
use crate::workspace::{PinUse, Reading};

pub(crate) use args::{LockArgs, LockOptions};
pub(crate) use moves::{Moves, NamedProvider};
pub(crate) use opened::sound;

/// A lock run as it was typed.
#[derive(Clone, Copy)]
pub(crate) struct LockRequest<'a> {
    /// The name of the command.
    pub(crate) command: &'static str,
    pub(crate) roots: &'a RootArgs,
    /// The files that changed, if only changed roots are locked.
    pub(crate) changed: Option<&'a ChangedFiles>,
    pub(crate) options: &'a LockOptions,
    /// The versions that move, or the providers that are locked; `None` to lock all and move none.
    pub(crate) moves: Option<&'a Moves>,
    /// Lock files of the other program are converted first.
    pub(crate) converts: bool,
    /// The pins of modules that move.
    pub(crate) pins: &'a PinUse,
    /// The edits of configuration that the run is made with.
    pub(crate) edits: Option<&'a PlannedEdits>,
}

impl<'a> LockRequest<'a> {
    /// Locks all providers of roots at the versions that they have.
    pub(crate) fn new(
        command: &'static str,
        roots: &'a RootArgs,
        options: &'a LockOptions,
    ) -> Self {
        Self {
            command,
            roots,
            changed: None,
            options,
            moves: None,
            converts: false,
            pins: &PinUse::Kept,
            edits: None,
        }
    }
}

/// A command that locks roots: `lock` itself, and those that move versions or convert entries first.
pub(crate) trait LockCommand {
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
        options.check_offline("--provenance", self.options().provenance)?;
        self.check_arguments(options)
    }

    fn configuration(&self) -> Option<&Configuration> {
        Some(&self.options().configuration)
    }

    fn source(&self) -> Option<&SourceArgs> {
        Some(&self.options().source)
    }

    fn packages(&self) -> Vec<PathBuf> {
        self.options().packages()
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        text::blocks(result, self.options(), look)
    }

    fn total(&self) -> Total {
        Total::Result
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
        let only = (!self.providers.is_empty()).then(|| Moves::kept(&self.providers));
        let roots = self.changed.roots(&self.roots);
        let request = LockRequest {
            changed: changed.as_ref(),
            moves: only.as_ref(),
            ..LockRequest::new("lock", &roots, &self.options)
        };
        run(session, request)
    }
}

/// Locks all roots of a command line.
pub(crate) fn run(session: &Rc<Session<'_>>, request: LockRequest<'_>) -> CommandResult {
    let args = request.options;
    // `lock` makes requests anyway, and a module that is not visible may require a provider.
    let modules = UserModules::new(session, &args.configuration, AutoModules::Fetched);
    let mut job = LockJob::new(session, request);
    let inputs = RunInputs {
        reading: Some(Reading {
            pins: request.pins,
            keeps_legacy: request.edits.is_some_and(|edits| edits.replaces_legacy),
            ..modules.reading()
        }),
        changed: request.changed,
        jobs: job_count(args.jobs),
        ..RunInputs::of_locks(session, request.roots)
    };
    if args.provenance {
        match Attester::new(session) {
            Ok(attester) => job.attester = Some(attester),
            // Before any root is opened: a wrong address would fail every one of them.
            Err(failure) => return CommandResult::failed(request.command, [failure]),
        }
    }
    let all = driver::over_roots(&mut job, inputs);
    let mut result = all.into_result(request.command);
    // Once for all roots: a shared store is written release by release.
    session.facts.share();
    result.remarks.extend(session.facts.remarks());
    result.remarks.extend(modules.remarks());
    result.remarks.extend(
        job.attester
            .iter()
            .flat_map(|attester| attester.summary.remarks(session.options.verbose)),
    );
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
