//! What is locked against what is offered.

use std::collections::BTreeSet;

use super::{Query, SelectError, select};
use crate::version::{Operator, Version};

/// The offered versions that matter to a provider.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlook {
    /// The newest release, or a newer pre-release that a constraint names exactly; `None` if there is
    /// neither.
    pub newest: Option<Version>,
    /// The version that the goal leads to, or why there is none.
    pub allowed: Result<Version, Box<SelectError>>,
    /// Whether the locked version is among those that are offered; true if none is locked.
    pub offers_locked: bool,
}

impl Outlook {
    /// Looks through the offered versions.
    #[must_use]
    pub fn of(query: &Query, offered: &[Version]) -> Self {
        let exact = query.constraints.iter();
        let exact = exact.filter(|term| term.operator() == Operator::Exact);
        let named: BTreeSet<&Version> = exact.map(|term| term.version()).collect();
        let counts = |version: &&Version| {
            !version.is_unspecified() && (!version.is_prerelease() || named.contains(version))
        };
        Self {
            newest: offered.iter().filter(counts).max().cloned(),
            allowed: select(query, offered),
            offers_locked: query
                .locked
                .as_ref()
                .is_none_or(|one| offered.contains(one)),
        }
    }
}
