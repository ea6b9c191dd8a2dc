//! The directory that Terraform sees for a unit: the package, the unit's files over it, and what is
//! generated (rules 7 to 9).
//!
//! Nothing is copied: each path leads to the file that Terragrunt would have copied there.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::{self, Cursor, ErrorKind};
use std::path::{Component, Path, PathBuf};

use super::generate::{GeneratedFile, IfDisabled, IfExists, SIGNATURE};
use super::globs::Glob;
use super::limits::{MAX_DEPTH, MAX_FILE_BYTES, MAX_NAMES};
use super::outcome::{Known, Unknown};
use super::source::Package;
use super::unit::Unit;
use crate::diag::Diagnostic;
use crate::world::{DirEntry, FileKind, Files, ReadSeek, clean};

/// The name of a lock file.
const LOCK_FILE: &str = ".terraform.lock.hcl";

/// Endings of archives, which Terragrunt unpacks.
const ARCHIVES: &[&str] = &[
    ".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".tbz2", ".txz", ".zst",
];

/// A package that was fetched.
#[derive(Clone, Copy)]
pub struct FetchedPackage<'f> {
    /// Reads its files.
    pub files: &'f dyn Files,
    /// Its top.
    pub dir: &'f Path,
}

/// The files of the cache as a run of Terragrunt would make them, in a cache that is empty before.
///
/// Paths below the unit's `.terragrunt-cache/W/S` are those of the cache, all others those of the disk. Where the
/// surroundings of the unit have a top, paths are relative to it.
pub struct Assembled<'f> {
    files: &'f dyn Files,
    base: Base<'f>,
    unit_dir: PathBuf,
    /// Where the package lies in the cache.
    root: PathBuf,
    module_dir: PathBuf,
    include: Vec<Glob>,
    exclude: Vec<Glob>,
    /// Where relative paths count from.
    top: PathBuf,
    /// What is generated, by path; `None` for a file that is removed.
    generated: BTreeMap<PathBuf, Option<Vec<u8>>>,
    problems: Vec<Diagnostic>,
}

/// Where the files of the package come from.
enum Base<'f> {
    Local(PathBuf),
    /// A single file.
    File(PathBuf),
    Fetched(FetchedPackage<'f>),
}

/// Which lock file Terraform sees (rules 9.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockOrigin {
    /// The one beside the unit file.
    Unit(PathBuf),
    /// The one in the module's directory, in the package.
    Module(PathBuf),
    /// A `generate` block writes it.
    Generated,
    /// There is none.
    None,
}

/// Why the directory of a unit is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssembleError {
    /// The source or the list of files to copy is not known.
    #[error("what the unit runs is not known: {}", .0.reason)]
    Unknown(Unknown),
    /// The package must be fetched first.
    #[error("the package {0} is not here")]
    NotFetched(String),
    /// The local package does not exist.
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    /// The package is an archive on this machine.
    #[error("{} is an archive", .0.display())]
    Archive(PathBuf),
    /// The package lacks the directory of the module.
    #[error("the package has no directory {0}")]
    NoSubdirectory(String),
    /// Neither the module's directory nor one below has a file of Terraform.
    #[error("there is no file of Terraform or OpenTofu")]
    NoConfiguration,
}

/// Finds out which files Terraform sees for a unit.
///
/// A package that Terragrunt would fetch is given by the caller.
///
/// # Errors
/// If the files are not known, or Terragrunt would have none.
pub fn assemble<'f>(
    files: &'f dyn Files,
    unit: &Unit,
    package: Option<FetchedPackage<'f>>,
) -> Result<Assembled<'f>, AssembleError> {
    let source = known(&unit.source)?;
    let base = match (&source.package, package) {
        (Package::Own, _) => Base::Local(unit.dir.clone()),
        (Package::Local(path), _) => local(files, path)?,
        (Package::Remote(_) | Package::Registry(_), Some(package)) => Base::Fetched(package),
        (Package::Remote(address), None) => return Err(AssembleError::NotFetched(address.clone())),
        (Package::Registry(module), None) => {
            return Err(AssembleError::NotFetched(module.text.clone()));
        }
    };
    let root = unit.dir.join(".terragrunt-cache").join("W").join("S");
    let mut assembled = Assembled {
        files,
        base,
        unit_dir: unit.dir.clone(),
        module_dir: match &source.subdirectory {
            Some(below) => clean(&root.join(below)),
            None => root.clone(),
        },
        root,
        include: known(&unit.include_in_copy)?.clone(),
        exclude: known(&unit.exclude_from_copy)?.clone(),
        top: unit.top.clone(),
        generated: BTreeMap::new(),
        problems: Vec::new(),
    };
    assembled.check_subdirectory(source.subdirectory.as_deref())?;
    assembled.check_links();
    for file in &unit.generated {
        assembled.generate(file);
    }
    if !assembled.has_file(is_configuration, |_| true) {
        return Err(AssembleError::NoConfiguration);
    }
    if let Some(backend) = &unit.declared_backend {
        assembled.check_backend(backend);
    }
    Ok(assembled)
}

fn known<T>(value: &Known<T>) -> Result<&T, AssembleError> {
    match value {
        Known::Value(value) => Ok(value),
        Known::Unknown(unknown) => Err(AssembleError::Unknown(unknown.clone())),
    }
}

fn local<'f>(files: &dyn Files, path: &Path) -> Result<Base<'f>, AssembleError> {
    let name = path.to_string_lossy();
    match files.kind(path) {
        Ok(FileKind::Directory) => Ok(Base::Local(path.to_owned())),
        Ok(_) if ARCHIVES.iter().any(|ending| name.ends_with(ending)) => {
            Err(AssembleError::Archive(path.to_owned()))
        }
        Ok(_) => Ok(Base::File(path.to_owned())),
        Err(_) => Err(AssembleError::Missing(path.to_owned())),
    }
}

/// Whose copy is meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Copied {
    Package,
    Unit,
}

/// Where a path of the cache leads.
enum Found<'a> {
    Generated(&'a [u8]),
    File(&'a dyn Files, PathBuf, FileKind),
    /// Only generated files lie below.
    Directory,
}

impl<'f> Assembled<'f> {
    /// Returns the directory that Terraform runs in.
    #[must_use]
    pub fn module_dir(&self) -> &Path {
        self.shown(&self.module_dir)
    }

    /// Returns the top of the package in the cache.
    #[must_use]
    pub fn package_dir(&self) -> &Path {
        self.shown(&self.root)
    }

    fn shown<'p>(&self, path: &'p Path) -> &'p Path {
        path.strip_prefix(&self.top).unwrap_or(path)
    }

    /// Returns a path from the top on.
    fn whole(&self, path: &Path) -> PathBuf {
        clean(&self.top.join(path))
    }

    /// Lists what Terragrunt stops at while it writes the directory.
    #[must_use]
    pub fn problems(&self) -> &[Diagnostic] {
        &self.problems
    }

    /// Returns which lock file Terraform sees (rules 9.1).
    #[must_use]
    pub fn lock_file(&self) -> LockOrigin {
        let path = self.module_dir.join(LOCK_FILE);
        match self.find(&path) {
            Some(Found::Generated(_)) => LockOrigin::Generated,
            Some(Found::File(_, origin, FileKind::File)) => {
                match origin == self.unit_dir.join(LOCK_FILE) {
                    true => LockOrigin::Unit(origin),
                    false => LockOrigin::Module(origin),
                }
            }
            _ => LockOrigin::None,
        }
    }

    /// Returns where a file of the cache comes from; `None` for one that is generated, or not there.
    #[must_use]
    pub fn origin(&self, path: &Path) -> Option<PathBuf> {
        match self.find(&self.whole(path))? {
            Found::File(_, origin, _) => Some(origin),
            Found::Generated(_) | Found::Directory => None,
        }
    }

    fn check_subdirectory(&self, below: Option<&str>) -> Result<(), AssembleError> {
        let Some(below) = below else { return Ok(()) };
        let inside = below_text(&self.root, &self.module_dir);
        // The unit's own files must not make the directory.
        let found = inside.and_then(|inside| self.in_base(&inside));
        match found {
            Some(Found::File(_, _, FileKind::Directory)) => Ok(()),
            _ => Err(AssembleError::NoSubdirectory(below.to_owned())),
        }
    }

    /// A link that leads nowhere stops the copy (rules 7.5).
    fn check_links(&mut self) {
        let names = self.list(&self.module_dir).unwrap_or_default();
        let mut links = names.iter().filter(|entry| entry.kind == FileKind::Symlink);
        if let Some(link) = links.next() {
            let name = link.name.to_string_lossy();
            let title = format!("Terragrunt stops at this unit: the link {name} leads nowhere");
            self.problems
                .push(Diagnostic::note("file-unreadable", title));
        }
    }

    /// Writes a generated file, as in an empty cache (rules 8.5).
    fn generate(&mut self, file: &GeneratedFile) {
        let path = clean(&self.module_dir.join(&file.path));
        if self.inside(&path).is_none() {
            // It is beside the package, where this run does not see it.
            return;
        }
        let present = self.read(&path, MAX_FILE_BYTES);
        let is_there = present.is_ok();
        let is_ours = present.is_ok_and(|bytes| is_signed(&bytes));
        let mut stops = false;
        match (file.disabled, file.if_exists) {
            (Some(IfDisabled::Skip), _) => return,
            (Some(IfDisabled::Remove), _) => drop(self.generated.insert(path.clone(), None)),
            (Some(IfDisabled::RemoveTerragrunt), _) if !is_there => {}
            (Some(IfDisabled::RemoveTerragrunt), _) if is_ours => {
                self.generated.insert(path.clone(), None);
            }
            (Some(IfDisabled::RemoveTerragrunt), _) => stops = true,
            (None, IfExists::Skip) if is_there => {}
            (None, IfExists::Error) if is_there => stops = true,
            (None, IfExists::OverwriteTerragrunt) if is_there && !is_ours => stops = true,
            (None, _) => {
                let contents = Some(file.contents.clone());
                self.generated.insert(path.clone(), contents);
            }
        }
        if stops {
            let title = "Terragrunt stops at this unit: the generated file already exists";
            let note = Diagnostic::note("configuration-invalid", title);
            let name = file.path.display().to_string();
            self.problems
                .push(note.at(file.place.file, file.place.span, name));
        }
    }

    /// Without a generated file, the module must declare the backend there or below (rules 8.11).
    fn check_backend(&mut self, backend: &str) {
        let is_declared = |path: &Path| {
            let bytes = self.read(path, MAX_FILE_BYTES).unwrap_or_default();
            declares(&String::from_utf8_lossy(&bytes), backend)
        };
        if !self.has_file(is_configuration, is_declared) {
            let title = "Terragrunt stops at this unit: the module declares no backend";
            self.problems
                .push(Diagnostic::note("configuration-invalid", title));
        }
    }

    /// Returns whether a file of such a name lies in the module's directory or below (rules 7.7).
    fn has_file(&self, is_meant: fn(&str) -> bool, holds: impl Fn(&Path) -> bool) -> bool {
        let mut left = MAX_NAMES;
        let mut waiting = vec![(self.module_dir.clone(), 0)];
        while let Some((dir, depth)) = waiting.pop() {
            for entry in self.list(&dir).unwrap_or_default() {
                let path = dir.join(&entry.name);
                if entry.kind == FileKind::Directory {
                    // Too much to look at counts as if it were there.
                    let Some(rest) = left.checked_sub(1).filter(|_| depth < MAX_DEPTH) else {
                        return true;
                    };
                    left = rest;
                    waiting.push((path, depth + 1));
                } else if is_meant(&entry.name.to_string_lossy()) && holds(&path) {
                    return true;
                }
            }
        }
        false
    }

    /// Returns the path inside of the package, if a path is there.
    fn inside(&self, path: &Path) -> Option<String> {
        below_text(&self.root, path)
    }

    /// Returns whether a path is in the cache but not in the package: nothing is there.
    fn is_void(&self, path: &Path) -> bool {
        path.starts_with(self.unit_dir.join(".terragrunt-cache"))
    }

    fn find(&self, path: &Path) -> Option<Found<'_>> {
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

    fn in_base(&self, inside: &str) -> Option<Found<'_>> {
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
        names: &mut BTreeMap<std::ffi::OsString, FileKind>,
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

fn is_configuration(name: &str) -> bool {
    let endings = [".tf", ".tofu", ".tf.json", ".tofu.json"];
    endings.iter().any(|ending| name.ends_with(ending))
}

/// Returns whether a text has a block `backend "NAME"`, as Terragrunt looks for one: by the text alone.
fn declares(text: &str, backend: &str) -> bool {
    let name = format!("\"{backend}\"");
    let mut rest = text.split("backend").skip(1);
    rest.any(|behind| behind.trim_start().starts_with(&name))
}

/// Returns whether Terragrunt has written a file: its first line ends with the signature.
fn is_signed(bytes: &[u8]) -> bool {
    let line = bytes.split(|byte| *byte == b'\n').next();
    line.is_some_and(|line| line.trim_ascii_end().ends_with(SIGNATURE.as_bytes()))
}

/// Returns a path from a directory on, with slashes; `None` if it is not below, or no text.
fn below_text(dir: &Path, path: &Path) -> Option<String> {
    let rest = path.strip_prefix(dir).ok()?;
    let parts = rest.components().map(|part| part.as_os_str().to_str());
    let parts: Vec<&str> = parts.collect::<Option<_>>()?;
    Some(parts.join("/"))
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
}
