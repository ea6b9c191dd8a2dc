//! Replays what Terragrunt did with units (`fixtures/terragrunt-cases`), without Terragrunt.
//!
//! `lab` lays a case out on the disk, `steps` reads how Terragrunt was called, and the rest compare: what
//! `render` showed, which files lay in the cache, which directories `find` listed. Files that git or a
//! registry would deliver are given by the test.

#![cfg(unix)]

mod calls;
mod find;
mod hostile;
mod lab;
mod render;
mod run;
mod scale;
mod steps;

use std::collections::BTreeMap;

use serde_json::Value;

use lab::Lab;
use steps::{Action, Step};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/terragrunt-cases");

/// How many cases may differ from what was recorded.
const MOST_DIFFERENCES: usize = 15;

const GROUPS: &[&str] = &[
    "copy",
    "discovery",
    "errors",
    "functions",
    "generate",
    "include",
    "locals",
    "lock",
    "settings",
    "source",
    "stack",
];

/// Why lockctl differs in a case, and how.
#[derive(serde::Deserialize)]
struct Difference {
    reason: String,
    /// What the comparison reports.
    fault: String,
}

/// What was compared.
#[derive(Default)]
struct Counts {
    steps: usize,
    not_replayed: usize,
    unknown: usize,
    stopped: usize,
}

#[test]
fn every_case_is_as_recorded() {
    let text = std::fs::read_to_string(format!("{FOLDER}/differences.json")).unwrap();
    let differences: BTreeMap<String, Difference> = serde_json::from_str(&text).unwrap();
    assert!(
        differences.len() <= MOST_DIFFERENCES,
        "too many differences"
    );
    let mut faults = Vec::new();
    let mut met = 0;
    let mut counts = Counts::default();
    let mut cases = 0;
    for group in GROUPS {
        for case in read(group) {
            cases += 1;
            let id = format!("{group}/{}", case["id"].as_str().unwrap());
            let found = replay(group, &case, &mut counts);
            match (differences.get(&id), found.as_slice()) {
                (None, []) => {}
                (None, found) => faults.push(format!("{id}: {}", found.join("\n    "))),
                (Some(stated), found) => {
                    assert!(!stated.reason.is_empty(), "{id} has a reason");
                    met += 1;
                    if !found.iter().any(|fault| fault.contains(&stated.fault)) {
                        faults.push(format!("{id} is listed, but: {found:?}"));
                    }
                }
            }
        }
    }
    let Counts {
        steps,
        not_replayed,
        unknown,
        stopped,
    } = counts;
    println!(
        "{cases} cases, {steps} steps compared, {not_replayed} of another program or with settings, {unknown} with unknown values, {stopped} without a value"
    );
    assert_eq!(cases, 410, "all cases were read");
    assert_eq!(met, differences.len(), "every difference is one of a case");
    assert!(
        faults.is_empty(),
        "{} differ:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

fn read(group: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(format!("{FOLDER}/{group}.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Replays all steps of a case; returns what differs.
fn replay(group: &str, case: &Value, counts: &mut Counts) -> Vec<String> {
    let lab = Lab::lay_out(&case["input"]);
    let mut found = Vec::new();
    let outcomes = case["outcomes"].as_array().unwrap();
    for (at, outcome) in outcomes.iter().enumerate() {
        let step = Step::of(&case["input"], at, &lab);
        lab.put(&step.changes);
        let mut fault = |text: String| found.push(format!("step {at}: {text}"));
        match &step.action {
            Action::Other => counts.not_replayed += 1,
            _ if step.has_settings() => counts.not_replayed += 1,
            Action::Render => {
                counts.steps += 1;
                render::compare(&lab, &step, outcome, counts, &mut fault);
            }
            Action::Find => {
                counts.steps += 1;
                find::compare(&lab, &step, outcome, &mut fault);
            }
            Action::Run => {
                counts.steps += 1;
                run::compare(group, &lab, &step, outcome, at, &mut fault);
            }
        }
    }
    found
}
