//! Values as text for people, in one line.

use std::fmt::{self, Write as _};

use super::value::Value;

/// The text of a sensitive value.
const SENSITIVE: &str = "(sensitive value)";
/// The text of an ephemeral value.
const EPHEMERAL: &str = "(ephemeral value)";
/// The text of an unknown value, as in a plan.
const UNKNOWN: &str = "(known after apply)";

/// Writes a value in one line of at most so many characters; `…` replaces the rest.
///
/// ```
/// use lockctl_core::expr::{Value, in_one_line};
///
/// let list = Value::Tuple(vec![Value::string("eu"), Value::string("us"), Value::Null]);
/// assert_eq!(in_one_line(&list, 60), r#"["eu", "us", null]"#);
/// assert_eq!(in_one_line(&list, 9), r#"["eu", "u…"#);
/// ```
#[must_use]
pub fn in_one_line(value: &Value, max_chars: usize) -> String {
    let mut line = ShortLine {
        text: String::new(),
        chars_left: max_chars,
    };
    // An error says that the line is full.
    let _ = line.value(value);
    line.text
}

/// A line that ends at a limit, however large the value is.
struct ShortLine {
    text: String,
    chars_left: usize,
}

impl ShortLine {
    fn push(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            let Some(left) = self.chars_left.checked_sub(1) else {
                self.text.push('…');
                return Err(fmt::Error);
            };
            self.text.push(c);
            self.chars_left = left;
        }
        Ok(())
    }

    fn value(&mut self, value: &Value) -> fmt::Result {
        match value {
            Value::Null => self.push("null"),
            Value::Unknown => self.push(UNKNOWN),
            // Not even the type of a secret is shown.
            Value::Marked(marks, _) if marks.ephemeral => self.push(EPHEMERAL),
            Value::Marked(..) => self.push(SENSITIVE),
            Value::Bool(value) => self.push(if *value { "true" } else { "false" }),
            Value::Number(number) => self.push(&number.to_string()),
            Value::String(text) => self.string(text),
            Value::Tuple(items) => {
                self.push("[")?;
                for (at, item) in items.iter().enumerate() {
                    self.push(if at == 0 { "" } else { ", " })?;
                    self.value(item)?;
                }
                self.push("]")
            }
            // Braces have spaces inside only if there are attributes.
            Value::Object(items) if items.is_empty() => self.push("{}"),
            Value::Object(items) => {
                for (at, (name, item)) in items.iter().enumerate() {
                    self.push(if at == 0 { "{ " } else { ", " })?;
                    self.string(name)?;
                    self.push(" = ")?;
                    self.value(item)?;
                }
                self.push(" }")
            }
        }
    }

    fn string(&mut self, text: &str) -> fmt::Result {
        // Each character takes at least one; the rest of a long text need not be escaped.
        let end = text.char_indices().nth(self.chars_left);
        let shown = end.map_or(text, |(end, _)| &text[..end]);
        let mut quoted = String::with_capacity(shown.len() + 2);
        quoted.push('"');
        for c in shown.chars() {
            match c {
                '"' | '\\' => quoted.extend(['\\', c]),
                '\n' => quoted.push_str("\\n"),
                '\r' => quoted.push_str("\\r"),
                '\t' => quoted.push_str("\\t"),
                c => {
                    // Visible is no control character, no space but the plain one, and no mark without width that
                    // reverses or joins the text around it.
                    let has_no_width = matches!(
                        c,
                        '\u{61c}'
                            | '\u{200b}'..='\u{200f}'
                            | '\u{2028}'..='\u{202e}'
                            | '\u{2060}'..='\u{206f}'
                            | '\u{feff}'
                    );
                    let is_visible =
                        c == ' ' || !(c.is_control() || c.is_whitespace() || has_no_width);
                    if is_visible {
                        quoted.push(c);
                    } else {
                        // It could make one address look like another.
                        write!(quoted, "\\u{:04x}", u32::from(c))?;
                    }
                }
            }
        }
        quoted.push('"');
        self.push(&quoted)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::expr::value::Marks;

    const SECRET: Marks = Marks {
        sensitive: true,
        ephemeral: false,
    };

    #[test]
    fn nothing_of_a_secret_is_shown() {
        let secret = Value::string("hush").marked(SECRET);
        let inside = Value::Object(BTreeMap::from([
            ("a".to_owned(), secret.clone()),
            ("b".to_owned(), Value::Tuple(vec![secret.clone()])),
        ]));
        for value in [secret, inside] {
            let line = in_one_line(&value, 60);
            assert!(line.contains(SENSITIVE) && !line.contains("hush"), "{line}");
        }
    }

    #[test]
    fn a_line_ends_at_its_limit() {
        let large = Value::Tuple(vec![Value::string("é".repeat(100_000)); 1000]);
        let line = in_one_line(&large, 20);
        assert_eq!(line.chars().count(), 21);
        assert!(line.ends_with('…'));
        // What fits exactly is whole.
        assert_eq!(in_one_line(&Value::string("abc"), 5), "\"abc\"");
        assert_eq!(in_one_line(&Value::string("abcd"), 5), "\"abcd…");
    }

    #[test]
    fn text_cannot_steer_a_terminal() {
        let text = Value::string("a\u{1b}[31m\u{202e}\r\tb\"\\\u{a0}é");
        let wanted = r#""a\u001b[31m\u202e\r\tb\"\\\u00a0é""#;
        assert_eq!(in_one_line(&text, 60), wanted);
    }
}
