//! Files that nobody in good faith would write: nothing panics, and what is said stays bounded.

use std::path::Path;

use lockctl::config::{self, Loaded, Settings};
use lockctl::diag::{MAX_PROBLEMS, Texts};
use lockctl::flavor::Flavor;
use lockctl::world::mem::MemFiles;
use lockctl::world::{Disk as _, Files};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use super::txtar::{self, Case};

const FLAVORS: [Flavor; 4] = [
    Flavor::Terraform1_11,
    Flavor::Terraform1_15,
    Flavor::Terraform1_16,
    Flavor::OpenTofu1_12,
];

/// Every kind of file that is read.
const NAMES: [&str; 10] = [
    "main.tf",
    "main.tf.json",
    "override.tf",
    "override.tf.json",
    "main.tofu",
    "main.tftest.hcl",
    "tests/main.tftest.json",
    ".terraform/modules/modules.json",
    ".terraform/environment",
    "terraform.tfstate",
];

/// What makes readers think of something.
const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "\"",
    "${",
    "%{",
    "~}",
    "<<E\n",
    "\nE\n",
    "=",
    ":",
    ",",
    ".",
    "\n",
    "\r\n",
    " ",
    "\\",
    "\\u00",
    "#",
    "//",
    "/*",
    "*/",
    "?",
    "!",
    "-",
    "*",
    "_",
    "0",
    "1e9",
    "for",
    " in ",
    "if",
    "null",
    "true",
    "terraform",
    "required_providers",
    "provider",
    "resource",
    "data",
    "module",
    "source",
    "version",
    "import",
    "moved",
    "removed",
    "check",
    "run",
    "locals",
    "variable",
    "lifecycle",
    "dynamic",
    "alpha",
    "alpha_x",
    "./m",
    ">= 1",
    "\u{FEFF}",
    "é",
    "Modules",
    "Key",
    "Dir",
    "resources",
    "instances",
];

/// Loads what is in memory; a panic is the only failure, apart from what is checked of the answer.
pub(super) fn load(files: &MemFiles, flavor: Flavor) -> Loaded {
    let mut texts = Texts::default();
    let settings = Settings::new(flavor);
    let loaded = config::load(files, &mut texts, Path::new("root"), &settings);
    assert!(loaded.diagnostics.len() <= 2 * (MAX_PROBLEMS + 1));
    for diagnostic in &loaded.diagnostics {
        let labels = diagnostic.primary.iter().chain(&diagnostic.related);
        for label in labels {
            let end = texts.bytes(label.file).len() + 1;
            let span = label.span;
            let fits = span.start <= span.end && span.end <= end;
            assert!(fits || end == 1, "{diagnostic:?} of {end} bytes");
        }
    }
    loaded
}

/// Puts files into memory, under the root.
pub(super) fn tree<'f>(files: impl IntoIterator<Item = (&'f str, &'f [u8])>) -> MemFiles {
    let tree = MemFiles::default();
    for (path, bytes) in files {
        let path = Path::new("root").join(path);
        let before = tree.read(&path, u64::MAX).ok();
        tree.replace(&path, before.as_deref(), bytes).unwrap();
    }
    tree
}

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    })
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        9 => select(TOKENS).prop_map(|token| token.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 1..4),
    ];
    prop::collection::vec(piece, 0..80).prop_map(|pieces| pieces.concat())
}

#[test]
fn arbitrary_files_never_panic() {
    let files = prop::collection::vec((select(&NAMES[..]), text()), 1..4);
    let given = (files, select(&FLAVORS[..]));
    let run = runner(500).run(&given, |(files, flavor)| {
        let files = files.iter().map(|(path, bytes)| (*path, &**bytes));
        load(&tree(files), flavor);
        Ok(())
    });
    run.unwrap();
}

/// A change of some bytes.
#[derive(Clone, Debug)]
enum Change {
    Delete(prop::sample::Index, usize),
    Repeat(prop::sample::Index, usize, usize),
    Insert(prop::sample::Index, &'static str),
    Set(prop::sample::Index, u8),
    Truncate(prop::sample::Index),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let len = bytes.len() + 1;
        match *self {
            Self::Delete(at, count) => {
                let at = at.index(len);
                let end = bytes.len().min(at + count);
                bytes.drain(at..end);
            }
            Self::Repeat(at, count, times) => {
                let at = at.index(len);
                let piece = bytes[at..bytes.len().min(at + count)].repeat(times);
                bytes.splice(at..at, piece);
            }
            Self::Insert(at, token) => {
                let at = at.index(len);
                bytes.splice(at..at, token.bytes());
            }
            Self::Set(at, value) => {
                let at = at.index(len);
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = value;
                }
            }
            Self::Truncate(at) => bytes.truncate(at.index(len)),
        }
    }
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<prop::sample::Index>;
    prop_oneof![
        (at(), 1..30_usize).prop_map(|(at, count)| Change::Delete(at, count)),
        (at(), 1..80_usize, 1..4_usize).prop_map(|(at, n, times)| Change::Repeat(at, n, times)),
        (at(), select(TOKENS)).prop_map(|(at, token)| Change::Insert(at, token)),
        (at(), any::<u8>()).prop_map(|(at, value)| Change::Set(at, value)),
        at().prop_map(Change::Truncate),
    ]
}

#[test]
fn changed_cases_never_panic() {
    let cases = txtar::cases();
    let given = (
        any::<prop::sample::Index>(),
        prop::collection::vec((any::<prop::sample::Index>(), change()), 1..5),
        select(&FLAVORS[..]),
    );
    let run = runner(800).run(&given, |(case, changes, flavor)| {
        let case: &Case = case.get(&cases);
        if case.files.is_empty() {
            return Err(TestCaseError::reject("no file"));
        }
        let mut files = case.files.clone();
        for (file, change) in &changes {
            let at = file.index(files.len());
            change.apply(&mut files[at].1);
        }
        let files = files.iter().map(|(path, bytes)| (&**path, &**bytes));
        load(&tree(files), flavor);
        Ok(())
    });
    run.unwrap();
}

#[test]
fn a_state_of_a_later_format_is_refused() {
    let state = br#"{"version": 99}"#;
    for flavor in FLAVORS {
        let loaded = load(&tree([("terraform.tfstate", &state[..])]), flavor);
        assert!(loaded.requirements.faulty, "{flavor:?}");
    }
}
