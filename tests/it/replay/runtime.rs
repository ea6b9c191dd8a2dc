//! The cases of the group `runtime`: what `plan` and others do after a good `init`, if something was
//! changed since.

use serde_json::Value;

use super::LOCK;
use super::Tally;
use super::Verdict;
use super::commands::{Counterpart, Place};
use super::lifecycle::{PROGRAMS, configure};
use crate::cases;
use crate::lab::{Lab, zip_of};
use crate::scenarios::Engine;

const PROGRAM: &str = "terraform-provider-x_v1.0.0";
const INSTALLED: &str = "work/.terraform/providers/example.com/t/x/1.0.0/linux_amd64";
const WRONG: &str = "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

#[test]
fn runtime_cases() {
    let mut tally = Tally::default();
    for case in cases::load("runtime") {
        for (program, engine) in PROGRAMS {
            let told = case.for_program(program);
            let id = case.id();
            let verdict = replay(&told, &id["runtime/".len()..], engine);
            tally.count(&format!("{id} {}", engine.label()), verdict, false);
        }
    }
    tally.report("runtime");
}

/// Locks and installs, changes something, and compares what is predicted.
fn replay(case: &Value, id: &str, engine: Engine) -> Verdict {
    let flavor = engine.flavor();
    let mut lab = Lab::new();
    lab.write("work/main.tf", requires("1.0.0"));
    let zip = zip_of(&[(PROGRAM, "fake")]);
    let name = "mirror/example.com/t/x/terraform-provider-x_1.0.0_linux_amd64.zip";
    lab.write(name, &zip);
    configure(&mut lab);
    let place = |lab| Place {
        lab,
        root: "work",
        flavor,
    };
    let Counterpart::Run(command, options) = Counterpart::of(engine, &["init"]) else {
        panic!("init locks")
    };
    let locked = place(&lab).run(command, &options);
    assert_eq!(locked.code, 0, "{locked:#?}");
    lab.write(&format!("{INSTALLED}/{PROGRAM}"), "fake");
    change(&lab, id, flavor);
    let command: Vec<&str> = case["command"].as_str().unwrap().split(' ').collect();
    let (success, outcome) = match Counterpart::of(engine, &command[1..]) {
        Counterpart::Run(command, options) => {
            let outcome = place(&lab).run(command, &options);
            (outcome.code == 0, outcome)
        }
        Counterpart::Predict(route) => place(&lab).predict(route, &[]),
        Counterpart::None(reason) => return Verdict::LeftOut(reason),
    };
    let passed = case["verification"] == "passed";
    if success == passed {
        return Verdict::Agrees;
    }
    Verdict::Differs(format!("success is {success}: {outcome:#?}"))
}

fn requires(constraint: &str) -> String {
    format!(
        "terraform {{\n  required_providers {{\n    x = {{\n      source = \"example.com/t/x\"\n      \
         version = \"{constraint}\"\n    }}\n  }}\n}}\n"
    )
}

/// Changes what a case changes after `init`.
fn change(lab: &Lab, id: &str, flavor: &str) {
    let lock = format!("work/{LOCK}");
    let good = lab.read(&lock);
    let good = good
        .split('"')
        .find(|text| text.starts_with("h1:"))
        .unwrap();
    let zh = lockctl::hash::zh(&*zip_of(&[(PROGRAM, "fake")]))
        .unwrap()
        .to_string();
    let wrong_zh = format!("zh:{}", "0".repeat(64));
    let write = |version: &str, hashes: &[&str], more: &str| {
        let list = match hashes {
            [] => String::new(),
            some => format!("  hashes = {some:?}\n"),
        };
        let entry =
            format!("provider \"example.com/t/x\" {{\n  version = \"{version}\"\n{more}{list}}}\n");
        lab.write(&lock, entry);
    };
    let record = |hashes: &[&str]| write("1.0.0", hashes, "");
    match id {
        "good" => {}
        "tampered" => {
            lab.write(&format!("{INSTALLED}/{PROGRAM}"), "evil");
        }
        "extra_file" => {
            lab.write(&format!("{INSTALLED}/extra"), "x");
        }
        "empty_dir_added" => {
            std::fs::create_dir(lab.path(&format!("{INSTALLED}/sub"))).unwrap();
        }
        "mode_changed" => {
            use std::os::unix::fs::PermissionsExt as _;
            let program = lab.path(&format!("{INSTALLED}/{PROGRAM}"));
            std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o644)).unwrap();
        }
        "no_lock" => std::fs::remove_file(lab.path(&lock)).unwrap(),
        "no_install" => std::fs::remove_dir_all(lab.path("work/.terraform")).unwrap(),
        "zh_only" => record(&[&zh]),
        "wrong_zh_only" => record(&[&wrong_zh]),
        "zh_and_wrong_h1" => record(&[WRONG, &zh]),
        "no_hashes" => record(&[]),
        "unknown_only" => record(&["foo:bar"]),
        "other_platform_only" => record(&[WRONG]),
        "h1_and_wrong_zh" => record(&[good, &wrong_zh]),
        "stale_constraints" => write("1.0.0", &[good], "  constraints = \">= 0.1.0\"\n"),
        "config_changed" => {
            lab.write("work/main.tf", requires("~> 2.0"));
        }
        "config_added" | "config_added_implied" => {
            lab.write("work/more.tf", "resource \"null_resource\" \"a\" {\n}\n");
        }
        "version_outside" => write("2.0.0", &[good], ""),
        "messy" => record(&[&wrong_zh, good, good]),
        "extra_entry" => {
            let host = if flavor.starts_with("opentofu") {
                "registry.opentofu.org"
            } else {
                "registry.terraform.io"
            };
            record(&[good]);
            let extra = format!(
                "provider \"{host}/hashicorp/null\" {{\n  version = \"3.2.1\"\n  hashes = [{WRONG:?}]\n}}\n"
            );
            lab.write(&lock, lab.read(&lock) + &extra);
        }
        "broken_lock" | "broken_lock_init" | "broken_lock_validate" | "broken_lock_upgrade" => {
            write("1.0.0", &[good], "  foo = 1\n");
        }
        other => panic!("{other}: no such change is known"),
    }
}
