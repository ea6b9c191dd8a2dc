//! Files of one directory, and nothing outside of it.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::{
    Disk, DraftDirectory, DraftFile, Exclusive, FileKind, Files, Layer, Objects, PrivateDirectory,
    Replaced, Replacement, Scratch,
};

/// Maximum number of links in a row that are followed; Linux has the same limit.
const MAX_LINKS: usize = 40;

/// Files for a run that must not read or write outside of some places.
///
/// Every path is followed link by link before anything is touched. As soon as it leaves the
/// places, by `..` or by a link, it is refused, whether or not there is something: what is
/// outside cannot even be asked for. A link that is changed meanwhile makes no difference: what was
/// looked at is used by way of [`Disk::without_links`], which follows none.
pub struct Confined<'a> {
    disk: &'a dyn Disk,
    current: PathBuf,
    places: Vec<AllowedPlace>,
    /// The directory, as it was named.
    named: PathBuf,
}

/// A directory or file that may be touched.
struct AllowedPlace {
    /// As it was named, but absolute.
    named: PathBuf,
    /// The path with all links followed.
    real: PathBuf,
}

/// A path that leads out of the directory that must hold everything.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is outside of the directory {}, which confines this run", top.display())]
pub struct Outside {
    /// The directory, as it was named.
    pub top: PathBuf,
}

/// Returns whether an error means that a path leads outside of where files may be read.
#[must_use]
pub fn is_outside(error: &io::Error) -> bool {
    let inner = error.get_ref();
    inner.is_some_and(|inner| inner.is::<Outside>())
}

impl<'a> Confined<'a> {
    /// Confines reading and writing to a directory, and to files or directories beside it that
    /// were named by a trusted user. Relative paths start from `current`, which is absolute.
    ///
    /// # Errors
    /// If there is no such directory, or what leads to it cannot be followed.
    pub fn new(
        disk: &'a dyn Disk,
        current: PathBuf,
        top: &Path,
        beside: &[PathBuf],
    ) -> io::Result<Self> {
        if disk.kind(&current.join(top))? != FileKind::Directory {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let mut confined = Self {
            disk,
            current,
            places: Vec::new(),
            named: top.to_owned(),
        };
        for path in std::iter::once(top).chain(beside.iter().map(PathBuf::as_path)) {
            let real = confined.follow(path, |_| LinkStep::Look)?;
            let named = confined.current.join(path);
            confined.places.push(AllowedPlace { named, real });
        }
        Ok(confined)
    }

    /// Returns the path without links, if it is inside.
    fn inside(&self, path: &Path) -> io::Result<PathBuf> {
        let path = self.current.join(path);
        // The links on the way to a place are those of the user who named it.
        let of_place = self.places.iter().find_map(|place| {
            let below = path.strip_prefix(&place.named).ok()?;
            Some(place.real.join(below))
        });
        let reals = || self.places.iter().map(|place| place.real.as_path());
        let found = self.follow(of_place.as_deref().unwrap_or(&path), |at| {
            if reals().any(|real| at.starts_with(real)) {
                LinkStep::Look
            } else if reals().any(|real| real.starts_with(at)) {
                // The way to a place was followed when the place was.
                LinkStep::Pass
            } else {
                LinkStep::Refuse
            }
        })?;
        if reals().any(|real| found.starts_with(real)) {
            Ok(found)
        } else {
            Err(self.outside())
        }
    }

    /// Returns the path with links followed up to its last part, if that directory is inside;
    /// nothing if there is no last part.
    fn inside_itself(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        // The last part is not followed: it may be a link that leads outside, and is read or removed as a link.
        let dir = path.parent().unwrap_or(Path::new(""));
        match path.file_name() {
            Some(name) => Ok(Some(self.inside(dir)?.join(name))),
            None => Ok(None),
        }
    }

    /// Follows a path link by link; at each of its parts `may` says what may be done.
    fn follow(&self, path: &Path, may: impl Fn(&Path) -> LinkStep) -> io::Result<PathBuf> {
        let path = self.current.join(path);
        let mut left: VecDeque<PathPart> = parts(&path).collect();
        let mut at = PathBuf::new();
        let mut links = 0;
        while let Some(part) = left.pop_front() {
            match part {
                // The target of a link may be absolute; it starts from the top again.
                PathPart::Root(root) => at = PathBuf::from(root),
                // Above the root is the root.
                PathPart::Up => drop(at.pop()),
                PathPart::Name(name) => {
                    at.push(name);
                    // Before the part is looked at: an error must not tell whether something exists outside.
                    let step = may(&at);
                    if step == LinkStep::Refuse {
                        return Err(self.outside());
                    }
                    if step == LinkStep::Pass {
                        continue;
                    }
                    if let Some(target) = self.disk.link(&at)? {
                        links += 1;
                        if links > MAX_LINKS {
                            return Err(io::Error::other("too many links in a row"));
                        }
                        // The target starts from the directory of the link, or from the top if it is absolute.
                        at.pop();
                        let rest = std::mem::take(&mut left);
                        left = parts(&target).chain(rest).collect();
                    }
                }
            }
        }
        Ok(at)
    }

    fn outside(&self) -> io::Error {
        let top = self.named.clone();
        io::Error::new(io::ErrorKind::PermissionDenied, Outside { top })
    }
}

/// The access that is allowed at a part of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LinkStep {
    /// The part may be a link.
    Look,
    /// The part is known to be no link.
    Pass,
    Refuse,
}

/// A part of a path.
enum PathPart {
    /// The beginning of an absolute path.
    Root(OsString),
    Up,
    Name(OsString),
}

fn parts(path: &Path) -> impl Iterator<Item = PathPart> {
    let mut root = OsString::new();
    let parts = path.components().filter_map(move |part| match part {
        Component::CurDir => None,
        Component::ParentDir => Some(PathPart::Up),
        Component::Normal(name) => Some(PathPart::Name(name.to_owned())),
        Component::Prefix(_) | Component::RootDir => {
            root.push(part.as_os_str());
            Some(PathPart::Root(root.clone()))
        }
    });
    parts.collect::<Vec<_>>().into_iter()
}

impl Layer for Confined<'_> {
    fn base(&self) -> &dyn Files {
        self.disk.without_links()
    }

    fn at<'p>(&self, path: &'p Path) -> io::Result<Cow<'p, Path>> {
        Ok(Cow::Owned(self.inside(path)?))
    }
}

impl Disk for Confined<'_> {
    fn without_links(&self) -> &dyn Disk {
        self
    }

    /// Reads a link that is written inside, even if it leads outside.
    fn link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        match self.inside_itself(path)? {
            Some(path) => self.disk.without_links().link(&path),
            None => Ok(None),
        }
    }

    fn exclusive(&self, path: &Path) -> io::Result<Exclusive> {
        let path = self.inside(path)?;
        self.disk.without_links().exclusive(&path)
    }

    fn replace_held(&self, held: &Exclusive, file: Replacement<'_>) -> io::Result<Replaced> {
        // The file is compared and replaced by a path that was checked, and that has no links in it.
        let (disk, path) = (self.disk.without_links(), &self.inside(file.path)?);
        disk.replace_held(held, Replacement { path, ..file })
    }

    fn remove(&self, path: &Path, old: &[u8]) -> io::Result<Replaced> {
        match self.inside_itself(path)? {
            // A link is an error: its target could become something else before the removal.
            Some(path) => self.disk.without_links().remove(&path, old),
            None => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        let path = self.inside(path)?;
        self.disk.without_links().make_directory(&path)
    }

    fn sweep(&self, path: &Path) {
        if let Ok(path) = self.inside(path) {
            self.disk.without_links().sweep(&path);
        }
    }

    fn draft(&self, dir: &Path) -> io::Result<Box<dyn DraftFile + '_>> {
        self.disk.without_links().draft(&self.inside(dir)?)
    }

    fn draft_directory(&self, dir: &Path) -> io::Result<Box<dyn DraftDirectory + '_>> {
        let dir = self.inside(dir)?;
        self.disk.without_links().draft_directory(&dir)
    }

    fn executable(&self, path: &Path) -> io::Result<u32> {
        self.disk.without_links().executable(&self.inside(path)?)
    }

    /// A link is an error, as for [`Disk::remove`].
    fn delete(&self, path: &Path) -> io::Result<()> {
        match self.inside_itself(path)? {
            Some(path) => self.disk.without_links().delete(&path),
            None => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    fn remove_empty(&self, path: &Path) -> io::Result<()> {
        match self.inside_itself(path)? {
            Some(path) => self.disk.without_links().remove_empty(&path),
            None => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// The directory for objects belongs to the user, so it is not confined.
    fn objects(&self, dir: &Path) -> Box<dyn Objects + '_> {
        self.disk.objects(dir)
    }

    fn scratch(&self) -> io::Result<Box<dyn Scratch>> {
        self.disk.scratch()
    }

    fn private_directory(&self) -> io::Result<Box<dyn PrivateDirectory>> {
        self.disk.private_directory()
    }
}
