//! A host that fails is given up once in a run.

use super::registry::{DEMO, lock, rule, steady, with_registry};
use super::*;
use crate::registry::Registry;

const ROOTS: [&str; 4] = ["a", "b", "c", "d"];

/// Roots each of which needs another release; they are locked already if that is wanted.
fn four_roots() -> (Registry, Lab) {
    let (registry, lab) = with_registry("");
    std::fs::remove_file(lab.path("main.tf")).unwrap();
    let needs = [
        ("demo", "1.0.0"),
        ("demo", "1.1.0"),
        ("demo", "1.2.0"),
        ("other", "1.0.0"),
    ];
    for (root, (name, version)) in ROOTS.iter().zip(needs) {
        let config = DEMO.replace("acme/demo", &format!("acme/{name}"));
        lab.write(
            &format!("{root}/main.tf"),
            config.replace("~> 1.0.0", version),
        );
    }
    (registry, lab)
}

fn asked(registry: &Registry, part: &str) -> usize {
    let entries = registry.entries().into_iter();
    entries.filter(|entry| entry.target.contains(part)).count()
}

#[test]
fn packages_of_a_host_that_fails_are_waited_for_once() {
    let (registry, lab) = four_roots();
    registry.reset(&rule("package", "503"));
    let args = [&ROOTS[..], &["--platform", "linux_amd64", "--jobs", "1"]].concat();
    let outcome = lock(&lab, &args).exits(2);
    assert_eq!(asked(&registry, ".zip"), 3, "{}", outcome.stderr);
    steady(&registry, &outcome.stderr).reads(str![[r#"
error: a: the package of registry.terraform.io/acme/demo 1.0.0 for linux_amd64 cannot be downloaded
  cause: https://FILES/files/acme/demo/1.0.0/terraform-provider-demo_1.0.0_linux_amd64.zip answered 503 Service Unavailable after 3 attempts
  help: try again later
error: b: the package of registry.terraform.io/acme/demo 1.1.0 for linux_amd64 cannot be downloaded
  cause: https://FILES/files/acme/demo/1.1.0/terraform-provider-demo_1.1.0_linux_amd64.zip was not requested, because its host failed before in this run
  cause: https://FILES/files/acme/demo/1.0.0/terraform-provider-demo_1.0.0_linux_amd64.zip answered 503 Service Unavailable after 3 attempts
  help: try again later
error: c: the package of registry.terraform.io/acme/demo 1.2.0 for linux_amd64 cannot be downloaded
  cause: https://FILES/files/acme/demo/1.2.0/terraform-provider-demo_1.2.0_linux_amd64.zip was not requested, because its host failed before in this run
  cause: https://FILES/files/acme/demo/1.0.0/terraform-provider-demo_1.0.0_linux_amd64.zip answered 503 Service Unavailable after 3 attempts
  help: try again later
error: d: the package of registry.terraform.io/acme/other 1.0.0 for linux_amd64 cannot be downloaded
  cause: https://FILES/files/acme/other/1.0.0/terraform-provider-other_1.0.0_linux_amd64.zip was not requested, because its host failed before in this run
  cause: https://FILES/files/acme/demo/1.0.0/terraform-provider-demo_1.0.0_linux_amd64.zip answered 503 Service Unavailable after 3 attempts
  help: try again later

"#]]);
    for root in ROOTS {
        assert!(!lab.path(root).join(LOCK).exists());
    }
}

#[test]
fn a_registry_that_fails_for_one_root_is_not_asked_for_the_next() {
    let (registry, lab) = four_roots();
    let one = ["--platform", "linux_amd64"];
    assert_exit(&lock(&lab, &[&ROOTS[..], &one].concat()), 0);
    registry.reset(&rule("versions", "503"));
    let args = ["verify", "--flavor", "terraform@1.11", "--only", "upstream"];
    let outcome = lab.run(&[&args[..], &ROOTS].concat()).exits(2);
    assert_eq!(asked(&registry, "/versions"), 2, "{}", outcome.stderr);
}

#[test]
fn flavors_share_what_is_known_of_a_host() {
    let (registry, lab) = four_roots();
    lab.write("d/.lockctl.hcl", "flavor = \"opentofu\"\n")
        .write("a/.lockctl.hcl", "flavor = \"terraform@1.11\"\n");
    for root in ["a", "d"] {
        let path = format!("{root}/.terraform.lock.hcl");
        let host = if root == "a" {
            "terraform.io"
        } else {
            "opentofu.org"
        };
        let name = if root == "a" { "demo" } else { "other" };
        lab.write(
            &path,
            format!("provider \"registry.{host}/acme/{name}\" {{\n  version = \"1.0.0\"\n}}\n"),
        );
    }
    registry.reset(&rule("versions", "503"));
    let outcome = lab.run(&["verify", "--only", "upstream", "a", "d"]);
    assert_exit(&outcome, 2);
    assert_eq!(asked(&registry, "/versions"), 2, "{}", outcome.stderr);
}

#[test]
fn what_one_path_lacks_does_not_stop_the_next_root() {
    let (registry, lab) = four_roots();
    registry.reset(&json!({"rules": [
        {"kind": "versions", "action": "404", "times": -1, "path": "acme/other"},
    ]}));
    let args = [&ROOTS[..], &["--platform", "linux_amd64"]].concat();
    assert_exit(&lock(&lab, &args), 2);
    let locked = ROOTS.map(|root| lab.path(root).join(LOCK).exists());
    assert_eq!(locked, [true, true, true, false]);
}
