//! The recorded scenarios of registries, replayed through whole commands.
//!
//! An `init` of the programs is `lock --platform linux_amd64` here. Compared are success, the lock
//! file, and which hosts were asked with which credentials.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::lab::{Lab, Outcome};
use crate::registry::Registry;
use crate::scenarios::{self, Engine, LockAfter, Packages, Run, Scenario};

/// How lockctl differs from a program in a scenario, and why: `differences.json`.
struct Difference {
    /// The scenarios, each with the engines that it is about.
    scenarios: Vec<(String, Vec<String>)>,
    /// What lockctl does there: `succeeds` or `refuses`; or, with the same end as the program,
    /// `asks-more`, `refuses-earlier` or `records-others`.
    outcome: String,
    /// Why; the page on differences says the same.
    reason: String,
}

fn differences() -> Vec<Difference> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/fixtures/source-cases/differences.json"
    );
    let given: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let texts = |value: &Value| -> Vec<String> {
        let values = value.as_array().unwrap().iter();
        values.map(|v| v.as_str().unwrap().to_owned()).collect()
    };
    let given = given.as_array().unwrap().iter();
    let read = |one: &Value| Difference {
        scenarios: one["scenarios"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(id, engines)| (id.clone(), texts(engines)))
            .collect(),
        outcome: one["outcome"].as_str().unwrap().to_owned(),
        reason: one["reason"].as_str().unwrap().to_owned(),
    };
    given.map(read).collect()
}

#[test]
fn registry_scenarios() {
    replay("registry");
}

#[test]
fn discovery_scenarios() {
    replay("discovery");
}

#[test]
fn document_scenarios() {
    replay("documents");
}

#[test]
fn checksum_scenarios() {
    replay("sums");
}

#[test]
fn signature_scenarios() {
    replay("signatures");
}

#[test]
fn network_mirror_scenarios() {
    replay("netmirror");
}

#[cfg(unix)]
#[test]
fn filesystem_mirror_scenarios() {
    replay("fsmirror");
}

#[test]
fn configuration_scenarios() {
    replay("config");
}

fn replay(group: &str) {
    let registry = Registry::start();
    Packages::recorded().publish(&registry);
    let differences = differences();
    let mut counts = [0, 0];
    let mut faults = Vec::new();
    for scenario in scenarios::scenarios(group) {
        if !scenario.locks() {
            continue;
        }
        for engine in scenario.engines() {
            let difference = differences
                .iter()
                .find(|one| one.is_about(&scenario, engine));
            let fault = match difference {
                Some(difference) => differs(&registry, &scenario, engine, difference),
                None => agrees(&registry, &scenario, engine),
            };
            counts[usize::from(difference.is_some())] += 1;
            faults.extend(fault.map(|f| format!("{} {}: {f}", scenario.id, engine.label())));
        }
    }
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n\n")
    );
    let [same, different] = counts;
    println!("{group}: {same} outcomes agree, {different} differ as stated");
}

impl Difference {
    fn is_about(&self, scenario: &Scenario, engine: Engine) -> bool {
        let mut scenarios = self.scenarios.iter();
        scenarios.any(|(id, engines)| {
            *id == scenario.id && engines.iter().any(|one| one == engine.label())
        })
    }
}

/// What came of the last step.
struct Replayed {
    run: Run,
    outcome: Outcome,
    /// The lock file before and after it.
    before: Option<String>,
    after: Option<String>,
    requests: Vec<String>,
}

impl Replayed {
    /// The lock file that the program left.
    fn wanted(&self) -> Option<String> {
        match &self.run.expected.lock {
            LockAfter::Absent => None,
            LockAfter::Unchanged => self.before.clone(),
            LockAfter::Text(text) => Some(text.clone()),
        }
    }
}

fn play(registry: &Registry, scenario: &Scenario, engine: Engine) -> Replayed {
    let mut lab = Lab::new();
    let mut run = scenario.lay_out(registry, &lab, engine);
    let lock = run.directory.join(".terraform.lock.hcl");
    let mut last = None;
    let mut before = None;
    for step in &mut run.steps {
        if shorten_stalls(&mut step.knobs) {
            lab.hurry = HURRY;
        }
        step.prepare(registry, &mut lab);
        before = std::fs::read_to_string(&lock).ok();
        if step.args.is_empty() {
            continue;
        }
        let platforms: Vec<&str> = step.platforms().collect();
        let platforms = match platforms.as_slice() {
            [] => "linux_amd64".to_owned(),
            some => some.join(","),
        };
        let flavor = engine.flavor();
        let mut args = vec!["lock", "--flavor", flavor, "--platform", &platforms];
        let source = step.source();
        args.extend(source.iter().map(String::as_str));
        last = Some(lab.run_in("work", &args));
    }
    Replayed {
        outcome: last.expect("a step that runs something"),
        before,
        after: std::fs::read_to_string(&lock).ok(),
        requests: registry.requests(),
        run,
    }
}

/// How many times faster time passes where a server stalls: the tests shall not wait for it.
const HURRY: u32 = 10;

/// Makes stalls as much shorter as answers are given up sooner; tells whether there are any.
fn shorten_stalls(knobs: &mut Value) -> bool {
    let rules = knobs.get_mut("rules").and_then(Value::as_array_mut);
    let stalls = rules
        .into_iter()
        .flatten()
        .filter(|rule| rule["action"] == "stall");
    let mut any = false;
    for rule in stalls {
        let seconds = rule["seconds"].as_f64().unwrap();
        rule["seconds"] = (seconds / f64::from(HURRY)).into();
        any = true;
    }
    any
}

/// Returns how lockctl differs from the program, if it does.
fn agrees(registry: &Registry, scenario: &Scenario, engine: Engine) -> Option<String> {
    let played = play(registry, scenario, engine);
    let expected = &played.run.expected;
    let (code, success) = (played.outcome.code, expected.success());
    let said = format!("{}{}", played.outcome.stdout, played.outcome.stderr);
    if (code == 0) != success {
        return Some(format!(
            "exit code {code}, the program {:?}:\n{said}",
            expected.exit
        ));
    }
    let wanted = played.wanted();
    if played.after != wanted {
        return Some(format!(
            "the lock is {:?}, not {wanted:?}:\n{said}",
            played.after
        ));
    }
    let (ours, theirs) = (asked(&played.requests), asked(&expected.requests));
    if ours != theirs {
        return Some(format!("asked {ours:?}, the program {theirs:?}:\n{said}"));
    }
    None
}

/// Returns what is wrong with a difference that was stated.
fn differs(
    registry: &Registry,
    scenario: &Scenario,
    engine: Engine,
    difference: &Difference,
) -> Option<String> {
    let played = play(registry, scenario, engine);
    let wanted = match difference.outcome.as_str() {
        "succeeds" | "asks-more" | "records-others" => 0,
        "refuses" | "refuses-earlier" => 2,
        other => panic!("{other:?} is no outcome"),
    };
    let code = played.outcome.code;
    if code != wanted {
        let said = format!("{}{}", played.outcome.stdout, played.outcome.stderr);
        return Some(format!(
            "exit code {code} where {wanted} was stated:\n{said}"
        ));
    }
    if code != 0 && played.after != played.before {
        return Some("something was written".to_owned());
    }
    let expected = &played.run.expected;
    let is_other = match difference.outcome.as_str() {
        "asks-more" | "refuses-earlier" => asked(&played.requests) != asked(&expected.requests),
        "records-others" => played.after != played.wanted(),
        _ => false,
    };
    let same_end = (code == 0) == expected.success() && !is_other;
    same_end.then(|| format!("no difference any more: {}", difference.reason))
}

/// Which origins were asked, each with the way in which credentials were sent.
///
/// How often is not compared: lockctl asks side by side, and some things once less or more.
fn asked(requests: &[String]) -> BTreeSet<(String, String)> {
    let parse = |request: &String| {
        let mut words = request.split_whitespace().skip(1);
        let target = words.next().unwrap_or_default();
        let origin = target.split_once(":/").map_or("", |(origin, _)| origin);
        let auth = words.find_map(|word| word.strip_prefix("auth="));
        (origin.to_owned(), auth.unwrap_or_default().to_owned())
    };
    requests.iter().map(parse).collect()
}

#[test]
fn every_difference_is_on_its_page() {
    let page = include_str!("../../src/diag/topics/differences.md");
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for difference in differences() {
        assert!(page.contains(&difference.reason), "{:?}", difference.reason);
        for (id, engines) in &difference.scenarios {
            let known = scenarios::GROUPS
                .iter()
                .flat_map(|group| scenarios::scenarios(group));
            let known: Vec<Scenario> = known.filter(|scenario| scenario.id == *id).collect();
            assert_eq!(known.len(), 1, "{id}");
            for engine in engines {
                assert!(
                    Engine::ALL.iter().any(|one| one.label() == engine),
                    "{engine}"
                );
            }
        }
    }
}
