//! Advisories in the Open Source Vulnerability format (<https://ossf.github.io/osv-schema/>).

use serde::Deserialize;

use super::index::is_advisory_id;
use super::{GoModulePath, GoVersion, RangeEvent, VersionRange};

/// Maximum size of an advisory, in bytes. The largest one of the Go vulnerability database has 13 KB.
pub const MAX_ADVISORY_BYTES: u64 = 1024 * 1024;

/// Maximum number of modules in an advisory.
pub const MAX_MODULES: usize = 1000;

/// Maximum number of events and versions in an advisory.
pub const MAX_EVENTS: usize = 10_000;

/// Maximum number of aliases that are kept for an advisory.
const MAX_ALIASES: usize = 20;

/// The ecosystem whose packages are Go modules.
const ECOSYSTEM: &str = "Go";

/// A known vulnerability, with the modules that it affects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advisory {
    /// The identifier, e.g. `GO-2025-4152`.
    pub id: String,
    /// Identifiers of the same vulnerability in other databases, sorted.
    pub aliases: Vec<String>,
    /// The vulnerability in one sentence; may be empty.
    pub summary: String,
    /// The page of the advisory; empty if none is stated.
    pub url: String,
    /// The advisory was withdrawn, so no version is affected.
    pub is_withdrawn: bool,
    /// The affected Go modules, in the order of the advisory.
    pub modules: Vec<AffectedModule>,
}

/// An affected module, with its affected versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AffectedModule {
    /// The path of the module.
    pub path: GoModulePath,
    /// Ranges of Go module versions; without ranges and versions, every version is affected.
    pub ranges: Vec<VersionRange>,
    /// Ranges of versions that are not Go module versions, as those of many provider releases.
    pub custom_ranges: Vec<VersionRange>,
    /// Single versions that are affected.
    pub versions: Vec<GoVersion>,
    /// The module states ranges or versions, but none that can be compared.
    pub is_not_comparable: bool,
}

/// A reason why an advisory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AdvisoryError {
    /// The text is not an advisory.
    #[error("it is not an advisory in OSV format")]
    Syntax(#[source] serde_json::Error),
    /// The identifier is not safe as a file name.
    #[error("its id {id:?} has characters other than letters, digits and dashes")]
    Id {
        /// The identifier, as written.
        id: String,
    },
    /// The advisory has more modules or versions than any real one.
    #[error("it has more than {MAX_MODULES} modules, or more than {MAX_EVENTS} versions")]
    TooLarge,
}

#[derive(Deserialize)]
struct OsvEntry {
    id: String,
    #[serde(default)]
    aliases: Vec<String>,
    #[serde(default)]
    summary: String,
    withdrawn: Option<String>,
    #[serde(default)]
    affected: Vec<OsvAffected>,
    database_specific: Option<OsvDatabase>,
}

#[derive(Deserialize)]
struct OsvAffected {
    package: OsvPackage,
    #[serde(default)]
    ranges: Vec<OsvRange>,
    #[serde(default)]
    versions: Vec<String>,
    ecosystem_specific: Option<OsvEcosystem>,
}

#[derive(Deserialize)]
struct OsvPackage {
    #[serde(default)]
    name: String,
    #[serde(default)]
    ecosystem: String,
}

#[derive(Deserialize)]
struct OsvRange {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    events: Vec<OsvEvent>,
}

#[derive(Deserialize)]
struct OsvEvent {
    introduced: Option<String>,
    fixed: Option<String>,
    last_affected: Option<String>,
}

#[derive(Deserialize)]
struct OsvEcosystem {
    #[serde(default)]
    custom_ranges: Vec<OsvRange>,
}

#[derive(Deserialize)]
struct OsvDatabase {
    #[serde(default)]
    url: String,
}

impl Advisory {
    /// Reads an advisory; modules of other ecosystems are left out.
    ///
    /// # Errors
    /// If it is no advisory, or larger than any real one.
    pub fn parse(bytes: &[u8]) -> Result<Self, AdvisoryError> {
        let entry: OsvEntry = serde_json::from_slice(bytes).map_err(AdvisoryError::Syntax)?;
        // The identifier becomes part of paths, URLs and commands.
        if !is_advisory_id(&entry.id) {
            return Err(AdvisoryError::Id { id: entry.id });
        }
        // 1 MiB holds some 70,000 events, and every judged version is compared with all of them.
        let events =
            |ranges: &[OsvRange]| ranges.iter().map(|range| range.events.len()).sum::<usize>();
        let all_events: usize = entry
            .affected
            .iter()
            .map(|affected| {
                let specific = affected.ecosystem_specific.as_ref();
                let custom = specific.map_or(0, |specific| events(&specific.custom_ranges));
                events(&affected.ranges) + custom + affected.versions.len()
            })
            .sum();
        if entry.affected.len() > MAX_MODULES || all_events > MAX_EVENTS {
            return Err(AdvisoryError::TooLarge);
        }
        let mut aliases = entry.aliases;
        // Aliases join advisories (rules 5.2): an empty text would join those that have nothing in common.
        aliases.retain(|alias| is_advisory_id(alias) && *alias != entry.id);
        aliases.sort();
        aliases.dedup();
        aliases.truncate(MAX_ALIASES);
        Ok(Self {
            id: entry.id,
            aliases,
            summary: entry.summary,
            url: entry
                .database_specific
                .map_or_else(String::new, |specific| specific.url),
            is_withdrawn: entry.withdrawn.is_some(),
            modules: entry
                .affected
                .into_iter()
                .filter(|affected| affected.package.ecosystem == ECOSYSTEM)
                .map(affected_module)
                .collect(),
        })
    }
}

fn affected_module(affected: OsvAffected) -> AffectedModule {
    let custom = affected
        .ecosystem_specific
        .map(|specific| specific.custom_ranges);
    let ranges = ranges(&affected.ranges);
    let versions: Vec<GoVersion> = affected
        .versions
        .iter()
        .filter_map(|version| GoVersion::parse(version))
        .collect();
    AffectedModule {
        path: GoModulePath::new(&affected.package.name),
        // A module with only git commits, or only unreadable versions, cannot be compared. Without this flag, all its
        // versions would count as affected.
        is_not_comparable: ranges.is_empty()
            && versions.is_empty()
            && !(affected.ranges.is_empty() && affected.versions.is_empty()),
        ranges,
        custom_ranges: self::ranges(&custom.unwrap_or_default()),
        versions,
    }
}

/// Reads the ranges whose events are versions; skips those of commits.
fn ranges(stated: &[OsvRange]) -> Vec<VersionRange> {
    let mut ranges = Vec::new();
    for range in stated
        .iter()
        .filter(|range| ["SEMVER", "ECOSYSTEM"].contains(&&*range.kind))
    {
        let mut events = Vec::new();
        let mut is_faulty = false;
        for event in &range.events {
            let read = match (&event.introduced, &event.fixed, &event.last_affected) {
                // The format defines 0 as a version before all others.
                (Some(from), ..) if from == "0" => Some(RangeEvent::Introduced(None)),
                (Some(from), ..) => {
                    GoVersion::parse(from).map(|from| RangeEvent::Introduced(Some(from)))
                }
                (None, Some(end), _) => GoVersion::parse(end).map(RangeEvent::Fixed),
                (None, None, Some(last)) => GoVersion::parse(last).map(RangeEvent::LastAffected),
                // An event of a kind that is not known says nothing.
                (None, None, None) => continue,
            };
            match read {
                Some(event) => events.push(event),
                None => is_faulty = true,
            }
        }
        ranges.push(VersionRange::new(events, is_faulty));
    }
    ranges
}
