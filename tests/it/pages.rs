//! The pages of `lockctl explain` on rules and topics: complete, well-formed, and true.
//!
//! A fenced block whose first line names a file (`hcl main.tf`) is that file, and a block `console`
//! holds commands with what they print, where a line `...` matches any lines. They are run in
//! order, in a directory that holds the files. An example that cannot be run is a block `text`.

use std::collections::BTreeSet;
use std::path::Path;

use lockctl::diag::{Area, RULES, Rule, Texts};
use lockctl::guide::TOPICS;
use lockctl::report::page::{PagePart, parts};

use crate::lab::Lab;

/// The sections of a page, in this order.
const SECTIONS: [&str; 5] = [
    "What it means",
    "If you leave it",
    "Example",
    "How to fix it",
    "When to switch it off",
];

/// How many columns text has at most, in characters.
const MAX_COLUMNS: usize = 80;

/// How many lines of text a page has: enough to say something, and few enough to be read.
const TEXT_LINES: std::ops::RangeInclusive<usize> = 12..=45;

/// How many lines an example has at most.
const CODE_LINES: usize = 20;

/// Every rule with its page.
fn pages() -> impl Iterator<Item = (&'static Rule, &'static str)> {
    RULES.iter().map(|rule| (rule, rule.page))
}

#[test]
fn every_rule_has_one_page_and_no_page_is_left_over() {
    let rules: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
    let listed = Area::ALL.into_iter().flat_map(Area::rules);
    let mut listed: Vec<&str> = listed.map(|rule| rule.name).collect();
    listed.sort_unstable();
    assert_eq!(listed, rules, "every area is listed");
    assert_eq!(names_in("core/words/diag/pages"), rules);
}

#[test]
fn every_topic_has_one_page_and_no_page_is_left_over() {
    let topics: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
    assert_eq!(names_in("front/guide/topics"), topics);
}

/// The names of the pages in a directory, sorted.
fn names_in(dir: &str) -> Vec<String> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(dir);
    let files = std::fs::read_dir(dir).unwrap().map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        name.strip_suffix(".md").unwrap().to_owned()
    });
    let files: BTreeSet<String> = files.collect();
    files.into_iter().collect()
}

#[test]
fn pages_are_well_formed() {
    for (rule, page) in pages() {
        check_form(rule, page);
    }
}

fn check_form(rule: &Rule, page: &str) {
    let name = rule.name;
    assert!(page.starts_with(&format!("# {name}\n\n## ")), "{name}");
    let parts = parts(page);
    let headings = parts.iter().filter_map(|part| match part {
        PagePart::Heading(text) => Some(*text),
        _ => None,
    });
    let wanted: Vec<&str> = std::iter::once(name).chain(SECTIONS).collect();
    assert_eq!(headings.collect::<Vec<_>>(), wanted, "{name}");
    assert!(
        !parts.windows(2).any(
            |pair| matches!(pair, [PagePart::Heading(_), PagePart::Heading(_)])
                && pair[0] != parts[0]
        ),
        "{name} has an empty section"
    );
    for part in &parts {
        if let PagePart::Code { lines, .. } = part {
            assert!(lines.len() <= CODE_LINES, "{name}: {lines:?}");
        }
    }
    let text = check_lines(name, page);
    assert!(TEXT_LINES.contains(&text), "{name} has {text} lines");
}

#[test]
fn pages_of_topics_are_well_formed() {
    for topic in TOPICS {
        let (name, page) = (topic.name, topic.page);
        assert!(page.starts_with("# "), "{name}");
        // What a terminal shows has neither tables nor links.
        assert!(!page.contains("\n|") && !page.contains("]("), "{name}");
        let width = topic.summary.chars().count();
        assert!(width <= 50 && !topic.summary.ends_with('.'), "{name}");
        check_lines(name, page);
    }
}

/// Holds the lines of a page to its form, and returns how many of text there are.
fn check_lines(name: &str, page: &str) -> usize {
    assert!(page.ends_with('\n') && !page.ends_with("\n\n"), "{name}");
    let (mut text, mut in_code) = (0, false);
    for line in page.lines() {
        assert_eq!(line, line.trim_end(), "{name}");
        let is_fence = line.starts_with("```");
        if !is_fence && !in_code {
            let columns = line.chars().count();
            assert!(columns <= MAX_COLUMNS, "{name}, {columns} columns: {line}");
            // A terminal would show a numbered list as one paragraph.
            let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
            let is_item = numbered.len() < line.len() && numbered.starts_with(". ");
            assert!(!is_item, "{name}: {line}");
            text += usize::from(!line.is_empty());
        }
        in_code ^= is_fence;
    }
    assert!(!in_code, "{name}: a fence is not closed");
    text
}

/// The block of a page that switches the rule off does that, and nothing else is wrong with it.
#[test]
fn pages_say_truly_how_to_switch_a_rule_off() {
    let mut checked = 0;
    for (rule, page) in pages() {
        let switch = format!("rule \"{}\" {{", rule.name);
        for part in parts(page) {
            let PagePart::Code {
                file: None,
                language: "hcl",
                lines,
            } = part
            else {
                continue;
            };
            if lines.first() != Some(&switch.as_str()) {
                continue;
            }
            let mut texts = Texts::default();
            let file = texts.add(lockctl::project::FILE_NAME, lines.join("\n").into_bytes());
            let (project, problems) = lockctl::project::parse(file, texts.bytes(file));
            assert!(problems.is_empty(), "{}: {problems:?}", rule.name);
            assert_eq!(project.rules.len(), 1, "{}", rule.name);
            checked += 1;
        }
    }
    assert!(checked > 0);
}

/// Rules that `verify` names and whose findings are faults, to which no level applies: an address in
/// configuration that nothing can be checked for, entries that `--fix` leaves alone, and what keeps a lock file
/// from being read.
const OF_FAULTS: [&str; 9] = [
    "address-malformed",
    "conflict-markers",
    "constraints-malformed",
    "duplicate-provider",
    "hash-scheme-missing",
    "hashes-empty",
    "unsupported-item",
    "version-malformed",
    "version-missing",
];

/// Levels of the project file apply to `verify`, so what it reports can be switched off.
#[test]
fn no_page_denies_that_a_finding_of_verify_can_be_switched_off() {
    let mut sources = String::new();
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let rooms = [
        "core/judge/verify",
        "fetch/evidence/packages",
        "fetch/work/upstream",
    ];
    let mut left = rooms.map(|room| src.join(room)).to_vec();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(
                std::fs::read_dir(path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else {
            sources += &std::fs::read_to_string(path).unwrap();
        }
    }
    let (mut denials, mut reported) = (0, 0);
    for (rule, page) in pages() {
        let denies = page.contains("## When to switch it off\n\nNever");
        let constant = format!("rules::{}", rule.name.replace('-', "_").to_uppercase());
        let is_reported = sources.match_indices(&constant).any(|(start, _)| {
            let behind = sources[start + constant.len()..].chars().next();
            !behind.is_some_and(|c| c.is_alphanumeric() || c == '_')
        });
        let is_fault = OF_FAULTS.contains(&rule.name);
        assert!(!(denies && is_reported) || is_fault, "{}", rule.name);
        denials += usize::from(denies);
        reported += usize::from(is_reported);
    }
    assert!(
        denials > 0 && reported > 0,
        "pages that deny it, and rules of verify"
    );
}

/// Nothing is wrong with a project file that the page of a topic shows.
#[test]
fn project_files_of_topics_are_sound() {
    let mut checked = 0;
    for topic in TOPICS {
        for part in parts(topic.page) {
            let PagePart::Code {
                file: Some(lockctl::project::FILE_NAME),
                lines,
                ..
            } = part
            else {
                continue;
            };
            let mut texts = Texts::default();
            let file = texts.add(lockctl::project::FILE_NAME, lines.join("\n").into_bytes());
            let (_, problems) = lockctl::project::parse(file, texts.bytes(file));
            assert!(problems.is_empty(), "{}: {problems:?}", topic.name);
            checked += 1;
        }
    }
    assert!(checked > 0);
}

#[test]
#[cfg_attr(windows, ignore = "the system words its errors otherwise")]
fn examples_are_true() {
    let (mut run, mut without, mut untrue) = (0, Vec::new(), Vec::new());
    for (rule, page) in pages() {
        let Examples { commands, finds } = check_examples(rule.name, page, &mut untrue);
        run += commands;
        if commands == 0 {
            without.push(rule.name);
        } else if !finds {
            untrue.push(format!("{}: no command finds it", rule.name));
        }
    }
    for topic in TOPICS {
        run += check_examples(topic.name, topic.page, &mut untrue).commands;
    }
    let names = without.join(", ");
    println!("{run} commands of pages were run; rules without any: {names}");
    assert!(untrue.is_empty(), "{}", untrue.join("\n"));
    // What only a registry or a service shows has a scene elsewhere.
    assert!(
        without.len() * 8 <= pages().count() * 3,
        "most examples are run"
    );
}

/// What the commands of a page came to.
struct Examples {
    commands: usize,
    /// Whether one of them found what the rule of the page is about.
    finds: bool,
}

/// Runs the commands of a page; what is not as shown is added.
fn check_examples(name: &str, page: &str, untrue: &mut Vec<String>) -> Examples {
    let lab = Lab::new();
    let mut commands = 0;
    let mut finds = false;
    for part in parts(page) {
        let PagePart::Code {
            language,
            file,
            lines,
        } = part
        else {
            continue;
        };
        let mut text = lines.join("\n");
        text.push('\n');
        if let Some(file) = file {
            lab.write(file, text);
        } else if language == "console" {
            for (command, wanted) in transcripts(&lines) {
                let mut words = command.split_whitespace();
                assert_eq!(words.next(), Some("lockctl"), "{name}: {command}");
                let words: Vec<&str> = words.collect();
                let outcome = lab.run(&words);
                // What either stream holds is shown, as a terminal would. The directory was
                // named by `-C`, so commands in advice name it.
                let printed = outcome.stdout + &outcome.stderr;
                let printed = printed
                    .replace(" .`", "`")
                    .replace(" . --", " --")
                    .replace(" -chdir=.", "")
                    .replace("`lockctl update . ", "`lockctl update ");
                if !words.contains(&"--format") {
                    let json = lab.run(&[&words[..], &["--format", "json"]].concat());
                    finds |= json.stdout.contains(&format!("\"rule\": \"{name}\""));
                }
                let same = snapbox::Assert::new().try_eq(
                    Some(&name),
                    printed.trim_end().into(),
                    wanted.into(),
                );
                untrue.extend(same.err().map(|difference| difference.to_string()));
                commands += 1;
            }
        }
    }
    Examples { commands, finds }
}

/// Splits the lines of a console into commands and what each prints.
fn transcripts(lines: &[&str]) -> Vec<(String, String)> {
    let mut all: Vec<(String, Vec<&str>)> = Vec::new();
    for line in lines {
        match (line.strip_prefix("$ "), all.last_mut()) {
            (Some(command), _) => all.push((command.to_owned(), Vec::new())),
            (None, Some((_, printed))) => printed.push(line),
            (None, None) => panic!("what prints {line:?}?"),
        }
    }
    let joined = all.into_iter().map(|(command, printed)| {
        let printed = printed.join("\n");
        (command, printed.trim_end().to_owned())
    });
    joined.collect()
}
