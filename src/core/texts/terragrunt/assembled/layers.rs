//! The layers of the cache: generated files over the unit over the package (rules 7).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::{self, Cursor, ErrorKind};
use std::ops::Bound;
use std::path::{Component, Path, PathBuf};

use super::{Assembled, Base, LOCK_FILE, below_text};
use crate::terragrunt::globs::joined;
use crate::world::{DirEntry, FileKind, Files, ReadSeek, clean};

/// The origin of a copied file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CopiedFrom {
    Package,
    Unit,
}

/// A path of the cache, by its origin.
pub(super) enum CacheEntry<'a> {
    Generated(&'a [u8]),
    File(&'a dyn Files, PathBuf, FileKind),
    /// Only generated files lie below.
    Directory,
}

impl Assembled<'_> {
    /// Returns true for a copied file that is a link out of the directories that are copied: its bytes are not
    /// those of the package.
    fn is_linked_elsewhere(&self, origin: &Path) -> bool {
        let base = match &self.base {
            Base::Local(dir) => dir.as_path(),
            Base::File(file) => file.as_path(),
            // The files of a fetched package are not those of the disk.
            Base::Fetched(_) if !origin.starts_with(&self.unit_dir) => return false,
            Base::Fetched(_) => self.unit_dir.as_path(),
        };
        let Ok(real) = self.files.resolve(origin) else {
            return true;
        };
        ![base, &self.unit_dir].into_iter().any(|dir| {
            let dir = self.files.resolve(dir);
            dir.is_ok_and(|dir| real.starts_with(dir))
        })
    }

    fn is_void(&self, path: &Path) -> bool {
        path.starts_with(self.unit_dir.join(".terragrunt-cache"))
    }

    pub(super) fn find(&self, path: &Path) -> Option<CacheEntry<'_>> {
        if let Some(generated) = self.generated.get(path) {
            return generated.as_deref().map(CacheEntry::Generated);
        }
        let inside = below_text(&self.root, path)?;
        // Files of the unit replace those of the module's directory.
        let in_unit = below_text(&self.module_dir, path)
            .and_then(|inside| self.at(self.files, &self.unit_dir, &inside, CopiedFrom::Unit));
        let copied = in_unit.or_else(|| self.in_base(&inside));
        copied.or_else(|| {
            self.generated_below(path)
                .any(|(_, bytes)| bytes.is_some())
                .then_some(CacheEntry::Directory)
        })
    }

    /// Lists the generated files below a directory, and those that are removed.
    fn generated_below(&self, dir: &Path) -> impl Iterator<Item = (&PathBuf, &Option<Vec<u8>>)> {
        // Paths are sorted by their parts, so these are neighbours. A search through all paths took 16 seconds
        // for 1 MB of blocks.
        self.generated
            .range::<Path, _>((Bound::Excluded(dir), Bound::Unbounded))
            .take_while(move |(file, _)| file.starts_with(dir))
    }

    pub(super) fn in_base(&self, inside: &str) -> Option<CacheEntry<'_>> {
        match &self.base {
            Base::Local(dir) => self.at(self.files, dir, inside, CopiedFrom::Package),
            Base::File(file) if inside.is_empty() => {
                let dir = file.parent().unwrap_or(file).to_owned();
                Some(CacheEntry::File(self.files, dir, FileKind::Directory))
            }
            Base::File(file) => {
                let is_it = file.file_name() == Some(OsStr::new(inside));
                is_it.then(|| CacheEntry::File(self.files, file.clone(), FileKind::File))
            }
            Base::Fetched(package) => {
                // A fetched package is complete, hidden files included (rules 6.8).
                let path = package.dir.join(inside);
                let kind = package.files.kind(&path).ok()?;
                Some(CacheEntry::File(package.files, path, kind))
            }
        }
    }

    fn at<'a>(
        &self,
        files: &'a dyn Files,
        dir: &Path,
        inside: &str,
        whose: CopiedFrom,
    ) -> Option<CacheEntry<'a>> {
        let path = dir.join(inside);
        let kind = files.kind(&path).ok()?;
        self.keeps(inside, kind, whose)
            .then_some(CacheEntry::File(files, path, kind))
    }

    /// Returns true if a path is copied (rules 7.3, 7.4).
    fn keeps(&self, inside: &str, kind: FileKind, whose: CopiedFrom) -> bool {
        if inside.is_empty() {
            return true;
        }
        // Exclusion wins over inclusion (rules 7.4).
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
            // The lock file is copied although its name begins with a dot (rules 7.3).
            LOCK_FILE => is_entered,
            ".tflint.hcl" => whose == CopiedFrom::Unit && above.is_empty(),
            name => is_entered && !is_hidden(name),
        };
        is_kept
            || self.include.iter().any(|glob| {
                glob.covers(inside) || kind == FileKind::Directory && glob.reaches(inside)
            })
    }

    /// Adds the entries of a directory that are copied.
    fn copied(
        &self,
        dir: &Path,
        inside: &str,
        whose: CopiedFrom,
        names: &mut BTreeMap<OsString, FileKind>,
    ) {
        for entry in self.files.list(dir).unwrap_or_default() {
            let Some(name) = entry.name.to_str() else {
                continue;
            };
            let path = joined(inside, name);
            let kind = match entry.kind {
                // Links become what they lead to.
                // A link that leads nowhere stays a link, and stops the copy (rules 7.5).
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
            Some(CacheEntry::File(_, _, FileKind::Directory) | CacheEntry::Directory)
        ) {
            return Err(ErrorKind::NotFound.into());
        }
        let mut names = BTreeMap::new();
        match &self.base {
            Base::Local(base) => {
                self.copied(&base.join(inside), inside, CopiedFrom::Package, &mut names)
            }
            Base::File(file) => {
                let name = file.file_name().filter(|_| inside.is_empty());
                names.extend(name.map(|name| (name.to_owned(), FileKind::File)));
            }
            Base::Fetched(package) => {
                // Patterns take nothing from a fetched package (rules 7.4).
                let listed = package.files.list(&package.dir.join(inside));
                for entry in listed.unwrap_or_default() {
                    names.insert(entry.name, entry.kind);
                }
            }
        }
        // Terragrunt copies the unit behind the package, so its files take the place of those (rules 7.1).
        if let Some(below) = below_text(&self.module_dir, dir) {
            self.copied(
                &self.unit_dir.join(&below),
                &below,
                CopiedFrom::Unit,
                &mut names,
            );
        }
        // `if_disabled` removes a file wherever it came from (rules 8.6).
        let mut removed = BTreeSet::new();
        for (path, bytes) in self.generated_below(dir) {
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
                None if kind == FileKind::File => drop(removed.insert(first.to_owned())),
                None => {}
            }
        }
        Ok(names
            .into_iter()
            .filter(|(name, _)| !removed.contains(name))
            .map(|(name, kind)| DirEntry { name, kind })
            .collect())
    }
}

impl Files for Assembled<'_> {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let path = clean(path);
        match self.find(&path) {
            Some(CacheEntry::Generated(bytes)) if bytes.len() as u64 > limit => {
                Err(ErrorKind::FileTooLarge.into())
            }
            Some(CacheEntry::Generated(bytes)) => Ok(bytes.to_vec()),
            Some(CacheEntry::File(files, origin, _)) => files.read(&origin, limit),
            Some(CacheEntry::Directory) => Err(ErrorKind::InvalidInput.into()),
            None if self.is_void(&path) => Err(ErrorKind::NotFound.into()),
            None => self.files.read(&path, limit),
        }
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        let path = clean(path);
        match self.find(&path) {
            Some(CacheEntry::Generated(bytes)) => Ok(Box::new(Cursor::new(bytes.to_vec()))),
            Some(CacheEntry::File(files, origin, _)) => files.open(&origin),
            Some(CacheEntry::Directory) => Err(ErrorKind::InvalidInput.into()),
            None if self.is_void(&path) => Err(ErrorKind::NotFound.into()),
            None => self.files.open(&path),
        }
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        let dir = clean(dir);
        match below_text(&self.root, &dir) {
            Some(inside) => self.names(&dir, &inside),
            None if self.is_void(&dir) => Err(ErrorKind::NotFound.into()),
            None => self.files.list(&dir),
        }
    }

    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        let path = clean(path);
        match self.find(&path) {
            Some(CacheEntry::Generated(_)) => Ok(FileKind::File),
            Some(CacheEntry::File(_, _, kind)) => Ok(kind),
            Some(CacheEntry::Directory) => Ok(FileKind::Directory),
            None if self.is_void(&path) => Err(ErrorKind::NotFound.into()),
            None => self.files.kind(&path),
        }
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        let path = clean(path);
        match self.find(&path) {
            Some(CacheEntry::File(files, origin, FileKind::File))
                if self.is_linked_elsewhere(&origin) =>
            {
                files.resolve(&origin)
            }
            Some(_) => {
                let unit_dir = self.files.resolve(&self.unit_dir);
                let below = path.strip_prefix(&self.unit_dir);
                Ok(match (unit_dir, below) {
                    (Ok(unit_dir), Ok(below)) => unit_dir.join(below),
                    _ => path,
                })
            }
            None if self.is_void(&path) => Err(ErrorKind::NotFound.into()),
            None => self.files.resolve(&path),
        }
    }

    /// A file is shown where it comes from, a generated one beside the unit.
    fn shown(&self, path: &Path) -> String {
        match self.find(&clean(path)) {
            Some(CacheEntry::File(files, origin, _)) => files.shown(&origin),
            Some(CacheEntry::Generated(_)) => {
                let inside = path.strip_prefix(&self.module_dir).unwrap_or(path);
                let beside = self.files.shown(&self.unit_dir.join(inside));
                format!("{beside} (generated)")
            }
            Some(CacheEntry::Directory) | None => self.files.shown(path),
        }
    }
}
