//! Comparison of recorded hashes with a package, by the table of rules 3.5.

use super::{Hash, Hashes, Scheme};

/// The hashes of a package, in the situation when a program checks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckedPackage<'a> {
    /// A zip that is to be installed, from a mirror or a registry.
    Zip {
        /// The hash of its bytes.
        zh: &'a Hash,
        /// The hash over its members, which is not always the one that gets recorded.
        member_h1: &'a Hash,
    },
    /// A directory of a mirror that is to be installed as it is.
    Unpacked {
        /// The hash of its files.
        h1: &'a Hash,
    },
    /// A package that is installed, when a plan starts.
    Installed {
        /// The hash of its files.
        h1: &'a Hash,
    },
}

/// The result of comparing recorded hashes with a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Match {
    /// A recorded hash is one of the package's; other recorded hashes do not matter.
    Matched(Hash),
    /// No hash of a known scheme is recorded, so that the program trusts what it sees.
    NothingRecorded,
    /// Only `zh` are recorded, which a directory cannot be checked against; the program accepts
    /// the package **without any check**.
    Unchecked,
    /// Only `zh` are recorded, which an installed package cannot be checked against; the program
    /// refuses it.
    NotComparable,
    /// No recorded hash is one of the package's; the program refuses it.
    Mismatch,
}

impl Match {
    /// Returns whether the program goes on with the package.
    #[must_use]
    pub fn accepted(&self) -> bool {
        match self {
            Self::Matched(_) | Self::NothingRecorded | Self::Unchecked => true,
            Self::NotComparable | Self::Mismatch => false,
        }
    }
}

/// Compares the hashes of a lock entry with a package (rules 3.5).
#[must_use]
pub fn matches(recorded: &Hashes, package: &CheckedPackage<'_>) -> Match {
    if recorded.known().next().is_none() {
        return Match::NothingRecorded;
    }
    // A zip may match by either scheme, a directory has no `zh` to compare (rules 3.5).
    let computed: &[&Hash] = match package {
        CheckedPackage::Zip { zh, member_h1 } => &[zh, member_h1],
        CheckedPackage::Unpacked { h1 } | CheckedPackage::Installed { h1 } => &[h1],
    };
    // One match is enough: the other recorded hashes belong to other platforms.
    if let Some(matched) = computed.iter().find(|hash| recorded.contains(hash)) {
        return Match::Matched((**matched).clone());
    }
    // A directory has no zip to compare: a mirror's passes, an installed one does not (rules 3.3, 3.4).
    let only_zh = recorded.of(Scheme::H1).next().is_none();
    match package {
        CheckedPackage::Unpacked { .. } if only_zh => Match::Unchecked,
        CheckedPackage::Installed { .. } if only_zh => Match::NotComparable,
        _ => Match::Mismatch,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each row: what the lock holds; then zip, unpacked mirror and plan, as in the table.
    #[track_caller]
    fn check(lock: &[&str], from_zip: &str, from_directory: &str, at_plan: &str) {
        let recorded: Hashes = lock
            .iter()
            .map(|text| text.parse::<Hash>().expect("valid"))
            .collect();
        let (zh, h1): (Hash, Hash) = (
            "zh:right".parse().expect("valid"),
            "h1:right".parse().expect("valid"),
        );
        let words = [
            CheckedPackage::Zip {
                zh: &zh,
                member_h1: &h1,
            },
            CheckedPackage::Unpacked { h1: &h1 },
            CheckedPackage::Installed { h1: &h1 },
        ]
        .map(|package| match matches(&recorded, &package) {
            Match::Matched(hash) => format!("by {hash}"),
            other if other.accepted() => format!("accepted: {other:?}"),
            other => format!("refused: {other:?}"),
        });
        assert_eq!(words, [from_zip, from_directory, at_plan], "of {lock:?}");
    }

    #[test]
    fn the_table_of_the_specification() {
        let trusted = "accepted: NothingRecorded";
        let mismatch = "refused: Mismatch";
        let unchecked = "accepted: Unchecked";
        let not_comparable = "refused: NotComparable";
        check(&[], trusted, trusted, trusted);
        check(&["h2:x", "H1:right"], trusted, trusted, trusted);
        check(&["h1:right"], "by h1:right", "by h1:right", "by h1:right");
        check(&["h1:wrong"], mismatch, mismatch, mismatch);
        check(&["zh:right"], "by zh:right", unchecked, not_comparable);
        check(&["zh:wrong"], mismatch, unchecked, not_comparable);
        check(&["zh:right", "h1:wrong"], "by zh:right", mismatch, mismatch);
        check(
            &["zh:wrong", "h1:right", "h1:wrong", "x:y"],
            "by h1:right",
            "by h1:right",
            "by h1:right",
        );
    }
}
