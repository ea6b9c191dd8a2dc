//! Every package of a run is hashed once, however many roots and places share it.

use std::collections::BTreeMap;
use std::io::SeekFrom;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::MatchedPackage;
use crate::acquire::{self, PackageHashes};
use crate::archive::{ArchiveError, FileDigest, Limits, dir};
use crate::contents::ProgramContents;
use crate::flavor::Flavor;
use crate::hash::{CheckedPackage, Hash, Hashes, Match, Scheme, matches};
use crate::package::Local;
use crate::parallel;
use crate::sources::SourceError;
use crate::sources::filesystem_mirror::FilesystemMirror;
use crate::verify::PackageOrigin;
use crate::world::{FileKind, Files};

/// Maximum number of files of a package whose digests are kept, so that memory does not grow with the packages
/// on the disk; those of larger packages are computed again where they are needed.
const MAX_KEPT_FILES: usize = 500;

/// The packages that were hashed and the directories that were scanned so far.
pub struct PackageMemo<'a> {
    pub(super) files: &'a dyn Files,
    jobs: NonZeroUsize,
    packages: BTreeMap<PathBuf, Arc<Outcome>>,
    scans: BTreeMap<(PathBuf, Flavor), Scan>,
}

/// A directory laid out as a mirror, or the reason why it cannot be read.
type Scan = Result<Arc<FilesystemMirror>, Arc<SourceError>>;

/// The hashes of a package, or the reason why it has none.
pub(super) type Outcome = Result<PackageHashes, ArchiveError>;

/// The moment when a program compares a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UseMoment {
    /// Before `init` installs the package.
    Install,
    /// When a plan starts.
    Plan,
}

impl UseMoment {
    /// Returns the moment of the comparison for a package: an installed one must match an `h1:`; before an
    /// installation a `zh:` counts as well (`hash` rules 3.5).
    pub(super) fn of(origin: PackageOrigin) -> Self {
        match origin {
            PackageOrigin::Installed => Self::Plan,
            PackageOrigin::Cache | PackageOrigin::Mirror | PackageOrigin::Named => Self::Install,
        }
    }
}

/// Compares hashes with the recorded ones, as a program does at a moment (`hash` rules 3.5).
pub(super) fn judge(hashed: &PackageHashes, recorded: &Hashes, moment: UseMoment) -> Match {
    let package = match (hashed.to_install(), moment) {
        // What `plan` starts is always unpacked (`sources` rules 7.1), so a zip is one to install.
        (CheckedPackage::Unpacked { h1 }, UseMoment::Plan) => CheckedPackage::Installed { h1 },
        (package, _) => package,
    };
    matches(recorded, &package)
}

/// Returns true if any of the hashes is recorded, so that the content is that which was locked.
pub(super) fn is_recorded(hashed: &PackageHashes, recorded: &Hashes) -> bool {
    hashed
        .zh()
        .into_iter()
        .chain(h1s(hashed))
        .any(|hash| recorded.contains(hash))
}

/// Returns the `h1:` of the files, and that of the members of a zip.
pub(super) fn h1s(hashed: &PackageHashes) -> impl Iterator<Item = &Hash> {
    hashed.member_h1().into_iter().chain([&hashed.h1])
}

/// Returns true if the package holds recorded content in a zip that is not recorded.
pub(super) fn is_repacked(hashed: &PackageHashes, recorded: &Hashes) -> bool {
    let lists_zips = recorded.of(Scheme::Zh).next().is_some();
    lists_zips && hashed.zh().is_some_and(|zh| !recorded.contains(zh))
}

/// Returns true if the two `h1` of a zip differ (`archive` rules 1).
pub(super) fn is_odd(hashed: &PackageHashes) -> bool {
    hashed.member_h1().is_some_and(|h1| *h1 != hashed.h1)
}

impl<'a> PackageMemo<'a> {
    /// Starts a run that hashes so many packages at once.
    #[must_use]
    pub fn new(files: &'a dyn Files, jobs: NonZeroUsize) -> Self {
        Self {
            files,
            jobs,
            packages: BTreeMap::new(),
            scans: BTreeMap::new(),
        }
    }

    /// Scans a directory laid out as a mirror.
    pub(super) fn scan(&mut self, dir: &Path, flavor: Flavor) -> Scan {
        let key = (dir.to_owned(), flavor);
        let scan = || {
            let scan = FilesystemMirror::scan(self.files, dir, flavor);
            scan.map(Arc::new).map_err(Arc::new)
        };
        self.scans.entry(key).or_insert_with(scan).clone()
    }

    /// Returns a path that is the same for all paths to one package.
    pub(super) fn resolved(&self, place: &Local) -> PathBuf {
        // `.terraform/providers` often holds links into the plugin cache: the package behind them is one.
        let path = place.path();
        self.files.resolve(path).unwrap_or_else(|_| path.to_owned())
    }

    /// Returns the target of a path if it is a link.
    pub(super) fn leads_to(&self, path: &Path) -> Option<PathBuf> {
        let entries = self.files.list(path.parent()?).ok()?;
        let is_link = entries
            .iter()
            .any(|entry| Some(&*entry.name) == path.file_name() && entry.kind == FileKind::Symlink);
        is_link.then(|| self.files.resolve(path).ok()).flatten()
    }

    /// Hashes packages, each once. Returns the hashes in the order of the packages.
    pub(super) fn hash(&mut self, packages: &[&Local]) -> Vec<Arc<Outcome>> {
        let keys: Vec<PathBuf> = packages.iter().map(|place| self.resolved(place)).collect();
        let new: BTreeMap<&PathBuf, &Local> = keys
            .iter()
            .zip(packages.iter().copied())
            .filter(|(key, _)| !self.packages.contains_key(*key))
            .collect();
        let mut new: Vec<(u64, &PathBuf, &Local)> = new
            .into_iter()
            .map(|(key, place)| (weight(self.files, place), key, place))
            .collect();
        // The largest first: otherwise one thread could start on it when the others have finished.
        new.sort_by_key(|(weight, ..)| std::cmp::Reverse(*weight));
        let within = parallel::within(self.jobs, new.len());
        let hashed = parallel::map(self.jobs, &new, |(_, _, place)| {
            hash(self.files, place, within)
        });
        for ((_, key, _), outcome) in new.iter().zip(hashed) {
            self.packages.insert((*key).clone(), Arc::new(outcome));
        }
        keys.iter()
            .map(|key| Arc::clone(&self.packages[key]))
            .collect()
    }

    /// Reads the build information of the program in a package.
    ///
    /// # Errors
    /// If the package cannot be read.
    pub fn contents(&self, package: &MatchedPackage) -> Result<ProgramContents, ArchiveError> {
        let type_name = package.id.provider.type_name();
        acquire::local_contents(self.files, &package.place, type_name)
    }

    /// Hashes a single package, unless that was done before.
    pub(super) fn hash_one(&mut self, place: &Local) -> Arc<Outcome> {
        let mut outcomes = self.hash(&[place]);
        outcomes.pop().expect("one outcome for each package")
    }

    /// Returns the files of a package that was hashed, by name; `None` if it cannot be read again,
    /// or is another one by now.
    pub(super) fn files_of(
        &self,
        place: &Local,
        hashed: &PackageHashes,
    ) -> Option<Vec<FileDigest>> {
        if !hashed.files.is_empty() {
            return Some(hashed.files.clone());
        }
        // The package may have changed since it was hashed; then its files explain nothing.
        let again = acquire::hash_local(self.files, place, self.jobs).ok()?;
        (again.h1 == hashed.h1).then_some(again.files)
    }
}

/// Returns the number of bytes to hash, 0 if it is unknown; hashing reports a package that cannot be read.
fn weight(files: &dyn Files, place: &Local) -> u64 {
    match place {
        Local::Archive(path) => {
            let size = files
                .open(path)
                .and_then(|mut file| file.seek(SeekFrom::End(0)));
            size.unwrap_or(0)
        }
        Local::Directory(path) => dir::size(files, path, &Limits::PACKAGE).unwrap_or(0),
    }
}

fn hash(files: &dyn Files, place: &Local, jobs: NonZeroUsize) -> Outcome {
    let mut hashed = acquire::hash_local(files, place, jobs)?;
    if hashed.files.len() > MAX_KEPT_FILES {
        hashed.files = Vec::new();
    }
    Ok(hashed)
}
