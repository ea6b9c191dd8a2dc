//! Patterns of paths, as in `include_in_copy` (rules 7.4).

/// A pattern: `*` and `?` within one level, `**` over any number of levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    levels: Vec<GlobLevel>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum GlobLevel {
    /// `**`: any number of levels, also none.
    Any,
    Name(String),
}

impl Glob {
    /// Parses a pattern; `None` for one with other special characters than stars and question marks.
    ///
    /// ```
    /// use lockctl_core::terragrunt::Glob;
    ///
    /// let glob = Glob::parse("**/.deep").unwrap();
    /// assert!(glob.covers("s/.deep") && glob.covers(".deep/x"));
    /// assert!(!glob.covers("deep"));
    /// ```
    #[must_use]
    pub fn parse(pattern: &str) -> Option<Self> {
        // The rules of Terragrunt's library for these are not implemented here.
        if pattern.contains(['[', ']', '{', '}', '\\', '!']) {
            return None;
        }
        let levels: Vec<GlobLevel> = pattern
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".")
            .map(|part| match part {
                "**" => GlobLevel::Any,
                part => GlobLevel::Name(part.to_owned()),
            })
            .collect();
        let leaves = levels
            .iter()
            .any(|level| *level == GlobLevel::Name("..".to_owned()));
        (!levels.is_empty() && !leaves).then_some(Self { levels })
    }

    /// Returns true if the pattern matches a path, or a directory above it.
    #[must_use]
    pub fn covers(&self, path: &str) -> bool {
        let parts = parts(path);
        (1..=parts.len()).any(|end| matches(&self.levels, &parts[..end]))
    }

    /// Returns true if the pattern may match something below a directory.
    pub(super) fn reaches(&self, dir: &str) -> bool {
        reaches(&self.levels, &parts(dir))
    }
}

fn parts(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty()).collect()
}

fn matches(levels: &[GlobLevel], parts: &[&str]) -> bool {
    // `row[n]` is true if the first `n` levels match the parts so far: time is linear in both.
    let mut row: Vec<bool> = vec![true];
    for level in levels {
        row.push(*level == GlobLevel::Any && row.last() == Some(&true));
    }
    for part in parts {
        let mut next = vec![false; row.len()];
        for (at, level) in levels.iter().enumerate() {
            next[at + 1] = match level {
                // It ends before this part, or takes it in.
                GlobLevel::Any => next[at] || row[at + 1] || row[at],
                GlobLevel::Name(pattern) => row[at] && is_name(pattern, part),
            };
        }
        row = next;
    }
    row.last() == Some(&true)
}

/// Returns true if some continuation of the parts could match.
fn reaches(levels: &[GlobLevel], parts: &[&str]) -> bool {
    match (levels.first(), parts.split_first()) {
        (None, _) => false,
        (Some(_), None) | (Some(GlobLevel::Any), _) => true,
        (Some(GlobLevel::Name(pattern)), Some((part, rest))) => {
            is_name(pattern, part) && reaches(&levels[1..], rest)
        }
    }
}

/// Matches a name with a pattern of one level.
fn is_name(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    // Row by row: with backtracking, each further `*` would multiply the time for a name that does not match.
    let mut row = vec![false; pattern.len() + 1];
    row[0] = true;
    for at in 0..pattern.len() {
        row[at + 1] = row[at] && pattern[at] == '*';
    }
    for c in name {
        let mut next = vec![false; row.len()];
        for (at, wanted) in pattern.iter().enumerate() {
            next[at + 1] = match wanted {
                '*' => next[at] || row[at + 1],
                '?' => row[at],
                wanted => row[at] && *wanted == c,
            };
        }
        row = next;
    }
    row.last() == Some(&true)
}

/// Joins a directory, empty for the top, and a name with a slash.
pub(super) fn joined(dir: &str, name: &str) -> String {
    if dir.is_empty() {
        return name.to_owned();
    }
    format!("{dir}/{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, path: &str, is_covered: bool) {
        let glob = Glob::parse(pattern).expect("a pattern");
        assert_eq!(glob.covers(path), is_covered, "{pattern} and {path}");
    }

    #[test]
    fn a_pattern_covers_what_it_names_and_all_below() {
        check("d", "d/x/y", true);
        check("d", "e/d", false);
        check(".e/*", ".e/y", true);
        check(".e/*", ".e", false);
        check("**/.deep", "s/.deep", true);
        check("**/.deep", ".deep", true);
        check("**/*.txt", "a.txt", true);
        check("**/*.txt", "s/t/a.txt", true);
        check("**/*.txt", "s/t/a.txtx", false);
        check("a/**/b", "a/b", true);
        check("a/**/b", "a/x/y/b/c", true);
        check("?.tf", "a.tf", true);
        check("?.tf", "ab.tf", false);
        check("**", "x/y", true);
    }

    #[test]
    fn what_is_not_understood_is_no_pattern() {
        for pattern in ["[a]", "{a,b}", "", "../x", "a\\b"] {
            assert_eq!(Glob::parse(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn long_patterns_take_no_time() {
        let glob = Glob::parse(&"**/*a".repeat(50)).expect("a pattern");
        assert!(!glob.covers(&"a/".repeat(200).replace('a', "aab")));
        assert!(!is_name(&"*a".repeat(30), &"a".repeat(29)));
    }
}
