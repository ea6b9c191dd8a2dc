//! The demands of project files on signatures, checked against a fetched or a stored signed list.

use std::sync::Arc;

use super::MirroringError;
use super::release::ReleaseRun;
use super::union::WantedRelease;
use super::vouching::Vouching;
use crate::package::KeyId;
use crate::store::StoredRelease;

impl ReleaseRun<'_> {
    /// Returns true if a root demands a signature of the release and no stored list shows it.
    pub(super) fn needs_signature(&self, wanted: &WantedRelease<'_>) -> bool {
        self.is_demanded(wanted) && self.signed_release(wanted).is_none()
    }

    fn is_demanded(&self, wanted: &WantedRelease<'_>) -> bool {
        wanted.entries.iter().any(|(root, _)| {
            let demands = self.roots[*root].demands;
            demands.required || demands.keys.contains_key(&wanted.release.provider)
        })
    }

    /// Returns the release as its signed list described it in an earlier run, if the list has every zip that is
    /// locked.
    fn signed_release(&self, wanted: &WantedRelease<'_>) -> Option<Arc<StoredRelease>> {
        let trusted = self.roots[wanted.root()].trusted;
        let release = &wanted.release;
        trusted
            .release(self.facts, &release.provider, &release.version)
            .filter(|stored| {
                let listed = &stored.release;
                wanted
                    .zips()
                    .iter()
                    .all(|zh| listed.packages.contains_key(zh) || listed.others.contains(zh))
            })
    }

    /// Reports the first demand of a root that is not met (`locker` rules 3.4), or that could not be checked.
    pub(super) fn unmet_demand(
        &self,
        wanted: &WantedRelease<'_>,
        vouching: &Vouching,
    ) -> Option<MirroringError> {
        if !self.is_demanded(wanted) {
            return None;
        }
        let release = || Box::new(wanted.release.clone());
        let stored = self.signed_release(wanted);
        let is_signed = match (vouching, &stored) {
            (Vouching::List(list), _) => !list.signers.is_empty(),
            // Only signed lists are kept.
            (_, Some(_)) => true,
            (Vouching::LockFiles(reason), None) => {
                return Some(MirroringError::SignatureUnknown {
                    release: release(),
                    reason: reason.clone(),
                });
            }
            // The list was fetched, unless no package of the release is wanted.
            (Vouching::NotNeeded, None) => return None,
        };
        let is_signed_by = |key: &KeyId| match (vouching, &stored) {
            (Vouching::List(list), _) => list.signers.iter().all(|signer| signer.key.is(key)),
            (_, Some(stored)) => stored.release.signers.iter().all(|signer| signer.is(key)),
            _ => false,
        };
        wanted.entries.iter().find_map(|(root, _)| {
            let demands = self.roots[*root].demands;
            let pinned = demands.keys.get(&wanted.release.provider);
            let is_met = (is_signed || !demands.required)
                && pinned.is_none_or(|key| is_signed && is_signed_by(key));
            (!is_met).then(|| MirroringError::Unsigned {
                release: release(),
                key: pinned.cloned(),
            })
        })
    }
}
