//! What led to a change.

use std::collections::BTreeMap;

use super::causes::{Cause, Risk};
use super::configuration::ConfigurationCause;
use super::diff::{ChangeKind, ProviderChange, ProviderSide, Sides};
use crate::addr::{ProviderAddr, is_known_publisher};
use crate::diag::nearest;
use crate::flavor::Flavor;
use crate::hash::{Hash, Hashes, Scheme};
use crate::lockfile::ProviderLock;
use crate::platform::Platform;
use crate::version::{Constraints, ScopeChange, Step, scope_change};

/// A change with everything that explains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplainedChange {
    /// What changed.
    pub change: ProviderChange,
    /// What the two entries show.
    pub explained: Explained,
    /// What the configuration says about it, where that is known.
    pub configuration: Option<ConfigurationCause>,
    /// The platforms that hashes which only one side has belong to, as far as that is known.
    pub owners: BTreeMap<Hash, Vec<Platform>>,
}

/// What led to a change, by the two entries alone.
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
        Sides::Added(new) => added(change, &new.lock),
        Sides::Removed(_) => vec![Cause::ProviderRemoved],
        Sides::Both { old, new } => both(change, old, new),
    };
    // Another source is another provider. Then comes what matters most; of equals, what was found first.
    causes.sort_by_key(|cause| {
        let order = (cause.is_about_the_source(), cause.risk());
        std::cmp::Reverse(order)
    });
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
            owners: BTreeMap::new(),
        }
    }

    /// Returns the causes as one sentence without a period: with the terms of the constraints that changed,
    /// and with what the configuration says.
    #[must_use]
    pub fn sentence(&self) -> String {
        self.clauses(Length::Full).join("; ")
    }

    /// Returns what [`sentence`](Self::sentence) says beside the kinds of the change and the two versions;
    /// nothing if these say all.
    #[must_use]
    pub fn remark(&self) -> String {
        self.remarks().join("; ")
    }

    /// Returns the clauses of [`remark`](Self::remark).
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        self.clauses(Length::Short)
    }

    fn clauses(&self, length: Length) -> Vec<String> {
        let none = Constraints::default();
        let constraints = |side: Option<&'_ ProviderSide>| match side {
            Some(side) => side.lock.constraints.clone(),
            None => none.clone(),
        };
        let old = constraints(self.change.before());
        let new = constraints(self.change.now());
        // The configuration says the same texts where the change follows from it.
        let is_said = matches!(
            &self.configuration,
            Some(ConfigurationCause::ConstraintsChanged { from, to, .. })
                if *from == old.to_string() && *to == new.to_string()
        );
        let is_moved = self.change.step().is_some_and(|step| step != Step::Same);
        let causes = self.explained.causes.iter();
        let causes = causes.filter(|cause| length == Length::Full || !cause.is_shown_by_kinds());
        let causes = causes.filter_map(|cause| match cause {
            Cause::Constraints(ScopeChange::Impossible) => {
                Some(format!("{cause} ({})", terms(&old, &new)))
            }
            Cause::Constraints(_) if is_moved && is_said => None,
            Cause::Constraints(_) if is_moved => {
                Some(format!("the constraints changed ({})", terms(&old, &new)))
            }
            Cause::Constraints(_) if is_said => Some(cause.to_string()),
            Cause::Constraints(_) => Some(format!("{cause} ({})", terms(&old, &new))),
            Cause::ProgramSwitched { to } if length == Length::Short => {
                Some(format!("now from {to}"))
            }
            Cause::ConstraintsAdded => Some(format!("{cause} ({new})")),
            Cause::ConstraintsDropped => Some(format!("{cause} (before: {old})")),
            _ => Some(cause.to_string()),
        });
        let configuration = self.configuration.iter().map(ToString::to_string);
        causes.chain(configuration).collect()
    }
}

/// How much is said about a change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    /// All of it.
    Full,
    /// What kinds and versions do not show.
    Short,
}

/// Shows which terms of constraints were replaced, added or removed; most terms of a long list stay.
fn terms(old: &Constraints, new: &Constraints) -> String {
    let only = |one: &Constraints, other: &Constraints| {
        let own = one
            .iter()
            .filter(|term| !other.iter().any(|same| same == *term));
        own.cloned().collect::<Constraints>().to_string()
    };
    match (only(old, new), only(new, old)) {
        (lost, gained) if gained.is_empty() && lost.is_empty() => format!("{old} → {new}"),
        (lost, gained) if lost.is_empty() => format!("{gained} was added"),
        (lost, gained) if gained.is_empty() => format!("{lost} was removed"),
        (lost, gained) => format!("{lost} → {gained}"),
    }
}

fn added(change: &ProviderChange, lock: &ProviderLock) -> Vec<Cause> {
    let look_alike = change.look_alike.clone().map(Cause::LookAlike);
    let mut causes: Vec<Cause> = look_alike.into_iter().collect();
    causes.push(Cause::NewProvider);
    if lock.hashes.is_empty() {
        causes.push(Cause::NoHashes);
    }
    causes.extend(unexplained(
        lock.hashes.of(Scheme::H1).count(),
        &lock.hashes,
    ));
    if lock.version.is_prerelease() {
        causes.push(Cause::Prerelease);
    }
    causes.extend(outside(lock));
    causes
}

fn both(change: &ProviderChange, old: &ProviderSide, new: &ProviderSide) -> Vec<Cause> {
    let mut causes = Vec::new();
    causes.extend(switched(change, &old.addr, &new.addr));
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

fn switched(change: &ProviderChange, old: &ProviderAddr, new: &ProviderAddr) -> Vec<Cause> {
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
        let is_near = nearest(&from, std::iter::once(&*to)).is_some() && !is_known_publisher(&to);
        // Nearly the same as before says more than nearly the same as a third.
        let other = change
            .look_alike
            .clone()
            .filter(|found| !is_near && found.resembles != from);
        causes.push(if is_near {
            Cause::SimilarNamespace { from, to }
        } else {
            Cause::NamespaceSwitched { from, to }
        });
        causes.extend(other.map(Cause::LookAlike));
    }
    causes
}

fn version(step: Step, old: &ProviderLock, new: &ProviderLock) -> Vec<Cause> {
    let mut causes = Vec::new();
    if new.version.is_prerelease() && !old.version.is_prerelease() {
        causes.push(Cause::Prerelease);
    }
    let carried = |scheme| {
        let all = old.hashes.of(scheme);
        all.filter(|hash| new.hashes.contains(hash)).count()
    };
    // The signed list names a manifest, too, which is often the same in all releases.
    let count = carried(Scheme::H1) + carried(Scheme::Zh).saturating_sub(1);
    causes.push(match count {
        0 => Cause::VersionMoved(step),
        count => Cause::HashesCarriedOver { step, count },
    });
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
    let added = new.of(Scheme::H1).filter(|hash| !old.contains(hash));
    causes.extend(unexplained(added.count(), new));
    causes
}

/// Finds `h1:` of no package, so many of which are new.
fn unexplained(added: usize, hashes: &Hashes) -> Option<Cause> {
    let count = |scheme| hashes.of(scheme).count();
    (added > 0 && hashes.has_unexplained_h1()).then(|| Cause::UnexplainedH1 {
        added,
        h1: count(Scheme::H1),
        zh: count(Scheme::Zh),
    })
}

/// Explains hashes that changed while the version did not.
fn of_same_packages(change: &ProviderChange, old: &Hashes, new: &Hashes) -> Vec<Cause> {
    if new.is_empty() && !old.is_empty() {
        return vec![Cause::AllHashesLost];
    }
    let counts = |scheme| (change.lost(scheme).len(), change.gained(scheme).len());
    let (zh, h1) = (counts(Scheme::Zh), counts(Scheme::H1));
    let of = |hashes: &Hashes, scheme| hashes.of(scheme).count();
    let mut causes = Vec::new();
    let (from, to) = (of(old, Scheme::Zh), of(new, Scheme::Zh));
    // A mirror that is no registry leaves a `zh:` for each `h1:`.
    let is_mirrored = |hashes: &Hashes| of(hashes, Scheme::Zh) <= of(hashes, Scheme::H1);
    let packages_came = zh.0 == 0 && h1.0 == 0 && zh.1 == h1.1 && zh.1 > 0 && from > 0;
    if packages_came && is_mirrored(old) && is_mirrored(new) {
        causes.push(Cause::PackagesAdded(zh.1));
        return causes;
    }
    causes.extend(match zh {
        (0, 0) => None,
        (0, _) if from == 0 => Some(Cause::SchemeCompleted(Scheme::Zh)),
        (0, count) if !old.lists_release() && count > from => {
            Some(Cause::ListCompleted { from, to })
        }
        (0, _) => Some(Cause::ListGrew { from, to }),
        (_, 0) if to == 0 => Some(Cause::ListLost),
        (_, 0) => Some(Cause::ListShrank { from, to }),
        (lost, _) => Some(Cause::ZhReplaced {
            lost,
            of: from,
            is_list: old.lists_release() && new.lists_release(),
        }),
    });
    let is_replaced = matches!(causes.last(), Some(Cause::ZhReplaced { .. }));
    let same_list = zh == (0, 0) && from > 0;
    causes.extend(unexplained(h1.1, new));
    causes.extend(match h1 {
        (0, 0) => None,
        (0, _) if new.has_unexplained_h1() => None,
        (0, _) if of(old, Scheme::H1) == 0 => Some(Cause::SchemeCompleted(Scheme::H1)),
        (0, count) if to == 0 => Some(Cause::H1Added(count)),
        (0, count) => Some(Cause::PlatformsAdded(count)),
        (_, 0) if of(new, Scheme::H1) == 0 => Some(Cause::AllH1Lost),
        (count, 0) => Some(Cause::PlatformsLost(count)),
        _ if is_replaced => None,
        (count, _) if same_list => Some(Cause::H1ReplacedBesideList(count)),
        (count, _) => Some(Cause::H1Replaced(count)),
    });
    if counts(Scheme::Other) != (0, 0) {
        causes.push(Cause::UnknownScheme);
    }
    causes
}
