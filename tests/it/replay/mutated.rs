//! The recorded scenarios, with answers that are changed at random: cut, slow, repeated, oversized, of another type
//! or charset, redirected to themselves, to files or to link-local addresses, with too many headers.
//!
//! Each run ends soon, says why in a few lines, and writes no hash that is not one of its release.
//!
//! | Variable | For |
//! |---|---|
//! | `LOCKCTL_MUTATIONS` | number of runs |
//! | `LOCKCTL_MUTATIONS_SEED` | seed of the first one; each has its own |

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::commands::Counterpart;
use super::scenarios::play;
use super::{Replayed, entries};
use crate::lab::Lab;
use crate::registry::{Mutation, Registry};
use crate::scenarios::{Engine, LockAfter, Packages, Scenario, scenarios};
use crate::seed::{Seed, number_from};

/// Number of runs, unless `LOCKCTL_MUTATIONS` says so.
const RUNS: u64 = 150;

/// Groups whose scenarios make requests.
const GROUPS: [&str; 8] = [
    "registry",
    "discovery",
    "documents",
    "sums",
    "signatures",
    "package-hashes",
    "netmirror",
    "shims",
];

/// Time limit of a run, in which a server may stall several times.
const MAX_TIME: Duration = Duration::from_secs(60);

/// Maximum length of everything that is printed, in bytes.
const MAX_PRINTED: usize = 64 << 10;

/// How many times sooner an answer is given up than stated.
const HURRY: u32 = 50;

#[test]
fn mutated_answers_are_bounded_and_nothing_wrong_is_written() {
    let registry = Registry::start();
    Packages::recorded().publish(&registry);
    let all: Vec<(Scenario, Engine)> = GROUPS
        .into_iter()
        .flat_map(scenarios)
        // A mirror on the disk holds another package there, and is believed.
        .filter(|scenario| !scenario.id.ends_with("-then-fs"))
        .flat_map(|scenario| {
            let engines: Vec<Engine> = scenario.engines().collect();
            engines
                .into_iter()
                .map(move |engine| (scenario.clone(), engine))
        })
        .collect();
    let runs = number_from("LOCKCTL_MUTATIONS", RUNS);
    let first = number_from("LOCKCTL_MUTATIONS_SEED", 1);
    let (mut codes, mut faults) = (BTreeMap::<u8, usize>::new(), Vec::new());
    let (start, mut longest) = (Instant::now(), Duration::ZERO);
    let mut number = first;
    while number < first + runs {
        let mut seed = Seed::new(number);
        let (scenario, engine) = seed.pick(&all);
        let (begin, replayed) = (
            Instant::now(),
            mutated(&registry, scenario, *engine, number),
        );
        number += 1;
        let Some((replayed, expected)) = replayed else {
            continue;
        };
        let elapsed = begin.elapsed();
        longest = longest.max(elapsed);
        *codes.entry(replayed.outcome.code).or_default() += 1;
        if let Some(fault) = fault(&replayed, &expected, elapsed) {
            let (id, outcome) = (&scenario.id, &replayed.outcome);
            faults.push(format!(
                "seed {}: {id} with {engine:?}: {fault}\n{outcome:#?}",
                number - 1
            ));
        }
    }
    println!(
        "{runs} seeds from {first}: exit codes {codes:?}, {:?}, the longest run {longest:?}",
        start.elapsed()
    );
    assert!(codes[&2] > 0 && codes[&0] > 0, "{codes:?}");
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n\n")
    );
}

/// Plays a scenario with changed answers; returns what came of it beside the recorded lock file, or nothing, if it
/// makes no requests.
fn mutated(
    registry: &Registry,
    scenario: &Scenario,
    engine: Engine,
    number: u64,
) -> Option<(Replayed, String)> {
    let mut lab = Lab::new();
    let mut run = scenario.lay_out(registry, &lab, engine);
    let last = run.steps.last()?;
    let args: Vec<&str> = last.args.iter().map(String::as_str).collect();
    if !matches!(Counterpart::of(engine, &args), Counterpart::Run(..)) {
        return None;
    }
    lab.hurry = HURRY;
    registry.mutate(Some(Mutation::new(number)));
    let replayed = play(registry, &mut lab, &mut run, engine);
    registry.mutate(None);
    let expected = match run.expected.lock {
        LockAfter::Text(text) => text,
        LockAfter::Absent | LockAfter::Unchanged => String::new(),
    };
    Some((replayed, expected))
}

fn fault(replayed: &Replayed, expected: &str, elapsed: Duration) -> Option<String> {
    let (before, after) = (&replayed.before, &replayed.after);
    let outcome = &replayed.outcome;
    let said = format!("{}{}", outcome.stdout, outcome.stderr);
    let hidden =
        |c: char| c.is_control() && c != '\n' || matches!(c, '\u{ad}' | '\u{202e}' | '\u{feff}');
    if elapsed > MAX_TIME {
        return Some(format!("it takes {elapsed:?}"));
    }
    if outcome.code > 2 || said.contains("this is a bug") {
        return Some("it breaks".to_owned());
    }
    if outcome.code != 0 && said.trim().is_empty() {
        return Some("it does not say why it fails".to_owned());
    }
    if said.len() > MAX_PRINTED {
        return Some(format!("it prints {} bytes", said.len()));
    }
    if said.contains(hidden) || said.lines().any(|line| line.starts_with("::")) {
        return Some("it prints what a terminal obeys".to_owned());
    }
    if said.contains("root:x:0:0") {
        return Some("it reads a file of this machine".to_owned());
    }
    if outcome.code == 2 && before != after {
        return Some("it fails, and writes".to_owned());
    }
    let old = before.as_deref().map(entries).unwrap_or_default();
    let hashes = &Packages::recorded().hashes;
    for (provider, (version, written)) in after.as_deref().map(entries).unwrap_or_default() {
        let (_, type_name) = provider.rsplit_once('/')?;
        let release = format!("({type_name}/{version}/");
        let is_known = |hash: &String| {
            let mut symbols = hashes.iter();
            symbols.any(|(symbol, value)| symbol.contains(&release) && value == hash)
                || expected.contains(&**hash)
                || old
                    .get(&provider)
                    .is_some_and(|(_, old)| old.contains(hash))
        };
        if let Some(wrong) = written.iter().find(|hash| !is_known(hash)) {
            return Some(format!(
                "it writes {wrong} for {provider} {version}: {after:?}"
            ));
        }
    }
    None
}
