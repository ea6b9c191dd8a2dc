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
        out.raw("<details class=\"finding\"");
        out.attribute(
            "data-r",
            &rules
                .get(fold.rule)
                .map(ToString::to_string)
                .unwrap_or_default(),
        );
        out.attribute("data-p", &columns.join(" "));
        block(out, fold, &roots, providers.len());
    }
    out.raw("</section>\n");
}

fn block(out: &mut Markup, fold: &Fold, roots: &[RootRow<'_>], providers: usize) {
    out.raw("><summary><span class=\"")
        .raw(fold.severity.name())
        .raw("\">")
        .raw(fold.severity.name())
        .raw("</span> <code>")
        .text(fold.rule)
        .raw("</code> ")
        .text(&fold.title)
        .raw(" <small>")
        .text(&counted(fold.root_count(), "root"));
    if providers > 0 {
        out.raw(", ").text(&counted(providers, "provider"));
    }
    out.raw("</small></summary>\n");
    if let Some(help) = &fold.help {
        out.raw("<p>").prose(help).raw("</p>\n");
    }
    out.raw("<ul>\n");
    for at in fold.members.iter().take(MAX_MEMBERS) {
        let root = &roots[at.root];
        let finding = &root.findings[at.finding];
        out.raw("<li>")
            .text(finding.place().as_deref().unwrap_or(&root.path))
            .raw(" ")
            .text(&finding.title);
    }
    let more = fold.members.len().saturating_sub(MAX_MEMBERS);
    if more > 0 {
        out.raw("<li>and ")
            .value(more)
            .raw(" more; <code>lockctl verify -r -v</code> shows each");
    }
    out.raw("</ul>\n<p><code>lockctl explain ")
        .text(fold.rule)
        .raw("</code> says what it means.</p>\n</details>\n");
}
