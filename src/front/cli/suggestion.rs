//! Suggestions for what users of Terraform and OpenTofu type out of habit.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::cli::commands::definition;
use crate::guide::search::words;

/// Replaces an error about arguments by one that names the right words, where they are known.
pub(super) fn improved(error: clap::Error, args: &[OsString]) -> clap::Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(&**text),
        _ => None,
    };
    let improved = match error.kind() {
        ErrorKind::InvalidSubcommand => text(ContextKind::InvalidSubcommand).and_then(|word| {
            // Behind a command, a word is not in the place of a command.
            let program = definition();
            let is_behind_command = args
                .iter()
                .skip(1)
                .take_while(|arg| *arg != word)
                .filter_map(|arg| arg.to_str())
                .any(|arg| program.find_subcommand(arg).is_some());
            let tip = words().commands.get(word).filter(|_| !is_behind_command)?;
            Some(format!("unrecognized subcommand '{word}'\n\n  tip: {tip}"))
        }),
        ErrorKind::UnknownArgument => text(ContextKind::InvalidArg)
            .and_then(|typed| unknown_option(typed, error.get(ContextKind::SuggestedArg), args)),
        _ => None,
    };
    match improved {
        Some(text) => worded(error.kind(), text, args),
        None => error,
    }
}

/// Returns the text for an option that does not exist; `None` if the suggestion of the parser is the best one.
fn unknown_option(
    typed: &str,
    similar: Option<&ContextValue>,
    args: &[OsString],
) -> Option<String> {
    let tip = |typed: &str| {
        let name = typed.trim_start_matches('-').split('=').next()?;
        let tip = words().options.get(name)?;
        Some(format!(
            "unexpected argument '{typed}' found\n\n  tip: {tip}"
        ))
    };
    // Of an option with one dash, the parser reads the first letter alone.
    let short = || {
        args.iter()
            .filter_map(|arg| arg.to_str())
            .filter(|arg| arg.starts_with('-') && !arg.starts_with("--"))
            .find_map(tip)
    };
    let dash = || {
        let program = definition();
        let command = args
            .iter()
            .find_map(|arg| program.find_subcommand(arg.to_str()?))
            .unwrap_or(&program);
        let typed = args.iter().filter_map(|arg| arg.to_str()).find(|arg| {
            // Terraform and OpenTofu write long options with one dash.
            let name = arg.strip_prefix('-').unwrap_or_default();
            let name = name.split('=').next().unwrap_or_default();
            command
                .get_arguments()
                .chain(program.get_arguments())
                .any(|known| known.get_long() == Some(name))
        })?;
        Some(format!(
            "unexpected argument '{typed}' found\n\n  tip: write '-{typed}', with two dashes"
        ))
    };
    tip(typed)
        .or_else(|| {
            if typed.starts_with("--") {
                None
            } else {
                short()
            }
        })
        .or_else(dash)
        // Else the parser would advise to write `-- --option`, which makes it a directory.
        .or_else(|| {
            similar
                .is_none()
                .then(|| format!("unexpected argument '{typed}' found"))
        })
}

/// Makes an error about arguments with the usage of the command that was typed.
pub(super) fn worded(kind: ErrorKind, text: String, args: &[OsString]) -> clap::Error {
    let mut program = definition();
    // Only then has a subcommand the whole of its usage.
    program.build();
    let command =
        args.iter()
            .skip(1)
            .filter_map(|arg| arg.to_str())
            .fold(&mut program, |command, arg| {
                if command.find_subcommand(arg).is_none() {
                    return command;
                }
                command.find_subcommand_mut(arg).expect("it was found")
            });
    command.error(kind, text)
}
