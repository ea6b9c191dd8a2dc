//! The project file, and what commands make of it.

use std::process::Command;

use super::*;
use lockctl::package::calendar;
use lockctl::world::mem::MemClock;

const FILE: &str = ".lockctl.hcl";

/// A simple root with a project file.
fn with(text: &str) -> Lab {
    let lab = simple();
    lab.write(FILE, text);
    lab
}

fn hashes(lab: &Lab) -> usize {
    lab.read(LOCK).matches("\"h1:").count()
}

#[test]
fn platforms_of_the_file_are_wanted_unless_others_are_typed() {
    let lab = with("platforms = [\"linux_amd64\", \"darwin_arm64\"]\n");
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    assert_eq!(hashes(&lab), 1);
    let verify = lab.run(&["verify"]).exits(1);
    // What is missing can be added without naming platforms.
    verify.stdout_has("run `lockctl lock .` to add");
    assert_exit(&lab.run(&["verify", "--platform", "linux_amd64"]), 0);
    assert_exit(&lock(&lab, &[]), 0);
    assert_eq!(hashes(&lab), 2);
    assert_exit(&lab.run(&["verify"]), 0);
}

#[test]
fn a_provider_may_have_platforms_of_its_own() {
    let lab = with(
        "platforms = [\"linux_amd64\", \"darwin_arm64\"]\nprovider \"example.com/t/x\" {\n  \
         platforms = [\"linux_amd64\"]\n}\n",
    );
    assert_exit(&lock(&lab, &[]), 0);
    assert_eq!(hashes(&lab), 1);
    let verify = lab.run(&["verify"]).exits(0);
    verify.stdout_has("h1: hashes for 1 platform");
}

#[test]
fn lock_says_what_to_write_where_a_mirror_lacks_a_platform() {
    let lab = simple();
    let outcome = lock(&lab, &[]).exits(0);
    let line = "platforms = [\"darwin_arm64\", \"linux_amd64\"]";
    outcome.stderr_has(line);
    // The release may have what the mirror lacks.
    outcome.stderr_lacks("provider \"");
    assert_exit(&lab.run(&["verify"]), 1);
    lab.write(FILE, format!("{line}\n"));
    assert_exit(&lab.run(&["verify"]), 0);
    assert_exit(&lock(&lab, &["--check"]), 0);
}

#[test]
fn levels_change_what_is_told_and_the_exit_code() {
    let rule = |level: &str, more: &str| {
        format!("rule \"platforms-incomplete\" {{\n  level = {level:?}\n  {more}\n}}\n")
    };
    let reason = "reason = \"linux only\"";
    let other = "provider = \"example.com/t/y\"";
    let own = "provider = \"example.com/t/x\"";
    for (text, code, severity) in [
        (String::new(), 1, Some("warning")),
        (rule("error", ""), 1, Some("error")),
        (rule("note", ""), 0, Some("note")),
        (rule("note", other), 1, Some("warning")),
        (rule("note", own), 0, Some("note")),
        (rule("off", reason), 0, None),
    ] {
        let lab = with(&text);
        assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
        let outcome = lab.run(&["verify", "--format", "json"]).exits(code);
        let document = outcome.json();
        let findings = document["roots"][0]["findings"].as_array().unwrap().iter();
        let mut own = findings.filter(|finding| finding["rule"] == "platforms-incomplete");
        let found = own
            .next()
            .map(|finding| finding["severity"].as_str().unwrap());
        assert_eq!(found, severity, "of {text}");
    }
}

#[test]
fn a_finding_that_is_off_is_counted_and_shown_on_request() {
    let lab = with(
        "rule \"platforms-incomplete\" {\n  level = \"off\"\n  reason = \"runners are linux only\"\n}\n",
    );
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    let outcome = lab.run(&["verify", "-v"]).exits(0);
    assert!(
        outcome.stdout.ends_with("; 1 finding turned off\n"),
        "{}",
        outcome.stdout
    );
    outcome.stderr_has("platforms-incomplete is off, because runners are linux only: ");

    let outcome = lab.run(&["verify", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let off = &document["roots"][0]["turned_off"];
    assert_eq!(off.as_array().unwrap().len(), 1);
    assert_eq!(off[0]["rule"], "platforms-incomplete");
    assert_eq!(off[0]["provider"], "example.com/t/x");
    assert_eq!(off[0]["reason"], "runners are linux only");
    assert_eq!(document["summary"]["warnings"], 0);
}

#[test]
fn an_error_that_keeps_a_file_from_being_read_stays_one() {
    let lab = with("rule \"syntax-error\" {\n  level = \"off\"\n  reason = \"no\"\n}\n");
    lab.write(LOCK, "provider \n");
    assert_exit(&lab.run(&["verify"]), 1);
}

#[test]
fn the_flavor_of_the_file_counts_unless_another_is_typed() {
    let lab = with("flavor = \"opentofu\"\n");
    let header = |lab: &Lab| lab.read(LOCK).lines().next().unwrap().to_owned();
    assert_exit(&lock(&lab, &[]), 0);
    assert!(header(&lab).contains("tofu init"), "{}", header(&lab));
    assert_exit(&lock(&lab, &["--flavor", "terraform"]), 0);
    assert!(header(&lab).contains("terraform init"), "{}", header(&lab));
}

#[test]
fn a_broken_file_stops_its_roots_with_its_place() {
    let lab = simple();
    lab.write("a/main.tf", "")
        .write("b/main.tf", "")
        .write("c/main.tf", "");
    lab.write("c/.lockctl.hcl", "");
    lab.write(FILE, "platforms = [\"linux_amd64\"]\n\nplatfroms = []\n");
    let outcome = lab.run(&["verify", "a", "b", "c"]).exits(2);
    outcome.stderr_eq(str![[r#"
error[unsupported-item]: Unsupported argument
 --> .lockctl.hcl:3:1
  |
3 | platfroms = []
  | ^^^^^^^^^ a project file has no such name
  |
  = help: did you mean platforms?

note: `lockctl explain unsupported-item` says what this means and how to fix it

"#]]);
    assert!(
        outcome
            .stdout
            .ends_with("3 roots: 1 clean, 2 failed (1 error)\n"),
        "{}",
        outcome.stdout
    );
    for line in [
        &["lock", "a"][..],
        &["show", "a"],
        &["why", "x", "a"],
        &["fmt", "a"],
    ] {
        assert_exit(&lab.run(line), 2);
    }
    let outcome = lab.run(&["verify", "-r", "--format", "json"]).exits(2);
    let document: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let finding = &document["roots"][0]["findings"][0];
    assert_eq!(finding["file"], ".lockctl.hcl");
    assert_eq!(finding["line"], 3);
}

#[test]
#[cfg_attr(windows, ignore = "it names /dev/null")]
fn a_stated_file_counts_instead() {
    let lab = with("broken = true\n");
    lab.write(
        "ci/lockctl.hcl",
        "platforms = [\"linux_amd64\"]\nroots = [\"live/*\"]\n",
    );
    lab.write("live/a/main.tf", super::ONE_PROVIDER);
    assert_exit(&lock(&lab, &[]), 2);
    let stated = ["--config", "ci/lockctl.hcl"];
    assert_exit(&lock(&lab, &stated), 0);
    assert_eq!(hashes(&lab), 1);
    // Patterns start from the working directory.
    let outcome = lab.run(&[&["verify", "-r"], &stated[..]].concat()).exits(1);
    outcome.stdout_has("There is no live/a/.terraform.lock.hcl\n");
    outcome.stdout_has("run `lockctl lock live/a --config ci/lockctl.hcl` to create it");
    lab.run(&words("verify --config /dev/null --platform linux_amd64"))
        .exits(0);
    let outcome = lab.run(&["verify", "--config", "nowhere.hcl"]).exits(2);
    outcome.stderr_has("Failed to read project file");
}

#[test]
fn what_may_be_locked_is_stated_once() {
    let entry = |host: &str| format!("provider \"{host}\" {{\n  version = \"1.0.0\"\n}}\n");
    let lock_text = entry("example.com/t/x") + &entry("other.example/t/y");
    for (allow, refused) in [
        ("\"*/*/*\"", &[][..]),
        ("\"example.com/*/*\", \"other.example/t/y\"", &[]),
        ("\"example.com/t/x\"", &["other.example/t/y"]),
        ("\"t/*\"", &["example.com/t/x", "other.example/t/y"]),
    ] {
        let lab = with(&format!("policy {{\n  allow = [{allow}]\n}}\n"));
        lab.write(LOCK, &lock_text);
        let outcome = lab.run(&["verify", "--only", "policy"]);
        assert_exit(&outcome, u8::from(!refused.is_empty()));
        let told: Vec<&str> = outcome
            .stdout
            .lines()
            .filter_map(|line| line.strip_prefix("error[provider-not-allowed]: "))
            .collect();
        let wanted = refused
            .iter()
            .map(|provider| format!("{provider} is not a provider that the policy allows"));
        assert_eq!(told, wanted.collect::<Vec<_>>(), "{allow}");
    }
    // What is required counts before it is locked.
    let lab = with("policy {\n  allow = [\"hashicorp/*\"]\n}\n");
    lab.write(LOCK, "");
    let outcome = lab.run(&["verify", "--only", "policy"]).exits(1);
    outcome.stdout_has("required here");
}

#[test]
fn every_command_takes_packages_from_where_the_file_says() {
    let lab = simple();
    // The file is above the root, and its paths start there.
    lab.write(
        &format!("live/{FILE}"),
        "packages { fs_mirror = \"../mirror\" }\n",
    );
    lab.write("live/root/main.tf", super::ONE_PROVIDER);
    let root = ["./live/root", "--platform", "linux_amd64"];
    let run = |command: &[&str], more: &[&str]| lab.run(&[command, &root, more].concat());
    assert_exit(&run(&["lock"], &[]), 0);
    assert_exit(&run(&["lock", "--check"], &[]), 0);
    assert_exit(&run(&["update", "--check"], &[]), 0);
    // The packages are checked, too.
    assert_exit(&run(&["verify"], &[]), 0);
    let package = "mirror/example.com/t/x/1.1.0/linux_amd64/terraform-provider-x";
    let changed = lab.run(&["outdated", "./live/root"]).exits(0);
    changed.stdout_has("1.1.0");
    lab.write(package, "another program");
    let verify = run(&["verify"], &[]).exits(1);
    verify.stdout_has("package-stray-file");
    // An option wins.
    lab.unpacked(
        "other",
        "example.com/t/x/1.1.0/linux_amd64",
        "1.1.0 linux_amd64",
    );
    assert_exit(&run(&["verify"], &["--fs-mirror", "other"]), 0);
    assert_exit(&run(&["lock", "--check"], &["--fs-mirror", "other"]), 0);
    let registry = lab.run(&words(
        "outdated live/root --installation registry --offline",
    ));
    assert_exit(&registry, 2);
}

#[test]
fn a_mirror_of_the_file_must_exist() {
    let lab = with("packages { fs_mirror = \"no/such\" }\n");
    lab.run(&["lock", "--platform", "linux_amd64"]).exits(2).stderr_eq(str![[r#"
error: the mirror in no/such cannot be read
  cause: [..]
  help: name the top directory of a filesystem mirror as fs_mirror in .lockctl.hcl, or use another source, as in --installation registry

"#]]);
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    let verify = lab.run(&["verify", "-q", "--platform", "linux_amd64"]);
    assert_exit(&verify, 1);
    verify.stdout_has("`lockctl lock` takes packages from here");
}

#[test]
fn roots_of_a_run_may_take_packages_from_different_places() {
    let lab = simple();
    lab.write(
        &format!("a/{FILE}"),
        "packages { fs_mirror = \"../mirror\" }\n",
    )
    .write("a/main.tf", super::ONE_PROVIDER);
    lab.unpacked(
        "other",
        "example.com/t/x/1.0.0/linux_amd64",
        "1.0.0 linux_amd64",
    );
    lab.write(
        &format!("b/{FILE}"),
        "packages { fs_mirror = \"../other\" }\n",
    )
    .write("b/main.tf", super::ONE_PROVIDER);
    let run = lab.run(&["lock", "a", "b", "--platform", "linux_amd64"]);
    assert_exit(&run, 0);
    assert!(lab.read("a/.terraform.lock.hcl").contains("\"1.1.0\""));
    assert!(lab.read("b/.terraform.lock.hcl").contains("\"1.0.0\""));
    // Without requests, a root with a mirror is locked as always, and one without from facts alone.
    lab.write(&format!("b/{FILE}"), "");
    let offline = lab.run(&words("lock a b --platform linux_amd64 --offline --check"));
    assert_exit(&offline, 0);
}

#[test]
fn signed_hashes_are_fetched_from_registries_whatever_the_file_says() {
    let lab = Lab::new();
    lab.write("main.tf", super::ONE_PROVIDER.replace("example.com/t/x", "hashicorp/x"))
        .write(LOCK, "provider \"registry.terraform.io/hashicorp/x\" {\n  version     = \"1.1.0\"\n  \
            constraints = \"~> 1.0\"\n  hashes = [\n    \"h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\",\n  ]\n}\n");
    let help = |lab: &Lab| {
        lab.run(&["verify", "-v", "--platform", "linux_amd64"])
            .stdout
    };
    help(&lab).has("run `lockctl lock .` where the registry can be reached");
    lab.write(
        FILE,
        "packages { net_mirror = \"https://mirror.example/\" }\n",
    );
    help(&lab)
        .has("run `lockctl lock . --installation registry` where the registry can be reached");
}

/// A project file that switches off the warning about missing platforms up to a day.
fn off_until(day: &str) -> String {
    format!(
        "platforms = [\"linux_amd64\", \"darwin_arm64\"]\n\
         rule \"platforms-incomplete\" {{\n  level  = \"off\"\n  reason = \"runners are linux only\"\n  \
         until  = {day:?}\n}}\n"
    )
}

#[test]
fn a_level_counts_again_from_its_day_on() {
    let mut lab = with(&off_until("2027-03-01"));
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    let mut verify = |now: &str| {
        lab.clock = MemClock::at(calendar::read_timestamp(now).unwrap());
        let outcome = lab.run(&["verify", "-v"]);
        let text = [&*outcome.stdout, &outcome.stderr].concat();
        let note = text
            .lines()
            .find(|line| line.contains("platforms-incomplete was") || line.contains("(UTC)"))
            .unwrap_or_default()
            .to_owned();
        (outcome.code, text.contains("[platforms-incomplete]"), note)
    };
    assert_eq!(verify("2026-12-01T00:00:00Z"), (0, false, String::new()));
    let (code, is_reported, note) = verify("2027-02-20T00:00:00Z");
    assert_eq!((code, is_reported), (0, false));
    note.has("platforms-incomplete is \"off\" until 2027-03-01 (UTC), in 9 days");
    let (code, is_reported, note) = verify("2027-03-01T00:00:00Z");
    assert_eq!((code, is_reported), (1, true));
    note.has("platforms-incomplete was \"off\" until 2027-03-01 (UTC)");
    // The clock of the machine decides, too.
    for (day, code) in [("2020-01-01", 1), ("2999-01-01", 0)] {
        lab.write(FILE, off_until(day));
        let output = Command::new(env!("CARGO_BIN_EXE_lockctl"))
            .args(["verify", "--offline"])
            .current_dir(lab.dir())
            .env_clear()
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(code), "{day}: {output:?}");
    }
}
