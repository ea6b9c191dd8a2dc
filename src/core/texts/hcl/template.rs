//! Templates: strip markers and heredoc indentation, applied the way HCL does.
//!
//! HCL works on a flat row of pieces, and each line of a heredoc is a piece. So a strip marker takes space off
//! one line only, and indentation counts inside directives too.

use super::tree::{Expr, ExprKind, TemplateFor, TemplateIf, TemplatePart};

/// One piece of a template before directives are put in each other.
pub(super) enum TemplatePiece {
    Text(String),
    Sequence(Sequence, Strip),
}

/// `${ … }` or `%{ … }`
pub(super) enum Sequence {
    Value(Expr),
    If(Expr),
    Else,
    EndIf,
    For {
        key_name: Option<String>,
        value_name: String,
        collection: Expr,
    },
    EndFor,
}

/// The sides of a sequence that have a `~`.
#[derive(Clone, Copy)]
pub(super) struct Strip {
    pub(super) before: bool,
    pub(super) after: bool,
}

/// Takes the space off that strip markers point at.
pub(super) fn strip(pieces: &mut [TemplatePiece]) {
    for at in 0..pieces.len() {
        let TemplatePiece::Sequence(_, strip) = pieces[at] else {
            continue;
        };
        if strip.before
            && let Some(TemplatePiece::Text(text)) =
                at.checked_sub(1).and_then(|at| pieces.get_mut(at))
        {
            // Only the piece beside the marker, which in a heredoc is one line.
            text.truncate(text.trim_end().len());
        }
        if strip.after
            && let Some(TemplatePiece::Text(text)) = pieces.get_mut(at + 1)
        {
            *text = text.trim_start().to_owned();
        }
    }
}

/// Takes the common indentation off the lines of a `<<-` heredoc.
pub(super) fn dedent(pieces: &mut [TemplatePiece]) {
    let mut common = usize::MAX;
    let mut starts = Vec::new();
    let mut at_line_start = true;
    for (at, piece) in pieces.iter().enumerate() {
        let indent = match piece {
            // Blank lines neither count nor change.
            TemplatePiece::Text(text) if text.trim_start().is_empty() && text.ends_with('\n') => {
                usize::MAX
            }
            TemplatePiece::Text(text) => text.chars().take_while(|c| c.is_whitespace()).count(),
            // A line that starts with a sequence has no indentation.
            TemplatePiece::Sequence(..) => 0,
        };
        if at_line_start {
            common = common.min(indent);
            if indent != usize::MAX {
                starts.push(at);
            }
        }
        at_line_start = matches!(piece, TemplatePiece::Text(text) if text.ends_with('\n'));
    }
    for at in starts {
        if let TemplatePiece::Text(text) = &mut pieces[at] {
            *text = text.chars().skip(common).collect();
        }
    }
}

/// Puts the pieces together: directives in each other, neighbouring text joined.
pub(super) fn assemble(pieces: Vec<TemplatePiece>) -> ExprKind {
    let single = pieces.len() == 1;
    let mut pieces = pieces.into_iter();
    let (mut parts, _) = parts(&mut pieces);
    match parts.as_mut_slice() {
        [] => ExprKind::String(String::new()),
        [TemplatePart::Literal(text)] => ExprKind::String(std::mem::take(text)),
        // Only a lone `"${ … }"` hands its value through; text that a strip marker emptied still
        // makes a string of it.
        [TemplatePart::Interpolation(_)] if !single => {
            parts.push(TemplatePart::Literal(String::new()));
            ExprKind::Template(parts)
        }
        _ => ExprKind::Template(parts),
    }
}

/// Takes parts up to the `else` or end of the directive around them, and returns whether that was
/// an `else`.
fn parts(pieces: &mut std::vec::IntoIter<TemplatePiece>) -> (Vec<TemplatePart>, bool) {
    let mut found: Vec<TemplatePart> = Vec::new();
    while let Some(piece) = pieces.next() {
        match piece {
            TemplatePiece::Text(text) => match found.last_mut() {
                Some(TemplatePart::Literal(before)) => before.push_str(&text),
                // Strip markers may leave nothing of the text between two sequences.
                _ if text.is_empty() => {}
                _ => found.push(TemplatePart::Literal(text)),
            },
            TemplatePiece::Sequence(Sequence::Value(value), _) => {
                found.push(TemplatePart::Interpolation(value));
            }
            TemplatePiece::Sequence(Sequence::If(condition), _) => {
                let (then, has_else) = parts(pieces);
                let otherwise = if has_else {
                    parts(pieces).0
                } else {
                    Vec::new()
                };
                found.push(TemplatePart::If(Box::new(TemplateIf {
                    condition,
                    then,
                    otherwise,
                })));
            }
            TemplatePiece::Sequence(
                Sequence::For {
                    key_name,
                    value_name,
                    collection,
                },
                _,
            ) => {
                let (body, _) = parts(pieces);
                found.push(TemplatePart::For(Box::new(TemplateFor {
                    key_name,
                    value_name,
                    collection,
                    body,
                })));
            }
            // The reader of the sequences paired all directives: this one belongs to the innermost that is open.
            TemplatePiece::Sequence(Sequence::Else, _) => return (found, true),
            TemplatePiece::Sequence(Sequence::EndIf | Sequence::EndFor, _) => {
                return (found, false);
            }
        }
    }
    (found, false)
}
