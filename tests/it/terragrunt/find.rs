//! What `find` and `list` showed.

use std::path::Path;

use lockctl::diag::Texts;
use lockctl::os::RealDisk;
use lockctl::terragrunt::{Documents, discover, evaluate};
use serde_json::Value;

use super::lab::{Lab, texts};
use super::steps::Step;

/// Options that narrow or widen the result, which `discover` does not do.
const NARROWING: &[&str] = &[
    "--filter",
    "--queue-construct-as",
    "--no-hidden",
    "--experiment",
];

pub(super) fn compare(lab: &Lab, step: &Step, outcome: &Value, fault: &mut dyn FnMut(String)) {
    let found = discover(&RealDisk, &step.dir, None);
    let shown = |path: &Path| match path.strip_prefix(&step.dir).unwrap().to_str().unwrap() {
        "" => ".".to_owned(),
        below => below.to_owned(),
    };
    let mut all: Vec<(String, &str)> = found
        .units
        .iter()
        .map(|path| (shown(path), "unit"))
        .collect();
    all.extend(found.stacks.iter().map(|path| (shown(path), "stack")));
    // One ambiguous directory empties the result.
    if !found.ambiguous.is_empty() {
        all.clear();
    }
    all.sort();
    let rows = outcome["output"].as_array().unwrap();
    let has_objects = rows.iter().all(Value::is_object);
    let expected: Vec<(String, &str)> = match has_objects {
        true => rows
            .iter()
            .map(|row| {
                (
                    row["path"].as_str().unwrap().to_owned(),
                    row["type"].as_str().unwrap(),
                )
            })
            .collect(),
        // `list` prints columns of names.
        false => {
            let names = texts(&outcome["output"]).flat_map(str::split_whitespace);
            let kind = |name: &str| {
                all.iter()
                    .find(|(path, _)| path == name)
                    .map_or("none", |one| one.1)
            };
            names.map(|name| (name.to_owned(), kind(name))).collect()
        }
    };
    let mut expected = expected;
    expected.sort();
    let is_narrowed = NARROWING.iter().any(|flag| step.flag(flag).is_some());
    let experiment = step.flag("--experiment") == Some("symlinks");
    if is_narrowed && !experiment {
        // What is left is a part of what is found.
        if let Some(other) = expected.iter().find(|row| !all.contains(row)) {
            fault(format!("{other:?} is not found"));
        }
    } else if expected != all {
        fault(format!("{expected:?}, but {all:?}"));
    }
    includes(lab, step, rows, fault);
}

/// Compares the parents, where they were listed.
fn includes(lab: &Lab, step: &Step, rows: &[Value], fault: &mut dyn FnMut(String)) {
    for row in rows {
        let Some(expected) = row["include"].as_object() else {
            continue;
        };
        let documents = Documents::default();
        let variable = |name: &str| step.variables.get(name).cloned();
        let around = step.surroundings(lab, &documents, &variable);
        let dir = step.dir.join(row["path"].as_str().unwrap());
        let (unit, _) = evaluate(&RealDisk, &mut Texts::default(), &dir, &around);
        let below = |path: &Path| path.strip_prefix(&lab.root).unwrap().display().to_string();
        let mut found: Vec<String> = unit.parents.iter().map(|path| below(path)).collect();
        let mut expected: Vec<&str> = expected.values().filter_map(Value::as_str).collect();
        found.sort();
        expected.sort_unstable();
        if found != expected {
            fault(format!("{expected:?} are included, but {found:?}"));
        }
    }
}
