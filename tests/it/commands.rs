//! Whole commands, in process, on real directories.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use lockctl::os::RealDisk;
use lockctl::world::{DirEntry, Disk, FileKind, Files, ReadSeek, Replaced};
use snapbox::{assert_data_eq, str};

use crate::lab::{Lab, Outcome, zip_of};

const LOCK: &str = ".terraform.lock.hcl";

const ONE_PROVIDER: &str = "\
terraform {
  required_providers {
    x = {
      source  = \"example.com/t/x\"
      version = \"~> 1.0\"
    }
  }
}
";

/// A root that requires one provider, and a mirror of it for two platforms.
fn simple() -> Lab {
    let lab = Lab::new();
    lab.write("main.tf", ONE_PROVIDER);
    for version in ["1.0.0", "1.1.0", "2.0.0"] {
        for platform in ["linux_amd64", "darwin_arm64"] {
            lab.unpacked(
                "mirror",
                &format!("example.com/t/x/{version}/{platform}"),
                &format!("{version} {platform}"),
            );
        }
    }
    lab
}

const BOTH: &[&str] = &["--platform", "linux_amd64,darwin_arm64"];

fn lock(lab: &Lab, more: &[&str]) -> Outcome {
    lab.run(&[&["lock", "--fs-mirror", "mirror"], more].concat())
}

#[track_caller]
fn assert_exit(outcome: &Outcome, code: u8) {
    assert_eq!(outcome.code, code, "{outcome:#?}");
}

#[test]
fn lock_creates_then_leaves_alone() {
    let lab = simple();
    let outcome = lock(&lab, BOTH);
    assert_exit(&outcome, 0);
    assert_data_eq!(
        outcome.stdout,
        str![[r#"
example.com/t/x  1.1.0  ~> 1.0  selected  2 platforms  2 hashes added
created .terraform.lock.hcl; the 2 added hashes were computed from a mirror, which nobody signed

"#]]
    );
    assert_data_eq!(
        outcome.stderr,
        str![[r#"
note: example.com/t/x 2.0.0 is out, a major step above 1.1.0

"#]]
    );
    assert_data_eq!(
        lab.read(LOCK),
        str![[r##"
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

"##]]
    );

    let before = std::fs::metadata(lab.path(LOCK)).unwrap();
    let again = lock(&lab, BOTH);
    assert_exit(&again, 0);
    assert_data_eq!(
        again.stdout,
        str![[r#"
example.com/t/x  1.1.0  ~> 1.0  kept  2 platforms  0 hashes added
.terraform.lock.hcl is up to date

"#]]
    );
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
    assert!(two.contains("version     = \"1.0.0\""), "{two}");
    assert!(two.contains("constraints = \"~> 1.0\""), "{two}");
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
    let check = lock(&lab, &[BOTH, &["--check"]].concat());
    assert_exit(&check, 1);
    let dry = lock(&lab, &[BOTH, &["--dry-run"]].concat());
    assert_exit(&dry, 0);
    assert!(
        dry.stdout.contains("+provider \"example.com/t/x\" {"),
        "{}",
        dry.stdout
    );
    assert_exit(&lock(&lab, &[BOTH, &["--dry-run", "--check"]].concat()), 1);
    assert!(!lab.path(LOCK).exists());
}

#[test]
fn a_named_platform_must_exist_and_a_preset_skips() {
    let lab = simple();
    let named = lock(&lab, &["--platform", "linux_amd64,windows_amd64"]);
    assert_exit(&named, 2);
    assert_data_eq!(
        named.stderr,
        str![[r#"
error: the mirror in mirror has no package of example.com/t/x 1.1.0 for windows_amd64
  help: it has packages for darwin_arm64, linux_amd64

"#]]
    );
    assert!(!lab.path(LOCK).exists());
    let preset = lock(&lab, &[]);
    assert_exit(&preset, 0);
    assert_data_eq!(
        preset.stderr,
        str![[r#"
note: example.com/t/x 1.1.0 has no package for linux_arm64, darwin_amd64, windows_amd64: skipped; name the others with `verify --platform`
note: example.com/t/x 2.0.0 is out, a major step above 1.1.0

"#]]
    );
    let all = lock(&lab, &["--platform", "all"]);
    assert_exit(&all, 0);
    assert!(all.stdout.contains("up to date"), "{}", all.stdout);
}

#[test]
fn all_problems_are_told_at_once() {
    let lab = simple();
    lab.write(
        "main.tf",
        "terraform {\n  required_providers {\n    x = { source = \"example.com/t/x\", version = \"> 9\" }\n    \
         y = { source = \"example.com/t/y\" }\n  }\n}\n",
    );
    let outcome = lock(&lab, BOTH);
    assert_exit(&outcome, 2);
    assert_data_eq!(
        outcome.stderr,
        str![[r#"
error: no offered version of example.com/t/x meets the constraints "> 9.0.0"
  help: the newest release offered is 2.0.0
error: the mirror in mirror has no package of example.com/t/y
  help: check the source address, or add the provider to the mirror

"#]]
    );
}

#[test]
fn a_locked_version_that_conflicts_is_never_moved() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    let before = lab.read(LOCK);
    lab.write("main.tf", ONE_PROVIDER.replace("~> 1.0", ">= 2.0"));
    let outcome = lock(&lab, BOTH);
    assert_exit(&outcome, 2);
    assert_data_eq!(
        outcome.stderr,
        str![[r#"
error: the locked version 1.1.0 of example.com/t/x does not meet the constraints ">= 2.0.0"
  help: `lock` never moves a version: change the constraint, or delete the entry from the lock file to select anew

"#]]
    );
    assert_eq!(lab.read(LOCK), before);
}

#[test]
fn usage_and_missing_things_exit_with_2() {
    let lab = simple();
    for args in [
        &["lock"] as &[&str],
        &["lock", "--fs-mirror", "nowhere"],
        &["lock", "--platform", "linux"],
        &["lock", "--platform", "locked", "--fs-mirror", "mirror"],
        &["lock", "nowhere", "--fs-mirror", "mirror"],
        &["verify", "mirror"],
        &["verify", "main.tf"],
        &["show"],
        &["fmt"],
        &["hash"],
        &["hash", "nowhere"],
        &["nonsense"],
        &["--flavor", "tofu", "show"],
        &[],
    ] {
        let outcome = lab.run(args);
        assert_exit(&outcome, 2);
        assert!(!outcome.stderr.is_empty(), "{args:?} says why");
        assert!(
            outcome.stdout.is_empty() || args.first() == Some(&"verify"),
            "{args:?}: {}",
            outcome.stdout
        );
    }
}

#[test]
fn a_configuration_without_providers_creates_nothing() {
    let lab = Lab::new();
    lab.write("main.tf", "locals {\n  a = 1\n}\n")
        .write("mirror/README", "");
    let outcome = lock(&lab, &[]);
    assert_exit(&outcome, 0);
    assert!(!lab.path(LOCK).exists());
    assert_exit(&lab.run(&["verify"]), 0);
}

#[test]
fn a_zip_that_the_recorded_list_does_not_know_is_an_alarm() {
    let lab = Lab::new();
    lab.write("main.tf", ONE_PROVIDER);
    lab.packed("mirror", "example.com/t/x/1.0.0/linux_amd64", "tampered");
    let zeros = "0".repeat(64);
    let ones = "1".repeat(64);
    let locked = format!(
        "provider \"example.com/t/x\" {{\n  version = \"1.0.0\"\n  hashes = [\n    \"zh:{zeros}\",\n    \
         \"zh:{ones}\",\n  ]\n}}\n"
    );
    lab.write(LOCK, &locked);
    let outcome = lock(&lab, &["--platform", "linux_amd64"]);
    assert_exit(&outcome, 1);
    assert_data_eq!(
        outcome.stderr,
        str![[r#"
error: the package of example.com/t/x 1.0.0 for linux_amd64 is none of those that the lock file records: mirror/example.com/t/x/terraform-provider-x_1.0.0_linux_amd64.zip
  help: nothing was written, and `terraform init` would refuse this package; find out which copy is genuine, and only if the release was replaced on purpose delete the entry and lock again

"#]]
    );
    assert_eq!(lab.read(LOCK), locked);
}

#[test]
fn an_odd_zip_is_locked_with_a_warning() {
    let lab = Lab::new();
    lab.write("main.tf", ONE_PROVIDER);
    let zip = zip_of(&[("./terraform-provider-x_v1.0.0", "fake")]);
    lab.write(
        "mirror/example.com/t/x/terraform-provider-x_1.0.0_linux_amd64.zip",
        zip,
    );
    let outcome = lock(&lab, &["--platform", "linux_amd64"]);
    assert_exit(&outcome, 0);
    assert_data_eq!(
        outcome.stderr,
        str![[r#"
warning: example.com/t/x 1.0.0 for linux_amd64: unpacked it hashes differently than as a zip, so the programs record one h1: and check another; a lock file without its zh: would refuse it
warning: example.com/t/x 1.0.0 for linux_amd64: "./terraform-provider-x_v1.0.0" is a name that changes when it is unpacked

"#]]
    );
    assert!(
        lab.read(LOCK)
            .contains("h1:vSUZJPJlJhDOkbAT+iqt7AAQArew8uExp71bJtBUdMw=")
    );
}

#[test]
fn a_package_without_its_program_is_refused() {
    let lab = Lab::new();
    lab.write("main.tf", ONE_PROVIDER);
    lab.write(
        "mirror/example.com/t/x/1.0.0/linux_amd64/README",
        "no program",
    );
    let outcome = lock(&lab, &["--platform", "linux_amd64"]);
    assert_exit(&outcome, 2);
    assert!(
        outcome.stderr.contains("terraform-provider-x"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn entries_that_nothing_requires_are_kept() {
    let lab = simple();
    let other = "provider \"example.com/t/other\" {\n  version = \"1.0.0\"\n  hashes = [\n    \"h2:kept\",\n  ]\n}\n";
    lab.write(LOCK, other);
    let outcome = lock(&lab, BOTH);
    assert_exit(&outcome, 0);
    assert!(
        lab.read(LOCK).contains("example.com/t/other"),
        "{}",
        lab.read(LOCK)
    );
    assert!(lab.read(LOCK).contains("h2:kept"));
    assert!(
        outcome.stderr.contains("no configuration here requires"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn verify_passes_what_lock_wrote() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    let outcome = lab.run(&[&["verify"], BOTH].concat());
    assert_exit(&outcome, 0);
    assert_data_eq!(
        outcome.stdout,
        str![[r#"
.terraform.lock.hcl: ok; 1 provider, h1: hashes for 2 platforms, by count, no package installed; 1 note (-v shows them)

"#]]
    );
}

#[test]
fn verify_names_a_missing_lock_file() {
    let lab = simple();
    let outcome = lab.run(&["verify"]);
    assert_exit(&outcome, 1);
    assert_data_eq!(
        outcome.stdout,
        str![[r#"
error[lock-missing]: There is no .terraform.lock.hcl
 --> main.tf:5:17
  |
5 |       version = "~> 1.0"
  |                 ^^^^^^^^ example.com/t/x is required here
  |
  = help: run `lockctl lock . --fs-mirror DIR` to create it

.terraform.lock.hcl: 1 error

"#]]
    );
}

#[test]
fn verify_tells_what_a_missing_platform_means() {
    let lab = simple();
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    let outcome = lab.run(&[&["verify"], BOTH].concat());
    assert_exit(&outcome, 1);
    assert_data_eq!(
        outcome.stdout,
        str![[r#"
warning[platforms-incomplete]: 1 of 2 wanted platforms of example.com/t/x lacks an h1: hash
 --> .terraform.lock.hcl:4:1
  |
4 | provider "example.com/t/x" {
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^ 1 h1: recorded, and nothing here tells for which platforms
  |
  = help: run `lockctl lock . --fs-mirror DIR --platform darwin_arm64,linux_amd64` to add what is missing; until then, on a platform whose hash is missing:
            `terraform init` from a registry fails: Failed to install provider
            `terraform init` from an unpacked mirror fails: Failed to install provider
            `terraform init` with a plugin cache fails: Failed to install provider
            `terraform init -lockfile=readonly` fails: Failed to install provider
            `terraform plan` after a read-only init fails: Required plugins are not installed
          where platforms share one package, or the release lacks some, name those that count with --platform

.terraform.lock.hcl: 1 warning

"#]]
    );

    // An installed package tells whose hash it is.
    lab.unpacked(
        ".terraform/providers",
        "example.com/t/x/1.1.0/linux_amd64",
        "1.1.0 linux_amd64",
    );
    let outcome = lab.run(&[&["verify"], BOTH].concat());
    assert_exit(&outcome, 1);
    assert_data_eq!(
        outcome.stdout,
        str![[r#"
warning[platforms-incomplete]: 1 of 2 wanted platforms of example.com/t/x lacks an h1: hash
 --> .terraform.lock.hcl:4:1
  |
4 | provider "example.com/t/x" {
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^ 1 h1: recorded; darwin_arm64 not covered
  |
  = help: run `lockctl lock . --fs-mirror DIR --platform darwin_arm64` to add what is missing; until then, on darwin_arm64:
            `terraform init` from a registry fails: Failed to install provider
            `terraform init` from an unpacked mirror fails: Failed to install provider
            `terraform init` with a plugin cache fails: Failed to install provider
            `terraform init -lockfile=readonly` fails: Failed to install provider
            `terraform plan` after a read-only init fails: Required plugins are not installed

.terraform.lock.hcl: 1 warning

"#]]
    );
}

#[test]
fn verify_finds_a_tampered_package() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    lab.unpacked(
        ".terraform/providers",
        "example.com/t/x/1.1.0/linux_amd64",
        "1.1.0 linux_amd64",
    );
    assert_exit(&lab.run(&[&["verify"], BOTH].concat()), 0);
    lab.unpacked(
        ".terraform/providers",
        "example.com/t/x/1.1.0/linux_amd64",
        "tampered",
    );
    let outcome = lab.run(&[&["verify"], BOTH].concat());
    assert_exit(&outcome, 1);
    assert_data_eq!(
        outcome.stdout,
        str![[r#"
error[package-mismatch]: The installed package of example.com/t/x 1.1.0 for linux_amd64 is not one that the lock file records
 --> .terraform.lock.hcl:4:1
  |
4 | provider "example.com/t/x" {
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^ no recorded h1: is that of .terraform/providers/example.com/t/x/1.1.0/linux_amd64
  |
  = help: .terraform/providers/example.com/t/x/1.1.0/linux_amd64 hashes to h1:TeM5eoIv0fi/1qbjJ7l4gOh3hEpV0VQlPdI2yWal4BY=; if nobody can say why, delete that directory and run `terraform init` again

.terraform.lock.hcl: 1 error; 1 note (-v shows them)

"#]]
    );
    assert_exit(
        &lab.run(&[&["verify", "--skip", "packages"], BOTH].concat()),
        0,
    );
    assert_exit(&lab.run(&["verify", "--only", "packages"]), 1);
}

#[test]
fn verify_names_the_constraint_that_is_not_met() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    lab.write("main.tf", ONE_PROVIDER.replace("~> 1.0", ">= 2.0"));
    let outcome = lab.run(&[&["verify"], BOTH].concat());
    assert_exit(&outcome, 1);
    assert_data_eq!(
        outcome.stdout,
        str![[r#"
error[version-outside-constraint]: example.com/t/x is locked at 1.1.0, which a constraint does not allow
 --> main.tf:5:17
  |
5 |       version = ">= 2.0"
  |                 ^^^^^^^^ >= 2.0.0 is required here
  |
 ::: .terraform.lock.hcl:5:17
  |
5 |   version     = "1.1.0"
  |                 ------- locked at 1.1.0 here
  |
  = help: change the constraint, or delete the entry and run `lockctl lock . --fs-mirror DIR`

.terraform.lock.hcl: 1 error; 2 notes (-v shows them)

"#]]
    );
}

#[test]
fn a_broken_lock_file_is_a_finding_of_verify_and_stops_lock() {
    let lab = simple();
    let broken = "provider \"example.com/t/x\" {\n  version = \"1.0\"\n}\n";
    lab.write(LOCK, broken);
    let verify = lab.run(&["verify"]);
    assert_exit(&verify, 1);
    assert_data_eq!(
        verify.stdout,
        str![[r#"
error[version-malformed]: Invalid provider version number
 --> .terraform.lock.hcl:2:13
  |
2 |   version = "1.0"
  |             ^^^^^ must be written as "1.0.0"
  |
  = help: write version = "1.0.0"

.terraform.lock.hcl: 1 error

"#]]
    );
    let outcome = lock(&lab, BOTH);
    assert_exit(&outcome, 2);
    assert_eq!(lab.read(LOCK), broken);
    assert!(
        outcome.stderr.contains("Invalid provider version number"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn json_of_verify_is_one_object_of_a_stable_shape() {
    let lab = simple();
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    let outcome = lab.run(&[&["verify", "--format", "json"], BOTH].concat());
    assert_exit(&outcome, 1);
    assert_data_eq!(
        outcome.stdout,
        str![[r#"
{
  "format_version": "1.0",
  "command": "verify",
  "exit": 1,
  "roots": [
    {
      "path": ".",
      "flavor": "terraform@1.16",
      "status": "findings",
      "findings": [
        {
          "rule": "platforms-incomplete",
          "severity": "warning",
          "provider": "example.com/t/x",
          "file": ".terraform.lock.hcl",
          "line": 4,
          "column": 1,
          "title": "1 of 2 wanted platforms of example.com/t/x lacks an h1: hash",
          "detail": "1 h1: recorded, and nothing here tells for which platforms",
          "help": "run `lockctl lock . --fs-mirror DIR --platform darwin_arm64,linux_amd64` to add what is missing; until then, on a platform whose hash is missing:/n  `terraform init` from a registry fails: Failed to install provider/n  `terraform init` from an unpacked mirror fails: Failed to install provider/n  `terraform init` with a plugin cache fails: Failed to install provider/n  `terraform init -lockfile=readonly` fails: Failed to install provider/n  `terraform plan` after a read-only init fails: Required plugins are not installed/nwhere platforms share one package, or the release lacks some, name those that count with --platform"
        }
      ],
      "failures": [],
      "providers": [
        {
          "provider": "example.com/t/x",
          "version": "1.1.0",
          "constraints": "~> 1.0",
          "h1": 1,
          "zh": 0
        }
      ]
    }
  ],
  "summary": {
    "roots": 1,
    "errors": 0,
    "warnings": 1,
    "notes": 0,
    "failed": 0
  }
}

"#]]
    );
}

#[test]
fn json_of_lock_says_how_each_hash_is_known() {
    let lab = simple();
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    let outcome = lock(&lab, &[BOTH, &["--format", "json"]].concat());
    assert_exit(&outcome, 0);
    assert_data_eq!(
        outcome.stdout,
        str![[r#"
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
      "failures": [],
      "providers": [
        {
          "provider": "example.com/t/x",
          "version": "1.1.0",
          "selected": false,
          "newest": "2.0.0",
          "constraints": "~> 1.0",
          "hashes": [
            {
              "hash": "h1:NnL+qI4e2PY7BWBHHIZlJ0CEMhmgX29u+TcOT8Bq5xY=",
              "provenance": "computed",
              "platforms": [
                "linux_amd64"
              ],
              "added": false
            },
            {
              "hash": "h1:jXvnnYg8+9yIeXUPsWxg/+iLp8jHR9sC8czWOnQt4Dc=",
              "provenance": "computed",
              "platforms": [
                "darwin_arm64"
              ],
              "added": true
            }
          ],
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

"#]]
    );
}

#[test]
fn several_roots_are_told_apart_and_the_worst_counts() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    let outcome = lab.run(&[&["verify", ".", "mirror", "nowhere"], BOTH].concat());
    assert_exit(&outcome, 2);
    assert!(
        outcome.stdout.contains(".terraform.lock.hcl: ok"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome.stderr.contains("no configuration in mirror"),
        "{}",
        outcome.stderr
    );
    assert!(outcome.stderr.contains("nowhere"), "{}", outcome.stderr);
}

#[test]
fn show_lists_what_is_locked() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    lab.unpacked(
        ".terraform/providers",
        "example.com/t/x/1.1.0/linux_amd64",
        "1.1.0 linux_amd64",
    );
    let outcome = lab.run(&["show", "-v"]);
    assert_exit(&outcome, 0);
    assert_data_eq!(
        outcome.stdout,
        str![[r#"
PROVIDER         VERSION  CONSTRAINTS  h1  zh  other  KNOWN PLATFORMS
example.com/t/x  1.1.0    ~> 1.0       2   0   0      linux_amd64
example.com/t/x 1.1.0
  h1:NnL+qI4e2PY7BWBHHIZlJ0CEMhmgX29u+TcOT8Bq5xY=  linux_amd64
  h1:jXvnnYg8+9yIeXUPsWxg/+iLp8jHR9sC8czWOnQt4Dc=

"#]]
    );
}

#[test]
fn hash_prints_both_schemes() {
    let lab = Lab::new();
    lab.write("a.zip", zip_of(&[("terraform-provider-x_v1.0.0", "fake")]));
    lab.write("dir/terraform-provider-x_v1.0.0", "fake");
    let outcome = lab.run(&["hash", "--files", "a.zip", "dir"]);
    assert_exit(&outcome, 0);
    assert_data_eq!(
        outcome.stdout,
        str![[r#"
zh:99a3b8617846089a5ef7fcda5596df7f77fd30cde1a11f6f39c849187c0eb81a  a.zip
h1:vSUZJPJlJhDOkbAT+iqt7AAQArew8uExp71bJtBUdMw=  a.zip
  b5d54c39e66671c9731b9f471e585d8262cd4f54963f0c93082d8dcf334d4c78             4  terraform-provider-x_v1.0.0
h1:vSUZJPJlJhDOkbAT+iqt7AAQArew8uExp71bJtBUdMw=  dir
  b5d54c39e66671c9731b9f471e585d8262cd4f54963f0c93082d8dcf334d4c78             4  terraform-provider-x_v1.0.0

"#]]
    );
}

#[test]
fn fmt_rewrites_and_says_what_it_drops() {
    let lab = Lab::new();
    let loose = "# mine\nprovider \"example.com/t/x\" {\n version=\"1.0.0\"\n}\n";
    lab.write(LOCK, loose);
    let check = lab.run(&["fmt", "--check"]);
    assert_exit(&check, 1);
    assert_eq!(lab.read(LOCK), loose);
    let outcome = lab.run(&["fmt"]);
    assert_exit(&outcome, 0);
    assert_data_eq!(
        outcome.stdout,
        str![[r#"
.terraform.lock.hcl

"#]]
    );
    assert_data_eq!(
        outcome.stderr,
        str![[r#"
note: .terraform.lock.hcl: a rewrite drops 1 comment, as that of the program does

"#]]
    );
    assert_data_eq!(
        lab.read(LOCK),
        str![[r##"
# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "example.com/t/x" {
  version = "1.0.0"
}

"##]]
    );
    let again = lab.run(&["fmt"]);
    assert_exit(&again, 0);
    assert!(again.stdout.is_empty() && again.stderr.is_empty());
}

#[cfg(unix)]
#[test]
fn a_linked_lock_file_stays_a_link_and_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt as _;
    let lab = simple();
    lab.write("elsewhere/lock", "");
    std::fs::set_permissions(
        lab.path("elsewhere/lock"),
        std::fs::Permissions::from_mode(0o640),
    )
    .unwrap();
    std::os::unix::fs::symlink("elsewhere/lock", lab.path(LOCK)).unwrap();
    assert_exit(&lock(&lab, BOTH), 0);
    assert!(
        std::fs::symlink_metadata(lab.path(LOCK))
            .unwrap()
            .file_type()
            .is_symlink()
    );
    assert!(lab.read("elsewhere/lock").contains("example.com/t/x"));
    let mode = std::fs::metadata(lab.path("elsewhere/lock"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640);
}

#[cfg(unix)]
#[test]
fn a_fifo_in_the_place_of_a_lock_file_is_not_waited_for() {
    let lab = simple();
    let made = std::process::Command::new("mkfifo")
        .arg(lab.path(LOCK))
        .status()
        .unwrap();
    assert!(made.success());
    assert_exit(&lab.run(&["verify"]), 2);
    assert_exit(&lock(&lab, BOTH), 2);
}

/// A disk on which somebody else writes the lock file just before lockctl does.
struct Busy {
    path: std::path::PathBuf,
    /// How many more times that happens.
    left: AtomicUsize,
}

impl Files for Busy {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        RealDisk.read(path, limit)
    }
    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadSeek>> {
        RealDisk.open(path)
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        RealDisk.list(dir)
    }
    fn kind(&self, path: &Path) -> io::Result<FileKind> {
        RealDisk.kind(path)
    }
}

impl Disk for Busy {
    fn replace(&self, path: &Path, old: Option<&[u8]>, new: &[u8]) -> io::Result<Replaced> {
        let left = self.left.load(Ordering::Relaxed);
        if left > 0 {
            self.left.store(left - 1, Ordering::Relaxed);
            std::fs::write(&self.path, format!("# written by somebody else, {left}\n")).unwrap();
        }
        RealDisk.replace(path, old, new)
    }
}

#[test]
fn a_file_that_changes_under_a_run_is_read_again_once() {
    let lab = simple();
    let args = [&["lock", "--fs-mirror", "mirror"], BOTH].concat();
    let busy = |left| Busy {
        path: lab.path(LOCK),
        left: AtomicUsize::new(left),
    };
    assert_exit(&lab.run_on(&busy(1), &args), 0);
    assert!(lab.read(LOCK).contains("example.com/t/x"));

    std::fs::remove_file(lab.path(LOCK)).unwrap();
    let outcome = lab.run_on(&busy(9), &args);
    assert_exit(&outcome, 2);
    assert!(
        lab.read(LOCK).contains("written by somebody else"),
        "nothing of theirs is lost"
    );
    assert!(
        outcome.stderr.contains("keeps changing"),
        "{}",
        outcome.stderr
    );
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
    let outcome = lock(&lab, &["--flavor", "opentofu", "--platform", "linux_amd64"]);
    assert_exit(&outcome, 0);
    assert_data_eq!(
        outcome.stderr,
        str![[r#"
note: hashicorp/null 1.1.0 is out, a minor step above 1.0.0
warning: nothing recorded could be compared with the package of hashicorp/null 1.0.0 for linux_amd64
note: kept, though no configuration here requires it: registry.terraform.io/hashicorp/null
warning: the locked version of registry.terraform.io/hashicorp/null was carried over to registry.opentofu.org/hashicorp/null, as OpenTofu does; its hashes were not

"#]]
    );
    assert_data_eq!(
        lab.read(LOCK),
        str![[r##"
# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/hashicorp/null" {
  version = "1.0.0"
  hashes = [
    "h1:kZX4SxMMdgrjrStr2R1Mt5nNRN3x7vKHyZE3TnsEKn0=",
  ]
}

provider "registry.terraform.io/hashicorp/null" {
  version = "1.0.0"
  hashes = [
    "h1:theirs",
  ]
}

"##]]
    );
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_creates_nothing() {
    let lab = simple();
    std::os::unix::fs::symlink("../outside", lab.path(LOCK)).unwrap();
    let outcome = lock(&lab, BOTH);
    assert_exit(&outcome, 2);
    assert!(outcome.stderr.contains("a link to"), "{}", outcome.stderr);
    assert!(!lab.path("../outside").exists());
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
    let outcome = lock(&lab, BOTH);
    assert_exit(&outcome, 0);
    assert_data_eq!(
        outcome.stderr,
        str![[r#"
note: example.com/t/x 1.0.0: 2 platforms share 1 package; `verify` counts hashes, so name that many platforms

"#]]
    );
}

/// Five platforms are locked, then one package of the mirror is exchanged.
#[test]
fn an_exchanged_package_is_a_warning_where_every_platform_is_known() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    lab.unpacked("mirror", "example.com/t/x/1.1.0/linux_amd64", "exchanged");
    let outcome = lock(&lab, BOTH);
    assert_exit(&outcome, 0);
    assert_data_eq!(
        outcome.stderr,
        str![[r#"
note: example.com/t/x 2.0.0 is out, a major step above 1.1.0
warning: example.com/t/x 1.1.0 keeps 1 recorded h1: that no package of the mirror has, although the mirror has every platform's: either a package was exchanged, or the lock file was wrong before

"#]]
    );
}

#[test]
fn an_alarm_is_told_beside_other_failures() {
    let lab = Lab::new();
    lab.write(
        "main.tf",
        format!("{ONE_PROVIDER}\nresource \"gone_thing\" \"a\" {{}}\n"),
    );
    lab.packed("mirror", "example.com/t/x/1.0.0/linux_amd64", "tampered");
    let hashes: Vec<String> = ["0", "1"]
        .map(|d| format!("\"zh:{}\"", d.repeat(64)))
        .to_vec();
    lab.write(
        LOCK,
        format!(
            "provider \"example.com/t/x\" {{\n  version = \"1.0.0\"\n  hashes = [{}]\n}}\n",
            hashes.join(", ")
        ),
    );
    let outcome = lock(&lab, &["--platform", "linux_amd64"]);
    assert_exit(&outcome, 2);
    assert!(
        outcome
            .stderr
            .contains("none of those that the lock file records"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stderr.contains("hashicorp/gone"),
        "{}",
        outcome.stderr
    );
}

/// A lone `zh:` for each `h1:` is what OCI mirrors leave: other platforms may be added.
#[test]
fn one_zh_for_each_h1_is_no_list_of_a_release() {
    let lab = Lab::new();
    lab.write("main.tf", ONE_PROVIDER);
    lab.packed("mirror", "example.com/t/x/1.0.0/linux_amd64", "genuine");
    let (zero, one) = ("0".repeat(64), "1".repeat(64));
    lab.write(
        LOCK,
        format!(
            "provider \"example.com/t/x\" {{\n  version = \"1.0.0\"\n  hashes = [\"h1:a\", \"h1:b\", \"zh:{zero}\", \"zh:{one}\"]\n}}\n"
        ),
    );
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
}

#[test]
fn an_entry_that_nothing_requires_is_no_finding() {
    let lab = simple();
    lab.write(LOCK, "provider \"example.com/t/other\" {\n  version = \"1.0.0\"\n  hashes = [\n    \"h1:vSUZJPJlJhDOkbAT+iqt7AAQArew8uExp71bJtBUdMw=\",\n  ]\n}\n");
    assert_exit(&lock(&lab, BOTH), 0);
    assert_exit(&lab.run(&[&["verify"], BOTH].concat()), 0);
}

#[test]
fn opentofu_adds_no_entry_that_nothing_requires() {
    let lab = simple();
    lab.write(
        LOCK,
        "provider \"registry.terraform.io/hashicorp/null\" {\n  version = \"1.0.0\"\n}\n",
    );
    assert_exit(
        &lock(&lab, &["--flavor", "opentofu", "--platform", "linux_amd64"]),
        0,
    );
    assert!(
        !lab.read(LOCK).contains("registry.opentofu.org"),
        "{}",
        lab.read(LOCK)
    );
}

#[test]
fn a_preset_beside_a_name_still_skips() {
    let lab = simple();
    assert_exit(&lock(&lab, &["--platform", "common,linux_amd64"]), 0);
    assert_exit(&lock(&lab, &["--platform", "common,windows_amd64"]), 2);
}

#[test]
fn a_data_directory_that_is_none_hides_no_finding() {
    let lab = simple();
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    lab.write(".terraform/providers", "no directory");
    let outcome = lab.run(&[&["verify"], BOTH].concat());
    assert_exit(&outcome, 2);
    assert!(
        outcome.stdout.contains("platforms-incomplete"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome.stderr.contains("cannot be looked at"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_misspelt_platform_is_doubted() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    let outcome = lab.run(&["verify", "--platform", "linux_amd46"]);
    assert!(
        outcome.stderr.contains("is it spelled right?"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_syntax_error_is_shown_with_its_line() {
    let lab = simple();
    lab.write(LOCK, "provider \"example.com/t/x\" {\n  version = \n}\n");
    let outcome = lab.run(&["verify"]);
    assert_exit(&outcome, 1);
    assert_data_eq!(
        outcome.stdout,
        str![[r#"
error[syntax-error]: Invalid expression
 --> .terraform.lock.hcl:2:13
  |
2 |   version = 
  |             ^

.terraform.lock.hcl: 1 error

"#]]
    );
}

#[test]
fn json_names_provider_and_platform_of_a_tampered_package() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    lab.unpacked(
        ".terraform/providers",
        "example.com/t/x/1.1.0/linux_amd64",
        "tampered",
    );
    let outcome = lab.run(&[&["verify", "--format", "json"], BOTH].concat());
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let finding = &json["roots"][0]["findings"][0];
    assert_eq!(finding["rule"], "package-mismatch");
    assert_eq!(finding["provider"], "example.com/t/x");
    assert_eq!(finding["platform"], "linux_amd64");
    assert_eq!(json["exit"], 1);
}

#[test]
fn a_flood_of_faults_is_cut_off() {
    let lab = simple();
    let bad: String = (0..5000).map(|n| format!("\"q{n}\", ")).collect();
    lab.write(
        LOCK,
        format!("provider \"example.com/t/x\" {{\n  version = \"1.0.0\"\n  hashes = [{bad}]\n}}\n"),
    );
    let outcome = lab.run(&["verify"]);
    assert_exit(&outcome, 1);
    assert!(outcome.stdout.contains("Too many errors"));
    assert_eq!(
        outcome
            .stdout
            .matches("Invalid provider hash string")
            .count(),
        1000
    );
}
