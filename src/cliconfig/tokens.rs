//! HCL 1 text to tokens. Its rules on words, strings and heredocs are not those of HCL 2.

use crate::diag::Span;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Letters, digits, `_`, `-` and `.`
    Word,
    Number,
    Quoted,
    Heredoc,
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    Equal,
    Comma,
    /// Nothing that HCL 1 has, with the reason.
    Fault(&'static str),
}

/// A piece of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Token {
    pub(super) fn span(&self) -> Span {
        Span::new(self.start, self.end)
    }

    /// Returns what a word, a quoted string or a heredoc means.
    pub(super) fn text(&self, text: &str) -> String {
        let raw = &text[self.start..self.end];
        match self.kind {
            Kind::Quoted => decode(&raw[1..raw.len() - 1]).unwrap_or_default(),
            Kind::Heredoc => {
                let content = raw.split_once('\n').map_or("", |(_, content)| content);
                let end = content.trim_end_matches('\n').rfind('\n');
                content[..end.map_or(0, |at| at + 1)].to_owned()
            }
            _ => raw.to_owned(),
        }
    }
}

/// The tokens of a text, in order; nothing comes behind a fault. Comments are left out.
pub(super) struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    fn token(&mut self, kind: Kind, len: usize) -> Token {
        let start = self.at;
        self.at = match kind {
            Kind::Fault(_) => self.text.len(),
            _ => start + len,
        };
        Token {
            kind,
            start,
            end: start + len,
        }
    }

    /// Skips blanks and comments; an unclosed comment is a fault.
    fn skip(&mut self) -> Result<(), &'static str> {
        loop {
            let rest = &self.text[self.at..];
            let len = match rest.as_bytes() {
                [b' ' | b'\t' | b'\r' | b'\n', ..] => 1,
                [b'#', ..] | [b'/', b'/', ..] => rest.find('\n').unwrap_or(rest.len()),
                [b'/', b'*', ..] => 4 + rest[2..].find("*/").ok_or("this comment is not closed")?,
                _ => return Ok(()),
            };
            self.at += len;
        }
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        if let Err(reason) = self.skip() {
            return Some(self.token(Kind::Fault(reason), 2));
        }
        let rest = &self.text[self.at..];
        let first = rest.chars().next()?;
        let (kind, len) = match first {
            '{' => (Kind::OpenBrace, 1),
            '}' => (Kind::CloseBrace, 1),
            '[' => (Kind::OpenBracket, 1),
            ']' => (Kind::CloseBracket, 1),
            '=' => (Kind::Equal, 1),
            ',' => (Kind::Comma, 1),
            '"' => quoted(rest),
            '<' => heredoc(rest),
            '-' | '0'..='9' => number(rest),
            c if c.is_alphabetic() || c == '_' => (Kind::Word, word_len(rest)),
            c => (
                Kind::Fault("this character has no meaning here"),
                c.len_utf8(),
            ),
        };
        Some(self.token(kind, len))
    }
}

fn word_len(text: &str) -> usize {
    let ends = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    text.find(ends).unwrap_or(text.len())
}

fn number(text: &str) -> (Kind, usize) {
    let ends = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.'));
    let len = text.find(ends).unwrap_or(text.len());
    let digits = text[..len].strip_prefix('-').unwrap_or(&text[..len]);
    let hex = digits.strip_prefix("0x").or(digits.strip_prefix("0X"));
    let is_number = match hex {
        Some(hex) => !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => digits.starts_with(|c: char| c.is_ascii_digit()) && digits.parse::<f64>().is_ok(),
    };
    if is_number {
        (Kind::Number, len)
    } else {
        (Kind::Fault("this is no number"), len)
    }
}

/// Measures a quoted string. Inside `${ … }` quotes and line ends mean nothing.
fn quoted(text: &str) -> (Kind, usize) {
    let mut depth = 0_usize;
    let mut bytes = text.bytes().enumerate().skip(1).peekable();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' if depth == 0 => {
                return match decode(&text[1..at]) {
                    Some(_) => (Kind::Quoted, at + 1),
                    None => (
                        Kind::Fault("an escape in this string means nothing"),
                        at + 1,
                    ),
                };
            }
            b'\n' if depth == 0 => break,
            b'\\' => {
                bytes.next();
            }
            b'$' if depth == 0 && bytes.peek().is_some_and(|(_, next)| *next == b'{') => {
                bytes.next();
                depth = 1;
            }
            b'{' if depth > 0 => depth += 1,
            b'}' if depth > 0 => depth -= 1,
            _ => {}
        }
    }
    (Kind::Fault("this string is not closed"), 1)
}

/// Measures a heredoc, up to the end of its marker.
fn heredoc(text: &str) -> (Kind, usize) {
    let fault = (
        Kind::Fault("this heredoc never ends: its marker must be alone on a line"),
        1,
    );
    let Some((head, body)) = text.split_once('\n') else {
        return fault;
    };
    let Some(marker) = head.strip_prefix("<<") else {
        return fault;
    };
    let marker = marker.strip_prefix('-').unwrap_or(marker).trim_end();
    if marker.is_empty() || !marker.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return fault;
    }
    let mut at = head.len() + 1;
    for line in body.split_inclusive('\n') {
        // The line of the marker must end, too.
        if line.trim() == marker && line.ends_with('\n') {
            return (Kind::Heredoc, at + line.trim_end().len());
        }
        at += line.len();
    }
    fault
}

/// Decodes the inside of a quoted string; inside `${ … }` it stays as it is.
fn decode(raw: &str) -> Option<String> {
    let mut decoded = Vec::with_capacity(raw.len());
    let mut depth = 0_usize;
    let mut rest = raw;
    while let Some(c) = rest.chars().next() {
        if depth == 0 && c == '\\' {
            let (bytes, len) = escape(rest)?;
            decoded.extend_from_slice(bytes.as_bytes());
            rest = &rest[len..];
            continue;
        }
        depth = match c {
            '$' if depth == 0 && rest.starts_with("${") => {
                decoded.push(b'$');
                rest = &rest[1..];
                1
            }
            '{' if depth > 0 => depth + 1,
            '}' if depth > 0 => depth - 1,
            _ => depth,
        };
        let len = rest.chars().next().map_or(0, char::len_utf8);
        decoded.extend_from_slice(&rest.as_bytes()[..len]);
        rest = &rest[len..];
    }
    String::from_utf8(decoded).ok()
}

/// Reads the escape at the start of a text: what it means, and its length.
fn escape(text: &str) -> Option<(String, usize)> {
    let number = |start: usize, digits: usize, radix: u32| {
        let digits = text.get(start..start + digits)?;
        let all = digits.chars().all(|c| c.is_digit(radix));
        let code = u32::from_str_radix(digits, radix).ok().filter(|_| all)?;
        Some((char::from_u32(code)?.to_string(), start + digits.len()))
    };
    let plain = |c: char| Some((c.to_string(), 2));
    match *text.as_bytes().get(1)? {
        b'a' => plain('\u{7}'),
        b'b' => plain('\u{8}'),
        b'f' => plain('\u{c}'),
        b'n' => plain('\n'),
        b'r' => plain('\r'),
        b't' => plain('\t'),
        b'v' => plain('\u{b}'),
        byte @ (b'\\' | b'"') => plain(byte.into()),
        b'x' => number(2, 2, 16),
        b'u' => number(2, 4, 16),
        b'U' => number(2, 8, 16),
        b'0'..=b'7' => number(1, 3, 8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, kinds: &[Kind]) {
        let found: Vec<Kind> = Tokens::new(text).map(|token| token.kind).collect();
        assert_eq!(found, kinds, "{text:?}");
    }

    #[test]
    fn words_strings_and_heredocs_are_those_of_hcl_1() {
        check("a.b-c # x", &[Kind::Word]);
        check("a /* \n */ b", &[Kind::Word, Kind::Word]);
        check(
            "\u{feff}a",
            &[Kind::Fault("this character has no meaning here")],
        );
        check("1a", &[Kind::Fault("this is no number")]);
        check("\"a ${ \"b\" } c\"", &[Kind::Quoted]);
        check("<<E\nx\n E\n", &[Kind::Heredoc]);
        check("-1 0x1F 1.5e+3", &[Kind::Number; 3]);
        let closed = Kind::Fault("this string is not closed");
        check("\"a\n\"", &[closed]);
        check("\"a\\\"", &[closed]);
    }

    #[test]
    fn text_is_decoded() {
        let text = |raw: &str| Tokens::new(raw).next().map(|token| token.text(raw));
        assert_eq!(
            text(r#""a\"\\\n\u00e9\x41\101""#).as_deref(),
            Some("a\"\\\néAA")
        );
        assert_eq!(text(r#""${a "\"b"}é""#).as_deref(), Some(r#"${a "\"b"}é"#));
        assert_eq!(text("<<-E\n a\n\n b\n  E\n").as_deref(), Some(" a\n\n b\n"));
        assert_eq!(text("<<E\nE\n").as_deref(), Some(""));
    }
}
