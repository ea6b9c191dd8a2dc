//! How `lockctl verify` reads.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::table::{self, Detail};

use crate::cli::Look;
use crate::diag::Severity;
use crate::report::reading::{self};
use crate::report::{Block, RootEntry, RootResult, Shown};

/// What was repaired stands before all that is left; then come findings, the matrix and the verdict.
pub(super) fn of_root(root: &RootResult, look: Look) -> Vec<Block> {
    let mut blocks = Vec::new();
    let fixed = root.fixed.iter().flatten();
    let fixed: Vec<String> = fixed.map(|one| format!("fixed: {}", one.text)).collect();
    if !fixed.is_empty() {
        blocks.push(Block::Lines(fixed));
    }
    for entry in &root.entries {
        if let RootEntry::Finding(finding, Shown::Result) = entry
            && (look.verbose || finding.diagnostic.severity > Severity::Note)
        {
            blocks.push(Block::Diagnostic(finding.diagnostic.clone()));
        }
    }
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
