//! The text about edited files.

use crate::diag::counted;
use crate::report::json::FileEdits;
use crate::report::{Column, CommandResult, Look, RootNames, Row, Table, TextBlock, reading};
use crate::run::provider;

/// Maximum number of lines of a diff; of a longer one the first are shown.
const MAX_LINES: usize = 30;

/// Maximum number of commands that are shown.
const MAX_COMMANDS: usize = 10;

const COLUMNS: &[Column] = &[Column::Key("PROVIDER"), Column::Key("EDIT")];

/// Shows the edits, equal ones together with their files, and the diff where nothing is written.
pub(crate) fn blocks(result: &CommandResult, writes: bool, look: Look) -> Vec<TextBlock> {
    let Some(edits) = &result.edits else {
        return Vec::new();
    };
    let name = provider::naming(result.roots());
    let rows = edits.rows.iter().map(|row| {
        let edit = if row.from.is_empty() {
            row.to.clone()
        } else {
            format!("{} → {}", row.from, row.to)
        };
        let cells = [name(&row.provider).into(), edit.clone().into()];
        ((name(&row.provider), edit), Row::new(&row.path, cells))
    });
    let table = Table::sorted(COLUMNS, rows).naming(RootNames::Below("file"));
    let mut blocks = vec![TextBlock::Table(table.without_head())];
    if !writes {
        let lines = edits.diff.lines().map(str::to_owned).collect();
        blocks.push(TextBlock::Lines(reading::first_lines(
            lines, MAX_LINES, look,
        )));
    }
    blocks.extend(state_commands(edits, look));
    blocks
}

/// Lists the commands that the state needs, if there are any.
fn state_commands(edits: &FileEdits, look: Look) -> Option<TextBlock> {
    let commands = &edits.state_commands;
    if commands.is_empty() {
        return None;
    }
    let (order, states) = (
        if edits.are_states_first {
            "before"
        } else {
            "after"
        },
        if commands.len() == 1 {
            "state"
        } else {
            "states"
        },
    );
    let count = counted(commands.len(), "command");
    let mut lines = vec![format!(
        "{count} to be typed {order} `init`, for the {states}:"
    )];
    let commands = commands
        .iter()
        .map(|command| format!("  {command}"))
        .collect();
    lines.extend(reading::first_lines(commands, MAX_COMMANDS, look));
    if !edits.are_states_first {
        lines.push("then run `init` once more: the first run locks what a state names".to_owned());
    }
    Some(TextBlock::Lines(lines))
}
