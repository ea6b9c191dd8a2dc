//! `format` and `formatlist`.

use std::iter::{Peekable, repeat_n};
use std::str::Chars;

use super::arguments::{CallArguments, CallFault, CallResult};
use crate::expr::convert::{to_bool, to_number};
use crate::expr::typed::Typed;
use crate::expr::types::Type;
use crate::expr::value::Value;

/// Maximum width of a verb, in characters: a few bytes of format must not make megabytes.
const MAX_WIDTH: usize = 1024;

const THIS_VERB: CallFault = CallFault::Uncertain("this verb");

pub(super) fn format(args: &CallArguments<'_>) -> CallResult {
    let values = args.values.get(1..).unwrap_or_default();
    formatted(args, values).map(Typed::string)
}

pub(super) fn formatlist(args: &CallArguments<'_>) -> CallResult {
    let values = args.values.get(1..).unwrap_or_default();
    let lists: Vec<Option<Vec<Typed>>> = values
        .iter()
        .map(|value| value.clone().into_items())
        .collect();
    let mut lengths = lists.iter().flatten().map(Vec::len);
    let Some(length) = lengths.next() else {
        let text = Value::string(formatted(args, values)?);
        return Ok(Typed::list(Type::String, vec![text]));
    };
    if lengths.any(|other| other != length) {
        let reason = "lists of different lengths";
        return Err(CallFault::argument(args.values.len() - 1, reason));
    }
    let (mut texts, mut bytes) = (Vec::new(), 0);
    for number in 0..length {
        let row: Vec<Typed> = values
            .iter()
            .zip(&lists)
            .map(|(value, items)| match items {
                Some(items) => items[number].clone(),
                None => value.clone(),
            })
            .collect();
        // The programs name the row that failed, and not the argument.
        let text = formatted(args, &row).map_err(CallFault::without_argument)?;
        let text = Value::string(text);
        bytes += 2 * text.weight();
        args.allow(bytes)?;
        texts.push(text);
    }
    Ok(Typed::list(Type::String, texts))
}

/// A verb of a format, without its `%`.
#[derive(Default)]
struct Verb {
    letter: char,
    has_minus: bool,
    has_zero: bool,
    has_other_flags: bool,
    width: usize,
    /// The argument that the verb names, from 0.
    index: Option<usize>,
}

/// Formats values by the text of the first argument.
fn formatted(args: &CallArguments<'_>, values: &[Typed]) -> CallResult<String> {
    let mut out = String::new();
    let (mut chars, mut next, mut used) = (args.text(0).chars().peekable(), 0, 0);
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        if chars.next_if_eq(&'%').is_some() {
            out.push('%');
            continue;
        }
        let verb = Verb::read(&mut chars)?;
        // After `%[2]d` the next verb takes the third argument.
        let at = verb.index.unwrap_or(next);
        next = at + 1;
        used = next.max(used);
        let Some(value) = values.get(at) else {
            let reason = format!("not enough arguments for %{}", verb.letter);
            return Err(CallFault::Call(reason));
        };
        let shown = verb.shown(value, at)?;
        match verb.letter {
            // A bool is never padded.
            't' => out.push_str(&shown),
            _ => verb.pad(&shown, &mut out),
        }
        args.allow(out.len())?;
    }
    // The programs refuse arguments that no verb uses.
    if used < values.len() {
        let reason = format!("too many arguments; only {used} used by format string");
        return Err(CallFault::Argument(used + 1, reason));
    }
    Ok(out)
}

impl Verb {
    fn read(chars: &mut Peekable<Chars<'_>>) -> CallResult<Self> {
        let mut verb = Self::default();
        loop {
            match chars.next() {
                // The index comes last.
                Some(c) if verb.index.is_some() && !c.is_alphabetic() => {
                    return Err(CallFault::call("a letter is needed here"));
                }
                Some('-') => verb.has_minus = true,
                Some('0') => verb.has_zero = true,
                Some('+' | ' ' | '#') => verb.has_other_flags = true,
                Some('[') => {
                    let digits: String = chars.by_ref().take_while(|c| *c != ']').collect();
                    let index = digits.parse::<usize>().ok().filter(|index| *index > 0);
                    let index = index.ok_or_else(|| CallFault::call("a bad argument index"))?;
                    verb.index = Some(index - 1);
                }
                Some(digit @ '1'..='9') => verb.width = size(digit, chars)?,
                // A precision counts grapheme clusters; `*` takes the width from an argument.
                Some('.' | '*') => return Err(THIS_VERB),
                Some(letter) => {
                    verb.letter = letter;
                    return Ok(verb);
                }
                None => return Err(CallFault::call("unterminated verb")),
            }
        }
    }

    /// Writes a text with the padding that the verb asks for.
    fn pad(&self, shown: &str, out: &mut String) {
        let missing = self.width.saturating_sub(shown.chars().count());
        if self.has_minus {
            out.push_str(shown);
            out.extend(repeat_n(' ', missing));
        } else if self.has_zero {
            let (sign, digits) = match shown.strip_prefix('-') {
                // Zeros go behind the sign of a number, but before that of a text.
                Some(digits) if !matches!(self.letter, 's' | 'q' | 'v') => ("-", digits),
                _ => ("", shown),
            };
            out.push_str(sign);
            out.extend(repeat_n('0', missing));
            out.push_str(digits);
        } else {
            out.extend(repeat_n(' ', missing));
            out.push_str(shown);
        }
    }

    /// Returns the text of a value, which is that of the argument at `at`, without padding.
    fn shown(&self, value: &Typed, at: usize) -> CallResult<String> {
        let letter = self.letter;
        let unsuitable = |needed: &str| {
            CallFault::Call(format!(
                "{needed} is needed for %{letter} as argument {}",
                at + 1
            ))
        };
        if self.has_other_flags {
            return Err(THIS_VERB);
        }
        if value.value == Value::Null && letter != 'v' {
            return Err(unsuitable("a value that is not null"));
        }
        let text = value.value.to_text();
        match letter {
            'v' => match text {
                Some(text) if matches!(value.value, Value::Number(_)) => {
                    // Numbers from a million on, and very small ones, get an exponent (rules 6.7).
                    let unsigned = text.trim_start_matches('-');
                    let whole = unsigned.split('.').next().unwrap_or(unsigned);
                    if whole.len() > 6 || unsigned.starts_with("0.0000") {
                        return Err(THIS_VERB);
                    }
                    Ok(text)
                }
                Some(text) => Ok(text),
                None if value.value == Value::Null => Ok("null".to_owned()),
                None => Err(THIS_VERB),
            },
            's' => text.ok_or_else(|| unsuitable("a string")),
            't' => match to_bool(&value.value, "") {
                Ok(truth) => Ok(truth.to_string()),
                Err(_) => Err(unsuitable("a bool")),
            },
            'd' | 'f' | 'g' | 'G' | 'e' | 'E' | 'x' | 'X' | 'b' | 'o' => {
                let number = to_number(&value.value).map_err(|_| unsuitable("a number"))?;
                let text = number.to_string();
                match letter {
                    'd' if text.contains('.') => Err(unsuitable("a whole number")),
                    'd' => Ok(text),
                    // Go rounds and shortens floats by rules of its own.
                    _ => Err(THIS_VERB),
                }
            }
            'q' => {
                let text = text.ok_or_else(|| unsuitable("a string"))?;
                // Which other characters are escaped depends on the Unicode tables of the program (rules 6.5).
                if !text.chars().all(|c| (' '..='~').contains(&c)) {
                    return Err(THIS_VERB);
                }
                Ok(format!("{text:?}").replace("\\'", "'"))
            }
            _ => Err(CallFault::Call(format!(
                "unsupported format verb %{letter}"
            ))),
        }
    }
}

/// Reads the further digits of a width.
fn size(first: char, chars: &mut Peekable<Chars<'_>>) -> CallResult<usize> {
    let mut digits = String::from(first);
    while let Some(digit) = chars.next_if(char::is_ascii_digit) {
        digits.push(digit);
    }
    let size = digits.parse::<usize>().ok();
    size.filter(|size| *size <= MAX_WIDTH)
        .ok_or(CallFault::Uncertain("this is very wide"))
}
