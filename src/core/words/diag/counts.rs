//! Numbers of things, in words.

use std::fmt;

use super::Severity;

/// The number of findings of each severity; shown as in `1 error, 2 notes`, without severities that none
/// has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Findings that are wrong now.
    pub errors: usize,
    /// Findings that are likely to cause a failure.
    pub warnings: usize,
    /// Findings for information only.
    pub notes: usize,
}

impl Counts {
    /// Counts the severities of findings.
    #[must_use]
    pub fn of(severities: impl IntoIterator<Item = Severity>) -> Self {
        let mut counts = Self::default();
        for severity in severities {
            match severity {
                Severity::Error => counts.errors += 1,
                Severity::Warning => counts.warnings += 1,
                Severity::Note => counts.notes += 1,
            }
        }
        counts
    }

    /// Returns the same without notes, which change no exit code.
    #[must_use]
    pub fn without_notes(self) -> Self {
        Self { notes: 0, ..self }
    }

    /// Returns true if nothing was counted.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            (self.errors, "error"),
            (self.warnings, "warning"),
            (self.notes, "note"),
        ];
        let mut between = "";
        for (n, word) in counts {
            if n > 0 {
                write!(f, "{between}{}", counted(n, word))?;
                between = ", ";
            }
        }
        Ok(())
    }
}

/// Counts things, as in `1 root` and `2 roots`.
#[must_use]
pub fn counted(n: usize, word: &str) -> String {
    counted_as(n, word, &format!("{word}s"))
}

/// Counts things with a plural of their own, as in `1 entry` and `2 entries`.
#[must_use]
pub fn counted_as(n: usize, singular: &str, plural: &str) -> String {
    let word = if n == 1 { singular } else { plural };
    format!("{n} {word}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_none_of_is_left_out() {
        let shown = |all: &[Severity]| Counts::of(all.iter().copied()).to_string();
        assert_eq!(shown(&[]), "");
        assert_eq!(shown(&[Severity::Note, Severity::Error]), "1 error, 1 note");
        assert_eq!(shown(&[Severity::Warning; 2]), "2 warnings");
    }
}
