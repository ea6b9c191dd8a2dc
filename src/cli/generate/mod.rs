//! `lockctl completions`, `lockctl man`: files for shells and for `man`, made from the definitions of
//! the arguments, so that they cannot fall behind them.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use clap_complete::Shell;
use clap_mangen::Man as ManPage;

use crate::cli::args::{Common, definition, examples};
use crate::cli::{Command, Stderr, World};
use crate::diag::counted;
use crate::report::{CommandResult, Failure, Subject};
use crate::world::{Disk, Replaced};

/// The name of the program, which its manual pages and its completions are for.
const PROGRAM: &str = "lockctl";

/// How large a manual page that is replaced may be, in bytes.
const MAX_PAGE_BYTES: u64 = 1024 * 1024;

/// Print a completion script for a shell
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl completions bash > ~/.bash_completion.d/lockctl", "for bash"),
    ("lockctl completions fish > ~/.config/fish/completions/lockctl.fish", "for fish"),
]))]
pub(in crate::cli) struct Completions {
    /// The shell that reads the script
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

/// Print the manual page of a command, or write those of all
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl man verify | man -l -", "show the manual page of a command"),
    ("lockctl man --dir /usr/local/share/man/man1", "write the pages of all commands"),
]))]
pub(in crate::cli) struct Man {
    /// The command that the page is about, as in `lockctl man git install` [default: lockctl itself]
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Write the pages of all commands into this directory instead
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    dir: Option<PathBuf>,
}

impl Command for Completions {
    fn run(&self, _: &Common, _: World<'_>, _: &mut Stderr<'_>) -> CommandResult {
        completions(self)
    }
}
impl Command for Man {
    fn run(&self, common: &Common, world: World<'_>, _: &mut Stderr<'_>) -> CommandResult {
        man(common, self, world)
    }
}

/// Prints the completion script of a shell.
pub(in crate::cli) fn completions(args: &Completions) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut definition(), PROGRAM, &mut script);
    CommandResult::of("completions", Subject::Text(script))
}

/// Prints the manual page of a command, or writes those of all.
pub(in crate::cli) fn man(common: &Common, args: &Man, world: World<'_>) -> CommandResult {
    let program = built();
    let text = match &args.dir {
        None => page_of(&program, &args.command),
        Some(dir) => {
            let dir = common.below(dir);
            let written = write_all(&program, &dir, world.disk);
            written.map(|pages| {
                let pages = counted(pages, "page");
                format!("wrote {pages} to {}\n", dir.display()).into_bytes()
            })
        }
    };
    match text {
        Ok(text) => CommandResult::of("man", Subject::Text(text)),
        Err(failure) => CommandResult::failed("man", [failure]),
    }
}

/// Returns the definition of the program, in which each command knows its full name.
fn built() -> clap::Command {
    // `lockctl help` needs no page for each command.
    let mut program = definition().disable_help_subcommand(true);
    program.build();
    program
}

/// Returns the page of the command that some words name.
///
/// # Errors
/// If there is no such command.
fn page_of(program: &clap::Command, words: &[String]) -> Result<Vec<u8>, Failure> {
    let mut command = program;
    for word in words {
        command = command.find_subcommand(word).ok_or_else(|| Failure {
            title: format!("there is no command \"{}\"", words.join(" ")),
            help: Some(format!("`{PROGRAM} --help` lists all commands")),
            ..Failure::default()
        })?;
    }
    Ok(page(command))
}

/// Writes the page of each command, and returns how many there are.
///
/// # Errors
/// If the directory or a page cannot be written.
fn write_all(program: &clap::Command, dir: &Path, disk: &dyn Disk) -> Result<usize, Failure> {
    let failed = |path: &Path, error: &io::Error| Failure {
        title: format!("{} cannot be written", path.display()),
        causes: vec![error.to_string()],
        help: Some("name a directory that can be written with --dir".to_owned()),
    };
    disk.make_directory(dir)
        .map_err(|error| failed(dir, &error))?;
    let mut commands = vec![program];
    let mut written = 0;
    while let Some(command) = commands.pop() {
        let name = command.get_display_name().unwrap_or(PROGRAM);
        let path = dir.join(format!("{name}.1"));
        put(&path, &page(command), disk).map_err(|error| failed(&path, &error))?;
        let below = command.get_subcommands();
        commands.extend(below.filter(|command| !command.is_hide_set()));
        written += 1;
    }
    Ok(written)
}

/// Makes a file hold some bytes, whatever it holds now.
fn put(path: &Path, bytes: &[u8], disk: &dyn Disk) -> io::Result<()> {
    let old = match disk.read(path, MAX_PAGE_BYTES) {
        Ok(old) => Some(old),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    match disk.replace(path, old.as_deref(), bytes)? {
        Replaced::Done => Ok(()),
        Replaced::Changed => Err(io::Error::other("another program is writing it")),
    }
}

/// Renders the page of one command.
fn page(command: &clap::Command) -> Vec<u8> {
    let page = ManPage::new(command.clone()).source(concat!("lockctl ", env!("CARGO_PKG_VERSION")));
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
