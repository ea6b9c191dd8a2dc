//! Repositories, servers and addresses that nobody in good faith would make. Nothing of them is run, nothing
//! leads out of the package, and everything ends.
//!
//! Whatever could be run would make a file, whose absence is checked.
#![cfg(unix)]

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use lockctl::flavor::Flavor;
use lockctl::modules::git::{
    AddressOrigin, GitFailure, GitFiles, GitLimits, GitPackage, GitRequest, fetch_package,
};
use lockctl::modules::package::{SubdirectoryError, SubdirectoryPattern};
use lockctl::remote_module::is_leaving;
use lockctl::world::Files;
use serde_json::{Value, json};

use crate::texts::Text as _;

use super::packages::{PackageCase, listed, write_program};
use crate::module_lab::{ModuleLab, git};

/// A repository with one file.
fn plain() -> Value {
    json!({"commits": [{"files": {"main.tf": "x"}, "tags": ["v1"]}]})
}

/// A case whose files and settings may name `<MARKER>`, the file that must not appear.
struct Attack {
    lab: ModuleLab,
    case: PackageCase,
}

impl Attack {
    fn new(input: &Value) -> Self {
        let lab = ModuleLab::start();
        // The same place for every case.
        let text = input.to_string().replace("<MARKER>", "<ELSEWHERE>/marker");
        let case = PackageCase::new(&lab, &serde_json::from_str(&text).unwrap());
        Self { lab, case }
    }

    fn fetch_within(
        &self,
        source: &str,
        origin: AddressOrigin,
        limits: GitLimits,
    ) -> Result<GitPackage, GitFailure> {
        let source = self
            .case
            .fill(&source.replace("<MARKER>", "<ELSEWHERE>/marker"));
        let request = GitRequest {
            package: &source,
            origin,
            flavor: Flavor::Terraform1_11,
            files: GitFiles::Small,
        };
        let fetched = fetch_package(self.case.world(), &request, limits);
        assert!(!self.marker_exists(), "{source}: something was run");
        self.case.run.check_nothing_is_left();
        fetched
    }

    fn fetch(&self, source: &str) -> Result<GitPackage, GitFailure> {
        self.fetch_within(source, AddressOrigin::User, GitLimits::MODULE)
    }

    fn marker_exists(&self) -> bool {
        self.case.path("elsewhere/marker").exists()
    }

    /// Runs git as a user does.
    fn git(&self, args: &[&str]) -> String {
        let vars = &self.case.run.vars;
        let mut git = Command::new(git::program(&vars["PATH"]));
        git.args(args).envs(vars).env_remove("GIT_SSL_CAINFO");
        let ended = git.stderr(Stdio::inherit()).output().unwrap();
        assert!(ended.status.success(), "{args:?}");
        String::from_utf8(ended.stdout).unwrap().trim().to_owned()
    }
}

/// Checks that a source is refused before git is started.
#[track_caller]
fn refused(attack: &Attack, source: &str, origin: AddressOrigin) {
    let error = attack.fetch_within(source, origin, GitLimits::MODULE);
    let error = error.expect_err(source);
    assert!(error.is_refusal(), "{source}: {error}");
    assert_eq!(attack.case.run.check_nothing_is_left(), 0, "{source}");
}

#[test]
fn addresses_name_no_programs_options_or_files() {
    let attack = Attack::new(&json!({
        "repos": {"r": plain()},
        "gitconfig": "[protocol \"ext\"]\n\tallow = always\n",
    }));
    for source in [
        "git::ext::sh -c touch% <MARKER>",
        "git::ext://sh -c touch% <MARKER>",
        "git::fd::17/x",
        "git::-x",
        "git::--upload-pack=touch <MARKER>",
        "git::ssh://-oProxyCommand=touch% <MARKER>/r.git",
        "git::file://<REPOS>/r.git?ref=--upload-pack=touch%20<MARKER>",
        "git::file://<REPOS>/r.git?ref=-b",
        "git::https://<LAB>/git/r.git%0ahost=other",
    ] {
        for origin in [AddressOrigin::User, AddressOrigin::Server] {
            refused(&attack, source, origin);
        }
    }
    refused(&attack, "git::file://<REPOS>/r.git", AddressOrigin::Server);
    assert!(attack.fetch("git::file://<REPOS>/r.git").is_ok());
}

/// Settings of the user may turn one address into another; into a program they do not.
#[test]
fn addresses_become_no_programs() {
    let attack = Attack::new(&json!({
        "repos": {"r": plain()},
        "gitconfig": "[protocol \"ext\"]\n\tallow = always\n\
            [url \"ext::sh -c touch% <MARKER>% \"]\n\tinsteadOf = https://evil.lab.test/\n",
    }));
    let error = attack
        .fetch("git::https://evil.lab.test/r.git")
        .expect_err("refused by git");
    error.to_string().has("transport 'ext' not allowed");
}

#[test]
fn no_hook_and_no_filter_runs() {
    let attack = Attack::new(&json!({
        "repos": {"r": {"commits": [{"files": {
            "main.tf": "x",
            ".gitattributes": "* filter=evil diff=evil ident text=auto eol=crlf working-tree-encoding=UTF-16\n",
        }}]}},
        "gitconfig": "[core]\n\thooksPath = <ELSEWHERE>/hooks\n\tfsmonitor = <ELSEWHERE>/hooks/run\n\
            [init]\n\ttemplateDir = <ELSEWHERE>/template\n\
            [filter \"evil\"]\n\tsmudge = <ELSEWHERE>/hooks/run\n\tprocess = <ELSEWHERE>/hooks/run\n\trequired\n",
    }));
    let script = format!(
        "#!/bin/sh\ntouch {}\n",
        attack.case.path("elsewhere/marker").display()
    );
    let [hooks, template] =
        ["hooks", "template/hooks"].map(|name| attack.case.path("elsewhere").join(name));
    for dir in [&hooks, &template] {
        fs::create_dir_all(dir).unwrap();
        for name in [
            "run",
            "reference-transaction",
            "post-checkout",
            "post-merge",
            "post-index-change",
            "pre-auto-gc",
            "fsmonitor-watchman",
        ] {
            write_program(&dir.join(name), &script);
        }
    }
    let package = attack.fetch("git::file://<REPOS>/r.git").expect("fetched");
    assert_eq!(package.tree.read(Path::new("main.tf"), 9).unwrap(), b"x");

    // The same settings do run something in git itself, so what was checked can fail.
    let repo = attack.case.path("repos/r.git").display().to_string();
    let copy = attack.case.path("elsewhere/copy").display().to_string();
    attack.git(&["clone", "--quiet", "--no-checkout", &repo, &copy]);
    assert!(attack.marker_exists());
}

#[test]
fn submodules_name_no_programs_options_or_files() {
    for (url, expected) in [
        ("file://<REPOS>/lib.git", "files of this machine"),
        ("<REPOS>/lib.git", "it is no URL"),
        ("ext::sh -c touch% <MARKER>", "it is no URL"),
        ("-u./touch", "gives no URL for it"),
        (
            "ssh://-oProxyCommand=touch% <MARKER>/x",
            "looks like an option",
        ),
        (
            "../../../../../../ext::sh -c touch% <MARKER>",
            "leads out of its host",
        ),
        (
            "https://<LAB>/git/lib.git\n\tupdate = !touch <MARKER>",
            "may not name programs",
        ),
        (
            "https://<LAB>/git/lib.git\n\tpath = ../x",
            "gives no URL for it",
        ),
        (
            "https://<LAB>/git/lib.git\n[include]\n\tpath = <ELSEWHERE>/x\n[submodule \"y\"]\n\turl = x",
            "",
        ),
    ] {
        let attack = Attack::new(&json!({"repos": {
            "lib": plain(),
            "r": {"commits": [{
                "files": {"main.tf": "x"},
                "submodules": {"lib": {"url": url, "repo": "lib"}},
            }]},
        }}));
        let fetched = attack.fetch("git::https://<LAB>/git/r.git");
        match (fetched, expected) {
            (Ok(package), "") => {
                assert!(listed(&package.tree).contains(&"m/lib/main.tf".to_owned()))
            }
            (Ok(package), _) => panic!("{url}: {:?}", listed(&package.tree)),
            (Err(error), _) => {
                let text = error.to_string();
                let is_named = text.starts_with("the submodule \"lib\" could not be fetched: ");
                assert!(
                    !expected.is_empty() && is_named && text.contains(expected),
                    "{url}: {text}"
                );
            }
        }
    }
}

/// Settings of the user that turn an address into a file do not do so for submodules, as in git.
#[test]
fn submodules_become_no_files() {
    let attack = Attack::new(&json!({
        "repos": {
            "lib": plain(),
            "r": {"commits": [{
                "files": {"main.tf": "x"},
                "submodules": {"lib": {"url": "https://host.lab.test/lib.git", "repo": "lib"}},
            }]},
        },
        "gitconfig": "[url \"file://<REPOS>/\"]\n\tinsteadOf = https://host.lab.test/\n",
    }));
    for origin in [AddressOrigin::User, AddressOrigin::Server] {
        let source = "git::https://host.lab.test/lib.git";
        let fetched = attack.fetch_within(source, origin, GitLimits::MODULE);
        assert!(fetched.is_ok(), "{origin:?}: {fetched:?}");
    }
    let error = attack
        .fetch("git::https://host.lab.test/r.git")
        .expect_err("refused by git");
    error.to_string().has("transport 'file' not allowed");
}

#[test]
fn submodules_in_submodules_end() {
    let mut repos = serde_json::Map::from_iter([("r00".to_owned(), plain())]);
    for number in 1..=12 {
        let inner = format!("r{:02}", number - 1);
        let url = format!("../{inner}.git");
        repos.insert(
            format!("r{number:02}"),
            json!({"commits": [{"files": {"a.tf": ""}, "submodules": {"s": {"url": url, "repo": inner}}}]}),
        );
    }
    let attack = Attack::new(&json!({"repos": repos}));
    let package = attack
        .fetch("git::https://<LAB>/git/r10.git")
        .expect("ten in each other");
    let deepest = format!("{}main.tf", "s/".repeat(10));
    assert_eq!(package.tree.read(Path::new(&deepest), 9).unwrap(), b"x");
    let error = attack
        .fetch("git::https://<LAB>/git/r12.git")
        .expect_err("too many");
    assert!(
        error
            .to_string()
            .ends_with("more than 10 submodules in each other"),
        "{error}"
    );
}

#[test]
fn no_link_leads_out_of_the_package() {
    let attack = Attack::new(&json!({"repos": {"r": {"commits": [{"files": {
        "main.tf": "x",
        "abs.tf": {"link": "/etc/passwd"},
        "up.tf": {"link": "../../../../../../../../etc/passwd"},
        "up": {"link": "../.."},
        "dir/self": {"link": ".."},
    }}]}}}));
    let tree = attack
        .fetch("git::https://<LAB>/git/r.git")
        .expect("fetched")
        .tree;
    for path in [
        "abs.tf",
        "up.tf",
        "up",
        "dir/self/up/x",
        "dir/self/dir/self/../../../x",
    ] {
        let error = tree.read(Path::new(path), 1 << 10).expect_err("outside");
        assert!(is_leaving(&error), "{path}: {error}");
    }
    for sub in ["up", "u[p]", "..", "dir/self/.."] {
        let found = tree.expand(sub, SubdirectoryPattern::Glob);
        assert_eq!(found, Err(SubdirectoryError::Leaves), "{sub}");
    }
    assert_eq!(tree.read(Path::new("dir/self/main.tf"), 9).unwrap(), b"x");
}

/// Trees can have names that no checkout makes.
#[test]
fn names_that_git_does_not_check_out_are_refused() {
    for (name, expected) in [
        (".git", "cannot be unpacked under that name"),
        (".GIT", "cannot be unpacked under that name"),
        ("..", "has a path part \"..\""),
    ] {
        let attack = Attack::new(&json!({"repos": {"r": plain()}}));
        let repo = attack.case.path("repos/r.git").display().to_string();
        let blob = attack.git(&["-C", &repo, "rev-parse", "main:main.tf"]);
        let inner = tree_of(&attack, &repo, &format!("100644 blob {blob}\tconfig\n"));
        let outer = tree_of(&attack, &repo, &format!("040000 tree {inner}\t{name}\n"));
        commit(&attack, &repo, &outer);
        let error = attack.fetch("git::file://<REPOS>/r.git").expect_err(name);
        assert!(error.to_string().contains(expected), "{name}: {error}");
    }
}

/// A tree of trees of trees has a few objects and any number of names.
#[test]
fn a_tree_of_endless_names_ends() {
    let attack = Attack::new(&json!({"repos": {"r": plain()}}));
    let repo = attack.case.path("repos/r.git").display().to_string();
    let blob = attack.git(&["-C", &repo, "rev-parse", "main:main.tf"]);
    let long = "n".repeat(200);
    let row = |kind: &str, id: &str, number: usize| format!("{kind} {id}\t{long}{number}\n");
    let rows: String = (0..10)
        .map(|number| row("100644 blob", &blob, number))
        .collect();
    let mut tree = tree_of(&attack, &repo, &rows);
    for _ in 0..7 {
        let rows: String = (0..10)
            .map(|number| row("040000 tree", &tree, number))
            .collect();
        tree = tree_of(&attack, &repo, &rows);
    }
    commit(&attack, &repo, &tree);
    let error = attack
        .fetch("git::file://<REPOS>/r.git")
        .expect_err("too many names");
    assert!(error.to_string().ends_with("bytes of names"), "{error}");
}

fn tree_of(attack: &Attack, repo: &str, rows: &str) -> String {
    let file = attack.case.path("elsewhere/rows");
    fs::write(&file, rows).unwrap();
    let vars = &attack.case.run.vars;
    let mut git = Command::new(git::program(&vars["PATH"]));
    git.args(["-C", repo, "mktree", "--missing"]).envs(vars);
    let ended = git.stdin(fs::File::open(file).unwrap()).output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    String::from_utf8(ended.stdout).unwrap().trim().to_owned()
}

/// Makes a tree the only commit of the default branch.
fn commit(attack: &Attack, repo: &str, tree: &str) {
    let who = ["-c", "user.name=x", "-c", "user.email=x@lab.test"];
    let args = ["-C", repo, "commit-tree", "-m", "x", tree];
    let commit = attack.git(&[&who[..], &args[..]].concat());
    attack.git(&["-C", repo, "update-ref", "refs/heads/main", &commit]);
}

/// What is fetched is watched while it comes; a server need not leave contents out.
#[test]
fn a_large_repository_ends() {
    let attack = Attack::new(&json!({"repos": {"r": {"commits": [
        {"files": {"main.tf": "x", "large.bin": noise(6 << 20)}},
    ]}}}));
    let limits = GitLimits {
        bytes: 1 << 20,
        ..GitLimits::MODULE
    };
    let large = attack.fetch_within("git::https://<LAB>/git/r.git", AddressOrigin::User, limits);
    assert!(
        matches!(
            large,
            Err(GitFailure::TooLarge {
                limit: 0x10_0000,
                ..
            })
        ),
        "{large:?}"
    );
    // Where the server leaves the content out, the limit is never reached.
    let repo = attack.case.path("repos/r.git").display().to_string();
    attack.git(&["-C", &repo, "config", "uploadpack.allowFilter", "true"]);
    let package = attack.fetch_within("git::https://<LAB>/git/r.git", AddressOrigin::User, limits);
    let tree = package.expect("fetched").tree;
    assert_eq!(tree.read(Path::new("main.tf"), 9).unwrap(), b"x");
    let error = tree
        .read(Path::new("large.bin"), 1 << 30)
        .expect_err("not kept");
    assert!(error.to_string().contains("is not kept"), "{error}");
}

/// Letters that cannot be compressed much.
fn noise(length: usize) -> String {
    let mut state = 1_u32;
    let letters = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'0' + (state >> 26) as u8)
    });
    letters.take(length).collect()
}

#[test]
fn a_server_that_never_answers_is_left() {
    let attack = Attack::new(&json!({"repos": {"r": plain()}}));
    // Connections are taken by the system, and nobody reads from them.
    let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let source = format!("git::http://{}/r.git", silent.local_addr().unwrap());
    let limits = GitLimits {
        list_time: Duration::from_millis(200),
        fetch_time: Duration::from_millis(200),
        ..GitLimits::MODULE
    };
    let listed = attack.fetch_within(&source, AddressOrigin::User, limits);
    assert!(
        matches!(
            listed,
            Err(GitFailure::TooSlow {
                command: "ls-remote",
                ..
            })
        ),
        "{listed:?}"
    );
    let whole = format!("{source}?ref={}", "0".repeat(40));
    let fetched = attack.fetch_within(&whole, AddressOrigin::User, limits);
    assert!(
        matches!(
            fetched,
            Err(GitFailure::TooSlow {
                command: "fetch",
                ..
            })
        ),
        "{fetched:?}"
    );
}

#[test]
fn credentials_stay_with_their_host() {
    let attack = Attack::new(&json!({
        "repos": {"r": plain()},
        "routes": {
            "/moved.git/info/refs?service=git-upload-pack": {
                "status": 301,
                "headers": {"Location": "https://<ALT>/git/r.git/info/refs?service=git-upload-pack"},
            },
        },
    }));
    let source = "git::https://user:password@<LAB>/moved.git";
    let package = attack.fetch(source).expect("followed");
    assert_eq!(package.tree.read(Path::new("main.tf"), 9).unwrap(), b"x");
    let alt = attack.case.fill("<ALT>");
    let there: Vec<_> = attack
        .lab
        .requests()
        .into_iter()
        .filter(|r| r.host == alt)
        .collect();
    assert!(!there.is_empty());
    for request in there {
        assert_eq!(request.auth, None, "{}", request.target);
    }
    let error = attack
        .fetch("git::https://user:password@<LAB>/git/none.git")
        .expect_err("404");
    assert!(!error.to_string().contains("password"), "{error}");
}

/// The user's own key is read by ssh alone. (The program `stat` differs elsewhere.)
#[cfg(target_os = "linux")]
#[test]
fn a_key_is_private_and_goes_with_the_run() {
    let script = "#!/bin/sh\nfor c; do case $c in */key) stat -c '%a %F' $c >$HOME/mode; cat $c >>$HOME/mode;; esac; done\nexit 1\n";
    let attack = Attack::new(&json!({"repos": {"r": plain()}, "bin": {"ssh": script}}));
    let error = attack
        .fetch("git::ssh://git@host.lab.test/r.git?sshkey=a2V5")
        .expect_err("no host");
    assert!(!error.to_string().contains("a2V5"), "{error}");
    let seen = fs::read_to_string(attack.case.path("home/mode")).expect("ssh got the key");
    assert_eq!(seen, "600 regular file\nkey");
}

/// Where the run that is interrupted finds its source, in the process of that run only.
const SOURCE: &str = "LOCKCTL_TEST_SOURCE";

#[test]
fn an_interrupted_run_leaves_nothing_behind() {
    let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let dir = crate::temp::dir();
    let mut run = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "remote_modules::attacks_git::a_run_that_is_interrupted",
        ])
        .env(
            SOURCE,
            format!("git::http://{}/r.git", silent.local_addr().unwrap()),
        )
        .env("TMPDIR", dir.path())
        .env("NO_PROXY", "*")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // From now on git waits for an answer.
    let (mut connection, _) = silent.accept().unwrap();
    let names = || fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(names(), 1);
    // To a program without handlers it is the same as Ctrl-C.
    let process = rustix::process::Pid::from_child(&run);
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    let status = run.wait().unwrap();
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&status),
        Some(15)
    );
    assert_eq!(names(), 0);
    // git has ended as well, and its connection with it.
    connection
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    std::io::copy(&mut connection, &mut std::io::sink()).unwrap();
}

/// Nothing by itself: the test above runs it in a process of its own.
#[test]
fn a_run_that_is_interrupted() {
    let Ok(source) = std::env::var(SOURCE) else {
        return;
    };
    lockctl::signals::handle();
    let request = GitRequest {
        package: &source,
        origin: AddressOrigin::User,
        flavor: Flavor::OpenTofu1_12,
        files: GitFiles::Small,
    };
    let env = lockctl::os::RealEnv;
    let world = lockctl::modules::git::GitWorld {
        run: &lockctl::os::RealRun,
        disk: &lockctl::os::RealDisk,
        env: &env,
    };
    let fetched = fetch_package(world, &request, GitLimits::MODULE);
    panic!("the run was not interrupted: {fetched:?}");
}
