//! The text of `lockctl verify`.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::table;

use crate::coverage::CoverageProof;
use crate::diag::Severity;
use crate::report::json::RootStatus;
use crate::report::reading::{self, Total};
use crate::report::{
    self, CommandResult, FindingDisplay, Look, NotSeen, ResultEntry, RootNames, RootResult,
    Sentence, TextBlock, Tone,
};

/// Number of roots of which more have a table of all causes.
const FEW_ROOTS: usize = 10;

/// Shows what was repaired, what is predicted, then the findings, those of one cause as one, and how all came out.
///
/// `-v` shows every finding by itself.
pub(crate) fn of_all(result: &CommandResult, look: Look) -> Vec<TextBlock> {
    let roots = result.roots();
    let mut fixed = Vec::new();
    for root in roots {
        let repairs = root.check().and_then(|check| check.fixed.as_ref());
        for repair in repairs.into_iter().flatten() {
            let sentence = Sentence {
                tone: Tone::Good,
                text: format!("fixed: {}", repair.text),
            };
            fixed.push((root.path.clone(), sentence));
        }
    }
    let mut blocks = vec![TextBlock::Verdicts(RootNames::Columns, fixed)];
    blocks.extend(table::blocks(roots, look.verbose));
    let folded = report::folded(result, &|diagnostic, display| {
        display == FindingDisplay::Result && diagnostic.severity >= Severity::Warning
    });
    if look.verbose {
        blocks.extend(roots.iter().flat_map(|root| &root.entries).filter_map(
            |entry| match entry {
                ResultEntry::Finding(finding, FindingDisplay::Result) => {
                    Some(TextBlock::Diagnostic(finding.diagnostic.clone()))
                }
                _ => None,
            },
        ));
    } else {
        blocks.extend(folded.blocks);
    }
    // A table of the roots is shorter than their findings only where there are many.
    if roots.len() > FEW_ROOTS && !folded.table.rows.is_empty() {
        blocks.push(TextBlock::Table(folded.table));
        blocks.push(TextBlock::Lines(vec![String::new()]));
    }
    // Of several roots, the last line counts those that are clean.
    if roots.len() == 1 || look.verbose {
        blocks.extend(
            roots
                .iter()
                .filter_map(|root| root.verdict.clone())
                .map(reading::verdict),
        );
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
    // Roots have no line of their own, which would say so.
    if roots.len() > 1 && counted > 0 {
        total.text += &format!("; complete by count: {counted}");
    }
    if roots.len() > 1 {
        let not_seen: Vec<NotSeen> = roots
            .iter()
            .filter_map(RootResult::check)
            .map(|check| check.not_seen)
            .collect();
        if let Some(not_seen) = NotSeen::of_roots(&not_seen) {
            total.text += &format!("; {not_seen}");
        }
    }
    let is_quiet = look.quiet && roots.len() > 1;
    (!is_quiet || total.tone != Tone::Good).then_some(total)
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
