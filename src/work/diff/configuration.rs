//! The configuration beside a lock file, on disk or in a revision.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use crate::config::{ConfigSources, Loaded, OverriddenPlaces};
use crate::diag::{Texts, has_errors};
use crate::flavor::{Flavor, FlavorChoice};
use crate::git;
use crate::project::{ProjectFile, ProjectPlace, Projects, RememberedProvider};
use crate::remote_module::RemoteModules;
use crate::requirement::{Requirement, RequirementOrigin, Requirements, StateSeen};
use crate::review::{ConfigurationSides, FileComparison, LockSide};
use crate::run::World;
use crate::run::session::Session;
use crate::run::user::modules;
use crate::workspace::{EnvironmentUse, Reading, Workspace};
use crate::world::{Env, EnvAt, Files as _};

/// The place of the configuration of a side.
#[derive(Clone)]
pub(crate) enum Configured<'a> {
    /// In a directory on disk.
    Disk(&'a Path),
    /// In a directory of a revision; the last path is that of its top.
    Revision(&'a git::Tree<'a>, &'a Path, &'a Path),
}

impl Configured<'_> {
    /// Returns true if the directory itself is not there.
    fn is_gone(&self, world: World<'_>) -> bool {
        match self {
            Self::Disk(dir) => world.disk.kind(dir).is_err(),
            Self::Revision(tree, dir, _) => tree.kind(dir).is_err(),
        }
    }
}

/// Reads the configuration of both sides, and adds what it says about each change.
///
/// Without a configuration now it adds nothing; one before counts only if it is another one.
pub(crate) fn explain(
    mut comparison: FileComparison,
    [old, new]: [Option<Configured<'_>>; 2],
    session: &Session<'_>,
    texts: &mut Texts,
) -> FileComparison {
    let Some(new) = new.filter(|_| !comparison.review.providers.is_empty()) else {
        return comparison;
    };
    // Each side is read by the rules of its own lock file: the other program has other defaults.
    let flavor = |side: &Option<LockSide>| match side {
        Some(side) => side.flavor,
        None => comparison.flavor(),
    };
    let [old_flavor, new_flavor] = [&comparison.old, &comparison.new].map(flavor);
    let old = old.filter(|old| match (old, &new) {
        (Configured::Disk(old), Configured::Disk(new)) => old != new,
        _ => true,
    });
    let is_committed = matches!(old, Some(Configured::Revision(..)));
    let is_gone = new.is_gone(session.world);
    let modules = modules::kept(session);
    let mut load = |side, flavor| load(side, flavor, &modules, session.world, texts);
    let old = old.and_then(|old| load(old, old_flavor));
    let new = load(new, new_flavor);
    // Of a stray lock file there never was a configuration, and no directory is left for `init`.
    if is_committed && new.is_none() && (old.is_some() || is_gone) {
        comparison.review.without_root();
    }
    let places = |loaded: &Option<Loaded>, flavor| {
        let of_all = |loaded| OverriddenPlaces::of_all(loaded, texts, flavor);
        loaded.as_ref().map(of_all).unwrap_or_default()
    };
    let overridden = [places(&old, old_flavor), places(&new, new_flavor)];
    let old = old.and_then(requirements);
    let Some(new) = new.and_then(requirements) else {
        return comparison;
    };
    let sides = ConfigurationSides {
        old: old.as_ref(),
        new: &new,
    };
    comparison.explained_by(sides, |requirement| {
        let name = texts.name(requirement.file);
        if requirement.origin == RequirementOrigin::State {
            return format!("the state ({name})");
        }
        let position = texts.position(requirement.file, requirement.span.start);
        match overridden
            .iter()
            .find_map(|places| places.describe(requirement, texts))
        {
            Some(replaced) => format!("{name}:{}, in place of {replaced}", position.line),
            None => format!("{name}:{}", position.line),
        }
    })
}

/// Returns what the project file of the state before remembers of providers; nothing if it has errors.
pub(crate) fn memory(
    place: &ProjectPlace,
    projects: &mut Projects<'_>,
    texts: &mut Texts,
) -> Vec<RememberedProvider> {
    let file = projects.of(place, texts);
    if has_errors(&file.diagnostics) {
        return Vec::new();
    }
    file.project.trust.memory.clone()
}

/// Reads the configuration of a side, if it has any.
fn load(
    configured: Configured<'_>,
    flavor: Flavor,
    modules: &dyn RemoteModules,
    world: World<'_>,
    texts: &mut Texts,
) -> Option<Loaded> {
    match configured {
        Configured::Disk(dir) => {
            let outside = ConfigSources {
                files: world.disk,
                modules,
            };
            load_root(dir, outside, world.env, flavor, texts)
        }
        Configured::Revision(tree, dir, top) => {
            let env = EnvAt {
                env: world.env,
                current_dir: top.to_owned(),
            };
            let outside = ConfigSources {
                files: tree,
                modules,
            };
            let mut loaded = load_root(dir, outside, &env, flavor, texts)?;
            // A state file of the work tree belongs to the present, not to the revision. Without one that is
            // committed the state of that time is unknown, not empty (`config` rules 7.1).
            let is_state = |place: &Requirement| place.origin == RequirementOrigin::State;
            let requirements = &mut loaded.requirements;
            if !requirements.providers.values().flatten().any(is_state) {
                requirements.state = StateSeen::LeftOut;
            }
            Some(loaded)
        }
    }
}

/// Reads the configuration of a root as other commands do, by the rules of the lock file at hand.
fn load_root(
    dir: &Path,
    outside: ConfigSources<'_>,
    env: &dyn Env,
    flavor: Flavor,
    texts: &mut Texts,
) -> Option<Loaded> {
    let dir = if dir.as_os_str().is_empty() {
        Path::new(".")
    } else {
        dir
    };
    let choice = FlavorChoice::rules_of(flavor);
    // No project file is read below, so no setting of one can have ended.
    let now = SystemTime::UNIX_EPOCH;
    let workspace = Workspace::new(outside.files, env, choice, None, now, texts).ok()?;
    // The two states may have different project files, and neither says what is required.
    let root = workspace
        .open(dir, Arc::<ProjectFile>::default(), texts)
        .ok()??;
    if root.is_alone {
        return None;
    }
    let reading = Reading {
        reads_state: true,
        // The comment of a pull request shows what `diff` prints, and the program that writes it needs a token.
        environment: EnvironmentUse::Hidden,
        ..Reading::new(outside, env)
    };
    let loaded = root.load(&reading, texts);
    loaded.found.then_some(loaded)
}

/// Returns what a configuration requires; nothing if it has faults.
fn requirements(loaded: Loaded) -> Option<Requirements> {
    (!loaded.requirements.faulty).then_some(loaded.requirements)
}
