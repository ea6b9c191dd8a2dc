//! `lock --net-mirror`: what is recorded, what is refused, what is asked.

use super::registry::{DEMO, steady, with_registry};
use super::*;
use crate::registry::{Origin, Registry};

fn lock(registry: &Registry, lab: &Lab, more: &[&str]) -> Outcome {
    let url = format!("{}/mirror/", registry.url(Origin::Lab));
    lab.run(&[&["lock", "--net-mirror", &url], more].concat())
}

#[test]
fn the_output_says_how_hashes_are_known() {
    let (registry, lab) = with_registry(DEMO);
    let outcome = lock(
        &registry,
        &lab,
        &["--flavor", "opentofu", "--platform", "linux_amd64", "-v"],
    );
    assert_exit(&outcome, 0);
    steady(&registry, &outcome.stdout).reads(str![[r#"
acme/demo  1.0.0  ~> 1.0.0  selected  1 platform  2 hashes added
    h1:AzthgEmn5NwxdRL0khdiFc6UynfM+QgLCiAzqwrkoUY=  computed, linux_amd64
    zh:d03d04fa877a789654ce1d7c24e5c71e1a997e7a97ca4a419f7f09f37ed081a5  computed
2 hashes added: 2 computed and not covered by a signature
created .terraform.lock.hcl

"#]]);
}

#[test]
fn hashes_that_cannot_be_checked_are_refused_before_the_download() {
    let (registry, lab) = with_registry(DEMO);
    registry.reset(&json!({"rules": [{
        "kind": "mirror_version", "action": "patch", "times": -1,
        "set": {"archives/linux_amd64/hashes": ["h2:abc"]},
    }]}));
    let outcome = lock(
        &registry,
        &lab,
        &["--flavor", "terraform", "--platform", "linux_amd64"],
    );
    assert_exit(&outcome, 2);
    steady(&registry, &outcome.stderr).reads(str![[r#"
error: the package of registry.terraform.io/acme/demo 1.0.0 for linux_amd64, offered as https://REGISTRY/mirror/registry.terraform.io/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip, cannot be trusted
  cause: the mirror states only hashes of unknown schemes: h2:abc
  help: nothing was written; ask the operator of the registry or mirror to correct the package or its hashes, and do not install it until then

"#]]);
    let zips = registry.requests();
    assert!(
        !zips.iter().any(|request| request.contains(".zip")),
        "{zips:?}"
    );
}

#[test]
fn a_mirror_needs_the_network() {
    let (registry, lab) = with_registry(DEMO);
    let outcome = lock(&registry, &lab, &["--flavor", "terraform", "--offline"]).exits(2);
    outcome.stderr_eq(str![[r#"
error: a network mirror cannot be asked
  cause: --offline forbids network requests
  help: leave out --offline, or name a mirror with --fs-mirror DIR

"#]]);
    assert!(registry.requests().is_empty());
}

#[test]
fn a_missing_slash_is_pointed_out() {
    let (registry, lab) = with_registry(DEMO);
    let url = format!("{}/mirror", registry.url(Origin::Lab));
    let outcome = lab.run(&["lock", "--flavor", "terraform", "--net-mirror", &url]);
    assert_exit(&outcome, 2);
    steady(&registry, &outcome.stderr).reads(str![[r#"
error: the mirror https://REGISTRY/mirror has no package of registry.terraform.io/acme/demo
  cause: required in main.tf:5 ("~> 1.0.0")
  help: the URL https://REGISTRY/mirror does not end in a slash, so its last part was left out: add the slash

"#]]);
}

#[test]
fn a_url_without_https_is_a_usage_error() {
    let (_registry, lab) = with_registry(DEMO);
    let outcome = lab.run(&["lock", "--net-mirror", "http://127.0.0.1/"]);
    assert_exit(&outcome, 2);
    outcome.stderr_eq(str![[r#"
error: invalid value 'http://127.0.0.1/' for '--net-mirror <URL>': http://127.0.0.1/ is no URL of a network mirror, which must use https

For more information, try '--help'.

"#]]);
    let both = words("lock --net-mirror https://127.0.0.1/ --fs-mirror .");
    assert_exit(&lab.run(&both), 2);
}

#[test]
fn many_roots_ask_a_mirror_once() {
    let (registry, lab) = with_registry(DEMO);
    for root in ["a", "b", "c"] {
        lab.write(&format!("{root}/main.tf"), DEMO);
    }
    let more = words("a b c --flavor terraform --platform linux_amd64");
    assert_exit(&lock(&registry, &lab, &more), 0);
    assert_eq!(registry.requests().len(), 3);
    assert_eq!(
        lab.read(&format!("a/{LOCK}")),
        lab.read(&format!("c/{LOCK}"))
    );
}

#[test]
fn a_package_that_has_none_of_the_stated_hashes_is_refused() {
    let (registry, lab) = with_registry(DEMO);
    registry.reset(&json!({"rules": [{
        "kind": "mirror_version", "action": "patch", "times": -1,
        "set": {"archives/linux_amd64/hashes": [format!("zh:{}", "0".repeat(64))]},
    }]}));
    let outcome = lock(
        &registry,
        &lab,
        &["--flavor", "terraform", "--platform", "linux_amd64"],
    );
    assert_exit(&outcome, 2);
    assert!(!lab.path(LOCK).exists());
    steady(&registry, &outcome.stderr).reads(str![[r#"
error: the package of registry.terraform.io/acme/demo 1.0.0 for linux_amd64, offered as https://REGISTRY/mirror/registry.terraform.io/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip, cannot be trusted
  cause: the package has none of the hashes that the mirror states: zh:0000000000000000000000000000000000000000000000000000000000000000
  help: nothing was written; ask the operator of the registry or mirror to correct the package or its hashes, and do not install it until then

"#]]);
}

#[test]
fn a_platform_that_the_mirror_lacks_is_an_error_if_it_was_named() {
    let (registry, lab) = with_registry(DEMO);
    let outcome = lock(
        &registry,
        &lab,
        &["--flavor", "terraform", "--platform", "plan9_arm"],
    );
    assert_exit(&outcome, 2);
    steady(&registry, &outcome.stderr).reads(str![[r#"
error: the mirror https://REGISTRY/mirror/ has no package of registry.terraform.io/acme/demo 1.0.0 for plan9_arm
  help: it has packages for darwin_arm64, linux_amd64, linux_arm64, windows_amd64; the release may have one for plan9_arm: add it to the mirror
warning: providers are rarely released for plan9_arm: is it spelled right?

"#]]);
    let outcome = lock(
        &registry,
        &lab,
        &["--flavor", "terraform", "--platform", "common"],
    );
    assert_exit(&outcome, 0);
}
