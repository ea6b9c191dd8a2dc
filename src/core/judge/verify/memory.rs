//! The memory of a project file: steps down from what it says about signers and origin of a provider.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::known::LockedBuilds;
use super::subject::CheckedLock;
use crate::addr::ProviderAddr;
use crate::contents::{ReleaseBuilds, without_major};
use crate::diag::{self, Finding, rules};
use crate::flavor::Flavor;
use crate::hash::{Hashes, Scheme};
use crate::lockfile::LockFile;
use crate::package::SignerKey;
use crate::project::{Project, RememberedProvider};

/// What is known today of a locked release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReleaseOrigin {
    /// The keys that signed it; empty if nothing signs it, `None` if that is not known.
    pub signers: Option<BTreeSet<SignerKey>>,
    /// The main modules of its programs, without their major version; none if they are not known.
    pub modules: BTreeSet<String>,
    /// The number of `zh:` hashes of the entry.
    pub zh: usize,
}

/// A step down from what is remembered of a provider.
///
/// Displayed as a clause: no capital letter, no period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepDown {
    /// Another key signed the release.
    OtherKey(SignerKey),
    /// Nothing signs the release, and a key signed those before.
    Unsigned,
    /// The program is built from another module.
    OtherModule {
        /// The module that is remembered.
        from: String,
        /// The module now.
        to: String,
    },
    /// The entry has fewer `zh:` hashes.
    FewerHashes {
        /// The number that is remembered.
        from: usize,
        /// The number now.
        to: usize,
    },
}

impl StepDown {
    /// Returns the name of its rule.
    #[must_use]
    pub fn rule(&self) -> &'static str {
        match self {
            Self::OtherKey(_) => rules::KEY_CHANGED,
            Self::Unsigned => rules::SIGNATURE_LOST,
            Self::OtherModule { .. } => rules::ORIGIN_CHANGED,
            Self::FewerHashes { .. } => rules::ZH_LOST,
        }
    }
}

impl fmt::Display for StepDown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherKey(key) => write!(f, "signed by another key, {}", key.fingerprint),
            Self::Unsigned => f.write_str("not signed any more"),
            Self::OtherModule { from, to } => {
                write!(f, "built from {to}, which was {from} before")
            }
            Self::FewerHashes { from, to } => {
                write!(f, "locked with {to} zh: hashes, which were {from} before")
            }
        }
    }
}

impl ReleaseOrigin {
    /// Makes it of what is known of an entry.
    #[must_use]
    pub fn new<'s>(
        signers: Option<impl IntoIterator<Item = &'s SignerKey>>,
        builds: Option<&ReleaseBuilds>,
        hashes: &Hashes,
    ) -> Self {
        let known = builds.into_iter().flat_map(ReleaseBuilds::known);
        let modules = known.filter_map(|(_, info)| info.main.as_ref());
        Self {
            signers: signers.map(|signers| signers.into_iter().cloned().collect()),
            modules: modules
                .map(|module| without_major(&module.path).to_owned())
                .collect(),
            zh: hashes.of(Scheme::Zh).count(),
        }
    }

    /// Lists the steps down from what is remembered. What is not known is none.
    #[must_use]
    pub fn steps_down(&self, remembered: &RememberedProvider) -> Vec<StepDown> {
        let mut steps = Vec::new();
        if let (Some(signers), Some(keys)) = (&self.signers, &remembered.signed_by)
            && !keys.is_empty()
        {
            if signers.is_empty() {
                steps.push(StepDown::Unsigned);
            }
            let others = signers
                .iter()
                .filter(|signer| !keys.iter().any(|key| signer.is(key)));
            steps.extend(others.cloned().map(StepDown::OtherKey));
        }
        if let Some(module) = &remembered.module {
            let others = self.modules.iter().filter(|path| *path != module);
            steps.extend(others.map(|path| StepDown::OtherModule {
                from: module.clone(),
                to: path.clone(),
            }));
        }
        if let Some(count) = remembered.zh.filter(|count| self.zh < *count) {
            steps.push(StepDown::FewerHashes {
                from: count,
                to: self.zh,
            });
        }
        steps
    }
}

/// Returns the steps down of a lock file from what a project file remembers, by provider.
#[must_use]
pub fn steps_down<'l>(
    lock: &'l LockFile,
    project: &Project,
    flavor: Flavor,
    signers: &BTreeMap<ProviderAddr, Vec<SignerKey>>,
    builds: &LockedBuilds,
) -> Vec<(&'l ProviderAddr, StepDown)> {
    let mut steps = Vec::new();
    for (provider, entry) in &lock.providers {
        let Some(remembered) = project.trust.remembered(provider, flavor) else {
            continue;
        };
        let known = signers.get(provider);
        let origin = ReleaseOrigin::new(known, builds.get(provider), &entry.hashes);
        let from_memory = origin.steps_down(remembered).into_iter();
        steps.extend(from_memory.map(|step| (provider, step)));
    }
    steps
}

/// Reports the steps down of a root from what the project file of that name remembers.
#[must_use]
pub(super) fn check(
    subject: CheckedLock<'_>,
    project: &Project,
    project_file: &str,
    signers: &BTreeMap<ProviderAddr, Vec<SignerKey>>,
    builds: &LockedBuilds,
) -> Vec<Finding> {
    let (lock, flavor) = (&subject.document.lock, subject.flavor);
    let mut findings = Vec::new();
    for (provider, step) in steps_down(lock, project, flavor, signers, builds) {
        let title = format!("{provider} {} is {step}", lock.providers[provider].version);
        let (at, note) = match &step {
            StepDown::OtherKey(_) => (subject.version(provider), "its registry states this key"),
            StepDown::Unsigned => (subject.version(provider), "its registry states no key"),
            StepDown::OtherModule { .. } => (subject.version(provider), "the locked release"),
            StepDown::FewerHashes { .. } => (subject.hashes(provider), "the hashes of this entry"),
        };
        let mut diagnostic = diag::named(step.rule())
            .diagnostic(title)
            .at(subject.file, at, note)
            .help(format!(
                "find out why outside of the registry; `lockctl explain {}` says how to accept it",
                step.rule()
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
