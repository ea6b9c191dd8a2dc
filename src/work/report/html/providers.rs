//! The providers: versions in use, constraints with their places, and what is known of each release.

use std::collections::{BTreeMap, BTreeSet};

use super::markup::Markup;
use super::overview::{Distance, LockCell, Overview};
use super::{ReportedRelease, names, table_head};
use crate::diag::counted;
use crate::package::calendar::{ago, day};
use crate::report::json::ShownProvider;
use crate::version::{Constraints, Version};

/// Maximum number of places of a constraint that are listed; more are counted.
const MAX_PLACES: usize = 8;

/// The name of a root with its entry and its cell.
type LockedEntry<'a> = (&'a str, &'a ShownProvider, LockCell<'a>);

/// Adds a part for each provider.
pub(super) fn section(out: &mut Markup, overview: &Overview<'_>) {
    out.raw("<section aria-labelledby=\"providers\">\n<h2 id=\"providers\">Providers</h2>\n");
    if overview.providers.is_empty() {
        out.raw("<p>No provider is locked.</p>\n");
    }
    for column in 0..overview.providers.len() {
        let provider = overview.providers[column];
        let name = overview.name(provider);
        out.put(
            "<article data-p=\"{}\" data-h=\"{}\">\n<h3 id=\"provider={}\">{}</h3>\n",
            &[&column, provider.hostname(), &name, &name],
        );
        let uses = constraint_uses(overview, column);
        let mut by_version: BTreeMap<&Version, Vec<LockedEntry<'_>>> = BTreeMap::new();
        for entry in overview.entries(column) {
            by_version.entry(&entry.1.version).or_default().push(entry);
        }
        let titles = [
            "Version",
            "Roots",
            "Held back by",
            "Distance",
            "Released",
            "Signed by",
            "Platforms",
            "Built with",
            "Advisories",
        ];
        table_head(out, &format!("Versions of {name}"), &titles);
        for (version, entries) in by_version.iter().rev() {
            version_row(out, overview, version, entries, &uses);
        }
        out.raw("</tbody></table></div>\n");
        constraints(out, overview, column, &name, &uses);
        out.raw("</article>\n");
    }
    out.raw("</section>\n");
}

fn version_row(
    out: &mut Markup,
    overview: &Overview<'_>,
    version: &Version,
    entries: &[LockedEntry<'_>],
    uses: &ConstraintUses<'_>,
) {
    let unknown = ReportedRelease::default();
    let known = overview.page.release(entries[0].1).unwrap_or(&unknown);
    let distance = entries.iter().map(|(_, _, cell)| cell.distance).max();
    out.put("<tr><th scope=\"row\">{}</th><td>", &[version]);
    let paths: Vec<&str> = entries.iter().map(|(root, ..)| *root).collect();
    names(out, &counted(paths.len(), "root"), &paths);
    out.put("</td><td>{}</td>", &[&held_back_by(uses, &paths, distance)]);
    if let Some(distance) = distance {
        out.put(
            "<td class={}>{}</td>",
            &[&distance.class(), &distance.words()],
        );
    }
    let released = match (known.date, overview.page.date) {
        (Some(date), Some(now)) => format!("{}, {}", day(date), ago(date, now)),
        (Some(date), None) => day(date),
        (None, _) => "unknown".to_owned(),
    };
    let counts = entries
        .iter()
        .map(|(_, entry, _)| entry.h1_count)
        .collect::<BTreeSet<usize>>()
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ");
    out.put(
        "<td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        &[
            &released,
            &or_unknown(&known.keys),
            &counts,
            &or_unknown(&known.builds),
            &known.advisories.join(", "),
        ],
    );
}

fn or_unknown(texts: &[String]) -> String {
    match texts {
        [] => "unknown".to_owned(),
        texts => texts.join(", "),
    }
}

/// Names the constraints of roots that exclude the newest version.
fn held_back_by(uses: &ConstraintUses<'_>, roots: &[&str], distance: Option<Distance>) -> String {
    if distance == Some(Distance::Newest) {
        return String::new();
    }
    let roots: BTreeSet<&str> = roots.iter().copied().collect();
    let own: Vec<(&str, &ConstraintUse<'_>)> = uses
        .iter()
        .filter(|(_, used)| used.roots.iter().any(|root| roots.contains(root)))
        .map(|(constraint, used)| (*constraint, used))
        .collect();
    // A lock file may have no configuration beside it, or none that is visible.
    if own.is_empty() {
        return "not known: no configuration was seen".to_owned();
    }
    let constraints: Vec<&str> = own
        .iter()
        .filter(|(_, used)| used.excludes_newest)
        .map(|(constraint, _)| *constraint)
        .collect();
    if constraints.is_empty() {
        return "no constraint: an update would move it".to_owned();
    }
    constraints.join("; ")
}

/// The uses of the constraints on a provider, by the text of the constraint.
type ConstraintUses<'a> = BTreeMap<&'a str, ConstraintUse<'a>>;

/// The places of a constraint, and the roots that they are in.
#[derive(Default)]
struct ConstraintUse<'a> {
    places: BTreeSet<String>,
    roots: Vec<&'a str>,
    excludes_newest: bool,
}

/// Collects the constraints in configuration.
fn constraint_uses<'a>(overview: &'a Overview<'_>, column: usize) -> ConstraintUses<'a> {
    let provider = overview.providers[column];
    let newest = overview.newest[provider];
    let mut uses = ConstraintUses::new();
    for row in &overview.roots {
        let name = &*row.name;
        let file = |path: &str| match row.result {
            Some(result) => (overview.page.place)(result, path),
            None => path.to_owned(),
        };
        for place in row
            .root
            .required
            .iter()
            .find(|row| row.provider == *provider)
            .iter()
            .flat_map(|row| &row.places)
        {
            let used = uses.entry(&place.constraints).or_default();
            let at = match place.line {
                Some(line) => format!("{}:{line}", file(&place.file)),
                None => file(&place.file),
            };
            used.places.insert(at);
            if used.roots.last() != Some(&name) {
                used.roots.push(name);
            }
            let constraints = Constraints::parse_config(&place.constraints);
            used.excludes_newest = constraints.is_ok_and(|own| !own.allows(newest));
        }
    }
    uses
}

/// Adds a table of the constraints in configuration.
fn constraints(
    out: &mut Markup,
    overview: &Overview<'_>,
    column: usize,
    subject: &str,
    uses: &ConstraintUses<'_>,
) {
    let newest = overview.newest[overview.providers[column]];
    if uses.is_empty() {
        return;
    }
    let titles = ["Constraint", "Roots", "Newest", "Written in"];
    table_head(out, &format!("Constraints of {subject}"), &titles);
    for (constraint, used) in uses {
        let constraint = if constraint.is_empty() {
            "any version"
        } else {
            constraint
        };
        out.put("<tr><th scope=\"row\">{}</th><td>", &[&constraint]);
        names(out, &counted(used.roots.len(), "root"), &used.roots);
        let effect = if used.excludes_newest {
            "holds back"
        } else {
            "allows"
        };
        out.put("</td><td>{} {}</td><td>", &[&effect, newest]);
        let places: Vec<&str> = used.places.iter().map(String::as_str).collect();
        let (shown, rest) = places.split_at(places.len().min(MAX_PLACES));
        let words = match rest.len() {
            0 => counted(places.len(), "place"),
            _ => format!("{} places, {MAX_PLACES} shown", places.len()),
        };
        names(out, &words, shown);
        out.raw("</td></tr>\n");
    }
    out.raw("</tbody></table></div>\n");
}
