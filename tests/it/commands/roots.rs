//! Several roots, and roots that are looked for.

use super::*;

const BACKEND: &str = "terraform {\n  backend \"local\" {}\n}\n";

/// A repository with two roots by their backend, a module of one of them, and a directory that is
/// neither; only the module requires a provider.
fn repository() -> Lab {
    let lab = simple();
    std::fs::remove_file(lab.path("main.tf")).unwrap();
    let module = "module \"m\" {\n  source = \"../../modules/m\"\n}\n";
    lab.write("live/a/main.tf", format!("{BACKEND}{module}"));
    lab.write("live/b/main.tf", format!("{BACKEND}{ONE_PROVIDER}"));
    lab.write("modules/m/main.tf", format!("{BACKEND}{ONE_PROVIDER}"));
    lab.write("tried/main.tf", ONE_PROVIDER);
    lab.write(".lockctl.hcl", "platforms = [\"linux_amd64\"]\n");
    lab
}

/// Lists the roots with how they came out.
fn statuses(outcome: &Outcome) -> Vec<String> {
    let document = outcome.json();
    let roots = document["roots"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    roots
        .map(|root| format!("{} {}", text(&root["path"]), text(&root["status"])))
        .collect()
}

fn is_locked(lab: &Lab, dir: &str) -> bool {
    lab.path(dir).join(LOCK).exists()
}

#[test]
fn all_roots_below_are_locked_and_nothing_else() {
    let lab = repository();
    lock(&lab, &["-r"]).exits(0).stdout_eq(str![[r#"
PROVIDER         VERSION  CONSTRAINTS  STATE     PLATFORMS   HASHES        ROOTS  WHERE
example.com/t/x  1.1.0    ~> 1.0       selected  1 platform  1 hash added  2      live/a, live/b
2 hashes added: 2 computed and not covered by a signature
all 2 roots: created lock file
2 roots: 2 clean; 1 directory with configuration is not locked (-v names it)

"#]]);
    assert!(!is_locked(&lab, "modules/m") && !is_locked(&lab, "tried"));
    lock(&lab, &["-r", "--check"]).exits(0);
    let verbose = lab.run(&["verify", "-rv"]).exits(0);
    verbose.stderr_has("note: not locked: tried\n");
}

/// With commas, the constraints of several roots would read as those of each.
#[test]
fn constraints_of_roots_are_apart() {
    let lab = repository();
    let other = ONE_PROVIDER.replace("~> 1.0", "~> 1.1");
    lab.write("live/b/main.tf", format!("{BACKEND}{other}"));
    lock(&lab, &["-r"])
        .exits(0)
        .stdout_has("  ~> 1.0; ~> 1.1  ");
    lab.run(&["show", "-r"])
        .exits(0)
        .stdout_has("  ~> 1.0; ~> 1.1  ");
}

#[test]
fn verify_tells_about_each_root_and_sums_up() {
    let lab = repository();
    assert_exit(&lock(&lab, &["live/a"]), 0);
    lab.run(&["verify", "--recursive"]).exits(1).stdout_eq(str![[r#"
error[lock-missing]: There is no live/b/.terraform.lock.hcl
 --> live/b/main.tf:8:17
  |
8 |       version = "~> 1.0"
  |                 ^^^^^^^^ example.com/t/x is required here
  |
  = help: run `lockctl lock live/b` to create it

2 roots: 1 clean, 1 with findings (1 error); 1 directory with configuration is not locked (-v names it); complete by count: 1

"#]]);
    let outcome = lab.run(&["verify", "-r", "--format", "json"]).exits(1);
    assert_eq!(statuses(&outcome), ["live/a clean", "live/b findings"]);
    let document = outcome.json();
    assert_eq!(document["not_locked"], serde_json::json!(["tried"]));
    assert_eq!(document["summary"]["not_locked"], 1);
    assert_eq!(document["summary"]["roots"], 2);
}

#[test]
fn a_broken_root_stops_no_other() {
    let lab = repository();
    lab.write(
        "live/aa/main.tf",
        "terraform {\n  backend \"local\" {}\n  required_providers {\n",
    );
    lab.write("live/ab/main.tf", BACKEND)
        .write(&format!("live/ab/{LOCK}"), "provider {}\n");
    let outcome = lock(&lab, &["-r", "--format", "json"]).exits(2);
    let wanted = ["live/a clean", "live/ab failed", "live/b clean"];
    let statuses = statuses(&outcome);
    assert_eq!(
        statuses
            .iter()
            .filter(|one| wanted.contains(&&***one))
            .count(),
        3,
        "{statuses:?}"
    );
    assert!(is_locked(&lab, "live/a") && is_locked(&lab, "live/b"));
    let people = lab.run(&["verify", "-r"]);
    // A broken lock file is a finding of `verify`; broken configuration keeps it from its job.
    people.stdout_has(" --> live/ab/.terraform.lock.hcl:1:1\n");
    people.stdout_has("complete by count: 2\n");
}

#[test]
fn typed_roots_keep_their_order_and_count_once() {
    let lab = repository();
    let typed = words("live/b live/a ./live/b/ live/a/../a live/b/.terraform.lock.hcl");
    let outcome = lock(&lab, &[&typed[..], &["--format", "json"]].concat()).exits(0);
    assert_eq!(statuses(&outcome), ["live/b clean", "live/a clean"]);
    assert_eq!(outcome.json()["summary"].get("not_locked"), None);
    let outcome = lab.run(&["verify", "live/b", "nowhere", "live/a"]).exits(2);
    outcome.stderr_eq(str![[r#"
error: nowhere: nowhere cannot be read
  cause: [..] (os error 2)
  help: name the directory of a root module

"#]]);
    assert!(
        outcome
            .stdout
            .ends_with("3 roots: 2 clean, 1 failed; complete by count: 2\n"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn a_search_without_a_root_says_so() {
    let lab = Lab::new();
    lab.run(&["verify", "-r"]).exits(2).stderr_eq(str![[r#"
error: no root in . or below
  cause: no directory there holds configuration
  help: name the roots, or state `roots = […]` in .lockctl.hcl

"#]]);
    lab.write("a/main.tf", ONE_PROVIDER)
        .write("b/main.tf", ONE_PROVIDER);
    let outcome = lock(&lab, &["-r"]).exits(2);
    assert!(outcome.stdout.is_empty(), "{}", outcome.stdout);
    let wanted =
        "cause: 2 directories hold configuration, but neither a lock file nor a backend: a, b";
    outcome.stderr_has(wanted);
    assert!(!is_locked(&lab, "a"));
}

#[test]
fn every_command_on_roots_takes_several() {
    let lab = repository();
    assert_exit(&lock(&lab, &["-r"]), 0);
    for (line, part) in [
        (&["show", "-r"][..], "live/a, live/b\n"),
        (&["why", "x", "-r"], "is required in 2 of 2 roots"),
        (&["fmt", "-r", "--check"], ""),
    ] {
        let outcome = lab.run(line).exits(0);
        assert!(
            outcome.stdout.contains(part),
            "{line:?}: {}",
            outcome.stdout
        );
        let sum = "note: 2 roots; 1 directory with configuration is not locked";
        assert!(outcome.stderr.contains(sum), "{line:?}: {}", outcome.stderr);
    }
}

#[test]
fn why_passes_over_roots_that_do_not_require_the_provider() {
    let lab = repository();
    lab.write("live/c/main.tf", BACKEND);
    lab.run(&["why", "x", "-r"]).exits(0).stdout_lacks("live/c");
    // Where nobody does, each root says so.
    let outcome = lab.run(&["why", "y", "-r", "--format", "json"]).exits(1);
    let wanted = ["live/a findings", "live/b findings", "live/c findings"];
    assert_eq!(statuses(&outcome), wanted);
}

#[test]
fn a_lock_file_without_configuration_stops_no_question_about_all_roots() {
    let lab = repository();
    lab.write(&format!("stray/{LOCK}"), "");
    let note = "note: stray/.terraform.lock.hcl was not compared with any configuration: there is none \
                beside it\n";
    for command in [&["tree", "-r"][..], &["why", "x", "-r"], &["verify", "-r"]] {
        let outcome = lab.run(command);
        assert_ne!(outcome.code, 2, "{command:?}: {outcome:#?}");
        assert_eq!(
            outcome.stderr.matches(note).count(),
            1,
            "{command:?}: {outcome:#?}"
        );
    }
    let outcome = lab.run(&["tree", "-r", "--format", "json"]).exits(0);
    let document = outcome.json();
    let rule = &document["roots"][2]["findings"][0]["rule"];
    assert_eq!(rule, "module-not-visible", "{document}");
    // Whoever names the directory asks about nothing else.
    assert_exit(&lab.run(&["tree", "stray"]), 2);
}

#[cfg(unix)]
#[test]
fn links_to_directories_are_not_followed() {
    let lab = repository();
    std::os::unix::fs::symlink(lab.path("live"), lab.path("live/a/loop")).unwrap();
    std::os::unix::fs::symlink(lab.path("live"), lab.path("again")).unwrap();
    let outcome = lab.run(&["verify", "-r", "--format", "json"]);
    assert_eq!(statuses(&outcome), ["live/a findings", "live/b findings"]);
    // A link that was named is.
    let outcome = lab.run(&["verify", "-r", "again", "--format", "json"]);
    assert_eq!(statuses(&outcome), ["again/a findings", "again/b findings"]);
}

#[cfg(unix)]
#[test]
fn what_cannot_be_looked_at_is_a_failure_and_the_rest_goes_on() {
    use std::os::unix::fs::PermissionsExt as _;
    let lab = repository();
    let shut = lab.path("live/shut");
    std::fs::create_dir(&shut).unwrap();
    let set = |mode| std::fs::set_permissions(&shut, std::fs::Permissions::from_mode(mode));
    set(0o000).unwrap();
    // Nothing is shut to an administrator.
    if std::fs::read_dir(&shut).is_ok() {
        println!("skipped: everything can be read here");
        return;
    }
    let outcome = lock(&lab, &["-r"]);
    set(0o755).unwrap();
    assert_exit(&outcome, 2);
    outcome.stderr_has("live/shut cannot be read");
    assert!(is_locked(&lab, "live/a") && is_locked(&lab, "live/b"));
}

/// `roots` alone makes a root, also where another root calls the directory as a module.
#[test]
fn a_module_that_roots_names_is_a_root() {
    for roots in [
        "roots = [\"modules/m\"]",
        "roots = [\"live/a\", \"modules/*\"]",
        "roots {\n  from = \"atlantis.yaml\"\n}",
    ] {
        let lab = repository();
        lab.write("atlantis.yaml", "projects:\n- dir: modules/m\n");
        lab.write(
            ".lockctl.hcl",
            format!("platforms = [\"linux_amd64\"]\n{roots}\n"),
        );
        lock(&lab, &["-r"]).exits(0);
        assert!(is_locked(&lab, "modules/m"), "{roots}");
        let outcome = lab.run(&["verify", "-r", "--format", "json"]).exits(0);
        let wanted = ["live/a clean", "live/b clean", "modules/m clean"];
        assert_eq!(statuses(&outcome), wanted, "{roots}");
    }
}

#[test]
fn atlantis_names_more_roots() {
    let lab = repository();
    lab.write(
        ".lockctl.hcl",
        "roots {\n  from = \"ci/atlantis.yaml\"\n}\n",
    );
    let outcome = lock(&lab, &["-r", "--platform", "linux_amd64"]).exits(2);
    outcome.stderr_has("Roots of another tool not read");
    let projects =
        "projects:\n- &p\n  dir: tried\n  workspace: a\n- <<: *p\n  workspace: b\n- dir: gone\n";
    lab.write("ci/atlantis.yaml", projects);
    lock(&lab, &["-r", "--platform", "linux_amd64"]).exits(0);
    assert!(is_locked(&lab, "tried") && !is_locked(&lab, "modules/m"));
}

/// Above all roots every command names the same first step, and none sends the user to another command.
#[test]
fn above_all_roots_every_command_counts_them() {
    let lab = repository();
    for command in [
        &["verify"][..],
        &["lock"],
        &["update"],
        &["convert", "--to", "opentofu"],
        &["outdated"],
        &["show"],
        &["tree"],
        &["why", "example.com/t/x"],
        &["fmt"],
        &["resolve"],
        &["lock", "--check"],
    ] {
        let outcome = lab.run(command).exits(2);
        assert!(
            outcome.stderr.ends_with("  help: 2 roots below: add -r\n"),
            "{command:?}: {}",
            outcome.stderr
        );
        assert!(
            lab.run(&[command, &["live"]].concat())
                .stderr
                .contains("2 roots below")
        );
    }
    // Its -r means the modules that are called.
    let config = lab.run(&["config", "-r"]).exits(2);
    config.stderr_has("help: 2 roots below: name one, such as live/");
    // Nothing is below, and `lock` would not help.
    let show = lab.run(&["show", "mirror"]).exits(2);
    show.stderr_eq(str![[r#"
error: there is no mirror/.terraform.lock.hcl
  help: name the directory of a root module

"#]]);
    // Configuration is there, so what is missing is the lock file.
    let show = lab.run(&["show", "tried"]);
    show.stderr_has("run `lockctl lock tried");
}

#[test]
fn what_git_ignores_is_no_root() {
    let lab = repository();
    lab.write(".gitignore", "/live/b\n*.bak/\n");
    lab.write("live/a.bak/main.tf", BACKEND);
    let outcome = lab.run(&["verify", "-r", "--format", "json"]);
    assert_eq!(statuses(&outcome), ["live/a findings"]);
    // What is named is wanted.
    let outcome = lab.run(&["verify", "-r", "live/b", "--format", "json"]);
    assert_eq!(statuses(&outcome), ["live/b findings"]);
}
