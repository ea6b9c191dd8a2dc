//! What programs are told.

use super::diff::text;
use super::merge::file;
use super::*;
use crate::schema;

/// Runs a command and returns the object that it prints.
fn told(lab: &Lab, args: &[&str]) -> Value {
    let outcome = lab.run(&[args, &["--format", "json"]].concat());
    serde_json::from_str(&outcome.stdout).expect("one object")
}

/// A lock of `x`, with an é before the second block, for columns are characters.
const TWICE: &str = "\
provider \"example.com/t/x\" {
  version = \"1.0.0\"
}

/* é */ provider \"example.com/t/x\" {
  version = \"1.1.0\"
}
";

#[test]
fn a_finding_has_the_range_that_it_is_about_and_the_places_that_explain_it() {
    let lab = Lab::new();
    lab.write("main.tf", ONE_PROVIDER).write(LOCK, TWICE);
    let findings = &told(&lab, &["verify", "--only", "file"])["roots"][0]["findings"];
    let is_twice = |finding: &&Value| finding["rule"] == "duplicate-provider";
    let twice = findings.as_array().unwrap().iter().find(is_twice).unwrap();
    let range = ["line", "column", "end_line", "end_column"].map(|name| &twice[name]);
    assert_eq!(json!(range), json!([5, 9, 5, 35]));
    assert_eq!(
        twice["related"],
        json!([{
            "file": LOCK, "line": 1, "column": 1, "end_line": 1, "end_column": 27,
            "text": "first locked here",
        }])
    );
}

/// Runs a command and holds exit code, name and figures against the object.
#[track_caller]
fn check(lab: &Lab, args: &[&str], exit: u8, figures: Value) -> Value {
    let outcome = lab.run(&[args, &["--format", "json"]].concat()).exits(exit);
    let said = outcome.json();
    assert_eq!(said["format_version"], "1.0");
    assert_eq!(said["command"], args[0]);
    assert_eq!(said["exit"], exit);
    let summary = said["summary"].as_object().expect("figures");
    let seen = summary.iter().filter(|(_, figure)| *figure != &json!(0));
    let seen: serde_json::Map<String, Value> = seen
        .map(|(name, figure)| (name.clone(), figure.clone()))
        .collect();
    assert_eq!(Value::Object(seen), figures, "{args:?}: {said:#}");
    said
}

const CONFLICT: &str = "\
<<<<<<< ours
provider \"example.com/t/x\" {
  version = \"1.0.0\"
}
=======
provider \"example.com/t/x\" {
  version = \"1.1.0\"
}
>>>>>>> theirs
";

#[test]
fn commands_about_roots_say_whether_they_changed_something() {
    let lab = simple();
    let mirror = ["lock", "--fs-mirror", "mirror", "--platform", "linux_amd64"];
    let root = json!({"roots": 1});
    assert_eq!(
        check(&lab, &mirror, 0, root.clone())["roots"][0]["changed"],
        true
    );
    assert_eq!(
        check(&lab, &mirror, 0, root.clone())["roots"][0]["changed"],
        false
    );
    assert_eq!(
        check(&lab, &["show"], 0, root.clone())["roots"][0].get("changed"),
        None
    );
    lab.write(LOCK, format!("# mine\n{}", lab.read(LOCK)));
    let said = check(&lab, &["fmt", "--check"], 1, root.clone());
    assert_eq!(said["roots"][0]["status"], "findings");
    assert_eq!(
        check(&lab, &["fmt"], 0, root.clone())["roots"][0]["changed"],
        true
    );
    assert_eq!(check(&lab, &["fmt"], 0, root)["roots"][0]["changed"], false);
    lab.write("main.tf", "");
    let said = check(&lab, &mirror, 0, json!({"roots": 1}));
    let gone = json!([{"provider": "example.com/t/x", "removed": true}]);
    assert_eq!(said["roots"][0]["providers"], gone);
}

#[test]
fn conflicts_are_findings_of_a_provider() {
    let lab = Lab::new();
    lab.write(LOCK, CONFLICT);
    let figures = json!({"roots": 1, "errors": 1});
    let said = check(&lab, &["resolve", "--prefer", "fail"], 1, figures.clone());
    let finding = &said["roots"][0]["findings"][0];
    assert_eq!(finding["rule"], "conflict-markers");
    assert_eq!(finding["provider"], "example.com/t/x");
    let said = check(&lab, &["resolve"], 0, json!({"roots": 1, "warnings": 1}));
    assert_eq!(said["roots"][0]["changed"], true);

    lab.write("base", file(&["a 1.0.0 a"]))
        .write("ours", file(&["a 1.1.0 b"]))
        .write("theirs", file(&["a 1.2.0 c"]));
    let merge = ["merge", "base", "ours", "theirs"];
    let said = check(
        &lab,
        &[&merge[..], &["--prefer", "fail"]].concat(),
        1,
        figures,
    );
    let finding = &said["roots"][0]["findings"][0];
    assert_eq!(finding["provider"], "example.com/t/a");
}

#[test]
fn what_cannot_be_done_is_told_to_programs() {
    let lab = Lab::new();
    let root = json!({"roots": 1, "failed": 1});
    for args in [
        &["lock"] as &[&str],
        &["show"],
        &["why", "x"],
        &["tree"],
        &["fmt"],
        &["resolve"],
    ] {
        check(&lab, args, 2, root.clone());
    }
    check(&lab, &["diff", "nowhere"], 2, root.clone());
    check(&lab, &["log"], 2, root.clone());
    check(&lab, &["git", "status"], 2, root.clone());
    check(&lab, &["git-textconv", "nowhere"], 2, root.clone());
    check(
        &lab,
        &["merge", "base", "ours", "theirs"],
        129,
        root.clone(),
    );
    lab.write(LOCK, "provider {\n")
        .write("main.tf", ONE_PROVIDER);
    check(
        &lab,
        &["show"],
        2,
        json!({"roots": 1, "errors": 1, "failed": 1}),
    );
}

#[test]
fn packages_are_counted() {
    let lab = Lab::new();
    lab.write("a.zip", zip_of(&[("terraform-provider-x", "y")]));
    lab.write("dir/terraform-provider-x", "y")
        .write("not.zip", "");
    let args = ["hash", "--files", "a.zip", "dir", "not.zip", "nowhere"];
    let said = check(&lab, &args, 2, json!({"packages": 4, "failed": 2}));
    let packages = said["packages"].as_array().unwrap();
    let has = |name: &str| -> Vec<bool> {
        let named = packages.iter().map(|package| package.get(name).is_some());
        named.collect()
    };
    assert_eq!(has("h1"), [true, true, false, false]);
    assert_eq!(has("zh"), [true, false, false, false]);
    assert_eq!(has("files"), [true, true, false, false]);
    assert_eq!(has("failures"), [false, false, true, true]);
    assert_eq!(packages[0]["h1"], packages[1]["h1"]);
    assert_eq!(packages[0]["h1"].as_array().map(Vec::len), Some(1));
    assert_eq!(packages[0]["zh"].as_array().map(Vec::len), Some(1));
    assert_eq!(packages[3]["failure"], packages[3]["failures"][0]);
}

/// What `--fail-on` and broken files come to is told of each file, and counted.
#[test]
fn files_that_differ_are_judged_and_counted() {
    let lab = Lab::new();
    let at = |version: &str| {
        text(&[&format!(
            "example.com/t/x {version} | h1:{}",
            &version[2..3]
        )])
    };
    lab.write("old", at("1.1.0")).write("new", at("1.0.0"));
    lab.write("same", at("1.1.0"))
        .write("broken", "provider {\n");
    let status = |args: &[&str], exit, figures| {
        let said = check(&lab, &[&["diff"], args].concat(), exit, figures);
        let files = said["files"].as_array().unwrap().iter();
        let all: Vec<Value> = files.map(|file| file["status"].clone()).collect();
        json!(all)
    };
    let one = json!({"files": 1});
    assert_eq!(status(&["old", "new"], 0, one.clone()), json!(["clean"]));
    let strict = ["old", "new", "--fail-on", "warning"];
    assert_eq!(status(&strict, 1, one), json!(["findings"]));
    assert_eq!(status(&["old", "same"], 0, json!({})), json!([]));
    let broken = |errors| json!({"files": 1, "errors": errors, "failed": 1});
    assert_eq!(status(&["old", "broken"], 2, broken(1)), json!(["failed"]));
    // Nothing differs, and nothing can be said about it either.
    assert_eq!(
        status(&["broken", "broken"], 2, broken(2)),
        json!(["failed"])
    );
}

#[test]
fn what_makes_git_call_lockctl_is_listed() {
    let Some(repo) = Repo::new() else { return };
    let root = json!({"roots": 1});
    let in_force = |exit| {
        let said = check(&repo.lab, &["git", "status"], exit, root.clone());
        let settings = said["roots"][0]["git_settings"].as_array().unwrap().clone();
        let names = settings.iter().map(|one| (&one["kind"], &one["name"]));
        let names: Vec<_> = names.map(|(kind, name)| json!([kind, name])).collect();
        assert_eq!(names[1], json!(["config", "merge.lockctl.driver"]));
        assert_eq!(
            names[3..],
            [json!(["attribute", "merge"]), json!(["attribute", "diff"])]
        );
        settings
            .iter()
            .filter(|one| one["in_force"] == true)
            .count()
    };
    assert_eq!(in_force(1), 0);
    let dry = ["git", "install", "--dry-run"];
    for (args, changed) in [(&dry[..], true), (&dry[..2], true), (&dry[..2], false)] {
        let said = check(&repo.lab, args, 0, root.clone());
        assert_eq!(said["roots"][0]["changed"], changed, "{args:?}");
    }
    assert_eq!(in_force(0), 5);
}

#[test]
fn a_step_of_the_past_says_how_far_it_goes() {
    let Some(repo) = Repo::new() else { return };
    for version in ["1.0.0", "1.0.1", "2.0.0", "1.9.0"] {
        repo.write(LOCK, text(&[&format!("example.com/t/x {version} | h1:a")]));
        repo.write("main.tf", "").commit(version);
    }
    let said = check(&repo.lab, &["log"], 0, json!({"roots": 1}));
    let steps = said["roots"][0]["providers"].as_array().unwrap().iter();
    let steps: Vec<Option<&str>> = steps.map(|one| one.get("step")?.as_str()).collect();
    assert_eq!(steps, [None, Some("major"), Some("patch"), None]);
}

/// What is not known is null, which does not mean that there is nothing.
/// [`Lab::run`] holds every output against the schema; here are all commands that have one.
#[test]
fn every_command_prints_what_the_schema_describes() {
    let Some(repo) = Repo::new() else { return };
    repo.write("main.tf", ONE_PROVIDER);
    for version in ["1.0.0", "1.1.0"] {
        let package = format!("example.com/t/x/{version}/linux_amd64");
        repo.lab.unpacked("mirror", &package, version);
    }
    let from_mirror = ["--fs-mirror", "mirror", "--platform", "linux_amd64"];
    let lock = [&["lock"], &from_mirror[..]].concat();
    assert_exit(&repo.run(&lock), 0);
    repo.commit("one");
    repo.write("old.hcl", repo.lab.read(LOCK).replace("1.1.0", "1.0.0"));
    let with_mirror = |command: &[&'static str]| [command, &from_mirror].concat();
    for (args, exit) in [
        (with_mirror(&["lock"]), 0),
        (with_mirror(&["lock", "--check"]), 0),
        (with_mirror(&["update", "--dry-run"]), 0),
        (
            with_mirror(&["convert", "--to", "opentofu", "--dry-run"]),
            0,
        ),
        (vec!["outdated", "--fs-mirror", "mirror"], 0),
        (vec!["mirror", "packages", "--check"], 1),
        (vec!["verify", "--platform", "linux_amd64"], 0),
        (vec!["verify", "--matrix", "--platform", "linux_amd64"], 0),
        (vec!["diff", "old.hcl", LOCK], 0),
        (vec!["diff"], 0),
        (vec!["show"], 0),
        (vec!["why", "t/x"], 1),
        (vec!["why", "example.com/t/x"], 0),
        (vec!["tree"], 0),
        (vec!["log"], 0),
        (vec!["fmt", "--check"], 0),
        (vec!["explain", "ci"], 0),
        (vec!["hash", "mirror/example.com/t/x/1.1.0/linux_amd64"], 0),
        (vec!["resolve"], 0),
        (vec!["git", "status"], 1),
        (vec!["cache", "stats"], 2),
        (vec!["lock", "no/such"], 2),
    ] {
        let outcome = repo.run(&[&args[..], &["--format", "json"]].concat());
        assert_exit(&outcome, exit);
        let document: Value = serde_json::from_str(&outcome.stdout).expect("one object");
        assert_eq!(document["command"], args[0]);
        assert_eq!(schema::faults(&document), [""; 0], "{args:?}");
    }
}

#[test]
fn platforms_that_nothing_shows_are_null() {
    let lab = super::simple();
    lab.write(
        super::LOCK,
        "provider \"example.com/t/x\" {\n  version = \"1.1.0\"\n  hashes = [\n    \
         \"h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\",\n  ]\n}\n",
    );
    let platforms = || {
        let outcome = lab.run(&["show", "--format", "json"]);
        let said = outcome.json();
        said["roots"][0]["providers"][0]["platforms"].clone()
    };
    assert_eq!(platforms(), Value::Null);
    std::fs::remove_file(lab.path(super::LOCK)).unwrap();
    assert_exit(&super::lock(&lab, &["--platform", "linux_amd64"]), 0);
    lab.unpacked(
        ".terraform/providers",
        "example.com/t/x/1.1.0/linux_amd64",
        "1.1.0 linux_amd64",
    );
    assert_eq!(platforms(), json!(["linux_amd64"]));
}
