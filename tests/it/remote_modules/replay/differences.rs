//! Cases in which lockctl differs on purpose, by name: `fixtures/module-cases/differences.json`.

use std::sync::LazyLock;

use serde_json::Value;

use super::PROGRAMS;

static LISTED: LazyLock<Value> = LazyLock::new(|| {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/fixtures/module-cases/differences.json"
    );
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
});

/// The most exceptions that may be listed beside what is refused or not supported.
const MAX_EXCEPTIONS: usize = 10;

/// What a case shows beside the outcome of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listed<'a> {
    /// Nothing: lockctl does what the program does.
    No,
    /// Another outcome than that of the program.
    Different,
    /// lockctl refuses it, with this rule.
    Refused(&'a str),
    /// lockctl does not fetch this kind of source, and says so.
    Unsupported,
}

/// Returns how a case is listed for a program.
pub(super) fn listed(group: &str, id: &str, program: &str) -> Listed<'static> {
    let find = |list: &'static Value| list.get(id).filter(|one| is_about(one, program));
    let refused = find(&LISTED["refused"]);
    let mut found = Vec::new();
    found.extend(refused.map(|one| Listed::Refused(one["rule"].as_str().unwrap())));
    found.extend(find(&LISTED["unsupported"]).map(|_| Listed::Unsupported));
    found.extend(find(&LISTED[group]).map(|_| Listed::Different));
    assert!(found.len() < 2, "{id} is listed twice: {found:?}");
    found.pop().unwrap_or(Listed::No)
}

/// Returns whether a difference is one to a program; one without `only` is to both.
fn is_about(one: &Value, program: &str) -> bool {
    match one["only"].as_str() {
        Some(only) => program.starts_with(only),
        None => true,
    }
}

#[test]
fn exceptions_are_few_and_name_cases() {
    let lists = LISTED.as_object().unwrap();
    let mut exceptions = 0;
    for (list, cases) in lists {
        let is_group = !["refused", "unsupported"].contains(&&**list);
        let groups = match is_group {
            true => vec![&**list],
            false => super::GROUPS.to_vec(),
        };
        let groups = groups.into_iter().map(super::recorded::load);
        let known: Vec<Value> = groups.flatten().collect();
        for (id, one) in cases.as_object().unwrap() {
            exceptions += usize::from(is_group);
            assert!(known.iter().any(|case| case["id"] == **id), "{list} {id}");
            assert!(
                one["why"].as_str().is_some_and(|why| !why.is_empty()),
                "{id}"
            );
            let only = one["only"].as_str();
            let is_program = |only: &str| PROGRAMS.iter().any(|(name, _)| name.starts_with(only));
            assert!(only.is_none_or(is_program), "{id}");
        }
    }
    assert!(exceptions <= MAX_EXCEPTIONS, "{exceptions} exceptions");
}
