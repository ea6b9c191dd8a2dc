//! What lockctl does otherwise than the programs: the files `differences.json`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Recorded, Replayed};
use crate::cases;
use crate::scenarios::{self, Engine};
use crate::texts::Text as _;

/// How many scenarios may differ, in all groups but those about the plugin cache, which `lock` does not
/// use at all.
const MOST: usize = 75;

/// How lockctl differs from programs, and why.
pub(super) struct Difference {
    /// The scenarios, each with the engines that it is about.
    scenarios: Vec<(String, Vec<String>)>,
    /// What lockctl does there: `succeeds` or `refuses`; or, with the same end as the program,
    /// `asks-more`, `refuses-earlier` or `records-others`.
    outcome: String,
    /// Why; the page on differences says the same.
    reason: String,
    /// What it is about, if that makes it no exception: `trust of OpenTofu`.
    about: Option<String>,
}

/// Reads the differences from the cases of a folder below `fixtures`.
pub(super) fn differences(folder: &str) -> Vec<Difference> {
    let root = env!("CARGO_MANIFEST_DIR");
    let path = format!("{root}/fixtures/{folder}/differences.json");
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
        about: one["about"].as_str().map(str::to_owned),
    };
    given.map(read).collect()
}

/// Finds the difference that is stated for a program in a scenario.
pub(super) fn stated<'a>(
    differences: &'a [Difference],
    id: &str,
    engine: Engine,
) -> Option<&'a Difference> {
    let mut differences = differences.iter();
    differences.find(|one| {
        let mut scenarios = one.scenarios.iter();
        scenarios
            .any(|(known, engines)| known == id && engines.iter().any(|one| one == engine.label()))
    })
}

impl Difference {
    /// Returns what is wrong with the difference.
    pub(super) fn fault(&self, replayed: &Replayed, recorded: &Recorded) -> Option<String> {
        let wanted = match self.outcome.as_str() {
            "succeeds" | "records-others" => true,
            // What is asked in vain ends as with the program.
            "asks-more" => recorded.success,
            "refuses" | "refuses-earlier" => false,
            other => panic!("{other:?} is no outcome"),
        };
        if replayed.success != wanted {
            let code = replayed.outcome.code;
            let said = format!("{}{}", replayed.outcome.stdout, replayed.outcome.stderr);
            return Some(format!(
                "exit code {code} where {:?} was stated:\n{said}",
                self.outcome
            ));
        }
        if !wanted && replayed.after != replayed.before {
            return Some("something was written".to_owned());
        }
        let is_other = match self.outcome.as_str() {
            "asks-more" | "refuses-earlier" => replayed.asked != recorded.asked,
            "records-others" => !replayed.leaves_lock_of(recorded),
            _ => false,
        };
        let same_end = wanted == recorded.success && !is_other;
        same_end.then(|| format!("no difference any more: {}", self.reason))
    }
}

#[test]
fn every_difference_is_on_its_page() {
    let page = include_str!("../../../src/front/guide/topics/differences.md");
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let groups = scenarios::GROUPS.iter();
    let scenarios = groups.flat_map(|group| scenarios::scenarios(group));
    let mut known: Vec<String> = scenarios.map(|scenario| scenario.id).collect();
    for group in ["lifecycle", "opentofu"] {
        let cases = cases::load(group);
        known.extend(cases.iter().map(cases::Case::id));
    }
    let mut different = BTreeSet::new();
    for difference in ["source-cases", "cases"].into_iter().flat_map(differences) {
        page.has(&difference.reason);
        for (id, engines) in difference.scenarios {
            assert_eq!(known.iter().filter(|one| **one == id).count(), 1, "{id}");
            for engine in &engines {
                let mut engines = Engine::ALL.iter();
                assert!(engines.any(|one| one.label() == engine), "{engine}");
            }
            let is_of_cache = id.starts_with("cache-") || id.starts_with("opentofu/cache_");
            if difference.about.is_none() && !is_of_cache {
                different.insert(id);
            }
        }
    }
    let count = different.len();
    assert!(count <= MOST, "{count} scenarios differ, {MOST} may");
    println!("{count} recorded scenarios differ as stated");
}
