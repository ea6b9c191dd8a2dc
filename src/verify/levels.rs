//! What the project file says about how bad findings are.

pub use crate::diag::TurnedOff;
use crate::diag::{self, Diagnostic, Finding, Level, Severity};
use crate::flavor::Flavor;
use crate::project::{Project, RuleSetting};

/// What becomes of a finding.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    Reported(Severity),
    /// The project file turned it off, for this reason.
    TurnedOff(String),
    /// No project file asks for it.
    NotAsked,
}

/// Gives findings the severity that is stated for them, and takes out those that are turned off.
///
/// Those of rules that are off by default are reported only if something is stated about them. What
/// keeps a file from being read stays an error: behind it nothing was judged, and nothing
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
        let own = finding.diagnostic.severity;
        let is_fault = own == Severity::Error && faults.contains(&&finding.diagnostic);
        let code = finding.diagnostic.code;
        let fate = if is_fault {
            Fate::Reported(own)
        } else {
            let stated = project.rule(code, finding.provider.as_ref(), flavor);
            fate(own, diag::named(code).level(), stated)
        };
        match fate {
            Fate::Reported(severity) => {
                finding.diagnostic.severity = severity;
                kept.push(finding);
            }
            Fate::TurnedOff(reason) => off.push(TurnedOff { finding, reason }),
            Fate::NotAsked => {}
        }
    }
    (kept, off)
}

/// Decides about a finding that is as bad as `own` by itself, of a rule with that level by default.
fn fate(own: Severity, default: Level, stated: Option<&RuleSetting>) -> Fate {
    match (stated, default) {
        (Some(stated), _) => match stated.level {
            Level::Off => Fate::TurnedOff(stated.reason.clone().unwrap_or_default()),
            Level::As(severity) => Fate::Reported(severity),
        },
        (None, Level::Off) => Fate::NotAsked,
        // A rule may find what is less bad than usual.
        (None, Level::As(_)) => Fate::Reported(own),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Severity::{Error, Note, Warning};

    fn stated(level: Level) -> RuleSetting {
        RuleSetting {
            rule: "platforms-incomplete",
            level,
            reason: Some("because".to_owned()),
            provider: None,
        }
    }

    #[test]
    fn what_is_off_by_default_waits_for_a_word() {
        let on = Level::As(Warning);
        assert_eq!(fate(Note, on, None), Fate::Reported(Note));
        assert_eq!(fate(Note, Level::Off, None), Fate::NotAsked);
        for default in [on, Level::Off] {
            let stricter = stated(Level::As(Error));
            assert_eq!(fate(Note, default, Some(&stricter)), Fate::Reported(Error));
            let off = fate(Note, default, Some(&stated(Level::Off)));
            assert_eq!(off, Fate::TurnedOff("because".to_owned()));
        }
    }
}
