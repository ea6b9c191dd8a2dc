//! Very large and very deep files: the work grows as they do, not faster.
//!
//! Work is counted in allocations and allocated bytes, which are the same on every machine and under
//! any load: whatever is read again, copied or built for each part of a file shows there.
//!
//! `LOCKCTL_MONSTERS` says how many parts the larger ones have.

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

const DEEP: &[Monster] = &[
    ("blocks", "main.tf", |n| nested(n, "a {\n", "", "}\n")),
    ("open blocks", "main.tf", |n| "a {\n".repeat(n)),
    ("closed braces", "main.tf", |n| "}\n".repeat(n)),
    ("lists", "main.tf", |n| {
        format!("locals {{\n a = {}\n}}\n", nested(n, "[", "", "]"))
    }),
    ("open lists", "main.tf", |n| {
        format!("locals {{\n a = {}", "[".repeat(n))
    }),
    ("parentheses", "main.tf", |n| {
        format!("locals {{\n a = {}\n}}\n", nested(n, "(", "1", ")"))
    }),
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
    ("sums", "main.tf", |n| {
        format!("locals {{\n a = 1{}\n}}\n", " + 1".repeat(n))
    }),
    ("products", "main.tf", |n| {
        format!("locals {{\n a = 1{}\n}}\n", " * 1 + 1".repeat(n))
    }),
    ("choices", "main.tf", |n| {
        format!("locals {{\n a = {}1\n}}\n", "x ? 1 : ".repeat(n))
    }),
    ("steps", "main.tf", |n| {
        format!("locals {{\n a = a{}\n}}\n", ".b".repeat(n))
    }),
    ("splats", "main.tf", |n| {
        format!("locals {{\n a = a{}\n}}\n", "[*]".repeat(n))
    }),
    ("templates", "main.tf", |n| {
        format!("locals {{\n a = {}\n}}\n", nested(n, "\"${", "1", "}\""))
    }),
    ("open templates", "main.tf", |n| {
        format!("locals {{\n a = {}\n}}\n", "\"${".repeat(n))
    }),
    ("directives", "main.tf", |n| {
        format!(
            "locals {{\n a = \"{}\"\n}}\n",
            nested(n, "%{if true}", "x", "%{endif}")
        )
    }),
    ("open directives", "main.tf", |n| {
        format!("locals {{\n a = \"{}\"\n}}\n", "%{if true}".repeat(n))
    }),
    ("fors", "main.tf", |n| {
        format!(
            "locals {{\n a = {}\n}}\n",
            nested(n, "[for x in ", "[]", " : x]")
        )
    }),
    ("heredocs", "main.tf", |n| {
        format!("locals {{\n a = {}", numbered(n, |n| format!("<<E{n}\n")))
    }),
    ("heredocs in each other", "main.tf", |n| {
        format!(
            "locals {{\n a = {}",
            numbered(n, |n| format!("<<E{n}\n${{"))
        )
    }),
    ("comments", "main.tf", |n| "/*".repeat(n)),
    ("JSON lists", "main.tf.json", |n| {
        format!("{{\"locals\":{{\"a\":{}}}}}", nested(n, "[", "", "]"))
    }),
    ("JSON objects", "main.tf.json", |n| {
        format!(
            "{{\"locals\":{{\"a\":{}}}}}",
            nested(n, "{\"a\":", "1", "}")
        )
    }),
    ("open JSON", "main.tf.json", |n| "{\"a\":".repeat(n)),
    ("open JSON lists", "main.tf.json", |n| "[".repeat(n)),
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
    ("the manifest", ".terraform/modules/modules.json", |n| {
        "[".repeat(n)
    }),
    (
        "the manifest's records",
        ".terraform/modules/modules.json",
        |n| format!("{{\"Modules\":{}}}", nested(n, "[", "", "]")),
    ),
    ("the state", "terraform.tfstate", |n| {
        format!(
            "{{\"version\":4,\"resources\":{}}}",
            nested(n, "[", "", "]")
        )
    }),
    ("the state's other parts", "terraform.tfstate", |n| {
        format!("{{\"version\":4,\"x\":{}}}", nested(n, "{\"a\":", "1", "}"))
    }),
];

const WIDE: &[Monster] = &[
    ("arguments", "main.tf", |n| {
        format!("locals {{\n{}}}\n", numbered(n, |n| format!("a{n} = 1\n")))
    }),
    ("equal arguments", "main.tf", |n| {
        format!("locals {{\n{}}}\n", "a = 1\n".repeat(n))
    }),
    ("equal keys", "main.tf", |n| {
        format!("locals {{\na = {{\n{}}}\n}}\n", "a = 1\n".repeat(n))
    }),
    ("resources", "main.tf", |n| {
        numbered(n, |n| format!("resource \"alpha_x\" \"r{n}\" {{}}\n"))
    }),
    ("equal resources", "main.tf", |n| {
        "resource \"alpha_x\" \"r\" {}\n".repeat(n)
    }),
    ("types", "main.tf", |n| {
        numbered(n, |n| format!("resource \"a{n}_x\" \"r\" {{}}\n"))
    }),
    ("providers", "main.tf", |n| {
        numbered(n, |n| format!("provider \"a\" {{\n alias = \"a{n}\"\n}}\n"))
    }),
    ("equal providers", "main.tf", |n| {
        "provider \"a\" {}\n".repeat(n)
    }),
    ("variables", "main.tf", |n| {
        numbered(n, |n| format!("variable \"v{n}\" {{}}\n"))
    }),
    ("equal variables", "main.tf", |n| {
        "variable \"v\" {}\n".repeat(n)
    }),
    ("outputs", "main.tf", |n| {
        numbered(n, |n| format!("output \"v{n}\" {{\n value = 1\n}}\n"))
    }),
    ("bad outputs", "main.tf", |n| "output \"v\" {}\n".repeat(n)),
    ("settings", "main.tf", |n| "terraform {}\n".repeat(n)),
    ("required versions", "main.tf", |n| {
        "terraform {\n required_version = \">= 1\"\n}\n".repeat(n)
    }),
    ("backends", "main.tf", |n| {
        format!("terraform {{\n{}}}\n", "backend \"local\" {}\n".repeat(n))
    }),
    ("entries", "main.tf", |n| {
        let entries = numbered(n, |n| {
            format!("a{n} = {{ source = \"x/a{n}\", version = \"1.{n}\" }}\n")
        });
        format!("terraform {{\nrequired_providers {{\n{entries}}}\n}}\n")
    }),
    ("bad entries", "main.tf", |n| {
        let entries = numbered(n, |n| {
            format!("a{n} = {{ source = \"_\", version = \"x\" }}\n")
        });
        format!("terraform {{\nrequired_providers {{\n{entries}}}\n}}\n")
    }),
    ("entries of one address", "main.tf", |n| {
        let entries = numbered(n, |n| format!("a{n} = {{ source = \"x/a\" }}\n"));
        format!("terraform {{\nrequired_providers {{\n{entries}}}\n}}\n")
    }),
    ("blocks of entries", "main.tf", |n| {
        "terraform {\nrequired_providers {\na = \"1\"\n}\n}\n".repeat(n)
    }),
    ("aliases", "main.tf", |n| {
        let aliases = numbered(n, |n| format!("a.b{n},"));
        format!(
            "terraform {{\nrequired_providers {{\na = {{ configuration_aliases = [{aliases}] }}\n}}\n}}\n"
        )
    }),
    ("conditions", "main.tf", |n| {
        let conditions = numbered(n, |n| format!(">= 1.{n},"));
        format!("terraform {{\nrequired_providers {{\na = \"{conditions} < 9\"\n}}\n}}\n")
    }),
    ("conditions of blocks", "main.tf", |n| {
        numbered(n, |n| {
            format!("provider \"a\" {{\n alias = \"a{n}\"\n version = \">= 1.{n}\"\n}}\n")
        })
    }),
    ("calls", "main.tf", |n| {
        numbered(n, |n| {
            format!("module \"m{n}\" {{\n source = \"./m\"\n}}\n")
        })
    }),
    ("equal calls", "main.tf", |n| {
        "module \"m\" {\n source = \"./m\"\n}\n".repeat(n)
    }),
    ("calls of nothing", "main.tf", |n| {
        numbered(n, |n| {
            format!("module \"m{n}\" {{\n source = \"./m{n}\"\n}}\n")
        })
    }),
    ("remote calls", "main.tf", |n| {
        numbered(n, |n| {
            format!("module \"m{n}\" {{\n source = \"a/b/c\"\n}}\n")
        })
    }),
    ("equal passed providers", "main.tf", |n| {
        let pairs = "a.b = a.c\n".repeat(n);
        format!("module \"m\" {{\n source = \"./m\"\n providers = {{\n{pairs}}}\n}}\n")
    }),
    ("dependencies", "main.tf", |n| {
        format!(
            "resource \"a_x\" \"r\" {{\n depends_on = [{}]\n}}\n",
            "a_x.b, ".repeat(n)
        )
    }),
    ("quoted dependencies", "main.tf", |n| {
        format!(
            "resource \"a_x\" \"r\" {{\n depends_on = [{}]\n}}\n",
            "\"a_x.b\", ".repeat(n)
        )
    }),
    ("lifecycles", "main.tf", |n| {
        format!(
            "resource \"a_x\" \"r\" {{\n{}}}\n",
            "lifecycle {}\n".repeat(n)
        )
    }),
    ("provisioners", "main.tf", |n| {
        format!(
            "resource \"a_x\" \"r\" {{\n{}}}\n",
            "provisioner \"x\" {}\n".repeat(n)
        )
    }),
    ("moves", "main.tf", |n| {
        numbered(n, |n| {
            format!("moved {{\n from = a_x.a{n}\n to = a_x.b{n}\n}}\n")
        })
    }),
    ("removals", "main.tf", |n| {
        numbered(n, |n| format!("removed {{\n from = a_x.a{n}\n}}\n"))
    }),
    ("imports", "main.tf", |n| {
        numbered(n, |n| {
            format!("import {{\n to = a_x.a{n}\n id = \"x\"\n}}\n")
        })
    }),
    ("equal imports", "main.tf", |n| {
        "import {\n to = a_x.a\n id = \"x\"\n}\n".repeat(n)
    }),
    ("checks", "main.tf", |n| {
        numbered(n, |n| format!("check \"c{n}\" {{}}\n"))
    }),
    ("unknown blocks", "main.tf", |n| {
        numbered(n, |n| format!("x{n} {{}}\n"))
    }),
    ("unknown arguments", "main.tf", |n| {
        numbered(n, |n| format!("x{n} = 1\n"))
    }),
    ("labels", "main.tf", |n| {
        format!("resource {}{{}}\n", "\"a\" ".repeat(n))
    }),
    ("broken lines", "main.tf", |n| "resource \"a\n".repeat(n)),
    ("broken arguments", "main.tf", |n| "a = \n".repeat(n)),
    ("broken blocks", "main.tf", |n| {
        "resource \"a_x\" \"r\" { a = 1, b = 2 }\n".repeat(n)
    }),
    ("bad escapes", "main.tf", |n| {
        format!("locals {{\na = \"{}\"\n}}\n", "\\z".repeat(n))
    }),
    ("good escapes", "main.tf", |n| {
        format!("locals {{\na = \"{}\"\n}}\n", "\\u0061".repeat(n))
    }),
    ("interpolations", "main.tf", |n| {
        format!("locals {{\na = \"{}\"\n}}\n", "${b}".repeat(n))
    }),
    ("dollars", "main.tf", |n| {
        format!("locals {{\na = \"{}\"\n}}\n", "$".repeat(n))
    }),
    ("quotes", "main.tf", |n| "\"".repeat(n)),
    ("lines", "main.tf", |n| "\r".repeat(n)),
    ("long name", "main.tf", |n| {
        format!("resource \"{}_x\" \"r\" {{}}\n", "a".repeat(20 * n))
    }),
    ("long source", "main.tf", |n| {
        format!(
            "terraform {{\nrequired_providers {{\na = {{ source = \"{}\" }}\n}}\n}}\n",
            "a/".repeat(9 * n)
        )
    }),
    ("long way", "main.tf", |n| {
        format!(
            "module \"m\" {{\n source = \"./{}\"\n}}\n",
            "a/".repeat(9 * n)
        )
    }),
    ("heredocs", "main.tf", |n| {
        format!(
            "locals {{\n{}}}\n",
            numbered(n, |n| format!("a{n} = <<E\nx\nE\n"))
        )
    }),
    ("heredoc lines", "main.tf", |n| {
        format!("locals {{\na = <<-E\n{}E\n}}\n", "  x\n".repeat(n))
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
    ("JSON members", "main.tf.json", |n| {
        format!(
            "{{\"locals\":{{{}\"b\":1}}}}",
            numbered(n, |n| format!("\"a{n}\":1,"))
        )
    }),
    ("equal JSON members", "main.tf.json", |n| {
        format!("{{\"locals\":{{{}\"b\":1}}}}", "\"a\":1,".repeat(n))
    }),
    ("JSON resources", "main.tf.json", |n| {
        format!(
            "{{\"resource\":{{\"a_x\":{{{}\"b\":{{}}}}}}}}",
            numbered(n, |n| format!("\"a{n}\":{{}},"))
        )
    }),
    ("JSON blocks", "main.tf.json", |n| {
        format!(
            "{{\"resource\":{{\"a_x\":{{\"a\":[{}{{}}]}}}}}}",
            "{},".repeat(n)
        )
    }),
    ("JSON dependencies", "main.tf.json", |n| {
        let items = "\"a_x.b\",".repeat(n);
        format!("{{\"resource\":{{\"a_x\":{{\"a\":{{\"depends_on\":[{items}\"a_x.c\"]}}}}}}}}")
    }),
    ("JSON moves", "main.tf.json", |n| {
        format!(
            "{{\"moved\":[{}{{}}]}}",
            "{\"from\":\"a_x.b\",\"to\":\"a_x.c\"},".repeat(n)
        )
    }),
    ("JSON escapes", "main.tf.json", |n| {
        format!("{{\"locals\":{{\"a\":\"{}\"}}}}", "\\u0061".repeat(n))
    }),
    ("unknown JSON", "main.tf.json", |n| {
        format!("{{{}\"b\":1}}", numbered(n, |n| format!("\"a{n}\":1,")))
    }),
    ("long JSON string", "main.tf.json", |n| {
        format!(
            "{{\"module\":{{\"a\":{{\"source\":\"{}\"}}}}}}",
            "${a}".repeat(n)
        )
    }),
    ("runs", "main.tftest.hcl", |n| {
        numbered(n, |n| format!("run \"r{n}\" {{}}\n"))
    }),
    ("equal runs", "main.tftest.hcl", |n| {
        "run \"r\" {}\n".repeat(n)
    }),
    ("mocks", "main.tftest.hcl", |n| {
        numbered(n, |n| {
            format!("mock_provider \"a\" {{\n alias = \"a{n}\"\n}}\n")
        })
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
    ("records", ".terraform/modules/modules.json", |n| {
        let record = |n| format!("{{\"Key\":\"a{n}\",\"Source\":\"./m\",\"Dir\":\"m\"}},");
        format!("{{\"Modules\":[{}{{}}]}}", numbered(n, record))
    }),
    ("equal records", ".terraform/modules/modules.json", |n| {
        let record = "{\"Key\":\"a\",\"Source\":\"./m\",\"Dir\":\"m\"},";
        format!("{{\"Modules\":[{}{{}}]}}", record.repeat(n))
    }),
    ("resources of the state", "terraform.tfstate", |n| {
        let resource = |n| format!("{{\"provider\":\"provider[\\\"a.b/c/d{n}\\\"]\"}},");
        format!(
            "{{\"version\":4,\"resources\":[{}{{}}]}}",
            numbered(n, resource)
        )
    }),
    ("bad resources of the state", "terraform.tfstate", |n| {
        format!(
            "{{\"version\":4,\"resources\":[{}{{}}]}}",
            "{\"provider\":\"x\"},".repeat(n)
        )
    }),
    ("instances of the state", "terraform.tfstate", |n| {
        let instances = "{\"provider\":\"x\"},".repeat(n);
        format!("{{\"version\":4,\"resources\":[{{\"instances\":[{instances}{{}}]}}]}}")
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
    let parts = std::env::var("LOCKCTL_MONSTERS").map_or(PARTS, |n| n.parse().unwrap());
    let mut said = String::new();
    for flavor in [Flavor::Terraform1_16, Flavor::OpenTofu1_12] {
        let small = work(monster, parts / GROWTH, flavor);
        let large = work(monster, parts, flavor);
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
fn work_grows_with_width() {
    let faults: Vec<String> = WIDE.iter().filter_map(disproportion).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn work_grows_with_depth() {
    let faults: Vec<String> = DEEP.iter().filter_map(disproportion).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

/// The count notices what it is there for.
#[test]
fn a_square_is_a_disproportion() {
    let square = |parts: usize| {
        let text = "x".repeat(parts);
        let copies = measure(|| (0..parts).for_each(|at| drop(text[at..].to_owned())));
        copies.bytes_total
    };
    assert!(square(PARTS) > MOST * square(PARTS / GROWTH));
}
