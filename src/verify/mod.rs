//! The lock file against everything it must fit: findings, each with a rule, a place and the
//! command that mends it.
//!
//! All checks are pure but for [`packages`], which hashes what lies on this machine. They take
//! [`Requirements`](crate::requirement::Requirements) as a value and know nothing of how
//! configuration is read.

pub mod configuration;
pub mod file;
pub mod packages;
pub mod platforms;

use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, FileId, Span};
use crate::flavor::Flavor;
use crate::lockfile::{Document, Places};
use crate::platform::Platform;

/// A fault that `verify` found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What, where, and what to do.
    pub diagnostic: Diagnostic,
    /// The provider concerned, if it is one.
    pub provider: Option<ProviderAddr>,
    /// The platform concerned, if it is one.
    pub platform: Option<Platform>,
}

/// The lock file that is checked.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The lock file as it was read.
    pub document: &'a Document,
    /// Its text.
    pub file: FileId,
    /// Whose rules apply.
    pub flavor: Flavor,
    /// The command that locks this root, to be named in advice.
    pub lock_command: &'a str,
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

impl Subject<'_> {
    /// Returns where an entry begins; the start of the file if it has none.
    fn header(&self, provider: &ProviderAddr) -> Span {
        self.places(provider)
            .map_or_else(Span::default, |places| places.header)
    }

    /// Returns where the version of an entry stands.
    fn version(&self, provider: &ProviderAddr) -> Span {
        self.places(provider)
            .map_or_else(Span::default, |places| places.version)
    }

    fn places(&self, provider: &ProviderAddr) -> Option<&Places> {
        self.document.places.get(provider)
    }
}
