//! Functions that make sequences of sequences.

use super::collections::sequence;
use super::strings::whole;
use super::{Fault, Function, Gives, Limits, Needs, Takes, items, texts};
use crate::expr::convert::convert;
use crate::expr::sets::as_set;
use crate::expr::typed::Typed;
use crate::expr::types::Type;
use crate::expr::unify::unify;
use crate::expr::value::{Marks, Value};

type Ran = Result<Typed, Fault>;

const fn of(
    name: &'static str,
    takes: &'static [Takes],
    needs: Needs,
    run: fn(&[Typed], &Limits<'_>) -> Ran,
) -> Function {
    Function {
        name,
        takes,
        rest: None,
        needs,
        gives: Gives::Open,
        run,
    }
}

const ONE: &[Takes] = &[Takes::Any];

pub(super) const TABLE: &[Function] = &[
    of(
        "chunklist",
        &[Takes::List, Takes::Number],
        Needs::Whole,
        chunks,
    ),
    of("compact", &[Takes::Texts], Needs::Parts, |args, _| {
        let kept = texts(args, 0).into_iter().flatten();
        let kept = kept.filter(|text| !text.is_empty()).map(Value::string);
        Ok(Typed::list(Type::String, kept.collect()))
    }),
    Function {
        rest: Some(Takes::Any),
        ..of("concat", &[], Needs::Whole, concat)
    },
    of("distinct", &[Takes::List], Needs::Parts, |args, limits| {
        let all = items(args, 0);
        // Each item is compared with those that were kept.
        let most = all.len().saturating_mul(all.len());
        limits.allow(most / 64)?;
        let mut kept: Vec<Value> = Vec::new();
        for item in all {
            if !kept.contains(&item.value) {
                kept.push(item.value);
            }
        }
        Ok(Typed {
            ty: args[0].ty.clone(),
            value: Value::Tuple(kept),
        })
    }),
    of("flatten", ONE, Needs::Whole, |args, _| {
        if !is_sequence(&args[0].ty) {
            return Err(Fault::Call(
                "can only flatten lists, sets and tuples".to_owned(),
            ));
        }
        let (mut flat, mut marks) = (Vec::new(), Marks::default());
        let known = flatten(args[0].clone(), &mut flat, &mut marks);
        let value = match known {
            Known::Wholly => Typed::tuple(flat),
            Known::Not => Typed::unknown(Type::Any),
        };
        Ok(value.marked(marks))
    }),
    of("reverse", ONE, Needs::Whole, |args, _| {
        sequence(args, 0)?;
        let mut all = items(args, 0);
        all.reverse();
        Ok(like(&args[0].ty, all))
    }),
    Function {
        rest: Some(Takes::Set),
        ..of("setintersection", &[Takes::Set], Needs::Parts, |args, _| {
            combined(args, |one, other| {
                one.into_iter()
                    .filter(|item| other.contains(item))
                    .collect()
            })
        })
    },
    of(
        "setsubtract",
        &[Takes::Set, Takes::Set],
        Needs::Parts,
        |args, _| {
            combined(args, |one, other| {
                one.into_iter()
                    .filter(|item| !other.contains(item))
                    .collect()
            })
        },
    ),
    Function {
        rest: Some(Takes::Set),
        ..of("setunion", &[Takes::Set], Needs::Parts, |args, _| {
            combined(args, |one, other| one.into_iter().chain(other).collect())
        })
    },
    of(
        "slice",
        &[Takes::Any, Takes::Number, Takes::Number],
        Needs::Whole,
        slice,
    ),
    of("sort", &[Takes::Texts], Needs::Parts, |args, _| {
        let all = texts(args, 0).into_iter().collect::<Option<Vec<&str>>>();
        let null = || Fault::Call("no item may be null".to_owned());
        let mut all = all.ok_or_else(null)?;
        all.sort_unstable();
        Ok(Typed::list(
            Type::String,
            all.into_iter().map(Value::string).collect(),
        ))
    }),
];

/// Makes of items what the sequence was that they come from; a set becomes a list.
fn like(from: &Type, items: Vec<Typed>) -> Typed {
    match from {
        Type::List(item) | Type::Set(item) => Typed::list(
            (**item).clone(),
            items.into_iter().map(|item| item.value).collect(),
        ),
        _ => Typed::tuple(items),
    }
}

fn chunks(args: &[Typed], _: &Limits<'_>) -> Ran {
    let Type::List(item) = &args[0].ty else {
        return Err(Fault::Argument(0, "a list is needed here".to_owned()));
    };
    let size = usize::try_from(whole(args, 1)?)
        .map_err(|_| Fault::Call("the size argument must be positive".to_owned()))?;
    let all: Vec<Value> = items(args, 0).into_iter().map(|item| item.value).collect();
    let size = if size == 0 { all.len().max(1) } else { size };
    let chunks = all.chunks(size).map(|chunk| Value::Tuple(chunk.to_vec()));
    Ok(Typed::list(Type::List(item.clone()), chunks.collect()))
}

fn concat(args: &[Typed], limits: &Limits<'_>) -> Ran {
    if args.is_empty() {
        return Err(Fault::Call("at least one argument is required".to_owned()));
    }
    limits.allow(args.iter().map(|arg| arg.weight()).sum())?;
    let mut all = Vec::new();
    for (at, arg) in args.iter().enumerate() {
        if !matches!(arg.ty, Type::List(_) | Type::Tuple(_)) {
            let reason = "all arguments must be lists or tuples".to_owned();
            return Err(Fault::Argument(at, reason));
        }
        all.extend(items(args, at));
    }
    let types: Vec<&Type> = args.iter().map(|arg| &arg.ty).collect();
    let are_lists = types.iter().all(|ty| matches!(ty, Type::List(_)));
    match are_lists.then(|| unify(&types)).transpose()?.flatten() {
        Some(ty) => Ok(convert(Typed::tuple(all), &ty)?),
        None => Ok(Typed::tuple(all)),
    }
}

enum Known {
    Wholly,
    Not,
}

fn is_sequence(ty: &Type) -> bool {
    matches!(ty, Type::List(_) | Type::Set(_) | Type::Tuple(_))
}

/// Puts the items of a sequence, and of those inside it, one behind the other.
///
/// How many items there are shows what a marked sequence holds: its marks go to the whole.
fn flatten(value: Typed, flat: &mut Vec<Typed>, marks: &mut Marks) -> Known {
    let (value, own) = value.unmarked();
    let is_sequence = is_sequence(&value.ty);
    match value.value {
        Value::Unknown if is_sequence || value.ty == Type::Any => {
            *marks = marks.and(own);
            return Known::Not;
        }
        Value::Tuple(_) if is_sequence => *marks = marks.and(own),
        _ => {
            flat.push(value.marked(own));
            return Known::Wholly;
        }
    }
    let mut known = Known::Wholly;
    for item in value.into_items().unwrap_or_default() {
        if let Known::Not = flatten(item, flat, marks) {
            known = Known::Not;
        }
    }
    known
}

/// Combines sets of one type, each with what came before it.
fn combined(args: &[Typed], combine: fn(Vec<Value>, Vec<Value>) -> Vec<Value>) -> Ran {
    let any = Type::Set(Box::new(Type::Any));
    let ty = args.iter().map(|arg| &arg.ty).find(|ty| **ty != any);
    let ty = ty.unwrap_or(&any).clone();
    let mut sets = Vec::new();
    for arg in args {
        let is_open = arg.ty == any && arg.value != Value::Tuple(Vec::new());
        if (arg.ty != any && arg.ty != ty) || (is_open && ty != any) {
            return Err(Fault::Uncertain("sets of different types"));
        }
        sets.push(convert(arg.clone(), &ty)?);
    }
    let values = sets.into_iter().map(|set| match set.value {
        Value::Tuple(items) => items,
        _ => Vec::new(),
    });
    let all = values.reduce(combine).unwrap_or_default();
    Ok(Typed {
        ty,
        value: Value::Tuple(as_set(all)?),
    })
}

fn slice(args: &[Typed], _: &Limits<'_>) -> Ran {
    if !matches!(args[0].ty, Type::List(_) | Type::Tuple(_)) {
        return Err(Fault::Argument(
            0,
            "must be a list or tuple value".to_owned(),
        ));
    }
    let all = items(args, 0);
    let place = |at: usize| {
        let index = whole(args, at)
            .ok()
            .and_then(|index| usize::try_from(index).ok());
        let inside = index.filter(|index| *index <= all.len());
        inside.ok_or_else(|| Fault::Argument(at, "this index is out of bounds".to_owned()))
    };
    let (start, end) = (place(1)?, place(2)?);
    match all.get(start..end) {
        Some(part) => Ok(like(&args[0].ty, part.to_vec())),
        None => Err(Fault::Argument(
            1,
            "start index must not be greater than end index".to_owned(),
        )),
    }
}
