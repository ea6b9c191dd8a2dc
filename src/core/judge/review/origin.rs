//! Signers and origin of releases, and the steps down from what was known before.

use std::collections::BTreeSet;
use std::fmt;

use crate::contents::{ReleaseBuilds, without_major};
use crate::diag::rules;
use crate::hash::{Hashes, Scheme};
use crate::package::{KeyId, SignerKey};
use crate::project::RememberedProvider;

/// The signers and the origin of a locked release, as far as they are known.
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
        /// The module of the new release.
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
            let others = signers.iter().filter(|signer| !is_known(signer));
            steps.extend(others.cloned().map(StepDown::OtherKey));
        }
        if let Some(module) = before.modules.first() {
            let others = self.modules.difference(&before.modules);
            steps.extend(others.map(|path| StepDown::OtherModule {
                from: module.clone(),
                to: path.clone(),
            }));
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
            zh: remembered.zh.unwrap_or_default(),
        }
    }
}
