//! Findings in the Static Analysis Results Interchange Format, version 2.1.0.
//!
//! What code scanning services read:
//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>. Braces in messages are not
//! doubled (section 3.11.5): no message has arguments, and readers show it as it is.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use serde_sarif::sarif::{
    ArtifactLocation, Invocation, Location, Message, MultiformatMessageString, Notification,
    PhysicalLocation, PropertyBag, Region, ReportingConfiguration, ReportingDescriptor,
    Result as Found, ResultColumnKind, ResultLevel, Run, Sarif, Suppression, ToolComponent,
};

use super::Checked;
use super::human::harmless_lines;
use super::json::{Finding, Related, Root};
use crate::diag::{self, Rule, Severity};
use crate::hash::Sha256Stream;

/// How many results are told: GitHub refuses a run that has more.
const MAX_RESULTS: usize = 25_000;

/// How many places that explain a result are told, for each.
const MAX_RELATED: usize = 100;

/// The schema of what is written.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// What paths inside the repository start from.
const TOP: &str = "%SRCROOT%";

/// The name of our fingerprints; the number changes with what they are made of.
const FINGERPRINT: &str = "lockctlFinding/v1";

/// How many bytes of the digest a fingerprint has.
const FINGERPRINT_BYTES: usize = 16;

/// Writes a log of one run.
///
/// Results come in the order of the roots, each once; what is turned off follows, suppressed.
/// Columns are counted in code points, from 1, and a range ends before its last column.
///
/// # Errors
/// What the writer says.
pub fn render(out: &mut dyn Write, checked: &Checked) -> io::Result<()> {
    let (results, left_out) = results(checked);
    let mut failures = failures(checked);
    if left_out > 0 {
        let text = format!("{left_out} more results are not told here");
        failures.push(notification(&text, "warning"));
    }
    let invocation = Invocation::builder()
        .execution_successful(checked.is_complete())
        .exit_code(i64::from(checked.exit))
        .tool_execution_notifications(failures)
        .build();
    let top = ArtifactLocation::builder()
        .description("the top of the repository")
        .build();
    let rules = results.rules.iter().map(|name| rule(name));
    let tool = ToolComponent::builder()
        .name("lockctl")
        .version(env!("CARGO_PKG_VERSION"))
        .rules(rules.collect::<Vec<_>>())
        .build();
    let run = Run::builder()
        .tool(tool)
        .column_kind(serde_json::to_value(ResultColumnKind::UnicodeCodePoints)?)
        .original_uri_base_ids(BTreeMap::from([(TOP.to_owned(), top)]))
        .invocations(vec![invocation])
        .results(results.all)
        .build();
    let log = Sarif::builder()
        .schema(SCHEMA)
        .version("2.1.0")
        .runs(vec![run])
        .build();
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

/// Results on their way, with what they refer to.
#[derive(Default)]
struct Results {
    all: Vec<Found>,
    /// The rules of the results, in the order of their first use.
    rules: Vec<&'static str>,
    /// How often there was a finding with the same fingerprint but for its count.
    seen: BTreeMap<String, usize>,
}

/// Makes the results, as many as may be, and counts those that are left out.
fn results(checked: &Checked) -> (Results, usize) {
    let mut results = Results::default();
    let mut left_out = 0;
    let found = checked.findings().into_iter();
    let found = found.map(|(root, finding)| (root, finding, None));
    let off = checked.turned_off().into_iter();
    let off = off.map(|(root, off)| (root, &off.finding, Some(off.reason.as_str())));
    for (root, finding, reason) in found.chain(off) {
        if results.all.len() < MAX_RESULTS {
            results.add(root, finding, reason);
        } else {
            left_out += 1;
        }
    }
    (results, left_out)
}

impl Results {
    fn add(&mut self, root: &Root, finding: &Finding, reason: Option<&str>) {
        let known = self.rules.iter().position(|name| *name == finding.rule);
        let index = known.unwrap_or_else(|| {
            self.rules.push(finding.rule);
            self.rules.len() - 1
        });
        let fingerprint = self.fingerprint(finding);
        let mut result = Found::builder()
            .rule_id(finding.rule)
            .rule_index(i64::try_from(index).unwrap_or(i64::MAX))
            .level(level(finding.severity))
            .message(message(&finding.told()))
            .locations(vec![location(root, finding)])
            .partial_fingerprints(BTreeMap::from([(FINGERPRINT.to_owned(), fingerprint)]))
            .build();
        let related: Vec<Location> = finding.related.iter().take(MAX_RELATED).map(see).collect();
        result.related_locations = (!related.is_empty()).then_some(related);
        result.properties = properties(finding);
        result.suppressions = reason.map(|reason| {
            let suppression = Suppression::builder()
                .kind("external")
                .justification(harmless_lines(reason))
                .build();
            vec![suppression]
        });
        self.all.push(result);
    }

    /// Hashes what stays the same when lines move: rule, provider, platform, file, and a count of
    /// those that are alike.
    fn fingerprint(&mut self, finding: &Finding) -> String {
        let parts = [
            Some(finding.rule),
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
        let bytes = digest[..FINGERPRINT_BYTES].iter();
        bytes.map(|byte| format!("{byte:02x}")).collect()
    }
}

fn properties(finding: &Finding) -> Option<PropertyBag> {
    let known = [
        ("provider", &finding.provider),
        ("platform", &finding.platform),
    ];
    let known = known.into_iter();
    let known = known.filter_map(|(name, value)| Some((name.to_owned(), value.clone()?.into())));
    let bag = PropertyBag {
        additional_properties: known.collect(),
        ..PropertyBag::default()
    };
    (!bag.additional_properties.is_empty()).then_some(bag)
}

/// Describes a rule of the table, with its page as the help.
fn rule(name: &str) -> ReportingDescriptor {
    let rule = diag::named(name);
    let level = match rule.severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    let usual = ReportingConfiguration::builder()
        .level(level)
        .enabled(!rule.is_off)
        .build();
    let help = MultiformatMessageString::builder()
        .text(rule.page())
        .markdown(rule.page())
        .build();
    ReportingDescriptor::builder()
        .id(rule.name)
        .short_description(MultiformatMessageString::from(&sentence(rule.meaning)))
        .full_description(MultiformatMessageString::from(&described(rule)))
        .help(help)
        .default_configuration(usual)
        .build()
}

/// Returns the first paragraph of a page: what the rule means at length.
fn described(rule: &Rule) -> String {
    let mut parts = rule.page().split("\n\n");
    let paragraph = parts.find(|part| !part.starts_with('#'));
    paragraph
        .unwrap_or(rule.meaning)
        .trim_end()
        .replace('\n', " ")
}

/// Makes a sentence of a meaning as it stands in the table.
fn sentence(meaning: &str) -> String {
    let mut rest = meaning.chars();
    let first = rest.next().into_iter().flat_map(char::to_uppercase);
    format!("{}{}.", first.collect::<String>(), rest.as_str())
}

fn level(severity: Severity) -> ResultLevel {
    match severity {
        Severity::Note => ResultLevel::Note,
        Severity::Warning => ResultLevel::Warning,
        Severity::Error => ResultLevel::Error,
    }
}

/// Returns where a finding is; the directory of its root if it has no place in a file, since a
/// result without any place is refused by GitHub.
fn location(root: &Root, finding: &Finding) -> Location {
    let place = match (&finding.file, finding.line, finding.column) {
        (Some(file), Some(line), Some(column)) => {
            let end_line = finding.end_line.unwrap_or(line);
            let end_column = finding.end_column.unwrap_or(column);
            PhysicalLocation::builder()
                .artifact_location(artifact(file))
                .region(region((line, column), (end_line, end_column)))
                .build()
        }
        (file, ..) => {
            let dir = || format!("{}/", root.path.trim_end_matches('/'));
            let path = file.clone().unwrap_or_else(dir);
            PhysicalLocation::builder()
                .artifact_location(artifact(&path))
                .build()
        }
    };
    Location::builder().physical_location(place).build()
}

/// Returns a place that explains a finding.
fn see(related: &Related) -> Location {
    let (start, end) = (
        (related.line, related.column),
        (related.end_line, related.end_column),
    );
    let place = PhysicalLocation::builder()
        .artifact_location(artifact(&related.file))
        .region(region(start, end))
        .build();
    let mut location = Location::builder().physical_location(place).build();
    location.message = (!related.text.is_empty()).then(|| message(&related.text));
    location
}

fn artifact(path: &str) -> ArtifactLocation {
    let is_absolute = Path::new(path).is_absolute() || path.starts_with('/');
    if !is_absolute {
        let location = ArtifactLocation::builder().uri(encoded(path));
        return location.uri_base_id(TOP).build();
    }
    // A drive stands behind a slash, with its colon as it is.
    let uri = match path.split_once(":/") {
        Some((drive, rest)) if drive.len() == 1 => format!("file:///{drive}:/{}", encoded(rest)),
        _ => format!("file://{}", encoded(path)),
    };
    ArtifactLocation::builder().uri(uri).build()
}

/// Encodes a path with `/` between its parts for a URI: whatever could mean something else there.
fn encoded(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

fn region(start: (usize, usize), end: (usize, usize)) -> Region {
    let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    Region::builder()
        .start_line(number(start.0))
        .start_column(number(start.1))
        .end_line(number(end.0))
        .end_column(number(end.1))
        .build()
}

/// Makes a message in which no foreign text is a link (section 3.11.6).
fn message(text: &str) -> Message {
    let text = harmless_lines(text).replace("](", "] (");
    Message::builder().text(text).build()
}

fn failures(checked: &Checked) -> Vec<Notification> {
    let several = checked.roots.len() > 1;
    let failures = checked.failures().into_iter();
    let texts = failures.map(|(failure, roots)| match several {
        true => format!("{}: {}", roots.join(", "), failure.told()),
        false => failure.told(),
    });
    texts.map(|text| notification(&text, "error")).collect()
}

fn notification(text: &str, level: &str) -> Notification {
    Notification::builder()
        .message(message(text))
        .level(level)
        .build()
}
