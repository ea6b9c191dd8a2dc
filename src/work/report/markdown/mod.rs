//! Sheets as Markdown of GitHub's kind, for the comment of a pull request.
//!
//! Text from outside is put into code spans or escaped, so that it is shown unchanged: it neither ends a table
//! nor becomes a tag, a link, or a mention that notifies a user.

mod checks;
mod text;

pub use checks::checks;

use super::reading;
use super::sheet::{
    Cell, Column, Piece, Room, RootNames, Screen, SharedRow, Table, WholeText, cut, facts,
    in_roots, root_names,
};
use super::{Sentence, TextBlock, Tone};
use text::{code, escaped, failed, fenced, prose};

/// Maximum size of a text, in bytes: forges take 65,536 characters in a comment, which may hold other text
/// beside this.
const MAX_BYTES: usize = 60_000;

/// Returns a sheet; details come last, folded. What does not fit into [`MAX_BYTES`], or on the screen, is counted.
#[must_use]
pub fn text(blocks: &[TextBlock], screen: Screen) -> String {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut folded: Vec<Piece> = Vec::new();
    let mut is_after_failure = false;
    for block in blocks {
        match block {
            TextBlock::Table(all) => {
                let facts = facts(all);
                pieces.push(table(all, &facts, screen));
                folded.push(details(all, &facts, screen));
            }
            TextBlock::Verdicts(names, all) => {
                let line = |sentence: Sentence| verdict(&sentence);
                pieces.push(reading::shared_verdicts(*names, all, screen, &line));
            }
            // Failures that follow one another share the room.
            TextBlock::Failure(failure) => {
                let text = failed(&failure.lines());
                Piece::add(&mut pieces, is_after_failure, text, Tone::Bad);
            }
            TextBlock::SharedFailure(failure, roots) => {
                let text = failed(&format!("{}\n{roots}", failure.lines()));
                Piece::add(&mut pieces, is_after_failure, text, Tone::Bad);
            }
            block => pieces.push(Piece::fixed(fixed(block))),
        }
        is_after_failure = block.tone() == Tone::Bad && block.is_finding();
    }
    pieces.extend(folded);
    shown(pieces, screen)
}

/// Puts parts together, as far as they fit into a comment, and on the screen.
fn shown(pieces: Vec<Piece>, screen: Screen) -> String {
    let room = Room {
        bytes: MAX_BYTES,
        lines: screen.lines.unwrap_or(usize::MAX),
    };
    cut(pieces, Some(room), &|left_out| {
        format!("… and {left_out} more (`-v` shows all)\n\n")
    })
}

/// Writes a block that is shown as a whole; nothing for blocks that only a terminal shows.
fn fixed(block: &TextBlock) -> String {
    match block {
        TextBlock::Verdict(tone, text) => verdict(&Sentence {
            tone: *tone,
            text: text.clone(),
        }),
        TextBlock::Heading(text) => format!("#### {}\n\n", code(text)),
        TextBlock::Remark(_, text) => format!("{}\n\n", prose(text)),
        TextBlock::Lines(lines) if lines.iter().all(String::is_empty) => String::new(),
        TextBlock::Lines(lines) => format!("{}\n\n", fenced(lines, "")),
        // Our own text, and Markdown already.
        TextBlock::Page(text, _) => text.clone(),
        _ => String::new(),
    }
}

fn verdict(sentence: &Sentence) -> String {
    format!("{}\n\n", strong(sentence.tone, &prose(&sentence.text)))
}

/// Marks bad news as important.
fn strong(tone: Tone, text: &str) -> String {
    match tone {
        Tone::Warning | Tone::Bad => format!("**{text}**"),
        Tone::Good | Tone::Note => text.to_owned(),
    }
}

/// Writes the facts of a table as rows.
fn table(table: &Table, facts: &[SharedRow], screen: Screen) -> Piece {
    if facts.is_empty() {
        return Piece::default();
    }
    let has_text = |fact: &SharedRow, at: usize| {
        let cell = fact.cells.get(at);
        cell.is_some_and(|cell| !cell.parts.is_empty())
    };
    let columns: Vec<usize> = (0..table.columns.len())
        .filter(|at| facts.iter().any(|fact| has_text(fact, *at)))
        .collect();
    let names_roots = table.roots != RootNames::Hidden && screen.roots > 1;
    let mut titles: Vec<String> = columns
        .iter()
        .map(|at| table.columns[*at].title().to_owned())
        .collect();
    if names_roots {
        let roots = format!("{}s", table.roots.noun());
        titles.extend([roots.to_uppercase(), "WHERE".to_owned()]);
    }
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let items = facts.iter().map(|fact| {
        let mut cells: Vec<String> = columns
            .iter()
            .map(|at| cell(table, *at, fact, screen))
            .collect();
        if names_roots {
            cells.push(fact.roots.len().to_string());
            cells.push(root_names(&fact.roots, screen, &code));
        }
        WholeText {
            text: line(&cells),
            rank: table.rank(fact),
        }
    });
    let head = format!("{}|{}\n", line(&titles), "---|".repeat(titles.len()));
    table.piece(head, items.collect(), "\n".to_owned())
}

fn cell(table: &Table, at: usize, fact: &SharedRow, screen: Screen) -> String {
    let cell: &Cell = &fact.cells[at];
    let text = cell.text(screen);
    match (table.columns[at], &cell.url, fact.tone) {
        (_, _, Some(tone)) if at == 0 => strong(tone, &escaped(&text)),
        (Column::Prose(_), ..) => {
            let deviations = fact.deviations.iter().map(|deviation| {
                let place = in_roots(&deviation.roots, table.roots.noun(), screen);
                format!("{}: {}", escaped(&place), escaped(&deviation.content))
            });
            let own = Some(escaped(&text)).filter(|text| !text.is_empty());
            own.into_iter()
                .chain(deviations)
                .collect::<Vec<_>>()
                .join("<br>")
        }
        (Column::Sentence(_), ..) => cell
            .parts
            .iter()
            .map(|part| escaped(part))
            .collect::<Vec<_>>()
            .join("<br>"),
        _ if text.is_empty() => text,
        (_, Some(url), _) => format!("[{}]({url})", code(&text)),
        _ => cell.marked(screen, &code),
    }
}

/// Writes the lines below the rows of a table, folded.
fn details(table: &Table, facts: &[SharedRow], screen: Screen) -> Piece {
    let mut items = Vec::new();
    for fact in facts {
        let name = fact.cells[usize::from(fact.tone.is_some())..]
            .iter()
            .filter(|cell| !cell.parts.is_empty())
            .map(|cell| cell.marked(screen, &code))
            .take(2)
            .collect::<Vec<_>>()
            .join(" ");
        for details in &fact.details {
            let mut text = format!("{name}\n\n");
            if details.roots.len() < fact.roots.len() {
                let place = in_roots(&details.roots, table.roots.noun(), screen);
                text += &format!("{}:\n\n", escaped(&place));
            }
            // Lines of a comparison are coloured.
            let is_comparison = details
                .content
                .iter()
                .any(|line| line.starts_with(['+', '-']));
            let language = if is_comparison { "diff" } else { "" };
            text += &format!("{}\n\n", fenced(&details.content, language));
            items.push(WholeText {
                text,
                rank: table.rank(fact),
            });
        }
    }
    if items.is_empty() {
        return Piece::default();
    }
    Piece {
        head: "<details><summary>Details</summary>\n\n".to_owned(),
        end: "</details>\n\n".to_owned(),
        ..Piece::of_items(items)
    }
}
