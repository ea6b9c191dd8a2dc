//! Recorded hashes that no package of the locked release has, by facts (`coverage` rules 1.3).

use std::collections::BTreeSet;

use super::known::{AlteredPackage, LockedReleases};
use super::subject::CheckedLock;
use crate::addr::ProviderAddr;
use crate::coverage::{Attribution, Attributions};
use crate::diag::{Diagnostic, Finding, counted, counted_as, rules};
use crate::hash::{Hash, Hashes, Scheme};
use crate::package::{PackageId, SignerKey};

/// Reports hashes of packages of other releases, and hashes of no package at all; `altered` are packages with a
/// recorded hash that facts contradict.
#[must_use]
pub(super) fn check(
    subject: CheckedLock<'_>,
    attributions: &Attributions,
    altered: &[AlteredPackage],
    has_answer: impl Fn(&ProviderAddr) -> bool,
    is_listed: impl Fn(&ProviderAddr, &Hash) -> bool,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (provider, attribution) in attributions {
        // A signed list wins over facts about a `zh:`: a publisher may use the same zip in two releases, and
        // add packages to one.
        let is_signed = |hash: &Hash| is_listed(provider, hash);
        let entry = AttributedEntry {
            subject,
            provider,
            attribution,
        };
        findings.extend(entry.foreign(is_signed));
        if !has_answer(provider) {
            findings.extend(entry.unlisted());
        }
        let altered: Vec<&AlteredPackage> = altered
            .iter()
            .filter(|altered| altered.id.provider == *provider)
            .collect();
        findings.extend(entry.altered(&altered));
        findings.extend(entry.surplus(&altered));
    }
    findings
}

/// Reports entries none of whose hashes is one of the release, by its signed list and the `h1:` of its packages.
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
        // A `zh:` that is not in the list is enough: the list names the zips of all platforms. An `h1:` may
        // belong to a package that was never hashed, so there must be more of them than such packages.
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
        // The hashes may come from several releases, as after two edits of the version by hand.
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

    /// Reports `zh:` that the kept list of the release lacks, beside others that it has.
    fn unlisted(&self) -> Option<Finding> {
        let unlisted = self.attribution.unlisted();
        let recorded = self.recorded()?.of(Scheme::Zh).count();
        // `of_no_release` reports an entry without any hash of the release.
        if unlisted.is_empty() || unlisted.len() == recorded {
            return None;
        }
        let title = format!(
            "{} {} is locked with {} that its signed list lacks",
            self.provider,
            self.version(),
            counted_as(unlisted.len(), "zh: hash", "zh: hashes"),
        );
        let note = "the signed list of this release does not have it";
        let diagnostic = self.at(title, unlisted.into_iter().map(|zh| (zh, note.to_owned())));
        let advice = self.subject.advice;
        let help = advice.lock_signed.with("--repair").named_in(|repair| {
            format!(
                "an earlier run checked that list; find out in the history of the file where the hash came \
                 from; then run `{repair}`, which compares it with the list as it is served now"
            )
        });
        Some(Finding::about(self.provider, diagnostic.help(help)))
    }

    /// Reports the recorded `h1:` of packages that are not those of the release.
    fn altered(&self, altered: &[&AlteredPackage]) -> Option<Finding> {
        let places: Vec<(&Hash, String)> = self
            .attribution
            .unexplained()
            .into_iter()
            .filter_map(|h1| {
                // A hash that no altered package has may be of a platform that was not looked at.
                let package = altered.iter().find(|package| package.h1.contains(h1))?;
                let AlteredPackage { id, place, .. } = package;
                let place = place.display();
                Some((
                    h1,
                    format!(
                        "of {place}, which is not the signed package for {}",
                        id.platform
                    ),
                ))
            })
            .collect();
        if places.is_empty() {
            return None;
        }
        let title = format!(
            "{} {} is locked with {} of no package of the release",
            self.provider,
            self.version(),
            counted_as(places.len(), "h1: hash", "h1: hashes"),
        );
        Some(self.of_no_package(title, places.into_iter()))
    }

    fn surplus(&self, altered: &[&AlteredPackage]) -> Option<Finding> {
        let mut surplus = self.attribution.unexplained();
        // Those of altered packages have a finding of their own, which says more.
        surplus.retain(|h1| !altered.iter().any(|package| package.h1.contains(h1)));
        let unseen = self.attribution.unseen()?;
        // Each package that no fact is about may have one of the hashes that are left over (`coverage` rules 1.3).
        let wrong = surplus.len().checked_sub(unseen)?;
        let offered = self.attribution.package_count();
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
        Some(self.of_no_package(title, surplus.into_iter().map(|hash| (hash, note.clone()))))
    }

    /// Makes a finding about `h1:` of no package of the release.
    fn of_no_package<'h>(
        &self,
        title: String,
        hashes: impl Iterator<Item = (&'h Hash, String)>,
    ) -> Finding {
        let help = format!(
            "it accepts a package that no signature covers: find out in the history of the file where it \
             came from; then run `{} --repair --platform all`",
            self.subject.advice.lock
        );
        Finding::about(self.provider, self.at(title, hashes).help(help))
    }

    fn recorded(&self) -> Option<&Hashes> {
        let entry = self.subject.document.lock.providers.get(self.provider)?;
        Some(&entry.hashes)
    }

    fn version(&self) -> String {
        self.subject
            .document
            .lock
            .providers
            .get(self.provider)
            .map_or(String::new(), |entry| entry.version.to_string())
    }

    /// Starts a finding at hashes.
    fn at<'h>(
        &self,
        title: String,
        hashes: impl Iterator<Item = (&'h Hash, String)>,
    ) -> Diagnostic {
        let diagnostic = Diagnostic::error(rules::HASH_NOT_OF_RELEASE, title);
        self.subject.at_hashes(self.provider, diagnostic, hashes)
    }
}
