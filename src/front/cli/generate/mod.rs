//! `lockctl completions`, `lockctl man`, `lockctl schema`: files for shells, for `man` and for validators,
//! made from the definitions of the arguments and of the output, so that they cannot fall behind them.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::{Args, ValueEnum};
use clap_complete::Shell;
use clap_mangen::Man as ManPage;

use crate::cli::commands::definition;
use crate::diag::counted;
use crate::report::{CommandResult, Failure, ResultSubject, json};
use crate::run::command::Command;
use crate::run::options::examples;
use crate::run::pages::put;
use crate::run::session::Session;
use crate::world::Disk;

/// The name of the program, which its manual pages and its completions are for.
const PROGRAM: &str = "lockctl";

/// Print a completion script for a shell
///
/// bash reads the file below if the package bash-completion is installed; without it, ~/.bashrc needs the line
/// `source <(lockctl completions bash)`. zsh reads functions in the directories of `fpath`: ~/.zshrc needs the
/// line `fpath=(~/.zfunc $fpath)` before `compinit`. Then start a new shell.
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl completions bash > ~/.local/share/bash-completion/completions/lockctl", "for bash"),
    ("lockctl completions zsh > ~/.zfunc/_lockctl", "for zsh"),
    ("lockctl completions fish > ~/.config/fish/completions/lockctl.fish", "for fish"),
]))]
pub(in crate::front::cli) struct CompletionsArgs {
    /// The shell that reads the script
    #[arg(value_enum, value_name = "SHELL")]
    pub(super) shell: Shell,
}

/// Print the manual page of a command, or write those of all
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl man verify | man -l -", "show the manual page of a command"),
    ("lockctl man --dir /usr/local/share/man/man1", "write the pages of all commands"),
]))]
pub(in crate::front::cli) struct ManArgs {
    /// The command that the page is about, as in `lockctl man git install` [default: lockctl itself]
    #[arg(value_name = "COMMAND")]
    pub(super) command: Vec<String>,
    /// Write the pages of all commands into this directory instead
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub(super) dir: Option<PathBuf>,
}

/// Print the JSON schema of the output
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl schema", "of what every command prints with --format json"),
    ("lockctl schema event", "of the lines before that with --format json-lines"),
]))]
pub(in crate::front::cli) struct SchemaArgs {
    /// The part of the output that is described
    #[arg(value_enum, value_name = "PART", default_value_t = SchemaPart::Output)]
    pub(super) part: SchemaPart,
}

/// A part of the output for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum SchemaPart {
    /// The object of --format json, the last line of --format json-lines
    Output,
    /// Any other line of --format json-lines
    Event,
}

impl Command for CompletionsArgs {
    fn run(&self, _: &Rc<Session<'_>>) -> CommandResult {
        let mut script = Vec::new();
        // By its name and not by its path: the script outlives the place of this binary.
        clap_complete::generate(self.shell, &mut definition(), PROGRAM, &mut script);
        CommandResult::of("completions", ResultSubject::Text(script))
    }
}

impl Command for ManArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        // `lockctl help` needs no page for each command.
        let mut program = definition().disable_help_subcommand(true);
        // Only a built definition knows the full names of commands below commands.
        program.build();
        let text = match &self.dir {
            None => self
                .command
                .iter()
                .try_fold(&program, |command, word| command.find_subcommand(word))
                .map(page)
                .ok_or_else(|| {
                    Failure::new(format!(
                        "there is no command \"{}\"",
                        self.command.join(" ")
                    ))
                    .help(format!("`{PROGRAM} --help` lists all commands"))
                }),
            Some(dir) => {
                let dir = session.options.below(dir);
                write_all(&program, &dir, session.world.disk).map(|pages| {
                    let pages = counted(pages, "page");
                    format!("wrote {pages} to {}\n", dir.display()).into_bytes()
                })
            }
        };
        match text {
            Ok(text) => CommandResult::of("man", ResultSubject::Text(text)),
            Err(failure) => CommandResult::failed("man", [failure]),
        }
    }
}

impl Command for SchemaArgs {
    fn run(&self, _: &Rc<Session<'_>>) -> CommandResult {
        let text = match self.part {
            SchemaPart::Output => json::OUTPUT_SCHEMA,
            SchemaPart::Event => json::EVENT_SCHEMA,
        };
        CommandResult::of("schema", ResultSubject::Text(text.as_bytes().to_vec()))
    }
}

/// Writes the page of each command, and returns how many there are.
///
/// # Errors
/// If the directory or a page cannot be written.
fn write_all(program: &clap::Command, dir: &Path, disk: &dyn Disk) -> Result<usize, Failure> {
    let failed = |path: &Path, error: &io::Error| {
        Failure::new(format!("{} cannot be written", path.display()))
            .because(error.to_string())
            .help("name a directory that can be written with --dir")
    };
    disk.make_directory(dir)
        .map_err(|error| failed(dir, &error))?;
    let mut commands = vec![program];
    let mut written = 0;
    while let Some(command) = commands.pop() {
        let name = command.get_display_name().unwrap_or(PROGRAM);
        let path = dir.join(format!("{name}.1"));
        put(&path, &page(command), disk).map_err(|error| failed(&path, &error))?;
        commands.extend(
            command
                .get_subcommands()
                // A hidden command has no page, as it has no line in the help.
                .filter(|command| !command.is_hide_set()),
        );
        written += 1;
    }
    Ok(written)
}

/// Renders the page of one command.
fn page(command: &clap::Command) -> Vec<u8> {
    // Options that `-h` leaves out would have no text in the page either.
    let shown = command.clone().mut_args(|arg| arg.hide_short_help(false));
    let page = ManPage::new(shown).source(concat!("lockctl ", env!("CARGO_PKG_VERSION")));
    let mut bytes = Vec::new();
    render(&page, command, &mut bytes).expect("a Vec takes all bytes");
    bytes
}

/// Writes a page, with the examples of the help text before the options.
fn render(page: &ManPage, command: &clap::Command, out: &mut Vec<u8>) -> io::Result<()> {
    page.render_title(out)?;
    page.render_name_section(out)?;
    page.render_synopsis_section(out)?;
    page.render_description_section(out)?;
    if let Some(text) = command.get_before_help() {
        // roff begins escapes with a backslash, and prints a bare hyphen as a typographic one.
        let text = text.to_string().replace('\\', "\\e").replace('-', "\\-");
        let (_, lines) = text.split_once('\n').unwrap_or_default();
        write!(out, ".SH EXAMPLES\n.nf\n{lines}\n.fi\n")?;
    }
    page.render_options_section(out)?;
    if command.has_subcommands() {
        page.render_subcommands_section(out)?;
    }
    page.render_extra_section(out)?;
    match command.get_version() {
        Some(_) => page.render_version_section(out),
        None => Ok(()),
    }
}
