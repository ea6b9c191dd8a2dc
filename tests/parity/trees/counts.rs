//! What was seen among the trees.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;

use super::strategy::{Override, Repeats, Tree};

/// How many trees came out how, or have what.
#[derive(Debug, Default)]
pub(super) struct Counts(Mutex<BTreeMap<(&'static str, String), usize>>);

impl Counts {
    /// Counts one more.
    pub(super) fn add(&self, kind: &'static str, what: &str) {
        let mut counts = self.0.lock().unwrap();
        *counts.entry((kind, what.to_owned())).or_default() += 1;
    }

    /// Counts what a tree has.
    pub(super) fn tree(&self, tree: &Tree, files: &BTreeMap<String, String>) {
        let mut modules = tree.modules.iter();
        let calls = || tree.modules.iter().flat_map(|module| &module.calls);
        let overrides = || tree.modules.iter().flat_map(|module| &module.overrides);
        let json = files.keys().any(|path| path.ends_with(".tf.json"));
        let shared = |at| calls().filter(|call| call.target == at).count() > 1;
        let any = [
            ("JSON", json),
            ("overrides", overrides().next().is_some()),
            (
                "overrides of entries",
                overrides().any(|one| matches!(one, Override::Entry(_))),
            ),
            (
                "overrides of calls",
                overrides().any(|one| matches!(one, Override::Call(..))),
            ),
            ("calls", calls().next().is_some()),
            (
                "repeated calls",
                calls().any(|call| call.repeats != Repeats::Once),
            ),
            (
                "providers passed",
                calls().any(|call| !call.passes.is_empty()),
            ),
            ("a module called twice", (1..tree.modules.len()).any(shared)),
            (
                "versions in provider blocks",
                modules.any(|module| module.providers.iter().any(|one| one.version.is_some())),
            ),
            ("tests", !tree.tests.is_empty()),
            ("a state", tree.state.is_some()),
            ("a fault", tree.fault.is_some()),
            ("nothing repaired", tree.wild),
        ];
        for (what, _) in any.iter().filter(|(_, has)| *has) {
            self.add("with", what);
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((kind, what), count) in &*self.0.lock().unwrap() {
            writeln!(f, "{count:6} {kind} {what}")?;
        }
        Ok(())
    }
}
