//! The project file `.lockctl.hcl`: what a team states once instead of typing it, and which
//! directories are roots (rules 1 and 2).
//!
//! `locate` finds the one file that governs a directory, `read` decodes it, `roots` walks over
//! directories, and `calls` decides which of them are roots. A file with any error governs nothing, and
//! work on what it governs must stop.
//!
//! Invariant: names of providers are kept as they are written, because what they mean depends on
//! the flavor of the root at hand; each of them is an address to at least one flavor.

mod audit;
mod calls;
mod git_evidence;
mod ignores;
mod lists;
mod locate;
pub mod memory;
mod names;
pub mod neighbours;
mod packages;
mod patterns;
mod policy;
mod read;
pub mod roots;
pub mod submodules;
#[cfg(test)]
mod tests;
pub mod tool_files;
pub mod units;
pub(super) mod values;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::addr::{Hostname, ProviderAddr, StoreUrl};
use crate::diag::{self, Diagnostic, FileId, Level, Span};
use crate::flavor::{Flavor, FlavorChoice, Program};
use crate::package::{
    ClaimPolicy, FactKey, H1Trust, PlatformsOrigin, WantedPlatforms, WantedSet, calendar,
};
use crate::platform::Platform;

pub use audit::IgnoredAdvisory;
pub use ignores::{IgnoredScope, IgnoringLine, ignoring_line};
pub use locate::{ProjectFile, ProjectPlace, Projects, holds, repository};
pub use memory::RememberedProvider;
pub use packages::{PackageSetting, PackageSource};
pub use patterns::RootPatterns;
pub use policy::{HostList, PinnedKey, Policy, PolicyEntry, PolicyList, PolicyRefusal};

/// The name of the file, in the directory of a root or in one above.
pub const FILE_NAME: &str = ".lockctl.hcl";

/// The time before the end of a setting when a note announces it.
const NOTICE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Maximum size of a project file, in bytes.
pub const MAX_FILE_BYTES: u64 = 256 * 1024;

/// The settings of a project file; the default is what holds without one.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// The wanted platforms; empty if the file states none.
    pub platforms: Vec<PlatformName>,
    /// The program and version whose rules apply.
    pub flavor: FlavorChoice,
    /// Patterns of directories that always are roots.
    pub roots: RootPatterns,
    /// The file of another tool that names more of them.
    pub roots_from: Option<RootsFrom>,
    /// Settings for single providers.
    pub providers: Vec<ProviderSetting>,
    /// Levels that rules have in project files.
    pub rules: Vec<RuleSetting>,
    /// Statements that count as proof.
    pub trust: Trust,
    /// Limits for what may be locked, if the file states any.
    pub policy: Option<Policy>,
    /// The place that packages come from, if the file states any.
    pub packages: Option<PackageSetting>,
    /// The store of facts that machines share, if the file names one.
    pub store: Option<StoreSetting>,
    /// Advisories that `audit` ignores.
    pub ignored_advisories: Vec<IgnoredAdvisory>,
    /// The remote modules of roots are pinned.
    pub pins_modules: bool,
}

/// `roots { from = "…" }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootsFrom {
    /// The path of the file, from the directory of the project file on, with slashes.
    pub path: String,
    /// The place of the path in the file.
    pub place: SettingPlace,
}

/// One element of `platforms`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlatformName {
    /// A platform, which must exist.
    Named(Platform),
    /// The preset `common`, which every release is expected to cover.
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
    /// The provider as it is written.
    pub name: ProviderName,
    /// Its wanted platforms; empty if it has none of its own.
    pub platforms: Vec<PlatformName>,
}

/// `rule "NAME" { … }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleSetting {
    /// The name of a rule in the table of all rules.
    pub rule: &'static str,
    /// The level of its findings.
    pub level: Level,
    /// The reason; never missing where findings are turned off.
    pub reason: Option<String>,
    /// The only provider that it is about, if it is about one.
    pub provider: Option<ProviderName>,
    /// The end of the setting, if it has one.
    pub until: Option<SettingEnd>,
    /// The place of its block in the file.
    pub place: SettingPlace,
}

/// `until = "…"` of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingEnd {
    /// The first moment when the setting does not count any more.
    pub moment: SystemTime,
    /// The place of the day in the file.
    pub place: SettingPlace,
}

/// `trust { … }`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// The `h1:` hashes of registries that are written; `None` for the default of the flavor.
    pub h1: Option<H1Trust>,
    /// Whose claims count, where claims do.
    pub h1_from: Vec<Hostname>,
    /// The place that demands signed packages even where the program accepts unsigned ones; `None`
    /// if there is none.
    pub require_signature: Option<SettingPlace>,
    /// Imported facts may replace a download.
    pub imported_facts: bool,
    /// The memory of the releases of providers.
    pub memory: Vec<RememberedProvider>,
    /// The keys whose signed facts may replace a download.
    pub fact_keys: Vec<FactKey>,
    /// The file with the trusted roots of attestations, from the directory of the project file on.
    pub attestation_roots: Option<PathBuf>,
}

/// `store { … }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreSetting {
    pub url: StoreUrl,
    /// Facts are read and none are added.
    pub read_only: bool,
}

impl Trust {
    /// Returns what is remembered of the releases of a provider.
    #[must_use]
    pub fn remembered(
        &self,
        provider: &ProviderAddr,
        flavor: Flavor,
    ) -> Option<&RememberedProvider> {
        self.memory
            .iter()
            .find(|known| known.provider.means(provider, flavor))
    }

    /// Returns which `h1:` are written that nothing proves.
    #[must_use]
    pub fn claims(&self, flavor: Flavor) -> ClaimPolicy {
        // OpenTofu's `init` writes the `h1:` hashes that its registry states, without proof.
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

/// The place of a value in a project file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingPlace {
    /// The project file that holds it.
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
/// use lockctl_core::{diag::Texts, project};
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
        self.providers
            .iter()
            .find(|setting| setting.name.means(provider, flavor))
            .map_or(&[], |setting| &setting.platforms)
    }

    /// Returns the platforms that are wanted for some providers: those that are stated, else the common
    /// ones.
    #[must_use]
    pub fn wanted_platforms(&self, providers: &[&ProviderAddr], flavor: Flavor) -> WantedPlatforms {
        let own = providers.iter().filter_map(|provider| {
            let names = self.platforms_of(provider, flavor);
            (!names.is_empty()).then(|| ((*provider).clone(), PlatformName::wanted(names)))
        });
        let mut wanted = WantedPlatforms {
            own: own.collect(),
            every: match &*self.platforms {
                [] => PlatformName::wanted(&[PlatformName::Common]),
                names => PlatformName::wanted(names),
            },
            are_usual: true,
            origin: match &*self.platforms {
                [] => PlatformsOrigin::Default,
                _ => PlatformsOrigin::ProjectFile,
            },
        };
        self.require_platforms(&mut wanted);
        wanted
    }

    /// Adds the platforms that the policy requires.
    pub fn require_platforms(&self, wanted: &mut WantedPlatforms) {
        if let Some(policy) = &self.policy
            && !policy.platforms.is_empty()
        {
            wanted.require(PlatformName::wanted(&policy.platforms));
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
        let exempt = || self.policy.iter().flat_map(|policy| &policy.exempt);
        let settings = || {
            let all = exempt().chain(&self.rules);
            all.filter(|setting| setting.rule == rule)
        };
        settings()
            .find(|setting| {
                let pair = setting.provider.as_ref().zip(provider);
                pair.is_some_and(|(name, provider)| name.means(provider, flavor))
            })
            .or_else(|| settings().find(|setting| setting.provider.is_none()))
    }
}

impl Project {
    /// Removes the settings of rules that have ended; returns notes about them, and about those that end
    /// within 30 days.
    pub fn end_settings(&mut self, now: SystemTime) -> Vec<Diagnostic> {
        let mut notes = Vec::new();
        let mut has_not_ended = |setting: &RuleSetting| {
            let Some(SettingEnd { moment, place }) = setting.until else {
                return true;
            };
            let has_ended = moment <= now;
            // The findings come back on a certain day; a note before it leaves time to fix them.
            if has_ended || moment <= now + NOTICE {
                let (title, help) = if has_ended {
                    (
                        "Rule setting has ended",
                        "delete the block, or write a later day",
                    )
                } else {
                    (
                        "Rule setting ends soon",
                        "fix the findings, or write a later day",
                    )
                };
                let level = match setting.level {
                    Level::Off => "off",
                    Level::As(severity) => severity.name(),
                };
                let verb = if has_ended { "was" } else { "is" };
                let remark = format!(
                    "{} {verb} {level:?} until {} (UTC), {}",
                    setting.rule,
                    calendar::day(moment),
                    calendar::ago(moment, now)
                );
                let note = Diagnostic::note(diag::rules::PROJECT_ODD, title);
                notes.push(note.at(place.file, place.span, remark).help(help));
            }
            !has_ended
        };
        self.rules.retain(&mut has_not_ended);
        if let Some(policy) = &mut self.policy {
            policy.exempt.retain(has_not_ended);
        }
        notes
    }
}

impl ProviderName {
    /// Takes a text that is an address to at least one flavor.
    fn new(text: &str) -> Option<Self> {
        let meanings: Vec<_> = Flavor::ALL
            .into_iter()
            .filter_map(|flavor| Some((flavor, ProviderAddr::parse(text, flavor).ok()?)))
            .collect();
        (!meanings.is_empty()).then(|| Self {
            text: text.to_owned(),
            meanings,
        })
    }

    /// Returns the provider as it is written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the provider that is meant, by the rules of a flavor; `None` if the text is no address
    /// there.
    #[must_use]
    pub fn meaning(&self, flavor: Flavor) -> Option<&ProviderAddr> {
        self.meanings
            .iter()
            .find(|(reader, _)| *reader == flavor)
            .map(|(_, addr)| addr)
    }

    /// Returns true if a provider is meant, by the rules of a flavor.
    #[must_use]
    pub fn means(&self, provider: &ProviderAddr, flavor: Flavor) -> bool {
        self.meaning(flavor) == Some(provider)
    }

    /// Returns true if both mean the same provider to some flavor.
    fn overlaps(&self, other: &Self) -> bool {
        self.meanings
            .iter()
            .any(|meaning| other.meanings.contains(meaning))
    }
}
