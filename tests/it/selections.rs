//! The recorded selections and merges through whole rooms: configuration and mirror to lock file.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use lockctl::authenticate::Enforcement;
use lockctl::config;
use lockctl::diag::{Texts, has_errors};
use lockctl::flavor::Flavor;
use lockctl::locker::{
    self, Contradicted, FlavorSource, LockError, LockSettings, RootRequest, SignatureDemands,
    TrustedFacts,
};
use lockctl::lockfile::LockFile;
use lockctl::package::{ClaimPolicy, WantedPlatforms, WantedSet};
use lockctl::resolve::Goals;
use lockctl::sources::SourceFault;
use lockctl::sources::filesystem_mirror::FilesystemMirror;
use lockctl::sources::net::Net;
use lockctl::sources::retry::RetryPolicy;
use lockctl::store::NoFacts;
use lockctl::world::mem::{MemClock, MemEnv, MemFiles, MemHttp};
use serde_json::Value;

use crate::cases;

/// The program crashes on a mirror directory named with a number above 64 bits; lockctl passes
/// it over and selects the other version (`lockctl explain differences`).
const CRASH: (&str, &str) = ("selection/61", "1.0.0");

/// Titles that programs print beside the one that counts: warnings, and a summary of errors.
const BESIDE: [&str; 4] = [
    "Additional provider information from registry",
    "Incomplete lock file information for providers",
    "Terraform encountered problems during initialisation, including problems",
    "OpenTofu encountered problems during initialisation, including problems",
];

/// Locks the one provider of a case; its version and constraints, or the titles of the errors.
fn lock(case: &Value, flavor: Flavor) -> Result<(String, String), Vec<String>> {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    let mut root = String::new();
    for (number, constraint) in case["module_constraints"]
        .as_array()
        .unwrap()
        .iter()
        .enumerate()
    {
        let version = constraint
            .as_str()
            .map(|text| format!(", version = {text:?}"));
        let block = format!(
            "terraform {{\n  required_providers {{\n    x = {{ source = \"example.com/t/x\"{} }}\n  }}\n}}\n",
            version.unwrap_or_default()
        );
        files.insert(format!("/r/m{number}/main.tf"), block);
        root += &format!("module \"m{number}\" {{\n  source = \"./m{number}\"\n}}\n");
    }
    files.insert("/r/main.tf".to_owned(), root);
    let offered: Vec<(String, String)> = match case["available"].as_array() {
        Some(versions) => {
            let each = versions.iter().map(|version| version.as_str().unwrap());
            each.map(|version| (version.to_owned(), "linux_amd64".to_owned()))
                .collect()
        }
        None => {
            let by_platform = case["available_by_platform"].as_object().unwrap();
            let each = by_platform.iter();
            each.map(|(version, p)| (version.clone(), p[0].as_str().unwrap().to_owned()))
                .collect()
        }
    };
    files.insert("/mirror/README".to_owned(), String::new());
    for (version, platform) in offered {
        let dir = format!("/mirror/example.com/t/x/{version}/{platform}");
        files.insert(format!("{dir}/terraform-provider-x"), version);
    }
    run(&MemFiles::from_iter(files), flavor)
}

fn run(files: &MemFiles, flavor: Flavor) -> Result<(String, String), Vec<String>> {
    let mut texts = Texts::default();
    let loaded = config::load(
        files,
        &mut texts,
        Path::new("/r"),
        &config::Settings::new(flavor),
    );
    if has_errors(&loaded.diagnostics) {
        return Err(loaded.diagnostics.into_iter().map(|d| d.title).collect());
    }
    let mirror = FilesystemMirror::scan(files, Path::new("/mirror"), flavor).unwrap();
    let (http, clock) = (MemHttp::unreachable(), MemClock::default());
    let net = Net {
        http: &http,
        clock: &clock,
        policy: RetryPolicy::of(&MemEnv::default(), flavor),
        package_credentials: Arc::new(|_| None),
        observer: &|_| {},
        outages: Arc::default(),
    };
    let source = FlavorSource {
        flavor,
        source: &mirror,
        registries: None,
        net: &net,
    };
    let wanted = WantedPlatforms {
        every: WantedSet {
            named: vec!["linux_amd64".parse().unwrap()],
            ..WantedSet::default()
        },
        ..WantedPlatforms::default()
    };
    let root = RootRequest {
        source: &source,
        requirements: &loaded.requirements,
        lock: &LockFile::default(),
        elsewhere: &BTreeMap::new(),
        goals: &Goals::default(),
        policy: None,
        overridden: &[],
        platforms: &wanted,
        demands: &SignatureDemands::default(),
        claims: &ClaimPolicy::default(),
        dropped: &[],
        trusted: TrustedFacts::OWN,
    };
    let settings = LockSettings {
        jobs: NonZeroUsize::MIN,
        downloads: NonZeroUsize::MIN,
        max_download: None,
        enforced: Enforcement::NONE,
        prove: false,
        contradicted: Contradicted::Alarm,
    };
    match locker::run(files, &NoFacts, &settings, &[root]).remove(0) {
        Ok(locked) => {
            let entry = locked.lock.providers.values().next().unwrap();
            Ok((entry.version.to_string(), entry.constraints.to_string()))
        }
        Err(errors) => Err(errors.iter().map(|error| title(error, flavor)).collect()),
    }
}

/// The title that the program prints for an error.
fn title(error: &LockError, flavor: Flavor) -> String {
    match error {
        LockError::Select(error) => error.title(flavor).to_owned(),
        LockError::Source(error) => match *error.fault {
            SourceFault::NoPackage { .. } => "Incompatible provider version".to_owned(),
            _ => "Failed to query available provider packages".to_owned(),
        },
        other => panic!("no case leads here: {other}"),
    }
}

fn recorded_errors(case: &Value) -> Vec<String> {
    let titles = case["errors"].as_array().into_iter().flatten();
    let titles = titles.map(|title| title.as_str().unwrap().to_owned());
    let mut titles: Vec<String> = titles
        .filter(|title| !BESIDE.contains(&title.as_str()))
        .collect();
    // A program says some errors once for each command that it runs inside.
    titles.dedup();
    titles
}

#[test]
fn selections_come_out_as_recorded() {
    let cases = cases::load("selection");
    for case in &cases {
        for flavor in Flavor::ALL {
            let case = case.for_program(flavor);
            let id = case["id"].as_str().unwrap();
            let found = lock(&case, flavor).map(|(version, _)| version);
            let wanted = match (id == CRASH.0, case["selected"].as_str()) {
                (true, _) => Ok(CRASH.1.to_owned()),
                (_, Some(version)) => Ok(version.to_owned()),
                (_, None) => Err(recorded_errors(&case)),
            };
            assert_eq!(found, wanted, "{id} for {flavor}");
        }
    }
}

#[test]
fn merged_constraints_come_out_as_recorded() {
    let cases = cases::load("merge");
    for case in &cases {
        for flavor in Flavor::ALL {
            let case = case.for_program(flavor);
            let id = case["id"].as_str().unwrap();
            let wanted = if case["ok"] == true {
                let text = |field: &str| case[field].as_str().unwrap_or_default().to_owned();
                Ok((text("lock_version"), text("lock_constraints")))
            } else {
                Err(recorded_errors(&case))
            };
            assert_eq!(lock(&case, flavor), wanted, "{id} for {flavor}");
        }
    }
}

/// The sources of the group `addresses` as configuration states them.
#[test]
fn sources_in_configuration_are_judged_as_recorded() {
    let cases = cases::load("addresses");
    for case in &cases {
        for flavor in Flavor::ALL {
            let case = case.for_program(flavor);
            let wanted = &case["config_source"];
            let (name, source) = match case["input_local_name_only"].as_str() {
                Some(name) => (name, String::new()),
                None => {
                    let input = case["input"].as_str().unwrap();
                    ("p", format!("source = {}", hcl_quoted(input)))
                }
            };
            let text = format!(
                "terraform {{\n  required_providers {{\n    {name} = {{ {source} }}\n  }}\n}}\n"
            );
            let files = MemFiles::with(&[("/r/main.tf", &text)]);
            let mut texts = Texts::default();
            let loaded = config::load(
                &files,
                &mut texts,
                Path::new("/r"),
                &config::Settings::new(flavor),
            );
            let titles: Vec<String> = loaded.diagnostics.iter().map(|d| d.title.clone()).collect();
            let id = case["id"].as_str().unwrap();
            if let Some(title) = refused_on_purpose(id) {
                assert_eq!(titles, [title], "{id} for {flavor}");
                continue;
            }
            assert_eq!(titles, recorded_errors_of(wanted), "{id} for {flavor}");
            if wanted["ok"] == true {
                let addr = loaded.requirements.providers.keys().next().unwrap();
                assert_eq!(
                    addr.to_string(),
                    wanted["address"].as_str().unwrap(),
                    "{id} for {flavor}"
                );
            }
        }
    }
}

/// Sources that the programs accept and then cannot lock (`lockctl explain differences`).
fn refused_on_purpose(id: &str) -> Option<&'static str> {
    match id {
        // terraform-x in one part, and a namespace with the full stop of another script.
        "addresses/057" => Some("Invalid provider type"),
        "addresses/076" => Some("Invalid provider namespace"),
        // An unknown built-in provider parses, and `init` refuses it.
        "addresses/009" => Some("Invalid dependency on built-in provider"),
        // Legacy addresses parse, and `init` refuses them.
        "addresses/011" | "addresses/012" => Some("Invalid legacy provider address"),
        _ => None,
    }
}

fn recorded_errors_of(outcome: &Value) -> Vec<String> {
    let titles = outcome["errors"].as_array().into_iter().flatten();
    titles
        .map(|title| title.as_str().unwrap().to_owned())
        .collect()
}

fn hcl_quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\t' => quoted.push_str("\\t"),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}
