//! Merging as git does it: what its configuration says, its line by line merge, its index.

use std::path::Path;

use super::error::GitError;
use super::repository::{MAX_LIST_BYTES, Repository};
use crate::world::Run;

/// The format of conflict markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marking<'a> {
    /// Length of a marker, in characters.
    pub size: usize,
    /// The labels of the markers of ours, the base and theirs.
    pub labels: [&'a str; 3],
    /// The base is shown between the sides.
    pub shows_base: bool,
}

/// Merges the files ours, base and theirs line by line and returns the text; none of them is
/// written, and there need be no repository.
///
/// # Errors
/// If git is not installed, or cannot merge them; if the text has more than `limit` bytes.
pub fn merge_file(
    run: &dyn Run,
    files: [&Path; 3],
    marking: &Marking<'_>,
    limit: u64,
) -> Result<Vec<u8>, GitError> {
    let size = format!("--marker-size={}", marking.size);
    let mut args = vec!["merge-file", "-p", "-q", &size];
    for label in marking.labels {
        args.extend(["-L", label]);
    }
    if marking.shows_base {
        args.push("--diff3");
    }
    args.push("--");
    let paths = files.map(|path| path.to_str().map(str::to_owned));
    for path in &paths {
        let unnamed = GitError::Unexpected {
            command: "merge-file",
        };
        args.push(path.as_deref().ok_or(unnamed)?);
    }
    let ended = Repository::anywhere(run, Path::new(".")).git_for_file(&args, limit)?;
    match ended.code {
        // The exit code is the number of conflicts; more than 127 count as 127 (`git-merge-file(1)`).
        Some(0..=127) => Ok(ended.stdout),
        _ => Err(GitError::failed("merge-file", &ended)),
    }
}

/// Returns whether the configuration of git says that conflicts show the base; `false` where git
/// cannot be run.
#[must_use]
pub fn wants_base(run: &dyn Run, dir: &Path) -> bool {
    let style = Repository::anywhere(run, dir).setting(None, "merge.conflictStyle");
    style.is_ok_and(|style| style.is_some_and(|style| style != "merge"))
}

/// Returns what both sides of an unfinished merge of a file started from, as the index has it.
///
/// Nothing is known where there is no such merge, no repository or no git.
#[must_use]
pub fn base_of(run: &dyn Run, dir: &Path, name: &str, limit: u64) -> Option<Vec<u8>> {
    // Stage 1 of the index is the base of a merge (`gitrevisions(7)`).
    let object = format!(":1:./{name}");
    let args = ["cat-file", "blob", &object];
    Repository::anywhere(run, dir)
        .output_of_file(&args, limit)
        .ok()
}

/// Returns whether a merge of a file is not finished, as the index has it; `false` where git cannot be
/// run, or there is no repository.
#[must_use]
pub fn is_unmerged(run: &dyn Run, dir: &Path, name: &str) -> bool {
    let args = ["ls-files", "--unmerged", "--", name];
    let listed = Repository::anywhere(run, dir).output_of_file(&args, MAX_LIST_BYTES);
    listed.is_ok_and(|lines| !lines.is_empty())
}
