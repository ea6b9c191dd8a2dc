//! The versions that the roots of a run lock in the end, as a table.
//!
//! Each root adds what it has locked, and [`RootVersions::compare`] looks at all of them together. A
//! provider is compared among the roots of one program: in the other program its address names another
//! provider, or one with other versions.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::addr::ProviderAddr;
use crate::diag::{counted, counted_as};
use crate::flavor::Program;
use crate::locker::Locked;
use crate::report::json::{ProviderInUse, RootStatus, VersionInUse, VersionsInUse};
use crate::report::{Column, CommandResult, RootResult, Row, Table, TextBlock, Tone};
use crate::resolve::Goals;
use crate::run::provider;
use crate::run::root::Root;
use crate::version::Version;

/// The roots that were locked, by their paths in the results.
#[derive(Default)]
pub(super) struct RootVersions(BTreeMap<String, LockedRoot>);

/// The versions that a root has locked.
struct LockedRoot {
    program: Program,
    versions: BTreeMap<ProviderAddr, Version>,
}

impl RootVersions {
    /// Adds a root that was locked, with the providers that are named if any are.
    pub(super) fn add(&mut self, root: &Root, goals: &Goals, locked: &Locked) {
        let versions = locked
            .lock
            .providers
            .iter()
            .filter(|(provider, _)| goals.named.is_empty() || goals.named.contains_key(provider))
            .map(|(provider, entry)| (provider.clone(), entry.version.clone()))
            .collect();
        let locked_root = LockedRoot {
            program: root.flavor.program(),
            versions,
        };
        self.0.insert(root.dir.display().to_string(), locked_root);
    }

    /// Compares the roots; returns nothing unless they are several.
    pub(super) fn compare(&self, results: &[RootResult]) -> Option<VersionsInUse> {
        type Versions<'v> = BTreeMap<Reverse<&'v Version>, Vec<String>>;
        let (mut roots, mut left_out) = (0, 0);
        let mut providers: BTreeMap<(&ProviderAddr, Program), Versions<'_>> = BTreeMap::new();
        for result in results {
            let Some(root) = self.0.get(&result.path) else {
                // A clean root requires no provider that is named, or none at all.
                left_out += usize::from(result.status != RootStatus::Clean);
                continue;
            };
            roots += 1;
            for (provider, version) in &root.versions {
                let versions = providers.entry((provider, root.program)).or_default();
                let at_version = versions.entry(Reverse(version)).or_default();
                at_version.push(result.path.clone());
            }
        }
        if roots < 2 {
            return None;
        }
        let compared = providers.len();
        let differing: Vec<ProviderInUse> = providers
            .into_iter()
            .filter(|(_, versions)| versions.len() > 1)
            .map(|((provider, program), versions)| ProviderInUse {
                provider: provider.clone(),
                program,
                versions: versions
                    .into_iter()
                    .map(|(Reverse(version), roots)| VersionInUse {
                        version: version.clone(),
                        roots,
                    })
                    .collect(),
            })
            .collect();
        Some(VersionsInUse {
            roots,
            left_out,
            agreed: compared - differing.len(),
            differing,
        })
    }
}

/// Maximum number of versions in the table.
const MAX_ROWS: usize = 10;

const COLUMNS: &[Column] = &[Column::Key("PROVIDER"), Column::Key("VERSION")];

/// Shows which versions the roots lock; where all agree there is one line.
pub(super) fn blocks(result: &CommandResult) -> Vec<TextBlock> {
    let Some(all) = &result.versions_in_use else {
        return Vec::new();
    };
    if all.differing.is_empty() && all.agreed == 0 {
        return Vec::new();
    }
    let programs: BTreeSet<Program> = all.differing.iter().map(|in_use| in_use.program).collect();
    let name = provider::naming(result.roots());
    let rows = all.differing.iter().flat_map(|in_use| {
        let mut provider = name(&in_use.provider);
        // Where roots of both programs are compared, one address may be in two rows.
        if programs.len() > 1 {
            provider += &format!(" ({})", in_use.program);
        }
        in_use.versions.iter().flat_map(move |version| {
            let cells = [provider.clone().into(), version.version.to_string().into()];
            let row = move |root: &String| Row::new(root, cells.clone());
            version.roots.iter().map(row)
        })
    });
    let table = Table::new(COLUMNS, rows).at_most(MAX_ROWS);
    vec![
        TextBlock::Table(table),
        TextBlock::Verdict(Tone::Good, count(all)),
    ]
}

/// Counts providers with one version, and roots that are left out.
fn count(all: &VersionsInUse) -> String {
    let VersionsInUse {
        roots,
        left_out,
        agreed,
        differing,
    } = all;
    let are_locked = counted_as(
        differing.len(),
        "provider is locked",
        "providers are locked",
    );
    let mut text = match (differing.len(), agreed) {
        (0, 1) => format!("{roots} roots lock 1 provider, at one version"),
        (0, n) => format!("{roots} roots lock {n} providers, each at one version"),
        (_, 0) => format!("{are_locked} at different versions"),
        (_, same) => format!("{are_locked} at different versions, {same} at one version each"),
    };
    if *left_out > 0 {
        let roots = counted(*left_out, "root");
        let is = if *left_out == 1 { "is" } else { "are" };
        text += &format!("; {roots} that could not be locked {is} left out");
    }
    text
}
