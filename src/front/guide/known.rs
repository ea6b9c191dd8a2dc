//! The table of errors and warnings about providers and lock files that either program prints.
//!
//! Titles and texts are those of Terraform 1.11 to 1.16 and of OpenTofu 1.12 (rules 3). The first error that
//! fits counts: faults of this machine, which may be the cause of any error, come before all others, texts
//! before bare titles, and the titles that any cause may print come last.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// The table, a file of data.
static TABLE: LazyLock<KnownTexts> = LazyLock::new(|| {
    let mut table: KnownTexts =
        serde_json::from_str(include_str!("symptoms.json")).expect("a test reads the table");
    for known in &mut table.symptoms {
        for texts in [&mut known.titles, &mut known.says] {
            *texts = std::mem::take(texts)
                .into_iter()
                .flat_map(|text| match text.strip_prefix('@') {
                    Some(group) => table.groups[group].clone(),
                    None => vec![text],
                })
                .collect();
        }
    }
    table
});

#[derive(Deserialize)]
struct KnownTexts {
    /// The first parts of titles of lock file errors in an older Terraform, in OpenTofu and in `validate`.
    folded: Vec<String>,
    /// The titles of messages that list several faults, each with its provider.
    lists: Vec<String>,
    /// Texts that several errors share, which name them as `@NAME`.
    groups: BTreeMap<String, Vec<String>>,
    symptoms: Vec<KnownError>,
}

/// An error or a warning that the programs print.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KnownError {
    /// The name of this kind of error; never changes.
    pub name: String,
    /// The beginnings of its titles; any title if empty.
    pub titles: Vec<String>,
    /// Texts; the message has at least one of them. Any text if empty. `…` matches other text.
    pub says: Vec<String>,
    /// The rule or topic whose page explains it.
    pub(crate) page: String,
    /// The rules of `verify` that show its cause in a lock file, the likeliest first.
    pub(crate) causes: Vec<String>,
    /// The command that fixes it, in parts; a part that names something unknown is left out. Empty where the
    /// meaning says what to do by hand. It begins with `? ` if it fixes nothing, and finds out the cause.
    pub command: Vec<String>,
    /// The meaning, in one or two sentences.
    pub(crate) meaning: String,
}

/// The beginning of a command that finds out the cause of an error, and fixes nothing.
pub(super) const QUESTION: &str = "? ";

/// Returns every known error.
pub fn all() -> &'static [KnownError] {
    &TABLE.symptoms
}

/// Returns the prefix of a title that folds faults of a lock file, and the rest of the title.
pub(super) fn folded(title: &str) -> Option<(&'static str, &str)> {
    TABLE
        .folded
        .iter()
        .find_map(|prefix| Some((&**prefix, title.strip_prefix(&**prefix)?)))
}

/// Returns true for the title of a message that lists several faults.
pub(super) fn is_list(title: &str) -> bool {
    TABLE.lists.iter().any(|start| title.starts_with(start))
}

/// Finds the error that has a title, and a text in one line that includes the title.
pub(super) fn find(title: &str, text: &str) -> Option<&'static KnownError> {
    all().iter().find(|known| {
        // A terminal wraps long titles, so the text is looked at as well.
        let starts = |start: &String| title.starts_with(start) || text.starts_with(start);
        (known.titles.is_empty() || known.titles.iter().any(starts))
            && (known.says.is_empty() || known.says.iter().any(|phrase| says(text, phrase)))
    })
}

impl KnownError {
    /// Returns true if a rule shows its cause.
    pub(crate) fn shows(&self, rule: &str) -> bool {
        self.causes.iter().any(|cause| cause == rule)
    }

    /// Returns true if its command fixes nothing, and finds out the cause.
    #[must_use]
    pub fn is_question(&self) -> bool {
        let first = self.command.first();
        first.is_some_and(|first| first.starts_with(QUESTION))
    }
}

/// Returns true if a text has the parts of a phrase, in their order.
fn says(text: &str, phrase: &str) -> bool {
    let mut rest = text;
    phrase.split('…').all(|part| {
        let part = part.trim();
        let found = rest.find(part);
        rest = found.map_or(rest, |at| &rest[at + part.len()..]);
        found.is_some()
    })
}
