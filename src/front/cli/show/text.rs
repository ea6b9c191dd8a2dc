//! The text of `lockctl show`.

use std::cmp::Reverse;

use super::build;
use crate::cli::Look;
use crate::cli::session::provider::{self, or_dash};
use crate::hash::Scheme;
use crate::platform;
use crate::report::json::{Provider, RootStatus, ShownProvider};
use crate::report::shared::shared;
use crate::report::shared_table::{TableShape, shared_table};
use crate::report::{RootResult, TextBlock};

/// The heads of the columns.
const TITLES: [&str; 7] = [
    "PROVIDER",
    "VERSION",
    "CONSTRAINTS",
    "h1",
    "zh",
    "other",
    "KNOWN PLATFORMS",
];

/// The column of platforms where roots share a row, which lacks the constraints.
const PLATFORMS: usize = 5;

/// The head of the column that only registries fill.
const LATEST_DATE: &str = "LATEST DATE";

pub(super) fn of_root(root: &RootResult, look: Look) -> Vec<TextBlock> {
    let Some(flavor) = root.flavor else {
        return Vec::new();
    };
    if root.lacks_lock() {
        return vec![TextBlock::Lines(vec!["no lock file".to_owned()])];
    }
    let shown: Vec<&ShownProvider> = shown(root).collect();
    // A registry that gave no answer keeps nothing of what is locked from being shown.
    if shown.is_empty() && root.status == RootStatus::Failed {
        return Vec::new();
    }
    if shown.is_empty() {
        return vec![TextBlock::Lines(vec!["nothing is locked".to_owned()])];
    }
    if shown.iter().any(|provider| provider.build.is_some()) {
        return builds(&shown, look, |provider| provider.provider.short(flavor));
    }
    let mut titles = TITLES.map(str::to_owned).to_vec();
    if shown.iter().any(|provider| provider.dates.is_some()) {
        titles.push(LATEST_DATE.to_owned());
    }
    let rows = shown.iter().map(|provider| {
        let mut cells = vec![
            provider.provider.short(flavor),
            match provider.fault {
                Some(_) => format!("{} (fault)", provider.version),
                None => provider.version.to_string(),
            },
            or_dash(provider.constraints.to_string()),
        ];
        cells.extend(counts(provider));
        cells
    });
    let mut blocks = vec![TextBlock::Table(
        std::iter::once(titles).chain(rows).collect(),
    )];
    if look.verbose {
        for provider in shown {
            let mut lines = vec![format!(
                "{} {}",
                provider.provider.short(flavor),
                provider.version
            )];
            lines.extend(
                provider
                    .dates_in_words
                    .iter()
                    .map(|date| format!("  {date}")),
            );
            lines.extend(provider.hashes.iter().map(|hash| {
                // A hash without a known platform would end in spaces.
                let owner = match hash.beside {
                    Some(beside) => beside.words().to_owned(),
                    None => hash.platforms.join(" "),
                };
                let line = format!("  {}  {owner}", hash.hash);
                line.trim_end().to_owned()
            }));
            blocks.push(TextBlock::Lines(lines));
        }
    }
    blocks
}

/// Shows the builds of a root's providers, and with `-v` every line of their build information.
fn builds(
    shown: &[&ShownProvider],
    look: Look,
    name: impl Fn(&ShownProvider) -> String,
) -> Vec<TextBlock> {
    let row = |provider: &&ShownProvider| {
        let mut cells = vec![name(provider), provider.version.to_string()];
        cells.extend(build::cells(provider));
        cells
    };
    let titles = TITLES[..2].iter().chain(&build::TITLES);
    let titles = titles.map(|title| (*title).to_owned()).collect();
    let rows = shown.iter().map(row);
    let mut blocks = vec![TextBlock::Table(
        std::iter::once(titles).chain(rows).collect(),
    )];
    if look.verbose {
        blocks.extend(shown.iter().map(|provider| {
            let mut lines = vec![format!("{} {}", name(provider), provider.version)];
            lines.extend(build::lines(provider));
            TextBlock::Lines(lines)
        }));
    }
    blocks
}

/// Number of lines beside the rows of a table: its head, and the line about what is left out.
const LINES_BESIDE_ROWS: usize = 2;

/// Shows what several roots lock: each version of a provider with the same hashes and platforms once.
pub(super) fn folded(roots: &[RootResult], look: Look) -> Vec<TextBlock> {
    let name = provider::naming(roots);
    let are_builds = roots.iter().flat_map(shown).any(|row| row.build.is_some());
    let facts = shared(roots.iter().flat_map(|root| {
        shown(root).map(|row| {
            let version = Reverse(&row.version);
            let cells = if are_builds {
                build::cells(row)
            } else {
                counts(row)
            };
            ((&row.provider, version, cells), root.path.as_str())
        })
    }));
    let [provider, version, _, rest @ ..] = TITLES;
    let rest = if are_builds {
        &build::TITLES[..]
    } else {
        &rest[..]
    };
    let mut titles = [&[provider, version], rest].concat();
    if facts.iter().any(|shared| shared.fact.2.len() > rest.len()) {
        titles.push(LATEST_DATE);
    }
    let columns = titles.len();
    let shape = TableShape {
        titles: &titles,
        flexible: if are_builds {
            &[build::MAIN_MODULE]
        } else {
            &[PLATFORMS]
        },
        most: look.rows(LINES_BESIDE_ROWS),
        terminal: look.terminal,
    };
    shared_table(shape, facts, |(provider, Reverse(version), counts)| {
        let mut cells = vec![name(provider), version.to_string()];
        cells.extend(counts.iter().cloned());
        // A root whose registries were not asked has no cell for dates, and another root may have filled that column.
        cells.resize(columns, "-".to_owned());
        cells
    })
}

pub(super) fn shown(root: &RootResult) -> impl Iterator<Item = &ShownProvider> {
    root.providers.iter().filter_map(|row| match row {
        Provider::Shown(row) => Some(row),
        _ => None,
    })
}

/// Counts the hashes of an entry, and names its platforms and its latest date.
fn counts(provider: &ShownProvider) -> Vec<String> {
    let count = |scheme| {
        provider
            .hashes
            .iter()
            .filter(|recorded| recorded.hash.scheme() == scheme)
            .count()
            .to_string()
    };
    let mut cells = vec![
        count(Scheme::H1),
        count(Scheme::Zh),
        count(Scheme::Other),
        or_dash(platform::join(
            provider.platforms.as_deref().unwrap_or_default(),
            " ",
        )),
    ];
    if provider.dates.is_some() {
        cells.push(or_dash(provider.latest_date.clone().unwrap_or_default()));
    }
    cells
}
