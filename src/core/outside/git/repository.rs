//! A repository, and how git is started in it.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::GitError;
use crate::world::{Ended, Executable, FileKind, Invocation, Run};

/// Maximum size of a list of files or commits, in bytes.
pub(super) const MAX_LIST_BYTES: u64 = 256 << 20;

/// Commands whose work does not grow with the history of the repository.
const QUICK: [&str; 4] = ["rev-parse", "config", "check-ignore", "check-attr"];

/// Time limit of these. git opens `HEAD`, its configuration or the index before anything else, and waits for a
/// writer if one of them is a FIFO.
const MAX_QUICK_TIME: Duration = Duration::from_secs(20);

/// Time limit of all other commands: a history of a million commits is read in minutes.
const MAX_TIME: Duration = Duration::from_secs(10 * 60);

/// Maximum memory of the quick commands, in bytes. git reads a reference to its end, and one may be a link to
/// `/dev/zero`; no check beforehand knows all the files that git opens. An index of a million files takes some 200 MB.
const MAX_QUICK_MEMORY: u64 = 512 << 20;

/// Maximum memory of all other commands, in bytes: the history of a million commits takes several hundred MB.
const MAX_MEMORY: u64 = 2 << 30;

/// The lock files of the whole repository, as pathspecs: those in directories, and the one at the top.
///
/// Without `glob` magic a leading `*` is the whole pattern for git: it compares the ends of paths, which is several
/// times as fast as `**/`.
pub(super) const LOCK_FILES: [&str; 2] = [
    ":(top)*/.terraform.lock.hcl",
    ":(top,literal).terraform.lock.hcl",
];

/// The files of pinned modules of the whole repository, as pathspecs.
pub const PIN_FILES: [&str; 2] = [
    ":(top)*/.lockctl.modules.hcl",
    ":(top,literal).lockctl.modules.hcl",
];

/// The project files of the whole repository, as pathspecs.
pub const PROJECT_FILES: [&str; 2] = [":(top)*/.lockctl.hcl", ":(top,literal).lockctl.hcl"];

/// Variables that make git quiet, quick and harmless.
const VARS: [(&str, &str); 9] = [
    ("GIT_TERMINAL_PROMPT", "0"),
    // A second git in the same directory would fail meanwhile.
    ("GIT_OPTIONAL_LOCKS", "0"),
    // In a partial clone, reading a missing object would make a network request.
    ("GIT_NO_LAZY_FETCH", "1"),
    // What the line above says to git 2.45 and later only: an empty list allows no protocol.
    ("GIT_ALLOW_PROTOCOL", ""),
    // A user may have set any of them for pathspecs of their own.
    ("GIT_LITERAL_PATHSPECS", "0"),
    ("GIT_GLOB_PATHSPECS", "0"),
    ("GIT_NOGLOB_PATHSPECS", "0"),
    ("GIT_ICASE_PATHSPECS", "0"),
    ("LC_ALL", "C"),
];

/// Options before every command.
pub(super) const OPTIONS: [&str; 9] = [
    "--no-pager",
    // `git diff` writes the index when only the time of a file differs, in spite of `GIT_OPTIONAL_LOCKS`
    // (`refresh_index_quietly` in its builtin/diff.c).
    "-c",
    "diff.autoRefreshIndex=false",
    // A program that the configuration of a cloned repository may name.
    "-c",
    "core.fsmonitor=false",
    "-c",
    "log.showSignature=false",
    // It refuses every list of files but a single one.
    "-c",
    "log.follow=false",
];

/// Takes the output of git piece by piece.
type OutputReader<'r> = &'r mut dyn FnMut(&[u8]);

/// Limits of one run of git.
#[derive(Clone, Copy)]
struct InvocationLimits {
    time: Duration,
    /// Maximum memory that it writes to, in bytes.
    memory: u64,
    /// Maximum size of what it prints, in bytes.
    output: u64,
}

/// Whose configuration of git is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigScope {
    /// The configuration of a repository.
    Local,
    /// All repositories of the user.
    Global,
}

/// A repository, with or without a work tree.
#[derive(Clone)]
pub struct Repository<'a> {
    run: &'a dyn Run,
    /// The working directory of git.
    dir: PathBuf,
    /// The top of the work tree, as seen from where `dir` is; none in a bare repository.
    top: Option<PathBuf>,
    /// The path from the top of the work tree to `dir`.
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
        let mut repository = Self::anywhere(run, dir);
        let args = [
            "rev-parse",
            "--is-shallow-repository",
            "--is-inside-work-tree",
            "--show-cdup",
            "--show-prefix",
        ];
        let ended = repository.git(&args, &[], MAX_LIST_BYTES)?;
        // git has one exit code (128) for all failures; `LC_ALL=C` keeps its messages in English.
        if ended.code != Some(0) {
            let text = String::from_utf8_lossy(&ended.stderr);
            return Err(if text.contains("not a git repository") {
                GitError::NoRepository {
                    dir: dir.to_owned(),
                }
            } else {
                GitError::failed("rev-parse", &ended)
            });
        }
        // The last of the four may hold any byte.
        let mut lines = ended.stdout.splitn(4, |byte| *byte == b'\n');
        repository.is_shallow = lines.next() == Some(b"true");
        if lines.next() == Some(b"true") {
            let up = path_of(lines.next().unwrap_or_default());
            let prefix = lines.next().unwrap_or_default();
            repository.prefix = path_of(prefix.strip_suffix(b"\n").unwrap_or(prefix));
            repository.top = Some(dir.join(up));
        }
        Ok(repository)
    }

    /// Returns true if git ignores a file of a directory. A tracked file is not ignored, even if a `.gitignore`
    /// matches it.
    ///
    /// # Errors
    /// If git is not installed, if there is no repository, or if git refuses to use it.
    pub fn ignores(run: &'a dyn Run, dir: &Path, file: &str) -> Result<bool, GitError> {
        let args = ["check-ignore", "--quiet", "--", file];
        let ended = Self::anywhere(run, dir).git(&args, &[], MAX_LIST_BYTES)?;
        // 0 and 1 are answers, 128 is a failure (git-check-ignore(1)).
        match ended.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(GitError::failed("check-ignore", &ended)),
        }
    }

    /// Returns true if git makes CRLF of the LF that it stores for a file of a directory, and LF of the CRLF again.
    ///
    /// That is known of a file that git tracks with LF and that has CRLF on disk: its attributes name it a text, or
    /// say nothing while `core.autocrlf` is set.
    ///
    /// # Errors
    /// If git is not installed, if there is no repository, or if git refuses to use it.
    pub fn converts_line_ends(run: &'a dyn Run, dir: &Path, file: &str) -> Result<bool, GitError> {
        let repository = Self::anywhere(run, dir);
        let listed = repository.output(&["ls-files", "--eol", "--", file], &[], MAX_LIST_BYTES)?;
        let listed = String::from_utf8_lossy(&listed);
        // As in `i/lf    w/crlf  attr/text=auto eol=crlf` (git-ls-files(1)).
        let words: Vec<&str> = listed.split_ascii_whitespace().collect();
        let ["i/lf", "w/crlf", attribute, ..] = words[..] else {
            return Ok(false);
        };
        Ok(match attribute {
            "attr/-text" => false,
            "attr/" => {
                let setting = repository.setting(None, "core.autocrlf")?;
                let is_off = |value: &str| ["false", "no", "off", "0"].contains(&value);
                setting.is_some_and(|value| !is_off(&value.to_lowercase()))
            }
            _ => true,
        })
    }

    /// Makes a value for a directory that may be in no repository at all.
    pub(super) fn anywhere(run: &'a dyn Run, dir: &Path) -> Self {
        Self {
            run,
            dir: dir.to_owned(),
            top: None,
            prefix: PathBuf::new(),
            is_shallow: false,
        }
    }

    /// Returns the top of the work tree; nothing in a bare repository.
    ///
    /// It begins as the directory did that the repository was found from: paths of [`TreeEntry`](super::TreeEntry) joined
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

    /// Returns whether older commits were left out when the repository was cloned.
    #[must_use]
    pub fn is_shallow(&self) -> bool {
        self.is_shallow
    }

    /// Returns the value of a setting in a scope, or the one that counts.
    pub(super) fn setting(
        &self,
        scope: Option<ConfigScope>,
        name: &str,
    ) -> Result<Option<String>, GitError> {
        let mut args = vec!["config"];
        args.extend(scope.map(ConfigScope::option));
        args.extend(["--null", "--get", name]);
        let ended = self.git(&args, &[], MAX_LIST_BYTES)?;
        let text = String::from_utf8_lossy(&ended.stdout);
        // `git config --get` exits with 1 for a variable that is not set (`git-config(1)`).
        match ended.code {
            Some(0) => Ok(Some(text.trim_end_matches('\0').to_owned())),
            Some(1) => Ok(None),
            // A global file that does not exist yet.
            _ if scope == Some(ConfigScope::Global) && text.is_empty() => Ok(None),
            _ => Err(GitError::failed("config", &ended)),
        }
    }

    /// Runs git and returns what it prints; an exit code other than 0 is an error.
    pub(super) fn output(
        &self,
        args: &[&str],
        stdin: &[u8],
        limit: u64,
    ) -> Result<Vec<u8>, GitError> {
        output_of(args, self.git(args, stdin, limit)?)
    }

    /// Runs git for a command that looks at a single file; an exit code other than 0 is an error.
    pub(super) fn output_of_file(&self, args: &[&str], limit: u64) -> Result<Vec<u8>, GitError> {
        output_of(args, self.git_for_file(args, limit)?)
    }

    /// Runs git for a command that looks at a single file, and returns its result with any exit code.
    ///
    /// It has the time of the quick commands. Objects of the repository may be large, so its memory is that of all
    /// others.
    pub(super) fn git_for_file(&self, args: &[&str], limit: u64) -> Result<Ended, GitError> {
        let limits = InvocationLimits {
            time: MAX_QUICK_TIME,
            memory: MAX_MEMORY,
            output: limit,
        };
        self.git_within(limits, args, &[], None)
    }

    /// Runs git, and returns its result with any exit code.
    pub(super) fn git(&self, args: &[&str], stdin: &[u8], limit: u64) -> Result<Ended, GitError> {
        let (time, memory) = if QUICK.contains(&args[0]) {
            (MAX_QUICK_TIME, MAX_QUICK_MEMORY)
        } else {
            (MAX_TIME, MAX_MEMORY)
        };
        let limits = InvocationLimits {
            time,
            memory,
            output: limit,
        };
        self.git_within(limits, args, stdin, None)
    }

    /// Runs git, and hands over what it prints while it runs; an exit code other than 0 is an error.
    pub(super) fn stream(
        &self,
        args: &[&str],
        limit: u64,
        each: &mut dyn FnMut(&[u8]),
    ) -> Result<(), GitError> {
        let limits = InvocationLimits {
            time: MAX_TIME,
            memory: MAX_MEMORY,
            output: limit,
        };
        let ended = self.git_within(limits, args, &[], Some(each))?;
        output_of(args, ended).map(drop)
    }

    fn git_within(
        &self,
        limits: InvocationLimits,
        args: &[&str],
        stdin: &[u8],
        each: Option<OutputReader<'_>>,
    ) -> Result<Ended, GitError> {
        let command = args[0];
        let args: Vec<OsString> = OPTIONS.iter().chain(args).map(OsString::from).collect();
        let invocation = Invocation {
            program: Executable::Git,
            args: &args,
            dir: &self.dir,
            vars: &VARS,
            stdin,
            limit: limits.output,
            timeout: Some(limits.time),
            without: &[],
            room: None,
            memory: Some(limits.memory),
        };
        let ended = match each {
            Some(each) => self.run.stream(&invocation, each),
            None => self.run.run(&invocation),
        };
        ended.map_err(|error| match error.kind() {
            ErrorKind::NotFound => GitError::NotInstalled,
            ErrorKind::FileTooLarge => GitError::TooMuch {
                limit: limits.output,
            },
            ErrorKind::TimedOut => GitError::TooSlow {
                command: command.to_owned(),
                seconds: limits.time.as_secs(),
            },
            _ => GitError::NotRun {
                dir: self.dir.clone(),
                cause: error,
            },
        })
    }
}

fn output_of(args: &[&str], ended: Ended) -> Result<Vec<u8>, GitError> {
    match ended.code {
        Some(0) => Ok(ended.stdout),
        _ => Err(GitError::failed(args[0], &ended)),
    }
}

impl ConfigScope {
    /// Returns the option of `git config`.
    #[must_use]
    pub fn option(self) -> &'static str {
        match self {
            Self::Local => "--local",
            Self::Global => "--global",
        }
    }
}

/// Makes a path of the bytes that git prints.
#[cfg(unix)]
pub(super) fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

/// Makes a path of the bytes that git prints; elsewhere they are UTF-8.
#[cfg(not(unix))]
pub(super) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// Returns what kind of file a mode of git means, as in `100644`.
pub(super) fn kind_of(mode: &str) -> FileKind {
    match mode.get(..3) {
        Some("100") => FileKind::File,
        Some("120") => FileKind::Symlink,
        Some("040") => FileKind::Directory,
        _ => FileKind::Other,
    }
}
