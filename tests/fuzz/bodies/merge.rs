//! Merging: what the contract says of three sides, for entries made up and for texts.

use std::collections::BTreeSet;

use arbitrary::Unstructured;
use lockctl::diag::FileId;
use lockctl::flavor::Flavor;
use lockctl::hash::Hash;
use lockctl::lockfile::{LockFile, ProviderLock, parse, write};
use lockctl::review::{
    MARKER_SIZE, Markers, MergeBase, MergePreference, Merged, merge, part, write_merged,
};

use super::locks::lock_file;

const FLAVOR: Flavor = Flavor::Terraform1_16;

const PREFERENCES: [MergePreference; 4] = [
    MergePreference::Newest,
    MergePreference::Ours,
    MergePreference::Theirs,
    MergePreference::Fail,
];

/// An input whose first byte is a letter is a text with conflict markers, else it makes three lock files.
pub fn run(data: &[u8]) {
    if data.first().is_some_and(|byte| byte.is_ascii_graphic()) {
        check_text(data);
        return;
    }
    let mut input = Unstructured::new(data.get(1..).unwrap_or_default());
    let sides = (
        lock_file(&mut input),
        lock_file(&mut input),
        lock_file(&mut input),
    );
    if let (Ok(base), Ok(ours), Ok(theirs)) = sides {
        check_sides(&base, &ours, &theirs);
    }
}

fn check_sides(base: &LockFile, ours: &LockFile, theirs: &LockFile) {
    let known = MergeBase::from(base.clone());
    for prefer in PREFERENCES {
        // A side that stands as the base, or as the other side, decides nothing.
        for (ours, theirs, wanted) in [
            (ours, base, ours),
            (base, theirs, theirs),
            (ours, ours, ours),
        ] {
            let merged = merge(&known, ours, theirs, prefer);
            assert_eq!(&merged.lock, wanted, "{prefer:?}");
            assert!(merged.conflicts.is_empty() && merged.unfinished.is_empty());
        }
        for base in [&known, &MergeBase::unknown()] {
            let merged = merge(base, ours, theirs, prefer);
            check_merged(&base.lock, ours, theirs, &merged);
            check_markers(ours, theirs, &merged);
            let mirrored = match prefer {
                MergePreference::Ours => MergePreference::Theirs,
                MergePreference::Theirs => MergePreference::Ours,
                other => other,
            };
            let swapped = merge(base, theirs, ours, mirrored);
            assert_eq!(swapped.lock, merged.lock, "sides are equal, {prefer:?}");
            assert!(swapped.conflicts.keys().eq(merged.conflicts.keys()));
            assert_eq!(swapped.unfinished, merged.unfinished);
            if matches!(prefer, MergePreference::Ours | MergePreference::Theirs) {
                assert!(merged.conflicts.is_empty(), "the preference decides");
            }
        }
    }
}

fn check_merged(base: &LockFile, ours: &LockFile, theirs: &LockFile, merged: &Merged) {
    let hashes = |entry: Option<&ProviderLock>| -> BTreeSet<Hash> {
        entry
            .map(|entry| entry.hashes.iter().cloned().collect())
            .unwrap_or_default()
    };
    for (addr, entry) in &merged.lock.providers {
        assert!(
            !merged.conflicts.contains_key(addr),
            "{addr} is merged or in conflict"
        );
        let [base, ours, theirs] = [base, ours, theirs].map(|side| side.providers.get(addr));
        let taken: Vec<&ProviderLock> = [ours, theirs]
            .into_iter()
            .flatten()
            .filter(|side| side.version == entry.version)
            .collect();
        assert!(!taken.is_empty(), "{addr}: nobody has this version");
        for hash in entry.hashes.iter() {
            let is_listed = taken.iter().any(|side| side.hashes.contains(hash));
            assert!(is_listed, "{addr}: {} is of another version", hash.as_str());
        }
        if let (Some(ours), Some(theirs)) = (ours, theirs)
            && ours.version == theirs.version
        {
            let base = hashes(base.filter(|base| base.version == ours.version));
            let (ours, theirs) = (hashes(Some(ours)), hashes(Some(theirs)));
            // As `review` rules 1.2 write it: (base ∩ ours ∩ theirs) ∪ (ours − base) ∪ (theirs − base).
            let wanted: BTreeSet<Hash> = base
                .iter()
                .filter(|hash| ours.contains(hash) && theirs.contains(hash))
                .chain(ours.difference(&base))
                .chain(theirs.difference(&base))
                .cloned()
                .collect();
            assert_eq!(hashes(Some(entry)), wanted, "{addr}");
        }
    }
    for (addr, conflict) in &merged.conflicts {
        let [ours, theirs] = [ours, theirs].map(|side| side.providers.get(addr));
        assert_ne!(ours, theirs, "{addr}: equal sides are no conflict");
        assert_eq!(
            (conflict.ours.as_ref(), conflict.theirs.as_ref()),
            (ours, theirs)
        );
    }
}

/// Checks that the sides of each conflict can be read from the text that is written.
fn check_markers(ours: &LockFile, theirs: &LockFile, merged: &Merged) {
    let markers = Markers {
        size: MARKER_SIZE,
        ours: "ours".to_owned(),
        base: Some("base".to_owned()),
        theirs: "theirs".to_owned(),
    };
    let text = write_merged(merged, FLAVOR, &markers);
    let parted = part(text.as_bytes()).expect("our own markers");
    assert_eq!(parted.is_some(), !merged.conflicts.is_empty());
    let Some(parted) = parted else {
        assert_eq!(text, write(&merged.lock, FLAVOR));
        return;
    };
    assert_eq!(parted.conflicts, merged.conflicts.len());
    for (side, bytes) in [(ours, &parted.ours), (theirs, &parted.theirs)] {
        let (document, problems) = parse(FileId::ALONE, bytes, FLAVOR);
        assert!(
            problems
                .iter()
                .all(|problem| problem.severity < lockctl::diag::Severity::Error)
        );
        for addr in merged.conflicts.keys() {
            assert_eq!(
                document.lock.providers.get(addr),
                side.providers.get(addr),
                "{addr}"
            );
        }
    }
}

fn check_text(text: &[u8]) {
    let base = MergeBase::read(text, FLAVOR);
    if let Ok(Some(parted)) = part(text) {
        assert!(parted.conflicts > 0);
        for side in [
            Some(&parted.ours),
            Some(&parted.theirs),
            parted.base.as_ref(),
        ]
        .into_iter()
        .flatten()
        {
            assert_eq!(
                side.len(),
                text.len(),
                "places of a side are places of the text"
            );
        }
        let read = |side: &[u8]| parse(FileId::ALONE, side, FLAVOR).0.lock;
        let (ours, theirs) = (read(&parted.ours), read(&parted.theirs));
        for prefer in PREFERENCES {
            let merged = merge(&base, &ours, &theirs, prefer);
            check_markers(&ours, &theirs, &merged);
        }
    }
}
