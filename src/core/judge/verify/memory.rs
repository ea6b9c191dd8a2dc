//! The memory of a project file: steps down from what it says about signers and origin of a provider.

use super::known::{AskedAttestations, LockedBuilds, LockedReleases, LockedSigners};
use super::subject::CheckedLock;
use crate::addr::ProviderAddr;
use crate::diag::{self, Diagnostic, Finding, rules};
use crate::flavor::Flavor;
use crate::lockfile::LockFile;
use crate::project::Project;
use crate::review::{KnownSigners, ReleaseOrigin, StepDown};

/// The known signers and origins of locked releases.
#[derive(Clone, Copy)]
pub struct KnownOrigins<'a> {
    /// The locked releases, by facts.
    pub locked: &'a LockedReleases,
    /// The keys that registries state now; `None` if they are not asked, and facts decide.
    pub stated: Option<&'a LockedSigners>,
    /// Returns the signers of all releases of a provider that facts know.
    pub releases: &'a dyn Fn(&ProviderAddr) -> KnownSigners,
    /// The build information of the programs.
    pub builds: &'a LockedBuilds,
}

/// Returns the steps down of a lock file from what a project file remembers, by provider.
#[must_use]
pub fn steps_down<'l>(
    lock: &'l LockFile,
    project: &Project,
    flavor: Flavor,
    known: KnownOrigins<'_>,
) -> Vec<(&'l ProviderAddr, StepDown)> {
    let mut steps = Vec::new();
    for (provider, entry) in &lock.providers {
        let Some(remembered) = project.trust.remembered(provider, flavor) else {
            continue;
        };
        let origin = ReleaseOrigin::new(
            entry,
            // What a registry states now counts before facts, which may be of another day.
            match known.stated {
                Some(stated) => stated.get(provider),
                None => known.locked.signers(provider),
            },
            known.builds.get(provider),
            known.locked.attested(provider),
        );
        steps.extend(
            origin
                .steps_down(&remembered.into(), || (known.releases)(provider))
                .into_iter()
                .map(|step| (provider, step)),
        );
    }
    steps
}

/// Reports the steps down of a root from what the project file of that name remembers.
#[must_use]
pub(super) fn check(
    subject: CheckedLock<'_>,
    project: &Project,
    project_file: &str,
    known: KnownOrigins<'_>,
) -> Vec<Finding> {
    let (lock, flavor) = (&subject.document.lock, subject.flavor);
    let mut findings = Vec::new();
    for (provider, step) in steps_down(lock, project, flavor, known) {
        let title = format!(
            "{provider} {} is {}",
            lock.providers[provider].version, step.text
        );
        // The finding is beside what an edit would change: the hashes, else the version.
        let version = subject.version(provider);
        let (at, note) = match (step.rule, &step.earlier_keys) {
            (_, Some(earlier)) if known.stated.is_some() => {
                (version, format!("its registry states this key; {earlier}"))
            }
            (_, Some(earlier)) => {
                let note = "when it was locked here, its registry stated this key";
                (version, format!("{note}; {earlier}"))
            }
            // Facts are kept of signed lists alone, so a registry was asked.
            (rules::SIGNATURE_LOST, _) => (version, "its registry states no key".to_owned()),
            (rules::ZH_LOST, _) => {
                let note = "the hashes of this entry".to_owned();
                (subject.hashes(provider), note)
            }
            _ => (version, "the locked release".to_owned()),
        };
        let mut diagnostic = diag::named(step.rule)
            .diagnostic(title)
            .at(subject.file, at, note)
            .help(format!(
                "find out why outside of the registry; `lockctl explain {}` says how to accept it",
                step.rule
            ));
        if let Some(remembered) = project.trust.remembered(provider, flavor) {
            let since = remembered.since.as_deref().unwrap_or("an unknown day");
            let note = format!("{project_file} remembers this since {since}");
            diagnostic = diagnostic.see(remembered.place.file, remembered.place.span, note);
        }
        findings.push(Finding::about(provider, diagnostic));
    }
    findings
}

/// Reports attestations that do not hold.
#[must_use]
pub(super) fn invalid(subject: CheckedLock<'_>, asked: &AskedAttestations) -> Vec<Finding> {
    asked
        .invalid
        .iter()
        .map(|(provider, reason)| {
            let version = &subject.document.lock.providers[provider].version;
            let title =
                format!("a package of {provider} {version} counts as not attested: {reason}");
            let diagnostic = Diagnostic::warning(rules::PROVENANCE_INVALID, title)
                .at(
                    subject.file,
                    subject.version(provider),
                    "the locked release",
                )
                .help("ask the publisher which workflow builds the release");
            Finding::about(provider, diagnostic)
        })
        .collect()
}
