//! Cuts a text at its top-level items and finds the faults of each: the block scanner
//! (rules 1).
//!
//! A fault costs as little as possible: a bad argument is blanked out of its block, a bad label
//! leaves the block alone, and a block that is never closed ends where the next line starts with
//! a top-level keyword.

use std::collections::BTreeSet;

use super::findings::{Fill, Findings, Patch, fault};
use super::grammar::{Checked, TokenWalk};
use super::scan::{HclToken, HclTokenKind, tokens};
use crate::diag::{MAX_PROBLEMS, Span};

/// Words that start a block at the top level of a configuration or of a lock file.
const KEYWORDS: [&str; 16] = [
    "action",
    "check",
    "data",
    "ephemeral",
    "import",
    "language",
    "locals",
    "module",
    "moved",
    "output",
    "provider",
    "removed",
    "resource",
    "run",
    "terraform",
    "variable",
];

const ITEM_REQUIRED: &str = "Argument or block definition required";
const SINGLE_ARGUMENT: &str = "Invalid single-argument block definition";

/// One top-level item with what is wrong in it.
pub(super) struct Chunk {
    pub(super) span: Span,
    pub(super) found: Findings,
    /// The name, if it is an argument.
    name: Option<Span>,
    /// The pieces into which it must be cut once more, because it swallowed other items.
    pieces: Vec<Span>,
}

/// Cuts a text into its top-level items, in order; between them are only space and comments.
pub(super) fn chunks(text: &str, broken: &[usize]) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    for chunk in cut(text, broken, Span::new(0, text.len())) {
        if chunk.pieces.is_empty() {
            chunks.push(chunk)
        } else {
            chunks.extend(cut_again(text, broken, &chunk))
        }
    }
    // `hcl_edit` refuses a file with a repeated argument as a whole, so the second one is blanked.
    let mut names = BTreeSet::new();
    for chunk in &mut chunks {
        let Some(name) = chunk.name else { continue };
        if !names.insert(&text[name.start..name.end]) {
            // All of it is blanked, and patches must not overlap, so those for faults inside go.
            chunk.found = Findings::default();
            redefine(&mut chunk.found, name, chunk.span);
        }
    }
    chunks
}

/// Cuts the pieces of a chunk that swallowed other items.
fn cut_again(text: &str, broken: &[usize], chunk: &Chunk) -> Vec<Chunk> {
    let mut chunks: Vec<Chunk> = chunk
        .pieces
        .iter()
        .flat_map(|piece| cut(text, broken, *piece))
        .collect();
    // What is missing at the end of the first piece is, to the programs, a wrong token behind it.
    let first = chunks
        .first_mut()
        .and_then(|first| first.found.faults.first_mut());
    if let (Some(fault), Some(whole)) = (first, chunk.found.faults.first())
        && fault.span.start == chunk.pieces[0].end
    {
        *fault = whole.clone();
    }
    chunks
}

fn redefine(found: &mut Findings, name: Span, item: Span) {
    found.faults.push(fault("Attribute redefined", name));
    found.patches.push(Patch {
        span: item,
        fill: Fill::Blank,
    });
}

fn cut(text: &str, broken: &[usize], region: Span) -> Vec<Chunk> {
    // All tokens are cut first: a walk that stops at a fault must be able to look ahead for the end of
    // the item, which only tokens with their depth show.
    let tokens = tokens(text, region);
    let mut chunks = Vec::new();
    let mut faults = 0;
    let mut walk = TokenWalk {
        text,
        tokens: &tokens,
        broken,
        at: 0,
        depth: 0,
        compared: 0,
        found: Findings::default(),
        lines_count: true,
    };
    loop {
        walk.skip_empty_lines();
        let first = walk.at;
        if walk.peek().kind == HclTokenKind::End {
            return chunks;
        }
        let name = walk.item(0).map(HclToken::span);
        let item = &tokens[first..walk.at];
        let span = Span::new(tokens[first].start, item.last().map_or(0, |last| last.end));
        let found = std::mem::take(&mut walk.found);
        faults += found.faults.len();
        let pieces = if found.faults.is_empty() {
            Vec::new()
        } else {
            pieces(text, item, span)
        };
        chunks.push(Chunk {
            span,
            found,
            name,
            pieces,
        });
        // No more faults than these are reported, and a file with faults is refused: what follows would
        // only cost memory, some hundred bytes for each faulty byte.
        if faults > MAX_PROBLEMS {
            return chunks;
        }
    }
}

/// Cuts a faulty item before every line that can only be the start of a top-level block; none if
/// there is no such line.
///
/// A brace that is missing makes an item run to the end of the file, and everything behind it would
/// be lost. A keyword at the very start of a line, with a brace on the same line, is hardly ever
/// inside of a block, so the loss ends there.
fn pieces(text: &str, item: &[HclToken], span: Span) -> Vec<Span> {
    // Without a brace on its line a keyword may be an argument of a block (rules 1.2).
    let has_brace = |from: usize| text[from..].lines().next().is_some_and(|l| l.contains('{'));
    let starts_block = |token: &&HclToken| {
        token.kind == HclTokenKind::Ident
            && text[..token.start].ends_with('\n')
            && KEYWORDS.contains(&&text[token.start..token.end])
            && has_brace(token.start)
    };
    let mut pieces = Vec::new();
    let mut start = span.start;
    for token in item.iter().skip(1).filter(starts_block) {
        pieces.push(Span::new(start, token.start));
        start = token.start;
    }
    if !pieces.is_empty() {
        pieces.push(Span::new(start, span.end));
    }
    pieces
}

impl TokenWalk<'_> {
    fn skip_empty_lines(&mut self) {
        while self.tokens[self.at].kind == HclTokenKind::Newline {
            self.at += 1;
        }
    }

    /// Walks over one argument or block of a body at `depth` and over whatever follows it on its
    /// line; returns the name of an argument. Faults end up in `found`.
    fn item(&mut self, depth: usize) -> Option<HclToken> {
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
        if let Err(fault) = result {
            // A header with a bad label was reported already.
            if self.found.faults.len() == faults {
                self.found.faults.push(fault);
            }
            self.leave(first, depth);
        }
        name
    }

    /// Goes to the end of an item that cannot be saved, and blanks it.
    fn leave(&mut self, first: HclToken, depth: usize) {
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
        let end = self.tokens[self.at].start;
        self.patch(Span::new(first.start, end), Fill::Blank);
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

    fn argument(&mut self, depth: usize) -> Checked {
        let first = self.peek();
        self.at += 2;
        self.root_expr()?;
        let title = match self.peek().kind {
            HclTokenKind::Comma => "Unexpected comma after argument",
            _ => "Missing newline after argument",
        };
        self.end_line(first, title, depth);
        Ok(())
    }

    /// Expects the end of the line; anything else is blanked, which leaves the item from `first`
    /// on alone.
    fn end_line(&mut self, first: HclToken, title: &'static str, depth: usize) {
        let token = self.peek();
        if matches!(token.kind, HclTokenKind::Newline | HclTokenKind::End) {
            return;
        }
        let fault = self.unexpected(token, title);
        self.found.faults.push(fault);
        let before = self.tokens[self.at - 1].end;
        self.at = self.item_end(self.at, depth);
        let end = self.tokens[self.at];
        let (start, fill) = match end.kind {
            HclTokenKind::Newline | HclTokenKind::End => (before, Fill::Blank),
            // Without room for a line end before the closing brace the item must go.
            _ if end.start == before => (first.start, Fill::Blank),
            _ => (before, Fill::Break),
        };
        self.patch(Span::new(start, end.start), fill);
    }

    fn block(&mut self, depth: usize) -> Checked {
        let kind = self.take();
        while self.peek().kind != HclTokenKind::OpenBrace {
            let token = self.take();
            match token.kind {
                HclTokenKind::Ident => {}
                HclTokenKind::OpenQuote => self.label()?,
                _ => return Err(self.unexpected(token, "Invalid block definition")),
            }
        }
        self.nested(|walk| {
            walk.block_body(kind);
            Ok(())
        })?;
        if self.peek().kind != HclTokenKind::End {
            self.end_line(kind, "Missing newline after block definition", depth);
        }
        Ok(())
    }

    /// Walks over a quoted label, behind its opening quote. A label with a template or a bad
    /// escape is reported, and patched so that its block survives.
    fn label(&mut self) -> Checked {
        let start = self.tokens[self.at].start;
        let mut first = None;
        loop {
            let token = self.take();
            let fault = match token.kind {
                HclTokenKind::CloseQuote => break,
                HclTokenKind::Literal => self.literal(token, HclTokenKind::CloseQuote).err(),
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
        }
        if let Some(first) = first {
            self.found.faults.push(first);
            let end = self.tokens[self.at - 1].start;
            // Letters keep `hcl_edit` going; `convert` decodes the label from the file.
            self.patch(Span::new(start, end), Fill::Letter);
        }
        Ok(())
    }

    /// Goes to the end of what an opening token encloses.
    fn skip_inside(&mut self, open: HclToken) {
        let inside =
            |token: &&HclToken| token.kind != HclTokenKind::End && token.depth > open.depth;
        let rest = &self.tokens[self.at..];
        self.at += rest.iter().take_while(inside).count();
    }

    /// Walks from the opening brace of a block to behind the closing one.
    fn block_body(&mut self, kind: HclToken) {
        let open = self.take();
        match self.peek().kind {
            HclTokenKind::Newline => self.body(open.depth + 1),
            HclTokenKind::CloseBrace | HclTokenKind::End => {}
            // Without a line end behind its brace a block holds one argument at most.
            _ => {
                if let Err(fault) = self.single_argument() {
                    self.found.faults.push(fault);
                    // The fault may be inside of brackets, where line ends do not count.
                    self.lines_count = true;
                    self.skip_inside(open);
                    let close = self.tokens[self.at].start;
                    self.patch(Span::new(open.end, close), Fill::Blank);
                }
            }
        }
        if self.peek().kind == HclTokenKind::End {
            // Like the programs: of blocks in each other only the innermost is reported, and nothing
            // behind another fault, which may well have taken the brace.
            if self.found.faults.is_empty() {
                let title = "Unclosed configuration block";
                self.found.faults.push(fault(title, kind.span()));
            }
            // `read_chunks` adds as many braces before it hands the block to `hcl_edit`.
            self.found.unclosed += 1;
        }
        self.take();
    }

    fn body(&mut self, depth: usize) {
        let mut names = BTreeSet::new();
        loop {
            self.skip_empty_lines();
            let first = self.peek();
            if first.kind == HclTokenKind::End || first.depth < depth {
                return;
            }
            let faults = self.found.faults.len();
            let Some(name) = self.item(depth) else {
                continue;
            };
            if !names.insert(&self.text[name.start..name.end]) {
                // All of the second argument is blanked, so that faults inside it say nothing any more.
                self.found.faults.truncate(faults);
                let span = Span::new(first.start, self.tokens[self.at].start);
                redefine(&mut self.found, name.span(), span);
            }
        }
    }

    /// Walks over the argument of a block on one line.
    fn single_argument(&mut self) -> Checked {
        let name = self.take();
        let next = self.peek();
        match (name.kind, next.kind) {
            (HclTokenKind::Ident, HclTokenKind::Equal) => self.take(),
            (
                HclTokenKind::Ident,
                HclTokenKind::OpenQuote | HclTokenKind::Ident | HclTokenKind::OpenBrace,
            ) => {
                return Err(fault("Argument definition required", name.span()));
            }
            (HclTokenKind::Ident, _) => return Err(fault(ITEM_REQUIRED, name.span())),
            _ => return Err(self.unexpected(name, ITEM_REQUIRED)),
        };
        self.root_expr()?;
        match self.peek() {
            token if token.kind == HclTokenKind::CloseBrace => Ok(()),
            token => Err(self.unexpected(token, SINGLE_ARGUMENT)),
        }
    }
}
