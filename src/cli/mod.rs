//! The command line: arguments to values, operations called, a report printed.

mod args;
mod fmt;
mod hash;
mod lock;
mod lock_errors;
mod lock_report;
mod oddities;
mod output;
mod root;
mod setup;
mod show;
mod verify;
mod verify_report;

use std::ffi::OsString;
use std::io::{self, Write};

use clap::Parser as _;

use crate::world::{Disk, Env};
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
}

/// Where commands write.
pub struct Io<'a> {
    /// Results.
    pub stdout: &'a mut dyn Write,
    /// Remarks and failures.
    pub stderr: &'a mut dyn Write,
}

/// Runs a command line, its first element being the name of the program, and returns the exit
/// code.
///
/// A reader that goes away early is no failure.
pub fn run(args: impl IntoIterator<Item = OsString>, world: World<'_>, io: &mut Io<'_>) -> u8 {
    let line = match CommandLine::try_parse_from(args) {
        Ok(line) => line,
        Err(error) => return usage(&error, io),
    };
    let output = dispatch(&line, world);
    let code = output.exit;
    match output.print(&line.common, world.env, io) {
        Ok(()) => code,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => code,
        // There is nowhere left to say why.
        Err(_) => FAILED,
    }
}

fn dispatch(line: &CommandLine, world: World<'_>) -> Output {
    let common = &line.common;
    match &line.command {
        Command::Lock(args) => lock::run(common, args, world),
        Command::Verify(args) => verify::run(common, args, world),
        Command::Show(args) => show::run(common, args, world),
        Command::Hash(args) => hash::run(common, args, world),
        Command::Fmt(args) => fmt::run(common, args, world),
    }
}

/// Prints help, the version, or what is wrong with the arguments.
fn usage(error: &clap::Error, io: &mut Io<'_>) -> u8 {
    let text = error.render().to_string();
    if error.use_stderr() {
        let _ = io.stderr.write_all(text.as_bytes());
        FAILED
    } else {
        let _ = io.stdout.write_all(text.as_bytes());
        CLEAN
    }
}
