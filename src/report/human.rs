//! Reports for people: snippets, tables, verdicts.

use std::io::{self, Write};

use super::style::{BOLD, FAINT, aligned, harmless, style, styled};
use super::tree::TreeLine;
use super::{Block, Failure, Tone};
use super::{changes, page, several, snippet, tree};
use crate::diag::Texts;

pub use super::style::Colors;

/// Writes blocks one after the other.
///
/// # Errors
/// What the writer says.
pub fn render(
    out: &mut dyn Write,
    blocks: &[Block],
    texts: &Texts,
    colors: Colors,
) -> io::Result<()> {
    for block in blocks {
        match block {
            Block::Heading(text) => writeln!(out, "{}", styled(colors, BOLD, &harmless(text)))?,
            Block::Diagnostic(diagnostic) => {
                writeln!(out, "{}\n", snippet::render(diagnostic, texts, colors))?;
            }
            Block::Several(several) => several::render(out, several, texts, colors)?,
            Block::Failure(failure) => render_failure(out, failure, colors)?,
            Block::Table(rows) => render_table(out, rows)?,
            Block::Lines(lines) => {
                for line in lines {
                    writeln!(out, "{}", harmless(line))?;
                }
            }
            Block::Changes(all) => changes::render(out, all, colors)?,
            Block::Tree(tree) => {
                for (marks, line) in tree::lines(tree) {
                    write!(out, "{marks}")?;
                    render_line(out, &line, colors)?;
                }
            }
            Block::Page(text, columns) => page::render(out, text, *columns, colors)?,
            Block::Remark(tone, text) => {
                let word = word(*tone);
                writeln!(
                    out,
                    "{}: {}",
                    styled(colors, style(*tone), word),
                    harmless(text)
                )?;
            }
            Block::Verdict(tone, text) => {
                writeln!(out, "{}", styled(colors, style(*tone), &harmless(text)))?;
            }
        }
    }
    Ok(())
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

fn render_failure(out: &mut dyn Write, failure: &Failure, colors: Colors) -> io::Result<()> {
    let error = styled(colors, style(Tone::Bad), "error");
    writeln!(out, "{error}: {}", harmless(&failure.title))?;
    for cause in &failure.causes {
        writeln!(out, "  cause: {}", harmless(cause))?;
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

fn render_table(out: &mut dyn Write, rows: &[Vec<String>]) -> io::Result<()> {
    for line in aligned(rows) {
        writeln!(out, "{line}")?;
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
    use crate::report::Tree;

    #[track_caller]
    fn check(block: Block, wanted: impl snapbox::IntoData) {
        let mut out = Vec::new();
        render(&mut out, &[block], &Texts::default(), Colors::Off).expect("memory");
        snapbox::assert_data_eq!(String::from_utf8(out).expect("text"), wanted);
    }

    #[test]
    fn a_failure_shows_causes_and_help() {
        let failure = Failure {
            title: "it failed".into(),
            causes: vec!["first".into(), "second".into()],
            help: Some("try again".into()),
        };
        check(
            Block::Failure(failure),
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
            Block::Table(vec![
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
        let leaf = Tree {
            line: "leaf".into(),
            details: details.clone(),
            ..Tree::default()
        };
        let tree = Tree {
            line: "top".into(),
            details,
            branches: vec![leaf, Tree::leaf("last".into())],
            ..Tree::default()
        };
        check(
            Block::Tree(tree),
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
