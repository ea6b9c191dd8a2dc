//! Findings as a JUnit report, which the test tabs of CI systems show.
//!
//! A root is a test suite. Each of its providers is a test, so that the tab names what is in order,
//! too, and follows each from run to run; what is about no single provider has a test of its own.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite, XmlString};

use super::Checked;
use super::rows::{FindingRow, Provider};
use super::style::harmless_lines;
use super::{RootRow, RootStatus};
use crate::diag::Severity;

/// The test that fails if a root cannot be checked.
const POSSIBLE: &str = "everything could be checked";

/// The test that takes what is about no single provider.
const WHOLE: &str = "lock file and configuration";

/// Writes one test suite for each root.
///
/// # Errors
/// What the writer says.
pub fn render(out: &mut dyn Write, checked: &Checked<'_>) -> io::Result<()> {
    let mut report = Report::new(format!("lockctl {}", checked.command));
    for root in &checked.roots {
        report.add_test_suite(suite(root));
    }
    let text = report.to_string().map_err(io::Error::other)?;
    out.write_all(text.as_bytes())
}

fn suite(root: &RootRow<'_>) -> TestSuite {
    let mut suite = TestSuite::new(xml(&root.path));
    if let Some(flavor) = &root.flavor {
        suite.add_property(("flavor", flavor.as_str()));
    }
    // In JUnit a `failure` is a test that failed, an `error` one that could not run.
    let mut possible = match root.status {
        RootStatus::Failed => TestCaseStatus::non_success(NonSuccessKind::Error),
        _ => TestCaseStatus::success(),
    };
    if root.status == RootStatus::Failed {
        let texts: Vec<String> = root
            .failures
            .iter()
            .map(|failure| failure.lines())
            .collect();
        // Configuration with errors leaves the failure to its findings.
        match root.failures.first() {
            Some(first) => possible
                .set_message(xml(&first.title))
                .set_description(xml(&texts.join("\n\n"))),
            None => possible.set_message("the configuration could not be read"),
        };
    }
    suite.add_test_case(case(root, POSSIBLE, possible));
    for (provider, about) in by_provider(root) {
        let mut case = case(root, provider.unwrap_or(WHOLE), status(&about.findings));
        if let Some(first) = about
            .findings
            .iter()
            .find_map(|finding| finding.range.as_ref())
        {
            // Not part of every dialect of JUnit; GitLab shows it as the file of the test.
            case.extra.insert("file".into(), xml(&first.file));
        }
        if !about.aside.is_empty() {
            case.set_system_out(xml(&about.aside.join("\n\n")));
        }
        suite.add_test_case(case);
    }
    suite
}

/// The entries of a report about one provider.
#[derive(Default)]
struct CaseEntries<'a> {
    /// Errors and warnings, the worst first.
    findings: Vec<&'a FindingRow>,
    /// Notes, and what is turned off.
    aside: Vec<String>,
}

/// Puts what there is to say where it belongs: with what is about no single provider, or with one
/// of those that are locked or that something is said about.
fn by_provider<'a>(root: &'a RootRow<'_>) -> BTreeMap<Option<&'a str>, CaseEntries<'a>> {
    let mut all: BTreeMap<Option<&str>, CaseEntries<'_>> = BTreeMap::new();
    // A test that comes and goes with its findings would have gaps in its history.
    all.entry(None).or_default();
    for provider in root.providers {
        if let Provider::Checked(provider) = provider {
            all.entry(Some(&provider.provider)).or_default();
        }
    }
    for finding in &root.findings {
        let about = all.entry(finding.provider.as_deref()).or_default();
        match finding.severity {
            Severity::Note => about.aside.push(said(finding)),
            Severity::Warning | Severity::Error => about.findings.push(finding),
        }
    }
    for off in &root.turned_off {
        let about = all.entry(off.finding.provider.as_deref()).or_default();
        let text = format!("turned off, because {}: {}", off.reason, said(&off.finding));
        about.aside.push(text);
    }
    for about in all.values_mut() {
        // The first of them gives the failure its message and its type.
        about
            .findings
            .sort_by_key(|finding| Reverse(finding.severity));
    }
    all
}

fn case(root: &RootRow<'_>, name: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(xml(name), status);
    case.set_classname(xml(&root.path));
    case
}

/// Returns a success, or a failure that names the worst finding first.
fn status(findings: &[&FindingRow]) -> TestCaseStatus {
    let Some(worst) = findings.first() else {
        return TestCaseStatus::success();
    };
    // A tab shows the message in its list, and the description behind it.
    let message = match findings.len() {
        1 => worst.title.clone(),
        n => format!("{} (and {} more)", worst.title, n - 1),
    };
    let texts: Vec<String> = findings.iter().map(|finding| said(finding)).collect();
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status
        .set_message(xml(&message))
        .set_type(worst.rule)
        .set_description(xml(&texts.join("\n\n")));
    status
}

fn said(finding: &FindingRow) -> String {
    let severity = finding.severity.name();
    let place = finding
        .place()
        .map(|place| format!("{place}: "))
        .unwrap_or_default();
    format!("{place}{severity}[{}]: {}", finding.rule, finding.lines())
}

/// Makes text of what XML may hold: two characters that are none (XML 1.0, 2.2) are harmless elsewhere.
fn xml(text: &str) -> XmlString {
    XmlString::new(harmless_lines(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}"))
}
