//! Tables as commands make them: a row for each fact about a root.

use crate::report::Tone;

/// Maximum number of rows of a table about several roots.
const MAX_ROWS: usize = 40;

/// Facts about roots, in columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The columns, without those about roots.
    pub columns: Vec<Column>,
    /// The rows, in the order in which they are shown.
    pub rows: Vec<Row>,
    /// The place of the names of roots.
    pub roots: RootNames,
    /// The titles are shown to people, too; Markdown has them always.
    pub has_head: bool,
    /// Maximum number of facts where there is a screen to fit on; `None` if all are shown there, too.
    pub most: Option<usize>,
    /// The worst and most frequent facts are shown where not all fit, else the first ones.
    pub is_ranked: bool,
}

/// A column of a [`Table`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Rows that differ here are different facts.
    Key(&'static str),
    /// As [`Column::Key`]; the cells may be cut where a terminal is narrow.
    Long(&'static str),
    /// As [`Column::Key`], for a sentence.
    Sentence(&'static str),
    /// Rows of one fact may differ here: their parts are listed side by side.
    Joined(&'static str),
    /// As [`Column::Joined`], for the clauses of a sentence: those that all roots share are in the row, the others
    /// are below it.
    Prose(&'static str),
}

/// The way in which a table names roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootNames {
    /// In columns for their number and their names.
    Columns,
    /// In a line below each row, counted by this noun.
    Below(&'static str),
    /// No names of roots are shown.
    Hidden,
}

/// A fact about a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The path of the root.
    pub root: String,
    /// A cell for each column; the last ones may lack.
    pub cells: Vec<Cell>,
    /// The tone of the first cell, from good to bad; the worst facts are shown first where not all fit.
    pub tone: Option<Tone>,
    /// Lines below the row.
    pub details: Vec<String>,
}

/// The content of a row in a column.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// The parts of the text, which are listed side by side.
    pub parts: Vec<String>,
    /// An address that is safe to follow.
    pub url: Option<String>,
}

impl Table {
    /// Makes a table with a head; rows are sorted by keys.
    pub fn sorted<K: Ord>(columns: &[Column], rows: impl IntoIterator<Item = (K, Row)>) -> Self {
        let mut rows: Vec<(K, Row)> = Vec::from_iter(rows);
        // The sort is stable: rows with equal keys stay in the order of their roots.
        rows.sort_by(|(a, _), (b, _)| a.cmp(b));
        Self::new(columns, rows.into_iter().map(|(_, row)| row))
    }

    /// Makes a table with a head.
    pub fn new(columns: &[Column], rows: impl IntoIterator<Item = Row>) -> Self {
        Self {
            columns: columns.to_vec(),
            rows: rows.into_iter().collect(),
            roots: RootNames::Columns,
            has_head: true,
            most: Some(MAX_ROWS),
            is_ranked: true,
        }
    }

    /// Shows people no titles.
    #[must_use]
    pub fn without_head(self) -> Self {
        Self {
            has_head: false,
            ..self
        }
    }

    /// Names roots in another way.
    #[must_use]
    pub fn naming(self, roots: RootNames) -> Self {
        Self { roots, ..self }
    }

    /// Shows no more facts than this, where there is a screen to fit on.
    #[must_use]
    pub fn at_most(self, most: usize) -> Self {
        Self {
            most: Some(most),
            ..self
        }
    }

    /// Shows all facts, however long that is.
    #[must_use]
    pub fn whole(self) -> Self {
        Self { most: None, ..self }
    }

    /// Shows the first facts where not all fit.
    #[must_use]
    pub fn in_order(self) -> Self {
        Self {
            is_ranked: false,
            ..self
        }
    }
}

impl RootNames {
    pub(in crate::work::report) fn noun(self) -> &'static str {
        match self {
            Self::Below(noun) => noun,
            Self::Columns | Self::Hidden => "root",
        }
    }
}

impl Column {
    pub(in crate::work::report) fn title(self) -> &'static str {
        match self {
            Self::Key(title)
            | Self::Long(title)
            | Self::Sentence(title)
            | Self::Joined(title)
            | Self::Prose(title) => title,
        }
    }
}

impl Row {
    /// Makes a row about a root.
    pub fn new<const N: usize>(root: &str, cells: [Cell; N]) -> Self {
        Self {
            root: root.to_owned(),
            cells: cells.into(),
            tone: None,
            details: Vec::new(),
        }
    }
}

impl Cell {
    /// Makes a cell that leads to an address.
    #[must_use]
    pub fn linked(text: String, url: Option<String>) -> Self {
        Self { url, ..text.into() }
    }

    /// Makes a cell in which nothing is a dash.
    #[must_use]
    pub fn or_dash(text: String) -> Self {
        if text.is_empty() {
            "-".into()
        } else {
            text.into()
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self {
            parts: Some(text)
                .filter(|text| !text.is_empty())
                .into_iter()
                .collect(),
            url: None,
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<Vec<String>> for Cell {
    fn from(parts: Vec<String>) -> Self {
        Self { parts, url: None }
    }
}
