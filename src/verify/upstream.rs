//! The group *upstream*: the recorded hashes against the lists that registries sign.
//!
//! [`Registries`] asks, each release once in a run; [`check`] compares. An entry whose registry gave
//! no answer that counts is passed over.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use super::subject::Subject;
use crate::addr::ProviderAddr;
use crate::authenticate::{Rules, Signer};
use crate::diag::{Diagnostic, Finding, rules};
use crate::hash::{Hash, Hashes, Scheme};
use crate::locker::{self, LockError, Release, ReleaseList, Vouched};
use crate::lockfile::ProviderLock;
use crate::package::ReleaseDates;
use crate::sources::Source;
use crate::sources::net::Net;
use crate::version::{Constraints, Version};

/// What registries say of the locked version of each provider.
pub type Answers = BTreeMap<ProviderAddr, Arc<Vouched>>;

/// What is known of the date of each locked release.
pub type Dates = BTreeMap<ProviderAddr, ReleaseDates>;

/// What a registry said of a release, or why its answer does not count.
type Answer = Result<Arc<Vouched>, Vec<Arc<LockError>>>;

/// The registries as the program of one flavor asks them, with what they said so far in a run.
pub struct Registries<'a> {
    source: Box<dyn Source + 'a>,
    net: Net<'a>,
    rules: Rules,
    now: SystemTime,
    answers: BTreeMap<Release, Answer>,
    dates: BTreeMap<Release, ReleaseDates>,
}

impl<'a> Registries<'a> {
    /// Starts a run in which a source is asked over a network; `rules` say which signatures count. They
    /// must count now, by the clock of the network.
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

    /// Returns the moment at which the run started.
    #[must_use]
    pub fn now(&self) -> SystemTime {
        self.now
    }

    /// Returns what is said of the releases that a lock file holds, and why some answers are missing;
    /// a registry is asked only about those that it was not asked about before.
    pub fn ask(&mut self, subject: Subject<'_>) -> (Answers, Vec<Arc<LockError>>) {
        let entries = subject.document.lock.providers.iter();
        // The program brings built-in providers along.
        let entries = entries.filter(|(provider, _)| !provider.is_builtin(subject.flavor));
        let releases = entries.map(|(provider, entry)| Release {
            provider: provider.clone(),
            version: entry.version.clone(),
        });
        let releases: Vec<Release> = releases.collect();
        self.ask_new(&releases);
        let (mut answers, mut errors) = (Answers::new(), Vec::new());
        for release in releases {
            match &self.answers[&release] {
                Ok(answer) => {
                    answers.insert(release.provider, Arc::clone(answer));
                }
                Err(several) => errors.extend(several.iter().cloned()),
            }
        }
        (answers, errors)
    }

    /// Returns what is known of the dates of locked releases, beside what their evidence states: that
    /// takes requests of its own, which are made once for each release.
    pub fn dates(&mut self, subject: Subject<'_>, answers: &Answers) -> Dates {
        let locked = &subject.document.lock.providers;
        let known = answers.iter().filter_map(|(provider, answer)| {
            let release = Release {
                provider: provider.clone(),
                version: locked.get(provider)?.version.clone(),
            };
            Some((release, answer.list.as_ref()?))
        });
        let known: Vec<(Release, &ReleaseList)> = known.collect();
        let new = known.iter();
        let new = new.filter(|(release, _)| !self.dates.contains_key(release));
        let new: Vec<(Release, &ReleaseList)> = new.cloned().collect();
        let found = locker::all_dates(&*self.source, &self.net, &new);
        let releases = new.into_iter().map(|(release, _)| release);
        self.dates.extend(releases.zip(found));
        let dates = known.into_iter().map(|(release, _)| {
            let dates = self.dates[&release].clone();
            (release.provider, dates)
        });
        dates.collect()
    }

    fn ask_new(&mut self, releases: &[Release]) {
        let new = releases
            .iter()
            .filter(|one| !self.answers.contains_key(one));
        let new: Vec<Release> = new.cloned().collect();
        let said = locker::releases(&*self.source, &new, &self.rules, self.now);
        let said = said.into_iter().map(|said| {
            said.map(Arc::new)
                .map_err(|errors| errors.into_iter().map(Arc::new).collect())
        });
        self.answers.extend(new.into_iter().zip(said));
    }
}

impl std::fmt::Debug for Registries<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registries")
            .field("rules", &self.rules)
            .field("answers", &self.answers)
            .finish_non_exhaustive()
    }
}

/// How many hashes of an entry are shown in their places.
const MAX_SHOWN: usize = 5;

/// Compares entries with what their registries say, provider by provider.
#[must_use]
pub fn check(subject: Subject<'_>, answers: &Answers) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (provider, entry) in &subject.document.lock.providers {
        let Some(answer) = answers.get(provider) else {
            continue;
        };
        let one = Entry {
            subject,
            provider,
            entry,
        };
        let Some(list) = &answer.list else {
            findings.push(one.gone(&answer.versions));
            continue;
        };
        findings.extend(one.hashes(&list.hashes));
        findings.extend(list.signers.iter().flat_map(|signer| one.odd(signer)));
        findings.extend(one.newer(&answer.versions));
    }
    findings
}

/// An entry of the lock file.
#[derive(Clone, Copy)]
struct Entry<'a> {
    subject: Subject<'a>,
    provider: &'a ProviderAddr,
    entry: &'a ProviderLock,
}

impl Entry<'_> {
    /// Reports a version that cannot be installed from the registry.
    fn gone(&self, versions: &[Version]) -> Finding {
        let (provider, version) = (self.provider, &self.entry.version);
        let title = format!("{provider} {version} is no longer offered by its registry");
        let newest = match Constraints::default().newest(versions.iter()) {
            Some(newest) => format!("the newest release that it offers is {newest}"),
            None => "it offers no release at all".to_owned(),
        };
        let diagnostic = Diagnostic::error(rules::VERSION_GONE, title)
            .at(self.subject.file, self.subject.version(provider), newest)
            .help(self.subject.advice.update.named_in(|update| {
                format!(
                    "find out why it was withdrawn; then run `{update} ADDR`, which selects another \
                     version"
                )
            }));
        Finding::about(provider, diagnostic)
    }

    /// Compares the recorded `zh:` with the signed list, which names the zip of every platform.
    ///
    /// A recorded `h1:` stands in no list.
    fn hashes(&self, signed: &Hashes) -> Vec<Finding> {
        let recorded: Vec<&Hash> = self.entry.hashes.of(Scheme::Zh).collect();
        let is_signed = |hash: &&&Hash| signed.contains(hash);
        let known = recorded.iter().filter(is_signed).count();
        let finding = match known {
            0 if !recorded.is_empty() => Some(self.contradicted()),
            _ if known < recorded.len() => Some(self.unknown(signed)),
            _ => None,
        };
        let mut findings: Vec<Finding> = finding.into_iter().collect();
        let is_complete = known == signed.of(Scheme::Zh).count();
        if !is_complete && (known > 0 || recorded.is_empty()) {
            findings.push(self.incomplete(known, signed));
        }
        findings
    }

    /// Reports an entry that has no hash of the release: it is that of another one.
    fn contradicted(&self) -> Finding {
        let (provider, version) = (self.provider, &self.entry.version);
        let title = format!(
            "the signed checksums of {provider} {version} contradict every zh: of the lock file"
        );
        let subject = self.subject;
        let diagnostic = Diagnostic::error(rules::HASHES_CONTRADICTED, title)
            .at(
                subject.file,
                subject.hashes(provider),
                "none of these is in the signed list",
            )
            .see(subject.file, subject.version(provider), "the locked version")
            .help(subject.advice.lock.named_in(|lock| {
                format!(
                    "if the version was edited by hand, restore the entry from version control, or \
                     delete it and run `{lock}`; if not, the release was published again with other \
                     files: ask its authors why"
                )
            }));
        Finding::about(provider, diagnostic)
    }

    /// Reports hashes that are not covered by a valid signature, beside others that are.
    fn unknown(&self, signed: &Hashes) -> Finding {
        let (provider, version) = (self.provider, &self.entry.version);
        let listed = self.subject.places(provider);
        let listed = listed.iter().flat_map(|places| &places.listed);
        let mut seen = Hashes::default();
        let mut places = listed.filter(|(hash, _)| {
            let is_unknown = hash.scheme() == Scheme::Zh && !signed.contains(hash);
            is_unknown && seen.insert(hash.clone())
        });
        let first = places.next().map(|(_, span)| *span);
        let others: Vec<_> = places.map(|(_, span)| *span).collect();
        let count = match others.len() {
            0 => "a zh: hash".to_owned(),
            more => format!("{} zh: hashes", more + 1),
        };
        let title = format!("{provider} {version} is locked with {count} that no signed list has");
        let file = self.subject.file;
        let at = first.unwrap_or_else(|| self.subject.hashes(provider));
        let diagnostic = Diagnostic::warning(rules::HASH_UNKNOWN_UPSTREAM, title).at(
            file,
            at,
            "not in the signed list of the release",
        );
        let others = others.into_iter().take(MAX_SHOWN - 1);
        let diagnostic = others.fold(diagnostic, |diagnostic, span| {
            diagnostic.see(file, span, "nor is this")
        });
        let help = self.subject.advice.lock.named_in(|lock| {
            format!(
                "it accepts a package that no signature covers: find out where it came from, then \
                 delete it and run `{lock}`"
            )
        });
        Finding::about(provider, diagnostic.help(help))
    }

    /// Reports an entry that lacks hashes of the signed list.
    fn incomplete(&self, known: usize, signed: &Hashes) -> Finding {
        let (provider, subject) = (self.provider, self.subject);
        let all = signed.of(Scheme::Zh).count();
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
        let diagnostic = Diagnostic::note(rules::ZH_MISSING, title)
            .at(subject.file, subject.header(provider), remark)
            .help(subject.advice.lock.run(", which adds them"));
        Finding::about(provider, diagnostic)
    }

    /// Reports what is unusual about a key or signature that counts all the same. It is a note:
    /// no change of the lock file could help.
    fn odd(&self, signer: &Signer) -> Vec<Finding> {
        let (provider, version) = (self.provider, &self.entry.version);
        let remarks = signer.remarks.iter().map(|remark| {
            let key_id = &signer.key_id;
            let title = format!("{provider} {version} is signed by key {key_id}: {remark}");
            let subject = self.subject;
            let diagnostic = Diagnostic::note(rules::SIGNATURE_ODD, title)
                .at(
                    subject.file,
                    subject.version(provider),
                    "the signed release",
                )
                .help("the program accepts it; report it to the publisher of the provider");
            Finding::about(provider, diagnostic)
        });
        remarks.collect()
    }

    /// Reports a newer patch of the locked minor version.
    fn newer(&self, versions: &[Version]) -> Option<Finding> {
        let (provider, version) = (self.provider, &self.entry.version);
        let patches = versions.iter().filter(|other| {
            (other.major, other.minor) == (version.major, version.minor) && !other.is_prerelease()
        });
        let newest = patches.max_by(|a, b| a.precedence(b))?;
        if newest.precedence(version).is_le() {
            return None;
        }
        let (subject, update) = (self.subject, &self.subject.advice.update);
        let constraints = match subject.requirements {
            Some(requirements) => requirements.constraints(provider),
            None => self.entry.constraints.clone(),
        };
        let help = match (
            constraints.allows(newest),
            constraints.newest(versions.iter()),
        ) {
            (false, _) => format!("the constraints \"{constraints}\" do not allow it").into(),
            (true, Some(other)) if other != newest => update.named_in(|update| {
                format!(
                    "the constraints \"{constraints}\" allow it, and newer ones: `{update} ADDR` \
                     moves to {other}, with --patch to {newest}"
                )
            }),
            (true, _) => update.named_in(|update| {
                format!("the constraints allow it: `{update} ADDR` moves to it")
            }),
        };
        let title = format!("{provider} {newest} is available, a patch upgrade from {version}");
        let diagnostic = Diagnostic::note(rules::NEWER_PATCH, title)
            .at(subject.file, subject.version(provider), "locked here")
            .help(help);
        Some(Finding::about(provider, diagnostic))
    }
}
