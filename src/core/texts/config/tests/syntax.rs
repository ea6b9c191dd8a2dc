//! Files in JSON syntax: titles and lines, by flavor.
//!
//! What Terraform 1.11 says was tried with it; the others are recorded cases or follow from them.

use crate::config::tests::outline;
use crate::flavor::Flavor::{self, *};

const ALL: &[Flavor] = &[Terraform1_11, Terraform1_15, Terraform1_16, OpenTofu1_12];

/// Checks what is said of a file, as `LINE: title`.
#[track_caller]
fn check_file(name: &str, flavors: &[Flavor], text: &str, expected: &[&str]) {
    for flavor in flavors {
        let files = [("main.tf", ""), (name, text), ("m/m.tf", "")];
        let outline = outline("", &files, *flavor);
        let said = outline.lines().filter_map(|line| line.strip_prefix(name));
        let said: Vec<&str> = said.map(|line| &line[1..]).collect();
        assert_eq!(said, expected, "{flavor:?}: {text}");
    }
}

#[track_caller]
fn check(flavors: &[Flavor], text: &str, expected: &[&str]) {
    check_file("x.tf.json", flavors, text, expected);
}

#[test]
fn test_files_are_read_alike() {
    check_file(
        "tests/a.tftest.json",
        ALL,
        r#"{"run": {"a": {"command": "plan x", "assert": 1, "module": {"nope": 1}}}}"#,
        &[
            "1: Missing \"source\" attribute for module block",
            "1: Extraneous JSON object property",
        ],
    );
}

#[test]
fn what_a_body_may_hold_is_known() {
    let extra = ["2: Extraneous JSON object property"];
    check(ALL, "{\n\"nonsense\": {}}", &extra);
    check(ALL, "{\"variable\": {\"o\": {\n\"x\": 1}}}", &extra);
    check(ALL, "{\"locals\": []}", &[]);
    check(
        ALL,
        "{\"resource\": {\"a_x\": 1}}",
        &["1: Incorrect JSON value type", "1: Missing block label"],
    );
    check(ALL, "{\"resource\": {}}", &["1: Missing block label"]);
    check(
        ALL,
        "{\"locals\": {\"a\": 1,\n\"a\": 2}}",
        &["2: Duplicate attribute definition"],
    );
    check(ALL, "{\"//\": 1, \"locals\": {}}", &[]);
}

#[test]
fn blocks_of_settings_are_blocks() {
    let cloud = r#"{"terraform": {"cloud": {
        "organization": "o", "workspaces": {"name": "w"}}}}"#;
    check(ALL, cloud, &["1: State not visible"]);
    let misspelt = cloud.replace("name", "nam");
    check(ALL, &misspelt, &["1: State not visible"]);
}
