//! The cases of the group `lifecycle`: what becomes of a lock file over runs from a mirror.

use lockctl::flavor::Flavor;
use serde_json::Value;

use super::commands::{Counterpart, Place};
#[cfg(unix)]
use super::differences::{differences, stated};
use super::{LOCK, Recorded, Replayed};
#[cfg(unix)]
use super::{Tally, Verdict};
use crate::cases;
use crate::disk;
use crate::lab::{Lab, zip_of};
use crate::scenarios::Engine;

/// The programs, by the names that each of the two kinds of recordings has for them.
pub(super) const PROGRAMS: [(Flavor, Engine); 4] = [
    (Flavor::Terraform1_11, Engine::Terraform11),
    (Flavor::Terraform1_15, Engine::Terraform15),
    (Flavor::Terraform1_16, Engine::Terraform16),
    (Flavor::OpenTofu1_12, Engine::OpenTofu12),
];

/// A state that requires a provider which the configuration does not name.
const STATE: &str = r#"{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "a",
"outputs": {}, "resources": [{"mode": "managed", "type": "y_a", "name": "a",
"provider": "provider[\"example.com/t/y\"]", "instances": []}], "check_results": null}"#;

// One case is about a symbolic link, for which Windows wants a privilege.
#[cfg(unix)]
#[test]
fn lifecycle_cases() {
    let differences = differences("cases");
    let mut tally = Tally::default();
    for case in cases::load("lifecycle") {
        for (program, engine) in PROGRAMS {
            let difference = stated(&differences, &case.id(), engine);
            let told = case.for_program(program);
            let verdict = match replay(&told, program, engine) {
                Err(reason) => Verdict::LeftOut(reason),
                Ok((replayed, recorded)) => {
                    let fault = match difference {
                        Some(difference) => difference.fault(&replayed, &recorded),
                        None => replayed.difference_to(&recorded),
                    };
                    fault.map_or(Verdict::Agrees, Verdict::Differs)
                }
            };
            let subject = format!("{} {}", case.id(), engine.label());
            tally.count(&subject, verdict, difference.is_some());
        }
    }
    tally.report("lifecycle");
}

/// Replays a case, or says why that cannot be done.
fn replay(
    case: &Value,
    program: Flavor,
    engine: Engine,
) -> Result<(Replayed, Recorded), &'static str> {
    let lab = lay_out(case, program);
    let command =
        text(case, "command").replace("MIRROR", &lab.path("mirror").display().to_string());
    let args: Vec<&str> = command.split(' ').skip(1).collect();
    let lock = lab.path(&format!("work/{LOCK}"));
    let read = || std::fs::read_to_string(&lock).ok();
    let before = read();
    let place = Place {
        lab: &lab,
        root: "work",
        flavor: engine.flavor(),
    };
    let asks_nobody = Default::default();
    let (success, outcome, asked) = match Counterpart::of(engine, &args) {
        Counterpart::Run(command, options) => {
            let outcome = place.run(command, &options);
            (outcome.code == 0, outcome, Some(asks_nobody))
        }
        Counterpart::Predict(route) => {
            let mirror = [lab.path("mirror").display().to_string()];
            let (success, outcome) = place.predict(route, &mirror);
            (success, outcome, None)
        }
        Counterpart::None(reason) => return Err(reason),
    };
    let after = case["after"].as_str().map(|path| {
        let bytes = cases::file(program, path);
        String::from_utf8(bytes).unwrap()
    });
    let replayed = Replayed {
        success,
        outcome,
        before,
        after: read(),
        asked,
    };
    let recorded = Recorded {
        success: case["ok"] == true,
        lock: after,
        wrote: case["lock_rewritten"] == true,
        asked: None,
    };
    Ok((replayed, recorded))
}

fn text<'a>(case: &'a Value, field: &str) -> &'a str {
    case[field].as_str().unwrap_or_default()
}

/// Writes what a case starts from.
fn lay_out(case: &Value, program: Flavor) -> Lab {
    let mut lab = Lab::new();
    let id = text(case, "id").trim_start_matches("lifecycle/");
    lab.write("work/main.tf", text(case, "config"));
    if let Some(before) = case["before"].as_str() {
        let content = cases::file(program, before);
        if id == "lock_is_symlink" {
            lab.write("work/real.hcl", content);
            disk::link("real.hcl", &lab.path(&format!("work/{LOCK}")));
        } else {
            lab.write(&format!("work/{LOCK}"), content);
        }
    }
    if id.starts_with("state_requires") {
        lab.write("work/terraform.tfstate", STATE);
    }
    std::fs::create_dir(lab.path("mirror")).unwrap();
    let packages = case["packages"].as_array().unwrap();
    let packages: Vec<&str> = packages.iter().map(|path| path.as_str().unwrap()).collect();
    for path in &packages {
        lab.write(&format!("mirror/{path}"), package(id, path, &packages));
    }
    for installed in case["installed_before"].as_array().unwrap() {
        let installed = installed.as_str().unwrap();
        for path in packages.iter().filter(|path| path.starts_with(installed)) {
            let content = package(id, path, &packages);
            lab.write(&format!("work/.terraform/providers/{path}"), content);
        }
    }
    configure(&mut lab);
    lab
}

/// Makes the mirror the only source of packages.
pub(super) fn configure(lab: &mut Lab) {
    let mirror = lab.path("mirror").display().to_string();
    lab.write(
        "rc",
        format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = {mirror:?}\n  }}\n}}\n"
        ),
    );
    let rc = lab.path("rc").into();
    lab.env.vars.insert("TF_CLI_CONFIG_FILE".to_owned(), rc);
    let home = lab.path("home").into();
    lab.env.vars.insert("HOME".to_owned(), home);
}

/// Returns what the recorder wrote to a path of the mirror: a program, or a zip of one.
fn package(id: &str, path: &str, all: &[&str]) -> Vec<u8> {
    let is_zip = path.to_lowercase().ends_with(".zip");
    if !is_zip {
        let has_versions = all.iter().any(|path| path.contains("/x/2.0.0/"));
        let version = path.split('/').nth(3).unwrap();
        return match id {
            "lock_cmd_same_h1" => "same bytes".into(),
            "packed_and_unpacked" => "from directory".into(),
            _ if has_versions && path.contains("/x/") => format!("fake {version}").into(),
            _ => "fake".into(),
        };
    }
    let stem = path.rsplit('/').next().unwrap().trim_end_matches(".zip");
    let platform = stem.splitn(3, '_').nth(2).unwrap_or_default();
    // That of macOS got the ending, too.
    let suffix = if platform.contains("win") { ".exe" } else { "" };
    let content = match id {
        "packed_and_unpacked" => "from zip",
        "mirror_case" | "mirror_extra_part" => "fake",
        _ => platform,
    };
    zip_of(&[(&format!("terraform-provider-x_v1.0.0{suffix}"), content)])
}
