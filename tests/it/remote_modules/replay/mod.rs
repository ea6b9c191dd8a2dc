//! Remote modules as the programs were recorded to find them, replayed through `lockctl tree`.
//!
//! | Command of a program | Here |
//! |---|---|
//! | `get`, `init` | `tree --modules fetch` |
//! | `get -update`, `init -upgrade` | the same, with nothing installed and an empty cache |
//! | `providers`, `init -get=false` | `tree --modules installed` |
//!
//! Compared are success, the titles of errors, the keys, directories and versions of all modules, and that no
//! request carries credentials that the program did not send there.

mod differences;
mod run;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Mutex;

use serde_json::Value;

use super::recorded::{self, PROGRAMS};
use crate::module_lab::ModuleLab;
use run::{Case, Found};

/// How many cases are replayed at once.
const THREADS: usize = 3;

/// How a recorded step ended.
struct Expected {
    success: bool,
    /// The titles of its errors.
    titles: BTreeSet<String>,
    /// Keys of the modules with their directories and versions.
    modules: BTreeMap<String, (String, Option<String>)>,
    /// `METHOD HOST TARGET auth=…` of requests with credentials.
    with_credentials: BTreeSet<String>,
}

impl Expected {
    fn of(step: &Value) -> Self {
        let list = |name: &str| step[name].as_array().cloned().unwrap_or_default();
        let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
        let errors = list("errors");
        let modules = list("modules");
        let with_credentials = list("requests").into_iter().filter_map(|request| {
            let request = request.as_str()?;
            let (line, auth) = request.split_once(" auth=")?;
            let (line, _) = line.rsplit_once(' ')?;
            // Behind the credentials stand header fields.
            let auth: Vec<&str> = auth.split(' ').take(2).collect();
            Some(format!("{line} auth={}", auth.join(" ")))
        });
        Self {
            success: step["exit"] == 0,
            titles: errors.iter().map(|error| text(error, "title")).collect(),
            modules: modules
                .iter()
                .map(|one| {
                    let version = one["Version"].as_str().map(str::to_owned);
                    (text(one, "Key"), (text(one, "Dir"), version))
                })
                .collect(),
            with_credentials: with_credentials.collect(),
        }
    }

    /// Returns how lockctl differs, if it does.
    fn difference(&self, found: &Found) -> Option<String> {
        let mut out = String::new();
        let success = found.code == 0 && found.unseen.is_empty();
        if success != self.success {
            let theirs = if self.success { "succeeds" } else { "fails" };
            writeln!(out, "exit code {}, the program {theirs}", found.code).unwrap();
        }
        if self.success && success && found.modules != self.modules_without_versions(found) {
            writeln!(
                out,
                "modules {:?}, the program {:?}",
                found.modules, self.modules
            )
            .unwrap();
        }
        if !self.success && !success {
            let own = found.errors.iter().chain(&found.unseen);
            let titles: BTreeSet<String> = own.map(|(title, _)| title.clone()).collect();
            if titles != self.titles {
                writeln!(out, "titles {titles:?}, the program {:?}", self.titles).unwrap();
            }
        }
        for request in &found.with_credentials {
            let request = recorded::as_terraform(request);
            if !self
                .with_credentials
                .iter()
                .any(|one| recorded::as_terraform(one) == request)
            {
                writeln!(out, "credentials in {request}").unwrap();
            }
        }
        (!out.is_empty()).then_some(out)
    }

    /// Returns the recorded modules; versions of what is installed are those of the records.
    fn modules_without_versions(
        &self,
        found: &Found,
    ) -> BTreeMap<String, (String, Option<String>)> {
        let modules = self.modules.iter().map(|(key, (dir, version))| {
            let own = found.modules.get(key);
            let is_fetched = own.is_some_and(|(_, version)| version.is_some());
            (
                key.clone(),
                (dir.clone(), version.clone().filter(|_| is_fetched)),
            )
        });
        modules.collect()
    }
}

/// Replays the cases of a group; returns how many steps were compared.
fn replay(group: &str) -> usize {
    let cases = recorded::load(group);
    let queue = Mutex::new(cases.iter());
    let outcome = Mutex::new((0, Vec::new(), BTreeSet::new()));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let lab = ModuleLab::start();
                loop {
                    let Some(case) = queue.lock().unwrap().next() else {
                        return;
                    };
                    for (program, flavor) in PROGRAMS {
                        let Some(steps) = recorded::outcome(case, program) else {
                            continue;
                        };
                        let (compared, faults) = one(&lab, case, flavor, &steps);
                        let mut outcome = outcome.lock().unwrap();
                        outcome.0 += compared;
                        for (id, fault) in faults {
                            match differences::known(&id, program) {
                                true => drop(outcome.2.insert(format!("{id} {program}"))),
                                false => outcome.1.push(format!("{id} {program}: {fault}")),
                            }
                        }
                    }
                }
            });
        }
    });
    let (compared, faults, met) = outcome.into_inner().unwrap();
    println!(
        "{group}: {compared} steps compared, {} differ as listed",
        met.len()
    );
    assert!(
        faults.is_empty(),
        "{} faults\n{}",
        faults.len(),
        faults.join("\n")
    );
    let stale: Vec<String> = differences::listed(group)
        .into_iter()
        .filter(|one| !met.contains(one))
        .collect();
    assert_eq!(stale, [""; 0], "listed, but they agree");
    compared
}

type Faults = Vec<(String, String)>;

fn one(
    lab: &ModuleLab,
    case: &Value,
    flavor: lockctl::flavor::Flavor,
    recorded: &Value,
) -> (usize, Faults) {
    let id = case["id"].as_str().unwrap();
    let (host, name) = match flavor.is_opentofu() {
        true => ("registry.opentofu.org", "opentofu@1.12"),
        false => ("registry.terraform.io", "terraform@1.11"),
    };
    let mut run = Case::new(lab, &case["input"], host, name);
    let none = [Value::Null];
    let steps = case["input"]["steps"]
        .as_array()
        .map_or(&none[..], Vec::as_slice);
    let mut faults = Vec::new();
    let mut compared = 0;
    for (step, expected) in steps.iter().zip(recorded.as_array().unwrap()) {
        run.change(step);
        let words: Vec<&str> = match step["run"].as_array() {
            Some(words) => words.iter().filter_map(Value::as_str).collect(),
            None => vec!["get"],
        };
        let modules = match &*words {
            ["providers"] | ["init", "-get=false"] => "installed",
            _ => "fetch",
        };
        let found = run.tree(step, modules);
        compared += 1;
        if let Some(fault) = Expected::of(expected).difference(&found) {
            let requests = found.requests.join("\n    ");
            let fault = format!("{fault}{}\n    {requests}", found.stderr);
            faults.push((id.to_owned(), fault));
        }
    }
    (compared, faults)
}

#[test]
fn tree_cases_agree() {
    assert!(replay("tree") > 80);
}

#[test]
fn git_cases_agree() {
    assert!(replay("git") > 180);
}

#[test]
fn archive_cases_agree() {
    assert!(replay("archives") > 70);
}

#[test]
fn http_cases_agree() {
    assert!(replay("http") > 150);
}

#[test]
fn registry_cases_agree() {
    assert!(replay("registry") > 170);
}
