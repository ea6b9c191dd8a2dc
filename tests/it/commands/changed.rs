//! `--since` and `--changed`: only roots of which a file changed.

use std::process::Command;

use super::diff::text;
use super::*;

const ENTRY: &str = "registry.terraform.io/hashicorp/null 3.2.1 ~> 3.0 | h1:a zh:a";
const CALL: &str = "module \"m\" {\n  source = \"../../modules/outer\"\n}\n";

/// Three roots, of which `b` calls modules, and `c` is linked to a file outside.
fn repo() -> Option<Repo> {
    let repo = Repo::new()?;
    for root in ["a", "b", "c"] {
        repo.write(&format!("live/{root}/{LOCK}"), text(&[ENTRY]));
        repo.write(&format!("live/{root}/main.tf"), "provider \"null\" {}\n");
    }
    repo.write("live/b/calls.tf", CALL);
    repo.write(
        "modules/outer/main.tf",
        "module \"i\" {\n  source = \"../inner\"\n}\n",
    );
    repo.write("modules/inner/main.tf", "");
    repo.write("modules/inner/gone.tf", "");
    repo.write("modules/other/main.tf", "");
    repo.write("common.tf", "");
    #[cfg(unix)]
    std::os::unix::fs::symlink("../../common.tf", repo.path().join("live/c/common.tf")).unwrap();
    repo.write(".gitignore", "*.log\n");
    repo.commit("base");
    Some(repo)
}

/// Runs verify in a directory and lists the roots that were checked.
fn checked(repo: &Repo, dir: &str, args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_lockctl"))
        .args(["verify", "--format", "json", "--only", "file,configuration"])
        .args(args)
        .current_dir(repo.path().join(dir))
        .output()
        .unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let roots = json["roots"].as_array().unwrap();
    let paths: Vec<&str> = roots
        .iter()
        .map(|root| root["path"].as_str().unwrap())
        .collect();
    let unchanged = &json["summary"]["unchanged"];
    format!("{} | {unchanged}", paths.join(" "))
}

#[track_caller]
fn check(change: impl Fn(&Repo), expected: &str) {
    let Some(repo) = repo() else { return };
    change(&repo);
    assert_eq!(
        checked(&repo, ".", &["-r", "--since", "HEAD"]),
        expected,
        "not committed"
    );
    repo.commit("change");
    assert_eq!(
        checked(&repo, ".", &["-r", "--since", "HEAD~1"]),
        expected,
        "committed"
    );
}

#[track_caller]
fn check_written(path: &str, text: &str, expected: &str) {
    check(|repo| _ = repo.write(path, text), expected);
}

#[track_caller]
fn check_removed(path: &str, expected: &str) {
    check(|repo| _ = repo.remove(path), expected);
}

#[test]
fn a_root_counts_if_a_file_of_it_changed() {
    check_written("live/a/main.tf", "# changed\n", "live/a | 2");
    check_written("live/a/new.tf", "", "live/a | 2");
    check_written(&format!("live/c/{LOCK}"), "", "live/c | 2");
    check_removed("live/b/calls.tf", "live/b | 2");
    check_written("README.md", "changed", " | 3");
    check_written("live/a/deep/er/x.txt", "", " | 3");
}

#[test]
fn a_root_counts_if_a_module_of_it_changed() {
    check_written("modules/inner/main.tf", "# changed\n", "live/b | 2");
    check_removed("modules/inner/gone.tf", "live/b | 2");
    check_written("modules/other/main.tf", "# changed\n", " | 3");
}

#[cfg(unix)]
#[test]
fn a_root_counts_if_the_target_of_a_link_changed() {
    check_written("common.tf", "# changed\n", "live/c | 2");
}

#[test]
fn files_above_that_govern_a_root_count() {
    check_written(
        "live/.lockctl.hcl",
        "platforms = [\"linux_amd64\"]\n",
        "live/a live/b live/c | 0",
    );
    check_written(".gitignore", ".terraform\n", "live/a live/b live/c | 0");
}

#[test]
fn a_root_that_moved_counts_and_one_that_is_gone_does_not() {
    let change = |repo: &Repo| {
        repo.git(&["mv", "live/a", "live/z"]);
        repo.remove(&format!("live/c/{LOCK}"));
        repo.remove("live/c/main.tf");
        #[cfg(unix)]
        repo.remove("live/c/common.tf");
    };
    check(change, "live/z | 1");
}

#[test]
fn a_root_whose_lock_file_was_deleted_counts() {
    check_removed(&format!("live/a/{LOCK}"), "live/a | 2");
}

#[cfg(unix)]
#[test]
fn a_root_counts_if_a_link_on_the_way_to_a_file_changed() {
    use std::os::unix::fs::symlink;
    let relink = |repo: &Repo, target: &str| {
        let _ = std::fs::remove_file(repo.path().join("shared"));
        symlink(target, repo.path().join("shared")).unwrap();
    };
    let Some(repo) = repo() else { return };
    repo.write("v1/x.tf", "")
        .write("v2/x.tf", "provider \"other\" {}\n");
    relink(&repo, "v1");
    symlink("../../shared/x.tf", repo.path().join("live/a/x.tf")).unwrap();
    repo.commit("links");
    let since = |repo: &Repo| checked(repo, ".", &["-r", "--since", "HEAD"]);
    assert_eq!(since(&repo), " | 3");
    relink(&repo, "v2");
    assert_eq!(since(&repo), "live/a | 2");
    relink(&repo, "nowhere");
    assert_eq!(since(&repo), "live/a | 2");
}

#[test]
fn a_unit_counts_if_a_file_that_it_includes_changed() {
    let Some(repo) = repo() else { return };
    for unit in ["one", "two"] {
        let dir = format!("units/{unit}");
        repo.write(&format!("{dir}/{LOCK}"), text(&[ENTRY]));
        let include = "include \"root\" {\n  path = find_in_parent_folders(\"root.hcl\")\n}\n\
                       terraform {\n  source = \"../../modules/other\"\n}\n";
        repo.write(&format!("{dir}/terragrunt.hcl"), include);
    }
    repo.write("units/root.hcl", "locals {}\n");
    repo.commit("units");
    let since = || checked(&repo, "units", &["-r", "--since", "HEAD"]);
    assert_eq!(since(), " | 2");
    repo.write("units/root.hcl", "locals {\n  x = 1\n}\n");
    assert_eq!(since(), "one two | 0");
    repo.commit("include");
    repo.write("modules/other/main.tf", "# changed\n");
    assert_eq!(since(), "one two | 0");
}

#[test]
fn a_branch_is_compared_with_where_it_began() {
    let Some(repo) = repo() else { return };
    repo.git(&["branch", "-M", "trunk"]);
    repo.git(&["switch", "--quiet", "-c", "feature"]);
    repo.write("live/a/main.tf", "# feature\n")
        .commit("feature");
    repo.git(&["switch", "--quiet", "trunk"]);
    repo.write("live/b/main.tf", "# trunk\n").commit("trunk");
    repo.git(&["switch", "--quiet", "feature"]);
    let since = |text| checked(&repo, "live", &["-r", "--since", text]);
    assert_eq!(since("trunk..."), "a | 2");
    assert_eq!(since("trunk"), "a b | 1");
    assert_eq!(
        checked(&repo, "live", &["a", "b", "--since", "trunk..."]),
        "a | 1"
    );
}

#[test]
fn what_changed_may_be_named() {
    let Some(repo) = repo() else { return };
    let changed = |files: &[&str]| checked(&repo, ".", &[&["-r", "--changed"], files].concat());
    assert_eq!(
        changed(&["modules/inner/main.tf", "README.md"]),
        "live/b | 2"
    );
    assert_eq!(
        changed(&["live/a/gone.tf", "./live/c/main.tf"]),
        "live/a live/c | 1"
    );
    assert_eq!(changed(&["README.md"]), " | 3");
}

#[test]
fn a_revision_that_is_none_is_an_error() {
    let Some(repo) = repo() else { return };
    for text in ["nonsense", "-x", "HEAD..HEAD"] {
        let since = format!("--since={text}");
        let output = Command::new(env!("CARGO_BIN_EXE_lockctl"))
            .args(["verify", "-r", &since])
            .current_dir(repo.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        said.has("names no commit of this repository");
        // `diff` takes ranges, so they are tried here, too.
        let has_range =
            said.contains("help: write `HEAD...` for the commit where this branch left HEAD");
        assert_eq!(has_range, text == "HEAD..HEAD", "{said}");
    }
}

#[test]
fn a_root_with_files_that_are_not_seen_is_not_called_changed() {
    let Some(repo) = Repo::new() else { return };
    let unit = "terraform {\n  source = \"git::https://example.com/m.git\"\n}\n";
    for root in ["a", "b"] {
        repo.write(&format!("{root}/terragrunt.hcl"), unit);
        repo.write(&format!("{root}/{LOCK}"), text(&[ENTRY]));
    }
    repo.write(&format!("c/{LOCK}"), text(&[ENTRY]));
    repo.commit("base");
    let since = ["verify", "--only", "file,configuration", "--since", "HEAD"];
    let outcome = repo.run(&[&since[..], &["a"]].concat());
    outcome.stderr_has("a file of 1 of 1 root changed since HEAD, or could not be compared\n");
    let outcome = repo.run(&[&since[..], &["-r"]].concat());
    outcome.stderr_has("a file of 2 of 3 roots changed since HEAD, or could not be compared\n");
}

#[test]
fn lock_works_on_roots_of_which_a_file_changed() {
    let Some(repo) = Repo::new() else { return };
    for root in ["a", "b"] {
        let config = "terraform {\n  backend \"local\" {}\n  required_providers {\n    \
                      x = { source = \"example.com/t/x\" }\n  }\n}\n";
        repo.write(&format!("live/{root}/main.tf"), config);
    }
    repo.lab
        .unpacked("mirror", "example.com/t/x/1.0.0/linux_amd64", "1.0.0");
    repo.commit("base");
    repo.write("live/b/more.tf", "");
    let args = words("lock -r --fs-mirror mirror --platform linux_amd64");
    let lock = |since: &str| repo.run(&[&args[..], &["--since", since]].concat());
    let outcome = lock("HEAD");
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    outcome
        .stderr_has("note: a file of 1 of 2 roots changed since HEAD, or could not be compared\n");
    let is_locked = |root: &str| repo.path().join("live").join(root).join(LOCK).exists();
    assert!(is_locked("b") && !is_locked("a"));
    repo.commit("locked");
    let outcome = lock("HEAD");
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    outcome.stderr_has("note: no file of 2 roots changed since HEAD");
    assert!(!is_locked("a"));
    let outcome = lock("nonsense");
    assert_eq!(outcome.code, 2, "{}", outcome.stderr);
}
