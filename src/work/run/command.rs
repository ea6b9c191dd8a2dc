//! The trait that all commands implement.

use std::path::PathBuf;
use std::rc::Rc;

use crate::report::graph::Graph;
use crate::report::reading::Total;
use crate::report::{CommandResult, Look, TextBlock};
use crate::run::options::{Configuration, Options, SourceArgs};
use crate::run::session::Session;

/// A command: what it does, and how its result reads.
pub(crate) trait Command {
    /// Does what was typed.
    fn run(&self, session: &Rc<Session<'_>>) -> CommandResult;

    /// Checks that the options do not contradict each other.
    ///
    /// # Errors
    /// With the sentence that the user reads.
    fn check(&self, _options: &Options) -> Result<(), String> {
        Ok(())
    }

    /// Returns how configuration is read, if the command reads any.
    fn configuration(&self) -> Option<&Configuration> {
        None
    }

    /// Returns the place that packages come from, if any was typed.
    fn source(&self) -> Option<&SourceArgs> {
        None
    }

    /// Returns the paths of packages that options name.
    fn packages(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Says where the line about several roots is printed.
    fn total(&self) -> Total {
        Total::Note
    }

    /// Returns what people read on standard output.
    fn text(&self, _result: &CommandResult, _look: Look) -> Vec<TextBlock> {
        Vec::new()
    }

    /// Draws the result, for commands that have a picture to show.
    fn graph(&self, _result: &CommandResult, _look: Look) -> Graph {
        Graph::default()
    }
}
