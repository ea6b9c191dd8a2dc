//! Facts as a small text: one line each, sorted, fit for version control.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::export_contents::{self, ContentsReader};
use super::release_text::{self, StatedH1s};
use super::text::{EXPORT_HEADER, FactError, line, parse_line};
use crate::addr::ProviderAddr;
use crate::contents::BuildInfo;
use crate::hash::Hash;
use crate::package::{Fact, ReleaseFact};
use crate::version::Version;

/// Maximum size of an export, in bytes. A full store has about 7 MiB.
pub const MAX_EXPORT_BYTES: u64 = 16 * 1024 * 1024;

/// The first word of a line about a release.
const RELEASE: &str = "release ";

/// The content of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Export {
    /// The facts, in the order of their `zh:`.
    pub facts: Vec<Fact>,
    /// The releases, in their order; the `h1:` of packages are those of the facts.
    pub releases: Vec<ReleaseFact>,
    /// The build information of packages with a fact, by their `zh:`.
    pub contents: BTreeMap<Hash, BuildInfo>,
}

/// Writes facts and releases as text: a header, then a line for each fact, sorted by provider, version and
/// platform, then a line for each statement about a release, which names it, then contents.
///
/// Their origin is left out: an import states it anew.
///
/// # Examples
/// ```
/// use lockctl_fetch::store::{Export, export, import};
///
/// assert_eq!(export([], [], []), "# lockctl facts 1\n");
/// assert_eq!(import("# lockctl facts 1\n"), Ok(Export::default()));
/// ```
#[must_use]
pub fn export<'f>(
    facts: impl IntoIterator<Item = &'f Fact>,
    releases: impl IntoIterator<Item = &'f ReleaseFact>,
    contents: impl IntoIterator<Item = (&'f Hash, &'f BuildInfo)>,
) -> String {
    let mut facts: Vec<&Fact> = Vec::from_iter(facts);
    // Sorted, so that two exports of the same facts are one file to version control.
    facts.sort_by_key(|fact| (&fact.id, &fact.zh));
    let mut text = format!("{EXPORT_HEADER}\n");
    for fact in facts {
        text += &line(fact);
        text.push('\n');
    }
    let mut releases: Vec<&ReleaseFact> = Vec::from_iter(releases);
    releases.sort_by_key(|release| (&release.provider, &release.version));
    for release in releases {
        let ReleaseFact {
            provider, version, ..
        } = release;
        for statement in release_text::statements(release, StatedH1s::LeftOut) {
            text += &format!("{RELEASE}{provider} {version} {statement}\n");
        }
    }
    export_contents::write(&mut text, contents);
    text
}

/// Reads the output of [`export`]. Empty lines and comments are skipped, and a line may end as on Windows;
/// the first line must be the header. A fact that is stated again counts once.
///
/// # Errors
/// At the first line that is no fact, or contradicts one before: nothing of such a file should be used.
pub fn import(text: &str) -> Result<Export, FactError> {
    let mut lines = text.lines().enumerate();
    let header = lines.next().map(|(_, line)| line);
    if header != Some(EXPORT_HEADER) {
        return Err(FactError::Header {
            expected: EXPORT_HEADER,
        });
    }
    let mut facts: BTreeMap<Hash, Fact> = BTreeMap::new();
    let mut releases: BTreeMap<(ProviderAddr, Version), ReleaseFact> = BTreeMap::new();
    let mut contents = ContentsReader::default();
    for (index, text) in lines {
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let line = index + 1;
        let faulty = FactError::Line { line };
        if contents.take(text).ok_or(faulty.clone())? {
            continue;
        }
        if let Some(text) = text.strip_prefix(RELEASE) {
            add(&mut releases, text).ok_or(faulty)?;
            continue;
        }
        let fact = parse_line(text).ok_or(faulty)?;
        match facts.entry(fact.zh.clone()) {
            Entry::Vacant(free) => {
                free.insert(fact);
            }
            // A file that contradicts itself is not imported at all (rules 4.2).
            Entry::Occupied(known) if known.get().contradicts(&fact) => {
                return Err(FactError::Contradiction { line });
            }
            Entry::Occupied(_) => {}
        }
    }
    // So an export cannot state an `h1:` that its own facts contradict.
    for (zh, package) in releases
        .values_mut()
        .flat_map(|release| &mut release.packages)
    {
        package.h1 = facts.get(zh).map(|fact| fact.h1.clone());
    }
    let mut contents = contents.finish().ok_or(FactError::Contents)?;
    // Without a fact, nothing in the export names the package of the contents.
    contents.retain(|zh, _| facts.contains_key(zh));
    Ok(Export {
        facts: facts.into_values().collect(),
        releases: releases.into_values().collect(),
        contents,
    })
}

/// Adds the statement of a line about a release.
fn add(releases: &mut BTreeMap<(ProviderAddr, Version), ReleaseFact>, text: &str) -> Option<()> {
    let (at, _) = text.match_indices(' ').nth(1)?;
    let name = release_text::parse_name(&text[..at])?;
    let release = releases
        .entry(name.clone())
        .or_insert_with(|| release_text::unknown(name.0, name.1));
    release_text::add(release, &text[at + 1..])
}
