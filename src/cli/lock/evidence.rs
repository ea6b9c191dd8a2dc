//! Where a hash was seen, as results have it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::hash::Hash;
use crate::locker::{self, Against, ProviderOutcome};
use crate::package::calendar::timestamp;
use crate::report::json::{ComputedHash, ContradictedBy, HashEvidenceRow, KeptFact, ReplacedHash};
use crate::store::{FactOrigin, StoredFact};

/// What was said of the evidence for hashes so far: many roots have the same.
#[derive(Default)]
pub(super) struct EvidenceRows {
    rows: BTreeMap<Hash, Arc<HashEvidenceRow>>,
}

impl EvidenceRows {
    /// Says where a hash was seen.
    pub(super) fn row(
        &mut self,
        hash: &Hash,
        evidence: &locker::HashEvidence,
    ) -> Arc<HashEvidenceRow> {
        let row = row(evidence);
        match self.rows.get(hash) {
            Some(known) if **known == row => Arc::clone(known),
            _ => {
                let row = Arc::new(row);
                self.rows.insert(hash.clone(), Arc::clone(&row));
                row
            }
        }
    }
}

fn row(evidence: &locker::HashEvidence) -> HashEvidenceRow {
    let listed = evidence.listed.as_ref();
    HashEvidenceRow {
        file: listed.map(|listed| listed.file.clone()),
        key_id: listed.map(|listed| listed.key_id.clone()),
        package: evidence.package.clone(),
        stated_by: evidence.stated_by.clone(),
        fact: evidence.fact.as_deref().map(kept_fact),
    }
}

fn kept_fact(stored: &StoredFact) -> KeptFact {
    KeptFact {
        since: timestamp(stored.since()),
        imported_from: match &stored.origin {
            FactOrigin::Computed => None,
            FactOrigin::Imported(from) => Some(from.clone()),
        },
    }
}

/// Lists the hashes that were replaced, each with the evidence against it.
pub(super) fn replaced(one: &ProviderOutcome) -> Vec<ReplacedHash> {
    let key_ids: Vec<String> = one.signers.iter().map(|s| s.key_id.clone()).collect();
    let computed = one.computed.iter();
    let computed = computed.map(|(platform, hash)| ComputedHash {
        platform: platform.to_string(),
        hash: hash.clone(),
    });
    let computed: Vec<ComputedHash> = computed.collect();
    let replaced = one.replaced.iter().map(|replaced| {
        let (contradicted_by, computed) = match replaced.against {
            Against::SignedList => (ContradictedBy::SignedList, Vec::new()),
            Against::EveryPackage => (ContradictedBy::EveryPackage, computed.clone()),
        };
        ReplacedHash {
            hash: replaced.hash.clone(),
            contradicted_by,
            key_ids: key_ids.clone(),
            computed,
        }
    });
    replaced.collect()
}
