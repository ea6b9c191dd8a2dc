//! Checks of all roots of a run together.

#[cfg(feature = "fetch")]
use std::collections::BTreeSet;
#[cfg(feature = "fetch")]
use std::path::Path;

use super::inputs::RootInputs;
use super::levels;
use super::policy::{self, RootEntry};
use super::run::RootVerdict;
use crate::diag::Span;

/// A root whose verdict is completed by the comparison with others.
#[derive(Debug)]
pub struct ComparedRoot<'a> {
    /// The root as it was read.
    pub root: RootInputs<'a>,
    /// The verdict of its own checks.
    pub verdict: &'a mut RootVerdict,
}

/// Compares the locked versions of all roots, and adds the findings to their verdicts, in each root with the
/// severity that its project file states.
pub fn compare_versions(roots: &mut [ComparedRoot<'_>]) {
    let mut entries = Vec::new();
    for (index, ComparedRoot { root, .. }) in roots.iter().enumerate() {
        let Some(lock) = root.lock else { continue };
        for (provider, entry) in &lock.document.lock.providers {
            let places = lock.document.places.get(provider);
            entries.push(RootEntry {
                root: index,
                provider,
                version: &entry.version,
                file: lock.file,
                span: places.map_or_else(Span::default, |places| places.version),
            });
        }
    }
    for (index, finding) in policy::one_version(&entries) {
        let ComparedRoot { root, verdict } = &mut roots[index];
        // No fault of a file is among them, so each may be turned off.
        let (kept, turned_off) = levels::apply(vec![finding], &[], root.project, root.flavor);
        verdict.findings.extend(kept);
        verdict.turned_off.extend(turned_off);
    }
}

/// Lists the packages that the user named and that belong to the lock file of no root, in the order
/// of the first.
///
/// Roots whose packages were not checked have no say.
#[cfg(feature = "fetch")]
pub fn unplaced_everywhere<'a>(
    verdicts: impl IntoIterator<Item = &'a RootVerdict>,
) -> Vec<&'a Path> {
    let mut checked = verdicts
        .into_iter()
        .filter_map(|verdict| verdict.packages.as_ref());
    let Some(first) = checked.next() else {
        return Vec::new();
    };
    let others: Vec<BTreeSet<&Path>> = checked
        .map(|packages| packages.unplaced.iter().map(|path| &**path).collect())
        .collect();
    first
        .unplaced
        .iter()
        .map(|path| &**path)
        .filter(|path| others.iter().all(|other| other.contains(path)))
        .collect()
}
