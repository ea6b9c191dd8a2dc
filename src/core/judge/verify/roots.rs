//! Checks of all roots of a run together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::inputs::RootInputs;
use super::levels;
use super::policy::{self, RootEntry};
use super::run::RootVerdict;
use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, Span, rules};
use crate::flavor::Flavor;
use crate::project::Project;

/// A root whose verdict is completed by the comparison with others.
#[derive(Debug)]
pub struct ComparedRoot<'a> {
    /// The root as it was read.
    pub root: RootInputs<'a>,
    /// The verdict of its own checks.
    pub verdict: &'a mut RootVerdict,
}

/// Compares the locked versions of all roots, and adds the findings to their verdicts, in each root with the
/// severity that its project file states.
pub fn compare_versions(roots: &mut [ComparedRoot<'_>]) {
    let mut entries = Vec::new();
    for (index, ComparedRoot { root, .. }) in roots.iter().enumerate() {
        let Some(lock) = root.lock else { continue };
        for (provider, entry) in &lock.document.lock.providers {
            let places = lock.document.places.get(provider);
            entries.push(RootEntry {
                root: index,
                provider,
                version: &entry.version,
                file: lock.file,
                span: places.map_or_else(Span::default, |places| places.version),
            });
        }
    }
    for (index, finding) in policy::one_version(&entries) {
        let ComparedRoot { root, verdict } = &mut roots[index];
        let wants = |project: &Project, provider: &ProviderAddr| {
            project
                .policy
                .iter()
                .flat_map(|policy| &policy.one_version)
                .any(|entry| entry.names(provider, root.flavor))
        };
        let shared = root.shared.map(|(project, _)| project);
        // A policy that asks for one version counts before the level of the rule.
        let is_asked = finding.provider.as_ref().is_some_and(|provider| {
            if shared.is_some_and(|shared| wants(shared, provider)) {
                return true;
            }
            let is_stated = root
                .project
                .rule(rules::VERSIONS_DIFFER, Some(provider), root.flavor);
            is_stated.is_none() && wants(root.project, provider)
        });
        if is_asked {
            verdict.findings.push(finding);
            continue;
        }
        // No fault of a file is among them, so each may be turned off.
        let (kept, turned_off) = levels::apply(vec![finding], &[], root.project, root.flavor);
        verdict.findings.extend(kept);
        verdict.turned_off.extend(turned_off);
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
        let ComparedRoot { root, verdict } = &mut roots[index];
        let (kept, turned_off) = levels::apply(unused, &[], root.project, root.flavor);
        verdict.findings.extend(kept);
        verdict.turned_off.extend(turned_off);
    }
}

/// Number of callers that a finding names.
const MAX_CALLERS: usize = 5;

/// A root with the directories of the local modules that it calls.
#[derive(Debug)]
pub struct CallingRoot<'a> {
    /// The root with its verdict.
    pub compared: ComparedRoot<'a>,
    /// The directory of the root, to show.
    pub shown: &'a Path,
    /// The absolute path of the directory.
    pub dir: &'a Path,
    /// The absolute paths of the directories of all local modules in its tree.
    pub called: &'a BTreeSet<PathBuf>,
}

/// Reports lock files in directories that other roots call as modules, in each root with the severity that its
/// project file states: the programs read the lock file of the root alone.
pub fn find_locks_in_modules(roots: &mut [CallingRoot<'_>]) {
    let mut callers: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    for root in &*roots {
        // A root may call itself, as a module in a circle; its lock file counts.
        for dir in root.called.iter().filter(|dir| *dir != root.dir) {
            let shown = root.shown.display().to_string();
            callers.entry(dir.clone()).or_default().push(shown);
        }
    }
    for CallingRoot { compared, dir, .. } in roots {
        let ComparedRoot { root, verdict } = compared;
        let (Some(lock), Some(names)) = (root.lock, callers.get(*dir)) else {
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
        let (kept, turned_off) = levels::apply(vec![note.into()], &[], root.project, root.flavor);
        verdict.findings.extend(kept);
        verdict.turned_off.extend(turned_off);
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
