//! The rows of a result about the entries of a lock file.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::advice;
use crate::hash::Hash;
use crate::locker::{ContradictedBy, HashEvidence, Locked, ProviderOutcome};
use crate::package::calendar::timestamp;
use crate::platform::Platform;
use crate::report::json::{
    ComputedHash, DroppedHash, LockedHash, LockedProvider, PassedOverRelease, ReplacedHash,
    SignerRow, StatedDate,
};

/// The evidence of a run: many roots have the same hashes, and share a row for each.
#[derive(Default)]
pub(super) struct EvidenceRows {
    rows: BTreeMap<Hash, Arc<HashEvidence>>,
}

impl EvidenceRows {
    fn row(&mut self, hash: &Hash, row: HashEvidence) -> Arc<HashEvidence> {
        match self.rows.get(hash) {
            Some(shared) if **shared == row => Arc::clone(shared),
            _ => {
                let row = Arc::new(row);
                self.rows.insert(hash.clone(), Arc::clone(&row));
                row
            }
        }
    }
}

/// Makes the row of an entry.
pub(super) fn entry(
    outcome: &ProviderOutcome,
    locked: &Locked,
    evidence: &mut EvidenceRows,
) -> LockedProvider {
    let platforms = platforms_by_hash(outcome);
    let entry = &locked.lock.providers[&outcome.provider];
    let mut hashes = Vec::new();
    for hash in &entry.hashes {
        // None for a hash that was recorded before and that this run had no reason to look at.
        let seen = outcome.evidence.of(hash);
        hashes.push(LockedHash {
            hash: hash.clone(),
            provenance: outcome.provenance(hash),
            platforms: platforms.get(hash).cloned().unwrap_or_default(),
            added: outcome.added.contains(hash),
            evidence: seen.map(|seen| evidence.row(hash, seen)),
        });
    }
    let signers = outcome.signers.iter().map(|signer| SignerRow {
        class: signer.class,
        key_id: signer.key.key_id().to_owned(),
    });
    let age = outcome.age.as_ref();
    let dates = age.and_then(|search| search.dates.as_ref());
    let passed_over = age
        .into_iter()
        .flat_map(|search| &search.passed_over)
        .map(|release| PassedOverRelease {
            version: release.version.to_string(),
            dates: StatedDate::all(&release.dates),
            old_enough_at: advice::age::until(release).map(timestamp),
        });
    LockedProvider {
        provider: outcome.provider.clone(),
        version: outcome.version.clone(),
        selected: outcome.selected,
        from: outcome.moved_from.clone(),
        newest: outcome.newest.clone(),
        constraints: entry.constraints.clone(),
        hashes,
        replaced: replaced(outcome),
        dropped: outcome
            .dropped
            .hashes
            .iter()
            .map(|(hash, platforms)| DroppedHash {
                hash: hash.clone(),
                platforms: names(platforms),
            })
            .collect(),
        signers: signers.collect(),
        hashed_platforms: outcome.computed.len(),
        dates: dates.map(StatedDate::all).unwrap_or_default(),
        passed_over: passed_over.collect(),
        skipped_platforms: names(&outcome.skipped),
        unknown_platforms: names(&outcome.unknown),
    }
}

/// Returns the platforms that each computed or stated hash belongs to.
pub(super) fn platforms_by_hash(outcome: &ProviderOutcome) -> BTreeMap<&Hash, Vec<String>> {
    let mut platforms: BTreeMap<&Hash, Vec<String>> = BTreeMap::new();
    for (platform, hash) in outcome.computed.iter().chain(&outcome.stated) {
        platforms
            .entry(hash)
            .or_default()
            .push(platform.to_string());
    }
    platforms
}

/// Returns the platforms of the hashes that were added and removed, as far as they are known.
pub(super) fn platforms_of_changes(outcome: &ProviderOutcome) -> BTreeMap<Hash, Vec<Platform>> {
    let mut platforms = outcome.dropped.hashes.clone();
    for (platform, hash) in &outcome.computed {
        platforms
            .entry(hash.clone())
            .or_default()
            .push(platform.clone());
    }
    platforms
}

fn names(platforms: &[Platform]) -> Vec<String> {
    platforms.iter().map(ToString::to_string).collect()
}

/// Lists the hashes that were replaced, each with the evidence against it.
fn replaced(outcome: &ProviderOutcome) -> Vec<ReplacedHash> {
    let computed = outcome
        .computed
        .iter()
        .map(|(platform, hash)| ComputedHash {
            platform: platform.to_string(),
            hash: hash.clone(),
        });
    let key_ids = outcome
        .signers
        .iter()
        .map(|signer| signer.key.key_id().to_owned());
    outcome
        .replaced
        .iter()
        .map(|replaced| ReplacedHash {
            hash: replaced.hash.clone(),
            contradicted_by: replaced.against,
            key_ids: key_ids.clone().collect(),
            // Only an `h1:` can be compared with every package; the packages' own hashes are then the evidence.
            computed: match replaced.against {
                ContradictedBy::SignedList | ContradictedBy::OtherRelease => Vec::new(),
                ContradictedBy::EveryPackage => computed.clone().collect(),
            },
        })
        .collect()
}
