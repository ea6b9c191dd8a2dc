//! Both hashes of a zip, its files, and what is odd about it.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{Read, Seek, SeekFrom};

use super::central::{EntryKind, EntryList, ZipEntry, read_list};
use super::executable::is_program;
use super::layout::unpacked_files;
use super::member::{ContentSpan, Unpacker, locate};
use super::{ArchiveError, EntryFault, FREE_UNPACKED_BYTES, FileDigest, Limits};
use crate::contents::{ProgramContents, ProgramScanner};
use crate::hash::{self, Digest, Hash, Sha256Stream, h1_of_digests};

/// The hashes of a zip, by its bytes and by its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZipHashes {
    /// The hash of its bytes.
    pub zh: Hash,
    /// The hash of the directory that it unpacks to: what the programs record.
    pub h1: Hash,
    /// The hash of its members: what the programs check a lock against before they unpack.
    pub member_h1: Hash,
    /// The files that it unpacks to, by name.
    pub files: Vec<FileDigest>,
    /// The oddities in the order of the entries; a zip from a common tool has none.
    pub oddities: Vec<Oddity>,
}

/// Something unusual about a zip, which the programs accept silently.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Oddity {
    /// The two `h1` differ: once a program has recorded the one, it refuses the zip by the other,
    /// unless the lock holds the `zh` as well. Always the first oddity.
    HashesDiffer,
    /// An oddity of the entry of that name.
    Entry(Box<[u8]>, EntryOddity),
}

/// Something unusual about an entry of a zip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum EntryOddity {
    /// Only the member hash covers a directory.
    #[error("is an entry for a directory")]
    Directory,
    /// A name that is cleaned when it is unpacked, e.g. of `./`.
    #[error("is a name that changes when it is unpacked")]
    UncleanName,
    /// The name occurs again later; the last content wins.
    #[error("occurs again later in the zip; the last one counts")]
    Replaced,
    /// The programs unpack a symbolic link as a file that holds the target's name.
    #[error("is a symbolic link, unpacked as a file with its target's name")]
    Symlink,
    /// The entry claims to be encrypted, and is not.
    #[error("claims to be encrypted and is not")]
    FlaggedEncrypted,
    /// The entry's own header differs from the list of entries; the list wins.
    #[error("has a header that contradicts the list of entries")]
    HeaderDiffers,
    /// The checksum is stated as 0, which the programs do not check, and it is wrong.
    #[error("has no usable checksum, so damage would go unnoticed")]
    UncheckedContent,
}

impl fmt::Display for Oddity {
    /// Describes the oddity so that a user can decide if it matters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HashesDiffer => f.write_str(
                "unpacked it hashes differently than as a zip, so the programs record one h1: \
                and check another; a lock file without its zh: would refuse it",
            ),
            Self::Entry(name, oddity) => {
                write!(f, "{:?} {oddity}", String::from_utf8_lossy(name))
            }
        }
    }
}

/// Hashes a zip without unpacking it to anywhere.
///
/// Reads the file once from start to end for `zh`, then every entry once; memory does not grow with
/// the package, only with its list of entries. Accepts what the programs accept; refuses beside that:
/// overlapping entries, directory entries with data, lists that two readers may read differently,
/// and what exceeds the limits (rules 5).
///
/// # Errors
/// The first fault, in the order: list of entries, names, places, contents.
///
/// # Examples
/// ```
/// use std::io::Cursor;
///
/// use lockctl_core::archive::{ArchiveError, Limits};
///
/// let error = lockctl_core::hash_zip(Cursor::new(b"no zip"), &Limits::PACKAGE);
/// assert!(matches!(error, Err(ArchiveError::NotAZip { .. })));
/// ```
pub fn hash_zip(mut reader: impl Read + Seek, limits: &Limits) -> Result<ZipHashes, ArchiveError> {
    reader.seek(SeekFrom::Start(0))?;
    let zh = hash::zh(&mut reader)?;
    hash_members(zh, reader, limits)
}

/// Does what [`hash_zip`] does for a zip whose `zh` is known already, e.g. from when it arrived.
///
/// # Errors
/// As [`hash_zip`].
pub fn hash_members(
    zh: Hash,
    reader: impl Read + Seek,
    limits: &Limits,
) -> Result<ZipHashes, ArchiveError> {
    read_members(zh, reader, limits, None)
}

/// Does what [`hash_members`] does, and reads the build information of the provider's program in the same pass.
///
/// Contents are unknown without a program of that type, too.
///
/// # Errors
/// As [`hash_zip`].
pub fn hash_members_and_contents(
    zh: Hash,
    reader: impl Read + Seek,
    limits: &Limits,
    type_name: &str,
) -> Result<(ZipHashes, ProgramContents), ArchiveError> {
    let mut scanner = ProgramScanner::new();
    let hashes = read_members(zh, reader, limits, Some((type_name, &mut scanner)))?;
    Ok((hashes, scanner.finish()))
}

/// Reads the build information of the provider's program in a zip; no other content is read.
///
/// # Errors
/// The first fault of the zip, but for the contents of its other entries.
pub fn program_contents(
    mut reader: impl Read + Seek,
    limits: &Limits,
    type_name: &str,
) -> Result<ProgramContents, ArchiveError> {
    let CheckedZip {
        list,
        paths,
        places,
    } = CheckedZip::read(&mut reader, limits)?;
    let mut scanner = ProgramScanner::new();
    if let Some(number) = program(&paths, type_name) {
        let (entry, mut unpacker) = (&list.entries[number], Unpacker::new());
        unpacker.read_to(&mut reader, entry, places[number], &mut |bytes| {
            scanner.push(bytes)
        })?;
    }
    Ok(scanner.finish())
}

/// Returns the number of the program's entry: the programs run the first in the order of the names' bytes.
fn program(paths: &BTreeMap<Box<[u8]>, usize>, type_name: &str) -> Option<usize> {
    let (_, number) = paths.iter().find(|(name, _)| is_program(name, type_name))?;
    Some(*number)
}

/// Hashes the members of a zip; the program of that type is shown to the scanner as well.
fn read_members(
    zh: Hash,
    mut reader: impl Read + Seek,
    limits: &Limits,
    scanned: Option<(&str, &mut ProgramScanner)>,
) -> Result<ZipHashes, ArchiveError> {
    let CheckedZip {
        list,
        paths,
        places,
    } = CheckedZip::read(&mut reader, limits)?;
    let program =
        scanned.and_then(|(type_name, scanner)| Some((program(&paths, type_name)?, scanner)));
    let (digests, mut oddities) = read_contents(&mut reader, &list, &paths, &places, program)?;

    let last = last_of_each_name(&list.entries);
    // Every name counts as often as it occurs, each time with the last content of that name.
    let member_h1 = h1_of_digests(
        list.entries
            .iter()
            .map(|entry| (&*entry.name, digests[last[&*entry.name]])),
    )?;
    let files: Vec<FileDigest> = paths
        .into_iter()
        .map(|(name, number)| FileDigest {
            name,
            size: list.entries[number].size,
            digest: digests[number],
        })
        .collect();
    let h1 = h1_of_digests(files.iter().map(|file| (&*file.name, file.digest)))?;
    if h1 != member_h1 {
        // The next `init` refuses what this one records, unless a `zh:` matches as well (rules 1.2).
        oddities.insert(0, Oddity::HashesDiffer);
    }
    Ok(ZipHashes {
        zh,
        h1,
        member_h1,
        files,
        oddities,
    })
}

/// Reads every entry once; returns the digest and the oddities of each. The content of the program, by its number,
/// is scanned as well.
fn read_contents(
    reader: &mut (impl Read + Seek),
    list: &EntryList,
    paths: &BTreeMap<Box<[u8]>, usize>,
    places: &[ContentSpan],
    mut program: Option<(usize, &mut ProgramScanner)>,
) -> Result<(Vec<Digest>, Vec<Oddity>), ArchiveError> {
    let mut oddities = Vec::new();
    let mut digests = Vec::with_capacity(list.entries.len());
    let mut unpacker = Unpacker::new();
    let last = last_of_each_name(&list.entries);
    for (number, entry) in list.entries.iter().enumerate() {
        let mut odd = |oddity| oddities.push(Oddity::Entry(entry.name.clone(), oddity));
        if entry.kind == EntryKind::Directory {
            // The member hash has a line for it and the directory hash has none (rules 2.2, 4.1).
            odd(EntryOddity::Directory);
        } else if !paths.contains_key(&entry.name) {
            odd(EntryOddity::UncleanName);
        }
        if entry.kind == EntryKind::Symlink {
            // Unpacked it is a file with the text of its target, for either hash (rules 3.3).
            odd(EntryOddity::Symlink);
        }
        if entry.is_flagged_encrypted() {
            odd(EntryOddity::FlaggedEncrypted);
        }
        if last[&*entry.name] != number {
            odd(EntryOddity::Replaced);
        }
        if places[number].header_differs {
            odd(EntryOddity::HeaderDiffers);
        }
        if entry.is_named_directory() {
            // The member hash takes its content as empty, even if the entry holds bytes (rules 4.1).
            digests.push(Sha256Stream::default().finish());
            continue;
        }
        let scanner = program
            .as_mut()
            .filter(|(program, _)| *program == number)
            .map(|(_, scanner)| &mut **scanner);
        let content = unpacker.read(reader, entry, places[number], scanner)?;
        if content.unstated_checksum {
            odd(EntryOddity::UncheckedContent);
        }
        digests.push(content.digest);
    }
    Ok((digests, oddities))
}

/// A zip whose list of entries is sound, before any content is read.
pub(super) struct CheckedZip {
    pub(super) list: EntryList,
    /// The files that it unpacks to, each with the number of its entry.
    pub(super) paths: BTreeMap<Box<[u8]>, usize>,
    /// The position of the content of each entry.
    pub(super) places: Vec<ContentSpan>,
}

impl CheckedZip {
    pub(super) fn read(
        reader: &mut (impl Read + Seek),
        limits: &Limits,
    ) -> Result<Self, ArchiveError> {
        let list = read_list(reader, limits)?;
        if list.entries.is_empty() {
            return Err(ArchiveError::Empty);
        }
        // The sum of the stated sizes; the size of each entry is checked when it is read. The ratio is taken over
        // the whole zip: single entries, such as debug sections, may shrink more.
        let by_ratio = list.archive_bytes.saturating_mul(limits.ratio);
        let limit = limits.unpacked_bytes.min(by_ratio.max(FREE_UNPACKED_BYTES));
        let mut bytes = 0_u64;
        for entry in &list.entries {
            // The member hash has nothing for it, while another reader may unpack it as a file (rules 5.5).
            if entry.is_named_directory() && entry.size != 0 {
                return Err(EntryFault::DirectoryWithData.of(&entry.name));
            }
            bytes = bytes.saturating_add(entry.size);
        }
        if bytes > limit {
            return Err(ArchiveError::TooLarge { bytes, limit });
        }
        let paths = unpacked_files(&list.entries)?;
        // No byte may belong to two entries.
        let mut places = Vec::with_capacity(list.entries.len());
        let mut ranges = Vec::with_capacity(list.entries.len());
        for (number, entry) in list.entries.iter().enumerate() {
            let place = locate(reader, entry)?;
            ranges.push((entry.header_start, place.end, number));
            places.push(place);
        }
        ranges.sort_unstable();
        let mut taken = 0;
        for (start, end, number) in ranges {
            let meets_list = start < list.end && list.start < end;
            // Entries that share one content make a zip of 42 kB unpack to 5.5 GB (D. Fifield, "A better zip
            // bomb").
            if start < taken || meets_list {
                return Err(EntryFault::Overlap.of(&list.entries[number].name));
            }
            taken = end;
        }
        Ok(Self {
            list,
            paths,
            places,
        })
    }
}

/// Returns the number of the last entry of every name.
fn last_of_each_name(entries: &[ZipEntry]) -> BTreeMap<&[u8], usize> {
    entries
        .iter()
        .enumerate()
        .map(|(number, entry)| (&*entry.name, number))
        .collect()
}
