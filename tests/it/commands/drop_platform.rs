//! `lock --drop-platform`: hashes of platforms that are not wanted any more.

use lockctl::hash::Hash;
use lockctl::store::FactOrigin;

use super::facts::{downloads, lock, locked};
use super::facts_explain::replace_facts;
use super::registry::{requests, steady};
use super::*;

/// Keeps one of two platforms.
const DROP: &[&str] = &[
    "--platform",
    "linux_amd64",
    "--drop-platform",
    "darwin_arm64",
];

/// Counts the hashes of a scheme.
fn count(lock: &str, scheme: &str) -> usize {
    lock.matches(&format!("\"{scheme}:")).count()
}

#[test]
fn the_h1_of_a_platform_is_removed_and_the_signed_list_stays() {
    let (registry, lab) = locked();
    let before = lab.read(LOCK);
    let outcome = lock(&lab, DROP).exits(0);
    steady(&registry, &outcome.stdout).reads(str![[r#"
acme/demo  1.0.0  ~> 1.0.0  kept  1 platform  0 hashes added, 1 removed  self-signed, key ID KEYID
    of platforms that are not wanted any more:
      h1:x9H1h1LABKmLYuuofnqhAunnT6KdAoOwaC5LWNJs24U=  darwin_arm64
updated .terraform.lock.hcl

"#]]);
    let after = lab.read(LOCK);
    assert_eq!((count(&before, "h1"), count(&after, "h1")), (2, 1));
    assert_eq!((count(&before, "zh"), count(&after, "zh")), (4, 4));
    assert_eq!(downloads(&registry), 2, "nothing was downloaded for that");
    let outcome = lab.run(&["show", "--flavor", "terraform@1.11"]);
    outcome.stdout_has("linux_amd64");
    outcome.stdout_lacks("darwin_arm64");
    // Once is enough.
    lock(&lab, DROP).exits(0).stdout_has("is up to date");
}

#[test]
fn it_works_offline_and_can_be_tried() {
    let (registry, lab) = locked();
    let before = lab.read(LOCK);
    let asked = requests(&registry);
    let offline = |more: &[&str]| lock(&lab, &[&["--offline"], DROP, more].concat());
    offline(&["--check"]).exits(1);
    assert_eq!(lab.read(LOCK), before);
    offline(&["--dry-run"]).exits(0).stdout_eq(str![[r#"
acme/demo  1.0.0  ~> 1.0.0  kept  1 platform  0 hashes to add, 1 to remove, 3 kept
    of platforms that are not wanted any more:
      h1:x9H1h1LABKmLYuuofnqhAunnT6KdAoOwaC5LWNJs24U=  darwin_arm64
warning  acme/demo  1.0.0  hashes-removed  1 h1: was removed, so fewer platforms are locked
    - h1:x9H1h1LABKmLYuuofnqhAunnT6KdAoOwaC5LWNJs24U=  darwin_arm64
.terraform.lock.hcl would change; nothing was written

"#]]);
    assert_eq!(lab.read(LOCK), before);
    let outcome = offline(&["--format", "json"]).exits(0);
    let json = outcome.json();
    let dropped = &json["roots"][0]["providers"][0]["dropped"];
    assert_eq!(dropped[0]["platforms"], json!(["darwin_arm64"]));
    assert_eq!(count(&lab.read(LOCK), "h1"), 1);
    assert_eq!(requests(&registry), asked);
}

#[test]
fn a_platform_that_is_wanted_is_not_dropped() {
    let (_registry, lab) = locked();
    let before = lab.read(LOCK);
    let drop = ["--drop-platform", "linux_arm64,darwin_arm64"];
    let outcome = lock(&lab, &drop).exits(2);
    outcome.stderr_eq(str![[r#"
error: linux_arm64 is to be dropped, but it is wanted
  cause: it is one of the common platforms, which are wanted unless others are named
  help: write the platforms that stay to .lockctl.hcl, as in `platforms = ["linux_amd64"]`: else the next run adds it again

"#]]);
    for typed in ["linux_amd64,darwin_arm64", "common", "all"] {
        let outcome = lock(&lab, &[&drop[..], &["--platform", typed]].concat()).exits(2);
        outcome.stderr_has("cause: --platform names it");
    }
    lab.write(".lockctl.hcl", "platforms = [\"darwin_arm64\"]\n");
    lock(&lab, &drop).exits(2).stderr_eq(str![[r#"
error: darwin_arm64 is to be dropped, but it is wanted
  cause: `platforms` in .lockctl.hcl names it, or a preset that has it, for acme/demo
  help: take it out of `platforms` in .lockctl.hcl: else the next run adds it again

"#]]);
    assert_eq!(lab.read(LOCK), before);
    lab.write(".lockctl.hcl", "platforms = [\"linux_amd64\"]\n");
    assert_exit(&lock(&lab, &drop), 0);
    assert_eq!(count(&lab.read(LOCK), "h1"), 1);
}

#[test]
fn what_nothing_proves_stays() {
    let (_registry, lab) = locked();
    let before = lab.read(LOCK);
    lock(&lab, &[DROP, &["--no-cache"]].concat()).exits(0).stderr_eq(str![[r#"
note: acme/demo 1.2.0 is available, a minor upgrade from 1.0.0
warning: acme/demo 1.0.0: which h1: belongs to darwin_arm64 alone is not known, so none was removed; `lockctl lock . --flavor terraform@1.11 --platform darwin_arm64` downloads the package and keeps what it holds

"#]]);
    assert_eq!(lab.read(LOCK), before);
    // Whatever is recorded belongs to platforms that stay, or the release has no such package.
    for platform in ["windows_amd64", "openbsd_arm"] {
        let drop = ["--platform", "linux_amd64", "--drop-platform", platform];
        lock(&lab, &drop).exits(0).stderr_lacks("is not known");
        assert_eq!(lab.read(LOCK), before);
    }
}

#[test]
fn a_hash_that_a_platform_shares_stays() {
    let (_registry, lab) = locked();
    let before = lab.read(LOCK);
    let own = before.lines().find(|line| line.contains("\"h1:")).unwrap();
    let own: Hash = own.trim().trim_matches(['"', ',']).parse().unwrap();
    replace_facts(&lab, &FactOrigin::Computed, |fact| {
        fact.h1 = own.clone();
        fact.files.clear();
    });
    lock(&lab, &[&["--offline"], DROP].concat()).exits(0);
    assert_eq!(lab.read(LOCK), before);
    // With both dropped nothing is left that has it.
    lab.write(".lockctl.hcl", "platforms = [\"windows_amd64\"]\n");
    let drop = ["--offline", "--drop-platform", "linux_amd64,darwin_arm64"];
    assert_exit(&lock(&lab, &drop), 0);
    assert_eq!(lab.read(LOCK).matches(own.as_str()).count(), 0);
}

#[test]
fn locked_platforms_are_those_without_the_dropped_one() {
    let (_registry, lab) = locked();
    let outcome = lock(
        &lab,
        &["--platform", "locked", "--drop-platform", "darwin_arm64"],
    );
    assert_exit(&outcome, 0);
    assert_eq!(count(&lab.read(LOCK), "h1"), 1);
}

#[test]
fn opentofu_adds_it_again() {
    let (_registry, lab) = locked();
    std::fs::remove_file(lab.path(LOCK)).unwrap();
    let tofu = |more: &[&str]| lab.run(&[&["lock", "--flavor", "opentofu@1.12"], more].concat());
    assert_exit(&tofu(super::registry::TWO), 0);
    let outcome = tofu(DROP).exits(0);
    outcome.stderr_has("`tofu init` adds the removed h1: again if its registry states them");
}
