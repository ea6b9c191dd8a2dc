//! What a text names: a commit, a tree, two of them.

use super::error::GitError;
use super::objects::ObjectId;
use super::repository::{MAX_LIST_BYTES, Repository};

/// A commit or a tree, with the text that named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// What was given, as in `main`.
    pub text: String,
    /// Its name.
    pub id: ObjectId,
    /// What it is.
    pub kind: RevisionKind,
}

/// What a revision is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevisionKind {
    /// A commit: it has ancestors.
    Commit,
    /// Only a tree.
    Tree,
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Side {
    /// The files at a revision.
    At(Revision),
    /// What the next commit will hold.
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
    /// If it names nothing, or nothing that holds files.
    pub fn revision(&self, text: &str) -> Result<Revision, GitError> {
        let nothing = || GitError::NoRevision {
            text: text.to_owned(),
        };
        if text.is_empty() || text.starts_with('-') || text.contains(['\0', '\n']) {
            return Err(nothing());
        }
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
            let said = String::from_utf8_lossy(&ended.stdout);
            if let (Some(0), Some(id)) = (ended.code, ObjectId::read(said.trim_end())) {
                let text = text.to_owned();
                return Ok(Revision { text, id, kind });
            }
        }
        Err(nothing())
    }

    /// Finds the two sides of a comparison as `git diff` does.
    ///
    /// `A` is compared with the work tree, `A..B` means A and B, `A...B` means B and where it
    /// branched off A; a side left out is `HEAD`.
    ///
    /// # Errors
    /// If something names nothing, if there is no work tree, if two sides have no commit in common.
    pub fn sides(&self, text: &str) -> Result<(Side, Side), GitError> {
        let or_head = |text: &str| self.revision(if text.is_empty() { "HEAD" } else { text });
        if !text.contains("..") {
            let old = self.revision(text)?;
            return match self.top() {
                Some(_) => Ok((Side::At(old), Side::WorkTree)),
                None => Err(GitError::Bare),
            };
        }
        if let Some((one, other)) = text.split_once("...") {
            let (one, other) = (or_head(one)?, or_head(other)?);
            let base = self.merge_base(&one, &other)?;
            return Ok((Side::At(base), Side::At(other)));
        }
        let (one, other) = text.split_once("..").unwrap_or((text, ""));
        Ok((Side::At(or_head(one)?), Side::At(or_head(other)?)))
    }

    /// Finds the newest commit that two commits have in common.
    ///
    /// # Errors
    /// If there is none.
    pub fn merge_base(&self, one: &Revision, other: &Revision) -> Result<Revision, GitError> {
        let args = ["merge-base", one.id.as_str(), other.id.as_str()];
        let ended = self.git(&args, &[], MAX_LIST_BYTES)?;
        let said = String::from_utf8_lossy(&ended.stdout);
        match (ended.code, said.lines().next().and_then(ObjectId::read)) {
            (Some(0), Some(id)) => Ok(Revision {
                text: format!("{}...{}", one.text, other.text),
                id,
                kind: RevisionKind::Commit,
            }),
            (Some(1), _) => Err(GitError::NoMergeBase {
                one: one.text.clone(),
                other: other.text.clone(),
            }),
            _ => Err(GitError::failed("merge-base", &ended)),
        }
    }
}
