//! Inputs of the fuzz targets, without a fuzzer: small corpora, and every input that once failed.

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

#[path = "../../fuzz/bodies/mod.rs"]
#[allow(
    unreachable_pub,
    reason = "the programs of the fuzzer are other crates, which call them"
)]
mod bodies;

use bodies::{TARGETS, Target};

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn names(dir: &str) -> BTreeSet<String> {
    fs::read_dir(top().join(dir))
        .unwrap()
        .map(|entry| {
            entry
                .unwrap()
                .path()
                .file_stem()
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        })
        .collect()
}

#[test]
fn every_target_has_a_program_a_dictionary_and_a_corpus() {
    let targets: BTreeSet<String> = TARGETS
        .iter()
        .map(|target| target.name.to_owned())
        .collect();
    for dir in [
        "tests/fuzz/fuzz_targets",
        "tests/fuzz/dictionaries",
        "fixtures/fuzz",
    ] {
        assert_eq!(names(dir), targets, "{dir}");
    }
    let manifest = fs::read_to_string(top().join("tests/fuzz/Cargo.toml")).unwrap();
    for Target { name, .. } in TARGETS {
        assert!(
            manifest.contains(&format!(
                "name = \"{name}\"\npath = \"fuzz_targets/{name}.rs\""
            )),
            "{name}"
        );
    }
}

#[test]
fn every_kept_input_is_fine() {
    let mut bytes = 0;
    let mut failed = Vec::new();
    for Target { name, run } in TARGETS {
        let mut paths: Vec<PathBuf> = fs::read_dir(top().join("fixtures/fuzz").join(name))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        paths.sort();
        run(b"");
        for path in paths {
            let input = fs::read(&path).unwrap();
            bytes += input.len();
            // The panic has printed its reason; the others are run as well.
            if catch_unwind(|| run(&input)).is_err() {
                failed.push(path);
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(bytes < 1 << 20, "{bytes} bytes of corpora");
}
