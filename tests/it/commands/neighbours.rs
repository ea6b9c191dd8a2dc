//! Whose rules apply to a root that does not show it: those of the other roots of the repository.

use super::*;

const TERRAFORM: &str = "# This file is maintained automatically by \"terraform init\".\n";
const OPENTOFU: &str = "# This file is maintained automatically by \"tofu init\".\n";

/// A repository with a root that holds nothing but `main.tf`, and another one with a lock file.
fn repository(header: &str) -> Lab {
    let lab = simple();
    lab.write(".git/HEAD", "");
    lab.write("live/new/main.tf", ONE_PROVIDER);
    lab.write("live/old/main.tf", ONE_PROVIDER);
    lab.write(&format!("live/old/{LOCK}"), header);
    lab
}

fn lock_new(lab: &Lab) -> (Outcome, String) {
    let outcome = lock(lab, &[BOTH, &["live/new"]].concat());
    let path = format!("live/new/{LOCK}");
    let written = lab.path(&path).exists().then(|| lab.read(&path));
    let header = written.map(|text| text.split_inclusive('\n').next().unwrap_or("").to_owned());
    (outcome, header.unwrap_or_default())
}

#[track_caller]
fn check(lab: &Lab, header: &str, remark: &str) {
    let (outcome, written) = lock_new(lab);
    assert_exit(&outcome, 0);
    assert_eq!(written, header);
    outcome.stderr_has(remark);
    std::fs::remove_file(lab.path(&format!("live/new/{LOCK}"))).unwrap();
}

#[test]
fn a_root_without_a_sign_takes_the_flavor_of_the_others() {
    let lab = repository(OPENTOFU);
    let remark = "note: the rules of OpenTofu apply, as in the other roots of the repository; to \
                  change that, use `--flavor terraform`, or write `flavor = \"terraform\"` to \
                  .lockctl.hcl\n";
    check(&lab, OPENTOFU, remark);
    check(
        &repository(TERRAFORM),
        TERRAFORM,
        "the rules of Terraform apply, as in the other roots",
    );
    // Without a header the registries of an entry show it.
    let entry = "provider \"registry.opentofu.org/a/b\" {\n  version = \"1.0.0\"\n}\n";
    check(
        &repository(entry),
        OPENTOFU,
        "the rules of OpenTofu apply, as in the other",
    );
    // What the other root states counts, whatever its lock file.
    let lab = repository(TERRAFORM);
    lab.write("live/old/.lockctl.hcl", "flavor = \"opentofu\"\n");
    check(
        &lab,
        OPENTOFU,
        "the rules of OpenTofu apply, as in the other",
    );
    // What is stated needs no remark.
    lab.write("live/new/.lockctl.hcl", "flavor = \"terraform\"\n");
    let (outcome, written) = lock_new(&lab);
    assert_eq!(written, TERRAFORM);
    outcome.stderr_lacks("the rules of");
}

#[test]
fn files_of_opentofu_count_where_there_is_no_other_lock_file() {
    let lab = repository("");
    lab.write("lib/main.tofu", "");
    check(
        &lab,
        OPENTOFU,
        "the rules of OpenTofu apply, because there are `.tofu` files in the repository; to change that",
    );
    let lab = repository(TERRAFORM);
    lab.write("lib/main.tofu", "");
    check(
        &lab,
        TERRAFORM,
        "the rules of Terraform apply, as in the other",
    );
}

#[test]
fn nothing_follows_from_roots_that_do_not_agree() {
    let lab = repository(OPENTOFU);
    lab.write(&format!("live/other/{LOCK}"), TERRAFORM);
    let remark = "the rules of Terraform apply, because the other roots of the repository do not \
                  agree; to change that, use `--flavor opentofu`, or";
    check(&lab, TERRAFORM, remark);
    let remark = "the rules of Terraform apply, because nothing shows which program is used; to \
                  change that, use `--flavor opentofu`, or";
    check(&repository(""), TERRAFORM, remark);
}

#[test]
fn other_repositories_and_ignored_directories_do_not_count() {
    let nothing = "because nothing shows";
    let lab = repository("");
    lab.write(&format!("inner/x/{LOCK}"), OPENTOFU);
    lab.write("inner/.git", "gitdir: elsewhere\n");
    lab.write(".gitignore", "/out/\n");
    lab.write(&format!("out/{LOCK}"), OPENTOFU);
    lab.write(&format!(".terraform/modules/m/{LOCK}"), OPENTOFU);
    check(&lab, TERRAFORM, nothing);
    // Outside of a repository nothing but the root itself is looked at.
    let lab = repository(OPENTOFU);
    std::fs::remove_dir_all(lab.path(".git")).unwrap();
    check(&lab, TERRAFORM, nothing);
    // A search shows how far the roots belong together.
    lock(&lab, &[BOTH, &["-r"]].concat()).stderr_lacks(nothing);
}

#[test]
fn nothing_outside_of_the_confined_directory_counts() {
    let lab = repository(OPENTOFU);
    let confined = ["--confine", "live/new", "live/new"];
    let outcome = lab.run(&[&["lock", "--offline"], &confined[..]].concat());
    outcome.stderr_lacks("OpenTofu");
}

#[test]
fn files_that_the_header_of_the_lock_file_hides_are_named() {
    let lab = simple();
    lab.write("more.tofu", "locals {}\n");
    lab.write(LOCK, TERRAFORM);
    let remark = "note: the lock file has Terraform's header, so the `.tofu` files beside it are not \
                  read; `--flavor opentofu` reads them\n";
    lab.run(&["verify"]).stderr_has(remark);
    for args in [
        &["verify", "--flavor", "opentofu"],
        &["verify", "--flavor", "terraform"],
    ] {
        lab.run(args).stderr_lacks(".tofu");
    }
}

#[test]
fn a_backend_that_terraform_cannot_compute_keeps_nobody_from_locking() {
    let lab = simple();
    lab.write(
        "backend.tf",
        "locals {\n  path = \"x\"\n}\nterraform {\n  backend \"local\" {\n    path = local.path\n  }\n}\n",
    );
    lock(&lab, BOTH).exits(0);
    for (flavor, is_seen) in [("terraform", false), ("opentofu", true)] {
        let outcome = lab.run(&[&["verify", "--flavor", flavor], BOTH].concat());
        assert_exit(&outcome, 0);
        let all = outcome.stdout + &outcome.stderr;
        all.lacks("Variables not allowed");
        assert_eq!(!all.contains("state not seen"), is_seen, "{flavor}: {all}");
    }
}

#[test]
fn files_of_other_tools_state_the_program() {
    let lab = repository(OPENTOFU);
    for (name, text, header, remark) in [
        (
            ".terraform-version",
            "1.16.0\n",
            TERRAFORM,
            "note: the rules of Terraform apply, as .terraform-version states\n",
        ),
        // The nearest one counts.
        (
            "live/.tool-versions",
            "opentofu 1.12.6\n",
            OPENTOFU,
            "note: the rules of OpenTofu apply, as live/.tool-versions states\n",
        ),
        // Two programs in one directory state none; then the other roots count.
        (
            "live/mise.toml",
            "[tools]\nterraform = \"1.16\"\n",
            OPENTOFU,
            "the rules of OpenTofu apply, as in the other roots of the repository; to",
        ),
        (
            "live/new/terragrunt.hcl",
            "terraform_binary = \"terraform\"\n",
            TERRAFORM,
            "the rules of Terraform apply, as live/new/terragrunt.hcl states\n",
        ),
    ] {
        lab.write(name, text);
        check(&lab, header, remark);
    }
    // The header of the lock file comes first, and needs no remark.
    lab.write(&format!("live/new/{LOCK}"), OPENTOFU);
    let (outcome, written) = lock_new(&lab);
    assert_eq!(written, OPENTOFU);
    outcome.stderr_lacks("states");
    // Nothing above the top of the repository is looked at.
    let lab = repository(OPENTOFU);
    std::fs::rename(lab.path(".git"), lab.path("live/.git")).unwrap();
    lab.write(".terraform-version", "1.16.0\n");
    check(&lab, OPENTOFU, "as in the other roots");
}

#[test]
fn files_of_other_tools_state_the_version() {
    let lab = repository("");
    let required = "terraform {\n  required_version = \">= 1.15, != 1.15.3\"\n}\n";
    lab.write("live/old/main.tf", format!("{required}{ONE_PROVIDER}"));
    lab.write(&format!("live/old/{LOCK}"), TERRAFORM);
    for (version, unmet) in [
        ("1.15.2", false),
        // Another release of 1.15 is allowed.
        ("1.15", false),
        ("latest:^1.9", false),
        ("v1.15.3", true),
        ("1.9", true),
    ] {
        lab.write(".terraform-version", format!("{version} # pinned\n"));
        let outcome = lab.run(&["verify", "live/old"]);
        let help = "change the constraint, or the version in .terraform-version";
        assert_eq!(
            outcome.stdout.contains(help),
            unmet,
            "{version}: {outcome:#?}"
        );
        let note = "note: the oldest known rules, terraform@1.11, are used for terraform@1.9, stated in \
                    .terraform-version\n";
        assert_eq!(
            outcome.stderr.contains(note),
            version == "1.9",
            "{outcome:#?}"
        );
    }
    // Files of two roots make one note.
    for root in ["live/old", "live/two"] {
        lab.write(&format!("{root}/{LOCK}"), TERRAFORM);
        lab.write(&format!("{root}/.terraform-version"), "1.9\n");
    }
    lab.run(&["verify", "live/old", "live/two"])
        .stderr_has("stated in .terraform-version beside it (in all 2 roots)\n");
    std::fs::remove_file(lab.path("live/old/.terraform-version")).unwrap();
    // A version of the other program says nothing about this one.
    std::fs::remove_file(lab.path(".terraform-version")).unwrap();
    lab.write(".opentofu-version", "1.6.0\n");
    let outcome = lab.run(&["verify", "live/old"]);
    outcome.stdout_lacks("core-version-unmet");
    // What is typed counts instead.
    lab.write(".terraform-version", "1.9\n");
    let outcome = lab.run(&["verify", "live/old", "--flavor", "terraform@1.16"]);
    outcome.stdout_lacks("core-version-unmet");
}
