//! The cause of a change of a lock file in the configuration on both sides.

use std::fmt;

use super::diff::{ChangeKind, ProviderChange};
use crate::addr::ProviderAddr;
use crate::requirement::{Requirement, RequirementOrigin, Requirements, StateSeen};
use crate::version::Constraints;

/// The requirements on both sides of a change.
#[derive(Clone, Copy, Debug)]
pub struct ConfigurationSides<'a> {
    /// The requirements before, if they are known and may differ from those now.
    pub old: Option<&'a Requirements>,
    /// The requirements now, which are known.
    pub new: &'a Requirements,
}

/// The cause of a change in the configuration.
///
/// Displayed as a clause that follows the causes: no capital letter, no period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigurationCause {
    /// The name of the first place that requires the provider, as [`ConfigurationSides::cause`] was given it; empty if
    /// the clause names none.
    pub place: String,
    /// The clause before and behind the name of the place.
    clause: [String; 2],
    /// The constraints in the configuration before and now, if they differ.
    pub changed: Option<[Constraints; 2]>,
}

impl ConfigurationCause {
    fn new(place: &str, [before, after]: [&str; 2]) -> Self {
        Self {
            place: place.to_owned(),
            clause: [before.to_owned(), after.to_owned()],
            changed: None,
        }
    }

    /// Returns it with another name for the place that it names, if it names one.
    #[must_use]
    pub fn at(&self, name: &str) -> Self {
        let mut renamed = self.clone();
        if !self.place.is_empty() {
            name.clone_into(&mut renamed.place);
        }
        renamed
    }
}

impl fmt::Display for ConfigurationCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [before, after] = &self.clause;
        write!(f, "{before}{}{after}", self.place)
    }
}

impl ConfigurationSides<'_> {
    /// Finds the cause of a change in the configuration; `place` names where a requirement is written.
    ///
    /// Of several places that require a provider the first with constraints counts. There is no cause
    /// for a provider that only a module which could not be read may require.
    pub fn cause(
        &self,
        change: &ProviderChange,
        place: impl Fn(&Requirement) -> String,
    ) -> Option<ConfigurationCause> {
        let addr = change.addr();
        let is_removed = change.kinds.contains(&ChangeKind::Removed);
        let constraints_differ = change.kinds.contains(&ChangeKind::ConstraintsChanged);
        let Some(now) = stated(self.new, addr) else {
            // A module that could not be read may require it.
            if !self.new.unseen_calls.is_empty() {
                return None;
            }
            let clause = if is_removed {
                "the configuration no longer requires it"
            } else {
                "nothing in the configuration requires it"
            };
            return Some(ConfigurationCause::new("", [clause, ""]));
        };
        let place = place(now);
        if is_removed {
            return Some(ConfigurationCause::new(
                &place,
                ["but ", " still requires it"],
            ));
        }
        // The other program has another default registry, so the address may be another one.
        let old_addr = change.before().map_or(addr, |side| &side.addr);
        let stated_now = or_none(&now.constraints);
        let Some(old) = self.old.filter(|old| is_known(old, old_addr, now.origin)) else {
            return if change.kinds.contains(&ChangeKind::Added) {
                Some(ConfigurationCause::new(&place, ["", " requires it"]))
            } else if constraints_differ {
                let clause = ["the constraint in ", &format!(" is {stated_now}")];
                Some(ConfigurationCause::new(&place, clause))
            } else {
                None
            };
        };
        let Some(before) = stated(old, old_addr) else {
            return Some(ConfigurationCause::new(&place, ["", " requires it now"]));
        };
        if before.constraints != now.constraints {
            let stated_before = or_none(&before.constraints);
            let moved = format!(" changed from {stated_before} to {stated_now}");
            Some(ConfigurationCause {
                changed: Some(
                    [&before.constraints, &now.constraints].map(|stated| (**stated).clone()),
                ),
                ..ConfigurationCause::new(&place, ["the constraint in ", &moved])
            })
        } else if constraints_differ {
            let clause = ["the constraint in ", &format!(" was {stated_now} already")];
            Some(ConfigurationCause::new(&place, clause))
        } else {
            None
        }
    }
}

fn or_none(constraints: &Constraints) -> String {
    if constraints.is_empty() {
        "none".to_owned()
    } else {
        constraints.to_string()
    }
}

/// Returns true if it is known whether these requirements name a provider that is required elsewhere now.
///
/// Otherwise it may be a module in a submodule, or a state that is not committed, that required it already.
fn is_known(
    requirements: &Requirements,
    addr: &ProviderAddr,
    origin_now: RequirementOrigin,
) -> bool {
    let is_state_missing =
        origin_now == RequirementOrigin::State && requirements.state != StateSeen::Yes;
    requirements.providers.contains_key(addr)
        || (requirements.unseen_calls.is_empty() && !is_state_missing)
}

/// Returns the first requirement of a provider that has constraints, else the first.
fn stated<'r>(requirements: &'r Requirements, addr: &ProviderAddr) -> Option<&'r Requirement> {
    let places = requirements.providers.get(addr)?;
    places
        .iter()
        .find(|place| !place.constraints.is_empty())
        .or_else(|| places.first())
}
