//! The answer of a command as a sheet: tables of facts about roots, and sentences.
//!
//! A command says which facts each root has, and formats nothing: equal facts of several roots are put together
//! here, counted, laid out for any width, and cut to a screen.

mod cut;
mod fact;
mod layout;
mod table;

pub(super) use cut::{Piece, Room, WholeText, cut};
pub(super) use fact::{SharedRow, facts, in_roots, root_names};
pub(super) use layout::{laid_out, without_empty_columns};
pub use table::{Cell, Column, RootNames, Row, Table};

/// The place that a sheet is shown in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// The width of the terminal, in columns; `None` where the output goes elsewhere.
    pub terminal: Option<usize>,
    /// Maximum number of lines; `None` if everything is shown.
    pub lines: Option<usize>,
    /// All roots of a fact are named, and all parts of a cell.
    pub verbose: bool,
    /// Number of roots of the run: those of a fact are named only if there are several.
    pub roots: usize,
}

impl Screen {
    /// A place without any limit, for one root.
    pub const UNLIMITED: Self = Self {
        terminal: None,
        lines: None,
        verbose: true,
        roots: 1,
    };
}
