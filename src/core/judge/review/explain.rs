//! The causes of a change, by the two entries alone.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};

use super::builds::BuildChange;
use super::causes::{BesideList, Cause, CauseKind, Risk};
use super::configuration::ConfigurationCause;
use super::diff::{ChangeKind, ProviderChange, ProviderSide, Sides};
use super::origin::StepDown;
use crate::addr::{LookAlike, ProviderAddr, is_known_publisher};
use crate::diag::{counted, counted_as, nearest};
use crate::flavor::Flavor;
use crate::hash::{Hash, Hashes, Scheme};
use crate::lockfile::ProviderLock;
use crate::platform::Platform;
use crate::version::{Constraints, ScopeChange, Upgrade, VersionStep, scope_change};

/// A change with everything that explains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedChange {
    /// The difference between the entries.
    pub change: ProviderChange,
    /// The causes that the two entries show.
    pub explained: Explained,
    /// The cause in the configuration, where that is known.
    pub configuration: Option<ConfigurationCause>,
    /// The platforms that hashes which only one side has belong to, as far as that is known.
    pub owners: BTreeMap<Hash, Vec<Platform>>,
    /// The changes of the builds, if the builds of both sides are known.
    pub builds: Vec<BuildChange>,
    /// The steps down in who signs the release and where it comes from.
    pub trust: Vec<StepDown>,
    /// Identifiers of the known advisories about the new version, sorted.
    pub advisories: Vec<String>,
}

/// The causes of a change, by the two entries alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The causes, the one with the highest risk first; never empty.
    pub causes: Vec<Cause>,
    /// The highest risk of the causes.
    pub risk: Risk,
}

/// Explains a change by the two entries alone.
#[must_use]
pub fn explain(change: &ProviderChange) -> Explained {
    let mut causes = match &change.sides {
        Sides::Added(new) => added(change, &new.lock),
        Sides::Removed(_) => {
            let removed = Cause::routine("the provider is no longer locked");
            vec![removed.of(CauseKind::ShownByKinds)]
        }
        Sides::Both { old, new } => {
            let mut causes = switched(change, &old.addr, &new.addr);
            let moved = change.step().filter(|step| *step != VersionStep::Same);
            if let Some(step) = moved {
                causes.extend(version(step, &old.lock, &new.lock));
            }
            let (before, now) = (&old.lock.hashes, &new.lock.hashes);
            // `init` accepts any package then, without a check, so other changes of the hashes do not matter
            // (`hash` rules 3.1).
            if now.is_empty() && !before.is_empty() {
                let text = "no hash is recorded any more, so any package is accepted";
                causes.push(Cause::warning(text));
            } else if moved.is_some() || old.addr != new.addr {
                // Another version or address has other packages, so all its hashes are expected to differ.
                causes.extend(of_other_packages(before, now));
            } else {
                causes.extend(of_same_packages(change, before, now));
            }
            if change.kinds.contains(&ChangeKind::ConstraintsChanged) {
                causes.push(constraints(&old.lock.constraints, &new.lock.constraints));
            }
            if moved.is_some() || change.kinds.contains(&ChangeKind::ConstraintsChanged) {
                causes.extend(outside(&new.lock));
            }
            causes
        }
    };
    causes.extend(change.fault.as_deref().map(|title| {
        Cause::warning(if title.is_empty() {
            "the entry is there, with a fault in its syntax".to_owned()
        } else {
            format!("the entry is there, with a fault: {title}")
        })
    }));
    if change.kinds.contains(&ChangeKind::FaultRemoved) {
        causes.push(Cause::routine("the fault that the entry had is gone"));
    }
    Explained::of(causes)
}

/// The numbers of added hashes that facts do not confirm as hashes of the release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JudgedHashes {
    /// `h1:` that no fact explains, although facts know packages of the release.
    pub unknown: usize,
    /// Hashes that belong to no package of the release.
    pub of_no_package: usize,
    /// Those of them that are `h1:`.
    pub h1_of_no_package: usize,
}

impl Explained {
    /// Sorts causes, and takes their highest risk.
    fn of(mut causes: Vec<Cause>) -> Self {
        // Another source is another provider, so all else follows from it. The sort is stable: of equal causes the
        // one that was found first stays first.
        causes.sort_by_key(|cause| Reverse((cause.is_about_the_source(), cause.risk)));
        let risk = causes
            .iter()
            .map(|cause| cause.risk)
            .max()
            .unwrap_or_default();
        Self { causes, risk }
    }

    /// Returns the causes as one sentence, without a period.
    #[must_use]
    pub fn sentence(&self) -> String {
        self.causes
            .iter()
            .map(|cause| &*cause.text)
            .collect::<Vec<_>>()
            .join("; ")
    }
}

impl ExplainedChange {
    /// Explains a change by the two entries alone.
    #[must_use]
    pub fn of(change: ProviderChange) -> Self {
        Self {
            explained: explain(&change),
            change,
            configuration: None,
            owners: BTreeMap::new(),
            builds: Vec::new(),
            trust: Vec::new(),
            advisories: Vec::new(),
        }
    }

    /// Adds what facts say of hashes that were added.
    pub fn add_judged(&mut self, judged: JudgedHashes) {
        let Some(side) = self.change.now() else {
            return;
        };
        let version = &side.lock.version;
        let doubtful = judged.unknown + judged.h1_of_no_package;
        let mut causes = Vec::new();
        for cause in std::mem::take(&mut self.explained.causes) {
            match cause.kind {
                // Such an `h1:` is no platform.
                CauseKind::H1Added(count, beside_list) => {
                    causes.extend(h1_added(count.saturating_sub(doubtful), beside_list));
                }
                _ => causes.push(cause),
            }
        }
        if judged.of_no_package > 0 {
            let belong = counted_as(judged.of_no_package, "hash belongs", "hashes belong");
            causes.push(Cause::danger(format!(
                "{belong} to no package of {version}, by what this machine has proven"
            )));
        }
        if judged.unknown > 0 {
            let are = match judged.unknown {
                1 => "1 h1: is not known to belong to a package".to_owned(),
                count => format!("{count} h1: are not known to belong to packages"),
            };
            causes.push(Cause::notice(format!("{are} of {version}")));
        }
        self.explained = Explained::of(causes);
    }

    /// Returns the causes as one sentence without a period: with the terms of the constraints that changed,
    /// and with the cause in the configuration.
    #[must_use]
    pub fn sentence(&self) -> String {
        self.clauses(Length::Full).join("; ")
    }

    /// Returns the clauses of [`sentence`](Self::sentence) that the kinds of the change and the two versions do
    /// not show; empty if these show all.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        self.clauses(Length::Short)
    }

    fn clauses(&self, length: Length) -> Vec<String> {
        let constraints = |side: Option<&ProviderSide>| {
            side.map(|side| side.lock.constraints.clone())
                .unwrap_or_default()
        };
        let old = constraints(self.change.before());
        let new = constraints(self.change.now());
        // Where the change follows from the configuration, its clause has the same constraints.
        let is_said = self.configuration.as_ref().is_some_and(|cause| {
            cause
                .changed
                .as_ref()
                .is_some_and(|[from, to]| *from == old && *to == new)
        });
        let is_moved = self
            .change
            .step()
            .is_some_and(|step| step != VersionStep::Same);
        let mut clauses = Vec::new();
        for Cause { kind, text, .. } in &self.explained.causes {
            clauses.push(match kind {
                CauseKind::ShownByKinds if length == Length::Short => continue,
                CauseKind::Constraints(ScopeChange::Impossible) => {
                    format!("{text} ({})", terms(&old, &new))
                }
                CauseKind::Constraints(_) if is_moved && is_said => continue,
                // Constraints of another version allow other versions: that says nothing.
                CauseKind::Constraints(_) if is_moved => {
                    format!("the constraints changed ({})", terms(&old, &new))
                }
                CauseKind::Constraints(_) if !is_said => {
                    format!("{text} ({})", terms(&old, &new))
                }
                CauseKind::ProgramSwitched if length == Length::Short => {
                    format!("now from {}", self.change.addr().hostname().unicode())
                }
                CauseKind::ConstraintsAdded => format!("{text} ({new})"),
                CauseKind::ConstraintsDropped => format!("{text} (before: {old})"),
                _ => text.clone(),
            });
        }
        clauses.extend(self.configuration.iter().map(ToString::to_string));
        clauses
    }
}

/// The length of the text about a change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    /// Every cause in full.
    Full,
    /// The causes that kinds and versions do not show.
    Short,
}

/// Shows the terms of constraints that were replaced, added or removed; most terms of a long list stay.
fn terms(old: &Constraints, new: &Constraints) -> String {
    let only_in = |constraints: &Constraints, other: &Constraints| {
        constraints
            .iter()
            .filter(|term| !other.iter().any(|same| same == *term))
            .cloned()
            .collect::<Constraints>()
            .to_string()
    };
    match (only_in(old, new), only_in(new, old)) {
        (lost, gained) if gained.is_empty() && lost.is_empty() => format!("{old} → {new}"),
        (lost, gained) if lost.is_empty() => format!("{gained} was added"),
        (lost, gained) if gained.is_empty() => format!("{lost} was removed"),
        (lost, gained) => format!("{lost} → {gained}"),
    }
}

fn added(change: &ProviderChange, lock: &ProviderLock) -> Vec<Cause> {
    let mut causes = Vec::new();
    causes.extend(change.look_alike.as_ref().map(look_alike));
    let new = Cause::notice("the provider was not locked before");
    causes.push(new.of(CauseKind::ShownByKinds));
    // The twin that OpenTofu makes of an entry of Terraform's registry has none (`lockfile` rules 5.1).
    if lock.hashes.is_empty() {
        causes.push(Cause::warning(
            "no hash is recorded yet, so any package is accepted",
        ));
    }
    let h1 = lock.hashes.of(Scheme::H1).count();
    causes.extend(unexplained(h1, &lock.hashes));
    if lock.version.is_prerelease() {
        causes.push(Cause::notice(PRERELEASE));
    }
    causes.extend(outside(lock));
    causes
}

fn look_alike(found: &LookAlike) -> Cause {
    Cause::danger(found.to_string()).of(CauseKind::LookAlike)
}

fn constraints(before: &Constraints, now: &Constraints) -> Cause {
    if before.is_empty() {
        let text = "constraints are recorded for the first time";
        return Cause::routine(text).of(CauseKind::ConstraintsAdded);
    }
    if now.is_empty() {
        let text = "no constraints are recorded any more";
        return Cause::notice(text).of(CauseKind::ConstraintsDropped);
    }
    let scope = scope_change(before, now);
    let text = match scope {
        ScopeChange::Same => "the constraints are written in another way, to the same effect",
        ScopeChange::Widened => "the constraints allow more versions",
        ScopeChange::Narrowed => "the constraints allow fewer versions",
        ScopeChange::Pinned => "the constraints allow one version only",
        ScopeChange::Loosened => "the constraints no longer allow one version only",
        ScopeChange::Moved | ScopeChange::Replaced => "the constraints allow other versions",
        ScopeChange::Impossible => "the constraints allow no version at all",
    };
    let cause = match scope {
        ScopeChange::Impossible => Cause::warning(text),
        _ => Cause::routine(text),
    };
    cause.of(CauseKind::Constraints(scope))
}

/// Finds a version that the recorded constraints exclude. The programs never select one; an edited lock file may
/// hold it.
fn outside(lock: &ProviderLock) -> Option<Cause> {
    let allowed = lock.constraints.allows(&lock.version);
    let text = "the recorded constraints do not allow this version";
    (!allowed && !lock.constraints.is_empty()).then(|| Cause::notice(text))
}

fn switched(change: &ProviderChange, old: &ProviderAddr, new: &ProviderAddr) -> Vec<Cause> {
    let mut causes = Vec::new();
    let (from, to) = (old.hostname().unicode(), new.hostname().unicode());
    if from != to {
        let is_default = |host| {
            Flavor::ALL
                .iter()
                .any(|flavor| flavor.default_host() == host)
        };
        // Both public registries serve the same publishers: a switch of programs is no alarm, another host is.
        causes.push(if is_default(from) && is_default(to) {
            let text = format!(
                "the registry is {to} now, as after a switch between Terraform and OpenTofu"
            );
            Cause::notice(text).of(CauseKind::ProgramSwitched)
        } else {
            let text = format!("the registry changed from {from} to {to}");
            Cause::warning(text).of(CauseKind::OtherPublisher)
        });
    }
    let (from, to) = (old.namespace(), new.namespace());
    if from != to {
        let is_near = nearest(from, std::iter::once(to)).is_some() && !is_known_publisher(to);
        let text = format!("the publisher changed from {from} to {to}");
        let cause = if is_near {
            Cause::danger(format!("{text}, which is nearly the same name"))
        } else {
            Cause::warning(text)
        };
        causes.push(cause.of(CauseKind::OtherPublisher));
        // A name that is near to the one before says more than one that is near to a third.
        let other = change
            .look_alike
            .as_ref()
            .filter(|look_alike| !is_near && look_alike.resembles != from);
        causes.extend(other.map(look_alike));
    }
    causes
}

const PRERELEASE: &str = "the version is a pre-release";

fn version(step: VersionStep, old: &ProviderLock, new: &ProviderLock) -> Vec<Cause> {
    let mut causes = Vec::new();
    if new.version.is_prerelease() && !old.version.is_prerelease() {
        causes.push(Cause::notice(PRERELEASE));
    }
    let carried = |scheme| {
        old.hashes
            .of(scheme)
            .filter(|hash| new.hashes.contains(hash))
            .count()
    };
    let (h1, zh) = (carried(Scheme::H1), carried(Scheme::Zh));
    let (risk, moved) = match step {
        VersionStep::Same => (Risk::Routine, "the version did not change"),
        VersionStep::Down => (Risk::Warning, "the version went down"),
        VersionStep::Up(Upgrade::Metadata) => {
            (Risk::Routine, "only the metadata of the version changed")
        }
        VersionStep::Up(Upgrade::Major) => (Risk::Notice, "the major version changed"),
        VersionStep::Up(_) => (Risk::Routine, "the version moved"),
    };
    let is_same_release = matches!(step, VersionStep::Same | VersionStep::Up(Upgrade::Metadata));
    // The signed list names a manifest, too, which is often the same in all releases: one `zh:` is no alarm.
    causes.push(if h1 > 0 || zh > 1 {
        let hashes = counted_as(h1 + zh, "hash", "hashes");
        let are = if h1 + zh == 1 { "is" } else { "are" };
        let text = format!("{moved}, but {hashes} of the version before {are} still recorded");
        Cause::warning(text).of(CauseKind::HashesCarriedOver)
    } else if is_same_release || old.hashes.is_empty() || new.hashes.is_empty() {
        Cause::new(risk, moved).of(CauseKind::ShownByKinds)
    } else {
        let hashes = if h1 + zh == 0 { "all" } else { "its" };
        let text = format!("{moved}, so {hashes} hashes changed");
        Cause::new(risk, text).of(CauseKind::ShownByKinds)
    });
    causes
}

/// Explains the numbers of hashes, where none of them could have stayed.
fn of_other_packages(old: &Hashes, new: &Hashes) -> Vec<Cause> {
    let count = |hashes: &Hashes, scheme| hashes.of(scheme).count();
    let mut causes = Vec::new();
    let (from, to) = (count(old, Scheme::H1), count(new, Scheme::H1));
    causes.extend(match (from, to) {
        (1.., 0) => Some(Cause::warning(ALL_H1_LOST)),
        _ if to < from => {
            let (locked, was) = (counted(to, "platform"), was(to));
            let text = format!("only {locked} of {from} {was} locked again");
            Some(Cause::warning(text))
        }
        (1.., _) if from < to => {
            let text = format!("{to} platforms are locked instead of {from}");
            Some(Cause::routine(text))
        }
        _ => None,
    });
    // Without `zh:` a zip whose `h1:` is not recorded is refused, on every other platform (`hash` rules 3.5).
    if count(old, Scheme::Zh) > 0 && count(new, Scheme::Zh) == 0 && !new.is_empty() {
        causes.push(Cause::warning(LIST_LOST));
    }
    let added = new.of(Scheme::H1).filter(|hash| !old.contains(hash));
    causes.extend(unexplained(added.count(), new));
    causes
}

const ALL_H1_LOST: &str = "no platform has an h1: any more";

const LIST_LOST: &str = "the list of zh: is no longer recorded: a mirror, a plugin cache and tools that compute h1: \
     only leave such an entry";

/// Finds `h1:` of no package; `added` of all `h1:` are new.
fn unexplained(added: usize, hashes: &Hashes) -> Option<Cause> {
    let (h1, zh) = (hashes.of(Scheme::H1).count(), hashes.of(Scheme::Zh).count());
    if added == 0 || !hashes.has_unexplained_h1() {
        return None;
    }
    let text = if added == h1 {
        format!("{h1} h1: are recorded, more than the {zh} packages in the list of zh: explain")
    } else {
        format!(
            "{added} h1: {} added, and {h1} h1: are more than the {zh} packages in the list of zh: explain",
            was(added)
        )
    };
    Some(Cause::warning(text))
}

/// Explains `h1:` that were added, and nothing else.
fn h1_added(count: usize, beside_list: BesideList) -> Option<Cause> {
    let text = match (beside_list, count) {
        (_, 0) => return None,
        (BesideList::Yes, _) => format!("{} {} added", counted(count, "platform"), was(count)),
        (BesideList::No, 1) => "1 h1: was added, as for another platform".to_owned(),
        (BesideList::No, _) => format!("{count} h1: were added, as for other platforms"),
    };
    Some(Cause::routine(text).of(CauseKind::H1Added(count, beside_list)))
}

/// Explains hashes that changed while the version did not.
fn of_same_packages(change: &ProviderChange, old: &Hashes, new: &Hashes) -> Vec<Cause> {
    let counts = |scheme| (change.lost(scheme).len(), change.gained(scheme).len());
    let (zh, h1) = (counts(Scheme::Zh), counts(Scheme::H1));
    let of = |hashes: &Hashes, scheme| hashes.of(scheme).count();
    // A mirror leaves a `zh:` for each `h1:`; a registry leaves the list of all platforms (`hash` rules 3.7).
    let is_mirrored = |hashes: &Hashes| of(hashes, Scheme::Zh) <= of(hashes, Scheme::H1);
    let packages_came = zh.0 == 0 && h1.0 == 0 && zh.1 == h1.1 && zh.1 > 0;
    if packages_came && of(old, Scheme::Zh) > 0 && is_mirrored(old) && is_mirrored(new) {
        let (added, was) = (counted(zh.1, "package"), was(zh.1));
        let text = format!("{added} {was} added with zh: and h1:, as from a mirror");
        return vec![Cause::notice(text)];
    }
    let mut causes = Vec::new();
    causes.extend(zh_of_same_packages(zh, old, new));
    causes.extend(unexplained(h1.1, new));
    causes.extend(h1_of_same_packages(h1, zh, old, new));
    let unknown_schemes: BTreeSet<&str> = change
        .moved()
        .filter(|hash| hash.scheme() == Scheme::Other)
        .map(Hash::scheme_name)
        .collect();
    if !unknown_schemes.is_empty() {
        let s = if unknown_schemes.len() == 1 { "" } else { "s" };
        let names = Vec::from_iter(unknown_schemes).join(", ");
        let text = format!("hashes of the unknown scheme{s} {names} were added or removed");
        causes.push(Cause::notice(text));
    }
    causes
}

const BUT_SAME_VERSION: &str = "but the version did not change";

/// Explains the `zh:`, of which so many were lost and gained.
fn zh_of_same_packages(moved: (usize, usize), old: &Hashes, new: &Hashes) -> Option<Cause> {
    let (from, to) = (old.of(Scheme::Zh).count(), new.of(Scheme::Zh).count());
    Some(match moved {
        (0, 0) => return None,
        // A registry that is asked for the first time since a mirror adds its whole list (`sources` rules 9.3).
        (0, _) if from == 0 => Cause::routine("the list of zh: was added"),
        (0, count) if !old.lists_release() && count > from => Cause::notice(format!(
            "{to} zh: are recorded instead of {from}, as when the signed list is added"
        )),
        (0, _) => Cause::warning(format!(
            "the list of zh: grew from {from} to {to}, {BUT_SAME_VERSION}: packages were added to the release, or \
             hashes to the file by hand"
        )),
        (_, 0) if to == 0 => Cause::warning(LIST_LOST),
        (_, 0) => Cause::warning(format!(
            "the list of zh: shrank from {from} to {to}, {BUT_SAME_VERSION}: packages were removed from the release, \
             or hashes from the file by hand"
        )),
        (lost, _) => {
            // The signed list names every package of a release, so that another mirror would not change it.
            let reasons = if old.lists_release() && new.lists_release() {
                "the release was published again, or the lock file was tampered with"
            } else {
                "another mirror, a release that was published again, or tampering"
            };
            let was = was(lost);
            Cause::danger(format!(
                "{lost} of {from} zh: {was} replaced, {BUT_SAME_VERSION}: {reasons}"
            ))
        }
    })
}

/// Explains the `h1:`, of which so many were lost and gained, as far as the `zh:` do not.
fn h1_of_same_packages(
    moved: (usize, usize),
    zh: (usize, usize),
    old: &Hashes,
    new: &Hashes,
) -> Option<Cause> {
    let count = |hashes: &Hashes, scheme| hashes.of(scheme).count();
    let beside_list = if count(new, Scheme::Zh) == 0 {
        BesideList::No
    } else {
        BesideList::Yes
    };
    Some(match moved {
        (0, 0) => return None,
        // `unexplained` has said so, with a higher risk.
        (0, _) if new.has_unexplained_h1() => return None,
        (0, _) if count(old, Scheme::H1) == 0 => Cause::routine("h1: were added to the zh:"),
        (0, gained) => return h1_added(gained, beside_list),
        (_, 0) if count(new, Scheme::H1) == 0 => Cause::warning(ALL_H1_LOST),
        (lost, 0) => {
            let was = was(lost);
            Cause::warning(format!(
                "{lost} h1: {was} removed, so fewer platforms are locked"
            ))
        }
        // Other zips have other contents: a replaced list explains replaced `h1:`.
        _ if zh.0 > 0 && zh.1 > 0 => return None,
        (lost, gained) => {
            let (was, all) = (was(lost), count(old, Scheme::H1));
            let replaced = match lost.cmp(&gained) {
                Ordering::Equal => format!("{lost} h1: {was} replaced"),
                Ordering::Less => format!("{lost} of {all} h1: {was} replaced by {gained}"),
                Ordering::Greater => format!(
                    "{lost} of {all} h1: {was} replaced by {gained}, so fewer platforms are locked"
                ),
            };
            if zh == (0, 0) && count(old, Scheme::Zh) > 0 {
                Cause::warning(format!(
                    "{replaced} while the zh: stayed the same: other platforms were locked, or an h1: was exchanged, \
                     which zh: do not show"
                ))
            } else {
                Cause::danger(format!(
                    "{replaced}, {BUT_SAME_VERSION}: another platform or another mirror, a release that was \
                     published again, or tampering"
                ))
            }
        }
    })
}

fn was(count: usize) -> &'static str {
    if count == 1 { "was" } else { "were" }
}
