//! Where each path of the cache leads: the generated files, the unit, the package (rules 7).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::{self, Cursor, ErrorKind};
use std::path::{Component, Path, PathBuf};

use super::{Assembled, Base, LOCK_FILE, below_text};
use crate::world::{DirEntry, FileKind, Files, ReadSeek};

/// Whose copy is meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Copied {
    Package,
    Unit,
}

/// Where a path of the cache leads.
pub(super) enum Found<'a> {
    Generated(&'a [u8]),
    File(&'a dyn Files, PathBuf, FileKind),
    /// Only generated files lie below.
    Directory,
}

impl Assembled<'_> {
    fn is_void(&self, path: &Path) -> bool {
        path.starts_with(self.unit_dir.join(".terragrunt-cache"))
    }

    pub(super) fn find(&self, path: &Path) -> Option<Found<'_>> {
        if let Some(generated) = self.generated.get(path) {
            return generated.as_deref().map(Found::Generated);
        }
        let inside = self.inside(path)?;
        let found = self.in_unit(path).or_else(|| self.in_base(&inside));
        let has_generated = || {
            let mut files = self.generated.iter();
            files.any(|(file, bytes)| bytes.is_some() && file != path && file.starts_with(path))
        };
        found.or_else(|| has_generated().then_some(Found::Directory))
    }

    /// Finds a file of the unit, which lies over the module's directory.
    fn in_unit(&self, path: &Path) -> Option<Found<'_>> {
        let inside = below_text(&self.module_dir, path)?;
        self.at(self.files, &self.unit_dir, &inside, Copied::Unit)
    }

    pub(super) fn in_base(&self, inside: &str) -> Option<Found<'_>> {
        match &self.base {
            Base::Local(dir) => self.at(self.files, dir, inside, Copied::Package),
            Base::File(file) if inside.is_empty() => {
                let dir = file.parent().unwrap_or(file).to_owned();
                Some(Found::File(self.files, dir, FileKind::Directory))
            }
            Base::File(file) => {
                let is_it = file.file_name() == Some(OsStr::new(inside));
                is_it.then(|| Found::File(self.files, file.clone(), FileKind::File))
            }
            Base::Fetched(package) => {
                let path = package.dir.join(inside);
                let kind = package.files.kind(&path).ok()?;
                Some(Found::File(package.files, path, kind))
            }
        }
    }

    fn at<'a>(
        &self,
        files: &'a dyn Files,
        dir: &Path,
        inside: &str,
        whose: Copied,
    ) -> Option<Found<'a>> {
        let path = dir.join(inside);
        let kind = files.kind(&path).ok()?;
        self.keeps(inside, kind, whose)
            .then_some(Found::File(files, path, kind))
    }

    /// Returns whether a path is copied (rules 7.3, 7.4).
    fn keeps(&self, inside: &str, kind: FileKind, whose: Copied) -> bool {
        if inside.is_empty() {
            return true;
        }
        if self.exclude.iter().any(|glob| glob.covers(inside)) {
            return false;
        }
        let (above, name) = match inside.rsplit_once('/') {
            Some((above, name)) => (above, name),
            None => ("", inside),
        };
        let is_hidden = |part: &str| part.starts_with('.');
        let is_entered = !above.split('/').any(is_hidden);
        let is_kept = match name {
            LOCK_FILE => is_entered,
            ".tflint.hcl" => whose == Copied::Unit && above.is_empty(),
            name => is_entered && !is_hidden(name),
        };
        let mut include = self.include.iter();
        is_kept
            || include.any(|glob| {
                glob.covers(inside) || kind == FileKind::Directory && glob.reaches(inside)
            })
    }

    /// Lists what is copied of a directory.
    fn copied(
        &self,
        dir: &Path,
        inside: &str,
        whose: Copied,
        names: &mut BTreeMap<OsString, FileKind>,
    ) {
        for entry in self.files.list(dir).unwrap_or_default() {
            let Some(name) = entry.name.to_str() else {
                continue;
            };
            let path = match inside.is_empty() {
                true => name.to_owned(),
                false => format!("{inside}/{name}"),
            };
            let kind = match entry.kind {
                // Links become what they lead to.
                FileKind::Symlink => self.files.kind(&dir.join(name)).unwrap_or(entry.kind),
                kind => kind,
            };
            if self.keeps(&path, kind, whose) {
                names.insert(entry.name, kind);
            }
        }
    }

    fn names(&self, dir: &Path, inside: &str) -> io::Result<Vec<DirEntry>> {
        if !matches!(
            self.find(dir),
            Some(Found::File(_, _, FileKind::Directory) | Found::Directory)
        ) {
            return Err(ErrorKind::NotFound.into());
        }
        let mut names = BTreeMap::new();
        match &self.base {
            Base::Local(base) => {
                self.copied(&base.join(inside), inside, Copied::Package, &mut names)
            }
            Base::File(file) => {
                let name = file.file_name().filter(|_| inside.is_empty());
                names.extend(name.map(|name| (name.to_owned(), FileKind::File)));
            }
            Base::Fetched(package) => {
                let listed = package.files.list(&package.dir.join(inside));
                for entry in listed.unwrap_or_default() {
                    names.insert(entry.name, entry.kind);
                }
            }
        }
        if let Some(below) = below_text(&self.module_dir, dir) {
            self.copied(
                &self.unit_dir.join(&below),
                &below,
                Copied::Unit,
                &mut names,
            );
        }
        let mut gone = BTreeSet::new();
        for (path, bytes) in &self.generated {
            let Ok(rest) = path.strip_prefix(dir) else {
                continue;
            };
            let mut parts = rest.components();
            let Some(Component::Normal(first)) = parts.next() else {
                continue;
            };
            let kind = match parts.next() {
                Some(_) => FileKind::Directory,
                None => FileKind::File,
            };
            match bytes {
                Some(_) => drop(names.insert(first.to_owned(), kind)),
                None if kind == FileKind::File => drop(gone.insert(first.to_owned())),
                None => {}
            }
        }
        let names = names.into_iter().filter(|(name, _)| !gone.contains(name));
        Ok(names.map(|(name, kind)| DirEntry { name, kind }).collect())
    }
}

impl Files for Assembled<'_> {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let path = self.whole(path);
        match self.find(&path) {
            Some(Found::Generated(bytes)) if bytes.len() as u64 > limit => {
                Err(ErrorKind::FileTooLarge.into())
            }
            Some(Found::Generated(bytes)) => Ok(bytes.to_vec()),
            Some(Found::File(files, origin, _)) => files.read(&origin, limit),
            Some(Found::Directory) => Err(ErrorKind::InvalidInput.into()),
            None if self.is_void(&path) => Err(ErrorKind::NotFound.into()),
            None => self.files.read(&path, limit),
        }
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        let path = self.whole(path);
        match self.find(&path) {
            Some(Found::Generated(bytes)) => Ok(Box::new(Cursor::new(bytes.to_vec()))),
            Some(Found::File(files, origin, _)) => files.open(&origin),
            Some(Found::Directory) => Err(ErrorKind::InvalidInput.into()),
            None if self.is_void(&path) => Err(ErrorKind::NotFound.into()),
            None => self.files.open(&path),
        }
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        let dir = self.whole(dir);
        match self.inside(&dir) {
            Some(inside) => self.names(&dir, &inside),
            None if self.is_void(&dir) => Err(ErrorKind::NotFound.into()),
            None => self.files.list(&dir),
        }
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        let path = self.whole(path);
        match self.find(&path) {
            Some(Found::Generated(_)) => Ok(FileKind::File),
            Some(Found::File(_, _, kind)) => Ok(kind),
            Some(Found::Directory) => Ok(FileKind::Directory),
            None if self.is_void(&path) => Err(ErrorKind::NotFound.into()),
            None => self.files.kind(&path),
        }
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        let path = self.whole(path);
        match self.find(&path) {
            Some(_) => Ok(path),
            None if self.is_void(&path) => Err(ErrorKind::NotFound.into()),
            None => self.files.resolve(&path),
        }
    }

    /// A file is shown where it comes from, a generated one beside the unit.
    fn shown(&self, path: &Path) -> String {
        match self.find(&self.whole(path)) {
            Some(Found::File(files, origin, _)) => files.shown(&origin),
            Some(Found::Generated(_)) => {
                let inside = path.strip_prefix(&self.module_dir).unwrap_or(path);
                let beside = self.files.shown(&self.unit_dir.join(inside));
                format!("{beside} (generated)")
            }
            Some(Found::Directory) | None => self.files.shown(path),
        }
    }
}
