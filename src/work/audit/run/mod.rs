//! Known vulnerabilities of locked providers: the options, the job, the database and the result.

mod database;
mod fixes;
mod ignores;
mod job;
mod kept;
mod marks;
mod result;
mod text;

use std::rc::Rc;

use clap::Args;
use database::{DatabasePlace, DatabaseUse};
use job::AuditJob;

use crate::audit::AuditLevel;
use crate::driver::{RunInputs, over_roots};
use crate::report::reading::Total;
use crate::report::{CommandResult, Look, TextBlock};
use crate::run::command::Command;
use crate::run::commands;
use crate::run::options::{Configuration, RootArgs, examples, one_of};
use crate::run::session::Session;
use crate::run::user::modules::{AutoModules, UserModules};

pub(crate) use marks::{KnownAdvisories, known_advisories};

/// Find known vulnerabilities of locked providers
///
/// Compares versions with the Go vulnerability database on three levels: the provider itself, the
/// standard library of the Go version that built it, and the modules in its program; see `lockctl
/// explain audit`. Only advisories about providers themselves make the exit code 1.
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl audit -r", "all roots below"),
    ("lockctl audit -r --fail-on stdlib", "also fail for old versions of Go"),
    ("lockctl audit -r --db vulndb --offline", "with a copy of the database"),
    ("lockctl audit -r --format sarif", "for code scanning"),
]))]
pub(crate) struct AuditArgs {
    #[command(flatten)]
    pub(crate) roots: RootArgs,
    /// Use this vulnerability database [default: https://vuln.go.dev]
    ///
    /// A server or a directory with the layout of the Go vulnerability database, or a directory of files
    /// in OSV format. Documents from a server are kept in the cache.
    #[arg(long, value_name = "DIR|URL")]
    db: Option<String>,
    /// The lowest level that makes the exit code 1: provider, stdlib, dependency or never
    ///
    /// `dependency` includes all levels.
    #[arg(
        long,
        value_name = "LEVEL",
        default_value = "provider",
        value_parser = one_of([
            ("provider", FailOn(Some(AuditLevel::Provider))),
            ("stdlib", FailOn(Some(AuditLevel::StandardLibrary))),
            ("dependency", FailOn(Some(AuditLevel::Dependency))),
            ("never", FailOn(None)),
        ])
    )]
    fail_on: FailOn,
    #[command(flatten)]
    pub(crate) configuration: Configuration,
}

/// The value of `--fail-on`: the lowest level that makes the exit code 1; `None` for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FailOn(Option<AuditLevel>);

impl Command for AuditArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        let place = match DatabasePlace::typed(self.db.as_deref(), session.options) {
            Ok(place) => place,
            Err(failure) => return CommandResult::failed("audit", [failure]),
        };
        let usage = if session.options.offline {
            DatabaseUse::Kept
        } else {
            DatabaseUse::Asked
        };
        let modules = UserModules::new(session, &self.configuration, AutoModules::Cached);
        let fixes = fixes::FixSearch {
            reading: modules.reading(),
            for_all: commands::of_all(session.options, &self.roots).update,
        };
        let load = |selection: &_| database::load(session, &place, selection, usage);
        let mut job = AuditJob::new(session, self, &load, fixes);
        let inputs = RunInputs::of_locks(session, &self.roots);
        let all = over_roots(&mut job, inputs);
        let mut result = all.into_result("audit");
        job.complete(&mut result);
        result
    }

    fn configuration(&self) -> Option<&Configuration> {
        Some(&self.configuration)
    }

    fn text(&self, result: &CommandResult, look: Look) -> Vec<TextBlock> {
        text::of_all(result, look)
    }

    fn total(&self) -> Total {
        Total::Result
    }
}
