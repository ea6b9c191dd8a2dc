//! Attestations of builds: asked of an API on loopback, kept, remembered, and compared.

use std::collections::BTreeMap;

use serde_json::Value;

use super::advised_scenes::{Stage, asking};
use super::builds::{self, CLEAN};
use super::*;
use crate::attestations::{Answer, AttestationApi, Authority, Stated};
use crate::registry::{Registry, TestKey};
use crate::repo::Repo;

const REPOSITORY: &str = "acme/terraform-provider-lab";

const STATED: Stated<'_> = Stated {
    repository: "github.com/acme/terraform-provider-lab",
    commit: "0123456789abcdef",
    git_ref: "refs/tags/v1.0.0",
    issuer: "https://token.actions.githubusercontent.com",
    predicate: "https://slsa.dev/provenance/v1",
    until: 2034,
};

/// A root whose provider is built for two platforms and attested.
struct Attested {
    registry: Registry,
    lab: Lab,
    api: AttestationApi,
    authority: Authority,
}

impl Attested {
    fn new() -> Self {
        // The second release has the packages of the first.
        let other = &CLEAN.replace("0123456789abcdef", "fedcba9876543210");
        let releases = [
            ("1.0.0", [CLEAN, CLEAN]),
            ("1.1.0", [CLEAN, CLEAN]),
            ("1.2.0", [other, other]),
        ];
        let (registry, mut lab) = builds::locked(&releases, "1.0.0");
        let (api, authority) = (AttestationApi::start(), Authority::new());
        lab.set("GITHUB_API_URL", api.url.clone());
        lab.write("roots.json", authority.roots());
        lab.write(
            ".lockctl.hcl",
            "platforms = [\"linux_amd64\", \"darwin_arm64\"]\n\ntrust {\n  attestation_roots = \"roots.json\"\n}\n",
        );
        let attested = Self {
            registry,
            lab,
            api,
            authority,
        };
        attested.attest(&STATED);
        attested
    }

    /// Returns the SHA-256 of the locked packages.
    fn digests(&self) -> Vec<String> {
        let text = self.lab.read(LOCK);
        let zh = text.split("\"zh:").skip(1);
        zh.map(|rest| rest[..64].to_owned()).collect()
    }

    /// Attests all locked packages at once, as the action of GitHub does.
    fn attest(&self, stated: &Stated<'_>) {
        let digests = self.digests();
        let names: Vec<&str> = digests.iter().map(|digest| &**digest).collect();
        let bundle = self.authority.bundle(stated, &names);
        for digest in &digests {
            self.api
                .set(REPOSITORY, digest, Answer::Bundles(vec![bundle.clone()]));
        }
    }

    fn stop_attesting(&self) {
        builds::update(&self.lab, "1.2.0");
    }

    /// Locks the release that has the packages, and so the attestation, of the one before.
    fn replay(&self) {
        builds::update(&self.lab, "1.1.0");
    }

    fn run(&self, command: &str) -> Outcome {
        let args: Vec<&str> = command.split(' ').collect();
        self.lab
            .run(&[&args[..], &["--flavor", "terraform@1.11"]].concat())
    }

    /// Returns the rules about attestations that `verify` reports.
    fn rules(&self, command: &str) -> Vec<String> {
        let outcome = self.run(&format!("{command} --format json"));
        let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let findings = json["roots"][0]["findings"].as_array().unwrap().iter();
        let rules = findings.map(|finding| finding["rule"].as_str().unwrap().to_owned());
        rules
            .filter(|rule| rule.starts_with("provenance"))
            .collect()
    }
}

/// A release that the repository which is remembered does not attest.
pub(super) fn lost() -> Stage {
    let root = Attested::new();
    root.run("lock --provenance").exits(0);
    root.run("trust").exits(0);
    root.stop_attesting();
    asking((root.registry, root.lab), UPSTREAM)
}

/// A release with the packages, and so the attestation, of an older one.
pub(super) fn replayed() -> Stage {
    let root = Attested::new();
    root.replay();
    asking((root.registry, root.lab), UPSTREAM)
}

const UPSTREAM: &str = "verify --upstream --provenance";

#[test]
fn builds_are_asked_for_once_and_kept() {
    let root = Attested::new();
    let lock = root.run("lock --provenance -v").exits(0);
    lock.stderr_has("note: 1 of 1 release attested: that shows where packages were built");
    lock.stderr_has(
        "acme/lab 1.0.0: 2 packages built in github.com/acme/terraform-provider-lab, named by its program, by \
         .github/workflows/release.yml at refs/tags/v1.0.0 (0123456789ab)",
    );
    // One statement names both packages.
    let asked = root.api.requests();
    assert_eq!(asked.len(), 1, "{asked:?}");
    root.run("lock --provenance").exits(0);
    root.run(UPSTREAM).exits(0);
    assert!(root.api.requests().is_empty());
    root.run("trust").exits(0).stdout_has("ATTESTED BY");
    root.lab
        .read(".lockctl.hcl")
        .has("provenance = \"github.com/acme/terraform-provider-lab\"");
    let before = root.lab.read(".lockctl.hcl");
    root.run("trust").exits(0);
    assert_eq!(root.lab.read(".lockctl.hcl"), before);
    root.run("verify --only policy").exits(0);
    root.run(&format!("{UPSTREAM} -v"))
        .exits(0)
        .stderr_has("named by the project file");
}

#[test]
fn show_compares_the_commit_with_that_of_the_program() {
    for (commit, wanted) in [
        ("0123456789abcdef", "same commit"),
        ("0123456", "other commit"),
    ] {
        let root = Attested::new();
        root.attest(&Stated { commit, ..STATED });
        root.run("show --build").exits(0).stdout_lacks(wanted);
        root.run("lock --provenance").exits(0);
        root.run("show --build").exits(0).stdout_has(wanted);
        let json: Value =
            serde_json::from_str(&root.run("show --build --format json").stdout).unwrap();
        let build = &json["roots"][0]["providers"][0]["build"];
        assert_eq!(build["attested_commit"], wanted == "same commit", "{build}");
        assert_eq!(build["packages"][0]["attested"]["commit"], commit);
        let verbose = root.run("show --build -v");
        verbose.stdout_has(format!(
            "attested  github.com/acme/terraform-provider-lab  {commit}  refs/tags/v1.0.0"
        ));
    }
}

#[test]
fn a_lost_attestation_is_a_step_down_until_it_is_accepted() {
    let root = Attested::new();
    root.run("lock --provenance").exits(0);
    root.run("trust").exits(0);
    let old = root.lab.read(LOCK);
    root.stop_attesting();
    // Whoever does not ask, does not know.
    assert!(root.rules("verify --only policy").is_empty());
    let lock = root.run("lock --provenance").exits(0);
    lock.stderr_has("acme/lab 1.2.0 is locked with 2 packages that github.com/acme/terraform-provider-lab does not attest any more");
    assert_eq!(root.rules("verify --only policy"), ["provenance-lost"]);
    assert_eq!(root.rules(UPSTREAM), ["provenance-lost"]);
    root.run("verify --only policy --format sarif")
        .stdout_has("provenance-lost");
    root.lab.write("old.hcl", old);
    let diff = root
        .run("diff old.hcl .terraform.lock.hcl --fail-on danger")
        .exits(1);
    diff.stdout_has("does not attest any more");
    root.run("trust").exits(1);
    let accept = [
        "trust",
        "--update",
        "acme/lab",
        "--reason",
        "built by hand",
        "--flavor",
        "terraform@1.11",
    ];
    root.lab.run(&accept).exits(0);
    assert!(!root.lab.read(".lockctl.hcl").contains("provenance"));
    assert!(root.rules("verify --only policy").is_empty());
}

#[test]
fn the_repository_that_is_remembered_is_the_only_one_that_counts() {
    let root = Attested::new();
    root.run("lock").exits(0);
    let file = root.lab.read(".lockctl.hcl");
    let remember = |repository: &str| {
        let block = format!(
            "trust {{\n  provider \"acme/lab\" {{\n    provenance = \"{repository}\"\n  }}\n"
        );
        root.lab
            .write(".lockctl.hcl", file.replace("trust {\n", &block));
    };
    remember("github.com/ACME/terraform-provider-lab");
    root.api.requests();
    root.run(UPSTREAM).exits(0);
    // The attestation of another repository is not asked for, whatever the program says.
    remember("github.com/acme/other");
    assert_eq!(root.rules(UPSTREAM), ["provenance-lost"]);
    let asked = root.api.requests();
    assert!(
        asked.iter().any(|path| path.contains("/acme/other/")),
        "{asked:?}"
    );
    // It is none of this server, so nothing is asked.
    remember("git.example/acme/lab");
    root.run(&format!("{UPSTREAM} -v"))
        .exits(1)
        .stderr_has("no repository on github.com is named for it");
    assert!(root.api.requests().is_empty());
}

#[test]
fn attestations_that_do_not_hold_count_as_none() {
    let root = Attested::new();
    for (stated, wanted) in [
        (
            Stated {
                until: 2025,
                ..STATED
            },
            "is not valid",
        ),
        (
            Stated {
                repository: "github.com/mallory/terraform-provider-lab",
                ..STATED
            },
            "is from github.com/mallory/",
        ),
        (
            Stated {
                git_ref: "refs/tags/v0.9.0",
                ..STATED
            },
            "is of the version 0.9.0",
        ),
        (
            Stated {
                issuer: "https://gitlab.com",
                ..STATED
            },
            "no workflow of the host",
        ),
    ] {
        root.attest(&stated);
        let verify = root.run(UPSTREAM).exits(1);
        verify.stdout_has("warning[provenance-invalid]");
        verify.stdout_has(wanted);
    }
    // A list of components is no build, and no fault either.
    root.attest(&Stated {
        predicate: "https://spdx.dev/Document",
        ..STATED
    });
    assert!(root.rules(UPSTREAM).is_empty());
    // The packages, and so the attestation, of an older release.
    root.attest(&STATED);
    root.replay();
    assert_eq!(root.rules(UPSTREAM), ["provenance-invalid"]);
    root.run("lock --provenance")
        .exits(0)
        .stderr_has("counts as not attested: its attestation is of the version 1.0.0");
}

#[test]
fn an_api_that_gives_no_answer_is_a_failure() {
    for (answer, wanted) in [
        (
            Answer::Status(403, "X-RateLimit-Remaining: 0\r\n", "{}".to_owned()),
            "set GITHUB_TOKEN or GH_TOKEN",
        ),
        (
            Answer::Status(429, "", "{}".to_owned()),
            "its limit is reached",
        ),
        (Answer::Status(403, "", "{}".to_owned()), "403"),
        (Answer::Status(401, "", "{}".to_owned()), "401"),
        (
            Answer::Status(200, "", "x".repeat(5 << 20)),
            "sends more than 2097152 bytes",
        ),
        (Answer::Status(200, "", "<html>".to_owned()), "web page"),
        (Answer::Status(200, "", "{}".to_owned()), "cannot be read"),
        (Answer::Nothing, "could not be fetched"),
    ] {
        let root = Attested::new();
        for digest in root.digests() {
            root.api.set(REPOSITORY, &digest, answer.clone());
        }
        let verify = root.run(UPSTREAM).exits(2);
        assert!(
            verify.stderr.contains(wanted),
            "{wanted}: {}",
            verify.stderr
        );
        // That nothing was answered is not that nothing is attested.
        verify.stderr_has("1 release could not be asked about");
        assert!(!verify.stderr.contains("0 of 1"), "{}", verify.stderr);
        // The lock file does not depend on it.
        root.run("lock --provenance")
            .exits(0)
            .stderr_has("warning: ");
    }
    // An empty list, and no such repository.
    for answer in [
        Answer::Bundles(Vec::new()),
        Answer::Status(404, "", String::new()),
    ] {
        let root = Attested::new();
        for digest in root.digests() {
            root.api.set(REPOSITORY, &digest, answer.clone());
        }
        root.run(UPSTREAM)
            .exits(0)
            .stderr_has("0 of 1 release attested");
        // That a publisher attests nothing is seen by one request.
        assert_eq!(root.api.requests().len(), 1);
    }
}

#[test]
fn few_requests_are_made_without_a_token_and_the_token_goes_to_the_api() {
    let mut root = Attested::new();
    let file = root.lab.read(".lockctl.hcl");
    let block = "trust {\n  provider \"acme/lab\" {\n    provenance = \"github.com/acme/terraform-provider-lab\"\n  }\n";
    root.lab
        .write(".lockctl.hcl", file.replace("trust {\n", block));
    let many: String = (10..60)
        .map(|n| format!("    \"zh:{}\",\n", n.to_string().repeat(32)))
        .collect();
    let text = root
        .lab
        .read(LOCK)
        .replace("hashes = [\n", &format!("hashes = [\n{many}"));
    root.lab.write(LOCK, text);
    let verify = root.run(UPSTREAM).exits(2);
    verify.stderr_has("attestations were asked for 30 times, and no more");
    assert_eq!(root.api.requests().len(), 30);
    root.lab.set("GH_TOKEN", "secret-1234");
    let verify = root.run(UPSTREAM);
    let asked = root.api.requests();
    assert!(
        asked.len() >= 50 && asked[0].starts_with("Bearer secret-1234 "),
        "{asked:?}"
    );
    assert!(!format!("{}{}", verify.stdout, verify.stderr).contains("secret"));
    root.api.set_other(Answer::Nothing);
}

#[test]
fn what_cannot_work_is_said_first() {
    let root = Attested::new();
    root.run("verify --provenance")
        .exits(2)
        .stderr_has("--upstream");
    root.run("lock --provenance --offline")
        .exits(2)
        .stderr_has("--provenance");
    root.lab.write("roots.json", "{}");
    let unusable = "roots.json cannot be used for attestations";
    root.run(UPSTREAM).exits(2).stderr_has(unusable);
    root.run("lock --provenance").exits(2).stderr_has(unusable);
}

/// Counts the findings of the memory and of attestations by their rules, over all roots.
fn counts(outcome: &Outcome) -> BTreeMap<String, usize> {
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let mut counts = BTreeMap::new();
    for root in json["roots"].as_array().unwrap() {
        for finding in root["findings"].as_array().unwrap() {
            let rule = finding["rule"].as_str().unwrap();
            if STEPS.contains(&rule) || rule.starts_with("provenance") {
                *counts.entry(rule.to_owned()).or_default() += 1;
            }
        }
    }
    counts
}

const STEPS: [&str; 4] = [
    "key-changed",
    "origin-changed",
    "provenance-lost",
    "zh-lost",
];

pub(super) const ROOTS: usize = 200;

/// Puts the lock file into each of many roots.
pub(super) fn spread(lab: &Lab) {
    let (lock, config) = (lab.read(LOCK), lab.read("main.tf"));
    for root in 0..ROOTS {
        lab.write(&format!("r{root:03}/{LOCK}"), &lock);
        lab.write(&format!("r{root:03}/main.tf"), &config);
    }
    for file in [LOCK, "main.tf"] {
        std::fs::remove_file(lab.path(file)).unwrap();
    }
}

#[test]
fn every_step_down_is_found_offline_upstream_and_at_a_revision() {
    let root = Attested::new();
    root.run("lock --provenance").exits(0);
    root.run("trust").exits(0);
    spread(&root.lab);
    let sound = root.lab.read(".lockctl.hcl");
    let wrong = sound
        .replace(&TestKey::Main.fingerprint(), &"0".repeat(40))
        .replace(
            "github.com/acme/terraform-provider-lab",
            "github.com/acme/other",
        )
        .replace("zh         = 2", "zh         = 9");
    let Attested {
        registry: _registry,
        lab,
        api: _api,
        ..
    } = root;
    let Some(repo) = Repo::of(lab) else { return };
    let run = |command: &str, more: &[&str]| {
        let args: Vec<&str> = command.split(' ').collect();
        repo.run(&[&args[..], &["--flavor", "terraform@1.11"], more].concat())
    };
    repo.write(".lockctl.hcl", &wrong);
    let base = repo.commit("base");
    for command in [
        "verify -r --only policy",
        "verify -r --upstream --provenance",
    ] {
        repo.write(".lockctl.hcl", &wrong);
        let json = run(command, &["--format", "json"]).exits(1);
        let every: BTreeMap<_, _> = STEPS.map(|rule| (rule.to_owned(), ROOTS)).into();
        assert_eq!(counts(&json), every, "{command}");
        let text = run(command, &[]);
        let sarif = run(command, &["--format", "sarif"]);
        for rule in STEPS {
            text.stdout_has(rule);
            sarif.stdout_has(format!("\"ruleId\": \"{rule}\""));
        }
        let lines = text.stdout.lines().count() + text.stderr.lines().count();
        assert!(lines <= 60, "{lines} lines: {}{}", text.stdout, text.stderr);
        // A branch that writes another memory changes nothing.
        repo.write(".lockctl.hcl", &sound);
        let json = run(command, &["--format", "json"]);
        assert_eq!(counts(&json), BTreeMap::new(), "{command}");
        let json = run(command, &["--format", "json", "--config-at", &base]).exits(1);
        assert_eq!(counts(&json), every, "{command}");
    }
}

#[test]
fn attestations_of_many_roots_that_do_not_hold_fit_on_a_screen() {
    let root = Attested::new();
    root.attest(&Stated {
        repository: "github.com/mallory/terraform-provider-lab",
        ..STATED
    });
    spread(&root.lab);
    let command = "verify -r --upstream --provenance";
    let json = root.run(&format!("{command} --format json")).exits(1);
    assert_eq!(
        counts(&json),
        [("provenance-invalid".to_owned(), ROOTS)].into()
    );
    root.run(&format!("{command} --format sarif"))
        .stdout_has("\"ruleId\": \"provenance-invalid\"");
    let text = root.run(command).exits(1);
    let lines = text.stdout.lines().count() + text.stderr.lines().count();
    assert!(lines <= 60, "{lines} lines: {}{}", text.stdout, text.stderr);
}
