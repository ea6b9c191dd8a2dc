//! `report`: one page about many roots.

use std::time::{Duration, SystemTime};

use lockctl::world::mem::MemClock;

use super::registry::{DEMO, TWO, point_at, with_registry};
use super::*;
use crate::registry::{Registry, TestKey};
use crate::scenarios::Packages;

/// An entry of a lock file with a hash of one platform.
pub(super) fn entry(addr: &str, version: &str) -> String {
    format!(
        "provider \"registry.terraform.io/{addr}\" {{\n  version = \"{version}\"\n  hashes = [\n    \
         \"h1:vSUZJPJlJhDOkbAT+iqt7AAQArew8uExp71bJtBUdMw=\",\n  ]\n}}\n"
    )
}

/// A repository of three roots, of which two are alike and one lags.
pub(super) fn repository() -> Option<Repo> {
    let repo = Repo::new()?;
    for (root, version) in [("a", "5.1.0"), ("b", "5.1.0"), ("old", "3.2.0")] {
        let major = version.split('.').next().unwrap();
        repo.write(
            &format!("{root}/main.tf"),
            format!(
                "terraform {{\n  required_providers {{\n    aws = {{\n      source  = \"hashicorp/aws\"\n      version = \"~> {major}.0\"\n    }}\n  }}\n}}\n"
            ),
        );
        repo.write(&format!("{root}/{LOCK}"), entry("hashicorp/aws", version));
    }
    repo.commit("lock");
    Some(repo)
}

/// Writes the page and returns it.
#[track_caller]
pub(super) fn page(repo: &Repo, args: &[&str]) -> String {
    let args = [&["report", "-r", "--out", "page.html"], args].concat();
    repo.run(&args).exits(0);
    repo.lab.read("page.html")
}

#[test]
fn equal_roots_share_a_row_and_the_reason_of_a_lag_is_named() {
    let Some(repo) = repository() else { return };
    let page = page(&repo, &[]);
    for part in [
        "<title>Provider versions</title>",
        "As of 2024-05-06",
        "<summary>a and 1 more</summary><ul><li>a<li>b</ul>",
        "<td class=d0>5.1.0 ◐",
        "<td class=d4>3.2.0 ◐",
        "<h3 id=\"provider=hashicorp/aws\">",
        "holds back 5.1.0</td><td>old/main.tf:5</td>",
        "allows 5.1.0",
        "<code>platforms-incomplete</code>",
    ] {
        let (_, body) = page.split_once("<main>").unwrap();
        assert!(page.contains(part), "{part}: {body}");
    }
}

#[test]
fn the_day_of_the_run_makes_no_difference() {
    let Some(mut repo) = repository() else { return };
    let first = page(&repo, &[]);
    repo.lab.clock = MemClock::at(SystemTime::now() + Duration::from_secs(400 * 86_400));
    assert_eq!(page(&repo, &[]), first);
    repo.lab.set("SOURCE_DATE_EPOCH", "1700000000");
    assert!(page(&repo, &[]).contains("As of 2023-11-14"));
}

#[test]
fn a_page_is_written_whatever_was_found() {
    let Some(repo) = repository() else { return };
    let quiet = repo.run(&["report", "-r", "-q", "--out", "page.html"]);
    quiet.exits(0).stdout.reads(str![]);
    repo.write(&format!("broken/{LOCK}"), "provider {\n");
    let outcome = repo.run(&["report", "-r", "--out", "page.html"]);
    outcome.exits(2);
    assert!(repo.lab.read("page.html").contains("broken"));
    let outcome = repo.run(&["report", "-r", "--out", "no/such/page.html"]);
    let outcome = outcome.exits(2);
    outcome.stderr.reads(str![[r#"
error: no/such/page.html cannot be written
  cause: [..]
  help: name a file in a directory that can be written with --out

"#]]);
}

#[test]
fn a_page_about_nothing_is_not_written() {
    let lab = Lab::new();
    lab.write("page.html", "the page of yesterday");
    lab.run(&["report", "--out", "page.html"]).exits(2);
    assert_eq!(lab.read("page.html"), "the page of yesterday");
}

#[test]
fn the_history_says_who_moved_a_provider() {
    let Some(repo) = repository() else { return };
    repo.write(&format!("a/{LOCK}"), entry("hashicorp/aws", "5.2.0"));
    repo.commit("upgrade");
    let page = page(&repo, &[]);
    let (_, history) = page.split_once("<h2 id=\"history\">").unwrap();
    for part in [
        "aria-label=\"Versions of hashicorp/aws from 2024-05-06 to 2024-05-07: 3 versions between 3.2.0 and 5.2.0, 3 \
         groups of roots\"",
        "<td>2024-05-06</td>",
        "<td>Ann Author</td><td>5.1.0 → 5.2.0, upgraded</td><td>a</td>",
        "<td>- → 5.1.0, added</td><td><details><summary>2 roots</summary><ul><li>a<li>b</ul>",
    ] {
        assert!(history.contains(part), "{part}: {history}");
    }
}

#[test]
fn a_line_ends_where_a_root_moves_to_another_registry() {
    let Some(repo) = repository() else { return };
    let moved = entry("hashicorp/aws", "5.1.0").replace("terraform.io", "opentofu.org");
    for root in ["a", "b"] {
        repo.write(&format!("{root}/{LOCK}"), &moved);
    }
    repo.commit("to the other program");
    let page = page(&repo, &[]);
    let (_, history) = page.split_once("<h2 id=\"history\">").unwrap();
    let figure = |host: &str| {
        let caption = format!("<figcaption>{host}/hashicorp/aws</figcaption>");
        let (_, figure) = history.split_once(&caption).unwrap();
        figure.split_once("</figure>").unwrap().0
    };
    // The right edge of a chart; `old` stays at the first registry.
    let lasting = |host: &str| figure(host).matches("H696\"/>").count();
    let lines = |host: &str| figure(host).matches("<path class=\"l").count();
    let (old, new) = ("registry.terraform.io", "registry.opentofu.org");
    assert_eq!(
        (lines(old), lasting(old) - axes(figure(old))),
        (2, 1),
        "{}",
        figure(old)
    );
    assert_eq!(
        (lines(new), lasting(new) - axes(figure(new))),
        (1, 1),
        "{}",
        figure(new)
    );
    assert!(figure(old).contains("host-switched"), "{}", figure(old));
    assert!(page.contains("<option>hashicorp/aws</option>"));
}

/// Counts the lines of the axis of versions, which have the same right edge.
fn axes(figure: &str) -> usize {
    figure
        .split("<path class=\"axis\"")
        .skip(1)
        .filter(|path| {
            path.split("/>")
                .next()
                .is_some_and(|path| path.contains("H696"))
        })
        .count()
}

#[test]
fn names_of_strangers_are_text() {
    let Some(repo) = repository() else { return };
    let hostile = "<script>alert(1)<\u{2215}script>\"'&\u{202e}\u{1b}[31m";
    let long = "x".repeat(200);
    repo.write(
        &format!("{hostile}/{long}/{LOCK}"),
        entry("hashicorp/aws", "1.0.0"),
    );
    repo.write(
        &format!("{hostile}/{long}/main.tf"),
        "terraform {\n  required_providers {\n    aws = { source = \"hashicorp/aws\", version = \"<script>\" }\n  }\n}\nmodule \"m\" { source = \"../<script>\" }\n",
    );
    repo.git(&["add", "--all"]);
    // git itself takes the brackets of tags out of names.
    let author = format!("Eve\"\u{202e}{} <x@example.com>", "y".repeat(10_000));
    repo.git(&["commit", "--quiet", "-m", hostile, "--author", &author]);
    for args in [&["--title", hostile][..], &["--graph", "hashicorp/aws"]] {
        repo.run(&[&["report", "-r", "--out", "page.html"], args].concat());
        let page = repo.lab.read("page.html");
        assert_eq!(page.matches("<script>").count(), 1, "only our own");
        assert!(!page.contains(['\u{202e}', '\u{1b}']));
        assert!(!page.contains(&"y".repeat(1000)));
    }
    for format in ["svg", "mermaid", "dot"] {
        let outcome = repo.run(&["why", "hashicorp/aws", "-r", "--format", format]);
        assert!(!outcome.stdout.contains("<script"), "{}", outcome.stdout);
    }
    let outcome = repo.run(&["log", "--format", "svg"]).exits(0);
    assert!(!outcome.stdout.contains("<script"), "{}", outcome.stdout);
}

#[test]
fn a_graph_of_one_root_or_one_provider_is_drawn() {
    let Some(repo) = repository() else { return };
    let both = page(&repo, &["--graph", "old", "--graph", "aws"]);
    for part in [
        "aria-label=\"Graph of hashicorp/aws\"",
        "<li>a, b → ~&gt; 5.0, a/main.tf:5, b/main.tf:5",
        "<figcaption>old</figcaption>",
    ] {
        assert!(both.contains(part), "{part}");
    }
    repo.run(&["report", "--out", "page.html", "old"]).exits(0);
    assert!(
        repo.lab
            .read("page.html")
            .contains("<figcaption>old</figcaption>")
    );
    let outcome = repo.run(&["report", "-r", "--out", "page.html", "--graph", "nothing"]);
    outcome.exits(2).stderr_has("nothing cannot be drawn");
}

#[test]
fn the_history_is_a_picture_of_its_own() {
    let Some(repo) = repository() else { return };
    let outcome = repo.run(&["log", "--format", "svg", "-q"]).exits(0);
    assert!(
        outcome
            .stdout
            .starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"")
    );
    assert!(
        outcome.stdout.contains("A a and 1 more</text>"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn requirements_are_drawn_as_mermaid() {
    let Some(repo) = repository() else { return };
    let outcome = repo.run(&["why", "aws", "-r", "--format", "mermaid", "-q"]);
    outcome.exits(0).stdout.reads(str![[r#"
flowchart LR
  n0(["hashicorp/aws"])
  n1["~#gt; 3.0<br/>old/main.tf:5"]
  n2["~#gt; 5.0<br/>a/main.tf:5<br/>b/main.tf:5"]
  n3["old"]
  n4["a<br/>b"]
  n1 --> n0
  n2 --> n0
  n3 --> n1
  n4 --> n2

"#]]);
}

#[test]
fn registries_say_how_far_versions_lag() {
    let (_registry, lab) = with_registry(&DEMO.replace("~> 1.0.0", "1.0.0"));
    lab.run(&[&["lock"], TWO].concat()).exits(0);
    let demo = DEMO.replace("~> 1.0.0", ">= 1.0.0, < 1.2.0");
    lab.write("main.tf", demo);
    let page = |args: &[&str]| {
        lab.run(&[&["report", "--out", "page.html"], args].concat())
            .exits(0);
        lab.read("page.html")
    };
    // Nothing newer is locked anywhere.
    page(&[]).has("<td class=d0>1.0.0");
    let asked = page(&["--upstream"]);
    for part in [
        "<td class=d2>1.0.0",
        "holds back 1.2.0",
        &TestKey::Main.id(),
    ] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
}

#[test]
fn a_change_of_the_signing_key_is_listed_with_its_commit() {
    let Some(mut repo) = Repo::new() else { return };
    let registry = Registry::start();
    Packages::recorded().publish(&registry);
    point_at(&mut repo.lab, &registry);
    let move_to = |version: &str| {
        repo.write("main.tf", DEMO.replace("~> 1.0.0", version));
        repo.run(&[&["update"], TWO].concat()).exits(0);
        // As a job on the main branch does; the key is a fact then.
        repo.run(&[&["verify", "--upstream"], TWO].concat())
            .exits(0);
        repo.commit(version);
    };
    move_to("1.0.0");
    let page = || repo.run(&["report", "--out", "-"]).exits(0).stdout.clone();
    page().has("No signing key changed, as far as keys are known: those of 1 of 1 release.");
    registry.reset(&json!({"keys": ["stranger"], "sign_with": "stranger"}));
    move_to("1.1.0");
    // Facts also know the key of what is locked no more.
    move_to("1.2.0");
    let (main, stranger) = (TestKey::Main.id(), TestKey::Stranger.id());
    page().has(format!(
        "acme/demo: signing key changed from {main} to {stranger}"
    ));
}
