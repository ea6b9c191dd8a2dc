//! Findings: what is wrong, or worth knowing, and where.

use serde::Serialize;

use crate::diag::{self, Diagnostic, Label, Rule, Severity, Share, Texts};

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// How many of several things it is about; the title has it in words.
    #[serde(skip)]
    pub share: Option<Share>,
}

/// A place that explains a finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TurnedOff {
    /// What was found.
    #[serde(flatten)]
    pub finding: Finding,
    /// Why it is off, in the words of the project file.
    pub reason: String,
}

impl Finding {
    /// Finds the place of a finding in its file, which `name` names.
    #[must_use]
    pub fn of(found: &diag::Finding, texts: &Texts, name: &dyn Fn(&str) -> String) -> Self {
        let mut finding = Self {
            provider: found.provider.as_ref().map(ToString::to_string),
            platform: found.platform.as_ref().map(ToString::to_string),
            share: found.share,
            ..Self::new(&found.diagnostic, texts)
        };
        let related = finding.related.iter_mut().map(|place| &mut place.file);
        for file in finding.file.iter_mut().chain(related) {
            *file = name(file);
        }
        finding
    }

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
            share: None,
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
            share: None,
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
