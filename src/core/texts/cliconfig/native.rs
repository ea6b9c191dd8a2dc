//! HCL 1 to a tree of keys and values, which is all that it has.
//!
//! Keys may be quoted or hold dots, line ends mean nothing, `${` is text. The first fault ends the walk: behind it
//! nothing can be distinguished, and a piece of a token must not look like a name.

use std::iter::Peekable;

use super::node::{ConfigEntry, ConfigValue};
use super::tokens::{ConfigToken, TokenKind, TokenScanner};
use crate::diag::Span;
use crate::hcl::tree::Word;
use crate::world::Secret;

/// Maximum nesting of braces and brackets.
const MAX_DEPTH: usize = 32;

/// A reason why a file cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConfigFault {
    pub(super) span: Span,
    /// The reason; it shows nothing of the file, which may hold secrets.
    pub(super) note: &'static str,
}

impl ConfigFault {
    pub(super) fn new(span: Span, note: &'static str) -> Self {
        Self { span, note }
    }
}

/// The kind of what braces hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NativeFrame {
    /// The file, or a block.
    Body,
    /// Braces that are a value.
    Object,
}

pub(super) fn parse(text: &str) -> Result<Vec<ConfigEntry>, ConfigFault> {
    let mut parser = NativeParser {
        text,
        tokens: TokenScanner::new(text).peekable(),
        open: Vec::new(),
    };
    parser.entries(NativeFrame::Body)
}

struct NativeParser<'t> {
    text: &'t str,
    tokens: Peekable<TokenScanner<'t>>,
    /// The places that are not closed yet, each from the first word of its item to its brace or bracket.
    open: Vec<Span>,
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
                    self.tokens.next_if(|token| token.kind == TokenKind::Comma);
                }
                TokenKind::CloseBrace if self.open.is_empty() => {
                    let note = "nothing is open that this could close";
                    return Err(ConfigFault::new(token.span(), note));
                }
                TokenKind::CloseBrace => {
                    self.open.pop();
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
        let key = self.word(name);
        let mut labels = Vec::new();
        let mut value = loop {
            let token = self.next("the file ends where `=` or `{` is expected")?;
            match token.kind {
                TokenKind::Quoted | TokenKind::Word if frame == NativeFrame::Body => {
                    labels.push(self.word(&token));
                }
                TokenKind::Equal if labels.is_empty() => {
                    let first = self.next("the file ends where a value is expected")?;
                    break self.value(&first, name.start)?;
                }
                TokenKind::OpenBrace => {
                    self.open(&token, name.start)?;
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
                self.open(token, item)?;
                Ok(ConfigValue::Object(self.entries(NativeFrame::Object)?))
            }
            TokenKind::OpenBracket => {
                self.open(token, item)?;
                let mut values = Vec::new();
                loop {
                    let token = self.next("")?;
                    // Also behind a comma, which HCL 1 allows at the end of a list.
                    if token.kind == TokenKind::CloseBracket {
                        self.open.pop();
                        return Ok(ConfigValue::List(values));
                    }
                    values.push(self.value(&token, token.start)?);
                    let token = self.next("")?;
                    match token.kind {
                        TokenKind::Comma => {}
                        TokenKind::CloseBracket => {
                            self.open.pop();
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

    /// Takes the next token. At the end of the text, what is still open is the fault, else the note.
    fn next(&mut self, at_end: &'static str) -> Result<ConfigToken, ConfigFault> {
        match self.tokens.next() {
            Some(token) => match token.kind {
                TokenKind::Fault(reason) => Err(ConfigFault::new(token.span(), reason)),
                _ => Ok(token),
            },
            // The innermost place is the one to close first.
            None => Err(match self.open.last() {
                Some(opened) => ConfigFault::new(*opened, "this is never closed"),
                None => {
                    let end = Span::new(self.text.len(), self.text.len());
                    ConfigFault::new(end, at_end)
                }
            }),
        }
    }

    fn open(&mut self, token: &ConfigToken, item: usize) -> Result<(), ConfigFault> {
        // The text is read by recursion.
        if self.open.len() >= MAX_DEPTH {
            return Err(ConfigFault::new(token.span(), "nested too deep"));
        }
        self.open.push(Span::new(item, token.end));
        Ok(())
    }

    fn word(&self, token: &ConfigToken) -> Word {
        Word {
            text: token.text(self.text),
            span: token.span(),
        }
    }

    fn secret(&self, token: &ConfigToken) -> Secret {
        Secret::new(token.text(self.text))
    }
}
