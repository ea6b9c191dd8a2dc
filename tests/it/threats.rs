//! The threat model in SECURITY.md: it names tests that exist, and what it claims of a pull request holds.

use std::path::Path;
use std::process::Command;

use crate::lab::Lab;
use crate::repo::Repo;
use crate::texts::Text as _;

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
fn no_branch_chooses_by_which_rules_it_is_checked() {
    let Some((repo, base)) = repository(CONFIGURATION) else {
        return;
    };
    let other = ENTRY
        .replace("terraform init", "tofu init")
        .replace("terraform.io", "opentofu.org");
    repo.write(&format!("live/b/{LOCK}"), other);
    repo.write("live/b/main.tf", "provider \"evil\" {}\n");
    repo.write("live/b/main.tofu", "provider \"null\" {}\n");
    repo.commit("hidden");
    // OpenTofu reads main.tofu instead of main.tf, and finds all that it requires.
    let outcome = repo.run(&["verify", "-r"]);
    assert_eq!(outcome.code, 0, "{outcome:#?}");
    check_found(&repo, &[&["--config-at", &base]]);
    let outcome = repo.run(&["verify", "-r", "--config-at", &base, "--format", "github"]);
    for part in [
        "hashicorp/evil is required but not locked",
        "the rules of Terraform apply, as before",
    ] {
        outcome.stdout_has(part);
    }
    // A file that names the program for other tools is that of the base, too.
    repo.remove(&format!("live/b/{LOCK}"));
    repo.write("live/b/.opentofu-version", "1.12.6\n");
    check_found(&repo, &[&["--config-at", &base]]);
    repo.remove("live/b/.opentofu-version");
    repo.git(&["checkout", "--quiet", "HEAD", "live/b"]);
    // Who means it says so first.
    let stated = format!("{PROJECT}flavor = \"opentofu\"\n");
    repo.write("live/b/.lockctl.hcl", stated);
    let now = repo.commit("stated");
    let outcome = repo.run(&["verify", "-r", "--config-at", &now]);
    assert_eq!(outcome.code, 0, "{outcome:#?}");
    outcome.stderr_lacks("as before");
}

#[test]
fn only_a_project_file_that_differs_is_mentioned() {
    let Some((repo, base)) = repository(CONFIGURATION) else {
        return;
    };
    for (name, text, is_said) in [
        (
            "live/b/.terraform.lock.hcl",
            format!("{ENTRY}# more\n"),
            false,
        ),
        (".terraform-version", "1.16.0\n".to_owned(), false),
        (".lockctl.hcl", format!("{PROJECT}# more\n"), true),
    ] {
        repo.write(name, text);
        repo.commit("changed");
        let outcome = repo.run(&["verify", "-r", "--config-at", &base]);
        let is_mentioned = outcome.stderr.contains("project files are those of");
        assert_eq!(is_mentioned, is_said, "{name}: {outcome:#?}");
    }
}

#[test]
fn a_package_that_is_committed_proves_nothing() {
    let dir = "live/b/.terraform/providers";
    // In the place of either directory there may be a link.
    let links = [
        ("", ""),
        (dir, "../../../packages"),
        ("live/b/.terraform", "../../packages"),
    ];
    for (link, target) in links.into_iter().take(if cfg!(unix) { 3 } else { 1 }) {
        let Some((repo, _)) = repository(CONFIGURATION) else {
            return;
        };
        let package = format!("{dir}/registry.terraform.io/hashicorp/null/3.2.1/linux_amd64");
        repo.write(&format!("{package}/terraform-provider-null_v3.2.1"), "evil");
        let hashed = repo.run(&["hash", &package]);
        let h1 = hashed
            .stdout
            .split_whitespace()
            .find(|word| word.starts_with("h1:"));
        let h1 = h1.unwrap_or_else(|| panic!("{hashed:#?}"));
        let recorded = "h1:vSUZJPJlJhDOkbAT+iqt7AAQArew8uExp71bJtBUdMw=";
        repo.write(&format!("live/b/{LOCK}"), ENTRY.replace(recorded, h1));
        if !link.is_empty() {
            let moved = repo.path().join("packages");
            std::fs::rename(repo.path().join(link), moved).unwrap();
            #[cfg(unix)]
            std::os::unix::fs::symlink(target, repo.path().join(link)).unwrap();
        }
        // What `init` has installed here is no part of the repository; the lock of OpenTofu's installer is no package.
        repo.write(&format!("{package}.lock"), "");
        if link.is_empty() {
            repo.git(&["add", "-f", &format!("{package}.lock")]);
        }
        let outcome = repo.run(&["verify", "live/b"]);
        assert_eq!(outcome.code, 0, "{outcome:#?}");
        outcome.stdout_has("1 installed package verified");
        repo.commit("evil");
        for args in [
            &["verify", "live/b"][..],
            &["verify", "-r", "--confine", "."],
        ] {
            let outcome = repo.run(args);
            assert_eq!(outcome.code, 1, "{outcome:#?}");
            let title = format!("[package-tracked]: git tracks installed packages in {dir}");
            outcome.stdout_has(&title);
        }
    }
}

#[cfg(unix)]
#[test]
fn no_link_hides_a_change_of_a_lock_file() {
    let Some((repo, _)) = repository(CONFIGURATION) else {
        return;
    };
    let path = format!("live/b/{LOCK}");
    repo.write("live/b/base.hcl", ENTRY).remove(&path);
    std::os::unix::fs::symlink("base.hcl", repo.path().join(&path)).unwrap();
    repo.commit("linked");
    let same = repo.run(&["diff", "HEAD"]);
    assert_eq!((same.code, &*same.stdout), (0, "nothing changed\n"));
    repo.write("live/b/base.hcl", ENTRY.replace("vSUZ", "vSUY"));
    let now = repo.run(&["diff"]);
    repo.commit("changed");
    for outcome in [now, repo.run(&["diff", "HEAD~...HEAD"])] {
        assert!(
            outcome.stdout.starts_with(&format!("{path}\n")),
            "{outcome:#?}"
        );
        outcome.stdout_has("hashicorp/null");
    }
    // Nothing outside of the repository is compared.
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret");
    std::fs::write(&secret, "hunter2").unwrap();
    repo.remove(&path);
    std::os::unix::fs::symlink(&secret, repo.path().join(&path)).unwrap();
    repo.commit("out");
    std::fs::write(&secret, "hunter2 hunter2").unwrap();
    for args in [&["diff"][..], &["diff", "HEAD~...HEAD"]] {
        let outcome = repo.run(args);
        format!("{}{}", outcome.stdout, outcome.stderr).lacks("hunter2");
    }
}

#[test]
fn a_submodule_that_moved_is_named() {
    let Some((repo, base)) = repository(CONFIGURATION) else {
        return;
    };
    // A submodule is an entry of a tree; nobody needs to check it out.
    let entry = |commit: &str| format!("160000,{commit},infra");
    repo.write(
        ".gitmodules",
        "[submodule \"infra\"]\n  path = infra\n  url = ../infra\n  ignore = all\n",
    );
    repo.git(&["add", ".gitmodules"]);
    let add = ["update-index", "--add", "--cacheinfo"];
    repo.git(&[&add[..], &[&entry(&base)]].concat());
    repo.git(&["commit", "--quiet", "-m", "submodule"]);
    let head = repo.git(&["rev-parse", "HEAD"]);
    repo.git(&[&add[..], &[&entry(head.trim_end())]].concat());
    repo.git(&["commit", "--quiet", "-m", "moved"]);
    let outcome = repo.run(&["diff", "HEAD~...HEAD"]);
    let warning =
        "warning: lock files of submodules that are at another commit were not compared: infra";
    outcome.stderr_has(warning);
    let outcome = repo.run(&["diff", "HEAD...HEAD"]);
    outcome.stderr_lacks("submodules");
}

#[test]
fn no_directory_takes_the_place_of_a_revision() {
    let Some((repo, _)) = repository(CONFIGURATION) else {
        return;
    };
    repo.git(&["branch", "feature"]);
    for branch in ["main", "feature"] {
        repo.write(&format!("{branch}/{LOCK}"), ENTRY);
    }
    let outcome = repo.run(&["diff", "main", "feature"]);
    assert_eq!(outcome.code, 2, "{outcome:#?}");
    outcome.stderr_has("error: main and feature are paths as well as revisions");
    for args in [["diff", "./main", "./feature"], ["diff", "main", "live/a"]] {
        let outcome = repo.run(&args);
        assert_eq!(outcome.code, 0, "{outcome:#?}");
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
        said.has("would be read as an option");
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
        lab.set(name, "hunter2");
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
