//! Remote modules as the programs were recorded to find them, replayed through `lockctl tree`.
//!
//! | Command of a program | Here |
//! |---|---|
//! | `get`, `init` | `tree --modules fetch` |
//! | `get -update`, `init -upgrade` | the same, with nothing installed and an empty cache |
//! | `providers`, `init -get=false` | `tree --modules installed` |
//!
//! Compared are success, the titles of errors, the keys, directories and versions of all modules, and that no
//! request carries credentials that the program did not send there. lockctl installs nothing: after each step the
//! test installs what the program was recorded to have installed.

mod differences;
mod expected;
mod install;
mod run;

use std::sync::Mutex;

use lockctl::flavor::Flavor;
use serde_json::Value;

use super::recorded::{self, PROGRAMS};
use crate::module_lab::ModuleLab;
use differences::Listed;
use expected::Expected;
use run::{Case, Found};

/// The groups of cases; the others are rows.
const GROUPS: [&str; 7] = [
    "tree", "git", "archives", "http", "registry", "manifest", "oci",
];

/// How many cases are replayed at once.
const THREADS: usize = 3;

/// What a step shows.
enum Verdict {
    /// What is expected of it.
    Good,
    /// It differs from the program, and the case is listed for that.
    Listed,
    Wrong(String),
}

/// What came of the steps of a group.
#[derive(Default)]
struct Outcome {
    compared: usize,
    faults: Vec<String>,
}

/// Replays the cases of a group; returns how many steps were compared.
fn replay(group: &str) -> usize {
    let cases = recorded::load(group);
    let queue = Mutex::new(cases.iter());
    let outcome = Mutex::new(Outcome::default());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let lab = ModuleLab::start();
                loop {
                    let Some(case) = queue.lock().unwrap().next() else {
                        return;
                    };
                    for (program, flavor) in PROGRAMS {
                        if let Some(steps) = recorded::outcome(case, program) {
                            let id = case["id"].as_str().unwrap();
                            let listed = differences::listed(group, id, program);
                            let verdicts = one(&lab, case, flavor, listed, &steps);
                            let name = format!("{id} {program}");
                            outcome.lock().unwrap().add(&name, listed, verdicts);
                        }
                    }
                }
            });
        }
    });
    let outcome = outcome.into_inner().unwrap();
    let faults = outcome.faults;
    assert!(
        faults.is_empty(),
        "{} faults\n{}",
        faults.len(),
        faults.join("\n")
    );
    outcome.compared
}

impl Outcome {
    fn add(&mut self, name: &str, listed: Listed<'_>, verdicts: Vec<Verdict>) {
        self.compared += verdicts.len();
        let mut differs = false;
        for verdict in verdicts {
            match verdict {
                Verdict::Good => {}
                Verdict::Listed => differs = true,
                Verdict::Wrong(fault) => self.faults.push(format!("{name}: {fault}")),
            }
        }
        if listed == Listed::Different && !differs {
            self.faults.push(format!("{name} is listed, but agrees"));
        }
    }
}

/// Replays the steps of a case.
fn one(
    lab: &ModuleLab,
    case: &Value,
    flavor: Flavor,
    listed: Listed<'_>,
    recorded: &Value,
) -> Vec<Verdict> {
    let (host, name) = match flavor.is_opentofu() {
        true => ("registry.opentofu.org", "opentofu@1.12"),
        false => ("registry.terraform.io", "terraform@1.11"),
    };
    let mut run = Case::new(lab, &case["input"], host, name);
    let none = [Value::Null];
    let steps = case["input"]["steps"]
        .as_array()
        .map_or(&none[..], Vec::as_slice);
    let mut verdicts = Vec::new();
    for (at, (step, recorded)) in steps.iter().zip(recorded.as_array().unwrap()).enumerate() {
        run.change(step);
        let words: Vec<&str> = match step["run"].as_array() {
            Some(words) => words.iter().filter_map(Value::as_str).collect(),
            None => vec!["get"],
        };
        let modules = match &*words {
            ["providers"] | ["init", "-get=false"] => "installed",
            _ => "fetch",
        };
        if words.contains(&"-update") || words.contains(&"-upgrade") {
            run.uninstall();
        }
        let found = run.tree(step, modules);
        let expected = Expected::of(recorded, |key| run.calls(key));
        verdicts.push(verdict(listed, &expected, &found));
        if modules == "fetch" && at + 1 < steps.len() {
            run.install(recorded);
        }
    }
    verdicts
}

fn verdict(listed: Listed<'_>, expected: &Expected, found: &Found) -> Verdict {
    let fault = match listed {
        Listed::Refused(rule) => {
            let is_refused = found.errors.iter().any(|(_, own)| own == rule);
            (!is_refused).then(|| format!("no error of the rule {rule}\n"))
        }
        Listed::Unsupported => {
            let mut unseen = found.unseen.iter();
            let is_said = unseen.any(|(title, help)| {
                title == "Unsupported kind of module source" && help.contains("install the modules")
            });
            let is_so = is_said && found.requests.is_empty();
            (!is_so).then(|| "it is not said to be unsupported\n".to_owned())
        }
        Listed::No | Listed::Different => expected.difference(found),
    };
    match (fault, listed) {
        (None, _) => Verdict::Good,
        (Some(_), Listed::Different) => Verdict::Listed,
        (Some(fault), _) => {
            let requests = found.requests.join("\n    ");
            let stderr = &found.stderr;
            let (errors, unseen) = (&found.errors, &found.unseen);
            Verdict::Wrong(format!(
                "{fault}{errors:?} {unseen:?}\n{stderr}\n    {requests}"
            ))
        }
    }
}

#[test]
#[cfg_attr(windows, ignore = "the cases run programs of Unix and name its paths")]
fn tree_cases_agree() {
    assert!(replay("tree") >= 90);
}

#[test]
#[cfg_attr(windows, ignore = "the cases run programs of Unix and name its paths")]
fn git_cases_agree() {
    assert!(replay("git") >= 192);
}

#[test]
#[cfg_attr(windows, ignore = "the cases run programs of Unix and name its paths")]
fn archive_cases_agree() {
    assert!(replay("archives") >= 78);
}

#[test]
#[cfg_attr(windows, ignore = "the cases run programs of Unix and name its paths")]
fn http_cases_agree() {
    assert!(replay("http") >= 164);
}

#[test]
#[cfg_attr(windows, ignore = "the cases run programs of Unix and name its paths")]
fn registry_cases_agree() {
    assert!(replay("registry") >= 180);
}

#[test]
#[cfg_attr(windows, ignore = "the cases run programs of Unix and name its paths")]
fn manifest_cases_agree() {
    assert!(replay("manifest") >= 164);
}

#[test]
fn oci_cases_agree() {
    assert!(replay("oci") >= 16);
}
