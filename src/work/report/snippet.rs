//! A diagnostic with the lines it is about.

use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::groups::grouped;
use super::style::{Colors, harmless, harmless_lines, steers};
use crate::diag::{Diagnostic, FileId, Label, Severity, Span, Texts, shortened};

/// Maximum width of a line before its ends are cut off, in columns.
const MAX_WIDTH: usize = 140;

/// Maximum number of bytes of lines that are handed over; of a longer line only the part around the place is.
const MAX_SHOWN: usize = 16 * 1024;

/// Number of bytes of a longer line that are shown before a place, and from its beginning on.
const PART_BEFORE: usize = 60;
const PART_BEHIND: usize = 140;

/// Maximum length of a title or a remark in a snippet, in characters.
const MAX_REMARK: usize = 1000;

/// Renders a diagnostic; no line feed at the end.
pub(super) fn render(diagnostic: &Diagnostic, texts: &Texts, colors: Colors) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level
        .primary_title(remark(&diagnostic.title))
        .id(diagnostic.code);
    let mut group: Group<'_> = Group::with_title(title);
    let primary = diagnostic
        .primary
        .iter()
        .map(|label| (label.file, (AnnotationKind::Primary, label)));
    let related = diagnostic
        .related
        .iter()
        .map(|label| (label.file, (AnnotationKind::Context, label)));
    // A snippet shows one file; that of the primary label comes first.
    for (file, labels) in grouped(primary.chain(related)) {
        let range = lines_of(file, &labels, texts);
        if !range.is_empty() && range.len() <= MAX_SHOWN {
            group = group.element(snippet(file, &labels, range, texts));
            continue;
        }
        // Labels far apart are shown one by one, as long as their lines are.
        for label in labels.chunks(1) {
            let range = lines_of(file, label, texts);
            group = match range.len() {
                0 => named(group, file, label, texts),
                1..=MAX_SHOWN => group.element(snippet(file, label, range, texts)),
                _ => {
                    let part = part_around(label, range, texts.bytes(file));
                    group
                        .element(origin(file, label, texts))
                        .element(snippet(file, label, part, texts).path(None::<&str>))
                }
            };
        }
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(harmless_lines(&help.text)));
    }
    let renderer = match colors {
        Colors::Off => Renderer::plain(),
        Colors::On => Renderer::styled(),
    };
    let rendered = renderer.term_width(MAX_WIDTH).render(&[group]);
    let has_place = diagnostic.primary.is_some() || !diagnostic.related.is_empty();
    let is_shown = |(index, line): &(usize, &str)| match shown(line).trim() {
        // Without a snippet, the gutter behind the title is a line of its own.
        "|" => *index != 1 || has_place,
        // Of a part of a long line the place is stated above.
        ":::" => false,
        _ => true,
    };
    rendered
        .split('\n')
        .enumerate()
        .filter(is_shown)
        .map(|(_, line)| line)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns a line without its colours.
fn shown(line: &str) -> String {
    let mut shown = String::new();
    for (index, part) in line.split('\u{1b}').enumerate() {
        // An escape sequence of a colour ends with `m`.
        let text = if index == 0 {
            Some(part)
        } else {
            part.split_once('m').map(|(_, text)| text)
        };
        shown.push_str(text.unwrap_or(part));
    }
    shown
}

/// A label with the part that it plays.
type Role<'a> = (AnnotationKind, &'a Label);

/// Returns the bytes from the first to the last line that a label is about.
fn lines_of(file: FileId, labels: &[Role<'_>], texts: &Texts) -> Range<usize> {
    // Only these lines are handed over: a text may be megabytes long.
    let lines = labels
        .iter()
        .map(|(_, label)| texts.line(file, label.span.start));
    let start = lines.clone().map(|line| line.start).min();
    let end = lines.map(|line| line.end).max();
    start.unwrap_or(0)..end.unwrap_or(0)
}

/// Names the places of labels whose text cannot be shown, with their notes.
fn named<'a>(group: Group<'a>, file: FileId, labels: &[Role<'_>], texts: &'a Texts) -> Group<'a> {
    let group = group.element(origin(file, labels, texts));
    labels
        .iter()
        .map(|(_, label)| remark(&label.note))
        .filter(|note| !note.is_empty())
        .fold(group, |group, note| {
            group.element(Level::NOTE.message(note))
        })
}

/// Returns the place of the first label.
fn origin<'a>(file: FileId, labels: &[Role<'_>], texts: &Texts) -> Origin<'a> {
    let start = labels.first().map_or(0, |(_, label)| label.span.start);
    let position = texts.position(file, start);
    Origin::path(harmless(texts.name(file)))
        .line(position.line)
        .char_column(position.column)
}

/// Returns the bytes around the first label of a line that is too long to be handed over.
fn part_around(labels: &[Role<'_>], line: Range<usize>, bytes: &[u8]) -> Range<usize> {
    let start = labels.first().map_or(0, |(_, label)| label.span.start);
    let start = start.clamp(line.start, line.end);
    let before = start.saturating_sub(PART_BEFORE).max(line.start);
    let end = line.end.min(start + PART_BEHIND);
    // Both ends are those of characters.
    Span::within(bytes, before, start).start..Span::within(bytes, start, end).end
}

fn snippet<'a>(
    file: FileId,
    labels: &[Role<'a>],
    range: Range<usize>,
    texts: &'a Texts,
) -> Snippet<'a, Annotation<'a>> {
    let bytes = texts.bytes(file);
    let mut snippet = Snippet::source(same_length(&bytes[range.clone()]))
        .line_start(texts.position(file, range.start).line)
        .path(harmless(texts.name(file)));
    for (kind, label) in labels {
        // Of a label over several lines only the part in the first is marked.
        let line = texts.line(file, label.span.start);
        let start = label.span.start.min(bytes.len());
        // `annotate-snippets` panics at a place inside a character.
        let end = label.span.end.min(line.end).min(range.end);
        let span = Span::within(bytes, start, end);
        let mut annotation = kind.span(span.start - range.start..span.end - range.start);
        if !label.note.is_empty() {
            annotation = annotation.label(remark(&label.note));
        }
        snippet = snippet.annotation(annotation);
    }
    snippet
}

/// Returns the line of the beginning of a label, cut to the room beside others.
pub(super) fn source_line(label: &Label, texts: &Texts) -> String {
    let range = texts.line(label.file, label.span.start);
    let bytes = texts.bytes(label.file);
    let place = label.span.start.min(range.end);
    // A place far to the right is shown with a little of what is before it.
    let from = match place - range.start {
        0..MAX_WIDTH => range.start,
        _ => Span::within(bytes, place - MAX_WIDTH / 4, place).start,
    };
    let shown = from..range.end.min(from + MAX_SHOWN);
    let is_whole = shown.end == range.end;
    let before = if from == range.start { "" } else { "..." };
    // A tab has no fixed width, and the columns of several lines must agree.
    let text = same_length(&bytes[shown]).replace('\t', "    ");
    match text.char_indices().nth(MAX_WIDTH) {
        None if is_whole => format!("{before}{text}"),
        None => format!("{before}{text}..."),
        Some((end, _)) => format!("{before}{}...", &text[..end]),
    }
}

/// Makes a title or a note harmless, and cuts it in the middle if it is very long.
pub(super) fn remark(text: &str) -> String {
    harmless(&shortened(text, MAX_REMARK))
}

/// Makes text of bytes without moving an offset: what is no UTF-8, or could steer a terminal,
/// becomes question marks.
fn same_length(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c == '\r' {
                // The end of a line, or else a byte that would hide its beginning.
                text.push(' ');
            } else if c == '\n' || !steers(c) {
                text.push(c);
            } else {
                text.extend(std::iter::repeat_n('?', c.len_utf8()));
            }
        }
        text.extend(std::iter::repeat_n('?', chunk.invalid().len()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &[u8], make: impl Fn(FileId) -> Diagnostic, wanted: impl snapbox::IntoData) {
        let mut texts = Texts::default();
        let file = texts.add(".terraform.lock.hcl", text.to_vec());
        let rendered = render(&make(file), &texts, Colors::Off);
        snapbox::assert_data_eq!(rendered, wanted);
    }

    #[test]
    fn without_a_place_there_is_no_gutter() {
        check(
            b"",
            |_| Diagnostic::error("lock-missing", "There is none").help("run it\nor not"),
            snapbox::str![[r#"
error[lock-missing]: There is none
 = help: run it
         or not
"#]],
        );
        let diagnostic = Diagnostic::error("lock-missing", "There is none").help("run it");
        let colored = render(&diagnostic, &Texts::default(), Colors::On);
        assert_eq!(colored.lines().count(), 2, "{colored:?}");
    }

    #[test]
    fn both_places_of_a_duplicate_are_shown() {
        let text = b"# one\nprovider \"a\" {\n}\n\n\nprovider \"a\" {\n}\n";
        check(
            text,
            |file| {
                Diagnostic::error("duplicate-provider", "Duplicate provider lock")
                    .at(file, Span::new(25, 37), "locked again")
                    .see(file, Span::new(6, 18), "first locked here")
                    .help("delete one of the two blocks")
            },
            snapbox::str![[r#"
error[duplicate-provider]: Duplicate provider lock
 --> .terraform.lock.hcl:6:1
  |
2 | provider "a" {
  | ------------ first locked here
...
6 | provider "a" {
  | ^^^^^^^^^^^^ locked again
  |
  = help: delete one of the two blocks
"#]],
        );
    }

    #[test]
    fn bytes_that_are_no_text_move_nothing() {
        check(
            b"# \xff\xfe \x1b[31m\nversion = 3",
            |file| {
                Diagnostic::error("version-malformed", "Wrong").at(file, Span::new(2, 4), "here")
            },
            snapbox::str![[r#"
error[version-malformed]: Wrong
 --> .terraform.lock.hcl:1:3
  |
1 | # ?? ?[31m
  |   ^^ here
"#]],
        );
    }

    #[test]
    fn a_place_inside_a_character_is_the_whole_character() {
        for (start, end) in [(5, 6), (6, 7), (6, 6), (5, 7)] {
            check(
                "{\"a\":\u{201c}x}".as_bytes(),
                |file| {
                    Diagnostic::error("syntax-error", "Wrong").at(file, Span::new(start, end), "")
                },
                snapbox::str![[r#"
error[syntax-error]: Wrong
 --> .terraform.lock.hcl:1:6
  |
1 | {"a":“x}
  |      ^
"#]],
            );
        }
    }

    #[test]
    fn notes_on_a_text_that_cannot_be_shown_are_printed() {
        check(
            b"",
            |file| {
                Diagnostic::error("file-unreadable", "Failed to read file")
                    .at(file, Span::default(), "permission\ndenied")
                    .help("make it readable")
            },
            snapbox::str![[r#"
error[file-unreadable]: Failed to read file
--> .terraform.lock.hcl:1:1
 = note: permission�denied
 = help: make it readable
"#]],
        );
        check(
            b"a = 1\n",
            |file| {
                Diagnostic::error("syntax-error", "Short")
                    .at(file, Span::new(6, 6), "more must follow")
                    .see(file, Span::new(0, 1), "opened here")
            },
            snapbox::str![[r#"
error[syntax-error]: Short
 --> .terraform.lock.hcl:1:7
  |
1 | a = 1
  | -    ^ more must follow
  | |
  | opened here
"#]],
        );
        check(
            &[&[b'x'; MAX_SHOWN + 1], b"\ny".as_slice()].concat(),
            |file| {
                Diagnostic::error("syntax-error", "Long")
                    .at(file, Span::new(9, 12), "too long")
                    .see(file, Span::new(MAX_SHOWN + 2, MAX_SHOWN + 3), "short")
            },
            snapbox::str![[r#"
error[syntax-error]: Long
 --> .terraform.lock.hcl:1:10
  |
1 | xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...
  |          ^^^ too long
  |
 ::: .terraform.lock.hcl:2:1
  |
2 | y
  | - short
"#]],
        );
    }

    #[test]
    fn very_long_lines_and_remarks_are_cut() {
        // Behind the first 64 KiB of a line a column counts bytes.
        for (name, place, column) in [
            ('\u{e9}', 200_000, 167_233),
            ('x', 0, 1),
            ('\u{1f600}', 399_992, 350_841),
        ] {
            let text = name.to_string().repeat(400_000 / name.len_utf8());
            let mut texts = Texts::default();
            let file = texts.add("a.tf", text.clone().into_bytes());
            let span = Span::new(place, place + 100_000);
            let diagnostic =
                Diagnostic::error("syntax-error", text).at(file, span, "é".repeat(5000));
            let rendered = render(&diagnostic, &texts, Colors::Off);
            assert!(rendered.contains(&format!("a.tf:1:{column}")), "{rendered}");
            assert!(rendered.chars().count() < 3000, "{}", rendered.len());
            let label = diagnostic.primary.unwrap();
            assert!(source_line(&label, &texts).chars().count() < 200);
        }
    }

    #[test]
    fn a_place_behind_the_end_is_the_end() {
        check(
            b"a",
            |file| Diagnostic::error("syntax-error", "Short").at(file, Span::new(9, 12), "end"),
            snapbox::str![[r#"
error[syntax-error]: Short
 --> .terraform.lock.hcl:1:2
  |
1 | a
  |  ^ end
"#]],
        );
    }
}
