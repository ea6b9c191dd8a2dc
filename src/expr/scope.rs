//! What an expression may name, and how much it may compute.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::typed::Typed;
use crate::diag::Span;
use crate::world::Files;

/// How much all expressions of one reading may compute together: values made or copied, in bytes.
const MAX_TOTAL_WORK: usize = 256 << 20;

/// How much of values may be kept at a time, in bytes.
const MAX_KEPT: usize = 24 << 20;

/// The names that an expression may use, and what functions may look at.
#[derive(Default)]
pub struct Scope<'s> {
    /// What each name means. Where there is none at all, names are refused as such.
    pub names: BTreeMap<String, Named>,
    /// What functions work with; `None` where there are no functions.
    pub functions: Option<&'s Surroundings<'s>>,
}

/// What a name means.
///
/// Values are shared: an expression copies only the part of them that it uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// A value.
    Value(Arc<Typed>),
    /// An object, of which only the attributes that are used need to be here.
    Attributes(BTreeMap<String, Arc<Typed>>),
}

impl From<Typed> for Named {
    fn from(value: Typed) -> Self {
        Self::Value(Arc::new(value))
    }
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
    /// Which functions of the language there are.
    pub functions: FunctionSet,
    /// The functions of another program that reads this language.
    pub extra: Option<&'s dyn ExtraFunctions>,
}

/// Which functions of the language there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionSet {
    /// Those of the programs in their supported versions.
    Current,
    /// Those of Terraform 0.15.3, which other programs have built in.
    Terraform0_15,
}

/// Functions of another program, beside those of the language, which they hide.
///
/// Templates that `templatefile` reads do not know them.
pub trait ExtraFunctions {
    /// Returns whether a function is one of these.
    fn knows(&self, name: &str) -> bool;

    /// Calls a function that [`knows`](Self::knows) has accepted.
    ///
    /// # Errors
    /// Why it has no result.
    fn call(&self, call: ExtraCall<'_>) -> Result<Typed, ExtraFault>;
}

/// A call of one of [`ExtraFunctions`].
pub struct ExtraCall<'c> {
    /// The name of the function.
    pub name: &'c str,
    /// The arguments, without marks; they need not be known.
    pub args: Vec<Typed>,
    /// Where the call stands.
    pub span: Span,
    /// How deep the call is nested in expressions; what it evaluates counts from there.
    pub depth: usize,
    /// Whether a failure of the call is caught: it stands inside of `try` or `can`.
    pub is_guarded: bool,
    /// How much the call may compute, in bytes.
    pub work: usize,
}

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExtraFault {
    /// The program refuses the argument at this place, from 0, for this reason.
    Argument(usize, String),
    /// The program refuses the call for this reason.
    Call(String),
    /// The program may have a result; why it is not computed.
    Uncertain(String),
}

/// How much may still be computed and kept.
#[derive(Debug)]
pub struct Budget {
    /// What may still be made or copied, in bytes.
    pub(super) work: usize,
    /// What may still be kept, in bytes.
    kept: usize,
}

impl Budget {
    /// Allows this much work, in bytes.
    #[must_use]
    pub fn of_work(work: usize) -> Self {
        Self {
            work,
            ..Self::default()
        }
    }

    /// Returns how much may still be made or copied, in bytes.
    #[must_use]
    pub fn work_left(&self) -> usize {
        self.work
    }

    /// Takes off what keeping a value costs, and returns that; `None` if too much is kept already.
    pub fn keep(&mut self, value: &Typed) -> Option<usize> {
        let weight = value.weight();
        self.kept = self.kept.checked_sub(weight)?;
        Some(weight)
    }

    /// Adds what is kept no longer.
    pub fn release(&mut self, weight: usize) {
        self.kept += weight;
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            work: MAX_TOTAL_WORK,
            kept: MAX_KEPT,
        }
    }
}
