//! How `lockctl outdated` reads.

use crate::cli::Look;
use crate::cli::session::holding;
use crate::cli::session::unseen::some_of;
use crate::flavor::Flavor;
use crate::report::json::{ComparedProvider, Provider, VersionState};
use crate::report::{Block, RootResult, Tone, reading};
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

/// Shows what is not up to date, with `--verbose` everything, and how it came out.
pub(super) fn of_root(root: &RootResult, look: Look) -> Vec<Block> {
    let mut blocks = Vec::new();
    let compared = root.providers.iter().filter_map(|one| match one {
        Provider::Compared(one) => Some(&**one),
        _ => None,
    });
    let is_shown = |one: &&ComparedProvider| {
        look.verbose || !matches!(one.state, VersionState::UpToDate | VersionState::BuiltIn)
    };
    if let Some(flavor) = root.flavor {
        let rows = compared.filter(is_shown).map(|one| row(one, flavor));
        let rows: Vec<Vec<String>> = rows.collect();
        if !rows.is_empty() {
            let titles = TITLES.map(str::to_owned).to_vec();
            blocks.push(Block::Table(std::iter::once(titles).chain(rows).collect()));
        }
    }
    if look.markdown {
        // A comment has no standard error beside it.
        blocks.extend(root.failures().cloned().map(Block::Failure));
        if root.verdict.is_none() {
            let text = format!("{}: could not be compared", root.path);
            blocks.push(Block::Verdict(Tone::Bad, text));
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
