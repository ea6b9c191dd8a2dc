//! Other programs.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

/// A program that may be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program<'a> {
    /// `git`, found by `PATH`.
    Git,
    /// The file at a path.
    File(&'a Path),
}

/// One run of a program.
#[derive(Clone, Copy, Debug)]
pub struct Invocation<'a> {
    /// Which program.
    pub program: Program<'a>,
    /// Its arguments, without its name; no shell ever sees them.
    pub args: &'a [OsString],
    /// The directory that it is started in.
    pub dir: &'a Path,
    /// Environment variables beside those of this process, or instead of them.
    pub vars: &'a [(&'a str, &'a str)],
    /// What it is given on standard input.
    pub stdin: &'a [u8],
    /// How many bytes it may print on standard output.
    pub limit: u64,
    /// How long it may take; `None` if that has no limit.
    pub timeout: Option<Duration>,
    /// Variables of this process that it does not get.
    pub without: &'a [&'a str],
    /// The directory that it fills, if that has a limit. Such a program and all that it starts are apart from
    /// the terminal, so that they can be ended together.
    pub room: Option<DirectoryRoom<'a>>,
}

/// How much may be in a directory.
#[derive(Clone, Copy, Debug)]
pub struct DirectoryRoom<'a> {
    /// The directory.
    pub dir: &'a Path,
    /// How many bytes all files below it may have together.
    pub limit: u64,
}

/// How a program ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// What it printed on standard output.
    pub stdout: Vec<u8>,
    /// What it printed on standard error, possibly cut off.
    pub stderr: Vec<u8>,
}

/// Running other programs.
pub trait Run: Sync {
    /// Runs a program and waits for its end; a failure of its own is no error here.
    ///
    /// # Errors
    /// `NotFound` if the program is not installed; `NotADirectory` if there is no such directory
    /// to start it in; `FileTooLarge` if it prints more than `limit` bytes, `TimedOut` if it takes longer
    /// than it may, `QuotaExceeded` if it fills its directory (then it is ended); else what the system says.
    fn run(&self, invocation: &Invocation<'_>) -> io::Result<Ended>;
}
