//! The table of commands, and the command line as a whole: it imports every command, and only the
//! entry point and commands about the program itself import it.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Args as _, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::audit::run::AuditArgs;
use crate::cache::CacheArgs;
use crate::changes::ChangesArgs;
use crate::cli::generate::{CompletionsArgs, ManArgs, SchemaArgs};
use crate::cli::suggestion;
use crate::diff::DiffArgs;
use crate::guide::explain::ExplainArgs;
use crate::inspect::config::ConfigArgs;
use crate::inspect::hash::HashArgs;
use crate::inspect::log::LogArgs;
use crate::inspect::show::ShowArgs;
use crate::inspect::tree::TreeArgs;
use crate::inspect::why::WhyArgs;
use crate::lock::LockArgs;
use crate::lock::convert::ConvertArgs;
use crate::lock::fmt::FmtArgs;
use crate::lock::update::UpdateArgs;
use crate::merging::git::{GitArgs, GitTextconvArgs};
use crate::merging::merge::MergeArgs;
use crate::merging::resolve::ResolveArgs;
use crate::mirroring::MirrorArgs;
use crate::outdated::OutdatedArgs;
use crate::replace::ReplaceArgs;
use crate::report::VERSION_TEXT;
use crate::reporting::ReportArgs;
use crate::run::command::Command;
use crate::run::formats::{Format, FormatKind};
use crate::run::options::{ModuleChoice, Options, RepeatedOptions, examples, one_of};
use crate::sbom::command::SbomArgs;
use crate::trust::TrustArgs;
use crate::verifying::VerifyArgs;

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
    pub(super) common: Options,
    #[command(subcommand)]
    pub(super) command: CommandArgs,
}

/// A row of the table of commands.
struct CommandRow {
    /// The name of the command, as typed.
    name: &'static str,
    /// The formats that only some commands print.
    formats: &'static [FormatKind],
    /// Adds the arguments of the command to its definition.
    augment: fn(clap::Command) -> clap::Command,
}

/// Defines the commands, one line each: its arguments, its name, and the formats that it prints beside
/// text for people and JSON. The comment on the arguments is its help.
macro_rules! commands {
    ($($name:ident($args:ident) = $typed:literal, [$($kind:ident),*];)*) => {
        #[derive(Clone, Debug, Subcommand)]
        pub(super) enum CommandArgs {
            $($name($args),)*
        }

        impl CommandArgs {
            /// Returns the name of the command, as typed.
            pub(super) fn name(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => $typed,)*
                }
            }

            /// Returns the formats that the command prints beside text for people and JSON.
            pub(super) fn formats(&self) -> &'static [FormatKind] {
                match self {
                    $(Self::$name(_) => &[$(FormatKind::$kind),*],)*
                }
            }

            /// Returns the implementation of the command.
            pub(super) fn command(&self) -> &dyn Command {
                match self {
                    $(Self::$name(args) => args,)*
                }
            }
        }

        /// Every command, in the order of the help text.
        const COMMANDS: &[CommandRow] = &[$(CommandRow {
            name: $typed,
            formats: &[$(FormatKind::$kind),*],
            augment: $args::augment_args,
        }),*];
    };
}

commands! {
    Lock(LockArgs) = "lock", [Prose, Events];
    Update(UpdateArgs) = "update", [Prose, Events];
    Replace(ReplaceArgs) = "replace", [Prose, Events];
    Convert(ConvertArgs) = "convert", [Prose, Events];
    Trust(TrustArgs) = "trust", [Prose];
    Outdated(OutdatedArgs) = "outdated", [Prose, Events];
    Mirror(MirrorArgs) = "mirror", [Prose, Events];
    Verify(VerifyArgs) = "verify", [Prose, Checks];
    Audit(AuditArgs) = "audit", [Prose, Checks];
    Sbom(SbomArgs) = "sbom", [Bills];
    Report(ReportArgs) = "report", [];
    Diff(DiffArgs) = "diff", [Prose];
    Changes(ChangesArgs) = "changes", [Prose];
    Show(ShowArgs) = "show", [];
    Why(WhyArgs) = "why", [Graphs];
    Tree(TreeArgs) = "tree", [Graphs];
    Config(ConfigArgs) = "config", [Syntaxes];
    Explain(ExplainArgs) = "explain", [Prose];
    Hash(HashArgs) = "hash", [];
    Fmt(FmtArgs) = "fmt", [];
    Merge(MergeArgs) = "merge", [];
    Resolve(ResolveArgs) = "resolve", [];
    Log(LogArgs) = "log", [Charts];
    Git(GitArgs) = "git", [];
    GitTextconv(GitTextconvArgs) = "git-textconv", [];
    Cache(CacheArgs) = "cache", [];
    Completions(CompletionsArgs) = "completions", [];
    Man(ManArgs) = "man", [];
    Schema(SchemaArgs) = "schema", [];
}

/// The text of `-h` about the options that every command takes.
const COMMON_OPTIONS: &str = "\
Common options: -C, --flavor, --format, --color, -q, -v, --offline, … see --help";

/// The text after the options with `--help`.
const MORE: &str = "`lockctl explain` lists pages on exit codes, output formats, the project file and \
                    others.";

/// The order of a help text: examples come first.
const TEMPLATE: &str = "\
{about-with-newline}
{before-help}{usage-heading} {usage}

{all-args}{after-help}";

/// Returns the definition of the program, with the own formats of each command.
pub(super) fn definition() -> clap::Command {
    let program = CommandLine::command();
    let common = program.clone();
    let program = COMMANDS.iter().fold(program, |program, row| {
        program.mut_subcommand(row.name, |command| command.arg(own_format(row, &common)))
    });
    laid_out(program)
}

/// Returns the option of a command that hides the global one: help lists only what the command prints.
fn own_format(row: &CommandRow, program: &clap::Command) -> clap::Arg {
    let global = program
        .get_arguments()
        .find(|arg| arg.get_id() == "format")
        .expect("every command takes it");
    let own = Format::all().filter(|(_, format)| format.is_one_of(row.formats));
    let mut format = global.clone().value_parser(one_of(own));
    if row.formats.contains(&FormatKind::Bills) {
        format = format.default_value("cyclonedx");
    }
    // Only where there are more than text and JSON does `-h` list them.
    if row.formats.is_empty() {
        return format;
    }
    format
        .hide_short_help(false)
        .help_heading(None)
        .display_order(1)
}

/// Returns a definition that has only the command whose name is the first among the arguments.
///
/// What this definition refuses may be right (`-C lock verify`), and it has no texts for people: only
/// [`definition`] decides that.
fn definition_of_one(args: &[OsString]) -> clap::Command {
    let is_long = args.iter().any(|arg| arg == "--verbose" || arg == "-v");
    let version = if is_long {
        &*VERSION_TEXT
    } else {
        env!("CARGO_PKG_VERSION")
    };
    let program = clap::Command::new("lockctl").version(version);
    let program = Options::augment_args(program).subcommand_required(true);
    let row = args
        .iter()
        .skip(1)
        .find_map(|arg| COMMANDS.iter().find(|row| arg == row.name));
    match row {
        None => program,
        Some(row) => {
            let format = own_format(row, &program);
            program.subcommand((row.augment)(clap::Command::new(row.name)).arg(format))
        }
    }
}

/// Gives a command, and those below it, the layout of help texts.
fn laid_out(command: clap::Command) -> clap::Command {
    command
        .help_template(TEMPLATE)
        .after_help(COMMON_OPTIONS)
        .after_long_help(MORE)
        .mut_subcommands(laid_out)
}

impl CommandLine {
    /// Parses the command line, the name of the program first.
    ///
    /// # Errors
    /// A text to print instead of a result: help, the version, or a fault in the arguments.
    pub(super) fn read(args: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let args: Vec<OsString> = args.into_iter().collect();
        let matches = match definition_of_one(&args).try_get_matches_from(&args) {
            Ok(matches) => matches,
            Err(error) if error.kind() == ErrorKind::DisplayVersion => return Err(error),
            Err(_) => definition()
                .try_get_matches_from(&args)
                .map_err(|error| suggestion::improved(error, &args))?,
        };
        let mut line = Self::from_arg_matches(&matches)?;
        line.common.format = line.common.format.meant(line.command.formats());
        let command = line.command.command();
        line.common.repeated = RepeatedOptions {
            configuration: command.configuration().cloned().unwrap_or_default(),
            source: command
                .source()
                .and_then(|source| source.choice(&line.common)),
        };
        let common = &line.common;
        let fetches_modules = command
            .configuration()
            .is_some_and(|options| options.modules == ModuleChoice::Fetch);
        let checked = common
            .format
            .check(line.command.name(), line.command.formats())
            .and_then(|()| common.check_offline("--modules fetch", fetches_modules))
            .and_then(|()| command.check(common));
        match checked {
            Ok(()) => Ok(line),
            // Worded and printed as errors of clap itself, with the usage below.
            Err(text) => Err(suggestion::worded(ErrorKind::ArgumentConflict, text, &args)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::platforms::PlatformArg;

    #[test]
    fn the_definition_is_sound() {
        definition().debug_assert();
    }

    #[test]
    fn words_and_options_of_the_programs_lead_to_ours() {
        #[track_caller]
        fn check(line: &str, tip: &str) {
            let error = CommandLine::read(line.split(' ').map(OsString::from)).expect_err(line);
            let text = error.to_string();
            assert!(
                text.contains(&format!("\n  tip: {tip}\n")),
                "{line}: {text}"
            );
        }
        check(
            "lockctl init",
            "`lockctl lock` creates or completes the lock file; providers are installed by init of Terraform or OpenTofu",
        );
        check("lockctl -C x list", "`lockctl show` lists what is locked");
        check("lockctl upgrade", "`lockctl update` moves locked versions");
        check(
            "lockctl providers lock",
            "`lockctl lock` does what `providers lock` does, and `lockctl tree` what `providers` does",
        );
        let nested = CommandLine::read(["lockctl", "cache", "list"].map(OsString::from));
        let nested = nested.expect_err("refused").to_string();
        assert!(!nested.contains("lockctl show"), "{nested}");
        check(
            "lockctl lock -platform=linux_amd64",
            "write '--platform=linux_amd64', with two dashes",
        );
        check(
            "lockctl lock -fs-mirror=x",
            "write '--fs-mirror=x', with two dashes",
        );
        check(
            "lockctl verify -r -chdir=x",
            "write '--chdir=x', with two dashes",
        );
        for line in ["lockctl verify --json", "lockctl show -json"] {
            check(line, "write `--format json`");
        }
        for line in [
            "lockctl lock --upgrade",
            "lockctl lock -upgrade",
            "lockctl lock -r -upgrade=true",
        ] {
            check(line, "`lockctl update` moves locked versions");
        }
        check(
            "lockctl verify --fail-on warning",
            "errors and warnings fail `verify`, notes do not; a `rule` block of the project file changes that, see \
             `lockctl explain project-file`",
        );
        for line in [
            "lockctl verify --json",
            "lockctl verify --nonsense",
            "lockctl lock -upgrade",
        ] {
            let text = CommandLine::read(line.split(' ').map(OsString::from));
            let text = text.expect_err("refused").to_string();
            assert!(!text.contains("-- -"), "{text}");
        }
        let text = CommandLine::read(["lockctl", "lock", "-zebra"].map(OsString::from));
        let text = text.expect_err("refused").to_string();
        assert!(!text.contains("two dashes"), "{text}");
    }

    /// Every example can be parsed; what a shell does with it comes after ` | ` or ` > `.
    #[test]
    fn examples_can_be_typed() {
        fn check(command: &clap::Command, examples: &mut usize) {
            let text = command.get_before_help().map(ToString::to_string);
            for line in text.iter().flat_map(|text| text.lines().skip(1)) {
                let (line, _) = line.trim().split_once("  ").expect("a purpose");
                // Another program may stand before ours, as `terraform init 2>&1 | lockctl explain -`.
                let typed = line.split(" | ").find(|part| part.starts_with("lockctl"));
                let typed = typed
                    .and_then(|typed| typed.split('>').next())
                    .unwrap_or_default();
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
        for CommandRow { name, .. } in COMMANDS {
            let command = program.find_subcommand(name).expect("it is defined");
            assert!(
                command.get_before_help().is_some() || *name == "git-textconv",
                "{name}"
            );
        }
    }

    #[test]
    fn one_command_is_read_as_among_all() {
        fn check(line: &str, is_enough: bool) {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let one = definition_of_one(&args).try_get_matches_from(&args);
            assert_eq!(one.is_ok(), is_enough, "{line}");
            let among_all = definition()
                .try_get_matches_from(&args)
                .ok()
                .map(|matches| CommandLine::from_arg_matches(&matches).expect("valid"));
            let read = CommandLine::read(args).ok();
            assert_eq!(format!("{read:?}"), format!("{among_all:?}"), "{line}");
        }
        check("lockctl lock --platform linux_amd64 -r", true);
        check("lockctl -C verify --format json verify -v", true);
        check("lockctl cache export --format json x", true);
        check("lockctl -C lock verify", false);
        check("lockctl --flavor lock verify", false);
        check("lockctl verify --since", false);
        check("lockctl help verify", false);
        check("lockctl", false);
        for row in COMMANDS {
            definition_of_one(&["lockctl".into(), row.name.into()]).debug_assert();
        }
        let version = |definition: clap::Command| {
            let error = definition.try_get_matches_from(["lockctl", "--version"]);
            error.expect_err("a text").to_string()
        };
        let args = ["lockctl", "--version"].map(OsString::from);
        assert_eq!(version(definition_of_one(&args)), version(definition()));
    }
    #[test]
    fn a_command_takes_only_the_formats_that_it_prints() {
        for (line, values) in [
            (
                "lockctl lock --format sarif",
                "human, json, json-lines, markdown",
            ),
            (
                "lockctl --format sarif lock",
                "human, json, json-lines, markdown",
            ),
            ("lockctl git status --format dot", "human, json"),
        ] {
            let text = CommandLine::read(line.split(' ').map(OsString::from));
            let text = text.expect_err("refused").to_string();
            let values = format!("[possible values: {values}]");
            assert!(text.contains(&values), "{line}: {text}");
        }
        let line = "lockctl --format sarif verify".split(' ');
        assert!(CommandLine::read(line.map(OsString::from)).is_ok());
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
        let CommandArgs::Lock(lock) = CommandLine::read(line.map(OsString::from))
            .expect("valid")
            .command
        else {
            panic!("lock was typed")
        };
        let named = PlatformArg::Named("linux_amd64".parse().expect("valid"));
        assert_eq!(
            lock.options.platforms.platforms,
            [named, PlatformArg::Common, PlatformArg::All]
        );
    }
}
