//! The entries that differ between two lock files, and the kinds of difference.

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::{Hostname, LookAlike, ProviderAddr, look_alike};
use crate::hash::{Hash, Scheme};
use crate::lockfile::{LockFile, ProviderLock};
use crate::version::{Upgrade, VersionStep, step};

/// The differences between two lock files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockDiff {
    /// The providers that differ, ordered by their address, of two the new one.
    pub providers: Vec<ProviderChange>,
    /// The number of entries that are the same on both sides.
    pub unchanged: usize,
}

/// The difference between the entries of one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderChange {
    /// The entries that differ.
    pub sides: Sides,
    /// The kinds of the difference; never empty.
    pub kinds: BTreeSet<ChangeKind>,
    /// The known address that the new one may be mistaken for, if the provider was not locked before.
    pub look_alike: Option<LookAlike>,
    /// The title of a fault that the old entry has not, and that makes the programs refuse the file; empty if the
    /// syntax is wrong.
    pub fault: Option<String>,
}

/// An entry on one side of a comparison, or on both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sides {
    /// Only the new entry.
    Added(ProviderSide),
    /// Only the old entry.
    Removed(ProviderSide),
    /// Entries on both sides, which may be of two addresses.
    Both {
        /// The entry in the old file.
        old: ProviderSide,
        /// The entry in the new file.
        new: ProviderSide,
    },
}

/// One side of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderSide {
    /// The address of the provider.
    pub addr: ProviderAddr,
    /// The entry under that address.
    pub lock: ProviderLock,
}

/// A kind of change of an entry.
// In display order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ChangeKind {
    /// The provider had no entry before.
    Added,
    /// The provider has no entry any more.
    Removed,
    /// The same provider comes from another registry.
    HostSwitched,
    /// A provider of the same type in another namespace replaces it.
    NamespaceSwitched,
    /// The version went up, or only its metadata differ.
    Upgraded,
    /// The version went down.
    Downgraded,
    /// The constraints allow other versions, or are written in another way.
    ConstraintsChanged,
    /// The version did not change, and there are more hashes.
    HashesAdded,
    /// The version did not change, and there are fewer hashes.
    HashesRemoved,
    /// The version did not change, and hashes were replaced by others.
    HashesReplaced,
    /// The entry has a fault now that makes the programs refuse the file.
    FaultAdded,
    /// The entry had a fault, and has none now.
    FaultRemoved,
}

impl ChangeKind {
    /// Returns its name, a kebab-case word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::HostSwitched => "host-switched",
            Self::NamespaceSwitched => "namespace-switched",
            Self::Upgraded => "upgraded",
            Self::Downgraded => "downgraded",
            Self::ConstraintsChanged => "constraints-changed",
            Self::HashesAdded => "hashes-added",
            Self::HashesRemoved => "hashes-removed",
            Self::HashesReplaced => "hashes-replaced",
            Self::FaultAdded => "fault-added",
            Self::FaultRemoved => "fault-removed",
        }
    }
}

/// Compares two lock files.
///
/// A removed and an added entry are one change where only the hostname, only the
/// namespace, or both of a single provider type differ.
///
/// ```
/// use lockctl_core::diag::FileId;
/// use lockctl_core::flavor::Flavor;
/// use lockctl_core::lockfile::{self, LockFile};
/// use lockctl_core::review::{ChangeKind, diff, explain};
///
/// let lock = |version: &str| -> LockFile {
///     let address = "registry.terraform.io/hashicorp/null";
///     let text = format!("provider {address:?} {{\n  version = {version:?}\n}}\n");
///     lockfile::parse(FileId::ALONE, text.as_bytes(), Flavor::Terraform1_16).0.lock
/// };
/// let found = diff(&lock("3.2.4"), &lock("3.2.3"));
/// let change = &found.providers[0];
/// assert!(change.kinds.contains(&ChangeKind::Downgraded));
/// assert_eq!(explain(change).sentence(), "the version went down");
/// ```
#[must_use]
pub fn diff(old: &LockFile, new: &LockFile) -> LockDiff {
    let mut removed: BTreeMap<&ProviderAddr, &ProviderLock> = BTreeMap::new();
    let mut lock_diff = LockDiff::default();
    for (addr, lock) in &old.providers {
        match new.providers.get(addr) {
            None => {
                removed.insert(addr, lock);
            }
            Some(now) if now == lock => lock_diff.unchanged += 1,
            Some(now) => {
                let change = changed(side(addr, lock), side(addr, now));
                lock_diff.providers.push(change);
            }
        }
    }
    let mut added: BTreeMap<&ProviderAddr, &ProviderLock> = new
        .providers
        .iter()
        .filter(|(addr, _)| !old.providers.contains_key(addr))
        .collect();
    // A removed and an added entry of one type may be the same provider on another registry or from another
    // publisher; that is one change.
    for (before, now) in switched(&removed, &added) {
        if let (Some(old), Some(new)) = (removed.remove(before), added.remove(now)) {
            let change = changed(side(before, old), side(now, new));
            lock_diff.providers.push(change);
        }
    }
    for (addr, lock) in removed {
        lock_diff.providers.push(ProviderChange {
            sides: Sides::Removed(side(addr, lock)),
            kinds: BTreeSet::from([ChangeKind::Removed]),
            look_alike: None,
            fault: None,
        });
    }
    for (addr, lock) in added {
        lock_diff.providers.push(ProviderChange {
            sides: Sides::Added(side(addr, lock)),
            kinds: BTreeSet::from([ChangeKind::Added]),
            look_alike: None,
            fault: None,
        });
    }
    for change in &mut lock_diff.providers {
        // A provider that only moved to another registry has the name that a reader knows already.
        let is_new = [ChangeKind::Added, ChangeKind::NamespaceSwitched]
            .iter()
            .any(|kind| change.kinds.contains(kind));
        if is_new {
            change.look_alike = look_alike(change.addr(), old.providers.keys());
        }
    }
    lock_diff.providers.sort_by(|a, b| a.addr().cmp(b.addr()));
    lock_diff
}

/// Pairs removed entries with the added ones that replace them.
///
/// The closest pairs come first: another hostname, another namespace, both. Nothing is paired where
/// there is a choice.
fn switched<'a>(
    removed: &BTreeMap<&'a ProviderAddr, &ProviderLock>,
    added: &BTreeMap<&'a ProviderAddr, &ProviderLock>,
) -> Vec<(&'a ProviderAddr, &'a ProviderAddr)> {
    /// The part of an address that a step compares, beside the type.
    type Shared = fn(&ProviderAddr) -> (Option<&str>, Option<&Hostname>);
    const STEPS: [Shared; 3] = [
        |addr| (Some(addr.namespace()), None),
        |addr| (None, Some(addr.hostname())),
        |_| (None, None),
    ];
    let (mut left, mut right): (BTreeSet<_>, BTreeSet<_>) = (
        removed.keys().copied().collect(),
        added.keys().copied().collect(),
    );
    let mut pairs = Vec::new();
    // Of the entries that an earlier step paired none is left for a later one.
    for shared in STEPS {
        // Grouped first, so that not every pair is compared: two files may have thousands of entries and none
        // in common.
        let mut groups: BTreeMap<_, (Vec<&ProviderAddr>, Vec<&ProviderAddr>)> = BTreeMap::new();
        for before in &left {
            let key = (before.type_name(), shared(before));
            groups.entry(key).or_default().0.push(before);
        }
        for now in &right {
            let key = (now.type_name(), shared(now));
            groups.entry(key).or_default().1.push(now);
        }
        for (before, now) in groups.into_values() {
            let (&[before], &[now]) = (&*before, &*now) else {
                continue;
            };
            left.remove(before);
            right.remove(now);
            pairs.push((before, now));
        }
    }
    pairs
}

fn side(addr: &ProviderAddr, lock: &ProviderLock) -> ProviderSide {
    ProviderSide {
        addr: addr.clone(),
        lock: lock.clone(),
    }
}

pub(super) fn changed(old: ProviderSide, new: ProviderSide) -> ProviderChange {
    let mut kinds = BTreeSet::new();
    if old.addr.hostname() != new.addr.hostname() {
        kinds.insert(ChangeKind::HostSwitched);
    }
    // Both may change at once, as in a fork on another registry.
    if old.addr.namespace() != new.addr.namespace() {
        kinds.insert(ChangeKind::NamespaceSwitched);
    }
    kinds.extend(match step(&old.lock.version, &new.lock.version) {
        VersionStep::Same => None,
        VersionStep::Down => Some(ChangeKind::Downgraded),
        VersionStep::Up(_) => Some(ChangeKind::Upgraded),
    });
    if old.lock.constraints != new.lock.constraints {
        kinds.insert(ChangeKind::ConstraintsChanged);
    }
    // The packages of another source or version have other hashes: their difference says nothing.
    if old.addr == new.addr && old.lock.version == new.lock.version {
        let lacks = |side: &ProviderSide, other: &ProviderSide| {
            other
                .lock
                .hashes
                .iter()
                .any(|hash| !side.lock.hashes.contains(hash))
        };
        kinds.extend(match (lacks(&new, &old), lacks(&old, &new)) {
            (false, false) => None,
            (false, true) => Some(ChangeKind::HashesAdded),
            (true, false) => Some(ChangeKind::HashesRemoved),
            (true, true) => Some(ChangeKind::HashesReplaced),
        });
    }
    ProviderChange {
        sides: Sides::Both { old, new },
        kinds,
        look_alike: None,
        fault: None,
    }
}

impl ProviderChange {
    /// Returns the address: of two the new one.
    #[must_use]
    pub fn addr(&self) -> &ProviderAddr {
        match &self.sides {
            Sides::Added(side) | Sides::Removed(side) | Sides::Both { new: side, .. } => &side.addr,
        }
    }

    /// Returns the entry before, if there was one.
    #[must_use]
    pub fn before(&self) -> Option<&ProviderSide> {
        match &self.sides {
            Sides::Added(_) => None,
            Sides::Removed(old) | Sides::Both { old, .. } => Some(old),
        }
    }

    /// Returns the entry now, if there is one.
    #[must_use]
    pub fn now(&self) -> Option<&ProviderSide> {
        match &self.sides {
            Sides::Removed(_) => None,
            Sides::Added(new) | Sides::Both { new, .. } => Some(new),
        }
    }

    /// Returns the move of the version, where there is one on both sides.
    #[must_use]
    pub fn step(&self) -> Option<VersionStep> {
        Some(step(
            &self.before()?.lock.version,
            &self.now()?.lock.version,
        ))
    }

    /// Returns the part of the version that went up, if one did.
    #[must_use]
    pub fn upgrade(&self) -> Option<Upgrade> {
        match self.step()? {
            VersionStep::Same | VersionStep::Down => None,
            VersionStep::Up(upgrade) => Some(upgrade),
        }
    }

    /// Iterates over the hashes that only one of the entries has, the removed ones first.
    pub fn moved(&self) -> impl Iterator<Item = &Hash> {
        let schemes = [Scheme::H1, Scheme::Zh, Scheme::Other];
        schemes
            .into_iter()
            .flat_map(|scheme| self.lost(scheme))
            .chain(schemes.into_iter().flat_map(|scheme| self.gained(scheme)))
    }

    /// Lists the hashes of a scheme that only the old entry has.
    #[must_use]
    pub fn lost(&self, scheme: Scheme) -> Vec<&Hash> {
        only_in(self.before(), self.now(), scheme)
    }

    /// Lists the hashes of a scheme that only the new entry has.
    #[must_use]
    pub fn gained(&self, scheme: Scheme) -> Vec<&Hash> {
        only_in(self.now(), self.before(), scheme)
    }
}

/// Lists the hashes of a scheme that one side has and the other has not.
fn only_in<'s>(
    side: Option<&'s ProviderSide>,
    other: Option<&ProviderSide>,
    scheme: Scheme,
) -> Vec<&'s Hash> {
    side.into_iter()
        .flat_map(|side| side.lock.hashes.of(scheme))
        .filter(|hash| !other.is_some_and(|other| other.lock.hashes.contains(hash)))
        .collect()
}
