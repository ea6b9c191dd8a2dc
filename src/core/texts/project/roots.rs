//! Search for the directories that are roots (rules 1).
//!
//! A directory with a lock file is a root. So is one that holds configuration and matches `roots` of the
//! project file that governs it. One that says by a `backend` or `cloud` block where its state is kept is a root
//! unless another root calls it as a local module, however many calls are between.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::{self, Glance};
use crate::diag::{Texts, has_errors};
use crate::flavor::{Flavor, FlavorChoice};
use crate::parallel;
use crate::world::{DirEntry, FileKind, Files};

use super::calls::{CallGraph, DirectoryKind, GlancedDirectory};
pub use super::git_evidence::GitEvidence;
use super::ignores::{self, Ignores};
use super::locate::{LOCK_FILE, ProjectFile, ProjectPlace, Projects, REPOSITORY, holds};
use super::units::{self, STACK_FILE, UnitKind};

// The walk calls itself for each level.
/// Maximum depth of a directory below the one where the search begins.
pub const MAX_DEPTH: usize = 64;

/// Maximum number of directories in one search.
// The largest known repository has 11,028 units in 13,000 directories.
pub const MAX_DIRECTORIES: usize = 100_000;

/// Directories that belong to programs; they are never searched.
const SKIPPED: [&str; 3] = [REPOSITORY, ".terraform", ".terragrunt-cache"];

/// The inputs of a search for roots.
#[derive(Clone, Copy)]
pub struct RootSearch<'a> {
    /// The files of the disk or of a revision.
    pub files: &'a dyn Files,
    /// Returns whose rules apply to a directory, given what its project file says.
    pub flavor: &'a (dyn Fn(&ProjectPlace, FlavorChoice) -> Flavor + Sync),
    /// The directory of the program's own records, from a root on; it is not looked at.
    pub data_dir: &'a Path,
    /// In how many directories configuration is read at once.
    pub jobs: NonZeroUsize,
    /// The units of Terragrunt that are roots without a lock file.
    pub units: UnitRoots,
    /// The evidence of git about directories that would be passed over.
    pub git: GitEvidence<'a>,
}

/// The units of Terragrunt that are roots without a lock file (rules 1.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnitRoots {
    /// Those that match `roots` of the project file.
    #[default]
    Named,
    /// All units, with or without a pattern.
    All,
}

/// The result of a search; paths are as the user would write them, and in byte order by their
/// names.
#[derive(Debug, Default)]
pub struct FoundRoots {
    /// The roots, and every directory with a project file that is broken: it may say which others
    /// are.
    pub roots: Vec<PathBuf>,
    /// Directories that hold configuration, and are neither roots nor called by one.
    pub not_locked: Vec<PathBuf>,
    /// Number of units of Terragrunt among them.
    pub units: usize,
    /// The files of stacks of Terragrunt, whose units are not read.
    pub stacks: Vec<PathBuf>,
    /// Directories and files that could not be read, by path.
    pub failures: Vec<RootsError>,
}

/// A reason why directories were not looked at.
#[derive(Debug, thiserror::Error)]
pub enum RootsError {
    /// A directory or file cannot be read.
    #[error("{} cannot be read", path.display())]
    Unreadable {
        /// The directory or file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
    /// Directories are nested too deep.
    #[error("{} is deeper than {MAX_DEPTH} directories", path.display())]
    TooDeep {
        /// The first directory that was not looked at.
        path: PathBuf,
    },
    /// There are too many directories.
    #[error("there are more than {MAX_DIRECTORIES} directories, of which {} is one", path.display())]
    TooMany {
        /// The first directory that was not looked at.
        path: PathBuf,
    },
}

/// Finds all roots in directories and below. Links to directories are not followed, and what git
/// ignores is not looked at.
#[must_use]
pub fn find(
    search: RootSearch<'_>,
    projects: &mut Projects<'_>,
    texts: &mut Texts,
    tops: &[ProjectPlace],
) -> FoundRoots {
    let mut walk = RootWalk {
        search,
        projects,
        texts,
        ignores: Ignores::default(),
        paths: BTreeSet::new(),
        visited: Vec::new(),
        listed: 0,
        has_ignored: false,
        failures: Vec::new(),
    };
    for top in tops {
        match Ignores::above(search.files, top) {
            Ok(ignores) => walk.ignores = ignores,
            Err(cause) => {
                // The other directories are searched all the same, and the run fails at its end.
                walk.unreadable(top.shown(), cause);
                continue;
            }
        }
        walk.directory(top, 0);
    }
    // Directories that git knows as roots, and that the search skipped.
    let git = search.git;
    let mut dirs = git.changed.clone();
    // No line of a `.gitignore` concerns a file that git tracks.
    if walk.has_ignored {
        dirs.extend(tops.iter().flat_map(|top| (git.tracked)(top.shown())));
    }
    for dir in dirs {
        if walk.paths.contains(dir.as_os_str()) {
            continue;
        }
        let place = tops.iter().find_map(|top| top.below(&dir));
        // It may be gone, or it may be outside of what was searched.
        let Some(place) = place else { continue };
        if let Ok(entries) = search.files.list(place.shown()) {
            walk.visit(&place, 1, &entries);
        }
    }
    walk.look().decide()
}

/// A directory that was walked through.
struct VisitedDirectory {
    place: ProjectPlace,
    file: Arc<ProjectFile>,
    /// The search began here.
    is_top: bool,
    has_lock: bool,
    /// The revision that the run compares with has a lock file here.
    had_lock: bool,
    /// The entries, if one of them may concern Terragrunt.
    unit_entries: Vec<DirEntry>,
    /// The file of a stack of Terragrunt is here.
    has_unit_stack: bool,
    /// The directory is a Terraform Stack.
    is_stack: bool,
    /// There may be configuration, as far as the names of files show.
    may_be_configured: bool,
}

/// The walk through all directories, one after the other: `.gitignore` and project files hold for
/// the directories below.
struct RootWalk<'s, 'p> {
    search: RootSearch<'s>,
    projects: &'s mut Projects<'p>,
    texts: &'s mut Texts,
    ignores: Ignores,
    /// The absolute paths of the directories that were walked through, as bytes: parts take ten times as long to compare.
    paths: BTreeSet<OsString>,
    /// The same directories, in their order.
    visited: Vec<VisitedDirectory>,
    /// Number of directories that were listed.
    listed: usize,
    /// A directory was passed over because a `.gitignore` names it.
    has_ignored: bool,
    failures: Vec<RootsError>,
}

impl RootsError {
    /// Returns the directory or file that the error is about.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Unreadable { path, .. } | Self::TooDeep { path } | Self::TooMany { path } => path,
        }
    }
}

impl<'s> RootWalk<'s, '_> {
    /// Walks through a directory and those in it.
    fn directory(&mut self, place: &ProjectPlace, depth: usize) {
        let path = place.shown().to_owned();
        if self.listed == MAX_DIRECTORIES {
            let is_reported = |failure: &RootsError| matches!(failure, RootsError::TooMany { .. });
            if !self.failures.iter().any(is_reported) {
                self.failures.push(RootsError::TooMany { path });
            }
            return;
        }
        if depth > MAX_DEPTH {
            self.failures.push(RootsError::TooDeep { path });
            return;
        }
        // Two directories that were typed may lie in each other.
        if self.paths.contains(place.absolute().as_os_str()) {
            return;
        }
        self.listed += 1;
        let entries = match self.search.files.list(&path) {
            Ok(entries) => entries,
            Err(cause) => return self.unreadable(&path, cause),
        };
        // Git does not apply the `.gitignore` files of a repository to another one inside of it.
        let is_repository = depth > 0 && holds(&entries, REPOSITORY);
        let outer_ignores = is_repository.then(|| self.ignores.begin_repository());
        let entered = if holds(&entries, ignores::FILE_NAME) {
            self.ignores.enter(self.search.files, place)
        } else {
            Ok(false)
        };
        match entered {
            Ok(entered) => {
                self.visit(place, depth, &entries);
                for entry in entries {
                    let child = place.child(&entry.name);
                    if self.is_entered(place, &child, &entry) {
                        self.directory(&child, depth + 1);
                    }
                }
                if entered {
                    self.ignores.leave();
                }
            }
            Err(cause) => self.unreadable(&place.file(ignores::FILE_NAME), cause),
        }
        if let Some(outer) = outer_ignores {
            self.ignores = outer;
        }
    }

    /// Returns true for an entry that is a directory to walk through.
    fn is_entered(&mut self, dir: &ProjectPlace, child: &ProjectPlace, entry: &DirEntry) -> bool {
        let is_directory = entry.kind == FileKind::Directory;
        // A link is listed as a link, so that links to directories are passed over (rules 1.2).
        let may_be_entered = is_directory || entry.kind == FileKind::Symlink;
        if !may_be_entered || is_skipped(child, self.search.data_dir) {
            return false;
        }
        let is_ignored = is_directory && self.ignores.ignore(child.absolute());
        self.has_ignored |= is_ignored;
        if is_directory && !is_ignored {
            return true;
        }
        self.search.git.had_directory(dir, &entry.name)
            && self.search.files.kind(child.shown()).ok() == Some(FileKind::Directory)
    }

    fn visit(&mut self, place: &ProjectPlace, depth: usize, entries: &[DirEntry]) {
        let may_be_configuration = |entry: &DirEntry| {
            let name = entry.name.as_encoded_bytes();
            [".tf", ".tofu", ".json"]
                .iter()
                .any(|ending| name.ends_with(ending.as_bytes()))
        };
        self.paths.insert(place.absolute().into());
        self.visited.push(VisitedDirectory {
            place: place.clone(),
            file: self.projects.of(place, self.texts),
            is_top: depth == 0,
            // A directory of that name stops `init` as well: the root that reads it reports that.
            has_lock: entries.iter().any(|entry| entry.name == LOCK_FILE),
            had_lock: self.search.git.had_lock(place),
            unit_entries: if holds(entries, units::UNIT_FILE) {
                entries.to_vec()
            } else {
                Vec::new()
            },
            has_unit_stack: holds(entries, STACK_FILE),
            is_stack: config::is_stack(entries),
            may_be_configured: entries.iter().any(may_be_configuration),
        });
    }

    fn unreadable(&mut self, path: &Path, cause: io::Error) {
        let path = path.to_owned();
        self.failures.push(RootsError::Unreadable { path, cause });
    }

    /// Reads what the directories hold, several at once.
    fn look(self) -> CallGraph<'s> {
        let search = self.search;
        let dirs = parallel::map(search.jobs, &self.visited, |visited| {
            parallel::contained(|| visited.look(search)).unwrap_or_else(|message| {
                Err(io::Error::other(format!(
                    "this is a bug of lockctl: {message}"
                )))
            })
        });
        let mut graph = CallGraph {
            search,
            dirs: BTreeMap::new(),
            calls: BTreeMap::new(),
            listed: self.listed,
            failures: self.failures,
        };
        for (visited, dir) in self.visited.into_iter().zip(dirs) {
            let path = visited.place.shown().to_owned();
            match dir {
                Ok(dir) => {
                    graph.dirs.insert(visited.place.absolute().to_owned(), dir);
                }
                Err(cause) => graph.failures.push(RootsError::Unreadable { path, cause }),
            }
        }
        graph.failures.sort_by(|a, b| a.path().cmp(b.path()));
        graph
    }
}

impl VisitedDirectory {
    /// Finds out what the directory is by itself.
    fn look(&self, search: RootSearch<'_>) -> io::Result<GlancedDirectory> {
        let Self { place, file, .. } = self;
        // Whose rules apply is found out by reading the lock file, which takes time in thousands of units.
        let (flavor, glance) = if self.may_be_configured {
            let flavor = (search.flavor)(place, file.project.flavor);
            let glance = config::glance(search.files, place.shown(), flavor)?;
            (Some(flavor), glance)
        } else {
            (None, Glance::default())
        };
        let unit = units::unit_kind(search.files, place, &self.unit_entries);
        let is_unit = matches!(unit, UnitKind::Unit | UnitKind::Generating);
        let below = place.absolute().strip_prefix(&file.base);
        let matches = below.is_ok_and(|below| file.project.roots.contain(below));
        let policy = file.project.policy.as_ref();
        let requires_lock = policy.is_some_and(|policy| policy.require_lock);
        let is_broken = has_errors(&file.diagnostics);
        // One broken file governs many directories; it is reported once, in its own directory or where the
        // search began.
        let kind = if is_broken && (self.is_top || file.base == place.absolute()) {
            DirectoryKind::Broken
        } else if is_broken {
            DirectoryKind::Unknown
        // A lock file is enough: configuration that is not here counts as not seen (rules 1.1, 3.2).
        } else if self.has_lock
            || (matches && (is_unit || glance.found))
            || (is_unit && search.units == UnitRoots::All)
            // A module has no backend: another root that calls it does not cover what it was (rules 1.5).
            || (self.had_lock && glance.has_backend)
        {
            DirectoryKind::Certain
        } else if glance.found && (glance.has_backend || self.had_lock || requires_lock) {
            DirectoryKind::Candidate
        } else {
            DirectoryKind::Other
        };
        Ok(GlancedDirectory {
            shown: place.shown().to_owned(),
            kind,
            flavor,
            unit,
            has_unit_stack: self.has_unit_stack,
            is_stack: self.is_stack,
            glance,
        })
    }
}

/// Returns true for a directory of a program's own records, and for the inside of a repository.
pub(super) fn is_skipped(place: &ProjectPlace, data_dir: &Path) -> bool {
    // `TF_DATA_DIR` may give the records another name than `.terraform`.
    let name = place.absolute().file_name();
    SKIPPED.iter().any(|skipped| name == Some(skipped.as_ref()))
        || place.absolute().ends_with(data_dir)
}
