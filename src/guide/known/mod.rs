//! The table of errors and warnings about providers and lock files that either program prints.
//!
//! Titles and texts are those of Terraform 1.11 to 1.16 and of OpenTofu 1.12 (rules 3).

mod evidence;
mod fallback;
mod local;
mod lock_file;
mod network;
mod selection;
mod settings;

/// An error or a warning that the programs print.
#[derive(Debug, PartialEq, Eq)]
pub struct KnownError {
    /// The name of this kind of error; never changes.
    pub name: &'static str,
    /// The beginnings of the titles under which it is printed; any title if empty.
    pub titles: &'static [&'static str],
    /// Texts of which the message has at least one; any text if empty. `…` stands for other text.
    pub says: &'static [&'static str],
    /// The rule or topic whose page explains it.
    pub(crate) page: &'static str,
    /// The rules of `verify` that show its cause in a lock file, the likeliest first.
    pub(crate) causes: &'static [&'static str],
    /// The command that fixes it, in parts; a part that names something unknown is left out. Empty where the
    /// meaning says what to do by hand. It begins with `? ` if it fixes nothing, and finds out the cause.
    pub command: &'static [&'static str],
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
    "missing or corrupted provider plugins",
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

/// The beginning of a command that finds out the cause of an error, and fixes nothing.
pub(crate) const QUESTION: &str = "? ";

/// Defines errors: name, titles, texts, page, causes, command and meaning.
macro_rules! known {
    ($($name:literal, $titles:expr, $says:expr, $page:literal, $causes:expr, $command:expr => $meaning:literal;)*) => {
        pub(super) const KNOWN: &[crate::guide::known::KnownError] = &[$(crate::guide::known::KnownError {
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
const PARTS: [&[KnownError]; 7] = [
    // A full disk may be the cause of any error, also of one that names the lock file.
    local::KNOWN,
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
pub fn all() -> impl Iterator<Item = &'static KnownError> {
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
    /// Returns true if its command fixes nothing, and finds out the cause.
    #[must_use]
    pub fn is_question(&self) -> bool {
        self.command
            .first()
            .is_some_and(|first| first.starts_with(QUESTION))
    }

    /// Returns the texts that the programs print with it.
    pub fn printed(&self) -> impl Iterator<Item = &'static str> {
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
