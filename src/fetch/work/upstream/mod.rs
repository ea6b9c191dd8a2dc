//! The group *upstream*: the recorded hashes against the lists that registries sign.
//!
//! [`Registries`] asks, each release once in a run; [`check`] compares. An entry whose registry gave
//! no answer that counts is passed over.

mod checks;
mod stated;

pub use checks::{CheckError, RootSources, Upstream};

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use crate::addr::ProviderAddr;
use crate::authenticate::Rules;
use crate::diag::{Diagnostic, Finding, Level, Severity, Span, rules};
use crate::flavor::Flavor;
use crate::hash::{Hash, Hashes, Scheme};
use crate::locker::{self, LockError, Release, ReleaseList, SignatureDemands, Vouched};
use crate::lockfile::ProviderLock;
use crate::package::ReleaseDates;
use crate::project::Project;
use crate::sources::Source;
use crate::sources::net::Net;
use crate::verify::{CheckedLock, KeyEnds, LockedSigners};
use crate::version::{Constraints, Version};

/// The answers of registries about the locked version of each provider.
pub type Answers = BTreeMap<ProviderAddr, Arc<Vouched>>;

/// The dates of each locked release.
pub type Dates = BTreeMap<ProviderAddr, ReleaseDates>;

/// The answer of a registry about a release, or the reasons why it does not count.
type Answer = Result<Arc<Vouched>, Vec<Arc<LockError>>>;

/// The registries as the program of one flavor asks them, with their answers so far in a run.
pub struct Registries<'a> {
    source: Box<dyn Source + 'a>,
    net: Net<'a>,
    rules: Rules,
    now: SystemTime,
    answers: BTreeMap<Release, Answer>,
    dates: BTreeMap<Release, ReleaseDates>,
}

impl<'a> Registries<'a> {
    /// Starts a run that queries a source over a network; `rules` decide on signatures, which must be valid
    /// now, by the clock of the network.
    #[must_use]
    pub fn new(source: Box<dyn Source + 'a>, net: Net<'a>, rules: Rules) -> Self {
        Self {
            source,
            rules,
            now: net.clock.now(),
            net,
            answers: BTreeMap::new(),
            dates: BTreeMap::new(),
        }
    }

    /// Returns the start time of the run.
    #[must_use]
    pub fn now(&self) -> SystemTime {
        self.now
    }

    /// Returns the answers about the releases that a lock file holds, and the reasons why some are missing;
    /// a registry is asked only about releases that it was not asked about before.
    pub fn ask(&mut self, subject: CheckedLock<'_>) -> (Answers, Vec<Arc<LockError>>) {
        let releases: Vec<Release> = subject
            .document
            .lock
            .providers
            .iter()
            // The program brings built-in providers along.
            .filter(|(provider, _)| !provider.is_builtin(subject.flavor))
            .map(|(provider, entry)| Release {
                provider: provider.clone(),
                version: entry.version.clone(),
            })
            .collect();
        let new: Vec<Release> = releases
            .iter()
            .filter(|release| !self.answers.contains_key(release))
            .cloned()
            .collect();
        let asked = locker::releases(&*self.source, &new, &self.rules, self.now);
        for (release, answer) in new.into_iter().zip(asked) {
            let answer = answer
                .map(Arc::new)
                .map_err(|errors| errors.into_iter().map(Arc::new).collect());
            // A failure is kept as well, so that other roots with the release do not repeat the request.
            self.answers.insert(release, answer);
        }
        let (mut answers, mut errors) = (Answers::new(), Vec::new());
        for release in releases {
            match &self.answers[&release] {
                Ok(answer) => {
                    answers.insert(release.provider, Arc::clone(answer));
                }
                Err(reasons) => errors.extend(reasons.iter().cloned()),
            }
        }
        (answers, errors)
    }

    /// Returns the dates of locked releases, also those beside their evidence: these take requests of their
    /// own, which are made once for each release.
    pub fn dates(&mut self, subject: CheckedLock<'_>, answers: &Answers) -> Dates {
        let locked = &subject.document.lock.providers;
        let releases: Vec<(Release, &ReleaseList)> = lists(answers)
            .filter_map(|(provider, list)| {
                let release = Release {
                    provider: provider.clone(),
                    version: locked.get(provider)?.version.clone(),
                };
                Some((release, list))
            })
            .collect();
        let new: Vec<(Release, &ReleaseList)> = releases
            .iter()
            // Several roots may lock one release.
            .filter(|(release, _)| !self.dates.contains_key(release))
            .cloned()
            .collect();
        let dates = locker::all_dates(&*self.source, &self.net, &new);
        for ((release, _), dates) in new.into_iter().zip(dates) {
            self.dates.insert(release, dates);
        }
        releases
            .into_iter()
            .map(|(release, _)| {
                let dates = self.dates[&release].clone();
                (release.provider, dates)
            })
            .collect()
    }
}

/// Returns the keys that signed the lists of locked releases; none if a list is not signed.
#[must_use]
pub fn signers(answers: &Answers) -> LockedSigners {
    lists(answers)
        .map(|(provider, list)| {
            let keys = list
                .signers
                .iter()
                .map(|signer| signer.key.clone())
                .collect();
            (provider.clone(), keys)
        })
        .collect()
}

/// Returns the times when keys expire that signed locked releases.
#[must_use]
pub fn key_ends(answers: &Answers) -> KeyEnds {
    lists(answers)
        .map(|(provider, list)| (provider.clone(), locker::key_ends(&list.signers)))
        .collect()
}

/// Returns an iterator over the lists of the locked releases that are offered.
fn lists(answers: &Answers) -> impl Iterator<Item = (&ProviderAddr, &ReleaseList)> {
    answers
        .iter()
        .filter_map(|(provider, answer)| Some((provider, answer.list.as_ref()?)))
}

/// Returns the list of a locked release; `None` without an answer, or if the version is not offered.
fn signed_list<'a>(answers: &'a Answers, provider: &ProviderAddr) -> Option<&'a ReleaseList> {
    answers.get(provider)?.list.as_ref()
}

/// Maximum number of hashes of an entry that are shown in their places.
const MAX_SHOWN: usize = 5;

/// Compares entries with the answers of their registries, provider by provider.
#[must_use]
pub fn check(subject: CheckedLock<'_>, answers: &Answers) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (provider, entry) in &subject.document.lock.providers {
        let Some(answer) = answers.get(provider) else {
            continue;
        };
        let compared = UpstreamEntry {
            subject,
            provider,
            entry,
        };
        // Without a list there is nothing to compare with: the version cannot be installed any more.
        let Some(list) = &answer.list else {
            findings.push(compared.gone(&answer.versions));
            continue;
        };
        findings.extend(compared.hashes(list));
        // Oddities of a key or signature that counts all the same are notes: no change of the lock file could help.
        for signer in &list.signers {
            let (version, key_id) = (&entry.version, signer.key.key_id());
            for remark in &signer.remarks {
                let title = format!("{provider} {version} is signed by key {key_id}: {remark}");
                let diagnostic = Diagnostic::note(rules::SIGNATURE_ODD, title)
                    .at(
                        subject.file,
                        subject.version(provider),
                        "the signed release",
                    )
                    .help("the program accepts it; report it to the publisher of the provider");
                findings.push(Finding::about(provider, diagnostic));
            }
        }
        findings.extend(compared.newer(&answer.versions));
    }
    findings
}

/// An entry of the lock file that is compared with its registry.
#[derive(Clone, Copy)]
struct UpstreamEntry<'a> {
    subject: CheckedLock<'a>,
    provider: &'a ProviderAddr,
    entry: &'a ProviderLock,
}

impl UpstreamEntry<'_> {
    /// Reports a version that cannot be installed from the registry.
    fn gone(&self, versions: &[Version]) -> Finding {
        let (provider, version) = (self.provider, &self.entry.version);
        let title = format!("{provider} {version} is no longer offered by its registry");
        let newest = match Constraints::default().newest(versions.iter()) {
            Some(newest) => format!("the newest release that it offers is {newest}"),
            None => "it offers no release at all".to_owned(),
        };
        // `init` asks for it even if it is installed, and fails (`resolve` rules 2.2).
        let diagnostic = Diagnostic::error(rules::VERSION_GONE, title)
            .at(self.subject.file, self.subject.version(provider), newest)
            .help(self.subject.advice.update.for_provider(
                provider.short(self.subject.flavor),
                "find out why it was withdrawn; then run ",
                ", which selects another version",
            ));
        Finding::about(provider, diagnostic)
    }

    /// Compares the recorded `zh:` with the signed list, which names the zip of every platform.
    ///
    /// A list holds no `h1:`, so those are not compared.
    fn hashes(&self, list: &ReleaseList) -> Vec<Finding> {
        let signed = &list.hashes;
        let recorded: Vec<&Hash> = self.entry.hashes.of(Scheme::Zh).collect();
        let known = recorded.iter().filter(|zh| signed.contains(zh)).count();
        let mut findings = Vec::new();
        // One `zh:` of the release shows that the entry is of this version, so that others beside it were
        // added; without any, the whole entry belongs to another version.
        if known == 0 && !recorded.is_empty() {
            findings.push(self.contradicted(list));
        } else if known < recorded.len() {
            findings.push(self.unknown(list));
        }
        let all = signed.of(Scheme::Zh).count();
        if known < all && (known > 0 || recorded.is_empty()) {
            let (provider, subject) = (self.provider, self.subject);
            let (title, remark) = match known {
                0 => (
                    format!("{provider} is locked without the signed hashes of its release"),
                    format!("none of the {all} that its registry signs"),
                ),
                _ => (
                    format!(
                        "{provider} is locked with {known} of the {all} signed hashes of its release"
                    ),
                    "zh: hashes are missing".to_owned(),
                ),
            };
            // A note: the `init` that installs the package adds them (`coverage` rules 2.4).
            let diagnostic = Diagnostic::note(rules::ZH_MISSING, title)
                .at(subject.file, subject.header(provider), remark)
                .help(subject.advice.lock_signed.run(", which adds them"));
            findings.push(Finding::about(provider, diagnostic));
        }
        findings
    }

    /// Reports an entry that has no `zh:` of the release.
    fn contradicted(&self, list: &ReleaseList) -> Finding {
        let (provider, version) = (self.provider, &self.entry.version);
        // OpenTofu accepts lists without a signature for some registries, and the text must not claim one.
        let signed = if list.signers.is_empty() {
            ""
        } else {
            "signed "
        };
        let title = format!(
            "the {signed}checksums of {provider} {version} contradict every zh: of the lock file"
        );
        let subject = self.subject;
        let diagnostic = Diagnostic::error(rules::HASHES_CONTRADICTED, title)
            .at(
                subject.file,
                subject.hashes(provider),
                format!("none of these is in the {signed}list"),
            )
            .see(subject.file, subject.version(provider), "the locked version")
            .help(subject.advice.lock.named_in(|lock| {
                format!(
                    "if the version was edited by hand, restore the entry from version control, or \
                     delete its `hashes` and run `{lock}`; if not, the release was published again with \
                     other files: ask its authors why"
                )
            }));
        Finding::about(provider, diagnostic)
    }

    /// Reports hashes that are not covered by a valid signature, beside others that are.
    fn unknown(&self, list: &ReleaseList) -> Finding {
        let (provider, version) = (self.provider, &self.entry.version);
        let mut seen = Hashes::default();
        let mut places: Vec<Span> = Vec::new();
        for (hash, span) in self
            .subject
            .places(provider)
            .iter()
            .flat_map(|places| &places.listed)
        {
            // A hash that is listed twice counts once, in its first place: the group *file* reports the second.
            let is_unknown = hash.scheme() == Scheme::Zh && !list.hashes.contains(hash);
            if is_unknown && seen.insert(hash.clone()) {
                places.push(*span);
            }
        }
        let count = match places.len() {
            0 | 1 => "a zh: hash".to_owned(),
            count => format!("{count} zh: hashes"),
        };
        let is_signed = !list.signers.is_empty();
        let (no_list, not_in) = if is_signed {
            (
                "no signed list has",
                "not in the signed list of the release",
            )
        } else {
            (
                "the list of its registry lacks",
                "not in the list of the release, which no key signs",
            )
        };
        let title = format!("{provider} {version} is locked with {count} that {no_list}");
        let file = self.subject.file;
        let first = places
            .first()
            .copied()
            .unwrap_or_else(|| self.subject.hashes(provider));
        // A warning: beside a right hash the programs pass over a wrong one (`hash` rules 3.2).
        let mut diagnostic =
            Diagnostic::warning(rules::HASH_UNKNOWN_UPSTREAM, title).at(file, first, not_in);
        for span in places.into_iter().take(MAX_SHOWN).skip(1) {
            diagnostic = diagnostic.see(file, span, "nor is this");
        }
        let advice = self.subject.advice;
        let origin = "it accepts a package that no signature covers: find out where it came from";
        // Without the hash the entry may match no package any more, so that `lock` alone would refuse it.
        let help = if is_signed {
            let repair = advice.lock_signed.with("--repair");
            repair.named_in(|repair| format!("{origin}, then run `{repair}`, which takes it out"))
        } else {
            advice.lock.named_in(|lock| {
                format!(
                    "{origin}, then delete `hashes` from the entry and run `{lock}`, which keeps the version"
                )
            })
        };
        Finding::about(provider, diagnostic.help(help))
    }

    /// Reports a newer patch of the locked minor version.
    fn newer(&self, versions: &[Version]) -> Option<Finding> {
        let (provider, version) = (self.provider, &self.entry.version);
        // Larger steps are reported by `lockctl outdated`.
        let newest = versions
            .iter()
            .filter(|other| {
                (other.major, other.minor) == (version.major, version.minor)
                    // No range admits a pre-release (`version` rules 5.2).
                    && !other.is_prerelease()
            })
            .max_by(|a, b| a.precedence(b))?;
        // Another build of the same version is no upgrade: metadata takes no part here (`version` rules 2.1).
        if newest.precedence(version).is_le() {
            return None;
        }
        let (subject, update) = (self.subject, &self.subject.advice.update);
        // Without the configuration the recorded constraints are the best that is known of it.
        let constraints = match subject.requirements {
            Some(requirements) => requirements.constraints(provider),
            None => self.entry.constraints.clone(),
        };
        let help = match (
            constraints.allows(newest),
            constraints.newest(versions.iter()),
        ) {
            (false, _) => format!("the constraints \"{constraints}\" do not allow it").into(),
            (true, Some(other)) if other != newest => update.for_provider(
                provider.short(subject.flavor),
                format!("the constraints \"{constraints}\" allow it, and newer ones: "),
                format!(" moves to {other}, with --patch to {newest}"),
            ),
            (true, _) => update.for_provider(
                provider.short(subject.flavor),
                "the constraints allow it: ",
                " moves to it",
            ),
        };
        let title = format!("{provider} {newest} is available, a patch upgrade from {version}");
        let diagnostic = Diagnostic::note(rules::NEWER_PATCH, title)
            .at(subject.file, subject.version(provider), "locked here")
            .help(help);
        Some(Finding::about(provider, diagnostic))
    }
}

/// Returns the demands of a project file on the signatures of providers that are about to be locked.
///
/// A pinned key counts unless its rule is turned off, or no error.
#[must_use]
pub fn demands(project: &Project, flavor: Flavor) -> SignatureDemands {
    let keys = project
        .policy
        .iter()
        .flat_map(|policy| &policy.keys)
        .filter_map(|pin| Some((pin.provider.meaning(flavor)?.clone(), pin.key.clone())))
        .filter(|(provider, _)| {
            project
                .rule(rules::KEY_NOT_ALLOWED, Some(provider), flavor)
                .is_none_or(|setting| setting.level == Level::As(Severity::Error))
        })
        .collect();
    SignatureDemands {
        required: project.trust.require_signature.is_some(),
        keys,
    }
}
