//! The Action `diff` and the upload of findings, against a stand-in for the API of GitHub.
#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use crate::github_api::{BOT, Comment, GitHubApi, State, TOKEN};
use crate::repo::Repo;
use crate::texts::Text as _;

const ACTIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/.github/actions");
const MARKER: &str = "<!-- lockctl diff -->";
const BEFORE: &str = include_str!("../../fixtures/review/before.hcl");
const AFTER: &str = include_str!("../../fixtures/review/after.hcl");

/// A pull request of a repository, as its checkout and the API show it.
struct PullRequest {
    repo: Repo,
    api: GitHubApi,
    temp: tempfile::TempDir,
    base: String,
    head: String,
}

/// The end of a run.
struct Run {
    code: Option<i32>,
    output: String,
    summary: String,
}

impl PullRequest {
    /// Makes a branch that replaces the lock file; `None`, which is printed, where a program is missing.
    fn new(before: &str, after: &str) -> Option<Self> {
        for tool in ["bash", "curl", "jq", "gzip", "base64"] {
            if Command::new(tool).arg("--version").output().is_err() {
                println!("skipped: there is no {tool}");
                return None;
            }
        }
        let repo = Repo::new()?;
        repo.write(".terraform.lock.hcl", before);
        let base = repo.commit("base");
        repo.write(".terraform.lock.hcl", after).write("note", "");
        let head = repo.commit("change");
        let api = GitHubApi::start(State {
            head: head.clone(),
            ..State::default()
        });
        let temp = crate::temp::dir();
        Some(Self {
            repo,
            api,
            temp,
            base,
            head,
        })
    }

    /// Runs a script of the Actions in the environment of a runner.
    fn script(&self, script: &str, vars: &[(&str, &str)]) -> Run {
        let summary = self.temp.path().join("summary");
        let _ = std::fs::remove_file(&summary);
        let ended = Command::new("bash")
            .arg(Path::new(ACTIONS).join(script))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("GITHUB_WORKSPACE", self.repo.path())
            .env("GITHUB_STEP_SUMMARY", &summary)
            .env("LOCKCTL", env!("CARGO_BIN_EXE_lockctl"))
            .env("LOCKCTL_SARIF", self.temp.path().join("sarif"))
            .env("LOCKCTL_ROOTS", ".")
            .env("LOCKCTL_RECURSIVE", "true")
            .env("LOCKCTL_PROJECT_FILE", ".lockctl.hcl")
            .env("LOCKCTL_CACHE_DIR", self.temp.path().join("store"))
            .envs([
                ("GITHUB_API_URL", &*self.api.url),
                ("GITHUB_SERVER_URL", "https://github.test"),
                ("GITHUB_REPOSITORY", "owner/repo"),
                ("GITHUB_RUN_ID", "42"),
                ("GITHUB_REF", "refs/pull/7/merge"),
                ("GITHUB_SHA", &self.head),
                ("LOCKCTL_FAIL_ON", ""),
                ("LOCKCTL_COMMENT", "true"),
                ("LOCKCTL_COMMENT_NAME", ""),
                ("LOCKCTL_TOKEN", TOKEN),
                ("LOCKCTL_NUMBER", "7"),
                ("LOCKCTL_HEAD", &self.head),
                ("LOCKCTL_HEAD_REPOSITORY", "owner/repo"),
                ("LOCKCTL_BASE", &self.base),
                ("LOCKCTL_BEFORE", ""),
            ])
            .envs(vars.iter().copied())
            .output()
            .unwrap();
        let output = [ended.stdout, ended.stderr].concat();
        let run = Run {
            code: ended.status.code(),
            output: String::from_utf8(output).unwrap(),
            summary: std::fs::read_to_string(summary).unwrap_or_default(),
        };
        run.output.lacks(TOKEN);
        run
    }

    /// Runs the Action with the exit code that is wanted.
    #[track_caller]
    fn diff(&self, code: i32, vars: &[(&str, &str)]) -> Run {
        let run = self.script("diff/diff.sh", vars);
        assert_eq!(run.code, Some(code), "{}", run.output);
        run
    }

    /// The requests since the last call, without the name of the repository.
    fn requests(&self) -> Vec<String> {
        let requests = std::mem::take(&mut self.api.state().requests);
        requests
            .iter()
            .map(|request| request.replace("/repos/owner/repo/", ""))
            .collect()
    }

    fn bodies(&self) -> Vec<String> {
        let state = self.api.state();
        state
            .comments
            .iter()
            .map(|comment| comment.body.clone())
            .collect()
    }
}

const HEAD: &str = "GET pulls/7";
const LIST: &str = "GET issues/7/comments?per_page=100&page=1";

#[test]
fn one_comment_is_kept_up_to_date() {
    let Some(pull) = PullRequest::new(BEFORE, AFTER) else {
        return;
    };
    let run = pull.diff(0, &[]);
    assert_eq!(run.output, "Created comment 501\n");
    run.summary.has("hashes-replaced");
    assert_eq!(
        pull.requests(),
        [HEAD, LIST, "POST issues/7/comments", LIST]
    );
    let [body] = &pull.bodies()[..] else { panic!() };
    let start = format!("{MARKER}\n### Changes in lock files\n\n**1 provider upgraded");
    assert!(body.starts_with(&start), "{body}");
    let end = format!(
        "\n<sub>`lockctl diff {} {}`, [run](https://github.test/owner/repo/actions/runs/42)</sub>\n",
        &pull.base[..7],
        &pull.head[..7]
    );
    assert!(body.ends_with(&end), "{body}");

    // The next push takes the change back.
    pull.repo.write(".terraform.lock.hcl", BEFORE);
    let head = pull.repo.commit("as before");
    pull.api.state().head.clone_from(&head);
    let now = [("LOCKCTL_HEAD", &*head), ("GITHUB_SHA", &head)];
    assert_eq!(pull.diff(0, &now).output, "Updated comment 501\n");
    assert_eq!(pull.requests(), [HEAD, LIST, "PATCH issues/comments/501"]);
    let [body] = &pull.bodies()[..] else { panic!() };
    let start = format!("{MARKER}\n### Changes in lock files\n\nnothing changed\n");
    assert!(body.starts_with(&start), "{body}");

    // Where there is none, none is needed.
    pull.api.state().comments.clear();
    let run = pull.diff(0, &now);
    assert_eq!(run.output, "No lock file changed: no comment\n");
    assert_eq!(pull.bodies().len(), 0);
}

#[test]
fn a_risk_fails_the_action_and_the_comment_is_written_all_the_same() {
    let Some(pull) = PullRequest::new(BEFORE, AFTER) else {
        return;
    };
    pull.diff(1, &[("LOCKCTL_FAIL_ON", "danger")]);
    assert_eq!(pull.bodies().len(), 1);
    // What could not be compared has no old comment beside it.
    pull.diff(2, &[("LOCKCTL_FAIL_ON", "sometimes")]);
    let [body] = &pull.bodies()[..] else { panic!() };
    body.has("`lockctl diff` failed");
    pull.requests();
    pull.diff(0, &[("LOCKCTL_COMMENT", "false")]);
    assert_eq!(pull.requests().len(), 0);
}

#[test]
fn a_marker_in_the_comment_of_somebody_else_is_not_taken() {
    let Some(pull) = PullRequest::new(BEFORE, AFTER) else {
        return;
    };
    let foreign = [
        Comment::new(1, "stranger", &format!("{MARKER}\nmine")),
        Comment::new(2, "github-actions", &format!("{MARKER}\nmine")),
        // Another job repeats what a stranger wrote.
        Comment::new(3, BOT, &format!("> quoted\n{MARKER}\n")),
        Comment::new(4, BOT, &format!("{MARKER} and more\n")),
        Comment::new(5, BOT, "<!-- lockctl diff prod -->\nof another job"),
        Comment::new(6, "other[bot]", MARKER),
    ];
    let bodies = foreign.clone().map(|comment| comment.body);
    pull.api.state().comments.extend(foreign);
    assert_eq!(pull.diff(0, &[]).output, "Created comment 7\n");
    assert_eq!(pull.diff(0, &[]).output, "Updated comment 7\n");
    assert_eq!(pull.bodies()[..6], bodies);
    let named = [("LOCKCTL_COMMENT_NAME", "prod")];
    assert_eq!(pull.diff(0, &named).output, "Updated comment 5\n");
    let run = pull.diff(2, &[("LOCKCTL_COMMENT_NAME", "a -->")]);
    run.output.has("`comment-name` has letters");
}

#[test]
fn the_comment_is_found_on_a_later_page() {
    let Some(pull) = PullRequest::new(BEFORE, AFTER) else {
        return;
    };
    let comments = (1..=250).map(|id| {
        let body = if id == 230 { MARKER } else { "talk" };
        Comment::new(id, BOT, body)
    });
    pull.api.state().comments.extend(comments);
    assert_eq!(pull.diff(0, &[]).output, "Updated comment 230\n");
    assert_eq!(
        pull.requests().len(),
        5,
        "the head, three pages, one change"
    );
    // Nobody reads for ever, nor writes a second comment.
    let many = (251..=5100).map(|id| Comment::new(id, BOT, "talk"));
    pull.api.state().comments.extend(many);
    let run = pull.diff(0, &[]);
    run.output.has("more than 50 pages");
    assert_eq!(pull.bodies().len(), 5100);
}

#[test]
fn a_fork_has_the_summary_only() {
    let Some(pull) = PullRequest::new(BEFORE, AFTER) else {
        return;
    };
    for head in ["stranger/repo", ""] {
        let run = pull.diff(0, &[("LOCKCTL_HEAD_REPOSITORY", head)]);
        let line = "::notice title=lockctl diff::no comment was written: the pull request comes from a fork, \
            whose runs may not write; the summary of the step has the text\n";
        assert_eq!(run.output, line);
        run.summary.has("hashes-replaced");
    }
    assert_eq!(pull.requests().len(), 0);
}

#[test]
fn a_missing_permission_is_named_and_fails_nothing() {
    let Some(pull) = PullRequest::new(BEFORE, AFTER) else {
        return;
    };
    pull.api.state().refuse_writing = Some(403);
    let run = pull.diff(0, &[]);
    let line = "::warning title=lockctl diff::no comment was written: the token of the job lacks the permission \
        `pull-requests: write` (HTTP 403); the summary of the step has the text\n";
    assert_eq!(run.output, line);
    run.summary.has("hashes-replaced");
    pull.diff(1, &[("LOCKCTL_FAIL_ON", "danger")]);
    let run = pull.diff(0, &[("LOCKCTL_TOKEN", "wrong")]);
    run.output.has("(HTTP 401)");
    pull.api.state().refuse_writing = Some(500);
    assert!(pull.diff(0, &[]).output.contains("written: HTTP 500;"));
    let nobody = [("GITHUB_API_URL", "http://127.0.0.1:9")];
    assert!(pull.diff(0, &nobody).output.contains("there is no answer"));
}

#[test]
fn two_runs_at_once_leave_one_comment() {
    let Some(pull) = PullRequest::new(BEFORE, AFTER) else {
        return;
    };
    let other = Comment::new(400, BOT, &format!("{MARKER}\nof the other run"));
    pull.api.state().overtaken_by = Some(other);
    let run = pull.diff(0, &[]);
    assert_eq!(
        run.output,
        "Created comment 401\nUpdated comment 400 of a run at the same time\n\
         Deleted comment 401, which was one too many (HTTP 204)\n"
    );
    let [body] = &pull.bodies()[..] else { panic!() };
    body.has("hashes-replaced");

    // Whatever the order of their requests.
    for _ in 0..3 {
        pull.api.state().comments.clear();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| pull.diff(0, &[]));
            }
        });
        let [body] = &pull.bodies()[..] else { panic!() };
        body.has("hashes-replaced");
    }

    // A run that is slower than the next push takes nothing back.
    pull.api.state().head = "f".repeat(40);
    pull.api.state().comments[0].body = format!("{MARKER}\nnewer");
    let run = pull.diff(0, &[]);
    run.output.has("has newer commits");
    assert_eq!(pull.bodies(), [format!("{MARKER}\nnewer")]);
}

#[test]
fn changes_of_many_providers_fit_into_a_comment() {
    let provider = |n: usize, version: &str| {
        let hashes: String = (0..3)
            .map(|k| {
                let base64 = format!("{version}{n:04}{k}").replace('.', "x");
                format!("    \"h1:{base64:A<43}=\",\n")
            })
            .collect();
        format!(
            "provider \"example.com/acme/p{n:04}\" {{\n  version = \"{version}\"\n  hashes = [\n{hashes}  ]\n}}\n\n"
        )
    };
    let lock = |version| (0..400).map(|n| provider(n, version)).collect::<String>();
    let Some(pull) = PullRequest::new(&lock("1.0.0"), &lock("1.1.0")) else {
        return;
    };
    assert_eq!(pull.diff(0, &[]).output, "Created comment 501\n");
    let [body] = &pull.bodies()[..] else { panic!() };
    assert!((40_000..=65_536).contains(&body.len()), "{}", body.len());
    body.has(" more (`-v` shows all)\n");
}

#[test]
fn a_text_that_is_too_long_replaces_the_comment_with_a_link() {
    let Some(pull) = PullRequest::new(BEFORE, AFTER) else {
        return;
    };
    let program = pull.temp.path().join("lockctl");
    let script = "#!/bin/sh\nhead -c 65537 /dev/zero | tr '\\0' x\n";
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let earlier = Comment::new(1, BOT, &format!("{MARKER}\nnothing changed"));
    pull.api.state().comments.push(earlier);
    let run = pull.diff(0, &[("LOCKCTL", program.to_str().unwrap())]);
    assert_eq!(run.output, "Updated comment 1\n");
    let [body] = &pull.bodies()[..] else { panic!() };
    let link = "The changes do not fit into a comment: the summary of \
        [this run](https://github.test/owner/repo/actions/runs/42) has them.\n";
    body.has(link);
    assert!(run.summary.len() > 65_536);
}

#[test]
fn a_push_has_a_summary_and_no_comment() {
    let Some(pull) = PullRequest::new(BEFORE, AFTER) else {
        return;
    };
    let pushed = |before: &str| {
        pull.diff(
            0,
            &[
                ("LOCKCTL_BASE", ""),
                ("LOCKCTL_BEFORE", before),
                ("LOCKCTL_NUMBER", ""),
                ("LOCKCTL_HEAD_REPOSITORY", ""),
                ("GITHUB_REF", "refs/heads/main"),
            ],
        )
    };
    assert!(pushed(&pull.base).summary.contains("hashes-replaced"));
    // A new branch, another event, and a revision that a forced push has removed.
    for (before, said) in [
        ("0".repeat(40), "nothing to compare with"),
        (String::new(), "nothing to compare with"),
        ("1".repeat(40), "could not be fetched"),
    ] {
        let run = pushed(&before);
        run.output.has(said);
    }
    assert_eq!(pull.requests().len(), 0);
    let unknown = "1".repeat(40);
    pull.diff(2, &[("LOCKCTL_BASE", &unknown)]);
}

#[test]
fn changes_of_the_base_branch_are_not_those_of_the_pull_request() {
    let Some(pull) = PullRequest::new(BEFORE, BEFORE) else {
        return;
    };
    pull.repo
        .git(&["checkout", "--quiet", "-b", "base", &pull.base]);
    pull.repo
        .write(".terraform.lock.hcl", AFTER)
        .commit("on the base branch");
    pull.repo
        .git(&["merge", "--quiet", "--no-ff", "-m", "merge", &pull.head]);
    let merge = pull.repo.git(&["rev-parse", "HEAD"]);
    let merge = merge.trim();
    let run = pull.diff(0, &[("GITHUB_SHA", merge)]);
    run.summary.has("nothing changed");
    // A merge that somebody else made may claim any parent.
    let run = pull.diff(0, &[]);
    run.summary.has("hashes-replaced");
}

#[test]
fn findings_are_uploaded_to_code_scanning() {
    let Some(pull) = PullRequest::new(BEFORE, AFTER) else {
        return;
    };
    let upload = |vars: &[(&str, &str)]| {
        let run = pull.script("verify/upload.sh", vars);
        assert_eq!(run.code, Some(0), "{}", run.output);
        run.output
    };
    assert!(upload(&[]).contains("lockctl did not run"));
    std::fs::write(pull.temp.path().join("sarif"), "{\"version\": \"2.1.0\"}").unwrap();
    assert_eq!(upload(&[]), "Uploaded the findings to code scanning\n");
    let sent = pull.api.state().uploads.remove(0);
    assert_eq!(sent["commit_sha"], *pull.head);
    assert_eq!(sent["ref"], "refs/pull/7/merge");
    // The first bytes of gzip, in Base64.
    assert!(sent["sarif"].as_str().unwrap().starts_with("H4sI"));
    pull.requests();
    let fork = upload(&[("LOCKCTL_HEAD_REPOSITORY", "stranger/repo")]);
    fork.has("comes from a fork");
    assert_eq!(pull.requests().len(), 0);
    pull.api.state().refuse_writing = Some(403);
    assert!(upload(&[]).contains("permission `security-events: write` (HTTP 403)"));
}

#[test]
fn a_snapshot_of_what_is_locked_is_uploaded() {
    let Some(pull) = PullRequest::new(BEFORE, AFTER) else {
        return;
    };
    let snapshot = |vars: &[(&str, &str)]| {
        let run = pull.script("verify/snapshot.sh", vars);
        assert_eq!(run.code, Some(0), "{}", run.output);
        run.output
    };
    snapshot(&[]).has("Uploaded a snapshot to the dependency graph\n");
    let sent = pull.api.state().snapshots.remove(0);
    assert_eq!(sent["sha"], *pull.head);
    assert_eq!(sent["ref"], "refs/pull/7/merge");
    assert_eq!(sent["job"]["id"], "42");
    let resolved = &sent["manifests"][".terraform.lock.hcl"]["resolved"];
    assert!(!resolved.as_object().unwrap().is_empty(), "{sent}");
    pull.requests();
    let fork = snapshot(&[("LOCKCTL_HEAD_REPOSITORY", "stranger/repo")]);
    fork.has("comes from a fork");
    snapshot(&[("LOCKCTL", "/nonexistent/lockctl")]).has("lockctl is not installed");
    assert_eq!(pull.requests().len(), 0);
    pull.api.state().refuse_writing = Some(403);
    snapshot(&[]).has("permission `contents: write` (HTTP 403)");
    pull.requests();
    // A root that cannot be read would vanish from the graph.
    pull.repo.write("live/.terraform.lock.hcl", "provider {");
    snapshot(&[]).has("lockctl could not make it");
    std::fs::remove_file(pull.repo.path().join("live/.terraform.lock.hcl")).unwrap();
    std::os::unix::fs::symlink("../note", pull.repo.path().join("live/.terraform.lock.hcl"))
        .unwrap();
    pull.repo.commit("a link");
    let link = snapshot(&[]);
    link.has("live/.terraform.lock.hcl is a link");
    assert_eq!(pull.requests().len(), 0);
}

#[test]
fn an_audit_is_asked_about_the_roots_of_the_action() {
    let Some(pull) = PullRequest::new(BEFORE, AFTER) else {
        return;
    };
    // Only the arguments are looked at: the database of advisories is beyond this machine.
    let program = pull.temp.path().join("lockctl");
    std::fs::write(&program, "#!/bin/sh\nprintf '%s\\n' \"$@\"\nexit 1\n").unwrap();
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
    let program = program.display().to_string();
    let audit = |vars: &[(&str, &str)]| {
        pull.script(
            "verify/audit.sh",
            &[&[("LOCKCTL", &*program)][..], vars].concat(),
        )
    };
    let run = audit(&[("LOCKCTL_ROOTS", "\nlive\nother dir\n")]);
    assert_eq!(run.code, Some(1), "{}", run.output);
    let args: Vec<&str> = run.output.lines().collect();
    assert_eq!(args[..3], ["audit", "--color", "never"], "{args:?}");
    assert!(args.contains(&"--config-at"), "{args:?}");
    let last = [
        "--recursive",
        "--format",
        "github",
        "--",
        "live",
        "other dir",
    ];
    assert!(args.ends_with(&last), "{args:?}");
    let missing = audit(&[("LOCKCTL", "/nonexistent/lockctl")]);
    assert_eq!(missing.code, Some(0), "{}", missing.output);
    std::fs::remove_file(pull.repo.path().join(".terraform.lock.hcl")).unwrap();
    std::os::unix::fs::symlink("note", pull.repo.path().join(".terraform.lock.hcl")).unwrap();
    pull.repo.commit("links");
    let link = audit(&[]);
    assert_eq!(link.code, Some(2), "{}", link.output);
    link.output.has(".terraform.lock.hcl is a link");
}
