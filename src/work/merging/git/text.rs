//! The text of `lockctl git`.

use std::path::Path;

use crate::diag::quoted;
use crate::git::{self, EffectiveSetting, SettingKind, WiringGoal, WiringPlan};
use crate::report::{Column, RootDetail, RootResult, Row, Table, TextBlock, reading};

const COLUMNS: &[Column] = &[Column::Key("SETTING"), Column::Key("STATE")];

pub(super) fn of_root(root: &RootResult) -> Vec<TextBlock> {
    let mut blocks = Vec::new();
    if let RootDetail::GitSettings(settings) = &root.detail {
        let rows = settings.iter().map(|setting| {
            let state = match &setting.found {
                _ if setting.in_force => "in force".to_owned(),
                Some(other) => format!("other: {other}"),
                None => "missing".to_owned(),
            };
            let name = match setting.kind {
                SettingKind::Config => setting.name.to_owned(),
                SettingKind::Attribute => format!("attribute {}", setting.name),
            };
            Row::new(&root.path, [name.into(), state.into()])
        });
        blocks.push(TextBlock::Table(Table::new(COLUMNS, rows).without_head()));
    }
    if let Some(verdict) = &root.verdict {
        if let RootDetail::GitChanges(lines) = &root.detail {
            blocks.push(TextBlock::Lines(lines.clone()));
        }
        blocks.push(reading::verdict(verdict.clone()));
    }
    blocks
}

/// Lists what changes: what is added begins with `+ `, what is removed with `- `.
pub(crate) fn lines(goal: WiringGoal, scope: &str, plan: &WiringPlan, path: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    if plan.attributes.is_some() {
        let sign = match goal {
            WiringGoal::Installed => '+',
            WiringGoal::Removed => '-',
        };
        let path = path.display();
        lines.extend(git::ATTRIBUTES.map(|line| format!("{sign} {path}: {line}")));
    }
    for change in &plan.settings {
        let name = change.name;
        if let Some(old) = &change.old {
            lines.push(format!("- git config {scope} {name} {}", quoted(old)));
        }
        if let Some(new) = &change.new {
            lines.push(format!("+ git config {scope} {name} {}", quoted(new)));
        }
    }
    lines
}

pub(crate) fn verdict(goal: WiringGoal, plan: &WiringPlan, is_dry: bool) -> &'static str {
    match (goal, plan.is_empty()) {
        (WiringGoal::Installed, true) => "everything is there already",
        (WiringGoal::Removed, true) => "nothing was there",
        _ if is_dry => "nothing was written",
        (WiringGoal::Installed, false) => "git merges and shows lock files with lockctl now",
        (WiringGoal::Removed, false) => "git no longer uses lockctl",
    }
}

/// Says which attributes have other values than those that were written.
pub(crate) fn overridden(settings: &[EffectiveSetting]) -> String {
    let all: Vec<String> = settings
        .iter()
        .filter(|setting| setting.kind == SettingKind::Attribute && !setting.in_force)
        .map(|attribute| match &attribute.found {
            Some(value) => format!("{}={value}", attribute.name),
            None => format!("no {}", attribute.name),
        })
        .collect();
    format!(
        "git does not use lockctl for lock files here: other attributes have priority ({})",
        all.join(", ")
    )
}
