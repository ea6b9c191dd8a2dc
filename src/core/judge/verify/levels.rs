//! The levels that a project file states for findings.

pub use crate::diag::TurnedOff;
use crate::diag::{self, Diagnostic, Finding, Level, Severity};
use crate::flavor::Flavor;
use crate::project::Project;

/// Gives findings the severity that is stated for them, and takes out those that are turned off.
///
/// Those of rules that are off by default are reported only if a level is stated for them. `faults` are the
/// diagnostics that keep a file from being read; they stay errors.
#[must_use]
pub fn apply(
    findings: Vec<Finding>,
    faults: &[&Diagnostic],
    project: &Project,
    flavor: Flavor,
) -> (Vec<Finding>, Vec<TurnedOff>) {
    let (mut kept, mut off) = (Vec::new(), Vec::new());
    for mut finding in findings {
        let Diagnostic { code, severity, .. } = finding.diagnostic;
        let is_fault = severity == Severity::Error && faults.contains(&&finding.diagnostic);
        // Nothing behind such a fault was judged, so a lower level would hide unknown findings.
        if is_fault {
            kept.push(finding);
            continue;
        }
        match project.rule(code, finding.provider.as_ref(), flavor) {
            Some(stated) => match stated.level {
                Level::Off => {
                    let reason = stated.reason.clone().unwrap_or_default();
                    off.push(TurnedOff { finding, reason });
                }
                Level::As(severity) => {
                    finding.diagnostic.severity = severity;
                    kept.push(finding);
                }
            },
            // No project file asks for it.
            None if diag::named(code).level() == Level::Off => {}
            // A finding may be less severe than its rule, as for entries that nothing visible requires.
            None => kept.push(finding),
        }
    }
    (kept, off)
}
