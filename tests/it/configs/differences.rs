//! Where lockctl does not do what was recorded: `fixtures/config-cases/differences.json`.

use std::collections::BTreeMap;

use lockctl::flavor::Flavor;
use serde::{Deserialize, Serialize};

use super::judge::Verdict;
use crate::texts::Text as _;

const PATH: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/fixtures/config-cases/differences.json"
);

/// Cases, each with the flavors that are meant, or `all` that it was recorded with.
type Cases = BTreeMap<String, String>;

/// The three lists.
#[derive(Serialize, Deserialize)]
pub(super) struct Differences {
    /// What lockctl shall do otherwise.
    deliberate: Vec<Deliberate>,
    /// What needs values of variables, which are not computed yet.
    later: Vec<Later>,
    /// What is not right yet.
    pending: Cases,
}

#[derive(Serialize, Deserialize)]
struct Deliberate {
    /// Why; the page on differences says the same.
    reason: String,
    /// What a comparison finds: `accepted-here`, `other-error` or `wrong`.
    verdict: String,
    cases: Cases,
}

#[derive(Serialize, Deserialize)]
struct Later {
    reason: String,
    cases: Cases,
}

/// How a case came out, for one flavor.
pub(super) struct Outcome<'c> {
    pub(super) case: &'c str,
    pub(super) flavor: Flavor,
    pub(super) verdict: Verdict,
}

impl Differences {
    pub(super) fn read() -> Self {
        serde_json::from_str(&std::fs::read_to_string(PATH).unwrap()).unwrap()
    }

    /// Returns what is not as the lists say.
    pub(super) fn faults(&self, outcomes: &[Outcome<'_>]) -> Vec<String> {
        let mut faults = Vec::new();
        for outcome in outcomes {
            let (case, flavor, verdict) = (outcome.case, outcome.flavor, &outcome.verdict);
            let stated = self.stated(case, flavor);
            let fault = match stated.as_slice() {
                [] if *verdict == Verdict::Right => continue,
                [] => "not listed".to_owned(),
                [_] if *verdict == Verdict::Right => "listed, but right".to_owned(),
                [Some(kind)] if *kind != word(verdict) => format!("not {kind}"),
                [_] => continue,
                _ => "listed twice".to_owned(),
            };
            faults.push(format!("{case} {flavor}: {fault}: {verdict:?}"));
        }
        for (case, flavors) in self.lists().into_iter().flatten() {
            let recorded = |name: &str| {
                let mut outcomes = outcomes.iter();
                outcomes.any(|one| {
                    one.case == case && (name == "all" || one.flavor.to_string() == name)
                })
            };
            if !flavors.split(' ').all(recorded) {
                faults.push(format!("{case} {flavors}: nothing was recorded"));
            }
        }
        faults
    }

    /// Returns each list entry for a case, with the verdict that it states, if it does.
    fn stated(&self, case: &str, flavor: Flavor) -> Vec<Option<&str>> {
        let mut found = Vec::new();
        for group in &self.deliberate {
            found.extend(is_in(&group.cases, case, flavor).then_some(Some(&*group.verdict)));
        }
        for cases in self
            .later
            .iter()
            .map(|group| &group.cases)
            .chain([&self.pending])
        {
            found.extend(is_in(cases, case, flavor).then_some(None));
        }
        found
    }

    fn lists(&self) -> Vec<&Cases> {
        let deliberate = self.deliberate.iter().map(|group| &group.cases);
        let later = self.later.iter().map(|group| &group.cases);
        deliberate.chain(later).chain([&self.pending]).collect()
    }

    /// Takes off the later list what is right, and lists as pending whatever is on no other list.
    pub(super) fn overwrite(&mut self, outcomes: &[Outcome<'_>]) {
        let flavors = |outcomes: &mut dyn Iterator<Item = &Outcome<'_>>| -> String {
            let names = outcomes.map(|outcome| outcome.flavor.to_string());
            names.collect::<Vec<_>>().join(" ")
        };
        let wrong_of = |case: &str| {
            let wrong = outcomes
                .iter()
                .filter(|outcome| outcome.verdict != Verdict::Right);
            wrong
                .filter(|outcome| outcome.case == case)
                .collect::<Vec<_>>()
        };
        for group in &mut self.later {
            for (case, listed) in &mut group.cases {
                let list = Cases::from([(case.clone(), listed.clone())]);
                let wrong = wrong_of(case);
                let mut still = wrong
                    .iter()
                    .copied()
                    .filter(|one| is_in(&list, case, one.flavor));
                let all = outcomes
                    .iter()
                    .filter(|outcome| outcome.case == case)
                    .count();
                match wrong.len() == all && listed == "all" {
                    true => {}
                    false => *listed = flavors(&mut still),
                }
            }
            group.cases.retain(|_, flavors| !flavors.is_empty());
        }
        self.later.retain(|group| !group.cases.is_empty());
        self.pending.clear();
        for outcome in outcomes {
            let case = outcome.case;
            let mut wrong = wrong_of(case);
            wrong.retain(|one| self.stated(case, one.flavor).is_empty());
            if !wrong.is_empty() && !self.pending.contains_key(case) {
                let all = outcomes.iter().filter(|other| other.case == case).count();
                let names = match wrong.len() == all {
                    true => "all".to_owned(),
                    false => flavors(&mut wrong.into_iter()),
                };
                self.pending.insert(case.to_owned(), names);
            }
        }
        let text = serde_json::to_string_pretty(self).unwrap();
        std::fs::write(PATH, text + "\n").unwrap();
    }
}

fn is_in(cases: &Cases, case: &str, flavor: Flavor) -> bool {
    let flavors = cases.get(case).map_or("", String::as_str);
    let mut flavors = flavors.split(' ');
    flavors.any(|name| name == "all" || name == flavor.to_string())
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Right => "right",
        Verdict::Open(_) => "open",
        Verdict::OtherError(_) => "other-error",
        Verdict::Missed(_) => "accepted-here",
        Verdict::Wrong(_) => "wrong",
    }
}

#[test]
fn every_deliberate_difference_is_on_its_page() {
    let differences = Differences::read();
    assert!(differences.pending.is_empty(), "{:?}", differences.pending);
    let page = include_str!("../../../src/front/guide/topics/differences.md");
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for Deliberate { reason, .. } in &differences.deliberate {
        page.has(reason);
    }
}
