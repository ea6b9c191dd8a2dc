//! `explain`: pages, the list of topics and rules, and names that are unknown.

use super::*;
use lockctl::diag::RULES;
use lockctl::guide::TOPICS;

#[test]
fn explain_shows_a_page_for_a_terminal() {
    let outcome = Lab::new().run(&["explain", "conflict-markers"]).exits(0);
    outcome.stdout_eq(str![[r#"
conflict-markers
error: a file has conflict markers of a merge

What it means
  Lines that begin with `<<<<<<<`, `=======` or `>>>>>>>` are in the file: a
  merge or rebase stopped with a conflict that is not resolved. Markers in
  comments and strings do not count.

If you leave it
...
Example
  .terraform.lock.hcl:
    provider "example.com/acme/greeter" {
    <<<<<<< HEAD
...
"#]]);
    assert_eq!(outcome.stderr, "");
}

#[test]
fn explain_shows_topics_before_rules() {
    let outcome = Lab::new().run(&["explain", "lock-missing", "exit-codes", "git"]);
    assert_exit(&outcome, 0);
    let headings = outcome.stdout.lines();
    let headings =
        headings.filter(|line| ["Exit codes", "Lock files in git", "lock-missing"].contains(line));
    let headings: Vec<&str> = headings.collect();
    assert_eq!(
        headings,
        ["Exit codes", "Lock files in git", "lock-missing"]
    );
    outcome.stdout_has("\n  - `0`: done");

    let outcome = Lab::new().run(&["explain", "git", "trust", "--format", "markdown"]);
    let page = |name: &str| {
        let found = TOPICS.iter().find(|topic| topic.name == name);
        found.unwrap().page
    };
    assert_eq!(
        outcome.stdout,
        format!("{}\n{}", page("git"), page("trust"))
    );
}

#[test]
fn explain_wraps_pages_as_the_terminal_is_wide() {
    let mut lab = Lab::new();
    lab.env.terminal = true;
    for (columns, wanted) in [(45, 45), (5, 30), (400, 100)] {
        lab.env.columns = Some(columns);
        let outcome = lab.run(&["explain", "lock-missing", "--color", "never"]);
        let text = outcome.stdout.split("Example").next().unwrap().to_owned();
        let widest = text.lines().skip(3).map(|line| line.chars().count()).max();
        let widest = widest.unwrap();
        // The longest line comes close to the width.
        assert!(
            (wanted - 12..=wanted).contains(&widest),
            "{columns}: {widest}"
        );
    }
}

#[test]
fn explain_prints_several_pages_as_they_are() {
    let names = ["lock-missing", "conflict-markers", "lock-missing"];
    let outcome = Lab::new().run(&[&["explain", "--format", "markdown"], &names[..]].concat());
    assert_exit(&outcome, 0);
    let page = |name: &str| lockctl::diag::named(name).page;
    let wanted = format!("{}\n{}", page("lock-missing"), page("conflict-markers"));
    assert_eq!(outcome.stdout, wanted);
}

#[test]
fn explain_lists_every_topic_and_rule_once() {
    let lab = Lab::new();
    let outcome = lab.run(&["explain"]).exits(0);
    let names = outcome
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("  - `")?.split('`').next());
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    let topics = TOPICS.iter().map(|topic| topic.name);
    let mut all: Vec<&str> = topics.chain(RULES.iter().map(|rule| rule.name)).collect();
    all.sort_unstable();
    assert_eq!(names, all);
    assert!(
        outcome
            .stdout
            .lines()
            .all(|line| line.chars().count() <= 80)
    );
    assert!(lab.run(&["explain", "-q"]).stderr.is_empty());

    let outcome = lab.run(&["explain", "--format", "markdown"]);
    for row in [
        "- `lock-missing` (error): a root has configuration but no lock file",
        "- `exit-codes`: what 0, 1 and 2 mean",
    ] {
        assert!(
            outcome.stdout.lines().any(|line| line == row),
            "{outcome:#?}"
        );
    }
}

#[test]
fn explain_gives_programs_the_same() {
    let lab = Lab::new();
    let read = |args: &[&str]| -> serde_json::Value {
        let outcome = lab.run(&[&["explain", "--format", "json"], args].concat());
        assert_exit(&outcome, 0);
        serde_json::from_str(&outcome.stdout).unwrap()
    };
    let all = read(&[]);
    assert_eq!(all["rules"].as_array().unwrap().len(), RULES.len());
    assert!(all["rules"][0].get("page").is_none());
    assert_eq!(all["topics"].as_array().unwrap().len(), TOPICS.len());
    assert!(all["topics"][0].get("page").is_none());
    let both = read(&["trust", "lock-missing"]);
    assert_eq!(both["rules"].as_array().unwrap().len(), 1);
    assert_eq!(both["topics"].as_array().unwrap().len(), 1);
    assert_eq!(both["topics"][0]["topic"], "trust");
    let page = both["topics"][0]["page"].as_str().unwrap();
    assert!(page.starts_with("# Which hashes are trusted\n"));
    let one = &read(&["platforms-incomplete"])["rules"][0];
    assert_eq!(one["rule"], "platforms-incomplete");
    assert_eq!(one["level"], "warning");
    assert_eq!(one["topic"], "Platforms and hashes");
    assert!(one["page"].as_str().unwrap().starts_with("# platforms-"));
}

#[test]
fn explain_knows_other_words_for_pages() {
    let lab = Lab::new();
    for (word, heading) in [
        ("checksum", "Which hashes are trusted"),
        ("policy", "Policy"),
        ("min_age", "release-too-young"),
        ("cooldown", "release-too-young"),
        ("pin", "key-not-allowed"),
        ("registry", "Registries, mirrors and credentials"),
        ("mirror", "A mirror of providers"),
        ("exit-code", "Exit codes"),
        ("platforms", "platforms-incomplete"),
        ("LOCK_MISSING", "lock-missing"),
    ] {
        let outcome = lab.run(&["explain", word]).exits(0);
        assert_eq!(outcome.stdout.lines().next(), Some(heading), "{word}");
    }
    // Several words may be the name of one page.
    let outcome = lab.run(&["explain", "minimum", "age"]).exits(0);
    assert!(outcome.stdout.starts_with("release-too-young\n"));
    // Two words for one page show it once.
    let once = lab.run(&["explain", "registry"]).stdout;
    assert_eq!(
        lab.run(&["explain", "registry", "proxy", "network"]).stdout,
        once
    );
}

#[test]
fn explain_searches_all_pages_for_words() {
    let lab = Lab::new();
    let outcome = lab.run(&["explain", "merge driver"]).exits(0);
    assert!(outcome.stdout.starts_with("git  "), "{}", outcome.stdout);
    let count = outcome
        .stdout
        .lines()
        .filter(|line| line.starts_with("    "))
        .count();
    assert!((1..=5).contains(&count), "{}", outcome.stdout);
    // Words may be one argument or several.
    assert_eq!(lab.run(&["explain", "merge", "driver", "set"]).code, 0);
    let json = lab.run(&["explain", "merge driver", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(document["matches"][0]["page"], "git");
    let line = document["matches"][0]["line"].as_str().unwrap();
    line.has("driver");
    let markdown = lab.run(&["explain", "merge driver", "--format", "markdown"]);
    markdown.stdout_has("| `git` | ");
}

#[test]
fn explain_says_that_it_found_nothing() {
    let lab = Lab::new();
    let outcome = lab.run(&["explain", "lock-mising"]).exits(1);
    assert_eq!(outcome.stdout, "no page has these words: lock-mising\n");
    assert_eq!(outcome.stderr, "note: did you mean lock-missing?\n");
    let outcome = lab.run(&["explain", "quux"]).exits(1);
    assert_eq!(outcome.stdout, "no page has these words: quux\n");
    assert_eq!(
        outcome.stderr,
        "note: `lockctl explain` lists all topics and rules\n"
    );
    let outcome = lab.run(&["explain", "quux", "x", "--format", "json"]);
    assert_exit(&outcome, 1);
    let document: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(document["matches"], serde_json::json!([]));
}

#[test]
fn verify_names_the_command_once() {
    let lab = simple();
    let outcome = lab.run(&["verify"]);
    assert_eq!(
        outcome.stderr,
        "note: `lockctl explain lock-missing` says what this means and how to fix it\n"
    );
    assert_eq!(lab.run(&["verify", "-q"]).stderr, "");

    // Of several the worst comes first; many are not named.
    lab.write("a/.terraform.lock.hcl", "provider \"example.com/t/x\" {}\n");
    lab.write("b/main.tf", super::ONE_PROVIDER);
    let faulty = "provider \"x/\" {}\nmodule \"m\" {}\n";
    lab.write("b/.terraform.lock.hcl", faulty);
    let stderr = |args: &[&str]| {
        lab.run(&[&["verify", "--only", "file"], args].concat())
            .stderr
    };
    assert_eq!(
        stderr(&["b"]),
        "note: `lockctl explain address-malformed module-lock` says what this means and how to fix \
         it\n"
    );
    lab.write("b/.terraform.lock.hcl", format!("{faulty}x = 1\n"));
    assert_eq!(
        stderr(&["a", "b"]),
        "note: `lockctl explain RULE` says what a finding means and how to fix it; RULE is the name \
         in brackets\n"
    );
    // What is only worth knowing needs no second word.
    let lock = lab.read("a/.terraform.lock.hcl");
    lab.write(
        "c/.terraform.lock.hcl",
        lock.replace("{}", "{\nversion = \"1.0.0\"\n}"),
    );
    assert_eq!(stderr(&["c"]), "");
}
