//! Findings in the Static Analysis Results Interchange Format, version 2.1.0.
//!
//! What code scanning services read:
//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>. Braces in messages are not
//! doubled (section 3.11.5): no message has arguments, and readers show it unchanged. Our severities
//! have the names of the standard's levels (3.27.10).
//!
//! The standard leaves the order of fields open; it is alphabetical here. A test holds what is written against
//! the schema.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::Checked;
use super::RootRow;
use super::fold::capitalized;
use super::rows::{FileRange, FindingRow, Related};
use super::style::harmless_lines;
use crate::diag::{self, NamedAdvisory, rules};
use crate::hash::Sha256Stream;

/// Maximum number of results: GitHub refuses a run that has more.
const MAX_RESULTS: usize = 25_000;

/// Maximum number of places that explain a result, for each.
const MAX_RELATED: usize = 100;

/// The schema of what is written.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The base of paths inside the repository.
const TOP: &str = "%SRCROOT%";

/// The name of our fingerprints; the number changes with what they are made of.
const FINGERPRINT: &str = "lockctlFinding/v1";

/// Bytes of the digest that a fingerprint has.
const FINGERPRINT_BYTES: usize = 16;

/// Writes a log of one run.
///
/// Results come in the order of the roots, each once; what is turned off follows, suppressed.
/// Columns are counted in code points, from 1, and a range ends before its last column.
///
/// # Errors
/// What the writer says.
pub fn render(out: &mut dyn Write, checked: &Checked<'_>) -> io::Result<()> {
    let (results, left_out) = results(checked);
    let mut notifications: Vec<Value> = checked
        .failures(usize::MAX - 1)
        .iter()
        .map(|text| json!({ "level": "error", "message": message(text) }))
        .collect();
    if left_out > 0 {
        let text = format!("{left_out} more results are not shown here");
        notifications.push(json!({ "level": "warning", "message": message(&text) }));
    }
    let log = json!({
        "$schema": SCHEMA,
        "runs": [{
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": checked.is_complete(),
                "exitCode": checked.exit,
                "toolExecutionNotifications": notifications,
            }],
            "originalUriBaseIds": {
                TOP: { "description": { "text": "the top of the repository" } },
            },
            "results": results.all,
            "tool": {
                "driver": {
                    "name": "lockctl",
                    "rules": results.rules.iter().map(SarifRule::describe).collect::<Vec<_>>(),
                    "version": env!("CARGO_PKG_VERSION"),
                },
            },
        }],
        "version": "2.1.0",
    });
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

/// Results on their way, with what they refer to.
#[derive(Default)]
struct Results {
    all: Vec<Value>,
    /// The rules of the results, in the order of their first use.
    rules: Vec<SarifRule>,
    /// Number of earlier findings with the same fingerprint but for its count.
    seen: BTreeMap<String, usize>,
}

/// A kind of result: each advisory is a rule, so that services count and dismiss it separately.
#[derive(Clone, PartialEq, Eq)]
enum SarifRule {
    Named(&'static str),
    Advisory(Arc<NamedAdvisory>),
}

/// Makes the results, as many as may be, and counts those that are left out.
fn results(checked: &Checked<'_>) -> (Results, usize) {
    let mut results = Results::default();
    let mut left_out = 0;
    let found = checked
        .findings()
        .into_iter()
        .map(|(root, finding)| (root, finding, None));
    let off = checked
        .turned_off()
        .into_iter()
        .map(|(root, off)| (root, &off.finding, Some(off.reason.as_str())));
    for (root, finding, reason) in found.chain(off) {
        // Those of the project file come last, so what is suppressed is left out first.
        if results.all.len() < MAX_RESULTS {
            results.add(root, finding, reason);
        } else {
            left_out += 1;
        }
    }
    (results, left_out)
}

impl Results {
    fn add(&mut self, root: &RootRow<'_>, finding: &FindingRow, reason: Option<&str>) {
        let rule = match &finding.advisory {
            Some(advisory) => SarifRule::Advisory(Arc::clone(advisory)),
            None => SarifRule::Named(finding.rule),
        };
        let index = self
            .rules
            .iter()
            .position(|known| known.id() == rule.id())
            .unwrap_or_else(|| {
                self.rules.push(rule.clone());
                self.rules.len() - 1
            });
        let fingerprint = self.fingerprint(finding);
        let place = match &finding.range {
            Some(range) => location(&range.file, Some(region(range)), ""),
            // GitHub refuses a result without any place.
            None => location(&format!("{}/", root.path.trim_end_matches('/')), None, ""),
        };
        let mut result = json!({
            "level": finding.severity,
            "locations": [place],
            "message": message(&finding.lines()),
            "partialFingerprints": { FINGERPRINT: fingerprint },
        });
        // Provider and platform are no fields of the standard.
        let properties: BTreeMap<&str, &String> = [
            ("platform", &finding.platform),
            ("provider", &finding.provider),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.as_ref()?)))
        .collect();
        if !properties.is_empty() {
            result["properties"] = json!(properties);
        }
        let related: Vec<Value> = finding
            .related
            .iter()
            .take(MAX_RELATED)
            .map(|Related { range, text }| location(&range.file, Some(region(range)), text))
            .collect();
        if !related.is_empty() {
            result["relatedLocations"] = related.into();
        }
        result["ruleId"] = rule.id().into();
        result["ruleIndex"] = index.into();
        // An empty list would say that suppressions were looked for (3.27.23).
        if let Some(reason) = reason {
            // The project file is not the file that the finding is in (3.35).
            result["suppressions"] =
                json!([{ "justification": harmless_lines(reason), "kind": "external" }]);
        }
        self.all.push(result);
    }

    /// Hashes what stays the same when lines move: rule, provider, platform, file, and a count of
    /// those that are alike.
    fn fingerprint(&mut self, finding: &FindingRow) -> String {
        // Lines and titles are left out: they change with edits elsewhere, and services would report
        // the finding as a new one.
        let advisory = finding.advisory.as_ref().map(|advisory| &*advisory.id);
        let parts = [
            advisory.or(Some(finding.rule)),
            finding.provider.as_deref(),
            finding.platform.as_deref(),
            finding.range.as_ref().map(|range| &*range.file),
        ];
        let parts = parts.map(Option::unwrap_or_default).join("\0");
        let count = self.seen.entry(parts.clone()).or_default();
        *count += 1;
        let mut stream = Sha256Stream::default();
        stream.update(format!("{parts}\0{count}").as_bytes());
        let digest = stream.finish();
        digest[..FINGERPRINT_BYTES]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

/// Describes a rule of the table, with its page as the help.
fn rule(name: &str) -> Value {
    let rule = diag::named(name);
    // A page begins with headings; the first text below them says what the rule means.
    let first_paragraph = rule
        .page
        .split("\n\n")
        .find(|part| !part.starts_with('#'))
        .unwrap_or(rule.meaning);
    json!({
        "defaultConfiguration": { "enabled": !rule.is_off, "level": rule.severity },
        "fullDescription": { "text": first_paragraph.trim_end().replace('\n', " ") },
        "help": { "markdown": rule.page, "text": rule.page },
        "id": rule.name,
        "shortDescription": { "text": format!("{}.", capitalized(rule.meaning)) },
    })
}

impl SarifRule {
    fn id(&self) -> &str {
        match self {
            Self::Named(name) => name,
            Self::Advisory(advisory) => &advisory.id,
        }
    }

    fn describe(&self) -> Value {
        let advisory = match self {
            Self::Named(name) => return rule(name),
            Self::Advisory(advisory) => advisory,
        };
        let names = advisory.aliases.join(", ");
        let names = if names.is_empty() {
            advisory.id.clone()
        } else {
            format!("{} ({names})", advisory.id)
        };
        let summary = if advisory.summary.is_empty() {
            &names
        } else {
            &advisory.summary
        };
        // The text comes from a database, so it is not put into fields that are rendered as Markdown.
        let mut described = json!({
            "defaultConfiguration": rule(rules::KNOWN_VULNERABILITY)["defaultConfiguration"],
            "fullDescription": message(summary),
            "help": message(&format!("{names}: {summary}")),
        });
        if advisory.url.starts_with("https://") {
            described["helpUri"] = advisory.url.clone().into();
        }
        described["id"] = advisory.id.clone().into();
        described["shortDescription"] = message(summary);
        described
    }
}

fn location(file: &str, region: Option<Value>, text: &str) -> Value {
    // On Windows `/x` lacks a drive and is not absolute, but it is not below the repository either.
    let is_absolute = Path::new(file).is_absolute() || file.starts_with('/');
    let artifact = match file.split_once(":/") {
        _ if !is_absolute => json!({ "uri": encoded(file), "uriBaseId": TOP }),
        // A drive is written behind a slash, with its colon unescaped (RFC 8089, E.2).
        Some((drive, rest)) if drive.len() == 1 => {
            json!({ "uri": format!("file:///{drive}:/{}", encoded(rest)) })
        }
        _ => json!({ "uri": format!("file://{}", encoded(file)) }),
    };
    let mut place = json!({ "artifactLocation": artifact });
    if let Some(region) = region {
        place["region"] = region;
    }
    if text.is_empty() {
        json!({ "physicalLocation": place })
    } else {
        json!({ "message": message(text), "physicalLocation": place })
    }
}

/// Encodes a path with `/` between its parts for a URI: every character that could have another meaning there.
fn encoded(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        // What RFC 3986, 2.3, calls unreserved stays readable, and so does the slash between parts.
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// Makes a range of text; lines and columns count from 1, and the last column is not part of it (3.30).
fn region(range: &FileRange) -> Value {
    json!({
        "endColumn": range.end_column,
        "endLine": range.end_line,
        "startColumn": range.column,
        "startLine": range.line,
    })
}

/// Makes a message without links from foreign text (section 3.11.6).
fn message(text: &str) -> Value {
    json!({ "text": harmless_lines(text).replace("](", "] (") })
}
