//! Holds `.github/ARCHITECTURE.md`: the ways of the main commands, function by function.
//!
//! A way is a nested list below a heading such as `## The way of lock`. An item names a file of a
//! room and a function in it, as in ``- `locker/mod.rs` `run`: …``; a nested item is called in the
//! body of the item that it is nested in, behind the item before it.

use std::fs;
use std::path::Path;

use super::file_of;
use super::reading::source::{blank, body_start, closing};

/// The longest way of each command: how often it goes on in another file, and how often it comes back
/// into `cli`.
const LONGEST: &[(&str, usize, usize)] = &[
    ("lock", 14, 0),
    ("verify", 10, 0),
    ("diff", 11, 0),
    ("mirror", 13, 0),
    ("audit", 7, 0),
];

/// A function on a way.
struct Step {
    /// The depth in the list; the first item has 0.
    depth: usize,
    file: String,
    function: String,
}

#[test]
fn ways_are_those_of_the_program() {
    for (command, steps) in ways() {
        // The body of each function that encloses the current step, and where its last call ended.
        let mut callers: Vec<(String, String, usize)> = Vec::new();
        for step in steps {
            let place = format!("{}: `{}` on the way of {command}", step.file, step.function);
            callers.truncate(step.depth);
            if let Some((caller, body, after)) = callers.last_mut() {
                let call = call_of(&body[*after..], &step.function);
                let call =
                    call.unwrap_or_else(|| panic!("{place} is not called there by `{caller}`"));
                *after += call;
            }
            let body = body_of(&step).unwrap_or_else(|| panic!("{place} does not exist"));
            callers.push((step.function, body, 0));
        }
    }
}

#[test]
fn ways_are_short() {
    let ways = ways();
    for (command, files, returns) in LONGEST {
        let steps = ways.iter().find(|(name, _)| name == command);
        let (_, steps) = steps.unwrap_or_else(|| panic!("the way of {command} is written down"));
        let hops = steps
            .windows(2)
            .filter(|pair| pair[0].file != pair[1].file)
            .count();
        assert!(
            hops <= *files,
            "{command} takes {hops} hops, and may take {files}"
        );
        let is_cli = |step: &Step| step.file.starts_with("cli/");
        let back = steps
            .windows(2)
            .filter(|pair| !is_cli(&pair[0]) && is_cli(&pair[1]) && pair[0].file != "main.rs")
            .count();
        assert!(
            back <= *returns,
            "{command} comes back into cli {back} times, and may {returns}"
        );
    }
}

/// Reads the ways of all commands, in the order of the page.
fn ways() -> Vec<(String, Vec<Step>)> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(".github/ARCHITECTURE.md");
    let page = fs::read_to_string(page).expect("the page");
    page.split("\n## The way of ")
        .skip(1)
        .map(|section| {
            let (command, rest) = section.split_once('\n').expect("a heading");
            let rest = rest.split("\n## ").next().expect("a first part");
            (
                command.trim_matches('`').to_owned(),
                rest.lines().filter_map(step).collect(),
            )
        })
        .collect()
}

fn step(line: &str) -> Option<Step> {
    let item = line.trim_start();
    let mut names = item.strip_prefix("- `")?.split('`');
    let file = names.next()?.to_owned();
    let function = names.nth(1)?.to_owned();
    Some(Step {
        depth: (line.len() - item.len()) / 2,
        file,
        function,
    })
}

/// Finds the code of a function; `Type::name` is the function of that name in an `impl` of the type.
fn body_of(step: &Step) -> Option<String> {
    let text = fs::read_to_string(file_of(&step.file)?).ok()?;
    let (code, _) = blank(&text);
    let (owner, name) = step
        .function
        .rsplit_once("::")
        .unwrap_or(("", &step.function));
    let scopes: Vec<&str> = if owner.is_empty() {
        vec![&code]
    } else {
        code.match_indices("impl")
            .filter_map(|(start, _)| {
                let open = start + code[start..].find('{')?;
                let is_of_owner = has_word(&code[start..open], owner);
                is_of_owner.then(|| &code[open..=closing(&code, open)])
            })
            .collect()
    };
    scopes.into_iter().find_map(|scope| {
        let start = definition(scope, name)?;
        let open = body_start(scope, start)?;
        Some(scope[open..=closing(scope, open)].to_owned())
    })
}

/// Finds the definition of a function; one outside of all blocks comes before those inside.
fn definition(code: &str, name: &str) -> Option<usize> {
    let found: Vec<usize> = code
        .match_indices(&format!("fn {name}"))
        .filter(|(start, text)| {
            let behind = code[start + text.len()..].chars().next();
            behind.is_some_and(|c| c == '(' || c == '<')
        })
        .map(|(start, _)| start)
        .collect();
    let is_outside = |start: &&usize| {
        let line = code[..**start].rfind('\n').map_or(0, |end| end + 1);
        !code[line..].starts_with(' ')
    };
    found.iter().find(is_outside).or(found.first()).copied()
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|found| found == word)
}

/// Finds where a function is called, or handed over, in a text; returns the end of its name there.
fn call_of(body: &str, function: &str) -> Option<usize> {
    let name = function.rsplit("::").next().expect("a last part");
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    body.match_indices(name).find_map(|(start, found)| {
        let end = start + found.len();
        let before = body[..start].chars().next_back();
        let behind = body[end..].chars().next();
        let is_whole = !before.is_some_and(is_word) && !behind.is_some_and(is_word);
        // A field or a local of the same name is no call.
        let is_used = behind.is_some_and(|c| "(),:<".contains(c));
        (is_whole && is_used).then_some(end)
    })
}
