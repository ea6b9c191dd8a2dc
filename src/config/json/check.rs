//! The grammar of JSON, with every fault under the title that the programs give it.
//!
//! The crate that builds the tree tells only the first fault, in words of its own, and lets some
//! things through that the programs refuse: control characters in strings and odd space between
//! tokens. So this walk comes first. It keeps no tree; a row of open brackets is all it remembers.

use crate::diag::Span;

/// How deep objects and arrays may lie in each other.
///
/// The programs take thousands of levels, but no configuration needs more than some twenty.
pub(super) const MAX_NESTING: usize = 128;

/// Stands for a byte that is no UTF-8. No sound string holds it unescaped.
pub(super) const BROKEN: char = '\u{1a}';

/// What is wrong, and where.
#[derive(Debug)]
pub(super) struct Fault {
    pub title: &'static str,
    pub span: Span,
    pub remark: &'static str,
}

/// Checks a text and makes a string of the same length that a strict parser takes.
///
/// As in the programs, a byte that is no UTF-8 and half of a surrogate pair are allowed in strings
/// and mean U+FFFD; the former becomes [`BROKEN`].
///
/// # Errors
/// All faults up to the first that leaves open how the text goes on.
pub(super) fn check(bytes: &[u8]) -> Result<String, Vec<Fault>> {
    let mut walk = Walk {
        bytes,
        at: 0,
        open: Vec::new(),
        state: State::Value,
        comma: 0,
        halves: Vec::new(),
        faults: Vec::new(),
    };
    while let Step::Further = walk.step() {}
    match walk.faults.is_empty() {
        true => Ok(walk.text()),
        false => Err(walk.faults),
    }
}

/// What may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
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
    /// Nothing.
    End,
}

enum Step {
    Further,
    Stop,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// One of `{}[],:`
    Sign(u8),
    String,
    Number,
    Word,
    Other,
    End,
}

#[derive(Clone, Copy)]
struct Token {
    kind: Kind,
    span: Span,
}

struct Walk<'t> {
    bytes: &'t [u8],
    at: usize,
    /// Where each open bracket stands.
    open: Vec<usize>,
    state: State,
    /// Where the last comma stands.
    comma: usize,
    /// Where the escapes of half surrogate pairs stand.
    halves: Vec<usize>,
    faults: Vec<Fault>,
}

impl Walk<'_> {
    fn step(&mut self) -> Step {
        let token = self.token();
        match self.state {
            State::End => match token.kind {
                Kind::End => Step::Stop,
                _ => self.stop(
                    "Extraneous data after value",
                    token.span,
                    "the file ends before this",
                ),
            },
            _ if token.kind == Kind::End => self.end(token.span),
            State::First if token.kind == Kind::Sign(b']') => self.close(),
            State::Next if token.kind == Kind::Sign(b']') => {
                let comma = Span::new(self.comma, self.comma + 1);
                self.stop("Trailing comma in array", comma, "")
            }
            State::Value | State::First | State::Next => self.value(token),
            State::FirstKey if token.kind == Kind::Sign(b'}') => self.close(),
            State::Key if token.kind == Kind::Sign(b'}') => {
                let comma = Span::new(self.comma, self.comma + 1);
                self.stop("Trailing comma in object", comma, "")
            }
            State::FirstKey | State::Key => self.key(token),
            State::Colon => self.colon(token),
            State::Comma => self.comma(token),
        }
    }

    fn value(&mut self, token: Token) -> Step {
        match token.kind {
            Kind::Sign(sign @ (b'{' | b'[')) => {
                if self.open.len() == MAX_NESTING {
                    return self.stop(super::TOO_DEEP, token.span, "");
                }
                self.open.push(token.span.start);
                self.state = match sign {
                    b'{' => State::FirstKey,
                    _ => State::First,
                };
                return Step::Further;
            }
            _ if self.open.is_empty()
                && matches!(token.kind, Kind::String | Kind::Number | Kind::Word) =>
            {
                let remark = "a file is one object, or an array of objects";
                return self.stop("Root value must be object", token.span, remark);
            }
            Kind::String => self.string(token.span),
            Kind::Number => {
                if !is_number(&self.bytes[token.span.start..token.span.end]) {
                    self.fault("Invalid JSON number", token.span, "");
                }
            }
            Kind::Word => {
                let word = &self.bytes[token.span.start..token.span.end];
                if ![&b"true"[..], b"false", b"null"].contains(&word) {
                    let remark = "words are true, false and null; anything else needs quotes";
                    self.fault("Invalid JSON keyword", token.span, remark);
                }
            }
            Kind::Sign(b'}') => return self.stop("Missing JSON value", token.span, ""),
            Kind::Sign(b']') => return self.stop("Missing array element value", token.span, ""),
            Kind::Sign(_) | Kind::Other | Kind::End => return self.no_value(token.span),
        }
        self.state = State::Comma;
        Step::Further
    }

    /// Stops at what begins no value.
    fn no_value(&mut self, at: Span) -> Step {
        let rest = &self.bytes[at.start..];
        let marks: [(&[u8], &str); 5] = [
            (
                b"\xEF\xBB\xBF",
                "this is a byte-order mark, which JSON must not have",
            ),
            (b"\xFF\xFE", "this is UTF-16"),
            (b"\xFE\xFF", "this is UTF-16"),
            (b"/", "JSON has no comments; a key \"//\" serves as one"),
            (b"'", "strings stand in double quotes"),
        ];
        let mark = marks.iter().find(|(mark, _)| rest.starts_with(mark));
        self.stop(
            "Invalid start of value",
            at,
            mark.map_or("", |(_, remark)| remark),
        )
    }

    fn key(&mut self, token: Token) -> Step {
        if token.kind != Kind::String {
            let remark = "a name stands in double quotes";
            return self.stop("Invalid object property name", token.span, remark);
        }
        self.string(token.span);
        self.state = State::Colon;
        Step::Further
    }

    fn colon(&mut self, token: Token) -> Step {
        match token.kind {
            Kind::Sign(b':') => {
                self.state = State::Value;
                Step::Further
            }
            Kind::Sign(b'}' | b',') => self.stop("Missing object value", token.span, ""),
            _ => {
                let remark = "a colon stands between name and value";
                self.stop("Missing property value colon", token.span, remark)
            }
        }
    }

    fn comma(&mut self, token: Token) -> Step {
        let in_object = self.open.last().is_some_and(|at| self.bytes[*at] == b'{');
        let title = match (token.kind, in_object) {
            (Kind::Sign(b','), _) => {
                self.comma = token.span.start;
                self.state = match in_object {
                    true => State::Key,
                    false => State::Next,
                };
                return Step::Further;
            }
            (Kind::Sign(b'}'), true) | (Kind::Sign(b']'), false) => return self.close(),
            (Kind::Sign(b']'), true) => "Mismatched braces",
            (Kind::Sign(b'}'), false) => "Mismatched brackets",
            (Kind::Sign(b':'), false) => "Invalid array value",
            // The programs spell it like this.
            _ => "Missing attribute seperator comma",
        };
        self.stop(title, token.span, "")
    }

    fn close(&mut self) -> Step {
        self.open.pop();
        self.state = match self.open.is_empty() {
            true => State::End,
            false => State::Comma,
        };
        Step::Further
    }

    /// Stops at the end of the text; the programs name the outermost bracket first.
    fn end(&mut self, at: Span) -> Step {
        let lone = self.open.len() == 1;
        let Some(open) = self.open.first() else {
            return self.stop("Missing value", at, "the file holds nothing");
        };
        let open = Span::new(*open, *open + 1);
        match self.state {
            State::Key | State::FirstKey if lone => {
                self.stop("Missing value", at, "the file ends here")
            }
            State::Colon if lone => {
                self.stop("Missing property value colon", at, "the file ends here")
            }
            _ => self.stop(
                "Unclosed object",
                open,
                "the file ends before this is closed",
            ),
        }
    }

    fn fault(&mut self, title: &'static str, span: Span, remark: &'static str) {
        self.faults.push(Fault {
            title,
            span,
            remark,
        });
    }

    fn stop(&mut self, title: &'static str, span: Span, remark: &'static str) -> Step {
        self.fault(title, span, remark);
        Step::Stop
    }

    /// Checks a string, from quote to quote.
    fn string(&mut self, span: Span) {
        let [b'"', inside @ .., b'"'] = &self.bytes[span.start..span.end] else {
            let remark = "a string ends on its line; write \\n and \\t inside";
            return self.fault("Invalid JSON string", span, remark);
        };
        let mut at = 0;
        while at < inside.len() {
            if inside[at] != b'\\' {
                at += 1;
                continue;
            }
            let here = span.start + 1 + at;
            let length = match inside.get(at + 1) {
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
                Some(b'u') => match (unit(inside, at), unit(inside, at + 6)) {
                    (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
                    (Some(0xD800..=0xDFFF), _) => {
                        self.halves.push(here);
                        6
                    }
                    (Some(_), _) => 6,
                    (None, _) => 0,
                },
                _ => 0,
            };
            if length == 0 {
                let escape = Span::new(here, (here + 2).min(span.end));
                return self.fault("Invalid JSON string", escape, "JSON has no such escape");
            }
            at += length;
        }
    }

    fn token(&mut self) -> Token {
        let rest = &self.bytes[self.at..];
        let space = rest.iter().take_while(|byte| b" \t\r\n".contains(byte));
        let start = self.at + space.count();
        let rest = &self.bytes[start..];
        let run = |fits: fn(&u8) -> bool| rest.iter().take_while(|byte| fits(byte)).count();
        let (kind, length) = match rest.first() {
            None => (Kind::End, 0),
            Some(sign @ (b'{' | b'}' | b'[' | b']' | b',' | b':')) => (Kind::Sign(*sign), 1),
            Some(b'"') => (Kind::String, string_length(rest)),
            Some(b'0'..=b'9' | b'+' | b'-' | b'.') => {
                let fits = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
                (Kind::Number, run(fits))
            }
            Some(byte) if byte.is_ascii_alphabetic() => {
                (Kind::Word, run(|byte| byte.is_ascii_alphabetic()))
            }
            Some(_) => (Kind::Other, 1),
        };
        self.at = start + length;
        Token {
            kind,
            span: Span::new(start, self.at),
        }
    }

    fn text(&self) -> String {
        let mut text = String::with_capacity(self.bytes.len());
        for chunk in self.bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            text.extend(chunk.invalid().iter().map(|_| BROKEN));
        }
        if self.halves.is_empty() {
            return text;
        }
        let mut bytes = text.into_bytes();
        for at in &self.halves {
            bytes[*at..*at + 6].copy_from_slice(b"\\ufffd");
        }
        // Each escape was ASCII before.
        String::from_utf8(bytes).unwrap_or_default()
    }
}

/// Measures a string with its quotes; one without an end stops before a control character.
fn string_length(text: &[u8]) -> usize {
    let mut escaped = false;
    for (at, byte) in text.iter().enumerate().skip(1) {
        match byte {
            0..=31 => return at,
            b'"' if !escaped => return at + 1,
            _ => escaped = *byte == b'\\' && !escaped,
        }
    }
    text.len()
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
    // Beyond that the programs have no number for it, either.
    (1..=9).contains(&exponent.len()) && digits(exponent) == exponent.len()
}
