//! The versions that the roots of a run lock in the end, as a table.
//!
//! Each root adds what it has locked, and [`LockedRoots::compare`] looks at all of them together. A
//! provider is compared among the roots of one program: in the other program its address names another
//! provider, or one with other versions.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::addr::ProviderAddr;
use crate::cli::Look;
use crate::diag::{counted, counted_as};
use crate::flavor::{Flavor, Program};
use crate::locker::Locked;
use crate::report::json::{ProviderInUse, RootStatus, VersionInUse, VersionsInUse};
use crate::report::{CommandResult, RootResult, TextBlock, Tone};
use crate::resolve::Goals;
use crate::run::root::Root;
use crate::run::unseen::some_of;
use crate::version::Version;

/// The roots that were locked, by their paths in the results.
#[derive(Default)]
pub(super) struct LockedRoots(BTreeMap<String, LockedRoot>);

/// The versions that a root has locked.
struct LockedRoot {
    program: Program,
    versions: BTreeMap<ProviderAddr, Version>,
}

impl LockedRoots {
    /// Adds a root that was locked, with the providers that are named if any are.
    pub(super) fn add(&mut self, root: &Root, goals: &Goals, locked: &Locked) {
        let versions = locked
            .providers
            .iter()
            .filter(|outcome| goals.named.is_empty() || goals.named.contains_key(&outcome.provider))
            .map(|outcome| (outcome.provider.clone(), outcome.version.clone()))
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

/// Maximum number of versions in the table, below its head.
const MAX_ROWS: usize = 10;

/// Shows which versions the roots lock; where all agree there is one line.
pub(super) fn blocks(result: &CommandResult, look: Look) -> Vec<TextBlock> {
    let Some(all) = &result.versions_in_use else {
        return Vec::new();
    };
    let mut blocks = Vec::new();
    if !all.differing.is_empty() {
        if !look.markdown {
            blocks.push(TextBlock::Lines(vec![String::new()]));
        }
        let mut rows = table(result, all, look);
        let hidden = rows.len().saturating_sub(MAX_ROWS + 1);
        if hidden > 0 && !look.verbose {
            rows.truncate(MAX_ROWS + 1);
            let hidden = counted_as(hidden, "more version", "more versions");
            blocks.push(TextBlock::Table(rows));
            let more = format!("... and {hidden} (-v shows each)");
            blocks.push(below(more, look));
        } else {
            blocks.push(TextBlock::Table(rows));
        }
    } else if all.agreed == 0 {
        return blocks;
    }
    blocks.push(TextBlock::Verdict(Tone::Good, count(all)));
    blocks
}

/// Returns a line below a table.
pub(super) fn below(line: String, look: Look) -> TextBlock {
    // Markdown would put the line into a box of its own.
    if look.markdown {
        TextBlock::Verdict(Tone::Good, line)
    } else {
        TextBlock::Lines(vec![line])
    }
}

/// Returns a row for each version, below a head; the provider is named in its first row.
fn table(result: &CommandResult, all: &VersionsInUse, look: Look) -> Vec<Vec<String>> {
    let flavors: Vec<Flavor> = result
        .roots()
        .iter()
        .filter_map(|root| root.flavor)
        .collect();
    let is_mixed = flavors
        .iter()
        .any(|flavor| flavor.program() != flavors[0].program());
    let head = ["provider", "version", "roots", "where"].map(str::to_owned);
    let mut rows = vec![head.to_vec()];
    for in_use in &all.differing {
        // If roots of both programs are compared, one address may be in two rows.
        let mut name = match flavors.first() {
            Some(flavor) if !is_mixed => in_use.provider.short(*flavor),
            _ => format!("{} ({})", in_use.provider, in_use.program),
        };
        for version in &in_use.versions {
            let roots = if look.verbose {
                version.roots.clone()
            } else {
                some_of(version.roots.iter().cloned())
            };
            rows.push(vec![
                std::mem::take(&mut name),
                version.version.to_string(),
                version.roots.len().to_string(),
                roots.join(", "),
            ]);
        }
    }
    rows
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
