//! Findings: what is wrong, or worth knowing, and where.

use std::sync::Arc;

use serde::Serialize;

use crate::diag::{
    self, Diagnostic, Help, Label, MAX_TEXT, NamedAdvisory, Severity, Share, Texts, shortened,
};
use crate::report::{Sentence, Tone};

/// One finding, with its place resolved.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Finding"))]
pub struct FindingRow {
    /// The name of the rule.
    pub rule: &'static str,
    /// The severity, as the project file sets it.
    pub severity: Severity,
    /// The address of the provider concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The platform of the hash or package concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// The place of the fault.
    #[serde(flatten)]
    pub range: Option<FileRange>,
    /// The fault, in one sentence without a period.
    pub title: String,
    /// The fault at that very place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The next step for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<Help>,
    /// Other places that explain it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Related>,
    /// The number of things concerned among those of their kind; the title has it in words.
    #[serde(skip)]
    pub share: Option<Share>,
    /// The advisory that the finding is about; the rows of providers have more details.
    #[serde(skip)]
    pub advisory: Option<Arc<NamedAdvisory>>,
    /// A remark on the run says the same of all roots.
    #[serde(skip)]
    pub is_folded: bool,
}

/// A sentence that people read beside the results, and that no rule has a name for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Remark"))]
pub struct RemarkRow<'a> {
    /// The severity; it changes no exit code.
    pub severity: Severity,
    /// The sentence, without a period.
    pub text: &'a str,
}

impl<'a> RemarkRow<'a> {
    /// Describes a sentence; one that all is well is a note.
    #[must_use]
    pub fn of(sentence: &'a Sentence) -> Self {
        Self {
            severity: match sentence.tone {
                Tone::Good | Tone::Note => Severity::Note,
                Tone::Warning => Severity::Warning,
                Tone::Bad => Severity::Error,
            },
            text: &sentence.text,
        }
    }
}

/// A place that explains a finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Related {
    /// The file, the line and the column.
    #[serde(flatten)]
    pub range: FileRange,
    /// The meaning of the place; may be empty.
    pub text: String,
}

/// A range of text in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FileRange {
    /// The path of the file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// The line of its end, from 1.
    pub end_line: usize,
    /// The column behind its last character, from 1, in characters.
    pub end_column: usize,
}

/// A finding that the project file turned off: it counts for nothing.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TurnedOff"))]
pub struct TurnedOffRow {
    /// The finding, as it would be reported.
    #[serde(flatten)]
    pub finding: FindingRow,
    /// The reason, in the words of the project file.
    pub reason: String,
}

impl FindingRow {
    /// Finds the place of a finding in its file, which `name` names.
    #[must_use]
    pub fn of(found: &diag::Finding, texts: &Texts, name: &dyn Fn(&str) -> String) -> Self {
        // Only the caller knows whose paths these are: programs of CI count from the top of the repository.
        let mut finding = Self {
            provider: found.provider.as_ref().map(ToString::to_string),
            platform: found.platform.as_ref().map(ToString::to_string),
            share: found.share,
            advisory: found.advisory.clone(),
            ..Self::new(&found.diagnostic, texts)
        };
        let related = finding.related.iter_mut().map(|place| &mut place.range);
        for range in finding.range.iter_mut().chain(related) {
            range.file = name(&range.file);
        }
        finding
    }

    /// Makes a finding of a diagnostic; provider and platform are the caller's to fill in.
    #[must_use]
    pub fn new(diagnostic: &Diagnostic, texts: &Texts) -> Self {
        let place = |label| Related::new(label, texts);
        let (range, detail) = match diagnostic.primary.as_ref().map(place) {
            Some(Related { range, text }) => (Some(range), text),
            None => (None, String::new()),
        };
        Self {
            rule: diagnostic.code,
            severity: diagnostic.severity,
            provider: None,
            platform: None,
            range,
            title: shortened(&diagnostic.title, MAX_TEXT).into_owned(),
            detail: Some(detail).filter(|note| !note.is_empty()),
            help: diagnostic.help.clone(),
            related: diagnostic.related.iter().map(place).collect(),
            share: None,
            advisory: None,
            is_folded: false,
        }
    }
}

impl Related {
    fn new(label: &Label, texts: &Texts) -> Self {
        let start = texts.position(label.file, label.span.start);
        let end = texts.position(label.file, label.span.end);
        Self {
            range: FileRange {
                file: texts.name(label.file).to_owned(),
                line: start.line,
                column: start.column,
                end_line: end.line,
                end_column: end.column,
            },
            text: shortened(&label.note, MAX_TEXT).into_owned(),
        }
    }
}
