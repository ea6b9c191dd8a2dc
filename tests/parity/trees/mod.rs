//! Random module trees: what they require, and the lock file that comes of it.
//!
//! `LOCKCTL_TREES` says how many are tried, or with `FROM..TO` which ones; they are the same every
//! time. Some have a fault, and then the first error must have the same title; of several faults it
//! may be another one.

mod blocks;
mod counts;
mod faults;
mod files;
mod repair;
mod strategy;

use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use lockctl::config::{self, Settings};
use lockctl::diag::{Severity, Texts};
use lockctl::os::RealDisk;
use proptest::strategy::{Strategy as _, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::LOCK;
use crate::lab::Lab;
use crate::lockctl;
use crate::modules::{Modules, by_module};
use crate::terraform::Terraform;
use counts::Counts;
use strategy::Tree;

const TREES: usize = 100;
/// How many failing trees are made smaller, at most, and in how many steps.
const SHOWN: usize = 3;
const SHRINKS: usize = 60;
const SEED: [u8; 32] = *b"the same trees come every time  ";
const VERSIONS: [&str; 9] = [
    "0.9.0",
    "1.0.0",
    "1.1.0",
    "1.1.5",
    "1.2.0",
    "2.1.3",
    "3.0.0-beta1",
    "4.0.0",
    "4.1.0-rc1",
];
const PROVIDERS: [&str; 8] = [
    "registry.terraform.io/acme/alpha",
    "registry.terraform.io/acme/beta",
    "registry.terraform.io/hashicorp/alpha",
    "registry.terraform.io/hashicorp/beta",
    "registry.terraform.io/hashicorp/gamma",
    "registry.terraform.io/hashicorp/delta",
    "example.com/acme/alpha",
    "example.com:8443/acme/gamma",
];

/// What the title of some errors starts with, before details that ours has not.
const STATE: &str = "Error refreshing state";

/// Faults that change no requirement, so that lockctl does not look for them.
const ACCEPTED_HERE: [&str; 9] = [
    "Cannot override provider configuration",
    "Duplicate \"run\" block names",
    "Invalid variable name",
    "Missing required provider configuration",
    "Module is incompatible with count, for_each, and depends_on",
    "Provider type mismatch",
    "Reference to undefined provider",
    "Reserved argument name in provider block",
    "Unsupported backend type",
];

/// How lockctl differs from the program.
struct Difference {
    /// What is different, in a line.
    what: String,
    details: String,
}

#[test]
fn random_trees_require_what_terraform_says() {
    let Some(terraform) = Terraform::find() else {
        return;
    };
    let lab = Lab::new();
    let platform = lockctl::platform::Platform::current();
    for provider in PROVIDERS {
        for version in VERSIONS {
            let package = format!("{provider}/{version}/{platform}");
            lab.unpacked("mirror", &package, "fake");
        }
    }
    terraform.use_mirror(&lab);
    let range = wanted();
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &SEED);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let tree = strategy::tree();
    let trees = std::iter::repeat_with(|| tree.new_tree(&mut runner).unwrap());
    let trees = trees.take(range.end).skip(range.start);
    let mut trees: Vec<_> = trees.collect();
    let values: Vec<Tree> = trees.iter().map(|tree| tree.current()).collect();
    let counts = Counts::default();
    let failing = all_failing(&values, |at, tree| {
        compare(&terraform, &lab, &format!("t{at}"), tree, &counts)
    });
    let count = trees.len();
    println!("parity: {count} random trees\n{counts}");
    if failing.is_empty() {
        return;
    }
    for (at, what) in &failing {
        println!("tree {}: {what}", range.start + at);
    }
    let mut shown = Vec::new();
    for (at, what) in &failing {
        if shown.len() == SHOWN || shown.contains(&what) {
            continue;
        }
        shown.push(what);
        let again = |tree: &Tree| compare(&terraform, &lab, "smaller", tree, &Counts::default());
        let (tree, difference) = shrunk(&mut trees[*at], what, again);
        let at = range.start + at;
        println!("\ntree {at}, made smaller: {what}");
        println!(
            "{}\n{}",
            difference.map_or_else(String::new, |one| one.details),
            text(&tree)
        );
    }
    panic!("{} of {count} trees differ", failing.len());
}

/// Returns which trees are tried.
fn wanted() -> Range<usize> {
    let Ok(text) = std::env::var("LOCKCTL_TREES") else {
        return 0..TREES;
    };
    match text.split_once("..") {
        Some((from, to)) => from.parse().unwrap()..to.parse().unwrap(),
        None => 0..text.parse().unwrap(),
    }
}

/// Tries all, side by side; returns which ones fail, and how.
fn all_failing(
    trees: &[Tree],
    check: impl Fn(usize, &Tree) -> Result<(), Difference> + Sync,
) -> Vec<(usize, String)> {
    let (next, failing) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(tree) = trees.get(at) else {
                        return;
                    };
                    if let Err(difference) = check(at, tree) {
                        failing.lock().unwrap().push((at, difference.what));
                    }
                }
            });
        }
    });
    let mut failing = failing.into_inner().unwrap();
    failing.sort();
    failing
}

/// Makes a failing tree smaller as long as it fails in the same way; returns it and what is wrong
/// with it.
fn shrunk(
    tree: &mut impl ValueTree<Value = Tree>,
    what: &str,
    check: impl Fn(&Tree) -> Result<(), Difference>,
) -> (Tree, Option<Difference>) {
    let mut smallest = (tree.current(), None);
    let mut goes_on = true;
    for _ in 0..SHRINKS {
        if !goes_on {
            break;
        }
        let current = tree.current();
        goes_on = match check(&current) {
            Err(difference) if difference.what == what => {
                smallest = (current, Some(difference));
                tree.simplify()
            }
            _ => tree.complicate(),
        };
    }
    smallest
}

/// Returns every file with its path.
fn text(tree: &Tree) -> String {
    let files = files::files(tree).into_iter();
    let files = files.map(|(path, text)| format!("-- {path} --\n{text}"));
    files.collect()
}

/// Compares what the program and lockctl make of a tree.
fn compare(
    terraform: &Terraform,
    lab: &Lab,
    dir: &str,
    tree: &Tree,
    counts: &Counts,
) -> Result<(), Difference> {
    let (ours, theirs) = (format!("{dir}/ours"), format!("{dir}/theirs"));
    let files = files::files(tree);
    for (path, text) in &files {
        lab.write(&format!("{ours}/{path}"), text);
        lab.write(&format!("{theirs}/{path}"), text);
    }
    counts.tree(tree, &files);
    let both = Both {
        terraform,
        lab,
        ours,
        theirs,
        counts,
    };
    let compared = both.compare();
    std::fs::remove_dir_all(lab.path(dir)).unwrap();
    compared
}

/// One tree, once for each of the two.
struct Both<'a> {
    terraform: &'a Terraform,
    lab: &'a Lab,
    ours: String,
    theirs: String,
    counts: &'a Counts,
}

impl Both<'_> {
    fn compare(&self) -> Result<(), Difference> {
        let Self { terraform, lab, .. } = self;
        let (locks, init) = terraform.run(lab, &self.theirs, &["init", "-no-color"]);
        let (reads, providers) = terraform.run(lab, &self.theirs, &["providers", "-no-color"]);
        let said = format!("{init}\n{providers}");
        let (found, refused) = required(&lab.path(&self.ours), terraform);
        let title = errors(&said).next().filter(|_| !locks || !reads);
        if let Some(title) = title.filter(|title| ACCEPTED_HERE.contains(title))
            && refused.is_empty()
        {
            self.counts.add("accepted here", title);
            return Ok(());
        }
        if !reads || !refused.is_empty() {
            let found = refused.first().map(String::as_str);
            // Of several faults, one or the other may come first, and the program stops at some
            // before it comes to the others.
            let several = errors(&said).any(|title| Some(title) == found)
                || refused.iter().any(|found| Some(found.as_str()) == title);
            return match (found, title) {
                (Some(found), Some(title)) if found == title || several => {
                    self.counts.add("refused", found);
                    if found != title {
                        self.counts.add("refused", "with another title first");
                    }
                    Ok(())
                }
                _ => {
                    let what = format!("the first error is {found:?}, not {title:?}");
                    Err(Difference {
                        what,
                        details: said,
                    })
                }
            };
        }
        let wanted = parsed(&providers);
        if found != wanted {
            let what = "other requirements".to_owned();
            let details = format!("{found:#?} is required, not {wanted:#?}");
            return Err(Difference { what, details });
        }
        self.lock(locks, &init)
    }

    /// Compares the lock files, or the reasons for there being none.
    fn lock(&self, locks: bool, init: &str) -> Result<(), Difference> {
        let args = [
            "lock",
            &self.ours,
            "--fs-mirror",
            "mirror",
            "--platform",
            "current",
        ];
        let outcome = lockctl(self.lab, self.terraform, &args);
        let read = |dir: &str| std::fs::read_to_string(self.lab.path(dir).join(LOCK)).ok();
        let (found, wanted) = (read(&self.ours), read(&self.theirs));
        let title = errors(init).next().unwrap_or_default();
        if (outcome.code == 0) == locks && found == wanted {
            match locks {
                true => self.counts.add("locked", ""),
                false => self.counts.add("not locked", title),
            }
            return Ok(());
        }
        let what = match locks {
            true => format!("another lock file, {}", outcome.code),
            false => format!(
                "locked to {}, but not by the program: {title}",
                outcome.code
            ),
        };
        let details = format!("{outcome:#?}, {found:?}\nthe program: {wanted:?}\n{init}");
        Err(Difference { what, details })
    }
}

/// Returns the titles of all errors, in order.
pub(crate) fn errors(said: &str) -> impl Iterator<Item = &str> {
    let lines = said.lines().map(|line| line.trim_start_matches(['│', ' ']));
    let titles = lines.filter_map(|line| line.strip_prefix("Error: "));
    // Only what follows says what they are.
    let titles = titles.filter(|title| !title.starts_with("Terraform encountered problems"));
    titles.map(|title| match title.strip_prefix(STATE) {
        Some(rest) if rest.starts_with(':') => STATE,
        // Where the state would be moved to another backend, the error has no title.
        None if title.is_empty() => STATE,
        _ => title,
    })
}

/// Returns what each module requires as we read it, and the titles of all errors.
fn required(root: &Path, terraform: &Terraform) -> (Modules, Vec<String>) {
    let mut texts = Texts::default();
    let settings = Settings::new(terraform.rules);
    let loaded = config::load(&RealDisk, &mut texts, root, &settings);
    let problems = loaded.diagnostics.into_iter();
    let errors = problems.filter(|one| one.severity == Severity::Error);
    (
        by_module(&loaded.requirements),
        errors.map(|error| error.title).collect(),
    )
}

/// Reads the tree that `terraform providers` prints.
pub(crate) fn parsed(said: &str) -> Modules {
    let mut modules = Modules::new();
    let mut path: Vec<&str> = Vec::new();
    for line in said.lines() {
        if let Some(rest) = line.strip_prefix("    provider[") {
            let state = modules.entry("state".to_owned());
            let addr = rest.trim_end_matches(']').to_owned();
            state.or_default().insert(addr, String::new());
        }
        let Some(at) = line.find("── ") else {
            continue;
        };
        // Each level is three bars or blanks wide, and a branch.
        let depth = line[..at].chars().count() / 4;
        let item = line[at..].trim_start_matches("── ").trim();
        path.truncate(depth);
        match item.strip_prefix("provider[") {
            Some(rest) => {
                let (addr, text) = rest.split_once(']').unwrap();
                let here = modules.entry(path.join(".")).or_default();
                here.insert(addr.to_owned(), text.trim().to_owned());
            }
            None => path.push(item),
        }
    }
    modules
}
