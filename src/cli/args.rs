//! What was typed, validated alone.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{
    ArgAction, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum,
};

use crate::cli::Command;
use crate::cli::cache::args::Cache;
use crate::cli::convert::Convert;
use crate::cli::diff::Diff;
use crate::cli::eval::Eval;
use crate::cli::explain::Explain;
use crate::cli::fmt::Fmt;
use crate::cli::formats::{Format, FormatKind};
use crate::cli::generate::{Completions, Man};
use crate::cli::git::args::{Git, GitTextconv};
use crate::cli::hash::Hash;
use crate::cli::lock::Lock;
use crate::cli::log::Log;
use crate::cli::merge::args::Merge;
use crate::cli::outdated::Outdated;
use crate::cli::resolve::args::Resolve;
use crate::cli::show::Show;
use crate::cli::tree::Tree;
use crate::cli::update::Update;
use crate::cli::values::Values;
use crate::cli::verify::Verify;
use crate::cli::why::Why;
use crate::flavor::FlavorChoice;
use crate::parallel;
use crate::platform::Platform;
use crate::verify::Group;

/// Lock, verify and explain the provider dependencies of Terraform and OpenTofu
#[derive(Clone, Debug, Parser)]
// Without its own name, usage texts would have the file name of the program: lockctl.exe.
#[command(name = "lockctl", bin_name = "lockctl", version, before_help = examples(&[
    ("lockctl verify -r", "check all lock files below, as in CI"),
    ("lockctl lock --platform linux_amd64,darwin_arm64", "for these platforms"),
    ("lockctl diff main...HEAD", "explain what a branch changed"),
    ("lockctl explain", "list the pages on topics and rules"),
]))]
pub(super) struct CommandLine {
    #[command(flatten)]
    pub(super) common: Common,
    #[command(subcommand)]
    pub(super) command: Typed,
}

/// What every command takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Common options")]
pub(super) struct Common {
    /// Run as if started in this directory
    #[arg(
        short = 'C',
        long,
        global = true,
        hide_short_help = true,
        value_name = "DIR"
    )]
    pub(super) chdir: Option<PathBuf>,
    /// Whose rules apply: auto, terraform, opentofu, or with a version, as in terraform@1.11
    ///
    /// `auto` decides by the project file, the lock file and the files of the root; see `lockctl
    /// explain flavors`.
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        default_value = "auto",
        hide_default_value = true
    )]
    pub(super) flavor: FlavorChoice,
    /// How results are printed; see `lockctl explain formats`
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        default_value = "human",
        value_parser = one_of(Format::all())
    )]
    pub(super) format: Format,
    /// When colours are used; auto: on a terminal, unless `NO_COLOR` is set
    #[arg(long, global = true, hide_short_help = true, value_enum, default_value_t = When::Auto)]
    pub(super) color: When,
    /// Print results only, no remarks
    #[arg(
        short,
        long,
        global = true,
        hide_short_help = true,
        conflicts_with = "verbose"
    )]
    pub(super) quiet: bool,
    /// Print more: notes, single hashes, packages, requests
    #[arg(short, long, global = true, hide_short_help = true, action = ArgAction::SetTrue)]
    pub(super) verbose: bool,
    /// Make no network requests
    #[arg(long, global = true, hide_short_help = true)]
    pub(super) offline: bool,
    /// Use no fact about packages that earlier runs kept, and keep none
    #[arg(long, global = true, hide_short_help = true)]
    pub(super) no_cache: bool,
    /// Use this project file instead of every .lockctl.hcl
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Read this CLI configuration instead of that of Terraform or OpenTofu
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE")]
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

/// When something is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum When {
    Auto,
    Always,
    Never,
}

/// Defines the commands, one line each: its arguments, its name, and the formats that it prints beside
/// text for people and JSON. The comment on the arguments is its help.
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

        /// Every command with the formats that only some print.
        pub(super) const COMMANDS: &[(&str, &[FormatKind])] =
            &[$(($typed, &[$(FormatKind::$kind),*])),*];
    };
}

commands! {
    Lock = "lock", [Prose, Events];
    Update = "update", [Prose, Events];
    Convert = "convert", [Prose, Events];
    Outdated = "outdated", [Prose, Events];
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
    Eval = "eval", [];
    Cache = "cache", [];
    Completions = "completions", [];
    Man = "man", [];
}

/// What `-h` says about the options that every command takes.
const COMMON_OPTIONS: &str = "\
Common options: -C, --flavor, --format, --color, -q, -v, --offline, … see --help";

/// What follows the options with `--help`.
const MORE: &str = "`lockctl explain` lists pages on exit codes, output formats, the project file and \
                    others.";

/// The order of a help text: examples come first.
const TEMPLATE: &str = "\
{about-with-newline}
{before-help}{usage-heading} {usage}

{all-args}{after-help}";

/// Returns the definition of the program, in which each command lists its own formats.
pub(super) fn definition() -> clap::Command {
    let program = CommandLine::command();
    let format = program.get_arguments().find(|arg| arg.get_id() == "format");
    let format = format.expect("every command takes it").clone();
    let program = COMMANDS.iter().fold(program, |program, (name, kinds)| {
        let own = Format::all().filter(|(_, format)| format.is_one_of(kinds));
        let mut format = format.clone().value_parser(one_of(own));
        if !kinds.is_empty() {
            format = format
                .hide_short_help(false)
                .help_heading(None)
                .display_order(1);
        }
        program.mut_subcommand(name, |command| command.arg(format))
    });
    laid_out(program)
}

/// Gives a command, and those below it, the layout of help texts.
fn laid_out(command: clap::Command) -> clap::Command {
    command
        .help_template(TEMPLATE)
        .after_help(COMMON_OPTIONS)
        .after_long_help(MORE)
        .mut_subcommands(laid_out)
}

/// Lists examples for a help text: commands, and what each is for.
pub(in crate::cli) fn examples(rows: &[(&str, &str)]) -> String {
    let width = rows.iter().map(|(command, _)| command.len()).max();
    let width = width.unwrap_or_default();
    let lines = rows
        .iter()
        .map(|(command, purpose)| format!("\n  {command:width$}  {purpose}"));
    format!("Examples:{}", lines.collect::<String>())
}

/// How configuration is read.
#[derive(Clone, Debug, Args)]
pub(super) struct Configuration {
    /// Look for test files in this directory of the root [default: tests]
    #[arg(long, value_name = "DIR")]
    pub(super) test_directory: Option<PathBuf>,
    /// Fail if a module is not visible
    ///
    /// A module is not visible if it is not installed, or if its source cannot be computed.
    #[arg(long)]
    pub(super) strict_modules: bool,
    /// Where remote modules are read from, if they are not installed
    ///
    /// A remote module is one of a registry, a repository or an archive. What is installed and up to date is
    /// read from `.terraform/modules` in any case.
    #[arg(long, value_name = "HOW", default_value = "auto")]
    pub(super) modules: ModulesArg,
    /// Do not read the state
    ///
    /// Providers that only the state requires count as not required.
    #[arg(long)]
    pub(super) no_state: bool,
    /// Read and write nothing outside of this directory
    ///
    /// This holds whatever `..` and symbolic links say. Files that an option names may be elsewhere.
    #[arg(long, value_name = "DIR")]
    pub(super) confine: Option<PathBuf>,
    #[command(flatten)]
    pub(super) values: Values,
}

/// Where remote modules are read from that are not installed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ModulesArg {
    /// From the cache; `lock` and `update` also fetch them, unless `--offline` is given
    #[default]
    Auto,
    /// Not at all: such a module is not visible
    Installed,
    /// From the cache, else fetched; a module that cannot be fetched is an error
    Fetch,
}

#[derive(Clone, Debug, Args)]
pub(super) struct Roots {
    /// Root module directories [default: the working directory]
    #[arg(value_name = "ROOT")]
    roots: Vec<PathBuf>,
    /// Find the roots in each ROOT and below
    ///
    /// A root is a directory with a lock file or a backend, or one that the project file names; see
    /// `lockctl explain roots`.
    #[arg(short, long)]
    pub(super) recursive: bool,
    /// With -r, also take units of Terragrunt without a lock file as roots
    ///
    /// Without it, such a unit is a root if `roots` of the project file names it.
    #[arg(long, requires = "recursive")]
    pub(super) terragrunt: bool,
}

#[derive(Clone, Debug, Args)]
pub(super) struct Platforms {
    /// Wanted platforms, separated by commas [default: those of the project file, else common]
    ///
    /// A platform is OS_ARCH, as in linux_amd64, or one of common (linux and darwin on amd64 and arm64,
    /// windows on amd64), all, current and locked. The option may be repeated.
    #[arg(long = "platform", value_delimiter = ',', value_name = "PLATFORM")]
    pub(super) platforms: Vec<PlatformArg>,
}

impl Roots {
    pub(super) fn new(roots: Vec<PathBuf>, recursive: bool) -> Self {
        Self {
            roots,
            recursive,
            terragrunt: false,
        }
    }

    /// Returns whether none was typed, and none is to be found.
    pub(super) fn are_default(&self) -> bool {
        self.roots.is_empty() && !self.recursive
    }

    /// Returns the same with other directories.
    pub(super) fn with(&self, roots: Vec<PathBuf>) -> Self {
        Self {
            roots,
            recursive: self.recursive,
            terragrunt: self.terragrunt,
        }
    }

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
        let line = Self::from_arg_matches(&definition().try_get_matches_from(args)?)?;
        let offline = |asks: bool| {
            let text = "'--upstream' needs the network, and '--offline' forbids requests";
            (asks && line.common.offline).then(|| text.to_owned())
        };
        let configuration = line.command.command().configuration();
        let fetches = configuration.is_some_and(|one| one.modules == ModulesArg::Fetch);
        let fetched_offline = (fetches && line.common.offline).then(|| {
            "'--modules fetch' needs the network, and '--offline' forbids requests".to_owned()
        });
        let wrong_format = line.common.format.check(line.command.name()).err();
        let text = wrong_format
            .or(fetched_offline)
            .or_else(|| match &line.command {
                Typed::Verify(args) => offline(args.groups().wants(Group::Upstream)),
                Typed::Show(args) => offline(args.upstream),
                Typed::Update(args) => args.contradiction(),
                Typed::Convert(args) => args.contradiction(&line.common),
                Typed::Cache(_) if line.common.no_cache => {
                    Some("'lockctl cache' is about what '--no-cache' leaves alone".to_owned())
                }
                _ => None,
            });
        text.map_or(Ok(line), |text| {
            Err(definition().error(ErrorKind::ArgumentConflict, text))
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

/// Returns whether an argument that may be an address is a path instead: no address begins with a dot or
/// a slash, ends with a slash, or has a backslash.
pub(in crate::cli) fn is_path(text: &str) -> bool {
    text.starts_with(['.', '/']) || text.ends_with('/') || text.contains('\\')
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
    /// The path of a lock file means its directory.
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
        definition().debug_assert();
    }

    /// Every example can be parsed; what a shell does with it comes after ` | ` or ` > `.
    #[test]
    fn examples_can_be_typed() {
        fn check(command: &clap::Command, examples: &mut usize) {
            let text = command.get_before_help().map(ToString::to_string);
            for line in text.iter().flat_map(|text| text.lines().skip(1)) {
                let (line, _) = line.trim().split_once("  ").expect("a purpose");
                let typed = line.split(['|', '>']).next().unwrap_or_default();
                let read = CommandLine::read(typed.split_whitespace().map(OsString::from));
                assert!(read.is_ok(), "{line}: {:?}", read.err());
                assert!(line.chars().count() <= 78, "{line}");
                *examples += 1;
            }
            for below in command.get_subcommands() {
                check(below, examples);
            }
        }
        let (program, mut examples) = (definition(), 0);
        check(&program, &mut examples);
        assert!(examples > COMMANDS.len());
        for (name, _) in COMMANDS {
            let command = program.find_subcommand(name).expect("it is defined");
            assert!(
                command.get_before_help().is_some() || *name == "git-textconv",
                "{name}"
            );
        }
    }

    #[test]
    fn a_command_takes_only_the_formats_that_it_prints() {
        let refused = |args: &[&str]| {
            let args = args.iter().map(OsString::from);
            CommandLine::read(args).expect_err("refused").to_string()
        };
        let after = refused(&["lockctl", "lock", "--format", "sarif"]);
        let values = "[possible values: human, json, json-lines, markdown]";
        assert!(after.contains(values), "{after}");
        let before = refused(&["lockctl", "--format", "sarif", "lock"]);
        assert!(before.contains(values), "{before}");
        let nested = refused(&["lockctl", "git", "status", "--format", "dot"]);
        assert!(
            nested.contains("[possible values: human, json]"),
            "{nested}"
        );
        let tree = refused(&["lockctl", "tree", "--format", "markdown"]);
        assert!(
            tree.contains("[possible values: human, json, mermaid, dot]"),
            "{tree}"
        );
        for line in [
            ["lockctl", "verify", "--format", "sarif"],
            ["lockctl", "--format", "sarif", "verify"],
        ] {
            let read = CommandLine::read(line.iter().map(OsString::from)).expect("accepted");
            assert_eq!(read.common.format.name(), "sarif");
        }
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
        let parsed = CommandLine::read(line.map(OsString::from)).expect("valid");
        let Typed::Lock(lock) = parsed.command else {
            panic!("lock was typed")
        };
        let named = PlatformArg::Named("linux_amd64".parse().expect("valid"));
        assert_eq!(
            lock.options.platforms.platforms,
            [named, PlatformArg::Common, PlatformArg::All]
        );
    }

    #[test]
    fn the_path_of_a_lock_file_stands_for_its_root() {
        let paths = |given: &[&str]| {
            Roots {
                roots: given.iter().map(PathBuf::from).collect(),
                recursive: false,
                terragrunt: false,
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
