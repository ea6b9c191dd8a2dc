//! The parents of units, as `find` and `list` showed them.

use std::path::Path;

use lockctl::diag::Texts;
use lockctl::os::RealDisk;
use lockctl::terragrunt::{Documents, evaluate};
use serde_json::Value;

use super::lab::Lab;
use super::steps::Step;

/// Compares the parents, where they were listed.
pub(super) fn compare(lab: &Lab, step: &Step, outcome: &Value, fault: &mut dyn FnMut(String)) {
    for row in outcome["output"].as_array().unwrap() {
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
