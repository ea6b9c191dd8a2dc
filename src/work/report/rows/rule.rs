//! Rules, the kinds of fault that have a name, and topics.

use serde::Serialize;

use crate::diag::Level;

/// A rule: a kind of fault that has a name.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Rule"))]
pub struct RuleRow {
    /// Its name, as in the field of that name of findings.
    pub rule: &'static str,
    /// The level of its findings unless a project file says otherwise.
    pub level: Level,
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
