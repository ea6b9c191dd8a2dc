//! Entries with a fault: they are present, what is sound in them is compared, and what has one right form is
//! repaired.

use super::diff::text;
use super::*;

const ENTRY: &str = "registry.terraform.io/hashicorp/null 3.2.1 ~> 3.0 | h1:a zh:a zh:b zh:c";

/// What somebody wrote in place of something sound, and what becomes of it.
const FAULTS: &[(&str, &str)] = &[
    ("\"~> 3.0\"", "\"~> 3\""),
    ("\"~> 3.0\"", "\"~>3.0\""),
    ("\"~> 3.0\"", "\"nonsense\""),
    ("\"3.2.1\"", "\"v3.2.1\""),
    ("\"3.2.1\"", "\"3.2.01\""),
    ("\"3.2.1\"", "\"nonsense\""),
    (
        "registry.terraform.io/hashicorp",
        "registry.terraform.io/HashiCorp",
    ),
    ("  hashes = [", "  oops = 1\n  hashes = ["),
    ("  hashes = [", "  hashes = [\n    \"none\","),
    ("  hashes = [", "  hashes = ["),
];

/// The file twice, the second one without its header, as a merge leaves it.
fn twice(text: &str) -> String {
    let (_, entries) = text.split_once("\n\n").unwrap();
    format!("{text}\n{entries}")
}

#[test]
fn an_entry_with_a_fault_is_neither_removed_nor_added() {
    let lab = Lab::new();
    let good = text(&[ENTRY]);
    lab.write("good.hcl", &good);
    for (sound, written) in FAULTS {
        let faulty = good.replace(sound, written);
        // The last row has no fault of its own: there the entry stands twice.
        let faulty = if faulty == good { twice(&good) } else { faulty };
        lab.write("faulty.hcl", &faulty);
        let came = lab.run(&["diff", "good.hcl", "faulty.hcl"]);
        // A broken file may hide anything.
        assert_exit(&came, 2);
        assert!(
            came.stdout.contains(
                "warning  hashicorp/null  3.2.1  fault-added  the entry is there, with a fault"
            ) && came.stdout.contains("1 provider with a fault"),
            "{written}: {}",
            came.stdout
        );
        let went = lab.run(&["diff", "faulty.hcl", "good.hcl"]);
        assert!(
            went.stdout.contains("routine  hashicorp/null  3.2.1  fault-removed  the fault that the entry had is gone"),
            "{written}: {}",
            went.stdout
        );
    }
}

#[test]
fn a_replaced_hash_behind_a_fault_stays_danger() {
    let lab = Lab::new();
    lab.write("good.hcl", text(&[ENTRY]));
    let replaced = text(&[&ENTRY.replace("zh:c", "zh:d")]);
    for (sound, written) in FAULTS {
        let faulty = replaced.replace(sound, written);
        let faulty = if faulty == replaced {
            text(&[ENTRY]) + replaced.split_once("\n\n").unwrap().1
        } else {
            faulty
        };
        lab.write("faulty.hcl", faulty);
        let outcome = lab.run(&["diff", "good.hcl", "faulty.hcl", "--format", "json"]);
        let json: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
        let change = &json["files"][0]["changes"][0];
        assert_eq!(change["risk"], "danger", "{written}: {json:#}");
        assert_eq!(
            change["kinds"],
            serde_json::json!(["hashes-replaced", "fault-added"])
        );
    }
}

#[test]
fn show_and_log_list_an_entry_with_a_fault() {
    let Some(repo) = Repo::new() else { return };
    let good = text(&[ENTRY]);
    repo.write(LOCK, &good).commit("good");
    repo.write(LOCK, good.replace("~> 3.0", "~> 3").replace("cccc", "dddd"))
        .commit("faulty");
    repo.run(&["show"]).exits(2).stdout_eq(str![[r#"
PROVIDER        VERSION        CONSTRAINTS  h1  zh  other  KNOWN PLATFORMS
hashicorp/null  3.2.1 (fault)  ~> 3.0       1   3   0      -

"#]]);
    let outcome = repo.run(&["show", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let row = &json["roots"][0]["providers"][0];
    assert_eq!(row["fault"], "Invalid provider version constraints");
    assert_eq!((&row["h1_count"], &row["zh_count"]), (&1.into(), &3.into()));
    let outcome = repo.run(&["log", "."]).exits(0);
    outcome.stdout_has("hashes-replaced");
    outcome.stdout_has("2 changes of 1 provider in 2 commits");
    outcome.stderr_has("has entries with a fault, which are listed all the same");
}

/// Texts that have one right form: the sound one, another one, and how that is named.
const FORMS: &[(&str, &str, &str)] = &[
    (
        "\"~> 1.0\"",
        "\"~> 1\"",
        "the constraints of example.com/t/x must be written \"~> 1.0\", not \"~> 1\"",
    ),
    (
        "\"1.1.0\"",
        "\"v1.1.0\"",
        "the version of example.com/t/x must be written \"1.1.0\", not \"v1.1.0\"",
    ),
    (
        "example.com/t/x",
        "Example.com/t/x",
        "the address must be written \"example.com/t/x\", not \"Example.com/t/x\"",
    ),
];

#[test]
fn a_text_with_one_right_form_is_repaired_and_named() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    let good = lab.read(LOCK);
    for (right, wrong, named) in FORMS {
        let faulty = good.replace(right, wrong);
        assert_ne!(faulty, good);
        let at_risk: [(&[&str], u8); 2] = [(&["fmt", "--check"], 1), (&["verify"], 1)];
        for (command, code) in at_risk {
            lab.write(LOCK, &faulty);
            let outcome =
                lab.run(&[command, if command[0] == "verify" { BOTH } else { &[] }].concat());
            assert_exit(&outcome, code);
            assert_eq!(lab.read(LOCK), faulty);
            if command[0] == "verify" {
                outcome.stdout_has("run `lockctl fmt");
            }
        }
        for command in ["fmt", "lock", "verify --fix"] {
            lab.write(LOCK, &faulty);
            let outcome = match command {
                "fmt" => lab.run(&["fmt"]),
                "lock" => lock(&lab, BOTH),
                _ => lab.run(&[&["verify", "--fix"], BOTH].concat()),
            };
            assert_exit(&outcome, 0);
            assert_eq!(lab.read(LOCK), good, "{command}");
            let said = outcome.stdout + &outcome.stderr;
            assert!(
                said.contains("fixed") && said.contains(named),
                "{command}: {said}"
            );
        }
        lab.write(LOCK, &faulty);
        assert_exit(&lock(&lab, &[&["--check"], BOTH].concat()), 1);
        assert_eq!(lab.read(LOCK), faulty);
    }
}

#[test]
fn the_constraints_that_a_bot_wrote_are_repaired() {
    let lab = simple();
    lab.write("main.tf", lab.read("main.tf").replace("~> 1.0", "= 1.1.0"));
    assert_exit(&lock(&lab, BOTH), 0);
    let good = lab.read(LOCK);
    let by_bot = good.replace("constraints = \"1.1.0\"", "constraints = \"= 1.1.0\"");
    assert_ne!(by_bot, good);
    lab.write(LOCK, by_bot);
    assert_exit(&lock(&lab, BOTH), 0);
    assert_eq!(lab.read(LOCK), good);
}

#[test]
fn nothing_is_repaired_beside_another_fault() {
    let lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    let wrong = lab.read(LOCK).replace("\"~> 1.0\"", "\"~> 1\"");
    for faulty in [
        wrong.clone() + "oops = 1\n",
        wrong.replace("h1:", "h1"),
        wrong.clone() + "}",
    ] {
        lab.write(LOCK, &faulty);
        for command in [&["fmt"][..], &["verify", "--fix"]] {
            assert_ne!(lab.run(command).code, 0);
            assert_eq!(lab.read(LOCK), faulty);
        }
        assert_exit(&lock(&lab, BOTH), 2);
        assert_eq!(lab.read(LOCK), faulty);
    }
}

#[test]
fn a_merge_repairs_a_text_with_one_right_form() {
    let lab = Lab::new();
    let null =
        |hashes: &str| format!("registry.terraform.io/hashicorp/null 3.2.1 ~> 3.0 | {hashes}");
    lab.write("base", text(&[&null("h1:a zh:a")]));
    lab.write("ours", text(&[&null("h1:a h1:b zh:a")]));
    lab.write(
        "theirs",
        text(&[&null("h1:a h1:c zh:a")]).replace("~> 3.0", "~> 3"),
    );
    let outcome = lab.run(&["merge", "base", "ours", "theirs"]).exits(0);
    assert_eq!(lab.read("ours"), text(&[&null("h1:a h1:b h1:c zh:a")]));
    outcome.stderr_has("fixed: the constraints of");
}

#[test]
fn explain_finds_an_entry_with_a_fault() {
    let mut lab = simple();
    assert_exit(&lock(&lab, BOTH), 0);
    let good = lab.read(LOCK);
    let error = "Error: Invalid provider version number\n\n  on .terraform.lock.hcl line 5:\n\n\
                 The selected version number for provider\nexample.com/t/x is invalid\n";
    lab.env.input = error.as_bytes().to_vec();
    for (written, command) in [("v1.1.0", "fix: lockctl fmt"), ("nonsense", "fix: ")] {
        lab.write(LOCK, good.replace("\"1.1.0\"", &format!("\"{written}\"")));
        let outcome = lab.run(&["explain", "-"]);
        let said = &outcome.stdout;
        said.lacks("has no entry for it");
        said.has("verify: error[version-malformed]");
        said.has(command);
    }
}
