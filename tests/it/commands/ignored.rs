//! Lock files that git ignores.

use super::*;

const MAIN: &str =
    "terraform {\n  required_providers {\n    demo = { source = \"acme/demo\" }\n  }\n}\n";

/// A repository with a root, a mirror of its provider and a `.gitignore`.
fn repository(ignores: &str) -> Option<Repo> {
    let repo = Repo::new()?;
    let package = "registry.terraform.io/acme/demo/1.0.0/linux_amd64";
    repo.lab.packed("mirror", package, "x");
    repo.lab.write("main.tf", MAIN);
    repo.lab.write(".gitignore", ignores);
    Some(repo)
}

fn rules(lab: &Lab) -> Vec<String> {
    let outcome = lab.run(&["verify", "--only", "file,configuration", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let findings = json["roots"][0]["findings"].as_array().unwrap();
    findings
        .iter()
        .map(|finding| finding["rule"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn lock_says_so_and_verify_names_the_line() {
    let Some(repo) = repository("# state\n.terraform*\n") else {
        return;
    };
    let lab = &repo.lab;
    // Nobody else can have the file that is missing here.
    assert_eq!(rules(lab), ["lock-missing", "lock-ignored"]);
    let outcome = lock(lab, &["--platform", "linux_amd64"]).exits(0);
    let sentence = "warning: git ignores the lock file, by line 2 of .gitignore: `.terraform*`; \
                    `lockctl explain lock-ignored` says what to do\n";
    assert_eq!(
        outcome.stderr.matches(sentence).count(),
        1,
        "{}",
        outcome.stderr
    );
    // What is not written is not said to be ignored.
    lock(lab, &["--platform", "linux_amd64"]).stderr_lacks("git ignores");
    lab.run(&["verify", "--only", "file"]).exits(1).stdout_eq(str![[r#"
warning[lock-ignored]: git ignores .terraform.lock.hcl
 --> .gitignore:2:1
  |
2 | .terraform*
  | ^^^^^^^^^^^ this line matches it
  |
  = help: delete the line `.terraform*` in .gitignore, or add `!.terraform.lock.hcl` below it; then commit the lock file: without it, every machine selects versions anew and trusts what it downloads first

.terraform.lock.hcl: 1 warning

"#]]);
    let github = lab.run(&["verify", "--only", "file", "--format", "github"]);
    github.stdout_has("file=.gitignore,line=2");
    lab.run(&["verify", "--skip", "file,platforms,packages"])
        .exits(0);
    // git does not ignore what it tracks.
    repo.git(&["add", "--force", LOCK]);
    assert!(rules(lab).is_empty());
    repo.git(&["rm", "--cached", "--quiet", LOCK]);
    assert_eq!(rules(lab), ["lock-ignored"]);
    lab.write(".gitignore", ".terraform*\n!.terraform.lock.hcl\n");
    assert!(rules(lab).is_empty());
}

#[test]
fn a_directory_that_is_ignored_is_named() {
    let Some(repo) = repository("/live/\n") else {
        return;
    };
    let lab = &repo.lab;
    lab.write("live/main.tf", MAIN);
    let args = ["verify", "--only", "file,configuration", "live"];
    let outcome = lab.run(&args).exits(1);
    outcome.stdout_has("warning[lock-ignored]: git ignores live/.terraform.lock.hcl");
    outcome.stdout_has(
        "change the line `/live/` in .gitignore, or run `git add --force live/.terraform.lock.hcl`",
    );
}

#[test]
fn without_a_repository_nothing_is_ignored() {
    let lab = Lab::new();
    lab.write("main.tf", MAIN);
    lab.write(".gitignore", "*\n");
    assert_eq!(rules(&lab), ["lock-missing"]);
}
