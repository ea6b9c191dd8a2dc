//! The command line: arguments to values, operations called, a report printed.
//!
//! The table in `commands` names all commands. Each implements [`Command`] in the room that it works for; the folders here
//! hold those that print definitions. Options that commands share are in `run::options`.

mod commands;
mod generate;
mod print;
mod project_revision;
mod suggestion;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use commands::CommandLine;
use project_revision::ProjectRevision;

use crate::driver::{changed_args, contained};
use crate::merging::merge;
use crate::report::{CommandResult, EscapedIn, Failure, LogWriter, harmless_text};
use crate::run::command::Command;
use crate::run::formats::Format;
use crate::run::options::Options;
use crate::run::progress::Progress;
use crate::run::session::Session;
use crate::sources::net::Event;
use crate::world::{CachedDisk, Confined, Files};

pub use crate::report::{CLEAN, FAILED, FINDINGS};
pub use crate::run::World;

/// The streams that commands write to.
pub struct Io<'a> {
    /// Results, in the format that was asked for.
    pub stdout: &'a mut (dyn Write + Send),
    /// Remarks and failures, and what goes on meanwhile.
    pub stderr: &'a mut (dyn Write + Send),
}

/// Runs a command line, its first element being the name of the program, and returns the exit
/// code.
///
/// A reader that goes away early is no failure.
pub fn run(args: impl IntoIterator<Item = OsString>, world: World<'_>, io: &mut Io<'_>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    // Known before the arguments are read: even what is wrong with them must not look like a conflict.
    let is_driver = args.get(1).is_some_and(|arg| arg == "merge");
    if let Some(file) = changed_args::ambiguous_file(&args, world.disk) {
        let text = format!(
            "'{}' is a file, and would be read as an option; write './' before its name, or '--' before \
             all names",
            file.display()
        );
        let error = suggestion::worded(clap::error::ErrorKind::ArgumentConflict, text, &args);
        return usage(&error, io);
    }
    let line = match CommandLine::read(args) {
        Ok(line) => line,
        // To git, any smaller number is a conflict that was written (`gitattributes(5)`): it would take the
        // file as it is for the result.
        Err(error) if is_driver && error.use_stderr() => {
            return usage(&error, io).max(merge::UNWRITTEN);
        }
        Err(error) => return usage(&error, io),
    };
    let (common, command) = (&line.common, line.command.command());
    // With json-lines the events are the output, so they go where results go.
    let result = match common.format {
        Format::JsonLines => {
            let mut out = LogWriter::new(io.stdout, EscapedIn::Json);
            perform(common, command, world, &mut out)
        }
        _ => {
            let mut out = LogWriter::new(io.stderr, EscapedIn::Text);
            perform(common, command, world, &mut out)
        }
    };
    let result = result.unwrap_or_else(|failure| {
        let mut failed = CommandResult::failed(line.command.name(), [failure]);
        if is_driver {
            failed.exit = merge::UNWRITTEN;
        }
        failed
    });
    let printed = contained(|| Ok(print::print(&result, &line, world, io)))
        .unwrap_or_else(|failure| Err(io::Error::other(failure.title)));
    let code = exit_code(result.exit, printed, io);
    if is_driver && code == FAILED {
        merge::UNWRITTEN
    } else {
        code
    }
}

/// Does a command; progress goes to `meanwhile`.
fn perform(
    options: &Options,
    command: &dyn Command,
    world: World<'_>,
    meanwhile: &mut (dyn Write + Send),
) -> Result<CommandResult, Failure> {
    let confined = confined(options, command, world)?;
    let disk = confined.as_ref().map_or(world.disk, |disk| disk);
    // Without a working directory only absolute paths have a meaning; few look at many files.
    let current = world.env.current_dir().ok();
    let cached = current.map(|current| CachedDisk::new(disk, current));
    let disk = cached.as_ref().map_or(disk, |cached| cached);
    let world = World { disk, ..world };
    let revision = ProjectRevision::open(options, world)?;
    let project_files = revision.as_ref().map(|files| files as &dyn Files);
    let world = World {
        project_files,
        ..world
    };
    let progress = Progress::new(options, world.env, meanwhile);
    let observer = |event: &Event<'_>| progress.observe(event);
    let session = Session::new(options, world, &observer);
    let result = contained(|| Ok(command.run(&session)));
    progress.finish();
    let mut result = result?;
    result
        .remarks
        .extend(revision.as_ref().and_then(ProjectRevision::remark));
    Ok(result)
}

/// Returns true if a command line locks roots, which may take minutes.
#[must_use]
pub fn locks(args: &[OsString]) -> bool {
    let is_locking = |arg: &OsString| {
        ["lock", "update", "replace", "convert"]
            .iter()
            .any(|name| arg == name)
    };
    args.iter().skip(1).any(is_locking)
}

/// Returns the files of the directory that nothing may be read outside of, if one was named.
///
/// # Errors
/// If it is not a directory.
fn confined<'a>(
    options: &Options,
    command: &dyn Command,
    world: World<'a>,
) -> Result<Option<Confined<'a>>, Failure> {
    let named = command.configuration();
    let Some(top) = named.and_then(|named| named.confine.as_deref()) else {
        return Ok(None);
    };
    let files = options.config.iter().chain(&options.cli_config);
    let packages = command.packages();
    // The user named these paths by hand: `--confine` keeps out what a repository names.
    let beside: Vec<PathBuf> = files
        .chain(&packages)
        .map(|path| options.below(path))
        .collect();
    let top = options.below(top);
    world
        .env
        .current_dir()
        .and_then(|current| Confined::new(world.disk, current, &top, &beside))
        .map(Some)
        .map_err(|error| {
            Failure::new(format!("nothing can be confined to {}", top.display()))
                .because(error.to_string())
                .help("name a directory that can be read with --confine")
        })
}

/// Returns the exit code of a run whose result was, or was not, printed.
fn exit_code(code: u8, printed: io::Result<()>, io: &mut Io<'_>) -> u8 {
    match printed {
        Ok(()) => code,
        // `head` closes the pipe when it has its lines; the job was done all the same.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => code,
        Err(error) => {
            // If even this cannot be written, there is nowhere left to say why.
            let _ = writeln!(io.stderr, "error: the result could not be printed: {error}");
            FAILED
        }
    }
}

/// Prints help, the version, or what is wrong with the arguments.
fn usage(error: &clap::Error, io: &mut Io<'_>) -> u8 {
    let text = error.render().to_string();
    if error.use_stderr() {
        // Names of files that a hook passes are those of strangers.
        let text = harmless_text(text.as_bytes());
        let _ = io.stderr.write_all(text.as_bytes());
        FAILED
    } else {
        let printed = io
            .stdout
            .write_all(text.as_bytes())
            .and_then(|()| io.stdout.flush());
        exit_code(CLEAN, printed, io)
    }
}
