//! What most likely led to a change.

use super::causes::{Cause, Risk};
use super::diff::{ChangeKind, ProviderChange, ProviderSide, Sides};
use crate::addr::ProviderAddr;
use crate::diag::nearest;
use crate::flavor::Flavor;
use crate::hash::{Hashes, Scheme};
use crate::lockfile::ProviderLock;
use crate::version::{Step, scope_change};

/// A change with what led to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// Why, what matters most first; never empty.
    pub causes: Vec<Cause>,
    /// How much the worst of them matters.
    pub risk: Risk,
}

/// Explains a change by the two entries alone.
#[must_use]
pub fn explain(change: &ProviderChange) -> Explained {
    let mut causes = match &change.sides {
        Sides::Added(new) => added(&new.lock),
        Sides::Removed(_) => vec![Cause::ProviderGone],
        Sides::Both { old, new } => both(change, old, new),
    };
    // What matters most is told first; of equals, what came first.
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.risk()));
    let risk = causes.iter().map(Cause::risk).max().unwrap_or_default();
    Explained { causes, risk }
}

impl Explained {
    /// Returns the causes as one sentence, without a period.
    #[must_use]
    pub fn sentence(&self) -> String {
        let causes: Vec<String> = self.causes.iter().map(Cause::to_string).collect();
        causes.join("; ")
    }
}

fn added(lock: &ProviderLock) -> Vec<Cause> {
    let mut causes = vec![Cause::NewProvider];
    if lock.hashes.is_empty() {
        causes.push(Cause::NoHashes);
    }
    if lock.version.is_prerelease() {
        causes.push(Cause::Prerelease);
    }
    causes.extend(outside(lock));
    causes
}

fn both(change: &ProviderChange, old: &ProviderSide, new: &ProviderSide) -> Vec<Cause> {
    let mut causes = Vec::new();
    causes.extend(switched(&old.addr, &new.addr));
    let moved = change.step().filter(|step| *step != Step::Same);
    if let Some(step) = moved {
        causes.extend(version(step, &old.lock, &new.lock));
    }
    let (before, now) = (&old.lock.hashes, &new.lock.hashes);
    causes.extend(match moved.is_some() || old.addr != new.addr {
        true => of_other_packages(before, now),
        false => of_same_packages(change, before, now),
    });
    if change.kinds.contains(&ChangeKind::ConstraintsChanged) {
        let (before, now) = (&old.lock.constraints, &new.lock.constraints);
        causes.push(match (before.is_empty(), now.is_empty()) {
            (true, _) => Cause::ConstraintsAdded,
            (_, true) => Cause::ConstraintsDropped,
            _ => Cause::Constraints(scope_change(before, now)),
        });
    }
    if moved.is_some() || change.kinds.contains(&ChangeKind::ConstraintsChanged) {
        causes.extend(outside(&new.lock));
    }
    causes
}

/// The programs never select such a version; a lock file that somebody edited may hold it.
fn outside(lock: &ProviderLock) -> Option<Cause> {
    let allowed = lock.constraints.allows(&lock.version);
    (!allowed && !lock.constraints.is_empty()).then_some(Cause::OutsideConstraints)
}

fn switched(old: &ProviderAddr, new: &ProviderAddr) -> Vec<Cause> {
    let mut causes = Vec::new();
    let (from, to) = (old.hostname().unicode(), new.hostname().unicode());
    if from != to {
        let is_default = |host| {
            Flavor::ALL
                .iter()
                .any(|flavor| flavor.default_host() == host)
        };
        causes.push(match is_default(from) && is_default(to) {
            true => Cause::ProgramSwitched { to: to.to_owned() },
            false => Cause::HostSwitched {
                from: from.to_owned(),
                to: to.to_owned(),
            },
        });
    }
    if old.namespace() != new.namespace() {
        let (from, to) = (old.namespace().to_owned(), new.namespace().to_owned());
        causes.push(match nearest(&from, std::iter::once(&*to)).is_some() {
            true => Cause::LookAlike { from, to },
            false => Cause::NamespaceSwitched { from, to },
        });
    }
    causes
}

fn version(step: Step, old: &ProviderLock, new: &ProviderLock) -> Vec<Cause> {
    let mut causes = vec![Cause::VersionMoved(step)];
    if new.version.is_prerelease() && !old.version.is_prerelease() {
        causes.push(Cause::Prerelease);
    }
    let carried = |scheme| {
        let all = old.hashes.of(scheme);
        all.filter(|hash| new.hashes.contains(hash)).count()
    };
    // The signed list names a manifest, too, which is often the same in all releases.
    match carried(Scheme::H1) + carried(Scheme::Zh).saturating_sub(1) {
        0 => {}
        _ => causes.push(Cause::HashesCarriedOver(
            carried(Scheme::H1) + carried(Scheme::Zh),
        )),
    }
    causes
}

/// Explains how many hashes there are, where none of them could have stayed.
fn of_other_packages(old: &Hashes, new: &Hashes) -> Vec<Cause> {
    let count = |hashes: &Hashes, scheme| hashes.of(scheme).count();
    let mut causes = Vec::new();
    let (from, to) = (count(old, Scheme::H1), count(new, Scheme::H1));
    causes.extend(match (from, to) {
        _ if new.is_empty() && !old.is_empty() => Some(Cause::AllHashesLost),
        (1.., 0) => Some(Cause::AllH1Lost),
        _ if to < from => Some(Cause::FewerPlatforms { from, to }),
        (1.., _) if from < to => Some(Cause::MorePlatforms { from, to }),
        _ => None,
    });
    if count(old, Scheme::Zh) > 0 && count(new, Scheme::Zh) == 0 && !new.is_empty() {
        causes.push(Cause::ListLost);
    }
    causes
}

/// Explains hashes that changed while the version stands.
fn of_same_packages(change: &ProviderChange, old: &Hashes, new: &Hashes) -> Vec<Cause> {
    if new.is_empty() && !old.is_empty() {
        return vec![Cause::AllHashesLost];
    }
    let counts = |scheme| (change.lost(scheme).len(), change.gained(scheme).len());
    let (zh, h1) = (counts(Scheme::Zh), counts(Scheme::H1));
    let had = |scheme| old.of(scheme).next().is_some();
    let has = |scheme| new.of(scheme).next().is_some();
    let mut causes = Vec::new();
    causes.extend(match zh {
        (0, 0) => None,
        (0, _) if !old.lists_release() => Some(Cause::SchemeCompleted(Scheme::Zh)),
        (0, count) => Some(Cause::ReleaseGrew(count)),
        (_, 0) if !has(Scheme::Zh) => Some(Cause::ListLost),
        (count, 0) => Some(Cause::ListShrank(count)),
        _ => Some(Cause::PublishedAgain),
    });
    let is_told = causes.contains(&Cause::PublishedAgain);
    let same_list = zh == (0, 0) && had(Scheme::Zh);
    causes.extend(match h1 {
        (0, 0) => None,
        (0, _) if !had(Scheme::H1) => Some(Cause::SchemeCompleted(Scheme::H1)),
        (0, count) => Some(Cause::PlatformsAdded(count)),
        (_, 0) if !has(Scheme::H1) => Some(Cause::AllH1Lost),
        (count, 0) => Some(Cause::PlatformsLost(count)),
        _ if is_told => None,
        _ if same_list => Some(Cause::OtherPlatform),
        _ => Some(Cause::PublishedAgain),
    });
    if counts(Scheme::Other) != (0, 0) {
        causes.push(Cause::UnknownScheme);
    }
    causes
}
