//! `.gitignore` files on the way down to a directory.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, Glob};

use crate::diag::Span;
use crate::world::{Files, is_outside};

use super::locate::{ProjectPlace, REPOSITORY};
use super::patterns::MAX_PATTERN_BYTES;

/// The name of the files.
pub(super) const FILE_NAME: &str = ".gitignore";

/// Maximum size of a `.gitignore`, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Maximum cost of the patterns that apply to a directory, as [`cost`] counts it: some 4,000 with wildcards,
/// or 50,000 names. Without it a file of 256 KiB took 170 MB, and each of those below as much again.
const MAX_COST: usize = 1 << 20;

/// The patterns of `.gitignore` files, from the top of the repository down; the nearest file that
/// says something
/// about a directory decides.
#[derive(Default)]
pub(super) struct Ignores {
    matchers: Vec<Gitignore>,
    /// The cost of the patterns down to each file, those around the repository included.
    costs: Vec<usize>,
}

impl Ignores {
    /// Reads the files above a directory, as far as its repository goes; nothing outside of one.
    pub(super) fn above(files: &dyn Files, place: &ProjectPlace) -> io::Result<Self> {
        // Without a repository, git applies no `.gitignore` at all.
        let mut above = Vec::new();
        let mut at = place.clone();
        while files.kind(&at.file(REPOSITORY)).is_err() {
            let Some(parent) = at.parent() else {
                return Ok(Self::default());
            };
            above.push(parent.clone());
            at = parent;
        }
        let mut own = Self::default();
        for place in above.iter().rev() {
            own.enter(files, place)?;
        }
        Ok(own)
    }

    /// Adds the file of a directory; returns whether there is one.
    pub(super) fn enter(&mut self, files: &dyn Files, place: &ProjectPlace) -> io::Result<bool> {
        let bytes = match files.read(&place.file(FILE_NAME), MAX_FILE_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound || is_outside(&error) => {
                return Ok(false);
            }
            Err(error) => return Err(error),
        };
        let flood = || io::Error::new(ErrorKind::InvalidData, "its patterns are too many");
        let text = String::from_utf8_lossy(&bytes);
        let above = self.cost();
        let all = above + text.lines().map(cost).sum::<usize>();
        if all > MAX_COST {
            return Err(flood());
        }
        let mut builder = GitignoreBuilder::new(place.absolute());
        for line in text.lines() {
            // A line that is no pattern ignores nothing, as for git.
            // Nested alternatives of a long pattern would exhaust the stack of the matcher.
            if line.len() <= MAX_PATTERN_BYTES {
                let _ = builder.add_line(None, line);
            }
        }
        self.matchers.push(builder.build().map_err(|_| flood())?);
        self.costs.push(all);
        Ok(true)
    }

    /// Takes the last file away again.
    pub(super) fn leave(&mut self) {
        self.matchers.pop();
        self.costs.pop();
    }

    /// Begins a repository inside of this one, without any pattern at first; returns the patterns that apply
    /// again after it. They stay in memory, so they count.
    pub(super) fn begin_repository(&mut self) -> Self {
        let inner = Self {
            matchers: Vec::new(),
            costs: vec![self.cost()],
        };
        std::mem::replace(self, inner)
    }

    fn cost(&self) -> usize {
        self.costs.last().copied().unwrap_or(0)
    }

    /// Returns whether a directory is ignored, its parents being none that are.
    pub(super) fn ignore(&self, dir: &Path) -> bool {
        // The nearest file decides; within a file the last pattern that matches, as in git.
        self.deciding(dir, true).is_some()
    }

    /// Returns the pattern that ignores a path, with the directory of its file.
    fn deciding(&self, path: &Path, is_dir: bool) -> Option<(&Path, &Glob)> {
        for matcher in self.matchers.iter().rev() {
            // A pattern that ends with a slash matches directories only (gitignore(5)).
            match matcher.matched(path, is_dir) {
                Match::None => {}
                Match::Ignore(glob) => return Some((matcher.path(), glob)),
                Match::Whitelist(_) => return None,
            }
        }
        None
    }
}

/// Returns the cost of a line. A pattern with wildcards becomes a regular expression, of up to 900 bytes for
/// each of its own; a name becomes an entry of a table.
fn cost(line: &str) -> usize {
    match line.trim_ascii() {
        "" => 0,
        comment if comment.starts_with('#') => 0,
        _ if line.len() > MAX_PATTERN_BYTES => 0,
        pattern if pattern.contains(['*', '?', '[', '{', '\\']) => 8 + 16 * pattern.len(),
        name => 8 + name.len(),
    }
}

/// The line of a `.gitignore` that matches a file, or a directory that the file is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoringLine {
    /// The path of that file, to read and to show.
    pub path: PathBuf,
    /// The bytes of that file.
    pub text: Vec<u8>,
    /// The line in it, without its end.
    pub span: Span,
    /// The file itself, or a directory above it.
    pub scope: IgnoredScope,
}

/// The target of a line of a `.gitignore`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IgnoredScope {
    /// The ignored file itself.
    File,
    /// A directory that the file is in: then no line below can include the file again (gitignore(5)).
    Directory,
}

impl IgnoringLine {
    /// Says that git ignores a lock file, and where the line is.
    #[must_use]
    pub fn warning(&self) -> String {
        let above = &self.text[..self.span.start];
        let number = 1 + above.iter().filter(|byte| **byte == b'\n').count();
        format!(
            "git ignores the lock file, by line {number} of {}: `{}`; `lockctl explain lock-ignored` says what to do",
            self.path.display(),
            self.pattern()
        )
    }

    /// Returns the line and the name of its file.
    #[must_use]
    pub fn shown(&self) -> String {
        format!("`{}` in {}", self.pattern(), self.path.display())
    }

    fn pattern(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.text[self.span.start..self.span.end])
    }
}

/// Finds the line of a `.gitignore` that ignores a file, if git does not track it.
///
/// Other files with patterns, those of the user and of `.git/info`, are left out: they are not shared.
#[must_use]
pub fn ignoring_line(files: &dyn Files, dir: &ProjectPlace, file: &OsStr) -> Option<IgnoringLine> {
    let mut places = vec![dir.clone()];
    while files.kind(&places.last()?.file(REPOSITORY)).is_err() {
        let parent = places.last()?.parent()?;
        places.push(parent);
    }
    // From the top of the repository down, because deeper files override those above (`gitignore(5)`).
    places.reverse();
    let mut ignores = Ignores::default();
    // A directory that is ignored hides the file, even if a pattern below names it again.
    let below = places
        .iter()
        .skip(1)
        .map(|place| (place.absolute().to_owned(), IgnoredScope::Directory));
    let all = below.chain([(dir.absolute().join(file), IgnoredScope::File)]);
    for (place, (path, scope)) in places.iter().zip(all) {
        ignores.enter(files, place).ok()?;
        let Some((above, glob)) = ignores.deciding(&path, scope == IgnoredScope::Directory) else {
            continue;
        };
        let holder = places.iter().find(|place| place.absolute() == above)?;
        let path = holder.file(FILE_NAME);
        let text = files.read(&path, MAX_FILE_BYTES).ok()?;
        let span = last_line(&text, glob.original())?;
        return Some(IgnoringLine {
            path,
            text,
            span,
            scope,
        });
    }
    None
}

/// Returns the last line of a text that is a pattern: within a file the last one decides.
fn last_line(text: &[u8], pattern: &str) -> Option<Span> {
    let mut end = text.len();
    for line in text.split_inclusive(|byte| *byte == b'\n').rev() {
        let start = end - line.len();
        if String::from_utf8_lossy(line).trim_end() == pattern.trim_end() {
            return Some(Span {
                start,
                end: start + line.trim_ascii_end().len(),
            });
        }
        end = start;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::mem::{MemFiles, slashed};

    #[test]
    fn floods_of_patterns_are_refused() {
        let place = |dir: &str| ProjectPlace::new(Path::new(dir), Path::new("/"));
        let enter = |ignores: &mut Ignores, text: &str| {
            let files = MemFiles::with(&[("/r/.gitignore", text)]);
            let entered = ignores.enter(&files, &place("/r"));
            entered.map_err(|error| error.kind())
        };
        let names = "abcdefg\n".repeat(MAX_COST / 15);
        let mut ignores = Ignores::default();
        assert_eq!(enter(&mut ignores, &names), Ok(true));
        // Those of all directories above count, and those around an inner repository.
        assert_eq!(enter(&mut ignores, &names), Err(ErrorKind::InvalidData));
        let outer = ignores.begin_repository();
        assert_eq!(enter(&mut ignores, &names), Err(ErrorKind::InvalidData));
        ignores = outer;
        ignores.leave();
        let wildcards = "abcdef*\n".repeat(MAX_COST / 100);
        assert_eq!(enter(&mut ignores, &wildcards), Err(ErrorKind::InvalidData));
        let comments = "# abc*\n\n".repeat(MAX_COST / 8);
        assert_eq!(enter(&mut ignores, &comments), Ok(true));
    }

    /// Checks the line by which `/r/a/b/x.hcl` is ignored, among files below `/r`.
    #[track_caller]
    fn check(ignores: &[(&str, &str)], wanted: Option<(&str, &str, IgnoredScope)>) {
        let mut texts = vec![
            ("/r/.git/HEAD".to_owned(), "x"),
            ("/r/a/b/x.hcl".to_owned(), "x"),
        ];
        texts.extend(
            ignores
                .iter()
                .map(|(path, text)| (format!("/r/{path}"), *text)),
        );
        let texts: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (&**path, *text)).collect();
        let files = MemFiles::with(&texts);
        let place = ProjectPlace::new(Path::new("/r/a/b"), Path::new("/"));
        let found = ignoring_line(&files, &place, OsStr::new("x.hcl"));
        let found = found.map(|line| {
            let text = String::from_utf8(line.text).expect("text");
            let pattern = text[line.span.start..line.span.end].to_owned();
            (slashed(&line.path), pattern, line.scope)
        });
        let wanted = wanted.map(|(path, line, scope)| (path.to_owned(), line.to_owned(), scope));
        assert_eq!(found, wanted, "{ignores:?}");
    }

    #[test]
    fn the_line_that_decides_is_found() {
        use IgnoredScope::{Directory, File};
        check(&[], None);
        check(&[(".gitignore", "*.tf\n")], None);
        let any = "# any\n*.hcl  \r\n";
        check(
            &[(".gitignore", any)],
            Some(("/r/.gitignore", "*.hcl", File)),
        );
        check(
            &[(".gitignore", any), ("a/b/.gitignore", "x.hcl")],
            Some(("/r/a/b/.gitignore", "x.hcl", File)),
        );
        check(&[(".gitignore", any), ("a/.gitignore", "!x.hcl\n")], None);
        check(&[(".gitignore", "*.hcl\n!x.hcl\n")], None);
        // Below a directory that is ignored nothing can be included again.
        check(
            &[(".gitignore", "b/\n"), ("a/b/.gitignore", "!x.hcl\n")],
            Some(("/r/.gitignore", "b/", Directory)),
        );
        check(&[("a/.gitignore", "/x.hcl\n")], None);
    }
}
