//! Entries with a fault: present, though the programs refuse the file because of them.

use std::collections::BTreeSet;

use super::{Document, Places, ProviderLock};
use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, Severity, Span, rules};
use crate::hash::Hashes;
use crate::version::{Constraints, Version};

/// An entry with a fault, with what could be read of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultyEntry {
    /// Its address, in canonical form.
    pub addr: ProviderAddr,
    /// The title of its first fault; empty if the syntax within the block is wrong.
    pub title: String,
    /// The version, if it could be read.
    pub version: Option<Version>,
    /// The constraints, if they could be read; none are recorded if the attribute is absent.
    pub constraints: Option<Constraints>,
    /// The hashes, without those that could not be read; `None` if the list could not be read.
    pub hashes: Option<Hashes>,
    /// The texts that have one right form, in the order of the file.
    pub forms: Vec<WrongForm>,
    /// The positions of its parts; that of the version is the header if it is unknown.
    pub(super) places: Places,
    /// The number of its faults.
    pub(super) faults: usize,
    /// The number of its faults that are reported: behind a label at fault the programs look at nothing.
    pub(super) reported: usize,
}

/// A text of an entry that is not in the form that the programs require, and that has only one such form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongForm {
    /// The rule of the fault.
    pub rule: &'static str,
    /// The position of the text.
    pub span: Span,
    /// The text as it is written.
    pub written: String,
    /// The text as it must be written.
    pub required: String,
}

impl FaultyEntry {
    /// Returns the entry; what could not be read is as in `other`, and without `other` as in an entry that says
    /// nothing about it. `None` if no version is known.
    #[must_use]
    pub fn completed_by(&self, other: Option<&ProviderLock>) -> Option<ProviderLock> {
        let version = self.version.clone();
        Some(ProviderLock {
            version: version.or_else(|| Some(other?.version.clone()))?,
            constraints: match &self.constraints {
                Some(constraints) => constraints.clone(),
                None => other
                    .map(|other| other.constraints.clone())
                    .unwrap_or_default(),
            },
            hashes: match &self.hashes {
                Some(hashes) => hashes.clone(),
                None => other.map(|other| other.hashes.clone()).unwrap_or_default(),
            },
        })
    }

    /// Returns true if nothing but the form of texts is wrong.
    #[must_use]
    pub fn is_repairable(&self) -> bool {
        self.faults == self.forms.len() && self.version.is_some()
    }
}

impl WrongForm {
    /// Says how the text of an entry must be written.
    #[must_use]
    pub fn sentence(&self, addr: &ProviderAddr) -> String {
        let Self {
            written, required, ..
        } = self;
        let what = match self.rule {
            rules::ADDRESS_NOT_CANONICAL => "the address".to_owned(),
            rules::VERSION_MALFORMED => format!("the version of {addr}"),
            _ => format!("the constraints of {addr}"),
        };
        format!("{what} must be written {required:?}, not {written:?}")
    }
}

impl Document {
    /// Returns the addresses of all entries, also of those with a fault.
    #[must_use]
    pub fn addresses(&self) -> BTreeSet<&ProviderAddr> {
        let faulty = self.faulty.iter().map(|entry| &entry.addr);
        self.lock.providers.keys().chain(faulty).collect()
    }

    /// Returns the document with every entry whose version is known, also those with a fault; blocks that repeat an
    /// address stay apart.
    #[must_use]
    pub fn readable(&self) -> Self {
        let mut document = self.clone();
        for faulty in std::mem::take(&mut document.faulty) {
            if faulty.version.is_some() {
                let is_repeated = document.lock.providers.contains_key(&faulty.addr);
                document.include(faulty, is_repeated);
            } else {
                document.faulty.push(faulty);
            }
        }
        document
    }

    /// Adds an entry whose version is known as if it had no fault.
    pub(super) fn include(&mut self, entry: FaultyEntry, is_repeated: bool) {
        let Some(lock) = entry.completed_by(None) else {
            return;
        };
        if is_repeated {
            self.repeated.push((entry.addr, lock));
        } else {
            self.places.insert(entry.addr.clone(), entry.places);
            self.lock.providers.insert(entry.addr, lock);
        }
    }

    /// Returns true if every error among the `diagnostics` of the file is about an entry whose version is known.
    #[must_use]
    pub fn has_all_versions(&self, diagnostics: &[Diagnostic]) -> bool {
        let other_errors = diagnostics
            .iter()
            .filter(|fault| fault.severity == Severity::Error)
            .filter(|fault| fault.code != rules::DUPLICATE_PROVIDER)
            .count();
        let reported: usize = self.faulty.iter().map(|entry| entry.reported).sum();
        other_errors == reported && self.faulty.iter().all(|entry| entry.version.is_some())
    }

    /// Returns the document with every text in its right form; blocks that repeat an address stay apart.
    ///
    /// `None` if anything else is wrong, by the `diagnostics` of the file.
    #[must_use]
    pub fn with_right_forms(&self, diagnostics: &[Diagnostic]) -> Option<Self> {
        (self.faulty.iter().all(FaultyEntry::is_repairable) && self.has_all_versions(diagnostics))
            .then(|| self.readable())
    }

    /// Returns the document with every text in its right form, if that is all that is wrong with the file.
    #[must_use]
    pub fn repaired(&self, diagnostics: &[Diagnostic]) -> Option<Self> {
        let repaired = self.with_right_forms(diagnostics)?;
        (!self.faulty.is_empty() && repaired.repeated.is_empty()).then_some(repaired)
    }

    /// Says of every text that has another form than the required one how it must be written.
    pub fn forms(&self) -> impl Iterator<Item = String> {
        self.faulty
            .iter()
            .flat_map(|entry| entry.forms.iter().map(|form| form.sentence(&entry.addr)))
    }
}
