//! `.gitignore` files on the way down to a directory.

use std::io;
use std::io::ErrorKind;
use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::world::{Files, is_outside};

use super::locate::{ProjectPlace, REPOSITORY};
use super::patterns::MAX_PATTERN_BYTES;

/// The name of the files.
pub(super) const FILE_NAME: &str = ".gitignore";

/// Maximum size of a `.gitignore`, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The patterns of `.gitignore` files, from the top of the repository down; the nearest file that
/// says something
/// about a directory decides.
#[derive(Default)]
pub(super) struct Ignores {
    matchers: Vec<Gitignore>,
}

impl Ignores {
    /// Reads the files above a directory, as far as its repository goes; nothing outside of one.
    pub(super) fn above(files: &dyn Files, place: &ProjectPlace) -> io::Result<Self> {
        // Without a repository, git applies no `.gitignore` at all.
        let mut above = Vec::new();
        let mut at = place.clone();
        while files.kind(&at.file(REPOSITORY)).is_err() {
            let Some(parent) = at.parent() else {
                return Ok(Self::default());
            };
            above.push(parent.clone());
            at = parent;
        }
        let mut own = Self::default();
        for place in above.iter().rev() {
            own.enter(files, place)?;
        }
        Ok(own)
    }

    /// Adds the file of a directory; returns whether there is one.
    pub(super) fn enter(&mut self, files: &dyn Files, place: &ProjectPlace) -> io::Result<bool> {
        let bytes = match files.read(&place.file(FILE_NAME), MAX_FILE_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound || is_outside(&error) => {
                return Ok(false);
            }
            Err(error) => return Err(error),
        };
        let text = String::from_utf8_lossy(&bytes);
        let mut builder = GitignoreBuilder::new(place.absolute());
        for line in text.lines() {
            // A line that is no pattern ignores nothing, as for git.
            // Nested alternatives of a long pattern would exhaust the stack of the matcher.
            if line.len() <= MAX_PATTERN_BYTES {
                let _ = builder.add_line(None, line);
            }
        }
        let built = builder.build();
        let flood = |_| io::Error::new(ErrorKind::InvalidData, "its patterns are too many");
        self.matchers.push(built.map_err(flood)?);
        Ok(true)
    }

    /// Takes the last file away again.
    pub(super) fn leave(&mut self) {
        self.matchers.pop();
    }

    /// Returns whether a directory is ignored, its parents being none that are.
    pub(super) fn ignore(&self, dir: &Path) -> bool {
        // The nearest file decides; within a file the last pattern that matches, as in git.
        for matcher in self.matchers.iter().rev() {
            // Only directories are asked about: a pattern that ends with a slash matches nothing else
            // (gitignore(5)).
            match matcher.matched(dir, true) {
                Match::None => {}
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
            }
        }
        false
    }
}
