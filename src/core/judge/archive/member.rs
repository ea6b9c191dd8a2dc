//! The content of one entry of a zip: found, decompressed, checked, handed on piece by piece.
//!
//! `flate2` is driven by hand with large buffers that are used again for every entry; that is a tenth
//! faster than the readers of the `zip` crate (rules 5.8) and lets an entry with a wrong
//! "encrypted" flag be read as the programs read it.

use std::io::{self, Read, Seek, SeekFrom};

use flate2::{Decompress, FlushDecompress, Status};

use super::central::ZipEntry;
use super::end_record::{read_at, u16_at, u32_at};
use super::{ArchiveError, EntryFault};
use crate::contents::ProgramScanner;
use crate::hash::{Digest, READ_BUFFER_BYTES, Sha256Stream};

/// Size of the buffer for compressed data, in bytes.
const PACKED_BUFFER_BYTES: usize = 128 * 1024;

/// Length of an entry's own header without name and extra fields, in bytes.
const HEADER_BYTES: usize = 30;

const HEADER_SIGNATURE: &[u8; 4] = b"PK\x03\x04";
const DESCRIPTOR_SIGNATURE: u32 = u32::from_le_bytes(*b"PK\x07\x08");

/// The two methods that the programs support.
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// Position of the content of an entry in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ContentSpan {
    /// Offset of the first byte in the file.
    pub(super) start: u64,
    /// Offset behind the last byte in the file.
    pub(super) end: u64,
    /// The entry's own header says something else than the list, which wins.
    pub(super) header_differs: bool,
}

/// The verified content of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EntryContent {
    pub(super) digest: Digest,
    /// The stated checksum is 0, which the programs take for "not stated", and it is wrong.
    pub(super) unstated_checksum: bool,
}

/// Buffers and decompressor, for one entry after the other.
pub(super) struct Unpacker {
    packed: Vec<u8>,
    unpacked: Vec<u8>,
    inflate: Decompress,
}

/// The content so far, and where it goes.
struct Measure<'s> {
    sink: &'s mut dyn FnMut(&[u8]),
    crc: crc32fast::Hasher,
    size: u64,
    stated: u64,
}

/// A content that could not be read to its end.
enum ContentFault {
    Damaged(EntryFault),
    Io(io::Error),
}

/// Finds the content of an entry behind the entry's own header.
pub(super) fn locate(
    reader: &mut (impl Read + Seek),
    entry: &ZipEntry,
) -> Result<ContentSpan, ArchiveError> {
    let header: [u8; HEADER_BYTES] = match read_at(reader, entry.header_start) {
        Err(ArchiveError::NotAZip { .. }) => return Err(EntryFault::NoHeader.of(&entry.name)),
        other => other?,
    };
    // The programs check the signature only, and take all else from the list (rules 5.1).
    if !header.starts_with(HEADER_SIGNATURE) {
        return Err(EntryFault::NoHeader.of(&entry.name));
    }
    let name_bytes = u16_at(&header, 26);
    let mut name = Vec::new();
    reader.take(name_bytes.into()).read_to_end(&mut name)?;
    let header_bytes = HEADER_BYTES as u64 + u64::from(name_bytes) + u64::from(u16_at(&header, 28));
    let start = entry.header_start.checked_add(header_bytes);
    let end = start.and_then(|start| start.checked_add(entry.packed));
    let (Some(start), Some(end)) = (start, end) else {
        return Err(EntryFault::NoHeader.of(&entry.name));
    };
    // A field can also be left to what follows the content, or to a 64-bit field.
    let stated = |at: usize, listed: u64| {
        let found = u32_at(&header, at);
        entry.has_descriptor() || found == u32::MAX || u64::from(found) == listed
    };
    // A difference is only noted: the list of entries wins (rules 5.1).
    let agrees = name == *entry.name
        && u16_at(&header, 8) == entry.method
        && stated(14, entry.crc.into())
        && stated(18, entry.packed)
        && stated(22, entry.size);
    Ok(ContentSpan {
        start,
        end,
        header_differs: !agrees,
    })
}

impl Unpacker {
    pub(super) fn new() -> Self {
        Self {
            packed: vec![0; PACKED_BUFFER_BYTES],
            unpacked: vec![0; READ_BUFFER_BYTES],
            inflate: Decompress::new(false),
        }
    }

    /// Hashes the content of an entry, and shows it to a scanner.
    pub(super) fn read(
        &mut self,
        reader: &mut (impl Read + Seek),
        entry: &ZipEntry,
        place: ContentSpan,
        mut scanner: Option<&mut ProgramScanner>,
    ) -> Result<EntryContent, ArchiveError> {
        let mut sha = Sha256Stream::default();
        let unstated_checksum = self.read_to(reader, entry, place, &mut |bytes| {
            sha.update(bytes);
            if let Some(scanner) = &mut scanner {
                scanner.push(bytes);
            }
        })?;
        Ok(EntryContent {
            digest: sha.finish(),
            unstated_checksum,
        })
    }

    /// Reads an entry to its end, checking its size and its checksum as the programs do, and hands its
    /// content on; returns whether the checksum is not stated and would be wrong.
    pub(super) fn read_to(
        &mut self,
        reader: &mut (impl Read + Seek),
        entry: &ZipEntry,
        place: ContentSpan,
        sink: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, ArchiveError> {
        reader.seek(SeekFrom::Start(place.start))?;
        let mut measure = Measure::new(entry.size, sink);
        let packed = reader.by_ref().take(entry.packed);
        let outcome = match entry.method {
            STORED => self.copy(packed, &mut measure),
            DEFLATED => self.inflate(packed, &mut measure),
            method => return Err(EntryFault::UnsupportedMethod(method).of(&entry.name)),
        };
        let (stated, found) = (measure.stated, measure.size);
        let fault = match outcome {
            Ok(()) if found < stated => Some(EntryFault::TooShort { stated, found }),
            Ok(()) => None,
            Err(ContentFault::Io(e)) => return Err(e.into()),
            Err(ContentFault::Damaged(fault)) => Some(fault),
        };
        if let Some(fault) = fault {
            // Plain data under the flag is read as it is (rules 5.3); if that fails, the flag is the likely
            // reason.
            let is_encrypted = entry.is_flagged_encrypted();
            let fault = if is_encrypted {
                EntryFault::Encrypted
            } else {
                fault
            };
            return Err(fault.of(&entry.name));
        }
        let found = measure.crc.finalize();
        check_crc(reader, entry, place, found)
    }

    fn copy(
        &mut self,
        mut packed: impl Read,
        measure: &mut Measure<'_>,
    ) -> Result<(), ContentFault> {
        loop {
            match read_some(&mut packed, &mut self.packed)? {
                0 => return Ok(()),
                n => measure.add(&self.packed[..n])?,
            }
        }
    }

    /// Decompresses up to the end of the deflate stream.
    fn inflate(
        &mut self,
        mut packed: impl Read,
        measure: &mut Measure<'_>,
    ) -> Result<(), ContentFault> {
        self.inflate.reset(false);
        let (mut from, mut to) = (0, 0);
        loop {
            if from == to {
                (from, to) = (0, read_some(&mut packed, &mut self.packed)?);
            }
            let (consumed, produced) = (self.inflate.total_in(), self.inflate.total_out());
            let input = &self.packed[from..to];
            let status = self
                .inflate
                .decompress(input, &mut self.unpacked, FlushDecompress::None)
                .map_err(|_| ContentFault::Damaged(EntryFault::Corrupt))?;
            // Both are bounded by the buffers, so they fit.
            let consumed = (self.inflate.total_in() - consumed) as usize;
            let produced = (self.inflate.total_out() - produced) as usize;
            from += consumed;
            measure.add(&self.unpacked[..produced])?;
            // The programs ignore what follows the stream.
            if status == Status::StreamEnd {
                return Ok(());
            }
            if consumed == 0 && produced == 0 {
                let fault = if from == to {
                    EntryFault::CutOff
                } else {
                    EntryFault::Corrupt
                };
                return Err(ContentFault::Damaged(fault));
            }
        }
    }
}

impl<'s> Measure<'s> {
    fn new(stated: u64, sink: &'s mut dyn FnMut(&[u8])) -> Self {
        Self {
            sink,
            crc: crc32fast::Hasher::new(),
            size: 0,
            stated,
        }
    }

    fn add(&mut self, bytes: &[u8]) -> Result<(), ContentFault> {
        self.size += bytes.len() as u64;
        // Checked for each part, so that a zip bomb is not unpacked to its end.
        if self.size > self.stated {
            return Err(ContentFault::Damaged(EntryFault::TooLong(self.stated)));
        }
        (self.sink)(bytes);
        self.crc.update(bytes);
        Ok(())
    }
}

impl From<io::Error> for ContentFault {
    fn from(cause: io::Error) -> Self {
        Self::Io(cause)
    }
}

/// Compares the checksum with the stated one; returns whether it was not stated and would be wrong.
fn check_crc(
    reader: &mut (impl Read + Seek),
    entry: &ZipEntry,
    place: ContentSpan,
    found: u32,
) -> Result<bool, ArchiveError> {
    let wrong = |stated| EntryFault::Checksum { stated, found }.of(&entry.name);
    // The programs skip a stated 0, but not if a descriptor follows the content; then the descriptor has to
    // state the same checksum (rules 5.4).
    if entry.has_descriptor() {
        let cut_off = |e| match e {
            ArchiveError::NotAZip { .. } => EntryFault::CutOff.of(&entry.name),
            other => other,
        };
        let first: [u8; 12] = read_at(reader, place.end).map_err(cut_off)?;
        // A descriptor may begin with a signature or directly with the checksum (APPNOTE 4.3.9.3).
        let stated = if u32_at(&first, 0) == DESCRIPTOR_SIGNATURE {
            let signed: [u8; 16] = read_at(reader, place.end).map_err(cut_off)?;
            u32_at(&signed, 4)
        } else {
            u32_at(&first, 0)
        };
        if stated != entry.crc {
            return Err(wrong(stated));
        }
    // The Go library takes 0 for "not stated" (rules 5.4).
    } else if entry.crc == 0 {
        return Ok(found != 0);
    }
    if found != entry.crc {
        return Err(wrong(entry.crc));
    }
    Ok(false)
}

fn read_some(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(buffer) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}
