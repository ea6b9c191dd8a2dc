//! The text of `lockctl mirror`: each release once, then how it came out.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::counted;
use crate::mirror::{MirrorExtent, MirroredPackage, MirroredState};
use crate::platform::Platform;
use crate::report::json::{MirroredProvider, Provider};
use crate::report::{Column, CommandResult, Look, RootNames, Row, Table, TextBlock, Tone};
use crate::run::progress;
use crate::run::provider::{self, or_dash};

const COLUMNS: &[Column] = &[
    Column::Key("PROVIDER"),
    Column::Key("VERSION"),
    Column::Key("PACKAGES"),
    Column::Key("SIZE"),
    Column::Key("STATE"),
    Column::Long("FROM"),
];

/// Shows each release that some root locks, and the sum of all.
pub(super) fn of_all(result: &CommandResult, extent: MirrorExtent, look: Look) -> Vec<TextBlock> {
    let roots = result.roots();
    let releases: BTreeMap<_, &MirroredProvider> = roots
        .iter()
        .flat_map(|root| &root.providers)
        .filter_map(|row| match row {
            Provider::Mirrored(row) => Some(((&row.provider, &row.version), row)),
            _ => None,
        })
        .collect();
    let rows: Vec<&MirroredProvider> = releases.into_values().collect();
    // The failures say all that there is to say.
    if rows.is_empty() && result.exit > 1 {
        return Vec::new();
    }
    // A run that fails would not place what is missing.
    let extent = if result.exit > 1 && extent == MirrorExtent::DryRun {
        MirrorExtent::Check
    } else {
        extent
    };
    let verdict = TextBlock::Verdict(Tone::of_exit(result.exit), sentence(&rows, extent));
    if look.quiet && roots.len() > 1 && !look.markdown {
        return if result.exit == 0 {
            Vec::new()
        } else {
            vec![verdict]
        };
    }
    // As in other commands: the short name, unless two registries are in play.
    let name = provider::naming(roots);
    // What changed comes first: of many releases most were there.
    let rows = rows
        .iter()
        .map(|row| (!row.is_new(), cells(row, name(&row.provider))));
    let table = Table::sorted(COLUMNS, rows).naming(RootNames::Hidden);
    let mut blocks = vec![TextBlock::Table(table)];
    blocks.push(verdict);
    if let Some(bundle) = &result.bundle {
        let mut text = format!(
            "bundled {}, {}, in {}",
            counted(bundle.packages, "package"),
            progress::size(bundle.bytes),
            bundle.path
        );
        if !bundle.changed {
            text += ", which is as it was";
        }
        if let Some(base) = &bundle.base {
            let left_out = counted(bundle.left_out, "package");
            text += &format!("; {left_out} left out since {}", base.path);
        }
        blocks.push(TextBlock::Lines(vec![text]));
    }
    blocks
}

fn cells(row: &MirroredProvider, name: String) -> Row {
    let cells = [
        name.into(),
        row.version.to_string().into(),
        platforms(row.packages.iter()).to_string().into(),
        size(&row.packages).into(),
        states(row).into(),
        places(&row.packages).into(),
    ];
    Row::new("", cells)
}

/// Counts the packages of a release; each may exist in two layouts.
fn platforms<'r>(packages: impl Iterator<Item = &'r MirroredPackage>) -> usize {
    let platforms: BTreeSet<&Platform> = packages.map(|package| &package.platform).collect();
    platforms.len()
}

/// Says how many packages there are in each state.
fn sentence(rows: &[&MirroredProvider], extent: MirrorExtent) -> String {
    let counted_packages = |is: &dyn Fn(&MirroredPackage) -> bool| {
        let count =
            |row: &&MirroredProvider| platforms(row.packages.iter().filter(|package| is(package)));
        match rows.iter().map(count).sum() {
            0 => None,
            packages => Some(counted(packages, "package")),
        }
    };
    let is_placed = |package: &MirroredPackage| {
        matches!(
            package.state,
            MirroredState::Placed | MirroredState::Replaced
        )
    };
    let mut parts = Vec::new();
    if let Some(packages) =
        counted_packages(&|package| is_placed(package) && package.from.is_some())
    {
        // The origin of the bytes matters if traffic is paid for.
        let mut by_place: BTreeMap<&str, u64> = BTreeMap::new();
        for package in rows.iter().flat_map(|row| &row.packages) {
            if let Some(from) = &package.from {
                *by_place.entry(from).or_default() += package.fetched_bytes.unwrap_or_default();
            }
        }
        let by_place: Vec<String> = by_place
            .into_iter()
            .map(|(place, bytes)| format!("{} from {place}", progress::size(bytes)))
            .collect();
        parts.push(format!("placed {packages} ({})", by_place.join(", ")));
    }
    if let Some(packages) =
        counted_packages(&|package| is_placed(package) && package.from.is_none())
    {
        parts.push(format!("unpacked {packages}"));
    }
    let has_rows = rows.iter().any(|row| !row.packages.is_empty());
    let kept = counted_packages(&|package| package.state == MirroredState::Kept);
    // Said even for no package at all: an empty sentence would look like a failure.
    if let Some(packages) = kept.or_else(|| (!has_rows).then(|| counted(0, "package"))) {
        parts.push(match extent {
            MirrorExtent::Place => format!("kept {packages}"),
            MirrorExtent::DryRun | MirrorExtent::Check => format!("{packages} as locked"),
        });
    }
    for (state, word) in [
        (MirroredState::Missing, "missing"),
        (MirroredState::Wrong, "wrong"),
    ] {
        if let Some(packages) = counted_packages(&|package| package.state == state) {
            parts.push(match extent {
                MirrorExtent::DryRun => format!("would place {packages} ({word})"),
                MirrorExtent::Place | MirrorExtent::Check => format!("{packages} {word}"),
            });
        }
    }
    parts.join(", ")
}

fn states(row: &MirroredProvider) -> String {
    let states: BTreeSet<MirroredState> =
        row.packages.iter().map(|package| package.state).collect();
    let words: Vec<&str> = states
        .into_iter()
        .map(|state| match state {
            MirroredState::Kept => "kept",
            MirroredState::Placed => "new",
            MirroredState::Replaced => "replaced",
            MirroredState::Missing => "missing",
            MirroredState::Wrong => "wrong",
        })
        .collect();
    or_dash(words.join(", "))
}

fn places(packages: &[MirroredPackage]) -> String {
    let places: BTreeSet<&str> = packages
        .iter()
        .filter_map(|package| package.from.as_deref())
        .collect();
    or_dash(places.into_iter().collect::<Vec<_>>().join(", "))
}

/// Shows the size of packages; that of packages which are not there yet is not known.
fn size(packages: &[MirroredPackage]) -> String {
    match packages.iter().filter_map(|package| package.bytes).sum() {
        0 => "-".to_owned(),
        bytes => progress::size(bytes),
    }
}
