//! Bundles of a run: those that packages are copied from, and the one to write.

use std::io;
use std::path::{Component, Path, PathBuf};

use crate::diag::causes;
use crate::hash::{hex_of_digest, sha256};
use crate::mirror::bundle::{Bundle, BundleError, BundleRequest, BundledLock, write_bundle};
use crate::mirror::{MirrorOutcome, MirrorSettings, MirroringError};
use crate::mirroring::{MirrorArgs, report};
use crate::report::Failure;
use crate::report::json::{BundleBase, MirrorBundle};
use crate::run::World;
use crate::run::root::Root;
use crate::run::session::Session;
use crate::world::{FileKind, Files};

/// A bundle to write, checked as far as possible before packages are fetched.
pub(super) struct PlannedBundle {
    /// The path as typed.
    shown: PathBuf,
    /// The path without links.
    path: PathBuf,
    base: Option<Bundle>,
    /// The lock files of the roots that were opened.
    locks: Vec<BundledLock>,
}

/// Opens a bundle that an option names.
pub(super) fn open(files: &dyn Files, path: &Path, option: &str) -> Result<Bundle, Failure> {
    Bundle::open(files, path).map_err(|error| {
        let help = match error {
            BundleError::Io(_) => format!("name with {option} a file that `lockctl mirror --bundle` wrote"),
            BundleError::FormatVersion { .. } => "a newer lockctl wrote it; use that".to_owned(),
            _ => format!(
                "name with {option} a file that `lockctl mirror --bundle` wrote; if it is one, it was damaged on its way: \
                 copy it again"
            ),
        };
        let words = std::iter::once(error.to_string()).chain(causes(&error));
        Failure {
            title: format!("{} cannot be used as a bundle", path.display()),
            causes: words.collect(),
            help: Some(help),
        }
    })
}

/// Checks the options about a bundle, and opens the bundle that it builds on.
pub(super) fn plan(args: &MirrorArgs, world: World<'_>) -> Result<Option<PlannedBundle>, Failure> {
    let Some(path) = &args.bundle else {
        return Ok(None);
    };
    if !args.layout().has_zips() {
        return Err(
            Failure::new("a bundle holds zips, and --unpacked alone places none")
                .help("--unpacked=also makes both"),
        );
    }
    let disk = world.disk;
    let unwritable = |cause: String| {
        Failure::new(format!("{} cannot be written", path.display())).because(cause)
    };
    // Checked before the first download: if the file cannot be written, downloads are useless.
    let target = match disk.kind(path) {
        // Links are followed, so that both names of one file are recognised below.
        Ok(FileKind::File) => disk.resolve(path),
        Ok(_) => return Err(unwritable("it is not a regular file".to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let above = path.parent().filter(|above| !above.as_os_str().is_empty());
            let name = path.file_name().unwrap_or_default();
            disk.resolve(above.unwrap_or(Path::new(".")))
                .map(|above| above.join(name))
        }
        Err(error) => Err(error),
    };
    let target = target.map_err(|error| unwritable(error.to_string()))?;
    let base = match &args.since {
        Some(since) if disk.resolve(since).is_ok_and(|since| since == target) => {
            return Err(Failure::new(format!(
                "{} would be replaced by a bundle that builds on it",
                since.display()
            ))
            .help("give --bundle another name"));
        }
        Some(since) => Some(open(disk, since, "--since")?),
        None => None,
    };
    Ok(Some(PlannedBundle {
        shown: path.clone(),
        path: target,
        base,
        locks: Vec::new(),
    }))
}

impl PlannedBundle {
    /// Adds the lock file of a root to the manifest.
    pub(super) fn note(&mut self, root: &Root, session: &Session<'_>) {
        let Some(lock) = &root.lock else { return };
        // Relative to the directory of the run, so that a checkout elsewhere makes the same bundle.
        let current = session.world.env.current_dir().unwrap_or_default();
        let dir = session.options.chdir.as_deref().unwrap_or(Path::new(""));
        let path = root.lock_path.as_path();
        let path = [dir, &current.join(dir)]
            .iter()
            .find_map(|dir| path.strip_prefix(dir).ok())
            .unwrap_or(path);
        let parts: Vec<_> = path
            .components()
            .filter(|part| *part != Component::CurDir)
            .map(|part| match part {
                Component::RootDir => "".into(),
                part => part.as_os_str().to_string_lossy(),
            })
            .collect();
        self.locks.push(BundledLock {
            path: parts.join("/"),
            sha256: hex_of_digest(&sha256(&lock.bytes)),
        });
    }

    /// Writes the bundle of an outcome without missing packages.
    pub(super) fn write(
        self,
        world: World<'_>,
        settings: &MirrorSettings<'_>,
        outcome: &MirrorOutcome,
    ) -> Result<MirrorBundle, Failure> {
        let request = BundleRequest {
            path: &self.path,
            locks: self.locks,
            base: self.base.as_ref(),
        };
        let written = write_bundle(world.disk, settings, outcome, request).map_err(|error| {
            // The path as it was typed, and not the one without links.
            let error = match error {
                MirroringError::Io {
                    path,
                    action,
                    cause,
                } if path == self.path => MirroringError::Io {
                    path: self.shown.clone(),
                    action,
                    cause,
                },
                other => other,
            };
            report::failure(&error)
        })?;
        Ok(MirrorBundle {
            path: self.shown.display().to_string(),
            packages: written.packages,
            bytes: written.bytes,
            left_out: written.left_out,
            manifest_sha256: hex_of_digest(&written.manifest),
            base: self.base.as_ref().map(|base| BundleBase {
                path: base.path().display().to_string(),
                manifest_sha256: hex_of_digest(base.digest()),
            }),
            changed: written.is_changed,
        })
    }
}
