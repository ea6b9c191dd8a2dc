//! The part of the walk that goes through quoted templates and heredocs.

use super::findings::{Fill, Patch, fault, too_deep};
use super::grammar::{Checked, MAX_NESTING, TokenWalk};
use super::scan::{HclToken, HclTokenKind};
use super::string::bad_escape;
use crate::diag::Span;

/// A directive that waits for its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Directive {
    If,
    Else,
    For,
}

impl TokenWalk<'_> {
    /// Walks over a template up to the end that `close` names.
    pub(super) fn template(&mut self, close: HclTokenKind) -> Checked {
        let depth = self.depth;
        let opening = self.take();
        let result = self.with_lines(true, |walk| {
            let mut open = Vec::new();
            loop {
                let token = walk.take();
                if close == HclTokenKind::CloseHeredoc {
                    walk.patch_marker(opening, token);
                }
                match token.kind {
                    HclTokenKind::Literal => walk.literal(token, close)?,
                    HclTokenKind::OpenInterpolation => {
                        walk.with_lines(false, |walk| walk.interpolation(token, close))?;
                    }
                    HclTokenKind::OpenDirective => {
                        walk.with_lines(false, |walk| walk.directive(&mut open))?;
                    }
                    kind if kind == close && open.is_empty() => return Ok(()),
                    kind if kind == close => {
                        return Err(fault("Unexpected end of template", token.span()));
                    }
                    _ => return Err(walk.unexpected(token, "Unterminated template string")),
                }
            }
        });
        // A fault may leave directives open, each of which counts as a level.
        self.depth = depth;
        result
    }

    /// Hides from `hcl_edit` what it takes for the end of a heredoc and the programs do not, and shows it the
    /// end that it does not see.
    ///
    /// The marker ends a heredoc where it is alone on its line, between any white space. For `hcl_edit` it ends it
    /// before any character that continues no word, and only behind spaces and tabs.
    fn patch_marker(&mut self, opening: HclToken, token: HclToken) {
        let text = self.text;
        let is_new_line = text[..token.start].ends_with('\n');
        let marker = self.source(opening).trim_start_matches(['<', '-']).trim();
        let source = self.source(token);
        let mut patch = |start: usize, len: usize, fill| {
            let span = Span::new(start, start + len);
            self.found.patches.push(Patch { span, fill });
        };
        let is_plain = |space: &str| space.bytes().all(|byte| b" \t".contains(&byte));
        match token.kind {
            HclTokenKind::CloseHeredoc => {
                let indent = source.len() - marker.len();
                if !is_plain(&source[..indent]) {
                    patch(token.start, indent, Fill::Blank);
                }
                let line = text[token.end..].split('\n').next().unwrap_or_default();
                let space = line.trim_end_matches('\r');
                if !is_plain(space) {
                    patch(token.end, space.len(), Fill::Blank);
                }
            }
            HclTokenKind::Literal if is_new_line => {
                let line = source.trim_start_matches([' ', '\t']);
                // No marker begins with a digit; the text is read from the file as it is.
                if line.starts_with(marker) {
                    let indent = source.len() - line.len();
                    patch(token.start + indent, marker.len(), Fill::Digit);
                }
            }
            _ => {}
        }
    }

    pub(super) fn literal(&self, token: HclToken, close: HclTokenKind) -> Checked {
        // Of bytes that are no UTF-8 only those of the form of UTF-8 pass in strings (rules 1.8).
        if self.is_broken(token) {
            return Err(fault("Invalid character encoding", token.span()));
        }
        let escape = match close {
            HclTokenKind::CloseQuote => bad_escape(self.source(token)),
            _ => None,
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

    fn interpolation(&mut self, open: HclToken, close: HclTokenKind) -> Checked {
        self.expr()?;
        let token = self.peek();
        let quote_follows = matches!(
            token.kind,
            HclTokenKind::OpenQuote | HclTokenKind::CloseQuote
        );
        match token.kind {
            HclTokenKind::CloseSequence => {
                self.take();
                Ok(())
            }
            HclTokenKind::End => Err(fault(
                "Unclosed template interpolation sequence",
                open.span(),
            )),
            _ if quote_follows && close == HclTokenKind::CloseQuote => Err(fault(
                "Unclosed template interpolation sequence",
                open.span(),
            )),
            _ => Err(self.unexpected(token, "Extra characters after interpolation expression")),
        }
    }

    /// Walks over one `%{ … }`; `open` holds the directives that wait for their end.
    fn directive(&mut self, open: &mut Vec<Directive>) -> Checked {
        let word = self.expect(HclTokenKind::Ident, "Invalid template directive")?;
        let surplus = match self.source(word) {
            "if" => {
                self.enter(open, Directive::If, word)?;
                self.expr()?;
                "Extra characters in if marker"
            }
            "for" => {
                self.enter(open, Directive::For, word)?;
                self.for_names("Invalid 'for' directive")?;
                self.expr()?;
                "Extra characters in for marker"
            }
            "else" => match open.last_mut() {
                Some(last @ Directive::If) => {
                    *last = Directive::Else;
                    "Extra characters in else marker"
                }
                _ => return Err(fault("Unexpected else directive", word.span())),
            },
            "endif" => match open.pop() {
                Some(Directive::If | Directive::Else) => {
                    self.depth -= 1;
                    "Extra characters in endif marker"
                }
                _ => return Err(fault("Unexpected endif directive", word.span())),
            },
            "endfor" => match open.pop() {
                Some(Directive::For) => {
                    self.depth -= 1;
                    "Extra characters in endfor marker"
                }
                _ => return Err(fault("Unexpected endfor directive", word.span())),
            },
            _ => return Err(fault("Invalid template control keyword", word.span())),
        };
        self.expect(HclTokenKind::CloseSequence, surplus).map(drop)
    }

    fn enter(
        &mut self,
        open: &mut Vec<Directive>,
        directive: Directive,
        word: HclToken,
    ) -> Checked {
        if self.depth >= MAX_NESTING {
            return Err(too_deep(word.span()));
        }
        self.depth += 1;
        open.push(directive);
        Ok(())
    }
}
