//! Lock files that differ between two sides.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::error::GitError;
use super::objects::ObjectId;
use super::repository::{LOCK_FILES, MAX_LIST_BYTES, Repository, kind_of, path_of};
use super::revision::{Revision, Side};
use crate::world::FileKind;

/// The options that make `git diff` and `git log` list changes in one form, in spite of the configuration of
/// the user.
pub(super) const RAW_FORM: [&str; 10] = [
    "--raw",
    "-z",
    "-M",
    "--no-abbrev",
    "--no-relative",
    // A user may have configured an external program, a text conversion, colours and an order of files.
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "-O/dev/null",
    "--ignore-submodules=all",
];

/// A lock file that differs between two sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The kind of difference.
    pub status: Status,
    /// The file before, unless it was added.
    pub old: Option<TreeEntry>,
    /// The file now, unless it was deleted.
    pub new: Option<TreeEntry>,
}

/// The kind of difference between two sides of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// The file exists only on the new side.
    Added,
    /// The file exists only on the old side.
    Deleted,
    /// The file exists on both sides.
    Modified,
    /// The file has another path, and may differ, too.
    Renamed,
    /// A merge of it is not finished; there is no content to compare.
    Unmerged,
}

/// One side of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    /// The path from the top of the repository.
    pub path: PathBuf,
    /// The kind of file; the content of a link is its target.
    pub kind: FileKind,
    /// The content; `None` if it is only in the work tree.
    pub blob: Option<ObjectId>,
}

impl Repository<'_> {
    /// Lists the lock files that differ between two sides, ordered by where they are now.
    ///
    /// The new side may be anything; the old side of a work tree may be its index. A file that was
    /// rewritten with the same content may be listed, too. What is in a directory `.terraform`
    /// counts only if it is tracked.
    ///
    /// # Errors
    /// If git does not answer.
    pub fn changes(&self, old: &Side, new: &Side) -> Result<Vec<Change>, GitError> {
        self.changes_of(&LOCK_FILES, old, new)
    }

    /// Lists files of other names that differ between two sides, as [`changes`](Self::changes) does lock files.
    ///
    /// # Errors
    /// If git does not answer.
    pub fn changes_of(
        &self,
        files: &[&'static str; 2],
        old: &Side,
        new: &Side,
    ) -> Result<Vec<Change>, GitError> {
        let Some(sides) = diff_sides(old, new) else {
            return Ok(Vec::new());
        };
        let mut args = vec!["diff", "--diff-filter=ADMRTU"];
        args.extend(RAW_FORM);
        args.extend(sides);
        args.push("--");
        args.extend(files);
        let output = self.output(&args, &[], MAX_LIST_BYTES)?;
        let mut changes = listed(&output)?;
        // git lists an unmerged file a second time, as if it were modified.
        let unmerged: BTreeSet<PathBuf> = changes
            .iter()
            .filter(|change| change.status == Status::Unmerged)
            .map(|change| change.path().to_owned())
            .collect();
        changes.retain(|change| {
            change.status == Status::Unmerged || !unmerged.contains(change.path())
        });
        // `git diff` does not list untracked files, but a new root begins with an untracked lock file.
        if *new == Side::WorkTree {
            let untracked = self.untracked(files)?;
            changes.extend(untracked.into_iter().map(|path| Change {
                status: Status::Added,
                old: None,
                new: Some(TreeEntry {
                    path,
                    kind: FileKind::File,
                    blob: None,
                }),
            }));
        }
        changes.sort_by(|a, b| a.path().cmp(b.path()));
        Ok(changes)
    }

    /// Lists the paths that differ between a revision and the work tree, from the top of the repository on:
    /// committed, staged, changed and untracked files, deleted ones, and submodules at another commit.
    ///
    /// A file that moved is listed at both places. What git ignores is not listed.
    ///
    /// # Errors
    /// If git does not answer.
    pub fn changed_paths(&self, old: &Revision) -> Result<Vec<PathBuf>, GitError> {
        let mut args = vec!["diff"];
        args.extend(RAW_FORM);
        // The commit of a submodule counts. Its files do not: they belong to another repository, and git would
        // start once more for it.
        args.extend(["--no-renames", "--ignore-submodules=dirty"]);
        args.extend([old.id.as_str(), "--"]);
        let mut paths: Vec<PathBuf> = listed(&self.output(&args, &[], MAX_LIST_BYTES)?)?
            .iter()
            .map(|change| change.path().to_owned())
            .collect();
        paths.extend(self.untracked(&[":/"])?);
        paths.sort();
        paths.dedup();
        Ok(paths)
    }

    /// Lists the lock files in the index that are links: a change of what they lead to is none of the link.
    ///
    /// # Errors
    /// If git does not answer.
    pub fn linked_locks(&self) -> Result<Vec<PathBuf>, GitError> {
        let mut args = vec!["ls-files", "-z", "--stage", "--full-name", "--"];
        args.extend(LOCK_FILES);
        let output = self.output(&args, &[], MAX_LIST_BYTES)?;
        // `MODE ID STAGE\tPATH`.
        Ok(output
            .split(|byte| *byte == 0)
            .filter(|line| line.starts_with(b"120000 "))
            .filter_map(|line| Some(path_of(line.splitn(2, |byte| *byte == b'\t').nth(1)?)))
            .collect())
    }

    /// Lists the submodules that are at another commit on the two sides.
    ///
    /// # Errors
    /// If git does not answer.
    pub fn moved_submodules(&self, old: &Side, new: &Side) -> Result<Vec<PathBuf>, GitError> {
        let Some(sides) = diff_sides(old, new) else {
            return Ok(Vec::new());
        };
        let mut args = vec!["diff"];
        args.extend(RAW_FORM);
        // The commit of a submodule counts, even if `.gitmodules` ignores it. Its work tree does not.
        args.extend(["--no-renames", "--ignore-submodules=dirty"]);
        args.extend(sides);
        args.push("--");
        let output = self.output(&args, &[], MAX_LIST_BYTES)?;
        Ok(listed(&output)?
            .iter()
            // A side of an unfinished merge that git does not name has the mode 000000, which is no submodule.
            .filter(|change| change.status != Status::Unmerged)
            .filter(|change| {
                let entries = [&change.old, &change.new];
                entries
                    .into_iter()
                    .flatten()
                    .any(|entry| entry.kind == FileKind::Other)
            })
            .map(|change| change.path().to_owned())
            .collect())
    }

    /// Lists the lock files that git tracks, as seen from where the repository was found; none in a bare repository.
    ///
    /// Those of modules that were installed there, and committed with them, are left out.
    ///
    /// # Errors
    /// If git does not answer.
    pub fn tracked_locks(&self) -> Result<Vec<PathBuf>, GitError> {
        let Some(top) = self.top() else {
            return Ok(Vec::new());
        };
        let mut args = vec!["ls-files", "-z", "--full-name", "--"];
        args.extend(LOCK_FILES);
        let output = self.output(&args, &[], MAX_LIST_BYTES)?;
        Ok(own_paths(&output).map(|path| top.join(path)).collect())
    }

    /// Lists the directories of installed packages with files that git tracks, as seen from where the
    /// repository was found. `data_dir` is the directory of the program's own records, relative to a root.
    ///
    /// # Errors
    /// If git does not answer.
    pub fn tracked_packages(&self, data_dir: &Path) -> Result<Vec<PathBuf>, GitError> {
        let (Some(top), Some(name)) = (self.top(), data_dir.to_str()) else {
            return Ok(Vec::new());
        };
        // In the place of either directory there may be a link.
        let dir = format!(":(top,glob)**/{name}");
        let packages = format!("{dir}/providers");
        let files = format!("{packages}/**");
        let args = [
            "ls-files",
            "-z",
            "--full-name",
            "--",
            &dir,
            &packages,
            &files,
        ];
        let output = self.output(&args, &[], MAX_LIST_BYTES)?;
        let mut dirs: Vec<PathBuf> = output
            .split(|byte| *byte == 0)
            .map(path_of)
            .filter_map(|path| {
                let records = path.ancestors().find(|dir| dir.ends_with(data_dir))?;
                let packages = records.join("providers");
                // OpenTofu's installer leaves a lock beside each package: `HOST/NAMESPACE/TYPE/VERSION/OS_ARCH.lock`.
                let is_lock = path
                    .extension()
                    .is_some_and(|extension| extension == "lock")
                    && path
                        .strip_prefix(&packages)
                        .is_ok_and(|below| below.iter().count() == 5);
                let is_package = path == records || path.starts_with(&packages) && !is_lock;
                is_package.then(|| top.join(packages))
            })
            .collect();
        dirs.dedup();
        Ok(dirs)
    }

    /// Lists files that git neither tracks nor ignores; a repository in this one is a single path.
    fn untracked(&self, files: &[&str]) -> Result<Vec<PathBuf>, GitError> {
        let mut args = vec![
            "ls-files",
            "-z",
            "--others",
            "--exclude-standard",
            "--full-name",
            "--",
        ];
        args.extend(files);
        let output = self.output(&args, &[], MAX_LIST_BYTES)?;
        Ok(own_paths(&output).collect())
    }
}

/// Reads a list of paths. A directory of installed modules may hold lock files of their authors, so what is in one is
/// left out.
fn own_paths(output: &[u8]) -> impl Iterator<Item = PathBuf> {
    output
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
        .map(path_of)
        .filter(|path| path.iter().all(|part| part != ".terraform"))
}

impl Change {
    /// Returns where the file is now, or was before it was deleted.
    #[must_use]
    pub fn path(&self) -> &Path {
        let entry = self.new.as_ref().or(self.old.as_ref());
        entry.map_or(Path::new(""), |entry| &entry.path)
    }
}

/// Returns the arguments of `git diff` for two sides.
fn diff_sides<'s>(old: &'s Side, new: &'s Side) -> Option<Vec<&'s str>> {
    match (old, new) {
        (Side::At(old), Side::At(new)) => Some(vec![old.id.as_str(), new.id.as_str()]),
        (Side::At(old), Side::Index) => Some(vec!["--cached", old.id.as_str()]),
        (Side::At(old), Side::WorkTree) => Some(vec![old.id.as_str()]),
        (Side::Index, Side::WorkTree) => Some(Vec::new()),
        // `sides` never makes such a pair, and no command of git compares in this order.
        (Side::Index | Side::WorkTree, _) => None,
    }
}

/// Reads what `git diff --raw -z` lists.
fn listed(output: &[u8]) -> Result<Vec<Change>, GitError> {
    // `:MODE MODE ID ID STATUS\0PATH\0`, behind a rename with a second path.
    let mut fields = output.split(|byte| *byte == 0);
    let mut changes: Vec<Change> = Vec::new();
    while let Some(header) = fields.next().filter(|field| !field.is_empty()) {
        let change = change(header, &mut fields);
        changes.push(change.ok_or(GitError::Unexpected { command: "diff" })?);
    }
    Ok(changes)
}

/// Reads one entry, whose paths are taken from what follows.
pub(super) fn change<'b>(
    header: &[u8],
    fields: &mut impl Iterator<Item = &'b [u8]>,
) -> Option<Change> {
    let header = std::str::from_utf8(header).ok()?.strip_prefix(':')?;
    let mut words = header.split(' ');
    let (old_mode, new_mode) = (words.next()?, words.next()?);
    let (old_id, new_id) = (words.next()?, words.next()?);
    // A number may follow the letter, as in `R086`; `T` is a change of type, as from a file to a link
    // (`git-diff(1)`, raw output format).
    let status = match words.next()?.as_bytes().first()? {
        b'A' => Status::Added,
        b'D' => Status::Deleted,
        b'M' | b'T' => Status::Modified,
        b'R' => Status::Renamed,
        b'U' => Status::Unmerged,
        _ => return None,
    };
    let path = path_of(fields.next()?);
    // Only a rename has two paths.
    let new_path = match status {
        Status::Renamed => path_of(fields.next()?),
        _ => path.clone(),
    };
    let entry = |path, mode, id| TreeEntry {
        path,
        kind: kind_of(mode),
        blob: ObjectId::read(id),
    };
    Some(Change {
        status,
        old: (status != Status::Added).then(|| entry(path, old_mode, old_id)),
        new: (status != Status::Deleted).then(|| entry(new_path, new_mode, new_id)),
    })
}
