//! The places of packages, and the packages that matter to a lock file.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;

use super::memo::PackageMemo;
use crate::addr::ProviderFilter;
use crate::diag::{FileId, Span};
use crate::lockfile::LockFile;
use crate::package::{Local, PackageId};
use crate::sources::SourceError;
use crate::sources::filesystem_mirror::FilesystemMirror;
use crate::verify::{CheckedLock, PackageOrigin};
use crate::world::is_outside;

/// A directory laid out as a mirror, to search for packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackagePlace {
    /// The use that the program makes of it.
    pub origin: PackageOrigin,
    /// The directory that is laid out as a mirror.
    pub dir: PathBuf,
    /// The providers that it serves.
    pub providers: ProviderFilter,
    /// The consequence if it does not exist.
    pub absence: Absence,
}

impl PackagePlace {
    /// Returns the directory of the packages that the program runs.
    #[must_use]
    pub fn installed(dir: PathBuf) -> Self {
        Self::new(PackageOrigin::Installed, dir, Absence::Fine)
    }

    /// Returns a mirror that the user names.
    #[must_use]
    pub fn named_mirror(dir: PathBuf) -> Self {
        Self::new(PackageOrigin::Mirror, dir, Absence::Failure)
    }

    /// Returns a place for all providers.
    #[must_use]
    pub fn new(origin: PackageOrigin, dir: PathBuf, absence: Absence) -> Self {
        Self {
            origin,
            dir,
            providers: ProviderFilter::default(),
            absence,
        }
    }
}

/// The consequence of a directory that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// No packages; the program passes over it.
    Fine,
    /// The program fails; the CLI configuration names it here.
    Fault(FileId, Span),
    /// Nothing can be locked; the project file names it here.
    ProjectFault(FileId, Span),
    /// The user named it on our command line.
    Failure,
}

impl Absence {
    /// Returns true if only lockctl looks into the directory, and neither program does.
    fn is_ours(self) -> bool {
        matches!(self, Self::ProjectFault(..) | Self::Failure)
    }
}

/// A mirror that is named in a file, and that does not exist.
#[derive(Clone, Debug)]
pub(super) struct AbsentMirror {
    pub(super) file: FileId,
    pub(super) span: Span,
    pub(super) dir: PathBuf,
    /// The project file names it, not the CLI configuration.
    pub(super) is_ours: bool,
}

/// A package of a locked version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PackageCandidate {
    pub(super) id: PackageId,
    pub(super) place: Local,
    pub(super) origin: PackageOrigin,
    /// The same for all paths that lead to it.
    pub(super) resolved: PathBuf,
}

/// The packages in the places that matter to a lock file.
#[derive(Debug, Default)]
pub(super) struct PackagesAtHand {
    /// The packages that a program may use, in the order of the places, each once.
    pub(super) used: Vec<PackageCandidate>,
    /// Others of the same versions, which can show the faults of those.
    pub(super) spare: Vec<PackageCandidate>,
    /// Packages that are among the used ones already, by another path.
    pub(super) links: Vec<PackageCandidate>,
    /// The places that hold some package of a locked version.
    pub(super) found_in: BTreeSet<PathBuf>,
    /// The packages in each mirror of the CLI configuration.
    pub(super) mirrors: BTreeMap<PathBuf, Arc<FilesystemMirror>>,
    /// Files and links to nowhere in the place of installed packages.
    pub(super) unreachable: Vec<PackageCandidate>,
    /// Places that are not there.
    pub(super) absent: Vec<AbsentMirror>,
    /// Places that cannot be looked into.
    pub(super) failures: Vec<Unscanned>,
    seen: BTreeSet<(PackageId, PathBuf)>,
}

/// A place that cannot be looked into.
#[derive(Clone, Debug)]
pub struct Unscanned {
    /// The use that the program makes of it.
    pub origin: PackageOrigin,
    /// The directory that was to be scanned.
    pub dir: PathBuf,
    /// The failure of the scan.
    pub error: Arc<SourceError>,
}

/// Finds the packages of locked versions.
///
/// Packages of other versions and providers are left alone: nothing uses them.
pub(super) fn gather(
    memo: &mut PackageMemo<'_>,
    places: &[PackagePlace],
    subject: CheckedLock<'_>,
) -> PackagesAtHand {
    let mut gathered = PackagesAtHand::default();
    // Of the packages that mirrors have for one platform the first counts, as in `init`.
    let mut mirrored = BTreeSet::new();
    for place in places {
        if let Err(error) = memo.files.kind(&place.dir)
            && gathered.passes_over(place, &error)
        {
            continue;
        }
        let mirror = match memo.scan(&place.dir, subject.flavor) {
            Ok(mirror) => mirror,
            Err(error) => {
                gathered.failures.push(Unscanned {
                    origin: place.origin,
                    dir: place.dir.clone(),
                    error,
                });
                continue;
            }
        };
        // `init` does not look into a mirror that only our command line or project file names.
        if place.origin == PackageOrigin::Mirror && !place.absence.is_ours() {
            let dir = place.dir.clone();
            gathered.mirrors.insert(dir, Arc::clone(&mirror));
        }
        let lock = &subject.document.lock;
        for (provider, entry) in &lock.providers {
            if !place.providers.allows(provider) {
                continue;
            }
            for (id, locals) in mirror.of(provider, &entry.version) {
                gathered.found_in.insert(place.dir.clone());
                gathered.add(memo, place, &id, locals, &mut mirrored);
            }
        }
        if matches!(
            place.origin,
            PackageOrigin::Installed | PackageOrigin::Named
        ) {
            for package in mirror.unreachable() {
                if is_locked(lock, &package.id) {
                    gathered.unreachable.push(PackageCandidate {
                        id: package.id.clone(),
                        place: package.place.clone(),
                        origin: place.origin,
                        resolved: package.place.path().to_owned(),
                    });
                }
            }
        }
    }
    gathered
}

impl PackagesAtHand {
    /// Decides if a place that cannot be looked up is passed over, and notes a mirror that is missing. Of any
    /// other place the scan reports the reason.
    fn passes_over(&mut self, place: &PackagePlace, error: &io::Error) -> bool {
        let is_missing = error.kind() == ErrorKind::NotFound;
        match place.absence {
            // With --confine, only places that the user names may be outside.
            Absence::Fine | Absence::Fault(..) | Absence::ProjectFault(..) if is_outside(error) => {
                true
            }
            // Directories that the program looks for by itself need not exist (`cliconfig` rules 5.1).
            Absence::Fine => is_missing,
            // A mirror that is configured must: without it `init` fails (`sources` rules 7.6).
            Absence::Fault(file, span) | Absence::ProjectFault(file, span) => {
                if is_missing {
                    self.absent.push(AbsentMirror {
                        file,
                        span,
                        dir: place.dir.clone(),
                        is_ours: place.absence.is_ours(),
                    });
                }
                is_missing
            }
            Absence::Failure => false,
        }
    }

    /// Adds a package with all its places.
    fn add(
        &mut self,
        memo: &PackageMemo<'_>,
        place: &PackagePlace,
        id: &PackageId,
        locals: &[Local],
        mirrored: &mut BTreeSet<PackageId>,
    ) {
        let is_typed = place.absence.is_ours();
        for (index, local) in locals.iter().enumerate() {
            let candidate = PackageCandidate {
                id: id.clone(),
                place: local.clone(),
                origin: place.origin,
                resolved: memo.resolved(local),
            };
            let is_used = match place.origin {
                // Nothing but directories is ever installed or cached.
                PackageOrigin::Installed | PackageOrigin::Cache => {
                    matches!(local, Local::Directory(_))
                }
                // The first mirror of the CLI configuration with the package counts, as in `init` (`coverage`
                // rules 5.2); mirrors that the user names do not hide each other.
                PackageOrigin::Mirror => index == 0 && (is_typed || mirrored.insert(id.clone())),
                PackageOrigin::Named => true,
            };
            self.push(candidate, is_used);
        }
    }

    /// Adds a package, unless it is there by another path.
    pub(super) fn push(&mut self, candidate: PackageCandidate, is_used: bool) {
        let key = (candidate.id.clone(), candidate.resolved.clone());
        if !is_used {
            self.spare.push(candidate);
        } else if self.seen.insert(key) {
            self.used.push(candidate);
        } else {
            self.links.push(candidate);
        }
    }
}

/// Returns true if a lock file holds the version of a package.
pub(super) fn is_locked(lock: &LockFile, id: &PackageId) -> bool {
    lock.providers
        .get(&id.provider)
        .is_some_and(|entry| entry.version == id.version)
}
