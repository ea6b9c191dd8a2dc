//! The names that an expression may use, and the limits of its work.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::typed::Typed;
use crate::diag::Span;
use crate::world::Files;

/// Limit of the work of all expressions of one reading together: values made or copied, in bytes.
const MAX_TOTAL_WORK: usize = 256 << 20;

/// Limit of the values that are kept at a time, in bytes.
const MAX_KEPT: usize = 24 << 20;

/// The names that an expression may use, and the surroundings of its functions.
#[derive(Default)]
pub struct EvalScope<'s> {
    /// The values of names. If there are no names at all, each one is refused as a variable.
    pub names: BTreeMap<String, NameValue>,
    /// The surroundings of functions; `None` where functions are not allowed.
    pub functions: Option<&'s Surroundings<'s>>,
}

/// The value of a name.
///
/// Values are shared: an expression copies only the part of them that it uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameValue {
    /// A whole value, of any type.
    Value(Arc<Typed>),
    /// An object; the attributes that are not used may be missing here.
    Attributes(BTreeMap<String, Arc<Typed>>),
}

impl From<Typed> for NameValue {
    fn from(value: Typed) -> Self {
        Self::Value(Arc::new(value))
    }
}

/// Everything outside of an expression that functions may look at.
pub struct Surroundings<'s> {
    /// The file system that functions of files read.
    pub files: &'s dyn Files,
    /// The directory that relative paths start at.
    pub dir: &'s Path,
    /// The same directory as an absolute path, if that is known.
    pub absolute_dir: Option<&'s PathBuf>,
    /// Values that differ from run to run are known early: with OpenTofu, not with Terraform.
    pub has_volatile: bool,
    /// The functions of the language that are available.
    pub functions: FunctionSet,
    /// The functions of another program that embeds this language.
    pub extra: Option<&'s dyn ExtraFunctions>,
}

/// A version of the language's functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionSet {
    /// Those of the programs in their supported versions.
    Current,
    /// Those of Terraform 0.15.3, which other programs have built in.
    Terraform0_15,
}

/// Functions of another program, which hide those of the language.
///
/// Templates that `templatefile` reads do not know them.
pub trait ExtraFunctions {
    /// Returns true for the name of one of these functions.
    fn knows(&self, name: &str) -> bool;

    /// Calls a function that [`knows`](Self::knows) has accepted.
    ///
    /// # Errors
    /// The reason why it has no result.
    fn call(&self, call: ExtraCall<'_>) -> Result<Typed, ExtraFault>;
}

/// A call of one of [`ExtraFunctions`].
pub struct ExtraCall<'c> {
    /// The function's name as the expression spells it.
    pub name: &'c str,
    /// The arguments, without marks; they need not be known.
    pub args: Vec<Typed>,
    /// The place of the call in its file.
    pub span: Span,
    /// The nesting of the call in expressions; what it evaluates counts from there.
    pub depth: usize,
    /// The call is inside `try` or `can`, which catch its failure.
    pub is_guarded: bool,
}

/// The reason why a call of [`ExtraFunctions`] has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExtraFault {
    /// The program refuses the argument at this place, from 0, for this reason.
    Argument(usize, String),
    /// The program refuses the call for this reason.
    Call(String),
    /// The program may have a result, but it is not computed for this reason.
    Uncertain(String),
}

/// The work and the memory that are left to several expressions.
#[derive(Debug)]
pub struct Budget {
    /// Bytes of values that may still be made or copied.
    pub(super) work: usize,
    /// Bytes of values that may still be kept.
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

    /// Returns the number of bytes that may still be made or copied.
    #[must_use]
    pub fn work_left(&self) -> usize {
        self.work
    }

    /// Takes off the work that was done with another budget, in bytes.
    pub fn spend(&mut self, work: usize) {
        self.work = self.work.saturating_sub(work);
    }

    /// Takes off what keeping a value costs, and returns that; `None` if too much is kept already.
    pub fn keep(&mut self, value: &Typed) -> Option<usize> {
        let weight = value.weight();
        self.kept = self.kept.checked_sub(weight)?;
        Some(weight)
    }

    /// Gives back the cost of values that are no longer kept.
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
