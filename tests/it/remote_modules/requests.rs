//! What is asked of servers while modules are found: groups `registry`, `http` and `archives`, as far as one `get`
//! shows it. What is found is compared in `replay`.

use std::collections::BTreeSet;

use lockctl::modules::store::ModuleAccess;
use lockctl::remote_module::ModuleFailureKind::Refused;
use serde_json::Value;

use crate::module_lab::ModuleLab;
use crate::remote_modules::harness::Case;
use crate::remote_modules::recorded;

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

/// Compares the requests of the cases of a group; returns of how many.
fn compare(group: &str) -> usize {
    let lab = ModuleLab::start();
    let (mut compared, mut wrong) = (0, Vec::new());
    let (mut needed, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let cases = recorded::load(group);
    for case in cases.iter().filter(|case| is_within_reach(case)) {
        let id = case["id"].as_str().unwrap();
        for (program, flavor) in recorded::PROGRAMS {
            let Some(outcome) = recorded::outcome(case, program) else {
                continue;
            };
            let wanted = recorded_requests(&outcome[0]);
            // git makes requests of its own, and fewer than for a clone.
            if wanted.iter().any(|one| one.contains("/git/")) {
                continue;
            }
            seen.insert(id);
            compared += 1;
            let case = Case::new(&lab, case, flavor);
            let found = case.find(ModuleAccess::Fetched, None);
            let mut failures = found.iter().filter_map(|one| one.as_ref().err());
            let asked = case.requests();
            // What is refused is not asked for.
            let agrees = match failures.any(|one| matches!(one.kind, Refused(_))) {
                true => wanted.starts_with(&asked),
                false => asked == wanted,
            };
            if !agrees {
                needed.insert(id);
                if !OTHER_REQUESTS.iter().any(|(other, _)| *other == id) {
                    wrong.push(format!("{id} {program}: {asked:#?} instead of {wanted:#?}"));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    let exceptions = OTHER_REQUESTS.iter().map(|(id, _)| *id);
    let idle = exceptions.filter(|id| seen.contains(id) && !needed.contains(id));
    assert_eq!(idle.collect::<Vec<_>>(), [""; 0], "no exceptions");
    compared
}

#[test]
#[cfg_attr(windows, ignore = "the cases run programs of Unix and name its paths")]
fn registries_are_asked_as_the_programs_do() {
    assert!(compare("registry") >= 100);
}

#[test]
#[cfg_attr(windows, ignore = "the cases run programs of Unix and name its paths")]
fn servers_are_asked_as_the_programs_do() {
    assert!(compare("http") >= 100);
}

#[test]
#[cfg_attr(windows, ignore = "the cases run programs of Unix and name its paths")]
fn servers_of_archives_are_asked_as_the_programs_do() {
    assert!(compare("archives") >= 40);
}
