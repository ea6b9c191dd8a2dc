//! Real repositories whose lock files lockctl merges and shows.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::merge::{file, has_git};
use super::*;

/// A repository on its branch `main`, with lockctl installed in it and in `PATH`.
struct Repository {
    dir: tempfile::TempDir,
}

impl Repository {
    /// Makes one with a first commit of a lock file; `None` without git.
    fn with(lock: &str) -> Option<Self> {
        if !has_git() {
            return None;
        }
        let dir = crate::temp::dir();
        let made = Self { dir };
        made.good("git", &["init", "-q", "-b", "main"]);
        made.commit(lock);
        Some(made)
    }

    fn installed(lock: &str) -> Option<Self> {
        let made = Self::with(lock)?;
        made.good("lockctl", &["git", "install"]);
        made.good("git", &["add", "-A"]);
        made.good("git", &["commit", "-qm", "attributes"]);
        Some(made)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn lock(&self) -> String {
        std::fs::read_to_string(self.path(LOCK)).unwrap()
    }

    fn commit(&self, lock: &str) {
        std::fs::write(self.path(LOCK), lock).unwrap();
        self.good("git", &["add", "-A"]);
        self.good("git", &["commit", "-qm", "a change"]);
    }

    /// Runs a program; returns its exit code and what it printed.
    fn run(&self, program: &str, args: &[&str]) -> (i32, String) {
        self.run_in("", program, args)
    }

    /// Runs a program in a directory of it.
    fn run_in(&self, dir: &str, program: &str, args: &[&str]) -> (i32, String) {
        let binary = Path::new(env!("CARGO_BIN_EXE_lockctl"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let dirs = std::iter::once(binary.parent().unwrap().to_owned());
        let path = std::env::join_paths(dirs.chain(std::env::split_paths(&path))).unwrap();
        let program = if program == "lockctl" {
            binary
        } else {
            Path::new(program)
        };
        let mut command = Command::new(program);
        command.args(args).current_dir(self.path(dir));
        command.env("PATH", path).env("HOME", self.dir.path());
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("NO_COLOR", "1");
        command.env("GIT_CONFIG_GLOBAL", self.dir.path().join("global.config"));
        command.env("GIT_PAGER", "cat").env("GIT_EDITOR", "true");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "Somebody");
            command.env(format!("GIT_{who}_EMAIL"), "somebody@example.com");
            command.env(format!("GIT_{who}_DATE"), "2024-01-01T00:00:00Z");
        }
        for other in [
            "GIT_DIR",
            "GIT_WORK_TREE",
            "GIT_INDEX_FILE",
            "XDG_CONFIG_HOME",
        ] {
            command.env_remove(other);
        }
        let output = command.output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        (output.status.code().unwrap(), said)
    }

    #[track_caller]
    fn good(&self, program: &str, args: &[&str]) -> String {
        let (code, said) = self.run(program, args);
        assert_eq!(code, 0, "{program} {args:?}: {said}");
        said
    }

    /// Commits on two branches and merges the second into the first.
    fn merge(&self, ours: &str, theirs: &str) -> (i32, String) {
        self.good("git", &["checkout", "-qb", "theirs"]);
        self.commit(theirs);
        self.good("git", &["checkout", "-q", "main"]);
        self.commit(ours);
        self.run("git", &["merge", "--no-edit", "theirs"])
    }
}

#[test]
fn branches_that_conflict_line_by_line_merge() {
    let base = file(&["b 1.0.0 a b"]);
    let (ours, theirs) = (
        file(&["b 1.0.0 a c", "c 1.0.0 a"]),
        file(&["b 1.0.0 a b d", "d 1.0.0 a"]),
    );
    let Some(plain) = Repository::with(&base) else {
        return;
    };
    assert_eq!(
        plain.merge(&ours, &theirs).0,
        1,
        "a conflict without lockctl"
    );
    // What git left can still be resolved, with the base that its index holds: `b` stays removed.
    let said = plain.good("lockctl", &["resolve"]);
    said.has("no conflict is left");
    let wanted = file(&["b 1.0.0 a c d", "c 1.0.0 a", "d 1.0.0 a"]);
    assert_eq!(plain.lock(), wanted);

    let repository = Repository::installed(&base).unwrap();
    let (code, said) = repository.merge(&ours, &theirs);
    assert_eq!(code, 0, "{said}");
    assert_eq!(repository.lock(), wanted);
    said.has("merged entry by entry");
}

#[test]
fn a_rebase_of_five_commits_passes() {
    let base = file(&["m 1.0.0 a"]);
    let Some(repository) = Repository::installed(&base) else {
        return;
    };
    repository.good("git", &["checkout", "-qb", "work"]);
    let steps: [&[&str]; 5] = [
        &["m 1.0.0 a b"],
        &["m 1.0.0 a b", "n 1.0.0 a"],
        &["m 1.0.0 a b", "n 1.1.0 b"],
        &["m 1.0.0 a b", "n 1.1.0 b c"],
        &["l 1.0.0 a", "m 1.0.0 a b", "n 1.1.0 b c"],
    ];
    for step in steps {
        repository.commit(&file(step));
    }
    repository.good("git", &["checkout", "-q", "main"]);
    repository.commit(&file(&["k 1.0.0 a", "m 1.0.0 a c", "o 1.0.0 a"]));
    repository.good("git", &["checkout", "-q", "work"]);
    repository.good("git", &["rebase", "main"]);
    let wanted = [
        "k 1.0.0 a",
        "l 1.0.0 a",
        "m 1.0.0 a b c",
        "n 1.1.0 b c",
        "o 1.0.0 a",
    ];
    assert_eq!(repository.lock(), file(&wanted));
    let count = repository.good("git", &["rev-list", "--count", "main..work"]);
    assert_eq!(count.trim(), "5");
}

#[test]
fn a_true_conflict_stops_with_one_block_marked() {
    let base = file(&["a 1.0.0 a", "b 1.5.0 a", "c 1.0.0 a"]);
    let Some(repository) = Repository::installed(&base) else {
        return;
    };
    repository.good("git", &["config", "merge.conflictStyle", "diff3"]);
    let (code, said) = repository.merge(
        &file(&["a 1.0.0 a b", "b 1.6.0 b", "c 1.0.0 a"]),
        &file(&["a 1.0.0 a", "b 1.4.0 c", "c 1.1.0 d"]),
    );
    assert_eq!(code, 1, "{said}");
    said.has("example.com/t/b needs manual resolution");
    let text = repository.lock();
    let marks: Vec<&str> = text
        .lines()
        .filter(|line| {
            ["<<<<<<<", "|||||||", "=======", ">>>>>>>"].contains(&&line[..7.min(line.len())])
        })
        .map(|line| &line[..7])
        .collect();
    assert_eq!(
        marks,
        ["<<<<<<<", "|||||||", "=======", ">>>>>>>"],
        "{text}"
    );
    assert!(text.starts_with(&file(&["a 1.0.0 a b"])), "{text}");
    let (code, said) = repository.run("lockctl", &["verify", "--only", "file"]);
    assert_eq!(code, 1, "{said}");
    said.has("lockctl resolve");
    assert_eq!(repository.run("lockctl", &["resolve"]).0, 1);
    assert_eq!(repository.lock(), text, "nothing is new");

    // Somebody fixes their version, and adds a provider while at it.
    let edited = text.replace("1.4.0", "1.7.0") + &file(&["z 1.0.0 a"]).replace("# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n", "");
    std::fs::write(repository.path(LOCK), edited).unwrap();
    repository.good("lockctl", &["resolve"]);
    let wanted = ["a 1.0.0 a b", "b 1.7.0 c", "c 1.1.0 d", "z 1.0.0 a"];
    assert_eq!(repository.lock(), file(&wanted));
}

#[test]
fn a_conflict_says_what_to_do_next() {
    let Some(repository) = Repository::installed(&file(&["a 1.5.0 a"])) else {
        return;
    };
    let (code, said) = repository.merge(&file(&["a 1.6.0 b"]), &file(&["a 1.4.0 c"]));
    assert_eq!(code, 1, "{said}");
    let next = "note: run `lockctl resolve --prefer ours` or `--prefer theirs`, or edit the blocks between the \
                markers and delete the markers; then run `git add .terraform.lock.hcl`\n";
    said.has(next);
    let (code, said) = repository.run("lockctl", &["resolve", "--prefer", "fail"]);
    assert_eq!(code, 1, "{said}");
    // One side went down: the newer version would undo that.
    said.has(next);
    let said = repository.good("lockctl", &["resolve", "--prefer", "ours"]);
    said.has("run `git add .terraform.lock.hcl` to mark it as resolved");
    repository.good("git", &["add", LOCK]);
    repository.good("git", &["commit", "-qm", "merged"]);
    repository.good("lockctl", &["resolve"]).lacks("git add");
}

/// git runs the driver at the top of the repository, and names files from there.
#[test]
fn printed_commands_work_where_git_was_run() {
    for (dir, root, root_from_top) in [
        ("", " live/prod", " live/prod"),
        ("live", " prod", " ../live/prod"),
        ("live/prod", "", " ../../live/prod"),
        ("other", " ../live/prod", " ../live/prod"),
    ] {
        let Some(repository) = Repository::installed(&file(&["z 1.0.0 a"])) else {
            return;
        };
        std::fs::create_dir_all(repository.path("live/prod")).unwrap();
        std::fs::create_dir_all(repository.path("other")).unwrap();
        let lock = format!("live/prod/{LOCK}");
        let commit = |version: &str| {
            let text = file(&[&format!("a {version} a")]);
            std::fs::write(repository.path(&lock), text).unwrap();
            std::fs::write(repository.path("other/file"), "").unwrap();
            repository.good("git", &["add", "-A"]);
            repository.good("git", &["commit", "-qm", version]);
        };
        commit("1.5.0");
        repository.good("git", &["checkout", "-qb", "theirs"]);
        commit("1.4.0");
        repository.good("git", &["checkout", "-q", "main"]);
        commit("1.6.0");
        let (code, said) = repository.run_in(dir, "git", &["merge", "--no-edit", "theirs"]);
        assert_eq!(code, 1, "{said}");
        said.has(format!("run `lockctl resolve{root} --prefer ours`"));
        let (_, compared) = repository.run_in(dir, "lockctl", &["diff"]);
        compared.has(format!(
            "run `lockctl resolve{root_from_top}`, or keep one side"
        ));
        let (_, compared) = repository.run_in(dir, "lockctl", &["diff", "--staged"]);
        compared.has(format!(
            "is not finished: run `lockctl resolve{root_from_top}`"
        ));
        let typed = |name: &str| {
            let mut commands = said.split('`').skip(1).step_by(2);
            let command = commands.find(|text| text.starts_with(name)).unwrap();
            let words: Vec<&str> = command.split(' ').collect();
            let (code, said) = repository.run_in(dir, words[0], &words[1..]);
            assert_eq!(code, 0, "{command} in {dir}: {said}");
        };
        typed("lockctl resolve");
        typed("git add");
        repository.good("git", &["commit", "-qm", "merged"]);
    }
}

/// Both branches merge each other, so the next merge has two bases, which differ.
#[test]
fn a_criss_cross_merge_of_downgrades_is_a_conflict() {
    let Some(repository) = Repository::installed(&file(&["a 1.5.0 a"])) else {
        return;
    };
    let at = |branch: &str| drop(repository.good("git", &["checkout", "-q", branch]));
    repository.good("git", &["checkout", "-qb", "theirs"]);
    repository.commit(&file(&["a 1.7.0 b"]));
    at("main");
    repository.commit(&file(&["a 1.6.0 c"]));
    let tips = ["main", "theirs"].map(|name| {
        let id = repository.good("git", &["rev-parse", name]);
        id.trim().to_owned()
    });
    for (branch, other, version) in [
        ("main", &tips[1], "a 1.4.0 d"),
        ("theirs", &tips[0], "a 1.3.0 e"),
    ] {
        at(branch);
        repository.run("git", &["merge", "--no-commit", other]);
        repository.commit(&file(&[version]));
    }
    at("main");
    let (code, said) = repository.run("git", &["merge", "--no-edit", "theirs"]);
    assert_eq!(code, 1, "{said}");
    assert!(repository.lock().contains("<<<<<<<"), "{said}");
}

#[test]
fn a_branch_that_moved_to_opentofu_brings_its_header() {
    let base = file(&["a 1.0.0 a"]);
    let Some(repository) = Repository::installed(&base) else {
        return;
    };
    let theirs = base.replace("terraform init", "tofu init");
    let (code, said) = repository.merge(&file(&["a 1.0.0 a b"]), &theirs);
    assert_eq!(code, 0, "{said}");
    let wanted = file(&["a 1.0.0 a b"]).replace("terraform init", "tofu init");
    assert_eq!(repository.lock(), wanted);
}

#[test]
fn without_lockctl_git_still_shows_lock_files() {
    let Some(repository) = Repository::installed(&file(&["a 1.0.0 a"])) else {
        return;
    };
    repository.commit(&file(&["a 1.1.0 b"]));
    let git = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .find(|dir| dir.join("git").exists())
        .expect("git is installed");
    for args in [
        &["log", "-p", "-1"] as &[&str],
        &["diff", "HEAD~"],
        &["show"],
    ] {
        let mut command = Command::new(git.join("git"));
        command.args(args).current_dir(repository.dir.path());
        command.env("HOME", repository.dir.path());
        command
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_PAGER", "cat");
        // Only the directories of the system: lockctl is in none of them.
        command.env(
            "PATH",
            std::env::join_paths([&git, Path::new("/usr/bin"), Path::new("/bin")]).unwrap(),
        );
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {errors}");
        assert!(
            said.contains("+  version = \"1.1.0\"\n"),
            "{args:?}: {said}"
        );
    }
}

#[test]
fn a_later_line_of_attributes_does_not_override_ours() {
    let Some(repository) = Repository::installed(&file(&["a 1.0.0 a"])) else {
        return;
    };
    let attributes = repository.path(".gitattributes");
    let line = std::fs::read_to_string(&attributes).unwrap();
    std::fs::write(&attributes, format!("{line}*.hcl merge=union\n")).unwrap();
    assert_eq!(repository.run("lockctl", &["git", "status"]).0, 1);
    repository.good("lockctl", &["git", "install"]);
    repository.good("lockctl", &["git", "status"]);
    let text = std::fs::read_to_string(&attributes).unwrap();
    assert_eq!(text, format!("*.hcl merge=union\n{line}"));
    let said = repository.good("lockctl", &["git", "install"]);
    said.has("there already");

    // A file of attributes with a higher priority, which `install` does not write.
    std::fs::create_dir_all(repository.path(".git/info")).unwrap();
    std::fs::write(
        repository.path(".git/info/attributes"),
        "*.hcl merge=union\n",
    )
    .unwrap();
    let (code, said) = repository.run("lockctl", &["git", "install"]);
    assert_eq!(code, 1, "{said}");
    said.has("merge=union");
    said.has(".git/info/attributes");
    assert_eq!(repository.run("lockctl", &["git", "status"]).0, 1);
}

#[test]
fn a_side_that_cannot_be_parsed_loses_nothing_in_git() {
    let base = file(&["a 1.0.0 a", "b 1.0.0 a"]);
    let Some(repository) = Repository::installed(&base) else {
        return;
    };
    let theirs = file(&["a 1.0.0 a", "b 1.2.0 c"]).replace("1.2.0", "1.x");
    let (code, said) = repository.merge(&file(&["a 1.0.0 a", "b 1.1.0 b"]), &theirs);
    assert_eq!(code, 1, "{said}");
    let text = repository.lock();
    for part in ["<<<<<<< ", "1.1.0", "1.x", ">>>>>>> "] {
        text.has(part);
    }
    for stage in [":2:", ":3:"] {
        repository.good("git", &["cat-file", "-e", &format!("{stage}{LOCK}")]);
    }
}

#[test]
fn installing_is_repeatable_and_leaves_no_trace() {
    let Some(repository) = Repository::with(&file(&["a 1.0.0 a"])) else {
        return;
    };
    let config = || std::fs::read_to_string(repository.path(".git/config")).unwrap();
    let attributes = repository.path(".gitattributes");
    for before in [None, Some("*.tf text\n"), Some("*.tf text")] {
        match before {
            Some(text) => std::fs::write(&attributes, text).unwrap(),
            None => assert!(!attributes.exists()),
        }
        let old = config();
        let said = repository.good("lockctl", &["git", "install", "--dry-run"]);
        said.has("merge.lockctl.driver");
        assert_eq!(config(), old);
        assert_eq!(repository.run("lockctl", &["git", "status"]).0, 1);
        repository.good("lockctl", &["git", "install"]);
        repository.good("lockctl", &["git", "status"]);
        let installed = config();
        let said = repository.good("lockctl", &["git", "install"]);
        said.has("there already");
        assert_eq!(config(), installed);
        repository.good("lockctl", &["git", "uninstall"]);
        assert_eq!(config(), old);
        let left = std::fs::read_to_string(&attributes).ok();
        assert_eq!(left.as_deref(), before);
    }
    let said = repository.good("lockctl", &["git", "uninstall"]);
    said.has("nothing was there");
}

#[test]
fn a_person_installs_it_for_all_repositories() {
    let Some(repository) = Repository::with(&file(&["a 1.0.0 a"])) else {
        return;
    };
    let attributes = repository.path(".config/git/attributes");
    let said = repository.good("lockctl", &["git", "install", "--global"]);
    said.has("attributes: .terraform.lock.hcl");
    assert!(attributes.exists());
    repository.good("lockctl", &["git", "status"]);
    let own = std::fs::read_to_string(repository.path(".git/config")).unwrap();
    own.lacks("lockctl");
    let (code, said) = repository.merge(&file(&["a 1.0.0 a", "b 1.0.0 b"]), &file(&["a 1.1.0 c"]));
    assert_eq!(code, 0, "{said}");
    assert_eq!(repository.lock(), file(&["a 1.1.0 c", "b 1.0.0 b"]));
    repository.good("lockctl", &["git", "uninstall", "--global"]);
    assert!(!attributes.exists());
    assert_eq!(repository.run("lockctl", &["git", "status"]).0, 1);
}

/// The printed lines are typed into a shell.
#[test]
fn a_dry_run_prints_commands_that_set_git_up() {
    let Some(repository) = Repository::with(&file(&["a 1.0.0 a"])) else {
        return;
    };
    for (scope, attributes) in [
        (&[][..], ".gitattributes"),
        (&["--global"], ".config/git/attributes"),
    ] {
        let install = [&["git", "install", "--dry-run"], scope].concat();
        let said = repository.good("lockctl", &install);
        let mut written = String::new();
        for line in said.lines().filter_map(|line| line.strip_prefix("+ ")) {
            match line.split_once(": ") {
                Some((path, text)) if path.ends_with(attributes) => written += &format!("{text}\n"),
                _ => drop(repository.good("sh", &["-c", line])),
            }
        }
        std::fs::create_dir_all(repository.path(attributes).parent().unwrap()).unwrap();
        std::fs::write(repository.path(attributes), written).unwrap();
        repository.good("lockctl", &["git", "status"]);
        let again = repository.good("lockctl", &[&["git", "install"], scope].concat());
        again.has("there already");
        let uninstall = [&["git", "uninstall"], scope].concat();
        repository.good("lockctl", &uninstall);
        assert_eq!(repository.run("lockctl", &["git", "status"]).0, 1);
    }
}

#[test]
fn attributes_are_named_without_dots() {
    let Some(repository) = Repository::with(&file(&["a 1.0.0 a"])) else {
        return;
    };
    std::fs::create_dir(repository.path("a")).unwrap();
    for dir in [".", "a"] {
        let said = repository.good("lockctl", &["-C", dir, "git", "install", "--dry-run"]);
        said.has("+ .gitattributes: .terraform.lock.hcl");
    }
    // Behind a link `..` is another directory.
    #[cfg(unix)]
    {
        std::fs::create_dir_all(repository.path("b/c")).unwrap();
        std::os::unix::fs::symlink("b/c", repository.path("link")).unwrap();
        let said = repository.good("lockctl", &["-C", "link", "git", "install", "--dry-run"]);
        said.has("+ link/../../.gitattributes: ");
    }
}

#[test]
fn a_set_up_that_is_left_is_named_with_its_removal() {
    let Some(repository) = Repository::with(&file(&["a 1.0.0 a"])) else {
        return;
    };
    let scopes = [&[][..], &["--global"]];
    for [first, second] in [scopes, [scopes[1], scopes[0]]] {
        for scope in [first, second] {
            repository.good("lockctl", &[&["git", "install"], scope].concat());
        }
        let said = repository.good("lockctl", &[&["git", "uninstall"], first].concat());
        said.has("git still uses lockctl here");
        let (_, command) = said.split_once('`').unwrap();
        let (command, _) = command.split_once('`').unwrap();
        let said = repository.good("sh", &["-c", command]);
        said.has("git no longer uses lockctl");
        assert_eq!(repository.run("lockctl", &["git", "status"]).0, 1);
    }
}

#[test]
fn git_shows_what_changed_in_words() {
    let Some(repository) = Repository::installed(&file(&["a 1.0.0 a b"])) else {
        return;
    };
    repository.commit(&file(&["a 1.1.0 c"]));
    let said = repository.good("git", &["log", "-p", "-1"]);
    for line in [
        "-example.com/t/a version 1.0.0\n",
        "+example.com/t/a version 1.1.0\n",
        "-example.com/t/a h1 2 ",
        "+example.com/t/a h1 1 ",
    ] {
        said.has(line);
    }
    let broken = "provider {\n\u{1b}[31m";
    repository.commit(broken);
    assert!(
        repository
            .good("git", &["diff", "HEAD~"])
            .contains("+provider {\n")
    );
    let said = repository.good("lockctl", &["git-textconv", LOCK]);
    let shown = broken.replace('\u{1b}', "\u{fffd}");
    assert_eq!(said, shown, "what steers no terminal is as it is");
}

#[test]
fn files_of_pinned_modules_merge_and_show_as_well() {
    const PINS: &str = ".lockctl.modules.hcl";
    let pins = |versions: [&str; 2]| {
        let [a, b] = versions;
        let pin = |name: &str, version: &str| {
            let letter = version.replace('.', "");
            format!(
                "\nmodule \"{name}\" {{\n  source  = \"h/n/{name}/s\"\n  version = \"{version}\"\n  hash    = \"h1:{letter:A<43}=\"\n}}\n"
            )
        };
        let header = "# This file is maintained automatically by `lockctl lock`; `lockctl explain modules` describes it.\n# Manual edits may be lost in future updates.\n";
        format!("{header}{}{}", pin("a", a), pin("b", b))
    };
    let Some(repository) = Repository::installed(&file(&["a 1.0.0 a"])) else {
        return;
    };
    let commit = |versions| {
        std::fs::write(repository.path(PINS), pins(versions)).unwrap();
        repository.good("git", &["add", "-A"]);
        repository.good("git", &["commit", "-qm", "pins"]);
    };
    commit(["1.0.0", "1.0.0"]);
    repository.good("git", &["checkout", "-qb", "theirs"]);
    commit(["1.1.0", "1.0.0"]);
    repository.good("git", &["checkout", "-q", "main"]);
    // Both sides moved a pin; theirs moved two, and one of them further.
    commit(["1.2.0", "1.1.0"]);
    repository.good("git", &["merge", "--no-edit", "theirs"]);
    let merged = std::fs::read_to_string(repository.path(PINS)).unwrap();
    assert_eq!(merged, pins(["1.2.0", "1.1.0"]));
    let said = repository.good("git", &["diff", "HEAD~1", "HEAD", "--", PINS]);
    said.lacks("<<<<");
    let said = repository.good("git", &["diff", "theirs", "HEAD", "--", PINS]);
    said.has("-  version = \"1.1.0\"\n");
    said.has("+  version = \"1.2.0\"\n");
    repository.good("lockctl", &["git", "uninstall"]);
    assert!(!repository.path(".gitattributes").exists());
}
