//! Names where a user needs them: of providers in commands and lines, of what a shallow clone lacks.

use super::diff::text;
use super::*;

const OLD: &str = "registry.terraform.io/hashicorp/aws 5.31.0 ~> 5.0 | h1:a zh:a";
const NEW: &str = "registry.terraform.io/hashicorp/aws 5.40.0 ~> 5.0 | h1:b zh:b";
const MORE: &str = "registry.terraform.io/hashicorp/aws 5.40.0 ~> 5.0 | h1:b h1:c zh:b";

#[test]
fn the_command_that_moves_versions_names_the_providers() {
    const ROUTE: &[&str] = &["--fs-mirror", "mirror", "--platform", "linux_amd64"];
    let lab = Lab::new();
    let source = |name: &str| {
        format!(
            "    {name} = {{\n      source  = \"example.com/t/{name}\"\n      version = \"~> 1.0\"\n    }}\n"
        )
    };
    let main = format!(
        "terraform {{\n  required_providers {{\n{}{}  }}\n}}\n",
        source("x"),
        source("y")
    );
    for package in ["x/1.0.0", "x/2.0.0", "y/1.0.0", "y/2.0.0"] {
        lab.unpacked(
            "mirror",
            &format!("example.com/t/{package}/linux_amd64"),
            package,
        );
    }
    let verify = |args: &[&str], format: &str| {
        lab.run(
            &[
                &["verify", "--only", "configuration", "--format", format],
                args,
            ]
            .concat(),
        )
    };
    for (roots, command) in [
        (
            &["a"][..],
            "lockctl update a example.com/t/x example.com/t/y",
        ),
        (
            &["a", "b"],
            "lockctl update a b example.com/t/x example.com/t/y",
        ),
        (
            &["-r"],
            "lockctl update -r . example.com/t/x example.com/t/y",
        ),
    ] {
        for root in ["a", "b"] {
            let _ = std::fs::remove_file(lab.path(&format!("{root}/{LOCK}")));
            lab.write(&format!("{root}/main.tf"), &main);
            assert_exit(&lab.run(&[&["lock", root], ROUTE].concat()), 0);
            lab.write(&format!("{root}/main.tf"), main.replace("~> 1.0", "~> 2.0"));
        }
        for format in ["human", "markdown", "github", "junit", "sarif", "json"] {
            let outcome = verify(roots, format).exits(1);
            // The page of the rule, which SARIF holds, is about any provider.
            assert!(
                format == "sarif" || !outcome.stdout.contains("ADDR"),
                "{format}: {}",
                outcome.stdout
            );
            // For programs each finding is by itself, and annotations are so for each root.
            let is_by_root = format == "github" && roots != ["a"];
            if !is_by_root && !["sarif", "json", "junit"].contains(&format) {
                assert!(
                    outcome.stdout.contains(command),
                    "{format}: {}",
                    outcome.stdout
                );
            }
        }
        // The paths of the lab are absolute where they are typed, and so begin with a slash.
        let words: Vec<String> = command
            .split(' ')
            .skip(1)
            .map(|word| match word {
                "a" | "b" => format!("./{word}"),
                word => word.to_owned(),
            })
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_exit(&lab.run(&[&words, ROUTE].concat()), 0);
        assert_exit(&verify(roots, "human"), 0);
    }
}

#[test]
fn each_provider_is_named_on_its_line() {
    let lab = Lab::new();
    let entry = |name: &str| {
        format!(
            "    {name} = {{\n      source  = \"example.com/t/{name}\"\n      version = \"1.0.0\"\n    }}\n"
        )
    };
    let entries: String = ["z", "m", "a"].map(entry).concat();
    lab.write(
        "main.tf",
        format!("terraform {{\n  required_providers {{\n{entries}  }}\n}}\n"),
    );
    lab.write(LOCK, "");
    let outcome = lab.run(&["verify", "--only", "configuration"]).exits(1);
    outcome.stdout_eq(str![[r#"
error[provider-not-locked]: Required but not locked: 3 providers
  --> main.tf:5:17
   |
 5 |       version = "1.0.0"  <- example.com/t/z
 9 |       version = "1.0.0"  <- example.com/t/m
13 |       version = "1.0.0"  <- example.com/t/a
   = note: required here
   = help: run `lockctl lock .`

.terraform.lock.hcl: 3 errors

"#]]);
}

#[test]
fn a_shallow_clone_names_what_it_lacks() {
    let Some(repo) = Repo::new() else { return };
    repo.write(LOCK, text(&[OLD])).commit("first");
    repo.git(&["branch", "-M", "main"]);
    repo.git(&["switch", "--quiet", "-c", "feature"]);
    repo.write(LOCK, text(&[NEW])).commit("second");
    repo.commit("third");
    let clone = Repo::new().unwrap();
    let from = format!("file://{}", repo.path().display());
    clone.git(&[
        "clone",
        "-q",
        "--depth=1",
        "--branch=feature",
        &from,
        "clone",
    ]);
    let run = |args: &[&str]| clone.lab.run_in("clone", args);
    let shallow = "cause: the clone is shallow: it has the newest commits only";
    let workflow = "; in a workflow, `fetch-depth: 0` of actions/checkout does";
    let branch =
        "`git fetch --unshallow origin main:refs/remotes/origin/main` fetches it as origin/main";
    for (args, fetches) in [
        (&["diff", "main...HEAD"][..], branch),
        (&["verify", "--since", "main"], branch),
        (&["verify", "--since", "main..."], branch),
        (&["verify", "--config-at", "origin/main"], branch),
        (
            &["diff", "HEAD~1"],
            "`git fetch --unshallow` fetches the others",
        ),
    ] {
        let outcome = run(args).exits(2);
        let help = format!("help: {fetches}{workflow}");
        assert!(
            outcome.stderr.contains(shallow) && outcome.stderr.contains(&help),
            "{args:?}: {}",
            outcome.stderr
        );
    }
    // What is printed works, and the branch is then found by its name.
    clone.git(&words(
        "-C clone fetch -q --unshallow origin main:refs/remotes/origin/main",
    ));
    let outcome = run(&["diff", "main...HEAD"]);
    outcome
        .stderr_has("help: write `origin/main`, the branch of that name in the remote repository");
    let outcome = run(&["diff", "origin/main...HEAD"]).exits(0);
    outcome.stdout_has("5.31.0 → 5.40.0");
}

#[test]
fn two_hosts_are_named_in_full() {
    let Some(repo) = Repo::new() else { return };
    repo.write(LOCK, text(&[OLD])).commit("first");
    repo.write(LOCK, text(&[NEW])).commit("second");
    repo.run(&["diff", "HEAD~1"]).stdout_has(" hashicorp/aws ");
    repo.write(
        LOCK,
        text(&["example.com/hashicorp/aws 1.0.0 | h1:a", MORE]),
    );
    repo.commit("third");
    for args in [&["diff", "HEAD~1"][..], &["log"], &["log", "./."]] {
        let outcome = repo.run(args);
        assert!(
            outcome
                .stdout
                .contains(" registry.terraform.io/hashicorp/aws ")
                && outcome.stdout.contains(" example.com/hashicorp/aws "),
            "{args:?}: {}",
            outcome.stdout
        );
    }
}
