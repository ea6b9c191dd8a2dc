//! The locked version of a provider against the offered ones.

use std::collections::BTreeSet;

use super::{ProviderQuery, SelectError, select};
use crate::version::{Operator, Version};

/// The offered versions that matter to a provider.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlook {
    /// The newest release, or a newer pre-release that a constraint names exactly; `None` if there is
    /// neither.
    pub newest: Option<Version>,
    /// The version that the goal leads to, or the reason why there is none.
    pub allowed: Result<Version, Box<SelectError>>,
    /// The locked version is among those that are offered; true if none is locked.
    pub offers_locked: bool,
}

impl Outlook {
    /// Looks through the offered versions.
    #[must_use]
    pub fn of(query: &ProviderQuery, offered: &[Version]) -> Self {
        let named: BTreeSet<&Version> = query
            .constraints
            .iter()
            .filter(|term| term.operator() == Operator::Exact)
            .map(|term| term.version())
            .collect();
        let counts = |version: &&Version| {
            // A pre-release counts only if a constraint names it exactly (`version` rules 5.2).
            !version.is_unspecified() && (!version.is_prerelease() || named.contains(version))
        };
        Self {
            newest: offered.iter().filter(counts).max().cloned(),
            allowed: select(query, offered),
            offers_locked: query
                .locked
                .as_ref()
                .is_none_or(|locked| offered.contains(locked)),
        }
    }
}
