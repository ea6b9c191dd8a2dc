//! Holds how the sources read: counts of what slows a reader down, each with a ceiling.
//!
//! A figure may fall, never rise. Where it has fallen, the test prints the line to write into
//! [`CEILINGS`] (`cargo test --test layering reading -- --nocapture`). Counts that grow with the program
//! are per 1,000 lines, so that a new capability does not fail because it is large.

mod circles;
pub(super) mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use super::{files, files_below};
use source::{SourceFile, closing};

/// What is counted; each figure is a list of places, so that a failure can name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Figure {
    /// Doc comments that begin with What, How, Where, Which, Whether, Why, That or It.
    VagueStarts,
    /// Doc comments of one to three words.
    TinyDocs,
    /// The identifier `one`, where a noun would say more.
    One,
    /// Iterators stored only to go on in the next line.
    StoredIterators,
    /// `match` on a bool.
    BoolMatches,
    /// Type names that several rooms define.
    SharedTypes,
    /// Functions of more than 60 lines.
    LongFunctions,
    /// Private functions that are named once beside their definition.
    NamedOnce,
    /// Lines of plain comments.
    PlainComments,
}

/// In what a figure is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// In all.
    All,
    /// For each 1,000 lines.
    Thousand,
    /// Of 100 private functions.
    PercentOfPrivate,
    /// Of 100 lines; more is better, so the bound is a floor.
    PercentOfLines,
}

/// The largest value of each figure; of [`Unit::PercentOfLines`] the smallest.
const CEILINGS: &[(Figure, Unit, f64)] = &[
    (Figure::VagueStarts, Unit::Thousand, 0.06),
    (Figure::TinyDocs, Unit::Thousand, 0.01),
    (Figure::One, Unit::Thousand, 0.02),
    (Figure::StoredIterators, Unit::Thousand, 0.61),
    (Figure::BoolMatches, Unit::All, 0.0),
    (Figure::SharedTypes, Unit::Thousand, 0.05),
    (Figure::LongFunctions, Unit::Thousand, 0.23),
    (Figure::NamedOnce, Unit::PercentOfPrivate, 22.5),
    (Figure::PlainComments, Unit::PercentOfLines, 2.6),
];

/// The largest share of the lines that one room may have, in percent.
const MAX_ROOM_PERCENT: f64 = 7.5;

/// Circles of more than three files, by their members, each with the reason why it stays.
const CIRCLES: &[(&[&str], &str)] = &[];

/// Circles of so many files are small enough to be read together.
const SMALL_CIRCLE: usize = 3;

#[test]
fn sources_read_no_worse_than_they_did() {
    let files = read_sources();
    let (places, private_functions) = places(&files);
    let lines: usize = files.iter().map(|file| file.lines).sum();
    println!(
        "{lines} lines in {} files; {} crates in Cargo.lock",
        files.len(),
        locked_crates()
    );
    let mut faults = Vec::new();
    for &(figure, unit, bound) in CEILINGS {
        let found = places.get(&figure).map_or(&[][..], Vec::as_slice);
        let count = found.len() as f64;
        let value = match unit {
            Unit::All => count,
            Unit::Thousand => count * 1000.0 / lines as f64,
            Unit::PercentOfPrivate => count * 100.0 / private_functions as f64,
            Unit::PercentOfLines => count * 100.0 / lines as f64,
        };
        // Two digits, rounded to the side that keeps the test green.
        let (is_kept, better) = if unit == Unit::PercentOfLines {
            (value >= bound, (value * 100.0).floor() / 100.0)
        } else {
            (value <= bound, (value * 100.0).ceil() / 100.0)
        };
        println!("{figure:?}: {count} places, {value:.3} ({unit:?}), bound {bound}");
        if !is_kept {
            let examples: Vec<&String> = found.iter().rev().take(40).collect();
            faults.push(format!(
                "{figure:?} is {value:.3} and may be {bound}: {examples:#?}"
            ));
        } else if (better - bound).abs() > f64::EPSILON {
            println!("  lower the ceiling: (Figure::{figure:?}, Unit::{unit:?}, {better:?}),");
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The most lines that `src` and `tests` may have, and the most functions of `src` without its tests. A feature that
/// needs more removes as many.
const MAX_LINES: [(&str, usize); 2] = [("src", 169_480), ("tests", 77_160)];
const MAX_FUNCTIONS: usize = 5_855;

#[test]
fn the_house_does_not_grow() {
    for (top, most) in MAX_LINES {
        let files = files_below(&[top]);
        let lines: usize = files.iter().map(|(_, text)| text.lines().count()).sum();
        println!("{top}: {lines} lines, bound {most}");
        assert!(
            lines <= most,
            "{top} has {lines} lines, and may have {most}"
        );
    }
    let functions: usize = read_sources()
        .iter()
        .map(|file| file.functions().len())
        .sum();
    println!("{functions} functions, bound {MAX_FUNCTIONS}");
    assert!(functions <= MAX_FUNCTIONS, "{functions} functions");
}

#[test]
fn no_room_is_too_large() {
    let files = read_sources();
    let lines: usize = files.iter().map(|file| file.lines).sum();
    let mut rooms: BTreeMap<&str, usize> = BTreeMap::new();
    for file in &files {
        *rooms.entry(file.room()).or_default() += file.lines;
    }
    for (room, size) in rooms {
        let percent = size as f64 * 100.0 / lines as f64;
        assert!(
            percent <= MAX_ROOM_PERCENT,
            "{room} has {percent:.1} % of all lines: it may hold two concepts"
        );
    }
}

#[test]
fn circles_between_files_are_known() {
    let found: BTreeSet<Vec<String>> = circles::circles(&read_sources())
        .into_iter()
        .filter(|circle| circle.len() > SMALL_CIRCLE)
        .collect();
    let known: BTreeSet<Vec<String>> = CIRCLES
        .iter()
        .map(|(files, _)| files.iter().map(|&file| file.to_owned()).collect())
        .collect();
    assert_eq!(found, known, "files that import each other in a circle");
}

#[test]
fn the_scanner_sees_what_a_reader_sees() {
    let text = "/// What it is.\nfn long() {\n    let one = \"one\"; // Because.\n    match x {\n        \
                true => 1,\n        false => 2,\n    }\n}\n\n#[cfg(test)]\nmod tests {\n    fn one() {}\n}\n";
    let file = SourceFile::new(Path::new("room/file.rs"), text).expect("no test");
    assert_eq!(file.functions(), [("long".to_owned(), 2, 7)]);
    let (places, private_functions) = places(&[file]);
    let counts: BTreeMap<Figure, usize> = places
        .iter()
        .map(|(figure, places)| (*figure, places.len()))
        .collect();
    let wanted = [
        (Figure::VagueStarts, 1),
        (Figure::TinyDocs, 1),
        (Figure::One, 1),
        (Figure::BoolMatches, 1),
        (Figure::PlainComments, 1),
    ];
    assert_eq!(counts, wanted.into());
    assert_eq!(private_functions, 1);
}

fn read_sources() -> Vec<SourceFile> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources: Vec<SourceFile> = files()
        .iter()
        .filter_map(|(path, text)| {
            SourceFile::new(path.strip_prefix(&src).expect("below src"), text)
        })
        .collect();
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    sources
}

fn locked_crates() -> usize {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock");
    let lock = fs::read_to_string(lock).unwrap_or_default();
    lock.matches("[[package]]").count()
}

/// Lists the places of every figure, and counts private functions.
fn places(files: &[SourceFile]) -> (BTreeMap<Figure, Vec<String>>, usize) {
    let mut places: BTreeMap<Figure, Vec<String>> = BTreeMap::new();
    let mut types: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let mut private_functions = 0;
    for file in files {
        comments(file, &mut places);
        for (name, line, length) in file.functions() {
            if length > 60 {
                let place = format!("{}:{line} {name} ({length} lines)", file.path);
                places.entry(Figure::LongFunctions).or_default().push(place);
            }
        }
        for (figure, offset) in patterns(&file.code) {
            let place = format!("{}:{}", file.path, file.line_of(offset));
            places.entry(figure).or_default().push(place);
        }
        for name in defined_types(&file.code) {
            types.entry(name).or_default().insert(file.room());
        }
        let (private, once) = private_functions_of(&file.code);
        private_functions += private;
        for name in once {
            let place = format!("{} {name}", file.path);
            places.entry(Figure::NamedOnce).or_default().push(place);
        }
    }
    for (name, rooms) in types.iter().filter(|(_, rooms)| rooms.len() > 1) {
        let place = format!("{name}: {rooms:?}");
        places.entry(Figure::SharedTypes).or_default().push(place);
    }
    (places, private_functions)
}

fn comments(file: &SourceFile, places: &mut BTreeMap<Figure, Vec<String>>) {
    const VAGUE: [&str; 8] = [
        "What", "How", "Where", "Which", "Whether", "Why", "That", "It",
    ];
    let mut last_line = None;
    for (line, text) in &file.comments {
        let mut add = |figure| {
            let place = format!("{}:{line} {text}", file.path);
            places.entry(figure).or_default().push(place);
        };
        let is_doc = text.starts_with("///") || text.starts_with("//!");
        let is_first = last_line != Some(line - 1);
        last_line = Some(*line);
        if !is_doc {
            add(Figure::PlainComments);
            continue;
        }
        let words = text[3..].trim();
        let end = words.find(|c: char| !c.is_alphanumeric() && c != '_');
        let first = &words[..end.unwrap_or(words.len())];
        if is_first && VAGUE.contains(&first) {
            add(Figure::VagueStarts);
        }
        let count = words.split_whitespace().count();
        if is_first && text.starts_with("///") && (1..=3).contains(&count) {
            add(Figure::TinyDocs);
        }
    }
}

fn patterns(code: &str) -> Vec<(Figure, usize)> {
    static BOOL: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"match [^{;]{1,120}\{\s*(?:true|false) =>").expect("valid"));
    static STORED: LazyLock<Regex> = LazyLock::new(|| {
        let adapters = "iter|into_iter|iter_mut|keys|values|split\\w*|chars|lines|components|bytes";
        let pattern = format!(
            r"let (?:mut )?(\w+)(?:: [^=]+)? = [\w.&:()]+?\.(?:{adapters})\([^;]*?\);\s*\n"
        );
        Regex::new(&pattern).expect("valid")
    });
    let ones = words(code)
        .filter(|(_, word)| *word == "one")
        .map(|(offset, _)| (Figure::One, offset));
    let bools = BOOL
        .find_iter(code)
        .map(|found| (Figure::BoolMatches, found.start()));
    let stored = STORED.captures_iter(code).filter_map(|found| {
        let whole = found.get(0).expect("a match");
        goes_on_with(&code[whole.end()..], &found[1])
            .then_some((Figure::StoredIterators, whole.start()))
    });
    ones.chain(bools).chain(stored).collect()
}

/// Returns true if the statement that begins `rest` calls a method on `name` within 120 characters.
fn goes_on_with(rest: &str, name: &str) -> bool {
    let statement: String = rest.chars().take(250).collect();
    let statement = statement.split(';').next().expect("a first part");
    words(statement).any(|(offset, word)| {
        let behind = statement[offset + word.len()..].trim_start();
        word == name && behind.starts_with('.') && statement[..offset].chars().count() <= 120
    })
}

/// The identifiers of a text, with their offsets.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(move |word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

fn defined_types(code: &str) -> Vec<String> {
    static TYPE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\b(?:struct|enum|union|trait)\s+(\w+)").expect("valid"));
    TYPE.captures_iter(code)
        .map(|found| found[1].to_owned())
        .collect()
}

/// Counts the private functions of a file, methods of traits left out, and names those that only their
/// definition and one other place name.
fn private_functions_of(code: &str) -> (usize, Vec<String>) {
    static TRAIT_IMPL: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\bimpl\b[^{;]*\bfor\b[^{;]*\{").expect("valid"));
    static FUNCTION: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?:^|\n)[ \t]*((?:pub(?:\([^)]*\))?\s+)?)(?:const |async )*fn\s+(\w+)")
            .expect("valid")
    });
    let impls: Vec<(usize, usize)> = TRAIT_IMPL
        .find_iter(code)
        .map(|found| (found.start(), closing(code, found.end() - 1)))
        .collect();
    let mut named: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, word) in words(code) {
        *named.entry(word).or_default() += 1;
    }
    let mut count = 0;
    let mut once = Vec::new();
    for function in FUNCTION.captures_iter(code) {
        let start = function.get(0).expect("a match").start();
        let is_of_trait = impls
            .iter()
            .any(|(from, to)| (*from..=*to).contains(&start));
        if !function[1].is_empty() || &function[2] == "main" || is_of_trait {
            continue;
        }
        count += 1;
        if named.get(&function[2]) == Some(&2) {
            once.push(function[2].to_owned());
        }
    }
    (count, once)
}
