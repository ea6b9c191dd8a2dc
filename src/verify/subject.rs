//! A lock file with what it is compared with.

use crate::addr::ProviderAddr;
use crate::diag::{FileId, RootCommand, Span};
use crate::flavor::Flavor;
use crate::lockfile::{Document, Places};
use crate::requirement::{Requirements, StateSeen};

/// The lock file that is checked.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The lock file as it was read.
    pub document: &'a Document,
    /// Its text.
    pub file: FileId,
    /// Whose rules apply.
    pub flavor: Flavor,
    /// What the configuration requires, if it could be read.
    pub requirements: Option<&'a Requirements>,
    /// Commands to be named in advice.
    pub advice: &'a Advice,
}

/// Commands as they would be typed for the root at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The one that locks it.
    pub lock: RootCommand,
    /// The one that moves all of its versions; a provider behind it moves alone.
    pub update: RootCommand,
    /// The one that checks it.
    pub verify: RootCommand,
    /// The one that brings its lock file into canonical form.
    pub fmt: RootCommand,
}

/// What to do about an entry that nothing visible requires.
const LEFT_OVER: &str = "neither configuration nor state requires the provider: `lockctl lock` drops the \
     entry, and so does init";

/// What is said of such an entry if the state cannot be seen.
const LEFT_ALONE: &str = "no configuration requires the provider, but the state may: `lockctl lock` keeps \
     the entry; if the state does not need it, init removes it";

impl Advice {
    /// Returns the commands as they would be typed in the directory of the root itself.
    #[must_use]
    pub fn here() -> Self {
        Self {
            lock: RootCommand::new("lockctl lock"),
            update: RootCommand::new("lockctl update"),
            verify: RootCommand::new("lockctl verify"),
            fmt: RootCommand::new("lockctl fmt"),
        }
    }
}

impl Advice {
    /// Returns the same commands, of which those for all roots are taken from `all`.
    #[must_use]
    pub fn among(&self, all: &Self) -> Self {
        let among = |command: &RootCommand, all: &RootCommand| RootCommand {
            for_root: command.for_root.clone(),
            for_all: all.for_all.clone(),
        };
        Self {
            lock: among(&self.lock, &all.lock),
            update: among(&self.update, &all.update),
            verify: among(&self.verify, &all.verify),
            fmt: among(&self.fmt, &all.fmt),
        }
    }
}

impl Subject<'_> {
    /// Says what becomes of an entry that is known to be required by nothing that `lock` sees: it
    /// stands there for a state that cannot be seen, or it is left over.
    pub(super) fn left_over(&self, provider: &ProviderAddr) -> Option<&'static str> {
        let requirements = self.requirements?;
        let seen = requirements.unseen_calls.is_empty();
        if !seen || requirements.providers.contains_key(provider) {
            return None;
        }
        Some(match requirements.state {
            StateSeen::No => LEFT_ALONE,
            StateSeen::Yes | StateSeen::LeftOut => LEFT_OVER,
        })
    }

    /// Returns where an entry begins; the start of the file if it has none.
    pub(super) fn header(&self, provider: &ProviderAddr) -> Span {
        self.places(provider)
            .map_or_else(Span::default, |places| places.header)
    }

    /// Returns where the hashes of an entry stand; its beginning if it has none.
    pub(super) fn hashes(&self, provider: &ProviderAddr) -> Span {
        let hashes = self.places(provider).and_then(|places| places.hashes);
        hashes.unwrap_or_else(|| self.header(provider))
    }

    /// Returns where the version of an entry stands.
    pub(super) fn version(&self, provider: &ProviderAddr) -> Span {
        self.places(provider)
            .map_or_else(Span::default, |places| places.version)
    }

    pub(super) fn places(&self, provider: &ProviderAddr) -> Option<&Places> {
        self.document.places.get(provider)
    }
}
