//! The layout that `terraform fmt` and `tofu fmt` give to a text: indentation, spaces between tokens, and columns
//! (rules 3).
//!
//! Only white space changes. A line has three cells: what comes first, an assignment that ends on the line, and a
//! comment behind them. The second and third cell of neighbouring lines stand in one column.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::scan::{self, HclTokenKind as Kind};
use crate::diag::Span;

/// Lays a text out that has no fault of syntax. Line ends become those of Unix, except in heredocs.
///
/// A text of more than a million tokens is returned as it is.
///
/// ```
/// let text = lockctl_core::hcl::format("a {\nb=1 # x\ncde = [-1]\n}\n");
/// assert_eq!(text, "a {\n  b   = 1 # x\n  cde = [-1]\n}\n");
/// ```
#[must_use]
pub fn format(text: &str) -> String {
    if scan::has_too_many_tokens(text) {
        return text.to_owned();
    }
    let mut tokens = tokens(text);
    let lines = lines(&tokens);
    indent(&mut tokens, &lines);
    space(&mut tokens, &lines);
    align(&mut tokens, &lines);
    let mut formatted = String::with_capacity(text.len());
    for token in &tokens {
        formatted.extend(std::iter::repeat_n(' ', token.spaces));
        match (token.kind, token.text) {
            (LayoutKind::Token(Kind::Newline), _) => formatted.push('\n'),
            (LayoutKind::LineComment, text) => {
                formatted.push_str(text.trim_end_matches(['\r', '\n']));
                if text.ends_with('\n') {
                    formatted.push('\n');
                }
            }
            (_, text) => formatted.push_str(text),
        }
    }
    formatted
}

/// Rewrites an expression as `fmt` does beside its layout: a quoted string that is a single interpolation becomes the
/// expression in it.
///
/// ```
/// use lockctl_core::hcl::unquoted;
///
/// assert_eq!(unquoted("\"${var.a}\""), "var.a");
/// assert_eq!(unquoted("\"${var.a}-${var.b}\""), "\"${var.a}-${var.b}\"");
/// ```
#[must_use]
pub fn unquoted(value: &str) -> Cow<'_, str> {
    use LayoutKind::Token;
    if !value.starts_with("\"${") || scan::has_too_many_tokens(value) {
        return Cow::Borrowed(value);
    }
    let tokens = tokens(value);
    let [_, _, inside @ .., last, quote] = &*tokens else {
        return Cow::Borrowed(value);
    };
    let ends = (last.kind, quote.kind);
    if inside.is_empty() || ends != (Token(Kind::CloseSequence), Token(Kind::CloseQuote)) {
        return Cow::Borrowed(value);
    }
    let mut quotes = 0_usize;
    for token in inside {
        match token.kind {
            Token(Kind::OpenQuote) => quotes += 1,
            Token(Kind::CloseQuote) => quotes = quotes.saturating_sub(1),
            // Behind these another part of the string begins.
            Token(Kind::OpenInterpolation | Kind::CloseSequence | Kind::Literal) if quotes == 0 => {
                return Cow::Borrowed(value);
            }
            _ => {}
        }
    }
    let is_newline = |token: &LayoutToken<'_>| token.kind == Token(Kind::Newline);
    let start = inside.iter().position(|token| !is_newline(token));
    let end = inside.iter().rposition(|token| !is_newline(token));
    let (Some(start), Some(end)) = (start, end) else {
        return Cow::Borrowed(value);
    };
    let inside = &inside[start..=end];
    let (first, last) = (inside[0], inside[inside.len() - 1]);
    let text = &value[first.start..last.start + last.text.len()];
    let has_parens = (first.kind, last.kind) == (Token(Kind::OpenParen), Token(Kind::CloseParen));
    // Outside of the string, line ends would end the expression.
    if inside.iter().any(is_newline) && !has_parens {
        return Cow::Owned(format!("({text})"));
    }
    Cow::Borrowed(text)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LayoutKind {
    Token(Kind),
    /// A comment up to the end of its line, which it includes.
    LineComment,
    /// A comment with an end of its own.
    Comment,
    /// Before the first and behind the last token of a cell.
    Nothing,
}

/// A token with the spaces before it.
#[derive(Clone, Copy, Debug)]
struct LayoutToken<'t> {
    kind: LayoutKind,
    text: &'t str,
    /// The offset of the text.
    start: usize,
    spaces: usize,
}

const NOTHING: LayoutToken<'_> = LayoutToken {
    kind: LayoutKind::Nothing,
    text: "",
    start: 0,
    spaces: 0,
};

/// The cells of a line, as ranges of tokens; the last two may be empty.
struct LineCells {
    lead: Range<usize>,
    assign: Range<usize>,
    comment: Range<usize>,
}

fn tokens(text: &str) -> Vec<LayoutToken<'_>> {
    let mut found: Vec<LayoutToken<'_>> = Vec::new();
    let mut at = 0;
    // The line end that belongs to a comment before it.
    let mut taken = 0;
    for token in scan::tokens(text, Span::new(0, text.len())) {
        while at < token.start {
            let rest = &text[at..token.start];
            let (kind, len) = if let Some(inside) = rest.strip_prefix("/*") {
                let len = inside.find("*/").map_or(rest.len(), |end| end + 4);
                (LayoutKind::Comment, len)
            } else if rest.starts_with('#') || rest.starts_with("//") {
                let line = &text[at..];
                let len = line.find('\n').map_or(line.len(), |end| end + 1);
                (LayoutKind::LineComment, len)
            } else {
                at += rest.chars().next().map_or(1, char::len_utf8);
                continue;
            };
            let text = &text[at..at + len];
            found.push(LayoutToken {
                kind,
                text,
                start: at,
                spaces: 0,
            });
            at += len;
            if kind == LayoutKind::LineComment {
                taken = at;
            }
        }
        at = at.max(token.end);
        if token.kind == Kind::End || token.end <= taken {
            continue;
        }
        let text = &text[token.start..token.end];
        let kind = LayoutKind::Token(token.kind);
        found.push(LayoutToken {
            kind,
            text,
            start: token.start,
            spaces: 0,
        });
    }
    found
}

fn lines(tokens: &[LayoutToken<'_>]) -> Vec<LineCells> {
    let mut lines = Vec::new();
    let mut start = 0;
    while start < tokens.len() {
        let ends_line = |token: &LayoutToken<'_>| match token.kind {
            LayoutKind::Token(Kind::Newline) => true,
            LayoutKind::LineComment => token.text.ends_with('\n'),
            _ => false,
        };
        let end = tokens[start..]
            .iter()
            .position(ends_line)
            .map_or(tokens.len(), |at| start + at + 1);
        let last = tokens[end - 1].kind;
        let is_comment = matches!(last, LayoutKind::LineComment | LayoutKind::Comment);
        let code_end = if is_comment && end - start > 1 {
            end - 1
        } else {
            end
        };
        // An assignment that opens a bracket goes on in the next line, and is no cell.
        let assign = (start + 1..code_end)
            .find(|at| tokens[*at].kind == LayoutKind::Token(Kind::Equal))
            .filter(|at| tokens[*at..code_end].iter().map(bracket).sum::<isize>() == 0)
            .unwrap_or(code_end);
        lines.push(LineCells {
            lead: start..assign,
            assign: assign..code_end,
            comment: code_end..end,
        });
        start = end;
    }
    lines
}

/// Returns 1 for an opening bracket, and -1 for a closing one.
fn bracket(token: &LayoutToken<'_>) -> isize {
    match token.kind {
        LayoutKind::Token(
            Kind::OpenBrace
            | Kind::OpenBracket
            | Kind::OpenParen
            | Kind::OpenInterpolation
            | Kind::OpenDirective,
        ) => 1,
        LayoutKind::Token(
            Kind::CloseBrace | Kind::CloseBracket | Kind::CloseParen | Kind::CloseSequence,
        ) => -1,
        _ => 0,
    }
}

/// Indents each line by the number of lines that opened more brackets than they closed, and are still open.
fn indent(tokens: &mut [LayoutToken<'_>], lines: &[LineCells]) {
    // The brackets that each of those lines left open.
    let mut open: Vec<isize> = Vec::new();
    for line in lines {
        let first = line.lead.start;
        if tokens[first].kind == LayoutKind::Token(Kind::Newline) {
            continue;
        }
        // What stands in a heredoc opens nothing.
        let net = |cell: &Range<usize>| -> isize {
            let mut cell = tokens[cell.clone()].iter();
            cell.by_ref()
                .take_while(|token| token.kind != LayoutKind::Token(Kind::OpenHeredoc))
                .map(bracket)
                .sum()
        };
        let net = net(&line.lead) + net(&line.assign);
        if net > 0 {
            tokens[first].spaces = 2 * open.len();
            open.push(net);
            continue;
        }
        let mut closed = -net;
        while closed > 0
            && let Some(last) = open.last_mut()
        {
            let opened = *last;
            *last -= closed;
            if *last <= 0 {
                open.pop();
            }
            closed -= opened;
        }
        tokens[first].spaces = 2 * open.len();
    }
}

/// Sets the spaces between the tokens of each cell.
fn space(tokens: &mut [LayoutToken<'_>], lines: &[LineCells]) {
    for line in lines {
        for cell in [&line.lead, &line.assign] {
            let mut before = NOTHING;
            for at in cell.start..cell.end.saturating_sub(1) {
                let has_space = is_spaced(before, tokens[at], tokens[at + 1]);
                before = tokens[at];
                tokens[at + 1].spaces = usize::from(has_space);
            }
        }
    }
}

/// Returns whether a space follows a token.
fn is_spaced(before: LayoutToken<'_>, token: LayoutToken<'_>, after: LayoutToken<'_>) -> bool {
    use LayoutKind::{Nothing, Token};
    match (token.kind, after.kind) {
        (_, Token(Kind::Newline) | Nothing)
        | (Token(Kind::Ident), Token(Kind::OpenParen | Kind::DoubleColon))
        | (Token(Kind::DoubleColon), Token(Kind::Ident))
        | (Token(Kind::Dot), _)
        | (_, Token(Kind::Dot | Kind::Comma | Kind::Ellipsis)) => false,
        (Token(Kind::Comma), _) => true,
        (Token(Kind::Literal | Kind::OpenQuote | Kind::OpenHeredoc), _)
        | (_, Token(Kind::Literal | Kind::CloseQuote | Kind::CloseHeredoc)) => false,
        // `[for x in [a] : x]`, where `in[a]` would look like an index.
        (Token(Kind::Ident), _) if token.text == "in" && before.kind == Token(Kind::Ident) => true,
        (Token(Kind::Ident | Kind::Number), Token(Kind::OpenBracket)) => false,
        (_, Token(Kind::OpenBracket)) if bracket(&token) < 0 => false,
        (Token(Kind::Bang), _) => false,
        // A sign, unless what is before it may be the end of an operand.
        (Token(Kind::Minus), _) => !matches!(
            before.kind,
            Nothing
                | Token(
                    Kind::OpenParen
                        | Kind::OpenBrace
                        | Kind::OpenBracket
                        | Kind::Equal
                        | Kind::Colon
                        | Kind::Comma
                        | Kind::Question
                        | Kind::Star
                        | Kind::Minus
                        | Kind::Operator
                        | Kind::Bang
                )
        ),
        (Token(Kind::OpenBrace), Token(Kind::CloseBrace)) => false,
        (Token(Kind::OpenBrace), _) | (_, Token(Kind::CloseBrace)) => true,
        (Token(Kind::OpenInterpolation | Kind::OpenDirective), Token(Kind::OpenBrace))
        | (Token(Kind::CloseBrace), Token(Kind::CloseSequence)) => true,
        (Token(Kind::CloseSequence), Token(Kind::OpenInterpolation | Kind::OpenDirective)) => false,
        _ => bracket(&token) <= 0 && bracket(&after) >= 0,
    }
}

/// Puts the assignments of neighbouring lines in one column, then their comments.
fn align(tokens: &mut [LayoutToken<'_>], lines: &[LineCells]) {
    let cells: [fn(&LineCells) -> &Range<usize>; 2] = [|line| &line.assign, |line| &line.comment];
    for cell in cells {
        for chain in lines.chunk_by(|a, b| cell(a).is_empty() == cell(b).is_empty()) {
            if cell(&chain[0]).is_empty() {
                continue;
            }
            let widths: Vec<usize> = chain
                .iter()
                .map(|line| width(&tokens[line.lead.start..cell(line).start]))
                .collect();
            let widest = widths.iter().copied().max().unwrap_or(0);
            for (line, width) in chain.iter().zip(widths) {
                tokens[cell(line).start].spaces = widest - width + 1;
            }
        }
    }
}

/// The columns of tokens: each character as a reader sees it counts once.
fn width(tokens: &[LayoutToken<'_>]) -> usize {
    let widths = tokens.iter().map(|token| {
        let text = if token.text.is_ascii() {
            token.text.len()
        } else {
            token.text.graphemes(true).count()
        };
        token.spaces + text
    });
    widths.sum()
}
