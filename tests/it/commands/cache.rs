//! `cache`: facts counted, exported and removed.

use super::facts::{STORE, lock, locked, objects, timeless};
use super::registry::TWO;
use super::*;

/// Reads what a command prints with `--format json`, as far as it is about the store.
pub(super) fn json(lab: &Lab, args: &[&str], code: u8) -> Value {
    let outcome = lab.run(&[args, &["--format", "json"]].concat()).exits(code);
    let mut json = outcome.json();
    json["store"].take()
}

/// Exports everything to a file.
pub(super) fn export(lab: &Lab, file: &str) -> String {
    assert_exit(&lab.run(&["cache", "export", file]), 0);
    lab.read(file)
}

#[test]
fn dir_prints_a_path_and_nothing_else() {
    let mut lab = Lab::new();
    let outcome = lab.run(&["cache", "dir"]).exits(2);
    outcome.stderr_eq(str![[r#"
error: there is no directory for facts about packages
  cause: the environment names no directory for caches
  help: set LOCKCTL_CACHE_DIR to a directory that is yours alone

"#]]);
    assert_eq!(outcome.stdout, "");
    let stated = lab.path("some where");
    lab.set("LOCKCTL_CACHE_DIR", stated.clone());
    let outcome = lab.run(&["cache", "dir", "--color", "always"]).exits(0);
    assert_eq!((&*outcome.stdout, &*outcome.stderr), ("some where\n", ""));
    assert_eq!(json(&lab, &["cache", "dir"], 0)["dir"], "some where");
    assert!(!stated.exists(), "to name it does not make it");
    // Whatever reads it may be elsewhere.
    lab.env.current_dir = "top".into();
    lab.set("LOCKCTL_CACHE_DIR", "relative");
    assert_eq!(lab.run(&["cache", "dir"]).stdout, "/top/relative\n");
}

#[test]
fn stats_count_and_say_what_is_ignored() {
    let (registry, lab) = locked();
    let outcome = lab.run(&["cache", "stats"]).exits(0);
    let text = outcome.stdout.replace("oldest     ", "kept since ");
    timeless(&registry, &text).reads(str![[r#"
directory  home/.cache/lockctl
facts      2: 2 computed, 0 imported
providers  1
releases   1
size       [..] bytes
contents   2 packages
kept since TIME

"#]]);
    let [first, _, _] = &objects(&lab)[..] else {
        panic!("two facts and a release")
    };
    lab.write(&format!("{STORE}/{first}"), "lockctl fact 1\n");
    let text = lab.run(&["cache", "stats"]).stdout;
    let ignored = "\nignored    1: it is damaged: its check does not match\n";
    assert!(text.ends_with(ignored), "{text}");
    let stats = &json(&lab, &["cache", "stats"], 0)["stats"];
    assert_eq!(
        (&stats["facts"], &stats["ignored"][0]["count"]),
        (&1.into(), &1.into())
    );
}

#[test]
fn an_export_is_the_same_each_time_and_is_left_alone() {
    let (_registry, lab) = locked();
    let outcome = lab.run(&["cache", "export", "facts.txt"]).exits(0);
    outcome.stdout_eq(str![[r#"
wrote facts.txt: 2 facts

"#]]);
    let text = lab.read("facts.txt");
    text.reads(str![[r#"
# lockctl facts 1
zh:dc98abd4c18a0b510a435d11b1ca0f756226b87d668898e8f22b9044483c2896 h1:x9H1h1LABKmLYuuofnqhAunnT6KdAoOwaC5LWNJs24U= [..] registry.terraform.io/acme/demo 1.0.0 darwin_arm64
zh:d03d04fa877a789654ce1d7c24e5c71e1a997e7a97ca4a419f7f09f37ed081a5 h1:AzthgEmn5NwxdRL0khdiFc6UynfM+QgLCiAzqwrkoUY= [..] registry.terraform.io/acme/demo 1.0.0 linux_amd64
release registry.terraform.io/acme/demo 1.0.0 whole
release registry.terraform.io/acme/demo 1.0.0 signed [..]
release registry.terraform.io/acme/demo 1.0.0 dated signature [..]
release registry.terraform.io/acme/demo 1.0.0 package zh:275a11312187e269df2df09571579c85f44f0dea0ed4edb1b97e1bc1ea1e4b8e windows_amd64
release registry.terraform.io/acme/demo 1.0.0 package zh:305f2feec166f157a0df602b52d0b4dfba43f7bd1f4639061f420b3aa3dff8af linux_arm64
release registry.terraform.io/acme/demo 1.0.0 package zh:d03d04fa877a789654ce1d7c24e5c71e1a997e7a97ca4a419f7f09f37ed081a5 linux_amd64
release registry.terraform.io/acme/demo 1.0.0 package zh:dc98abd4c18a0b510a435d11b1ca0f756226b87d668898e8f22b9044483c2896 darwin_arm64

"#]]);
    let outcome = lab.run(&["cache", "export", "facts.txt"]);
    outcome.stdout_eq(str![[r#"
facts.txt is up to date: 2 facts

"#]]);
    for args in [&["cache", "export"][..], &["cache", "export", "-"]] {
        assert_eq!(lab.run(args).stdout, text);
    }
    assert_eq!(
        json(&lab, &["cache", "export"], 0)["exported"]["text"],
        text
    );
    assert_eq!(lab.read("facts.txt"), text);
}

#[test]
fn only_an_export_is_replaced() {
    let (_registry, lab) = locked();
    for content in ["resource \"x\" \"y\" {}\n", "", "# lockctl facts 2\n"] {
        lab.write("other.tf", content);
        let outcome = lab.run(&["cache", "export", "other.tf"]).exits(2);
        outcome.stderr_eq(str![[r##"
error: other.tf is no export of facts
  cause: it does not begin with "# lockctl facts 1"
  help: name another file; only an export is replaced

"##]]);
        assert_eq!(lab.read("other.tf"), content);
    }
    lab.run(&["cache", "export", "no/such/facts.txt"]).exits(2);
}

#[test]
fn an_export_for_lock_files_holds_what_they_need_whoever_writes_it() {
    let (_registry, mut lab) = locked();
    let all = ["--platform", "linux_amd64,windows_amd64"];
    lab.write("live/a/main.tf", lab.read("main.tf"));
    assert_exit(&lock(&lab, &[&["live/a"], &all[..]].concat()), 0);
    lab.write("empty/main.tf", "");
    lab.write("empty/.terraform.lock.hcl", "");
    let lines = |text: &str| text.lines().filter(|line| line.starts_with("zh:")).count();
    assert_eq!(lines(&export(&lab, "all.txt")), 3);
    let outcome = lab.run(&["cache", "export", "--for", "empty"]);
    assert_eq!(outcome.stdout, "# lockctl facts 1\n");

    // Three machines know one of three packages each, and the second one knows the release; the order
    // does not matter.
    let known = lab.read("all.txt");
    let (of_release, known): (Vec<&str>, Vec<&str>) = known
        .lines()
        .skip(1)
        .partition(|line| line.starts_with("release "));
    let of_release = of_release.join("\n");
    let files = ["abc", "cba"].map(|order| {
        let file = format!("{order}.txt");
        for machine in order.bytes() {
            let line = known[usize::from(machine - b'a')];
            let facts = match machine {
                b'b' => format!("# lockctl facts 1\n{line}\n{of_release}\n"),
                _ => format!("# lockctl facts 1\n{line}\n"),
            };
            lab.write("one.txt", facts);
            let dir = lab.path(&format!("store-{machine}"));
            lab.set("LOCKCTL_CACHE_DIR", dir);
            assert_exit(&lab.run(&["cache", "import", "one.txt"]), 0);
            let args = ["cache", "export", &file, "-r", "--imported"];
            assert_exit(&lab.run(&args), 0);
            assert!(lab.run(&args).stdout.contains("is up to date"));
        }
        lab.read(&file)
    });
    assert_eq!(files, [lab.read("all.txt"), lab.read("all.txt")]);

    // What no lock file needs any more goes.
    for root in ["", "live/a/"] {
        lab.write(&format!("{root}{LOCK}"), "");
    }
    assert_exit(&lab.run(&["cache", "export", "abc.txt", "-r"]), 0);
    assert_eq!(lab.read("abc.txt"), "# lockctl facts 1\n");
}

#[test]
fn a_lock_file_that_cannot_be_read_loses_no_fact() {
    let (_registry, lab) = locked();
    let before = export(&lab, "facts.txt");
    lab.write("broken/.terraform.lock.hcl", "provider {");
    for args in [&["-r"][..], &["--for", "broken"], &["--for", "missing"]] {
        let outcome = lab.run(&[&["cache", "export", "facts.txt"], args].concat());
        assert_exit(&outcome, 2);
        assert_eq!(outcome.stdout, "", "{args:?}");
        assert_eq!(lab.read("facts.txt"), before, "{args:?}");
    }
}

#[test]
fn facts_that_are_too_old_are_still_exported_for_lock_files() {
    let (_registry, mut lab) = locked();
    let year = std::time::Duration::from_secs(366 * 24 * 60 * 60);
    lab.clock = lockctl::world::mem::MemClock::at(std::time::SystemTime::now() + 3 * year);
    let count = |args: &[&str]| lab.run(args).stdout.matches("zh:").count();
    assert_eq!(count(&["cache", "export"]), 0);
    assert_eq!(count(&["cache", "export", "-r"]), 2);
    let text = lab.run(&["cache", "stats"]).stdout;
    text.has("ignored    2: it is older than 730 days");
    lab.run(&["cache", "clean"]).stdout_eq(str![[r#"
removed 2 too old; 0 facts are left

"#]]);
}

#[test]
fn clean_removes_what_was_asked_for() {
    let (_registry, lab) = locked();
    export(&lab, "facts.txt");
    let [first, _, _] = &objects(&lab)[..] else {
        panic!("two facts and a release")
    };
    lab.write(&format!("{STORE}/{first}"), "");
    let outcome = lab.run(&["cache", "clean", "--dry-run"]).exits(0);
    outcome.stdout_eq(str![[r#"
would remove 1 broken; 1 fact is left

"#]]);
    assert_eq!(objects(&lab).len(), 3);
    assert_exit(&lab.run(&["cache", "clean"]), 0);
    lab.run(&["cache", "clean"]).stdout_eq(str![[r#"
nothing to remove; 1 fact is left

"#]]);
    assert_exit(&lab.run(&["cache", "import", "facts.txt"]), 0);
    let removed = &json(&lab, &["cache", "clean", "--imported"], 0)["removed"];
    assert_eq!(
        (&removed["imported"], &removed["kept"]),
        (&1.into(), &1.into())
    );
    assert_exit(&lab.run(&["cache", "clean", "--all"]), 0);
    assert_eq!(objects(&lab).len(), 0);
    // All of it can be computed again.
    assert_exit(&lock(&lab, &[&["--prove"], TWO].concat()), 0);
    assert_eq!(export(&lab, "again.txt"), lab.read("facts.txt"));
}

#[test]
fn no_cache_is_refused() {
    let lab = Lab::new();
    for args in [
        ["--no-cache", "cache", "dir"],
        ["cache", "dir", "--no-cache"],
    ] {
        let outcome = lab.run(&args).exits(2);
        let text = "error: 'lockctl cache' is about what '--no-cache' leaves alone\n";
        assert!(outcome.stderr.starts_with(text), "{}", outcome.stderr);
    }
}

#[cfg(unix)]
#[test]
fn a_directory_that_others_may_use_is_an_error() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let (_registry, lab) = locked();
    export(&lab, "facts.txt");
    let refused = |why: &str| {
        for args in [
            &["stats"][..],
            &["export"],
            &["export", "facts.txt", "-r"],
            &["import", "facts.txt"],
            &["clean", "--all"],
        ] {
            let outcome = lab.run(&[&["cache"], args].concat()).exits(2);
            let expected = format!(
                "error: the facts in {STORE} cannot be used\n  cause: {why}\n  help: correct that, or name \
                 another directory with LOCKCTL_CACHE_DIR\n"
            );
            assert_eq!(outcome.stderr, expected, "{args:?}");
            assert_eq!(outcome.stdout, "", "{args:?}");
        }
        assert_exit(&lab.run(&["cache", "dir"]), 0);
    };
    let before = objects(&lab);
    let mode = |mode| {
        std::fs::set_permissions(lab.path(STORE), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(0o755);
    refused("other users may use it; `chmod 700` makes it private");
    mode(0o700);
    assert_eq!(objects(&lab), before, "nothing was removed");
    std::fs::rename(lab.path(STORE), lab.path("elsewhere")).unwrap();
    symlink(lab.path("elsewhere"), lab.path(STORE)).unwrap();
    refused("it is a link or a file, not a directory");
}
