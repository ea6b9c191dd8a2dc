//! Blocks that some provider manages.

use crate::config::tests::merge::check_two;
use crate::flavor::Flavor::{self, OpenTofu1_12, Terraform1_15, Terraform1_16};

const LIFECYCLES: &str = r#"
        resource "a_x" "y" {
          lifecycle {
            prevent_destroy      = true
            ignore_changes       = all
            replace_triggered_by = [a_x.z]
            precondition {
              condition     = a_x.z.v
              error_message = "x"
            }
          }
          provisioner "local-exec" {}
          provisioner "file" {}
          connection {
            host = "h"
          }
        }
        resource "a_x" "z" {
          lifecycle {
            ignore_changes = [v]
          }
          provisioner "file" {}
        }
        "#;

const OVERRIDES: &str = r#"
        resource "a_x" "y" {
          lifecycle {
            prevent_destroy       = false
            create_before_destroy = true
            ignore_changes        = [v]
            replace_triggered_by  = []
          }
          provisioner "remote-exec" {}
          connection {
            user = "u"
          }
        }
        resource "a_x" "z" {
          lifecycle {
            ignore_changes = []
          }
        }
        "#;

#[test]
fn a_lifecycle_is_merged_by_argument_and_other_own_blocks_by_type() {
    check_two(
        &Flavor::ALL,
        LIFECYCLES,
        OVERRIDES,
        r#"
        resource "a_x" "y" { # m.tf:1
          connection { # o_override.tf:9
            user = "u" # o_override.tf:10
          }
          lifecycle { # m.tf:2
            create_before_destroy = true # o_override.tf:4
            ignore_changes = all # m.tf:4
            prevent_destroy = false # o_override.tf:3 for m.tf:3
            replace_triggered_by = [a_x.z] # m.tf:5
            precondition { # m.tf:6
              condition = a_x.z.v # m.tf:7
              error_message = "x" # m.tf:8
            }
          }
          provisioner "remote-exec" { # o_override.tf:8
          }
        }
        resource "a_x" "z" { # m.tf:17
          lifecycle { # m.tf:18
            ignore_changes = [v] # m.tf:19
          }
          provisioner "file" { # m.tf:21
          }
        }
        "#,
    );
}

#[test]
fn whether_destroying_is_overridden_depends_on_the_program() {
    let main = "resource \"a_x\" \"y\" {}\n";
    let over = "resource \"a_x\" \"y\" {\n  lifecycle {\n    destroy = false\n  }\n}\n";
    let bare = "resource \"a_x\" \"y\" { # m.tf:1\n}";
    check_two(&[Terraform1_16], main, over, bare);
    check_two(
        &[OpenTofu1_12],
        main,
        over,
        r#"
        resource "a_x" "y" { # m.tf:1
          lifecycle { # o_override.tf:2
            destroy = false # o_override.tf:3
          }
        }
        "#,
    );
}

#[test]
fn what_is_escaped_merges_with_what_is_not() {
    check_two(
        &Flavor::ALL,
        r#"
        resource "a_x" "y" {
          count = 1
          v     = 1
          _ {
            w = 1
          }
        }
        "#,
        r#"
        resource "a_x" "y" {
          w = 2
          _ {
            v     = 2
            count = 2
          }
        }
        "#,
        r#"
        resource "a_x" "y" { # m.tf:1
          count = 1 # m.tf:2
          v = 2 # o_override.tf:4 for m.tf:3
          w = 2 # o_override.tf:2 for m.tf:5
          _ { # o_override.tf:5
            count = 2 # o_override.tf:5
          }
        }
        "#,
    );
}

#[test]
fn the_data_source_of_a_check_can_be_overridden() {
    check_two(
        &Flavor::ALL,
        r#"
        check "c" {
          data "a_x" "y" {
            v = 1
          }
          assert {
            condition     = data.a_x.y.v == 1
            error_message = "x"
          }
        }
        moved {
          from = a_x.a
          to   = a_x.b
        }
        moved {
          from = a_x.c
          to   = a_x.d
        }
        "#,
        "data \"a_x\" \"y\" {\n  provider = b\n}\n",
        r#"
        check "c" { # m.tf:1
          assert { # m.tf:5
            condition = data.a_x.y.v == 1 # m.tf:6
            error_message = "x" # m.tf:7
          }
          data "a_x" "y" { # m.tf:2
            provider = b # o_override.tf:2
            v = 1 # m.tf:3
          }
        }
        moved { # m.tf:10
          from = a_x.a # m.tf:11
          to = a_x.b # m.tf:12
        }
        moved { # m.tf:14
          from = a_x.c # m.tf:15
          to = a_x.d # m.tf:16
        }
        "#,
    );
}

#[test]
fn the_configuration_of_an_action_is_merged_by_argument() {
    check_two(
        &[Terraform1_15, Terraform1_16],
        r#"
        action "a_x" "y" {
          config {
            v = 1
            w = 1
          }
        }
        "#,
        r#"
        action "a_x" "y" {
          provider = b
          config {
            v = 2
          }
        }
        "#,
        r#"
        action "a_x" "y" { # m.tf:1
          provider = b # o_override.tf:2
          config { # m.tf:2
            v = 2 # o_override.tf:4 for m.tf:3
            w = 1 # m.tf:4
          }
        }
        "#,
    );
}
