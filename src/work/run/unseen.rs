//! Remarks on modules and state that are not visible.

use std::path::Path;

use crate::config::Loaded;
use crate::diag::{Severity, counted, rules};
use crate::report::shared::first_names;
use crate::report::{FindingDisplay, NotSeen, RootResult};
use crate::requirement::{ModulePath, StateSeen, UnseenReason};
use crate::run::failure::special_name;
use crate::run::options::{Configuration, Options};
use crate::run::root::Root;
use crate::workspace::SpecialDirectory;

/// Number of names of a list that are spelled out; of a list with one name more, all are.
const NAMES: usize = 3;

/// The reason why a lock file without configuration is compared with none.
pub(crate) const NONE_BESIDE: &str = "there is none beside it";

/// The rules of notes that have sentences of their own.
const SAID_ELSEWHERE: [&str; 4] = [
    rules::MODULE_NOT_VISIBLE,
    rules::STATE_NOT_VISIBLE,
    rules::VALUES_UNREADABLE,
    rules::VARIABLE_NOT_SET,
];

/// A configuration that a command reads, with its parts that are not visible.
pub(crate) struct UnseenParts<'a> {
    pub(crate) loaded: &'a Loaded,
    /// The state was to be read.
    pub(crate) state_wanted: bool,
    /// Every note is shown.
    pub(crate) verbose: bool,
}

/// The form of calls that are not visible, in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallNames {
    /// Their names; only the first of many.
    Listed,
    /// By their number: the results name them.
    Counted,
}

impl<'a> UnseenParts<'a> {
    pub(crate) fn new(
        loaded: &'a Loaded,
        configuration: &Configuration,
        options: &Options,
    ) -> Self {
        Self {
            loaded,
            state_wanted: !configuration.no_state,
            verbose: options.verbose,
        }
    }
}

impl UnseenParts<'_> {
    /// Adds what is wrong with the configuration. Notes are counted only, unless everything is shown;
    /// what cannot be seen is left to [`remark`](Self::remark).
    pub(crate) fn faults(&self, result: &mut RootResult) {
        result
            .missing_values
            .clone_from(&self.loaded.missing_values);
        let mut notes = 0;
        for diagnostic in &self.loaded.diagnostics {
            if diagnostic.severity > Severity::Note || self.verbose {
                result.faults([diagnostic]);
            } else if SAID_ELSEWHERE.contains(&diagnostic.code) {
                result.found(diagnostic, FindingDisplay::Folded);
            } else {
                result.aside([diagnostic]);
                notes += 1;
            }
        }
        if notes > 0 {
            let them = if notes == 1 { "it" } else { "them" };
            let notes = counted(notes, "note");
            result.remark(format!("{notes} on the configuration (-v shows {them})"));
        }
    }

    /// Names in one sentence what cannot be seen and what follows for the question; `None` if
    /// everything can be.
    pub(crate) fn remark(&self, names: CallNames, consequence: &str) -> Option<String> {
        let mut calls: Vec<&ModulePath> = self
            .loaded
            .modules
            .iter()
            .filter(|node| node.unseen.is_some())
            .map(|node| &node.path)
            .collect();
        calls.sort();
        let state = self.state_wanted && self.loaded.requirements.state == StateSeen::No;
        let mut what = Vec::new();
        let mut hints = Vec::new();
        let unseen_calls = &self.loaded.requirements.unseen_calls;
        let generated = generated_files(self.loaded);
        if generated > 0 {
            what.push(counted(generated, "generated file"));
        }
        // If the root module itself is not visible, its calls are not known either.
        if calls.first().is_some_and(|path| path.is_root()) {
            what.push("the configuration".to_owned());
        } else if !calls.is_empty() {
            let count = counted(calls.len(), "module call");
            what.push(match names {
                CallNames::Listed => {
                    let calls = calls.into_iter().map(ToString::to_string);
                    format!("{count} ({})", some_of(calls).join(", "))
                }
                CallNames::Counted => count,
            });
            // A call that cannot be computed leads to nothing that could be fetched.
            for (reason, hint) in [
                (UnseenReason::NotHere, "`--modules fetch` fetches modules"),
                (
                    UnseenReason::NotCheckedOut,
                    "`git submodule update --init` checks submodules out",
                ),
            ] {
                if unseen_calls.iter().any(|call| call.reason == reason) {
                    hints.push(hint.to_owned());
                }
            }
        }
        if state {
            what.push("the state".to_owned());
        }
        if what.is_empty() {
            return None;
        }
        if !self.verbose {
            hints.push("-v shows why".to_owned());
        }
        let what = what.join(" and ");
        let hints = if hints.is_empty() {
            String::new()
        } else {
            format!(" ({})", hints.join(", "))
        };
        Some(format!("{what} cannot be seen, {consequence}{hints}"))
    }
}

/// Returns the reason why no part of a root's configuration is visible; `None` if some is.
pub(crate) fn why_unseen(root: &Root, loaded: &Loaded) -> Option<String> {
    let title = loaded.modules.first()?.unseen?;
    match root.special {
        // What it requires by itself is compared, and a remark says so.
        Some(SpecialDirectory::Stack) => return None,
        Some(special) => return Some(special_name(special).to_owned()),
        None => {}
    }
    let Some(unit) = &root.unit else {
        return Some(NONE_BESIDE.to_owned());
    };
    let reason = loaded
        .diagnostics
        .iter()
        .find(|diagnostic| diagnostic.code == rules::MODULE_NOT_VISIBLE)
        .and_then(|note| note.related.first());
    let reason = reason.map_or(title, |label| &label.note);
    Some(format!("{}: {reason}", unit.name))
}

/// Returns what was not seen of a configuration. If the root itself was not, its calls are not known.
pub(crate) fn not_seen(loaded: &Loaded) -> NotSeen {
    let unseen = loaded.modules.iter().filter(|node| node.unseen.is_some());
    let unseen_calls = &loaded.requirements.unseen_calls;
    NotSeen {
        modules: unseen.filter(|node| !node.path.is_root()).count(),
        can_fetch: unseen_calls
            .iter()
            .any(|call| call.reason == UnseenReason::NotHere),
        generated_files: generated_files(loaded),
        state: loaded.requirements.state == StateSeen::No,
    }
}

/// Counts the generated files that are not visible.
fn generated_files(loaded: &Loaded) -> usize {
    loaded
        .requirements
        .unseen_calls
        .iter()
        .filter(|call| call.reason == UnseenReason::Generated)
        .count()
}

/// Names lock files whose configuration counts as not seen, each with the reason.
pub(crate) fn not_compared<'r>(
    unseen: impl Iterator<Item = (&'r Path, &'r str)>,
) -> Option<String> {
    const NOT_COMPARED: &str = "not compared with any configuration";
    let unseen: Vec<(&Path, &str)> = unseen.collect();
    let names = unseen.iter().map(|(lock, _)| lock.display().to_string());
    match &*unseen {
        [] => None,
        [(only, why)] => {
            let name = only.display();
            Some(format!("{name} was {NOT_COMPARED}: {why}"))
        }
        several => Some(format!(
            "{} lock files were {NOT_COMPARED}, since there is none beside them, or it is not visible: {}",
            several.len(),
            some_of(names).join(", ")
        )),
    }
}

/// Takes names to be listed; if there are many, only the first ones and a count of the others.
pub(crate) fn some_of(names: impl ExactSizeIterator<Item = String>) -> Vec<String> {
    first_names(names, NAMES)
}
