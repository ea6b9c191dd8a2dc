//! `mirror` over two hundred roots that lock a hundred providers: the table fits on one screen.

use super::*;

const PLATFORM: &[&str] = &["--platform", "linux_amd64"];

/// Maximum number of lines on a screen.
const LINES: usize = 60;

fn repository() -> Lab {
    let lab = Lab::new();
    for number in 0..100 {
        let package = format!("example.com/t/p{number}/1.0.0/linux_amd64");
        lab.packed("fs", &package, &number.to_string());
    }
    for number in 0..200 {
        let required: String = [number % 100, (number + 7) % 100]
            .map(|name| format!("    p{name} = {{ source = \"example.com/t/p{name}\" }}\n"))
            .concat();
        let text = format!(
            "terraform {{\n  backend \"s3\" {{}}\n  required_providers {{\n{required}  }}\n}}\n"
        );
        lab.write(&format!("live/root-{number:03}/main.tf"), text);
    }
    let lock = words("lock -r live --flavor opentofu --fs-mirror fs");
    assert_exit(&lab.run(&[&lock[..], PLATFORM].concat()), 0);
    assert!(lab.path(&format!("live/root-199/{LOCK}")).exists());
    lab
}

fn mirror(lab: &Lab, more: &[&str]) -> Outcome {
    lab.run(&[&["mirror", "m", "-r", "live", "--offline"], PLATFORM, more].concat())
}

#[track_caller]
fn check_lines(outcome: &Outcome, hides: bool) {
    let lines = outcome.stdout.lines().count() + outcome.stderr.lines().count();
    assert!(lines <= LINES, "{lines} lines: {outcome:#?}");
    assert_eq!(
        outcome.stdout.contains("(-v shows all)"),
        hides,
        "{outcome:#?}"
    );
}

#[test]
fn two_hundred_roots_fit_on_one_screen() {
    let lab = repository();
    // No place has any package: each of a hundred releases fails.
    let outcome = mirror(&lab, &[]).exits(2);
    check_lines(&outcome, true);
    let placing = ["--from", "fs", "--oci-layout", "oci"];
    let outcome = mirror(&lab, &placing).exits(0);
    check_lines(&outcome, true);
    outcome.stdout_has("placed 100 packages");
    let all = mirror(&lab, &[&placing[..], &["-v"]].concat()).exits(0);
    assert_eq!(all.stdout.matches(" kept ").count(), 100);
    // The OCI layouts of all providers are missing.
    std::fs::remove_dir_all(lab.path("oci")).unwrap();
    let checked = mirror(&lab, &[&placing[2..], &["--check"]].concat()).exits(1);
    check_lines(&checked, true);
}
