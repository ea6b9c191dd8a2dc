//! HCL 1 to a text in HCL 2 that `hcl` reads, with the way back to every place.
//!
//! HCL 1 has only keys and values: keys may be quoted or hold dots, line ends mean nothing,
//! `${` is text. So the walk keeps the structure alone. Names and values become placeholders, each
//! on a line of its own, and a table holds what stood there and where. What may be a token thus
//! never reaches another parser, nor a message of one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::tokens::{Kind, Token, Tokens};
use super::veil;
use crate::diag::Span;
use crate::world::Secret;

/// How many braces and brackets may be nested.
const MAX_DEPTH: usize = 32;

/// What the walk over a text in HCL 1 gives.
pub(super) struct Prepared {
    /// The structure, in HCL 2.
    pub(super) structure: String,
    /// What each name and value of the structure stands for, by its offset there.
    pub(super) origins: BTreeMap<usize, Origin>,
    /// As long as the text: for people, with `*` for whatever may be secret.
    pub(super) shown: Vec<u8>,
    /// Where the text stops being HCL 1, and why; behind it nothing was read.
    pub(super) fault: Option<Fault>,
}

/// Why a file cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// Where.
    pub(super) span: Span,
    /// What is wrong there; it shows nothing of the file but names of the programs.
    pub(super) note: String,
    /// The beginning of what is never closed.
    pub(super) opened: Option<Span>,
}

impl Fault {
    pub(super) fn new(span: Span, note: impl Into<String>) -> Self {
        Self {
            span,
            note: note.into(),
            opened: None,
        }
    }
}

/// Where a name or a value comes from.
pub(super) struct Origin {
    /// Its place in the file.
    pub(super) span: Span,
    /// What it says; `None` for lists and objects.
    pub(super) text: Option<Secret>,
    /// Whether it is a number or a truth value.
    pub(super) is_scalar: bool,
}

/// What surrounds a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Frame {
    /// The file, or a block.
    Body,
    /// Braces that are a value.
    Object,
    List,
}

/// A place that is open, with what was seen of its current item.
#[derive(Clone, Copy)]
struct Open {
    frame: Frame,
    state: State,
    /// The first word of the current item, where it has one.
    item: Option<Span>,
    /// What opened it, from its first word on.
    from: Span,
}

impl Open {
    fn new(frame: Frame, from: Span) -> Self {
        Self {
            frame,
            state: State::Start,
            item: None,
            from,
        }
    }
}

/// What was seen of an item.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing.
    Start,
    /// Its first word.
    Key,
    /// A label as well.
    Label,
    /// The `=`.
    Value,
    /// All of it.
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
    let mut walk = Walk {
        text,
        out: Prepared {
            structure: String::new(),
            origins: BTreeMap::new(),
            shown: text.bytes().map(veil).collect(),
            fault: None,
        },
        frames: vec![Open::new(Frame::Body, Span::default())],
    };
    let mut tokens = Tokens::new(text).peekable();
    while let Some(token) = tokens.next() {
        let next = tokens.peek().map(|token| token.kind);
        if let Err(fault) = walk.token(&token, next) {
            walk.out.fault = Some(Fault::new(token.span(), fault));
            return walk.out;
        }
    }
    walk.out.fault = walk.unfinished();
    walk.out
}

struct Walk<'t> {
    text: &'t str,
    out: Prepared,
    /// Never empty.
    frames: Vec<Open>,
}

impl Walk<'_> {
    fn top(&mut self) -> &mut Open {
        self.frames.last_mut().expect("the file is always open")
    }

    /// Returns what is missing at the end of the text.
    fn unfinished(&self) -> Option<Fault> {
        let end = Span::new(self.text.len(), self.text.len());
        match self.frames.as_slice() {
            [.., _, open] => Some(Fault {
                opened: Some(open.from),
                ..Fault::new(end, self.unclosed(open))
            }),
            [file] => match file.state {
                State::Start | State::Done => None,
                State::Key | State::Label => Some(Fault::new(
                    end,
                    "the file ends where `=` or `{` is expected",
                )),
                State::Value => Some(Fault::new(end, "the file ends where a value is expected")),
            },
            [] => None,
        }
    }

    /// Says what is never closed; its name, where that is no secret.
    fn unclosed(&self, open: &Open) -> String {
        let what = match open.frame {
            Frame::Body => "block",
            Frame::Object => "object",
            Frame::List => "list",
        };
        let line = 1 + self.text[..open.from.start].matches('\n').count();
        let first = &self.text[open.from.start..open.from.end];
        let ends = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
        let name = first.trim_start_matches('"').split(ends).next();
        match name.filter(|name| veil::is_known(name)) {
            Some(name) => format!("the {what} \"{name}\" opened at line {line} is never closed"),
            None => format!("the {what} opened at line {line} is never closed"),
        }
    }

    fn token(&mut self, token: &Token, next: Option<Kind>) -> Result<(), &'static str> {
        let Open { frame, state, .. } = *self.top();
        match (frame, state, token.kind) {
            (_, _, Kind::Fault(reason)) => Err(reason),
            (Frame::List, ..) => self.in_list(token, state),
            (_, State::Start | State::Done, _) => self.between(token, next),
            (_, State::Key | State::Label, _) => self.header(token),
            (_, State::Value, _) => self.value(token),
        }
    }

    fn in_list(&mut self, token: &Token, state: State) -> Result<(), &'static str> {
        match (token.kind, state) {
            (Kind::CloseBracket, _) => self.close(token, "]"),
            (Kind::Comma, State::Done) => {
                self.write(token, ", ");
                self.top().state = State::Start;
            }
            (_, State::Done) => return Err("`,` or `]` is expected here"),
            _ => return self.value(token),
        }
        Ok(())
    }

    fn value(&mut self, token: &Token) -> Result<(), &'static str> {
        match token.kind {
            Kind::OpenBrace => return self.open(token, Frame::Object, "{\n"),
            Kind::OpenBracket => return self.open(token, Frame::List, "["),
            Kind::Quoted | Kind::Heredoc => {
                self.origin(token, Some(Secret::new(token.text(self.text))));
                self.out.structure.push_str("\"\"");
            }
            Kind::Number => self.scalar(token),
            Kind::Word if &self.text[token.start..token.end] == "true" => self.scalar(token),
            Kind::Word if &self.text[token.start..token.end] == "false" => {
                self.scalar(token);
            }
            _ => return Err("a value is expected here: text in quotes, a number, true or false"),
        }
        self.finish();
        Ok(())
    }

    fn scalar(&mut self, token: &Token) {
        self.origin(token, Some(Secret::new(token.text(self.text))));
        self.out.structure.push('0');
    }

    /// Reads what stands before, between or behind items.
    fn between(&mut self, token: &Token, next: Option<Kind>) -> Result<(), &'static str> {
        let state = self.top().state;
        match token.kind {
            Kind::Word | Kind::Quoted => {
                // A word that begins no item, or is not ours, may be a piece of a token.
                let begins = matches!(next, Some(Kind::Equal | Kind::OpenBrace | Kind::Quoted));
                if begins && veil::is_known(&self.text[token.start..token.end]) {
                    self.show(token);
                }
                self.top().item = Some(token.span());
                self.out.structure.push('\n');
                self.name(token);
                self.top().state = State::Key;
            }
            Kind::Comma if state == State::Done => {
                self.show(token);
                self.top().state = State::Start;
            }
            Kind::CloseBrace if self.frames.len() > 1 => self.close(token, "\n}"),
            Kind::CloseBrace => return Err("nothing is open that this could close"),
            _ => return Err("a name is expected here"),
        }
        Ok(())
    }

    /// Reads what follows the first word of an item.
    fn header(&mut self, token: &Token) -> Result<(), &'static str> {
        let Open { frame, state, .. } = *self.top();
        match (token.kind, frame) {
            (Kind::Quoted | Kind::Word, Frame::Body) => {
                self.out.structure.push(' ');
                self.name(token);
                self.top().state = State::Label;
            }
            (Kind::Equal, _) if state == State::Key => {
                self.write(token, " = ");
                self.top().state = State::Value;
            }
            (Kind::OpenBrace, Frame::Body) => return self.open(token, Frame::Body, " {\n"),
            (Kind::OpenBrace, _) => return self.open(token, Frame::Object, " = {\n"),
            _ => return Err("`=`, `{` or a label is expected here"),
        }
        Ok(())
    }

    fn open(&mut self, token: &Token, frame: Frame, text: &str) -> Result<(), &'static str> {
        if self.frames.len() > MAX_DEPTH {
            return Err("nested too deep");
        }
        if frame != Frame::Body {
            self.origin(token, None);
        }
        self.write(token, text);
        let from = self.top().item.unwrap_or(token.span());
        let from = Span::new(from.start, token.end);
        self.frames.push(Open::new(frame, from));
        Ok(())
    }

    fn close(&mut self, token: &Token, text: &str) {
        self.write(token, text);
        self.frames.pop();
        self.finish();
    }

    fn finish(&mut self) {
        self.top().state = State::Done;
    }

    /// Writes a name that is unlike any other: here a later value may replace an earlier one.
    fn name(&mut self, token: &Token) {
        self.origin(token, Some(Secret::new(token.text(self.text))));
        let number = self.out.origins.len();
        write!(self.out.structure, "n{number}").expect("a string takes everything");
    }

    /// Remembers where the next piece of the structure comes from.
    fn origin(&mut self, token: &Token, text: Option<Secret>) {
        if token.kind == Kind::Quoted {
            self.out.shown[token.start] = b'"';
            self.out.shown[token.end - 1] = b'"';
        }
        let span = token.span();
        let at = self.out.structure.len();
        let is_scalar = match token.kind {
            Kind::Number => true,
            Kind::Word => self.top().state == State::Value || self.top().frame == Frame::List,
            _ => false,
        };
        let origin = Origin {
            span,
            text,
            is_scalar,
        };
        self.out.origins.insert(at, origin);
    }

    fn write(&mut self, token: &Token, text: &str) {
        self.out.structure.push_str(text);
        self.show(token);
    }

    fn show(&mut self, token: &Token) {
        let bytes = &self.text.as_bytes()[token.start..token.end];
        self.out.shown[token.start..token.end].copy_from_slice(bytes);
    }
}
