//! Whole roots in memory.

mod calls;
mod kept;
mod merge;
mod overrides;
mod packages;
mod syntax;
mod validate;
mod variables;
mod words;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::*;
use crate::diag::{FileId, MAX_PROBLEMS};
use crate::flavor::Flavor;
use crate::requirement::RequirementOrigin;
use crate::world::mem::{MemFiles, slashed};
use crate::world::{DirEntry, Layer};

const TERRAFORM: Flavor = Flavor::Terraform1_11;
const OPENTOFU: Flavor = Flavor::OpenTofu1_12;

pub(super) fn load_in(root: &str, files: &[(&str, &str)], flavor: Flavor) -> (Loaded, Texts) {
    let mut texts = Texts::default();
    let loaded = load(
        &MemFiles::with(files),
        &mut texts,
        Path::new(root),
        &Settings::new(flavor),
    );
    (loaded, texts)
}

/// Writes what was loaded: requirements as `module: address constraints`, then unseen calls as
/// `module ?`, then diagnostics as `file:line: title`.
pub(super) fn outline(root: &str, files: &[(&str, &str)], flavor: Flavor) -> String {
    let (loaded, texts) = load_in(root, files, flavor);
    outlined(&loaded, &texts, flavor)
}

fn outlined(loaded: &Loaded, texts: &Texts, flavor: Flavor) -> String {
    let mut out = String::new();
    for (addr, places) in &loaded.requirements.providers {
        for place in places {
            let module = place.module.manifest_key();
            let line = format!("{module}: {} {}", addr.short(flavor), place.constraints);
            writeln!(out, "{}", line.trim_end()).expect("writing to a string");
        }
    }
    for call in &loaded.requirements.unseen_calls {
        writeln!(out, "{} ? {}", call.module.manifest_key(), call.source)
            .expect("writing to a string");
    }
    for diagnostic in &loaded.diagnostics {
        let place = diagnostic.primary.as_ref().map_or(String::new(), |label| {
            let line = texts.position(label.file, label.span.start).line;
            format!("{}:{line}", slashed(texts.name(label.file)))
        });
        writeln!(out, "{place}: {}", diagnostic.title).expect("writing to a string");
    }
    out
}

#[track_caller]
fn check(files: &[(&str, &str)], flavor: Flavor, expected: &[&str]) {
    let outline = outline("", files, flavor);
    let lines: Vec<&str> = outline.lines().collect();
    assert_eq!(lines, expected);
}

#[test]
fn every_place_that_requires_is_kept_with_module_and_bytes() {
    let main = r#"
terraform {
  required_providers {
    aws = { source = "acme/aws", version = ">= 1.0" }
  }
}
module "a" { source = "./m" }
"#;
    let files = [
        ("r/main.tf", main),
        ("r/m/x.tf", r#"resource "null_x" "y" {}"#),
    ];
    let (loaded, texts) = load_in("r", &files, TERRAFORM);
    let found: Vec<_> = loaded
        .requirements
        .providers
        .values()
        .flatten()
        .map(|place| {
            let bytes = &texts.bytes(place.file)[place.span.start..place.span.end];
            let bytes = str::from_utf8(bytes).unwrap();
            (
                slashed(texts.name(place.file)),
                place.module.manifest_key(),
                place.origin,
                bytes,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (
                "r/main.tf".to_owned(),
                String::new(),
                RequirementOrigin::RequiredProviders,
                r#"">= 1.0""#
            ),
            (
                "r/m/x.tf".to_owned(),
                "a".to_owned(),
                RequirementOrigin::Implied,
                r#""null_x""#
            ),
        ]
    );
    assert!(loaded.found);
    assert!(!loaded.requirements.faulty);
}

#[test]
fn a_shared_module_is_read_once_and_counts_for_each_call() {
    let main = r#"
module "a" { source = "./m" }
module "b" { source = "./x/../m/" }
"#;
    let shared = "terraform {\n  required_providers { p = \"1.0\" }\n}";
    let files = [("main.tf", main), ("m/m.tf", shared)];
    check(
        &files,
        TERRAFORM,
        &["a: hashicorp/p 1.0.0", "b: hashicorp/p 1.0.0"],
    );
    let (_, mut texts) = load_in("", &files, TERRAFORM);
    assert_eq!(
        texts.add("next", Vec::new()),
        texts_of(2),
        "two files were read"
    );
}

/// Returns the id that comes after `count` texts.
fn texts_of(count: usize) -> FileId {
    let mut texts = Texts::default();
    for _ in 0..count {
        texts.add("", Vec::new());
    }
    texts.add("", Vec::new())
}

#[test]
fn a_module_may_lie_beside_or_above_the_root() {
    let files = [
        ("live/r/main.tf", r#"module "a" { source = "../../m" }"#),
        ("m/m.tf", r#"resource "null_x" "y" {}"#),
    ];
    assert_eq!(outline("live/r", &files, TERRAFORM), "a: hashicorp/null\n");
    assert_eq!(
        outline("./live//r/.", &files, TERRAFORM),
        "a: hashicorp/null\n"
    );
}

#[test]
fn a_cycle_is_an_error_at_the_call_that_closes_it() {
    let files = [
        ("main.tf", r#"module "a" { source = "./m" }"#),
        ("m/m.tf", r#"module "b" { source = "../n" }"#),
        ("n/n.tf", "\nmodule \"c\" { source = \"../m\" }"),
    ];
    check(
        &files,
        TERRAFORM,
        &["n/n.tf:2: Module calls itself without end"],
    );
    check(
        &[("main.tf", r#"module "a" { source = "./" }"#)],
        TERRAFORM,
        &["main.tf:1: Module calls itself without end"],
    );
}

#[test]
fn depth_and_size_of_the_tree_are_limited() {
    let name = |depth: usize| format!("{}main.tf", "m/".repeat(depth));
    let deep: Vec<(String, &str)> = (0..=MAX_DEPTH + 1)
        .map(|depth| (name(depth), r#"module "m" { source = "./m" }"#))
        .collect();
    let deep: Vec<(&str, &str)> = deep.iter().map(|(name, text)| (&**name, *text)).collect();
    let expected = format!("{}:1: Module tree too deep", name(MAX_DEPTH));
    check(&deep, TERRAFORM, &[&expected]);

    let wide: Vec<(String, String)> = (0..40)
        .map(|depth| {
            let call =
                |name: &str| format!("module {name:?} {{ source = \"../m{}\" }}\n", depth + 1);
            (format!("m{depth}/main.tf"), call("a") + &call("b"))
        })
        .collect();
    let mut wide: Vec<(&str, &str)> = wide.iter().map(|(name, text)| (&**name, &**text)).collect();
    wide.push(("m40/main.tf", ""));
    let outline = outline("m0", &wide, TERRAFORM);
    assert_eq!(outline.lines().count(), 1, "{outline}");
    assert!(outline.ends_with("Module tree too large\n"), "{outline}");
}

#[test]
fn a_file_that_is_too_large_is_an_error() {
    let large = " ".repeat(usize::try_from(MAX_FILE_BYTES).expect("16 MiB") + 1);
    let files = [("main.tf", &*large)];
    check(&files, TERRAFORM, &["main.tf:1: Failed to read file"]);
}

#[test]
fn what_cannot_be_followed_is_unseen_and_no_error() {
    let main = r#"
module "a" { source = "acme/net/aws" }
module "b" { source = bcrypt("a") }
module "c" {
  source  = "acme/net/aws"
  version = bcrypt("a")
}
"#;
    check(
        &[("main.tf", main)],
        OPENTOFU,
        &[
            "a ? acme/net/aws",
            "b ? the source is computed",
            "c ? acme/net/aws",
            "main.tf:2: Module not installed",
            "main.tf:3: Module call is computed",
            "main.tf:6: Module call is computed",
        ],
    );
    let (loaded, _) = load_in("", &[("main.tf", main)], OPENTOFU);
    assert!(!loaded.requirements.faulty && !loaded.requirements.is_complete());
}

#[test]
fn no_file_in_json_syntax_may_be_empty() {
    for name in ["x.tf.json", "x_override.tf.json", "tests/a.tftest.json"] {
        let files = [("main.tf", r#"resource "null_x" "y" {}"#), (name, "")];
        let (loaded, _) = load_in("", &files, TERRAFORM);
        assert!(loaded.requirements.faulty, "{name}");
        let expected = format!("{name}:1: Missing value");
        check(&files, TERRAFORM, &[": hashicorp/null", &expected]);
    }
}

#[test]
fn test_files_matter_only_for_what_they_add() {
    let test = r#"
provider "beta" { version = "~> 1.0" }
mock_provider "gamma" {}
run "plain" { command = plan }
"#;
    let files = [
        ("main.tf", ""),
        ("tests/a.tftest.hcl", test),
        ("tests/deep/b.tftest.hcl", "}"),
    ];
    let refused = ["tests/a.tftest.hcl:2: Version constraints are not allowed in test files"];
    check(&files, TERRAFORM, &refused);
    check(
        &files,
        OPENTOFU,
        &[
            "test.tests.a: hashicorp/beta ~> 1.0",
            "tests/a.tftest.hcl:2: Version constraints inside provider configuration blocks are deprecated",
        ],
    );
    let run = "run \"one\" {\n  module { source = \"./s\" }\n}";
    let (module, plain) = (
        "module \"deep\" { source = \"./deep\" }",
        "resource \"null_x\" \"y\" {}",
    );
    let deep = "terraform {\n  required_providers { null = \"~> 1.0\" }\n}";
    check(
        &[
            ("main.tf", plain),
            ("a.tftest.hcl", run),
            ("s/main.tf", module),
            ("s/deep/main.tf", deep),
        ],
        TERRAFORM,
        &[": hashicorp/null", "test.a.one.deep: hashicorp/null ~> 1.0"],
    );
    check(
        &[("main.tf", ""), ("a.tftest.hcl", run)],
        TERRAFORM,
        &["a.tftest.hcl:2: Unreadable module directory"],
    );
}

#[test]
fn a_source_that_no_lock_file_can_hold_is_an_error_at_its_place() {
    let main = "terraform {\n  required_providers {\n    a = { source = \"terraform-a\" }\n  }\n}";
    check(
        &[("main.tf", main)],
        TERRAFORM,
        &[
            ": hashicorp/terraform-a",
            "main.tf:3: Invalid provider type",
        ],
    );
}

#[test]
fn only_a_configuration_file_makes_a_configuration() {
    let found = |name: &str, flavor| load_in("", &[(name, "")], flavor).0.found;
    assert!(found("a.tf", TERRAFORM));
    assert!(found("override.tf", TERRAFORM));
    assert!(!found("a.tofu", TERRAFORM));
    assert!(found("a.tofu", OPENTOFU));
    assert!(!found("a.tftest.hcl", TERRAFORM));
    assert!(found("a.tftest.hcl", Flavor::Terraform1_15));
    let (loaded, _) = load_in("nowhere", &[("a.tf", "")], TERRAFORM);
    assert!(!loaded.found && loaded.requirements.faulty);
}

#[test]
fn errors_of_several_files_come_in_the_order_of_their_places() {
    let main = "resource \"b_x\" \"y\" {\n  provider = (a)\n}\nnope {}\nresource \"_x\" \"y\" {}\n";
    check(
        &[("main.tf", main), ("a.tf", "x = 1")],
        TERRAFORM,
        &[
            "a.tf:1: Unsupported argument",
            "main.tf:2: Invalid provider configuration reference",
            "main.tf:4: Unsupported block type",
            "main.tf:5: Invalid provider local name",
        ],
    );
}

#[test]
fn a_keyword_names_a_provider_as_any_other_word_does() {
    let main = "resource \"b_x\" \"y\" {\n  provider = null\n}";
    check(&[("main.tf", main)], TERRAFORM, &[": hashicorp/null"]);
}

#[test]
fn what_is_asked_of_the_program_is_collected() {
    let asks = "terraform {\n  required_version = \">= 1.5\"\n}";
    let count = |files: &[(&str, &str)], flavor| load_in("", files, flavor).0.core_versions.len();
    assert_eq!(count(&[("a.tf", asks), ("b.tf", asks)], TERRAFORM), 2);
    assert_eq!(count(&[("a.tf", asks), ("b.tofu", asks)], OPENTOFU), 1);
    let overridden = [("a.tf", asks), ("b.tf", asks), ("override.tf", asks)];
    assert_eq!(count(&overridden, TERRAFORM), 1);
    let overridden = [("a.tofu", asks), ("override.tofu", asks)];
    assert_eq!(
        count(&overridden, OPENTOFU),
        2,
        "each file counts on its own"
    );
}

#[test]
fn an_override_without_a_source_loses_that_of_the_base() {
    let entry =
        |entry: &str| format!("terraform {{\n  required_providers {{\n    a = {entry}\n  }}\n}}\n");
    let main = entry("{ source = \"acme/a\", version = \"1.0\" }") + "resource \"a_x\" \"y\" {}";
    let changed = entry("{ version = \"2.0\" }");
    let files = [("main.tf", &*main), ("x_override.tf", &*changed)];
    check(&files, TERRAFORM, &[": hashicorp/a 2.0.0"]);
}

#[test]
fn a_default_counts_only_where_the_programs_refuse_it() {
    for accepted in [
        "1/3",
        "86400 / 7",
        "0.1 + 0.2",
        "1 % 0.1",
        "1e1000000000",
        "true ? {a=1} : {b=2}",
        "true ? [1] : [1,2]",
    ] {
        let main = format!("variable \"x\" {{\n  default = {accepted}\n}}");
        check(&[("main.tf", &main)], TERRAFORM, &[]);
    }
    let main = "variable \"x\" {\n  default = [1/3, var.y]\n}";
    let refused = ["main.tf:2: Variables not allowed"];
    check(&[("main.tf", main)], TERRAFORM, &refused);
}

#[test]
fn what_is_long_is_shared_by_all_calls() {
    let entry = "terraform {\n  required_providers { p = \"1.0\" }\n}\nresource \"q_x\" \"y\" {}";
    let main = "module \"a\" { source = \"./m\" }\nmodule \"b\" { source = \"./m\" }";
    let (loaded, _) = load_in("", &[("main.tf", main), ("m/m.tf", entry)], TERRAFORM);
    let [p, q] = &*loaded.requirements.providers.values().collect::<Vec<_>>() else {
        panic!("two providers");
    };
    assert!(Arc::ptr_eq(&p[0].constraints, &p[1].constraints));
    assert!(std::ptr::eq(p[0].module.steps(), q[0].module.steps()));
    assert_eq!(
        (p[0].module.manifest_key(), p[1].module.manifest_key()),
        ("a".to_owned(), "b".to_owned())
    );
    let p = loaded
        .requirements
        .providers
        .keys()
        .next()
        .expect("two providers");
    assert_eq!(loaded.requirements.constraints(p).to_string(), "1.0.0");
}

#[test]
fn names_of_modules_are_identifiers_of_some_length() {
    let invalid = |name: &str| format!("module {name:?} {{\n  source = \"./m\"\n}}");
    for name in ["", "a b", "1a", "a.b"] {
        let files = [("main.tf", &*invalid(name)), ("m/m.tf", "")];
        check(
            &files,
            TERRAFORM,
            &["main.tf:1: Invalid module instance name"],
        );
    }
    let name = "x".repeat(MAX_PATH_BYTES / 2);
    let call = invalid(&name);
    let files = [("main.tf", &*call), ("m/m.tf", &*call), ("m/m/m.tf", "")];
    check(&files, TERRAFORM, &["m/m.tf:2: Module tree too deep"]);
}

#[test]
fn a_call_that_many_ways_lead_to_is_unseen_once() {
    let main = "module \"a\" { source = \"./m\" }\nmodule \"b\" { source = \"./m\" }";
    let shared = "module \"net\" { source = \"acme/net/aws\" }";
    let files = [("main.tf", main), ("m/m.tf", shared)];
    let expected = ["a.net ? acme/net/aws", "m/m.tf:1: Module not installed"];
    check(&files, TERRAFORM, &expected);
    let (loaded, _) = load_in("", &files, TERRAFORM);
    assert_eq!(loaded.requirements.unseen_calls[0].ways, 2);
    let note = loaded.diagnostics[0]
        .primary
        .as_ref()
        .map(|label| &*label.note);
    assert_eq!(
        note,
        Some("what this module requires is unknown; 2 ways lead to this call")
    );
}

#[test]
fn a_flood_of_faults_in_one_file_is_cut_off() {
    let main = "nope {}\n".repeat(20_000);
    let (loaded, _) = load_in("", &[("main.tf", &main)], TERRAFORM);
    assert_eq!(loaded.diagnostics.len(), MAX_PROBLEMS + 1);
    assert_eq!(loaded.diagnostics[MAX_PROBLEMS].title, "Too many errors");
}

/// Files that count how often each directory is listed; there is only the root.
struct Listed {
    files: MemFiles,
    lists: std::sync::Mutex<BTreeMap<PathBuf, usize>>,
}

impl Layer for Listed {
    fn base(&self) -> &dyn Files {
        &self.files
    }

    fn entries(&self, dir: &Path) -> std::io::Result<Vec<DirEntry>> {
        let mut lists = self.lists.lock().expect("no test panics meanwhile");
        *lists.entry(dir.to_owned()).or_default() += 1;
        self.files.list(dir)
    }
}

#[test]
fn a_directory_that_cannot_be_read_is_tried_once() {
    let main = "module \"a\" { source = \"./m\" }\nmodule \"b\" { source = \"./m\" }";
    let shared = "module \"c\" { source = \"../no\" }\nmodule \"d\" { source = \"../no\" }";
    let files = Listed {
        files: MemFiles::with(&[("main.tf", main), ("m/m.tf", shared)]),
        lists: std::sync::Mutex::default(),
    };
    let loaded = load(
        &files,
        &mut Texts::default(),
        Path::new(""),
        &Settings::new(TERRAFORM),
    );
    let titles: Vec<&str> = loaded.diagnostics.iter().map(|one| &*one.title).collect();
    assert_eq!(
        titles, ["Unreadable module directory"; 2],
        "one for each call"
    );
    let lists = files.lists.into_inner().expect("no test panics meanwhile");
    assert_eq!(lists[Path::new("no")], 1);
}

#[test]
fn a_version_does_not_come_to_a_local_module_by_an_override() {
    let remote = "module \"m\" {\n  source = \"acme/net/aws\"\n  version = \"1.0\"\n}";
    let local = "module \"m\" {\n  source = \"./m\"\n}";
    let merged = |main, changed| {
        [
            ("main.tf", main),
            ("x_override.tf", changed),
            ("m/m.tf", ""),
        ]
    };
    let outline = ["main.tf:1: Invalid version constraint"];
    check(&merged(remote, local), TERRAFORM, &outline);
    let outline = ["x_override.tf:2: Invalid registry module source address"];
    check(&merged(remote, local), OPENTOFU, &outline);
    let version = |value: &str| format!("module \"m\" {{\n  version = {value}\n}}");
    let [stated, null, computed] = ["\"1.0\"", "null", "bcrypt(1)"].map(version);
    let outline = ["main.tf:1: Invalid version constraint"];
    check(&merged(local, &stated), TERRAFORM, &outline);
    check(&merged(local, &null), TERRAFORM, &[]);
    let git = "module \"m\" {\n  source = \"git::https://h.test/r\"\n}";
    for (base, over) in [(git, &*stated), (remote, git)] {
        let files = merged(base, over);
        let (loaded, _) = load_in("", &files, TERRAFORM);
        let titles = loaded.diagnostics.iter().map(|one| &*one.title);
        assert!(
            titles
                .into_iter()
                .any(|title| title == "Invalid version constraint")
        );
        let (loaded, _) = load_in("", &files, OPENTOFU);
        let titles = loaded.diagnostics.iter().map(|one| &*one.title);
        assert!(
            titles
                .into_iter()
                .any(|title| title == "Invalid registry module source address")
        );
    }
    let outline = ["m ? ./m", "x_override.tf:2: Module call is computed"];
    check(&merged(local, &computed), OPENTOFU, &outline);
}
