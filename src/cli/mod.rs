//! The command line: arguments to values, operations called, a report printed.

mod advice;
mod args;
mod checked;
mod diff;
mod explain;
mod fmt;
mod generate;
mod git;
mod hash;
mod lock;
mod log;
mod merge;
mod network;
mod oddities;
mod output;
mod progress;
mod resolve;
mod root;
mod roots;
mod setup;
mod show;
mod tree;
mod unseen;
mod verify;
mod why;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use crate::report::graph::{self, Graph, Language};
use crate::report::reading::{self, Total};
use crate::report::{
    Block, Checked, CommandResult, Failure, Subject, Tone, github, human, json, junit, markdown,
    sarif,
};
use crate::world::{Clock, Confined, Disk, Env, Http, Run, Stream};
use args::{Command as Typed, CommandLine, Common, Format};
use output::Output;

/// Done, and clean.
pub const CLEAN: u8 = 0;
/// Done, and the answer is bad.
pub const FINDINGS: u8 = 1;
/// The job could not be done.
pub const FAILED: u8 = 2;

/// The outside that commands act on.
#[derive(Clone, Copy)]
pub struct World<'a> {
    /// Files.
    pub disk: &'a dyn Disk,
    /// The environment.
    pub env: &'a dyn Env,
    /// The network.
    pub http: &'a dyn Http,
    /// Time.
    pub clock: &'a dyn Clock,
    /// Other programs.
    pub run: &'a dyn Run,
}

/// Where commands write.
pub struct Io<'a> {
    /// Results.
    pub stdout: &'a mut dyn Write,
    /// Remarks and failures, and what goes on meanwhile.
    pub stderr: &'a mut (dyn Write + Send),
}

/// Runs a command line, its first element being the name of the program, and returns the exit
/// code.
///
/// A reader that goes away early is no failure.
pub fn run(args: impl IntoIterator<Item = OsString>, world: World<'_>, io: &mut Io<'_>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    let is_driver = args.get(1).is_some_and(|arg| arg == "merge");
    let line = match CommandLine::read(args) {
        Ok(line) => line,
        // To git, any smaller number is a conflict that was written.
        Err(error) if is_driver && error.use_stderr() => {
            return usage(&error, io).max(merge::UNWRITTEN);
        }
        Err(error) => return usage(&error, io),
    };
    let done = match confined(&line, world) {
        Ok(None) => dispatch(&line, world, io.stderr),
        Ok(Some(disk)) => dispatch(
            &line,
            World {
                disk: &disk,
                ..world
            },
            io.stderr,
        ),
        Err(failure) => Done::Old(Output::failed(line.command.name(), failure)),
    };
    match done {
        Done::Old(mut output) => {
            output.sum_up(&line.common);
            let printed = output.print(&line.common, world, io);
            exit_code(output.exit, printed, io)
        }
        Done::New(result, command) => {
            let printed = print(&result, command, (&line.common, world), io);
            exit_code(result.exit, printed, io)
        }
    }
}

/// What a command came to, with the command that says how it reads.
enum Done<'a> {
    Old(Output),
    New(CommandResult, &'a dyn Command),
}

/// A command: what it does, and how its result reads.
pub(in crate::cli) trait Command {
    /// Returns what people read on standard output.
    fn text(&self, _result: &CommandResult, _look: Look) -> Vec<Block> {
        Vec::new()
    }

    /// Says where the line about several roots stands.
    fn total(&self) -> Total {
        Total::Note
    }

    /// Draws the result, for commands that have a picture to show.
    fn graph(&self, _result: &CommandResult, _look: Look) -> Graph {
        Graph::default()
    }
}

/// How much people want to see, and how wide it may be.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct Look {
    /// Notes, hashes and all that repeats itself are shown one by one.
    pub(in crate::cli) verbose: bool,
    /// The text becomes Markdown.
    pub(in crate::cli) markdown: bool,
    /// The width of the terminal, in columns.
    pub(in crate::cli) columns: usize,
}

/// How wide text is where there is no terminal, in columns.
const USUAL_COLUMNS: usize = 80;

/// Prints a result in the format that was asked for.
fn print(
    result: &CommandResult,
    command: &dyn Command,
    (common, world): (&Common, World<'_>),
    io: &mut Io<'_>,
) -> io::Result<()> {
    let env = world.env;
    let look = Look {
        verbose: common.verbose,
        markdown: common.format == Format::Markdown,
        columns: env.columns(Stream::Stdout).unwrap_or(USUAL_COLUMNS),
    };
    let out = &mut *io.stdout;
    let checked = || Checked::of(result, &checked::from_the_top(world));
    let mut notes = reading::notes(result, command.total(), common.verbose);
    match common.format {
        Format::Json => {
            json::render(out, result)?;
            return out.flush();
        }
        // The runner reads commands from either stream: nothing may stand beside them.
        Format::Github => {
            github::render(out, &checked())?;
            return out.flush();
        }
        Format::Sarif => sarif::render(out, &checked())?,
        Format::Junit => junit::render(out, &checked())?,
        Format::Markdown if matches!(result.subject, Subject::Roots(_)) => {
            markdown::checks(out, &checked())?;
        }
        Format::Markdown => markdown::render(out, &command.text(result, look))?,
        Format::Human => {
            if let Subject::Text(text) = &result.subject {
                out.write_all(text)?;
            }
            let colors = output::colors(common.color, env, Stream::Stdout);
            human::render(out, &command.text(result, look), &result.texts, colors)?;
        }
        Format::Mermaid | Format::Dot => {
            let language = match common.format {
                Format::Dot => Language::Dot,
                _ => Language::Mermaid,
            };
            let graph = command.graph(result, look);
            graph::render(out, &graph, language)?;
            let too_large = graph.too_large(language);
            notes.extend(too_large.map(|text| Block::Remark(Tone::Warning, text)));
        }
    }
    out.flush()?;
    if common.quiet {
        notes.retain(|block| !block.is_note());
    }
    let colors = output::colors(common.color, env, Stream::Stderr);
    human::render(io.stderr, &notes, &result.texts, colors)?;
    io.stderr.flush()
}

/// Returns the files of the directory that nothing may be read outside of, if one was named.
///
/// # Errors
/// If it is no directory.
fn confined<'a>(line: &CommandLine, world: World<'a>) -> Result<Option<Confined<'a>>, Failure> {
    let named = line.command.configuration();
    let Some(top) = named.and_then(|named| named.confine.as_deref()) else {
        return Ok(None);
    };
    let common = &line.common;
    let files = common.config.iter().chain(&common.cli_config);
    let packages = line.command.packages();
    let beside: Vec<PathBuf> = files
        .chain(&packages)
        .map(|path| setup::below(common, path))
        .collect();
    let top = setup::below(common, top);
    let made = world
        .env
        .current_dir()
        .and_then(|current| Confined::new(world.disk, current, &top, &beside));
    made.map(Some).map_err(|error| Failure {
        title: format!("nothing can be confined to {}", top.display()),
        causes: vec![error.to_string()],
        help: Some("name a directory that can be read with --confine".to_owned()),
    })
}

/// Returns the exit code of a run whose result was, or was not, printed.
fn exit_code(code: u8, printed: io::Result<()>, io: &mut Io<'_>) -> u8 {
    match printed {
        Ok(()) => code,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => code,
        Err(error) => {
            // If even this cannot be written, there is nowhere left to say why.
            let _ = writeln!(io.stderr, "error: the result could not be printed: {error}");
            FAILED
        }
    }
}

fn dispatch<'a>(
    line: &'a CommandLine,
    world: World<'_>,
    stderr: &mut (dyn Write + Send),
) -> Done<'a> {
    let common = &line.common;
    Done::Old(match &line.command {
        Typed::Lock(args) => lock::run(common, args, world, stderr),
        Typed::Verify(args) => {
            return Done::New(verify::run(common, args, world, stderr), args);
        }
        Typed::Diff(args) => diff::run(common, args, world),
        Typed::Show(args) => return Done::New(show::run(common, args, world), args),
        Typed::Why(args) => return Done::New(why::run(common, args, world), args),
        Typed::Tree(args) => return Done::New(tree::run(common, args, world), args),
        Typed::Hash(args) => return Done::New(hash::run(common, args, world), args),
        Typed::Fmt(args) => return Done::New(fmt::run(common, args, world), args),
        Typed::Merge(args) => return Done::New(merge::run(common, args, world), args),
        Typed::Resolve(args) => return Done::New(resolve::run(common, args, world), args),
        Typed::Explain(args) => return Done::New(explain::run(common, args, world), args),
        Typed::Log(args) => return Done::New(log::run(common, args, world), args),
        Typed::Git(args) => git::run(common, args, world),
        Typed::GitTextconv(args) => git::textconv(common, args, world),
        Typed::Completions(args) => return Done::New(generate::completions(args), args),
        Typed::Man(args) => return Done::New(generate::man(common, args, world), args),
    })
}

/// Prints help, the version, or what is wrong with the arguments.
fn usage(error: &clap::Error, io: &mut Io<'_>) -> u8 {
    let text = error.render().to_string();
    if error.use_stderr() {
        let _ = io.stderr.write_all(text.as_bytes());
        FAILED
    } else {
        let printed = io.stdout.write_all(text.as_bytes());
        let printed = printed.and_then(|()| io.stdout.flush());
        exit_code(CLEAN, printed, io)
    }
}
