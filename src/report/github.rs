//! Findings as workflow commands of GitHub Actions, which show them beside the lines of a change.
//!
//! The runner reads every line of a step: what begins with `::`, or contains `##[`, is a command.
//! So all text is put inside commands that are written here, or is escaped first.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::io::{self, Write};

use super::fold::{self, FindingIndex, Fold};
use super::rows::FindingRow;
use super::style::{harmless, harmless_lines};
use super::{Checked, RootRow, Tone};
use crate::diag::{self, Severity};

/// Maximum number of findings of one cause that an annotation describes.
const MAX_MEMBERS: usize = 5;

/// Writes one command for each cause of findings in a root, each failure and remark, each once, and the
/// verdict last.
///
/// Errors come before warnings and these before notes: the runner shows the first ten of each kind,
/// and the first fifty of a job.
///
/// # Errors
/// What the writer says.
pub fn render(out: &mut dyn Write, checked: &Checked<'_>) -> io::Result<()> {
    let title = [("title", format!("lockctl {}", checked.command))];
    for text in checked.failures() {
        writeln!(out, "{}", command("error", &title, &text))?;
    }
    let mut seen = BTreeSet::new();
    let mut annotations: Vec<(&RootRow<'_>, Fold)> = Vec::new();
    for root in &checked.roots {
        // Roots share modules and project files; what is found there is shown with the first.
        let own: Vec<bool> = root
            .findings
            .iter()
            .map(|finding| seen.insert(finding))
            .collect();
        let is_wanted = |member: &FindingIndex| own[member.finding];
        annotations.extend(
            fold::folds(std::slice::from_ref(root), &is_wanted)
                .into_iter()
                .map(|fold| (root, fold)),
        );
    }
    // The sort is stable, so findings of one severity stay in the order of roots and files.
    annotations.sort_by_key(|(_, fold)| Reverse(fold.severity));
    for (root, fold) in annotations {
        let kind = match fold.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        let first = &root.findings[fold.members[0].finding];
        let text = match fold.members.len() {
            1 => first.lines(),
            _ => lines(root, &fold),
        };
        writeln!(out, "{}", command(kind, &properties(first), &text))?;
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

/// Returns what is wrong, a line for each of several findings of a root, and what to do.
fn lines(root: &RootRow<'_>, fold: &Fold) -> String {
    let has_title = diag::named(fold.rule).together.is_some();
    let each = fold
        .members
        .iter()
        .map(|member| &root.findings[member.finding])
        .take(MAX_MEMBERS)
        .map(|finding| {
            let place = finding
                .place()
                .map(|place| format!("{place}: "))
                .unwrap_or_default();
            let detail = finding.detail.iter().map(|detail| format!(" ({detail})"));
            // The title of all says what is wrong with each provider.
            let what = finding
                .provider
                .as_ref()
                .filter(|_| has_title)
                .unwrap_or(&finding.title);
            format!("{place}{what}{}", detail.collect::<String>())
        });
    let more = match fold.members.len().saturating_sub(MAX_MEMBERS) {
        0 => None,
        n => Some(format!("and {n} more")),
    };
    let help = fold.help.iter().map(|help| format!("help: {help}"));
    std::iter::once(fold.title.clone())
        .chain(each)
        .chain(more)
        .chain(help)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns where a finding is, and its rule as the title.
///
/// Columns are stated for a range within one line only: GitHub refuses them for longer ones.
fn properties(finding: &FindingRow) -> Vec<(&'static str, String)> {
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
        all.extend(
            numbers
                .into_iter()
                .filter_map(|(name, n)| Some((name, n?.to_string()))),
        );
    }
    all.push(("title", finding.rule.to_owned()));
    all
}

/// Spells a command, as in `::error file=main.tf,line=5::text`.
fn command(kind: &str, properties: &[(&str, String)], text: &str) -> String {
    let properties: Vec<String> = properties
        .iter()
        .map(|(name, value)| {
            // In a property `:` and `,` would end the value.
            let value = data(&harmless(value))
                .replace(':', "%3A")
                .replace(',', "%2C");
            format!("{name}={value}")
        })
        .collect();
    format!("::{kind} {}::{}", properties.join(","), data(text))
}

/// Escapes the text behind a command as the runner takes it back.
fn data(text: &str) -> String {
    harmless_lines(text)
        // First, or the escapes below would be escaped again.
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}
