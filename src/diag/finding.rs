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
        }
    }
}

impl From<Diagnostic> for Finding {
    fn from(diagnostic: Diagnostic) -> Self {
        Self {
            diagnostic,
            provider: None,
            platform: None,
        }
    }
}
