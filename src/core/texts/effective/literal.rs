//! Computed values as native syntax.

use crate::expr::Value;
use crate::hcl;

/// Writes a known value as an expression in one line, objects and tuples included.
///
/// Marks are left out: what is secret must be kept from here by the caller. An unknown value has no text.
///
/// ```
/// use lockctl_core::effective::literal;
/// use lockctl_core::expr::Value;
///
/// let list = Value::Tuple(vec![Value::string("${a}"), Value::Null]);
/// assert_eq!(literal(&list).as_deref(), Some(r#"["$${a}", null]"#));
/// ```
#[must_use]
pub fn literal(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => "null".to_owned(),
        Value::Unknown => return None,
        Value::Marked(_, value) => literal(value)?,
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Tuple(items) => {
            let texts = items.iter().map(literal).collect::<Option<Vec<_>>>()?;
            format!("[{}]", texts.join(", "))
        }
        Value::Object(items) if items.is_empty() => "{}".to_owned(),
        Value::Object(items) => {
            let items: Option<Vec<String>> = items
                .iter()
                .map(|(name, value)| Some(format!("{} = {}", key(name), literal(value)?)))
                .collect();
            format!("{{ {} }}", items?.join(", "))
        }
    })
}

/// Writes literal text as a quoted string: nothing in it is a template.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    push_quoted(&mut quoted, text);
    quoted
}

/// Adds literal text as a quoted string.
pub(super) fn push_quoted(quoted: &mut String, text: &str) {
    let is_special = |c: char| c.is_control() || ['"', '\\', '$', '%'].contains(&c);
    let (plain, mut rest) = text.split_at(text.find(is_special).unwrap_or(text.len()));
    quoted.push('"');
    quoted.push_str(plain);
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("${") || rest.starts_with("%{") {
            quoted.push(c);
        }
        push_escaped(quoted, c);
        rest = &rest[c.len_utf8()..];
    }
    quoted.push('"');
}

/// Adds a character of a quoted string.
pub(super) fn push_escaped(quoted: &mut String, c: char) {
    match c {
        '"' => quoted.push_str("\\\""),
        '\\' => quoted.push_str("\\\\"),
        '\n' => quoted.push_str("\\n"),
        '\r' => quoted.push_str("\\r"),
        '\t' => quoted.push_str("\\t"),
        c if c.is_control() => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
        c => quoted.push(c),
    }
}

/// Writes the key of an object: a word as it is, anything else in quotes.
pub(super) fn key(name: &str) -> String {
    // In quotes these are no keywords.
    let is_keyword = ["for", "null", "true", "false"].contains(&name);
    if hcl::references::is_identifier(name) && !is_keyword {
        name.to_owned()
    } else {
        quoted(name)
    }
}
