//! The findings of `verify`, those of one cause together.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::markup::Markup;
use super::matrix;
use super::overview::Overview;
use crate::diag::counted;
use crate::report::RootRow;
use crate::report::fold::{Fold, folds};

/// Maximum number of findings of one cause that are listed; more are counted.
const MAX_MEMBERS: usize = 100;

/// Adds a part for each cause, the worst first.
pub(super) fn section(out: &mut Markup, overview: &Overview<'_>) {
    out.raw("<section aria-labelledby=\"findings\">\n<h2 id=\"findings\">Findings</h2>\n");
    let checked = overview.page.checked;
    let roots: Vec<RootRow<'_>> = checked
        .roots()
        .iter()
        .map(|root| RootRow::of(root, &checked.texts, overview.page.place))
        .collect();
    let mut folds = folds(&roots, &|_| true);
    folds.sort_by_key(|fold| Reverse((fold.severity, fold.root_count())));
    if folds.is_empty() {
        out.raw("<p>Nothing was found.</p>\n");
    }
    let rules = matrix::rules(overview);
    for fold in &folds {
        let providers: BTreeSet<&str> = fold
            .members
            .iter()
            .filter_map(|at| roots[at.root].findings[at.finding].provider.as_deref())
            .collect();
        let columns: Vec<String> = overview
            .providers
            .iter()
            .enumerate()
            .filter(|(_, provider)| providers.contains(&*provider.to_string()))
            .map(|(column, _)| column.to_string())
            .collect();
        let rule = rules.get(fold.rule).map(ToString::to_string);
        out.put(
            "<details class=\"finding\" data-r=\"{}\" data-p=\"{}\">",
            &[&rule.unwrap_or_default(), &columns.join(" ")],
        );
        block(out, fold, &roots, providers.len());
    }
    out.raw("</section>\n");
}

fn block(out: &mut Markup, fold: &Fold, roots: &[RootRow<'_>], providers: usize) {
    let severity = fold.severity.name();
    out.put(
        "<summary><span class=\"{}\">{}</span> <code>{}</code> {} <small>{}",
        &[
            &severity,
            &severity,
            &fold.rule,
            &fold.title,
            &counted(fold.root_count(), "root"),
        ],
    );
    if providers > 0 {
        out.put(", {}", &[&counted(providers, "provider")]);
    }
    out.raw("</small></summary>\n");
    if let Some(help) = &fold.help {
        out.raw("<p>").prose(help).raw("</p>\n");
    }
    out.raw("<ul>\n");
    for at in fold.members.iter().take(MAX_MEMBERS) {
        let root = &roots[at.root];
        let finding = &root.findings[at.finding];
        let place = finding.place();
        let place = place.as_deref().unwrap_or(&root.path);
        out.put("<li>{} {}", &[&place, &finding.title]);
    }
    let more = fold.members.len().saturating_sub(MAX_MEMBERS);
    if more > 0 {
        out.put(
            "<li>and {} more; <code>lockctl verify -r -v</code> shows each",
            &[&more],
        );
    }
    out.put(
        "</ul>\n<p><code>lockctl explain {}</code> says what it means.</p>\n</details>\n",
        &[&fold.rule],
    );
}
