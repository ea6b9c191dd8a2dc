//! Signers and origin of releases, and the steps down from what was known before.

use std::collections::{BTreeMap, BTreeSet};

use crate::contents::{ReleaseBuilds, without_major};
use crate::diag::{counted, rules};
use crate::hash::Scheme;
use crate::lockfile::ProviderLock;
use crate::package::{AttestedBuild, AttestedBuilds, KeyId, SignerKey};
use crate::project::RememberedProvider;
use crate::version::Version;

/// The signers of all known releases of a provider.
pub type KnownSigners = BTreeMap<Version, BTreeSet<SignerKey>>;

/// The signers and the origin of a locked release, as far as they are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReleaseOrigin {
    /// The release; `None` for what is remembered of all releases of a provider.
    pub version: Option<Version>,
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

/// A step down in who signs a release, or where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "TrustChange"))]
pub struct StepDown {
    /// The name of the rule that `verify` reports it by.
    pub rule: &'static str,
    /// The step in words.
    pub text: String,
    /// A clause about the earlier keys, if another key signed the release.
    #[serde(skip)]
    pub earlier_keys: Option<String>,
}

impl StepDown {
    fn new(rule: &'static str, text: String) -> Self {
        Self {
            rule,
            text,
            earlier_keys: None,
        }
    }

    /// Makes the step to another key, by the known releases that it and the earlier keys sign.
    fn other_key(releases: &KnownSigners, key: &SignerKey, earlier: &BTreeSet<SignerKey>) -> Self {
        let since = releases
            .iter()
            .find(|(_, signers)| signers.contains(key))
            .map(|(version, _)| version);
        let newest_earlier = releases
            .iter()
            .rev()
            .find(|(_, signers)| signers.iter().any(|signer| is_among(signer, earlier)))
            .map(|(version, _)| version);
        let earlier_keys = match newest_earlier {
            None => "no release that an earlier key signs is known here".to_owned(),
            Some(version) if since.is_some_and(|since| version > since) => {
                format!("an earlier key still signs {version}")
            }
            Some(version) => {
                format!("the newest known release that an earlier key signs is {version}")
            }
        };
        // Releases that are not known here may have been signed by it before.
        let since = since.map_or_else(String::new, |since| {
            format!(", since {since} at the latest")
        });
        let text = format!("signed by another key, {}{since}", key.fingerprint);
        Self {
            earlier_keys: Some(earlier_keys),
            ..Self::new(rules::KEY_CHANGED, text)
        }
    }

    /// Returns it with what is known of the earlier keys.
    #[must_use]
    pub fn in_full(&self) -> String {
        match &self.earlier_keys {
            Some(earlier_keys) => format!("{}; {earlier_keys}", self.text),
            None => self.text.clone(),
        }
    }
}

/// Returns true if one of the keys made a signature; a primary key includes its subkeys.
fn is_among(signer: &SignerKey, keys: &BTreeSet<SignerKey>) -> bool {
    keys.iter().any(|key| {
        let primary = &key.fingerprint;
        signer.fingerprint == *primary || signer.subkey.as_ref() == Some(primary)
    })
}

impl ReleaseOrigin {
    /// Makes it of what is known of an entry.
    #[must_use]
    pub fn new(
        entry: &ProviderLock,
        signers: Option<&BTreeSet<SignerKey>>,
        builds: Option<&ReleaseBuilds>,
        attested: Option<&AttestedBuilds>,
    ) -> Self {
        let hashes = &entry.hashes;
        // The list of a release may have packages that this entry does not accept.
        let attested: Vec<_> = attested
            .into_iter()
            .flatten()
            .filter(|(zh, _)| hashes.contains(zh))
            .collect();
        let repository =
            |(_, build): &(_, &Option<AttestedBuild>)| Some(build.as_ref()?.repository.clone());
        Self {
            version: Some(entry.version.clone()),
            signers: signers.cloned(),
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
    ///
    /// `releases` returns what is known of other releases; called only if another key signed this one.
    #[must_use]
    pub fn steps_down(
        &self,
        before: &Self,
        releases: impl FnOnce() -> KnownSigners,
    ) -> Vec<StepDown> {
        let mut steps = Vec::new();
        if let (Some(signers), Some(known)) = (&self.signers, &before.signers)
            // From no signature there is no step down.
            && !known.is_empty()
        {
            steps.extend(self.signature_steps(signers, known, releases));
        }
        // Without a known module before, any is a first sight and no change.
        if let Some(module) = before.modules.first() {
            for path in self.modules.difference(&before.modules) {
                let text = format!("built from {path}, which was {module} before");
                steps.push(StepDown::new(rules::ORIGIN_CHANGED, text));
            }
        }
        if let Some(repository) = before.repositories.first() {
            if self.unattested > 0 {
                let packages = counted(self.unattested, "package");
                let text =
                    format!("locked with {packages} that {repository} does not attest any more");
                steps.push(StepDown::new(rules::PROVENANCE_LOST, text));
            }
            // GitHub compares names without regard to case.
            let is_known = |name: &&String| {
                before
                    .repositories
                    .iter()
                    .any(|other| other.eq_ignore_ascii_case(name))
            };
            for name in self.repositories.iter().filter(|name| !is_known(name)) {
                let text = format!("attested by {name}, which was {repository} before");
                steps.push(StepDown::new(rules::PROVENANCE_LOST, text));
            }
        }
        if self.zh < before.zh {
            let (from, to) = (before.zh, self.zh);
            let text = format!("locked with {to} zh: hashes, which were {from} before");
            steps.push(StepDown::new(rules::ZH_LOST, text));
        }
        steps
    }

    /// Lists the steps down from the keys that signed the releases before.
    fn signature_steps(
        &self,
        signers: &BTreeSet<SignerKey>,
        earlier: &BTreeSet<SignerKey>,
        releases: impl FnOnce() -> KnownSigners,
    ) -> Vec<StepDown> {
        if signers.is_empty() {
            let text = "not signed any more".to_owned();
            return vec![StepDown::new(rules::SIGNATURE_LOST, text)];
        }
        let others: Vec<&SignerKey> = signers
            .iter()
            .filter(|signer| !is_among(signer, earlier))
            .collect();
        if others.is_empty() {
            return Vec::new();
        }
        let mut known = releases();
        // A registry may have named another key for it than facts know.
        if let Some(version) = &self.version {
            let signers_now = signers.iter().cloned();
            known
                .entry(version.clone())
                .or_default()
                .extend(signers_now);
        }
        others
            .into_iter()
            .map(|key| StepDown::other_key(&known, key, earlier))
            .collect()
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
            version: None,
            signers: keys.map(|keys| keys.iter().map(key).collect()),
            modules: remembered.module.iter().cloned().collect(),
            repositories: remembered.provenance.iter().cloned().collect(),
            unattested: 0,
            zh: remembered.zh.unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row has releases as `VERSION KEYS`, the keys being letters; `n` is the other key, and `o` the earlier one.
    #[track_caller]
    fn check(releases: &[&str], since: &str, earlier: &str) {
        let key = |letter: char| SignerKey {
            fingerprint: letter.to_string(),
            subkey: None,
        };
        let known: KnownSigners = releases
            .iter()
            .filter_map(|release| release.split_once(' '))
            .map(|(version, keys)| {
                let version = version.parse().expect("a version");
                (version, keys.chars().map(key).collect())
            })
            .collect();
        let step = StepDown::other_key(&known, &key('n'), &BTreeSet::from([key('o')]));
        let text = format!("signed by another key, n, since {since} at the latest; {earlier}");
        assert_eq!(step.in_full(), text, "{releases:?}");
    }

    #[test]
    fn known_releases_show_what_both_keys_sign() {
        let none = "no release that an earlier key signs is known here";
        check(&["1.1.0 n"], "1.1.0", none);
        check(&["1.1.0 n", "1.0.0 x"], "1.1.0", none);
        let until = "the newest known release that an earlier key signs is 1.9.0";
        check(
            &["1.2.0 o", "1.9.0 o", "1.10.0 n", "1.11.0 n"],
            "1.10.0",
            until,
        );
        check(&["1.9.0 on"], "1.9.0", until);
        let still = "an earlier key still signs 1.2.1";
        check(&["1.0.0 o", "1.2.0 n", "1.2.1 o"], "1.2.0", still);
    }
}
