//! Hashes of the version that was locked before, as a bad merge leaves them.

use super::known::CarriedHashes;
use super::subject::CheckedLock;
use crate::coverage::Attributions;
use crate::diag::{Diagnostic, Finding, counted_as, rules};
use crate::hash::{Hash, Scheme};

/// Returns true if some entry has a hash that is not known to be of its release.
#[must_use]
pub(super) fn may_be(subject: CheckedLock<'_>, attributions: &Attributions) -> bool {
    let of_entries = &subject.document.lock.providers;
    of_entries.iter().any(|(provider, entry)| {
        let known = attributions.get(provider);
        let is_known = |hash: &Hash| known.is_some_and(|known| known.is_of_release(hash));
        entry.hashes.known().any(|hash| !is_known(hash))
    })
}

/// Reports entries that have hashes of the version before.
#[must_use]
pub(super) fn check(
    subject: CheckedLock<'_>,
    carried: &[CarriedHashes],
    attributions: &Attributions,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for CarriedHashes {
        provider,
        version,
        hashes,
    } in carried
    {
        let Some(entry) = subject.document.lock.providers.get(provider) else {
            continue;
        };
        // A publisher may use a file in two releases: a hash that is known to be of the locked one is no fault.
        let known = attributions.get(provider);
        let is_of_release = |hash: &&Hash| known.is_some_and(|known| known.is_of_release(hash));
        let wrong: Vec<&Hash> = hashes.iter().filter(|hash| !is_of_release(hash)).collect();
        let has_h1 = wrong.iter().any(|hash| hash.scheme() == Scheme::H1);
        // A single `zh:` may be that of the manifest, which is often the same in both releases.
        if !has_h1 && wrong.len() < 2 {
            continue;
        }
        let title = format!(
            "{provider} {} is locked with {} of {version}",
            entry.version,
            counted_as(wrong.len(), "hash", "hashes"),
        );
        let places = wrong
            .into_iter()
            .map(|hash| (hash, format!("recorded for {version} before")));
        let diagnostic = Diagnostic::error(rules::HASHES_OF_OTHER_VERSION, title);
        let diagnostic = subject.at_hashes(provider, diagnostic, places).see(
            subject.file,
            subject.version(provider),
            "the locked version",
        );
        // Which `h1:` is wrong is certain only where every package of the release was hashed.
        let options = if has_h1 {
            "--repair --platform all"
        } else {
            "--repair"
        };
        let repair = subject.advice.lock_signed.with(options);
        let help = repair.run(&format!(
            " to replace them by those of {}; a merge that takes the version from one side and hashes from the \
             other leaves such an entry",
            entry.version
        ));
        findings.push(Finding::about(provider, diagnostic.help(help)));
    }
    findings
}
