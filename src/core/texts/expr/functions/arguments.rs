//! Arguments of a call, as the body of a function reads them, and the faults that it finds.

use std::cell::Cell;

use crate::expr::Number;
use crate::expr::convert::to_number;
use crate::expr::failure::Misfit;
use crate::expr::scope::Surroundings;
use crate::expr::typed::Typed;
use crate::expr::types::Type;
use crate::expr::value::Value;

pub(super) type CallResult<T = Typed> = Result<T, CallFault>;

/// The reason why a function has no result.
pub(super) enum CallFault {
    /// The program refuses the argument at this place, from 0.
    Argument(usize, String),
    /// The program refuses the call.
    Call(String),
    /// The program may have a result.
    Uncertain(&'static str),
}

impl CallFault {
    pub(super) fn argument(at: usize, reason: &str) -> Self {
        Self::Argument(at, reason.to_owned())
    }

    pub(super) fn call(reason: &str) -> Self {
        Self::Call(reason.to_owned())
    }

    /// Blames the call instead of an argument.
    pub(super) fn without_argument(self) -> Self {
        match self {
            Self::Argument(_, reason) => Self::Call(reason),
            fault => fault,
        }
    }
}

impl From<Misfit> for CallFault {
    fn from(misfit: Misfit) -> Self {
        match misfit {
            Misfit::Refused(reason) => Self::Argument(0, reason),
            Misfit::Uncertain(reason) => Self::Uncertain(reason),
        }
    }
}

/// The converted arguments of a call, with what its function may look at.
pub(super) struct CallArguments<'a> {
    /// At least one value for each parameter.
    pub(super) values: &'a [Typed],
    pub(super) around: &'a Surroundings<'a>,
    /// Number of bytes of values that may still be made.
    pub(super) work: usize,
    /// The work of comparisons so far, in such bytes.
    pub(super) compared: Cell<usize>,
}

/// Number of comparisons of items that cost as much as one byte that is made.
const COMPARISONS_PER_BYTE: usize = 16;

impl<'a> CallArguments<'a> {
    /// Refuses to make more than `work` bytes, if fewer are left.
    pub(super) fn allow(&self, work: usize) -> CallResult<()> {
        if work <= self.work {
            Ok(())
        } else {
            Err(CallFault::Uncertain("this computes too much"))
        }
    }

    /// Counts comparisons of items, and refuses them if they are more work than is left.
    pub(super) fn compare(&self, comparisons: usize) -> CallResult<()> {
        let work = comparisons / COMPARISONS_PER_BYTE;
        self.compared.set(self.compared.get().saturating_add(work));
        self.allow(self.compared.get())
    }

    pub(super) fn ty(&self, at: usize) -> &'a Type {
        &self.values[at].ty
    }

    /// Returns the text of a string; empty for any other argument.
    pub(super) fn text(&self, at: usize) -> &'a str {
        match self.values.get(at).map(|arg| &arg.value) {
            Some(Value::String(text)) => text,
            _ => "",
        }
    }

    /// Returns the items of a sequence; empty for any other argument.
    pub(super) fn items(&self, at: usize) -> Vec<Typed> {
        let items = self.values.get(at).and_then(|arg| arg.clone().into_items());
        items.unwrap_or_default()
    }

    /// Returns the items of a list of strings; `None` means null.
    pub(super) fn texts(&self, at: usize) -> Vec<Option<&'a str>> {
        let Some(Value::Tuple(items)) = self.values.get(at).map(|arg| &arg.value) else {
            return Vec::new();
        };
        items
            .iter()
            .map(|item| match item {
                Value::String(text) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    pub(super) fn number(&self, at: usize) -> CallResult<Number> {
        self.values
            .get(at)
            .and_then(|arg| to_number(&arg.value).ok())
            .ok_or_else(|| CallFault::argument(at, "a number is needed here"))
    }

    /// Returns an argument that must be a whole number.
    pub(super) fn whole(&self, at: usize) -> CallResult<i64> {
        let whole = self
            .number(at)
            .ok()
            .and_then(|number| number.to_string().parse::<i64>().ok());
        whole.ok_or_else(|| CallFault::Call(format!("argument {} must be a whole number", at + 1)))
    }

    /// Checks that an argument is a list, a set or a tuple.
    pub(super) fn check_sequence(&self, at: usize) -> CallResult<()> {
        match self.values.get(at) {
            Some(arg) if is_sequence(&arg.ty) => Ok(()),
            _ => {
                let reason = "a list, a set or a tuple is needed here";
                Err(CallFault::argument(at, reason))
            }
        }
    }
}

pub(super) fn is_sequence(ty: &Type) -> bool {
    matches!(ty, Type::List(_) | Type::Set(_) | Type::Tuple(_))
}

pub(super) fn is_list_or_tuple(ty: &Type) -> bool {
    matches!(ty, Type::List(_) | Type::Tuple(_))
}

/// Makes a list of strings.
pub(super) fn text_list<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Typed {
    let items = texts.into_iter().map(Value::string).collect();
    Typed::list(Type::String, items)
}
