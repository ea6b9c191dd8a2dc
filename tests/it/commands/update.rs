//! `update`: which versions move, what stays, and what is said of both.

use super::*;

/// A root that requires two providers, and a mirror with some versions of them for two platforms.
fn two() -> Lab {
    let lab = Lab::new();
    require(&lab, "~> 1.0", ">= 0.1.0");
    for (name, versions) in [
        ("x", &["1.0.0", "1.0.9", "1.1.0", "1.4.0", "2.0.0"][..]),
        ("y", &["0.1.0", "0.1.1", "0.2.0", "0.3.0-rc1"]),
    ] {
        for version in versions {
            for platform in ["linux_amd64", "darwin_arm64"] {
                let package = format!("example.com/t/{name}/{version}/{platform}");
                lab.unpacked("mirror", &package, &package);
            }
        }
    }
    lab
}

fn require(lab: &Lab, x: &str, y: &str) {
    let entry = |name: &str, constraints: &str| {
        format!("    {name} = {{ source = \"example.com/t/{name}\", version = {constraints:?} }}\n")
    };
    let entries = entry("x", x) + &entry("y", y);
    lab.write(
        "main.tf",
        format!("terraform {{\n  required_providers {{\n{entries}  }}\n}}\n"),
    );
}

/// The same with a lock file that has these versions.
fn locked(x: &str, y: &str) -> Lab {
    let lab = two();
    require(&lab, x, y);
    assert_exit(&run(&lab, "lock", BOTH), 0);
    require(&lab, "~> 1.0", ">= 0.1.0");
    lab
}

fn run(lab: &Lab, command: &str, more: &[&str]) -> Outcome {
    let args = [command, "--fs-mirror", "mirror", "--flavor", "terraform"];
    lab.run(&[&args, more].concat())
}

fn update(lab: &Lab, more: &[&str]) -> Outcome {
    run(lab, "update", &[BOTH, more].concat())
}

/// Returns the versions of the lock file, in its order.
fn versions(lab: &Lab) -> String {
    let lock = lab.read(LOCK);
    let lines = lock
        .lines()
        .filter_map(|line| line.trim().strip_prefix("version "));
    let versions: Vec<&str> = lines.filter_map(|line| line.split('"').nth(1)).collect();
    versions.join(" ")
}

/// Updates a root with the versions 1.0.0 and 0.1.0.
#[track_caller]
fn check(args: &[&str], wanted: &str) {
    let lab = locked("1.0.0", "0.1.0");
    let outcome = update(&lab, args).exits(0);
    assert_eq!(versions(&lab), wanted, "{outcome:#?}");
}

#[test]
fn versions_move_to_the_newest_that_is_allowed_and_near_enough() {
    check(&[], "1.4.0 0.2.0");
    check(&["--minor"], "1.4.0 0.2.0");
    check(&["--patch"], "1.0.9 0.1.1");
}

#[test]
fn named_providers_move_and_others_stay() {
    check(&["example.com/t/x"], "1.4.0 0.1.0");
    check(&["y"], "1.0.0 0.2.0");
    check(&["x@1.1.0"], "1.1.0 0.1.0");
    check(&["x@1.1.0", "y"], "1.1.0 0.2.0");
    check(&["x", "--patch"], "1.0.9 0.1.0");
}

#[test]
fn a_directory_is_named_as_in_other_commands() {
    let lab = locked("1.0.0", "0.1.0");
    let (config, lock) = (lab.read("main.tf"), lab.read(LOCK));
    for dir in ["live/team3/svc5", "live/team3/eu/svc6", "svc7"] {
        lab.write(&format!("{dir}/main.tf"), &config)
            .write(&format!("{dir}/{LOCK}"), &lock);
        let outcome = update(&lab, &[dir]);
        // A single name is a type of a provider.
        let exit = if dir.contains('/') { 0 } else { 2 };
        assert_exit(&outcome, exit);
        let is_moved = lab.read(&format!("{dir}/{LOCK}")) != lock;
        assert_eq!(is_moved, exit == 0, "{outcome:#?}");
        assert_eq!(lab.read(LOCK), lock);
    }
    // Nothing is left to move there.
    let outcome = update(&lab, &["live/team3/svc5", "live/team3/eu/svc6"]);
    outcome.stdout_has("2 roots: lock file is up to date");
    let outcome = run(&lab, "outdated", &["y", "live/team3/svc5", "."]).exits(0);
    outcome.stdout_lacks("example.com/t/x");
    outcome.stdout_has("example.com/t/y");
    let outcome = run(&lab, "outdated", &["t/z"]).exits(2);
    outcome.stderr_has("error: t/z cannot be compared: nothing requires it");
}

#[test]
fn lock_of_a_named_provider_leaves_the_others_alone() {
    let lab = two();
    let old = "provider \"example.com/t/y\" {\n  version     = \"0.1.0\"\n  constraints = \"0.1.0\"\n}\n\n\
               provider \"example.com/t/z\" {\n  version = \"9.0.0\"\n}\n";
    let lock = |more: &[&str]| {
        lab.write(LOCK, old);
        run(&lab, "lock", &[BOTH, more].concat())
    };
    // `providers lock ADDR` of Terraform writes the same bytes: the stale constraints of the others and the entry
    // that nothing requires stay.
    assert_exit(&lock(&["--provider", "x"]), 0);
    assert_eq!(versions(&lab), "1.4.0 0.1.0 9.0.0");
    assert!(lab.read(LOCK).ends_with(old), "{}", lab.read(LOCK));
    assert_exit(&lock(&["--provider", "example.com/t/y"]), 0);
    assert_eq!(versions(&lab), "0.1.0 9.0.0");
    assert!(lab.read(LOCK).contains("constraints = \">= 0.1.0\""));
    let outcome = run(
        &lab,
        "lock",
        &[BOTH, &["--provider", "y", "--check"]].concat(),
    );
    assert_exit(&outcome, 0);
    outcome.stdout_has("is up to date for example.com/t/y\n");
    assert_exit(&lock(&["--provider", "x", "--provider", "y", "--check"]), 1);
    assert_eq!(lab.read(LOCK), old);
    assert_exit(&lock(&["--provider", "x", "--dry-run"]), 0);
    assert_eq!(lab.read(LOCK), old);
    // It must be required; an entry alone is no reason to lock it.
    for unknown in ["example.com/t/z", "acme/x"] {
        let outcome = lock(&["--provider", "x", "--provider", unknown]).exits(2);
        let wanted = format!("error: {unknown} cannot be locked: nothing requires it");
        outcome.stderr_has(&wanted);
        assert_eq!(lab.read(LOCK), old);
    }
}

#[test]
fn a_look_alike_is_reported_before_it_is_trusted() {
    let lab = Lab::new();
    let package = "registry.terraform.io/hashlcorp/aws/1.0.0/linux_amd64";
    lab.unpacked("mirror", package, package);
    let source = "source = \"hashlcorp/aws\"";
    lab.write(
        "main.tf",
        format!("terraform {{\n  required_providers {{\n    aws = {{ {source} }}\n  }}\n}}\n"),
    );
    let lock = |more: &[&str]| {
        run(
            &lab,
            "lock",
            &[&["--platform", "linux_amd64"], more].concat(),
        )
    };
    let is_reported = |outcome: &Outcome| outcome.stderr.contains("warning[look-alike-provider]: ");
    assert!(is_reported(&lock(&["--dry-run"])));
    let outcome = lock(&[]).exits(0);
    assert!(is_reported(&outcome), "{outcome:#?}");
    assert!(lab.read(LOCK).contains("hashlcorp/aws"));
    // From then on it is the concern of `verify`.
    let outcome = lock(&[]);
    assert!(!is_reported(&outcome), "{outcome:#?}");
    // It is reported before packages are asked for, which fails here, and a project file may forbid to lock it.
    std::fs::remove_file(lab.path(LOCK)).unwrap();
    std::fs::remove_dir_all(lab.path("mirror/registry.terraform.io")).unwrap();
    let outcome = lock(&[]).exits(2);
    assert!(is_reported(&outcome), "{outcome:#?}");
    lab.write(
        ".lockctl.hcl",
        "rule \"look-alike-provider\" { level = \"error\" }\n",
    );
    let outcome = lock(&[]).exits(1);
    outcome.stderr_has("error[look-alike-provider]: ");
}

#[test]
fn it_says_what_moved_and_what_holds_the_rest_back() {
    let lab = locked("1.0.9", "0.2.0");
    let outcome = update(&lab, &["--dry-run"]).exits(0);
    assert_eq!(versions(&lab), "1.0.9 0.2.0");
    outcome.stdout_has("would change; nothing was written");
    outcome.stdout_has("would move");
    outcome.stdout_has("2 hashes to add");
    update(&lab, &["--check"]).exits(1);
    assert_eq!(versions(&lab), "1.0.9 0.2.0");
    let outcome = update(&lab, &[]).exits(0);
    format!("{}---\n{}", outcome.stdout, outcome.stderr).reads(str![[r#"
example.com/t/x  1.0.9 → 1.4.0 (minor)  ~> 1.0    moved  2 platforms  2 hashes added
example.com/t/y  0.2.0                  >= 0.1.0  kept   2 platforms  0 hashes added
2 hashes added: 2 computed and not covered by a signature
updated .terraform.lock.hcl
---
note: example.com/t/x 2.0.0 is available, a major upgrade from 1.4.0; the constraints "~> 1.0" do not allow it

"#]]);
    assert_exit(&update(&lab, &["--check"]), 0);
    update(&lab, &["--patch", "x"]).stderr_eq(str![[r#"
note: example.com/t/x 2.0.0 is available, a major upgrade from 1.4.0; the constraints "~> 1.0" do not allow it

"#]]);
}

#[test]
fn hashes_of_other_platforms_stay_with_a_version_that_stays() {
    let lab = locked("1.0.0", "0.2.0");
    let h1 = |lab: &Lab| lab.read(LOCK).matches("\"h1:").count();
    assert_eq!(h1(&lab), 4);
    let outcome = run(&lab, "update", &["--platform", "linux_amd64"]).exits(0);
    assert_eq!(versions(&lab), "1.4.0 0.2.0");
    assert_eq!(h1(&lab), 3, "one of x, both of y");
    outcome.stderr_eq(str![[r#"
note: example.com/t/x 1.0.0 had 2 h1: hashes, 1.4.0 has 1: `--platform` names more platforms
note: example.com/t/x 2.0.0 is available, a major upgrade from 1.4.0; the constraints "~> 1.0" do not allow it

"#]]);
}

#[test]
fn a_version_goes_down_only_where_it_must() {
    let lab = locked("1.4.0", "0.2.0");
    require(&lab, "< 1.4.0", ">= 0.1.0");
    let outcome = update(&lab, &["--minor"]).exits(0);
    assert_eq!(versions(&lab), "1.1.0 0.2.0");
    format!("{}---\n{}", outcome.stdout, outcome.stderr).reads(str![[r#"
example.com/t/x  1.4.0 → 1.1.0 (downgrade)  < 1.4.0   moved  2 platforms  2 hashes added
example.com/t/y  0.2.0                      >= 0.1.0  kept   2 platforms  0 hashes added
2 hashes added: 2 computed and not covered by a signature
updated .terraform.lock.hcl
---
note: example.com/t/x went down to 1.1.0: 1.4.0 does not meet the constraints "< 1.4.0"
note: example.com/t/x 2.0.0 is available, a major upgrade from 1.1.0; the constraints "< 1.4.0" do not allow it

"#]]);

    let lab = locked("1.4.0", "0.2.0");
    let outcome = update(&lab, &["x@1.0.0"]).exits(0);
    assert_eq!(versions(&lab), "1.0.0 0.2.0");
    outcome.stderr_lacks("went down");

    std::fs::remove_dir_all(lab.path("mirror/example.com/t/y/0.2.0")).unwrap();
    let outcome = update(&lab, &["y"]);
    assert_eq!(versions(&lab), "1.0.0 0.1.1");
    outcome.stderr_has("0.2.0 is not offered any more");
}

/// Runs an update that must fail and leave the file as it is.
#[track_caller]
fn failing(lab: &Lab, args: &[&str]) -> String {
    let before = lab.read(LOCK);
    let outcome = update(lab, args).exits(2);
    assert_eq!(lab.read(LOCK), before);
    outcome.stderr
}

#[test]
fn what_cannot_move_is_named_and_nothing_is_written() {
    let lab = locked("1.0.0", "0.1.0");
    failing(&lab, &["x@2.0.0"]).reads(str![[r#"
error: example.com/t/x 2.0.0 does not meet the constraints "~> 1.0"
  cause: "~> 1.0" at main.tf:3 does not allow 2.0.0
  help: choose a version that it allows, or change the constraint, as --edit does

"#]]);
    failing(&lab, &["x@1.3.0"]).reads(str![[r#"
error: example.com/t/x 1.3.0 is not offered
  cause: required in main.tf:3 ("~> 1.0")
  help: the newest release offered is 2.0.0

"#]]);
    failing(&lab, &["x@9.9.9"]).reads(str![[r#"
error: example.com/t/x 9.9.9 is not offered
  cause: required in main.tf:3 ("~> 1.0")
  help: the newest release offered is 2.0.0

"#]]);
    failing(&lab, &["y@0.3.0-rc1"]).reads(str![[r#"
error: example.com/t/y 0.3.0-rc1 is a pre-release, and no constraint names it exactly
  cause: required in main.tf:4 (">= 0.1.0")
  help: choose a version that it allows, or change the constraint, as --edit does

"#]]);
    require(&lab, ">= 1.1.0", ">= 0.1.0");
    failing(&lab, &["--patch"]).reads(str![[r#"
error: no offered version 1.0.x of example.com/t/x meets the constraints ">= 1.1.0"
  cause: ">= 1.1.0" at main.tf:3 does not allow 1.0.0
  help: the newest version that the constraints allow is 2.0.0

"#]]);
    // Another one is outside of its constraints.
    failing(&lab, &["y"]).reads(str![[r#"
error: the locked version 1.0.0 of example.com/t/x does not meet the constraints ">= 1.1.0"
  cause: ">= 1.1.0" at main.tf:3 does not allow 1.0.0
  help: run `lockctl update . --flavor terraform@1.16 --fs-mirror mirror example.com/t/x` to select another version, or change the constraint

"#]]);
}

#[test]
fn a_provider_that_nothing_requires_stops_all_roots() {
    let lab = locked("1.0.0", "0.1.0");
    failing(&lab, &["example.com/t/xx", "y"]).reads(str![[r#"
error: example.com/t/xx cannot be updated: nothing requires it
  help: these are required: example.com/t/x, example.com/t/y

"#]]);
    failing(&lab, &["mirror"]).reads(str![[r#"
error: mirror cannot be updated: nothing requires it
  help: to name the directory, write ./mirror

"#]]);
    failing(&lab, &["hashicorp/random"]).reads(str![[r#"
error: hashicorp/random cannot be updated: nothing requires it
  help: these are required: example.com/t/x, example.com/t/y

"#]]);
    failing(&lab, &["x", "x@1.0.9"]).reads(str![[r#"
error: example.com/t/x is named with two versions
  help: name each provider once

"#]]);
    failing(&lab, &["a/b/c/d"]).has("name the directory of a root module");
    failing(&lab, &["a//c"]).has("write NAMESPACE/TYPE");
}

#[test]
fn roots_that_do_not_require_it_are_left_alone() {
    let lab = locked("1.0.0", "0.1.0");
    lab.write("a/main.tf", lab.read("main.tf"));
    lab.write(&format!("a/{LOCK}"), lab.read(LOCK));
    let other =
        "terraform {\n  required_providers {\n    y = { source = \"example.com/t/y\" }\n  }\n}\n";
    lab.write("b/main.tf", other);
    let outcome = update(&lab, &["x", "./a", "b/"]).exits(0);
    outcome.stdout_eq(str![[r#"
PROVIDER         VERSION                CONSTRAINTS  STATE  PLATFORMS    HASHES          ROOTS  WHERE
example.com/t/x  1.0.0 → 1.4.0 (minor)  ~> 1.0       moved  2 platforms  2 hashes added  1      ./a
2 hashes added: 2 computed and not covered by a signature
1 root: updated lock file
1 root: requires no provider that is named
2 roots: 2 clean

"#]]);
    assert!(!lab.path(&format!("b/{LOCK}")).exists());
    let stderr = failing(&lab, &["z", "./a", "b/"]);
    assert_eq!(stderr.matches("nothing requires it").count(), 1, "{stderr}");
}

#[test]
fn usage_errors_say_what_to_write() {
    let lab = two();
    let said = |args: &[&str]| {
        let outcome = update(&lab, args).exits(2);
        outcome.stderr
    };
    for (args, wanted) in [
        (&["x@1"][..], "\"1\" is no exact version, as 1.2.3 is"),
        (&["x@"], "is no exact version"),
        (&["x@~> 1.0"], "is no exact version"),
        (
            &["x@1.0.0", "--patch"],
            "the argument '--patch' cannot be used with 'x@1.0.0'",
        ),
        (&["--patch", "--minor"], "cannot be used with"),
    ] {
        let said = said(args);
        assert!(said.contains(wanted), "{args:?}: {said}");
    }
}

#[test]
fn json_states_where_a_version_came_from() {
    let lab = locked("1.0.9", "0.2.0");
    let outcome = update(&lab, &["--format", "json"]).exits(0);
    let said = outcome.json();
    assert_eq!(said["command"], "update");
    let providers = said["roots"][0]["providers"].as_array().unwrap();
    let rows: Vec<[&Value; 3]> = providers
        .iter()
        .map(|one| [&one["from"], &one["version"], &one["selected"]])
        .collect();
    let text = |text: &str| Value::from(text);
    assert_eq!(rows[0], [&text("1.0.9"), &text("1.4.0"), &true.into()]);
    assert_eq!(rows[1], [&Value::Null, &text("0.2.0"), &false.into()]);
    assert_eq!(said["roots"][0]["changed"], true);
}

#[test]
fn platforms_that_the_newest_version_lacks_fail_only_if_they_are_named() {
    let lab = locked("1.0.0", "0.2.0");
    std::fs::remove_dir_all(lab.path("mirror/example.com/t/x/1.4.0/darwin_arm64")).unwrap();
    failing(&lab, &[]).has("1.4.0 for darwin_arm64");
    let outcome = run(&lab, "update", &["--platform", "common"]).exits(0);
    assert_eq!(versions(&lab), "1.4.0 0.2.0");
    outcome.stderr_has("skipped");
}

#[test]
fn a_root_without_a_lock_file_gets_one() {
    let lab = two();
    assert_exit(&update(&lab, &["--patch"]), 0);
    assert_eq!(versions(&lab), "1.4.0 0.2.0");
    std::fs::remove_file(lab.path(LOCK)).unwrap();
    assert_exit(&update(&lab, &["x@1.1.0"]), 0);
    assert_eq!(versions(&lab), "1.1.0 0.2.0");
}

#[test]
fn versions_that_differ_in_metadata_only_are_chosen_alike() {
    let lab = locked("1.0.0", "0.1.0");
    for metadata in ["b", "a", "c"] {
        for platform in ["linux_amd64", "darwin_arm64"] {
            let package = format!("example.com/t/x/1.9.0+{metadata}/{platform}");
            lab.unpacked("mirror", &package, &package);
        }
    }
    for _ in 0..2 {
        assert_exit(&update(&lab, &[]), 0);
        assert_eq!(versions(&lab), "1.9.0+c 0.2.0");
    }
}

/// Adds a call to a module that is not installed.
fn call_unseen(lab: &Lab) {
    let call = "module \"far\" {\n  source = \"t/far/x\"\n}\n";
    lab.write("main.tf", lab.read("main.tf") + call);
}

/// Records other constraints for an entry whose version they are, as when the module was seen.
fn record(lab: &Lab, version: &str, constraints: &str) {
    let line = |text: &str| format!("constraints = {text:?}");
    let lock = lab.read(LOCK).replace(&line(version), &line(constraints));
    lab.write(LOCK, lock);
}

#[test]
fn recorded_constraints_hold_while_a_module_is_not_seen() {
    let lab = locked("1.0.0", "0.1.0");
    record(&lab, "1.0.0", "~> 1.0, < 1.4.0");
    call_unseen(&lab);
    update(&lab, &["x"]).exits(0);
    assert_eq!(versions(&lab), "1.1.0 0.1.0", "{}", lab.read(LOCK));
    assert!(lab.read(LOCK).contains("\"~> 1.0, < 1.4.0\""));
}

#[test]
fn an_entry_that_only_an_unseen_module_may_require_moves_if_it_is_named() {
    let lab = locked("1.0.0", "0.1.0");
    record(&lab, "1.0.0", "~> 1.0");
    record(&lab, "0.1.0", "< 0.2.0");
    let main =
        "terraform {\n  required_providers {\n    x = { source = \"example.com/t/x\" }\n  }\n}\n";
    lab.write("main.tf", main);
    call_unseen(&lab);
    let outcome = update(&lab, &["--minor"]).exits(0);
    assert_eq!(versions(&lab), "1.4.0 0.1.0", "{outcome:#?}");
    update(&lab, &["example.com/t/y"]).exits(0);
    assert_eq!(
        versions(&lab),
        "1.4.0 0.1.1",
        "the recorded constraint holds"
    );
}

#[test]
fn providers_with_one_gap_are_named_in_one_sentence() {
    let lab = locked("1.0.0", "0.1.0");
    let outcome = lab.run(&[&["lock", "--offline", "--flavor", "terraform"], BOTH].concat());
    outcome.exits(0).stderr_has(
        "note: example.com/t/x 1.0.0, example.com/t/y 0.1.0: whether darwin_arm64, linux_amd64 are covered is not known",
    );
    let outcome = lab.run(&["mirror", "m", "--platform", "linux_mips", "--offline"]);
    let outcome = outcome.exits(2);
    outcome.stderr_has("  cause: the same applies to example.com/t/y 0.1.0 for linux_mips\n");
    assert_eq!(outcome.stderr.matches("without --offline").count(), 1);
}
