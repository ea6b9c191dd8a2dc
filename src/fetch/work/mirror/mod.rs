//! Packages of many lock files in one directory, which serves as filesystem mirror and as network mirror.
//!
//! [`run`] takes all lock files at once: each release is looked up once, for any number of roots. A package is
//! placed only if the signed list of its registry names its `zh:`, or if that list cannot be requested and the
//! lock file names it. Its bytes may then come from anywhere, since the hash names them.
//!
//! Invariant: nothing has its final name before it was hashed and compared with every lock file. Each file and each
//! unpacked package is written beside its place and renamed; the documents of a provider come after its packages, and
//! its OCI image layout, if one is wanted, after both.

pub mod bundle;
mod compare;
mod copy;
mod demands;
mod directory;
mod documents;
mod error;
mod layout;
mod missing;
mod oci;
mod outcome;
mod places;
mod present;
mod prune;
mod release;
mod request;
mod union;
mod unpacked;
mod usage;
mod vouching;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

pub use self::error::{LeftPlace, MirroringError};
pub use self::outcome::{
    MirrorOutcome, MirroredForm, MirroredPackage, MirroredRelease, MirroredState,
};
pub use self::request::{
    ExistingCheck, MirrorExtent, MirrorLayout, MirrorSettings, MirroredRoot, Place,
};
pub use self::usage::{MirrorUse, cli_config};

use self::directory::MirrorDirectory;
use self::layout::{INDEX, ReleaseDirs};
use self::release::ReleaseRun;
use crate::addr::ProviderAddr;
use crate::parallel::{self, Gate};
use crate::store::Facts;
use crate::world::Disk;

/// Places the packages that lock files need, and writes the documents that list them.
///
/// Roots are judged by their own rules; a release that several name is judged by those of the first.
#[must_use]
pub fn run(
    disk: &dyn Disk,
    facts: &dyn Facts,
    settings: &MirrorSettings<'_>,
    roots: &[MirroredRoot<'_>],
) -> MirrorOutcome {
    let wanted = union::unite(roots);
    let mut outcome = MirrorOutcome {
        wanted: wanted
            .iter()
            .map(|wanted| (wanted.release.clone(), wanted.platforms.clone()))
            .collect(),
        ..MirrorOutcome::default()
    };
    let is_missing = |path: &&Path| {
        let kind = disk.kind(path);
        kind.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    };
    // Directories that this run makes, the innermost first, as they are removed again.
    let new_dirs: Vec<&Path> = settings.dir.ancestors().take_while(is_missing).collect();
    let Some(mirror) = outcome.sound(MirrorDirectory::open(disk, settings.dir, settings)) else {
        return outcome;
    };
    let run = ReleaseRun {
        files: disk,
        mirror: &mirror,
        facts,
        roots,
        downloads: &Gate::new(settings.downloads),
        jobs: &Gate::new(settings.jobs),
    };
    if mirror.writes() {
        // Temporary files of killed runs, even if no package is missing.
        for wanted in &wanted {
            let dirs = ReleaseDirs::of(&mirror.path, &wanted.release);
            mirror.disk.sweep(&dirs.provider.join(INDEX));
            mirror.disk.sweep(&dirs.version.join(INDEX));
        }
    }
    outcome.releases = parallel::map(settings.downloads, &wanted, |wanted| run.mirror(wanted));
    fold_write_errors(&mut outcome.releases);
    if mirror.writes() {
        // Directories of releases that hold nothing, as those of a failed download.
        for wanted in &wanted {
            let version = ReleaseDirs::of(&mirror.path, &wanted.release).version;
            for path in version.ancestors().take_while(|path| *path != mirror.path) {
                // One that holds something, or that another run writes to, stays.
                drop(mirror.disk.remove_empty(path));
            }
        }
        for made in new_dirs {
            drop(disk.remove_empty(made));
        }
    }
    // Documents list only zips; the documents of another layout are not changed.
    if settings.layout.has_zips() {
        write_documents(disk, facts, &mirror, &mut outcome);
    }
    outcome
}

/// Writes the documents of the mirror and its OCI image layouts, provider by provider.
fn write_documents(
    disk: &dyn Disk,
    facts: &dyn Facts,
    mirror: &MirrorDirectory<'_>,
    outcome: &mut MirrorOutcome,
) {
    let releases = std::mem::take(&mut outcome.releases);
    let mut by_provider: BTreeMap<&ProviderAddr, Vec<&MirroredRelease>> = BTreeMap::new();
    for release in &releases {
        let provider = &release.release.provider;
        by_provider.entry(provider).or_default().push(release);
    }
    for (provider, releases) in &by_provider {
        let written = documents::write(mirror, facts, provider, releases);
        let differing = outcome.sound(written);
        outcome.documents.extend(differing.into_iter().flatten());
    }
    if let Some(Some(layouts)) = outcome.sound(oci::layouts(disk, mirror)) {
        for (provider, releases) in &by_provider {
            // Layouts are independent of each other, so the error of one does not stop the others.
            let differing = outcome.sound(layouts.write(provider, releases));
            outcome.oci_files.extend(differing.into_iter().flatten());
        }
    }
    outcome.releases = releases;
}

/// Removes the packages that no lock file of a run needs, and adds them to its outcome.
///
/// Only for a run that could read every lock file: packages of the others would be removed.
pub fn prune(
    disk: &dyn Disk,
    facts: &dyn Facts,
    settings: &MirrorSettings<'_>,
    outcome: &mut MirrorOutcome,
) {
    let Some(mirror) = outcome.sound(MirrorDirectory::open(disk, settings.dir, settings)) else {
        return;
    };
    let pruned = mirror.prune(&outcome.wanted);
    let Some((removed, providers)) = outcome.sound(pruned) else {
        return;
    };
    outcome.superfluous = removed;
    if let Some(Some(layouts)) = outcome.sound(oci::layouts(disk, &mirror)) {
        let removed = layouts.prune(&outcome.wanted);
        let removed = outcome.sound(removed).unwrap_or_default();
        outcome.superfluous.extend(removed);
    }
    // The documents still list the removed packages.
    if !mirror.writes() || !settings.layout.has_zips() {
        return;
    }
    for provider in providers {
        let releases: Vec<&MirroredRelease> = outcome
            .releases
            .iter()
            .filter(|release| release.release.provider == provider)
            .collect();
        let written = documents::write(&mirror, facts, &provider, &releases);
        let differing = outcome.sound(written).unwrap_or_default();
        outcome.documents.extend(differing);
    }
}

/// Gives I/O errors with the same cause the same path, so that a full disk is reported once.
fn fold_write_errors(releases: &mut [MirroredRelease]) {
    let mut first_paths: BTreeMap<(&str, String), PathBuf> = BTreeMap::new();
    let mut fold = |error: &mut MirroringError| {
        if let MirroringError::Io {
            path,
            action,
            cause,
        } = error
        {
            // The path that fails first depends on threads, but the text must not.
            let first = first_paths
                .entry((action, cause.to_string()))
                .or_insert_with(|| path.clone());
            if *path < *first {
                first.clone_from(path);
            }
            path.clone_from(first);
        }
    };
    // The second time every error finds the first path of all.
    for _ in 0..2 {
        releases
            .iter_mut()
            .flat_map(|release| &mut release.errors)
            .for_each(&mut fold);
    }
    for release in releases {
        for error in std::mem::take(&mut release.errors) {
            release.add_error(error);
        }
    }
}
