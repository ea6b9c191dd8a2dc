//! The groups of checks, and which of them are wanted.

use std::collections::BTreeSet;

/// A group of checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Group {
    /// The form of the lock file.
    File,
    /// What is required against what is locked.
    Configuration,
    /// An `h1:` for every wanted platform.
    Platforms,
    /// The packages on this machine against the recorded hashes.
    Packages,
    /// What the project file lets a lock file hold.
    Policy,
    /// The recorded hashes against the lists that registries sign.
    Upstream,
}

impl Group {
    /// Every group, in the order in which they are run.
    pub const ALL: [Self; 6] = [
        Self::File,
        Self::Configuration,
        Self::Platforms,
        Self::Packages,
        Self::Policy,
        Self::Upstream,
    ];

    /// Returns the name by which a user chooses the group.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Configuration => "configuration",
            Self::Platforms => "platforms",
            Self::Packages => "packages",
            Self::Policy => "policy",
            Self::Upstream => "upstream",
        }
    }
}

/// Which groups of checks are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    wanted: BTreeSet<Group>,
    /// Those that were left out by name, which may be fewer than those that are not wanted.
    left_out: BTreeSet<Group>,
}

impl Groups {
    /// Returns every group that makes no network requests: all but [`Group::Upstream`].
    #[must_use]
    pub fn offline() -> Self {
        let offline = Group::ALL.into_iter();
        Self::only(offline.filter(|group| *group != Group::Upstream))
    }

    /// Returns these groups.
    #[must_use]
    pub fn only(groups: impl IntoIterator<Item = Group>) -> Self {
        Self {
            wanted: groups.into_iter().collect(),
            left_out: BTreeSet::new(),
        }
    }

    /// Adds a group.
    #[must_use]
    pub fn with(mut self, group: Group) -> Self {
        self.wanted.insert(group);
        self
    }

    /// Leaves groups out.
    #[must_use]
    pub fn without(mut self, groups: impl IntoIterator<Item = Group>) -> Self {
        self.left_out.extend(groups);
        self
    }

    /// Returns whether a group is wanted.
    #[must_use]
    pub fn wants(&self, group: Group) -> bool {
        self.wanted.contains(&group) && !self.left_out.contains(&group)
    }

    /// Returns whether any wanted group compares something with the configuration.
    #[must_use]
    pub fn need_configuration(&self) -> bool {
        [
            Group::Configuration,
            Group::Platforms,
            Group::Packages,
            Group::Policy,
        ]
        .into_iter()
        .any(|group| self.wants(group))
    }

    /// Returns whether any wanted group depends on where the program installs packages from.
    #[must_use]
    pub fn need_installation(&self) -> bool {
        self.wants(Group::Packages) || self.wants(Group::Upstream)
    }

    /// Returns whether what registries say is compared with the policy, once they were asked: pinned keys,
    /// and the least age.
    ///
    /// These belong to the policy, but it is the registry that the user asks about: so
    /// [`Group::Upstream`] alone is enough, unless the policy was left out by name.
    #[cfg(any(feature = "fetch", test))]
    pub(super) fn compare_with_policy(&self) -> bool {
        !self.left_out.contains(&Group::Policy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(groups: &Groups, wanted: &[Group], compare_with_policy: bool) {
        let found = Group::ALL.into_iter().filter(|group| groups.wants(*group));
        assert_eq!(found.collect::<Vec<_>>(), wanted);
        assert_eq!(groups.compare_with_policy(), compare_with_policy);
    }

    #[test]
    fn groups_are_chosen_and_left_out() {
        use Group::{Configuration, File, Packages, Platforms, Policy, Upstream};
        let offline = [File, Configuration, Platforms, Packages, Policy];
        check(&Groups::offline(), &offline, true);
        check(&Groups::offline().with(Upstream), &Group::ALL, true);
        check(&Groups::only([Upstream]), &[Upstream], true);
        let fewer = Groups::offline().without([Policy, Upstream]).with(Upstream);
        check(&fewer, &offline[..4], false);
    }
}
