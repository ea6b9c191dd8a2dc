//! Operators and the conversions around them.

use super::value::Value;
use super::{Number, failure::Failure};
use crate::hcl::tree::{BinaryOp, UnaryOp};

type Outcome<T = Value> = Result<T, Failure>;

/// Which operands of an operator do not fit; both may.
pub(super) enum Misfit {
    Left(Failure),
    Right(Failure),
    Both(Failure, Failure),
    Whole(Failure),
}

pub(super) fn unary(operator: UnaryOp, operand: &Value) -> Outcome {
    if *operand == Value::Null {
        return Err(Failure::Type("Operation failed"));
    }
    match operator {
        UnaryOp::Not => Ok(Value::Bool(!to_bool(operand, "Invalid operand")?)),
        UnaryOp::Negate => certain(to_number(operand)?.negate()),
    }
}

pub(super) fn binary(operator: BinaryOp, left: &Value, right: &Value) -> Result<Value, Misfit> {
    let whole = |outcome: Outcome| outcome.map_err(Misfit::Whole);
    match operator {
        BinaryOp::Equal => return Ok(Value::Bool(left == right)),
        BinaryOp::NotEqual => return Ok(Value::Bool(left != right)),
        BinaryOp::And | BinaryOp::Or => {
            let operands = both(
                non_null(left, |value| to_bool(value, "Invalid operand")),
                non_null(right, |value| to_bool(value, "Invalid operand")),
            );
            let (left, right) = operands?;
            let is_or = operator == BinaryOp::Or;
            return Ok(Value::Bool(if is_or {
                left || right
            } else {
                left && right
            }));
        }
        _ => {}
    }
    let (left, right) = both(non_null(left, to_number), non_null(right, to_number))?;
    match operator {
        BinaryOp::Less => Ok(Value::Bool(left < right)),
        BinaryOp::LessEqual => Ok(Value::Bool(left <= right)),
        BinaryOp::Greater => Ok(Value::Bool(left > right)),
        BinaryOp::GreaterEqual => Ok(Value::Bool(left >= right)),
        BinaryOp::Add => whole(certain(left.add(right))),
        BinaryOp::Subtract => whole(certain(left.subtract(right))),
        BinaryOp::Multiply => whole(certain(left.multiply(right))),
        BinaryOp::Divide if left.is_zero() && right.is_zero() => {
            whole(Err(Failure::Type("Operation failed")))
        }
        BinaryOp::Divide => whole(certain(left.divide(right))),
        _ => whole(certain(left.modulo(right))),
    }
}

fn both<T>(left: Outcome<T>, right: Outcome<T>) -> Result<(T, T), Misfit> {
    match (left, right) {
        (Ok(left), Ok(right)) => Ok((left, right)),
        (Err(left), Ok(_)) => Err(Misfit::Left(left)),
        (Ok(_), Err(right)) => Err(Misfit::Right(right)),
        (Err(left), Err(right)) => Err(Misfit::Both(left, right)),
    }
}

fn non_null<T>(value: &Value, convert: impl FnOnce(&Value) -> Outcome<T>) -> Outcome<T> {
    match value {
        Value::Null => Err(Failure::Type("Operation failed")),
        _ => convert(value),
    }
}

fn certain(number: Option<Number>) -> Outcome {
    number
        .map(Value::Number)
        .ok_or(Failure::Uncertain("the result may be rounded"))
}

/// Converts to a truth value; a string may spell one.
pub(super) fn to_bool(value: &Value, title: &'static str) -> Outcome<bool> {
    match value {
        Value::Bool(value) => Ok(*value),
        Value::String(text) if text == "true" || text == "1" => Ok(true),
        Value::String(text) if text == "false" || text == "0" => Ok(false),
        _ => Err(Failure::Type(title)),
    }
}

/// Converts to a number; a string may spell one, a little more freely than a literal.
pub(super) fn to_number(value: &Value) -> Outcome<Number> {
    let text = match value {
        Value::Number(number) => return Ok(*number),
        Value::String(text) => text,
        _ => return Err(Failure::Type("Invalid operand")),
    };
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let zero = if unsigned.starts_with('.') { "0" } else { "" };
    let sign = if text.starts_with('-') { "-" } else { "" };
    match Number::parse(&format!("{sign}{zero}{unsigned}")) {
        Some(number) if unsigned != "." => Ok(number),
        _ if unsigned.eq_ignore_ascii_case("inf") => Err(Failure::Uncertain("this is infinite")),
        // Too long for us, or with a binary exponent, or indeed no number.
        _ => match unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
            && unsigned.ends_with(|c: char| c.is_ascii_digit() || c == '.')
            && unsigned
                .chars()
                .all(|c| c.is_ascii_digit() || "+-.eEpP".contains(c))
        {
            true => Err(Failure::Uncertain("this may be a number")),
            false => Err(Failure::Type("Invalid operand")),
        },
    }
}

/// Gives the chosen branch of a conditional the type that both branches have in common.
pub(super) fn unify(chosen: Value, other: &Value) -> Outcome {
    let is_complex = |value: &Value| matches!(value, Value::Tuple(_) | Value::Object(_));
    match (&chosen, other) {
        (Value::Null, _) | (_, Value::Null) => Ok(chosen),
        _ if chosen.same_type(other) => Ok(chosen),
        (Value::Tuple(_), Value::Tuple(_)) | (Value::Object(_), Value::Object(_)) => {
            Err(Failure::Uncertain("the branches differ in type"))
        }
        (Value::String(_), _) if !is_complex(other) => Ok(chosen),
        (_, Value::String(_)) => chosen
            .to_text()
            .map(Value::String)
            .ok_or(Failure::Type("Inconsistent conditional result types")),
        _ => Err(Failure::Type("Inconsistent conditional result types")),
    }
}
