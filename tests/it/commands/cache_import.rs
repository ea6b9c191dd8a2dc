//! `cache import`: facts of other machines, and what false ones can do.

use super::cache::{export, json as store};
use super::facts::{downloads, lock, locked, timeless};
use super::registry::TWO;
use super::*;
use crate::registry::Registry;

/// The project file that lets imported facts count.
pub(super) const TRUSTING: &str = "trust {\n  imported_facts = true\n}\n";

/// A machine that knows nothing yet, and `facts.txt` of one that has locked `main.tf`.
fn fresh() -> (Registry, Lab, String) {
    let (registry, mut lab) = locked();
    let text = export(&lab, "facts.txt");
    move_to(&mut lab, "fresh");
    std::fs::rename(lab.path(LOCK), lab.path("first.hcl")).unwrap();
    (registry, lab, text)
}

/// Makes the lab use another store, as another machine would.
fn move_to(lab: &mut Lab, dir: &str) {
    let dir = lab.path(dir).into();
    lab.env.vars.insert("LOCKCTL_CACHE_DIR".to_owned(), dir);
}

/// The same text in which the first package has another `h1:`, well-formed as it is.
pub(super) fn falsified(text: &str) -> String {
    let at = text.find(" h1:").unwrap() + 4;
    format!("{}{}={}", &text[..at], "A".repeat(43), &text[at + 44..])
}

#[test]
fn imported_facts_replace_downloads_where_the_project_trusts_them() {
    let (registry, lab, _) = fresh();
    let outcome = lab.run(&["cache", "import", "facts.txt"]).exits(0);
    outcome.stdout_eq(str![[r#"
facts.txt: 2 facts imported

"#]]);
    outcome.stderr_eq(str![[r#"
note: imported facts replace downloads only with `trust { imported_facts = true }` in .lockctl.hcl

"#]]);
    let before = downloads(&registry);
    lab.write(".lockctl.hcl", TRUSTING);
    let outcome = lock(&lab, &[&["--format", "json"], TWO].concat()).exits(0);
    assert_eq!(downloads(&registry), before, "no package was downloaded");
    assert_eq!(lab.read(LOCK), lab.read("first.hcl"));
    let result: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let hashes = result["roots"][0]["providers"][0]["hashes"]
        .as_array()
        .unwrap();
    let from: Vec<_> = hashes
        .iter()
        .filter_map(|hash| hash["evidence"].get("fact"))
        .map(|fact| &fact["imported_from"])
        .collect();
    assert_eq!(from, ["facts.txt"; 4], "h1: and zh: of both platforms");

    // Without trust the packages are downloaded, and the facts become our own.
    std::fs::remove_file(lab.path(".lockctl.hcl")).unwrap();
    std::fs::remove_file(lab.path(LOCK)).unwrap();
    assert_exit(&lock(&lab, TWO), 0);
    assert_eq!(downloads(&registry), before + 2);
    assert_eq!(lab.read(LOCK), lab.read("first.hcl"));
    let stats = &store(&lab, &["cache", "stats"], 0)["stats"];
    assert_eq!(
        (&stats["computed"], &stats["imported"]),
        (&json!(2), &json!(0))
    );
    let outcome = lab.run(&["cache", "import", "facts.txt"]);
    assert_eq!(outcome.stdout, "facts.txt: nothing new, 2 known\n");
    assert_eq!(outcome.stderr, "");
    assert_eq!(
        export(&lab, "again.txt"),
        lab.read("facts.txt"),
        "a round trip"
    );
}

#[test]
fn imported_facts_are_not_passed_on_as_our_own() {
    let (registry, lab, text) = fresh();
    let outcome = lab.run(&["cache", "import", "facts.txt", "--from", "the other\tteam"]);
    assert_exit(&outcome, 0);
    assert_eq!(lab.run(&["cache", "export"]).stdout, "# lockctl facts 1\n");
    assert_eq!(lab.run(&["cache", "export", "--imported"]).stdout, text);
    lab.write(".lockctl.hcl", TRUSTING);
    let outcome = lock(&lab, &[&["-v"], TWO].concat());
    let text = timeless(&registry, &outcome.stdout);
    let mark = "kept since TIME, imported from the other team\n";
    assert_eq!(text.matches(mark).count(), 4, "{text}");
    let outcome = lab.run(&["cache", "import", "facts.txt", "--from", ""]);
    assert_exit(&outcome, 2);
}

#[test]
fn standard_input_is_a_file() {
    let (_registry, mut lab, text) = fresh();
    lab.env.input = text.replace('\n', "\r\n").into_bytes();
    let imported = store(&lab, &["cache", "import", "-"], 0)["imported"].take();
    let expected = json!([{
        "path": "-", "imported_from": "standard input", "new": 2, "known": 0, "left_out": 0,
    }]);
    assert_eq!(imported, expected);
}

#[test]
fn a_file_is_imported_whole_or_not_at_all() {
    let (_registry, lab, text) = fresh();
    let second = text.find("\nzh:").unwrap() + 1;
    let second = text[second..].find("\nzh:").unwrap() + 1 + second;
    let insert = |line: &str| format!("{}{line}{}", &text[..second], &text[second..]);
    let hostile: [(&str, Vec<u8>, &str); 9] = [
        (
            "another line",
            insert("<<<<<<< ours\n").into(),
            "line 3 is not a fact",
        ),
        (
            "control characters",
            text.replace("acme", "ac\u{1b}[31mme").into(),
            "line 2 is not a fact",
        ),
        (
            "text that runs backwards",
            text.replace("acme", "ac\u{202e}me").into(),
            "line 2 is not a fact",
        ),
        (
            "two truths",
            format!("{text}{}", falsified(&text).lines().nth(1).unwrap()).into(),
            "line 11 contradicts an earlier line",
        ),
        (
            "a long line",
            insert(&"x".repeat(5000)).into(),
            "line 3 is not a fact",
        ),
        (
            "not text",
            [text.as_bytes(), b"\xff\n"].concat(),
            "it is not UTF-8 text",
        ),
        (
            "another header",
            text.replace("facts 1", "facts 2").into(),
            "it does not begin with \"# lockctl facts 1\"",
        ),
        (
            "nothing",
            Vec::new(),
            "it does not begin with \"# lockctl facts 1\"",
        ),
        (
            "100 MB",
            [b"# lockctl facts 1\n".to_vec(), vec![b'\n'; 100_000_000]].concat(),
            "it has more than 16777216 bytes",
        ),
    ];
    for (name, content, why) in hostile {
        lab.write("hostile.txt", content);
        let outcome = lab.run(&["cache", "import", "hostile.txt"]).exits(2);
        let expected = format!(
            "error: hostile.txt cannot be imported\n  cause: {why}\n  help: name a file that `lockctl cache \
             export` wrote\n"
        );
        assert_eq!(outcome.stderr, expected, "{name}");
        assert!(!lab.path("fresh").exists(), "{name}");
    }
    // One file that is refused stops no other.
    let outcome = lab.run(&["cache", "import", "missing.txt", "facts.txt"]);
    assert_exit(&outcome, 2);
    assert_eq!(outcome.stdout, "facts.txt: 2 facts imported\n");
}

#[test]
fn an_import_that_contradicts_our_own_fact_is_an_alarm() {
    let (_registry, mut lab, text) = fresh();
    lab.write("false.txt", falsified(&text));
    assert_exit(&lock(&lab, &["--platform", "darwin_arm64"]), 0);
    let before = lab.run(&["cache", "export"]).stdout;
    let outcome = lab.run(&["cache", "import", "false.txt"]).exits(1);
    outcome.stderr_eq(str![[r#"
error: false.txt contradicts facts that are kept
  cause: registry.terraform.io/acme/demo 1.0.0 darwin_arm64: it states h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=, computed here: h1:x9H1h1LABKmLYuuofnqhAunnT6KdAoOwaC5LWNJs24U=
  help: nothing was imported; find out who wrote false.txt: what it states is false

"#]]);
    assert_eq!(outcome.stdout, "");
    assert_eq!(
        lab.run(&["cache", "export", "--imported"]).stdout,
        before,
        "what else the file states is not worth more"
    );
    let imported = &store(&lab, &["cache", "import", "false.txt"], 1)["imported"][0];
    assert_eq!(imported["contradictions"][0]["platform"], "darwin_arm64");
    assert!(imported["failure"].is_object());

    // The same holds for a file that is to be written, and for two imports.
    let outcome = lab.run(&["cache", "export", "false.txt", "-r"]).exits(1);
    outcome.stderr_has("help: nothing was written; ");
    assert_eq!(lab.read("false.txt"), falsified(&text));
    move_to(&mut lab, "third");
    assert_exit(&lab.run(&["cache", "import", "false.txt"]), 0);
    let outcome = lab.run(&["cache", "import", "facts.txt"]).exits(1);
    let help = "help: nothing was imported; one of both is false: `lockctl cache clean --imported`";
    outcome.stderr_has(help);
}

/// A false fact can put a false `h1:` beside signed `zh:` hashes, if the
/// project trusts it, and whoever looks at the package finds it.
#[test]
fn a_false_fact_counts_only_where_it_is_trusted_and_is_found_by_proof() {
    let (registry, lab, text) = fresh();
    lab.write("false.txt", falsified(&text));
    assert_exit(&lab.run(&["cache", "import", "false.txt"]), 0);
    let is_false = |lab: &Lab| lab.read(LOCK).contains("AAAAAAAAAA");
    assert_exit(&lock(&lab, TWO), 0);
    assert!(!is_false(&lab), "no one trusts it");
    assert_eq!(lab.read(LOCK), lab.read("first.hcl"));

    assert_exit(&lab.run(&["cache", "clean", "--all"]), 0);
    std::fs::remove_file(lab.path(LOCK)).unwrap();
    assert_exit(&lab.run(&["cache", "import", "false.txt"]), 0);
    lab.write(".lockctl.hcl", TRUSTING);
    assert_exit(&lock(&lab, TWO), 0);
    assert!(is_false(&lab));
    // It names no package by itself: all zh: are those of the signed list.
    let zh = |text: &str| text.lines().filter(|line| line.contains("zh:")).count();
    assert_eq!(zh(&lab.read(LOCK)), zh(&lab.read("first.hcl")));
    // The h1: of the package is missing.
    assert_exit(&lock(&lab, &[&["--prove", "--check"], TWO].concat()), 1);
    // With all packages of the release, the false one is of none.
    let all = ["--prove", "--platform", "all"];
    let outcome = lock(&lab, &all).exits(1);
    outcome.stderr_has("contradict a hash of the lock file\n  cause: h1:AAAAAAAAAA");
    assert_exit(&lock(&lab, &[&all[..], &["--repair"]].concat()), 0);
    assert!(!is_false(&lab));
    let stats = &store(&lab, &["cache", "stats"], 0)["stats"];
    assert_eq!(stats["imported"], 0, "the truth is kept");

    // A false zh: leads nowhere: the signed list does not name it.
    assert_exit(&lab.run(&["cache", "clean", "--all"]), 0);
    std::fs::remove_file(lab.path(LOCK)).unwrap();
    let digits = "0123456789abcdef".repeat(4);
    let start = text.find("zh:").unwrap() + 3;
    let strange = format!("{}{digits}{}", &text[..start], &text[start + 64..]);
    lab.write("strange.txt", strange);
    assert_exit(&lab.run(&["cache", "import", "strange.txt"]), 0);
    let before = downloads(&registry);
    assert_exit(&lock(&lab, TWO), 0);
    assert_eq!(downloads(&registry), before + 1, "one of two is known");
    assert_eq!(lab.read(LOCK), lab.read("first.hcl"));
}
