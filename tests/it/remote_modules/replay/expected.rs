//! What a program was recorded to do in a step, and how lockctl differs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;

use super::run::Found;
use crate::remote_modules::recorded;

/// Titles of errors that are not about finding modules: of choosing providers, of versions of the program, and one
/// that only leads to the next.
const OTHER_TITLES: [&str; 4] = [
    "Failed to query available provider packages",
    "Unsupported Terraform Core version",
    "Failed to create the config loader",
    "Terraform encountered problems during initialisation, including problems",
];

/// How the programs begin the title of a manifest that cannot be read; the reason follows.
const BROKEN_MANIFEST: &str = "failed to read module manifest: ";

/// How a recorded step ended.
pub(super) struct Expected {
    success: bool,
    /// The titles of its errors.
    titles: BTreeSet<String>,
    /// Keys of the modules with their directories and versions, if the step wrote a manifest.
    modules: Option<BTreeMap<String, (String, Option<String>)>>,
    /// `METHOD HOST TARGET auth=…` of requests with credentials.
    with_credentials: BTreeSet<String>,
    /// The URLs that git was given.
    cloned: BTreeSet<String>,
}

fn list(step: &Value, name: &str) -> Vec<Value> {
    step[name].as_array().cloned().unwrap_or_default()
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

impl Expected {
    /// Reads a step; `is_called` says whether a record of the manifest is of a call that there is: the programs keep
    /// the others.
    pub(super) fn of(step: &Value, is_called: impl Fn(&str) -> bool) -> Self {
        let titles = list(step, "errors").into_iter();
        let titles = titles.map(|error| text(&error, "title"));
        let titles = titles.filter(|title| !OTHER_TITLES.contains(&&**title));
        let titles: BTreeSet<String> = titles.map(own_title).collect();
        let record = |one: &Value| {
            let version = one["Version"].as_str().map(str::to_owned);
            (text(one, "Key"), (text(one, "Dir"), version))
        };
        let modules = step["modules"].as_array().map(|modules| {
            let records = modules.iter().map(record);
            records.filter(|(key, _)| is_called(key)).collect()
        });
        let with_credentials = list(step, "requests").into_iter().filter_map(|request| {
            let request = request.as_str()?;
            let (line, auth) = request.split_once(" auth=")?;
            let (line, _) = line.rsplit_once(' ')?;
            // Behind the credentials stand header fields.
            let auth: Vec<&str> = auth.split(' ').take(2).collect();
            Some(format!("{line} auth={}", auth.join(" ")))
        });
        let cloned = list(step, "git").into_iter().filter_map(|line| {
            let words = line.as_str()?.split('\t');
            Some(words.skip(1).find(|word| word.contains("://"))?.to_owned())
        });
        Self {
            success: titles.is_empty() && (step["exit"] == 0 || !list(step, "errors").is_empty()),
            titles,
            modules,
            with_credentials: with_credentials.collect(),
            cloned: cloned.collect(),
        }
    }

    /// Returns how lockctl differs, if it does.
    pub(super) fn difference(&self, found: &Found) -> Option<String> {
        let mut out = String::new();
        if found.succeeds() != self.success {
            let theirs = if self.success { "succeeds" } else { "fails" };
            let titles = found.titles();
            let code = found.code;
            writeln!(out, "exit code {code} {titles:?}, the program {theirs}").unwrap();
        }
        let modules = self
            .modules
            .as_ref()
            .filter(|_| self.success && found.succeeds());
        if let Some(modules) = modules.map(|modules| without_versions(modules, found))
            && modules != found.modules
        {
            let own = &found.modules;
            writeln!(out, "modules {own:?}, the program {modules:?}").unwrap();
        }
        if !self.success && !found.succeeds() && found.titles() != self.titles {
            let (titles, theirs) = (found.titles(), &self.titles);
            writeln!(out, "titles {titles:?}, the program {theirs:?}").unwrap();
        }
        if let Some(cloned) = found
            .cloned
            .as_ref()
            .filter(|cloned| **cloned != self.cloned)
        {
            writeln!(out, "git gets {cloned:?}, of the program {:?}", self.cloned).unwrap();
        }
        for request in &found.with_credentials {
            let request = recorded::as_terraform(request);
            if !self
                .with_credentials
                .iter()
                .any(|one| recorded::as_terraform(one) == request)
            {
                writeln!(out, "credentials in {request}").unwrap();
            }
        }
        (!out.is_empty()).then_some(out)
    }
}

/// Returns recorded modules, without the versions of those that are installed: lockctl says only which one it found.
fn without_versions(
    modules: &BTreeMap<String, (String, Option<String>)>,
    found: &Found,
) -> BTreeMap<String, (String, Option<String>)> {
    let modules = modules.iter().map(|(key, (dir, version))| {
        let own = found.modules.get(key);
        let is_fetched = own.is_some_and(|(_, version)| version.is_some());
        let version = version.clone().filter(|_| is_fetched);
        (key.clone(), (dir.clone(), version))
    });
    modules.collect()
}

/// Returns what lockctl calls an error of a program.
fn own_title(title: String) -> String {
    match title.starts_with(BROKEN_MANIFEST) {
        true => "Failed to read module manifest".to_owned(),
        false => title,
    }
}
