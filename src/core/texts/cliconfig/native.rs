//! HCL 1 to a tree of keys and values, which is all that it has.
//!
//! Keys may be quoted or hold dots, line ends mean nothing, `${` is text. The first fault ends the walk: behind it
//! nothing can be distinguished, and a piece of a token must not look like a name.

use std::iter::Peekable;

use super::node::{ConfigEntry, ConfigValue};
use super::tokens::{ConfigToken, TokenKind, TokenScanner, word_len};
use super::veil;
use crate::diag::Span;
use crate::hcl::tree::Word;
use crate::world::Secret;

/// Maximum nesting of braces and brackets.
const MAX_DEPTH: usize = 32;

/// A reason why a file cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConfigFault {
    pub(super) span: Span,
    /// The reason; it shows nothing of the file but names of the programs.
    pub(super) note: String,
    /// The beginning of what is never closed.
    pub(super) opened: Option<Span>,
}

impl ConfigFault {
    pub(super) fn new(span: Span, note: impl Into<String>) -> Self {
        Self {
            span,
            note: note.into(),
            opened: None,
        }
    }
}

/// The kind of what braces or brackets hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NativeFrame {
    /// The file, or a block.
    Body,
    /// Braces that are a value.
    Object,
    List,
}

/// Parses a text. Returns it as people may see it, with `*` over all that may be secret, and its entries.
pub(super) fn parse(text: &str) -> (Vec<u8>, Result<Vec<ConfigEntry>, ConfigFault>) {
    // All bytes are hidden at first; later, what is known to be no secret is shown.
    let veil = |byte: u8| {
        if byte.is_ascii_whitespace() {
            byte
        } else {
            b'*'
        }
    };
    let mut parser = NativeParser {
        text,
        tokens: TokenScanner::new(text).peekable(),
        shown: text.bytes().map(veil).collect(),
        open: Vec::new(),
    };
    let entries = parser.entries(NativeFrame::Body);
    (parser.shown, entries)
}

struct NativeParser<'t> {
    text: &'t str,
    tokens: Peekable<TokenScanner<'t>>,
    shown: Vec<u8>,
    /// The places that are not closed yet, each from the first word of its item to its brace or bracket.
    open: Vec<(NativeFrame, Span)>,
}

impl NativeParser<'_> {
    /// Reads the entries of the file, or up to the brace that closes them.
    fn entries(&mut self, frame: NativeFrame) -> Result<Vec<ConfigEntry>, ConfigFault> {
        let mut entries = Vec::new();
        while !self.open.is_empty() || self.tokens.peek().is_some() {
            let token = self.next("")?;
            match token.kind {
                TokenKind::Word | TokenKind::Quoted => {
                    entries.push(self.entry(&token, frame)?);
                    // HCL 1 takes a comma between entries, though hardly anybody writes one.
                    if let Some(comma) = self.tokens.next_if(|token| token.kind == TokenKind::Comma)
                    {
                        self.show(&comma);
                    }
                }
                TokenKind::CloseBrace if self.open.is_empty() => {
                    let note = "nothing is open that this could close";
                    return Err(ConfigFault::new(token.span(), note));
                }
                TokenKind::CloseBrace => {
                    self.close(&token);
                    break;
                }
                _ => return Err(ConfigFault::new(token.span(), "a name is expected here")),
            }
        }
        Ok(entries)
    }

    fn entry(
        &mut self,
        name: &ConfigToken,
        frame: NativeFrame,
    ) -> Result<ConfigEntry, ConfigFault> {
        // A word that begins no item, or is not ours, may be a piece of a token.
        let begins = self.tokens.peek().is_some_and(|next| {
            matches!(
                next.kind,
                TokenKind::Equal | TokenKind::OpenBrace | TokenKind::Quoted
            )
        });
        if begins && veil::is_known(&self.text[name.start..name.end]) {
            self.show(name);
        }
        let key = self.word(name);
        let mut labels = Vec::new();
        let mut value = loop {
            let token = self.next("the file ends where `=` or `{` is expected")?;
            match token.kind {
                TokenKind::Quoted | TokenKind::Word if frame == NativeFrame::Body => {
                    labels.push(self.word(&token));
                }
                TokenKind::Equal if labels.is_empty() => {
                    self.show(&token);
                    let first = self.next("the file ends where a value is expected")?;
                    break self.value(&first, name.start)?;
                }
                TokenKind::OpenBrace => {
                    self.open(&token, frame, name.start)?;
                    break ConfigValue::Object(self.entries(frame)?);
                }
                _ => {
                    let note = "`=`, `{` or a label is expected here";
                    return Err(ConfigFault::new(token.span(), note));
                }
            }
        };
        // A label is the key of an object within.
        for key in labels.into_iter().rev() {
            value = ConfigValue::Object(vec![ConfigEntry { key, value }]);
        }
        Ok(ConfigEntry { key, value })
    }

    /// Reads the value that begins with a token, in an item that begins at an offset.
    fn value(&mut self, token: &ConfigToken, item: usize) -> Result<ConfigValue, ConfigFault> {
        let written = &self.text[token.start..token.end];
        match token.kind {
            TokenKind::OpenBrace => {
                self.open(token, NativeFrame::Object, item)?;
                Ok(ConfigValue::Object(self.entries(NativeFrame::Object)?))
            }
            TokenKind::OpenBracket => {
                self.open(token, NativeFrame::List, item)?;
                self.list()
            }
            TokenKind::Quoted | TokenKind::Heredoc => Ok(ConfigValue::Text(self.secret(token))),
            TokenKind::Number => Ok(ConfigValue::Scalar(self.secret(token))),
            TokenKind::Word if ["true", "false"].contains(&written) => {
                Ok(ConfigValue::Scalar(self.secret(token)))
            }
            _ => {
                let note = "a value is expected here: text in quotes, a number, true or false";
                Err(ConfigFault::new(token.span(), note))
            }
        }
    }

    fn list(&mut self) -> Result<ConfigValue, ConfigFault> {
        let mut values = Vec::new();
        loop {
            let token = self.next("")?;
            // Also behind a comma, which HCL 1 allows at the end of a list.
            if token.kind == TokenKind::CloseBracket {
                self.close(&token);
                return Ok(ConfigValue::List(values));
            }
            values.push(self.value(&token, token.start)?);
            let token = self.next("")?;
            match token.kind {
                TokenKind::Comma => self.show(&token),
                TokenKind::CloseBracket => {
                    self.close(&token);
                    return Ok(ConfigValue::List(values));
                }
                _ => {
                    return Err(ConfigFault::new(
                        token.span(),
                        "`,` or `]` is expected here",
                    ));
                }
            }
        }
    }

    /// Takes the next token. At the end of the text, what is still open is the fault, else the note.
    fn next(&mut self, at_end: &str) -> Result<ConfigToken, ConfigFault> {
        match self.tokens.next() {
            Some(token) => match token.kind {
                TokenKind::Fault(reason) => Err(ConfigFault::new(token.span(), reason)),
                _ => Ok(token),
            },
            None => Err(self.unfinished(at_end)),
        }
    }

    fn unfinished(&self, at_end: &str) -> ConfigFault {
        let end = Span::new(self.text.len(), self.text.len());
        // The innermost place is the one to close first.
        let Some((frame, from)) = self.open.last() else {
            return ConfigFault::new(end, at_end);
        };
        let what = match frame {
            NativeFrame::Body => "block",
            NativeFrame::Object => "object",
            NativeFrame::List => "list",
        };
        let line = 1 + self.text[..from.start].matches('\n').count();
        let first = self.text[from.start..from.end].trim_start_matches('"');
        let name = &first[..word_len(first)];
        // An unknown name may be a piece of a token.
        let name = if veil::is_known(name) {
            format!(" \"{name}\"")
        } else {
            String::new()
        };
        ConfigFault {
            span: end,
            note: format!("the {what}{name} opened at line {line} is never closed"),
            opened: Some(*from),
        }
    }

    fn open(
        &mut self,
        token: &ConfigToken,
        frame: NativeFrame,
        item: usize,
    ) -> Result<(), ConfigFault> {
        // The text is read by recursion.
        if self.open.len() >= MAX_DEPTH {
            return Err(ConfigFault::new(token.span(), "nested too deep"));
        }
        self.show(token);
        self.open.push((frame, Span::new(item, token.end)));
        Ok(())
    }

    fn close(&mut self, token: &ConfigToken) {
        self.show(token);
        self.open.pop();
    }

    fn word(&mut self, token: &ConfigToken) -> Word {
        Word {
            text: self.secret(token).reveal().to_owned(),
            span: token.span(),
        }
    }

    /// Returns the text of a token; only its quotes are shown.
    fn secret(&mut self, token: &ConfigToken) -> Secret {
        if token.kind == TokenKind::Quoted {
            self.shown[token.start] = b'"';
            self.shown[token.end - 1] = b'"';
        }
        Secret::new(token.text(self.text))
    }

    fn show(&mut self, token: &ConfigToken) {
        let bytes = &self.text.as_bytes()[token.start..token.end];
        self.shown[token.start..token.end].copy_from_slice(bytes);
    }
}
