//! Files in JSON syntax: titles and lines, in every flavor.
//!
//! What Terraform 1.11 says was tried with it; the others are recorded cases or follow from them.

use crate::config::tests::outline;
use crate::flavor::Flavor;

/// Checks what is said of a file, as `LINE: title`.
#[track_caller]
fn check_file(name: &str, text: &str, expected: &[&str]) {
    for flavor in Flavor::ALL {
        let files = [("main.tf", ""), (name, text), ("m/m.tf", "")];
        let outline = outline("", &files, flavor);
        let said = outline.lines().filter_map(|line| line.strip_prefix(name));
        let said: Vec<&str> = said.map(|line| &line[1..]).collect();
        assert_eq!(said, expected, "{flavor:?}: {text}");
    }
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    check_file("x.tf.json", text, expected);
}

#[test]
fn test_files_are_read_alike() {
    check_file(
        "tests/a.tftest.json",
        r#"{"run": {"a": {"command": "plan x", "assert": 1, "module": {"nope": 1}}}}"#,
        &["1: Missing \"source\" attribute for module block"],
    );
}

#[test]
fn what_a_body_may_hold_is_known() {
    let extra = ["2: Extraneous JSON object property"];
    check("{\n\"nonsense\": {}}", &extra);
    check("{\"terraform\": {\n\"x\": 1}}", &extra);
    check("{\"locals\": []}", &[]);
    check(
        "{\"resource\": {\"a_x\": 1}}",
        &["1: Incorrect JSON value type", "1: Missing block label"],
    );
    check("{\"resource\": {}}", &["1: Missing block label"]);
    check(
        "{\"locals\": {\"a\": 1,\n\"a\": 2}}",
        &["2: Duplicate attribute definition"],
    );
    check("{\"//\": 1, \"locals\": {}}", &[]);
}

#[test]
fn blocks_of_settings_are_blocks() {
    let cloud = r#"{"terraform": {"cloud": {
        "organization": "o", "workspaces": {"name": "w"}}}}"#;
    check(cloud, &["1: State not visible"]);
}
