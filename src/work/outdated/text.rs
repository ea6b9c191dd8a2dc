//! The text of `lockctl outdated`.

use super::verdict;
use crate::diag::counted;
use crate::report::json::{ComparedProvider, Provider, RootStatus, VersionState};
use crate::report::{
    Column, CommandResult, Look, RootResult, Row, Sentence, Table, TextBlock, Tone, reading,
};
use crate::run::{holding, provider};
use crate::version::{Upgrade, Version};

const COLUMNS: &[Column] = &[
    Column::Key("PROVIDER"),
    Column::Key("LOCKED"),
    Column::Joined("ALLOWED"),
    Column::Key("NEWEST"),
    Column::Joined("STATE"),
    Column::Joined("EXCLUDED BY"),
];

/// Shows what is not up to date, with `--verbose` everything, and how it came out.
pub(crate) fn of_all(result: &CommandResult, look: Look) -> Vec<TextBlock> {
    let roots = result.roots();
    let name = provider::naming(roots);
    let rows = roots.iter().flat_map(|root| {
        compared(root)
            .filter(|row| look.verbose || !is_fine(row))
            .map(|row| {
                let held_by: Vec<String> = match roots {
                    [_] => row.held_by.iter().map(holding::in_words).collect(),
                    // The places differ from root to root.
                    _ => row
                        .held_by
                        .iter()
                        .map(|place| format!("\"{}\"", place.constraints))
                        .collect(),
                };
                // The version to which `update` moves.
                let allowed = if let Some(old_enough) = &row.old_enough {
                    let step = ComparedProvider::upgrade(row.locked.as_ref(), Some(old_enough));
                    version(Some(old_enough), step, row.old_enough_age.as_deref())
                } else {
                    version(
                        row.newest_allowed.as_ref(),
                        row.allowed_step,
                        row.allowed_age.as_deref(),
                    )
                };
                let cells = [
                    name(&row.provider).into(),
                    version(row.locked.as_ref(), None, None).into(),
                    allowed.into(),
                    version(row.newest.as_ref(), row.step, row.age.as_deref()).into(),
                    verdict::words(row.state).into(),
                    held_by.into(),
                ];
                let key = (&row.provider, row.locked.as_ref(), row.newest.as_ref());
                (key, Row::new(&root.path, cells))
            })
    });
    let mut blocks = vec![TextBlock::Table(Table::sorted(COLUMNS, rows))];
    let verdict = match roots {
        // A comment has no standard error beside it, where the cause is.
        [root] if look.markdown && root.verdict.is_none() => Some(Sentence {
            tone: Tone::Bad,
            text: format!("{}: could not be compared", root.path),
        }),
        [root] => root.verdict.clone(),
        _ => None,
    };
    let closing = reading::closing(result, of_several(roots), look.verbose);
    blocks.extend(verdict.into_iter().chain(closing).map(reading::verdict));
    blocks
}

/// Says how the providers of several roots compare.
fn of_several(roots: &[RootResult]) -> Sentence {
    let has = |status| {
        roots
            .iter()
            .filter(move |root| root.status == status)
            .count()
    };
    let failed = has(RootStatus::Failed);
    let text = if failed == roots.len() {
        // Nothing was compared, so nothing is known of what is required.
        format!("{} failed", counted(failed, "root"))
    } else {
        let counts = verdict::counts(roots.iter().flat_map(compared));
        let failed = match failed {
            0 => String::new(),
            failed => format!("; {} failed", counted(failed, "root")),
        };
        format!("{}, {counts}{failed}", counted(roots.len(), "root"))
    };
    let tone = if has(RootStatus::Clean) < roots.len() {
        Tone::Bad
    } else if roots.iter().flat_map(compared).any(|row| !is_fine(row)) {
        Tone::Warning
    } else {
        Tone::Good
    };
    Sentence { tone, text }
}

fn compared(root: &RootResult) -> impl Iterator<Item = &ComparedProvider> {
    root.providers.iter().filter_map(|provider| match provider {
        Provider::Compared(row) => Some(&**row),
        _ => None,
    })
}

fn is_fine(row: &ComparedProvider) -> bool {
    matches!(row.state, VersionState::UpToDate | VersionState::BuiltIn)
}

/// Shows a version, what leads there from the locked one, and when it was published.
fn version(version: Option<&Version>, step: Option<Upgrade>, age: Option<&str>) -> String {
    let Some(version) = version else {
        return "-".to_owned();
    };
    match (step.map(Upgrade::name), age) {
        (None, None) => version.to_string(),
        (Some(about), None) | (None, Some(about)) => format!("{version} ({about})"),
        (Some(step), Some(age)) => format!("{version} ({step}, {age})"),
    }
}
