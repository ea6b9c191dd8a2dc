//! A result, printed in the format that was asked for.

use std::io::{self, Write};

use super::paths;
use crate::cli::{Command, Io, Look, MarkdownText, World};
use crate::report::human::Colors;
use crate::report::{
    Checked, CommandResult, CountedLines, EscapedIn, LogWriter, ResultSubject, TextBlock, Tone,
    graph, human, json, markdown, notes,
};
use crate::run::formats::Format;
use crate::run::options::{ColorChoice, Options};
use crate::world::{Env, Stream};

/// Number of lines about many roots, on both streams together.
const SCREEN: usize = 60;

/// Maximum number of lines that are printed beside the results; Markdown has failures itself.
const MAX_BESIDE: usize = 24;
const MAX_BESIDE_MARKDOWN: usize = 16;

/// Width of text where there is no terminal, in columns.
const USUAL_COLUMNS: usize = 80;

/// Prints a result: results to standard output, notes and failures to standard error.
///
/// # Errors
/// What the writers say.
pub(in crate::front::cli) fn print(
    result: &CommandResult,
    command: &dyn Command,
    common: &Options,
    world: World<'_>,
    io: &mut Io<'_>,
) -> io::Result<()> {
    let env = world.env;
    let terminal = env.columns(Stream::Stdout);
    let is_many = result.has_many_roots() && !common.verbose;
    let beside = |lines| {
        let mut notes = notes::notes(result, command.total(), common.verbose, lines);
        // Warnings on one root stay: a script that asks for quiet still has to see them. Of many roots, some
        // have a warning in every run, and a failure would be hard to find among them.
        if common.quiet && result.roots().len() > 1 {
            notes.retain(TextBlock::is_bad);
        } else if common.quiet {
            notes.retain(|block| !block.is_note());
        }
        notes
    };
    let lines = is_many.then(|| {
        let notes = beside(SCREEN);
        let height: usize = notes.iter().map(|block| block.height(&result.texts)).sum();
        SCREEN
            - height.min(if common.format == Format::Markdown {
                MAX_BESIDE_MARKDOWN
            } else {
                MAX_BESIDE
            })
    });
    let look = Look {
        lines,
        verbose: common.verbose,
        quiet: common.quiet,
        markdown: common.format == Format::Markdown,
        columns: terminal.unwrap_or(USUAL_COLUMNS),
        terminal: terminal.filter(|_| common.format == Format::Human),
    };
    let language = match common.format {
        Format::Human | Format::Markdown | Format::Graph(_) => EscapedIn::Text,
        Format::Json | Format::JsonLines | Format::Bill(_) => EscapedIn::Json,
        Format::Checks(format) => format.language,
    };
    let counted = &mut CountedLines::new(io.stdout);
    if common.format == Format::Human {
        // A script of our own, or the facts of an export: no byte of it may change.
        counted.write_all(result.raw_text())?;
    }
    let out = &mut LogWriter::new(counted, language);
    let mut remarks = Vec::new();
    let checked = || Checked::of(result, &paths::from_the_top(world));
    match common.format {
        // The object holds every note and failure, so that standard error stays empty.
        Format::Json => return json::render(out, result).and_then(|()| out.flush()),
        Format::JsonLines => return json::render_line(out, result).and_then(|()| out.flush()),
        Format::Checks(format) => {
            let mut checked = checked().with_notes_of_run_once();
            // The runner shows annotations even with `--quiet`, so notes are left out; other documents are the
            // whole result.
            if common.quiet && format.stands_alone {
                checked = checked.without_notes();
            }
            (format.render)(out, &checked)?;
            // Such a document has a place of its own for notes.
            if format.stands_alone {
                return out.flush();
            }
        }
        Format::Markdown
            if matches!(result.subject, ResultSubject::Roots(_))
                && command.markdown() == MarkdownText::Findings =>
        {
            markdown::checks(out, &checked(), lines)?;
        }
        Format::Markdown => markdown::render(out, &command.text(result, look), lines)?,
        Format::Human => {
            let colors = colors(common.color, env, Stream::Stdout);
            let mut blocks = command.text(result, look);
            if let Some(columns) = env.columns(Stream::Stdout) {
                human::fit(&mut blocks, columns);
            }
            human::render(out, &blocks, &result.texts, colors)?;
        }
        Format::Bill(_) => out.write_all(result.document_text())?,
        Format::Graph(language) => {
            let graph = command.graph(result, look);
            graph::render(out, &graph, language)?;
            let too_large = graph.too_large(language);
            remarks.extend(too_large.map(|text| TextBlock::Remark(Tone::Warning, text)));
        }
    }
    // Results first: on one terminal, notes appear below them.
    out.flush()?;
    let mut notes = beside(SCREEN.saturating_sub(counted.count()));
    notes.extend(remarks);
    if let Some(columns) = env.columns(Stream::Stderr) {
        human::fit(&mut notes, columns);
    }
    let colors = colors(common.color, env, Stream::Stderr);
    let out = &mut LogWriter::new(io.stderr, EscapedIn::Text);
    human::render(out, &notes, &result.texts, colors)?;
    out.flush()
}

/// Decides about colours as <https://no-color.org> says.
fn colors(when: ColorChoice, env: &dyn Env, stream: Stream) -> Colors {
    // The page says "when present and not an empty string".
    let set = |name| env.var(name).is_some_and(|value| !value.is_empty());
    let dumb = env.var("TERM").is_some_and(|term| term == "dumb");
    let on = match when {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => env.terminal(stream) && !set("NO_COLOR") && !dumb,
    };
    if on { Colors::On } else { Colors::Off }
}
