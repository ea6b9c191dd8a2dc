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
use crate::module_config::decode::variables::{Given, Variable};
use crate::world::mem::MemFiles;

use Flavor::{OpenTofu1_12, Terraform1_11, Terraform1_15, Terraform1_16};

const ALL: &[Flavor] = &Flavor::ALL;
const OLD: &[Flavor] = &[Terraform1_11];
const NEW: &[Flavor] = &[Terraform1_15, Terraform1_16, OpenTofu1_12];

const DEFAULT: &str = "Invalid default value for variable";
const TYPE: &str = "Invalid type specification";

/// Compares what is wrong, as `FILE:LINE: title`, where `main.tf:` goes without saying.
#[track_caller]
fn check_files(files: &[(&str, &str)], flavors: &[Flavor], expected: &[&str]) {
    for flavor in flavors {
        let outline = outline("", files, *flavor);
        let lines = outline
            .lines()
            .map(|line| line.trim_start_matches("main.tf:"));
        let lines: Vec<&str> = lines.collect();
        assert_eq!(lines, expected, "{flavor}: {files:?}");
    }
}

/// Checks what stands in the block of a variable `v` from the second line on.
#[track_caller]
fn check(flavors: &[Flavor], inside: &str, expected: &[&str]) {
    let text = format!("variable \"v\" {{\n{inside}\n}}\n");
    check_files(&[("main.tf", &text)], flavors, expected);
}

/// Checks two blocks of one variable, the second of which is in `o_override.tf`.
#[track_caller]
fn check_override(base: &str, over: &str, expected: &[&str]) {
    let [base, over] = [base, over].map(|inside| format!("variable \"v\" {{\n{inside}\n}}\n"));
    check_files(
        &[("main.tf", &base), ("o_override.tf", &over)],
        ALL,
        expected,
    );
}

#[test]
fn names_are_names() {
    for name in ["0x", "", "a b"] {
        let text = format!("variable \"{name}\" {{\n}}\n");
        check_files(&[("main.tf", &text)], ALL, &["1: Invalid variable name"]);
    }
    for name in ["_a", "a-b", "each", "enabled", "connection", "type", "é"] {
        let text = format!("variable \"{name}\" {{\n}}\n");
        check_files(&[("main.tf", &text)], ALL, &[]);
    }
}

#[test]
fn arguments_have_their_types() {
    check(
        ALL,
        "nope = 1\nlifecycle {}",
        &["2: Unsupported argument", "3: Unsupported block type"],
    );
    let unsuitable = "2: Unsuitable value type";
    for argument in ["nullable = \"maybe\"", "sensitive = null", "ephemeral = 2"] {
        check(ALL, argument, &[unsuitable]);
    }
    check(ALL, "nullable = \"1\"\nsensitive = \"true\"", &[]);
    check(ALL, "sensitive = var.x", &["2: Variables not allowed"]);
    check(
        OLD,
        "const = \"yes\"\ndeprecated = []",
        &["2: Unsupported argument", "3: Unsupported argument"],
    );
    check(NEW, "const = \"yes\"\ndeprecated = []", &[unsuitable]);
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
        check(ALL, &format!("type = {right}"), &[]);
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
        check(ALL, &format!("type = {wrong}"), &[&format!("2: {TYPE}")]);
    }
}

#[test]
fn types_fail_under_several_titles() {
    for quoted in ["string", "list", "map"] {
        check(
            ALL,
            &format!("type = \"{quoted}\""),
            &["2: Invalid quoted type constraints"],
        );
    }
    check(
        ALL,
        "type = \"number\"",
        &["2: Invalid legacy variable type hint"],
    );
    check(
        ALL,
        "type = <<E\nstring\nE",
        &["2: Invalid legacy variable type hint"],
    );
    let several =
        "type = object({\na = nope\nb = optional(number, [])\nc = optional(string, x)\n})";
    let optional = "4: Invalid default value for optional attribute";
    check(
        ALL,
        several,
        &[&format!("3: {TYPE}"), optional, "5: Variables not allowed"],
    );
    let note = "2: Duplicate object key";
    let twice = "type = object({a = string, a = string})";
    check(ALL, twice, &[note, &format!("2: {TYPE}")]);
    let in_default = "type = object({a = optional(map(string), {b = 1, b = 2})})";
    check(ALL, in_default, &[note]);
    // A type that is none takes everything.
    check(ALL, "type = nope\ndefault = [{}]", &[&format!("2: {TYPE}")]);
}

#[test]
fn defaults_fit_their_types() {
    let refused = format!("3: {DEFAULT}");
    for (ty, default) in [
        ("number", "\"x\""),
        ("bool", "1"),
        ("list(string)", "\"a\""),
        ("list(any)", "[1, []]"),
        ("map(string)", "{ a = [1] }"),
        ("object({ a = string })", "{}"),
        ("tuple([string])", "[]"),
        ("set(object({ a = number }))", "[{ a = 1 }, { a = \"x\" }]"),
    ] {
        check(
            ALL,
            &format!("type = {ty}\ndefault = {default}"),
            &[&refused],
        );
        // In which order they stand does not matter.
        let refused = format!("2: {DEFAULT}");
        check(
            ALL,
            &format!("default = {default}\ntype = {ty}"),
            &[&refused],
        );
        check(ALL, &format!("type = {ty}\ndefault = null"), &[]);
    }
    for (ty, default) in [
        ("string", "1.50"),
        ("number", "\"1.50\""),
        ("list", "[1, \"a\", true]"),
        (
            "object({ a = optional(object({ b = optional(number, 1) }), {}) })",
            "{}",
        ),
        (
            "set(object({ a = optional(string, \"x\") }))",
            "[{}, { a = null }]",
        ),
        // What only we cannot compute is no fault.
        ("bool", "1 / 3 == 0.33"),
    ] {
        check(ALL, &format!("type = {ty}\ndefault = {default}"), &[]);
    }
    check(ALL, "nullable = false\ndefault = null", &[&refused]);
    check(ALL, "nullable = true\ndefault = null", &[]);
    check(
        ALL,
        "type = list(string)\ndefault = [var.a, file(\"b\")]",
        &["3: Variables not allowed", "3: Function calls not allowed"],
    );
}

#[test]
fn validations_are_of_primary_files() {
    let validation = "validation {\ncondition = true\n}";
    check(ALL, validation, &[]);
    check(
        ALL,
        "validation \"x\" {\n}",
        &["2: Extraneous label for validation"],
    );
    let refused = ["o_override.tf:2: Can't override validation blocks"];
    check_override("", validation, &refused);
}

#[test]
fn json_says_the_same() {
    let rows: &[(&str, &[&str])] = &[
        (
            "\"type\": \"\\nobject({\\na = string\\nb = number})\\n\"",
            &[],
        ),
        ("\"type\": \"list\", \"default\": [\"${x}\"]", &[]),
        ("\"type\": \"string # x\", \"default\": \"${x}\"", &[]),
        ("\"type\": \"list\\n(string)\"", &[]),
        (
            "\"type\": \"object({a = optional(map(string), {b = 1, b = 2})})\"",
            &[],
        ),
        ("\"type\": \"object({a=string,a=string})\"", &[TYPE]),
        ("\"type\": 5", &[TYPE]),
        ("\"type\": null", &[TYPE]),
        ("\"type\": [\"string\"]", &[TYPE]),
        ("\"type\": \"(string)\"", &[TYPE]),
        ("\"type\": \"string) (x\"", &[TYPE]),
        ("\"type\": \"\\\"string\\\"\"", &[TYPE]),
        ("\"type\": \"\"", &[TYPE]),
        ("\"type\": \"string string\"", &[TYPE]),
        ("\"type\": \"${string}\"", &[TYPE]),
        ("\"type\": \"number\", \"default\": \"${5}\"", &[DEFAULT]),
        (
            "\"type\": \"object({a=optional(number,\\\"x\\\")})\"",
            &["Invalid default value for optional attribute"],
        ),
        ("\"nullable\": \"false\", \"default\": null", &[DEFAULT]),
        ("\"nope\": 1", &["Extraneous JSON object property"]),
        ("\"validation\": {\"condition\": \"var.v\"}", &[]),
    ];
    for (inside, titles) in rows {
        let text = format!("{{\"variable\": {{\"v\": {{{inside}}}}}}}");
        let expected: Vec<String> = titles
            .iter()
            .map(|title| format!("x.tf.json:1: {title}"))
            .collect();
        let expected: Vec<&str> = expected.iter().map(|line| &**line).collect();
        check_files(&[("x.tf.json", &text)], ALL, &expected);
    }
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

#[test]
fn overrides_bring_type_and_default_together() {
    let refused = format!("o_override.tf:1: {DEFAULT}");
    check_override("default = \"abc\"", "type = number", &[&refused]);
    check_override("type = number", "default = \"abc\"", &[&refused]);
    check_override("nullable = false", "default = null", &[&refused]);
    check_override("default = null", "nullable = false", &[&refused]);
    check_override("type = object({ a = number })", "default = {}", &[&refused]);
    check_override("default = \"12\"", "type = number", &[]);
    check_override(
        "type = nope\ndefault = \"x\"",
        "type = number",
        &[&format!("2: {TYPE}"), &refused],
    );
    let own = format!("o_override.tf:3: {DEFAULT}");
    check_override("", "type = number\ndefault = \"x\"", &[&own]);
    check_override(
        "type = number\ndefault = \"x\"",
        "default = 1",
        &[&format!("3: {DEFAULT}")],
    );
    // Each block is compared with all that came before it.
    let files = [
        ("main.tf", "variable \"v\" {\n  default = 1.5\n}\n"),
        (
            "a_override.tf",
            "variable \"v\" {\n  type = list(string)\n}\n",
        ),
        (
            "b_override.tf",
            "variable \"v\" {\n}\nvariable \"v\" {\n  default = []\n}\n",
        ),
    ];
    let lines = ["a_override.tf:1: ", "b_override.tf:1: "].map(|line| format!("{line}{DEFAULT}"));
    check_files(&files, ALL, &[&lines[0], &lines[1]]);
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
fn each_argument_has_its_place() {
    let base =
        "variable \"v\" {\n  type = string\n  default = 1\n  nullable = false\n  const = true\n}\n";
    let over = "variable \"v\" {\n  default = 2\n  sensitive = true\n  const = false\n}\n";
    let variable = variable(&[("main.tf", base), ("override.tf", over)]);
    let says = |given: &Option<Given<bool>>, value| {
        let given = given.as_ref().expect("is there");
        assert_eq!(given.value, Some(value));
        given.place
    };
    let (nullable, sensitive) = (
        says(&variable.nullable, false),
        says(&variable.sensitive, true),
    );
    let constant = says(&variable.constant, false);
    assert_eq!(&base[nullable.span.start..nullable.span.end], "false");
    assert_eq!(&over[sensitive.span.start..sensitive.span.end], "true");
    assert_eq!(constant.file, sensitive.file);
    assert_ne!(nullable.file, sensitive.file);
    assert_eq!(variable.place.file, nullable.file);
    assert!(variable.ephemeral.is_none());
}
