//! `lockctl git`, `lockctl git-textconv`: what makes git call lockctl.

pub(super) mod args;

use std::io::ErrorKind;
use std::path::Path;

use crate::cli::World;
use crate::cli::advice;
use crate::cli::args::Common;
use crate::cli::git::args::{Git, GitCommand, GitTextconv, Wire};
use crate::cli::output::{Output, RootOutput};
use crate::cli::roots::Ran;
use crate::cli::setup;
use crate::diag::{Texts, has_errors};
use crate::flavor::FlavorChoice;
use crate::git::{self, Scope, SettingKind, Wiring};
use crate::lockfile;
use crate::report::json::{self, Status};
use crate::report::{Block, Failure, Tone};
use crate::review;
use crate::world::Replaced;

/// How large a file of attributes may be, in bytes.
const MAX_ATTRIBUTES_BYTES: u64 = 4 * 1024 * 1024;

/// How much of a text that is no lock file is passed on, in bytes.
const MAX_TEXT_BYTES: u64 = 256 * 1024 * 1024;

pub(in crate::cli) fn run(common: &Common, args: &Git, world: World<'_>) -> Output {
    let dir = setup::below(common, Path::new("."));
    let mut output = RootOutput::new(dir.display().to_string());
    let done = match &args.command {
        GitCommand::Install(wire) => change(Change::Install, *wire, &dir, world, &mut output),
        GitCommand::Uninstall(wire) => change(Change::Uninstall, *wire, &dir, world, &mut output),
        GitCommand::Status => status(&dir, world, &mut output),
    };
    if let Err(failure) = done {
        output.fail(failure);
    }
    let ran = Ran {
        outputs: vec![output],
        ..Ran::default()
    };
    Output::of_roots("git", ran)
}

/// Prints what git compares in place of a lock file; one that cannot be read is printed as it is.
pub(in crate::cli) fn textconv(common: &Common, args: &GitTextconv, world: World<'_>) -> Output {
    let path = setup::below(common, &args.file);
    let bytes = match world.disk.read(&path, MAX_TEXT_BYTES) {
        Ok(bytes) => bytes,
        Err(error) => {
            return Output::failed(
                "git-textconv",
                Failure {
                    title: format!("{} cannot be read", path.display()),
                    causes: vec![error.to_string()],
                    help: Some("name a lock file".to_owned()),
                },
            );
        }
    };
    let mut output = Output::of_roots("git-textconv", Ran::default());
    output.raw = text_of(common.flavor, &bytes, world).unwrap_or(bytes);
    output
}

fn text_of(choice: FlavorChoice, bytes: &[u8], world: World<'_>) -> Option<Vec<u8>> {
    if bytes.len() as u64 > lockfile::MAX_BYTES {
        return None;
    }
    let flavor = setup::flavor(choice, world.disk, Path::new("."), Some(bytes));
    let file = Texts::default().add("", Vec::new());
    let (document, diagnostics) = lockfile::parse(file, bytes, flavor);
    (!has_errors(&diagnostics)).then(|| review::readable(&document.lock).into_bytes())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Install,
    Uninstall,
}

/// Writes, or takes back, what makes git call lockctl, and says what that is.
fn change(
    change: Change,
    wire: Wire,
    dir: &Path,
    world: World<'_>,
    output: &mut RootOutput,
) -> Result<(), Failure> {
    let scope = if wire.global {
        Scope::Global
    } else {
        Scope::Local
    };
    let wiring = Wiring::find(world.run, world.env, dir, scope)
        .map_err(|error| advice::git::setup_failure(&error))?;
    let mut lines = Vec::new();
    // The attributes name what the settings define: without these they do nothing.
    lines.extend(change_attributes(change, wire, wiring.attributes(), world)?);
    for (name, wanted) in git::SETTINGS {
        let found = wiring
            .setting(name)
            .map_err(|error| advice::git::setup_failure(&error))?;
        let is_there = match change {
            Change::Install => found.as_deref() != Some(wanted),
            Change::Uninstall => found.is_some(),
        };
        if !is_there {
            continue;
        }
        if !wire.dry_run {
            match change {
                Change::Install => wiring.set(name, wanted),
                Change::Uninstall => wiring.unset(name),
            }
            .map_err(|error| advice::git::setup_failure(&error))?;
        }
        lines.extend(found.map(|found| format!("- git config {name} {found:?}")));
        if change == Change::Install {
            lines.push(format!("+ git config {name} {wanted:?}"));
        }
    }
    output.json.changed = Some(!lines.is_empty());
    let text = match (lines.is_empty(), wire.dry_run, change) {
        (true, _, Change::Install) => "all of it is there already",
        (true, _, Change::Uninstall) => "nothing of it is there",
        (_, true, _) => "nothing was written",
        (_, _, Change::Install) => "git merges and shows lock files with lockctl now",
        (_, _, Change::Uninstall) => "git does without lockctl now",
    };
    output.report.results.push(Block::Lines(lines));
    let verdict = Block::Verdict(Tone::Good, text.to_owned());
    output.report.results.push(verdict);
    Ok(())
}

/// Adds or removes the line of attributes, and returns the line that says so.
fn change_attributes(
    change: Change,
    wire: Wire,
    path: &Path,
    world: World<'_>,
) -> Result<Option<String>, Failure> {
    let failed = |error: std::io::Error| Failure {
        title: format!("{} cannot be read or written", path.display()),
        causes: vec![error.to_string()],
        help: Some("make sure that its directory exists and is writable".to_owned()),
    };
    let old = match world.disk.read(path, MAX_ATTRIBUTES_BYTES) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    let text = old.as_deref().unwrap_or_default();
    let (sign, new) = match change {
        Change::Install => ('+', git::with_line(text)),
        Change::Uninstall => ('-', git::without_line(text)),
    };
    let Some(new) = new else { return Ok(None) };
    if !wire.dry_run {
        let replaced = match &old {
            Some(old) if new.is_empty() => world.disk.remove(path, old),
            Some(old) => world.disk.replace(path, Some(old), &new),
            // git makes no directory for the attributes of a person before somebody needs it.
            None => path
                .parent()
                .map_or(Ok(()), |dir| world.disk.make_directory(dir))
                .and_then(|()| world.disk.replace(path, None, &new)),
        };
        if replaced.map_err(failed)? == Replaced::Changed {
            return Err(Failure {
                title: format!("{} was changed meanwhile", path.display()),
                help: Some("run the command again".to_owned()),
                ..Failure::default()
            });
        }
    }
    Ok(Some(format!(
        "{sign} {}: {}",
        path.display(),
        git::ATTRIBUTES
    )))
}

fn status(dir: &Path, world: World<'_>, output: &mut RootOutput) -> Result<(), Failure> {
    let all = git::in_force(world.run, dir).map_err(|error| advice::git::setup_failure(&error))?;
    let rows = all.iter().map(|one| {
        let state = match (&one.found, one.is_wanted()) {
            (_, true) => "in force".to_owned(),
            (Some(other), false) => format!("other: {other}"),
            (None, false) => "missing".to_owned(),
        };
        let name = match one.kind {
            SettingKind::Config => one.name.to_owned(),
            SettingKind::Attribute => format!("attribute {}", one.name),
        };
        vec![name, state]
    });
    output.report.results.push(Block::Table(rows.collect()));
    let settings = all.iter().map(|one| json::GitSetting {
        kind: one.kind,
        name: one.name.to_owned(),
        wanted: one.wanted.to_owned(),
        found: one.found.clone(),
        in_force: one.is_wanted(),
    });
    output.json.git_settings = Some(settings.collect());
    if all.iter().any(|one| !one.is_wanted()) {
        output.json.status = Status::Findings;
        output.remark("run `lockctl git install`");
    }
    Ok(())
}
