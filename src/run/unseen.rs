//! What commands that explain a configuration say of what cannot be seen of it.

use crate::config::{BackendUse, Loaded, NOT_CHECKED_OUT};
use crate::diag::{Diagnostic, Severity, Texts, counted, has_errors};
use crate::report::{Failure, RootResult};
use crate::requirement::{ModulePath, StateSeen};
use crate::run::options::{ConfigurationOptions, RunOptions};
use crate::run::root::Root;
use crate::run::user::modules::UserModules;

/// How many names of a list are spelled out; one more than that is, too.
const NAMES: usize = 3;

/// What a question is about, and what cannot be seen for it.
pub(crate) struct Unseen<'a> {
    pub(crate) loaded: &'a Loaded,
    /// The state was to be read.
    pub(crate) state_wanted: bool,
    /// Whether every note is shown.
    pub(crate) verbose: bool,
}

/// Whether the calls that cannot be seen are named in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    /// They are.
    Listed,
    /// They stand in the results.
    Counted,
}

/// Reads the configuration of a root and reports what is wrong with it; nothing if it has errors.
///
/// # Errors
/// If there is none.
pub(crate) fn load(
    root: &Root,
    configuration: &ConfigurationOptions,
    options: &RunOptions,
    modules: &UserModules<'_>,
    texts: &mut Texts,
    result: &mut RootResult,
) -> Result<Option<Loaded>, Failure> {
    let loaded = root.load_with_traces(modules, configuration, BackendUse::LeftAlone, texts);
    if !loaded.found || root.is_alone {
        return Err(root.no_configuration());
    }
    Unseen::new(&loaded, configuration, options).faults(result);
    let is_sound = !has_errors(&loaded.diagnostics);
    Ok(is_sound.then_some(loaded))
}

impl<'a> Unseen<'a> {
    pub(crate) fn new(
        loaded: &'a Loaded,
        configuration: &ConfigurationOptions,
        options: &RunOptions,
    ) -> Self {
        Self {
            loaded,
            state_wanted: configuration.reads_state,
            verbose: options.verbose,
        }
    }
}

impl Unseen<'_> {
    /// Adds what is wrong with the configuration. Notes are counted only, unless everything is shown;
    /// what cannot be seen is left to [`Unseen::remark`].
    pub(crate) fn faults(&self, result: &mut RootResult) {
        let mut notes = 0;
        for diagnostic in &self.loaded.diagnostics {
            if diagnostic.severity > Severity::Note || self.verbose {
                result.faults([diagnostic]);
            } else {
                result.aside([diagnostic]);
                notes += usize::from(!is_unseen(diagnostic));
            }
        }
        if notes > 0 {
            let notes = counted(notes, "note");
            result.remark(format!("{notes} on the configuration (-v shows them)"));
        }
    }

    /// Names in one sentence what cannot be seen and what follows for the question; `None` if
    /// everything can be.
    pub(crate) fn remark(&self, names: Names, consequence: &str) -> Option<String> {
        let unseen = || {
            let modules = self.loaded.modules.iter();
            modules.filter_map(|node| Some((&node.path, node.unseen?)))
        };
        let mut calls: Vec<&ModulePath> = unseen().map(|(path, _)| path).collect();
        calls.sort();
        let state = self.state_wanted && self.loaded.requirements.state == StateSeen::No;
        let mut what = Vec::new();
        let mut hints = Vec::new();
        if calls.first().is_some_and(|path| path.is_root()) {
            what.push("the configuration".to_owned());
        } else if !calls.is_empty() {
            let count = counted(calls.len(), "module call");
            what.push(match names {
                Names::Listed => {
                    let calls = calls.into_iter().map(ToString::to_string);
                    format!("{count} ({})", some_of(calls).join(", "))
                }
                Names::Counted => count,
            });
            if unseen().any(|(_, title)| title != NOT_CHECKED_OUT) {
                hints.push("`--modules fetch` fetches modules".to_owned());
            }
            if unseen().any(|(_, title)| title == NOT_CHECKED_OUT) {
                hints.push("`git submodule update --init` checks submodules out".to_owned());
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
        let hints = match hints.is_empty() {
            true => String::new(),
            false => format!(" ({})", hints.join(", ")),
        };
        Some(format!("{what} cannot be seen, {consequence}{hints}"))
    }
}

/// Returns why the configuration of a root counts as not seen as a whole, if it does.
pub(crate) fn why_unseen(root: &Root, loaded: &Loaded) -> Option<String> {
    let title = loaded.modules.first()?.unseen?;
    let Some(unit) = &root.unit else {
        return Some("there is none beside it".to_owned());
    };
    let mut notes = loaded.diagnostics.iter();
    let note = notes.find(|one| one.code == "module-not-visible");
    let reason = note.and_then(|note| note.related.first());
    let reason = reason.map_or(title, |label| &label.note);
    Some(format!("{}: {reason}", unit.name))
}

/// Names the lock files of roots whose configuration counts as not seen, each with the reason.
pub(crate) fn not_compared<'r>(
    unseen: impl Iterator<Item = (&'r Root, &'r str)>,
) -> Option<String> {
    const NOT_COMPARED: &str = "not compared with any configuration";
    let unseen: Vec<(&Root, &str)> = unseen.collect();
    let names = unseen
        .iter()
        .map(|(root, _)| root.lock_path.display().to_string());
    match &*unseen {
        [] => None,
        [(only, why)] => {
            let name = only.lock_path.display();
            Some(format!("{name} was {NOT_COMPARED}: {why}"))
        }
        several => Some(format!(
            "{} lock files were {NOT_COMPARED}, since there is none beside them, or it is not visible: {}",
            several.len(),
            some_of(names).join(", ")
        )),
    }
}

fn is_unseen(diagnostic: &Diagnostic) -> bool {
    ["module-not-visible", "state-not-visible"].contains(&diagnostic.code)
}

/// Takes names to be listed; of many only the first ones, the last of which says how many follow.
pub(crate) fn some_of(names: impl ExactSizeIterator<Item = String>) -> Vec<String> {
    let all = names.len();
    let shown = if all > NAMES + 1 { NAMES } else { all };
    let mut names: Vec<String> = names.take(shown).collect();
    if let (Some(last), more @ 1..) = (names.last_mut(), all - shown) {
        *last += &format!(" and {more} more");
    }
    names
}
