//! The directory of a mirror, or of the OCI layouts beside it, as a run writes to it.

use std::io;
use std::path::{Path, PathBuf};

use super::present::MAX_DOCUMENT_BYTES;
use super::{MirrorExtent, MirrorSettings, MirroringError};
use crate::world::{Disk, Exclusive, Replacement, clean};

/// An opened directory. In a run that writes nothing it may be missing.
pub(super) struct MirrorDirectory<'a> {
    /// The disk that it is written to, which follows no link.
    pub(super) disk: &'a dyn Disk,
    /// Its path, without links on the way.
    pub(super) path: PathBuf,
    pub(super) settings: &'a MirrorSettings<'a>,
}

impl<'a> MirrorDirectory<'a> {
    /// Makes a directory, unless the run writes nothing.
    ///
    /// # Errors
    /// If it cannot be made or read, or if the mirror and its OCI layouts are in each other.
    pub(super) fn open(
        disk: &'a dyn Disk,
        dir: &Path,
        settings: &'a MirrorSettings<'a>,
    ) -> Result<Self, MirroringError> {
        // Checked before either is made, so that a refused run leaves no empty directory.
        if let Some(layout) = settings.oci_layout {
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
            // Both have an `index.json` for each provider.
            if of_layout.starts_with(&of_mirror) || of_mirror.starts_with(&of_layout) {
                return Err(MirroringError::LayoutInMirror {
                    layout: layout.to_owned(),
                    mirror: settings.dir.to_owned(),
                });
            }
        }
        if settings.extent == MirrorExtent::Place {
            disk.make_directory(dir)
                .map_err(|cause| MirroringError::io(disk, dir, "written", cause))?;
        }
        let (disk, path) = match disk.resolve(dir) {
            // Links below it are not followed: they may lead out of the mirror.
            Ok(resolved) => (disk.without_links(), resolved),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (disk, clean(dir)),
            Err(cause) => return Err(MirroringError::io(disk, dir, "read", cause)),
        };
        Ok(Self {
            disk,
            path,
            settings,
        })
    }

    pub(super) fn writes(&self) -> bool {
        self.settings.extent == MirrorExtent::Place
    }

    /// Waits for the right to write in a directory; `None` in a run that writes nothing.
    pub(super) fn held(&self, dir: &Path) -> Result<Option<Exclusive>, MirroringError> {
        if !self.writes() {
            return Ok(None);
        }
        let held = self.disk.exclusive(&dir.join(super::layout::INDEX));
        held.map(Some)
            .map_err(|cause| self.failure(dir, "written", cause))
    }

    /// Reads a document; `None` if it is not there.
    pub(super) fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, MirroringError> {
        match self.disk.read(path, MAX_DOCUMENT_BYTES) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(self.failure(path, "read", cause)),
        }
    }

    /// Replaces a document that differs; returns its path if it does. Writes nothing without the right to write in its
    /// directory.
    pub(super) fn replace(
        &self,
        held: Option<&Exclusive>,
        path: PathBuf,
        new: &[u8],
    ) -> Result<Option<PathBuf>, MirroringError> {
        let old = self.read(&path)?;
        // Not written again: caches in front of a mirror depend on the modification time.
        if old.as_deref() == Some(new) {
            return Ok(None);
        }
        if let Some(held) = held {
            let replacement = Replacement {
                path: &path,
                old: old.as_deref(),
                new,
            };
            self.disk
                .replace_held(held, replacement)
                .map_err(|cause| self.failure(&path, "written", cause))?;
        }
        Ok(Some(path))
    }

    /// Removes a file or directory, unless the run writes nothing; returns its path.
    pub(super) fn delete(&self, path: PathBuf) -> Result<PathBuf, MirroringError> {
        if self.writes() {
            self.disk
                .delete(&path)
                .map_err(|cause| self.failure(&path, "removed", cause))?;
        }
        Ok(path)
    }

    /// Makes the error of a path in the directory.
    pub(super) fn failure(
        &self,
        path: &Path,
        action: &'static str,
        cause: io::Error,
    ) -> MirroringError {
        MirroringError::io(self.disk, path, action, cause)
    }
}
