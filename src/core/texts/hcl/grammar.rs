//! Expressions: from tokens to the tree, or to the first fault under the program's own title for it.
//!
//! Every title here was recorded from Terraform 1.11.4 (table in `titles.txt`).

use std::collections::BTreeMap;
use std::mem;

use super::SourceText;
use super::findings::{Findings, Overruled, TokenFault, fault, too_deep};
use super::operators;
use super::scan::{HclToken, HclTokenKind};
use super::string::{Quoting, decode};
use super::tree::{
    BinaryOp, Call, Conditional, Expr, ExprKind, For, ObjectItem, ObjectKey, Step, UnaryOp, Word,
};
use crate::diag::Span;

/// Maximum nesting of brackets, templates, conditionals, signs and blocks (rules 2.1).
pub(super) const MAX_NESTING: usize = 64;

/// Maximum number of binary operators in a row, those of its longest operand included: each is a level
/// of the tree (rules 2.1).
const MAX_CHAIN: usize = 128;

pub(super) type Checked<T> = Result<T, TokenFault>;

/// A walk over the tokens of a text.
pub(super) struct TokenWalk<'t> {
    pub(super) source: &'t SourceText,
    pub(super) tokens: &'t [HclToken],
    pub(super) at: usize,
    /// The end of the token that was taken last.
    end: usize,
    pub(super) depth: usize,
    /// The most operators in a row that an operand read so far holds.
    chained: usize,
    pub(super) found: Findings,
    /// A line end is a token here, not mere space.
    pub(super) lines_count: bool,
    /// The place of everything that is read, for a text that stands in no file by itself.
    pub(super) place: Option<Span>,
}

/// The names in `k, v in`.
pub(super) struct ForNames {
    pub(super) key: Option<String>,
    pub(super) value: String,
}

impl<'t> TokenWalk<'t> {
    pub(super) fn new(source: &'t SourceText, tokens: &'t [HclToken]) -> Self {
        Self {
            source,
            tokens,
            at: 0,
            end: 0,
            depth: 0,
            chained: 0,
            found: Findings::default(),
            lines_count: true,
            place: None,
        }
    }

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
            self.end = token.end;
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
            HclTokenKind::BadCharacter if self.source.is_broken(token.span()) => {
                "Invalid character encoding"
            }
            HclTokenKind::BadCharacter => "Invalid character",
            HclTokenKind::BadOperator => "Unsupported operator",
            HclTokenKind::Unclosed => "Invalid multi-line string",
            _ => title,
        };
        fault(title, token.span())
    }

    pub(super) fn text(&self, token: HclToken) -> &'t str {
        self.source.get(token.span())
    }

    pub(super) fn word(&self, token: HclToken) -> Word {
        Word {
            text: self.text(token).to_owned(),
            span: self.place(token.start, token.end),
        }
    }

    fn place(&self, start: usize, end: usize) -> Span {
        self.place.unwrap_or(Span::new(start, end))
    }

    pub(super) fn with_lines<T>(&mut self, count: bool, walk: impl FnOnce(&mut Self) -> T) -> T {
        let before = mem::replace(&mut self.lines_count, count);
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

    /// Reads an expression that is no part of another one.
    pub(super) fn root_expr(&mut self) -> Checked<Expr> {
        let condition = self.binary()?;
        if !self.skip(HclTokenKind::Question) {
            return Ok(condition);
        }
        let then = self.expr()?;
        self.expect(
            HclTokenKind::Colon,
            "Missing false expression in conditional",
        )?;
        let otherwise = self.expr()?;
        Ok(Expr {
            span: Span::new(condition.span.start, otherwise.span.end),
            kind: ExprKind::Conditional(Box::new(Conditional {
                condition,
                then,
                otherwise,
            })),
        })
    }

    pub(super) fn expr(&mut self) -> Checked<Expr> {
        self.nested(Self::root_expr)
    }

    /// Reads operands with operators between them; those of one precedence bind from left to right.
    fn binary(&mut self) -> Checked<Expr> {
        let start = self.peek().start;
        let before = mem::take(&mut self.chained);
        let mut operand = self.operand()?;
        // The operands that wait for their right side.
        let mut waiting: Vec<(Expr, BinaryOp)> = Vec::new();
        for operators in 0.. {
            // The tree gets a level for each operator, and a walk over it needs stack for each level.
            if operators + self.chained > MAX_CHAIN {
                return Err(too_deep(Span::new(start, self.peek().end)));
            }
            let token = self.peek();
            let is_operator = matches!(
                token.kind,
                HclTokenKind::Operator | HclTokenKind::Star | HclTokenKind::Minus
            );
            let operator = is_operator.then(|| operators::named(self.text(token)));
            let precedence = operator.map_or(0, operators::precedence);
            // What binds at least as strongly is complete now: operators of one precedence go from left to right.
            while let Some((left, waits)) =
                waiting.pop_if(|(_, waits)| operators::precedence(*waits) >= precedence)
            {
                operand = Expr {
                    span: Span::new(left.span.start, operand.span.end),
                    kind: ExprKind::Binary(waits, Box::new((left, operand))),
                };
            }
            let Some(operator) = operator else {
                self.chained = before.max(operators + self.chained);
                break;
            };
            self.take();
            waiting.push((operand, operator));
            operand = self.operand()?;
        }
        Ok(operand)
    }

    fn operand(&mut self) -> Checked<Expr> {
        let depth = self.depth;
        let mut signs = Vec::new();
        while matches!(self.peek().kind, HclTokenKind::Minus | HclTokenKind::Bang) {
            let sign = self.take();
            signs.push(sign);
            // Each sign is one level of the tree.
            self.depth += 1;
            if self.depth > MAX_NESTING {
                self.depth = depth;
                return Err(too_deep(sign.span()));
            }
        }
        let result = self.primary().and_then(|base| self.steps(base));
        self.depth = depth;
        let mut operand = result?;
        for sign in signs.into_iter().rev() {
            let operator = match sign.kind {
                HclTokenKind::Bang => UnaryOp::Not,
                _ => UnaryOp::Negate,
            };
            operand = Expr {
                span: self.place(sign.start, operand.span.end),
                kind: ExprKind::Unary(operator, Box::new(operand)),
            };
        }
        Ok(operand)
    }

    fn primary(&mut self) -> Checked<Expr> {
        let token = self.peek();
        let kind = match token.kind {
            HclTokenKind::Number => {
                self.take();
                let text = self.text(token);
                let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, ""));
                let is_number = digits.matches('.').count() < 2
                    && (exponent.is_empty() || exponent.parse::<i32>().is_ok());
                if !is_number {
                    return Err(fault("Invalid number literal", token.span()));
                }
                ExprKind::Number(text.to_owned())
            }
            HclTokenKind::Ident => return self.name_or_call(),
            HclTokenKind::OpenQuote => self.template(HclTokenKind::CloseQuote)?,
            HclTokenKind::OpenHeredoc => self.template(HclTokenKind::CloseHeredoc)?,
            HclTokenKind::OpenParen => {
                self.take();
                // Inside parentheses a line end is plain space, as in the programs.
                self.with_lines(false, |walk| {
                    let inner = walk.expr()?;
                    walk.expect(HclTokenKind::CloseParen, "Unbalanced parentheses")?;
                    Ok(ExprKind::Paren(Box::new(inner)))
                })?
            }
            HclTokenKind::OpenBracket => self.tuple()?,
            HclTokenKind::OpenBrace => self.object()?,
            HclTokenKind::End => return Err(fault("Missing expression", token.span())),
            _ => return Err(self.unexpected(token, "Invalid expression")),
        };
        Ok(Expr {
            kind,
            span: self.span_from(token),
        })
    }

    /// Returns the bytes from a token to the one that was taken last.
    fn span_from(&self, first: HclToken) -> Span {
        self.place(first.start, self.end)
    }

    fn name_or_call(&mut self) -> Checked<Expr> {
        let first = self.take();
        let mut name = self.word(first);
        if self.peek().kind == HclTokenKind::DoubleColon {
            while self.skip(HclTokenKind::DoubleColon) {
                let part = self.expect(HclTokenKind::Ident, "Missing function name")?;
                name.text.push_str("::");
                name.text.push_str(self.text(part));
                name.span = self.place(first.start, part.end);
            }
            // A name with `::` is that of a function only: no value has one.
            if self.peek().kind != HclTokenKind::OpenParen {
                let token = self.peek();
                return Err(self.unexpected(token, "Missing open parenthesis"));
            }
        }
        let kind = if self.peek().kind == HclTokenKind::OpenParen {
            ExprKind::Call(Box::new(self.call(name)?))
        } else {
            match &*name.text {
                "null" => ExprKind::Null,
                "true" => ExprKind::Bool(true),
                "false" => ExprKind::Bool(false),
                _ => ExprKind::Variable(name.text),
            }
        };
        Ok(Expr {
            kind,
            span: self.span_from(first),
        })
    }

    fn call(&mut self, name: Word) -> Checked<Call> {
        let open = self.take();
        let mut call = Call {
            name,
            args: Vec::new(),
            expand_final: false,
        };
        self.with_lines(false, |walk| {
            while !walk.skip(HclTokenKind::CloseParen) {
                call.args.push(walk.expr()?);
                let token = walk.peek();
                match token.kind {
                    HclTokenKind::Comma => walk.take(),
                    HclTokenKind::CloseParen => continue,
                    // Nothing may follow the argument that `...` expands.
                    HclTokenKind::Ellipsis => {
                        walk.take();
                        call.expand_final = true;
                        walk.expect(HclTokenKind::CloseParen, "Missing closing parenthesis")?;
                        break;
                    }
                    HclTokenKind::End => {
                        return Err(fault("Unterminated function call", open.span()));
                    }
                    _ => return Err(walk.unexpected(token, "Missing argument separator")),
                };
            }
            Ok(call)
        })
    }

    /// Reads `.name`, `[index]` and splats behind an expression.
    fn steps(&mut self, base: Expr) -> Checked<Expr> {
        let mut steps = Vec::new();
        loop {
            match self.peek().kind {
                HclTokenKind::Dot => self.attribute_steps(&mut steps)?,
                HclTokenKind::OpenBracket => {
                    self.take();
                    let step = self.with_lines(false, |walk| {
                        if walk.skip(HclTokenKind::Star) {
                            let title = "Missing close bracket on splat index";
                            walk.expect(HclTokenKind::CloseBracket, title)?;
                            return Ok(Step::FullSplat);
                        }
                        let index = walk.expr()?;
                        walk.expect(HclTokenKind::CloseBracket, "Missing close bracket on index")?;
                        Ok(Step::Index(index))
                    })?;
                    steps.push(step);
                }
                _ => break,
            }
        }
        if steps.is_empty() {
            return Ok(base);
        }
        Ok(Expr {
            span: self.place(base.span.start, self.end),
            kind: ExprKind::Traversal(Box::new(base), steps),
        })
    }

    fn attribute_steps(&mut self, steps: &mut Vec<Step>) -> Checked<()> {
        let mut in_splat = false;
        while self.skip(HclTokenKind::Dot) {
            let token = self.peek();
            steps.push(match token.kind {
                HclTokenKind::Ident => Step::Attr(self.word(token)),
                // The scanner cuts `a.0.1` into `a`, a dot and the number `0.1`.
                HclTokenKind::Number if self.text(token).contains('.') => {
                    return Err(fault("Invalid legacy index syntax", token.span()));
                }
                // `.0` is how old versions wrote `[0]`.
                HclTokenKind::Number => Step::Index(Expr {
                    kind: ExprKind::Number(self.text(token).to_owned()),
                    span: self.place(token.start, token.end),
                }),
                HclTokenKind::Star if in_splat => {
                    return Err(fault("Nested splat expression not allowed", token.span()));
                }
                HclTokenKind::Star => {
                    in_splat = true;
                    Step::AttrSplat
                }
                _ => return Err(self.unexpected(token, "Invalid attribute name")),
            });
            self.take();
        }
        Ok(())
    }

    fn tuple(&mut self) -> Checked<ExprKind> {
        let open = self.take();
        self.with_lines(false, |walk| {
            if walk.is_word("for") {
                return walk.for_expr(HclTokenKind::CloseBracket);
            }
            let mut items = Vec::new();
            while !walk.skip(HclTokenKind::CloseBracket) {
                items.push(walk.expr()?);
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
            Ok(ExprKind::Tuple(items))
        })
    }

    fn is_word(&mut self, word: &str) -> bool {
        let token = self.peek();
        token.kind == HclTokenKind::Ident && self.text(token) == word
    }

    fn object(&mut self) -> Checked<ExprKind> {
        let open = self.take();
        // Lines may end between the brace and `for`.
        if self.with_lines(false, |walk| walk.is_word("for")) {
            return self.with_lines(false, |walk| walk.for_expr(HclTokenKind::CloseBrace));
        }
        // Line ends separate the items.
        self.with_lines(true, |walk| {
            let mut items: Vec<Option<ObjectItem>> = Vec::new();
            // The index and the place of each key.
            let mut known: BTreeMap<String, (usize, Span)> = BTreeMap::new();
            loop {
                while walk.skip(HclTokenKind::Newline) {}
                if walk.skip(HclTokenKind::CloseBrace) {
                    let items = items.into_iter().flatten().collect();
                    return Ok(ExprKind::Object(items));
                }
                let first = walk.at;
                let key = walk.expr()?;
                let key_span = walk.span_from(walk.tokens[first]);
                let key_text = walk.key_text(first);
                let value = walk.object_value(open)?;
                let item = walk.span_from(walk.tokens[first]);
                if let Some((index, earlier)) = known.insert(key_text, (items.len(), item)) {
                    // The last one counts (rules 1.4).
                    items[index] = None;
                    walk.found.overruled.push(Overruled {
                        earlier,
                        later: key_span,
                    });
                }
                let key = match key.kind {
                    // As keys these words mean themselves, too.
                    ExprKind::Variable(_) | ExprKind::Null | ExprKind::Bool(_) => {
                        ObjectKey::Name(walk.word(walk.tokens[first]))
                    }
                    _ => ObjectKey::Expr(key),
                };
                items.push(Some(ObjectItem { key, value }));
            }
        })
    }

    /// Reads from behind a key to behind the separator, line ends not included.
    fn object_value(&mut self, open: HclToken) -> Checked<Expr> {
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
        let value = self.expr()?;
        let token = self.peek();
        match token.kind {
            HclTokenKind::Comma => {
                self.take();
            }
            HclTokenKind::Newline | HclTokenKind::CloseBrace => {}
            HclTokenKind::End => return Err(fault(UNTERMINATED, open.span())),
            _ => return Err(self.unexpected(token, "Missing attribute separator")),
        }
        Ok(value)
    }

    /// Gives keys that are the same the same text: strings decoded, space gone.
    fn key_text(&self, first: usize) -> String {
        let mut text = String::new();
        for token in &self.tokens[first..self.at] {
            match token.kind {
                HclTokenKind::Literal => text.push_str(&decode(self.text(*token), Quoting::Quoted)),
                _ => text.push_str(self.text(*token)),
            }
            text.push(' ');
        }
        text
    }

    fn for_expr(&mut self, close: HclTokenKind) -> Checked<ExprKind> {
        const TITLE: &str = "Invalid 'for' expression";
        self.take();
        let names = self.for_names(TITLE)?;
        let collection = self.expr()?;
        self.expect(HclTokenKind::Colon, TITLE)?;
        let mut key = None;
        // A key and a value look alike: only the sign behind it decides.
        let mut value = self.expr()?;
        let mut grouping = false;
        if close == HclTokenKind::CloseBrace {
            self.expect(HclTokenKind::FatArrow, TITLE)?;
            key = Some(mem::replace(&mut value, self.expr()?));
            grouping = self.skip(HclTokenKind::Ellipsis);
        }
        let mut condition = None;
        if self.is_word("if") {
            self.take();
            condition = Some(self.expr()?);
        }
        self.expect(close, TITLE)?;
        Ok(ExprKind::For(Box::new(For {
            key_name: names.key,
            value_name: names.value,
            collection,
            key,
            value,
            grouping,
            condition,
        })))
    }

    /// Reads `k, v in`.
    pub(super) fn for_names(&mut self, title: &'static str) -> Checked<ForNames> {
        let mut names = ForNames {
            key: None,
            value: self.for_name(title)?,
        };
        if self.skip(HclTokenKind::Comma) {
            names.key = Some(mem::replace(&mut names.value, self.for_name(title)?));
        }
        if !self.is_word("in") {
            let token = self.peek();
            return Err(self.unexpected(token, title));
        }
        self.take();
        Ok(names)
    }

    fn for_name(&mut self, title: &'static str) -> Checked<String> {
        let name = self.expect(HclTokenKind::Ident, title)?;
        Ok(self.text(name).to_owned())
    }
}
