//! What is known about a package that matches nothing that is recorded.

use std::path::PathBuf;

use super::differences::Differences;

/// How sure it is that a package which matches nothing should match something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// The program refuses it, or the user asked.
    None,
    /// Its platform is not wanted: the lock file need not hold its hash.
    Unwanted,
    /// The lock file lacks hashes of wanted platforms, and this may be one of them.
    Incomplete,
}

/// What other copies, or the recorded hashes alone, tell about a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fact {
    /// Nothing.
    None,
    /// The package in a place is recorded, and has the same content.
    Same(PathBuf),
    /// The package in a place is recorded, and differs.
    Differs(PathBuf, Differences),
    /// Without these files it would be recorded.
    Stray(Vec<Box<[u8]>>),
}
