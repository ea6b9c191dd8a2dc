//! Project files of a git revision, which govern what is on disk.

use std::borrow::Cow;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::advice;
use crate::cli::World;
use crate::git::{GitError, Repository, Revision, Tree};
use crate::project;
use crate::report::{Failure, Sentence};
use crate::run::options::Options;
use crate::world::{Disk, Files, Layer, clean};

/// Digits of the name of a commit that are shown; git shows as many.
const SHOWN_DIGITS: usize = 7;

/// The files of a revision, by the paths that they have on disk.
pub(super) struct ProjectRevision<'a> {
    tree: Tree<'a>,
    revision: Revision,
    /// The absolute path of the working directory.
    current: PathBuf,
    /// The absolute path of the project file that was stated.
    stated: Option<PathBuf>,
    /// The files as they are now.
    disk: &'a dyn Disk,
    /// A project file that was looked for is another one on disk.
    differs: AtomicBool,
}

impl<'a> ProjectRevision<'a> {
    /// Finds the revision of `--config-at`; `None` without that option.
    ///
    /// # Errors
    /// If the revision names nothing, or git does not answer.
    pub(super) fn open(options: &Options, world: World<'a>) -> Result<Option<Self>, Failure> {
        let Some(text) = &options.config_at else {
            return Ok(None);
        };
        let current = world.env.current_dir().unwrap_or_default();
        let open = || {
            let repository = Repository::find(world.run, &options.below(Path::new(".")))?;
            let top = clean(&current.join(repository.top().ok_or(GitError::Bare)?));
            let revision = repository.revision(text)?;
            let tree = Tree::new(&repository, &revision).placed_at(top);
            Ok((tree, revision))
        };
        let (tree, revision) = open().map_err(|error: GitError| advice::git::failure(&error))?;
        let stated = options.config.as_ref();
        Ok(Some(Self {
            tree,
            revision,
            stated: stated.map(|path| clean(&current.join(options.below(path)))),
            current,
            disk: world.disk,
            differs: AtomicBool::new(false),
        }))
    }

    /// Says whose project files count, if those on disk would say something else.
    pub(super) fn remark(&self) -> Option<Sentence> {
        if !self.differs.load(Ordering::Relaxed) {
            return None;
        }
        let Revision { text, id, .. } = &self.revision;
        let name = if text == id.as_str() {
            text.get(..SHOWN_DIGITS).unwrap_or(text)
        } else {
            text
        };
        Some(Sentence::note(format!(
            "project files are those of {name}, not those on disk, which differ"
        )))
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        clean(&self.current.join(path))
    }
}

impl Layer for ProjectRevision<'_> {
    fn base(&self) -> &dyn Files {
        &self.tree
    }

    fn at<'p>(&self, path: &'p Path) -> io::Result<Cow<'p, Path>> {
        Ok(Cow::Owned(self.absolute(path)))
    }

    fn bytes(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let path = self.absolute(path);
        let read = self.tree.read(&path, limit);
        // Lock files are read from the revision, too, for the flavor: that they differ is no news.
        let is_project_file =
            path.ends_with(project::FILE_NAME) || self.stated.as_ref() == Some(&path);
        if is_project_file && read.as_ref().ok() != self.disk.read(&path, limit).as_ref().ok() {
            self.differs.store(true, Ordering::Relaxed);
        }
        match read {
            // A pull request may add the file that a workflow names: before it, nothing was stated.
            Err(error)
                if error.kind() == ErrorKind::NotFound && self.stated.as_ref() == Some(&path) =>
            {
                Ok(Vec::new())
            }
            read => read,
        }
    }

    fn name(&self, path: &Path) -> String {
        path.display().to_string()
    }
}
