//! The merge of two texts: what both sides started from, what is written, and what is lost.

use std::collections::{BTreeMap, BTreeSet};

use super::markers::{Markers, part, write_merged};
use super::merge::{Merged, Prefer, merge};
use crate::addr::ProviderAddr;
use crate::diag::{FileId, has_errors};
use crate::flavor::Flavor;
use crate::lockfile::{self, LockFile};

/// The lock files that a merge starts from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeSides {
    /// What both sides started from; empty if that is not known.
    pub base: LockFile,
    /// Our lock file.
    pub ours: LockFile,
    /// Their lock file.
    pub theirs: LockFile,
}

/// Who changed an entry since the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangedBy {
    /// Only our side.
    Us,
    /// Only their side.
    Them,
    /// Both sides, each in its own way.
    Both,
}

/// A merged lock file, and what a reader should know about the merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedFile {
    /// The text to write; blocks that need manual resolution have conflict markers.
    pub text: String,
    /// The merge itself.
    pub merged: Merged,
    /// Which entries were merged because a side changed them.
    pub changed: BTreeMap<ChangedBy, BTreeSet<ProviderAddr>>,
    /// How many comments of the two sides are not in the text: the programs keep none.
    pub lost_comments: usize,
}

/// The entries that both sides started from, as far as they could be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeBase {
    /// What was understood.
    pub lock: LockFile,
    /// Whether that is everything.
    pub is_complete: bool,
}

impl MergeBase {
    /// Reads a base that may have faults or conflict markers.
    ///
    /// git makes a base with markers where a merge has several bases: of such a text only those
    /// entries are known that are the same on both sides of the markers. An entry with a fault is
    /// unknown, too. An unknown entry is safe: [`merge`] then drops no hash of it.
    #[must_use]
    pub fn read(bytes: &[u8], flavor: Flavor) -> Self {
        let read = |bytes: &[u8]| lockfile::parse(FileId::ALONE, bytes, flavor);
        if let Ok(Some(parted)) = part(bytes) {
            let (mut one, _) = read(&parted.ours);
            let (other, _) = read(&parted.theirs);
            let other = other.lock.providers;
            one.lock
                .providers
                .retain(|addr, entry| other.get(addr) == Some(entry));
            return Self {
                lock: one.lock,
                is_complete: false,
            };
        }
        let (document, diagnostics) = read(bytes);
        Self {
            lock: document.lock,
            is_complete: !has_errors(&diagnostics),
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
        prefer: Prefer,
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
        let sides = [&self.base, &self.ours, &self.theirs].map(|side| &side.providers);
        let all: BTreeSet<&ProviderAddr> = sides.iter().flat_map(|side| side.keys()).collect();
        let mut changed: BTreeMap<ChangedBy, BTreeSet<ProviderAddr>> = BTreeMap::new();
        for addr in all {
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
    let all: BTreeSet<&[u8]> = ours.keys().chain(theirs.keys()).copied().collect();
    let count = |side: &BTreeMap<&[u8], usize>, text| side.get(text).copied().unwrap_or_default();
    all.into_iter()
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
        assert_eq!((&*found, base.is_complete), (names, is_complete), "{text}");
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
