//! The text of `lockctl resolve`: one line for each lock file with conflicts.

use std::path::Path;

use crate::cli::Look;
use crate::diag::counted;
use crate::lockfile;
use crate::report::json::RootStatus;
use crate::report::reading;
use crate::report::shared::shared;
use crate::report::shared_table::MAX_ROWS;
use crate::report::{RootResult, TextBlock, Tone};
use crate::run::root;

/// Says how the merge of a root ended.
pub(super) fn of_root(root: &RootResult) -> Vec<TextBlock> {
    root.verdict
        .clone()
        .map(reading::verdict)
        .into_iter()
        .collect()
}

/// Says how the merges of several roots ended, each outcome once, and counts the others.
pub(super) fn folded(roots: &[RootResult], look: Look) -> Vec<TextBlock> {
    let outcomes = shared(roots.iter().filter_map(|root| {
        let verdict = root.verdict.as_ref()?;
        let place = root::shown(Path::new(&root.path)).join(lockfile::FILE_NAME);
        let text = verdict
            .text
            .strip_prefix(&format!("{}: ", place.display()))
            .unwrap_or(&verdict.text);
        Some(((verdict.tone, text), root.path.as_str()))
    }));
    let mut blocks: Vec<TextBlock> = outcomes
        .iter()
        .filter(|outcome| !look.quiet || outcome.fact.0 > Tone::Note)
        .take(MAX_ROWS)
        .map(|outcome| {
            let (tone, text) = outcome.fact;
            let (count, names) = (outcome.count(roots.len()), outcome.names(false));
            TextBlock::Verdict(tone, format!("{count}: {text}: {names}"))
        })
        .collect();
    let sound = roots
        .iter()
        .filter(|root| root.changed == Some(false) && root.verdict.is_none())
        .filter(|root| root.status == RootStatus::Clean)
        .count();
    if sound > 0 && !look.quiet {
        let text = format!("{}: there are no conflict markers", counted(sound, "root"));
        blocks.push(TextBlock::Verdict(Tone::Good, text));
    }
    blocks
}
