//! Pinned signing keys against those of signatures: the part of a policy that needs the signers of releases.

use super::keys::pinned;
use super::subject::CheckedLock;
use super::upstream::Answers;
use crate::addr::ProviderAddr;
use crate::authenticate::Signer;
use crate::diag::{Diagnostic, Finding, rules};
use crate::package::KeyId;
use crate::project::Policy;

/// Checks that each release is signed by the key that the project file of that name pins for its
/// provider, if it pins one.
///
/// A primary key stands for its subkeys; a subkey stands for itself alone. A release whose
/// registry gave no answer is passed over.
#[must_use]
pub(super) fn check(
    subject: CheckedLock<'_>,
    policy: &Policy,
    answers: &Answers,
    project_file: &str,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (provider, key) in pinned(subject, policy) {
        let Some(list) = answers
            .get(provider)
            .and_then(|answer| answer.list.as_ref())
        else {
            continue;
        };
        if list.signers.is_empty() {
            findings.push(refuse_unsigned(subject, provider, key, project_file));
        }
        for signer in list.signers.iter().filter(|signer| !signer.is(key)) {
            findings.push(refuse(subject, provider, key, signer, project_file));
        }
    }
    findings
}

fn refuse(
    subject: CheckedLock<'_>,
    provider: &ProviderAddr,
    pinned: &KeyId,
    signer: &Signer,
    project_file: &str,
) -> Finding {
    let version = &subject.document.lock.providers[provider].version;
    let found = &signer.key_id;
    let title =
        format!("{provider} {version} is signed by key {found}, which the policy does not pin");
    let by_subkey = match &signer.subkey {
        Some(subkey) => format!(", by its subkey {subkey}"),
        None => String::new(),
    };
    let remark = format!("signed by {}{by_subkey}", signer.fingerprint);
    let diagnostic = Diagnostic::error(rules::KEY_NOT_ALLOWED, title)
        .at(subject.file, subject.version(provider), remark)
        .help(format!(
            "{project_file} pins {}: only if the publisher says that the key has changed, pin the new \
             one there",
            pinned.as_str()
        ));
    Finding::about(provider, diagnostic)
}

/// Reports a release for which its registry names no key, although one is pinned.
fn refuse_unsigned(
    subject: CheckedLock<'_>,
    provider: &ProviderAddr,
    pinned: &KeyId,
    project_file: &str,
) -> Finding {
    let version = &subject.document.lock.providers[provider].version;
    let title = format!("{provider} {version} is not signed, and the policy pins a key");
    let diagnostic = Diagnostic::error(rules::KEY_NOT_ALLOWED, title)
        .at(
            subject.file,
            subject.version(provider),
            "its registry names no key",
        )
        .help(format!(
            "{project_file} pins {}: find out why the registry does not name that key any more",
            pinned.as_str()
        ));
    Finding::about(provider, diagnostic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authenticate::Class;
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
