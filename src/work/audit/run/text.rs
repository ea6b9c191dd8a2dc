//! The text of `lockctl audit`: each advisory once, the two lower levels as tables.

use std::collections::{BTreeMap, BTreeSet};

use crate::audit::GoVersion;
use crate::diag::{counted, counted_as};
use crate::report::json::{
    AdvisoryRow, AdvisoryStatus, AuditedAdvisory, AuditedProvider, Provider,
};
use crate::report::{
    Cell, Column, CommandResult, Look, RootNames, RootResult, Row, Table, TextBlock, Tone,
};
use crate::run::provider::naming;

/// The columns about providers themselves.
const PROVIDERS: &[Column] = &[
    Column::Key("ADVISORY"),
    Column::Key("PROVIDER"),
    Column::Joined("VERSION"),
    Column::Key("FIXED"),
    Column::Key("HOW"),
];

/// The columns about the lower levels.
const LOWER: &[Column] = &[
    Column::Key("LEVEL"),
    Column::Key("MODULE"),
    Column::Key("VERSION"),
    Column::Key("FIXED"),
    Column::Joined("ADVISORIES"),
    Column::Joined("IN"),
];

/// A row of a provider in a root, with the path of the root.
type Located<'r> = (&'r str, &'r AuditedProvider, &'r AuditedAdvisory);

/// Shows advisories about providers, then the lower levels, then the summary.
pub(super) fn of_all(result: &CommandResult, look: Look) -> Vec<TextBlock> {
    let roots = result.roots();
    // The failures explain why nothing was audited.
    if audited(roots).next().is_none() && result.exit > 1 {
        return Vec::new();
    }
    let all: Vec<Located<'_>> = audited(roots)
        .flat_map(|(path, row)| row.advisories.iter().map(move |found| (path, row, found)))
        .filter(|(_, _, found)| found.ignored.is_none())
        .collect();
    let name = naming(roots);
    let name = |row: &AuditedProvider| name(&row.provider);
    let is_quiet = look.quiet && result.exit == 0;
    let mut blocks = Vec::new();
    if !is_quiet {
        // Only advisories about providers have a row each: those about modules are counted.
        let (own, lower): (Vec<Located<'_>>, Vec<Located<'_>>) = all
            .iter()
            .copied()
            .partition(|(_, _, found)| found.advisory.level == "provider");
        let rows = own.iter().map(|found| advisory(found, roots.len(), &name));
        blocks.push(TextBlock::Table(Table::sorted(PROVIDERS, rows)));
        blocks.push(lower_levels(&lower, &name));
    }
    let releases: BTreeSet<_> = audited(roots)
        .map(|(_, row)| (&row.provider, &row.version))
        .collect();
    let verdict = sentence(
        &all,
        audited(roots).flat_map(|(_, row)| &row.advisories),
        releases.len(),
    );
    let tone = Tone::of_exit(result.exit);
    if !(is_quiet && roots.len() > 1) {
        blocks.push(TextBlock::Verdict(tone, verdict));
    }
    blocks
}

/// Iterates over the providers of all roots, each with the path of its root.
fn audited(roots: &[RootResult]) -> impl Iterator<Item = (&str, &AuditedProvider)> {
    roots.iter().flat_map(|root| {
        root.providers.iter().filter_map(|row| match row {
            Provider::Audited(row) => Some((root.path.as_str(), row)),
            _ => None,
        })
    })
}

/// Shows an advisory about a provider with the route to a fixed version.
fn advisory<'r>(
    (path, row, found): &Located<'r>,
    of: usize,
    name: &dyn Fn(&AuditedProvider) -> String,
) -> ((AdvisoryStatus, &'r str, String), Row) {
    let AdvisoryRow {
        id,
        aliases,
        status,
        reason,
        fixed,
        summary,
        ..
    } = &*found.advisory;
    // In words that roots share, where they are several.
    let (excluded, command) = if of > 1 {
        (&found.constraint, &found.command_for_all)
    } else {
        (&found.excluded_by, &found.command)
    };
    let how = match (fixed, excluded, command) {
        (_, Some(constraint), _) => format!("{constraint} excludes it"),
        (Some(_), None, Some(command)) => format!("`{command}`"),
        (None, ..) if *status == AdvisoryStatus::Affected => "no fixed version is known".to_owned(),
        _ => String::new(),
    };
    let unknown = reason.map(|reason| format!("unknown, because {reason}"));
    let how: Vec<String> = unknown
        .into_iter()
        .chain(Some(how).filter(|how| !how.is_empty()))
        .collect();
    let provider = name(row);
    let cells = [
        id.as_str().into(),
        provider.clone().into(),
        row.version.to_string().into(),
        Cell::or_dash(fixed.clone().unwrap_or_default()),
        how.into(),
    ];
    let names = match &**aliases {
        [] => String::new(),
        aliases => format!("{}: ", aliases.join(" ")),
    };
    let row = Row {
        details: vec![format!("{names}{summary}")],
        ..Row::new(path, cells)
    };
    ((*status, id, provider), row)
}

/// Shows advisories about standard libraries and modules, each version once.
fn lower_levels(lower: &[Located<'_>], name: &dyn Fn(&AuditedProvider) -> String) -> TextBlock {
    // The standard library first: a newer version of Go fixes all its advisories.
    let key = |row: &AdvisoryRow| {
        let AdvisoryRow {
            level,
            module,
            module_version,
            ..
        } = row;
        (*level != "stdlib", module.clone(), module_version.clone())
    };
    let mut newest: BTreeMap<_, GoVersion> = BTreeMap::new();
    for (_, _, found) in lower {
        let fixed = found.advisory.fixed.as_ref();
        if let Some(fixed) = fixed.and_then(|fixed| GoVersion::parse(fixed)) {
            let newest = newest
                .entry(key(&found.advisory))
                .or_insert_with(|| fixed.clone());
            *newest = fixed.max(newest.clone());
        }
    }
    let rows = lower.iter().map(|(path, row, found)| {
        let key = key(&found.advisory);
        let level = if key.0 { "dependency" } else { "stdlib" };
        let fixed = newest.get(&key).map(ToString::to_string);
        let cells = [
            level.into(),
            key.1.clone().into(),
            key.2.clone().into(),
            Cell::or_dash(fixed.unwrap_or_default()),
            found.advisory.id.as_str().into(),
            format!("{} {}", name(row), row.version).into(),
        ];
        (key, Row::new(path, cells))
    });
    TextBlock::Table(Table::sorted(LOWER, rows).naming(RootNames::Hidden))
}

/// Counts advisories and versions on each level; never states that a version is safe.
fn sentence<'r>(
    all: &[Located<'r>],
    every: impl Iterator<Item = &'r AuditedAdvisory>,
    releases: usize,
) -> String {
    if releases == 0 {
        return "no provider is locked, so nothing was compared".to_owned();
    }
    let versions = counted(releases, "provider version");
    let mut parts = Vec::new();
    for (level, what) in [
        ("provider", "about providers"),
        ("stdlib", "about the standard library"),
        ("dependency", "about modules"),
    ] {
        let affected: Vec<&Located<'_>> = all
            .iter()
            .filter(|(_, _, found)| {
                found.advisory.level == level && found.advisory.status == AdvisoryStatus::Affected
            })
            .collect();
        let ids = identifiers(affected.iter().map(|(_, _, found)| *found));
        // Many roots lock the same release, which counts once.
        let concerned: BTreeSet<_> = affected
            .iter()
            .map(|(_, row, _)| (&row.provider, &row.version))
            .collect();
        if !ids.is_empty() {
            let verb = if ids.len() == 1 {
                "concerns"
            } else {
                "concern"
            };
            let count = counted_advisories(ids.len());
            parts.push(format!(
                "{count} {what} {verb} {} of {versions}",
                concerned.len()
            ));
        }
    }
    if parts.is_empty() {
        parts.push(format!("no advisory is known to concern {versions}"));
    }
    let unknown = identifiers(
        all.iter()
            .map(|(_, _, found)| *found)
            .filter(|found| found.advisory.status == AdvisoryStatus::Unknown),
    );
    if !unknown.is_empty() {
        parts.push(format!("{} unknown", counted_advisories(unknown.len())));
    }
    let ignored = identifiers(every.filter(|found| found.ignored.is_some()));
    if !ignored.is_empty() {
        parts.push(format!(
            "{} ignored by the project file",
            counted_advisories(ignored.len())
        ));
    }
    parts.join("; ")
}

/// Returns the advisories of some rows, each once, regardless of the number of roots and providers.
fn identifiers<'r>(found: impl Iterator<Item = &'r AuditedAdvisory>) -> BTreeSet<&'r str> {
    found.map(|found| &*found.advisory.id).collect()
}

fn counted_advisories(count: usize) -> String {
    counted_as(count, "advisory", "advisories")
}
