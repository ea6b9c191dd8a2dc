//! Which directories are units and stacks (rules 1).

use std::io;
use std::path::{Path, PathBuf};

use super::limits::{MAX_DEPTH, MAX_DIRECTORIES};
use crate::world::{FileKind, Files};

/// The name of a unit file.
pub const UNIT_FILE: &str = "terragrunt.hcl";

/// The name of a unit file in JSON syntax.
pub const UNIT_FILE_JSON: &str = "terragrunt.hcl.json";

/// The name of a stack file.
pub const STACK_FILE: &str = "terragrunt.stack.hcl";

/// Directories that are never entered (rules 1.4).
const SKIPPED: &[&str] = &[".git", ".terraform", ".terragrunt-cache"];

/// What was found below a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discovered {
    /// The directories of units, sorted.
    pub units: Vec<PathBuf>,
    /// The directories of explicit stacks, sorted.
    pub stacks: Vec<PathBuf>,
    /// Directories that hold both files; because of one of them Terragrunt finds nothing (rules 1.6).
    pub ambiguous: Vec<PathBuf>,
    /// Directories that could not be listed, each with the reason.
    pub unreadable: Vec<(PathBuf, String)>,
    /// Whether there were more directories, or deeper ones, than are searched.
    pub is_cut: bool,
}

/// What a directory is by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    /// It holds a unit file.
    Unit,
    /// It holds a stack file.
    Stack,
    /// It holds both, which Terragrunt refuses.
    Both,
}

/// Finds the units and stacks below a directory, itself included, as `terragrunt find` does (rules 1).
///
/// Hidden directories are entered, links to directories are not. Nothing is parsed. Files of another name count
/// as well, if one is given (`--config`).
///
/// ```
/// use std::path::{Path, PathBuf};
/// use lockctl::terragrunt::discover;
/// use lockctl::world::mem::MemFiles;
///
/// let files = MemFiles::with(&[("live/app/terragrunt.hcl", ""), ("root.hcl", "")]);
/// let found = discover(&files, Path::new(""), None);
/// assert_eq!(found.units, [PathBuf::from("live/app")]);
/// ```
#[must_use]
pub fn discover(files: &dyn Files, top: &Path, unit_file: Option<&str>) -> Discovered {
    let mut found = Discovered::default();
    let mut left = MAX_DIRECTORIES;
    let mut waiting = vec![(top.to_owned(), 0)];
    while let Some((dir, depth)) = waiting.pop() {
        if left == 0 || depth > MAX_DEPTH {
            found.is_cut = true;
            continue;
        }
        left -= 1;
        match enter(files, &dir, unit_file, &mut found) {
            Ok(below) => waiting.extend(below.into_iter().map(|dir| (dir, depth + 1))),
            Err(error) => found.unreadable.push((dir, error.to_string())),
        }
    }
    found.units.sort();
    found.stacks.sort();
    found.ambiguous.sort();
    found
}

/// Returns what a directory is, without looking below it.
///
/// # Errors
/// What the system says about the directory.
pub fn component(files: &dyn Files, dir: &Path) -> io::Result<Option<Component>> {
    let names = files.list(dir)?;
    let has = |name: &str| {
        let entry = names.iter().find(|entry| entry.name == name);
        entry.is_some_and(|entry| is_file(files, dir, name, entry.kind))
    };
    Ok(kind_of(has(UNIT_FILE), has(STACK_FILE)))
}

fn kind_of(has_unit: bool, has_stack: bool) -> Option<Component> {
    match (has_unit, has_stack) {
        (true, true) => Some(Component::Both),
        (true, false) => Some(Component::Unit),
        (false, true) => Some(Component::Stack),
        (false, false) => None,
    }
}

/// A linked file counts, a directory of that name does not (rules 1.3, 1.4).
fn is_file(files: &dyn Files, dir: &Path, name: &str, kind: FileKind) -> bool {
    match kind {
        FileKind::File => true,
        FileKind::Symlink => matches!(files.kind(&dir.join(name)), Ok(FileKind::File)),
        FileKind::Directory | FileKind::Other => false,
    }
}

/// Looks at a directory, and returns those below it that are entered.
fn enter(
    files: &dyn Files,
    dir: &Path,
    unit_file: Option<&str>,
    found: &mut Discovered,
) -> io::Result<Vec<PathBuf>> {
    let (mut has_unit, mut has_stack) = (false, false);
    let mut below = Vec::new();
    for entry in files.list(dir)? {
        let name = entry.name.to_string_lossy();
        match entry.kind {
            FileKind::Directory if !SKIPPED.contains(&&*name) => below.push(dir.join(&entry.name)),
            kind if name == UNIT_FILE || unit_file == Some(&*name) => {
                has_unit |= is_file(files, dir, &name, kind);
            }
            kind if name == STACK_FILE => has_stack = is_file(files, dir, STACK_FILE, kind),
            _ => {}
        }
    }
    match kind_of(has_unit, has_stack) {
        Some(Component::Unit) => found.units.push(dir.to_owned()),
        Some(Component::Stack) => found.stacks.push(dir.to_owned()),
        Some(Component::Both) => found.ambiguous.push(dir.to_owned()),
        None => {}
    }
    Ok(below)
}
