//! `lockctl git`, `lockctl git-textconv`: what makes git call lockctl.

pub(super) mod args;
mod text;

use std::io::{self, ErrorKind};
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
use crate::git::{self, GitError, Scope, SettingKind, Wiring, WiringGoal};
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
        GitCommand::Install(wire) => change(WiringGoal::Installed, *wire, &dir, world, &mut output),
        GitCommand::Uninstall(wire) => change(WiringGoal::Removed, *wire, &dir, world, &mut output),
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

/// Writes, or removes, what makes git call lockctl, and reports what that is.
fn change(
    goal: WiringGoal,
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
    let failure = |error: GitError| advice::git::setup_failure(&error);
    let wiring = Wiring::find(world.run, world.env, dir, scope).map_err(failure)?;
    let path = wiring.attributes();
    let attributes = match world.disk.read(path, MAX_ATTRIBUTES_BYTES) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(inaccessible(path, &error)),
    };
    let plan = wiring.plan(goal, attributes).map_err(failure)?;
    if !wire.dry_run {
        // The attributes name what the settings define: without these they do nothing.
        if let Some(change) = &plan.attributes {
            let replaced = wiring.write_attributes(change, world.disk);
            if replaced.map_err(|error| inaccessible(path, &error))? == Replaced::Changed {
                return Err(Failure {
                    title: format!("{} was changed meanwhile", path.display()),
                    help: Some("run the command again".to_owned()),
                    ..Failure::default()
                });
            }
        }
        for change in &plan.settings {
            wiring.write_setting(change).map_err(failure)?;
        }
    }
    output.json.changed = Some(!plan.is_empty());
    let results = &mut output.report.results;
    results.push(Block::Lines(text::lines(goal, &plan, path)));
    let text = text::verdict(goal, &plan, wire.dry_run);
    results.push(Block::Verdict(Tone::Good, text.to_owned()));
    Ok(())
}

fn inaccessible(path: &Path, error: &io::Error) -> Failure {
    Failure {
        title: format!("{} cannot be read or written", path.display()),
        causes: vec![error.to_string()],
        help: Some("make sure that its directory exists and is writable".to_owned()),
    }
}

fn status(dir: &Path, world: World<'_>, output: &mut RootOutput) -> Result<(), Failure> {
    let all = git::effective_settings(world.run, dir)
        .map_err(|error| advice::git::setup_failure(&error))?;
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
