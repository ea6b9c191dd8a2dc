//! The group *platforms*: an `h1:` for every wanted platform.

use std::collections::{BTreeMap, BTreeSet};

use super::known::{ClaimGaps, PackageFacts};
use super::matrix::InitOutlook;
use super::subject::CheckedLock;
use crate::addr::ProviderAddr;
use crate::coverage::{self, Attributions, Coverage};
use crate::diag::{Diagnostic, Finding, Help, RootCommand, Severity, Share, counted, rules};
use crate::package::{PlatformsOrigin, WantedPlatforms};
use crate::platform::{self, Platform};

/// The wanted platforms, with all that is known of the packages for them.
#[derive(Clone, Copy, Debug)]
pub struct PlatformEvidence<'a> {
    /// The wanted platforms of each provider.
    pub wanted: &'a WantedPlatforms,
    /// The project file, which may state them, as messages name it.
    pub project_file: &'a str,
    /// Hashes of packages at hand, and of those that facts are about.
    pub proven: &'a PackageFacts,
    /// Facts, which also say what a release offers.
    pub facts: &'a Attributions,
    /// The platforms whose `h1:` a registry states, and the entry lacks.
    pub claims: &'a ClaimGaps,
}

/// Checks that each entry has as many `h1:` hashes as platforms are wanted, or the right ones
/// as far as packages, facts and registries show it.
///
/// It is a note for an entry that nothing visible requires, because no command here could repair it, and for
/// platforms that only the default list names, unless `init` from a registry fails there.
#[must_use]
pub fn check(subject: CheckedLock<'_>, evidence: PlatformEvidence<'_>) -> Vec<Finding> {
    let nothing = BTreeMap::new();
    let mut entries: Vec<EntryCoverage<'_>> = Vec::new();
    for (provider, entry) in &subject.document.lock.providers {
        let known = evidence.proven.known.get(provider).unwrap_or(&nothing);
        let attribution = evidence.facts.get(provider);
        let claims = evidence.claims.get(provider);
        let wanted = evidence.wanted.known(provider);
        let coverage = coverage::coverage(&entry.hashes, &wanted, known)
            .without(|platform| attribution.is_some_and(|facts| facts.lacks(platform)))
            .without_h1(|platform| claims.is_some_and(|gaps| gaps.contains_key(platform)));
        entries.push(EntryCoverage {
            subject,
            evidence,
            provider,
            coverage,
        });
    }
    let incomplete = entries
        .iter()
        .filter(|entry| entry.coverage.missed() > 0)
        .map(|entry| entry.provider);
    // One command for all entries: it is in each finding, and is typed once. As far as roots want the same platforms,
    // it is the same for all roots.
    let fix = if evidence.wanted.are_usual {
        subject.advice.lock.clone()
    } else {
        let platforms: BTreeSet<Platform> = incomplete
            .flat_map(|provider| evidence.wanted.known(provider))
            .collect();
        let platforms = platform::join(&Vec::from_iter(platforms), ",");
        let lock = &subject.advice.lock;
        lock.with(format_args!("--platform {platforms}"))
    };
    let mut findings = Vec::new();
    for checked in &entries {
        // Counting shows no more than that there are too few (`coverage` rules 1.1).
        if checked.coverage.missed() > 0 {
            findings.push(checked.lacking(&fix));
        } else if !checked.coverage.unknown.is_empty() {
            findings.push(checked.unattributed());
        }
    }
    findings
}

/// An entry with what it covers.
struct EntryCoverage<'a> {
    subject: CheckedLock<'a>,
    evidence: PlatformEvidence<'a>,
    provider: &'a ProviderAddr,
    coverage: Coverage,
}

impl EntryCoverage<'_> {
    fn lacking(&self, fix: &RootCommand) -> Finding {
        let (subject, provider, coverage) = (self.subject, self.provider, &self.coverage);
        let (part, of) = (coverage.missed(), coverage.wanted.len());
        let platforms = if of == 1 { "platform" } else { "platforms" };
        let lacks = if part == 1 { "lacks" } else { "lack" };
        // Of several entries the rule's own sentence is shown (`diag::RULES`, `together`).
        let title = format!("{part} of {of} wanted {platforms} of {provider} {lacks} an h1: hash");
        let mut note = explanation(coverage);
        for (platform, by) in self.evidence.claims.get(provider).into_iter().flatten() {
            if coverage.absent.contains(platform) {
                note += &format!("; that of {platform} is stated by {by}");
            }
        }
        // Usually `init` adds the hash; where no recorded one accepts the package it fails (`hash` rules 3.5).
        // Requirements are left out: a version that they do not allow is no matter of hashes.
        let outlook = InitOutlook {
            requirements: None,
            ..InitOutlook::of(subject)
        };
        let refusal = outlook.refusal(
            provider,
            &coverage.perhaps_lacking(),
            &coverage.wanted,
            self.evidence.proven,
        );
        if let Some(failure) = &refusal {
            let program = subject.flavor.command();
            note = format!("{note}; without one `{program} init` fails: {failure}");
        }
        let is_default = self.evidence.wanted.origin_of(provider) == PlatformsOrigin::Default;
        let is_unasked = is_default && refusal.is_none();
        let is_note = is_unasked || subject.left_over(provider).is_some();
        let diagnostic = Diagnostic {
            severity: if is_note {
                Severity::Note
            } else {
                Severity::Warning
            },
            ..Diagnostic::warning(rules::PLATFORMS_INCOMPLETE, title)
                .at(subject.file, subject.header(provider), note)
                .help(self.how_to_add(fix))
        };
        Finding {
            share: Some(Share { part, of }),
            statable: self.statable(),
            ..Finding::about(provider, diagnostic)
        }
    }

    /// Returns one platform for each package that the release has, where it has none for the others that are wanted.
    fn statable(&self) -> Option<Vec<Platform>> {
        let lacks_packages = self.coverage.absent.is_empty() && self.coverage.unknown.is_empty();
        if !lacks_packages
            || !self.evidence.wanted.are_usual
            || self.subject.left_over(self.provider).is_some()
        {
            return None;
        }
        let platforms = self.with_own_package();
        (!platforms.is_empty()).then_some(platforms)
    }

    /// Returns one wanted platform for each package, sorted: platforms that share a package share its `h1:`, and wanted
    /// platforms are compared with a count of hashes.
    fn with_own_package(&self) -> Vec<Platform> {
        let mut by_hash = BTreeMap::new();
        for (platform, hash) in &self.coverage.known {
            if self.coverage.wanted.contains(platform) {
                by_hash.entry(hash).or_insert(platform);
            }
        }
        let platforms: BTreeSet<&Platform> = by_hash.into_values().collect();
        platforms.into_iter().cloned().collect()
    }

    /// Returns the help for missing hashes.
    fn how_to_add(&self, fix: &RootCommand) -> Help {
        // All entries with the same wanted platforms get the same help, so that their findings are shown
        // together and the platforms once.
        let wanted = self.wanted();
        let help = if let Some(left_over) = self.subject.left_over(self.provider) {
            left_over
        } else if self.statable().is_some() {
            self.subject.advice.verify.named_in(|verify| {
                format!(
                    "no h1: can be added: run `{verify} --fix` to state the platforms of the release in {}",
                    self.evidence.project_file
                )
            })
        } else if self.coverage.absent.is_empty() && self.coverage.unknown.is_empty() {
            // `lock` has no hash to add for platforms without a package, or with the package of another one.
            let kept = self.with_own_package();
            let left_out: Vec<Platform> = self
                .coverage
                .wanted
                .iter()
                .filter(|platform| !kept.contains(platform))
                .cloned()
                .collect();
            let stated_in = match self.evidence.wanted.origin_of(self.provider) {
                PlatformsOrigin::Typed => "--platform",
                PlatformsOrigin::Default | PlatformsOrigin::ProjectFile => {
                    self.evidence.project_file
                }
            };
            let left_out = platform::join(&left_out, ", ");
            Help::from(format!(
                "no h1: can be added: leave {left_out} out of {stated_in}"
            ))
        } else if self.evidence.wanted.are_usual {
            return fix.run(&format!(" to add what is missing for {wanted}"));
        } else {
            return fix.run(" to add what is missing (stated by --platform)");
        };
        help.and(&format!("wanted: {wanted}"))
    }

    fn unattributed(&self) -> Finding {
        let (subject, provider, coverage) = (self.subject, self.provider, &self.coverage);
        // As many as wanted platforms, or more, are not attributed (`coverage` rules 1.1).
        let note = format!(
            "{} h1: recorded for {}",
            coverage.recorded,
            counted(coverage.wanted.len(), "wanted platform")
        );
        let wanted = self.wanted();
        let help = if coverage.unknown == coverage.wanted {
            Help::from(format!("nothing to do, if they are those of {wanted}"))
        } else {
            let unknown = platform::join(&coverage.unknown, ", ");
            Help::from(format!(
                "nothing to do, if they are those of {unknown}\nwanted: {wanted}"
            ))
        };
        let diagnostic = Diagnostic::note(
            rules::PLATFORMS_UNATTRIBUTED,
            format!("{provider} has enough h1: hashes, but their platforms are unknown"),
        )
        .at(subject.file, subject.header(provider), note)
        .help(help);
        Finding::about(provider, diagnostic)
    }

    /// Names the wanted platforms, and what states them.
    fn wanted(&self) -> String {
        let platforms = platform::join(&self.coverage.wanted, ", ");
        match self.evidence.wanted.origin_of(self.provider) {
            PlatformsOrigin::Default => format!("{platforms} (the default list)"),
            PlatformsOrigin::ProjectFile => {
                format!("{platforms} (stated in {})", self.evidence.project_file)
            }
            PlatformsOrigin::Typed => format!("{platforms} (stated by --platform)"),
        }
    }
}

/// Names the platforms of the recorded hashes, as far as they are known.
fn explanation(coverage: &Coverage) -> String {
    let count = match coverage.recorded {
        0 => "no h1: recorded".to_owned(),
        n => format!("{n} h1: recorded"),
    };
    let certain = coverage.certainly_lacking();
    if !certain.is_empty() {
        let none = if coverage.recorded == 0 { "" } else { ", none" };
        // The help names the wanted list, so the note does not repeat it.
        let lacking = match (certain == coverage.wanted, coverage.recorded) {
            (true, 0) => count,
            (true, _) => format!("{count}, none for a wanted platform"),
            (false, _) => format!("{count}{none} for {}", platform::join(&certain, ", ")),
        };
        return match &*coverage.not_offered {
            [] => lacking,
            absent => format!(
                "{lacking}; the release has no package for {}",
                platform::join(absent, ", ")
            ),
        };
    }
    let known: Vec<Platform> = coverage.known.keys().cloned().collect();
    // Platforms with the same content share one `h1:` (`locker` rules 2.5), so fewer may be enough.
    if coverage.lacking() == 0 {
        let known = platform::join(&known, ", ");
        return format!("{count}; some of the packages of {known} are the same");
    }
    match (known.is_empty(), coverage.recorded) {
        (true, 1) => format!("{count}; its platform is unknown"),
        (true, _) => format!("{count}; their platforms are unknown"),
        (false, _) => {
            let known = platform::join(&known, ", ");
            format!("{count}; only that of {known} is known")
        }
    }
}
