//! `variable` blocks: titles and lines, by flavor, and what is left after overrides.
//!
//! What Terraform 1.11 says was tried with it; the others are recorded cases or follow from them.

use std::path::Path;

use crate::config::tests::outline;
use crate::config::tree::files::ModuleFiles;
use crate::config::tree::packages::Packages;
use crate::config::tree::reader::Reader;
use crate::config::*;
use crate::expr::{Typed, Value};
use crate::flavor::Flavor;
use crate::module_config::decode::variables::Variable;
use crate::world::mem::MemFiles;

use Flavor::Terraform1_15;

const TYPE: &str = "Invalid type specification";

/// Compares what is wrong, as `FILE:LINE: title`, where `main.tf:` goes without saying.
#[track_caller]
fn check_files(files: &[(&str, &str)], expected: &[&str]) {
    for flavor in Flavor::ALL {
        let outline = outline("", files, flavor);
        let lines = outline
            .lines()
            .map(|line| line.trim_start_matches("main.tf:"));
        let lines: Vec<&str> = lines.collect();
        assert_eq!(lines, expected, "{flavor}: {files:?}");
    }
}

/// Checks what stands in the block of a variable `v` from the second line on.
#[track_caller]
fn check(inside: &str, expected: &[&str]) {
    let text = format!("variable \"v\" {{\n{inside}\n}}\n");
    check_files(&[("main.tf", &text)], expected);
}

#[test]
fn types_are_expressions_of_their_own() {
    for right in [
        "list",
        "map",
        "any",
        "object({})",
        "tuple([])",
        "object({\na = optional(string)\nb = number})",
        "map(list(set(tuple([bool, object({a=any})]))))",
        "object({a = optional(number, \"1\")})",
    ] {
        check(&format!("type = {right}"), &[]);
    }
    for wrong in [
        "set",
        "object",
        "tuple",
        "text",
        "null",
        "true",
        "(string)",
        "string.x",
        "list(list)",
        "list()",
        "list(string, string)",
        "string()",
        "optional(string)",
        "list(optional(string))",
        "12",
        "[string]",
        "object({\"a\" = string})",
        "tuple(string)",
        "${string}",
    ] {
        let wrong = wrong.replace("${string}", "\"${string}\"");
        check(&format!("type = {wrong}"), &[&format!("2: {TYPE}")]);
    }
}

#[test]
fn types_fail_under_several_titles() {
    for quoted in ["string", "list", "map"] {
        check(
            &format!("type = \"{quoted}\""),
            &["2: Invalid quoted type constraints"],
        );
    }
    check(
        "type = \"number\"",
        &["2: Invalid legacy variable type hint"],
    );
    check(
        "type = <<E\nstring\nE",
        &["2: Invalid legacy variable type hint"],
    );
    let several =
        "type = object({\na = nope\nb = optional(number, [])\nc = optional(string, x)\n})";
    let optional = "4: Invalid default value for optional attribute";
    check(
        several,
        &[&format!("3: {TYPE}"), optional, "5: Variables not allowed"],
    );
}

#[test]
fn json_says_the_same() {
    for right in [
        "\"\\nobject({\\na = string\\nb = number})\\n\"",
        "\"string # x\"",
        "\"list\\n(string)\"",
        "\"object({a = optional(map(string), {b = 1, b = 2})})\"",
    ] {
        check_json(right, &[]);
    }
    for wrong in [
        "5",
        "null",
        "[\"string\"]",
        "\"(string)\"",
        "\"string) (x\"",
        "\"\\\"string\\\"\"",
        "\"\"",
        "\"string string\"",
        "\"${string}\"",
    ] {
        check_json(wrong, &[&format!("x.tf.json:1: {TYPE}")]);
    }
    check_json(
        "\"object({a=optional(number,\\\"x\\\")})\"",
        &["x.tf.json:1: Invalid default value for optional attribute"],
    );
}

/// Checks the type of a variable in JSON.
#[track_caller]
fn check_json(ty: &str, expected: &[&str]) {
    let text = format!("{{\"variable\": {{\"v\": {{\"type\": {ty}}}}}}}");
    check_files(&[("x.tf.json", &text)], expected);
}

#[test]
fn conditions_in_json_are_templates() {
    let rule = "{\"condition\": \"${var.v}\", \"error_message\": \"x\"}";
    let text = format!(
        "{{\"variable\": {{\"v\": {{}}}}, \"output\": {{\"o\": {{\"value\": 1, \"precondition\": {rule}}}}}, \
         \"check\": {{\"c\": {{\"assert\": {rule}}}}}, \
         \"resource\": {{\"terraform_data\": {{\"x\": {{\"lifecycle\": {{\"precondition\": {rule}}}}}}}}}}}"
    );
    for flavor in Flavor::ALL {
        let outline = outline("", &[("x.tf.json", &text)], flavor);
        assert!(!outline.contains("x.tf.json"), "{flavor}: {outline}");
    }
}

/// Decodes the only variable of some files.
fn variable(files: &[(&str, &str)]) -> Variable {
    let (files, mut texts) = (MemFiles::with(files), Texts::default());
    let files = Packages::new(&files);
    let mut reader = Reader::new(&files, &mut texts, Path::new(""), Terraform1_15);
    let chosen: ModuleFiles = reader.choose(Path::new("")).unwrap();
    let mut contents = reader.module(Path::new(""), &chosen);
    assert_eq!(reader.found, []);
    contents.variables.remove(0)
}

/// Compares type and default after overrides.
#[track_caller]
fn check_merged(base: &str, overrides: &[&str], expected: &str) {
    let block = |inside: &&str| format!("variable \"v\" {{\n{inside}\n}}\n");
    let (base, over) = (
        block(&base),
        overrides.iter().map(block).collect::<String>(),
    );
    let variable = variable(&[("main.tf", &base), ("override.tf", &over)]);
    let default = variable.default.expect("has one").value.expect("is known");
    assert_eq!(format!("{} {:?}", default.ty, default.value), expected);
}

#[test]
fn a_default_goes_through_all_types() {
    let given = |a: i32| {
        format!(
            "object({{a=number}}) Object({{\"a\": Number(Number {{ digits: {a}, exponent: 0 }})}})"
        )
    };
    // Overrides are filled in by their own type, if they have one.
    let [one, two] = [1, 2].map(|a| format!("type = object({{ a = optional(number, {a}) }})"));
    check_merged(
        &format!("{one}\ndefault = {{}}"),
        &["sensitive = true"],
        &given(1),
    );
    check_merged(&one, &[&format!("{two}\ndefault = {{}}")], &given(2));
    check_merged(
        &one,
        &["default = {}"],
        "object({a=number}) Object({\"a\": Null})",
    );
    check_merged(
        "default = {}",
        &[&two],
        "object({a=number}) Object({\"a\": Null})",
    );
    // A number has become a text on the way.
    check_merged(
        "default = 1.50",
        &["type = string", "type = any"],
        "string String(\"1.5\")",
    );
    check_merged(
        "default = [\"b\", \"a\"]",
        &["type = set(string)", "type = list(string)"],
        "list(string) Tuple([String(\"a\"), String(\"b\")])",
    );
}

#[test]
fn the_type_of_the_base_fills_values_in() {
    let [one, two] = [1, 2].map(|a| {
        format!("variable \"v\" {{\n  type = object({{ a = optional(number, {a}) }})\n}}\n")
    });
    let variable = variable(&[("main.tf", &one), ("override.tf", &two)]);
    let empty = Typed::of(Value::Object(Default::default()));
    let taken = variable.take(empty).expect("fits");
    assert_eq!(
        taken.value,
        Value::Object([("a".to_owned(), Value::Number(1.into()))].into())
    );
}

#[test]
fn flags_and_defaults_are_overridden_one_by_one() {
    let base =
        "variable \"v\" {\n  type = number\n  default = 1\n  nullable = \"0\"\n  const = true\n}\n";
    let over = "variable \"v\" {\n  default = []\n  sensitive = \"maybe\"\n  const = false\n}\n";
    let variable = variable(&[("main.tf", base), ("override.tf", over)]);
    let flags = [variable.nullable, variable.sensitive, variable.constant];
    assert_eq!(flags, [Some(false), Some(true), Some(false)]);
    assert_eq!(variable.ephemeral, None);
    // It does not fit the type.
    assert!(variable.default.expect("is there").value.is_none());
}
