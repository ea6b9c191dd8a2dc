//! Every recorded case, for every program that it was recorded with.

use std::collections::{BTreeMap, BTreeSet};

use lockctl::diag::Severity;
use lockctl::flavor::Flavor;

use super::differences::{Differences, Outcome};
use super::judge;
use super::txtar::{self, Case};

/// Compares one case with all that was recorded of it.
fn outcomes(case: &Case) -> Vec<Outcome<'_>> {
    let mut found = Vec::new();
    let Some(place) = case.lay_out() else {
        return found;
    };
    for flavor in Flavor::ALL {
        let Some(expected) = case.expected(flavor) else {
            continue;
        };
        let said = judge::load(&*place.files, &place.root, case.settings(flavor));
        found.push(Outcome {
            case: &case.name,
            flavor,
            verdict: said.judge(case, &expected),
        });
    }
    found
}

/// With names' beginnings in `LOCKCTL_CASES`, tells only how these cases come out; with
/// `SNAPSHOTS=overwrite`, brings the lists of what is left to do up to date.
#[test]
fn cases_give_what_the_programs_gave() {
    let mut cases = txtar::cases();
    let wanted = std::env::var("LOCKCTL_CASES").ok();
    if let Some(wanted) = &wanted {
        let wanted: Vec<&str> = wanted.split(',').collect();
        cases.retain(|case| wanted.iter().any(|start| case.name.starts_with(start)));
    }
    let outcomes: Vec<Outcome<'_>> = cases.iter().flat_map(outcomes).collect();
    if wanted.is_some() {
        for outcome in &outcomes {
            println!("{} {}: {:?}", outcome.case, outcome.flavor, outcome.verdict);
        }
        return;
    }
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
    for case in &txtar::cases() {
        let Some(place) = case.lay_out() else {
            continue;
        };
        for flavor in Flavor::ALL {
            let Some(expected) = case.expected(flavor) else {
                continue;
            };
            let recorded = expected["warnings"].as_array().into_iter().flatten();
            theirs.extend(recorded.map(|title| title.as_str().unwrap().to_owned()));
            let said = judge::load(&*place.files, &place.root, case.settings(flavor));
            for severity in [Severity::Warning, Severity::Note] {
                ours.extend(said.with(severity).map(|one| one.title.clone()));
            }
        }
    }
    let both: Vec<&str> = ours.intersection(&theirs).map(String::as_str).collect();
    assert_eq!(both, judge::WARNINGS);
}
