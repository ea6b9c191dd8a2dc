//! Facts as a small text: one line each, sorted, fit for version control.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::text::{EXPORT_HEADER, FactError, line, parse_line};
use crate::hash::Hash;
use crate::package::Fact;

/// Maximum size of an export, in bytes. A full store has about 7 MiB.
pub const MAX_EXPORT_BYTES: u64 = 16 * 1024 * 1024;

/// Writes facts as text: a header, then a line for each, sorted by provider, version and platform.
///
/// Their origin is left out: an import states it anew.
///
/// # Examples
/// ```
/// use lockctl::store::{export, import};
///
/// assert_eq!(export([]), "# lockctl facts 1\n");
/// assert_eq!(import("# lockctl facts 1\n"), Ok(Vec::new()));
/// ```
#[must_use]
pub fn export<'f>(facts: impl IntoIterator<Item = &'f Fact>) -> String {
    let mut facts: Vec<&Fact> = facts.into_iter().collect();
    // Sorted, so that two exports of the same facts are one file to version control.
    facts.sort_by_key(|fact| (&fact.id, &fact.zh));
    let mut text = format!("{EXPORT_HEADER}\n");
    for fact in facts {
        text += &line(fact);
        text.push('\n');
    }
    text
}

/// Reads the output of [`export`]. Empty lines and comments are skipped, and a line may end as on Windows;
/// the first line must be the header. A fact that is stated again counts once.
///
/// # Errors
/// At the first line that is no fact, or contradicts one before: nothing of such a file should be used.
pub fn import(text: &str) -> Result<Vec<Fact>, FactError> {
    let mut lines = text.lines().enumerate();
    let header = lines.next().map(|(_, line)| line);
    if header != Some(EXPORT_HEADER) {
        return Err(FactError::Header {
            expected: EXPORT_HEADER,
        });
    }
    let mut facts: BTreeMap<Hash, Fact> = BTreeMap::new();
    for (index, text) in lines {
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let at = |problem| FactError::Line {
            line: index + 1,
            problem,
        };
        let fact = parse_line(text).map_err(at)?;
        match facts.entry(fact.zh.clone()) {
            Entry::Vacant(free) => {
                free.insert(fact);
            }
            // A file that contradicts itself is not imported at all (rules 4.2).
            Entry::Occupied(known) if known.get().contradicts(&fact) => {
                return Err(at("it contradicts an earlier line"));
            }
            Entry::Occupied(_) => {}
        }
    }
    Ok(facts.into_values().collect())
}
