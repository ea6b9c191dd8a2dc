//! Runs git apart from the user's settings (rules 5.3 to 5.5).

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::address::{AddressOrigin, GitAddress};
use super::error::GitFailure;
use super::{GitLimits, GitWorld};
use crate::world::{DirectoryRoom, Ended, Executable, Invocation, PrivateDirectory};

/// Settings that override those of the user.
const OPTIONS: [&str; 17] = [
    "--no-pager",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "protocol.ext.allow=never",
    "-c",
    "fetch.recurseSubmodules=no",
    "-c",
    "transfer.bundleURI=false",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
    "-c",
    "credential.interactive=never",
    "-c",
    "core.hooksPath=/dev/null",
];

/// Variables that would make git use another repository than the intended one, or write more than is read.
const WITHOUT: [&str; 22] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ATTR_SOURCE",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DEFAULT_HASH",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_PROTOCOL_FROM_USER",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_TEMPLATE_DIR",
    "GIT_TRACE",
    "GIT_TRACE_CURL",
    "GIT_TRACE_PACKET",
    "GIT_WORK_TREE",
];

/// Maximum number of characters of git's messages that are shown.
const MAX_SHOWN_CHARS: usize = 300;

/// Maximum output of git where one line is expected, in bytes.
pub(super) const MAX_LINE_BYTES: u64 = 64 << 10;

/// A place for repositories, and how git is run there.
pub(super) struct GitPlace<'a> {
    world: GitWorld<'a>,
    pub(super) limits: GitLimits,
    dir: Box<dyn PrivateDirectory>,
}

impl<'a> GitPlace<'a> {
    pub(super) fn new(world: GitWorld<'a>, limits: GitLimits) -> Result<Self, GitFailure> {
        let dir = world.disk.private_directory().map_err(GitFailure::NotRun)?;
        Ok(Self { world, limits, dir })
    }

    /// Makes an empty repository for objects with ids of so many digits; returns its path in the place.
    pub(super) fn repository(&self, name: &str, id_digits: usize) -> Result<PathBuf, GitFailure> {
        let repository = PathBuf::from(name);
        // The files are written without git, which would copy hooks into the repository.
        let make = || {
            self.dir.make_directory(&repository.join("objects"))?;
            self.dir.make_directory(&repository.join("refs"))?;
            self.dir
                .write(&repository.join("HEAD"), b"ref: refs/heads/none\n")
        };
        make().map_err(GitFailure::NotRun)?;
        self.forget_remotes(&repository, id_digits)?;
        Ok(repository)
    }

    /// Gives a repository plain settings.
    pub(super) fn forget_remotes(
        &self,
        repository: &Path,
        id_digits: usize,
    ) -> Result<(), GitFailure> {
        // A repository has one kind of ids; git refuses to fetch from one of the other kind.
        let settings = if id_digits == 64 {
            "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = sha256\n"
        } else {
            "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
        };
        // git notes in the settings that objects may be missing, and would fetch them.
        self.dir
            .write(&repository.join("config"), settings.as_bytes())
            .map_err(GitFailure::NotRun)
    }

    /// Runs a command that talks to a server; an exit code other than 0 is no error here.
    pub(super) fn ask(
        &self,
        address: &GitAddress,
        repository: Option<&Path>,
        args: &[&str],
        stdin: &[u8],
    ) -> Result<Ended, GitFailure> {
        let mut vars = vec![
            ("GIT_TERMINAL_PROMPT", "0".to_owned()),
            ("LC_ALL", "C".to_owned()),
            ("GCM_INTERACTIVE", "never".to_owned()),
        ];
        if self.world.env.var("SSH_ASKPASS_REQUIRE").is_none() {
            // ssh would wait for an answer at the terminal.
            vars.push(("SSH_ASKPASS_REQUIRE", "force".to_owned()));
        }
        if address.origin == AddressOrigin::Repository {
            // With this, git itself refuses files of this machine and helper programs, as in addresses of
            // submodules.
            vars.push(("GIT_PROTOCOL_FROM_USER", "0".to_owned()));
        }
        if let Some(key) = &address.key {
            let name = Path::new("key");
            self.dir
                .write(name, key.reveal().as_bytes())
                .map_err(GitFailure::NotRun)?;
            let file = text_of(&self.dir.path().join(name)).map_err(GitFailure::NotRun)?;
            let ssh = self
                .world
                .env
                .var("GIT_SSH_COMMAND")
                .and_then(|ssh| ssh.into_string().ok())
                .filter(|ssh| !ssh.is_empty())
                .unwrap_or_else(|| "ssh".to_owned());
            // git gives the command to a shell.
            let command = format!("{ssh} -i '{}'", file.replace('\'', r"'\''"));
            vars.push(("GIT_SSH_COMMAND", command));
        }
        self.git(repository, args, &vars, stdin, MAX_REFS_BYTES)
            .map_err(|error| self.failure(&error, args, address, MAX_REFS_BYTES))
    }

    /// Runs a command that reads a repository and talks to no server; `address` is for messages.
    pub(super) fn read(
        &self,
        repository: &Path,
        address: &GitAddress,
        args: &[&str],
        stdin: &[u8],
        limit: u64,
    ) -> Result<Ended, GitFailure> {
        // A repository may lack objects and name replacements for others; git must neither fetch nor use them.
        let vars = [
            ("GIT_ALLOW_PROTOCOL", String::new()),
            ("GIT_NO_LAZY_FETCH", "1".to_owned()),
            ("GIT_NO_REPLACE_OBJECTS", "1".to_owned()),
            ("LC_ALL", "C".to_owned()),
        ];
        self.git(Some(repository), args, &vars, stdin, limit)
            .map_err(|error| self.failure(&error, args, address, limit))
    }

    /// Makes the failure of a command that did not run to its end.
    fn failure(
        &self,
        error: &io::Error,
        args: &[&str],
        address: &GitAddress,
        limit: u64,
    ) -> GitFailure {
        let url = address.shown().to_owned();
        let command = COMMANDS
            .iter()
            .find(|command| args.contains(command))
            .copied()
            .unwrap_or("command");
        match error.kind() {
            ErrorKind::NotFound => GitFailure::NotInstalled,
            ErrorKind::TimedOut => GitFailure::TooSlow {
                command,
                url,
                limit: self.time(args),
            },
            // The world stops git when the directory passes its limit; git itself has none.
            ErrorKind::QuotaExceeded => GitFailure::TooLarge {
                what: "objects",
                url,
                limit: self.limits.bytes,
            },
            ErrorKind::FileTooLarge => GitFailure::TooLarge {
                what: "names",
                url,
                limit,
            },
            kind => GitFailure::NotRun(kind.into()),
        }
    }

    fn git(
        &self,
        repository: Option<&Path>,
        args: &[&str],
        vars: &[(&str, String)],
        stdin: &[u8],
        limit: u64,
    ) -> io::Result<Ended> {
        let dir = self.dir.path();
        let mut vars = vars.to_vec();
        match repository {
            // Stated, so that git looks for no other repository, and none of a variable counts (rules 5.4).
            Some(repository) => vars.push(("GIT_DIR", text_of(&dir.join(repository))?)),
            // No repository above the directory counts.
            None => vars.push((
                "GIT_CEILING_DIRECTORIES",
                text_of(dir.parent().unwrap_or(dir))?,
            )),
        }
        let vars: Vec<(&str, &str)> = vars.iter().map(|(name, value)| (*name, &**value)).collect();
        let all: Vec<OsString> = OPTIONS.iter().chain(args).map(OsString::from).collect();
        self.world.run.run(&Invocation {
            program: Executable::Git,
            args: &all,
            dir,
            vars: &vars,
            stdin,
            limit,
            timeout: Some(self.time(args)),
            without: &WITHOUT,
            room: Some(DirectoryRoom {
                dir,
                limit: self.limits.bytes,
            }),
            memory: None,
        })
    }

    fn time(&self, args: &[&str]) -> Duration {
        if args.contains(&"ls-remote") {
            self.limits.list_time
        } else {
            self.limits.fetch_time
        }
    }
}

/// The commands that messages name.
const COMMANDS: [&str; 6] = [
    "ls-remote",
    "fetch",
    "rev-parse",
    "ls-tree",
    "cat-file",
    "config",
];

/// Maximum output of git about the refs of a repository, in bytes: some 400,000 refs.
const MAX_REFS_BYTES: u64 = 32 << 20;

fn text_of(path: &Path) -> io::Result<String> {
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| io::Error::other("the path of the temporary directory is no UTF-8"))
}

/// Makes the error of a command that failed to talk to a server.
pub(super) fn unreachable(address: &GitAddress, ended: &Ended) -> GitFailure {
    let url = address.shown().to_owned();
    let text = String::from_utf8_lossy(&ended.stderr);
    let line = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("fatal: "))
        .or_else(|| text.lines().map(str::trim).find(|line| !line.is_empty()))
        .unwrap_or("git says nothing");
    // A server may send control characters, which would change the terminal of the user.
    let line: String = line
        .chars()
        .filter(|c| !c.is_control())
        .take(MAX_SHOWN_CHARS)
        .collect();
    let message = address.veil(&line);
    // git reports all failures by one exit code, so the kind has to be read from its words, with `LC_ALL=C`.
    let is_missing = [
        "not found",
        "does not exist",
        "not appear to be a git repository",
    ]
    .iter()
    .any(|words| message.contains(words));
    GitFailure::Unreachable {
        url,
        message,
        is_missing,
    }
}
