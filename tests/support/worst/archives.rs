//! Zips of packages and modules, and compressed tars.

use std::io::{Cursor, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;
use lockctl::archive::Limits;
use lockctl::archive::zip::hash_zip;
use lockctl::modules::archive::{ArchiveKind, read_archive};

use super::{Case, Reader, Work, case};
use crate::zips::{Entry, Zip};

/// Entries of a zip of so many bytes, each with a header and a place in the list.
const ENTRY_BYTES: usize = 110;

const ZIPS: &[Case] = &[
    case("many", "empty files", |bytes| {
        zip(bytes / ENTRY_BYTES, |n| Entry::file(format!("f{n}"), ""))
    }),
    case("many", "directories", |bytes| {
        zip(bytes / ENTRY_BYTES, |n| Entry::directory(format!("d{n}/")))
    }),
    case("many", "configuration", |bytes| {
        zip(bytes / (ENTRY_BYTES + 20), |n| {
            Entry::file(format!("f{n}.tf"), "# 0123456789abcdef\n")
        })
    }),
    case("deep", "directories", |bytes| {
        let dirs = "d/".repeat(100);
        zip(bytes / (ENTRY_BYTES + 400), |n| {
            Entry::file(format!("{n}/{dirs}f"), "")
        })
    }),
    case("wide", "names", |bytes| {
        let name = "n".repeat(200);
        zip(bytes / (ENTRY_BYTES + 400), |n| {
            Entry::file(format!("{n}{name}"), "")
        })
    }),
    case("wide", "extra fields", |bytes| {
        zip(bytes / 60_100, |n| {
            Entry::file(format!("f{n}"), "").with(|entry| entry.extra = vec![0; 30_000])
        })
    }),
    case("long", "stored file", |bytes| {
        zip(1, |_| Entry::file("f", vec![b'x'; bytes]))
    }),
    case("long", "configuration", |bytes| {
        zip(1, |_| Entry::file("f.tf", vec![b'\n'; bytes]))
    }),
    case("long", "deflated file", |bytes| {
        zip(1, |_| Entry::file("f", vec![b'x'; bytes]).deflated())
    }),
    case("long", "deflated configuration", |bytes| {
        zip(1, |_| Entry::file("f.tf", vec![b'\n'; bytes]).deflated())
    }),
    case("repetitive", "one name", |bytes| {
        zip(bytes / ENTRY_BYTES, |_| Entry::file("f", ""))
    }),
    case("repetitive", "beginnings", |bytes| {
        b"PK\x03\x04".repeat(bytes / 4)
    }),
    case("repetitive", "ends", |bytes| {
        b"PK\x05\x06".repeat(bytes / 4)
    }),
    case("repetitive", "zeros", |bytes| vec![0; bytes]),
    case("almost right", "overlapping entries", |bytes| {
        zip(bytes / ENTRY_BYTES, |n| {
            Entry::file(format!("f{n}"), "").with(|entry| entry.header_at = Some(0))
        })
    }),
    case("almost right", "names that differ in case", |bytes| {
        zip(bytes / ENTRY_BYTES, |n| {
            Entry::file(
                format!("{}{}", if n % 2 == 0 { "f" } else { "F" }, n / 2),
                "",
            )
        })
    }),
];

const TARS: &[Case] = &[
    case("many", "empty files", |bytes| {
        tar(bytes / 512, |n| (format!("f{n}"), Vec::new()))
    }),
    case("many", "configuration", |bytes| {
        tar(bytes / 1024, |n| (format!("f{n}.tf"), b"# x\n".to_vec()))
    }),
    case("deep", "directories", |bytes| {
        tar(bytes / 512, |n| {
            (format!("{n}/{}f", "d/".repeat(45)), Vec::new())
        })
    }),
    case("wide", "directories of one file", |bytes| {
        tar(bytes / 512, |n| (format!("d{n}/f"), Vec::new()))
    }),
    case("long", "file", |bytes| {
        tar(1, |_| ("f".to_owned(), vec![b'x'; bytes]))
    }),
    case("long", "configuration", |bytes| {
        tar(1, |_| ("f.tf".to_owned(), vec![b'\n'; bytes]))
    }),
    case("long", "name", |bytes| {
        let mut header = header("././@LongLink", bytes, b'L');
        header.extend(vec![b'n'; bytes.next_multiple_of(512)]);
        header
    }),
    case("repetitive", "one name", |bytes| {
        tar(bytes / 512, |_| ("f".to_owned(), Vec::new()))
    }),
    case("repetitive", "zeros", |bytes| vec![0; bytes]),
    case("repetitive", "headers of more", |bytes| {
        let text = "12 path=abc\n";
        let mut one = header("x", text.len(), b'x');
        one.extend(text.bytes());
        one.resize(one.len().next_multiple_of(512), 0);
        one.repeat(bytes / one.len())
    }),
    case("almost right", "links in a circle", |bytes| {
        numbered_headers(bytes, |n| {
            let mut header = header(&format!("l{n}"), 0, b'2');
            let target = format!("l{}", n + 1);
            header[157..157 + target.len()].copy_from_slice(target.as_bytes());
            with_checksum(header)
        })
    }),
    case("almost right", "checksums", |bytes| {
        let mut header = header("f", 0, b'0');
        header[150] ^= 1;
        header.repeat(bytes / 512)
    }),
];

pub(super) fn readers() -> Vec<Reader> {
    vec![
        Reader::library("zip of a package", package, ZIPS),
        Reader::library("zip of a module", module_zip, ZIPS),
        Reader::library("tar of a module, gzip", module_gz, TARS),
        Reader::library("tar of a module, bzip2", module_bz2, TARS),
        Reader::library("tar of a module, xz", module_xz, TARS),
    ]
}

fn package(input: Vec<u8>) -> Work {
    Box::new(move || drop(hash_zip(Cursor::new(input), &Limits::PACKAGE)))
}

fn module_zip(input: Vec<u8>) -> Work {
    module(ArchiveKind::Zip, input)
}

fn module_gz(input: Vec<u8>) -> Work {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&input).expect("memory");
    module(ArchiveKind::TarGz, encoder.finish().expect("memory"))
}

fn module_bz2(input: Vec<u8>) -> Work {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(&input).expect("memory");
    module(ArchiveKind::TarBz2, encoder.finish().expect("memory"))
}

fn module_xz(input: Vec<u8>) -> Work {
    let options = lzma_rust2::XzOptions::with_preset(1);
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).expect("options");
    encoder.write_all(&input).expect("memory");
    module(ArchiveKind::TarXz, encoder.finish().expect("memory"))
}

fn module(kind: ArchiveKind, input: Vec<u8>) -> Work {
    Box::new(move || drop(read_archive(kind, Box::new(Cursor::new(input)))))
}

fn zip(count: usize, entry: impl Fn(usize) -> Entry) -> Vec<u8> {
    // Without zip64 a list has no more entries.
    Zip::of((0..count.clamp(1, 65_000)).map(entry)).bytes()
}

fn tar(count: usize, file: impl Fn(usize) -> (String, Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    for number in 0..count.max(1) {
        let (name, content) = file(number);
        bytes.extend(header(&name, content.len(), b'0'));
        bytes.extend(&content);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
    }
    bytes.extend([0; 1024]);
    bytes
}

fn numbered_headers(bytes: usize, header: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
    (0..bytes / 512).flat_map(header).collect()
}

/// A header of a tar: name, size and type, with its checksum.
fn header(name: &str, size: usize, kind: u8) -> Vec<u8> {
    let mut header = vec![0; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[100..108].copy_from_slice(b"0000644\0");
    header[124..136].copy_from_slice(format!("{size:011o}\0").as_bytes());
    header[156] = kind;
    header[257..265].copy_from_slice(b"ustar\x0000");
    with_checksum(header)
}

fn with_checksum(mut header: Vec<u8>) -> Vec<u8> {
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}
