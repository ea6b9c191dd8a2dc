//! Findings that have one cause: people read one, programs get every one.

use super::*;

/// Spells an entry with so many `h1:` and `zh:` hashes.
fn entry(name: &str, h1: usize, zh: usize) -> String {
    let letters = ["a", "b", "c", "d", "e", "f"];
    let h1 = letters.iter().take(h1);
    let h1 = h1.map(|letter| format!("    \"h1:{}A=\",\n", letter.repeat(42)));
    let zh = letters.iter().take(zh);
    let zh = zh.map(|letter| format!("    \"zh:{}\",\n", letter.repeat(64)));
    let hashes: String = h1.chain(zh).collect();
    format!(
        "\nprovider \"registry.terraform.io/acme/{name}\" {{\n  version = \"1.0.0\"\n  hashes = [\n{hashes}  ]\n}}\n"
    )
}

const HEADER: &str = "\
# This file is maintained automatically by \"terraform init\".
# Manual edits may be lost in future updates.
";

/// Writes a root that requires some providers and locks others.
fn write(lab: &Lab, root: &str, required: &[&str], entries: &[String]) {
    let required: String = required
        .iter()
        .map(|name| format!("    {name} = {{\n      source = \"acme/{name}\"\n    }}\n"))
        .collect();
    let text = format!(
        "terraform {{\n  backend \"local\" {{}}\n  required_providers {{\n{required}  }}\n}}\n"
    );
    lab.write(&format!("{root}/main.tf"), text);
    if !entries.is_empty() {
        lab.write(
            &format!("{root}/{LOCK}"),
            format!("{HEADER}{}", entries.concat()),
        );
    }
}

fn verify(lab: &Lab, more: &[&str]) -> Outcome {
    lab.run(&[&["verify", "--no-state"], more].concat())
}

fn lines(outcome: &Outcome) -> usize {
    outcome.stdout.lines().count() + outcome.stderr.lines().count()
}

const SEVEN: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];

/// States the list that is the default, so that it counts.
const COMMON: &str = "--platform=common";

#[test]
fn seven_incomplete_providers_are_one_finding() {
    let lab = Lab::new();
    let entries = SEVEN.map(|name| entry(name, 1, 5));
    write(&lab, "live", &SEVEN, &entries);
    let outcome = verify(&lab, &["live", COMMON]).exits(1);
    assert!(lines(&outcome) <= 14, "{outcome:#?}");
    outcome.stdout_eq(str![[r#"
warning[platforms-incomplete]: 4 of 5 wanted platforms are missing for 7 of 7 providers
  --> live/.terraform.lock.hcl:4:1
   |
 4 | provider "registry.terraform.io/acme/a" {
16 | provider "registry.terraform.io/acme/b" {
28 | provider "registry.terraform.io/acme/c" {
40 | provider "registry.terraform.io/acme/d" {
52 | provider "registry.terraform.io/acme/e" {
... and 2 more (-v shows each)
   = note: 1 h1: recorded; its platform is unknown
   = help: run `lockctl lock live --no-state` to add what is missing for darwin_amd64, darwin_arm64, linux_amd64, linux_arm64, windows_amd64 (stated by --platform)

live/.terraform.lock.hcl: 7 warnings

"#]]);
    let json = verify(&lab, &["live", COMMON, "--format", "json"]);
    assert_eq!(json.stdout.matches("\"platforms-incomplete\"").count(), 7);
    let all = verify(&lab, &["live", COMMON, "-v"]);
    assert_eq!(all.stdout.matches("[platforms-incomplete]").count(), 7);
}

#[test]
fn what_differs_between_providers_is_beside_each() {
    let lab = Lab::new();
    let entries = [entry("a", 1, 5), entry("b", 1, 0), entry("c", 3, 5)];
    write(&lab, "live", &["a", "b", "c"], &entries);
    verify(&lab, &["live", COMMON]).exits(1).stdout_eq(str![[r#"
warning[platforms-incomplete]: 2 to 4 of 5 wanted platforms are missing for 3 of 3 providers
  --> live/.terraform.lock.hcl:4:1
   |
 4 | provider "registry.terraform.io/acme/a" {  <- 1 h1: recorded; its platform is unknown
16 | provider "registry.terraform.io/acme/b" {  <- 1 h1: recorded; its platform is unknown; without one `terraform init` fails: Failed to install provider
23 | provider "registry.terraform.io/acme/c" {  <- 3 h1: recorded; their platforms are unknown
   = help: run `lockctl lock live --no-state` to add what is missing for darwin_amd64, darwin_arm64, linux_amd64, linux_arm64, windows_amd64 (stated by --platform)

live/.terraform.lock.hcl: 3 warnings; 1 note (-v shows it)

"#]]);
}

#[test]
fn findings_without_a_title_for_several_keep_their_own() {
    let lab = Lab::new();
    let text = |name: &str| entry(name, 5, 5);
    write(&lab, "live", &[], &[text("a"), text("b"), text("c")]);
    lab.write(
        "live/main.tf",
        "terraform {\n  required_providers {\n    a = {\n      source  = \"acme/a\"\n      version = \"~> 2.0\"\n    }\n    b = {\n      source  = \"acme/b\"\n      version = \"~> 3.0\"\n    }\n  }\n}\n",
    );
    verify(&lab, &["live", "--only", "configuration"]).exits(1).stdout_eq(str![[r#"
error[version-outside-constraint]: The locked version does not meet a constraint of the configuration: 2 of 3 providers
 --> live/main.tf:5:17: registry.terraform.io/acme/a is locked at 1.0.0, which a constraint does not allow (~> 2.0 is required here)
 --> live/main.tf:9:17: registry.terraform.io/acme/b is locked at 1.0.0, which a constraint does not allow (~> 3.0 is required here)
  = help: run `lockctl update live --no-state acme/a acme/b` to move the version, or change the constraint

warning[provider-not-required]: registry.terraform.io/acme/c is locked but not required
  --> live/.terraform.lock.hcl:36:1
   |
36 | provider "registry.terraform.io/acme/c" {
   | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the configuration does not require it, and the state was left out
   |
   = help: run `lockctl lock live --no-state` to drop the entry, as `terraform init` does; until then `terraform init -lockfile=readonly` fails: Provider dependency changes detected

live/.terraform.lock.hcl: 2 errors, 1 warning; 2 notes (-v shows them)

"#]]);
}

/// Twelve roots: two without a lock file, nine with incomplete ones, one that is as it should be.
fn twelve_roots() -> Lab {
    let lab = Lab::new();
    for at in 0..12 {
        let root = format!("live/{at:02}");
        match at {
            0 | 5 => write(&lab, &root, &["a"], &[]),
            7 => write(&lab, &root, &["a"], &[entry("a", 5, 5)]),
            _ => write(
                &lab,
                &root,
                &["a", "b"],
                &[entry("a", 1, 5), entry("b", 1 + at % 3, 5)],
            ),
        }
    }
    lab
}

#[test]
fn many_roots_end_with_a_table_of_causes() {
    let lab = twelve_roots();
    verify(&lab, &["-r", COMMON]).exits(1).stdout_eq(str![[r#"
error[lock-missing]: No lock file in 2 of 12 roots
 --> live/00
 --> live/05
  = help: run `lockctl lock -r . --no-state` to create it

warning[platforms-incomplete]: 2 to 4 of 5 wanted platforms are missing for 2 providers in 9 of 12 roots
 --> live/01: acme/a, acme/b
 --> live/02: acme/a, acme/b
 --> live/03: acme/a, acme/b
 --> live/04: acme/a, acme/b
 --> live/06: acme/a, acme/b
... and 4 more (-v shows each)
  = help: run `lockctl lock -r . --no-state` to add what is missing for darwin_amd64, darwin_arm64, linux_amd64, linux_arm64, windows_amd64 (stated by --platform)

RULE                  SEVERITY  ROOTS  PROVIDERS  COMMAND
lock-missing          error     2      -          lockctl lock -r . --no-state
platforms-incomplete  warning   9      2          lockctl lock -r . --no-state

12 roots: 1 clean, 11 with findings (2 errors, 18 warnings); complete by count: 1

"#]]);
    let json = verify(&lab, &["-r", COMMON, "--format", "json"]);
    assert_eq!(json.stdout.matches("\"platforms-incomplete\"").count(), 18);
    let all = verify(&lab, &["-rv", COMMON]);
    assert_eq!(all.stdout.matches("[platforms-incomplete]").count(), 18);
    for at in 0..12 {
        let verdict = format!("live/{at:02}/.terraform.lock.hcl: ");
        all.stdout_has(&verdict);
    }
}

#[test]
fn a_few_roots_share_a_finding_and_keep_their_verdicts() {
    let lab = Lab::new();
    write(&lab, "live/a", &["a"], &[entry("a", 1, 5)]);
    write(&lab, "live/b", &["a", "b"], &[entry("a", 1, 5)]);
    write(&lab, "live/c", &["a"], &[entry("a", 5, 5)]);
    verify(&lab, &["live/a", "live/b", "live/c", COMMON]).exits(1).stdout_eq(str![[r#"
warning[platforms-incomplete]: 4 of 5 wanted platforms are missing for registry.terraform.io/acme/a in 2 of 3 roots
 --> live/a: acme/a
 --> live/b: acme/a
  = help: run `lockctl lock live/a live/b live/c --no-state` to add what is missing for darwin_amd64, darwin_arm64, linux_amd64, linux_arm64, windows_amd64 (stated by --platform)

error[provider-not-locked]: registry.terraform.io/acme/b is required but not locked
 --> live/b/main.tf:7:5
  |
7 |     b = {
  |     ^ required here
  |
  = help: run `lockctl lock live/b --no-state`

3 roots: 1 clean, 2 with findings (1 error, 2 warnings); complete by count: 1

"#]]);
}

#[test]
fn gaps_of_the_default_list_are_one_note_for_all_roots() {
    let lab = twelve_roots();
    for root in ["live/00", "live/05"] {
        write(&lab, root, &["a"], &[entry("a", 1, 5)]);
    }
    let outcome = verify(&lab, &["-r"]).exits(0);
    outcome.stdout_eq(str![[r#"
12 roots: 12 clean; complete by count: 1

"#]]);
    outcome.stderr_eq(str![[r#"
note: 20 of 21 entries have h1: hashes for 1 to 3 of the 5 common platforms (darwin_amd64, darwin_arm64, linux_amd64, linux_arm64, windows_amd64), the default list; to make platforms count, state `platforms = […]` in .lockctl.hcl

"#]]);
    let json = verify(&lab, &["-r", "--format", "json"]);
    assert_eq!(json.stdout.matches("\"platforms-incomplete\"").count(), 20);
    assert_eq!(json.stdout.matches("\"proof\": \"none\"").count(), 11);
    assert_eq!(json.stdout.matches("\"proof\": \"counted\"").count(), 1);
    // Each way to state a list makes the same entries fail, and names itself.
    let typed = verify(&lab, &["-r", COMMON]).exits(1);
    typed.stdout_has(" (stated by --platform)");
    lab.write("live/.lockctl.hcl", "platforms = [\"common\"]\n");
    let stated = verify(&lab, &["-r"]).exits(1);
    let list = "(stated in live/.lockctl.hcl)";
    assert_eq!(stated.stdout.matches(list).count(), 1, "{stated:#?}");
    stated.stderr_lacks("default list");
}

#[test]
fn platforms_of_one_provider_are_stated_beside_the_default_list() {
    let lab = Lab::new();
    write(
        &lab,
        "live",
        &["a", "b"],
        &[entry("a", 1, 5), entry("b", 1, 5)],
    );
    let own = "provider \"acme/b\" { platforms = [\"linux_amd64\", \"linux_arm64\"] }\n";
    lab.write(".lockctl.hcl", own);
    let outcome = verify(&lab, &["live"]).exits(1);
    outcome.stdout_eq(str![[r#"
warning[platforms-incomplete]: 1 of 2 wanted platforms of registry.terraform.io/acme/b lacks an h1: hash
  --> live/.terraform.lock.hcl:16:1
   |
16 | provider "registry.terraform.io/acme/b" {
   | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ 1 h1: recorded; its platform is unknown
   |
   = help: run `lockctl lock live --no-state` to add what is missing for linux_amd64, linux_arm64 (stated in .lockctl.hcl)

live/.terraform.lock.hcl: 1 warning; 1 note (-v shows it)

"#]]);
    outcome.stderr_eq(str![[r#"
note: 1 of 1 entry has h1: hashes for 1 of the 5 common platforms (darwin_amd64, darwin_arm64, linux_amd64, linux_arm64, windows_amd64), the default list; to make platforms count, state `platforms = […]` in .lockctl.hcl
note: `lockctl explain platforms-incomplete` says what this means and how to fix it

"#]]);
}

#[test]
fn what_the_registry_route_refuses_stays_a_warning_by_default() {
    let lab = Lab::new();
    // A hash of the wrong form keeps a package from being accepted unseen, and matches none (`hash` rules 1.2).
    let broken = entry("c", 0, 1).replace("zh:", "zh:A");
    let entries = [entry("a", 0, 5), entry("b", 1, 0), broken];
    write(&lab, "live", &["a", "b", "c"], &entries);
    let outcome = verify(&lab, &["live", "--format", "json"]).exits(1);
    let document: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let severities: Vec<_> = document["roots"][0]["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["rule"] == "platforms-incomplete")
        .map(|finding| finding["severity"].as_str().unwrap())
        .collect();
    assert_eq!(severities, ["note", "warning", "warning"]);
}

#[test]
fn a_fault_in_a_shared_module_is_shown_once() {
    let lab = Lab::new();
    lab.write("modules/m/main.tf", "variable \"x\" {\n  oops = 1\n}\n");
    for root in ["live/a", "live/b"] {
        write(&lab, root, &["a"], &[entry("a", 5, 5)]);
        lab.write(
            &format!("{root}/m.tf"),
            "module \"m\" {\n  source = \"../../modules/m\"\n}\n",
        );
    }
    verify(&lab, &["-r"]).exits(2).stdout_eq(str![[r#"
error[unsupported-item]: Unsupported argument
 --> modules/m/main.tf:2:3
  |
2 |   oops = 1  <- Terraform has no such argument here
  = note: in the roots live/a, live/b

2 roots: 2 failed (1 error)

"#]]);
}

#[test]
fn places_of_one_cause_are_counted_where_no_provider_is_concerned() {
    let lab = Lab::new();
    for (root, modules) in [("live/a", &["m", "n"][..]), ("live/b", &["m"])] {
        write(&lab, root, &["a"], &[entry("a", 5, 5)]);
        let calls = modules.iter();
        let calls = calls.map(|name| {
            format!("module \"{name}\" {{\n  source = \"example.com/{name}/x/y\"\n}}\n")
        });
        lab.write(&format!("{root}/m.tf"), calls.collect::<String>());
    }
    let outcome = verify(&lab, &["-r", "--strict-modules"]).exits(1);
    outcome.stdout_eq(str![[r#"
error[module-not-visible]: Modules that are not visible: 3 places in 2 of 2 roots
 --> live/a: 2 places
 --> live/b

2 roots: 2 with findings (3 errors); 3 modules of 2 roots not seen (`--modules fetch`)

"#]]);
    let outcome = verify(&lab, &["live/a", "--strict-modules"]).exits(1);
    outcome.stdout_eq(str![[r#"
error[module-not-visible]: Modules that are not visible: 2 places
 --> live/a/m.tf:1:1
  |
1 | module "m" {  <- what module.m requires is unknown
4 | module "n" {  <- what module.n requires is unknown

live/a/.terraform.lock.hcl: 2 errors; 2 modules not seen (`--modules fetch`); 1 note (-v shows it)

"#]]);
}

/// The commands of the table are tried: after them there is nothing left to report.
#[test]
fn the_commands_of_the_table_fix_all_roots() {
    let lab = twelve_roots();
    for name in ["a", "b"] {
        for platform in ["linux_amd64", "darwin_arm64"] {
            let package = format!("registry.terraform.io/acme/{name}/1.0.0/{platform}");
            lab.unpacked("mirror", &package, &format!("{name} {platform}"));
        }
    }
    // What was recorded is of no package here.
    for at in 0..12 {
        let path = lab.path(&format!("live/{at:02}/{LOCK}"));
        if at % 5 != 0 {
            let entry = |name| entry(name, 0, 0).replace("  hashes = [\n  ]\n", "");
            let text = format!("{HEADER}{}{}", entry("a"), entry("b"));
            std::fs::write(path, text).expect("written");
        }
    }
    let platforms = ["--platform", "linux_amd64,darwin_arm64"];
    let before = verify(&lab, &[&["-r"], &platforms[..]].concat()).exits(1);
    let table = before.stdout.lines();
    let table = table.skip_while(|line| !line.starts_with("RULE "));
    let commands: std::collections::BTreeSet<&str> = table
        .filter_map(|line| line.find("lockctl ").map(|at| &line[at..]))
        .collect();
    assert!(!commands.is_empty(), "{}", before.stdout);
    for command in commands {
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        let words = [&words[..], &["--fs-mirror", "mirror"]].concat();
        assert_exit(&lab.run(&words), 0);
    }
    verify(&lab, &[&["-r"], &platforms[..]].concat()).exits(0);
}

/// The table names a rule and what fixes it; which error of the configuration it is, the blocks above say.
#[test]
fn the_table_has_one_row_for_the_errors_of_many_configurations() {
    let lab = Lab::new();
    for at in 0..12 {
        let fault = if at % 2 == 0 {
            "module \"m\" {}\n"
        } else {
            "module \"m\" {\n  source = \"./m\"\n}\nmodule \"m\" {\n  source = \"./m\"\n}\n"
        };
        let root = format!("live/{at:02}");
        lab.write(&format!("{root}/main.tf"), fault);
        lab.write(&format!("{root}/m/main.tf"), "");
        lab.write(&format!("{root}/{LOCK}"), HEADER);
    }
    let outcome = verify(&lab, &["-r"]).exits(2);
    let rows: Vec<&str> = outcome
        .stdout
        .lines()
        .filter(|line| line.starts_with("configuration-invalid "))
        .collect();
    let row =
        "configuration-invalid  error     12     -          lockctl explain configuration-invalid";
    assert_eq!(rows, [row], "{}", outcome.stdout);
}
