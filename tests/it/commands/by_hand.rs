//! Advice of `lock` where nothing signed shows which hashes are right: each test does what the advice says.

use serde_json::json;

use super::registry::{DEMO, with_registry};
use super::{LOCK, ONE_PROVIDER, assert_exit, lock};
use crate::lab::Lab;

const ADVICE: &str = "delete `hashes` from the entry and lock again, which keeps the version";

/// The text of a lock file without its only list of hashes.
fn cleared(text: &str) -> String {
    let begin = text.find("  hashes ").unwrap();
    let end = text.find("  ]\n").unwrap() + "  ]\n".len();
    [&text[..begin], &text[end..]].concat()
}

#[test]
fn a_mirror_that_contradicts_the_recorded_list() {
    let lab = Lab::new();
    lab.write("main.tf", ONE_PROVIDER);
    for version in ["1.0.0", "1.1.0"] {
        let package = format!("example.com/t/x/{version}/linux_amd64");
        lab.packed("mirror", &package, version);
    }
    let zeros = "0".repeat(64);
    let ones = "1".repeat(64);
    let locked = format!(
        "provider \"example.com/t/x\" {{\n  version = \"1.0.0\"\n  hashes = [\n    \"zh:{zeros}\",\n    \
         \"zh:{ones}\",\n  ]\n}}\n"
    );
    lab.write(LOCK, &locked);
    let linux = ["--platform", "linux_amd64"];
    let outcome = lock(&lab, &linux);
    assert_exit(&outcome, 1);
    assert!(outcome.stderr.contains(ADVICE), "{}", outcome.stderr);
    lab.write(LOCK, cleared(&locked));
    assert_exit(&lock(&lab, &linux), 0);
    // Deleting the entry would have selected 1.1.0.
    assert!(lab.read(LOCK).contains("\"1.0.0\""), "{}", lab.read(LOCK));
    assert_exit(&lock(&lab, &[&linux[..], &["--check"]].concat()), 0);
}

#[test]
fn more_h1_than_an_unsigned_list_has_packages() {
    let (registry, lab) = with_registry(DEMO);
    let args = [
        "lock",
        "--flavor",
        "opentofu",
        "--platform",
        "linux_amd64",
        "--no-cache",
    ];
    assert_exit(&lab.run(&args), 0);
    let good = lab.read(LOCK);
    registry.reset(&json!({"no_keys": true}));
    // The release has three packages beside the one that is hashed, so one of these is wrong.
    let h1 = ["A", "B", "C", "D"].map(|letter| format!("    \"h1:{}=\",\n", letter.repeat(43)));
    let list = format!("  hashes = [\n{}", h1.concat());
    let bad = good.replace("  hashes = [\n", &list);
    lab.write(LOCK, &bad);
    let outcome = lab.run(&args);
    assert_exit(&outcome, 1);
    assert!(outcome.stderr.contains(ADVICE), "{}", outcome.stderr);
    assert_eq!(lab.read(LOCK), bad);
    lab.write(LOCK, cleared(&bad));
    assert_exit(&lab.run(&args), 0);
    let hashes = |text: &str| text.lines().filter(|line| line.contains("\"h1:")).count();
    assert_eq!(hashes(&lab.read(LOCK)), hashes(&good));
    assert_exit(&lab.run(&[&args[..], &["--check"]].concat()), 0);
}
