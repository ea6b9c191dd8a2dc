//! Two hundred roots with five providers each: what `lock`, `update` and `convert` print fits on one screen.

use super::*;

const PROVIDERS: [&str; 5] = ["aws", "local", "null", "random", "tls"];

const PLATFORMS: [&str; 2] = ["linux_amd64", "darwin_arm64"];

/// The state of a root before the run.
#[derive(Clone, Copy)]
enum State {
    New,
    /// The lock file has no hashes.
    Incomplete,
    /// No version meets the constraints, which differ from root to root.
    Failing,
    /// A module of one of some repositories cannot be fetched.
    Unseen,
    /// No file can be read.
    Broken,
}

/// Two hundred roots, whose states follow one another, and a mirror.
fn repository(states: &[State]) -> Lab {
    repository_of(states, 200)
}

fn repository_of(states: &[State], count: usize) -> Lab {
    let lab = Lab::new();
    for provider in PROVIDERS {
        for version in ["1.0.0", "1.1.0", "2.0.0"] {
            for platform in PLATFORMS {
                let path = format!("example.com/t/{provider}/{version}/{platform}");
                lab.unpacked("mirror", &path, &format!("{provider} {version} {platform}"));
            }
        }
    }
    for number in 0..count {
        write(&lab, number, states[number % states.len()]);
    }
    lab
}

fn write(lab: &Lab, number: usize, state: State) {
    let dir = format!("live/team-{}/root-{number:03}", number % 7);
    let minor = number % 2;
    let version = match state {
        State::Failing => format!(">= 9.{number}"),
        _ => format!("~> 1.{minor}"),
    };
    let required = PROVIDERS.map(|name| {
        format!("    {name} = {{\n      source = \"example.com/t/{name}\"\n      version = \"{version}\"\n    }}\n")
    });
    let mut text = format!(
        "terraform {{\n  backend \"s3\" {{}}\n  required_providers {{\n{}  }}\n}}\n",
        required.concat()
    );
    match state {
        State::Unseen => {
            text += &format!(
                "module \"m\" {{\n  source = \"git::https://git.example.com/team-{}/net.git\"\n}}\n",
                number % 30
            );
        }
        State::Broken => text += "resource {\n",
        State::New | State::Incomplete | State::Failing => {}
    }
    lab.write(&format!("{dir}/main.tf"), text);
    if matches!(state, State::Incomplete | State::Unseen) {
        let entries = PROVIDERS.map(|name| {
            format!("\nprovider \"example.com/t/{name}\" {{\n  version     = \"1.{minor}.0\"\n  constraints = \"~> 1.{minor}\"\n}}\n")
        });
        let header = "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n";
        lab.write(
            &format!("{dir}/{LOCK}"),
            format!("{header}{}", entries.concat()),
        );
    }
}

fn run(lab: &Lab, command: &[&str], more: &[&str]) -> Outcome {
    const MIRROR: &[&str] = &[
        "--fs-mirror",
        "mirror",
        "--modules",
        "installed",
        "--platform",
        "linux_amd64,darwin_arm64",
    ];
    lab.run(&[command, &["-r", "live"], MIRROR, more].concat())
}

#[track_caller]
fn assert_one_screen(outcome: &Outcome, what: &str) {
    let Outcome { stdout, stderr, .. } = outcome;
    let lines = stdout.lines().count() + stderr.lines().count();
    assert!(
        lines <= 60,
        "{what}: {lines} lines\n{stdout}\n--- stderr\n{stderr}"
    );
}

#[test]
fn two_hundred_roots_fit_on_a_screen_in_every_state() {
    use State::{Broken, Failing, Incomplete, New, Unseen};
    for (states, name) in [
        (&[New][..], "new"),
        (&[Incomplete], "incomplete"),
        (&[Failing], "failing"),
        (&[Broken], "broken"),
        (&[New, Incomplete, Failing, Unseen, Broken], "mixed"),
    ] {
        // More roots than a screen has lines; 200 are those of the mixture.
        let count = if states.len() == 1 { 80 } else { 200 };
        let lab = repository_of(states, count);
        for (command, more) in [
            (&["lock"][..], &["--dry-run"][..]),
            (&["lock"], &["--check"]),
            (&["lock"], &["--dry-run", "--format", "markdown"]),
            (&["lock"], &["--check", "--format", "markdown"]),
            (&["convert", "--to", "opentofu"], &["--dry-run"]),
            (&["lock"], &[]),
            (&["lock"], &[]),
            (&["update"], &["--dry-run"]),
            (&["update"], &["--dry-run", "--format", "markdown"]),
            (&["update"], &[]),
            (&["lock"], &["--format", "markdown"]),
            (&["verify"], &["--matrix"]),
        ] {
            let outcome = run(&lab, command, more);
            assert_one_screen(&outcome, &format!("{name}: {command:?} {more:?}"));
        }
    }
}

#[test]
fn what_roots_share_is_said_once_and_what_did_not_change_is_counted() {
    let lab = repository(&[State::Incomplete]);
    let outcome = run(&lab, &["lock"], &[]).exits(0);
    let line = "  2 platforms  2 hashes added  100    live/team-0/root-007, ";
    outcome.stdout_has(line);
    outcome.stdout_has("\nall 200 roots: updated lock file\n");
    let again = run(&lab, &["lock"], &[]);
    assert!(
        again
            .stdout
            .starts_with("all 200 roots: lock file is up to date\n"),
        "{}",
        again.stdout
    );
    again.stderr_lacks("is available");
    // Programs get everything, and so does whoever asks for it.
    let json = run(&lab, &["lock"], &["--format", "json"]);
    assert_eq!(json.stdout.matches("\"path\": \"").count(), 200);
    let verbose = run(&lab, &["lock"], &["-v"]);
    assert_eq!(verbose.stdout.matches("live/team-0/root-007").count(), 5);
    verbose.stderr_has("is available");
}

/// Whoever asks nothing has no doubt about the platforms of single entries, but about all.
#[test]
fn what_no_source_was_asked_is_one_note() {
    let lab = repository(&[State::New]);
    assert_exit(&run(&lab, &["lock"], &[]), 0);
    let args = words("lock -r live --offline --no-cache --platform linux_amd64");
    let outcome = lab.run(&args).exits(0);
    outcome.stderr_has(
        "whether all wanted platforms are covered is not known, since no source was asked; enough recorded h1: are \
         left for that (-v shows each entry) (in all 200 roots)\n",
    );
    assert_eq!(outcome.stderr.matches("no source was asked").count(), 1);
    let all = lab.run(&[&args[..], &["-v"]].concat());
    assert_eq!(all.stderr.matches("no source was asked").count(), 200);
}

/// Where programs of CI read it, what concerns no root in particular is one note, too.
#[test]
fn a_note_about_the_run_is_one_annotation() {
    let lab = repository_of(&[State::Incomplete], 12);
    let verify = |more: &[&str]| run(&lab, &["verify"], more).stdout;
    let github = verify(&["--format", "github"]);
    assert_eq!(github.matches("title=state-not-visible").count(), 1);
    github.has("::The state of all 12 roots is not visible, so providers that only it needs are not known\n");
    let quiet = verify(&["--format", "github", "-q"]);
    quiet.has("::warning ");
    quiet.lacks("::notice ");
    for format in ["sarif", "junit"] {
        let document = verify(&["--format", format]);
        assert_eq!(
            document.matches("The state of all 12 roots").count(),
            1,
            "{document}"
        );
    }
    // Programs that read JSON get it of every root.
    let json = verify(&["--format", "json"]);
    assert_eq!(json.matches("\"state-not-visible\"").count(), 12);
}

/// Every row of a table is broken at the same columns, and no root is lost.
#[test]
fn tables_stay_aligned_on_a_narrow_terminal() {
    let mut lab = repository_of(&[State::New], 40);
    assert_exit(&run(&lab, &["lock"], &[]), 0);
    (lab.env.terminal, lab.env.columns) = (true, Some(80));
    for (command, more) in [
        (&["verify"][..], &["--matrix"][..]),
        (&["outdated"], &[]),
        (&["lock"], &["--dry-run"]),
    ] {
        let outcome = run(&lab, command, more);
        assert_one_screen(&outcome, &format!("{command:?}"));
    }
    let show = lab.run(&["show", "-r", "live", "--color", "never"]);
    assert_one_screen(&show, "show");
    for outcome in [
        lab.run(&["show", "-r", "live", "--color", "never"]).stdout,
        run(&lab, &["verify"], &["--matrix", "--color", "never"]).stdout,
    ] {
        let rows: Vec<&str> = outcome
            .lines()
            .filter(|line| line.contains("live/"))
            .collect();
        assert!(rows.len() >= 5, "{outcome}");
        // Each row names its roots below its provider.
        let ends: Vec<usize> = rows.iter().map(|row| row.chars().count()).collect();
        assert!(ends.iter().all(|end| *end <= 80), "{outcome}");
        assert!(rows.iter().all(|row| row.starts_with("    ")), "{outcome}");
    }
}

/// Of more changes than a screen has lines, the worst are shown, and the others are counted.
#[test]
fn different_changes_of_many_files_are_one_screen() {
    let Some(repo) = crate::repo::Repo::new() else {
        return;
    };
    let entry = |name: &str, version: String| {
        format!(
            "provider \"registry.terraform.io/hashicorp/{name}\" {{\n  version = \"{version}\"\n}}\n\n"
        )
    };
    let write = |number: usize, major: usize| {
        let entries = ["aws", "null", "tls"].map(|name| entry(name, format!("{major}.{number}.0")));
        repo.write(&format!("live/r{number:03}/{LOCK}"), entries.concat());
    };
    (0..90).for_each(|number| write(number, 3));
    repo.commit("first");
    (0..89).for_each(|number| write(number, 4));
    write(89, 2);
    let outcome = repo.run(&["diff"]);
    assert_one_screen(&outcome, "diff");
    assert!(
        outcome.stdout.starts_with("warning  hashicorp/aws "),
        "{}",
        outcome.stdout
    );
    outcome.stdout_has(" more (-v shows all)\n");
    let all = repo.run(&["diff", "-v"]).stdout;
    assert_eq!(all.matches("upgraded (major)").count(), 267);
}

#[test]
fn quiet_prints_failures_only() {
    let lab = repository(&[State::New, State::Unseen]);
    let outcome = run(&lab, &["lock"], &["-q"]).exits(0);
    assert_eq!((&*outcome.stdout, &*outcome.stderr), ("", ""));
    // The same run with `--check` is a failure of all that is not locked, and says which.
    let check = run(
        &repository(&[State::Incomplete]),
        &["lock"],
        &["-q", "--check"],
    );
    assert_exit(&check, 1);
    let wanted = "all 200 roots: lock file would change; nothing was written\n";
    assert!(check.stdout.starts_with(wanted), "{}", check.stdout);
    assert_eq!(check.stdout.lines().count(), 2, "{}", check.stdout);
    assert_eq!(check.stderr, "");
    let lab = repository(&[State::New, State::Failing]);
    let outcome = run(&lab, &["lock"], &["-q"]).exits(2);
    assert!(outcome.stderr.starts_with("error: "), "{}", outcome.stderr);
    outcome.stderr_lacks("note: ");
    assert_eq!(outcome.stdout, "200 roots: 100 clean, 100 failed\n");
}

#[test]
fn modules_that_are_not_visible_have_a_line_for_each_repository() {
    let lab = repository(&[State::Unseen]);
    for command in [&["lock"][..], &["lock", "--dry-run"]] {
        let outcome = run(&lab, command, &[]).exits(0);
        let notes = outcome.stderr.matches("note[module-not-visible]").count();
        assert_eq!(notes, 1, "{}", outcome.stderr);
        for line in [
            "note[module-not-visible]: Module not installed: all 200 roots\n",
            "... and 25 more packages (-v shows each call)\n",
        ] {
            outcome.stderr_has(line);
        }
    }
    let all = run(&lab, &["lock"], &["-v"]);
    let notes = all.stderr.matches("note[module-not-visible]").count();
    assert_eq!(notes, 200);
}

#[test]
fn a_failure_of_many_roots_is_one_block_with_five_of_them() {
    let lab = repository(&[State::New]);
    let args = ["lock", "-r", "live", "--fs-mirror", "none", "--offline"];
    let outcome = lab.run(&args).exits(2);
    outcome.stderr_has("\n  in all 200 roots: live/team-0/root-000, live/team-0/root-007, ");
    outcome.stderr_has(" and 195 more\n");
}
