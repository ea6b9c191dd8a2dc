//! The arguments of `lockctl audit`.

use clap::Args;

use crate::audit::AuditLevel;
use crate::cli::args::{Configuration, RootArgs, examples, one_of};
use crate::cli::formats::Format;
use crate::run::audit::{AuditDetail, AuditOptions};

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
pub(in crate::front::cli) struct AuditArgs {
    #[command(flatten)]
    pub(super) roots: RootArgs,
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
    pub(super) configuration: Configuration,
}

/// The value of `--fail-on`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FailOn(Option<AuditLevel>);

impl AuditArgs {
    /// Returns the options of the audit itself.
    pub(super) fn options(&self, format: Format) -> AuditOptions {
        AuditOptions {
            database: self.db.clone(),
            fail_on: self.fail_on.0,
            detail: match format {
                Format::Human => AuditDetail::Rows,
                _ => AuditDetail::Findings,
            },
        }
    }
}
