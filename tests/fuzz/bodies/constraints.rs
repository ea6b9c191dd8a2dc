//! Versions and constraints: what is parsed can be printed, and matches as a slow reference does.

use std::cmp::Ordering;

use lockctl::version::{Constraints, CoreConstraints, Version, scope_change, step};

use super::Budget;
use super::reference::{Parts, allows, terms};

const BUDGET: Budget = Budget {
    base_bytes: 4 * 1024,
    bytes: 200,
    base_allocations: 100,
    allocations: 8,
};

/// The first line is a set, the other lines are versions.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let mut lines = text.split('\n');
    let set = lines.next().unwrap_or_default();
    let versions: Vec<&str> = lines.take(8).collect();
    for text in &versions {
        check_version(text);
    }
    for left in &versions {
        for right in &versions {
            check_order(left, right);
        }
    }
    check_set(data, set, &versions);
    check_core(set);
}

fn check_version(text: &str) {
    let version: Result<Version, _> = text.parse();
    let parts = Parts::read(text);
    assert_eq!(
        version.is_ok(),
        parts.is_some(),
        "{text:?}: {version:?}, {parts:?}"
    );
    let (Ok(version), Some(parts)) = (version, parts) else {
        return;
    };
    assert_eq!(version.to_string(), parts.canonical());
    assert_eq!(
        version.to_string().parse(),
        Ok(version.clone()),
        "what is printed parses to the same"
    );
    if let Ok(listed) = Version::parse_listed(text) {
        let numbers = |version: &Version| (version.major, version.minor, version.patch);
        assert_eq!(numbers(&listed), numbers(&version), "{text:?}");
    }
}

fn check_order(left: &str, right: &str) {
    let (Ok(left), Ok(right)) = (left.parse::<Version>(), right.parse::<Version>()) else {
        return;
    };
    let parts = |version: &Version| Parts::read(&version.to_string()).expect("canonical");
    let expected = parts(&left).precedence(&parts(&right));
    assert_eq!(left.precedence(&right), expected, "{left} and {right}");
    assert_eq!(left.cmp(&right), right.cmp(&left).reverse());
    assert_eq!(left.cmp(&right) == Ordering::Equal, left == right);
    let _ = step(&left, &right);
}

fn check_set(data: &[u8], set: &str, versions: &[&str]) {
    let constraints = BUDGET.spend(data, || Constraints::parse_lock(set));
    let reference = terms(set);
    assert_eq!(
        constraints.is_ok(),
        reference.is_some(),
        "{set:?}: {constraints:?}"
    );
    let config = Constraints::parse_config(set);
    let (Ok(constraints), Some(reference)) = (constraints, reference) else {
        assert!(config.is_err(), "{set:?} is refused in a lock file");
        return;
    };
    if let Ok(config) = config {
        assert_eq!(config, constraints);
        assert!(CoreConstraints::parse(set).is_ok());
    }
    let canonical = constraints.to_string();
    let again = Constraints::parse_lock(&canonical).expect("what is printed is read");
    assert_eq!(again, constraints);
    assert_eq!(again.to_string(), canonical);
    assert_eq!(constraints.clone().union(constraints.clone()), constraints);
    let _ = scope_change(&constraints, &again);
    let mut candidates: Vec<Version> = versions
        .iter()
        .filter_map(|text| text.parse().ok())
        .collect();
    for term in &reference {
        candidates.extend(term.version.canonical().parse::<Version>());
        candidates.extend(neighbours(&term.version));
    }
    let mut allowed = Vec::new();
    for version in &candidates {
        let parts = Parts::read(&version.to_string()).expect("canonical");
        let expected = allows(&reference, &parts);
        assert_eq!(
            constraints.allows(version),
            expected,
            "{canonical:?} and {version}"
        );
        assert_eq!(constraints.why_not(version).is_none(), expected);
        if expected {
            allowed.push(version);
        }
    }
    let newest = constraints.newest(candidates.iter());
    assert_eq!(newest, allowed.iter().copied().max());
    match constraints.example() {
        Some(version) => assert!(constraints.allows(&version), "{canonical:?} and {version}"),
        None => assert!(allowed.is_empty(), "{canonical:?} allows {allowed:?}"),
    }
}

/// The releases just above and below a bound.
fn neighbours(bound: &Parts) -> Vec<Version> {
    let number = |at: usize| bound.numbers.get(at).copied().unwrap_or(0);
    let [major, minor, patch] = [number(0), number(1), number(2)];
    vec![
        Version::release(major, minor, patch.saturating_add(1)),
        Version::release(major, minor, patch.saturating_sub(1)),
        Version::release(major, minor.saturating_add(1), 0),
        Version::release(major.saturating_add(1), 0, 0),
        Version::release(major, minor.saturating_sub(1), u64::MAX),
        Version::release(major.saturating_sub(1), u64::MAX, 0),
    ]
}

fn check_core(set: &str) {
    let Ok(core) = CoreConstraints::parse(set) else {
        assert!(CoreConstraints::parse_required(set).is_err());
        return;
    };
    if let Ok(required) = CoreConstraints::parse_required(set) {
        assert_eq!(required, core);
    }
    if let Some(only) = core.only_release() {
        assert!(core.allows(&only), "{set:?} and {only}");
    }
    for (major, minor) in [(0, 0), (0, 1), (1, 0), (1, 2), (2, 0)] {
        let some = (0..30).any(|patch| core.allows(&Version::release(major, minor, patch)));
        if some {
            assert!(
                core.allows_some(major, minor),
                "{set:?} and {major}.{minor}"
            );
        }
    }
}
