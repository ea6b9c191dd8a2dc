//! Lines whose layout needs no tokens: comments, headers, brackets, and assignments and elements of simple values.
//!
//! What is not recognised here is no fault; it is cut into tokens. A line that is recognised comes out as its tokens
//! would.

use std::borrow::Cow;

use super::format::LineCells;

/// Returns the cells of a plain line, which is given with its line end.
pub(super) fn cells(line: &str) -> Option<LineCells<'_>> {
    let text = line.strip_suffix('\n').unwrap_or(line);
    let text = text.strip_suffix('\r').unwrap_or(text);
    let text = text.trim_matches([' ', '\t']);
    let lead = |lead, opened| LineCells {
        lead,
        assign: Cow::Borrowed(""),
        comment: Cow::Borrowed(""),
        // Columns depend on it only where something follows.
        lead_width: 0,
        assign_width: 0,
        opened,
        ends: line.ends_with('\n'),
    };
    // White space at its end belongs to a comment.
    if text.starts_with('#') {
        let comment = line.trim_start_matches([' ', '\t']);
        let comment = comment.trim_end_matches(['\r', '\n']);
        return Some(lead(Cow::Borrowed(comment), 0));
    }
    match text {
        "" => return Some(lead(Cow::Borrowed(text), 0)),
        "}" | "]" | "}," | "]," => return Some(lead(Cow::Borrowed(text), -1)),
        "{" | "[" => return Some(lead(Cow::Borrowed(text), 1)),
        _ => {}
    }
    let name_len = if text.starts_with('"') {
        quoted_len(text)?
    } else {
        name_len(text)
    };
    let (name, rest) = text.split_at(name_len);
    let blanks = [' ', '\t'];
    let Some(value) = rest.trim_start_matches(blanks).strip_prefix('=') else {
        return if is_rest_of_header(rest) {
            Some(lead(Cow::Borrowed(text), 1))
        } else {
            is_plain(without_comma(text)).then(|| lead(Cow::Borrowed(text), 0))
        };
    };
    let value = value.trim_start_matches(blanks);
    if name.is_empty() || !name.is_ascii() {
        return None;
    }
    if value == "{" || value == "[" {
        return Some(lead(Cow::Owned(format!("{name} = {value}")), 1));
    }
    if !is_plain(without_comma(value)) {
        return None;
    }
    let with_sign = text.get(text.len().saturating_sub(value.len() + 2)..);
    Some(LineCells {
        assign: match with_sign.filter(|text| text.starts_with("= ")) {
            Some(assign) => Cow::Borrowed(assign),
            None => Cow::Owned(format!("= {value}")),
        },
        lead_width: name.len(),
        ..lead(Cow::Borrowed(name), 0)
    })
}

fn without_comma(text: &str) -> &str {
    text.strip_suffix(',').unwrap_or(text)
}

/// Recognises labels and the opening brace behind the type of a block.
fn is_rest_of_header(mut rest: &str) -> bool {
    while let Some(label) = rest.strip_prefix(' ').filter(|rest| rest.starts_with('"')) {
        let Some(len) = quoted_len(label) else {
            return false;
        };
        rest = &label[len..];
    }
    rest == " {"
}

/// Recognises a name with attributes, a number, a quoted string, and empty brackets.
fn is_plain(value: &str) -> bool {
    match value.as_bytes() {
        [b'"', ..] => quoted_len(value) == Some(value.len()),
        [b'0'..=b'9', ..] => value.bytes().all(|b| b.is_ascii_digit() || b == b'.'),
        b"{}" | b"[]" => true,
        _ => is_reference(value),
    }
}

fn is_reference(text: &str) -> bool {
    text.split('.')
        .all(|name| !name.is_empty() && name_len(name) == name.len())
}

/// Returns the length of the name at the start, or zero.
fn name_len(text: &str) -> usize {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_inside = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    if !starts {
        return 0;
    }
    text.bytes()
        .position(|b| !is_inside(b))
        .unwrap_or(text.len())
}

/// Returns the length of the quoted string at the start, if all its interpolations are plain names.
fn quoted_len(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    loop {
        match (bytes.get(at)?, bytes.get(at + 1)) {
            (b'"', _) => return Some(at + 1),
            (b'\\', Some(next)) if next.is_ascii() => at += 2,
            (b'$', Some(b'{')) => {
                let inside = &text[at + 2..];
                let len = inside
                    .find('}')
                    .filter(|len| is_reference(&inside[..*len]))?;
                at += 2 + len + 1;
            }
            (b'%', Some(b'{')) => return None,
            // `$${` is text.
            (b'$' | b'%', Some(b'$' | b'%')) => return None,
            _ => at += 1,
        }
    }
}
