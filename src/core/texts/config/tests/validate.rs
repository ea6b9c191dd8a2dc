//! One file (and an override file) at a time: titles and lines, by flavor.
//!
//! What Terraform 1.11 says was tried with it; the others are recorded cases or follow from them.

use std::path::Path;

use crate::config::Settings;
use crate::config::load;
use crate::diag::{Severity, Texts};
use crate::flavor::Flavor::{self, *};
use crate::world::mem::MemFiles;

const ALL: &[Flavor] = &[Terraform1_11, Terraform1_15, Terraform1_16, OpenTofu1_12];
const TERRAFORM: &[Flavor] = &[Terraform1_11, Terraform1_15, Terraform1_16];
const OPENTOFU: &[Flavor] = &[OpenTofu1_12];
const SINCE_1_15: &[Flavor] = &[Terraform1_15, Terraform1_16];

/// Says what is wrong with some files, as `LINE title`.
fn faults(files: &[(&str, &str)], flavor: Flavor) -> Vec<String> {
    let mut texts = Texts::default();
    let files = MemFiles::with(files);
    let loaded = load(&files, &mut texts, Path::new(""), &Settings::new(flavor));
    let errors = loaded.diagnostics.iter();
    let errors = errors.filter(|error| error.severity == Severity::Error);
    let reported = errors.map(|error| {
        let label = error.primary.as_ref().expect("every error has a place");
        let line = texts.position(label.file, label.span.start).line;
        format!("{line} {}", error.title)
    });
    reported.collect()
}

#[track_caller]
fn check(flavors: &[Flavor], text: &str, expected: &[&str]) {
    for flavor in flavors {
        let files = [("main.tf", text), ("m/m.tf", "")];
        assert_eq!(faults(&files, *flavor), expected, "{flavor:?}: {text}");
    }
}

#[track_caller]
fn check_override(flavors: &[Flavor], base: &str, over: &str, expected: &[&str]) {
    for flavor in flavors {
        let files = [("main.tf", base), ("x_override.tf", over), ("m/m.tf", "")];
        assert_eq!(faults(&files, *flavor), expected, "{flavor:?}: {over}");
    }
}

#[test]
fn the_type_of_a_resource_is_a_name() {
    check(
        ALL,
        r#"resource "a b" "0x" {}"#,
        &["1 Invalid resource type name"],
    );
    check(
        ALL,
        r#"data "a b" "0x" {}"#,
        &["1 Invalid data source name"],
    );
    let ephemeral = r#"ephemeral "a b" "x" {}"#;
    let title = "1 Invalid ephemeral resource type";
    check(TERRAFORM, ephemeral, &[title]);
    check(OPENTOFU, ephemeral, &[&format!("{title} name")]);
    let action = r#"action "a b" "x" {}"#;
    check(SINCE_1_15, action, &["1 Invalid action type name"]);
    check(ALL, r#"resource "a-b" "_x-1" {}"#, &[]);
}

#[test]
fn what_requires_nothing_is_not_looked_into() {
    for text in [
        "resource \"a_x\" \"x\" {\ncount = 1\nfor_each = {}\nlocals {}\n}",
        "resource \"a_x\" \"x\" {\nlifecycle {\nnope = a\n}\nlifecycle {}\nprovisioner {}\n}",
        "module \"m\" {\nsource = \"./m\"\nproviders = [a]\ndepends_on = 1\n}",
        "moved {}\nremoved {\nfrom = 1\n}\ncheck \"c d\" {}\noutput \"a b\" {}",
        "terraform {\nprovider_meta \"a_b\" {\nx = y\n}\n}",
        "import {}\nimport {\nto = a[*]\n}",
        "provider \"a\" {\ncount = 1\nfor_each = {}\n}",
        "terraform {\nexperiments = [a]\nlanguage = TF2099\n}",
        "variable \"source\" {}\nterraform {\nrequired_providers {\na = { configuration_aliases = b }\n}\n}",
    ] {
        check(ALL, text, &[]);
    }
    check(
        ALL,
        "moved \"x\" {\nfrom =\n}",
        &["1 Extraneous label for moved", "2 Invalid expression"],
    );
}

#[test]
fn providers_have_names_before_anything_else() {
    check(
        ALL,
        "provider \"a_b\" {\ncount = 1\n}",
        &["1 Invalid provider local name"],
    );
}

#[test]
fn overrides_have_neither_dependencies_nor_conditions() {
    for kind in ["resource", "data", "ephemeral"] {
        let base = format!("{kind} \"a_x\" \"x\" {{}}");
        let over = |inside: &str| format!("{kind} \"a_x\" \"x\" {{\n{inside}\n}}");
        let condition = over("lifecycle {\n\nprecondition {}\n}");
        let expected = ["4 Can't override precondition blocks"];
        check_override(ALL, &base, &condition, &expected);
        let dependency = over("depends_on = [\na.b]");
        check_override(OPENTOFU, &base, &dependency, &["3 Unsupported override"]);
        let expected: &[&str] = match kind {
            "ephemeral" => &[],
            _ => &["3 Unsupported override"],
        };
        check_override(TERRAFORM, &base, &dependency, expected);
    }
    for (kind, rule) in [("output", "precondition"), ("variable", "validation")] {
        check_override(
            ALL,
            &format!("{kind} \"a\" {{}}"),
            &format!("{kind} \"a\" {{\n{rule} {{}}\n}}"),
            &[&format!("2 Can't override {rule} blocks")],
        );
    }
}
