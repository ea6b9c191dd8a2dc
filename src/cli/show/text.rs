//! The text of `lockctl show`.

use crate::cli::Look;
use crate::flavor::Flavor;
use crate::hash::Scheme;
use crate::platform;
use crate::report::json::{Provider, RootStatus, ShownProvider};
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

pub(super) fn of_root(root: &RootResult, look: Look) -> Vec<TextBlock> {
    let Some(flavor) = root.flavor else {
        return Vec::new();
    };
    let shown: Vec<&ShownProvider> = root
        .providers
        .iter()
        .filter_map(|row| match row {
            Provider::Shown(row) => Some(row),
            _ => None,
        })
        .collect();
    // A registry that gave no answer keeps nothing of what is locked from being shown.
    if shown.is_empty() && root.status == RootStatus::Failed {
        return Vec::new();
    }
    if shown.is_empty() {
        return vec![TextBlock::Lines(vec!["nothing is locked".to_owned()])];
    }
    let mut titles = TITLES.map(str::to_owned).to_vec();
    if shown.iter().any(|provider| provider.dates.is_some()) {
        titles.push("LATEST DATE".to_owned());
    }
    let rows = shown.iter().map(|provider| row(provider, flavor));
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
                // A hash of which no platform is known would end in spaces.
                let line = format!("  {}  {}", hash.hash, hash.platforms.join(" "));
                line.trim_end().to_owned()
            }));
            blocks.push(TextBlock::Lines(lines));
        }
    }
    blocks
}

fn row(provider: &ShownProvider, flavor: Flavor) -> Vec<String> {
    let count = |scheme| {
        provider
            .hashes
            .iter()
            .filter(|recorded| recorded.hash.scheme() == scheme)
            .count()
            .to_string()
    };
    let mut cells = vec![
        provider.provider.short(flavor),
        provider.version.to_string(),
        or_dash(provider.constraints.to_string()),
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

fn or_dash(text: String) -> String {
    if text.is_empty() {
        "-".to_owned()
    } else {
        text
    }
}
