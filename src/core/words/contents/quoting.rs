//! Strings in quotation marks, as Go writes and reads them (rules 3.3).

use std::borrow::Cow;
use std::fmt::Write as _;

const BLANKS_AND_MARKS: [char; 6] = [' ', '\t', '\r', '\n', '"', '`'];

/// Returns true for keys that Go quotes.
pub(super) fn needs_quotes_as_key(key: &str) -> bool {
    key.is_empty() || key.contains('=') || needs_quotes_as_value(key)
}

/// Returns true for values that Go quotes.
pub(super) fn needs_quotes_as_value(value: &str) -> bool {
    value.contains(BLANKS_AND_MARKS)
}

pub(super) fn quoted_key(key: &str) -> Cow<'_, str> {
    quoted_if(needs_quotes_as_key(key), key)
}

pub(super) fn quoted_value(value: &str) -> Cow<'_, str> {
    quoted_if(needs_quotes_as_value(value), value)
}

fn quoted_if(is_needed: bool, text: &str) -> Cow<'_, str> {
    // Go prints other control characters as they are; here they never reach a terminal.
    if is_needed || text.contains(char::is_control) {
        Cow::Owned(quoted(text))
    } else {
        Cow::Borrowed(text)
    }
}

/// Puts a text into quotation marks, with escapes for what cannot be printed.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        let short = match c {
            '"' => Some('"'),
            '\\' => Some('\\'),
            '\x07' => Some('a'),
            '\x08' => Some('b'),
            '\x0c' => Some('f'),
            '\n' => Some('n'),
            '\r' => Some('r'),
            '\t' => Some('t'),
            '\x0b' => Some('v'),
            _ => None,
        };
        let written = match (short, u32::from(c)) {
            (Some(letter), _) => write!(quoted, "\\{letter}"),
            (None, code @ (..0x20 | 0x7f)) => write!(quoted, "\\x{code:02x}"),
            // Rust escapes the classes of Unicode that Go does, and marks that join the letter before them only at
            // the beginning of a text.
            (None, _) if c == '\'' || String::from_iter(['a', c]).escape_debug().count() == 2 => {
                write!(quoted, "{c}")
            }
            (None, code @ ..0x1_0000) => write!(quoted, "\\u{code:04x}"),
            (None, code) => write!(quoted, "\\U{code:08x}"),
        };
        written.expect("a string takes everything");
    }
    quoted.push('"');
    quoted
}

/// Reads a whole quoted text.
pub(super) fn unquoted(text: &str) -> Option<String> {
    unquoted_prefix(text).and_then(|(text, rest)| rest.is_empty().then_some(text))
}

/// Reads the quoted text at the beginning; also returns what follows it.
pub(super) fn unquoted_prefix(text: &str) -> Option<(String, &str)> {
    if let Some(raw) = text.strip_prefix('`') {
        let (raw, rest) = raw.split_once('`')?;
        return Some((raw.to_owned(), rest));
    }
    let mut bytes = Vec::new();
    let mut chars = text.strip_prefix('"')?.chars();
    loop {
        match chars.next()? {
            '"' => return Some((String::from_utf8(bytes).ok()?, chars.as_str())),
            '\n' => return None,
            '\\' => {
                let letter = chars.next()?;
                let byte = match letter {
                    'a' => 0x07,
                    'b' => 0x08,
                    'f' => 0x0c,
                    'n' => b'\n',
                    'r' => b'\r',
                    't' => b'\t',
                    'v' => 0x0b,
                    '\\' | '"' => letter as u8,
                    // One byte, so that several may make a letter.
                    'x' => u8::try_from(digits(&mut chars, 0, 2, 16)?).ok()?,
                    '0'..='7' => {
                        u8::try_from(digits(&mut chars, letter.to_digit(8)?, 2, 8)?).ok()?
                    }
                    'u' | 'U' => {
                        let count = if letter == 'u' { 4 } else { 8 };
                        let c = char::from_u32(digits(&mut chars, 0, count, 16)?)?;
                        bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                        continue;
                    }
                    _ => return None,
                };
                bytes.push(byte);
            }
            c => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

fn digits(chars: &mut std::str::Chars<'_>, first: u32, count: u32, radix: u32) -> Option<u32> {
    (0..count).try_fold(first, |value, _| {
        let digit = chars.next()?.to_digit(radix)?;
        value.checked_mul(radix)?.checked_add(digit)
    })
}
