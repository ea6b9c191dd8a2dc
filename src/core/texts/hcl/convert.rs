//! From the tree of `hcl_edit` to ours, with every span at its place in the file.
//!
//! Recursion is as deep as `hcl_edit` lets a tree become (64 levels, 128 operators in a row).

use std::borrow::Cow;
use std::ops::Range;

use hcl_edit::Span as _;
use hcl_edit::expr::{self as edit, Expression, TraversalOperator};
use hcl_edit::structure::{self, Structure};
use hcl_edit::template::{Directive, Element};

use super::SourceSlice;
use super::scan::token_after;
use super::string::{Quoting, decode};
use super::template::{self, Sequence, Strip, TemplatePiece};
use super::tree::{
    Attribute, BinaryOp, Block, Body, Call, Conditional, Expr, ExprKind, For, Item, ObjectItem,
    ObjectKey, Step, UnaryOp, Word,
};
use crate::diag::Span;

/// The origin of the text that `hcl_edit` read.
pub(super) struct Converter<'t> {
    /// The whole file, without patches: numbers, labels and literal text are taken from here.
    pub(super) source: SourceSlice<'t>,
    /// Offset of the text that was read.
    pub(super) shift: usize,
    /// The span to use if `hcl_edit` gives none.
    pub(super) around: Span,
}

impl Converter<'_> {
    fn span(&self, range: Option<Range<usize>>) -> Span {
        // Braces that were added to close blocks lie behind the end of the file.
        let clamp = |at: usize| (at + self.shift).min(self.around.end);
        range.map_or(self.around, |range| {
            Span::new(clamp(range.start), clamp(range.end))
        })
    }

    fn text(&self, span: Span) -> &str {
        self.source
            .text
            .get(span.start..span.end)
            .unwrap_or_default()
    }

    fn word(&self, text: &str, range: Option<Range<usize>>) -> Word {
        Word {
            text: text.to_owned(),
            span: self.span(range),
        }
    }

    pub(super) fn items(&self, body: &structure::Body) -> Vec<Item> {
        let item = |structure: &Structure| match structure {
            Structure::Attribute(attribute) => Item::Attribute(self.attribute(attribute)),
            Structure::Block(block) => Item::Block(self.block(block)),
        };
        body.iter().map(item).collect()
    }

    fn attribute(&self, attribute: &structure::Attribute) -> Attribute {
        let name = self.word(attribute.key.as_str(), attribute.key.span());
        let value = self.expr(&attribute.value);
        Attribute {
            span: Span::new(name.span.start, value.span.end),
            name,
            value,
        }
    }

    fn block(&self, block: &structure::Block) -> Block {
        let kind = self.word(block.ident.as_str(), block.ident.span());
        let labels: Vec<Word> = block.labels.iter().map(|label| self.label(label)).collect();
        let header_end = labels.last().map_or(kind.span.end, |label| label.span.end);
        let open = token_after(self.source.text, header_end).map_or(header_end, |token| token.end);
        // The closing brace of an unclosed block was added behind the text.
        let is_closed = block
            .span()
            .is_some_and(|range| range.end + self.shift <= self.around.end);
        let span = self.span(block.span());
        Block {
            body: Body {
                items: self.items(&block.body),
                span: Span::new(open, span.end - usize::from(is_closed)),
            },
            header: Span::new(kind.span.start, header_end),
            span,
            kind,
            labels,
        }
    }

    /// Decodes a label from the file, because a patch may have changed what `hcl_edit` saw.
    fn label(&self, label: &structure::BlockLabel) -> Word {
        let span = self.span(label.span());
        Word {
            text: self.quoted(span),
            span,
        }
    }

    /// Decodes the text between the quotes of a string; a text without quotes is returned unchanged.
    fn quoted(&self, span: Span) -> String {
        let inside = Span::new(span.start + 1, span.end.saturating_sub(1));
        match self.text(span) {
            text if text.len() > 1 && text.starts_with('"') && text.ends_with('"') => {
                decode(&self.literal(inside), Quoting::Quoted)
            }
            text => text.to_owned(),
        }
    }

    /// Returns literal text as the programs read it.
    fn literal(&self, span: Span) -> Cow<'_, str> {
        let text = self.text(span);
        let replaced = self.replaced(span);
        if replaced.is_empty() {
            return Cow::Borrowed(text);
        }
        let chars = text.char_indices().map(|(at, c)| {
            let is_replaced = replaced.binary_search(&(span.start + at)).is_ok();
            if is_replaced {
                char::REPLACEMENT_CHARACTER
            } else {
                c
            }
        });
        Cow::Owned(chars.collect())
    }

    /// Returns the offsets within a span that mean U+FFFD.
    fn replaced(&self, span: Span) -> &[usize] {
        let all = self.source.replaced;
        let start = all.partition_point(|at| *at < span.start);
        let end = all.partition_point(|at| *at < span.end);
        all.get(start..end).unwrap_or_default()
    }

    fn expr(&self, expr: &Expression) -> Expr {
        let span = self.span(expr.span());
        Expr {
            kind: self.kind(expr, span),
            span,
        }
    }

    fn boxed(&self, expr: &Expression) -> Box<Expr> {
        Box::new(self.expr(expr))
    }

    fn kind(&self, expr: &Expression, span: Span) -> ExprKind {
        match expr {
            Expression::Null(_) => ExprKind::Null,
            Expression::Bool(value) => ExprKind::Bool(**value),
            Expression::Number(_) => self.number(span),
            // `hcl_edit` saw a control character where U+FFFD is meant (rules 1.8).
            Expression::String(_) if !self.replaced(span).is_empty() => {
                ExprKind::String(self.quoted(span))
            }
            Expression::String(text) => ExprKind::String(text.as_str().to_owned()),
            Expression::Array(items) => {
                ExprKind::Tuple(items.iter().map(|item| self.expr(item)).collect())
            }
            Expression::Object(object) => self.object(object),
            Expression::StringTemplate(template) => {
                let mut pieces = Vec::new();
                self.pieces(template.iter(), Quoting::Quoted, &mut pieces);
                template::strip(&mut pieces);
                template::assemble(pieces)
            }
            Expression::HeredocTemplate(heredoc) => {
                let mut pieces = Vec::new();
                self.pieces(heredoc.template.iter(), Quoting::Heredoc, &mut pieces);
                template::strip(&mut pieces);
                // Strip markers come first, as in HCL; only then is indentation measured.
                if self.text(span).starts_with("<<-") {
                    template::dedent(&mut pieces);
                }
                template::assemble(pieces)
            }
            Expression::Parenthesis(inner) => ExprKind::Paren(self.boxed(inner.inner())),
            Expression::Variable(name) => ExprKind::Variable(name.as_str().to_owned()),
            Expression::Conditional(conditional) => ExprKind::Conditional(Box::new(Conditional {
                condition: self.expr(&conditional.cond_expr),
                then: self.expr(&conditional.true_expr),
                otherwise: self.expr(&conditional.false_expr),
            })),
            Expression::FuncCall(call) => self.call(call),
            Expression::Traversal(traversal) => {
                let steps = traversal
                    .operators
                    .iter()
                    .map(|step| self.step(step, step.span()))
                    .collect();
                ExprKind::Traversal(self.boxed(&traversal.expr), steps)
            }
            Expression::UnaryOp(unary) => {
                let operator = match unary.operator.value() {
                    edit::UnaryOperator::Neg => UnaryOp::Negate,
                    edit::UnaryOperator::Not => UnaryOp::Not,
                };
                ExprKind::Unary(operator, self.boxed(&unary.expr))
            }
            Expression::BinaryOp(binary) => ExprKind::Binary(
                binary_op(*binary.operator.value()),
                Box::new((self.expr(&binary.lhs_expr), self.expr(&binary.rhs_expr))),
            ),
            Expression::ForExpr(walk) => self.for_expr(walk),
        }
    }

    /// Takes a number as it is written; `hcl_edit` counts a sign to it and has only floats.
    fn number(&self, span: Span) -> ExprKind {
        let source = self.text(span);
        if !source.starts_with('-') {
            return ExprKind::Number(source.to_owned());
        }
        let number =
            token_after(self.source.text, span.start + 1).map_or(span, |token| token.span());
        let operand = Expr {
            kind: ExprKind::Number(self.text(number).to_owned()),
            span: number,
        };
        ExprKind::Unary(UnaryOp::Negate, Box::new(operand))
    }

    fn object(&self, object: &edit::Object) -> ExprKind {
        let item = |(key, value): (&edit::ObjectKey, &edit::ObjectValue)| ObjectItem {
            key: match key {
                edit::ObjectKey::Ident(name) => {
                    ObjectKey::Name(self.word(name.as_str(), key.span()))
                }
                // As keys these words mean themselves, too.
                edit::ObjectKey::Expression(expr @ (Expression::Null(_) | Expression::Bool(_))) => {
                    let span = self.span(expr.span());
                    let text = self.text(span).to_owned();
                    ObjectKey::Name(Word { text, span })
                }
                edit::ObjectKey::Expression(expr) => ObjectKey::Expr(self.expr(expr)),
            },
            value: self.expr(value.expr()),
        };
        ExprKind::Object(object.iter().map(item).collect())
    }

    fn call(&self, call: &edit::FuncCall) -> ExprKind {
        let name = &call.name.name;
        // `hcl_edit` keeps the parts of `provider::aws::arn_parse` apart.
        let namespace = &call.name.namespace;
        let last = self.span(name.span());
        let first = namespace
            .first()
            .map_or(last, |first| self.span(first.span()));
        let text = namespace
            .iter()
            .chain([name])
            .map(|word| word.as_str())
            .collect::<Vec<_>>()
            .join("::");
        ExprKind::Call(Box::new(Call {
            name: Word {
                text,
                span: Span::new(first.start, last.end),
            },
            args: call.args.iter().map(|arg| self.expr(arg)).collect(),
            expand_final: call.args.expand_final(),
        }))
    }

    fn step(&self, step: &TraversalOperator, range: Option<Range<usize>>) -> Step {
        let span = self.span(range);
        let tail = |len: usize| Span::new(span.end.saturating_sub(len), span.end);
        match step {
            TraversalOperator::AttrSplat(_) => Step::AttrSplat,
            TraversalOperator::FullSplat(_) => Step::FullSplat,
            TraversalOperator::GetAttr(name) => Step::Attr(Word {
                text: name.as_str().to_owned(),
                span: tail(name.as_str().len()),
            }),
            TraversalOperator::Index(index) => Step::Index(self.expr(index)),
            // `.0` is how old versions wrote `[0]`.
            TraversalOperator::LegacyIndex(_) => {
                let source = self.text(span);
                let digits = source.trim_end_matches(|c: char| c.is_ascii_digit());
                let span = tail(source.len() - digits.len());
                Step::Index(Expr {
                    kind: ExprKind::Number(self.text(span).to_owned()),
                    span,
                })
            }
        }
    }

    fn for_expr(&self, walk: &edit::ForExpr) -> ExprKind {
        let name = |name: &hcl_edit::Ident| name.as_str().to_owned();
        ExprKind::For(Box::new(For {
            key_name: walk.intro.key_var.as_ref().map(|key| name(key)),
            value_name: name(&walk.intro.value_var),
            collection: self.expr(&walk.intro.collection_expr),
            key: walk.key_expr.as_ref().map(|key| self.expr(key)),
            value: self.expr(&walk.value_expr),
            grouping: walk.grouping,
            condition: walk.cond.as_ref().map(|cond| self.expr(&cond.expr)),
        }))
    }

    /// Lays a template out flat, each line of a heredoc on its own.
    fn pieces<'e>(
        &self,
        elements: impl Iterator<Item = &'e Element>,
        quoting: Quoting,
        pieces: &mut Vec<TemplatePiece>,
    ) {
        for element in elements {
            match element {
                Element::Literal(text) => {
                    let raw = self.literal(self.span(text.span()));
                    match quoting {
                        Quoting::Quoted => pieces.push(TemplatePiece::Text(decode(&raw, quoting))),
                        // Strip markers and indentation work on single lines (see `template`).
                        Quoting::Heredoc => pieces.extend(
                            raw.split_inclusive('\n')
                                .map(|line| TemplatePiece::Text(decode(line, quoting))),
                        ),
                    }
                }
                Element::Interpolation(value) => pieces.push(TemplatePiece::Sequence(
                    Sequence::Value(self.expr(&value.expr)),
                    sides(value.strip),
                )),
                Element::Directive(directive) => self.directive(directive, quoting, pieces),
            }
        }
    }

    fn directive(&self, directive: &Directive, quoting: Quoting, pieces: &mut Vec<TemplatePiece>) {
        match directive {
            Directive::If(choice) => {
                let condition = self.expr(&choice.if_expr.cond_expr);
                let strip = sides(choice.if_expr.strip);
                pieces.push(TemplatePiece::Sequence(Sequence::If(condition), strip));
                self.pieces(choice.if_expr.template.iter(), quoting, pieces);
                if let Some(otherwise) = &choice.else_expr {
                    pieces.push(TemplatePiece::Sequence(
                        Sequence::Else,
                        sides(otherwise.strip),
                    ));
                    self.pieces(otherwise.template.iter(), quoting, pieces);
                }
                let strip = sides(choice.endif_expr.strip);
                pieces.push(TemplatePiece::Sequence(Sequence::EndIf, strip));
            }
            Directive::For(walk) => {
                let intro = &walk.for_expr;
                let name = |name: &hcl_edit::Ident| name.as_str().to_owned();
                let sequence = Sequence::For {
                    key_name: intro.key_var.as_ref().map(|key| name(key)),
                    value_name: name(&intro.value_var),
                    collection: self.expr(&intro.collection_expr),
                };
                pieces.push(TemplatePiece::Sequence(sequence, sides(intro.strip)));
                self.pieces(intro.template.iter(), quoting, pieces);
                let strip = sides(walk.endfor_expr.strip);
                pieces.push(TemplatePiece::Sequence(Sequence::EndFor, strip));
            }
        }
    }
}

fn sides(strip: hcl_edit::template::Strip) -> Strip {
    Strip {
        before: strip.strip_start(),
        after: strip.strip_end(),
    }
}

fn binary_op(operator: edit::BinaryOperator) -> BinaryOp {
    match operator {
        edit::BinaryOperator::Eq => BinaryOp::Equal,
        edit::BinaryOperator::NotEq => BinaryOp::NotEqual,
        edit::BinaryOperator::LessEq => BinaryOp::LessEqual,
        edit::BinaryOperator::GreaterEq => BinaryOp::GreaterEqual,
        edit::BinaryOperator::Less => BinaryOp::Less,
        edit::BinaryOperator::Greater => BinaryOp::Greater,
        edit::BinaryOperator::Plus => BinaryOp::Add,
        edit::BinaryOperator::Minus => BinaryOp::Subtract,
        edit::BinaryOperator::Mul => BinaryOp::Multiply,
        edit::BinaryOperator::Div => BinaryOp::Divide,
        edit::BinaryOperator::Mod => BinaryOp::Modulo,
        edit::BinaryOperator::And => BinaryOp::And,
        edit::BinaryOperator::Or => BinaryOp::Or,
    }
}
