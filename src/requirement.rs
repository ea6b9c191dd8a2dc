//! What a configuration requires.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::addr::ProviderAddr;
use crate::diag::{FileId, Span};
use crate::version::Constraints;

/// What the modules of one root require.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Requirements {
    /// Every required provider with each place that requires it, built-in ones included.
    pub providers: BTreeMap<ProviderAddr, Vec<Requirement>>,
    /// Module calls whose module could not be read, in the order they were met.
    pub unseen_calls: Vec<UnseenCall>,
    /// Whether the state was read for providers that only it needs.
    pub state: StateSeen,
    /// Something in the configuration was not read or is wrong, so that requirements may be missing
    /// or different: not to be locked or judged by.
    pub faulty: bool,
}

/// One place that requires a provider.
///
/// A module that many calls share gives one of these for each of them, so what may be long is
/// shared, too.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// The conditions stated there; empty if there are none.
    pub constraints: Arc<Constraints>,
    /// Calls from the root to the module it stands in; empty for the root.
    pub module: Arc<[String]>,
    /// What kind of place it is.
    pub origin: Origin,
    /// The file.
    pub file: FileId,
    /// The bytes to show: the constraint where there is one, else what requires the provider.
    pub span: Span,
}

/// What kind of place requires a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// An entry of `required_providers`.
    RequiredProviders,
    /// A `provider` block.
    ProviderBlock,
    /// A resource, data source or other block of the configuration, by its type or `provider`.
    Implied,
}

/// A module call, as it is written, whose module could not be read.
#[derive(Clone, Debug, PartialEq)]
pub struct UnseenCall {
    /// Calls from the root to this one, its own name last; for a call of a test run the path of the
    /// test file from the root on, and the name of the run. The first one, if there are several.
    pub module: Vec<String>,
    /// How many ways from the root lead to this call.
    pub ways: usize,
    /// The source as written, or why there is none.
    pub source: String,
    /// The file.
    pub file: FileId,
    /// The source argument, or the call.
    pub span: Span,
}

/// Whether the state was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StateSeen {
    /// Nobody looked, so entries that only the state needs are unknown.
    #[default]
    No,
    /// It was read, or there is none.
    Yes,
}

impl Requirements {
    /// Returns the union of all conditions on a provider: what a lock file records.
    #[must_use]
    pub fn constraints(&self, provider: &ProviderAddr) -> Constraints {
        let places = self.providers.get(provider).map_or(&[][..], Vec::as_slice);
        // What a module states is shared by all calls to it, and is looked at once.
        let written: BTreeMap<*const Constraints, &Constraints> = places
            .iter()
            .map(|place| (Arc::as_ptr(&place.constraints), &*place.constraints))
            .collect();
        let all = written.into_values().cloned();
        all.reduce(Constraints::union).unwrap_or_default()
    }

    /// Tells whether everything that may require a provider was seen.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.faulty && self.unseen_calls.is_empty() && self.state == StateSeen::Yes
    }
}
