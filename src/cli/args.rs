//! What was typed, validated alone.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{ArgAction, Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

use crate::cli::Command;

use crate::cli::diff::Diff;
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
use crate::parallel;
use crate::platform::Platform;
use crate::report::graph::Language;
use crate::report::{CHECK_FORMATS, CheckFormat};
use crate::verify::Group;

/// Resolves, locks, verifies and explains the provider dependencies of Terraform and OpenTofu
#[derive(Clone, Debug, Parser)]
// Without its own name for usage texts, the file name of the program would stand there: lockctl.exe.
#[command(name = "lockctl", bin_name = "lockctl", version)]
pub(super) struct CommandLine {
    #[command(flatten)]
    pub(super) common: Common,
    #[command(subcommand)]
    pub(super) command: Typed,
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
    #[arg(long, global = true, default_value = "human", value_parser = one_of(Format::all()))]
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

impl Common {
    /// Returns a path as seen from where `--chdir` leads.
    pub(super) fn below(&self, path: &Path) -> PathBuf {
        match &self.chdir {
            Some(dir) if path == Path::new(".") => dir.clone(),
            Some(dir) => dir.join(path),
            None => path.to_owned(),
        }
    }
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Human,
    Json,
    Markdown,
    Checks(&'static CheckFormat),
    Graph(Language),
}

/// When something is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum When {
    Auto,
    Always,
    Never,
}

/// What a command prints beside text for people and JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FormatKind {
    /// Markdown.
    Prose,
    /// What programs of CI read: findings about roots.
    Checks,
    /// Languages that draw graphs.
    Graphs,
}

/// Defines the commands, one line each: its arguments, its name, which formats it prints beside text
/// for people and JSON. The doc comment of the arguments is its help.
macro_rules! commands {
    ($($name:ident = $typed:literal, [$($kind:ident),*];)*) => {
        #[derive(Clone, Debug, Subcommand)]
        pub(super) enum Typed {
            $($name($name),)*
        }

        impl Typed {
            /// Returns the name of the command, as typed.
            pub(super) fn name(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => $typed,)*
                }
            }

            /// Returns what it does, and how its result reads.
            pub(super) fn command(&self) -> &dyn Command {
                match self {
                    $(Self::$name(args) => args,)*
                }
            }
        }

        /// Every command with the formats that only some know.
        const COMMANDS: &[(&str, &[FormatKind])] =
            &[$(($typed, &[$(FormatKind::$kind),*])),*];
    };
}

commands! {
    Lock = "lock", [];
    Verify = "verify", [Prose, Checks];
    Diff = "diff", [Prose];
    Show = "show", [];
    Why = "why", [];
    Tree = "tree", [Graphs];
    Explain = "explain", [Prose];
    Hash = "hash", [];
    Fmt = "fmt", [];
    Merge = "merge", [];
    Resolve = "resolve", [];
    Log = "log", [];
    Git = "git", [];
    GitTextconv = "git-textconv", [];
    Completions = "completions", [];
    Man = "man", [];
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

impl CommandLine {
    /// Reads what was typed.
    ///
    /// # Errors
    /// With what is to be printed instead: help, the version, or what is wrong.
    pub(super) fn read(args: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let line = Self::try_parse_from(args)?;
        let format = line.common.format;
        let text = match (format.check(line.command.name()), &line.command) {
            (Err(commands), _) => {
                let name = format.name();
                format!("'--format {name}' is a format of {commands} only")
            }
            (_, Typed::Verify(args))
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
    /// Returns every format with its name, in the order in which help lists them.
    fn all() -> impl Iterator<Item = (&'static str, Self)> {
        let checks = CHECK_FORMATS.iter();
        let checks = checks.map(|format| (format.name, Self::Checks(format)));
        let prose = [
            ("human", Self::Human),
            ("json", Self::Json),
            ("markdown", Self::Markdown),
        ];
        let graphs = [
            ("mermaid", Self::Graph(Language::Mermaid)),
            ("dot", Self::Graph(Language::Dot)),
        ];
        prose.into_iter().chain(checks).chain(graphs)
    }

    fn name(self) -> &'static str {
        let mut all = Self::all();
        let own = all.find_map(|(name, format)| (format == self).then_some(name));
        own.expect("every format has a name")
    }

    /// Makes sure that a command knows the format.
    ///
    /// # Errors
    /// With the commands that do.
    fn check(self, command: &str) -> Result<(), String> {
        let kind = match self {
            Self::Human | Self::Json => return Ok(()),
            Self::Markdown => FormatKind::Prose,
            Self::Checks(_) => FormatKind::Checks,
            Self::Graph(_) => FormatKind::Graphs,
        };
        let knowing = COMMANDS.iter().filter(|(_, kinds)| kinds.contains(&kind));
        let mut names: Vec<&str> = knowing.map(|(name, _)| *name).collect();
        if names.contains(&command) {
            return Ok(());
        }
        names.sort_unstable();
        let names: Vec<String> = names
            .iter()
            .map(|name| format!("`lockctl {name}`"))
            .collect();
        Err(match names.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} and {last}", others.join(", ")),
            None => "no command".to_owned(),
        })
    }
}

/// Returns how many packages may be hashed at once: what was typed, else the number of cores.
pub(in crate::cli) fn job_count(typed: Option<NonZeroUsize>) -> NonZeroUsize {
    typed.unwrap_or_else(parallel::cores)
}

pub(in crate::cli) fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "write a whole number from 1 up".to_owned())
}

/// Reads one of a few words, which help lists.
pub(in crate::cli) fn one_of<T: Clone + Send + Sync + 'static>(
    words: impl IntoIterator<Item = (&'static str, T)>,
) -> impl TypedValueParser<Value = T> {
    let words: Vec<(&'static str, T)> = words.into_iter().collect();
    let names: Vec<&'static str> = words.iter().map(|(name, _)| *name).collect();
    PossibleValuesParser::new(names).map(move |word: String| {
        let mut known = words.iter();
        let value = known.find_map(|(name, value)| (*name == word).then(|| value.clone()));
        value.expect("the parser lets no other word through")
    })
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
        let Typed::Lock(lock) = parsed.command else {
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
