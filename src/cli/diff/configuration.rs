//! The configuration beside a lock file, on disk or in a revision.

use std::path::Path;

use crate::cli::World;
use crate::cli::args::Common;
use crate::config::{self, BackendUse, Loaded, Outside, Settings};
use crate::diag::Texts;
use crate::flavor::Flavor;
use crate::git;
use crate::remote_module::RemoteModules;
use crate::requirement::{Origin, Requirement, Requirements};
use crate::review::{ConfigurationSides, FileComparison, LockSide};
use crate::run::root;
use crate::run::user::modules;
use crate::workspace::environment_values;
use crate::world::Files;

/// Where the configuration of a side is.
#[derive(Clone, Copy)]
pub(in crate::cli) enum Configured<'a> {
    /// In a directory on disk.
    Disk(&'a Path),
    /// In a directory of a revision, where there is no state.
    Revision(&'a git::Tree<'a>, &'a Path),
}

/// Reads the configuration of both sides, and adds what it says about each change.
///
/// Without a configuration now it adds nothing; one before counts only if it is another one.
pub(in crate::cli) fn explain(
    mut one: FileComparison,
    [old, new]: [Option<Configured<'_>>; 2],
    common: &Common,
    world: World<'_>,
    texts: &mut Texts,
) -> FileComparison {
    let Some(new) = new.filter(|_| !one.review.providers.is_empty()) else {
        return one;
    };
    // Each side is read by the rules of its own lock file: the other program has other defaults.
    let flavor = |side: &Option<LockSide>| match side {
        Some(side) => side.flavor,
        None => one.flavor(),
    };
    let [old_flavor, new_flavor] = [&one.old, &one.new].map(flavor);
    let is_same = |old: &Configured<'_>| match (old, new) {
        (Configured::Disk(old), Configured::Disk(new)) => *old == new,
        _ => false,
    };
    let old = old.filter(|old| !is_same(old));
    let is_committed = matches!(old, Some(Configured::Revision(..)));
    let cache = modules::cache(&common.options(), world);
    let modules = modules::kept(world, cache.as_ref());
    let mut load = |side, flavor| load(side, flavor, &modules, world, texts);
    let old = old.map(|old| load(old, old_flavor));
    let new = load(new, new_flavor);
    if is_committed && !new.found && old.as_ref().is_some_and(|old| old.found) {
        one.review.without_configuration();
    }
    let old = old.and_then(requirements);
    let Some(new) = requirements(new) else {
        return one;
    };
    let sides = ConfigurationSides {
        old: old.as_ref(),
        new: &new,
    };
    one.explained_by(sides, |requirement| place(requirement, texts))
}

/// Reads the configuration of a directory, if it has any.
fn load(
    configured: Configured<'_>,
    flavor: Flavor,
    modules: &dyn RemoteModules,
    world: World<'_>,
    texts: &mut Texts,
) -> Loaded {
    let mut settings = Settings::new(flavor);
    let (files, dir): (&dyn Files, _) = match configured {
        Configured::Disk(dir) => (world.disk, dir),
        Configured::Revision(tree, dir) => {
            settings.reads_state = false;
            (tree, dir)
        }
    };
    settings.data_dir = root::data_dir(world.env);
    settings.backend = BackendUse::LeftAlone;
    settings.values.environment = environment_values(world.env);
    let dir = if dir.as_os_str().is_empty() {
        Path::new(".")
    } else {
        dir
    };
    config::load_with(Outside { files, modules }, texts, dir, &settings)
}

/// Returns what a configuration requires; nothing if there is none, or one with faults.
fn requirements(loaded: Loaded) -> Option<Requirements> {
    let is_sound = loaded.found && !loaded.requirements.faulty;
    is_sound.then_some(loaded.requirements)
}

/// Names the line that requires a provider.
fn place(requirement: &Requirement, texts: &Texts) -> String {
    let name = texts.name(requirement.file);
    if requirement.origin == Origin::State {
        return format!("the state ({name})");
    }
    let position = texts.position(requirement.file, requirement.span.start);
    format!("{name}:{}", position.line)
}
