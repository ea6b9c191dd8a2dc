//! `dynamic` blocks that stay, and the reasons.

use super::{check, expanded};
use crate::flavor::Flavor;

/// Checks the reason why a `dynamic` block of these arguments stays as it is.
#[track_caller]
fn check_stays(declarations: &str, arguments: &str, reason: &str) {
    let dynamic = format!("  dynamic \"b\" {{\n{arguments}\n    content {{\n    }}\n  }}");
    let main = format!("{declarations}\nresource \"x_y\" \"z\" {{\n{dynamic}\n}}\n");
    let out = expanded(&[("main.tf", &main)], 0, &[], Flavor::Terraform1_11);
    let line = out.lines().nth(1).expect("a remark");
    assert_eq!(line.trim(), format!("# not expanded: {reason}"));
    assert!(out.contains("dynamic \"b\" {"), "{out}");
}

#[test]
fn what_is_not_known_stays_with_the_reason() {
    let declarations = r#"
variable "unset" {}
variable "secret" {
  default   = ["hush"]
  sensitive = true
}
locals {
  mixed  = { names = ["a"], id = x_y.other.id }
  circle = local.circle
}
"#;
    for (arguments, reason) in [
        ("for_each = var.unset", "var.unset has no value"),
        ("for_each = var.secret", "for_each is sensitive"),
        (
            "for_each = x_y.other.list",
            "x_y.other.list is known to a plan only",
        ),
        (
            "for_each = data.x_y.other.list",
            "data.x_y.other.list is known to a plan only",
        ),
        (
            "for_each = module.m.list",
            "module.m.list is known to a plan only",
        ),
        (
            "for_each = local.mixed",
            "x_y.other.id is known to a plan only",
        ),
        (
            "for_each = each.value",
            "each.value differs between instances",
        ),
        (
            "for_each = [timestamp()]",
            "its value is known to a plan only",
        ),
        (
            "for_each = local.circle",
            "Cycle: local.circle needs itself",
        ),
        ("for_each = null", "for_each is null"),
        ("for_each = \"text\"", "for_each is no collection"),
        ("labels = [\"a\"]", "it has no for_each"),
        (
            "for_each = [1]\niterator = \"a\"",
            "its iterator is no name",
        ),
        (
            "for_each = [1]\nlabels = [x_y.other.id]",
            "x_y.other.id is known to a plan only",
        ),
        (
            "for_each = [1]\nlabels = [sensitive(\"l\")]",
            "a label is no text that may be shown",
        ),
    ] {
        check_stays(declarations, arguments, reason);
    }
    // A part that is known is enough.
    let contents = "  dynamic \"b\" {\n for_each = local.mixed.names\n content {\n }\n }";
    check(declarations, contents, "b {\n}");
}

/// Nested `dynamic` blocks of these kinds, each for a thousand elements.
fn nested(kinds: &[&str]) -> String {
    kinds.iter().rev().fold(String::new(), |inner, kind| {
        format!("dynamic \"{kind}\" {{\nfor_each = range(1000)\ncontent {{\n{inner}}}\n}}\n")
    })
}

#[test]
fn hostile_blocks_are_not_generated() {
    let honest = "dynamic \"small\" {\nfor_each = [1]\ncontent {\n}\n}\n";
    let main = format!(
        "resource \"x_y\" \"z\" {{\n{}{honest}}}\n",
        nested(&["a", "b", "c"])
    );
    let out = expanded(&[("main.tf", &main)], 0, &[], Flavor::Terraform1_11);
    let reason = "# not expanded: more than 10000 blocks would be generated";
    assert_eq!(out.matches(reason).count(), 2, "a and b");
    assert_eq!(
        out.matches(" c {").count(),
        1000,
        "c alone is within the limit"
    );
    assert!(out.contains("  small {"), "others are generated");
    // Few blocks may be large, too.
    let text = "x".repeat(1 << 20);
    let main = format!(
        "resource \"x_y\" \"z\" {{\ndynamic \"a\" {{\nfor_each = range(100)\ncontent {{\nv = \"{text}${{a.value}}\"\n}}\n}}\n}}\n"
    );
    let out = expanded(&[("main.tf", &main)], 0, &[], Flavor::Terraform1_11);
    assert!(out.contains("# not expanded: more than 64 MiB of expressions would be generated"));
    // The functions have limits of their own.
    check_stays(
        "",
        "for_each = range(1000000000)",
        "Error in function call: more than 1024 values were generated; either decrease the difference between start \
         and end or use a smaller step",
    );
    let product = "for_each = setproduct(range(1000), range(1000), range(1000))";
    check_stays("", product, "this computes too much");
}
