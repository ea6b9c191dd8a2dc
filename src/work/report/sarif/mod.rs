//! Findings in the Static Analysis Results Interchange Format, version 2.1.0.
//!
//! What code scanning services read:
//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>. Braces in messages are not
//! doubled (section 3.11.5): no message has arguments, and readers show it unchanged.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use super::Checked;
use super::RootRow;
use super::fold::capitalized;
use super::rows::FindingRow;
use super::style::harmless_lines;
use crate::diag::{self, NamedAdvisory, Severity, rules};
use crate::hash::Sha256Stream;

mod log;

use log::{
    ArtifactLocation, Message, Notification, PhysicalLocation, Region, RuleConfiguration,
    RuleDescriptor, RuleText, SarifDriver, SarifInvocation, SarifLocation, SarifLog, SarifRun,
    Suppression, Tool,
};

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
    let mut failures: Vec<Notification> = checked
        .failures(usize::MAX - 1)
        .iter()
        .map(|text| notification(text, Severity::Error))
        .collect();
    if left_out > 0 {
        let text = format!("{left_out} more results are not shown here");
        failures.push(notification(&text, Severity::Warning));
    }
    let top = ArtifactLocation {
        description: Some(Message {
            text: "the top of the repository".to_owned(),
        }),
        ..ArtifactLocation::default()
    };
    let driver = SarifDriver {
        name: "lockctl",
        rules: results.rules.iter().map(SarifRule::describe).collect(),
        version: env!("CARGO_PKG_VERSION"),
    };
    let run = SarifRun {
        column_kind: "unicodeCodePoints",
        invocations: vec![SarifInvocation {
            execution_successful: checked.is_complete(),
            exit_code: checked.exit,
            tool_execution_notifications: failures,
        }],
        original_uri_base_ids: BTreeMap::from([(TOP, top)]),
        results: results.all,
        tool: Tool { driver },
    };
    let log = SarifLog {
        schema: SCHEMA,
        runs: vec![run],
        version: "2.1.0",
    };
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

/// Results on their way, with what they refer to.
#[derive(Default)]
struct Results {
    all: Vec<log::SarifResult>,
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
        // A region needs a line; a file that cannot be read has none. GitHub refuses a result without
        // any place, so one without a file is at the directory of its root.
        let dir = || format!("{}/", root.path.trim_end_matches('/'));
        let file = finding.file.clone().unwrap_or_else(dir);
        let begin = finding.line.zip(finding.column);
        let region = begin.filter(|_| finding.file.is_some()).map(|begin| {
            let (line, column) = begin;
            let end_line = finding.end_line.unwrap_or(line);
            region(begin, (end_line, finding.end_column.unwrap_or(column)))
        });
        let suppression = reason.map(|reason| Suppression {
            justification: harmless_lines(reason),
            // The project file is not the file that the finding is in (3.35).
            kind: "external",
        });
        self.all.push(log::SarifResult {
            level: finding.severity,
            locations: vec![location(&file, region, "")],
            message: message(&finding.lines()),
            partial_fingerprints: BTreeMap::from([(FINGERPRINT, fingerprint)]),
            properties: properties(finding),
            related_locations: finding
                .related
                .iter()
                .take(MAX_RELATED)
                .map(|place| {
                    let end = (place.end_line, place.end_column);
                    let region = self::region((place.line, place.column), end);
                    location(&place.file, Some(region), &place.text)
                })
                .collect(),
            rule_id: rule.id().to_owned(),
            rule_index: index,
            suppressions: suppression.into_iter().collect(),
        });
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
            finding.file.as_deref(),
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

fn properties(finding: &FindingRow) -> BTreeMap<&'static str, String> {
    let known = [
        ("provider", &finding.provider),
        ("platform", &finding.platform),
    ];
    known
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.clone()?)))
        .collect()
}

/// Describes a rule of the table, with its page as the help.
fn rule(name: &str) -> RuleDescriptor {
    let rule = diag::named(name);
    let text = |text| RuleText {
        markdown: None,
        text,
    };
    // A page begins with headings; the first text below them says what the rule means.
    let first_paragraph = rule
        .page
        .split("\n\n")
        .find(|part| !part.starts_with('#'))
        .unwrap_or(rule.meaning);
    RuleDescriptor {
        default_configuration: RuleConfiguration {
            enabled: !rule.is_off,
            level: rule.severity,
        },
        full_description: text(first_paragraph.trim_end().replace('\n', " ")),
        help: RuleText {
            markdown: Some(rule.page),
            text: rule.page.to_owned(),
        },
        help_uri: None,
        id: rule.name.to_owned(),
        short_description: text(format!("{}.", capitalized(rule.meaning))),
    }
}

impl SarifRule {
    fn id(&self) -> &str {
        match self {
            Self::Named(name) => name,
            Self::Advisory(advisory) => &advisory.id,
        }
    }

    fn describe(&self) -> RuleDescriptor {
        let advisory = match self {
            Self::Named(name) => return rule(name),
            Self::Advisory(advisory) => advisory,
        };
        // The text comes from a database, so it is not put into fields that are rendered as Markdown.
        let text = |text: &str| RuleText {
            markdown: None,
            text: message(text).text,
        };
        let known = rule(rules::KNOWN_VULNERABILITY);
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
        RuleDescriptor {
            full_description: text(summary),
            help: text(&format!("{names}: {summary}")),
            help_uri: Some(advisory.url.clone()).filter(|url| url.starts_with("https://")),
            id: advisory.id.clone(),
            short_description: text(summary),
            ..known
        }
    }
}

fn location(file: &str, region: Option<Region>, text: &str) -> SarifLocation {
    // On Windows `/x` lacks a drive and is not absolute, but it is not below the repository either.
    let is_absolute = Path::new(file).is_absolute() || file.starts_with('/');
    let uri = match file.split_once(":/") {
        _ if !is_absolute => encoded(file),
        // A drive is written behind a slash, with its colon unescaped (RFC 8089, E.2).
        Some((drive, rest)) if drive.len() == 1 => format!("file:///{drive}:/{}", encoded(rest)),
        _ => format!("file://{}", encoded(file)),
    };
    SarifLocation {
        message: (!text.is_empty()).then(|| message(text)),
        physical_location: PhysicalLocation {
            artifact_location: ArtifactLocation {
                uri: Some(uri),
                uri_base_id: (!is_absolute).then_some(TOP),
                ..ArtifactLocation::default()
            },
            region,
        },
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

fn region(start: (usize, usize), end: (usize, usize)) -> Region {
    Region {
        end_column: end.1,
        end_line: end.0,
        start_column: start.1,
        start_line: start.0,
    }
}

/// Makes a message without links from foreign text (section 3.11.6).
fn message(text: &str) -> Message {
    Message {
        text: harmless_lines(text).replace("](", "] ("),
    }
}

fn notification(text: &str, level: Severity) -> Notification {
    Notification {
        level,
        message: message(text),
    }
}
