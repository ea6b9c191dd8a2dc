//! What lockctl says of a configuration, and how that compares to what was recorded.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lockctl::addr::ProviderAddr;
use lockctl::config::{self, Loaded, Settings};
use lockctl::diag::{Diagnostic, Severity, Texts};
use lockctl::flavor::Flavor;
use lockctl::requirement::{Requirements, StateSeen};
use lockctl::version::Version;
use lockctl::world::Files;
use lockctl::world::mem::slashed;
use serde_json::Value;

use super::txtar::Case;
use crate::modules::{Modules, by_module};

/// What lockctl says about a root, ready to be compared.
pub(super) struct Said {
    pub(super) loaded: Loaded,
    /// What is said of the configuration, and what `init` is predicted to say of variables without a value, by
    /// place.
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) texts: Texts,
    pub(super) root: PathBuf,
    settings: Settings,
}

/// How our answer compares to a recorded one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The same requirements, or the same first error at the same place.
    Right,
    /// We say that we did not see everything.
    Open(String),
    /// The program refuses it, with another title or at another place.
    OtherError(String),
    /// The program refuses it, and we do not.
    Missed(String),
    /// The requirements are others, we refuse what the program accepts, or a warning differs.
    Wrong(String),
}

/// Errors of steps after the configuration was read: it is as good as without them.
const AFTERWARDS: &[&str] = &[
    "Failed to query available provider packages",
    "Failed to resolve provider packages",
];

/// Titles of installing that are only notes of ours, since nothing needs to be installed for us.
const NOTES: &[(&str, &str)] = &[
    ("Failed to download module", "Module not installed"),
    ("Module not installed", "Module not installed"),
    ("Module source has changed", "Module source has changed"),
    (
        "Module version requirements have changed",
        "Module version requirements have changed",
    ),
];

/// Errors of the programs that have no title, and the title that we give them.
const TITLES: &[(&str, &str)] = &[(
    "failed to read module manifest: snapshot file contains two records for path m",
    "Failed to read module manifest",
)];

/// The recorded warnings that lockctl has, though perhaps as notes.
pub(super) const WARNINGS: &[&str] = &[
    "Duplicate required provider",
    "Ineffective version constraint",
    "Quoted references are deprecated",
    "Test directory does not exist",
    "Version constraints inside provider configuration blocks are deprecated",
];

pub(super) fn load(files: &dyn Files, root: &Path, settings: Settings) -> Said {
    let mut texts = Texts::default();
    let loaded = config::load(files, &mut texts, root, &settings);
    let mut diagnostics = loaded.diagnostics.clone();
    diagnostics.extend_from_slice(&loaded.value_errors.errors);
    diagnostics.sort_by_key(|diagnostic| {
        let primary = diagnostic.primary.as_ref();
        primary.map(|label| (label.file, label.span.start))
    });
    Said {
        loaded,
        diagnostics,
        texts,
        root: root.to_owned(),
        settings,
    }
}

impl Said {
    /// Returns what is said with some severity, in order.
    pub(super) fn with(&self, severity: Severity) -> impl Iterator<Item = &Diagnostic> {
        let all = self.diagnostics.iter();
        all.filter(move |diagnostic| diagnostic.severity == severity)
    }

    /// Returns the titles of all errors.
    pub(super) fn errors(&self) -> Vec<&str> {
        let errors = self.with(Severity::Error);
        errors.map(|diagnostic| diagnostic.title.as_str()).collect()
    }

    /// Returns file and line of a diagnostic, as `main.tf:3`.
    pub(super) fn at(&self, diagnostic: &Diagnostic) -> Option<String> {
        let label = diagnostic.primary.as_ref()?;
        let line = self.texts.position(label.file, label.span.start).line;
        let name = Path::new(self.texts.name(label.file));
        let name = name.strip_prefix(&self.root).unwrap_or(name);
        Some(format!("{}:{line}", slashed(name)))
    }

    /// Returns what nothing could be said about: a file of a kind that is not read, a call that
    /// could not be followed, the state.
    fn unseen(&self) -> Option<String> {
        let mut all = self.loaded.diagnostics.iter();
        let unread = all.find(|diagnostic| diagnostic.code == "configuration-unread");
        let unread = unread.map(|diagnostic| diagnostic.title.clone());
        let Requirements {
            unseen_calls,
            state,
            ..
        } = &self.loaded.requirements;
        let call = unseen_calls.first();
        let call = call.map(|call| format!("not followed: {}", call.source));
        let state = (*state == StateSeen::No).then(|| "the state".to_owned());
        unread.or(call).or(state)
    }

    /// Returns each required address with its constraint text.
    pub(super) fn requirements(
        &self,
        address: fn(&ProviderAddr, Flavor) -> String,
    ) -> BTreeMap<String, String> {
        let requirements = &self.loaded.requirements;
        let providers = requirements.providers.keys();
        let texts = providers.map(|addr| {
            let text = requirements.constraints(addr).to_string();
            (address(addr, self.settings.flavor), text)
        });
        texts.collect()
    }

    /// Returns the addresses that a lock file would have, each with the text of its constraints.
    fn lock_constraints(&self) -> BTreeMap<String, Option<String>> {
        let mut entries = BTreeMap::new();
        let requirements = &self.loaded.requirements;
        for addr in requirements.providers.keys() {
            if !addr.is_builtin(self.settings.flavor) {
                let text = requirements.constraints(addr).to_string();
                let text = Some(text).filter(|text| !text.is_empty());
                entries.insert(addr.to_string(), text);
            }
        }
        entries
    }

    /// Compares with what was recorded.
    pub(super) fn judge(&self, case: &Case, expected: &Value) -> Verdict {
        let title = expected["error"].as_str();
        let note = title.and_then(|title| looked_up(NOTES, title));
        match (title, note) {
            (Some("No configuration files"), _) if !self.loaded.found => Verdict::Right,
            (Some(title), Some(note)) => self.judge_note(title, note, expected),
            (Some(title), None) if !is_of_later_step(expected, title) => {
                self.judge_error(title, expected)
            }
            _ => self.judge_success(case, expected),
        }
    }

    /// Compares where the program finds that a module is not installed as it should be.
    fn judge_note(&self, title: &str, note: &str, expected: &Value) -> Verdict {
        let mut notes = self.with(Severity::Note);
        match (self.errors().first(), notes.find(|one| one.title == note)) {
            (None, Some(_)) if note != title => Verdict::Right,
            (None, Some(found)) => self.judge_place(found, expected),
            (None, None) => Verdict::Missed(title.to_owned()),
            (Some(_), _) => self.judge_error(title, expected),
        }
    }

    fn judge_error(&self, title: &str, expected: &Value) -> Verdict {
        let title = looked_up(TITLES, title).unwrap_or(title);
        if title == self.settings.flavor.unmet_core_title() {
            return self.judge_core_version(title, expected);
        }
        let errors = self.errors();
        let Some(first) = errors.first() else {
            return match self.unseen() {
                Some(unseen) => Verdict::Open(unseen),
                None => Verdict::Missed(title.to_owned()),
            };
        };
        let by_commands = expected["errors"].as_object().into_iter().flatten();
        let mut titles =
            by_commands.flat_map(|(_, titles)| titles.as_array().into_iter().flatten());
        let found = self
            .with(Severity::Error)
            .find(|error| error.title == title);
        match found {
            // The order of files is not always that of the program.
            Some(error) if *first == title || titles.any(|one| one == first) => {
                self.judge_place(error, expected)
            }
            _ => Verdict::OtherError(format!("{errors:?}, not {title:?}")),
        }
    }

    /// Compares where a module does not allow the version of the program. That is no error here: what
    /// counts is that the constraint is known, since `verify` reports it.
    fn judge_core_version(&self, title: &str, expected: &Value) -> Verdict {
        let version = observed_version(self.settings.flavor);
        let mut required = self.loaded.core_versions.iter();
        let unmet = required.find(|required| !required.constraints.allows(&version));
        let Some(unmet) = unmet else {
            return Verdict::Missed(title.to_owned());
        };
        let shown = Diagnostic::warning("core-version-unmet", title);
        self.judge_place(&shown.at(unmet.file, unmet.span, ""), expected)
    }

    fn judge_place(&self, found: &Diagnostic, expected: &Value) -> Verdict {
        let (at, ours) = (expected["at"].as_str(), self.at(found));
        match at.is_none() || at == ours.as_deref() {
            true => Verdict::Right,
            false => Verdict::OtherError(format!("at {ours:?}, not {at:?}: {:?}", found.title)),
        }
    }

    fn judge_success(&self, case: &Case, expected: &Value) -> Verdict {
        let errors = self.errors();
        if let Some(unseen) = self.unseen() {
            return Verdict::Open(unseen);
        }
        if !errors.is_empty() {
            return Verdict::Wrong(format!("{errors:?}"));
        }
        let (ours, modules) = (
            by_module(&self.loaded.requirements),
            self.recorded_modules(expected),
        );
        if ours != modules && !(modules.is_empty() && expected["error"].is_string()) {
            return Verdict::Wrong(format!("{ours:?}, not {modules:?}"));
        }
        let ours = self.lock_constraints();
        let locked: BTreeMap<String, Option<String>> = read(&expected["lock_constraints"]);
        if ours != locked && !case.had_lock() && expected["error"].is_null() {
            return Verdict::Wrong(format!("locks {ours:?}, not {locked:?}"));
        }
        let (ours, theirs) = (self.warnings(), recorded_warnings(expected));
        if ours != theirs {
            return Verdict::Wrong(format!("warnings {ours:?}, not {theirs:?}"));
        }
        Verdict::Right
    }

    /// Returns the recorded modules; the addresses of the state are shown as they were written, but
    /// what counts are those that they mean (`config` rules 7.5).
    fn recorded_modules(&self, expected: &Value) -> Modules {
        let mut modules: Modules = read(&expected["by_module"]);
        let Settings {
            flavor,
            moves_state_hosts,
            ..
        } = self.settings;
        let Some(state) = modules.remove("state") else {
            return modules;
        };
        let required: Vec<String> = modules.values().flat_map(|m| m.keys().cloned()).collect();
        let meant = state.into_iter().map(|(addr, text)| {
            let moves = flavor.is_opentofu() && moves_state_hosts && !required.contains(&addr);
            match moves {
                true => (
                    addr.replace("registry.terraform.io", flavor.default_host()),
                    text,
                ),
                false => (addr, text),
            }
        });
        let meant = meant.collect();
        modules.insert("state".to_owned(), meant);
        modules
    }

    /// Returns the recorded warnings that we give, each once.
    fn warnings(&self) -> Vec<&str> {
        let all = [Severity::Warning, Severity::Note];
        let all = all.into_iter().flat_map(|severity| self.with(severity));
        let titles = all.map(|one| one.title.as_str());
        let mut titles: Vec<&str> = titles.filter(|title| WARNINGS.contains(title)).collect();
        titles.sort_unstable();
        titles.dedup();
        titles
    }
}

/// Returns the release that a flavor was observed on, without what makes it a prerelease.
fn observed_version(flavor: Flavor) -> Version {
    match flavor {
        Flavor::Terraform1_11 => Version::release(1, 11, 4),
        Flavor::Terraform1_15 => Version::release(1, 15, 9),
        Flavor::Terraform1_16 => Version::release(1, 16, 0),
        Flavor::OpenTofu1_12 => Version::release(1, 12, 6),
        _ => panic!("nothing was recorded with {flavor}"),
    }
}

fn recorded_warnings(expected: &Value) -> Vec<&str> {
    let warnings = expected["warnings"].as_array().into_iter().flatten();
    let titles = warnings.filter_map(Value::as_str);
    titles.filter(|title| WARNINGS.contains(title)).collect()
}

fn looked_up<'t>(table: &[(&str, &'t str)], key: &str) -> Option<&'t str> {
    let found = table.iter().find(|(one, _)| *one == key);
    found.map(|(_, value)| *value)
}

fn is_of_later_step(expected: &Value, title: &str) -> bool {
    let commands = expected["errors"].as_object().unwrap();
    AFTERWARDS.contains(&title) || commands.keys().all(|command| command == "validate")
}

fn read<T: serde::de::DeserializeOwned + Default>(value: &Value) -> T {
    match value {
        Value::Null => T::default(),
        value => serde_json::from_value(value.clone()).unwrap(),
    }
}
