//! The order in which the programs walk through the items of a set (rules 2.5).
//!
//! Primitive items come by value. Others come by the bytes of a text that the programs make of each
//! of them; it never shows, but whatever walks through such a set depends on it.

use super::Number;
use super::failure::{Fit, Misfit};
use super::value::Value;

/// The most digits of a fraction that the text of a number shows.
const MAX_FRACTION_DIGITS: usize = 10;

/// Brings items of one type into the order of a set, each of them once.
///
/// # Errors
/// If the order hangs on text that is not certain here.
pub(super) fn as_set(values: Vec<Value>) -> Fit<Vec<Value>> {
    let keys = values.iter().map(Key::of).collect::<Option<Vec<Key>>>();
    let mut pairs: Vec<(Key, Value)> = match keys {
        Some(keys) => keys.into_iter().zip(values).collect(),
        None if values.len() < 2 => return Ok(values),
        None => return Err(Misfit::Uncertain("the order of the items of this set")),
    };
    pairs.sort_by(|(one, _), (other, _)| one.cmp(other));
    pairs.dedup_by(|(_, one), (_, other)| one == other);
    Ok(pairs.into_iter().map(|(_, value)| value).collect())
}

/// What decides about the place of an item, least first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Bool(bool),
    Number(Number),
    /// Strings stand for themselves, structures for their text.
    Text(String),
    Null,
}

impl Key {
    fn of(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Null => Self::Null,
            Value::Unknown | Value::Marked(..) => return None,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => Self::Number(*number),
            Value::String(text) => Self::Text(text.clone()),
            Value::Tuple(_) | Value::Object(_) => {
                let mut text = String::new();
                write(value, &mut text)?;
                Self::Text(text)
            }
        })
    }
}

/// Writes the text of a value; nothing if that is not certain.
///
/// The programs have other brackets for tuples and objects than for lists and maps. Among values of
/// one type this decides nothing: only lists and maps can end early.
fn write(value: &Value, text: &mut String) -> Option<()> {
    match value {
        Value::Null => text.push('~'),
        Value::Unknown | Value::Marked(..) => return None,
        Value::Bool(true) => text.push('T'),
        Value::Bool(false) => text.push('F'),
        Value::Number(number) => text.push_str(&shown(*number)?),
        Value::String(string) => quote(string, text)?,
        Value::Tuple(items) => {
            text.push('[');
            for item in items {
                write(item, text)?;
                text.push(';');
            }
            text.push(']');
        }
        Value::Object(items) => {
            text.push('{');
            for (name, item) in items {
                quote(name, text)?;
                text.push(':');
                write(item, text)?;
                text.push(';');
            }
            text.push('}');
        }
    }
    Some(())
}

/// Writes a number, unless it has so many places that its text is rounded or has an exponent.
fn shown(number: Number) -> Option<String> {
    let text = number.to_string();
    let unsigned = text.trim_start_matches('-');
    let Some((whole, fraction)) = unsigned.split_once('.') else {
        return Some(text);
    };
    let significant = [whole, fraction].concat();
    let is_short = significant.trim_start_matches('0').len() <= MAX_FRACTION_DIGITS;
    (is_short && !unsigned.starts_with("0.0000")).then_some(text)
}

fn quote(string: &str, text: &mut String) -> Option<()> {
    text.push('"');
    for c in string.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            ' '..='~' => text.push(c),
            _ if c.is_alphanumeric() && !c.is_ascii() => text.push(c),
            // Which other characters are shown as they are is a table of the programs' own.
            _ => return None,
        }
    }
    text.push('"');
    Some(())
}
