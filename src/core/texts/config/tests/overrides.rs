//! What override files may set, and what that does to the answer.

use crate::config::tests::{load_in, outline};
use crate::diag::Severity;
use crate::flavor::Flavor;

use Flavor::{OpenTofu1_12, Terraform1_11, Terraform1_15, Terraform1_16};

/// Compares the titles of all errors, each with its place.
#[track_caller]
fn check(flavors: &[Flavor], main: &str, over: &str, expected: &[&str]) {
    let files = [
        ("main.tf", main),
        ("override.tf", over),
        ("m/m.tf", "provider \"a\" {}\n"),
    ];
    for flavor in flavors {
        let (loaded, texts) = load_in("", &files, *flavor);
        let errors = loaded.diagnostics.iter();
        let errors = errors.filter(|found| found.severity == Severity::Error);
        let lines = errors.map(|found| {
            let label = found.primary.as_ref().expect("an error has a place");
            let line = texts.position(label.file, label.span.start).line;
            format!("{}:{line}: {}", texts.name(label.file), found.title)
        });
        assert_eq!(lines.collect::<Vec<_>>(), expected, "{flavor}");
    }
}

#[test]
fn an_override_file_may_have_a_backend_and_a_cloud_of_which_the_cloud_counts() {
    let cloud = "terraform {\n  cloud {\n    organization = \"x\"\n  }\n}\n";
    let backend = "terraform {\n  backend \"local\" {\n    path = \"p\"\n  }\n}\n";
    for over in [format!("{cloud}{backend}"), format!("{backend}{cloud}")] {
        check(&Flavor::ALL, backend, &over, &[]);
        let files = [("main.tf", backend), ("override.tf", &*over)];
        let outline = outline("", &files, Terraform1_11);
        assert!(outline.contains("State not visible"), "{outline}");
    }
    let twice = format!("{backend}{backend}");
    let title = ["override.tf:7: Duplicate backend configuration"];
    check(&Flavor::ALL, "", &twice, &title);
}

#[test]
fn an_override_file_has_one_encryption() {
    let one = "terraform {\n  encryption {}\n}\n";
    check(&[OpenTofu1_12], one, one, &[]);
    let title = ["override.tf:5: Duplicate encryption configuration"];
    check(&[OpenTofu1_12], one, &format!("{one}{one}"), &title);
}

#[test]
fn null_overrides_a_version_but_not_in_the_oldest_terraform() {
    let main = "module \"m\" {\n  source = \"a/b/c\"\n  version = \"1.0\"\n}\n";
    let over = "module \"m\" {\n  source = \"./m\"\n  version = null\n}\n";
    let newer = [Terraform1_15, Terraform1_16, OpenTofu1_12];
    check(&newer, main, over, &[]);
    let title = ["override.tf:2: Invalid registry module source address"];
    check(&[Terraform1_11], main, over, &title);
}

#[test]
fn null_overrides_a_required_version() {
    let main = "terraform {\n  required_version = \">= 1\"\n}\n";
    let over = "terraform {\n  required_version = null\n}\n";
    let files = [("main.tf", main), ("override.tf", over)];
    for flavor in [Terraform1_11, Terraform1_15, Terraform1_16] {
        let (loaded, _) = load_in("", &files, flavor);
        assert_eq!(loaded.core_versions, [], "{flavor}");
        let (loaded, _) = load_in("", &files[..1], flavor);
        assert_eq!(loaded.core_versions.len(), 1, "{flavor}");
    }
}

#[test]
fn a_value_that_is_refused_leaves_the_one_of_the_base() {
    let main = "terraform {\n  required_providers {\n    a = {\n      source = \"acme/a\"\n    }\n  }\n}\n\
                resource \"b_x\" \"y\" {\n  provider = a\n}\n";
    let over = "terraform {\n  required_providers {\n    a = {\n      source = \"not/an/address/\"\n    }\n  }\n}\n\
                resource \"b_x\" \"y\" {\n  provider = 1\n}\n";
    let outline = outline(
        "",
        &[("main.tf", main), ("override.tf", over)],
        Terraform1_11,
    );
    let required = outline.lines().filter(|line| line.starts_with(':'));
    assert_eq!(required.collect::<Vec<_>>(), [": acme/a"], "{outline}");
}
