//! `lockctl git` and `lockctl git-textconv`: the settings that make git run lockctl.

mod text;

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::{Args, Subcommand};

use crate::advice;
use crate::diag::Texts;
use crate::git::{self, ConfigScope, GitError, SettingKind, Wiring, WiringGoal};
use crate::lockfile::{self, LockFile};
use crate::report::json::RootStatus;
use crate::report::{
    CommandResult, Failure, Look, ResultSubject, RootDetail, RootResult, Sentence, TextBlock,
    harmless_text,
};
use crate::review;
use crate::run::World;
use crate::run::command::Command;
use crate::run::options::examples;
use crate::run::session::Session;
use crate::workspace::flavor_of;
use crate::world::Replaced;

/// Maximum size of a file of attributes, in bytes.
const MAX_ATTRIBUTES_BYTES: u64 = 4 * 1024 * 1024;

/// Maximum size of a text that is no lock file and is passed on, in bytes.
const MAX_TEXT_BYTES: u64 = 256 * 1024 * 1024;

/// The help on attributes that `install` cannot change.
const OVERRIDDEN: &str = "a line for the same files has priority: look for it in `.git/info/attributes` \
     and in the `.gitattributes` of the directories that hold lock files, and remove it";

/// Set up git to merge and show lock files with lockctl
#[derive(Clone, Debug, Args)]
#[command(before_help = examples(&[
    ("lockctl git install", "set up this repository"),
    ("lockctl git install --global", "set up all repositories of the user"),
    ("lockctl git status", "show what is set up"),
]))]
pub(crate) struct GitArgs {
    #[command(subcommand)]
    pub(crate) command: GitCommand,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum GitCommand {
    /// Write the settings of git and .gitattributes
    Install(Wire),
    /// Remove what `install` wrote
    Uninstall(Wire),
    /// Show what is set up; exit with code 1 unless all of it is
    Status,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Wire {
    /// For all repositories of the user, not only for this one
    #[arg(long)]
    pub(crate) global: bool,
    /// Write nothing; show what would be written
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Print a lock file with one fact per line, as a diff driver of git
#[derive(Clone, Debug, Args)]
pub(crate) struct GitTextconvArgs {
    /// A lock file, or a file of pinned modules
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

impl Command for GitArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        run(session, self)
    }

    fn text(&self, result: &CommandResult, _: Look) -> Vec<TextBlock> {
        result.roots().iter().flat_map(text::of_root).collect()
    }
}

impl Command for GitTextconvArgs {
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult {
        let Session { options, world, .. } = &**session;
        let path = options.below(&self.file);
        match world.disk.read(&path, MAX_TEXT_BYTES) {
            Ok(bytes) => {
                // The driver runs for all files that the attributes match, and git aborts a diff whose driver
                // fails, so other files are printed as text.
                let lock = (bytes.len() as u64 <= lockfile::MAX_BYTES)
                    .then(|| {
                        // git hands over a temporary file, whose directory says nothing; it runs
                        // drivers at the top.
                        let top = Path::new(".");
                        let flavor = flavor_of(options.flavor, world.disk, top, Some(&bytes));
                        LockFile::parse(&bytes, flavor).ok()
                    })
                    .flatten();
                // One without providers may be a file of pinned modules, which has one fact per line already.
                let text = match lock.filter(|lock| !lock.providers.is_empty()) {
                    Some(lock) => harmless_text(review::readable(&lock).as_bytes()),
                    None => harmless_text(&bytes),
                };
                CommandResult::of("git-textconv", ResultSubject::Text(text.into_bytes()))
            }
            Err(error) => {
                let failure = Failure::new(format!("{} cannot be read", path.display()))
                    .because(error.to_string())
                    .help("name a lock file");
                CommandResult::failed("git-textconv", [failure])
            }
        }
    }
}

fn run(session: &Session<'_>, args: &GitArgs) -> CommandResult {
    let world = session.world;
    let dir = session.options.below(Path::new("."));
    let mut root = RootResult::new(dir.display().to_string());
    let done = match &args.command {
        GitCommand::Install(wire) => change(WiringGoal::Installed, *wire, &dir, world, &mut root),
        GitCommand::Uninstall(wire) => change(WiringGoal::Removed, *wire, &dir, world, &mut root),
        GitCommand::Status => status(&dir, world, &mut root),
    };
    if let Err(failure) = done {
        root.fail(failure);
    }
    CommandResult::of_roots("git", vec![root], Texts::default())
}

/// Writes, or removes, what makes git call lockctl, and reports what that is.
fn change(
    goal: WiringGoal,
    wire: Wire,
    dir: &Path,
    world: World<'_>,
    root: &mut RootResult,
) -> Result<(), Failure> {
    let scope = if wire.global {
        ConfigScope::Global
    } else {
        ConfigScope::Local
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
                return Err(Failure::new(format!(
                    "{} was changed by another program",
                    path.display()
                ))
                .help("run the command again"));
            }
        }
        for change in &plan.settings {
            wiring.write_setting(change).map_err(failure)?;
        }
    }
    root.changed = Some(!plan.is_empty());
    root.detail = RootDetail::GitChanges(text::lines(goal, scope.option(), &plan, path));
    root.verdict = contrary(goal, wire, dir, world, root)
        .or_else(|| Some(Sentence::good(text::verdict(goal, &plan, wire.dry_run))));
    Ok(())
}

/// Says what git does in spite of what was written, and adds the help on it; `None` if git does what was wanted.
fn contrary(
    goal: WiringGoal,
    wire: Wire,
    dir: &Path,
    world: World<'_>,
    root: &mut RootResult,
) -> Option<Sentence> {
    if wire.dry_run {
        return None;
    }
    // Outside of a repository nothing is in force.
    let all = git::effective_settings(world.run, dir).unwrap_or_default();
    let has = |kind, in_force| {
        all.iter()
            .any(|setting| setting.kind == kind && setting.in_force == in_force)
    };
    match goal {
        // A later line of .gitattributes, or the file of a subdirectory, can win over what was written.
        WiringGoal::Installed if has(SettingKind::Attribute, false) => {
            root.status = RootStatus::Findings;
            root.remark(OVERRIDDEN);
            Some(Sentence::warning(text::overridden(&all)))
        }
        // What is set up for the user works in each repository, and the other way round.
        WiringGoal::Removed
            if has(SettingKind::Config, true) && has(SettingKind::Attribute, true) =>
        {
            let option = if wire.global { "" } else { " --global" };
            root.remark(format!("`lockctl git uninstall{option}` removes the rest"));
            Some(Sentence::note("git still uses lockctl here"))
        }
        _ => None,
    }
}

fn inaccessible(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("{} cannot be read or written", path.display()))
        .because(error.to_string())
        .help("make sure that its directory exists and is writable")
}

fn status(dir: &Path, world: World<'_>, root: &mut RootResult) -> Result<(), Failure> {
    let all = git::effective_settings(world.run, dir)
        .map_err(|error| advice::git::setup_failure(&error))?;
    if all.iter().any(|setting| !setting.in_force) {
        root.status = RootStatus::Findings;
        root.remark("run `lockctl git install`");
    }
    root.detail = RootDetail::GitSettings(all);
    Ok(())
}
