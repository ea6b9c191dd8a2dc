//! Releases in the store: found by provider and version, with one read (rules 5).

use std::io;
use std::sync::Arc;

use super::release_text::{self, MAX_STATEMENTS, StatedH1s};
use super::{
    FactOrigin, MAX_OBJECT_BYTES, MAX_PER_GROUP, ObjectError, Store, StoredRelease, group, lock,
};
use crate::addr::ProviderAddr;
use crate::hash::{hex_of_digest, sha256};
use crate::package::ReleaseFact;
use crate::version::Version;

/// Directory of all releases.
pub(super) const RELEASES: &str = "releases-1";

/// Returns the key of a release.
pub(super) fn key(provider: &ProviderAddr, version: &Version) -> String {
    // A digest, because an address may have letters that no key has.
    let name = format!("{provider} {version}");
    let digits = hex_of_digest(&sha256(name.as_bytes()));
    // One read finds a release, and nothing is listed (rules 5.1).
    format!("{RELEASES}/{}/{digits}", &digits[..2])
}

impl Store<'_> {
    /// Adds what is known of a release to what the store has; what was computed here is not mixed with what
    /// was imported.
    ///
    /// # Errors
    /// If the object cannot be written.
    pub fn put_release(&self, release: &ReleaseFact, origin: FactOrigin) -> io::Result<()> {
        let key = key(&release.provider, &release.version);
        if !self.objects.is_usable() {
            return Ok(());
        }
        // Read again: another process may have added something since this run asked.
        let existing = self.read_release(&key);
        let release = match &existing {
            Some(existing) if existing.origin == FactOrigin::Computed => {
                if origin != FactOrigin::Computed {
                    return Ok(());
                }
                // Files are added and never taken away, since a publisher may add packages to a release (rules
                // 5.2).
                let mut both = (*existing.release).clone();
                both.add(release);
                if both == *existing.release {
                    return Ok(());
                }
                both
            }
            _ => release.clone(),
        };
        // A part of its files would make the others look false.
        if release_text::statements(&release, StatedH1s::Stated).len() > MAX_STATEMENTS {
            return Ok(());
        }
        if existing.is_none() {
            self.make_room(group(&key), MAX_PER_GROUP, |key| {
                Some(self.read_release(key)?.since)
            })?;
        }
        let stored = StoredRelease {
            release: Arc::new(release),
            origin,
            since: self.now(),
        };
        let object = release_text::object(&stored);
        // The texts of attestations may be long, and nothing would read such an object.
        if object.len() as u64 > MAX_OBJECT_BYTES {
            return Ok(());
        }
        // Of two processes that add to a release at once, one may lose its `h1:` (rules 5.3).
        self.objects.put(&key, object.as_bytes())?;
        lock(&self.releases).remove(&key);
        Ok(())
    }

    /// Reads the release of a key, unless it is too old.
    pub(super) fn read_release(&self, key: &str) -> Option<StoredRelease> {
        let (release, _) = self.noted(key, self.load_release(key))?;
        (!self.is_out_of_date(release.since)).then_some(release)
    }

    /// Reads the object of a release, if there is one; returns its length in bytes as well.
    pub(super) fn load_release(
        &self,
        key: &str,
    ) -> Result<Option<(StoredRelease, u64)>, ObjectError> {
        let key_of = |stored: &StoredRelease| {
            Some(self::key(&stored.release.provider, &stored.release.version))
        };
        self.load_as(key, MAX_OBJECT_BYTES, release_text::parse_object, key_of)
    }
}
