//! Errors that the real program prints, given to `lockctl explain -`.

use crate::lab::{Lab, zip_of};
use crate::registry::Registry;
use crate::terraform::Terraform;
use crate::{LOCK, PLATFORMS};

const MAIN: &str = r#"terraform {
  required_providers {
    demo = { source = "acme/demo", version = "1.0.0" }
  }
}
"#;

/// An entry whose hashes are well-formed, and those of no package.
const WRONG_HASHES: &str = r#"# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/acme/demo" {
  version     = "1.0.0"
  constraints = "1.0.0"
  hashes = [
    "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    "zh:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  ]
}
"#;

#[test]
fn a_wrong_hash_is_explained_in_each_form_of_output() {
    let Some(terraform) = Terraform::find_trusting() else {
        return;
    };
    let registry = Registry::start();
    let mut lab = Lab::new();
    terraform.use_registry(&mut lab, &registry, &[]);
    for platform in PLATFORMS {
        let zip = zip_of(&[("terraform-provider-demo_v1.0.0", platform)]);
        registry.add_zip("acme/demo", "1.0.0", platform, &zip);
    }
    lab.write("root/main.tf", MAIN);
    lab.write(&format!("root/{LOCK}"), WRONG_HASHES);
    for args in [&["init"][..], &["init", "-no-color"], &["init", "-json"]] {
        let (succeeded, said) = terraform.run(&lab, "root", args);
        assert!(!succeeded, "{args:?}: {said}");
        lab.env.input = said.clone().into_bytes();
        let outcome = lab.run_in("root", &["explain", "-", "--format", "json"]);
        assert_eq!(outcome.code, 0, "{args:?}: {said}\n{outcome:#?}");
        let document: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
        let rows = document["symptoms"].as_array().unwrap();
        assert_eq!(rows.len(), 1, "{args:?}: {said}\n{rows:#?}");
        let row = &rows[0];
        assert_eq!(row["symptom"], "package-not-recorded", "{said}");
        assert_eq!(row["provider"], "registry.terraform.io/acme/demo");
        assert_eq!(row["version"], "1.0.0");
        assert_eq!(row["entry"], "locked");
        assert_eq!(row["command"], "lockctl -C root verify --upstream");
        let text = lab.run_in("root", &["explain", "-"]).stdout;
        assert!(
            text.starts_with(
                "error: Failed to install provider\n  registry.terraform.io/acme/demo 1.0.0\n"
            ),
            "{text}"
        );
    }
}

#[test]
fn a_package_that_is_not_installed_is_explained() {
    let Some(terraform) = Terraform::find_trusting() else {
        return;
    };
    let mut lab = Lab::new();
    lab.write(
        "root/main.tf",
        format!("{MAIN}\nresource \"demo_x\" \"x\" {{}}\n"),
    );
    lab.write(&format!("root/{LOCK}"), WRONG_HASHES);
    let (succeeded, said) = terraform.run(&lab, "root", &["plan"]);
    assert!(!succeeded, "{said}");
    lab.env.input = said.clone().into_bytes();
    let outcome = lab.run_in("root", &["explain", "-", "--format", "json"]);
    assert_eq!(outcome.code, 0, "{said}\n{outcome:#?}");
    let document: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let row = &document["symptoms"][0];
    assert_eq!(row["symptom"], "package-not-installed", "{said}");
    assert_eq!(row["provider"], "registry.terraform.io/acme/demo");
    assert_eq!(row["command"], "terraform -chdir=root init");
}
