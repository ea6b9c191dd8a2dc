//! Functions of numbers.

use super::strings::whole;
use super::{Fault, Function, Gives, Limits, Needs, Takes, text};
use crate::expr::typed::Typed;
use crate::expr::types::Type;
use crate::expr::value::Value;
use crate::expr::{Number, operators};

type Ran = Result<Typed, Fault>;

/// How many numbers `range` gives at most.
const MAX_RANGE: usize = 1024;

const ROUNDED: Fault = Fault::Uncertain("the result may be rounded");

const fn of(name: &'static str, run: fn(&[Typed], &Limits<'_>) -> Ran) -> Function {
    Function {
        name,
        takes: &[Takes::Number],
        rest: None,
        needs: Needs::Parts,
        gives: Gives::Number,
        run,
    }
}

pub(super) const TABLE: &[Function] = &[
    of("abs", |args, _| {
        let number = number(args, 0)?;
        match number < Number::from(0) {
            true => number.negate().map(Typed::number).ok_or(ROUNDED),
            false => Ok(Typed::number(number)),
        }
    }),
    of("ceil", |args, _| {
        let (number, floor) = (number(args, 0)?, floor(number(args, 0)?)?);
        match number == floor {
            true => Ok(Typed::number(number)),
            false => floor.add(Number::from(1)).map(Typed::number).ok_or(ROUNDED),
        }
    }),
    of("floor", |args, _| {
        Ok(Typed::number(floor(number(args, 0)?)?))
    }),
    Function {
        takes: &[],
        rest: Some(Takes::Number),
        ..of("max", |args, _| extreme(args, Ord::max))
    },
    Function {
        takes: &[],
        rest: Some(Takes::Number),
        ..of("min", |args, _| extreme(args, Ord::min))
    },
    Function {
        takes: &[Takes::Any, Takes::Number],
        ..of("parseint", parse)
    },
    Function {
        takes: &[Takes::Number, Takes::Number],
        ..of("pow", power)
    },
    Function {
        takes: &[],
        rest: Some(Takes::Number),
        gives: Gives::Open,
        ..of("range", range)
    },
    of("signum", |args, _| {
        whole(args, 0)?;
        let number = number(args, 0)?;
        let one = Number::from(1);
        Ok(Typed::number(match number.cmp(&Number::from(0)) {
            std::cmp::Ordering::Less => one.negate().ok_or(ROUNDED)?,
            std::cmp::Ordering::Equal => Number::from(0),
            std::cmp::Ordering::Greater => one,
        }))
    }),
];

/// Returns the number of an argument.
fn number(args: &[Typed], at: usize) -> Result<Number, Fault> {
    let number = args.get(at).map(|arg| operators::to_number(&arg.value));
    match number {
        Some(Ok(number)) => Ok(number),
        _ => Err(Fault::Argument(at, "a number is needed here".to_owned())),
    }
}

fn floor(number: Number) -> Result<Number, Fault> {
    let one = Number::from(1);
    let rest = number.modulo(one).ok_or(ROUNDED)?;
    let cut = number.subtract(rest).ok_or(ROUNDED)?;
    match rest < Number::from(0) {
        true => cut.subtract(one).ok_or(ROUNDED),
        false => Ok(cut),
    }
}

fn extreme(args: &[Typed], choose: fn(Number, Number) -> Number) -> Ran {
    if args.is_empty() {
        return Err(Fault::Call("must pass at least one number".to_owned()));
    }
    let mut best = number(args, 0)?;
    for at in 1..args.len() {
        best = choose(best, number(args, at)?);
    }
    Ok(Typed::number(best))
}

/// Computes a power. The programs do it with floats of 53 bits, which are exact for small whole numbers.
fn power(args: &[Typed], _: &Limits<'_>) -> Ran {
    let whole = |number: Number| number.to_string().parse::<i64>().ok();
    let (base, exponent) = (whole(number(args, 0)?), whole(number(args, 1)?));
    let exponent = exponent.map(u32::try_from);
    let (Some(base), Some(Ok(exponent))) = (base, exponent) else {
        return Err(ROUNDED);
    };
    let power = base.checked_pow(exponent);
    let power =
        power.filter(|power| power.unsigned_abs() < 1 << 53 && base.unsigned_abs() < 1 << 53);
    let power = power.and_then(|power| Number::parse(&power.to_string()));
    power.map(Typed::number).ok_or(ROUNDED)
}

fn parse(args: &[Typed], _: &Limits<'_>) -> Ran {
    if args[0].ty != Type::String {
        return Err(Fault::Argument(0, "a string is needed here".to_owned()));
    }
    let base = whole(args, 1).ok();
    let Some(base) = base
        .and_then(|base| u32::try_from(base).ok())
        .filter(|base| (2..=62).contains(base))
    else {
        let reason = "base must be a whole number between 2 and 62 inclusive".to_owned();
        return Err(Fault::Argument(1, reason));
    };
    if base > 36 {
        return Err(Fault::Uncertain("a base above 36"));
    }
    let given = text(args, 0);
    match i128::from_str_radix(given, base) {
        Ok(parsed) => Number::parse(&parsed.to_string())
            .map(Typed::number)
            .ok_or(ROUNDED),
        Err(error) => match error.kind() {
            std::num::IntErrorKind::PosOverflow | std::num::IntErrorKind::NegOverflow => {
                Err(ROUNDED)
            }
            _ => {
                let reason = format!("cannot parse {given:?} as a base {base} integer");
                Err(Fault::Argument(0, reason))
            }
        },
    }
}

fn range(args: &[Typed], _: &Limits<'_>) -> Ran {
    let zero = Number::from(0);
    let (start, end, step) = match args.len() {
        1 => (zero, number(args, 0)?, None),
        2 => (number(args, 0)?, number(args, 1)?, None),
        3 => (number(args, 0)?, number(args, 1)?, Some(number(args, 2)?)),
        _ => return Err(Fault::Call("range takes one to three arguments".to_owned())),
    };
    let down = end < start;
    let one = match down {
        true => Number::from(1).negate().ok_or(ROUNDED)?,
        false => Number::from(1),
    };
    let step = step.unwrap_or(one);
    if start == end {
        return Ok(Typed::list(Type::Number, Vec::new()));
    }
    if step.is_zero() {
        return Err(Fault::Call("step must not be zero".to_owned()));
    }
    if (step < zero) != down {
        let reason = "step leads away from the end".to_owned();
        return Err(Fault::Argument(2, reason));
    }
    let (mut at, mut numbers) = (start, Vec::new());
    while (down && at > end) || (!down && at < end) {
        if numbers.len() >= MAX_RANGE {
            let reason = "more than 1024 values were generated; either decrease the difference \
                          between start and end or use a smaller step";
            return Err(Fault::Call(reason.to_owned()));
        }
        numbers.push(Value::Number(at));
        at = at.add(step).ok_or(ROUNDED)?;
    }
    Ok(Typed::list(Type::Number, numbers))
}
