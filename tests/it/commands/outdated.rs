//! `outdated`: what is locked, what is allowed, what there is, and what holds it back.

use std::collections::BTreeSet;

use super::registry::{DEMO, with_registry};
use super::*;
use crate::registry::{Dates, Registry};

/// A registry whose releases were signed three days ago, and a root.
fn with_dates(config: &str) -> (Registry, Lab) {
    let (registry, lab) = with_registry(config);
    for version in ["1.0.0", "1.1.0", "1.2.0"] {
        let dates = Dates {
            signed_hours_ago: Some(3 * 24),
            ..Dates::default()
        };
        registry.set_dates("acme/demo", version, dates);
    }
    (registry, lab)
}

const MIRROR: &[&str] = &["--fs-mirror", "mirror"];

/// A mirror with several versions of some providers; nothing else.
pub(super) fn mirror(offered: &[(&str, &[&str])]) -> Lab {
    let lab = Lab::new();
    for (name, versions) in offered {
        for version in *versions {
            let package = format!("example.com/t/{name}/{version}/linux_amd64");
            lab.unpacked("mirror", &package, version);
        }
    }
    lab
}

/// A module that requires providers, one per line from line 3 on.
pub(super) fn requires(providers: &[(&str, &str)]) -> String {
    let lines = providers.iter().map(|(name, version)| {
        let version = match *version {
            "" => String::new(),
            version => format!(", version = \"{version}\""),
        };
        format!("    {name} = {{ source = \"example.com/t/{name}\"{version} }}\n")
    });
    let lines: String = lines.collect();
    format!("terraform {{\n  required_providers {{\n{lines}  }}\n}}\n")
}

pub(super) fn locks(providers: &[(&str, &str)]) -> String {
    let entries = providers.iter().map(|(name, version)| {
        format!("provider \"example.com/t/{name}\" {{\n  version = \"{version}\"\n}}\n\n")
    });
    entries.collect()
}

pub(super) fn outdated(lab: &Lab, more: &[&str]) -> Outcome {
    lab.run(&[&["outdated", "--flavor", "terraform@1.11"], MIRROR, more].concat())
}

/// Returns the rows of the only root.
fn rows(lab: &Lab, more: &[&str]) -> Vec<Value> {
    let outcome = outdated(lab, &[more, &["--format", "json"]].concat());
    let said = outcome.json();
    said["roots"][0]["providers"]
        .as_array()
        .expect("rows")
        .clone()
}

/// A root with one provider of each kind.
fn several() -> Lab {
    let lab = mirror(&[
        ("a", &["1.0.0", "1.0.1", "1.4.0", "2.0.0", "2.1.0-rc1"]),
        ("b", &["1.0.0", "1.1.0"]),
        ("c", &["1.0.0"]),
        ("d", &["0.1.0", "0.2.0"]),
    ]);
    let main = requires(&[("a", "~> 1.0"), ("b", "~> 1.0.0"), ("c", ""), ("d", "")]);
    lab.write(
        "main.tf",
        main + "module \"child\" {\n  source = \"./child\"\n}\n",
    );
    lab.write("child/main.tf", requires(&[("a", "!= 2.0.0"), ("b", "")]));
    let locked = [("a", "1.0.0"), ("b", "1.0.0"), ("c", "1.0.0")];
    lab.write(LOCK, locks(&locked));
    lab
}

#[test]
fn what_holds_a_version_back_is_named_with_its_place() {
    let lab = several();
    let outcome = outdated(&lab, &[]).exits(0);
    outcome.stdout_eq(str![[r#"
PROVIDER         LOCKED  ALLOWED        NEWEST         STATE           EXCLUDED BY
example.com/t/a  1.0.0   1.4.0 (minor)  2.0.0 (major)  can be updated  "~> 1.0" at main.tf:3, "!= 2.0.0" at child/main.tf:3 (module.child)
example.com/t/b  1.0.0   1.0.0          1.1.0 (minor)  held back       "~> 1.0.0" at main.tf:4
example.com/t/d  -       0.2.0          0.2.0          not locked
.terraform.lock.hcl: 4 providers: 1 up to date, 1 can be updated, 1 held back, 1 not locked

"#]]);
    outcome.stderr_eq(str![[r#"
note: `lockctl update . --flavor terraform@1.11 --fs-mirror mirror` moves what can be updated; `lockctl lock . --flavor terraform@1.11 --fs-mirror mirror` locks what is not

"#]]);
    outdated(&lab, &["-v"]).stdout_has("1.0.0          up to date\n");
}

#[test]
fn programs_read_the_versions_the_steps_and_the_places() {
    let lab = several();
    let rows = rows(&lab, &[]);
    assert_eq!(rows.len(), 4);
    assert_eq!(
        rows[0],
        json!({
            "provider": "example.com/t/a",
            "state": "behind",
            "version": "1.0.0",
            "locked": "1.0.0",
            "locked_is_offered": true,
            "newest_allowed": "1.4.0",
            "old_enough": null,
            "newest": "2.0.0",
            "allowed_step": "minor",
            "step": "major",
            "allowed_dates": [],
            "dates": [],
            "constraints": "~> 1.0, != 2.0.0",
            "held_by": [
                {"file": "main.tf", "line": 3, "column": 49, "constraints": "~> 1.0", "module": ""},
                {"file": "child/main.tf", "line": 3, "column": 49, "constraints": "!= 2.0.0", "module": "module.child"},
            ],
            "conflict": [],
        })
    );
    let states: Vec<&Value> = rows.iter().map(|row| &row["state"]).collect();
    assert_eq!(states, ["behind", "held-back", "up-to-date", "not-locked"]);
    assert_eq!(rows[3]["newest_allowed"], "0.2.0");
    assert_eq!(rows[3]["step"], Value::Null);
}

#[test]
fn the_exit_code_depends_on_the_largest_step_that_is_missed() {
    let lab = mirror(&[("a", &["1.0.0", "1.0.1", "1.1.0-rc1", "1.1.0"])]);
    lab.write("main.tf", requires(&[("a", "~> 1.0.0")]));
    let code = |locked: &str, step: &str| {
        lab.write(LOCK, locks(&[("a", locked)]));
        outdated(&lab, &["--fail-on", step]).code
    };
    // Whether constraints allow the newest makes no difference.
    let of = |locked: &str| ["patch", "minor", "major"].map(|step| code(locked, step));
    assert_eq!(of("1.0.0"), [1, 1, 0]);
    assert_eq!(of("1.1.0"), [0, 0, 0]);
    lab.write("main.tf", requires(&[("a", "1.1.0-rc1")]));
    assert_eq!(of("1.1.0-rc1"), [1, 0, 0]);
}

#[test]
fn pre_releases_count_only_where_they_are_named() {
    let lab = mirror(&[("a", &["1.0.0", "2.0.0-rc1", "2.0.0-rc2"])]);
    let newest = |constraint: &str| {
        lab.write("main.tf", requires(&[("a", constraint)]));
        lab.write(LOCK, locks(&[("a", "1.0.0")]));
        let row = rows(&lab, &[]).remove(0);
        ["newest_allowed", "newest"].map(|name| row[name].as_str().map(str::to_owned))
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(newest(">= 1.0.0"), [some("1.0.0"), some("1.0.0")]);
    assert_eq!(newest("2.0.0-rc1"), [some("2.0.0-rc1"), some("2.0.0-rc1")]);
    assert_eq!(newest("< 1.0.0"), [None, some("1.0.0")]);
}

#[test]
fn what_is_not_compared_is_listed_with_the_reason() {
    let lab = mirror(&[("a", &["1.1.0"])]);
    lab.write(
        "main.tf",
        requires(&[("a", "")])
            + "data \"terraform_remote_state\" \"s\" {\n  backend = \"local\"\n}\n",
    );
    // The locked version of one is gone, nothing requires the other one.
    lab.write(LOCK, locks(&[("a", "1.0.0"), ("old", "1.0.0")]));
    let outcome = outdated(&lab, &["-v"]).exits(0);
    outcome.stdout_eq(str![[r#"
PROVIDER                        LOCKED  ALLOWED        NEWEST         STATE
example.com/t/a                 1.0.0   1.1.0 (minor)  1.1.0 (minor)  can be updated
example.com/t/old               1.0.0   -              -              not required
terraform.io/builtin/terraform  -       -              -              built in
.terraform.lock.hcl: 1 provider: 1 can be updated

"#]]);
    outcome.stderr_eq(str![[r#"
warning: the locked version 1.0.0 of example.com/t/a is not offered any more: `lock` and `init` fail until `lockctl update example.com/t/a` moves it
note: `lockctl update . --flavor terraform@1.11 --fs-mirror mirror` moves what can be updated

"#]]);
    let rows = rows(&lab, &[]);
    assert_eq!(rows[0]["locked_is_offered"], false);
    let states: Vec<&Value> = rows.iter().map(|row| &row["state"]).collect();
    assert_eq!(states, ["behind", "not-required", "built-in"]);
}

#[test]
fn where_modules_cannot_be_seen_recorded_constraints_count() {
    let lab = mirror(&[("a", &["1.0.0", "2.0.0"]), ("b", &["1.0.0", "2.0.0"])]);
    lab.write(
        "main.tf",
        requires(&[("a", ">= 1.0")]) + "module \"far\" {\n  source = \"far/away/x\"\n}\n",
    );
    let locked = locks(&[("a", "1.0.0"), ("b", "1.0.0"), ("gone", "1.0.0")]);
    let locked = locked.replace(
        "version = \"1.0.0\"",
        "version     = \"1.0.0\"\n  constraints = \">= 1.0.0, < 2.0.0\"",
    );
    lab.write(LOCK, locked);
    let outcome = outdated(&lab, &[]).exits(0);
    outcome.stdout_eq(str![[r#"
PROVIDER            LOCKED  ALLOWED  NEWEST         STATE        EXCLUDED BY
example.com/t/a     1.0.0   1.0.0    2.0.0 (major)  held back    "< 2.0.0" at .terraform.lock.hcl:3
example.com/t/b     1.0.0   1.0.0    2.0.0 (major)  not visible  "< 2.0.0" at .terraform.lock.hcl:8
example.com/t/gone  1.0.0   -        -              failed
.terraform.lock.hcl: 3 providers: 1 held back, 1 not visible, 1 failed

"#]]);
    outcome.stderr_eq(str![[r#"
warning: example.com/t/gone was not compared: the mirror in mirror has no package of example.com/t/gone
note: 1 module call (module.far) cannot be seen, and may state more constraints or require more providers (`--modules fetch` fetches modules, -v shows why)

"#]]);
    let row = rows(&lab, &[]).remove(0);
    let held =
        json!([{"file": LOCK, "line": 3, "column": 17, "constraints": "< 2.0.0", "module": null}]);
    assert_eq!(row["held_by"], held);
}

#[test]
#[cfg_attr(
    windows,
    ignore = "the lab writes each backslash of an output as a slash"
)]
fn markdown_has_the_table_the_failures_and_the_verdict() {
    let lab = several();
    lab.write("child/main.tf", requires(&[("a", ">= 3.0"), ("gone", "")]));
    outdated(&lab, &["--format", "markdown"]).exits(2).stdout_eq(str![[r#"
**Error**: no offered version of example.com/t/a meets the constraints "/~> 1.0, >= 3.0.0"<br>cause: no version can meet all of these: "/~> 1.0" at main.tf:3, ">= 3.0.0" at child/main.tf:3 (module.child)<br>cause: the newest offered version that each allows: 1.4.0 by "/~> 1.0", none by ">= 3.0.0"<br>help: to select 1.4.0, change ">= 3.0.0" at child/main.tf:3 (module.child)

**Error**: the mirror in mirror has no package of example.com/t/gone<br>cause: required in child/main.tf:4<br>help: check the source address, or add the provider to the mirror

| PROVIDER | LOCKED | ALLOWED | NEWEST | STATE | EXCLUDED BY |
|---|---|---|---|---|---|
| `example.com/t/a` | `1.0.0` | `-` | `2.0.0 (major)` | `conflict` | `"~> 1.0" at main.tf:3`, `">= 3.0.0" at child/main.tf:3 (module.child)` |
| `example.com/t/b` | `1.0.0` | `1.0.0` | `1.1.0 (minor)` | `held back` | `"~> 1.0.0" at main.tf:4` |
| `example.com/t/d` | `-` | `0.2.0` | `0.2.0` | `not locked` |  |
| `example.com/t/gone` | `-` | `-` | `-` | `failed` |  |

**.terraform.lock.hcl: 5 providers: 1 up to date, 1 held back, 1 conflict, 1 not locked, 1 failed**


"#]]);

    lab.write("main.tf", "broken");
    let outcome = outdated(&lab, &["--format", "markdown"]).exits(2);
    assert_eq!(outcome.stdout, "**.: could not be compared**\n\n");
}

#[test]
fn each_list_of_versions_is_fetched_once_for_all_roots() {
    let (registry, lab) = with_dates("");
    for root in ["one", "two", "three"] {
        lab.write(&format!("{root}/main.tf"), DEMO);
        let entry = "provider \"registry.terraform.io/acme/demo\" {\n  version = \"1.0.0\"\n}\n";
        lab.write(&format!("{root}/{LOCK}"), entry);
    }
    let run =
        |more: &[&str]| lab.run(&[&["outdated", "--flavor", "terraform@1.11"], more].concat());
    run(&["-r"]).exits(0).stdout_eq(str![[r#"
PROVIDER   LOCKED  ALLOWED  NEWEST                     STATE      EXCLUDED BY  ROOTS  WHERE
acme/demo  1.0.0   1.0.0    1.2.0 (minor, 3 days ago)  held back  "~> 1.0.0"   3      one, three, two
3 roots, 3 providers: 3 held back; 1 directory with configuration is not locked (-v names it)

"#]]);
    let requests = registry.requests();
    let lists = requests.iter().filter(|line| line.contains("/versions"));
    assert_eq!(lists.count(), 1);
    // The others are about the date of the newest release.
    let distinct: BTreeSet<&String> = requests.iter().collect();
    assert_eq!(requests.len(), distinct.len(), "{requests:?}");
    assert!(!requests.iter().any(|line| line.contains("/1.0.0/")));

    let offline = run(&["one", "--offline"]).exits(2);
    offline.stderr_eq(str![[r#"
error: registries cannot be asked
  cause: --offline forbids network requests
  help: leave out --offline, or name a mirror with --fs-mirror DIR

"#]]);
}

#[test]
fn roots_are_counted_by_how_they_compare() {
    let lab = mirror(&[("a", &["1.0.0", "1.1.0"]), ("b", &["1.0.0"])]);
    let root = |dir: &str, required: &[(&str, &str)], locked: &[(&str, &str)]| {
        lab.write(&format!("{dir}/main.tf"), requires(required));
        lab.write(&format!("{dir}/{LOCK}"), locks(locked));
    };
    let total = |args: &[&str]| {
        let outcome = outdated(&lab, args);
        outcome.stdout.lines().last().map(str::to_owned)
    };
    root("now", &[("a", "")], &[("a", "1.1.0")]);
    root("behind", &[("a", "")], &[("a", "1.0.0")]);
    root("held", &[("a", "1.0.0")], &[("a", "1.0.0")]);
    root("down", &[("a", "< 1.1.0")], &[("a", "1.1.0")]);
    root("partly", &[("a", ""), ("b", "")], &[("a", "1.1.0")]);
    root("bad", &[("gone", "")], &[]);
    let wanted = "6 roots, 7 providers: 2 up to date, 1 can be updated, 1 held back, 1 not allowed, 1 not locked, 1 failed; 1 root \
                  failed";
    assert_eq!(total(&["-r"]).as_deref(), Some(wanted));
    assert_eq!(
        total(&["now", "held", "--fail-on", "minor"]).as_deref(),
        Some("2 roots, 2 providers: 1 up to date, 1 held back")
    );
    let markdown = outdated(&lab, &["now", "partly", "--format", "markdown"]);
    markdown.stdout_has("**2 roots, 3 providers: 2 up to date, 1 not locked**");
}

#[test]
fn providers_that_are_run_from_a_directory_are_not_compared() {
    let (registry, lab) = with_registry(DEMO);
    let hosts = lab.read("rc");
    let methods = "  dev_overrides {\n    \"acme/demo\" = \"/tmp\"\n  }\n  direct {}\n";
    lab.write(
        "rc",
        format!("provider_installation {{\n{methods}}}\n{hosts}"),
    );
    let outcome = lab.run(&words(
        "outdated --installation cli --flavor terraform@1.16",
    ));
    assert_exit(&outcome, 0);
    outcome.stdout_eq(str![[r#"
PROVIDER   LOCKED  ALLOWED  NEWEST  STATE
acme/demo  -       -        -       dev override
.terraform.lock.hcl: 1 provider: 1 dev override

"#]]);
    assert!(registry.requests().is_empty());
}

#[test]
fn a_root_without_configuration_is_compared_by_its_lock_file() {
    let lab = mirror(&[("a", &["1.0.0", "2.0.0"])]);
    lab.write(LOCK, locks(&[("a", "1.0.0")]));
    let outcome = outdated(&lab, &[]).exits(0);
    outcome.stdout_eq(str![[r#"
PROVIDER         LOCKED  ALLOWED        NEWEST         STATE
example.com/t/a  1.0.0   2.0.0 (major)  2.0.0 (major)  not visible
.terraform.lock.hcl: 1 provider: 1 not visible

"#]]);
    outcome.stderr_eq(str![[r#"
note: the configuration cannot be seen, and may state more constraints or require more providers (-v shows why)

"#]]);

    let empty = Lab::new();
    empty.run(&["outdated"]).exits(2).stderr_eq(str![[r#"
error: no configuration in .
  cause: there is no .tf file
  help: name the directory of a root module

"#]]);
}

#[test]
fn a_registry_that_fails_hides_no_other_provider() {
    let second = DEMO.replace(
        "    demo = {",
        "    gone = {\n      source = \"acme/gone\"\n    }\n    demo = {",
    );
    let (_registry, lab) = with_dates(&second);
    let outcome = lab.run(&["outdated", "--flavor", "terraform@1.11"]);
    assert_exit(&outcome, 2);
    outcome.stdout_eq(str![[r#"
PROVIDER   LOCKED  ALLOWED             NEWEST              STATE       EXCLUDED BY
acme/demo  -       1.0.0 (3 days ago)  1.2.0 (3 days ago)  not locked  "~> 1.0.0" at main.tf:8
acme/gone  -       -                   -                   failed
.terraform.lock.hcl: 2 providers: 1 not locked, 1 failed

"#]]);
    outcome.stderr_eq(str![[r#"
error: the registry of registry.terraform.io has no provider registry.terraform.io/acme/gone
  cause: required in main.tf:3
  help: check the source address; a provider without one in required_providers is taken for one of the namespace hashicorp
note: `lockctl lock . --flavor terraform@1.11` locks what is not

"#]]);
}
