//! The history of providers: a chart for each, and its changes as a table.

use std::collections::{BTreeMap, BTreeSet};

use super::chart::{self, LETTERS, MAX_LINES, RootChange, StepChart, WIDTH, key_change};
use super::markup::{Markup, tenths};
use super::overview::Overview;
use super::{names, table_head};
use crate::addr::ProviderAddr;
use crate::diag::counted;
use crate::report::json::{EntrySide, PastChange, Provider};
use crate::report::{CommandResult, Naming};

/// Maximum number of changes of a provider that are listed.
const MAX_ROWS: usize = 25;

/// Changes of a provider, each with the name of its root.
type NamedChanges<'a> = BTreeMap<&'a ProviderAddr, Vec<(String, &'a PastChange)>>;

/// Returns the changes of all roots, by provider; that of an address is one of both providers.
pub(super) fn changes<'a>(result: &'a CommandResult, place: Naming<'_>) -> NamedChanges<'a> {
    let mut changes = NamedChanges::new();
    for root in result.roots() {
        let name = place(root, &root.path);
        for row in &root.providers {
            let Provider::Changed(change) = row else {
                continue;
            };
            let providers: BTreeSet<&ProviderAddr> = [&change.old, &change.new]
                .into_iter()
                .flatten()
                .map(|side| &side.provider)
                .collect();
            for provider in providers {
                let of_provider = changes.entry(provider).or_default();
                of_provider.push((name.clone(), change));
            }
        }
    }
    changes
}

/// Adds the charts of the providers that are locked now.
pub(super) fn section(out: &mut Markup, overview: &Overview<'_>) {
    let history = overview.page.history;
    out.raw("<section aria-labelledby=\"history\">\n<h2 id=\"history\">History</h2>\n");
    let failures: BTreeSet<&str> = history
        .failures()
        .iter()
        .map(|(failure, _)| &*failure.title)
        .collect();
    for failure in failures {
        out.put("<p>{}</p>\n", &[&failure]);
    }
    let changes = changes(history, overview.page.place);
    if !overview
        .providers
        .iter()
        .any(|provider| changes.contains_key(provider))
    {
        out.raw("<p>No commit changed a provider that is locked now.</p>\n</section>\n");
        return;
    }
    out.raw("<p>A line is a group of roots that moved alike. Marks: ⇄ the address changed, K the signing key, ✖ hashes \
             were replaced, + and − hashes or platforms, ▼ the version went down.</p>\n");
    signing_keys(out, overview, &changes);
    for (column, provider) in overview.providers.iter().enumerate() {
        let Some(changes) = changes.get(provider) else {
            continue;
        };
        let changes: Vec<RootChange<'_>> = changes
            .iter()
            .map(|(root, change)| (&**root, *change))
            .collect();
        let (releases, end) = (overview.page.releases, overview.page.date);
        let Some(chart) = StepChart::of(provider, &changes, releases, end) else {
            continue;
        };
        let name = overview.name(provider);
        out.put(
            "<figure data-p=\"{}\">\n<figcaption>{}</figcaption>\n\
             <svg class=\"picture\" role=\"img\" viewBox=\"0 0 {} {}\" aria-label=\"{}\">",
            &[
                &column,
                &name,
                &WIDTH,
                &tenths(chart.height()),
                &chart.description(&name),
            ],
        );
        chart.draw(out);
        out.raw("</svg>\n");
        out.raw("<ul class=\"lines\">");
        for ((roots, _), letter) in chart.lines.iter().zip(LETTERS) {
            out.put("<li>{} ", &[&letter]);
            names(out, &counted(roots.len(), "root"), roots);
            out.raw("</li>");
        }
        let rest = chart.lines.len().saturating_sub(MAX_LINES);
        if rest > 0 {
            out.put("<li>grey: {}</li>", &[&counted(rest, "smaller group")]);
        }
        out.raw("</ul>\n");
        table(out, overview, &changes, &name);
        out.raw("</figure>\n");
    }
    out.raw("</section>\n");
}

/// Lists the commits that moved a provider to a release that another key signed, the newest first.
fn signing_keys(out: &mut Markup, overview: &Overview<'_>, changes: &NamedChanges<'_>) {
    let releases = overview.page.releases;
    let moves: BTreeSet<(&str, &str, String)> = changes
        .iter()
        .flat_map(|(provider, changes)| changes.iter().map(move |(_, change)| (provider, change)))
        .filter_map(|(provider, change)| {
            let key = key_change(change, releases)?;
            let text = format!("{}: {key}", overview.name(provider));
            Some((change.date.get(..10)?, change.commit.short(), text))
        })
        .collect();
    if moves.is_empty() {
        let known = releases
            .values()
            .filter(|known| !known.keys.is_empty())
            .count();
        let all = counted(releases.len(), "release");
        if known == 0 {
            out.put(
                "<p>The signing keys of {} are not known, so a change of keys could not be seen",
                &[&all],
            );
        } else {
            out.put(
                "<p>No signing key changed, as far as keys are known: those of {} of {}",
                &[&known, &all],
            );
        }
        out.raw(". <code>lockctl lock</code> keeps the key of each release that it fetches.</p>\n");
        return;
    }
    out.raw("<h3>Signing keys that changed</h3>\n<ul>");
    for (date, commit, text) in moves.iter().rev().take(MAX_ROWS) {
        out.put("<li>{}, <code>{}</code>, {}</li>", &[date, commit, text]);
    }
    out.raw("</ul>\n");
}

/// Adds the changes, those that one commit made alike in several roots together.
fn table(out: &mut Markup, overview: &Overview<'_>, changes: &[RootChange<'_>], name: &str) {
    let mut rows: BTreeMap<(usize, String), (&PastChange, Vec<&str>)> = BTreeMap::new();
    for (root, change) in changes {
        let text = description(overview, change);
        let row = rows
            .entry((change.newer_commits, text))
            .or_insert_with(|| (change, Vec::new()));
        row.1.push(root);
    }
    out.put(
        "<details><summary>{}</summary>",
        &[&counted(rows.len(), "change")],
    );
    let titles = ["Date", "Commit", "Author", "Change", "Roots"];
    table_head(out, &format!("Changes of {name}"), &titles);
    for ((_, text), (change, roots)) in rows.iter().take(MAX_ROWS) {
        out.put(
            "<tr><td>{}</td><td><code>{}</code></td><td>{}</td><td>{}</td><td>",
            &[
                &change.date.get(..10).unwrap_or_default(),
                &change.commit.short(),
                &change.author,
                text,
            ],
        );
        names(out, &counted(roots.len(), "root"), roots);
        out.raw("</td></tr>\n");
    }
    out.raw("</tbody></table></div>\n");
    if rows.len() > MAX_ROWS {
        out.put(
            "<p>These are the newest {}; <code>lockctl log</code> shows all.</p>",
            &[&MAX_ROWS],
        );
    }
    out.raw("</details>\n");
}

/// Says in words what changed.
fn description(overview: &Overview<'_>, change: &PastChange) -> String {
    let version = |side: &Option<EntrySide>| side.as_ref().map(|side| side.version.to_string());
    let versions = match (version(&change.old), version(&change.new)) {
        (Some(old), Some(new)) if old == new => new,
        (old, new) => {
            let dash = || "-".to_owned();
            format!(
                "{} → {}",
                old.unwrap_or_else(dash),
                new.unwrap_or_else(dash)
            )
        }
    };
    let mut text = versions;
    for kind in &change.kinds {
        text += &format!(", {}", kind.name());
    }
    if let Some(key) = key_change(change, overview.page.releases) {
        text += &format!("; {key}");
    }
    text
}

/// Draws the history of every provider of `log` as one SVG file.
#[must_use]
pub fn svg(
    result: &CommandResult,
    name: &dyn Fn(&ProviderAddr) -> String,
    place: Naming<'_>,
) -> String {
    let changes = changes(result, place);
    let (mut body, mut y) = (Markup::default(), 0.0);
    for (provider, changes) in &changes {
        let changes: Vec<RootChange<'_>> = changes
            .iter()
            .map(|(root, change)| (&**root, *change))
            .collect();
        let Some(chart) = StepChart::of(provider, &changes, &chart::Releases::new(), None) else {
            continue;
        };
        body.put(
            "<text class=\"title\" x=\"8\" y=\"{}\">{}</text><g transform=\"translate(0 {})\">",
            &[&tenths(y + 18.0), &name(provider), &tenths(y + 26.0)],
        );
        y += 26.0;
        chart.draw(&mut body);
        body.raw("</g>\n");
        y += chart.height();
        for ((roots, _), letter) in chart.lines.iter().zip(LETTERS) {
            let words = match &roots[..] {
                [only] => (*only).to_owned(),
                [first, rest @ ..] => format!("{first} and {} more", rest.len()),
                [] => String::new(),
            };
            y += 16.0;
            body.put(
                "<text x=\"84\" y=\"{}\">{} {}</text>",
                &[&tenths(y), &letter, &words],
            );
        }
        y += 14.0;
    }
    super::svg_file(&body, (WIDTH, y.max(20.0).ceil()), "History of providers")
}
