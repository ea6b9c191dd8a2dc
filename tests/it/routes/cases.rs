//! The recorded cases of `fixtures/cases`.

use std::path::Path;

use lockctl::archive::Limits;
use lockctl::archive::zip::hash_zip;
use lockctl::coverage::Route;
use lockctl::flavor::Flavor;
use lockctl::hash::Hash;
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
            let predictions = foretell(lab.dir(), flavor, Route::UnpackedMirror, &package);
            let [prediction] = &*predictions else {
                panic!("{id}: {predictions:?}")
            };
            let recorded = &case["from_directory"];
            let mut after = strings(&recorded["hashes_after"]);
            after.sort_unstable();
            let wanted = match (recorded["accepted"] == true, after == sorted) {
                (false, _) => "fails",
                (true, true) => "passes",
                (true, false) => "rewrites",
            };
            assert!(!prediction.assumed, "{id}");
            assert_eq!(prediction.outcome.word(), wanted, "{id} {flavor}");
            compared += 1;
        }
    }
    assert!(compared > 0);
    println!("hashing: {compared} predictions as recorded");
}

fn strings(value: &Value) -> Vec<&str> {
    let items = value.as_array().into_iter().flatten();
    items.map(|item| item.as_str().unwrap()).collect()
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

/// Returns the route of a case; `None` for a mirror of zips, which is none of the matrix.
fn route(case: &Value) -> Option<Route> {
    let packages = strings(&case["packages"]);
    match text(case, "command").split_once(' ').unwrap().1 {
        "init -lockfile=readonly" => Some(Route::Readonly),
        _ if case["environment"]["TF_PLUGIN_CACHE_DIR"].is_string() => Some(Route::PluginCache),
        _ if text(case, "origin") == "signed registry" => Some(Route::Registry),
        _ if packages
            .iter()
            .any(|path| path.to_lowercase().ends_with(".zip")) =>
        {
            None
        }
        _ => Some(Route::UnpackedMirror),
    }
}

/// Compares a case as a program saw it; tells whether it was, or what is wrong.
fn compare(case: &Value, program: Flavor) -> Result<bool, String> {
    let Some(route) = route(case).filter(|_| left_out(case).is_none()) else {
        return Ok(false);
    };
    let lab = lay_out(case, program);
    let lock = std::fs::read_to_string(lab.path(LOCK)).unwrap_or_default();
    let recorded: Vec<String> = lock.split('"').map(str::to_owned).collect();
    let package = |addr: &str, version: &str| made(addr, version, &recorded);
    let dir: &Path = lab.dir();
    let predictions = foretell(dir, program, route, &package);
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
