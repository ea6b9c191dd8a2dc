//! Archives that nobody in good faith would build, as packages of modules.

use std::io::{Cursor, Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use lockctl::modules::archive::{ArchiveKind, read_archive};
use lockctl::modules::package::{MAX_ENTRIES, PackageError, PackageTree};
use lockctl::world::Files;
use serde_json::json;

use crate::module_lab::archive;
use crate::texts::Text as _;
use crate::zips::{Entry, Zip};

const GIBIBYTE: u64 = 1 << 30;

fn read(kind: ArchiveKind, bytes: Vec<u8>) -> Result<PackageTree, PackageError> {
    read_archive(kind, Box::new(Cursor::new(bytes)))
}

#[track_caller]
fn refused(kind: ArchiveKind, bytes: Vec<u8>, message: &str) {
    let error = read(kind, bytes).expect_err("refused");
    assert_eq!(error.to_string(), message);
}

/// Compresses a content that is too large to be held.
fn gzip(mut content: impl Read) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    std::io::copy(&mut content, &mut encoder).unwrap();
    encoder.finish().unwrap()
}

/// The header of a file in a tar.
fn header(name: &str, size: u64) -> Vec<u8> {
    let mut header = tar::Header::new_ustar();
    header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
    header.set_mode(0o644);
    header.set_size(size);
    header.set_cksum();
    header.as_bytes().to_vec()
}

#[test]
fn a_tar_bomb_does_not_go_off() {
    let size = GIBIBYTE / 2;
    let bomb = Cursor::new(header("zeros.tf", size)).chain(std::io::repeat(0).take(size));
    let bytes = gzip(bomb);
    assert!(bytes.len() < 4 << 20, "{} bytes", bytes.len());
    let free = 256 << 20;
    let limit = free.max(bytes.len() as u64 * 200);
    refused(
        ArchiveKind::TarGz,
        bytes,
        &format!("the package has more than {limit} bytes once it is unpacked"),
    );
}

#[test]
fn a_tar_of_names_does_not_fill_the_memory() {
    let names = (0..=MAX_ENTRIES).map(|number| header(&number.to_string(), 0));
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    for header in names {
        encoder.write_all(&header).unwrap();
    }
    refused(
        ArchiveKind::TarGz,
        encoder.finish().unwrap(),
        &format!("the package has more than {MAX_ENTRIES} entries"),
    );
}

#[test]
fn an_xz_states_how_much_memory_it_needs() {
    let described = json!({"format": "tar.xz", "entries": [{"name": "main.tf", "text": "x"}]});
    let mut bytes = archive(&described);
    assert!(read(ArchiveKind::TarXz, bytes.clone()).is_ok());
    // Behind the header of the stream is that of the block: its length, flags, the filter with its
    // property, and a checksum.
    const BLOCK: usize = 12;
    let length = (usize::from(bytes[BLOCK]) + 1) * 4;
    let filter = bytes[BLOCK..BLOCK + length]
        .windows(2)
        .position(|two| two == [0x21, 1]);
    let property = BLOCK + filter.expect("the filter LZMA2") + 2;
    // A dictionary of 4 GiB.
    bytes[property] = 40;
    let end = BLOCK + length - 4;
    let checksum = crc32fast::hash(&bytes[BLOCK..end]).to_le_bytes();
    bytes[end..end + 4].copy_from_slice(&checksum);
    let error = read(ArchiveKind::TarXz, bytes)
        .expect_err("refused")
        .to_string();
    error.has("memory");
}

#[test]
fn a_zip_bomb_does_not_go_off() {
    let mut entry = Entry::file("main.tf", "x").deflated();
    entry.stated_size = Some(u32::MAX);
    let limit = 256 << 20;
    let message = format!(
        "the zip would unpack to {} bytes, more than {limit}",
        u64::from(u32::MAX)
    );
    refused(ArchiveKind::Zip, Zip::of([entry]).bytes(), &message);
    let mut lies = Entry::file("main.tf", vec![0; 1 << 20]).deflated();
    lies.stated_size = Some(10);
    refused(
        ArchiveKind::Zip,
        Zip::of([lies]).bytes(),
        "the entry \"main.tf\" is damaged: it has more than the stated 10 bytes",
    );
    let first = Entry::file("a.tf", vec![0; 1 << 20]).deflated();
    let mut second = Entry::file("b.tf", vec![0; 1 << 20]).deflated();
    second.header_at = Some(0);
    let error = read(ArchiveKind::Zip, Zip::of([first, second]).bytes()).expect_err("refused");
    assert!(error.to_string().contains("overlaps"), "{error}");
}

#[test]
fn no_name_and_no_link_leads_out() {
    for format in ["zip", "tar.gz"] {
        let kind = match format {
            "zip" => ArchiveKind::Zip,
            _ => ArchiveKind::TarGz,
        };
        let made = |entries: serde_json::Value| {
            read(
                kind,
                archive(&json!({"format": format, "entries": entries})),
            )
        };
        for name in [
            "../evil.tf",
            "a/../../evil.tf",
            "a\\..\\..\\evil.tf",
            "/../evil.tf",
        ] {
            let error = made(json!([{"name": name, "text": ""}])).expect_err("refused");
            assert!(
                error.to_string().contains("has a path part \"..\""),
                "{format}: {error}"
            );
        }
        let tree = made(json!([
            {"name": "/etc/evil.tf", "text": "x"},
            {"name": "l.tf", "link": "/etc/passwd"},
            {"name": "h.tf", "hard": "../../etc/passwd"},
        ]));
        let tree = tree.expect("read");
        assert_eq!(tree.read(Path::new("etc/evil.tf"), 9).unwrap(), b"x");
        for name in ["l.tf", "h.tf"] {
            let text = tree.read(Path::new(name), 1 << 10).unwrap();
            assert!(!text.starts_with(b"root:"), "{format}: {name}");
        }
        // A link to a directory and then a file in it: the way out of many unpackers.
        let error = made(json!([
            {"name": "d", "link": "/tmp"},
            {"name": "d/evil.tf", "text": "x"},
        ]));
        let error = error.expect_err("refused").to_string();
        assert!(
            error.contains("is a file and a directory"),
            "{format}: {error}"
        );
    }
}
