//! `setproduct`.

use super::arguments::{CallArguments, CallFault, CallResult};
use crate::expr::convert::convert;
use crate::expr::sets::as_set;
use crate::expr::typed::Typed;
use crate::expr::types::Type;
use crate::expr::unify::unify;
use crate::expr::value::Value;

/// Makes all tuples of one item of each collection: a list of them, or a set if one of the collections is a set.
pub(super) fn setproduct(args: &CallArguments<'_>) -> CallResult {
    if args.values.len() < 2 {
        let reason = "at least two arguments are required";
        return Err(CallFault::call(reason));
    }
    let (mut types, mut columns) = (Vec::new(), Vec::new());
    let mut is_known = true;
    for (at, arg) in args.values.iter().enumerate() {
        // It may turn out to be any collection, or none.
        if arg.is_unknown() && arg.ty == Type::Any {
            is_known = false;
            continue;
        }
        args.check_sequence(at)
            .map_err(|_| CallFault::argument(at, "a set or a list is required"))?;
        let ty = common_item_type(&arg.ty, at)?;
        if arg.is_unknown() || (matches!(arg.ty, Type::Set(_)) && !arg.value.is_wholly_known()) {
            is_known = false;
            continue;
        }
        let mut column = Vec::new();
        for item in args.items(at) {
            column.push(convert(item, &ty)?.value);
        }
        columns.push(column);
        types.push(ty);
    }
    if !is_known {
        // The product with an empty collection is empty, and so known to the programs.
        if columns.iter().any(Vec::is_empty) {
            return Err(CallFault::Uncertain(
                "nothing of something that is not known",
            ));
        }
        return Ok(Typed::unknown(Type::Any));
    }
    let rows = rows(&columns, args)?;
    let ty = Type::Tuple(types.into());
    let has_set = args.values.iter().any(|arg| matches!(arg.ty, Type::Set(_)));
    Ok(if has_set {
        Typed {
            ty: Type::Set(Box::new(ty)),
            value: Value::Tuple(as_set(rows)?),
        }
    } else {
        Typed::list(ty, rows)
    })
}

fn common_item_type(ty: &Type, at: usize) -> CallResult<Type> {
    let types: Vec<&Type> = match ty {
        Type::List(item) | Type::Set(item) => return Ok((**item).clone()),
        Type::Tuple(types) if !types.is_empty() => types.iter().collect(),
        _ => return Ok(Type::Any),
    };
    match unify(&types)? {
        Some(Type::Any) if types.iter().any(|ty| **ty != Type::Any) => {
            Err(CallFault::Uncertain("elements of an open type"))
        }
        Some(ty) => Ok(ty),
        None => {
            let reason = "all elements must be of the same type";
            Err(CallFault::argument(at, reason))
        }
    }
}

/// Combines one value of each column in all ways; the last column changes fastest.
fn rows(columns: &[Vec<Value>], args: &CallArguments<'_>) -> CallResult<Vec<Value>> {
    let total = columns
        .iter()
        .try_fold(1_usize, |total, column| total.checked_mul(column.len()))
        .ok_or(CallFault::Uncertain("this computes too much"))?;
    let row_weight: usize = columns
        .iter()
        .map(|column| column.iter().map(Value::weight).max().unwrap_or(0))
        .sum();
    // Checked before the rows exist: a few short lists can have billions of combinations.
    args.allow(total.saturating_mul(row_weight.saturating_add(1)))?;
    let row = |number: usize| {
        let (mut rest, mut row) = (number, Vec::new());
        for column in columns.iter().rev() {
            row.push(column[rest % column.len()].clone());
            rest /= column.len();
        }
        row.reverse();
        Value::Tuple(row)
    };
    Ok((0..total).map(row).collect())
}
