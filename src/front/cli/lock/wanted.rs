//! The versions and platforms that a root is locked for.

use std::collections::BTreeMap;

use super::job::LockJob;
use crate::config::Loaded;
use crate::diag::Texts;
use crate::lockfile::LockFile;
use crate::package::AgePolicy;
use crate::packages::PackagePlace;
use crate::platform::Platform;
use crate::project::Policy;
use crate::report::Failure;
use crate::resolve::Goals;
use crate::run::platforms;
use crate::run::root::Root;
use crate::run::unseen::{CallNames, UnseenParts};

impl LockJob<'_, '_> {
    /// Returns the versions that a root is to move to; `None` if no provider that is named concerns it.
    pub(super) fn goals(
        &mut self,
        root: &Root,
        loaded: &Loaded,
        lock: &LockFile,
    ) -> Result<Option<Goals>, Failure> {
        let Some(moves) = self.moves else {
            return Ok(Some(Goals::default()));
        };
        let unseen = UnseenParts::new(loaded, &self.options.configuration, self.session.options);
        let unseen = unseen.remark(CallNames::Listed, "and may require it");
        moves.goals(root, loaded, lock, unseen, &mut self.named)
    }

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

    /// Returns how old a release must be to be selected for a root.
    pub(super) fn age(&self, root: &Root) -> Option<AgePolicy> {
        let policy = root.project().policy.as_ref();
        match self.moves.and_then(|moves| moves.min_age) {
            Some(min_age) => {
                let undated = policy.map(|policy| policy.undated).unwrap_or_default();
                AgePolicy::new(min_age, undated)
            }
            None => policy.and_then(Policy::age),
        }
    }
}
