//! Translation of the programs' regular expressions to the dialect of the `regex` crate.
//!
//! The programs use the syntax of RE2: its `\d`, `\w`, `\s` and `\b` match ASCII only. Patterns that the two
//! dialects read differently, or that depend on a version of Unicode, are not translated.

use std::collections::BTreeSet;
use std::iter::Peekable;
use std::str::Chars;

/// Maximum number of repetitions in a pattern of RE2, with repetitions of repetitions multiplied.
const MAX_REPEAT: u32 = 1000;

/// Translates a pattern to the dialect of the `regex` crate; `None` if it may mean something else there.
pub(super) fn translated(pattern: &str) -> Option<String> {
    let mut reader = PatternTranslator {
        rest: pattern.chars().peekable(),
        out: String::new(),
        names: BTreeSet::new(),
        repeats: 1,
    };
    let mut last = LastToken::Other;
    while let Some(c) = reader.rest.next() {
        last = match c {
            '*' | '+' | '?' => {
                reader.out.push(c);
                last.repeated(c)?
            }
            // Only a complete count repeats; any other brace is itself in Go.
            '{' if reader.counts()? => last.repeated(c)?,
            '{' => LastToken::Other,
            other => {
                reader.token(other)?;
                LastToken::Other
            }
        };
    }
    Some(reader.out)
}

/// Returns true if a replacement names the same groups in both dialects.
pub(super) fn is_same_replacement(new: &str) -> bool {
    let mut parts = new.split('$').skip(1).peekable();
    while let Some(part) = parts.next() {
        // `$$` is a literal dollar sign.
        if part.is_empty() {
            parts.next();
            continue;
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let inside = part.strip_prefix('{');
        let name = inside.unwrap_or(part);
        let end = name.find(|c| !is_name(c)).unwrap_or(name.len());
        let (name, behind) = name.split_at(end);
        let is_number = name.bytes().all(|b| b.is_ascii_digit());
        let is_other_number = is_number && name.len() > 1 && name.starts_with('0');
        let is_other_name = !behind.is_ascii() || is_other_number;
        if is_other_name || (inside.is_some() && (name.is_empty() || !behind.starts_with('}'))) {
            return false;
        }
    }
    true
}

/// The kind of the token before the current one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LastToken {
    Repeat,
    LazyRepeat,
    Other,
}

impl LastToken {
    /// Returns what a sign of repetition is here; a repetition can only become lazy.
    fn repeated(self, sign: char) -> Option<Self> {
        match self {
            Self::Other => Some(Self::Repeat),
            Self::Repeat if sign == '?' => Some(Self::LazyRepeat),
            Self::Repeat | Self::LazyRepeat => None,
        }
    }
}

struct PatternTranslator<'p> {
    rest: Peekable<Chars<'p>>,
    out: String,
    names: BTreeSet<String>,
    /// The product of all counts so far.
    repeats: u32,
}

impl PatternTranslator<'_> {
    fn token(&mut self, first: char) -> Option<()> {
        match first {
            '\\' => match self.rest.next()? {
                'd' => self.out.push_str("[0-9]"),
                'w' => self.out.push_str("[0-9A-Za-z_]"),
                's' => self.out.push_str("[\\t\\n\\f\\r ]"),
                'D' => self.out.push_str("[^0-9]"),
                'W' => self.out.push_str("[^0-9A-Za-z_]"),
                'S' => self.out.push_str("[^\\t\\n\\f\\r ]"),
                // In RE2 a word boundary knows ASCII only.
                'b' => self.out.push_str("(?-u:\\b)"),
                anchor @ ('A' | 'z') => self.out.extend(['\\', anchor]),
                other => self.escape(other)?,
            },
            '[' => self.class()?,
            '(' => self.group()?,
            other => self.out.push(other),
        }
        Some(())
    }

    /// Writes an escape of one character, from behind the backslash.
    fn escape(&mut self, c: char) -> Option<()> {
        match c {
            'a' | 'f' | 'n' | 'r' | 't' | 'v' => {}
            // The `regex` crate reads these as boundaries of words.
            '<' | '>' => return None,
            c if c.is_ascii_punctuation() => {}
            _ => return None,
        }
        self.out.extend(['\\', c]);
        Some(())
    }

    /// Reads the counts behind a brace, unless the brace is plain text.
    fn counts(&mut self) -> Option<bool> {
        let mut ahead = self.rest.clone();
        let inside: String = ahead.by_ref().take_while(|c| *c != '}').collect();
        let is_closed = self.rest.clone().any(|c| c == '}');
        let (least, most) = inside.split_once(',').unwrap_or((&inside, &inside));
        let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        if !is_closed || least.is_empty() || !is_digits(least) || !is_digits(most) {
            self.out.push_str("\\{");
            return Some(false);
        }
        let greatest = if most.is_empty() { least } else { most };
        let greatest = greatest.parse::<u32>().ok()?;
        self.repeats = self.repeats.checked_mul(greatest.max(1))?;
        // RE2 refuses such a pattern.
        if self.repeats > MAX_REPEAT {
            return None;
        }
        self.out.push_str(&format!("{{{inside}}}"));
        self.rest = ahead;
        Some(true)
    }

    /// Reads a class of characters from behind its bracket.
    fn class(&mut self) -> Option<()> {
        self.out.push('[');
        if self.rest.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
        if self.rest.peek() == Some(&']') {
            return None;
        }
        loop {
            match self.rest.next()? {
                ']' => break,
                '[' => self.named_class()?,
                '\\' => match self.rest.next()? {
                    'd' => self.out.push_str("0-9"),
                    'w' => self.out.push_str("0-9A-Za-z_"),
                    's' => self.out.push_str("\\t\\n\\f\\r "),
                    other => self.escape(other)?,
                },
                // Doubled, these combine classes in the `regex` crate.
                sign @ ('&' | '-' | '~') if self.rest.peek() == Some(&sign) => return None,
                other => self.out.push(other),
            }
        }
        self.out.push(']');
        Some(())
    }

    /// Reads `[:alpha:]` inside of a class, from behind its first bracket.
    fn named_class(&mut self) -> Option<()> {
        const NAMES: [&str; 14] = [
            "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print",
            "punct", "space", "upper", "word", "xdigit",
        ];
        self.rest.next_if_eq(&':')?;
        let inside: String = self.rest.by_ref().take_while(|c| *c != ':').collect();
        self.rest.next_if_eq(&']')?;
        let name = inside.strip_prefix('^').unwrap_or(&inside);
        NAMES.contains(&name).then_some(())?;
        self.out.push_str(&format!("[:{inside}:]"));
        Some(())
    }

    /// Reads what a group is, from behind its parenthesis.
    fn group(&mut self) -> Option<()> {
        self.out.push('(');
        if self.rest.next_if_eq(&'?').is_none() {
            return Some(());
        }
        self.out.push('?');
        if self.rest.next_if_eq(&'P').is_some() {
            self.out.push('P');
            return self.name();
        }
        if self.rest.peek() == Some(&'<') {
            return self.name();
        }
        let mut flags = BTreeSet::new();
        loop {
            let c = self.rest.next()?;
            self.out.push(c);
            match c {
                ':' | ')' => return Some(()),
                // The `regex` crate has `x`, `u` and `R` as well, which are errors in RE2 (rules 6.8).
                'i' | 'm' | 's' | 'U' | '-' if flags.insert(c) => {}
                _ => return None,
            }
        }
    }

    /// Reads the name of a group, which only it may have.
    fn name(&mut self) -> Option<()> {
        self.rest.next_if_eq(&'<')?;
        let name: String = self.rest.by_ref().take_while(|c| *c != '>').collect();
        let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
        let is_plain = name.chars().all(|c| is_letter(c) || c.is_ascii_digit());
        if !is_plain || !name.starts_with(is_letter) {
            return None;
        }
        self.out.push_str(&format!("<{name}>"));
        self.names.insert(name).then_some(())
    }
}
