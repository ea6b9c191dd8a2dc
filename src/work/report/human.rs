//! Reports for people: snippets, tables, verdicts.

use std::io::{self, Write};

use super::narrow::fitted;
use super::style::{BOLD, FAINT, aligned, harmless, style, styled};
use super::tree::TreeLine;
use super::{Failure, TextBlock, Tone, changes, page, several, snippet, tree};
use crate::diag::Texts;

pub use super::style::Colors;

/// Writes blocks one after the other.
///
/// # Errors
/// What the writer says.
pub fn render(
    out: &mut dyn Write,
    blocks: &[TextBlock],
    texts: &Texts,
    colors: Colors,
) -> io::Result<()> {
    for block in blocks {
        match block {
            TextBlock::Heading(text) => writeln!(out, "{}", styled(colors, BOLD, &harmless(text)))?,
            TextBlock::Diagnostic(diagnostic) => {
                writeln!(out, "{}\n", snippet::render(diagnostic, texts, colors))?;
            }
            TextBlock::Several(several) => several::render(out, several, texts, colors)?,
            TextBlock::Failure(failure) => render_failure(out, failure, None, colors)?,
            TextBlock::SharedFailure(failure, roots) => {
                render_failure(out, failure, Some(roots), colors)?;
            }
            TextBlock::Table(rows) => {
                for line in aligned(rows) {
                    writeln!(out, "{line}")?;
                }
            }
            TextBlock::Lines(lines) => {
                for line in lines {
                    writeln!(out, "{}", harmless(line))?;
                }
            }
            TextBlock::Changes(all) => changes::render(out, all, colors)?,
            TextBlock::Tree(tree) => {
                for (marks, line) in tree::lines(tree) {
                    write!(out, "{marks}")?;
                    render_line(out, &line, colors)?;
                }
            }
            TextBlock::Page(text, columns) => page::render(out, text, *columns, colors)?,
            TextBlock::Remark(tone, text) => {
                let word = word(*tone);
                writeln!(
                    out,
                    "{}: {}",
                    styled(colors, style(*tone), word),
                    harmless(text)
                )?;
            }
            TextBlock::Verdict(tone, text) => {
                writeln!(out, "{}", styled(colors, style(*tone), &harmless(text)))?;
            }
        }
    }
    Ok(())
}

/// Lays tables out anew that have lines of more than so many columns.
pub fn fit(blocks: &mut [TextBlock], columns: usize) {
    for block in blocks {
        match block {
            // A terminal would break long lines within words.
            TextBlock::Table(rows) => *block = TextBlock::Lines(fitted(rows, columns)),
            TextBlock::Changes(changes) => changes.columns = Some(columns),
            _ => {}
        }
    }
}

fn render_line(out: &mut dyn Write, line: &TreeLine<'_>, colors: Colors) -> io::Result<()> {
    match line {
        TreeLine::Branch(branch) => {
            write!(out, "{}", harmless(&branch.line))?;
            if let Some(text) = &branch.warning {
                let text = format!("({})", harmless(text));
                write!(out, "  {}", styled(colors, style(Tone::Warning), &text))?;
            }
            writeln!(out)
        }
        TreeLine::Detail(text) => writeln!(out, "{}", styled(colors, FAINT, text)),
    }
}

fn render_failure(
    out: &mut dyn Write,
    failure: &Failure,
    roots: Option<&str>,
    colors: Colors,
) -> io::Result<()> {
    let error = styled(colors, style(Tone::Bad), "error");
    writeln!(out, "{error}: {}", harmless(&failure.title))?;
    for cause in &failure.causes {
        writeln!(out, "  cause: {}", harmless(cause))?;
    }
    if let Some(roots) = roots {
        writeln!(out, "  {}", harmless(roots))?;
    }
    if let Some(help) = &failure.help {
        writeln!(
            out,
            "  {}: {}",
            styled(colors, BOLD, "help"),
            harmless(help)
        )?;
    }
    Ok(())
}

fn word(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "ok",
        Tone::Note => "note",
        Tone::Warning => "warning",
        Tone::Bad => "error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::LineTree;

    #[track_caller]
    fn check(block: TextBlock, wanted: impl snapbox::IntoData) {
        let mut out = Vec::new();
        render(&mut out, &[block], &Texts::default(), Colors::Off).expect("memory");
        snapbox::assert_data_eq!(String::from_utf8(out).expect("text"), wanted);
    }

    #[test]
    fn a_failure_shows_causes_and_help() {
        let failure = Failure::new("it failed")
            .because("first")
            .because("second")
            .help("try again");
        check(
            TextBlock::Failure(failure),
            snapbox::str![[r#"
error: it failed
  cause: first
  cause: second
  help: try again

"#]],
        );
    }

    #[test]
    fn tables_are_aligned_without_trailing_space() {
        check(
            TextBlock::Table(vec![
                vec!["a".into(), "bb".into()],
                vec!["ccc".into(), "d".into()],
            ]),
            snapbox::str![[r#"
a    bb
ccc  d

"#]],
        );
    }

    #[test]
    fn details_hang_between_a_branch_and_what_is_below_it() {
        let details = vec![
            vec!["a = 1".to_owned(), "x:1".to_owned()],
            vec!["  bb = 2".to_owned(), "y\u{1b}:2".to_owned()],
        ];
        let leaf = LineTree {
            line: "leaf".into(),
            details: details.clone(),
            ..LineTree::default()
        };
        let tree = LineTree {
            line: "top".into(),
            details,
            branches: vec![leaf, LineTree::leaf("last".into())],
            ..LineTree::default()
        };
        check(
            TextBlock::Tree(tree),
            snapbox::str![[r#"
top
│  a = 1     x:1
│    bb = 2  y�:2
├─ leaf
│     a = 1     x:1
│       bb = 2  y�:2
└─ last

"#]],
        );
    }
}
