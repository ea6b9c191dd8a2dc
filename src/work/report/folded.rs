//! Findings as people read them: those that have one cause are one block.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::fold::{self, FindingIndex, Fold};
use super::several::{FaultLine, Several};
use super::{
    CommandResult, FindingDisplay, ResultEntry, RootResult, RootRow, TextBlock, notes, reading,
};
use crate::diag::{self, Diagnostic, Finding, Label, Severity, Texts, counted};

/// Maximum number of lines of one cause; more are counted.
const MAX_LINES: usize = 5;

/// Maximum number of lines of the table, with its head.
const MAX_TABLE_ROWS: usize = 13;

/// Number of lines below the blocks, beside the table: what is left out, the sentence about all roots, and the
/// empty lines between them.
const LINES_BELOW: usize = 5;

/// Number of lines around the blocks of a root: its name, its verdict, and empty lines.
const LINES_AROUND_ROOT: usize = 5;

/// Maximum number of providers that a line names; more are counted.
const MAX_NAMES: usize = 2;

/// The findings of a run, as people read them.
pub struct FoldedFindings {
    /// The causes that concern several roots, the worst first.
    pub shared: Vec<TextBlock>,
    /// The blocks that concern one root each, in the order of the roots.
    pub own: Vec<Vec<TextBlock>>,
    /// A row for each cause, the worst first, below a head; empty if there is no finding.
    pub table: Vec<Vec<String>>,
}

impl FoldedFindings {
    /// Leaves out what does not fit into so many lines, the worst last, and the last rows of a long table; the
    /// table has the other causes all the same. Returns the number of causes that are left out.
    #[must_use]
    pub fn limit(&mut self, texts: &Texts, lines: usize) -> usize {
        if self.table.len() > MAX_TABLE_ROWS {
            let more = self.table.len() - (MAX_TABLE_ROWS - 1);
            self.table.truncate(MAX_TABLE_ROWS - 1);
            self.table.push(vec![format!("... and {more} more")]);
        }
        let mut room = lines.saturating_sub(self.table.len() + LINES_BELOW);
        let mut hidden = 0;
        let mut fits = |blocks: &[TextBlock], beside: usize| {
            let heights = blocks.iter().map(|block| block.height(texts));
            let height = heights.sum::<usize>() + beside;
            let fits = height <= room;
            if fits {
                room -= height;
            } else {
                hidden += blocks.len();
            }
            fits
        };
        self.shared
            .retain(|block| fits(std::slice::from_ref(block), 0));
        for own in self.own.iter_mut().filter(|own| !own.is_empty()) {
            if !fits(own, LINES_AROUND_ROOT) {
                own.clear();
            }
        }
        hidden
    }
}

/// Puts the findings together that are results and at least this severe.
#[must_use]
pub fn folded(result: &CommandResult, least: Severity) -> FoldedFindings {
    // Roots that share a file come to it by other ways.
    let cleaned = |_: &RootResult, path: &str| reading::cleaned(path);
    let results = result.roots();
    let roots: Vec<RootRow<'_>> = results
        .iter()
        .map(|root| RootRow::of(root, &result.texts, &cleaned))
        .collect();
    let all: Vec<Vec<(&Finding, FindingDisplay)>> = results.iter().map(shown).collect();
    let is_wanted = |member: &FindingIndex| {
        let (finding, shown) = all[member.root][member.finding];
        shown == FindingDisplay::Result && finding.diagnostic.severity >= least
    };
    let mut folds = fold::folds(&roots, &is_wanted);
    let view = View {
        result,
        roots: &roots,
        all: &all,
    };
    let mut own: Vec<Vec<TextBlock>> = results.iter().map(|_| Vec::new()).collect();
    // Before sorting: within a root, causes stay in the order of their discovery.
    for fold in folds.iter().filter(|fold| fold.root_count() == 1) {
        own[fold.members[0].root].push(view.block(fold));
    }
    folds.sort_by_key(|fold| Reverse(fold.severity));
    FoldedFindings {
        shared: folds
            .iter()
            .filter(|fold| fold.root_count() > 1)
            .map(|fold| view.block(fold))
            .collect(),
        table: view.table(&folds),
        own,
    }
}

/// Lists all findings of a root with how they are shown.
fn shown(root: &RootResult) -> Vec<(&Finding, FindingDisplay)> {
    root.entries
        .iter()
        .filter_map(|entry| match entry {
            ResultEntry::Finding(finding, shown) => Some((&**finding, *shown)),
            _ => None,
        })
        .collect()
}

/// All findings of a run.
struct View<'a> {
    result: &'a CommandResult,
    roots: &'a [RootRow<'a>],
    all: &'a [Vec<(&'a Finding, FindingDisplay)>],
}

impl View<'_> {
    fn finding(&self, member: FindingIndex) -> &Finding {
        self.all[member.root][member.finding].0
    }

    fn block(&self, fold: &Fold) -> TextBlock {
        let first = &self.finding(fold.members[0]).diagnostic;
        if let [_] = fold.members[..] {
            return TextBlock::Diagnostic(first.clone());
        }
        let by_root = fold.by_root();
        let is_shared = by_root.len() > 1;
        // Roots that share a file have the very same finding in it.
        if is_shared && fold.title == first.title {
            return TextBlock::Several(Several {
                notes: vec![self.roots_in_words(&by_root)],
                help: fold.help.clone(),
                ..Several::of(first, vec![FaultLine::Source(first.primary.clone())])
            });
        }
        if diag::named(fold.rule).together.is_none() && fold.title.starts_with(&first.title) {
            return TextBlock::Several(self.same_sentence(fold, first));
        }
        let mut notes = fold.members.iter().filter_map(|member| {
            let label = self.finding(*member).diagnostic.primary.as_ref();
            label.map(|label| &*label.note)
        });
        // A note that all lines would repeat is said once, below them.
        let first_note = notes.next().filter(|note| !note.is_empty());
        let is_same_note = notes.all(|note| Some(note) == first_note);
        let shown = |all: usize| all.min(MAX_LINES);
        let hidden = |all: usize| all - shown(all);
        let (lines, more, notes) = if is_shared {
            let lines = by_root[..shown(by_root.len())]
                .iter()
                .map(|own| self.root_line(fold, own))
                .collect();
            let more = match hidden(by_root.len()) {
                0 => None,
                n => Some(format!("and {n} more (-v shows each)")),
            };
            (lines, more, Vec::new())
        } else {
            let lines = fold.members[..shown(fold.members.len())]
                .iter()
                .map(|member| self.line(*member, is_same_note))
                .collect();
            let more = match hidden(fold.members.len()) {
                0 => None,
                n => Some(format!("and {n} more")),
            };
            let note = first_note.filter(|_| is_same_note);
            (lines, more, note.map(str::to_owned).into_iter().collect())
        };
        TextBlock::Several(Several {
            code: fold.rule,
            severity: fold.severity,
            title: fold.title.clone(),
            lines,
            more,
            notes,
            help: fold.help.clone(),
        })
    }

    /// Shows findings with the same title by their places; roots share files, which are named once.
    fn same_sentence(&self, fold: &Fold, first: &Diagnostic) -> Several {
        let places: BTreeSet<String> = fold
            .members
            .iter()
            .map(|member| match &self.finding(*member).diagnostic.primary {
                Some(label) => notes::place(label, &self.result.texts),
                None => self.roots[member.root].path.clone(),
            })
            .collect();
        let hidden = places.len().saturating_sub(MAX_LINES);
        let lines = places.into_iter().take(MAX_LINES).map(FaultLine::Name);
        Several {
            title: fold.title.clone(),
            more: (hidden > 0).then(|| format!("and {hidden} more (-v shows each)")),
            help: fold.help.clone(),
            ..Several::of(first, lines.collect())
        }
    }

    /// Shows one of several findings of a root.
    fn line(&self, member: FindingIndex, is_same_note: bool) -> FaultLine {
        let finding = self.finding(member);
        let diagnostic = &finding.diagnostic;
        let has_title = diag::named(diagnostic.code).together.is_some();
        match &diagnostic.primary {
            Some(label) if has_title => {
                let mut label = label.clone();
                if is_same_note {
                    label.note.clear();
                }
                if let Some(name) = self.name_beside(member, &label) {
                    label.note = match &*label.note {
                        "" => name,
                        note => format!("{name}: {note}"),
                    };
                }
                FaultLine::Source(Some(label))
            }
            Some(label) => {
                let note = Some(&*label.note).filter(|note| !note.is_empty() && !is_same_note);
                let note = note.map_or_else(String::new, |note| format!(" ({note})"));
                FaultLine::Place(label.clone(), format!("{}{note}", diagnostic.title))
            }
            None => FaultLine::Name(diagnostic.title.clone()),
        }
    }

    /// Returns the name of the provider of a finding, if the line of its place does not show it.
    fn name_beside(&self, member: FindingIndex, label: &Label) -> Option<String> {
        let provider = self.finding(member).provider.as_ref()?;
        let name = match self.result.roots()[member.root].flavor {
            Some(flavor) => provider.short(flavor),
            None => provider.to_string(),
        };
        let texts = &self.result.texts;
        let line = texts.line(label.file, label.span.start);
        let line = texts.bytes(label.file).get(line).unwrap_or_default();
        let is_shown = String::from_utf8_lossy(line).contains(&*name);
        (!is_shown).then_some(name)
    }

    /// Names a root with the providers concerned.
    fn root_line(&self, fold: &Fold, own: &[FindingIndex]) -> FaultLine {
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
        // Without a title for several and without a provider, only the own title says what is wrong.
        if diag::named(fold.rule).together.is_none() && names.is_empty() {
            text.clone_from(&self.finding(own[0]).diagnostic.title);
        }
        if text.is_empty() && own.len() > 1 {
            text = counted(own.len(), "place");
        }
        if text.is_empty() {
            return FaultLine::Name(root.path.clone());
        }
        FaultLine::Name(format!("{}: {text}", root.path))
    }

    /// Names the roots that have the very same finding.
    fn roots_in_words(&self, by_root: &[&[FindingIndex]]) -> String {
        let shown: Vec<&str> = by_root
            .iter()
            .map(|own| &*self.roots[own[0].root].path)
            .take(MAX_LINES)
            .collect();
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
        let command = |fold: &Fold| {
            let page = || format!("lockctl explain {}", fold.rule);
            fold.command.clone().unwrap_or_else(page)
        };
        let key = |fold: &Fold| (fold.rule, fold.severity, command(fold));
        let mut causes: Vec<Vec<&Fold>> = Vec::new();
        for fold in folds {
            // Faults in several places of a file are blocks of their own, and have one row.
            match causes.iter_mut().find(|same| key(same[0]) == key(fold)) {
                Some(same) => same.push(fold),
                None => causes.push(vec![fold]),
            }
        }
        let rows = causes.iter().map(|same| {
            let members = || same.iter().flat_map(|fold| &fold.members);
            let roots: BTreeSet<usize> = members().map(|member| member.root).collect();
            let providers: BTreeSet<_> = members()
                .filter_map(|member| self.finding(*member).provider.as_ref())
                .collect();
            vec![
                same[0].rule.to_owned(),
                same[0].severity.name().to_owned(),
                roots.len().to_string(),
                match providers.len() {
                    0 => "-".to_owned(),
                    n => n.to_string(),
                },
                command(same[0]),
            ]
        });
        let head = head.map(str::to_owned).to_vec();
        std::iter::once(head).chain(rows).collect()
    }
}
