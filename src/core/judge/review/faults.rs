//! Entries with a fault: they are present, so what can be read of them is compared.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::causes::Risk;
use super::diff::{ChangeKind, LockDiff, ProviderChange, ProviderSide, Sides, changed};
use super::side::LockSide;
use crate::addr::ProviderAddr;
use crate::diag::rules;
use crate::lockfile::{FaultyEntry, LockFile, ProviderLock};

/// The blocks of each address that is at fault: by a fault of its own, or because several blocks have it.
pub(super) struct FaultyBlocks<'s> {
    side: Option<&'s LockSide>,
    blocks: BTreeMap<&'s ProviderAddr, Vec<FaultyBlock<'s>>>,
}

/// A block of an address that is at fault.
#[derive(Clone, Copy)]
enum FaultyBlock<'s> {
    Sound(&'s ProviderLock),
    Faulty(&'s FaultyEntry),
}

impl FaultyBlock<'_> {
    /// Returns the entry; what cannot be read of it is as in `other`.
    fn entry(self, other: Option<&ProviderLock>) -> Option<ProviderLock> {
        match self {
            Self::Sound(entry) => Some(entry.clone()),
            Self::Faulty(entry) => entry.completed_by(other),
        }
    }
}

impl<'s> FaultyBlocks<'s> {
    pub(super) fn of(side: Option<&'s LockSide>) -> Self {
        let mut blocks: BTreeMap<&ProviderAddr, Vec<FaultyBlock<'_>>> = BTreeMap::new();
        if let Some(LockSide { document, .. }) = side {
            let first = |addr| {
                let sound = document.lock.providers.get(addr);
                sound.map(FaultyBlock::Sound).into_iter().collect()
            };
            for (addr, entry) in &document.repeated {
                let own = blocks.entry(addr).or_insert_with(|| first(addr));
                own.push(FaultyBlock::Sound(entry));
            }
            for entry in &document.faulty {
                let own = blocks
                    .entry(&entry.addr)
                    .or_insert_with(|| first(&entry.addr));
                own.push(FaultyBlock::Faulty(entry));
            }
        }
        Self { side, blocks }
    }

    /// Returns the entry of an address by what this side alone shows.
    fn entry(&self, addr: &ProviderAddr) -> Option<ProviderLock> {
        match self.blocks.get(addr) {
            Some(own) => own.iter().find_map(|block| block.entry(None)),
            None => self.side?.document.lock.providers.get(addr).cloned(),
        }
    }

    /// Returns what this side alone shows of each block of an address that is at fault.
    fn readable(&self, addr: &ProviderAddr) -> Vec<Option<ProviderLock>> {
        self.blocks
            .get(addr)
            .into_iter()
            .flatten()
            .map(|block| block.entry(None))
            .collect()
    }

    /// Returns all entries, those at fault included: what cannot be read of one is as on the `other` side.
    fn completed(
        &self,
        other: &Self,
        risk: impl Fn(ProviderSide, ProviderSide) -> Option<Risk>,
    ) -> Cow<'s, LockFile> {
        let Some(LockSide { document, .. }) = self.side else {
            return Cow::Owned(LockFile::default());
        };
        if self.blocks.is_empty() {
            return Cow::Borrowed(&document.lock);
        }
        let mut lock = document.lock.clone();
        for (addr, own) in &self.blocks {
            let counterpart = other.entry(addr);
            // Blocks that the other side has as well are no difference, however they differ from each other.
            if self.readable(addr) == other.readable(addr) {
                if let Some(entry) = counterpart {
                    lock.providers.insert((*addr).clone(), entry);
                }
                continue;
            }
            let side = |lock: &ProviderLock| ProviderSide {
                addr: (*addr).clone(),
                lock: lock.clone(),
            };
            // Of several blocks of one address, the one with the most alarming difference counts, by the risk
            // of a change from the other side to it, or from it to the other side.
            let mut worst: Option<(Option<Risk>, ProviderLock)> = None;
            for block in own {
                let Some(entry) = block.entry(counterpart.as_ref()) else {
                    continue;
                };
                let risk = counterpart
                    .as_ref()
                    .and_then(|counterpart| risk(side(&entry), side(counterpart)));
                // Of equal ones the first counts, as it does for the programs.
                if worst.as_ref().is_none_or(|(known, _)| risk > *known) {
                    worst = Some((risk, entry));
                }
            }
            if let Some((_, entry)) = worst {
                lock.providers.insert((*addr).clone(), entry);
            }
        }
        Cow::Owned(lock)
    }

    /// Returns the title of the fault of an address, if it has one.
    fn fault(&self, addr: &ProviderAddr) -> Option<&'s str> {
        let own = self.blocks.get(addr)?;
        own.iter()
            .find_map(|block| match block {
                FaultyBlock::Sound(_) => None,
                FaultyBlock::Faulty(entry) => Some(&*entry.title),
            })
            .or_else(|| {
                let mut faults = self.side?.diagnostics.iter();
                let repetition = faults.find(|fault| fault.code == rules::DUPLICATE_PROVIDER)?;
                Some(&*repetition.title)
            })
    }
}

/// Returns the entries of both sides, those with a fault included; `risk` is that of a change.
pub(super) fn entries<'s>(
    [old, new]: [&FaultyBlocks<'s>; 2],
    risk: impl Fn(&ProviderChange) -> Risk,
) -> [Cow<'s, LockFile>; 2] {
    let risk = |old, new| {
        let change = changed(old, new);
        (!change.kinds.is_empty()).then(|| risk(&change))
    };
    [
        old.completed(new, risk),
        new.completed(old, |own, other| risk(other, own)),
    ]
}

/// Adds the faults of entries that came or went to the differences between the entries of both sides.
pub(super) fn add(
    lock_diff: &mut LockDiff,
    [old, new]: [&FaultyBlocks<'_>; 2],
    [before, now]: [&LockFile; 2],
) {
    let addresses = old.blocks.keys().chain(new.blocks.keys());
    // The title of a fault that came; `None` of one that went.
    let mut faults: BTreeMap<&ProviderAddr, Option<String>> = BTreeMap::new();
    for addr in addresses.copied() {
        let fault = match (old.fault(addr), new.fault(addr)) {
            (was, Some(is)) if was != Some(is) => Some(is.to_owned()),
            (Some(_), None) => None,
            _ => continue,
        };
        faults.insert(addr, fault);
    }
    for change in &mut lock_diff.providers {
        let sides = [change.now(), change.before()];
        let fault = sides
            .into_iter()
            .flatten()
            .find_map(|side| faults.remove(&side.addr));
        // An entry that is gone took its fault along.
        if let (Some(fault), Some(_)) = (fault, change.now()) {
            change.kinds.insert(kind(&fault));
            change.fault = fault;
        }
    }
    for (addr, fault) in faults {
        let side = |lock: &LockFile| {
            Some(ProviderSide {
                addr: addr.clone(),
                lock: lock.providers.get(addr)?.clone(),
            })
        };
        if let (Some(old), Some(new)) = (side(before), side(now)) {
            lock_diff.unchanged -= 1;
            lock_diff.providers.push(ProviderChange {
                sides: Sides::Both { old, new },
                kinds: [kind(&fault)].into(),
                look_alike: None,
                fault,
            });
        }
    }
    lock_diff.providers.sort_by(|a, b| a.addr().cmp(b.addr()));
}

fn kind(fault: &Option<String>) -> ChangeKind {
    if fault.is_some() {
        ChangeKind::FaultAdded
    } else {
        ChangeKind::FaultRemoved
    }
}
