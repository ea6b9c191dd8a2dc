//! Functions of texts.

use super::{Fault, Function, Gives, Limits, Needs, Takes, text, texts};
use crate::expr::typed::Typed;
use crate::expr::types::Type;
use crate::expr::value::Value;
use crate::expr::{Number, operators};

type Ran = Result<Typed, Fault>;

const fn of(
    name: &'static str,
    takes: &'static [Takes],
    gives: Gives,
    run: fn(&[Typed], &Limits<'_>) -> Ran,
) -> Function {
    Function {
        name,
        takes,
        rest: None,
        needs: Needs::Parts,
        gives,
        run,
    }
}

const ONE: &[Takes] = &[Takes::Text];
const TWO: &[Takes] = &[Takes::Text, Takes::Text];

pub(super) const TABLE: &[Function] = &[
    of("chomp", ONE, Gives::Text, |args, _| {
        Ok(Typed::string(text(args, 0).trim_end_matches(['\n', '\r'])))
    }),
    of("endswith", TWO, Gives::Truth, |args, _| {
        Ok(Typed::bool(text(args, 0).ends_with(text(args, 1))))
    }),
    of("indent", &[Takes::Number, Takes::Text], Gives::Text, indent),
    Function {
        rest: Some(Takes::Texts),
        ..of("join", ONE, Gives::Text, join)
    },
    of("lower", ONE, Gives::Text, |args, _| {
        in_case(text(args, 0), |c| c.to_lowercase().collect())
    }),
    of("split", TWO, Gives::Open, split),
    of("startswith", TWO, Gives::Truth, |args, _| {
        Ok(Typed::bool(text(args, 0).starts_with(text(args, 1))))
    }),
    of("strcontains", TWO, Gives::Truth, |args, _| {
        Ok(Typed::bool(text(args, 0).contains(text(args, 1))))
    }),
    of("strrev", ONE, Gives::Text, reversed),
    of(
        "substr",
        &[Takes::Text, Takes::Number, Takes::Number],
        Gives::Text,
        substr,
    ),
    of("title", ONE, Gives::Text, |args, _| title(text(args, 0))),
    of("trim", TWO, Gives::Text, |args, _| {
        let cut = text(args, 1);
        Ok(Typed::string(
            text(args, 0).trim_matches(|c| cut.contains(c)),
        ))
    }),
    of("trimprefix", TWO, Gives::Text, |args, _| {
        let all = text(args, 0);
        Ok(Typed::string(
            all.strip_prefix(text(args, 1)).unwrap_or(all),
        ))
    }),
    of("trimspace", ONE, Gives::Text, |args, _| {
        Ok(Typed::string(text(args, 0).trim()))
    }),
    of("trimsuffix", TWO, Gives::Text, |args, _| {
        let all = text(args, 0);
        Ok(Typed::string(
            all.strip_suffix(text(args, 1)).unwrap_or(all),
        ))
    }),
    of("upper", ONE, Gives::Text, |args, _| {
        in_case(text(args, 0), |c| c.to_uppercase().collect())
    }),
];

/// Changes the case of each letter on its own, as the programs do.
fn in_case(text: &str, changed: fn(char) -> String) -> Ran {
    let mut out = String::new();
    for c in text.chars() {
        let one = changed(c);
        // Where several letters would come of one, the programs have another one or none.
        if one.chars().nth(1).is_some() || (has_new_case(c) && !one.starts_with(c)) {
            return Err(Fault::Uncertain("a letter whose case hangs on the program"));
        }
        out.push_str(&one);
    }
    Ok(Typed::string(out))
}

/// Returns whether a letter is among those to which later versions of Unicode gave a case.
fn has_new_case(c: char) -> bool {
    matches!(c, '\u{1c80}'..='\u{1c8f}' | '\u{a7c0}'..='\u{a7ff}' | '\u{264}' | '\u{19b}' | '\u{10000}'..)
}

/// Makes the first letter of each word a capital.
fn title(text: &str) -> Ran {
    if !text.is_ascii() {
        return Err(Fault::Uncertain("capitals beyond ASCII"));
    }
    let (mut out, mut is_inside) = (String::new(), false);
    for c in text.chars() {
        out.push(if is_inside { c } else { c.to_ascii_uppercase() });
        is_inside = c.is_ascii_alphanumeric() || c == '_';
    }
    Ok(Typed::string(out))
}

/// Returns an argument that must be a whole number.
pub(super) fn whole(args: &[Typed], at: usize) -> Result<i64, Fault> {
    let number = args.get(at).map(|arg| operators::to_number(&arg.value));
    let whole = match number {
        Some(Ok(number)) => number.to_string().parse::<i64>().ok(),
        _ => None,
    };
    whole.ok_or_else(|| Fault::Call(format!("argument {} must be a whole number", at + 1)))
}

fn indent(args: &[Typed], limits: &Limits<'_>) -> Ran {
    let spaces = usize::try_from(whole(args, 0)?)
        .map_err(|_| Fault::Call("the number of spaces must not be negative".to_owned()))?;
    let all = text(args, 1);
    let lines = all.matches('\n').count();
    limits.allow(lines.saturating_mul(spaces).saturating_add(spaces))?;
    let indented = format!("\n{}", " ".repeat(spaces));
    Ok(Typed::string(all.replace('\n', &indented)))
}

fn join(args: &[Typed], limits: &Limits<'_>) -> Ran {
    if args.len() < 2 {
        return Err(Fault::Call("at least one list is required".to_owned()));
    }
    let mut all = Vec::new();
    for at in 1..args.len() {
        for item in texts(args, at) {
            let null = || Fault::Argument(at, "no item may be null".to_owned());
            all.push(item.ok_or_else(null)?);
        }
    }
    let between = text(args, 0);
    let bytes: usize = all.iter().map(|item| item.len()).sum();
    limits.allow(bytes.saturating_add(between.len().saturating_mul(all.len())))?;
    Ok(Typed::string(all.join(between)))
}

fn split(args: &[Typed], _: &Limits<'_>) -> Ran {
    let (between, all) = (text(args, 0), text(args, 1));
    let parts: Vec<Value> = match (between, all) {
        ("", "") => Vec::new(),
        (_, "") => vec![Value::string("")],
        ("", _) => all.chars().map(Value::string).collect(),
        _ => all.split(between).map(Value::string).collect(),
    };
    Ok(Typed::list(Type::String, parts))
}

/// Returns whether each character of a text is one to the programs, too.
fn is_plain(text: &str) -> bool {
    text.is_ascii() && !text.contains('\r')
}

const CLUSTERS: Fault = Fault::Uncertain("this counts characters beyond ASCII");

fn reversed(args: &[Typed], _: &Limits<'_>) -> Ran {
    match text(args, 0) {
        all if is_plain(all) => Ok(Typed::string(all.chars().rev().collect::<String>())),
        _ => Err(CLUSTERS),
    }
}

fn substr(args: &[Typed], _: &Limits<'_>) -> Ran {
    let all = text(args, 0);
    let (offset, length) = (whole(args, 1)?, whole(args, 2)?);
    if !is_plain(all) {
        return Err(CLUSTERS);
    }
    let total = i64::try_from(all.len()).unwrap_or(i64::MAX);
    let start = match offset {
        // Too far back is the start.
        back if back < 0 => (total + back).max(0),
        offset => offset.min(total),
    };
    let end = match length {
        length if length < 0 => total,
        // From a place behind the end, nothing is as much as everything.
        0 if offset < 0 => total,
        length => start.saturating_add(length).min(total),
    };
    let at = |place: i64| usize::try_from(place).unwrap_or_default();
    Ok(Typed::string(
        all.get(at(start)..at(end)).unwrap_or_default(),
    ))
}

/// Makes a number of a count.
pub(super) fn counted(count: usize) -> Typed {
    Typed::number(Number::from(u32::try_from(count).unwrap_or(u32::MAX)))
}
