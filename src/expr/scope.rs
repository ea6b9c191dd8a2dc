//! What an expression may name, and how much it may compute.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::typed::Typed;
use crate::world::Files;

/// How much all expressions of one reading may compute: values made or copied, and bytes of text.
const MAX_TOTAL_WORK: usize = 16 * super::eval::MAX_WORK;

/// The names that an expression may use, and what functions may look at.
#[derive(Default)]
pub struct Scope<'s> {
    /// Each name with its value. Where there is none at all, names are refused as such.
    pub names: BTreeMap<String, Typed>,
    /// What functions work with; `None` where there are no functions.
    pub functions: Option<&'s Surroundings<'s>>,
}

/// What functions may look at.
pub struct Surroundings<'s> {
    /// The file system.
    pub files: &'s dyn Files,
    /// The directory that relative paths start at.
    pub dir: &'s Path,
    /// The same as an absolute path, if that is known.
    pub absolute_dir: Option<&'s PathBuf>,
    /// Whether what differs from run to run has a value: with OpenTofu it has, with Terraform not.
    pub has_volatile: bool,
}

/// How much may still be computed.
#[derive(Debug)]
pub struct Budget {
    pub(super) left: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            left: MAX_TOTAL_WORK,
        }
    }
}
