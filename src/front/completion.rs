//! Completion in a shell: beside commands and options, the names of rules and topics, platforms, and the
//! providers that are locked.
//!
//! A shell reads the script once. The script runs lockctl for each word to complete, with [`VARIABLE`] set, so
//! the words are always those of the installed version and of the working directory.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use clap::{Arg, Command};
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _,
};
use clap_complete::env::{EnvCompleter, Shells};

use crate::diag::{FileId, RULES};
use crate::flavor::{Flavor, Program};
use crate::guide::TOPICS;
use crate::lockfile;
use crate::platform::Platform;
use crate::world::Files;

/// The variable that makes the program print words instead of a run; its value names the shell.
pub const VARIABLE: &str = "LOCKCTL_COMPLETE";

/// The presets that `--platform` takes beside the names of platforms.
const PRESETS: [&str; 2] = ["common", "all"];

/// A program to complete, and the files of the working directory.
pub struct Completion<'a> {
    /// The definition of all commands.
    pub program: Command,
    /// The files to complete from.
    pub files: &'a dyn Files,
    /// The working directory, absolute.
    pub current: PathBuf,
}

/// Returns the script that a shell completes words with.
///
/// # Errors
/// `Unsupported` if the shell has no such script.
pub fn script(shell: &str, program: &str) -> io::Result<Vec<u8>> {
    let mut script = Vec::new();
    // By its name and not by its path: the script outlives the place of this binary.
    adapter(shell)?.write_registration(VARIABLE, program, program, program, &mut script)?;
    Ok(script)
}

fn adapter(shell: &str) -> io::Result<&'static dyn EnvCompleter> {
    const ADAPTERS: Shells<'static> = Shells::builtins();
    ADAPTERS
        .0
        .iter()
        .copied()
        .find(|adapter| adapter.is(shell))
        .ok_or_else(|| {
            let text = format!("there is no completion for the shell {shell:?}");
            io::Error::new(io::ErrorKind::Unsupported, text)
        })
}

impl Completion<'_> {
    /// Returns the words that are valid at the cursor, in the form that the script of the shell reads.
    ///
    /// `args` is what the script passes: the name of the program, `--`, and the words as typed; which of them
    /// the cursor is in, the script says by variables of its own.
    ///
    /// # Errors
    /// `Unsupported` if the shell has no script.
    pub fn words(self, shell: &str, args: &[OsString]) -> io::Result<Vec<u8>> {
        let is_before = |arg: &&OsString| *arg != "--";
        let typed: Vec<OsString> = args.iter().skip_while(is_before).skip(1).cloned().collect();
        let current = self.directory(&typed);
        let locked = self.locked(&current);
        let mut program = with_words(self.program, &locked, &current);
        program.build();
        let mut words = Vec::new();
        adapter(shell)?.write_complete(&mut program, typed, Some(&current), &mut words)?;
        Ok(words)
    }

    /// Returns the directory that the command line is about: that of `-C`, if there is one.
    fn directory(&self, typed: &[OsString]) -> PathBuf {
        let value = |(arg, next): (&OsString, Option<&OsString>)| match arg.to_str()? {
            "-C" | "--chdir" => next.cloned(),
            text => {
                let joined = text
                    .strip_prefix("--chdir=")
                    .or_else(|| text.strip_prefix("-C"))?;
                Some(joined.into())
            }
        };
        let nexts = typed.iter().skip(1).map(Some).chain([None]);
        match typed.iter().zip(nexts).find_map(value) {
            Some(dir) => self.current.join(dir),
            None => self.current.clone(),
        }
    }

    /// Returns the providers in the lock file of a directory as they are typed, sorted; none if the file cannot
    /// be read.
    fn locked(&self, dir: &Path) -> Vec<String> {
        let path = dir.join(lockfile::FILE_NAME);
        let Ok(bytes) = self.files.read(&path, lockfile::MAX_BYTES) else {
            // A message would appear in the middle of a word.
            return Vec::new();
        };
        let (document, _) =
            lockfile::parse(FileId::ALONE, &bytes, Flavor::newest(Program::Terraform));
        let providers = document.addresses();
        providers
            .into_iter()
            .map(|addr| {
                // Commands take an address without its host for that of either program.
                let shortened = Flavor::ALL.map(|flavor| addr.short(flavor));
                shortened
                    .into_iter()
                    .min_by_key(String::len)
                    .unwrap_or_default()
            })
            .collect()
    }
}

/// Adds words to each argument whose values have names, for the program and all commands below it.
fn with_words(command: Command, locked: &[String], current: &Path) -> Command {
    command
        .mut_args(|arg| with_values(arg, locked, current))
        .mut_subcommands(|below| with_words(below, locked, current))
}

/// Adds words to an argument by the name of its value in help texts.
fn with_values(arg: Arg, locked: &[String], current: &Path) -> Arg {
    let Some(name) = arg
        .get_value_names()
        .and_then(<[_]>::first)
        .map(ToString::to_string)
    else {
        return arg;
    };
    let locked = locked.to_vec();
    let dirs = PathCompleter::dir().current_dir(current);
    match name.as_str() {
        "PLATFORM" => arg.add(ArgValueCandidates::new(platforms)),
        "ADDR" => arg.add(ArgValueCandidates::new(move || {
            locked.iter().map(CompletionCandidate::new).collect()
        })),
        // A provider or a root: the words of both.
        "ADDR[@VERSION]|ROOT" => {
            let either = move |word: &OsStr| providers_or_roots(&locked, &dirs, word);
            arg.add(ArgValueCompleter::new(either))
        }
        "ROOT" => arg.add(ArgValueCompleter::new(dirs)),
        "TEXT" if arg.is_positional() => arg.add(ArgValueCandidates::new(pages)),
        _ => arg,
    }
}

fn platforms() -> Vec<CompletionCandidate> {
    let names = Platform::released()
        .into_iter()
        .map(|platform| platform.to_string());
    let presets = PRESETS.map(str::to_owned);
    names.chain(presets).map(CompletionCandidate::new).collect()
}

fn pages() -> Vec<CompletionCandidate> {
    let topics = TOPICS.iter().map(|topic| (topic.name, topic.summary));
    let rules = RULES.iter().map(|rule| (rule.name, rule.meaning));
    let page = |(name, summary): (&str, &'static str)| {
        CompletionCandidate::new(name).help(Some(summary.into()))
    };
    topics.chain(rules).map(page).collect()
}

fn providers_or_roots(
    locked: &[String],
    dirs: &PathCompleter,
    word: &OsStr,
) -> Vec<CompletionCandidate> {
    let typed = word.to_string_lossy();
    let mut words: Vec<_> = locked
        .iter()
        .filter(|addr| addr.starts_with(&*typed))
        .map(CompletionCandidate::new)
        .collect();
    words.extend(dirs.complete(word));
    words
}
