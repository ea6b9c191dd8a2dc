//! Contents of programs in the store, beside the facts of their packages (rules 6).
//!
//! ```text
//! lockctl contents 1
//! zh:…
//! computed 1795338000
//! go1.22.3
//! …                                   as `go version -m` prints it
//! sha256:…
//! ```

use std::io;

use super::text::{FactError, hash, sealed, unsealed};
use super::{FactOrigin, ObjectError, Store, group, key_in};
use crate::contents::{BuildInfo, ProgramContents};
use crate::hash::{Hash, Scheme};

/// Maximum size of the object with the contents of one package, in bytes. A program with a thousand modules has some
/// 150 KB.
pub const MAX_CONTENTS_BYTES: u64 = 1024 * 1024;

/// Maximum number of contents with the same first two digits of their `zh:`: there are 256 such groups, and a usual
/// one of 32 has 1 MB.
pub const MAX_CONTENTS_PER_GROUP: usize = 32;

/// Directory of all contents. Another format would have another number.
pub(super) const CONTENTS: &str = "contents-1";

/// The first line of an object.
const HEADER: &str = "lockctl contents 1";

/// The line of a program without build information.
const UNKNOWN: &str = "unknown";

/// Contents in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredContents {
    /// The `zh:` of the package.
    pub zh: Hash,
    pub contents: ProgramContents,
    /// The run or the import that it comes from.
    pub origin: FactOrigin,
    /// The time of its storage, in seconds since 1970.
    pub since: u64,
}

impl Store<'_> {
    /// Puts the contents of a package into the store; does not replace contents that this machine read.
    ///
    /// Contents that are too long for an object are not kept.
    ///
    /// # Errors
    /// If the object cannot be written.
    pub fn put_contents(
        &self,
        zh: &Hash,
        contents: &ProgramContents,
        origin: FactOrigin,
    ) -> io::Result<()> {
        let Some(key) = key_in(CONTENTS, zh).filter(|_| self.objects.is_usable()) else {
            return Ok(());
        };
        // Contents depend on the zip only, so reading it again yields the same contents.
        let existing = self.read_contents(&key);
        if existing.is_some_and(|existing| {
            existing.origin == FactOrigin::Computed || origin != FactOrigin::Computed
        }) {
            return Ok(());
        }
        let stored = StoredContents {
            zh: zh.clone(),
            contents: contents.clone(),
            origin,
            since: self.now(),
        };
        let object = object(&stored);
        if object.len() as u64 > MAX_CONTENTS_BYTES {
            return Ok(());
        }
        self.make_room(group(&key), MAX_CONTENTS_PER_GROUP, |key| {
            Some(self.read_contents(key)?.since)
        })?;
        self.objects.put(&key, object.as_bytes())
    }

    /// Reads the contents of a key, unless they are too old.
    pub(super) fn read_contents(&self, key: &str) -> Option<StoredContents> {
        self.noted(key, self.load_contents(key))
            .filter(|stored| !self.is_out_of_date(stored.since))
    }

    /// Reads the object of a key, if there is one.
    pub(super) fn load_contents(&self, key: &str) -> Result<Option<StoredContents>, ObjectError> {
        let key_of = |stored: &StoredContents| key_in(CONTENTS, &stored.zh);
        let loaded = self.load_as(key, MAX_CONTENTS_BYTES, parse_object, key_of)?;
        Ok(loaded.map(|(stored, _)| stored))
    }
}

/// Writes the object that holds contents.
pub(super) fn object(stored: &StoredContents) -> String {
    let StoredContents {
        zh,
        contents,
        origin,
        since,
    } = stored;
    let text = match contents {
        ProgramContents::Unknown => format!("{UNKNOWN}\n"),
        ProgramContents::Go(info) => format!("{}\n{info}", info.go_version),
    };
    sealed(HEADER, &zh.to_string(), (origin, *since), &text)
}

/// Reads the object that holds contents.
///
/// # Errors
/// If it is another text, or damaged.
pub(super) fn parse_object(bytes: &[u8]) -> Result<StoredContents, FactError> {
    let object = unsealed(bytes, HEADER)?;
    let zh = hash(object.subject, Scheme::Zh).ok_or(FactError::Form)?;
    let (version, text) = object.rest.split_once('\n').ok_or(FactError::Form)?;
    let contents = if version == UNKNOWN && text.is_empty() {
        ProgramContents::Unknown
    } else {
        let info = BuildInfo::parse_printed(version, text).ok_or(FactError::Form)?;
        ProgramContents::Go(Box::new(info))
    };
    Ok(StoredContents {
        zh,
        contents,
        origin: object.origin,
        since: object.since,
    })
}
