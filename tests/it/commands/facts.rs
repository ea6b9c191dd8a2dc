//! `lock` with facts that earlier runs kept about packages.

use super::registry::{DEMO, TWO, requests, steady, with_registry};
use super::*;
use crate::registry::Registry;
use crate::scenarios::Packages;

/// Where the store of the tests is, below the directory of the lab.
pub(super) const STORE: &str = "home/.cache/lockctl";

/// Locks with the store of facts.
pub(super) fn lock(lab: &Lab, more: &[&str]) -> Outcome {
    lab.run(&[&["lock", "--flavor", "terraform@1.11"], more].concat())
}

/// A registry, a root that is locked for two platforms, and the facts that this left.
pub(super) fn locked() -> (Registry, Lab) {
    let (registry, lab) = with_registry(DEMO);
    assert_exit(&lock(&lab, TWO), 0);
    assert_eq!(downloads(&registry), 2);
    (registry, lab)
}

/// How many packages were downloaded so far.
pub(super) fn downloads(registry: &Registry) -> usize {
    let zips = requests(registry).into_iter();
    let zips = zips.filter(|(path, _)| path.ends_with(".zip"));
    zips.map(|(_, count)| count).sum()
}

/// Makes a text the same on every run: ports, keys, and since when facts have been kept.
pub(super) fn timeless(registry: &Registry, text: &str) -> String {
    let text = steady(registry, text);
    let mut parts = text.split("kept since ");
    let first = parts.next().unwrap().to_owned();
    let rest = parts.map(|part| &part["2026-01-01T00:00:00Z".len()..]);
    rest.fold(first, |text, part| format!("{text}kept since TIME{part}"))
}

/// The files of the store, relative to it, without the contents of programs.
pub(super) fn objects(lab: &Lab) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![lab.path(STORE)];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let below = path.strip_prefix(lab.path(STORE)).unwrap();
                if !below.starts_with("contents-1") {
                    found.push(below.display().to_string());
                }
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_package_is_downloaded_once_whatever_the_roots_and_runs() {
    let (registry, lab) = locked();
    assert_eq!(
        objects(&lab).len(),
        3,
        "a fact for each package, one for the release, and nothing else"
    );
    lab.write("other/main.tf", DEMO);
    let again = lock(&lab, &[&["other", "-v"], TWO].concat()).exits(0);
    assert_eq!(downloads(&registry), 2);
    assert_eq!(lab.read(LOCK), lab.read(&format!("other/{LOCK}")));
    timeless(&registry, &again.stdout).reads(str![[r#"
acme/demo  1.0.0  ~> 1.0.0  selected  2 platforms  6 hashes added  self-signed, key ID KEYID
    h1:AzthgEmn5NwxdRL0khdiFc6UynfM+QgLCiAzqwrkoUY=  proven, linux_amd64, kept since TIME
    h1:x9H1h1LABKmLYuuofnqhAunnT6KdAoOwaC5LWNJs24U=  proven, darwin_arm64, kept since TIME
    zh:275a11312187e269df2df09571579c85f44f0dea0ed4edb1b97e1bc1ea1e4b8e  signed, terraform-provider-demo_1.0.0_windows_amd64.zip
    zh:305f2feec166f157a0df602b52d0b4dfba43f7bd1f4639061f420b3aa3dff8af  signed, terraform-provider-demo_1.0.0_linux_arm64.zip
    zh:d03d04fa877a789654ce1d7c24e5c71e1a997e7a97ca4a419f7f09f37ed081a5  proven, terraform-provider-demo_1.0.0_linux_amd64.zip, kept since TIME
    zh:dc98abd4c18a0b510a435d11b1ca0f756226b87d668898e8f22b9044483c2896  proven, terraform-provider-demo_1.0.0_darwin_arm64.zip, kept since TIME
6 hashes added: 2 signed, 4 proven by an earlier run
created other/.terraform.lock.hcl

"#]]);
    steady(&registry, &lock(&lab, TWO).stdout).reads(str![[r#"
acme/demo  1.0.0  ~> 1.0.0  kept  2 platforms  0 hashes added  self-signed, key ID KEYID
.terraform.lock.hcl is up to date

"#]]);
    assert_eq!(downloads(&registry), 2, "nothing to do");
}

/// Of two packages one exceeds the limit; the other is kept, so that the next run needs less.
#[test]
fn a_run_downloads_no_more_than_it_may() {
    let (_registry, lab) = with_registry(DEMO);
    let events = lock(
        &lab,
        &[&["--no-cache", "--format", "json-lines"], TWO].concat(),
    )
    .exits(0);
    let both: u64 = events
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|event: &Value| event["event"] == "download-finished")
        .map(|event| event["bytes"].as_u64().unwrap())
        .sum();
    std::fs::remove_file(lab.path(LOCK)).unwrap();
    let limited = |limit: &str| {
        let options = ["--max-download", limit, "--jobs", "1"];
        lock(&lab, &[&options, TWO].concat())
    };
    let outcome = limited(&format!("{}B", both - 1)).exits(2);
    outcome.stderr_has("bytes that this run may download");
    outcome.stderr_has("help: raise --max-download;");
    assert!(!lab.path(LOCK).exists());
    assert_exit(&limited(&format!("{}B", both - 1)), 0);
    assert_exit(&limited("0"), 0);
    limited("5 apples")
        .exits(2)
        .stderr_has("as in 500MB or 2GiB");
}

#[test]
fn the_store_can_be_left_alone() {
    let (registry, lab) = with_registry(DEMO);
    assert_exit(&lock(&lab, &[&["--no-cache"], TWO].concat()), 0);
    assert!(!lab.path(STORE).exists());
    assert_exit(&lock(&lab, &[&["--prove"], TWO].concat()), 0);
    assert_eq!(
        (downloads(&registry), objects(&lab).len()),
        (4, 3),
        "--prove keeps facts"
    );
    assert_exit(&lock(&lab, &[&["--prove"], TWO].concat()), 0);
    assert_eq!(downloads(&registry), 6, "and uses none");
    assert_exit(&lock(&lab, TWO), 0);
    assert_eq!(downloads(&registry), 6);
}

#[test]
fn packages_without_a_signature_leave_no_fact() {
    let lab = Lab::new();
    lab.write("main.tf", DEMO);
    lab.packed(
        "mirror",
        "registry.terraform.io/acme/demo/1.0.0/linux_amd64",
        "x",
    );
    let mut args = vec!["lock", "--fs-mirror", "mirror", "--platform", "linux_amd64"];
    let mut lab = lab;
    lab.set("XDG_CACHE_HOME", lab.path("home/.cache"));
    assert_exit(&lab.run(&args), 0);
    args.push("--check");
    assert_exit(&lab.run(&args), 0);
    assert!(!lab.path(STORE).exists());
}

#[test]
fn json_names_the_fact_that_a_hash_comes_from() {
    let (_registry, lab) = locked();
    lab.write("other/main.tf", DEMO);
    let outcome = lock(&lab, &[&["other", "--format", "json"], TWO].concat());
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let hashes = json["roots"][0]["providers"][0]["hashes"]
        .as_array()
        .unwrap();
    let h1: Vec<_> = hashes
        .iter()
        .filter(|row| row["hash"].as_str().unwrap().starts_with("h1:"))
        .collect();
    assert_eq!(h1.len(), 2);
    for row in h1 {
        assert_eq!(row["provenance"], "proven");
        assert!(row["evidence"]["fact"]["since"].is_string(), "{row}");
        assert_eq!(row["evidence"].get("package"), None, "it was not looked at");
    }
}

#[test]
fn a_store_that_cannot_be_trusted_is_ignored_with_a_warning() {
    type Spoil = fn(&Lab, &std::path::Path);
    let damage: &[(&str, Spoil)] = &[
        ("damaged", |_, object| {
            let text = std::fs::read_to_string(object).unwrap();
            std::fs::write(object, text.replace("h1:", "h1:A")).unwrap();
        }),
        ("cut off", |_, object| {
            std::fs::write(object, "lockctl fact 1\n").unwrap()
        }),
        ("empty", |_, object| std::fs::write(object, "").unwrap()),
        ("something else", |_, object| {
            std::fs::write(object, [0xff; 100_000]).unwrap()
        }),
        ("a directory", |_, object| {
            std::fs::remove_file(object).unwrap();
            std::fs::create_dir(object).unwrap();
        }),
    ];
    for (name, spoil) in damage {
        let (registry, lab) = locked();
        let before = lab.read(LOCK);
        for object in objects(&lab) {
            spoil(&lab, &lab.path(STORE).join(object));
        }
        lab.write("other/main.tf", DEMO);
        let outcome = lock(&lab, &[&["other"], TWO].concat()).exits(0);
        assert_eq!(downloads(&registry), 4, "{name}");
        assert_eq!(lab.read(&format!("other/{LOCK}")), before, "{name}");
        let warnings = outcome.stderr.matches("lockctl: facts-1/").count();
        assert!(warnings >= 2, "{name}: {}", outcome.stderr);
    }
}

#[cfg(unix)]
#[test]
fn a_store_that_others_may_use_is_neither_read_nor_written() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let (registry, lab) = locked();
    let before = objects(&lab);
    let mode = |mode| {
        std::fs::set_permissions(lab.path(STORE), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for (wanted, downloaded) in [(0o777, 4), (0o755, 6)] {
        mode(wanted);
        let outcome = lock(&lab, TWO).exits(0);
        assert_eq!(downloads(&registry), downloaded);
        let warning = "home/.cache/lockctl: the store was ignored: other users may use it; `chmod 700` makes it private\n";
        assert_eq!(
            outcome.stderr.matches(warning).count(),
            1,
            "{}",
            outcome.stderr
        );
    }
    mode(0o700);
    std::fs::rename(lab.path(STORE), lab.path("elsewhere")).unwrap();
    symlink(lab.path("elsewhere"), lab.path(STORE)).unwrap();
    let outcome = lock(&lab, TWO).exits(0);
    assert_eq!(downloads(&registry), 8);
    outcome.stderr_has("it is a link or a file, not a directory");
    std::fs::remove_file(lab.path(STORE)).unwrap();
    std::fs::rename(lab.path("elsewhere"), lab.path(STORE)).unwrap();
    assert_eq!(objects(&lab), before);
    assert_exit(&lock(&lab, TWO), 0);
    assert_eq!(downloads(&registry), 8);
}

#[test]
fn a_recorded_h1_that_facts_contradict_is_an_alarm() {
    let (_registry, lab) = with_registry(DEMO);
    let one = ["--platform", "linux_amd64"];
    assert_exit(&lock(&lab, &one), 0);
    let h1 = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.contains("\"h1:"));
        lines.map(str::to_owned).collect()
    };
    let own = h1(&lab.read(LOCK));
    assert_exit(&lock(&lab, &["--platform", "all"]), 0);
    // As many h1: as packages, but one of them is of no package.
    let locked = lab.read(LOCK);
    let all = h1(&locked);
    let other = all.iter().find(|line| !own.contains(line)).unwrap();
    let wrong = format!("    \"h1:{}=\",", "A".repeat(43));
    lab.write(LOCK, locked.replace(other, &wrong));
    // One package is looked at; what the others hold is known, or is not.
    assert_exit(&lock(&lab, &[&one[..], &["--no-cache"]].concat()), 0);
    lock(&lab, &one).exits(1).stderr_eq(str![[r#"
error: the signed checksums of registry.terraform.io/acme/demo 1.0.0 contradict a hash of the lock file
  cause: h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= is of none of its packages
  help: nothing was written: such a hash accepts a package that no signature covers; find out first where it came from; `lockctl lock . --flavor terraform@1.11 --repair` replaces what is wrong

"#]]);
}

#[test]
fn what_is_recorded_and_known_is_completed_offline() {
    let (registry, lab) = locked();
    let complete = lab.read(LOCK);
    let asked = requests(&registry);
    let outcome = lock(&lab, &[&["--offline"], TWO].concat()).exits(0);
    outcome.stdout_eq(str![[r#"
acme/demo  1.0.0  ~> 1.0.0  kept  2 platforms  0 hashes added, 2 kept
.terraform.lock.hcl is up to date

"#]]);
    // An h1: that is missing is added.
    let cut: String = complete
        .lines()
        .filter(|line| !line.contains("\"h1:"))
        .map(|line| format!("{line}\n"))
        .collect();
    lab.write(LOCK, cut);
    let outcome = lock(&lab, &[&["--offline"], TWO].concat()).exits(0);
    outcome.stdout_eq(str![[r#"
acme/demo  1.0.0  ~> 1.0.0  kept  2 platforms  2 hashes added, 2 kept
2 hashes added: 2 proven by an earlier run
updated .terraform.lock.hcl

"#]]);
    assert_eq!(lab.read(LOCK), complete);
    assert_eq!(requests(&registry), asked, "no request was made");
}

#[test]
fn what_is_not_known_offline_is_an_error() {
    let (registry, lab) = locked();
    let asked = requests(&registry);
    let more = [
        "--offline",
        "--platform",
        "linux_amd64,darwin_arm64,windows_amd64",
    ];
    lock(&lab, &more).exits(2).stderr_eq(str![[r#"
error: the h1: of registry.terraform.io/acme/demo 1.0.0 for windows_amd64 is not known
  cause: no earlier run kept them, and --offline forbids network requests
  help: run it once without --offline

"#]]);
    lock(&lab, &[&more[..], &["--no-cache"]].concat()).exits(2).stderr_eq(str![[r#"
error: the h1: of registry.terraform.io/acme/demo 1.0.0 for darwin_arm64, linux_amd64, windows_amd64 are not known
  cause: no earlier run kept them, and --offline forbids network requests
  cause: only 2 recorded h1: may be those of some of them
  help: run it once without --offline

"#]]);
    // Two h1: are recorded, for two platforms.
    lock(&lab, &[&["--offline", "--no-cache"], TWO].concat()).exits(0).stderr_eq(str![[r#"
note: acme/demo 1.0.0: whether darwin_arm64, linux_amd64 are covered is not known, since no source was asked; enough recorded h1: are left for that

"#]]);
    // A hash that no package can have stands for no platform.
    let whole = lab.read(LOCK);
    lab.write(LOCK, whole.replacen("=\",", "\",", 1));
    let outcome = lock(&lab, &[&["--offline", "--no-cache"], TWO].concat()).exits(2);
    outcome.stderr_eq(str![[r#"
error: the h1: of registry.terraform.io/acme/demo 1.0.0 for darwin_arm64, linux_amd64 are not known
  cause: no earlier run kept them, and --offline forbids network requests
  cause: only 1 recorded h1: may be that of one of them
  help: run it once without --offline

"#]]);
    lab.write(LOCK, &whole);
    lab.write("new/main.tf", DEMO);
    let outcome = lock(&lab, &["--offline", "new"]).exits(2);
    outcome.stderr_eq(str![[r#"
error: the versions of registry.terraform.io/acme/demo are not known
  cause: there is no lock file, and --offline forbids network requests
  help: run it once without --offline

"#]]);
    let outcome = lab.run(&["update", "--offline", "--flavor", "terraform@1.11"]);
    assert_exit(&outcome, 2);
    outcome.stderr_eq(str![[r#"
error: the versions of registry.terraform.io/acme/demo are not known
  cause: the locked version is to be moved, and --offline forbids network requests
  help: run it once without --offline

"#]]);
    assert_eq!(requests(&registry), asked, "no request was made");
}

#[test]
fn a_platform_that_the_release_lacks_is_known_offline() {
    let (_registry, lab) = with_registry(DEMO);
    assert_exit(&lock(&lab, &[]), 0);
    lock(&lab, &["--offline"]).exits(0).stderr_eq(str![[r#"
note: acme/demo 1.0.0 has no package for darwin_amd64: skipped; for `verify`, write `provider "acme/demo" { platforms = ["darwin_arm64", "linux_amd64", "linux_arm64", "windows_amd64"] }` to .lockctl.hcl

"#]]);
}

#[test]
fn what_a_killed_run_left_is_removed_by_the_next_one() {
    let (_registry, lab) = locked();
    let left = [".lockctl-a1B2c3", "home/.cache/lockctl/new/.lockctl-a1B2c3"];
    let remaining = || left.map(|path| lab.path(path).exists());
    for path in left {
        lab.write(path, "half a fi");
    }
    assert_exit(&lock(&lab, &[&["--check"], TWO].concat()), 0);
    assert_eq!(
        remaining(),
        [true, false],
        "--check writes nothing in a root"
    );
    assert_exit(&lock(&lab, TWO), 0);
    assert_eq!(remaining(), [false, false]);
    assert_eq!(objects(&lab).len(), 3);
}

/// How many documents of packages were asked for so far.
fn documents(registry: &Registry) -> usize {
    let asked = requests(registry).into_iter();
    let asked = asked.filter(|(path, _)| path.contains("/download/"));
    asked.map(|(_, count)| count).sum()
}

#[test]
fn the_list_of_a_release_is_enough_for_what_is_known() {
    let (registry, lab) = locked();
    assert_eq!(documents(&registry), 2);
    lock(&lab, TWO).exits(0);
    assert_eq!(documents(&registry), 3, "the list comes with one of them");
    // What the release does not have is not the one that is asked for.
    let with_more = ["--platform", "common"];
    assert_exit(&lock(&lab, &with_more), 0);
    let before = (documents(&registry), lab.read(LOCK));
    assert_exit(&lock(&lab, &with_more), 0);
    assert_eq!(
        documents(&registry),
        before.0 + 2,
        "one that is there, one that is not"
    );
    assert_eq!(lab.read(LOCK), before.1);
}

#[test]
fn a_list_that_does_not_name_what_is_known_changes_nothing() {
    let (registry, lab) = locked();
    let before = lab.read(LOCK);
    let package = |platform| Packages::recorded().zip(&format!("demo/1.0.0/{platform}"));
    let line = |platform: &str, zip: &[u8]| {
        let zh = lockctl::hash::zh(zip).unwrap();
        format!(
            "{}  terraform-provider-demo_1.0.0_{platform}.zip\n",
            zh.value()
        )
    };
    let own = package("linux_amd64");
    for second in [line("darwin_arm64", b"another"), String::new()] {
        let sums = format!("{}{second}", line("linux_amd64", &own));
        registry.replace_sums("acme/demo", "1.0.0", sums.as_bytes());
        let with = lock(&lab, TWO);
        let without = lock(&lab, &[&["--no-cache"], TWO].concat());
        assert_ne!(with.code, 0, "{with:?}");
        assert_eq!((with.code, with.stderr), (without.code, without.stderr));
        assert_eq!(lab.read(LOCK), before);
    }
}

#[test]
fn only_the_missing_package_is_downloaded() {
    let (registry, lab) = locked();
    let more = ["--platform", "linux_amd64,darwin_arm64,windows_amd64"];
    assert_exit(&lock(&lab, &more), 0);
    assert_eq!(downloads(&registry), 3);
}

#[test]
fn offline_makes_no_request() {
    let (registry, lab) = with_registry(DEMO);
    lock(&lab, &["--offline"]).exits(2).stderr_eq(str![[r#"
error: the versions of registry.terraform.io/acme/demo are not known
  cause: there is no lock file, and --offline forbids network requests
  help: run it once without --offline

"#]]);
    assert!(registry.entries().is_empty());
    lab.write(LOCK, "");
    let outcome = lock(&lab, &["--offline"]);
    let cause =
        "cause: the lock file has no entry for it, and --offline forbids network requests\n";
    outcome.stderr_has(cause);
}
