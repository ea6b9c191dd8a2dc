//! What is known about a package that matches nothing that is recorded.

use std::path::PathBuf;

use super::differences::Differences;

/// How sure it is that a package which matches nothing should match something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// The recorded hashes cover its platform, so it contradicts them.
    None,
    /// Its platform is not wanted: the lock file need not hold its hash.
    Unwanted,
    /// The recorded `h1:` may be those of other platforms only.
    Incomplete,
    /// Packages prove that every recorded `h1:` is that of another platform.
    Uncovered,
}

/// What other copies, or the recorded hashes alone, show about a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fact {
    /// Nothing.
    None,
    /// The package in a place is recorded, and has the same content.
    Same(PathBuf),
    /// The package in a place is recorded, and differs; in no known file if it is too large.
    Differs(PathBuf, Differences),
    /// Without these files it would be recorded.
    Stray(Vec<Box<[u8]>>),
}
