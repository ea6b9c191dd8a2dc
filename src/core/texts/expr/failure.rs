//! Reasons why an expression has no value, or a value no counterpart of a type.

use std::iter::Chain;
use std::vec::IntoIter;

use super::typed::Typed;
use crate::diag::Diagnostic;

/// A failed step of an evaluation, before its place is known.
#[derive(Clone, Copy, Debug)]
pub(super) enum EvalFailure {
    /// A name or function that is never known here, under the program's title.
    Unknown(&'static str),
    /// A fault of types or values, under the program's title.
    Type(&'static str),
    /// A result that could not be determined for certain, with the reason.
    Uncertain(&'static str),
}

/// A failed conversion of a value to a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// The program refuses the conversion, for this reason.
    Refused(String),
    /// The program may have an answer, but not one that is certain here, for this reason.
    Uncertain(&'static str),
}

pub(super) type Fit<T = Typed> = Result<T, Misfit>;

/// All problems of an expression that has no value here; iterates over them, the program's faults first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotConstant {
    /// Problems that the program reports, too, under its titles: variables, functions, wrong types.
    pub refused: Vec<Diagnostic>,
    /// Expressions that lockctl alone cannot compute for certain: rounded numbers, conversions between
    /// collection types, more than a fixed amount of work. The program may have a value.
    pub uncertain: Vec<Diagnostic>,
}

pub(super) type Outcome<T = Typed> = Result<T, NotConstant>;

impl NotConstant {
    pub(super) fn refused(problem: Diagnostic) -> Self {
        Self {
            refused: vec![problem],
            uncertain: Vec::new(),
        }
    }

    pub(super) fn uncertain(problem: Diagnostic) -> Self {
        Self {
            refused: Vec::new(),
            uncertain: vec![problem],
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.refused.extend(other.refused);
        self.uncertain.extend(other.uncertain);
    }

    /// Returns the value if there are no problems.
    pub(super) fn or_value<T>(self, value: T) -> Outcome<T> {
        if self.refused.is_empty() && self.uncertain.is_empty() {
            Ok(value)
        } else {
            Err(self)
        }
    }
}

impl IntoIterator for NotConstant {
    type Item = Diagnostic;
    type IntoIter = Chain<IntoIter<Diagnostic>, IntoIter<Diagnostic>>;

    fn into_iter(self) -> Self::IntoIter {
        self.refused.into_iter().chain(self.uncertain)
    }
}

/// Collects the values of all results, or joins the problems of all.
pub(super) fn joined_all<T>(results: impl Iterator<Item = Outcome<T>>) -> Outcome<Vec<T>> {
    let (mut values, mut problems) = (Vec::new(), NotConstant::default());
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(found) => problems.add(found),
        }
    }
    problems.or_value(values)
}

/// Pairs two results, or joins the problems of both.
pub(super) fn joined<A, B>(a: Outcome<A>, b: Outcome<B>) -> Outcome<(A, B)> {
    match (a, b) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (Err(mut a), Err(b)) => {
            a.add(b);
            Err(a)
        }
        (Err(problems), _) | (_, Err(problems)) => Err(problems),
    }
}
