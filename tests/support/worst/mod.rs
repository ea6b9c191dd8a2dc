//! The worst that each reader of foreign data may be given, by size.
//!
//! A reader is a command over one file, or a function of the library where no offline command reads such
//! data. The tests of `limits` count what each case costs; `benches/hostile.rs` measures it, with
//! `scripts/bench-hostile.sh`.
#![allow(dead_code, reason = "a test binary does not use what a bench does")]

mod archives;
mod configuration;
mod documents;
mod evidence;
mod locks;
mod overrides;
mod servers;

use std::path::{Path, PathBuf};

use lockctl::cli::{self, Io, World};
use lockctl::world::Disk;
use lockctl::world::mem::{MemClock, MemEnv, MemFiles, MemHttp, MemRun};

/// A reader of foreign data.
#[derive(Clone)]
pub(crate) struct Reader {
    /// Its name in the table of `lockctl explain limits`.
    pub(crate) name: &'static str,
    pub(crate) read: Reading,
    pub(crate) cases: &'static [Case],
    /// A size that its limits allow, in bytes: larger inputs are refused at once.
    pub(crate) allowed: usize,
}

/// The way in which a reader is given its input.
#[derive(Clone, Copy)]
pub(crate) enum Reading {
    Command(FileCommand),
    /// Takes an input of so many bytes and returns the work on it.
    Library(fn(Vec<u8>) -> Work),
}

/// A command in a directory that holds the input and a few other files.
#[derive(Clone, Copy)]
pub(crate) struct FileCommand {
    /// The file that holds the input; standard input, if it has no name.
    pub(crate) file: &'static str,
    pub(crate) args: &'static [&'static str],
    /// Names and contents of the other files.
    pub(crate) beside: &'static [(&'static str, &'static str)],
    /// The result is printed as JSON, if the command can.
    pub(crate) has_json: bool,
}

/// The part of reading that is measured.
pub(crate) type Work = Box<dyn FnOnce()>;

/// An input of a kind that costs much.
pub(crate) struct Case {
    /// One of [`KINDS`].
    pub(crate) kind: &'static str,
    pub(crate) name: &'static str,
    /// Makes an input of about so many bytes; those of an archive are counted unpacked.
    pub(crate) make: fn(usize) -> Vec<u8>,
}

/// The ways in which an input may be bad.
pub(crate) const KINDS: &[&str] = &["deep", "wide", "long", "many", "repetitive", "almost right"];

/// All readers, in the order of the table: of lock files, configuration, other documents, archives, evidence and
/// answers of servers.
pub(crate) fn groups() -> [Vec<Reader>; 6] {
    [
        locks::readers(),
        configuration::readers(),
        documents::readers(),
        archives::readers(),
        evidence::readers(),
        servers::readers(),
    ]
}

impl Reader {
    const fn command(
        name: &'static str,
        file: &'static str,
        args: &'static [&'static str],
        cases: &'static [Case],
    ) -> Self {
        Self::beside(name, file, args, &[], cases)
    }

    const fn beside(
        name: &'static str,
        file: &'static str,
        args: &'static [&'static str],
        beside: &'static [(&'static str, &'static str)],
        cases: &'static [Case],
    ) -> Self {
        let command = FileCommand {
            file,
            args,
            beside,
            has_json: false,
        };
        Self {
            name,
            read: Reading::Command(command),
            cases,
            allowed: 1_000_000,
        }
    }

    const fn library(
        name: &'static str,
        read: fn(Vec<u8>) -> Work,
        cases: &'static [Case],
    ) -> Self {
        Self {
            name,
            read: Reading::Library(read),
            cases,
            allowed: 1_000_000,
        }
    }

    const fn up_to(mut self, bytes: usize) -> Self {
        self.allowed = bytes;
        self
    }

    /// Returns the work on an input, in memory.
    pub(crate) fn work(&self, input: Vec<u8>) -> Work {
        match self.read {
            Reading::Library(prepare) => prepare(input),
            Reading::Command(command) => command.work(input),
        }
    }
}

impl FileCommand {
    fn work(self, input: Vec<u8>) -> Work {
        let files = MemFiles::default();
        let mut env = MemEnv {
            current_dir: PathBuf::from("/top/root"),
            ..MemEnv::default()
        };
        let put = |name: &str, bytes: &[u8]| {
            let path = Path::new("/top/root").join(name);
            let dir = path.parent().expect("a file of the root");
            let name = path.file_name().and_then(|name| name.to_str());
            files
                .objects(dir)
                .put(name.expect("a plain name"), bytes)
                .expect("memory");
        };
        for (name, text) in self.beside {
            put(name, text.as_bytes());
        }
        if self.file.is_empty() {
            env.input = input;
        } else {
            put(self.file, &input);
        }
        Box::new(move || {
            let world = World {
                disk: &files,
                env: &env,
                http: &MemHttp::unreachable(),
                clock: &MemClock::default(),
                run: &MemRun::nothing(),
                project_files: None,
            };
            let mut io = Io {
                stdout: &mut std::io::sink(),
                stderr: &mut std::io::sink(),
            };
            let line = ["lockctl", "-C", "/top/root"].iter().chain(self.args);
            // A merge driver prints nothing but faults.
            let format: &[&str] = if self.has_json && self.args[0] != "merge" {
                &["--format", "json"]
            } else {
                &[]
            };
            let line = line.chain(format).map(Into::into);
            let code = cli::run(line, world, &mut io);
            // From 129 on git takes nothing of what a merge driver did.
            assert!(code <= 2 || code == 129, "exit code {code}");
        })
    }
}

const fn case(kind: &'static str, name: &'static str, make: fn(usize) -> Vec<u8>) -> Case {
    Case { kind, name, make }
}

/// Numbered parts, until there are so many bytes.
fn numbered(bytes: usize, part: impl Fn(usize) -> String) -> String {
    let mut text = String::with_capacity(bytes + 100);
    let mut number = 0;
    while text.len() < bytes {
        text += &part(number);
        number += 1;
    }
    text
}

/// The same part again and again, until there are so many bytes.
fn repeated(bytes: usize, part: &str) -> Vec<u8> {
    part.repeat(bytes.div_ceil(part.len())).into_bytes()
}

/// The same parts around something, until there are so many bytes.
fn nested(bytes: usize, open: &str, inside: &str, close: &str) -> String {
    let count = bytes.div_ceil(open.len() + close.len());
    format!("{}{inside}{}", open.repeat(count), close.repeat(count))
}

/// Puts text around another one.
fn within(head: &str, text: &str, tail: &str) -> Vec<u8> {
    [head, text, tail].concat().into_bytes()
}
