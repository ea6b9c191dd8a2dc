//! What is usual on Windows: long paths, CRLF, drives, shares, names in any case, files that are open elsewhere.

use super::facts::{downloads, lock as lock_demo};
use super::registry::{DEMO, TWO, with_registry};
use super::*;

#[test]
fn roots_and_stores_have_paths_longer_than_260_characters() {
    let (registry, mut lab) = with_registry(DEMO);
    let deep = ["deeper-and-deeper-and-deeper-and-deeper-and-deeper"; 6].join("/");
    lab.write(&format!("{deep}/main.tf"), DEMO);
    let store = lab.path(&deep).join("store");
    lab.set("LOCKCTL_CACHE_DIR", store.clone());
    assert_exit(&lock_demo(&lab, &[&[&*deep], TWO].concat()), 0);
    assert!(store.read_dir().unwrap().next().is_some());
    assert_exit(&lab.run(&["verify", &deep, "--flavor", "terraform"]), 0);
    assert_exit(&lock_demo(&lab, TWO), 0);
    assert_eq!(downloads(&registry), 2, "the second run has the facts");
    assert_eq!(lab.read(LOCK), lab.read(&format!("{deep}/{LOCK}")));
}

#[test]
fn a_checkout_with_crlf_verifies_and_is_locked_with_lf() {
    let lab = simple();
    lab.write(".lockctl.hcl", "# nothing\n");
    assert_exit(&lock(&lab, BOTH), 0);
    let with_lf = lab.read(LOCK);
    for name in ["main.tf", ".lockctl.hcl", LOCK] {
        lab.write(name, lab.read(name).replace('\n', "\r\n"));
    }
    assert_exit(&lab.run(&[&["verify"], BOTH].concat()), 0);
    // As `terraform providers lock` does; a check says so beforehand.
    lock(&lab, &[&["--check"], BOTH].concat()).exits(1);
    let outcome = lock(&lab, BOTH).exits(0);
    outcome.stdout_has("line ends only (CRLF)");
    outcome.stderr_has("`.terraform.lock.hcl text eol=lf` in .gitattributes");
    assert_eq!(lab.read(LOCK), with_lf);
}

#[test]
fn crlf_that_git_makes_is_no_change() {
    let Some(repo) = Repo::new() else { return };
    let from = simple();
    assert_exit(&lock(&from, BOTH), 0);
    repo.git(&["config", "core.autocrlf", "false"]);
    repo.write("main.tf", from.read("main.tf"))
        .write(LOCK, from.read(LOCK))
        .commit("first");
    let with_crlf = from.read(LOCK).replace('\n', "\r\n");
    let mirror = from.path("mirror");
    let check = [
        &["lock", "--check", "--fs-mirror", mirror.to_str().unwrap()],
        BOTH,
    ]
    .concat();
    // What git does with the file, and whether CRLF is then its doing.
    for (attributes, autocrlf, is_by_git) in [
        ("", "false", false),
        ("", "true", true),
        ("* text=auto\n", "false", true),
        ("* text=auto eol=crlf\n", "false", true),
        ("* -text\n", "true", false),
    ] {
        repo.git(&["config", "core.autocrlf", autocrlf]);
        repo.write(".gitattributes", attributes)
            .write(LOCK, &with_crlf);
        for command in [&["fmt", "--check"][..], &check] {
            repo.run(command).exits(if is_by_git { 0 } else { 1 });
        }
        repo.run(&["fmt"]);
        let is_rewritten = repo.lab.read(LOCK) != with_crlf;
        assert_eq!(
            is_rewritten, !is_by_git,
            "{attributes:?}, autocrlf = {autocrlf}"
        );
    }
}

#[test]
fn a_check_says_why_the_file_would_change() {
    let lab = simple();
    lab.write(
        "main.tf",
        lab.read("main.tf").replace(
            "  }\n}\n",
            "    a = {\n      source = \"example.com/t/a\"\n    }\n  }\n}\n",
        ),
    );
    for platform in ["linux_amd64", "darwin_arm64"] {
        lab.unpacked(
            "mirror",
            &format!("example.com/t/a/1.0.0/{platform}"),
            platform,
        );
    }
    assert_exit(&lock(&lab, BOTH), 0);
    let good = lab.read(LOCK);
    let parts: Vec<&str> = good.split("\n\n").collect();
    let [header, first, second] = parts[..] else {
        panic!("{good}")
    };
    let by_hash: Vec<&str> = good.lines().filter(|line| line.contains("h1:")).collect();
    for (text, reason) in [
        (good.replace('\n', "\r\n"), "line ends only (CRLF)"),
        (
            format!("{header}\n\n{}\n\n{first}\n", second.trim_end()),
            "order of entries only",
        ),
        (format!("{first}\n\n{second}"), "header only"),
        (
            good.replace(by_hash[0], "@")
                .replace(by_hash[1], by_hash[0])
                .replace('@', by_hash[1]),
            "order of hashes only",
        ),
        (good.replace("  version", "    version"), "layout only"),
    ] {
        lab.write(LOCK, text);
        let outcome = lock(&lab, &[&["--check"], BOTH].concat()).exits(1);
        let line = format!("{LOCK} would change; {reason}; nothing was written");
        assert!(
            outcome.stdout.contains(&line),
            "{reason}: {}",
            outcome.stdout
        );
    }
}

#[cfg(windows)]
mod only {
    use std::fs::File;
    use std::os::windows::fs::OpenOptionsExt as _;

    use super::super::Outcome;
    use super::*;
    use crate::lab::Lab;

    fn locked() -> Lab {
        let lab = simple();
        lab.write("root/main.tf", lab.read("main.tf"));
        assert_exit(&lock(&lab, &[&["root"], BOTH].concat()), 0);
        lab
    }

    fn said(outcome: &Outcome) -> String {
        format!("{}{}", outcome.stdout, outcome.stderr)
    }

    #[test]
    fn a_root_is_named_with_its_drive_and_in_any_case() {
        let lab = locked();
        let before = lab.read(&format!("root/{LOCK}"));
        let path = lab.path("root").display().to_string();
        let (drive, rest) = path.split_once(':').unwrap();
        for name in [
            path.clone(),
            path.replace('\\', "/"),
            format!("{}:{rest}", drive.to_lowercase()),
            format!(r"\\?\{path}"),
            format!(r"{path}\"),
            path.to_uppercase(),
            "ROOT".to_owned(),
            r".\root".to_owned(),
        ] {
            assert_exit(&lab.run(&[&["verify", &name], BOTH].concat()), 0);
            assert_exit(&lock(&lab, &[&[&*name], BOTH].concat()), 0);
        }
        assert_eq!(lab.read(&format!("root/{LOCK}")), before);
        // Both are one directory; neither run takes away what the other has written.
        assert_exit(&lock(&lab, &[&["root", "ROOT"], BOTH].concat()), 0);
        assert_eq!(lab.read(&format!("root/{LOCK}")), before);
    }

    #[test]
    fn a_share_that_cannot_be_reached_is_named() {
        let lab = locked();
        for (name, shown) in [
            (
                r"\\server.invalid\share\root",
                "//server.invalid/share/root",
            ),
            (
                r"\\?\UNC\server.invalid\share\root",
                "server.invalid/share/root",
            ),
            (r"Q:\no\drive", "Q:/no/drive"),
        ] {
            let outcome = lab.run(&["verify", name]).exits(2);
            assert!(said(&outcome).contains(shown), "{outcome:?}");
        }
    }

    #[test]
    fn files_that_are_open_elsewhere_are_named_and_kept() {
        let lab = locked();
        let elsewhere = |name: &str, others: u32| {
            let mut options = File::options();
            options.read(true).share_mode(others);
            options.open(lab.path(name)).unwrap()
        };
        let name = format!("root/{LOCK}");
        lab.write(&name, "");
        let others_may_read = elsewhere(&name, 1);
        let outcome = lock(&lab, &[&["root"], BOTH].concat()).exits(2);
        assert!(said(&outcome).contains(&name), "{outcome:?}");
        assert_eq!(lab.read(&name), "");
        drop(others_may_read);
        assert_exit(&lock(&lab, &[&["root"], BOTH].concat()), 0);
        let nobody_else = elsewhere("root/main.tf", 0);
        let outcome = lab.run(&["verify", "root"]).exits(2);
        assert!(said(&outcome).contains("root/main.tf"), "{outcome:?}");
        drop(nobody_else);
        assert_exit(&lab.run(&[&["verify", "root"], BOTH].concat()), 0);
    }
}
