//! Edits of a file in native syntax that leave every other byte as it is.
//!
//! Spans of our own tree say where; `hcl_edit` prints new values; the bytes between are copied. A printed tree would
//! lose line ends, comments in expressions and escapes, so none is printed.
//!
//! Invariant: the text parses without an error before and after each edit; else the edit is refused, and the text
//! is as it was.

#[cfg(test)]
mod tests;

pub use hcl_edit::expr::Expression;

use super::scan::{self, HclTokenKind};
use super::tree::{Block, Body, ExprKind, Item};
use super::{SourceText, format, parse, value_text};
use crate::diag::{FileId, Severity, Span};

/// A file that is edited.
#[derive(Clone, Debug)]
pub struct HclEditor {
    bytes: Vec<u8>,
    body: Body,
}

/// A block by its type and labels.
#[derive(Clone, Copy, Debug)]
pub struct BlockName<'a> {
    /// The first word of the block.
    pub kind: &'a str,
    /// The labels in their order.
    pub labels: &'a [&'a str],
}

/// The text has an error, as it is or with the edit, so that it is not edited.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{title} (byte {at})")]
pub struct EditError {
    /// The title of the first error.
    pub title: String,
    /// The offset of its place.
    pub at: usize,
}

/// Replaces parts of a text; every other byte is copied. The parts must not overlap.
#[must_use]
pub fn splice(bytes: &[u8], mut edits: Vec<(Span, String)>) -> Vec<u8> {
    edits.sort_by_key(|(span, _)| (span.start, span.end));
    let mut spliced = Vec::with_capacity(bytes.len());
    let mut at = 0;
    for (span, text) in edits {
        spliced.extend_from_slice(&bytes[at..span.start]);
        spliced.extend_from_slice(text.as_bytes());
        at = span.end;
    }
    spliced.extend_from_slice(&bytes[at..]);
    spliced
}

/// Returns a text in quotes, as an expression that means it.
#[must_use]
pub fn quoted(text: &str) -> String {
    Expression::from(text).to_string()
}

/// Returns the text that an expression means, if it is a text in quotes without any sequence.
#[must_use]
pub fn literal(expression: &str) -> Option<String> {
    match value_text(FileId::ALONE, expression).ok()?.kind {
        ExprKind::String(text) if expression.starts_with('"') => Some(text),
        _ => None,
    }
}

impl HclEditor {
    /// Takes a text to edit; a byte-order mark and either kind of line end stay.
    ///
    /// ```
    /// use lockctl_core::hcl::edit::{BlockName, HclEditor};
    ///
    /// let mut editor = HclEditor::open(b"trust {\n  h1 = \"proven\" # for now\n}\n".to_vec())?;
    /// let trust = [BlockName { kind: "trust", labels: &[] }];
    /// editor.set(&trust, "h1", "claimed")?;
    /// assert_eq!(editor.into_bytes(), b"trust {\n  h1 = \"claimed\" # for now\n}\n");
    /// # Ok::<(), lockctl_core::hcl::edit::EditError>(())
    /// ```
    ///
    /// # Errors
    /// If the text has an error.
    pub fn open(bytes: Vec<u8>) -> Result<Self, EditError> {
        let (body, problems) = parse(FileId::ALONE, &bytes);
        let error = problems
            .into_iter()
            .find(|problem| problem.severity == Severity::Error);
        match error {
            None => Ok(Self { bytes, body }),
            Some(error) => Err(EditError {
                at: error.primary.map_or(0, |label| label.span.start),
                title: error.title,
            }),
        }
    }

    /// Returns the text with all edits.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Finds the first block of a path of blocks; the empty path names no block, but the file.
    #[must_use]
    pub fn block(&self, path: &[BlockName<'_>]) -> Option<&Block> {
        let (last, above) = path.split_last()?;
        self.body_of(above)?.blocks().find(|block| {
            block.kind.text == last.kind
                && block
                    .labels
                    .iter()
                    .map(|label| &*label.text)
                    .eq(last.labels.iter().copied())
        })
    }

    /// Sets an argument: its value is replaced, or the argument is added, with blocks of the path that are missing.
    ///
    /// # Errors
    /// If the text would have an error.
    pub fn set(
        &mut self,
        path: &[BlockName<'_>],
        name: &str,
        value: impl Into<Expression>,
    ) -> Result<(), EditError> {
        let value = value.into();
        if let Some(body) = self.body_of(path) {
            if let Some(attribute) = body.attribute(name) {
                // The value alone is replaced: comments around the argument stay where they are.
                let value = self.with_line_ends(&value.to_string());
                return self.apply(vec![(attribute.value.span, value)]);
            }
            // The sign of equality is lined up with its neighbours, as `fmt` does.
            let padding = self.padding(body, name);
            return self.add(path, &format!("{name}{padding}= {value}\n"), false);
        }
        let present = (0..path.len())
            .rev()
            .find(|count| self.body_of(&path[..*count]).is_some())
            .unwrap_or_default();
        // Built from the innermost block outwards, so that one insertion adds all of them.
        let mut added = format!("{name} = {value}\n");
        for block in path[present..].iter().rev() {
            let labels: String = block
                .labels
                .iter()
                .map(|label| format!("{} ", quoted(label)))
                .collect();
            added = format!("{} {labels}{{\n{added}}}\n", block.kind);
        }
        self.add(&path[..present], &format(&added), true)
    }

    /// Removes an argument with its lines and the comment behind it; true if there was one.
    ///
    /// # Errors
    /// If the text would have an error.
    pub fn remove(&mut self, path: &[BlockName<'_>], name: &str) -> Result<bool, EditError> {
        let attribute = self.body_of(path).and_then(|body| body.attribute(name));
        let Some(span) = attribute.map(|attribute| attribute.span) else {
            return Ok(false);
        };
        let lines = self.whole_lines(span).unwrap_or(span);
        self.apply(vec![(lines, String::new())])?;
        Ok(true)
    }

    fn body_of(&self, path: &[BlockName<'_>]) -> Option<&Body> {
        match path {
            [] => Some(&self.body),
            path => self.block(path).map(|block| &block.body),
        }
    }

    /// Adds the lines of an item at the end of a body.
    fn add(&mut self, path: &[BlockName<'_>], item: &str, is_block: bool) -> Result<(), EditError> {
        let Some(body) = self.body_of(path) else {
            return Ok(());
        };
        let line_end = self.line_end();
        let Some(block) = self.block(path) else {
            let text = self.with_line_ends(item);
            let end = self.bytes.len();
            let is_empty = body.items.is_empty() && self.is_blank(0, end);
            // An empty file, or one with a byte order mark alone, has no line to end.
            let ends_line = matches!(&*self.bytes, [] | [.., b'\n'] | b"\xEF\xBB\xBF");
            let first = if ends_line { "" } else { line_end };
            let gap = if is_block && !is_empty { line_end } else { "" };
            return self.apply(vec![(Span::new(end, end), format!("{first}{gap}{text}"))]);
        };
        let outer = self.indent(block.span.start);
        let first = body.items.first().map(|item| match item {
            Item::Attribute(attribute) => attribute.span.start,
            Item::Block(block) => block.span.start,
        });
        // An item on the line of the brace has no indentation that could be copied.
        let inner = first
            .filter(|start| self.line_start(*start) > block.span.start)
            .map_or_else(|| format!("{outer}  "), |start| self.indent(start));
        let text: String = item
            .split_inclusive('\n')
            .map(|line| format!("{inner}{line}"))
            .collect();
        let text = self.with_line_ends(&text);
        let gap = if is_block && !body.items.is_empty() {
            line_end
        } else {
            ""
        };
        let close = body.span.end;
        let line = self.line_start(close);
        if line > body.span.start && self.is_blank(line, close) {
            return self.apply(vec![(Span::new(line, line), format!("{gap}{text}"))]);
        }
        // `{ a = 1 }` takes no second item: each gets a line of its own.
        let before = &self.bytes[body.span.start..close];
        let blank = before
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        let mut edits = vec![(
            Span::new(close - blank, close),
            format!("{line_end}{gap}{text}{outer}"),
        )];
        if blank < before.len() && line <= body.span.start {
            let spaces = before.iter().take_while(|byte| **byte == b' ').count();
            let start = Span::new(body.span.start, body.span.start + spaces);
            edits.push((start, format!("{line_end}{inner}")));
        }
        self.apply(edits)
    }

    /// Splices, and takes the text if it has no error.
    fn apply(&mut self, edits: Vec<(Span, String)>) -> Result<(), EditError> {
        *self = Self::open(splice(&self.bytes, edits))?;
        Ok(())
    }

    /// Returns the white space behind a new name that puts its `=` below that of the argument before it.
    fn padding(&self, body: &Body, name: &str) -> String {
        let Some(Item::Attribute(last)) = body.items.last() else {
            return " ".to_owned();
        };
        let behind = &self.bytes[last.name.span.end..last.value.span.start];
        let equal = behind.iter().position(|byte| *byte == b'=').unwrap_or(1);
        let column = last.name.text.chars().count() + equal;
        " ".repeat(column.saturating_sub(name.chars().count()).max(1))
    }

    fn line_end(&self) -> &'static str {
        let has_return = self
            .bytes
            .iter()
            .position(|byte| *byte == b'\n')
            .is_some_and(|at| at > 0 && self.bytes[at - 1] == b'\r');
        if has_return { "\r\n" } else { "\n" }
    }

    fn with_line_ends(&self, text: &str) -> String {
        text.replace('\n', self.line_end())
    }

    fn line_start(&self, at: usize) -> usize {
        let before = self.bytes[..at].iter().rposition(|byte| *byte == b'\n');
        before.map_or(0, |newline| newline + 1)
    }

    /// Returns the white space before the first word of a line.
    fn indent(&self, at: usize) -> String {
        let line = &self.bytes[self.line_start(at)..at];
        line.iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .map(|byte| char::from(*byte))
            .collect()
    }

    fn is_blank(&self, start: usize, end: usize) -> bool {
        let text = self.bytes[start..end].trim_ascii();
        text.is_empty() || text == b"\xEF\xBB\xBF"
    }

    /// Returns the lines of a part of the text, with the comment behind it, if nothing else is on them.
    fn whole_lines(&self, span: Span) -> Option<Span> {
        let start = self.line_start(span.start);
        let text = SourceText::decode(&self.bytes).text;
        // A heredoc ends with its line.
        if self.bytes[..span.end].ends_with(b"\n") {
            return self
                .is_blank(start, span.start)
                .then(|| Span::new(start, span.end));
        }
        let rest = &self.bytes[span.end..];
        let rest_of_line = rest
            .split_inclusive(|byte| *byte == b'\n')
            .next()
            .unwrap_or_default();
        let end = span.end + rest_of_line.len();
        let tokens = scan::tokens(&text, Span::new(span.end, self.bytes.len()));
        let next = tokens
            .iter()
            .find(|token| token.kind != HclTokenKind::Newline)?;
        let is_alone = next.start >= end && self.is_blank(start, span.start);
        is_alone.then(|| Span::new(start, end))
    }
}
