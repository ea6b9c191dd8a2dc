//! Edits of configuration, for `update --edit` and `replace`.

use serde::Serialize;

use crate::addr::ProviderAddr;

/// The files that are, or would be, edited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileEdits {
    /// A row for each place, by file and line.
    pub rows: Vec<EditRow>,
    /// A unified diff of all files.
    pub diff: String,
    /// The commands that are left to be typed, in the order of the roots.
    pub state_commands: Vec<String>,
    /// They are to be typed before `init`, which refuses the old address; else after it.
    pub are_states_first: bool,
}

/// A place in a file that is, or would be, edited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EditRow {
    /// The path of the file.
    pub path: String,
    /// The line of the place, from 1.
    pub line: usize,
    /// The provider, with its registry.
    pub provider: ProviderAddr,
    /// The text before, without quotes; empty if it is added.
    pub from: String,
    /// The text after it, without quotes.
    pub to: String,
}
