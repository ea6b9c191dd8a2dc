//! Holds the rule books, `src/<room>/rules.md`: numbered in order, each rule with how it is known, and
//! no citation that leads nowhere.
//!
//! A rule begins with its number, as in `**5.3** …`, below a section, as in `## 5. …`. Code cites the
//! book of its own room as `rules 5.3`, or as `rules 5` for a whole section, and that of another room
//! with its name before, as in `hash rules 3.2 to 3.4`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::WINGS;

/// A section, or with its second number a rule of it.
type Number = (u32, Option<u32>);

/// A citation: the room that it names, if any, and what it leads to.
type Citation = (Option<String>, Vec<Number>);

/// How a rule is known; one of these opens the parenthesis behind it.
const MARKS: [&str; 4] = ["(Cases:", "(Observed", "(Read", "(Ours"];

/// What is searched for citations, besides `src`.
const CITING: [&str; 8] = [
    "tests",
    "benches",
    "scripts",
    "fixtures/config-cases/README.md",
    "fixtures/source-cases/README.md",
    ".github",
    "README.md",
    "CHANGELOG.md",
];

#[test]
fn rules_are_numbered_in_order() {
    for (room, text) in books() {
        let mut last = (0, 0);
        for number in numbers(&text) {
            let next = match number {
                (section, None) => (section, 0),
                (section, Some(rule)) => (section, rule),
            };
            let expected = match number {
                (_, None) => (last.0 + 1, 0),
                (_, Some(_)) => (last.0, last.1 + 1),
            };
            assert_eq!(next, expected, "in the book of {room}");
            last = next;
        }
        assert!(last > (0, 0), "the book of {room} has rules");
    }
}

#[test]
fn every_rule_says_how_it_is_known() {
    for (room, text) in books() {
        for rule in text.split("\n**").skip(1) {
            let (number, _) = rule.split_once("**").expect("a number");
            let is_known = MARKS.iter().any(|mark| rule.contains(mark));
            assert!(is_known, "rule {number} of {room}");
        }
    }
}

#[test]
fn the_cases_that_prove_rules_are_recorded() {
    let recorded = recorded_cases();
    for (room, text) in books() {
        for name in named_cases(&text) {
            let found = match name.split_once('*') {
                Some((start, end)) => recorded
                    .iter()
                    .any(|case| case.starts_with(start) && case[start.len()..].ends_with(end)),
                None => recorded.contains(&name),
            };
            assert!(found, "{name} of the book of {room} is not in fixtures");
        }
    }
}

#[test]
fn citations_lead_to_rules() {
    let books: BTreeMap<String, BTreeSet<Number>> = books()
        .into_iter()
        .map(|(room, text)| (room, numbers(&text).into_iter().collect()))
        .collect();
    let mut cited = 0;
    let mut faults = Vec::new();
    for (path, text) in texts() {
        let home = room_of(&path);
        for (room, leads_to) in citations(&prose(&path, &text), |room| books.contains_key(room)) {
            let room = room.or_else(|| home.clone()).unwrap_or_default();
            for number in leads_to {
                cited += 1;
                if !books.get(&room).is_some_and(|book| book.contains(&number)) {
                    faults.push(format!("{}: {room} rules {number:?}", path.display()));
                }
            }
        }
    }
    assert!(cited > 100, "citations were found");
    assert!(faults.is_empty(), "no such rules: {faults:#?}");
}

/// Whoever reads a citation must be able to read what it cites.
#[test]
fn texts_that_are_cited_exist() {
    let present = names_of_texts();
    let mut faults = Vec::new();
    for (path, text) in texts() {
        let words = text.split(|c: char| !c.is_alphanumeric() && !"._-".contains(c));
        let named = words.map(|word| word.trim_end_matches('.'));
        let named = named.filter(|word| word.ends_with(".md") && *word != ".md");
        for name in named.filter(|name| !present.contains(*name)) {
            faults.push(format!("{}: {name}", path.display()));
        }
    }
    assert!(faults.is_empty(), "no such texts: {faults:#?}");
}

#[test]
fn citations_are_found_in_every_form() {
    let text = "//! By (rules 1.2, 3).\n//! See `hash` rules 2.1 to\n//! 2.3 and 4; rules 5.\n\
                let rules = 7;\n/// The rules 8.1 and hash rules 9.\n/// No rules here.\n";
    let found = citations(&prose(Path::new("x.rs"), text), |room| room == "hash");
    let own = |numbers: &[Number]| (None, numbers.to_vec());
    let of_hash = |numbers: &[Number]| (Some("hash".to_owned()), numbers.to_vec());
    assert_eq!(
        found,
        [
            own(&[(1, Some(2)), (3, None)]),
            of_hash(&[(2, Some(1)), (2, Some(3)), (4, None)]),
            own(&[(5, None)]),
            own(&[(8, Some(1))]),
            of_hash(&[(9, None)]),
        ]
    );
}

/// Returns every room that has a book, with the text.
fn books() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let rooms = WINGS
        .iter()
        .flat_map(|(wing, _)| files_in(&root().join("src").join(wing)));
    for dir in rooms {
        if let Ok(text) = fs::read_to_string(dir.join("rules.md")) {
            let room = dir.file_name().expect("a name").to_string_lossy();
            let code = fs::read_to_string(dir.join("mod.rs")).expect("the room's first file");
            let shown = code.contains("pub mod rules {\n    #![doc = include_str!(\"rules.md\")]");
            assert!(shown, "rustdoc shows the book of {room}");
            found.push((room.into_owned(), text));
        }
    }
    found.sort();
    assert!(found.len() > 10, "the books were found");
    found
}

/// Returns the numbers of a book's sections and rules, as they follow each other.
fn numbers(book: &str) -> Vec<Number> {
    let section = |line: &str| line.strip_prefix("## ")?.split_once(". ")?.0.parse().ok();
    let rule = |line: &str| {
        let (section, rule) = line
            .strip_prefix("**")?
            .split_once("** ")?
            .0
            .split_once('.')?;
        Some((section.parse().ok()?, Some(rule.parse().ok()?)))
    };
    let found = |line| section(line).map(|n| (n, None)).or_else(|| rule(line));
    book.lines().filter_map(found).collect()
}

/// Returns the names in backticks of every list of cases.
fn named_cases(book: &str) -> Vec<String> {
    let lists = book.split("(Cases:").skip(1);
    let lists = lists.map(|rest| rest.split(')').next().expect("a first part"));
    lists
        .flat_map(|list| list.split('`').skip(1).step_by(2))
        .map(str::to_owned)
        .collect()
}

/// Returns the names of all recorded cases, as the books write them.
fn recorded_cases() -> BTreeSet<String> {
    let fixtures = root().join("fixtures");
    let mut names = BTreeSet::new();
    let groups = [
        ("cases", "cases"),
        ("source-cases", "scenarios"),
        ("module-cases", "cases"),
    ];
    for (dir, list) in groups {
        for path in files_in(&fixtures.join(dir)) {
            if path
                .extension()
                .is_some_and(|extension| extension == "json")
            {
                let bytes = fs::read(&path).expect("readable");
                let group: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
                let cases = group[list].as_array().into_iter().flatten();
                names.extend(cases.filter_map(|case| case["id"].as_str().map(str::to_owned)));
            }
        }
    }
    for path in files_in(&fixtures.join("config-cases")) {
        let name = path.file_stem().expect("a name").to_string_lossy();
        names.insert(name.into_owned());
    }
    for path in files_in(&fixtures.join("terragrunt-cases")) {
        let group = path.file_stem().expect("a name").to_string_lossy();
        let bytes = fs::read(&path).expect("readable");
        let cases: Option<serde_json::Value> = serde_json::from_slice(&bytes).ok();
        let cases = cases.iter().filter_map(|cases| cases.as_array()).flatten();
        let ids = cases.filter_map(|case| case["id"].as_str());
        names.extend(ids.map(|id| format!("{group}/{id}")));
    }
    assert!(names.len() > 1000, "the recorded cases were found");
    names
}

/// Returns the names of all texts of the repository.
fn names_of_texts() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut left = vec![root().to_owned()];
    while let Some(dir) = left.pop() {
        for path in files_in(&dir) {
            let name = path
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            if path.is_dir() && !path.is_symlink() {
                left.extend((!["target", ".git"].contains(&&*name)).then_some(path));
            } else if name.ends_with(".md") {
                names.insert(name);
            }
        }
    }
    names
}

/// Returns what can cite rules: every text of the code but this one, which cites rules for examples, and
/// the texts about it.
fn texts() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut left: Vec<PathBuf> = CITING
        .iter()
        .chain(&["src"])
        .map(|top| root().join(top))
        .collect();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(files_in(&path));
        } else if let Ok(text) = fs::read_to_string(&path)
            && path != root().join(file!())
        {
            found.push((path, text));
        }
    }
    found
}

/// Returns the room that a file below `src` belongs to, for what it says without naming a room.
fn room_of(path: &Path) -> Option<String> {
    let below = path.strip_prefix(root().join("src")).ok()?;
    super::room_of(below).map(str::to_owned)
}

/// Returns what is said rather than done: the comments of code, each block in one line, and all of
/// every other text.
fn prose(path: &Path, text: &str) -> String {
    if path.extension().is_none_or(|extension| extension != "rs") {
        return text.replace('\n', " ");
    }
    let comment = |line: &str| {
        let words = line.split_once("//")?.1;
        Some(words.trim_start_matches(['/', '!']).to_owned() + " ")
    };
    text.lines()
        .map(|line| comment(line).unwrap_or_else(|| "\n".to_owned()))
        .collect()
}

/// Finds citations; a word counts as the name of a room where `is_room` says so.
fn citations(prose: &str, is_room: impl Fn(&str) -> bool) -> Vec<Citation> {
    let mut found = Vec::new();
    for block in prose.lines() {
        let words: Vec<&str> = block.split_whitespace().collect();
        for (at, word) in words.iter().enumerate() {
            if word.trim_start_matches(OPENING) != "rules" {
                continue;
            }
            let leads_to = leading_numbers(&words[at + 1..]);
            if leads_to.is_empty() {
                continue;
            }
            let before = at.checked_sub(1).map(|before| words[before]);
            let room = before
                .map(|room| room.trim_matches(OPENING))
                .filter(|room| *word == "rules" && is_room(room));
            found.push((room.map(str::to_owned), leads_to));
        }
    }
    found
}

/// What may stand around words of a citation.
const OPENING: [char; 2] = ['(', '`'];

/// Reads the numbers at the start of some words, as in `2.1 to 2.3, 4 and 5`.
fn leading_numbers(words: &[&str]) -> Vec<Number> {
    let mut found = Vec::new();
    for word in words {
        if !found.is_empty() && ["and", "or", "to"].contains(word) {
            continue;
        }
        let bare = word.trim_end_matches([',', '.', ';', ':', ')']);
        let Some(number) = number(bare) else { break };
        found.push(number);
        if !["", ","].contains(&&word[bare.len()..]) {
            break;
        }
    }
    found
}

fn number(text: &str) -> Option<Number> {
    match text.split_once('.') {
        Some((section, rule)) => Some((section.parse().ok()?, Some(rule.parse().ok()?))),
        None => Some((text.parse().ok()?, None)),
    }
}

fn files_in(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).expect("a readable directory");
    entries
        .map(|entry| entry.expect("an entry").path())
        .collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
