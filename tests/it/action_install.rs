//! How the GitHub Action obtains lockctl: a released program with a pinned digest, else a build.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::registry::sha256_hex;
use crate::texts::Text as _;

const ACTION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/.github/actions/verify");

/// The version of the Action in these tests.
const VERSION: &str = "9.8.7";

/// Every runner with the platform whose program it gets.
const RUNNERS: [(&str, &str, &str); 6] = [
    ("Linux", "X64", "x86_64-unknown-linux-musl"),
    ("Linux", "ARM64", "aarch64-unknown-linux-musl"),
    ("macOS", "X64", "x86_64-apple-darwin"),
    ("macOS", "ARM64", "aarch64-apple-darwin"),
    ("Windows", "X64", "x86_64-pc-windows-msvc"),
    ("Windows", "ARM64", "x86_64-pc-windows-msvc"),
];

/// A copy of the Action with digests of its own, archives to download, and a `cargo` that only
/// records how it is called.
struct Runner {
    temp: tempfile::TempDir,
}

/// How a run of the script ended.
struct Installation {
    code: Option<i32>,
    output: String,
    /// What the installed program prints, if one was installed.
    program: Option<String>,
}

impl Runner {
    /// Lays everything out; `None`, which is printed, where a program that the script needs is
    /// missing.
    fn new() -> Option<Self> {
        for (tool, version) in [
            ("bash", "--version"),
            ("curl", "--version"),
            ("tar", "--version"),
            ("unzip", "-v"),
            ("zip", "-v"),
        ] {
            if Command::new(tool).arg(version).output().is_err() {
                println!("skipped: there is no {tool}");
                return None;
            }
        }
        let runner = Self {
            temp: crate::temp::dir(),
        };
        for dir in ["source/.github/actions/verify", "runner", "releases"] {
            fs::create_dir_all(runner.path(dir)).unwrap();
        }
        let script = runner.path("source/.github/actions/verify/install.sh");
        fs::copy(format!("{ACTION}/install.sh"), script).unwrap();
        let manifest = format!("[package]\nname = \"lockctl\"\nversion = \"{VERSION}\"\n");
        fs::write(runner.path("source/Cargo.toml"), manifest).unwrap();
        runner.pin(&[]);
        runner.program(
            "bin/cargo",
            "pwd -P; echo \"cargo $*\"\n\
             for root; do :; done\n\
             printf '#!/bin/sh\\necho built\\n' >\"$root/bin/lockctl\"\n\
             chmod +x \"$root/bin/lockctl\"",
        );
        Some(runner)
    }

    fn path(&self, below: &str) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join(below)
    }

    /// Writes a shell script that can be run.
    fn program(&self, below: &str, text: &str) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Makes the archive of a release and returns its address and digest.
    fn release(&self, target: &str) -> (String, String) {
        let name = format!("lockctl-{VERSION}-{target}");
        self.program(&format!("releases/{name}/lockctl"), "echo downloaded");
        let (program, option, extension) = if target.contains("windows") {
            ("zip", "-qr", "zip")
        } else {
            ("tar", "-czf", "tar.gz")
        };
        let archive = self.path(&format!("releases/{name}.{extension}"));
        let packed = Command::new(program)
            .current_dir(self.path("releases"))
            .arg(option)
            .args([archive.as_os_str(), name.as_ref()])
            .status();
        assert!(packed.unwrap().success());
        let digest = sha256_hex(fs::read(&archive).unwrap());
        (format!("file://{}", archive.display()), digest)
    }

    /// Writes the digests, below a comment as in the file of the repository.
    fn pin(&self, lines: &[(&str, &str)]) {
        let mut text = "# SHA-256 and address\n".to_owned();
        for (url, digest) in lines {
            text += &format!("{digest}  {url}\n");
        }
        let path = self.path("source/.github/actions/verify/digests");
        fs::write(path, text).unwrap();
    }

    /// Runs the script as a runner for a platform would.
    fn install(&self, os: &str, arch: &str) -> Installation {
        self.install_with(os, arch, &[])
    }

    fn install_with(&self, os: &str, arch: &str, vars: &[(&str, &str)]) -> Installation {
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", self.path("bin").display());
        let ended = Command::new("bash")
            .arg(self.path("source/.github/actions/verify/install.sh"))
            .env_clear()
            .envs([("PATH", &*path), ("RUNNER_OS", os), ("RUNNER_ARCH", arch)])
            .env("RUNNER_TEMP", self.path("runner"))
            .envs(vars.iter().copied())
            .current_dir(self.temp.path())
            .output()
            .unwrap();
        let program = Command::new(self.path("runner/lockctl/bin/lockctl")).output();
        let output = [ended.stdout, ended.stderr].concat();
        Installation {
            code: ended.status.code(),
            output: String::from_utf8(output).unwrap(),
            program: program
                .ok()
                .map(|ran| String::from_utf8(ran.stdout).unwrap()),
        }
    }
}

#[test]
fn the_action_downloads_the_program_of_the_platform() {
    for (os, arch, target) in RUNNERS {
        let Some(runner) = Runner::new() else { return };
        let (url, digest) = runner.release(target);
        let other = url.replace(target, "other");
        runner.pin(&[(&other, "0"), (&url, &digest)]);
        let ended = runner.install(os, arch);
        assert_eq!(ended.code, Some(0), "{}", ended.output);
        assert_eq!(ended.program.as_deref(), Some("downloaded\n"));
        assert_eq!(ended.output, format!("Downloading {url}\n"));
    }
}

#[test]
fn the_action_refuses_an_archive_with_another_digest() {
    let Some(runner) = Runner::new() else { return };
    let (url, digest) = runner.release("x86_64-unknown-linux-musl");
    let pinned = "0".repeat(64);
    runner.pin(&[(&url, &pinned)]);
    let ended = runner.install("Linux", "X64");
    assert_eq!(ended.code, Some(2), "{}", ended.output);
    let wanted = format!("has the SHA-256 {digest}, but this revision of the Action pins {pinned}");
    ended.output.has(&wanted);
    ended.output.lacks("cargo");
    assert_eq!(ended.program, None);
    // Nothing of the archive is left for a later step.
    assert_eq!(left(&runner.path("runner/lockctl")), ["bin"]);
}

#[test]
fn the_action_builds_nothing_in_place_of_a_failed_download() {
    let Some(runner) = Runner::new() else { return };
    let (url, digest) = runner.release("x86_64-unknown-linux-musl");
    fs::remove_file(url.strip_prefix("file://").unwrap()).unwrap();
    runner.pin(&[(&url, &digest)]);
    let ended = runner.install("Linux", "X64");
    assert_eq!(ended.code, Some(2), "{}", ended.output);
    let wanted = format!("::error title=lockctl verify::{url} could not be downloaded\n");
    ended.output.has(&wanted);
    assert_eq!(ended.program, None);
}

#[test]
fn the_action_builds_where_nothing_is_released() {
    let Some(runner) = Runner::new() else { return };
    let (url, digest) = runner.release("x86_64-unknown-linux-musl");
    let of_another_version = url.replace(VERSION, "9.8.6");
    for (pins, os, arch) in [
        (&[(&*url, &*digest)] as &[_], "Linux", "ARM"),
        (&[(&*url, &*digest)], "macOS", "X64"),
        (&[(&*of_another_version, &*digest)], "Linux", "X64"),
        (&[], "Linux", "X64"),
    ] {
        runner.pin(pins);
        let ended = runner.install(os, arch);
        assert_eq!(ended.code, Some(0), "{}", ended.output);
        assert_eq!(ended.program.as_deref(), Some("built\n"));
        // Cargo reads the configuration of the directory in which it starts.
        let temp = runner.path("runner").display().to_string();
        let source = runner.path("source").display().to_string();
        let said = format!(
            "No program of lockctl {VERSION} is released for {os} on {arch}: building it\n{temp}\n\
             cargo install --locked --quiet --path {source} --root {temp}/lockctl\n"
        );
        assert_eq!(ended.output, said);
    }
}

#[test]
fn the_action_asks_gh_for_the_attestation_of_a_download() {
    let Some(runner) = Runner::new() else { return };
    let (file, digest) = runner.release("x86_64-unknown-linux-musl");
    let file = file.strip_prefix("file://").unwrap();
    let name = file.rsplit_once('/').unwrap().1;
    let url = format!("https://github.com/owner/lockctl/releases/download/v{VERSION}/{name}");
    runner.pin(&[(&url, &digest)]);
    runner.program(
        "bin/curl",
        &format!("while [ \"$1\" != --output ]; do shift; done; cp {file} \"$2\""),
    );
    let log = runner.path("gh.log");
    let gh = |verdict: u8| {
        let log = log.display();
        let text = format!(
            "case $* in *--help) exit 0 ;; esac; echo \"$GH_TOKEN $*\" >>{log}; exit {verdict}"
        );
        runner.program("bin/gh", &text);
    };
    let vars = [
        ("LOCKCTL_TOKEN", "job-token"),
        ("GITHUB_SERVER_URL", "https://github.com"),
    ];
    gh(0);
    let ended = runner.install_with("Linux", "X64", &vars);
    assert_eq!(ended.code, Some(0), "{}", ended.output);
    assert_eq!(ended.program.as_deref(), Some("downloaded\n"));
    let asked = format!(
        "job-token attestation verify lockctl/{name} --repo owner/lockctl \
         --signer-workflow owner/lockctl/.github/workflows/release.yml\n"
    );
    assert_eq!(fs::read_to_string(&log).unwrap(), asked);

    fs::remove_dir_all(runner.path("runner/lockctl")).unwrap();
    gh(1);
    // The token of another server says nothing about releases on this one.
    let elsewhere = [vars[0], ("GITHUB_SERVER_URL", "https://github.example.com")];
    let ended = runner.install_with("Linux", "X64", &elsewhere);
    assert_eq!(ended.code, Some(0), "{}", ended.output);
    fs::remove_dir_all(runner.path("runner/lockctl")).unwrap();
    let ended = runner.install_with("Linux", "X64", &vars);
    assert_eq!(ended.code, Some(2), "{}", ended.output);
    let wanted = format!("::error title=lockctl verify::gh accepts no attestation of {url}\n");
    assert!(ended.output.ends_with(&wanted), "{}", ended.output);
    assert_eq!(ended.program, None);
    assert_eq!(left(&runner.path("runner/lockctl")), ["bin"]);
}

/// The names in a directory.
fn left(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name());
    names.map(|name| name.into_string().unwrap()).collect()
}

#[test]
fn the_digests_of_the_action_are_well_formed() {
    let text = fs::read_to_string(format!("{ACTION}/digests")).unwrap();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (digest, url) = line.split_once("  ").expect("a digest and an address");
        assert!(
            digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit()),
            "{line}"
        );
        let known = RUNNERS.iter().any(|(_, _, target)| {
            let extension = if target.contains("windows") {
                "zip"
            } else {
                "tar.gz"
            };
            let end = format!("-{target}.{extension}");
            url.starts_with("https://") && url.ends_with(&end)
        });
        assert!(known, "{line}");
    }
}
