//! `explain -`: the recorded errors of both programs, in each form in which they are printed.

use super::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A message as a program printed it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Recorded {
    severity: String,
    title: String,
    detail: String,
}

/// How `lockctl explain -` sees one message: the kinds of error, or titles that are not recognised.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    known: Vec<String>,
    unknown: Vec<String>,
}

/// Titles of recorded messages that are not about providers or lock files, with the reason.
const NOT_ABOUT_PROVIDERS: &[(&str, &str)] = &[(
    "Failed to parse command-line flags",
    "an option that the program does not have",
)];

/// Words in a title that say that it is about providers or lock files.
const ABOUT: &[&str] = &[
    "rovider",
    "lock file",
    "hash",
    "checksum",
    "plugin",
    "registry host",
];

fn fixture(path: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(path);
    let text = std::fs::read_to_string(path).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Every message with its text, by the recorded scenarios (`fixtures/source-cases`).
fn with_text() -> Vec<Recorded> {
    let mut found = Vec::new();
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/source-cases");
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".json"))
        .collect();
    names.sort();
    for name in names {
        let group = fixture(&format!("source-cases/{name}"));
        for scenario in group["scenarios"].as_array().into_iter().flatten() {
            for outcome in scenario["outcomes"].as_object().unwrap().values() {
                // A text says that a later version did the same as an earlier one.
                for message in outcome["diagnostics"].as_array().into_iter().flatten() {
                    let text = |field: &str| {
                        let text = message[field].as_str().unwrap_or_default();
                        text.replace("{localhost}", "localhost:8443")
                            .replace("{lab", "https://127.0.0.1:8443/{")
                    };
                    found.push(Recorded {
                        severity: text("severity"),
                        title: text("title"),
                        detail: text("detail"),
                    });
                }
            }
        }
    }
    found
}

/// Every message of which only the title was recorded (`fixtures/cases`).
fn titles() -> Vec<Recorded> {
    let mut found = Vec::new();
    for group in [
        "parse",
        "lifecycle",
        "registry",
        "runtime",
        "opentofu",
        "selection",
        "core_version",
        "addresses",
        "merge",
    ] {
        let value = fixture(&format!("cases/{group}.json"));
        collect(&value["cases"], group == "parse", &mut found);
    }
    found
}

/// Walks through cases; `in_lock` says that the messages are about the text of a lock file.
fn collect(value: &Value, in_lock: bool, found: &mut Vec<Recorded>) {
    let mut add = |severity: &str, title: &str| {
        // That one is a word of the recorder: the program printed the trace of a panic.
        if title.contains("crashed") {
            return;
        }
        let in_lock = in_lock || title == "Unsupported argument";
        found.push(Recorded {
            severity: severity.to_owned(),
            title: title.to_owned(),
            detail: if in_lock {
                "  on .terraform.lock.hcl line 3:".to_owned()
            } else {
                String::new()
            },
        });
    };
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, in_lock, found)),
        Value::Object(fields) => {
            for (name, field) in fields {
                match (name.as_str(), field) {
                    ("errors", Value::Array(titles)) => {
                        let titles = titles.iter().filter_map(Value::as_str);
                        titles.for_each(|title| add("error", title));
                    }
                    ("diagnostics", Value::Array(all)) => {
                        for message in all {
                            let text = |field: &str| message[field].as_str().unwrap();
                            add(text("severity"), text("summary"));
                        }
                    }
                    _ => {}
                }
            }
            for (name, field) in fields {
                if !["errors", "diagnostics"].contains(&name.as_str()) {
                    collect(field, in_lock || name == "lock_label", found);
                }
            }
        }
        _ => {}
    }
}

/// Every title of an error that `init`, `providers` or `plan` printed for a recorded configuration.
fn titles_of_configurations() -> BTreeSet<Recorded> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/config-cases");
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let path = if path.is_dir() {
            path.join("case.txtar")
        } else {
            path
        };
        if path
            .extension()
            .is_none_or(|extension| extension != "txtar")
        {
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
        for section in text.split("\n-- expected").skip(1) {
            let (_, body) = section.split_once(" --\n").unwrap();
            let mut stream = serde_json::Deserializer::from_str(body).into_iter::<Value>();
            let expected = stream.next().unwrap().unwrap();
            for (command, titles) in expected["errors"].as_object().into_iter().flatten() {
                if !["init", "plan", "providers", "providers lock"].contains(&command.as_str()) {
                    continue;
                }
                for title in titles.as_array().unwrap() {
                    found.insert(Recorded {
                        severity: "error".to_owned(),
                        title: title.as_str().unwrap().to_owned(),
                        detail: String::new(),
                    });
                }
            }
        }
    }
    found
}

impl Recorded {
    /// The message in a box, wrapped as the programs do.
    fn boxed(&self) -> String {
        let word = if self.severity == "warning" {
            "Warning"
        } else {
            "Error"
        };
        let mut text = format!("╷\n│ {word}: {}\n│ \n", self.title);
        for line in self.detail.lines() {
            // The programs wrap no line that is indented.
            let lines = if line.starts_with(' ') {
                vec![line.to_owned()]
            } else {
                wrapped(line)
            };
            for line in lines {
                text += &format!("│ {line}\n");
            }
        }
        text + "╵\n"
    }

    /// The message as a line of `-json`.
    fn json(&self) -> String {
        json!({
            "@level": self.severity,
            "@module": "terraform.ui",
            "type": "diagnostic",
            "diagnostic": {
                "severity": self.severity,
                "summary": self.title,
                "detail": self.detail,
            },
        })
        .to_string()
            + "\n"
    }
}

fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().unwrap();
        if last.is_empty() {
            word.clone_into(last);
        } else if last.chars().count() + 1 + word.chars().count() <= 76 {
            *last += " ";
            *last += word;
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// Runs the command on an output, with the exit code that its answer must have.
fn explained(lab: &mut Lab, output: &str) -> Vec<Value> {
    lab.env.input = output.as_bytes().to_vec();
    let outcome = lab.run(&["explain", "-", "--format", "json"]);
    let document = outcome.json();
    let rows = document["symptoms"].as_array().unwrap().clone();
    let is_unknown = |row: &Value| row.get("symptom").is_none();
    let bad = rows
        .iter()
        .any(|row| is_unknown(row) && row["severity"] == "error")
        || rows.iter().all(is_unknown);
    assert_exit(&outcome, u8::from(bad));
    rows
}

fn seen(rows: &[Value]) -> Seen {
    let text = |row: &Value, field: &str| row[field].as_str().unwrap_or_default().to_owned();
    let (known, unknown): (Vec<&Value>, Vec<&Value>) =
        rows.iter().partition(|row| row.get("symptom").is_some());
    Seen {
        known: known.iter().map(|row| text(row, "symptom")).collect(),
        unknown: unknown.iter().map(|row| text(row, "title")).collect(),
    }
}

fn is_explained(title: &str) -> bool {
    NOT_ABOUT_PROVIDERS
        .iter()
        .any(|(known, _)| title.starts_with(known))
}

#[test]
fn every_recorded_message_is_recognised_in_both_forms() {
    let mut lab = Lab::new();
    let (mut recognised, mut not) = (0, BTreeMap::<String, usize>::new());
    let mut fallbacks = BTreeMap::<String, usize>::new();
    let recorded = with_text();
    let mut distinct: BTreeMap<&Recorded, Seen> = BTreeMap::new();
    for message in &recorded {
        if !distinct.contains_key(message) {
            let boxed = seen(&explained(&mut lab, &message.boxed()));
            let json = seen(&explained(&mut lab, &message.json()));
            assert_eq!(boxed, json, "{message:#?}");
            distinct.insert(message, boxed);
        }
        let seen = &distinct[message];
        if seen.unknown.is_empty() {
            recognised += 1;
        } else {
            *not.entry(message.title.clone()).or_default() += 1;
        }
        for name in &seen.known {
            if name.ends_with("-failed") {
                *fallbacks
                    .entry(format!("{name}: {}", message.detail))
                    .or_default() += 1;
            }
        }
    }
    println!(
        "messages with text: {} ({} distinct), {recognised} recognised, not: {not:#?}",
        recorded.len(),
        distinct.len()
    );
    assert!(not.keys().all(|title| is_explained(title)), "{not:#?}");
    // A text of its own says more than the title: only these have none.
    fallbacks.retain(|name, _| !name.starts_with("discovery-failed"));
    assert_eq!(fallbacks, BTreeMap::new());
    assert_eq!(
        (recorded.len(), distinct.len(), recognised),
        (654, 328, 643)
    );
}

#[test]
fn every_recorded_title_is_recognised() {
    let mut lab = Lab::new();
    let recorded = titles();
    let mut names: BTreeMap<&Recorded, Seen> = BTreeMap::new();
    for message in &recorded {
        if !names.contains_key(message) {
            names.insert(message, seen(&explained(&mut lab, &message.boxed())));
        }
    }
    let not: BTreeSet<&str> = recorded
        .iter()
        .filter(|message| !names[message].unknown.is_empty())
        .map(|message| message.title.as_str())
        .collect();
    println!(
        "titles: {} ({} distinct), not: {not:#?}",
        recorded.len(),
        names.len()
    );
    assert!(not.iter().all(|title| is_explained(title)), "{not:#?}");
    assert_eq!((recorded.len(), names.len(), not.len()), (561, 64, 1));
}

#[test]
fn titles_of_configurations_about_providers_are_recognised() {
    let mut lab = Lab::new();
    let recorded = titles_of_configurations();
    let not: Vec<&str> = recorded
        .iter()
        .filter(|message| {
            !seen(&explained(&mut lab, &message.boxed()))
                .unknown
                .is_empty()
        })
        .map(|message| message.title.as_str())
        .collect();
    println!(
        "titles of configurations: {}, not: {not:#?}",
        recorded.len()
    );
    for title in &not {
        assert!(!ABOUT.iter().any(|word| title.contains(word)), "{title}");
    }
    assert_eq!((recorded.len(), not.len()), (208, 165));
}

#[test]
fn provider_version_and_platform_are_found() {
    let mut lab = Lab::new();
    for message in with_text() {
        let rows = explained(&mut lab, &message.boxed());
        let text = format!("{} {}", message.title, message.detail);
        if text.contains("acme/demo") {
            let provider = rows[0]["provider"].as_str().unwrap_or_default();
            assert!(provider.ends_with("/acme/demo"), "{rows:#?}");
        }
        if text.contains("acme/demo v1.0.0") {
            assert_eq!(rows[0]["version"], "1.0.0", "{rows:#?}");
        }
        if text.contains("for your current platform, linux_amd64")
            || text.contains("for linux_amd64 ")
        {
            assert_eq!(rows[0]["platform"], "linux_amd64", "{rows:#?}");
        }
    }
}

#[test]
fn the_lock_file_of_the_working_directory_is_looked_at() {
    let mut lab = Lab::new();
    lab.write(
        "main.tf",
        "terraform {\n  required_providers {\n    demo = {\n      source  = \"acme/demo\"\n      version = \"~> 2.0\"\n    }\n    other = { source = \"acme/other\" }\n  }\n}\n",
    );
    lab.write(
        ".terraform.lock.hcl",
        "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n\nprovider \"registry.terraform.io/acme/demo\" {\n  version     = \"1.0.0\"\n  constraints = \"~> 1.0\"\n  hashes = [\n    \"h1:DXqaovDRhkmWv/SNlmK7iSo7EZLTzAy5TPCV2wqnRik=\",\n  ]\n}\n",
    );
    let conflict = Recorded {
        severity: "error".into(),
        title: "Failed to query available provider packages".into(),
        detail: "Could not retrieve the list of available versions for provider acme/demo: locked provider registry.terraform.io/acme/demo 1.0.0 does not match configured version constraint ~> 2.0; must use terraform init -upgrade to allow selection of new versions".into(),
    };
    let rows = explained(&mut lab, &conflict.boxed());
    assert_eq!(rows[0]["symptom"], "locked-version-conflicts");
    assert_eq!(rows[0]["entry"], "locked");
    assert_eq!(rows[0]["page"], "version-outside-constraint");
    let rules: BTreeSet<&str> = rows[0]["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["rule"].as_str().unwrap())
        .collect();
    assert!(rules.contains("version-outside-constraint"), "{rules:?}");
    rows[0]["command"].as_str().unwrap().has(" update ");
    // No update helps where constraints exclude each other.
    let root = lab.read("main.tf");
    let child = "module \"m\" {\n  source = \"./m\"\n}\n";
    lab.write("main.tf", format!("{root}{child}"));
    lab.write("m/main.tf", root.replace("~> 2.0", "~> 3.0"));
    let rows = explained(&mut lab, &conflict.boxed());
    assert!(rows[0]["command"].is_null(), "{rows:#?}");
    let outcome = lab.run(&["explain", "-"]);
    let words: Vec<&str> = outcome.stdout.split_whitespace().collect();
    let fix = "fix: change one of the constraints, which exclude each other: \"~> 2.0\" in the root module and \
               \"~> 3.0\" in module.m";
    assert!(words.join(" ").contains(fix), "{}", outcome.stdout);
    lab.write("main.tf", root);

    let missing = Recorded {
        severity: "error".into(),
        title: "Inconsistent dependency lock file".into(),
        detail: "The following dependency selections recorded in the lock file are inconsistent with the current configuration:\n  - provider registry.terraform.io/acme/other: required by this configuration but no version is selected\nTo update the locked dependency selections to match a changed configuration, run:\n  terraform init -upgrade".into(),
    };
    let rows = explained(&mut lab, &missing.boxed());
    assert_eq!(rows[0]["symptom"], "entry-missing");
    assert_eq!(rows[0]["entry"], "missing");
    assert_eq!(rows[0]["provider"], "registry.terraform.io/acme/other");
    assert_eq!(rows[0]["findings"][0]["rule"], "provider-not-locked");
    // The lab starts it with `-C`, so advice names the directory.
    assert_eq!(rows[0]["command"], "lockctl lock .");
}

/// `init` installs nothing where the locked version does not fit, so it is no fix for a missing package.
#[test]
fn a_package_that_init_would_not_install_has_the_fix_of_its_finding() {
    let mut lab = simple();
    assert_exit(&lock(&lab, &["--platform", "linux_amd64"]), 0);
    let missing = |text: &str| {
        Recorded {
            severity: "error".into(),
            title: "Required plugins are not installed".into(),
            detail: format!("The installed provider plugins are not consistent with the packages selected in the dependency lock file:\n  - example.com/t/x: {text}"),
        }
        .boxed()
    };
    let texts = [
        "there is no package for example.com/t/x 1.1.0 cached in .terraform/providers",
        "the cached package for example.com/t/x 1.1.0 (in .terraform/providers) does not match any of the checksums recorded in the dependency lock file",
    ];
    for text in texts {
        let rows = explained(&mut lab, &missing(text));
        assert_ne!(rows[0]["page"], "version-outside-constraint");
    }
    lab.write("main.tf", ONE_PROVIDER.replace("~> 1.0", "~> 2.0"));
    for text in texts {
        let rows = explained(&mut lab, &missing(text));
        assert_eq!(rows[0]["page"], "version-outside-constraint", "{rows:#?}");
        assert_eq!(rows[0]["command"], "lockctl update . example.com/t/x");
    }
    let fix = ["update", ".", "example.com/t/x", "--fs-mirror", "mirror"];
    assert_exit(&lab.run(&fix), 0);
    let rows = explained(&mut lab, &missing(texts[0]));
    assert_ne!(rows[0]["page"], "version-outside-constraint");
}

/// An entry without `zh:` hashes lacks that of this machine's platform: `lock` adds it. What several providers
/// share is printed once.
#[test]
fn entries_that_lack_a_platform_are_one_error_with_its_fix() {
    let mut lab = Lab::new();
    lab.write(
        "main.tf",
        "terraform {\n  required_providers {\n    a = { source = \"acme/a\" }\n    b = { source = \"acme/b\" }\n  }\n}\n",
    );
    let entry = |name: &str| {
        format!(
            "provider \"registry.terraform.io/acme/{name}\" {{\n  version = \"1.0.0\"\n  hashes = [\n    \"h1:DXqaovDRhkmWv/SNlmK7iSo7EZLTzAy5TPCV2wqnRik=\",\n  ]\n}}\n"
        )
    };
    lab.write(
        ".terraform.lock.hcl",
        format!(
            "# This file is maintained automatically by \"terraform init\".\n# Manual edits may be lost in future updates.\n\n{}\n{}",
            entry("a"),
            entry("b")
        ),
    );
    let error = |name: &str| {
        Recorded {
            severity: "error".into(),
            title: "Failed to install provider".into(),
            detail: format!("Error while installing acme/{name} v1.0.0: the current package for registry.terraform.io/acme/{name} 1.0.0 doesn't match any of the checksums previously recorded in the dependency lock file; for more information: https://developer.hashicorp.com/terraform/language/files/dependency-lock#checksum-verification"),
        }
        .boxed()
    };
    let output = error("a") + &error("b");
    let rows = explained(&mut lab, &output);
    assert_eq!(rows.len(), 2);
    for row in &rows {
        assert_eq!(row["page"], "zh-missing");
        assert_eq!(row["command"], "lockctl lock .");
    }
    lab.env.input = output.into_bytes();
    let text = lab.run(&["explain", "-"]).stdout;
    for once in ["error: Failed to install provider", "fix: lockctl lock ."] {
        assert_eq!(text.matches(once).count(), 1, "{text}");
    }
    text.has("  registry.terraform.io/acme/a 1.0.0\n  registry.terraform.io/acme/b 1.0.0\n");
}

#[test]
fn input_without_an_error_is_named() {
    let mut lab = Lab::new();
    for input in ["", "Success!\n", "\u{0}\u{1b}[", "{}", "╷\n╵\n"] {
        lab.env.input = input.into();
        let outcome = lab.run(&["explain", "-"]).exits(1);
        assert_eq!(
            outcome.stdout,
            "no error that lockctl knows was found, and no line with `Error: ` or `Warning: `;\n\
             give the whole output, as in `terraform init 2>&1 | lockctl explain -`\n"
        );
    }
    lab.env.input = vec![b'x'; 16 * 1024 * 1024 + 1];
    let outcome = lab.run(&["explain", "-"]).exits(2);
    outcome.stderr_has("16777216 bytes");
    lab.env.input.clear();
    let outcome = lab.run(&["explain", "-", "trust"]).exits(2);
    outcome.stderr_has("cannot be combined");
}
