//! The GitHub Action `lock`: who may use the cache of GitHub, and which facts count.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;

use super::facts::downloads;
use super::registry::{DEMO, with_registry};
use super::*;
use super::{LOCK, cache_import::TRUSTING};

const ACTION: &str = include_str!("../../../.github/actions/lock/action.yml");
const DIR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/.github/actions/lock");

/// How a script ended, and what it printed.
struct Ended {
    code: Option<i32>,
    output: String,
}

/// Returns whether a program is there that the scripts need; says so if not.
fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        println!("skipped: there is no {program}");
    }
    found
}

fn run(script: &str, vars: &[(&str, &str)], set_up: impl FnOnce(&mut Command)) -> Ended {
    let mut command = Command::new("bash");
    command.arg(format!("{DIR}/{script}")).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command.env("LOCKCTL", env!("CARGO_BIN_EXE_lockctl"));
    set_up(&mut command);
    command.envs(vars.iter().copied());
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    Ended {
        code: output.status.code(),
        output: String::from_utf8_lossy(&text).into_owned(),
    }
}

/// Runs the script that locks, in the directory of the lab, with a store that is new.
fn lock(lab: &Lab, vars: &[(&str, &str)]) -> Ended {
    let temp = crate::temp::dir();
    run("lock.sh", vars, |command| {
        for (name, value) in &lab.env.vars {
            command.env(name, value);
        }
        for (name, value) in [
            ("LOCKCTL_ROOTS", "."),
            ("LOCKCTL_RECURSIVE", "false"),
            ("LOCKCTL_PLATFORMS", "linux_amd64,darwin_arm64"),
            ("LOCKCTL_CHECK", "false"),
            ("LOCKCTL_FACTS", ""),
            ("LOCKCTL_CACHED", ""),
            ("LOCKCTL_PROJECT_FILE", ".lockctl.hcl"),
            ("LOCKCTL_BASE", ""),
        ] {
            command.env(name, value);
        }
        command.env("GITHUB_WORKSPACE", lab.dir());
        command.env("LOCKCTL_CACHE_DIR", temp.path().join("facts"));
    })
}

#[test]
fn only_what_the_default_branch_decides_uses_the_cache() {
    if !has("bash") {
        return;
    }
    let temp = crate::temp::dir();
    let outputs = temp.path().join("outputs");
    let main = "refs/heads/main";
    for (event, reference, default, restore, save) in [
        ("push", main, "main", true, true),
        ("schedule", main, "", true, false),
        ("workflow_dispatch", main, "main", true, false),
        ("push", "refs/heads/other", "main", false, false),
        ("push", "refs/heads/main/x", "main", false, false),
        ("push", "refs/tags/main", "main", false, false),
        ("push", "refs/heads/", "", false, false),
        (
            "workflow_dispatch",
            "refs/heads/other",
            "main",
            false,
            false,
        ),
        ("pull_request", "refs/pull/7/merge", "main", false, false),
        ("pull_request", main, "main", false, false),
        // They run in the scope of the default branch, but anyone can cause them.
        ("pull_request_target", main, "main", false, false),
        ("issue_comment", main, "main", false, false),
        ("workflow_run", main, "main", false, false),
        ("merge_group", main, "main", false, false),
        // The cache is not wanted.
        ("off", main, "main", false, false),
    ] {
        std::fs::remove_file(&outputs).ok();
        let vars = [
            (
                "LOCKCTL_CACHE",
                if event == "off" { "false" } else { "true" },
            ),
            ("LOCKCTL_EVENT", if event == "off" { "push" } else { event }),
            ("LOCKCTL_REF", reference),
            ("LOCKCTL_DEFAULT_BRANCH", default),
            ("GITHUB_OUTPUT", outputs.to_str().unwrap()),
        ];
        let ended = run("cache.sh", &vars, |_| {});
        assert_eq!(ended.code, Some(0), "{}", ended.output);
        let version = env!("CARGO_PKG_VERSION");
        let expected = format!("restore={restore}\nsave={save}\nprefix=lockctl-facts-{version}-\n");
        let found = std::fs::read_to_string(&outputs).unwrap();
        assert_eq!(found, expected, "{event} {reference}");
    }
}

#[test]
fn facts_of_the_repository_and_of_the_cache_replace_downloads() {
    if !has("bash") {
        return;
    }
    let (registry, lab) = with_registry(DEMO);
    lab.write(".lockctl.hcl", TRUSTING);
    let cached = lab.path("cached.txt");
    let cached = cached.to_str().unwrap();
    let vars = [("LOCKCTL_FACTS", "facts.txt"), ("LOCKCTL_CACHED", cached)];
    let ended = lock(&lab, &vars);
    assert_eq!(ended.code, Some(0), "{}", ended.output);
    assert_eq!(downloads(&registry), 2);
    let (locked, facts) = (lab.read(LOCK), lab.read("facts.txt"));
    assert_eq!(facts.matches("\nzh:").count(), 2);
    assert!(facts.contains("\nrelease registry.terraform.io/acme/demo 1.0.0 whole\n"));
    assert_eq!(lab.read("cached.txt"), facts);

    let ended = lock(&lab, &[vars[0], ("LOCKCTL_RECURSIVE", "true")]);
    assert_eq!(ended.code, Some(0), "{}", ended.output);
    assert_eq!(lab.read("facts.txt"), facts);

    // The next machine needs either of them.
    for vars in [[vars[0]], [vars[1]]] {
        std::fs::remove_file(lab.path(LOCK)).unwrap();
        let ended = lock(&lab, &vars);
        assert_eq!(ended.code, Some(0), "{}", ended.output);
        assert_eq!(lab.read(LOCK), locked);
        assert_eq!(downloads(&registry), 2);
        assert_eq!(
            (lab.read("facts.txt"), lab.read("cached.txt")),
            (facts.clone(), facts.clone())
        );
    }

    // What is broken in the cache is written again; in the repository it is an error.
    lab.write("cached.txt", "# lockctl facts 1\nbroken\n");
    let ended = lock(&lab, &[vars[1]]);
    assert_eq!(ended.code, Some(0), "{}", ended.output);
    assert!(ended.output.contains("::warning title=lockctl lock::"));
    lab.write("facts.txt", "# lockctl facts 1\nbroken\n");
    assert_eq!(lock(&lab, &vars).code, Some(2));

    // A cache that contradicts the repository is an alarm.
    lab.write("facts.txt", &facts);
    lab.write("cached.txt", super::cache_import::falsified(&facts));
    let ended = lock(&lab, &vars);
    assert_eq!(ended.code, Some(1), "{}", ended.output);
    ended.output.has("contradicts");
}

#[test]
fn a_pull_request_can_neither_state_facts_nor_trust_them() {
    if !has("bash") || !has("git") {
        return;
    }
    let (registry, lab) = with_registry(DEMO);
    let git = |args: &[&str]| git(&lab, args);
    std::fs::remove_dir(lab.path(".git")).unwrap();
    git(&["init", "-q", "-b", "main"]);
    lab.write(".lockctl.hcl", TRUSTING);
    let ended = lock(&lab, &[("LOCKCTL_FACTS", "facts.txt")]);
    assert_eq!(ended.code, Some(0), "{}", ended.output);
    let (locked, facts) = (lab.read(LOCK), lab.read("facts.txt"));
    let commit = || {
        git(&["add", "main.tf", ".lockctl.hcl", "facts.txt", LOCK]);
        git(&["commit", "-qm", "a change"]);
        git(&["rev-parse", "HEAD"])
    };
    let base = commit();
    // The branch states a false fact and records the h1: of it.
    lab.write("facts.txt", super::cache_import::falsified(&facts));
    let own = h1_of_first(&facts);
    let lie = h1_of_first(&lab.read("facts.txt"));
    lab.write(LOCK, locked.replace(&own, &lie));
    commit();
    let vars = [
        ("LOCKCTL_FACTS", "facts.txt"),
        ("LOCKCTL_CHECK", "true"),
        ("LOCKCTL_BASE", &base),
    ];
    let before = downloads(&registry);
    let ended = lock(&lab, &vars);
    assert_eq!(ended.code, Some(1), "{}", ended.output);
    ended.output.has("would");
    assert_eq!(
        downloads(&registry),
        before,
        "the facts of the base are known"
    );
    // A base without facts or trust does not let those of the branch in.
    git(&["rm", "-q", "--cached", "facts.txt", ".lockctl.hcl"]);
    git(&["commit", "-qm", "without"]);
    let bare = git(&["rev-parse", "HEAD"]);
    let vars = [vars[0], vars[1], ("LOCKCTL_BASE", &*bare)];
    let ended = lock(&lab, &vars);
    assert_eq!(ended.code, Some(1), "{}", ended.output);
    assert!(downloads(&registry) > before, "packages are looked at");
}

/// Runs git in the directory of the lab; returns what it prints.
fn git(lab: &Lab, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@example.com"]);
    let output = command.args(args).current_dir(lab.dir()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The `h1:` of the first fact of an export.
fn h1_of_first(facts: &str) -> String {
    let mut words = facts.lines().nth(1).unwrap().split(' ');
    words.nth(1).unwrap().to_owned()
}

#[test]
fn the_action_hands_its_inputs_to_the_scripts() {
    let read = |name: &str| std::fs::read_to_string(Path::new(DIR).join(name)).unwrap();
    let scripts = [
        "cache.sh",
        "lock.sh",
        "push.sh",
        "../verify/audit.sh",
        "../verify/install.sh",
        "../verify/project.sh",
        "../verify/roots.sh",
        "../verify/snapshot.sh",
    ];
    let scripts = scripts.map(read).concat();
    let vars = ACTION.lines();
    let vars = vars.filter_map(|line| Some(line.trim().split_once(": ${{ ")?.0));
    let vars: Vec<&str> = vars.filter(|name| name.starts_with("LOCKCTL")).collect();
    assert_eq!(vars.len(), 36, "{vars:?}");
    for name in vars.into_iter().filter(|name| *name != "LOCKCTL_CACHE_DIR") {
        assert!(scripts.contains(&format!("${name}")), "{name}");
    }
    let lines = || ACTION.lines().map(str::trim);
    // What an event holds is never part of a command line.
    for command in lines().filter(|line| line.starts_with("run:")) {
        command.lacks("${{");
    }
    for used in lines().filter_map(|line| line.strip_prefix("uses: ")) {
        let (_, pin) = used.split_once('@').unwrap();
        let commit = pin.split(' ').next().unwrap();
        assert!(
            commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit()),
            "{used}"
        );
    }
}

#[test]
fn the_cache_is_off_unless_it_is_wanted() {
    if !has("bash") {
        return;
    }
    let temp = crate::temp::dir();
    let outputs = temp.path().join("outputs");
    let vars = [
        ("LOCKCTL_CACHE", "false"),
        ("LOCKCTL_EVENT", "push"),
        ("LOCKCTL_REF", "refs/heads/main"),
        ("LOCKCTL_DEFAULT_BRANCH", "main"),
        ("GITHUB_OUTPUT", outputs.to_str().unwrap()),
    ];
    assert_eq!(run("cache.sh", &vars, |_| {}).code, Some(0));
    let found = std::fs::read_to_string(&outputs).unwrap();
    assert!(found.starts_with("restore=false\nsave=false\n"), "{found}");
}
