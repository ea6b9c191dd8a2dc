//! The versions that the roots of a run lock in the end, and the roots that are behind.
//!
//! Each root adds what it has locked, and [`LockedRoots::compare`] looks at all of them together. A
//! provider is compared among the roots of one program: in the other program its address names another
//! provider, or one with other versions.

mod command;
mod directories;
mod group;
mod moves;
mod text;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use self::group::{GroupMember, ProviderGroup};
use self::moves::RunComparison;
use super::LockOptions;
use crate::addr::ProviderAddr;
use crate::diag::Texts;
use crate::flavor::{Flavor, Program};
use crate::locker::Locked;
use crate::report::RootResult;
use crate::report::json::{ProviderInUse, RootStatus, VersionsInUse};
use crate::requirement::{Requirement, Requirements};
use crate::resolve::Goals;
use crate::run::options::{RootChoice, RunOptions};
use crate::run::root::Root;
use crate::version::{Constraints, Version};
use crate::world::Files;
pub(super) use text::{are_many, blocks};

/// The roots that were locked, by their paths in the results.
#[derive(Default)]
pub(super) struct LockedRoots(BTreeMap<String, LockedRoot>);

/// The entries of a root that was locked.
struct LockedRoot {
    dir: PathBuf,
    lock_path: PathBuf,
    flavor: Flavor,
    entries: BTreeMap<ProviderAddr, LockedEntry>,
}

/// The version of a provider that a root has locked, and what binds it.
struct LockedEntry {
    version: Version,
    /// All conditions that count.
    constraints: Constraints,
    /// The requirements that state conditions.
    places: Vec<Requirement>,
}

/// The options that the commands of a run have in common.
pub(super) struct ComparedRun<'a> {
    pub(super) run: &'a RunOptions,
    pub(super) options: &'a LockOptions,
    pub(super) roots: &'a RootChoice,
}

impl LockedRoots {
    /// Adds a root that was locked, with the providers that are named if any are.
    pub(super) fn add(
        &mut self,
        root: &Root,
        requirements: &Requirements,
        goals: &Goals,
        locked: &Locked,
    ) {
        let mut entries = BTreeMap::new();
        for outcome in &locked.providers {
            let provider = &outcome.provider;
            if !goals.named.is_empty() && !goals.named.contains_key(provider) {
                continue;
            }
            let entry = LockedEntry {
                version: outcome.version.clone(),
                constraints: locked.lock.providers[provider].constraints.clone(),
                places: requirements
                    .written(provider)
                    .into_iter()
                    .filter(|requirement| !requirement.constraints.is_empty())
                    .cloned()
                    .collect(),
            };
            entries.insert(provider.clone(), entry);
        }
        let locked_root = LockedRoot {
            dir: root.dir.clone(),
            lock_path: root.lock_path.clone(),
            flavor: root.flavor,
            entries,
        };
        self.0.insert(root.dir.display().to_string(), locked_root);
    }

    /// Compares the roots; returns nothing unless they are several.
    pub(super) fn compare(
        &self,
        results: &[RootResult],
        run: &ComparedRun<'_>,
        files: &dyn Files,
        texts: &mut Texts,
    ) -> Option<VersionsInUse> {
        let mut roots: Vec<(&str, &LockedRoot)> = Vec::new();
        let mut failed: Vec<&Path> = Vec::new();
        for result in results {
            match self.0.get(&result.path) {
                Some(root) => roots.push((&result.path, root)),
                None if result.status != RootStatus::Clean => failed.push(Path::new(&result.path)),
                // It requires no provider that is named, or none at all.
                None => {}
            }
        }
        if roots.len() < 2 {
            return None;
        }
        let (differing, agreed): (Vec<ProviderGroup<'_>>, Vec<ProviderGroup<'_>>) = groups(&roots)
            .into_iter()
            .partition(|group| group.versions().len() > 1);
        let comparison = RunComparison {
            run,
            roots: &roots,
            failed: &failed,
        };
        let mut rows = Vec::new();
        for group in &differing {
            rows.push(ProviderInUse {
                provider: group.provider.clone(),
                program: group.program,
                versions: group.in_use(),
                moves: comparison.moves(group),
                held_back: group.held_back(files, texts),
            });
        }
        Some(VersionsInUse {
            roots: roots.len(),
            left_out: failed.len(),
            agreed: agreed.len(),
            differing: rows,
        })
    }
}

/// Groups the entries of all roots by provider and program.
fn groups<'a>(roots: &[(&'a str, &'a LockedRoot)]) -> Vec<ProviderGroup<'a>> {
    let mut groups: BTreeMap<(&ProviderAddr, Program), ProviderGroup<'a>> = BTreeMap::new();
    for &(path, root) in roots {
        for (provider, entry) in &root.entries {
            let program = root.flavor.program();
            let group = groups
                .entry((provider, program))
                .or_insert_with(|| ProviderGroup {
                    provider,
                    program,
                    members: Vec::new(),
                });
            group.members.push(GroupMember { path, root, entry });
        }
    }
    groups.into_values().collect()
}
