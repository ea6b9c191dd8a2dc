//! Cases in which lockctl differs on purpose, by name: `fixtures/module-cases/differences.json`.

use std::sync::LazyLock;

use serde_json::Value;

static LISTED: LazyLock<Value> = LazyLock::new(|| {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/fixtures/module-cases/differences.json"
    );
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
});

/// Returns whether a case differs on purpose from a program.
pub(super) fn known(id: &str, program: &str) -> bool {
    let cases = LISTED.as_object().unwrap().values();
    let mut cases = cases.flat_map(|group| group.as_object().unwrap());
    cases.any(|(name, one)| name == id && is_about(one, program))
}

/// Returns `ID PROGRAM` of everything that is listed for a group.
pub(super) fn listed(group: &str) -> Vec<String> {
    let cases = LISTED[group].as_object().into_iter().flatten();
    let all = cases.flat_map(|(id, one)| {
        let programs = super::PROGRAMS
            .iter()
            .filter(|(program, _)| is_about(one, program));
        programs.map(move |(program, _)| format!("{id} {program}"))
    });
    all.collect()
}

/// Returns whether a difference is one to a program; one without `only` is to both.
fn is_about(one: &Value, program: &str) -> bool {
    match one["only"].as_str() {
        Some(only) => program.starts_with(only),
        None => true,
    }
}
