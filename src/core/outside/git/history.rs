//! Commits that changed lock files.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::changes::{Change, RAW_FORM, Status, TreeEntry, change};
use super::error::GitError;
use super::objects::ObjectId;
use super::repository::{LOCK_FILES, MAX_LIST_BYTES, Repository, kind_of, path_of};

/// Maximum number of commits, counted along first parents, among which the last change of a lock file is looked for:
/// a repository may have a million.
const MAX_RECENT: usize = 1000;

/// A commit that changed lock files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The full name of the commit.
    pub id: ObjectId,
    /// When it was written, as in `2024-05-06T07:08:09+00:00`; its author may have made it up.
    pub date: String,
    /// The name of its author, which may hold any characters.
    pub author: String,
    /// The first line of its message.
    pub subject: String,
    /// The lock files that it changed.
    pub changes: Vec<CommittedChange>,
}

/// A change of a lock file by a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommittedChange {
    /// The change, of a merge from its first parent.
    pub change: Change,
    /// The content in the other parents of a merge, where it differs from every parent.
    pub others: Vec<Option<ObjectId>>,
}

/// A commit that changed one file.
#[derive(Clone, Copy, Debug)]
pub struct FileCommit<'h> {
    /// The commit with its author and date.
    pub commit: &'h Commit,
    /// The change of the file in this commit.
    pub change: &'h CommittedChange,
}

/// Commits, the newest first, with the changes of each path.
pub struct ChangedPaths<'h> {
    commits: &'h [Commit],
    /// The places of changes, as the index of a commit and that of a change in it, in their order.
    places: BTreeMap<&'h Path, Vec<(usize, usize)>>,
}

impl<'h> ChangedPaths<'h> {
    /// Sorts the changes of commits by path.
    #[must_use]
    pub fn of(commits: &'h [Commit]) -> Self {
        let mut places: BTreeMap<&Path, Vec<_>> = BTreeMap::new();
        for (newer, commit) in commits.iter().enumerate() {
            for (at, step) in commit.changes.iter().enumerate() {
                places
                    .entry(step.change.path())
                    .or_default()
                    .push((newer, at));
            }
        }
        Self { commits, places }
    }

    /// Picks the commits that changed one file, whose name may have been another before; the newest first.
    #[must_use]
    pub fn follow(&self, path: &Path) -> Vec<FileCommit<'h>> {
        let of = |path: &Path| self.places.get(path).into_iter().flatten().copied();
        let mut names = BTreeSet::from([path]);
        let mut open: BTreeSet<(usize, usize)> = of(path).collect();
        let mut picked = Vec::new();
        while let Some((newer, at)) = open.pop_first() {
            let commit = &self.commits[newer];
            let change = &commit.changes[at];
            picked.push(FileCommit { commit, change });
            // A branch may have changed the file under its old name after it was renamed on another one, so
            // all names count from the first rename that is met.
            if let Some(old) = &change.change.old
                && names.insert(&old.path)
            {
                open.extend(of(&old.path).filter(|place| *place > (newer, at)));
            }
        }
        picked
    }
}

/// Sorts the changes of all lock files by the path of the file today; a rename does not split its history. The
/// files are ordered by path, and the commits of each keep their order, the newest first.
#[must_use]
pub fn files(commits: &[Commit]) -> BTreeMap<PathBuf, Vec<FileCommit<'_>>> {
    let mut files: BTreeMap<PathBuf, Vec<FileCommit<'_>>> = BTreeMap::new();
    // The name today of the file that had a path at the commit at hand.
    let mut today: BTreeMap<&Path, PathBuf> = BTreeMap::new();
    for commit in commits {
        for change in &commit.changes {
            let path = change.change.path();
            let file = today.entry(path).or_insert_with(|| path.to_owned()).clone();
            // Commits come newest first, so older ones know the file under its old path.
            if let (Status::Renamed, Some(old)) = (change.change.status, &change.change.old) {
                today.insert(&old.path, file.clone());
            }
            files
                .entry(file)
                .or_default()
                .push(FileCommit { commit, change });
        }
    }
    files
}

impl Repository<'_> {
    /// Hands over the commits up to `HEAD` that changed lock files while git finds them, in the order of `git log`:
    /// the newest first.
    ///
    /// git ends at the newest `most` commits, if that is stated. A merge is listed for the files that differ
    /// from every parent.
    ///
    /// # Errors
    /// If git does not answer, or there is no commit.
    pub fn history(
        &self,
        most: Option<usize>,
        each: &mut dyn FnMut(Commit),
    ) -> Result<(), GitError> {
        let most = most.map(|most| format!("--max-count={most}"));
        let revisions: Vec<&str> = most.as_deref().into_iter().chain(["HEAD"]).collect();
        self.log(&revisions, each).map_err(|error| {
            // A process less where there is a commit.
            self.revision("HEAD").err().unwrap_or(error)
        })
    }

    /// Lists those of the newest commits of `HEAD` that changed lock files, as [`history`](Self::history) does.
    ///
    /// # Errors
    /// If git does not answer, or there is no commit.
    pub fn recent_history(&self) -> Result<Vec<Commit>, GitError> {
        let mut commits = Vec::new();
        // A shorter history has no such commit, and is listed as a whole.
        let revisions = ["--ignore-missing", "HEAD", &format!("^HEAD~{MAX_RECENT}")];
        self.log(&revisions, &mut |commit| commits.push(commit))?;
        Ok(commits)
    }

    fn log(&self, revisions: &[&str], each: &mut dyn FnMut(Commit)) -> Result<(), GitError> {
        // `-c` lists a merge only for files that differ from every parent: who merged took part of each.
        let mut args = vec!["log", "-c"];
        args.extend(RAW_FORM);
        // Old commits may state another encoding for their messages.
        args.push("--encoding=UTF-8");
        args.push("--format=tformat:commit %H%x00%aI%x00%an%x00%s");
        args.extend(revisions);
        args.push("--");
        args.extend(LOCK_FILES);
        let mut reader = CommitReader::default();
        self.stream(&args, MAX_LIST_BYTES, &mut |piece| reader.read(piece, each))?;
        reader
            .end(each)
            .ok_or(GitError::Unexpected { command: "log" })
    }
}

/// Cuts the output of git into commits while it comes.
#[derive(Default)]
struct CommitReader {
    /// The commit at hand, as far as it came.
    text: Vec<u8>,
    /// The start of the field at hand.
    field: usize,
    /// The number of texts and paths that come next, which may hold anything.
    texts: usize,
    is_broken: bool,
}

impl CommitReader {
    fn read(&mut self, piece: &[u8], each: &mut dyn FnMut(Commit)) {
        let mut at = self.text.len();
        self.text.extend_from_slice(piece);
        let mut start = 0;
        while let Some(length) = self.text[at..].iter().position(|byte| *byte == 0) {
            at += length;
            // Between a header and its changes is an empty line.
            let field = &self.text[self.field..at];
            let field = field.strip_prefix(b"\n").unwrap_or(field);
            if self.texts > 0 {
                self.texts -= 1;
            } else if field.starts_with(b"commit ") {
                self.texts = 3;
                self.hand_over(start..self.field, each);
                start = self.field;
            } else if field.starts_with(b"::") {
                self.texts = 1;
            } else {
                let status = field.rsplit(|byte| *byte == b' ').next();
                self.texts = match status.and_then(<[u8]>::first) {
                    // A renamed file has two paths behind its status.
                    Some(b'R') => 2,
                    Some(_) => 1,
                    None => 0,
                };
            }
            at += 1;
            self.field = at;
        }
        // Only the commit that is not complete yet stays in memory.
        self.text.drain(..start);
        self.field -= start;
    }

    /// Hands over the last commit.
    fn end(mut self, each: &mut dyn FnMut(Commit)) -> Option<()> {
        self.hand_over(0..self.text.len(), each);
        (!self.is_broken).then_some(())
    }

    fn hand_over(&mut self, place: Range<usize>, each: &mut dyn FnMut(Commit)) {
        if place.is_empty() {
            return;
        }
        match commit(&self.text[place]) {
            Some(commit) => each(commit),
            None => self.is_broken = true,
        }
    }
}

/// Reads a commit: a header of four fields with its changes behind it.
fn commit(text: &[u8]) -> Option<Commit> {
    let mut fields = text.split(|byte| *byte == 0);
    let id = fields.next()?.strip_prefix(b"commit ")?;
    let mut text = || Some(String::from_utf8_lossy(fields.next()?).into_owned());
    let mut commit = Commit {
        id: ObjectId::read(std::str::from_utf8(id).ok()?)?,
        date: text()?,
        author: text()?,
        subject: text()?,
        changes: Vec::new(),
    };
    while let Some(field) = fields.next() {
        // git writes a line feed between the header and the first change.
        let field = field.strip_prefix(b"\n").unwrap_or(field);
        // Two colons begin a change of a merge: one for each of its two parents (`git-diff-tree(1)`).
        if field.starts_with(b"::") {
            commit.changes.push(merged(field, &mut fields)?);
        } else if !field.is_empty() {
            commit.changes.push(CommittedChange {
                change: change(field, &mut fields)?,
                others: Vec::new(),
            });
        }
    }
    Some(commit)
}

/// Reads `::MODE… MODE ID… ID STATUS\0PATH\0`, with as many colons as there are parents.
fn merged<'b>(
    header: &[u8],
    fields: &mut impl Iterator<Item = &'b [u8]>,
) -> Option<CommittedChange> {
    let header = std::str::from_utf8(header).ok()?;
    let parents = header.bytes().take_while(|byte| *byte == b':').count();
    let words: Vec<&str> = header.trim_start_matches(':').split(' ').collect();
    // Those of all parents come first, that of the result is the last (`git-diff(1)`, combined diff format).
    let modes = words.get(..=parents)?;
    let ids = words.get(parents + 1..2 * parents + 2)?;
    let path = path_of(fields.next()?);
    let entry = |index: usize| {
        // A mode of zeros means that there is no file.
        let exists = modes[index].bytes().any(|digit| digit != b'0');
        exists.then(|| TreeEntry {
            path: path.clone(),
            kind: kind_of(modes[index]),
            blob: ObjectId::read(ids[index]),
        })
    };
    let (old, new) = (entry(0), entry(parents));
    let status = match (&old, &new) {
        (None, _) => Status::Added,
        (_, None) => Status::Deleted,
        _ => Status::Modified,
    };
    Some(CommittedChange {
        change: Change { status, old, new },
        others: ids[1..parents]
            .iter()
            .copied()
            .map(ObjectId::read)
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the output of git in pieces of a size.
    fn read(output: &[u8], size: usize) -> Option<Vec<Commit>> {
        let mut commits = Vec::new();
        let mut reader = CommitReader::default();
        for piece in output.chunks(size) {
            reader.read(piece, &mut |commit| commits.push(commit));
        }
        reader.end(&mut |commit| commits.push(commit))?;
        Some(commits)
    }

    #[test]
    fn commits_are_read_from_pieces_of_any_size() {
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let none = "0".repeat(40);
        // An author, a subject and a path may look like the start of a commit or of a change.
        let output = [
            format!("commit {one}\0date\0commit {two}\0:1\0"),
            format!("\n:100644 100644 {one} {two} M\0commit {two}\0"),
            format!(":100644 100644 {one} {two} R086\0::a\0\ncommit\0"),
            format!("commit {two}\0date\0\0\0"),
            format!("\n::100644 100644 100644 {one} {two} {one} MM\0:b\0"),
            format!("commit {one}\0date\0author\0a merge without changes\0"),
            format!("commit {two}\0date\0author\0the first one\0"),
            format!("\n:000000 100644 {none} {one} A\0c\0"),
        ]
        .concat();
        let whole = read(output.as_bytes(), output.len()).expect("commits");
        let paths: Vec<Vec<&Path>> = whole
            .iter()
            .map(|commit| {
                commit
                    .changes
                    .iter()
                    .map(|step| step.change.path())
                    .collect()
            })
            .collect();
        let wanted: [&[&str]; 4] = [
            &[&format!("commit {two}"), "\ncommit"],
            &[":b"],
            &[],
            &["c"],
        ];
        let wanted: Vec<Vec<&Path>> = wanted
            .iter()
            .map(|paths| paths.iter().map(Path::new).collect())
            .collect();
        assert_eq!(paths, wanted);
        for size in 1..output.len() {
            assert_eq!(
                read(output.as_bytes(), size).as_ref(),
                Some(&whole),
                "{size}"
            );
        }
        assert_eq!(read(b"commit 1\0date\0author\0subject\0", 10), None);
        assert_eq!(read(b"", 10), Some(Vec::new()));
    }
}
