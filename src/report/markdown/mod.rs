//! Reports as Markdown of GitHub's kind, for the comment of a pull request.
//!
//! Whatever came from outside stands in code spans or is escaped, so that it shows as it is: it
//! neither ends a table nor becomes a tag, a link, or a mention that notifies somebody.

mod checks;
mod text;

use std::io::{self, Write};

pub use checks::checks;

use super::{Block, Change, Changes, Linked, Remark, Tone};
use text::{code, escaped, fenced};

/// How many bytes the folded details may have: a comment on GitHub holds 65536 characters.
const MAX_DETAILS: usize = 40_000;

/// How many rows the tables may have together, for the same reason.
const MAX_ROWS: usize = 100;

/// Writes blocks one after the other; details come last, folded.
///
/// # Errors
/// What the writer says.
pub fn render(out: &mut dyn Write, blocks: &[Block]) -> io::Result<()> {
    let mut room = MAX_ROWS;
    for block in blocks {
        match block {
            Block::Changes(changes) => table(out, changes, &mut room)?,
            Block::Verdict(tone, text) => {
                let mark = match tone {
                    Tone::Good | Tone::Note => "",
                    Tone::Warning | Tone::Bad => "**",
                };
                writeln!(out, "{mark}{}{mark}\n", escaped(text))?;
            }
            Block::Heading(text) => writeln!(out, "#### {}\n", code(text))?,
            Block::Remark(_, text) => writeln!(out, "{}\n", escaped(text))?,
            Block::Lines(lines) => writeln!(out, "{}\n", fenced(lines, ""))?,
            // Our own text, and Markdown already.
            Block::Page(text, _) => write!(out, "{text}")?,
            Block::Diagnostic(_)
            | Block::Several(_)
            | Block::Failure(_)
            | Block::Table(_)
            | Block::Tree(_) => {}
        }
    }
    let all = blocks.iter().filter_map(|block| match block {
        Block::Changes(changes) => Some(changes),
        _ => None,
    });
    let mut room = MAX_DETAILS;
    for changes in all {
        details(out, changes, &mut room)?;
    }
    Ok(())
}

fn table(out: &mut dyn Write, changes: &Changes, room: &mut usize) -> io::Result<()> {
    if let Some(file) = &changes.file {
        writeln!(out, "#### {}\n", code(file))?;
    }
    for remark in &changes.remarks {
        writeln!(out, "{}: {}\n", grade(remark), escaped(&remark.text))?;
    }
    let shown = changes.rows.len().min(*room);
    *room -= shown;
    if shown > 0 {
        writeln!(
            out,
            "| Risk | Provider | Version | Change |\n|---|---|---|---|"
        )?;
    }
    for row in &changes.rows[..shown] {
        let states = row.old.iter().chain(&row.new).map(linked);
        writeln!(
            out,
            "| {} | {} | {} | {}: {} |",
            grade(&row.remark),
            linked(&row.subject),
            // Versions side by side keep a row as low as its text allows.
            states.collect::<Vec<_>>().join("&nbsp;→&nbsp;"),
            row.kinds.join(", "),
            escaped(&row.remark.text),
        )?;
    }
    if shown > 0 {
        writeln!(out)?;
    }
    match changes.rows.len() - shown {
        0 => Ok(()),
        more => writeln!(out, "{more} more are not shown here.\n"),
    }
}

/// Writes the details of a file, folded, as far as there is room for them.
fn details(out: &mut dyn Write, changes: &Changes, room: &mut usize) -> io::Result<()> {
    let rows: Vec<&Change> = changes
        .rows
        .iter()
        .filter(|row| !row.details.is_empty())
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    let of = match &changes.file {
        Some(file) => format!(" of <code>{}</code>", escaped(file)),
        None => String::new(),
    };
    writeln!(
        out,
        "<details><summary>Constraints and hashes{of}</summary>\n"
    )?;
    let mut left_out = 0;
    for row in rows {
        let text = format!(
            "{}\n\n{}\n",
            code(&row.subject.text),
            fenced(&row.details, "diff")
        );
        if text.len() > *room {
            left_out += 1;
            continue;
        }
        *room -= text.len();
        writeln!(out, "{text}")?;
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
