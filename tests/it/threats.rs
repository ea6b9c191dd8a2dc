//! The threat model in SECURITY.md: it names tests that exist, and what it claims of a pull request holds.

use std::path::Path;
use std::process::Command;

use crate::lab::Lab;
use crate::repo::Repo;

/// Appends the sources of all tests below a directory.
fn collect(dir: &Path, sources: &mut String) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push_str(&std::fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn every_threat_has_a_test() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(top.join(".github/SECURITY.md")).unwrap();
    let (_, section) = page.split_once("## Who may be hostile\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let rows: Vec<&str> = section
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(1)
        .collect();
    assert_eq!(rows.len(), 9);
    let mut sources = String::new();
    collect(&top.join("src"), &mut sources);
    collect(&top.join("tests"), &mut sources);
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let names: Vec<&str> = cells[3].split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test in: {row}");
        for name in names {
            let is_there = sources.contains(&format!("fn {name}("));
            assert!(is_there, "no test {name} of: {row}");
        }
    }
}

const LOCK: &str = ".terraform.lock.hcl";

/// A root whose lock file has no finding, by the project file below.
const CONFIGURATION: &str = "terraform {\n  backend \"local\" {}\n}\nprovider \"null\" {}\n";
const WITHOUT_BACKEND: &str = "provider \"null\" {}\n";
const ENTRY: &str = "# This file is maintained automatically by \"terraform init\".\n\
    # Manual edits may be lost in future updates.\n\n\
    provider \"registry.terraform.io/hashicorp/null\" {\n  version = \"3.2.1\"\n  hashes = [\n    \
    \"h1:vSUZJPJlJhDOkbAT+iqt7AAQArew8uExp71bJtBUdMw=\",\n  ]\n}\n";
const PROJECT: &str = "platforms = [\"linux_amd64\"]\n";

/// A repository with two roots, and the name of its commit.
fn repository(configuration: &str) -> Option<(Repo, String)> {
    let repo = Repo::new()?;
    repo.write(".lockctl.hcl", PROJECT);
    for root in ["a", "b"] {
        repo.write(&format!("live/{root}/main.tf"), configuration);
        repo.write(&format!("live/{root}/{LOCK}"), ENTRY);
    }
    let base = repo.commit("base");
    Some((repo, base))
}

/// Breaks the lock file of `live/b`.
fn broken() -> String {
    ENTRY.replace("hashicorp/null", "hashicorp/nul1")
}

/// Checks that each of some command lines fails with a word about `live/b`.
#[track_caller]
fn check_found(repo: &Repo, options: &[&[&str]]) {
    for options in options {
        let outcome = repo.run(&[&["verify", "-r", "--confine", "."], *options].concat());
        assert_ne!(outcome.code, 0, "{options:?}: {outcome:#?}");
        let said = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(said.contains("live/b"), "{options:?}: {said}");
    }
}

#[test]
fn no_gitignore_hides_a_root_that_git_tracks() {
    let Some((repo, base)) = repository(CONFIGURATION) else {
        return;
    };
    repo.write(&format!("live/b/{LOCK}"), broken());
    repo.commit("broken");
    repo.write("live/.gitignore", "b/\n");
    repo.commit("hidden");
    check_found(&repo, &[&[], &["--config-at", &base], &["--since", &base]]);
    // What git ignores and does not track is passed over all the same.
    repo.write("live/.gitignore", "b/\nc/\n");
    repo.write(&format!("live/c/{LOCK}"), broken());
    repo.git(&["rm", "--quiet", "--cached", "-r", "live/b"]);
    let outcome = repo.run(&["verify", "-r"]);
    assert_eq!(outcome.code, 0, "{outcome:#?}");
}

#[cfg(unix)]
#[test]
fn no_link_hides_a_root() {
    let Some((repo, base)) = repository(CONFIGURATION) else {
        return;
    };
    repo.write(&format!("live/b/{LOCK}"), broken());
    let moved = repo.path().join(".terraform");
    std::fs::create_dir(&moved).unwrap();
    std::fs::rename(repo.path().join("live/b"), moved.join("b")).unwrap();
    std::os::unix::fs::symlink("../.terraform/b", repo.path().join("live/b")).unwrap();
    repo.commit("hidden");
    check_found(&repo, &[&["--config-at", &base], &["--since", &base]]);
}

#[test]
fn a_root_without_its_lock_file_stays_one() {
    for configuration in [CONFIGURATION, WITHOUT_BACKEND] {
        let Some((repo, base)) = repository(configuration) else {
            return;
        };
        repo.remove(&format!("live/b/{LOCK}"));
        repo.commit("hidden");
        check_found(&repo, &[&["--config-at", &base], &["--since", &base]]);
        // A call of it makes it a module of another root, if nothing says where it keeps its state.
        let call = "module \"b\" {\n  source = \"../b\"\n}\n";
        repo.write("live/a/calls.tf", call);
        repo.commit("called");
        let outcome = repo.run(&["verify", "-r", "--config-at", &base]);
        let is_module = configuration == WITHOUT_BACKEND;
        assert_eq!(outcome.code == 0, is_module, "{outcome:#?}");
        std::fs::create_dir(repo.path().join("live/b").join(LOCK)).unwrap();
        check_found(&repo, &[&[], &["--config-at", &base]]);
    }
}

#[test]
fn no_name_of_a_file_is_an_option() {
    let Some((repo, _)) = repository(CONFIGURATION) else {
        return;
    };
    repo.write(&format!("live/b/{LOCK}"), broken());
    let off = |rule: &str| {
        format!("rule \"{rule}\" {{\n  level  = \"off\"\n  reason = \"because\"\n}}\n")
    };
    repo.write(
        "x.tf",
        [off("provider-not-locked"), off("provider-not-required")].concat(),
    );
    for name in ["--config=x.tf", "-h.tf", "-V.tf"] {
        repo.write(name, "");
        // As pre-commit calls it.
        let output = Command::new(env!("CARGO_BIN_EXE_lockctl"))
            .args(["verify", "--recursive", "--changed"])
            .args([name, &format!("live/b/{LOCK}")])
            .current_dir(repo.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name}: {said}");
        assert!(said.contains("would be read as an option"), "{said}");
    }
}

#[test]
fn no_value_of_the_environment_is_shown() {
    let unit = |source: &str| {
        format!(
            "locals {{\n  x = base64encode(get_env(\"SECRET\"))\n}}\n\
             terraform {{\n  source = \"{source}\"\n}}\n\
             generate \"p\" {{\n  path      = \"p.tf\"\n  if_exists = \"overwrite\"\n  \
             contents  = \"provider \\\"${{local.x}}\\\" {{}}\"\n}}\n"
        )
    };
    let cases = [
        ("SECRET", "terragrunt.hcl", unit(".")),
        (
            "SECRET",
            "terragrunt.hcl",
            unit("./${get_env(\"SECRET\", \"x\")}"),
        ),
        (
            "SECRET",
            "terragrunt.hcl",
            "include \"x\" {\n  path = \"../${get_env(\"SECRET\")}.hcl\"\n}\n".to_owned(),
        ),
        (
            "TF_VAR_secret",
            "main.tf",
            "variable \"secret\" {\n  default = \"x\"\n}\n\
             module \"m\" {\n  source = \"./${var.secret}\"\n}\n\
             module \"n\" {\n  source = \"./${base64encode(var.secret)}\"\n}\n"
                .to_owned(),
        ),
    ];
    for (name, file, text) in cases {
        let mut lab = Lab::new();
        lab.env.vars.insert(name.to_owned(), "hunter2".into());
        let lock = ENTRY.replace("terraform init", "tofu init");
        lab.write(&format!("live/{LOCK}"), lock);
        lab.write(&format!("live/{file}"), &text);
        for format in ["human", "json", "github", "markdown", "sarif", "junit"] {
            let args = ["verify", "live", "-v", "--format", format];
            let shown = |more: &[&str]| {
                let outcome = lab.run(&[&args, more].concat());
                let said = format!("{}{}", outcome.stdout, outcome.stderr);
                // As it is, and as `base64encode` writes it.
                said.contains("hunter2") || said.contains("aHVudGVyMg")
            };
            assert!(!shown(&["--confine", "."]), "{text} in {format}");
            // Without the option the values count, so what was checked can fail.
            assert!(format != "human" || shown(&[]), "{text}");
        }
    }
}
