//! Native syntax: text to a tree, with every problem of a file at once.
//!
//! Three parts share the work. `scan` cuts the text into tokens, `chunks` and `grammar` walk over
//! them and name every fault as the programs would, and `hcl_edit` builds the tree of what is
//! sound. Whatever is wrong is blanked out with all offsets kept, so a fault in one item never
//! costs another one, and spans always point into the file as it was read.

mod chunks;
mod comments;
mod conflict;
mod convert;
mod findings;
mod grammar;
pub mod references;
mod scan;
mod sequences;
mod string;
mod template;
#[cfg(test)]
mod tests;
pub mod tree;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

use crate::diag::{self, Diagnostic, FileId, Span};
use chunks::{Chunk, chunks};
pub use comments::comments;
use convert::Converter;
use findings::{Fill, Overruled, Patch, TokenFault};
use tree::{Body, Expr, ExprKind, Item, TemplatePart};

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
    let Decoded {
        mut text,
        broken,
        replaced,
    } = decode_utf8(bytes);
    if scan::has_too_many_tokens(&text) {
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
    if let Some(conflict) = conflict::find(file, &text) {
        text = patched(&text, span, &conflict.patches);
        problems.push(conflict.diagnostic);
    }
    let chunks = chunks(&text, &broken);
    for chunk in &chunks {
        problems.extend(chunk.found.faults.iter().map(|fault| error(file, fault)));
        problems.extend(chunk.found.overruled.iter().map(|key| note(file, *key)));
    }
    let source = SourceSlice {
        text: &text,
        replaced: &replaced,
    };
    let items = match read_whole(source, &chunks) {
        Some(items) => items,
        None => read_chunks(file, source, &chunks, &mut problems),
    };
    diag::in_order(&mut problems);
    (Body { items, span }, problems)
}

/// Parses a text as a template; its places are none of the text.
///
/// # Errors
/// What is wrong with it.
pub fn template(file: FileId, text: &str) -> Result<Expr, Vec<Diagnostic>> {
    // A heredoc has templates, but neither quotes nor escapes of its own.
    let longest = text.split(|c| c != 'E').map(str::len).max().unwrap_or(0);
    let end = "E".repeat(longest + 1);
    let (body, problems) = parse(file, format!("_ = <<{end}\n{text}\n{end}\n").as_bytes());
    let mut items = body.items.into_iter();
    let (Some(Item::Attribute(only)), None, true) =
        (items.next(), items.next(), problems.is_empty())
    else {
        return Err(problems);
    };
    let mut read = only.value;
    // The line end in front of the end marker is not the text's.
    match &mut read.kind {
        ExprKind::String(text) => {
            text.pop();
        }
        ExprKind::Template(parts) => {
            if let Some(TemplatePart::Literal(last)) = parts.last_mut() {
                last.truncate(last.strip_suffix('\n').map_or(last.len(), str::len));
                if last.is_empty() {
                    parts.pop();
                }
            }
        }
        _ => {}
    }
    Ok(read)
}

/// A file as a string of the same length.
#[derive(Default)]
struct Decoded {
    /// A byte-order mark is spaces here, and each byte that is no UTF-8 is [`BROKEN`].
    text: String,
    /// The offsets of bytes that may stand only in comments.
    broken: Vec<usize>,
    /// The offsets of bytes that may also stand in strings, where each means U+FFFD.
    replaced: Vec<usize>,
}

/// Reads UTF-8 as the programs do (rules 1.8).
fn decode_utf8(bytes: &[u8]) -> Decoded {
    const MARK: &[u8] = b"\xEF\xBB\xBF";
    let mut decoded = Decoded::default();
    let text = &mut decoded.text;
    text.reserve(bytes.len());
    if bytes.starts_with(MARK) {
        // Offsets count from the first byte of the file (rules 1.3).
        text.push_str("   ");
    }
    while let Some(chunk) = bytes[text.len()..].utf8_chunks().next() {
        text.push_str(chunk.valid());
        let rest = &bytes[text.len()..];
        // A leading byte with as many others as it announces has the form of UTF-8, whatever they
        // encode.
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

/// A text with the bytes of it that mean U+FFFD in strings.
#[derive(Clone, Copy)]
struct SourceSlice<'t> {
    text: &'t str,
    replaced: &'t [usize],
}

/// Reads a file without faults in one go, which is what nearly every file needs. Joined lines are
/// only an offer: `hcl_edit` refuses few of them.
fn read_whole(source: SourceSlice<'_>, chunks: &[Chunk]) -> Option<Vec<Item>> {
    let is_clean = |chunk: &Chunk| {
        chunk.found.faults.is_empty()
            && chunk
                .found
                .patches
                .iter()
                .all(|patch| patch.fill == Fill::Join)
    };
    if !chunks.iter().all(is_clean) {
        return None;
    }
    // A refusal that the walk did not foresee is worded by `read_chunks`, for its own item alone.
    let body = hcl_edit::parser::parse_body(source.text).ok()?;
    let convert = Converter {
        source,
        shift: 0,
        around: Span::new(0, source.text.len()),
    };
    Some(convert.items(&body))
}

/// Reads item by item what the faults left.
fn read_chunks(
    file: FileId,
    source: SourceSlice<'_>,
    chunks: &[Chunk],
    problems: &mut Vec<Diagnostic>,
) -> Vec<Item> {
    let mut items = Vec::new();
    for chunk in chunks {
        let mut text = patched(source.text, chunk.span, &chunk.found.patches);
        // `Converter::span` cuts back spans that reach into these braces.
        text.push_str(&"\n}".repeat(chunk.found.unclosed));
        match hcl_edit::parser::parse_body(&text) {
            Ok(body) => {
                let convert = Converter {
                    source,
                    shift: chunk.span.start,
                    around: chunk.span,
                };
                items.extend(convert.items(&body));
            }
            // What was reported already is not reported again.
            Err(_) if !chunk.found.faults.is_empty() => {}
            // The walk over the tokens did not foresee this refusal.
            Err(refusal) => {
                // Its limits are known by their message alone; a test holds on to it.
                let message = refusal.message();
                let is_limit =
                    message.contains("nested levels") || message.contains("chained binary");
                let start = chunk.span.start + refusal.location().offset();
                let start = start.min(chunk.span.end);
                let fault = if is_limit {
                    findings::too_deep(Span::new(start, start))
                } else {
                    findings::fault("Invalid expression", Span::new(start, start))
                };
                problems.push(error(file, &fault));
            }
        }
    }
    items
}

/// Copies `region` with its patches.
fn patched(text: &str, region: Span, patches: &[Patch]) -> String {
    let mut bytes = text.as_bytes()[region.start..region.end].to_vec();
    for patch in patches {
        let start = patch.span.start.clamp(region.start, region.end) - region.start;
        let end = patch.span.end.clamp(region.start, region.end) - region.start;
        for (at, byte) in bytes[start..end].iter_mut().enumerate() {
            *byte = match patch.fill {
                Fill::Blank if matches!(*byte, b'\n' | b'\r') => *byte,
                Fill::Break if at == 0 => b'\n',
                Fill::Letter => b'_',
                Fill::Digit => b'0',
                Fill::Blank | Fill::Join | Fill::Break => b' ',
            };
        }
    }
    // Patches begin and end between tokens, so no character is cut.
    String::from_utf8(bytes).unwrap_or_default()
}

fn error(file: FileId, fault: &TokenFault) -> Diagnostic {
    let error = Diagnostic::error(fault.code, fault.title).at(file, fault.span, "");
    match (fault.code, fault.title) {
        (diag::rules::NESTED_TOO_DEEP, _) => error.help(format!(
            "move the inner parts out: lockctl follows {} levels",
            grammar::MAX_NESTING
        )),
        (diag::rules::OBJECT_TOO_LARGE, _) => error.help(format!(
            "split the object: lockctl reads {} items of one, and no more than two such in a file",
            grammar::MAX_OBJECT_ITEMS
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
