//! HCL 1 text to tokens. Its rules on words, strings and heredocs are not those of HCL 2.

use crate::diag::Span;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
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
pub(super) struct ConfigToken {
    pub(super) kind: TokenKind,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl ConfigToken {
    pub(super) fn span(&self) -> Span {
        Span::new(self.start, self.end)
    }

    /// Returns what a word, a quoted string or a heredoc means.
    pub(super) fn text(&self, text: &str) -> String {
        let raw = &text[self.start..self.end];
        match self.kind {
            TokenKind::Quoted => decode(&raw[1..raw.len() - 1]).unwrap_or_default(),
            TokenKind::Heredoc => {
                let content = raw.split_once('\n').map_or("", |(_, content)| content);
                let end = content.trim_end_matches('\n').rfind('\n');
                content[..end.map_or(0, |at| at + 1)].to_owned()
            }
            _ => raw.to_owned(),
        }
    }
}

/// The tokens of a text, in order; nothing comes behind a fault. Comments are left out.
pub(super) struct TokenScanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> TokenScanner<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    fn token(&mut self, kind: TokenKind, len: usize) -> ConfigToken {
        let start = self.at;
        self.at = match kind {
            // Behind a fault nothing can be distinguished; a piece of a secret must not look like a name.
            TokenKind::Fault(_) => self.text.len(),
            _ => start + len,
        };
        ConfigToken {
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

impl Iterator for TokenScanner<'_> {
    type Item = ConfigToken;

    fn next(&mut self) -> Option<ConfigToken> {
        if let Err(reason) = self.skip() {
            return Some(self.token(TokenKind::Fault(reason), 2));
        }
        let rest = &self.text[self.at..];
        let first = rest.chars().next()?;
        let (kind, len) = match first {
            '{' => (TokenKind::OpenBrace, 1),
            '}' => (TokenKind::CloseBrace, 1),
            '[' => (TokenKind::OpenBracket, 1),
            ']' => (TokenKind::CloseBracket, 1),
            '=' => (TokenKind::Equal, 1),
            ',' => (TokenKind::Comma, 1),
            '"' => quoted(rest),
            '<' => heredoc(rest),
            '-' | '0'..='9' => number(rest),
            c if c.is_alphabetic() || c == '_' => {
                let ends = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
                (TokenKind::Word, rest.find(ends).unwrap_or(rest.len()))
            }
            // One character at a time, so that the place that is reported is exact.
            c => (
                TokenKind::Fault("this character has no meaning here"),
                c.len_utf8(),
            ),
        };
        Some(self.token(kind, len))
    }
}

fn number(text: &str) -> (TokenKind, usize) {
    let ends = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.'));
    let len = text.find(ends).unwrap_or(text.len());
    let digits = text[..len].strip_prefix('-').unwrap_or(&text[..len]);
    let hex = digits.strip_prefix("0x").or(digits.strip_prefix("0X"));
    let is_number = match hex {
        Some(hex) => !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => digits.starts_with(|c: char| c.is_ascii_digit()) && digits.parse::<f64>().is_ok(),
    };
    if is_number {
        (TokenKind::Number, len)
    } else {
        (TokenKind::Fault("this is no number"), len)
    }
}

/// Measures a quoted string.
fn quoted(text: &str) -> (TokenKind, usize) {
    let mut depth = 0_usize;
    let mut bytes = text.bytes().enumerate().skip(1).peekable();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            // Inside `${ … }` quotes and line ends mean nothing.
            b'"' if depth == 0 => {
                return match decode(&text[1..at]) {
                    Some(_) => (TokenKind::Quoted, at + 1),
                    None => (
                        TokenKind::Fault("an escape in this string means nothing"),
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
    (TokenKind::Fault("this string is not closed"), 1)
}

/// Measures a heredoc, up to the end of its marker.
fn heredoc(text: &str) -> (TokenKind, usize) {
    let fault = (
        TokenKind::Fault("this heredoc never ends: its marker must be alone on a line"),
        1,
    );
    let Some((head, body)) = text.split_once('\n') else {
        return fault;
    };
    let Some(anchor) = head.strip_prefix("<<") else {
        return fault;
    };
    let anchor = anchor.strip_suffix('\r').unwrap_or(anchor);
    let marker = anchor.strip_prefix('-').unwrap_or(anchor);
    if marker.is_empty() || !marker.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return fault;
    }
    let mut at = head.len() + 1;
    for line in body.split_inclusive('\n') {
        let text = line.trim_end_matches(['\r', '\n']);
        // The line of the marker must end, and has no space behind the marker. HCL 1 counts the `-` of `<<-` to
        // the marker when it looks for a line that is long enough, so that one without indent ends nothing.
        let is_end =
            text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\u{b}') == marker;
        if is_end && text.len() >= anchor.len() && line.ends_with('\n') {
            return (TokenKind::Heredoc, at + text.len());
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
        // HCL 1 leaves interpolations to its caller, escapes included.
        if depth == 0 && c == '\\' {
            let number = |start: usize, digits: usize, radix: u32| {
                let digits = rest.get(start..start + digits)?;
                let all = digits.chars().all(|c| c.is_digit(radix));
                let code = u32::from_str_radix(digits, radix).ok().filter(|_| all)?;
                Some((char::from_u32(code)?.to_string(), start + digits.len()))
            };
            let plain = |c: char| Some((c.to_string(), 2));
            // The escapes of Go's `strconv` inside double quotes, as HCL 1 reads them; `\'` is not one.
            let (bytes, len) = match *rest.as_bytes().get(1)? {
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
            }?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, kinds: &[TokenKind]) {
        let found: Vec<TokenKind> = TokenScanner::new(text).map(|token| token.kind).collect();
        assert_eq!(found, kinds, "{text:?}");
    }

    #[test]
    fn words_strings_and_heredocs_are_those_of_hcl_1() {
        check("a.b-c # x", &[TokenKind::Word]);
        check("a /* \n */ b", &[TokenKind::Word, TokenKind::Word]);
        check(
            "\u{feff}a",
            &[TokenKind::Fault("this character has no meaning here")],
        );
        check("1a", &[TokenKind::Fault("this is no number")]);
        check("\"a ${ \"b\" } c\"", &[TokenKind::Quoted]);
        for text in [
            "E\nx\n E\n",
            "E\nx\nE\"\nE\r\n",
            "E\nE)\n\u{b}E\n",
            "-E\n E # x\n E\n",
        ] {
            check(&format!("<<{text}"), &[TokenKind::Heredoc]);
        }
        check("-1 0x1F 1.5e+3", &[TokenKind::Number; 3]);
        let closed = TokenKind::Fault("this string is not closed");
        check("\"a\n\"", &[closed]);
        check("\"a\\\"", &[closed]);
    }

    #[test]
    fn text_is_decoded() {
        let text = |raw: &str| TokenScanner::new(raw).next().map(|token| token.text(raw));
        assert_eq!(
            text(r#""a\"\\\n\u00e9\x41\101""#).as_deref(),
            Some("a\"\\\néAA")
        );
        assert_eq!(text(r#""${a "\"b"}é""#).as_deref(), Some(r#"${a "\"b"}é"#));
        assert_eq!(text("<<-E\n a\n\n b\n  E\n").as_deref(), Some(" a\n\n b\n"));
        assert_eq!(text("<<E\nE\n").as_deref(), Some(""));
    }
}
