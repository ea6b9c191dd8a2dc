//! `update --edit`: constraints in configuration, and the lock files that follow them.

use std::collections::BTreeMap;
use std::io;

use lockctl::os::RealDisk;
use lockctl::world::{Disk, Exclusive, Replaced, Replacement};

use super::mirror_disturbed::NO_SPACE;
use super::registry::point_at;
use super::*;
use crate::disk::{Changed, Changes};
use crate::lab::zip_of;
use crate::registry::Registry;

const SHARED: &str = "terraform {\r\n  required_providers {\r\n    x = {\r\n      source  = \"example.com/t/x\"\r\n      \
                      version =   \">= 1.0, < 2\" # why\r\n    }\r\n  }\r\n}\r\n";
const JSON: &str = "{\"terraform\": {\"required_providers\": {\n  \"x\": {\"source\": \"example.com/t/x\", \"version\" :\"~\\u003e 1.0\"}}}}\n";

/// Two roots that share a module, and a mirror; one of them has a module in JSON.
fn two_roots() -> Lab {
    let lab = Lab::new();
    lab.write(".git/HEAD", "");
    let call =
        |name: &str| format!("module {name:?} {{\n  source = \"../../modules/{name}\"\n}}\n");
    let pinned = "terraform {\n  required_providers {\n    x = { source = \"example.com/t/x\", version = \"1.0.0\" } # pin\n  }\n}\n";
    lab.write("live/a/main.tf", format!("{pinned}{}", call("shared")))
        .write("live/b/main.tf", call("shared") + &call("json"))
        .write("modules/shared/versions.tf", SHARED)
        .write("modules/json/x.tf.json", JSON);
    for version in ["1.0.0", "1.4.0", "2.0.0", "2.3.1"] {
        let package = format!("example.com/t/x/{version}/linux_amd64");
        lab.unpacked("mirror", &package, &package);
    }
    let outcome = edit(&lab, "lock", &["live/a", "live/b"]);
    assert_exit(&outcome, 0);
    lab
}

fn edit(lab: &Lab, command: &str, more: &[&str]) -> Outcome {
    let options = [
        "--fs-mirror",
        "mirror",
        "--flavor",
        "terraform",
        "--platform",
        "linux_amd64",
    ];
    lab.run(&[&[command], more, &options].concat())
}

const FILES: [&str; 5] = [
    "live/a/main.tf",
    "modules/shared/versions.tf",
    "modules/json/x.tf.json",
    "live/a/.terraform.lock.hcl",
    "live/b/.terraform.lock.hcl",
];

fn texts(lab: &Lab) -> Vec<String> {
    FILES.iter().map(|path| lab.read(path)).collect()
}

#[test]
fn constraints_change_with_the_lock_files_and_no_other_byte() {
    let lab = two_roots();
    let before = texts(&lab);
    let outcome = edit(&lab, "update", &["x@2.3.1", "-r", "--edit", "./live"]).exits(0);
    outcome.stdout_has("1.0.0 → 2.3.1");
    let after = texts(&lab);
    assert_eq!(after[0], before[0].replace("\"1.0.0\"", "\"2.3.1\""));
    assert_eq!(after[1], SHARED.replace(">= 1.0, < 2", ">= 2.3, < 3"));
    assert_eq!(after[2], JSON.replace("~\\u003e 1.0", "~> 2.0"));
    assert!(after[3].contains("\"2.3.1\"") && after[4].contains("\"2.3.1\""));
    // Everything is as wanted now.
    let outcome = edit(&lab, "update", &["-r", "--edit", "--check", "./live"]).exits(0);
    outcome.stdout_lacks("→");
    assert_eq!(texts(&lab), after);
}

#[cfg(unix)]
#[test]
fn a_file_that_roots_share_by_links_is_edited_once() {
    let lab = two_roots();
    lab.write("common/x.tofu", SHARED)
        .write("live/b/main.tf", "")
        .write("live/a/main.tf", "");
    for link in ["live/a/versions.tofu", "live/b/x.tofu"] {
        std::os::unix::fs::symlink("../../common/x.tofu", lab.path(link)).unwrap();
    }
    let opentofu = |command: &str| {
        lab.run(&words(&format!(
            "{command} -r --fs-mirror mirror --flavor opentofu --platform linux_amd64"
        )))
    };
    opentofu("update x@2.3.1 --edit ./live").exits(0);
    assert_eq!(
        lab.read("common/x.tofu"),
        SHARED.replace(">= 1.0, < 2", ">= 2.3, < 3")
    );
    for root in ["live/a", "live/b"] {
        lab.read(&format!("{root}/{LOCK}")).has("\"2.3.1\"");
    }
    assert!(lab.path("live/b/x.tofu").is_symlink());
    opentofu("lock --check ./live").exits(0);
}

#[test]
fn without_a_version_the_newest_is_wanted_and_limits_count() {
    let lab = two_roots();
    edit(&lab, "update", &["--edit", "--minor", "live/a"]).exits(0);
    assert!(lab.read(FILES[0]).contains("\"1.4.0\""));
    assert_eq!(lab.read(FILES[1]), SHARED);
    edit(&lab, "update", &["x", "--edit", "live/a"]).exits(0);
    assert!(lab.read(FILES[0]).contains("\"2.3.1\""));
    assert!(lab.read(FILES[1]).contains("\">= 2.3, < 3\""));
}

#[test]
fn a_house_form_replaces_every_constraint_of_what_moves() {
    let lab = two_roots();
    edit(
        &lab,
        "update",
        &["x@1.4.0", "-r", "--edit=pessimistic", "./live"],
    )
    .exits(0);
    let [a, shared, json, ..] = &*texts(&lab) else {
        panic!("files")
    };
    assert!(
        [a, shared, json]
            .iter()
            .all(|text| text.contains("\"~> 1.4\"")),
        "{a}{shared}{json}"
    );
    edit(&lab, "update", &["x@1.4.0", "-r", "--edit=pin", "./live"]).exits(0);
    assert!(lab.read(FILES[1]).contains("\"1.4.0\" # why\r\n"));
}

#[test]
fn a_dry_run_is_a_diff_and_writes_nothing() {
    let lab = two_roots();
    let before = texts(&lab);
    let outcome = edit(
        &lab,
        "update",
        &["x@2.0.0", "--edit", "--dry-run", "live/a"],
    )
    .exits(0);
    outcome.stdout_has(
        "--- a/modules/shared/versions.tf\n+++ b/modules/shared/versions.tf\n@@ -2,7 +2,7 @@\n",
    );
    outcome.stdout_has("+    x = { source = \"example.com/t/x\", version = \"2.0.0\" } # pin\n");
    edit(&lab, "update", &["x@2.0.0", "--edit", "--check", "live/a"]).exits(1);
    let json = edit(
        &lab,
        "update",
        &["x@2.0.0", "--edit", "--check", "live/a", "--format", "json"],
    );
    let json: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(json["edits"][0]["path"], "live/a/main.tf");
    assert_eq!(json["edits"][0]["from"], "1.0.0");
    assert_eq!(json["edits"][1]["to"], ">= 2.0, < 3");
    assert_eq!(texts(&lab), before);
}

#[test]
fn nothing_is_written_if_a_root_or_a_constraint_cannot_follow() {
    let lab = two_roots();
    lab.write(
        "live/b/main.tf",
        lab.read("live/b/main.tf")
            + "module \"far\" {\n  source  = \"example.com/a/b/c\"\n  version = \"1.0.0\"\n}\n",
    )
    .write(
        "live/b/.terraform/modules/modules.json",
        "{\"Modules\":[{\"Key\":\"\",\"Source\":\"\",\"Dir\":\".\"},\
         {\"Key\":\"shared\",\"Source\":\"../../modules/shared\",\"Dir\":\"../../modules/shared\"},\
         {\"Key\":\"json\",\"Source\":\"../../modules/json\",\"Dir\":\"../../modules/json\"},\
         {\"Key\":\"far\",\"Source\":\"example.com/a/b/c\",\"Version\":\"1.0.0\",\"Dir\":\".terraform/modules/far\"}]}",
    )
    .write("live/b/.terraform/modules/far/main.tf", SHARED);
    let before = texts(&lab);
    let outcome = edit(&lab, "update", &["x@2.0.0", "-r", "--edit", "./live"]).exits(2);
    outcome.stderr_has("t/x 2.0.0 is excluded at live/b/.terraform/modules/far/main.tf:5");
    outcome.stderr_has("module.far is not of this repository");
    outcome.stderr_has("a version is needed whose constraint allows 2.0.0");
    assert_eq!(texts(&lab), before);
    // Without a version, what cannot be edited limits the move.
    edit(&lab, "update", &["--edit", "live/b"]).exits(0);
    assert!(lab.read(FILES[4]).contains("\"1.4.0\""));
    assert_eq!(lab.read(FILES[1]), SHARED);
    // Another root that shares the module needs more, so that this one cannot follow.
    let before = texts(&lab);
    let outcome = edit(&lab, "update", &["-r", "--edit", "./live"]).exits(2);
    outcome.stderr_has(
        "warning: nothing was written: configuration and lock files are written together",
    );
    outcome.stdout_lacks("updated");
    assert_eq!(texts(&lab), before);
    // A version that no source has fails when it is locked, after the edits were planned.
    edit(&lab, "update", &["x@1.9.9", "live/a", "--edit"]).exits(2);
    assert_eq!(texts(&lab), before);
    let built = lab.read(FILES[0]).replace("\"1.0.0\"", "\"${\"1.0.0\"}\"");
    lab.write(FILES[0], &built);
    let outcome = edit(&lab, "update", &["x@2.0.0", "live/a", "--edit"]).exits(2);
    outcome.stderr_has("x 2.0.0 is excluded at live/a/main.tf:3");
    outcome.stderr_has("the constraint is built from parts");
    assert_eq!(lab.read(FILES[0]), built);
}

/// A disk on which one file cannot be replaced.
struct Unwritable(&'static str);

impl Changes for Unwritable {
    fn replace_held(&self, held: &Exclusive, file: Replacement<'_>) -> io::Result<Replaced> {
        if file.path.ends_with(self.0) {
            return Err(io::Error::from_raw_os_error(NO_SPACE));
        }
        RealDisk.replace_held(held, file)
    }
}

#[test]
fn a_fault_in_the_middle_of_the_write_leaves_every_file_as_it_was() {
    let lab = two_roots();
    let before = texts(&lab);
    // In the order of their paths, so that up to four other files are written before each.
    for unwritable in FILES {
        let disk = Changed(Unwritable(unwritable));
        let args = words("update x@2.3.1 -r --edit ./live --fs-mirror mirror --flavor terraform");
        let outcome = lab.run_on(&disk, &args).exits(2);
        outcome.stderr_has("nothing was written: ");
        outcome.stderr_has("cannot be replaced");
        assert_eq!(texts(&lab), before, "{unwritable} is full");
    }
}

const COMMENT: &str = "# ~> 5.31 is what the first release wanted";

/// Two hundred roots of a registry's providers: in forms that exclude the version, that allow it, and that do not
/// require the provider; and modules that some of them share.
fn two_hundred_roots() -> (Registry, Lab) {
    let registry = Registry::start();
    for version in ["5.31.0", "5.90.0", "6.2.0", "6.9.0"] {
        registry.add_zip(
            "hashicorp/aws",
            version,
            "linux_amd64",
            &zip_of(&[("terraform-provider-aws", version)]),
        );
    }
    for version in ["3.1.0", "3.2.0"] {
        registry.add_zip(
            "hashicorp/null",
            version,
            "linux_amd64",
            &zip_of(&[("terraform-provider-null", version)]),
        );
    }
    let mut lab = Lab::new();
    point_at(&mut lab, &registry);
    lab.write(".git/HEAD", "");
    for team in 0..5 {
        lab.write(
            &format!("modules/{team}/main.tf"),
            format!("terraform {{\n  required_providers {{\n    aws = {{ version = \"{}\" }}\n  }}\n}}\n", ["~> 5.31", ">= 5, < 6", ">= 5.0", "5.31.0", "~> 5.0"][team]),
        );
    }
    for number in 0..200 {
        let dir = format!("live/{number:03}");
        let aws = match number % 5 {
            0 => "aws    = { source = \"hashicorp/aws\", version = \"~> 5.31\" }",
            1 => "aws    = { source = \"hashicorp/aws\",   version =   \">= 5.31, < 6\" }",
            2 => "aws    = { source = \"hashicorp/aws\", version = \">= 5.0\" }",
            3 => "aws    = \"= 5.31.0\"",
            _ => "",
        };
        let end = if number % 2 == 0 { "\n" } else { "\r\n" };
        let module = match number % 4 {
            0 => format!(
                "module \"team\" {{\n  source = \"../../modules/{}\"\n}}\n",
                number / 4 % 5
            ),
            _ => String::new(),
        };
        let text = format!(
            "{COMMENT}\nterraform {{\n  backend \"local\" {{}}\n  required_providers {{\n    {aws}\n    null   = {{ source = \"hashicorp/null\", version = \"~> 3.1\" }}\n  }}\n}}\n{module}"
        );
        lab.write(&format!("{dir}/main.tf"), text.replace('\n', end));
        let entry = |name: &str, version: &str, constraints: &str| {
            format!(
                "\nprovider \"registry.terraform.io/hashicorp/{name}\" {{\n  version     = \"{version}\"\n  constraints = \"{constraints}\"\n}}\n"
            )
        };
        lab.write(&format!("{dir}/{LOCK}"), entry("null", "3.1.0", "~> 3.1"));
    }
    (registry, lab)
}

#[test]
fn two_hundred_roots_change_what_must_change_and_nothing_else() {
    let (_registry, lab) = two_hundred_roots();
    let files = || {
        let mut files = BTreeMap::new();
        for number in 0..200 {
            for name in ["main.tf", LOCK] {
                let path = format!("live/{number:03}/{name}");
                files.insert(path.clone(), lab.read(&path));
            }
        }
        for team in 0..5 {
            let path = format!("modules/{team}/main.tf");
            files.insert(path.clone(), lab.read(&path));
        }
        files
    };
    let run = |args: &str| {
        lab.run(&words(&format!(
            "{args} --flavor terraform@1.11 --platform linux_amd64"
        )))
    };
    run("lock -r live").exits(0);
    let before = files();
    let outcome = run("update hashicorp/aws@6.2.0 -r --edit ./live").exits(0);
    let lines = outcome.stdout.lines().count() + outcome.stderr.lines().count();
    assert!(
        lines <= 60,
        "{lines} lines: {}{}",
        outcome.stdout,
        outcome.stderr
    );
    let forms = [
        ("\"~> 5.31\"", "\"~> 6.2\""),
        ("\"~> 5.0\"", "\"~> 6.0\""),
        ("\">= 5.31, < 6\"", "\">= 6.2, < 7\""),
        ("\">= 5, < 6\"", "\">= 6.2, < 7\""),
        ("\"= 5.31.0\"", "\"= 6.2.0\""),
        ("\"5.31.0\"", "\"6.2.0\""),
    ];
    let after = files();
    for (path, old) in &before {
        let new = &after[path];
        if path.ends_with(".tf") {
            let wanted = forms
                .iter()
                .fold(old.clone(), |text, (from, to)| text.replace(from, to));
            assert_eq!(*new, wanted, "{path}");
            continue;
        }
        // A root without the provider keeps its bytes, and in the others the entry of the other provider.
        let null = |text: &str| text[text.find("hashicorp/null").expect("an entry")..].to_owned();
        assert_eq!(null(new), null(old), "{path}");
        if old.contains("hashicorp/aws") {
            assert!(new.contains("version     = \"6.2.0\""), "{path}: {new}");
        } else {
            assert_eq!(new, old, "{path}");
        }
    }
    run("lock -r --check live").exits(0);
    let again = run("update hashicorp/aws@6.2.0 -r --edit ./live").exits(0);
    again.stdout_lacks("→");
    assert_eq!(files(), after);
}

/// A root whose only call is of a module that is not visible, with a lock file of its conditions.
fn with_unseen(recorded: &str) -> Lab {
    let lab = Lab::new();
    lab.write(".git/HEAD", "")
        .write("main.tf", "terraform {\n  required_providers {\n    x = { source = \"example.com/t/x\", version = \"~> 1.0\" }\n  }\n}\nmodule \"far\" {\n  source = \"git::https://git.example.com/far.git\"\n}\n")
        .write(LOCK, format!("provider \"example.com/t/x\" {{\n  version     = \"1.4.0\"\n  constraints = \"{recorded}\"\n}}\n"));
    for version in ["1.4.0", "1.9.0", "2.3.1"] {
        let package = format!("example.com/t/x/{version}/linux_amd64");
        lab.unpacked("mirror", &package, &package);
    }
    lab
}

#[test]
fn recorded_conditions_of_what_was_edited_do_not_hold_it_back() {
    let lab = with_unseen(">= 1.0.0, ~> 1.0");
    edit(&lab, "update", &["--edit", "--modules", "installed"]).exits(0);
    assert!(lab.read("main.tf").contains("\"~> 2.0\""));
    // What no visible module states may be that of the other one, and stays.
    assert!(
        lab.read(LOCK)
            .contains("constraints = \">= 1.0.0, ~> 2.0\""),
        "{}",
        lab.read(LOCK)
    );
}

#[test]
fn recorded_conditions_of_unseen_modules_are_named() {
    let lab = with_unseen("~> 1.0, < 2.0.0");
    let outcome = edit(&lab, "update", &["--edit", "--modules", "installed"]).exits(0);
    outcome.stderr_has("t/x 2.3.1 is excluded by \"< 2.0.0\" of the lock file, which no visible module states; `--modules fetch` shows whether a module that is not visible does");
    assert!(lab.read(LOCK).contains("\"1.9.0\""));
    let before = (lab.read("main.tf"), lab.read(LOCK));
    let outcome = edit(
        &lab,
        "update",
        &["x@2.3.1", "--edit", "--modules", "installed"],
    )
    .exits(2);
    outcome.stderr_has("the lock file records \"< 2.0.0\", which no visible module states: it counts because modules cannot be seen: module.far");
    outcome.stderr_has("add `--modules fetch`");
    assert_eq!((lab.read("main.tf"), lab.read(LOCK)), before);
}

#[test]
fn a_generated_file_is_refused_with_its_place() {
    let lab = with_unseen("~> 1.0");
    let required = lab.read("main.tf");
    let required = &required[..required.find("module").expect("a call")];
    lab.write("main.tf", "").write(
        "terragrunt.hcl",
        format!("generate \"v\" {{\n  path = \"v.tf\"\n  if_exists = \"overwrite\"\n  contents = <<EOT\n{required}EOT\n}}\n"),
    );
    let said = "v.tf (generated) is not a file of this repository, and is not edited";
    let outcome = edit(&lab, "update", &["x@2.3.1", "--edit"]).exits(2);
    outcome.stderr_has("t/x 2.3.1 is excluded at v.tf (generated):4");
    outcome.stderr_has(said);
    let moved = edit(&lab, "replace", &["example.com/t/x", "example.com/t/y"]).exits(2);
    moved.stderr_has("example.com/t/x stays at v.tf (generated):4");
    moved.stderr_has(said);
}
