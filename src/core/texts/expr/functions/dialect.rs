//! Translation of the programs' regular expressions to the dialect of the `regex` crate.
//!
//! The programs use the syntax of RE2: its `\d`, `\w`, `\s` and `\b` match ASCII only. Patterns that the two
//! dialects read differently, or that depend on a version of Unicode, are not translated.

use std::collections::BTreeSet;
use std::iter::Peekable;
use std::str::Chars;

/// Maximum number of repetitions in a pattern of RE2, with repetitions of repetitions multiplied.
const MAX_REPEAT: u32 = 1000;

/// The groups beside those with a number or a name that both dialects have: RE2 lets flags repeat, the `regex` crate
/// has further ones.
const GROUPS: [&str; 7] = ["?:", "?i:", "?i)", "?m:", "?m)", "?s:", "?s)"];

/// Translates a pattern to the dialect of the `regex` crate; `None` if it may mean something else there.
pub(super) fn translated(pattern: &str) -> Option<String> {
    let mut reader = PatternTranslator {
        rest: pattern.chars().peekable(),
        out: String::new(),
        names: BTreeSet::new(),
        repeats: 1,
    };
    while let Some(c) = reader.rest.next() {
        match c {
            '*' | '+' | '?' => {
                reader.out.push(c);
                reader.behind_repetition()?;
            }
            '{' => {
                // A brace without counts is plain text in RE2.
                reader.rest.clone().find(|c| *c == '}')?;
                let inside: String = reader.rest.by_ref().take_while(|c| *c != '}').collect();
                let (least, most) = inside.split_once(',').unwrap_or((&inside, &inside));
                let greatest = if most.is_empty() { least } else { most };
                let are_digits = [least, greatest]
                    .iter()
                    .all(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
                let greatest: u32 = greatest.parse().ok().filter(|_| are_digits)?;
                reader.repeats = reader.repeats.checked_mul(greatest.max(1))?;
                reader.out.push_str(&format!("{{{inside}}}"));
                // RE2 refuses a pattern with more.
                if reader.repeats > MAX_REPEAT || least.is_empty() {
                    return None;
                }
                reader.behind_repetition()?;
            }
            '\\' => reader.escape(false)?,
            '[' => reader.class()?,
            '(' => reader.group()?,
            other => reader.out.push(other),
        }
    }
    Some(reader.out)
}

/// Returns true if a replacement names the same groups in both dialects.
pub(super) fn is_same_replacement(new: &str) -> bool {
    new.split('$').skip(1).all(|part| {
        let name = match part.strip_prefix('{') {
            Some(inside) => inside.split_once('}').map(|(name, _)| name),
            None => part.split(|c| !is_of_name(c)).next(),
        };
        let is_same = |name: &str| is_name(name) && (name == "0" || !name.starts_with('0'));
        part.is_ascii() && name.is_some_and(is_same)
    })
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_of_name)
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

struct PatternTranslator<'p> {
    rest: Peekable<Chars<'p>>,
    out: String,
    /// The names of groups, which only the programs allow to repeat.
    names: BTreeSet<String>,
    /// The product of all counts so far.
    repeats: u32,
}

impl PatternTranslator<'_> {
    /// Reads what makes a repetition lazy. RE2 refuses to repeat it again.
    fn behind_repetition(&mut self) -> Option<()> {
        self.out.extend(self.rest.next_if_eq(&'?'));
        let next = self.rest.peek();
        (!next.is_some_and(|next| "*+?{".contains(*next))).then_some(())
    }

    /// Reads an escape from behind its backslash.
    fn escape(&mut self, is_in_class: bool) -> Option<()> {
        let c = self.rest.next()?;
        let class = match c {
            'd' | 'D' => "0-9",
            'w' | 'W' => "0-9A-Za-z_",
            's' | 'S' => "\\t\\n\\f\\r ",
            _ => "",
        };
        match c {
            'd' | 'w' | 's' if is_in_class => self.out.push_str(class),
            'd' | 'w' | 's' => self.out.push_str(&format!("[{class}]")),
            'D' | 'W' | 'S' if !is_in_class => self.out.push_str(&format!("[^{class}]")),
            // In RE2 a word boundary knows ASCII only.
            'b' if !is_in_class => self.out.push_str("(?-u:\\b)"),
            'A' | 'z' if !is_in_class => self.out.extend(['\\', c]),
            // The `regex` crate reads these as boundaries of words.
            '<' | '>' => return None,
            'a' | 'f' | 'n' | 'r' | 't' | 'v' => self.out.extend(['\\', c]),
            c if c.is_ascii_punctuation() => self.out.extend(['\\', c]),
            _ => return None,
        }
        Some(())
    }

    /// Reads a class of characters from behind its bracket.
    fn class(&mut self) -> Option<()> {
        self.out.push('[');
        self.out.extend(self.rest.next_if_eq(&'^'));
        if self.rest.peek() == Some(&']') {
            return None;
        }
        loop {
            match self.rest.next()? {
                ']' => break,
                // `[:alpha:]` inside of a class.
                '[' => {
                    const NAMES: [&str; 14] = [
                        "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower",
                        "print", "punct", "space", "upper", "word", "xdigit",
                    ];
                    self.rest.next_if_eq(&':')?;
                    let inside: String = self.rest.by_ref().take_while(|c| *c != ':').collect();
                    self.rest.next_if_eq(&']')?;
                    let name = inside.strip_prefix('^').unwrap_or(&inside);
                    NAMES.contains(&name).then_some(())?;
                    self.out.push_str(&format!("[:{inside}:]"));
                }
                '\\' => self.escape(true)?,
                // Doubled, these combine classes in the `regex` crate.
                sign @ ('&' | '-' | '~') if self.rest.peek() == Some(&sign) => return None,
                other => self.out.push(other),
            }
        }
        self.out.push(']');
        Some(())
    }

    /// Reads what a group is, from behind its parenthesis.
    fn group(&mut self) -> Option<()> {
        self.out.push('(');
        if self.rest.peek() != Some(&'?') {
            return Some(());
        }
        let mut kind = String::new();
        while !kind.ends_with([':', ')', '>']) {
            kind.push(self.rest.next()?);
        }
        let name = kind.strip_prefix("?P<").or(kind.strip_prefix("?<"));
        let is_same = match name.and_then(|name| name.strip_suffix('>')) {
            Some(name) => {
                is_name(name)
                    && !name.starts_with(|c: char| c.is_ascii_digit())
                    && self.names.insert(name.to_owned())
            }
            None => GROUPS.contains(&&*kind),
        };
        self.out.push_str(&kind);
        is_same.then_some(())
    }
}
