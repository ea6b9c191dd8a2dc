//! The one JSON object that a command prints: a contract, to which fields are only ever added.
//!
//! The schema in the repository is made of these types: comments on them are for its readers, and
//! `cli` turns the values of other rooms into them.

mod change;
mod finding;
mod fixed;
mod git;
mod matrix;
mod module;
mod package;
mod place;
mod provider;
mod rule;
mod schema;

pub use change::{Change, File, PastChange, Side, Verdict};
pub use finding::{Finding, Related, TurnedOff};
pub use fixed::Fixed;
pub use git::GitSetting;
pub use matrix::{MatrixRow, Outcome, Route};
pub use module::{Module, ModuleKind, RequiredProvider};
pub use package::{FailedPackage, HashedPackage, Package, PackageFile};
pub use place::{ExplainedProvider, Overridden, PlaceKind, RequiringPlace};
pub use provider::{
    CheckedProvider, LockedHash, LockedProvider, Provenance, Provider, RemovedProvider, ShownHash,
    ShownProvider, Signer, SignerClass,
};
pub use rule::{Level, Rule};
pub use schema::schema;

use schemars::JsonSchema;
use serde::Serialize;

use crate::diag::Severity;

/// The version of the format; its major part changes only if a field goes or changes meaning.
pub const FORMAT_VERSION: &str = "1.0";

/// What every command of lockctl prints with `--format json`: one object.
///
/// Fields and words are only ever added as long as the major part of the version stands, so pass
/// over those that you do not know.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(title = "Output of lockctl")]
pub struct Document {
    /// The version of this format, as in `1.0`.
    #[schemars(extend("pattern" = r"^1\.[0-9]+$"))]
    pub format_version: &'static str,
    /// The command, as in `verify`.
    pub command: &'static str,
    /// The exit code of the program: 0 done, and clean; 1 done, and the answer is bad; 2 the job
    /// could not be done; 129 `merge` could write nothing.
    pub exit: u8,
    /// One for each root, in the order given; empty for `diff`, `hash` and `explain`, which are not
    /// about roots.
    pub roots: Vec<Root>,
    /// One for each package, in the order given; only of `hash`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<Package>,
    /// One for each lock file that differs, ordered by path; only of `diff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<File>>,
    /// What to think of all changes; only of `diff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Rules: all of them by topic, or those that were named, in that order; only of `explain`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// Directories with configuration that no root covers, where roots were looked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_locked: Vec<String>,
    /// Figures over everything above.
    pub summary: Summary,
}

/// How one root came out: a directory that holds, or would hold, a lock file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Root {
    /// The directory, as typed; of `merge` the lock file.
    pub path: String,
    /// Whose rules applied, as in `terraform@1.11`; null where that was not found out.
    pub flavor: Option<String>,
    /// Whether it is in order.
    pub status: Status,
    /// What is wrong or worth knowing.
    pub findings: Vec<Finding>,
    /// What was found, and what the project file says not to tell; it counts for nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub turned_off: Vec<TurnedOff>,
    /// What was mended, before the findings were made; only of `verify --fix`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed: Option<Vec<Fixed>>,
    /// Operations that failed.
    pub failures: Vec<Failure>,
    /// What the command has to say about each provider.
    pub providers: Vec<Provider>,
    /// What the programs will do with each provider on each wanted platform, by each route; only of
    /// `verify --matrix`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matrix: Option<Vec<MatrixRow>>,
    /// Every module, each before those that it calls; only of `tree`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modules: Option<Vec<Module>>,
    /// What makes git call lockctl where the root is; only of `git status`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_settings: Option<Vec<GitSetting>>,
    /// Whether anything was, or would be, written; absent where a command never writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<bool>,
}

/// Whether something is in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Nothing is wrong.
    Clean,
    /// The job was done, and the answer is bad.
    Findings,
    /// The job could not be done.
    Failed,
}

/// An operation that failed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Failure {
    /// What failed.
    pub title: String,
    /// Why, outermost cause first.
    pub causes: Vec<String>,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// Figures over all roots, files and packages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Summary {
    /// How many roots there were.
    pub roots: usize,
    /// How many packages there were; absent unless there were some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packages: Option<usize>,
    /// How many lock files differ; only of `diff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<usize>,
    /// How many errors were found.
    pub errors: usize,
    /// How many warnings were found.
    pub warnings: usize,
    /// How many notes were found.
    pub notes: usize,
    /// How many roots, files or packages failed.
    pub failed: usize,
    /// How many directories with configuration no root covers; absent unless roots were looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_locked: Option<usize>,
}

impl From<&super::Failure> for Failure {
    fn from(failure: &super::Failure) -> Self {
        Self {
            title: failure.title.clone(),
            causes: failure.causes.clone(),
            help: failure.help.clone(),
        }
    }
}

impl Summary {
    /// Counts what everything came to.
    #[must_use]
    pub fn of(roots: &[Root], packages: &[Package], files: Option<&[File]>) -> Self {
        let mut summary = Self {
            roots: roots.len(),
            packages: Some(packages.len()).filter(|count| *count > 0),
            files: files.map(<[File]>::len),
            ..Self::default()
        };
        let files = files.unwrap_or_default();
        let findings = roots.iter().flat_map(|root| &root.findings);
        for finding in findings.chain(files.iter().flat_map(|file| &file.findings)) {
            match finding.severity {
                Severity::Error => summary.errors += 1,
                Severity::Warning => summary.warnings += 1,
                Severity::Note => summary.notes += 1,
            }
        }
        let statuses = roots.iter().map(|root| root.status);
        let statuses = statuses.chain(files.iter().map(|file| file.status));
        summary.failed = statuses.filter(|status| *status == Status::Failed).count();
        let refused = |package: &&Package| matches!(package, Package::Failed(_));
        summary.failed += packages.iter().filter(refused).count();
        summary
    }
}
