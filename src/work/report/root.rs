//! A root whose findings have their places resolved, as programs read it.

use serde::Serialize;

use super::rows::{
    ConfiguredModuleRow, ConvertedProvider, FindingRow, MatrixRow, ModuleRow, Provider, RemarkRow,
    TurnedOffRow,
};
use super::{Failure, FindingDisplay, NotSeen, ResultEntry, RootDetail, RootResult, RootStatus};
use crate::coverage::CoverageProof;
use crate::diag::Texts;
use crate::git::EffectiveSetting;
use crate::verify::fix::Repair;

/// The result for one root: a directory that holds, or would hold, a lock file.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Root"))]
pub struct RootRow<'a> {
    /// The directory, as typed; of `merge` the lock file.
    pub path: String,
    /// Whose rules applied, as in `terraform@1.11`; null where that was not found out.
    pub flavor: Option<String>,
    /// The worst that happened to the root.
    pub status: RootStatus,
    /// The evidence that the lock file has the `h1:` of every wanted platform; only of `verify`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<CoverageProof>,
    /// The parts of the configuration that were not seen, if there are any; only of `verify`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_seen: Option<NotSeen>,
    /// The faults and remarks that a rule has a name for.
    pub findings: Vec<FindingRow>,
    /// The other remarks, in the order of the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<RemarkRow<'a>>,
    /// The findings that the project file turned off; they change no exit code.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub turned_off: Vec<TurnedOffRow>,
    /// The settings of the policy that were not checked, because that needs `--upstream`; only of `verify`.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub policy_not_checked: &'a [&'static str],
    /// The fixes that were made before the findings; only of `verify --fix`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed: Option<&'a [Repair]>,
    /// The operations that failed, in the order of their failures.
    pub failures: Vec<&'a Failure>,
    /// A row for each provider; its fields depend on the command.
    pub providers: &'a [Provider],
    /// A row for each entry that the lock file had; only of `convert`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub converted: Option<&'a [ConvertedProvider]>,
    /// The predictions for each provider on each wanted platform, by each route; only of
    /// `verify --matrix`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matrix: Option<Vec<MatrixRow>>,
    /// Every module, each before those that it calls; only of `tree`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modules: Option<Vec<ModuleRow>>,
    /// Every module that was printed, with its blocks; only of `config`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<&'a [ConfiguredModuleRow]>,
    /// The settings that make git call lockctl at the root; only of `git status`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_settings: Option<&'a [EffectiveSetting]>,
    /// True if anything was, or would be, written; absent where a command never writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<bool>,
}

/// Names a path of a root, or in one, as the readers of a format know it.
pub type Naming<'a> = &'a dyn Fn(&RootResult, &str) -> String;

impl<'a> RootRow<'a> {
    /// Resolves the places of a root's findings.
    #[must_use]
    pub fn of(root: &'a RootResult, texts: &Texts, naming: Naming<'_>) -> Self {
        let name = |path: &str| naming(root, path);
        let check = root.check();
        let modules = match &root.detail {
            RootDetail::Modules(branches) => Some(branches.in_order().map(ModuleRow::of).collect()),
            _ => None,
        };
        Self {
            path: name(&root.path),
            flavor: root.flavor.map(|flavor| flavor.to_string()),
            status: root.status,
            proof: check.map(|check| check.proof),
            not_seen: check
                .map(|check| check.not_seen)
                // Nothing unseen is the usual case, and is left out.
                .filter(|not_seen| *not_seen != NotSeen::default()),
            findings: root
                .entries
                .iter()
                .filter_map(|entry| match entry {
                    ResultEntry::Finding(finding, display) => Some(FindingRow {
                        is_folded: *display == FindingDisplay::Folded,
                        ..FindingRow::of(finding, texts, &name)
                    }),
                    _ => None,
                })
                .collect(),
            remarks: root.remarks().map(RemarkRow::of).collect(),
            turned_off: root
                .turned_off()
                .iter()
                .map(|off| TurnedOffRow {
                    finding: FindingRow::of(&off.finding, texts, &name),
                    reason: off.reason.clone(),
                })
                .collect(),
            policy_not_checked: check.map_or(&[], |check| &*check.policy_not_checked),
            fixed: check.and_then(|check| check.fixed.as_deref()),
            failures: root.failures().collect(),
            providers: &root.providers,
            converted: root.lock().and_then(|lock| lock.converted.as_deref()),
            matrix: check
                .and_then(|check| check.matrix.as_deref())
                .map(MatrixRow::of_all),
            modules,
            configuration: match &root.detail {
                RootDetail::Configuration(modules) => Some(modules),
                _ => None,
            },
            git_settings: match &root.detail {
                RootDetail::GitSettings(settings) => Some(settings),
                _ => None,
            },
            changed: root.changed,
        }
    }
}
