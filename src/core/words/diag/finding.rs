//! A fault together with the provider and platform that it is about.

use std::sync::Arc;

use super::Diagnostic;
use crate::addr::ProviderAddr;
use crate::platform::Platform;

/// A fault that was found, with the provider and platform that it concerns.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The fault, with its place and help.
    pub diagnostic: Diagnostic,
    /// The provider concerned, if it is one.
    pub provider: Option<ProviderAddr>,
    /// The platform concerned, if it is one.
    pub platform: Option<Platform>,
    /// The part of several things that is wrong, if it is about a number.
    pub share: Option<Share>,
    /// The platforms to state in the project file, if that is the only way to answer the finding.
    pub statable: Option<Vec<Platform>>,
    /// The advisory that the finding is about, if it is about one.
    pub advisory: Option<Arc<NamedAdvisory>>,
}

/// An advisory, as formats for programs describe it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedAdvisory {
    /// The identifier, of letters, digits and dashes.
    pub id: String,
    /// The vulnerability in one sentence; may be empty.
    pub summary: String,
    /// Identifiers of the same vulnerability in other databases.
    pub aliases: Vec<String>,
    /// The page of the advisory; empty if none is known.
    pub url: String,
}

/// A part of several things, as in `3 of 5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share {
    /// The number of things that it is about.
    pub part: usize,
    /// The number of all things.
    pub of: usize,
}

/// A finding that the project file turned off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnedOff {
    /// The finding as it would be reported.
    pub finding: Finding,
    /// The reason, in the words of the project file.
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
            statable: None,
            advisory: None,
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
            statable: None,
            advisory: None,
        }
    }
}
