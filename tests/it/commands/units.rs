//! Lock files beside which no configuration, or not all of it, can be seen.

use super::*;

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
    outcome.stdout_lacks("layout only");
    outcome.stderr_has("note[module-not-visible]: Terragrunt unit is not visible");
    for args in [
        &["verify", "--fix"][..],
        &["verify", "--fix=all"],
        &["verify"],
    ] {
        let outcome = lab.run(&[args, &["--only", "configuration"]].concat());
        assert_exit(&outcome, 0);
        assert!(keeps_entries(&lab), "{outcome:?}");
        outcome.stderr_eq(str![[r#"
note: .terraform.lock.hcl was not compared with any configuration: terragrunt.hcl: [..]/m does not exist
...
"#]]);
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
            let outcome = lab.run(&[command]).exits(2);
            let text = outcome.stdout + &outcome.stderr;
            text.has("error[file-unreadable]: The unit file cannot be read\n");
            let place = format!("--> {name}:1:1\n = note: not a regular file\n");
            text.has(&place);
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
    outcome.stderr_has(remark);
    lock(&lab, &["tool", "--platform", "linux_amd64"]);
    let text = lab.read(&format!("tool/{LOCK}"));
    text.has("example.com/t/old");
    text.has(">= 0.5.0");
    lab.run(&["tree", "tool"]).exits(2);
    lab.write(&format!("other/{LOCK}"), ENTRIES);
    lab.run(&["verify", "tool", "other", "--only", "file,configuration"]).stderr_has("note: 2 lock files were not compared with any configuration, since there is none beside \
                  them, or it is not visible: tool/.terraform.lock.hcl, other/.terraform.lock.hcl\n");
    lab.write("nothing/readme.txt", "");
    for command in ["lock", "verify"] {
        assert_exit(&lab.run(&[command, "nothing"]), 2);
    }
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
    outcome.stderr_has(note);
    outcome.stderr_has("help: run `git submodule update --init`");
    lab.run(&["tree"]).stderr_lacks("terraform get");
    let outcome = lab.run(&["verify", "-r"]);
    let note = "note: the git submodule vendor/m is not checked out, so roots in there are not found; run \
                `git submodule update --init`\n";
    outcome.stderr_has(note);
    let outcome = lab.run(&["verify", "vendor/m"]).exits(2);
    outcome.stderr_has("cause: this is a git submodule that is not checked out");
    // One with files is a directory like any other.
    lab.write("vendor/m/main.tf", ONE_PROVIDER);
    lab.run(&["verify", "-r"]).stderr_lacks("submodule");
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
    lock(&lab, &["live/app", "--platform", "linux_amd64"]).exits(0);
    let text = lab.read(&format!("live/app/{LOCK}"));
    assert!(!text.contains("t/old") && text.contains("~> 1.0"), "{text}");
    let outcome = lab.run(&["why", "example.com/t/x", "live/app"]);
    outcome.stdout_has("modules/m/main.tf:");
    // Units without a lock file are roots if that is asked for; the old lock file of one would come back.
    let outcome = lock(&lab, &["-r", "live", "--platform", "linux_amd64"]);
    assert!(!lab.path("live/own").join(LOCK).exists(), "{outcome:?}");
    let outcome = lock(
        &lab,
        &["-r", "--terragrunt", "live", "--platform", "linux_amd64"],
    );
    assert_exit(&outcome, 0);
    outcome.stderr_has("remove live/own/.terragrunt-cache to keep this one");
    lab.write(
        "live/none/terragrunt.hcl",
        "terraform {\n  source = \"../../modules/m\"\n  copy_terraform_lock_file = false\n}\n",
    );
    let outcome = lock(&lab, &["live/none", "--platform", "linux_amd64"]).exits(0);
    assert!(!lab.path("live/none").join(LOCK).exists());
    outcome.stderr_has("copy_terraform_lock_file");
}

/// The parent of many repositories generates the `provider` blocks by a program of its own.
#[test]
fn a_generated_file_with_unknown_contents_hides_nothing_else() {
    let lab = simple();
    let unit = |path: &str, if_exists: &str| {
        format!(
            "generate \"p\" {{\n  path = \"{path}\"\n  if_exists = \"{if_exists}\"\n  contents = \
             run_cmd(\"p.sh\")\n}}\nterraform {{\n  source = \"../m\"\n}}\n"
        )
    };
    let unit_file = "live/terragrunt.hcl";
    lab.write("m/main.tf", ONE_PROVIDER.replace("~> 1.0", "~> 2.0"));
    lab.write(&format!("live/{LOCK}"), ENTRIES);
    lab.write(unit_file, unit("p.tf", "overwrite"));
    let verify = ["verify", "live", "--only", "configuration"];
    // The file may require what nothing else does, but it allows no version that the module excludes.
    let outcome = lab.run(&verify).exits(1);
    outcome.stdout_has("error[version-outside-constraint]");
    outcome.stdout_lacks("provider-not-required");
    outcome.stdout_has("1 generated file not seen");
    let verbose = lab.run(&[&verify[..], &["-v"]].concat());
    verbose.stdout_has("note[module-not-visible]: Generated file is not visible");
    lab.run(&["tree", "live"])
        .exits(0)
        .stderr_has("note: 1 generated file cannot be seen");
    // In the place of a file of the module it hides that file, unless it leaves it.
    lab.write("m/p.tf", "provider \"y\" {\n}\n");
    lab.run(&["tree", "live"]).stdout_lacks("hashicorp/y");
    lab.write(unit_file, unit("p.tf", "skip"));
    lab.run(&["tree", "live"])
        .exits(0)
        .stdout_has("hashicorp/y");
    lab.run(&verify).stdout_lacks("generated");
    // It may change the meaning of other files.
    for path in ["x_override.tf", "main.tofu", "x.auto.tfvars", LOCK] {
        lab.write(unit_file, unit(path, "overwrite"));
        let outcome = lab.run(&verify).exits(0);
        outcome.stderr_has("was not compared with any configuration");
    }
    // Without a lock file it is not known whether one is needed.
    lab.write(unit_file, unit("p.tf", "overwrite"));
    lab.write("m/main.tf", "output \"x\" {\n  value = 1\n}\n");
    std::fs::remove_file(lab.path(&format!("live/{LOCK}"))).unwrap();
    let outcome = lab.run(&verify);
    outcome.stdout_has("the generated file p.tf cannot be seen");
}

#[test]
fn equal_keys_in_an_object_stop_no_unit() {
    let lab = simple();
    lab.write("m/main.tf", ONE_PROVIDER);
    let unit = "inputs = {\n  a = 1\n  a = 2\n}\nterraform {\n  source = \"../m\"\n}\n";
    lab.write("live/terragrunt.hcl", unit);
    let outcome = lab.run(&["tree", "live", "-v"]).exits(0);
    outcome.stdout_has("example.com/t/x  ~> 1.0");
    outcome.stderr_lacks("Duplicate object key");
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
    outcome.stdout_has("live/terragrunt.hcl:2:");
    outcome.stdout_has("run_cmd");
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
    let outcome = lab.run(&["why", "example.com/t/x", "live/app"]).exits(0);
    assert!(
        outcome.stdout.starts_with("modules/m/main.tf:"),
        "{outcome:?}"
    );
    let outcome = lab.run(&["verify", "live/app", "-v", "--only", "configuration"]);
    outcome.stdout_has("Only Terragrunt before 1.0 finds this module");
}

#[test]
fn the_form_of_the_provider_cache_is_recognised_and_rewritten() {
    let lab = simple();
    let entry = "\nprovider \"example.com/t/x\" {\n  version     = \"1.0.0\"\n  constraints = \"1.0.0\"\n  hashes = \
                 [\n    \"h1:vSUZJPJlJhDOkbAT+iqt7AAQArew8uExp71bJtBUdMw=\",\n  ]\n}\n";
    lab.write(LOCK, entry);
    let outcome = lab.run(&["verify", "-v", "--only", "file"]).exits(0);
    outcome.stdout_has("the provider cache of Terragrunt writes files without a header");
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    let written = lab.read(LOCK);
    assert!(
        written.starts_with("# This file is maintained"),
        "{written}"
    );
    written.has("constraints = \"~> 1.0\"");
}

/// A parent that units include, under the name of a unit file.
const PARENT: &str = "generate \"p\" {\n  path = \"p.tf\"\n  if_exists = \"overwrite\"\n  contents = <<EOT\n\
    provider \"x\" {}\nEOT\n}\n";

#[test]
fn a_parent_of_units_is_no_unit() {
    let lab = simple();
    std::fs::remove_file(lab.path("main.tf")).unwrap();
    lab.write("modules/m/main.tf", ONE_PROVIDER);
    lab.write("live/terragrunt.hcl", PARENT);
    lab.write("live/locals/terragrunt.hcl", "locals {}\n");
    let unit = "include \"root\" {\n  path = \"../terragrunt.hcl\"\n}\nterraform {\n  source = \"../../modules/m\"\n}\n";
    lab.write("live/app/terragrunt.hcl", unit);
    let outcome = lock(&lab, &[&["-r", "--terragrunt"], BOTH].concat()).exits(0);
    assert!(lab.path("live/app").join(LOCK).exists(), "{outcome:?}");
    for dir in ["live", "live/locals"] {
        assert!(!lab.path(dir).join(LOCK).exists(), "{outcome:?}");
        lock(&lab, &[&[dir], BOTH].concat()).exits(2).stderr_has("cause: terragrunt.hcl has neither a source nor an include, and no .tf file is beside it, so it \
                     is no unit\n");
        assert!(!lab.path(dir).join(LOCK).exists());
    }
    // Without units below, it generates a configuration of its own.
    std::fs::remove_dir_all(lab.path("live/app")).unwrap();
    std::fs::remove_dir_all(lab.path("live/locals")).unwrap();
    lab.run(&["tree", "live"]).stdout_has("hashicorp/x");
    let outcome = lab.run(&["tree", "-r", "--terragrunt"]);
    outcome.stdout_has("hashicorp/x");
}

#[test]
fn stacks_of_terragrunt_are_named() {
    let lab = simple();
    lab.write(LOCK, ENTRIES);
    lab.write(
        "stack/terragrunt.stack.hcl",
        "unit \"db\" {\n  source = \"../db\"\n  path = \"db\"\n}\n",
    );
    let note = "note: a stack of Terragrunt is not read: stack/terragrunt.stack.hcl; `terragrunt stack generate` \
                writes its units to .terragrunt-stack\n";
    for args in [&["verify", "-r"][..], &["tree", "-r"], &["show", "-r"]] {
        let outcome = lab.run(args);
        assert_eq!(outcome.stderr.matches(note).count(), 1, "{outcome:#?}");
    }
    lab.run(&["verify", "stack"]).exits(2).stderr_eq(str![[r#"
error: no configuration in stack
  cause: this is a stack of Terragrunt, whose units are not read
  help: run `terragrunt stack generate` there, and name the units in .terragrunt-stack

"#]]);
}

#[test]
fn a_missing_parent_that_is_not_merged_hides_no_unit() {
    let lab = simple();
    lab.write("m/main.tf", ONE_PROVIDER);
    let unit = |source: &str| {
        format!(
            "include \"secret\" {{\n  path = \"../secret.hcl\"\n  expose = true\n  merge_strategy = \"no_merge\"\n}}\n\
             terraform {{\n  source = \"{source}\"\n}}\ninputs = {{\n  x = include.secret.locals.x\n}}\n"
        )
    };
    lab.write("app/terragrunt.hcl", unit("../m"));
    let outcome = lab.run(&["why", "example.com/t/x", "app", "-v"]).exits(0);
    outcome.stdout_has("m/main.tf:");
    let note = "Terragrunt stops at this unit: Include configuration not found";
    let all = outcome.stdout + &outcome.stderr;
    assert_eq!(all.matches(note).count(), 1, "{all}");
    // What decides the files is not known without it.
    lab.write("app/terragrunt.hcl", unit("${include.secret.locals.m}"));
    lab.run(&["tree", "app"]).stdout_has("not visible");
    // A parent that is merged decides, too.
    let merged = unit("../m").replace("no_merge", "deep");
    lab.write("app/terragrunt.hcl", merged);
    lab.run(&["tree", "app"]).stdout_has("not visible");
}

#[test]
fn a_terraform_stack_never_passes_as_compared() {
    let lab = simple();
    std::fs::remove_file(lab.path("main.tf")).unwrap();
    let required = "required_providers {\n  x = {\n    source  = \"example.com/t/x\"\n    version = \"~> 2.0\"\n  }\n}\n";
    lab.write("stack/main.tfcomponent.hcl", required);
    lab.write(
        "stack/main.tfdeploy.hcl",
        "deployment \"d\" {\n  inputs = {}\n}\n",
    );
    // Without a lock file, the program's own command creates it.
    for args in [&["lock", "stack"][..], &["verify", "stack"]] {
        let outcome = lab.run(args);
        assert_ne!(outcome.code, 0, "{outcome:#?}");
        let all = outcome.stdout + &outcome.stderr;
        all.has("run `terraform stacks providers-lock`");
        assert!(!lab.path("stack").join(LOCK).exists());
    }
    let outcome = lab.run(&["verify", "-r", "stack"]);
    outcome.stderr_has("1 directory");
    lab.write(&format!("stack/{LOCK}"), ENTRIES);
    let outcome = lab.run(&["verify", "-r", "--only", "configuration"]);
    assert_exit(&outcome, 1);
    // The entry of `old` may be needed by a component.
    outcome.stdout_has("error[version-outside-constraint]");
    outcome.stdout_lacks("t/old");
    outcome.stderr_has("a Terraform Stack: the modules of its components are not read, only its `required_providers` are \
                compared; `terraform stacks providers-lock` writes its lock file");
    let outcome = lab.run(&["why", "example.com/t/x", "stack"]);
    outcome.stdout_has("stack/main.tfcomponent.hcl:4:");
    lab.run(&["tree", "stack"]).stdout_has("example.com/t/x");
}

#[test]
fn a_lock_file_of_a_module_is_noted_with_the_callers() {
    let lab = simple();
    std::fs::remove_file(lab.path("main.tf")).unwrap();
    lab.write(
        "modules/net/main.tf",
        "module \"inner\" {\n  source = \"../inner\"\n}\n",
    );
    lab.write("modules/inner/main.tf", ONE_PROVIDER);
    for module in ["net", "inner"] {
        lab.write(&format!("modules/{module}/{LOCK}"), ENTRIES);
    }
    for number in 0..7 {
        let root = "terraform {\n  backend \"local\" {}\n}\nmodule \"n\" {\n  source = \"../../modules/net\"\n}\n";
        lab.write(&format!("live/r{number}/main.tf"), root);
    }
    let outcome = lab.run(&["verify", "-r", "-v", "--only", "configuration"]);
    for (dir, called_by) in [
        (
            "net",
            "called by live/r0, live/r1, live/r2, live/r3, live/r4 and 2 more",
        ),
        (
            "inner",
            "called by live/r0, live/r1, live/r2, live/r3, live/r4 and 3 more",
        ),
    ] {
        let place = format!("modules/{dir}/{LOCK}");
        outcome.stdout_has(&place);
        outcome.stdout_has(called_by);
    }
    let rule = "[lock-in-module]";
    assert_eq!(
        outcome.stdout.matches(&format!("note{rule}")).count(),
        2,
        "{outcome:#?}"
    );
    // A root that is not called has no such note, and one root alone has no callers.
    let outcome = lab.run(&["verify", "modules/net", "-v", "--only", "configuration"]);
    outcome.stdout_lacks(rule);
}

#[test]
fn what_lock_drops_is_in_its_summary() {
    let lab = simple();
    lab.write("main.tf", "locals {}\n");
    lab.write(LOCK, ENTRIES);
    lab.run(&["--offline", "lock"]).exits(0).stdout_eq(str![[r#"
updated .terraform.lock.hcl; 2 providers removed

"#]]);
}
