//! What setting git up comes to, in words.

use std::path::Path;

use crate::git::{self, WiringGoal, WiringPlan};

/// Lists what changes: what comes begins with `+ `, what goes with `- `.
pub(in crate::cli) fn lines(goal: WiringGoal, plan: &WiringPlan, attributes: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    if plan.attributes.is_some() {
        let sign = match goal {
            WiringGoal::Installed => '+',
            WiringGoal::Removed => '-',
        };
        let path = attributes.display();
        lines.push(format!("{sign} {path}: {}", git::ATTRIBUTES));
    }
    for change in &plan.settings {
        let name = change.name;
        let old = change.old.iter();
        lines.extend(old.map(|old| format!("- git config {name} {old:?}")));
        let new = change.new.iter();
        lines.extend(new.map(|new| format!("+ git config {name} {new:?}")));
    }
    lines
}

/// Says how it ended.
pub(in crate::cli) fn verdict(goal: WiringGoal, plan: &WiringPlan, is_dry: bool) -> &'static str {
    match (goal, plan.is_empty()) {
        (WiringGoal::Installed, true) => "all of it is there already",
        (WiringGoal::Removed, true) => "nothing of it is there",
        _ if is_dry => "nothing was written",
        (WiringGoal::Installed, false) => "git merges and shows lock files with lockctl now",
        (WiringGoal::Removed, false) => "git does without lockctl now",
    }
}
