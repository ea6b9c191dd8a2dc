//! Very large and very deep files: the work grows as they do, not faster.
//!
//! Work is counted in allocations and allocated bytes, which are the same on every machine and under
//! any load: what is read again, copied or built for each part of a file shows there. The tests of `limits`
//! do the same by bytes; here are overrides, test files, and forms that are not among their cases.

use std::fmt::Write as _;

use allocation_counter::{AllocationInfo, measure};
use lockctl::flavor::Flavor;

use super::hostile::{load, tree};

/// How large the larger one of two monsters is, in parts.
const PARTS: usize = 2_000;
/// How many times as large as the other one it is.
const GROWTH: usize = 5;
/// How many times as much work that may be. What grows with the square makes 25.
const MOST: u64 = 8;

/// A file of so many parts.
type Monster = (&'static str, &'static str, fn(usize) -> String);

fn numbered(count: usize, part: impl Fn(usize) -> String) -> String {
    (0..count).map(part).collect()
}

/// Puts a text into so many others.
fn nested(count: usize, open: &str, inside: &str, close: &str) -> String {
    format!("{}{inside}{}", open.repeat(count), close.repeat(count))
}

const MONSTERS: &[Monster] = &[
    ("objects", "main.tf", |n| {
        format!("locals {{\n a = {}\n}}\n", nested(n, "{a=", "1", "}"))
    }),
    ("calls", "main.tf", |n| {
        format!("locals {{\n a = {}\n}}\n", nested(n, "f(", "1", ")"))
    }),
    ("indices", "main.tf", |n| {
        format!("locals {{\n a = {}\n}}\n", nested(n, "a[", "1", "]"))
    }),
    ("nots", "main.tf", |n| {
        format!("locals {{\n a = {}true\n}}\n", "!".repeat(n))
    }),
    ("minuses", "main.tf", |n| {
        format!("locals {{\n a = {}1\n}}\n", "-".repeat(n))
    }),
    ("products", "main.tf", |n| {
        format!("locals {{\n a = 1{}\n}}\n", " * 1 + 1".repeat(n))
    }),
    ("splats", "main.tf", |n| {
        format!("locals {{\n a = a{}\n}}\n", "[*]".repeat(n))
    }),
    ("fors", "main.tf", |n| {
        format!(
            "locals {{\n a = {}\n}}\n",
            nested(n, "[for x in ", "[]", " : x]")
        )
    }),
    ("heredocs in each other", "main.tf", |n| {
        format!(
            "locals {{\n a = {}",
            numbered(n, |n| format!("<<E{n}\n${{"))
        )
    }),
    ("JSON templates", "main.tf.json", |n| {
        let text = nested(n, "\\\"${", "1", "}\\\"");
        format!("{{\"output\":{{\"a\":{{\"value\":\"${{{text}}}\"}}}}}}")
    }),
    ("JSON references", "main.tf.json", |n| {
        format!(
            "{{\"moved\":{{\"from\":\"a.b{}\",\"to\":\"a.b\"}}}}",
            "[a".repeat(n)
        )
    }),
    ("equal keys", "main.tf", |n| {
        format!("locals {{\na = {{\n{}}}\n}}\n", "a = 1\n".repeat(n))
    }),
    ("outputs", "main.tf", |n| {
        numbered(n, |n| format!("output \"v{n}\" {{\n value = 1\n}}\n"))
    }),
    ("equal passed providers", "main.tf", |n| {
        let pairs = "a.b = a.c\n".repeat(n);
        format!("module \"m\" {{\n source = \"./m\"\n providers = {{\n{pairs}}}\n}}\n")
    }),
    ("quoted dependencies", "main.tf", |n| {
        format!(
            "resource \"a_x\" \"r\" {{\n depends_on = [{}]\n}}\n",
            "\"a_x.b\", ".repeat(n)
        )
    }),
    ("good escapes", "main.tf", |n| {
        format!("locals {{\na = \"{}\"\n}}\n", "\\u0061".repeat(n))
    }),
    ("dollars", "main.tf", |n| {
        format!("locals {{\na = \"{}\"\n}}\n", "$".repeat(n))
    }),
    ("long way", "main.tf", |n| {
        format!(
            "module \"m\" {{\n source = \"./{}\"\n}}\n",
            "a/".repeat(9 * n)
        )
    }),
    ("overrides", "main.tf+override.tf", |n| {
        numbered(n, |n| format!("resource \"alpha_x\" \"r{n}\" {{}}\n"))
    }),
    ("overrides of variables", "main.tf+override.tf", |n| {
        numbered(n, |n| format!("variable \"v{n}\" {{}}\n"))
    }),
    ("overrides of locals", "main.tf+override.tf", |n| {
        format!("locals {{\n{}}}\n", numbered(n, |n| format!("a{n} = 1\n")))
    }),
    ("overrides of outputs", "main.tf+override.tf", |n| {
        numbered(n, |n| format!("output \"v{n}\" {{\n value = 1\n}}\n"))
    }),
    ("overrides of calls", "main.tf+override.tf", |n| {
        numbered(n, |n| {
            format!("module \"m{n}\" {{\n source = \"./m\"\n}}\n")
        })
    }),
    ("overrides of providers", "main.tf+override.tf", |n| {
        numbered(n, |n| format!("provider \"a\" {{\n alias = \"a{n}\"\n}}\n"))
    }),
    ("overrides of entries", "main.tf+override.tf", |n| {
        let entries = numbered(n, |n| format!("a{n} = {{ source = \"x/a{n}\" }}\n"));
        format!("terraform {{\nrequired_providers {{\n{entries}}}\n}}\n")
    }),
    ("overrides of nothing", "override.tf", |n| {
        numbered(n, |n| format!("resource \"alpha_x\" \"r{n}\" {{}}\n"))
    }),
    ("runs", "main.tftest.hcl", |n| {
        numbered(n, |n| format!("run \"r{n}\" {{}}\n"))
    }),
    ("equal runs", "main.tftest.hcl", |n| {
        "run \"r\" {}\n".repeat(n)
    }),
    ("overrides in tests", "main.tftest.hcl", |n| {
        numbered(n, |n| {
            format!("override_resource {{\n target = a_x.b{n}\n}}\n")
        })
    }),
    ("runs with modules", "main.tftest.hcl", |n| {
        numbered(n, |n| {
            format!("run \"r{n}\" {{\n module {{\n source = \"./m\"\n}}\n}}\n")
        })
    }),
    ("JSON runs", "main.tftest.json", |n| {
        format!(
            "{{\"run\":{{{}\"b\":{{}}}}}}",
            numbered(n, |n| format!("\"a{n}\":{{}},"))
        )
    }),
];

/// Returns what loading allocates.
fn work((_, names, make): &Monster, parts: usize, flavor: Flavor) -> AllocationInfo {
    let text = make(parts);
    let files = names.split('+').map(|name| (name, text.as_bytes()));
    let files = tree(files.chain([("m/main.tf", &b"resource \"beta_x\" \"x\" {}\n"[..])]));
    measure(|| drop(load(&files, flavor)))
}

/// Says how the work grows, if it does so faster than the file.
fn disproportion(monster: &Monster) -> Option<String> {
    let mut said = String::new();
    for flavor in [Flavor::Terraform1_16, Flavor::OpenTofu1_12] {
        let small = work(monster, PARTS / GROWTH, flavor);
        let large = work(monster, PARTS, flavor);
        for (what, small, large) in [
            ("allocations", small.count_total, large.count_total),
            ("bytes", small.bytes_total, large.bytes_total),
            ("bytes at once", small.bytes_max, large.bytes_max),
        ] {
            if large > MOST * small {
                let name = (monster.0, monster.1);
                write!(said, "{name:?} {flavor}: {small} {what}, then {large}; ").unwrap();
            }
        }
    }
    (!said.is_empty()).then_some(said)
}

#[test]
fn work_grows_as_files_do() {
    let faults: Vec<String> = MONSTERS.iter().filter_map(disproportion).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}
