//! The dependency lock file `.terraform.lock.hcl`: bytes in, exact bytes out.
//!
//! The model holds values only, in canonical form and order; [`parse`] never fails but returns
//! what it understood plus every problem, and [`write()`] prints from the model, never from the
//! text that was read (rules 1).

mod canonical;
mod comments;
mod error;
mod faulty;
mod header;
mod line_ends;
mod parse;
#[cfg(test)]
mod tests;
mod versions;
mod write;

pub mod rules {
    #![doc = include_str!("rules.md")]
}

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, FileId, Span, Texts, has_errors};
use crate::flavor::{Flavor, Program};
use crate::hash::{Hash, Hashes};
use crate::version::{Constraints, Version};

pub use comments::comments;
pub use error::LockFileError;
pub use faulty::{FaultyEntry, WrongForm};
pub use header::header_of;
pub use line_ends::{LF_ATTRIBUTE, has_crlf_only};
pub use parse::parse;
pub use versions::{StoredVersion, VersionStore};
pub(super) use write::quote;
pub use write::{write, write_entry};

/// The name of the file, in the root module directory.
pub const FILE_NAME: &str = ".terraform.lock.hcl";

/// Maximum size of a lock file, in bytes; the largest known one has 19 KB.
pub const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// A lock file as it was read.
#[derive(Clone, Debug)]
pub struct LockText {
    /// Its bytes, which the table of texts holds, too.
    pub bytes: Arc<[u8]>,
    /// Its place in the table of texts.
    pub file: FileId,
    /// The entries and the header of the file.
    pub document: Document,
    /// All problems of the file, in the order of their places.
    pub diagnostics: Vec<Diagnostic>,
}

impl LockText {
    /// Parses the bytes of a lock file, and adds them to the table of texts; `path` is its name in messages.
    #[must_use]
    pub fn new(path: &Path, bytes: Arc<[u8]>, flavor: Flavor, texts: &mut Texts) -> Self {
        let file = texts.add(path.display().to_string(), Arc::clone(&bytes));
        let (document, diagnostics) = parse(file, &bytes, flavor);
        Self {
            bytes,
            file,
            document,
            diagnostics,
        }
    }
}

/// The content of a lock file, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockFile {
    /// The entries by address, which is the order of the file.
    pub providers: BTreeMap<ProviderAddr, ProviderLock>,
}

/// One provider of a lock file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderLock {
    /// The version that was selected.
    pub version: Version,
    /// The conditions that led to it: a note for people, never used for selection.
    pub constraints: Constraints,
    /// The hashes of its packages, of all platforms and schemes.
    pub hashes: Hashes,
}

/// A lock file as it was read: the model, and the places of its parts in the text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// The entries without a fault.
    pub lock: LockFile,
    /// Blocks without a fault of their own whose address an earlier block has already, in the order
    /// of the file; each is reported as a duplicate.
    pub repeated: Vec<(ProviderAddr, ProviderLock)>,
    /// The blocks with a fault of their own whose address could be read, in the order of the file.
    pub faulty: Vec<FaultyEntry>,
    /// The position of each entry of `lock`.
    pub places: BTreeMap<ProviderAddr, Places>,
    /// The program whose header the file begins with, if it has one.
    pub header: Option<Program>,
    /// The number of comments beside the header, which a rewrite would drop.
    pub comments: usize,
}

/// The positions of the parts of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// From the word `provider` to the end of its label.
    pub header: Span,
    /// The expression of `version`.
    pub version: Span,
    /// The expression of `constraints`, if there is one.
    pub constraints: Option<Span>,
    /// The expression of `hashes`, if there is one.
    pub hashes: Option<Span>,
    /// Each hash as it is listed, unsorted, repetitions included.
    pub listed: Vec<(Hash, Span)>,
}

impl LockFile {
    /// Reads the text of a lock file by the rules of a flavor; it need not be UTF-8, because comments may hold
    /// anything. [`parse`] also returns the place of each entry.
    ///
    /// # Errors
    /// If a program would refuse the file; the error holds everything that is wrong with it.
    ///
    /// # Examples
    /// ```
    /// use lockctl_core::{Flavor, LockFile};
    ///
    /// let text = "provider \"registry.terraform.io/hashicorp/null\" {\n  version = \"3.2.4\"\n}\n";
    /// let lock = LockFile::parse(text.as_bytes(), Flavor::Terraform1_16).expect("it is sound");
    /// let (addr, entry) = lock.providers.first_key_value().expect("one entry");
    /// assert_eq!(addr.short(Flavor::Terraform1_16), "hashicorp/null");
    /// assert_eq!(entry.version.to_string(), "3.2.4");
    /// ```
    pub fn parse(bytes: &[u8], flavor: Flavor) -> Result<Self, LockFileError> {
        let (document, diagnostics) = parse(FileId::ALONE, bytes, flavor);
        if has_errors(&diagnostics) {
            return Err(LockFileError::new(bytes, diagnostics));
        }
        Ok(document.lock)
    }

    /// Adds the entries that OpenTofu reads into a lock file of Terraform, and returns the pairs (existing
    /// entry, added entry).
    ///
    /// An entry `registry.terraform.io/hashicorp/T` without a sibling on OpenTofu's registry gets
    /// one with the same version and constraints and no hashes (rules 5.1). Other flavors
    /// add nothing. Only siblings that are `wanted` count.
    pub fn carry_over(
        &mut self,
        flavor: Flavor,
        wanted: impl Fn(&ProviderAddr) -> bool,
    ) -> Vec<(ProviderAddr, ProviderAddr)> {
        let mut pairs = Vec::new();
        for (addr, entry) in &self.providers {
            let Some(twin) = addr.carried_over(flavor) else {
                continue;
            };
            if wanted(&twin) && !self.providers.contains_key(&twin) {
                pairs.push((addr.clone(), twin, entry.clone()));
            }
        }
        for (_, twin, entry) in &pairs {
            let version_only = ProviderLock {
                // OpenTofu copies no hash (rules 5.1): its registry publishes packages of its own.
                hashes: Hashes::default(),
                ..entry.clone()
            };
            self.providers.insert(twin.clone(), version_only);
        }
        pairs
            .into_iter()
            .map(|(old, twin, _)| (old, twin))
            .collect()
    }
}
