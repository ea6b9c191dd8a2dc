//! `log`: the history of providers in a lock file.

use super::diff_git::below;
use super::*;

/// One entry of a lock file; its hashes depend on version and mark.
fn entry(addr: &str, version: &str, mark: &str) -> String {
    let hash = |n: usize| {
        let digit = |c: char| char::from_digit((c as u32 + n as u32) % 16, 16).unwrap();
        let seed: String = format!("{addr}{version}{mark}")
            .chars()
            .map(digit)
            .collect();
        seed.chars().cycle().take(64).collect::<String>()
    };
    format!(
        "provider \"registry.terraform.io/{addr}\" {{\n  version = \"{version}\"\n  hashes = [\n    \"zh:{}\",\n    \"zh:{}\",\n  ]\n}}\n",
        hash(1),
        hash(2)
    )
}

fn by(repo: &Repo, author: &str, subject: &str) {
    repo.git(&["add", "--all"]);
    let author = format!("{author} <x@example.com>");
    repo.git(&["commit", "--quiet", "--author", &author, "-m", subject]);
}

/// A provider that moves, changes hands, breaks and is published again.
fn eventful() -> Option<Repo> {
    let repo = Repo::new()?;
    repo.write(".gitattributes", "*.hcl -text\n")
        .write("main.tf", "");
    let aws = |version, mark| entry("hashicorp/aws", version, mark);
    let null = entry("hashicorp/null", "3.2.0", "");
    let live = format!("live/{LOCK}");
    repo.write(LOCK, aws("5.0.0", ""));
    by(&repo, "Ann", "first");
    repo.write(LOCK, aws("5.1.0", "") + &null);
    by(&repo, "Bob", "upgrade, and one more");
    repo.git(&["rm", "--quiet", LOCK]);
    repo.write(&live, aws("5.1.0", "") + &null);
    by(&repo, "Bob", "move");
    repo.write(&live, "provider {\n");
    by(&repo, "Eve", "break");
    repo.write(&live, aws("5.1.0", "others") + &null);
    by(&repo, "Eve\u{1b}[31m \u{202e}x", "repair\u{1b}[2J");
    repo.write("main.tf", "# unrelated\n");
    by(&repo, "Ann", "unrelated");
    repo.write(&live, null);
    by(&repo, "Ann", "drop");
    Some(repo)
}

/// Replaces the names of commits, which hang on the version of git's formats.
fn named(repo: &Repo, text: &str) -> String {
    let commits = repo.git(&["log", "--format=%H %s"]);
    let mut text = text.to_owned();
    for line in commits.lines() {
        let (id, subject) = line.split_once(' ').unwrap();
        let name: String = subject
            .chars()
            .take_while(char::is_ascii_alphabetic)
            .collect();
        text = text
            .replace(id, subject)
            .replace(&id[..10], &format!("@{name:<9}"));
    }
    text
}

#[test]
fn the_history_follows_renames_and_marks_alarms() {
    let Some(repo) = eventful() else { return };
    let outcome = repo.run(&["log", "./live"]).exits(0);
    named(&repo, &outcome.stdout).reads(str![[r#"
    DATE        COMMIT      AUTHOR       PROVIDER        VERSION        CHANGE
    2024-05-06  @drop       Ann          hashicorp/aws   5.1.0          removed
!!  2024-05-06  @repair     Eve�[31m �x  hashicorp/aws   5.1.0          hashes-replaced
    2 of 2 zh: were replaced, but the version did not change: the release was published again, or the lock file was tampered with
    2024-05-06  @upgrade    Bob          hashicorp/aws   5.0.0 → 5.1.0  upgraded
    2024-05-06  @upgrade    Bob          hashicorp/null  3.2.0          added
    2024-05-06  @first      Ann          hashicorp/aws   5.0.0          added
5 changes of 2 providers in 4 commits, 1 alarming

"#]]);
    named(&repo, &outcome.stderr).reads(str![[r#"
warning: @break    :live/.terraform.lock.hcl could not be read and is skipped: Unclosed configuration block

"#]]);
    let of_null = repo.run(&["log", "null", "live"]);
    named(&repo, &of_null.stdout).reads(str![[r#"
DATE        COMMIT      AUTHOR  PROVIDER        VERSION  CHANGE
2024-05-06  @upgrade    Bob     hashicorp/null  3.2.0    added
1 change of 1 provider in 1 commit, nothing alarming

"#]]);
    let typed = repo.run(&["log", "hashicorp/null", "live"]);
    assert_eq!(typed.stdout, of_null.stdout);
    let nothing = repo.run(&["log", "hashicorp/nul", "live"]).exits(0);
    assert_eq!(nothing.stdout, "no commit has a matching change\n");
    nothing.stderr_has("note: did you mean hashicorp/null?\n");
    let nothing = repo.run(&["log", "vault", "live"]).exits(0);
    nothing.stderr_has("note: the lock files name hashicorp/aws, hashicorp/null\n");
    let none = repo.run(&["log", "-n", "0"]).exits(2);
    none.stderr_has("invalid value '0' for '--max-count <N>'");
}

#[test]
fn a_root_is_named_without_its_last_slash() {
    let Some(repo) = eventful() else { return };
    repo.git(&["rm", "--quiet", "-r", "live"]);
    by(&repo, "Ann", "removed");
    let json = repo
        .run(&["log", "null", "live/", "--format", "json"])
        .json();
    assert_eq!(json["roots"][0]["path"], "live");
}

#[test]
fn a_change_has_the_cause_that_diff_names() {
    let Some(repo) = Repo::new() else { return };
    let lock = |version: &str| {
        format!(
            "provider \"registry.terraform.io/hashicorp/null\" {{\n  version     = \"{version}\"\n  constraints = \"~> {version}\"\n  hashes = [\n    \"h1:{version}\",\n  ]\n}}\n"
        )
    };
    repo.write(LOCK, lock("3.2.0")).commit("old");
    repo.write(LOCK, lock("4.0.0")).commit("new");
    let log = repo.run(&["log", "-n", "1", "--format", "json"]).json();
    let diff = repo
        .run(&["diff", "HEAD~..HEAD", "--format", "json"])
        .json();
    let cause = &log["roots"][0]["providers"][0]["cause"];
    assert_eq!(*cause, diff["files"][0]["changes"][0]["cause"]);
    assert_eq!(
        *cause,
        "the major version changed, so all hashes changed; the constraints changed (~> 3.2.0 → ~> 4.0.0)"
    );
}

#[test]
fn json_has_every_change() {
    let Some(repo) = eventful() else { return };
    let outcome = repo.run(&["log", "hashicorp/aws", "live", "--format", "json"]);
    assert_exit(&outcome, 0);
    let said = outcome.json();
    let root = &said["roots"][0];
    assert_eq!(root["status"], "clean");
    let broken = root["findings"].as_array().unwrap().iter();
    assert!(
        broken
            .map(|one| one["file"].as_str().unwrap())
            .all(|file| file.ends_with(&format!(":live/{LOCK}")))
    );
    assert_ne!(root["findings"], json!([]));
    let changes = root["providers"].as_array().unwrap();
    let shown = changes
        .iter()
        .map(|one| (&one["kinds"], &one["risk"], &one["path"]));
    let live = format!("live/{LOCK}");
    assert_eq!(
        json!(shown.collect::<Vec<_>>()),
        json!([
            [["removed"], "routine", live],
            [["hashes-replaced"], "danger", live],
            [["upgraded"], "routine", LOCK],
            [["added"], "notice", LOCK],
        ])
    );
    assert_eq!(changes[2]["author"], "Bob");
    assert_eq!(changes[2]["subject"], "upgrade, and one more");
    assert_eq!(changes[2]["date"], "2024-05-06T07:08:09+00:00");
    let side = json!({"provider": "registry.terraform.io/hashicorp/aws", "version": "5.0.0", "constraints": ""});
    assert_eq!(changes[2]["old"], side);
}

#[test]
fn a_merge_is_listed_only_for_what_no_parent_has() {
    let Some(repo) = Repo::new() else { return };
    let base = entry("hashicorp/null", "3.2.0", "");
    let (a, b) = (entry("a/a", "1.0.0", ""), entry("b/b", "1.0.0", ""));
    repo.write(LOCK, &base).commit("base");
    repo.git(&["checkout", "--quiet", "-b", "side"]);
    repo.write(LOCK, b.clone() + &base).commit("side");
    repo.git(&["checkout", "--quiet", "main"]);
    repo.write(LOCK, a.clone() + &base).commit("own");
    let merge = |text: &str| {
        repo.try_git(&["merge", "--quiet", "--no-commit", "side"]);
        repo.write(LOCK, text).commit("merge");
        let outcome = repo.run(&["log", "--format", "json"]).exits(0);
        let said: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let changes = said["roots"][0]["providers"].as_array().unwrap();
        let own = changes.iter().filter(|one| one["subject"] == "merge");
        let own = own.map(|one| one["provider"].as_str().unwrap().to_owned());
        (own.collect::<Vec<_>>(), changes.len())
    };
    assert_eq!(merge(&(a.clone() + &b + &base)), (Vec::new(), 3));
    repo.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    let evil = entry("hashicorp/null", "3.2.0", "evil");
    let null = "registry.terraform.io/hashicorp/null".to_owned();
    assert_eq!(merge(&(a + &b + &evil)), (vec![null], 4));
}

#[test]
fn without_history_it_says_so() {
    let lab = Lab::new();
    std::fs::remove_dir(lab.path(".git")).unwrap();
    let Some(repo) = Repo::new() else { return };
    lab.run(&["log"]).exits(2).stderr_eq(str![[r#"
error: . is in no git repository
  help: name a directory of a repository with -C

"#]]);
    repo.run(&["log"]).exits(2).stderr_eq(str![[r#"
error: the current branch has no commit yet
  help: commit the files first

"#]]);
    repo.commit("nothing");
    let outcome = repo.run(&["log"]).exits(0);
    assert_eq!(outcome.stdout, "no commit has a matching change\n");
}

#[test]
fn a_shallow_clone_says_that_it_is_one() {
    let Some(repo) = eventful() else { return };
    let clone = Repo::new().unwrap();
    let from = format!("file://{}", repo.path().display());
    clone.git(&["clone", "-q", "--depth=1", &from, "clone"]);
    let outcome = clone.run(&["log", "./clone"]).exits(0);
    outcome.stderr_has("the clone is shallow");
    repo.run(&["log", "./live"]).stderr_lacks("shallow");
}

/// Two roots, of which one was removed.
fn two_roots() -> Option<Repo> {
    let repo = Repo::new()?;
    let null = |version| entry("hashicorp/null", version, "");
    let (a, b) = (format!("a/{LOCK}"), format!("b/{LOCK}"));
    repo.write(&a, null("3.2.0"))
        .write(&b, null("3.1.0"))
        .write("a/main.tf", "");
    by(&repo, "Ann", "first");
    repo.write(&b, null("3.2.0"));
    by(&repo, "Bob", "second");
    repo.write(&a, null("3.2.1"));
    by(&repo, "Ann", "third");
    repo.git(&["rm", "--quiet", "-r", "b"]);
    by(&repo, "Bob", "removed");
    Some(repo)
}

#[test]
fn without_a_root_every_lock_file_is_listed() {
    let Some(repo) = two_roots() else { return };
    let outcome = repo.run(&["log"]).exits(0);
    named(&repo, &outcome.stdout).reads(str![[r#"
DATE        COMMIT      AUTHOR  PROVIDER        VERSION        CHANGE    ROOTS  WHERE
2024-05-06  @removed    Bob     hashicorp/null  3.2.0          removed   1      b
2024-05-06  @third      Ann     hashicorp/null  3.2.0 → 3.2.1  upgraded  1      a
2024-05-06  @second     Bob     hashicorp/null  3.1.0 → 3.2.0  upgraded  1      b
2024-05-06  @first      Ann     hashicorp/null  3.2.0          added     1      a
2024-05-06  @first      Ann     hashicorp/null  3.1.0          added     1      b
5 changes of 1 provider in 4 commits, nothing alarming

"#]]);
    assert_eq!(below(&repo, "a", &["log"]).1, outcome.stdout);
    let json = repo.run(&["log", "null", "--format", "json"]);
    let said = json.json();
    let roots = said["roots"].as_array().unwrap().iter();
    let counts = roots.map(|root| (&root["path"], root["providers"].as_array().unwrap().len()));
    assert_eq!(
        json!(counts.collect::<Vec<_>>()),
        json!([["a", 2], ["b", 3]])
    );
}

#[test]
fn removed_roots_and_bare_repositories_have_a_history() {
    let Some(repo) = two_roots() else { return };
    let removed = repo.run(&["log", "./b"]).exits(0);
    named(&repo, &removed.stdout).reads(str![[r#"
DATE        COMMIT      AUTHOR  PROVIDER        VERSION        CHANGE
2024-05-06  @removed    Bob     hashicorp/null  3.2.0          removed
2024-05-06  @second     Bob     hashicorp/null  3.1.0 → 3.2.0  upgraded
2024-05-06  @first      Ann     hashicorp/null  3.1.0          added
3 changes of 1 provider in 3 commits, nothing alarming

"#]]);
    repo.bare("bare.git");
    for args in [
        &["log", "./b"] as &[&str],
        &["log", "null", "b"],
        &["log", &format!("./b/{LOCK}")],
    ] {
        let (code, said) = below(&repo, "bare.git", args);
        assert_eq!((code, &said), (Some(0), &removed.stdout), "{args:?}");
    }
    let (_, there) = below(&repo, "bare.git", &["log", "./a"]);
    assert_eq!(there, repo.run(&["log", "./a"]).stdout);
    let (_, whole) = below(&repo, "bare.git", &["log"]);
    assert_eq!(whole, repo.run(&["log"]).stdout);
    repo.run(&["log", "./nowhere"]).exits(2).stderr_eq(str![[r#"
error: ./nowhere is not there, and no commit has a lock file in it
  help: `lockctl log` without a root lists every lock file of the repository

"#]]);
}

#[test]
fn a_directory_that_is_typed_as_a_provider_gets_a_hint() {
    let Some(repo) = eventful() else { return };
    repo.write("live/main.tf", "");
    repo.run(&["log", "live"]).exits(0).stderr_eq(str![[r#"
warning: d074fd00df:live/.terraform.lock.hcl could not be read and is skipped: Unclosed configuration block
note: live counts as a provider; write ./live for the directory

"#]]);
}

/// The newest of many commits are enough for `-n`, unless they hold no change of what is asked for.
#[test]
fn a_number_of_commits_is_found_however_old_they_are() {
    let Some(repo) = Repo::new() else { return };
    let null = |minor: usize| entry("hashicorp/null", &format!("3.{minor}.0"), "");
    repo.write(&format!("old/{LOCK}"), null(0)).commit("old");
    repo.write(&format!("old/{LOCK}"), "provider {\n")
        .commit("broken");
    for minor in 0..30 {
        repo.write(&format!("new/{LOCK}"), null(minor))
            .commit("new");
    }
    repo.write(&format!("old/{LOCK}"), null(2))
        .commit("repaired");
    let whole = repo.run(&["log"]).stdout;
    let newest = repo.run(&["log", "-n", "2"]).exits(0);
    let first = |text: &str| text.lines().take(3).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(first(&newest.stdout), first(&whole));
    assert!(
        newest
            .stdout
            .ends_with("2 changes of 1 provider in 2 commits, nothing alarming\n")
    );
    for (count, changes) in [("1", "1 change "), ("2", "2 changes "), ("9", "2 changes ")] {
        let old = repo.run(&["log", "./old", "-n", count]).exits(0);
        let verdict = old.stdout.lines().last().unwrap();
        assert!(verdict.starts_with(changes), "{count}: {}", old.stdout);
        // What was broken in between is compared with what was before it.
        old.stdout_has("3.0.0 → 3.2.0");
    }
}

/// Runs a command in a directory; returns its output, and what git recorded about its own processes.
fn traced(dir: &std::path::Path, args: &[&str]) -> (String, String) {
    let trace = crate::temp::dir();
    let file = trace.path().join("trace");
    let ended = std::process::Command::new(env!("CARGO_BIN_EXE_lockctl"))
        .args(args)
        .current_dir(dir)
        .env("GIT_TRACE", &file)
        .output()
        .unwrap();
    let output = String::from_utf8(ended.stdout).unwrap();
    assert_eq!(ended.status.code(), Some(0), "{output}");
    (output, std::fs::read_to_string(&file).unwrap_or_default())
}

/// Outside of repositories git is not asked again for every root.
#[test]
fn git_is_asked_once_about_roots_in_no_repository() {
    let Some(_) = Repo::new() else { return };
    let dir = crate::temp::dir();
    for number in 0..12 {
        let root = dir.path().join(format!("c{number:02}"));
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join(LOCK), entry("hashicorp/null", "3.0.0", "")).unwrap();
    }
    let (page, trace) = traced(dir.path(), &["report", "-r", "--out", "-"]);
    page.has("is in no git repository");
    let processes = trace.matches("git rev-parse").count();
    assert!(processes <= 3, "{processes}: {trace}");
}

/// Roots of a repository share its commits; one that lies inside has its own.
#[test]
fn a_repository_is_read_once_for_all_roots() {
    let Some(repo) = two_roots() else { return };
    let null = |version| entry("hashicorp/null", version, "");
    for number in 0..12 {
        repo.write(&format!("c{number:02}/{LOCK}"), null("3.0.0"));
    }
    repo.commit("more");
    repo.git(&["init", "--quiet", "inside"]);
    repo.write(&format!("inside/{LOCK}"), null("4.0.0"));
    repo.git(&["-C", "inside", "add", "--all"]);
    repo.git(&["-C", "inside", "commit", "--quiet", "-m", "inside"]);
    let traced = |args: &[&str]| {
        let (output, trace) = traced(repo.path(), args);
        let count = |command: &str| trace.matches(command).count();
        (
            output,
            count("built-in: git"),
            count(" log --max") + count(" log -c"),
        )
    };
    let (all, processes, walks) = traced(&["log", "-r"]);
    assert_eq!(walks, 2, "{all}");
    assert!(processes <= 8, "{processes}");
    all.has("4.0.0");
    let (own, processes, walks) =
        traced(&["log", "./a", "./c00", "./c01", "./c02", "./c03", "-n", "9"]);
    assert_eq!(walks, 1, "{own}");
    assert_eq!(
        processes, 3,
        "the repository, its commits, and the versions"
    );
    own.lacks("4.0.0");
    let (_, trace) = self::traced(repo.path(), &["log", "./a", "-n", "9"]);
    assert!(trace.contains("--max-count=38"), "{trace}");
}
