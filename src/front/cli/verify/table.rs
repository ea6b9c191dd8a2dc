//! The matrix of `lockctl verify --matrix`: a table that folds equal rows, and rows for programs.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::addr::ProviderAddr;
use crate::coverage::{Prediction, Route};
use crate::flavor::Flavor;
use crate::platform::{self, Platform};
use crate::report::shared::shared;
use crate::report::shared_table::{TableShape, shared_table};
use crate::report::{RootResult, TextBlock, json};
use crate::verify::matrix::{self, PlatformGroup, PredictionRow};

/// Maximum number of platforms in one line of the table; more are counted.
const MAX_NAMED: usize = 2;

/// The assumption of every prediction.
const PREMISE: &str = "  all columns but \"here\" assume a clean checkout and the right packages";

/// The line below a table without predictions for this machine.
const UNCHECKED: &str =
    "  \"here\" is not predicted: the packages of this machine were not checked";

/// The amount of detail in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::front::cli) enum Detail {
    /// Platforms with the same outcome share a line.
    Folded,
    /// Each platform has its line, and each route is explained.
    Full,
}

/// Returns the predictions of each provider and platform, out of what a result holds.
fn rows(matrix: &[json::MatrixRow]) -> Vec<PredictionRow> {
    let same = |a: &json::MatrixRow, b: &json::MatrixRow| {
        a.provider == b.provider && a.platform == b.platform
    };
    matrix
        // `json` wrote the routes of a provider and platform one after the other.
        .chunk_by(same)
        .filter_map(|own| {
            let (predictions, here) = own
                .iter()
                .map(|row| Prediction {
                    route: row.route,
                    outcome: row.outcome,
                    title: row.title.clone().map(Cow::Owned),
                    unchecked: row.unchecked,
                    assumed: row.assumed,
                })
                .partition(|row| Route::ALL.contains(&row.route));
            Some(PredictionRow {
                // Rows about the whole run name no provider; `blocks` combines them anew.
                provider: own[0].provider.clone()?,
                platform: own[0].platform.clone(),
                predictions,
                here,
            })
        })
        .collect()
}

/// Turns predictions into a table, with the titles of errors and warnings below it.
pub(in crate::front::cli) fn blocks(
    matrix: &[json::MatrixRow],
    flavor: Flavor,
    detail: Detail,
) -> Vec<TextBlock> {
    let rows = &rows(matrix)[..];
    if rows.is_empty() {
        let line = "no provider is known to be required or locked: there is nothing to predict";
        return vec![TextBlock::Lines(vec![line.to_owned()])];
    }
    let mut notes = Notes::default();
    let here = here_routes(rows.iter());
    let routes = Route::ALL.iter().chain(here).copied();
    let mut table: Vec<Vec<String>> = vec![
        ["", ""]
            .into_iter()
            .chain(routes.clone().map(column))
            .map(str::to_owned)
            .collect(),
    ];
    let providers: BTreeSet<&ProviderAddr> = rows.iter().map(|row| &row.provider).collect();
    for provider in &providers {
        let lines = lines(matrix::of_provider(rows, provider), detail);
        add(&mut table, &provider.short(flavor), lines, here, &mut notes);
    }
    if providers.len() > 1 {
        let name = format!("all {} providers", providers.len());
        let lines = lines(matrix::combine(rows), detail);
        add(&mut table, &name, lines, here, &mut notes);
    }
    say_platforms_once(&mut table);
    let mut below = notes.below(here);
    let last = below.pop();
    if detail == Detail::Full {
        below.extend(routes.map(|route| {
            let command = format!("`{} {}`", flavor.command(), route.command());
            // What a route means beyond the words of a sentence.
            let more = match route {
                Route::Registry => " that signs its checksums, where nothing is installed",
                Route::UnpackedMirror => ": a directory of unpacked packages",
                Route::PluginCache => " that holds the package, from a registry",
                Route::Readonly => ", from a registry",
                Route::Here => ": what is installed, configured and cached",
                _ => "",
            };
            format!("  {}: {command} {}{more}", column(route), route.way())
        }));
    }
    below.extend(last);
    vec![TextBlock::Table(table), TextBlock::Lines(below)]
}

/// Maximum number of rows about several roots, because findings and a table of causes are printed beside them.
const MAX_SHARED_ROWS: usize = 20;

/// Turns the predictions of several roots into one table: equal rows once, with the roots that have them.
pub(in crate::front::cli) fn shared_blocks(
    roots: &[RootResult],
    terminal: Option<usize>,
) -> Vec<TextBlock> {
    let matrices: Vec<(&RootResult, Flavor, Vec<PredictionRow>)> = roots
        .iter()
        .filter_map(|root| {
            let matrix = root.check()?.matrix.as_ref()?;
            Some((root, root.flavor?, rows(matrix)))
        })
        .collect();
    let mut all = matrices.iter().flat_map(|(_, _, rows)| rows).peekable();
    if all.peek().is_none() {
        return Vec::new();
    }
    let here = here_routes(all);
    let mut notes = Notes::default();
    let mut facts = Vec::new();
    for (root, flavor, rows) in &matrices {
        let providers: BTreeSet<&ProviderAddr> = rows.iter().map(|row| &row.provider).collect();
        for provider in providers {
            let groups = matrix::of_provider(rows, provider);
            for (label, group) in lines(groups, Detail::Folded) {
                let cells = cells(&group, here, &mut notes);
                facts.push(((provider.short(*flavor), label, cells), &*root.path));
            }
        }
    }
    let first = facts[0].0.1.clone();
    let is_same = facts.iter().all(|((_, label, _), _)| *label == first);
    let mut titles: Vec<&str> = if is_same {
        vec![&*first]
    } else {
        vec!["PROVIDER", "PLATFORMS"]
    };
    for route in Route::ALL.iter().chain(here) {
        titles.push(column(*route));
    }
    let shape = TableShape {
        titles: &titles,
        flexible: &[],
        most: MAX_SHARED_ROWS,
        terminal,
    };
    let mut blocks = shared_table(shape, shared(facts), |(provider, label, cells)| {
        let label = (!is_same).then(|| label.clone());
        std::iter::once(provider.clone())
            .chain(label)
            .chain(cells.iter().cloned())
            .collect()
    });
    blocks.push(TextBlock::Lines(notes.below(here)));
    blocks
}

/// Returns the routes of this machine, if anything is predicted for them.
fn here_routes<'a>(mut rows: impl Iterator<Item = &'a PredictionRow>) -> &'static [Route] {
    if rows.all(|row| row.here.is_empty()) {
        &[]
    } else {
        &[Route::Here, Route::HerePlan]
    }
}

/// Turns predictions into rows for programs: those of each provider, then those of the whole run.
pub(in crate::front::cli) fn json(rows: &[PredictionRow]) -> Vec<json::MatrixRow> {
    let of_providers = rows.iter().flat_map(|row| {
        let provider = Some(&row.provider);
        json_rows(
            provider,
            &row.platform,
            row.predictions.iter().chain(&row.here),
        )
    });
    let groups = matrix::combine(rows);
    let whole = groups.iter().flat_map(|group| {
        group.platforms.iter().flat_map(|platform| {
            json_rows(None, platform, group.predictions.iter().chain(&group.here))
        })
    });
    of_providers.chain(whole).collect()
}

fn json_rows<'a>(
    provider: Option<&ProviderAddr>,
    platform: &Platform,
    predictions: impl Iterator<Item = &'a Prediction>,
) -> Vec<json::MatrixRow> {
    predictions
        .map(|prediction| json::MatrixRow {
            provider: provider.cloned(),
            platform: platform.clone(),
            route: prediction.route,
            outcome: prediction.outcome,
            title: prediction.title.as_deref().map(str::to_owned),
            unchecked: prediction.unchecked,
            assumed: prediction.assumed,
        })
        .collect()
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

    /// Returns the lines below a table, with an empty one at the end.
    fn below(&self, here: &[Route]) -> Vec<String> {
        let mut lines = self.lines();
        lines.push(PREMISE.to_owned());
        if here.is_empty() {
            lines.push(UNCHECKED.to_owned());
        }
        lines.push(String::new());
        lines
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
fn lines(groups: Vec<PlatformGroup>, detail: Detail) -> Vec<(String, PlatformGroup)> {
    let groups = match detail {
        Detail::Folded => matrix::fold(groups),
        Detail::Full => groups,
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

fn add(
    table: &mut Vec<Vec<String>>,
    name: &str,
    lines: Vec<(String, PlatformGroup)>,
    here: &[Route],
    notes: &mut Notes,
) {
    for (at, (label, group)) in lines.into_iter().enumerate() {
        let name = if at == 0 { name } else { "" };
        let cells = cells(&group, here, notes);
        table.push([name.to_owned(), label].into_iter().chain(cells).collect());
    }
}

/// Returns the cells of a line, by route.
fn cells(group: &PlatformGroup, here: &[Route], notes: &mut Notes) -> Vec<String> {
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

/// Moves the platforms into the head where all lines are about the same ones: lines are long.
fn say_platforms_once(table: &mut [Vec<String>]) {
    let [head, lines @ ..] = table else { return };
    let mut labels = lines.iter().map(|line| &line[1]);
    let Some(first) = labels.next().cloned() else {
        return;
    };
    if labels.all(|label| *label == first) {
        head[0] = first;
        for line in table {
            line.remove(1);
        }
    }
}
