//! Advice of `lock` and `verify` about recorded hashes that are wrong: each test does what the advice says.

use super::registry::{DEMO, with_registry};
use super::*;
use crate::registry::Registry;

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
    lock(&lab, &linux).exits(1).stderr_has(ADVICE);
    lab.write(LOCK, cleared(&locked));
    assert_exit(&lock(&lab, &linux), 0);
    // Deleting the entry would have selected 1.1.0.
    assert!(lab.read(LOCK).contains("\"1.0.0\""), "{}", lab.read(LOCK));
    assert_exit(&lock(&lab, &[&linux[..], &["--check"]].concat()), 0);
}

#[test]
fn more_h1_than_an_unsigned_list_has_packages() {
    let (registry, lab) = with_registry(DEMO);
    let args = words("lock --flavor opentofu --platform linux_amd64 --no-cache");
    assert_exit(&lab.run(&args), 0);
    let good = lab.read(LOCK);
    registry.reset(&json!({"no_keys": true}));
    // The release has three packages beside the one that is hashed, so one of these is wrong.
    let h1 = ["A", "B", "C", "D"].map(|letter| format!("    \"h1:{}=\",\n", letter.repeat(43)));
    let list = format!("  hashes = [\n{}", h1.concat());
    let bad = good.replace("  hashes = [\n", &list);
    lab.write(LOCK, &bad);
    lab.run(&args).exits(1).stderr_has(ADVICE);
    assert_eq!(lab.read(LOCK), bad);
    lab.write(LOCK, cleared(&bad));
    assert_exit(&lab.run(&args), 0);
    let hashes = |text: &str| text.lines().filter(|line| line.contains("\"h1:")).count();
    assert_eq!(hashes(&lab.read(LOCK)), hashes(&good));
    assert_exit(&lab.run(&[&args[..], &["--check"]].concat()), 0);
}

/// The entry of a release with a signed list, without any `h1:`.
fn listed_only(flavor: &str) -> (Registry, Lab, String) {
    let (registry, lab) = with_registry(DEMO);
    let args = ["lock", "--flavor", flavor, "--platform", "linux_amd64"];
    assert_exit(&lab.run(&args), 0);
    let good = lab.read(LOCK);
    let listed = good.lines().filter(|line| !line.contains("\"h1:"));
    lab.write(
        LOCK,
        listed.map(|line| format!("{line}\n")).collect::<String>(),
    );
    (registry, lab, good)
}

/// The `zh:` of the package for `linux_amd64`.
const LINUX: &str = "d03d04fa877a789654ce1d7c24e5c71e1a997e7a97ca4a419f7f09f37ed081a5";

#[test]
fn a_zh_in_upper_case_is_written_in_lower_case() {
    let (_registry, lab, good) = listed_only("terraform@1.11");
    let listed = lab.read(LOCK);
    let lock = ["lock", "--platform", "linux_amd64"];
    // Without the hash nothing accepts the package any more.
    lab.write(LOCK, listed.replace(&format!("    \"zh:{LINUX}\",\n"), ""));
    assert_exit(&lab.run(&lock), 1);
    lab.write(LOCK, listed.replace(LINUX, &LINUX.to_ascii_uppercase()));
    let outcome = lab.run(&["verify", "--only", "file"]).exits(1);
    outcome.stdout_has("= help: write its digits in lower case\n");
    lab.write(LOCK, listed);
    assert_exit(&lab.run(&lock), 0);
    assert_eq!(lab.read(LOCK), good);
}

#[test]
fn a_zh_that_a_registry_does_not_list_is_taken_out() {
    for (flavor, knobs, said, more) in [
        (
            "terraform@1.11",
            json!({}),
            "a zh: hash that no signed list has",
            &["--repair"][..],
        ),
        (
            "opentofu@1.12",
            json!({"no_keys": true}),
            "a zh: hash that the list of its registry lacks",
            &[],
        ),
    ] {
        let (registry, lab, good) = listed_only(flavor);
        registry.reset(&knobs);
        let other = format!("{}b", &LINUX[..63]);
        let bad = lab.read(LOCK).replace(LINUX, &other);
        lab.write(LOCK, &bad);
        let platform = ["--platform", "linux_amd64", "--no-cache"];
        let outcome = lab.run(&[&["verify", "--upstream"], &platform[..]].concat());
        assert_exit(&outcome, 1);
        outcome.stdout_has(said);
        let lock = [&["lock"], &platform[..], more].concat();
        if more.is_empty() {
            let advice =
                "delete `hashes` from the entry and run `lockctl lock .`, which keeps the version";
            outcome.stdout_has(advice);
            lab.write(LOCK, cleared(&bad));
        } else {
            outcome.stdout_has("run `lockctl lock . --repair`, which takes it out");
            // Without the hash `lock` refuses the package.
            lab.write(LOCK, bad.replace(&format!("    \"zh:{other}\",\n"), ""));
            assert_exit(&lab.run(&[&["lock"], &platform[..]].concat()), 1);
            lab.write(LOCK, &bad);
        }
        assert_exit(&lab.run(&lock), 0);
        assert_eq!(lab.read(LOCK), good);
    }
}
