//! What most likely led to a change.

use super::causes::{Cause, Risk};
use super::configuration::ConfigurationCause;
use super::diff::{ChangeKind, ProviderChange, ProviderSide, Sides};
use crate::addr::ProviderAddr;
use crate::diag::nearest;
use crate::flavor::Flavor;
use crate::hash::{Hashes, Scheme};
use crate::lockfile::ProviderLock;
use crate::version::{Step, scope_change};

/// A change with everything that explains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedChange {
    /// What changed.
    pub change: ProviderChange,
    /// What the two entries show.
    pub explained: Explained,
    /// What the configuration says about it, where that is known.
    pub configuration: Option<ConfigurationCause>,
}

/// What most likely led to a change, by the two entries alone.
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
    // What matters most comes first; of equals, what was found first.
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

impl ExplainedChange {
    /// Explains a change by the two entries alone.
    #[must_use]
    pub fn of(change: ProviderChange) -> Self {
        Self {
            explained: explain(&change),
            change,
            configuration: None,
        }
    }

    /// Returns the causes as one sentence without a period: with the constraints where these
    /// changed, and with what the configuration says.
    #[must_use]
    pub fn sentence(&self) -> String {
        let constraints = |side: Option<&ProviderSide>| {
            side.map_or_else(String::new, |side| side.lock.constraints.to_string())
        };
        let old = constraints(self.change.before());
        let new = constraints(self.change.now());
        // The configuration says the same texts where the change follows from it.
        let is_said = matches!(
            &self.configuration,
            Some(ConfigurationCause::ConstraintsChanged { from, to, .. }) if (from, to) == (&old, &new)
        );
        let causes = self.explained.causes.iter().map(|cause| match cause {
            Cause::Constraints(_) if is_said => cause.to_string(),
            Cause::Constraints(_) => format!("{cause} ({old} → {new})"),
            Cause::ConstraintsAdded => format!("{cause} ({new})"),
            Cause::ConstraintsDropped => format!("{cause} (they were {old})"),
            _ => cause.to_string(),
        });
        let configuration = self.configuration.iter().map(ToString::to_string);
        causes.chain(configuration).collect::<Vec<_>>().join("; ")
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
    causes.extend(if moved.is_some() || old.addr != new.addr {
        of_other_packages(before, now)
    } else {
        of_same_packages(change, before, now)
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

/// The programs never select such a version; an edited lock file may hold one.
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
        causes.push(if is_default(from) && is_default(to) {
            Cause::ProgramSwitched { to: to.to_owned() }
        } else {
            Cause::HostSwitched {
                from: from.to_owned(),
                to: to.to_owned(),
            }
        });
    }
    if old.namespace() != new.namespace() {
        let (from, to) = (old.namespace().to_owned(), new.namespace().to_owned());
        causes.push(if nearest(&from, std::iter::once(&*to)).is_some() {
            Cause::LookAlike { from, to }
        } else {
            Cause::NamespaceSwitched { from, to }
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
    let (h1, zh) = (carried(Scheme::H1), carried(Scheme::Zh));
    // The signed list names a manifest, too, which is often the same in all releases.
    if h1 > 0 || zh > 1 {
        causes.push(Cause::HashesCarriedOver(h1 + zh));
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

/// Explains hashes that changed although the version did not.
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
    let is_published_again = causes.contains(&Cause::PublishedAgain);
    let same_list = zh == (0, 0) && had(Scheme::Zh);
    causes.extend(match h1 {
        (0, 0) => None,
        (0, _) if !had(Scheme::H1) => Some(Cause::SchemeCompleted(Scheme::H1)),
        (0, count) => Some(Cause::PlatformsAdded(count)),
        (_, 0) if !has(Scheme::H1) => Some(Cause::AllH1Lost),
        (count, 0) => Some(Cause::PlatformsLost(count)),
        _ if is_published_again => None,
        _ if same_list => Some(Cause::OtherPlatform),
        _ => Some(Cause::PublishedAgain),
    });
    if counts(Scheme::Other) != (0, 0) {
        causes.push(Cause::UnknownScheme);
    }
    causes
}
