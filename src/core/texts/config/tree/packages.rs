//! Packages of modules among the files of a root: each is where installing would have put it.
//!
//! Nothing of a package is on the disk. Its files appear below the directory that the programs would
//! have made for its call, so that everything that depends on paths works out as it does for them.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use crate::remote_module::PackageFiles;
use crate::world::{DirectoryMemo, Files, Layer, clean};

/// The files of a root, with packages among them.
pub(in crate::texts::config) struct Packages<'a> {
    disk: &'a dyn Files,
    mounted: RwLock<BTreeMap<PathBuf, Mounted>>,
}

/// A package at its place.
#[derive(Clone)]
pub(in crate::texts::config) struct Mounted {
    pub(in crate::texts::config) files: PackageFiles,
    /// The name of the package in messages.
    pub(in crate::texts::config) shown: Arc<str>,
    /// The directory of this machine that it is, if the programs would have made a link to it.
    pub(in crate::texts::config) place: Option<Arc<Path>>,
}

impl<'a> Packages<'a> {
    pub(in crate::texts::config) fn new(disk: &'a dyn Files) -> Self {
        Self {
            disk,
            mounted: RwLock::default(),
        }
    }

    /// Puts a package at a path; what is there on the disk is hidden.
    pub(in crate::texts::config) fn mount(&self, at: PathBuf, package: Mounted) {
        let mut mounted = self.mounted.write().unwrap_or_else(PoisonError::into_inner);
        // A package of this machine is a link in the programs, so calls in it lead to its own directory
        // (rules 5.13).
        if let Some(place) = &package.place {
            mounted.insert(place.to_path_buf(), package.clone());
        }
        mounted.insert(at, package);
    }

    /// Returns a directory without the links on the way to it, from a root on. Where no link is on the way it
    /// stays as it is (rules 5.13); `path` is where it is read, and `real_root` the root without links.
    pub(in crate::texts::config) fn without_links(
        &self,
        real_root: &Path,
        dir: &Path,
        path: &Path,
    ) -> io::Result<PathBuf> {
        if let Some((package, inside)) = self.package(path) {
            let resolved = package.files.resolve(&inside)?;
            let top = dir.ancestors().nth(inside.components().count());
            let top = package.place.as_deref().or(top);
            return Ok(top.unwrap_or(Path::new("")).join(resolved));
        }
        // Only where a link is on the way does the resolved path count: messages show paths as the user
        // wrote them.
        let real = self.disk.resolve(path)?;
        if clean(&real_root.join(dir)) == real {
            return Ok(dir.to_owned());
        }
        // The way from the root to the directory, by the nearest directory above both.
        let mut up = PathBuf::new();
        for above in real_root.ancestors() {
            if let Ok(down) = real.strip_prefix(above) {
                return Ok(up.join(down));
            }
            up.push("..");
        }
        // On another drive of Windows no way leads there.
        Ok(real)
    }

    /// Returns true for a path in a package that was fetched, whose paths do not lead out of it. A directory of this
    /// machine may be anywhere.
    pub(in crate::texts::config) fn is_contained(&self, path: &Path) -> bool {
        self.package(path)
            .is_some_and(|(package, _)| package.place.is_none())
    }

    /// Returns the package that a path leads into, with the path inside.
    fn package(&self, path: &Path) -> Option<(Mounted, PathBuf)> {
        let mounted = self.mounted.read().unwrap_or_else(PoisonError::into_inner);
        // Most runs fetch nothing, and every read comes here.
        if mounted.is_empty() {
            return None;
        }
        path.ancestors().find_map(|above| {
            let package = mounted.get(above)?.clone();
            let inside = path.strip_prefix(above).ok()?.to_owned();
            Some((package, inside))
        })
    }
}

impl Layer for Packages<'_> {
    fn base(&self) -> &dyn Files {
        self.disk
    }

    fn pass<T>(
        &self,
        path: &Path,
        ask: impl FnOnce(&dyn Files, &Path) -> io::Result<T>,
    ) -> io::Result<T> {
        match self.package(path) {
            Some((package, inside)) => ask(&*package.files, &inside),
            None => ask(self.disk, path),
        }
    }

    /// A path in a package has no links here: it is resolved where it is read.
    fn real(&self, path: &Path) -> io::Result<PathBuf> {
        match self.package(path) {
            Some((package, inside)) => {
                let resolved = package.files.resolve(&inside)?;
                let above = path.ancestors().nth(inside.components().count());
                let top = package.place.as_deref().or(above);
                Ok(top.unwrap_or(Path::new("")).join(resolved))
            }
            None => self.disk.resolve(path),
        }
    }

    /// A file of a package has the name of that before its own.
    fn name(&self, path: &Path) -> String {
        match self.package(path) {
            Some((package, inside)) if inside.as_os_str().is_empty() => package.shown.to_string(),
            Some((package, inside)) => {
                let inside = inside.display().to_string().replace('\\', "/");
                format!("{}//{inside}", package.shown)
            }
            None => self.disk.shown(path),
        }
    }

    /// The files of a package are those of its call.
    fn directory_memo(&self, dir: &Path) -> Option<DirectoryMemo> {
        match self.package(dir) {
            Some(_) => None,
            None => self.disk.memo(dir),
        }
    }
}
