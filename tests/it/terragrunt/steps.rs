//! How Terragrunt was called.

use std::collections::BTreeMap;
use std::path::PathBuf;

use lockctl::terragrunt::{Documents, UnitSurroundings};
use lockctl::world::clean;
use serde_json::{Map, Value};

use super::lab::{Lab, texts};

/// One call.
pub(super) struct Step {
    pub(super) action: Action,
    /// The directory that the command is about.
    pub(super) dir: PathBuf,
    /// The shell's.
    pub(super) working_dir: PathBuf,
    pub(super) changes: Map<String, Value>,
    pub(super) variables: BTreeMap<String, String>,
    /// The arguments behind `--`.
    pub(super) command: Vec<String>,
    /// Whether it is about all units below.
    pub(super) is_all: bool,
    flags: Vec<(String, String)>,
    /// The keys of the configuration that were recorded.
    pub(super) keep: Vec<String>,
    /// Whether only the names of unknown functions were recorded.
    pub(super) is_unknown: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Render,
    Run,
    Find,
    Other,
}

/// Flags that have a value.
const VALUED: &[&str] = &[
    "--config",
    "--working-dir",
    "--feature",
    "--experiment",
    "--strict-control",
    "--source",
    "--source-map",
    "--filter",
    "--queue-construct-as",
];

/// Settings of the command line that change what a unit is.
const SETTINGS: &[&str] = &[
    "--config",
    "--experiment",
    "--feature",
    "--source",
    "--source-map",
    "--strict-control",
    "--strict-mode",
];

/// Variables that mean the same.
const VARIABLES: &[&str] = &[
    "TERRAGRUNT_SOURCE",
    "TG_CONFIG",
    "TG_FEATURE",
    "TG_SOURCE",
    "TG_SOURCE_MAP",
];

impl Step {
    pub(super) fn of(input: &Value, at: usize, lab: &Lab) -> Self {
        let default = Value::Null;
        let step = input["steps"].get(at).unwrap_or(&default);
        let run: Vec<String> = match step["run"].as_array() {
            Some(_) => texts(&step["run"]).map(|text| lab.fill(text)).collect(),
            None => vec!["render".to_owned(), "--json".to_owned()],
        };
        let behind = run.iter().position(|arg| arg == "--");
        let (own, command) = match behind {
            Some(behind) => (&run[..behind], run[behind + 1..].to_vec()),
            None => (&run[..], Vec::new()),
        };
        let mut flags = Vec::new();
        let mut args = own.iter().skip(1);
        while let Some(arg) = args.next() {
            let value = match VALUED.contains(&arg.as_str()) {
                true => args.next().cloned().unwrap_or_default(),
                false => String::new(),
            };
            flags.push((arg.clone(), value));
        }
        let action = match own.first().map(String::as_str) {
            Some("render") => Action::Render,
            Some("find" | "list") => Action::Find,
            Some("run") => Action::Run,
            _ => Action::Other,
        };
        let cwd = step["cwd"].as_str().or(input["cwd"].as_str());
        let mut working_dir = clean(&lab.root.join(cwd.unwrap_or("live/app")));
        let mut variables = base_variables(input);
        for env in [&input["env"], &step["env"]] {
            for (name, value) in env.as_object().into_iter().flatten() {
                match value.as_str() {
                    Some(text) => drop(variables.insert(name.clone(), lab.fill(text))),
                    None => drop(variables.remove(name)),
                }
            }
        }
        if !variables.contains_key("PWD") {
            working_dir = std::fs::canonicalize(&working_dir).unwrap_or(working_dir);
        }
        let flag = |name: &str| {
            let found = flags.iter().find(|(flag, _)| flag == name);
            found.map(|(_, value)| value.clone())
        };
        let dir = match flag("--working-dir") {
            Some(below) => clean(&working_dir.join(below)),
            None => working_dir.clone(),
        };
        let is_all = flag("--all").is_some();
        let changes = step["set"].as_object().cloned().unwrap_or_default();
        Self {
            action,
            dir,
            working_dir,
            changes,
            variables,
            command,
            is_all,
            flags,
            keep: texts(&input["keep"]).map(str::to_owned).collect(),
            is_unknown: step["unknown"] == true,
        }
    }

    pub(super) fn flag(&self, name: &str) -> Option<&str> {
        let found = self.flags.iter().find(|(flag, _)| flag == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns whether the call has settings of Terragrunt's command line, which lockctl does not have.
    pub(super) fn has_settings(&self) -> bool {
        let is_setting = |flag: &&str| self.flags.iter().any(|(name, _)| name == flag);
        let is_set = |name: &&str| self.variables.contains_key(*name);
        SETTINGS.iter().any(is_setting) || VARIABLES.iter().any(is_set)
    }

    /// Returns what the call tells the evaluation.
    pub(super) fn surroundings<'a>(
        &self,
        lab: &Lab,
        documents: &'a Documents,
        variable: &'a (dyn Fn(&str) -> Option<String> + Sync),
    ) -> UnitSurroundings<'a> {
        let var = |name: &str| self.variables.get(name).cloned();
        let command = match self.action {
            Action::Render => vec!["render".to_owned(), "-no-color".to_owned()],
            _ => self.command.clone(),
        };
        let path = var("PATH").unwrap_or_default();
        let has = |name: &&str| {
            let mut dirs = std::env::split_paths(&path);
            dirs.any(|dir| dir.starts_with(&lab.root) && dir.join(name).is_file())
        };
        UnitSurroundings {
            variable,
            repository: lab.repository(&self.dir),
            working_dir: Some(self.working_dir.clone()),
            command: Some(command),
            program: var("TG_TF_PATH"),
            programs: ["tofu", "terraform"]
                .iter()
                .filter(|name| has(name))
                .map(|name| (*name).to_owned())
                .collect(),
            registry_host: var("TG_TF_DEFAULT_REGISTRY_HOST"),
            ..UnitSurroundings::new(documents)
        }
    }
}

fn base_variables(input: &Value) -> BTreeMap<String, String> {
    let program = match input["engine"].as_str() {
        Some("terraform") => "/lab/terraform",
        _ => "/lab/stub",
    };
    [("PATH", "/usr/bin:/bin"), ("TG_TF_PATH", program)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}
