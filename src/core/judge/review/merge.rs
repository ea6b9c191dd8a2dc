//! Three-way merge of lock files, entry by entry (rules 1).
//!
//! A change that only one side made is taken from it; hashes of different versions never mix.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::addr::ProviderAddr;
use crate::hash::Hashes;
use crate::lockfile::{LockFile, ProviderLock};
use crate::version::{Constraint, Constraints, Upgrade, VersionStep, step};

/// The side that is taken where both moved a provider to different versions, or one removed an entry that the
/// other changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MergePreference {
    /// The newer version, if both sides went up; otherwise the entry needs manual resolution.
    #[default]
    Newest,
    /// The entry of our side.
    Ours,
    /// The entry of their side.
    Theirs,
    /// None: the entry needs manual resolution.
    Fail,
}

/// The outcome of a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// The entries that could be merged.
    pub lock: LockFile,
    /// The entries that need manual resolution; these providers are not in `lock`.
    pub conflicts: BTreeMap<ProviderAddr, MergeConflict>,
    /// The merged entries that `lockctl lock` should complete, by the reason.
    pub unfinished: BTreeMap<UnfinishedReason, BTreeSet<ProviderAddr>>,
}

/// An entry that both sides changed, and that cannot be both.
///
/// Displayed as a clause that says what each side has: no capital letter, no period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeConflict {
    /// The entry that both sides started from, if there was one.
    pub base: Option<ProviderLock>,
    /// Our entry, if we have one.
    pub ours: Option<ProviderLock>,
    /// Their entry, if they have one.
    pub theirs: Option<ProviderLock>,
    /// The preference for the newer version settles it.
    pub has_newer: bool,
}

/// A reason why a merged entry may lack hashes or have too many constraints.
///
/// Displayed as a clause: no capital letter, no period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnfinishedReason {
    /// One side added hashes to a version that the other side left.
    HashesLeftBehind,
    /// The sides have different versions, and one of them was taken.
    VersionsDiffered,
    /// As [`Self::VersionsDiffered`], and the constraints that a side changed exclude the version that was taken.
    VersionExcluded,
    /// Both sides changed the constraints, and the terms of both were joined.
    ConstraintsJoined,
}

impl fmt::Display for UnfinishedReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HashesLeftBehind => {
                "one side added hashes to the version that the other side left"
            }
            Self::VersionsDiffered => {
                "the sides have different versions, and the one shown here was taken"
            }
            Self::VersionExcluded => {
                "the sides have different versions; constraints of one side exclude the one shown here, which was taken"
            }
            Self::ConstraintsJoined => {
                "both sides changed the constraints, and the terms of both are recorded"
            }
        })
    }
}

impl fmt::Display for MergeConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("we have ")?;
        self.side(self.ours.as_ref(), f)?;
        f.write_str(", they have ")?;
        self.side(self.theirs.as_ref(), f)?;
        match &self.base {
            Some(base) => write!(f, ", before {}", base.version),
            None => Ok(()),
        }
    }
}

impl MergeConflict {
    /// Writes the version of a side; beside that of the base also its other changes, which are the cause then.
    fn side(&self, entry: Option<&ProviderLock>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(entry) = entry else {
            return f.write_str("nothing");
        };
        write!(f, "{}", entry.version)?;
        let Some(base) = self
            .base
            .as_ref()
            .filter(|base| base.version == entry.version)
        else {
            return Ok(());
        };
        let mut joint = "with";
        if entry.hashes != base.hashes {
            write!(f, " {joint} other hashes")?;
            joint = "and";
        }
        if entry.constraints.is_empty() && !base.constraints.is_empty() {
            write!(f, " {joint} no constraints")?;
        } else if entry.constraints != base.constraints {
            write!(f, " {joint} the constraints \"{}\"", entry.constraints)?;
        }
        Ok(())
    }
}

/// The lock file that both sides of a merge started from, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeBase {
    /// The entries that are known.
    pub lock: LockFile,
    /// The other entries that the base may have had.
    pub unknown: UnknownEntries,
}

/// The entries of a base that are not known; every other entry that is missing from it is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum UnknownEntries {
    /// No entry is unknown.
    #[default]
    None,
    /// Those that could not be read. Of some the possible entries are known: git makes one base of
    /// several, and marks where these differ.
    Unread(BTreeMap<ProviderAddr, Vec<ProviderLock>>),
    /// All: there is no base to read.
    All,
}

impl From<LockFile> for MergeBase {
    /// Makes a base without unknown entries.
    fn from(lock: LockFile) -> Self {
        Self {
            lock,
            unknown: UnknownEntries::None,
        }
    }
}

impl MergeBase {
    /// Makes the base of a merge whose start is not known.
    #[must_use]
    pub fn unknown() -> Self {
        Self {
            lock: LockFile::default(),
            unknown: UnknownEntries::All,
        }
    }

    fn entry(&self, addr: &ProviderAddr) -> BaseEntry<'_> {
        match (self.lock.providers.get(addr), &self.unknown) {
            (Some(entry), _) => BaseEntry::Known(entry),
            (None, UnknownEntries::None) => BaseEntry::Absent,
            (None, UnknownEntries::Unread(possible)) => {
                BaseEntry::Unread(possible.get(addr).map_or(&[], Vec::as_slice))
            }
            (None, UnknownEntries::All) => BaseEntry::Unknown,
        }
    }
}

/// The entry of a provider that both sides started from.
#[derive(Clone, Copy)]
enum BaseEntry<'a> {
    Absent,
    Known(&'a ProviderLock),
    /// There is a base, but the entry could not be read; it is one of these, if there are any.
    Unread(&'a [ProviderLock]),
    /// There is no base.
    Unknown,
}

impl<'a> BaseEntry<'a> {
    fn known(self) -> Option<&'a ProviderLock> {
        match self {
            Self::Known(entry) => Some(entry),
            Self::Absent | Self::Unread(_) | Self::Unknown => None,
        }
    }

    /// Returns true if an entry is that of the base; false where that is not known.
    fn is(self, entry: Option<&ProviderLock>) -> bool {
        match self {
            Self::Absent => entry.is_none(),
            Self::Known(base) => entry == Some(base),
            Self::Unread(_) | Self::Unknown => false,
        }
    }

    /// Returns true if a side that has another version than the other side went up.
    fn is_below(self, side: &ProviderLock) -> bool {
        let step_from = |base: &ProviderLock| step(&base.version, &side.version);
        match self {
            // A side that kept the version excludes that of the other side.
            Self::Known(base) => matches!(step_from(base), VersionStep::Up(_)),
            // Each of them may be the one that the side started from (rules 1.5).
            Self::Unread(possible) => {
                let is_above = |base| step_from(base) != VersionStep::Down;
                !possible.is_empty() && possible.iter().all(is_above)
            }
            // Nothing shows that a side went down; `resolve` says that the base is unknown.
            Self::Absent | Self::Unknown => true,
        }
    }
}

/// Merges two sides that started from a common base (rules 1).
///
/// Where the base is not known, the entry that both sides have in common counts, and no hash is ever removed; unless
/// `prefer` says otherwise, an entry that only one side has is kept, and the newer of two versions is taken.
///
/// ```
/// use lockctl_core::diag::FileId;
/// use lockctl_core::flavor::Flavor;
/// use lockctl_core::lockfile::{self, LockFile};
/// use lockctl_core::review::{MergeBase, MergePreference, merge};
///
/// let lock = |version: &str| -> LockFile {
///     let address = "registry.terraform.io/hashicorp/null";
///     let text = format!("provider {address:?} {{\n  version = {version:?}\n}}\n");
///     lockfile::parse(FileId::ALONE, text.as_bytes(), Flavor::Terraform1_16).0.lock
/// };
/// let (base, ours, theirs) = (MergeBase::from(lock("3.2.2")), lock("3.2.3"), lock("3.2.4"));
///
/// let merged = merge(&base, &ours, &theirs, MergePreference::Newest);
/// assert_eq!(merged.lock, theirs);
///
/// let merged = merge(&base, &ours, &theirs, MergePreference::Fail);
/// assert_eq!(merged.conflicts.len(), 1);
/// ```
#[must_use]
pub fn merge(
    base: &MergeBase,
    ours: &LockFile,
    theirs: &LockFile,
    prefer: MergePreference,
) -> Merged {
    let mut merged = Merged::default();
    // Also addresses of the base alone: both sides may have removed the entry.
    let addrs: BTreeSet<&ProviderAddr> = [&base.lock, ours, theirs]
        .into_iter()
        .flat_map(|side| side.providers.keys())
        .collect();
    for addr in addrs {
        let base = base.entry(addr);
        let [ours, theirs] = [ours, theirs].map(|side| side.providers.get(addr));
        let mut unfinished = BTreeSet::new();
        match entry(base, ours, theirs, prefer, &mut unfinished) {
            Ok(Some(entry)) => {
                merged.lock.providers.insert(addr.clone(), entry);
                for reason in unfinished {
                    let entries = merged.unfinished.entry(reason).or_default();
                    entries.insert(addr.clone());
                }
            }
            Ok(None) => {}
            Err(Clash) => {
                let by_newest = entry(
                    base,
                    ours,
                    theirs,
                    MergePreference::Newest,
                    &mut BTreeSet::new(),
                );
                let conflict = MergeConflict {
                    base: base.known().cloned(),
                    ours: ours.cloned(),
                    theirs: theirs.cloned(),
                    has_newer: by_newest.is_ok(),
                };
                merged.conflicts.insert(addr.clone(), conflict);
            }
        }
    }
    merged
}

/// An entry needs manual resolution.
struct Clash;

fn entry(
    base: BaseEntry<'_>,
    ours: Option<&ProviderLock>,
    theirs: Option<&ProviderLock>,
    prefer: MergePreference,
    unfinished: &mut BTreeSet<UnfinishedReason>,
) -> Result<Option<ProviderLock>, Clash> {
    // Whole entries first: an entry that only one side changed or removed is taken as it is, before its parts
    // are compared.
    if ours == theirs || base.is(theirs) {
        return Ok(ours.cloned());
    }
    if base.is(ours) {
        return Ok(theirs.cloned());
    }
    let (Some(ours), Some(theirs)) = (ours, theirs) else {
        return match (prefer, base) {
            (MergePreference::Ours, _) => Ok(ours.cloned()),
            (MergePreference::Theirs, _) => Ok(theirs.cloned()),
            // One side removed it, or the other side added it: an unknown base is not an absent one (rules 1.5).
            (MergePreference::Newest, BaseEntry::Unknown | BaseEntry::Unread([])) => {
                Ok(ours.or(theirs).cloned())
            }
            // One side removed an entry that the other side may have changed (rules 1.3).
            (MergePreference::Newest | MergePreference::Fail, _) => Err(Clash),
        };
    };
    if ours.version == theirs.version {
        let base = base.known();
        // Hashes of another version are of other packages. Without them in the base no hash counts as
        // removed, and the union of both sides remains (rules 1.2).
        let of_base = base.filter(|base| base.version == ours.version);
        let none = Hashes::default();
        // A hash that one side removed stays removed: it was repaired, or its platform was dropped.
        let hashes = three_way(
            of_base.map_or(&none, |base| &base.hashes).iter(),
            &ours.hashes.iter().collect(),
            &theirs.hashes.iter().collect(),
        );
        let joined = ProviderLock {
            version: ours.version.clone(),
            constraints: constraints(base, ours, theirs),
            hashes: hashes.into_iter().cloned().collect(),
        };
        if ours.constraints != joined.constraints && theirs.constraints != joined.constraints {
            unfinished.insert(UnfinishedReason::ConstraintsJoined);
        }
        return Ok(Some(joined));
    }
    different_versions(base, ours, theirs, prefer, unfinished).map(Some)
}

fn constraints(
    base: Option<&ProviderLock>,
    ours: &ProviderLock,
    theirs: &ProviderLock,
) -> Constraints {
    let none = Constraints::default();
    let base = base.map_or(&none, |base| &base.constraints);
    let [ours, theirs] = [&ours.constraints, &theirs.constraints];
    if ours == theirs || theirs == base {
        return ours.clone();
    }
    if ours == base {
        return theirs.clone();
    }
    // Both sides changed them. The programs record the terms of all modules together, so the terms
    // that each side added apply together, too.
    let joined: BTreeSet<&Constraint> = three_way(
        base.iter(),
        &ours.iter().collect(),
        &theirs.iter().collect(),
    );
    joined.into_iter().cloned().collect()
}

/// Returns the items that all three have and those that a side has added.
fn three_way<'v, T: Ord>(
    base: impl Iterator<Item = &'v T>,
    ours: &BTreeSet<&'v T>,
    theirs: &BTreeSet<&'v T>,
) -> BTreeSet<&'v T> {
    let base: BTreeSet<&T> = base.collect();
    ours.union(theirs)
        .copied()
        .filter(|item| !base.contains(item) || ours.contains(item) && theirs.contains(item))
        .collect()
}

fn different_versions(
    base: BaseEntry<'_>,
    ours: &ProviderLock,
    theirs: &ProviderLock,
    prefer: MergePreference,
    unfinished: &mut BTreeSet<UnfinishedReason>,
) -> Result<ProviderLock, Clash> {
    let terms = constraints(base.known(), ours, theirs);
    // The side that kept the version of the base has not chosen it against the other side: it only
    // has other hashes or constraints. So this is no conflict.
    for (left, moved) in [(ours, theirs), (theirs, ours)] {
        let Some(base) = base.known().filter(|base| base.version == left.version) else {
            continue;
        };
        if !terms.allows(&moved.version) {
            // The constraints that it changed exclude the other version: now it has.
            if moved.constraints.allows(&moved.version) {
                break;
            }
            // Some tools move a version and leave the constraints as they are.
            unfinished.insert(UnfinishedReason::VersionExcluded);
        } else if terms != moved.constraints && terms != left.constraints {
            unfinished.insert(UnfinishedReason::ConstraintsJoined);
        }
        // Its hashes are those of packages that the other side replaced: beside the new ones they would accept
        // an old package (rules 1.2).
        if left.hashes.iter().any(|hash| !base.hashes.contains(hash)) {
            unfinished.insert(UnfinishedReason::HashesLeftBehind);
        }
        return Ok(ProviderLock {
            constraints: terms,
            ..moved.clone()
        });
    }
    let taken = match prefer {
        MergePreference::Ours => ours,
        MergePreference::Theirs => theirs,
        MergePreference::Newest if base.is_below(ours) && base.is_below(theirs) => {
            // A downgrade is deliberate. Taking the newer version would undo it without a trace.
            match step(&ours.version, &theirs.version) {
                VersionStep::Down => ours,
                // Neither of two is newer if only their metadata differ.
                VersionStep::Up(Upgrade::Metadata) => return Err(Clash),
                _ => theirs,
            }
        }
        MergePreference::Newest | MergePreference::Fail => return Err(Clash),
    };
    unfinished.insert(if terms.allows(&taken.version) {
        UnfinishedReason::VersionsDiffered
    } else {
        UnfinishedReason::VersionExcluded
    });
    Ok(taken.clone())
}
