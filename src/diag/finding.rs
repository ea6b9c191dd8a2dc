//! A fault together with what it is about.

use super::Diagnostic;
use crate::addr::ProviderAddr;
use crate::platform::Platform;

/// A fault that was found, with the provider and platform that it concerns.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// What, where, and what to do.
    pub diagnostic: Diagnostic,
    /// The provider concerned, if it is one.
    pub provider: Option<ProviderAddr>,
    /// The platform concerned, if it is one.
    pub platform: Option<Platform>,
    /// How many of several things are wrong, if it is about a number.
    pub share: Option<Share>,
}

/// How many of several things something is about, as in `3 of 5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share {
    /// How many it is about.
    pub part: usize,
    /// How many there are.
    pub of: usize,
}

/// A finding that the project file turned off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnedOff {
    /// The finding.
    pub finding: Finding,
    /// Why it is off, in the words of the project file.
    pub reason: String,
}

impl Finding {
    /// Makes a finding about a provider.
    #[must_use]
    pub fn about(provider: &ProviderAddr, diagnostic: Diagnostic) -> Self {
        Self {
            diagnostic,
            provider: Some(provider.clone()),
            platform: None,
            share: None,
        }
    }
}

impl From<Diagnostic> for Finding {
    fn from(diagnostic: Diagnostic) -> Self {
        Self {
            diagnostic,
            provider: None,
            platform: None,
            share: None,
        }
    }
}
