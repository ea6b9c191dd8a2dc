//! Modules that only installing brings, and a state, beside the real program.

use std::process::{Command, Stdio};

use crate::LOCK;
use crate::lab::Lab;
use crate::terraform::Terraform;

const MODULE: &str = r#"
terraform {
  required_providers {
    far = { source = "example.com/t/far", version = "~> 1.0" }
  }
}
module "inner" {
  source = "./inner"
}
"#;

const ROOT: &str = r#"
terraform {
  required_providers {
    near = { source = "example.com/t/near", version = ">= 1.0" }
  }
}
"#;

const STATE: &str = r#"{
  "version": 4,
  "terraform_version": "1.11.4",
  "serial": 1,
  "lineage": "00000000-0000-0000-0000-000000000001",
  "outputs": {},
  "resources": [
    {
      "mode": "managed", "type": "kept_x", "name": "s",
      "provider": "provider[\"example.com/t/kept\"]",
      "instances": []
    }
  ],
  "check_results": null
}"#;

/// A root with a mirror of four providers, and a repository that holds a module.
fn fresh_clone() -> Option<Lab> {
    let lab = Lab::new();
    lab.write("module/main.tf", MODULE);
    lab.write("module/inner/main.tf", "resource \"deep_x\" \"y\" {}\n");
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        let quiet = command.args(["-c", "user.name=t", "-c", "user.email=t@example.com"]);
        let run = quiet.args(args).current_dir(lab.path("module"));
        let run = run.stdout(Stdio::null()).stderr(Stdio::null());
        run.env("GIT_CONFIG_GLOBAL", "/dev/null").status()
    };
    if git(&["init", "-q"]).is_err() {
        println!("skipped: git is not on PATH");
        return None;
    }
    for args in [&["add", "-A"][..], &["commit", "-q", "-m", "a module"]] {
        assert!(git(args).unwrap().success(), "git {args:?}");
    }
    let source = format!("git::file://{}", lab.path("module").display());
    let call = format!("module \"net\" {{\n  source = {source:?}\n}}\n");
    lab.write("root/main.tf", format!("{ROOT}{call}"));
    for addr in [
        "example.com/t/near",
        "example.com/t/far",
        "example.com/t/kept",
        "registry.terraform.io/hashicorp/deep",
    ] {
        for version in ["1.0.0", "1.1.0", "2.0.0"] {
            let package = format!("{addr}/{version}/linux_amd64");
            lab.unpacked("mirror", &package, &package);
        }
    }
    Some(lab)
}

fn lock(lab: &Lab, terraform: &Terraform) -> crate::Outcome {
    lock_with(lab, terraform, "auto")
}

fn lock_with(lab: &Lab, terraform: &Terraform, modules: &str) -> crate::Outcome {
    let flavor = terraform.flavor.as_str();
    let outcome = lab.run(&[
        "lock",
        "--modules",
        modules,
        "--flavor",
        flavor,
        "--platform",
        "linux_amd64",
        "--fs-mirror",
        "mirror",
        "root",
    ]);
    assert_eq!(outcome.code, 0, "{outcome:#?}");
    outcome
}

#[test]
fn a_fresh_clone_loses_nothing_and_completes_once_modules_are_installed() {
    let (Some(terraform), Some(lab)) = (Terraform::find(), fresh_clone()) else {
        return;
    };
    terraform.use_mirror(&lab);
    terraform.succeeds(&lab, "root", &["init"]);
    let lock_file = format!("root/{LOCK}");
    let whole = lab.read(&lock_file);
    assert!(whole.contains("example.com/t/far") && whole.contains("hashicorp/deep"));

    std::fs::remove_dir_all(lab.path("root/.terraform")).unwrap();
    let outcome = lock_with(&lab, &terraform, "installed");
    assert!(
        outcome.stderr.contains("Module not installed"),
        "{outcome:#?}"
    );
    assert_eq!(lab.read(&lock_file), whole, "nothing is lost");

    std::fs::remove_file(lab.path(&lock_file)).unwrap();
    lock_with(&lab, &terraform, "installed");
    assert!(!lab.read(&lock_file).contains("example.com/t/far"));
    terraform.succeeds(&lab, "root", &["get"]);
    lock_with(&lab, &terraform, "installed");
    assert_eq!(lab.read(&lock_file), whole);

    // Fetched modules serve as well as installed ones.
    std::fs::remove_dir_all(lab.path("root/.terraform")).unwrap();
    std::fs::remove_file(lab.path(&lock_file)).unwrap();
    lock(&lab, &terraform);
    assert_eq!(lab.read(&lock_file), whole);
}

#[test]
fn a_provider_of_the_state_stays_as_with_init() {
    let (Some(terraform), Some(lab)) = (Terraform::find(), fresh_clone()) else {
        return;
    };
    terraform.use_mirror(&lab);
    lab.write("root/terraform.tfstate", STATE);
    terraform.succeeds(&lab, "root", &["init"]);
    let lock_file = format!("root/{LOCK}");
    let whole = lab.read(&lock_file);
    assert!(whole.contains("example.com/t/kept"));
    lock(&lab, &terraform);
    assert_eq!(lab.read(&lock_file), whole);
    std::fs::remove_file(lab.path(&lock_file)).unwrap();
    lock(&lab, &terraform);
    assert_eq!(lab.read(&lock_file), whole);

    std::fs::remove_file(lab.path("root/terraform.tfstate")).unwrap();
    lock(&lab, &terraform);
    let ours = lab.read(&lock_file);
    terraform.succeeds(&lab, "root", &["init"]);
    assert_eq!(lab.read(&lock_file), ours, "init finds nothing to change");
    assert!(!ours.contains("example.com/t/kept"));
}
