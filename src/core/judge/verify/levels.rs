//! The levels that a project file states for findings.

pub use crate::diag::TurnedOff;
use crate::diag::{self, Diagnostic, Finding, Level, Severity};
use crate::flavor::Flavor;
use crate::project::{Project, RuleSetting};

/// The treatment of a finding.
#[derive(Debug, PartialEq, Eq)]
enum FindingFate {
    Reported(Severity),
    /// The project file turned it off, for this reason.
    TurnedOff(String),
    /// No project file asks for it.
    NotAsked,
}

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
        let fate = if is_fault {
            FindingFate::Reported(severity)
        } else {
            let stated = project.rule(code, finding.provider.as_ref(), flavor);
            fate(severity, diag::named(code).level(), stated)
        };
        match fate {
            FindingFate::Reported(severity) => {
                finding.diagnostic.severity = severity;
                kept.push(finding);
            }
            FindingFate::TurnedOff(reason) => off.push(TurnedOff { finding, reason }),
            FindingFate::NotAsked => {}
        }
    }
    (kept, off)
}

/// Decides about a finding of a severity, of a rule with that level by default.
fn fate(severity: Severity, default: Level, stated: Option<&RuleSetting>) -> FindingFate {
    match (stated, default) {
        (Some(stated), _) => match stated.level {
            Level::Off => FindingFate::TurnedOff(stated.reason.clone().unwrap_or_default()),
            Level::As(severity) => FindingFate::Reported(severity),
        },
        (None, Level::Off) => FindingFate::NotAsked,
        // A finding may be less severe than its rule, as for entries that nothing visible requires.
        (None, Level::As(_)) => FindingFate::Reported(severity),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{FileId, Span};
    use crate::project::SettingPlace;
    use Severity::{Error, Note, Warning};

    fn stated(level: Level) -> RuleSetting {
        RuleSetting {
            rule: "platforms-incomplete",
            level,
            reason: Some("because".to_owned()),
            provider: None,
            until: None,
            place: SettingPlace {
                file: FileId::ALONE,
                span: Span::default(),
            },
        }
    }

    #[test]
    fn what_is_off_by_default_waits_for_a_word() {
        let on = Level::As(Warning);
        assert_eq!(fate(Note, on, None), FindingFate::Reported(Note));
        assert_eq!(fate(Note, Level::Off, None), FindingFate::NotAsked);
        for default in [on, Level::Off] {
            let stricter = stated(Level::As(Error));
            assert_eq!(
                fate(Note, default, Some(&stricter)),
                FindingFate::Reported(Error)
            );
            let off = fate(Note, default, Some(&stated(Level::Off)));
            assert_eq!(off, FindingFate::TurnedOff("because".to_owned()));
        }
    }
}
