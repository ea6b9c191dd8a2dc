//! Requirements that no version meets: which places clash, and what would solve it.

use super::outdated::{locks, mirror, outdated, requires};
use super::*;

fn lock(lab: &Lab) -> Outcome {
    lab.run(&words(
        "lock --flavor terraform@1.11 --fs-mirror mirror --platform linux_amd64",
    ))
}

/// A root that requires provider `a` in its own way, and a module for each further one.
fn modules(offered: &[&str], root: &str, others: &[&str]) -> Lab {
    let lab = mirror(&[("a", offered)]);
    let mut main = requires(&[("a", root)]);
    for (at, constraint) in others.iter().enumerate() {
        main += &format!("module \"m{at}\" {{\n  source = \"./m{at}\"\n}}\n");
        lab.write(&format!("m{at}/main.tf"), requires(&[("a", constraint)]));
    }
    lab.write("main.tf", main);
    lab
}

const OFFERED: &[&str] = &["1.0.0", "1.4.0", "2.0.0", "2.1.0"];

#[test]
fn two_places_that_exclude_each_other_are_named_with_the_ways_out() {
    let lab = modules(OFFERED, ">= 2.0.0", &["", ">= 1.0", "< 2.0.0"]);
    let outcome = lock(&lab).exits(2);
    outcome.stderr.clone().reads(str![[r#"
error: no offered version of example.com/t/a meets the constraints ">= 1.0.0, >= 2.0.0, < 2.0.0"
  cause: no version can meet all of these: ">= 2.0.0" at main.tf:3, "< 2.0.0" at m2/main.tf:3 (module.m2)
  cause: the newest offered version that each allows: 2.1.0 by ">= 2.0.0", 1.4.0 by "< 2.0.0"
  help: to select 2.1.0, change "< 2.0.0" at m2/main.tf:3 (module.m2); to select 1.4.0, change ">= 2.0.0" at main.tf:3

"#]]);
    assert!(!lab.path(LOCK).exists());
    // The others say the same.
    outdated(&lab, &[]).exits(2).stderr_has(&outcome.stderr);
}

#[test]
fn one_place_that_allows_nothing_offered_is_named_alone() {
    let lab = modules(OFFERED, ">= 3.0.0", &["< 2.0.0, != 1.4.0"]);
    lock(&lab).exits(2).stderr_eq(str![[r#"
error: no offered version of example.com/t/a meets the constraints "!= 1.4.0, < 2.0.0, >= 3.0.0"
  cause: no version can meet all of these: ">= 3.0.0" at main.tf:3, "!= 1.4.0, < 2.0.0" at m0/main.tf:3 (module.m0)
  cause: the newest offered version that each allows: none by ">= 3.0.0", 1.0.0 by "!= 1.4.0, < 2.0.0"
  help: to select 1.0.0, change ">= 3.0.0" at main.tf:3

"#]]);
    let lab = modules(&["1.0.0"], "> 1.0.0", &[]);
    lock(&lab).stderr.reads(str![[r#"
error: no offered version of example.com/t/a meets the constraints "> 1.0.0"
  cause: "> 1.0.0" at main.tf:3 does not allow the only offered version, 1.0.0
  help: to select 1.0.0, change "> 1.0.0" at main.tf:3

"#]]);
    let lab = modules(OFFERED, "> 2.0.0, < 1.0.0", &[]);
    lock(&lab).stderr.reads(str![[r#"
error: no offered version of example.com/t/a meets the constraints "< 1.0.0, > 2.0.0"
  cause: "< 1.0.0, > 2.0.0" at main.tf:3 excludes every version
  help: to select 2.1.0, change "< 1.0.0, > 2.0.0" at main.tf:3

"#]]);
}

#[test]
fn places_that_leave_only_what_is_not_offered_are_named() {
    let lab = modules(OFFERED, "> 1.4.0", &["< 2.0.0", "< 2.0.0"]);
    lock(&lab).exits(2).stderr_eq(str![[r#"
error: no offered version of example.com/t/a meets the constraints "> 1.4.0, < 2.0.0"
  cause: together these do not allow any of the 4 offered versions: "> 1.4.0" at main.tf:3, "< 2.0.0" at m0/main.tf:3 (module.m0) and at 1 more place
  cause: the newest offered version that each allows: 2.1.0 by "> 1.4.0", 1.4.0 by "< 2.0.0"
  help: to select 2.1.0, change "< 2.0.0" at m0/main.tf:3 (module.m0) and at 1 more place; to select 1.4.0, change "> 1.4.0" at main.tf:3

"#]]);
}

#[test]
fn a_pre_release_that_must_be_named_is_offered_as_the_way_out() {
    let lab = modules(&["1.0.0", "2.0.0-rc1"], ">= 2.0.0-rc1", &[]);
    lock(&lab).stderr.reads(str![[r#"
error: no offered version of example.com/t/a meets the constraints ">= 2.0.0-rc1"
  cause: ">= 2.0.0-rc1" at main.tf:3 does not allow any of the 2 offered versions
  help: a pre-release is selected only where a constraint names it exactly: to select the newest one that meets the others, write version = "2.0.0-rc1"

"#]]);
    let lab = modules(&["2.0.0-rc1"], "", &[]);
    lock(&lab).stderr.reads(str![[r#"
error: no offered version of example.com/t/a is a release, and no constraint names a pre-release exactly
  cause: required in main.tf:3
  help: a pre-release is selected only where a constraint names it exactly: to select the newest one that meets the others, write version = "2.0.0-rc1"

"#]]);
}

#[test]
fn a_locked_version_outside_the_constraints_moves_by_update() {
    let lab = modules(OFFERED, "~> 2.0", &[">= 1.0", "> 1.0.0"]);
    lab.write(LOCK, locks(&[("a", "1.0.0")]));
    lock(&lab).exits(2).stderr_eq(str![[r#"
error: the locked version 1.0.0 of example.com/t/a does not meet the constraints "> 1.0.0, >= 1.0.0, ~> 2.0"
  cause: "~> 2.0" at main.tf:3, "> 1.0.0" at m1/main.tf:3 (module.m1) do not allow 1.0.0
  help: run `lockctl update . --flavor terraform@1.11 --fs-mirror mirror example.com/t/a` to select another version, or change the constraint

"#]]);
    // Here it would move by a command, so nothing failed.
    let compared = outdated(&lab, &[]).exits(0);
    compared.stdout_eq(str![[r#"
PROVIDER         LOCKED  ALLOWED        NEWEST         STATE
example.com/t/a  1.0.0   2.1.0 (major)  2.1.0 (major)  not allowed
.terraform.lock.hcl: 1 provider: 1 not allowed

"#]]);
    compared.stderr_eq(str![[r#"
warning: the locked version 1.0.0 of example.com/t/a does not meet the constraints "> 1.0.0, >= 1.0.0, ~> 2.0"; "~> 2.0" at main.tf:3, "> 1.0.0" at m1/main.tf:3 (module.m1) do not allow 1.0.0; run `lockctl update . --flavor terraform@1.11 --fs-mirror mirror example.com/t/a` to select another version, or change the constraint
note: `lockctl update . --flavor terraform@1.11 --fs-mirror mirror` moves what can be updated

"#]]);
}

#[test]
fn a_locked_version_moves_nowhere_if_the_constraints_exclude_each_other() {
    let lab = modules(OFFERED, "~> 2.0", &["< 2.0.0"]);
    lab.write(LOCK, locks(&[("a", "1.0.0")]));
    lock(&lab).stderr.reads(str![[r#"
error: the locked version 1.0.0 of example.com/t/a does not meet the constraints "~> 2.0, < 2.0.0"
  cause: "~> 2.0" at main.tf:3 does not allow 1.0.0
  cause: no version can meet all of these: "~> 2.0" at main.tf:3, "< 2.0.0" at m0/main.tf:3 (module.m0)
  help: change one of these constraints

"#]]);
}

/// Hundreds of places, of which no two make the conflict.
#[test]
fn the_message_about_hundreds_of_places_is_short() {
    let offered: Vec<String> = (0..40).map(|patch| format!("1.0.{patch}")).collect();
    let offered: Vec<&str> = offered.iter().map(String::as_str).collect();
    let excluded: Vec<String> = (0..300).map(|patch| format!("!= 1.0.{patch}")).collect();
    let excluded: Vec<&str> = excluded.iter().map(String::as_str).collect();
    let lab = modules(&offered, "~> 1.0.0", &excluded);
    lock(&lab).exits(2).stderr_eq(str![[r#"
error: no offered version of example.com/t/a meets the constraints "~> 1.0.0, != 1.0.0, != 1.0.1, != 1.0.2, != 1.0.3, != 1.0.4, != 1.0.5, != 1.0.6, and 293 more"
  cause: together these do not allow any of the 40 offered versions: "~> 1.0.0" at main.tf:3, "!= 1.0.0" at m0/main.tf:3 (module.m0), "!= 1.0.1" at m1/main.tf:3 (module.m1), "!= 1.0.2" at m2/main.tf:3 (module.m2), "!= 1.0.3" at m3/main.tf:3 (module.m3) and 296 more
  cause: the newest offered version that each allows: 1.0.39 by "~> 1.0.0", 1.0.39 by "!= 1.0.0", 1.0.39 by "!= 1.0.1", 1.0.39 by "!= 1.0.2", 1.0.39 by "!= 1.0.3" and 296 more
  help: to select 1.0.39, change "!= 1.0.39" at m39/main.tf:3 (module.m39); to select 1.0.38, change "!= 1.0.38" at m38/main.tf:3 (module.m38); to select 1.0.37, change "!= 1.0.37" at m37/main.tf:3 (module.m37)

"#]]);
    let compared = outdated(&lab, &[]).exits(2);
    let longest = compared.stdout.lines().map(str::len).max();
    assert!(longest < Some(400), "{}", compared.stdout);
}

#[test]
fn programs_read_what_each_place_allows() {
    let lab = modules(OFFERED, ">= 2.0.0", &["< 2.0.0"]);
    let outcome = outdated(&lab, &["--format", "json"]).exits(2);
    let said = outcome.json();
    let row = &said["roots"][0]["providers"][0];
    assert_eq!(row["state"], "conflict");
    assert_eq!(row["newest_allowed"], Value::Null);
    let places = row["conflict"].as_array().expect("places");
    let told = places.iter().map(|one| {
        let field = |name: &str| one[name].as_str().unwrap_or("-").to_owned();
        ["file", "constraints", "module", "allows", "without"].map(field)
    });
    let told: Vec<[String; 5]> = told.collect();
    assert_eq!(
        told,
        [
            ["main.tf", ">= 2.0.0", "", "2.1.0", "1.4.0"],
            ["m0/main.tf", "< 2.0.0", "module.m0", "1.4.0", "2.1.0"],
        ]
    );
}
