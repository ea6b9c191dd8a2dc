//! Finds the first fault of an expression, under the program's own title for it.
//!
//! The tree comes from `hcl_edit`; this walk over tokens builds nothing. It exists because
//! `hcl_edit` words its errors in its own way, stops at the first of a file, and accepts a few
//! things that the programs refuse. Every title here was recorded from Terraform 1.11.4 (table in
//! `titles.txt`).

use std::collections::BTreeMap;

use super::findings::{Fill, Findings, Overruled, Patch, TokenFault, fault, too_deep};
use super::scan::{HclToken, HclTokenKind};
use super::string::{Quoting, decode};
use crate::diag::{Span, rules};

/// Maximum nesting of brackets, templates, conditionals, operators and blocks; the limit of
/// `hcl_edit` (rules 2.1).
pub(super) const MAX_NESTING: usize = 64;

/// Maximum number of binary operators in a row; the limit of `hcl_edit`.
const MAX_CHAIN: usize = 128;

/// Maximum number of items of one object; `hcl_edit` needs quadratic time (rules 2.2).
pub(super) const MAX_OBJECT_ITEMS: usize = 10_000;

/// Maximum number of key comparisons of `hcl_edit` in a file: as for two of the largest objects,
/// or a million items in objects of a hundred.
const MAX_COMPARED_KEYS: usize = MAX_OBJECT_ITEMS * MAX_OBJECT_ITEMS * 5 / 4;

pub(super) type Checked<T = ()> = Result<T, TokenFault>;

/// A walk over the tokens of a text.
pub(super) struct TokenWalk<'t> {
    pub(super) text: &'t str,
    pub(super) tokens: &'t [HclToken],
    /// Offsets of bytes that are no UTF-8, ascending; the text has a control character there.
    pub(super) broken: &'t [usize],
    pub(super) at: usize,
    pub(super) depth: usize,
    /// The number of key comparisons so far.
    pub(super) compared: usize,
    pub(super) found: Findings,
    /// A line end is a token here, not mere space.
    pub(super) lines_count: bool,
}

impl<'t> TokenWalk<'t> {
    /// Looks at the next token that counts.
    pub(super) fn peek(&mut self) -> HclToken {
        // Inside of brackets line ends are white space.
        while !self.lines_count && self.tokens[self.at].kind == HclTokenKind::Newline {
            self.at += 1;
        }
        self.tokens[self.at]
    }

    pub(super) fn take(&mut self) -> HclToken {
        let token = self.peek();
        if token.kind != HclTokenKind::End {
            self.at += 1;
        }
        token
    }

    /// Takes the next token if it is of that kind.
    pub(super) fn skip(&mut self, kind: HclTokenKind) -> bool {
        let is_next = self.peek().kind == kind;
        if is_next {
            self.take();
        }
        is_next
    }

    pub(super) fn expect(
        &mut self,
        kind: HclTokenKind,
        otherwise: &'static str,
    ) -> Checked<HclToken> {
        match self.peek() {
            token if token.kind == kind => Ok(self.take()),
            token => Err(self.unexpected(token, otherwise)),
        }
    }

    /// Names what is wrong with a token: a character that is never right comes before `title`.
    pub(super) fn unexpected(&self, token: HclToken, title: &'static str) -> TokenFault {
        let title = match token.kind {
            HclTokenKind::BadCharacter if self.is_broken(token) => "Invalid character encoding",
            HclTokenKind::BadCharacter => "Invalid character",
            HclTokenKind::BadOperator => "Unsupported operator",
            // `hcl_edit` accepts a line end in quotes, the programs do not (rules 1.5).
            HclTokenKind::Unclosed => "Invalid multi-line string",
            _ => title,
        };
        fault(title, token.span())
    }

    pub(super) fn is_broken(&self, token: HclToken) -> bool {
        let first = self.broken.partition_point(|at| *at < token.start);
        self.broken.get(first).is_some_and(|at| *at < token.end)
    }

    pub(super) fn source(&self, token: HclToken) -> &'t str {
        &self.text[token.start..token.end]
    }

    pub(super) fn patch(&mut self, span: Span, fill: Fill) {
        self.found.patches.push(Patch { span, fill });
    }

    pub(super) fn with_lines<T>(&mut self, count: bool, walk: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.lines_count, count);
        let result = walk(self);
        self.lines_count = before;
        result
    }

    pub(super) fn nested<T>(&mut self, walk: impl FnOnce(&mut Self) -> Checked<T>) -> Checked<T> {
        if self.depth >= MAX_NESTING {
            let span = self.peek().span();
            return Err(too_deep(span));
        }
        self.depth += 1;
        let result = walk(self);
        self.depth -= 1;
        result
    }

    /// Walks over an expression that is no part of another one.
    pub(super) fn root_expr(&mut self) -> Checked {
        self.binary()?;
        if !self.skip(HclTokenKind::Question) {
            return Ok(());
        }
        self.expr()?;
        self.expect(
            HclTokenKind::Colon,
            "Missing false expression in conditional",
        )?;
        self.expr()
    }

    pub(super) fn expr(&mut self) -> Checked {
        self.nested(Self::root_expr)
    }

    fn binary(&mut self) -> Checked {
        let start = self.peek().start;
        // A loop, not a recursion by precedence: only the length matters here, and `hcl_edit` builds
        // the tree.
        for _ in 0..=MAX_CHAIN {
            self.operand()?;
            match self.peek().kind {
                HclTokenKind::Operator | HclTokenKind::Star | HclTokenKind::Minus => self.take(),
                _ => return Ok(()),
            };
        }
        Err(too_deep(Span::new(start, self.peek().end)))
    }

    fn operand(&mut self) -> Checked {
        let depth = self.depth;
        while matches!(self.peek().kind, HclTokenKind::Minus | HclTokenKind::Bang) {
            let sign = self.take();
            // Each sign is one level of the tree of `hcl_edit`.
            self.depth += 1;
            if self.depth > MAX_NESTING {
                self.depth = depth;
                return Err(too_deep(sign.span()));
            }
        }
        let result = self.primary().and_then(|()| self.steps());
        self.depth = depth;
        result
    }

    fn primary(&mut self) -> Checked {
        let token = self.peek();
        match token.kind {
            HclTokenKind::Number => self.number(),
            HclTokenKind::Ident => self.name_or_call(),
            HclTokenKind::OpenQuote => self.template(HclTokenKind::CloseQuote),
            HclTokenKind::OpenHeredoc => self.template(HclTokenKind::CloseHeredoc),
            HclTokenKind::OpenParen => {
                self.take();
                self.with_lines(false, |walk| {
                    walk.expr()?;
                    walk.expect(HclTokenKind::CloseParen, "Unbalanced parentheses")
                })
                .map(drop)
            }
            HclTokenKind::OpenBracket => self.tuple(),
            HclTokenKind::OpenBrace => self.object(),
            HclTokenKind::End => Err(fault("Missing expression", token.span())),
            _ => Err(self.unexpected(token, "Invalid expression")),
        }
    }

    fn number(&mut self) -> Checked {
        let token = self.take();
        let text = self.source(token);
        let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, ""));
        let is_number = digits.matches('.').count() < 2
            && (exponent.is_empty() || exponent.parse::<i32>().is_ok());
        if !is_number {
            return Err(fault("Invalid number literal", token.span()));
        }
        // Terraform reads `1.e5` and numbers beyond an `f64`. The tree takes the digits from the
        // source, so any number will do for `hcl_edit`.
        let too_large = text.parse::<f64>().is_ok_and(f64::is_infinite);
        if too_large || digits.ends_with('.') {
            self.patch(token.span(), Fill::Digit);
        }
        Ok(())
    }

    fn name_or_call(&mut self) -> Checked {
        self.take();
        if self.peek().kind == HclTokenKind::DoubleColon {
            while self.skip(HclTokenKind::DoubleColon) {
                self.expect(HclTokenKind::Ident, "Missing function name")?;
            }
            if self.peek().kind != HclTokenKind::OpenParen {
                let token = self.peek();
                return Err(self.unexpected(token, "Missing open parenthesis"));
            }
        }
        if self.peek().kind != HclTokenKind::OpenParen {
            return Ok(());
        }
        let open = self.take();
        self.with_lines(false, |walk| {
            while !walk.skip(HclTokenKind::CloseParen) {
                walk.expr()?;
                let token = walk.peek();
                match token.kind {
                    HclTokenKind::Comma => walk.take(),
                    HclTokenKind::CloseParen => continue,
                    // Nothing may follow the argument that `...` expands.
                    HclTokenKind::Ellipsis => {
                        walk.take();
                        return walk
                            .expect(HclTokenKind::CloseParen, "Missing closing parenthesis")
                            .map(drop);
                    }
                    HclTokenKind::End => {
                        return Err(fault("Unterminated function call", open.span()));
                    }
                    _ => return Err(walk.unexpected(token, "Missing argument separator")),
                };
            }
            Ok(())
        })
    }

    /// Walks over `.name`, `[index]` and splats.
    fn steps(&mut self) -> Checked {
        loop {
            match self.peek().kind {
                HclTokenKind::Dot => self.attribute_step()?,
                HclTokenKind::OpenBracket => self.index_step()?,
                _ => return Ok(()),
            }
        }
    }

    fn attribute_step(&mut self) -> Checked {
        let mut in_splat = false;
        while self.skip(HclTokenKind::Dot) {
            let token = self.peek();
            match token.kind {
                HclTokenKind::Ident => {}
                // The scanner cuts `a.0.1` into `a`, a dot and the number `0.1`.
                HclTokenKind::Number if self.source(token).contains('.') => {
                    return Err(fault("Invalid legacy index syntax", token.span()));
                }
                HclTokenKind::Number => {}
                HclTokenKind::Star if in_splat => {
                    return Err(fault("Nested splat expression not allowed", token.span()));
                }
                HclTokenKind::Star => in_splat = true,
                _ => return Err(self.unexpected(token, "Invalid attribute name")),
            }
            self.take();
        }
        Ok(())
    }

    fn index_step(&mut self) -> Checked {
        self.take();
        self.with_lines(false, |walk| {
            if walk.skip(HclTokenKind::Star) {
                walk.expect(
                    HclTokenKind::CloseBracket,
                    "Missing close bracket on splat index",
                )
            } else {
                walk.expr()?;
                walk.expect(HclTokenKind::CloseBracket, "Missing close bracket on index")
            }
        })
        .map(drop)
    }

    fn tuple(&mut self) -> Checked {
        let open = self.take();
        self.with_lines(false, |walk| {
            if walk.is_word("for") {
                return walk.for_expr(HclTokenKind::CloseBracket);
            }
            while !walk.skip(HclTokenKind::CloseBracket) {
                walk.expr()?;
                let token = walk.peek();
                match token.kind {
                    HclTokenKind::Comma => walk.take(),
                    HclTokenKind::CloseBracket => continue,
                    HclTokenKind::End => {
                        let title = "Unterminated tuple constructor expression";
                        return Err(fault(title, open.span()));
                    }
                    _ => return Err(walk.unexpected(token, "Missing item separator")),
                };
            }
            Ok(())
        })
    }

    fn is_word(&mut self, word: &str) -> bool {
        let token = self.peek();
        token.kind == HclTokenKind::Ident && self.source(token) == word
    }

    fn object(&mut self) -> Checked {
        let open = self.take();
        // Lines may end between the brace and `for`.
        if self.with_lines(false, |walk| walk.is_word("for")) {
            let first = self.at;
            self.with_lines(false, |walk| walk.for_expr(HclTokenKind::CloseBrace))?;
            // `hcl_edit` does not expect the line ends of a `for` object everywhere, so they go.
            for at in first.max(1)..self.at {
                let token = self.tokens[at];
                if token.kind == HclTokenKind::Newline && token.depth == open.depth + 1 {
                    let span = Span::new(self.tokens[at - 1].end, self.tokens[at + 1].start);
                    self.patch(span, Fill::Join);
                }
            }
            return Ok(());
        }
        self.with_lines(true, |walk| walk.object_items(open))
    }

    /// Walks over the items of an object, in which line ends separate.
    fn object_items(&mut self, open: HclToken) -> Checked {
        let mut items: BTreeMap<String, Span> = BTreeMap::new();
        let mut compared = 0;
        for earlier in 0..=MAX_OBJECT_ITEMS {
            // `hcl_edit` compares each key with all before it (rules 2.2).
            compared += earlier;
            if self.compared + compared > MAX_COMPARED_KEYS {
                break;
            }
            while self.skip(HclTokenKind::Newline) {}
            if self.skip(HclTokenKind::CloseBrace) {
                self.compared += compared;
                return Ok(());
            }
            let first = self.at;
            self.expr()?;
            let key = self.key_text(first);
            let key_span = Span::new(self.tokens[first].start, self.tokens[self.at - 1].end);
            self.object_value(open)?;
            let item = Span::new(key_span.start, self.tokens[self.at - 1].end);
            if let Some(earlier) = items.insert(key, item) {
                // In the programs the last one counts; `hcl_edit` refuses a repeated key (rules 1.4).
                self.patch(earlier, Fill::Blank);
                self.found.overruled.push(Overruled {
                    earlier,
                    later: key_span,
                });
            }
        }
        Err(TokenFault {
            code: rules::OBJECT_TOO_LARGE,
            title: "Object too large",
            span: open.span(),
        })
    }

    /// Walks from behind a key to behind the separator, line ends not included.
    fn object_value(&mut self, open: HclToken) -> Checked {
        const UNTERMINATED: &str = "Unterminated object constructor expression";
        let token = self.peek();
        match token.kind {
            HclTokenKind::Equal | HclTokenKind::Colon => self.take(),
            HclTokenKind::Newline | HclTokenKind::Comma => {
                return Err(fault("Missing attribute value", token.span()));
            }
            HclTokenKind::End => return Err(fault(UNTERMINATED, open.span())),
            _ => return Err(self.unexpected(token, "Missing key/value separator")),
        };
        self.expr()?;
        let token = self.peek();
        match token.kind {
            HclTokenKind::Comma => {
                self.take();
                Ok(())
            }
            HclTokenKind::Newline | HclTokenKind::CloseBrace => Ok(()),
            HclTokenKind::End => Err(fault(UNTERMINATED, open.span())),
            _ => Err(self.unexpected(token, "Missing attribute separator")),
        }
    }

    /// Gives keys that `hcl_edit` takes for the same the same text: strings decoded, space gone.
    fn key_text(&self, first: usize) -> String {
        let mut text = String::new();
        for token in &self.tokens[first..self.at] {
            match token.kind {
                HclTokenKind::Literal => {
                    text.push_str(&decode(self.source(*token), Quoting::Quoted))
                }
                _ => text.push_str(self.source(*token)),
            }
            text.push(' ');
        }
        text
    }

    fn for_expr(&mut self, close: HclTokenKind) -> Checked {
        const TITLE: &str = "Invalid 'for' expression";
        self.take();
        self.for_names(TITLE)?;
        self.expr()?;
        self.expect(HclTokenKind::Colon, TITLE)?;
        self.expr()?;
        if close == HclTokenKind::CloseBrace {
            self.expect(HclTokenKind::FatArrow, TITLE)?;
            self.expr()?;
            self.skip(HclTokenKind::Ellipsis);
        }
        if self.is_word("if") {
            self.take();
            self.expr()?;
        }
        self.expect(close, TITLE).map(drop)
    }

    /// Walks over `k, v in`.
    pub(super) fn for_names(&mut self, title: &'static str) -> Checked {
        self.expect(HclTokenKind::Ident, title)?;
        if self.skip(HclTokenKind::Comma) {
            self.expect(HclTokenKind::Ident, title)?;
        }
        if !self.is_word("in") {
            let token = self.peek();
            return Err(self.unexpected(token, title));
        }
        self.take();
        Ok(())
    }
}
