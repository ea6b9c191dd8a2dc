//! The constraints of modules on the program itself, against its stated version.

use super::inputs::RootInputs;
use crate::diag::{Diagnostic, Finding, rules};
use crate::flavor::FlavorChoice;
use crate::version::Version;

/// Reports each `required_version` that the stated version of the program does not meet; nothing
/// where no version is stated.
///
/// It is a warning: `init` fails, but to `lockctl` the version makes no difference.
pub(super) fn check(root: &RootInputs<'_>) -> Vec<Finding> {
    let FlavorChoice::Stated(stated) = root.choice else {
        return Vec::new();
    };
    let Some((major, minor)) = stated.version else {
        return Vec::new();
    };
    let program = stated.flavor.program();
    let mut findings = Vec::new();
    for required in root
        .configuration
        .iter()
        .flat_map(|read| &read.core_versions)
    {
        let (is_met, shown) = match stated.patch {
            // A program checks its own version without suffixes (`version` rules 6.5).
            Some(patch) => {
                let version = Version::release(major, minor, patch);
                (required.constraints.allows(&version), version.to_string())
            }
            // Some patch release of the stated minor version may meet it, and then nothing is wrong.
            None => (
                required.constraints.allows_some(major, minor),
                format!("{major}.{minor}"),
            ),
        };
        // Also constraints of modules deep in the tree: `init` checks all of them.
        if is_met {
            continue;
        }
        let title = format!("{program} {shown} does not meet a version constraint of a module");
        let note = format!(
            "`{} init` fails: {}",
            stated.flavor.command(),
            stated.flavor.unmet_core_title()
        );
        let help = match root.version_file {
            Some(path) => format!(
                "change the constraint, or the version in {}",
                path.display()
            ),
            None => format!(
                "change the constraint, or state the version that you run with --flavor or as `flavor` in {}",
                root.project_file
            ),
        };
        let diagnostic = Diagnostic::warning(rules::CORE_VERSION_UNMET, title)
            .at(required.file, required.span, note)
            .help(help);
        findings.push(Finding::from(diagnostic));
    }
    findings
}
