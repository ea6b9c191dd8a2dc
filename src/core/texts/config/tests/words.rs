//! `null`, `true` and `false` are names where a reference is expected (rules 4.7).

use super::*;

#[test]
fn words_with_values_are_names_of_providers() {
    let main = r#"
terraform {
  required_providers {
    null = {
      source                = "acme/null"
      configuration_aliases = [null.west]
    }
    true = {
      source                = "acme/true"
      configuration_aliases = [true.west, true]
    }
  }
}
resource "a_x" "y" { provider = null.west }
resource "a_x" "z" { provider = false.west }
"#;
    let wanted = [": acme/null", ": acme/true", ": hashicorp/false"];
    check(&[("main.tf", main)], TERRAFORM, &wanted);
    check(&[("main.tf", main)], OPENTOFU, &wanted);
    let json =
        r#"{"resource": {"a_x": {"y": {"provider": "null.west"}, "z": {"provider": "true.b"}}}}"#;
    let wanted = [": hashicorp/null", ": hashicorp/true"];
    check(&[("main.tf.json", json)], TERRAFORM, &wanted);
    check(&[("main.tf.json", json)], OPENTOFU, &wanted);
}
