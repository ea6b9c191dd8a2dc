//! Packages that are missing in a form that is wanted, until they are ready to get their names.

use std::collections::BTreeMap;

use super::compare::MirroredHashes;
use super::outcome::row;
use super::present::{HashedDirectory, HashedZip, Present, PresentPackage};
use super::unpacked::UnpackedPackage;
use super::vouching::Target;
use super::{
    ByteOrigin, MirrorLayout, MirroredForm, MirroredPackage, MirroredRelease, MirroringError,
    PackageState,
};
use crate::platform::Platform;
use crate::world::DraftFile;

/// A package that is missing in some form.
pub(super) struct MissingPackage<'t> {
    pub(super) platform: &'t Platform,
    pub(super) target: &'t Target,
    /// The forms that are missing, each with its state.
    pub(super) states: BTreeMap<MirroredForm, PackageState>,
    /// The zip, if it is there and right.
    pub(super) zip: Option<HashedZip>,
    /// The directory that is there, if it could be hashed.
    pub(super) directory: Option<HashedDirectory>,
}

/// A package in the forms that are missing.
pub(super) struct ReadyPackage<'d, 't> {
    pub(super) missing: MissingPackage<'t>,
    pub(super) hashes: MirroredHashes,
    pub(super) forms: ReadyForms<'d>,
}

/// The forms of a package that are to get their names.
pub(super) struct ReadyForms<'d> {
    pub(super) hashes: MirroredHashes,
    pub(super) zip: Option<(Box<dyn DraftFile + 'd>, HashedZip)>,
    pub(super) directory: Option<UnpackedPackage<'d>>,
    /// The place that its bytes come from; `None` if the mirror has the zip.
    pub(super) origin: Option<ByteOrigin>,
}

/// The outcome of an attempt to get a package.
pub(super) enum ReadyAnswer<'d> {
    Ready(ReadyForms<'d>),
    /// No place has the package, which need not exist.
    Lacking(MirroringError),
}

/// Sorts the wanted packages into those that are there and right, which are reported, and those to place.
pub(super) fn sorted<'t>(
    layout: MirrorLayout,
    targets: &'t BTreeMap<Platform, Target>,
    present: &mut BTreeMap<Platform, PresentPackage>,
    outcome: &mut MirroredRelease,
) -> (BTreeMap<Platform, MirroredHashes>, Vec<MissingPackage<'t>>) {
    let (mut hashed, mut missing) = (BTreeMap::new(), Vec::new());
    for (platform, target) in targets {
        let present = present.remove(platform);
        let mut package = MissingPackage {
            platform,
            target,
            states: BTreeMap::new(),
            zip: None,
            directory: None,
        };
        let (zip, directory) = present.map_or((Present::None, Present::None), |present| {
            (present.zip, present.directory)
        });
        // The zip first: if it is right, it decides what the directory beside it must be.
        if layout.has_zips() {
            match zip_state(zip, target) {
                Ok(zip) => {
                    let kept = row(platform, MirroredForm::Zip, PackageState::Kept);
                    outcome.packages.push(kept.with_zip(&zip));
                    hashed.insert(platform.clone(), MirroredHashes::of(&zip));
                    package.zip = Some(zip);
                }
                Err(state) => drop(package.states.insert(MirroredForm::Zip, state)),
            }
        }
        if layout.has_directories() {
            match directory_state(&directory, target, package.zip.as_ref()) {
                Ok(directory) => {
                    let kept = row(platform, MirroredForm::Directory, PackageState::Kept);
                    outcome.packages.push(kept.with_directory(directory));
                    if let (None, Some(h1)) = (&package.zip, &directory.h1) {
                        hashed.insert(platform.clone(), MirroredHashes::of_directory(h1.clone()));
                    }
                }
                Err(state) => drop(package.states.insert(MirroredForm::Directory, state)),
            }
        }
        // Also a wrong one: once the zip is there, it may turn out to be right.
        if let Present::Hashed(directory) = directory {
            package.directory = Some(directory);
        }
        if !package.states.is_empty() {
            missing.push(package);
        }
    }
    (hashed, missing)
}

/// Returns the zip if it is right, else the state of its place.
fn zip_state(zip: Present<HashedZip>, target: &Target) -> Result<HashedZip, PackageState> {
    match zip {
        Present::Hashed(zip) if target.accepts(&zip) => Ok(zip),
        // It is replaced: whoever wrote it, `init` would refuse it or, without a lock file, install it.
        Present::Hashed(zip) => Err(PackageState::Wrong(format!(
            "it has {}, which is not that of the release",
            zip.zh
        ))),
        Present::Unreadable(reason) => Err(PackageState::Wrong(reason)),
        Present::None => Err(PackageState::Missing),
    }
}

/// Returns the directory if it is right, else the state of its place.
fn directory_state<'p>(
    directory: &'p Present<HashedDirectory>,
    target: &Target,
    zip: Option<&HashedZip>,
) -> Result<&'p HashedDirectory, PackageState> {
    match directory {
        Present::Hashed(directory) => {
            let is_right = match (&directory.h1, zip) {
                // The zip beside it is right, so it decides.
                (Some(h1), Some(zip)) => *h1 == zip.h1,
                _ => target.accepts_directory(directory),
            };
            match &directory.h1 {
                Some(h1) if !is_right => Err(PackageState::Wrong(format!(
                    "it has {h1}, which is not known to be that of the release"
                ))),
                _ => Ok(directory),
            }
        }
        Present::Unreadable(reason) => Err(PackageState::Wrong(reason.clone())),
        Present::None => Err(PackageState::Missing),
    }
}

/// Takes the packages that are ready out of the answers, and reports the others.
pub(super) fn taken<'d, 't>(
    missing: Vec<MissingPackage<'t>>,
    answers: Vec<Result<ReadyAnswer<'d>, MirroringError>>,
    outcome: &mut MirroredRelease,
) -> Vec<ReadyPackage<'d, 't>> {
    let (mut ready, mut lacking) = (Vec::new(), Vec::new());
    for (missing, answer) in missing.into_iter().zip(answers) {
        let error = match answer {
            Ok(ReadyAnswer::Ready(forms)) => {
                ready.push(ReadyPackage {
                    hashes: forms.hashes.clone(),
                    missing,
                    forms,
                });
                continue;
            }
            Ok(ReadyAnswer::Lacking(error)) => {
                lacking.push((missing, error));
                continue;
            }
            Err(error) => error,
        };
        // The other packages go on: a release of which one is missing serves the other platforms.
        outcome.packages.extend(missing.rows());
        outcome.add_error(error);
    }
    // A release has a package for some platform, so places without any of them are the wrong places.
    let is_alone = ready.is_empty() && outcome.packages.is_empty();
    // The places say the same of each platform, so the first one speaks for all; but the one that shows another way.
    lacking.sort_by_key(|(_, error)| !error.is_about_unpacked());
    for (missing, error) in lacking {
        if is_alone {
            outcome.packages.extend(missing.rows());
            if outcome.errors.is_empty() {
                outcome.errors.push(error);
            }
        } else {
            outcome.skipped.push(missing.platform.clone());
        }
    }
    ready
}

/// Reports packages that this run does not place.
pub(super) fn leave(missing: Vec<MissingPackage<'_>>, outcome: &mut MirroredRelease) {
    let is_alone = outcome.packages.is_empty();
    for missing in missing {
        // Without a list it is unknown whether there is such a package, unless others of the release are there.
        let may_lack = missing.target.may_lack && outcome.without_list.is_some();
        // A wrong file is there for some reason, and stays a finding even if no such package exists.
        let is_absent = missing
            .states
            .values()
            .all(|state| *state == PackageState::Missing);
        if may_lack && is_absent && missing.zip.is_none() && !is_alone {
            outcome.skipped.push(missing.platform.clone());
        } else {
            outcome.packages.extend(missing.rows());
        }
    }
}

impl MissingPackage<'_> {
    /// Returns a row for each form that is missing.
    pub(super) fn rows(self) -> impl Iterator<Item = MirroredPackage> {
        let platform = self.platform.clone();
        self.states
            .into_iter()
            .map(move |(form, state)| row(&platform, form, state))
    }
}
