//! Advice on errors of git.

use crate::git::GitError;
use crate::report::Failure;

/// Returns the failure that people read.
pub(crate) fn failure(error: &GitError) -> Failure {
    // `--since` compares files on the disk, so it has no second revision as `diff` has.
    if let GitError::NoRevision { text } = error
        && let Some((since, _)) = text.split_once("..")
        && !since.is_empty()
    {
        return Failure::from_error(error).help(format!(
            "write `{since}...` for the commit where this branch left {since}; the files are those on the disk"
        ));
    }
    let help = match error {
        GitError::NotInstalled => Some("install git"),
        GitError::NoRepository { .. } => Some("name a directory of a repository with -C"),
        GitError::NoRevision { .. } => Some("`git log` and `git branch` list the names that exist"),
        GitError::NoMergeBase { .. } => Some("compare the two directly, with two dots"),
        GitError::Bare => Some("name two revisions"),
        // git ends with 128 after any fatal error, so only its text shows that this is its refusal of
        // repositories of other users (CVE-2022-24765).
        GitError::Failed { message, .. } if message.contains("dubious ownership") => {
            Some("the repository is another user's: see safe.directory in `git help config`")
        }
        GitError::TooSlow { .. } => {
            Some("see that the files of .git are regular files on a disk that answers")
        }
        GitError::NotRun { .. }
        | GitError::TooMuch { .. }
        | GitError::Failed { .. }
        | GitError::Unexpected { .. } => None,
    };
    let failure = Failure::from_error(error);
    match help {
        Some(help) => failure.help(help),
        None => failure,
    }
}

/// Returns the failure of setting git up, which one repository does not need.
pub(crate) fn setup_failure(error: &GitError) -> Failure {
    let failure = failure(error);
    match error {
        GitError::NoRepository { .. } => failure.help("run it in a repository, or use --global"),
        GitError::Bare => failure.help("use --global, or a clone with a work tree"),
        _ => failure,
    }
}
