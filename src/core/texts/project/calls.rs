//! The decision which of the directories that were looked at are roots: it depends on who calls whom (rules 1).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::roots::{FoundRoots, MAX_DIRECTORIES, RootSearch, RootsError};
use super::units::{STACK_FILE, UnitKind};
use crate::config::{self, Glance};
use crate::flavor::Flavor;
use crate::world::clean;

/// One directory that was looked at.
pub(super) struct GlancedDirectory {
    pub(super) shown: PathBuf,
    pub(super) kind: DirectoryKind,
    /// The rules that its files were read by; `None` if there is no configuration.
    pub(super) flavor: Option<Flavor>,
    pub(super) unit: UnitKind,
    pub(super) has_unit_stack: bool,
    pub(super) is_stack: bool,
    pub(super) glance: Glance,
}

/// The kind of a directory, without regard to its callers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DirectoryKind {
    /// A root, even if another one calls it: it is locked, or the project file names it.
    Certain,
    /// A root, unless another one calls it.
    Candidate,
    /// Its project file is broken, which is reported here.
    Broken,
    /// A broken project file above governs it, so this is unknown.
    Unknown,
    /// Neither a root nor a candidate.
    Other,
}

/// All directories that were visited, with the modules that they call.
pub(super) struct CallGraph<'s> {
    pub(super) search: RootSearch<'s>,
    /// The directories by absolute path.
    pub(super) dirs: BTreeMap<PathBuf, GlancedDirectory>,
    /// The directories that each one calls, as far as that was asked; by absolute path, as bytes: parts take ten times as
    /// long to compare.
    pub(super) calls: BTreeMap<Rc<OsStr>, Rc<[Rc<OsStr>]>>,
    /// Number of directories that were listed or read.
    pub(super) listed: usize,
    pub(super) failures: Vec<RootsError>,
}

/// A directory that is a root, unless another one calls it.
struct Candidate {
    path: Rc<OsStr>,
    /// Stays a root, even if another directory calls it.
    is_certain: bool,
    /// The directories that it calls, by itself or through others.
    called: BTreeSet<Rc<OsStr>>,
}

impl CallGraph<'_> {
    /// Decides among all candidates.
    pub(super) fn decide(mut self) -> FoundRoots {
        self.find_parents();
        let candidates: Vec<(PathBuf, bool)> = self
            .dirs
            .iter()
            .filter(|(_, dir)| {
                matches!(dir.kind, DirectoryKind::Certain | DirectoryKind::Candidate)
            })
            .map(|(path, dir)| (path.clone(), dir.kind == DirectoryKind::Certain))
            .collect();
        let candidates: Vec<Candidate> = candidates
            .into_iter()
            .map(|(path, is_certain)| self.candidate(&path, is_certain))
            .collect();
        let called_by_others: BTreeSet<&OsStr> = candidates
            .iter()
            .flat_map(|root| root.called.iter().filter(|dir| **dir != root.path))
            .map(|dir| &**dir)
            .collect();
        let (modules, roots): (Vec<&Candidate>, Vec<&Candidate>) = candidates
            .iter()
            .partition(|root| !root.is_certain && called_by_others.contains(&*root.path));
        let mut covered: BTreeSet<&OsStr> = roots
            .iter()
            .flat_map(|root| &root.called)
            .map(|dir| &**dir)
            .collect();
        let mut roots: BTreeSet<&OsStr> = roots.iter().map(|root| &*root.path).collect();
        // Where directories call each other in a circle, the first one is the root of all.
        for module in modules {
            if !covered.contains(&*module.path) {
                roots.insert(&module.path);
                covered.extend(module.called.iter().map(|dir| &**dir));
            }
        }
        let mut found = FoundRoots {
            failures: std::mem::take(&mut self.failures),
            ..FoundRoots::default()
        };
        for (path, dir) in &self.dirs {
            let path = path.as_os_str();
            if dir.has_unit_stack {
                found.stacks.push(dir.shown.join(STACK_FILE));
            }
            let is_unit = dir.unit == UnitKind::Unit;
            if dir.kind == DirectoryKind::Broken || roots.contains(path) {
                found.roots.push(dir.shown.clone());
            // A broken project file may have named the directory as a root: nothing is said of it (rules 2.1).
            } else if dir.kind != DirectoryKind::Unknown
                && (dir.glance.found || is_unit || dir.is_stack)
                && !covered.contains(path)
            {
                found.units += usize::from(is_unit);
                found.not_locked.push(dir.shown.clone());
            }
        }
        found
    }

    /// Decides whether directories that generate files are units, or parents of units below.
    fn find_parents(&mut self) {
        let generating: Vec<PathBuf> = self
            .dirs
            .iter()
            .filter(|(_, dir)| dir.unit == UnitKind::Generating)
            .map(|(path, _)| path.clone())
            .collect();
        // The deepest first: a directory may turn out to be a unit, and then those above it are parents.
        for path in generating.into_iter().rev() {
            let is_parent = self
                .dirs
                .range(path.clone()..)
                .skip(1)
                .take_while(|(below, _)| below.starts_with(&path))
                .any(|(_, dir)| dir.unit == UnitKind::Unit);
            if let Some(dir) = self.dirs.get_mut(&path) {
                dir.unit = if is_parent {
                    UnitKind::Parent
                } else {
                    UnitKind::Unit
                };
                if is_parent && dir.kind == DirectoryKind::Certain {
                    dir.kind = DirectoryKind::Other;
                }
            }
        }
    }

    /// Finds every directory that a candidate calls, by itself or through others.
    fn candidate(&mut self, path: &Path, is_certain: bool) -> Candidate {
        let flavor = self.dirs[path].flavor;
        let mut called = BTreeSet::new();
        let path: Rc<OsStr> = path.as_os_str().into();
        let mut open = vec![Rc::clone(&path)];
        while let (Some(flavor), Some(dir)) = (flavor, open.pop()) {
            for target in &*self.called_by(&dir, flavor) {
                // Directories may call each other in a circle, which ends here.
                if called.insert(Rc::clone(target)) {
                    open.push(Rc::clone(target));
                }
            }
        }
        Candidate {
            path,
            is_certain,
            called,
        }
    }

    /// Returns the directories that one calls itself; what many roots call is found out once.
    fn called_by(&mut self, dir: &Rc<OsStr>, flavor: Flavor) -> Rc<[Rc<OsStr>]> {
        if let Some(known) = self.calls.get(dir) {
            return Rc::clone(known);
        }
        let path = Path::new(dir);
        let sources = match self.dirs.get(path) {
            Some(dir) => dir.glance.calls.clone(),
            // A call may lead to a directory that the search does not visit; any number may, so these count, too.
            None if self.listed == MAX_DIRECTORIES => Vec::new(),
            None => {
                self.listed += 1;
                // The module may lie beside the search, or in a directory that git ignores.
                // A failure to read it is reported when the root is loaded.
                let glance = config::glance(self.search.files, path, flavor);
                glance.unwrap_or_default().calls
            }
        };
        let called: Rc<[Rc<OsStr>]> = sources
            .iter()
            .map(|source| clean(&path.join(source)).into_os_string().into())
            .collect();
        self.calls.insert(Rc::clone(dir), Rc::clone(&called));
        called
    }
}
