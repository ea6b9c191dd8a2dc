//! The README and the help texts: every transcript is run, and the first command of the README is
//! what it says it is.
#![allow(
    clippy::disallowed_methods,
    reason = "this test sets up a checkout of its own"
)]

use std::fs;
use std::path::Path;

#[path = "support/copy.rs"]
mod copy;

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// One test, because the working directory is the whole process's.
#[test]
fn transcripts_hold() {
    trycmd::TestCases::new()
        .register_bin("lockctl", Path::new(env!("CARGO_BIN_EXE_lockctl")))
        .case("tests/cmd/*.trycmd")
        .run();
    the_readme_holds();
}

fn the_readme_holds() {
    let readme = fs::read_to_string(Path::new(HERE).join("README.md")).expect("the README");
    the_first_command_is_the_transcript(&readme);
    the_project_file_is_sound(&readme);
    links_lead_to_files(&readme);

    // The transcripts write a lock file, so they run in a copy of what they need.
    let checkout = tempfile::tempdir().expect("a temporary directory");
    let quickstart = Path::new("fixtures/quickstart");
    for fixture in [quickstart, Path::new("fixtures/gaps")] {
        let from = Path::new(HERE).join(fixture);
        copy::copy_dir(&from, &checkout.path().join(fixture));
    }
    let _ = fs::remove_file(checkout.path().join(quickstart).join(".terraform.lock.hcl"));
    let copied = checkout.path().join("README.md");
    fs::write(&copied, &readme).expect("written");
    std::env::set_current_dir(checkout.path()).expect("there");
    trycmd::TestCases::new()
        .register_bin("lockctl", Path::new(env!("CARGO_BIN_EXE_lockctl")))
        .env("NO_COLOR", "1")
        .case(copied)
        .run();
}

/// What is linked to is there, unless it is elsewhere.
fn links_lead_to_files(readme: &str) {
    let links = readme.split("](").skip(1);
    let links = links.filter_map(|rest| rest.split(')').next());
    let files: Vec<&str> = links.filter(|link| !link.contains("://")).collect();
    assert!(files.contains(&"fixtures/schema/output.json"), "{files:?}");
    for file in files {
        assert!(Path::new(HERE).join(file).exists(), "{file}");
    }
}

/// Nothing is wrong with the project file that is shown.
fn the_project_file_is_sound(readme: &str) {
    let (_, shown) = readme.split_once("```hcl\n").expect("a project file");
    let (shown, _) = shown.split_once("```").expect("its end");
    let mut texts = lockctl::diag::Texts::default();
    let file = texts.add(lockctl::project::FILE_NAME, shown.into());
    let (_, problems) = lockctl::project::parse(file, texts.bytes(file));
    assert!(problems.is_empty(), "{problems:?}");
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
