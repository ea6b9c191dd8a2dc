//! Every package of a run is hashed once, however many roots and places share it.

use std::collections::BTreeMap;
use std::io::SeekFrom;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::MatchedPackage;
use crate::archive::{ArchiveError, FileDigest, Limits, dir, zip};
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

/// The hashes of a package.
#[derive(Debug)]
pub(super) struct PackageHashes {
    /// The hash of its files.
    pub(super) h1: Hash,
    /// The hashes that only a zip has.
    pub(super) zip: Option<ZipOnly>,
    /// Its files by name, unless there are too many to keep.
    files: Option<Vec<FileDigest>>,
}

/// The hashes of a zip besides that of its files.
#[derive(Debug)]
pub(super) struct ZipOnly {
    /// The hash of its bytes.
    pub(super) zh: Hash,
    /// The hash that the programs check before they unpack it.
    pub(super) member_h1: Hash,
}

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

impl PackageHashes {
    /// Compares them with the recorded hashes, as a program does at a moment (`hash` rules 3.5).
    pub(super) fn judge(&self, recorded: &Hashes, moment: UseMoment) -> Match {
        let h1 = &self.h1;
        let package = match (&self.zip, moment) {
            // What `plan` starts is always unpacked (`sources` rules 7.1), so a zip is one to install.
            (Some(ZipOnly { zh, member_h1 }), _) => CheckedPackage::Zip { zh, member_h1 },
            (None, UseMoment::Install) => CheckedPackage::Unpacked { h1 },
            (None, UseMoment::Plan) => CheckedPackage::Installed { h1 },
        };
        matches(recorded, &package)
    }

    /// Returns true if any of them is recorded, so that the content is that which was locked.
    pub(super) fn is_recorded(&self, recorded: &Hashes) -> bool {
        self.zip
            .iter()
            .map(|zip| &zip.zh)
            .chain(self.h1s())
            .any(|hash| recorded.contains(hash))
    }

    /// Returns the `h1:` of its files, and that of its members if it is a zip.
    pub(super) fn h1s(&self) -> Vec<&Hash> {
        let members = self.zip.iter().map(|zip| &zip.member_h1);
        members.chain([&self.h1]).collect()
    }

    /// Returns true if the package holds recorded content in a zip that is not recorded.
    pub(super) fn is_repacked(&self, recorded: &Hashes) -> bool {
        let lists_zips = recorded.of(Scheme::Zh).next().is_some();
        lists_zips
            && self
                .zip
                .as_ref()
                .is_some_and(|zip| !recorded.contains(&zip.zh))
    }

    /// Returns its files, none if there are too many to keep.
    pub(super) fn kept_files(&self) -> &[FileDigest] {
        self.files.as_deref().unwrap_or_default()
    }

    /// Returns true if the two `h1` of a zip differ (`archive` rules 1).
    pub(super) fn is_odd(&self) -> bool {
        self.zip
            .as_ref()
            .is_some_and(|zip| zip.member_h1 != self.h1)
    }
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
        match &package.place {
            Local::Directory(path) => {
                dir::program_contents(self.files, path, &Limits::PACKAGE, type_name)
            }
            Local::Archive(path) => {
                let cause = |cause| ArchiveError::Path {
                    path: path.clone(),
                    cause,
                };
                let reader = self.files.open(path).map_err(cause)?;
                // The hashes are known, so the hash of the zip is not computed again.
                let zh = package.zh.as_ref().unwrap_or(&package.h1).clone();
                let read = zip::hash_members_and_contents(zh, reader, &Limits::PACKAGE, type_name)?;
                Ok(read.1)
            }
        }
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
        if let Some(files) = &hashed.files {
            return Some(files.clone());
        }
        // The package may have changed since it was hashed; then its files explain nothing.
        let (again, files) = hash_with_files(self.files, place, self.jobs).ok()?;
        (again.h1 == hashed.h1).then_some(files)
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
    let (mut hashed, list) = hash_with_files(files, place, jobs)?;
    hashed.files = Some(list).filter(|list| list.len() <= MAX_KEPT_FILES);
    Ok(hashed)
}

fn hash_with_files(
    files: &dyn Files,
    place: &Local,
    jobs: NonZeroUsize,
) -> Result<(PackageHashes, Vec<FileDigest>), ArchiveError> {
    let (h1, zip, list) = match place {
        Local::Directory(path) => {
            let found = dir::hash_directory(files, path, &Limits::PACKAGE, jobs)?;
            (found.h1, None, found.files)
        }
        Local::Archive(path) => {
            let reader = files.open(path).map_err(|cause| ArchiveError::Path {
                path: path.clone(),
                cause,
            })?;
            let found = zip::hash_zip(reader, &Limits::PACKAGE)?;
            let zip = ZipOnly {
                zh: found.zh,
                member_h1: found.member_h1,
            };
            (found.h1, Some(zip), found.files)
        }
    };
    let hashed = PackageHashes {
        h1,
        zip,
        files: None,
    };
    Ok((hashed, list))
}
