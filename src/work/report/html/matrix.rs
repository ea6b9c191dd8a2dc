//! The matrix of providers and roots: roots with equal lock states share a row.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::markup::Markup;
use super::names;
use super::overview::{Distance, MARKS, Overview, OverviewRoot};
use crate::diag::counted;
use crate::report::groups::grouped;

/// Adds the matrix with its legend and its filters.
pub(super) fn section(out: &mut Markup, overview: &Overview<'_>) {
    out.raw("<section aria-labelledby=\"matrix\">\n<h2 id=\"matrix\">Matrix</h2>\n");
    if overview.providers.is_empty() {
        out.raw("<p>No provider is locked.</p>\n</section>\n");
        return;
    }
    filters(out, overview);
    out.raw("<ul class=\"legend\" aria-label=\"Legend\">");
    for distance in Distance::ALL {
        out.put(
            "<li><span class={}>{}</span></li>",
            &[&distance.class(), &distance.words()],
        );
    }
    let used = overview.marks();
    for mark in MARKS.iter().filter(|mark| used.contains(mark.glyph)) {
        out.put("<li>{} {}</li>", &[&mark.glyph, &mark.words]);
    }
    out.raw("</ul>\n");
    let states = overview
        .roots
        .iter()
        .map(|row| ((row.root.is_locked, &row.cells), row));
    let mut states = grouped(states);
    // The sort is stable: of as many roots the first come first.
    states.sort_by_key(|(_, roots)| Reverse(roots.len()));
    out.put(
        "<div class=\"scroll\" role=\"region\" aria-label=\"Providers and roots\" tabindex=\"0\">\n\
         <table class=\"matrix sort\">\n<caption>{} in {}: roots with equal entries share a row</caption>\n\
         <thead><tr><th scope=\"col\">Roots</th>",
        &[
            &counted(overview.page.roots.len(), "root"),
            &counted(states.len(), "row"),
        ],
    );
    for provider in &overview.providers {
        let name = overview.name(provider);
        out.put("<th scope=\"col\"><a href=\"#provider={}\">", &[&name]);
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
    for (_, roots) in &states {
        row(out, overview, roots, &constraints, &rules);
    }
    out.raw("</tbody>\n</table>\n</div>\n</section>\n");
}

/// Numbers of texts that rows are filtered by.
type Numbers = BTreeMap<String, usize>;

fn row(
    out: &mut Markup,
    overview: &Overview<'_>,
    roots: &[&OverviewRoot<'_>],
    constraints: &Numbers,
    rules: &Numbers,
) {
    // Numbers in place of names: the filter of the page compares them, and 1,000 rows stay small.
    let own_constraints: BTreeSet<usize> = roots
        .iter()
        .flat_map(|row| &row.root.locked)
        .filter_map(|entry| constraints.get(&constraint_name(overview, entry)).copied())
        .collect();
    let own_rules: BTreeSet<usize> = roots
        .iter()
        .filter_map(|row| row.result)
        .flat_map(|result| result.findings())
        .filter_map(|finding| rules.get(finding.diagnostic.code).copied())
        .collect();
    out.raw("<tr");
    numbers(out, " data-c=\"{}\"", &own_constraints);
    numbers(out, " data-r=\"{}\"", &own_rules);
    out.raw("><th scope=\"row\">");
    let paths: Vec<&str> = roots.iter().map(|row| &*row.name).collect();
    let words = match &paths[..] {
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
        [] => String::new(),
    };
    names(out, &words, &paths);
    if !roots[0].root.is_locked {
        out.raw(" <em>no lock file</em>");
    }
    out.raw("</th>");
    for cell in &roots[0].cells {
        match cell {
            None => {
                out.raw("<td>");
            }
            Some(cell) => {
                out.put("<td class={}>{}", &[&cell.distance.class(), cell.version]);
                for mark in cell.marks.iter() {
                    out.put(" {}", &[&mark.glyph]);
                }
            }
        }
    }
    out.raw("\n");
}

fn numbers(out: &mut Markup, attribute: &'static str, numbers: &BTreeSet<usize>) {
    if !numbers.is_empty() {
        let numbers = numbers
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" ");
        out.put(attribute, &[&numbers]);
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
fn constraints(overview: &Overview<'_>) -> Numbers {
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
pub(super) fn rules(overview: &Overview<'_>) -> Numbers {
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
        out.put(
            "<label>{} <select name={}><option value=\"\">all</option>",
            &[&label, &name],
        );
        for value in values {
            out.put("<option>{}</option>", &[&value]);
        }
        out.raw("</select></label>\n");
    }
    out.raw("<button type=\"reset\">Show all</button> <output aria-live=\"polite\">all rows</output>\n</form>\n");
}
