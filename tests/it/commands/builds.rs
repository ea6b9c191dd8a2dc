//! Builds of programs in `show --build`, `diff` and `verify`.

use std::fs;
use std::path::Path;

use lockctl::contents::{BuildInfo, BuiltModule, ModuleReplacement, Setting};
use lockctl::hash::zh;

use super::facts::{downloads, lock};
use super::registry::{point_at, steady};
use super::*;
use crate::build_information::{DIRECTORY, fixtures, package, recorded, stems};
use crate::registry::Registry;

const CONFIG: &str = "\
terraform {
  required_providers {
    lab = { source = \"acme/lab\" }
  }
}
";

const TWO: [&str; 2] = ["darwin_arm64", "linux_amd64"];

const BOTH: &[&str] = &["--platform", "linux_amd64,darwin_arm64"];

/// A length in the encoding of Go.
fn number(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// An ELF program that holds nothing but build information.
fn program(go: &str, text: &str) -> Vec<u8> {
    let text = format!("{0}{text}{0}", "=".repeat(16));
    let mut data = [&b"\xff Go buildinf:"[..], &[8, 2], &[0; 16]].concat();
    for string in [go, &text] {
        data.extend(number(string.len()));
        data.extend_from_slice(string.as_bytes());
    }
    let mut program = vec![0; 0x100];
    program[..6].copy_from_slice(b"\x7fELF\x02\x01");
    (program[32], program[54], program[56]) = (64, 56, 1);
    (program[64], program[68], program[73], program[81]) = (1, 6, 1, 1);
    program[96..104].copy_from_slice(&(data.len() as u64).to_le_bytes());
    program.extend_from_slice(&data);
    program
}

/// A build as `GO MODULE COMMIT TIME STATE`.
fn zip(build: &str, platform: &str) -> Vec<u8> {
    let words: Vec<&str> = build.split(' ').collect();
    let [go, module, commit, time, state] = words[..] else {
        // A program without build information.
        return package(&[
            ("terraform-provider-lab_v1.0.0", b"#!/bin/sh\n"),
            ("README", platform.as_bytes()),
        ]);
    };
    let is_dirty = state == "dirty";
    let text = format!(
        "path\t{module}\nmod\t{module}\tv1.0.0\t\ndep\ta.example/a\tv1.2.3\th1:AAA=\n\
         dep\tb.example/b\tv1.0.0\n=>\t./b\t(devel)\t\nbuild\tvcs.revision={commit}\n\
         build\tvcs.time={time}\nbuild\tvcs.modified={is_dirty}\nbuild\tGOOS={platform}\n"
    );
    package(&[("terraform-provider-lab_v1.0.0", &program(go, &text))])
}

pub(super) const CLEAN: &str =
    "go1.22.3 github.com/acme/terraform-provider-lab 0123456789abcdef 2024-05-06T07:08:09Z clean";

/// A registry with builds by version and platform, and a root that is locked for two platforms.
pub(super) fn locked(releases: &[(&str, [&str; 2])], version: &str) -> (Registry, Lab) {
    let registry = Registry::start();
    for (version, builds) in releases {
        for (platform, build) in TWO.iter().zip(builds) {
            registry.add_zip("acme/lab", version, platform, &zip(build, platform));
        }
    }
    let mut lab = Lab::new();
    point_at(&mut lab, &registry);
    lab.write("main.tf", CONFIG);
    update(&lab, version);
    (registry, lab)
}

pub(super) fn update(lab: &Lab, version: &str) {
    lab.write(
        "main.tf",
        CONFIG.replace(
            "\"acme/lab\"",
            &format!("\"acme/lab\", version = \"{version}\""),
        ),
    );
    let outcome = lab.run(&[&["update", "--flavor", "terraform@1.11"], BOTH].concat());
    assert_exit(&outcome, 0);
}

fn run(lab: &Lab, args: &[&str]) -> Outcome {
    lab.run(&[args, &["--flavor", "terraform@1.11"]].concat())
}

#[test]
fn builds_that_facts_know_are_shown() {
    let (registry, lab) = locked(&[("1.0.0", [CLEAN, CLEAN])], "1.0.0");
    registry.reset(&json!({}));
    let outcome = run(&lab, &["show", "--build"]).exits(0);
    outcome.stdout_eq(str![[r#"
PROVIDER  VERSION  GO        MAIN MODULE                                    COMMIT        TIME                  SOURCE  ATTESTED  MODULES  PLATFORMS
acme/lab  1.0.0    go1.22.3  github.com/acme/terraform-provider-lab v1.0.0  0123456789ab  2024-05-06T07:08:09Z  clean   -         2        2 of 2

"#]]);
    assert_eq!(outcome.stderr, "");
    assert!(registry.requests().is_empty());
    let outcome = run(&lab, &["show", "--build", "--format", "json"]);
    let document = outcome.json();
    let build = &document["roots"][0]["providers"][0]["build"];
    assert_eq!(
        (&build["same_commit"], &build["same_modules"]),
        (&json!(true), &json!(true))
    );
    let package = &build["packages"][0];
    assert_eq!(package["platform"], "darwin_arm64");
    assert_eq!(package["build"]["modules"][0]["sum"], "h1:AAA=");
    assert_eq!(package["build"]["modules"][1]["replacement"]["path"], "./b");
    run(&lab, &["show", "--build", "-v"]).stdout_has("    dep  a.example/a  v1.2.3  h1:AAA=\n");
}

#[test]
fn unknown_contents_are_downloaded_once() {
    let (registry, lab) = locked(&[("1.0.0", [CLEAN, CLEAN])], "1.0.0");
    // Facts without contents, as an earlier version of the program kept them.
    fs::remove_dir_all(lab.path("home/.cache/lockctl/contents-1")).unwrap();
    registry.reset(&json!({}));
    let outcome = run(&lab, &["show", "--build"]).exits(0);
    [outcome.stdout, outcome.stderr].concat().reads(str![[r#"
PROVIDER  VERSION  GO        MAIN MODULE  COMMIT  TIME  SOURCE  ATTESTED  MODULES  PLATFORMS
acme/lab  1.0.0    not read  -            -       -     -       -         -        -
note: the contents of 2 packages are not known; `lockctl show --build --contents . --flavor terraform@1.11` downloads and reads them

"#]]);
    // `lock` needs no contents.
    assert_exit(&lock(&lab, BOTH), 0);
    assert_eq!(downloads(&registry), 0);
    let before = lab.read(LOCK);
    for _ in 0..2 {
        let outcome = run(&lab, &["show", "--build", "--contents"]).exits(0);
        outcome.stdout_has("2 of 2");
        assert_eq!(downloads(&registry), 2);
    }
    assert_eq!(lab.read(LOCK), before);
    run(&lab, &["show", "--build", "--contents", "--offline"]).exits(2);
    assert_exit(&run(&lab, &["show", "--contents"]), 2);
}

#[test]
fn a_program_without_build_information_is_unknown() {
    let (_registry, lab) = locked(&[("1.0.0", ["", ""])], "1.0.0");
    run(&lab, &["sbom"]).exits(0).stderr_lacks("contents");
    let outcome = run(&lab, &["show", "--build"]).exits(0);
    [outcome.stdout, outcome.stderr].concat().reads(str![[r#"
PROVIDER  VERSION  GO       MAIN MODULE  COMMIT  TIME  SOURCE  ATTESTED  MODULES  PLATFORMS
acme/lab  1.0.0    unknown  -            -       -     -       -         -        -

"#]]);
}

#[test]
fn packages_on_this_machine_are_read() {
    let lab = Lab::new();
    let (program, _) = recorded(&fixtures().join("plain-darwin-arm64"));
    let zip = package(&[("terraform-provider-lab_v1.0.0", &program)]);
    let zh = zh(&zip[..]).unwrap();
    let dir = "m/registry.terraform.io/acme/lab/terraform-provider-lab_1.0.0_darwin_arm64.zip";
    lab.write(dir, &zip);
    let of = |more: &str| {
        format!(
            "provider \"registry.terraform.io/acme/lab\" {{\n  version = \"1.0.0\"\n  hashes = [\n    \"{zh}\",\n{more}  ]\n}}\n"
        )
    };
    lab.write(LOCK, of(""));
    run(&lab, &["show", "--build"]).stdout_has("not read");
    let outcome = run(&lab, &["show", "--build", "--fs-mirror", "m"]).exits(0);
    outcome.stdout_has("go1.26.8");
    assert_eq!(outcome.stderr, "");
    // An installed package is read if it is the locked one.
    let installed = ".terraform/providers/registry.terraform.io/acme/lab/1.0.0/darwin_arm64";
    lab.write(
        &format!("{installed}/terraform-provider-lab_v1.0.0"),
        &program,
    );
    let h1 = run(&lab, &["hash", installed]).stdout;
    let h1 = h1
        .split_whitespace()
        .find(|word| word.starts_with("h1:"))
        .unwrap();
    lab.write(LOCK, of(&format!("    \"{h1}\",\n")));
    run(&lab, &["show", "--build"]).stdout_has("go1.26.8");
    // No contents are kept of what no signed list covers, so downloading it would change nothing.
    lab.write(".lockctl.hcl", "packages { fs_mirror = \"m\" }\n");
    let outcome = run(&lab, &["sbom"]).exits(0);
    outcome.stderr_has(
        "; no contents are kept of packages without a signed list, as those of a mirror",
    );
    outcome.stderr_lacks("--contents");
    std::fs::remove_file(lab.path(".lockctl.hcl")).unwrap();
    lab.write(
        &format!("{installed}/terraform-provider-lab_v1.0.0"),
        "other",
    );
    run(&lab, &["show", "--build"]).stdout_has("not read");
}

#[test]
fn nothing_of_a_program_steers_a_terminal() {
    let hostile = "go1.22.3 github.com/evil/terraform-provider-lab \"\\x1b[2J\\u202eabc\" 2024-05-06T07:08:09Z dirty";
    let modules =
        "go1.22.3 github.com/evil\u{1b}[2J/terraform-provider-lab a 2024-05-06T07:08:09Z dirty";
    let (_registry, lab) = locked(
        &[
            ("1.0.0", [CLEAN, CLEAN]),
            ("1.1.0", [hostile, modules]),
            ("1.2.0", [hostile, CLEAN]),
        ],
        "1.0.0",
    );
    let before = lab.read(LOCK);
    for version in ["1.1.0", "1.2.0"] {
        update(&lab, version);
        lab.write("old.hcl", &before);
        for args in [
            &["show", "--build"][..],
            &["show", "--build", "-v"],
            &["verify"],
            &["diff", "old.hcl", LOCK],
        ] {
            for format in ["human", "markdown"] {
                if args[0] == "show" && format == "markdown" {
                    continue;
                }
                let outcome = run(&lab, &[args, &["--format", format]].concat());
                let all = [outcome.stdout, outcome.stderr].concat();
                let bad = all
                    .chars()
                    .find(|c| c.is_control() && *c != '\n' || *c == '\u{202e}');
                assert_eq!(bad, None, "{args:?} --format {format}: {all}");
            }
        }
    }
}

#[test]
fn changes_of_builds_are_lines_with_a_risk() {
    let older =
        "go1.9 github.com/acme/terraform-provider-lab fedcba9876543210 2020-05-06T07:08:09Z dirty";
    let (_registry, lab) = locked(
        &[("1.0.0", [CLEAN, CLEAN]), ("1.1.0", [older, older])],
        "1.0.0",
    );
    lab.write("old.hcl", lab.read(LOCK));
    update(&lab, "1.1.0");
    run(&lab, &["diff", "old.hcl", LOCK]).stdout_eq(str![[r#"
warning  acme/lab  1.0.0 → 1.1.0  upgraded (minor), constraints-changed  the constraints changed (1.0.0 → 1.1.0); the constraint in main.tf:3 is 1.1.0
warning  acme/lab  1.0.0 → 1.1.0  older-commit                           the program is built from an older commit: 2024-05-06T07:08:09Z → 2020-05-06T07:08:09Z
warning  acme/lab  1.0.0 → 1.1.0  older-go                               the program is built with an older Go: go1.22.3 → go1.9
notice   acme/lab  1.0.0 → 1.1.0  became-dirty                           the source of the program differs from its commit, which it did not before (darwin_arm64, linux_amd64)
1 provider upgraded with new constraints; warning: acme/lab

"#]]);
    run(&lab, &["diff", "old.hcl", LOCK, "--fail-on", "warning"]).exits(1);
    let outcome = run(&lab, &["diff", "old.hcl", LOCK, "--format", "json"]);
    let document: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let builds = &document["files"][0]["changes"][0]["builds"];
    assert_eq!(builds[0]["kind"], "older-commit", "{document}");
    // Nothing is reported if the contents of one side are unknown.
    run(&lab, &["diff", "old.hcl", LOCK, "--no-cache"]).stdout_lacks("built");
}

#[test]
fn platforms_that_differ_are_a_warning() {
    let dirty = &CLEAN.replace("clean", "dirty");
    let other = &CLEAN.replace("0123", "fedc");
    let (registry, lab) = locked(
        &[("1.0.0", [CLEAN, dirty]), ("1.1.0", [CLEAN, other])],
        "1.0.0",
    );
    let outcome = run(&lab, &["verify", "--only", "build"]).exits(1);
    steady(&registry, &outcome.stdout).reads(str![[r#"
warning[build-inconsistent]: the packages of registry.terraform.io/acme/lab 1.0.0 are built partly from modified source
 --> .terraform.lock.hcl:5:17
  |
5 |   version     = "1.0.0"
  |                 ^^^^^^^ source that differs from its commit: linux_amd64
  |
  = help: compare the release with its tag and ask the publisher; `lockctl show --build` shows the build of each platform

.terraform.lock.hcl: 1 warning

"#]]);
    update(&lab, "1.1.0");
    let outcome = run(&lab, &["verify", "--only", "build"]).exits(1);
    outcome.stdout_has("commit 0123456789ab: darwin_arm64; commit fedc456789ab: linux_amd64");
    assert_exit(&run(&lab, &["verify", "--only", "build", "--no-cache"]), 0);
}

#[test]
fn the_module_of_another_publisher_is_a_note() {
    let evil = &CLEAN.replace("github.com/acme/", "github.com/hashicorp/");
    let former = &CLEAN.replace("github.com/acme/", "github.com/terraform-providers/");
    let (_registry, lab) = locked(
        &[("1.0.0", [evil, evil]), ("1.1.0", [former, former])],
        "1.0.0",
    );
    run(&lab, &["verify", "--only", "build", "-v"]).exits(0).stdout_eq(str![[r#"
note[build-of-another-module]: registry.terraform.io/acme/lab is built from the module github.com/hashicorp/terraform-provider-lab
 --> .terraform.lock.hcl:4:1
  |
4 | provider "registry.terraform.io/acme/lab" {
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ by the programs for darwin_arm64, linux_amd64
  |
  = help: compare the address with the documentation of the provider: a fork keeps the path of its module, and so does a copy; `lockctl why registry.terraform.io/acme/lab` shows which module requires it

.terraform.lock.hcl: ok; 1 provider; 1 note

"#]]);
    update(&lab, "1.1.0");
    run(&lab, &["verify", "--only", "build", "-v"]).stdout_lacks("module");
}

/// The output of Go, made from the JSON output of the command.
fn printed(build: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let module = |value: &Value| BuiltModule {
        path: text(&value["path"]),
        version: text(&value["version"]),
        sum: value["sum"].as_str().map(str::to_owned),
        replacement: value.get("replacement").map(|value| ModuleReplacement {
            path: text(&value["path"]),
            version: text(&value["version"]),
            sum: value["sum"].as_str().map(str::to_owned),
        }),
    };
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let info = BuildInfo {
        go_version: text(&build["go_version"]),
        path: text(&build["path"]),
        main: Some(&build["main"])
            .filter(|main| !main.is_null())
            .map(module),
        deps: list(&build["modules"]).iter().map(module).collect(),
        settings: list(&build["settings"])
            .iter()
            .map(|value| Setting {
                key: text(&value["key"]),
                value: text(&value["value"]),
            })
            .collect(),
    };
    format!("{}\n{info}", info.go_version)
}

/// Compares the output of `show` for a package with that of Go; returns true if its build is known.
fn is_shown_as(zip: &[u8], expected: &str, stem: &Path) -> bool {
    let lab = Lab::new();
    let zh = zh(zip).unwrap();
    lab.write(
        "m/registry.terraform.io/acme/lab/terraform-provider-lab_1.2.3_linux_amd64.zip",
        zip,
    );
    lab.write(
        LOCK,
        format!("provider \"registry.terraform.io/acme/lab\" {{\n  version = \"1.2.3\"\n  hashes = [\n    \"{zh}\",\n  ]\n}}\n"),
    );
    let outcome = run(
        &lab,
        &["show", "--build", "--fs-mirror", "m", "--format", "json"],
    );
    assert_exit(&outcome, 0);
    let document: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let package = &document["roots"][0]["providers"][0]["build"]["packages"][0];
    let is_known = package["contents"] == "known";
    let shown = if is_known {
        printed(&package["build"])
    } else {
        assert_eq!(
            package["contents"],
            "unknown",
            "{}: {document}",
            stem.display()
        );
        "unknown\n".to_owned()
    };
    assert_eq!(shown, expected, "{}", stem.display());
    is_known
}

#[test]
fn the_command_shows_what_go_prints() {
    for stem in stems(&fixtures(), "gz") {
        let (program, expected) = recorded(&stem);
        let zip = package(&[("terraform-provider-lab_v1.2.3", &program)]);
        assert!(is_shown_as(&zip, &expected, &stem));
    }
    let Some(dir) = std::env::var_os(DIRECTORY) else {
        println!("skipped: {DIRECTORY} does not name what scripts/make-buildinfo built");
        return;
    };
    let stems = stems(Path::new(&dir), "want");
    let known = stems.iter().filter(|stem| {
        let zip = fs::read(stem.with_extension("zip")).unwrap();
        let expected = fs::read_to_string(stem.with_extension("want")).unwrap();
        is_shown_as(&zip, &expected, stem)
    });
    let known = known.count();
    println!(
        "{} packages through the command, {known} known",
        stems.len()
    );
    assert!(known >= 60, "only {known} programs");
}

/// A root that does not trust imported facts shows nothing of them, although another root of the run does.
#[test]
fn imported_contents_stay_with_the_roots_that_trust_them() {
    let (_registry, lab) = locked(&[("1.0.0", [CLEAN, CLEAN])], "1.0.0");
    assert_exit(&lab.run(&["cache", "export", "facts.txt"]), 0);
    fs::remove_dir_all(lab.path("home/.cache/lockctl")).unwrap();
    assert_exit(&lab.run(&["cache", "import", "facts.txt"]), 0);
    let lock = lab.read(LOCK);
    for root in ["a", "b"] {
        lab.write(&format!("{root}/{LOCK}"), &lock);
    }
    lab.write("a/.lockctl.hcl", "trust {\n  imported_facts = true\n}\n");
    let outcome = run(&lab, &["show", "--build", "a", "b", "--format", "json"]).exits(0);
    let document: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let packages = |root: usize| {
        let build = &document["roots"][root]["providers"][0]["build"];
        build["packages"].as_array().unwrap().clone()
    };
    let trusting = packages(0);
    assert_eq!(trusting.len(), 2, "{document}");
    for package in trusting {
        assert_eq!(package["contents"], "known");
        assert_eq!(package["build"]["go_version"], "go1.22.3", "{package}");
    }
    for package in packages(1) {
        assert_eq!(package["contents"], "not-read");
        assert_eq!(package["build"], Value::Null, "{package}");
    }
}
