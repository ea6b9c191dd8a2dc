//! The directory that Terraform sees for a unit: the package, the unit's files over it, and what is
//! generated (rules 7 to 9).
//!
//! Nothing is copied: each path leads to the file that Terragrunt would have copied there.

mod layers;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use layers::CacheEntry;

use crate::terragrunt::generate::{GeneratedFile, IfDisabled, IfExists, SIGNATURE};
use crate::terragrunt::globs::Glob;
use crate::terragrunt::limits::{MAX_DEPTH, MAX_FILE_BYTES, MAX_NAMES};
use crate::terragrunt::outcome::{UnitResult, UnitUnknown};
use crate::terragrunt::source::{RegistryPackage, UnitPackage};
use crate::terragrunt::unit::EvaluatedUnit;
use crate::world::{FileKind, Files, clean};

/// The name of a lock file.
const LOCK_FILE: &str = ".terraform.lock.hcl";

/// Endings of archives, which Terragrunt unpacks.
const ARCHIVES: &[&str] = &[
    ".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".tbz2", ".txz", ".zst",
];

/// A package of a unit that was fetched.
#[derive(Clone, Copy)]
pub struct FetchedPackage<'f> {
    /// The file system that holds it.
    pub files: &'f dyn Files,
    /// The top directory of the package there.
    pub dir: &'f Path,
}

/// The files of the cache as a run of Terragrunt would make them, in a cache that is empty before.
///
/// Paths below the unit's `.terragrunt-cache/W/S` are those of the cache, all others those of the disk.
pub struct Assembled<'f> {
    files: &'f dyn Files,
    base: Base<'f>,
    unit_dir: PathBuf,
    /// The top of the package in the cache.
    root: PathBuf,
    module_dir: PathBuf,
    include: Vec<Glob>,
    exclude: Vec<Glob>,
    /// Generated files by path; `None` for a file that is removed.
    generated: BTreeMap<PathBuf, Option<Vec<u8>>>,
    unknown_files: Vec<UnknownFile>,
}

/// A file of the module whose contents only a run of Terragrunt knows; it adds to the other files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFile {
    /// The path, relative to the directory of the module.
    pub path: PathBuf,
    /// The reason, with its place.
    pub unknown: UnitUnknown,
}

/// The origin of the files of the package.
enum Base<'f> {
    Local(PathBuf),
    /// A single file, copied into an empty directory.
    File(PathBuf),
    Fetched(FetchedPackage<'f>),
}

/// The lock file that Terraform sees (rules 9.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockOrigin {
    /// The one beside the unit file.
    Unit(PathBuf),
    /// The one in the module's directory, in the package.
    Module(PathBuf),
    /// A `generate` block writes it.
    Generated,
    /// Neither the unit nor its module has a lock file.
    None,
}

/// The reason why the directory of a unit is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct AssembleError {
    /// The reason, as in "../m does not exist".
    pub reason: String,
}

impl AssembleError {
    fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
        }
    }

    fn unknown(unknown: &UnitUnknown) -> Self {
        Self::new(format!(
            "what the unit runs is not known: {}",
            unknown.reason
        ))
    }
}

/// Puts the files together that Terraform sees for a unit.
///
/// A package that Terragrunt would fetch is given by the caller.
///
/// # Errors
/// If the files are not known, or Terragrunt would have none.
pub fn assemble<'f>(
    files: &'f dyn Files,
    unit: &EvaluatedUnit,
    package: Option<FetchedPackage<'f>>,
) -> Result<Assembled<'f>, AssembleError> {
    let cache = unit.dir.join(".terragrunt-cache").join("W").join("S");
    assemble_at(files, unit, package, cache)
}

/// Puts the files together for a unit that is its own package and runs in its own directory: Terragrunt before 1.0
/// did that, and local calls that lead out of the unit work there only (rules 6.10).
///
/// # Errors
/// As [`assemble`].
pub fn assemble_in_place<'f>(
    files: &'f dyn Files,
    unit: &EvaluatedUnit,
) -> Result<Assembled<'f>, AssembleError> {
    assemble_at(files, unit, None, unit.dir.clone())
}

fn assemble_at<'f>(
    files: &'f dyn Files,
    unit: &EvaluatedUnit,
    package: Option<FetchedPackage<'f>>,
    root: PathBuf,
) -> Result<Assembled<'f>, AssembleError> {
    let source = unit.source.as_ref().map_err(AssembleError::unknown)?;
    let base = match (&source.package, package) {
        (UnitPackage::Own, _) => Base::Local(unit.dir.clone()),
        // A single file is a package of one file (rules 6.7).
        (UnitPackage::Local(path), _) => local(files, path)?,
        (UnitPackage::Remote(_) | UnitPackage::Registry(_), Some(package)) => {
            Base::Fetched(package)
        }
        (
            UnitPackage::Remote(address)
            | UnitPackage::Registry(RegistryPackage { text: address, .. }),
            None,
        ) => {
            let reason = format!("the package {address} is not here");
            return Err(AssembleError::new(reason));
        }
    };
    let list = |list: &UnitResult<Vec<Glob>>| {
        list.clone()
            .map_err(|unknown| AssembleError::unknown(&unknown))
    };
    let mut assembled = Assembled {
        files,
        base,
        unit_dir: unit.dir.clone(),
        module_dir: match &source.subdirectory {
            Some(below) => clean(&root.join(below)),
            None => root.clone(),
        },
        root,
        include: list(&unit.include_in_copy)?,
        exclude: list(&unit.exclude_from_copy)?,
        generated: BTreeMap::new(),
        unknown_files: Vec::new(),
    };
    assembled.check_subdirectory(source.subdirectory.as_deref())?;
    for file in &unit.generated {
        let generated = assembled.generate(file);
        generated.map_err(|unknown| AssembleError::unknown(&unknown))?;
    }
    // Terragrunt stops before it runs Terraform (rules 7.7).
    if assembled.unknown_files.is_empty() && !assembled.has_configuration() {
        let reason = "there is no file of Terraform or OpenTofu";
        return Err(AssembleError::new(reason));
    }
    Ok(assembled)
}

fn local<'f>(files: &dyn Files, path: &Path) -> Result<Base<'f>, AssembleError> {
    let name = path.display().to_string();
    match files.kind(path) {
        Ok(FileKind::Directory) => Ok(Base::Local(path.to_owned())),
        Ok(_) if ARCHIVES.iter().any(|ending| name.ends_with(ending)) => {
            Err(AssembleError::new(format!("{name} is an archive")))
        }
        Ok(_) => Ok(Base::File(path.to_owned())),
        Err(_) => Err(AssembleError::new(format!("{name} does not exist"))),
    }
}

impl<'f> Assembled<'f> {
    /// Returns the directory that Terraform runs in.
    #[must_use]
    pub fn module_dir(&self) -> &Path {
        &self.module_dir
    }

    /// Returns the lock file that Terraform sees (rules 9.1).
    #[must_use]
    pub fn lock_file(&self) -> LockOrigin {
        let path = self.module_dir.join(LOCK_FILE);
        match self.find(&path) {
            Some(CacheEntry::Generated(_)) => LockOrigin::Generated,
            Some(CacheEntry::File(_, origin, FileKind::File)) => {
                if origin == self.unit_dir.join(LOCK_FILE) {
                    LockOrigin::Unit(origin)
                } else {
                    LockOrigin::Module(origin)
                }
            }
            _ => LockOrigin::None,
        }
    }

    fn check_subdirectory(&self, below: Option<&str>) -> Result<(), AssembleError> {
        let Some(below) = below else { return Ok(()) };
        // The unit's own files must not make the directory.
        match below_text(&self.root, &self.module_dir).and_then(|inside| self.in_base(&inside)) {
            Some(CacheEntry::File(_, _, FileKind::Directory)) => Ok(()),
            _ => {
                let reason = format!("the package has no directory {below}");
                Err(AssembleError::new(reason))
            }
        }
    }

    /// Returns the files of the module that are not visible.
    #[must_use]
    pub fn unknown_files(&self) -> &[UnknownFile] {
        &self.unknown_files
    }

    /// Writes a generated file, as in an empty cache (rules 8.5). Fails if its unknown contents may change the meaning
    /// of the other files.
    fn generate(&mut self, file: &GeneratedFile) -> UnitResult<()> {
        // The path may lead out of the module's directory, to one beside it or elsewhere (rules 8.3).
        let path = clean(&self.module_dir.join(&file.path));
        if below_text(&self.root, &path).is_none() {
            // Terraform does not see a file outside of the package.
            return Ok(());
        }
        // The file may come from the package, from the unit or from another block (rules 8.8).
        // Files of an earlier run may lie in the cache; here it is taken for empty (rules 7.6).
        let present = self.read(&path, MAX_FILE_BYTES);
        let is_there = present.is_ok();
        // The first line of a file that Terragrunt has written ends with the signature (rules 8.4).
        let is_ours = present.is_ok_and(|bytes| {
            bytes
                .split(|byte| *byte == b'\n')
                .next()
                .is_some_and(|line| line.trim_ascii_end().ends_with(SIGNATURE.as_bytes()))
        });
        // Only a `.tf` or `.tf.json` file that overrides nothing just adds requirements (rules 8.12): an override file
        // changes those of others, a `.tofu` file may hide a `.tf` file, and values of variables may decide which modules
        // are called.
        let name = file.path.file_name().unwrap_or_default().to_string_lossy();
        let adds_only = name
            .strip_suffix(".tf")
            .or_else(|| name.strip_suffix(".tf.json"))
            .is_some_and(|stem| stem != "override" && !stem.ends_with("_override"));
        // A disabled block writes nothing, with any `if_exists` (rules 8.6). Where Terragrunt would stop, the file stays.
        match (file.disabled, file.if_exists) {
            (Some(IfDisabled::Skip), _) => {}
            (Some(IfDisabled::RemoveTerragrunt), _) if !is_ours => {}
            (Some(IfDisabled::Remove | IfDisabled::RemoveTerragrunt), _) => {
                self.generated.insert(path, None);
            }
            (None, IfExists::Skip | IfExists::Error) if is_there => {}
            (None, IfExists::OverwriteTerragrunt) if is_there && !is_ours => {}
            (None, _) => {
                let contents = match &file.contents {
                    Ok(contents) => Some(contents.clone()),
                    Err(unknown) if !adds_only => return Err(unknown.clone()),
                    Err(unknown) => {
                        self.unknown_files.push(UnknownFile {
                            path: file.path.clone(),
                            unknown: unknown.clone(),
                        });
                        // It takes the place of a file that is there.
                        None
                    }
                };
                self.generated.insert(path, contents);
            }
        }
        Ok(())
    }

    /// Returns true if a file of Terraform is in the module's directory or below (rules 7.7).
    fn has_configuration(&self) -> bool {
        const ENDINGS: [&str; 4] = [".tf", ".tofu", ".tf.json", ".tofu.json"];
        let is_configuration = |name: &str| ENDINGS.iter().any(|ending| name.ends_with(ending));
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
                } else if is_configuration(&entry.name.to_string_lossy()) {
                    return true;
                }
            }
        }
        false
    }
}

/// Returns a path from a directory on, with slashes; `None` if it is not below, or no text.
fn below_text(dir: &Path, path: &Path) -> Option<String> {
    let rest = path.strip_prefix(dir).ok()?;
    let parts: Option<Vec<&str>> = rest
        .components()
        .map(|part| part.as_os_str().to_str())
        .collect();
    Some(parts?.join("/"))
}
