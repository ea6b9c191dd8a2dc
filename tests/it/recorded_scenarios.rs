//! The recorded scenarios themselves: that they load, resolve and can be laid out.

use std::collections::BTreeSet;
use std::io::Cursor;

use lockctl::archive::Limits;
use lockctl::archive::zip::hash_zip;
use lockctl::hash::zh;

use crate::lab::Lab;
use crate::registry::{Registry, false_hash, sha256_hex};
use crate::scenarios::{
    Engine, Exit, GROUPS, LockAfter, Packages, Run, Scenario, left_over, scenarios, split,
};

#[test]
fn packages_are_the_recorded_ones() {
    let packages = Packages::recorded();
    let hash = |symbol: String| packages.hashes[&symbol].clone();
    for key in packages.keys() {
        let zip = packages.zip(key);
        let (zh, h1) = (hash(format!("zh({key})")), hash(format!("h1({key})")));
        assert_eq!(self::zh(&*zip).unwrap().to_string(), zh, "{key}");
        let found = hash_zip(Cursor::new(&zip), &Limits::PACKAGE).unwrap();
        assert_eq!(found.h1.to_string(), h1, "{key}");
        assert_eq!(false_hash(&zh), hash(format!("zh(not {key})")), "{key}");
        assert_eq!(false_hash(&h1), hash(format!("h1(not {key})")), "{key}");
        let (type_name, version, platform) = split(key);
        let line = format!(
            "{}  terraform-provider-{type_name}_{version}_{platform}.zip",
            &zh[3..]
        );
        let doubled = format!("zh:{}", sha256_hex(&line));
        assert_eq!(doubled, hash(format!("zh(doubled {key})")), "{key}");
        let falsesum = format!("zh:{}", sha256_hex(format!("{line}\n")));
        assert_eq!(falsesum, hash(format!("zh(falsesum {key})")), "{key}");
    }
    assert_ne!(packages.keys().count(), 0);
}

#[test]
#[cfg_attr(windows, ignore = "some scenarios have symbolic links")]
fn every_scenario_resolves() {
    let registry = Registry::start();
    Packages::recorded().publish(&registry);
    let mut ids = BTreeSet::new();
    for group in GROUPS {
        let scenarios = scenarios(group);
        assert!(!scenarios.is_empty(), "{group}");
        for scenario in scenarios {
            for engine in scenario.engines() {
                let mut lab = Lab::new();
                let run = scenario.lay_out(&registry, &lab, engine);
                for step in &run.steps {
                    step.prepare(&registry, &mut lab);
                }
                check(&scenario, engine, &run);
            }
            assert!(ids.insert(scenario.id.clone()), "{} again", scenario.id);
        }
    }
}

/// Looks for symbols that stand for nothing.
#[track_caller]
fn check(scenario: &Scenario, engine: Engine, run: &Run) {
    let subject = format!("{} with {engine:?}", scenario.id);
    let last = run.steps.last().unwrap();
    // Those two are for the registry to fill in.
    let knobs = last
        .knobs
        .to_string()
        .replace("{url}", "")
        .replace("{path}", "");
    let main = std::fs::read_to_string(run.directory.join("main.tf")).unwrap_or_default();
    let expected = format!("{:?}", run.expected);
    let around = format!("{:?}", (&last.env, &last.args));
    // Names of a URI template.
    let around = ["{namespace}", "{type}"]
        .iter()
        .fold(around, |text, name| text.replace(name, ""));
    let config = std::fs::read_to_string(run.directory.join("../rc")).unwrap();
    let lock = run.directory.join(".terraform.lock.hcl");
    let lock = std::fs::read_to_string(lock).unwrap_or_default();
    for text in [knobs, main, expected, around, config, lock] {
        assert_eq!(left_over(&text), None, "{subject}");
    }
    assert!(!last.args.is_empty(), "{subject}");
}

#[test]
fn outcomes_are_typed() {
    let packages = Packages::recorded();
    let registry = Registry::start();
    let all = scenarios("registry");
    let expect = |id: &str, engine| {
        let scenario = all.iter().find(|scenario| scenario.id == id).unwrap();
        let lab = Lab::new();
        scenario.lay_out(&registry, &lab, engine).expected
    };
    let first = expect("reg-init-new", Engine::Terraform11);
    assert!(first.success());
    let hashes = &first.hashes()["registry.terraform.io/acme/demo"];
    assert_eq!(hashes.len(), 5);
    assert!(hashes.contains(&packages.hashes["h1(demo/1.0.0/linux_amd64)"]));
    assert!(hashes.contains(&packages.hashes["zh(demo/1.0.0/windows_amd64)"]));
    assert_eq!(first.requests.len(), 6);
    let later = expect("reg-init-new", Engine::Terraform16);
    assert_eq!((later.requests.len(), &later.lock), (5, &first.lock));
    let tofu = expect("reg-timeout-block", Engine::OpenTofu12);
    assert_eq!((tofu.exit, &tofu.lock), (Exit::Code(1), &LockAfter::Absent));
    assert_eq!(tofu.diagnostics[0].severity, "error");
    let again = expect("reg-locked-installed", Engine::Terraform11);
    assert_eq!(again.lock, LockAfter::Unchanged);
}
