//! The recorded cases of the group `hashing`: zips, directories, and what a lock lets through.
//!
//! All four programs behave alike in this group, which the file says of itself.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Cursor};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lockctl::archive::dir::{DirHashes, hash_directory};
use lockctl::archive::zip::{Oddity, ZipHashes, hash_zip};
use lockctl::archive::{ArchiveError, EntryFault, FileDigest, Limits, has_executable};
use lockctl::hash::{CheckedPackage, Hash, Hashes, Match, matches, zh};
use serde_json::Value;

use lockctl::os::RealDisk;
use lockctl::parallel::cores;

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/cases/hashing.json");

/// The type of the provider in all cases.
const TYPE_NAME: &str = "x";

#[test]
fn the_recorded_cases_hold() {
    let text = fs::read_to_string(CASES).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    for program in [
        "opentofu_1_12_6",
        "terraform_1_15_9",
        "terraform_1_16_0_rc2",
    ] {
        assert_eq!(file[program]["different"], 0, "{program}");
    }
    let mut kinds = BTreeSet::new();
    for case in file["cases"].as_array().unwrap() {
        let kind = text_of(&case["kind"]);
        match kind {
            "zip" => check_zip(case),
            "dir" => check_directory(case),
            "match" => check_match(case),
            other => panic!("unknown kind {other}"),
        }
        kinds.insert(kind);
    }
    assert_eq!(kinds, BTreeSet::from(["dir", "match", "zip"]));
}

/// Which of our errors stands for which recorded reason.
fn fits(why: &str, error: &ArchiveError) -> bool {
    let fault = match error {
        ArchiveError::Entry { fault, .. } => Some(*fault),
        _ => None,
    };
    let is = |wanted| fault == Some(wanted);
    match why {
        // Truly encrypted data is longer than stated; that is all the programs see of it.
        "not-a-zip" => matches!(error, ArchiveError::NotAZip { .. }) || is(EntryFault::Encrypted),
        "empty-archive" => matches!(error, ArchiveError::Empty),
        "dotdot-entry" => is(EntryFault::ParentInName),
        "name-too-long" => is(EntryFault::NameTooLong),
        "newline-in-name" => matches!(error, ArchiveError::LineFeedInName(_)),
        "unsupported-compression" => matches!(fault, Some(EntryFault::UnsupportedMethod(_))),
        "zip-crc-error" => matches!(fault, Some(EntryFault::Checksum { .. })),
        "is-a-directory" => matches!(error, ArchiveError::LinkToDirectory { .. }),
        "no-such-file" => match error {
            ArchiveError::Path { cause, .. } => cause.kind() == io::ErrorKind::NotFound,
            _ => false,
        },
        // Terraform waits for a FIFO for ever, and fails to open a socket.
        "hangs" | "no-such-device" => matches!(error, ArchiveError::NotRegular { .. }),
        other => panic!("unknown reason {other}"),
    }
}

#[track_caller]
fn check_zip(case: &Value) {
    let id = text_of(&case["id"]);
    let bytes = STANDARD.decode(text_of(&case["zip_base64"])).unwrap();
    assert_eq!(zh(&*bytes).unwrap(), hash(&case["zh"]), "{id}");
    let outcome = hash_zip(Cursor::new(&bytes), &Limits::PACKAGE);
    if case["init_without_lock"]["ok"] == true {
        check_good_zip(case, &outcome.unwrap_or_else(|e| panic!("{id}: {e}")));
        return;
    }
    let why = text_of(&case["init_without_lock"]["why"]);
    for lock in ["lock_with_h1_of_zip_members", "lock_with_zh"] {
        if !case[lock].is_null() {
            assert_eq!(case[lock]["why"], why, "{id}");
        }
    }
    match outcome {
        Ok(found) => {
            assert_eq!(why, "no-executable", "{id}");
            assert!(!holds_program(&found.files), "{id}");
            assert_eq!(found.member_h1, hash(&case["h1_of_zip_members"]), "{id}");
        }
        Err(error) => assert!(fits(why, &error), "{id}: {why} became {error:?}"),
    }
}

#[track_caller]
fn check_good_zip(case: &Value, found: &ZipHashes) {
    let id = text_of(&case["id"]);
    assert!(holds_program(&found.files), "{id}");
    assert_eq!(found.zh, hash(&case["zh"]), "{id}");
    assert_eq!(found.h1, hash(&case["h1_recorded"]), "{id}");
    assert_eq!(found.member_h1, hash(&case["h1_of_zip_members"]), "{id}");
    let agree = case["zip_and_directory_h1_agree"] == true;
    let warned = found.oddities.contains(&Oddity::HashesDiffer);
    assert_eq!(
        (found.h1 == found.member_h1, !warned),
        (agree, agree),
        "{id}"
    );

    let recorded = assembled(&Hashes::default(), &found.h1);
    assert_eq!(
        recorded,
        hashes(&case["init_without_lock"]["hashes"]),
        "{id}"
    );
    let again = from_zip(&recorded, found);
    assert_eq!(
        case["init_again_from_that_lock"]["ok"],
        again.accepted(),
        "{id}"
    );
    for (lock, own) in [
        ("lock_with_h1_of_zip_members", &found.member_h1),
        ("lock_with_zh", &found.zh),
    ] {
        let lock = &case[lock];
        let recorded = Hashes::from_iter([own.clone()]);
        assert_eq!(
            from_zip(&recorded, found),
            Match::Matched(own.clone()),
            "{id}"
        );
        assert_eq!(lock["accepted"], true, "{id}");
        assert_eq!(
            assembled(&recorded, &found.h1),
            hashes(&lock["hashes_after"]),
            "{id}"
        );
    }
}

/// Checks a directory, if it can be built on this system.
#[track_caller]
#[allow(clippy::print_stderr, reason = "a skipped case must be seen")]
fn check_directory(case: &Value) {
    let id = text_of(&case["id"]);
    let temp = crate::temp::dir();
    let package = temp.path().join("package");
    if !build_tree(&case["tree"], &package) {
        eprintln!("skipped: {id} needs Unix");
        return;
    }
    let expected = &case["init_without_lock"];
    match hash_directory(&RealDisk, &package, &Limits::PACKAGE, cores()) {
        Ok(found) if expected["ok"] == true => {
            let recorded = assembled(&Hashes::default(), &found.h1);
            assert_eq!(recorded, hashes(&expected["hashes"]), "{id}");
            assert!(holds_program(&found.files), "{id}");
        }
        Ok(DirHashes { files, .. }) => {
            assert_eq!(expected["why"], "no-executable", "{id}");
            assert!(!holds_program(&files), "{id}");
        }
        Err(error) => {
            assert_eq!(expected["ok"], false, "{id}: {error}");
            let why = text_of(&expected["why"]);
            assert!(fits(why, &error), "{id}: {why} became {error:?}");
        }
    }
}

#[track_caller]
fn check_match(case: &Value) {
    let id = text_of(&case["id"]);
    let bytes = STANDARD.decode(text_of(&case["zip_base64"])).unwrap();
    let found = hash_zip(Cursor::new(&bytes), &Limits::PACKAGE).unwrap();
    assert_eq!(found.h1, hash(&case["package_h1"]), "{id}");
    assert_eq!(found.zh, hash(&case["package_zh"]), "{id}");
    let recorded = hashes(&case["lock_hashes"]);
    let unpacked = matches(&recorded, &CheckedPackage::Unpacked { h1: &found.h1 });
    for (expected, outcome) in [
        (&case["from_zip"], from_zip(&recorded, &found)),
        (&case["from_directory"], unpacked),
    ] {
        assert_eq!(
            expected["accepted"],
            outcome.accepted(),
            "{id}: {outcome:?}"
        );
        if outcome.accepted() {
            let after = hashes(&expected["hashes_after"]);
            assert_eq!(assembled(&recorded, &found.h1), after, "{id}");
        } else {
            assert_eq!(expected["why"], "checksum-mismatch", "{id}");
        }
    }
}

fn from_zip(recorded: &Hashes, found: &ZipHashes) -> Match {
    let package = CheckedPackage::Zip {
        zh: &found.zh,
        member_h1: &found.member_h1,
    };
    matches(recorded, &package)
}

/// The entry after an install from a mirror: known hashes stay, and the directory hash joins them.
fn assembled(recorded: &Hashes, h1: &Hash) -> Hashes {
    recorded.known().chain([h1]).cloned().collect()
}

fn holds_program(files: &[FileDigest]) -> bool {
    has_executable(files.iter().map(|file| &*file.name), TYPE_NAME)
}

#[cfg(unix)]
fn build_tree(tree: &Value, package: &Path) -> bool {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    let is_link = tree["package_dir_is_symlink"] == true;
    let real = package.with_file_name(if is_link { "real" } else { "package" });
    fs::create_dir(&real).unwrap();
    if is_link {
        symlink(&real, package).unwrap();
    }
    fs::write(package.with_file_name("outside.txt"), "out").unwrap();
    for (name, content) in tree["files"].as_object().unwrap() {
        let path = real.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text_of(content)).unwrap();
    }
    for (name, target) in tree["symlinks"].as_object().into_iter().flatten() {
        symlink(text_of(target), real.join(name)).unwrap();
    }
    for name in items(&tree["empty_dirs"]) {
        fs::create_dir_all(real.join(text_of(name))).unwrap();
    }
    for name in items(&tree["fifos"]) {
        let made = std::process::Command::new("mkfifo")
            .arg(real.join(text_of(name)))
            .status();
        assert!(made.unwrap().success());
    }
    for name in items(&tree["sockets"]) {
        UnixListener::bind(real.join(text_of(name))).unwrap();
    }
    true
}

#[cfg(not(unix))]
fn build_tree(_tree: &Value, _package: &Path) -> bool {
    false
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

#[track_caller]
fn text_of(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[track_caller]
fn hash(text: &Value) -> Hash {
    text_of(text).parse().unwrap()
}

#[track_caller]
fn hashes(list: &Value) -> Hashes {
    list.as_array().unwrap().iter().map(hash).collect()
}
