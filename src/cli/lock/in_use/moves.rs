//! The moves that bring roots to a newer version that others lock, each with its command.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::command::{self, RootPlaces};
use super::directories;
use super::group::{GroupMember, ProviderGroup};
use super::{ComparedRun, LockedRoot};
use crate::flavor::Program;
use crate::report::json::VersionMove;
use crate::version::Version;

/// Maximum number of roots that a command names before directories stand for them: a directory may get more
/// roots some day.
const MAX_NAMED_ROOTS: usize = 5;

/// All roots of a run: a command for some of them must leave the others alone.
pub(super) struct RunComparison<'a> {
    pub(super) run: &'a ComparedRun<'a>,
    pub(super) roots: &'a [(&'a str, &'a LockedRoot)],
    /// Roots that could not be locked, so that their versions are unknown.
    pub(super) failed: &'a [&'a Path],
}

impl RunComparison<'_> {
    /// Lists the moves, by the version that roots can be moved to, the newest first.
    pub(super) fn moves(&self, group: &ProviderGroup<'_>) -> Vec<VersionMove> {
        let versions = group.versions();
        let mut targets: BTreeMap<Reverse<&Version>, Vec<&GroupMember<'_>>> = BTreeMap::new();
        for member in &group.members {
            if let Some(version) = member.target(&versions) {
                targets.entry(Reverse(version)).or_default().push(member);
            }
        }
        let mut moves = Vec::new();
        for (Reverse(to), members) in targets {
            let places = self.places(group, to, &members);
            moves.push(VersionMove {
                to: to.clone(),
                roots: members
                    .iter()
                    .map(|member| member.path.to_owned())
                    .collect(),
                command: self.command(group, to, &places),
                places: places.len(),
            });
        }
        moves
    }

    /// Returns the command that moves the roots in some places.
    fn command(&self, group: &ProviderGroup<'_>, to: &Version, places: &RootPlaces) -> String {
        let programs: BTreeSet<Program> = self
            .roots
            .iter()
            .map(|(_, root)| root.flavor.program())
            .collect();
        let name = match &*group.members {
            [first, ..] if programs.len() == 1 => group.provider.short(first.root.flavor),
            // A short address means another provider in the roots of the other program.
            _ => group.provider.to_string(),
        };
        let target = format!("{name}@{to}");
        command::update_to(self.run.run, self.run.options, &target, places)
    }

    /// Returns the paths that a command names to move some roots, and no other one.
    fn places(
        &self,
        group: &ProviderGroup<'_>,
        to: &Version,
        members: &[&GroupMember<'_>],
    ) -> RootPlaces {
        // Directories are shorter, but name roots that come later, too; a few roots are better named one by one.
        if members.len() > MAX_NAMED_ROOTS
            && self.run.roots.recursive
            && let Some(dirs) = self.directories(group, to, members)
            && dirs.len() < members.len()
        {
            return RootPlaces::Below(dirs);
        }
        RootPlaces::Roots(
            members
                .iter()
                .map(|member| member.root.dir.clone())
                .collect(),
        )
    }

    /// Returns directories in which no root is that the command would fail for or move elsewhere.
    fn directories(
        &self,
        group: &ProviderGroup<'_>,
        to: &Version,
        members: &[&GroupMember<'_>],
    ) -> Option<Vec<PathBuf>> {
        let wanted: BTreeSet<&Path> = members.iter().map(|member| &*member.root.dir).collect();
        let is_harmless = |root: &LockedRoot| match root.entries.get(group.provider) {
            None => true,
            Some(entry) => root.flavor.program() == group.program && entry.version == *to,
        };
        let mut others = self.failed.to_vec();
        for (_, root) in self.roots {
            if !is_harmless(root) && !wanted.contains(&*root.dir) {
                others.push(&root.dir);
            }
        }
        let tops = self.run.roots.dirs_below(self.run.run);
        directories::holding_only(&tops, &wanted, &others)
    }
}
