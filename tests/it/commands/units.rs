//! Lock files beside which no configuration, or not all of it, can be seen.

use snapbox::{assert_data_eq, str};

use super::{BOTH, LOCK, ONE_PROVIDER, assert_exit, lock, simple};
use crate::lab::Lab;

/// Entries of two providers, in canonical form.
const ENTRIES: &str = "\
# This file is maintained automatically by \"terraform init\".
# Manual edits may be lost in future updates.

provider \"example.com/t/old\" {
  version     = \"1.0.0\"
  constraints = \"~> 1.0\"
}

provider \"example.com/t/x\" {
  version     = \"1.0.0\"
  constraints = \">= 0.5.0\"
}
";

/// A unit of Terragrunt with a stray file, which requires one of the two locked providers.
fn unit() -> Lab {
    let lab = simple();
    lab.write("terragrunt.hcl", "terraform {\n  source = \"../m\"\n}\n");
    lab.write(LOCK, ENTRIES);
    lab
}

/// Returns whether nothing was lost of [`ENTRIES`].
fn keeps_entries(lab: &Lab) -> bool {
    let text = lab.read(LOCK);
    let lines = ENTRIES
        .lines()
        .filter(|line| line.contains(" = \"") || line.starts_with("provider"));
    let mut lines = lines;
    lines.all(|line| text.contains(line))
}

#[test]
fn a_unit_loses_no_entry() {
    let lab = unit();
    let outcome = lock(&lab, &["--platform", "linux_amd64"]);
    assert!(keeps_entries(&lab), "{outcome:?}");
    assert!(
        !outcome.stdout.contains("layout only"),
        "{}",
        outcome.stdout
    );
    let note = "note[module-not-visible]: Terragrunt unit is not visible";
    assert!(outcome.stderr.contains(note), "{}", outcome.stderr);
    for args in [
        &["verify", "--fix"][..],
        &["verify", "--fix=all"],
        &["verify"],
    ] {
        let outcome = lab.run(&[args, &["--only", "configuration"]].concat());
        assert_exit(&outcome, 0);
        assert!(keeps_entries(&lab), "{outcome:?}");
        assert_data_eq!(
            outcome.stderr,
            str![[r#"
note: .terraform.lock.hcl was not compared with any configuration: terragrunt.hcl: [..]/m does not exist
...
"#]]
        );
    }
    let strict = lab.run(&["verify", "--only", "configuration", "--strict-modules"]);
    assert_exit(&strict, 1);
    // Without a lock file nothing is created for what is not visible.
    std::fs::remove_file(lab.path(LOCK)).unwrap();
    assert_exit(&lock(&lab, BOTH), 0);
    assert!(!lab.path(LOCK).exists());
}

/// An empty lock file would pass for one that fits.
#[cfg(unix)]
#[test]
fn a_unit_file_that_cannot_be_read_is_an_error() {
    for name in ["terragrunt.hcl", "terragrunt.hcl.json"] {
        let lab = Lab::new();
        lab.write(LOCK, "");
        let _listening = std::os::unix::net::UnixListener::bind(lab.path(name)).unwrap();
        for command in ["verify", "lock", "tree"] {
            let outcome = lab.run(&[command]);
            assert_exit(&outcome, 2);
            let text = outcome.stdout + &outcome.stderr;
            let title = "error[file-unreadable]: The unit file cannot be read\n";
            assert!(text.contains(title), "{text}");
            let place = format!("--> {name}:1:1\n = note: not a regular file\n");
            assert!(text.contains(&place), "{text}");
        }
    }
}

#[test]
fn a_lock_file_without_configuration_is_checked_by_itself() {
    let lab = simple();
    lab.write(&format!("tool/{LOCK}"), ENTRIES);
    let outcome = lab.run(&["verify", "tool", "--only", "file,configuration"]);
    assert_exit(&outcome, 0);
    let remark =
        "tool/.terraform.lock.hcl was not compared with any configuration: there is none beside it";
    assert!(outcome.stderr.contains(remark), "{}", outcome.stderr);
    let outcome = lock(&lab, &["tool", "--platform", "linux_amd64"]);
    let text = lab.read(&format!("tool/{LOCK}"));
    assert!(
        text.contains("example.com/t/old") && text.contains(">= 0.5.0"),
        "{outcome:?}"
    );
    let outcome = lab.run(&["tree", "tool"]);
    assert_exit(&outcome, 2);
    lab.write(&format!("other/{LOCK}"), ENTRIES);
    let outcome = lab.run(&["verify", "tool", "other", "--only", "file,configuration"]);
    let remark = "note: 2 lock files were not compared with any configuration, since there is none beside \
                  them, or it is not visible: tool/.terraform.lock.hcl, other/.terraform.lock.hcl\n";
    assert!(outcome.stderr.contains(remark), "{}", outcome.stderr);
    lab.write("nothing/readme.txt", "");
    for command in ["lock", "verify"] {
        assert_exit(&lab.run(&[command, "nothing"]), 2);
    }
}

#[test]
fn what_lock_drops_is_in_its_summary() {
    let lab = simple();
    lab.write("main.tf", "locals {}\n");
    lab.write(LOCK, ENTRIES);
    let outcome = lab.run(&["--offline", "lock"]);
    assert_exit(&outcome, 0);
    assert_data_eq!(
        outcome.stdout,
        str![[r#"
updated .terraform.lock.hcl; 2 providers removed

"#]]
    );
}

#[test]
fn submodules_that_are_not_checked_out_are_named() {
    let lab = simple();
    lab.write(".git/HEAD", "");
    lab.write(
        ".gitmodules",
        "[submodule \"m\"]\n\tpath = vendor/m\n\turl = https://example.com/m.git\n",
    );
    std::fs::create_dir_all(lab.path("vendor/m")).unwrap();
    let calls = "module \"m\" {\n  source = \"./vendor/m\"\n}\nmodule \"n\" {\n  source = \"./vendor/m/n\"\n}\n";
    lab.write("calls.tf", calls);
    lab.write(LOCK, ENTRIES);
    let outcome = lock(&lab, &["--platform", "linux_amd64"]);
    assert!(lab.read(LOCK).contains("example.com/t/old"), "{outcome:?}");
    let note = "note[module-not-visible]: Git submodule is not checked out\n --> calls.tf:2:12";
    assert!(outcome.stderr.contains(note), "{}", outcome.stderr);
    let help = "help: run `git submodule update --init`";
    assert!(outcome.stderr.contains(help), "{}", outcome.stderr);
    let outcome = lab.run(&["tree"]);
    assert!(
        !outcome.stderr.contains("terraform get"),
        "{}",
        outcome.stderr
    );
    let outcome = lab.run(&["verify", "-r"]);
    let note = "note: the git submodule vendor/m is not checked out, so roots in there are not found; run \
                `git submodule update --init`\n";
    assert!(outcome.stderr.contains(note), "{}", outcome.stderr);
    let outcome = lab.run(&["verify", "vendor/m"]);
    assert_exit(&outcome, 2);
    let cause = "cause: this is a git submodule that is not checked out";
    assert!(outcome.stderr.contains(cause), "{}", outcome.stderr);
    // One with files is a directory like any other.
    lab.write("vendor/m/main.tf", ONE_PROVIDER);
    let outcome = lab.run(&["verify", "-r"]);
    assert!(!outcome.stderr.contains("submodule"), "{}", outcome.stderr);
}

#[test]
fn a_unit_is_locked_by_what_its_module_requires() {
    let lab = simple();
    std::fs::rename(lab.path("main.tf"), lab.path("mirror.tf.txt")).unwrap();
    lab.write(
        "root.hcl",
        "generate \"p\" {\n  path = \"p.tf\"\n  if_exists = \"overwrite\"\n  contents = \"\"\n}\n",
    );
    lab.write("modules/m/main.tf", ONE_PROVIDER);
    let unit = "include \"root\" {\n  path = find_in_parent_folders(\"root.hcl\")\n}\nterraform {\n  source = \
                \"../../modules/m\"\n}\n";
    lab.write("live/app/terragrunt.hcl", unit);
    lab.write("live/own/terragrunt.hcl", "");
    lab.write("live/own/main.tf", ONE_PROVIDER);
    lab.write("live/own/.terragrunt-cache/x", "");
    lab.write(&format!("live/app/{LOCK}"), ENTRIES);
    let outcome = lock(&lab, &["live/app", "--platform", "linux_amd64"]);
    assert_exit(&outcome, 0);
    let text = lab.read(&format!("live/app/{LOCK}"));
    assert!(!text.contains("t/old") && text.contains("~> 1.0"), "{text}");
    let outcome = lab.run(&["why", "example.com/t/x", "live/app"]);
    assert!(outcome.stdout.contains("modules/m/main.tf:"), "{outcome:?}");
    // Units without a lock file are roots if that is asked for; the old lock file of one would come back.
    let outcome = lock(&lab, &["-r", "live", "--platform", "linux_amd64"]);
    assert!(!lab.path("live/own").join(LOCK).exists(), "{outcome:?}");
    let outcome = lock(
        &lab,
        &["-r", "--terragrunt", "live", "--platform", "linux_amd64"],
    );
    assert_exit(&outcome, 0);
    let warning = "remove live/own/.terragrunt-cache to keep this one";
    assert!(outcome.stderr.contains(warning), "{}", outcome.stderr);
    lab.write(
        "live/none/terragrunt.hcl",
        "terraform {\n  source = \"../../modules/m\"\n  copy_terraform_lock_file = false\n}\n",
    );
    let outcome = lock(&lab, &["live/none", "--platform", "linux_amd64"]);
    assert_exit(&outcome, 0);
    assert!(!lab.path("live/none").join(LOCK).exists());
    assert!(
        outcome.stderr.contains("copy_terraform_lock_file"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_unit_with_an_unknown_source_is_shown_at_its_place() {
    let lab = simple();
    lab.write(
        "live/terragrunt.hcl",
        "terraform {\n  source = run_cmd(\"echo\", \"x\")\n}\n",
    );
    lab.write(&format!("live/{LOCK}"), ENTRIES);
    let outcome = lab.run(&["verify", "live", "-v", "--only", "configuration"]);
    assert_exit(&outcome, 0);
    assert!(
        outcome.stdout.contains("live/terragrunt.hcl:2:"),
        "{outcome:?}"
    );
    assert!(outcome.stdout.contains("run_cmd"), "{outcome:?}");
}

#[test]
fn a_unit_without_a_source_may_call_what_only_its_own_directory_reaches() {
    let lab = simple();
    std::fs::remove_file(lab.path("main.tf")).unwrap();
    lab.write("modules/m/main.tf", ONE_PROVIDER);
    lab.write("live/app/terragrunt.hcl", "");
    lab.write(
        "live/app/main.tf",
        "module \"m\" {\n  source = \"../../modules/m\"\n}\n",
    );
    lab.write(&format!("live/app/{LOCK}"), ENTRIES);
    let outcome = lab.run(&["why", "example.com/t/x", "live/app"]);
    assert_exit(&outcome, 0);
    assert!(
        outcome.stdout.starts_with("modules/m/main.tf:"),
        "{outcome:?}"
    );
    let outcome = lab.run(&["verify", "live/app", "-v", "--only", "configuration"]);
    let note = "Only Terragrunt before 1.0 finds this module";
    assert!(outcome.stdout.contains(note), "{outcome:?}");
}

#[test]
fn the_form_of_the_provider_cache_is_recognised_and_rewritten() {
    let lab = simple();
    let entry = "\nprovider \"example.com/t/x\" {\n  version     = \"1.0.0\"\n  constraints = \"1.0.0\"\n  hashes = \
                 [\n    \"h1:vSUZJPJlJhDOkbAT+iqt7AAQArew8uExp71bJtBUdMw=\",\n  ]\n}\n";
    lab.write(LOCK, entry);
    let outcome = lab.run(&["verify", "-v", "--only", "file"]);
    assert_exit(&outcome, 0);
    let remark = "the provider cache of Terragrunt writes files without a header";
    assert!(outcome.stdout.contains(remark), "{outcome:?}");
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    let written = lab.read(LOCK);
    assert!(
        written.starts_with("# This file is maintained"),
        "{written}"
    );
    assert!(written.contains("constraints = \"~> 1.0\""), "{written}");
}
