//! One release: what is there, what vouches for the rest, and the packages in their places.
//!
//! Nothing of a release gets its name before every package of it was hashed and compared with all lock files.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::{self, Read, Seek};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use super::compare::{KnownRelease, compare};
use super::directory::MirrorDirectory;
use super::layout::{ReleaseDirs, zip_name};
use super::missing::{MissingPackage, ReadyForms, ReadyPackage, leave, sorted, taken};
use super::places::SoughtPackage;
use super::present::{self, Present, PresentCheck, PresentPackage};
use super::union::WantedRelease;
use super::unpacked::{self, UnpackedPackage};
use super::vouching::Vouching;
use super::{
    MirrorExtent, MirroredForm, MirroredPackage, MirroredRelease, MirroredRoot, MirroredState,
    MirroringError, Place,
};
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
    pub(super) mirror: &'a MirrorDirectory<'a>,
    pub(super) facts: &'a dyn Facts,
    pub(super) roots: &'a [MirroredRoot<'a>],
    /// Lets as many packages through as may be copied or downloaded at once.
    pub(super) downloads: &'a Gate,
    /// Lets as many packages through as may be hashed at once.
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
        let dirs = ReleaseDirs::of(&self.mirror.path, &wanted.release);
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
        let settings = self.mirror.settings;
        let (mut hashed, missing) = sorted(settings.layout, &targets, &mut present, &mut outcome);
        // Nothing of a release is placed while a part of it is in doubt.
        let places_any = self.mirror.writes() && outcome.errors.is_empty();
        let fetched = if places_any && !missing.is_empty() {
            self.fetch_all(&dirs, wanted, missing, &offered, &mut outcome)
        } else {
            if settings.extent == MirrorExtent::DryRun {
                self.add_placeless(wanted, &missing, &mut outcome);
            }
            leave(missing, &mut outcome);
            Vec::new()
        };
        for package in &fetched {
            let platform = package.missing.platform.clone();
            hashed.insert(platform, package.forms.hashes.clone());
        }
        // After the downloads, because an `h1:` can be compared only with all packages at hand.
        let comparison = compare(wanted, &release, &hashed);
        if comparison.errors.is_empty() {
            outcome.without_h1 = comparison.without_h1;
        }
        outcome.errors.extend(comparison.errors);
        self.place(&dirs, wanted, fetched, &mut outcome);
        outcome.arrange(settings.dir);
        outcome
    }

    /// Adds the errors of packages that a run which writes would find in no place.
    fn add_placeless(
        &self,
        wanted: &WantedRelease<'_>,
        missing: &[MissingPackage<'_>],
        outcome: &mut MirroredRelease,
    ) {
        let places = self.roots[wanted.root()].places;
        let placeless: Vec<&MissingPackage<'_>> = missing
            .iter()
            .filter(|package| {
                let id = wanted.id(package.platform);
                let may_have = |place: &Place<'_>| place.may_have(&id, package.target);
                !places.iter().any(may_have)
            })
            .collect();
        // Every release has a package for some platform.
        let is_alone = outcome.packages.is_empty()
            && placeless.len() == missing.len()
            && placeless.iter().all(|package| package.target.may_lack);
        for (index, package) in placeless.iter().enumerate() {
            let may_lack = package.target.may_lack;
            if !may_lack || is_alone && index == 0 {
                outcome.errors.push(MirroringError::NoPlace {
                    id: Box::new(wanted.id(package.platform)),
                    places: Vec::new(),
                    may_lack,
                });
            }
        }
    }

    /// Hashes what is there in the places of packages that may be wanted.
    fn present(
        &self,
        dirs: &ReleaseDirs,
        wanted: &WantedRelease<'_>,
        attribution: &Attribution,
    ) -> BTreeMap<Platform, PresentPackage> {
        let stated = present::stated(self.mirror.disk, &dirs.provider, &wanted.release.version);
        let mut platforms = BTreeSet::from_iter(wanted.platforms.known());
        if wanted.platforms.all {
            platforms.extend(attribution.offered().iter().cloned());
            platforms.extend(stated.keys().cloned());
        }
        let check = self.present_check(wanted);
        let settings = self.mirror.settings;
        let platforms: Vec<Platform> = platforms.into_iter().collect();
        let packages = parallel::map(settings.jobs, &platforms, |platform| {
            // Releases are hashed side by side as well, and all of them share this limit.
            let _turn = self.jobs.enter();
            let zip = if settings.layout.has_zips() {
                check.zip(&dirs.provider, wanted, platform, stated.get(platform))
            } else {
                Present::None
            };
            let directory = if settings.layout.has_directories() {
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
            disk: self.mirror.disk,
            facts: self.facts,
            trusted: self.roots[wanted.root()].trusted,
            existing: self.mirror.settings.existing,
        }
    }

    /// Fetches packages in parallel, and unpacks them if that is wanted; reports packages that could not be fetched.
    fn fetch_all<'t>(
        &self,
        dirs: &ReleaseDirs,
        wanted: &WantedRelease<'_>,
        missing: Vec<MissingPackage<'t>>,
        offered: &BTreeSet<Platform>,
        outcome: &mut MirroredRelease,
    ) -> Vec<ReadyPackage<'a, 't>> {
        // Before the first request: a mirror that cannot be written needs no download.
        if let Err(cause) = self.mirror.disk.make_directory(&dirs.provider) {
            outcome.add_error(self.mirror.failure(&dirs.provider, "written", cause));
            leave(missing, outcome);
            return Vec::new();
        }
        // In parallel within a release as well: usually there are fewer releases than parallel downloads.
        let answers = parallel::map(self.mirror.settings.downloads, &missing, |missing| {
            if let Some(ready) = self.unpack_own_zip(dirs, wanted, missing) {
                return ready;
            }
            let package = SoughtPackage {
                id: wanted.id(missing.platform),
                root: &self.roots[wanted.root()],
                target: missing.target,
                offered,
                needs_zip: missing.wrong.contains_key(&MirroredForm::Zip),
            };
            let mut forms = self.fetch(dirs, &package)?;
            if missing.wrong.contains_key(&MirroredForm::Directory)
                && let Some(zip) = &mut forms.zip
            {
                forms.directory = self.unpacked(dirs, wanted, missing, zip, &forms.hashes.h1)?;
            }
            // Otherwise the draft is dropped, and only the directory is placed.
            forms.zip = forms.zip.filter(|_| package.needs_zip);
            Ok(forms)
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
        if missing.wrong.contains_key(&MirroredForm::Zip) {
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
            .mirror
            .disk
            .open(&path)
            .map_err(|cause| self.mirror.failure(&path, "read", cause));
        Some(opened.and_then(|reader| {
            let directory = self.unpacked(dirs, wanted, missing, reader, &zip.h1)?;
            Ok(ReadyForms {
                hashes: zip,
                zip: None,
                directory,
                from: None,
            })
        }))
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
        if there.is_some_and(|directory| directory.h1 == *h1) {
            return Ok(None);
        }
        let _turn = self.jobs.enter();
        let id = || Box::new(wanted.id(missing.platform));
        let unpacked =
            unpacked::unpack(self.mirror.disk, zip, &dirs.version).map_err(
                |error| match error {
                    UnpackError::Write(cause) => {
                        self.mirror.failure(&dirs.version, "written", cause)
                    }
                    UnpackError::Archive(cause) => MirroringError::Archive { id: id(), cause },
                },
            )?;
        // A file system that folds case, or uses `\\` as a separator, stores other files.
        if unpacked.hashes.h1 != *h1 {
            return Err(MirroringError::UnpackedDiffers {
                id: id(),
                found: unpacked.hashes.h1,
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
        let release = &wanted.release;
        let is_alarmed = outcome.errors.iter().any(MirroringError::is_alarm);
        for ReadyPackage { mut missing, forms } in ready {
            let (platform, fetched) = (missing.platform, forms.hashes.bytes);
            // The bytes are right for this platform, but a release that contradicts a lock file may be a different one.
            if is_alarmed {
                missing.wrong.values_mut().for_each(|wrong| *wrong = None);
                outcome.packages.extend(missing.rows(Some(&forms.hashes)));
                continue;
            }
            let ReadyForms {
                hashes,
                mut zip,
                mut directory,
                mut from,
            } = forms;
            for (form, wrong) in missing.wrong {
                let (placed, hashes) = match form {
                    MirroredForm::Zip => {
                        let Some(draft) = zip.take() else { continue };
                        let name = zip_name(&release.provider, &release.version, platform);
                        let placed = draft
                            .place(OsStr::new(&name))
                            .map_err(|cause| (dirs.provider.join(name), cause));
                        (placed, hashes.clone())
                    }
                    MirroredForm::Directory => {
                        let Some(directory) = directory.take() else {
                            // The directory in the mirror has the files of the zip.
                            let (kept, there) = (MirroredState::Kept, missing.directory.as_ref());
                            let row = MirroredPackage::new(platform, form, kept, there);
                            outcome.packages.push(row);
                            continue;
                        };
                        let hashes = directory.hashes.clone();
                        (self.place_directory(dirs, platform, directory), hashes)
                    }
                };
                // The origin is stated once, because the directory is made from the same bytes.
                let place = from.take();
                let state = match placed {
                    Ok(()) if wrong.is_some() => MirroredState::Replaced,
                    Ok(()) => MirroredState::Placed,
                    Err((path, cause)) => {
                        outcome.add_error(self.mirror.failure(&path, "written", cause));
                        MirroredState::Missing
                    }
                };
                let mut row = MirroredPackage::new(platform, form, state, Some(&hashes));
                if state.is_right() {
                    row.reason = wrong;
                    row.fetched_bytes = place.as_ref().map(|_| fetched);
                    row.from = place;
                }
                outcome.packages.push(row);
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
        let disk = self.mirror.disk;
        let _held = disk.exclusive(&path).map_err(at_path)?;
        let there = dir::hash_directory(disk, &path, &Limits::PACKAGE, NonZeroUsize::MIN);
        // Not replaced: the files are the same, and an `init` may be reading them.
        if there.is_ok_and(|there| there.h1 == directory.hashes.h1) {
            return Ok(());
        }
        directory.draft.place(OsStr::new(&name)).map_err(at_path)
    }
}
