//! The findings, changes and failures of a command: each fact once.

use serde::Serialize;

use super::groups::grouped;
use super::rows::{
    ConfiguredModuleRow, ConvertedProvider, FileEdits, MirrorBundle, PackageRow, PageMatchRow,
    Provider, RuleRow, StoreReport, SymptomRow, TopicRow,
};
use super::{Failure, Tone};
use crate::addr::ProviderAddr;
use crate::config::Branches;
use crate::coverage::CoverageProof;
use crate::diag::{self, Diagnostic, Finding, Severity, Texts, TurnedOff, counted, rules};
use crate::flavor::Flavor;
use crate::git::EffectiveSetting;
use crate::requirement::MissingValues;
use crate::review::{FileComparison, Verdict};
use crate::sources::release_changes::ReleaseChanges;
use crate::verify::fix::Repair;
use crate::verify::matrix::PredictionRow;

/// The job was done, and nothing is wrong.
pub const CLEAN: u8 = 0;
/// The job was done, and the answer is bad.
pub const FINDINGS: u8 = 1;
/// The job could not be done.
pub const FAILED: u8 = 2;

/// Everything that a command found, in the order in which it found it.
///
/// All formats are renderings of this value; none of them changes it or adds to it.
#[derive(Clone, Debug)]
pub struct CommandResult {
    /// The command, as typed.
    pub command: &'static str,
    /// The exit code of the program.
    pub exit: u8,
    /// The things that the command is about.
    pub subject: ResultSubject,
    /// Remarks about the run as a whole.
    pub remarks: Vec<Sentence>,
    /// Directories with configuration that no root covers, if roots were searched for.
    pub not_locked: Option<Vec<String>>,
    /// The number of roots that were passed over because no file of them changed, if that was asked for.
    pub unchanged: Option<usize>,
    /// The files that are edited, if any are.
    pub edits: Option<FileEdits>,
    /// The bundle that the packages were written into, if one was requested.
    pub bundle: Option<MirrorBundle>,
    /// A document in its own format; it replaces all other output.
    pub document: Option<String>,
    /// The texts of the files with findings.
    pub texts: Texts,
}

/// The things that a command is about.
#[derive(Clone, Debug)]
pub enum ResultSubject {
    /// Root module directories, in the order given.
    Roots(Vec<RootResult>),
    /// Lock files that were compared.
    Files(ComparedFiles),
    /// Packages, in the order given.
    Packages(Vec<PackageResult>),
    /// Topics and rules: all of them, or those that were named.
    Pages(Vec<TopicRow>, Vec<RuleRow>),
    /// Pages that have the words that were searched, the best first.
    Matches(Vec<PageMatchRow>),
    /// Errors of `terraform` or `tofu`, in the order of their output.
    Symptoms(Vec<SymptomRow>),
    /// The differences between releases of providers.
    Releases(Vec<ReleaseChanges>),
    /// The facts that are kept about packages, and a text as in [`ResultSubject::Text`].
    Store(Box<StoreReport>, Vec<u8>),
    /// A text, printed unchanged, in the format for people only.
    Text(Vec<u8>),
}

/// Lock files, each with two compared versions.
#[derive(Clone, Debug)]
pub struct ComparedFiles {
    /// The files, ordered by path.
    pub files: Vec<FileResult>,
    /// The name of each file is worth printing: not if two files were named.
    pub are_named: bool,
    /// The verdict on all changes.
    pub verdict: Verdict,
    /// The differences between the releases that were locked before and are now, if that was asked for.
    pub releases: Option<Vec<ReleaseChanges>>,
}

/// The comparison of one lock file.
#[derive(Clone, Debug)]
pub struct FileResult {
    /// Both versions, and what differs.
    pub comparison: FileComparison,
    /// Clean if the file could be compared, and is no worse than is allowed.
    pub status: RootStatus,
    /// The reasons why a version could not be read.
    pub failures: Vec<Failure>,
}

impl FileResult {
    /// Returns whether something changed, or could not be compared.
    #[must_use]
    pub fn is_worth_a_row(&self) -> bool {
        !self.comparison.review.is_empty() || self.status == RootStatus::Failed
    }
}

/// The hashes of one package.
#[derive(Clone, Debug)]
pub struct PackageResult {
    /// The package with its hashes, or why it has none.
    pub package: PackageRow,
    /// Remarks on unusual properties of the package.
    pub remarks: Vec<Sentence>,
}

/// The state of a root, a file or a package after a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, schemars(rename = "Status"))]
pub enum RootStatus {
    /// Nothing is wrong here.
    Clean,
    /// The job was done, and the answer is bad.
    Findings,
    /// The job could not be done.
    Failed,
}

/// A sentence about something that has no place in a file and no rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// The tone of the sentence.
    pub tone: Tone,
    /// The sentence, without a severity in front.
    pub text: String,
}

/// The result of a command for one root.
#[derive(Clone, Debug)]
pub struct RootResult {
    /// The directory, as typed; of `merge` the lock file.
    pub path: String,
    /// Whose rules applied, if that was found out.
    pub flavor: Option<Flavor>,
    /// The worst that happened to the root.
    pub status: RootStatus,
    /// Findings, failures and remarks, in the order of their addition.
    pub entries: Vec<ResultEntry>,
    /// The outcome in one sentence.
    pub verdict: Option<Sentence>,
    /// A row for each provider; the kind depends on the command.
    pub providers: Vec<Provider>,
    /// True if anything was, or would be, written; `None` for commands that never write.
    pub changed: Option<bool>,
    /// The values that are not known and that no provider depends on.
    pub missing_values: MissingValues,
    /// The part that only some commands have.
    pub detail: RootDetail,
}

/// The part of a root's result that only some commands have.
#[derive(Clone, Debug)]
pub enum RootDetail {
    /// The root has no such part.
    Plain,
    /// A lock file that was checked.
    Check(CheckDetail),
    /// A lock file that was, or would be, written.
    Lock(LockDetail),
    /// The tree of modules.
    Modules(Branches),
    /// Modules with what they hold.
    Configuration(Vec<ConfiguredModuleRow>),
    /// The settings that make git call lockctl.
    GitSettings(Vec<EffectiveSetting>),
    /// The changes of git's settings and attributes, one line each.
    GitChanges(Vec<String>),
    /// Findings about advisories that the project file ignores.
    Audit(Vec<TurnedOff>),
}

/// The parts of the configuration of a root that were not seen: what only they require is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NotSeen {
    /// Number of module calls whose modules are not visible.
    pub modules: usize,
    /// Fetching modules may help.
    #[serde(skip)]
    pub can_fetch: bool,
    /// Number of files that Terragrunt generates and whose contents only a run knows.
    pub generated_files: usize,
    /// The state is not visible.
    pub state: bool,
}

impl NotSeen {
    /// Says in a part of a verdict what was not seen of roots; nothing if everything was.
    #[must_use]
    pub fn of_roots(roots: &[Self]) -> Option<String> {
        let modules: usize = roots.iter().map(|root| root.modules).sum();
        let concerned = roots.iter().filter(|root| root.modules > 0).count();
        let states = roots.iter().filter(|root| root.state).count();
        let of_roots = |count: usize| match roots.len() {
            1 => String::new(),
            _ => format!(" of {}", counted(count, "root")),
        };
        let mut parts = Vec::new();
        if modules > 0 {
            let hint = if roots.iter().any(|root| root.can_fetch) {
                " (`--modules fetch`)"
            } else {
                ""
            };
            let (modules, of_roots) = (counted(modules, "module"), of_roots(concerned));
            parts.push(format!("{modules}{of_roots} not seen{hint}"));
        }
        let files: usize = roots.iter().map(|root| root.generated_files).sum();
        if files > 0 {
            let concerned = roots.iter().filter(|root| root.generated_files > 0).count();
            let (files, of_roots) = (counted(files, "generated file"), of_roots(concerned));
            parts.push(format!("{files}{of_roots} not seen"));
        }
        if states > 0 {
            parts.push(format!("state{} not seen", of_roots(states)));
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// The results of a check beside its findings.
#[derive(Clone, Debug, Default)]
pub struct CheckDetail {
    /// Findings that the project file turned off.
    pub turned_off: Vec<TurnedOff>,
    /// The evidence for the hashes of the wanted platforms.
    pub proof: CoverageProof,
    /// The parts of the configuration that were not seen.
    pub not_seen: NotSeen,
    /// The names of the settings of policies that were not checked.
    pub policy_not_checked: Vec<&'static str>,
    /// The repairs that were made before the findings, if repairs were wanted.
    pub fixed: Option<Vec<Repair>>,
    /// The predictions for each provider, if they were asked for.
    pub matrix: Option<Vec<PredictionRow>>,
}

/// The changes of a lock file beside its entries.
#[derive(Clone, Debug, Default)]
pub struct LockDetail {
    /// A row for each former entry, if the lock file was converted.
    pub converted: Option<Vec<ConvertedProvider>>,
    /// The outcome in words that many roots share, without the name of the root.
    pub outcome: Option<String>,
    /// The changes of the lock file, if they are to be shown.
    pub comparison: Option<Box<FileComparison>>,
}

/// One thing that a command found about a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultEntry {
    /// A fault, or something that a rule has a name for.
    Finding(Box<Finding>, FindingDisplay),
    /// An operation that failed.
    Failure(Failure),
    /// Anything else that is worth knowing.
    Remark(Sentence),
    /// A remark that is worth knowing of a single root; of several, only if everything is shown.
    Detail(Sentence),
}

/// The display of a finding for people; programs get every one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingDisplay {
    /// As a result of the command, with the lines of its place.
    Result,
    /// Beside the results, with the lines of its place.
    Note,
    /// As [`Self::Note`], if everything is shown; else one sentence speaks for all roots.
    Folded,
    /// Beside the results, in one line: it has no place.
    Line,
    /// Not at all: it changes nothing here.
    Hidden,
}

impl RootStatus {
    /// Returns its exit code.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Clean => CLEAN,
            Self::Findings => FINDINGS,
            Self::Failed => FAILED,
        }
    }
}

impl Sentence {
    /// Makes a sentence that all is well.
    pub fn good(text: impl Into<String>) -> Self {
        Self {
            tone: Tone::Good,
            text: text.into(),
        }
    }

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
        let worst = roots
            .iter()
            .map(|root| root.status)
            .max()
            .unwrap_or(RootStatus::Clean);
        Self {
            command,
            exit: worst.exit_code(),
            subject: ResultSubject::Roots(roots),
            remarks: Vec::new(),
            not_locked: None,
            unchanged: None,
            edits: None,
            bundle: None,
            document: None,
            texts,
        }
    }

    /// Makes the result of a command that could not begin.
    #[must_use]
    pub fn failed(command: &'static str, failures: impl IntoIterator<Item = Failure>) -> Self {
        // In JSON only roots have failures, so a run that could not begin has a root, too.
        let mut root = RootResult::new(".");
        for failure in failures {
            root.fail(failure);
        }
        Self::of_roots(command, vec![root], Texts::default())
    }

    /// Makes the clean result of a command that is about something else than roots.
    #[must_use]
    pub fn of(command: &'static str, subject: ResultSubject) -> Self {
        Self {
            subject,
            ..Self::of_roots(command, Vec::new(), Texts::default())
        }
    }

    /// Returns the roots; none if the command is about something else.
    #[must_use]
    pub fn roots(&self) -> &[RootResult] {
        match &self.subject {
            ResultSubject::Roots(roots) => roots,
            _ => &[],
        }
    }

    /// Returns the number of roots, or of lock files that were compared.
    #[must_use]
    pub fn root_count(&self) -> usize {
        match &self.subject {
            ResultSubject::Files(all) => all.files.len(),
            _ => self.roots().len(),
        }
    }

    /// Returns what is printed unchanged, in the format for people only.
    #[must_use]
    pub fn raw_text(&self) -> &[u8] {
        match &self.subject {
            ResultSubject::Text(text) | ResultSubject::Store(_, text) => text,
            _ => &[],
        }
    }

    /// Returns the document in its own format; empty if the command failed before the document was made.
    #[must_use]
    pub fn document_text(&self) -> &[u8] {
        self.document.as_deref().unwrap_or_default().as_bytes()
    }

    /// Returns the failures of all roots, each once and in the order of their first mention, with the
    /// roots that it stopped.
    #[must_use]
    pub fn failures(&self) -> Vec<(&Failure, Vec<&str>)> {
        grouped(
            self.roots()
                .iter()
                .flat_map(|root| root.failures().map(|failure| (failure, root.path.as_str()))),
        )
    }
}

impl RootResult {
    /// Starts the result of a root that is in order so far.
    pub fn new(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            flavor: None,
            status: RootStatus::Clean,
            entries: Vec::new(),
            verdict: None,
            providers: Vec::new(),
            changed: None,
            missing_values: MissingValues::default(),
            detail: RootDetail::Plain,
        }
    }

    /// Returns the results of a check, if the lock file was checked.
    #[must_use]
    pub fn check(&self) -> Option<&CheckDetail> {
        match &self.detail {
            RootDetail::Check(check) => Some(check),
            _ => None,
        }
    }

    /// Returns the findings that the project file turned off.
    #[must_use]
    pub fn turned_off(&self) -> &[TurnedOff] {
        match &self.detail {
            RootDetail::Check(check) => &check.turned_off,
            RootDetail::Audit(turned_off) => turned_off,
            _ => &[],
        }
    }

    /// Returns the changes of the lock file, if it was, or would be, written.
    #[must_use]
    pub fn lock(&self) -> Option<&LockDetail> {
        match &self.detail {
            RootDetail::Lock(lock) => Some(lock),
            _ => None,
        }
    }

    /// Returns the place for changes of the lock file, empty at first.
    pub fn lock_mut(&mut self) -> &mut LockDetail {
        if !matches!(self.detail, RootDetail::Lock(_)) {
            self.detail = RootDetail::Lock(LockDetail::default());
        }
        match &mut self.detail {
            RootDetail::Lock(lock) => lock,
            _ => unreachable!("it was made one above"),
        }
    }

    /// Returns the findings, in the order of their discovery.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.entries.iter().filter_map(|entry| match entry {
            ResultEntry::Finding(finding, _) => Some(&**finding),
            _ => None,
        })
    }

    /// Returns true if there is no lock file, and nothing is wrong with that.
    #[must_use]
    pub fn lacks_lock(&self) -> bool {
        self.status == RootStatus::Clean
            && self.findings().any(|finding| {
                let Diagnostic { code, severity, .. } = &finding.diagnostic;
                *code == rules::LOCK_MISSING && *severity == Severity::Note
            })
    }

    /// Returns the operations that failed.
    pub fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.entries.iter().filter_map(|entry| match entry {
            ResultEntry::Failure(failure) => Some(failure),
            _ => None,
        })
    }

    /// Returns the sentences that no rule has a name for.
    pub fn remarks(&self) -> impl Iterator<Item = &Sentence> {
        self.entries.iter().filter_map(|entry| match entry {
            ResultEntry::Remark(sentence) | ResultEntry::Detail(sentence) => Some(sentence),
            ResultEntry::Finding(..) | ResultEntry::Failure(_) => None,
        })
    }

    /// Adds an operation that failed: the job could not be done.
    pub fn fail(&mut self, failure: Failure) {
        self.entries.push(ResultEntry::Failure(failure));
        self.status = RootStatus::Failed;
    }

    /// Adds findings that prevent the command; they are its answer.
    pub fn refuse(&mut self, findings: impl IntoIterator<Item = Finding>) {
        self.found_beside(findings);
        self.status = self.status.max(RootStatus::Findings);
    }

    /// Adds findings about what is to be done. Returns true if one of them is an error, which forbids it.
    pub fn forbid(&mut self, findings: Vec<Finding>) -> bool {
        let is_forbidden = findings
            .iter()
            .any(|finding| finding.diagnostic.severity == Severity::Error);
        if is_forbidden {
            self.refuse(findings);
        } else {
            self.found_beside(findings);
        }
        is_forbidden
    }

    /// Adds findings that keep nothing from being done: they change no status.
    pub fn found_beside(&mut self, findings: impl IntoIterator<Item = Finding>) {
        let entries = findings
            .into_iter()
            .map(|finding| ResultEntry::Finding(Box::new(finding), FindingDisplay::Note));
        self.entries.extend(entries);
    }

    /// Adds a sentence that is worth knowing.
    pub fn remark(&mut self, text: impl Into<String>) {
        self.entries.push(ResultEntry::Remark(Sentence::note(text)));
    }

    /// Adds a sentence that is worth knowing of a single root.
    pub fn detail(&mut self, text: impl Into<String>) {
        self.entries.push(ResultEntry::Detail(Sentence::note(text)));
    }

    /// Adds a sentence about what is likely to cause a failure.
    pub fn warn(&mut self, text: impl Into<String>) {
        self.entries
            .push(ResultEntry::Remark(Sentence::warning(text)));
    }

    /// Adds something that has a rule but no place in a file.
    pub fn ruled(&mut self, rule: &'static diag::Rule, provider: &ProviderAddr, text: String) {
        let diagnostic = rule.diagnostic(text);
        let finding = Finding::about(provider, diagnostic);
        self.entries.push(ResultEntry::Finding(
            Box::new(finding),
            FindingDisplay::Line,
        ));
    }

    /// Adds findings that only machine formats carry, since they change nothing here.
    pub fn aside<'d>(&mut self, diagnostics: impl IntoIterator<Item = &'d Diagnostic>) {
        for diagnostic in diagnostics {
            self.found(diagnostic, FindingDisplay::Hidden);
        }
    }

    /// Adds a finding with its display for people; it changes no status.
    pub fn found(&mut self, diagnostic: &Diagnostic, display: FindingDisplay) {
        let finding = Finding::from(diagnostic.clone());
        self.entries
            .push(ResultEntry::Finding(Box::new(finding), display));
    }

    /// Adds faults beside the results; an error among them keeps the command from doing its job.
    ///
    /// Notes on values that are not known are about the run: roots of one repository have them alike.
    pub fn faults<'d>(&mut self, diagnostics: impl IntoIterator<Item = &'d Diagnostic>) {
        for diagnostic in diagnostics {
            let about_values = [rules::VARIABLE_NOT_SET, rules::VALUES_UNREADABLE];
            let display = if about_values.contains(&diagnostic.code) {
                FindingDisplay::Folded
            } else {
                FindingDisplay::Note
            };
            self.found(diagnostic, display);
            if diagnostic.severity == Severity::Error {
                self.status = RootStatus::Failed;
            }
        }
    }
}
