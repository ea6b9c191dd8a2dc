//! How `lockctl verify` reads.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::table::{self, Detail};

use crate::cli::Look;
use crate::diag::Severity;
use crate::report::reading::{self, Heading, Total};
use crate::report::{self, Block, CommandResult, RootEntry, RootResult, Shown};

/// How many roots have a line each that says how they came out. More are counted only, and a table of
/// all causes follows.
const MAX_VERDICTS: usize = 10;

/// Shows what several roots have in common, then each root, then how all came out.
///
/// `-v` shows every finding by itself.
pub(super) fn of_all(result: &CommandResult, look: Look) -> Vec<Block> {
    let roots = result.roots();
    let are_many = roots.len() > MAX_VERDICTS;
    let folded = report::folded(result, Severity::Warning);
    let own = |at: usize| match look.verbose {
        true => one_by_one(&roots[at]),
        false => folded.own[at].clone(),
    };
    let texts = roots.iter().enumerate().map(|(at, root)| {
        let mut blocks = of_root(root, own(at), look);
        let has_verdict_only = matches!(blocks[..], [Block::Verdict(..)]);
        if are_many && !look.verbose && has_verdict_only {
            blocks.clear();
        }
        blocks
    });
    let each = reading::each(roots, texts.collect(), Heading::PathApart);
    let mut blocks = if look.verbose {
        Vec::new()
    } else {
        folded.shared
    };
    blocks.extend(each);
    let total = reading::total(result, Total::ResultWithCounts, look.verbose);
    if are_many && !folded.table.is_empty() {
        let is_apart = blocks.last() == Some(&Block::Lines(vec![String::new()]));
        if look.verbose && !is_apart {
            blocks.push(Block::Lines(vec![String::new()]));
        }
        blocks.push(Block::Table(folded.table));
        blocks.push(Block::Lines(vec![String::new()]));
    }
    blocks.extend(total.map(reading::verdict));
    blocks
}

/// Shows every finding of a root by itself.
fn one_by_one(root: &RootResult) -> Vec<Block> {
    let entries = root.entries.iter();
    let shown = entries.filter_map(|entry| match entry {
        RootEntry::Finding(finding, Shown::Result) => {
            Some(Block::Diagnostic(finding.diagnostic.clone()))
        }
        _ => None,
    });
    shown.collect()
}

/// Shows what was repaired before all that is left; then findings, the matrix and the verdict.
fn of_root(root: &RootResult, findings: Vec<Block>, look: Look) -> Vec<Block> {
    let mut blocks = Vec::new();
    let fixed = root.fixed.iter().flatten();
    let fixed: Vec<String> = fixed.map(|one| format!("fixed: {}", one.text)).collect();
    if !fixed.is_empty() {
        blocks.push(Block::Lines(fixed));
    }
    blocks.extend(findings);
    if let (Some(matrix), Some(flavor)) = (&root.matrix, root.flavor) {
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

/// How many rules the command that explains them names.
const MAX_EXPLAINED: usize = 3;

/// Names the command that says more about what is wrong, if anything is; the worst first.
pub(super) fn explained(roots: &[RootResult]) -> Option<String> {
    let findings = roots.iter().flat_map(RootResult::findings);
    let found = findings.map(|finding| (finding.diagnostic.code, finding.diagnostic.severity));
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
