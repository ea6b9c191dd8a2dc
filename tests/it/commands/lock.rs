//! `lock`: versions, platforms, constraints.

use super::*;

#[test]
fn lock_creates_then_leaves_alone() {
    let lab = simple();
    let outcome = lock(&lab, BOTH).exits(0);
    outcome.stdout_eq(str![[r#"
example.com/t/x  1.1.0  ~> 1.0  selected  2 platforms  2 hashes added
2 hashes added: 2 computed and not covered by a signature
created .terraform.lock.hcl

"#]]);
    outcome.stderr_eq(str![[r#"
note: the rules of Terraform apply, because nothing shows which program is used; to change that, use `--flavor opentofu`, or write `flavor = "opentofu"` to .lockctl.hcl
note: example.com/t/x 2.0.0 is available, a major upgrade from 1.1.0

"#]]);
    lab.read(LOCK).reads(str![[r##"
# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "example.com/t/x" {
  version     = "1.1.0"
  constraints = "~> 1.0"
  hashes = [
    "h1:NnL+qI4e2PY7BWBHHIZlJ0CEMhmgX29u+TcOT8Bq5xY=",
    "h1:jXvnnYg8+9yIeXUPsWxg/+iLp8jHR9sC8czWOnQt4Dc=",
  ]
}

"##]]);

    let before = std::fs::metadata(lab.path(LOCK)).unwrap();
    lock(&lab, BOTH).exits(0).stdout_eq(str![[r#"
example.com/t/x  1.1.0  ~> 1.0  kept  2 platforms  0 hashes added
.terraform.lock.hcl is up to date

"#]]);
    let after = std::fs::metadata(lab.path(LOCK)).unwrap();
    assert_eq!(
        before.modified().unwrap(),
        after.modified().unwrap(),
        "the file was not touched"
    );
    assert_exit(&lock(&lab, &[BOTH, &["--check"]].concat()), 0);
}

#[test]
fn lock_keeps_a_version_and_adds_platforms() {
    let lab = simple();
    lab.write("main.tf", ONE_PROVIDER.replace("~> 1.0", "1.0.0"));
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    let one = lab.read(LOCK);
    lab.write("main.tf", ONE_PROVIDER);
    assert_exit(&lock(&lab, BOTH), 0);
    let two = lab.read(LOCK);
    two.has("version     = \"1.0.0\"");
    two.has("constraints = \"~> 1.0\"");
    let hashes = |text: &str| -> Vec<String> {
        text.lines()
            .filter(|line| line.contains("h1:"))
            .map(str::to_owned)
            .collect()
    };
    assert_eq!((hashes(&one).len(), hashes(&two).len()), (1, 2));
    assert!(hashes(&two).contains(&hashes(&one)[0]));
}

#[test]
fn check_and_dry_run_write_nothing() {
    let lab = simple();
    lock(&lab, &[BOTH, &["--check"]].concat()).exits(1);
    let dry = lock(&lab, &[BOTH, &["--dry-run"]].concat()).exits(0);
    dry.stdout_eq(str![[r#"
example.com/t/x  1.1.0  ~> 1.0  selected  2 platforms  2 hashes to add
routine  the file is new
notice  example.com/t/x  1.1.0  added
    + provider = example.com/t/x
    + version = 1.1.0
    + constraints = ~> 1.0
    + h1:NnL+qI4e2PY7BWBHHIZlJ0CEMhmgX29u+TcOT8Bq5xY=  linux_amd64
    + h1:jXvnnYg8+9yIeXUPsWxg/+iLp8jHR9sC8czWOnQt4Dc=  darwin_arm64
2 hashes to add: 2 computed and not covered by a signature
.terraform.lock.hcl would be created; nothing was written

"#]]);
    assert_exit(&lock(&lab, &[BOTH, &["--dry-run", "--check"]].concat()), 1);
    assert!(!lab.path(LOCK).exists());

    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    let before = lab.read(LOCK);
    lab.write("main.tf", ONE_PROVIDER.replace("~> 1.0", ">= 1.0"));
    lock(&lab, &[BOTH, &["--dry-run"]].concat()).exits(0).stdout_eq(str![[r#"
example.com/t/x  1.1.0  >= 1.0.0  kept  2 platforms  1 hash to add
routine  example.com/t/x  1.1.0  constraints-changed, hashes-added  1 h1: was added, as for another platform; the constraints allow more versions (~> 1.0 → >= 1.0.0)
    - constraints = ~> 1.0
    + constraints = >= 1.0.0
    + h1:jXvnnYg8+9yIeXUPsWxg/+iLp8jHR9sC8czWOnQt4Dc=  darwin_arm64
1 hash to add: 1 computed and not covered by a signature
.terraform.lock.hcl would change; nothing was written

"#]]);
    assert_eq!(lab.read(LOCK), before);
}

#[test]
fn a_named_platform_must_exist_and_a_preset_skips() {
    let lab = simple();
    lock(&lab, &["--platform", "linux_amd64,windows_amd64"]).exits(2).stderr_eq(str![[r#"
note: the rules of Terraform apply, because nothing shows which program is used; to change that, use `--flavor opentofu`, or write `flavor = "opentofu"` to .lockctl.hcl
error: the mirror in mirror has no package of example.com/t/x 1.1.0 for windows_amd64
  help: it has packages for darwin_arm64, linux_amd64; the release may have one for windows_amd64: add it to the mirror

"#]]);
    assert!(!lab.path(LOCK).exists());
    lock(&lab, &[]).exits(0).stderr_eq(str![[r#"
note: the rules of Terraform apply, because nothing shows which program is used; to change that, use `--flavor opentofu`, or write `flavor = "opentofu"` to .lockctl.hcl
note: the mirror has no package of example.com/t/x 1.1.0 for darwin_amd64, linux_arm64, windows_amd64: skipped; add it to the mirror, or write the platforms that you use to .lockctl.hcl, as in `platforms = ["darwin_arm64", "linux_amd64"]`
note: example.com/t/x 2.0.0 is available, a major upgrade from 1.1.0

"#]]);
    let all = lock(&lab, &["--platform", "all"]).exits(0);
    all.stdout_has("up to date");
}

#[test]
fn all_problems_are_reported_at_once() {
    let lab = simple();
    lab.write(
        "main.tf",
        "terraform {\n  required_providers {\n    x = { source = \"example.com/t/x\", version = \"> 9\" }\n    \
         y = { source = \"example.com/t/y\" }\n  }\n}\n",
    );
    lock(&lab, BOTH).exits(2).stderr_eq(str![[r#"
note: the rules of Terraform apply, because nothing shows which program is used; to change that, use `--flavor opentofu`, or write `flavor = "opentofu"` to .lockctl.hcl
error: no offered version of example.com/t/x meets the constraints "> 9.0.0"
  cause: "> 9.0.0" at main.tf:3 does not allow any of the 3 offered versions
  help: to select 2.0.0, change "> 9.0.0" at main.tf:3
error: the mirror in mirror has no package of example.com/t/y
  cause: required in main.tf:4
  help: check the source address, or add the provider to the mirror

"#]]);
}

#[test]
fn a_locked_version_that_conflicts_is_never_moved() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    let before = lab.read(LOCK);
    lab.write("main.tf", ONE_PROVIDER.replace("~> 1.0", ">= 2.0"));
    lock(&lab, BOTH).exits(2).stderr_eq(str![[r#"
error: the locked version 1.1.0 of example.com/t/x does not meet the constraints ">= 2.0.0"
  cause: ">= 2.0.0" at main.tf:5 does not allow 1.1.0
  help: run `lockctl update . --fs-mirror mirror example.com/t/x` to select another version, or change the constraint

"#]]);
    assert_eq!(lab.read(LOCK), before);
}

#[test]
fn a_configuration_without_providers_creates_nothing() {
    let lab = Lab::new();
    lab.write("main.tf", "locals {\n  a = 1\n}\n")
        .write("mirror/README", "");
    lock(&lab, &[]).exits(0);
    assert!(!lab.path(LOCK).exists());
    assert_exit(&lab.run(&["verify"]), 0);
}

#[test]
fn entries_that_the_state_may_require_are_kept() {
    let lab = simple();
    lab.write("backend.tf", "terraform {\n  cloud {}\n}\n");
    let other = "provider \"example.com/t/other\" {\n  version = \"1.0.0\"\n  hashes = [\n    \"h2:kept\",\n  ]\n}\n";
    lab.write(LOCK, other);
    let outcome = lock(&lab, BOTH).exits(0);
    lab.read(LOCK).has("example.com/t/other");
    assert!(lab.read(LOCK).contains("h2:kept"));
    outcome.stderr_has("what cannot be seen may require it");
}

#[test]
fn json_of_lock_says_how_each_hash_is_known() {
    let lab = simple();
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    let outcome = lock(&lab, &[BOTH, &["--format", "json"]].concat()).exits(0);
    outcome.stdout_eq(str![[r#"
{
  "format_version": "1.0",
  "command": "lock",
  "exit": 0,
  "roots": [
    {
      "path": ".",
      "flavor": "terraform@1.16",
      "status": "clean",
      "findings": [],
      "remarks": [
        {
          "severity": "note",
          "text": "example.com/t/x 2.0.0 is available, a major upgrade from 1.1.0"
        }
      ],
      "failures": [],
      "providers": [
        {
          "provider": "example.com/t/x",
          "version": "1.1.0",
          "selected": false,
          "from": null,
          "newest": "2.0.0",
          "constraints": "~> 1.0",
          "hashes": [
            {
              "hash": "h1:NnL+qI4e2PY7BWBHHIZlJ0CEMhmgX29u+TcOT8Bq5xY=",
              "provenance": "computed",
              "platforms": [
                "linux_amd64"
              ],
              "added": false,
              "evidence": {
                "package": "mirror/example.com/t/x/1.1.0/linux_amd64"
              }
            },
            {
              "hash": "h1:jXvnnYg8+9yIeXUPsWxg/+iLp8jHR9sC8czWOnQt4Dc=",
              "provenance": "computed",
              "platforms": [
                "darwin_arm64"
              ],
              "added": true,
              "evidence": {
                "package": "mirror/example.com/t/x/1.1.0/darwin_arm64"
              }
            }
          ],
          "replaced": [],
          "signers": [],
          "skipped_platforms": []
        }
      ],
      "changed": true
    }
  ],
  "summary": {
    "roots": 1,
    "errors": 0,
    "warnings": 0,
    "notes": 0,
    "failed": 0
  }
}

"#]]);
}

#[test]
fn opentofu_takes_over_entries_of_the_other_registry() {
    let lab = Lab::new();
    lab.write("main.tofu", "resource \"null_resource\" \"a\" {}\n");
    for version in ["1.0.0", "1.1.0"] {
        lab.unpacked(
            "mirror",
            &format!("registry.opentofu.org/hashicorp/null/{version}/linux_amd64"),
            version,
        );
    }
    lab.write(
        LOCK,
        "provider \"registry.terraform.io/hashicorp/null\" {\n  version = \"1.0.0\"\n  hashes = [\n    \"h1:theirs\",\n  ]\n}\n",
    );
    let args = ["--flavor", "opentofu", "--platform", "linux_amd64"];
    let check = lock(&lab, &[&args[..], &["--check"]].concat());
    check.stderr_has("note: would be removed, since neither");
    lock(&lab, &args).exits(0).stderr_eq(str![[r#"
note: hashicorp/null 1.1.0 is available, a minor upgrade from 1.0.0
warning: the lock file has no hash to compare with the package of hashicorp/null 1.0.0 for linux_amd64
note: removed, since neither configuration nor state requires it: registry.terraform.io/hashicorp/null
warning: the locked version of registry.terraform.io/hashicorp/null was carried over to registry.opentofu.org/hashicorp/null, as OpenTofu does; its hashes were not

"#]]);
    lab.read(LOCK).reads(str![[r##"
# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/hashicorp/null" {
  version = "1.0.0"
  hashes = [
    "h1:kZX4SxMMdgrjrStr2R1Mt5nNRN3x7vKHyZE3TnsEKn0=",
  ]
}

"##]]);
}

#[test]
fn packages_that_share_content_are_named() {
    let lab = Lab::new();
    lab.write("main.tf", ONE_PROVIDER);
    for platform in ["linux_amd64", "darwin_arm64"] {
        lab.unpacked(
            "mirror",
            &format!("example.com/t/x/1.0.0/{platform}"),
            "the same",
        );
    }
    lock(&lab, BOTH).exits(0).stderr_eq(str![[r#"
note: the rules of Terraform apply, because nothing shows which program is used; to change that, use `--flavor opentofu`, or write `flavor = "opentofu"` to .lockctl.hcl
note: example.com/t/x 1.0.0 has 1 package for 2 platforms; for `verify`, write `provider "example.com/t/x" { platforms = ["darwin_arm64"] }` to .lockctl.hcl

"#]]);
}

#[test]
fn opentofu_adds_no_entry_that_nothing_requires() {
    let lab = simple();
    lab.write(
        LOCK,
        "provider \"registry.terraform.io/hashicorp/null\" {\n  version = \"1.0.0\"\n}\n",
    );
    lock(&lab, &["--flavor", "opentofu", "--platform", "linux_amd64"]).exits(0);
    lab.read(LOCK).lacks("registry.opentofu.org");
}

#[test]
fn a_preset_beside_a_name_still_skips() {
    let lab = simple();
    assert_exit(&lock(&lab, &["--platform", "common,linux_amd64"]), 0);
    assert_exit(&lock(&lab, &["--platform", "common,windows_amd64"]), 2);
}

#[test]
fn locked_platforms_are_those_that_packages_prove() {
    let lab = simple();
    let locked = ["--platform", "locked"];
    let fails = |outcome: &crate::lab::Outcome, cause: &str| {
        assert_exit(outcome, 2);
        outcome.stderr_has(cause);
    };
    fails(&lock(&lab, &locked), "there is no lock file");

    // Another provider joins: it is locked for the platforms of the first one.
    assert_exit(&lock(&lab, BOTH), 0);
    for platform in ["linux_amd64", "darwin_arm64", "windows_amd64"] {
        lab.unpacked(
            "mirror",
            &format!("example.com/t/y/1.0.0/{platform}"),
            platform,
        );
    }
    let other = "    y = {\n      source = \"example.com/t/y\"\n    }\n";
    let both = ONE_PROVIDER.replace("    x = {", &format!("{other}    x = {{"));
    lab.write("main.tf", both);
    lock(&lab, &locked).exits(0);
    assert_eq!(
        lab.read(LOCK).matches("h1:").count(),
        4,
        "{}",
        lab.read(LOCK)
    );
    let verify = |more: &[&str]| lab.run(&[&["verify", "--only", "platforms"], more].concat());
    verify(&["--platform", "locked", "--fs-mirror", "mirror"]).exits(0);
    let all = verify(&words("--platform locked,windows_amd64 --fs-mirror mirror"));
    assert_exit(&all, 1);

    // Without a package at hand nothing shows whose hashes these are.
    fails(
        &verify(&locked),
        "no package that is installed, cached or in a mirror",
    );
    fails(
        &lab.write("empty/README", "")
            .run(&words("lock --platform locked --fs-mirror empty")),
        "could not be determined",
    );
}
