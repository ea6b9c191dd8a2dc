//! How `lockctl outdated` reads.

use crate::cli::Look;
use crate::cli::session::holding;
use crate::diag::counted;
use crate::flavor::Flavor;
use crate::report::json::{ComparedProvider, Provider, RootStatus, VersionState};
use crate::report::reading::{self, Heading};
use crate::report::{CommandResult, RootResult, Sentence, TextBlock, Tone};
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

/// How a root compares as a whole, as it is counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    UpToDate,
    Behind,
    NotLocked,
    Failed,
}

impl Standing {
    /// In the order in which they are counted, with the words for each.
    const WORDS: [(Self, &str); 4] = [
        (Self::UpToDate, "up to date"),
        (Self::Behind, "behind"),
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
    let own = roots.iter().map(|root| of_root(root, look)).collect();
    let mut blocks = reading::each(roots, own, Heading::PathApart);
    let closing = reading::closing(result, counts(roots), look.verbose);
    blocks.extend(closing.map(reading::verdict));
    blocks
}

/// Counts roots by how they compare, as in `3 roots: 1 up to date, 2 behind`.
fn counts(roots: &[RootResult]) -> Sentence {
    let standings: Vec<Standing> = roots.iter().map(Standing::of).collect();
    let counts = Standing::WORDS.iter().filter_map(|(standing, word)| {
        let same = standings.iter().filter(|other| *other == standing);
        Some(same.count())
            .filter(|count| *count > 0)
            .map(|count| format!("{count} {word}"))
    });
    let counts: Vec<String> = counts.collect();
    let is_bad = |root: &RootResult| root.status != RootStatus::Clean;
    let tone = if roots.iter().any(is_bad) {
        Tone::Bad
    } else if standings.iter().all(|one| *one == Standing::UpToDate) {
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
    root.providers.iter().filter_map(|one| match one {
        Provider::Compared(one) => Some(&**one),
        _ => None,
    })
}

/// Shows what is not up to date, with `--verbose` everything, and how it came out.
fn of_root(root: &RootResult, look: Look) -> Vec<TextBlock> {
    let mut blocks = Vec::new();
    let is_shown = |one: &&ComparedProvider| {
        look.verbose || !matches!(one.state, VersionState::UpToDate | VersionState::BuiltIn)
    };
    if let Some(flavor) = root.flavor {
        let rows = compared(root).filter(is_shown).map(|one| row(one, flavor));
        let rows: Vec<Vec<String>> = rows.collect();
        if !rows.is_empty() {
            let titles = TITLES.map(str::to_owned).to_vec();
            blocks.push(TextBlock::Table(
                std::iter::once(titles).chain(rows).collect(),
            ));
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

fn row(one: &ComparedProvider, flavor: Flavor) -> Vec<String> {
    let places = one.held_by.iter().map(holding::in_words);
    vec![
        one.provider.short(flavor),
        version(one.locked.as_ref(), None, None),
        version(
            one.newest_allowed.as_ref(),
            one.allowed_step,
            one.allowed_age.as_deref(),
        ),
        version(one.newest.as_ref(), one.step, one.age.as_deref()),
        state(one).to_owned(),
        some_of(places).join(", "),
    ]
}

/// Shows a version, what leads there from the locked one, and when it was published.
fn version(version: Option<&Version>, step: Option<Upgrade>, age: Option<&str>) -> String {
    let Some(version) = version else {
        return "-".to_owned();
    };
    let about: Vec<&str> = step.map(Upgrade::name).into_iter().chain(age).collect();
    if about.is_empty() {
        version.to_string()
    } else {
        format!("{version} ({})", about.join(", "))
    }
}

fn state(one: &ComparedProvider) -> &'static str {
    match one.state {
        VersionState::UpToDate => "up to date",
        VersionState::Behind => "can be updated",
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
