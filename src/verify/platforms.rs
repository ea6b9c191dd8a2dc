//! The group *platforms*: an `h1:` for every wanted platform.

use std::collections::BTreeMap;

use super::known::KnownHashes;
use super::matrix::Outlook;
use super::subject::Subject;
use crate::addr::ProviderAddr;
use crate::coverage::{self, Coverage, Outcome, Prediction};
use crate::diag::{Diagnostic, Finding, Severity};
use crate::lockfile::ProviderLock;
use crate::package::WantedPlatforms;
use crate::platform::{self, Platform};

/// Checks that each entry has as many `h1:` hashes as platforms are wanted, or the right ones
/// where packages at hand tell.
///
/// What an entry lacks that nothing visible requires is a note: no command here could repair it.
#[must_use]
pub fn check(subject: Subject<'_>, wanted: &WantedPlatforms, known: &KnownHashes) -> Vec<Finding> {
    let nothing = BTreeMap::new();
    let entries = subject.document.lock.providers.iter();
    entries
        .filter_map(|(provider, entry)| {
            let known = known.get(provider).unwrap_or(&nothing);
            let coverage = coverage::coverage(&entry.hashes, &wanted.known(provider), known);
            if coverage.lacking() > 0 {
                let finding = incomplete(subject, wanted, provider, entry, &coverage);
                Some(finding)
            } else if !coverage.unknown.is_empty() {
                Some(unattributed(subject, provider, &coverage))
            } else {
                None
            }
        })
        .collect()
}

fn incomplete(
    subject: Subject<'_>,
    wanted_by: &WantedPlatforms,
    provider: &ProviderAddr,
    entry: &ProviderLock,
    coverage: &Coverage,
) -> Finding {
    let (lacking, wanted) = (coverage.lacking(), coverage.wanted.len());
    let platforms = if wanted == 1 { "platform" } else { "platforms" };
    let lacks = if lacking == 1 { "lacks" } else { "lack" };
    let title =
        format!("{lacking} of {wanted} wanted {platforms} of {provider} {lacks} an h1: hash");
    let diagnostic = Diagnostic::warning("platforms-incomplete", title);
    let diagnostic = diagnostic.at(
        subject.file,
        subject.header(provider),
        explanation(coverage),
    );
    let diagnostic = if let Some(left_over) = subject.left_over(provider) {
        Diagnostic {
            severity: Severity::Note,
            ..diagnostic.help(left_over)
        }
    } else {
        let named = if wanted_by.are_usual {
            String::new()
        } else {
            let lacking = platform::join(&coverage.perhaps_lacking(), ",");
            format!(" --platform {lacking}")
        };
        diagnostic.help(consequences(subject, provider, entry, coverage, &named))
    };
    Finding::about(provider, diagnostic)
}

/// Says what repairs it, and what each route does until then.
///
/// `platforms` are those to be named to `lock`, if it does not want them anyway.
fn consequences(
    subject: Subject<'_>,
    provider: &ProviderAddr,
    entry: &ProviderLock,
    coverage: &Coverage,
    platforms: &str,
) -> String {
    let certain = coverage.certainly_lacking();
    let on = if certain.is_empty() {
        "a platform whose hash is missing".to_owned()
    } else {
        platform::join(&certain, ", ")
    };
    let command = &subject.advice.lock;
    let mut lines = vec![format!(
        "run `{command}{platforms}` to add what is missing; until then, on {on}:"
    )];
    let predictions = Outlook::of(subject).without_h1(provider, entry);
    let program = subject.flavor.command();
    lines.extend(sentences(program, &predictions).map(|line| format!("  {line}")));
    lines.push(
        "unless platforms share one package or the release lacks some: then name those that count \
         with --platform"
            .to_owned(),
    );
    lines.join("\n")
}

/// Says what is known about whose hashes are there.
fn explanation(coverage: &Coverage) -> String {
    let count = format!("{} h1: recorded", coverage.recorded);
    let certain = coverage.certainly_lacking();
    if !certain.is_empty() {
        return format!(
            "{count}; none is known to be that of {}",
            platform::join(&certain, ", ")
        );
    }
    let known: Vec<Platform> = coverage.known.keys().cloned().collect();
    if known.is_empty() {
        format!("{count}, and nothing here tells for which platforms")
    } else {
        format!(
            "{count}; installed packages tell only that of {}",
            platform::join(&known, ", ")
        )
    }
}

fn unattributed(subject: Subject<'_>, provider: &ProviderAddr, coverage: &Coverage) -> Finding {
    let unknown = platform::join(&coverage.unknown, ", ");
    Finding::about(
        provider,
        Diagnostic::note(
            "platforms-unattributed",
            format!("{provider} has enough h1: hashes, but nothing tells whose they are"),
        )
        .at(
            subject.file,
            subject.header(provider),
            format!(
                "{} h1: recorded for {} wanted platforms",
                coverage.recorded,
                coverage.wanted.len()
            ),
        )
        .help(format!("nothing to do, if they are those of {unknown}")),
    )
}

/// Says what happens by each route, those in one sentence by which the same happens.
fn sentences<'a>(
    program: &'a str,
    predictions: &'a [Prediction],
) -> impl Iterator<Item = String> + 'a {
    let words = |prediction: &Prediction| (prediction.route.command(), outcome(prediction));
    let is_first = move |at: &usize| {
        let before = predictions[..*at].iter();
        !before
            .into_iter()
            .any(|other| words(other) == words(&predictions[*at]))
    };
    let firsts = (0..predictions.len()).filter(is_first);
    firsts.map(move |at| {
        let (command, outcome) = words(&predictions[at]);
        let same = predictions.iter();
        let same = same.filter(|other| words(other) == (command, outcome.clone()));
        let ways: Vec<&str> = same.map(|other| other.route.way()).collect();
        format!("`{program} {command}` ({}) {outcome}", ways.join(", "))
    })
}

/// Says what happens by a route.
fn outcome(prediction: &Prediction) -> String {
    let unchecked = if prediction.unchecked {
        " with nothing to compare"
    } else {
        ""
    };
    let assumed = if prediction.assumed { "probably " } else { "" };
    let words = match prediction.outcome {
        Outcome::Passes => format!("passes{unchecked}"),
        Outcome::Rewrites => format!("passes{unchecked} and rewrites the lock file"),
        Outcome::Warns => format!("passes{unchecked} with a warning"),
        Outcome::Fails => "fails".to_owned(),
    };
    match &prediction.title {
        Some(title) => format!("{assumed}{words}: {title}"),
        None => format!("{assumed}{words}"),
    }
}
