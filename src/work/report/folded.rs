//! Findings as people read them: those that have one cause are one block.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::fold::{self, FindingIndex, Fold};
use super::several::{FaultLine, Several};
use super::shared::{SharedFact, first_names};
use super::{
    Column, CommandResult, FindingDisplay, ResultEntry, RootNames, RootResult, RootRow, Row, Table,
    TextBlock, reading,
};
use crate::diag::{self, Diagnostic, Finding, Label, Texts, counted};

/// Maximum number of lines of one cause; more are counted.
const MAX_LINES: usize = 5;

/// Maximum number of rows of the table.
const MAX_ROWS: usize = 12;

/// The columns of the table.
const COLUMNS: &[Column] = &[
    Column::Key("RULE"),
    Column::Key("SEVERITY"),
    Column::Key("ROOTS"),
    Column::Key("PROVIDERS"),
    Column::Key("COMMAND"),
];

/// Maximum number of providers that a line names; more are counted.
const MAX_NAMES: usize = 2;

/// The findings of a run, as people read them.
pub struct FoldedFindings {
    /// The causes: those that concern several roots, the worst first, then those that concern one root each.
    pub blocks: Vec<TextBlock>,
    /// A row for each cause, the worst first.
    pub table: Table,
}

/// Puts the findings together that are wanted.
#[must_use]
pub fn folded(
    result: &CommandResult,
    is_wanted: &dyn Fn(&Diagnostic, FindingDisplay) -> bool,
) -> FoldedFindings {
    // Roots that share a file come to it by other ways.
    let cleaned = |_: &RootResult, path: &str| reading::cleaned(path);
    let results = result.roots();
    let roots: Vec<RootRow<'_>> = results
        .iter()
        .map(|root| RootRow::of(root, &result.texts, &cleaned))
        .collect();
    let all: Vec<Vec<(&Finding, FindingDisplay)>> = results.iter().map(shown).collect();
    let mut folds = fold::folds(&roots, &|member: &FindingIndex| {
        let (finding, shown) = all[member.root][member.finding];
        is_wanted(&finding.diagnostic, shown)
    });
    let view = View {
        result,
        roots: &roots,
        all: &all,
    };
    // Before sorting: within a root, causes stay in the order in which they were found.
    let mut own: Vec<&Fold> = folds.iter().filter(|fold| fold.root_count() == 1).collect();
    own.sort_by_key(|fold| fold.members[0].root);
    let own: Vec<TextBlock> = own.into_iter().map(|fold| view.block(fold)).collect();
    folds.sort_by_key(|fold| Reverse(fold.severity));
    FoldedFindings {
        blocks: folds
            .iter()
            .filter(|fold| fold.root_count() > 1)
            .map(|fold| view.block(fold))
            .chain(own)
            .collect(),
        table: view.table(&folds),
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

    /// Names the provider of a finding by the rules of its root.
    fn provider(&self, member: FindingIndex) -> Option<String> {
        let provider = self.finding(member).provider.as_ref()?;
        Some(match self.result.roots()[member.root].flavor {
            Some(flavor) => provider.short(flavor),
            None => provider.to_string(),
        })
    }

    fn block(&self, fold: &Fold) -> TextBlock {
        let first = &self.finding(fold.members[0]).diagnostic;
        if let [_] = fold.members[..] {
            return TextBlock::Diagnostic(first.clone());
        }
        let by_root = fold.by_root();
        let is_shared = by_root.len() > 1;
        let has_common_title = diag::named(fold.rule).together.is_some();
        let mut several = if is_shared && fold.title == first.title {
            let roots = by_root
                .iter()
                .map(|own| &*self.roots[own[0].root].path)
                .collect();
            let roots = SharedFact { fact: (), roots }.names(false);
            // Roots that share a file have the very same finding in it.
            Several {
                notes: vec![format!("in the roots {roots}")],
                ..Several::of(first, vec![FaultLine::Source(first.primary.clone())])
            }
        } else if !has_common_title && fold.title.starts_with(&first.title) {
            let place = |member: &FindingIndex| match &self.finding(*member).diagnostic.primary {
                Some(label) => place(label, &self.result.texts),
                None => self.roots[member.root].path.clone(),
            };
            // Roots share files, which are named once.
            let lines = BTreeSet::from_iter(fold.members.iter().map(place))
                .into_iter()
                .map(FaultLine::Name);
            cut(lines, first)
        } else if is_shared {
            let lines = by_root.iter().map(|own| self.root_line(fold, own));
            cut(lines, first)
        } else {
            let mut notes = fold.members.iter().filter_map(|member| {
                let label = self.finding(*member).diagnostic.primary.as_ref();
                label.map(|label| &*label.note)
            });
            // A note that all lines would repeat is said once, below them.
            let first_note = notes.next().filter(|note| !note.is_empty());
            let is_same_note = notes.all(|note| Some(note) == first_note);
            let lines = fold
                .members
                .iter()
                .map(|member| self.line(*member, is_same_note));
            let note = first_note.filter(|_| is_same_note);
            Several {
                notes: note.map(str::to_owned).into_iter().collect(),
                ..cut(lines, first)
            }
        };
        several.title.clone_from(&fold.title);
        several.help.clone_from(&fold.help);
        TextBlock::Several(several)
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
                let texts = &self.result.texts;
                let line = texts.line(label.file, label.span.start);
                let line = texts.bytes(label.file).get(line).unwrap_or_default();
                let line = String::from_utf8_lossy(line);
                // The line of the place may show the name already.
                if let Some(name) = self.provider(member).filter(|name| !line.contains(&**name)) {
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

    /// Names a root with the providers concerned.
    fn root_line(&self, fold: &Fold, own: &[FindingIndex]) -> FaultLine {
        let root = &self.result.roots()[own[0].root];
        let mut names: Vec<String> = Vec::new();
        for name in own.iter().filter_map(|at| self.provider(*at)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let mut text = first_names(names.into_iter(), MAX_NAMES).join(", ");
        // Without a title for several and without a provider, only the own title says what is wrong.
        if diag::named(fold.rule).together.is_none() && text.is_empty() {
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

    /// Returns a row for each cause.
    fn table(&self, folds: &[Fold]) -> Table {
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
            let providers = match providers.len() {
                0 => "-".to_owned(),
                n => n.to_string(),
            };
            let cells = [
                same[0].rule.into(),
                same[0].severity.name().into(),
                roots.len().to_string().into(),
                providers.into(),
                command(same[0]).into(),
            ];
            Row::new("", cells)
        });
        Table::new(COLUMNS, rows)
            .naming(RootNames::Hidden)
            .at_most(MAX_ROWS)
    }
}

/// Makes one block of the first lines, and counts the others.
fn cut(lines: impl ExactSizeIterator<Item = FaultLine>, first: &Diagnostic) -> Several {
    let hidden = lines.len().saturating_sub(MAX_LINES);
    Several {
        more: (hidden > 0).then(|| format!("and {hidden} more (-v shows each)")),
        ..Several::of(first, lines.take(MAX_LINES).collect())
    }
}

/// Names a place with the remark on it, as in `live/a/main.tf:5:17: no such variable`.
fn place(label: &Label, texts: &Texts) -> String {
    let at = texts.position(label.file, label.span.start);
    let name = reading::cleaned(texts.name(label.file));
    let place = format!("{name}:{}:{}", at.line, at.column);
    if label.note.is_empty() {
        place
    } else {
        format!("{place}: {}", label.note)
    }
}
