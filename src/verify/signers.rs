//! Pinned signing keys against those of signatures: the part of a policy that needs the signers of releases.

use std::collections::BTreeMap;

use super::keys::pinned;
use super::subject::CheckedLock;
use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, Finding, rules};
use crate::package::SignerKey;
use crate::project::Policy;

/// Checks that each release is signed by the key that the project file of that name pins for its
/// provider, if it pins one.
///
/// A primary key stands for its subkeys; a subkey stands for itself alone. A release whose
/// signers are unknown is passed over.
#[must_use]
pub fn check(
    subject: CheckedLock<'_>,
    policy: &Policy,
    signers: &BTreeMap<ProviderAddr, Vec<SignerKey>>,
    project_file: &str,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (provider, key) in pinned(subject, policy) {
        let Some(signers) = signers.get(provider) else {
            continue;
        };
        let version = &subject.document.lock.providers[provider].version;
        let mut refuse = |title: String, remark: String, help: &str| {
            let diagnostic = Diagnostic::error(rules::KEY_NOT_ALLOWED, title)
                .at(subject.file, subject.version(provider), remark)
                .help(format!("{project_file} pins {}: {help}", key.as_str()));
            findings.push(Finding::about(provider, diagnostic));
        };
        // With a pin an unsigned release is refused, which the programs accept (`locker` rules 3.4).
        if signers.is_empty() {
            refuse(
                format!("{provider} {version} is not signed, and the policy pins a key"),
                "its registry names no key".to_owned(),
                "find out why the registry does not name that key any more",
            );
        }
        // Each platform may have a list of its own, and every one of them must be signed by the pinned key.
        for signer in signers.iter().filter(|signer| !signer.is(key)) {
            let by_subkey = match &signer.subkey {
                Some(subkey) => format!(", by its subkey {subkey}"),
                None => String::new(),
            };
            refuse(
                format!(
                    "{provider} {version} is signed by key {}, which the policy does not pin",
                    signer.key_id()
                ),
                format!("signed by {}{by_subkey}", signer.fingerprint),
                "only if the publisher says that the key has changed, pin the new one there",
            );
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use crate::authenticate::{Class, Signer};
    use crate::diag::Texts;
    use crate::project;

    const PRIMARY: &str = "C874011F0AB405110D02105534365D9472D7468F";
    const SUBKEY: &str = "B36CBA91A2C0730C435FC280B0B441097685B676";

    #[track_caller]
    fn check(pin: &str, subkey: Option<&str>, wanted: bool) {
        let text = format!("policy {{\n  provider \"a/b\" {{ key_id = \"{pin}\" }}\n}}\n");
        let file = Texts::default().add("", text.clone().into_bytes());
        let (project, problems) = project::parse(file, text.as_bytes());
        assert!(problems.is_empty(), "{problems:?}");
        let key = &project.policy.expect("a policy").keys[0].key;
        let signer = Signer {
            class: Class::HashiCorp,
            key_id: PRIMARY[24..].to_owned(),
            fingerprint: PRIMARY.to_owned(),
            subkey: subkey.map(str::to_owned),
            remarks: Vec::new(),
        };
        assert_eq!(signer.is(key), wanted, "{pin}");
    }

    #[test]
    fn a_primary_key_stands_for_its_subkeys() {
        for by in [None, Some(SUBKEY)] {
            check(PRIMARY, by, true);
            check(&PRIMARY[24..], by, true);
            check(&PRIMARY[24..].to_lowercase(), by, true);
            // The beginning of a fingerprint is no ID.
            check(&PRIMARY[..16], by, false);
            let is_subkey = by.is_some();
            check(SUBKEY, by, is_subkey);
            check(&SUBKEY[24..], by, is_subkey);
        }
    }
}
