//! Revisions: a commit, a tree, two of them, by the text that names them.

use super::error::GitError;
use super::objects::ObjectId;
use super::repository::{MAX_LIST_BYTES, Repository};
use crate::world::Ended;

/// A commit or a tree, with the text that named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// The text that was typed, as in `main`.
    pub text: String,
    /// The full name of the object.
    pub id: ObjectId,
    /// The type of the object.
    pub kind: RevisionKind,
}

/// The type of object that a revision is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevisionKind {
    /// A commit: it has ancestors.
    Commit,
    /// A tree: it has no ancestors.
    Tree,
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Side {
    /// The files at a revision.
    At(Revision),
    /// The content of the next commit.
    Index,
    /// The files on disk, untracked ones too unless git ignores them.
    WorkTree,
}

impl Repository<'_> {
    /// Finds what a text names: a commit (tags are followed), else a tree.
    ///
    /// The text may be anything: one that begins like an option names nothing.
    ///
    /// # Errors
    /// If it names nothing, or nothing that holds files; of `HEAD`, if the branch has no commit.
    pub fn revision(&self, text: &str) -> Result<Revision, GitError> {
        let nothing = |remote_branch| GitError::NoRevision {
            text: text.to_owned(),
            remote_branch,
            is_shallow: self.is_shallow(),
        };
        // `--end-of-options` came late to `rev-parse`; a text that looks like an option never gets there.
        if text.is_empty() || text.starts_with('-') || text.contains(['\0', '\n']) {
            return Err(nothing(None));
        }
        // `^{…}` follows a tag to what it names.
        for (suffix, kind) in [
            ("^{commit}", RevisionKind::Commit),
            ("^{tree}", RevisionKind::Tree),
        ] {
            let name = format!("{text}{suffix}");
            let args = [
                "rev-parse",
                "--verify",
                "--quiet",
                "--end-of-options",
                &name,
            ];
            let ended = self.git(&args, &[], MAX_LIST_BYTES)?;
            let output = String::from_utf8_lossy(&ended.stdout);
            if let (Some(0), Some(id)) = (ended.code, ObjectId::read(output.trim_end())) {
                let text = text.to_owned();
                return Ok(Revision { text, id, kind });
            }
        }
        // `HEAD` always names the current branch, so only a commit can be missing.
        if text == "HEAD" {
            return Err(GitError::NoCommit);
        }
        Err(nothing(self.remote_branch(text)?))
    }

    /// Returns the branch of a remote repository that has this name.
    fn remote_branch(&self, name: &str) -> Result<Option<String>, GitError> {
        // In a pattern these characters match other names.
        if name.contains(['*', '?', '[', '\\']) {
            return Ok(None);
        }
        // A clone of a workflow has no branch of its own except the current one.
        let pattern = format!("refs/remotes/*/{name}");
        let args = [
            "for-each-ref",
            "--count=1",
            "--format=%(refname:short)",
            &pattern,
        ];
        let ended = self.git(&args, &[], MAX_LIST_BYTES)?;
        let found = String::from_utf8_lossy(&ended.stdout).trim_end().to_owned();
        Ok(Some(found).filter(|found| !found.is_empty()))
    }

    /// Returns the full name of the current branch, as in `refs/heads/main`; `None` if `HEAD` is detached.
    ///
    /// # Errors
    /// If git cannot read `HEAD`, or the name is not UTF-8.
    pub fn branch(&self) -> Result<Option<String>, GitError> {
        let ended = self.git(&["symbolic-ref", "--quiet", "HEAD"], &[], MAX_LIST_BYTES)?;
        // With `--quiet` git exits with 1 for a detached `HEAD` (git-symbolic-ref(1)).
        if ended.code == Some(1) {
            return Ok(None);
        }
        let text = output_of("symbolic-ref", ended)?;
        Ok(Some(text.trim_end().to_owned()))
    }

    /// Returns the time of a commit, in seconds since 1970.
    ///
    /// # Errors
    /// If the repository does not hold the commit, or the commit has no valid time.
    pub fn commit_time(&self, commit: &ObjectId) -> Result<u64, GitError> {
        let args = ["log", "--no-walk", "--format=%ct", commit.as_str(), "--"];
        let text = output_of("log", self.git(&args, &[], MAX_LIST_BYTES)?)?;
        let unexpected = GitError::Unexpected { command: "log" };
        text.trim_end().parse().map_err(|_| unexpected)
    }

    /// Finds the revision that the work tree is compared with: `A`, or `A...`, which is where `HEAD` branched
    /// off A.
    ///
    /// # Errors
    /// If it names nothing, or something that has no commit in common with `HEAD`.
    pub fn since(&self, text: &str) -> Result<Revision, GitError> {
        let Some(branch) = text.strip_suffix("...") else {
            return self.revision(text);
        };
        match self.sides(&format!("{branch}...HEAD"))? {
            (Side::At(base), _) => Ok(base),
            _ => self.revision(branch),
        }
    }

    /// Finds the two sides of a comparison as `git diff` does.
    ///
    /// `A` is compared with the work tree, `A..B` means A and B, `A...B` means B and where it
    /// branched off A; a side left out is `HEAD`.
    ///
    /// # Errors
    /// If something names nothing, if there is no work tree, if two sides have no commit in common.
    pub fn sides(&self, text: &str) -> Result<(Side, Side), GitError> {
        // As for git, an empty side of `A..` or `...B` is HEAD (gitrevisions(7)).
        let or_head = |text: &str| self.revision(if text.is_empty() { "HEAD" } else { text });
        if !text.contains("..") {
            let old = self.revision(text)?;
            return match self.top() {
                Some(_) => Ok((Side::At(old), Side::WorkTree)),
                None => Err(GitError::Bare),
            };
        }
        if let Some((old, new)) = text.split_once("...") {
            let (old, new) = (or_head(old)?, or_head(new)?);
            let args = ["merge-base", old.id.as_str(), new.id.as_str()];
            let ended = self.git(&args, &[], MAX_LIST_BYTES)?;
            let output = String::from_utf8_lossy(&ended.stdout);
            // git prints the newest commit that both have in common, or ends with 1 if there is none.
            let id = match (ended.code, output.lines().next().and_then(ObjectId::read)) {
                (Some(0), Some(id)) => id,
                (Some(1), _) => {
                    let (old, new) = (old.text, new.text);
                    return Err(GitError::NoMergeBase {
                        old,
                        new,
                        is_shallow: self.is_shallow(),
                    });
                }
                _ => return Err(GitError::failed("merge-base", &ended)),
            };
            let base = Revision {
                text: format!("{}...{}", old.text, new.text),
                id,
                kind: RevisionKind::Commit,
            };
            return Ok((Side::At(base), Side::At(new)));
        }
        let (old, new) = text.split_once("..").unwrap_or((text, ""));
        Ok((Side::At(or_head(old)?), Side::At(or_head(new)?)))
    }
}

/// Returns the text that a command printed.
fn output_of(command: &'static str, ended: Ended) -> Result<String, GitError> {
    if ended.code != Some(0) {
        return Err(GitError::failed(command, &ended));
    }
    String::from_utf8(ended.stdout).map_err(|_| GitError::Unexpected { command })
}
