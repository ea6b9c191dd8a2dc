//! Findings as workflow commands of GitHub Actions, which show them beside the lines of a change.
//!
//! The runner reads every line of a step: what begins with `::`, or contains `##[`, is a command.
//! So all text stands inside commands that are written here, or is taken apart first.

use std::cmp::Reverse;
use std::io::{self, Write};

use super::rows::Finding;
use super::style::{harmless, harmless_lines};
use super::{Checked, Tone};
use crate::diag::Severity;

/// Writes one command for each finding, failure and remark, each once, and the verdict last.
///
/// Errors come before warnings and these before notes: the runner shows the first ten of each kind,
/// and the first fifty of a job.
///
/// # Errors
/// What the writer says.
pub fn render(out: &mut dyn Write, checked: &Checked<'_>) -> io::Result<()> {
    let title = [("title", format!("lockctl {}", checked.command))];
    for (failure, roots) in checked.failures() {
        let named = checked.roots.len() > 1;
        let of = match named {
            true => format!("{}: ", roots.join(", ")),
            false => String::new(),
        };
        let text = format!("{of}{}", failure.told());
        writeln!(out, "{}", command("error", &title, &text))?;
    }
    let mut findings = checked.findings();
    findings.sort_by_key(|(_, finding)| Reverse(finding.severity));
    for (_, finding) in findings {
        let kind = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        writeln!(
            out,
            "{}",
            command(kind, &properties(finding), &finding.told())
        )?;
    }
    for (tone, text) in &checked.remarks {
        let kind = match tone {
            Tone::Good | Tone::Note => "notice",
            Tone::Warning => "warning",
            Tone::Bad => "error",
        };
        writeln!(out, "{}", command(kind, &title, text))?;
    }
    let verdict = format!("lockctl {}: {}", checked.command, checked.verdict());
    writeln!(out, "{}", harmless(&verdict))
}

/// Returns where a finding is, and its rule as the title.
///
/// Columns are told for a range within one line only: GitHub refuses them for longer ones.
fn properties(finding: &Finding) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    if let Some(file) = &finding.file {
        all.push(("file", file.clone()));
        let is_one_line = finding.line == finding.end_line;
        let numbers = [
            ("line", finding.line),
            ("endLine", finding.end_line),
            ("col", finding.column.filter(|_| is_one_line)),
            ("endColumn", finding.end_column.filter(|_| is_one_line)),
        ];
        let known = numbers.into_iter();
        all.extend(known.filter_map(|(name, n)| Some((name, n?.to_string()))));
    }
    all.push(("title", finding.rule.to_owned()));
    all
}

/// Spells a command, as in `::error file=main.tf,line=5::text`.
fn command(kind: &str, properties: &[(&str, String)], text: &str) -> String {
    let properties = properties.iter();
    let properties = properties.map(|(name, value)| format!("{name}={}", property(value)));
    let properties: Vec<String> = properties.collect();
    format!("::{kind} {}::{}", properties.join(","), data(text))
}

/// Escapes the text behind a command as the runner takes it back.
fn data(text: &str) -> String {
    harmless_lines(text)
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes the value of a property, in which `:` and `,` would end it.
fn property(text: &str) -> String {
    data(&harmless(text))
        .replace(':', "%3A")
        .replace(',', "%2C")
}
