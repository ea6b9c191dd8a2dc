//! A real git repository in a [`Lab`], the same on every machine.

use std::path::Path;
use std::process::Command;

use crate::lab::{Lab, Outcome};

/// A repository whose work tree is the directory of the lab.
pub(crate) struct Repo {
    pub(crate) lab: Lab,
}

impl Repo {
    /// Makes an empty repository; `None`, which is printed, if there is no git.
    pub(crate) fn new() -> Option<Self> {
        Self::of(Lab::new())
    }

    /// Makes a repository of a directory; nothing is committed.
    pub(crate) fn of(lab: Lab) -> Option<Self> {
        if Command::new("git").arg("--version").output().is_err() {
            println!("skipped: there is no git");
            return None;
        }
        let repo = Self { lab };
        repo.git(&["init", "--quiet", "--initial-branch=main"]);
        Some(repo)
    }

    /// Runs git there and returns what it prints.
    #[track_caller]
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let (code, said) = self.try_git(args);
        assert_eq!(code, Some(0), "git {args:?}: {said}");
        said
    }

    /// Runs git there and returns its exit code and everything that it prints.
    pub(crate) fn try_git(&self, args: &[&str]) -> (Option<i32>, String) {
        let output = self.command().args(args).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        let code = output.status.code();
        (code, String::from_utf8_lossy(&said).into_owned())
    }

    /// Returns git, set up to do the same on every machine.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new("git");
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(name);
        }
        let date = "2024-05-06T07:08:09Z";
        command
            .current_dir(self.lab.path(""))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_AUTHOR_NAME", "Ann Author")
            .env("GIT_AUTHOR_EMAIL", "ann@example.com")
            .env("GIT_COMMITTER_NAME", "Carl Committer")
            .env("GIT_COMMITTER_EMAIL", "carl@example.com")
            .env("GIT_AUTHOR_DATE", date)
            .env("GIT_COMMITTER_DATE", date)
            .env("LC_ALL", "C");
        command
    }

    /// Commits everything that is there and returns the name of the commit.
    #[track_caller]
    pub(crate) fn commit(&self, subject: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", subject]);
        self.git(&["rev-parse", "HEAD"]).trim_end().to_owned()
    }

    pub(crate) fn write(&self, below: &str, content: impl AsRef<[u8]>) -> &Self {
        self.lab.write(below, content);
        self
    }

    pub(crate) fn remove(&self, below: &str) -> &Self {
        std::fs::remove_file(self.lab.path(below)).unwrap();
        self
    }

    pub(crate) fn run(&self, args: &[&str]) -> Outcome {
        self.lab.run(args)
    }

    /// Makes a bare copy beside the work tree.
    pub(crate) fn bare(&self, name: &str) -> std::path::PathBuf {
        self.git(&["clone", "--quiet", "--bare", ".", name]);
        self.lab.path(name)
    }

    pub(crate) fn path(&self) -> &Path {
        self.lab.dir()
    }
}
