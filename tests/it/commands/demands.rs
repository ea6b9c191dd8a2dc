//! What a project file demands of packages, and `lock` enforces.

use super::registry::{DEMO, lock, steady, with_registry};
use super::upstream::pin;
use super::*;
use crate::registry::{Origin, Registry, TestKey};

const ONE: [&str; 2] = ["--platform", "linux_amd64"];

fn zips(registry: &Registry) -> usize {
    let entries = registry.entries().into_iter();
    entries
        .filter(|entry| entry.target.ends_with(".zip"))
        .count()
}

#[test]
fn a_release_that_another_key_signs_is_refused_before_it_is_downloaded() {
    let (registry, lab) = with_registry(DEMO);
    pin(&lab, "34365D9472D7468F");
    let outcome = lock(&lab, &ONE).exits(1);
    steady(&registry, &outcome.stderr).reads(str![[r#"
error: registry.terraform.io/acme/demo 1.0.0 is signed by key KEYID, which the policy does not pin
  cause: key 34365D9472D7468F is pinned in .lockctl.hcl:2
  help: nothing was written or downloaded; only if the publisher says that the key has changed, pin the new one

"#]]);
    assert!(!lab.path(LOCK).exists());
    assert_eq!(zips(&registry), 0);

    let json = lock(&lab, &["--platform", "linux_amd64", "--format", "json"]);
    let said = json.json();
    let finding = &said["roots"][0]["findings"][0];
    assert_eq!(
        [&finding["rule"], &finding["file"], &finding["line"]],
        [&json!("key-not-allowed"), &json!(".lockctl.hcl"), &json!(2)]
    );
    pin(&lab, &TestKey::Main.id());
    assert_exit(&lock(&lab, &ONE), 0);
}

#[test]
fn a_pin_whose_rule_is_off_is_none() {
    let (_registry, lab) = with_registry(DEMO);
    pin(&lab, "34365D9472D7468F");
    let off = "rule \"key-not-allowed\" {\n  level = \"off\"\n  reason = \"moved\"\n}\n";
    lab.write(".lockctl.hcl", lab.read(".lockctl.hcl") + off);
    assert_exit(&lock(&lab, &ONE), 0);
}

#[test]
fn packages_of_mirrors_have_no_signature() {
    let (registry, lab) = with_registry(DEMO);
    let url = format!("{}/mirror/", registry.url(Origin::Lab));
    let from_mirror = [
        "--platform",
        "linux_amd64,darwin_arm64",
        "--net-mirror",
        &url,
    ];
    lab.write(".lockctl.hcl", "trust {\n  require_signature = true\n}\n");
    let outcome = lock(&lab, &from_mirror).exits(2);
    steady(&registry, &outcome.stderr).reads(str![[r#"
error: the package of registry.terraform.io/acme/demo 1.0.0 for darwin_arm64 is not signed: https://REGISTRY/mirror/registry.terraform.io/acme/demo/terraform-provider-demo_1.0.0_darwin_arm64.zip
  cause: a signature is required in .lockctl.hcl:2
  cause: the same applies to linux_amd64
  help: nothing was written or downloaded; mirrors do not sign packages, and registry.terraform.io may name no key: lock from a registry that signs this release

"#]]);
    assert!(!lab.path(LOCK).exists());
    assert_eq!(zips(&registry), 0);
    // A registry signs.
    assert_exit(&lock(&lab, &ONE), 0);

    std::fs::remove_file(lab.path(LOCK)).unwrap();
    pin(&lab, &TestKey::Main.id());
    let outcome = lock(&lab, &from_mirror).exits(1);
    outcome.stderr_has("is pinned in .lockctl.hcl:2");
    lab.write(".lockctl.hcl", "trust {\n  require_signature = false\n}\n");
    assert_exit(&lock(&lab, &from_mirror), 0);
}

#[test]
fn a_provider_that_is_not_allowed_is_not_asked_for() {
    let (registry, lab) = with_registry(DEMO);
    lab.write(".lockctl.hcl", "policy {\n  allow = [\"hashicorp/*\"]\n}\n");
    lock(&lab, &ONE).exits(1).stderr_eq(str![[r#"
error[provider-not-allowed]: registry.terraform.io/acme/demo is not a provider that the policy allows
 --> .lockctl.hcl:2:11
  |
2 |   allow = ["hashicorp/*"]
  |           ^^^^^^^^^^^^^^^ only these are allowed
  |
 ::: main.tf:5:17
  |
5 |       version = "~> 1.0.0"
  |                 ---------- required here
  |
  = help: use another provider, or add "registry.terraform.io/acme/demo" to `allow` in .lockctl.hcl


"#]]);
    assert!(!lab.path(LOCK).exists() && registry.entries().is_empty());
    let off = "rule \"provider-not-allowed\" {\n  level = \"off\"\n  provider = \"acme/demo\"\n  \
               reason = \"soon removed\"\n}\n";
    lab.write(".lockctl.hcl", lab.read(".lockctl.hcl") + off);
    let outcome = lock(&lab, &ONE).exits(0);
    outcome.stderr_lacks("provider-not-allowed");
    lab.write(".lockctl.hcl", "policy {\n  allow = [\"acme/*\"]\n}\n");
    assert_exit(&lock(&lab, &ONE), 0);
}

#[test]
fn a_provider_that_is_not_allowed_is_locked_with_a_warning_if_that_is_its_level() {
    let (_registry, lab) = with_registry(DEMO);
    let policy = "policy {\n  allow = [\"hashicorp/*\"]\n}\n";
    for level in ["warning", "note"] {
        let rule = format!("rule \"provider-not-allowed\" {{\n  level = \"{level}\"\n}}\n");
        lab.write(".lockctl.hcl", format!("{policy}{rule}"));
        let outcome = lock(&lab, &ONE).exits(0);
        let title = format!(
            "{level}[provider-not-allowed]: registry.terraform.io/acme/demo is not a provider that the policy allows\n"
        );
        outcome.stderr_has(&title);
        assert!(lab.path(LOCK).exists());
    }
}
