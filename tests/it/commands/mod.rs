//! Whole commands, in process, on real directories.
//!
//! What the imports here name is known in each file by `use super::*`.

mod action_lock;
mod advised;
mod advised_failures;
mod advised_scenes;
mod age;
mod audit;
mod audit_contents;
mod audit_server;
mod builds;
mod by_hand;
mod cache;
mod cache_import;
mod carried;
mod changed;
mod changes;
mod claims;
mod claims_mirrors;
mod cli_config;
mod confine;
#[cfg(unix)]
mod confine_race;
mod conflicts;
mod convert;
mod default_platforms;
mod demands;
mod diff;
mod diff_git;
mod diff_many;
mod drop_platform;
mod edit;
mod effective;
mod entries;
mod events;
mod explain;
mod facts;
mod facts_explain;
mod facts_release;
mod faulty;
mod file_values;
mod files;
mod fix;
mod floods;
mod folds;
mod forged;
mod formats;
mod generate;
mod git;
mod hostile;
mod ignored;
mod installation;
mod json;
mod lacking_platforms;
mod lock;
mod log;
mod many_roots;
mod matrix;
mod matrix_here;
mod merge;
mod mirror;
mod mirror_bundle;
mod mirror_disturbed;
mod mirror_faults;
mod mirror_many;
mod mirror_oci;
mod mirror_recorded;
mod mirror_unpacked;
mod names;
mod neighbours;
mod net_mirror;
mod oci_mirror;
mod one_screen;
mod outages;
mod outdated;
mod packages;
mod packages_hostile;
mod packages_lacking;
mod packages_mirrors;
mod pins;
mod policy;
mod project;
mod provenance;
mod proxy;
mod registry;
mod registry_faults;
mod registry_trust;
mod repair;
mod repeated;
mod replace;
mod report;
mod report_browser;
mod retries;
mod roots;
mod roots_many;
mod sbom;
mod settled;
mod shared_bucket;
mod shared_store;
mod symptoms;
mod traces;
mod tree;
mod tree_pictures;
mod trust;
mod trust_memory;
mod units;
mod unseen;
mod unset;
mod update;
mod upstream;
mod user_config;
mod values;
mod verify;
mod verify_corpus;
mod verify_rules;
mod why;
mod windows;

use serde_json::{Value, json};
use snapbox::str;

use crate::lab::{Lab, Outcome, zip_of};
use crate::repo::Repo;
use crate::texts::Text as _;

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

/// The arguments of a command line in which no blank is part of one.
fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

#[track_caller]
fn assert_exit(outcome: &Outcome, code: u8) {
    assert_eq!(outcome.code, code, "{outcome:#?}");
}

/// Returns the rules of the findings in a JSON result, sorted.
fn rules(outcome: &Outcome) -> Vec<String> {
    let json = outcome.json();
    let findings = json["roots"][0]["findings"].as_array().unwrap().iter();
    let mut rules: Vec<String> = findings
        .map(|one| one["rule"].as_str().unwrap().to_owned())
        .collect();
    rules.sort();
    rules
}
