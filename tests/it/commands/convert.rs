//! `convert`: a lock file for the other program, from a registry that stands for both public ones.

use std::collections::BTreeSet;

use super::registry::{DEMO, TWO, steady, with_registry};
use super::*;
use crate::registry::Registry;

/// A root whose provider is locked for Terraform.
fn locked_for_terraform() -> (Registry, Lab) {
    let (registry, lab) = with_registry(DEMO);
    let outcome = lab.run(&[&["lock", "--no-cache", "--flavor", "terraform"], TWO].concat());
    assert_exit(&outcome, 0);
    (registry, lab)
}

fn convert(lab: &Lab, to: &str, more: &[&str]) -> Outcome {
    lab.run(&[&["convert", "--no-cache", "--to", to], TWO, more].concat())
}

#[test]
fn a_lock_file_is_converted_and_back() {
    let (registry, lab) = locked_for_terraform();
    let before = lab.read(LOCK);
    let outcome = convert(&lab, "opentofu", &[]).exits(0);
    steady(&registry, &(outcome.stdout + &outcome.stderr)).reads(str![[r#"
acme/demo  1.0.0  ~> 1.0.0  converted  2 platforms  0 hashes added  signed, key ID KEYID
updated .terraform.lock.hcl
note: acme/demo 1.2.0 is available, a minor upgrade from 1.0.0

"#]]);
    let converted = before
        .replace("registry.terraform.io", "registry.opentofu.org")
        .replace("terraform init", "tofu init");
    assert_eq!(lab.read(LOCK), converted);

    let again = convert(&lab, "opentofu", &["--check"]).exits(0);
    steady(&registry, &again.stdout).reads(str![[r#"
acme/demo  1.0.0  ~> 1.0.0  kept  2 platforms  0 hashes added  signed, key ID KEYID
.terraform.lock.hcl is up to date

"#]]);

    assert_exit(&convert(&lab, "terraform", &[]), 0);
    assert_eq!(lab.read(LOCK), before);
}

#[test]
fn nothing_is_written_with_check_or_dry_run() {
    let (registry, lab) = locked_for_terraform();
    let before = lab.read(LOCK);
    convert(&lab, "opentofu", &["--check"]).exits(1);
    let outcome = convert(&lab, "opentofu", &["--dry-run"]).exits(0);
    steady(&registry, &outcome.stdout).reads(str![[r#"
acme/demo  1.0.0  ~> 1.0.0  converted  2 platforms  0 hashes to add  signed, key ID KEYID
notice  the header is that of `tofu init` now
notice  registry.opentofu.org/acme/demo  1.0.0  host-switched  now from registry.opentofu.org
    - provider = registry.terraform.io/acme/demo
    + provider = registry.opentofu.org/acme/demo
.terraform.lock.hcl would change; nothing was written

"#]]);
    assert_eq!(lab.read(LOCK), before);
}

#[test]
fn a_version_that_the_other_registry_lacks_is_an_error() {
    let (registry, lab) = locked_for_terraform();
    let before = lab.read(LOCK).replace("\"1.0.0\"", "\"1.0.9\"");
    lab.write(LOCK, &before);
    let outcome = convert(&lab, "opentofu", &[]).exits(2);
    steady(&registry, &outcome.stderr).reads(str![[r#"
error: registry.opentofu.org does not offer acme/demo 1.0.9
  cause: registry.terraform.io/acme/demo 1.0.9 is locked
  help: lock a version that both registries have: this one has 1.2.0, and `lockctl update acme/demo@1.2.0` moves to it if the other has it, too; then convert again

"#]]);
    assert_eq!(lab.read(LOCK), before);

    // Without configuration the entry is not known to be required, and is no less missing.
    std::fs::remove_file(lab.path("main.tf")).unwrap();
    convert(&lab, "opentofu", &[]).exits(2).stderr_has("1.0.9");
    assert_eq!(lab.read(LOCK), before);
}

#[test]
fn a_provider_that_the_other_registry_lacks_is_an_error() {
    let (registry, lab) = with_registry("");
    let lock = "provider \"registry.terraform.io/acme/absent\" {\n  version = \"1.0.0\"\n}\n";
    lab.write(LOCK, lock);
    let config =
        "terraform {\n  required_providers {\n    absent = { source = \"acme/absent\" }\n  }\n}\n";
    lab.write("main.tf", config);
    let outcome = convert(&lab, "opentofu", &[]).exits(2);
    steady(&registry, &outcome.stderr).reads(str![[r#"
error: registry.opentofu.org does not offer the provider acme/absent
  cause: registry.terraform.io/acme/absent 1.0.0 is locked
  cause: the registry of registry.opentofu.org has no provider registry.opentofu.org/acme/absent
  help: write the source address in full, as "registry.terraform.io/acme/absent", to keep it where it is

"#]]);
    assert_eq!(lab.read(LOCK), lock);
}

/// Names a registry in full, uses one on another host, and has one that is implied.
const MIXED: &str = r#"terraform {
  required_providers {
    demo  = { source = "acme/demo" }
    full  = { source = "registry.terraform.io/acme/other" }
    local = { source = "example.com/acme/local" }
  }
}
"#;

const MIXED_LOCK: &str = r#"# A comment.
provider "example.com/acme/local" {
  version = "0.1.0"
  hashes = [
    "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
  ]
}

provider "registry.terraform.io/acme/demo" {
  version     = "1.0.0"
  constraints = "~> 1.0"
}

provider "registry.terraform.io/acme/other" {
  version = "1.0.0"
}

provider "registry.terraform.io/acme/unneeded" {
  version = "3.0.0"
}
"#;

#[test]
fn what_cannot_be_converted_is_listed() {
    let (registry, lab) = with_registry(MIXED);
    lab.write(LOCK, MIXED_LOCK);
    lab.write(".lockctl.hcl", "flavor = \"terraform@1.11\"\n");
    let outcome = convert(&lab, "opentofu", &[]).exits(0);
    steady(&registry, &outcome.stdout).reads(str![[r#"
example.com/acme/local            0.1.0               stays as it is
    it is on another registry
acme/demo                         1.0.0  any version  converted       2 platforms  6 hashes added  signed, key ID KEYID
registry.terraform.io/acme/other  1.0.0               stays as it is
    main.tf:4 names its registry
6 hashes added: 4 signed, 2 proven
updated .terraform.lock.hcl

"#]]);
    steady(&registry, &outcome.stderr).reads(str![[r#"
warning: .lockctl.hcl states flavor = "terraform@1.11": change that, else the other commands read this root as before
note: acme/demo 1.2.0 is available, a minor upgrade from 1.0.0
note: removed, since neither configuration nor state requires it: registry.terraform.io/acme/unneeded
note: a rewrite drops 1 comment, as Terraform and OpenTofu do

"#]]);
    let lock = lab.read(LOCK);
    assert!(lock.starts_with("# This file is maintained automatically by \"tofu init\""));
    lock.has("h1:AAAA");
    lock.has("provider \"registry.terraform.io/acme/other\" {\n  version = \"1.0.0\"\n}\n");

    lab.write(LOCK, MIXED_LOCK);
    let outcome = convert(&lab, "opentofu", &["--format", "json", "--dry-run"]);
    let json = outcome.json();
    let converted = json["roots"][0]["converted"].as_array().unwrap();
    let shown = converted.iter().map(|one| {
        let word = |field: &str| one[field].as_str().unwrap_or("-").to_owned();
        [
            word("provider"),
            word("version"),
            word("to"),
            word("reason"),
        ]
        .join(" ")
    });
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            "registry.terraform.io/acme/demo 1.0.0 registry.opentofu.org/acme/demo -",
            "example.com/acme/local 0.1.0 - other-host",
            "registry.terraform.io/acme/other 1.0.0 - named",
        ]
    );
    assert_eq!(lab.read(LOCK), MIXED_LOCK);
}

#[test]
fn terraform_does_not_read_what_only_opentofu_reads() {
    let (registry, lab) = with_registry("");
    lab.write("main.tofu", DEMO);
    lab.run(&[&["lock", "--no-cache"], TWO].concat()).exits(0);
    let before = lab.read(LOCK);
    // Configuration is there, and Terraform finds nothing in it.
    let outcome = convert(&lab, "terraform", &["--dry-run"]).exits(0);
    steady(&registry, &outcome.stderr).reads(str![[r#"
warning: Terraform does not read the `.tofu` files beside the lock file
note: would be removed, since neither configuration nor state requires it: registry.opentofu.org/acme/demo

"#]]);
    assert_eq!(lab.read(LOCK), before);

    let builtin = "terraform {\n  required_providers {\n    t = { source = \"opentofu.org/builtin/terraform\" }\n  }\n}\n";
    lab.write("main.tf", builtin);
    convert(&lab, "terraform", &[]).exits(2).stderr_eq(str![[r#"
error: Terraform has no provider opentofu.org/builtin/terraform
  cause: only OpenTofu knows it as built in; it is required by main.tf:3
  help: write the source address terraform.io/builtin/terraform, which both programs know

"#]]);
    assert_eq!(lab.read(LOCK), before);
}

#[test]
fn the_state_may_keep_an_entry_where_it_is() {
    let (_registry, lab) = with_registry(DEMO);
    lab.run(&[&["lock", "--no-cache", "--flavor", "opentofu"], TWO].concat())
        .exits(0);
    let state = r#"{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "a",
"outputs": {}, "resources": [{"mode": "managed", "type": "demo_a", "name": "a",
"provider": "provider[\"registry.opentofu.org/acme/demo\"]", "instances": []}], "check_results": null}"#;
    lab.write("terraform.tfstate", state);
    let outcome = convert(&lab, "terraform", &[]).exits(0);
    let says = "stays as it is\n    the state names its registry (terraform.tfstate); `terraform state \
                replace-provider` changes that\n";
    outcome.stdout_has(says);
    let lock = lab.read(LOCK);
    for host in ["registry.terraform.io", "registry.opentofu.org"] {
        lock.has(format!("\"{host}/acme/demo\""));
    }
}

#[test]
fn an_own_entry_counts_before_that_of_the_other_registry() {
    let (_registry, lab) = locked_for_terraform();
    let own = "\nprovider \"registry.opentofu.org/acme/demo\" {\n  version = \"1.0.1\"\n}\n";
    lab.write(LOCK, lab.read(LOCK) + own);
    convert(&lab, "opentofu", &[]).exits(2).stderr_has("1.0.1");
}

#[test]
fn a_stranger_is_told_what_is_missing() {
    let lab = Lab::new();
    let outcome = lab.run(&["convert", "--to", "opentofu"]).exits(2);
    outcome.stderr_eq(str![[r#"
error: no configuration in .
  cause: there is no .tf or .tofu file
  help: name the directory of a root module

"#]]);
    lab.write("main.tf", DEMO);
    let outcome = lab.run(&["convert", "--to", "opentofu"]).exits(2);
    outcome.stderr_eq(str![[r#"
error: there is no .terraform.lock.hcl
  help: run `lockctl lock . --flavor opentofu@1.12` to create it

"#]]);
    lab.write(LOCK, "provider {");
    lab.run(&["convert", "--to", "opentofu"]).exits(2);
    for wrong in [
        &["convert"][..],
        &["convert", "--to", "auto"],
        &["convert", "--to", "pulumi"],
        &["convert", "--to", "opentofu", "--flavor", "terraform"],
    ] {
        lab.run(wrong).exits(2).stderr_has("--to");
    }
}

#[test]
fn roots_that_were_searched_for_need_no_lock_file() {
    let (_registry, lab) = locked_for_terraform();
    lab.write("live/a/main.tf", "terraform {\n  backend \"local\" {}\n}\n");
    let outcome = convert(&lab, "opentofu", &["-r"]).exits(0);
    let lines: BTreeSet<&str> = outcome.stdout.lines().collect();
    assert!(
        lines.iter().any(|line| line.contains("nothing to convert")),
        "{lines:?}"
    );
    // All addresses change, so this is no change of layout.
    assert!(lines.contains("1 root: updated lock file"));
    assert!(!lab.path("live/a").join(LOCK).exists());
}

/// OpenTofu reads such an entry twice, and a read-only `init` takes that for a change.
#[test]
fn an_entry_that_no_readonly_init_accepts_is_noted() {
    let lab = Lab::new();
    for host in ["registry.terraform.io", "registry.opentofu.org"] {
        let package = format!("{host}/hashicorp/null/3.2.1/linux_amd64");
        lab.unpacked("mirror", &package, "null");
    }
    let rules_with = |source: &str| {
        let requirement = ONE_PROVIDER.replace("example.com/t/x", source);
        lab.write("main.tf", requirement.replace("~> 1.0", "~> 3.0"));
        let more = ["--flavor", "opentofu", "--platform", "linux_amd64"];
        assert_exit(&lock(&lab, &more), 0);
        let verify = ["verify", "--format", "json", "--only", "configuration"];
        rules(&lab.run(&[&verify[..], &more].concat()).exits(0))
    };
    assert_eq!(
        rules_with("registry.terraform.io/hashicorp/null"),
        ["init-rewrites"]
    );
    assert!(rules_with("hashicorp/null").is_empty());
}
