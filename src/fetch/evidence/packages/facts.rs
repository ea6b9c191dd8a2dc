//! Evidence about a package that matches no recorded hash.

use std::fmt;
use std::path::PathBuf;

use super::differences::Differences;
use crate::hash::Hash;

/// A doubt that a package which matches nothing should match something.
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

/// A copy of a package that is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Twin {
    /// The copy in this place.
    AtHand(PathBuf),
    /// An earlier run looked into the zip with this `zh:`.
    Known(Hash),
}

impl fmt::Display for Twin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtHand(path) => path.display().fmt(f),
            Self::Known(zh) => write!(f, "the zip {zh}"),
        }
    }
}

/// Evidence about a package by other copies, facts, or the recorded hashes alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MismatchEvidence {
    /// No other copy is known.
    None,
    /// This copy is recorded, and has the same content.
    Same(Twin),
    /// This copy is recorded, and differs; in no known file if it has too many.
    Differs(Twin, Differences),
    /// Without these files it would be recorded.
    Stray(Vec<Box<[u8]>>),
}

impl MismatchEvidence {
    /// Returns true if the package has files that the recorded one does not have; `None` if that is not known.
    pub(super) fn has_stray_files(&self) -> Option<bool> {
        match self {
            Self::None => None,
            Self::Same(_) => Some(false),
            Self::Stray(_) => Some(true),
            Self::Differs(_, differences) if differences.is_empty() => None,
            Self::Differs(_, differences) => Some(!differences.stray.is_empty()),
        }
    }

    /// Returns the number of files that were added, if the package differs in nothing else.
    pub(super) fn added_files(&self) -> usize {
        match self {
            Self::Stray(names) => names.len(),
            Self::Differs(_, differences) if differences.is_stray_only() => differences.stray.len(),
            _ => 0,
        }
    }
}
