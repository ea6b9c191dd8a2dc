//! The order of the items when the programs walk through a set (rules 2.5).
//!
//! Primitive items are ordered by value, others by the bytes of a text that the programs make of each of them. The
//! text never shows, but the result of a `for` over such a set depends on it.

use super::Number;
use super::failure::{Fit, Misfit};
use super::value::Value;

/// Maximum number of digits that the programs write of a fraction.
const MAX_FRACTION_DIGITS: usize = 10;

const UNCERTAIN: Misfit = Misfit::Uncertain("the order of the items of this set");

/// Sorts items of one type into the order of a set, without duplicates.
///
/// # Errors
/// If the order depends on a text that is not certain here.
pub(super) fn as_set(values: Vec<Value>) -> Fit<Vec<Value>> {
    if values.len() < 2 {
        return Ok(values);
    }
    let mut pairs = Vec::new();
    for value in values {
        let key = match &value {
            Value::Null => SetOrderKey::Null,
            Value::Unknown | Value::Marked(..) => return Err(UNCERTAIN),
            Value::Bool(value) => SetOrderKey::Bool(*value),
            Value::Number(number) => SetOrderKey::Number(*number),
            Value::String(text) => SetOrderKey::Text(text.clone()),
            Value::Tuple(_) | Value::Object(_) => {
                let mut text = String::new();
                write(&value, &mut text).ok_or(UNCERTAIN)?;
                SetOrderKey::Text(text)
            }
        };
        pairs.push((key, value));
    }
    pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
    // Equal items are neighbours after sorting.
    pairs.dedup_by(|(_, a), (_, b)| a == b);
    Ok(pairs.into_iter().map(|(_, value)| value).collect())
}

/// The position of an item in a set, least first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SetOrderKey {
    Bool(bool),
    Number(Number),
    /// A string by itself, a structure by its text.
    Text(String),
    Null,
}

/// Writes the text of a value; `None` if it is not certain.
fn write(value: &Value, text: &mut String) -> Option<()> {
    match value {
        Value::Null => text.push('~'),
        Value::Unknown | Value::Marked(..) => return None,
        Value::Bool(true) => text.push('T'),
        Value::Bool(false) => text.push('F'),
        Value::Number(number) => {
            let decimal = number.to_string();
            let unsigned = decimal.trim_start_matches('-');
            if let Some((whole, fraction)) = unsigned.split_once('.') {
                let significant = [whole, fraction].concat();
                let digits = significant.trim_start_matches('0').len();
                // The programs round longer fractions, and write small ones with an exponent.
                if digits > MAX_FRACTION_DIGITS || unsigned.starts_with("0.0000") {
                    return None;
                }
            }
            text.push_str(&decimal);
        }
        Value::String(string) => quote(string, text)?,
        // The programs have other brackets for tuples than for lists. Among values of one type this decides
        // nothing: only lists and maps can end early.
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
            // The programs have a table of the characters that they do not escape, by version of Unicode.
            _ => return None,
        }
    }
    text.push('"');
    Some(())
}
