//! Bundles that are written, and other archives, which are refused.

use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use tar::{EntryType, Header};

use super::manifest::Manifest;
use super::{
    Bundle, BundleError, BundledLock, BundledPackage, MANIFEST_NAME, MAX_MANIFEST_BYTES,
    MAX_MEMBER_BYTES, MAX_MEMBERS, MAX_NAME_BYTES, member,
};
use crate::flavor::Flavor;
use crate::hash;
use crate::package::PackageId;

const CONTENT: &[u8] = b"a zip";

fn package(version: &str) -> BundledPackage {
    let provider = crate::addr::ProviderAddr::parse("acme/demo", Flavor::Terraform1_11);
    BundledPackage {
        id: PackageId {
            provider: provider.expect("an address"),
            version: version.parse().expect("a version"),
            platform: "linux_amd64".parse().expect("a platform"),
        },
        zh: hash::zh(CONTENT).expect("memory"),
        h1: format!("h1:{}=", "A".repeat(43)).parse().expect("a hash"),
        bytes: CONTENT.len() as u64,
    }
}

fn manifest(packages: &[BundledPackage]) -> Manifest {
    Manifest {
        base: Some("07".repeat(32)),
        lock_files: vec![BundledLock {
            path: "a/.terraform.lock.hcl".to_owned(),
            sha256: "01".repeat(32),
        }],
        packages: packages.to_vec(),
        left_out: vec![package("0.1.0")],
        ..Manifest::default()
    }
}

/// A member with its padding.
fn file(name: &str, content: &[u8]) -> Vec<u8> {
    let header = member::header(name, content.len() as u64).expect("a short name");
    let mut bytes = [&header, content].concat();
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

/// A member of another kind, or with another size than it has.
fn changed(name: &str, content: &[u8], change: impl Fn(&mut Header)) -> Vec<u8> {
    let mut bytes = file(name, content);
    let mut header = Header::from_byte_slice(&bytes[..512]).clone();
    change(&mut header);
    header.set_cksum();
    bytes[..512].copy_from_slice(header.as_bytes());
    bytes
}

fn of_kind(kind: EntryType) -> Vec<u8> {
    changed("x", b"", |header| header.set_entry_type(kind))
}

/// An extended header with pax records, which are written unchanged.
fn extended(records: &str) -> Vec<u8> {
    changed("x", records.as_bytes(), |header| {
        header.set_entry_type(EntryType::XHeader);
    })
}

/// The manifest of one package.
fn front() -> Vec<u8> {
    let manifest = manifest(&[package("1.0.0")]);
    file(MANIFEST_NAME, &manifest.to_bytes().expect("small"))
}

fn zip() -> Vec<u8> {
    file(&package("1.0.0").name(), CONTENT)
}

fn archive(members: &[Vec<u8>]) -> Vec<u8> {
    [members.concat(), member::END.to_vec()].concat()
}

fn read(bytes: &[u8]) -> Result<Bundle, BundleError> {
    Bundle::read(Cursor::new(bytes), Path::new("b.tar"))
}

#[track_caller]
fn refused(bytes: &[u8], wanted: &str) {
    let error = read(bytes).expect_err("it is refused");
    let text = error.to_string();
    assert!(text.contains(wanted), "{text}, not {wanted}");
}

#[test]
fn what_is_written_is_read() {
    let bytes = archive(&[front(), zip()]);
    let bundle = read(&bytes).expect("it is sound");
    assert_eq!(bundle.manifest, manifest(&[package("1.0.0")]));
    let (found, range) = bundle.packages().next().expect("a package");
    assert_eq!(*found, package("1.0.0"));
    let range = usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
    assert_eq!(&bytes[range], CONTENT);
    // Programs that write tars pad their last record.
    let padded = [&bytes[..], &[0; 9 * 1024]].concat();
    assert!(read(&padded).is_ok());
}

#[test]
fn a_long_name_is_in_a_record() {
    let long = format!("1.0.0-{}", "a".repeat(300));
    let long = package(&long);
    let manifest = manifest(std::slice::from_ref(&long));
    let front = file(MANIFEST_NAME, &manifest.to_bytes().expect("small"));
    let bytes = archive(&[front, file(&long.name(), CONTENT)]);
    let bundle = read(&bytes).expect("it is sound");
    assert_eq!(bundle.packages().next().expect("a package").0.id, long.id);
    let too_long = "a".repeat(usize::try_from(MAX_NAME_BYTES).unwrap());
    assert!(member::header(&too_long, 0).is_err());
}

#[test]
fn no_part_of_a_bundle_is_a_bundle() {
    let bytes = archive(&[front(), zip()]);
    let content_end = front().len() + 512 + CONTENT.len();
    for length in 0..bytes.len() {
        assert!(read(&bytes[..length]).is_err(), "{length} bytes");
    }
    refused(&bytes[..bytes.len() - 512], "before the end of an archive");
    refused(&[&bytes[..], b"more"].concat(), "bytes behind the end");
    refused(&[&bytes[..], &[0; 64 * 1024]].concat(), "bytes behind");
    refused(&bytes[..100], "it has no valid header");
    refused(&bytes[..front().len() + 9], "it has no valid header");
    refused(
        &bytes[..content_end - 2],
        "demo_1.0.0_linux_amd64.zip\" goes beyond",
    );
}

#[test]
fn the_manifest_comes_first() {
    refused(&archive(&[]), "its first member is no manifest");
    refused(&archive(&[zip(), front()]), "its first member is no");
    refused(&archive(&[front(), front()]), "is not in its manifest");
    refused(&[b'x'; 2048], "no valid header");
    let mut flipped = archive(&[front(), zip()]);
    flipped[0] ^= 1;
    refused(&flipped, "no valid header");
}

#[test]
fn members_are_files_that_the_manifest_names() {
    let path = |name: &str| member::record("path", name);
    let with = |member: Vec<u8>| archive(&[front(), member, zip()]);
    let rows: &[(Vec<u8>, &str)] = &[
        (of_kind(EntryType::Symlink), "is not a regular file"),
        (of_kind(EntryType::Directory), "is not a regular file"),
        (of_kind(EntryType::GNUSparse), "is not a regular file"),
        (of_kind(EntryType::XGlobalHeader), "is not a regular file"),
        (of_kind(EntryType::GNULongName), "is not a regular file"),
        (
            [extended(&path("a")), extended(&path("b"))].concat(),
            "is not a regular file",
        ),
        (extended(&path("../a")), "is not in its manifest"),
        (
            extended(&[path("a"), path("b")].concat()),
            "states something",
        ),
        (extended(&member::record("size", "12")), "states something"),
        (
            extended(&member::record("GNU.sparse.major", "1")),
            "states something",
        ),
        (extended("99 path=a\n"), "states something"),
        (extended("what"), "states something"),
        (extended(""), "states something"),
        (extended(&path(&"x".repeat(5000))), "more than 4096 bytes"),
        (file("other", b""), "\"other\" is not in its manifest"),
        (zip(), "twice"),
    ];
    for (member, wanted) in rows {
        refused(&with(member.clone()), wanted);
    }
    refused(&archive(&[front()]), "is missing");
    let larger = file(&package("1.0.0").name(), b"a larger zip");
    refused(
        &archive(&[front(), larger]),
        "has another size than its manifest states",
    );
}

#[test]
fn names_do_not_lead_out() {
    for name in [
        "../a",
        "a/../../b",
        "/etc/passwd",
        "a//b",
        "a\\b",
        "c:x",
        "a/",
    ] {
        let member = changed("x", b"", |header| {
            let field = &mut header.as_old_mut().name;
            field.fill(0);
            field[..name.len()].copy_from_slice(name.as_bytes());
        });
        refused(&archive(&[front(), member]), "is not in its manifest");
    }
}

#[test]
fn sizes_do_not_lie() {
    for (size, wanted) in [
        (4096, "goes beyond the end"),
        (1 << 40, "goes beyond the end"),
        (u64::MAX, "no valid header"),
    ] {
        let member = changed("x", b"", |header| header.set_size(size));
        refused(&archive(&[front(), member]), wanted);
    }
    let no_number = changed("x", b"", |header| {
        header.as_old_mut().size = *b"not a number";
    });
    refused(&archive(&[front(), no_number]), "no valid header");
}

/// A file of a stated length, with zeros after its first bytes.
struct Zeros {
    first: Vec<u8>,
    at: u64,
    length: u64,
}

impl Read for Zeros {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        for byte in &mut *buffer {
            let at = usize::try_from(self.at).unwrap();
            *byte = self.first.get(at).copied().unwrap_or_default();
            self.at += 1;
        }
        Ok(buffer.len())
    }
}

impl Seek for Zeros {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::End(_) => self.length,
            SeekFrom::Current(_) => self.at,
        };
        Ok(self.at)
    }
}

#[test]
fn nothing_is_larger_than_its_limit() {
    let refused = |first: Vec<u8>, wanted: &str| {
        let tar = Zeros {
            first,
            at: 0,
            length: MAX_MEMBER_BYTES * 2,
        };
        let error = Bundle::read(tar, Path::new("b.tar")).expect_err("it is refused");
        assert!(error.to_string().contains(wanted), "{error}");
    };
    let manifest_header = member::header(MANIFEST_NAME, MAX_MANIFEST_BYTES + 1).expect("a name");
    refused(manifest_header, "more than 16777216 bytes of its manifest");
    let large = BundledPackage {
        bytes: MAX_MEMBER_BYTES + 1,
        ..package("1.0.0")
    };
    let manifest = manifest(std::slice::from_ref(&large));
    let too_large = "more than 4294967296 bytes of a package";
    let error = manifest.to_bytes().expect_err("too large").to_string();
    assert!(error.ends_with(too_large), "{error}");
    let text = manifest.to_bytes_unchecked();
    let header = member::header(&large.name(), large.bytes).expect("a name");
    refused([file(MANIFEST_NAME, &text), header].concat(), too_large);
}

fn manifest_text() -> String {
    let text = manifest(&[package("1.0.0")]).to_bytes().expect("small");
    String::from_utf8(text).expect("text")
}

#[test]
fn a_manifest_is_read_with_suspicion() {
    let text = manifest_text();
    let rows = [
        (
            "\"format_version\": \"1.0\"",
            "\"format_version\": \"2.0\"",
            "format version \"2.0\"",
        ),
        ("\"bytes\": 5", "\"bytes\": -5", "cannot be read"),
        ("\"left_out\"", "\"other\"", "cannot be read"),
        ("\"linux_amd64\"", "\"linux\"", "where a platform should be"),
        (
            "\"version\": \"1.0.0\"",
            "\"version\": \"x\"",
            "where a version should be",
        ),
        ("zh:", "zh:0", "where a zh: hash should be"),
        ("h1:", "h1:A", "where an h1: hash should be"),
        (
            "io/acme/demo/terraform",
            "io/../demo/terraform",
            "where the name of its package",
        ),
        (
            "\"provider\": \"registry.terraform.io/",
            "\"provider\": \"",
            "full address",
        ),
        ("\"base\": \"07", "\"base\": \"\\u001b", "\"\\u{1b}"),
        (
            "\"sha256\": \"01",
            "\"sha256\": \"x1",
            "where a SHA-256 should be",
        ),
    ];
    for (old, new, wanted) in rows {
        let changed = text.replace(old, new);
        assert_ne!(changed, text, "{old}");
        refused(
            &archive(&[file(MANIFEST_NAME, changed.as_bytes()), zip()]),
            wanted,
        );
    }
    refused(
        &archive(&[file(MANIFEST_NAME, b"{}"), zip()]),
        "cannot be read",
    );
}

#[test]
fn a_manifest_may_have_more_fields_and_is_in_order() {
    let later = manifest_text().replace("\"1.0\"", "\"1.7\", \"note\": 1");
    assert!(read(&archive(&[file(MANIFEST_NAME, later.as_bytes()), zip()])).is_ok());
    for versions in [["1.0.0", "1.0.0"], ["2.0.0", "1.0.0"]] {
        let unsorted = manifest(&versions.map(package)).to_bytes().expect("small");
        refused(
            &archive(&[file(MANIFEST_NAME, &unsorted), zip()]),
            "twice, or not in its place",
        );
    }
}

#[test]
fn a_manifest_names_a_bounded_number() {
    let lock = BundledLock {
        path: "a".to_owned(),
        sha256: String::new(),
    };
    let locks = Manifest {
        lock_files: vec![lock; MAX_MEMBERS + 1],
        ..Manifest::default()
    };
    let packages = Manifest {
        packages: vec![package("1.0.0"); MAX_MEMBERS / 2 + 1],
        left_out: vec![package("1.0.0"); MAX_MEMBERS / 2],
        ..Manifest::default()
    };
    for (manifest, wanted) in [(locks, "lock files"), (packages, "packages")] {
        let error = manifest.to_bytes().expect_err("too many").to_string();
        assert!(
            error.ends_with(&format!("more than 30000 {wanted} in its manifest")),
            "{error}"
        );
        let text = manifest.to_bytes_unchecked();
        refused(&archive(&[file(MANIFEST_NAME, &text)]), &error);
    }
}

/// A bundle leaves out the packages that any bundle of its chain has.
#[test]
fn packages_of_earlier_bundles_are_left_out() {
    let other = |version: &str, content: &[u8]| BundledPackage {
        zh: hash::zh(content).expect("memory"),
        ..package(version)
    };
    let (first, second, third) = (
        other("1.0.0", b"1"),
        other("1.1.0", b"2"),
        other("1.2.0", b"3"),
    );
    let base = Manifest {
        packages: vec![second.clone()],
        left_out: vec![first.clone()],
        ..Manifest::default()
    };
    let all = vec![first.clone(), second.clone(), third.clone()];
    assert_eq!(
        Manifest::split(all.clone(), None),
        [all.clone(), Vec::new()]
    );
    assert_eq!(
        Manifest::split(all, Some(&base)),
        [vec![third], vec![first, second]]
    );
}
