//! `update --edit`: constraints in configuration, and the lock files that follow them.

use super::*;

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
    outcome.stderr_has("a version of that module is needed whose constraint allows 2.0.0");
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
