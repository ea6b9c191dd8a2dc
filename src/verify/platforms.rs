//! The group *platforms*: an `h1:` for every wanted platform.

use std::collections::{BTreeMap, BTreeSet};

use super::known::KnownHashes;
use super::matrix::InitOutlook;
use super::subject::CheckedLock;
use crate::addr::ProviderAddr;
use crate::coverage::{self, Attributions, Coverage, Outcome, Route};
use crate::diag::{Diagnostic, Finding, Help, Severity, Share, rules};
use crate::lockfile::ProviderLock;
use crate::package::WantedPlatforms;
use crate::platform::{self, Platform};

/// Checks that each entry has as many `h1:` hashes as platforms are wanted, or the right ones
/// as far as packages at hand show it.
///
/// For an entry that nothing visible requires it is a note: no command here could repair it.
#[must_use]
pub fn check(
    subject: CheckedLock<'_>,
    wanted: &WantedPlatforms,
    known: &KnownHashes,
    facts: &Attributions,
) -> Vec<Finding> {
    let nothing = BTreeMap::new();
    let mut entries: Vec<(&ProviderAddr, &ProviderLock, Coverage)> = Vec::new();
    for (provider, entry) in &subject.document.lock.providers {
        let known = known.get(provider).unwrap_or(&nothing);
        let attribution = facts.get(provider);
        let coverage = coverage::coverage(&entry.hashes, &wanted.known(provider), known)
            .without(|platform| attribution.is_some_and(|facts| facts.lacks(platform)));
        entries.push((provider, entry, coverage));
    }
    let incomplete = entries
        .iter()
        .filter(|(.., coverage)| coverage.missed() > 0)
        .map(|(provider, ..)| *provider);
    let fix = fix(subject, wanted, incomplete);
    let mut findings = Vec::new();
    for (provider, entry, coverage) in &entries {
        // Counting shows no more than that there are too few (`coverage` rules 1.1).
        if coverage.missed() > 0 {
            findings.push(lacking(subject, provider, entry, coverage, &fix));
        } else if !coverage.unknown.is_empty() {
            // As many as wanted platforms, or more, are not attributed (`coverage` rules 1.1).
            let unknown = platform::join(&coverage.unknown, ", ");
            let note = format!(
                "{} h1: recorded for {} wanted platforms",
                coverage.recorded,
                coverage.wanted.len()
            );
            let diagnostic = Diagnostic::note(
                rules::PLATFORMS_UNATTRIBUTED,
                format!("{provider} has enough h1: hashes, but their platforms are unknown"),
            )
            .at(subject.file, subject.header(provider), note)
            .help(format!("nothing to do, if they are those of {unknown}"));
            findings.push(Finding::about(provider, diagnostic));
        }
    }
    findings
}

fn lacking(
    subject: CheckedLock<'_>,
    provider: &ProviderAddr,
    entry: &ProviderLock,
    coverage: &Coverage,
    fix: &Help,
) -> Finding {
    let (part, of) = (coverage.missed(), coverage.wanted.len());
    let platforms = if of == 1 { "platform" } else { "platforms" };
    let lacks = if part == 1 { "lacks" } else { "lack" };
    let title = format!("{part} of {of} wanted {platforms} of {provider} {lacks} an h1: hash");
    let mut note = explanation(coverage);
    // Usually `init` adds the hash; where no recorded one accepts the package it fails (`hash` rules 3.5).
    let init = InitOutlook::of(subject)
        .without_h1(provider, entry)
        .into_iter()
        .find(|prediction| prediction.route == Route::Registry)
        .filter(|prediction| prediction.outcome == Outcome::Fails);
    if let Some(failure) = init.and_then(|prediction| prediction.title) {
        let program = subject.flavor.command();
        note = format!("{note}; without one `{program} init` fails: {failure}");
    }
    let diagnostic = Diagnostic::warning(rules::PLATFORMS_INCOMPLETE, title).at(
        subject.file,
        subject.header(provider),
        note,
    );
    let diagnostic = match subject.left_over(provider) {
        Some(left_over) => Diagnostic {
            severity: Severity::Note,
            ..diagnostic.help(left_over)
        },
        // `lock` has no hash to add for platforms without a package, or with the package of another one.
        None if coverage.absent.is_empty() && coverage.unknown.is_empty() => diagnostic.help(subject.advice.lock.named_in(|lock| {
            format!(
                "no h1: can be added: run `{lock}`, which prints what states this in the project \
                 file"
            )
        })),
        None => diagnostic.help(fix.clone()),
    };
    Finding {
        share: Some(Share { part, of }),
        ..Finding::about(provider, diagnostic)
    }
}

/// Returns the help that adds missing hashes: the same for all entries and, as far as roots want the
/// same platforms, for all roots, so that findings are shown together.
fn fix<'p>(
    subject: CheckedLock<'_>,
    wanted: &WantedPlatforms,
    incomplete: impl Iterator<Item = &'p ProviderAddr>,
) -> Help {
    const REST: &str = " to add what is missing";
    let command = &subject.advice.lock;
    if wanted.are_usual {
        return command.run(REST);
    }
    let platforms: BTreeSet<Platform> = incomplete
        .flat_map(|provider| wanted.known(provider))
        .collect();
    let platforms = platform::join(&platforms.into_iter().collect::<Vec<_>>(), ",");
    command
        .with(format_args!("--platform {platforms}"))
        .run(REST)
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
        let lacking = format!("{count}{none} for {}", platform::join(&certain, ", "));
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
