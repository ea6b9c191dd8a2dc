//! HCL 1 to a text in HCL 2 that `hcl` reads, with the way back to every place.
//!
//! HCL 1 has only keys and values: keys may be quoted or hold dots, line ends mean nothing,
//! `${` is text. So the walk keeps the structure alone. Names and values become placeholders, each
//! on a line of its own, and a table holds what stood there and where. What may be a token thus
//! never reaches another parser, nor a message of one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::tokens::{ConfigToken, TokenKind, TokenScanner, word_len};
use super::veil;
use crate::diag::Span;
use crate::world::Secret;

/// Maximum nesting of braces and brackets.
const MAX_DEPTH: usize = 32;

/// The result of the walk over a text in HCL 1.
pub(super) struct Prepared {
    /// The structure, in HCL 2.
    pub(super) structure: String,
    /// The origin of each name and value of the structure, by its offset there.
    pub(super) origins: BTreeMap<usize, NativeOrigin>,
    /// As long as the text: for people, with `*` for whatever may be secret.
    pub(super) shown: Vec<u8>,
    /// The place where the text stops being HCL 1; behind it nothing was read.
    pub(super) fault: Option<ConfigFault>,
}

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

/// The origin of a name or a value.
pub(super) struct NativeOrigin {
    /// Its place in the file.
    pub(super) span: Span,
    /// The text; `None` for lists and objects.
    pub(super) text: Option<Secret>,
    /// The value is a number or a truth value.
    pub(super) is_scalar: bool,
}

/// The surroundings of a place in the text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NativeFrame {
    /// The file, or a block.
    Body,
    /// Braces that are a value.
    Object,
    List,
}

/// A place that is open, with what was seen of its current item.
#[derive(Clone, Copy)]
struct OpenFrame {
    frame: NativeFrame,
    state: ItemState,
    /// The first word of the current item, where it has one.
    item: Option<Span>,
    /// The opening, from its first word on.
    from: Span,
}

impl OpenFrame {
    fn new(frame: NativeFrame, from: Span) -> Self {
        Self {
            frame,
            state: ItemState::Start,
            item: None,
            from,
        }
    }
}

/// The part of an item that was read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ItemState {
    /// Nothing of it yet.
    Start,
    /// The first word of the item.
    Key,
    /// A label as well.
    Label,
    Value,
    Done,
}

/// Prepares a text for `hcl`.
pub(super) fn prepare(text: &str) -> Prepared {
    let veil = |byte: u8| {
        if byte.is_ascii_whitespace() {
            byte
        } else {
            b'*'
        }
    };
    let mut walk = NativeWalk {
        text,
        out: Prepared {
            structure: String::new(),
            origins: BTreeMap::new(),
            shown: text.bytes().map(veil).collect(),
            fault: None,
        },
        frames: vec![OpenFrame::new(NativeFrame::Body, Span::default())],
    };
    let mut tokens = TokenScanner::new(text).peekable();
    while let Some(token) = tokens.next() {
        let next = tokens.peek().map(|token| token.kind);
        if let Err(fault) = walk.token(&token, next) {
            walk.out.fault = Some(ConfigFault::new(token.span(), fault));
            return walk.out;
        }
    }
    walk.out.fault = walk.unfinished();
    walk.out
}

struct NativeWalk<'t> {
    text: &'t str,
    out: Prepared,
    frames: Vec<OpenFrame>,
}

impl NativeWalk<'_> {
    fn top(&mut self) -> &mut OpenFrame {
        self.frames.last_mut().expect("the file is always open")
    }

    /// Returns what is missing at the end of the text.
    fn unfinished(&self) -> Option<ConfigFault> {
        let end = Span::new(self.text.len(), self.text.len());
        match self.frames.as_slice() {
            // The innermost place is the one to close first.
            [.., _, open] => {
                let what = match open.frame {
                    NativeFrame::Body => "block",
                    NativeFrame::Object => "object",
                    NativeFrame::List => "list",
                };
                let line = 1 + self.text[..open.from.start].matches('\n').count();
                let first = self.text[open.from.start..open.from.end].trim_start_matches('"');
                let name = &first[..word_len(first)];
                // An unknown name may be a piece of a token.
                let name = if veil::is_known(name) {
                    format!(" \"{name}\"")
                } else {
                    String::new()
                };
                let note = format!("the {what}{name} opened at line {line} is never closed");
                Some(ConfigFault {
                    opened: Some(open.from),
                    ..ConfigFault::new(end, note)
                })
            }
            [file] => match file.state {
                ItemState::Start | ItemState::Done => None,
                ItemState::Key | ItemState::Label => Some(ConfigFault::new(
                    end,
                    "the file ends where `=` or `{` is expected",
                )),
                ItemState::Value => Some(ConfigFault::new(
                    end,
                    "the file ends where a value is expected",
                )),
            },
            [] => None,
        }
    }

    fn token(&mut self, token: &ConfigToken, next: Option<TokenKind>) -> Result<(), &'static str> {
        let OpenFrame { frame, state, .. } = *self.top();
        match (frame, state, token.kind) {
            (_, _, TokenKind::Fault(reason)) => return Err(reason),
            (NativeFrame::List, _, TokenKind::CloseBracket) => self.close(token, "]"),
            (NativeFrame::List, ItemState::Done, TokenKind::Comma) => {
                self.write(token, ", ");
                self.top().state = ItemState::Start;
            }
            (NativeFrame::List, ItemState::Done, _) => return Err("`,` or `]` is expected here"),
            (NativeFrame::List, ..) | (_, ItemState::Value, _) => return self.value(token),
            (_, ItemState::Start | ItemState::Done, _) => return self.between(token, next),
            // What follows the first word of an item.
            (NativeFrame::Body, _, TokenKind::Quoted | TokenKind::Word) => {
                self.out.structure.push(' ');
                self.name(token);
                self.top().state = ItemState::Label;
            }
            (_, ItemState::Key, TokenKind::Equal) => {
                self.write(token, " = ");
                self.top().state = ItemState::Value;
            }
            // HCL 2 has blocks in bodies only; inside of an object a brace begins the value of the word before it.
            (NativeFrame::Body, _, TokenKind::OpenBrace) => {
                return self.open(token, NativeFrame::Body, " {\n");
            }
            (_, _, TokenKind::OpenBrace) => {
                return self.open(token, NativeFrame::Object, " = {\n");
            }
            _ => return Err("`=`, `{` or a label is expected here"),
        }
        Ok(())
    }

    fn value(&mut self, token: &ConfigToken) -> Result<(), &'static str> {
        match token.kind {
            TokenKind::OpenBrace => return self.open(token, NativeFrame::Object, "{\n"),
            TokenKind::OpenBracket => return self.open(token, NativeFrame::List, "["),
            TokenKind::Quoted | TokenKind::Heredoc => {
                self.origin(token, Some(Secret::new(token.text(self.text))));
                // Only the origin holds the text: errors of `hcl` quote what they read.
                self.out.structure.push_str("\"\"");
            }
            TokenKind::Number => self.scalar(token),
            TokenKind::Word if &self.text[token.start..token.end] == "true" => self.scalar(token),
            TokenKind::Word if &self.text[token.start..token.end] == "false" => {
                self.scalar(token);
            }
            _ => return Err("a value is expected here: text in quotes, a number, true or false"),
        }
        self.finish();
        Ok(())
    }

    fn scalar(&mut self, token: &ConfigToken) {
        self.origin(token, Some(Secret::new(token.text(self.text))));
        // The value itself may be a token without quotes, so the structure holds a number instead.
        self.out.structure.push('0');
    }

    /// Reads what stands before, between or behind items.
    fn between(
        &mut self,
        token: &ConfigToken,
        next: Option<TokenKind>,
    ) -> Result<(), &'static str> {
        let state = self.top().state;
        match token.kind {
            TokenKind::Word | TokenKind::Quoted => {
                // A word that begins no item, or is not ours, may be a piece of a token.
                let begins = matches!(
                    next,
                    Some(TokenKind::Equal | TokenKind::OpenBrace | TokenKind::Quoted)
                );
                if begins && veil::is_known(&self.text[token.start..token.end]) {
                    self.show(token);
                }
                self.top().item = Some(token.span());
                self.out.structure.push('\n');
                self.name(token);
                self.top().state = ItemState::Key;
            }
            // HCL 1 lets a comma follow an item, HCL 2 not in a body; so none goes into the structure.
            TokenKind::Comma if state == ItemState::Done => {
                self.show(token);
                self.top().state = ItemState::Start;
            }
            TokenKind::CloseBrace if self.frames.len() > 1 => self.close(token, "\n}"),
            TokenKind::CloseBrace => return Err("nothing is open that this could close"),
            _ => return Err("a name is expected here"),
        }
        Ok(())
    }

    fn open(
        &mut self,
        token: &ConfigToken,
        frame: NativeFrame,
        text: &str,
    ) -> Result<(), &'static str> {
        // `hcl` reads the structure by recursion.
        if self.frames.len() > MAX_DEPTH {
            return Err("nested too deep");
        }
        if frame != NativeFrame::Body {
            self.origin(token, None);
        }
        self.write(token, text);
        let from = self.top().item.unwrap_or(token.span());
        let from = Span::new(from.start, token.end);
        self.frames.push(OpenFrame::new(frame, from));
        Ok(())
    }

    fn close(&mut self, token: &ConfigToken, text: &str) {
        self.write(token, text);
        self.frames.pop();
        self.finish();
    }

    fn finish(&mut self) {
        self.top().state = ItemState::Done;
    }

    /// Writes a name that is unlike any other: here a later value may replace an earlier one.
    fn name(&mut self, token: &ConfigToken) {
        self.origin(token, Some(Secret::new(token.text(self.text))));
        let number = self.out.origins.len();
        write!(self.out.structure, "n{number}").expect("a string takes everything");
    }

    /// Remembers where the next piece of the structure comes from.
    fn origin(&mut self, token: &ConfigToken, text: Option<Secret>) {
        if token.kind == TokenKind::Quoted {
            self.out.shown[token.start] = b'"';
            self.out.shown[token.end - 1] = b'"';
        }
        let span = token.span();
        let at = self.out.structure.len();
        let is_scalar = match token.kind {
            TokenKind::Number => true,
            TokenKind::Word => {
                self.top().state == ItemState::Value || self.top().frame == NativeFrame::List
            }
            _ => false,
        };
        let origin = NativeOrigin {
            span,
            text,
            is_scalar,
        };
        self.out.origins.insert(at, origin);
    }

    fn write(&mut self, token: &ConfigToken, text: &str) {
        self.out.structure.push_str(text);
        self.show(token);
    }

    fn show(&mut self, token: &ConfigToken) {
        let bytes = &self.text.as_bytes()[token.start..token.end];
        self.out.shown[token.start..token.end].copy_from_slice(bytes);
    }
}
