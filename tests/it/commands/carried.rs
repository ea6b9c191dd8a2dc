//! Hashes of the version that was locked before, by what the last change of the lock file replaced.

use super::registry::{DEMO, with_registry};
use super::*;

/// The hashes of a version: one of these digits in each, and that of the manifest, which all versions share.
pub(super) fn entry(version: &str, digits: &str) -> String {
    let h1 = digits.chars().map(|digit| {
        let text: String = std::iter::repeat_n(digit, 42).collect();
        format!("    \"h1:{text}A=\",\n")
    });
    let zh = digits.chars().chain(['f']).map(|digit| {
        let text: String = std::iter::repeat_n(digit, 64).collect();
        format!("    \"zh:{text}\",\n")
    });
    let hashes: String = h1.take(1).chain(zh).collect();
    format!(
        "provider \"example.com/acme/demo\" {{\n  version = \"{version}\"\n  hashes = [\n{hashes}  ]\n}}\n"
    )
}

/// A repository in which these versions of a lock file were committed one after the other.
fn history(versions: &[String]) -> Option<Repo> {
    let repo = Repo::new()?;
    for text in versions {
        repo.write(LOCK, text);
        repo.commit("lock");
    }
    Some(repo)
}

#[track_caller]
fn check(repo: &Repo, wanted: &[&str]) {
    let outcome = repo.run(&["verify", "--only", "platforms", "--platform", "linux_amd64"]);
    let titles: Vec<&str> = outcome
        .stdout
        .lines()
        .filter_map(|line| {
            line.strip_prefix("error[hashes-of-other-version]: example.com/acme/demo ")
        })
        .collect();
    assert_eq!(titles, wanted, "{outcome:#?}");
    assert_exit(&outcome, u8::from(!wanted.is_empty()));
}

#[test]
fn an_entry_with_hashes_of_the_version_before_is_an_error() {
    let (old, new) = (entry("1.0.0", "abc"), entry("1.1.0", "de0"));
    let edited = old.replace("1.0.0", "1.1.0");
    let both = entry("1.1.0", "abcde0");
    let all = ["1.1.0 is locked with 5 hashes of 1.0.0"];
    // One shared `zh:` is that of the manifest.
    let Some(repo) = history(&[old.clone(), new.clone()]) else {
        return;
    };
    check(&repo, &[]);
    check(&history(&[old.clone(), edited.clone()]).unwrap(), &all);
    check(&history(&[old.clone(), both]).unwrap(), &all);
    // Before it is committed.
    let repo = history(std::slice::from_ref(&old)).unwrap();
    repo.write(LOCK, &edited);
    check(&repo, &all);
    repo.run(&["verify", "--only", "platforms", "--platform", "linux_amd64"])
            .stdout.reads(str![[r#"
error[hashes-of-other-version]: example.com/acme/demo 1.1.0 is locked with 5 hashes of 1.0.0
 --> .terraform.lock.hcl:4:5
  |
2 |   version = "1.1.0"
  |             ------- the locked version
3 |   hashes = [
4 |     "h1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaA=",
  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ recorded for 1.0.0 before
5 |     "zh:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
  |     --------------------------------------------------------------------- recorded for 1.0.0 before
6 |     "zh:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
  |     --------------------------------------------------------------------- recorded for 1.0.0 before
7 |     "zh:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc",
  |     --------------------------------------------------------------------- recorded for 1.0.0 before
8 |     "zh:ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
  |     --------------------------------------------------------------------- recorded for 1.0.0 before
  |
  = help: run `lockctl lock . --repair --platform all` to replace them by those of 1.1.0; a merge that takes the version from one side and hashes from the other leaves such an entry

.terraform.lock.hcl: 1 error; 1 note (-v shows it)

"#]]);
    // The last change counts, and the whole history is not read.
    check(&history(&[old.clone(), edited.clone(), new]).unwrap(), &[]);
    let later = format!("# one more\n{edited}");
    check(&history(&[old, edited, later]).unwrap(), &[]);
}

#[test]
fn a_merge_that_mixes_two_versions_is_found_from_either_side() {
    let (old, new) = (entry("1.0.0", "abc"), entry("1.1.0", "de0"));
    for (branch, merged) in [("main", "side"), ("side", "main")] {
        let Some(repo) = history(std::slice::from_ref(&old)) else {
            return;
        };
        repo.git(&["checkout", "--quiet", "-b", "side"]);
        repo.write(LOCK, entry("1.0.0", "abc9"));
        repo.commit("another platform");
        repo.git(&["checkout", "--quiet", "main"]);
        repo.write(LOCK, &new);
        repo.commit("update");
        repo.git(&["checkout", "--quiet", branch]);
        repo.try_git(&["merge", "--quiet", "--no-commit", merged]);
        repo.write(LOCK, entry("1.1.0", "abc9"));
        repo.commit("merge");
        check(&repo, &["1.1.0 is locked with 6 hashes of 1.0.0"]);
        // A change of another file does not hide it.
        repo.write("README", "");
        repo.commit("readme");
        check(&repo, &["1.1.0 is locked with 6 hashes of 1.0.0"]);
    }
}

#[test]
fn all_lock_files_of_a_repository_are_compared() {
    let Some(repo) = Repo::new() else {
        return;
    };
    let (old, new) = (entry("1.0.0", "abc"), entry("1.1.0", "de0"));
    for root in ["a", "b", "c"] {
        repo.write(&format!("{root}/{LOCK}"), &old);
    }
    repo.commit("first");
    repo.write(&format!("a/{LOCK}"), old.replace("1.0.0", "1.1.0"));
    repo.write(&format!("b/{LOCK}"), &new);
    repo.commit("second");
    let outcome = repo.run(&["verify", "-r", "--only", "platforms", "--format", "json"]);
    assert_exit(&outcome, 1);
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let found = json["roots"].as_array().unwrap().iter().map(|root| {
        let findings = root["findings"].as_array().unwrap();
        findings
            .iter()
            .filter(|one| one["rule"] == "hashes-of-other-version")
            .count()
    });
    assert_eq!(found.collect::<Vec<_>>(), [1, 0, 0]);
    // A shallow clone does not know what was there before.
    let from = format!("file://{}", repo.path().display());
    repo.git(&["clone", "--quiet", "--depth=1", &from, "clone"]);
    repo.lab
        .run_in("clone", &["verify", "-r", "--only", "platforms"])
        .stdout_lacks("hashes-of-other-version");
}

#[test]
fn the_command_that_is_named_repairs_the_entry() {
    let (_registry, lab) = with_registry(DEMO);
    let all = ["lock", ".", "--platform", "all"];
    assert_exit(&lab.run(&all), 0);
    let repo = Repo { lab };
    if repo.try_git(&["init", "--quiet"]).0 != Some(0) {
        return;
    }
    repo.git(&["add", LOCK]);
    repo.commit("lock");
    repo.write("main.tf", DEMO.replace("1.0.0", "1.1.0"));
    repo.write(LOCK, repo.lab.read(LOCK).replace("1.0.0", "1.1.0"));
    // Without facts, as on another machine.
    let verify = || repo.run(&["verify", "--no-cache", "--platform", "linux_amd64"]);
    let found = verify().exits(1);
    found.stdout_has("error[hashes-of-other-version]");
    let named = found
        .stdout
        .split('`')
        .find(|text| text.starts_with("lockctl lock"));
    let command: Vec<&str> = named.unwrap().split(' ').skip(1).collect();
    assert_exit(&repo.run(&command), 0);
    assert_exit(&verify(), 0);
}
