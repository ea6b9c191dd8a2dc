//! The versions and platforms that a root is locked for.

use std::collections::BTreeMap;

use super::job::LockJob;
use super::moves::Moves;
use crate::diag::{Level, Severity, Texts, rules};
use crate::packages::PackagePlace;
use crate::platform::Platform;
use crate::project::{Policy, RuleSetting};
use crate::report::Failure;
use crate::run::platforms;
use crate::run::root::Root;

impl LockJob<'_, '_> {
    /// Returns the platforms that the lock file of a root is known to cover, where these are wanted.
    pub(super) fn covered_platforms(
        &mut self,
        root: &Root,
        texts: &mut Texts,
    ) -> Result<Vec<Platform>, Failure> {
        if !self.platforms.needs_locked() {
            return Ok(Vec::new());
        }
        let mirror = self.options.source.fs_mirror.as_ref();
        let mirror = mirror.map(|dir| PackagePlace::named_mirror(self.session.options.below(dir)));
        // Errors of the CLI configuration matter where packages come from, and are reported there.
        let user = self.session.of(root.flavor);
        let places = user.package_places(root, mirror.as_slice(), texts);
        let facts = match &root.lock {
            Some(lock) if !self.options.prove => {
                self.session.facts.about(root, &lock.document.lock)
            }
            _ => BTreeMap::new(),
        };
        let mut covered = platforms::locked(root, &mut self.packages, &places, &facts)?;
        // A platform that is to be dropped must not come back because it is covered.
        covered.retain(|platform| !self.options.drop_platforms.contains(platform));
        Ok(covered)
    }
}

/// Returns the versions that may be selected for a root: a typed age replaces those of the project file.
pub(super) fn policy(moves: Option<&Moves>, root: &Root) -> Option<Policy> {
    let project = root.project();
    let mut policy = project.policy.clone();
    if let Some(policy) = &mut policy {
        // Only an error forbids to lock.
        let is_allowed = |setting: &&RuleSetting| {
            setting.rule == rules::VERSION_NOT_ALLOWED
                && setting.level != Level::As(Severity::Error)
        };
        let allowed = project.rules.iter().filter(is_allowed).cloned();
        policy.exempt.extend(allowed);
    }
    let Some(min_age) = moves.and_then(|moves| moves.min_age) else {
        return policy;
    };
    Some(Policy {
        min_age: Some(min_age),
        min_ages: Vec::new(),
        ..policy.unwrap_or_default()
    })
}
