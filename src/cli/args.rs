//! What was typed, validated alone.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{ArgAction, Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

use crate::cli::explain::Explain;
use crate::cli::fmt::Fmt;
use crate::cli::generate::{Completions, Man};
use crate::cli::git::args::{Git, GitTextconv};
use crate::cli::hash::Hash;
use crate::cli::lock::Lock;
use crate::cli::log::Log;
use crate::cli::merge::args::Merge;
use crate::cli::resolve::args::Resolve;
use crate::cli::show::Show;
use crate::cli::tree::Tree;
use crate::cli::verify::Verify;
use crate::cli::why::Why;
use crate::flavor::FlavorChoice;
use crate::platform::Platform;
use crate::verify::Group;

/// Resolves, locks, verifies and explains the provider dependencies of Terraform and OpenTofu
#[derive(Clone, Debug, Parser)]
// Without its own name for usage texts, the file name of the program would stand there: lockctl.exe.
#[command(name = "lockctl", bin_name = "lockctl", version)]
pub(super) struct CommandLine {
    #[command(flatten)]
    pub(super) common: Common,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// What every command takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Options of every command")]
pub(super) struct Common {
    /// Act as if started in this directory
    #[arg(short = 'C', long, global = true, value_name = "DIR")]
    pub(super) chdir: Option<PathBuf>,
    /// Whose rules apply: auto, terraform, opentofu, or with a version, as in terraform@1.11
    #[arg(long, global = true, default_value = "auto", hide_default_value = true)]
    pub(super) flavor: FlavorChoice,
    /// How results are printed: for people, or as one JSON object; by `verify`, `diff` and `explain`
    /// as Markdown; by `verify` as SARIF, as a JUnit report or as annotations of GitHub Actions; by
    /// `tree` as a picture to draw
    #[arg(long, global = true, value_enum, default_value_t = Format::Human)]
    pub(super) format: Format,
    /// When colours are used; auto: on a terminal, unless `NO_COLOR` is set
    #[arg(long, global = true, value_enum, default_value_t = When::Auto)]
    pub(super) color: When,
    /// Print results only, no remarks
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// Print more: notes, single hashes, packages, requests
    #[arg(short, long, global = true, action = ArgAction::SetTrue)]
    pub(super) verbose: bool,
    /// Ask nobody over the network
    #[arg(long, global = true)]
    pub(super) offline: bool,
    /// Use this project file instead of every .lockctl.hcl
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Read this CLI configuration of Terraform or OpenTofu instead of the usual ones
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) cli_config: Option<PathBuf>,
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Human,
    Json,
    Markdown,
    Sarif,
    Junit,
    Github,
    Mermaid,
    Dot,
}

/// When something is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum When {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Debug, Subcommand)]
pub(super) enum Command {
    /// Create or complete the lock file: versions, constraints, hashes of all wanted platforms
    Lock(Lock),
    /// Check the lock file against configuration, platforms and installed packages
    Verify(Verify),
    /// Explain what changed between two lock files, or in all of a git repository, and whether it is
    /// alarming
    Diff(Diff),
    /// Show what is locked
    Show(Show),
    /// Show every place that requires a provider, and whether any version can satisfy them all
    Why(Why),
    /// Show the modules, and what each of them requires by itself
    Tree(Tree),
    /// Explain rules: what a finding means, what follows, how to mend it
    Explain(Explain),
    /// Print the hashes of packages: zip files or unpacked directories
    Hash(Hash),
    /// Rewrite lock files in canonical form
    Fmt(Fmt),
    /// Merge three versions of a lock file, entry by entry (a merge driver of git)
    Merge(Merge),
    /// Merge lock files in which git left conflict markers, entry by entry
    Resolve(Resolve),
    /// Show the history of a provider, or of all, in the lock file of a git repository
    Log(Log),
    /// Wire lockctl into git: merge driver, diff driver, attributes
    Git(Git),
    /// Print a lock file for people, one fact a line (a diff driver of git)
    GitTextconv(GitTextconv),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print the manual page of a command, or write those of all commands
    Man(Man),
}

/// How configuration is read.
#[derive(Clone, Debug, Args)]
pub(super) struct Configuration {
    /// Look for test files in this directory of the root, not in tests
    #[arg(long, value_name = "DIR")]
    pub(super) test_directory: Option<PathBuf>,
    /// Fail if a module cannot be seen
    #[arg(long)]
    pub(super) strict_modules: bool,
    /// Do not read the state: what only it needs counts as needed by nothing
    #[arg(long)]
    pub(super) no_state: bool,
    /// Read and write nothing outside of this directory, whatever paths and links say; files that are
    /// named by an option may lie elsewhere
    #[arg(long, value_name = "DIR")]
    pub(super) confine: Option<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub(super) struct Diff {
    /// The lock file before, its directory, or a revision: REV, A..B or A...B of a git repository
    /// [default: HEAD]
    #[arg(value_name = "OLD")]
    pub(super) old: Option<PathBuf>,
    /// The lock file now, its directory, or a revision [default: the work tree]
    #[arg(value_name = "NEW", conflicts_with = "staged")]
    pub(super) new: Option<PathBuf>,
    /// Compare with what the next commit will hold
    #[arg(long, alias = "cached")]
    pub(super) staged: bool,
    /// Exit with 1 if a change is as risky as this, or worse
    #[arg(long, value_enum, value_name = "RISK")]
    pub(super) fail_on: Option<FailOn>,
}

/// From which risk on a change is a bad answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FailOn {
    Warning,
    Danger,
}

#[derive(Clone, Debug, Args)]
pub(super) struct Roots {
    /// Root module directories [default: the working directory]
    #[arg(value_name = "ROOT")]
    roots: Vec<PathBuf>,
    /// Find the roots in each ROOT and below: directories with a lock file or a backend, and those
    /// that the project file names
    #[arg(short, long)]
    pub(super) recursive: bool,
}

#[derive(Clone, Debug, Args)]
pub(super) struct Platforms {
    /// Wanted platforms: OS_ARCH, common, all, current or locked (repeat, or separate by commas)
    /// [default: those of the project file, else common]
    #[arg(long = "platform", value_delimiter = ',', value_name = "PLATFORM")]
    pub(super) platforms: Vec<PlatformArg>,
}

impl Roots {
    /// Returns these roots with one more before them.
    pub(super) fn after(&self, first: &str) -> Self {
        let mut roots = self.clone();
        roots.roots.insert(0, PathBuf::from(first));
        roots
    }
}

impl Command {
    /// Returns how configuration is read, for commands that do.
    pub(super) fn configuration(&self) -> Option<&Configuration> {
        match self {
            Self::Lock(args) => Some(&args.configuration),
            Self::Verify(args) => Some(&args.configuration),
            Self::Why(args) => Some(&args.configuration),
            Self::Tree(args) => Some(&args.configuration),
            _ => None,
        }
    }

    /// Returns the paths of packages that options name.
    pub(super) fn packages(&self) -> Vec<PathBuf> {
        match self {
            Self::Lock(args) => args.fs_mirror.iter().cloned().collect(),
            Self::Verify(args) => [&*args.fs_mirrors, &*args.packages].concat(),
            _ => Vec::new(),
        }
    }

    /// Returns the name of the command, as typed.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Lock(_) => "lock",
            Self::Verify(_) => "verify",
            Self::Diff(_) => "diff",
            Self::Show(_) => "show",
            Self::Why(_) => "why",
            Self::Tree(_) => "tree",
            Self::Explain(_) => "explain",
            Self::Hash(_) => "hash",
            Self::Fmt(_) => "fmt",
            Self::Merge(_) => "merge",
            Self::Resolve(_) => "resolve",
            Self::Log(_) => "log",
            Self::Git(_) => "git",
            Self::GitTextconv(_) => "git-textconv",
            Self::Completions(_) => "completions",
            Self::Man(_) => "man",
        }
    }
}

impl CommandLine {
    /// Reads what was typed.
    ///
    /// # Errors
    /// With what is to be printed instead: help, the version, or what is wrong.
    pub(super) fn read(args: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let line = Self::try_parse_from(args)?;
        let format = line.common.format;
        let named = format.to_possible_value();
        let name = named.as_ref().map_or("", |value| value.get_name());
        let text = match (format.commands(&line.command), &line.command) {
            (Err(commands), _) => format!("'--format {name}' is a format of {commands} only"),
            (_, Command::Verify(args))
                if line.common.offline && args.groups().wants(Group::Upstream) =>
            {
                "'--upstream' asks registries, and '--offline' forbids that".to_owned()
            }
            _ => return Ok(line),
        };
        Err(Self::command().error(ErrorKind::ArgumentConflict, text))
    }
}

impl Format {
    /// Makes sure that a command knows the format.
    ///
    /// # Errors
    /// With the commands that do.
    fn commands(self, command: &Command) -> Result<(), &'static str> {
        let (knows, commands) = match self {
            Self::Human | Self::Json => (true, "every command"),
            Self::Markdown => (
                matches!(
                    command,
                    Command::Diff(_) | Command::Explain(_) | Command::Verify(_)
                ),
                "`lockctl diff`, `lockctl explain` and `lockctl verify`",
            ),
            Self::Sarif | Self::Junit | Self::Github => {
                (matches!(command, Command::Verify(_)), "`lockctl verify`")
            }
            Self::Mermaid | Self::Dot => (matches!(command, Command::Tree(_)), "`lockctl tree`"),
        };
        if knows { Ok(()) } else { Err(commands) }
    }
}

pub(in crate::cli) fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "write a whole number from 1 up".to_owned())
}

/// One value of `--platform`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PlatformArg {
    Named(Platform),
    Common,
    All,
    Current,
    Locked,
}

impl std::str::FromStr for PlatformArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "common" => Ok(Self::Common),
            "all" => Ok(Self::All),
            "current" => Ok(Self::Current),
            "locked" => Ok(Self::Locked),
            _ => text
                .parse()
                .map(Self::Named)
                .map_err(|error: crate::platform::PlatformError| {
                    format!("{error}, or one of common, all, current, locked")
                }),
        }
    }
}

impl Roots {
    /// Returns the roots as typed, the working directory if none was.
    ///
    /// The path of a lock file stands for its directory.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        if self.roots.is_empty() {
            return vec![PathBuf::from(".")];
        }
        let is_lock = |path: &PathBuf| path.ends_with(crate::lockfile::FILE_NAME);
        let parent = |path: &PathBuf| match path.parent() {
            Some(dir) if !dir.as_os_str().is_empty() => dir.to_owned(),
            _ => PathBuf::from("."),
        };
        self.roots
            .iter()
            .map(|p| if is_lock(p) { parent(p) } else { p.clone() })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn platforms_may_be_repeated_or_listed() {
        let line = [
            "lockctl",
            "lock",
            "--platform",
            "linux_amd64,common",
            "--platform",
            "all",
        ];
        let parsed = CommandLine::try_parse_from(line).expect("valid");
        let Command::Lock(lock) = parsed.command else {
            panic!("lock was typed")
        };
        let named = PlatformArg::Named("linux_amd64".parse().expect("valid"));
        assert_eq!(
            lock.platforms.platforms,
            [named, PlatformArg::Common, PlatformArg::All]
        );
    }

    #[test]
    fn the_path_of_a_lock_file_stands_for_its_root() {
        let paths = |given: &[&str]| {
            Roots {
                roots: given.iter().map(PathBuf::from).collect(),
                recursive: false,
            }
            .paths()
        };
        assert_eq!(paths(&[]), [PathBuf::from(".")]);
        assert_eq!(paths(&[".terraform.lock.hcl"]), [PathBuf::from(".")]);
        assert_eq!(
            paths(&["a/.terraform.lock.hcl", "b"]),
            [PathBuf::from("a"), PathBuf::from("b")]
        );
    }
}
