//! The layout that `terraform fmt` and `tofu fmt` give to a text: indentation, spaces between tokens, and columns
//! (rules 3).
//!
//! Only white space changes. A line has three cells: what comes first, an assignment that ends on the line, and a
//! comment behind them. The second and third cell of neighbouring lines stand in one column.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::scan::{self, HclToken, HclTokenKind as Kind};
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
    let mut formatted = String::new();
    push_formatted(&mut formatted, text);
    formatted
}

/// Adds a text as [`format()`] lays it out.
pub fn push_formatted(formatted: &mut String, text: &str) {
    let scanned = scan::tokens(text, Span::new(0, text.len()));
    if scanned.len() > scan::MAX_TOKENS {
        return formatted.push_str(text);
    }
    formatted.reserve(text.len() + text.len() / 4);
    let mut layout = Layout {
        formatted,
        open: Vec::new(),
        neighbours: Vec::new(),
    };
    // First the spaces between the tokens, then the lines.
    let mut tokens = tokens(text, &scanned);
    let lines = lines(&tokens);
    for line in &lines {
        for cell in [&line.lead, &line.assign] {
            let mut before = NOTHING;
            for at in cell.start..cell.end.saturating_sub(1) {
                let has_space = is_spaced(before, tokens[at], tokens[at + 1]);
                before = tokens[at];
                tokens[at + 1].spaces = usize::from(has_space);
            }
        }
    }
    for line in &lines {
        let [lead, assign, comment] =
            [&line.lead, &line.assign, &line.comment].map(|cell| &tokens[cell.clone()]);
        // What stands in a heredoc opens nothing.
        let opened = |cell: &[LayoutToken<'_>]| -> isize {
            cell.iter()
                .take_while(|token| token.kind != LayoutKind::Token(Kind::OpenHeredoc))
                .map(bracket)
                .sum()
        };
        layout.push(LineCells {
            lead: cell_text(lead),
            assign: cell_text(assign),
            comment: cell_text(comment),
            lead_width: width(lead),
            assign_width: width(assign),
            opened: opened(lead) + opened(assign),
            ends: tokens[..line.comment.end].last().is_some_and(ends_line),
        });
    }
    layout.flush();
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
    let is_one = value.starts_with("\"${") && value.ends_with("}\"");
    if !is_one || scan::has_too_many_tokens(value) {
        return Cow::Borrowed(value);
    }
    let scanned = scan::tokens(value, Span::new(0, value.len()));
    let tokens = tokens(value, &scanned);
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
struct TokenCells {
    lead: Range<usize>,
    assign: Range<usize>,
    comment: Range<usize>,
}

/// The cells of a line with the spaces in each; the last two may be empty.
struct LineCells {
    lead: String,
    assign: String,
    comment: String,
    lead_width: usize,
    assign_width: usize,
    /// The number of brackets that the line opens, less those that it closes.
    opened: isize,
    /// A line end follows.
    ends: bool,
}

/// Adds comments to the tokens of a text.
fn tokens<'t>(text: &'t str, scanned: &[HclToken]) -> Vec<LayoutToken<'t>> {
    let mut found: Vec<LayoutToken<'t>> = Vec::with_capacity(scanned.len());
    let mut at = 0;
    // The line end that belongs to a comment before it.
    let mut taken = 0;
    for token in scanned {
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
        // A line comment has its line end in it, which the scanner lists once more.
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

fn cell_text(tokens: &[LayoutToken<'_>]) -> String {
    let mut text = String::new();
    for token in tokens {
        push_spaces(&mut text, token.spaces);
        text.push_str(match token.kind {
            LayoutKind::Token(Kind::Newline) => "",
            LayoutKind::LineComment => token.text.trim_end_matches(['\r', '\n']),
            _ => token.text,
        });
    }
    text
}

fn ends_line(token: &LayoutToken<'_>) -> bool {
    match token.kind {
        LayoutKind::Token(Kind::Newline) => true,
        LayoutKind::LineComment => token.text.ends_with('\n'),
        _ => false,
    }
}

fn lines(tokens: &[LayoutToken<'_>]) -> Vec<TokenCells> {
    let mut lines = Vec::new();
    let mut start = 0;
    while start < tokens.len() {
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
        lines.push(TokenCells {
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

/// The text so far, and the lines behind it whose columns the next line may move.
struct Layout<'f> {
    formatted: &'f mut String,
    /// The brackets that each line left open which opened more than it closed, as far as they are still open.
    open: Vec<isize>,
    /// Neighbouring lines with an assignment or a comment.
    neighbours: Vec<IndentedLine>,
}

struct IndentedLine {
    cells: LineCells,
    indent: usize,
    /// The number of spaces before the assignment, and before the comment.
    gaps: [usize; 2],
}

impl Layout<'_> {
    fn push(&mut self, cells: LineCells) {
        let indent = if cells.lead.is_empty() {
            0
        } else {
            2 * self.depth(cells.opened)
        };
        let is_alone = cells.assign.is_empty() && cells.comment.is_empty();
        if is_alone {
            self.flush();
        }
        let line = IndentedLine {
            cells,
            indent,
            gaps: [0; 2],
        };
        if is_alone {
            line.print(self.formatted);
        } else {
            self.neighbours.push(line);
        }
    }

    /// Returns the depth of a line: the number of lines that opened more brackets than they closed, and are still
    /// open.
    fn depth(&mut self, opened: isize) -> usize {
        if opened > 0 {
            self.open.push(opened);
            return self.open.len() - 1;
        }
        let mut closed = -opened;
        while closed > 0
            && let Some(last) = self.open.last_mut()
        {
            let opened = *last;
            *last -= closed;
            if *last <= 0 {
                self.open.pop();
            }
            closed -= opened;
        }
        self.open.len()
    }

    /// Puts the assignments of neighbouring lines in one column, then their comments, and prints the lines.
    fn flush(&mut self) {
        let chains = self
            .neighbours
            .chunk_by_mut(|a, b| a.cells.assign.is_empty() == b.cells.assign.is_empty())
            // Lines without `=` separate the columns of those around them.
            .filter(|chain| !chain[0].cells.assign.is_empty());
        for chain in chains {
            let lead_width = |line: &IndentedLine| line.indent + line.cells.lead_width;
            let widest = chain.iter().map(lead_width).max().unwrap_or(0);
            for line in chain {
                line.gaps[0] = widest - lead_width(line) + 1;
            }
        }
        let chains = self
            .neighbours
            .chunk_by_mut(|a, b| a.cells.comment.is_empty() == b.cells.comment.is_empty())
            .filter(|chain| !chain[0].cells.comment.is_empty());
        for chain in chains {
            // The comments follow the values, whose columns are decided by now.
            let code_width = |line: &IndentedLine| {
                line.indent + line.cells.lead_width + line.gaps[0] + line.cells.assign_width
            };
            let widest = chain.iter().map(code_width).max().unwrap_or(0);
            for line in chain {
                line.gaps[1] = widest - code_width(line) + 1;
            }
        }
        for line in self.neighbours.drain(..) {
            line.print(self.formatted);
        }
    }
}

impl IndentedLine {
    fn print(&self, formatted: &mut String) {
        let LineCells {
            lead,
            assign,
            comment,
            ..
        } = &self.cells;
        let gaps = [self.indent, self.gaps[0], self.gaps[1]];
        for (gap, cell) in gaps.into_iter().zip([lead, assign, comment]) {
            push_spaces(formatted, gap);
            formatted.push_str(cell);
        }
        if self.cells.ends {
            formatted.push('\n');
        }
    }
}

fn push_spaces(text: &mut String, mut count: usize) {
    const SPACES: &str = "                                ";
    while count > 0 {
        let len = count.min(SPACES.len());
        text.push_str(&SPACES[..len]);
        count -= len;
    }
}

/// The columns of tokens: each character as a reader sees it counts once.
fn width(tokens: &[LayoutToken<'_>]) -> usize {
    tokens
        .iter()
        .map(|token| match token.kind {
            LayoutKind::Token(Kind::Newline) => 0,
            _ if token.text.is_ascii() => token.spaces + token.text.len(),
            _ => token.spaces + token.text.graphemes(true).count(),
        })
        .sum()
}
