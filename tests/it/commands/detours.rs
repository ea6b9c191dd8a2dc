//! `lock` with a failing place of a package: the other public registry has the same zip, which its hash proves.

use super::mirror::zips_requested;
use super::registry::{DEMO, lock, steady, with_registry};
use super::*;

const ONE: &[&str] = &["--platform", "linux_amd64"];

/// After a refusal or wrong bytes the other registry is used, and the lock file is the same.
#[test]
fn a_place_that_fails_is_left_for_the_other_registry() {
    let (registry, lab) = with_registry(DEMO);
    assert_exit(&lock(&lab, ONE), 0);
    let right = lab.read(LOCK);
    assert_eq!(zips_requested(&registry), 1);
    for action in [
        json!({"action": "status", "status": 403}),
        json!({"action": "status", "status": 410}),
        json!({"action": "flip"}),
    ] {
        let mut rule = action.clone();
        rule["kind"] = "package".into();
        rule["times"] = 1.into();
        registry.reset(&json!({ "rules": [rule] }));
        std::fs::remove_file(lab.path(LOCK)).unwrap();
        let outcome = lock(&lab, ONE).exits(0);
        assert_eq!(lab.read(LOCK), right, "{action}");
        assert_eq!(zips_requested(&registry), 2, "{action}");
        assert!(
            outcome.stderr.contains(
                "acme/demo 1.0.0 for linux_amd64: downloaded from registry.opentofu.org, which has the same \
                 signed zip, after registry.terraform.io failed: "
            ),
            "{action} {outcome:#?}"
        );
    }
}

/// Bytes that the signed list does not name are refused, and the reported failure is that of the package's own place.
#[test]
fn other_bytes_are_refused_everywhere() {
    let (registry, lab) = with_registry(DEMO);
    registry.reset(&json!({"rules": [{"kind": "package", "action": "flip", "times": -1}]}));
    let outcome = lock(&lab, ONE);
    assert_ne!(outcome.code, 0);
    assert!(!lab.path(LOCK).exists());
    assert_eq!(zips_requested(&registry), 2);
    steady(&registry, &outcome.stderr).lacks("registry.opentofu.org");
}

/// The other registry publishes another zip, which is not downloaded.
#[test]
fn another_zip_is_not_downloaded() {
    let (registry, lab) = with_registry(DEMO);
    registry.reset(&json!({"rules": [
        {"kind": "package", "action": "status", "status": 403, "times": -1},
        {"kind": "download", "action": "wrong_checksum", "skip": 1, "times": -1},
    ]}));
    let outcome = lock(&lab, ONE).exits(2);
    assert_eq!(zips_requested(&registry), 1);
    steady(&registry, &outcome.stdout).reads(str![[r#""#]]);
}
