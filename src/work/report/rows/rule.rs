//! Rules, the kinds of fault that have a name, and topics.

use serde::Serialize;

use crate::diag::{self, Severity};

/// A rule: a kind of fault that has a name.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Rule"))]
pub struct RuleRow {
    /// Its name, as in the field of that name of findings.
    pub rule: &'static str,
    /// The level of its findings unless a project file says otherwise.
    pub level: RuleLevel,
    /// The heading of its group in the list.
    pub topic: &'static str,
    /// The meaning, in one sentence without a period.
    pub meaning: &'static str,
    /// Its page of documentation, in Markdown; only if the rule was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<&'static str>,
}

/// A topic: a page about lockctl as a whole.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Topic"))]
pub struct TopicRow {
    /// Its name, as typed.
    pub topic: &'static str,
    /// The content of the page, without a period.
    pub summary: &'static str,
    /// Its page of documentation, in Markdown; only if the topic was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<&'static str>,
}

/// The level of the findings of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, schemars(rename = "Level"))]
pub enum RuleLevel {
    /// They are not reported.
    Off,
    /// They are notes, which change no exit code.
    Note,
    /// They are warnings, which count as findings.
    Warning,
    /// They are errors, which count as findings.
    Error,
}

impl From<diag::Level> for RuleLevel {
    fn from(level: diag::Level) -> Self {
        match level {
            diag::Level::Off => Self::Off,
            diag::Level::As(Severity::Note) => Self::Note,
            diag::Level::As(Severity::Warning) => Self::Warning,
            diag::Level::As(Severity::Error) => Self::Error,
        }
    }
}
