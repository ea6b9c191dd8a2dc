//! The comparison of packages with the hashes that lock files record.

use std::collections::BTreeMap;

use super::MirroringError;
use super::present::HashedZip;
use super::union::WantedRelease;
use crate::coverage::Attribution;
use crate::hash::{Hash, Scheme};
use crate::platform::Platform;

/// The hashes of a package in either form.
#[derive(Clone, Debug)]
pub(super) struct MirroredHashes {
    /// The hash of the zip; `None` for an unpacked package.
    pub(super) zh: Option<Hash>,
    pub(super) h1: Hash,
}

impl MirroredHashes {
    pub(super) fn of(zip: &HashedZip) -> Self {
        Self {
            zh: Some(zip.zh.clone()),
            h1: zip.h1.clone(),
        }
    }

    pub(super) fn of_directory(h1: Hash) -> Self {
        Self { zh: None, h1 }
    }
}

/// Compares packages with the hashes that each lock file records for them.
pub(super) fn contradictions(
    wanted: &WantedRelease<'_>,
    attribution: &Attribution,
    hashed: &BTreeMap<Platform, MirroredHashes>,
) -> Vec<MirroringError> {
    let mut errors = Vec::new();
    for (platform, package) in hashed {
        let is_of_another = |h1: &Hash| {
            // An entry has an `h1:` for each platform, but does not name the platforms. An `h1:` that is known to
            // belong to another platform cannot contradict this package.
            let known = attribution.platforms_of(h1);
            !known.is_empty() && !known.contains(platform)
                || hashed
                    .iter()
                    .any(|(other, hashes)| other != platform && hashes.h1 == *h1)
        };
        let (mut recorded, mut other_h1, mut other_zip) = (0, Vec::new(), Vec::new());
        for (root, entry) in &wanted.entries {
            let hashes = &entry.hashes;
            // The recorded `h1:` is enough: OpenTofu and Terraform accept a package by any hash that matches.
            if hashes.contains(&package.h1) {
                continue;
            }
            let left = hashes
                .of(Scheme::H1)
                .filter(|h1| !is_of_another(h1))
                .count();
            if left > 0 {
                recorded = recorded.max(left);
                other_h1.push(*root);
            } else if let Some(zh) = &package.zh
                && hashes.lists_release()
                && !hashes.contains(zh)
            {
                other_zip.push(*root);
            }
        }
        let id = || Box::new(wanted.id(platform));
        if !other_h1.is_empty() {
            errors.push(MirroringError::H1Differs {
                id: id(),
                found: package.h1.clone(),
                recorded,
                roots: other_h1,
            });
        }
        if let Some(zh) = &package.zh
            && !other_zip.is_empty()
        {
            errors.push(MirroringError::ZipNotLocked {
                id: id(),
                found: zh.clone(),
                roots: other_zip,
            });
        }
    }
    errors
}
