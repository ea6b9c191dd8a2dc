//! How results are printed, and which commands print what.

use crate::cli::args::COMMANDS;
use crate::report::graph::Language;
use crate::report::{CHECK_FORMATS, CheckFormat};

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Human,
    Json,
    JsonLines,
    Markdown,
    Checks(&'static CheckFormat),
    Graph(Language),
}

/// What a command prints beside text for people and JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FormatKind {
    /// Markdown.
    Prose,
    /// What programs of CI read: findings about roots.
    Checks,
    /// Languages that draw graphs.
    Graphs,
    /// A line for each event, for commands that may take long.
    Events,
}

impl Format {
    /// Returns every format with its name, in the order in which help lists them.
    pub(super) fn all() -> impl Iterator<Item = (&'static str, Self)> {
        let checks = CHECK_FORMATS.iter();
        let checks = checks.map(|format| (format.name, Self::Checks(format)));
        let prose = [
            ("human", Self::Human),
            ("json", Self::Json),
            ("json-lines", Self::JsonLines),
            ("markdown", Self::Markdown),
        ];
        let graphs = [
            ("mermaid", Self::Graph(Language::Mermaid)),
            ("dot", Self::Graph(Language::Dot)),
        ];
        prose.into_iter().chain(checks).chain(graphs)
    }

    pub(super) fn name(self) -> &'static str {
        let mut all = Self::all();
        let own = all.find_map(|(name, format)| (format == self).then_some(name));
        own.expect("every format has a name")
    }

    /// Returns whether a command prints it that prints these beside text for people and JSON.
    pub(super) fn is_one_of(self, kinds: &[FormatKind]) -> bool {
        match self {
            Self::Human | Self::Json => true,
            Self::JsonLines => kinds.contains(&FormatKind::Events),
            Self::Markdown => kinds.contains(&FormatKind::Prose),
            Self::Checks(_) => kinds.contains(&FormatKind::Checks),
            Self::Graph(_) => kinds.contains(&FormatKind::Graphs),
        }
    }

    /// Makes sure that a command prints the format, which may be typed before its name.
    ///
    /// # Errors
    /// With the formats that it prints.
    pub(super) fn check(self, command: &str) -> Result<(), String> {
        let mut commands = COMMANDS.iter();
        let found = commands.find(|(name, _)| *name == command);
        let (_, kinds) = found.expect("every command is in the table");
        if self.is_one_of(kinds) {
            return Ok(());
        }
        let own = Self::all().filter(|(_, format)| format.is_one_of(kinds));
        let names: Vec<&str> = own.map(|(name, _)| name).collect();
        let (name, names) = (self.name(), names.join(", "));
        Err(format!(
            "invalid value '{name}' for '--format <FORMAT>' of 'lockctl {command}'\n  \
             [possible values: {names}]"
        ))
    }
}
