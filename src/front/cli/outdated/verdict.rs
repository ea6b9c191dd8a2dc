//! The sentence about a root whose versions were compared.

use crate::report::json::{ComparedProvider, Provider, VersionState};
use crate::report::{RootResult, Sentence};
use crate::run::root::Root;
use crate::verify::Advice;

/// The providers of a root that were compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    All,
    Named,
}

/// Sums up a root in one sentence, with the commands that help.
pub(super) fn sentence(rows: &[ComparedProvider], extent: Extent, root: &Root) -> String {
    let (only, named) = match extent {
        Extent::All => ("only", ""),
        Extent::Named => ("named", "named "),
    };
    let path = root.lock_path.display();
    let count = |state: VersionState| rows.iter().filter(|row| row.state == state).count();
    let all = rows.len() - count(VersionState::BuiltIn) - count(VersionState::NotRequired);
    if all == 0 {
        return format!("{path}: no locked provider is required");
    }
    let mut parts = Vec::new();
    for (state, singular, plural) in words(root) {
        match count(state) {
            0 => {}
            1 => parts.push((1, singular)),
            n => parts.push((n, plural)),
        }
    }
    match (all, &*parts) {
        (1, []) => format!("{path}: the {only} provider is up to date"),
        (_, []) => format!("{path}: all {all} {named}providers are up to date"),
        (1, [(_, part)]) => format!("{path}: the {only} provider {part}"),
        _ => {
            let parts: Vec<String> = parts
                .iter()
                .map(|(count, part)| format!("{count} {part}"))
                .collect();
            format!("{path}: of {all} {named}providers, {}", parts.join(", "))
        }
    }
}

/// Names the commands that help with several roots.
pub(super) fn next_step(roots: &[RootResult], advice: &Advice) -> Option<Sentence> {
    let has = |wanted: &[VersionState]| {
        roots
            .iter()
            .flat_map(|root| &root.providers)
            .any(|row| matches!(row, Provider::Compared(row) if wanted.contains(&row.state)))
    };
    let moves = has(&[VersionState::Behind, VersionState::NotAllowed]);
    let update = moves.then(|| format!("`{}` moves what can be updated", advice.update));
    let lock = has(&[VersionState::NotLocked]);
    let lock = lock.then(|| format!("`{}` locks what is not", advice.lock));
    let parts: Vec<String> = update.into_iter().chain(lock).collect();
    (!parts.is_empty()).then(|| Sentence::note(parts.join("; ")))
}

/// Lists the states that a sentence counts, in its order, each with the words for one provider and for several.
fn words(root: &Root) -> [(VersionState, String, String); 9] {
    let (update, lock) = (&root.advice.update, &root.advice.lock);
    [
        (
            VersionState::Behind,
            format!("can be updated (`{update}`)"),
            format!("can be updated (`{update}`)"),
        ),
        (
            VersionState::NotAllowed,
            format!("is locked at a version that is not allowed (`{update}` moves it)"),
            format!("are locked at versions that are not allowed (`{update}` moves them)"),
        ),
        (
            VersionState::TooYoung,
            format!("has a newer version that is too young (`{update}` looks for one that is not)"),
            format!("have newer versions that are too young (`{update}` looks for others)"),
        ),
        (
            VersionState::HeldBack,
            "is held back by constraints".to_owned(),
            "are held back by constraints".to_owned(),
        ),
        (
            VersionState::NotLocked,
            format!("is not locked (`{lock}`)"),
            format!("are not locked (`{lock}`)"),
        ),
        (
            VersionState::NotVisible,
            "may be required by what cannot be seen".to_owned(),
            "may be required by what cannot be seen".to_owned(),
        ),
        (
            VersionState::Overridden,
            "is run from a directory".to_owned(),
            "are run from directories".to_owned(),
        ),
        (
            VersionState::Conflict,
            "has no version that its constraints allow".to_owned(),
            "have no version that their constraints allow".to_owned(),
        ),
        (
            VersionState::Failed,
            "could not be compared".to_owned(),
            "could not be compared".to_owned(),
        ),
    ]
}
