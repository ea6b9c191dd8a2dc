//! The matrix of `lockctl verify --matrix`: a table that folds equal rows.

use std::collections::BTreeSet;

use crate::coverage::{Prediction, Route};
use crate::flavor::Flavor;
use crate::platform::{self, Platform};
use crate::report::{Cell, Column, RootResult, Row, Table, TextBlock};
use crate::verify::matrix::{self, PlatformGroup, PredictionRow};

/// Maximum number of platforms in one line of the table; more are counted.
const MAX_NAMED: usize = 2;

/// The assumption of every prediction.
const PREMISE: &str = "  all columns but \"here\" assume a clean checkout and the right packages";

/// The line below a table without predictions for this machine.
const UNCHECKED: &str =
    "  \"here\" is not predicted: the packages of this machine were not checked";

/// Maximum number of rows about several roots, where findings and a table of causes stand beside them.
const MAX_ROWS: usize = 20;

/// Turns the predictions of roots into one table, with the titles of errors and warnings below it.
///
/// With `verbose`, each platform has its line, and each route is explained.
pub(crate) fn blocks(roots: &[RootResult], verbose: bool) -> Vec<TextBlock> {
    let matrices: Vec<(&RootResult, Flavor, &[PredictionRow])> = roots
        .iter()
        .filter_map(|root| {
            let matrix = root.check()?.matrix.as_deref()?;
            Some((root, root.flavor?, matrix))
        })
        .collect();
    let mut all = matrices.iter().flat_map(|(_, _, rows)| *rows).peekable();
    if all.peek().is_none() {
        let line = "no provider is known to be required or locked: there is nothing to predict";
        let is_said = matrices.len() == 1;
        return Vec::from_iter(is_said.then(|| TextBlock::Lines(vec![line.to_owned()])));
    }
    let here: &'static [Route] = if all.all(|row| row.here.is_empty()) {
        &[]
    } else {
        &[Route::Here, Route::HerePlan]
    };
    let routes = Route::ALL.iter().chain(here).copied();
    let (mut table, notes) = predicted(&matrices, here, verbose);
    // By their cells, so that roots with one outcome are beside each other.
    if matrices.len() > 1 {
        table.rows.sort_by(|a, b| a.cells.cmp(&b.cells));
    }
    let mut below = notes.lines();
    // Lines are long: platforms that all of them are about are named once.
    let label = table.rows[0].cells[1].clone();
    if table.rows.iter().all(|row| row.cells[1] == label) {
        table.columns.remove(1);
        for row in &mut table.rows {
            row.cells.remove(1);
        }
        below.push(format!("  on {}", label.parts.concat()));
    }
    if verbose {
        let (_, flavor, _) = &matrices[0];
        below.extend(routes.map(|route| {
            let more = match route {
                Route::Registry => " that signs its checksums, where nothing is installed",
                Route::UnpackedMirror => ": a directory of unpacked packages",
                Route::PluginCache => " that holds the package, from a registry",
                Route::Readonly => ", from a registry",
                Route::Here => ": what is installed, configured and cached",
                _ => "",
            };
            let command = format!("`{} {}`", flavor.command(), route.command());
            format!("  {}: {command} {}{more}", column(route), route.way())
        }));
    }
    below.push(PREMISE.to_owned());
    if here.is_empty() {
        below.push(UNCHECKED.to_owned());
    }
    below.push(String::new());
    vec![
        TextBlock::Table(table.at_most(MAX_ROWS)),
        TextBlock::Lines(below),
    ]
}

/// Makes the table of all predictions, and records the explanations that it needs.
fn predicted(
    matrices: &[(&RootResult, Flavor, &[PredictionRow])],
    here: &'static [Route],
    verbose: bool,
) -> (Table, Notes) {
    let routes = Route::ALL.iter().chain(here).copied();
    let mut notes = Notes::default();
    let mut table = Table::new(&[Column::Key("PROVIDER"), Column::Key("PLATFORMS")], []);
    table
        .columns
        .extend(routes.map(|route| Column::Key(column(route))));
    for (root, flavor, rows) in matrices {
        let providers = BTreeSet::from_iter(rows.iter().map(|row| &row.provider));
        let mut groups: Vec<(String, Vec<PlatformGroup>)> = providers
            .iter()
            .map(|provider| (provider.short(*flavor), matrix::of_provider(rows, provider)))
            .collect();
        if providers.len() > 1 && matrices.len() == 1 {
            let name = format!("all {} providers", providers.len());
            groups.push((name, matrix::combine(rows)));
        }
        for (provider, groups) in groups {
            for (label, group) in lines(groups, verbose) {
                let cells = [provider.clone(), label]
                    .into_iter()
                    .chain(cells_of(&group, here, &mut notes));
                table.rows.push(Row {
                    cells: cells.map(Cell::from).collect(),
                    ..Row::new(&root.path, [])
                });
            }
        }
    }
    (table, notes)
}

/// Returns the head of a column.
fn column(route: Route) -> &'static str {
    match route {
        Route::Registry => "registry",
        Route::UnpackedMirror => "unpacked",
        Route::PluginCache => "cache",
        Route::Readonly => "readonly",
        Route::Here => "init here",
        Route::HerePlan => "plan here",
    }
}

/// The footnotes of a table.
#[derive(Default)]
struct Notes {
    titles: Vec<String>,
    unchecked: bool,
    assumed: bool,
}

impl Notes {
    /// Returns the text of a cell, and records which explanations the text below needs.
    fn cell(&mut self, prediction: &Prediction) -> String {
        let mut cell = prediction.outcome.word().to_owned();
        if prediction.assumed {
            self.assumed = true;
            cell.push('?');
        }
        if prediction.unchecked {
            self.unchecked = true;
            cell.push('*');
        }
        if let Some(title) = &prediction.title {
            let at = self
                .titles
                .iter()
                .position(|known| known == title)
                .unwrap_or_else(|| {
                    self.titles.push(title.to_string());
                    self.titles.len() - 1
                });
            cell.push_str(&format!("[{}]", at + 1));
        }
        cell
    }

    fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self
            .titles
            .iter()
            .enumerate()
            .map(|(at, title)| format!("  [{}] {title}", at + 1))
            .collect();
        if self.unchecked {
            lines.push("  * no recorded hash can be compared with the package".to_owned());
        }
        if self.assumed {
            lines.push(
                "  ? assumed: a lock file does not say which platform an h1: is for; too few h1: \
                 count as missing"
                    .to_owned(),
            );
        }
        lines
    }
}

/// Returns a line for each group of platforms, with what the group is called.
fn lines(groups: Vec<PlatformGroup>, verbose: bool) -> Vec<(String, PlatformGroup)> {
    let groups = if verbose {
        groups
    } else {
        matrix::fold(groups)
    };
    let all: usize = groups.iter().map(|group| group.platforms.len()).sum();
    let last = groups.len().saturating_sub(1);
    let label = |at: usize, platforms: &[Platform]| match platforms.len() {
        n if n == all && n > 1 => format!("all {n} platforms"),
        // Only the last line can use this: it counts the platforms that are not in the lines above.
        n if n > MAX_NAMED && at == last => format!("the other {n} platforms"),
        _ => platform::join(platforms, ", "),
    };
    groups
        .into_iter()
        .enumerate()
        .map(|(at, group)| (label(at, &group.platforms), group))
        .collect()
}

/// Returns the cells of a line, by route.
fn cells_of(group: &PlatformGroup, here: &[Route], notes: &mut Notes) -> Vec<String> {
    let mut cells = Vec::new();
    for (predictions, count) in [
        // A platform that is not wanted matters to this machine only.
        (&group.predictions, Route::ALL.len()),
        // Nothing can be said here of another platform.
        (&group.here, here.len()),
    ] {
        // A platform without predictions still fills its columns.
        let end = cells.len() + count;
        cells.extend(predictions.iter().map(|prediction| notes.cell(prediction)));
        cells.resize(end, "-".to_owned());
    }
    cells
}
