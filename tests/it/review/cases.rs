//! The states of lock files before and after a run of the real programs, and how they are explained.

use std::fs;
use std::path::Path;

use lockctl::diag::Texts;
use lockctl::flavor::Flavor;
use lockctl::review::{LockSide, review};
use serde_json::Value;

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/cases");

/// Explains a case: what is said about the file, then about each provider.
fn explained(before: &Path, after: &Path) -> String {
    let mut texts = Texts::default();
    let sides = [before, after].map(|path| {
        let bytes = fs::read(path).unwrap();
        let file = texts.add(path.display().to_string(), bytes.clone());
        LockSide::read(file, bytes, Flavor::OpenTofu1_12)
    });
    let [old, new] = &sides;
    let found = review(Some(old), Some(new));
    let file = found.causes.iter().map(|cause| cause.text.clone());
    let providers = found.providers.iter().map(|one| {
        let name = one.change.addr().type_name();
        format!("{name}: {}", one.explained.sentence())
    });
    file.chain(providers).collect::<Vec<_>>().join(" / ")
}

/// How each pair that changes is explained, below what it shows.
const WANTED: &str = include_str!("cases.txt");

#[test]
fn recorded_changes_are_explained() {
    let mut all = String::new();
    for group in ["lifecycle", "opentofu"] {
        let text = fs::read(format!("{CASES}/{group}.json")).unwrap();
        let file: Value = serde_json::from_slice(&text).unwrap();
        for case in file["cases"].as_array().unwrap() {
            let path = |name: &str| Some(Path::new(CASES).join(case[name].as_str()?));
            let (Some(before), Some(after)) = (path("before"), path("after")) else {
                continue;
            };
            let text = explained(&before, &after);
            if !text.is_empty() {
                let (id, shows) = (
                    case["id"].as_str().unwrap(),
                    case["shows"].as_str().unwrap(),
                );
                all += &format!("{id}\n  shows: {shows}\n  says:  {text}\n");
            }
        }
    }
    if std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite") {
        fs::write(
            concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/review/cases.txt"),
            &all,
        )
        .unwrap();
    }
    assert_eq!(all, WANTED);
}
