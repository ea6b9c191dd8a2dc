//! How `lockctl show` reads.

use crate::cli::Look;
use crate::flavor::Flavor;
use crate::hash::Scheme;
use crate::platform;
use crate::report::json::{Provider, ShownProvider, Status};
use crate::report::{Block, RootResult};

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

pub(super) fn of_root(root: &RootResult, look: Look) -> Vec<Block> {
    let Some(flavor) = root.flavor else {
        return Vec::new();
    };
    let shown = root.providers.iter().filter_map(|one| match one {
        Provider::Shown(one) => Some(one),
        _ => None,
    });
    let shown: Vec<&ShownProvider> = shown.collect();
    // A registry that gave no answer keeps nothing of what is locked from being shown.
    if shown.is_empty() && root.status == Status::Failed {
        return Vec::new();
    }
    if shown.is_empty() {
        return vec![Block::Lines(vec!["nothing is locked".to_owned()])];
    }
    let mut titles = TITLES.map(str::to_owned).to_vec();
    if shown.iter().any(|one| one.dates.is_some()) {
        titles.push("LATEST DATE".to_owned());
    }
    let rows = shown.iter().map(|one| row(one, flavor));
    let mut blocks = vec![Block::Table(std::iter::once(titles).chain(rows).collect())];
    if look.verbose {
        blocks.extend(shown.iter().map(|one| Block::Lines(details(one, flavor))));
    }
    blocks
}

fn row(one: &ShownProvider, flavor: Flavor) -> Vec<String> {
    let count = |scheme| {
        let own = one.hashes.iter().filter(|one| one.hash.scheme() == scheme);
        own.count().to_string()
    };
    let mut cells = vec![
        one.provider.short(flavor),
        one.version.to_string(),
        or_dash(one.constraints.to_string()),
        count(Scheme::H1),
        count(Scheme::Zh),
        count(Scheme::Other),
        or_dash(platform::join(&one.platforms, " ")),
    ];
    if one.dates.is_some() {
        cells.push(or_dash(one.latest_date.clone().unwrap_or_default()));
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

/// Lists every date, and every hash with the platforms that are known to have it.
fn details(one: &ShownProvider, flavor: Flavor) -> Vec<String> {
    let title = format!("{} {}", one.provider.short(flavor), one.version);
    let lines = one.hashes.iter().map(|hash| {
        let line = format!("  {}  {}", hash.hash, hash.platforms.join(" "));
        line.trim_end().to_owned()
    });
    let dates = one.dates_in_words.iter().map(|date| format!("  {date}"));
    std::iter::once(title).chain(dates).chain(lines).collect()
}
