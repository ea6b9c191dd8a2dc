//! The comparison of a provider release with a database of advisories.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::module_path::on_github;
use super::range::RangePlace;
use super::{Advisory, AdvisoryDatabase, AuditLevel, GoModulePath, GoVersion, ModuleSelection};
use crate::addr::ProviderAddr;
use crate::contents::{BuildInfo, BuiltModule};
use crate::version::Version;

/// The registries whose namespaces are GitHub accounts.
const GITHUB_REGISTRIES: [&str; 2] = ["registry.terraform.io", "registry.opentofu.org"];

/// The name of the standard library in the Go vulnerability database.
const STANDARD_LIBRARY: &str = "stdlib";

/// A locked release with the known builds of its packages.
#[derive(Clone, Copy, Debug)]
pub struct AuditedRelease<'a> {
    /// The provider, with its registry.
    pub provider: &'a ProviderAddr,
    /// The version that is locked.
    pub version: &'a Version,
    /// The known build information of its packages.
    pub builds: &'a [&'a BuildInfo],
}

/// An advisory that concerns a release, or may do so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdvisoryMatch {
    /// The advisory to show: the first of several about the same vulnerability.
    pub advisory: Arc<Advisory>,
    /// Identifiers of the same vulnerability, those of other advisories included, sorted.
    pub aliases: Vec<String>,
    /// The most important level that it applies to.
    pub level: AuditLevel,
    /// The verdict on the release.
    pub verdict: MatchVerdict,
    /// The module, as the advisory spells it.
    pub module: String,
    /// The compared version of the module; for the standard library, the version of Go.
    pub version: String,
    /// The version that fixes it, if there is one.
    pub fixed: Option<GoVersion>,
}

/// The verdict on a release by an advisory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchVerdict {
    /// The release may or may not be affected.
    Unknown(UnknownReason),
    /// The release is affected.
    Affected,
}

/// The reason why a verdict is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnknownReason {
    /// The program was built from another module than the provider address suggests.
    OtherModule,
    /// The provider address does not show which module the program was built from.
    Module,
    /// The version cannot be compared with those of the advisory.
    Version,
}

impl AuditedRelease<'_> {
    /// Adds the modules that advisories are needed for.
    pub fn select(&self, selection: &mut ModuleSelection) {
        match self.suggested() {
            Some(base) => selection.add_base(&base),
            // An address on another registry suggests no module, so all modules named after the type are needed
            // (rules 3.1).
            None => selection.add_type(self.provider.type_name()),
        }
        // Without a build there is no version of Go to compare, so these advisories are not needed.
        if !self.builds.is_empty() {
            selection.add_base(STANDARD_LIBRARY);
        }
        for build in self.builds {
            for module in build.main.iter().chain(&build.deps) {
                selection.add_base(GoModulePath::new(built_as(module).0).base());
            }
        }
    }

    /// Returns the base of the module that the address suggests.
    fn suggested(&self) -> Option<String> {
        let host = self.provider.hostname().ascii();
        GITHUB_REGISTRIES
            .contains(&host)
            .then(|| on_github(self.provider.namespace(), self.provider.type_name()))
    }
}

/// Returns the path and the version of the compiled source: those of the replacement, if there is one.
fn built_as(module: &BuiltModule) -> (&str, &str) {
    match &module.replacement {
        Some(other) if GoVersion::parse(&other.version).is_some() => (&other.path, &other.version),
        // A directory on the build machine has no version; Go writes `(devel)`. The module keeps its own path.
        Some(other) => (&module.path, &other.version),
        None => (&module.path, &module.version),
    }
}

/// Finds the advisories that concern a release, each vulnerability once: the most important level first, then by
/// identifier.
pub fn audit(release: AuditedRelease<'_>, database: &AdvisoryDatabase) -> Vec<AdvisoryMatch> {
    let mut matches = Matches::default();
    // Versions of lock files and of Go are both semantic versions.
    if let Some(version) = GoVersion::parse(&release.version.to_string()) {
        for build in release.builds {
            provider(release, &version, Some(build), database, &mut matches);
        }
        // Without builds, the address still suggests a module.
        if release.builds.is_empty() {
            provider(release, &version, None, database, &mut matches);
        }
    }
    for build in release.builds {
        standard_library(build, database, &mut matches);
        for module in &build.deps {
            dependency(module, database, &mut matches);
        }
    }
    matches.in_order()
}

/// Finds the advisories about the module of the provider.
fn provider(
    release: AuditedRelease<'_>,
    version: &GoVersion,
    build: Option<&BuildInfo>,
    database: &AdvisoryDatabase,
    matches: &mut Matches,
) {
    let main = build
        .and_then(|build| build.main.as_ref())
        .map(|main| GoModulePath::new(&main.path))
        .filter(GoModulePath::has_host);
    let suggested = release.suggested();
    let type_name = release.provider.type_name().to_lowercase();
    // Each base, with the reason why it may not be the module of the program.
    let mut candidates: Vec<(&str, Option<UnknownReason>)> = Vec::new();
    match (&main, &suggested) {
        (Some(main), Some(suggested)) if main.base() != suggested => {
            candidates.push((main.base(), None));
            // A fork that renamed its module still contains the code of the original.
            candidates.push((suggested, Some(UnknownReason::OtherModule)));
        }
        (Some(main), _) => candidates.push((main.base(), None)),
        (None, Some(suggested)) => candidates.push((suggested, None)),
        (None, None) => {
            let bases: BTreeSet<&str> = database
                .about_type(&type_name)
                .iter()
                .flat_map(|advisory| {
                    advisory
                        .modules
                        .iter()
                        .map(|module| &module.path)
                        .filter(|path| path.provider_type() == Some(&*type_name))
                })
                .map(GoModulePath::base)
                .collect();
            candidates.extend(
                bases
                    .into_iter()
                    .map(|base| (base, Some(UnknownReason::Module))),
            );
        }
    }
    for (base, doubt) in candidates {
        for advisory in database.about(base) {
            for module in &advisory.modules {
                let is_about = module.path.base() == base;
                if !is_about || !module.covers(advisory, version, main.as_ref()) {
                    continue;
                }
                let place = module.judge_release(version, build);
                let shown = version.to_string();
                let found = (AuditLevel::Provider, module.path.as_str(), shown);
                matches.add(advisory, found, place, doubt);
            }
        }
    }
}

fn standard_library(build: &BuildInfo, database: &AdvisoryDatabase, matches: &mut Matches) {
    let version = GoVersion::of_go(&build.go_version);
    let shown = build.go_version.split(' ').next().unwrap_or_default();
    for advisory in database.about(STANDARD_LIBRARY) {
        for module in &advisory.modules {
            if module.path.base() != STANDARD_LIBRARY {
                continue;
            }
            let place = match &version {
                Some(version) => module.judge_module(version),
                None => RangePlace::Unknown,
            };
            let found = (
                AuditLevel::StandardLibrary,
                STANDARD_LIBRARY,
                shown.to_owned(),
            );
            matches.add(advisory, found, place, None);
        }
    }
}

fn dependency(built: &BuiltModule, database: &AdvisoryDatabase, matches: &mut Matches) {
    let (path, version) = built_as(built);
    let path = GoModulePath::new(path);
    for advisory in database.about(path.base()) {
        for module in &advisory.modules {
            // In Go, paths with different suffixes are different modules, so the whole path must be the same.
            if !module.path.is_same(&path) {
                continue;
            }
            // A replacement by a directory has no version, and `(devel)` is not a version (rules 3.4).
            let place = match GoVersion::parse(version) {
                Some(version) => module.judge_module(&version),
                None => RangePlace::Unknown,
            };
            let shown = version.strip_prefix('v').unwrap_or(version).to_owned();
            let found = (AuditLevel::Dependency, module.path.as_str(), shown);
            matches.add(advisory, found, place, None);
        }
    }
}

/// The matches of a release, by the identifier of their advisory.
#[derive(Default)]
struct Matches(BTreeMap<String, AdvisoryMatch>);

impl Matches {
    fn add(
        &mut self,
        advisory: &Arc<Advisory>,
        (level, module, version): (AuditLevel, &str, String),
        place: RangePlace,
        doubt: Option<UnknownReason>,
    ) {
        let (verdict, fixed) = match (place, doubt) {
            (RangePlace::Outside, _) => return,
            (RangePlace::Inside(fixed), None) => (MatchVerdict::Affected, fixed),
            (RangePlace::Inside(fixed), Some(why)) => (MatchVerdict::Unknown(why), fixed),
            // The doubt about the module takes precedence: a version that can be compared would not remove it.
            (RangePlace::Unknown, doubt) => {
                let why = doubt.unwrap_or(UnknownReason::Version);
                (MatchVerdict::Unknown(why), None)
            }
        };
        let found = AdvisoryMatch {
            advisory: Arc::clone(advisory),
            aliases: advisory.aliases.clone(),
            level,
            verdict,
            module: module.to_owned(),
            version,
            fixed,
        };
        match self.0.get_mut(&advisory.id) {
            Some(before) => before.take_better(found),
            None => {
                self.0.insert(advisory.id.clone(), found);
            }
        }
    }

    /// Lists each vulnerability once: advisories that share an identifier or an alias are about the same one.
    fn in_order(self) -> Vec<AdvisoryMatch> {
        let mut all: Vec<Option<AdvisoryMatch>> = Vec::new();
        let mut by_name: BTreeMap<String, usize> = BTreeMap::new();
        // Identifiers of the Go database come before those of its sources (`CVE-`, `GHSA-`).
        let (own, foreign): (Vec<_>, Vec<_>) = self
            .0
            .into_values()
            .partition(|found| found.advisory.id.starts_with("GO-"));
        for mut found in own.into_iter().chain(foreign) {
            let names = || std::iter::once(&found.advisory.id).chain(&found.aliases);
            let same: BTreeSet<usize> = names()
                .filter_map(|name| by_name.get(name).copied())
                .collect();
            let names: Vec<String> = names().cloned().collect();
            let mut same = same.into_iter();
            let at = match same.next() {
                None => {
                    all.push(Some(found));
                    all.len() - 1
                }
                Some(first) => {
                    // The advisory may connect several groups that had no name in common.
                    for other in same {
                        if let Some(other) = all[other].take() {
                            found.absorb(other);
                        }
                    }
                    if let Some(first) = &mut all[first] {
                        first.absorb(found);
                    }
                    first
                }
            };
            let joined = all[at]
                .iter()
                .flat_map(|found| found.aliases.iter().cloned());
            // Includes the names of absorbed advisories: otherwise a later advisory with one of them would be listed
            // again.
            for name in names.into_iter().chain(joined) {
                by_name.insert(name, at);
            }
        }
        let mut all = Vec::from_iter(all.into_iter().flatten());
        all.sort_by(|left, right| {
            let by_level = right.level.cmp(&left.level);
            by_level.then_with(|| left.advisory.id.cmp(&right.advisory.id))
        });
        all
    }
}

impl AdvisoryMatch {
    /// Keeps the more important of two matches: by certainty, then by level, then by the later fix.
    fn take_better(&mut self, other: Self) {
        let rank = |found: &Self| (found.verdict == MatchVerdict::Affected, found.level);
        // Aliases belong to the vulnerability and not to a match, so they are kept in either case.
        let aliases = std::mem::take(&mut self.aliases);
        if rank(&other) > rank(self) {
            *self = Self { aliases, ..other };
            return;
        }
        self.aliases = aliases;
        if rank(&other) == rank(self) && other.fixed.is_some() && self.fixed < other.fixed {
            self.fixed = other.fixed;
        }
    }

    /// Adds the names of another advisory about the same vulnerability, and takes its verdict if that ranks higher.
    fn absorb(&mut self, other: Self) {
        // `take_better` may replace the whole match, but the first advisory is the one to show (rules 5.2).
        let advisory = Arc::clone(&self.advisory);
        self.aliases.push(other.advisory.id.clone());
        self.aliases.extend(other.aliases.iter().cloned());
        self.aliases.retain(|alias| *alias != advisory.id);
        self.aliases.sort();
        self.aliases.dedup();
        self.take_better(other);
        self.advisory = advisory;
    }
}
