//! Native syntax: text to a tree, with every problem of a file at once.
//!
//! `scan` cuts the text into tokens. `items`, `grammar` and `sequences` walk over them once: they build
//! the tree of what is sound, and name every fault as the programs would. A fault in one item never costs
//! another one, and spans always point into the file as it was read.

mod comments;
mod conflict;
pub mod edit;
mod findings;
mod format;
mod grammar;
mod items;
mod operators;
pub mod references;
mod scan;
mod sequences;
mod string;
mod template;
#[cfg(test)]
pub(crate) mod tests;

pub mod tree;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

use std::borrow::Cow;

use crate::diag::{self, Diagnostic, FileId, Span};
pub use comments::comments;
use findings::{Findings, Overruled, TokenFault};
pub use format::{format, push_formatted, unquoted};
use grammar::TokenWalk;
use scan::HclTokenKind;
use tree::{Body, Expr};

/// Takes the place of a byte that is no UTF-8: allowed in comments, and an error outside of them, unless
/// it is of a sequence that only looks like UTF-8.
const BROKEN: char = '\u{1}';

/// Parses a file in native syntax.
///
/// Never fails: returns what it understood, and all problems in the order of their place. Faults
/// have the title that the programs give to the first problem of the item (rules 1.6). An
/// item with a fault is missing from the tree, except that a block stays when the fault is in an
/// item inside it, in its labels, or behind its closing brace, and an argument stays when the
/// fault is behind its value. Of a merge conflict the first side is read.
///
/// ```
/// use lockctl_core::{diag::Texts, hcl};
///
/// let text = b"a = 1\nb = \nc = 3\n";
/// let file = Texts::default().add("main.tf", text.to_vec());
/// let (body, problems) = hcl::parse(file, text);
/// assert!(body.attribute("a").is_some() && body.attribute("c").is_some());
/// assert_eq!(problems[0].title, "Invalid expression");
/// ```
#[must_use]
pub fn parse(file: FileId, bytes: &[u8]) -> (Body, Vec<Diagnostic>) {
    let span = Span::new(0, bytes.len());
    let nothing = Body {
        items: Vec::new(),
        span,
    };
    // One error for the file: as UTF-8 nearly every byte of it would be at fault.
    if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") {
        let problem = Diagnostic::error(diag::rules::SYNTAX_ERROR, "Invalid character encoding")
            .at(file, Span::new(0, 2), "this is UTF-16")
            .help("save the file as UTF-8");
        return (nothing, vec![problem]);
    }
    if is_git_crypt(bytes) {
        let problem =
            Diagnostic::error(diag::rules::SYNTAX_ERROR, "File is encrypted by git-crypt")
                .at(file, Span::new(0, 1), "")
                .help("run `git-crypt unlock`");
        return (nothing, vec![problem]);
    }
    let mut source = SourceText::decode(bytes);
    let mut tokens = scan::tokens(&source.text, Span::new(0, source.text.len()));
    // A shorter text cannot have too many, and the length costs nothing to look at.
    if source.text.len() > scan::MAX_TOKENS && tokens.len() > scan::MAX_TOKENS {
        let title = "Too many words and signs in a file";
        let problem = Diagnostic::error(diag::rules::OBJECT_TOO_LARGE, title)
            .at(file, Span::new(0, 0), "")
            .help(format!(
                "split the file: lockctl reads {} words and signs of one",
                scan::MAX_TOKENS
            ));
        return (nothing, vec![problem]);
    }
    let mut problems = Vec::new();
    // One finding for all markers, instead of a fault of syntax for each line of them.
    if let Some(conflict) = conflict::find(file, &source.text, &tokens) {
        source.text = conflict.first_sides;
        tokens = scan::tokens(&source.text, Span::new(0, source.text.len()));
        problems.push(conflict.diagnostic);
    }
    let mut walk = TokenWalk::new(&source, &tokens);
    let items = walk.items(0);
    let Findings { faults, overruled } = walk.found;
    problems.extend(faults.iter().map(|fault| error(file, fault)));
    problems.extend(overruled.into_iter().map(|key| note(file, key)));
    diag::in_order(&mut problems);
    (Body { items, span }, problems)
}

/// Returns whether git-crypt encrypted a file, as in a clone without the key.
#[must_use]
pub fn is_git_crypt(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\0GITCRYPT\0")
}

/// Parses a text as one expression; everything in it is at a place.
///
/// # Errors
/// What is wrong with it.
pub fn expression(file: FileId, text: &str, place: Span) -> Result<Expr, Box<Diagnostic>> {
    read_expression(text, Some(place)).map_err(|fault| at_place(file, fault, place))
}

/// Parses a text as one expression; spans are offsets in it.
///
/// # Errors
/// What is wrong with it.
pub fn value_text(file: FileId, text: &str) -> Result<Expr, Box<Diagnostic>> {
    read_expression(text, None).map_err(|fault| Box::new(error(file, &fault)))
}

fn read_expression(text: &str, place: Option<Span>) -> Result<Expr, TokenFault> {
    let source = SourceText::of(text);
    let tokens = scan::tokens(&source.text, Span::new(0, source.text.len()));
    let mut walk = TokenWalk::new(&source, &tokens);
    walk.place = place;
    walk.lines_count = false;
    let read = walk.root_expr()?;
    walk.expect(HclTokenKind::End, "Extra characters after expression")?;
    Ok(read)
}

/// Cuts a template into literal text, marked by `true`, and the sequences between.
pub(crate) fn template_parts(text: &str) -> Vec<(&str, bool)> {
    let mut parts = Vec::new();
    let mut end = 0;
    for token in scan::template_tokens(text) {
        // The template itself is the first level.
        if token.kind == HclTokenKind::Literal && token.depth == 1 {
            parts.push((&text[end..token.start], false));
            parts.push((&text[token.start..token.end], true));
            end = token.end;
        }
    }
    parts.push((&text[end..], false));
    parts
}

/// Parses a text as a template; everything in it is at a place.
///
/// # Errors
/// What is wrong with it.
pub fn template(file: FileId, text: &str, place: Span) -> Result<Expr, Box<Diagnostic>> {
    let source = SourceText::of(text);
    let tokens = scan::template_tokens(&source.text);
    let mut walk = TokenWalk::new(&source, &tokens);
    walk.place = Some(place);
    let kind = walk.template_alone();
    kind.map(|kind| Expr { kind, span: place })
        .map_err(|fault| at_place(file, fault, place))
}

fn at_place(file: FileId, fault: TokenFault, span: Span) -> Box<Diagnostic> {
    Box::new(error(file, &TokenFault { span, ..fault }))
}

/// A file as a string of the same length.
#[derive(Default)]
struct SourceText {
    /// A byte-order mark is spaces here, and each byte that is no UTF-8 is [`BROKEN`].
    text: String,
    /// The offsets of bytes that are valid only in comments, in order.
    broken: Vec<usize>,
    /// The offsets of bytes that are also valid in strings, as U+FFFD; in order.
    replaced: Vec<usize>,
}

impl SourceText {
    /// Reads UTF-8 as the programs do (rules 1.8).
    fn decode(bytes: &[u8]) -> Self {
        const MARK: &[u8] = b"\xEF\xBB\xBF";
        // Sound text without a mark, which nearly every file is, is compared many bytes at a time.
        if let Some(text) = std::str::from_utf8(bytes)
            .ok()
            .filter(|_| !bytes.starts_with(MARK))
        {
            return Self::of(text);
        }
        let mut decoded = Self::default();
        let text = &mut decoded.text;
        text.reserve(bytes.len());
        if bytes.starts_with(MARK) {
            // Offsets count from the first byte of the file (rules 1.3).
            text.push_str("   ");
        }
        while let Some(chunk) = bytes[text.len()..].utf8_chunks().next() {
            text.push_str(chunk.valid());
            let rest = &bytes[text.len()..];
            // A leading byte with as many others as it announces has the form of UTF-8, even if
            // they encode no character.
            let announced = match rest.first() {
                Some(0xC0..=0xDF) => 2,
                Some(0xE0..=0xEF) => 3,
                Some(0xF0..=0xF7) => 4,
                _ => 0,
            };
            let others = rest.get(1..announced);
            let (list, len) =
                if others.is_some_and(|others| others.iter().all(|b| (0x80..=0xBF).contains(b))) {
                    (&mut decoded.replaced, announced)
                } else {
                    (&mut decoded.broken, rest.len().min(1))
                };
            for _ in 0..len {
                list.push(text.len());
                text.push(BROKEN);
            }
        }
        decoded
    }

    fn of(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..Self::default()
        }
    }

    fn get(&self, span: Span) -> &str {
        &self.text[span.start..span.end]
    }

    /// Returns true if a span holds a byte that is valid only in comments.
    fn is_broken(&self, span: Span) -> bool {
        !within(&self.broken, span).is_empty()
    }

    /// Returns literal text as the programs read it.
    fn literal(&self, span: Span) -> Cow<'_, str> {
        let text = self.get(span);
        let replaced = within(&self.replaced, span);
        if replaced.is_empty() {
            return Cow::Borrowed(text);
        }
        let chars = text.char_indices().map(|(at, c)| {
            if replaced.binary_search(&(span.start + at)).is_ok() {
                char::REPLACEMENT_CHARACTER
            } else {
                c
            }
        });
        Cow::Owned(chars.collect())
    }
}

/// Returns the offsets within a span, out of some that are in order.
fn within(offsets: &[usize], span: Span) -> &[usize] {
    let start = offsets.partition_point(|at| *at < span.start);
    let end = offsets.partition_point(|at| *at < span.end);
    offsets.get(start..end).unwrap_or_default()
}

fn error(file: FileId, fault: &TokenFault) -> Diagnostic {
    let error = Diagnostic::error(fault.code, fault.title).at(file, fault.span, "");
    match (fault.code, fault.title) {
        (diag::rules::NESTED_TOO_DEEP, _) => error.help(format!(
            "move the inner parts out: lockctl follows {} levels",
            grammar::MAX_NESTING
        )),
        (_, "Invalid character encoding") => error.help("save the file as UTF-8"),
        (_, "Invalid multi-line string") => error.help("close the string on the line it begins"),
        (_, "Unclosed configuration block") => error.help("add the missing `}`"),
        _ => error,
    }
}

fn note(file: FileId, key: Overruled) -> Diagnostic {
    Diagnostic::note(diag::rules::DUPLICATE_KEY, "Duplicate object key")
        .at(file, key.later, "this one counts")
        .see(file, key.earlier, "this one is ignored")
}
