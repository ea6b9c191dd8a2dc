//! What people read of findings: those that have one cause are one.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::fold::{self, Fold, Member};
use super::several::{Line, Several};
use super::{Block, CommandResult, Root, RootEntry, RootResult, Shown, reading};
use crate::diag::{self, Diagnostic, Finding, Severity, counted};

/// How many lines one cause has; more are counted.
const MAX_LINES: usize = 5;

/// How many providers a line names; more are counted.
const MAX_NAMES: usize = 2;

/// The findings of a run, as people read them.
pub struct Folded {
    /// What several roots have in common, the worst first.
    pub shared: Vec<Block>,
    /// What each root has by itself, in the order of the roots.
    pub own: Vec<Vec<Block>>,
    /// A row for each cause, the worst first, below a head; empty if there is no finding.
    pub table: Vec<Vec<String>>,
}

/// Puts the findings together that are results and at least this severe.
#[must_use]
pub fn folded(result: &CommandResult, least: Severity) -> Folded {
    // Roots that share a file come to it by other ways.
    let cleaned = |_: &RootResult, path: &str| reading::cleaned(path);
    let results = result.roots();
    let roots = results.iter();
    let roots: Vec<Root<'_>> = roots
        .map(|root| Root::of(root, &result.texts, &cleaned))
        .collect();
    let all: Vec<Vec<(&Finding, Shown)>> = results.iter().map(shown).collect();
    let is_wanted = |member: &Member| {
        let (finding, shown) = all[member.root][member.finding];
        shown == Shown::Result && finding.diagnostic.severity >= least
    };
    let mut folds = fold::folds(&roots, &is_wanted);
    let view = View {
        result,
        roots: &roots,
        all: &all,
    };
    let mut own: Vec<Vec<Block>> = results.iter().map(|_| Vec::new()).collect();
    for fold in folds.iter().filter(|fold| fold.root_count() == 1) {
        own[fold.members[0].root].push(view.block(fold));
    }
    folds.sort_by_key(|fold| Reverse(fold.severity));
    let shared = folds.iter().filter(|fold| fold.root_count() > 1);
    Folded {
        shared: shared.map(|fold| view.block(fold)).collect(),
        table: view.table(&folds),
        own,
    }
}

/// Lists all findings of a root with how they are shown.
fn shown(root: &RootResult) -> Vec<(&Finding, Shown)> {
    let entries = root.entries.iter();
    let findings = entries.filter_map(|entry| match entry {
        RootEntry::Finding(finding, shown) => Some((finding, *shown)),
        _ => None,
    });
    findings.collect()
}

/// All findings of a run.
struct View<'a> {
    result: &'a CommandResult,
    roots: &'a [Root<'a>],
    all: &'a [Vec<(&'a Finding, Shown)>],
}

impl View<'_> {
    fn finding(&self, member: Member) -> &Finding {
        self.all[member.root][member.finding].0
    }

    fn block(&self, fold: &Fold) -> Block {
        let first = &self.finding(fold.members[0]).diagnostic;
        if let [_] = fold.members[..] {
            return Block::Diagnostic(first.clone());
        }
        let by_root = fold.by_root();
        let is_shared = by_root.len() > 1;
        // Roots that share a file have the very same finding in it.
        if is_shared && fold.title == first.title {
            let diagnostic = Diagnostic {
                help: fold.help.clone(),
                ..first.clone()
            };
            return Block::Several(Several {
                notes: vec![self.roots_in_words(&by_root)],
                ..Several::of(&diagnostic, vec![Line::Source(diagnostic.primary.clone())])
            });
        }
        let notes = fold.members.iter();
        let mut notes = notes.filter_map(|member| {
            let label = self.finding(*member).diagnostic.primary.as_ref();
            label.map(|label| &*label.note)
        });
        let first_note = notes.next().filter(|note| !note.is_empty());
        let is_same_note = notes.all(|note| Some(note) == first_note);
        let lines: Vec<Line> = match is_shared {
            true => {
                let roots = by_root.iter().take(MAX_LINES);
                roots.map(|own| self.root_line(fold, own)).collect()
            }
            false => {
                let members = fold.members.iter().take(MAX_LINES);
                members
                    .map(|member| self.line(*member, is_same_note))
                    .collect()
            }
        };
        let count = match is_shared {
            true => by_root.len(),
            false => fold.members.len(),
        };
        let more = match (count.saturating_sub(lines.len()), is_shared) {
            (0, _) => None,
            (n, true) => Some(format!("and {n} more (-v shows each)")),
            (n, false) => Some(format!("and {n} more")),
        };
        let note = first_note.filter(|_| is_same_note && !is_shared);
        Block::Several(Several {
            code: fold.rule,
            severity: fold.severity,
            title: fold.title.clone(),
            lines,
            more,
            notes: note.map(str::to_owned).into_iter().collect(),
            help: fold.help.clone(),
        })
    }

    /// Shows one of several findings of a root.
    fn line(&self, member: Member, is_same_note: bool) -> Line {
        let finding = self.finding(member);
        let diagnostic = &finding.diagnostic;
        let has_title = diag::named(diagnostic.code).together.is_some();
        match &diagnostic.primary {
            Some(label) if has_title => {
                let mut label = label.clone();
                if is_same_note {
                    label.note.clear();
                }
                Line::Source(Some(label))
            }
            Some(label) => {
                let note = Some(&*label.note).filter(|note| !note.is_empty() && !is_same_note);
                let note = note.map_or_else(String::new, |note| format!(" ({note})"));
                Line::Place(label.clone(), format!("{}{note}", diagnostic.title))
            }
            None => Line::Name(diagnostic.title.clone()),
        }
    }

    /// Names a root with the providers concerned.
    fn root_line(&self, fold: &Fold, own: &[Member]) -> Line {
        let root = &self.result.roots()[own[0].root];
        let mut names: Vec<String> = Vec::new();
        for member in own {
            let provider = self.finding(*member).provider.as_ref();
            let name = provider.map(|provider| match root.flavor {
                Some(flavor) => provider.short(flavor),
                None => provider.to_string(),
            });
            names.extend(name.filter(|name| !names.contains(name)));
        }
        let more = names.len().saturating_sub(MAX_NAMES);
        names.truncate(MAX_NAMES);
        let mut text = names.join(", ");
        if more > 0 {
            text += &format!(" and {more} more");
        }
        if diag::named(fold.rule).together.is_none() && names.is_empty() {
            text.clone_from(&self.finding(own[0]).diagnostic.title);
        }
        if text.is_empty() && own.len() > 1 {
            text = counted(own.len(), "place");
        }
        Line::Name(match text.is_empty() {
            true => root.path.clone(),
            false => format!("{}: {text}", root.path),
        })
    }

    /// Names the roots that have the very same finding.
    fn roots_in_words(&self, by_root: &[&[Member]]) -> String {
        let paths = by_root.iter().map(|own| &*self.roots[own[0].root].path);
        let shown: Vec<&str> = paths.take(MAX_LINES).collect();
        let more = match by_root.len() - shown.len() {
            0 => String::new(),
            n => format!(" and {n} more (-v shows each)"),
        };
        format!("in the roots {}{more}", shown.join(", "))
    }

    /// Returns a row for each cause, below a head.
    fn table(&self, folds: &[Fold]) -> Vec<Vec<String>> {
        if folds.is_empty() {
            return Vec::new();
        }
        let head = ["rule", "severity", "roots", "providers", "command"];
        let rows = folds.iter().map(|fold| {
            let members = fold.members.iter();
            let providers = members.filter_map(|member| self.finding(*member).provider.as_ref());
            let providers: BTreeSet<_> = providers.collect();
            let command = fold.command().map_or_else(
                || format!("lockctl explain {}", fold.rule),
                ToOwned::to_owned,
            );
            vec![
                fold.rule.to_owned(),
                severity(fold.severity).to_owned(),
                fold.root_count().to_string(),
                match providers.len() {
                    0 => "-".to_owned(),
                    n => n.to_string(),
                },
                command,
            ]
        });
        let head = head.map(str::to_owned).to_vec();
        std::iter::once(head).chain(rows).collect()
    }
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}
