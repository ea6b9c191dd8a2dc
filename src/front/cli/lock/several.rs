//! The text about several roots: the changes of each provider, each change once, on one screen.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::in_use;
use super::text::{MAX_REPLACED, Tense, locked, replaced, version};
use crate::cli::{Look, diff};
use crate::diag::{Texts, counted, counted_as};
use crate::locker::NotConverted;
use crate::package::Provenance;
use crate::report::json::{ConvertedProvider, LockedProvider, Provider, RootStatus};
use crate::report::notes;
use crate::report::shared::shared;
use crate::report::{Changes, CommandResult, RootResult, TextBlock, Tone};
use crate::review::FileComparison;

/// Maximum and minimum number of lines about changes. In between, the rest of the text decides how many are left.
const MAX_LINES: usize = 28;
const MIN_LINES: usize = 6;

/// Maximum number of failures in Markdown, which has no standard error beside it; more are counted.
const MAX_FAILURES: usize = 3;

/// Number of lines around the changes in Markdown: their fences, and the room that tables keep free.
const LINES_AROUND_CHANGES: usize = 5;

/// Maximum number of lines about replaced hashes; only a run with `--repair` has such, and few.
const MAX_EVIDENCE: usize = 8;

/// Maximum number of outcomes of roots; a run has few. The last line counts the others.
const MAX_OUTCOMES: usize = 6;

/// Shows what was, or would be, written, then how the roots came out; `taken` lines are shown beside it.
pub(super) fn blocks(
    result: &CommandResult,
    tense: Tense,
    look: Look,
    taken: usize,
) -> Vec<TextBlock> {
    let roots = result.roots();
    if look.quiet && !look.markdown {
        return [evidence(roots, tense, look), unchecked(roots)].concat();
    }
    let mut blocks = if look.markdown {
        failures(result)
    } else {
        Vec::new()
    };
    let outcomes = shared(roots.iter().filter_map(|root| {
        let tone = root.verdict.as_ref()?.tone;
        let outcome = root.lock()?.outcome.as_deref()?;
        Some(((tone, outcome), &*root.path))
    }));
    let outcomes = outcomes.iter().take(MAX_OUTCOMES).map(|outcome| {
        let (tone, text) = outcome.fact;
        let count = outcome.count(roots.len());
        TextBlock::Verdict(tone, format!("{count}: {text}"))
    });
    let mut below = evidence(roots, tense, look);
    below.extend(outcomes);
    below.extend(added(roots, tense));
    let mut taken =
        taken + look.height(&blocks, &result.texts) + look.height(&below, &result.texts);
    if look.markdown {
        taken += LINES_AROUND_CHANGES;
    }
    let left = look
        .lines
        .map_or(MAX_LINES, |lines| lines.saturating_sub(taken));
    let left = left.clamp(MIN_LINES, MAX_LINES);
    let compared: Vec<&FileComparison> = roots
        .iter()
        .filter_map(|root| root.lock()?.comparison.as_deref())
        .collect();
    blocks.extend(if compared.is_empty() {
        changes(roots, tense, look, left)
    } else {
        explained(&compared, &result.texts, look, left)
    });
    blocks.extend(below);
    blocks
}

/// Names the lock files that `--check` refuses, by what would happen to them.
fn unchecked(roots: &[RootResult]) -> Vec<TextBlock> {
    let outcomes = shared(
        roots
            .iter()
            .filter(|root| root.status == RootStatus::Findings)
            .filter_map(|root| Some((root.lock()?.outcome.as_deref()?, &*root.path))),
    );
    outcomes
        .iter()
        .take(MAX_OUTCOMES)
        .map(|outcome| {
            let (count, names) = (outcome.count(roots.len()), outcome.names(false));
            TextBlock::Verdict(Tone::Warning, format!("{count}: {}: {names}", outcome.fact))
        })
        .collect()
}

/// Shows the failures with some of their roots, those of the most roots first.
fn failures(result: &CommandResult) -> Vec<TextBlock> {
    let mut failures = result.failures();
    failures.sort_by_key(|(_, roots)| Reverse(roots.len()));
    let hidden = failures.len().saturating_sub(MAX_FAILURES);
    let mut blocks: Vec<TextBlock> = failures
        .into_iter()
        .take(MAX_FAILURES)
        .map(|(failure, roots)| notes::failure_of(failure, roots, result.roots().len(), false))
        .collect();
    if hidden > 0 {
        let text = counted_as(hidden, "more failure is", "more failures are");
        blocks.push(TextBlock::Verdict(
            Tone::Bad,
            format!("{text} not shown here"),
        ));
    }
    blocks
}

/// Shows the explained changes of lock files that were not written.
fn explained(
    compared: &[&FileComparison],
    texts: &Texts,
    look: Look,
    lines: usize,
) -> Vec<TextBlock> {
    let mut changes = diff::text::folded(compared, look);
    for row in &mut changes.rows {
        row.details.clear();
    }
    let mut hidden = 0;
    let fits =
        |changes: &Changes| look.height(&[TextBlock::Changes(changes.clone())], texts) <= lines;
    // The worst come first, so the last ones are dropped.
    while !fits(&changes) && changes.rows.pop().is_some() {
        hidden += 1;
    }
    while !fits(&changes) && changes.remarks.pop().is_some() {
        hidden += 1;
    }
    let mut blocks = vec![TextBlock::Changes(changes)];
    blocks.extend(more(hidden, look));
    blocks
}

/// Shows the evidence against hashes that were replaced, which a repair must not hide.
fn evidence(roots: &[RootResult], tense: Tense, look: Look) -> Vec<TextBlock> {
    let all = roots.iter().flat_map(|root| {
        locked(root)
            .filter(|row| !row.replaced.is_empty())
            .filter_map(|row| {
                Some((
                    replaced(row, root.flavor?, tense, MAX_REPLACED),
                    &*root.path,
                ))
            })
    });
    let (mut room, mut hidden) = (MAX_EVIDENCE, 0);
    let mut blocks = Vec::new();
    for evidence in shared(all) {
        if evidence.fact.len() > room && !blocks.is_empty() {
            hidden += 1;
            continue;
        }
        room = room.saturating_sub(evidence.fact.len());
        blocks.push(TextBlock::Lines(evidence.fact));
    }
    if hidden > 0 {
        let more = counted_as(hidden, "more list", "more lists");
        let text = format!("... and {more} of replaced hashes (-v shows each)");
        blocks.push(in_use::below(text, look));
    }
    blocks
}

/// Counts changes that are not shown.
fn more(hidden: usize, look: Look) -> Option<TextBlock> {
    let count = counted_as(hidden, "more change", "more changes");
    (hidden > 0).then(|| in_use::below(format!("... and {count} (-v shows each)"), look))
}

/// Shows what happened to the entries of lock files that changed, with some of the roots.
fn changes(roots: &[RootResult], tense: Tense, look: Look, most: usize) -> Vec<TextBlock> {
    let mut changes = Vec::new();
    for root in roots.iter().filter(|root| root.changed == Some(true)) {
        let converted = root.lock().and_then(|lock| lock.converted.as_deref());
        let converted = converted.unwrap_or_default();
        for row in locked(root) {
            changes.extend(change(root, row, converted, tense).map(|text| (text, &*root.path)));
        }
        for provider in &root.providers {
            if let Provider::Removed(row) = provider {
                let removed = match tense {
                    Tense::Done => "removed",
                    Tense::Would => "would be removed",
                };
                changes.push((format!("{}: {removed}", row.provider), &*root.path));
            }
        }
        for entry in converted {
            // In words that hold for all roots, so that equal lines are one.
            let reason = match entry.reason {
                Some(NotConverted::OtherHost) => "it is on another registry",
                Some(NotConverted::Named) => "the configuration names its registry",
                Some(NotConverted::State) => "the state names its registry",
                None => continue,
            };
            if let Some(flavor) = root.flavor {
                let name = entry.provider.short(flavor);
                let text = format!("{name} {}: stays as it is, {reason},", entry.version);
                changes.push((text, &*root.path));
            }
        }
    }
    let changes = shared(changes);
    let mut lines = Vec::new();
    let mut shown = 0;
    for change in &changes {
        let count = change.count(roots.len());
        let mut of_change = vec![format!("{} in {count}", change.fact)];
        if change.roots.len() < roots.len() {
            of_change.push(format!("  {}", change.names(false)));
        }
        if lines.len() + of_change.len() > most {
            break;
        }
        lines.extend(of_change);
        shown += 1;
    }
    let mut blocks = Vec::new();
    if !lines.is_empty() {
        blocks.push(TextBlock::Lines(lines));
    }
    blocks.extend(more(changes.len() - shown, look));
    blocks
}

/// Says what happened to an entry, as in `hashicorp/aws 5.1.0: 4 platforms added`; nothing if it stayed as
/// it was.
fn change(
    root: &RootResult,
    row: &LockedProvider,
    converted: &[ConvertedProvider],
    tense: Tense,
) -> Option<String> {
    let (moved, selected, added, replaced, removed) = match tense {
        Tense::Done => ("moved", "selected", "added", "replaced", "removed"),
        Tense::Would => (
            "would move",
            "selected",
            "to add",
            "to replace",
            "to remove",
        ),
    };
    let mut parts = Vec::new();
    if row.from.is_some() {
        parts.push(moved.to_owned());
    } else if row.selected {
        parts.push(selected.to_owned());
    }
    if converted
        .iter()
        .any(|entry| entry.to.as_ref() == Some(&row.provider))
    {
        parts.push("converted".to_owned());
    }
    let new = || row.hashes.iter().filter(|hash| hash.added);
    let platforms: BTreeSet<&String> = new().flat_map(|hash| &hash.platforms).collect();
    match (platforms.len(), new().count()) {
        (0, 0) => {}
        (0, hashes) => parts.push(format!("{} {added}", counted_as(hashes, "hash", "hashes"))),
        (platforms, _) => parts.push(format!("{} {added}", counted(platforms, "platform"))),
    }
    for (count, word) in [(row.replaced.len(), replaced), (row.dropped.len(), removed)] {
        if count > 0 {
            parts.push(format!("{} {word}", counted_as(count, "hash", "hashes")));
        }
    }
    let name = row.provider.short(root.flavor?);
    (!parts.is_empty()).then(|| format!("{name} {}: {}", version(row), parts.join(", ")))
}

/// Counts the hashes that were added to all lock files, by how they are known.
fn added(roots: &[RootResult], tense: Tense) -> Option<TextBlock> {
    let (mut signed, mut proven, mut claimed, mut computed) = (0, 0, 0, 0);
    for hash in roots
        .iter()
        .flat_map(locked)
        .flat_map(|row| &row.hashes)
        .filter(|hash| hash.added)
    {
        match hash.provenance {
            Provenance::Signed => signed += 1,
            Provenance::Proven => proven += 1,
            Provenance::Claimed => claimed += 1,
            Provenance::Computed | Provenance::Kept => computed += 1,
        }
    }
    let all = signed + proven + claimed + computed;
    let counts: Vec<String> = [
        (signed, "signed"),
        (proven, "proven"),
        (claimed, "claimed"),
        (computed, "computed and not covered by a signature"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, word)| format!("{count} {word}"))
    .collect();
    let hashes = match tense {
        Tense::Done => counted_as(all, "hash added", "hashes added"),
        Tense::Would => counted_as(all, "hash to add", "hashes to add"),
    };
    let text = format!("{hashes}: {}", counts.join(", "));
    (all > 0).then_some(TextBlock::Verdict(Tone::Good, text))
}
