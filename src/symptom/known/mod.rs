//! The table of errors and warnings about providers and lock files that either program prints.
//!
//! Titles and texts are those of Terraform 1.11 to 1.16 and of OpenTofu 1.12 (rules 3).

mod evidence;
mod fallback;
mod lock_file;
mod network;
mod selection;
mod settings;

/// An error or a warning that the programs print.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct KnownError {
    /// The name of this kind of error; never changes.
    pub(crate) name: &'static str,
    /// The beginnings of the titles under which it is printed; any title if empty.
    titles: &'static [&'static str],
    /// Texts of which the message has at least one; any text if empty. `…` stands for other text.
    says: &'static [&'static str],
    /// The rule or topic whose page explains it.
    pub(crate) page: &'static str,
    /// The rules of `verify` that show its cause in a lock file, the likeliest first.
    pub(crate) causes: &'static [&'static str],
    /// The command that fixes it, in parts; a part that names something unknown is left out.
    pub(crate) command: &'static [&'static str],
    /// The meaning, in one or two sentences.
    pub(crate) meaning: &'static str,
}

/// The title with which an older Terraform, OpenTofu and `validate` begin errors of a lock file.
pub(crate) const FOLDED: &[&str] = &[
    "failed to read dependency lock file: ",
    "Failed to read dependency lock file: ",
];

/// The titles of messages that list several faults, each with its provider.
pub(crate) const LISTS: &[&str] = &[
    "Could not retrieve providers for locking",
    "Inconsistent dependency lock file",
    "Required plugins are not installed",
    "Incomplete lock file information for providers",
];

/// The titles of messages about a provider that could not be found, fetched or installed.
const GETTING: [&str; 6] = [
    "Could not retrieve providers for locking",
    "Failed to install provider",
    "Failed to query available provider packages",
    "Failed to resolve provider packages",
    "Invalid provider package",
    "Provider release not available",
];

/// Defines errors: name, titles, texts, page, causes, command and meaning.
macro_rules! known {
    ($($name:literal, $titles:expr, $says:expr, $page:literal, $causes:expr, $command:expr => $meaning:literal;)*) => {
        pub(super) const KNOWN: &[crate::symptom::known::KnownError] = &[$(crate::symptom::known::KnownError {
            name: $name,
            titles: &$titles,
            says: &$says,
            page: $page,
            causes: &$causes,
            command: &$command,
            meaning: $meaning,
        }),*];
    };
}
use known;

/// The parts of the table; the first error that fits counts, so texts come before bare titles.
const PARTS: [&[KnownError]; 6] = [
    // Some titles of HCL are those of configurations, too, so these ask for the name of the file.
    lock_file::KNOWN,
    selection::KNOWN,
    evidence::KNOWN,
    settings::KNOWN,
    // Texts such as `unexpected EOF` are a part of many errors, and say least about the cause.
    network::KNOWN,
    fallback::KNOWN,
];

/// Returns every known error.
pub(crate) fn all() -> impl Iterator<Item = &'static KnownError> {
    PARTS.into_iter().flatten()
}

/// Finds the error that has a title, and a text in one line, in which the title stands as well.
pub(super) fn find(title: &str, text: &str) -> Option<&'static KnownError> {
    all().find(|known| {
        // A terminal wraps long titles, so the text is looked at as well.
        let starts = |start: &&str| title.starts_with(start) || text.starts_with(start);
        (known.titles.is_empty() || known.titles.iter().any(starts))
            && (known.says.is_empty() || known.says.iter().any(|phrase| says(text, phrase)))
    })
}

impl KnownError {
    /// Returns the texts that the programs print with it.
    pub(crate) fn printed(&self) -> impl Iterator<Item = &'static str> {
        let titles = if self.says.is_empty() {
            self.titles
        } else {
            &[]
        };
        titles.iter().chain(self.says).copied()
    }
}

/// Returns whether a text has the parts of a phrase, in their order.
fn says(text: &str, phrase: &str) -> bool {
    let mut rest = text;
    phrase.split('…').all(|part| {
        let part = part.trim();
        match rest.find(part) {
            Some(at) => {
                rest = &rest[at + part.len()..];
                true
            }
            None => false,
        }
    })
}
