//! Checks of all roots of a run together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::inputs::RootInputs;
use super::levels;
use super::policy;
use super::run::RootVerdict;
use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, Finding, Span, rules};
use crate::flavor::Flavor;
use crate::lockfile::LockText;
use crate::project::Project;
use crate::version::Version;

/// A root whose verdict is completed by the comparison with others.
#[derive(Debug)]
pub struct ComparedRoot<'a> {
    /// The root as it was read.
    pub root: RootInputs<'a>,
    /// The verdict of its own checks.
    pub verdict: &'a mut RootVerdict,
    /// The directory of the root, to show.
    pub shown: &'a Path,
    /// The absolute path of the directory.
    pub dir: PathBuf,
    /// The absolute paths of the directories of all local modules in its tree.
    pub called: &'a BTreeSet<PathBuf>,
}

impl ComparedRoot<'_> {
    /// Adds findings with the severity that the project file states; no fault of a file is among them, so each may
    /// be turned off.
    fn report(&mut self, findings: Vec<Finding>) {
        let (project, flavor) = (self.root.project, self.root.flavor);
        let (kept, turned_off) = levels::apply(findings, &[], project, flavor);
        self.verdict.findings.extend(kept);
        self.verdict.turned_off.extend(turned_off);
    }
}

/// Reports entries that are older than the newest one of their provider in any root, in each root with the severity
/// that its project file states; the rule is off unless a project file asks for it.
pub fn compare_versions(roots: &mut [ComparedRoot<'_>]) {
    let mut entries: BTreeMap<&ProviderAddr, Vec<(usize, &LockText, &Version)>> = BTreeMap::new();
    for (index, ComparedRoot { root, .. }) in roots.iter().enumerate() {
        let Some(lock) = root.lock else { continue };
        for (provider, entry) in &lock.document.lock.providers {
            let own = (index, lock, &entry.version);
            entries.entry(provider).or_default().push(own);
        }
    }
    let mut older: Vec<(usize, &ProviderAddr, Diagnostic)> = Vec::new();
    for (provider, entries) in entries {
        let place = |lock: &LockText| {
            let places = lock.document.places.get(provider);
            places.map_or_else(Span::default, |places| places.version)
        };
        // Of several roots with the newest version the first is named.
        let Some((_, newest_lock, newest)) =
            entries.iter().rev().max_by_key(|(.., version)| *version)
        else {
            continue;
        };
        for (index, lock, version) in &entries {
            if version >= newest {
                continue;
            }
            let title = format!("{provider} is locked at {version} here and at {newest} elsewhere");
            let diagnostic = Diagnostic::warning(rules::VERSIONS_DIFFER, title)
                .at(lock.file, place(lock), "the older version")
                .see(newest_lock.file, place(newest_lock), "the newest of all roots")
                .help(
                    "delete the older entry and lock the root again; where that selects the same version, a \
                     constraint holds it back",
                );
            older.push((*index, provider, diagnostic));
        }
    }
    for (index, provider, diagnostic) in older {
        let finding = Finding::about(provider, diagnostic);
        let root = &roots[index].root;
        let wants = |project: &Project| {
            project
                .policy
                .iter()
                .flat_map(|policy| &policy.one_version)
                .any(|entry| entry.names(provider, root.flavor))
        };
        let stated = root
            .project
            .rule(rules::VERSIONS_DIFFER, Some(provider), root.flavor);
        // A policy that asks for one version counts before the level of the rule.
        let wants_one_version = root.shared.is_some_and(|(shared, _)| wants(shared))
            || stated.is_none() && wants(root.project);
        if wants_one_version {
            roots[index].verdict.findings.push(finding);
        } else {
            roots[index].report(vec![finding]);
        }
    }
}

/// Reports entries of policies that concern nothing that the roots of the run lock, each with the first root that
/// its project file governs. Without a lock file it is unknown what a root will lock.
pub fn find_unused_entries(roots: &mut [ComparedRoot<'_>]) {
    let mut judged: Vec<&Project> = Vec::new();
    for index in 0..roots.len() {
        let project = roots[index].root.project;
        // Roots share the value of a project file, so that its address says whether it was judged already.
        let is_judged = |other: &&Project| std::ptr::eq(*other, project);
        if project.policy.is_none() || judged.iter().any(is_judged) {
            continue;
        }
        judged.push(project);
        let governed = || {
            roots
                .iter()
                .filter(|other| std::ptr::eq(other.root.project, project))
        };
        // An entry may concern what the missing lock file would lock.
        if governed().any(|other| other.root.lock.is_none()) {
            continue;
        }
        let locked: BTreeSet<(Flavor, &ProviderAddr)> = governed()
            .flat_map(|ComparedRoot { root, .. }| {
                root.lock
                    .iter()
                    .flat_map(|lock| lock.document.lock.providers.keys())
                    .map(|provider| (root.flavor, provider))
            })
            .collect();
        let is_checked = governed().all(|other| other.verdict.unchecked_policy.is_empty());
        let turned_off: Vec<_> = governed()
            .flat_map(|other| {
                other
                    .verdict
                    .turned_off
                    .iter()
                    .map(|off| (other.root.flavor, &off.finding))
            })
            .collect();
        // An exception is used as well if it turned a finding off, but that is known only where everything was
        // checked.
        let unused = policy::unused(project, &locked, is_checked.then_some(&*turned_off));
        roots[index].report(unused);
    }
}

/// Number of callers that a finding names.
const MAX_CALLERS: usize = 5;

/// Reports lock files in directories that other roots call as modules, in each root with the severity that its
/// project file states: the programs read the lock file of the root alone.
pub fn find_locks_in_modules(roots: &mut [ComparedRoot<'_>]) {
    let mut callers: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    for root in &*roots {
        // A root may call itself, as a module in a circle; its lock file counts.
        for dir in root.called.iter().filter(|dir| **dir != root.dir) {
            let shown = root.shown.display().to_string();
            callers.entry(dir.clone()).or_default().push(shown);
        }
    }
    for compared in roots {
        let root = &compared.root;
        let (Some(lock), Some(names)) = (root.lock, callers.get(&compared.dir)) else {
            continue;
        };
        let what = match names.len() {
            1 => "the root that calls the module".to_owned(),
            n => format!("the {n} roots that call the module"),
        };
        let title = format!("{} has no effect on {what}", root.lock_path.display());
        let mut called_by = names[..names.len().min(MAX_CALLERS)].join(", ");
        if let more @ 1.. = names.len().saturating_sub(MAX_CALLERS) {
            called_by += &format!(" and {more} more");
        }
        let note = Diagnostic::note(rules::LOCK_IN_MODULE, title)
            .at(lock.file, Span::default(), format!("called by {called_by}"))
            .help("delete it, unless the directory is also a root of its own");
        compared.report(vec![note.into()]);
    }
}

/// Lists the packages that the user named and that belong to the lock file of no root, in the order
/// of the first.
///
/// Roots whose packages were not checked have no say.
pub fn unplaced_everywhere<'a>(
    verdicts: impl IntoIterator<Item = &'a RootVerdict>,
) -> Vec<&'a Path> {
    let mut checked = verdicts
        .into_iter()
        .filter_map(|verdict| verdict.packages.as_ref());
    let Some(first) = checked.next() else {
        return Vec::new();
    };
    let others: Vec<BTreeSet<&Path>> = checked
        .map(|packages| packages.unplaced.iter().map(|path| &**path).collect())
        .collect();
    first
        .unplaced
        .iter()
        .map(|path| &**path)
        .filter(|path| others.iter().all(|other| other.contains(path)))
        .collect()
}
