//! Installed packages that git tracks.

use super::inputs::RootInputs;
use crate::diag::{Diagnostic, Finding, Span, rules};

/// Reports installed packages that came with the repository, and not from `init`.
#[must_use]
pub(super) fn check(root: &RootInputs<'_>) -> Option<Finding> {
    let dir = root.tracked_packages?;
    let lock = root.lock?;
    let title = format!("git tracks installed packages in {}", dir.display());
    let remark = "`init` takes them if the recorded hashes fit, and downloads nothing";
    // An attacker who commits a package also writes its `h1:` into the lock file, so that each confirms the
    // other.
    let diagnostic = Diagnostic::warning(rules::PACKAGE_TRACKED, title)
        .at(lock.file, Span::default(), remark)
        .help(format!(
            "remove them with `git rm -r --cached {}`, and let a `.gitignore` name the directory",
            dir.display()
        ));
    Some(diagnostic.into())
}
