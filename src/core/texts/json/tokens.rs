//! The text, cut into tokens. What is inside of strings and numbers is not looked at here.

use std::io::{self, BufRead, ErrorKind};

use crate::diag::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonTokenKind {
    /// One of the bytes `{}[],:`.
    Sign(u8),
    String,
    Number,
    Word,
    Other,
    End,
}

/// A piece of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonToken {
    pub(super) kind: JsonTokenKind,
    pub(super) span: Span,
}

/// A text that is read piece by piece.
pub(super) struct JsonTokens<R> {
    input: R,
    /// The number of bytes read.
    at: usize,
    line: usize,
    /// The offset of the first byte of the line.
    line_start: usize,
    /// The bytes of the last token but signs; of [`JsonTokenKind::Other`], what comes next.
    text: Vec<u8>,
}

impl<R: BufRead> JsonTokens<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            at: 0,
            line: 1,
            line_start: 0,
            text: Vec::new(),
        }
    }

    /// Returns the bytes of the last string, number or word.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns line and column, both from 1, of a place in the last line.
    pub(super) fn position(&self, at: usize) -> (usize, usize) {
        (self.line, at.saturating_sub(self.line_start) + 1)
    }

    /// Returns the next token; at the end of the text always that.
    pub(super) fn next(&mut self) -> io::Result<JsonToken> {
        self.space()?;
        self.text.clear();
        let start = self.at;
        let ahead = ahead(&mut self.input)?;
        let kind = match ahead.first() {
            None => JsonTokenKind::End,
            Some(sign @ (b'{' | b'}' | b'[' | b']' | b',' | b':')) => JsonTokenKind::Sign(*sign),
            Some(b'"') => JsonTokenKind::String,
            // Also what only looks like a number, so that the grammar refuses it as one fault.
            Some(b'0'..=b'9' | b'+' | b'-' | b'.') => JsonTokenKind::Number,
            Some(byte) if byte.is_ascii_alphabetic() => JsonTokenKind::Word,
            Some(_) => JsonTokenKind::Other,
        };
        match kind {
            JsonTokenKind::End => {}
            JsonTokenKind::Sign(_) => self.skip(1),
            JsonTokenKind::String => self.string()?,
            JsonTokenKind::Number => {
                self.run(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte))?
            }
            JsonTokenKind::Word => self.run(|byte| byte.is_ascii_alphabetic())?,
            JsonTokenKind::Other => {
                self.text.extend(ahead.first());
                self.skip(1);
                // The place of the fault is a whole character, whose other bytes follow; a reader may hold
                // only some of them.
                for _ in 1..4 {
                    let Some(next) = self::ahead(&mut self.input)?.first().copied() else {
                        break;
                    };
                    let is_of_it = next & 0xC0 == 0x80;
                    if is_of_it || self.text.len() == 1 {
                        // UTF-16 begins with two bytes, and the second is only peeked at.
                        self.text.push(next);
                    }
                    if !is_of_it {
                        break;
                    }
                    self.skip(1);
                }
            }
        }
        Ok(JsonToken {
            kind,
            span: Span::new(start, self.at),
        })
    }

    fn skip(&mut self, count: usize) {
        self.input.consume(count);
        self.at += count;
    }

    fn space(&mut self) -> io::Result<()> {
        loop {
            let ahead = ahead(&mut self.input)?;
            // The programs refuse all other white space between tokens (`config` rules 2.5).
            let is_space = |byte: &u8| b" \t\r\n".contains(byte);
            let count = ahead.iter().take_while(|byte| is_space(byte)).count();
            for (n, byte) in ahead[..count].iter().enumerate() {
                if *byte == b'\n' {
                    self.line += 1;
                    self.line_start = self.at + n + 1;
                }
            }
            let may_go_on = count > 0 && count == ahead.len();
            self.skip(count);
            if !may_go_on {
                return Ok(());
            }
        }
    }

    /// Takes bytes into the token as long as they fit.
    fn run(&mut self, mut fits: impl FnMut(u8) -> bool) -> io::Result<()> {
        loop {
            let ahead = ahead(&mut self.input)?;
            let misfit = ahead.iter().position(|byte| !fits(*byte));
            let count = misfit.unwrap_or(ahead.len());
            let is_done = misfit.is_some() || ahead.is_empty();
            self.text.extend_from_slice(&ahead[..count]);
            self.skip(count);
            if is_done {
                return Ok(());
            }
        }
    }

    /// Takes a string with its quotes; one without an end stops before a control character.
    fn string(&mut self) -> io::Result<()> {
        let (mut first, mut escaped, mut closed) = (true, false, false);
        self.run(|byte| {
            // The programs refuse control characters inside strings (`config` rules 2.5).
            if closed || byte < 32 {
                return false;
            }
            closed = byte == b'"' && !escaped && !first;
            // The second of two backslashes escapes nothing, so that a quote behind it ends the string.
            escaped = byte == b'\\' && !escaped;
            first = false;
            true
        })
    }
}

/// Returns what can be read at once; nothing only at the end.
fn ahead<R: BufRead>(input: &mut R) -> io::Result<&[u8]> {
    while let Err(error) = input.fill_buf() {
        if error.kind() != ErrorKind::Interrupted {
            return Err(error);
        }
    }
    // A second call returns the same without reading.
    input.fill_buf()
}
