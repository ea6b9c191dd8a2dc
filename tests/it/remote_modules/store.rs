//! Modules of registries and over http, found by the store: groups `registry`, `http` and `archives`, as far
//! as one `get` shows it. Whole commands are replayed elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use lockctl::modules::store::ModuleAccess;
use lockctl::remote_module::{ModuleFailure, ModuleFailureKind};
use serde_json::Value;

use crate::module_lab::ModuleLab;
use crate::remote_modules::harness::{Case, calls};
use crate::remote_modules::recorded;

/// What a program fetches and lockctl refuses, with the rule.
const REFUSED: [(&str, &str); 9] = [
    ("http-directory-git-subdir-link", "module-escapes-package"),
    ("http-redirect-plain", "module-unsafe"),
    ("http-directory-file", "module-unsafe"),
    ("reg-loc-file", "module-unsafe"),
    ("reg-loc-plain", "module-unsafe"),
    ("reg-submodule-up", "module-escapes-package"),
    ("arch-subdir-up", "module-escapes-package"),
    ("arch-zip-dotdot", "module-escapes-package"),
    ("arch-tar-dotdot", "module-escapes-package"),
];

/// Requests that differ, with the reason.
const OTHER_REQUESTS: [(&str, &str); 10] = [
    (
        "http-netrc-bad",
        "a netrc that cannot be read gives no credentials",
    ),
    (
        "reg-token-redirect-port",
        "credentials are bound to the origin",
    ),
    ("reg-disco-redirect", "credentials are bound to the origin"),
    ("http-get-500", "packages are asked for again"),
    ("http-cut", "packages are asked for again"),
    ("http-directory-500-header", "packages are asked for again"),
    ("reg-disco-500", "discovery is repeated"),
    (
        "reg-twice-subdirs",
        "a location does not depend on the subdirectory",
    ),
    ("arch-gz", "what is no module in any case is not fetched"),
    (
        "http-directory-header-subdir-up",
        "what leads out is refused before it is fetched",
    ),
];

/// Cases that need more than this test has: a helper program, time that passes, another command, the content
/// of configuration, hosts that are not on this machine.
const ELSEWHERE: [&str; 7] = [
    "reg-token-helper",
    "reg-versions-timeout",
    "reg-disco-shared",
    "arch-zip-link",
    "reg-loc-github",
    "reg-default-host-unreachable",
    "http-proxy",
];

/// Returns the recorded requests without HEAD, and without header fields.
fn recorded_requests(step: &Value) -> Vec<String> {
    let requests = step["requests"].as_array().into_iter().flatten();
    let requests = requests.map(|one| one.as_str().unwrap());
    let requests = requests.filter(|one| !one.starts_with("HEAD "));
    let without_headers = requests.map(|one| {
        let fields = [
            " X-Terraform-Version=",
            " User-Agent=",
            " Accept=",
            " Accept-Encoding=",
        ];
        let ends = fields.iter().filter_map(|field| one.find(field));
        one[..ends.min().unwrap_or(one.len())].to_owned()
    });
    without_headers.collect()
}

fn is_within_reach(case: &Value) -> bool {
    let id = case["id"].as_str().unwrap();
    let root = case["input"]["root"].as_object().unwrap();
    let text = root
        .get("main.tf")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let source_of_storage = text.contains("s3::") || text.contains("gcs::");
    let is_local = text.contains("\"./") || text.contains("\"../") || text.contains("<ELSEWHERE>");
    let is_plain_get = case["input"]["steps"]
        .as_array()
        .is_none_or(|steps| steps.len() == 1 && steps[0]["run"].is_null());
    root.len() == 1 && is_plain_get && !source_of_storage && !is_local && !ELSEWHERE.contains(&id)
}

fn listed<'a>(list: &[(&str, &'a str)], id: &str) -> Option<&'a str> {
    list.iter()
        .find(|(name, _)| *name == id)
        .map(|(_, why)| *why)
}

/// Returns what is wrong with the answers to a case; notes which exceptions are needed.
fn faults<'a>(
    case: &Case<'_>,
    id: &'a str,
    step: &Value,
    needed: &mut BTreeSet<&'a str>,
) -> Vec<String> {
    let mut faults = Vec::new();
    let found = case.find(ModuleAccess::Fetched, None);
    let titles: Vec<&str> = found
        .iter()
        .filter_map(|one| one.as_ref().err())
        .map(|one| one.title)
        .collect();
    let wanted = step["errors"].as_array().into_iter().flatten();
    let wanted: Vec<&str> = wanted
        .map(|error| error["title"].as_str().unwrap())
        .collect();
    let refusals = found.iter().filter_map(|one| match one {
        Err(ModuleFailure {
            kind: ModuleFailureKind::Refused(rule),
            ..
        }) => Some(*rule),
        _ => None,
    });
    let refusals: Vec<&str> = refusals.collect();
    match listed(&REFUSED, id) {
        Some(rule) => {
            if refusals != [rule] {
                faults.push(format!("{found:?} instead of {rule}"));
            }
            return faults;
        }
        None if !refusals.is_empty() => faults.push(format!("refused: {refusals:?}")),
        None => {}
    }
    if titles != wanted {
        let causes: Vec<String> = found
            .iter()
            .filter_map(|one| one.as_ref().err())
            .map(ToString::to_string)
            .collect();
        faults.push(format!("{titles:?} instead of {wanted:?}: {causes:?}"));
    }
    for (module, call) in found.iter().zip(calls(&case.input)) {
        let Ok(module) = module else { continue };
        let records = step["modules"].as_array().into_iter().flatten();
        let mut records = records.filter(|record| record["Key"] == *call.name);
        let Some(record) = records.next() else {
            continue;
        };
        let version = module.version.as_ref().map(ToString::to_string);
        if version.as_deref() != record["Version"].as_str() {
            faults.push(format!(
                "version {version:?} instead of {}",
                record["Version"]
            ));
        }
        let dir = format!(".terraform/modules/{}", call.name);
        let wanted = record["Dir"].as_str().unwrap().strip_prefix(&dir).unwrap();
        let shown = module.dir.display().to_string();
        if shown != wanted.trim_start_matches('/') {
            faults.push(format!("directory {shown:?} instead of {wanted:?}"));
        }
    }
    let (asked, wanted) = (case.requests(), recorded_requests(step));
    // git makes requests of its own, and fewer than for a clone.
    if asked != wanted && !wanted.iter().any(|one| one.contains("/git/")) {
        needed.insert(id);
        if listed(&OTHER_REQUESTS, id).is_none() {
            faults.push(format!("requests\n  {asked:#?} instead of\n  {wanted:#?}"));
        }
    }
    faults
}

fn replay(group: &str, least: usize) {
    let lab = ModuleLab::start();
    let (mut replayed, mut left, mut wrong) = (0, Vec::new(), BTreeMap::new());
    let cases = recorded::load(group);
    let (mut needed, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for case in &cases {
        let id = case["id"].as_str().unwrap();
        for (program, flavor) in recorded::PROGRAMS {
            let Some(outcome) = recorded::outcome(case, program) else {
                continue;
            };
            let step = &outcome[0];
            if !is_within_reach(case) {
                left.push(id.to_owned());
                continue;
            }
            let faults = faults(&Case::new(&lab, case, flavor), id, step, &mut needed);
            seen.insert(id);
            replayed += 1;
            if !faults.is_empty() {
                wrong.insert(format!("{id} for {program}"), faults);
            }
        }
    }
    left.dedup();
    println!("{group}: {replayed} outcomes replayed; left to others: {left:?}");
    let wrong: Vec<String> = wrong
        .iter()
        .map(|(id, faults)| format!("{id}: {}", faults.join("\n")))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    let exceptions = OTHER_REQUESTS.iter().map(|(id, _)| *id);
    let idle = exceptions.filter(|id| seen.contains(id) && !needed.contains(id));
    assert_eq!(idle.collect::<Vec<_>>(), [""; 0], "no exceptions");
    assert!(replayed >= least, "{replayed}");
}

#[test]
fn modules_of_registries_are_found_as_the_programs_do() {
    replay("registry", 100);
}

#[test]
fn modules_over_http_are_found_as_the_programs_do() {
    replay("http", 100);
}

#[test]
fn archives_are_found_as_the_programs_do() {
    replay("archives", 40);
}
