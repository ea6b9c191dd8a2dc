//! The second edition of policies: what `verify` finds, and what `lock`, `update` and `mirror` obey.

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use snapbox::str;

use super::age::signed;
use super::registry::{DEMO, with_registry};
use super::*;
use crate::attestations::{Answer, AttestationApi};

const FILE: &str = ".lockctl.hcl";
const FLAVOR: [&str; 2] = ["--flavor", "terraform@1.11"];

fn entry(provider: &str, version: &str) -> String {
    format!("provider \"{provider}\" {{\n  version = \"{version}\"\n}}\n")
}

/// A root that locks `example.com/t/x` 1.0.0 and `other.example/t/y` 2.0.0-beta1, under a policy.
fn locked_under(policy: &str) -> Lab {
    let lab = Lab::new();
    let lock = entry("example.com/t/x", "1.0.0") + &entry("other.example/t/y", "2.0.0-beta1");
    lab.write(LOCK, lock);
    lab.write("main.tf", "");
    lab.write(FILE, format!("policy {{\n{policy}\n}}\n"));
    lab
}

/// The names of the rules that fire, each with its provider.
fn findings(outcome: &Outcome) -> Vec<String> {
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let roots = json["roots"].as_array().unwrap();
    let all = roots
        .iter()
        .flat_map(|root| root["findings"].as_array().unwrap());
    all.map(|finding| {
        let provider = finding["provider"].as_str().unwrap_or("-");
        format!("{} {provider}", finding["rule"].as_str().unwrap())
    })
    .collect()
}

#[test]
fn each_line_of_a_policy_finds_what_it_is_about_and_nothing_else() {
    const X: &str = "example.com/t/x";
    const Y: &str = "other.example/t/y";
    for (policy, wanted) in [
        (
            "deny = [\"example.com/*/x\"]",
            vec![format!("provider-not-allowed {X}")],
        ),
        ("deny = [\"*/*/z\"]", vec![]),
        (
            "hosts = [\"example.com\"]",
            vec![format!("provider-not-allowed {Y}")],
        ),
        ("hosts = [\"example.com\", \"Other.Example\"]", vec![]),
        (
            "deny = [\"example.com/t/x <= 1\"]",
            vec![format!("version-not-allowed {X}")],
        ),
        ("deny = [\"example.com/T/X < 1\"]", vec![]),
        (
            "allow = [\"example.com/t/x > 1\", \"*/*/y\"]",
            vec![format!("version-not-allowed {X}")],
        ),
        (
            "prereleases = \"refuse\"",
            vec![format!("version-not-allowed {Y}")],
        ),
        ("prereleases = \"accept\"", vec![]),
        (
            "prereleases = \"refuse\"\nexempt \"version-not-allowed\" {\n  provider = \"other.example/t/y\"\n  \
             reason = \"r\"\n  until = \"2099-01-01\"\n}",
            vec![],
        ),
    ] {
        let lab = locked_under(policy);
        let verify = ["verify", "--only", "policy", "--format", "json"];
        let outcome = lab.run(&verify);
        assert_eq!(findings(&outcome), wanted, "{policy}");
        assert_exit(&outcome, u8::from(!wanted.is_empty()));
        let sarif = lab.run(&["verify", "--only", "policy", "--format", "sarif"]);
        for finding in wanted {
            sarif.stdout_has(finding.split(' ').next().unwrap());
        }
    }
}

#[test]
fn an_exemption_that_has_ended_exempts_nothing() {
    let exempt = |until: &str| {
        locked_under(&format!(
            "prereleases = \"refuse\"\nexempt \"version-not-allowed\" {{\n  provider = \"other.example/t/y\"\n  \
             reason = \"r\"\n{until}}}"
        ))
    };
    let verify = ["verify", "--only", "policy", "-v"];
    exempt("  until = \"2020-01-01\"\n")
        .run(&verify)
        .exits(1)
        .stdout_has("version-not-allowed");
    let open = exempt("").run(&verify).exits(0);
    open.stderr_has("note[project-odd]: Exemption without an end");
    open.stderr_has(
        "version-not-allowed is off, because r: other.example/t/y 2.0.0-beta1 is a pre-release",
    );
}

#[test]
fn many_roots_share_one_version_and_one_screen() {
    let lab = Lab::new();
    lab.write(
        FILE,
        "policy {\n  one_version = [\"example.com/*/*\"]\n  deny = [\"*/*/z\"]\n}\n",
    );
    for root in 0..200 {
        let version = if root % 2 == 0 { "1.0.0" } else { "1.1.0" };
        let lock = entry("example.com/t/x", version)
            + &entry("other.example/t/y", version)
            + &entry("a.example/t/z", "1.0.0");
        lab.write(&format!("live/r{root:03}/{LOCK}"), lock);
        lab.write(&format!("live/r{root:03}/main.tf"), "");
    }
    let outcome = lab.run(&["verify", "-r", "--only", "policy"]).exits(1);
    let lines = outcome.stdout.lines().count() + outcome.stderr.lines().count();
    assert!(lines <= 60, "{lines} lines: {}", outcome.stdout);
    let json = lab.run(&["verify", "-r", "--only", "policy", "--format", "json"]);
    let found = findings(&json);
    let count = |text: &str| found.iter().filter(|finding| *finding == text).count();
    assert_eq!(count("versions-differ example.com/t/x"), 100);
    assert_eq!(count("provider-not-allowed a.example/t/z"), 200);
    assert_eq!(found.len(), 300);
}

#[test]
fn entries_that_concern_nothing_are_notes_of_a_whole_run() {
    let policy = "allow = [\"*/t/*\", \"acme/tool\"]\nhosts = [\"example.com\", \"other.example\", \"a.example\"]\n\
                  one_version = true\ndeny = [\"*/*/z\"]\nprovider \"hashicorp/aws\" {\n  \
                  key_id = \"34365D9472D7468F\"\n}\nexempt \"key-not-allowed\" {\n  provider = \"example.com/t/x\"\n  \
                  reason = \"r\"\n  until = \"2099-01-01\"\n}\n";
    let policy = policy.replace("*/t/*", "*/*/*");
    let lab = locked_under(&policy);
    let args = ["verify", "--only", "policy", "--format", "json"];
    assert!(findings(&lab.run(&args).exits(0)).is_empty());
    let all = lab.run(&[&args[..], &["-r"]].concat()).exits(0);
    let unused: Vec<&str> = all
        .stdout
        .lines()
        .filter(|line| line.contains("\"title\": "))
        .collect();
    unused.join("\n").reads(str![[r#"
          "title": "/"acme/tool/" in `allow` of the policy concerns nothing that is locked",
          "title": "/"a.example/" in `hosts` of the policy concerns nothing that is locked",
          "title": "/"hashicorp/aws/" in `provider` of the policy concerns nothing that is locked",
          "title": "/"key-not-allowed/" in `exempt` of the policy concerns nothing that is locked",
"#]]);
}

#[test]
fn every_directory_must_be_locked_where_the_policy_says_so() {
    let lab = Lab::new();
    let module = "module \"m\" {\n  source = \"../module\"\n}\n";
    lab.write("app/main.tf", module);
    lab.write("module/main.tf", super::ONE_PROVIDER);
    let verify = [
        "verify",
        "-r",
        "--only",
        "configuration",
        "--format",
        "json",
    ];
    assert!(findings(&lab.run(&verify)).is_empty());
    lab.write(FILE, "policy {\n  require_lock = true\n}\n");
    let outcome = lab.run(&verify).exits(1);
    assert_eq!(findings(&outcome), ["lock-missing -"]);
    outcome.stdout_has("\"path\": \"app\"");
}

#[test]
fn platforms_of_a_policy_are_wanted_beside_those_that_are_typed() {
    let lab = simple();
    lab.write(FILE, "policy {\n  platforms = [\"darwin_arm64\"]\n}\n");
    let mirror = ["--fs-mirror", "mirror"];
    let linux = ["--platform", "linux_amd64"];
    lab.run(&[&["lock"], &mirror[..], &linux].concat()).exits(0);
    assert_eq!(lab.read(LOCK).matches("h1:").count(), 2);
    lab.run(&[&["verify"], &linux[..]].concat()).exits(0);
    lab.write(
        FILE,
        "policy {\n  platforms = [\"darwin_arm64\", \"linux_arm64\"]\n}\n",
    );
    let outcome = lab
        .run(&["verify", "--format", "json", "--platform", "linux_amd64"])
        .exits(1);
    assert_eq!(findings(&outcome), ["platforms-incomplete example.com/t/x"]);
}

#[test]
fn what_is_denied_is_neither_selected_nor_kept_nor_mirrored() {
    let lab = simple();
    let mirror = ["--fs-mirror", "mirror", "--platform", "linux_amd64"];
    let run = |command: &[&str]| lab.run(&[command, &mirror].concat());
    let version = || {
        let text = lab.read(LOCK);
        let (_, rest) = text.split_once("version     = \"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    };
    lab.write(FILE, "policy {\n  deny = [\"example.com/t/x >= 1.1\"]\n}\n");
    run(&["lock"]).exits(0);
    assert_eq!(version(), "1.0.0");
    run(&["update"]).exits(0);
    assert_eq!(version(), "1.0.0");
    lab.write(FILE, "policy {\n  deny = [\"example.com/t/x < 1.1\"]\n}\n");
    let refused = run(&["lock"]).exits(1);
    refused.stderr_has(
        "error[version-not-allowed]: example.com/t/x 1.0.0 is a version that the policy denies",
    );
    let refused = lab.run(&["mirror", "out", "--from", "mirror"]).exits(1);
    refused.stderr_has("error[version-not-allowed]");
    run(&["update"]).exits(0);
    assert_eq!(version(), "1.1.0");
    lab.write(FILE, "policy {\n  allow = [\"example.com/t/x > 2\"]\n}\n");
    let refused = run(&["update"]).exits(2);
    refused.stderr_has(
        "no version of example.com/t/x that may be selected is one that the policy allows",
    );
}

#[test]
fn a_release_may_be_too_old_or_too_young_for_its_provider_alone() {
    let (registry, lab) = with_registry(DEMO);
    registry.set_dates("acme/demo", "1.0.0", signed(24 * 100));
    let lock = [&["lock", "--platform", "linux_amd64"], &FLAVOR[..]].concat();
    lab.run(&lock).exits(0);
    let verify = |policy: &str, more: &[&str]| {
        lab.write(FILE, format!("policy {{\n{policy}\n}}\n"));
        let args = ["verify", "--only", "policy", "--format", "json"];
        lab.run(&[&args, &FLAVOR[..], more].concat())
    };
    let young = "provider \"acme/demo\" {\n  min_age = \"52w\"\n}";
    let exempt = "\nexempt \"release-too-young\" {\n  provider = \"acme/demo\"\n  reason = \"r\"\n  \
                  until = \"2099-01-01\"\n}";
    for more in [&[][..], &["--upstream"]] {
        let rules = |policy: &str| -> Vec<String> {
            let all = findings(&verify(policy, more)).into_iter();
            all.filter(|finding| finding.starts_with("release-too"))
                .collect()
        };
        let provider = "registry.terraform.io/acme/demo";
        assert_eq!(
            rules("max_age = \"14w\""),
            [format!("release-too-old {provider}")]
        );
        assert!(rules("max_age = \"15w\"").is_empty());
        assert_eq!(rules(young), [format!("release-too-young {provider}")]);
        assert!(
            rules("min_age = \"52w\"\nprovider \"acme/demo\" {\n  min_age = \"1d\"\n}").is_empty()
        );
        assert!(rules(&format!("{young}{exempt}")).is_empty());
    }
    assert_exit(&verify("max_age = \"14w\"", &[]), 0);
}

#[test]
fn a_branch_does_not_change_the_policy_that_checks_it() {
    let Some(repo) = crate::repo::Repo::new() else {
        return;
    };
    repo.write(FILE, "policy {\n  prereleases = \"refuse\"\n}\n");
    repo.write("main.tf", "");
    let base = repo.commit("base");
    repo.write(LOCK, entry("other.example/t/y", "2.0.0-beta1"));
    repo.write(FILE, "policy {\n  prereleases = \"accept\"\n}\n");
    repo.commit("both");
    repo.run(&["verify", "--only", "policy"]).exits(0);
    let checked = repo.run(&["verify", "--only", "policy", "--config-at", &base]);
    checked.exits(1).stdout_has("version-not-allowed");
}

#[test]
fn what_a_policy_refuses_is_found_upstream_and_at_a_revision() {
    let (_registry, lab) = with_registry(DEMO);
    lab.run(&[&["lock", "--platform", "linux_amd64"], &FLAVOR[..]].concat())
        .exits(0);
    let Some(repo) = crate::repo::Repo::of(lab) else {
        return;
    };
    for (policy, rule) in [
        ("deny = [\"acme/demo\"]", "provider-not-allowed"),
        ("deny = [\"acme/demo <= 1\"]", "version-not-allowed"),
        ("hosts = [\"example.com\"]", "provider-not-allowed"),
        (
            "provider \"acme/demo\" {\n  key_id = \"1111111111111111\"\n}",
            "key-not-allowed",
        ),
    ] {
        repo.write(FILE, format!("policy {{\n{policy}\n}}\n"));
        let base = repo.commit("base");
        let wanted = [format!("{rule} registry.terraform.io/acme/demo")];
        for command in [
            &["verify", "--only", "policy"][..],
            &["verify", "--upstream"],
        ] {
            let verify = |more: &[&str]| {
                let outcome = repo.run(&[command, &FLAVOR, &["--format", "json"], more].concat());
                let mut all = findings(&outcome);
                all.retain(|finding| finding.contains("-allowed"));
                all
            };
            repo.write(FILE, format!("policy {{\n{policy}\n}}\n"));
            assert_eq!(verify(&[]), wanted, "{command:?}");
            repo.write(FILE, "");
            assert!(verify(&[]).is_empty(), "{command:?}");
            assert_eq!(verify(&["--config-at", &base]), wanted, "{command:?}");
        }
    }
}

#[test]
fn a_shared_policy_cannot_be_weakened() {
    let lab = locked_under("prereleases = \"accept\"");
    let own = "policy {\n  prereleases = \"accept\"\n  exempt \"version-not-allowed\" {\n    provider = \
               \"other.example/t/y\"\n    reason = \"r\"\n    until = \"2099-01-01\"\n  }\n}\n\
               rule \"version-not-allowed\" {\n  level = \"off\"\n  reason = \"r\"\n}\n";
    lab.write(FILE, own);
    let shared = "policy {\n  prereleases = \"refuse\"\n  platforms = [\"linux_amd64\"]\n}\n";
    lab.write("company.hcl", shared);
    let verify = ["verify", "--only", "policy"];
    lab.run(&verify).exits(0);
    let with = [&verify[..], &["--policy", "company.hcl"]].concat();
    let refused = lab.run(&with).exits(1);
    refused.stdout_has("error[version-not-allowed]: other.example/t/y 2.0.0-beta1");
    // The output says whose line it was.
    refused.stdout_has("company.hcl:2:17");
    refused.stdout_has("moves to a version that company.hcl allows; with --edit it changes");
    let one = "policy {\n  one_version = true\n}\n";
    lab.write("company.hcl", one);
    for (root, version) in [("a", "1.0.0"), ("b", "1.1.0")] {
        lab.write(&format!("{root}/{LOCK}"), entry("a.example/t/z", version));
    }
    let all = ["verify", "-r", "--only", "policy", "--format", "json"];
    let differ = "versions-differ a.example/t/z".to_owned();
    assert!(!findings(&lab.run(&all).exits(0)).contains(&differ));
    let all = [&all[..], &["--policy", "company.hcl"]].concat();
    assert!(findings(&lab.run(&all).exits(1)).contains(&differ));
    // Without its own exemption the stricter of two lines is shown once.
    lab.write(FILE, shared);
    lab.write("company.hcl", shared);
    let twice = lab.run(&with).exits(1);
    assert_eq!(
        twice.stdout.matches("error[version-not-allowed]").count(),
        1
    );
    for text in ["", "policy {\n  prerelease = \"refuse\"\n}\n"] {
        lab.write("company.hcl", text);
        lab.run(&with).exits(2);
    }
    lab.run(&[&verify[..], &["--policy", "nowhere.hcl"]].concat())
        .exits(2);
    lab.run(&[&verify[..], &["--policy", "https://a.example/policy.hcl"]].concat())
        .exits(2)
        .stderr_has("a URL needs the digest of its document");
}

#[test]
fn a_policy_at_a_url_is_the_one_that_is_named() {
    let mut lab = locked_under("prereleases = \"accept\"");
    lab.hurry = 100;
    let server = AttestationApi::start();
    let shared = "policy {\n  prereleases = \"refuse\"\n}\n";
    let huge = format!("{shared}{}", "# \n".repeat(100_000));
    let digest = |text: &str| hex::encode(Sha256::digest(text));
    let verify = |path: &str, text: &str| {
        let policy = format!("{}{path}@sha256:{}", server.url, digest(text));
        lab.run(&["verify", "--only", "policy", "--policy", &policy])
    };
    for (path, answer) in [
        ("/good", Answer::Status(200, "", shared.to_owned())),
        (
            "/other",
            Answer::Status(200, "", shared.replace("refuse", "accept")),
        ),
        (
            "/moved",
            Answer::Status(302, "Location: /good\r\n", String::new()),
        ),
        (
            "/circle",
            Answer::Status(302, "Location: /circle\r\n", String::new()),
        ),
        ("/huge", Answer::Status(200, "", huge.clone())),
        ("/gone", Answer::Status(404, "", String::new())),
        ("/closed", Answer::Nothing),
        ("/silent", Answer::Silence),
    ] {
        server.set_path(path, answer);
    }
    let refused = verify("/good", shared).exits(1);
    refused.stdout_has("error[version-not-allowed]: other.example/t/y 2.0.0-beta1");
    verify("/moved", shared)
        .exits(1)
        .stdout_has("version-not-allowed");
    let other = verify("/other", shared).exits(2);
    other.stderr_has("its SHA-256 is ");
    other.stderr_has("write the new digest only if it is meant");
    // What is too long, or does not come, is no policy, whatever its digest.
    verify("/huge", &huge)
        .exits(2)
        .stderr_has("sends more than");
    verify("/circle", shared).exits(2).stderr_has("redirect");
    verify("/gone", shared).exits(2).stderr_has("404");
    verify("/closed", shared)
        .exits(2)
        .stderr_has("could not be fetched");
    verify("/silent", shared)
        .exits(2)
        .stderr_has("could not be fetched");
    let upper = format!(
        "{}/good@sha256:{}",
        server.url,
        digest(shared).to_uppercase()
    );
    lab.run(&["verify", "--only", "policy", "--policy", &upper])
        .exits(1);
    let offline = ["verify", "--offline", "--policy", &upper];
    lab.run(&offline).exits(2).stderr_has("--offline");
}

#[test]
fn what_is_denied_is_not_converted() {
    let (_registry, lab) = with_registry(DEMO);
    let lock = [&["lock", "--platform", "linux_amd64"], &FLAVOR[..]].concat();
    lab.run(&lock).exits(0);
    let before = lab.read(LOCK);
    let convert = ["convert", "--to", "opentofu", "--platform", "linux_amd64"];
    for (policy, rule) in [
        ("deny = [\"acme/*\"]", "provider-not-allowed"),
        ("deny = [\"acme/demo < 2\"]", "version-not-allowed"),
        (
            "hosts = [\"registry.terraform.io\"]",
            "provider-not-allowed",
        ),
    ] {
        lab.write(FILE, format!("policy {{\n  {policy}\n}}\n"));
        lab.run(&convert)
            .exits(1)
            .stderr_has(format!("error[{rule}]"));
        assert_eq!(lab.read(LOCK), before, "{policy}");
    }
    lab.write(FILE, "policy {\n  deny = [\"acme/other\"]\n}\n");
    lab.run(&convert).exits(0);
}
