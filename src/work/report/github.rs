//! Findings as workflow commands of GitHub Actions, which show them beside the lines of a change.
//!
//! The runner reads every line of a step: what begins with `::`, or contains `##[`, is a command.
//! So all text is put inside commands that are written here, or is escaped first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::fold::{self, FindingIndex, Fold};
use super::rows::FindingRow;
use super::style::{harmless, harmless_lines};
use super::{Checked, RootRow, Tone};
use crate::diag::{self, Severity};

/// Maximum number of findings of one cause that an annotation describes.
const MAX_MEMBERS: usize = 5;

/// Maximum number of annotations of one rule and level; the last of them counts the others.
const MAX_ANNOTATIONS: usize = 10;

/// Maximum number of roots that the annotation of a failure names.
const MAX_ROOTS: usize = 5;

/// An annotation before it is spelled.
struct Annotation {
    kind: &'static str,
    /// The rule, or the command if there is none.
    title: String,
    /// The place, as properties before the title.
    place: Vec<(&'static str, String)>,
    text: String,
}

/// Writes one command for each cause of findings in a root, each failure and remark, each once, and the
/// verdict last; of many with one rule and level the first ones.
///
/// Errors come before warnings and these before notes.
///
/// # Errors
/// What the writer says.
pub fn render(out: &mut dyn Write, checked: &Checked<'_>) -> io::Result<()> {
    let title = format!("lockctl {}", checked.command);
    let beside = |kind, text| Annotation {
        kind,
        title: title.clone(),
        place: Vec::new(),
        text,
    };
    let mut annotations: Vec<Annotation> = checked
        .failures(MAX_ROOTS)
        .into_iter()
        .map(|text| beside("error", text))
        .collect();
    annotations.extend(findings(checked));
    let mut seen = BTreeSet::new();
    for (tone, text) in checked.remarks.iter().filter(|remark| seen.insert(*remark)) {
        let kind = match tone {
            Tone::Good | Tone::Note => "notice",
            Tone::Warning => "warning",
            Tone::Bad => "error",
        };
        annotations.push(beside(kind, text.clone()));
    }
    // The runner shows the first ten of each kind, and the first fifty of a job.
    let mut left: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for annotation in &annotations {
        *left
            .entry((annotation.kind, &annotation.title))
            .or_default() += 1;
    }
    let mut written: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for annotation in &annotations {
        let key = (annotation.kind, annotation.title.as_str());
        let written = written.entry(key).or_default();
        *written += 1;
        let more = left[&key].saturating_sub(MAX_ANNOTATIONS);
        if *written > MAX_ANNOTATIONS {
            continue;
        }
        let mut text = annotation.text.clone();
        if *written == MAX_ANNOTATIONS && more > 0 {
            text += &format!("\nand {more} more annotations like this");
        }
        let mut properties = annotation.place.clone();
        properties.push(("title", annotation.title.clone()));
        writeln!(out, "{}", command(annotation.kind, &properties, &text))?;
    }
    let verdict = format!("lockctl {}: {}", checked.command, checked.verdict());
    writeln!(out, "{}", harmless(&verdict))
}

/// Makes an annotation for each cause of findings in a root, the worst first.
fn findings(checked: &Checked<'_>) -> Vec<Annotation> {
    let mut seen = BTreeSet::new();
    let mut folds: Vec<(&RootRow<'_>, Fold)> = Vec::new();
    for root in &checked.roots {
        // Roots share modules and project files; what is found there is shown with the first.
        let own: Vec<bool> = root
            .findings
            .iter()
            .map(|finding| seen.insert(finding))
            .collect();
        let is_wanted =
            |member: &FindingIndex| own[member.finding] && !root.findings[member.finding].is_folded;
        folds.extend(
            fold::folds(std::slice::from_ref(root), &is_wanted)
                .into_iter()
                .map(|fold| (root, fold)),
        );
    }
    // The sort is stable, so findings of one severity stay in the order of roots and files.
    folds.sort_by_key(|(_, fold)| Reverse(fold.severity));
    folds
        .into_iter()
        .map(|(root, fold)| {
            let first = &root.findings[fold.members[0].finding];
            Annotation {
                kind: match fold.severity {
                    Severity::Error => "error",
                    Severity::Warning => "warning",
                    Severity::Note => "notice",
                },
                title: fold.rule.to_owned(),
                place: place(first),
                text: match fold.members.len() {
                    1 => first.lines(),
                    _ => lines(root, &fold),
                },
            }
        })
        .collect()
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

/// Returns where a finding is, as properties.
fn place(finding: &FindingRow) -> Vec<(&'static str, String)> {
    let Some(range) = &finding.range else {
        return Vec::new();
    };
    let mut all = vec![
        ("file", range.file.clone()),
        ("line", range.line.to_string()),
        ("endLine", range.end_line.to_string()),
    ];
    // GitHub refuses columns of a range over several lines.
    if range.line == range.end_line {
        all.push(("col", range.column.to_string()));
        all.push(("endColumn", range.end_column.to_string()));
    }
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
