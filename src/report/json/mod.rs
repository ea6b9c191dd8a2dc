//! The one JSON object that a command prints: a contract, to which fields are only ever added.
//!
//! [`Document`] borrows what a `CommandResult` holds and resolves the places of findings. The schema in the
//! repository is made of these types: comments on them are for its readers.

mod file;
#[cfg(test)]
mod schema;

pub use super::rows::*;
pub use file::File;
#[cfg(test)]
pub(super) use schema::describe_event;

use std::io::{self, Write};

use serde::Serialize;

use super::{CommandResult, RootResult, Subject};
pub use super::{Failure, Root, Status};
use crate::diag::Counts;
pub use crate::review::Verdict;

/// The version of the format; its major part changes only if a field goes or changes meaning.
pub const FORMAT_VERSION: &str = "1.0";

/// What every command of lockctl prints with `--format json`: one object.
///
/// Fields and words are only ever added as long as the major part of the version is the same, so
/// ignore those that you do not know.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(title = "Output of lockctl"))]
pub struct Document<'a> {
    /// The version of this format, as in `1.0`.
    #[cfg_attr(test, schemars(extend("pattern" = r"^1\.[0-9]+$")))]
    pub format_version: &'static str,
    /// The command, as in `verify`.
    pub command: &'static str,
    /// The exit code of the program: 0 done, and clean; 1 done, and the answer is bad; 2 the job
    /// could not be done; 129 `merge` could write nothing.
    pub exit: u8,
    /// One for each root, in the order given; empty for `diff`, `hash`, `explain` and `cache`, which are
    /// not about roots.
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
    /// Providers of which roots lock different versions, by address; only of `lock` and `update` over
    /// several roots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versions_in_use: Option<&'a [ProviderInUse]>,
    /// The facts that are kept about packages; only of `cache`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<&'a StoreReport>,
    /// Directories with configuration that no root covers, where roots were looked for.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub not_locked: &'a [String],
    /// Figures over everything above.
    pub summary: Summary,
}

/// Figures over all roots, files and packages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// How many roots, files or packages failed, and how many files of facts were refused.
    pub failed: usize,
    /// How many directories with configuration no root covers; absent unless roots were looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_locked: Option<usize>,
    /// How many providers are locked at one version wherever they are locked; only of `lock` and `update`
    /// over several roots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreed_versions: Option<usize>,
    /// How many providers are locked at different versions; only of `lock` and `update` over several
    /// roots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub differing_versions: Option<usize>,
}

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
        let (mut files, mut verdict, mut store) = (None, None, None);
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
            Subject::Store(report, _) => store = Some(&**report),
        }
        let in_use = result.versions_in_use.as_ref();
        let mut summary = Summary {
            not_locked: result.not_locked.as_ref().map(Vec::len),
            agreed_versions: in_use.map(|all| all.agreed),
            differing_versions: in_use.map(|all| all.differing.len()),
            ..Summary::of(&roots, &packages, files.as_deref())
        };
        summary.failed += store.map_or(0, |store| store.failures().count());
        Self {
            format_version: FORMAT_VERSION,
            command: result.command,
            exit: result.exit,
            summary,
            roots,
            packages,
            files,
            verdict,
            topics,
            rules,
            versions_in_use: in_use.map(|all| &*all.differing),
            store,
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

/// Prints the object for a result in one line, the last of `--format json-lines`.
///
/// # Errors
/// What the writer says.
pub fn render_line(out: &mut dyn Write, result: &CommandResult) -> io::Result<()> {
    line(out, &Document::of(result))
}

/// Prints one line of `--format json-lines` before the last.
///
/// # Errors
/// What the writer says.
pub fn render_event(out: &mut dyn Write, event: &EventLine) -> io::Result<()> {
    line(out, event)
}

fn line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out)
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
