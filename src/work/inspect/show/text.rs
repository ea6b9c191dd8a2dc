//! The text of `lockctl show`.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::build;
use crate::hash::Scheme;
use crate::platform;
use crate::report::json::{Provider, RootStatus, ShownProvider};
use crate::report::{Cell, Column, Look, RootResult, Row, Table, TextBlock};
use crate::run::provider;

const COLUMNS: &[Column] = &[
    Column::Key("PROVIDER"),
    Column::Key("VERSION"),
    Column::Joined("CONSTRAINTS"),
    Column::Key("h1"),
    Column::Key("zh"),
    Column::Key("other"),
    Column::Long("KNOWN PLATFORMS"),
    Column::Key("LATEST DATE"),
];

/// Shows what is locked, or with which builds; with `-v` each hash, or every line of the build information.
pub(super) fn of_all(roots: &[RootResult], look: Look) -> Vec<TextBlock> {
    if let [root] = roots
        && shown(root).next().is_none()
    {
        // A registry that gave no answer keeps nothing of what is locked from being shown.
        return match root.status {
            _ if root.lacks_lock() => vec![TextBlock::Lines(vec!["no lock file".to_owned()])],
            RootStatus::Failed => Vec::new(),
            _ => vec![TextBlock::Lines(vec!["nothing is locked".to_owned()])],
        };
    }
    let name = provider::naming(roots);
    let all = || {
        roots
            .iter()
            .flat_map(|root| shown(root).map(move |row| (root, row)))
    };
    // One root with builds is enough: all rows of a table have its columns.
    let are_builds = all().any(|(_, row)| row.build.is_some());
    let are_dated = all().any(|(_, row)| row.dates.is_some());
    let rows = all().map(|(root, provider)| {
        let version = match provider.fault {
            Some(_) => format!("{} (fault)", provider.version),
            None => provider.version.to_string(),
        };
        let mut cells = vec![name(&provider.provider).into(), version.into()];
        cells.extend(if are_builds {
            build::cells(provider).into_iter().map(Cell::from).collect()
        } else {
            hashes(provider, are_dated)
        });
        let details = if !look.verbose {
            Vec::new()
        } else if are_builds {
            build::lines(provider)
        } else {
            lines(provider)
        };
        let row = Row {
            root: root.path.clone(),
            cells,
            tone: None,
            details,
        };
        ((&provider.provider, Reverse(&provider.version)), row)
    });
    let columns = if are_builds { build::COLUMNS } else { COLUMNS };
    vec![TextBlock::Table(Table::sorted(columns, rows))]
}

/// Returns the cells about the constraints, the hashes, the platforms and the latest date of an entry.
fn hashes(provider: &ShownProvider, are_dated: bool) -> Vec<Cell> {
    let count = |scheme| {
        let of_scheme = provider
            .hashes
            .iter()
            .filter(|recorded| recorded.hash.scheme() == scheme);
        Cell::from(of_scheme.count().to_string())
    };
    let unknown: Vec<&str> = provider
        .hashes
        .iter()
        .filter(|recorded| recorded.hash.scheme() == Scheme::Other)
        .map(|recorded| recorded.hash.scheme_name())
        .collect();
    let mut unknown_hashes = unknown.len().to_string();
    let schemes = Vec::from_iter(BTreeSet::from_iter(unknown));
    if !schemes.is_empty() {
        unknown_hashes += &format!(" ({})", schemes.join(", "));
    }
    let platforms = provider.platforms.as_deref().unwrap_or_default();
    let mut cells = vec![
        Cell::or_dash(provider.constraints.to_string()),
        count(Scheme::H1),
        count(Scheme::Zh),
        Cell::from(unknown_hashes),
        Cell::or_dash(platform::join(platforms, " ")),
    ];
    if are_dated {
        cells.push(Cell::or_dash(
            provider.latest_date.clone().unwrap_or_default(),
        ));
    }
    cells
}

/// Lists the dates of a release, and every hash with its platforms as far as they are known.
fn lines(provider: &ShownProvider) -> Vec<String> {
    let hashes = provider.hashes.iter().map(|hash| {
        let owner = match hash.beside {
            Some(beside) => beside.words().to_owned(),
            None => hash.platforms.join(" "),
        };
        // A hash of which no platform is known would end in spaces.
        format!("{}  {owner}", hash.hash).trim_end().to_owned()
    });
    provider
        .dates_in_words
        .iter()
        .cloned()
        .chain(hashes)
        .collect()
}

pub(super) fn shown(root: &RootResult) -> impl Iterator<Item = &ShownProvider> {
    root.providers.iter().filter_map(|row| match row {
        Provider::Shown(row) => Some(row),
        _ => None,
    })
}
