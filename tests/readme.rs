//! The README and the help texts: every transcript is run, and the first command of the README is
//! what it says it is.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this test sets up a checkout of its own"
)]

use std::fs;
use std::path::Path;
use std::process::Command;

#[path = "support/copy.rs"]
mod copy;

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// One test, because the working directory is the whole process's.
#[test]
fn transcripts_hold() {
    trycmd::TestCases::new()
        .register_bin("lockctl", Path::new(env!("CARGO_BIN_EXE_lockctl")))
        .case("tests/cmd/*.trycmd")
        .case("tests/cmd/*.toml")
        .run();
    the_readme_holds();
}

fn the_readme_holds() {
    let readme = fs::read_to_string(Path::new(HERE).join("README.md")).expect("the README");
    assert!(readme.len() <= MAX_README_BYTES, "{} bytes", readme.len());
    the_first_command_is_the_transcript(&readme);
    links_lead_to_files(&readme);

    // The transcripts write a lock file, so they run in a copy of what they need.
    let checkout = tempfile::tempdir().expect("a temporary directory");
    copy::copy_quickstart(&checkout.path().join("fixtures/quickstart"));
    for fixture in ["fixtures/gaps", "fixtures/review"] {
        let from = Path::new(HERE).join(fixture);
        copy::copy_dir(&from, &checkout.path().join(fixture));
    }
    // As in a checkout, where git must not ignore the lock file that the first command writes.
    fs::copy(
        Path::new(HERE).join(".gitignore"),
        checkout.path().join(".gitignore"),
    )
    .expect("copied");
    let init = Command::new("git")
        .args(["init", "-q"])
        .current_dir(checkout.path())
        .status();
    assert!(init.expect("git runs").success());
    let copied = checkout.path().join("README.md");
    // That of the user may know packages of an earlier run.
    let cache = checkout.path().join("cache");
    fs::write(&copied, &readme).expect("written");
    std::env::set_current_dir(checkout.path()).expect("there");
    trycmd::TestCases::new()
        .register_bin("lockctl", Path::new(env!("CARGO_BIN_EXE_lockctl")))
        .env("NO_COLOR", "1")
        .env("LOCKCTL_CACHE_DIR", cache.to_str().expect("text"))
        .case(&copied)
        .run();
    // With TRYCMD=overwrite it is the copy that was written.
    let written = fs::read_to_string(&copied).expect("the copy");
    if written != readme {
        fs::write(Path::new(HERE).join("README.md"), written).expect("written");
    }
}

/// Maximum length of the README, in bytes: a page or two, and the rest is in the pages of `explain`.
const MAX_README_BYTES: usize = 9_500;

/// Every link leads to a file of the repository, and every topic is named.
fn links_lead_to_files(readme: &str) {
    let links = readme.split("](").skip(1);
    let links = links.filter_map(|rest| rest.split(')').next());
    let files: Vec<&str> = links.filter(|link| !link.contains("://")).collect();
    for topic in lockctl::guide::TOPICS {
        let name = format!("`{}`", topic.name);
        assert!(readme.contains(&name), "{name}");
    }
    for file in files {
        assert!(Path::new(HERE).join(file).exists(), "{file}");
    }
}

/// The command for a checkout is the same as the first transcript, through `cargo run`.
fn the_first_command_is_the_transcript(readme: &str) {
    let command = readme
        .lines()
        .find(|line| line.starts_with("cargo run"))
        .expect("a command");
    let by_cargo: Vec<String> = command
        .split(" && ")
        .map(|part| part.replace("cargo run -q --", "$ lockctl"))
        .collect();
    let transcript: Vec<&str> = readme
        .lines()
        .filter(|line| line.starts_with("$ lockctl"))
        .take(by_cargo.len())
        .collect();
    assert_eq!(by_cargo, transcript);
}
