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

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

pub use self::error::{LeftPlace, MirroringError};
pub use self::outcome::{
    ByteOrigin, MirrorOutcome, MirroredForm, MirroredPackage, MirroredRelease, PackageState,
    package_path,
};
pub use self::request::{
    ExistingCheck, MirrorExtent, MirrorLayout, MirrorSettings, MirroredRoot, Place,
};
pub use self::usage::{MirrorUse, cli_config};

use self::documents::DocumentRun;
use self::layout::{INDEX, ReleaseDirs, provider_dir, version_dir};
use self::present::PresentCheck;
use self::prune::Pruning;
use self::release::ReleaseRun;
use self::union::WantedRelease;
use crate::addr::ProviderAddr;
use crate::locker::{Release, TrustedFacts};
use crate::parallel::{self, Gate};
use crate::store::Facts;
use crate::world::{Disk, clean};

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
    let new_dirs = missing_directories(disk, settings.dir);
    let (dir, written) = match opened(disk, settings.dir, settings) {
        Ok(opened) => opened,
        Err(error) => {
            outcome.errors.push(error);
            return outcome;
        }
    };
    let run = ReleaseRun {
        files: disk,
        disk: written,
        dir: &dir,
        facts,
        settings,
        roots,
        downloads: &Gate::new(settings.downloads),
        jobs: &Gate::new(settings.jobs),
    };
    if settings.extent == MirrorExtent::Place {
        sweep(written, &dir, &wanted);
    }
    outcome.releases = parallel::map(settings.downloads, &wanted, |wanted| run.mirror(wanted));
    fold_write_errors(&mut outcome.releases);
    if settings.extent == MirrorExtent::Place {
        remove_empty(written, &dir, &wanted);
        for made in new_dirs {
            drop(disk.remove_empty(made));
        }
    }
    // Documents list only zips; the documents of another layout are not changed.
    if !settings.layout.has_zips() {
        return outcome;
    }
    let by_provider = by_provider(&outcome.releases);
    let documents = document_run(disk, written, facts, settings, &dir);
    for (provider, releases) in &by_provider {
        match documents.write(provider, releases) {
            Ok(differing) => outcome.documents.extend(differing),
            Err(error) => outcome.errors.push(error),
        }
    }
    let (files, errors) = oci::write(disk, settings, &dir, &by_provider);
    outcome.oci_files = files;
    outcome.errors.extend(errors);
    outcome
}

fn by_provider(releases: &[MirroredRelease]) -> BTreeMap<&ProviderAddr, Vec<&MirroredRelease>> {
    let mut by_provider: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for release in releases {
        let provider = &release.release.provider;
        by_provider.entry(provider).or_default().push(release);
    }
    by_provider
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
    let (dir, written) = match opened(disk, settings.dir, settings) {
        Ok(opened) => opened,
        Err(error) => {
            outcome.errors.push(error);
            return;
        }
    };
    let pruning = Pruning {
        disk: written,
        dir: &dir,
        settings,
        wanted: &outcome.wanted,
    };
    let (removed, providers) = match pruning.remove() {
        Ok(removed) => removed,
        Err(error) => {
            outcome.errors.push(error);
            return;
        }
    };
    outcome.superfluous = removed;
    let pruned = oci::layouts(disk, settings, &dir).and_then(|layouts| {
        layouts.map_or(Ok(Vec::new()), |layouts| layouts.prune(&outcome.wanted))
    });
    match pruned {
        Ok(removed) => outcome.superfluous.extend(removed),
        Err(error) => outcome.errors.push(error),
    }
    // The documents still list the removed packages.
    if settings.extent != MirrorExtent::Place || !settings.layout.has_zips() {
        return;
    }
    let documents = document_run(disk, written, facts, settings, &dir);
    for provider in providers {
        let releases: Vec<&MirroredRelease> = outcome
            .releases
            .iter()
            .filter(|release| release.release.provider == provider)
            .collect();
        match documents.write(&provider, &releases) {
            Ok(differing) => outcome.documents.extend(differing),
            Err(error) => outcome.errors.push(error),
        }
    }
}

/// Returns the directories that have to be made for a path, the innermost first.
fn missing_directories<'p>(disk: &dyn Disk, path: &'p Path) -> Vec<&'p Path> {
    let is_missing = |path: &&Path| {
        let kind = disk.kind(path);
        kind.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    };
    path.ancestors().take_while(is_missing).collect()
}

/// Removes the directories of releases that hold nothing, as those of a failed download.
fn remove_empty(disk: &dyn Disk, dir: &Path, wanted: &[WantedRelease<'_>]) {
    for wanted in wanted {
        let version = ReleaseDirs::of(dir, &wanted.release).version;
        for path in version.ancestors().take_while(|path| *path != dir) {
            // One that holds something, or that another run writes to, stays.
            drop(disk.remove_empty(path));
        }
    }
}

/// Gives I/O errors with the same cause the same text.
fn fold_write_errors(releases: &mut [MirroredRelease]) {
    let mut paths: BTreeMap<(&str, String), BTreeSet<PathBuf>> = BTreeMap::new();
    for error in releases.iter().flat_map(|release| &release.errors) {
        if let MirroringError::Io {
            path,
            action,
            cause,
            ..
        } = error
        {
            // A full disk is reported once.
            let of_cause = paths.entry((action, cause.to_string())).or_default();
            of_cause.insert(path.clone());
        }
    }
    // The text names the first path in order: the path that fails first depends on threads, but the text must not.
    for release in releases {
        for error in std::mem::take(&mut release.errors) {
            release.add_error(match error {
                MirroringError::Io { action, cause, .. } => {
                    let of_cause = &paths[&(action, cause.to_string())];
                    let path = of_cause.first().expect("at least its own path").clone();
                    let more = of_cause.len() - 1;
                    MirroringError::Io {
                        path,
                        more,
                        action,
                        cause,
                    }
                }
                error => error,
            });
        }
    }
}

/// Removes temporary files of killed runs from the directories of releases, even if no package is missing.
fn sweep(disk: &dyn Disk, dir: &Path, wanted: &[WantedRelease<'_>]) {
    for wanted in wanted {
        let Release { provider, version } = &wanted.release;
        let provider_dir = provider_dir(dir, provider);
        disk.sweep(&provider_dir.join(INDEX));
        disk.sweep(&version_dir(&provider_dir, version).join(INDEX));
    }
}

/// Makes a directory, unless the run writes nothing; returns its path without links, and the disk for writing to it.
fn opened<'d>(
    disk: &'d dyn Disk,
    dir: &Path,
    settings: &MirrorSettings<'_>,
) -> Result<(PathBuf, &'d dyn Disk), MirroringError> {
    // Checked before either is made, so that a refused run leaves no empty directory.
    apart(disk, settings)?;
    if settings.extent == MirrorExtent::Place {
        disk.make_directory(dir)
            .map_err(|cause| MirroringError::io(disk, dir, "written", cause))?;
    }
    match disk.resolve(dir) {
        // Links below it are not followed: they may lead out of the mirror.
        Ok(resolved) => Ok((resolved, disk.without_links())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((clean(dir), disk)),
        Err(cause) => Err(MirroringError::io(disk, dir, "read", cause)),
    }
}

/// Refuses an OCI layout in the mirror and a mirror in the layout: both have an `index.json` for each provider.
fn apart(disk: &dyn Disk, settings: &MirrorSettings<'_>) -> Result<(), MirroringError> {
    let Some(layout) = settings.oci_layout else {
        return Ok(());
    };
    // The directories may not exist yet, but a directory above may be a link into the other one.
    let resolved = |path: &Path| {
        path.ancestors()
            .find_map(|above| {
                let rest = path.strip_prefix(above).ok()?;
                Some(disk.resolve(above).ok()?.join(rest))
            })
            .unwrap_or_else(|| path.to_owned())
    };
    let (of_layout, of_mirror) = (resolved(&clean(layout)), resolved(&clean(settings.dir)));
    if of_layout.starts_with(&of_mirror) || of_mirror.starts_with(&of_layout) {
        return Err(MirroringError::LayoutInMirror {
            layout: layout.to_owned(),
            mirror: settings.dir.to_owned(),
        });
    }
    Ok(())
}

fn document_run<'a>(
    files: &'a dyn Disk,
    disk: &'a dyn Disk,
    facts: &'a dyn Facts,
    settings: &MirrorSettings<'_>,
    dir: &'a Path,
) -> DocumentRun<'a> {
    DocumentRun {
        dir,
        extent: settings.extent,
        files,
        check: PresentCheck {
            disk,
            facts,
            trusted: TrustedFacts::OWN,
            existing: settings.existing,
        },
    }
}
