//! What several roots lock after a run, and the commands that move the older ones.

use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};

use super::outdated::{locks, mirror, requires};
use super::{LOCK, assert_exit};
use crate::lab::{Lab, Outcome};

pub(super) const ONE: &[&str] = &["--platform", "linux_amd64", "--fs-mirror", "mirror"];

/// Writes a root that requires providers and has some versions locked.
pub(super) fn root(lab: &Lab, dir: &str, required: &[(&str, &str)], locked: &[(&str, &str)]) {
    let backend = "terraform {\n  backend \"local\" {}\n}\n";
    lab.write(&format!("{dir}/main.tf"), requires(required) + backend);
    if !locked.is_empty() {
        lab.write(&format!("{dir}/{LOCK}"), locks(locked));
    }
}

fn run(lab: &Lab, command: &[&str], more: &[&str]) -> Outcome {
    lab.run(&[command, more, &["--no-state", "--flavor", "terraform"], ONE].concat())
}

pub(super) fn lock(lab: &Lab, more: &[&str]) -> Outcome {
    run(lab, &["lock"], more)
}

/// Returns what is printed behind the results of single roots.
pub(super) fn summary(outcome: &Outcome) -> String {
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    let is_of_root = |line: &&str| line.contains(LOCK) && !line.starts_with(' ');
    let last = lines.iter().rposition(is_of_root).expect("a root");
    lines[last + 1..]
        .iter()
        .map(|line| format!("{line}\n"))
        .collect()
}

/// Runs the program itself in the directory, so that paths are printed as they are typed.
pub(super) fn program(lab: &Lab, args: &[&str]) -> Outcome {
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_lockctl"));
    let output = program.args(args).current_dir(lab.dir()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap().replace('\\', "/");
    Outcome {
        code: output.status.code().unwrap().try_into().unwrap(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// Types every command that a summary names, as it is printed.
pub(super) fn type_commands(lab: &Lab, outcome: &Outcome) -> usize {
    let lines = outcome.stdout.lines();
    let commands = lines.filter_map(|line| line.strip_prefix("  lockctl "));
    let commands: Vec<Vec<&str>> = commands.map(|line| line.split(' ').collect()).collect();
    for words in &commands {
        assert_exit(&program(lab, words), 0);
    }
    commands.len()
}

pub(super) fn offered() -> Lab {
    mirror(&[
        ("a", &["1.0.0", "1.1.0", "1.2.0", "2.0.0", "3.0.0-rc1"]),
        ("b", &["1.0.0", "2.0.0"]),
    ])
}

#[test]
fn roots_that_agree_have_one_line() {
    let lab = offered();
    for dir in ["x", "y"] {
        root(&lab, dir, &[("a", ""), ("b", "")], &[("a", "1.0.0")]);
    }
    let outcome = lock(&lab, &["./x", "./y"]);
    assert_exit(&outcome, 0);
    assert_data_eq!(
        summary(&outcome),
        str![[r#"
2 roots lock 2 providers, each at one version
2 roots: 2 clean

"#]]
    );
    root(&lab, "z", &[("b", "")], &[]);
    let outcome = lock(&lab, &["-r", ".", "-q"]);
    assert_data_eq!(
        summary(&outcome),
        str![[r#"
3 roots lock 2 providers, each at one version
3 roots: 3 clean

"#]]
    );
    // A single root agrees with itself.
    assert_data_eq!(summary(&lock(&lab, &["./x"])), str![[""]]);
}

#[test]
fn a_few_roots_have_a_line_for_each_provider_and_a_command() {
    let lab = offered();
    root(
        &lab,
        "x",
        &[("a", "~> 1.0"), ("b", "")],
        &[("a", "1.0.0"), ("b", "2.0.0")],
    );
    root(
        &lab,
        "y",
        &[("a", ""), ("b", "")],
        &[("a", "1.1.0"), ("b", "1.0.0")],
    );
    root(
        &lab,
        "z",
        &[("a", ""), ("b", "")],
        &[("a", "1.2.0"), ("b", "2.0.0")],
    );
    let outcome = lock(&lab, &["./x", "./y", "./z"]);
    assert_exit(&outcome, 0);
    assert_data_eq!(
        summary(&outcome),
        str![[r#"
example.com/t/a: 1.2.0 in ./z; 1.1.0 in ./y; 1.0.0 in ./x
example.com/t/b: 2.0.0 in ./x, ./z; 1.0.0 in ./y
to update the older roots:
  lockctl update example.com/t/a@1.2.0 ./x ./y --flavor terraform@1.16 --platform linux_amd64 --fs-mirror mirror --no-state
  lockctl update example.com/t/b@2.0.0 ./y --flavor terraform@1.16 --platform linux_amd64 --fs-mirror mirror --no-state
2 providers are locked at different versions
3 roots: 3 clean

"#]]
    );
    assert_eq!(type_commands(&lab, &outcome), 2);
    let after = lock(&lab, &["./x", "./y", "./z"]);
    assert_data_eq!(
        summary(&after),
        str![[r#"
3 roots lock 2 providers, each at one version
3 roots: 3 clean

"#]]
    );
}

#[test]
fn a_constraint_that_holds_a_root_back_is_named_with_its_place() {
    let lab = offered();
    root(&lab, "old/1", &[("a", "~> 1.0")], &[("a", "1.0.0")]);
    root(&lab, "old/2", &[("a", "< 2.0.0")], &[("a", "1.2.0")]);
    root(&lab, "new/1", &[("a", "")], &[("a", "1.0.0")]);
    root(&lab, "new/2", &[("a", "")], &[("a", "2.0.0")]);
    let all = ["./old/1", "./old/2", "./new/1", "./new/2"];
    let outcome = lock(&lab, &all);
    assert_exit(&outcome, 0);
    assert_data_eq!(
        summary(&outcome),
        str![[r#"
example.com/t/a: 2.0.0 in ./new/2; 1.2.0 in ./old/2; 1.0.0 in ./old/1, ./new/1
to update the older roots:
  lockctl update example.com/t/a@2.0.0 ./new/1 --flavor terraform@1.16 --platform linux_amd64 --fs-mirror mirror --no-state
  lockctl update example.com/t/a@1.2.0 ./old/1 --flavor terraform@1.16 --platform linux_amd64 --fs-mirror mirror --no-state
held back by constraints:
  example.com/t/a 1.0.0 in ./old/1: "~> 1.0" at old/1/main.tf:3 does not allow 2.0.0
  example.com/t/a 1.2.0 in ./old/2: "< 2.0.0" at old/2/main.tf:3 does not allow 2.0.0
1 provider is locked at different versions
4 roots: 4 clean

"#]]
    );
    assert_eq!(type_commands(&lab, &outcome), 2);
    let after = lock(&lab, &all);
    assert_data_eq!(
        summary(&after),
        str![[r#"
example.com/t/a: 2.0.0 in ./new/1, ./new/2; 1.2.0 in ./old/1, ./old/2
held back by constraints:
  example.com/t/a 1.2.0 in ./old/1: "~> 1.0" at old/1/main.tf:3 does not allow 2.0.0
  example.com/t/a 1.2.0 in ./old/2: "< 2.0.0" at old/2/main.tf:3 does not allow 2.0.0
1 provider is locked at different versions
4 roots: 4 clean

"#]]
    );
}

#[test]
fn constraints_of_unseen_modules_hold_back_as_well() {
    let lab = offered();
    root(&lab, "x", &[("a", "")], &[("a", "1.0.0")]);
    let call = "module \"far\" {\n  source = \"far/away/x\"\n}\n";
    lab.write("x/main.tf", lab.read("x/main.tf") + call);
    let recorded = "version     = \"1.0.0\"\n  constraints = \"~> 1.0\"";
    let text = lab
        .read(&format!("x/{LOCK}"))
        .replace("version = \"1.0.0\"", recorded);
    // The lines move when the header comes.
    lab.write(&format!("x/{LOCK}"), text);
    root(&lab, "y", &[("a", "")], &[("a", "2.0.0")]);
    let outcome = lock(&lab, &["./x", "./y"]);
    assert_data_eq!(
        summary(&outcome),
        str![[r#"
example.com/t/a: 2.0.0 in ./y; 1.0.0 in ./x
held back by constraints:
  example.com/t/a 1.0.0 in ./x: "~> 1.0" at ./x/.terraform.lock.hcl:6 does not allow 2.0.0
1 provider is locked at different versions
2 roots: 2 clean

"#]]
    );
}

#[test]
fn what_would_be_locked_counts_where_nothing_is_written() {
    let lab = offered();
    root(&lab, "x", &[("a", "")], &[]);
    root(&lab, "y", &[("a", "")], &[("a", "1.2.0")]);
    for (option, code) in [("--dry-run", 0), ("--check", 1)] {
        let outcome = lock(&lab, &["./x", "./y", option]);
        assert_exit(&outcome, code);
        assert!(
            outcome.stdout.contains("a: 2.0.0 in ./x; 1.2.0 in ./y\n"),
            "{outcome:#?}"
        );
        assert!(!lab.path(&format!("x/{LOCK}")).exists());
    }
    // `update` moves both.
    let outcome = run(&lab, &["update"], &["./x", "./y"]);
    assert_data_eq!(
        summary(&outcome),
        str![[r#"
2 roots lock 1 provider, at one version
2 roots: 2 clean

"#]]
    );
}

#[test]
fn only_named_providers_are_compared_where_some_are_named() {
    let lab = offered();
    root(
        &lab,
        "x",
        &[("a", ""), ("b", "")],
        &[("a", "1.0.0"), ("b", "1.0.0")],
    );
    root(
        &lab,
        "y",
        &[("a", ""), ("b", "")],
        &[("a", "1.1.0"), ("b", "2.0.0")],
    );
    let outcome = run(&lab, &["update"], &["./x", "./y", "a"]);
    assert_exit(&outcome, 0);
    assert_data_eq!(
        summary(&outcome),
        str![[r#"
2 roots lock 1 provider, at one version
2 roots: 2 clean

"#]]
    );
}

#[test]
fn providers_of_other_hosts_names_and_programs_are_others() {
    let lab = Lab::new();
    let sources = [
        ("x", "example.com/t/a", "1.0.0"),
        ("y", "example.org/t/a", "2.0.0"),
        ("z", "example.com/t/aa", "3.0.0"),
    ];
    for (dir, source, version) in sources {
        lab.unpacked(
            "mirror",
            &format!("{source}/{version}/linux_amd64"),
            version,
        );
        let text = requires(&[("a", "")]).replace("example.com/t/a", source);
        lab.write(&format!("{dir}/main.tf"), text);
    }
    let outcome = lock(&lab, &["./x", "./y", "./z"]);
    assert_data_eq!(
        summary(&outcome),
        str![[r#"
3 roots lock 3 providers, each at one version
3 roots: 3 clean

"#]]
    );
    // The same address in roots of the other program.
    lab.unpacked("mirror", "example.com/t/a/2.0.0/linux_amd64", "2");
    for (dir, version) in [
        ("t1", "1.0.0"),
        ("t2", "2.0.0"),
        ("o1", "1.0.0"),
        ("o2", "2.0.0"),
    ] {
        let program = if dir.starts_with('o') {
            "tofu"
        } else {
            "terraform"
        };
        let header = format!("# This file is maintained automatically by \"{program} init\".\n");
        root(
            &lab,
            &format!("both/{dir}"),
            &[("a", "")],
            &[("a", version)],
        );
        let text = lab.read(&format!("both/{dir}/{LOCK}"));
        lab.write(
            &format!("both/{dir}/{LOCK}"),
            header + "# Manual edits may be lost in future updates.\n\n" + &text,
        );
    }
    let args = [&["lock", "-r", "both", "--no-state"], ONE].concat();
    let outcome = program(&lab, &args);
    assert_exit(&outcome, 0);
    assert_data_eq!(
        summary(&outcome),
        str![[r#"
example.com/t/a (Terraform): 2.0.0 in both/t2; 1.0.0 in both/t1
example.com/t/a (OpenTofu): 2.0.0 in both/o2; 1.0.0 in both/o1
to update the older roots:
  lockctl update example.com/t/a@2.0.0 ./both/t1 --platform linux_amd64 --fs-mirror mirror --no-state
  lockctl update example.com/t/a@2.0.0 ./both/o1 --platform linux_amd64 --fs-mirror mirror --no-state
2 providers are locked at different versions
4 roots: 4 clean

"#]]
    );
    assert_eq!(type_commands(&lab, &outcome), 2);
    let after = program(&lab, &args);
    assert_data_eq!(
        summary(&after),
        str![[r#"
4 roots lock 2 providers, each at one version
4 roots: 4 clean

"#]]
    );
}

#[test]
fn a_pre_release_is_no_version_to_be_behind_of() {
    let lab = offered();
    root(&lab, "x", &[("a", "3.0.0-rc1")], &[]);
    root(&lab, "y", &[("a", ">= 1.0")], &[("a", "2.0.0")]);
    root(&lab, "z", &[("a", "~> 1.0")], &[("a", "1.2.0")]);
    let outcome = lock(&lab, &["./x", "./y", "./z"]);
    assert_data_eq!(
        summary(&outcome),
        str![[r#"
example.com/t/a: 3.0.0-rc1 in ./x; 2.0.0 in ./y; 1.2.0 in ./z
held back by constraints:
  example.com/t/a 1.2.0 in ./z: "~> 1.0" at z/main.tf:3 does not allow 2.0.0
1 provider is locked at different versions
3 roots: 3 clean

"#]]
    );
}

#[test]
fn programs_read_versions_commands_and_reasons() {
    let lab = offered();
    root(
        &lab,
        "x",
        &[("a", "~> 1.0"), ("b", "")],
        &[("a", "1.1.0"), ("b", "2.0.0")],
    );
    root(&lab, "y", &[("a", "")], &[("a", "1.2.0")]);
    root(&lab, "z", &[("a", "")], &[("a", "2.0.0")]);
    let outcome = lock(&lab, &["./x", "./y", "./z", "--format", "json"]);
    let said: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(said["summary"]["agreed_versions"], 1);
    assert_eq!(said["summary"]["differing_versions"], 1);
    let one = &said["versions_in_use"][0];
    assert_eq!(
        [&one["provider"], &one["program"]],
        [&json!("example.com/t/a"), &json!("terraform")]
    );
    assert_eq!(
        one["versions"],
        json!([
            {"version": "2.0.0", "roots": ["./z"]},
            {"version": "1.2.0", "roots": ["./y"]},
            {"version": "1.1.0", "roots": ["./x"]},
        ])
    );
    let moves = one["moves"].as_array().unwrap();
    let moves: Vec<[&Value; 2]> = moves
        .iter()
        .map(|one| [&one["to"], &one["roots"]])
        .collect();
    assert_eq!(
        moves,
        [
            [&json!("2.0.0"), &json!(["./y"])],
            [&json!("1.2.0"), &json!(["./x"])]
        ]
    );
    let command = one["moves"][0]["command"].as_str().unwrap();
    assert!(
        command.starts_with("lockctl update example.com/t/a@2.0.0 ./y "),
        "{command}"
    );
    let held = &one["held_back"][0];
    assert_eq!(held["newest"], "2.0.0");
    assert_eq!(held["held_by"][0]["constraints"], "~> 1.0");
    assert_eq!(held["held_by"][0]["line"], 3);

    let alone = lock(&lab, &["./x", "--format", "json"]);
    let said: Value = serde_json::from_str(&alone.stdout).unwrap();
    assert_eq!(said.get("versions_in_use"), None);
    assert_eq!(said["summary"].get("agreed_versions"), None);
}

#[test]
fn a_comment_has_the_table_and_the_commands() {
    let lab = offered();
    root(&lab, "x", &[("a", "~> 1.0")], &[("a", "1.0.0")]);
    root(&lab, "y", &[("a", "")], &[("a", "1.2.0")]);
    root(&lab, "z", &[("gone", "")], &[]);
    let outcome = lock(&lab, &["./x", "./y", "./z", "--format", "markdown"]);
    assert_exit(&outcome, 2);
    assert_data_eq!(
        outcome.stdout,
        str![[r#"
| provider | version | roots | where |
|---|---|---|---|
| `example.com/t/a` | `1.2.0` | `1` | `./y` |
|  | `1.0.0` | `1` | `./x` |

to update the older roots&#58;

```
lockctl update example.com/t/a@1.2.0 ./x --flavor terraform@1.16 --platform linux_amd64 --fs-mirror mirror --no-state
```

1 provider is locked at different versions; 1 root that could not be locked is left out

#### `./x`

| PROVIDER | VERSION | CONSTRAINTS | STATE | PLATFORMS | HASHES |
|---|---|---|---|---|---|
| `example.com/t/a` | `1.0.0` | `~> 1.0` | `kept` | `1 platform` | `1 hash added` |

updated ./x/.terraform&#46;lock&#46;hcl; the added hash was computed from a mirror and is not covered by a signature

#### `./y`

| PROVIDER | VERSION | CONSTRAINTS | STATE | PLATFORMS | HASHES |
|---|---|---|---|---|---|
| `example.com/t/a` | `1.2.0` | `any version` | `kept` | `1 platform` | `1 hash added` |

updated ./y/.terraform&#46;lock&#46;hcl; the added hash was computed from a mirror and is not covered by a signature

#### `./z`

**Error**: the mirror in mirror has no package of example&#46;com/t/gone<br>cause: required in z/main&#46;tf:3<br>help&#58; check the source address, or add the provider to the mirror

**3 roots&#58; 2 clean, 1 failed**


"#]]
    );
}
