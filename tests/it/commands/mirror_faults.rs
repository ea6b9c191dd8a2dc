//! `mirror` where something is wrong: nothing wrong gets its final name, and each fault has a message.

use super::mirror::{locked, mirror, tree, zips_requested};
use super::registry::{DEMO, TWO, lock, steady, with_registry};
use super::*;

const ONE: &[&str] = &["--platform", "linux_amd64"];

/// Changes the lock file line by line; a line is left out where `change` returns `None`.
fn rewrite_lock(lab: &Lab, change: impl Fn(&str) -> Option<String>) {
    let lines: Vec<String> = lab.read(LOCK).lines().filter_map(change).collect();
    lab.write(LOCK, lines.join("\n") + "\n");
}

/// Returns a hash line of a scheme with other digits.
fn falsified(line: &str, scheme: &str, digits: &str) -> Option<String> {
    let rest = line.trim().strip_prefix(&format!("\"{scheme}:"))?;
    let rest = rest.replacen(&rest[..4], digits, 1);
    Some(format!("    \"{scheme}:{rest}"))
}

/// The commonest lock file: every `zh:` of the release, and one `h1:`, of the machine that wrote it.
#[test]
fn a_lock_file_of_one_machine_serves_for_other_platforms() {
    let (registry, lab) = with_registry(DEMO);
    assert_exit(&lock(&lab, &["--platform", "darwin_arm64"]), 0);
    let outcome = mirror(&lab, &[ONE, &["--no-cache"]].concat()).exits(0);
    steady(&registry, &outcome.stderr).reads(str![[r#"
note: lock files have the zh: but no known h1: for linux_amd64: `init` accepts the zips, and unpacked packages only after `lockctl lock --platform linux_amd64`

"#]]);
    let is_zip = |name: &&String| name.ends_with("_linux_amd64.zip");
    assert_eq!(tree(&lab.path("m")).keys().filter(is_zip).count(), 1);
    // A second run finds it right, with and without facts, and so does --check.
    for more in [&["--no-cache"][..], &[], &["--check"]] {
        assert_exit(&mirror(&lab, &[ONE, more].concat()), 0);
    }
}

/// More `h1:` than the release has unknown packages: at least one is of none of them.
#[test]
fn an_h1_of_no_package_is_an_alarm() {
    let (registry, lab) = locked();
    rewrite_lock(&lab, |line| {
        Some(falsified(line, "h1", "AAAA").unwrap_or_else(|| line.to_owned()))
    });
    let outcome = mirror(&lab, &["--platform", "all", "--no-cache"]).exits(1);
    steady(&registry, &outcome.stderr).reads(str![[r#"
error: the lock file has 2 h1: hashes for registry.terraform.io/acme/demo 1.0.0 of no package seen here, and the release has no other packages
  help: nothing of the release was placed; find out who wrote them: `lockctl verify` names them, and `lockctl lock --repair` replaces them

"#]]);
    assert!(!lab.path("m").exists());
}

/// Nothing but an `h1:` could vouch for the package, and it is of another one.
#[test]
fn an_unknown_h1_is_an_alarm_where_no_zh_covers_the_package() {
    let (registry, lab) = locked();
    rewrite_lock(&lab, |line| {
        let changed = falsified(line, "h1", "AAAA").unwrap_or_else(|| line.to_owned());
        (!line.contains("\"zh:")).then_some(changed)
    });
    let outcome = mirror(&lab, &[ONE, &["--no-cache"]].concat()).exits(1);
    steady(&registry, &outcome.stderr).reads(str![[r#"
error: the package of registry.terraform.io/acme/demo 1.0.0 for linux_amd64 has h1:AzthgEmn5NwxdRL0khdiFc6UynfM+QgLCiAzqwrkoUY=, and none of the 2 h1: hashes in the lock file is that
  help: nothing of the release was placed; either the lock file is not for linux_amd64, which `lockctl lock --platform linux_amd64` adds, or it was falsified: find out who wrote it

"#]]);
    assert!(!lab.path("m").exists());
}

/// The `h1:` is right, but the list in the lock file is not that which the registry signed.
#[test]
fn a_list_that_is_not_the_signed_one_is_an_alarm() {
    let (registry, lab) = locked();
    rewrite_lock(&lab, |line| {
        Some(falsified(line, "zh", "0000").unwrap_or_else(|| line.to_owned()))
    });
    let outcome = mirror(&lab, &[ONE, &["--no-cache"]].concat()).exits(1);
    steady(&registry, &outcome.stderr).reads(str![[r#"
error: the package of registry.terraform.io/acme/demo 1.0.0 for linux_amd64 has zh:d03d04fa877a789654ce1d7c24e5c71e1a997e7a97ca4a419f7f09f37ed081a5, which the lock file does not have among the hashes of the release
  help: nothing of the release was placed; `lockctl verify --upstream` compares the lock file with the signed list

"#]]);
    assert!(!lab.path("m").exists());
}

/// With an `h1:` for each `zh:` the number of hashes is that of no list, but the signed list shows that each `zh:` is wrong.
#[test]
fn zips_of_another_release_beside_the_right_h1_are_an_alarm() {
    let (registry, lab) = with_registry(DEMO);
    let locked = ["lock", "--flavor", "terraform@1.11", "--platform", "all"];
    assert_exit(&lab.run(&locked), 0);
    rewrite_lock(&lab, |line| {
        Some(falsified(line, "zh", "0000").unwrap_or_else(|| line.to_owned()))
    });
    let falsified = lab.read(LOCK);
    assert_eq!(
        falsified.matches("\"zh:").count(),
        falsified.matches("\"h1:").count()
    );
    // The list is fetched, or known from the run that locked.
    for more in [&["--no-cache"][..], &[]] {
        let outcome = mirror(&lab, &[ONE, more].concat()).exits(1);
        outcome.stderr_has("which the lock file does not have among the hashes of the release");
        assert!(!lab.path("m").exists());
    }
    assert_eq!(lab.read(LOCK), falsified);
    drop(registry);
}

/// What the signed list of an earlier run does not have is not placed, even if the lock file records it.
#[test]
fn a_kept_list_counts_where_no_request_may_be_made() {
    let (_registry, lab) = with_registry(DEMO);
    let locked = [&["lock", "--flavor", "terraform@1.11"], TWO].concat();
    assert_exit(&lab.run(&locked), 0);
    assert_exit(&mirror(&lab, ONE), 0);
    let zip = "registry.terraform.io/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip";
    let mut altered = std::fs::read(lab.path(&format!("m/{zip}"))).unwrap();
    altered.push(0);
    lab.write(&format!("from/{zip}"), &altered);
    std::fs::remove_dir_all(lab.path("m")).unwrap();
    let hashed = lab.run(&["hash", &format!("from/{zip}")]).stdout;
    let zh = &hashed[hashed.find("zh:").unwrap()..][..67];
    let right = "zh:d03d04fa877a789654ce1d7c24e5c71e1a997e7a97ca4a419f7f09f37ed081a5";
    lab.write(LOCK, lab.read(LOCK).replace(right, zh));
    let offline = [ONE, &["--offline", "--from", "from"]].concat();
    let outcome = mirror(&lab, &offline).exits(2);
    outcome.stderr_has("is not that of the release");
    assert!(!lab.path("m").exists());
    // Without that list the lock file vouches.
    assert_exit(&mirror(&lab, &[&offline[..], &["--no-cache"]].concat()), 0);
}

/// A zip that its registry does not sign is never placed, wherever it comes from.
#[test]
fn other_bytes_are_never_placed() {
    let (registry, lab) = locked();
    registry.reset(&json!({"rules": [
        {"kind": "package", "action": "flip", "times": -1},
    ]}));
    let outcome = mirror(&lab, &[ONE, &["--no-cache"]].concat()).exits(2);
    assert!(tree(&lab.path("m")).is_empty(), "{outcome:#?}");
    steady(&registry, &outcome.stderr).reads(str![[r#"
error: the package of registry.terraform.io/acme/demo 1.0.0 for linux_amd64 could not be fetched
  cause: registry.terraform.io: its package has zh:8a1c5c70c98fcfed7dc8661d480f583a04a2cb872f5a303e5f165b064e676cd4, which is not that of the release
  cause: registry.opentofu.org: its package has zh:8a1c5c70c98fcfed7dc8661d480f583a04a2cb872f5a303e5f165b064e676cd4, which is not that of the release
  help: run the same command again to go on; --from DIR names a directory that has the package

"#]]);
}

#[test]
fn a_download_that_breaks_off_leaves_nothing() {
    let (registry, lab) = locked();
    registry.reset(&json!({"rules": [{"kind": "package", "action": "truncate", "times": -1}]}));
    let outcome = mirror(&lab, ONE).exits(2);
    assert!(tree(&lab.path("m")).is_empty(), "{outcome:#?}");
    registry.reset(&json!({}));
    assert_exit(&mirror(&lab, ONE), 0);
}

/// The length that a server states is not believed: neither memory nor a file of that size is made, and the bytes that
/// arrive are hashed.
#[test]
fn a_length_that_lies_leaves_nothing() {
    let (registry, lab) = locked();
    for bytes in [1, 100, 1 << 20, 1 << 40, u64::MAX / 2] {
        registry.reset(&json!({"rules": [
            {"kind": "package", "action": "length", "bytes": bytes, "times": -1},
        ]}));
        let outcome = mirror(&lab, &[ONE, &["--no-cache"]].concat()).exits(2);
        let error = "error: the package of registry.terraform.io/acme/demo 1.0.0 for linux_amd64 could not be fetched";
        assert!(outcome.stderr.starts_with(error), "{bytes}: {outcome:#?}");
        assert!(tree(&lab.path("m")).is_empty(), "{bytes}: {outcome:#?}");
    }
    registry.reset(&json!({}));
    assert_exit(&mirror(&lab, ONE), 0);
}

#[test]
fn a_registry_without_an_answer_leaves_it_to_the_lock_file() {
    let (registry, lab) = locked();
    assert_exit(&mirror(&lab, TWO), 0);
    std::fs::rename(lab.path("m"), lab.path("other")).unwrap();
    registry.reset(
        &json!({"rules": [{"kind": "versions", "action": "status", "status": 503, "times": -1}]}),
    );
    let outcome = mirror(&lab, &[TWO, &["--no-cache", "--from", "other"]].concat()).exits(0);
    outcome.stderr_has("the zh: of the lock file vouches");
    assert_eq!(zips_requested(&registry), 0);
}

#[test]
fn a_platform_that_does_not_exist_is_an_error_if_it_was_named() {
    let (_registry, lab) = locked();
    mirror(&lab, &["--platform", "plan9_arm"]).exits(2).stderr_eq(str![[r#"
error: registry.terraform.io/acme/demo 1.0.0 for plan9_arm does not exist: the signed list of the release has no package for that platform
  help: the release has packages for darwin_arm64, linux_amd64, linux_arm64, windows_amd64

"#]]);
}

/// A link in the mirror may lead anywhere, so that none is followed.
#[cfg(unix)]
#[test]
fn no_link_is_followed() {
    let (_registry, lab) = locked();
    std::fs::create_dir_all(lab.path("m/registry.terraform.io")).unwrap();
    std::fs::create_dir(lab.path("outside")).unwrap();
    crate::disk::link("../../outside", &lab.path("m/registry.terraform.io/acme"));
    mirror(&lab, ONE).exits(2).stderr_eq(str![[r#"
error: m/registry.terraform.io/acme is a symbolic link, and a mirror is written without following any
  help: remove the link, or name another directory

"#]]);
    assert!(tree(&lab.path("outside")).is_empty());
    mirror(&lab, &[ONE, &["--prune"]].concat()).exits(2);
}

#[test]
fn a_file_in_the_place_of_the_directory_is_named() {
    let (_registry, lab) = locked();
    lab.write("m", b"a file");
    mirror(&lab, ONE).exits(2).stderr_eq(str![[r#"
error: m cannot be written
  cause: File exists (os error 17)
  help: a file is in the place of a directory: remove it, or name another directory

"#]]);
}

/// What other roots need would be removed, if one of them cannot be read.
#[test]
fn nothing_is_removed_if_a_lock_file_is_broken() {
    let (_registry, lab) = locked();
    assert_exit(&mirror(&lab, TWO), 0);
    let before = tree(&lab.path("m"));
    lab.write("broken/.terraform.lock.hcl", b"provider {");
    lab.write(
        "m/example.com/t/x/terraform-provider-x_1.0.0_linux_amd64.zip",
        b"x",
    );
    let outcome = mirror(&lab, &[TWO, &["--prune", "-r"]].concat()).exits(2);
    outcome.stderr_has("nothing was removed");
    assert_eq!(tree(&lab.path("m")).len(), before.len() + 1);
}

/// A demanded signature is known from the run that locked, or from the list, which is fetched in that case.
#[test]
fn a_demanded_signature_is_checked_where_everything_is_there() {
    let (registry, lab) = with_registry(DEMO);
    lab.write(".lockctl.hcl", "trust {\n  require_signature = true\n}\n");
    let locked = [&["lock", "--flavor", "terraform@1.11"], TWO].concat();
    assert_exit(&lab.run(&locked), 0);
    assert_exit(&mirror(&lab, TWO), 0);
    registry.reset(&json!({}));
    assert_exit(&mirror(&lab, TWO), 0);
    assert_eq!(registry.requests(), [""; 0]);
    assert_exit(&mirror(&lab, &[TWO, &["--no-cache"]].concat()), 0);
    assert_eq!(zips_requested(&registry), 0);
    assert!(!registry.requests().is_empty());
    mirror(&lab, &[TWO, &["--no-cache", "--offline"]].concat()).exits(2).stderr_eq(str![[r#"
error: it is not known who signed registry.terraform.io/acme/demo 1.0.0: no request may be made
  help: the project file demands a signature; run `lockctl lock` where the registry can be reached, which keeps what it finds out about signatures
note: no signed list of registry.terraform.io was used (no request may be made): the zh: of the lock file vouches for its packages

"#]]);
    let pin = "provider \"acme/demo\" { key_id = \"34365D9472D7468F\" }";
    lab.write(".lockctl.hcl", format!("policy {{\n  {pin}\n}}\n"));
    assert_exit(&mirror(&lab, TWO), 1);
}
