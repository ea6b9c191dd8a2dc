//! Commands in advice repeat the options that decide what the run found; typed, they end the finding.

use super::advised::commands_in;
use super::registry::{DEMO, with_registry};
use super::*;

const ONE_PLATFORM: &str = "platforms = [\"linux_amd64\"]\n";

/// Runs a check that finds something, then the first `lockctl lock` that it names, then the check again.
#[track_caller]
fn follow(lab: &Lab, check: &[&str]) {
    let found = lab.run(check).exits(1);
    let fix = commands_in(&found.stdout)
        .into_iter()
        .find(|words| words[1] == "lock")
        .unwrap_or_else(|| panic!("{found:#?}"));
    let args: Vec<&str> = fix[1..].iter().map(String::as_str).collect();
    assert_exit(&lab.run(&args), 0);
    assert_exit(&lab.run(check), 0);
}

#[test]
fn values_that_decide_which_module_counts_are_repeated() {
    for value in [["--var", "dir=t w"], ["--var-file", "two.tfvars"]] {
        let lab = Lab::new();
        lab.write(
            "main.tf",
            "variable \"dir\" {\n  default = \"one\"\n}\n\nmodule \"m\" {\n  source = \"./${var.dir}\"\n}\n",
        )
        .write("two.tfvars", "dir = \"t w\"\n")
        .write("one/main.tf", "resource \"one_x\" \"y\" {}\n")
        .write("t w/main.tf", "resource \"two_x\" \"y\" {}\n")
        .write(
            ".lockctl.hcl",
            format!("{ONE_PLATFORM}packages {{ fs_mirror = \"mirror\" }}\n"),
        );
        for name in ["one", "two"] {
            let package = format!("registry.opentofu.org/hashicorp/{name}/1.0.0/linux_amd64");
            lab.unpacked("mirror", &package, &package);
        }
        lab.run(&["lock", "--flavor", "opentofu"]).exits(0);
        follow(
            &lab,
            &[&["verify", "--flavor", "opentofu"][..], &value].concat(),
        );
        assert!(lab.read(LOCK).contains("hashicorp/two"));
    }
}

#[test]
fn a_state_that_is_not_read_is_not_read_by_the_fix_either() {
    let lab = simple();
    let provider = "provider[\\\"example.com/t/gone\\\"]";
    let state = format!(
        "{{\"version\": 4, \"terraform_version\": \"1.11.4\", \"serial\": 1, \"lineage\": \"x\", \"outputs\": {{}}, \
         \"resources\": [{{\"mode\": \"managed\", \"type\": \"gone_x\", \"name\": \"a\", \"provider\": \"{provider}\", \
         \"instances\": []}}]}}"
    );
    lab.write("terraform.tfstate", state)
        .write(".lockctl.hcl", "packages { fs_mirror = \"mirror\" }\n");
    lab.run(&["lock", "--no-state", "--platform", "linux_amd64"])
        .exits(0);
    let both = [&["verify", "--no-state"], BOTH].concat();
    follow(&lab, &both);
}

#[test]
fn a_cli_configuration_and_a_mirror_are_repeated() {
    let (_registry, mut lab) = with_registry(DEMO);
    lab.set("TF_CLI_CONFIG_FILE", "");
    lab.write(".lockctl.hcl", ONE_PLATFORM);
    follow(&lab, &["verify", "--cli-config", "rc"]);

    let lab = simple();
    lab.write(".lockctl.hcl", ONE_PLATFORM);
    follow(&lab, &["verify", "--fs-mirror", "mirror"]);
    // A mirror without a required provider is no place to lock from.
    std::fs::remove_file(lab.path(LOCK)).unwrap();
    lab.write("other/x", "");
    lab.run(&["verify", "--fs-mirror", "other"])
        .exits(1)
        .stdout_lacks("lock . --fs-mirror");
    lock(&lab, &[]).exits(0);
    lab.write("main.tf", ONE_PROVIDER.replace("1.0", "1.0.0"));
    lock(&lab, &[])
        .exits(2)
        .stderr_has("--fs-mirror mirror example.com/t/x`");
    lab.write("main.tf", ONE_PROVIDER.replace("~> 1.0", ">= 1.0"));
    let outcome = lab.run(&["outdated", "--fs-mirror", "mirror"]);
    outcome.stderr_has("`lockctl update . --fs-mirror mirror` moves what can be updated");
}

#[test]
fn places_are_repeated() {
    let lab = simple();
    lab.write("a/main.tf", ONE_PROVIDER);
    lab.write("c.hcl", "");
    let line = "verify a --confine a --test-directory t --config c.hcl";
    let outcome = lab.run(&words(line)).exits(1);
    outcome.stdout_has("`lockctl lock a --config c.hcl --test-directory t --confine a`");
}
