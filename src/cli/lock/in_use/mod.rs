//! Which versions the roots of a run lock in the end, and which roots are behind.
//!
//! Each root adds what it has locked, and [`LockedRoots::compare`] looks at all of them together. A
//! provider is compared among the roots of one program: an address is another provider there, or comes
//! with other versions.

mod command;
mod directories;
mod text;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use self::command::Places;
use super::LockOptions;
use crate::addr::ProviderAddr;
use crate::cli::session::holding;
use crate::diag::Texts;
use crate::flavor::{Flavor, Program};
use crate::locker::Locked;
use crate::lockfile;
use crate::report::RootResult;
use crate::report::json::{
    HeldBackRoot, HoldingPlace, ProviderInUse, RootStatus, VersionInUse, VersionMove, VersionsInUse,
};
use crate::requirement::{Requirement, Requirements};
use crate::resolve::Goals;
use crate::run::options::{RootChoice, RunOptions};
use crate::run::root::{self, Root};
use crate::version::{Constraint, Constraints, Operator, Version};
use crate::world::Files;
pub(super) use text::{are_many, blocks};

/// How many roots a command names before directories stand for them: a directory may have more roots
/// some day.
const MAX_NAMED_ROOTS: usize = 5;

/// What the roots of a run have locked, by the path of each.
#[derive(Default)]
pub(super) struct LockedRoots(BTreeMap<String, LockedRoot>);

/// What a root has locked.
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
    /// Where conditions are written.
    places: Vec<Requirement>,
}

/// What the commands of a run have in common.
pub(super) struct ComparedRun<'a> {
    pub(super) run: &'a RunOptions,
    pub(super) options: &'a LockOptions,
    pub(super) roots: &'a RootChoice,
}

/// A provider among the roots of one program.
struct Group<'a> {
    provider: &'a ProviderAddr,
    program: Program,
    /// The roots that lock it, in the order of the run.
    members: Vec<Member<'a>>,
}

/// A root that locks a provider.
struct Member<'a> {
    path: &'a str,
    root: &'a LockedRoot,
    entry: &'a LockedEntry,
}

impl LockedRoots {
    /// Adds what a root has locked: of the providers that are to move, if any are named.
    pub(super) fn add(
        &mut self,
        root: &Root,
        requirements: &Requirements,
        goals: &Goals,
        locked: &Locked,
    ) {
        let wanted = locked.providers.iter().filter(|one| {
            let named = &goals.named;
            named.is_empty() || named.contains_key(&one.provider)
        });
        let entries = wanted.map(|one| {
            let places = requirements.written(&one.provider).into_iter();
            let places = places.filter(|place| !place.constraints.is_empty());
            let entry = LockedEntry {
                version: one.version.clone(),
                constraints: locked.lock.providers[&one.provider].constraints.clone(),
                places: places.cloned().collect(),
            };
            (one.provider.clone(), entry)
        });
        let own = LockedRoot {
            dir: root.dir.clone(),
            lock_path: root.lock_path.clone(),
            flavor: root.flavor,
            entries: entries.collect(),
        };
        self.0.insert(root.dir.display().to_string(), own);
    }

    /// Compares what the roots have locked; nothing if these are not several.
    pub(super) fn compare(
        &self,
        results: &[RootResult],
        run: &ComparedRun<'_>,
        files: &dyn Files,
        texts: &mut Texts,
    ) -> Option<VersionsInUse> {
        let paths = results.iter().map(|result| &*result.path);
        let roots = paths.filter_map(|path| Some((path, self.0.get(path)?)));
        let roots: Vec<(&str, &LockedRoot)> = roots.collect();
        if roots.len() < 2 {
            return None;
        }
        let mut groups: BTreeMap<(&ProviderAddr, Program), Group<'_>> = BTreeMap::new();
        for (path, root) in &roots {
            for (provider, entry) in &root.entries {
                let program = root.flavor.program();
                let group = groups.entry((provider, program)).or_insert_with(|| Group {
                    provider,
                    program,
                    members: Vec::new(),
                });
                group.members.push(Member { path, root, entry });
            }
        }
        let (differing, agreed): (Vec<Group<'_>>, Vec<Group<'_>>) = groups
            .into_values()
            .partition(|group| group.versions().len() > 1);
        let failed = results.iter().filter(|result| {
            !self.0.contains_key(&result.path) && result.status != RootStatus::Clean
        });
        let failed: Vec<&Path> = failed.map(|result| Path::new(&result.path)).collect();
        let comparison = Comparison {
            run,
            roots: &roots,
            failed: &failed,
        };
        let differing = differing.iter();
        Some(VersionsInUse {
            roots: roots.len(),
            left_out: failed.len(),
            agreed: agreed.len(),
            differing: differing
                .map(|group| ProviderInUse {
                    provider: group.provider.clone(),
                    program: group.program,
                    versions: group.in_use(),
                    moves: comparison.moves(group),
                    held_back: group.held_back(files, texts),
                })
                .collect(),
        })
    }
}

impl Group<'_> {
    fn versions(&self) -> BTreeSet<Reverse<&Version>> {
        let members = self.members.iter();
        members.map(|one| Reverse(&one.entry.version)).collect()
    }

    fn in_use(&self) -> Vec<VersionInUse> {
        let versions = self.versions().into_iter().map(|Reverse(version)| {
            let members = self.members.iter();
            let own = members.filter(|one| one.entry.version == *version);
            VersionInUse {
                version: version.clone(),
                roots: own.map(|one| one.path.to_owned()).collect(),
            }
        });
        versions.collect()
    }

    /// Lists the roots that cannot be moved to the newest version, with the reasons.
    fn held_back(&self, files: &dyn Files, texts: &mut Texts) -> Vec<HeldBackRoot> {
        let versions = self.versions();
        let held = self.members.iter().filter_map(|one| {
            let mut newer = versions.iter().map(|Reverse(version)| *version);
            let newest = newer.find(|version| one.counts(version))?;
            (!one.entry.constraints.allows(newest)).then(|| HeldBackRoot {
                root: one.path.to_owned(),
                version: one.entry.version.clone(),
                newest: newest.clone(),
                held_by: one.held_by(self.provider, newest, files, texts),
            })
        });
        held.collect()
    }
}

impl Member<'_> {
    /// Returns whether a version is one to be compared with: a pre-release only where it is named.
    fn counts(&self, version: &Version) -> bool {
        let mut terms = self.entry.constraints.iter();
        let names =
            |term: &Constraint| term.operator() == Operator::Exact && term.version() == version;
        !version.is_prerelease() || terms.any(names)
    }

    /// Returns the newest of some versions that the root can be moved up to; they are sorted, the newest
    /// first.
    fn target<'v>(&self, versions: &BTreeSet<Reverse<&'v Version>>) -> Option<&'v Version> {
        let mut newer = versions.iter().map(|Reverse(version)| *version);
        let version = newer.find(|version| self.entry.constraints.allows(version))?;
        (*version > self.entry.version).then_some(version)
    }

    /// Lists the requirements that exclude a version. Where modules cannot be seen, recorded constraints
    /// that no visible place states count as well.
    fn held_by(
        &self,
        provider: &ProviderAddr,
        version: &Version,
        files: &dyn Files,
        texts: &mut Texts,
    ) -> Vec<HoldingPlace> {
        let LockedEntry {
            constraints,
            places,
            ..
        } = self.entry;
        let excluding = places.iter().filter(|place| !place.is_met_by(version));
        let mut held_by: Vec<HoldingPlace> = excluding
            .map(|place| holding::place(texts, place))
            .collect();
        let is_visible = |term: &Constraint| {
            let mut visible = places.iter().flat_map(|place| place.constraints.iter());
            visible.any(|other| other == term)
        };
        let recorded = constraints.iter();
        let recorded = recorded.filter(|term| !term.is_met_by(version) && !is_visible(term));
        let recorded: Constraints = recorded.cloned().collect();
        if !recorded.is_empty() {
            held_by.extend(self.recorded(provider, &recorded, files, texts));
        }
        held_by
    }

    /// Describes constraints of the lock file as it is now: the run may have written it.
    fn recorded(
        &self,
        provider: &ProviderAddr,
        constraints: &Constraints,
        files: &dyn Files,
        texts: &mut Texts,
    ) -> Option<HoldingPlace> {
        let path = &self.root.lock_path;
        let bytes = root::read_lock(files, path).ok()??;
        let file = texts.add(path.display().to_string(), bytes.clone());
        let (document, _) = lockfile::parse(file, &bytes, self.root.flavor);
        let span = document.places.get(provider)?.constraints?;
        Some(holding::recorded(texts, file, span, constraints))
    }
}

/// Everything that a command for some roots must know of the others.
struct Comparison<'a> {
    run: &'a ComparedRun<'a>,
    roots: &'a [(&'a str, &'a LockedRoot)],
    /// Roots of which it is unknown what they lock.
    failed: &'a [&'a Path],
}

impl Comparison<'_> {
    /// Lists what can be moved: the roots by the version that they can be moved to, the newest first.
    fn moves(&self, group: &Group<'_>) -> Vec<VersionMove> {
        let versions = group.versions();
        let mut targets: BTreeMap<Reverse<&Version>, Vec<&Member<'_>>> = BTreeMap::new();
        for member in &group.members {
            if let Some(version) = member.target(&versions) {
                targets.entry(Reverse(version)).or_default().push(member);
            }
        }
        let moves = targets.into_iter().map(|(Reverse(to), members)| {
            let places = self.places(group, to, &members);
            VersionMove {
                to: to.clone(),
                roots: members.iter().map(|one| one.path.to_owned()).collect(),
                command: self.command(group, to, &places),
                places: places.len(),
            }
        });
        moves.collect()
    }

    /// Returns the command that moves the roots in some places.
    fn command(&self, group: &Group<'_>, to: &Version, places: &Places) -> String {
        let programs = self.roots.iter().map(|(_, root)| root.flavor.program());
        let programs: BTreeSet<Program> = programs.collect();
        let name = match &*group.members {
            [first, ..] if programs.len() == 1 => group.provider.short(first.root.flavor),
            // A short address means another provider in the roots of the other program.
            _ => group.provider.to_string(),
        };
        let target = format!("{name}@{to}");
        command::update_to(self.run.run, self.run.options, &target, places)
    }

    /// Returns what a command names to move some roots, and no other one.
    fn places(&self, group: &Group<'_>, to: &Version, members: &[&Member<'_>]) -> Places {
        let dirs = match members.len() > MAX_NAMED_ROOTS && self.run.roots.recursive {
            true => self.directories(group, to, members),
            false => None,
        };
        match dirs {
            Some(dirs) if dirs.len() < members.len() => Places::Below(dirs),
            _ => Places::Roots(members.iter().map(|one| one.root.dir.clone()).collect()),
        }
    }

    /// Returns directories in which no root is that the command would fail for or move elsewhere.
    fn directories(
        &self,
        group: &Group<'_>,
        to: &Version,
        members: &[&Member<'_>],
    ) -> Option<Vec<PathBuf>> {
        let wanted: BTreeSet<&Path> = members.iter().map(|one| &*one.root.dir).collect();
        let others = self.roots.iter().filter(|(_, root)| {
            let entry = root.entries.get(group.provider);
            let stays = entry
                .is_none_or(|entry| root.flavor.program() == group.program && entry.version == *to);
            !stays && !wanted.contains(&*root.dir)
        });
        let others = others.map(|(_, root)| &*root.dir);
        let others: Vec<&Path> = others.chain(self.failed.iter().copied()).collect();
        let tops = self.run.roots.dirs_below(self.run.run);
        directories::holding_only(&tops, &wanted, &others)
    }
}
