//! The text of `lockctl explain -`: each error with what it means and what to do.

use crate::diag::Severity;
use crate::report::json::{FindingRow, SymptomEntry, SymptomRow};
use crate::report::{Look, TextBlock, page, reading};

/// Indentation of everything below the title.
const INDENT: &str = "  ";

/// Minimum and maximum width of the text, in columns.
const COLUMNS: std::ops::RangeInclusive<usize> = 30..=100;

/// Returns what people read of the errors.
pub(super) fn blocks(rows: &[SymptomRow], look: Look) -> Vec<TextBlock> {
    if rows.is_empty() {
        let lines = [
            "no error that lockctl knows was found, and no line with `Error: ` or `Warning: `;",
            "give the whole output, as in `terraform init 2>&1 | lockctl explain -`",
        ];
        return vec![TextBlock::Lines(lines.map(str::to_owned).to_vec())];
    }
    let columns = look.columns.clamp(*COLUMNS.start(), *COLUMNS.end());
    let gap = [TextBlock::Lines(vec![String::new()])];
    let mut errors: Vec<Vec<&SymptomRow>> = Vec::new();
    for row in rows {
        // `init` prints the same error for each provider, and one step fixes all of them.
        let is_same = |errors: &&mut Vec<&SymptomRow>| {
            let first = errors[0];
            let fix = |row: &SymptomRow| {
                (
                    row.meaning,
                    row.page,
                    row.command.clone(),
                    row.entry,
                    row.notes.clone(),
                )
            };
            row.meaning.is_some()
                && (first.severity, &first.title) == (row.severity, &row.title)
                && fix(first) == fix(row)
        };
        match errors.iter_mut().find(is_same) {
            Some(same) => same.push(row),
            None => errors.push(vec![row]),
        }
    }
    let texts: Vec<Vec<TextBlock>> = errors
        .iter()
        .map(|same| {
            vec![
                TextBlock::Remark(reading::tone(same[0].severity), same[0].title.clone()),
                TextBlock::Lines(lines(same, columns)),
            ]
        })
        .collect();
    texts.join(&gap[..])
}

/// Explains one error, which may be about several providers.
fn lines(same: &[&SymptomRow], columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = same
        .iter()
        .map(|row| {
            let subject: Vec<&str> = [&row.provider, &row.version, &row.platform]
                .into_iter()
                .flatten()
                .map(String::as_str)
                .collect();
            subject.join(" ")
        })
        .filter(|subject| !subject.is_empty())
        .map(|subject| format!("{INDENT}{subject}"))
        .collect();
    let row = same[0];
    let Some(meaning) = row.meaning else {
        let text = "not recognised: lockctl knows errors about providers and lock files";
        lines.push(format!("{INDENT}{text}"));
        return lines;
    };
    lines.extend(wrapped(meaning, INDENT, INDENT, columns));
    for note in &row.notes {
        lines.extend(wrapped(note, INDENT, INDENT, columns));
    }
    // Without a word about the lock file, nothing would say that it was looked at.
    let findings: Vec<&FindingRow> = same.iter().flat_map(|row| &row.findings).collect();
    match (row.entry, findings.is_empty()) {
        (Some(SymptomEntry::Missing), _) => {
            lines.push(format!("{INDENT}the lock file here has no entry for it"));
        }
        (Some(SymptomEntry::Locked), true) => {
            lines.push(format!("{INDENT}verify finds nothing about its entry here"));
        }
        _ => {}
    }
    for finding in &findings {
        let severity = finding.severity.name();
        let place = match &finding.range {
            Some(range) => format!(" ({}:{})", range.file, range.line),
            None => String::new(),
        };
        lines.extend(wrapped(
            &format!("{severity}[{}]: {}{place}", finding.rule, finding.title),
            &format!("{INDENT}verify: "),
            &format!("{INDENT}  "),
            columns,
        ));
    }
    if let Some(command) = &row.command {
        let word = if row.is_question { "find out" } else { "fix" };
        lines.push(format!("{INDENT}{word}: {command}"));
    } else if let Some(help) = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .find_map(|finding| Some(&*finding.help.as_ref()?.text))
    {
        // No command helps: the configuration is to be edited.
        let below = format!("{INDENT}  ");
        lines.extend(wrapped(help, &format!("{INDENT}fix: "), &below, columns));
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
