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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{FileId, Span, rules};
    use crate::project::{RuleSetting, SettingPlace};

    /// Checks the findings that are reported and those that are turned off, of a rule that is on by default and of one
    /// that is not.
    #[track_caller]
    fn check(level: Option<Level>, reported: &[(&str, Severity)], turned_off: &[&str]) {
        let codes = [rules::PLATFORMS_INCOMPLETE, rules::VERSIONS_DIFFER];
        let setting = |rule, level| RuleSetting {
            rule,
            level,
            reason: Some("because".to_owned()),
            provider: None,
            until: None,
            place: SettingPlace {
                file: FileId::ALONE,
                span: Span::default(),
            },
        };
        let project = Project {
            rules: codes
                .iter()
                .filter_map(|rule| Some(setting(*rule, level?)))
                .collect(),
            ..Project::default()
        };
        let findings = codes.map(|code| Diagnostic::note(code, "a title").into());
        let (kept, off) = apply(findings.into(), &[], &project, Flavor::Terraform1_16);
        let kept: Vec<_> = kept
            .iter()
            .map(|finding| (finding.diagnostic.code, finding.diagnostic.severity))
            .collect();
        assert_eq!(kept, reported);
        let off: Vec<_> = off
            .iter()
            .map(|off| (off.finding.diagnostic.code, &*off.reason))
            .collect();
        let turned_off: Vec<_> = turned_off.iter().map(|code| (*code, "because")).collect();
        assert_eq!(off, turned_off);
    }

    #[test]
    fn a_rule_that_is_off_by_default_needs_a_stated_level() {
        let (on, off) = (rules::PLATFORMS_INCOMPLETE, rules::VERSIONS_DIFFER);
        check(None, &[(on, Severity::Note)], &[]);
        let error = Severity::Error;
        check(Some(Level::As(error)), &[(on, error), (off, error)], &[]);
        check(Some(Level::Off), &[], &[on, off]);
    }
}
