//! The recorded cases of `fixtures/cases`.

use std::path::Path;

use lockctl::archive::Limits;
use lockctl::archive::zip::hash_zip;
use lockctl::coverage::Route;
use lockctl::flavor::Flavor;
use lockctl::hash::{Hash, zh};
use serde_json::Value;

use super::{LOCK, PackageHashes, Recorded, fault, foretell};
use crate::cases::{self, Case};
use crate::lab::{Lab, zip_of};

fn parsed(hash: &str) -> Hash {
    hash.parse().unwrap()
}

fn text<'a>(case: &'a Value, field: &str) -> &'a str {
    case[field].as_str().unwrap_or_default()
}

/// Fills the directory of a lab with one provider, and an entry of these hashes.
fn one_provider(constraint: &str, version: &str, hashes: &[&str]) -> Lab {
    let lab = Lab::new();
    lab.write("main.tf", format!("terraform {{\n  required_providers {{\n    x = {{\n      source = \"example.com/t/x\"\n      version = \"{constraint}\"\n    }}\n  }}\n}}\n"));
    let list = match hashes {
        [] => String::new(),
        some => format!("  hashes = {some:?}\n"),
    };
    let entry = format!("provider \"example.com/t/x\" {{\n  version = \"{version}\"\n{list}}}\n");
    lab.write(LOCK, entry);
    lab
}

#[test]
fn hashes_that_match_or_not_are_foretold() {
    let mut compared = 0;
    for case in cases::load("hashing") {
        for flavor in Flavor::ALL {
            let case = case.for_program(flavor);
            if case["kind"] != "match" {
                continue;
            }
            let id = text(&case, "id");
            let before: Vec<&str> = strings(&case["lock_hashes"]);
            let mut sorted = before.clone();
            sorted.sort_unstable();
            let lab = one_provider("1.0.0", "1.0.0", &sorted);
            let package = |_: &str, _: &str| -> PackageHashes {
                let hash = |field| Some(parsed(text(&case, field)));
                (hash("package_h1"), hash("package_zh"))
            };
            for (from, route) in [
                ("from_zip", Route::PackedMirror),
                ("from_directory", Route::UnpackedMirror),
            ] {
                let predictions = foretell(lab.dir(), flavor, route, &package);
                let [prediction] = &*predictions else {
                    panic!("{id}: {predictions:?}")
                };
                let accepted = case[from]["accepted"] == true;
                let mut after = strings(&case[from]["hashes_after"]);
                after.sort_unstable();
                let wanted = match (accepted, after == sorted) {
                    (false, _) => "fails",
                    (true, true) => "passes",
                    (true, false) => "rewrites",
                };
                assert!(!prediction.assumed, "{id}");
                assert_eq!(prediction.outcome.word(), wanted, "{id} {from} {flavor}");
                compared += 1;
            }
        }
    }
    assert!(compared > 0);
    println!("hashing: {compared} predictions as recorded");
}

fn strings(value: &Value) -> Vec<&str> {
    let items = value.as_array().into_iter().flatten();
    items.map(|item| item.as_str().unwrap()).collect()
}

/// A lock file with an unknown argument, and the route of its case.
fn broken(lab: Lab, id: &str) -> (Lab, Route) {
    let lock = lab.read(LOCK);
    lab.write(LOCK, lock.replace("hashes =", "foo = 1\n  hashes ="));
    let route = match id {
        "broken_lock_init" => Route::Registry,
        "broken_lock_validate" => Route::Validate,
        _ => Route::Plan,
    };
    (lab, route)
}

/// Where nothing but the lock file was changed: the state that each case is in.
///
/// Left out are cases in which the package was changed or is missing, and another flag.
fn runtime_state(id: &str) -> Option<(Lab, Route)> {
    let zip = zip_of(&[("terraform-provider-x_v1.0.0", "fake")]);
    let own_zh = zh(&*zip).unwrap().to_string();
    let good = "h1:vSUZJPJlJhDOkbAT+iqt7AAQArew8uExp71bJtBUdMw=";
    let bad = "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    let bad_zh = format!("zh:{}", "0".repeat(64));
    let entry = |hashes: &[&str]| one_provider("1.0.0", "1.0.0", hashes);
    let lab = match id {
        "good" => entry(&[good]),
        "no_lock" => {
            let lab = entry(&[]);
            std::fs::remove_file(lab.path(LOCK)).unwrap();
            lab
        }
        "zh_only" => entry(&[&own_zh]),
        "wrong_zh_only" => entry(&[&bad_zh]),
        "zh_and_wrong_h1" => entry(&[bad, &own_zh]),
        "no_hashes" => entry(&[]),
        "unknown_only" => entry(&["foo:bar"]),
        "other_platform_only" => entry(&[bad]),
        "h1_and_wrong_zh" => entry(&[good, &bad_zh]),
        "stale_constraints" => {
            let lab = entry(&[good]);
            let lock = lab.read(LOCK);
            let stale = "version = \"1.0.0\"\n  constraints = \">= 0.1.0\"";
            lab.write(LOCK, lock.replace("version = \"1.0.0\"", stale));
            lab
        }
        "config_changed" => one_provider("~> 2.0", "1.0.0", &[good]),
        "config_added" | "config_added_implied" => {
            let lab = entry(&[good]);
            lab.write("more.tf", "resource \"null_resource\" \"a\" {\n}\n");
            lab
        }
        // Not installed, as after an init that failed.
        "version_outside" => {
            return Some((
                one_provider("1.0.0", "2.0.0", &[good]),
                Route::PlanAfterInit,
            ));
        }
        "messy" => entry(&[&bad_zh, good, good]),
        // Not installed, as after any init.
        "extra_entry" => {
            let lab = entry(&[good]);
            let extra =
                "provider \"registry.terraform.io/hashicorp/null\" {\n  version = \"3.2.1\"\n}\n";
            lab.write(LOCK, lab.read(LOCK) + extra);
            return Some((lab, Route::PlanAfterInit));
        }
        "broken_lock" | "broken_lock_init" | "broken_lock_validate" => {
            return Some(broken(entry(&[good]), id));
        }
        "tampered"
        | "extra_file"
        | "empty_dir_added"
        | "mode_changed"
        | "no_install"
        | "broken_lock_upgrade" => return None,
        other => panic!("{other}: neither laid out nor left out"),
    };
    Some((lab, Route::Plan))
}

#[test]
fn what_plan_makes_of_a_changed_lock_file_is_foretold() {
    let own = zip_of(&[("terraform-provider-x_v1.0.0", "fake")]);
    let hashed = hash_zip(std::io::Cursor::new(&own), &Limits::PACKAGE).unwrap();
    let package = |addr: &str, _: &str| -> PackageHashes {
        match addr {
            "example.com/t/x" => (Some(hashed.h1.clone()), Some(hashed.zh.clone())),
            _ => (None, None),
        }
    };
    let mut compared = 0;
    for case in cases::load("runtime") {
        for flavor in Flavor::ALL {
            let case = case.for_program(flavor);
            let id = text(&case, "id").trim_start_matches("runtime/").to_owned();
            let Some((lab, route)) = runtime_state(&id) else {
                continue;
            };
            if id == "extra_entry" && flavor.is_opentofu() {
                // Its address is exchanged for OpenTofu's own registry.
                let lock = lab.read(LOCK).replace("terraform.io", "opentofu.org");
                lab.write(LOCK, lock);
            }
            let mut predictions = foretell(lab.dir(), flavor, route, &package);
            if route == Route::PlanAfterInit && id == "extra_entry" {
                predictions.retain(|p| p.outcome.word() == "fails");
            }
            let recorded = Recorded {
                ok: false,
                rewrote: false,
                titles: strings(&case["errors"])
                    .iter()
                    .map(|s| (*s).to_owned())
                    .collect(),
            };
            let passed = case["verification"] == "passed";
            let foretold = predictions.iter().all(|p| p.outcome.word() == "passes");
            assert_eq!(foretold, passed, "{id} {flavor}: {predictions:?}");
            assert_eq!(fault(&predictions, &recorded), None, "{id} {flavor}");
            compared += 1;
        }
    }
    assert!(compared > 0);
    println!("runtime: {compared} predictions as recorded");
}

/// Why a case of `lifecycle` or `opentofu` is not compared, if it is not.
fn left_out(case: &Value) -> Option<&'static str> {
    let id = text(case, "id").split_once('/').unwrap().1;
    let command = text(case, "command").split_once(' ').unwrap().1;
    let has = |field: &str| !case[field].is_null();
    let installed = case["installed_before"]
        .as_array()
        .is_some_and(|a| !a.is_empty());
    let origin = text(case, "origin");
    Some(match command {
        "init" | "init -lockfile=readonly" if installed => "something is installed",
        "init" | "init -lockfile=readonly" => match id {
            "locked_gone" | "locked_prerelease_ok" | "shim_version_gone" => "the version has gone",
            "source_underscore"
            | "source_terraform_prefix"
            | "source_opentofu_prefix"
            | "source_legacy"
            | "source_legacy_old_host"
            | "source_legacy_new_host"
            | "legacy_source"
            | "source_opentofu_prefix_short_1" => "the address cannot be locked",
            "required_version_tofu" | "language_block" => "the program refuses the configuration",
            "zero_version" => "no version can be selected",
            "readonly_same" | "old_host_namespace_readonly" | "both_hosts_readonly" => {
                "read-only, but from a mirror, which adds no zh:"
            }
            "plugin_cache" => "a plugin cache in front of a mirror",
            "odd_zip_1" => "a zip that the programs hash in two ways",
            _ if has("state_provider") => "what the state needs is tested with the configuration",
            _ if !origin.is_empty() && !id.contains("_lock") => "what a registry or mirror states",
            _ if origin == "OCI mirror" => "an OCI mirror is no route",
            _ => return None,
        },
        "plan -input=false" => match id {
            "from_terraform_2" | "from_terraform_4" => return None,
            _ => "a package is missing or changed",
        },
        _ => "another command or flag",
    })
}

/// Writes what a case starts from.
fn lay_out(case: &Value, program: Flavor) -> Lab {
    let lab = Lab::new();
    match case["files"].as_object() {
        Some(files) => {
            for (name, content) in files {
                lab.write(name, content.as_str().unwrap());
            }
        }
        None => {
            lab.write("main.tf", text(case, "config"));
        }
    }
    if let Some(before) = case["before"].as_str() {
        lab.write(LOCK, cases::file(program, before));
    }
    lab
}

/// Tells of the packages of these groups: as they were made by the recorder, whose content says which
/// version it is, or not.
fn made(addr: &str, version: &str, recorded: &[String]) -> PackageHashes {
    let (host, _) = addr.split_once('/').unwrap();
    let type_name = addr.rsplit('/').next().unwrap();
    let name = format!("terraform-provider-{type_name}_v{version}");
    let contents = [
        "fake".to_owned(),
        format!("fake {version}"),
        format!("{type_name} {version}"),
        format!("{type_name} {version} from {host}"),
        "linux_amd64".to_owned(),
        "reg linux_amd64".to_owned(),
    ];
    let names = [&*name, "terraform-provider-x"];
    let zips = names
        .iter()
        .flat_map(|name| contents.iter().map(move |c| zip_of(&[(name, c)])));
    let hashed: Vec<_> = zips
        .map(|zip| hash_zip(std::io::Cursor::new(&zip), &Limits::PACKAGE).unwrap())
        .collect();
    let is_recorded = |hash: &Hash| recorded.iter().any(|text| text == hash.as_str());
    let found = hashed.iter().find(|made| is_recorded(&made.h1));
    (Some(found.unwrap_or(&hashed[0]).h1.clone()), None)
}

fn route(case: &Value) -> Route {
    let packages = strings(&case["packages"]);
    match text(case, "command").split_once(' ').unwrap().1 {
        "init -lockfile=readonly" => Route::Readonly,
        "plan -input=false" => Route::Plan,
        _ if case["environment"]["TF_PLUGIN_CACHE_DIR"].is_string() => Route::PluginCache,
        _ if text(case, "origin") == "signed registry" => Route::Registry,
        _ if packages
            .iter()
            .any(|path| path.to_lowercase().ends_with(".zip")) =>
        {
            Route::PackedMirror
        }
        _ => Route::UnpackedMirror,
    }
}

/// Compares a case as a program saw it; tells whether it was, or what is wrong.
fn compare(case: &Value, program: Flavor) -> Result<bool, String> {
    if left_out(case).is_some() {
        return Ok(false);
    }
    let lab = lay_out(case, program);
    let lock = std::fs::read_to_string(lab.path(LOCK)).unwrap_or_default();
    let recorded: Vec<String> = lock.split('"').map(str::to_owned).collect();
    let package = |addr: &str, version: &str| made(addr, version, &recorded);
    let dir: &Path = lab.dir();
    let predictions = foretell(dir, program, route(case), &package);
    if predictions.iter().any(|p| p.assumed) {
        return Ok(false);
    }
    let diagnostics = case["diagnostics"].as_array().into_iter().flatten();
    let outcome = Recorded {
        ok: case["ok"] == true,
        rewrote: case["lock_rewritten"] == true,
        titles: diagnostics.map(|d| text(d, "summary").to_owned()).collect(),
    };
    match fault(&predictions, &outcome) {
        None => Ok(true),
        Some(fault) => Err(format!("{} by {program}: {fault}", text(case, "id"))),
    }
}

#[test]
fn what_init_makes_of_a_lock_file_is_foretold() {
    let (mut compared, mut faults) = (0, Vec::new());
    let mut count = |found: Result<bool, String>| match found {
        Ok(true) => compared += 1,
        Ok(false) => {}
        Err(fault) => faults.push(fault),
    };
    for case in cases::load("lifecycle") {
        for program in Flavor::ALL {
            count(compare(&case.for_program(program), program));
        }
    }
    for case in cases::load("opentofu") {
        count(compare_named(&case));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(compared > 0);
    println!("lifecycle, opentofu: {compared} predictions as recorded");
}

/// A case of the group `opentofu` names the program that ran.
fn compare_named(case: &Case) -> Result<bool, String> {
    // Nothing in these cases is exchanged.
    let case = case.for_program(Flavor::Terraform1_11);
    let program = match text(&case, "command").split(' ').next() {
        Some("tofu") => Flavor::OpenTofu1_12,
        _ => Flavor::Terraform1_11,
    };
    compare_as_recorded(&case, program)
}

fn compare_as_recorded(case: &Value, program: Flavor) -> Result<bool, String> {
    let mut case = case.clone();
    if let Some(before) = case["before"].as_str() {
        let text = cases::file(Flavor::Terraform1_11, before);
        let mut files = serde_json::Map::new();
        if let Some(given) = case["files"].as_object() {
            files = given.clone();
        } else {
            files.insert("main.tf".to_owned(), case["config"].clone());
        }
        files.insert(LOCK.to_owned(), String::from_utf8(text).unwrap().into());
        case["files"] = Value::Object(files);
        case["before"] = Value::Null;
    }
    compare(&case, program)
}
