//! The Action `lock` pushes completed lock files, to branches of the same repository only.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;

use crate::github_api::{GitHubApi, State, TOKEN};
use crate::repo::Repo;
use crate::texts::Text as _;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/.github/actions/lock/push.sh");
const LOCK: &str = ".terraform.lock.hcl";

/// A checkout of a branch after `lock` has completed its lock files.
struct Checkout {
    repo: Repo,
    /// Holds the repository of the server as `owner/repo`.
    server: tempfile::TempDir,
    head: String,
}

/// The end of a run.
struct Run {
    code: Option<i32>,
    output: String,
}

impl Checkout {
    /// `None`, which is printed, where a program is missing.
    fn new() -> Option<Self> {
        if Command::new("bash").arg("--version").output().is_err() {
            println!("skipped: there is no bash");
            return None;
        }
        let repo = Repo::new()?;
        repo.write(LOCK, "# incomplete\n")
            .write("main.tf", "")
            .write("facts.txt", "")
            .write(".gitignore", "ignored/\n");
        let head = repo.commit("base");
        let server = crate::temp::dir();
        let remote = server.path().join("owner/repo");
        let bare = ["clone", "--quiet", "--bare", ".", remote.to_str().unwrap()];
        repo.git(&bare);
        repo.write(LOCK, "# complete\n")
            .write("live/.terraform.lock.hcl", "# new\n")
            .write("ignored/.terraform.lock.hcl", "# new\n")
            .write("facts.txt", "# new\n")
            .write("main.tf", "# not of lock\n");
        Some(Self { repo, server, head })
    }

    fn push(&self, vars: &[(&str, &str)]) -> Run {
        let ended = Command::new("bash")
            .arg(SCRIPT)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GITHUB_WORKSPACE", self.repo.path())
            .env(
                "GITHUB_SERVER_URL",
                format!("file://{}", self.server.path().display()),
            )
            .envs([
                ("GITHUB_REPOSITORY", "owner/repo"),
                ("GITHUB_EVENT_NAME", "push"),
                ("GITHUB_REF", "refs/heads/main"),
                ("GITHUB_SHA", &self.head),
                ("LOCKCTL_FACTS", ""),
                ("LOCKCTL_TOKEN", TOKEN),
                ("LOCKCTL_BASE", ""),
                ("LOCKCTL_HEAD", ""),
                ("LOCKCTL_HEAD_BRANCH", ""),
                ("LOCKCTL_HEAD_REPOSITORY", ""),
            ])
            .envs(vars.iter().copied())
            .output()
            .unwrap();
        let output = [ended.stdout, ended.stderr].concat();
        let output = String::from_utf8(output).unwrap();
        output.lacks(TOKEN);
        Run {
            code: ended.status.code(),
            output,
        }
    }

    /// Asks git about the repository of the server.
    fn remote(&self, args: &[&str]) -> String {
        let remote = self.server.path().join("owner/repo");
        self.repo
            .git(&[&["-C", remote.to_str().unwrap()], args].concat())
    }

    /// Nothing was pushed, and the run ended like this.
    #[track_caller]
    fn refused(&self, vars: &[(&str, &str)], code: i32, text: &str) {
        let run = self.push(vars);
        assert_eq!(run.code, Some(code), "{}", run.output);
        run.output.has(text);
        let refs = self.remote(&["for-each-ref", "--format=%(objectname) %(refname)"]);
        assert_eq!(refs, format!("{} refs/heads/main\n", self.head));
    }
}

#[test]
fn lock_files_and_nothing_else_are_pushed() {
    let Some(checkout) = Checkout::new() else {
        return;
    };
    for hook in ["pre-commit", "post-commit", "pre-push"] {
        let script = checkout.repo.path().join(".git/hooks").join(hook);
        std::fs::create_dir_all(script.parent().unwrap()).unwrap();
        std::fs::write(&script, "#!/bin/sh\nexit 1\n").unwrap();
        make_executable(&script);
    }
    let run = checkout.push(&[("LOCKCTL_FACTS", "facts.txt")]);
    assert_eq!(run.code, Some(0), "{}", run.output);
    assert!(run.output.starts_with("Pushed "), "{}", run.output);
    let format = "--format=%an <%ae>%n%s%n%P";
    let commit = checkout.remote(&["show", "--name-only", format, "main"]);
    let expected = format!(
        "github-actions[bot] <41898282+github-actions[bot]@users.noreply.github.com>\n\
         Complete lock files\n{}\n\n{LOCK}\nfacts.txt\nlive/{LOCK}\n",
        checkout.head
    );
    assert_eq!(commit, expected);
    let now = checkout.repo.git(&["rev-parse", "HEAD"]);
    checkout.repo.git(&["checkout", "--quiet", "main.tf"]);
    let again = checkout.push(&[("GITHUB_SHA", now.trim())]);
    assert_eq!(again.output, "No lock file changed: nothing to push\n");
}

#[test]
fn a_pull_request_of_the_same_repository_has_its_branch_completed() {
    let Some(checkout) = Checkout::new() else {
        return;
    };
    // The facts of a pull request are those of its base: they are not written.
    let run = checkout.push(&[
        ("GITHUB_EVENT_NAME", "pull_request"),
        ("GITHUB_REF", "refs/pull/7/merge"),
        ("GITHUB_SHA", &"0".repeat(40)),
        ("LOCKCTL_FACTS", "facts.txt"),
        ("LOCKCTL_BASE", &checkout.head),
        ("LOCKCTL_HEAD", &checkout.head),
        ("LOCKCTL_HEAD_BRANCH", "dependabot/$(touch${IFS}pwned)"),
        ("LOCKCTL_HEAD_REPOSITORY", "owner/repo"),
    ]);
    assert_eq!(run.code, Some(0), "{}", run.output);
    assert!(!checkout.repo.path().join("pwned").exists());
    let branch = "refs/heads/dependabot/$(touch${IFS}pwned)";
    let commit = checkout.remote(&["show", "--name-only", "--format=%B", branch]);
    let message = "Complete lock files\n\n[dependabot skip]";
    assert_eq!(commit, format!("{message}\n\n\n{LOCK}\nlive/{LOCK}\n"));
    assert_eq!(
        checkout.remote(&["rev-parse", "main"]).trim(),
        checkout.head
    );
}

#[test]
fn a_fork_and_what_is_no_branch_are_not_pushed_to() {
    let Some(checkout) = Checkout::new() else {
        return;
    };
    let head = checkout.head.clone();
    let pull = [
        ("GITHUB_EVENT_NAME", "pull_request"),
        ("GITHUB_REF", "refs/pull/7/merge"),
        ("LOCKCTL_BASE", &*head),
        ("LOCKCTL_HEAD", &head),
        ("LOCKCTL_HEAD_BRANCH", "main"),
    ];
    for fork in ["stranger/repo", ""] {
        let fork = [("LOCKCTL_HEAD_REPOSITORY", fork)];
        checkout.refused(&[&pull[..], &fork].concat(), 1, "comes from a fork");
    }
    let own = [
        pull.as_slice(),
        &[("LOCKCTL_HEAD_REPOSITORY", "owner/repo")],
    ]
    .concat();
    // The merge that actions/checkout takes by default.
    let merge_head = "1".repeat(40);
    let merge = [&own[..], &[("LOCKCTL_HEAD", &*merge_head)]].concat();
    checkout.refused(&merge, 2, "the checkout is not the head of main");
    let name = [&own[..], &[("LOCKCTL_HEAD_BRANCH", "a..b")]].concat();
    checkout.refused(&name, 2, "is no name of a branch");
    let target = [&own[..], &[("GITHUB_EVENT_NAME", "pull_request_target")]].concat();
    checkout.refused(&target, 2, "after the event pull_request_target");
    checkout.refused(&[("GITHUB_REF", "refs/tags/v1")], 1, "is no branch");
}

#[test]
fn a_branch_that_has_moved_on_is_left_alone() {
    let Some(checkout) = Checkout::new() else {
        return;
    };
    let blank = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
    checkout
        .repo
        .git(&["hash-object", "-t", "tree", "-w", "/dev/null"]);
    let newer = ["commit-tree", "-p", &checkout.head, "-m", "newer", blank];
    let newer = checkout.repo.git(&newer);
    let remote = checkout.server.path().join("owner/repo");
    let to_main = format!("{}:main", newer.trim());
    checkout
        .repo
        .git(&["push", "--quiet", remote.to_str().unwrap(), &to_main]);
    let run = checkout.push(&[]);
    assert_eq!(run.code, Some(0), "{}", run.output);
    run.output.has("main has newer commits");
    assert_eq!(checkout.remote(&["rev-parse", "main"]), newer);
}

#[test]
fn a_token_without_the_permission_is_named() {
    let Some(checkout) = Checkout::new() else {
        return;
    };
    let server = GitHubApi::start(State::default());
    // As actions/checkout leaves it behind.
    let header = format!("http.{}/.extraheader", server.url);
    checkout
        .repo
        .git(&["config", &header, "AUTHORIZATION: basic b2xk"]);
    checkout.refused(
        &[("GITHUB_SERVER_URL", &server.url)],
        1,
        "does the job have `permissions: contents: write`?",
    );
    // "x-access-token:" and the token, in Base64.
    let token = "basic eC1hY2Nlc3MtdG9rZW46am9iLXRva2VuLTEyMzQ=";
    for tokens in &server.state().git {
        assert_eq!(tokens, &[token]);
    }
    assert_eq!(server.state().git.len(), 2);
}

fn make_executable(script: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
}
