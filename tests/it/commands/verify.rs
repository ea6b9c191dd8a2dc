//! `verify`: findings, places, exit codes.

use super::*;

#[test]
fn verify_passes_what_lock_wrote() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    let outcome = lab.run(&[&["verify"], BOTH].concat()).exits(0);
    outcome.stdout_eq(str![[r#"
.terraform.lock.hcl: complete by count; 1 provider, h1: hashes for 2 platforms, no package installed

"#]]);
}

#[test]
fn verify_names_a_missing_lock_file() {
    let lab = simple();
    lab.run(&["verify"]).exits(1).stdout_eq(str![[r#"
error[lock-missing]: There is no .terraform.lock.hcl
 --> main.tf:5:17
  |
5 |       version = "~> 1.0"
  |                 ^^^^^^^^ example.com/t/x is required here
  |
  = help: run `lockctl lock .` to create it

.terraform.lock.hcl: 1 error

"#]]);
}

/// A broken configuration may require nothing, and `lock` refuses it.
#[test]
fn a_lock_file_is_missed_after_the_configuration_is_repaired() {
    let lab = simple();
    lab.write("main.tf", "terraform {\n");
    let outcome = lab.run(&["verify"]).exits(2);
    outcome.stdout_has("run `lockctl lock .` to create it, after the configuration is repaired");
    lab.run(&["lock"]).exits(2);
}

#[test]
fn verify_tells_what_a_missing_platform_means() {
    let lab = simple();
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    lab.run(&[&["verify"], BOTH].concat()).exits(1).stdout_eq(str![[r#"
warning[platforms-incomplete]: 1 of 2 wanted platforms of example.com/t/x lacks an h1: hash
 --> .terraform.lock.hcl:4:1
  |
4 | provider "example.com/t/x" {
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^ 1 h1: recorded; its platform is unknown; without one `terraform init` fails: Failed to install provider
  |
  = help: run `lockctl lock . --platform darwin_arm64,linux_amd64` to add what is missing (stated by --platform)

.terraform.lock.hcl: 1 warning

"#]]);

    // An installed package tells whose hash it is.
    lab.unpacked(
        ".terraform/providers",
        "example.com/t/x/1.1.0/linux_amd64",
        "1.1.0 linux_amd64",
    );
    lab.run(&[&["verify"], BOTH].concat()).exits(1).stdout_eq(str![[r#"
warning[platforms-incomplete]: 1 of 2 wanted platforms of example.com/t/x lacks an h1: hash
 --> .terraform.lock.hcl:4:1
  |
4 | provider "example.com/t/x" {
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^ 1 h1: recorded, none for darwin_arm64; without one `terraform init` fails: Failed to install provider
  |
  = help: run `lockctl lock . --platform darwin_arm64,linux_amd64` to add what is missing (stated by --platform)

.terraform.lock.hcl: 1 warning

"#]]);
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
    lab.run(&[&["verify"], BOTH].concat()).exits(1).stdout_eq(str![[r#"
error[package-mismatch]: The installed package of example.com/t/x 1.1.0 for linux_amd64 does not match the lock file
 --> .terraform.lock.hcl:4:1
  |
4 | provider "example.com/t/x" {
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^ no recorded h1: matches .terraform/providers/example.com/t/x/1.1.0/linux_amd64
  |
  = help: its hash is h1:TeM5eoIv0fi/1qbjJ7l4gOh3hEpV0VQlPdI2yWal4BY=; run `lockctl lock . --platform linux_amd64`: if that adds this hash, the lock file lacked it
          otherwise the package was changed: delete that directory and run `terraform init` again

.terraform.lock.hcl: 1 error; 1 note (-v shows it)

"#]]);
    lab.run(&[&["verify", "--skip", "packages"], BOTH].concat())
        .exits(0);
    assert_exit(&lab.run(&["verify", "--only", "packages"]), 1);
}

#[test]
fn verify_names_the_constraint_that_is_not_met() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    lab.write("main.tf", ONE_PROVIDER.replace("~> 1.0", ">= 2.0"));
    lab.run(&[&["verify"], BOTH].concat()).exits(1).stdout_eq(str![[r#"
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
  = help: run `lockctl update . example.com/t/x` to move the version, or change the constraint

.terraform.lock.hcl: 1 error; 2 notes (-v shows them)

"#]]);
}

#[test]
fn a_broken_lock_file_is_a_finding_of_verify_and_stops_lock() {
    let lab = simple();
    let broken = "provider \"example.com/t/x\" {\n  version = \"1.0.x\"\n}\n";
    lab.write(LOCK, broken);
    lab.run(&["verify"]).exits(1).stdout_eq(str![[r#"
error[version-malformed]: Invalid provider version number
 --> .terraform.lock.hcl:2:13
  |
2 |   version = "1.0.x"
  |             ^^^^^^^ "1.0.x" is no version: wildcards are not supported
  |
  = help: restore the line from version control, or delete the block, then run `lockctl lock .`

.terraform.lock.hcl: 1 error

"#]]);
    let outcome = lock(&lab, BOTH).exits(2);
    assert_eq!(lab.read(LOCK), broken);
    outcome.stderr_has("Invalid provider version number");
}

#[test]
fn json_of_verify_is_one_object_of_a_stable_shape() {
    let lab = simple();
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    let outcome = lab.run(&[&["verify", "--format", "json"], BOTH].concat());
    assert_exit(&outcome, 1);
    outcome.stdout_eq(str![[r#"
{
  "format_version": "1.0",
  "command": "verify",
  "exit": 1,
  "roots": [
    {
      "path": ".",
      "flavor": "terraform@1.16",
      "status": "findings",
      "proof": "none",
      "findings": [
        {
          "rule": "platforms-incomplete",
          "severity": "warning",
          "provider": "example.com/t/x",
          "file": ".terraform.lock.hcl",
          "line": 4,
          "column": 1,
          "end_line": 4,
          "end_column": 27,
          "title": "1 of 2 wanted platforms of example.com/t/x lacks an h1: hash",
          "detail": "1 h1: recorded; its platform is unknown; without one `terraform init` fails: Failed to install provider",
          "help": "run `lockctl lock . --platform darwin_arm64,linux_amd64` to add what is missing (stated by --platform)"
        }
      ],
      "failures": [],
      "providers": [
        {
          "provider": "example.com/t/x",
          "version": "1.1.0",
          "constraints": "~> 1.0",
          "h1_count": 1,
          "zh_count": 0
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

"#]]);
}

#[test]
fn several_roots_are_told_apart_and_the_worst_counts() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    let outcome = lab.run(&[&["verify", ".", "mirror", "nowhere"], BOTH].concat());
    assert_exit(&outcome, 2);
    outcome.stdout_has("3 roots: 1 clean, 2 failed; complete by count: 1\n");
    outcome.stderr_has("no configuration in mirror");
    outcome.stderr_has("nowhere");
}

#[test]
fn a_data_directory_that_is_none_hides_no_finding() {
    let lab = simple();
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    lab.write(".terraform/providers", "no directory");
    let outcome = lab.run(&[&["verify"], BOTH].concat()).exits(2);
    outcome.stdout_has("platforms-incomplete");
    outcome.stderr_has("could not be read");
}

#[test]
fn a_misspelt_platform_is_doubted() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    let outcome = lab.run(&["verify", "--platform", "linux_amd46"]);
    outcome.stderr_has("for linux_amd46: did you mean linux_amd64?");
}

#[test]
fn a_syntax_error_is_shown_with_its_line() {
    let lab = simple();
    lab.write(LOCK, "provider \"example.com/t/x\" {\n  version = \n}\n");
    lab.run(&["verify"]).exits(1).stdout_eq(str![[r#"
error[syntax-error]: Invalid expression
 --> .terraform.lock.hcl:2:13
  |
2 |   version = 
  |             ^

.terraform.lock.hcl: 1 error

"#]]);
}

/// What an unseen module requires is unknown, so its entries are judged like any other.
#[test]
fn an_entry_that_an_unseen_module_may_require_is_judged() {
    let lab = simple();
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    lab.write(
        "main.tf",
        "module \"m\" {\n  source = \"example.com/a/b/c\"\n}\n",
    );
    let outcome = lab.run(&[&["verify"], BOTH].concat()).exits(1);
    outcome.stdout_has("platforms-incomplete");
}

#[test]
fn a_missing_lock_file_is_told_beside_a_faulty_configuration() {
    let lab = simple();
    lab.write("main.tf", "resource \"x\" {\n}\n");
    lab.run(&["verify"]).exits(2).stdout_has("lock-missing");
}

#[test]
fn the_group_file_needs_no_configuration() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    lab.write("main.tf", "resource \"x\" {\n}\n");
    assert_exit(&lab.run(&["verify", "--only", "file"]), 0);
}

#[test]
fn advice_can_be_pasted() {
    let lab = Lab::new();
    lab.write("a root/main.tf", ONE_PROVIDER);
    let outcome = lab.run(&["verify", "a root", "--flavor", "opentofu"]);
    assert_exit(&outcome, 1);
    let root = if cfg!(windows) {
        "\"a root\""
    } else {
        "'a root'"
    };
    let command = format!("`lockctl lock {root} --flavor opentofu@1.12`");
    outcome.stdout_has(&command);
}

#[test]
fn verify_finds_more_hashes_than_packages() {
    let lab = Lab::new();
    lab.write("main.tf", ONE_PROVIDER);
    let h1 = |letter: &str| format!("    \"h1:{}=\",\n", letter.repeat(43));
    let zh = |letter: &str| format!("    \"zh:{}\",\n", letter.repeat(64));
    let hashes = h1("a") + &h1("b") + &h1("c") + &zh("d") + &zh("e");
    let entry = format!(
        "provider \"example.com/t/x\" {{\n  version     = \"1.0.0\"\n  constraints = \"~> 1.0\"\n  hashes = [\n{hashes}  ]\n}}\n"
    );
    lab.write(LOCK, entry);
    let outcome = lab.run(&["verify", "--only", "platforms", "--platform", "linux_amd64"]);
    assert_exit(&outcome, 1);
    outcome.stdout_has("warning[hashes-unexplained]: example.com/t/x has more h1: hashes than its release has packages");
    outcome.stdout_has("3 h1: for 2 packages");
}

#[test]
fn a_flood_of_faults_is_cut_off() {
    let lab = simple();
    let bad: String = (0..5000).map(|n| format!("\"q{n}\", ")).collect();
    lab.write(
        LOCK,
        format!("provider \"example.com/t/x\" {{\n  version = \"1.0.0\"\n  hashes = [{bad}]\n}}\n"),
    );
    let outcome = lab.run(&["verify"]).exits(1);
    outcome.stdout_has("Too many errors");
    assert_eq!(
        outcome
            .stdout
            .matches("Invalid provider hash string")
            .count(),
        999
    );
}

#[test]
fn an_entry_that_nothing_requires_is_no_finding() {
    let lab = simple();
    lab.write(LOCK, "provider \"example.com/t/other\" {\n  version = \"1.0.0\"\n  hashes = [\n    \"h1:vSUZJPJlJhDOkbAT+iqt7AAQArew8uExp71bJtBUdMw=\",\n  ]\n}\n");
    assert_exit(&lock(&lab, BOTH), 0);
    assert_exit(&lab.run(&[&["verify"], BOTH].concat()), 0);
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
