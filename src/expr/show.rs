//! Values as text for people: in one line, or as `terraform console` prints them.

use std::fmt::Write as _;

use super::typed::Typed;
use super::types::{AttributeType, Type};
use super::value::{Marks, Value};

/// The text of a sensitive value.
const SENSITIVE: &str = "(sensitive value)";
/// The text of an ephemeral value.
const EPHEMERAL: &str = "(ephemeral value)";
/// The text of an unknown value, as in a plan.
const UNKNOWN: &str = "(known after apply)";

/// Returns the text of a marked value, which must not be shown.
fn hidden(marks: Marks) -> &'static str {
    if marks.ephemeral {
        EPHEMERAL
    } else {
        SENSITIVE
    }
}

/// Writes a value in one line of at most so many characters; `…` stands for a rest.
///
/// ```
/// use lockctl::expr::{Value, in_one_line};
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
        is_cut: false,
    };
    line.value(value);
    line.text
}

/// A line that ends at a limit, however large the value is.
struct ShortLine {
    text: String,
    chars_left: usize,
    is_cut: bool,
}

impl ShortLine {
    fn push(&mut self, text: &str) {
        for c in text.chars() {
            if self.is_cut {
                return;
            }
            match self.chars_left.checked_sub(1) {
                Some(left) => {
                    self.text.push(c);
                    self.chars_left = left;
                }
                None => {
                    self.text.push('…');
                    self.is_cut = true;
                }
            }
        }
    }

    fn value(&mut self, value: &Value) {
        if self.is_cut {
            return;
        }
        match value {
            Value::Null => self.push("null"),
            Value::Unknown => self.push(UNKNOWN),
            // Not even the type of a secret is shown.
            Value::Marked(marks, _) => self.push(hidden(*marks)),
            Value::Bool(value) => self.push(if *value { "true" } else { "false" }),
            Value::Number(number) => self.push(&number.to_string()),
            Value::String(text) => self.string(text),
            Value::Tuple(items) => {
                self.push("[");
                for (at, item) in items.iter().enumerate() {
                    self.push(if at == 0 { "" } else { ", " });
                    self.value(item);
                    if self.is_cut {
                        return;
                    }
                }
                self.push("]");
            }
            // Spaces stand inside of the braces only if there are attributes.
            Value::Object(items) if items.is_empty() => self.push("{}"),
            Value::Object(items) => {
                for (at, (name, item)) in items.iter().enumerate() {
                    self.push(if at == 0 { "{ " } else { ", " });
                    self.string(name);
                    self.push(" = ");
                    self.value(item);
                    if self.is_cut {
                        return;
                    }
                }
                self.push(" }");
            }
        }
    }

    fn string(&mut self, text: &str) {
        // Each character takes at least one; the rest of a long text need not be escaped.
        let end = text.char_indices().nth(self.chars_left);
        let shown = end.map_or(text, |(end, _)| &text[..end]);
        self.push(&quoted(shown));
    }
}

/// Writes a value as `terraform console` prints it: lists and objects over several lines, secrets and unknown values
/// in words.
///
/// ```
/// use lockctl::expr::{Type, Typed, Value, as_console};
///
/// let list = Typed::list(Type::String, vec![Value::string("eu")]);
/// assert_eq!(as_console(&list), "tolist([\n  \"eu\",\n])");
/// ```
#[must_use]
pub fn as_console(value: &Typed) -> String {
    let mut out = String::new();
    console(&value.value, &value.ty, 0, &mut out);
    out
}

fn console(value: &Value, ty: &Type, indent: usize, out: &mut String) {
    match (value, ty) {
        (Value::Marked(marks, _), _) => out.push_str(hidden(*marks)),
        (Value::Unknown, _) => out.push_str(UNKNOWN),
        (Value::Null, ty) => null(ty, out),
        (Value::Bool(value), _) => out.push_str(if *value { "true" } else { "false" }),
        (Value::Number(number), _) => out.push_str(&number.to_string()),
        (Value::String(text), _) if text.contains('\n') => heredoc(text, indent, out),
        (Value::String(text), _) => out.push_str(&quoted(text)),
        (Value::Tuple(items), ty) => {
            let (opening, closing) = match ty {
                Type::List(_) => ("tolist([", "])"),
                Type::Set(_) => ("toset([", "])"),
                _ => ("[", "]"),
            };
            out.push_str(opening);
            for (at, item) in items.iter().enumerate() {
                line(indent + 1, out);
                console(item, element_type(ty, at), indent + 1, out);
                out.push(',');
            }
            close(closing, items.is_empty(), indent, out);
        }
        (Value::Object(items), ty) => {
            let (opening, closing) = match ty {
                Type::Map(_) => ("tomap({", "})"),
                _ => ("{", "}"),
            };
            out.push_str(opening);
            for (name, item) in items {
                line(indent + 1, out);
                out.push_str(&quoted(name));
                out.push_str(" = ");
                console(item, attribute_type(ty, name), indent + 1, out);
            }
            close(closing, items.is_empty(), indent, out);
        }
    }
}

fn line(indent: usize, out: &mut String) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", indent));
}

fn close(closing: &str, is_empty: bool, indent: usize, out: &mut String) {
    if !is_empty {
        line(indent, out);
    }
    out.push_str(closing);
}

fn element_type(ty: &Type, at: usize) -> &Type {
    match ty {
        Type::List(item) | Type::Set(item) => item,
        Type::Tuple(items) => items.get(at).unwrap_or(&Type::Any),
        _ => &Type::Any,
    }
}

fn attribute_type<'t>(ty: &'t Type, name: &str) -> &'t Type {
    match ty {
        Type::Map(item) => item,
        Type::Object(items) => items
            .get(name)
            .map_or(&Type::Any, |item: &AttributeType| &item.ty),
        _ => &Type::Any,
    }
}

/// Writes null with its type, as far as it has one.
fn null(ty: &Type, out: &mut String) {
    match ty {
        Type::Any => out.push_str("null"),
        Type::Bool | Type::Number | Type::String => {
            // Writing to a string cannot fail.
            let _ = write!(out, "to{ty}(null)");
        }
        ty => {
            let _ = write!(out, "null /* {} */", in_words(ty));
        }
    }
}

/// Returns the name of a type as the programs write it in sentences.
fn in_words(ty: &Type) -> String {
    match ty {
        Type::Any => "any type".to_owned(),
        Type::Bool | Type::Number | Type::String => ty.to_string(),
        Type::List(item) => format!("list of {}", in_words(item)),
        Type::Set(item) => format!("set of {}", in_words(item)),
        Type::Map(item) => format!("map of {}", in_words(item)),
        Type::Tuple(_) => "tuple".to_owned(),
        Type::Object(_) => "object".to_owned(),
    }
}

/// Writes text of several lines; the lines are indented inside of another value.
fn heredoc(text: &str, indent: usize, out: &mut String) {
    out.push_str(if indent == 0 { "<<EOT" } else { "<<-EOT" });
    for part in text.split('\n').chain(["EOT"]) {
        line(indent, out);
        out.push_str(part);
    }
}

/// Writes text in quotes; characters that cannot be seen are escaped.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            // An invisible character could make one address look like another.
            c if is_visible(c) => out.push(c),
            // Writing to a string cannot fail.
            c if u32::from(c) < 0x80 => drop(write!(out, "\\x{:02x}", u32::from(c))),
            c => drop(write!(out, "\\u{:04x}", u32::from(c))),
        }
    }
    out.push('"');
    out
}

/// Returns true for visible characters: no control character, no space but the plain one, and no mark without width
/// that reverses or joins the text around it.
fn is_visible(c: char) -> bool {
    let has_no_width = matches!(
        c,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    );
    c == ' ' || !(c.is_control() || c.is_whitespace() || has_no_width)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

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
            let console = as_console(&Typed::of(value));
            assert!(line.contains(SENSITIVE) && !line.contains("hush"), "{line}");
            assert!(
                console.contains(SENSITIVE) && !console.contains("hush"),
                "{console}"
            );
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
        let wanted = r#""a\x1b[31m\u202e\r\tb\"\\\u00a0é""#;
        assert_eq!(in_one_line(&text, 60), wanted);
        assert_eq!(as_console(&Typed::of(text)), wanted);
    }
}
