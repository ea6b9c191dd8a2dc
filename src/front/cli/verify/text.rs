//! The text of `lockctl verify`.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::table::{self, Detail};

use crate::cli::Look;
use crate::coverage::CoverageProof;
use crate::diag::{Severity, counted_as};
use crate::report::json::RootStatus;
use crate::report::reading::{self, Heading, Total};
use crate::report::{
    self, CommandResult, FindingDisplay, NotSeen, ResultEntry, RootResult, Sentence, TextBlock,
    Tone,
};

/// Maximum number of roots that have a verdict line each. More are counted only, and a table of
/// all causes follows.
const MAX_VERDICTS: usize = 10;

/// Shows what several roots have in common, then each root, then how all came out.
///
/// `-v` shows every finding by itself.
pub(super) fn of_all(result: &CommandResult, look: Look) -> Vec<TextBlock> {
    let roots = result.roots();
    let are_many = roots.len() > MAX_VERDICTS;
    let mut folded = report::folded(result, Severity::Warning);
    let matrix = if look.lines.is_some() {
        table::shared_blocks(roots, look.terminal)
    } else {
        Vec::new()
    };
    let height = |block: &TextBlock| block.height(&result.texts);
    let above: usize = matrix.iter().map(height).sum();
    let hidden = look.lines.map_or(0, |lines| {
        folded.limit(&result.texts, lines.saturating_sub(above))
    });
    let mut blocks = matrix;
    let mut texts = Vec::new();
    if look.verbose {
        texts.extend(roots.iter().map(|root| {
            let findings = root
                .entries
                .iter()
                .filter_map(|entry| match entry {
                    ResultEntry::Finding(finding, FindingDisplay::Result) => {
                        Some(TextBlock::Diagnostic(finding.diagnostic.clone()))
                    }
                    _ => None,
                })
                .collect();
            of_root(root, findings, look)
        }));
    } else {
        blocks.extend(folded.shared);
        for (root, findings) in roots.iter().zip(folded.own) {
            let mut text = of_root(root, findings, look);
            let has_verdict_only = matches!(text[..], [TextBlock::Verdict(..)]);
            let is_clean = root.status == RootStatus::Clean;
            if has_verdict_only && (are_many || look.quiet && is_clean && roots.len() > 1) {
                text.clear();
            }
            texts.push(text);
        }
    }
    blocks.extend(reading::each(roots, texts, Heading::PathApart));
    if hidden > 0 {
        let more = counted_as(hidden, "more cause", "more causes");
        let text = format!("... and {more} (-v shows each)");
        blocks.push(TextBlock::Lines(vec![text, String::new()]));
    }
    if are_many && !folded.table.is_empty() {
        let is_apart = blocks.last() == Some(&TextBlock::Lines(vec![String::new()]));
        if look.verbose && !is_apart {
            blocks.push(TextBlock::Lines(vec![String::new()]));
        }
        blocks.push(TextBlock::Table(folded.table));
        blocks.push(TextBlock::Lines(vec![String::new()]));
    }
    blocks.extend(total(result, look).map(reading::verdict));
    blocks
}

/// Says how all roots came out.
fn total(result: &CommandResult, look: Look) -> Option<Sentence> {
    let roots = result.roots();
    let mut total = reading::total(result, Total::ResultWithCounts, look.verbose)?;
    let counted = roots
        .iter()
        .filter(|root| root.status == RootStatus::Clean)
        .filter_map(RootResult::check)
        .filter(|check| check.proof == CoverageProof::Counted)
        .count();
    // Clean roots have no line of their own then, which would say so.
    if roots.len() > MAX_VERDICTS && counted > 0 {
        total.text += &format!("; complete by count: {counted}");
    }
    if roots.len() > MAX_VERDICTS {
        let checks = roots.iter().filter_map(RootResult::check);
        let not_seen: Vec<NotSeen> = checks.map(|check| check.not_seen).collect();
        if let Some(not_seen) = NotSeen::of_roots(&not_seen) {
            total.text += &format!("; {not_seen}");
        }
    }
    let is_quiet = look.quiet && roots.len() > 1;
    (!is_quiet || total.tone != Tone::Good).then_some(total)
}

/// Shows what was repaired before all that is left; then findings, the matrix and the verdict.
fn of_root(root: &RootResult, findings: Vec<TextBlock>, look: Look) -> Vec<TextBlock> {
    let mut blocks = Vec::new();
    let check = root.check();
    let fixed: Vec<String> = check
        .into_iter()
        .flat_map(|check| &check.fixed)
        .flatten()
        .map(|repair| format!("fixed: {}", repair.text))
        .collect();
    if !fixed.is_empty() {
        blocks.push(TextBlock::Lines(fixed));
    }
    blocks.extend(findings);
    let matrix = check.and_then(|check| check.matrix.as_ref());
    // The predictions of many roots are one table.
    if let (Some(matrix), Some(flavor), None) = (matrix, root.flavor, look.lines) {
        let detail = if look.verbose {
            Detail::Full
        } else {
            Detail::Folded
        };
        blocks.extend(table::blocks(matrix, flavor, detail));
    }
    blocks.extend(root.verdict.clone().map(reading::verdict));
    blocks
}

/// Maximum number of rules in the command that explains them.
const MAX_EXPLAINED: usize = 3;

/// Names the command that says more about what is wrong, if anything is; the worst first.
pub(super) fn explained(roots: &[RootResult]) -> Option<String> {
    let found = roots
        .iter()
        .flat_map(RootResult::findings)
        .map(|finding| (finding.diagnostic.code, finding.diagnostic.severity));
    // A project file may raise one finding of a rule above the others: the worst decides.
    let mut worst: BTreeMap<&str, Severity> = BTreeMap::new();
    for (rule, severity) in found.filter(|(_, severity)| *severity > Severity::Note) {
        let worst = worst.entry(rule).or_insert(severity);
        *worst = severity.max(*worst);
    }
    let mut names: Vec<&str> = worst.keys().copied().collect();
    names.sort_by_key(|name| Reverse(worst[name]));
    match names.as_slice() {
        [] => None,
        several if several.len() > MAX_EXPLAINED => Some(
            "`lockctl explain RULE` says what a finding means and how to fix it; RULE is the name \
             in brackets"
                .to_owned(),
        ),
        names => Some(format!(
            "`lockctl explain {}` says what this means and how to fix it",
            names.join(" ")
        )),
    }
}
