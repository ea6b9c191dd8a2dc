//! Reports as Markdown of GitHub's kind, for the comment of a pull request.
//!
//! Text from outside is put into code spans or escaped, so that it is shown unchanged: it neither ends a table
//! nor becomes a tag, a link, or a mention that notifies a user.

mod checks;
mod room;
mod screen;
mod text;

use std::io::{self, Write};

pub use checks::checks;

use super::changes::{Details, first_files};
use super::{ChangeLine, Changes, CountedLines, Linked, Remark, TextBlock, Tone};
use room::{Room, height};
use text::{code, escaped, failed, fenced, html};

/// Maximum size of a text, in bytes: forges take 65,536 characters in a comment.
const MAX_BYTES: usize = 60_000;

/// Maximum size of the tables in it, in bytes, so that some details fit behind them.
const MAX_TABLE_BYTES: usize = 40_000;

/// Number of bytes that are left free for the lines about what did not fit.
const RESERVED_BYTES: usize = 2_000;

/// Maximum number of files that are listed with the details of a change before the rest is counted.
const MAX_LISTED_FILES: usize = 50;

/// Number of lines that a table takes beside its rows: its head, the empty line below, and one about what did
/// not fit.
const TABLE_LINES: usize = 5;

/// Number of lines that folded details take beside their own.
const DETAILS_LINES: usize = 6;

/// Writes blocks one after the other; details come last, folded. What does not fit into [`MAX_BYTES`], or into
/// so many lines if a number is given, is counted.
///
/// # Errors
/// What the writer says.
pub fn render(out: &mut dyn Write, blocks: &[TextBlock], lines: Option<usize>) -> io::Result<()> {
    let texts: Vec<Option<String>> = blocks.iter().map(fixed).collect();
    let fixed: usize = texts.iter().flatten().map(String::len).sum();
    let fixed_lines: usize = texts.iter().flatten().map(|text| height(text)).sum();
    let has_details = |block: &TextBlock| matches!(block, TextBlock::Changes(changes) if changes.rows.iter().any(|row| !row.details.is_empty()));
    let tables = blocks
        .iter()
        .filter(|block| matches!(block, TextBlock::Changes(_) | TextBlock::Table(_)));
    let beside_rows = tables.count() * TABLE_LINES
        + blocks.iter().filter(|block| has_details(block)).count() * DETAILS_LINES;
    // Texts of one line are always written; tables and details share what is left.
    let mut room = Room {
        bytes: MAX_BYTES.saturating_sub(fixed + RESERVED_BYTES),
        lines: lines.map_or(usize::MAX, |lines| {
            lines.saturating_sub(fixed_lines + beside_rows)
        }),
    };
    let mut table_room = Room {
        bytes: room.bytes.min(MAX_TABLE_BYTES),
        ..room
    };
    for (block, text) in blocks.iter().zip(&texts) {
        match (block, text) {
            (TextBlock::Changes(changes), _) => {
                let text = table(changes, &mut table_room);
                room.bytes = room.bytes.saturating_sub(text.len());
                out.write_all(text.as_bytes())?;
            }
            (TextBlock::Table(rows), _) => {
                let text = cells(rows, &mut table_room);
                room.bytes = room.bytes.saturating_sub(text.len());
                out.write_all(text.as_bytes())?;
            }
            (_, Some(text)) => out.write_all(text.as_bytes())?,
            (_, None) => {}
        }
    }
    room.lines = table_room.lines;
    let all = blocks.iter().filter_map(|block| match block {
        TextBlock::Changes(changes) => Some(changes),
        _ => None,
    });
    for changes in all {
        details(out, changes, &mut room)?;
    }
    Ok(())
}

/// Returns the number of lines of a block.
#[must_use]
pub fn height_of(block: &TextBlock) -> usize {
    let mut nowhere = io::sink();
    let mut out = CountedLines::new(&mut nowhere);
    // Nothing fails there.
    let _ = render(&mut out, std::slice::from_ref(block), None);
    out.count()
}

/// Writes a block whose length does not depend on the others; nothing for the others.
fn fixed(block: &TextBlock) -> Option<String> {
    Some(match block {
        TextBlock::Verdict(tone, text) => {
            let mark = match tone {
                Tone::Good | Tone::Note => "",
                Tone::Warning | Tone::Bad => "**",
            };
            format!("{mark}{}{mark}\n\n", escaped(text))
        }
        TextBlock::Heading(text) => format!("#### {}\n\n", code(text)),
        TextBlock::Remark(_, text) => format!("{}\n\n", escaped(text)),
        TextBlock::Lines(lines) => format!("{}\n\n", fenced(lines, "")),
        // Our own text, and Markdown already.
        TextBlock::Page(text, _) => text.clone(),
        TextBlock::Failure(failure) => failed(&failure.lines()),
        TextBlock::SharedFailure(failure, roots) => {
            failed(&format!("{}\n{roots}", failure.lines()))
        }
        TextBlock::Changes(_)
        | TextBlock::Diagnostic(_)
        | TextBlock::Several(_)
        | TextBlock::Table(_)
        | TextBlock::Tree(_) => return None,
    })
}

/// Writes the remarks and the rows of a file, or of several, as far as there is room for them: first those
/// that are alarming.
fn table(changes: &Changes, room: &mut Room) -> String {
    let is_folded = changes.rows.iter().any(|row| !row.files().is_empty());
    let remarks: Vec<(Tone, String)> = changes
        .remarks
        .iter()
        .map(|about| (about.tone, remark(about)))
        .collect();
    let rows: Vec<(Tone, String)> = changes
        .rows
        .iter()
        .map(|change| (change.remark.tone, row(change, is_folded)))
        .collect();
    let is_shown = chosen(remarks.iter().chain(&rows), room);
    let mut left_out: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    // In the order of `is_shown`: all remarks, then all rows.
    let grades = changes
        .remarks
        .iter()
        .map(|about| about.grade)
        .chain(changes.rows.iter().map(|row| row.remark.grade));
    for (grade, shown) in grades.zip(&is_shown) {
        if !shown {
            *left_out.entry(grade).or_default() += 1;
        }
    }
    let mut out = String::new();
    if let Some(file) = &changes.file {
        out += &format!("#### {}\n\n", code(file));
    }
    let texts = |from: usize, all: &[(Tone, String)]| -> String {
        all.iter()
            .zip(&is_shown[from..])
            .filter(|(_, shown)| **shown)
            .map(|((_, text), _)| &**text)
            .collect()
    };
    out += &texts(0, &remarks);
    let rows = texts(remarks.len(), &rows);
    if !rows.is_empty() {
        out += if is_folded {
            "| Risk | Provider | Version | Change | Lock files |\n|---|---|---|---|---|\n"
        } else {
            "| Risk | Provider | Version | Change |\n|---|---|---|---|\n"
        };
        out += &rows;
        out.push('\n');
    }
    if !left_out.is_empty() {
        let counts: Vec<String> = left_out
            .iter()
            .map(|(grade, count)| format!("{count} {grade}"))
            .collect();
        out += &format!(
            "More changes do not fit here ({}); `lockctl diff` shows them.\n\n",
            counts.join(", ")
        );
    }
    out
}

/// Chooses the texts that there is room for: first those that are alarming.
fn chosen<'t>(
    texts: impl Iterator<Item = &'t (Tone, String)> + Clone,
    room: &mut Room,
) -> Vec<bool> {
    let is_alarming = |tone: Tone| matches!(tone, Tone::Warning | Tone::Bad);
    let mut is_chosen = vec![false; texts.clone().count()];
    // Two passes over the same texts, so that those that are chosen keep their order.
    for wants_alarming in [true, false] {
        for (is_chosen, (tone, text)) in is_chosen.iter_mut().zip(texts.clone()) {
            if is_alarming(*tone) == wants_alarming {
                *is_chosen = room.try_take(text);
            }
        }
    }
    is_chosen
}

/// Writes a table whose first row is its head, as far as there is room for it.
fn cells(rows: &[Vec<String>], room: &mut Room) -> String {
    let Some((head, rows)) = rows.split_first() else {
        return String::new();
    };
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut out = line(head);
    out += &format!("|{}\n", "---|".repeat(head.len()));
    room.bytes = room.bytes.saturating_sub(out.len());
    let mut left_out = 0;
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .map(|cell| match cell.as_str() {
                "" => String::new(),
                cell => code(cell),
            })
            .collect();
        let text = line(&cells);
        // A shorter row behind it may still fit.
        if !room.try_take(&text) {
            left_out += 1;
            continue;
        }
        out += &text;
    }
    out.push('\n');
    if left_out > 0 {
        out += &format!("{left_out} more rows do not fit here.\n\n");
    }
    out
}

fn remark(about: &Remark) -> String {
    let files = match &*about.files {
        [] => String::new(),
        files if about.names_files() || files.len() == 1 => format!("{}: ", named(files, ", ")),
        files => format!("{} lock files: ", files.len()),
    };
    format!("{}: {files}{}\n\n", grade(about), escaped(&about.text))
}

fn row(row: &ChangeLine, is_folded: bool) -> String {
    // Versions side by side keep a row as low as its text allows.
    let states = row
        .old
        .iter()
        .chain(&row.new)
        .map(linked)
        .collect::<Vec<_>>()
        .join("&nbsp;→&nbsp;");
    let mut text = row.kinds.join(", ");
    if !row.remark.text.is_empty() {
        text += &format!(": {}", escaped(&row.remark.text));
    }
    for deviation in &row.deviations {
        let place = match &*deviation.files {
            [file] => format!("in {}", code(file)),
            files => format!("in {} of them", files.len()),
        };
        text += &format!("<br>{place}: {}", escaped(&deviation.text));
    }
    for remark in &row.beside {
        text += &format!("<br>{}: {}", grade(remark), escaped(&remark.text));
    }
    let files = row.files();
    let files = if !is_folded {
        String::new()
    } else if files.len() > 1 && !row.names_files() {
        format!(" {} |", files.len())
    } else {
        format!(" {} |", named(&files, "<br>"))
    };
    format!(
        "| {} | {} | {states} | {text} |{files}\n",
        grade(&row.remark),
        linked(&row.subject)
    )
}

/// Names the first of some files, and counts the rest.
fn named(files: &[String], separator: &str) -> String {
    let (files, more) = first_files(files);
    let mut names: Vec<String> = files.iter().map(|file| code(file)).collect();
    if more > 0 {
        names.push(format!("and {more} more"));
    }
    names.join(separator)
}

/// Writes the details of the changes, folded, as far as there is room for them.
fn details(out: &mut dyn Write, changes: &Changes, room: &mut Room) -> io::Result<()> {
    let all: Vec<(&ChangeLine, &Details)> = changes
        .rows
        .iter()
        .flat_map(|row| row.details.iter().map(move |details| (row, details)))
        .filter(|(_, details)| !details.lines.is_empty())
        .collect();
    if all.is_empty() {
        return Ok(());
    }
    let of = match &changes.file {
        Some(file) => format!(" of <code>{}</code>", html(file)),
        None => String::new(),
    };
    writeln!(
        out,
        "<details><summary>Constraints and hashes{of}</summary>\n"
    )?;
    let mut left_out = 0;
    for (row, details) in all {
        let mut text = format!("{}\n\n", code(&row.subject.text));
        if !details.files.is_empty() {
            let names = details
                .files
                .iter()
                .take(MAX_LISTED_FILES)
                .map(|file| code(file))
                .collect::<Vec<_>>()
                .join(", ");
            let more = match details.files.len().saturating_sub(MAX_LISTED_FILES) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            text += &format!("In {names}{more}:\n\n");
        }
        text += &format!("{}\n", fenced(&details.lines, "diff"));
        // As above: smaller details behind these may still fit.
        text.push('\n');
        if !room.try_take(&text) {
            left_out += 1;
            continue;
        }
        out.write_all(text.as_bytes())?;
    }
    if left_out > 0 {
        writeln!(
            out,
            "{left_out} more would not fit here: `lockctl diff -v` shows them.\n"
        )?;
    }
    writeln!(out, "</details>\n")
}

fn grade(remark: &Remark) -> String {
    match remark.tone {
        Tone::Warning | Tone::Bad => format!("**{}**", remark.grade),
        Tone::Good | Tone::Note => remark.grade.to_owned(),
    }
}

fn linked(text: &Linked) -> String {
    match &text.url {
        Some(url) => format!("[{}]({url})", code(&text.text)),
        None => code(&text.text),
    }
}
