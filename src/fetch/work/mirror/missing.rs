//! Packages that are missing in a wanted form, up to the step that gives them their names.

use std::collections::BTreeMap;

use super::compare::MirroredHashes;
use super::outcome::row;
use super::present::{HashedDirectory, MirrorZip, Present, PresentPackage};
use super::unpacked::UnpackedPackage;
use super::{
    ByteOrigin, MirrorLayout, MirroredForm, MirroredPackage, MirroredRelease, MirroringError,
    PackageState,
};
use crate::diag::counted_as;
use crate::hash::{Hash, Hashes};
use crate::platform::Platform;
use crate::world::DraftFile;

/// The hashes that vouch for a package.
pub(super) struct Target {
    /// The `zh:` that the package may have.
    pub(super) zips: Hashes,
    /// The `h1:` that vouch for the package if no `zh:` does.
    pub(super) h1s: Hashes,
    /// The `h1:` that an unpacked package may have: recorded ones, and those of facts about the zips.
    pub(super) directories: Hashes,
    /// The package need not exist.
    pub(super) may_lack: bool,
    /// The `zh:` of the package, if it is known; else any of `zips` may be it.
    pub(super) known_zip: Option<Hash>,
}

impl Target {
    pub(super) fn accepts(&self, zip: &MirrorZip) -> bool {
        self.zips.contains(&zip.zh) || self.h1s.contains(&zip.h1)
    }

    /// Describes a zip that is not accepted by its `zh:`, with the hash that was expected.
    pub(super) fn difference(&self, zh: &Hash) -> String {
        match &self.known_zip {
            Some(expected) => format!("it has {zh}, expected {expected}"),
            None => format!(
                "it has {zh}, which is none of the {} of the lock file",
                counted_as(self.zips.len(), "zh: hash", "zh: hashes")
            ),
        }
    }

    /// Returns true if an unpacked package is right, or if it was not hashed.
    pub(super) fn accepts_directory(&self, directory: &HashedDirectory) -> bool {
        directory
            .h1
            .as_ref()
            .is_none_or(|h1| self.directories.contains(h1))
    }
}

/// A package that is missing in some form.
pub(super) struct MissingPackage<'t> {
    pub(super) platform: &'t Platform,
    pub(super) target: &'t Target,
    /// The forms that are missing, each with its state.
    pub(super) states: BTreeMap<MirroredForm, PackageState>,
    /// The zip in the mirror, if it is right.
    pub(super) zip: Option<MirrorZip>,
    /// The directory in the mirror, if it could be hashed.
    pub(super) directory: Option<HashedDirectory>,
}

/// A package in the forms that are missing.
pub(super) struct ReadyPackage<'d, 't> {
    pub(super) missing: MissingPackage<'t>,
    pub(super) forms: ReadyForms<'d>,
}

/// The forms of a package that are to get their names.
pub(super) struct ReadyForms<'d> {
    pub(super) hashes: MirroredHashes,
    pub(super) zip: Option<(Box<dyn DraftFile + 'd>, MirrorZip)>,
    pub(super) directory: Option<UnpackedPackage<'d>>,
    /// The place that its bytes come from; `None` if the mirror has the zip.
    pub(super) origin: Option<ByteOrigin>,
}

/// Reports the wanted packages that the mirror has, and returns their hashes and the packages to place.
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
        // The zip first: if it is right, the directory beside it must have the same files.
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
        // A directory that is not accepted is kept as well: the zip to fetch may have the same files.
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
fn zip_state(zip: Present<MirrorZip>, target: &Target) -> Result<MirrorZip, PackageState> {
    match zip {
        Present::Hashed(zip) if target.accepts(&zip) => Ok(zip),
        // A wrong zip is replaced: `init` would refuse it or, without a lock file, install it.
        Present::Hashed(zip) => Err(PackageState::Wrong(target.difference(&zip.zh))),
        // These bytes were published, so another copy of them would not help.
        Present::Damaged(zh, reason) if target.zips.contains(&zh) => {
            Err(PackageState::Wrong(reason))
        }
        Present::Damaged(zh, _) => Err(PackageState::Wrong(target.difference(&zh))),
        Present::Unreadable(reason) => Err(PackageState::Wrong(reason)),
        Present::None => Err(PackageState::Missing),
    }
}

/// Returns the directory if it is right, else the state of its place.
fn directory_state<'p>(
    directory: &'p Present<HashedDirectory>,
    target: &Target,
    zip: Option<&MirrorZip>,
) -> Result<&'p HashedDirectory, PackageState> {
    let directory = match directory {
        Present::Hashed(directory) => directory,
        Present::Unreadable(reason) | Present::Damaged(_, reason) => {
            return Err(PackageState::Wrong(reason.clone()));
        }
        Present::None => return Err(PackageState::Missing),
    };
    let wrong = |reason: String| Err(PackageState::Wrong(reason));
    match (&directory.h1, zip) {
        // The zip beside the directory is right, so the directory must have its files.
        (Some(h1), Some(zip)) if *h1 != zip.h1 => {
            wrong(format!("it has {h1}, expected {}", zip.h1))
        }
        (Some(h1), None) if !target.directories.contains(h1) => wrong(format!(
            "it has {h1}, which is not known to be that of the release"
        )),
        _ => Ok(directory),
    }
}

/// Takes the packages that are ready out of the answers, and reports the others.
pub(super) fn taken<'d, 't>(
    missing: Vec<MissingPackage<'t>>,
    answers: Vec<Result<ReadyForms<'d>, MirroringError>>,
    outcome: &mut MirroredRelease,
) -> Vec<ReadyPackage<'d, 't>> {
    let (mut ready, mut lacking) = (Vec::new(), Vec::new());
    for (missing, answer) in missing.into_iter().zip(answers) {
        match answer {
            Ok(forms) => ready.push(ReadyPackage { missing, forms }),
            Err(error @ MirroringError::NoPlace { may_lack: true, .. }) => {
                lacking.push((missing, error));
            }
            // The other packages are still placed: they serve the other platforms.
            Err(error) => {
                outcome.packages.extend(missing.rows());
                outcome.add_error(error);
            }
        }
    }
    // Every release has a package for some platform, so an error is reported if the places have none.
    let is_alone = ready.is_empty() && outcome.packages.is_empty();
    // The places have the same reason for each platform, so one error is reported: an error about an unpacked package,
    // which has other advice, if there is one.
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
        // Without a list it is unknown if the package exists, unless the mirror has others of the release.
        let may_lack = missing.target.may_lack && outcome.without_list.is_some();
        // A wrong file is reported even if the release has no such package.
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
