//! The sentence about a root whose versions were compared.

use std::collections::BTreeMap;

use crate::diag::counted;
use crate::report::json::{ComparedProvider, Provider, VersionState};
use crate::report::{RootResult, Sentence};
use crate::verify::Advice;

/// Counts providers by how they compare, as in `5 providers: 3 up to date, 2 held back`.
pub(super) fn counts<'r>(rows: impl Iterator<Item = &'r ComparedProvider>) -> String {
    let mut by_state: BTreeMap<VersionState, usize> = BTreeMap::new();
    for row in rows {
        *by_state.entry(row.state).or_default() += 1;
    }
    by_state.remove(&VersionState::BuiltIn);
    by_state.remove(&VersionState::NotRequired);
    if by_state.is_empty() {
        return "no locked provider is required".to_owned();
    }
    let all = counted(by_state.values().sum(), "provider");
    let counts = by_state
        .iter()
        .map(|(state, count)| format!("{count} {}", words(*state)));
    format!("{all}: {}", counts.collect::<Vec<_>>().join(", "))
}

/// Names the commands that help.
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
    let parts: Vec<String> = [update, lock].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| Sentence::note(parts.join("; ")))
}

/// Returns how a provider compares, in words.
pub(super) fn words(state: VersionState) -> &'static str {
    match state {
        VersionState::UpToDate => "up to date",
        VersionState::Behind => "can be updated",
        VersionState::TooYoung => "too young",
        VersionState::HeldBack => "held back",
        VersionState::NotAllowed => "not allowed",
        VersionState::Conflict => "conflict",
        VersionState::NotLocked => "not locked",
        VersionState::NotVisible => "not visible",
        VersionState::NotRequired => "not required",
        VersionState::BuiltIn => "built in",
        VersionState::Overridden => "dev override",
        VersionState::Failed => "failed",
    }
}
