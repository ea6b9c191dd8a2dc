//! The grammar of JSON, with every fault under the title that the programs give it.

use std::io::{self, BufRead};
use std::ops::ControlFlow;

use super::build::Build;
use super::tokens::{JsonToken, JsonTokenKind, JsonTokens};
use super::{
    JsonFault, JsonValue, MAX_NESTING, MAX_SKIPPED_NESTING, MAX_VALUES, Members, TOO_DEEP,
    TOO_MANY, ValueKind,
};
use crate::diag::{MAX_PROBLEMS, Span};

/// The tokens that may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    /// A value, behind a colon or at the very start.
    Value,
    /// A value or the end of the array that has just begun.
    First,
    /// A value, behind a comma.
    Next,
    /// A key or the end of the object that has just begun.
    FirstKey,
    /// A key, behind a comma.
    Key,
    Colon,
    /// A comma or the end of what is open.
    Comma,
    End,
}

/// An object or array that is not closed yet.
#[derive(Clone, Copy)]
struct OpenBracket {
    at: usize,
    is_object: bool,
}

/// The walk over one text.
pub(super) struct JsonReader<R> {
    tokens: JsonTokens<R>,
    open: Vec<OpenBracket>,
    state: Expected,
    /// The offset of the last comma.
    comma: usize,
    /// The line and the column of the reader.
    position: (usize, usize),
    tree: Build,
    /// The number of values that were kept.
    values: usize,
    faults: Vec<JsonFault>,
}

impl<R: BufRead> JsonReader<R> {
    pub(super) fn new(input: R, wanted: &'static Members) -> Self {
        Self {
            tokens: JsonTokens::new(input),
            open: Vec::new(),
            state: Expected::Value,
            comma: 0,
            position: (1, 1),
            tree: Build::new(wanted),
            values: 0,
            faults: Vec::new(),
        }
    }

    pub(super) fn run(mut self) -> io::Result<Result<JsonValue, Vec<JsonFault>>> {
        loop {
            let token = self.tokens.next()?;
            self.position = self.tokens.position(token.span.start);
            let flow = match self.state {
                Expected::End => match token.kind {
                    JsonTokenKind::End => ControlFlow::Break(()),
                    _ => self.stop(
                        "Extraneous data after value",
                        token.span,
                        "the file ends before this",
                    ),
                },
                _ if token.kind == JsonTokenKind::End => self.end(token.span),
                Expected::First if token.kind == JsonTokenKind::Sign(b']') => self.close(token),
                // The programs point at the comma, not at the bracket behind it.
                Expected::Next if token.kind == JsonTokenKind::Sign(b']') => {
                    let comma = Span::new(self.comma, self.comma + 1);
                    self.stop("Trailing comma in array", comma, "")
                }
                Expected::Value | Expected::First | Expected::Next => self.value(token),
                Expected::FirstKey if token.kind == JsonTokenKind::Sign(b'}') => self.close(token),
                Expected::Key if token.kind == JsonTokenKind::Sign(b'}') => {
                    let comma = Span::new(self.comma, self.comma + 1);
                    self.stop("Trailing comma in object", comma, "")
                }
                Expected::FirstKey | Expected::Key if token.kind != JsonTokenKind::String => {
                    let remark = "a name needs double quotes";
                    self.stop("Invalid object property name", token.span, remark)
                }
                Expected::FirstKey | Expected::Key => {
                    let name = self.string(token.span);
                    self.tree.name(name, token.span);
                    self.state = Expected::Colon;
                    ControlFlow::Continue(())
                }
                Expected::Colon => match token.kind {
                    JsonTokenKind::Sign(b':') => {
                        self.state = Expected::Value;
                        ControlFlow::Continue(())
                    }
                    JsonTokenKind::Sign(b'}' | b',') => {
                        self.stop("Missing object value", token.span, "")
                    }
                    _ => {
                        let remark = "a colon must separate name and value";
                        self.stop("Missing property value colon", token.span, remark)
                    }
                },
                Expected::Comma => self.comma(token),
            };
            // No more faults are reported of one file than these.
            if flow.is_break() || self.faults.len() > MAX_PROBLEMS {
                break;
            }
        }
        // A tree beside faults would be half of the file: all or nothing.
        let tree = self.tree.finish().filter(|_| self.faults.is_empty());
        Ok(tree.ok_or(self.faults))
    }

    fn value(&mut self, token: JsonToken) -> ControlFlow<()> {
        let JsonToken { kind, span } = token;
        // What is left out of the tree costs no memory.
        self.values += usize::from(!self.tree.skips());
        if self.values > MAX_VALUES {
            return self.stop(TOO_MANY, span, "");
        }
        match kind {
            JsonTokenKind::Sign(sign @ (b'{' | b'[')) => return self.begin(sign, span.start),
            JsonTokenKind::String | JsonTokenKind::Number | JsonTokenKind::Word
                if self.open.is_empty() =>
            {
                let remark = "a file is one object, or an array of objects";
                return self.stop("Root value must be object", span, remark);
            }
            JsonTokenKind::String => {
                let text = self.string(span);
                self.tree.scalar(span, || ValueKind::String(text));
            }
            JsonTokenKind::Number => {
                let text = self.tokens.text();
                if is_number(text) {
                    let kind = || ValueKind::Number(String::from_utf8_lossy(text).into_owned());
                    self.tree.scalar(span, kind);
                } else {
                    self.fault("Invalid JSON number", span, "");
                }
            }
            JsonTokenKind::Word => match self.tokens.text() {
                b"true" => self.tree.scalar(span, || ValueKind::Bool(true)),
                b"false" => self.tree.scalar(span, || ValueKind::Bool(false)),
                b"null" => self.tree.scalar(span, || ValueKind::Null),
                _ => {
                    let remark = "words are true, false and null; anything else needs quotes";
                    self.fault("Invalid JSON keyword", span, remark);
                }
            },
            JsonTokenKind::Sign(b'}') => return self.stop("Missing JSON value", span, ""),
            JsonTokenKind::Sign(b']') => return self.stop("Missing array element value", span, ""),
            JsonTokenKind::Sign(_) | JsonTokenKind::Other | JsonTokenKind::End => {
                return self.no_value(span);
            }
        }
        self.state = Expected::Comma;
        ControlFlow::Continue(())
    }

    fn begin(&mut self, sign: u8, at: usize) -> ControlFlow<()> {
        // What is left out of the tree costs no recursion later, so it may be as deep as the programs
        // allow.
        let levels = if self.tree.skips() {
            MAX_SKIPPED_NESTING
        } else {
            MAX_NESTING
        };
        if self.open.len() >= levels {
            return self.stop(TOO_DEEP, Span::new(at, at + 1), "");
        }
        let is_object = sign == b'{';
        self.open.push(OpenBracket { at, is_object });
        self.tree.begin(is_object, at);
        self.state = if is_object {
            Expected::FirstKey
        } else {
            Expected::First
        };
        ControlFlow::Continue(())
    }

    /// Stops at what begins no value.
    fn no_value(&mut self, at: Span) -> ControlFlow<()> {
        // The title is the same for all of these; the remark names the usual slip. JSON is UTF-8 without a
        // byte-order mark (RFC 8259 section 8.1).
        let marks: [(&[u8], &str); 5] = [
            (
                b"\xEF\xBB\xBF",
                "this is a byte-order mark, which JSON must not have",
            ),
            (b"\xFF\xFE", "this is UTF-16"),
            (b"\xFE\xFF", "this is UTF-16"),
            (b"/", "JSON has no comments; a key \"//\" serves as one"),
            (b"'", "a string needs double quotes"),
        ];
        let mark = marks
            .iter()
            .find(|(mark, _)| self.tokens.text().starts_with(mark));
        self.stop(
            "Invalid start of value",
            at,
            mark.map_or("", |(_, remark)| remark),
        )
    }

    fn comma(&mut self, token: JsonToken) -> ControlFlow<()> {
        let in_object = self.open.last().is_some_and(|open| open.is_object);
        let title = match (token.kind, in_object) {
            (JsonTokenKind::Sign(b','), _) => {
                self.comma = token.span.start;
                self.state = if in_object {
                    Expected::Key
                } else {
                    Expected::Next
                };
                return ControlFlow::Continue(());
            }
            (JsonTokenKind::Sign(b'}'), true) | (JsonTokenKind::Sign(b']'), false) => {
                return self.close(token);
            }
            (JsonTokenKind::Sign(b']'), true) => "Mismatched braces",
            (JsonTokenKind::Sign(b'}'), false) => "Mismatched brackets",
            (JsonTokenKind::Sign(b':'), false) => "Invalid array value",
            // The programs spell it like this.
            _ => "Missing attribute seperator comma",
        };
        self.stop(title, token.span, "")
    }

    fn close(&mut self, token: JsonToken) -> ControlFlow<()> {
        self.open.pop();
        self.tree.end(token.span.end);
        self.state = if self.open.is_empty() {
            Expected::End
        } else {
            Expected::Comma
        };
        ControlFlow::Continue(())
    }

    /// Stops at the end of the text; the programs name the outermost bracket first.
    fn end(&mut self, at: Span) -> ControlFlow<()> {
        let Some(outermost) = self.open.first() else {
            return self.stop("Missing value", at, "the file holds nothing");
        };
        let open = Span::new(outermost.at, outermost.at + 1);
        let is_lone = self.open.len() == 1;
        let (title, at, remark) = match self.state {
            // With a single object open the programs name what is missing, else the outermost bracket.
            Expected::Key | Expected::FirstKey if is_lone => {
                ("Missing value", at, "the file ends here")
            }
            Expected::Colon if is_lone => {
                ("Missing property value colon", at, "the file ends here")
            }
            _ => (
                "Unclosed object",
                open,
                "the file ends before this is closed",
            ),
        };
        self.stop(title, at, remark)
    }

    fn fault(&mut self, title: &'static str, span: Span, remark: &'static str) {
        let (line, column) = self.position;
        self.faults.push(JsonFault {
            title,
            span,
            remark,
            line,
            column,
        });
    }

    fn stop(&mut self, title: &'static str, span: Span, remark: &'static str) -> ControlFlow<()> {
        self.fault(title, span, remark);
        ControlFlow::Break(())
    }

    /// Decodes the string that was read last, from quote to quote; one with a fault says nothing.
    fn string(&mut self, span: Span) -> String {
        let fault = match decode(self.tokens.text()) {
            Ok(text) => return text,
            Err(fault) => fault,
        };
        match fault {
            StringFault::Open => {
                let remark = "a string ends on its line; write \\n and \\t inside";
                self.fault("Invalid JSON string", span, remark);
            }
            StringFault::Escape(at) => {
                let escape = Span::within(self.tokens.text(), at, at + 2).shifted(span.start);
                self.fault("Invalid JSON string", escape, "JSON has no such escape");
            }
        }
        String::new()
    }
}

enum StringFault {
    Open,
    /// An escape that JSON does not have, by its offset.
    Escape(usize),
}

/// Decodes a string in quotes.
fn decode(quoted: &[u8]) -> Result<String, StringFault> {
    let [b'"', inside @ .., b'"'] = quoted else {
        return Err(StringFault::Open);
    };
    let mut text = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(escape) = rest.iter().position(|byte| *byte == b'\\') {
        push_lossy(&mut text, &rest[..escape]);
        rest = &rest[escape..];
        let (decoded, length) = match (rest.get(1), unit(rest, 0)) {
            (Some(c @ (b'"' | b'\\' | b'/')), _) => (char::from(*c), 2),
            (Some(b'b'), _) => ('\u{8}', 2),
            (Some(b'f'), _) => ('\u{c}', 2),
            (Some(b'n'), _) => ('\n', 2),
            (Some(b'r'), _) => ('\r', 2),
            (Some(b't'), _) => ('\t', 2),
            (_, Some(first)) => match (first, unit(rest, 6)) {
                // Two escapes are one character beyond U+FFFF.
                (0xD800..=0xDBFF, Some(second @ 0xDC00..=0xDFFF)) => {
                    let joined = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                    (
                        char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER),
                        12,
                    )
                }
                // Half of a pair is no character.
                _ => (
                    char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER),
                    6,
                ),
            },
            _ => return Err(StringFault::Escape(quoted.len() - 1 - rest.len())),
        };
        text.push(decoded);
        rest = &rest[length..];
    }
    push_lossy(&mut text, rest);
    Ok(text)
}

/// Adds text; as in the programs, each byte that is no UTF-8 becomes a character of its own.
fn push_lossy(text: &mut String, bytes: &[u8]) {
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for _ in chunk.invalid() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

/// Reads an escape of four hexadecimal digits, as `\u00e9`.
fn unit(text: &[u8], at: usize) -> Option<u32> {
    let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let mut value = 0;
    for digit in digits {
        value = value * 16 + char::from(*digit).to_digit(16)?;
    }
    Some(value)
}

fn is_number(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(rest);
    // JSON has neither `.5` nor `01`.
    if whole == 0 || (whole > 1 && rest[0] == b'0') {
        return false;
    }
    let mut rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let count = digits(fraction);
        if count == 0 {
            return false;
        }
        rest = &fraction[count..];
    }
    let [b'e' | b'E', exponent @ ..] = rest else {
        return rest.is_empty();
    };
    let exponent = match exponent {
        [b'+' | b'-', exponent @ ..] => exponent,
        exponent => exponent,
    };
    let zeros = exponent.iter().take_while(|byte| **byte == b'0').count();
    // Far beyond that the programs have no number for it, either; they read leading zeros.
    !exponent.is_empty() && digits(exponent) == exponent.len() && exponent.len() - zeros <= 9
}
