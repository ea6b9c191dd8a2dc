//! Functions of numbers.

use super::arguments::{CallArguments, CallFault, CallResult};
use crate::expr::Number;
use crate::expr::typed::Typed;
use crate::expr::types::Type;
use crate::expr::value::Value;

/// Maximum number of values that `range` gives: the limit of the programs.
const MAX_RANGE: usize = 1024;

const ROUNDED: CallFault = CallFault::Uncertain("the result may be rounded");

fn result(number: Option<Number>) -> CallResult {
    number.map(Typed::number).ok_or(ROUNDED)
}

pub(super) fn abs(args: &CallArguments<'_>) -> CallResult {
    let number = args.number(0)?;
    result(if number < Number::from(0) {
        number.negate()
    } else {
        Some(number)
    })
}

pub(super) fn ceil(args: &CallArguments<'_>) -> CallResult {
    let number = args.number(0)?;
    let below = floored(number)?;
    result(if number == below {
        Some(number)
    } else {
        below.add(Number::from(1))
    })
}

pub(super) fn floor(args: &CallArguments<'_>) -> CallResult {
    floored(args.number(0)?).map(Typed::number)
}

fn floored(number: Number) -> CallResult<Number> {
    let unit = Number::from(1);
    let rest = number.modulo(unit).ok_or(ROUNDED)?;
    let truncated = number.subtract(rest).ok_or(ROUNDED)?;
    // The remainder has the sign of the number: truncation rounds towards zero.
    if rest < Number::from(0) {
        truncated.subtract(unit).ok_or(ROUNDED)
    } else {
        Ok(truncated)
    }
}

/// Computes `max` or `min`.
pub(super) fn extreme(
    args: &CallArguments<'_>,
    choose: fn(Number, Number) -> Number,
) -> CallResult {
    if args.values.is_empty() {
        return Err(CallFault::call("must pass at least one number"));
    }
    let mut best = args.number(0)?;
    for at in 1..args.values.len() {
        best = choose(best, args.number(at)?);
    }
    Ok(Typed::number(best))
}

pub(super) fn range(args: &CallArguments<'_>) -> CallResult {
    let zero = Number::from(0);
    let (start, end, step) = match args.values.len() {
        1 => (zero, args.number(0)?, None),
        2 => (args.number(0)?, args.number(1)?, None),
        3 => (args.number(0)?, args.number(1)?, Some(args.number(2)?)),
        _ => return Err(CallFault::call("range takes one to three arguments")),
    };
    let is_descending = end < start;
    let step = match step {
        Some(step) => step,
        None if is_descending => Number::from(1).negate().ok_or(ROUNDED)?,
        None => Number::from(1),
    };
    // Without a difference the step is not checked.
    if start == end {
        return Ok(Typed::list(Type::Number, Vec::new()));
    }
    if step.is_zero() {
        return Err(CallFault::call("step must not be zero"));
    }
    if (step < zero) != is_descending {
        return Err(CallFault::argument(2, "step leads away from the end"));
    }
    let (mut number, mut numbers) = (start, Vec::new());
    while (is_descending && number > end) || (!is_descending && number < end) {
        if numbers.len() >= MAX_RANGE {
            let reason = "more than 1024 values were generated; either decrease the difference \
                          between start and end or use a smaller step";
            return Err(CallFault::call(reason));
        }
        numbers.push(Value::Number(number));
        // A sum that must be rounded could take one turn more or less than in the programs.
        number = number.add(step).ok_or(ROUNDED)?;
    }
    Ok(Typed::list(Type::Number, numbers))
}
