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

#[test]
fn words_with_values_are_names_in_what_calls_and_runs_pass() {
    let module = r#"
terraform {
  required_providers {
    null = {
      source                = "hashicorp/null"
      configuration_aliases = [null.west]
    }
  }
}
"#;
    let main = r#"
terraform {
  required_providers {
    null = { source = "hashicorp/null" }
  }
}
provider "null" { alias = "west" }
module "m" {
  source    = "./m"
  providers = {
    null      = null.west
    null.west = null.west
  }
}
"#;
    let test = "provider \"null\" {\n  alias = \"x\"\n}\nrun \"a\" {\n  providers = { null = null.x }\n}\n";
    let test = format!("{test}run \"b\" {{\n  providers = {{ other = null }}\n}}\n");
    let files = [
        ("main.tf", main),
        ("m/m.tf", module),
        ("t.tftest.hcl", &*test),
    ];
    let required = [": hashicorp/null", ": hashicorp/null", "m: hashicorp/null"];
    let mismatch = "t.tftest.hcl:8: Provider type mismatch";
    check(&files, TERRAFORM, &[&required[..], &[mismatch]].concat());
    let keyed = "provider \"null\" {\n  alias    = \"by\"\n  for_each = {}\n}\n\
                 resource \"null_x\" \"y\" {\n  for_each = {}\n  provider = null.by[each.key]\n}\n";
    check(&[("main.tf", keyed)], OPENTOFU, &[": hashicorp/null"]);
}

#[test]
fn a_removed_provisioner_may_have_its_keyword_in_quotes() {
    let main = |when: &str| {
        format!(
            "removed {{\n  from = terraform_data.x\n  lifecycle {{\n    destroy = true\n  }}\n  \
             provisioner \"local-exec\" {{\n    when = {when}\n    command = \"x\"\n  }}\n}}\n"
        )
    };
    let deprecated = ["main.tf:7: Quoted keywords are deprecated"];
    check(&[("main.tf", &main("\"destroy\""))], TERRAFORM, &deprecated);
    check(&[("main.tf", &main("\"destroy\""))], OPENTOFU, &deprecated);
    let refused = [
        "main.tf:6: Invalid provisioner block",
        "main.tf:7: Quoted keywords are deprecated",
    ];
    check(&[("main.tf", &main("\"create\""))], TERRAFORM, &refused);
}
