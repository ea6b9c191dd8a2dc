//! The one JSON object that a command prints: a contract, to which fields are only ever added.

use serde::Serialize;

use crate::diag::{Diagnostic, Label, Rule, Severity, Texts};

/// The version of the format; its major part changes only if a field goes or changes meaning.
pub const FORMAT_VERSION: &str = "1.0";

/// What a command prints with `--format json`.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    /// [`FORMAT_VERSION`].
    pub format_version: &'static str,
    /// The command, as typed.
    pub command: &'static str,
    /// The exit code of the program.
    pub exit: u8,
    /// One for each root, in the order given.
    pub roots: Vec<Root>,
    /// One for each package, in the order given; only of `hash`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<serde_json::Value>,
    /// One for each lock file that differs, ordered by path; only of `diff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<serde_json::Value>>,
    /// What to think of all changes; only of `diff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Directories with configuration that no root covers, where roots were looked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_locked: Vec<String>,
    /// Figures over all roots.
    pub summary: Summary,
}

/// What to think of changes.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// How much the worst of them matters: routine, notice, warning or danger.
    pub risk: &'static str,
    /// What happened, in one sentence.
    pub text: String,
}

/// How one root came out.
#[derive(Clone, Debug, Serialize)]
pub struct Root {
    /// The directory, as typed.
    pub path: String,
    /// Whose rules applied, as in `terraform@1.11`.
    pub flavor: Option<String>,
    /// Whether it is in order.
    pub status: Status,
    /// What is wrong or worth knowing.
    pub findings: Vec<Finding>,
    /// What was found, and what the project file says not to tell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub turned_off: Vec<TurnedOff>,
    /// Operations that failed.
    pub failures: Vec<Failure>,
    /// What the command has to say about each provider.
    pub providers: Vec<serde_json::Value>,
    /// Every module, each before those that it calls; only of `tree`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modules: Option<Vec<serde_json::Value>>,
    /// Whether the lock file was, or would be, written; absent where a command never writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<bool>,
}

/// Whether a root is in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Nothing is wrong.
    Clean,
    /// The job was done, and the answer is bad.
    Findings,
    /// The job could not be done.
    Failed,
}

/// One finding.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The name of the rule.
    pub rule: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The provider concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The platform concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column, from 1, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// The line on which it ends, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<usize>,
    /// The column behind its last character, from 1, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_column: Option<usize>,
    /// What is wrong.
    pub title: String,
    /// What exactly is wrong at that place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Other places that explain it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Related>,
}

/// A place that explains a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Related {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// The line on which it ends, from 1.
    pub end_line: usize,
    /// The column behind its last character, from 1, in characters.
    pub end_column: usize,
    /// What there is to see; may be empty.
    pub text: String,
}

/// A finding that the project file turned off: it counts for nothing.
#[derive(Clone, Debug, Serialize)]
pub struct TurnedOff {
    /// What was found.
    #[serde(flatten)]
    pub finding: Finding,
    /// Why it is off, in the words of the project file.
    pub reason: String,
}

/// An operation that failed.
#[derive(Clone, Debug, Serialize)]
pub struct Failure {
    /// What failed.
    pub title: String,
    /// Why, outermost cause first.
    pub causes: Vec<String>,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// Figures over all roots.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Summary {
    /// How many roots there were.
    pub roots: usize,
    /// How many errors were found.
    pub errors: usize,
    /// How many warnings were found.
    pub warnings: usize,
    /// How many notes were found.
    pub notes: usize,
    /// How many roots or packages failed.
    pub failed: usize,
    /// How many directories with configuration no root covers; absent unless roots were looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_locked: Option<usize>,
}

impl Finding {
    /// Makes a finding of a diagnostic; provider and platform are the caller's to fill in.
    #[must_use]
    pub fn new(diagnostic: &Diagnostic, texts: &Texts) -> Self {
        let place = diagnostic.primary.as_ref();
        let place = place.map(|label| Related::new(label, texts));
        let related = diagnostic.related.iter();
        Self {
            rule: diagnostic.code,
            severity: diagnostic.severity,
            provider: None,
            platform: None,
            line: place.as_ref().map(|place| place.line),
            column: place.as_ref().map(|place| place.column),
            end_line: place.as_ref().map(|place| place.end_line),
            end_column: place.as_ref().map(|place| place.end_column),
            file: place.as_ref().map(|place| place.file.clone()),
            title: diagnostic.title.clone(),
            detail: place
                .map(|place| place.text)
                .filter(|note| !note.is_empty()),
            help: diagnostic.help.clone(),
            related: related.map(|label| Related::new(label, texts)).collect(),
        }
    }

    /// Makes a finding that has no place in a file.
    #[must_use]
    pub fn without_place(rule: &Rule, title: String) -> Self {
        Self {
            rule: rule.name,
            severity: rule.severity,
            provider: None,
            platform: None,
            file: None,
            line: None,
            column: None,
            end_line: None,
            end_column: None,
            title,
            detail: None,
            help: None,
            related: Vec::new(),
        }
    }
}

impl Related {
    fn new(label: &Label, texts: &Texts) -> Self {
        let start = texts.position(label.file, label.span.start);
        let end = texts.position(label.file, label.span.end);
        Self {
            file: texts.name(label.file).to_owned(),
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
            text: label.note.clone(),
        }
    }
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
    /// Counts what the roots and packages came to.
    #[must_use]
    pub fn of(roots: &[Root], packages: &[serde_json::Value]) -> Self {
        let failed = packages
            .iter()
            .filter(|package| package.get("failure").is_some());
        let mut summary = Self {
            roots: roots.len(),
            failed: failed.count(),
            ..Self::default()
        };
        for root in roots {
            summary.failed += usize::from(root.status == Status::Failed);
            for finding in &root.findings {
                match finding.severity {
                    Severity::Error => summary.errors += 1,
                    Severity::Warning => summary.warnings += 1,
                    Severity::Note => summary.notes += 1,
                }
            }
        }
        summary
    }
}
