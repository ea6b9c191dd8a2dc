//! The memory of signers and origin: what `trust` writes, and the steps down that commands report.

use serde_json::{Value, json};
use snapbox::str;

use super::builds::{self, CLEAN};
use super::provenance::{ROOTS, spread};
use super::registry::{DEMO, with_registry};
use super::*;
use crate::registry::{Registry, TestKey};

const FILE: &str = ".lockctl.hcl";

fn flavored(command: &str) -> Vec<&str> {
    let mut args: Vec<&str> = command.split(' ').collect();
    args.extend(["--flavor", "terraform@1.11"]);
    args
}

/// A root that is locked from a registry, with a project file that has comments.
fn locked() -> (Registry, Lab) {
    let (registry, lab) = with_registry(DEMO);
    let text = "# Ours.\ntrust {\n  h1 = \"proven\" # for now\n}\n\n# The end.\n";
    lab.write(FILE, text);
    lab.run(&flavored("lock --platform linux_amd64")).exits(0);
    (registry, lab)
}

fn rules(outcome: &Outcome) -> Vec<String> {
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let findings = json["roots"][0]["findings"].as_array().unwrap().iter();
    let rules = findings.map(|finding| finding["rule"].as_str().unwrap().to_owned());
    let steps = ["key-changed", "signature-lost", "origin-changed", "zh-lost"];
    rules.filter(|rule| steps.contains(&&**rule)).collect()
}

/// The project file, with words for what differs from run to run.
fn memory(lab: &Lab) -> String {
    let day = lockctl::package::calendar::day(std::time::SystemTime::now());
    lab.read(FILE)
        .replace(&day, "TODAY")
        .replace(&TestKey::Main.fingerprint(), "MAIN")
        .replace(&TestKey::Stranger.fingerprint(), "STRANGER")
}

#[test]
fn what_is_known_is_written_once_and_comments_stay() {
    let (_registry, lab) = locked();
    let check = lab.run(&flavored("trust --check")).exits(1);
    check.stdout_has("nothing was written");
    assert!(!lab.read(FILE).contains("signed_by"));
    let first = lab.run(&flavored("trust")).exits(0);
    first.stdout_has("a first use is compared with nothing");
    memory(&lab).reads(str![[r##"
# Ours.
trust {
  h1 = "proven" # for now

  provider "registry.terraform.io/acme/demo" {
    signed_by = ["MAIN"]
    zh        = 4
    since     = "TODAY"
  }
}

# The end.

"##]]);
    let before = lab.read(FILE);
    let again = lab.run(&flavored("trust")).exits(0);
    again.stdout_has("1 unchanged");
    assert_eq!(lab.read(FILE), before);
    lab.run(&flavored("trust --check")).exits(0);
    let verify = lab.run(&flavored("verify --only policy --format json"));
    assert!(rules(&verify.exits(0)).is_empty());
}

#[test]
fn a_new_project_file_is_at_the_top_of_the_repository() {
    let (_registry, lab) = with_registry(DEMO);
    let in_live = |args: &str| lab.run(&flavored(&format!("{args} -r live")));
    for root in ["live/a", "live/b"] {
        lab.write(&format!("{root}/main.tf"), lab.read("main.tf"))
            .write(&format!("{root}/{LOCK}"), "");
    }
    in_live("lock --platform linux_amd64").exits(0);
    // Outside of a repository it governs what is below the directory of the run.
    in_live("trust").exits(0);
    memory(&lab).has("signed_by");
    std::fs::remove_file(lab.path(FILE)).unwrap();
    lab.write("live/.git/HEAD", "");
    in_live("trust").exits(0);
    lab.read("live/.lockctl.hcl").has("signed_by");
    assert!(!lab.path(FILE).exists());
    in_live("trust --check").exits(0);
}

#[test]
fn another_key_is_a_step_down_until_it_is_accepted() {
    let (registry, lab) = locked();
    lab.run(&flavored("trust")).exits(0);
    let upstream = flavored("verify --only upstream --format json");
    assert!(rules(&lab.run(&upstream)).is_empty());
    registry.reset(&json!({"keys": ["stranger"], "sign_with": "stranger"}));
    assert_eq!(rules(&lab.run(&upstream).exits(1)), ["key-changed"]);
    let sarif = lab.run(&flavored("verify --only upstream --format sarif"));
    sarif.stdout_has("key-changed");
    let lock = lab
        .run(&flavored("lock --prove --platform linux_amd64"))
        .exits(0);
    lock.stderr_has("acme/demo 1.0.0 is signed by another key");
    // Facts now know the key, too.
    let verify = flavored("verify --only policy --format json");
    assert_eq!(rules(&lab.run(&verify).exits(1)), ["key-changed"]);
    let trust = lab.run(&flavored("trust")).exits(1);
    trust.stdout_has("signed by another key");
    lab.run(&flavored("trust --update acme/demo")).exits(2);
    let reason = ["--reason", "a \"new\" key"];
    let accept = [&flavored("trust --update ACME/demo")[..], &reason].concat();
    let other = [&flavored("trust --update acme/other")[..], &reason].concat();
    lab.run(&other)
        .exits(2)
        .stderr_has("no lock file of this run has an entry for acme/other");
    lab.run(&accept).exits(0).stdout_has("1 accepted");
    memory(&lab).reads(str![[r##"
# Ours.
trust {
  h1 = "proven" # for now

  provider "registry.terraform.io/acme/demo" {
    signed_by = ["STRANGER"]
    zh        = 4
    since     = "TODAY"
    reason    = "a /"new/" key"
  }
}

# The end.

"##]]);
    assert!(rules(&lab.run(&verify).exits(0)).is_empty());
}

#[test]
fn a_lost_signature_and_lost_hashes_are_steps_down() {
    let (registry, lab) = with_registry(DEMO);
    let tofu = |command: &str| {
        let args: Vec<&str> = command.split(' ').collect();
        lab.run(&[&args[..], &["--flavor", "opentofu"]].concat())
    };
    tofu("lock --platform linux_amd64").exits(0);
    tofu("trust --upstream").exits(0);
    registry.reset(&json!({"no_keys": true}));
    let upstream = tofu("verify --only upstream --format json").exits(1);
    assert_eq!(rules(&upstream), ["signature-lost"]);
    let text = lab.read(LOCK);
    let lines = text.lines().filter(|line| !line.contains("\"zh:"));
    lab.write(
        LOCK,
        lines.map(|line| format!("{line}\n")).collect::<String>(),
    );
    let policy = tofu("verify --only policy --format json").exits(1);
    assert_eq!(rules(&policy), ["zh-lost"]);
}

#[test]
fn another_main_module_is_a_step_down() {
    let other = &CLEAN.replace("acme", "other");
    let next = &CLEAN.replace("terraform-provider-lab", "terraform-provider-lab/v2");
    for (build, wanted) in [(other, &["origin-changed"][..]), (next, &[])] {
        let releases = [("1.0.0", [CLEAN, CLEAN]), ("1.1.0", [build, build])];
        let (_registry, lab) = builds::locked(&releases, "1.0.0");
        lab.run(&flavored("trust")).exits(0);
        let text = lab.read(FILE);
        assert!(
            text.contains("github.com/acme/terraform-provider-lab\""),
            "{text}"
        );
        builds::update(&lab, "1.1.0");
        let verify = lab.run(&flavored("verify --only policy --format json"));
        assert_eq!(rules(&verify), wanted);
    }
}

#[test]
fn another_key_is_reported_with_the_releases_that_both_sign() {
    let releases = ["1.0.0", "1.1.0"].map(|version| (version, [CLEAN, CLEAN]));
    let (registry, lab) = builds::locked(&releases, "1.0.0");
    lab.run(&flavored("trust")).exits(0);
    lab.write("old.hcl", lab.read(LOCK));
    registry.reset(&json!({"keys": ["stranger"], "sign_with": "stranger"}));
    builds::update(&lab, "1.1.0");
    let since = format!(
        "signed by another key, {}, since 1.1.0 at the latest",
        TestKey::Stranger.fingerprint()
    );
    let earlier = "the newest known release that an earlier key signs is 1.0.0";
    let offline = lab.run(&flavored("verify --only policy")).exits(1);
    offline.stdout_has(&since);
    offline.stdout_has(format!(
        "when it was locked here, its registry stated this key; {earlier}"
    ));
    let upstream = lab.run(&flavored("verify --only upstream")).exits(1);
    upstream.stdout_has(&since);
    upstream.stdout_has(format!("its registry states this key; {earlier}"));
    for command in ["trust", "diff old.hcl .terraform.lock.hcl --fail-on danger"] {
        let outcome = lab.run(&flavored(command)).exits(1);
        outcome.stdout_has(format!("{since}; {earlier}"));
    }
    lab.run(&flavored("lock --prove --platform linux_amd64"))
        .exits(0)
        .stderr_has(format!("{since}; {earlier}"));
    // Without facts only the locked release is known.
    let unknown = lab
        .run(&flavored("verify --only upstream --no-cache"))
        .exits(1);
    unknown.stdout_has(&since);
    unknown.stdout_has("no release that an earlier key signs is known here");
}

#[test]
fn an_unsigned_release_is_a_step_down_where_its_registry_is_asked() {
    let (registry, lab) = with_registry(DEMO);
    registry.reset(&json!({"no_keys": true}));
    let tofu = |command: &str| {
        let args: Vec<&str> = command.split(' ').collect();
        lab.run(&[&args[..], &["--flavor", "opentofu"]].concat())
    };
    tofu("lock --platform linux_amd64").exits(0);
    let main = TestKey::Main.fingerprint();
    let signed = format!("signed_by = [\"{main}\"]");
    for (known, wanted) in [(&*signed, &["signature-lost"][..]), ("signed_by = []", &[])] {
        let text = format!("trust {{\n  provider \"acme/demo\" {{\n    {known}\n  }}\n}}\n");
        lab.write(FILE, text);
        let verify = tofu("verify --only upstream --format json");
        assert_eq!(rules(&verify), wanted);
        let sarif = tofu("verify --only upstream --format sarif");
        assert_eq!(sarif.stdout.contains("signature-lost"), !wanted.is_empty());
        let lock = tofu("lock --prove --platform linux_amd64").exits(0);
        let is_warned = lock.stderr.contains("is not signed any more");
        assert_eq!(is_warned, !wanted.is_empty(), "{}", lock.stderr);
        // Facts are kept of signed lists alone.
        let offline = tofu("verify --only policy").exits(0);
        offline.stdout_has("policy not checked: remembered keys");
    }
}

#[test]
fn attacks_on_the_memory_are_refused_or_have_no_effect() {
    // Another key with the same 64-bit ID is another key.
    let (registry, lab) = locked();
    lab.run(&flavored("trust")).exits(0);
    let main = TestKey::Main.fingerprint();
    let same_id = format!("{}{}", "0".repeat(24), &main[24..]);
    let text = lab.read(FILE);
    lab.write(FILE, text.replace(&main, &same_id));
    let verify = flavored("verify --only policy --format json");
    assert_eq!(rules(&lab.run(&verify).exits(1)), ["key-changed"]);
    // The ID alone is none.
    lab.write(FILE, text.replace(&main, &main[24..]));
    lab.run(&verify).exits(2);
    // A name in other letters is the same provider.
    lab.write(
        FILE,
        text.replace("acme/demo", "ACME/Demo")
            .replace(&main, &same_id),
    );
    assert_eq!(rules(&lab.run(&verify).exits(1)), ["key-changed"]);
    let twice = format!("{text}{}", text.replace("acme/demo", "ACME/Demo"));
    lab.write(FILE, twice);
    lab.run(&verify).exits(2);
    // A memory that is gone is a first use, which CI does not take for granted.
    lab.write(FILE, "");
    lab.run(&verify).exits(0);
    lab.run(&flavored("trust --check")).exits(1);
    drop(registry);
}

#[test]
fn a_branch_does_not_accept_what_it_changes() {
    let Some(repo) = crate::repo::Repo::new() else {
        return;
    };
    repo.write("main.tf", "");
    let memory = |count: usize| {
        format!("trust {{\n  provider \"example.com/t/x\" {{\n    zh = {count}\n  }}\n}}\n")
    };
    let entry = "provider \"example.com/t/x\" {\n  version = \"1.0.0\"\n}\n";
    repo.write(FILE, memory(2));
    let base = repo.commit("base");
    repo.write(LOCK, entry);
    repo.write(FILE, memory(0));
    repo.commit("both");
    repo.run(&["verify", "--only", "policy"]).exits(0);
    let checked = repo.run(&["verify", "--only", "policy", "--config-at", &base]);
    checked.exits(1).stdout_has("zh-lost");
    repo.run(&["trust", "--config-at", &base]).exits(2);
    // Nor does it help to take the memory out.
    repo.write(FILE, "");
    repo.commit("none");
    repo.run(&["verify", "--only", "policy"]).exits(0);
    let checked = repo.run(&["verify", "--only", "policy", "--config-at", &base]);
    checked.exits(1).stdout_has("zh-lost");
    // A memory of other providers alone is one that may have lost something.
    repo.write(FILE, memory(0).replace("t/x", "t/y"));
    let checked = repo.run(&["verify", "--only", "policy"]).exits(0);
    checked.stderr_has("lacks 1 locked provider, as example.com/t/x");
}

/// Without a change of the lock file a step down would come with the next change, when nothing is remembered.
#[test]
fn a_review_names_what_is_not_remembered_any_more() {
    let Some(repo) = crate::repo::Repo::new() else {
        return;
    };
    let memory =
        |lines: &str| format!("trust {{\n  provider \"example.com/t/x\" {{\n{lines}  }}\n}}\n");
    let (key, other) = ("A".repeat(40), "B".repeat(40));
    repo.write(
        LOCK,
        "provider \"example.com/t/x\" {\n  version = \"1.0.0\"\n}\n",
    );
    repo.write(
        FILE,
        memory(&format!("    signed_by = [\"{key}\"]\n    zh = 2\n")),
    );
    let base = repo.commit("base");
    let warning = "warning: .lockctl.hcl does not remember any more what it did of example.com/t/x; \
                   `--config-at` checks with the memory before\n";
    for (text, is_less) in [
        (String::new(), true),
        (memory("    zh = 2\n"), true),
        (
            memory(&format!("    signed_by = [\"{key}\"]\n    zh = 1\n")),
            true,
        ),
        (
            memory(&format!(
                "    signed_by = [\"{key}\", \"{other}\"]\n    zh = 2\n"
            )),
            true,
        ),
        (
            memory(&format!("    signed_by = [\"{key}\"]\n    zh = 3\n")),
            false,
        ),
        ("# ours\n".to_owned() + &repo.lab.read(FILE), false),
    ] {
        repo.write(FILE, &text);
        let work_tree = repo.run(&["diff", &base]).exits(0);
        assert_eq!(work_tree.stderr.contains(warning), is_less, "{text}");
        repo.commit("changed");
        let range = format!("{base}..HEAD");
        let markdown = repo.run(&["diff", &range, "--format", "markdown"]).exits(0);
        assert_eq!(
            markdown.stdout.contains("does not remember"),
            is_less,
            "{text}"
        );
    }
}

#[test]
fn a_key_that_expires_is_announced_offline_and_upstream() {
    let (registry, lab) = with_registry(DEMO);
    registry.reset(&json!({"keys": ["expired"], "sign_with": "expired"}));
    lab.run(&flavored("lock --platform linux_amd64")).exits(0);
    for command in [
        "verify --only platforms,policy -v",
        "verify --only upstream -v",
    ] {
        let outcome = lab.run(&flavored(command)).exits(0);
        outcome.stdout_has("note[key-expires]: the key of registry.terraform.io/acme/demo 1.0.0");
    }
    lab.run(&flavored("trust -v")).stdout_has("KEY EXPIRES");
    let outdated = lab.run(&flavored("outdated")).exits(0);
    outdated.stderr_has("note: the key of acme/demo 1.0.0, ");
    outdated.stderr_has("(1 root); see `lockctl explain key-expires`");
    // A key without an end, and the key of a later answer, have none.
    registry.reset(&json!({}));
    let outcome = lab.run(&flavored("verify --only upstream -v"));
    assert!(
        !outcome.stdout.contains("key-expires"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn signatures_that_are_lost_and_keys_that_expire_fit_on_a_screen() {
    let (registry, lab) = with_registry(DEMO);
    registry.reset(&json!({"no_keys": true}));
    lab.run(&["lock", "--platform", "linux_amd64", "--flavor", "opentofu"])
        .exits(0);
    spread(&lab);
    let main = TestKey::Main.fingerprint();
    let signed =
        format!("trust {{\n  provider \"acme/demo\" {{\n    signed_by = [\"{main}\"]\n  }}\n}}\n");
    lab.write(FILE, signed);
    let Some(repo) = crate::repo::Repo::of(lab) else {
        return;
    };
    let base = repo.commit("base");
    let check = |rule: &str, exit: u8, more: &[&str]| {
        let verify = |format: &[&str]| {
            let run = ["verify", "-r", "--only", "upstream", "--flavor", "opentofu"];
            repo.run(&[&run[..], more, format].concat()).exits(exit)
        };
        let json = verify(&["--format", "json"]);
        let name = format!("\"rule\": \"{rule}\"");
        assert_eq!(json.stdout.matches(&name).count(), ROOTS, "{rule}");
        verify(&["--format", "sarif"]).stdout_has(format!("\"ruleId\": \"{rule}\""));
        let text = verify(&[]);
        assert!(
            format!("{}{}", text.stdout, text.stderr).contains(rule),
            "{text:?}"
        );
        let lines = text.stdout.lines().count() + text.stderr.lines().count();
        assert!(lines <= 60, "{lines} lines: {}{}", text.stdout, text.stderr);
    };
    check("signature-lost", 1, &[]);
    // A branch that takes the memory out changes nothing.
    repo.write(FILE, "");
    check("signature-lost", 1, &["--config-at", &base]);
    registry.reset(&json!({"keys": ["expired"], "sign_with": "expired"}));
    check("key-expires", 0, &[]);
}

#[test]
fn a_review_shows_steps_down_in_trust_first() {
    let Some(repo) = crate::repo::Repo::new() else {
        return;
    };
    let entry = |version: &str| {
        let hash = "    \"zh:0123456789012345678901234567890123456789012345678901234567890123\",\n";
        let hashes = if version == "1.0.0" { hash } else { "" };
        format!(
            "provider \"example.com/t/x\" {{\n  version = \"{version}\"\n  hashes = [\n    \
             \"h1:tSj1mL6OQ8ILGqR2mDu7OYYYWf+hoir0pf9KAQ8IzO8=\",\n{hashes}  ]\n}}\n"
        )
    };
    repo.write(LOCK, entry("1.0.0"));
    repo.write(
        FILE,
        "trust {\n  provider \"example.com/T/x\" {\n    zh = 1\n  }\n}\n",
    );
    repo.commit("base");
    repo.write(LOCK, entry("1.1.0"));
    repo.write(FILE, "");
    let step = "locked with 0 zh: hashes, which were 1 before";
    let text = repo.run(&["diff", "--fail-on", "danger"]).exits(1);
    text.stdout_has(step);
    repo.run(&["diff", "--format", "json"])
        .stdout_has("\"rule\": \"zh-lost\"");
    let markdown = repo.run(&["diff", "--format", "markdown"]).stdout;
    let (head, _) = markdown.split_once(step).unwrap();
    assert!(head.contains("TRUST"), "{markdown}");
    // Without a step there is no column.
    repo.write(LOCK, entry("1.0.0").replace("1.0.0", "1.0.1"));
    let markdown = repo.run(&["diff", "--format", "markdown"]).stdout;
    assert!(!markdown.contains("TRUST"), "{markdown}");
}
