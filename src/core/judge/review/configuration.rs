//! The cause of a change of a lock file in the configuration on both sides.

use std::fmt;

use super::diff::{ChangeKind, ProviderChange};
use crate::addr::ProviderAddr;
use crate::requirement::{Requirement, RequirementOrigin, Requirements, StateSeen};

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
/// Displayed as a clause that follows the causes: no capital letter, no period. A place is the name
/// that [`ConfigurationSides::cause`] was given for it; constraints are empty if it states none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigurationCause {
    /// The entry was removed, and nothing requires the provider.
    NoLongerRequired,
    /// The entry is there, and nothing requires the provider.
    NotRequired,
    /// The entry was removed, and the provider is still required.
    StillRequired {
        /// The name of the first place that requires it.
        place: String,
    },
    /// The provider is required, and was not before.
    NewlyRequired {
        /// The name of the first place that requires it.
        place: String,
    },
    /// The provider is new, and required; what was required before is not known.
    Required {
        /// The name of the first place that requires it.
        place: String,
    },
    /// The configuration states other constraints than before.
    ConstraintsChanged {
        /// The name of the place that states them.
        place: String,
        /// The constraints that it stated before.
        from: String,
        /// The constraints that it states now.
        to: String,
    },
    /// The recorded constraints changed, and the configuration states the same as before.
    ConstraintsUnchanged {
        /// The name of the place that states them.
        place: String,
        /// The constraints before and now.
        constraints: String,
    },
    /// The recorded constraints changed; what the configuration stated before is not known.
    ConstraintsStated {
        /// The name of the place that states them.
        place: String,
        /// The constraints that it states now.
        constraints: String,
    },
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
            return Some(if is_removed {
                ConfigurationCause::NoLongerRequired
            } else {
                ConfigurationCause::NotRequired
            });
        };
        let place = place(now);
        if is_removed {
            return Some(ConfigurationCause::StillRequired { place });
        }
        // The other program has another default registry, so the address may be another one.
        let old_addr = change.before().map_or(addr, |side| &side.addr);
        let Some(old) = self.old.filter(|old| is_known(old, old_addr, now.origin)) else {
            return if change.kinds.contains(&ChangeKind::Added) {
                Some(ConfigurationCause::Required { place })
            } else if constraints_differ {
                let constraints = now.constraints.to_string();
                Some(ConfigurationCause::ConstraintsStated { place, constraints })
            } else {
                None
            };
        };
        let Some(before) = stated(old, old_addr) else {
            return Some(ConfigurationCause::NewlyRequired { place });
        };
        if before.constraints != now.constraints {
            Some(ConfigurationCause::ConstraintsChanged {
                place,
                from: before.constraints.to_string(),
                to: now.constraints.to_string(),
            })
        } else if constraints_differ {
            let constraints = now.constraints.to_string();
            Some(ConfigurationCause::ConstraintsUnchanged { place, constraints })
        } else {
            None
        }
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

impl ConfigurationCause {
    /// Returns it with another name for the place that it names, if it names one.
    #[must_use]
    pub fn at(&self, name: &str) -> Self {
        let mut renamed = self.clone();
        if let Some(place) = renamed.place_mut() {
            name.clone_into(place);
        }
        renamed
    }

    fn place_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::NoLongerRequired | Self::NotRequired => None,
            Self::StillRequired { place }
            | Self::NewlyRequired { place }
            | Self::Required { place }
            | Self::ConstraintsChanged { place, .. }
            | Self::ConstraintsUnchanged { place, .. }
            | Self::ConstraintsStated { place, .. } => Some(place),
        }
    }
}

impl fmt::Display for ConfigurationCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_none = |constraints: &String| match &**constraints {
            "" => "none".to_owned(),
            stated => stated.to_owned(),
        };
        match self {
            Self::NoLongerRequired => f.write_str("the configuration no longer requires it"),
            Self::NotRequired => f.write_str("nothing in the configuration requires it"),
            Self::StillRequired { place } => write!(f, "but {place} still requires it"),
            Self::NewlyRequired { place } => write!(f, "{place} requires it now"),
            Self::Required { place } => write!(f, "{place} requires it"),
            Self::ConstraintsChanged { place, from, to } => {
                let (from, to) = (or_none(from), or_none(to));
                write!(f, "the constraint in {place} changed from {from} to {to}")
            }
            Self::ConstraintsUnchanged { place, constraints } => {
                let constraints = or_none(constraints);
                write!(f, "the constraint in {place} was {constraints} already")
            }
            Self::ConstraintsStated { place, constraints } => {
                write!(f, "the constraint in {place} is {}", or_none(constraints))
            }
        }
    }
}
