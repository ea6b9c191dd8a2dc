//! A provider among the roots of one program.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::{LockedEntry, LockedRoot};
use crate::addr::ProviderAddr;
use crate::cli::session::holding;
use crate::diag::Texts;
use crate::flavor::Program;
use crate::lockfile;
use crate::report::json::{HeldBackRoot, HoldingPlace, VersionInUse};
use crate::run::root;
use crate::version::{Constraint, Constraints, Operator, Version};
use crate::world::Files;

/// A provider among the roots of one program.
pub(super) struct ProviderGroup<'a> {
    pub(super) provider: &'a ProviderAddr,
    pub(super) program: Program,
    /// The roots that lock it, in the order of the run.
    pub(super) members: Vec<GroupMember<'a>>,
}

/// A root that locks a provider.
pub(super) struct GroupMember<'a> {
    pub(super) path: &'a str,
    pub(super) root: &'a LockedRoot,
    pub(super) entry: &'a LockedEntry,
}

impl ProviderGroup<'_> {
    /// Returns the locked versions, the newest first.
    pub(super) fn versions(&self) -> BTreeSet<Reverse<&Version>> {
        self.members
            .iter()
            .map(|member| Reverse(&member.entry.version))
            .collect()
    }

    /// Lists the locked versions, each with the roots that lock it.
    pub(super) fn in_use(&self) -> Vec<VersionInUse> {
        let roots_at = |version: &Version| {
            self.members
                .iter()
                .filter(|member| member.entry.version == *version)
                .map(|member| member.path.to_owned())
                .collect()
        };
        self.versions()
            .into_iter()
            .map(|Reverse(version)| VersionInUse {
                version: version.clone(),
                roots: roots_at(version),
            })
            .collect()
    }

    /// Lists the roots that cannot be moved to the newest version, with the reasons.
    pub(super) fn held_back(&self, files: &dyn Files, texts: &mut Texts) -> Vec<HeldBackRoot> {
        let versions = self.versions();
        let mut held_back = Vec::new();
        for member in &self.members {
            let newest = versions
                .iter()
                .map(|Reverse(version)| *version)
                .find(|version| member.is_comparable(version));
            if let Some(newest) = newest
                && !member.entry.constraints.allows(newest)
            {
                held_back.push(HeldBackRoot {
                    root: member.path.to_owned(),
                    version: member.entry.version.clone(),
                    newest: newest.clone(),
                    held_by: member.held_by(self.provider, newest, files, texts),
                });
            }
        }
        held_back
    }
}

impl GroupMember<'_> {
    /// Returns true if a version is to be compared with that of the root; a pre-release only where a
    /// constraint of the root names it.
    fn is_comparable(&self, version: &Version) -> bool {
        let names =
            |term: &Constraint| term.operator() == Operator::Exact && term.version() == version;
        !version.is_prerelease() || self.entry.constraints.iter().any(names)
    }

    /// Returns the newest of some versions that the root can be moved up to; they are sorted, the newest
    /// first.
    pub(super) fn target<'v>(
        &self,
        versions: &BTreeSet<Reverse<&'v Version>>,
    ) -> Option<&'v Version> {
        versions
            .iter()
            .map(|Reverse(version)| *version)
            .find(|version| self.entry.constraints.allows(version))
            .filter(|version| **version > self.entry.version)
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
        let mut held_by: Vec<HoldingPlace> = places
            .iter()
            .filter(|requirement| !requirement.is_met_by(version))
            .map(|requirement| holding::place(texts, requirement))
            .collect();
        let is_visible = |term: &Constraint| {
            places
                .iter()
                .flat_map(|requirement| requirement.constraints.iter())
                .any(|visible| visible == term)
        };
        let recorded: Constraints = constraints
            .iter()
            .filter(|term| !term.is_met_by(version) && !is_visible(term))
            .cloned()
            .collect();
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
        // Positions of the old text would be wrong: the run may have added lines above.
        let (document, _) = lockfile::parse(file, &bytes, self.root.flavor);
        let span = document.places.get(provider)?.constraints?;
        Some(holding::recorded(texts, file, span, constraints))
    }
}
