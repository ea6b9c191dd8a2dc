//! Entries with a fault: present, though the programs refuse the file because of them.

use std::collections::BTreeSet;

use super::{Document, Places, ProviderLock};
use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, Severity, Span, rules};
use crate::hash::{Hash, Hashes};
use crate::version::{Constraints, Version};

/// An entry with a fault, with what could be read of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultyEntry {
    /// Its address, in canonical form.
    pub addr: ProviderAddr,
    /// From the word `provider` to the end of its label.
    pub header: Span,
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
    /// The positions of its parts, as far as they are there.
    pub(super) places: PartialPlaces,
    /// The number of its faults.
    pub(super) faults: usize,
    /// The number of its faults that are reported: behind a label at fault the programs look at nothing.
    pub(super) reported: usize,
}

/// A text of an entry that is not in the form that the programs require, and that has only one such form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongForm {
    /// The part of the entry.
    pub part: EntryPart,
    /// The position of the text.
    pub span: Span,
    /// The text as it is written.
    pub written: String,
    /// The text as it must be written.
    pub required: String,
}

/// A part of an entry that has a canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryPart {
    /// The address of the provider.
    Label,
    /// The attribute that holds the version.
    Version,
    /// The attribute that holds the constraints.
    Constraints,
}

/// The positions of the parts of an entry with a fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PartialPlaces {
    pub(super) version: Option<Span>,
    pub(super) constraints: Option<Span>,
    pub(super) hashes: Option<Span>,
    pub(super) listed: Vec<(Hash, Span)>,
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
        match self.part {
            EntryPart::Label => {
                format!("the address must be written {required:?}, not {written:?}")
            }
            EntryPart::Version => {
                format!("the version of {addr} must be written {required:?}, not {written:?}")
            }
            EntryPart::Constraints => {
                format!("the constraints of {addr} must be written {required:?}, not {written:?}")
            }
        }
    }
}

impl EntryPart {
    /// Returns the rule of the fault.
    #[must_use]
    pub fn rule(self) -> &'static str {
        match self {
            Self::Label => rules::ADDRESS_NOT_CANONICAL,
            Self::Version => rules::VERSION_MALFORMED,
            Self::Constraints => rules::CONSTRAINTS_MALFORMED,
        }
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
            let Some(entry) = faulty.completed_by(None) else {
                document.faulty.push(faulty);
                continue;
            };
            let places = Places {
                header: faulty.header,
                version: faulty.places.version.unwrap_or(faulty.header),
                constraints: faulty.places.constraints,
                hashes: faulty.places.hashes,
                listed: faulty.places.listed,
            };
            if document.lock.providers.contains_key(&faulty.addr) {
                document.repeated.push((faulty.addr, entry));
            } else {
                document.places.insert(faulty.addr.clone(), places);
                document.lock.providers.insert(faulty.addr, entry);
            }
        }
        document
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
