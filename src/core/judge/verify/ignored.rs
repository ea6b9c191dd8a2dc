//! A lock file that git ignores.

use super::inputs::{IgnoredLock, RootInputs};
use crate::diag::{Diagnostic, Finding, rules};
use crate::lockfile::FILE_NAME;
use crate::project::IgnoredScope;

/// Reports a lock file, existing or not, that git ignores, so that it is not shared.
#[must_use]
pub(super) fn check(root: &RootInputs<'_>) -> Option<Finding> {
    let IgnoredLock {
        file,
        line,
        shown,
        scope,
    } = root.ignored?;
    let title = format!("git ignores {}", root.lock_path.display());
    // Both programs say of this file that it should be in version control.
    let help = match scope {
        IgnoredScope::File => format!(
            "delete the line {shown}, or add `!{FILE_NAME}` below it; then commit the lock file: without it, \
             every machine selects versions anew and trusts what it downloads first"
        ),
        IgnoredScope::Directory => {
            let lock = root.lock_path.display();
            format!(
                "change the line {shown}, or run `git add --force {lock}`: without it, every machine selects versions \
                 anew and trusts what it downloads first"
            )
        }
    };
    let diagnostic = Diagnostic::warning(rules::LOCK_IGNORED, title)
        .at(*file, *line, "this line matches it")
        .help(help);
    Some(diagnostic.into())
}
