//! The merge of two texts: their common base, the text to write, and the comments that are lost.

use std::collections::{BTreeMap, BTreeSet};

use super::markers::{Markers, Parted, part, write_merged};
use super::merge::{MergeBase, MergePreference, Merged, UnknownEntries, merge};
use crate::addr::ProviderAddr;
use crate::diag::{FileId, has_errors};
use crate::flavor::{Flavor, Program};
use crate::lockfile::{self, LockFile, ProviderLock};

/// The lock files that a merge starts from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeSides {
    /// The lock file that both sides started from, as far as it is known.
    pub base: MergeBase,
    /// The lock file of our side.
    pub ours: LockFile,
    /// The lock file of their side.
    pub theirs: LockFile,
}

/// The side that changed an entry since the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangedBy {
    /// Our side, and not theirs.
    Us,
    /// Their side, and not ours.
    Them,
    /// Both sides, each in its own way.
    Both,
}

/// A merged lock file, and the report of the merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedFile {
    /// The text to write; blocks that need manual resolution have conflict markers.
    pub text: String,
    /// The entries, conflicts and reasons of the merge.
    pub merged: Merged,
    /// The entries that were merged because a side changed them.
    pub changed: BTreeMap<ChangedBy, BTreeSet<ProviderAddr>>,
    /// The number of comments of the two sides that are not in the text: the programs keep none.
    pub lost_comments: usize,
}

impl MergeBase {
    /// Reads a base that may have faults or conflict markers.
    ///
    /// git makes a base with markers where a merge has several bases: of such a text only those
    /// entries are known that are the same on both sides of the markers. An entry with a fault is
    /// unknown, too.
    #[must_use]
    pub fn read(bytes: &[u8], flavor: Flavor) -> Self {
        let read = |bytes: &[u8]| lockfile::parse(FileId::ALONE, bytes, flavor);
        if let Ok(Some(parted)) = part(bytes) {
            let [ours, theirs] =
                [&parted.ours, &parted.theirs].map(|side| read(side).0.lock.providers);
            let mut lock = LockFile::default();
            let mut possible: BTreeMap<ProviderAddr, Vec<ProviderLock>> = BTreeMap::new();
            // Where the sides of the markers differ, each entry may be the common one (rules 1.5).
            for (addr, entry) in ours.iter().chain(&theirs) {
                if ours.get(addr) == theirs.get(addr) {
                    lock.providers.insert(addr.clone(), entry.clone());
                } else {
                    possible
                        .entry(addr.clone())
                        .or_default()
                        .push(entry.clone());
                }
            }
            return Self {
                lock,
                unknown: UnknownEntries::Unread(possible),
            };
        }
        let (document, diagnostics) = read(bytes);
        if let Some(repaired) = document.repaired(&diagnostics) {
            return Self {
                lock: repaired.lock,
                unknown: UnknownEntries::None,
            };
        }
        Self {
            lock: document.lock,
            // What could not be read may be any entry: with that in mind nothing counts as removed.
            unknown: if has_errors(&diagnostics) {
                UnknownEntries::Unread(BTreeMap::new())
            } else {
                UnknownEntries::None
            },
        }
    }
}

impl MergeSides {
    /// Merges the entries of both sides, whose texts are given for the comments in them, and writes
    /// the result.
    #[must_use]
    pub fn merge(
        &self,
        [our_text, their_text]: [&[u8]; 2],
        prefer: MergePreference,
        flavor: Flavor,
        markers: &Markers,
    ) -> MergedFile {
        let merged = merge(&self.base, &self.ours, &self.theirs, prefer);
        MergedFile {
            text: write_merged(&merged, flavor, markers),
            merged,
            changed: self.changed(),
            lost_comments: distinct_comments(our_text, their_text),
        }
    }

    /// Lists the entries that one side or both have changed; a change that both made alike is none.
    fn changed(&self) -> BTreeMap<ChangedBy, BTreeSet<ProviderAddr>> {
        let sides = [&self.base.lock, &self.ours, &self.theirs].map(|side| &side.providers);
        let addrs: BTreeSet<&ProviderAddr> = sides.iter().flat_map(|side| side.keys()).collect();
        let mut changed: BTreeMap<ChangedBy, BTreeSet<ProviderAddr>> = BTreeMap::new();
        for addr in addrs {
            let [base, ours, theirs] = sides.map(|side| side.get(addr));
            if ours == theirs {
                continue;
            }
            let by = if theirs == base {
                ChangedBy::Us
            } else if ours == base {
                ChangedBy::Them
            } else {
                ChangedBy::Both
            };
            changed.entry(by).or_default().insert(addr.clone());
        }
        changed
    }
}

/// Returns the program whose header a merged lock file gets, by those of base, ours and theirs: the side that changed
/// it counts, as in an entry, and ours where both did.
///
/// ```
/// use lockctl_core::flavor::Program::{OpenTofu, Terraform};
/// use lockctl_core::review::merged_program;
///
/// let moved = merged_program([Some(Terraform), Some(Terraform), Some(OpenTofu)]);
/// assert_eq!(moved, Some(OpenTofu));
/// ```
#[must_use]
pub fn merged_program([base, ours, theirs]: [Option<Program>; 3]) -> Option<Program> {
    // A program never removes a header, so a missing one is no change.
    let is_moved = |side| side != base && base.is_some();
    match (ours, theirs) {
        (Some(ours), Some(theirs)) if !is_moved(Some(ours)) && is_moved(Some(theirs)) => {
            Some(theirs)
        }
        _ => ours.or(theirs),
    }
}

impl Parted {
    /// Returns the program whose header the merged text gets, by those of the sides and of their base.
    ///
    /// The header of the text itself says nothing where it is in conflict.
    #[must_use]
    pub fn program(&self, base: Option<Program>) -> Option<Program> {
        // Lines of the other side are blank in a side, and may come before its header.
        let header = |side: &[u8]| lockfile::header_of(side.trim_ascii_start());
        merged_program([base, header(&self.ours), header(&self.theirs)])
    }
}

/// Counts the comments of both sides; one that both have counts once.
fn distinct_comments(ours: &[u8], theirs: &[u8]) -> usize {
    // A side may have the same comment in several places: these are as many comments.
    let [ours, theirs] = [ours, theirs].map(|text| {
        let mut counts: BTreeMap<&[u8], usize> = BTreeMap::new();
        for comment in lockfile::comments(text) {
            *counts.entry(comment).or_default() += 1;
        }
        counts
    });
    let count = |side: &BTreeMap<&[u8], usize>, text| side.get(text).copied().unwrap_or_default();
    ours.keys()
        .chain(theirs.keys())
        .copied()
        .collect::<BTreeSet<&[u8]>>()
        .into_iter()
        .map(|text| count(&ours, text).max(count(&theirs, text)))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAVOR: Flavor = Flavor::Terraform1_16;

    fn entry(name: &str, version: &str) -> String {
        let hash = format!("h1:{}=", "a".repeat(43));
        format!(
            "provider \"x.io/a/{name}\" {{\n  version = \"{version}\"\n  hashes = [\"{hash}\"]\n}}\n"
        )
    }

    /// Names the entries that a base has, and says whether it is complete.
    #[track_caller]
    fn check_base(text: &str, names: &[&str], is_complete: bool) {
        let base = MergeBase::read(text.as_bytes(), FLAVOR);
        let found: Vec<&str> = base
            .lock
            .providers
            .keys()
            .map(ProviderAddr::type_name)
            .collect();
        let complete = base.unknown == UnknownEntries::None;
        assert_eq!((&*found, complete), (names, is_complete), "{text}");
    }

    #[test]
    fn a_base_is_what_all_of_its_sides_say() {
        let [a, b, other_b] = [
            entry("a", "1.0.0"),
            entry("b", "1.0.0"),
            entry("b", "2.0.0"),
        ];
        check_base(&format!("{a}{b}"), &["a", "b"], true);
        check_base(
            &format!("{a}<<<<<<<\n{b}=======\n{other_b}>>>>>>>\n"),
            &["a"],
            false,
        );
        check_base(&format!("{a}provider \"x.io/a/b\" {{\n}}\n"), &["a"], false);
    }

    #[test]
    fn comments_of_both_sides_count_once() {
        let check = |ours: &str, theirs: &str, wanted| {
            let count = distinct_comments(ours.as_bytes(), theirs.as_bytes());
            assert_eq!(count, wanted, "{ours:?} {theirs:?}");
        };
        check("", "", 0);
        check("# a\n", "# a\n", 1);
        check("# a\n# a\n", "# a\n# b\n", 3);
        check(FLAVOR.header(), "", 0);
    }
}
