//! Functions of numbers.

use std::cmp::Ordering;
use std::num::IntErrorKind;

use super::arguments::{CallArguments, CallFault, CallResult};
use crate::expr::Number;
use crate::expr::typed::Typed;
use crate::expr::types::Type;
use crate::expr::value::Value;

/// Maximum number of values that `range` gives: the limit of the programs.
const MAX_RANGE: usize = 1024;

/// Integers below this have an exact 64-bit float; the programs compute `pow` with such floats.
const EXACT_FLOATS: u64 = 1 << 53;

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

pub(super) fn signum(args: &CallArguments<'_>) -> CallResult {
    // The programs refuse fractions here.
    args.whole(0)?;
    let unit = Number::from(1);
    result(match args.number(0)?.cmp(&Number::from(0)) {
        Ordering::Less => unit.negate(),
        Ordering::Equal => Some(Number::from(0)),
        Ordering::Greater => Some(unit),
    })
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

pub(super) fn pow(args: &CallArguments<'_>) -> CallResult {
    let whole = |number: Number| number.to_string().parse::<i64>().ok();
    let (base, exponent) = (whole(args.number(0)?), whole(args.number(1)?));
    let (Some(base), Some(Ok(exponent))) = (base, exponent.map(u32::try_from)) else {
        return Err(ROUNDED);
    };
    // Above this the programs round, and the text shows it.
    let is_exact = |number: i64| number.unsigned_abs() < EXACT_FLOATS;
    let power = base
        .checked_pow(exponent)
        .filter(|power| is_exact(*power) && is_exact(base));
    result(power.and_then(|power| Number::parse(&power.to_string())))
}

pub(super) fn parseint(args: &CallArguments<'_>) -> CallResult {
    if *args.ty(0) != Type::String {
        return Err(CallFault::argument(0, "a string is needed here"));
    }
    let base = args.whole(1).ok().and_then(|base| u32::try_from(base).ok());
    let Some(base) = base.filter(|base| (2..=62).contains(base)) else {
        let reason = "base must be a whole number between 2 and 62 inclusive";
        return Err(CallFault::argument(1, reason));
    };
    // The programs have digits of both cases there, which Rust does not parse.
    if base > 36 {
        return Err(CallFault::Uncertain("a base above 36"));
    }
    let text = args.text(0);
    match i128::from_str_radix(text, base) {
        Ok(parsed) => result(Number::parse(&parsed.to_string())),
        Err(error) => match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => Err(ROUNDED),
            _ => {
                let reason = format!("cannot parse {text:?} as a base {base} integer");
                Err(CallFault::Argument(0, reason))
            }
        },
    }
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
