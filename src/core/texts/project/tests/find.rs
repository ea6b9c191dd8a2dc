//! Which directories are roots.

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::SystemTime;

use crate::diag::Texts;
use crate::flavor::{Flavor, FlavorChoice};
use crate::project::roots::{
    FoundRoots, GitEvidence, MAX_DEPTH, RootSearch, RootsError, UnitRoots, find,
};
use crate::project::{ProjectPlace, Projects};
use crate::world::mem::{MemFiles, slashed};

const BACKEND: &str = "terraform {\n  backend \"s3\" {}\n}\n";
const PLAIN: &str = "locals {}\n";

fn found(files: &MemFiles, tops: &[&str]) -> FoundRoots {
    let flavor = |_: &ProjectPlace, _: FlavorChoice| Flavor::Terraform1_11;
    let search = RootSearch {
        files,
        flavor: &flavor,
        data_dir: Path::new(".data"),
        jobs: NonZeroUsize::new(3).expect("positive"),
        units: UnitRoots::Named,
        git: GitEvidence::NONE,
    };
    let place = |top: &&str| ProjectPlace::new(Path::new(top), Path::new("/"));
    let tops: Vec<ProjectPlace> = tops.iter().map(place).collect();
    let mut projects = Projects::nearest(files, SystemTime::UNIX_EPOCH);
    find(search, &mut projects, &mut Texts::default(), &tops)
}

/// Checks the roots, and behind `|` the directories that none covers.
#[track_caller]
fn check(files: &[(&str, &str)], tops: &[&str], wanted: &str) {
    let found = found(&MemFiles::with(files), tops);
    assert!(found.failures.is_empty(), "{:?}", found.failures);
    let list = |dirs: &[std::path::PathBuf]| {
        let shown: Vec<String> = dirs.iter().map(slashed).collect();
        shown.join(" ")
    };
    let all = format!("{} | {}", list(&found.roots), list(&found.not_locked));
    assert_eq!(all, wanted);
}

fn calling(source: &str) -> String {
    format!("{BACKEND}module \"m\" {{\n  source = {source:?}\n}}\n")
}

#[test]
fn a_lock_file_a_pattern_or_a_backend_makes_a_root() {
    check(
        &[
            (".lockctl.hcl", "roots = [\"live/*\"]\n"),
            (".git/HEAD", ""),
            ("locked/.terraform.lock.hcl", ""),
            ("backed/main.tf", BACKEND),
            ("cloud/main.tf.json", r#"{"terraform": {"cloud": {}}}"#),
            ("live/a/main.tf", PLAIN),
            ("live/empty/README.md", ""),
            ("live/a/deep/main.tf", PLAIN),
            ("lib/main.tf", PLAIN),
        ],
        &["."],
        "backed cloud live/a locked | lib live/a/deep",
    );
}

#[test]
fn a_directory_that_another_root_calls_is_none() {
    let (to_m, to_n) = (calling("../m"), calling("../n"));
    let files = [
        ("a/main.tf", &*to_m),
        ("m/main.tf", &*to_n),
        ("n/main.tf", PLAIN),
    ];
    check(&files, &["."], "a | ");
    check(&files, &["m", "n"], "m | ");
}

#[test]
fn a_lock_file_makes_a_root_whatever_calls_it() {
    let (to_m, to_n) = (calling("../m"), calling("../n"));
    let files = [
        ("a/main.tf", &*to_m),
        ("m/main.tf", &*to_n),
        ("m/.terraform.lock.hcl", ""),
        ("n/main.tf", &*to_m),
        ("o/.terragrunt-cache/x/.terraform.lock.hcl", ""),
    ];
    check(&files, &["."], "a m | ");
}

#[test]
fn of_a_circle_the_first_one_is_a_root() {
    let (to_a, to_b, itself) = (calling("../a"), calling("../b"), calling("../c"));
    let files = [("a/x.tf", &*to_b), ("b/x.tf", &*to_a), ("c/x.tf", &*itself)];
    check(&files, &["."], "a c | ");
}

#[test]
fn what_git_ignores_and_what_belongs_to_programs_is_skipped() {
    check(
        &[
            (".git/HEAD", ""),
            (".gitignore", "skipped/\n/build\n*.d\n"),
            ("a/skipped/main.tf", BACKEND),
            ("build/main.tf", BACKEND),
            ("a/build/main.tf", BACKEND),
            ("a/x.d/main.tf", BACKEND),
            ("b/.gitignore", "!x.d\n"),
            ("b/x.d/main.tf", BACKEND),
            ("b/.terraform/modules/m/main.tf", BACKEND),
            ("b/.data/modules/m/main.tf", BACKEND),
            ("b/.git/main.tf", BACKEND),
        ],
        &["."],
        "a/build b/x.d | ",
    );
}

#[test]
fn files_above_count_as_far_as_the_repository_goes() {
    let files = [
        ("w/.gitignore", "a\n"),
        ("w/r/.git/HEAD", ""),
        ("w/r/.gitignore", "b\n"),
        ("w/r/live/a/main.tf", BACKEND),
        ("w/r/live/b/main.tf", BACKEND),
        ("w/r/inner/.git/HEAD", ""),
        ("w/r/inner/b/main.tf", BACKEND),
    ];
    check(&files, &["w/r/live"], "w/r/live/a | ");
    // A repository in the repository has rules of its own.
    check(&files, &["w/r"], "w/r/inner/b w/r/live/a | ");
    // What was named is wanted.
    check(&files, &["w/r/live/b"], "w/r/live/b | ");
}

#[test]
fn a_root_counts_once() {
    let files = [("a/main.tf", BACKEND), ("a/b/main.tf", BACKEND)];
    check(&files, &["a", "./a/", "a/b", "."], "a a/b | ");
}

#[test]
fn a_broken_project_file_stands_for_all_that_it_governs() {
    check(
        &[
            ("a/main.tf", BACKEND),
            ("x/.lockctl.hcl", "rots = []\n"),
            ("x/b/main.tf", BACKEND),
            ("x/c/main.tf", PLAIN),
            ("x/own/.lockctl.hcl", ""),
            ("x/own/main.tf", BACKEND),
        ],
        &["."],
        "a x x/own | ",
    );
}

#[test]
fn too_deep_is_reported() {
    let deep = format!("{}main.tf", "d/".repeat(MAX_DEPTH + 1));
    let found = found(
        &MemFiles::with(&[(&deep, BACKEND), ("a/x.tf", BACKEND)]),
        &["."],
    );
    assert_eq!(found.roots, [Path::new("a")]);
    assert!(matches!(&*found.failures, [RootsError::TooDeep { .. }]));
}

#[test]
fn units_are_roots_if_they_are_locked_or_named() {
    let unit = "terraform {\n  source = \"../m\"\n}\n";
    check(
        &[
            (".lockctl.hcl", "roots = [\"named/**\"]\n"),
            (".git/HEAD", ""),
            ("locked/terragrunt.hcl", ""),
            ("locked/.terraform.lock.hcl", ""),
            ("named/terragrunt.hcl", "generate \"p\" {}\n"),
            ("named/a/terragrunt.hcl", unit),
            ("named/empty/terragrunt.hcl", ""),
            ("named/broken/terragrunt.hcl", "x = \n"),
            ("named/own/terragrunt.hcl", "generate \"p\" {}\n"),
            ("named/stack/terragrunt.stack.hcl", ""),
            ("other/terragrunt.hcl", unit),
            ("other/.terragrunt-cache/x/terragrunt.hcl", unit),
            ("other/s/a.tfcomponent.hcl", ""),
        ],
        &["."],
        "locked named/a named/broken named/own | other other/s",
    );
}
