//! The text of `lockctl explain -`: each error with what it means and what to do.

use crate::cli::Look;
use crate::diag::Severity;
use crate::report::json::{SymptomEntry, SymptomRow};
use crate::report::{TextBlock, page, reading};

/// Columns by which everything below the title is set in.
const INDENT: &str = "  ";

/// Minimum and maximum width of the text, in columns.
const COLUMNS: std::ops::RangeInclusive<usize> = 30..=100;

/// Returns what people read of the errors.
pub(super) fn blocks(rows: &[SymptomRow], look: Look) -> Vec<TextBlock> {
    if rows.is_empty() {
        let text = "there is no error and no warning of terraform or tofu on standard input";
        return vec![TextBlock::Lines(vec![text.to_owned()])];
    }
    let columns = look.columns.clamp(*COLUMNS.start(), *COLUMNS.end());
    let gap = [TextBlock::Lines(vec![String::new()])];
    let texts: Vec<Vec<TextBlock>> = rows
        .iter()
        .map(|row| {
            vec![
                TextBlock::Remark(reading::tone(row.severity), row.title.clone()),
                TextBlock::Lines(lines(row, columns)),
            ]
        })
        .collect();
    texts.join(&gap[..])
}

fn lines(row: &SymptomRow, columns: usize) -> Vec<String> {
    let subject: Vec<&str> = [&row.provider, &row.version, &row.platform]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    let mut lines = Vec::new();
    if !subject.is_empty() {
        lines.push(format!("{INDENT}{}", subject.join(" ")));
    }
    let Some(meaning) = row.meaning else {
        let text = "not recognised: lockctl knows errors about providers and lock files";
        lines.push(format!("{INDENT}{text}"));
        return lines;
    };
    lines.extend(wrapped(meaning, INDENT, INDENT, columns));
    // Without a word about the lock file, nothing would say that it was looked at.
    match (row.entry, row.findings.is_empty()) {
        (Some(SymptomEntry::Missing), _) => {
            lines.push(format!("{INDENT}the lock file here has no entry for it"));
        }
        (Some(SymptomEntry::Locked), true) => {
            lines.push(format!("{INDENT}verify finds nothing about its entry here"));
        }
        _ => {}
    }
    for finding in &row.findings {
        let severity = match finding.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let place = match (&finding.file, finding.line) {
            (Some(file), Some(line)) => format!(" ({file}:{line})"),
            _ => String::new(),
        };
        lines.extend(wrapped(
            &format!("{severity}[{}]: {}{place}", finding.rule, finding.title),
            &format!("{INDENT}verify: "),
            &format!("{INDENT}  "),
            columns,
        ));
    }
    if let Some(command) = &row.command {
        lines.push(format!("{INDENT}fix: {command}"));
    }
    if let Some(page) = row.page {
        lines.push(format!("{INDENT}more: lockctl explain {page}"));
    }
    lines
}

/// Wraps a text behind its beginning; later lines begin with `below`.
fn wrapped(text: &str, first: &str, below: &str, columns: usize) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let room = columns.saturating_sub(first.len().max(below.len()));
    page::wrapped(&words, room)
        .into_iter()
        .enumerate()
        .map(|(at, line)| format!("{}{line}", if at == 0 { first } else { below }))
        .collect()
}
