//! The recorded scenarios of `fixtures/source-cases`.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::commands::{Counterpart, Place};
use super::differences::{Difference, differences, stated};
use super::{LOCK, Recorded, Replayed, Tally, Verdict, entries};
use crate::lab::Lab;
use crate::registry::Registry;
use crate::scenarios::{self, Engine, LockAfter, Packages, Run, Scenario, Step};

#[test]
#[cfg_attr(windows, ignore = "some scenarios have symbolic links")]
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
#[cfg_attr(windows, ignore = "some scenarios have symbolic links")]
fn scenarios_of_hashes_beside_the_signed_list() {
    replay("package-hashes");
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
#[cfg_attr(windows, ignore = "some scenarios have symbolic links")]
fn configuration_scenarios() {
    replay("config");
}

// Some scenarios need symbolic links, for which Windows wants a privilege.
#[cfg(unix)]
#[test]
fn lock_file_scenarios() {
    replay("lockfile");
}

#[test]
#[cfg_attr(windows, ignore = "some scenarios have symbolic links")]
fn plugin_cache_scenarios() {
    replay("cache");
}

#[test]
fn scenarios_of_two_registries_and_states() {
    replay("shims");
}

#[test]
#[cfg_attr(windows, ignore = "some scenarios have symbolic links")]
fn oci_mirror_scenarios() {
    replay("oci");
}

fn replay(group: &str) {
    let registry = Registry::start();
    Packages::recorded().publish(&registry);
    let differences = differences("source-cases");
    let mut tally = Tally::default();
    for scenario in scenarios::scenarios(group) {
        for engine in scenario.engines() {
            let difference = stated(&differences, &scenario.id, engine);
            let verdict = compare(&registry, &scenario, engine, difference);
            let subject = format!("{} {}", scenario.id, engine.label());
            tally.count(&subject, verdict, difference.is_some());
        }
    }
    tally.report(group);
}

fn compare(
    registry: &Registry,
    scenario: &Scenario,
    engine: Engine,
    difference: Option<&Difference>,
) -> Verdict {
    let mut lab = Lab::new();
    let mut run = scenario.lay_out(registry, &lab, engine);
    let last = run.steps.last().expect("a scenario ends with a command");
    match last.counterpart(engine) {
        Counterpart::None(reason) => return Verdict::LeftOut(reason),
        Counterpart::Predict(_) if scenario.id == OVERRIDDEN => {
            return Verdict::LeftOut("`verify` does not look at what `dev_overrides` names");
        }
        Counterpart::Predict(_) | Counterpart::Run(..) => {}
    }
    let replayed = play(registry, &mut lab, &mut run, engine);
    let recorded = recorded(&run, replayed.before.as_ref());
    let fault = match difference {
        Some(difference) => difference.fault(&replayed, &recorded),
        None => replayed.difference_to(&recorded),
    };
    fault.map_or(Verdict::Agrees, Verdict::Differs)
}

fn recorded(run: &Run, before: Option<&String>) -> Recorded {
    let expected = &run.expected;
    let (lock, wrote) = match &expected.lock {
        LockAfter::Absent => (None, false),
        LockAfter::Unchanged => (before.cloned(), false),
        LockAfter::Text(text) => (Some(text.clone()), true),
    };
    // The made-up provider does not start, whatever a lock file says.
    let is_started = |title: &str| {
        title.starts_with("Failed to load plugin schemas")
            || title.ends_with("Unrecognized remote plugin message:")
    };
    let mut shown = expected.diagnostics.iter();
    Recorded {
        success: expected.success() || shown.any(|one| is_started(&one.title)),
        lock,
        wrote,
        asked: Some(asked(&expected.requests)),
    }
}

/// Runs all steps; returns what came of the last one.
pub(super) fn play(registry: &Registry, lab: &mut Lab, run: &mut Run, engine: Engine) -> Replayed {
    let lock = run.directory.join(LOCK);
    let read = || std::fs::read_to_string(&lock).ok();
    let mut last = None;
    let before_last = run.steps.len() - 1;
    for (number, step) in run.steps.iter_mut().enumerate() {
        if shorten_stalls(&mut step.knobs) {
            lab.hurry = HURRY;
        }
        step.prepare(registry, lab);
        let before = read();
        let place = Place {
            lab,
            root: "work",
            flavor: engine.flavor(),
        };
        let (success, outcome, asked) = match step.counterpart(engine) {
            Counterpart::Run(command, options) => {
                let outcome = place.run(command, &options);
                let oci = run.oci.iter().flat_map(|oci| oci.lines());
                let asked = asked(
                    &registry
                        .requests()
                        .into_iter()
                        .chain(oci)
                        .collect::<Vec<_>>(),
                );
                (outcome.code == 0, outcome, Some(asked))
            }
            Counterpart::Predict(route) => {
                let packages = known_packages(lab, before.as_deref());
                let (success, outcome) = place.predict(route, &packages);
                (success, outcome, None)
            }
            Counterpart::None(_) => continue,
        };
        if success && number < before_last && step.args[0] == "init" {
            install(&run.directory, step.cache_dir());
        }
        last = Some(Replayed {
            success,
            outcome,
            before,
            after: read(),
            asked,
        });
    }
    last.expect("a step that runs something")
}

/// Installs what is locked, as `init` does: into the root, and into the plugin cache if there is one.
fn install(root: &Path, cache: Option<&Path>) {
    let Ok(lock) = std::fs::read_to_string(root.join(LOCK)) else {
        return;
    };
    let installed = root.join(".terraform/providers");
    for (provider, (version, _)) in entries(&lock) {
        let Some(key) = package_key(&provider, &version) else {
            continue;
        };
        for dir in [Some(&*installed), cache].into_iter().flatten() {
            let below = dir.join(&provider).join(&version).join("linux_amd64");
            Packages::recorded().unpack(&key, &below);
        }
    }
}

/// Puts the zips of all locked packages beside the root; returns where they are.
fn known_packages(lab: &Lab, lock: Option<&str>) -> Vec<String> {
    let mut packages = Vec::new();
    for (provider, (version, _)) in lock.map(entries).unwrap_or_default() {
        let Some(key) = package_key(&provider, &version) else {
            continue;
        };
        let (_, type_name) = provider.rsplit_once('/').unwrap();
        let name = format!("known/terraform-provider-{type_name}_{version}_linux_amd64.zip");
        lab.write(&name, Packages::recorded().zip(&key));
        packages.push(lab.path(&name).display().to_string());
    }
    packages
}

/// Returns how the package of this platform is called, if there is one.
fn package_key(provider: &str, version: &str) -> Option<String> {
    let (_, type_name) = provider.rsplit_once('/')?;
    let key = format!("{type_name}/{version}/linux_amd64");
    let mut known = Packages::recorded().keys();
    known.any(|one| one == key).then_some(key)
}

/// A `validate` with a program that is run from a directory, without any lock file.
const OVERRIDDEN: &str = "dev-overrides-variable";

/// How many times faster time passes where a server stalls: the tests shall not wait for it.
const HURRY: u32 = 10;

/// Makes stalls as much shorter as answers are given up sooner; returns whether there are any.
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

impl Step {
    fn counterpart(&self, engine: Engine) -> Counterpart {
        let args: Vec<&str> = self.args.iter().map(String::as_str).collect();
        Counterpart::of(engine, &args)
    }
}

/// Which origins were asked, each with the way in which credentials were sent.
///
/// How often is not compared, nor that there were more than a recording lists: lockctl asks side by side, and some things once less or more.
fn asked(requests: &[String]) -> BTreeSet<(String, String)> {
    let parse = |request: &String| {
        let mut words = request.split_whitespace().skip(1);
        let target = words.next().unwrap_or_default();
        let origin = target.split_once(":/").map_or("", |(origin, _)| origin);
        let auth = words.find_map(|word| word.strip_prefix("auth="));
        (origin.to_owned(), auth.unwrap_or_default().to_owned())
    };
    let listed = requests.iter().filter(|line| !line.starts_with('('));
    listed.map(parse).collect()
}
