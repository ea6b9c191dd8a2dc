//! Files in JSON syntax: titles and lines, by flavor.
//!
//! What Terraform 1.11 says was tried with it; the others are recorded cases or follow from them.

use crate::config::tests::outline;
use crate::flavor::Flavor::{self, *};

const ALL: &[Flavor] = &[Terraform1_11, Terraform1_15, Terraform1_16, OpenTofu1_12];
const TERRAFORM: &[Flavor] = &[Terraform1_11, Terraform1_15, Terraform1_16];

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

/// Checks a resource whose members start on the third line.
#[track_caller]
fn check_resource(flavors: &[Flavor], members: &str, expected: &[&str]) {
    let text = format!("{{\"resource\": {{\"a_x\": {{\n\"b\": {{\n{members}\n}}}}}}}}");
    check(flavors, &text, expected);
}

#[test]
fn strings_are_references_where_those_are_needed() {
    let good = [
        r#""depends_on": ["a_x.c", "data.a.b", "module.m[\"k\"].x", "a_x.c[0]"]"#,
        r#""lifecycle": {"ignore_changes": "all"}"#,
        r#""lifecycle": {"ignore_changes": ["tags", "a[0].b"]}"#,
        r#""lifecycle": {"replace_triggered_by": ["a_x.c.id"]}"#,
        r#""provisioner": {"p": {"when": "destroy", "on_failure": "continue"}}"#,
    ];
    for members in good {
        check_resource(ALL, members, &[]);
    }
    for bad in ["a_x.c +", "a.b + c", "${a.b}", "", "a .. b"] {
        let members = format!("\"depends_on\": [\n\"{bad}\"]");
        check_resource(ALL, &members, &["4: Invalid expression"]);
    }
    check_resource(ALL, r#""depends_on": "a_x.c""#, &["3: Invalid expression"]);
    check_resource(ALL, r#""depends_on": [1]"#, &["3: Invalid expression"]);
    for word in ["sometimes", "de stroy"] {
        let members = format!("\"provisioner\": {{\"p\": {{\"when\": \"{word}\"}}}}");
        check_resource(ALL, &members, &["3: Invalid \"when\" keyword"]);
    }
    let stars = "\"lifecycle\": {\"ignore_changes\": [\"tags\", \n\"*\"]}";
    let refused = [
        "3: Invalid ignore_changes wildcard",
        "4: Invalid ignore_changes ruleset",
    ];
    check_resource(ALL, stars, &refused);
}

#[test]
fn strings_are_addresses_where_those_are_needed() {
    let moved = |from: &str| format!("{{\"moved\": {{\"from\": \"{from}\", \"to\": \"a_x.b\"}}}}");
    check(ALL, &moved("a_x.a[\\\"k\\\"]"), &[]);
    let refused = ["1: Invalid expression"];
    check(TERRAFORM, &moved("a_x.a +"), &refused);
    let removed = r#"{"removed": {"from": "a_x.a", "lifecycle": {"destroy": false}}}"#;
    check(ALL, removed, &[]);
    check(ALL, r#"{"import": {"to": "a_x.a", "id": "x"}}"#, &[]);
    let output = r#"{"output": {"o": {"value": 1, "depends_on": ["a_x.a"]}}}"#;
    check(ALL, output, &[]);
    let call = r#"{"module": {"m": {"source": "./m", "depends_on": ["a_x.a"]}}}"#;
    check(ALL, call, &[]);
}

#[test]
fn strings_are_templates_where_somebody_asks_what_they_refer_to() {
    let rule = |condition: &str| {
        let rule = format!(r#"{{"condition": "{condition}", "error_message": "m"}}"#);
        format!("\"lifecycle\": {{\"precondition\": {rule}}}")
    };
    check_resource(ALL, &rule("${var.a}"), &[]);
    check_resource(ALL, &rule("var.a"), &["3: Invalid precondition expression"]);
    check_resource(
        ALL,
        &rule("${a_x.b.id}"),
        &["3: Invalid reference in precondition"],
    );
    let output = r#"{"output": {"o": {"value": 1,
        "precondition": {"condition": "${var.a}", "error_message": "m"}}}}"#;
    check(ALL, output, &[]);
    let provisioner = |command: &str| {
        let inside = format!(r#"{{"when": "destroy", "command": "{command}"}}"#);
        format!("\"provisioner\": [{{\"p\": {inside}}}]")
    };
    let refused = ["3: Invalid reference from destroy provisioner"];
    check_resource(ALL, &provisioner("${a_x.c.id}"), &refused);
    check_resource(ALL, &provisioner("${self.id} a_x.c.id"), &[]);
    let connection = r#""connection": {"host": "${a_x.c.id}"},
        "provisioner": {"p": {"when": "destroy"}}"#;
    check_resource(ALL, connection, &refused);
}

#[test]
fn words_of_the_program_are_strings() {
    check(TERRAFORM, r#"{"terraform": {"language": "TF2021"}}"#, &[]);
    let unknown = ["1: Unsupported language edition"];
    check(
        TERRAFORM,
        r#"{"terraform": {"language": "TF2020"}}"#,
        &unknown,
    );
    let none = ["1: Invalid language edition"];
    check(TERRAFORM, r#"{"terraform": {"language": 2021}}"#, &none);
    let language = r#"{"language": {"edition": "tofu2024"}}"#;
    check(&[OpenTofu1_12], language, &[]);
}

#[test]
fn test_files_are_read_alike() {
    let check =
        |text: &str, expected: &[&str]| check_file("tests/a.tftest.json", ALL, text, expected);
    check(
        r#"{"run": {"a": {"command": "plan", "expect_failures": ["var.a"], "plan_options":
            {"mode": "refresh-only", "target": ["a_x.b"], "replace": ["a_x.b"]}}}}"#,
        &[],
    );
    check(
        r#"{"run": {"a": {"command": "plan x",
            "plan_options": {"mode": "xx", "target": [
            "a_x.b +"]}}}}"#,
        &[
            "1: Invalid \"command\" keyword",
            "2: Invalid \"mode\" keyword",
            "3: Invalid expression",
        ],
    );
    check(
        r#"{"override_resource": {"target": "a_x.b", "values": {"id": "x"}}}"#,
        &[],
    );
    check(
        r#"{"run": {"a": {"assert": [{"condition": "${var.x}", "error_message": "m"},
            {"condition": "var.x", "error_message": "m"}]}}}"#,
        &["2: Invalid assert expression"],
    );
}

#[test]
fn what_a_body_may_hold_is_known() {
    let extra = ["2: Extraneous JSON object property"];
    check(ALL, "{\n\"nonsense\": {}}", &extra);
    check(
        ALL,
        "{\"output\": {\"o\": {\n\"x\": 1, \"value\": 1}}}",
        &extra,
    );
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
    check(
        ALL,
        &misspelt,
        &["1: State not visible", "2: Unsupported argument"],
    );
}
