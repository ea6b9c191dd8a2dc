//! What the project file says about how bad findings are.

use super::Finding;
use crate::diag::{Diagnostic, Severity};
use crate::flavor::Flavor;
use crate::project::{Level, Project};

/// A finding that the project file turned off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnedOff {
    /// The finding.
    pub finding: Finding,
    /// Why it is off, in the words of the project file.
    pub reason: String,
}

/// Gives findings the severity that is stated for them, and takes out those that are turned off.
///
/// What keeps a file from being read stays an error: behind it nothing was judged, and nothing
/// stated could make that good. `faults` are those diagnostics.
#[must_use]
pub fn apply(
    findings: Vec<Finding>,
    faults: &[&Diagnostic],
    project: &Project,
    flavor: Flavor,
) -> (Vec<Finding>, Vec<TurnedOff>) {
    let (mut kept, mut off) = (Vec::new(), Vec::new());
    for mut finding in findings {
        let is_fault =
            finding.diagnostic.severity == Severity::Error && faults.contains(&&finding.diagnostic);
        let code = finding.diagnostic.code;
        let stated = match is_fault {
            true => None,
            false => project.rule(code, finding.provider.as_ref(), flavor),
        };
        match stated.map(|stated| (stated.level, &stated.reason)) {
            Some((Level::Off, reason)) => off.push(TurnedOff {
                finding,
                reason: reason.clone().unwrap_or_default(),
            }),
            Some((Level::As(severity), _)) => {
                finding.diagnostic.severity = severity;
                kept.push(finding);
            }
            None => kept.push(finding),
        }
    }
    (kept, off)
}
