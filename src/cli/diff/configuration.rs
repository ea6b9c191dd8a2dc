//! Whether a change of a lock file follows from the configuration beside it, and from which line.

use std::path::Path;

use crate::addr::ProviderAddr;
use crate::cli::World;
use crate::cli::diff::text::{Because, Compared};
use crate::cli::root;
use crate::config::{self, Settings};
use crate::diag::Texts;
use crate::flavor::Flavor;
use crate::git;
use crate::requirement::{Origin, Requirement, Requirements};
use crate::review::{ChangeKind, ProviderChange};
use crate::world::Files;

/// The configuration on both sides, where it is at hand.
struct Sides<'a> {
    old: Option<&'a Requirements>,
    new: &'a Requirements,
    texts: &'a Texts,
}

/// Where the configuration of a side is.
#[derive(Clone, Copy)]
pub(in crate::cli) enum Configured<'a> {
    /// In a directory on disk.
    Disk(&'a Path),
    /// In a directory of a revision, where there is no state.
    Revision(&'a git::Tree<'a>, &'a Path),
}

/// Finds out what the configuration of the two sides says about each change.
///
/// Without one now nothing is said; one before counts only if it is another one.
pub(in crate::cli) fn explain(
    one: &mut Compared,
    [old, new]: [Option<Configured<'_>>; 2],
    world: World<'_>,
    texts: &mut Texts,
) {
    let Some(new) = new.filter(|_| !one.review.providers.is_empty()) else {
        return;
    };
    let flavor = one.flavor();
    let is_same = |old: &Configured<'_>| match (old, new) {
        (Configured::Disk(old), Configured::Disk(new)) => *old == new,
        _ => false,
    };
    let old = old.filter(|old| !is_same(old));
    let old = old.and_then(|old| requirements(old, flavor, world, texts));
    let Some(new) = requirements(new, flavor, world, texts) else {
        return;
    };
    let sides = Sides {
        old: old.as_ref(),
        new: &new,
        texts,
    };
    let mut because = Because::new();
    for (change, _) in &one.review.providers {
        if let Some(clause) = sides.clause(change) {
            because.insert(change.addr().clone(), clause);
        }
    }
    one.because = because;
}

/// Reads the configuration of a directory; nothing if it has none, or one with faults.
fn requirements(
    configured: Configured<'_>,
    flavor: Flavor,
    world: World<'_>,
    texts: &mut Texts,
) -> Option<Requirements> {
    let mut settings = Settings::new(flavor);
    let (files, dir): (&dyn Files, _) = match configured {
        Configured::Disk(dir) => (world.disk, dir),
        Configured::Revision(tree, dir) => {
            settings.reads_state = false;
            (tree, dir)
        }
    };
    settings.data_dir = root::data_dir(world.env);
    let dir = if dir.as_os_str().is_empty() {
        Path::new(".")
    } else {
        dir
    };
    let loaded = config::load(files, texts, dir, &settings);
    let is_sound = loaded.found && !loaded.requirements.faulty;
    is_sound.then_some(loaded.requirements)
}

impl Sides<'_> {
    fn clause(&self, change: &ProviderChange) -> Option<String> {
        let addr = change.addr();
        let now = stated(self.new, addr);
        let Some(now) = now else {
            // A module that cannot be seen may require it.
            let is_known = self.new.unseen_calls.is_empty();
            return is_known.then(|| match change.kinds.contains(&ChangeKind::Removed) {
                true => "it is no longer required".to_owned(),
                false => "nothing in the configuration requires it".to_owned(),
            });
        };
        let place = self.place(now);
        if change.kinds.contains(&ChangeKind::Removed) {
            return Some(format!("but it is still required in {place}"));
        }
        let before = self.old.map(|old| stated(old, addr));
        match before {
            Some(None) => Some(format!("it is required in {place} now")),
            Some(Some(before)) if before.constraints != now.constraints => Some(format!(
                "the constraint in {place} changed from {} to {}",
                or_none(before),
                or_none(now)
            )),
            Some(Some(_)) if change.kinds.contains(&ChangeKind::ConstraintsChanged) => {
                Some(format!("although the constraint in {place} stands"))
            }
            None if change.kinds.contains(&ChangeKind::Added) => {
                Some(format!("it is required in {place}"))
            }
            None if change.kinds.contains(&ChangeKind::ConstraintsChanged) => {
                Some(format!("the constraint in {place} is {}", or_none(now)))
            }
            _ => None,
        }
    }

    /// Names the line that requires a provider.
    fn place(&self, requirement: &Requirement) -> String {
        let name = self.texts.name(requirement.file);
        match requirement.origin {
            Origin::State => format!("the state ({name})"),
            _ => {
                let position = self
                    .texts
                    .position(requirement.file, requirement.span.start);
                format!("{name}:{}", position.line)
            }
        }
    }
}

/// Returns the place that says most about a provider: the first with a constraint, else the first.
fn stated<'r>(requirements: &'r Requirements, addr: &ProviderAddr) -> Option<&'r Requirement> {
    let all = requirements.providers.get(addr)?;
    let constrained = all.iter().find(|one| !one.constraints.is_empty());
    constrained.or_else(|| all.first())
}

fn or_none(requirement: &Requirement) -> String {
    match requirement.constraints.is_empty() {
        true => "none".to_owned(),
        false => requirement.constraints.to_string(),
    }
}
