//! A root whose findings have their places resolved, as programs read it.

use serde::Serialize;

use super::rows::{
    ConvertedProvider, EvaluatedExpression, Finding, Fixed, GitSetting, MatrixRow, Module,
    Provider, TurnedOff,
};
use super::{Failure, RootResult, Status};
use crate::diag::Texts;

/// How one root came out: a directory that holds, or would hold, a lock file.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Root<'a> {
    /// The directory, as typed; of `merge` the lock file.
    pub path: String,
    /// Whose rules applied, as in `terraform@1.11`; null where that was not found out.
    pub flavor: Option<String>,
    /// Whether it is in order.
    pub status: Status,
    /// What is wrong or worth knowing.
    pub findings: Vec<Finding>,
    /// What was found and the project file turned off; it changes no exit code.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub turned_off: Vec<TurnedOff>,
    /// What was fixed, before the findings were made; only of `verify --fix`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed: Option<&'a [Fixed]>,
    /// Operations that failed.
    pub failures: Vec<&'a Failure>,
    /// What the command has to say about each provider.
    pub providers: &'a [Provider],
    /// What became of the entries that the lock file had; only of `convert`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub converted: Option<&'a [ConvertedProvider]>,
    /// What the programs will do with each provider on each wanted platform, by each route; only of
    /// `verify --matrix`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matrix: Option<&'a [MatrixRow]>,
    /// Every module, each before those that it calls; only of `tree`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modules: Option<Vec<Module>>,
    /// What the expression came to; only of `eval`, and absent if it has no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluated: Option<&'a EvaluatedExpression>,
    /// What makes git call lockctl where the root is; only of `git status`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_settings: Option<&'a [GitSetting]>,
    /// Whether anything was, or would be, written; absent where a command never writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<bool>,
    /// Commands that help names for the root, each with the one for all roots of the run.
    #[serde(skip)]
    pub commands: &'a [(String, String)],
}

/// Names a path of a root, or in one, as the readers of a format know it.
pub type Naming<'a> = &'a dyn Fn(&RootResult, &str) -> String;

impl<'a> Root<'a> {
    /// Resolves the places of a root's findings.
    #[must_use]
    pub fn of(root: &'a RootResult, texts: &Texts, naming: Naming<'_>) -> Self {
        let name = |path: &str| naming(root, path);
        let findings = root.findings();
        let turned_off = root.turned_off.iter();
        let branches = root.branches.as_ref();
        Self {
            path: name(&root.path),
            flavor: root.flavor.map(|flavor| flavor.to_string()),
            status: root.status,
            findings: findings.map(|one| Finding::of(one, texts, &name)).collect(),
            turned_off: turned_off
                .map(|off| TurnedOff {
                    finding: Finding::of(&off.finding, texts, &name),
                    reason: off.reason.clone(),
                })
                .collect(),
            fixed: root.fixed.as_deref(),
            failures: root.failures().collect(),
            providers: &root.providers,
            converted: root.converted.as_deref(),
            matrix: root.matrix.as_deref(),
            modules: branches.map(|all| all.in_order().map(Module::of).collect()),
            evaluated: root.evaluated.as_ref(),
            git_settings: root.git_settings.as_deref(),
            changed: root.changed,
            commands: &root.commands,
        }
    }
}
