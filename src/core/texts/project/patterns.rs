//! The patterns of `roots`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

/// Maximum length of a pattern, in bytes; nested alternatives cost stack.
pub(super) const MAX_PATTERN_BYTES: usize = 512;

/// Patterns of directories that always are roots, by their path from the project file.
#[derive(Clone, Debug, Default)]
pub struct RootPatterns {
    globs: GlobSet,
    /// Directories that are named as they are.
    dirs: BTreeSet<PathBuf>,
}

/// A text that is no pattern of directories.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum RootPatternError {
    /// The text is empty.
    #[error("this is empty")]
    Empty,
    /// The text is longer than any real path.
    #[error("this has more than {MAX_PATTERN_BYTES} bytes")]
    Long,
    /// The text leads to directories that are not below the project file.
    #[error("this leads out of the directory of the file")]
    Outside,
    /// The text holds a backslash, which separates names on Windows and escapes elsewhere.
    #[error("a backslash separates nothing here")]
    Backslash,
    /// The text cannot be parsed.
    #[error("this is no pattern: {0}")]
    Glob(String),
}

impl RootPatterns {
    /// Combines patterns; a directory must match one of them.
    ///
    /// # Errors
    /// If they are too large all in all.
    pub(super) fn new(globs: Vec<Glob>) -> Result<Self, RootPatternError> {
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            set.add(glob);
        }
        let globs = set.build().map_err(|error| malformed(&error))?;
        Ok(Self {
            globs,
            dirs: BTreeSet::new(),
        })
    }

    /// Reads a pattern: `*` matches any part of a name, `**` any number of directories, `.` the directory of
    /// the project file itself.
    ///
    /// # Errors
    /// If the text is no pattern.
    pub(super) fn pattern(text: &str) -> Result<Glob, RootPatternError> {
        let text = checked(text)?;
        // Without this `*` would pass slashes, and `modules/*` would match every directory below.
        let glob = GlobBuilder::new(text).literal_separator(true).build();
        glob.map_err(|error| malformed(&error))
    }

    /// Reads a directory that is named as it is, from that of the project file on.
    ///
    /// # Errors
    /// If the text is no such path.
    pub(super) fn directory(text: &str) -> Result<PathBuf, RootPatternError> {
        let parts = checked(text)?.split('/');
        // `.` is the directory of the file itself, whose path is empty.
        Ok(parts.filter(|part| !["", "."].contains(part)).collect())
    }

    /// Adds directories that are named as they are.
    pub(super) fn add(&mut self, dirs: BTreeSet<PathBuf>) {
        self.dirs.extend(dirs);
    }

    /// Returns whether a directory is one; the empty path is that of the project file.
    #[must_use]
    pub fn contain(&self, dir: &Path) -> bool {
        if self.dirs.contains(dir) {
            return true;
        }
        // The pattern `.` is the directory of the project file, whose path is empty here.
        let dir = if dir.as_os_str().is_empty() {
            Path::new(".")
        } else {
            dir
        };
        self.globs.is_match(dir)
    }
}

/// Returns what counts of a path from the project file on.
fn checked(text: &str) -> Result<&str, RootPatternError> {
    let text = text.trim_end_matches('/');
    let text = text.strip_prefix("./").unwrap_or(text);
    if text.is_empty() {
        return Err(RootPatternError::Empty);
    }
    if text.len() > MAX_PATTERN_BYTES {
        return Err(RootPatternError::Long);
    }
    // The same file has to mean the same on Windows.
    if text.contains('\\') {
        return Err(RootPatternError::Backslash);
    }
    if text.starts_with('/') || text.split('/').any(|part| part == "..") {
        return Err(RootPatternError::Outside);
    }
    Ok(text)
}

fn malformed(error: &globset::Error) -> RootPatternError {
    RootPatternError::Glob(error.kind().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stop_at_slashes_and_pairs_do_not() {
        for (pattern, yes, no) in [
            ("live/**", "live/a live/a/b", "live alive/a"),
            (
                "modules/*/examples/*",
                "modules/x/examples/y",
                "modules/x/examples modules/x/y/examples/z",
            ),
            ("./envs/prod/", "envs/prod", "envs envs/prod/x prod"),
            ("{a,b}/[xy]", "a/x b/y", "a/z c/x"),
            (".", "", "a"),
            ("**", " a a/b", ""),
        ] {
            let patterns = RootPatterns::pattern(pattern).unwrap();
            let patterns = RootPatterns::new(vec![patterns]).unwrap();
            for dir in yes.split(' ') {
                assert!(patterns.contain(dir.as_ref()), "{dir:?} of {pattern}");
            }
            for dir in no.split_whitespace() {
                assert!(!patterns.contain(dir.as_ref()), "{dir:?} of {pattern}");
            }
        }
    }

    /// Returns alternatives in alternatives.
    fn nested(depth: usize) -> String {
        format!("{}a{}", "{".repeat(depth), "}".repeat(depth))
    }

    #[test]
    fn what_leads_elsewhere_is_refused() {
        for (pattern, error) in [
            ("", RootPatternError::Empty),
            ("/live", RootPatternError::Outside),
            ("../live/*", RootPatternError::Outside),
            ("a\\b", RootPatternError::Backslash),
            (&nested(1_000), RootPatternError::Long),
        ] {
            assert_eq!(RootPatterns::pattern(pattern), Err(error));
        }
        assert!(RootPatterns::pattern("a[").is_err());
        let nested =
            RootPatterns::pattern(&nested(MAX_PATTERN_BYTES / 2 - 1)).map(|glob| vec![glob]);
        assert!(nested.and_then(RootPatterns::new).is_err());
    }
}
