//! What a command works on: a root, opened, and the roots below a directory.
//!
//! A [`Root`] is the directory of a root module with its lock file read, the project file that governs
//! it and the rules that apply there. [`Workspace`] opens roots and searches for them; a root's
//! configuration is read with [`Root::load`], where a command needs it.
//!
//! Invariant: a root whose project file has an error is not opened, and nothing here writes.

mod error;
mod flavor;
mod root;
#[cfg(test)]
mod tests;
mod unit;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::{self, Submodules};
use crate::diag::{Texts, has_errors};
use crate::flavor::{Flavor, FlavorChoice, Program};
use crate::lockfile;
use crate::parallel::Memo;
use crate::project::roots::{self, RootsError, Search, UnitRoots};
use crate::project::{self, ProjectFile, ProjectPlace, Projects, submodules};
use crate::terragrunt::Documents;
use crate::world::{Env, FileKind, Files};
use flavor::Neighbours;

pub use error::{LockCause, WorkspaceError};
pub use flavor::{FlavorSign, flavor_of};
pub use root::{LockText, Reading, Root, data_dir, environment_values, lock_path, read_lock};
pub use unit::{UNIT_CACHE, UnitFile, UnitLockUse};

/// Opens roots, and searches for them.
pub struct Workspace<'a> {
    files: &'a dyn Files,
    /// Whose rules apply, whatever project files say.
    flavor: FlavorChoice,
    projects: Projects<'a>,
    /// The working directory.
    current: PathBuf,
    /// The directory of the program's own records, from a root on.
    data_dir: PathBuf,
    /// Where roots were searched for.
    searched: Vec<ProjectPlace>,
    neighbours: Neighbours,
    /// What units of Terragrunt share.
    documents: Arc<Documents>,
    /// The submodules that are not checked out, by the absolute path of the top of the repository.
    submodules: Memo<PathBuf, Arc<[ProjectPlace]>>,
}

/// How roots are searched for.
#[derive(Clone, Copy, Debug)]
pub struct SearchSettings {
    /// In how many directories configuration is read at once.
    pub jobs: NonZeroUsize,
    /// Which units of Terragrunt are roots without a lock file.
    pub units: UnitRoots,
}

/// What a search found.
#[derive(Debug, Default)]
pub struct Searched {
    /// The roots, each once.
    pub roots: Vec<PathBuf>,
    /// Directories with configuration that no root covers.
    pub not_locked: Vec<PathBuf>,
    /// Git submodules that are not checked out, so that there may be roots.
    pub submodules: Vec<PathBuf>,
    /// Where the search could not look, and why.
    pub errors: Vec<(PathBuf, WorkspaceError)>,
}

impl<'a> Workspace<'a> {
    /// Prepares to open roots by the rules that `flavor` states; if it states none, each root decides.
    ///
    /// `project` is a project file that is used instead of the nearest one of each root; it stands in,
    /// or below, the working directory.
    ///
    /// # Errors
    /// If the working directory could not be determined.
    pub fn new(
        files: &'a dyn Files,
        env: &dyn Env,
        flavor: FlavorChoice,
        project: Option<&StatedProject>,
        texts: &mut Texts,
    ) -> Result<Self, WorkspaceError> {
        let current = env
            .current_dir()
            .map_err(|cause| WorkspaceError::NoWorkingDirectory { cause })?;
        let projects = match project {
            None => Projects::nearest(files),
            Some(StatedProject { path, base }) => {
                Projects::stated(files, texts, path, &ProjectPlace::new(base, &current))
            }
        };
        Ok(Self {
            files,
            flavor,
            projects,
            current,
            data_dir: data_dir(env),
            searched: Vec::new(),
            neighbours: Neighbours::default(),
            documents: Arc::default(),
            submodules: Memo::default(),
        })
    }

    /// Returns directories in the order given, each once, however it is written.
    #[must_use]
    pub fn distinct(&self, dirs: &[PathBuf]) -> Vec<PathBuf> {
        let mut seen = BTreeSet::new();
        let is_new = |dir: &&PathBuf| {
            let place = ProjectPlace::new(dir, &self.current);
            seen.insert(place.absolute().to_owned())
        };
        dirs.iter().filter(is_new).cloned().collect()
    }

    /// Finds the roots in directories and below: what holds a lock file or a backend, and what project
    /// files name.
    pub fn search(&mut self, tops: &[PathBuf], how: SearchSettings, texts: &mut Texts) -> Searched {
        let mut searched = Searched::default();
        let mut good = Vec::new();
        for top in tops {
            match check(self.files, top) {
                Ok(()) => good.push(ProjectPlace::new(top, &self.current)),
                Err(error) => searched.errors.push((top.clone(), error)),
            }
        }
        let (files, typed) = (self.files, self.flavor);
        let flavor = |dir: &Path, stated| {
            let lock = read_lock(files, &dir.join(lockfile::FILE_NAME));
            let lock = lock.ok().flatten();
            flavor_of(typed.or(stated), files, dir, lock.as_deref())
        };
        let search = Search {
            files,
            flavor: &flavor,
            data_dir: &self.data_dir,
            jobs: how.jobs,
            units: how.units,
        };
        let found = roots::find(search, &mut self.projects, texts, &good);
        if let (Some(top), true, true) = (
            good.first(),
            found.roots.is_empty(),
            found.failures.is_empty(),
        ) {
            let error = WorkspaceError::NoRoot {
                tops: good.iter().map(|top| top.shown().to_owned()).collect(),
                not_locked: found.not_locked.len(),
                units: found.units,
            };
            searched.errors.push((top.shown().to_owned(), error));
        }
        for error in found.failures {
            searched.errors.push((place_of(&error), error.into()));
        }
        searched.not_locked = found.not_locked;
        searched.roots = found.roots;
        for top in &good {
            let missing = self.submodules(top);
            let below = missing.iter().filter_map(|one| one.seen_from(top));
            searched.submodules.extend(below);
        }
        searched.submodules.sort();
        searched.submodules.dedup();
        self.searched = good;
        searched
    }

    /// Lists the git submodules that are not checked out in the repository of a directory.
    fn submodules(&self, place: &ProjectPlace) -> Arc<[ProjectPlace]> {
        let Some(top) = project::repository(self.files, place) else {
            return Arc::default();
        };
        let missing = || submodules::missing(self.files, &top).into();
        self.submodules.get(&top.absolute().to_owned(), missing)
    }

    /// Returns whose rules apply to a root, and what shows that.
    fn flavor(
        &self,
        choice: FlavorChoice,
        place: &ProjectPlace,
        lock: Option<&[u8]>,
    ) -> (Flavor, FlavorSign) {
        if let Some(own) = flavor::own_sign(choice, self.files, place.shown(), lock) {
            return own;
        }
        let top = project::repository(self.files, place).or_else(|| {
            let mut tops = self.searched.iter();
            let top = tops.find(|top| place.absolute().starts_with(top.absolute()));
            top.cloned()
        });
        match top {
            None => (Flavor::newest(Program::Terraform), FlavorSign::Nothing),
            Some(top) => self
                .neighbours
                .below(&top, self.files, &self.data_dir, &self.projects),
        }
    }

    /// Returns the project file that governs a root, with everything that is wrong with it.
    ///
    /// # Errors
    /// If the root is no directory, or cannot be read.
    pub fn project(
        &mut self,
        dir: &Path,
        texts: &mut Texts,
    ) -> Result<Arc<ProjectFile>, WorkspaceError> {
        check(self.files, dir)?;
        Ok(self
            .projects
            .of(&ProjectPlace::new(dir, &self.current), texts))
    }

    /// Opens a root that a project file governs: reads the lock file, decides whose rules apply.
    /// Returns nothing if the project file has errors.
    ///
    /// Roots are opened side by side: what one finds out about the repository serves the others.
    ///
    /// # Errors
    /// If the lock file cannot be read; one that can be read but not parsed is no error here.
    pub fn open(
        &self,
        dir: &Path,
        file: Arc<ProjectFile>,
        texts: &mut Texts,
    ) -> Result<Option<Root>, WorkspaceError> {
        if has_errors(&file.diagnostics) {
            return Ok(None);
        }
        let lock_path = lock_path(dir);
        let bytes = read_lock(self.files, &lock_path)?;
        let choice = self.flavor.or(file.project.flavor);
        let place = ProjectPlace::new(dir, &self.current);
        let (flavor, sign) = self.flavor(choice, &place, bytes.as_deref());
        let unit = unit::unit_file(self.files, dir).map(|name| {
            let top = project::repository(self.files, &place);
            UnitFile {
                name,
                repository: top.map(|top| top.absolute().to_owned()),
                documents: Arc::clone(&self.documents),
            }
        });
        let is_alone = match (&bytes, &unit) {
            (Some(_), None) => config::has_files(self.files, dir, flavor).is_ok_and(|has| !has),
            _ => false,
        };
        let missing = self.submodules(&place);
        let missing = missing.iter().map(|one| one.absolute().to_owned());
        let submodules = Submodules {
            missing: missing.collect(),
            root: place.absolute().to_owned(),
        };
        let lock = bytes.map(|bytes| LockText::new(&lock_path, bytes, flavor, texts));
        Ok(Some(Root {
            dir: dir.to_owned(),
            lock_path,
            flavor,
            choice,
            sign,
            lock,
            is_alone,
            unit,
            submodules,
            file,
        }))
    }
}

impl std::fmt::Debug for Workspace<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Workspace");
        shown
            .field("current", &self.current)
            .finish_non_exhaustive()
    }
}

/// A project file that counts instead of the nearest one of each root.
#[derive(Clone, Debug)]
pub struct StatedProject {
    /// Its path.
    pub path: PathBuf,
    /// The directory that its patterns of roots start from.
    pub base: PathBuf,
}

/// Makes sure that a root is a directory.
fn check(files: &dyn Files, dir: &Path) -> Result<(), WorkspaceError> {
    let dir = dir.to_owned();
    match files.kind(&dir) {
        Ok(FileKind::Directory) => Ok(()),
        Ok(_) => Err(WorkspaceError::NotADirectory { dir }),
        Err(cause) => Err(WorkspaceError::UnreadableDirectory { dir, cause }),
    }
}

fn place_of(error: &RootsError) -> PathBuf {
    match error {
        RootsError::Unreadable { path, .. }
        | RootsError::TooDeep { path }
        | RootsError::TooMany { path } => path.clone(),
    }
}
