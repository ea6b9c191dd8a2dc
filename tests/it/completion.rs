//! Completion in a shell: the words that the program offers for a command line.

use std::ffi::OsString;
use std::fs;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::process::{Command, Output};

use lockctl::completion::VARIABLE;
use lockctl::diag::RULES;
use lockctl::guide::TOPICS;

use tempfile::TempDir;

use crate::temp;

const LOCK: &str = r#"
provider "registry.terraform.io/hashicorp/aws" {
  version = "5.0.0"
}
provider "registry.opentofu.org/acme/null" {
  version = "3.2.4"
}
provider "example.com/acme/x" {
  version = "1.0.0"
}
"#;

/// A directory with a lock file, and two directories below it of which one has another lock file.
fn root() -> TempDir {
    let dir = temp::dir();
    fs::write(dir.path().join(".terraform.lock.hcl"), LOCK).unwrap();
    fs::create_dir(dir.path().join("empty")).unwrap();
    fs::create_dir(dir.path().join("broken")).unwrap();
    fs::write(dir.path().join("broken/.terraform.lock.hcl"), "provider {").unwrap();
    dir
}

/// Runs the program as the script of a shell does.
fn ask(dir: &Path, shell: &str, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockctl"));
    command.current_dir(dir).env(VARIABLE, shell).args(args);
    command.output().unwrap()
}

/// Returns the words that fish is offered for the last of the typed ones, without descriptions.
#[track_caller]
fn words(dir: &Path, typed: &[&str]) -> Vec<String> {
    let output = ask(dir, "fish", &[&["--", "lockctl"], typed].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(output.stderr, b"");
    let text = String::from_utf8(output.stdout).unwrap();
    let word = |line: &str| line.split('\t').next().unwrap_or_default().to_owned();
    text.lines().map(word).collect()
}

#[test]
fn locked_providers_complete_as_they_are_typed() {
    let root = root();
    let dir = root.path();
    let is_option = |word: &String| word.starts_with('-');
    let mut offered = words(dir, &["why", ""]);
    offered.retain(|word| !is_option(word));
    assert_eq!(
        offered,
        ["example.com/acme/x", "acme/null", "hashicorp/aws"]
    );
    assert_eq!(words(dir, &["update", "has"]), ["hashicorp/aws"]);
    let root = format!("empty{MAIN_SEPARATOR}");
    assert_eq!(words(dir, &["update", "em"]), [root]);
    for elsewhere in ["empty", "broken", "missing"] {
        let offered = words(dir, &["-C", elsewhere, "why", ""]);
        assert!(offered.iter().all(is_option), "{offered:?}");
    }
    let above = words(&dir.join("empty"), &["--chdir=..", "why", "acme/"]);
    assert_eq!(above, ["acme/null"]);
}

#[test]
fn platforms_and_pages_complete() {
    let root = root();
    let complete = |typed: &[&str]| words(root.path(), typed);
    assert_eq!(
        complete(&["lock", "--platform", "linux_amd64,dar"]),
        ["linux_amd64,darwin_amd64", "linux_amd64,darwin_arm64"]
    );
    assert_eq!(complete(&["verify", "--platform", "comm"]), ["common"]);
    assert_eq!(complete(&["verify", "--format", "sa"]), ["sarif"]);
    let pages = complete(&["explain", ""]);
    let topics = TOPICS.iter().map(|topic| topic.name);
    for name in topics.chain(RULES.iter().map(|rule| rule.name)) {
        assert!(pages.iter().any(|page| page == name), "{name}");
    }
}

#[test]
fn a_shell_without_a_script_is_named() {
    let root = root();
    let output = ask(root.path(), "tcsh", &["--", "lockctl", "ver"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    let expected =
        "error: LOCKCTL_COMPLETE is set: there is no completion for the shell \"tcsh\"\n";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
#[cfg(unix)]
fn bash_offers_the_words() {
    const TYPED: &str = r#"
source <(lockctl completions bash)
COMP_WORDS=(lockctl update has) COMP_CWORD=2 COMP_TYPE=9
_clap_complete_lockctl lockctl has update
echo "${COMPREPLY[@]}"
"#;
    let root = root();
    let program = PathBuf::from(env!("CARGO_BIN_EXE_lockctl"));
    let mut path = OsString::from(program.parent().unwrap());
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    let mut bash = Command::new("bash");
    bash.args(["-c", TYPED])
        .current_dir(root.path())
        .env("PATH", path);
    let output = bash.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text.trim_end(), "hashicorp/aws", "{output:?}");
}
