//! The project file that governs a directory: the nearest one, up to the top of the repository.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::diag::{self, Diagnostic, Span, Texts, rules};
use crate::world::{DirEntry, FileKind, Files, clean, is_outside};

use super::lists::{self, MAX_LIST_BYTES};
use super::{FILE_NAME, MAX_FILE_BYTES, Project, read};

/// The name of what is at the top of a repository; a work tree has a file of that name.
pub(super) const REPOSITORY: &str = ".git";

/// The name of the file that makes a directory a root; only looked for here, never read.
pub(super) const LOCK_FILE: &str = ".terraform.lock.hcl";

/// Maximum number of directories that are looked at above a root.
const MAX_LEVELS: usize = 256; // Linux allows 4,096 bytes, and names have about 16.

/// Errors of the system for a path that does not exist.
const ABSENT: [ErrorKind; 2] = [ErrorKind::NotFound, ErrorKind::NotADirectory];

/// A directory as it was written, and where it is.
///
/// Both are resolved by text alone: a directory reached through a link is where the link is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProjectPlace {
    absolute: PathBuf, // Invariant: without `.` and `..`.
    shown: PathBuf,
}

/// A project file, or that there is none.
#[derive(Clone, Debug, Default)]
pub struct ProjectFile {
    /// The path to show; `None` if no file governs the directory.
    pub path: Option<PathBuf>,
    /// The directory that its paths start from.
    pub base: PathBuf,
    /// The settings; the defaults if there is no file.
    pub project: Project,
    /// All problems of the file, in the order of their places.
    pub diagnostics: Vec<Diagnostic>,
}

/// All project files that were looked for in a run.
pub struct Projects<'a> {
    files: &'a dyn Files,
    /// The time that ends of settings are compared with.
    now: SystemTime,
    /// The one file that counts instead of all others.
    stated: Option<Arc<ProjectFile>>,
    by_dir: BTreeMap<OsString, Arc<ProjectFile>>,
}

impl ProjectPlace {
    /// Makes a place of a directory; `current` is the working directory.
    #[must_use]
    pub fn new(dir: &Path, current: &Path) -> Self {
        let shown: PathBuf = dir.components().collect();
        Self {
            absolute: clean(&current.join(dir)),
            shown: if shown.as_os_str().is_empty() {
                PathBuf::from(".")
            } else {
                shown
            },
        }
    }

    /// Returns the directory as a user would write it; never empty.
    #[must_use]
    pub fn shown(&self) -> &Path {
        &self.shown
    }

    /// Returns the absolute path, without `.` and `..`.
    #[must_use]
    pub fn absolute(&self) -> &Path {
        &self.absolute
    }

    /// Returns the path to show of a directory that is in another one, by way of that; `None` if it
    /// is not there.
    #[must_use]
    pub fn seen_from(&self, other: &Self) -> Option<PathBuf> {
        let below = self.absolute.strip_prefix(&other.absolute).ok()?;
        Some(if below.as_os_str().is_empty() {
            other.shown.clone()
        } else if other.shown == Path::new(".") {
            below.to_owned()
        } else {
            other.shown.join(below)
        })
    }

    /// Returns the path of a file in the directory, to read and to show.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.shown_below(OsStr::new(name))
    }

    /// Returns a directory in this one.
    pub(super) fn child(&self, name: &OsStr) -> Self {
        Self {
            absolute: self.absolute.join(name),
            shown: self.shown_below(name),
        }
    }

    fn shown_below(&self, name: &OsStr) -> PathBuf {
        if self.shown == Path::new(".") {
            PathBuf::from(name)
        } else {
            self.shown.join(name)
        }
    }

    /// Returns a directory in this one, however deep, by its absolute path.
    pub(super) fn below(&self, absolute: &Path) -> Option<Self> {
        let below = absolute.strip_prefix(&self.absolute).ok()?;
        Some(
            below
                .iter()
                .fold(self.clone(), |place, name| place.child(name)),
        )
    }

    /// Walks from the directory up to one above it, both included; only itself, if the other one is not above.
    pub fn up_to(&self, top: &Self) -> impl Iterator<Item = Self> {
        let levels = match self.absolute.strip_prefix(&top.absolute) {
            Ok(below) => below.components().count(),
            Err(_) => 0,
        };
        std::iter::successors(Some(self.clone()), Self::parent).take((levels + 1).min(MAX_LEVELS))
    }

    /// Returns the directory above.
    pub(super) fn parent(&self) -> Option<Self> {
        let absolute = self.absolute.parent()?.to_owned();
        let shown = match self.shown.components().next_back() {
            Some(Component::Normal(_)) => match self.shown.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
                _ => PathBuf::from("."),
            },
            // Only names can be removed from what a user typed: `..` may follow a link.
            Some(Component::CurDir) | None => PathBuf::from(".."),
            _ => self.shown.join(".."),
        };
        Some(Self { absolute, shown })
    }
}

impl<'a> Projects<'a> {
    /// Looks for the nearest file above each directory.
    #[must_use]
    pub fn nearest(files: &'a dyn Files, now: SystemTime) -> Self {
        Self {
            files,
            now,
            stated: None,
            by_dir: BTreeMap::new(),
        }
    }

    /// Takes one file instead of all others, which must be there; its paths start from `base`.
    #[must_use]
    pub fn stated(
        files: &'a dyn Files,
        now: SystemTime,
        texts: &mut Texts,
        path: &Path,
        base: &ProjectPlace,
    ) -> Self {
        // `--config /dev/null` turns all project files off. `Files` refuses to read a device.
        let file = if path == Path::new("/dev/null") {
            ProjectFile::default()
        } else {
            match files.read(path, MAX_FILE_BYTES) {
                Ok(bytes) => understood(files, now, texts, path, base, bytes),
                Err(error) => unreadable(texts, path, base, &error),
            }
        };
        Self {
            stated: Some(Arc::new(file)),
            ..Self::nearest(files, now)
        }
    }

    /// Looks for the same files anew, knowing none of them.
    #[must_use]
    pub fn anew(&self) -> Self {
        Self {
            files: self.files,
            now: self.now,
            stated: self.stated.clone(),
            by_dir: BTreeMap::new(),
        }
    }

    /// Returns the file that governs a directory.
    pub fn of(&mut self, place: &ProjectPlace, texts: &mut Texts) -> Arc<ProjectFile> {
        if let Some(stated) = &self.stated {
            return Arc::clone(stated);
        }
        let mut passed = Vec::new();
        let mut next = Some(place.clone());
        let mut file = Arc::default();
        while let Some(here) = next.take() {
            if let Some(known) = self.by_dir.get(here.absolute().as_os_str()) {
                file = Arc::clone(known);
                break;
            }
            passed.push(here.absolute().as_os_str().to_owned());
            let path = here.file(FILE_NAME);
            match self.files.read(&path, MAX_FILE_BYTES) {
                Ok(bytes) => {
                    file = Arc::new(understood(self.files, self.now, texts, &path, &here, bytes));
                    break;
                }
                // A confined run must not learn whether a file exists outside.
                Err(error) if ABSENT.contains(&error.kind()) || is_outside(&error) => {}
                Err(error) => {
                    file = Arc::new(unreadable(texts, &path, &here, &error));
                    break;
                }
            }
            // The search ends at the top of the repository (rules 2.1): other users may be able to write to a
            // directory above it, and they must not decide what may be locked.
            let is_top = self.files.kind(&here.file(REPOSITORY)).is_ok();
            if !is_top && passed.len() < MAX_LEVELS {
                next = here.parent();
            }
        }
        // All directories on the way have the same file; for the next root below them nothing is read again.
        for dir in passed {
            self.by_dir.insert(dir, Arc::clone(&file));
        }
        file
    }
}

/// Finds the top of the repository that a directory is in: the nearest one above it, or itself,
/// that holds a `.git`.
#[must_use]
pub fn repository(files: &dyn Files, place: &ProjectPlace) -> Option<ProjectPlace> {
    std::iter::successors(Some(place.clone()), ProjectPlace::parent)
        .take(MAX_LEVELS)
        .find(|here| files.kind(&here.file(REPOSITORY)).is_ok())
}

/// Reads a project file, which is at this path and whose paths begin at this place.
fn understood(
    files: &dyn Files,
    now: SystemTime,
    texts: &mut Texts,
    path: &Path,
    base: &ProjectPlace,
    bytes: Vec<u8>,
) -> ProjectFile {
    let file = texts.add(path.display().to_string(), bytes);
    let (mut project, mut diagnostics) = read::read(file, texts.bytes(file));
    // Before anything is judged: a setting that has ended must not turn off a finding.
    diagnostics.extend(project.end_settings(now));
    diag::in_order(&mut diagnostics);
    if let Some(from) = &project.roots_from {
        let listed = files
            .read(&base.file(&from.path), MAX_LIST_BYTES)
            .map_err(|error| error.to_string())
            .and_then(|bytes| {
                // Comments may be in another encoding; a damaged path is reported as missing later.
                let text = String::from_utf8_lossy(&bytes);
                lists::directories(&text).map_err(|error| error.to_string())
            });
        match listed {
            Ok(dirs) => project.roots.add(dirs),
            Err(reason) => diagnostics.push(
                Diagnostic::error(rules::PROJECT_INVALID, "Roots of another tool not read")
                    .at(from.place.file, from.place.span, reason)
                    .help("name a file like atlantis.yaml, with a dir for each of its projects"),
            ),
        }
    }
    ProjectFile {
        path: Some(path.to_owned()),
        base: base.absolute().to_owned(),
        project,
        diagnostics,
    }
}

fn unreadable(
    texts: &mut Texts,
    path: &Path,
    base: &ProjectPlace,
    error: &io::Error,
) -> ProjectFile {
    let file = texts.add(path.display().to_string(), Vec::new());
    let help = match error.kind() {
        kind if ABSENT.contains(&kind) => "correct the path",
        ErrorKind::FileTooLarge => "this is hardly a project file; make it smaller",
        // `Files::read` refuses a device or a pipe as `InvalidInput`.
        ErrorKind::IsADirectory | ErrorKind::InvalidInput => "put a file in its place",
        _ => "make it readable",
    };
    let diagnostic = Diagnostic::error(rules::FILE_UNREADABLE, "Failed to read project file")
        .at(file, Span::default(), error.to_string())
        .help(help);
    ProjectFile {
        path: Some(path.to_owned()),
        base: base.absolute().to_owned(),
        project: Project::default(),
        diagnostics: vec![diagnostic],
    }
}

/// Returns true if a directory holds a file of a name; `.git` may be a directory, too.
#[must_use]
pub fn holds(entries: &[DirEntry], name: &str) -> bool {
    entries.iter().any(|entry| {
        entry.name == name && (name == REPOSITORY || entry.kind != FileKind::Directory)
    })
}
