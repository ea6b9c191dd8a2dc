//! Text to tokens: brackets, quoted templates, heredocs and comments, without any recursion.

use hcl_edit::Ident;

use super::string::Quoting;
use crate::diag::Span;

/// Maximum number of open brackets that a closing one looks at: far more than may be nested, and
/// it keeps a flood of brackets linear.
const MAX_SEARCH: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HclTokenKind {
    Ident,
    Number,
    OpenQuote,
    CloseQuote,
    /// A run of text in a quoted template, or (part of) a line of a heredoc.
    Literal,
    OpenHeredoc,
    CloseHeredoc,
    /// The text `${` or `${~`.
    OpenInterpolation,
    /// The text `%{` or `%{~`.
    OpenDirective,
    /// The text `}` or `~}`.
    CloseSequence,
    OpenBrace,
    CloseBrace,
    OpenParen,
    CloseParen,
    OpenBracket,
    CloseBracket,
    Equal,
    Colon,
    DoubleColon,
    Comma,
    Dot,
    Ellipsis,
    Question,
    FatArrow,
    Star,
    Minus,
    Bang,
    /// Any other operator with two operands.
    Operator,
    Newline,
    /// A line that a merge left behind: `<<<<<<<` and its kin.
    Marker,
    /// An operator of other languages, which HCL recognises but does not have: `&`, `|`, `^`, `~`.
    BadOperator,
    BadCharacter,
    /// A quoted string that its line does not close.
    Unclosed,
    End,
}

/// A piece of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct HclToken {
    pub(super) kind: HclTokenKind,
    pub(super) start: usize,
    pub(super) end: usize,
    /// The number of brackets, quotes and heredocs around it; an opening or closing token is not inside
    /// the pair that it opens or closes.
    pub(super) depth: usize,
}

impl HclToken {
    pub(super) fn span(self) -> Span {
        Span::new(self.start, self.end)
    }
}

/// Maximum number of tokens of a text. A token of one byte costs up to 200 bytes until its file is read; the
/// largest files of public repositories have less than a tenth of that.
pub(super) const MAX_TOKENS: usize = 1_000_000;

/// Returns whether a text has more tokens than are read.
pub(super) fn has_too_many_tokens(text: &str) -> bool {
    // A token has at least one byte, so nearly every file is known to be small enough.
    text.len() > MAX_TOKENS && tokens(text, Span::new(0, text.len())).len() > MAX_TOKENS
}

/// Cuts `region` of `text` into tokens; the last one is [`HclTokenKind::End`]. Stops after [`MAX_TOKENS`].
///
/// Closing brackets are forgiving: `}` closes everything that is open inside its braces, a closing bracket
/// without its opening one closes nothing, and a quoted string ends with its line.
pub(super) fn tokens(text: &str, region: Span) -> Vec<HclToken> {
    Scanner::new(&text[..region.end], region.start).tokens()
}

/// Cuts a text that is a template.
pub(super) fn template_tokens(text: &str) -> Vec<HclToken> {
    let mut scanner = Scanner::new(text, 0);
    scanner.frames.push(Enclosure {
        kind: EnclosureKind::Heredoc(None),
        start: 0,
    });
    scanner.tokens()
}

/// Returns the offset behind the identifier at the start of `text`, if there is one.
pub(super) fn ident_end(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    is_ident(first, "").then(|| {
        // Nearly all names are ASCII, which needs no decoding.
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let plain = text.bytes().take_while(is_plain).count();
        match text.as_bytes().get(plain) {
            Some(byte) if !byte.is_ascii() => text
                .char_indices()
                .skip(1)
                .find(|(_, c)| !is_ident(*c, "a"))
                .map_or(text.len(), |(at, _)| at),
            _ => plain,
        }
    })
}

/// Returns whether `c` may follow `before` in an identifier.
fn is_ident(c: char, before: &str) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphabetic()
            || c == '_'
            || (!before.is_empty() && (c.is_ascii_digit() || c == '-'))
    } else {
        Ident::try_new(format!("{before}{c}")).is_ok()
    }
}

struct Scanner<'t> {
    /// Everything before the end of the region.
    text: &'t str,
    at: usize,
    frames: Vec<Enclosure>,
    tokens: Vec<HclToken>,
    /// Start of the line around the offset that was last asked for, and that offset.
    line: (usize, usize),
    /// False once no `*/` follows any more, so that a flood of `/*` stays linear.
    comments_close: bool,
}

#[derive(Clone, Copy)]
struct Enclosure {
    kind: EnclosureKind,
    start: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EnclosureKind {
    Brace,
    Paren,
    Bracket,
    Sequence,
    Quote,
    /// With the place of its marker; a template on its own has none.
    Heredoc(Option<Span>),
}

impl<'t> Scanner<'t> {
    fn new(text: &'t str, at: usize) -> Self {
        Self {
            text,
            at,
            frames: Vec::new(),
            tokens: Vec::new(),
            line: (text[..at].rfind('\n').map_or(0, |at| at + 1), at),
            comments_close: true,
        }
    }

    fn tokens(mut self) -> Vec<HclToken> {
        while self.at < self.text.len() && self.tokens.len() < MAX_TOKENS {
            match self.frames.last().map(|frame| frame.kind) {
                Some(EnclosureKind::Quote) => self.quoted(),
                Some(EnclosureKind::Heredoc(marker)) => self.heredoc(marker),
                _ => self.plain(),
            }
        }
        self.push(HclTokenKind::End, 0);
        self.tokens
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn push(&mut self, kind: HclTokenKind, len: usize) {
        self.tokens.push(HclToken {
            kind,
            start: self.at,
            end: self.at + len,
            depth: self.frames.len(),
        });
        self.at += len;
    }

    fn open(&mut self, kind: HclTokenKind, frame: EnclosureKind, len: usize) {
        let start = self.at;
        self.push(kind, len);
        self.frames.push(Enclosure { kind: frame, start });
    }

    /// Finds the start of the line, looking at each byte of the text but once.
    fn line_start(&mut self) -> usize {
        let (start, seen) = self.line;
        let start = self.text[seen..self.at]
            .rfind('\n')
            .map_or(start, |at| seen + at + 1);
        self.line = (start, self.at);
        start
    }

    /// Scans one token outside of quotes and heredocs.
    fn plain(&mut self) {
        let marker = self.marker_len();
        if marker > 0 {
            return self.push(HclTokenKind::Marker, marker);
        }
        let rest = self.rest();
        let bytes = rest.as_bytes();
        match bytes[0] {
            b' ' | b'\t' => self.at += 1,
            b'\n' => self.push(HclTokenKind::Newline, 1),
            // A carriage return on its own is no line end but a bad character.
            b'\r' if bytes.get(1) == Some(&b'\n') => self.push(HclTokenKind::Newline, 2),
            b'#' => self.skip_line(),
            b'/' if rest.starts_with("//") => self.skip_line(),
            b'/' if rest.starts_with("/*") => {
                // Each search goes to the end of the text: the first one that fails is the last.
                let close = self.comments_close.then(|| rest[2..].find("*/"));
                match close.flatten() {
                    Some(len) => self.at += len + 4,
                    // An unclosed comment is none: its `/` and `*` are operators.
                    None => {
                        self.comments_close = false;
                        self.push(HclTokenKind::Operator, 1);
                    }
                }
            }
            b'"' => self.open(HclTokenKind::OpenQuote, EnclosureKind::Quote, 1),
            b'{' => self.open(HclTokenKind::OpenBrace, EnclosureKind::Brace, 1),
            b'(' => self.open(HclTokenKind::OpenParen, EnclosureKind::Paren, 1),
            b'[' => self.open(HclTokenKind::OpenBracket, EnclosureKind::Bracket, 1),
            b'}' => self.close_brace(1),
            // Outside of template sequences `~` is an operator that HCL does not have.
            b'~' if rest.starts_with("~}")
                && self
                    .enclosing()
                    .is_some_and(|index| self.frames[index].kind == EnclosureKind::Sequence) =>
            {
                self.close_brace(2)
            }
            b')' => self.close(HclTokenKind::CloseParen, EnclosureKind::Paren),
            b']' => self.close(HclTokenKind::CloseBracket, EnclosureKind::Bracket),
            b'0'..=b'9' => self.push(HclTokenKind::Number, number_len(bytes)),
            _ => match heredoc_marker(rest) {
                Some((intro, marker)) => {
                    let start = self.at + intro;
                    let marker = Span::new(start, start + marker);
                    let line = rest.find('\n').map_or(rest.len(), |at| at + 1);
                    let kind = EnclosureKind::Heredoc(Some(marker));
                    self.open(HclTokenKind::OpenHeredoc, kind, line);
                }
                None => self.word_or_operator(),
            },
        }
    }

    fn word_or_operator(&mut self) {
        // Longer ones come first, because the first that fits is taken.
        const OPERATORS: [(&str, HclTokenKind); 27] = [
            ("...", HclTokenKind::Ellipsis),
            ("=>", HclTokenKind::FatArrow),
            ("==", HclTokenKind::Operator),
            ("!=", HclTokenKind::Operator),
            ("<=", HclTokenKind::Operator),
            (">=", HclTokenKind::Operator),
            ("&&", HclTokenKind::Operator),
            ("||", HclTokenKind::Operator),
            ("::", HclTokenKind::DoubleColon),
            ("=", HclTokenKind::Equal),
            (":", HclTokenKind::Colon),
            (",", HclTokenKind::Comma),
            (".", HclTokenKind::Dot),
            ("?", HclTokenKind::Question),
            ("*", HclTokenKind::Star),
            ("-", HclTokenKind::Minus),
            ("!", HclTokenKind::Bang),
            ("<", HclTokenKind::Operator),
            (">", HclTokenKind::Operator),
            ("+", HclTokenKind::Operator),
            ("/", HclTokenKind::Operator),
            ("%", HclTokenKind::Operator),
            ("&", HclTokenKind::BadOperator),
            ("|", HclTokenKind::BadOperator),
            ("^", HclTokenKind::BadOperator),
            ("~", HclTokenKind::BadOperator),
            ("`", HclTokenKind::BadCharacter),
        ];
        let rest = self.rest();
        // Most tokens are words, so that the table is searched for few of them.
        if let Some(len) = ident_end(rest) {
            return self.push(HclTokenKind::Ident, len);
        }
        match OPERATORS.iter().find(|(text, _)| rest.starts_with(text)) {
            Some((text, kind)) => self.push(*kind, text.len()),
            None => {
                let len = rest.chars().next().map_or(1, char::len_utf8);
                self.push(HclTokenKind::BadCharacter, len);
            }
        }
    }

    fn skip_line(&mut self) {
        self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        // The line feed of CRLF ends the line, its carriage return is part of that end.
        if self.text[..self.at].ends_with('\r') && self.at < self.text.len() {
            self.at -= 1;
        }
    }

    /// Returns the length of the merge conflict marker that starts here, or zero.
    fn marker_len(&mut self) -> usize {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        // Git writes exactly seven, so that eight are looked at.
        let same = bytes.iter().take_while(|byte| **byte == bytes[0]).take(8);
        let ends = matches!(bytes.get(7), None | Some(b' ' | b'\r' | b'\n'));
        if !b"<|=>".contains(&bytes[0]) {
            return 0;
        }
        if same.count() != 7 || !ends || self.line_start() != self.at {
            return 0;
        }
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        line.trim_end_matches('\r').len()
    }

    /// Finds the nearest open thing that is neither parenthesis nor bracket.
    fn enclosing(&self) -> Option<usize> {
        self.frames
            .iter()
            .enumerate()
            .rev()
            .take(MAX_SEARCH)
            .find(|(_, frame)| !matches!(frame.kind, EnclosureKind::Paren | EnclosureKind::Bracket))
            .map(|(index, _)| index)
    }

    /// Closes the nearest brace or template sequence, and everything that is open inside it.
    fn close_brace(&mut self, len: usize) {
        let Some(open) = self.enclosing() else {
            return self.push(HclTokenKind::CloseBrace, len);
        };
        let kind = match self.frames[open].kind {
            EnclosureKind::Sequence => HclTokenKind::CloseSequence,
            _ => HclTokenKind::CloseBrace,
        };
        self.frames.truncate(open);
        self.push(kind, len);
    }

    /// Closes a parenthesis or bracket, unless it was never opened inside the nearest braces.
    fn close(&mut self, kind: HclTokenKind, frame: EnclosureKind) {
        let first = self.enclosing().map_or(0, |at| at + 1);
        let open = self
            .frames
            .iter()
            .enumerate()
            .skip(first)
            .rev()
            // Without a limit, a file of brackets that never match would take quadratic time.
            .take(MAX_SEARCH)
            .find(|(_, open)| open.kind == frame);
        if let Some((at, _)) = open {
            self.frames.truncate(at);
        }
        self.push(kind, 1);
    }

    /// Scans one token of a quoted string.
    fn quoted(&mut self) {
        let rest = self.rest();
        let len = literal_len(rest, Quoting::Quoted);
        if len > 0 {
            return self.push(HclTokenKind::Literal, len);
        }
        match rest.as_bytes()[0] {
            b'"' => {
                self.frames.pop();
                self.push(HclTokenKind::CloseQuote, 1);
            }
            b'$' | b'%' => self.open_sequence(),
            // An unclosed string ends with its line, and with it every template that the line opened.
            _ => {
                let line = self.line_start();
                let outermost = self
                    .frames
                    .iter()
                    .position(|frame| {
                        frame.start >= line
                            && matches!(frame.kind, EnclosureKind::Quote | EnclosureKind::Sequence)
                    })
                    .unwrap_or(self.frames.len() - 1);
                self.frames.truncate(outermost);
                let in_header = self.in_header();
                self.push(HclTokenKind::Unclosed, 0);
                if in_header {
                    // A brace without text for the one that the string swallowed, so that the block goes on.
                    return self.open(HclTokenKind::OpenBrace, EnclosureKind::Brace, 0);
                }
                if !self.rest().starts_with(['\n']) && !self.rest().starts_with("\r\n") {
                    self.push(HclTokenKind::BadCharacter, 1);
                }
            }
        }
    }

    fn open_sequence(&mut self) {
        let rest = self.rest();
        let kind = match rest.as_bytes()[0] {
            b'$' => HclTokenKind::OpenInterpolation,
            _ => HclTokenKind::OpenDirective,
        };
        let len = 2 + usize::from(rest[2..].starts_with('~'));
        self.open(kind, EnclosureKind::Sequence, len);
    }

    /// Returns whether an unclosed label hides the opening brace of a block: the line starts like a
    /// header and ends with `{`.
    fn in_header(&mut self) -> bool {
        let line = self.line_start();
        let mut tokens = self.tokens[self.tokens.partition_point(|t| t.start < line)..].iter();
        let kinds = (tokens.next().map(|t| t.kind), tokens.next().map(|t| t.kind));
        let starts_like_header = matches!(
            kinds,
            (
                Some(HclTokenKind::Ident),
                Some(HclTokenKind::Ident | HclTokenKind::OpenQuote)
            )
        );
        starts_like_header && self.text[line..self.at].trim_end().ends_with('{')
    }

    /// Scans one token of a heredoc.
    fn heredoc(&mut self, marker: Option<Span>) {
        let is_new_line = self.line_start() == self.at;
        let rest = self.rest();
        // Only at its beginning: a search for the line end at each of the interpolations of one line took
        // seconds for 1 MB.
        if let Some(marker) = marker.filter(|_| is_new_line) {
            let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
            let marker = &self.text[marker.start..marker.end];
            // The end marker may be indented even without the `-` of `<<-`.
            if line.trim() == marker {
                self.frames.pop();
                let indent = line.len() - line.trim_start().len();
                self.push(HclTokenKind::CloseHeredoc, indent + marker.len());
                // Any space behind the marker belongs to its line, also what is no space elsewhere.
                self.at += line[indent + marker.len()..].trim_end_matches('\r').len();
                return;
            }
        }
        let len = literal_len(rest, Quoting::Heredoc);
        match len {
            0 => self.open_sequence(),
            _ => self.push(HclTokenKind::Literal, len),
        }
    }
}

/// Measures literal text up to a template sequence or, in quotes, the end of string or line; in a heredoc, the
/// line end is the last of it.
fn literal_len(text: &str, quoting: Quoting) -> usize {
    let bytes = text.as_bytes();
    let quoted = quoting == Quoting::Quoted;
    let mut at = 0;
    while at < bytes.len() {
        let next = bytes.get(at + 1).copied();
        match bytes[at] {
            b'"' | b'\n' | b'\r' if quoted => break,
            b'\n' => return at + 1,
            b'$' | b'%' if next == Some(b'{') => break,
            // `$${` is text.
            byte @ (b'$' | b'%') if next == Some(byte) && bytes.get(at + 2) == Some(&b'{') => {
                at += 3;
            }
            // An escaped byte is text, unless it is a line end or the first of several.
            b'\\' if quoted && next.is_some_and(|b| b.is_ascii() && b != b'\n' && b != b'\r') => {
                at += 2;
            }
            _ => at += 1,
        }
    }
    at
}

/// Finds `<<MARKER` or `<<-MARKER` with nothing behind it on its line: the lengths of the operator and of the
/// marker.
fn heredoc_marker(text: &str) -> Option<(usize, usize)> {
    let after = text.strip_prefix("<<")?;
    let name = after.strip_prefix('-').unwrap_or(after);
    let len = ident_end(name)?;
    let rest = &name[len..];
    // With anything behind the marker `<<` is two operators.
    (rest.starts_with('\n') || rest.starts_with("\r\n")).then_some((text.len() - name.len(), len))
}

/// Measures a number: digits, dots and exponents in any order, but with no dot at the end.
fn number_len(bytes: &[u8]) -> usize {
    let (mut at, mut len) = (0, 0);
    loop {
        match bytes.get(at) {
            Some(b'0'..=b'9') => at += 1,
            Some(b'.') => {
                at += 1;
                continue;
            }
            Some(b'e' | b'E') => {
                let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
                match bytes.get(at + 1 + sign) {
                    Some(b'0'..=b'9') => at += 2 + sign,
                    _ => return len,
                }
            }
            _ => return len,
        }
        len = at;
    }
}
