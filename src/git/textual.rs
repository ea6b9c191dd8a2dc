//! Merging as git does it: what its configuration says, its line by line merge, its index.

use std::path::Path;

use super::error::GitError;
use super::repository::{MAX_LIST_BYTES, Repository};
use crate::world::Run;

/// How git marks conflicts in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marking<'a> {
    /// How many characters a marker has.
    pub size: usize,
    /// The labels of the markers of ours, the base and theirs.
    pub labels: [&'a str; 3],
    /// Whether the base is shown.
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
    let ended = Repository::anywhere(run, Path::new(".")).git(&args, &[], limit)?;
    match ended.code {
        // So many conflicts.
        Some(0..=127) => Ok(ended.stdout),
        _ => Err(GitError::failed("merge-file", &ended)),
    }
}

/// Returns whether the configuration of git says that conflicts show the base; `false` where git
/// cannot be run.
#[must_use]
pub fn wants_base(run: &dyn Run, dir: &Path) -> bool {
    let asked = Repository::anywhere(run, dir);
    let said = asked.setting(None, "merge.conflictStyle");
    said.is_ok_and(|style| style.is_some_and(|style| style != "merge"))
}

/// Returns what both sides of an unfinished merge of a file started from, as the index has it.
///
/// Nothing is known where there is no such merge, no repository or no git.
#[must_use]
pub fn base_of(run: &dyn Run, dir: &Path, name: &str, limit: u64) -> Option<Vec<u8>> {
    let asked = Repository::anywhere(run, dir);
    let object = format!(":1:./{name}");
    asked
        .output(&["cat-file", "blob", &object], &[], limit)
        .ok()
}

/// Returns whether a merge of a file is not finished, as the index has it; `false` where git cannot be
/// run, or there is no repository.
#[must_use]
pub fn is_unmerged(run: &dyn Run, dir: &Path, name: &str) -> bool {
    let asked = Repository::anywhere(run, dir);
    let args = ["ls-files", "--unmerged", "--", name];
    let listed = asked.output(&args, &[], MAX_LIST_BYTES);
    listed.is_ok_and(|lines| !lines.is_empty())
}
