//! The group *platforms*: an `h1:` for every wanted platform.

use std::collections::BTreeMap;

use super::{Finding, Subject};
use crate::addr::ProviderAddr;
use crate::coverage::{self, Coverage, Outcome, Prediction, Route};
use crate::diag::{Diagnostic, Severity};
use crate::hash::Hash;
use crate::lockfile::ProviderLock;
use crate::platform::{self, Platform};

/// The `h1:` of packages at hand, by provider and platform; only of the locked version.
pub type KnownHashes = BTreeMap<ProviderAddr, BTreeMap<Platform, Hash>>;

/// For which platforms each entry must have an `h1:`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Of every provider that has none of its own; sorted.
    pub every: Vec<Platform>,
    /// Of single providers; sorted.
    pub own: BTreeMap<ProviderAddr, Vec<Platform>>,
    /// Whether `lock` wants the same unless somebody tells it otherwise.
    pub are_usual: bool,
}

impl Wanted {
    /// Returns the platforms that are wanted for a provider.
    #[must_use]
    pub fn of(&self, provider: &ProviderAddr) -> &[Platform] {
        self.own.get(provider).unwrap_or(&self.every)
    }
}

/// Checks that each entry has as many `h1:` hashes as platforms are wanted, or the right ones
/// where packages at hand tell.
///
/// What an entry lacks that nothing visible requires is a note: no command here could mend it.
#[must_use]
pub fn check(subject: Subject<'_>, wanted: &Wanted, known: &KnownHashes) -> Vec<Finding> {
    let nothing = BTreeMap::new();
    let entries = subject.document.lock.providers.iter();
    entries
        .filter_map(|(provider, entry)| {
            let known = known.get(provider).unwrap_or(&nothing);
            let coverage = coverage::coverage(&entry.hashes, wanted.of(provider), known);
            if coverage.lacking() > 0 {
                let finding = incomplete((subject, wanted), provider, entry, &coverage);
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
    (subject, wanted_by): (Subject<'_>, &Wanted),
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
        let named = match wanted_by.are_usual {
            true => String::new(),
            false => format!(" --platform {}", platform::join(&coverage.unknown, ",")),
        };
        diagnostic.help(consequences(subject, entry, coverage, &named))
    };
    Finding::about(provider, diagnostic)
}

/// Says what mends it, and what each route does until then.
///
/// `platforms` are those to be named to `lock`, if it has to be told.
fn consequences(
    subject: Subject<'_>,
    entry: &ProviderLock,
    coverage: &Coverage,
    platforms: &str,
) -> String {
    let certain = coverage.certainly_lacking();
    let on = if certain.is_empty() {
        "a platform whose hash is missing".to_owned()
    } else {
        platform::join(certain, ", ")
    };
    let command = &subject.advice.lock;
    let mut lines = vec![format!(
        "run `{command}{platforms}` to add what is missing; until then, on {on}:"
    )];
    for prediction in coverage::without_h1(&entry.hashes, subject.flavor) {
        lines.push(format!(
            "  {}",
            sentence(subject.flavor.command(), prediction)
        ));
    }
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
            platform::join(certain, ", ")
        );
    }
    let told: Vec<&Platform> = coverage.known.keys().collect();
    if told.is_empty() {
        format!("{count}, and nothing here tells for which platforms")
    } else {
        let told: Vec<Platform> = told.into_iter().cloned().collect();
        format!(
            "{count}; installed packages tell only that of {}",
            platform::join(&told, ", ")
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

fn sentence(program: &str, prediction: Prediction) -> String {
    let route = match prediction.route {
        Route::Registry => format!("`{program} init` from a registry"),
        Route::UnpackedMirror => format!("`{program} init` from an unpacked mirror"),
        Route::PluginCache => format!("`{program} init` with a plugin cache"),
        Route::Readonly => format!("`{program} init -lockfile=readonly`"),
        Route::PlanAfterInit => format!("`{program} plan` after a read-only init"),
    };
    let outcome = match prediction.outcome {
        Outcome::Passes => "passes",
        Outcome::Rewrites => "passes and rewrites the lock file",
        Outcome::RewritesUnchecked => "passes without any check and rewrites the lock file",
        Outcome::Warns => "passes with a warning",
        Outcome::Fails => "fails",
    };
    match prediction.title {
        Some(title) => format!("{route} {outcome}: {title}"),
        None => format!("{route} {outcome}"),
    }
}
