//! `verify`: packages that somebody tampered with, and packages made to do harm.

use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use lockctl::flavor::Flavor;
use lockctl::os::RealDisk;
use lockctl::world::{DirEntry, FileKind, Files, ReadSeek};

use super::*;
use crate::cases;
use crate::disk::{Changed, Changes};
use crate::zips::{Entry, Zip};

const INSTALLED: &str = ".terraform/providers/example.com/t/x/1.1.0/linux_amd64";
const PROGRAM: &str = "terraform-provider-x_v1.1.0";

pub(super) fn verify(lab: &Lab, more: &[&str]) -> Outcome {
    lab.run(&[&["verify", "--only", "packages"], more].concat())
}

/// One byte in the middle of a provider of 90 MB.
#[test]
fn one_byte_of_a_large_provider_is_found() {
    let lab = simple();
    let mirrored = format!("mirror/example.com/t/x/1.1.0/linux_amd64/{PROGRAM}");
    let large = |path: &str| {
        lab.write(path, "");
        let file = std::fs::File::create(lab.path(path)).unwrap();
        file.set_len(90_000_000).unwrap();
        file
    };
    large(&mirrored);
    let mut installed = large(&format!("{INSTALLED}/{PROGRAM}"));
    lab.write(&format!("{INSTALLED}/LICENSE"), "text");
    lab.write("mirror/example.com/t/x/1.1.0/linux_amd64/LICENSE", "text");
    assert_exit(&lock(&lab, BOTH), 0);
    assert_exit(&verify(&lab, &[]), 0);
    installed.seek(SeekFrom::Start(45_000_000)).unwrap();
    installed.write_all(b"\x01").unwrap();
    drop(installed);
    let outcome = verify(&lab, &["--fs-mirror", "mirror"]).exits(1);
    let said = format!("\n            changed: {PROGRAM}\n");
    outcome.stdout_has(&said);
    outcome.stdout_lacks("LICENSE");
}

/// What the programs were seen to do with an installed package, replayed against `verify`.
#[test]
fn what_a_plan_refuses_is_found() {
    let mut replayed = 0;
    for case in cases::load("runtime") {
        for flavor in Flavor::ALL {
            let case = case.for_program(flavor);
            let id = case["id"]
                .as_str()
                .unwrap()
                .strip_prefix("runtime/")
                .unwrap();
            let lab = prepared();
            change(&lab, id);
            let flavor = flavor.to_string();
            let args = [
                "verify",
                "--skip",
                "platforms",
                "--format",
                "json",
                "--flavor",
                &flavor,
            ];
            let outcome = lab.run(&args);
            let json: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
            let findings = json["roots"][0]["findings"].as_array().unwrap();
            let is_refused = |finding: &serde_json::Value| {
                let help = finding["help"].as_str().unwrap_or_default();
                finding["severity"] == "error" || help.contains("plan` refuses it")
            };
            let passed = !findings.iter().any(is_refused);
            // Nobody has to install anything before a lock file can be verified.
            let not_installed = ["no_install", "extra_entry"].contains(&id);
            let expected = case["verification"] == "passed" || not_installed;
            assert_eq!(passed, expected, "{id} by {flavor}: {outcome:#?}");
            replayed += 1;
        }
    }
    assert_eq!(replayed, 100);
}

/// A root with one provider of two files, locked by a signed list and installed.
fn prepared() -> Lab {
    let lab = Lab::new();
    lab.write("main.tf", ONE_PROVIDER);
    let files = [Entry::file(PROGRAM, "x"), Entry::file("LICENSE", "text")];
    lab.write("x.zip", Zip::of(files).bytes());
    lab.write(&format!("{INSTALLED}/{PROGRAM}"), "x");
    lab.write(&format!("{INSTALLED}/LICENSE"), "text");
    let hashed = lab.run(&["hash", "x.zip"]);
    let mut hashes = hashed.stdout.lines();
    let mut hash = || {
        hashes
            .next()
            .unwrap()
            .split_whitespace()
            .next()
            .unwrap()
            .to_owned()
    };
    let (zh, h1) = (hash(), hash());
    write_lock(&lab, &[&h1, &zh]);
    lab.write("zh", zh);
    lab.write("h1", h1);
    lab
}

fn write_lock(lab: &Lab, hashes: &[&str]) {
    let header = "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n";
    let list: String = hashes
        .iter()
        .map(|hash| format!("    \"{hash}\",\n"))
        .collect();
    let list = match hashes {
        [] => String::new(),
        _ => format!("  hashes = [\n{list}  ]\n"),
    };
    lab.write(
        LOCK,
        format!("{header}\nprovider \"example.com/t/x\" {{\n  version     = \"1.1.0\"\n  constraints = \"~> 1.0\"\n{list}}}\n"),
    );
}

/// Does to a prepared root what was done when a case was recorded.
fn change(lab: &Lab, id: &str) {
    let (h1, zh) = (lab.read("h1"), lab.read("zh"));
    let wrong_h1 = "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    let wrong_zh = format!("zh:{}", "0".repeat(64));
    let text = lab.read(LOCK);
    match id {
        "good" => {}
        "tampered" => drop(lab.write(&format!("{INSTALLED}/{PROGRAM}"), "y")),
        "extra_file" => drop(lab.write(&format!("{INSTALLED}/extra"), "")),
        "empty_dir_added" => {
            std::fs::create_dir(lab.path(&format!("{INSTALLED}/empty"))).unwrap();
        }
        "mode_changed" => change_mode(&lab.path(&format!("{INSTALLED}/{PROGRAM}"))),
        "no_lock" => std::fs::remove_file(lab.path(LOCK)).unwrap(),
        "no_install" => std::fs::remove_dir_all(lab.path(".terraform")).unwrap(),
        "zh_only" => write_lock(lab, &[&zh]),
        "wrong_zh_only" => write_lock(lab, &[&wrong_zh]),
        "zh_and_wrong_h1" => write_lock(lab, &[wrong_h1, &zh]),
        "no_hashes" => write_lock(lab, &[]),
        "unknown_only" => write_lock(lab, &["h2:x"]),
        "other_platform_only" => write_lock(lab, &[wrong_h1]),
        "h1_and_wrong_zh" => write_lock(lab, &[&h1, &wrong_zh]),
        "stale_constraints" => drop(lab.write(LOCK, text.replace("~> 1.0", "~> 1.1"))),
        "config_changed" => drop(lab.write("main.tf", ONE_PROVIDER.replace("~> 1.0", "~> 2.0"))),
        "config_added" => drop(lab.write("more.tf", ONE_PROVIDER.replace("x", "y").replace("ey", "ex"))),
        "config_added_implied" => drop(lab.write("more.tf", "resource \"null_resource\" \"a\" {}\n")),
        "version_outside" => drop(lab.write(LOCK, text.replace("\"1.1.0\"", "\"2.1.0\""))),
        "messy" => write_lock(lab, &[&zh, &h1, &zh]),
        "extra_entry" => drop(lab.write(
            LOCK,
            format!("{text}\nprovider \"example.com/t/z\" {{\n  version = \"1.0.0\"\n  hashes = [\n    \"{wrong_h1}\",\n  ]\n}}\n"),
        )),
        broken if broken.starts_with("broken_lock") => {
            lab.write(LOCK, text.replace("  version", "  foo = 1\n  version"));
        }
        other => panic!("a new case: {other}"),
    }
}

#[cfg(unix)]
fn change_mode(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

#[cfg(not(unix))]
fn change_mode(_: &Path) {}

/// What is installed ends in a finding that says why, whatever it is.
#[cfg(unix)]
#[test]
fn odd_files_in_a_package_are_findings() {
    use std::os::unix::fs::symlink;
    let check = |make: &dyn Fn(&Path), why: &str| {
        let lab = prepared();
        make(&lab.path(INSTALLED));
        let outcome = verify(&lab, &[]).exits(1);
        outcome.stdout_has("error[package-unreadable]");
        outcome.stdout_has(why);
    };
    let fifo = |dir: &Path| {
        let made = std::process::Command::new("mkfifo")
            .arg(dir.join("fifo"))
            .status();
        assert!(made.unwrap().success());
    };
    check(&fifo, "fifo is no regular file");
    check(
        &|dir| symlink("loop", dir.join("loop")).unwrap(),
        "loop failed: ",
    );
    check(
        &|dir| symlink("nowhere", dir.join("lost")).unwrap(),
        "lost failed: ",
    );
    check(
        &|dir| symlink(".", dir.join("self")).unwrap(),
        "self is a link to a directory",
    );
    check(
        &|dir| symlink("/dev/zero", dir.join("zero")).unwrap(),
        "zero is no regular file",
    );
    let circle = |dir: &Path| {
        std::fs::remove_dir_all(dir).unwrap();
        symlink(dir, dir).unwrap();
    };
    check(&circle, "is a link that cannot be followed");
    check(&|dir| deep(dir, 130), "is more than 128 directories deep");

    // A link to a file outside counts with what it leads to, as in the programs.
    let lab = prepared();
    let program = lab.path(&format!("{INSTALLED}/{PROGRAM}"));
    std::fs::rename(&program, lab.path("elsewhere")).unwrap();
    symlink(lab.path("elsewhere"), &program).unwrap();
    assert_exit(&verify(&lab, &[]), 0);
}

fn deep(dir: &Path, levels: usize) {
    let path: PathBuf = std::iter::repeat_n("d", levels).collect();
    std::fs::create_dir_all(dir.join(path)).unwrap();
}

#[test]
fn hostile_zips_are_findings() {
    let zip = |entry: Entry| Zip::of([Entry::file(PROGRAM, "x"), entry]).bytes();
    let bomb = |entry: &mut Entry| entry.stated_size = Some(u32::MAX);
    for (bytes, why) in [
        (zip(Entry::file("../evil", "x")), "has a path part"),
        (zip(Entry::file("a\nb", "x")), "line feed"),
        (zip(Entry::file("big", "x").with(bomb)), "would unpack to"),
        (b"PK no zip".to_vec(), "not a valid zip"),
        (Vec::new(), "not a valid zip"),
    ] {
        let lab = prepared();
        let path = "mirror/example.com/t/x/terraform-provider-x_1.1.0_linux_amd64.zip";
        lab.write(path, bytes);
        for option in [["--fs-mirror", "mirror"], ["--package", path]] {
            let outcome = verify(&lab, &option).exits(1);
            outcome.stdout_has("error[package-unreadable]");
            outcome.stdout_has(why);
        }
    }
}

/// A disk that counts how often each file is opened, and has one directory without end.
struct Counting {
    opened: Mutex<Vec<PathBuf>>,
}

/// The name of the directory without end.
const ENDLESS: &str = "endless";

impl Changes for Counting {
    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        self.opened.lock().unwrap().push(path.to_owned());
        RealDisk.open(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        if !dir.ends_with(ENDLESS) {
            return RealDisk.list(dir);
        }
        let entries = (0..100_000).map(|n| DirEntry {
            name: format!("{n:06}").into(),
            kind: FileKind::File,
        });
        Ok(entries.collect())
    }
}

#[test]
fn a_package_without_end_is_given_up() {
    let lab = prepared();
    lab.write(&format!("{INSTALLED}/{ENDLESS}/0"), "");
    let disk = Changed(Counting {
        opened: Mutex::default(),
    });
    let outcome = lab.run_on(&disk, &["verify", "--only", "packages"]);
    assert_exit(&outcome, 1);
    outcome.stdout_has("more than 50000 entries");
}

#[cfg(unix)]
#[test]
fn a_package_that_roots_share_is_hashed_once() {
    let lab = prepared();
    std::fs::rename(lab.path(INSTALLED), lab.path("shared")).unwrap();
    for root in ["a", "b", "c"] {
        lab.write(&format!("{root}/main.tf"), ONE_PROVIDER);
        lab.write(&format!("{root}/{LOCK}"), lab.read(LOCK));
        let link = lab.path(&format!("{root}/{INSTALLED}"));
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(lab.path("shared"), link).unwrap();
    }
    let disk = Changed(Counting {
        opened: Mutex::default(),
    });
    let outcome = lab.run_on(
        &disk,
        &["verify", "a", "b", "c", "--only", "packages", "-v"],
    );
    assert_exit(&outcome, 0);
    assert_eq!(
        outcome
            .stdout
            .matches("1 installed package verified")
            .count(),
        3
    );
    let opened = disk.0.opened.into_inner().unwrap();
    let programs = opened.iter().filter(|path| path.ends_with(PROGRAM));
    // Once to see how large it is, once to hash it.
    assert_eq!(programs.count(), 2);
}
