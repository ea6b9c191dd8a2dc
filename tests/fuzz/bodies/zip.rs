//! Zips: hashing and unpacking agree, and neither takes more than its limits.

use std::io::Cursor;

use arbitrary::{Result, Unstructured};
use lockctl::archive::zip::{hash_members, hash_zip};
use lockctl::archive::{ArchiveError, Limits, UnpackedContent, unpack_zip};
use lockctl::hash::{Sha256Stream, h1_of_digests, zh};

use super::Budget;
use crate::zips::{DEFLATED, Entry, Zip};

const LIMITS: Limits = Limits {
    entries: 64,
    list_bytes: 64 * 1024,
    unpacked_bytes: 1024 * 1024,
    ratio: 200,
    depth: 8,
};

const BUDGET: Budget = Budget {
    // Two buffers for reading and the window for inflating.
    base_bytes: 2 * 1024 * 1024,
    bytes: 64,
    base_allocations: 2_000,
    allocations: 4,
};

const NAMES: &[&[u8]] = &[
    b"terraform-provider-x",
    b"LICENSE",
    b"a/b",
    b"a/",
    b"../x",
    b"/x",
    b"a\\b",
    b"./a",
    b"a//b",
    b"a\nb",
    b"\xff",
    b"",
];

/// An input that begins as a zip does is one; any other makes a zip with true checksums.
pub fn run(data: &[u8]) {
    if data.starts_with(b"PK") {
        check(data);
    } else if let Ok(zip) = zip(&mut Unstructured::new(data)) {
        check(&zip);
    }
}

fn check(bytes: &[u8]) {
    let hashed = BUDGET.spend(bytes, || hash_zip(Cursor::new(bytes), &LIMITS));
    let mut files = Vec::new();
    let unpacked = unpack_zip::<ArchiveError>(
        Cursor::new(bytes),
        &LIMITS,
        |_, _| true,
        |entry| {
            files.push(entry);
            Ok(())
        },
    );
    let hashed = match hashed {
        Ok(hashed) => hashed,
        // No `h1` covers such a name; a module needs none.
        Err(ArchiveError::LineFeedInName(_)) => return,
        Err(error) => {
            assert!(unpacked.is_err(), "unpacked, although {error}");
            return;
        }
    };
    unpacked.expect("what is accepted can be unpacked");
    let expected = zh(bytes).expect("memory");
    assert_eq!(hashed.zh, expected);
    let again = hash_members(expected, Cursor::new(bytes), &LIMITS);
    assert_eq!(again.expect("as before"), hashed);
    let mut digests = Vec::new();
    for entry in &files {
        let parts: Vec<&[u8]> = entry.path.split(|byte| *byte == b'/').collect();
        assert!(!parts.contains(&b"..".as_slice()), "{entry:?} is outside");
        match &entry.content {
            UnpackedContent::Directory => {}
            UnpackedContent::Passed(..) => panic!("every content is wanted"),
            UnpackedContent::Kept(content) => {
                let mut stream = Sha256Stream::default();
                stream.read_all(&**content, &mut [0; 512]).expect("memory");
                digests.push((&*entry.path, stream.finish()));
            }
        }
    }
    assert_eq!(h1_of_digests(digests).expect("no line feed"), hashed.h1);
    for oddity in &hashed.oddities {
        assert!(!oddity.to_string().is_empty());
    }
}

fn zip(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut zip = Zip::default();
    for _ in 0..input.int_in_range(0..=4)? {
        let name = input.choose(NAMES)?;
        let mut entry = Entry::file(name, input.arbitrary::<&[u8]>()?);
        if input.ratio(1, 3)? {
            entry.method = DEFLATED;
        }
        if input.ratio(1, 8)? {
            entry.flags = input.arbitrary()?;
        }
        if input.ratio(1, 8)? {
            entry.attributes = input.arbitrary()?;
            entry.system = input.arbitrary()?;
        }
        if input.ratio(1, 8)? {
            entry.extra = input.arbitrary::<Vec<u8>>()?;
            entry.descriptor = input.arbitrary()?;
        }
        if input.ratio(1, 8)? {
            entry.header_name = Some(input.choose(NAMES)?.to_vec());
            entry.stated_crc = input.arbitrary()?;
            entry.stated_size = input.arbitrary()?;
            entry.stated_packed = input.arbitrary()?;
        }
        zip.entries.push(entry);
    }
    if input.ratio(1, 4)? {
        zip.before = input.arbitrary()?;
        zip.shifted = input.arbitrary()?;
        zip.comment = input.arbitrary()?;
    }
    let mut bytes = zip.bytes();
    for _ in 0..input.int_in_range(0..=2)? {
        let at = input.choose_index(bytes.len().max(1))?;
        if let Some(byte) = bytes.get_mut(at) {
            *byte = input.arbitrary()?;
        }
    }
    Ok(bytes)
}
