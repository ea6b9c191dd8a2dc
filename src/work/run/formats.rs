//! The output formats, in the kinds that the table of commands is written with.

use crate::report::graph::GraphLanguage;
use crate::report::{CHECK_FORMATS, CheckFormat, EscapedIn};

/// An output format of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Human,
    Json,
    JsonLines,
    Markdown,
    Checks(&'static CheckFormat),
    Graph(GraphLanguage),
    Bill(BillFormat),
    /// The JSON syntax of configuration.
    TfJson,
}

/// A format of bills of materials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BillFormat {
    CycloneDx,
    Spdx,
    /// A snapshot for GitHub's dependency submission API.
    Snapshot,
}

/// A group of formats that a command prints beside text for people and JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FormatKind {
    /// Markdown, for summaries and comments.
    Prose,
    /// Formats of CI systems: findings about roots.
    Checks,
    /// Languages that draw graphs.
    Graphs,
    /// A picture that is no graph.
    Charts,
    /// A line for each event, for commands that may take long.
    Events,
    /// Bills of materials; a command with these has no other formats.
    Bills,
    /// Configuration in other syntaxes.
    Syntaxes,
}

impl Format {
    /// Returns every format with its name, in the order of help.
    ///
    /// Two formats have the name `github`; no command prints both.
    pub(crate) fn all() -> impl Iterator<Item = (&'static str, Self)> {
        let checks = CHECK_FORMATS
            .iter()
            .map(|format| (format.name, Self::Checks(format)));
        let prose = [
            ("human", Self::Human),
            ("json", Self::Json),
            ("json-lines", Self::JsonLines),
            ("markdown", Self::Markdown),
        ];
        let graphs = [
            ("mermaid", Self::Graph(GraphLanguage::Mermaid)),
            ("dot", Self::Graph(GraphLanguage::Dot)),
            ("svg", Self::Graph(GraphLanguage::Svg)),
        ];
        let bills = [
            ("cyclonedx", Self::Bill(BillFormat::CycloneDx)),
            ("spdx", Self::Bill(BillFormat::Spdx)),
            ("github", Self::Bill(BillFormat::Snapshot)),
        ];
        let syntaxes = [("tf-json", Self::TfJson)];
        prose
            .into_iter()
            .chain(checks)
            .chain(graphs)
            .chain(bills)
            .chain(syntaxes)
    }

    /// Returns each name once, with a format.
    pub(crate) fn by_name() -> impl Iterator<Item = (&'static str, Self)> {
        Self::all().filter(|(_, format)| *format != Self::Bill(BillFormat::Snapshot))
    }

    /// Returns the format with the same name that a command with these kinds prints.
    pub(crate) fn meant(self, kinds: &[FormatKind]) -> Self {
        if self.is_one_of(kinds) {
            return self;
        }
        Self::all()
            .find_map(|(name, format)| {
                (name == self.name() && format.is_one_of(kinds)).then_some(format)
            })
            .unwrap_or(self)
    }

    /// Returns the language that the format is written in.
    pub(crate) fn escaped_in(self) -> EscapedIn {
        match self {
            Self::Graph(GraphLanguage::Svg) => EscapedIn::Xml,
            Self::Human | Self::Markdown | Self::Graph(_) => EscapedIn::Text,
            Self::Json | Self::JsonLines | Self::Bill(_) | Self::TfJson => EscapedIn::Json,
            Self::Checks(format) => format.language,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        Self::all()
            .find_map(|(name, format)| (format == self).then_some(name))
            .expect("every format has a name")
    }

    /// Returns true if the format is text for people, JSON, or of one of the kinds.
    pub(crate) fn is_one_of(self, kinds: &[FormatKind]) -> bool {
        match self {
            Self::Human | Self::Json => !kinds.contains(&FormatKind::Bills),
            Self::JsonLines => kinds.contains(&FormatKind::Events),
            Self::Markdown => kinds.contains(&FormatKind::Prose),
            Self::Checks(_) => kinds.contains(&FormatKind::Checks),
            Self::Graph(GraphLanguage::Svg) if kinds.contains(&FormatKind::Charts) => true,
            Self::Graph(_) => kinds.contains(&FormatKind::Graphs),
            Self::TfJson => kinds.contains(&FormatKind::Syntaxes),
            Self::Bill(_) => kinds.contains(&FormatKind::Bills),
        }
    }

    /// Checks that a command prints the format; it may have been typed before the command's name.
    ///
    /// # Errors
    /// With the formats that the command prints.
    pub(crate) fn check(self, command: &str, kinds: &[FormatKind]) -> Result<(), String> {
        if self.is_one_of(kinds) {
            return Ok(());
        }
        let names: Vec<&str> = Self::all()
            .filter(|(_, format)| format.is_one_of(kinds))
            .map(|(name, _)| name)
            .collect();
        let (name, names) = (self.name(), names.join(", "));
        Err(format!(
            "invalid value '{name}' for '--format <FORMAT>' of 'lockctl {command}'\n  \
             [possible values: {names}]"
        ))
    }
}
