//! The sources as a reader meets them: code without comments and strings, and the comments by line.
//!
//! This is a scanner, not a parser: good enough to count by.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::room_of;

/// A source file without its unit tests.
pub(super) struct SourceFile {
    /// The path below `src`, with slashes.
    pub(super) path: String,
    /// The text with comments, strings and inline unit tests blanked; every line is where it was.
    pub(super) code: String,
    /// The number of lines outside of inline unit tests.
    pub(super) lines: usize,
    /// Line comments by their line, which counts from 1.
    pub(super) comments: Vec<(usize, String)>,
}

impl SourceFile {
    /// Reads a file; `None` if it is a test as a whole.
    pub(super) fn new(path: &Path, text: &str) -> Option<Self> {
        let parts: Vec<&str> = path
            .iter()
            .map(|part| part.to_str().expect("text"))
            .collect();
        let (name, folders) = parts.split_last().expect("a name");
        let is_test = name.starts_with("tests")
            || name.ends_with("_tests.rs")
            || *name == "properties.rs"
            || folders.contains(&"tests");
        if is_test {
            return None;
        }
        let (code, comments) = blank(text);
        let in_tests: BTreeSet<usize> = inline_tests(&code).into_iter().flatten().collect();
        let code: Vec<String> = (1..)
            .zip(code.split('\n'))
            .map(|(line, text)| {
                if in_tests.contains(&line) {
                    String::new()
                } else {
                    text.to_owned()
                }
            })
            .collect();
        Some(Self {
            path: parts.join("/"),
            code: code.join("\n"),
            lines: text.matches('\n').count() - in_tests.len(),
            comments: comments
                .into_iter()
                .filter(|(line, _)| !in_tests.contains(line))
                .collect(),
        })
    }

    /// The room, or the file itself where it belongs to a crate or a wing.
    pub(super) fn room(&self) -> &str {
        room_of(Path::new(&self.path)).unwrap_or(&self.path)
    }

    /// The line of an offset in `code`, which counts from 1.
    pub(super) fn line_of(&self, offset: usize) -> usize {
        line_of(&self.code, offset)
    }

    /// Functions by name, with the line and the number of lines; functions inside of functions count
    /// for the outer one.
    pub(super) fn functions(&self) -> Vec<(String, usize, usize)> {
        static NAME: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"\bfn\s+(\w+)").expect("valid"));
        let mut functions = Vec::new();
        let mut last_end = 0;
        for name in NAME.captures_iter(&self.code) {
            let (start, after) = (
                name.get(0).expect("a match").start(),
                name.get(0).expect("a match").end(),
            );
            if start < last_end {
                continue;
            }
            let Some(body) = body_start(&self.code, after) else {
                continue;
            };
            let end = closing(&self.code, body);
            let lines = self.code[start..end].matches('\n').count() + 1;
            functions.push((name[1].to_owned(), self.line_of(start), lines));
            last_end = end;
        }
        functions
    }
}

pub(super) fn line_of(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}

/// Finds the brace that opens the body of a function whose name ends at `after`.
pub(crate) fn body_start(code: &str, after: usize) -> Option<usize> {
    let mut depth = 0;
    for (offset, c) in code[after..].char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ';' if depth == 0 => return None,
            '{' if depth == 0 => return Some(after + offset),
            _ => {}
        }
    }
    None
}

/// Finds the brace that closes the one at `open`.
pub(crate) fn closing(code: &str, open: usize) -> usize {
    let mut depth = 0;
    for (offset, c) in code[open..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return open + offset;
        }
    }
    code.len() - 1
}

/// Lists the lines of modules of unit tests inside of a file.
fn inline_tests(code: &str) -> Vec<Range<usize>> {
    static TESTS: LazyLock<Regex> = LazyLock::new(|| {
        let attributes = r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*";
        let module = r"(?:pub(?:\([^)]*\))?\s+)?mod\s+\w+\s*\{";
        Regex::new(&format!("{attributes}{module}")).expect("valid")
    });
    TESTS
        .find_iter(code)
        .map(|found| {
            let end = closing(code, found.end() - 1);
            line_of(code, found.start())..line_of(code, end) + 1
        })
        .collect()
}

/// Replaces comments and strings by spaces; returns the line comments, too.
pub(crate) fn blank(text: &str) -> (String, Vec<(usize, String)>) {
    static STRING: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"^(?:b|c|br|cr|r)?(#*)""#).expect("valid"));
    static CHAR: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^'(\\.[^']*|[^\\'])'").expect("valid"));
    let bytes = text.as_bytes();
    let mut blanked = bytes.to_vec();
    let mut comments = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        // Most bytes begin neither; the expressions are slow in a test build.
        let may_be_string = matches!(bytes[at], b'b' | b'c' | b'r' | b'"');
        let follows_word =
            at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
        let end = if rest.starts_with("//") {
            let end = rest.find('\n').map_or(text.len(), |end| at + end);
            comments.push((line_of(text, at), text[at..end].to_owned()));
            end
        } else if let Some(string) = STRING
            .captures(if may_be_string { rest } else { "" })
            .filter(|_| bytes[at] == b'"' || !follows_word)
        {
            let opening = &string[0];
            let body = at + opening.len();
            if opening.contains('r') {
                let close = format!("\"{}", &string[1]);
                text[body..]
                    .find(&close)
                    .map_or(text.len(), |end| body + end + close.len())
            } else if !string[1].is_empty() {
                // `#"` outside of a raw string is no string.
                at += 1;
                continue;
            } else {
                end_of_string(bytes, body)
            }
        } else if let Some(literal) = CHAR.find(if bytes[at] == b'\'' { rest } else { "" }) {
            at + literal.end()
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
            continue;
        };
        for byte in &mut blanked[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end;
    }
    let code = String::from_utf8(blanked).expect("whole characters were replaced");
    (code, comments)
}

fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}
