//! One release: what is there, what vouches for the rest, and the packages in their places.
//!
//! Nothing of a release gets its name before every package of it was hashed and compared with all lock files.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;

use super::layout::{provider_dir, zip_name};
use super::places::{FetchedZip, Fetcher, PlacesAnswer, WantedZip};
use super::present::{self, HashedZip, PresentCheck, PresentZip};
use super::union::WantedRelease;
use super::{
    MirrorExtent, MirrorSettings, MirroredPackage, MirroredRelease, MirroredRoot, MirroringError,
    PackageState,
};
use crate::authenticate::Rules;
use crate::coverage::Attribution;
use crate::hash::{Hash, Hashes, Scheme};
use crate::locker::{self, LockError, ReleaseList};
use crate::lockfile::ProviderLock;
use crate::package::PackageId;
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

/// The checksum list that vouches for packages, or the reason why the lock files have to.
enum Vouching {
    List(Box<ReleaseList>),
    LockFiles(String),
    /// Everything that is wanted is there, so no list is needed.
    NotNeeded,
}

/// The hashes that vouch for a package.
struct Target {
    /// The `zh:` that it may have.
    zips: Hashes,
    /// The `h1:` that vouch for it where no `zh:` does.
    h1s: Hashes,
    /// The package need not exist.
    may_lack: bool,
}

impl Target {
    fn accepts(&self, zip: &HashedZip) -> bool {
        self.zips.contains(&zip.zh) || self.h1s.contains(&zip.h1)
    }
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
            errors: Vec::new(),
        };
        let dir = provider_dir(self.dir, &wanted.release.provider);
        let attribution = wanted.attribution(self.roots, self.facts);
        let mut present = self.present(&dir, wanted, &attribution);
        let vouching = match self.vouching(wanted, &attribution, &present) {
            Ok(vouching) => vouching,
            Err(errors) => {
                outcome.errors.extend(errors);
                return outcome;
            }
        };
        let targets = self.targets(wanted, &attribution, &vouching, &mut outcome);
        outcome.errors.extend(self.unmet_demands(wanted, &vouching));
        let offered = match &vouching {
            Vouching::List(list) => list
                .zips
                .iter()
                .map(|(platform, _)| platform.clone())
                .collect(),
            Vouching::LockFiles(_) | Vouching::NotNeeded => BTreeSet::new(),
        };
        if let Vouching::LockFiles(reason) = vouching {
            outcome.without_list = Some(reason);
        }
        let (mut hashed, missing) = sorted(&targets, &mut present, &mut outcome);
        let places_any = self.settings.extent == MirrorExtent::Place && outcome.errors.is_empty();
        let fetched = if places_any && !missing.is_empty() {
            self.fetch(&dir, wanted, &missing, &offered, &mut outcome)
        } else {
            leave(missing, &mut outcome);
            Vec::new()
        };
        for package in &fetched {
            hashed.insert(package.platform.clone(), package.zip.clone());
        }
        let contradictions = contradictions(wanted, &attribution, &hashed);
        outcome.errors.extend(contradictions);
        self.place(&dir, wanted, fetched, &mut outcome);
        outcome.packages.sort_by(|a, b| a.platform.cmp(&b.platform));
        outcome
    }

    /// Hashes what is there in the places of packages that may be wanted.
    fn present(
        &self,
        dir: &Path,
        wanted: &WantedRelease<'_>,
        attribution: &Attribution,
    ) -> BTreeMap<Platform, PresentZip> {
        let stated = present::stated(self.disk, dir, wanted);
        let mut platforms: BTreeSet<Platform> = wanted.platforms.known().into_iter().collect();
        if wanted.platforms.all {
            platforms.extend(attribution.offered().iter().cloned());
            platforms.extend(stated.keys().cloned());
        }
        let check = PresentCheck {
            disk: self.disk,
            facts: self.facts,
            trusted: self.roots[wanted.root()].trusted,
            existing: self.settings.existing,
        };
        let platforms: Vec<Platform> = platforms.into_iter().collect();
        let zips = parallel::map(self.settings.jobs, &platforms, |platform| {
            let _turn = self.jobs.enter();
            check.zip(dir, wanted, platform, stated.get(platform))
        });
        platforms.into_iter().zip(zips).collect()
    }

    /// Finds what vouches for packages: nothing more is asked if lock files record all that is there and wanted.
    fn vouching(
        &self,
        wanted: &WantedRelease<'_>,
        attribution: &Attribution,
        present: &BTreeMap<Platform, PresentZip>,
    ) -> Result<Vouching, Vec<MirroringError>> {
        let locked = self.locked_target(wanted, None, attribution, true);
        let is_settled = |(platform, zip): (&Platform, &PresentZip)| match zip {
            PresentZip::Hashed(zip) => locked.accepts(zip),
            PresentZip::None => {
                attribution.lacks(platform) && !wanted.platforms.named.contains(platform)
            }
            PresentZip::Unreadable(_) => false,
        };
        let is_known = !wanted.platforms.all || !attribution.offered().is_empty();
        if is_known && present.iter().all(is_settled) {
            return Ok(Vouching::NotNeeded);
        }
        let root = &self.roots[wanted.root()];
        let registry = match (self.settings.extent, root.registry) {
            (MirrorExtent::Check, _) => {
                return Ok(Vouching::LockFiles("--check makes no request".to_owned()));
            }
            (_, None) => return Ok(Vouching::LockFiles("no request may be made".to_owned())),
            (_, Some(registry)) => registry,
        };
        let rules = Rules {
            flavor: root.flavor,
            enforced: self.settings.enforced,
        };
        let now = registry.net.clock.now();
        let asked = [wanted.release.clone()];
        match locker::releases(registry.source, &asked, &rules, now).pop() {
            Some(Ok(vouched)) => Ok(match vouched.list {
                Some(list) => Vouching::List(Box::new(list)),
                None => Vouching::LockFiles("the registry does not offer the version".to_owned()),
            }),
            Some(Err(errors)) => {
                let no_answer = errors.iter().find_map(unanswered);
                match no_answer {
                    Some(reason) => Ok(Vouching::LockFiles(reason)),
                    None => Err(errors
                        .into_iter()
                        .map(|error| Box::new(error).into())
                        .collect()),
                }
            }
            None => Ok(Vouching::NotNeeded),
        }
    }

    /// Decides which packages are wanted, and what each must be.
    fn targets(
        &self,
        wanted: &WantedRelease<'_>,
        attribution: &Attribution,
        vouching: &Vouching,
        outcome: &mut MirroredRelease,
    ) -> BTreeMap<Platform, Target> {
        let platforms = &wanted.platforms;
        let mut targets: BTreeMap<Platform, Target> = BTreeMap::new();
        let Vouching::List(list) = vouching else {
            let mut all: BTreeSet<Platform> = platforms.known().into_iter().collect();
            if platforms.all {
                all.extend(attribution.offered().iter().cloned());
            }
            for platform in all {
                let may_lack = !platforms.named.contains(&platform);
                if may_lack && attribution.lacks(&platform) {
                    outcome.skipped.push(platform);
                    continue;
                }
                let target = self.locked_target(wanted, Some(&platform), attribution, may_lack);
                targets.insert(platform, target);
            }
            return targets;
        };
        for (platform, zh) in &list.zips {
            if platforms.all || platforms.has(platform) {
                let target = targets.entry(platform.clone()).or_insert_with(|| Target {
                    zips: Hashes::default(),
                    h1s: Hashes::default(),
                    may_lack: false,
                });
                target.zips.insert(zh.clone());
            }
        }
        let offered: BTreeSet<&Platform> = list.zips.iter().map(|(platform, _)| platform).collect();
        for platform in platforms.known() {
            if targets.contains_key(&platform) {
                continue;
            }
            // A platform that was typed must be there; one of the usual list is left out where the release has no
            // package for it, as `lock` does.
            if platforms.named.contains(&platform) {
                outcome.errors.push(MirroringError::NotOffered {
                    id: Box::new(id(wanted, &platform)),
                    offered: offered.iter().map(|platform| (*platform).clone()).collect(),
                });
            } else {
                outcome.skipped.push(platform);
            }
        }
        targets
    }

    /// Returns what lock files alone say of a package: one of the recorded zips, unless it is known to be that of
    /// another platform.
    fn locked_target(
        &self,
        wanted: &WantedRelease<'_>,
        platform: Option<&Platform>,
        attribution: &Attribution,
        may_lack: bool,
    ) -> Target {
        let may_be_its = |zh: &&Hash| {
            let platforms = attribution.platforms_of(zh);
            platform.is_none_or(|platform| {
                platforms.is_empty() || platforms.contains(platform) || attribution.may_share_zips()
            })
        };
        // An entry that came from a mirror records no list of the release, so its `h1:` is all that it has.
        let lists_none = |entry: &&&ProviderLock| !entry.hashes.lists_release();
        let h1s = wanted
            .entries
            .iter()
            .map(|(_, entry)| entry)
            .filter(lists_none)
            .flat_map(|entry| entry.hashes.of(Scheme::H1))
            .cloned()
            .collect();
        Target {
            zips: wanted.zips().iter().filter(may_be_its).cloned().collect(),
            h1s,
            may_lack,
        }
    }

    /// Fetches packages side by side; what could not be fetched is reported.
    fn fetch(
        &self,
        dir: &Path,
        wanted: &WantedRelease<'_>,
        missing: &[MissingPackage<'_>],
        offered: &BTreeSet<Platform>,
        outcome: &mut MirroredRelease,
    ) -> Vec<FetchedZip<'a>> {
        // Before the first request: a mirror that cannot be written needs no download.
        if let Err(cause) = self.disk.make_directory(dir) {
            let error = MirroringError::io(self.files, dir, "written", cause);
            outcome.errors.push(error);
            return Vec::new();
        }
        let root = &self.roots[wanted.root()];
        let fetcher = Fetcher {
            files: self.files,
            disk: self.disk,
            facts: self.facts,
            trusted: root.trusted,
            places: root.places,
            downloads: self.downloads,
            jobs: self.jobs,
        };
        let answers = parallel::map(self.settings.downloads, missing, |(platform, target, _)| {
            let package = WantedZip {
                id: id(wanted, platform),
                zips: &target.zips,
                h1s: &target.h1s,
                offered,
                may_lack: target.may_lack,
            };
            fetcher.fetch(dir, &package)
        });
        taken(missing, answers, outcome)
    }

    /// Gives packages their names; after an alarm none of the release gets one.
    fn place(
        &self,
        dir: &Path,
        wanted: &WantedRelease<'_>,
        fetched: Vec<FetchedZip<'_>>,
        outcome: &mut MirroredRelease,
    ) {
        let is_alarmed = outcome.errors.iter().any(MirroringError::is_alarm);
        for package in fetched {
            let FetchedZip {
                platform,
                draft,
                zip,
                from,
            } = package;
            // Its bytes are right for this platform, but a release that contradicts a lock file may be another one.
            if is_alarmed {
                outcome
                    .packages
                    .push(row(&platform, PackageState::Missing, Some(&zip), None));
                continue;
            }
            let name = zip_name(&wanted.release.provider, &wanted.release.version, &platform);
            match draft.place(OsStr::new(&name)) {
                Ok(()) => {
                    let placed = row(&platform, PackageState::Placed, Some(&zip), Some(from));
                    outcome.packages.push(placed);
                }
                Err(cause) => {
                    let path = dir.join(name);
                    let error = MirroringError::io(self.files, &path, "written", cause);
                    outcome.errors.push(error);
                    outcome
                        .packages
                        .push(row(&platform, PackageState::Missing, Some(&zip), None));
                }
            }
        }
    }

    /// Reports the demands of roots that the signed list does not meet (`locker` rules 3.4).
    fn unmet_demands(
        &self,
        wanted: &WantedRelease<'_>,
        vouching: &Vouching,
    ) -> Vec<MirroringError> {
        // Without a list nothing is known of signatures; the entries were judged when they were locked.
        let Vouching::List(list) = vouching else {
            return Vec::new();
        };
        let mut errors: Vec<MirroringError> = Vec::new();
        for (root, _) in &wanted.entries {
            let demands = self.roots[*root].demands;
            let pinned = demands.keys.get(&wanted.release.provider);
            let is_met = pinned.is_none_or(|key| {
                !list.signers.is_empty() && list.signers.iter().all(|signer| signer.is(key))
            });
            // Once for a release, though many roots may demand the same.
            if (demands.required && list.signers.is_empty() || !is_met) && errors.is_empty() {
                errors.push(MirroringError::Unsigned {
                    release: Box::new(wanted.release.clone()),
                    key: pinned.cloned(),
                });
            }
        }
        errors
    }
}

/// A package that is not there, what it must be, and what is there.
type MissingPackage<'t> = (&'t Platform, &'t Target, PackageState);

/// Sorts the wanted packages into those that are there and right, which are reported, and those to place.
fn sorted<'t>(
    targets: &'t BTreeMap<Platform, Target>,
    present: &mut BTreeMap<Platform, PresentZip>,
    outcome: &mut MirroredRelease,
) -> (BTreeMap<Platform, HashedZip>, Vec<MissingPackage<'t>>) {
    let (mut hashed, mut missing) = (BTreeMap::new(), Vec::new());
    for (platform, target) in targets {
        let state = match present.remove(platform) {
            Some(PresentZip::Hashed(zip)) if target.accepts(&zip) => {
                let kept = row(platform, PackageState::Kept, Some(&zip), None);
                outcome.packages.push(kept);
                hashed.insert(platform.clone(), zip);
                continue;
            }
            // It is replaced: whoever wrote it, `init` would refuse it or, without a lock file, install it.
            Some(PresentZip::Hashed(zip)) => PackageState::Wrong(format!(
                "it has {}, which is not that of the release",
                zip.zh
            )),
            Some(PresentZip::Unreadable(reason)) => PackageState::Wrong(reason),
            Some(PresentZip::None) | None => PackageState::Missing,
        };
        missing.push((platform, target, state));
    }
    (hashed, missing)
}

/// Takes the packages that were fetched out of the answers, and reports the others.
fn taken<'d>(
    missing: &[MissingPackage<'_>],
    answers: Vec<Result<PlacesAnswer<'d>, MirroringError>>,
    outcome: &mut MirroredRelease,
) -> Vec<FetchedZip<'d>> {
    let (mut fetched, mut lacking) = (Vec::new(), Vec::new());
    for ((platform, _, state), answer) in missing.iter().zip(answers) {
        let error = match answer {
            Ok(PlacesAnswer::Fetched(package)) => {
                fetched.push(package);
                continue;
            }
            Ok(PlacesAnswer::Lacking(error)) => {
                lacking.push((*platform, state, error));
                continue;
            }
            Err(error) => error,
        };
        // The other packages go on: a release of which one is missing serves the other platforms.
        let absent = row(platform, state.clone(), None, None);
        outcome.packages.push(absent);
        outcome.errors.push(error);
    }
    // A release has a package for some platform, so places without any of them are the wrong places.
    let is_alone = fetched.is_empty() && outcome.packages.is_empty();
    for (platform, state, error) in lacking {
        if !is_alone {
            outcome.skipped.push(platform.clone());
            continue;
        }
        let absent = row(platform, state.clone(), None, None);
        outcome.packages.push(absent);
        // The places say the same of each platform, so the first one speaks for all.
        if outcome.errors.is_empty() {
            outcome.errors.push(error);
        }
    }
    fetched
}

/// Reports packages that this run does not place.
fn leave(missing: Vec<MissingPackage<'_>>, outcome: &mut MirroredRelease) {
    let is_alone = outcome.packages.is_empty();
    for (platform, target, state) in missing {
        // Without a list it is unknown whether there is such a package, unless others of the release are there.
        let may_lack = target.may_lack && outcome.without_list.is_some();
        if may_lack && state == PackageState::Missing && !is_alone {
            outcome.skipped.push(platform.clone());
        } else {
            outcome.packages.push(row(platform, state, None, None));
        }
    }
}

/// Returns why a source gave no answer; `None` if it gave one that is wrong.
fn unanswered(error: &LockError) -> Option<String> {
    match error {
        // Only a registry that cannot be reached lets the lock file vouch. A list that is there and wrong is no
        // reason to do without one: that would be a downgrade which an attacker can cause.
        LockError::Asking { cause, .. } => Some(cause.to_string()),
        LockError::Source(cause) => Some(cause.to_string()),
        _ => None,
    }
}

/// Compares packages with the hashes that each lock file records for them.
fn contradictions(
    wanted: &WantedRelease<'_>,
    attribution: &Attribution,
    hashed: &BTreeMap<Platform, HashedZip>,
) -> Vec<MirroringError> {
    let mut errors = Vec::new();
    for (platform, zip) in hashed {
        let is_of_another = |h1: &Hash| {
            // An entry has an `h1:` for each platform, and nothing in it says which; those that are known to belong to
            // another platform cannot contradict this one.
            let known = attribution.platforms_of(h1);
            !known.is_empty() && !known.contains(platform)
                || hashed
                    .iter()
                    .any(|(other, zip)| other != platform && zip.h1 == *h1)
        };
        let (mut recorded, mut other_h1, mut other_zip) = (0, Vec::new(), Vec::new());
        for (root, entry) in &wanted.entries {
            let hashes = &entry.hashes;
            // The recorded `h1:` is enough: OpenTofu and Terraform accept a package by any hash that matches.
            if hashes.contains(&zip.h1) {
                continue;
            }
            let left = hashes
                .of(Scheme::H1)
                .filter(|h1| !is_of_another(h1))
                .count();
            if left > 0 {
                recorded = recorded.max(left);
                other_h1.push(*root);
            } else if hashes.lists_release() && !hashes.contains(&zip.zh) {
                other_zip.push(*root);
            }
        }
        let id = || Box::new(id(wanted, platform));
        if !other_h1.is_empty() {
            errors.push(MirroringError::H1Differs {
                id: id(),
                found: zip.h1.clone(),
                recorded,
                roots: other_h1,
            });
        }
        if !other_zip.is_empty() {
            errors.push(MirroringError::ZipNotLocked {
                id: id(),
                found: zip.zh.clone(),
                roots: other_zip,
            });
        }
    }
    errors
}

fn id(wanted: &WantedRelease<'_>, platform: &Platform) -> PackageId {
    PackageId {
        provider: wanted.release.provider.clone(),
        version: wanted.release.version.clone(),
        platform: platform.clone(),
    }
}

fn row(
    platform: &Platform,
    state: PackageState,
    zip: Option<&HashedZip>,
    from: Option<String>,
) -> MirroredPackage {
    MirroredPackage {
        platform: platform.clone(),
        state,
        zh: zip.map(|zip| zip.zh.clone()),
        h1: zip.map(|zip| zip.h1.clone()),
        bytes: zip.map_or(0, |zip| zip.bytes),
        from,
    }
}
