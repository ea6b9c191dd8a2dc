//! Every command that a finding or `explain -` names parses, runs, and ends the fault that it is named for; a command
//! that only finds something out runs as well.
//!
//! A fault is that of the example on the page of its rule, else one of `advised_scenes`. What advice names for a
//! registry is taken from a mirror, since no registry can be asked.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use lockctl::diag::{RULES, named};
use lockctl::guide::known;
use lockctl::report::page::{PagePart, parts};

use super::advised_scenes::{BY_HAND, LASTING, NEED_A_REGISTRY, SCENES, SYMPTOMS, Stage};
use super::*;

/// The directory with packages of all providers of the pages.
pub(super) const PACKAGES: &str = "packages";

/// Programs that advice names and no test starts.
const OTHER_PROGRAMS: [&str; 8] = [
    "terraform",
    "tofu",
    "terragrunt",
    "mkdir",
    "rm",
    "df",
    "ls",
    "cd",
];

/// Commands that find something out, and change no file of a root.
const QUESTIONS: [&str; 13] = [
    "audit", "changes", "config", "diff", "explain", "hash", "log", "outdated", "show", "tree",
    "verify", "why", "cache",
];

/// The commands that were named, and what is wrong with them.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) commands: BTreeSet<String>,
    failed: Vec<String>,
}

impl Tally {
    pub(super) fn fail(&mut self, name: &str, text: String) {
        self.failed.push(format!("{name}: {text}"));
    }

    /// Prints the numbers, and fails with the list of what is wrong.
    #[track_caller]
    pub(super) fn end(self, subject: &str) {
        println!(
            "{subject}: {} commands, {} faults",
            self.commands.len(),
            self.failed.len()
        );
        assert!(self.failed.is_empty(), "{}", self.failed.join("\n"));
    }
}

#[test]
fn commands_of_findings_end_them() {
    let mut tally = Tally::default();
    for rule in RULES {
        let mut stages: Vec<Stage> = SCENES
            .iter()
            .filter(|(name, _)| *name == rule.name)
            .filter_map(|(_, make)| make())
            .collect();
        if !NEED_A_REGISTRY.contains(&rule.name) {
            stages.extend(of_page(rule.name));
        }
        if stages.is_empty() {
            tally.fail(
                rule.name,
                "it has neither an example nor a scene".to_owned(),
            );
        }
        for stage in &stages {
            check(rule.name, stage, &mut tally);
        }
    }
    tally.end("findings");
}

#[test]
fn commands_of_folded_findings_end_them() {
    let mut tally = Tally::default();
    for rule in RULES {
        if !NEED_A_REGISTRY.contains(&rule.name)
            && let Some(stage) = of_page(rule.name).and_then(|stage| twice(rule.name, &stage))
        {
            check(rule.name, &stage, &mut tally);
        }
    }
    tally.end("findings of two roots");
}

/// Runs every command that is named for a rule.
fn check(rule: &str, stage: &Stage, tally: &mut Tally) {
    let (is_found, helps) = found(rule, stage);
    if !is_found {
        return tally.fail(rule, format!("{:?} does not find it", stage.finds));
    }
    let commands: Vec<Vec<String>> = helps.iter().flat_map(|help| commands_in(help)).collect();
    let mut acts = false;
    if commands.iter().any(|words| acts_on_a_root(words))
        && let Some((_, edit)) = BY_HAND.iter().find(|(name, _)| *name == rule)
    {
        edit(&stage.lab);
    }
    for words in commands {
        let line = words.join(" ");
        let is_new = tally.commands.insert(format!("{rule}: {line}"));
        if let Some(word) = words.iter().find(|word| is_placeholder(word)) {
            tally.fail(rule, format!("`{line}` has the literal word {word}"));
            continue;
        }
        let acting = acts_on_a_root(&words);
        acts |= acting;
        if acting || is_new {
            run(rule, stage, &words, acting, tally);
        }
    }
    let lasts = LASTING.iter().any(|(name, _)| *name == rule);
    if acts && !lasts && found(rule, stage).0 {
        tally.fail(rule, format!("it is still there after {helps:?}"));
    }
}

/// Runs one command, and judges its exit code.
pub(super) fn run(rule: &str, stage: &Stage, words: &[String], acting: bool, tally: &mut Tally) {
    let line = words.join(" ");
    match words[0].as_str() {
        "lockctl" => {
            // The lab names its directory in full, and shows paths below it without: a path is no address.
            let takes_addresses = words.iter().any(|word| word == "update");
            let is_root = |word: &str| {
                takes_addresses
                    && stage.lab.path(word).is_dir()
                    && !word.contains('/')
                    && word != "."
            };
            let words: Vec<String> = words
                .iter()
                .map(|word| {
                    if is_root(word) {
                        format!("./{word}")
                    } else {
                        word.clone()
                    }
                })
                .collect();
            let mut args: Vec<&str> = words[1..].iter().map(String::as_str).collect();
            let sources = [
                "--fs-mirror",
                "--net-mirror",
                "--oci-mirror",
                "--installation",
            ];
            let has_source = args.iter().any(|arg| sources.contains(arg));
            let takes_source = ["lock", "update", "replace", "convert"]
                .iter()
                .any(|command| args.contains(command));
            if takes_source && stage.has_packages && !has_source {
                args.extend(["--fs-mirror", PACKAGES]);
            }
            let outcome = stage.lab.run(&args);
            let worst = if acting { 0 } else { 1 };
            // Other findings of the root may remain.
            let worst = if args.contains(&"verify") { 1 } else { worst };
            if outcome.code > worst {
                let said = outcome.stderr + &outcome.stdout;
                tally.fail(
                    rule,
                    format!("`{line}` ends with {}: {}", outcome.code, said.trim()),
                );
            }
        }
        "git" => {
            let ended = Command::new("git")
                .args(&words[1..])
                .current_dir(stage.lab.dir())
                .output()
                .unwrap();
            if stage.is_repository && !ended.status.success() {
                let said = String::from_utf8_lossy(&ended.stderr);
                tally.fail(rule, format!("`{line}`: {said}"));
            }
        }
        other => {
            if !OTHER_PROGRAMS.contains(&other) {
                tally.fail(rule, format!("`{line}` is of no known program"));
            }
        }
    }
}

/// Returns whether a scene shows a rule, and the advice that is given for it.
fn found(rule: &str, stage: &Stage) -> (bool, Vec<String>) {
    let args: Vec<&str> = stage.finds.iter().map(String::as_str).collect();
    let json = stage.lab.run(&[&args[..], &["--format", "json"]].concat());
    let document: Value = serde_json::from_str(&json.stdout).unwrap_or_default();
    let roots = document["roots"].as_array().cloned().unwrap_or_default();
    let findings: Vec<&Value> = roots
        .iter()
        .chain([&document])
        .flat_map(|root| root["findings"].as_array().into_iter().flatten())
        .filter(|finding| finding["rule"] == rule)
        .collect();
    let mut helps: Vec<String> = findings
        .iter()
        .filter_map(|finding| Some(finding["help"].as_str()?.to_owned()))
        .collect();
    if stage.is_folded {
        // People read the command for all roots instead.
        let text = stage.lab.run(&args).stdout;
        let blocks = text.split("\n\n");
        let of_rule = |block: &&str| {
            block
                .split(']')
                .next()
                .is_some_and(|head| head.ends_with(&format!("[{rule}")))
        };
        let folded: Vec<String> = blocks.filter(of_rule).map(str::to_owned).collect();
        if !folded.is_empty() {
            helps = folded;
        }
    }
    (!findings.is_empty(), helps)
}

/// Returns the commands in backticks.
pub(super) fn commands_in(text: &str) -> Vec<Vec<String>> {
    let of_program = ["lockctl", "git", "terraform", "tofu", "terragrunt"];
    text.split('`')
        .skip(1)
        .step_by(2)
        .map(words)
        .filter(|words| words.len() > 1 && of_program.contains(&words[0].as_str()))
        // A question that only the reader can answer.
        .filter(|words| !words.iter().any(|word| word.ends_with("@VERSION")))
        // What a program does is said as well: `init -lockfile=readonly` fails.
        .filter(|words| !(words[0] != "lockctl" && words[1] == "init"))
        .collect()
}

/// Splits a command line as a shell does, as far as advice quotes anything.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns true for a word that stands for what the reader knows, as `ADDR` does.
pub(super) fn is_placeholder(word: &str) -> bool {
    let letters = word.trim_end_matches('…');
    letters.len() > 1
        && letters
            .chars()
            .all(|c| c.is_ascii_uppercase() || c == '@' || c == '/')
}

/// Returns true for a command that fixes something.
pub(super) fn acts_on_a_root(words: &[String]) -> bool {
    let has = |option: &str| words.iter().any(|word| word.starts_with(option));
    let command = words
        .iter()
        .skip(1)
        .find(|word| QUESTIONS.contains(&word.as_str()));
    words[0] == "lockctl"
        && (command.is_none() || has("--fix"))
        && !has("--dry-run")
        && !has("--check")
}

/// Makes the scene that the example of a page shows: its files, and the first command that finds the rule.
fn of_page(rule: &str) -> Option<Stage> {
    let mut stage = Stage::new(Lab::new());
    for part in parts(named(rule).page) {
        let PagePart::Code {
            language,
            file,
            lines,
        } = part
        else {
            continue;
        };
        if let Some(file) = file {
            let text = lines.join("\n") + "\n";
            stage.lab.write(file, &text);
            stage.files.push((file.to_owned(), text));
        } else if language == "console" {
            for line in lines {
                let Some(command) = line.strip_prefix("$ lockctl ") else {
                    continue;
                };
                stage.finds = words(command);
                if found(rule, &stage).0 {
                    add_packages(&stage.lab);
                    stage.has_packages = true;
                    return Some(stage);
                }
            }
        }
    }
    None
}

/// Makes a scene of two roots, each with the files of another scene; `None` if its command does not search for roots.
fn twice(rule: &str, stage: &Stage) -> Option<Stage> {
    let takes_more =
        stage.finds.first()? == "verify" && !stage.finds.iter().any(|word| word == "-r");
    let is_shared = |name: &str| name.ends_with("rc") || name.starts_with("mirror/");
    let has_paths = stage
        .finds
        .iter()
        .any(|word| word.contains('/') && !word.starts_with('-'));
    if !takes_more || has_paths {
        return None;
    }
    let mut both = Stage::new(Lab::new());
    for (file, text) in &stage.files {
        if is_shared(file) {
            both.lab.write(file, text);
            continue;
        }
        for root in ["a", "b"] {
            both.lab.write(&format!("{root}/{file}"), text);
        }
    }
    add_packages(&both.lab);
    both.has_packages = true;
    both.is_folded = true;
    both.finds.clone_from(&stage.finds);
    both.finds.push("-r".to_owned());
    if !found(rule, &both).0 {
        // Without a lock file they are no roots that a search finds.
        both.finds.pop();
        both.finds.extend(["a", "b"].map(str::to_owned));
    }
    Some(both)
}

/// Puts packages there for whatever the pages require.
fn add_packages(lab: &Lab) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/quickstart/mirror");
    crate::copy::copy_dir(&from, &lab.path(PACKAGES));
    for provider in [
        "registry.terraform.io/hashicorp/null",
        "registry.opentofu.org/hashicorp/null",
        "registry.terraform.io/integrations/github",
    ] {
        for version in ["3.2.1", "3.2.4"] {
            for platform in [
                "linux_amd64",
                "linux_arm64",
                "darwin_amd64",
                "darwin_arm64",
                "windows_amd64",
            ] {
                lab.unpacked(
                    PACKAGES,
                    &format!("{provider}/{version}/{platform}"),
                    platform,
                );
            }
        }
    }
}

#[test]
fn commands_of_symptoms_end_them() {
    let mut tally = Tally::default();
    for symptom in known::all() {
        let Some(words) = explained(symptom, &mut Lab::new(), &mut tally) else {
            continue;
        };
        tally
            .commands
            .insert(format!("{}: {}", symptom.name, words.join(" ")));
        if let Some(word) = words.iter().find(|word| is_placeholder(word)) {
            tally.fail(
                &symptom.name,
                format!("{words:?} has the literal word {word}"),
            );
        } else if words[0] != "lockctl" {
            run(
                &symptom.name,
                &Stage::new(Lab::new()),
                &words,
                false,
                &mut tally,
            );
        } else if symptom.is_question() == acts_on_a_root(&words) {
            tally.fail(&symptom.name, format!("is {words:?} a question?"));
        } else {
            let args: Vec<&str> = words[1..].iter().map(String::as_str).collect();
            let outcome = Lab::new().run(&args);
            if outcome.stderr.contains("--help") {
                tally.fail(&symptom.name, format!("{words:?}: {}", outcome.stderr));
            }
        }
        if words[0] != "lockctl" || symptom.is_question() {
            continue;
        }
        let rule = SYMPTOMS.iter().find(|(name, _)| *name == symptom.name);
        let stage = rule.and_then(|(_, rule)| of_page(rule));
        let (Some((_, rule)), Some(mut stage)) = (rule, stage) else {
            tally.fail(&symptom.name, "it has no scene".to_owned());
            continue;
        };
        if let Some(words) = explained(symptom, &mut stage.lab, &mut tally) {
            tally
                .commands
                .insert(format!("{}: {}", symptom.name, words.join(" ")));
            run(&symptom.name, &stage, &words, true, &mut tally);
            if found(rule, &stage).0 {
                tally.fail(
                    &symptom.name,
                    format!("{rule} is still there after {words:?}"),
                );
            }
        }
    }
    tally.end("symptoms");
}

/// Returns the command that `explain -` names for an error of the table, without the directory that the lab names.
fn explained(symptom: &known::KnownError, lab: &mut Lab, tally: &mut Tally) -> Option<Vec<String>> {
    let title = symptom
        .titles
        .first()
        .map_or("Failed to install provider", |title| title);
    let text = symptom.says.first().map_or("", |text| text);
    let text = text.replace('…', "example.com/acme/greeter 1.2.0");
    let output = format!(
        "Error: {title}\n\nprovider example.com/acme/greeter 1.2.0 for linux_amd64: {text}\n"
    );
    lab.env.input = output.into_bytes();
    let json = lab.run(&["explain", "-", "--format", "json"]).stdout;
    let document: Value = serde_json::from_str(&json).unwrap();
    let row = &document["symptoms"][0];
    if row["symptom"] != symptom.name {
        tally.fail(&symptom.name, format!("it is taken for {}", row["symptom"]));
        return None;
    }
    let command = row["command"]
        .as_str()?
        .replace(" -C .", "")
        .replace(" -chdir=.", "");
    Some(words(command.strip_prefix("cd . && ").unwrap_or(&command)))
}
