//! Random trees with computed sources: what they require, and why they are refused.
//!
//! A tree is what its seed makes it. `LOCKCTL_PARITY_SEED` and `LOCKCTL_PARITY_CASES` say which seeds are
//! tried; `LOCKCTL_PARITY_ALL` prints every tree that differs. The programs are those that
//! `LOCKCTL_TERRAFORM_NEW` (Terraform 1.15 or later) and `LOCKCTL_TOFU` name.

mod expressions;
mod kinds;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use lockctl::config::{self, GivenValues, Settings, ValueArgument};
use lockctl::diag::{Severity, Texts};
use lockctl::os::RealDisk;
use lockctl::parallel;

use self::tree::{Language, Tree};
use crate::lab::Lab;
use crate::modules::{Modules, by_module};
use crate::seed::number_from;
use crate::terraform::Terraform;
use crate::trees::{errors, parsed};

/// How many trees are made up, unless `LOCKCTL_PARITY_CASES` states another number.
const CASES: u64 = 200;
/// The first of them, unless `LOCKCTL_PARITY_SEED` states another one.
const SEED: u64 = 1;
/// How many are tried at once.
const AT_ONCE: NonZeroUsize = NonZeroUsize::new(2).expect("positive");

/// What became of a tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// Both require the same.
    Required,
    /// Both refuse it with the same titles.
    Refused,
    /// Both refuse it, and one has further titles.
    RefusedFurther,
    /// lockctl does not know, and says why.
    Uncertain(String),
}

/// How the two differ.
#[derive(Debug, PartialEq, Eq)]
struct Difference {
    /// The same for trees that differ in the same way.
    what: String,
    details: String,
}

/// What one of the two makes of a tree.
#[derive(Debug, Default)]
struct Answer {
    modules: Modules,
    /// The titles of all errors, in order.
    errors: Vec<String>,
    /// What could not be computed.
    uncertain: Option<String>,
    /// A variable has no value, and no provider depends on it: the program stops there, and lockctl does not.
    lacks_value: bool,
}

#[test]
fn computed_sources_are_those_of_terraform() {
    if let Some(terraform) = Terraform::find_new() {
        compare_many(&terraform, Language::Terraform);
    }
}

#[test]
fn computed_sources_are_those_of_opentofu() {
    if let Some(tofu) = Terraform::find_tofu() {
        compare_many(&tofu, Language::OpenTofu);
    }
}

#[test]
fn every_seed_gives_a_tree_of_its_own() {
    for language in [Language::Terraform, Language::OpenTofu] {
        let texts: BTreeSet<String> = (0..50)
            .map(|seed| Tree::make_up(seed, language).text())
            .collect();
        assert_eq!(texts.len(), 50);
        let again = Tree::make_up(7, language).text();
        assert!(texts.contains(&again), "the same seed gives the same tree");
    }
}

fn compare_many(program: &Terraform, language: Language) {
    let first = number_from("LOCKCTL_PARITY_SEED", SEED);
    let cases = number_from("LOCKCTL_PARITY_CASES", CASES);
    let seeds: Vec<u64> = (first..first + cases).collect();
    let compared = parallel::map(AT_ONCE, &seeds, |seed| {
        compare(program, &Tree::make_up(*seed, language))
    });
    let mut ends: BTreeMap<&End, usize> = BTreeMap::new();
    for end in compared.iter().filter_map(|one| one.as_ref().ok()) {
        *ends.entry(end).or_default() += 1;
    }
    println!(
        "parity: {cases} trees with computed sources from seed {first} by {}",
        program.flavor
    );
    for (end, count) in &ends {
        println!("{count:6} {end:?}");
    }
    let failing = seeds.iter().zip(&compared);
    let failing = failing.filter_map(|(seed, one)| Some((*seed, one.as_ref().err()?)));
    let mut known = BTreeMap::new();
    for (seed, difference) in failing.clone() {
        println!("seed {seed}: {}", difference.what);
        known.entry(&difference.what).or_insert(seed);
    }
    let all = std::env::var_os("LOCKCTL_PARITY_ALL").is_some();
    for (what, seed) in known.into_iter().take(if all { usize::MAX } else { 3 }) {
        let (tree, difference) = smaller(program, Tree::make_up(seed, language), what);
        println!(
            "\nseed {seed}, made smaller: {what}\n{}\n{}",
            difference.details,
            tree.text()
        );
    }
    let count = failing.count();
    assert_eq!(count, 0, "{count} trees of {cases} differ");
    let required = ends.get(&End::Required).copied().unwrap_or_default() as u64;
    assert!(
        cases < CASES || required > cases / 4,
        "too few trees are required: {required}"
    );
}

/// Leaves out what does not matter to a difference.
fn smaller(program: &Terraform, mut tree: Tree, what: &str) -> (Tree, Difference) {
    let mut found = compare(program, &tree).unwrap_err();
    loop {
        let Some((next, difference)) = less(&tree).into_iter().find_map(|next| {
            let difference = compare(program, &next).err()?;
            (difference.what == what).then_some((next, difference))
        }) else {
            return (tree, found);
        };
        (tree, found) = (next, difference);
    }
}

/// Returns all trees with one piece less.
fn less(tree: &Tree) -> Vec<Tree> {
    let mut found = Vec::new();
    for (path, pieces) in &tree.files {
        for at in (0..pieces.len()).filter(|_| !path.starts_with("m/")) {
            let mut less = tree.clone();
            less.files.get_mut(path).unwrap().remove(at);
            found.push(less);
            // Of a block its arguments may be left out, too.
            let lines: Vec<&str> = pieces[at].lines().collect();
            for line in (1..lines.len().max(1) - 1).filter(|line| lines[*line].contains('=')) {
                let mut rest = lines.clone();
                rest.remove(line);
                let mut less = tree.clone();
                less.files.get_mut(path).unwrap()[at] = format!("{}\n", rest.join("\n"));
                found.push(less);
            }
        }
    }
    for at in 0..tree.env.len() {
        let mut less = tree.clone();
        less.env.remove(at);
        found.push(less);
    }
    for at in 0..tree.args.len() {
        let mut less = tree.clone();
        less.args.remove(at);
        found.push(less);
    }
    found
}

/// Compares what the program and lockctl make of a tree.
fn compare(program: &Terraform, tree: &Tree) -> Result<End, Difference> {
    let mut lab = Lab::new();
    for (path, pieces) in &tree.files {
        lab.write(&format!("root/{path}"), pieces.concat());
    }
    let variables = tree.env.iter();
    lab.env
        .vars
        .extend(variables.map(|(name, text)| (name.clone(), text.into())));
    let ours = ours(program, &lab, tree);
    let (theirs, said) = theirs(program, &lab, tree);
    let different = |what: String| {
        let mut details = format!("ours: {ours:#?}\ntheirs: {theirs:#?}\n");
        writeln!(details, "{said}").unwrap();
        Err(Difference { what, details })
    };
    let [mine, other] =
        [&ours, &theirs].map(|answer| answer.errors.iter().collect::<BTreeSet<_>>());
    match (&ours.uncertain, mine.is_empty(), other.is_empty()) {
        (_, false, true) => different(format!("we alone refuse it: {mine:?}")),
        (_, false, false) if mine == other => Ok(End::Refused),
        (_, false, false) if ours.shares_first(&theirs) => Ok(End::RefusedFurther),
        (_, false, false) => different(format!("errors are {mine:?}, not {other:?}")),
        (Some(reason), true, _) => Ok(End::Uncertain(reason.clone())),
        (None, true, false) if ours.lacks_value && theirs.is_about_values() => Ok(End::Uncertain(
            "a variable that no provider needs".to_owned(),
        )),
        (None, true, false) => different(format!("the program alone refuses it: {other:?}")),
        (None, true, true) if ours.modules == theirs.modules => Ok(End::Required),
        (None, true, true) => different("other requirements".to_owned()),
    }
}

impl Answer {
    /// Returns whether all errors are about values that were not given.
    fn is_about_values(&self) -> bool {
        self.errors.iter().all(|title| {
            title == "Unable to compute static value"
                || title.starts_with("Failed to request input")
        })
    }

    /// Returns whether the first error of one is among those of the other: the program stops at some
    /// before it comes to the others.
    fn shares_first(&self, other: &Self) -> bool {
        let is_first = |one: &Self, other: &Self| {
            one.errors
                .first()
                .is_some_and(|title| other.errors.contains(title))
        };
        is_first(self, other) || is_first(other, self)
    }
}

fn ours(program: &Terraform, lab: &Lab, tree: &Tree) -> Answer {
    let mut settings = Settings::new(program.rules);
    for (name, text) in &tree.env {
        match name.strip_prefix(config::VALUE_PREFIX) {
            Some(name) => drop(
                settings
                    .values
                    .environment
                    .insert(name.to_owned(), text.clone()),
            ),
            None => settings.workspace = Some(text.clone()),
        }
    }
    let GivenValues { arguments, .. } = &mut settings.values;
    arguments.extend(
        tree.args
            .iter()
            .map(|argument| match argument.strip_prefix("-var-file=") {
                Some(path) => ValueArgument::File(PathBuf::from(path)),
                None => {
                    let (name, text) = argument["-var=".len()..].split_once('=').unwrap();
                    ValueArgument::Value {
                        name: name.to_owned(),
                        text: text.to_owned(),
                    }
                }
            }),
    );
    let root = lab.path("root").canonicalize().unwrap();
    settings.absolute_root = Some(root.clone());
    let mut texts = Texts::default();
    let loaded = config::load(&RealDisk, &mut texts, &root, &settings);
    let mut answer = Answer::default();
    for diagnostic in &loaded.diagnostics {
        if diagnostic.severity == Severity::Error {
            answer.errors.push(diagnostic.title.clone());
        }
    }
    if let Some(call) = loaded.requirements.unseen_calls.first() {
        let notes = loaded
            .diagnostics
            .iter()
            .filter(|one| one.code == "module-not-visible");
        let reason = notes
            .flat_map(|one| &one.related)
            .map(|label| label.note.clone())
            .next();
        answer.uncertain = Some(reason.unwrap_or_else(|| call.source.clone()));
    }
    answer.lacks_value = !loaded.missing_values.variables.is_empty();
    answer.modules = by_module(&loaded.requirements);
    answer
}

fn theirs(program: &Terraform, lab: &Lab, tree: &Tree) -> (Answer, String) {
    let mut said = String::new();
    let mut answer = Answer::default();
    for command in ["get", "providers"] {
        let mut args = vec![command, "-no-color"];
        args.extend(tree.args.iter().map(String::as_str));
        let (succeeded, text) = program.run(lab, "root", &args);
        answer.modules = parsed(&text);
        said += &text;
        if !succeeded {
            answer.errors = errors(&text).map(title).collect();
            assert!(!answer.errors.is_empty(), "an error has a title: {text}");
            break;
        }
    }
    (answer, said)
}

/// Leaves out of a title what names things in any order.
fn title(title: &str) -> String {
    match title.starts_with("Cycle: ") {
        true => "Cycle".to_owned(),
        false => title.to_owned(),
    }
}
