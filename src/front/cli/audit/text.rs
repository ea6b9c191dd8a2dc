//! The text of `lockctl audit`: each advisory once, the two lower levels as tables.

use std::collections::{BTreeMap, BTreeSet};

use crate::audit::GoVersion;
use crate::cli::Look;
use crate::cli::session::provider::naming;
use crate::diag::{counted, counted_as};
use crate::report::json::{
    AdvisoryRow, AdvisoryStatus, AuditedAdvisory, AuditedProvider, Provider,
};
use crate::report::shared::{MAX_ROOTS, first_names};
use crate::report::{CommandResult, RootResult, TextBlock, Tone};

/// The heads of the table of the lower levels.
const TITLES: [&str; 6] = ["LEVEL", "MODULE", "VERSION", "FIXED", "ADVISORIES", "IN"];

/// Number of lines that the table and the verdict need beside their rows.
const LINES_BESIDE: usize = 4;

/// Maximum number of lines of an advisory about a provider.
const LINES_PER_ADVISORY: usize = 5;

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
    let (own, lower): (Vec<Located<'_>>, Vec<Located<'_>>) = all
        .iter()
        .copied()
        .partition(|(_, _, found)| found.advisory.level == "provider");
    let mut blocks = Vec::new();
    let is_quiet = look.quiet && result.exit == 0;
    if !is_quiet {
        let by_advisory = grouped(own, |(_, _, found)| {
            (found.advisory.status, &found.advisory.id)
        });
        let most = match look.lines {
            Some(lines) if !look.verbose => (lines / 2 / LINES_PER_ADVISORY).max(1),
            _ => usize::MAX,
        };
        let hidden = by_advisory.len().saturating_sub(most);
        for members in by_advisory.into_values().take(most) {
            blocks.push(TextBlock::Lines(advisory(
                &members,
                roots.len(),
                look,
                &name,
            )));
        }
        if hidden > 0 {
            let text = format!("… and {} more (-v shows each)", counted_advisories(hidden));
            blocks.push(TextBlock::Lines(vec![text, String::new()]));
        }
        blocks.extend(lower_levels(lower, look, &name));
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

/// Shows an advisory about providers, with the providers, the roots and the route to a fixed version.
fn advisory(
    members: &[Located<'_>],
    of: usize,
    look: Look,
    name: &dyn Fn(&AuditedProvider) -> String,
) -> Vec<String> {
    let (_, _, AuditedAdvisory { advisory, .. }) = members[0];
    let mut names = vec![advisory.id.clone()];
    names.extend(advisory.aliases.iter().cloned());
    let mut lines = vec![format!("{}: {}", names.join(" "), advisory.summary)];
    // Roots rarely differ in their route to a fixed version, so each route has one line.
    let by_route = grouped(members.to_vec(), |(_, row, found)| {
        let excluded = found.constraint.clone();
        let fixed = found.advisory.fixed.clone();
        (name(row), fixed, excluded, found.command.is_some())
    });
    for ((provider, fixed, excluded, has_command), members) in by_route {
        let versions: BTreeSet<_> = members.iter().map(|(_, row, _)| &row.version).collect();
        let versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
        let mut line = format!(
            "  {provider} {}{}",
            versions.join(", "),
            place(&members, of, look)
        );
        if let Some(reason) = advisory.reason {
            line += &format!(": unknown, because {reason}");
        }
        lines.push(line);
        let Some(fixed) = fixed else {
            if advisory.status == AdvisoryStatus::Affected {
                lines.push("    no fixed version is known".to_owned());
            }
            continue;
        };
        let how = match (excluded, has_command) {
            (Some(constraint), _) => {
                let places: BTreeSet<_> = members
                    .iter()
                    .map(|(_, _, found)| &found.excluded_by)
                    .collect();
                let by = match places.first() {
                    Some(Some(by)) if places.len() == 1 => by,
                    _ => &constraint,
                };
                format!(", which {by} excludes")
            }
            (None, true) => {
                let roots: BTreeSet<&str> = members.iter().map(|(path, _, _)| *path).collect();
                let (_, _, found) = members[0];
                let command = if roots.len() > 1 {
                    &found.command_for_all
                } else {
                    &found.command
                };
                command
                    .as_ref()
                    .map_or_else(String::new, |command| format!(": `{command}`"))
            }
            (None, false) => String::new(),
        };
        lines.push(format!("    fixed in {fixed}{how}"));
    }
    lines.push(String::new());
    lines
}

/// Names the roots of some rows; empty if the run has one root only.
fn place(members: &[Located<'_>], of: usize, look: Look) -> String {
    let paths: BTreeSet<&str> = members.iter().map(|(path, _, _)| *path).collect();
    if of <= 1 {
        return String::new();
    }
    // `first_names` adds 1 to the number, which would overflow.
    let most = if look.verbose {
        usize::MAX - 1
    } else {
        MAX_ROOTS
    };
    let count = counted(paths.len(), "root");
    let names = paths.iter().map(|path| (*path).to_owned());
    format!(" in {count}: {}", first_names(names, most).join(", "))
}

/// Shows advisories about standard libraries and modules, each version once.
fn lower_levels(
    lower: Vec<Located<'_>>,
    look: Look,
    name: &dyn Fn(&AuditedProvider) -> String,
) -> Vec<TextBlock> {
    let groups = grouped(lower, |(_, _, found)| {
        let AdvisoryRow {
            level,
            module,
            module_version,
            ..
        } = &*found.advisory;
        // The standard library first: a newer version of Go fixes all its advisories.
        (*level != "stdlib", module, module_version)
    });
    if groups.is_empty() {
        return Vec::new();
    }
    let most = if look.verbose {
        groups.len()
    } else {
        look.rows(LINES_BESIDE + LINES_PER_ADVISORY)
    };
    let hidden = groups.len().saturating_sub(most);
    let mut table = vec![TITLES.map(str::to_owned).to_vec()];
    for ((is_module, module, version), members) in groups.into_iter().take(most) {
        let ids: BTreeSet<&str> = members
            .iter()
            .map(|(_, _, found)| &*found.advisory.id)
            .collect();
        let providers: BTreeSet<String> = members
            .iter()
            .map(|(_, row, _)| format!("{} {}", name(row), row.version))
            .collect();
        let fixed = members
            .iter()
            .filter_map(|(_, _, found)| GoVersion::parse(found.advisory.fixed.as_ref()?))
            .max();
        let shown = if look.verbose { usize::MAX - 1 } else { 1 };
        let ids = first_names(ids.into_iter().map(str::to_owned), shown);
        let most = if look.verbose { usize::MAX - 1 } else { 2 };
        table.push(vec![
            if is_module { "dependency" } else { "stdlib" }.to_owned(),
            module.clone(),
            version.clone(),
            fixed.map_or_else(|| "-".to_owned(), |fixed| fixed.to_string()),
            ids.join(", "),
            first_names(providers.into_iter().collect::<Vec<_>>().into_iter(), most).join(", "),
        ]);
    }
    let mut blocks = vec![TextBlock::Table(table)];
    let mut lines = Vec::new();
    if hidden > 0 {
        let rows = counted(hidden, "more row");
        lines.push(format!("… and {rows} (-v shows each)"));
    }
    lines.push(String::new());
    blocks.push(TextBlock::Lines(lines));
    blocks
}

/// Counts advisories and versions on each level; never states that a version is safe.
fn sentence<'r>(
    all: &[Located<'r>],
    every: impl Iterator<Item = &'r AuditedAdvisory>,
    releases: usize,
) -> String {
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

/// Groups rows by a key.
fn grouped<'r, K: Ord>(
    rows: Vec<Located<'r>>,
    key: impl Fn(&Located<'r>) -> K,
) -> BTreeMap<K, Vec<Located<'r>>> {
    let mut groups: BTreeMap<K, Vec<Located<'r>>> = BTreeMap::new();
    for row in rows {
        groups.entry(key(&row)).or_default().push(row);
    }
    groups
}
