//! Other programs, and the limits of their time, memory and output.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

/// A program that may be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executable<'a> {
    /// `git`, found by `PATH`.
    Git,
    /// The file at a path.
    File(&'a Path),
}

/// One run of a program.
#[derive(Clone, Copy, Debug)]
pub struct Invocation<'a> {
    /// The program to start.
    pub program: Executable<'a>,
    /// Its arguments, without its name; no shell ever sees them.
    pub args: &'a [OsString],
    /// The directory that it is started in.
    pub dir: &'a Path,
    /// Environment variables beside those of this process, or instead of them.
    pub vars: &'a [(&'a str, &'a str)],
    /// The bytes for standard input.
    pub stdin: &'a [u8],
    /// Maximum size of standard output, in bytes.
    pub limit: u64,
    /// Time limit; `None` for no limit.
    pub timeout: Option<Duration>,
    /// Variables of this process that it does not get.
    pub without: &'a [&'a str],
    /// The directory that it fills, if that has a limit. Such a program and all that it starts are apart from
    /// the terminal, so that they can be ended together.
    pub room: Option<DirectoryRoom<'a>>,
    /// Maximum size of the memory that it writes to, in bytes, where the system can limit that (Linux); `None` for no
    /// limit.
    pub memory: Option<u64>,
}

/// A limit for the size of a directory.
#[derive(Clone, Copy, Debug)]
pub struct DirectoryRoom<'a> {
    /// The directory, as an absolute path.
    pub dir: &'a Path,
    /// Maximum size of all files below it together, in bytes.
    pub limit: u64,
}

/// The exit code and output of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// The bytes of standard output.
    pub stdout: Vec<u8>,
    /// The bytes of standard error, possibly cut off.
    pub stderr: Vec<u8>,
}

/// Starting other programs, and waiting for their end.
pub trait Run: Sync {
    /// Runs a program and waits for its end; a failure of its own is no error here.
    ///
    /// # Errors
    /// `NotFound` if the program is not installed; `NotADirectory` if there is no such directory
    /// to start it in; `FileTooLarge` if it prints more than `limit` bytes, `TimedOut` if it takes longer
    /// than it may, `QuotaExceeded` if it fills its directory (then it is ended); else what the system says.
    fn run(&self, invocation: &Invocation<'_>) -> io::Result<Ended>;

    /// Runs a program as [`run`](Self::run) does, and hands over its standard output piece by piece while it runs; the
    /// result has none of it.
    ///
    /// # Errors
    /// Those of [`run`](Self::run).
    fn stream(
        &self,
        invocation: &Invocation<'_>,
        each: &mut dyn FnMut(&[u8]),
    ) -> io::Result<Ended> {
        let ended = self.run(invocation)?;
        each(&ended.stdout);
        Ok(Ended {
            stdout: Vec::new(),
            ..ended
        })
    }
}
