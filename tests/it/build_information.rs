//! Build information of programs that Go made, as `go version -m` prints it.

use std::fs;
use std::io::{Cursor, Read as _};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use lockctl::archive::zip::{hash_members, hash_members_and_contents};
use lockctl::archive::{Limits, has_executable};
use lockctl::contents::{ProgramContents, ProgramScanner};
use lockctl::hash::zh;

use crate::zips::{DEFLATED, Entry, Zip};

/// The directory that `scripts/make-buildinfo` filled.
pub(crate) const DIRECTORY: &str = "LOCKCTL_BUILDINFO";

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/buildinfo")
}

/// Returns the files with an ending, sorted, without it.
pub(crate) fn stems(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let mut stems: Vec<PathBuf> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .map(|path| path.with_extension(""))
        .collect();
    stems.sort();
    stems
}

/// Returns a recorded program, in which only its headers and its build information are left, and what Go prints of it.
pub(crate) fn recorded(stem: &Path) -> (Vec<u8>, String) {
    let packed = fs::read(stem.with_extension("gz")).unwrap();
    let mut program = Vec::new();
    GzDecoder::new(&packed[..])
        .read_to_end(&mut program)
        .unwrap();
    let printed = fs::read_to_string(stem.with_extension("want")).unwrap();
    (program, printed.replace("\r\n", "\n"))
}

fn printed(contents: &ProgramContents) -> String {
    contents.build_info().map_or_else(
        || "unknown\n".to_owned(),
        |info| format!("{}\n{info}", info.go_version),
    )
}

pub(crate) fn package(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = Zip::default();
    for (name, content) in entries {
        let mut entry = Entry::file(name, content);
        entry.method = DEFLATED;
        zip.entries.push(entry);
    }
    zip.bytes()
}

/// Reads a package of the provider `lab`; its hashes must be those that are computed without looking into it.
#[track_caller]
fn contents(package: &[u8]) -> ProgramContents {
    let hash = zh(package).unwrap();
    let read =
        hash_members_and_contents(hash.clone(), Cursor::new(package), &Limits::PACKAGE, "lab");
    let (hashes, contents) = read.unwrap();
    let plain = hash_members(hash, Cursor::new(package), &Limits::PACKAGE).unwrap();
    assert_eq!(hashes, plain);
    contents
}

#[test]
fn recorded_programs_are_read_as_go_reads_them() {
    let stems = stems(&fixtures(), "gz");
    assert!(stems.len() >= 4, "{stems:?}");
    for stem in stems {
        let (program, expected) = recorded(&stem);
        let package = package(&[
            ("LICENSE", b"none"),
            ("terraform-provider-lab_v1.0.0", &program),
        ]);
        assert_eq!(printed(&contents(&package)), expected, "{}", stem.display());
    }
}

#[test]
fn a_recorded_program_cut_anywhere_is_unknown() {
    let (program, _) = recorded(&fixtures().join("plain-darwin-arm64"));
    let mut scanner = ProgramScanner::new();
    let is_known = |scanner: &ProgramScanner| scanner.clone().finish() != ProgramContents::Unknown;
    let mut known_from = None;
    for (at, byte) in program.iter().enumerate() {
        scanner.push(&[*byte]);
        // The first bytes are read when the program ends, so that a copy for each would take long.
        if at % 997 == 0 || at + 4096 > program.len() {
            assert!(
                known_from.is_none() || is_known(&scanner),
                "known, then unknown at {at}"
            );
            if known_from.is_none() && is_known(&scanner) {
                known_from = Some(at);
            }
        }
    }
    assert!(
        known_from.is_some_and(|at| at > program.len() - 3000),
        "{known_from:?}"
    );
}

#[test]
fn the_program_is_chosen_as_the_programs_do() {
    let (program, expected) = recorded(&fixtures().join("plain-windows-386"));
    #[track_caller]
    fn check(entries: &[(&str, &[u8])], expected: &str) {
        assert_eq!(printed(&contents(&package(entries))), expected);
    }
    const SCRIPT: &[u8] = b"#!/bin/sh\nexec true\n";
    check(&[("terraform-provider-lab.exe", &program)], &expected);
    check(
        &[
            ("terraform-provider-lab_v1", SCRIPT),
            ("terraform-provider-lab_v0", &program),
        ],
        &expected,
    );
    // A later entry of the same name takes the place of the first.
    let twice: &[(&str, &[u8])] = &[
        ("terraform-provider-lab", SCRIPT),
        ("./terraform-provider-lab", &program),
    ];
    check(twice, &expected);
    for name in [
        "terraform-provider-lab-x",
        "bin/terraform-provider-lab",
        "other",
    ] {
        assert!(!has_executable([name.as_bytes()], "lab"));
        check(&[(name, &program)], "unknown\n");
    }
    check(
        &[
            ("terraform-provider-lab", SCRIPT),
            ("terraform-provider-lab_v1", &program),
        ],
        "unknown\n",
    );
    check(&[("terraform-provider-lab", b"")], "unknown\n");
}

#[test]
fn built_programs_are_read_as_go_reads_them() {
    let Some(dir) = std::env::var_os(DIRECTORY) else {
        println!("skipped: {DIRECTORY} does not name what scripts/make-buildinfo built");
        return;
    };
    let stems = stems(Path::new(&dir), "want");
    let mut known = 0;
    for stem in &stems {
        let package = fs::read(stem.with_extension("zip")).unwrap();
        let expected = fs::read_to_string(stem.with_extension("want")).unwrap();
        let contents = contents(&package);
        assert_eq!(printed(&contents), expected, "{}", stem.display());
        known += usize::from(contents != ProgramContents::Unknown);
    }
    println!("{} packages, {known} known", stems.len());
    assert!(known >= 60, "only {known} programs");
}
