//! The result of a check over roots, in the shape that formats for CI need.

use std::collections::BTreeSet;

use super::Tone;
use super::fold::capitalized;
use super::groups::grouped;
use super::root::Naming;
use super::rows::{FindingRow, TurnedOffRow};
use super::shared::{SharedFact, first_names, unseen_state};
use super::{CommandResult, Failure, NotSeen, ResultEntry, RootRow, RootStatus};
use crate::diag::{Counts, Severity, counted, rules};

/// The result of a check, with the places of findings resolved.
#[derive(Clone, Debug)]
pub struct Checked<'a> {
    /// The command, as typed.
    pub command: &'static str,
    /// The exit code of the program.
    pub exit: u8,
    /// The roots, in the order given. Paths of roots and files have `/` between their parts; they are
    /// relative to the top of the repository inside of it, and absolute elsewhere.
    pub roots: Vec<RootRow<'a>>,
    /// Remarks about roots and the run; failures are in their roots.
    pub remarks: Vec<(Tone, String)>,
    /// Number of directories with configuration that no root covers.
    pub not_locked: usize,
}

impl<'a> Checked<'a> {
    /// Resolves the places of all findings, in files that `naming` names.
    #[must_use]
    pub fn of(result: &'a CommandResult, naming: Naming<'_>) -> Self {
        let roots = result.roots();
        Self {
            command: result.command,
            exit: result.exit,
            remarks: roots
                .iter()
                .flat_map(|root| &root.entries)
                .filter_map(|entry| match entry {
                    ResultEntry::Remark(remark) | ResultEntry::Detail(remark) => Some(remark),
                    _ => None,
                })
                .chain(&result.remarks)
                .map(|remark| (remark.tone, remark.text.clone()))
                .collect(),
            not_locked: result.not_locked.as_ref().map_or(0, Vec::len),
            roots: roots
                .iter()
                .map(|root| RootRow::of(root, &result.texts, naming))
                .collect(),
        }
    }

    /// Leaves notes that concern the run, and no root in particular, with one of several roots.
    #[must_use]
    pub fn with_notes_of_run_once(mut self) -> Self {
        let is_unseen = |finding: &FindingRow| {
            finding.rule == rules::STATE_NOT_VISIBLE && finding.severity == Severity::Note
        };
        let has_unseen = |root: &&RootRow<'_>| root.findings.iter().any(is_unseen);
        let count = self.roots.iter().filter(has_unseen).count();
        // Otherwise a program would show the same note for every root.
        if count < 2 {
            return self;
        }
        let roots = self.roots[..count].iter();
        let unseen = SharedFact {
            fact: (),
            roots: roots.map(|root| root.path.as_str()).collect(),
        };
        let text = capitalized(&unseen_state(&unseen.count(self.roots.len())));
        let mut texts = std::iter::once(text);
        for root in &mut self.roots {
            root.findings.retain_mut(|finding| {
                if !is_unseen(finding) {
                    return true;
                }
                let Some(text) = texts.next() else {
                    return false;
                };
                finding.title = text;
                finding.detail = None;
                true
            });
        }
        self
    }

    /// Leaves out the findings and remarks that are notes.
    #[must_use]
    pub fn without_notes(mut self) -> Self {
        for root in &mut self.roots {
            root.findings
                .retain(|finding| finding.severity > Severity::Note);
        }
        self.remarks.retain(|(tone, _)| *tone > Tone::Note);
        self
    }

    /// Returns whether every root could be checked.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.roots
            .iter()
            .all(|root| root.status != RootStatus::Failed)
    }

    /// Says in one line how it came out, as in `2 roots: 1 clean, 1 with findings; 1 error, 3 notes`.
    /// What roots share counts once.
    #[must_use]
    pub fn verdict(&self) -> String {
        let counts = Counts::of(
            self.findings()
                .into_iter()
                .map(|(_, finding)| finding.severity),
        );
        let not_seen: Vec<NotSeen> = self
            .roots
            .iter()
            .map(|root| root.not_seen.unwrap_or_default())
            .collect();
        let not_seen = NotSeen::of_roots(&not_seen);
        let mut parts = match &self.roots[..] {
            [root] if root.status == RootStatus::Clean && not_seen.is_none() => {
                vec!["clean".to_owned()]
            }
            [root] if root.status == RootStatus::Clean => vec!["no problem found".to_owned()],
            [_] => Vec::new(),
            roots => vec![statuses(roots.iter().map(|root| root.status))],
        };
        parts.extend(not_seen);
        parts.extend(Some(counts.to_string()).filter(|text| !text.is_empty()));
        if !self.is_complete() {
            parts.push("not everything could be checked".to_owned());
        }
        match self.roots.iter().map(|root| root.turned_off.len()).sum() {
            0 => {}
            off => parts.push(format!("{} turned off", counted(off, "finding"))),
        }
        match self.not_locked {
            0 => {}
            1 => parts.push("1 directory with configuration is not locked".to_owned()),
            n => parts.push(format!("{n} directories with configuration are not locked")),
        }
        parts.join("; ")
    }

    /// Returns the findings of all roots with the first root of each, each once: roots share modules
    /// and project files.
    pub(super) fn findings(&self) -> Vec<(&RootRow<'a>, &FindingRow)> {
        let mut seen = BTreeSet::new();
        self.roots
            .iter()
            .flat_map(|root| root.findings.iter().map(move |finding| (root, finding)))
            .filter(|(_, finding)| seen.insert(*finding))
            .collect()
    }

    /// Returns what is turned off, likewise.
    pub(super) fn turned_off(&self) -> Vec<(&RootRow<'a>, &TurnedOffRow)> {
        let mut seen = BTreeSet::new();
        self.roots
            .iter()
            .flat_map(|root| root.turned_off.iter().map(move |off| (root, off)))
            .filter(|(_, off)| seen.insert(&off.finding))
            .collect()
    }

    /// Returns the text of each failure once; of several roots with the first of those that it stopped.
    pub(super) fn failures(&self, most: usize) -> Vec<String> {
        let by_root = self.roots.iter().flat_map(|root| {
            root.failures
                .iter()
                .map(|failure| (*failure, root.path.as_str()))
        });
        grouped(by_root)
            .into_iter()
            .map(|(failure, roots)| match self.roots.len() {
                1 => failure.lines(),
                _ => {
                    let names = roots.iter().map(|root| (*root).to_owned());
                    let names = first_names(names, most).join(", ");
                    format!("{names}: {}", failure.lines())
                }
            })
            .collect()
    }
}

impl FindingRow {
    /// Names the place, as in `live/a/main.tf:5:17`, if there is one.
    pub(super) fn place(&self) -> Option<String> {
        let range = self.range.as_ref()?;
        Some(format!("{}:{}:{}", range.file, range.line, range.column))
    }

    /// Returns what is wrong, what exactly at its place, and what to do, line by line.
    pub(super) fn lines(&self) -> String {
        let help = self.help.as_ref().map(|help| format!("help: {help}"));
        [Some(self.title.clone()), self.detail.clone(), help]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("\n")
    }
}

impl Failure {
    /// Returns what failed, why, and what to do, line by line.
    pub(super) fn lines(&self) -> String {
        let causes = self.causes.iter().map(|cause| format!("cause: {cause}"));
        let help = self.help.iter().map(|help| format!("help: {help}"));
        std::iter::once(self.title.clone())
            .chain(causes)
            .chain(help)
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// Counts roots by how they came out, as in `2 roots: 1 clean, 1 failed`.
pub(super) fn statuses(statuses: impl Iterator<Item = RootStatus>) -> String {
    let statuses: Vec<RootStatus> = statuses.collect();
    let count = |wanted| statuses.iter().filter(|status| **status == wanted).count();
    let counts = [
        (count(RootStatus::Clean), "clean"),
        (count(RootStatus::Findings), "with findings"),
        (count(RootStatus::Failed), "failed"),
    ];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, word)| format!("{n} {word}"))
        .collect();
    format!("{}: {}", counted(statuses.len(), "root"), counts.join(", "))
}
