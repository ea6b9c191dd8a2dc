//! The text of `lockctl log`: one change a line, the newest first.

use std::collections::BTreeSet;

use crate::addr::ProviderAddr;
use crate::cli::Look;
use crate::cli::session::provider;
use crate::diag::counted;
use crate::flavor::Flavor;
use crate::report::json::{EntrySide, PastChange, Provider, RootStatus};
use crate::report::shared::{SharedFact, shared};
use crate::report::shared_table::{MAX_ROWS, fitted, rows_on_screen};
use crate::report::{RootResult, TextBlock, Tone};
use crate::review::Risk;

/// The titles of the columns; that of the root only where there are several. It is the last, since the names of
/// several roots are long.
const TITLES: [&str; 8] = [
    "", "DATE", "COMMIT", "AUTHOR", "PROVIDER", "VERSION", "CHANGE", "ROOT",
];

/// The column of the root.
const ROOT: usize = 7;

/// Maximum indentation of the column of the root on a line of its own, in columns.
const INDENT: usize = 4;

/// Maximum number of causes of alarming changes in several lock files.
const MAX_ALARMS: usize = 10;

/// A change of a lock file in the past.
struct HistoryLine<'r> {
    root: &'r str,
    /// The flavor by whose rules the provider is named; `None` if in full.
    flavor: Option<Flavor>,
    change: &'r PastChange,
}

/// Lists the changes of one lock file.
pub(super) fn of_root(root: &RootResult, look: Look) -> Vec<TextBlock> {
    if root.status == RootStatus::Failed {
        return Vec::new();
    }
    let mut lines: Vec<HistoryLine<'_>> = lines(root).collect();
    name_fully(&mut lines);
    let mut titles = TITLES.to_vec();
    titles.remove(ROOT);
    let rows = lines.iter().map(|line| {
        let mut cells = row(line);
        cells.remove(ROOT);
        cells
    });
    let causes = explained(&lines, look).map(|line| {
        let (commit, what) = cause(line);
        format!("{commit} {what}")
    });
    blocks(
        table(&titles, &["AUTHOR", "CHANGE"], rows.collect(), look),
        causes.collect(),
        &lines,
    )
}

/// Lists the changes of several lock files together, the newest first. A commit that changes several in the
/// same way has one row for them, and only the newest rows are shown, unless the number of commits is stated.
pub(super) fn of_roots(roots: &[RootResult], look: Look, commits: Option<usize>) -> Vec<TextBlock> {
    let mut lines: Vec<HistoryLine<'_>> = roots.iter().flat_map(lines).collect();
    name_fully(&mut lines);
    // The sort is stable: changes of one commit stay root by root.
    lines.sort_by_key(|line| line.change.newer_commits);
    let mut rows: Vec<Vec<String>> = folded(&lines, look, |line| {
        let mut cells = row(line);
        cells[ROOT].clear();
        cells
    })
    .into_iter()
    .map(|same| {
        let count = match same.roots.len() {
            1 => String::new(),
            count => format!("{}: ", counted(count, "root")),
        };
        let names = match look.terminal {
            Some(terminal) => same.names_within(terminal.saturating_sub(INDENT + count.len())),
            None => same.names(false),
        };
        let mut cells = same.fact;
        cells[ROOT] = count + &names;
        cells
    })
    .collect();
    let mut causes: Vec<String> = folded(explained(&lines, look), look, cause)
        .into_iter()
        .map(|same| {
            let (commit, what) = &same.fact;
            format!("{commit} {} {what}", same.names(false))
        })
        .collect();
    let mut more = Vec::new();
    if !look.verbose && commits.is_none() {
        let shown = rows_on_screen(&rows[..rows.len().min(MAX_ROWS)], MAX_ROWS, look.terminal);
        let older = rows.len().saturating_sub(shown);
        rows.truncate(shown);
        if older > 0 {
            more.push(format!(
                "… and {older} older (-n N shows those of N commits, -v all)"
            ));
        }
        let alarms = causes.len().saturating_sub(MAX_ALARMS);
        causes.truncate(MAX_ALARMS);
        if alarms > 0 {
            causes.push(format!("… and {alarms} more alarming (-v shows all)"));
        }
    }
    let mut table = table(&TITLES, &["AUTHOR", "ROOT", "CHANGE"], rows, look);
    table.extend((!more.is_empty()).then_some(TextBlock::Lines(more)));
    blocks(table, causes, &lines)
}

/// Puts lines of the same commit and text together, unless all are wanted; the newest commit is first.
fn folded<'l, 'r: 'l, F: Ord + Clone>(
    lines: impl IntoIterator<Item = &'l HistoryLine<'r>>,
    look: Look,
    text: impl Fn(&HistoryLine<'r>) -> F,
) -> Vec<SharedFact<'r, F>> {
    let facts = lines.into_iter().enumerate().map(|(at, line)| {
        // With its number no line is equal to another.
        let number = if look.verbose { at } else { 0 };
        ((line.change.newer_commits, number, text(line)), line.root)
    });
    let mut all = shared(facts);
    all.sort_by_key(|same| (same.fact.0, same.fact.1));
    all.into_iter()
        .map(|SharedFact { fact, roots }| SharedFact {
            fact: fact.2,
            roots,
        })
        .collect()
}

fn lines(root: &RootResult) -> impl Iterator<Item = HistoryLine<'_>> {
    let changes = root.providers.iter().filter_map(|row| match row {
        Provider::Changed(change) => Some(&**change),
        _ => None,
    });
    changes.map(move |change| HistoryLine {
        root: &root.path,
        flavor: root.flavor,
        change,
    })
}

/// Has all providers named in full, if they are of two hosts.
fn name_fully(lines: &mut [HistoryLine<'_>]) {
    let providers: Vec<&ProviderAddr> = lines.iter().map(|line| &line.change.provider).collect();
    let first = lines.first().and_then(|line| line.flavor);
    if provider::short_by(providers, first).is_none() {
        for line in lines {
            line.flavor = None;
        }
    }
}

/// Names the provider of a change.
fn name(line: &HistoryLine<'_>) -> String {
    let provider = &line.change.provider;
    match line.flavor {
        Some(flavor) => provider.short(flavor),
        None => provider.to_string(),
    }
}

fn table(titles: &[&str], flexible: &[&str], rows: Vec<Vec<String>>, look: Look) -> Vec<TextBlock> {
    if rows.is_empty() {
        return Vec::new();
    }
    let head = titles.iter().map(|title| (*title).to_owned()).collect();
    let all = std::iter::once(head).chain(rows).collect();
    let flexible: Vec<usize> = (0..titles.len())
        .filter(|column| flexible.contains(&titles[*column]))
        .collect();
    vec![TextBlock::Table(fitted(all, &flexible, look.terminal))]
}

/// Puts what is alarming, and how it came out, below the table.
fn blocks(
    mut table: Vec<TextBlock>,
    causes: Vec<String>,
    all: &[HistoryLine<'_>],
) -> Vec<TextBlock> {
    table.push(TextBlock::Lines(causes));
    let alarms = all.iter().filter(|line| is_alarming(line)).count();
    let changes: Vec<&PastChange> = all.iter().map(|line| line.change).collect();
    let tone = match changes.iter().map(|change| change.risk).max() {
        Some(Risk::Danger) => Tone::Bad,
        Some(Risk::Warning) => Tone::Warning,
        _ => Tone::Good,
    };
    let text = if changes.is_empty() {
        "no commit has a matching change".to_owned()
    } else {
        let providers: BTreeSet<&ProviderAddr> =
            changes.iter().map(|change| &change.provider).collect();
        let commits: BTreeSet<_> = changes.iter().map(|change| &change.commit).collect();
        let alarming = match alarms {
            0 => "nothing alarming".to_owned(),
            n => format!("{n} alarming"),
        };
        format!(
            "{} of {} in {}, {alarming}",
            counted(changes.len(), "change"),
            counted(providers.len(), "provider"),
            counted(commits.len(), "commit")
        )
    };
    table.push(TextBlock::Verdict(tone, text));
    table
}

/// Chooses the changes whose causes are shown.
fn explained<'l, 'r>(
    lines: &'l [HistoryLine<'r>],
    look: Look,
) -> impl Iterator<Item = &'l HistoryLine<'r>> {
    lines
        .iter()
        .filter(move |line| look.verbose || is_alarming(line))
}

fn is_alarming(line: &HistoryLine<'_>) -> bool {
    line.change.risk >= Risk::Warning
}

/// Explains a change: the commit, and what it did.
fn cause(line: &HistoryLine<'_>) -> (String, String) {
    let HistoryLine { change, .. } = line;
    let commit = format!("{:<2}  {}", mark(change.risk), change.commit.short());
    (commit, format!("{}: {}", name(line), change.cause))
}

fn row(line: &HistoryLine<'_>) -> Vec<String> {
    let change = line.change;
    let day = change.date.split('T').next().unwrap_or_default();
    let kinds: Vec<&str> = change.kinds.iter().map(|kind| kind.name()).collect();
    let version = |side: &Option<EntrySide>| side.as_ref().map(|side| side.version.to_string());
    let versions = match (version(&change.old), version(&change.new)) {
        (Some(old), Some(new)) if old != new => format!("{old} → {new}"),
        (Some(old), None) => format!("{old} → -"),
        (_, new) => new.unwrap_or_default(),
    };
    vec![
        mark(change.risk).to_owned(),
        day.to_owned(),
        change.commit.short().to_owned(),
        change.author.clone(),
        name(line),
        versions,
        kinds.join(", "),
        line.root.to_owned(),
    ]
}

/// Marks what is alarming, without any colour.
fn mark(risk: Risk) -> &'static str {
    match risk {
        Risk::Danger => "!!",
        Risk::Warning => "!",
        Risk::Notice | Risk::Routine => "",
    }
}
