//! The group *policy*: what a team lets its lock files hold (`project` rules 2.2).
//!
//! [`allowed`] judges one root by the project file that governs it. [`one_version`] compares all
//! roots of a run; its rule is off unless a project file states a level for it.

use std::collections::{BTreeMap, BTreeSet};

use super::subject::Subject;
use crate::addr::{ProviderAddr, ProviderPattern};
use crate::diag::{Diagnostic, FileId, Finding, Level, Severity, Span, rules};
use crate::flavor::Flavor;
#[cfg(feature = "fetch")]
use crate::locker::SignatureDemands;
use crate::project::{Allow, Place, Policy, Project};
use crate::requirement::Requirements;
use crate::version::Version;

const NOT_ALLOWED: &str = rules::PROVIDER_NOT_ALLOWED;

/// Checks that every provider that is locked, or required and not locked yet, is one that the
/// project file of that name allows.
#[must_use]
pub fn allowed(subject: Subject<'_>, policy: &Policy, project_file: &str) -> Vec<Finding> {
    let Some(allow) = &policy.allow else {
        return Vec::new();
    };
    let locked = subject.document.lock.providers.keys();
    let required = subject
        .requirements
        .into_iter()
        .flat_map(|all| all.providers.keys());
    let findings = refused(allow, locked.chain(required), subject.flavor)
        .into_iter()
        .map(|provider| not_allowed(subject, provider, project_file));
    findings.collect()
}

/// Returns the providers that are not allowed; what is built in needs no permission.
fn refused<'p>(
    allow: &Allow,
    providers: impl Iterator<Item = &'p ProviderAddr>,
    flavor: Flavor,
) -> BTreeSet<&'p ProviderAddr> {
    // What is no pattern to this flavor allows nothing here.
    let patterns = allow.patterns.iter();
    let patterns = patterns.filter_map(|text| ProviderPattern::parse(text, flavor).ok());
    let patterns: Vec<ProviderPattern> = patterns.collect();
    let is_refused = |provider: &&ProviderAddr| {
        !provider.is_builtin(flavor) && !patterns.iter().any(|pattern| pattern.allows(provider))
    };
    providers.filter(is_refused).collect()
}

/// Refuses providers that are about to be locked and that the project file of that name does not allow.
///
/// A rule that is turned off, or no error, refuses nothing: `verify` reports what it finds.
#[must_use]
pub fn not_lockable<'p>(
    project: &Project,
    project_file: &str,
    providers: impl Iterator<Item = &'p ProviderAddr>,
    requirements: &Requirements,
    flavor: Flavor,
) -> Vec<Finding> {
    let allow = project
        .policy
        .as_ref()
        .and_then(|policy| policy.allow.as_ref());
    let Some(allow) = allow else {
        return Vec::new();
    };
    let refused = refused(allow, providers, flavor).into_iter();
    let refused = refused.filter(|provider| is_error(project, NOT_ALLOWED, provider, flavor));
    let findings = refused.map(|provider| {
        let mut diagnostic = not_allowed_here(provider, project_file);
        let place = requirements
            .providers
            .get(provider)
            .and_then(|all| all.first());
        if let Some(place) = place {
            diagnostic = diagnostic.see(place.file, place.span, "required here");
        }
        let Place { file, span } = allow.place;
        Finding::about(
            provider,
            diagnostic.at(file, span, "only these are allowed"),
        )
    });
    findings.collect()
}

/// Returns what a project file demands of signatures on the providers that are about to be locked.
///
/// A pinned key counts unless its rule is turned off, or no error.
#[must_use]
#[cfg(feature = "fetch")]
pub fn demands(project: &Project, flavor: Flavor) -> SignatureDemands {
    let pins = project.policy.iter().flat_map(|policy| &policy.keys);
    let pins =
        pins.filter_map(|pin| Some((pin.provider.meaning(flavor)?.clone(), pin.key.clone())));
    let pins =
        pins.filter(|(provider, _)| is_error(project, rules::KEY_NOT_ALLOWED, provider, flavor));
    SignatureDemands {
        required: project.trust.require_signature.is_some(),
        keys: pins.collect(),
    }
}

fn is_error(project: &Project, rule: &str, provider: &ProviderAddr, flavor: Flavor) -> bool {
    let stated = project.rule(rule, Some(provider), flavor);
    stated.is_none_or(|stated| stated.level == Level::As(Severity::Error))
}

fn not_allowed_here(provider: &ProviderAddr, project_file: &str) -> Diagnostic {
    let title = format!("{provider} is not a provider that the policy allows");
    Diagnostic::error(NOT_ALLOWED, title).help(format!(
        "use another provider, or add \"{provider}\" to `allow` in {project_file}"
    ))
}

fn not_allowed(subject: Subject<'_>, provider: &ProviderAddr, project_file: &str) -> Finding {
    let mut diagnostic = not_allowed_here(provider, project_file);
    let required = subject
        .requirements
        .and_then(|all| all.providers.get(provider)?.first());
    let is_locked = subject.document.lock.providers.contains_key(provider);
    match (is_locked, required) {
        (true, place) => {
            diagnostic = diagnostic.at(subject.file, subject.header(provider), "locked here");
            if let Some(place) = place {
                diagnostic = diagnostic.see(place.file, place.span, "required here");
            }
        }
        (false, Some(place)) => {
            diagnostic = diagnostic.at(place.file, place.span, "required here");
        }
        (false, None) => {}
    }
    Finding::about(provider, diagnostic)
}

/// An entry of one of several roots.
#[derive(Clone, Debug)]
pub struct RootEntry<'a> {
    /// Which root, by whatever number the caller gave it.
    pub root: usize,
    /// The provider.
    pub provider: &'a ProviderAddr,
    /// The locked version.
    pub version: &'a Version,
    /// The lock file.
    pub file: FileId,
    /// Where the version stands in it.
    pub span: Span,
}

/// Finds entries that are older than the newest one of their provider in any root; each finding
/// comes with the number of its root, in the order of the roots.
#[must_use]
pub fn one_version(entries: &[RootEntry<'_>]) -> Vec<(usize, Finding)> {
    let mut newest: BTreeMap<&ProviderAddr, &RootEntry<'_>> = BTreeMap::new();
    for entry in entries {
        let known = newest.entry(entry.provider).or_insert(entry);
        if entry.version > known.version {
            *known = entry;
        }
    }
    let older = entries.iter().filter_map(|entry| {
        let newest = newest.get(entry.provider)?;
        (entry.version < newest.version).then(|| (entry.root, differs(entry, newest)))
    });
    let mut older: Vec<(usize, Finding)> = older.collect();
    older.sort_by_key(|(root, _)| *root);
    older
}

fn differs(entry: &RootEntry<'_>, newest: &RootEntry<'_>) -> Finding {
    let provider = entry.provider;
    let diagnostic = Diagnostic::warning(
        rules::VERSIONS_DIFFER,
        format!(
            "{provider} is locked at {} here and at {} elsewhere",
            entry.version, newest.version
        ),
    )
    .at(entry.file, entry.span, "the older version")
    .see(newest.file, newest.span, "the newest of all roots")
    .help(
        "delete the older entry and lock the root again; where that selects the same version, a \
         constraint holds it back",
    );
    Finding::about(provider, diagnostic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Texts;

    #[test]
    fn each_older_entry_is_found_in_its_root() {
        let mut texts = Texts::default();
        let addr = |text| ProviderAddr::parse(text, Flavor::Terraform1_16).expect("an address");
        let version = |text: &str| text.parse::<Version>().expect("a version");
        let (a, b) = (addr("a/a"), addr("b/b"));
        let rows = [
            (0, &a, version("1.0.0")),
            (0, &b, version("1.0.0")),
            (1, &a, version("1.2.0")),
            (2, &a, version("1.10.0")),
            (3, &a, version("1.10.0")),
            (3, &b, version("1.0.0")),
            (4, &a, version("1.10.0-beta")),
        ];
        let entries: Vec<RootEntry<'_>> = rows
            .iter()
            .map(|(root, provider, version)| RootEntry {
                root: *root,
                provider,
                version,
                file: texts.add(root.to_string(), Vec::new()),
                span: Span::default(),
            })
            .collect();
        let found = one_version(&entries);
        let titles: Vec<(usize, &str)> = found
            .iter()
            .map(|(root, finding)| (*root, &*finding.diagnostic.title))
            .collect();
        let title = |version| {
            format!("registry.terraform.io/a/a is locked at {version} here and at 1.10.0 elsewhere")
        };
        let wanted = [(0, "1.0.0"), (1, "1.2.0"), (4, "1.10.0-beta")];
        let wanted = wanted.map(|(root, version)| (root, title(version)));
        assert_eq!(
            titles,
            wanted.each_ref().map(|(root, title)| (*root, &**title))
        );
        // The newest is named where it stands first.
        let newest = &found[0].1.diagnostic.related[0];
        assert_eq!(texts.name(newest.file), "2");
    }
}
