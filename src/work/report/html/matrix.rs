//! The matrix of providers and roots: roots with equal lock states share a row.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::markup::Markup;
use super::names;
use super::overview::{Distance, LockCell, MARKS, Overview};
use crate::diag::counted;

/// The state of roots: their cells, and whether they have a lock file at all.
type LockState<'o, 'a> = (bool, &'o [Option<LockCell<'a>>]);

/// Adds the matrix with its legend and its filters.
pub(super) fn section(out: &mut Markup, overview: &Overview<'_>) {
    out.raw("<section aria-labelledby=\"matrix\">\n<h2 id=\"matrix\">Matrix</h2>\n");
    if overview.providers.is_empty() {
        out.raw("<p>No provider is locked.</p>\n</section>\n");
        return;
    }
    filters(out, overview);
    legend(out, overview);
    let mut states: BTreeMap<LockState<'_, '_>, Vec<usize>> = BTreeMap::new();
    for (at, (root, cells)) in overview.page.roots.iter().zip(&overview.cells).enumerate() {
        states.entry((root.is_locked, cells)).or_default().push(at);
    }
    let mut states = Vec::from_iter(states);
    states.sort_by_key(|(_, roots)| (Reverse(roots.len()), roots[0]));
    out.raw("<div class=\"scroll\" role=\"region\" aria-label=\"Providers and roots\" tabindex=\"0\">\n<table class=\"matrix sort\">\n<caption>")
        .text(&counted(overview.page.roots.len(), "root"))
        .raw(" in ")
        .text(&counted(states.len(), "row"))
        .raw(": roots with equal entries share a row</caption>\n<thead><tr><th scope=\"col\">Roots</th>");
    for provider in &overview.providers {
        let name = overview.name(provider);
        out.raw("<th scope=\"col\"><a href=\"#provider=")
            .text(&name)
            .raw("\">");
        // Lines break behind slashes.
        for (at, part) in name.split('/').enumerate() {
            if at > 0 {
                out.raw("/<wbr>");
            }
            out.text(part);
        }
        out.raw("</a></th>");
    }
    out.raw("</tr></thead>\n<tbody>\n");
    let constraints = constraints(overview);
    let rules = rules(overview);
    for ((is_locked, cells), roots) in &states {
        row(
            out,
            overview,
            (*is_locked, cells),
            roots,
            (&constraints, &rules),
        );
    }
    out.raw("</tbody>\n</table>\n</div>\n</section>\n");
}

/// Numbers of texts that rows are filtered by.
type Numbers<'n> = BTreeMap<String, usize>;

fn row(
    out: &mut Markup,
    overview: &Overview<'_>,
    (is_locked, cells): LockState<'_, '_>,
    roots: &[usize],
    (constraints, rules): (&Numbers<'_>, &Numbers<'_>),
) {
    let all = overview.page.roots;
    // Numbers in place of names: the filter of the page compares them, and 1,000 rows stay small.
    let own_constraints: BTreeSet<usize> = roots
        .iter()
        .flat_map(|at| &all[*at].locked)
        .filter_map(|entry| constraints.get(&constraint_name(overview, entry)).copied())
        .collect();
    let own_rules: BTreeSet<usize> = roots
        .iter()
        .filter_map(|at| overview.results[*at])
        .flat_map(|result| result.findings())
        .filter_map(|finding| rules.get(finding.diagnostic.code).copied())
        .collect();
    out.raw("<tr");
    numbers(out, "data-c", &own_constraints);
    numbers(out, "data-r", &own_rules);
    out.raw("><th scope=\"row\">");
    let paths: Vec<&str> = roots.iter().map(|at| &*overview.names[*at]).collect();
    let words = match &paths[..] {
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
        [] => String::new(),
    };
    names(out, &words, &paths);
    if !is_locked {
        out.raw(" <em>no lock file</em>");
    }
    out.raw("</th>");
    for cell in cells {
        match cell {
            None => {
                out.raw("<td>");
            }
            Some(cell) => {
                out.raw("<td class=")
                    .raw(cell.distance.class())
                    .raw(">")
                    .value(cell.version);
                for mark in cell.marks.iter() {
                    out.raw(" ").raw(mark.glyph);
                }
            }
        }
    }
    out.raw("\n");
}

fn numbers(out: &mut Markup, name: &'static str, numbers: &BTreeSet<usize>) {
    if !numbers.is_empty() {
        let numbers = numbers
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" ");
        out.attribute(name, &numbers);
    }
}

fn constraint_name(overview: &Overview<'_>, entry: &crate::report::json::ShownProvider) -> String {
    let name = overview.name(&entry.provider);
    if entry.constraints.is_empty() {
        format!("{name} any version")
    } else {
        format!("{name} {}", entry.constraints)
    }
}

/// Numbers the constraints of lock files.
fn constraints(overview: &Overview<'_>) -> Numbers<'static> {
    let names: BTreeSet<String> = overview
        .page
        .roots
        .iter()
        .flat_map(|root| &root.locked)
        .map(|entry| constraint_name(overview, entry))
        .collect();
    names.into_iter().zip(0..).collect()
}

/// Numbers the rules of findings.
pub(super) fn rules(overview: &Overview<'_>) -> Numbers<'static> {
    let names: BTreeSet<&str> = overview
        .page
        .checked
        .roots()
        .iter()
        .flat_map(|root| root.findings())
        .map(|finding| finding.diagnostic.code)
        .collect();
    names.into_iter().map(str::to_owned).zip(0..).collect()
}

/// Adds the controls of the script, which shows them.
fn filters(out: &mut Markup, overview: &Overview<'_>) {
    let mut providers: Vec<String> = overview
        .providers
        .iter()
        .map(|provider| overview.name(provider))
        .collect();
    let mut of_name: BTreeMap<String, usize> = BTreeMap::new();
    for provider in &overview.providers {
        let name = format!("{}/{}", provider.namespace(), provider.type_name());
        *of_name.entry(name).or_default() += 1;
    }
    // Behind those of the columns, which the script numbers by their places.
    providers.extend(
        of_name
            .into_iter()
            .filter(|(_, hosts)| *hosts > 1)
            .map(|(name, _)| name),
    );
    let hosts: BTreeSet<String> = overview
        .providers
        .iter()
        .map(|provider| provider.hostname().to_string())
        .collect();
    out.raw("<form id=\"filters\" hidden>\n");
    for (name, label, values) in [
        ("provider", "Provider", providers),
        ("host", "Host", hosts.into_iter().collect()),
        (
            "constraint",
            "Constraint",
            constraints(overview).into_keys().collect(),
        ),
        ("rule", "Rule", rules(overview).into_keys().collect()),
    ] {
        out.raw("<label>")
            .raw(label)
            .raw(" <select name=")
            .raw(name)
            .raw("><option value=\"\">all</option>");
        for value in values {
            out.raw("<option>").text(&value).raw("</option>");
        }
        out.raw("</select></label>\n");
    }
    out.raw("<button type=\"reset\">Show all</button> <output aria-live=\"polite\">all rows</output>\n</form>\n");
}

fn legend(out: &mut Markup, overview: &Overview<'_>) {
    out.raw("<ul class=\"legend\" aria-label=\"Legend\">");
    for distance in Distance::ALL {
        out.raw("<li><span class=")
            .raw(distance.class())
            .raw(">")
            .raw(distance.words())
            .raw("</span></li>");
    }
    let used = overview.marks();
    for mark in MARKS.iter().filter(|mark| used.contains(mark.glyph)) {
        out.raw("<li>")
            .raw(mark.glyph)
            .raw(" ")
            .raw(mark.words)
            .raw("</li>");
    }
    out.raw("</ul>\n");
}
