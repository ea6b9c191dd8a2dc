//! Which directories are roots (rules 1).
//!
//! A directory with a lock file is a root. So is one that holds configuration and matches `roots` of the
//! project file that governs it, or that says by a `backend` or `cloud` block where its state is kept,
//! unless another root calls it as a local module, however many calls are between.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::{self, Glance};
use crate::diag::{Texts, has_errors};
use crate::flavor::{Flavor, FlavorChoice};
use crate::parallel;
use crate::world::{DirEntry, FileKind, Files, clean};

use super::ignores::{self, Ignores};
use super::locate::{ProjectFile, ProjectPlace, Projects, REPOSITORY};

/// How deep directories may be below the one where the search begins.
pub const MAX_DEPTH: usize = 64;

/// How many directories are looked at in one search.
pub const MAX_DIRECTORIES: usize = 100_000;

/// The name of the file that makes a directory a root; only looked for here, never read.
const LOCK_FILE: &str = ".terraform.lock.hcl";

/// The name of the file that makes a directory a unit of Terragrunt, unless there is one of a stack.
const UNIT_FILE: &str = "terragrunt.hcl";
const STACK_FILE: &str = "terragrunt.stack.hcl";

/// Directories that belong to programs, whatever is in them.
pub(super) const SKIPPED: [&str; 3] = [REPOSITORY, ".terraform", ".terragrunt-cache"];

/// How roots are looked for.
#[derive(Clone, Copy)]
pub struct Search<'a> {
    /// The files.
    pub files: &'a dyn Files,
    /// Returns whose rules apply to a directory, given what its project file says.
    pub flavor: &'a (dyn Fn(&Path, FlavorChoice) -> Flavor + Sync),
    /// The directory of the program's own records, from a root on; it is not looked at.
    pub data_dir: &'a Path,
    /// In how many directories configuration is read at once.
    pub jobs: NonZeroUsize,
    /// Which units of Terragrunt are roots without a lock file.
    pub units: UnitRoots,
}

/// Which units of Terragrunt are roots without a lock file (rules 1.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnitRoots {
    /// Those that match `roots` of the project file.
    #[default]
    Named,
    /// All of them.
    All,
}

/// What was found; paths are as the user would write them, and in byte order by their names.
#[derive(Debug, Default)]
pub struct FoundRoots {
    /// The roots, and every directory with a project file that is broken: it may say which others
    /// are.
    pub roots: Vec<PathBuf>,
    /// Directories that hold configuration, and are neither roots nor called by one.
    pub not_locked: Vec<PathBuf>,
    /// How many of these are units of Terragrunt.
    pub units: usize,
    /// What could not be looked at.
    pub failures: Vec<RootsError>,
}

/// Why directories were not looked at.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RootsError {
    /// A directory or file cannot be read.
    #[error("{} cannot be read", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// Why.
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
    search: Search<'_>,
    projects: &mut Projects<'_>,
    texts: &mut Texts,
    tops: &[ProjectPlace],
) -> FoundRoots {
    let mut walk = Walk {
        search,
        projects,
        texts,
        ignores: Ignores::default(),
        known: BTreeSet::new(),
        visited: Vec::new(),
        seen: 0,
        failures: Vec::new(),
    };
    for top in tops {
        match Ignores::above(search.files, top) {
            Ok(ignores) => walk.ignores = ignores,
            Err(cause) => {
                walk.unreadable(top.shown(), cause);
                continue;
            }
        }
        walk.directory(top, 0);
    }
    walk.look().decide()
}

/// A directory that was walked through.
struct Visited {
    place: ProjectPlace,
    file: Arc<ProjectFile>,
    /// Whether the search began here.
    is_top: bool,
    has_lock: bool,
    /// Whether it is a unit of Terragrunt.
    is_unit: bool,
    /// Whether there may be configuration, as far as the names of files show.
    may_be_configured: bool,
}

/// One directory that was looked at.
struct Dir {
    shown: PathBuf,
    kind: Kind,
    /// Whose rules apply.
    flavor: Flavor,
    /// Whether it is a unit of Terragrunt.
    is_unit: bool,
    glance: Glance,
}

/// What a directory is by itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A root, whatever calls it.
    Locked,
    /// A root, unless another one calls it.
    Candidate,
    /// Its project file is broken, which is reported here.
    Broken,
    /// A broken project file above governs it, so this is unknown.
    Unknown,
    /// No root.
    Other,
}

/// The way through all directories, one after the other: what one says holds for those below.
struct Walk<'s, 'p> {
    search: Search<'s>,
    projects: &'s mut Projects<'p>,
    texts: &'s mut Texts,
    ignores: Ignores,
    /// The absolute paths of the directories that were walked through.
    known: BTreeSet<PathBuf>,
    /// The same directories, in their order.
    visited: Vec<Visited>,
    /// How many directories were looked at.
    seen: usize,
    /// What failed, with the number of directories that were visited before.
    failures: Vec<(usize, RootsError)>,
}

/// All directories that were walked through and looked at.
struct Looked<'s> {
    search: Search<'s>,
    /// By absolute path.
    dirs: BTreeMap<PathBuf, Dir>,
    /// What directories call that were not walked through, by absolute path.
    outside: BTreeMap<PathBuf, Vec<PathBuf>>,
    /// How many directories were looked at.
    seen: usize,
    failures: Vec<RootsError>,
}

impl<'s> Walk<'s, '_> {
    /// Walks through a directory and those in it.
    fn directory(&mut self, place: &ProjectPlace, depth: usize) {
        let path = place.shown().to_owned();
        if self.seen == MAX_DIRECTORIES {
            let reported = self.failures.iter();
            if !{ reported }.any(|(_, failure)| matches!(failure, RootsError::TooMany { .. })) {
                self.fail(RootsError::TooMany { path });
            }
            return;
        }
        if depth > MAX_DEPTH {
            self.fail(RootsError::TooDeep { path });
            return;
        }
        if self.known.contains(place.absolute()) {
            return;
        }
        self.seen += 1;
        let entries = match self.search.files.list(&path) {
            Ok(entries) => entries,
            Err(cause) => return self.unreadable(&path, cause),
        };
        // Another repository has rules of its own.
        let outer =
            { holds(&entries, REPOSITORY) && depth > 0 }.then(|| std::mem::take(&mut self.ignores));
        let own_rules = if holds(&entries, ignores::FILE_NAME) {
            self.ignores.enter(self.search.files, place)
        } else {
            Ok(false)
        };
        match own_rules {
            Ok(entered) => {
                self.visit(place, depth, &entries);
                self.below(place, depth, &entries);
                if entered {
                    self.ignores.leave();
                }
            }
            Err(cause) => self.unreadable(&place.file(ignores::FILE_NAME), cause),
        }
        if let Some(outer) = outer {
            self.ignores = outer;
        }
    }

    fn below(&mut self, place: &ProjectPlace, depth: usize, entries: &[DirEntry]) {
        for entry in entries {
            let child = place.child(&entry.name);
            let is_skipped = SKIPPED.iter().any(|name| entry.name == *name)
                || child.absolute().ends_with(self.search.data_dir);
            let is_wanted = entry.kind == FileKind::Directory && !is_skipped;
            if is_wanted && !self.ignores.ignore(child.absolute()) {
                self.directory(&child, depth + 1);
            }
        }
    }

    fn visit(&mut self, place: &ProjectPlace, depth: usize, entries: &[DirEntry]) {
        let may_be = |entry: &DirEntry| {
            let name = entry.name.to_string_lossy();
            [".tf", ".tofu", ".json"]
                .iter()
                .any(|end| name.ends_with(end))
        };
        self.known.insert(place.absolute().to_owned());
        self.visited.push(Visited {
            place: place.clone(),
            file: self.projects.of(place, self.texts),
            is_top: depth == 0,
            has_lock: holds(entries, LOCK_FILE),
            is_unit: holds(entries, UNIT_FILE) && !holds(entries, STACK_FILE),
            may_be_configured: entries.iter().any(may_be),
        });
    }

    fn unreadable(&mut self, path: &Path, cause: io::Error) {
        let path = path.to_owned();
        self.fail(RootsError::Unreadable { path, cause });
    }

    fn fail(&mut self, error: RootsError) {
        self.failures.push((self.visited.len(), error));
    }

    /// Looks into the directories, several at once.
    fn look(self) -> Looked<'s> {
        let search = self.search;
        let dirs = parallel::map(search.jobs, &self.visited, |one| one.look(search));
        let mut looked = Looked {
            search,
            dirs: BTreeMap::new(),
            outside: BTreeMap::new(),
            seen: self.seen,
            failures: Vec::new(),
        };
        let mut failures = self.failures.into_iter().peekable();
        for (before, (one, dir)) in self.visited.into_iter().zip(dirs).enumerate() {
            while let Some((_, failure)) = failures.next_if(|(visited, _)| *visited <= before) {
                looked.failures.push(failure);
            }
            let path = one.place.shown().to_owned();
            match dir {
                Ok(dir) => {
                    looked.dirs.insert(one.place.absolute().to_owned(), dir);
                }
                Err(cause) => looked.failures.push(RootsError::Unreadable { path, cause }),
            }
        }
        looked.failures.extend(failures.map(|(_, failure)| failure));
        looked
    }
}

impl Visited {
    /// Finds out what the directory is by itself.
    fn look(&self, search: Search<'_>) -> io::Result<Dir> {
        let Self { place, file, .. } = self;
        let flavor = (search.flavor)(place.shown(), file.project.flavor);
        let glance = if self.may_be_configured {
            config::glance(search.files, place.shown(), flavor)?
        } else {
            Glance::default()
        };
        let below = place.absolute().strip_prefix(&file.base);
        let matches = below.is_ok_and(|below| file.project.roots.contain(below));
        let is_broken = has_errors(&file.diagnostics);
        let kind = if is_broken && (self.is_top || file.base == place.absolute()) {
            Kind::Broken
        } else if is_broken {
            Kind::Unknown
        } else if self.has_lock || (self.is_unit && (matches || search.units == UnitRoots::All)) {
            Kind::Locked
        } else if glance.found && (matches || glance.has_backend) {
            Kind::Candidate
        } else {
            Kind::Other
        };
        Ok(Dir {
            shown: place.shown().to_owned(),
            kind,
            flavor,
            is_unit: self.is_unit,
            glance,
        })
    }
}

impl Looked<'_> {
    /// Decides among all candidates.
    fn decide(mut self) -> FoundRoots {
        let candidates = self
            .dirs
            .iter()
            .filter(|(_, dir)| matches!(dir.kind, Kind::Locked | Kind::Candidate));
        let candidates: Vec<PathBuf> = candidates.map(|(path, _)| path.clone()).collect();
        let mut called = BTreeMap::new();
        for path in &candidates {
            called.insert(path.clone(), self.called_by(path));
        }
        let mut by_others = BTreeSet::new();
        for (root, below) in &called {
            by_others.extend(below.iter().filter(|dir| *dir != root));
        }
        // Where directories call each other in a circle, the first one is the root of all.
        let (rest, roots): (Vec<&PathBuf>, Vec<&PathBuf>) = candidates
            .iter()
            .partition(|path| by_others.contains(path) && self.dirs[*path].kind != Kind::Locked);
        let mut roots: BTreeSet<&PathBuf> = roots.into_iter().collect();
        let mut covered: BTreeSet<&PathBuf> =
            roots.iter().flat_map(|root| &called[*root]).collect();
        for path in rest {
            if !covered.contains(path) {
                roots.insert(path);
                covered.extend(&called[path]);
            }
        }
        let shown = |path: &PathBuf| self.dirs[path].shown.clone();
        let is_root = |path: &PathBuf, dir: &Dir| dir.kind == Kind::Broken || roots.contains(path);
        let is_open = |path: &PathBuf, dir: &Dir| {
            let is_known = dir.kind != Kind::Unknown;
            let is_configuration = dir.glance.found || dir.is_unit;
            is_known && is_configuration && !is_root(path, dir) && !covered.contains(path)
        };
        let units = self.dirs.iter();
        let units = units
            .filter(|(path, dir)| dir.is_unit && is_open(path, dir))
            .count();
        let list = |keep: &dyn Fn(&PathBuf, &Dir) -> bool| {
            let kept = self.dirs.iter().filter(|(path, dir)| keep(path, dir));
            kept.map(|(path, _)| shown(path)).collect()
        };
        FoundRoots {
            roots: list(&is_root),
            not_locked: list(&is_open),
            units,
            failures: std::mem::take(&mut self.failures),
        }
    }

    /// Lists every directory that a root calls, by itself or through others.
    fn called_by(&mut self, root: &Path) -> BTreeSet<PathBuf> {
        let mut called = BTreeSet::new();
        let flavor = self.dirs[root].flavor;
        let mut open = vec![root.to_owned()];
        while let Some(dir) = open.pop() {
            let calls = match self.dirs.get(&dir) {
                Some(dir) => dir.glance.calls.clone(),
                None => self.outside(&dir, flavor),
            };
            for source in calls {
                let target = clean(&dir.join(source));
                if called.insert(target.clone()) {
                    open.push(target);
                }
            }
        }
        called
    }

    /// Returns what a directory calls that was not walked through. That it cannot be read is reported
    /// when the root is loaded.
    fn outside(&mut self, dir: &Path, flavor: Flavor) -> Vec<PathBuf> {
        if let Some(known) = self.outside.get(dir) {
            return known.clone();
        }
        if self.seen == MAX_DIRECTORIES {
            return Vec::new();
        }
        self.seen += 1;
        let glance = config::glance(self.search.files, dir, flavor).unwrap_or_default();
        self.outside.insert(dir.to_owned(), glance.calls.clone());
        glance.calls
    }
}

/// Returns whether a directory holds a file of a name; `.git` may be a directory, too.
pub(super) fn holds(entries: &[DirEntry], name: &str) -> bool {
    let mut own = entries.iter().filter(|entry| entry.name == name);
    own.any(|entry| name == REPOSITORY || entry.kind != FileKind::Directory)
}
