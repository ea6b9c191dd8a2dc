//! Modules as `config` prints them: they mean to the programs what the original means.
//!
//! A module is what its seed makes it. `LOCKCTL_PARITY_SEED` and `LOCKCTL_PARITY_CASES` say which seeds are tried.

mod dynamic;
mod module;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use lockctl::parallel;

use crate::lab::Lab;
use crate::seed::number_from;
use crate::terraform::Terraform;

/// How many modules are made up, unless `LOCKCTL_PARITY_CASES` states another number.
const CASES: u64 = 40;
/// The first of them, unless `LOCKCTL_PARITY_SEED` states another one.
const SEED: u64 = 1;
/// How many are tried at once.
const AT_ONCE: NonZeroUsize = NonZeroUsize::new(2).expect("positive");
/// How much is printed of a module that differs, in characters.
const MAX_SHOWN: usize = 4000;

#[test]
fn generated_blocks_hold_what_the_programs_compute() {
    for program in programs() {
        compare_many(&program, "dynamic blocks", dynamic::compare);
    }
}

#[test]
fn printed_modules_mean_what_the_originals_mean() {
    for program in programs() {
        compare_many(&program, "override files", module::compare);
    }
}

fn programs() -> impl Iterator<Item = Terraform> {
    Terraform::find().into_iter().chain(Terraform::find_tofu())
}

/// Compares modules of all seeds, and prints how they ended.
fn compare_many<E: Ord + std::fmt::Debug + Send>(
    program: &Terraform,
    what: &str,
    compare: impl Fn(&Terraform, &Lab, u64) -> Result<E, String> + Sync,
) {
    let lab = Lab::new();
    let first = number_from("LOCKCTL_PARITY_SEED", SEED);
    let cases = number_from("LOCKCTL_PARITY_CASES", CASES);
    let seeds: Vec<u64> = (first..first + cases).collect();
    let compared = parallel::map(AT_ONCE, &seeds, |seed| compare(program, &lab, *seed));
    let mut ends: BTreeMap<&E, usize> = BTreeMap::new();
    for end in compared.iter().flatten() {
        *ends.entry(end).or_default() += 1;
    }
    let flavor = &program.flavor;
    println!("parity: {cases} modules with {what} from seed {first} by {flavor}");
    for (end, count) in &ends {
        println!("{count:6} {end:?}");
    }
    let failing = seeds.iter().zip(&compared);
    let failing: Vec<_> = failing
        .filter_map(|(seed, end)| Some((seed, end.as_ref().err()?)))
        .collect();
    for (seed, details) in failing.iter().take(3) {
        let details: String = details.chars().take(MAX_SHOWN).collect();
        println!("seed {seed}:\n{details}");
    }
    let differing = failing.iter().map(|(seed, _)| **seed).collect::<Vec<u64>>();
    assert!(differing.is_empty(), "{flavor}: seeds {differing:?} differ");
}
