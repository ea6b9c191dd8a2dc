//! What can be said only of all roots of a run together.

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
    /// The root.
    pub root: RootInputs<'a>,
    /// Its verdict.
    pub verdict: &'a mut RootVerdict,
}

/// Compares the locked versions of all roots, and adds what is found to their verdicts: in each root
/// as bad as its project file says.
pub fn compare_versions(roots: &mut [ComparedRoot<'_>]) {
    let entries = roots.iter().enumerate().flat_map(|(at, compared)| {
        let lock = compared.root.lock.iter();
        lock.flat_map(move |lock| {
            let places = &lock.document.places;
            let entries = lock.document.lock.providers.iter();
            entries.map(move |(provider, entry)| RootEntry {
                root: at,
                provider,
                version: &entry.version,
                file: lock.file,
                span: places
                    .get(provider)
                    .map_or_else(Span::default, |places| places.version),
            })
        })
    });
    let found = policy::one_version(&entries.collect::<Vec<_>>());
    for (at, finding) in found {
        let ComparedRoot { root, verdict } = &mut roots[at];
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
    let checked = verdicts.into_iter();
    let mut checked = checked.filter_map(|verdict| verdict.packages.as_ref());
    let Some(first) = checked.next() else {
        return Vec::new();
    };
    let others: Vec<BTreeSet<&Path>> = checked
        .map(|packages| packages.unplaced.iter().map(|path| &**path).collect())
        .collect();
    let paths = first.unplaced.iter().map(|path| &**path);
    paths
        .filter(|path| others.iter().all(|other| other.contains(path)))
        .collect()
}
