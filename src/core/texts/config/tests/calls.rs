//! Calls that lead back to where they came from, or to what only the manifest of installed modules
//! has.

use super::*;

#[test]
fn a_run_starts_anew_and_may_lead_to_the_root() {
    let harness = "run \"a\" {\n  module { source = \"./h\" }\n}\nrun \"b\" {\n  module { source = \"./.\" }\n}";
    let files = [
        ("main.tf", r#"resource "null_x" "y" {}"#),
        ("tests/t.tftest.hcl", harness),
        ("h/main.tf", r#"module "up" { source = "../" }"#),
    ];
    check(
        &files,
        TERRAFORM,
        &[
            ": hashicorp/null",
            "test.tests.t.a.up: hashicorp/null",
            "test.tests.t.b: hashicorp/null",
        ],
    );
    // What the run calls may still go in circles by itself.
    let files = [
        ("main.tf", r#"module "down" { source = "./h" }"#),
        ("h/main.tf", "\nmodule \"up\" { source = \"../\" }"),
        ("tests/t.tftest.hcl", harness),
    ];
    check(
        &files,
        TERRAFORM,
        &[
            "h/main.tf:2: Module calls itself without end",
            "main.tf:1: Module calls itself without end",
        ],
    );
}

/// A manifest with records `(key, source, version, directory)`.
fn manifest(records: &[[&str; 4]]) -> String {
    let records = records.iter().map(|[key, source, version, dir]| {
        format!(r#"{{"Key":"{key}","Source":"{source}","Version":"{version}","Dir":"{dir}"}}"#)
    });
    let records: Vec<String> = records.collect();
    format!(r#"{{"Modules":[{}]}}"#, records.join(","))
}

#[test]
fn a_computed_call_is_read_as_it_is_installed() {
    let main = r#"
module "b" { source = bcrypt("a") }
module "c" {
  source  = "acme/net/aws"
  version = bcrypt("a")
}
module "d" {
  source  = bcrypt("a")
  version = ">= 2.0"
}
"#;
    let registry = "registry.opentofu.org/acme/net/aws";
    let installed = manifest(&[
        ["b", "git::https://example.com/x.git", "", "mods/b"],
        ["c", registry, "1.2.3", "mods/c"],
        ["d", registry, "2.0.0", "mods/d"],
    ]);
    let files = |manifest| {
        [
            ("main.tf", main),
            (".terraform/modules/modules.json", manifest),
            ("mods/b/m.tf", r#"resource "b_x" "y" {}"#),
            ("mods/c/m.tf", r#"resource "c_x" "y" {}"#),
            ("mods/d/m.tf", r#"resource "d_x" "y" {}"#),
        ]
    };
    check(
        &files(&installed),
        OPENTOFU,
        &[
            "b: hashicorp/b",
            "c: hashicorp/c",
            "d: hashicorp/d",
            "main.tf:2: Module call is computed",
            "main.tf:5: Module call is computed",
            "main.tf:8: Module call is computed",
        ],
    );
    let (loaded, _) = load_in("", &files(&installed), OPENTOFU);
    assert!(loaded.requirements.unseen_calls.is_empty());
    assert!(!loaded.requirements.faulty);
    // What is known of the call must fit what is installed.
    let other = manifest(&[
        [
            "c",
            "registry.opentofu.org/other/net/aws",
            "1.2.3",
            "mods/c",
        ],
        ["d", registry, "1.0.0", "mods/d"],
    ]);
    check(
        &files(&other),
        OPENTOFU,
        &[
            "b ? the source is computed",
            "c ? acme/net/aws",
            "d ? the source is computed",
            "main.tf:2: Module call is computed",
            "main.tf:4: Module source has changed",
            "main.tf:8: Module version requirements have changed",
        ],
    );
}

#[test]
fn a_circle_of_computed_calls_ends_with_the_manifest() {
    let installed = manifest(&[["m", "./m", "", "m"], ["m.n", "./../m", "", "m"]]);
    let files = [
        ("main.tf", r#"module "m" { source = "./m" }"#),
        (
            "m/m.tf",
            "module \"n\" { source = bcrypt(\"a\") }\nresource \"null_x\" \"y\" {}",
        ),
        (".terraform/modules/modules.json", &*installed),
    ];
    check(
        &files,
        OPENTOFU,
        &[
            "m: hashicorp/null",
            "m.n: hashicorp/null",
            "m.n.n ? the source is computed",
            "m/m.tf:1: Module call is computed",
            "m/m.tf:1: Module call is computed",
        ],
    );
}

#[test]
fn a_record_of_another_local_module_is_a_note() {
    let main = "module \"m\" {\n  source = \"./new\"\n}\n";
    let record = |source: &str, dir: &str| {
        format!("{{\"Modules\":[{{\"Key\":\"m\",\"Source\":{source:?},\"Dir\":{dir:?}}}]}}")
    };
    let requires = "resource \"alpha_x\" \"x\" {}\n";
    for (source, dir, told_of) in [
        ("./new/.", "new", false),
        ("./old", "old", true),
        // A record whose directory is gone is none.
        ("./old", "gone", false),
    ] {
        let record = record(source, dir);
        let files = [
            ("main.tf", main),
            ("new/m.tf", requires),
            ("old/m.tf", ""),
            (".terraform/modules/modules.json", &*record),
        ];
        let outline = outline("", &files, Flavor::Terraform1_11);
        assert_eq!(
            outline.contains("main.tf:2: Module source has changed"),
            told_of
        );
        assert!(
            outline.contains("m: hashicorp/alpha"),
            "it is followed all the same: {outline}"
        );
    }
}
