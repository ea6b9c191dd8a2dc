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
mod words;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use crate::report::Failure;
use crate::world::{Clock, Confined, Disk, Env, Http, Run};
use args::{Command, CommandLine};
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
    let mut output = match confined(&line, world) {
        Ok(None) => dispatch(&line, world, io.stderr),
        Ok(Some(disk)) => dispatch(
            &line,
            World {
                disk: &disk,
                ..world
            },
            io.stderr,
        ),
        Err(failure) => Output::failed(line.command.name(), failure),
    };
    output.sum_up(&line.common);
    let printed = output.print(&line.common, world, io);
    exit_code(output.exit, printed, io)
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

fn dispatch(line: &CommandLine, world: World<'_>, stderr: &mut (dyn Write + Send)) -> Output {
    let common = &line.common;
    match &line.command {
        Command::Lock(args) => lock::run(common, args, world, stderr),
        Command::Verify(args) => verify::run(common, args, world, stderr),
        Command::Diff(args) => diff::run(common, args, world),
        Command::Show(args) => show::run(common, args, world),
        Command::Why(args) => why::run(common, args, world),
        Command::Tree(args) => tree::run(common, args, world),
        Command::Hash(args) => hash::run(common, args, world),
        Command::Fmt(args) => fmt::run(common, args, world),
        Command::Merge(args) => merge::run(common, args, world),
        Command::Resolve(args) => resolve::run(common, args, world),
        Command::Explain(args) => explain::run(common, args, world),
        Command::Log(args) => log::run(common, args, world),
        Command::Git(args) => git::run(common, args, world),
        Command::GitTextconv(args) => git::textconv(common, args, world),
        Command::Completions(args) => generate::completions(args),
        Command::Man(args) => generate::man(common, args, world),
    }
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
