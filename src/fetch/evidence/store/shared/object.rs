//! The object of a release: signed notes of one or more keys, one after the other.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::addr::ProviderAddr;
use crate::authenticate::{FactSigner, Note};
use crate::hash::Hash;
use crate::package::{Fact, FactKey, ReleaseFact};
use crate::store::text::parsed;
use crate::store::{Export, FactOrigin, StoredFact, StoredRelease, export, import};
use crate::version::Version;

/// The comment in a note that states its time, in seconds since 1970.
const SIGNED_AT: &str = "# signed ";

/// The beginning of a line with a fact.
const FACT: &str = "zh:";

/// The content of an object that counts.
#[derive(Debug, Default)]
pub(super) struct SharedRelease {
    /// The facts, by their `zh:`, without those that contradict each other.
    pub(super) facts: BTreeMap<Hash, StoredFact>,
    pub(super) release: Option<StoredRelease>,
    /// Facts of two keys that contradict each other.
    pub(super) conflicts: Vec<FactConflict>,
    /// The number of facts without the signature of a trusted key.
    pub(super) unsigned: usize,
    /// The number of facts about another release.
    pub(super) misplaced: usize,
}

/// Two facts about one zip that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactConflict {
    pub first: StoredFact,
    pub second: StoredFact,
}

impl fmt::Display for FactConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |stored: &StoredFact| {
            let Fact { h1, size, .. } = &stored.fact;
            let by = match &stored.origin {
                FactOrigin::Computed => "this machine computed".to_owned(),
                FactOrigin::Imported(from) => format!("the import {from} states"),
                FactOrigin::Signed(key) => format!("key {key} signed"),
            };
            format!("{by} {h1} ({size} bytes)")
        };
        let Fact { zh, id, .. } = &self.first.fact;
        let (first, second) = (side(&self.first), side(&self.second));
        write!(f, "{}, {zh}: {first}, {second}", id.platform)
    }
}

/// Reads the facts of a release that a trusted key signed.
pub(super) fn read(
    bytes: &[u8],
    provider: &ProviderAddr,
    version: &Version,
    keys: &[FactKey],
) -> SharedRelease {
    let mut found = SharedRelease::default();
    let Ok(text) = std::str::from_utf8(bytes) else {
        found.unsigned = 1;
        return found;
    };
    for note in Note::split(text) {
        let stated = note
            .signer(keys)
            .and_then(|key| Some((key, import(note.text).ok()?)));
        let Some((key, stated)) = stated else {
            found.unsigned += note
                .text
                .lines()
                .filter(|line| line.starts_with(FACT))
                .count()
                .max(1);
            continue;
        };
        found.add(stated, key, signed_at(note.text), (provider, version));
    }
    // Which of the two is false is not known, so neither counts.
    for conflict in &found.conflicts {
        found.facts.remove(&conflict.first.fact.zh);
    }
    found
}

impl SharedRelease {
    fn add(
        &mut self,
        stated: Export,
        key: &FactKey,
        since: u64,
        (provider, version): (&ProviderAddr, &Version),
    ) {
        for fact in stated.facts {
            // The signature binds a fact to its release, whatever object the store answers with.
            if fact.id.provider != *provider || fact.id.version != *version {
                self.misplaced += 1;
                continue;
            }
            let origin = FactOrigin::Signed(key.shown());
            let stored = StoredFact {
                fact,
                origin,
                since,
            };
            match self.facts.get(&stored.fact.zh) {
                Some(known) if known.fact.contradicts(&stored.fact) => {
                    self.conflicts.push(FactConflict {
                        first: known.clone(),
                        second: stored,
                    });
                }
                Some(_) => {}
                None => {
                    self.facts.insert(stored.fact.zh.clone(), stored);
                }
            }
        }
        let is_wanted =
            |release: &ReleaseFact| release.provider == *provider && release.version == *version;
        for stated in stated.releases.into_iter().filter(is_wanted) {
            match &mut self.release {
                Some(known) => Arc::make_mut(&mut known.release).add(&stated),
                None => {
                    self.release = Some(StoredRelease {
                        release: Arc::new(stated),
                        origin: FactOrigin::Signed(key.shown()),
                        since,
                    });
                }
            }
        }
    }
}

/// The facts about a release that a run found out.
#[derive(Clone, Debug, Default)]
pub(super) struct Learned {
    pub(super) facts: BTreeMap<Hash, Fact>,
    pub(super) release: Option<ReleaseFact>,
}

impl Learned {
    /// Returns what the object of a release lacks, if anything.
    pub(super) fn beyond(&self, known: &SharedRelease) -> Option<Self> {
        let mut new = self.clone();
        new.facts.retain(|zh, _| !known.facts.contains_key(zh));
        if let (Some(learned), Some(stored)) = (&self.release, &known.release) {
            let mut both = (*stored.release).clone();
            both.add(learned);
            if without_h1(both) == without_h1((*stored.release).clone()) {
                new.release = None;
            }
        }
        (!new.facts.is_empty() || new.release.is_some()).then_some(new)
    }

    /// Makes the object with what this adds under a key; the notes of other keys stay as they are, and text
    /// without a signature is removed.
    pub(super) fn object(&self, before: &[u8], signer: &FactSigner, now: SystemTime) -> String {
        let before = std::str::from_utf8(before).unwrap_or_default();
        let own = [signer.key().clone()];
        let (mut others, mut earlier) = (String::new(), Vec::new());
        for note in Note::split(before) {
            match note.signer(&own).map(|_| import(note.text)) {
                Some(Ok(stated)) => earlier.push(stated),
                // Whoever may write could fill the object with text that no key vouches for.
                _ if note.has_signatures() => others += note.whole,
                _ => {}
            }
        }
        let mut all = self.clone();
        for stated in earlier {
            for fact in stated.facts {
                all.facts.entry(fact.zh.clone()).or_insert(fact);
            }
            for mut stated in stated.releases {
                match &mut all.release {
                    Some(release)
                        if release.provider == stated.provider
                            && release.version == stated.version =>
                    {
                        stated.add(release);
                        *release = stated;
                    }
                    Some(_) => {}
                    None => all.release = Some(stated),
                }
            }
        }
        // The new note comes first: a text before it that lacks its end would become a part of it.
        note(&export(all.facts.values(), &all.release, []), signer, now) + &others
    }
}

/// Signs an export, with the time in a comment.
#[must_use]
pub fn note(export: &str, signer: &FactSigner, now: SystemTime) -> String {
    let seconds = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    signer.sign(&format!("{export}{SIGNED_AT}{seconds}\n"))
}

/// Returns the latest time that a note of an object states, in seconds since 1970.
pub(super) fn latest(bytes: &[u8]) -> u64 {
    std::str::from_utf8(bytes).map_or(0, signed_at)
}

fn signed_at(text: &str) -> u64 {
    text.lines()
        .filter_map(|line| parsed::<u64>(line.strip_prefix(SIGNED_AT)?))
        .max()
        .unwrap_or_default()
}

/// The `h1:` are in the facts.
fn without_h1(mut release: ReleaseFact) -> ReleaseFact {
    for package in release.packages.values_mut() {
        package.h1 = None;
    }
    release
}
