//! Lock files in a git repository, by the program `git`.
//!
//! Nothing here writes (but for [`Wiring`]), asks over the network, or runs what a repository or its configuration
//! names: no pager, no external diff, no text conversion, no file system monitor, no fetching of
//! objects that a partial clone lacks. Revisions are resolved to object names first, so that no
//! text from outside ever stands where git looks for an option.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use lockctl::git::Repository;
//!
//! let repository = Repository::find(&lockctl::os::RealRun, std::path::Path::new("."))?;
//! let (old, new) = repository.sides("main...HEAD")?;
//! for change in repository.changes(&old, &new)? {
//!     let blobs: Vec<_> = change.new.iter().filter_map(|entry| entry.blob.clone()).collect();
//!     let contents = repository.read(&blobs, 1 << 20)?;
//! }
//! # Ok(())
//! # }
//! ```

mod changes;
mod driver;
mod error;
mod history;
mod objects;
mod revision;
#[cfg(test)]
mod tests;
mod textual;
mod tree;

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub use changes::{Change, Entry, Status};
pub use driver::{
    ATTRIBUTES, InForce, SETTINGS, Scope, SettingKind, Wiring, in_force, with_line, without_line,
};
pub use error::GitError;
pub use history::{Commit, Step};
pub use objects::{Content, ObjectId};
pub use revision::{Revision, RevisionKind, Side};
pub use textual::{Marking, base_of, merge_file, wants_base};
pub use tree::Tree;

use crate::world::{Ended, FileKind, Invocation, Program, Run};

/// How many bytes lists of files and commits may have.
const MAX_LIST_BYTES: u64 = 256 << 20;

/// Which files are looked at, wherever in the repository they lie.
const LOCK_FILES: &str = ":(top,glob)**/.terraform.lock.hcl";

/// What makes git quiet, quick and harmless.
const VARS: [(&str, &str); 6] = [
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    // What the line above says to git 2.45 and later only: an empty list allows no protocol.
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_LITERAL_PATHSPECS", "0"),
    ("LC_ALL", "C"),
];

/// Options that stand before every command.
const OPTIONS: [&str; 7] = [
    "--no-pager",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "log.showSignature=false",
    // It refuses every list of files but a single one.
    "-c",
    "log.follow=false",
];

/// A repository, with or without a work tree.
#[derive(Clone)]
pub struct Repository<'a> {
    run: &'a dyn Run,
    /// Where git is started.
    dir: PathBuf,
    /// The top of the work tree, as seen from where `dir` is; none in a bare repository.
    top: Option<PathBuf>,
    /// Where in the work tree `dir` is.
    prefix: PathBuf,
    is_shallow: bool,
}

impl std::fmt::Debug for Repository<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Repository");
        shown.field("dir", &self.dir).finish_non_exhaustive()
    }
}

impl<'a> Repository<'a> {
    /// Finds the repository that a directory is in.
    ///
    /// # Errors
    /// If git is not installed, if there is no repository, or if git refuses to use it.
    pub fn find(run: &'a dyn Run, dir: &Path) -> Result<Self, GitError> {
        let mut found = Self {
            run,
            dir: dir.to_owned(),
            top: None,
            prefix: PathBuf::new(),
            is_shallow: false,
        };
        let args = [
            "rev-parse",
            "--is-shallow-repository",
            "--is-inside-work-tree",
            "--show-cdup",
            "--show-prefix",
        ];
        let ended = found.git(&args, &[], MAX_LIST_BYTES)?;
        if ended.code != Some(0) {
            let text = String::from_utf8_lossy(&ended.stderr);
            return Err(match text.contains("not a git repository") {
                true => GitError::NoRepository {
                    dir: dir.to_owned(),
                },
                false => GitError::failed("rev-parse", &ended),
            });
        }
        // The last of the four may hold any byte.
        let mut lines = ended.stdout.splitn(4, |byte| *byte == b'\n');
        found.is_shallow = lines.next() == Some(b"true");
        if lines.next() == Some(b"true") {
            let up = path_of(lines.next().unwrap_or_default());
            let prefix = lines.next().unwrap_or_default();
            found.prefix = path_of(prefix.strip_suffix(b"\n").unwrap_or(prefix));
            found.top = Some(dir.join(up));
        }
        Ok(found)
    }

    /// Returns the top of the work tree; nothing in a bare repository.
    ///
    /// It begins as the directory did that the repository was found from: paths of [`Entry`] joined
    /// to it can be read.
    #[must_use]
    pub fn top(&self) -> Option<&Path> {
        self.top.as_deref()
    }

    /// Returns the directory that the repository was found from, as seen from the top of the work
    /// tree; empty at the top and in a bare repository.
    #[must_use]
    pub fn prefix(&self) -> &Path {
        &self.prefix
    }

    /// Tells whether older commits were left out when the repository was cloned.
    #[must_use]
    pub fn is_shallow(&self) -> bool {
        self.is_shallow
    }

    /// Runs git and returns what it prints.
    fn output(&self, args: &[&str], stdin: &[u8], limit: u64) -> Result<Vec<u8>, GitError> {
        let ended = self.git(args, stdin, limit)?;
        match ended.code {
            Some(0) => Ok(ended.stdout),
            _ => Err(GitError::failed(args[0], &ended)),
        }
    }

    fn git(&self, args: &[&str], stdin: &[u8], limit: u64) -> Result<Ended, GitError> {
        let all = OPTIONS.iter().chain(args);
        let all: Vec<OsString> = all.map(OsString::from).collect();
        let invocation = Invocation {
            program: Program::Git,
            args: &all,
            dir: &self.dir,
            vars: &VARS,
            stdin,
            limit,
        };
        let ended = self.run.run(&invocation);
        ended.map_err(|error| match error.kind() {
            ErrorKind::NotFound => GitError::NotInstalled,
            ErrorKind::FileTooLarge => GitError::TooMuch { limit },
            _ => GitError::NotRun {
                dir: self.dir.clone(),
                cause: error,
            },
        })
    }
}

/// Makes a path of the bytes that git prints.
#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

/// Makes a path of the bytes that git prints; elsewhere they are UTF-8.
#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// Tells what a mode of git stands for, as in `100644`.
fn kind_of(mode: &str) -> FileKind {
    match mode.get(..3) {
        Some("100") => FileKind::File,
        Some("120") => FileKind::Symlink,
        Some("040") => FileKind::Directory,
        _ => FileKind::Other,
    }
}
