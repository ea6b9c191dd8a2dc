//! Roots, opened, and the search for roots below a directory.
//!
//! A [`Root`] is the directory of a root module with its lock file read, the project file that governs
//! it and the rules that apply there. [`Workspace`] opens roots and searches for them; a root's
//! configuration is read with [`Root::load`], where a command needs it.
//!
//! Invariant: a root whose project file has an error is not opened, and nothing here writes.

mod error;
mod flavor;
mod kept_locks;
mod root;
#[cfg(test)]
mod tests;
mod unit;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::config::{self, Submodules};
use crate::diag::Texts;
use crate::flavor::{Flavor, FlavorChoice, Program};
use crate::lockfile;
use crate::parallel::Memo;
use crate::project::roots::{self, FoundRoots, GitEvidence, RootSearch, UnitRoots};
use crate::project::units::{self, UnitKind};
use crate::project::{self, ProjectFile, ProjectPlace, Projects, holds, neighbours, submodules};
use crate::terragrunt::{Documents, UNIT_FILE};
use crate::world::{Env, FileKind, Files, clean};
use flavor::{Neighbours, SignedProgram, ToolStatements};
use kept_locks::KeptLocks;

pub use error::{LockCause, SpecialDirectory, WorkspaceError};
pub use flavor::{FlavorSign, flavor_of};
pub use root::{
    EnvironmentUse, PinUse, Reading, Root, data_dir, environment_values, lock_path, read_lock,
};
pub use unit::{UNIT_CACHE, UnitFile, UnitLockUse};

/// Opens roots, and searches for them.
pub struct Workspace<'a> {
    files: &'a dyn Files,
    /// The chosen rules; they win over project files.
    flavor: FlavorChoice,
    projects: Projects<'a>,
    /// The evidence of git about roots.
    git: GitEvidence<'a>,
    /// The working directory, as an absolute path.
    current: PathBuf,
    /// The directory of the program's own records, from a root on.
    data_dir: PathBuf,
    /// The directories where the last search began.
    searched: Vec<ProjectPlace>,
    neighbours: Neighbours,
    tools: ToolStatements,
    /// Lock files that the last search read.
    kept_locks: KeptLocks,
    /// Documents that units of Terragrunt share.
    documents: Arc<Documents>,
    /// The submodules that are not checked out, by the absolute path of the top of the repository.
    submodules: Memo<PathBuf, Arc<[ProjectPlace]>>,
}

/// Settings of a search for roots.
#[derive(Clone, Copy, Debug)]
pub struct SearchSettings {
    /// In how many directories configuration is read at once.
    pub jobs: NonZeroUsize,
    /// The units of Terragrunt that are roots without a lock file.
    pub units: UnitRoots,
}

/// The result of a search.
#[derive(Debug, Default)]
pub struct Searched {
    /// The roots, each once.
    pub roots: Vec<PathBuf>,
    /// Directories with configuration that no root covers.
    pub not_locked: Vec<PathBuf>,
    /// Git submodules that are not checked out, so that there may be roots.
    pub submodules: Vec<PathBuf>,
    /// The files of stacks of Terragrunt, whose units are not read.
    pub stacks: Vec<PathBuf>,
    /// Directories that could not be searched.
    pub errors: Vec<(PathBuf, WorkspaceError)>,
}

impl<'a> Workspace<'a> {
    /// Prepares to open roots by the rules that `flavor` states; if it states none, each root decides.
    ///
    /// `project` is a project file that is used instead of the nearest one of each root; it is in the working
    /// directory or below. Settings of project files that have ended by `now` do not count.
    ///
    /// # Errors
    /// If the working directory could not be determined.
    pub fn new(
        files: &'a dyn Files,
        env: &dyn Env,
        flavor: FlavorChoice,
        project: Option<&StatedProject>,
        now: SystemTime,
        texts: &mut Texts,
    ) -> Result<Self, WorkspaceError> {
        let current = env
            .current_dir()
            .map_err(|cause| WorkspaceError::NoWorkingDirectory { cause })?;
        Ok(Self {
            files,
            flavor,
            projects: projects((files, now), project, &current, texts),
            git: GitEvidence::NONE,
            current,
            data_dir: data_dir(env),
            searched: Vec::new(),
            neighbours: Neighbours::default(),
            tools: ToolStatements::default(),
            kept_locks: KeptLocks::default(),
            documents: Arc::default(),
            submodules: Memo::default(),
        })
    }

    /// Reads project files from elsewhere than everything else, as from a revision; the other arguments are
    /// as for [`Workspace::new`].
    #[must_use]
    pub fn governed_from(
        mut self,
        files: &'a dyn Files,
        project: Option<&StatedProject>,
        now: SystemTime,
        texts: &mut Texts,
    ) -> Self {
        self.projects = projects((files, now), project, &self.current, texts);
        self.git.reviewed = Some(files);
        self
    }

    /// Searches for roots with what git knows: `tracked` lists the directories of all lock files that it tracks in
    /// the repository of a directory, `changed` are those whose lock file changed, all by absolute paths.
    #[must_use]
    pub fn with_git(
        mut self,
        tracked: &'a (dyn Fn(&Path) -> Vec<PathBuf> + Sync),
        changed: &'a BTreeSet<PathBuf>,
    ) -> Self {
        self.git = GitEvidence {
            tracked,
            changed,
            ..self.git
        };
        self
    }

    /// Returns the working directory, as an absolute path.
    #[must_use]
    pub fn current(&self) -> &Path {
        &self.current
    }

    /// Returns directories in the order given, each once, however it is written.
    #[must_use]
    pub fn distinct(&self, dirs: &[PathBuf]) -> Vec<PathBuf> {
        let mut absolute_dirs = BTreeSet::new();
        dirs.iter()
            .filter(|dir| absolute_dirs.insert(clean(&self.current.join(dir))))
            .cloned()
            .collect()
    }

    /// Finds the roots in directories and below: what holds a lock file or a backend, and what project
    /// files name.
    pub fn search(&mut self, tops: &[PathBuf], how: SearchSettings, texts: &mut Texts) -> Searched {
        let mut searched = Searched::default();
        let mut places = Vec::new();
        for top in tops {
            match require_directory(self.files, top) {
                Ok(()) => places.push(ProjectPlace::new(top, &self.current)),
                Err(error) => searched.errors.push((top.clone(), error)),
            }
        }
        // What is read of project files is kept for the roots that are found.
        let unread = self.projects.anew();
        let mut projects = std::mem::replace(&mut self.projects, unread);
        let found = self.find(&places, how, &mut projects, texts);
        self.projects = projects;
        // Where something could not be read there may be roots, so this is no answer.
        if let Some(top) = places.first()
            && found.roots.is_empty()
            && found.failures.is_empty()
        {
            let error = WorkspaceError::NoRoot {
                tops: places.iter().map(|top| top.shown().to_owned()).collect(),
                not_locked: found.not_locked.clone(),
                units: found.units,
            };
            searched.errors.push((top.shown().to_owned(), error));
        }
        for error in found.failures {
            searched
                .errors
                .push((error.path().to_owned(), error.into()));
        }
        searched.not_locked = found.not_locked;
        searched.stacks = found.stacks;
        searched.roots = found.roots;
        // A submodule that is not checked out may hold roots, so it is named (`project` rules 1.1).
        for top in &places {
            let missing = self.missing_submodules(self.repository(top).as_ref());
            searched
                .submodules
                .extend(missing.iter().filter_map(|place| place.seen_from(top)));
        }
        searched.submodules.sort();
        searched.submodules.dedup();
        self.searched = places;
        searched
    }

    /// Returns the roots below a directory, without any report of what is wrong there.
    #[must_use]
    pub fn roots_below(&self, dir: &Path, how: SearchSettings) -> Vec<PathBuf> {
        let places = [ProjectPlace::new(dir, &self.current)];
        let mut projects = self.projects.anew();
        self.find(&places, how, &mut projects, &mut Texts::default())
            .roots
    }

    fn find(
        &self,
        places: &[ProjectPlace],
        how: SearchSettings,
        projects: &mut Projects<'_>,
        texts: &mut Texts,
    ) -> FoundRoots {
        let (files, choice) = (self.files, self.flavor);
        let flavor = |place: &ProjectPlace, of_project| {
            let path = place.shown().join(lockfile::FILE_NAME);
            // A lock file that cannot be read is reported when its root is opened.
            let lock: Option<Arc<[u8]>> = read_lock(files, &path).ok().flatten().map(Arc::from);
            if let Some(lock) = &lock {
                self.kept_locks.keep(clean(&self.current.join(path)), lock);
            }
            if let FlavorChoice::Stated(stated) = choice.or(of_project) {
                return stated.flavor;
            }
            let repository = self.repository(place);
            let top = repository.as_ref().or_else(|| common_top(places, place));
            let own = self.own_sign(place, top.unwrap_or(place), lock.as_deref());
            Flavor::newest(own.map_or(Program::Terraform, |(program, _)| program))
        };
        let search = RootSearch {
            files,
            flavor: &flavor,
            data_dir: &self.data_dir,
            jobs: how.jobs,
            units: how.units,
            git: self.git,
        };
        roots::find(search, projects, texts, places)
    }

    /// Returns the top of the repository that a directory is in, if it is in one.
    fn repository(&self, place: &ProjectPlace) -> Option<ProjectPlace> {
        project::repository(self.files, place)
    }

    /// Lists the git submodules of a repository that are not checked out.
    fn missing_submodules(&self, top: Option<&ProjectPlace>) -> Arc<[ProjectPlace]> {
        let Some(top) = top else {
            return Arc::default();
        };
        // `.gitmodules` is read once for each repository, not for each of its roots.
        let missing = || submodules::missing(self.files, top).into();
        self.submodules.get(&top.absolute().to_owned(), missing)
    }

    /// Returns the files of the reviewed revision, if there is one: a branch must not choose the rules of its
    /// own check.
    fn reviewed_files(&self) -> &'a dyn Files {
        self.git.reviewed.unwrap_or(self.files)
    }

    /// Returns the program of a directory by its lock file, now or in the reviewed revision, by files of other tools,
    /// or by the names of its own files.
    fn own_sign(
        &self,
        place: &ProjectPlace,
        top: &ProjectPlace,
        lock: Option<&[u8]>,
    ) -> Option<SignedProgram> {
        let dir = place.shown();
        self.git
            .reviewed
            .and_then(|reviewed| flavor::reviewed_sign(reviewed, dir, lock))
            .or_else(|| flavor::lock_sign(lock))
            .or_else(|| {
                let stated = self
                    .tools
                    .nearest(self.reviewed_files(), place, top, None)?;
                Some((stated.program(), FlavorSign::Tool))
            })
            .or_else(|| flavor::by_files(self.files, dir))
    }

    /// Returns whose rules apply to a root, and what shows that.
    fn flavor(
        &self,
        choice: FlavorChoice,
        place: &ProjectPlace,
        repository: Option<&ProjectPlace>,
        lock: Option<&[u8]>,
    ) -> RootFlavor {
        if let FlavorChoice::Stated(_) = choice {
            return RootFlavor::new(choice, FlavorSign::Stated, None);
        }
        // Without a repository, the directory where the search began is the common one.
        let top = repository.or_else(|| common_top(&self.searched, place));
        let own = self.own_sign(place, top.unwrap_or(place), lock);
        let (program, sign) = own.unwrap_or_else(|| match top {
            None => (Program::Terraform, FlavorSign::Nothing),
            Some(top) => self.neighbours.below(
                top,
                self.files,
                &self.data_dir,
                &self.projects,
                &self.kept_locks,
            ),
        });
        let files = self.reviewed_files();
        // A file of a version manager states a version too, but never another program than the signs show.
        let statement = self
            .tools
            .nearest(files, place, top.unwrap_or(place), Some(program));
        match statement {
            Some(statement) => {
                let choice = FlavorChoice::Stated(statement.stated);
                RootFlavor::new(choice, sign, Some(statement.path))
            }
            None => RootFlavor {
                flavor: Flavor::newest(program),
                ..RootFlavor::new(choice, sign, None)
            },
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
        require_directory(self.files, dir)?;
        Ok(self
            .projects
            .of(&ProjectPlace::new(dir, &self.current), texts))
    }
}

impl Workspace<'_> {
    /// Finds out what a directory is that holds no configuration of a root module.
    fn special(
        &self,
        place: &ProjectPlace,
        flavor: Flavor,
        submodules: &Submodules,
    ) -> Option<SpecialDirectory> {
        // A submodule that is not checked out is an empty directory.
        if submodules.hold(Path::new("")) {
            return Some(SpecialDirectory::MissingSubmodule);
        }
        let dir = place.shown();
        let entries = self.files.list(dir).ok()?;
        let is_unit_stack = holds(&entries, units::STACK_FILE);
        if !is_unit_stack && !config::is_stack(&entries) {
            let is_parent = match units::unit_kind(self.files, place, &entries) {
                UnitKind::Parent => true,
                UnitKind::Generating => {
                    let mut is_below = false;
                    neighbours::visit(self.files, place, &self.data_dir, &mut |here, entries| {
                        if here != place && holds(entries, UNIT_FILE) {
                            is_below = true;
                            return ControlFlow::Break(());
                        }
                        ControlFlow::Continue(())
                    });
                    is_below
                }
                UnitKind::None | UnitKind::Unit => false,
            };
            return is_parent.then_some(SpecialDirectory::UnitParent);
        }
        let has_files = config::has_files(self.files, dir, flavor).unwrap_or(true);
        (!has_files).then_some(if is_unit_stack {
            SpecialDirectory::UnitStack
        } else {
            SpecialDirectory::Stack
        })
    }
}

/// Whose rules apply to a root.
struct RootFlavor {
    flavor: Flavor,
    choice: FlavorChoice,
    sign: FlavorSign,
    /// The file of another tool that states the program or its version, if one does.
    tool_file: Option<PathBuf>,
}

impl RootFlavor {
    fn new(choice: FlavorChoice, sign: FlavorSign, tool_file: Option<PathBuf>) -> Self {
        let flavor = match choice {
            FlavorChoice::Stated(stated) => stated.flavor,
            FlavorChoice::Auto => Flavor::newest(Program::Terraform),
        };
        Self {
            flavor,
            choice,
            sign,
            tool_file,
        }
    }
}

/// Returns the directory where a search began that a directory is in, if any.
fn common_top<'t>(searched: &'t [ProjectPlace], place: &ProjectPlace) -> Option<&'t ProjectPlace> {
    searched
        .iter()
        .find(|top| place.absolute().starts_with(top.absolute()))
}

/// A project file that counts instead of the nearest one of each root.
#[derive(Clone, Debug)]
pub struct StatedProject {
    /// The path as it was typed.
    pub path: PathBuf,
    /// The directory that its patterns of roots start from.
    pub base: PathBuf,
}

/// Prepares to look for project files, or takes the one that was stated.
fn projects<'a>(
    (files, now): (&'a dyn Files, SystemTime),
    project: Option<&StatedProject>,
    current: &Path,
    texts: &mut Texts,
) -> Projects<'a> {
    match project {
        None => Projects::nearest(files, now),
        Some(StatedProject { path, base }) => {
            Projects::stated(files, now, texts, path, &ProjectPlace::new(base, current))
        }
    }
}

fn require_directory(files: &dyn Files, dir: &Path) -> Result<(), WorkspaceError> {
    let dir = dir.to_owned();
    match files.kind(&dir) {
        Ok(FileKind::Directory) => Ok(()),
        Ok(_) => Err(WorkspaceError::NotADirectory { dir }),
        Err(cause) => Err(WorkspaceError::UnreadableDirectory { dir, cause }),
    }
}
