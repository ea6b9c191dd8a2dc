//! The providers that a project file governs, compared with its memory and written into it.

use std::collections::BTreeMap;
use std::path::Path;

use crate::addr::ProviderAddr;
use crate::hcl::edit::{BlockName, EditError, HclEditor};
use crate::package::calendar::day;
use crate::project::{RememberedProvider, memory};
use crate::report::Failure;
use crate::report::json::{MemoryState, TrustedProvider};
use crate::review::{ReleaseOrigin, StepDown};
use crate::run::edits::edit_project_file;
use crate::run::session::Session;
use crate::version::Version;

/// An entry of a lock file with what is known of its release.
pub(super) struct SeenEntry {
    pub(super) version: Version,
    /// The memory of the project file; `None` if it has none of the provider.
    pub(super) remembered: Option<RememberedProvider>,
    /// The steps down from that.
    pub(super) steps_down: Vec<StepDown>,
    /// The user accepts what differs.
    pub(super) is_accepted: bool,
    pub(super) origin: ReleaseOrigin,
    /// The day when the first of its keys expires.
    pub(super) key_expires: Option<String>,
}

/// The providers that a project file governs, over all roots of the run.
#[derive(Default)]
pub(super) struct ProjectMemory {
    providers: BTreeMap<ProviderAddr, SeenProvider>,
}

/// A provider with what is known of its locked releases.
struct SeenProvider {
    /// The origin of all of them together.
    origin: ReleaseOrigin,
    /// The entries by the path of their root; at least one.
    entries: BTreeMap<String, SeenEntry>,
}

impl SeenProvider {
    /// Returns the memory of the project file, which all entries share.
    fn remembered(&self) -> Option<&RememberedProvider> {
        self.entries.values().next()?.remembered.as_ref()
    }

    fn state(&self) -> MemoryState {
        let origin = &self.origin;
        let is_known = origin.signers.is_some() || origin.modules.len() == 1;
        let Some(remembered) = self.remembered() else {
            return if is_known {
                MemoryState::FirstUse
            } else {
                MemoryState::Unknown
            };
        };
        if self
            .entries
            .values()
            .any(|entry| !entry.steps_down.is_empty())
        {
            return if self.entries.values().any(|entry| entry.is_accepted) {
                MemoryState::Accepted
            } else {
                MemoryState::Changed
            };
        }
        let lacks_signer = remembered.signed_by.as_ref().is_none_or(Vec::is_empty);
        let is_signed = origin.signers.as_ref().is_some_and(|keys| !keys.is_empty());
        let is_more = lacks_signer && is_signed
            || remembered.signed_by.is_none() && origin.signers.is_some()
            || remembered.module.is_none() && origin.modules.len() == 1
            || remembered.provenance.is_none() && origin.is_attested()
            || remembered.zh.is_none_or(|zh| origin.zh > zh);
        if is_more {
            MemoryState::Completed
        } else {
            MemoryState::Unchanged
        }
    }
}

impl ProjectMemory {
    /// Adds an entry: every key and module counts, and the smallest number of hashes.
    pub(super) fn add(&mut self, root: String, provider: ProviderAddr, entry: SeenEntry) {
        let origin = &entry.origin;
        let seen = self
            .providers
            .entry(provider)
            .or_insert_with(|| SeenProvider {
                origin: origin.clone(),
                entries: BTreeMap::new(),
            });
        let all = &mut seen.origin;
        all.modules.extend(origin.modules.iter().cloned());
        all.repositories.extend(origin.repositories.iter().cloned());
        all.unattested = all.unattested.max(origin.unattested);
        all.zh = all.zh.min(origin.zh);
        match (&mut all.signers, &origin.signers) {
            // An unsigned release is a fact about the provider, beside signed ones.
            (Some(all), Some(keys)) => all.extend(keys.iter().cloned()),
            (all, keys) => *all = all.take().or_else(|| keys.clone()),
        }
        seen.entries.insert(root, entry);
    }

    /// Returns a row for each entry of a root.
    pub(super) fn rows(&self, root: &str) -> impl Iterator<Item = TrustedProvider> {
        self.providers.iter().filter_map(move |(provider, seen)| {
            let SeenEntry {
                version,
                origin,
                steps_down,
                ..
            } = seen.entries.get(root)?;
            let first = seen.entries.values().next()?;
            let fingerprints = origin
                .signers
                .as_ref()
                .map(|keys| keys.iter().map(|key| key.fingerprint.clone()).collect());
            Some(TrustedProvider {
                provider: provider.clone(),
                version: version.clone(),
                state: seen.state(),
                signed_by: fingerprints,
                key_expires: first.key_expires.clone(),
                modules: origin.modules.iter().cloned().collect(),
                provenance: origin.repositories.iter().cloned().collect(),
                zh_count: origin.zh,
                steps_down: steps_down.iter().map(StepDown::in_full).collect(),
            })
        })
    }

    /// Writes what is new into the project file; nothing if nothing is.
    ///
    /// # Errors
    /// If the file cannot be read, edited or written.
    pub(super) fn write(
        &self,
        session: &Session<'_>,
        path: &Path,
        reason: Option<&str>,
    ) -> Result<(), Failure> {
        if !self
            .providers
            .values()
            .any(|seen| seen.state().is_written())
        {
            return Ok(());
        }
        let today = day(session.world.clock.now());
        edit_project_file(session.world.disk, path, |editor| {
            self.edit(editor, &today, reason)
        })
    }

    /// Edits the project file to what is new.
    fn edit(
        &self,
        editor: &mut HclEditor,
        today: &str,
        reason: Option<&str>,
    ) -> Result<(), EditError> {
        for (provider, seen) in &self.providers {
            let state = seen.state();
            if !state.is_written() {
                continue;
            }
            let address = match seen.remembered() {
                Some(known) => known.provider.text().to_owned(),
                None => provider.to_string(),
            };
            let path = [
                BlockName {
                    kind: memory::TRUST,
                    labels: &[],
                },
                BlockName {
                    kind: memory::PROVIDER,
                    labels: &[&address],
                },
            ];
            let ReleaseOrigin {
                signers,
                modules,
                repositories,
                ..
            } = &seen.origin;
            if let Some(keys) = signers {
                let keys: Vec<String> = keys.iter().map(|key| key.fingerprint.clone()).collect();
                editor.set(&path, memory::SIGNED_BY, keys)?;
            }
            // Programs of several modules have no origin that could be remembered.
            if let (Some(module), 1) = (modules.first(), modules.len()) {
                editor.set(&path, memory::MODULE, module.as_str())?;
            }
            if let Some(repository) = repositories.first().filter(|_| seen.origin.is_attested()) {
                editor.set(&path, memory::PROVENANCE, repository.as_str())?;
            } else if state == MemoryState::Accepted && seen.origin.unattested > 0 {
                editor.remove(&path, memory::PROVENANCE)?;
            }
            editor.set(&path, memory::ZH, seen.origin.zh as u64)?;
            if state != MemoryState::Completed {
                editor.set(&path, memory::SINCE, today)?;
            }
            if state == MemoryState::Accepted
                && let Some(reason) = reason
            {
                editor.set(&path, memory::REASON, reason)?;
            }
        }
        Ok(())
    }
}
