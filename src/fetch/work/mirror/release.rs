//! One release: what is there, what vouches for the rest, and the packages in their places.
//!
//! Nothing of a release gets its name before every package of it was hashed and compared with all lock files.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::{self, Read, Seek};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use super::compare::{KnownRelease, MirroredHashes, compare};
use super::layout::{ReleaseDirs, zip_name};
use super::missing::{MissingPackage, ReadyForms, ReadyPackage, leave, sorted, taken};
use super::outcome::row;
use super::places::{ArrivedPackage, MirrorFetcher, SoughtPackage};
use super::present::{self, HashedDirectory, Present, PresentCheck, PresentPackage};
use super::union::WantedRelease;
use super::unpacked::{self, UnpackedPackage};
use super::vouching::Vouching;
use super::{
    ByteOrigin, MirrorExtent, MirrorSettings, MirroredForm, MirroredRelease, MirroredRoot,
    MirroringError, PackageState, Place,
};
use crate::acquire::Hasher;
use crate::archive::{Limits, UnpackError, dir};
use crate::coverage::Attribution;
use crate::hash::Hash;
use crate::parallel::{self, Gate};
use crate::platform::Platform;
use crate::store::Facts;
use crate::world::Disk;

/// The context of all releases of a run.
pub(super) struct ReleaseRun<'a> {
    /// The disk that places on this machine are read from.
    pub(super) files: &'a dyn Disk,
    /// The disk that the mirror is written to, which follows no link.
    pub(super) disk: &'a dyn Disk,
    /// The directory of the mirror, without links on the way.
    pub(super) dir: &'a Path,
    pub(super) facts: &'a dyn Facts,
    pub(super) settings: &'a MirrorSettings<'a>,
    pub(super) roots: &'a [MirroredRoot<'a>],
    pub(super) downloads: &'a Gate,
    pub(super) jobs: &'a Gate,
}

impl<'a> ReleaseRun<'a> {
    /// Places the packages of a release that are wanted and missing.
    pub(super) fn mirror(&self, wanted: &WantedRelease<'a>) -> MirroredRelease {
        let mut outcome = MirroredRelease {
            release: wanted.release.clone(),
            roots: wanted.entries.iter().map(|(root, _)| *root).collect(),
            packages: Vec::new(),
            skipped: Vec::new(),
            without_list: None,
            without_h1: Vec::new(),
            errors: Vec::new(),
        };
        let dirs = ReleaseDirs::of(self.dir, &wanted.release);
        let evidence = self.known_evidence(wanted);
        let attribution = &evidence.attribution;
        let mut present = self.present(&dirs, wanted, attribution);
        // Who vouches is settled before any byte is placed: without an answer nothing is.
        let vouching = match self.vouching(wanted, &evidence, &present) {
            Ok(vouching) => vouching,
            Err(errors) => {
                outcome.errors.extend(errors);
                return outcome;
            }
        };
        let targets = self.targets(wanted, &evidence, &vouching, &mut outcome);
        outcome.errors.extend(self.unmet_demand(wanted, &vouching));
        let offered = vouching.offered(attribution);
        let release = KnownRelease {
            signed: evidence.signed(&vouching),
            attribution,
            offered: &offered,
        };
        if let Vouching::LockFiles(reason) = vouching {
            outcome.without_list = Some(reason);
        }
        let (mut hashed, missing) =
            sorted(self.settings.layout, &targets, &mut present, &mut outcome);
        // Nothing of a release is placed while a part of it is in doubt.
        let places_any = self.settings.extent == MirrorExtent::Place && outcome.errors.is_empty();
        let fetched = if places_any && !missing.is_empty() {
            self.fetch(&dirs, wanted, missing, &offered, &mut outcome)
        } else {
            let is_alone = outcome.packages.is_empty();
            let without_place = self.without_place(wanted, &missing, is_alone);
            outcome.errors.extend(without_place);
            leave(missing, &mut outcome);
            Vec::new()
        };
        for package in &fetched {
            hashed.insert(
                package.missing.platform.clone(),
                package.forms.hashes.clone(),
            );
        }
        // After the downloads, because an `h1:` can be compared only with all packages at hand.
        let comparison = compare(wanted, &release, &hashed);
        if comparison.errors.is_empty() {
            outcome.without_h1 = comparison.without_h1;
        }
        outcome.errors.extend(comparison.errors);
        self.place(&dirs, wanted, fetched, &mut outcome);
        outcome
            .packages
            // Packages that were there and new ones were collected apart.
            .sort_by(|a, b| (&a.platform, a.form).cmp(&(&b.platform, b.form)));
        outcome
    }

    /// Returns the errors of packages that a run which writes would find in no place; `is_alone` says that the mirror
    /// has no other package of the release.
    fn without_place(
        &self,
        wanted: &WantedRelease<'_>,
        missing: &[MissingPackage<'_>],
        is_alone: bool,
    ) -> Vec<MirroringError> {
        let root = &self.roots[wanted.root()];
        if self.settings.extent != MirrorExtent::DryRun || !root.is_closed {
            return Vec::new();
        }
        let (mut errors, mut lacking) = (Vec::new(), Vec::new());
        for package in missing {
            let (id, target) = (wanted.id(package.platform), package.target);
            let may_have = |place: &Place<'_>| place.may_have(&id, target);
            if root.places.iter().any(may_have) {
                continue;
            }
            let error = MirroringError::NoPlace {
                id: Box::new(id),
                places: Vec::new(),
                may_lack: target.may_lack,
            };
            if target.may_lack {
                lacking.push(error);
            } else {
                errors.push(error);
            }
        }
        // Every release has a package for some platform.
        if is_alone && errors.is_empty() && lacking.len() == missing.len() {
            errors.extend(lacking.into_iter().next());
        }
        errors
    }

    /// Hashes what is there in the places of packages that may be wanted.
    fn present(
        &self,
        dirs: &ReleaseDirs,
        wanted: &WantedRelease<'_>,
        attribution: &Attribution,
    ) -> BTreeMap<Platform, PresentPackage> {
        let stated = present::stated(self.disk, &dirs.provider, wanted);
        let mut platforms = BTreeSet::from_iter(wanted.platforms.known());
        if wanted.platforms.all {
            platforms.extend(attribution.offered().iter().cloned());
            platforms.extend(stated.keys().cloned());
        }
        let check = self.present_check(wanted);
        let layout = self.settings.layout;
        let platforms: Vec<Platform> = platforms.into_iter().collect();
        let packages = parallel::map(self.settings.jobs, &platforms, |platform| {
            // Releases are hashed side by side as well, and all of them share this limit.
            let _turn = self.jobs.enter();
            let zip = if layout.has_zips() {
                check.zip(&dirs.provider, wanted, platform, stated.get(platform))
            } else {
                Present::None
            };
            let directory = if layout.has_directories() {
                check.directory(&dirs.version, wanted, platform)
            } else {
                Present::None
            };
            PresentPackage { zip, directory }
        });
        platforms.into_iter().zip(packages).collect()
    }

    fn present_check(&self, wanted: &WantedRelease<'_>) -> PresentCheck<'a> {
        PresentCheck {
            disk: self.disk,
            facts: self.facts,
            trusted: self.roots[wanted.root()].trusted,
            existing: self.settings.existing,
        }
    }

    /// Fetches packages in parallel, and unpacks them if that is wanted; reports packages that could not be fetched.
    fn fetch<'t>(
        &self,
        dirs: &ReleaseDirs,
        wanted: &WantedRelease<'_>,
        missing: Vec<MissingPackage<'t>>,
        offered: &BTreeSet<Platform>,
        outcome: &mut MirroredRelease,
    ) -> Vec<ReadyPackage<'a, 't>> {
        // Before the first request: a mirror that cannot be written needs no download.
        if let Err(cause) = self.disk.make_directory(&dirs.provider) {
            let error = MirroringError::io(self.files, &dirs.provider, "written", cause);
            outcome.add_error(error);
            leave(missing, outcome);
            return Vec::new();
        }
        let root = &self.roots[wanted.root()];
        let fetcher = MirrorFetcher {
            files: self.files,
            disk: self.disk,
            hasher: Hasher {
                facts: self.facts,
                turns: self.jobs,
            },
            trusted: root.trusted,
            places: root.places,
            downloads: self.downloads,
        };
        // In parallel within a release as well: usually there are fewer releases than parallel downloads.
        let answers = parallel::map(self.settings.downloads, &missing, |missing| {
            if let Some(ready) = self.unpack_own_zip(dirs, wanted, missing) {
                return ready;
            }
            let package = SoughtPackage {
                id: wanted.id(missing.platform),
                target: missing.target,
                offered,
                needs_zip: missing.states.contains_key(&MirroredForm::Zip),
            };
            let (package, origin) = fetcher.fetch(dirs, &package)?;
            self.ready(dirs, wanted, missing, package, origin)
        });
        taken(missing, answers, outcome)
    }

    /// Unpacks the zip of a package in the mirror; `None` if there is none, or if another one is needed.
    fn unpack_own_zip(
        &self,
        dirs: &ReleaseDirs,
        wanted: &WantedRelease<'_>,
        missing: &MissingPackage<'_>,
    ) -> Option<Result<ReadyForms<'a>, MirroringError>> {
        if missing.states.contains_key(&MirroredForm::Zip) {
            return None;
        }
        let zip = match &missing.zip {
            Some(zip) => zip.clone(),
            // A packed mirror becomes an unpacked one without a download.
            None => {
                let _turn = self.jobs.enter();
                let check = self.present_check(wanted);
                match check.zip(&dirs.provider, wanted, missing.platform, None) {
                    Present::Hashed(zip) if missing.target.accepts(&zip) => zip,
                    _ => return None,
                }
            }
        };
        let release = &wanted.release;
        let name = zip_name(&release.provider, &release.version, missing.platform);
        let path = dirs.provider.join(name);
        let opened = self
            .disk
            .open(&path)
            .map_err(|cause| MirroringError::io(self.files, &path, "read", cause));
        Some(opened.and_then(|reader| {
            let directory = self.unpacked(dirs, wanted, missing, reader, &zip.h1)?;
            Ok(ReadyForms {
                hashes: MirroredHashes::of(&zip),
                zip: None,
                directory,
                origin: None,
            })
        }))
    }

    /// Makes the wanted forms of a package that was fetched.
    fn ready(
        &self,
        dirs: &ReleaseDirs,
        wanted: &WantedRelease<'_>,
        missing: &MissingPackage<'_>,
        package: ArrivedPackage<'a>,
        origin: ByteOrigin,
    ) -> Result<ReadyForms<'a>, MirroringError> {
        Ok(match package {
            ArrivedPackage::Directory(directory) => ReadyForms {
                hashes: MirroredHashes::of_directory(directory.h1.clone()),
                zip: None,
                directory: Some(directory),
                origin: Some(origin),
            },
            ArrivedPackage::Zip(mut draft, zip) => {
                let directory = if missing.states.contains_key(&MirroredForm::Directory) {
                    self.unpacked(dirs, wanted, missing, &mut draft, &zip.h1)?
                } else {
                    None
                };
                // Otherwise the draft is dropped, and only the directory is placed.
                let needs_zip = missing.states.contains_key(&MirroredForm::Zip);
                ReadyForms {
                    hashes: MirroredHashes::of(&zip),
                    zip: needs_zip.then_some((draft, zip)),
                    directory,
                    origin: Some(origin),
                }
            }
        })
    }

    /// Unpacks a zip, unless the directory in the mirror has the same files.
    fn unpacked(
        &self,
        dirs: &ReleaseDirs,
        wanted: &WantedRelease<'_>,
        missing: &MissingPackage<'_>,
        zip: impl Read + Seek,
        h1: &Hash,
    ) -> Result<Option<UnpackedPackage<'a>>, MirroringError> {
        let there = missing.directory.as_ref();
        // The directory is right, although neither the lock file nor a fact has its `h1:`.
        if there.is_some_and(|directory| directory.h1.as_ref() == Some(h1)) {
            return Ok(None);
        }
        let _turn = self.jobs.enter();
        let id = || Box::new(wanted.id(missing.platform));
        let unpacked =
            unpacked::unpack(self.disk, zip, &dirs.version).map_err(|error| match error {
                UnpackError::Write(cause) => {
                    MirroringError::io(self.files, &dirs.version, "written", cause)
                }
                UnpackError::Archive(cause) => MirroringError::Archive { id: id(), cause },
            })?;
        // A file system that folds case, or uses `\\` as a separator, stores other files.
        if unpacked.h1 != *h1 {
            return Err(MirroringError::UnpackedDiffers {
                id: id(),
                found: unpacked.h1,
                expected: h1.clone(),
            });
        }
        Ok(Some(unpacked))
    }

    /// Gives packages their names; after an alarm, no package of the release gets one.
    fn place(
        &self,
        dirs: &ReleaseDirs,
        wanted: &WantedRelease<'_>,
        ready: Vec<ReadyPackage<'a, '_>>,
        outcome: &mut MirroredRelease,
    ) {
        let is_alarmed = outcome.errors.iter().any(MirroringError::is_alarm);
        for ready in ready {
            let ReadyPackage { missing, forms } = ready;
            let platform = missing.platform;
            // The bytes are right for this platform, but a release that contradicts a lock file may be a different one.
            if is_alarmed {
                for form in missing.states.into_keys() {
                    let row = row(platform, form, PackageState::Missing);
                    outcome.packages.push(row.with_hashes(&forms.hashes));
                }
                continue;
            }
            let ReadyForms {
                zip,
                directory,
                mut origin,
                ..
            } = forms;
            if let Some((draft, zip)) = zip {
                let release = &wanted.release;
                let name = zip_name(&release.provider, &release.version, platform);
                let placed = draft
                    .place(OsStr::new(&name))
                    .map_err(|cause| (dirs.provider.join(name), cause));
                let before = missing.states.get(&MirroredForm::Zip);
                let state = self.placed(placed, before, outcome);
                // The origin is stated once, because the directory is made from the same bytes.
                let row = row(platform, MirroredForm::Zip, state).with_zip(&zip);
                outcome.packages.push(row.from(origin.take()));
            }
            if missing.states.contains_key(&MirroredForm::Directory) {
                let row = match (directory, &missing.directory) {
                    (Some(directory), _) => {
                        let hashed = HashedDirectory {
                            h1: Some(directory.h1.clone()),
                            bytes: directory.bytes,
                        };
                        let placed = self.place_directory(dirs, platform, directory);
                        let before = missing.states.get(&MirroredForm::Directory);
                        let state = self.placed(placed, before, outcome);
                        row(platform, MirroredForm::Directory, state).with_directory(&hashed)
                    }
                    (None, there) => {
                        let row = row(platform, MirroredForm::Directory, PackageState::Kept);
                        there
                            .iter()
                            .fold(row, |row, there| row.with_directory(there))
                    }
                };
                outcome.packages.push(row.from(origin));
            }
        }
    }

    /// Gives an unpacked package its name, unless another run has placed the same.
    fn place_directory(
        &self,
        dirs: &ReleaseDirs,
        platform: &Platform,
        directory: UnpackedPackage<'_>,
    ) -> Result<(), (PathBuf, io::Error)> {
        let name = platform.to_string();
        let path = dirs.version.join(&name);
        let at_path = |cause| (path.clone(), cause);
        // Held over both steps, so the second of two runs sees the package that the first has placed.
        let _held = self.disk.exclusive(&path).map_err(at_path)?;
        let there = dir::hash_directory(self.disk, &path, &Limits::PACKAGE, NonZeroUsize::MIN);
        // Not replaced: the files are the same, and an `init` may be reading them.
        if there.is_ok_and(|there| there.h1 == directory.h1) {
            return Ok(());
        }
        directory.draft.place(OsStr::new(&name)).map_err(at_path)
    }

    /// Returns the state of a package after the attempt to give it its name; `before` is that of its place.
    fn placed(
        &self,
        placed: Result<(), (PathBuf, io::Error)>,
        before: Option<&PackageState>,
        outcome: &mut MirroredRelease,
    ) -> PackageState {
        match placed {
            Ok(()) => match before {
                Some(PackageState::Wrong(reason)) => PackageState::Replaced(reason.clone()),
                _ => PackageState::Placed,
            },
            Err((path, cause)) => {
                let error = MirroringError::io(self.files, &path, "written", cause);
                outcome.add_error(error);
                PackageState::Missing
            }
        }
    }
}
