//! Signers and origin of releases, and the steps down from what was known before.

use std::collections::BTreeSet;
use std::fmt;

use crate::contents::{ReleaseBuilds, without_major};
use crate::diag::{counted, rules};
use crate::hash::{Hashes, Scheme};
use crate::package::{AttestedBuild, AttestedBuilds, KeyId, SignerKey};
use crate::project::RememberedProvider;

/// The signers and the origin of a locked release, as far as they are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReleaseOrigin {
    /// The keys that signed it; empty if nothing signs it, `None` if that is not known.
    pub signers: Option<BTreeSet<SignerKey>>,
    /// The main modules of its programs, without their major version; none if they are not known.
    pub modules: BTreeSet<String>,
    /// The repositories whose workflows attest that they built its packages; none if that is not known.
    pub repositories: BTreeSet<String>,
    /// The number of packages that were found to have no attestation.
    pub unattested: usize,
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
        /// The module of the new release.
        to: String,
    },
    /// Packages have no attestation, and a repository attested those before.
    Unattested {
        /// The number of packages without one.
        packages: usize,
        /// The repository that is remembered.
        repository: String,
    },
    /// Another repository attests its packages.
    OtherRepository {
        /// The repository that is remembered.
        from: String,
        /// The repository of the new release.
        to: String,
    },
    /// The entry has fewer `zh:` hashes.
    FewerHashes {
        /// The number that is remembered.
        from: usize,
        /// The number of the new entry.
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
            Self::Unattested { .. } | Self::OtherRepository { .. } => rules::PROVENANCE_LOST,
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
            Self::Unattested {
                packages,
                repository,
            } => {
                let packages = counted(*packages, "package");
                write!(
                    f,
                    "locked with {packages} that {repository} does not attest any more"
                )
            }
            Self::OtherRepository { from, to } => {
                write!(f, "attested by {to}, which was {from} before")
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
        attested: Option<&AttestedBuilds>,
        hashes: &Hashes,
    ) -> Self {
        // The list of a release may have packages that this entry does not accept.
        let attested: Vec<_> = attested
            .into_iter()
            .flatten()
            .filter(|(zh, _)| hashes.contains(zh))
            .collect();
        let repository =
            |(_, build): &(_, &Option<AttestedBuild>)| Some(build.as_ref()?.repository.clone());
        Self {
            signers: signers.map(|signers| signers.into_iter().cloned().collect()),
            modules: builds
                .into_iter()
                .flat_map(ReleaseBuilds::known)
                .filter_map(|(_, info)| info.main.as_ref())
                .map(|module| without_major(&module.path).to_owned())
                .collect(),
            repositories: attested.iter().filter_map(repository).collect(),
            unattested: attested.iter().filter(|(_, build)| build.is_none()).count(),
            zh: hashes.of(Scheme::Zh).count(),
        }
    }

    /// Returns true if one repository attests every package that was asked about.
    #[must_use]
    pub fn is_attested(&self) -> bool {
        self.repositories.len() == 1 && self.unattested == 0
    }

    /// Lists the steps down from what was known before. What is not known is none.
    #[must_use]
    pub fn steps_down(&self, before: &Self) -> Vec<StepDown> {
        let mut steps = Vec::new();
        if let (Some(signers), Some(known)) = (&self.signers, &before.signers)
            && !known.is_empty()
        {
            if signers.is_empty() {
                steps.push(StepDown::Unsigned);
            }
            // A primary key includes its subkeys.
            let is_known = |signer: &SignerKey| {
                known.iter().any(|key| {
                    let primary = &key.fingerprint;
                    signer.fingerprint == *primary || signer.subkey.as_ref() == Some(primary)
                })
            };
            steps.extend(
                signers
                    .iter()
                    .filter(|signer| !is_known(signer))
                    .cloned()
                    .map(StepDown::OtherKey),
            );
        }
        if let Some(module) = before.modules.first() {
            let others = self.modules.difference(&before.modules);
            steps.extend(others.map(|path| StepDown::OtherModule {
                from: module.clone(),
                to: path.clone(),
            }));
        }
        if let Some(repository) = before.repositories.first() {
            if self.unattested > 0 {
                steps.push(StepDown::Unattested {
                    packages: self.unattested,
                    repository: repository.clone(),
                });
            }
            // GitHub compares names without regard to case.
            let is_known = |name: &&String| {
                before
                    .repositories
                    .iter()
                    .any(|other| other.eq_ignore_ascii_case(name))
            };
            steps.extend(
                self.repositories
                    .iter()
                    .filter(|name| !is_known(name))
                    .map(|to| StepDown::OtherRepository {
                        from: repository.clone(),
                        to: to.clone(),
                    }),
            );
        }
        if self.zh < before.zh {
            steps.push(StepDown::FewerHashes {
                from: before.zh,
                to: self.zh,
            });
        }
        steps
    }
}

impl From<&RememberedProvider> for ReleaseOrigin {
    fn from(remembered: &RememberedProvider) -> Self {
        let key = |key: &KeyId| SignerKey {
            fingerprint: key.as_str().to_owned(),
            subkey: None,
        };
        let keys = remembered.signed_by.as_ref();
        Self {
            signers: keys.map(|keys| keys.iter().map(key).collect()),
            modules: remembered.module.iter().cloned().collect(),
            repositories: remembered.provenance.iter().cloned().collect(),
            unattested: 0,
            zh: remembered.zh.unwrap_or_default(),
        }
    }
}
