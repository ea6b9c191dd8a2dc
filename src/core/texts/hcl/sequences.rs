//! The part of the walk that goes through quoted templates and heredocs.

use super::findings::{fault, too_deep};
use super::grammar::{Checked, MAX_NESTING, TokenWalk};
use super::scan::{HclToken, HclTokenKind};
use super::string::{Quoting, bad_escape, decode};
use super::template::{self, Sequence, Strip, TemplatePiece};
use super::tree::{Expr, ExprKind};

/// A directive that waits for its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Directive {
    If,
    Else,
    For,
}

impl TokenWalk<'_> {
    /// Reads a template up to the end that `close` names.
    pub(super) fn template(&mut self, close: HclTokenKind) -> Checked<ExprKind> {
        let depth = self.depth;
        let opening = self.take();
        let pieces = self.with_lines(true, |walk| walk.pieces(close));
        // After a fault, directives may still be open, and each counts as a level.
        self.depth = depth;
        let mut pieces = pieces?;
        template::strip(&mut pieces);
        // Strip markers come first, as in HCL; only then is indentation measured.
        if self.text(opening).starts_with("<<-") {
            template::dedent(&mut pieces);
        }
        Ok(template::assemble(pieces))
    }

    /// Reads a template that is the whole text.
    pub(super) fn template_alone(&mut self) -> Checked<ExprKind> {
        let mut pieces = self.pieces(HclTokenKind::End)?;
        template::strip(&mut pieces);
        Ok(template::assemble(pieces))
    }

    /// Reads a template flat, each line of a heredoc on its own.
    fn pieces(&mut self, close: HclTokenKind) -> Checked<Vec<TemplatePiece>> {
        let quoting = match close {
            HclTokenKind::CloseQuote => Quoting::Quoted,
            _ => Quoting::Heredoc,
        };
        let mut pieces = Vec::new();
        let mut open = Vec::new();
        loop {
            let token = self.take();
            match token.kind {
                HclTokenKind::Literal => {
                    self.literal(token, quoting)?;
                    let text = decode(&self.source.literal(token.span()), quoting);
                    pieces.push(TemplatePiece::Text(text));
                }
                HclTokenKind::OpenInterpolation => {
                    let value =
                        self.with_lines(false, |walk| walk.interpolation(token, quoting))?;
                    let strip = self.strip(token);
                    pieces.push(TemplatePiece::Sequence(Sequence::Value(value), strip));
                }
                HclTokenKind::OpenDirective => {
                    let directive = self.with_lines(false, |walk| walk.directive(&mut open))?;
                    pieces.push(TemplatePiece::Sequence(directive, self.strip(token)));
                }
                // The quote ends the template even inside of a directive, which is then missing its end.
                kind if kind == close && open.is_empty() => return Ok(pieces),
                kind if kind == close => {
                    return Err(fault("Unexpected end of template", token.span()));
                }
                _ => return Err(self.unexpected(token, "Unterminated template string")),
            }
        }
    }

    /// Returns the strip markers of a sequence whose end was just taken.
    fn strip(&self, open: HclToken) -> Strip {
        Strip {
            before: self.text(open).ends_with('~'),
            after: self.text(self.tokens[self.at - 1]).starts_with('~'),
        }
    }

    pub(super) fn literal(&self, token: HclToken, quoting: Quoting) -> Checked<()> {
        // Of bytes that are no UTF-8 only those of the form of UTF-8 pass in strings (rules 1.8).
        if self.source.is_broken(token.span()) {
            return Err(fault("Invalid character encoding", token.span()));
        }
        let escape = match quoting {
            Quoting::Quoted => bad_escape(self.text(token)),
            Quoting::Heredoc => None,
        };
        match escape {
            Some(span) => {
                // A backslash that hides the line end is a stray character to HCL.
                let title = match span.end - span.start {
                    1 => "Invalid character",
                    _ => "Invalid escape sequence",
                };
                Err(fault(title, span.shifted(token.start)))
            }
            None => Ok(()),
        }
    }

    fn interpolation(&mut self, open: HclToken, quoting: Quoting) -> Checked<Expr> {
        const UNCLOSED: &str = "Unclosed template interpolation sequence";
        let value = self.expr()?;
        let token = self.peek();
        match token.kind {
            HclTokenKind::CloseSequence => {
                self.take();
                Ok(value)
            }
            HclTokenKind::End => Err(fault(UNCLOSED, open.span())),
            HclTokenKind::OpenQuote | HclTokenKind::CloseQuote if quoting == Quoting::Quoted => {
                Err(fault(UNCLOSED, open.span()))
            }
            _ => Err(self.unexpected(token, "Extra characters after interpolation expression")),
        }
    }

    /// Reads one `%{ … }`; `open` holds the directives that wait for their end.
    fn directive(&mut self, open: &mut Vec<Directive>) -> Checked<Sequence> {
        let word = self.expect(HclTokenKind::Ident, "Invalid template directive")?;
        let (sequence, surplus) = match self.text(word) {
            "if" => {
                self.enter(open, Directive::If, word)?;
                (Sequence::If(self.expr()?), "Extra characters in if marker")
            }
            "for" => {
                self.enter(open, Directive::For, word)?;
                let names = self.for_names("Invalid 'for' directive")?;
                let sequence = Sequence::For {
                    key_name: names.key,
                    value_name: names.value,
                    collection: self.expr()?,
                };
                (sequence, "Extra characters in for marker")
            }
            "else" => match open.last_mut() {
                Some(last @ Directive::If) => {
                    *last = Directive::Else;
                    (Sequence::Else, "Extra characters in else marker")
                }
                _ => return Err(fault("Unexpected else directive", word.span())),
            },
            "endif" => match open.pop() {
                Some(Directive::If | Directive::Else) => {
                    self.depth -= 1;
                    (Sequence::EndIf, "Extra characters in endif marker")
                }
                _ => return Err(fault("Unexpected endif directive", word.span())),
            },
            "endfor" => match open.pop() {
                Some(Directive::For) => {
                    self.depth -= 1;
                    (Sequence::EndFor, "Extra characters in endfor marker")
                }
                _ => return Err(fault("Unexpected endfor directive", word.span())),
            },
            _ => return Err(fault("Invalid template control keyword", word.span())),
        };
        self.expect(HclTokenKind::CloseSequence, surplus)?;
        Ok(sequence)
    }

    fn enter(
        &mut self,
        open: &mut Vec<Directive>,
        directive: Directive,
        word: HclToken,
    ) -> Checked<()> {
        if self.depth >= MAX_NESTING {
            return Err(too_deep(word.span()));
        }
        self.depth += 1;
        open.push(directive);
        Ok(())
    }
}
