//! The recipes of `lockctl explain ci`: their commands are run as they stand there, and what they name exists.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use lockctl::guide::TOPICS;
use lockctl::report::page::{PagePart, parts};
use regex::Regex;
use serde_json::Value;

use crate::repo::Repo;
use crate::texts::Text as _;

const LOCK: &str = ".terraform.lock.hcl";

/// A block of code, with the heading that it stands below.
struct Block {
    heading: &'static str,
    language: &'static str,
    lines: Vec<&'static str>,
}

fn blocks() -> Vec<Block> {
    let topic = TOPICS.iter().find(|topic| topic.name == "ci").unwrap();
    let mut heading = "";
    let mut blocks = Vec::new();
    for part in parts(topic.page) {
        match part {
            PagePart::Heading(text) => heading = text,
            PagePart::Code {
                language, lines, ..
            } => blocks.push(Block {
                heading,
                language,
                lines,
            }),
            _ => {}
        }
    }
    blocks
}

impl Block {
    fn json(&self) -> Value {
        serde_json::from_str(&self.lines.join("\n")).unwrap()
    }

    /// The commands of a block, each for a shell.
    fn commands(&self) -> Vec<String> {
        if self.language == "json" {
            let tasks = &self.json()["packageRules"][0]["postUpgradeTasks"]["commands"];
            let tasks = tasks.as_array().cloned().unwrap_or_default();
            return tasks
                .iter()
                .map(|command| command.as_str().unwrap().to_owned())
                .collect();
        }
        self.lines
            .iter()
            .map(|line| line.trim().trim_start_matches("- "))
            .map(|line| line.strip_prefix("run: ").unwrap_or(line))
            .filter(|line| line.starts_with("lockctl "))
            .map(str::to_owned)
            .collect()
    }
}

impl Block {
    /// The lines that a job of GitLab runs in one shell.
    fn script(&self) -> Vec<&str> {
        self.lines
            .iter()
            .skip_while(|line| line.trim() != "script:")
            .skip(1)
            .map_while(|line| line.trim().strip_prefix("- "))
            .collect()
    }
}

/// A checkout of a branch whose lock file is complete, and that differs from `origin/main`.
struct Checkout {
    repo: Repo,
    origin: tempfile::TempDir,
    base: String,
    home: PathBuf,
}

impl Checkout {
    fn new() -> Option<Self> {
        let repo = Repo::new()?;
        crate::copy::copy_quickstart(repo.path());
        let home = repo.path().join(".git/home");
        std::fs::create_dir(&home).unwrap();
        let project = "platforms = [\"linux_amd64\", \"darwin_arm64\"]\n\
            flavor = \"terraform\"\npackages {\n  fs_mirror = \"mirror\"\n}\n";
        repo.write(".lockctl.hcl", project);
        let origin = crate::temp::dir();
        let mut checkout = Self {
            repo,
            origin,
            base: String::new(),
            home,
        };
        checkout.succeeds("lockctl lock");
        checkout.base = checkout.repo.commit("base");
        let url = checkout.origin.path().to_str().unwrap();
        checkout.repo.git(&["clone", "--quiet", "--bare", ".", url]);
        checkout.repo.git(&["remote", "add", "origin", url]);
        checkout.repo.git(&["fetch", "--quiet", "origin"]);
        checkout
            .repo
            .write("more.tf", "locals {}\n")
            .commit("change");
        Some(checkout)
    }

    /// Runs a command as a system for CI does: by a shell, with its variables.
    fn run(&self, command: &str) -> (Option<i32>, String) {
        let program = Path::new(env!("CARGO_BIN_EXE_lockctl")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        let ended = Command::new("sh")
            .args(["-c", command])
            .current_dir(self.repo.path())
            .env_clear()
            .env("PATH", format!("{}:{path}", program.display()))
            .env("HOME", &self.home)
            .env("CI_MERGE_REQUEST_DIFF_BASE_SHA", &self.base)
            .env("DEFAULT_BRANCH", "main")
            .env("DIGGER_OUT", self.home.join("digger-out"))
            .output()
            .unwrap();
        let output = [ended.stdout, ended.stderr].concat();
        (ended.status.code(), String::from_utf8(output).unwrap())
    }

    #[track_caller]
    fn succeeds(&self, command: &str) {
        let (code, output) = self.run(command);
        assert_eq!(code, Some(0), "{command}: {output}");
    }

    /// Does to the lock file what a bot does that knows one platform: moves a version, and records one hash.
    fn bot_update(&self) {
        let main = std::fs::read_to_string(self.repo.path().join("main.tf")).unwrap();
        self.repo.write("main.tf", main.replace("~> 1.1", "~> 2.0"));
        self.succeeds("lockctl update --platform linux_amd64 example.com/acme/greeter@2.0.0");
        self.repo.commit("update of a bot");
    }

    fn file(&self, below: &str) -> String {
        std::fs::read_to_string(self.repo.path().join(below)).unwrap()
    }
}

#[test]
fn every_system_has_a_recipe_whose_commands_run() {
    let Some(checkout) = Checkout::new() else {
        return;
    };
    let mut commands: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for block in blocks() {
        // The program that judges is not part of this.
        let found = block.commands().into_iter();
        let found = found.map(|text| text.split(" | conftest").next().unwrap().to_owned());
        commands.entry(block.heading).or_default().extend(found);
    }
    for heading in [
        "Only what changed",
        "Renovate",
        "GitLab",
        "Atlantis",
        "Spacelift",
        "Digger",
        "Policies in Rego",
    ] {
        assert!(!commands[heading].is_empty(), "{heading}");
    }
    let all = || commands.values().flatten();
    all().for_each(|command| checkout.succeeds(command));
    let junit = checkout.file("lockctl.xml");
    assert!(junit.starts_with("<?xml"), "{junit}");
    let comment = checkout.file(".git/home/digger-out");
    assert_eq!(comment.trim_end(), "nothing changed");
    let custom = checkout.file("lockctl.custom.spacelift.json");
    let custom: Value = serde_json::from_str(&custom).unwrap();
    assert_eq!(custom["summary"]["failed"], 0);

    // What verifies fails as soon as a wanted platform is missing.
    checkout.bot_update();
    for command in all().filter(|command| command.starts_with("lockctl verify")) {
        let wanted = if command.contains(" || ") { 0 } else { 1 };
        let (code, output) = checkout.run(command);
        assert_eq!(code, Some(wanted), "{command}: {output}");
    }

    // A job of GitLab ends with the failure, and has compared all the same.
    let job = blocks().into_iter().find(|block| block.heading == "GitLab");
    let script = job.unwrap().script().join("\n");
    let (code, output) = checkout.run(&format!("set -e\n{script}"));
    assert_eq!(code, Some(1), "{output}");
    output.has("upgraded (major)");
    checkout.succeeds("lockctl lock -r");
    checkout.succeeds(&format!("set -e\n{script}"));
}

#[test]
fn lock_completes_the_update_of_a_bot() {
    let Some(checkout) = Checkout::new() else {
        return;
    };
    checkout.bot_update();
    let incomplete = checkout.file(LOCK);
    let renovate: Vec<Block> = blocks()
        .into_iter()
        .filter(|block| block.heading == "Renovate")
        .collect();
    let rule = &renovate[0].json()["packageRules"][0]["postUpgradeTasks"];
    let command = rule["commands"][0].as_str().unwrap();
    let allowed = renovate[1].json()["allowedCommands"][0].clone();
    let allowed = Regex::new(allowed.as_str().unwrap()).unwrap();
    assert!(allowed.is_match(command) && !allowed.is_match("lockctl lock -r; id"));
    checkout.succeeds(command);
    let complete = checkout.file(LOCK);
    assert!(incomplete.contains("\"2.0.0\"") && complete.contains("\"2.0.0\""));
    let hashes = |lock: &str| lock.matches("\"h1:").count();
    assert_eq!((hashes(&incomplete), hashes(&complete)), (3, 4));
    checkout.succeeds("lockctl verify -r");

    // The files that Renovate commits.
    let filter = rule["fileFilters"][0].as_str().unwrap();
    let filter = globset::Glob::new(filter).unwrap().compile_matcher();
    assert!(filter.is_match(LOCK) && filter.is_match(format!("live/prod/{LOCK}")));
    // The author whose commits Renovate overwrites is the one that the Action commits as.
    let author = renovate[2].json()["gitIgnoredAuthors"][0].clone();
    let push = include_str!("../../.github/actions/lock/push.sh");
    assert!(push.contains(&format!("user.email='{}'", author.as_str().unwrap())));

    // A bot that moved the constraint only is told what to run.
    checkout
        .repo
        .git(&["checkout", "--quiet", &checkout.base, "--", LOCK]);
    let (code, output) = checkout.run(command);
    assert_eq!(code, Some(2), "{output}");
    output.has("run `lockctl update ");
}

/// The workflow below `Dependabot`: the scripts of the Action, with the inputs that stand there.
#[test]
fn the_action_completes_the_branch_of_a_bot() {
    if Command::new("bash").arg("--version").output().is_err() {
        println!("skipped: there is no bash");
        return;
    }
    let Some(checkout) = Checkout::new() else {
        return;
    };
    checkout.bot_update();
    let branch = "dependabot/terraform/greeter-2.0.0";
    let to_branch = format!("HEAD:refs/heads/{branch}");
    checkout
        .repo
        .git(&["push", "--quiet", "origin", &to_branch]);
    let head = checkout.repo.git(&["rev-parse", "HEAD"]);
    let origin = checkout.origin.path();
    let server = format!("file://{}", origin.parent().unwrap().display());
    let repository = origin.file_name().unwrap().to_str().unwrap();
    for script in ["lock.sh", "push.sh"] {
        let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/.github/actions/lock");
        let ended = Command::new("bash")
            .arg(format!("{dir}/{script}"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", &checkout.home)
            .env("GITHUB_WORKSPACE", checkout.repo.path())
            .env("LOCKCTL_CACHE_DIR", checkout.home.join("facts"))
            .envs([
                ("GITHUB_SERVER_URL", &*server),
                ("GITHUB_REPOSITORY", repository),
                ("GITHUB_EVENT_NAME", "pull_request"),
                ("GITHUB_REF", "refs/pull/7/merge"),
                ("LOCKCTL", env!("CARGO_BIN_EXE_lockctl")),
                ("LOCKCTL_ROOTS", "."),
                ("LOCKCTL_RECURSIVE", "true"),
                ("LOCKCTL_PLATFORMS", ""),
                ("LOCKCTL_CHECK", "false"),
                ("LOCKCTL_FACTS", ""),
                ("LOCKCTL_CACHED", ""),
                ("LOCKCTL_PROJECT_FILE", ".lockctl.hcl"),
                ("LOCKCTL_TOKEN", "job-token"),
                ("LOCKCTL_BASE", &checkout.base),
                ("LOCKCTL_HEAD", head.trim()),
                ("LOCKCTL_HEAD_BRANCH", branch),
                ("LOCKCTL_HEAD_REPOSITORY", repository),
            ])
            .output()
            .unwrap();
        assert!(ended.status.success(), "{script}: {ended:?}");
    }
    checkout.repo.git(&["fetch", "--quiet", "origin", branch]);
    let changed = ["diff", "--name-only", head.trim(), "FETCH_HEAD"];
    assert_eq!(checkout.repo.git(&changed), format!("{LOCK}\n"));
    let pushed = checkout.repo.git(&["show", &format!("FETCH_HEAD:{LOCK}")]);
    assert_eq!(pushed.matches("\"h1:").count(), 4, "{pushed}");
}

#[test]
fn the_policy_reads_fields_that_verify_prints() {
    let Some(checkout) = Checkout::new() else {
        return;
    };
    let blocks = blocks();
    let of = |language: &str| {
        let mut found = blocks
            .iter()
            .filter(|block| block.heading == "Policies in Rego" && block.language == language);
        found.next().unwrap()
    };
    let policy = of("rego").lines.join("\n");
    checkout.bot_update();
    let command = of("sh").commands().remove(0);
    let (json, conftest) = command.split_once(" | ").unwrap();
    let (code, output) = checkout.run(json);
    assert_eq!(code, Some(1), "{output}");
    let report: Value = serde_json::from_str(&output).unwrap();
    let root = &report["roots"][0];
    for (name, value) in [
        ("input", &report),
        ("root", root),
        ("finding", &root["findings"][0]),
    ] {
        let field = Regex::new(&format!(r"\b{name}\.(\w+)")).unwrap();
        let mut fields = 0;
        for found in field.captures_iter(&policy) {
            assert!(!value[&found[1]].is_null(), "{}", &found[0]);
            fields += 1;
        }
        assert!(fields > 0, "{name}");
    }
    if Command::new("conftest").arg("--version").output().is_err() {
        println!("skipped: there is no conftest");
        return;
    }
    checkout.repo.write("policy/lockctl.rego", &policy);
    let piped = format!("{json} | {conftest}");
    let (code, output) = checkout.run(&piped);
    assert_eq!(code, Some(1), "{output}");
    output.has("(platforms-incomplete)");
    checkout.succeeds("lockctl lock -r");
    checkout.succeeds(&piped);
    let (_, output) = checkout.run(
        "lockctl verify missing --format json | conftest test --parser json --policy policy -",
    );
    output.has("could not check everything");
}

#[test]
fn recipes_give_actions_and_hooks_what_they_take() {
    let uses = Regex::new(r"uses: OWNER/lockctl(\S*)@REVISION").unwrap();
    let mut actions = Vec::new();
    let mut hooks = 0;
    for block in blocks() {
        let mut inputs: Option<(String, String)> = None;
        for line in &block.lines {
            if let Some(found) = uses.captures(line) {
                let file = format!("{}{}/action.yml", env!("CARGO_MANIFEST_DIR"), &found[1]);
                actions.push(found[1].to_owned());
                inputs = Some((found[1].to_owned(), std::fs::read_to_string(file).unwrap()));
                continue;
            }
            if block.heading == "pre-commit"
                && let Some(id) = line.trim().strip_prefix("- id: ")
            {
                let hook = format!("\n- id: {id}\n");
                assert!(include_str!("../../.pre-commit-hooks.yaml").contains(&hook));
                hooks += 1;
            }
            let (Some((action, text)), Some((name, _))) = (&inputs, line.trim().split_once(": "))
            else {
                continue;
            };
            assert!(text.contains(&format!("\n  {name}:\n")), "{action}: {name}");
        }
    }
    actions.sort_unstable();
    actions.dedup();
    let below = "/.github/actions/";
    assert_eq!(
        actions,
        [
            String::new(),
            format!("{below}diff"),
            format!("{below}lock")
        ]
    );
    assert_eq!(hooks, 2);
}
