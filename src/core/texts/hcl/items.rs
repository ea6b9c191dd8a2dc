//! Reads arguments and blocks, each with its faults (rules 1).
//!
//! A fault costs as little as possible: a bad argument is left out of its block, and a bad label
//! leaves the block alone. Behind a block that is never closed nothing is read.

use std::collections::BTreeSet;

use super::findings::fault;
use super::grammar::{Checked, TokenWalk};
use super::scan::{HclToken, HclTokenKind};
use super::string::{Quoting, decode};
use super::tree::{Attribute, Block, Body, Item, Word};
use crate::diag::{MAX_PROBLEMS, Span};

const ITEM_REQUIRED: &str = "Argument or block definition required";
const REDEFINED: &str = "Attribute redefined";
const SINGLE_ARGUMENT: &str = "Invalid single-argument block definition";

impl TokenWalk<'_> {
    /// Reads one argument or block of a body at `depth` and the rest of its line; returns the
    /// name of an argument, also of one that is left out. Faults end up in `found`.
    fn item(&mut self, depth: usize) -> (Option<HclToken>, Option<Item>) {
        let first = self.peek();
        let faults = self.found.faults.len();
        let next = self.tokens[(self.at + 1).min(self.tokens.len() - 1)];
        let (name, result) = match (first.kind, next.kind) {
            // Two tokens decide, as in the grammar of the programs: a name and `=` are an argument, all
            // else is a block.
            (HclTokenKind::Ident, HclTokenKind::Equal) => (Some(first), self.argument(depth)),
            (
                HclTokenKind::Ident,
                HclTokenKind::OpenQuote | HclTokenKind::Ident | HclTokenKind::OpenBrace,
            ) => (None, self.block(depth)),
            (HclTokenKind::Ident, _) => (None, Err(fault(ITEM_REQUIRED, first.span()))),
            (HclTokenKind::OpenQuote, _) => {
                (None, Err(fault("Invalid argument name", first.span())))
            }
            _ => (None, Err(self.unexpected(first, ITEM_REQUIRED))),
        };
        let fault = match result {
            Ok(item) => return (name, item),
            Err(fault) => fault,
        };
        // A header with a bad label was reported already.
        if self.found.faults.len() == faults {
            self.found.faults.push(fault);
        }
        // A fault inside of brackets leaves line ends switched off; what comes next needs them.
        self.lines_count = true;
        // The walk may have gone into the item or, in a header, past its end, so the end is sought
        // from the first token on.
        let start = self
            .tokens
            .partition_point(|token| token.start < first.start);
        self.at = self.item_end(start, depth);
        let mut next = self.at;
        while self.tokens[next].kind == HclTokenKind::Newline {
            next += 1;
        }
        // The braces of a header that ended too early belong to it.
        if self.tokens[next].kind == HclTokenKind::OpenBrace && first.kind == HclTokenKind::Ident {
            self.at = self.item_end(next, depth);
        }
        (name, None)
    }

    /// Finds the line end, closing brace or end of text that ends an item.
    fn item_end(&self, start: usize, depth: usize) -> usize {
        let ends = |token: &HclToken| match token.kind {
            HclTokenKind::End => true,
            HclTokenKind::Newline => token.depth <= depth,
            _ => token.depth < depth,
        };
        let more = self.tokens[start..].iter().position(ends);
        more.map_or(self.tokens.len() - 1, |more| start + more)
    }

    fn argument(&mut self, depth: usize) -> Checked<Option<Item>> {
        let argument = self.definition()?;
        let title = match self.peek().kind {
            HclTokenKind::Comma => "Unexpected comma after argument",
            _ => "Missing newline after argument",
        };
        let stays = self.end_line(title, depth);
        Ok(stays.then_some(Item::Attribute(argument)))
    }

    /// Reads a name, the sign behind it, and the value.
    fn definition(&mut self) -> Checked<Attribute> {
        let name = self.take();
        let name = self.word(name);
        self.take();
        let value = self.root_expr()?;
        Ok(Attribute {
            span: Span::new(name.span.start, value.span.end),
            name,
            value,
        })
    }

    /// Expects the end of the line, and passes over anything else; returns false if the item before it is
    /// left out, too.
    fn end_line(&mut self, title: &'static str, depth: usize) -> bool {
        let token = self.peek();
        if matches!(token.kind, HclTokenKind::Newline | HclTokenKind::End) {
            return true;
        }
        let fault = self.unexpected(token, title);
        self.found.faults.push(fault);
        let before = self.tokens[self.at - 1].end;
        self.at = self.item_end(self.at, depth);
        let end = self.tokens[self.at];
        // A closing brace directly behind the item is part of the fault.
        matches!(end.kind, HclTokenKind::Newline | HclTokenKind::End) || end.start != before
    }

    fn block(&mut self, depth: usize) -> Checked<Option<Item>> {
        let kind = self.take();
        let mut labels = Vec::new();
        while self.peek().kind != HclTokenKind::OpenBrace {
            let token = self.take();
            labels.push(match token.kind {
                HclTokenKind::Ident => self.word(token),
                HclTokenKind::OpenQuote => self.label(token)?,
                _ => return Err(self.unexpected(token, "Invalid block definition")),
            });
        }
        let kind = self.word(kind);
        let header_end = labels.last().map_or(kind.span.end, |label| label.span.end);
        let (body, end) = self.nested(|walk| {
            let open = walk.take();
            let mut items = Vec::new();
            match walk.peek().kind {
                HclTokenKind::Newline => items = walk.items(open.depth + 1),
                HclTokenKind::CloseBrace | HclTokenKind::End => {}
                // Without a line end behind its brace a block holds one argument at most.
                _ => match walk.single_argument() {
                    Ok(argument) => items.push(Item::Attribute(argument)),
                    Err(fault) => {
                        walk.found.faults.push(fault);
                        // The fault may be inside of brackets, where line ends do not count.
                        walk.lines_count = true;
                        walk.skip_inside(open);
                    }
                },
            }
            let close = walk.take();
            // Like the programs: of blocks in each other only the innermost is reported.
            if close.kind == HclTokenKind::End {
                return Err(fault("Unclosed configuration block", kind.span));
            }
            let span = Span::new(open.end, close.start);
            Ok((Body { items, span }, close.end))
        })?;
        // Only the last block of a file may do without a line end.
        let stays = self.peek().kind == HclTokenKind::End
            || self.end_line("Missing newline after block definition", depth);
        Ok(stays.then_some(Item::Block(Block {
            header: Span::new(kind.span.start, header_end),
            span: Span::new(kind.span.start, end),
            kind,
            labels,
            body,
        })))
    }

    /// Reads a quoted label, behind its opening quote. A label with a template or a bad escape is
    /// reported, and its block survives.
    fn label(&mut self, open: HclToken) -> Checked<Word> {
        let mut first = None;
        let close = loop {
            let token = self.take();
            let fault = match token.kind {
                HclTokenKind::CloseQuote => break token,
                HclTokenKind::Literal => self.literal(token, Quoting::Quoted).err(),
                HclTokenKind::OpenInterpolation | HclTokenKind::OpenDirective => {
                    // A template sequence has no business here: the walk goes behind its end.
                    self.skip_inside(token);
                    if self.tokens[self.at].kind == HclTokenKind::CloseSequence {
                        self.at += 1;
                    }
                    Some(fault("Invalid string literal", token.span()))
                }
                _ => {
                    let last = self.unexpected(token, "Unterminated string literal");
                    return Err(first.unwrap_or(last));
                }
            };
            first = first.or(fault);
        };
        self.found.faults.extend(first);
        let inside = self.source.literal(Span::new(open.end, close.start));
        Ok(Word {
            text: decode(&inside, Quoting::Quoted),
            span: Span::new(open.start, close.end),
        })
    }

    /// Goes to the end of what an opening token encloses.
    fn skip_inside(&mut self, open: HclToken) {
        let inside =
            |token: &&HclToken| token.kind != HclTokenKind::End && token.depth > open.depth;
        let rest = &self.tokens[self.at..];
        self.at += rest.iter().take_while(inside).count();
    }

    /// Reads the items of a body at `depth`; between them are only space and comments.
    pub(super) fn items(&mut self, depth: usize) -> Vec<Item> {
        let mut items = Vec::new();
        let mut names = BTreeSet::new();
        loop {
            while self.tokens[self.at].kind == HclTokenKind::Newline {
                self.at += 1;
            }
            let first = self.peek();
            // No more faults than these are reported, and a file with faults is refused: what follows would
            // only cost memory, some hundred bytes for each faulty byte.
            let is_flood = self.found.faults.len() > MAX_PROBLEMS;
            if first.kind == HclTokenKind::End || first.depth < depth || is_flood {
                return items;
            }
            let faults = self.found.faults.len();
            let (name, item) = self.item(depth);
            match name {
                Some(name) if !names.insert(self.text(name)) => {
                    // All of the second argument is left out, so that faults inside it say nothing any more.
                    self.found.faults.truncate(faults);
                    self.found.faults.push(fault(REDEFINED, name.span()));
                }
                _ => items.extend(item),
            }
        }
    }

    /// Reads the argument of a block on one line.
    fn single_argument(&mut self) -> Checked<Attribute> {
        let name = self.peek();
        let next = self.tokens[(self.at + 1).min(self.tokens.len() - 1)];
        match (name.kind, next.kind) {
            (HclTokenKind::Ident, HclTokenKind::Equal) => {}
            (
                HclTokenKind::Ident,
                HclTokenKind::OpenQuote | HclTokenKind::Ident | HclTokenKind::OpenBrace,
            ) => {
                return Err(fault("Argument definition required", name.span()));
            }
            (HclTokenKind::Ident, _) => return Err(fault(ITEM_REQUIRED, name.span())),
            _ => return Err(self.unexpected(name, ITEM_REQUIRED)),
        }
        let argument = self.definition()?;
        match self.peek() {
            token if token.kind == HclTokenKind::CloseBrace => Ok(argument),
            token => Err(self.unexpected(token, SINGLE_ARGUMENT)),
        }
    }
}
