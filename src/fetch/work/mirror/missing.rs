//! Packages that are missing in a wanted form, up to the step that gives them their names.

use std::collections::BTreeMap;

use super::present::{MirroredHashes, Present, PresentPackage};
use super::unpacked::UnpackedPackage;
use super::{
    MirrorLayout, MirroredForm, MirroredPackage, MirroredRelease, MirroredState, MirroringError,
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
    pub(super) fn accepts(&self, package: &MirroredHashes) -> bool {
        match &package.zh {
            Some(zh) => self.zips.contains(zh) || self.h1s.contains(&package.h1),
            None => self.directories.contains(&package.h1),
        }
    }
}

/// A package that is missing in some form.
pub(super) struct MissingPackage<'t> {
    pub(super) platform: &'t Platform,
    pub(super) target: &'t Target,
    /// The forms that are missing, each with the reason why what is in its place is wrong.
    pub(super) wrong: BTreeMap<MirroredForm, Option<String>>,
    /// The zip in the mirror, if it is right.
    pub(super) zip: Option<MirroredHashes>,
    /// The directory in the mirror, if it could be hashed.
    pub(super) directory: Option<MirroredHashes>,
}

/// A package in the forms that are missing.
pub(super) struct ReadyPackage<'d, 't> {
    pub(super) missing: MissingPackage<'t>,
    pub(super) forms: ReadyForms<'d>,
}

/// The forms of a package that are to get their names.
pub(super) struct ReadyForms<'d> {
    pub(super) hashes: MirroredHashes,
    pub(super) zip: Option<Box<dyn DraftFile + 'd>>,
    pub(super) directory: Option<UnpackedPackage<'d>>,
    /// The place that its bytes come from; `None` if the mirror has the zip.
    pub(super) from: Option<String>,
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
        let (zip, directory) = present
            .remove(platform)
            .map_or((Present::None, Present::None), |present| {
                (present.zip, present.directory)
            });
        let mut package = MissingPackage {
            platform,
            target,
            wrong: BTreeMap::new(),
            zip: None,
            directory: None,
        };
        let mut keep = |form, hashes: Option<&MirroredHashes>| {
            let kept = MirroredPackage::new(platform, form, MirroredState::Kept, hashes);
            outcome.packages.push(kept);
            if let Some(hashes) = hashes {
                hashed
                    .entry(platform.clone())
                    .or_insert_with(|| hashes.clone());
            }
        };
        // The zip first: if it is right, the directory beside it must have the same files.
        if layout.has_zips() {
            match zip_state(zip, target) {
                Ok(zip) => {
                    keep(MirroredForm::Zip, Some(&zip));
                    package.zip = Some(zip);
                }
                Err(wrong) => drop(package.wrong.insert(MirroredForm::Zip, wrong)),
            }
        }
        if layout.has_directories() {
            match directory_state(&directory, target, package.zip.as_ref()) {
                Ok(hashes) => keep(MirroredForm::Directory, hashes),
                Err(wrong) => drop(package.wrong.insert(MirroredForm::Directory, wrong)),
            }
        }
        // A directory that is not accepted is kept as well: the zip to fetch may have the same files.
        if let Present::Hashed(directory) = directory {
            package.directory = Some(directory);
        }
        if !package.wrong.is_empty() {
            missing.push(package);
        }
    }
    (hashed, missing)
}

/// Returns the zip if it is right, else the reason why what is in its place is wrong, if something is.
fn zip_state(zip: Present, target: &Target) -> Result<MirroredHashes, Option<String>> {
    match zip {
        Present::Hashed(zip) if target.accepts(&zip) => Ok(zip),
        // These bytes were published, so another copy of them would not help.
        Present::Damaged(zh, reason) if target.zips.contains(&zh) => Err(Some(reason)),
        // A wrong zip is replaced: `init` would refuse it or, without a lock file, install it.
        Present::Hashed(MirroredHashes { zh: Some(zh), .. }) | Present::Damaged(zh, _) => {
            Err(Some(match &target.known_zip {
                Some(expected) => format!("it has {zh}, expected {expected}"),
                None => format!(
                    "it has {zh}, which is none of the {} of the lock file",
                    counted_as(target.zips.len(), "zh: hash", "zh: hashes")
                ),
            }))
        }
        Present::Unreadable(reason) => Err(Some(reason)),
        Present::Hashed(_) | Present::Unhashed | Present::None => Err(None),
    }
}

/// Returns the directory if it is right, with its hashes if they were computed, else as [`zip_state`].
fn directory_state<'p>(
    directory: &'p Present,
    target: &Target,
    zip: Option<&MirroredHashes>,
) -> Result<Option<&'p MirroredHashes>, Option<String>> {
    let directory = match directory {
        Present::Hashed(directory) => directory,
        Present::Unhashed => return Ok(None),
        Present::Unreadable(reason) | Present::Damaged(_, reason) => {
            return Err(Some(reason.clone()));
        }
        Present::None => return Err(None),
    };
    let h1 = &directory.h1;
    match zip {
        // The zip beside the directory is right, so the directory must have its files.
        Some(zip) if *h1 != zip.h1 => Err(Some(format!("it has {h1}, expected {}", zip.h1))),
        None if !target.accepts(directory) => Err(Some(format!(
            "it has {h1}, which is not known to be that of the release"
        ))),
        _ => Ok(Some(directory)),
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
                outcome.packages.extend(missing.rows(None));
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
            outcome.packages.extend(missing.rows(None));
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
        let is_absent = missing.wrong.values().all(Option::is_none);
        if may_lack && is_absent && missing.zip.is_none() && !is_alone {
            outcome.skipped.push(missing.platform.clone());
        } else {
            outcome.packages.extend(missing.rows(None));
        }
    }
}

impl MissingPackage<'_> {
    /// Returns a row for each form that is missing; `hashes` are those of a package that was not placed.
    pub(super) fn rows(
        self,
        hashes: Option<&MirroredHashes>,
    ) -> impl Iterator<Item = MirroredPackage> {
        let platform = self.platform.clone();
        self.wrong.into_iter().map(move |(form, reason)| {
            let state = match reason {
                Some(_) => MirroredState::Wrong,
                None => MirroredState::Missing,
            };
            MirroredPackage {
                reason,
                ..MirroredPackage::new(&platform, form, state, hashes)
            }
        })
    }
}
