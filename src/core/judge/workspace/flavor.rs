//! Whose rules apply to a root (`project` rules 3.1).

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::diag::{FileId, Texts, has_errors};
use crate::flavor::{Flavor, FlavorChoice, Program};
use crate::lockfile;
use crate::parallel::Memo;
use crate::project::tool_files::{self, ToolStatement};
use crate::project::{ProjectPlace, Projects, neighbours};
use crate::world::{DirEntry, Files};

use super::kept_locks::KeptLocks;
use super::root::{lock_path, read_lock};

/// The evidence for the rules that apply to a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlavorSign {
    /// The command line or the project file states it.
    Stated,
    /// The header of the lock file, or else the registries in it.
    Lock,
    /// The lock file of the reviewed revision, and the one on disk is of the other program.
    Reviewed,
    /// A file of another tool states it, in the directory of the root or above.
    Tool,
    /// The root holds `.tofu` files.
    Files,
    /// The other roots of the repository agree.
    Neighbours,
    /// No lock file of the repository shows it, and there are `.tofu` files in it.
    NeighbourFiles,
    /// Nothing of the root itself, and the other roots of the repository do not agree.
    Mixed,
    /// Neither the root nor its repository shows it.
    Nothing,
}

/// A program with the evidence for it.
pub(super) type SignedProgram = (Program, FlavorSign);

/// Decides whose rules apply to a directory by what it holds itself: what is stated, else the header
/// of its lock file, else the registries in it, else its `.tofu` files, else Terraform. Without a
/// version, the newest rules count.
#[must_use]
pub fn flavor_of(
    choice: FlavorChoice,
    files: &dyn Files,
    dir: &Path,
    lock: Option<&[u8]>,
) -> Flavor {
    if let FlavorChoice::Stated(stated) = choice {
        return stated.flavor;
    }
    let program = lock
        .and_then(by_lock)
        .or_else(|| by_files(files, dir).map(|(program, _)| program));
    Flavor::newest(program.unwrap_or(Program::Terraform))
}

/// Returns the program by the lock file of a directory, if that shows it.
pub(super) fn lock_sign(lock: Option<&[u8]>) -> Option<SignedProgram> {
    Some((by_lock(lock?)?, FlavorSign::Lock))
}

/// Returns the program by the names of the files in a directory, if they show it.
pub(super) fn by_files(files: &dyn Files, dir: &Path) -> Option<SignedProgram> {
    // Terraform ignores `.tofu` files, so they show that OpenTofu is used.
    let entries = files.list(dir).unwrap_or_default();
    holds_tofu_files(&entries).then_some((Program::OpenTofu, FlavorSign::Files))
}

/// The statements of other tools about the program, by the absolute path of the directory of their files.
#[derive(Debug, Default)]
pub(super) struct ToolStatements {
    by_dir: Memo<OsString, Arc<[ToolStatement]>>,
}

impl ToolStatements {
    /// Finds the nearest statement about a directory, up to a directory above it: about one program, or about any if
    /// all statements of one directory are about the same one.
    pub(super) fn nearest(
        &self,
        files: &dyn Files,
        place: &ProjectPlace,
        top: &ProjectPlace,
        program: Option<Program>,
    ) -> Option<ToolStatement> {
        for here in place.up_to(top) {
            let stated = self.by_dir.get(&here.absolute().into(), || {
                tool_files::statements(files, &here).into()
            });
            let mut about: Vec<&ToolStatement> = stated
                .iter()
                .filter(|statement| statement.concerns(place.absolute()))
                .filter(|statement| program.is_none_or(|program| statement.program() == program))
                .collect();
            // A file that states a version says more than one before it that does not.
            about.sort_by_key(|statement| statement.stated.version.is_none());
            let Some(first) = about.first() else { continue };
            return about
                .iter()
                .all(|other| other.program() == first.program())
                .then(|| (*first).clone());
        }
        None
    }
}

/// Returns whose rules apply by the lock file that a directory has in the reviewed revision, if anything there shows
/// that.
pub(super) fn reviewed_sign(
    reviewed: &dyn Files,
    dir: &Path,
    lock: Option<&[u8]>,
) -> Option<SignedProgram> {
    let before = read_lock(reviewed, &lock_path(dir)).ok()??;
    let program = by_lock(&before)?;
    let now = lock.and_then(by_lock).unwrap_or(program);
    // The reviewed header decides. Otherwise a change of the header would choose the rules for its own check: a
    // `main.tofu` hides `main.tf` from OpenTofu alone.
    let sign = if now == program {
        FlavorSign::Lock
    } else {
        FlavorSign::Reviewed
    };
    Some((program, sign))
}

/// Returns the program that wrote a lock file: by its header, else by the default registry that it names.
fn by_lock(bytes: &[u8]) -> Option<Program> {
    // Both programs write their name into the first line (`lockfile` rules 1.1). A file without it was
    // written by hand or by another tool (`lockfile` rules 5.5).
    if let Some(program) = lockfile::header_of(bytes) {
        return Some(program);
    }
    let (document, _) = lockfile::parse(FileId::ALONE, bytes, Flavor::newest(Program::Terraform));
    let mut programs = [Program::Terraform, Program::OpenTofu]
        .into_iter()
        .filter(|program| {
            let host = Flavor::newest(*program).default_host();
            document
                .addresses()
                .iter()
                .any(|addr| addr.hostname().unicode() == host)
        });
    // A lock file that names both registries was edited, or moved from one program to the other.
    programs.next().filter(|_| programs.next().is_none())
}

/// Returns whether a directory holds configuration that only OpenTofu reads.
pub(super) fn holds_tofu_files(entries: &[DirEntry]) -> bool {
    let is_tofu = |name: &str| name.ends_with(".tofu") || name.ends_with(".tofu.json");
    entries
        .iter()
        .filter_map(|entry| entry.name.to_str())
        .any(is_tofu)
}

/// The flavors that the roots of each repository have in common, by the absolute path of its top.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    by_top: Memo<PathBuf, SignedProgram>,
}

impl Neighbours {
    /// Returns whose rules apply to a root that has no sign of its own, below a directory.
    pub(super) fn below(
        &self,
        top: &ProjectPlace,
        files: &dyn Files,
        data_dir: &Path,
        projects: &Projects<'_>,
        kept_locks: &KeptLocks,
    ) -> SignedProgram {
        self.by_top.get(&top.absolute().to_owned(), || {
            // Several threads may want to know. What is wrong with the project files of other roots is
            // not reported, so that nothing of them is kept.
            let (mut projects, mut texts) = (projects.anew(), Texts::default());
            let mut programs = BTreeSet::new();
            let mut are_tofu_files = false;
            neighbours::visit(files, top, data_dir, &mut |place, entries| {
                are_tofu_files |= holds_tofu_files(entries);
                if entries
                    .iter()
                    .any(|entry| entry.name == lockfile::FILE_NAME)
                {
                    let kept = kept_locks.seen(&place.absolute().join(lockfile::FILE_NAME));
                    let lock = || match kept {
                        Some(bytes) => Some(bytes),
                        None => read_lock(files, &lock_path(place.shown()))
                            .ok()?
                            .map(Arc::from),
                    };
                    programs.extend(program_of(place, lock, &mut projects, &mut texts));
                }
                // A third root cannot make two that differ agree.
                match programs.len() {
                    0 | 1 => ControlFlow::Continue(()),
                    _ => ControlFlow::Break(()),
                }
            });
            // Lock files come first: `.tofu` files count only where there is none (`project` rules 3.1).
            if programs.is_empty() && are_tofu_files {
                return (Program::OpenTofu, FlavorSign::NeighbourFiles);
            }
            let sign = match programs.len() {
                0 => FlavorSign::Nothing,
                1 => FlavorSign::Neighbours,
                _ => FlavorSign::Mixed,
            };
            // Where they do not agree, nothing follows from any of them.
            let program = programs.pop_first().filter(|_| sign != FlavorSign::Mixed);
            (program.unwrap_or(Program::Terraform), sign)
        })
    }
}

/// Returns the program of a directory with a lock file.
fn program_of(
    place: &ProjectPlace,
    lock: impl FnOnce() -> Option<Arc<[u8]>>,
    projects: &mut Projects<'_>,
    texts: &mut Texts,
) -> Option<Program> {
    let file = projects.of(place, texts);
    if let FlavorChoice::Stated(stated) = file.project.flavor
        && !has_errors(&file.diagnostics)
    {
        return Some(stated.flavor.program());
    }
    lock().as_deref().and_then(by_lock)
}
