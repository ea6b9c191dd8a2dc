//! Recorded hashes that no package of the locked release has, by facts (`coverage` rules 1.3).

use std::collections::BTreeSet;

use super::known::LockedReleases;
use super::subject::CheckedLock;
use crate::addr::ProviderAddr;
use crate::coverage::{Attribution, Attributions};
use crate::diag::{Diagnostic, Finding, Span, counted, counted_as, rules};
use crate::hash::{Hash, Scheme};
use crate::package::{PackageId, SignerKey};

/// Maximum number of hashes of an entry that are shown in their places.
const MAX_SHOWN: usize = 5;

/// Reports hashes of packages of other releases, and `h1:` of no package at all.
///
/// Where a registry was asked, its signed list decides about a `zh:`: a publisher may use the same zip in two
/// releases.
#[must_use]
pub(super) fn check(
    subject: CheckedLock<'_>,
    attributions: &Attributions,
    is_listed: impl Fn(&ProviderAddr, &Hash) -> bool,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (provider, attribution) in attributions {
        let is_signed = |hash: &Hash| is_listed(provider, hash);
        let entry = AttributedEntry {
            subject,
            provider,
            attribution,
        };
        findings.extend(entry.foreign(is_signed));
        findings.extend(entry.surplus());
    }
    findings
}

/// Reports entries none of whose hashes is one of the release, by its signed list and the `h1:` of its packages.
///
/// Some `zh:` that the list lacks is enough: it names the zips of all platforms. An `h1:` may be that of a
/// package that nobody hashed yet, so there must be more of them than such packages.
#[must_use]
pub(super) fn of_no_release(
    subject: CheckedLock<'_>,
    known: &LockedReleases,
    is_judged: impl Fn(&ProviderAddr) -> bool,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (provider, release) in &known.releases {
        let Some(entry) = subject.document.lock.providers.get(provider) else {
            continue;
        };
        let count = |scheme| entry.hashes.of(scheme).count();
        let (h1, zh) = (count(Scheme::H1), count(Scheme::Zh));
        let unseen = release.unseen();
        // A list of one package may be that of its platform alone.
        // Only a list of the whole release shows what is none of it (`store` rules 5.4).
        let is_certain = release.lists_release && (zh > 0 || h1 > unseen);
        let has_one = entry.hashes.iter().any(|hash| release.has(hash));
        if !is_certain || has_one || is_judged(provider) {
            continue;
        }
        let version = &entry.version;
        let title = format!("no hash of {provider} {version} is one of that release");
        let signers: Vec<&str> = release.signers.iter().map(SignerKey::key_id).collect();
        let packages = counted(release.packages.len(), "package");
        let remark = match zh {
            0 => format!(
                "{}, and none is that of its {packages}",
                counted_as(h1, "h1: hash", "h1: hashes")
            ),
            _ => format!(
                "none of these is in the list of {packages} that key {} signed",
                signers.join(", ")
            ),
        };
        let diagnostic = Diagnostic::error(rules::HASH_NOT_OF_RELEASE, title)
            .at(subject.file, subject.hashes(provider), remark)
            .see(
                subject.file,
                subject.version(provider),
                "the locked version",
            );
        let help = subject.advice.lock.named_in(|lock| {
            format!(
                "an earlier run fetched the signed list of this release; restore the entry from version \
                 control, or delete it and run `{lock}`"
            )
        });
        findings.push(Finding::about(provider, diagnostic.help(help)));
    }
    findings
}

/// An entry with the attribution of its hashes.
struct AttributedEntry<'a> {
    subject: CheckedLock<'a>,
    provider: &'a ProviderAddr,
    attribution: &'a Attribution,
}

impl AttributedEntry<'_> {
    fn foreign(&self, is_signed: impl Fn(&Hash) -> bool) -> Option<Finding> {
        let all = self.attribution.foreign();
        // A signed `zh:` vouches for the `h1:` of the same package as well.
        let vouched: BTreeSet<&PackageId> = all
            .iter()
            .filter(|(hash, _)| is_signed(hash))
            .map(|(_, id)| id)
            .collect();
        let foreign: Vec<(&Hash, &PackageId)> =
            all.iter().filter(|(_, id)| !vouched.contains(id)).collect();
        if foreign.is_empty() {
            return None;
        }
        let releases: BTreeSet<String> = foreign
            .iter()
            .map(|(_, id)| format!("{} {}", id.provider, id.version))
            .collect();
        let releases = releases.into_iter().collect::<Vec<_>>().join(", ");
        let title = format!(
            "{} {} is locked with {} of {releases}",
            self.provider,
            self.version(),
            counted_as(foreign.len(), "hash", "hashes"),
        );
        let notes = foreign
            .iter()
            .map(|(hash, id)| (*hash, format!("of the package of {id}")));
        let diagnostic = self.at(title, notes).see(
            self.subject.file,
            self.subject.version(self.provider),
            "the locked version",
        );
        let help = self.subject.advice.lock.named_in(|lock| {
            format!(
                "an earlier run downloaded that package and proved what it is; if the version was \
                 edited by hand, restore the entry from version control, else find out where the \
                 hashes came from; then run `{lock} --repair`"
            )
        });
        Some(Finding::about(self.provider, diagnostic.help(help)))
    }

    fn surplus(&self) -> Option<Finding> {
        let surplus = self.attribution.surplus();
        let unseen = self.attribution.unseen().unwrap_or_default();
        // Each package that no fact is about may have one of the hashes that are left over (`coverage` rules 1.3).
        let wrong = surplus.len().checked_sub(unseen)?;
        let offered = self.attribution.offered().len();
        let (who, note) = match (wrong, unseen) {
            (0, _) => return None,
            (_, 0) => (
                counted_as(wrong, "h1: hash", "h1: hashes"),
                format!("none of its {offered} packages has this hash"),
            ),
            _ => (
                format!(
                    "{wrong} of {} or more",
                    counted_as(surplus.len(), "h1: hash", "h1: hashes")
                ),
                format!(
                    "this may be one: {} of its {offered} packages have other hashes",
                    offered - unseen
                ),
            ),
        };
        let title = format!(
            "{} {} is locked with {who} of no package of the release",
            self.provider,
            self.version()
        );
        let diagnostic = self.at(title, surplus.into_iter().map(|hash| (hash, note.clone())));
        let help = format!(
            "it accepts a package that no signature covers: find out in the history of the file where it \
             came from; then run `{} --repair --platform all`",
            self.subject.advice.lock
        );
        Some(Finding::about(self.provider, diagnostic.help(help)))
    }

    fn version(&self) -> String {
        self.subject
            .document
            .lock
            .providers
            .get(self.provider)
            .map_or(String::new(), |entry| entry.version.to_string())
    }

    /// Starts a finding at hashes, of which the first few are shown.
    fn at<'h>(
        &self,
        title: String,
        hashes: impl Iterator<Item = (&'h Hash, String)>,
    ) -> Diagnostic {
        let file = self.subject.file;
        let subject = self.subject;
        let listed = subject.places(self.provider).map(|places| &*places.listed);
        let mut places: Vec<(Span, String)> = hashes
            .map(|(hash, note)| {
                let place = listed
                    .into_iter()
                    .flatten()
                    .find(|(other, _)| other == hash);
                let span = place.map_or_else(|| subject.hashes(self.provider), |(_, span)| *span);
                (span, note)
            })
            .collect();
        // The file may list them in any order (`lockfile` rules 4.2); the first in the file is the main place.
        places.sort_by_key(|(span, _)| span.start);
        let mut diagnostic = Diagnostic::error(rules::HASH_NOT_OF_RELEASE, title);
        for (index, (span, note)) in places.into_iter().take(MAX_SHOWN).enumerate() {
            diagnostic = if index == 0 {
                diagnostic.at(file, span, note)
            } else {
                diagnostic.see(file, span, note)
            };
        }
        diagnostic
    }
}
