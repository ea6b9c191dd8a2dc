//! The project file `.lockctl.hcl`: what a team states once instead of typing it, and which
//! directories are roots (rules 1 and 2).
//!
//! `locate` finds the one file that governs a directory, `read` decodes it, `roots` walks over
//! directories. A file with any error governs nothing, and work on what it governs must stop.
//!
//! Invariant: names of providers are kept as they are written, because what they mean depends on
//! the flavor of the root at hand; each of them is an address to at least one flavor.

mod ignores;
mod lists;
mod locate;
pub mod neighbours;
mod patterns;
mod read;
pub mod roots;
pub mod submodules;
#[cfg(test)]
mod tests;
mod values;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

use crate::addr::{Hostname, ProviderAddr};
use crate::diag::{Diagnostic, FileId, Level, Span};
use crate::flavor::{Flavor, FlavorChoice, Program};
use crate::package::{
    AgePolicy, ClaimPolicy, H1Trust, KeyId, MinAge, Undated, WantedPlatforms, WantedSet,
};
use crate::platform::Platform;

pub use locate::{ProjectFile, ProjectPlace, Projects, repository};
pub use patterns::RootPatterns;

/// The name of the file, in the directory of a root or in one above.
pub const FILE_NAME: &str = ".lockctl.hcl";

/// How large a project file may be, in bytes.
pub const MAX_FILE_BYTES: u64 = 256 * 1024;

/// What a project file states; the default is what holds without one.
#[derive(Clone, Debug)]
pub struct Project {
    /// The wanted platforms; empty if the file states none.
    pub platforms: Vec<PlatformName>,
    /// Whose rules apply.
    pub flavor: FlavorChoice,
    /// Which directories are roots whatever is in them.
    pub roots: RootPatterns,
    /// The file of another tool that names more of them.
    pub roots_from: Option<RootsFrom>,
    /// What is stated about single providers.
    pub providers: Vec<ProviderSetting>,
    /// How bad findings are.
    pub rules: Vec<RuleSetting>,
    /// Which statements count.
    pub trust: Trust,
    /// What may be locked at all, if the file states it.
    pub policy: Option<Policy>,
}

/// `roots { from = "…" }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootsFrom {
    /// The path of the file, from the directory of the project file on, with slashes.
    pub path: String,
    /// Where that is stated.
    pub place: Place,
}

/// One element of `platforms`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlatformName {
    /// A platform, which must exist.
    Named(Platform),
    /// The preset `common`.
    Common,
}

/// A provider as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderName {
    text: String,
    // What it means to each flavor that takes it for an address. Invariant: to at least one.
    meanings: Vec<(Flavor, ProviderAddr)>,
}

/// `provider "ADDR" { … }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderSetting {
    /// Which one.
    pub name: ProviderName,
    /// Its wanted platforms; empty if it has none of its own.
    pub platforms: Vec<PlatformName>,
}

/// `rule "NAME" { … }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleSetting {
    /// The name of a rule in the table of all rules.
    pub rule: &'static str,
    /// What becomes of its findings.
    pub level: Level,
    /// Why; never missing where findings are turned off.
    pub reason: Option<String>,
    /// The only provider that it is about, if it is about one.
    pub provider: Option<ProviderName>,
}

/// `trust { … }`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// Which `h1:` of registries are written; `None` for the default of the flavor.
    pub h1: Option<H1Trust>,
    /// Whose claims count, where claims do.
    pub h1_from: Vec<Hostname>,
    /// Where it is stated that packages must be signed even where the program accepts unsigned ones;
    /// `None` if it is not.
    pub require_signature: Option<Place>,
    /// Whether facts that others computed stand for a download.
    pub imported_facts: bool,
}

impl Trust {
    /// Returns which `h1:` are written that nothing proves. OpenTofu's `init` writes what its registry
    /// states, so that is the default by its rules.
    #[must_use]
    pub fn claims(&self, flavor: Flavor) -> ClaimPolicy {
        let usual = if flavor.is_opentofu() {
            H1Trust::AsTofu
        } else {
            H1Trust::Proven
        };
        let stating = Flavor::newest(Program::OpenTofu).default_host();
        let from = match &*self.h1_from {
            // The only public registry that states hashes.
            [] => stating.parse().into_iter().collect(),
            stated => stated.to_vec(),
        };
        ClaimPolicy {
            h1: self.h1.unwrap_or(usual),
            from,
        }
    }
}

/// `policy { … }`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// The providers that may be locked; `None` if any may.
    pub allow: Option<Allow>,
    /// The only key that may sign the releases of a provider.
    pub keys: Vec<PinnedKey>,
    /// How old a release must be.
    pub min_age: Option<MinAge>,
    /// What becomes of a release without any date.
    pub undated: Undated,
}

/// `allow = […]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allow {
    /// Patterns of providers, as written: each is one to at least one flavor.
    pub patterns: Vec<String>,
    /// Where that is stated.
    pub place: Place,
}

/// `provider "ADDR" { key_id = "…" }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinnedKey {
    /// Whose releases it signs.
    pub provider: ProviderName,
    /// The key.
    pub key: KeyId,
    /// Where that is stated.
    pub place: Place,
}

/// Where something is stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The project file.
    pub file: FileId,
    /// The value in it.
    pub span: Span,
}

/// Reads a project file.
///
/// Returns what was understood, and every problem in the order of its place. With an error among
/// them, nothing of it should be used.
///
/// ```
/// use lockctl::{diag::Texts, project};
///
/// let text = b"platforms = [\"linux_amd64\"]\nplatfroms = []\n";
/// let file = Texts::default().add(".lockctl.hcl", text.to_vec());
/// let (project, problems) = project::parse(file, text);
/// assert_eq!(project.platforms.len(), 1);
/// assert_eq!(problems[0].help, Some("did you mean platforms?".into()));
/// ```
#[must_use]
pub fn parse(file: FileId, bytes: &[u8]) -> (Project, Vec<Diagnostic>) {
    read::read(file, bytes)
}

impl Default for Project {
    fn default() -> Self {
        Self {
            platforms: Vec::new(),
            flavor: FlavorChoice::Auto,
            roots: RootPatterns::default(),
            roots_from: None,
            providers: Vec::new(),
            rules: Vec::new(),
            trust: Trust::default(),
            policy: None,
        }
    }
}

impl PlatformName {
    /// Returns what a list of names asks for.
    #[must_use]
    pub fn wanted(names: &[Self]) -> WantedSet {
        let mut wanted = WantedSet::default();
        for name in names {
            match name {
                Self::Named(platform) => wanted.named.push(platform.clone()),
                Self::Common => wanted.preset = Platform::common(),
            }
        }
        wanted
    }
}

impl Project {
    /// Returns the platforms that are stated for a provider alone; empty if none are.
    #[must_use]
    pub fn platforms_of(&self, provider: &ProviderAddr, flavor: Flavor) -> &[PlatformName] {
        let mut settings = self.providers.iter();
        let own = settings.find(|setting| setting.name.means(provider, flavor));
        own.map_or(&[], |own| &own.platforms)
    }

    /// Returns the platforms that are wanted for some providers: those that are stated, else the common
    /// ones.
    #[must_use]
    pub fn wanted_platforms(&self, providers: &[&ProviderAddr], flavor: Flavor) -> WantedPlatforms {
        let own = providers.iter().filter_map(|provider| {
            let names = self.platforms_of(provider, flavor);
            (!names.is_empty()).then(|| ((*provider).clone(), PlatformName::wanted(names)))
        });
        WantedPlatforms {
            own: own.collect(),
            every: match &*self.platforms {
                [] => PlatformName::wanted(&[PlatformName::Common]),
                names => PlatformName::wanted(names),
            },
            are_usual: true,
        }
    }

    /// Finds what is stated about the findings of a rule: about one provider, before what is about
    /// all.
    #[must_use]
    pub fn rule(
        &self,
        rule: &str,
        provider: Option<&ProviderAddr>,
        flavor: Flavor,
    ) -> Option<&RuleSetting> {
        let own = || self.rules.iter().filter(|setting| setting.rule == rule);
        let narrow = own().find(|setting| {
            let pair = setting.provider.as_ref().zip(provider);
            pair.is_some_and(|(name, provider)| name.means(provider, flavor))
        });
        narrow.or_else(|| own().find(|setting| setting.provider.is_none()))
    }
}

impl Policy {
    /// Returns how old a release must be, if that matters.
    #[must_use]
    pub fn age(&self) -> Option<AgePolicy> {
        AgePolicy::new(self.min_age?, self.undated)
    }
}

impl ProviderName {
    /// Takes a text that is an address to at least one flavor.
    fn new(text: &str) -> Option<Self> {
        let meaning = |flavor| Some((flavor, ProviderAddr::parse(text, flavor).ok()?));
        let meanings: Vec<_> = Flavor::ALL.into_iter().filter_map(meaning).collect();
        (!meanings.is_empty()).then(|| Self {
            text: text.to_owned(),
            meanings,
        })
    }

    /// Returns the text as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the provider that is meant, by the rules of a flavor; `None` if the text is no address
    /// there.
    #[must_use]
    pub fn meaning(&self, flavor: Flavor) -> Option<&ProviderAddr> {
        let mut own = self.meanings.iter();
        own.find(|(to, _)| *to == flavor).map(|(_, own)| own)
    }

    /// Returns whether a provider is meant, by the rules of a flavor.
    #[must_use]
    pub fn means(&self, provider: &ProviderAddr, flavor: Flavor) -> bool {
        self.meaning(flavor) == Some(provider)
    }

    /// Returns whether both mean the same provider to some flavor.
    fn overlaps(&self, other: &Self) -> bool {
        let mut own = self.meanings.iter();
        own.any(|meaning| other.meanings.contains(meaning))
    }
}

impl PlatformName {
    /// Returns the platforms that are meant.
    #[must_use]
    pub fn platforms(&self) -> Vec<Platform> {
        match self {
            Self::Named(platform) => vec![platform.clone()],
            Self::Common => Platform::common(),
        }
    }
}
