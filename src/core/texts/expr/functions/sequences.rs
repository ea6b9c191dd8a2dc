//! Functions that make sequences of sequences.

use super::arguments::{
    CallArguments, CallFault, CallResult, is_list_or_tuple, is_sequence, text_list,
};
use crate::expr::convert::convert;
use crate::expr::sets::as_set;
use crate::expr::typed::Typed;
use crate::expr::types::Type;
use crate::expr::unify::unify;
use crate::expr::value::{Marks, Value};

/// Makes a sequence of the type that the items come from; a set becomes a list.
fn like(from: &Type, items: Vec<Typed>) -> Typed {
    match from {
        Type::List(item) | Type::Set(item) => Typed::list((**item).clone(), values(items)),
        _ => Typed::tuple(items),
    }
}

fn values(items: Vec<Typed>) -> Vec<Value> {
    items.into_iter().map(|item| item.value).collect()
}

pub(super) fn chunklist(args: &CallArguments<'_>) -> CallResult {
    let Type::List(item) = args.ty(0) else {
        return Err(CallFault::argument(0, "a list is needed here"));
    };
    let size = usize::try_from(args.whole(1)?)
        .map_err(|_| CallFault::call("the size argument must be positive"))?;
    let values = values(args.items(0));
    // A size of 0 means one chunk of all items.
    let size = if size == 0 { values.len().max(1) } else { size };
    let chunks = values
        .chunks(size)
        .map(|chunk| Value::Tuple(chunk.to_vec()));
    Ok(Typed::list(Type::List(item.clone()), chunks.collect()))
}

pub(super) fn compact(args: &CallArguments<'_>) -> CallResult {
    let texts = args
        .texts(0)
        .into_iter()
        .flatten()
        .filter(|text| !text.is_empty());
    Ok(text_list(texts))
}

pub(super) fn concat(args: &CallArguments<'_>) -> CallResult {
    if args.values.is_empty() {
        return Err(CallFault::call("at least one argument is required"));
    }
    args.allow(args.values.iter().map(Typed::weight).sum())?;
    let mut items = Vec::new();
    for (at, arg) in args.values.iter().enumerate() {
        if !is_list_or_tuple(&arg.ty) {
            let reason = "all arguments must be lists or tuples";
            return Err(CallFault::argument(at, reason));
        }
        items.extend(args.items(at));
    }
    let items = Typed::tuple(items);
    let types: Vec<&Type> = args.values.iter().map(|arg| &arg.ty).collect();
    // Lists with a common type give a list, anything else a tuple.
    if types.iter().all(|ty| matches!(ty, Type::List(_)))
        && let Some(ty) = unify(&types)?
    {
        return Ok(convert(items, &ty)?);
    }
    Ok(items)
}

pub(super) fn distinct(args: &CallArguments<'_>) -> CallResult {
    let items = args.items(0);
    // Each item is compared with those that were kept: the time is quadratic.
    args.compare(items.len().saturating_mul(items.len()))?;
    let mut distinct: Vec<Value> = Vec::new();
    for item in items {
        if !distinct.contains(&item.value) {
            distinct.push(item.value);
        }
    }
    Ok(Typed {
        ty: args.ty(0).clone(),
        value: Value::Tuple(distinct),
    })
}

pub(super) fn flatten(args: &CallArguments<'_>) -> CallResult {
    if !is_sequence(args.ty(0)) {
        return Err(CallFault::call("can only flatten lists, sets and tuples"));
    }
    let mut flat = Flattened {
        items: Vec::new(),
        marks: Marks::default(),
        is_known: true,
    };
    flat.add(args.values[0].clone());
    let value = if flat.is_known {
        Typed::tuple(flat.items)
    } else {
        Typed::unknown(Type::Any)
    };
    Ok(value.marked(flat.marks))
}

/// The items of nested sequences, in order.
struct Flattened {
    items: Vec<Typed>,
    marks: Marks,
    is_known: bool,
}

impl Flattened {
    fn add(&mut self, value: Typed) {
        let (value, marks) = value.unmarked();
        let is_sequence = is_sequence(&value.ty);
        match value.value {
            Value::Unknown if is_sequence || value.ty == Type::Any => {
                self.marks = self.marks.and(marks);
                self.is_known = false;
            }
            // The number of items shows something of a marked sequence: its marks go to the whole.
            Value::Tuple(_) if is_sequence => {
                self.marks = self.marks.and(marks);
                for item in value.into_items().unwrap_or_default() {
                    self.add(item);
                }
            }
            _ => self.items.push(value.marked(marks)),
        }
    }
}

pub(super) fn reverse(args: &CallArguments<'_>) -> CallResult {
    args.check_sequence(0)?;
    let mut items = args.items(0);
    items.reverse();
    Ok(like(args.ty(0), items))
}

pub(super) fn setintersection(args: &CallArguments<'_>) -> CallResult {
    combined_sets(args, usize::saturating_mul, |items, other| {
        items
            .into_iter()
            .filter(|item| other.contains(item))
            .collect()
    })
}

pub(super) fn setsubtract(args: &CallArguments<'_>) -> CallResult {
    combined_sets(args, usize::saturating_mul, |items, other| {
        items
            .into_iter()
            .filter(|item| !other.contains(item))
            .collect()
    })
}

pub(super) fn setunion(args: &CallArguments<'_>) -> CallResult {
    // The items are sorted once, in the end; copying them for each further set would be quadratic.
    combined_sets(
        args,
        |_, _| 0,
        |mut items, other| {
            items.extend(other);
            items
        },
    )
}

/// Combines sets of one type from left to right.
fn combined_sets(
    args: &CallArguments<'_>,
    comparisons: fn(usize, usize) -> usize,
    combine: fn(Vec<Value>, Vec<Value>) -> Vec<Value>,
) -> CallResult {
    let open = Type::Set(Box::new(Type::Any));
    let ty = args
        .values
        .iter()
        .map(|arg| &arg.ty)
        .find(|ty| **ty != open)
        .unwrap_or(&open)
        .clone();
    let mut sets = Vec::new();
    for arg in args.values {
        // An empty set fits any type; a set of open items does not.
        let is_open = arg.ty == open && arg.value != Value::Tuple(Vec::new());
        // The programs convert sets to a common type in an order that is not certain.
        if (arg.ty != open && arg.ty != ty) || (is_open && ty != open) {
            return Err(CallFault::Uncertain("sets of different types"));
        }
        sets.push(match convert(arg.clone(), &ty)?.value {
            Value::Tuple(items) => items,
            _ => Vec::new(),
        });
    }
    let mut sets = sets.into_iter();
    let mut items = sets.next().unwrap_or_default();
    for other in sets {
        args.compare(comparisons(items.len(), other.len()))?;
        items = combine(items, other);
    }
    Ok(Typed {
        ty,
        value: Value::Tuple(as_set(items)?),
    })
}

pub(super) fn slice(args: &CallArguments<'_>) -> CallResult {
    if !is_list_or_tuple(args.ty(0)) {
        return Err(CallFault::argument(0, "must be a list or tuple value"));
    }
    let items = args.items(0);
    let bound = |at: usize| {
        args.whole(at)
            .ok()
            .and_then(|index| usize::try_from(index).ok())
            .filter(|index| *index <= items.len())
            .ok_or_else(|| CallFault::argument(at, "this index is out of bounds"))
    };
    let (start, end) = (bound(1)?, bound(2)?);
    match items.get(start..end) {
        Some(part) => Ok(like(args.ty(0), part.to_vec())),
        None => {
            let reason = "start index must not be greater than end index";
            Err(CallFault::argument(1, reason))
        }
    }
}

pub(super) fn sort(args: &CallArguments<'_>) -> CallResult {
    let mut texts: Vec<&str> = args
        .texts(0)
        .into_iter()
        .collect::<Option<_>>()
        .ok_or_else(|| CallFault::call("no item may be null"))?;
    texts.sort_unstable();
    Ok(text_list(texts))
}
