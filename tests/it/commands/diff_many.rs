//! `lockctl diff` over many lock files: equal changes once, what is alarming first.

use super::diff::text;
use super::*;

/// How many bytes a comment of a forge takes.
const MAX_COMMENT_BYTES: usize = 65_536;

fn requires(constraint: &str) -> String {
    format!(
        "terraform {{\n  required_providers {{\n    tool = {{ source = \"acmecorp/tool\", version = \"{constraint}\" }}\n  }}\n}}\n"
    )
}

/// A repository whose second commit changes lock files: of each root the entries before and now.
fn changed(roots: &[(String, Vec<&str>, Vec<&str>)]) -> Option<Repo> {
    let repo = Repo::new()?;
    for (root, old, _) in roots {
        repo.write(&format!("{root}/{LOCK}"), text(old));
        repo.write(&format!("{root}/main.tf"), requires("1.0.0"));
    }
    repo.commit("first");
    for (root, _, new) in roots {
        repo.write(&format!("{root}/{LOCK}"), text(new));
        repo.write(&format!("{root}/main.tf"), requires("1.1.0"));
    }
    repo.commit("second");
    Some(repo)
}

const TOOL_OLD: &str = "registry.terraform.io/acmecorp/tool 1.0.0 1.0.0 | h1:a zh:a zh:b zh:c";
const TOOL_NEW: &str = "registry.terraform.io/acmecorp/tool 1.1.0 1.1.0 | h1:d zh:d zh:e zh:f";
const OTHER: &str = "registry.terraform.io/acmecorp/other 2.0.0 | h1:a zh:a zh:b zh:c";
const OTHER_EVIL: &str = "registry.terraform.io/acmecorp/other 2.0.0 | h1:a zh:a zh:b zh:d";

/// Lock files with the same upgrade, and a replaced hash in the last of them.
fn with_one_replaced_hash(count: usize) -> Option<Repo> {
    let roots = (1..=count).map(|at| {
        let other = if at == count { OTHER_EVIL } else { OTHER };
        let (old, new) = (vec![OTHER, TOOL_OLD], vec![other, TOOL_NEW]);
        (format!("live/{at:03}"), old, new)
    });
    changed(&roots.collect::<Vec<_>>())
}

#[test]
fn danger_in_the_last_of_many_files_comes_first() {
    let Some(repo) = with_one_replaced_hash(130) else {
        return;
    };
    repo.run(&["diff", "HEAD~..HEAD"]).exits(0).stdout_eq(str![[r#"
danger   acmecorp/other  2.0.0          hashes-replaced                        1 of 3 zh: was replaced, but the version did not change: the release was published again, or the lock file was tampered with; nothing in the configuration requires it
    in live/130/.terraform.lock.hcl
routine  acmecorp/tool   1.0.0 → 1.1.0  upgraded (minor), constraints-changed  the constraint in the configuration changed from 1.0.0 to 1.1.0
    in all 130 lock files
1 provider upgraded with new constraints, 1 with other hashes under the same version in 130 lock files; danger: acmecorp/other in live/130/.terraform.lock.hcl

"#]]);
    let markdown = repo.run(&["diff", "HEAD~..HEAD", "--format", "markdown"]);
    assert!(markdown.stdout.len() < 10_000, "{}", markdown.stdout.len());
    markdown.stdout.split("<details>").next().unwrap().reads(str![[r#"
**1 provider upgraded with new constraints, 1 with other hashes under the same version in 130 lock files; danger: acmecorp/other in live/130/.terraform.lock.hcl**

| RISK | PROVIDER | VERSION | CHANGE | REMARK | LOCK FILES | WHERE |
|---|---|---|---|---|---|---|
| **danger** | [`acmecorp/other`](https://registry.terraform.io/providers/acmecorp/other/latest) | [`2.0.0`](https://registry.terraform.io/providers/acmecorp/other/2.0.0) | `hashes-replaced` | 1 of 3 zh: was replaced, but the version did not change: the release was published again, or the lock file was tampered with; nothing in the configuration requires it | 1 | `live/130/.terraform.lock.hcl` |
| routine | [`acmecorp/tool`](https://registry.terraform.io/providers/acmecorp/tool/latest) | [`1.0.0 → 1.1.0`](https://registry.terraform.io/providers/acmecorp/tool/1.1.0) | `upgraded (minor), constraints-changed` | the constraint in the configuration changed from 1.0.0 to 1.1.0 | 130 | `live/001/.terraform.lock.hcl`, `live/002/.terraform.lock.hcl`, `live/003/.terraform.lock.hcl`, `live/004/.terraform.lock.hcl`, `live/005/.terraform.lock.hcl` and 125 more |


"#]]);
    // Everything is still there for those who want it.
    let verbose = repo.run(&["diff", "HEAD~..HEAD", "-v"]);
    assert_eq!(verbose.stdout.matches(LOCK).count(), 132);
}

#[test]
fn what_does_not_fit_into_a_comment_is_counted() {
    // As many different changes as there are files.
    let versions = |at: usize| {
        let entry = |minor: usize, hash: &str| {
            let hashes: String = (0..30)
                .map(|n| format!(" zh:{hash}{n:02}{at:03}"))
                .collect();
            format!("registry.terraform.io/acmecorp/tool{at} 1.{minor}.{at} |{hashes}")
        };
        (entry(0, "a"), entry(1, "b"))
    };
    let all: Vec<(String, String)> = (0..150).map(versions).collect();
    let mut roots: Vec<(String, Vec<&str>, Vec<&str>)> = all
        .iter()
        .enumerate()
        .map(|(at, (old, new))| (format!("live/{at:03}"), vec![&**old], vec![&**new]))
        .collect();
    roots.push(("zz".to_owned(), vec![OTHER], vec![OTHER_EVIL]));
    let Some(repo) = changed(&roots) else { return };
    let markdown = repo.run(&["diff", "HEAD~..HEAD", "--format", "markdown"]);
    assert_exit(&markdown, 0);
    let text = &markdown.stdout;
    assert!(
        text.len() <= 60_000 && text.len() < MAX_COMMENT_BYTES,
        "{}",
        text.len()
    );
    let first = text.lines().find(|line| line.starts_with("| **")).unwrap();
    first.has("acmecorp/other");
    first.has("`zz/.terraform.lock.hcl`");
    let rows = text
        .lines()
        .filter(|line| line.starts_with("| routine"))
        .count();
    let left_out = format!("\n… and {} more (`-v` shows all)\n", 150 - rows);
    text.has(&left_out);
    text.has("danger: acmecorp/other in zz/.terraform");
}

#[test]
fn deviations_are_below_what_is_the_same() {
    let root = |name: &str, constraints: &str| {
        let new = format!("registry.terraform.io/acmecorp/tool 1.1.0 {constraints} | h1:d zh:d");
        (name.to_owned(), new)
    };
    let news = [
        root("a", "1.1.0"),
        root("b", "1.1.0"),
        root("c", ">= 1.0.0, 1.1.0"),
        root("d", "1.1.0"),
    ];
    let old = "registry.terraform.io/acmecorp/tool 1.0.0 1.0.0 | h1:a zh:a";
    let roots = news
        .iter()
        .map(|(name, new)| (name.clone(), vec![old], vec![&**new]));
    let Some(repo) = changed(&roots.collect::<Vec<_>>()) else {
        return;
    };
    repo.run(&["diff", "HEAD~..HEAD"]).stdout_eq(str![[r#"
routine  acmecorp/tool  1.0.0 → 1.1.0  upgraded (minor), constraints-changed  the constraint in the configuration changed from 1.0.0 to 1.1.0
    in all 4 lock files
    in c/.terraform.lock.hcl: the constraints changed (1.0.0 → >= 1.0.0, 1.1.0)
1 provider upgraded with new constraints in 4 lock files, nothing alarming

"#]]);
}

#[test]
fn files_of_alarming_changes_are_named() {
    let roots = (1..=8).map(|at| {
        let (old, new) = (vec![OTHER], vec![OTHER_EVIL]);
        (format!("live/{at}"), old, new)
    });
    let Some(repo) = changed(&roots.collect::<Vec<_>>()) else {
        return;
    };
    repo.run(&["diff", "HEAD~..HEAD"]).stdout_eq(str![[r#"
danger  acmecorp/other  2.0.0  hashes-replaced  1 of 3 zh: was replaced, but the version did not change: the release was published again, or the lock file was tampered with; nothing in the configuration requires it
    in all 8 lock files
1 provider with other hashes under the same version in 8 lock files; danger: acmecorp/other in live/1/.terraform.lock.hcl and 7 more

"#]]);
}

#[test]
fn a_root_that_was_removed_is_routine() {
    let Some(repo) = with_one_replaced_hash(2) else {
        return;
    };
    repo.git(&["rm", "--quiet", "-r", "live/001"]);
    repo.commit("removed");
    repo.run(&["diff", "HEAD~..HEAD"]).stdout_eq(str![[r#"
live/001/.terraform.lock.hcl
routine  the file was removed with its root
routine  acmecorp/other  2.0.0  removed
routine  acmecorp/tool   1.1.0  removed
2 providers removed, nothing alarming

"#]]);
    // The configuration is still there: the next init locks anew.
    repo.git(&["rm", "--quiet", &format!("live/002/{LOCK}")]);
    repo.commit("removed");
    let outcome = repo.run(&["diff", "HEAD~..HEAD"]);
    outcome.stdout_has("warning  the file was removed, so");
    // Beside a stray file there never was a configuration.
    let stray = format!("stray/{LOCK}");
    repo.write(
        &stray,
        repo.git(&["show", &format!("HEAD~:live/002/{LOCK}")]),
    );
    repo.commit("stray");
    repo.git(&["rm", "--quiet", &stray]);
    for range in ["HEAD", "HEAD~..HEAD"] {
        let outcome = repo.run(&["diff", range]);
        outcome.stdout_has("routine  the file was removed with its root");
        repo.commit("removed");
    }
}

/// The old side is read by the rules of its own lock file: Terraform ignores what OpenTofu prefers.
#[test]
fn the_configuration_of_each_side_is_read_by_its_own_flavor() {
    let Some(repo) = Repo::new() else { return };
    let config = |constraint: &str| requires(constraint).replace("acmecorp/tool", "hashicorp/null");
    let tofu = |text: String| text.replace("terraform init", "tofu init");
    let old = "registry.terraform.io/hashicorp/null 3.2.1 3.2.1 | h1:a zh:a";
    let new = "registry.opentofu.org/hashicorp/null 3.2.4 3.2.4 | h1:b zh:b";
    repo.write("main.tf", config("3.2.1"))
        .write("main.tofu", config("3.2.4"))
        .write(LOCK, text(&[old]))
        .commit("first");
    repo.write(LOCK, tofu(text(&[new]))).commit("second");
    repo.run(&["diff", "HEAD~..HEAD"]).stdout_eq(str![[r#"
.terraform.lock.hcl
notice  the header is that of `tofu init` now
notice  registry.opentofu.org/hashicorp/null  3.2.1 → 3.2.4  host-switched, upgraded (patch), constraints-changed  now from registry.opentofu.org; the constraint in main.tofu:3 changed from 3.2.1 to 3.2.4
1 provider from another source, nothing alarming

"#]]);
}
