//! Patterns for one name, as the programs read them behind `//` (rules 2.2).

/// A pattern for one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GlobPattern {
    pieces: Vec<GlobPiece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum GlobPiece {
    /// Any characters, or none.
    Any,
    /// `?`: any one character.
    One,
    /// A character that must match exactly.
    Letter(Letter),
    /// One character that is in one of the ranges, or in none of them.
    Class {
        ranges: Vec<(Letter, Letter)>,
        negated: bool,
    },
}

/// A character of a name; a byte that is no UTF-8 counts as U+FFFD, as in the programs.
type Letter = char;

/// Returns true if a text has a character that makes it a pattern.
pub(super) fn has_meta(text: &str) -> bool {
    // On Windows the library of the programs takes `\` for a separator, not for an escape.
    text.contains(['*', '?', '[']) || (!cfg!(windows) && text.contains('\\'))
}

impl GlobPattern {
    /// Reads a pattern; `None` if it is not valid.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut pieces = Vec::new();
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            pieces.push(match letter {
                '*' => GlobPiece::Any,
                '?' => GlobPiece::One,
                '[' => class(&mut letters)?,
                '\\' if !cfg!(windows) => GlobPiece::Letter(letters.next()?),
                letter => GlobPiece::Letter(letter),
            });
        }
        Some(Self { pieces })
    }

    /// Returns whether a whole name matches.
    pub(super) fn matches(&self, name: &[u8]) -> bool {
        let name: Vec<Letter> = name
            .utf8_chunks()
            .flat_map(|chunk| {
                let broken = chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER);
                chunk.valid().chars().chain(broken)
            })
            .collect();
        // Where the last `*` was, and how much of the name it took.
        let mut star: Option<(usize, usize)> = None;
        let (mut piece, mut at) = (0, 0);
        loop {
            match self.pieces.get(piece) {
                Some(GlobPiece::Any) => {
                    star = Some((piece, at));
                    piece += 1;
                    continue;
                }
                Some(wanted) if at < name.len() && wanted.allows(name[at]) => {
                    piece += 1;
                    at += 1;
                    continue;
                }
                None if at == name.len() => return true,
                _ => {}
            }
            // The last `*` takes one character more.
            match star {
                Some((back, taken)) if taken < name.len() => {
                    star = Some((back, taken + 1));
                    piece = back + 1;
                    at = taken + 1;
                }
                _ => return false,
            }
        }
    }
}

impl GlobPiece {
    fn allows(&self, letter: Letter) -> bool {
        match self {
            Self::Any | Self::One => true,
            Self::Letter(wanted) => *wanted == letter,
            Self::Class { ranges, negated } => {
                let is_inside = ranges
                    .iter()
                    .any(|(low, high)| (*low..=*high).contains(&letter));
                is_inside != *negated
            }
        }
    }
}

/// Reads a class behind its `[`.
fn class(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<GlobPiece> {
    let negated = letters.next_if_eq(&'^').is_some();
    let mut ranges = Vec::new();
    loop {
        // `]` directly behind `[` is an error in Go, unlike in a shell.
        if !ranges.is_empty() && letters.next_if_eq(&']').is_some() {
            return Some(GlobPiece::Class { ranges, negated });
        }
        let low = class_letter(letters)?;
        let high = match letters.next_if_eq(&'-') {
            Some(_) => class_letter(letters)?,
            None => low,
        };
        ranges.push((low, high));
    }
}

fn class_letter(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<Letter> {
    match letters.next()? {
        '-' | ']' => None,
        '\\' if !cfg!(windows) => letters.next(),
        letter => Some(letter),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, matching: &[&str], others: &[&str]) {
        let parsed = GlobPattern::parse(pattern).expect("valid");
        for name in matching {
            assert!(parsed.matches(name.as_bytes()), "{pattern} matches {name}");
        }
        for name in others {
            assert!(
                !parsed.matches(name.as_bytes()),
                "{pattern} does not match {name}"
            );
        }
    }

    #[test]
    fn patterns_match_whole_names() {
        check("*", &["a", ".git", ""], &[]);
        check("a*", &["a", "abc"], &["ba", ""]);
        check("*a*b*", &["ab", "xaxbx", "aab"], &["ba", "a"]);
        check("?", &["a", "é"], &["", "ab"]);
        check("[a-c]x", &["ax", "cx"], &["dx", "x"]);
        check("[^a-c]", &["d", "^"], &["a", ""]);
        check("[abz]", &["b", "z"], &["c"]);
        check("top-*.?", &["top-1.0", "top-.x"], &["top-1."]);
        // On Windows it separates the parts of a path.
        if cfg!(not(windows)) {
            check(r"\*", &["*"], &["a"]);
            check(r"[\]]", &["]"], &["\\"]);
        }
        let broken = GlobPattern::parse("a?b").expect("valid");
        assert!(broken.matches(b"a\xffb"));
    }

    #[test]
    fn patterns_that_end_too_soon_are_not_valid() {
        for text in ["[", "[]", "[]a]", "[a", "[a-", "[-a]", "[a-]", r"[\"] {
            assert_eq!(GlobPattern::parse(text), None, "{text}");
        }
        assert_eq!(GlobPattern::parse(r"\").is_none(), cfg!(not(windows)));
    }
}
