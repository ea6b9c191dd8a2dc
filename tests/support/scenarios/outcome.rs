//! What a program did in a recorded scenario.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Engine, text};

/// What a program did, with all symbols resolved.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    pub(crate) exit: Exit,
    pub(crate) diagnostics: Vec<Shown>,
    /// Lines beside the diagnostics.
    pub(crate) output: Vec<String>,
    pub(crate) lock: LockAfter,
    /// As `Registry::requests` lists them.
    pub(crate) requests: Vec<String>,
    /// The order of requests and output was random, and they were sorted.
    pub(crate) sorted: bool,
    /// Directories below `.terraform/providers`.
    pub(crate) installed: Vec<String>,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Code(i64),
    Timeout,
}

/// A diagnostic, without the wrapping of its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) severity: String,
    pub(crate) title: String,
    pub(crate) detail: String,
}

/// The lock file afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LockAfter {
    Absent,
    Unchanged,
    Text(String),
}

impl Expected {
    /// Reads an outcome without symbols.
    pub(super) fn parse(given: &Value, sorted: bool) -> Self {
        let texts = |name: &str| given[name].as_array().unwrap().iter().map(text).collect();
        let shown = |shown: &Value| Shown {
            severity: text(&shown["severity"]),
            title: text(&shown["title"]),
            detail: text(&shown["detail"]),
        };
        Self {
            exit: given["exit"].as_i64().map_or(Exit::Timeout, Exit::Code),
            diagnostics: given["diagnostics"]
                .as_array()
                .unwrap()
                .iter()
                .map(shown)
                .collect(),
            output: texts("output"),
            lock: match given["lock"].as_str() {
                None => LockAfter::Absent,
                Some("unchanged") => LockAfter::Unchanged,
                Some(text) => LockAfter::Text(text.to_owned()),
            },
            requests: texts("requests"),
            sorted,
            installed: texts("installed"),
        }
    }

    pub(crate) fn success(&self) -> bool {
        self.exit == Exit::Code(0)
    }

    /// The hashes of the lock file that was written, by the address of the provider.
    pub(crate) fn hashes(&self) -> BTreeMap<String, BTreeSet<String>> {
        match &self.lock {
            LockAfter::Text(text) => lock_hashes(text),
            LockAfter::Absent | LockAfter::Unchanged => BTreeMap::new(),
        }
    }
}

/// The hashes of a lock file in the form that both programs write.
pub(crate) fn lock_hashes(lock: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut provider = String::new();
    for line in lock.lines() {
        if let Some(rest) = line.strip_prefix("provider \"") {
            provider = rest.trim_end_matches("\" {").to_owned();
            all.entry(provider.clone()).or_default();
        } else if let Some(hash) = line.strip_prefix("    \"") {
            let hash = hash.trim_end_matches("\",").to_owned();
            all.entry(provider.clone()).or_default().insert(hash);
        }
    }
    all
}

/// Finds what an engine did, also where it is stated as "as another engine".
pub(super) fn recorded(outcomes: &Value, engine: Engine) -> Option<Value> {
    let base = Engine::Terraform11;
    let given = outcomes.get(engine.label())?;
    let Some(like) = given.as_str() else {
        return Some(given.clone());
    };
    let rest = like
        .strip_prefix("as ")
        .and_then(|rest| rest.strip_prefix(base.label()))
        .unwrap_or_else(|| panic!("unknown reference {like:?}"));
    let other = outcomes[base.label()].to_string();
    let other = other.replace(base.version(), engine.version());
    let mut outcome: Value = serde_json::from_str(&other).unwrap();
    match rest {
        "" => {}
        ", without HEAD requests" => outcome["requests"]
            .as_array_mut()
            .unwrap()
            .retain(|request| !text(request).starts_with("HEAD ")),
        other => panic!("unknown reference {other:?}"),
    }
    Some(outcome)
}
