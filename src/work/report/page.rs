//! Pages of documentation for a terminal.
//!
//! They are Markdown of a small kind: headings that begin with `#`, paragraphs, lists with hyphens,
//! and blocks between fences, whose first line may name a file. Everything else is shown unchanged.

use std::io::{self, Write};

use super::style::{BOLD, Colors, styled};

/// Maximum width of text, in columns: longer lines are hard to read.
const MAX_COLUMNS: usize = 100;

/// Minimum width of text, in columns: a word or two must fit.
const MIN_COLUMNS: usize = 30;

/// Indentation of text below its heading, and of code below the text.
const STEP: &str = "  ";

/// A part of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PagePart<'a> {
    /// A heading, without its marks.
    Heading(&'a str),
    /// A paragraph, in words.
    Paragraph(Vec<&'a str>),
    /// An item of a list, in words.
    Item(Vec<&'a str>),
    /// The lines between two fences.
    Code {
        /// The language of the lines; may be empty.
        language: &'a str,
        /// The file whose content they are, if they are that.
        file: Option<&'a str>,
        /// The lines between the fences.
        lines: Vec<&'a str>,
    },
}

/// Takes a page apart.
///
/// ```
/// use lockctl::report::page::{PagePart, parts};
///
/// let page = "# a\n\none\ntwo\n\n```hcl main.tf\nx = 1\n```\n";
/// let code = PagePart::Code {
///     language: "hcl",
///     file: Some("main.tf"),
///     lines: vec!["x = 1"],
/// };
/// let paragraph = PagePart::Paragraph(vec!["one", "two"]);
/// assert_eq!(parts(page), [PagePart::Heading("a"), paragraph, code]);
/// ```
#[must_use]
pub fn parts(text: &str) -> Vec<PagePart<'_>> {
    let mut parts = Vec::new();
    let mut lines = text.lines();
    let mut goes_on = false;
    while let Some(line) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            let (language, file) = match info.split_once(' ') {
                Some((language, file)) => (language, Some(file)),
                None => (info, None),
            };
            let code = lines.by_ref().take_while(|line| *line != "```");
            parts.push(PagePart::Code {
                language,
                file,
                lines: code.collect(),
            });
            goes_on = false;
        } else if line.starts_with('#') {
            parts.push(PagePart::Heading(line.trim_start_matches('#').trim()));
            goes_on = false;
        } else if let Some(item) = line.strip_prefix("- ") {
            parts.push(PagePart::Item(item.split_whitespace().collect()));
            goes_on = true;
        } else {
            let words = line.split_whitespace();
            match parts.last_mut() {
                Some(PagePart::Paragraph(before) | PagePart::Item(before)) if goes_on => {
                    before.extend(words);
                }
                _ if line.trim().is_empty() => {}
                _ => parts.push(PagePart::Paragraph(words.collect())),
            }
            goes_on = !line.trim().is_empty();
        }
    }
    parts
}

/// Writes a page, with text wrapped at a number of columns.
///
/// # Errors
/// What the writer says.
pub(super) fn render(
    out: &mut dyn Write,
    text: &str,
    columns: usize,
    colors: Colors,
) -> io::Result<()> {
    let columns = columns.clamp(MIN_COLUMNS, MAX_COLUMNS) - STEP.len();
    let parts = parts(text);
    for (at, part) in parts.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| &parts[before]);
        // As in the Markdown of the pages: no empty line below a heading or between items.
        let is_tight = match (before, part) {
            (Some(PagePart::Heading(_)), PagePart::Heading(_)) => false,
            (None | Some(PagePart::Heading(_)), _) => true,
            (Some(PagePart::Item(_)), PagePart::Item(_)) => true,
            _ => false,
        };
        if !is_tight {
            writeln!(out)?;
        }
        match part {
            PagePart::Heading(text) => writeln!(out, "{}", styled(colors, BOLD, text))?,
            PagePart::Paragraph(words) => {
                for line in wrapped(words, columns) {
                    writeln!(out, "{STEP}{line}")?;
                }
            }
            PagePart::Item(words) => {
                let mut mark = "- ";
                for line in wrapped(words, columns - mark.len()) {
                    writeln!(out, "{STEP}{mark}{line}")?;
                    // Further lines align with the first word, not with the hyphen.
                    mark = "  ";
                }
            }
            PagePart::Code { file, lines, .. } => {
                if let Some(file) = file {
                    writeln!(out, "{STEP}{file}:")?;
                }
                for line in lines {
                    // An empty line of code is not set in: it would end in spaces.
                    let line = format!("{STEP}{STEP}{line}");
                    writeln!(out, "{}", line.trim_end())?;
                }
            }
        }
    }
    Ok(())
}

/// Puts words into lines of at most so many columns; a longer word has a line of its own.
#[must_use]
pub fn wrapped(words: &[&str], columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push((*word).to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(columns: usize, wanted: impl snapbox::IntoData) {
        let page = "# a-rule\n\n## What it means\n\nSome words that are wrapped\nsomewhere.\n\n\
                    - one item, that is longer than the others\n- two\n  items\n\n\
                    ```hcl main.tf\nx = 1\n\ny = 2\n```\n";
        let mut out = Vec::new();
        render(&mut out, page, columns, Colors::Off).unwrap();
        snapbox::assert_data_eq!(String::from_utf8(out).unwrap(), wanted);
    }

    #[test]
    fn text_is_wrapped_and_code_is_not() {
        check(
            0,
            snapbox::str![[r#"
a-rule

What it means
  Some words that are wrapped
  somewhere.

  - one item, that is longer
    than the others
  - two items

  main.tf:
    x = 1

    y = 2

"#]],
        );
        check(
            usize::MAX,
            snapbox::str![[r#"
a-rule

What it means
  Some words that are wrapped somewhere.

  - one item, that is longer than the others
  - two items

  main.tf:
    x = 1

    y = 2

"#]],
        );
    }
}
