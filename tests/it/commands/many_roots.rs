//! Two hundred roots with five providers each: what the commands that only look at them print fits on one screen.

use super::outdated::{locks, mirror, outdated, requires};
use super::*;

const ROOTS: usize = 200;

const FEWER_ROOTS: usize = 80;

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// The state that the roots share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// All require and lock the same.
    Equal,
    /// Each requires something else, and locks another version of what is offered.
    Different,
    /// None has a lock file.
    Missing,
    /// Every lock file has comments, which no canonical one has.
    Commented,
    /// No lock file meets the constraints.
    Unmet,
    /// All of that.
    Mixed,
}

const STATES: [State; 6] = [
    State::Equal,
    State::Different,
    State::Missing,
    State::Commented,
    State::Unmet,
    State::Mixed,
];

fn roots(state: State) -> Lab {
    roots_of(state, ROOTS)
}

fn roots_of(state: State, count: usize) -> Lab {
    let lab = mirror(&NAMES.map(|name| (name, &["1.0.0", "1.1.0", "2.0.0"][..])));
    for at in 0..count {
        let state = if state == State::Mixed {
            STATES[at % 5]
        } else {
            state
        };
        let constraint = match state {
            State::Different => format!(">= 0.{at}"),
            State::Unmet => "~> 2.0".to_owned(),
            _ => "~> 1.0".to_owned(),
        };
        let locked = match state {
            State::Different => ["1.0.0", "1.1.0", "2.0.0"][at % 3],
            _ => "1.0.0",
        };
        let root = format!("live/team-{}/{at:03}", at % 7);
        let providers = NAMES.map(|name| (name, constraint.as_str()));
        let backend = "terraform {\n  backend \"local\" {}\n}\n";
        lab.write(&format!("{root}/main.tf"), requires(&providers) + backend);
        let lock = locks(&NAMES.map(|name| (name, locked)));
        let lock = match state {
            State::Missing => continue,
            State::Commented => format!("# why\n{lock}"),
            _ => lock,
        };
        lab.write(&format!("{root}/{LOCK}"), lock);
    }
    lab
}

#[track_caller]
fn assert_one_screen(state: State, args: &[&str], outcome: &Outcome) {
    let Outcome { stdout, stderr, .. } = outcome;
    // Markdown ends with an empty line.
    let lines = stdout.trim_end().lines().count() + stderr.lines().count();
    assert!(
        lines <= 60,
        "{state:?} {args:?}: {lines} lines\n{stdout}\n--- stderr\n{stderr}"
    );
}

#[test]
fn two_hundred_roots_are_one_screen_in_every_state() {
    for state in STATES {
        // One state with all roots is enough; the others have more roots than a screen has lines.
        let count = if state == State::Mixed {
            ROOTS
        } else {
            FEWER_ROOTS
        };
        let lab = roots_of(state, count);
        for args in [
            &["show", "-r"][..],
            &["tree", "-r", "--no-state"],
            &["why", "a", "-r", "--no-state"],
            &["why", "nothing", "-r", "--no-state"],
            &["fmt", "-r", "--check"],
            &["resolve", "-r"],
            &["verify", "-r", "--no-state"],
            &["verify", "-r", "--no-state", "--format", "markdown"],
        ] {
            let outcome = lab.run(args);
            assert_one_screen(state, args, &outcome);
            if state == State::Mixed {
                let all = lab.run(&[args, &["-v"]].concat());
                let length = |of: &Outcome| of.stdout.len() + of.stderr.len();
                assert!(length(&all) >= length(&outcome), "{args:?}: {}", all.stdout);
            }
        }
        for args in [&["-r", "--no-state"][..], &["-r", "--format", "markdown"]] {
            let outcome = outdated(&lab, args);
            assert_one_screen(state, args, &outcome);
        }
    }
}

/// `-q` leaves what a command was asked for, and of one that judges or changes only what is wrong.
#[test]
fn quiet_prints_what_was_asked_for_and_failures() {
    let lab = roots(State::Equal);
    let platforms = ["-r", "-q", "--no-state", "--only", "file,configuration"];
    let verify = lab.run(&[&["verify"], &platforms[..]].concat()).exits(0);
    assert_eq!((&*verify.stdout, &*verify.stderr), ("", ""));
    for args in [
        &["fmt", "-r", "-q"][..],
        &["fmt", "-r", "-q", "--check"],
        &["resolve", "-rq"],
    ] {
        let outcome = lab.run(args).exits(0);
        assert_eq!((&*outcome.stdout, &*outcome.stderr), ("", ""), "{args:?}");
    }
    for args in [
        &["show", "-r", "-q"][..],
        &["tree", "-r", "-q", "--no-state"],
        &["why", "a", "-r", "-q", "--no-state"],
    ] {
        let outcome = lab.run(args).exits(0);
        let loud: Vec<&str> = args.iter().copied().filter(|arg| *arg != "-q").collect();
        assert_eq!(outcome.stdout, lab.run(&loud).stdout, "{args:?}");
        assert!(
            !outcome.stdout.is_empty() && outcome.stderr.is_empty(),
            "{args:?}"
        );
    }
    outdated(&lab, &["-r", "-q", "--no-state"]).stdout_has("can be updated");
    // What is wrong is said, and nothing else is.
    let lab = roots(State::Mixed);
    let verify = lab.run(&[&["verify"], &platforms[..]].concat()).exits(1);
    assert!(verify.stdout.starts_with("error["), "{}", verify.stdout);
    assert_eq!(verify.stderr, "");
    let fmt = lab.run(&["fmt", "-rq", "--check"]).exits(1);
    assert_eq!(fmt.stdout.lines().count(), 41, "{}", fmt.stdout);
    assert_eq!(fmt.stderr, "");
}

/// Faults with the same title are one, wherever they are.
#[test]
fn equal_faults_of_many_roots_are_one_block() {
    let lab = roots(State::Equal);
    for at in 0..30 {
        let root = format!("live/team-{}/{at:03}", at % 7);
        let text = "terraform {\n  backend \"s3\" {}\n}\nlocals {\n  a = var.nowhere\n}\nmodule \"m\" {\n  source = var.nowhere\n}\n";
        lab.write(&format!("{root}/main.tf"), text);
    }
    let outcome = lab.run(&["verify", "-r", "--no-state"]);
    assert_one_screen(State::Equal, &["verify"], &outcome);
    let titles: Vec<&str> = outcome
        .stdout
        .lines()
        .filter(|line| line.starts_with("error["))
        .collect();
    let wanted =
        "error[configuration-invalid]: Reference to undeclared input variable: 30 of 200 roots";
    assert_eq!(titles, [wanted], "{}", outcome.stdout);
}

#[test]
fn a_root_without_a_lock_file_is_counted() {
    let lab = roots(State::Mixed);
    for command in ["show", "fmt", "resolve"] {
        let outcome = lab.run(&[command, "-r"]).exits(0);
        outcome.stderr_has("note: 200 roots; 40 of them without a lock file\n");
        // A root that was named should have one.
        assert_exit(&lab.run(&[command, "live/team-2/002"]), 2);
    }
    let json = lab.run(&["show", "-r", "--format", "json"]);
    assert_eq!(json.stdout.matches("\"lock-missing\"").count(), 40);
}

#[test]
fn annotations_of_two_hundred_roots_are_few() {
    for state in [State::Equal, State::Missing, State::Unmet] {
        let lab = roots(state);
        let args = ["verify", "-r", "--no-state", "--format", "github"];
        let outcome = lab.run(&args);
        assert_one_screen(state, &args, &outcome);
        outcome.stdout_has("and 190 more annotations like this");
        let markdown = lab.run(&["verify", "-r", "--no-state", "--format", "markdown"]);
        let mut depth = 0;
        let open = markdown.stdout.lines().filter(|line| {
            depth += line.matches("<details>").count();
            let is_open = depth == 0;
            depth -= line.matches("</details>").count();
            is_open
        });
        assert!(open.count() <= 40, "{}", markdown.stdout);
    }
}

#[test]
fn the_history_of_two_hundred_roots_is_one_screen() {
    let Some(repo) = Repo::new() else { return };
    for version in 0..50 {
        for at in 0..ROOTS {
            // Half of the roots move together, each of the others to a version of its own.
            let own = if (at / 50) % 2 == 0 { 0 } else { at };
            if version == 0 || at % 50 == version {
                let version = format!("1.{version}.{own}");
                let lock = locks(&NAMES.map(|name| (name, &*version)));
                repo.write(&format!("live/{at:03}/{LOCK}"), lock);
            }
        }
        repo.git(&["add", "--all"]);
        repo.git(&["commit", "--quiet", "--allow-empty", "-m", "x"]);
    }
    let outcome = repo.run(&["log"]).exits(0);
    assert!(outcome.stdout.lines().count() <= 60, "{}", outcome.stdout);
    outcome.stdout_has(" more (-v shows all)\n");
    let newest = repo.run(&["log", "-n", "1"]);
    // Two roots move together, and two by themselves.
    assert_eq!(
        newest.stdout.matches("  2      live/").count(),
        5,
        "{}",
        newest.stdout
    );
    newest.stdout_has("20 changes of 5 providers in 1 commit");
    let json = repo.run(&["log", "-n", "1", "--format", "json"]);
    assert_eq!(json.stdout.matches("\"subject\"").count(), 20);
    let all = repo.run(&["log", "-v"]);
    assert!(all.stdout.lines().count() > 1000);
}

#[test]
fn a_cause_that_stops_many_roots_is_shown_once() {
    let lab = Lab::new();
    for number in 0..40 {
        let version = format!("1.0.{number}");
        let entry = format!(
            "provider \"example.com/t/x\" {{\n  version = \"{version}\"\n  hashes = [\n    \"zh:{}\",\n  ]\n}}\n",
            "0".repeat(64)
        );
        lab.write(&format!("r{number}/{LOCK}"), entry);
        let config = "terraform {\n  required_providers {\n    x = {\n      source = \"example.com/t/x\"\n    }\n  }\n}\n";
        lab.write(&format!("r{number}/main.tf"), config);
    }
    let args = [
        "lock",
        "-r",
        "--check",
        "--offline",
        "--platform",
        "linux_amd64",
    ];
    let text = lab.run(&args).exits(2).stderr;
    assert_eq!(
        text.matches("no earlier run kept them").count(),
        1,
        "{text}"
    );
    let others = "cause: the same applies to 39 other failures, in 39 other roots: r1, r10, r11, r12, r13 and 34 more (-v shows all)";
    assert!(text.contains(others), "{text}");
    let all = lab.run(&[&args[..], &["-v"]].concat()).exits(2).stderr;
    assert_eq!(all.matches("no earlier run kept them").count(), 40, "{all}");
}

#[test]
fn a_failure_that_differs_in_its_places_is_shown_once() {
    let lab = Lab::new();
    lab.unpacked("mirror", "example.com/t/x/1.0.0/linux_amd64", "x");
    for number in 0..40 {
        let config = "terraform {\n  required_providers {\n    x = {\n      source  = \"example.com/t/x\"\n      version = \"~> 1.0\"\n    }\n  }\n}\n";
        lab.write(&format!("r{number}/main.tf"), config)
            .write(&format!("r{number}/{LOCK}"), "");
    }
    let args = ["update", "x@1.9.9", "-r", "--fs-mirror", "mirror"];
    let text = lab.run(&args).exits(2).stderr;
    assert_eq!(text.matches("required in").count(), 1, "{text}");
    let others = "cause: the same applies to 39 other failures, in 39 other roots: r1, r10, r11, r12, r13 and 34 more (-v shows all)";
    assert!(text.contains(others), "{text}");
}
