//! What is said about a CLI configuration, about files that cannot be read, and about sources.

use super::*;
use crate::commands::registry::with_registry;
use crate::commands::simple;

/// Locks with a CLI configuration that stops the run before anybody is asked.
fn stopped(rc: &str) -> Outcome {
    let lab = simple();
    lab.write("rc", rc);

    lab.run(&["lock", "--cli-config", "rc"]).exits(2)
}

#[test]
fn installation_methods_are_not_followed_and_that_is_reported() {
    let config =
        "terraform {\n  required_providers {\n    demo = { source = \"acme/demo\" }\n  }\n}\n";
    let (_registry, lab) = with_registry(config);
    let hosts = lab.read("rc");
    let lock = ["lock", "--flavor", "opentofu", "--platform", "linux_amd64"];
    lab.write(
        "rc",
        format!("provider_installation {{\n  direct {{ exclude = [\"a/b\"] }}\n}}\n{hosts}"),
    );
    let outcome = lab.run(&lock);
    assert!(
        outcome
            .stderr
            .starts_with("note[cli-configuration-not-followed]"),
        "{outcome:#?}"
    );
    lab.write("rc", format!("provider_installation {{}}\n{hosts}"));
    let said = lab.run(&lock).stderr;
    let (first, _) = said.split_once("\n\n").unwrap();
    first.reads(str![[r#"
warning[cli-configuration-not-followed]: provider_installation is not followed
 --> rc:1:1
  |
1 | provider_installation {}
  | ^^^^^^^^^^^^^^^^^^^^^ packages come from registries here, as with `tofu providers lock`, though it has no `direct` method
  |
  = help: follow it with --installation cli, or name a mirror with --fs-mirror DIR
"#]]);
}

#[test]
fn names_stand_in_excerpts_and_values_do_not() {
    let outcome = stopped(
        "host \"a.example\" {\n  services = { \"providers.v1\" = 5 }\n}\n\
         credentials \"b.example\" {\n  tokn = \"do-not-show\"\n}\nbananas {}\n",
    );
    outcome.stderr_eq(str![[r#"
error[wrong-type]: Invalid service URL
 --> rc:2:16
  |
2 |   services = { "providers.v1" = * }
  |                ^^^^^^^^^^^^^^ a URL in quotes must follow
  |
  = help: write a URL in quotes, as in "https://example.com/v1/providers/"

warning[unsupported-item]: Unsupported argument
 --> rc:5:3
  |
5 |   tokn = "***********"
  |   ^^^^ neither Terraform nor OpenTofu has such an argument; they ignore it silently
  |
  = help: did you mean token?

error[unsupported-item]: Unsupported block type
 --> rc:7:1
  |
7 | bananas {}
  | ^^^^^^^ neither Terraform nor OpenTofu has such a block; they ignore it silently
  |
  = help: delete the block


"#]]);
}

#[cfg(unix)]
#[test]
fn a_configuration_that_cannot_be_read_says_why() {
    let lab = Lab::new();
    std::os::unix::fs::symlink("nowhere", lab.path("main.tf")).unwrap();
    let outcome = lab.run(&["lock", "--fs-mirror", "mirror"]).exits(2);
    outcome.stderr_eq(str![[r#"
error[file-unreadable]: Failed to read file
--> main.tf:1:1
 = note: [..] (os error 2)
 = help: correct the path; a link may lead nowhere


"#]]);
}

#[test]
fn an_unclosed_block_is_marked() {
    stopped("\nhost \"a.example\" {\n  services = {}\n\ncredentials \"b\" {\n}\n").stderr_eq(str![[r#"
error[syntax-error]: CLI configuration cannot be parsed
 --> rc:2:1
  |
2 | **** "*********" {
  | ^^^^^^^^^^^^^^^^^^ this is never closed
  |
  = help: correct it: Terraform ignores a broken file as a whole, and asks hosts without the tokens and services in it


"#]]);
}

#[test]
fn a_cli_configuration_that_cannot_be_read_says_why() {
    let lab = simple();
    let outcome = lab.run(&["lock", "--cli-config", "nofile"]).exits(2);
    outcome.stderr_eq(str![[r#"
error[file-unreadable]: Failed to read CLI configuration
--> nofile:1:1
 = note: [..] (os error 2)
 = help: correct the path


"#]]);
    let outcome = lab.run(&["lock", "--cli-config", "mirror"]).exits(2);
    outcome.stderr_eq(str![[r#"
error[file-unreadable]: Failed to read CLI configuration
--> mirror:1:1
 = note: is a directory
 = help: name a file


"#]]);
}

#[test]
fn a_refused_source_is_marked_and_explained() {
    let lab = Lab::new();
    let entry = |name, source| {
        format!(
            "    {name} = {{\n      version = \"~> 1.0\"\n      source = \"{source}\"\n    }}\n"
        )
    };
    let entries = entry("a", "terraform-provider-null") + &entry("b", "acme/b_c");
    lab.write(
        "main.tf",
        format!("terraform {{\n  required_providers {{\n{entries}  }}\n}}\n"),
    );
    lab.run(&["lock", "--fs-mirror", "mirror"]).exits(2).stderr_eq(str![[r#"
error[address-malformed]: Invalid provider type
 --> main.tf:5:16
  |
5 |       source = "terraform-provider-null"
  |                ^^^^^^^^^^^^^^^^^^^^^^^^^ "terraform-provider-" does not belong in a source address
  |
  = help: did you mean "hashicorp/null"?

error[address-malformed]: Invalid provider type
 --> main.tf:9:16
  |
9 |       source = "acme/b_c"
  |                ^^^^^^^^^^ "_" is not allowed in a type
  |
  = help: did you mean "acme/b-c"?


"#]]);
}
