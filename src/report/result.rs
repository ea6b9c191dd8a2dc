//! What a command found, changed and could not do: each fact once.

use std::collections::BTreeMap;

use serde::Serialize;

use super::rows::{
    ConvertedProvider, EvaluatedExpression, Fixed, GitSetting, MatrixRow, Package, Provider, Rule,
    StoreReport, Topic, VersionsInUse,
};
use super::{Failure, Tone};
use crate::addr::ProviderAddr;
use crate::config::Branches;
use crate::diag::{self, Diagnostic, Finding, Severity, Texts, TurnedOff};
use crate::flavor::Flavor;
use crate::review::{FileComparison, Verdict};

/// Everything that a command found, in the order in which it found it.
///
/// All formats are renderings of this value; none of them changes it or adds to it.
#[derive(Clone, Debug)]
pub struct CommandResult {
    /// The command, as typed.
    pub command: &'static str,
    /// The exit code of the program.
    pub exit: u8,
    /// What the command is about.
    pub subject: Subject,
    /// What is worth knowing about the run as a whole.
    pub remarks: Vec<Sentence>,
    /// Directories with configuration that no root covers, if roots were searched for.
    pub not_locked: Option<Vec<String>>,
    /// Which versions the roots lock, if that was compared.
    pub versions_in_use: Option<VersionsInUse>,
    /// The texts of the files in which findings are.
    pub texts: Texts,
}

/// What a command is about.
#[derive(Clone, Debug)]
pub enum Subject {
    /// Root module directories, in the order given.
    Roots(Vec<RootResult>),
    /// Lock files that were compared.
    Files(Files),
    /// Packages, in the order given.
    Packages(Vec<PackageResult>),
    /// Topics and rules: all of them, or those that were named.
    Pages(Vec<Topic>, Vec<Rule>),
    /// The facts that are kept about packages, and a text as in [`Subject::Text`].
    Store(Box<StoreReport>, Vec<u8>),
    /// A text, printed unchanged, in the format for people only.
    Text(Vec<u8>),
}

/// What a command found out about lock files of which two versions were compared.
#[derive(Clone, Debug)]
pub struct Files {
    /// The files, ordered by path.
    pub files: Vec<FileResult>,
    /// Whether the name of each file is worth saying: not if two files were named.
    pub are_named: bool,
    /// What to think of all changes.
    pub verdict: Verdict,
}

/// What a command found out about one lock file.
#[derive(Clone, Debug)]
pub struct FileResult {
    /// Both versions, and what differs.
    pub comparison: FileComparison,
    /// Whether it could be compared, and is no worse than is allowed.
    pub status: Status,
    /// Why a version could not be read.
    pub failures: Vec<Failure>,
}

impl FileResult {
    /// Returns whether something changed, or could not be compared.
    #[must_use]
    pub fn is_worth_a_row(&self) -> bool {
        !self.comparison.review.is_empty() || self.status == Status::Failed
    }
}

/// What a command found out about one package.
#[derive(Clone, Debug)]
pub struct PackageResult {
    /// The package with its hashes, or why it has none.
    pub package: Package,
    /// What is unusual about it.
    pub remarks: Vec<Sentence>,
}

/// Whether something is in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Nothing is wrong.
    Clean,
    /// The job was done, and the answer is bad.
    Findings,
    /// The job could not be done.
    Failed,
}

/// A sentence about something that has no place in a file and no rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// How serious it is.
    pub tone: Tone,
    /// The sentence.
    pub text: String,
}

/// What a command found out about one root.
#[derive(Clone, Debug)]
pub struct RootResult {
    /// The directory, as typed; of `merge` the lock file.
    pub path: String,
    /// Whose rules applied, if that was found out.
    pub flavor: Option<Flavor>,
    /// Whether it is in order.
    pub status: Status,
    /// What was found, what failed, and what else is worth knowing.
    pub entries: Vec<RootEntry>,
    /// Findings that the project file turned off.
    pub turned_off: Vec<TurnedOff>,
    /// How it came out, in one sentence.
    pub verdict: Option<Sentence>,
    /// What was repaired before the findings were made, if repairs were wanted.
    pub fixed: Option<Vec<Fixed>>,
    /// What there is to report about each provider.
    pub providers: Vec<Provider>,
    /// What became of each entry, if the lock file was converted.
    pub converted: Option<Vec<ConvertedProvider>>,
    /// What the programs will do with each provider, if that was asked for.
    pub matrix: Option<Vec<MatrixRow>>,
    /// The tree of modules, if that was asked for.
    pub branches: Option<Branches>,
    /// What an expression came to, if one was evaluated.
    pub evaluated: Option<EvaluatedExpression>,
    /// What makes git call lockctl, if that was asked for.
    pub git_settings: Option<Vec<GitSetting>>,
    /// Whether anything was, or would be, written, if the command ever writes.
    pub changed: Option<bool>,
    /// What was, or would be, written elsewhere than in the lock file, one line each.
    pub lines: Vec<String>,
    /// What would change in the lock file, if that was asked for.
    pub comparison: Option<Box<FileComparison>>,
    /// Commands that help names for this root, each with the one that does the same for all roots of
    /// the run; empty where there is one root only.
    pub commands: Vec<(String, String)>,
}

/// One thing that a command found about a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootEntry {
    /// A fault, or something that a rule has a name for.
    Finding(Finding, Shown),
    /// An operation that failed.
    Failure(Failure),
    /// Anything else that is worth knowing.
    Remark(Sentence),
}

/// How people see a finding; programs get every one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// As a result of the command, with the lines of its place.
    Result,
    /// Beside the results, with the lines of its place.
    Note,
    /// Beside the results, in one line: it has no place.
    Line,
    /// Not at all: it changes nothing here.
    Hidden,
}

impl Status {
    /// Returns its exit code.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Findings => 1,
            Self::Failed => 2,
        }
    }
}

impl Sentence {
    /// Makes a sentence that is worth knowing.
    pub fn note(text: impl Into<String>) -> Self {
        Self {
            tone: Tone::Note,
            text: text.into(),
        }
    }

    /// Makes a sentence about what is likely to cause a failure.
    pub fn warning(text: impl Into<String>) -> Self {
        Self {
            tone: Tone::Warning,
            text: text.into(),
        }
    }
}

impl CommandResult {
    /// Puts results about roots together. The exit code is that of the worst of them.
    #[must_use]
    pub fn of_roots(command: &'static str, roots: Vec<RootResult>, texts: Texts) -> Self {
        let worst = roots.iter().map(|root| root.status).max();
        Self {
            command,
            exit: worst.unwrap_or(Status::Clean).exit_code(),
            subject: Subject::Roots(roots),
            remarks: Vec::new(),
            not_locked: None,
            versions_in_use: None,
            texts,
        }
    }

    /// Makes the result of a command that could not begin.
    #[must_use]
    pub fn failed(command: &'static str, failures: impl IntoIterator<Item = Failure>) -> Self {
        let mut root = RootResult::new(".");
        for failure in failures {
            root.fail(failure);
        }
        Self::of_roots(command, vec![root], Texts::default())
    }

    /// Makes the clean result of a command that is about something else than roots.
    #[must_use]
    pub fn of(command: &'static str, subject: Subject) -> Self {
        Self {
            subject,
            ..Self::of_roots(command, Vec::new(), Texts::default())
        }
    }

    /// Returns the roots; none if the command is about something else.
    #[must_use]
    pub fn roots(&self) -> &[RootResult] {
        match &self.subject {
            Subject::Roots(roots) => roots,
            _ => &[],
        }
    }

    /// Returns what is printed unchanged, in the format for people only.
    #[must_use]
    pub fn raw_text(&self) -> &[u8] {
        match &self.subject {
            Subject::Text(text) | Subject::Store(_, text) => text,
            _ => &[],
        }
    }

    /// Returns the failures of all roots, each once and in the order of their first mention, with the
    /// roots that it stopped.
    #[must_use]
    pub fn failures(&self) -> Vec<(&Failure, Vec<&str>)> {
        let mut order: Vec<(&Failure, Vec<&str>)> = Vec::new();
        let mut known = BTreeMap::new();
        for root in self.roots() {
            for failure in root.failures() {
                let at = *known.entry(failure).or_insert(order.len());
                if at == order.len() {
                    order.push((failure, Vec::new()));
                }
                order[at].1.push(&root.path);
            }
        }
        order
    }
}

impl RootResult {
    /// Starts the result of a root that is in order so far.
    pub fn new(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            flavor: None,
            status: Status::Clean,
            entries: Vec::new(),
            turned_off: Vec::new(),
            verdict: None,
            fixed: None,
            providers: Vec::new(),
            converted: None,
            matrix: None,
            branches: None,
            evaluated: None,
            git_settings: None,
            changed: None,
            lines: Vec::new(),
            comparison: None,
            commands: Vec::new(),
        }
    }

    /// Returns what was found, in the order in which it was found.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.entries.iter().filter_map(|entry| match entry {
            RootEntry::Finding(finding, _) => Some(finding),
            _ => None,
        })
    }

    /// Returns the operations that failed.
    pub fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.entries.iter().filter_map(|entry| match entry {
            RootEntry::Failure(failure) => Some(failure),
            _ => None,
        })
    }

    /// Adds an operation that failed: the job could not be done.
    pub fn fail(&mut self, failure: Failure) {
        self.entries.push(RootEntry::Failure(failure));
        self.status = Status::Failed;
    }

    /// Adds findings because of which nothing is done: they are the answer.
    pub fn refuse(&mut self, findings: impl IntoIterator<Item = Finding>) {
        let findings = findings.into_iter();
        let entries = findings.map(|finding| RootEntry::Finding(finding, Shown::Note));
        self.entries.extend(entries);
        self.status = self.status.max(Status::Findings);
    }

    /// Adds a sentence that is worth knowing.
    pub fn remark(&mut self, text: impl Into<String>) {
        self.entries.push(RootEntry::Remark(Sentence::note(text)));
    }

    /// Adds a sentence about what is likely to cause a failure.
    pub fn warn(&mut self, text: impl Into<String>) {
        self.entries
            .push(RootEntry::Remark(Sentence::warning(text)));
    }

    /// Adds something that has a rule but no place in a file.
    pub fn ruled(&mut self, rule: &'static diag::Rule, provider: &ProviderAddr, text: String) {
        let diagnostic = rule.diagnostic(text);
        let finding = Finding::about(provider, diagnostic);
        self.entries.push(RootEntry::Finding(finding, Shown::Line));
    }

    /// Adds findings that only machine formats carry, since they change nothing here.
    pub fn aside<'d>(&mut self, diagnostics: impl IntoIterator<Item = &'d Diagnostic>) {
        for diagnostic in diagnostics {
            let finding = Finding::from(diagnostic.clone());
            self.entries
                .push(RootEntry::Finding(finding, Shown::Hidden));
        }
    }

    /// Adds faults beside the results; an error among them keeps the command from doing its job.
    pub fn faults<'d>(&mut self, diagnostics: impl IntoIterator<Item = &'d Diagnostic>) {
        for diagnostic in diagnostics {
            let finding = Finding::from(diagnostic.clone());
            self.entries.push(RootEntry::Finding(finding, Shown::Note));
            if diagnostic.severity == Severity::Error {
                self.status = Status::Failed;
            }
        }
    }
}
