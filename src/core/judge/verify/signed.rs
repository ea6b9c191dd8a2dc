//! The `zh:` hashes of an entry: the signed list of its release.

use std::collections::BTreeSet;

use super::subject::CheckedLock;
use crate::addr::{Hostname, ProviderAddr};
use crate::diag::{Diagnostic, Finding, rules};
use crate::flavor::Flavor;
use crate::hash::Scheme;

/// Reports entries that have `h1:` hashes only, though the registry of the provider signs lists of
/// `zh:`: installing from a mirror or a plugin cache leaves such entries (`sources` rules 9.3).
///
/// Entries that are left over are skipped, and those with an answer of their registry, which are compared with
/// its list.
#[must_use]
pub fn unlisted(
    subject: CheckedLock<'_>,
    has_answer: impl Fn(&ProviderAddr) -> bool,
) -> Vec<Finding> {
    let providers = &subject.document.lock.providers;
    // A private registry is known to sign lists if another entry of it has one.
    let signing: BTreeSet<&Hostname> = providers
        .iter()
        .filter(|(_, entry)| entry.hashes.lists_release())
        .map(|(provider, _)| provider.hostname())
        .collect();
    let program = subject.flavor.command();
    let mut findings = Vec::new();
    for (provider, entry) in providers {
        let count = |scheme| entry.hashes.of(scheme).count();
        let is_bare = count(Scheme::H1) > 0 && count(Scheme::Zh) == 0;
        let host = provider.hostname().to_string();
        // Both public registries sign the lists of all releases, or nearly all, and a file may have entries of
        // both (`lockfile` rules 5.4).
        let is_public = Flavor::ALL
            .iter()
            .any(|flavor| flavor.default_host() == host);
        // Installing from a mirror of a private registry without lists leaves the same entry.
        let signs = is_public || signing.contains(provider.hostname());
        if !is_bare || !signs || subject.left_over(provider).is_some() || has_answer(provider) {
            continue;
        }
        let title = format!("{provider} is locked without the signed hashes of its release");
        // A note: with an `h1:` for every wanted platform nothing fails, and packages from a mirror have no
        // list.
        let diagnostic = Diagnostic::note(rules::ZH_MISSING, title)
            .at(
                subject.file,
                subject.header(provider),
                "h1: only, as after an installation from a mirror or a plugin cache",
            )
            .help(subject.advice.lock_signed.run(&format!(
                " where the registry can be reached; until then `{program} init` on a platform \
                 whose h1: is missing fails"
            )));
        findings.push(Finding::about(provider, diagnostic));
    }
    findings
}

/// Reports entries that have more `h1:` than the packages of their release can explain.
///
/// Entries that are left over are passed over.
#[must_use]
pub fn crowded(subject: CheckedLock<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (provider, entry) in &subject.document.lock.providers {
        if !entry.hashes.has_unexplained_h1() || subject.left_over(provider).is_some() {
            continue;
        }
        // Every package has one `h1:`, and one `zh:` in the signed list: more `h1:` than `zh:` cannot all be of this
        // release.
        let count = |scheme| entry.hashes.of(scheme).count();
        let (h1, zh) = (count(Scheme::H1), count(Scheme::Zh));
        let title = format!("{provider} has more h1: hashes than its release has packages");
        let diagnostic = Diagnostic::warning(rules::HASHES_UNEXPLAINED, title)
            .at(
                subject.file,
                subject.header(provider),
                format!("{h1} h1: for {zh} packages"),
            )
            .help(subject.advice.lock.named_in(|lock| {
                format!(
                    "find out in the history of the file where they came from; to start over, delete \
                     the entry and run `{lock}`"
                )
            }));
        findings.push(Finding::about(provider, diagnostic));
    }
    findings
}

#[cfg(test)]
mod tests {
    use crate::hash::Hashes;

    #[test]
    fn each_package_explains_one_h1() {
        for (zh, h1, wanted) in [
            (0, 3, false),
            (1, 3, false),
            (2, 2, false),
            (2, 3, true),
            (14, 14, false),
            (14, 15, true),
        ] {
            let hash = |scheme: &str, at: usize| format!("{scheme}:{at}").parse().expect("a hash");
            let hashes: Hashes = (0..zh)
                .map(|at| hash("zh", at))
                .chain((0..h1).map(|at| hash("h1", at)))
                .collect();
            assert_eq!(hashes.has_unexplained_h1(), wanted, "{zh} zh, {h1} h1");
        }
    }
}
