//! Files below one directory, for values that a configuration computes from files.

use std::borrow::Cow;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::{FileKind, Files, Layer};

/// The name of git's own directory, which holds credentials of remotes beside its objects.
const GIT_DIRECTORY: &str = ".git";

/// Files below one directory; all others are refused.
///
/// A configuration from a pull request may make the address of a module out of
/// `file("/proc/self/environ")`: the address is shown in messages and sent to the host that it names. So paths that
/// lead out of the directory, by `..`, by a link or because they are absolute, are refused before
/// anything is read, and so is the directory of git.
#[derive(Clone)]
pub struct Within<'a> {
    files: &'a dyn Files,
    top: PathBuf,
    /// The path of the top without links once something was asked for; `None` if it cannot be determined, and then
    /// no file below it can be looked at.
    real_top: Arc<OnceLock<Option<PathBuf>>>,
    /// Returns true for paths that are allowed wherever they lead.
    is_exempt: &'a (dyn Fn(&Path) -> bool + Sync),
}

/// A path leads out of the directory below which values are computed from files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is outside of the repository")]
pub struct BeyondTop;

/// Returns true for the error of a path that [`Within`] refuses.
#[must_use]
pub fn is_beyond_top(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<BeyondTop>())
}

impl<'a> Within<'a> {
    /// Limits files to those below a directory, besides paths that `is_exempt` accepts.
    #[must_use]
    pub fn new(
        files: &'a dyn Files,
        top: &Path,
        is_exempt: &'a (dyn Fn(&Path) -> bool + Sync),
    ) -> Self {
        Self {
            files,
            top: top.to_owned(),
            real_top: Arc::default(),
            is_exempt,
        }
    }

    /// Allows files to be looked at everywhere.
    #[must_use]
    pub fn anywhere(files: &'a dyn Files) -> Self {
        Self::new(files, Path::new(""), &|_| true)
    }

    /// Returns true if a path, with all of its links followed, stays below the directory.
    fn holds(&self, path: &Path) -> bool {
        let resolved = || self.files.resolve(&self.top).ok();
        let Some(top) = self.real_top.get_or_init(resolved) else {
            return false;
        };
        // Of a missing path the nearest directory that exists counts: nor may a message tell whether
        // something exists outside.
        for above in path.ancestors() {
            let above = some_path(above);
            match self.files.resolve(above) {
                Ok(real) => {
                    return real.strip_prefix(top).is_ok_and(|below| {
                        !below
                            .components()
                            .any(|part| part.as_os_str().eq_ignore_ascii_case(GIT_DIRECTORY))
                    });
                }
                // A link that leads nowhere may lead out as well.
                Err(error)
                    if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&error.kind())
                        && !is_link(self.files, above) => {}
                Err(_) => return false,
            }
        }
        false
    }
}

/// Returns true for a link, also for one that leads nowhere.
#[must_use]
pub fn is_link(files: &dyn Files, path: &Path) -> bool {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
        return false;
    };
    files
        .list(some_path(dir))
        .unwrap_or_default()
        .iter()
        .any(|entry| entry.name == *name && entry.kind == FileKind::Symlink)
}

/// Returns a path that the system knows: the empty one names no directory.
fn some_path(path: &Path) -> &Path {
    if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    }
}

impl Layer for Within<'_> {
    fn base(&self) -> &dyn Files {
        self.files
    }

    fn at<'p>(&self, path: &'p Path) -> io::Result<Cow<'p, Path>> {
        if (self.is_exempt)(path) || self.holds(path) {
            return Ok(Cow::Borrowed(path));
        }
        Err(io::Error::new(ErrorKind::PermissionDenied, BeyondTop))
    }
}
