//! The groups of checks, and which of them are wanted.

use std::collections::BTreeSet;

/// A group of checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckGroup {
    /// The form of the lock file.
    File,
    /// The requirements against the locked versions.
    Configuration,
    /// An `h1:` for every wanted platform.
    Platforms,
    /// The packages on this machine against the recorded hashes.
    Packages,
    /// The builds of the packages of a release, if contents are known.
    Build,
    /// The policy of the project file.
    Policy,
    /// The recorded hashes against the lists that registries sign.
    Upstream,
}

impl CheckGroup {
    /// Every group, in the order of execution.
    pub const ALL: [Self; 7] = [
        Self::File,
        Self::Configuration,
        Self::Platforms,
        Self::Packages,
        Self::Build,
        Self::Policy,
        Self::Upstream,
    ];

    /// Returns the name of the group on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Configuration => "configuration",
            Self::Platforms => "platforms",
            Self::Packages => "packages",
            Self::Build => "build",
            Self::Policy => "policy",
            Self::Upstream => "upstream",
        }
    }
}

/// The wanted groups of checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    wanted: BTreeSet<CheckGroup>,
    /// The groups that were left out by name, which may be fewer than those that are not wanted.
    left_out: BTreeSet<CheckGroup>,
}

impl Groups {
    /// Returns every group that makes no network requests: all but [`CheckGroup::Upstream`].
    #[must_use]
    pub fn offline() -> Self {
        Self::only(
            CheckGroup::ALL
                .into_iter()
                .filter(|group| *group != CheckGroup::Upstream),
        )
    }

    /// Returns the given groups and no other.
    #[must_use]
    pub fn only(groups: impl IntoIterator<Item = CheckGroup>) -> Self {
        Self {
            wanted: groups.into_iter().collect(),
            left_out: BTreeSet::new(),
        }
    }

    /// Adds a group to the wanted ones.
    #[must_use]
    pub fn with(mut self, group: CheckGroup) -> Self {
        self.wanted.insert(group);
        self
    }

    /// Leaves groups out, whether added before or later.
    #[must_use]
    pub fn without(mut self, groups: impl IntoIterator<Item = CheckGroup>) -> Self {
        self.left_out.extend(groups);
        self
    }

    /// Returns true if a group is wanted.
    #[must_use]
    pub fn wants(&self, group: CheckGroup) -> bool {
        self.wanted.contains(&group) && !self.left_out.contains(&group)
    }

    /// Returns true if any wanted group compares something with the configuration.
    #[must_use]
    pub fn need_configuration(&self) -> bool {
        [
            CheckGroup::Configuration,
            CheckGroup::Platforms,
            CheckGroup::Packages,
            CheckGroup::Policy,
        ]
        .into_iter()
        .any(|group| self.wants(group))
    }

    /// Returns true if any wanted group depends on the installation methods of the program.
    #[must_use]
    pub fn need_installation(&self) -> bool {
        self.wants(CheckGroup::Packages) || self.wants(CheckGroup::Upstream)
    }

    /// Returns true if the answers of registries are compared with the policy, once they were asked: pinned
    /// keys, and the least age.
    ///
    /// These belong to the policy, but it is the registry that the user asks about: so
    /// [`CheckGroup::Upstream`] alone is enough, unless the policy was left out by name.
    #[must_use]
    pub fn compare_with_policy(&self) -> bool {
        !self.left_out.contains(&CheckGroup::Policy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(groups: &Groups, wanted: &[CheckGroup], compare_with_policy: bool) {
        let found = CheckGroup::ALL
            .into_iter()
            .filter(|group| groups.wants(*group));
        assert_eq!(found.collect::<Vec<_>>(), wanted);
        assert_eq!(groups.compare_with_policy(), compare_with_policy);
    }

    #[test]
    fn groups_are_chosen_and_left_out() {
        use CheckGroup::{Build, Configuration, File, Packages, Platforms, Policy, Upstream};
        let offline = [File, Configuration, Platforms, Packages, Build, Policy];
        check(&Groups::offline(), &offline, true);
        check(&Groups::offline().with(Upstream), &CheckGroup::ALL, true);
        check(&Groups::only([Upstream]), &[Upstream], true);
        let fewer = Groups::offline().without([Policy, Upstream]).with(Upstream);
        check(&fewer, &offline[..5], false);
    }
}
