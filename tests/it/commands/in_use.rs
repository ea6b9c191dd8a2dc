//! The table of what several roots lock after a run.

use super::outdated::{locks, mirror, requires};
use super::*;

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
    let is_of_root = |line: &&str| {
        let is_named = line.contains(LOCK) && !line.starts_with(' ');
        is_named || line.contains(": lock file ") || line.contains(" not covered by a signature")
    };
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
    let outcome = lock(&lab, &["./x", "./y"]).exits(0);
    summary(&outcome).reads(str![[r#"
all 2 roots: updated lock file
2 roots lock 2 providers, each at one version
2 roots: 2 clean

"#]]);
    root(&lab, "z", &[("b", "")], &[]);
    let outcome = lock(&lab, &["-r", "."]);
    summary(&outcome).reads(str![[r#"
1 root: created lock file
3 roots lock 2 providers, each at one version
3 roots: 3 clean

"#]]);
    // A single root agrees with itself.
    summary(&lock(&lab, &["./x"])).reads(str![[""]]);
}

#[test]
fn roots_that_differ_have_a_row_for_each_version() {
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
    let outcome = lock(&lab, &["./x", "./y", "./z"]).exits(0);
    summary(&outcome).reads(str![[r#"
all 3 roots: updated lock file

PROVIDER         VERSION  ROOTS  WHERE
example.com/t/a  1.2.0    1      ./z
example.com/t/a  1.1.0    1      ./y
example.com/t/a  1.0.0    1      ./x
example.com/t/b  2.0.0    2      ./x, ./z
example.com/t/b  1.0.0    1      ./y
2 providers are locked at different versions
3 roots: 3 clean

"#]]);
}

#[test]
fn what_would_be_locked_counts_where_nothing_is_written() {
    let lab = offered();
    root(&lab, "x", &[("a", "")], &[]);
    root(&lab, "y", &[("a", "")], &[("a", "1.2.0")]);
    for (option, code) in [("--dry-run", 0), ("--check", 1)] {
        let outcome = lock(&lab, &["./x", "./y", option]).exits(code);
        let rows = "example.com/t/a  2.0.0    1      ./x\nexample.com/t/a  1.2.0    1      ./y\n";
        outcome.stdout_has(rows);
        assert!(!lab.path(&format!("x/{LOCK}")).exists());
    }
    // `update` moves both.
    let outcome = run(&lab, &["update"], &["./x", "./y"]);
    summary(&outcome).reads(str![[r#"
1 root: created lock file
1 root: updated lock file
2 roots lock 1 provider, at one version
2 roots: 2 clean

"#]]);
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
    let outcome = run(&lab, &["update"], &["./x", "./y", "a"]).exits(0);
    summary(&outcome).reads(str![[r#"
all 2 roots: updated lock file
2 roots lock 1 provider, at one version
2 roots: 2 clean

"#]]);
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
    summary(&outcome).reads(str![[r#"
all 3 roots: created lock file
3 roots lock 3 providers, each at one version
3 roots: 3 clean

"#]]);
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
    let outcome = program(&lab, &args).exits(0);
    summary(&outcome).reads(str![[r#"
all 4 roots: updated lock file

PROVIDER                     VERSION  ROOTS  WHERE
example.com/t/a (Terraform)  2.0.0    1      both/t2
example.com/t/a (Terraform)  1.0.0    1      both/t1
example.com/t/a (OpenTofu)   2.0.0    1      both/o2
example.com/t/a (OpenTofu)   1.0.0    1      both/o1
2 providers are locked at different versions
4 roots: 4 clean

"#]]);
}

#[test]
fn programs_read_versions_and_roots() {
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
    let said = outcome.json();
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

    let alone = lock(&lab, &["./x", "--format", "json"]);
    let said = alone.json();
    assert_eq!(said.get("versions_in_use"), None);
    assert_eq!(said["summary"].get("agreed_versions"), None);
}
