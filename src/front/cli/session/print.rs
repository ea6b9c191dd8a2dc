//! A result, printed in the format that was asked for.

use std::io::{self, Write};

use super::paths;
use crate::cli::{Command, Io, Look, MarkdownText, World};
use crate::report::human::Colors;
use crate::report::{
    Checked, CommandResult, EscapedIn, LogWriter, ResultSubject, Screen, TextBlock, Tone, graph,
    human, json, markdown, notes,
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
    let is_human = common.format == Format::Human;
    let is_markdown = common.format == Format::Markdown;
    let terminal = env.columns(Stream::Stdout);
    let is_cut = result.root_count() > 1 && !common.verbose;
    let screen = |terminal, lines| Screen {
        terminal,
        lines: is_cut.then_some(lines),
        verbose: common.verbose,
        roots: result.root_count(),
    };
    let beside = |remarks: Vec<TextBlock>, lines| {
        let screen = screen(env.columns(Stream::Stderr), lines);
        let colors = colors(common.color, env, Stream::Stderr);
        let notes = [notes_beside(result, command, common), remarks].concat();
        human::text(&notes, &result.texts, colors, screen)
    };
    let most = if is_markdown {
        MAX_BESIDE_MARKDOWN
    } else {
        MAX_BESIDE
    };
    let height = beside(Vec::new(), SCREEN).lines().count().min(most);
    let screen = screen(terminal.filter(|_| is_human), SCREEN.saturating_sub(height));
    let look = Look {
        verbose: common.verbose,
        quiet: common.quiet,
        markdown: is_markdown,
        columns: terminal.unwrap_or(USUAL_COLUMNS),
    };
    let language = match common.format {
        Format::Human | Format::Markdown | Format::Graph(_) => EscapedIn::Text,
        Format::Json | Format::JsonLines | Format::Bill(_) => EscapedIn::Json,
        Format::Checks(format) => format.language,
    };
    if is_human {
        // A script of our own, or the facts of an export: no byte of it may change.
        io.stdout.write_all(result.raw_text())?;
    }
    let out = &mut LogWriter::new(io.stdout, language);
    let (mut remarks, mut printed) = (Vec::new(), 0);
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
            let text = markdown::checks(&checked(), screen);
            printed = text.lines().count();
            out.write_all(text.as_bytes())?;
        }
        Format::Markdown => {
            // A comment has no standard error beside it.
            let mut blocks = notes::failures(result, common.verbose);
            blocks.extend(command.text(result, look));
            let text = markdown::text(&blocks, screen);
            printed = text.lines().count();
            out.write_all(text.as_bytes())?;
        }
        Format::Human => {
            let colors = colors(common.color, env, Stream::Stdout);
            let blocks = command.text(result, look);
            let text = human::text(&blocks, &result.texts, colors, screen);
            printed = text.lines().count();
            out.write_all(text.as_bytes())?;
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
    let out = &mut LogWriter::new(io.stderr, EscapedIn::Text);
    let left = SCREEN.saturating_sub(printed);
    out.write_all(beside(remarks, left).as_bytes())?;
    out.flush()
}

/// Returns what stands beside the results, as far as it is wanted.
fn notes_beside(result: &CommandResult, command: &dyn Command, common: &Options) -> Vec<TextBlock> {
    let mut notes = notes::notes(result, command.total(), common.verbose);
    // Warnings on one root stay: a script that asks for quiet still has to see them. Of many roots, some have a
    // warning in every run, and a failure would stand among them.
    if common.quiet && result.roots().len() > 1 {
        notes.retain(TextBlock::is_bad);
    } else if common.quiet {
        notes.retain(|block| !block.is_note());
    }
    notes
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
