//! What calls hand over to modules, and what these make of it.

use std::fmt::Write as _;

use crate::config::tests::{load_in, outline};
use crate::diag::MAX_PROBLEMS;
use crate::flavor::Flavor;

use Flavor::{OpenTofu1_12, Terraform1_11, Terraform1_15, Terraform1_16};

/// Compares everything that is said beside requirements.
#[track_caller]
fn check(files: &[(&str, &str)], flavors: &[Flavor], expected: &[&str]) {
    for flavor in flavors {
        let outline = outline("", files, *flavor);
        let lines = outline.lines().filter(|line| line.contains("tf:"));
        let lines: Vec<&str> = lines.collect();
        assert_eq!(lines, expected, "{flavor}");
    }
}

#[track_caller]
fn check_child(main: &str, child: &str, flavors: &[Flavor], expected: &[&str]) {
    check(&[("main.tf", main), ("m/m.tf", child)], flavors, expected);
}

const BANNED: &str = "Module is incompatible with count, for_each, and depends_on";

#[test]
fn a_module_that_configures_providers_is_called_once_and_always() {
    let configured = "provider \"alpha\" {\n  x = 1\n}\n";
    let plain = &[Terraform1_11, Terraform1_15, Terraform1_16];
    for argument in ["count = 1", "for_each = {}", "depends_on = [alpha_x.x]"] {
        let main = format!("module \"m\" {{\n  source = \"./m\"\n  {argument}\n}}\n");
        let banned = format!("main.tf:3: {BANNED}");
        check_child(&main, configured, plain, &[&*banned]);
        let banned = banned
            .replace("for_each,", "for_each, enabled")
            .replace("d, and", "d and");
        check_child(&main, configured, &[OpenTofu1_12], &[&*banned]);
        // A version counts as configuration, a block without anything does not.
        let version = "provider \"alpha\" { version = \"1.0\" }\n";
        let outline = outline(
            "",
            &[("main.tf", &main), ("m/m.tf", version)],
            Terraform1_11,
        );
        assert!(outline.contains(BANNED), "{outline}");
        let empty = "provider \"alpha\" {\n  alias = \"x\"\n  _ {}\n}\n";
        let noted = ["m/m.tf:1: Redundant empty provider block"];
        check_child(&main, empty, &Flavor::ALL, &noted);
    }
    check_child(
        "module \"m\" {\n  source = \"./m\"\n  depends_on = []\n}\n",
        configured,
        &Flavor::ALL,
        &[],
    );
}

#[test]
fn a_ban_reaches_down_to_where_providers_are_configured() {
    let main = "module \"m\" {\n  source = \"./m\"\n  count = 2\n}\n";
    let files = [
        ("main.tf", main),
        ("m/m.tf", "module \"n\" {\n  source = \"./n\"\n}\n"),
        (
            "m/n/n.tf",
            "provider \"alpha\" {\n  _ {\n    x = 1\n  }\n}\n",
        ),
    ];
    check(
        &files,
        &[Terraform1_11],
        &[&*format!("main.tf:3: {BANNED}")],
    );
    let mut files = files;
    files[1].1 = "module \"n\" {\n  for_each = {}\n  source = \"./n\"\n}\n";
    check(&files, &[Terraform1_11], &[&*format!("m/m.tf:2: {BANNED}")]);
}

/// Gives a module some providers; each pair stands on a line of its own, from line 9 on.
fn passing(pairs: &str) -> String {
    format!(
        "terraform {{\n  required_providers {{\n    alpha = {{ source = \"acme/alpha\" }}\n    \
         beta = {{ source = \"acme/beta\" }}\n  }}\n}}\nmodule \"m\" {{\n  providers = {{\n\
         {pairs}\n  }}\n  source = \"./m\"\n}}\n"
    )
}

#[test]
fn a_provider_must_be_what_the_module_takes() {
    let child = |aliases: &str| {
        format!(
            "terraform {{\n  required_providers {{\n    alpha = {{ source = \"acme/alpha\"\n\
             configuration_aliases = [{aliases}] }}\n    other = {{ source = \"acme/beta\" }}\n  }}\n}}\n"
        )
    };
    let all = &Flavor::ALL;
    check_child(
        &passing("alpha = alpha\nother = beta"),
        &child(""),
        all,
        &[],
    );
    check_child(&passing("alpha.x = alpha.y"), &child("alpha.x"), all, &[]);
    let mismatch = "Provider type mismatch";
    let other = ["main.tf:9: Provider type mismatch"];
    check_child(&passing("alpha.x = beta"), &child("alpha.x"), all, &other);
    check_child(&passing("other = alpha"), &child(""), all, &other);
    // The programs take the name of the module's side for one of the caller's, too.
    check_child(&passing("alpha = beta"), &child(""), all, &[]);
    let missing = "main.tf:7: Missing required provider configuration";
    check_child(&passing(""), &child("alpha.x"), all, &[missing]);
    let undefined = "main.tf:9: Reference to undefined provider";
    check_child(&passing("alpha.z = alpha"), &child(""), all, &[undefined]);
    // Neither side says what `gamma` is: a note on each, and no error.
    let gamma = passing("gamma = gamma");
    check_child(&gamma, "", &[Terraform1_11], &[undefined, undefined]);
    let (loaded, _) = load_in("", &[("main.tf", &gamma), ("m/m.tf", "")], Terraform1_11);
    assert!(!loaded.requirements.faulty);
    let outline = outline("", &[("main.tf", &gamma), ("m/m.tf", "")], Terraform1_11);
    assert!(!outline.contains(mismatch), "{outline}");
}

#[test]
fn a_module_keeps_what_it_configures() {
    let child = "provider \"alpha\" {\n  x = 1\n}\nprovider \"alpha\" {\n  alias = \"y\"\n}\n";
    let main = "module \"m\" {\n  source = \"./m\"\n  providers = {\n    alpha = alpha\n    alpha.y = alpha\n  }\n}\n";
    check_child(
        main,
        child,
        &[Terraform1_11],
        &[
            "main.tf:4: Cannot override provider configuration",
            "main.tf:4: Reference to undefined provider",
            "main.tf:4: Reference to undefined provider",
            "main.tf:5: Reference to undefined provider",
            "m/m.tf:4: Redundant empty provider block",
        ],
    );
}

#[test]
fn only_newer_terraform_compares_arguments_with_variables() {
    let main = "module \"m\" {\n  source = \"./m\"\n  a = 1\n  _ {\n    b = 1\n  }\n  c {}\n}\n";
    let child = "variable \"a\" {}\nvariable \"z\" {}\n";
    let newer = &[Terraform1_15, Terraform1_16];
    let unsupported = [
        "main.tf:5: Unsupported argument",
        "main.tf:7: Unsupported block type",
    ];
    check_child(main, child, newer, &unsupported);
    check_child(main, child, &[Terraform1_11, OpenTofu1_12], &[]);
    let main = "module \"m\" {\n  source = \"./m\"\n}\n";
    let child = "variable \"c\" {\n  const = true\n}\n";
    check_child(
        main,
        child,
        newer,
        &["main.tf:1: Missing required argument"],
    );
    let files = [
        ("main.tf", main),
        ("m/m.tf", child),
        ("m/override.tf", "variable \"c\" {\n  default = 1\n}\n"),
    ];
    check(&files, newer, &[]);
}

#[test]
fn an_override_replaces_the_map_of_providers_unless_its_own_is_empty() {
    let main = passing("other = alpha");
    let child =
        "terraform {\n  required_providers {\n    other = { source = \"acme/alpha\" }\n  }\n}\n";
    let with = |text| {
        [
            ("main.tf", &*main),
            ("override.tf", text),
            ("m/m.tf", child),
        ]
    };
    let empty = "module \"m\" {\n  providers = {}\n}\n";
    check(&with(empty), &Flavor::ALL, &[]);
    let other = "module \"m\" {\n  providers = { other = beta }\n}\n";
    let mismatch = ["override.tf:2: Provider type mismatch"];
    check(&with(other), &Flavor::ALL, &mismatch);
}

#[test]
fn keys_belong_to_providers_with_for_each() {
    let main = "provider \"alpha\" {\n  alias = \"by\"\n  for_each = toset([\"a\"])\n}\n\
                resource \"alpha_x\" \"x\" {\n  provider = alpha.by\n}\n\
                resource \"alpha_x\" \"y\" {\n  provider = alpha.by[\"a\"]\n}\n\
                module \"m\" {\n  source = \"./m\"\n  providers = {\n    alpha = alpha.by\n\
                beta.x[0] = alpha.no[0]\n  }\n}\n";
    let (resource, module) = (
        "Invalid resource provider configuration",
        "Invalid module provider configuration",
    );
    let outline = outline("", &[("main.tf", main), ("m/m.tf", "")], OpenTofu1_12);
    let lines: Vec<&str> = outline
        .lines()
        .filter(|line| line.contains("Invalid"))
        .collect();
    let expected = [
        format!("main.tf:6: {resource}"),
        format!("main.tf:14: {module}"),
        format!("main.tf:15: {module}"),
        format!("main.tf:15: {module}"),
    ];
    assert_eq!(lines, expected, "{outline}");
}

#[test]
fn a_module_of_a_run_is_a_root() {
    let aliases = "terraform {\n  backend \"s3\" {}\n  required_providers {\n    alpha = {\n      \
                   source = \"acme/alpha\"\n      configuration_aliases = [alpha.w]\n    }\n  }\n}\n";
    let nested = format!("{aliases}module \"n\" {{\n  source = \"./n\"\n}}\n");
    let files = [
        (
            "a.tftest.hcl",
            "run \"r\" {\n  module {\n    source = \"./m\"\n  }\n}\n",
        ),
        ("m/m.tf", &*nested),
        ("m/n/n.tf", aliases),
    ];
    let expected = [
        "m/m.tf:2: Backend configuration ignored",
        "m/m.tf:10: Missing required provider configuration",
        "m/n/n.tf:2: Backend configuration ignored",
    ];
    check(&files, &Flavor::ALL, &expected);
}

#[test]
fn nothing_is_compared_where_a_file_is_wrong() {
    let main = "module \"m\" {\n  source = \"./m\"\n  count = 1\n}\nnonsense {}\n";
    let child = "provider \"alpha\" {\n  x = 1\n}\n";
    let wrong = ["main.tf:5: Unsupported block type"];
    check_child(main, child, &[Terraform1_11], &wrong);
}

#[test]
fn words_of_a_call_are_reserved() {
    let main = "module \"m\" {\n  source = \"./m\"\n  providers = [alpha]\n  locals {}\n  lifecycle {\n    enabled = true\n  }\n  count = 1\n}\n";
    let reserved = "Reserved block type name in module block";
    let (list, locals) = (
        "main.tf:3: Invalid expression",
        format!("main.tf:4: {reserved}"),
    );
    let lifecycle = format!("main.tf:5: {reserved}");
    check_child(
        main,
        "",
        &[Terraform1_11, Terraform1_16],
        &[list, &locals, &lifecycle],
    );
    let both = "main.tf:6: Invalid combination of \"count\" and \"enabled\"";
    check_child(main, "", &[OpenTofu1_12], &[list, &locals, both]);
    let twice = passing("alpha = alpha\nalpha = beta");
    let expected = [
        "main.tf:10: Duplicate object key",
        "main.tf:10: Duplicate provider address",
    ];
    check_child(&twice, "", &[Terraform1_11], &expected);
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
        let outline = outline("", &files, Terraform1_11);
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

/// Calls that all lack the same: they are counted, not piled up.
#[test]
fn a_flood_of_what_is_missing_is_cut_off() {
    let mut aliases = String::new();
    for at in 0..2 * MAX_PROBLEMS {
        write!(aliases, "alpha.a{at}, ").expect("writing to a string");
    }
    let child = format!(
        "terraform {{\n  required_providers {{\n    alpha = {{ configuration_aliases = [{aliases}] }}\n  }}\n}}\n"
    );
    let mut main = String::new();
    for at in 0..100 {
        writeln!(main, "module \"m{at}\" {{ source = \"./m\" }}").expect("writing to a string");
    }
    let files = [("main.tf", &*main), ("m/m.tf", &*child)];
    let (loaded, _) = load_in("", &files, Terraform1_16);
    assert_eq!(loaded.diagnostics.len(), MAX_PROBLEMS + 1);
    assert_eq!(loaded.modules.len(), 101);
    let last = loaded.diagnostics.last().map(|last| &*last.title);
    assert_eq!(last, Some("Too many errors"));
}

/// Passes `alpha.west` to a module that requires `alpha` in an override file, beside another module.
#[track_caller]
fn check_beside(passed: &str, child: &str, beside: &str, expected: &[&str]) {
    let main =
        format!("module \"m\" {{\n  source = \"./m\"\n  providers = {{\n    {passed}\n  }}\n}}\n");
    check(
        &[
            ("main.tf", &*main),
            ("n.tf", "module \"n\" {\n  source = \"./other\"\n}\n"),
            ("override.tf", "module \"n\" {\n  source = \"./n\"\n}\n"),
            ("m/m.tf", ""),
            ("m/override.tf", child),
            ("n/n.tf", beside),
        ],
        &Flavor::ALL,
        expected,
    );
}

#[test]
fn a_module_beside_it_decides_what_an_undeclared_name_means() {
    let far = "terraform {\n  required_providers {\n    alpha = { source = \"y.example/acme/alpha\" }\n  }\n}\n";
    let empty = "terraform {\n  required_providers {\n    alpha = {}\n  }\n}\n";
    let undefined = "main.tf:4: Reference to undefined provider";
    let mismatch = "main.tf:4: Provider type mismatch";
    // Nothing beside it knows the name: refused.
    check_beside("alpha.west = alpha.west", far, "", &[undefined, mismatch]);
    // The module beside it means the provider that is passed: accepted in most runs, refused in some.
    let by_chance = [mismatch, undefined];
    check_beside("alpha.west = alpha.west", far, empty, &by_chance);
    check_beside(
        "alpha.west = alpha.west",
        far,
        "provider \"alpha\" {\n  x = 1\n}\n",
        &by_chance,
    );
    // It means the same as the module itself: refused.
    check_beside("alpha.west = alpha.west", far, far, &[undefined, mismatch]);
    // Only the module beside it knows the name, and means another provider: always refused. The first note is about
    // the name on the right.
    let refused = [undefined, undefined, mismatch];
    check_beside("alpha = alpha", "", far, &refused);
    check_beside("alpha = alpha", "", empty, &[undefined, undefined]);
}

#[test]
fn what_is_accepted_by_chance_is_no_error() {
    let (loaded, _) = load_in(
        "",
        &[
            (
                "main.tf",
                "module \"m\" {\n  source = \"./m\"\n  providers = {\n    alpha.west = alpha.west\n  }\n}\nmodule \"n\" {\n  source = \"./n\"\n}\n",
            ),
            (
                "m/override.tf",
                "terraform {\n  required_providers {\n    alpha = { source = \"y.example/acme/alpha\" }\n  }\n}\n",
            ),
            (
                "n/n.tf",
                "terraform {\n  required_providers {\n    alpha = {}\n  }\n}\n",
            ),
        ],
        Flavor::OpenTofu1_12,
    );
    assert!(!loaded.requirements.faulty, "{:?}", loaded.diagnostics);
    let remarks: Vec<&str> = loaded
        .diagnostics
        .iter()
        .filter_map(|note| Some(&*note.primary.as_ref()?.note))
        .collect();
    assert_eq!(
        remarks,
        [
            "modules beside this one mean other providers by alpha: the programs accept this or refuse it by chance",
            "the module does not declare alpha.west",
        ]
    );
}
