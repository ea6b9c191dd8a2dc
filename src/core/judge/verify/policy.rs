//! The group *policy*: the providers, keys and versions that a team allows (`project` rules 2.2).
//!
//! [`allowed`] judges one root by the project file that governs it. [`one_version`] compares all
//! roots of a run; its rule is off unless a project file states a level for it.

use std::collections::{BTreeMap, BTreeSet};

use super::levels;
use super::subject::CheckedLock;
use crate::addr::{ProviderAddr, ProviderPattern};
use crate::diag::{Diagnostic, FileId, Finding, Span, rules};
use crate::flavor::Flavor;
use crate::project::{Allow, Policy, Project, SettingPlace};
use crate::requirement::Requirements;
use crate::version::Version;

/// Checks that every provider that is locked, or required and not locked yet, is one that the
/// project file of that name allows.
#[must_use]
pub fn allowed(subject: CheckedLock<'_>, policy: &Policy, project_file: &str) -> Vec<Finding> {
    let Some(allow) = &policy.allow else {
        return Vec::new();
    };
    let required = subject
        .requirements
        .into_iter()
        .flat_map(|requirements| requirements.providers.keys());
    let providers = subject.document.lock.providers.keys().chain(required);
    let mut findings = Vec::new();
    for provider in refused(allow, providers, subject.flavor) {
        let mut diagnostic = not_allowed(provider, project_file);
        let required = subject
            .requirements
            .and_then(|requirements| requirements.providers.get(provider)?.first());
        let is_locked = subject.document.lock.providers.contains_key(provider);
        if is_locked {
            diagnostic = diagnostic.at(subject.file, subject.header(provider), "locked here");
        }
        let note = "required here";
        let diagnostic = match required {
            Some(place) if is_locked => diagnostic.see(place.file, place.span, note),
            Some(place) => diagnostic.at(place.file, place.span, note),
            None => diagnostic,
        };
        findings.push(Finding::about(provider, diagnostic));
    }
    findings
}

/// Returns the providers that are not allowed; built-in ones need no permission.
fn refused<'p>(
    allow: &Allow,
    providers: impl Iterator<Item = &'p ProviderAddr>,
    flavor: Flavor,
) -> BTreeSet<&'p ProviderAddr> {
    // A text that is no pattern to this flavor allows nothing here; reading the project file reports it.
    let patterns: Vec<ProviderPattern> = allow
        .patterns
        .iter()
        .filter_map(|text| ProviderPattern::parse(text, flavor).ok())
        .collect();
    providers
        .filter(|provider| {
            !provider.is_builtin(flavor) && !patterns.iter().any(|pattern| pattern.allows(provider))
        })
        .collect()
}

/// Reports providers that are about to be locked and that the project file of that name does not allow.
///
/// Each has the level that the project file states for the rule, and only an error forbids to lock.
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
    let mut findings = Vec::new();
    for provider in refused(allow, providers, flavor) {
        let mut diagnostic = not_allowed(provider, project_file);
        let required = requirements.providers.get(provider);
        if let Some(place) = required.and_then(|places| places.first()) {
            diagnostic = diagnostic.see(place.file, place.span, "required here");
        }
        let SettingPlace { file, span } = allow.place;
        let diagnostic = diagnostic.at(file, span, "only these are allowed");
        findings.push(Finding::about(provider, diagnostic));
    }
    let (reported, _) = levels::apply(findings, &[], project, flavor);
    reported
}

fn not_allowed(provider: &ProviderAddr, project_file: &str) -> Diagnostic {
    let title = format!("{provider} is not a provider that the policy allows");
    Diagnostic::error(rules::PROVIDER_NOT_ALLOWED, title).help(format!(
        "use another provider, or add \"{provider}\" to `allow` in {project_file}"
    ))
}

/// An entry of one of several roots.
#[derive(Clone, Debug)]
pub struct RootEntry<'a> {
    /// The number that the caller gave to the root.
    pub root: usize,
    /// The address of the entry.
    pub provider: &'a ProviderAddr,
    /// The version that is locked.
    pub version: &'a Version,
    /// The text of the lock file.
    pub file: FileId,
    /// The place of the version in it.
    pub span: Span,
}

/// Finds entries that are older than the newest one of their provider in any root; each finding
/// comes with the number of its root, in the order of the roots.
#[must_use]
pub fn one_version(entries: &[RootEntry<'_>]) -> Vec<(usize, Finding)> {
    let mut newest: BTreeMap<&ProviderAddr, &RootEntry<'_>> = BTreeMap::new();
    for entry in entries {
        let greatest = newest.entry(entry.provider).or_insert(entry);
        if entry.version > greatest.version {
            *greatest = entry;
        }
    }
    let mut older = Vec::new();
    for entry in entries {
        let provider = entry.provider;
        let newest = newest[provider];
        if entry.version >= newest.version {
            continue;
        }
        let title = format!(
            "{provider} is locked at {} here and at {} elsewhere",
            entry.version, newest.version
        );
        let diagnostic = Diagnostic::warning(rules::VERSIONS_DIFFER, title)
            .at(entry.file, entry.span, "the older version")
            .see(newest.file, newest.span, "the newest of all roots")
            .help(
                "delete the older entry and lock the root again; where that selects the same version, a \
                 constraint holds it back",
            );
        older.push((entry.root, Finding::about(provider, diagnostic)));
    }
    older.sort_by_key(|(root, _)| *root);
    older
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
