use std::io::{Cursor, Write};
use std::path::Path;

use bzip2::write::BzEncoder;
use flate2::write::GzEncoder;
use tar::Header;

use super::*;
use crate::flavor::Flavor;
use crate::world::mem::slashed;
use crate::world::{FileKind, Files};

/// Makes a tar of names with types and contents.
fn tar(entries: &[(&str, u8, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, kind, content) in entries {
        // The builder of the crate refuses the names that matter here.
        let mut header = Header::new_ustar();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_mode(0o644);
        header.set_size(content.len() as u64);
        header.as_mut_bytes()[156] = *kind;
        header.set_cksum();
        out.extend_from_slice(header.as_bytes());
        out.extend_from_slice(content);
        out.resize(out.len().next_multiple_of(512), 0);
    }
    out.resize(out.len() + 1024, 0);
    out
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("in memory");
    encoder.finish().expect("in memory")
}

fn read(kind: ArchiveKind, bytes: Vec<u8>) -> Result<PackageTree, PackageError> {
    read_archive(kind, Box::new(Cursor::new(bytes)))
}

/// Shows the files with their contents, or the error.
fn shown(read: Result<PackageTree, PackageError>) -> String {
    let tree = match read {
        Ok(tree) => tree,
        Err(error) => return format!("! {error}"),
    };
    let mut all = Vec::new();
    show_below(&tree, Path::new(""), &mut all);
    all.join(" ")
}

fn show_below(tree: &PackageTree, dir: &Path, all: &mut Vec<String>) {
    for entry in tree.list(dir).expect("a directory") {
        let path = dir.join(&entry.name);
        if entry.kind == FileKind::Directory {
            all.push(format!("{}/", slashed(&path)));
            show_below(tree, &path, all);
        } else {
            let bytes = tree.read(&path, 1 << 20).expect("kept");
            all.push(format!(
                "{}={}",
                slashed(&path),
                String::from_utf8_lossy(&bytes)
            ));
        }
    }
}

#[track_caller]
fn check(entries: &[(&str, u8, &[u8])], expected: &str) {
    let found = shown(read(ArchiveKind::TarGz, gz(&tar(entries))));
    assert_eq!(found, expected, "{entries:?}");
}

#[test]
fn a_tar_is_read_as_the_programs_unpack_it() {
    check(
        &[("a/b.tf", b'0', b"x"), ("./c/", b'5', b"")],
        "a/ a/b.tf=x c/",
    );
    check(&[("/abs", b'0', b"x")], "abs=x");
    // On Windows it is a separator.
    let name = if cfg!(windows) { "a/ a/b" } else { "a\\b" };
    check(&[("a\\b", 0, b"y")], &format!("{name}=y"));
    check(&[("a", b'0', b"1"), ("a", b'0', b"2")], "a=2");
    check(
        &[("a", b'0', b"1"), ("s", b'2', b""), ("h", b'1', b"")],
        "a=1 h= s=",
    );
    check(&[("dev", b'3', b""), ("fifo", b'6', b"")], "dev= fifo=");
    check(&[("d/", 0, b""), ("f", b'0', b"1")], "d/ f=1");
    check(
        &[("x/../a", b'0', b"")],
        "! the entry \"x/../a\" has a path part \"..\"",
    );
    check(
        &[("x\\..\\a", b'0', b"")],
        "! the entry \"x\\\\..\\\\a\" has a path part \"..\"",
    );
    check(&[("a..b", b'0', b"1")], "a..b=1");
    check(&[], "! the archive is empty");
    check(&[("d/", b'5', b"")], "! the archive is empty");
    check(
        &[("s", b'S', b"")],
        "! the entry \"s\" is a sparse file, which is not supported",
    );
}

#[test]
fn extended_headers_name_the_next_entry() {
    let long = "n/".repeat(60) + "x.tf";
    let pax = b"18 path=long/a.tf\n";
    check(
        &[
            ("g", b'g', b"12 comment=x"),
            ("p", b'x', pax),
            ("short", b'0', b"1"),
            ("b", b'0', b"2"),
        ],
        "b=2 long/ long/a.tf=1",
    );
    let named = [long.as_bytes(), b"\0"].concat();
    let bytes = gz(&tar(&[
        ("l", b'L', &named),
        ("k", b'K', b"target"),
        ("short", b'0', b"1"),
    ]));
    let tree = read(ArchiveKind::TarGz, bytes).expect("read");
    assert_eq!(tree.read(Path::new(&long), 9).expect("there"), b"1");
    check(
        &[("p", b'x', b"9 size=7\n"), ("a", b'0', b"1")],
        "! the entry \"a\" is an entry with two sizes, which is not supported",
    );
    check(&[("p", b'x', b"9 size=1\n"), ("a", b'0', b"1")], "a=1");
    let large = vec![b'x'; (1 << 20) + 1];
    check(
        &[("l", b'L', &large), ("a", b'0', b"1")],
        "! it is no valid tar.gz archive: a header has more than 1048576 bytes",
    );
}

#[test]
fn each_kind_is_unpacked() {
    let plain = tar(&[("main.tf", b'0', b"x")]);
    let mut bz2 = BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bz2.write_all(&plain).expect("in memory");
    let bz2 = bz2.finish().expect("in memory");
    for (kind, bytes) in [(ArchiveKind::TarGz, gz(&plain)), (ArchiveKind::TarBz2, bz2)] {
        assert_eq!(shown(read(kind, bytes.clone())), "main.tf=x");
        let found = ArchiveKind::of_content(Cursor::new(&bytes)).expect("read");
        assert_eq!(found, Some(kind));
        for other in [
            ArchiveKind::Zip,
            ArchiveKind::TarGz,
            ArchiveKind::TarBz2,
            ArchiveKind::TarXz,
        ] {
            let wrong = read(other, bytes.clone());
            assert_eq!(wrong.is_ok(), other == kind, "{kind:?} as {other:?}");
        }
        let cut = read(kind, bytes[..bytes.len() / 2].to_vec());
        assert!(
            matches!(cut, Err(PackageError::NotAnArchive { .. })),
            "{cut:?}"
        );
    }
    for bytes in [&b""[..], b"<html>", b"PK"] {
        assert_eq!(
            ArchiveKind::of_content(Cursor::new(bytes)).expect("read"),
            None
        );
        for kind in [
            ArchiveKind::Zip,
            ArchiveKind::TarGz,
            ArchiveKind::TarBz2,
            ArchiveKind::TarXz,
        ] {
            assert!(read(kind, bytes.to_vec()).is_err(), "{kind:?}");
        }
    }
}

#[test]
fn kinds_are_named_by_endings() {
    use ArchiveKind::{TarBz2, TarGz, TarXz, Zip};
    let archive = |kind| Some(NamedArchive::Archive(kind));
    let opentofu = Flavor::OpenTofu1_12;
    for (path, expected) in [
        ("/a.zip", archive(Zip)),
        ("a.tar.gz", archive(TarGz)),
        ("a.tgz", archive(TarGz)),
        ("a.tar.bz2", archive(TarBz2)),
        ("a.tar.tbz2", archive(TarBz2)),
        ("a.tar.xz", archive(TarXz)),
        ("a.txz", archive(TarXz)),
        ("a.gz", Some(NamedArchive::SingleFile)),
        (".zip", archive(Zip)),
        ("zip", None),
        ("azip", None),
        ("a.ZIP", None),
        ("a.tar", None),
        ("a.tbz2", None),
        ("a.zip/", None),
    ] {
        assert_eq!(NamedArchive::of_path(path, opentofu), expected, "{path}");
    }
    for flavor in [
        Flavor::Terraform1_11,
        Flavor::Terraform1_15,
        Flavor::Terraform1_16,
    ] {
        assert_eq!(NamedArchive::of_path("a.tbz2", flavor), archive(TarBz2));
        assert_eq!(NamedArchive::of_value("tbz2", flavor), archive(TarBz2));
    }
    assert_eq!(NamedArchive::of_value("tgz", opentofu), archive(TarGz));
    for value in ["a.zip", "", "false", "TGZ", "tbz2"] {
        assert_eq!(NamedArchive::of_value(value, opentofu), None, "{value}");
    }
}
