//! Errors of `terraform` and `tofu` that were explained, and pages that have searched words.

use serde::Serialize;

use super::finding::FindingRow;
use crate::diag::Severity;

/// An error or a warning that `terraform` or `tofu` printed.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Symptom"))]
pub struct SymptomRow {
    /// The kind of error, as in `package-not-recorded`; absent if it is not recognised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symptom: Option<&'static str>,
    /// The severity that the program gave it.
    pub severity: Severity,
    /// The title, as the program printed it.
    pub title: String,
    /// The text below the title, in one line; of a list the item.
    pub text: String,
    /// The address of the provider that it names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The version that it names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The platform that it names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// The meaning, in one or two sentences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meaning: Option<&'static str>,
    /// The rule or topic whose page explains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<&'static str>,
    /// The command that fixes it; absent where none does, and a finding says what to change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The command fixes nothing: it finds out the cause. Absent where it is the fix.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_question: bool,
    /// The entry of the provider in the lock file of the working directory; absent without a lock file or a
    /// provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<SymptomEntry>,
    /// The mirrors that the program installs the provider from here, and the kept records of its release, where
    /// these may be the cause.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The findings of `verify` about that entry, and those that show the cause.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FindingRow>,
}

/// The state of the entry that an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SymptomEntry {
    /// The lock file has the entry.
    Locked,
    /// The lock file has no such entry.
    Missing,
}

/// A page that has the words that were searched.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "PageMatch"))]
pub struct PageMatchRow {
    /// The name of the rule or topic.
    pub page: &'static str,
    /// The subject of the page, without a period.
    pub summary: &'static str,
    /// The line with most of the words: of the page, or of an error that it explains.
    pub line: String,
}
