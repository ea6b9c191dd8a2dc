//! `terraform` blocks.

use crate::config::tests::merge::{TERRAFORM, check, check_two};
use crate::flavor::Flavor::{self, OpenTofu1_12};

#[test]
fn entries_of_required_providers_are_replaced_as_a_whole() {
    check_two(
        &Flavor::ALL,
        r#"
        terraform {
          required_providers {
            a = { source = "x/a", version = "1.0" }
            b = "2.0"
          }
        }
        terraform {}
        "#,
        r#"
        terraform {
          required_providers {
            a = { version = "1.1" }
          }
          required_providers {
            c = {
              source = "x/c"
            }
          }
        }
        "#,
        r#"
        required a = { version = "1.1" } # o_override.tf:3 for m.tf:3
        required b = "2.0" # m.tf:4
        required c = { source = "x/c" } # o_override.tf:6
        "#,
    );
}

const SETTINGS: [(&str, &str); 3] = [
    (
        "m.tf",
        "terraform {\n  required_version = \">= 1\"\n  backend \"local\" {}\n  provider_meta \"a\" {}\n}\n\
         terraform {\n  required_version = \">= 1.1\"\n}\n",
    ),
    (
        "a_override.tf",
        "terraform {\n  required_version = \">= 1.2\"\n  provider_meta \"b\" {}\n}\n\
         terraform {\n  required_version = \">= 1.3\"\n}\n",
    ),
    (
        "b_override.tf",
        "terraform {\n  cloud {\n    organization = \"x\"\n  }\n}\nterraform {\n  backend \"s3\" {}\n}\n",
    ),
];

#[test]
fn each_setting_is_overridden_on_its_own() {
    let rest = r#"
        cloud { # b_override.tf:2
          organization = "x" # b_override.tf:3
        }
        provider_meta "a" { # m.tf:4
        }
        "#;
    let versions = r#"
        terraform.required_version = ">= 1.2" # a_override.tf:2
        terraform.required_version = ">= 1.3" # a_override.tf:6"#;
    check(TERRAFORM, &SETTINGS, &format!("{versions}{rest}"));
    // Of these files OpenTofu takes no version.
    check(&[OpenTofu1_12], &SETTINGS, rest);
    let files = [
        ("m.tofu", "terraform {\n  required_version = \">= 1\"\n}\n"),
        (
            "override.tofu",
            "terraform {\n  required_version = \">= 1.2\"\n}\n",
        ),
    ];
    check(
        &[OpenTofu1_12],
        &files,
        r#"
        terraform.required_version = ">= 1" # m.tofu:2
        terraform.required_version = ">= 1.2" # override.tofu:2
        "#,
    );
    // Null takes what was there away, too.
    let (main, over) = (SETTINGS[0], "terraform {\n  required_version = null\n}");
    check(
        TERRAFORM,
        &[main, ("override.tf", over)],
        r#"
        terraform.required_version = null # override.tf:2
        backend "local" { # m.tf:3
        }
        provider_meta "a" { # m.tf:4
        }
        "#,
    );
}

#[test]
fn encryption_is_merged_block_by_block() {
    check_two(
        &[OpenTofu1_12],
        r#"
        terraform {
          encryption {
            key_provider "p" "k" {
              passphrase = "x"
              length     = 1
            }
            method "m" "n" {}
            state {
              method   = method.m.n
              enforced = true
              fallback {}
            }
          }
        }
        "#,
        r#"
        terraform {
          encryption {
            key_provider "p" "k" {
              length = 2
            }
            method "m" "o" {}
            state {
              method   = method.m.o
              enforced = false
            }
            plan {
              method = method.m.o
            }
          }
        }
        "#,
        r#"
        encryption { # m.tf:2
          key_provider "p" "k" { # m.tf:3
            length = 2 # o_override.tf:4 for m.tf:5
            passphrase = "x" # m.tf:4
          }
          method "m" "n" { # m.tf:7
          }
          method "m" "o" { # o_override.tf:6
          }
          plan { # o_override.tf:11
            method = method.m.o # o_override.tf:12
          }
          state { # m.tf:8
            enforced = true # m.tf:10
            method = method.m.o # o_override.tf:8 for m.tf:9
            fallback { # m.tf:11
            }
          }
        }
        "#,
    );
}
