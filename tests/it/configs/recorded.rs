//! Every recorded case, for every program that it was recorded with.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use lockctl::diag::Severity;
use lockctl::flavor::Flavor;
use serde_json::Value;

use super::differences::{Differences, Outcome};
use super::judge::{self, Said, Verdict};
use super::txtar::{self, Case};

/// A recorded case, read by the rules of one of the programs that it was recorded with.
pub(super) struct ReadCase {
    pub(super) name: String,
    pub(super) flavor: Flavor,
    pub(super) said: Said,
    expected: Value,
    verdict: Verdict,
}

/// Returns every case with every program, read once for all tests: that takes most of their time.
pub(super) fn read_cases() -> &'static [ReadCase] {
    static CASES: LazyLock<Vec<ReadCase>> =
        LazyLock::new(|| txtar::cases().iter().flat_map(read).collect());
    &CASES
}

fn read(case: &Case) -> Vec<ReadCase> {
    let mut found = Vec::new();
    let Some(place) = case.lay_out() else {
        return found;
    };
    for flavor in Flavor::ALL {
        let Some(expected) = case.expected(flavor) else {
            continue;
        };
        let said = judge::load(&*place.files, &place.root, case.settings(flavor));
        found.push(ReadCase {
            name: case.name.clone(),
            flavor,
            verdict: said.judge(case, &expected),
            said,
            expected,
        });
    }
    found
}

/// With names' beginnings in `LOCKCTL_CASES`, tells only how these cases come out; with
/// `SNAPSHOTS=overwrite`, brings the lists of what is left to do up to date.
#[test]
fn cases_give_what_the_programs_gave() {
    if let Ok(wanted) = std::env::var("LOCKCTL_CASES") {
        let is_wanted = |case: &Case| wanted.split(',').any(|start| case.name.starts_with(start));
        for case in txtar::cases().iter().filter(|case| is_wanted(case)) {
            for ReadCase {
                name,
                flavor,
                verdict,
                ..
            } in read(case)
            {
                println!("{name} {flavor}: {verdict:?}");
            }
        }
        return;
    }
    let outcomes: Vec<Outcome<'_>> = read_cases()
        .iter()
        .map(|case| Outcome {
            case: &case.name,
            flavor: case.flavor,
            verdict: case.verdict.clone(),
        })
        .collect();
    let mut counts: BTreeMap<Flavor, usize> = BTreeMap::new();
    for outcome in &outcomes {
        *counts.entry(outcome.flavor).or_default() += 1;
    }
    println!("recorded outcomes: {counts:?}");
    #[cfg(unix)]
    assert_eq!(
        counts.into_values().collect::<Vec<_>>(),
        [455, 582, 596, 835]
    );
    let mut differences = Differences::read();
    if std::env::var("SNAPSHOTS").is_ok_and(|action| action == "overwrite") {
        differences.overwrite(&outcomes);
    }
    let faults = differences.faults(&outcomes);
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

/// A warning that lockctl learned is compared from then on.
#[test]
fn warnings_that_we_have_are_compared() {
    let (mut theirs, mut ours) = (BTreeSet::new(), BTreeSet::new());
    for ReadCase { expected, said, .. } in read_cases() {
        let recorded = expected["warnings"].as_array().into_iter().flatten();
        theirs.extend(recorded.map(|title| title.as_str().unwrap().to_owned()));
        for severity in [Severity::Warning, Severity::Note] {
            ours.extend(
                said.with(severity)
                    .map(|diagnostic| diagnostic.title.clone()),
            );
        }
    }
    let both: Vec<&str> = ours.intersection(&theirs).map(String::as_str).collect();
    assert_eq!(both, judge::WARNINGS);
}

/// Where a variable has no value, `init` is predicted to fail as it was recorded, and the lock goes on.
#[test]
fn values_without_which_init_fails_keep_no_provider_from_being_locked() {
    let mut stopped = Vec::new();
    for case in read_cases() {
        let loaded = &case.said.loaded;
        // Faults of a backend or of a file of values are compared as any other error.
        let is_about_variables = loaded.missing_values.files.is_empty()
            && case.said.with(Severity::Warning).next().is_none();
        if !is_about_variables {
            continue;
        }
        let Some(title) = loaded.value_errors.title() else {
            assert!(loaded.value_errors.errors.is_empty(), "{}", case.name);
            continue;
        };
        let (name, flavor) = (&case.name, case.flavor);
        for command in ["init", "providers"] {
            let titles = case.expected["errors"][command].as_array().unwrap();
            assert!(titles.iter().any(|one| one == title), "{name}: {title}");
        }
        // `get` reads neither backend nor encryption.
        let is_setting = name.contains("backend") || name.contains("encryption");
        let get = &case.expected["errors"]["get"];
        assert!(!is_setting || get.is_null(), "{name}");
        assert!(
            !loaded.requirements.faulty,
            "{name}: {:?}",
            loaded.diagnostics
        );
        let providers = loaded.requirements.providers.keys();
        let providers: Vec<&str> = providers.map(|addr| addr.type_name()).collect();
        let unseen = loaded.requirements.unseen_calls.len();
        stopped.push(format!(
            "{name} {flavor}: {providers:?}, {unseen} unseen, {:?} not needed",
            loaded.missing_values.variables
        ));
    }
    snapbox::assert_data_eq!(
        stopped.join("\n"),
        snapbox::str![[r#"
const-required-no-value terraform@1.15: [], 1 unseen, [] not needed
const-required-no-value terraform@1.16: [], 1 unseen, [] not needed
const-required-no-value opentofu@1.12: [], 1 unseen, [] not needed
const-required-unused terraform@1.15: ["alpha"], 0 unseen, ["p"] not needed
const-required-unused terraform@1.16: ["alpha"], 0 unseen, ["p"] not needed
const-required-unused opentofu@1.12: ["alpha"], 0 unseen, ["p"] not needed
const-version-no-value terraform@1.15: ["alpha"], 0 unseen, [] not needed
const-version-no-value terraform@1.16: ["alpha"], 0 unseen, [] not needed
const-version-no-value opentofu@1.12: [], 1 unseen, [] not needed
tofu-backend-required-no-value opentofu@1.12: [], 0 unseen, ["p"] not needed
tofu-const-true-required opentofu@1.12: ["alpha"], 0 unseen, ["p"] not needed
tofu-encryption-required-no-value opentofu@1.12: ["alpha"], 0 unseen, ["pass"] not needed
tofu-static-required-no-value opentofu@1.12: [], 1 unseen, [] not needed
"#]]
    );
}
