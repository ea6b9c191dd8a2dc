//! `format` and `formatlist`.

use super::{Fault, Function, Gives, Limits, Needs, Takes, text};
use crate::expr::operators;
use crate::expr::typed::Typed;
use crate::expr::types::Type;
use crate::expr::value::Value;

type Ran = Result<Typed, Fault>;

/// How wide a verb may make its value.
const MAX_WIDTH: usize = 1024;

pub(super) const TABLE: &[Function] = &[
    Function {
        name: "format",
        takes: &[Takes::Text],
        rest: Some(Takes::Maybe),
        needs: Needs::Parts,
        gives: Gives::Text,
        run: |args, limits| formatted(text(args, 0), args.get(1..).unwrap_or_default(), limits),
    },
    Function {
        name: "formatlist",
        takes: &[Takes::Text],
        rest: Some(Takes::Maybe),
        needs: Needs::Parts,
        gives: Gives::Open,
        run: format_list,
    },
];

fn format_list(args: &[Typed], limits: &Limits<'_>) -> Ran {
    let rest = args.get(1..).unwrap_or_default();
    let lists: Vec<Option<Vec<Typed>>> = rest.iter().map(|arg| arg.clone().into_items()).collect();
    let mut lengths = lists.iter().flatten().map(Vec::len);
    let Some(length) = lengths.next() else {
        let one = formatted(text(args, 0), rest, limits)?;
        return Ok(Typed::list(Type::String, vec![one.value]));
    };
    if lengths.any(|other| other != length) {
        let reason = "lists of different lengths".to_owned();
        return Err(Fault::Argument(args.len() - 1, reason));
    }
    let (mut all, mut bytes) = (Vec::new(), 0);
    for turn in 0..length {
        let row = rest.iter().zip(&lists);
        let row: Vec<Typed> = row
            .map(|(arg, items)| match items {
                Some(items) => items[turn].clone(),
                None => arg.clone(),
            })
            .collect();
        let one = formatted(text(args, 0), &row, limits).map_err(|fault| match fault {
            // In which turn it failed is more than which argument is to blame.
            Fault::Argument(_, reason) => Fault::Call(reason),
            fault => fault,
        })?;
        bytes += one.weight();
        limits.allow(bytes)?;
        all.push(one.value);
    }
    Ok(Typed::list(Type::String, all))
}

/// One verb of a format, from behind its `%`.
#[derive(Default)]
struct Verb {
    minus: bool,
    zero: bool,
    others: bool,
    width: usize,
    precision: Option<usize>,
    index: Option<usize>,
    /// Whether anything stands between the `%` and the letter.
    is_plain: bool,
}

fn formatted(format: &str, args: &[Typed], limits: &Limits<'_>) -> Ran {
    let mut out = String::new();
    let (mut chars, mut next, mut used) = (format.chars().peekable(), 0, 0);
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut verb = Verb {
            is_plain: chars.peek().is_some_and(|c| c.is_alphabetic() || *c == '%'),
            ..Verb::default()
        };
        let kind = loop {
            match chars.next() {
                // The index comes last.
                Some(c) if verb.index.is_some() && !c.is_alphabetic() => {
                    return Err(Fault::Call("a letter is needed here".to_owned()));
                }
                Some('-') => verb.minus = true,
                Some('0') => verb.zero = true,
                Some('+' | ' ' | '#') => verb.others = true,
                Some('[') => {
                    let digits: String = chars.by_ref().take_while(|c| *c != ']').collect();
                    let index = digits.parse::<usize>().ok().filter(|index| *index > 0);
                    let Some(index) = index else {
                        return Err(Fault::Call("a bad argument index".to_owned()));
                    };
                    verb.index = Some(index - 1);
                }
                Some(digit @ '1'..='9') => {
                    let mut digits = digit.to_string();
                    while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                        digits.push(digit);
                    }
                    verb.width = size(&digits)?;
                }
                Some('.') => {
                    let mut digits = String::from("0");
                    while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                        digits.push(digit);
                    }
                    verb.precision = Some(size(&digits)?);
                }
                Some('*') => return Err(Fault::Uncertain("a width from an argument")),
                Some(kind) => break kind,
                None => return Err(Fault::Call("unterminated verb".to_owned())),
            }
        };
        if kind == '%' && verb.is_plain {
            out.push('%');
            continue;
        }
        let at = verb.index.unwrap_or(next);
        next = at + 1;
        used = next.max(used);
        let Some(arg) = args.get(at) else {
            let reason = format!("not enough arguments for %{kind}");
            return Err(Fault::Call(reason));
        };
        let shown = shown(kind, arg, &verb, at)?;
        match kind {
            't' => out.push_str(&shown),
            _ => pad(kind, &shown, &verb, &mut out),
        }
        limits.allow(out.len())?;
    }
    if used < args.len() {
        let reason = format!("too many arguments; only {used} used by format string");
        return Err(Fault::Argument(used + 1, reason));
    }
    Ok(Typed::string(out))
}

fn size(digits: &str) -> Result<usize, Fault> {
    let size = digits.parse::<usize>().ok();
    size.filter(|size| *size <= MAX_WIDTH)
        .ok_or(Fault::Uncertain("this is very wide"))
}

fn pad(kind: char, shown: &str, verb: &Verb, out: &mut String) {
    let missing = verb.width.saturating_sub(shown.chars().count());
    if verb.minus {
        out.push_str(shown);
        out.extend(std::iter::repeat_n(' ', missing));
    } else if verb.zero {
        let (sign, digits) = match shown.strip_prefix('-') {
            Some(digits) if !matches!(kind, 's' | 'q' | 'v') => ("-", digits),
            _ => ("", shown),
        };
        out.push_str(sign);
        out.extend(std::iter::repeat_n('0', missing));
        out.push_str(digits);
    } else {
        out.extend(std::iter::repeat_n(' ', missing));
        out.push_str(shown);
    }
}

/// Writes one argument as a verb wants it.
fn shown(kind: char, arg: &Typed, verb: &Verb, at: usize) -> Result<String, Fault> {
    let unsuitable = |what: &str| {
        Fault::Call(format!(
            "{what} is needed for %{kind} as argument {}",
            at + 1
        ))
    };
    if verb.others || (verb.precision.is_some() && kind != 's') {
        return Err(Fault::Uncertain("this verb"));
    }
    if arg.value == Value::Null && kind != 'v' {
        return Err(unsuitable("a value that is not null"));
    }
    match kind {
        'v' => match arg.value.to_text() {
            Some(text) if matches!(arg.value, Value::Number(_)) => Ok(scientific(&text)),
            Some(text) => Ok(text),
            None if arg.value == Value::Null => Ok("null".to_owned()),
            None => Err(Fault::Uncertain("this verb")),
        },
        's' => {
            let text = arg.value.to_text().ok_or_else(|| unsuitable("a string"))?;
            Ok(match verb.precision {
                Some(_) if !text.is_ascii() => return Err(Fault::Uncertain("this verb")),
                Some(precision) => text.chars().take(precision).collect(),
                None => text,
            })
        }
        't' => match operators::to_bool(&arg.value, "") {
            Ok(truth) => Ok(truth.to_string()),
            Err(_) => Err(unsuitable("a bool")),
        },
        'd' | 'f' | 'g' | 'G' | 'e' | 'E' | 'x' | 'X' | 'b' | 'o' => {
            let number = operators::to_number(&arg.value).map_err(|_| unsuitable("a number"))?;
            let text = number.to_string();
            match kind {
                'd' if !text.contains('.') => Ok(text),
                'd' => Err(unsuitable("a whole number")),
                'x' | 'X' | 'b' | 'o' => radix(kind, &text),
                _ => Err(Fault::Uncertain("this verb")),
            }
        }
        'q' => {
            let text = arg.value.to_text().ok_or_else(|| unsuitable("a string"))?;
            match text.chars().all(|c| (' '..='~').contains(&c)) {
                true => Ok(format!("{text:?}").replace("\\'", "'")),
                false => Err(Fault::Uncertain("this verb")),
            }
        }
        _ => Err(Fault::Call(format!("unsupported format verb %{kind}"))),
    }
}

/// Writes a number as `%v` does: with an exponent if it is very large or very small.
fn scientific(text: &str) -> String {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", text),
    };
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let all = [whole, fraction].concat();
    let digits = all.trim_start_matches('0');
    let zeros = all.len() - digits.len();
    let exponent = i64::try_from(whole.len()).unwrap_or(i64::MAX)
        - i64::try_from(zeros).unwrap_or(i64::MAX)
        - 1;
    if digits.is_empty() || (-4..6).contains(&exponent) {
        return text.to_owned();
    }
    let (first, rest) = digits.split_at(1);
    let rest = rest.trim_end_matches('0');
    let point = if rest.is_empty() { "" } else { "." };
    let exponent_sign = if exponent < 0 { '-' } else { '+' };
    let exponent = exponent.unsigned_abs();
    format!("{sign}{first}{point}{rest}e{exponent_sign}{exponent:02}")
}

fn radix(kind: char, text: &str) -> Result<String, Fault> {
    let number = text.parse::<u64>();
    let number = number.map_err(|_| Fault::Uncertain("this verb"))?;
    Ok(match kind {
        'x' => format!("{number:x}"),
        'X' => format!("{number:X}"),
        'b' => format!("{number:b}"),
        _ => format!("{number:o}"),
    })
}
