//! Advice on errors of git.

use crate::git::GitError;
use crate::report::Failure;

/// Returns the advice on a clone that has the newest commits only, perhaps without a branch that is wanted.
pub(crate) fn unshallow(branch: Option<&str>) -> String {
    let fetches = match branch {
        Some(branch) => format!(
            "`git fetch --unshallow origin {branch}:refs/remotes/origin/{branch}` fetches it as origin/{branch}"
        ),
        None => "`git fetch --unshallow` fetches the others".to_owned(),
    };
    format!("{fetches}; in a workflow, `fetch-depth: 0` of actions/checkout does")
}

/// Returns the branch that a text may name: no commit, and nothing that is counted from one.
fn branch_of(text: &str) -> Option<&str> {
    let name = text.strip_prefix("origin/").unwrap_or(text);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let is_commit = name.len() >= 4 && name.chars().all(|c| c.is_ascii_hexdigit());
    let may_be_branch =
        name.chars().all(is_plain) && !is_commit && !name.contains("..") && name != "HEAD";
    (may_be_branch && !name.is_empty()).then_some(name)
}

/// Returns the failure that people read.
pub(crate) fn failure(error: &GitError) -> Failure {
    // `--since` compares files on the disk, so it has no second revision as `diff` has.
    if let GitError::NoRevision { text, .. } = error
        && let Some((since, _)) = text.split_once("..")
        && !since.is_empty()
    {
        return Failure::from_error(error).help(format!(
            "write `{since}...` for the commit where this branch left {since}; the files are those on the disk"
        ));
    }
    if let GitError::NoRevision {
        remote_branch: Some(branch),
        ..
    } = error
    {
        return Failure::from_error(error).help(format!(
            "write `{branch}`, the branch of that name in the remote repository"
        ));
    }
    if let GitError::NoRevision { is_shallow, .. } | GitError::NoMergeBase { is_shallow, .. } =
        error
        && *is_shallow
    {
        let branch = match error {
            GitError::NoRevision { text, .. } => branch_of(text),
            _ => None,
        };
        let mut failure = Failure::from_error(error).help(unshallow(branch));
        failure
            .causes
            .push("the clone is shallow: it has the newest commits only".to_owned());
        return failure;
    }
    let help = match error {
        GitError::NotInstalled => Some("install git"),
        GitError::NoRepository { .. } => Some("name a directory of a repository with -C"),
        GitError::NoCommit => Some("commit the files first"),
        GitError::NoRevision { .. } => Some("`git log` and `git branch` list the names that exist"),
        GitError::NoMergeBase { .. } => Some("compare the two directly, with two dots"),
        GitError::Bare => Some("use a clone with a work tree"),
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
