//! The text of `lockctl outdated`.

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::ProviderAddr;
use crate::cli::Look;
use crate::cli::session::{holding, provider};
use crate::diag::counted;
use crate::report::json::{ComparedProvider, Provider, RootStatus, VersionState};
use crate::report::reading::{self, Heading};
use crate::report::shared::{SharedFact, shared};
use crate::report::shared_table::{TableShape, shared_table, without_empty_columns};
use crate::report::{CommandResult, Failure, RootResult, Sentence, TextBlock, Tone};
use crate::run::unseen::some_of;
use crate::version::{Upgrade, Version};

/// The heads of the columns.
const TITLES: [&str; 6] = [
    "PROVIDER",
    "LOCKED",
    "ALLOWED",
    "NEWEST",
    "STATE",
    "EXCLUDED BY",
];

/// Number of lines beside the rows of a table in Markdown: its head, the line about what is left out with its
/// fences, the verdict, and the empty lines below each.
const LINES_BESIDE_ROWS: usize = 9;

/// Maximum number of failures in a comment; more are counted.
const MAX_FAILURES: usize = 5;

/// The state of a root as a whole, as it is counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RootStanding {
    UpToDate,
    Behind,
    NotLocked,
    Failed,
}

impl RootStanding {
    /// In the order of the counts, with the words for each.
    const WORDS: [(Self, &str); 4] = [
        (Self::UpToDate, "up to date"),
        (Self::Behind, "outdated"),
        (Self::NotLocked, "not locked completely"),
        (Self::Failed, "failed"),
    ];

    fn of(root: &RootResult) -> Self {
        let has = |states: &[VersionState]| {
            let mut rows = compared(root);
            rows.any(|row| states.contains(&row.state))
        };
        let is_behind = compared(root).any(|row| row.step.is_some());
        if root.status == RootStatus::Failed {
            Self::Failed
        } else if is_behind || has(&[VersionState::Behind, VersionState::NotAllowed]) {
            Self::Behind
        } else if has(&[VersionState::NotLocked]) {
            Self::NotLocked
        } else {
            Self::UpToDate
        }
    }
}

/// Shows each root, then how many of them are behind.
pub(super) fn of_all(result: &CommandResult, look: Look) -> Vec<TextBlock> {
    let roots = result.roots();
    let mut blocks = if result.has_many_roots() && !look.verbose {
        folded(result, look)
    } else {
        let own = roots.iter().map(|root| of_root(root, look)).collect();
        reading::each(roots, own, Heading::PathApart)
    };
    let closing = reading::closing(result, counts(roots), look.verbose);
    blocks.extend(closing.map(reading::verdict));
    blocks
}

/// The provider with its locked and its newest version.
type ComparedPair<'r> = (&'r ProviderAddr, Option<&'r Version>, Option<&'r Version>);

/// Shows what is not up to date in several roots: each provider with the same versions once.
fn folded(result: &CommandResult, look: Look) -> Vec<TextBlock> {
    let roots = result.roots();
    let name = provider::naming(roots);
    let pairs = || {
        roots.iter().flat_map(|root| {
            compared(root)
                .filter(|row| !is_fine(row))
                .map(move |row| (pair(row), row, root.path.as_str()))
        })
    };
    let mut rows: BTreeMap<ComparedPair<'_>, Vec<&ComparedProvider>> = BTreeMap::new();
    for (pair, row, _) in pairs() {
        rows.entry(pair).or_default().push(row);
    }
    // A comment has no standard error beside it.
    let failures = if look.markdown {
        failures(result)
    } else {
        Vec::new()
    };
    let taken = look.height(&failures, &result.texts) + LINES_BESIDE_ROWS;
    let shape = TableShape {
        titles: &TITLES,
        // What excludes a version may be many constraints.
        flexible: &[TITLES.len() - 1],
        most: look.rows(taken),
        terminal: look.terminal,
    };
    let facts = shared(pairs().map(|(pair, _, root)| (pair, root)));
    let mut blocks = shared_table(shape, facts, |pair| {
        let same = &rows[pair];
        let allowed = distinct(same, allowed);
        let states = distinct(same, |row| state(row.state).to_owned());
        let held_by = same
            .iter()
            .flat_map(|row| &row.held_by)
            .map(|place| format!("\"{}\"", place.constraints))
            .collect();
        vec![
            name(pair.0),
            version(pair.1, None, None),
            joined(allowed),
            newest(same[0]),
            joined(states),
            joined(held_by),
        ]
    });
    blocks.extend(failures);
    blocks
}

/// Shows the failures of several roots, of many the first ones.
fn failures(result: &CommandResult) -> Vec<TextBlock> {
    let all = result.failures();
    let more = all.len().saturating_sub(MAX_FAILURES);
    let mut blocks: Vec<TextBlock> = all
        .into_iter()
        .take(MAX_FAILURES)
        .map(|(failure, roots)| {
            let names = SharedFact { fact: (), roots }.names(false);
            TextBlock::Failure(Failure {
                title: format!("{names}: {}", failure.title),
                ..failure.clone()
            })
        })
        .collect();
    if more > 0 {
        let text = format!("{} not shown", counted(more, "more failure"));
        blocks.push(TextBlock::Verdict(Tone::Bad, text));
    }
    blocks
}

/// Returns what is said of rows, each text once.
fn distinct(
    rows: &[&ComparedProvider],
    text: impl Fn(&ComparedProvider) -> String,
) -> BTreeSet<String> {
    rows.iter().map(|row| text(row)).collect()
}

fn joined(texts: BTreeSet<String>) -> String {
    some_of(texts.into_iter()).join(", ")
}

/// Shows the version that `update` moves to.
fn allowed(row: &ComparedProvider) -> String {
    if let Some(old_enough) = &row.old_enough {
        let step = ComparedProvider::upgrade(row.locked.as_ref(), Some(old_enough));
        return version(Some(old_enough), step, row.old_enough_age.as_deref());
    }
    version(
        row.newest_allowed.as_ref(),
        row.allowed_step,
        row.allowed_age.as_deref(),
    )
}

fn newest(row: &ComparedProvider) -> String {
    version(row.newest.as_ref(), row.step, row.age.as_deref())
}

fn pair(row: &ComparedProvider) -> ComparedPair<'_> {
    (&row.provider, row.locked.as_ref(), row.newest.as_ref())
}

/// Counts roots by how they compare, as in `3 roots: 1 up to date, 2 outdated`.
fn counts(roots: &[RootResult]) -> Sentence {
    let standings: Vec<RootStanding> = roots.iter().map(RootStanding::of).collect();
    let mut counts = Vec::new();
    for (standing, word) in RootStanding::WORDS {
        let count = standings.iter().filter(|other| **other == standing).count();
        if count > 0 {
            counts.push(format!("{count} {word}"));
        }
    }
    let is_bad = |root: &RootResult| root.status != RootStatus::Clean;
    let tone = if roots.iter().any(is_bad) {
        Tone::Bad
    } else if standings
        .iter()
        .all(|standing| *standing == RootStanding::UpToDate)
    {
        Tone::Good
    } else {
        Tone::Warning
    };
    Sentence {
        tone,
        text: format!("{}: {}", counted(roots.len(), "root"), counts.join(", ")),
    }
}

fn compared(root: &RootResult) -> impl Iterator<Item = &ComparedProvider> {
    root.providers.iter().filter_map(|provider| match provider {
        Provider::Compared(row) => Some(&**row),
        _ => None,
    })
}

/// Shows what is not up to date, with `--verbose` everything, and how it came out.
fn of_root(root: &RootResult, look: Look) -> Vec<TextBlock> {
    let mut blocks = Vec::new();
    if let Some(flavor) = root.flavor {
        let mut table = vec![TITLES.map(str::to_owned).to_vec()];
        for row in compared(root) {
            if look.verbose || !is_fine(row) {
                let places = row.held_by.iter().map(holding::in_words);
                table.push(vec![
                    row.provider.short(flavor),
                    version(row.locked.as_ref(), None, None),
                    allowed(row),
                    newest(row),
                    state(row.state).to_owned(),
                    some_of(places).join(", "),
                ]);
            }
        }
        if table.len() > 1 {
            blocks.push(TextBlock::Table(without_empty_columns(table).0));
        }
    }
    if look.markdown {
        // A comment has no standard error beside it.
        blocks.extend(root.failures().cloned().map(TextBlock::Failure));
        if root.verdict.is_none() {
            let text = format!("{}: could not be compared", root.path);
            blocks.push(TextBlock::Verdict(Tone::Bad, text));
        }
    }
    blocks.extend(root.verdict.clone().map(reading::verdict));
    blocks
}

fn is_fine(row: &ComparedProvider) -> bool {
    matches!(row.state, VersionState::UpToDate | VersionState::BuiltIn)
}

/// Shows a version, what leads there from the locked one, and when it was published.
fn version(version: Option<&Version>, step: Option<Upgrade>, age: Option<&str>) -> String {
    let Some(version) = version else {
        return "-".to_owned();
    };
    match (step.map(Upgrade::name), age) {
        (None, None) => version.to_string(),
        (Some(about), None) | (None, Some(about)) => format!("{version} ({about})"),
        (Some(step), Some(age)) => format!("{version} ({step}, {age})"),
    }
}

fn state(state: VersionState) -> &'static str {
    match state {
        VersionState::UpToDate => "up to date",
        VersionState::Behind => "can be updated",
        VersionState::TooYoung => "too young",
        VersionState::HeldBack => "held back",
        VersionState::NotAllowed => "not allowed",
        VersionState::Conflict => "conflict",
        VersionState::NotLocked => "not locked",
        VersionState::NotVisible => "not visible",
        VersionState::NotRequired => "not required",
        VersionState::BuiltIn => "built in",
        VersionState::Overridden => "dev override",
        VersionState::Failed => "failed",
    }
}
