//! Input that was made to make a command panic, hang or flood.

use std::io;
use std::path::Path;

use lockctl::diag::FileId;
use lockctl::os::RealDisk;
use lockctl::world::{Files, ReadSeek};

use super::assert_exit;
use crate::disk::{Changed, Changes};
use crate::lab::Lab;

const USED: &str = "terraform {\n  required_providers {\n    x = { source = \"acme/x\" }\n  }\n}\n";

#[test]
fn a_fault_may_be_any_character() {
    let lab = Lab::new();
    lab.write("a/main.tf.json", "{\"a\":\u{201c}x\u{201d}}")
        .write("a/.terraform.lock.hcl", "")
        .write("b/main.tf.json", "{\"a\":\"\\\u{e9}\"}")
        .write("b/.terraform.lock.hcl", "")
        .write("c/main.tf", USED)
        .write("c/.terraform.lock.hcl", "");
    let outcome = lab.run(&["verify", "-r"]);
    assert_exit(&outcome, 2);
    let shown = outcome.stdout;
    assert!(shown.contains("1 | {\"a\":\u{201c}x"), "{shown}");
    assert!(shown.contains("1 | {\"a\":\"\\\u{e9}\"}"), "{shown}");
    assert!(shown.contains("acme/x"), "{shown}");
}

/// A disk on which reading some files makes lockctl panic.
struct Panicking;

impl Changes for Panicking {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        assert!(
            !path.ends_with("bad/main.tf"),
            "\u{1b}[31mno character boundary"
        );
        RealDisk.read(path, limit)
    }
}

#[test]
fn a_panic_in_one_root_hides_no_other() {
    let lab = Lab::new();
    for root in ["a", "bad", "c"] {
        lab.write(&format!("{root}/main.tf"), USED)
            .write(&format!("{root}/.terraform.lock.hcl"), "");
    }
    let outcome = lab.run_on(&Changed(Panicking), &["verify", "-r"]);
    assert_exit(&outcome, 2);
    let text = format!("{}{}", outcome.stdout, outcome.stderr);
    for wanted in ["this is a bug", " --> a: ", " --> c: "] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    assert!(!text.contains('\u{1b}'), "{text}");
}

/// A disk on which opening a package makes lockctl panic.
struct PanickingMirror;

impl Changes for PanickingMirror {
    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        let is_package = path.extension().is_some_and(|extension| extension == "zip");
        assert!(!is_package, "no such platform");
        RealDisk.open(path)
    }
}

#[test]
fn a_panic_in_the_work_on_all_roots_fails_each_of_them() {
    let lab = Lab::new();
    for root in ["a", "c"] {
        lab.write(&format!("{root}/main.tf"), USED)
            .write(&format!("{root}/.terraform.lock.hcl"), "");
    }
    lab.packed(
        "mirror",
        "registry.terraform.io/acme/x/1.0.0/linux_amd64",
        "x",
    );
    let mut args = vec!["lock", "-r", "--offline", "--fs-mirror", "mirror"];
    args.extend(["--platform", "linux_amd64"]);
    let outcome = lab.run_on(&Changed(PanickingMirror), &args);
    assert_exit(&outcome, 2);
    let text = format!("{}{}", outcome.stdout, outcome.stderr);
    for wanted in ["this is a bug", "no such platform", "error: a, c: "] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    assert!(!text.contains("make it readable"), "{text}");
    assert_eq!(lab.read("a/.terraform.lock.hcl"), "");
}

#[test]
fn a_name_of_megabytes_is_not_repeated() {
    let lab = Lab::new();
    let long = format!("acme/{}", "x".repeat(1 << 20));
    lab.write("main.tf", USED.replace("acme/x", &long));
    let outcome = lab.run(&["verify"]);
    assert_exit(&outcome, 1);
    assert!(outcome.stdout.len() < 4000, "{}", outcome.stdout.len());
}

/// Reads 2 MB of a few letters again and again, and returns the most memory that it took, in bytes.
fn most_memory(letters: &str, json: bool) -> u64 {
    let text = letters.repeat((2 << 20) / letters.len()).into_bytes();
    let taken = allocation_counter::measure(|| {
        let is_refused = if json {
            lockctl::json::parse(&text).is_err()
        } else {
            !lockctl::hcl::parse(FileId::ALONE, &text).1.is_empty()
        };
        assert!(is_refused, "{letters:?}");
    });
    taken.bytes_max
}

#[test]
fn memory_is_bounded_by_the_size_of_a_file() {
    for letters in [
        "=\n", "=", "x=\n", "a{}", "1\n", "\"\n", "a {\n", "(", "\u{80}\n",
    ] {
        let most = most_memory(letters, false);
        assert!(most < 96 << 20, "{most} bytes for {letters:?}");
    }
    for letters in ["+,", "[", "{\"\":", "0,"] {
        let most = most_memory(letters, true);
        assert!(most < 16 << 20, "{most} bytes for {letters:?}");
    }
}

#[test]
fn a_file_of_too_many_words_is_refused() {
    let large = format!("locals {{\n  x = [{}]\n}}\n", "1,".repeat(1 << 20));
    let faults = lockctl::hcl::parse(FileId::ALONE, large.as_bytes()).1;
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].code, "object-too-large");
    let faults = lockctl::json::parse(format!("[{}0]", "0,".repeat(1 << 20)).as_bytes());
    assert_eq!(
        faults.expect_err("too many")[0].title,
        lockctl::json::TOO_MANY
    );
}

/// A FIFO without a writer is never opened for reading in a way that waits, and neither is the kernel's log.
#[cfg(target_os = "linux")]
#[test]
fn only_regular_files_are_read() {
    const NAMED: [&str; 3] = ["main.tf", ".terraform.lock.hcl", ".lockctl.hcl"];
    let readers: &[(&str, &[&str])] = &[
        ("main.tf", &["verify"]),
        ("main.tf.json", &["verify"]),
        ("terraform.tfvars", &["--flavor", "opentofu", "verify"]),
        ("terraform.tfstate", &["verify"]),
        (".terraform/terraform.tfstate", &["verify"]),
        (".terraform/modules/modules.json", &["verify"]),
        (".terraform.lock.hcl", &["verify"]),
        (".terraform.lock.hcl", &["lock"]),
        (".terraform.lock.hcl", &["fmt"]),
        (".terraform.lock.hcl", &["show"]),
        (".lockctl.hcl", &["verify"]),
        ("rc", &["--cli-config", "rc", "verify"]),
        ("rc", &["--config", "rc", "verify"]),
        ("rc", &["verify", "--var-file", "rc"]),
        ("rc", &["verify", "--package", "rc"]),
        ("rc", &["cache", "import", "rc"]),
        ("rc", &["git-textconv", "rc"]),
        ("rc", &["diff", "rc", "rc"]),
    ];
    for (name, args) in readers {
        for target in [None, Some("/proc/kmsg")] {
            let lab = Lab::new();
            lab.write("main.tf", USED).write(".terraform.lock.hcl", "");
            let path = lab.path(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::remove_file(&path).ok();
            match target {
                None => {
                    let made = std::process::Command::new("mkfifo").arg(&path).status();
                    assert!(made.unwrap().success());
                }
                Some(target) => std::os::unix::fs::symlink(target, &path).unwrap(),
            }
            let outcome = lab.run(args);
            assert_ne!(outcome.code, 0, "{args:?} of {name}: {outcome:#?}");
            let text = format!("{}{}", outcome.stdout, outcome.stderr);
            // Whoever may not open the log of the kernel gets that error instead.
            if target.is_none() && NAMED.contains(name) {
                assert!(text.contains("regular file"), "{args:?} of {name}: {text}");
            }
        }
    }
}

/// The runner of GitHub takes a line of any output for a command if it begins with two colons.
#[cfg(unix)]
#[test]
fn a_line_end_in_a_name_begins_no_command() {
    let lab = Lab::new();
    lab.write("nl\n::warning::pwn/main.tf", "a {")
        .write("nl\n::warning::pwn/.terraform.lock.hcl", "provider {");
    for format in ["human", "junit", "markdown", "sarif", "json"] {
        let outcome = lab.run(&["verify", "-r", "--format", format]);
        let text = format!("{}\n{}", outcome.stdout, outcome.stderr);
        assert!(text.contains("pwn"), "{format}: {text}");
        let begins = text.lines().any(|line| line.trim_start().starts_with("::"));
        assert!(!begins, "{format}: {text}");
    }
}
