//! The text of `lockctl resolve`: one line for each lock file with conflicts.

use std::path::Path;

use crate::diag::counted;
use crate::lockfile;
use crate::report::json::RootStatus;
use crate::report::{Look, RootNames, RootResult, Sentence, TextBlock, Tone, reading};
use crate::run::root;

/// Says how the merges ended, and counts the lock files without conflicts.
pub(super) fn of_all(roots: &[RootResult], look: Look) -> Vec<TextBlock> {
    if let [root] = roots {
        return root
            .verdict
            .clone()
            .map(reading::verdict)
            .into_iter()
            .collect();
    }
    let verdicts = roots.iter().filter_map(|root| {
        let mut verdict = root.verdict.clone()?;
        let place = root::shown(Path::new(&root.path)).join(lockfile::FILE_NAME);
        let place = format!("{}: ", place.display());
        if let Some(text) = verdict.text.strip_prefix(&place) {
            verdict.text = text.to_owned();
        }
        Some((root.path.clone(), verdict))
    });
    let mut verdicts: Vec<(String, Sentence)> = verdicts.collect();
    verdicts.retain(|(_, verdict)| !look.quiet || verdict.tone > Tone::Note);
    let mut blocks = vec![TextBlock::Verdicts(RootNames::Columns, verdicts)];
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
