//! Comparing: nothing is lost or counted twice, and both directions say the same.

use arbitrary::Unstructured;
use lockctl::addr::ProviderAddr;
use lockctl::diag::FileId;
use lockctl::flavor::Flavor;
use lockctl::hash::Scheme;
use lockctl::lockfile::{LockFile, write};
use lockctl::review::{
    ChangeKind, ExplainedChange, LockDiff, LockSide, ProviderChange, Sides, diff, review, verdict,
};

use super::locks::lock_file;

/// An input whose first byte is a letter is two texts, cut in the middle, else it makes two lock files.
pub fn run(data: &[u8]) {
    if data.first().is_some_and(|byte| byte.is_ascii_graphic()) {
        let (old, new) = data.split_at(data.len() / 2);
        for flavor in Flavor::ALL {
            check_texts(old, new, flavor);
        }
        return;
    }
    let mut input = Unstructured::new(data.get(1..).unwrap_or_default());
    if let (Ok(old), Ok(new)) = (lock_file(&mut input), lock_file(&mut input)) {
        check_locks(&old, &new);
        let flavor = Flavor::Terraform1_16;
        check_texts(
            write(&old, flavor).as_bytes(),
            write(&new, flavor).as_bytes(),
            flavor,
        );
    }
}

fn check_locks(old: &LockFile, new: &LockFile) {
    let (there, back) = (diff(old, new), diff(new, old));
    for same in [old, new] {
        let LockDiff {
            providers,
            unchanged,
        } = diff(same, same);
        assert!(providers.is_empty());
        assert_eq!(unchanged, same.providers.len());
    }
    assert_eq!(there.unchanged, back.unchanged);
    assert_eq!(there.providers.len(), back.providers.len());
    for (diff, old, new) in [(&there, old, new), (&back, new, old)] {
        let olds = diff
            .providers
            .iter()
            .filter_map(ProviderChange::before)
            .count();
        let news = diff
            .providers
            .iter()
            .filter_map(ProviderChange::now)
            .count();
        assert_eq!(
            olds + diff.unchanged,
            old.providers.len(),
            "every old entry once"
        );
        assert_eq!(
            news + diff.unchanged,
            new.providers.len(),
            "every new entry once"
        );
    }
    for (kind, mirrored) in [
        (ChangeKind::Added, ChangeKind::Removed),
        (ChangeKind::Removed, ChangeKind::Added),
        (ChangeKind::HashesAdded, ChangeKind::HashesRemoved),
        (ChangeKind::HashesRemoved, ChangeKind::HashesAdded),
        (ChangeKind::HashesReplaced, ChangeKind::HashesReplaced),
        (
            ChangeKind::ConstraintsChanged,
            ChangeKind::ConstraintsChanged,
        ),
        (ChangeKind::HostSwitched, ChangeKind::HostSwitched),
        (ChangeKind::NamespaceSwitched, ChangeKind::NamespaceSwitched),
    ] {
        assert_eq!(with(&there, kind), with(&back, mirrored), "{kind:?}");
    }
    for scheme in [Scheme::Zh, Scheme::H1, Scheme::Other] {
        let lost = |diff: &LockDiff| {
            diff.providers
                .iter()
                .map(|change| change.lost(scheme).len())
                .sum::<usize>()
        };
        let gained = |diff: &LockDiff| {
            diff.providers
                .iter()
                .map(|change| change.gained(scheme).len())
                .sum::<usize>()
        };
        assert_eq!(
            (lost(&there), gained(&there)),
            (gained(&back), lost(&back)),
            "{scheme:?}"
        );
    }
    for change in there.providers.into_iter().chain(back.providers) {
        let Sides::Both { .. } = change.sides else {
            continue;
        };
        let explained = ExplainedChange::of(change);
        assert!(!explained.sentence().is_empty(), "a change has a cause");
    }
}

fn with(diff: &LockDiff, kind: ChangeKind) -> usize {
    diff.providers
        .iter()
        .filter(|change| change.kinds.contains(&kind))
        .count()
}

fn check_texts(old: &[u8], new: &[u8], flavor: Flavor) {
    let [old, new] = [old, new].map(|text| LockSide::read(FileId::ALONE, text.to_vec(), flavor));
    for (old, new) in [
        (Some(&old), Some(&new)),
        (Some(&old), None),
        (None, Some(&new)),
        (None, None),
    ] {
        let review = review(old, new);
        for cause in &review.causes {
            assert!(!cause.text.is_empty());
            assert!(cause.risk <= review.risk());
        }
        for change in &review.providers {
            assert!(change.explained.risk <= review.risk());
            assert!(!change.sentence().is_empty());
        }
        let files = [("a", &review), ("b", &review)];
        let _ = verdict(&files, ProviderAddr::to_string);
    }
    assert!(review(Some(&old), Some(&old)).is_empty());
}
