//! The text of `lockctl trust`.

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::ProviderAddr;
use crate::report::json::{MemoryState, Provider, TrustedProvider};
use crate::report::{Column, Look, RootResult, Row, Table, TextBlock, Tone};

/// Number of digits of a key that are shown without `-v`: those of its ID.
const ID_DIGITS: usize = 16;

/// Shows each provider with what is known, and what to do.
pub(super) fn of_all(roots: &[RootResult], checks: bool, look: Look) -> Vec<TextBlock> {
    let all: Vec<(&RootResult, &TrustedProvider)> = roots
        .iter()
        .flat_map(|root| root.providers.iter().map(move |row| (root, row)))
        .filter_map(|(root, row)| match row {
            Provider::Trusted(row) => Some((root, row)),
            _ => None,
        })
        .collect();
    let shown = all
        .iter()
        .filter(|(_, row)| look.verbose || row.state != MemoryState::Unchanged);
    let rows = shown.map(|(root, row)| {
        let signers = match row.signed_by.as_deref() {
            None => "not known".to_owned(),
            Some([]) => "no key".to_owned(),
            Some(keys) if look.verbose => keys.join(", "),
            Some(keys) => {
                let ids = keys.iter().map(|key| {
                    let start = key.len().saturating_sub(ID_DIGITS);
                    key.get(start..).unwrap_or(key)
                });
                ids.collect::<Vec<_>>().join(", ")
            }
        };
        let cells = [
            row.state.name().into(),
            row.provider.to_string().into(),
            row.version.to_string().into(),
            signers.into(),
            row.key_expires.clone().unwrap_or_default().into(),
            row.modules.join(", ").into(),
            row.provenance.join(", ").into(),
            row.steps_down.join("; ").into(),
        ];
        Row {
            tone: Some(tone(row.state)),
            ..Row::new(&root.path, cells)
        }
    });
    let columns = [
        Column::Key("MEMORY"),
        Column::Key("PROVIDER"),
        Column::Joined("VERSION"),
        Column::Key("SIGNED BY"),
        Column::Key("KEY EXPIRES"),
        Column::Key("BUILT FROM"),
        Column::Key("ATTESTED BY"),
        Column::Key("STEP DOWN"),
    ];
    let mut blocks = vec![TextBlock::Table(Table::new(&columns, rows))];
    blocks.extend(summary(&all, checks));
    blocks
}

/// Counts the providers by their state, and says what follows from it.
fn summary(all: &[(&RootResult, &TrustedProvider)], checks: bool) -> Vec<TextBlock> {
    let mut blocks = Vec::new();
    // Sets, because roots that share a project file remember a provider together.
    let mut by_state: BTreeMap<MemoryState, BTreeSet<&ProviderAddr>> = BTreeMap::new();
    for (_, row) in all {
        by_state.entry(row.state).or_default().insert(&row.provider);
    }
    let parts: Vec<String> = by_state
        .iter()
        .map(|(state, providers)| format!("{} {}", providers.len(), state.name()))
        .collect();
    if by_state.contains_key(&MemoryState::FirstUse) {
        let text =
            "a first use is compared with nothing: compare the keys with what the publishers state";
        blocks.push(TextBlock::Remark(Tone::Note, text.to_owned()));
    }
    if by_state.contains_key(&MemoryState::Unknown) {
        let text = "who signs an unknown one is known after `lockctl lock`, or with `lockctl trust --upstream`";
        blocks.push(TextBlock::Remark(Tone::Note, text.to_owned()));
    }
    if !parts.is_empty() {
        let is_changed = by_state.contains_key(&MemoryState::Changed);
        let written = all.iter().any(|(_, row)| row.state.is_written());
        let end = match (checks, written) {
            (true, true) => "; nothing was written",
            (false, true) => "; the project file was written",
            _ => "",
        };
        // With --check an unwritten memory is the finding.
        let tone = if is_changed || checks && written {
            Tone::Bad
        } else {
            Tone::Good
        };
        let text = format!("{}{end}", parts.join(", "));
        blocks.push(TextBlock::Verdict(tone, text));
    }
    blocks
}

fn tone(state: MemoryState) -> Tone {
    match state {
        MemoryState::Changed => Tone::Bad,
        MemoryState::FirstUse | MemoryState::Unknown => Tone::Note,
        MemoryState::Accepted | MemoryState::Completed | MemoryState::Unchanged => Tone::Good,
    }
}
