//! Holds the room plan: who may import whom, and where each third-party crate lives.
#![allow(clippy::disallowed_methods, reason = "this test reads the sources")]
#![allow(clippy::print_stdout, reason = "figures are printed, not held")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

#[path = "layering/reading/mod.rs"]
mod reading;
#[path = "layering/rules.rs"]
mod rules;
#[path = "layering/ways.rs"]
mod ways;

/// The wings below `src`, and the rooms of each, in reading order: a room imports rooms that come before it. Cargo
/// holds the borders of the three crates.
const WINGS: &[(&str, &str)] = &[
    (
        "core/words",
        "flavor addr version platform parallel hash contents diag package requirement serialized",
    ),
    ("core/outside", "world git os"),
    (
        "core/texts",
        "hcl json expr lockfile module_config remote_module config effective cliconfig project pins terragrunt",
    ),
    (
        "core/judge",
        "archive resolve coverage review verify workspace verifier",
    ),
    (
        "fetch/evidence",
        "net authenticate sources store modules acquire packages",
    ),
    ("fetch/work", "locker mirror upstream"),
    (
        "work",
        "report run advice driver audit mirroring sbom changes diff lock replace outdated verifying cache trust merging inspect reporting",
    ),
    ("front", "guide signals cli"),
];

/// Crates that live in one room only (or in the rooms named).
const HOMES: &[(&str, &str)] = &[
    ("annotate_snippets", "report"),
    ("anstyle", "report"),
    ("backon", "sources"),
    // In `cliconfig` for passwords in files of Docker.
    ("base64", "cliconfig expr hash modules"),
    ("bytes", "net"),
    ("bzip2", "modules"),
    ("chrono", "expr package"),
    (
        "clap",
        "audit cache changes cli diff driver guide inspect lock merging mirroring outdated replace reporting run sbom trust verifying",
    ),
    ("clap_complete", "cli"),
    ("clap_mangen", "cli"),
    ("comfy_table", "report"),
    ("crc32fast", "archive"),
    ("flate2", "archive expr modules"),
    ("futures_util", "net"),
    ("globset", "project"),
    ("hcl_edit", "hcl"),
    ("hex", "expr hash"),
    ("http", "sources"),
    ("idna", "addr"),
    ("ignore", "project"),
    ("indicatif", "run"),
    ("layout", "report"),
    ("lzma_rust2", "modules"),
    ("md_5", "expr hash"),
    ("mimalloc", "main"),
    ("object_store", "net"),
    ("percent_encoding", "expr"),
    ("pgp", "authenticate"),
    ("quick_junit", "report"),
    ("regex", "expr"),
    ("reqwest", "net"),
    ("ring", "authenticate"),
    ("rustix", "os"),
    ("rustls", "net"),
    ("rustls_native_certs", "net"),
    ("saphyr_parser", "expr project"),
    ("semver", "flavor version"),
    ("sha1", "expr hash"),
    ("sha2", "expr hash"),
    ("signal_hook", "signals"),
    ("sigstore_verify", "authenticate"),
    ("similar", "run"),
    ("strsim", "diag"),
    ("tar", "mirror modules"),
    ("tempfile", "os"),
    ("terminal_size", "os"),
    ("tokio", "net"),
    ("toml_edit", "project"),
    ("unicode_normalization", "expr"),
    ("unicode_properties", "lockfile"),
    ("unicode_segmentation", "hcl"),
    ("url", "addr"),
    ("webpki_root_certs", "net"),
    ("zip", "archive"),
];

#[test]
fn rooms_import_only_what_comes_before_them() {
    let order: Vec<&str> = WINGS
        .iter()
        .flat_map(|(_, rooms)| rooms.split_whitespace())
        .collect();
    let place = |room: &str| order.iter().position(|other| *other == room);
    let mut seen = BTreeSet::new();
    let mut faults = Vec::new();
    for (room, path, text) in sources() {
        let Some(own) = place(&room) else {
            faults.push(format!("{} is in no room of the plan", path.display()));
            continue;
        };
        for import in imports(&text) {
            // The wings themselves are named where something is visible within one room.
            if place(&import).is_some_and(|other| other > own) {
                faults.push(format!("{}: {import} comes after {room}", path.display()));
            }
        }
        seen.insert(room);
    }
    assert!(faults.is_empty(), "{faults:#?}");
    let planned: BTreeSet<String> = order.iter().map(|room| (*room).to_owned()).collect();
    assert_eq!(seen, planned, "every planned room exists");
}

#[test]
fn few_names_are_below_src() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let names: Vec<PathBuf> = fs::read_dir(src)
        .expect("src is readable")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    assert!(names.len() <= 9, "{names:#?}");
}

#[test]
fn each_crate_has_one_home() {
    let mut faults = Vec::new();
    for (room, path, text) in sources() {
        for (name, home) in HOMES {
            // Room `archive` has a module of the name `zip`; the crate is written `::zip` there.
            let named = text.contains(&format!("use {name}::"))
                || text.contains(&format!(" ::{name}::"))
                || (*name != "zip" && words_before_colons(&text).any(|word| word == *name));
            if named && !home.split_whitespace().any(|home| home == room) {
                faults.push(format!("{}: {name} lives in {home}", path.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn files_are_short() {
    let mut faults = Vec::new();
    for (path, text) in files_below(&["src", "tests"]) {
        let lines = text.lines().count();
        if lines > 600 {
            faults.push(format!("{} has {lines} lines", path.display()));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Maximum length of a function, in lines from `fn` to its closing brace: a linear list of stages, or one
/// table.
const MAX_FUNCTION_LINES: usize = 100;

#[test]
fn functions_are_short() {
    let mut faults = Vec::new();
    let mut seen = 0;
    for (path, text) in files() {
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let indent = line.len() - line.trim_start().len();
            if !is_function(line.trim_start()) {
                continue;
            }
            seen += 1;
            let close = format!("{}}}", " ".repeat(indent));
            let length = lines[at..]
                .iter()
                .position(|line| *line == close)
                .unwrap_or(0)
                + 1;
            if length > MAX_FUNCTION_LINES {
                faults.push(format!("{}:{} has {length} lines", path.display(), at + 1));
            }
        }
    }
    assert!(seen > 500, "functions were found");
    assert!(faults.is_empty(), "{faults:#?}");
}

fn is_function(line: &str) -> bool {
    let mut words = line.split_whitespace().skip_while(|word| {
        word.starts_with("pub") || ["const", "unsafe", "async", "in", "crate)"].contains(word)
    });
    words.next() == Some("fn") && !line.ends_with(';')
}

/// Nothing reaches out of its room by `super`, or names the crate from outside.
#[test]
fn rooms_name_each_other_by_crate_only() {
    for (_, path, text) in sources() {
        assert!(!text.contains("super::super"), "{}", path.display());
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        assert!(
            !code.into_iter().any(|line| line.contains("lockctl::")),
            "{}",
            path.display()
        );
    }
}

/// What programs are told is made of types, and so is its schema.
#[test]
fn no_output_is_put_together_by_hand() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (_, path, text) in sources() {
        // The schema is a value of no type; only what it is made of is one. Documents of foreign standards have the
        // schema of the standard, which tests hold them against.
        let prints = ["work", "front"].map(|wing| path.starts_with(src.join(wing)));
        let is_foreign = ["report/sarif.rs", "report/json/schema.rs"]
            .iter()
            .any(|file| path.ends_with(file))
            || path.starts_with(src.join("work/sbom"));
        if !prints.contains(&true) || is_foreign {
            continue;
        }
        for word in ["json!(", "serde_json::Value", "serde_json::{"] {
            assert!(!text.contains(word), "{}: {word}", path.display());
        }
    }
}

/// Every rule is used, and every code that is used is a rule.
#[test]
fn the_table_of_rules_is_that_of_the_program() {
    let table: BTreeSet<&str> = lockctl::diag::RULES.iter().map(|rule| rule.name).collect();
    let texts: Vec<String> = sources()
        .into_iter()
        .filter(|(_, path, _)| !path.ends_with("diag/rules.rs"))
        .map(|(_, _, text)| text)
        .collect();
    for name in &table {
        let uses = [
            format!("rules::{}", name.to_uppercase().replace('-', "_")),
            format!("\"{name}\""),
        ];
        assert!(
            texts
                .iter()
                .any(|text| uses.iter().any(|spelled| text.contains(spelled))),
            "nothing uses {name}"
        );
    }
    for text in &texts {
        for opening in [
            "Diagnostic::error(",
            "Diagnostic::warning(",
            "Diagnostic::note(",
            "diag::named(",
        ] {
            for rest in text.split(opening).skip(1) {
                let code: String = rest.trim_start().chars().take(40).collect();
                assert!(
                    !code.starts_with('"') || opening == "diag::named(",
                    "{code:?} is no constant of `diag::rules`"
                );
                let literal = code
                    .strip_prefix('"')
                    .and_then(|code| code.split('"').next());
                assert!(
                    literal.is_none_or(|code| table.contains(code)),
                    "{literal:?} is no rule"
                );
            }
        }
    }
}

#[test]
fn imports_are_found_in_every_form() {
    let text = "use crate::addr::X;\nuse crate::{diag::Y, hash};\nfn f() { crate::world::z() }\n";
    assert_eq!(
        imports(text),
        ["addr", "diag", "hash", "world"].map(str::to_owned).into()
    );
}

/// Returns room, path and text of every source file but the roots of the crate; unit tests, which
/// may use any double, are cut off.
fn sources() -> Vec<(String, PathBuf, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    for (path, text) in files() {
        let below = path.strip_prefix(&src).expect("below src");
        // A file of this name, or one of a folder of this name.
        let is_tests = below.iter().any(|part| {
            Path::new(part)
                .file_stem()
                .is_some_and(|stem| stem == "tests")
        });
        let Some(room) = room_of(below).filter(|_| !is_tests) else {
            continue;
        };
        let code = text
            .split("#[cfg(test)]\nmod tests {")
            .next()
            .expect("a first part")
            .to_owned();
        found.push((room.to_owned(), path, code));
    }
    assert!(found.len() > 40, "the sources were found");
    found
}

/// Returns the room that a file below `src` belongs to; `None` for the files of a crate or a wing.
fn room_of(below: &Path) -> Option<&str> {
    let wing = WINGS.iter().find(|(wing, _)| below.starts_with(wing))?.0;
    let below = below.strip_prefix(wing).ok()?;
    let room = below.components().next()?.as_os_str().to_str()?;
    let room = room.strip_suffix(".rs").unwrap_or(room);
    (room != "mod").then_some(room)
}

/// Returns the file of a path that begins with the name of a room.
fn file_of(path: &str) -> Option<PathBuf> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    WINGS
        .iter()
        .map(|(wing, _)| src.join(wing).join(path))
        .chain([src.join(path)])
        .find(|path| path.exists())
}

/// Returns path and text of every Rust file below `src`.
fn files() -> Vec<(PathBuf, String)> {
    files_below(&["src"])
}

fn files_below(tops: &[&str]) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut dirs: Vec<PathBuf> = tops
        .iter()
        .map(|top| Path::new(env!("CARGO_MANIFEST_DIR")).join(top))
        .collect();
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).expect("src is readable") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("text");
                found.push((path, text));
            }
        }
    }
    found
}

/// Returns the rooms that a text names behind `crate::`.
fn imports(text: &str) -> BTreeSet<String> {
    let code: String = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or(""))
        .collect();
    let mut rooms = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        if let Some(group) = rest.strip_prefix('{') {
            let group = &group[..matching_brace(group)];
            let mut depth = 0;
            let mut word = String::new();
            for c in group.chars().chain([',']) {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    ',' if depth == 0 => rooms.extend(first_word(&std::mem::take(&mut word))),
                    c => word.push(c),
                }
            }
        } else {
            rooms.extend(first_word(rest));
        }
    }
    rooms
}

fn matching_brace(text: &str) -> usize {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

fn first_word(text: &str) -> Option<String> {
    let text = text.trim_start();
    let end = text
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    (end > 0).then(|| text[..end].to_owned())
}

/// Returns the words that stand at the start of a path, as in `word::`.
fn words_before_colons(text: &str) -> impl Iterator<Item = &str> {
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| {
        line.match_indices("::").filter_map(move |(at, _)| {
            let before = &line[..at];
            let start = before
                .rfind(|c: char| !c.is_alphanumeric() && c != '_')
                .map_or(0, |n| n + 1);
            let is_path_start =
                !before[..start].ends_with("::") || before[..start].ends_with("(::");
            is_path_start.then(|| &before[start..])
        })
    })
}

#[test]
fn the_table_of_homes_names_real_dependencies() {
    let manifest = ["", "src/core", "src/fetch"].map(|package| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(package);
        fs::read_to_string(path.join("Cargo.toml")).expect("the manifest")
    });
    // Those for all systems, and those for some.
    let tables = manifest
        .iter()
        .flat_map(|manifest| manifest.split("\n["))
        .filter(|table| {
            let header = table.split(']').next().expect("a first part");
            header == "dependencies" || header.starts_with("target.") && !header.contains("dev-")
        });
    let everywhere = [
        "lockctl_core",
        "lockctl_fetch",
        "schemars",
        "serde",
        "serde_json",
        "thiserror",
    ];
    let named: BTreeMap<String, ()> = tables
        .flat_map(|table| table.lines().skip(1))
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, _)| (name.trim().replace('-', "_"), ()))
        .filter(|(name, ())| !everywhere.contains(&name.as_str()))
        .collect();
    let homes: Vec<&str> = HOMES.iter().map(|(name, _)| *name).collect();
    assert_eq!(named.keys().map(String::as_str).collect::<Vec<_>>(), homes);
}
