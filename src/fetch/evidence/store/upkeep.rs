//! Counts the objects of a store, imports facts of others, and removes facts on demand.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;

use super::contents::{CONTENTS, MAX_CONTENTS_PER_GROUP};
use super::releases::{self, RELEASES};
use super::{
    Export, FACTS, FactOrigin, Facts as _, MAX_EXPORT_BYTES, MAX_PER_GROUP, ObjectError, Store,
    StoredFact, StoredRelease, group, key, key_in, lock,
};
use crate::addr::ProviderAddr;
use crate::contents::{BuildInfo, ProgramContents};
use crate::hash::Hash;
use crate::package::Fact;

/// The number of objects in a store, by their state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// The facts that count, in the order of their `zh:` hashes.
    pub facts: Vec<StoredFact>,
    /// The facts that have been kept for too long, or since a time to come, in the same order.
    pub old: Vec<StoredFact>,
    /// The releases that count, in the order of their keys.
    pub releases: Vec<StoredRelease>,
    /// The reasons why other objects are not used, with their numbers.
    pub broken: BTreeMap<String, usize>,
    /// The number of contents, including broken and old ones.
    pub contents: usize,
    /// The length of all objects that are facts or releases, and of all contents, in bytes.
    pub bytes: u64,
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportCounts {
    /// The number of facts that were not in the store.
    pub new: usize,
    /// The number of facts that were in the store already.
    pub known: usize,
    /// The number of facts that do not fit into the store.
    pub left_out: usize,
    /// Those that contradict the store; if there are any, nothing was kept.
    pub contradictions: Vec<Contradiction>,
}

/// A fact that something in the store contradicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The fact that was to be imported.
    pub stated: Fact,
    /// The fact that the store has about the same zip.
    pub kept: StoredFact,
}

/// The facts and objects to remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// Useless objects: facts that are too old, and texts that are no fact.
    Useless,
    /// Useless objects, and all facts of others.
    UselessAndImported,
    Everything,
}

/// The numbers of objects that were removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RemovalCounts {
    /// Number of facts that had been kept for too long.
    pub old: usize,
    /// Number of files that were no facts.
    pub broken: usize,
    /// Number of other facts that were imported.
    pub imported: usize,
    /// Number of other facts that were computed on this machine.
    pub computed: usize,
    /// Number of facts that are left.
    pub kept: usize,
}

impl Store<'_> {
    /// Lists the facts of the store, and counts its other objects.
    ///
    /// # Errors
    /// If the objects cannot be used or listed.
    pub fn inventory(&self) -> io::Result<Inventory> {
        let mut all = Inventory::default();
        for key in self.keys(FACTS)? {
            match self.load(&key) {
                Ok(None) => {}
                Ok(Some((fact, bytes))) => {
                    all.bytes += bytes;
                    if self.is_old(&fact) {
                        all.old.push(fact);
                    } else {
                        all.facts.push(fact);
                    }
                }
                Err(why) => *all.broken.entry(why.to_string()).or_default() += 1,
            }
        }
        for key in self.keys(RELEASES)? {
            match self.load_release(&key) {
                Ok(None) => {}
                Ok(Some((release, bytes))) => {
                    all.bytes += bytes;
                    if !self.is_out_of_date(release.since) {
                        all.releases.push(release);
                    }
                }
                Err(why) => *all.broken.entry(why.to_string()).or_default() += 1,
            }
        }
        // Contents are not read, because they are large and no command needs all of them at once.
        for object in self.objects.measure(CONTENTS)? {
            all.contents += 1;
            all.bytes += object.bytes;
        }
        Ok(all)
    }

    /// Returns the releases of a provider; reads the objects of all releases, since their keys do not tell providers.
    #[must_use]
    pub fn releases_of(&self, provider: &ProviderAddr) -> Vec<StoredRelease> {
        self.keys(RELEASES)
            .unwrap_or_default()
            .iter()
            .filter_map(|key| self.read_release(key))
            .filter(|stored| stored.release.provider == *provider)
            .collect()
    }

    /// Returns the build information of packages by their `zh:`: of the first packages, up to the size of an export.
    #[must_use]
    pub fn build_infos<'z>(
        &self,
        packages: impl IntoIterator<Item = &'z Hash>,
        with_imported: bool,
    ) -> BTreeMap<Hash, BuildInfo> {
        let mut found = BTreeMap::new();
        let mut bytes = 0;
        for zh in packages {
            let Some(stored) = self.contents(zh) else {
                continue;
            };
            if let ProgramContents::Go(info) = stored.contents
                && (with_imported || stored.origin == FactOrigin::Computed)
            {
                bytes += info.to_string().len() as u64;
                // A longer export could not be read again.
                if bytes > MAX_EXPORT_BYTES {
                    break;
                }
                found.insert(stored.zh, *info);
            }
        }
        found
    }

    /// Keeps facts that others computed, unless one of them contradicts the store: then the others are worth
    /// nothing, either.
    ///
    /// No stored fact is removed to make room: a sender of many facts could otherwise remove what was computed
    /// here.
    ///
    /// # Errors
    /// If the objects cannot be used, listed or written. What was written until then stays: each fact
    /// is true or false by itself.
    pub fn import(&self, export: &Export, origin: &FactOrigin) -> io::Result<ImportCounts> {
        let mut used = self.sizes_of_groups()?;
        let mut result = ImportCounts::default();
        let mut new = Vec::new();
        for fact in &export.facts {
            let Some(key) = key(&fact.zh) else { continue };
            match self.read(&key) {
                Some(kept) if kept.fact.contradicts(fact) => {
                    let stated = fact.clone();
                    result.contradictions.push(Contradiction { stated, kept });
                }
                Some(kept) if !self.is_old(&kept) => result.known += 1,
                _ => {
                    let used = used.entry(group(&key).to_owned()).or_default();
                    // No room is made for imports (rules 4.3): a sender of many facts could otherwise push out
                    // what this machine has computed.
                    if *used < MAX_PER_GROUP {
                        *used += 1;
                        new.push(fact);
                    } else {
                        result.left_out += 1;
                    }
                }
            }
        }
        // One false fact shows that the whole file cannot be trusted (rules 4.2).
        if !result.contradictions.is_empty() {
            return Ok(ImportCounts {
                contradictions: result.contradictions,
                ..ImportCounts::default()
            });
        }
        result.new = new.len();
        for fact in new {
            self.put(fact, origin.clone())?;
        }
        for release in &export.releases {
            let key = releases::key(&release.provider, &release.version);
            let used = used.entry(group(&key).to_owned()).or_default();
            // What is known of a release stays as it is, and no room is made (rules 4.3).
            if *used < MAX_PER_GROUP && self.read_release(&key).is_none() {
                *used += 1;
                self.put_release(release, origin.clone())?;
            }
        }
        for (zh, info) in &export.contents {
            let key = key_in(CONTENTS, zh).filter(|key| self.read_contents(key).is_none());
            let used = key.map(|key| used.entry(group(&key).to_owned()).or_default());
            if let Some(used) = used.filter(|used| **used < MAX_CONTENTS_PER_GROUP) {
                *used += 1;
                let contents = ProgramContents::Go(Box::new(info.clone()));
                self.put_contents(zh, &contents, origin.clone())?;
            }
        }
        Ok(result)
    }

    /// Counts the objects of each group that has any.
    fn sizes_of_groups(&self) -> io::Result<BTreeMap<String, usize>> {
        // Counted once: otherwise an import would list a group again for each object that it adds.
        let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
        for kind in [FACTS, RELEASES, CONTENTS] {
            for key in self.keys(kind)? {
                *sizes.entry(group(&key).to_owned()).or_default() += 1;
            }
        }
        Ok(sizes)
    }

    /// Removes facts, or counts what would be removed.
    ///
    /// # Errors
    /// If the objects cannot be used, listed or removed.
    pub fn clean(&self, removal: Removal, is_dry: bool) -> io::Result<RemovalCounts> {
        let mut removed = RemovalCounts::default();
        // Releases and contents are removed like facts; of the sound objects, only facts are counted.
        let mut others = RemovalCounts::default();
        for kind in [FACTS, RELEASES, CONTENTS] {
            let counts = if kind == FACTS {
                &mut removed
            } else {
                &mut others
            };
            for key in self.keys(kind)? {
                let (is_wanted, count) = match self.origin_of(kind, &key) {
                    Ok(None) => continue,
                    // Every reader ignores a broken object (rules 2.1), so that it only takes space.
                    Err(_) => (true, &mut counts.broken),
                    Ok(Some((_, since))) if self.is_out_of_date(since) => (true, &mut counts.old),
                    Ok(Some((FactOrigin::Computed, _))) => {
                        (removal == Removal::Everything, &mut counts.computed)
                    }
                    Ok(Some((FactOrigin::Imported(_) | FactOrigin::Signed(_), _))) => {
                        (removal != Removal::Useless, &mut counts.imported)
                    }
                };
                if !is_wanted {
                    counts.kept += 1;
                    continue;
                }
                *count += 1;
                if !is_dry {
                    self.objects.remove(&key)?;
                }
            }
        }
        removed.broken += others.broken;
        lock(&self.answers).clear();
        lock(&self.releases).clear();
        Ok(removed)
    }

    /// Returns who computed an object of a kind, and since when it has been kept.
    fn origin_of(&self, kind: &str, key: &str) -> Result<Option<(FactOrigin, u64)>, ObjectError> {
        Ok(match kind {
            FACTS => self.load(key)?.map(|(fact, _)| (fact.origin, fact.since)),
            RELEASES => self
                .load_release(key)?
                .map(|(release, _)| (release.origin, release.since)),
            _ => self
                .load_contents(key)?
                .map(|contents| (contents.origin, contents.since)),
        })
    }

    /// Returns the keys of all objects of a kind.
    fn keys(&self, kind: &str) -> io::Result<Vec<String>> {
        self.objects.check()?;
        self.objects.list(kind)
    }
}
