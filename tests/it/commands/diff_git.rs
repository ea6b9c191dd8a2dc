//! `lockctl diff` on states of a git repository.

use super::diff::text;
use super::*;

const OLD: &str = "registry.terraform.io/hashicorp/aws 5.31.0 ~> 5.0 | h1:a zh:a";
const NEW: &str = "registry.terraform.io/hashicorp/aws 5.40.0 ~> 5.0 | h1:b zh:b";
const MORE: &str = "registry.terraform.io/hashicorp/aws 5.40.0 ~> 5.0 | h1:b h1:c zh:b";

/// Roots whose lock files change, come, go and move; the last state is not committed.
fn history() -> Option<Repo> {
    let repo = Repo::new()?;
    let at = |root: &str| format!("{root}/{LOCK}");
    repo.write(&at("changed"), text(&[OLD]))
        .write(&at("gone"), text(&["example.com/a/x 1.0.0 | h9:x"]))
        .write(
            &at("moved"),
            text(&[OLD, "registry.terraform.io/hashicorp/null 3.2.1 | h1:a"]),
        )
        .commit("first");
    repo.git(&["switch", "--quiet", "-c", "feature"]);
    repo.write(&at("changed"), text(&[NEW]))
        .write(&at("new"), text(&[OLD]));
    repo.remove(&at("gone"));
    repo.git(&["mv", "moved", "elsewhere"]);
    repo.commit("second");
    repo.write(&at("changed"), text(&[MORE]));
    Some(repo)
}

/// Runs the program itself in a directory of a repository.
pub(super) fn below(repo: &Repo, dir: &str, args: &[&str]) -> (Option<i32>, String) {
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_lockctl"));
    let output = program.args(args).current_dir(repo.lab.path(dir)).output();
    let output = output.unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), said)
}

#[test]
fn the_work_tree_is_compared_with_the_last_commit() {
    let Some(repo) = history() else { return };
    let outcome = repo.run(&["diff"]).exits(0);
    outcome.stdout_eq(str![[r#"
changed/.terraform.lock.hcl
routine  hashicorp/aws  5.40.0  hashes-added  1 platform was added
1 provider with more hashes, nothing alarming

"#]]);
    let staged = repo.run(&["diff", "--staged"]);
    assert_eq!(staged.stdout, "nothing changed\n");
    repo.git(&["add", "--all"]);
    let staged = repo.run(&["diff", "--staged"]);
    assert_eq!(staged.stdout, outcome.stdout);
    repo.write(&format!("untracked/{LOCK}"), text(&[OLD]));
    let (code, said) = below(&repo, "changed", &["diff"]);
    assert_eq!(code, Some(0));
    said.reads(str![[r#"
routine  the file is new
    in untracked/.terraform.lock.hcl
notice   hashicorp/aws  5.31.0  added
    in untracked/.terraform.lock.hcl
routine  hashicorp/aws  5.40.0  hashes-added  1 platform was added
    in changed/.terraform.lock.hcl
1 provider added, 1 with more hashes in 2 lock files, nothing alarming

"#]]);
}

#[test]
fn the_index_is_not_written() {
    let Some(repo) = history() else { return };
    let at = repo.lab.path(&format!("new/{LOCK}"));
    // Another time, and the same content: git would note that in its index.
    let long_ago =
        std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    let file = std::fs::File::options().write(true).open(at).unwrap();
    file.set_modified(long_ago).unwrap();
    let index = || std::fs::read(repo.lab.path(".git/index")).unwrap();
    let before = index();
    for args in [
        &["diff"][..],
        &["diff", "HEAD~1"],
        &["log"],
        &["verify", "-r", "--since", "HEAD~1"],
        &["git", "status"],
    ] {
        repo.run(args);
        assert!(index() == before, "{args:?}");
    }
    // By itself it does.
    repo.git(&["diff"]);
    assert!(index() != before);
}

#[test]
fn every_lock_file_that_differs_is_shown() {
    let Some(repo) = history() else { return };
    let outcome = repo.run(&["diff", "main..feature"]).exits(0);
    outcome.stdout_eq(str![[r#"
routine  the file was moved
    in elsewhere/.terraform.lock.hcl
routine  the file was removed with its root
    in gone/.terraform.lock.hcl
routine  the file is new
    in new/.terraform.lock.hcl
notice   registry.terraform.io/hashicorp/aws  5.31.0           added
    in new/.terraform.lock.hcl
routine  example.com/a/x                      1.0.0            removed
    in gone/.terraform.lock.hcl
routine  registry.terraform.io/hashicorp/aws  5.31.0 → 5.40.0  upgraded (minor)
    in changed/.terraform.lock.hcl
1 provider added, 1 removed, 1 upgraded within constraints in 4 lock files, nothing alarming

"#]]);
    for same in [
        &["diff", "main", "feature"] as &[&str],
        &["diff", "main..."],
    ] {
        assert_eq!(repo.run(same).stdout, outcome.stdout, "{same:?}");
    }
    let back = repo.run(&["diff", "feature...main"]);
    assert_eq!(back.stdout, "nothing changed\n");
    let markdown = repo.run(&["diff", "main..feature", "--format", "markdown"]);
    markdown.stdout.split("<details>").next().unwrap().reads(str![[r#"
1 provider added, 1 removed, 1 upgraded within constraints in 4 lock files, nothing alarming

| RISK | FILE | LOCK FILES | WHERE |
|---|---|---|---|
| routine | the file was moved | 1 | `elsewhere/.terraform.lock.hcl` |
| routine | the file was removed with its root | 1 | `gone/.terraform.lock.hcl` |
| routine | the file is new | 1 | `new/.terraform.lock.hcl` |

| RISK | PROVIDER | VERSION | CHANGE | LOCK FILES | WHERE |
|---|---|---|---|---|---|
| notice | [`registry.terraform.io/hashicorp/aws`](https://registry.terraform.io/providers/hashicorp/aws/latest) | [`5.31.0`](https://registry.terraform.io/providers/hashicorp/aws/5.31.0) | `added` | 1 | `new/.terraform.lock.hcl` |
| routine | `example.com/a/x` | `1.0.0` | `removed` | 1 | `gone/.terraform.lock.hcl` |
| routine | [`registry.terraform.io/hashicorp/aws`](https://registry.terraform.io/providers/hashicorp/aws/latest) | [`5.31.0 → 5.40.0`](https://registry.terraform.io/providers/hashicorp/aws/5.40.0) | `upgraded (minor)` | 1 | `changed/.terraform.lock.hcl` |


"#]]);
    let json = repo.run(&["diff", "main..feature", "--format", "json"]);
    json.stdout_has(format!("\"old_path\": \"moved/{LOCK}\""));
}

#[test]
fn a_bare_repository_has_revisions_only() {
    let Some(repo) = history() else { return };
    repo.bare("bare.git");
    let wanted = repo.run(&["diff", "main..feature"]);
    let (code, said) = below(&repo, "bare.git", &["diff", "main..feature"]);
    assert_eq!((code, &said), (Some(0), &wanted.stdout));
    for (args, help) in [
        (&["diff"][..], "name two revisions"),
        (
            &["verify", "-r", "--since", "HEAD~1"],
            "use a clone with a work tree",
        ),
    ] {
        let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_lockctl"));
        let output = program.args(args).current_dir(repo.lab.path("bare.git"));
        let output = output.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        String::from_utf8_lossy(&output.stderr).has(format!("help: {help}\n"));
    }
}

#[test]
fn what_names_nothing_or_is_not_merged_is_reported() {
    let Some(repo) = history() else { return };
    repo.run(&["diff", "nowhere"]).exits(2).stderr_eq(str![[r#"
error: nowhere cannot be compared
  cause: "nowhere" names no commit of this repository
  help: name two lock files or their directories, or revisions

"#]]);
    let old = format!("changed/{LOCK}");
    for words in [[&*old, "nofile.hcl"], ["nofile.hcl", &*old]] {
        repo.run(&["diff", words[0], words[1]])
            .exits(2)
            .stderr_has("cause: nofile.hcl does not exist\n");
    }
    let range = repo.run(&["diff", "main..feature", "changed"]).exits(2);
    range.stderr_has("cause: a range such as A..B takes no second argument");
    assert_exit(&repo.run(&["diff", "--staged", "main", "feature"]), 2);

    let at = format!("changed/{LOCK}");
    repo.commit("third");
    repo.git(&["switch", "--quiet", "main"]);
    repo.write(&at, text(&[&NEW.replace("5.40.0", "5.50.0")]))
        .commit("ours");
    assert_eq!(repo.try_git(&["merge", "feature"]).0, Some(1));
    repo.run(&["diff"]).exits(2).stdout_has("file is broken");
    let outcome = repo.run(&["diff", "--staged"]).exits(2);
    let wanted = format!(
        "warning  a merge of the file is not finished: run `lockctl resolve changed`\n    in {at}\n"
    );
    outcome.stdout_has(&wanted);
    outcome.stderr_lacks("submodules");
}

#[test]
fn a_conflict_in_another_file_is_no_submodule() {
    let Some(repo) = Repo::new() else { return };
    repo.write("README.md", "base\n").commit("base");
    repo.git(&["switch", "--quiet", "-c", "feature"]);
    repo.write("README.md", "theirs\n").commit("theirs");
    repo.git(&["switch", "--quiet", "main"]);
    repo.write("README.md", "ours\n").commit("ours");
    assert_eq!(repo.try_git(&["merge", "feature"]).0, Some(1));
    for args in [&["diff", "--staged"][..], &["diff"]] {
        repo.run(args).exits(0).stderr_lacks("submodules");
    }
}

#[test]
fn changes_between_revisions_follow_from_their_configuration() {
    let Some(repo) = Repo::new() else { return };
    let requires = |constraint: &str| {
        format!(
            "terraform {{\n  required_providers {{\n    aws = {{ source = \"hashicorp/aws\", version = \"{constraint}\" }}\n  }}\n}}\n"
        )
    };
    let lock = format!("live/{LOCK}");
    repo.write("live/main.tf", requires("~> 5.0"))
        .write(&lock, text(&[OLD]))
        .commit("first");
    repo.write("live/main.tf", requires("~> 5.40"))
        .write("live/m.tf", "module \"m\" {\n  source = \"../m\"\n}\n")
        .write("m/main.tf", "resource \"null_resource\" \"x\" {}\n")
        .write(
            &lock,
            text(&[
                "registry.terraform.io/hashicorp/aws 5.40.0 ~> 5.40 | h1:b zh:b",
                "registry.terraform.io/hashicorp/null 3.2.1 | h1:a",
            ]),
        )
        .commit("second");
    // What is in the work tree now is about neither of the two.
    repo.write("live/main.tf", "nonsense\n");
    repo.run(&["diff", "HEAD~1", "HEAD"]).exits(0).stdout_eq(str![[r#"
live/.terraform.lock.hcl
notice   hashicorp/null  3.2.1            added                                  m/main.tf:1 requires it now
routine  hashicorp/aws   5.31.0 → 5.40.0  upgraded (minor), constraints-changed  the constraint in live/main.tf:3 changed from ~> 5.0 to ~> 5.40
1 provider added, 1 upgraded within constraints, nothing alarming

"#]]);
}

/// A constraint on one provider, in the configuration of a root or module.
fn requires(constraint: &str) -> String {
    format!(
        "terraform {{\n  required_providers {{\n    aws = {{ source = \"hashicorp/aws\", version = \"{constraint}\" }}\n  }}\n}}\n"
    )
}

const UPGRADED: &str = "registry.terraform.io/hashicorp/aws 5.40.0 ~> 5.40 | h1:b zh:b";

/// A unit has no configuration of its own; its module is read from the same revision.
#[test]
fn changes_of_a_unit_follow_from_its_module() {
    let Some(repo) = Repo::new() else { return };
    let lock = format!("live/{LOCK}");
    repo.write(
        "live/terragrunt.hcl",
        "terraform {\n  source = \"../modules/net\"\n}\n",
    )
    .write("modules/net/main.tf", requires("~> 5.0"))
    .write(&lock, text(&[OLD]))
    .commit("first");
    repo.write("modules/net/main.tf", requires("~> 5.40"))
        .write(&lock, text(&[UPGRADED]))
        .commit("second");
    repo.write("modules/net/main.tf", "nonsense\n");
    let outcome = repo.run(&["diff", "HEAD~1", "HEAD"]).exits(0);
    outcome.stdout_has("modules/net/main.tf:3 changed from ~> 5.0 to ~> 5.40");
}

/// A source that depends on the workspace leads to the module that `TF_WORKSPACE` selects.
#[test]
fn changes_follow_from_the_module_of_the_workspace() {
    let Some(repo) = Repo::new() else { return };
    let lock = format!("live/{LOCK}");
    repo.write(
        "live/main.tofu",
        "module \"m\" {\n  source = \"../${terraform.workspace}\"\n}\n",
    )
    .write("prod/main.tf", requires("~> 5.0"))
    .write("default/main.tf", "")
    .write(
        &lock,
        text(&["registry.opentofu.org/hashicorp/aws 5.31.0 ~> 5.0 | h1:a zh:a"]),
    )
    .commit("first");
    repo.write("prod/main.tf", requires("~> 5.40"))
        .write(
            &lock,
            text(&["registry.opentofu.org/hashicorp/aws 5.40.0 ~> 5.40 | h1:b zh:b"]),
        )
        .commit("second");
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_lockctl"));
    let output = program
        .args(["diff", "--flavor", "opentofu", "HEAD~1", "HEAD"])
        .env("TF_WORKSPACE", "prod")
        .current_dir(repo.lab.path(""))
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    said.has("prod/main.tf:3 changed from ~> 5.0 to ~> 5.40");
}

/// Configuration of a module that requires the provider `null`, with a constraint.
fn requires_null(constraint: &str) -> String {
    requires(constraint).replace("aws", "null")
}

/// Writes a lock file of the provider `null` in `live`.
fn write_null(repo: &Repo, entry: &str) {
    let entry = format!("registry.terraform.io/hashicorp/null {entry}");
    repo.write(&format!("live/{LOCK}"), text(&[&entry]));
}

/// The files of a submodule are in another repository, so a revision shows nothing of what it requires.
#[test]
fn a_module_in_a_submodule_is_unknown_before_and_now() {
    let Some(repo) = Repo::new() else { return };
    repo.git(&["init", "--quiet", "modules/net"]);
    repo.write("modules/net/main.tf", requires_null("~> 3.1"));
    repo.git(&["-C", "modules/net", "add", "--all"]);
    repo.git(&["-C", "modules/net", "commit", "--quiet", "-m", "module"]);
    repo.write(
        ".gitmodules",
        "[submodule \"net\"]\n\tpath = modules/net\n\turl = https://example.com/net\n",
    )
    .write(
        "live/main.tf",
        "module \"net\" {\n  source = \"../modules/net\"\n}\n",
    );
    write_null(&repo, "3.1.0 ~> 3.1 | h1:a");
    repo.commit("first");
    write_null(&repo, "3.2.0 ~> 3.2 | h1:b");
    repo.commit("second");
    repo.run(&["diff", "HEAD~1", "HEAD"]).exits(0).stdout_eq(str![[r#"
live/.terraform.lock.hcl
routine  hashicorp/null  3.1.0 → 3.2.0  upgraded (minor), constraints-changed  the constraints changed (~> 3.1 → ~> 3.2)
1 provider upgraded within constraints, nothing alarming

"#]]);

    // The work tree has the files, so only what was required before is unknown.
    repo.write("modules/net/main.tf", requires_null("~> 3.2"));
    repo.run(&["diff", "HEAD~1"]).exits(0).stdout_eq(str![[r#"
live/.terraform.lock.hcl
routine  hashicorp/null  3.1.0 → 3.2.0  upgraded (minor), constraints-changed  the constraints changed (~> 3.1 → ~> 3.2); the constraint in modules/net/main.tf:3 is ~> 3.2
1 provider upgraded within constraints, nothing alarming

"#]]);

    // As a directory of the same repository it is read.
    std::fs::remove_dir_all(repo.lab.path("modules/net/.git")).unwrap();
    repo.git(&["rm", "--quiet", "--cached", "modules/net"]);
    repo.remove(".gitmodules");
    write_null(&repo, "3.2.1 ~> 3.2 | h1:c");
    repo.commit("third");
    repo.run(&["diff", "HEAD~2", "HEAD"]).exits(0).stdout_eq(str![[r#"
live/.terraform.lock.hcl
routine  hashicorp/null  3.1.0 → 3.2.1  upgraded (minor), constraints-changed  the constraints changed (~> 3.1 → ~> 3.2); the constraint in modules/net/main.tf:3 is ~> 3.2
1 provider upgraded within constraints, nothing alarming

"#]]);
}

/// A state with one resource of the provider `null`.
const STATE: &str = r#"{
  "version": 4,
  "resources": [
    { "provider": "provider[\"registry.terraform.io/hashicorp/null\"]", "instances": [] }
  ]
}
"#;

#[test]
fn a_committed_state_is_read_with_its_revision() {
    let Some(repo) = Repo::new() else { return };
    repo.write("live/main.tf", "")
        .write(&format!("live/{LOCK}"), text(&[]))
        .commit("first");
    repo.write("live/terraform.tfstate", STATE);
    write_null(&repo, "3.1.0 | h1:a");
    repo.commit("second");
    write_null(&repo, "3.2.0 | h1:b");
    repo.commit("third");
    repo.remove("live/terraform.tfstate");
    repo.write(&format!("live/{LOCK}"), text(&[]))
        .commit("fourth");
    let outcome = |old: &str, new: &str| {
        let outcome = repo.run(&["diff", old, new]).exits(0);
        outcome.stdout
    };
    outcome("HEAD~3", "HEAD~2").reads(str![[r#"
live/.terraform.lock.hcl
notice  hashicorp/null  3.1.0  added  the state (live/terraform.tfstate) requires it
1 provider added, nothing alarming

"#]]);
    outcome("HEAD~2", "HEAD~1").reads(str![[r#"
live/.terraform.lock.hcl
routine  hashicorp/null  3.1.0 → 3.2.0  upgraded (minor)
1 provider upgraded, nothing alarming

"#]]);
    outcome("HEAD~1", "HEAD").reads(str![[r#"
live/.terraform.lock.hcl
routine  hashicorp/null  3.2.0  removed  the configuration no longer requires it
1 provider removed, nothing alarming

"#]]);
}

/// `TF_WORKSPACE` selects the state as it selects a module (`config` rules 7.2).
#[test]
fn a_committed_state_is_that_of_the_workspace() {
    let Some(repo) = Repo::new() else { return };
    repo.write("live/main.tf", "")
        .write(&format!("live/{LOCK}"), text(&[]))
        .commit("first");
    repo.write("live/terraform.tfstate.d/prod/terraform.tfstate", STATE);
    write_null(&repo, "3.1.0 | h1:a");
    repo.commit("second");
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_lockctl"));
    let output = program
        .args(["diff", "HEAD~1", "HEAD"])
        .env("TF_WORKSPACE", "prod")
        .current_dir(repo.lab.path(""))
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().reads(str![[r#"
live/.terraform.lock.hcl
notice  hashicorp/null  3.1.0  added  the state (live/terraform.tfstate.d/prod/terraform.tfstate) requires it
1 provider added, nothing alarming

"#]]);
    repo.run(&["diff", "HEAD~1", "HEAD"]).stdout_eq(str![[r#"
live/.terraform.lock.hcl
notice  hashicorp/null  3.1.0  added  nothing in the configuration requires it
1 provider added, nothing alarming

"#]]);
}

/// A state that is not committed shows nothing about the time of a revision.
#[test]
fn a_state_of_the_work_tree_is_not_new() {
    let Some(repo) = Repo::new() else { return };
    repo.write("live/main.tf", "")
        .write(".gitignore", "*.tfstate\n");
    write_null(&repo, "3.1.0 | h1:a");
    repo.commit("first");
    repo.write("live/terraform.tfstate", STATE);
    write_null(&repo, "3.2.0 | h1:b");
    repo.run(&["diff"]).exits(0).stdout_eq(str![[r#"
live/.terraform.lock.hcl
routine  hashicorp/null  3.1.0 → 3.2.0  upgraded (minor)
1 provider upgraded, nothing alarming

"#]]);
    repo.write(&format!("live/{LOCK}"), text(&[]));
    repo.commit("second");
    write_null(&repo, "3.2.0 | h1:b");
    repo.run(&["diff"]).exits(0).stdout_eq(str![[r#"
live/.terraform.lock.hcl
notice  hashicorp/null  3.2.0  added  the state (live/terraform.tfstate) requires it
1 provider added, nothing alarming

"#]]);
}
