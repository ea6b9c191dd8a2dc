//! The one JSON object that a command prints: a contract, to which fields are only ever added.
//!
//! [`Document`] borrows what a `CommandResult` holds and resolves the places of findings. The schema in the
//! repository is made of these types: comments on them are for its readers.

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

pub use change::{Change, File, PastChange, Side};
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
pub use rule::{Level, Rule, Topic};
pub use schema::schema;

use std::fmt::Display;
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

pub use super::Failure;
use super::{CommandResult, RootResult, Subject};
use crate::diag::{Counts, Texts};
pub use crate::review::Verdict;

/// The version of the format; its major part changes only if a field goes or changes meaning.
pub const FORMAT_VERSION: &str = "1.0";

/// What every command of lockctl prints with `--format json`: one object.
///
/// Fields and words are only ever added as long as the major part of the version is the same, so
/// ignore those that you do not know.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(title = "Output of lockctl")]
pub struct Document<'a> {
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
    pub roots: Vec<Root<'a>>,
    /// One for each package, in the order given; only of `hash`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<&'a Package>,
    /// One for each lock file that differs, ordered by path; only of `diff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<File>>,
    /// What to think of all changes; only of `diff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<&'a Verdict>,
    /// Topics: all of them, or those that were named, in that order; only of `explain`.
    #[serde(skip_serializing_if = "<[Topic]>::is_empty")]
    pub topics: &'a [Topic],
    /// Rules: all of them by heading, or those that were named, in that order; only of `explain`.
    #[serde(skip_serializing_if = "<[Rule]>::is_empty")]
    pub rules: &'a [Rule],
    /// Directories with configuration that no root covers, where roots were looked for.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub not_locked: &'a [String],
    /// Figures over everything above.
    pub summary: Summary,
}

/// How one root came out: a directory that holds, or would hold, a lock file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Root<'a> {
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
    pub fixed: Option<&'a [Fixed]>,
    /// Operations that failed.
    pub failures: Vec<&'a Failure>,
    /// What the command has to say about each provider.
    pub providers: &'a [Provider],
    /// What the programs will do with each provider on each wanted platform, by each route; only of
    /// `verify --matrix`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matrix: Option<&'a [MatrixRow]>,
    /// Every module, each before those that it calls; only of `tree`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modules: Option<Vec<Module>>,
    /// What makes git call lockctl where the root is; only of `git status`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_settings: Option<&'a [GitSetting]>,
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

impl Status {
    /// Returns the exit code that it stands for.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Findings => 1,
            Self::Failed => 2,
        }
    }
}

/// Names a path of a root, or in one, as the readers of a format know it.
pub type Naming<'a> = &'a dyn Fn(&RootResult, &str) -> String;

impl<'a> Document<'a> {
    /// Makes the object for a result, with paths as they were typed.
    #[must_use]
    pub fn of(result: &'a CommandResult) -> Self {
        let as_typed = |_: &RootResult, path: &str| path.to_owned();
        let roots: Vec<Root<'a>> = result
            .roots()
            .iter()
            .map(|root| Root::of(root, &result.texts, &as_typed))
            .collect();
        let mut packages: Vec<&Package> = Vec::new();
        let (mut topics, mut rules): (&[Topic], &[Rule]) = (&[], &[]);
        let (mut files, mut verdict) = (None, None);
        match &result.subject {
            Subject::Roots(_) | Subject::Text(_) => {}
            Subject::Files(all) => {
                let changed = all.files.iter().filter(|file| file.is_worth_a_row());
                let rows = changed.map(|file| File::of(file, &result.texts));
                files = Some(rows.collect::<Vec<_>>());
                verdict = Some(&all.verdict);
            }
            Subject::Packages(all) => {
                packages = all.iter().map(|one| &one.package).collect();
            }
            Subject::Pages(of_topics, of_rules) => (topics, rules) = (of_topics, of_rules),
        }
        Self {
            format_version: FORMAT_VERSION,
            command: result.command,
            exit: result.exit,
            summary: Summary {
                not_locked: result.not_locked.as_ref().map(Vec::len),
                ..Summary::of(&roots, &packages, files.as_deref())
            },
            roots,
            packages,
            files,
            verdict,
            topics,
            rules,
            not_locked: result.not_locked.as_deref().unwrap_or_default(),
        }
    }
}

/// Prints the object for a result.
///
/// # Errors
/// What the writer says.
pub fn render(out: &mut dyn Write, result: &CommandResult) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Document::of(result))?;
    writeln!(out)
}

impl<'a> Root<'a> {
    /// Resolves the places of a root's findings.
    #[must_use]
    pub fn of(root: &'a RootResult, texts: &Texts, naming: Naming<'_>) -> Self {
        let name = |path: &str| naming(root, path);
        let findings = root.findings();
        let turned_off = root.turned_off.iter();
        let branches = root.branches.as_ref();
        Self {
            path: name(&root.path),
            flavor: root.flavor.map(|flavor| flavor.to_string()),
            status: root.status,
            findings: findings.map(|one| Finding::of(one, texts, &name)).collect(),
            turned_off: turned_off
                .map(|off| TurnedOff {
                    finding: Finding::of(&off.finding, texts, &name),
                    reason: off.reason.clone(),
                })
                .collect(),
            fixed: root.fixed.as_deref(),
            failures: root.failures().collect(),
            providers: &root.providers,
            matrix: root.matrix.as_deref(),
            modules: branches.map(|all| all.in_order().map(Module::of).collect()),
            git_settings: root.git_settings.as_deref(),
            changed: root.changed,
        }
    }
}

impl Summary {
    /// Counts what everything came to.
    #[must_use]
    pub fn of(roots: &[Root<'_>], packages: &[&Package], files: Option<&[File]>) -> Self {
        let mut summary = Self {
            roots: roots.len(),
            packages: Some(packages.len()).filter(|count| *count > 0),
            files: files.map(<[File]>::len),
            ..Self::default()
        };
        let files = files.unwrap_or_default();
        let findings = roots.iter().flat_map(|root| &root.findings);
        let findings = findings.chain(files.iter().flat_map(|file| &file.findings));
        let counts = Counts::of(findings.map(|finding| finding.severity));
        (summary.errors, summary.warnings) = (counts.errors, counts.warnings);
        summary.notes = counts.notes;
        let statuses = roots.iter().map(|root| root.status);
        let statuses = statuses.chain(files.iter().map(|file| file.status));
        summary.failed = statuses.filter(|status| *status == Status::Failed).count();
        let refused = |package: &&&Package| matches!(package, Package::Failed(_));
        summary.failed += packages.iter().filter(refused).count();
        summary
    }
}

/// Writes a value as the text that it is parsed from.
pub(super) fn text<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// As [`text`]; null if there is no value.
pub(super) fn optional_text<T: Display, S: Serializer>(
    value: &Option<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.collect_str(value),
        None => serializer.serialize_none(),
    }
}
