//! The inside of quoted strings and heredocs: escapes.

use crate::diag::Span;

/// The syntax that decides which backslashes are escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quoting {
    Quoted,
    Heredoc,
}

/// Decodes literal text; an escape that means nothing stays as it is.
pub(super) fn decode(raw: &str, quoting: Quoting) -> String {
    let mut decoded = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(c) = rest.chars().next() {
        let plain = rest.find(['\\', '$', '%']).unwrap_or(rest.len());
        if plain > 0 {
            decoded.push_str(&rest[..plain]);
            rest = &rest[plain..];
            continue;
        }
        // The doubled sign is one sign of text, in heredocs as well.
        if rest.starts_with("$${") || rest.starts_with("%%{") {
            decoded.push_str(&rest[1..3]);
            rest = &rest[3..];
            continue;
        }
        let escape = match (quoting, c) {
            (Quoting::Quoted, '\\') => escape(rest),
            _ => None,
        };
        let (char, len) = escape.unwrap_or((c, c.len_utf8()));
        decoded.push(char);
        rest = &rest[len..];
    }
    decoded
}

/// Finds the first escape sequence that means nothing.
pub(super) fn bad_escape(raw: &str) -> Option<Span> {
    let mut at = 0;
    while let Some(found) = raw[at..].find('\\') {
        at += found;
        match escape(&raw[at..]) {
            Some((_, len)) => at += len,
            None => {
                let next = raw[at + 1..].chars().next().map_or(0, char::len_utf8);
                return Some(Span::new(at, at + 1 + next));
            }
        }
    }
    None
}

/// Reads the escape sequence at the start of `text`: what it means, and its length.
fn escape(text: &str) -> Option<(char, usize)> {
    let hex = |digits: usize| {
        let digits = text.get(2..2 + digits)?;
        // `from_str_radix` alone would take a sign.
        let all_hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
        let code = u32::from_str_radix(digits, 16).ok().filter(|_| all_hex)?;
        Some((char::from_u32(code)?, 2 + digits.len()))
    };
    match text.as_bytes().get(1)? {
        b'n' => Some(('\n', 2)),
        b'r' => Some(('\r', 2)),
        b't' => Some(('\t', 2)),
        b'"' => Some(('"', 2)),
        b'\\' => Some(('\\', 2)),
        b'u' => hex(4),
        b'U' => hex(8),
        _ => None,
    }
}
