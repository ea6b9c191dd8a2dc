//! The GitHub Action `verify`: what it runs does what it should.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;

use crate::repo::Repo;
use crate::texts::Text as _;

const ACTION: &str = include_str!("../../.github/actions/verify/action.yml");
const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/.github/actions/verify/verify.sh"
);

/// A word that stands outside of the checkout only.
const SECRET: &str = "hunter2";

/// A project file that switches off the rule which reports missing platforms.
const QUIET: &str =
    "rule \"platforms-incomplete\" {\n  level  = \"off\"\n  reason = \"trust me\"\n}\n";

/// What a run of the script came to.
struct Ran {
    code: Option<i32>,
    said: String,
}

/// Runs the script in a repository, with a variable of its own for each in the action.
fn run(repo: &Repo, temp: &Path, vars: &[(&str, &str)]) -> Ran {
    let mut command = Command::new("bash");
    command.arg(SCRIPT).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command.env("GITHUB_WORKSPACE", repo.path());
    command.env("LOCKCTL", env!("CARGO_BIN_EXE_lockctl"));
    command.env("LOCKCTL_RESULTS", temp.join("results"));
    command.env("GITHUB_STEP_SUMMARY", temp.join("summary"));
    for (name, value) in [
        ("LOCKCTL_ROOTS", "."),
        ("LOCKCTL_RECURSIVE", "true"),
        ("LOCKCTL_CHANGED_ONLY", "false"),
        ("LOCKCTL_PLATFORMS", ""),
        ("LOCKCTL_FORMAT", "github"),
        ("LOCKCTL_PROJECT_FILE", ".lockctl.hcl"),
        ("LOCKCTL_BASE", ""),
    ]
    .iter()
    .chain(vars)
    {
        command.env(name, value);
    }
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    Ran {
        code: output.status.code(),
        said: String::from_utf8_lossy(&said).into_owned(),
    }
}

/// Returns configuration with one provider, and a lock file with one platform of it.
fn locked() -> (&'static str, &'static str) {
    let lock = "# This file is maintained automatically by \"terraform init\".\n\
        # Manual edits may be lost in future updates.\n\n\
        provider \"registry.terraform.io/hashicorp/null\" {\n  version = \"3.2.1\"\n  hashes = [\n    \
        \"h1:vSUZJPJlJhDOkbAT+iqt7AAQArew8uExp71bJtBUdMw=\",\n  ]\n}\n";
    ("provider \"null\" {}\n", lock)
}

/// Makes a repository whose base states two platforms, and a branch that would rather not.
fn pull_request() -> Option<(Repo, String)> {
    if Command::new("bash").arg("--version").output().is_err() {
        println!("skipped: there is no bash");
        return None;
    }
    let repo = Repo::new()?;
    repo.write(
        ".lockctl.hcl",
        "platforms = [\"linux_amd64\", \"darwin_arm64\"]\n",
    );
    let (configuration, lock) = locked();
    repo.write("live/main.tf", configuration);
    repo.write("live/.terraform.lock.hcl", lock);
    let base = repo.commit("base");
    repo.write(".lockctl.hcl", QUIET);
    repo.commit("be quiet");
    Some((repo, base))
}

#[test]
fn the_base_revision_decides_how_strict_the_action_is() {
    let Some((repo, base)) = pull_request() else {
        return;
    };
    let temp = crate::temp::dir();
    let run = |vars: &[(&str, &str)]| run(&repo, temp.path(), vars);
    let pushed = run(&[]);
    assert_eq!(pushed.code, Some(0), "{}", pushed.said);
    let asked = run(&[("LOCKCTL_BASE", &base)]);
    assert_eq!(asked.code, Some(1), "{}", asked.said);
    let annotation = "::warning file=live/.terraform.lock.hcl,line=4,";
    asked.said.has(annotation);
    let summary = std::fs::read_to_string(temp.path().join("summary")).unwrap();
    summary.has("platforms-incomplete");
    let note = format!(
        "project files are those of {}, not those on disk, which differ",
        &base[..7]
    );
    asked.said.has(&note);
    pushed.said.lacks("project files");
    let unknown = run(&[("LOCKCTL_BASE", &"0".repeat(40))]);
    assert_eq!(unknown.code, Some(2), "{}", unknown.said);
    let annotation = "::error title=lockctl::the base revision 000";
    unknown.said.has(annotation);
    // A base without a project file does not let that of the branch in.
    let without = run(&[("LOCKCTL_BASE", &base), ("LOCKCTL_PROJECT_FILE", "no.hcl")]);
    assert_eq!(without.code, Some(1), "{}", without.said);
    let named = run(&[
        ("LOCKCTL_BASE", &base),
        ("LOCKCTL_ROOTS", "\nlive\n"),
        ("LOCKCTL_RECURSIVE", "false"),
        ("LOCKCTL_PLATFORMS", "linux_amd64"),
        ("LOCKCTL_FORMAT", "json"),
    ]);
    assert_eq!(named.code, Some(0), "{}", named.said);
    let results = std::fs::read_to_string(temp.path().join("results")).unwrap();
    let results: serde_json::Value = serde_json::from_str(&results).unwrap();
    assert_eq!(results["roots"][0]["path"], "live");
}

#[test]
fn a_page_about_all_roots_is_written_beside_the_annotations() {
    let Some((repo, base)) = pull_request() else {
        return;
    };
    let temp = crate::temp::dir();
    let file = temp.path().join("lockctl-report.html");
    let vars = [
        ("LOCKCTL_BASE", &*base),
        ("LOCKCTL_REPORT", file.to_str().unwrap()),
    ];
    let run = run(&repo, temp.path(), &vars);
    assert_eq!(run.code, Some(1), "{}", run.said);
    let page = std::fs::read_to_string(file).unwrap();
    // The project file of the base decides what is found.
    page.has("<code>platforms-incomplete</code>");
    page.has("<h3 id=\"provider=hashicorp/null\">");
}

#[test]
fn findings_for_code_scanning_are_written_beside_the_annotations() {
    let Some((repo, base)) = pull_request() else {
        return;
    };
    let temp = crate::temp::dir();
    let file = temp.path().join("lockctl.sarif");
    let vars = [
        ("LOCKCTL_BASE", &*base),
        ("LOCKCTL_SARIF", file.to_str().unwrap()),
    ];
    let run = run(&repo, temp.path(), &vars);
    assert_eq!(run.code, Some(1), "{}", run.said);
    let annotation = "::warning file=live/.terraform.lock.hcl,line=4,";
    run.said.has(annotation);
    let sarif = std::fs::read_to_string(file).unwrap();
    let sarif: serde_json::Value = serde_json::from_str(&sarif).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "platforms-incomplete");
}

#[test]
fn the_action_checks_only_roots_that_changed() {
    let Some((repo, _)) = pull_request() else {
        return;
    };
    let lock = std::fs::read_to_string(repo.path().join("live/.terraform.lock.hcl")).unwrap();
    repo.write("test/main.tf", "provider \"null\" {}\n");
    repo.write("test/.terraform.lock.hcl", &lock);
    let base = repo.commit("another root");
    repo.write("test/main.tf", "provider \"null\" {}\nlocals {}\n");
    repo.commit("a change");
    let temp = crate::temp::dir();
    let paths = |vars: &[(&str, &str)]| {
        let ran = run(
            &repo,
            temp.path(),
            &[vars, &[("LOCKCTL_FORMAT", "json")]].concat(),
        );
        assert_eq!(ran.code, Some(0), "{}", ran.said);
        let results = std::fs::read_to_string(temp.path().join("results")).unwrap();
        let results: serde_json::Value = serde_json::from_str(&results).unwrap();
        let roots = results["roots"].as_array().unwrap().clone();
        roots
            .iter()
            .map(|root| root["path"].to_string())
            .collect::<Vec<_>>()
    };
    let changed = ("LOCKCTL_CHANGED_ONLY", "true");
    assert_eq!(paths(&[changed, ("LOCKCTL_BASE", &base)]), ["\"test\""]);
    // A push has no base revision: everything is checked.
    assert_eq!(paths(&[changed]).len(), 2);
    assert_eq!(paths(&[("LOCKCTL_BASE", &base)]).len(), 2);
}

#[test]
fn project_files_of_subdirectories_count_in_the_action() {
    let Some((repo, _)) = pull_request() else {
        return;
    };
    repo.remove(".lockctl.hcl");
    repo.write(
        "live/.lockctl.hcl",
        "platforms = [\"linux_amd64\", \"darwin_arm64\"]\n",
    );
    let base = repo.commit("base");
    repo.write("live/more.tf", "").commit("change");
    let temp = crate::temp::dir();
    let run = |base: &str| {
        let vars = [("LOCKCTL_BASE", base), ("LOCKCTL_FORMAT", "human")];
        run(&repo, temp.path(), &vars)
    };
    // A spelling that some systems take for the name is no project file of the base.
    let check = |base: &str| {
        let ran = run(base);
        assert_eq!(ran.code, Some(1), "{}", ran.said);
        for part in [
            "run `lockctl lock live --confine .`",
            "(stated in live/.lockctl.hcl)",
        ] {
            ran.said.has(part);
        }
        ran.said.lacks("--config");
        ran.said.lacks("/tmp");
    };
    check("");
    check(&base);
    for file in ["live/.lockctl.hcl", "live/.LOCKCTL.hcl", ".lockctl.hcl"] {
        repo.write(file, QUIET).commit("be quiet");
        check(&base);
        repo.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    }
    repo.remove("live/.lockctl.hcl").commit("no settings");
    check(&base);
}

#[test]
fn submodules_are_governed_by_the_base_revision_in_the_action() {
    let Some((repo, _)) = pull_request() else {
        return;
    };
    let Some(other) = Repo::new() else { return };
    repo.git(&["rm", "--quiet", "-r", "live"]);
    repo.write(
        ".lockctl.hcl",
        "platforms = [\"linux_amd64\", \"darwin_arm64\"]\n",
    );
    // Its own project file would switch the rule off.
    let (configuration, lock) = locked();
    other.write(".lockctl.hcl", QUIET);
    other.write("main.tf", configuration);
    other.write(".terraform.lock.hcl", lock).commit("one");
    let url = other.path().display().to_string();
    let clone = ["-c", "protocol.file.allow=always", "submodule", "--quiet"];
    repo.git(&[&clone[..], &["add", &url, "vendor/infra"]].concat());
    let base = repo.commit("base");
    repo.write("more.tf", "").commit("change");
    let temp = crate::temp::dir();
    let run = |base: &str| run(&repo, temp.path(), &[("LOCKCTL_BASE", base)]);
    let pushed = run("");
    assert_eq!(pushed.code, Some(0), "{}", pushed.said);
    let asked = run(&base);
    assert_eq!(asked.code, Some(1), "{}", asked.said);
    let annotation = "::warning file=vendor/infra/.terraform.lock.hcl,line=4,";
    asked.said.has(annotation);
    asked.said.has("(stated in .lockctl.hcl");
}

#[test]
fn the_action_shows_nothing_from_outside() {
    let Some((repo, base)) = pull_request() else {
        return;
    };
    let temp = crate::temp::dir();
    std::fs::write(temp.path().join("secret.tf"), format!("{SECRET} {{")).unwrap();
    let link = |name: &str, target: &str| {
        let target = temp.path().join(target);
        std::os::unix::fs::symlink(target, repo.path().join(name)).unwrap();
    };
    link("live/other.tf", "secret.tf");
    link("lockctl-results", "stolen");
    repo.commit("links");
    for format in ["github", "human", "sarif", "markdown"] {
        let vars = [("LOCKCTL_BASE", &*base), ("LOCKCTL_FORMAT", format)];
        let ran = run(&repo, temp.path(), &vars);
        assert_eq!(ran.code, Some(2), "{}", ran.said);
        let mut said = ran.said;
        for file in ["results", "summary"] {
            said += &std::fs::read_to_string(temp.path().join(file)).unwrap_or_default();
        }
        said.lacks(SECRET);
        said.has("other.tf");
    }
    assert!(!temp.path().join("stolen").exists());
}

#[test]
fn the_action_hands_its_inputs_to_the_script() {
    let read =
        |name: &str| std::fs::read_to_string(Path::new(SCRIPT).with_file_name(name)).unwrap();
    let script = [
        "verify.sh",
        "project.sh",
        "install.sh",
        "api.sh",
        "upload.sh",
        "roots.sh",
        "audit.sh",
        "snapshot.sh",
    ];
    let script = script.map(read).concat();
    let vars = ACTION
        .lines()
        .filter_map(|line| Some(line.trim().split_once(": ${{ ")?.0))
        .filter(|name| name.starts_with("LOCKCTL"));
    let vars: Vec<&str> = vars.collect();
    assert_eq!(vars.len(), 27, "{vars:?}");
    for name in vars {
        assert!(
            script.contains(&format!("${name}")) || script.contains(&format!("${{{name}")),
            "{name}"
        );
    }
    // What an event holds is never part of a command line.
    let commands = ACTION
        .lines()
        .filter(|line| line.trim().starts_with("run:"));
    for command in commands {
        command.lacks("${{");
    }
}

#[test]
fn the_action_of_the_repository_is_verify() {
    let root = include_str!("../../action.yml");
    let below = "$GITHUB_ACTION_PATH/.github/actions/verify/";
    assert_eq!(root.replace(below, "$GITHUB_ACTION_PATH/"), ACTION);
}

/// Whoever writes an input or the name of a branch writes no script.
#[test]
fn no_action_puts_values_into_a_script() {
    for action in ["diff", "lock", "verify"] {
        let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/.github/actions");
        let text = std::fs::read_to_string(format!("{dir}/{action}/action.yml")).unwrap();
        let mut commands = 0;
        for command in text.lines().filter(|line| line.trim().starts_with("run:")) {
            assert!(!command.contains("${{"), "{action}: {command}");
            commands += 1;
        }
        assert!(commands > 1, "{action}");
        assert!(!text.contains("secrets."), "{action}");
    }
}
