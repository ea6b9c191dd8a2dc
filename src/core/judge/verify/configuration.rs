//! The group *configuration*: the requirements against the locked versions.

use super::hosts;
use super::subject::CheckedLock;
use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, Finding, Help, RootCommand, rules};
use crate::lockfile::ProviderLock;
use crate::requirement::{Requirement, Requirements, StateSeen};
use crate::resolve::{self, Goals};

/// Maximum number of places beside the first one that a finding shows.
const MAX_RELATED: usize = 20;

/// Checks that every required provider is locked at a version that meets every condition, and that
/// every locked one is required; nothing is judged if the configuration could not be read.
#[must_use]
pub fn check(subject: CheckedLock<'_>) -> Vec<Finding> {
    let Some(requirements) = subject.requirements else {
        return Vec::new();
    };
    let lock = &subject.document.lock;
    let (queries, refused) =
        resolve::to_query(requirements, lock, subject.flavor, &Goals::default());
    let mut findings = Vec::new();
    for (provider, refusal) in &refused {
        let place = &requirements.providers[provider][0];
        let diagnostic = Diagnostic::error(rules::ADDRESS_MALFORMED, refusal.title())
            .at(place.file, place.span, refusal.to_string())
            .help(refusal.help());
        findings.push(Finding::about(provider, diagnostic));
    }
    for query in &queries {
        let places = &requirements.providers[&query.provider];
        match lock.providers.get(&query.provider) {
            None => {
                let provider = &query.provider;
                let title = format!("{provider} is required but not locked");
                let place = &places[0];
                // Locking would fail while the places exclude each other, so that comes first.
                let help = exclusion(&requirements.clash(provider))
                    .unwrap_or_else(|| how_to_lock(subject, provider));
                let mut diagnostic = Diagnostic::error(rules::PROVIDER_NOT_LOCKED, title)
                    .at(place.file, place.span, "required here")
                    .help(help);
                for other in requirements
                    .written(provider)
                    .into_iter()
                    .skip(1)
                    .take(MAX_RELATED)
                {
                    diagnostic = diagnostic.see(other.file, other.span, "and here");
                }
                findings.push(Finding::about(provider, diagnostic));
            }
            Some(entry) => {
                findings.extend(outside(subject, &query.provider, entry, requirements));
                findings.extend(stale(subject, &query.provider, entry, requirements));
                findings.extend(never_readonly(subject, &query.provider));
            }
        }
    }
    // A module or a state that cannot be seen may require any entry.
    if requirements.is_complete() {
        for provider in lock.providers.keys() {
            if !requirements.providers.contains_key(provider) {
                findings.push(not_required(subject, provider, requirements));
            }
        }
    }
    findings.extend(hosts::mixed(subject));
    findings
}

/// Advises to lock a provider, or to convert the lock file where the other program locked it: that keeps its version
/// (`locker` rules 5.1).
fn how_to_lock(subject: CheckedLock<'_>, provider: &ProviderAddr) -> Help {
    let locked = &subject.document.lock.providers;
    let twin = locked
        .keys()
        .find(|other| other.on_registry_of(subject.flavor).as_ref() == Some(provider));
    match twin {
        Some(twin) => conversion(subject).run(&format!(", which keeps the version of {twin}")),
        None => subject.advice.lock.run(""),
    }
}

/// Returns the command that rewrites the lock file for the program at hand.
fn conversion(subject: CheckedLock<'_>) -> RootCommand {
    let program = if subject.flavor.is_opentofu() {
        "opentofu"
    } else {
        "terraform"
    };
    subject.advice.convert.with(format_args!("--to {program}"))
}

/// Reports an entry that nothing requires.
fn not_required(
    subject: CheckedLock<'_>,
    provider: &ProviderAddr,
    requirements: &Requirements,
) -> Finding {
    let program = subject.flavor.command();
    // The state counts, since `init` keeps the entries that it needs (`lockfile` rules 4.4).
    let remark = match requirements.state {
        StateSeen::LeftOut => "the configuration does not require it, and the state was left out",
        StateSeen::Yes | StateSeen::No => "neither the configuration nor the state requires it",
    };
    let until_then = format!(
        "until then `{program} init -lockfile=readonly` fails: Provider dependency changes detected"
    );
    let help = match subject.waiting_twin(provider) {
        // `lock` and `init` drop the entry, and select the version for the other address anew.
        Some(twin) => conversion(subject).run(&format!(
            ", which keeps the version for {twin}; {until_then}"
        )),
        None => subject.advice.lock.run(&format!(
            " to drop the entry, as `{program} init` does; {until_then}"
        )),
    };
    // A warning: `init` drops the entry, and with `-lockfile=readonly` that is an error (`coverage` rules 3.1);
    // `plan` wants its package to be installed (`coverage` rules 4.4).
    Finding::about(
        provider,
        Diagnostic::warning(
            rules::PROVIDER_NOT_REQUIRED,
            format!("{provider} is locked but not required"),
        )
        .at(subject.file, subject.header(provider), remark)
        .help(help),
    )
}

/// Reports an entry of Terraform's registry that is required on purpose: OpenTofu reads a second one out of it, so that
/// each `init` sees a change (`lockfile` rules 5.3).
fn never_readonly(subject: CheckedLock<'_>, provider: &ProviderAddr) -> Option<Finding> {
    let twin = provider.carried_over(subject.flavor)?;
    let is_locked = subject.document.lock.providers.contains_key(&twin);
    if is_locked || subject.requirements?.providers.contains_key(&twin) {
        return None;
    }
    let remark = format!(
        "`tofu init` also reads it as {twin}, drops that again and writes the file; with -lockfile=readonly it \
         fails: Provider dependency changes detected"
    );
    let title = format!("`tofu init -lockfile=readonly` always fails for {provider}");
    let help = subject.advice.lock.named_in(|lock| {
        format!("run `tofu init` without -lockfile=readonly, or require {twin} and run `{lock}`")
    });
    let diagnostic = Diagnostic::note(rules::INIT_REWRITES, title)
        .at(subject.file, subject.header(provider), remark)
        .help(help);
    Some(Finding::about(provider, diagnostic))
}

/// Reports every place whose condition the locked version does not meet.
fn outside<'a>(
    subject: CheckedLock<'a>,
    provider: &'a ProviderAddr,
    entry: &'a ProviderLock,
    requirements: &'a Requirements,
) -> impl Iterator<Item = Finding> + 'a {
    let version = &entry.version;
    let places = requirements.written(provider);
    // An exact condition anywhere allows a pre-release everywhere, so each place is judged for its own terms,
    // and pre-releases once for all of them.
    let meets_own =
        |place: &&Requirement| place.constraints.iter().all(|term| term.is_met_by(version));
    let first = places.first().copied();
    let mut failing: Vec<&Requirement> = places
        .into_iter()
        .filter(|place| !meets_own(place))
        .collect();
    // The terms of modules that cannot be seen may name the pre-release, but are no conflict (`resolve` rules
    // 2.6).
    let all = requirements.on_locked(provider, version, &entry.constraints);
    if failing.is_empty() && !all.allows(version) {
        failing.extend(first);
    }
    let is_prerelease =
        all.why_not(version) == Some(crate::version::VersionRefusal::PrereleaseNotNamed);
    let clash = requirements.clash(provider);
    failing.into_iter().map(move |place| {
        let title = if is_prerelease {
            format!("{provider} is locked at the pre-release {version}, which no constraint names")
        } else {
            format!("{provider} is locked at {version}, which a constraint does not allow")
        };
        let wanted = if place.constraints.is_empty() {
            "without an exact constraint only releases are allowed".to_owned()
        } else {
            let in_module = if place.module.is_root() {
                String::new()
            } else {
                format!(", in {}", place.module)
            };
            format!("{} is required here{in_module}", place.constraints)
        };
        let diagnostic = Diagnostic::error(rules::VERSION_OUTSIDE_CONSTRAINT, title)
            .at(place.file, place.span, wanted)
            .see(
                subject.file,
                subject.version(provider),
                format!("locked at {version} here"),
            )
            .help(subject.advice.update.for_provider(
                provider.short(subject.flavor),
                "run ",
                " to move the version, or change the constraint",
            ));
        Finding::about(provider, among_clashing(diagnostic, place, &clash))
    })
}

/// Adds the places that no version can satisfy together, and advice to change one of them, to a finding about a place.
fn among_clashing(
    mut diagnostic: Diagnostic,
    place: &Requirement,
    clash: &[&Requirement],
) -> Diagnostic {
    for other in clash.iter().take(MAX_RELATED) {
        if (other.file, other.span) != (place.file, place.span) {
            let remark = format!("{} is required here", other.constraints);
            diagnostic = diagnostic.see(other.file, other.span, remark);
        }
    }
    match exclusion(clash) {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// Returns the advice on places that no version can satisfy together; `None` if there are none.
fn exclusion(clash: &[&Requirement]) -> Option<Help> {
    let names: Vec<String> = clash
        .iter()
        .take(MAX_RELATED)
        .map(|place| {
            if place.module.is_root() {
                format!("\"{}\" in the root module", place.constraints)
            } else {
                format!("\"{}\" in {}", place.constraints, place.module)
            }
        })
        .collect();
    // By hand, because `update` and `lock` fail until one of the constraints changes.
    match &*names {
        [] => None,
        [name] => Some(Help::by_hand(format!(
            "change the constraint {name}: it excludes every version"
        ))),
        names => Some(Help::by_hand(format!(
            "change one of the constraints, which exclude each other: {}",
            names.join(" and ")
        ))),
    }
}

fn stale(
    subject: CheckedLock<'_>,
    provider: &ProviderAddr,
    entry: &ProviderLock,
    requirements: &Requirements,
) -> Option<Finding> {
    // Terms of modules that cannot be seen stay recorded (`locker` rules 2.2), so they do not make the line
    // stale. It is a note: `init` compares no constraints (`lockfile` rules 4.1).
    if requirements.to_record(provider, &entry.constraints) == entry.constraints {
        return None;
    }
    let current = requirements.constraints(provider);
    let said = if current.is_empty() {
        "none".to_owned()
    } else {
        format!("\"{current}\"")
    };
    let span = subject
        .document
        .places
        .get(provider)
        .and_then(|places| places.constraints);
    Some(Finding::about(
        provider,
        Diagnostic::note(
            rules::CONSTRAINTS_STALE,
            format!("The recorded constraints of {provider} differ from the configuration"),
        )
        .at(
            subject.file,
            span.unwrap_or_else(|| subject.header(provider)),
            format!("the configuration says {said}"),
        )
        .help(subject.advice.lock.named_in(|lock| {
            format!("harmless, since only the configuration counts; `{lock}` refreshes the line")
        })),
    ))
}
