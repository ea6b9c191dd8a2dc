//! Operators, and the common type of the branches of a conditional.

use super::Number;
use super::convert::{convert, to_bool, to_number};
use super::eval::Evaluator;
use super::failure::{self, EvalFailure, Misfit, NotConstant, joined};
use super::shapes::Shapes;
use super::typed::Typed;
use super::types::Type;
use super::unify::{possible, unify};
use super::value::{Marks, Value};
use crate::diag::Span;
use crate::hcl::tree::{BinaryOp, UnaryOp};

type Outcome<T = Typed> = Result<T, EvalFailure>;

pub(super) fn unary(operator: UnaryOp, operand: Typed) -> Outcome {
    let (operand, marks) = operand.unmarked();
    let ty = match operator {
        UnaryOp::Not => Type::Bool,
        UnaryOp::Negate => Type::Number,
    };
    let value = match operand.value {
        Value::Null => return Err(EvalFailure::Type("Operation failed")),
        Value::Unknown => unknown_operand(&operand, ty)?,
        // A string that spells a bool or a number converts (rules 2.1).
        value if operator == UnaryOp::Not => Typed::bool(!to_bool(&value, "Invalid operand")?),
        value => certain(to_number(&value)?.negate())?,
    };
    Ok(value.marked(marks))
}

/// Returns the unknown result of an operator that takes operands of a type.
fn unknown_operand(operand: &Typed, ty: Type) -> Outcome {
    match possible(&operand.ty, &ty) {
        Ok(true) => Ok(Typed::unknown(ty)),
        Ok(false) => Err(EvalFailure::Type("Invalid operand")),
        Err(_) => Err(EvalFailure::Uncertain("this operand")),
    }
}

impl Evaluator<'_> {
    /// Applies an operator to operands, each with its place.
    pub(super) fn binary(
        &self,
        operator: BinaryOp,
        (left, left_at): (Typed, Span),
        (right, right_at): (Typed, Span),
        whole: Span,
    ) -> failure::Outcome {
        let is_equality = matches!(operator, BinaryOp::Equal | BinaryOp::NotEqual);
        // The equality of two values depends on all their parts, and so on the marks of these.
        let ((left, left_marks), (right, right_marks)) = if is_equality {
            (left.bare(), right.bare())
        } else {
            (left.unmarked(), right.unmarked())
        };
        let value = match operator {
            BinaryOp::Equal => equal(&left, &right),
            BinaryOp::NotEqual => equal(&left, &right).map(|equal| match equal.value {
                Value::Bool(equal) => Typed::bool(!equal),
                _ => equal,
            }),
            BinaryOp::And | BinaryOp::Or => {
                let (left, right) = joined(
                    self.check(left_at, truth(&left)),
                    self.check(right_at, truth(&right)),
                )?;
                let decides = operator == BinaryOp::Or;
                match (left, right) {
                    (Some(left), Some(right)) if decides => Ok(Typed::bool(left || right)),
                    (Some(left), Some(right)) => Ok(Typed::bool(left && right)),
                    (Some(known), None) | (None, Some(known)) if known == decides => Err(
                        EvalFailure::Uncertain("this may be decided although a part is unknown"),
                    ),
                    _ => Ok(Typed::unknown(Type::Bool)),
                }
            }
            _ => {
                let (left, right) = joined(
                    self.check(left_at, number(&left)),
                    self.check(right_at, number(&right)),
                )?;
                arithmetic(operator, left, right)
            }
        };
        let value = self.check(whole, value)?;
        Ok(value.marked(left_marks.and(right_marks)))
    }
}

/// Compares two values; values of different types are never equal, except for null.
fn equal(left: &Typed, right: &Typed) -> Outcome {
    let is_whole = |value: &Typed| value.value == Value::Unknown;
    if left.value.is_wholly_known() && right.value.is_wholly_known() {
        let has_same_type =
            left.ty == right.ty || [&left.value, &right.value].contains(&&Value::Null);
        let equal = left.value == right.value;
        if equal && !has_same_type {
            // A list and a tuple, for example: it depends on their items if one type converts to the other.
            return Err(EvalFailure::Uncertain("these values have different types"));
        }
        return Ok(Typed::bool(equal));
    }
    let is_null = |value: &Typed| value.value == Value::Null;
    // Versions of the programs differ about null beside something unknown (rules 5.4).
    if (is_whole(left) || is_whole(right)) && !is_null(left) && !is_null(right) {
        return Ok(Typed::unknown(Type::Bool));
    }
    Err(EvalFailure::Uncertain(
        "this compares what is partly unknown",
    ))
}

/// Returns the result of `&&` or `||` if one operand decides it, although the other may have faults.
pub(super) fn decided(
    operator: BinaryOp,
    left: &Result<Typed, NotConstant>,
    right: &Result<Typed, NotConstant>,
) -> Option<Typed> {
    let decides = match operator {
        BinaryOp::Or => true,
        BinaryOp::And => false,
        _ => return None,
    };
    let read = |operand: &Result<Typed, NotConstant>| match operand {
        Ok(operand) => {
            let (operand, marks) = operand.clone().unmarked();
            let truth = match operand.value {
                Value::Null => None,
                Value::Unknown => {
                    unknown_operand(&operand, Type::Bool).ok()?;
                    None
                }
                // An operand that cannot be a bool is a fault even if the other one decides.
                value => Some(to_bool(&value, "").ok()?),
            };
            Some((truth, marks))
        }
        // The fault of an operand that does not count is none of the expression. What is only uncertain could
        // turn out to be no bool.
        Err(problems) if problems.uncertain.is_empty() => Some((None, Marks::default())),
        Err(_) => None,
    };
    let ((left, left_marks), (right, right_marks)) = (read(left)?, read(right)?);
    let is_decided = [left, right].contains(&Some(decides));
    is_decided.then(|| Typed::bool(decides).marked(left_marks.and(right_marks)))
}

/// Reads an operand of `&&` or `||`; `None` if it is unknown.
fn truth(operand: &Typed) -> Outcome<Option<bool>> {
    match &operand.value {
        Value::Unknown => unknown_operand(operand, Type::Bool).map(|_| None),
        // Newer versions of the programs accept null where the other operand decides.
        Value::Null => Err(EvalFailure::Uncertain("a truth value that is null")),
        value => to_bool(value, "Invalid operand").map(Some),
    }
}

/// Reads an operand of arithmetic; `None` if it is unknown.
fn number(operand: &Typed) -> Outcome<Option<Number>> {
    match &operand.value {
        Value::Unknown => unknown_operand(operand, Type::Number).map(|_| None),
        Value::Null => Err(EvalFailure::Type("Operation failed")),
        value => to_number(value).map(Some),
    }
}

fn arithmetic(operator: BinaryOp, left: Option<Number>, right: Option<Number>) -> Outcome {
    let compares = matches!(
        operator,
        BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual
    );
    let (Some(left), Some(right)) = (left, right) else {
        let ty = if compares { Type::Bool } else { Type::Number };
        return Ok(Typed::unknown(ty));
    };
    match operator {
        BinaryOp::Less => Ok(Typed::bool(left < right)),
        BinaryOp::LessEqual => Ok(Typed::bool(left <= right)),
        BinaryOp::Greater => Ok(Typed::bool(left > right)),
        BinaryOp::GreaterEqual => Ok(Typed::bool(left >= right)),
        BinaryOp::Add => certain(left.add(right)),
        BinaryOp::Subtract => certain(left.subtract(right)),
        BinaryOp::Multiply => certain(left.multiply(right)),
        // The programs know infinity, but no result of 0/0.
        BinaryOp::Divide if left.is_zero() && right.is_zero() => {
            Err(EvalFailure::Type("Operation failed"))
        }
        BinaryOp::Divide => certain(left.divide(right)),
        _ => certain(left.modulo(right)),
    }
}

fn certain(number: Option<Number>) -> Outcome {
    number
        .map(Typed::number)
        .ok_or(EvalFailure::Uncertain("the result may be rounded"))
}

/// Gives the chosen branch of a conditional the type that both branches have in common.
pub(super) fn common(chosen: Typed, other: &Typed) -> Outcome {
    const INCONSISTENT: EvalFailure = EvalFailure::Type("Inconsistent conditional result types");
    const DIFFERENT: EvalFailure = EvalFailure::Uncertain("the branches differ in type");
    if chosen.ty == other.ty || other.ty == Type::Any {
        return Ok(chosen);
    }
    if chosen.ty == Type::Any {
        // A null has the type of the other branch.
        let ty = if chosen.is_null() {
            other.ty.clone()
        } else {
            Type::Any
        };
        return Ok(Typed { ty, ..chosen });
    }
    // Both branches get the type that a list of them would have (rules 2.4).
    let ty = match unify(&[&chosen.ty, &other.ty]) {
        Ok(Some(ty)) if !Shapes::default().is_open(&ty) => ty,
        Ok(None) => return Err(INCONSISTENT),
        _ => return Err(DIFFERENT),
    };
    convert(chosen, &ty).map_err(|misfit| match misfit {
        Misfit::Refused(_) => INCONSISTENT,
        Misfit::Uncertain(_) => DIFFERENT,
    })
}
