//! `replace`: a provider that moved, followed in configuration, lock file and project file.

use super::*;

const MODULE: &str = "terraform {\r\n  required_providers {\r\n    x = {\r\n      source  = \"example.com/old/x\" # where it was\r\n      \
                      version = \"~> 1.0\"\r\n    }\r\n  }\r\n}\r\n";
const PROJECT: &str = "# ours\nprovider \"example.com/old/x\" {\n  platforms = [\"linux_amd64\"]\n}\npolicy {\n  \
                       allow = [\"example.com/old/x\", \"example.com/new/*\"]\n}\n";
const STATE: &str = r#"{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "x", "outputs": {}, "resources":
  [{"mode": "managed", "type": "x_thing", "name": "a", "provider": "provider[\"example.com/old/x\"]", "instances": []}]}"#;

/// Two roots that share a module, one of them with a state, and a mirror with both addresses.
fn moved(versions: &[&str]) -> Lab {
    let lab = Lab::new();
    let json =
        "{\"terraform\": {\"required_providers\": {\"x\": {\"source\": \"example.com/old/x\"}}}}\n";
    let call = "module \"shared\" {\n  source = \"../../modules/shared\"\n}\n";
    lab.write(".git/HEAD", "")
        .write("live/a/main.tf", call)
        .write("live/a/terraform.tfstate", STATE)
        .write("live/b/main.tf", call)
        .write("live/b/x.tf.json", json)
        .write("modules/shared/main.tf", MODULE)
        .write(".lockctl.hcl", PROJECT);
    for (namespace, versions) in [("old", &["1.0.0", "1.2.0"][..]), ("new", versions)] {
        for version in versions {
            let package = format!("example.com/{namespace}/x/{version}/linux_amd64");
            lab.unpacked("mirror", &package, &package);
        }
    }
    assert_exit(&run(&lab, &["lock", "live/a", "live/b"]), 0);
    lab
}

fn run(lab: &Lab, args: &[&str]) -> Outcome {
    let options = [
        "--fs-mirror",
        "mirror",
        "--flavor",
        "terraform",
        "--platform",
        "linux_amd64",
    ];
    lab.run(&[args, &options].concat())
}

const OLD: &str = "example.com/old/x";
const NEW: &str = "example.com/new/x";

#[test]
fn every_file_names_the_new_address_and_the_version_stays() {
    let lab = moved(&["1.0.0", "1.2.0", "1.3.0"]);
    let lock = lab.read("live/a/.terraform.lock.hcl");
    let preview = run(&lab, &["replace", OLD, NEW, "-r", "live", "--dry-run"]).exits(0);
    preview.stdout_has("+provider \"example.com/new/x\" {");
    assert_eq!(lab.read("live/a/.terraform.lock.hcl"), lock);
    let outcome = run(&lab, &["replace", OLD, NEW, "-r", "live"]).exits(0);
    outcome.stdout_has(
        "  terraform -chdir=live/a state replace-provider example.com/old/x example.com/new/x\nthen run `init` once more: ",
    );
    outcome.stdout_lacks("-chdir=live/b");
    assert_eq!(lab.read("modules/shared/main.tf"), MODULE.replace(OLD, NEW));
    assert_eq!(lab.read(".lockctl.hcl"), PROJECT.replace(OLD, NEW));
    assert!(
        lab.read("live/b/x.tf.json")
            .contains("\"source\": \"example.com/new/x\"")
    );
    for root in ["live/a", "live/b"] {
        let now = lab.read(&format!("{root}/.terraform.lock.hcl"));
        assert!(
            now.contains("provider \"example.com/new/x\" {\n  version     = \"1.2.0\""),
            "{now}"
        );
        // Another package has another hash: none of the old address counts.
        let hash = lock
            .lines()
            .find(|line| line.contains("h1:"))
            .expect("a hash");
        assert!(
            !now.contains("old/x") && !now.contains(hash) && now.contains("h1:"),
            "{now}"
        );
    }
    // It is done once; the state alone still names the old address.
    let outcome = run(&lab, &["replace", OLD, NEW, "live/b"]).exits(2);
    outcome.stderr_has("example.com/old/x cannot be replaced: nothing requires it");
    let outcome = run(&lab, &["replace", OLD, NEW, "live/a", "--check"]).exits(0);
    outcome.stdout_has("terraform -chdir=live/a state replace-provider");
}

#[test]
fn a_version_that_the_new_address_lacks_becomes_the_newest_allowed() {
    let lab = moved(&["1.1.0", "2.0.0"]);
    let outcome = run(&lab, &["replace", OLD, NEW, "live/b"]).exits(0);
    outcome.stderr_has("example.com/new/x does not offer 1.2.0");
    assert!(lab.read("live/b/.terraform.lock.hcl").contains("\"1.1.0\""));
    // Nothing at all is written if no version is allowed there.
    let lab = moved(&["2.0.0"]);
    run(&lab, &["replace", OLD, NEW, "live/b"]).exits(2);
    assert_eq!(lab.read("modules/shared/main.tf"), MODULE);
    assert_eq!(lab.read(".lockctl.hcl"), PROJECT);
}

#[test]
fn an_implied_source_is_stated() {
    let lab = Lab::new();
    lab.write(".git/HEAD", "");
    for (host, namespace) in [
        ("registry.terraform.io", "hashicorp"),
        ("registry.terraform.io", "integrations"),
    ] {
        let package = format!("{host}/{namespace}/github/4.0.0/linux_amd64");
        lab.unpacked("mirror", &package, &package);
    }
    for (given, wanted) in [
        (
            "provider \"github\" {\n}\n",
            "provider \"github\" {\n}\n\nterraform {\n  required_providers {\n    github = { source = \"integrations/github\" }\n  }\n}\n",
        ),
        (
            "terraform {\n  required_providers {\n    github = \"~> 4.0\" # short\n  }\n}\n",
            "terraform {\n  required_providers {\n    github = { source = \"integrations/github\", version = \"~> 4.0\" } # short\n  }\n}\n",
        ),
        (
            "terraform {\n  required_providers {\n    github = {\n      version = \"~> 4.0\"\n    }\n  }\n}\n",
            "terraform {\n  required_providers {\n    github = {\n      source  = \"integrations/github\"\n      version = \"~> 4.0\"\n    }\n  }\n}\n",
        ),
    ] {
        lab.write("main.tf", given).write(LOCK, "");
        run(&lab, &["lock"]).exits(0);
        let verified = run(&lab, &["verify", "-v", "--only", "file"]).exits(0);
        verified
            .stdout_has("note[provider-moved]: hashicorp/github moved to integrations/github\n");
        verified.stdout_has("run `lockctl replace hashicorp/github integrations/github . --flavor");
        run(
            &lab,
            &["replace", "hashicorp/github", "integrations/github"],
        )
        .exits(0);
        assert_eq!(lab.read("main.tf"), wanted);
        let verified = run(&lab, &["verify", "-v", "--only", "file"]).exits(0);
        verified.stdout_lacks("provider-moved");
    }
}

#[test]
fn a_block_with_another_local_name_implies_nothing() {
    let lab = Lab::new();
    for namespace in ["hashicorp", "other"] {
        let package = format!("registry.terraform.io/{namespace}/tls/4.0.0/linux_amd64");
        lab.unpacked("mirror", &package, &package);
    }
    let text = "terraform {\n  required_providers {\n    tl = { source = \"hashicorp/tls\" }\n  }\n}\n\nprovider \"tl\" {}\n\nresource \"tls_x\" \"y\" {\n  provider = tl\n}\n";
    lab.write(".git/HEAD", "").write("main.tf", text);
    run(&lab, &["lock"]).exits(0);
    run(&lab, &["replace", "hashicorp/tls", "other/tls"]).exits(0);
    assert_eq!(
        lab.read("main.tf"),
        text.replace("hashicorp/tls", "other/tls")
    );
    run(&lab, &["verify"]).exits(0);
}

/// A state of Terraform 0.12, in one of its two forms.
fn legacy_state(provider: &str) -> String {
    STATE.replace("provider[\\\"example.com/old/x\\\"]", provider)
}

#[test]
fn an_address_of_terraform_0_12_is_replaced() {
    let source = |text: &str| {
        format!(
            "terraform {{\n  required_providers {{\n    aws = {{ source = \"{text}\" }}\n  }}\n}}\n"
        )
    };
    for (flavor, provider) in [
        ("terraform", "provider[\\\"registry.terraform.io/-/aws\\\"]"),
        ("terraform", "provider.aws"),
        ("opentofu", "module.a.provider.aws"),
    ] {
        let lab = Lab::new();
        lab.write(".git/HEAD", "")
            .write("live/a b/main.tf", source("-/aws"))
            .write("live/c/main.tf", source("hashicorp/aws"))
            .write("live/c/terraform.tfstate", legacy_state(provider));
        for host in ["registry.terraform.io", "registry.opentofu.org"] {
            let package = format!("{host}/hashicorp/aws/2.70.0/linux_amd64");
            lab.unpacked("mirror", &package, &package);
        }
        let run = |args: &[&str]| {
            let options = [
                "--fs-mirror",
                "mirror",
                "--platform",
                "linux_amd64",
                "--flavor",
            ];
            lab.run(&[args, &options, &[flavor]].concat())
        };
        run(&["lock", "live/c"]).exits(2);
        let outcome = run(&["replace", "-/aws", "hashicorp/aws", "live/a b", "live/c"]).exits(0);
        let program = if flavor == "opentofu" {
            "tofu"
        } else {
            "terraform"
        };
        outcome.stdout_has("1 command to be typed before `init`, for the state:\n");
        outcome.stdout_has(format!(
            "  {program} -chdir=live/c state replace-provider -- -/aws hashicorp/aws\n"
        ));
        assert_eq!(lab.read("live/a b/main.tf"), source("hashicorp/aws"));
        for root in ["live/a b", "live/c"] {
            let lock = lab.read(&format!("{root}/{LOCK}"));
            assert!(
                lock.contains("/hashicorp/aws\" {\n  version = \"2.70.0\""),
                "{lock}"
            );
            assert!(!lock.contains("-/aws"), "{lock}");
        }
    }
}

#[test]
fn an_address_may_begin_with_a_dash() {
    let lab = Lab::new();
    lab.write("a/main.tf", "")
        .write("a/.terraform.lock.hcl", "");
    for args in [
        &["replace", "-/aws", "hashicorp/aws", "-r"][..],
        &["replace", "-r", "--", "-/aws", "hashicorp/aws"],
    ] {
        let outcome = lab.run(args).exits(2);
        outcome.stderr_has("-/aws cannot be replaced: nothing requires it");
    }
    let outcome = lab
        .run(&["replace", "--recusive", "a/b", "hashicorp/aws"])
        .exits(2);
    outcome.stderr_has("--recusive");
}
