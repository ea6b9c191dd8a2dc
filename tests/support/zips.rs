//! Builds zips for tests: honest ones, and ones that lie in any field.
#![allow(dead_code, reason = "not every test binary needs all of it")]

use std::io::Write as _;

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// Methods of an entry.
pub(crate) const STORED: u16 = 0;
/// Methods of an entry.
pub(crate) const DEFLATED: u16 = 8;

/// An entry; what is `None` is stated as it is.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: Vec<u8>,
    pub(crate) content: Vec<u8>,
    pub(crate) method: u16,
    pub(crate) flags: u16,
    /// The system that made it: 3 is Unix, 0 is FAT.
    pub(crate) system: u8,
    /// On Unix, the mode in the upper half.
    pub(crate) attributes: u32,
    pub(crate) extra: Vec<u8>,
    /// What stands behind the content.
    pub(crate) descriptor: Vec<u8>,
    /// The bytes of the content in the zip.
    pub(crate) packed: Option<Vec<u8>>,
    pub(crate) stated_crc: Option<u32>,
    pub(crate) stated_size: Option<u32>,
    pub(crate) stated_packed: Option<u32>,
    /// The name in the entry's own header.
    pub(crate) header_name: Option<Vec<u8>>,
    /// Uses the header at this offset instead of writing one.
    pub(crate) header_at: Option<u32>,
}

/// A zip; what is `None` is stated as it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Zip {
    /// What stands before it.
    pub(crate) before: Vec<u8>,
    /// Counts offsets from the end of what stands before it.
    pub(crate) shifted: bool,
    pub(crate) entries: Vec<Entry>,
    /// What stands between the list of entries and the end record.
    pub(crate) behind_list: Vec<u8>,
    pub(crate) comment: Vec<u8>,
    pub(crate) stated_entries: Option<u16>,
    pub(crate) stated_list_start: Option<u32>,
    pub(crate) stated_comment: Option<u16>,
}

impl Entry {
    /// A stored file.
    pub(crate) fn file(name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Self {
        Self {
            name: name.as_ref().to_vec(),
            content: content.as_ref().to_vec(),
            method: STORED,
            flags: 0,
            system: 3,
            attributes: 0o100_644 << 16,
            extra: Vec::new(),
            descriptor: Vec::new(),
            packed: None,
            stated_crc: None,
            stated_size: None,
            stated_packed: None,
            header_name: None,
            header_at: None,
        }
    }

    /// A directory by its mode; the name should end in `/`.
    pub(crate) fn directory(name: impl AsRef<[u8]>) -> Self {
        Self::file(name, "").with(|entry| entry.attributes = 0o040_755 << 16)
    }

    /// The same, deflated.
    pub(crate) fn deflated(self) -> Self {
        self.with(|entry| entry.method = DEFLATED)
    }

    /// The same, changed.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    fn packed_bytes(&self) -> Vec<u8> {
        match (&self.packed, self.method) {
            (Some(packed), _) => packed.clone(),
            (None, DEFLATED) => deflate(&self.content),
            (None, _) => self.content.clone(),
        }
    }

    /// Flags, method, time, date, checksum and both sizes: the same in both headers.
    fn fields(&self, packed: usize) -> Vec<u8> {
        let crc = self
            .stated_crc
            .unwrap_or_else(|| crc32fast::hash(&self.content));
        let packed = self.stated_packed.unwrap_or(packed as u32);
        let size = self.stated_size.unwrap_or(self.content.len() as u32);
        let mut fields = numbers16(&[20, self.flags, self.method, 0, 33]);
        fields.extend(numbers32(&[crc, packed, size]));
        fields
    }
}

impl Zip {
    /// A zip of these entries, in this order.
    pub(crate) fn of(entries: impl IntoIterator<Item = Entry>) -> Self {
        Self {
            entries: entries.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Writes it down.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.before.clone();
        let base = if self.shifted { self.before.len() } else { 0 };
        let mut list = Vec::new();
        for entry in &self.entries {
            let packed = entry.packed_bytes();
            let fields = entry.fields(packed.len());
            let header_at = entry.header_at.unwrap_or((bytes.len() - base) as u32);
            if entry.header_at.is_none() {
                let name = entry.header_name.as_ref().unwrap_or(&entry.name);
                bytes.extend(b"PK\x03\x04");
                bytes.extend(&fields);
                bytes.extend(numbers16(&[name.len() as u16, 0]));
                bytes.extend(name);
                bytes.extend(&packed);
                bytes.extend(&entry.descriptor);
            }
            list.extend(b"PK\x01\x02");
            list.extend([20, entry.system]);
            list.extend(&fields);
            let lengths = [entry.name.len() as u16, entry.extra.len() as u16, 0, 0, 0];
            list.extend(numbers16(&lengths));
            list.extend(numbers32(&[entry.attributes, header_at]));
            list.extend(&entry.name);
            list.extend(&entry.extra);
        }
        let list_start = self
            .stated_list_start
            .unwrap_or((bytes.len() - base) as u32);
        let count = self.stated_entries.unwrap_or(self.entries.len() as u16);
        bytes.extend(&list);
        bytes.extend(&self.behind_list);
        bytes.extend(b"PK\x05\x06");
        bytes.extend(numbers16(&[0, 0, count, count]));
        bytes.extend(numbers32(&[list.len() as u32, list_start]));
        let comment = self.stated_comment.unwrap_or(self.comment.len() as u16);
        bytes.extend(numbers16(&[comment]));
        bytes.extend(&self.comment);
        bytes
    }
}

/// Deflates without any wrapping.
pub(crate) fn deflate(content: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// Spells numbers of 16 bits.
pub(crate) fn numbers16(numbers: &[u16]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

/// Spells numbers of 32 bits.
pub(crate) fn numbers32(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}
