//! A result, printed in the format that was asked for.

use std::io::{self, Write};

use crate::cli::commands::CommandLine;
use crate::cli::{Io, World};
use crate::report::human::Colors;
use crate::report::{
    CheckFormat, Checked, CommandResult, EscapedIn, LogWriter, Look, Screen, TextBlock, Tone,
    graph, human, json, markdown, notes,
};
use crate::run::command::Command;
use crate::run::formats::{Format, FormatKind};
use crate::run::options::{ColorChoice, Options};
use crate::run::paths;
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
    line: &CommandLine,
    world: World<'_>,
    io: &mut Io<'_>,
) -> io::Result<()> {
    let (common, command) = (&line.common, line.command.command());
    let printed = PrintedResult {
        result,
        command,
        is_check: line.command.formats().contains(&FormatKind::Checks),
        common,
        world,
    };
    let is_terminal = world.env.columns(Stream::Stdout).is_some();
    if common.format == Format::Human {
        // A script of our own, or the facts of an export: no byte of it may change.
        io.stdout.write_all(result.raw_text())?;
        // Configuration may hold anything: a file gets every byte, and a terminal obeys none.
        if !is_terminal {
            io.stdout.write_all(result.document_text())?;
        }
    }
    let out = &mut LogWriter::new(io.stdout, common.format.escaped_in());
    if common.format == Format::Human && is_terminal {
        out.write_all(result.document_text())?;
    }
    let (mut remarks, mut height) = (Vec::new(), 0);
    match common.format {
        // The object holds every note and failure, so that standard error stays empty.
        Format::Json => return json::render(out, result).and_then(|()| out.flush()),
        Format::JsonLines => return json::render_line(out, result).and_then(|()| out.flush()),
        Format::Checks(format) => {
            (format.render)(out, &printed.document_of_checks(format))?;
            // Such a document has a place of its own for notes.
            if format.stands_alone {
                return out.flush();
            }
        }
        Format::Human | Format::Markdown => {
            let text = printed.text();
            height = text.lines().count();
            out.write_all(text.as_bytes())?;
        }
        Format::Bill(_) | Format::TfJson => out.write_all(result.document_text())?,
        Format::Graph(_) if result.document.is_some() => out.write_all(result.document_text())?,
        Format::Graph(language) => {
            let graph = command.graph(result, printed.look());
            graph::render(out, &graph, language)?;
            let too_large = graph.too_large(language);
            remarks.extend(too_large.map(|text| TextBlock::Remark(Tone::Warning, text)));
        }
    }
    // Results first: on one terminal, notes appear below them.
    out.flush()?;
    let out = &mut LogWriter::new(io.stderr, EscapedIn::Text);
    let left = SCREEN.saturating_sub(height);
    out.write_all(printed.beside(remarks, left).as_bytes())?;
    out.flush()
}

/// A result with what decides about its text.
struct PrintedResult<'a> {
    result: &'a CommandResult,
    command: &'a dyn Command,
    /// The command prints the formats of CI systems.
    is_check: bool,
    common: &'a Options,
    world: World<'a>,
}

impl PrintedResult<'_> {
    /// Returns the result as text for people, or as Markdown.
    fn text(&self) -> String {
        let is_markdown = self.common.format == Format::Markdown;
        let most = if is_markdown {
            MAX_BESIDE_MARKDOWN
        } else {
            MAX_BESIDE
        };
        let beside = self.beside(Vec::new(), SCREEN).lines().count().min(most);
        let terminal = self
            .world
            .env
            .columns(Stream::Stdout)
            .filter(|_| !is_markdown);
        let screen = self.screen(terminal, SCREEN.saturating_sub(beside));
        let look = self.look();
        if !is_markdown {
            let colors = colors(self.common.color, self.world.env, Stream::Stdout);
            let blocks = self.command.text(self.result, look);
            return human::text(&blocks, &self.result.texts, colors, screen);
        }
        if self.is_check {
            return markdown::checks(&self.checked(), screen);
        }
        // A comment has no standard error beside it.
        let mut blocks = notes::failures(self.result, self.common.verbose);
        blocks.extend(self.command.text(self.result, look));
        markdown::text(&blocks, screen)
    }

    /// Returns what standard error shows beside the results, as far as it is wanted.
    fn beside(&self, remarks: Vec<TextBlock>, lines: usize) -> String {
        let mut notes = notes::notes(self.result, self.command.total(), self.common.verbose);
        // Warnings on one root stay: a script that asks for quiet still has to see them. Of many roots, some have a
        // warning in every run, and a failure would be hard to find among them.
        if self.common.quiet && self.result.roots().len() > 1 {
            notes.retain(TextBlock::is_bad);
        } else if self.common.quiet {
            notes.retain(|block| !block.is_note());
        }
        notes.extend(remarks);
        let screen = self.screen(self.world.env.columns(Stream::Stderr), lines);
        let colors = colors(self.common.color, self.world.env, Stream::Stderr);
        human::text(&notes, &self.result.texts, colors, screen)
    }

    fn screen(&self, terminal: Option<usize>, lines: usize) -> Screen {
        let roots = self.result.root_count();
        let verbose = self.common.verbose;
        Screen {
            terminal,
            lines: (roots > 1 && !verbose).then_some(lines),
            verbose,
            roots,
        }
    }

    fn look(&self) -> Look {
        let terminal = self.world.env.columns(Stream::Stdout);
        Look {
            verbose: self.common.verbose,
            quiet: self.common.quiet,
            markdown: self.common.format == Format::Markdown,
            columns: terminal.unwrap_or(USUAL_COLUMNS),
        }
    }

    /// Returns the content of a document for CI.
    fn document_of_checks(&self, format: &CheckFormat) -> Checked<'_> {
        let checked = self.checked().with_notes_of_run_once();
        // The runner shows annotations even with `--quiet`, so notes are left out; other documents are the
        // whole result.
        if self.common.quiet && format.stands_alone {
            checked.without_notes()
        } else {
            checked
        }
    }

    fn checked(&self) -> Checked<'_> {
        Checked::of(self.result, &paths::from_the_top(self.world))
    }
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
