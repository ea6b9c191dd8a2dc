//! JSON text to a tree with spans: duplicate keys are kept, and every problem is reported at once.
//!
//! One parser serves configuration, the manifest of modules, the state and the CLI configuration.
//! `tokens` cuts the text, `grammar` decides what may come next and gives each fault the title that
//! the programs give it, and `build` puts the tree together; `convert` makes expressions of it. A text in memory and one that is read
//! piece by piece go through the same code.
//!
//! Two things differ from a strict parser, as they do in the programs: a byte that is no UTF-8, and
//! half of a surrogate pair, are allowed in strings and mean U+FFFD.
//!
//! Invariant: a tree comes only from a text without a fault, so half of a file is never used. A
//! fault in one token does not hide those behind it; the first that leaves open how the text goes
//! on is the last.

mod build;
mod convert;
mod grammar;
#[cfg(test)]
mod tests;
mod tokens;

use std::fmt;
use std::io::{self, BufRead};

use crate::diag::{Diagnostic, FileId, Span, rules};

pub(crate) use convert::{expr, templates};
use grammar::JsonReader;

/// Maximum nesting of objects and arrays.
///
/// The programs take thousands of levels, but no configuration needs more than some twenty.
pub const MAX_NESTING: usize = 128;

/// Maximum nesting in parts that [`read`] leaves out; the programs stop there, too.
pub const MAX_SKIPPED_NESTING: usize = 10_000;

/// The title of a text that is nested deeper than that.
pub const TOO_DEEP: &str = "Nested too deep";

/// Maximum number of values that are kept of a text: with its name, one needs up to 400 bytes.
pub const MAX_VALUES: usize = 500_000;

/// The title of a text that has more values than that.
pub const TOO_MANY: &str = "Too many values in a file";

/// A value with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonValue {
    /// The type of the value, with its content.
    pub kind: ValueKind,
    /// The bytes of the value, quotes and brackets included.
    pub span: Span,
}

/// The type of a value, with its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// The keyword `null` as a value.
    Null,
    /// The word `true` or `false`.
    Bool(bool),
    /// A number as it is written.
    Number(String),
    /// The text of a string, decoded.
    String(String),
    /// The elements of an array.
    Array(Vec<JsonValue>),
    /// The members of an object in their order, also those of one name.
    Object(Vec<Member>),
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The name of the member, decoded.
    pub name: String,
    /// The bytes of the name, quotes included.
    pub name_span: Span,
    /// The value behind the colon.
    pub value: JsonValue,
}

impl Member {
    /// Returns the place of the whole member.
    #[must_use]
    pub fn span(&self) -> Span {
        Span::new(self.name_span.start, self.value.span.end)
    }
}

impl JsonValue {
    /// Returns the member of an object that has a name; of several the last, as the programs do.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&Self> {
        let ValueKind::Object(members) = &self.kind else {
            return None;
        };
        // As in Go's decoder, a later member replaces an earlier one.
        let member = members.iter().rfind(|member| member.name == name)?;
        Some(&member.value)
    }
}

/// A fault in a text; it shows nothing of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonFault {
    /// The title that the programs have for it.
    pub title: &'static str,
    /// The place to show.
    pub span: Span,
    /// An addition to the title; may be empty.
    pub remark: &'static str,
    /// The line of the fault, from 1.
    pub line: usize,
    /// The byte in that line, from 1.
    pub column: usize,
}

impl JsonFault {
    /// Reports the fault in a file.
    #[must_use]
    pub fn diagnostic(&self, file: FileId) -> Diagnostic {
        Diagnostic::error(rules::SYNTAX_ERROR, self.title).at(file, self.span, self.remark)
    }
}

impl fmt::Display for JsonFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            title,
            line,
            column,
            ..
        } = self;
        write!(f, "{title}: line {line}, column {column}")
    }
}

/// The wanted members of objects. All others are checked, but not kept.
#[derive(Debug)]
pub enum Members {
    /// All members of all objects.
    All,
    /// The members of these names, and what is wanted of each; in an array, of each element.
    Only(&'static [(&'static str, Self)]),
}

/// Parses a text that is one object, or an array.
///
/// ```
/// use lockctl_core::json::{ValueKind, parse};
///
/// let value = parse(br#"{"a": 1, "a": [true]}"#).expect("no fault");
/// let ValueKind::Object(members) = value.kind else { panic!() };
/// assert_eq!(members.len(), 2);
/// let faults = parse(br#"{"a": 01, "b": nul, "c"}"#).expect_err("three faults");
/// let titles: Vec<&str> = faults.iter().map(|fault| fault.title).collect();
/// assert_eq!(
///     titles,
///     ["Invalid JSON number", "Invalid JSON keyword", "Missing object value"]
/// );
/// ```
///
/// # Errors
/// All faults up to the first that leaves open how the text goes on.
pub fn parse(bytes: &[u8]) -> Result<JsonValue, Vec<JsonFault>> {
    // Reading from memory does not fail.
    let parsed = read(bytes, &Members::All).unwrap_or_else(|_| Err(Vec::new()));
    parsed.map_err(|mut faults| {
        // The reader goes byte by byte; code that shows or cuts out a fault needs whole characters.
        for fault in &mut faults {
            fault.span = Span::within(bytes, fault.span.start, fault.span.end);
        }
        faults
    })
}

/// Parses a text while it is read, and keeps only what is wanted of it.
///
/// Besides that it needs memory for the longest string. What [`parse`] refuses is refused here, but
/// what is left out may be nested deeper.
///
/// # Errors
/// The first error from reading; inside it, as [`parse`].
pub fn read(
    input: impl BufRead,
    wanted: &'static Members,
) -> io::Result<Result<JsonValue, Vec<JsonFault>>> {
    JsonReader::new(input, wanted).run()
}
