//! Recognizes the kind of an archive by its address or its content.

use std::io::{self, Read, Seek, SeekFrom};

use crate::flavor::Flavor;

/// A kind of archive that modules come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ArchiveKind {
    /// A zip, with its list of entries at the end.
    Zip,
    TarGz,
    TarBz2,
    TarXz,
}

/// The archive that the ending of an address names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedArchive {
    Archive(ArchiveKind),
    /// A single compressed file, which is no module: the programs know the ending and always fail.
    SingleFile,
}

/// The endings and the values of `archive=` (rules 3.1).
const NAMES: &[(&str, NamedArchive)] = &[
    ("zip", NamedArchive::Archive(ArchiveKind::Zip)),
    ("tar.gz", NamedArchive::Archive(ArchiveKind::TarGz)),
    ("tgz", NamedArchive::Archive(ArchiveKind::TarGz)),
    ("tar.bz2", NamedArchive::Archive(ArchiveKind::TarBz2)),
    ("tar.tbz2", NamedArchive::Archive(ArchiveKind::TarBz2)),
    ("tbz2", NamedArchive::Archive(ArchiveKind::TarBz2)),
    ("tar.xz", NamedArchive::Archive(ArchiveKind::TarXz)),
    ("txz", NamedArchive::Archive(ArchiveKind::TarXz)),
    ("gz", NamedArchive::SingleFile),
    ("bz2", NamedArchive::SingleFile),
    ("xz", NamedArchive::SingleFile),
];

/// The first bytes of the contents of each kind.
const BEGINNINGS: &[(&[u8], ArchiveKind)] = &[
    (b"PK\x03\x04", ArchiveKind::Zip),
    (b"PK\x05\x06", ArchiveKind::Zip),
    (b"\x1f\x8b", ArchiveKind::TarGz),
    (b"BZh", ArchiveKind::TarBz2),
    (b"\xfd7zXZ\0", ArchiveKind::TarXz),
];

/// Number of bytes that are enough to recognize a kind.
const MAX_BEGINNING_BYTES: u64 = 8;

impl ArchiveKind {
    /// Returns the usual ending, without its dot.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Zip => "zip",
            Self::TarGz => "tar.gz",
            Self::TarBz2 => "tar.bz2",
            Self::TarXz => "tar.xz",
        }
    }

    /// Returns the kind that a content begins like; `None` for another one (rules 3.4). Leaves the reader at
    /// the start.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn of_content(mut reader: impl Read + Seek) -> io::Result<Option<Self>> {
        let mut beginning = Vec::new();
        reader.seek(SeekFrom::Start(0))?;
        reader
            .by_ref()
            .take(MAX_BEGINNING_BYTES)
            .read_to_end(&mut beginning)?;
        reader.rewind()?;
        Ok(BEGINNINGS
            .iter()
            .find(|(bytes, _)| beginning.starts_with(bytes))
            .map(|(_, kind)| *kind))
    }
}

impl NamedArchive {
    /// Returns the archive that the path of a URL names by its ending: the longest one, in lower case only
    /// (rules 3.1).
    #[must_use]
    pub fn of_path(path: &str, flavor: Flavor) -> Option<Self> {
        names(flavor)
            .filter(|(name, _)| {
                path.strip_suffix(name)
                    .is_some_and(|rest| rest.ends_with('.'))
            })
            // `p.tar.gz` ends in `gz` as well, which is no archive (rules 3.1).
            .max_by_key(|(name, _)| name.len())
            .map(|(_, archive)| archive)
    }

    /// Returns the archive that a value of `archive=` names (rules 3.1).
    #[must_use]
    pub fn of_value(value: &str, flavor: Flavor) -> Option<Self> {
        names(flavor)
            .find(|(name, _)| *name == value)
            .map(|(_, archive)| archive)
    }
}

/// Returns the endings that a program knows; only Terraform has `tbz2`.
fn names(flavor: Flavor) -> impl Iterator<Item = (&'static str, NamedArchive)> {
    NAMES
        .iter()
        .copied()
        .filter(move |(name, _)| *name != "tbz2" || flavor.unpacks_tbz2())
}
