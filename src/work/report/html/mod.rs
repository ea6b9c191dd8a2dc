//! A whole run as one HTML page: no other file is needed, and no script to read it.
//!
//! Sections are made from the results of `verify`, `show`, `why`, `outdated` and `log`; nothing is looked up here. The
//! same input gives the same bytes: ages count from [`ReportPage::date`].

mod chart;
mod findings;
mod graph;
mod history;
mod markup;
mod matrix;
mod overview;
mod providers;

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use crate::addr::ProviderAddr;
use crate::diag::counted;
use crate::hash::Hash;
use crate::package::calendar::day;
use crate::report::graph::Graph;
use crate::report::json::{ExplainedProvider, ShownProvider};
use crate::report::{CommandResult, Naming};
use crate::version::Version;

pub use history::svg as history_svg;
use markup::Markup;
use overview::Overview;

/// The input of a page.
pub struct ReportPage<'a> {
    /// The heading of the page.
    pub title: &'a str,
    /// The date of the newest commit, or the stated one.
    pub date: Option<SystemTime>,
    /// The result of `verify`.
    pub checked: &'a CommandResult,
    /// The roots of the run, in its order.
    pub roots: &'a [ReportedRoot],
    /// The properties of the locked releases, as far as they are known.
    pub releases: &'a BTreeMap<(ProviderAddr, Version), ReportedRelease>,
    /// The recorded `h1:` that rest on signed facts of other machines.
    pub attested: &'a BTreeSet<Hash>,
    /// The result of `outdated`, if registries were asked.
    pub compared: Option<&'a CommandResult>,
    /// The result of `log`.
    pub history: &'a CommandResult,
    /// Graphs of single roots or providers, each with its subject.
    pub graphs: &'a [(String, Graph)],
    /// Names a provider as short as the roots allow.
    pub name: &'a dyn Fn(&ProviderAddr) -> String,
    /// Names a path of a root from the top of its repository.
    pub place: Naming<'a>,
}

/// A root with what it locks and requires.
#[derive(Clone, Debug)]
pub struct ReportedRoot {
    /// The directory, as the result of `verify` names it.
    pub path: String,
    /// There is a lock file.
    pub is_locked: bool,
    /// The entries of the lock file.
    pub locked: Vec<ShownProvider>,
    /// The providers that the configuration requires, with the places.
    pub required: Vec<ExplainedProvider>,
}

/// The properties of a release that facts and advisories of this machine show.
#[derive(Clone, Debug, Default)]
pub struct ReportedRelease {
    /// The identifiers of the keys that signed it, in words.
    pub keys: Vec<String>,
    /// The latest date that is known of it.
    pub date: Option<SystemTime>,
    /// The versions of Go that built it.
    pub builds: Vec<String>,
    /// The advisories about it.
    pub advisories: Vec<String>,
}

const STYLE: &str = include_str!("page.css");
/// The style of pictures, also of those in a file of their own.
const PICTURE_STYLE: &str = include_str!("picture.css");
const SCRIPT: &str = include_str!("page.js");
/// The digest of the script, which alone may run.
const SCRIPT_DIGEST: &str = "sha256-vMJENIAdy/jCJGA+sNrlZ7JDvDf4/icib5vsci8bps4=";

impl ReportPage<'_> {
    fn release(&self, entry: &ShownProvider) -> Option<&ReportedRelease> {
        self.releases
            .get(&(entry.provider.clone(), entry.version.clone()))
    }

    /// Returns whether a signed list, a fact or a package shows something about an entry.
    fn is_proven(&self, entry: &ShownProvider) -> bool {
        entry.platforms.is_some()
            || self
                .release(entry)
                .is_some_and(|known| !known.keys.is_empty())
    }

    fn is_attested(&self, entry: &ShownProvider) -> bool {
        entry
            .hashes
            .iter()
            .any(|shown| self.attested.contains(&shown.hash))
    }
}

/// Renders a page as HTML.
#[must_use]
pub fn render(page: &ReportPage<'_>) -> String {
    let overview = Overview::of(page);
    let mut out = Markup::default();
    out.put(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src '{}'\">\n<title>{}</title>\n<style>\n",
        &[&SCRIPT_DIGEST, &page.title],
    );
    out.raw(STYLE).raw(PICTURE_STYLE).put(
        "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#matrix\">Skip to the matrix</a>\n<header>\n\
         <h1>{}</h1>\n<p>",
        &[&page.title],
    );
    match page.date {
        Some(date) => out.put("As of {}, the date of the newest commit. ", &[&day(date)]),
        None => out.raw("No commit and no date is known. "),
    };
    out.put(
        "Made by lockctl {}.</p>\n<nav aria-label=\"Sections\"><ul>",
        &[&env!("CARGO_PKG_VERSION")],
    );
    for (id, name) in [
        ("matrix", "Matrix"),
        ("providers", "Providers"),
        ("findings", "Findings"),
        ("history", "History"),
        ("graphs", "Graphs"),
    ] {
        out.put("<li><a href=\"#{}\">{}</a></li>", &[&id, &name]);
    }
    out.raw("</ul></nav>\n</header>\n<main>\n");
    summary(&mut out, &overview);
    matrix::section(&mut out, &overview);
    providers::section(&mut out, &overview);
    findings::section(&mut out, &overview);
    history::section(&mut out, &overview);
    graph::section(&mut out, page.graphs);
    out.raw("</main>\n<script>")
        .raw(SCRIPT)
        .raw("</script>\n</body>\n</html>\n");
    out.into_text()
}

/// Adds the numbers that people look for first.
fn summary(out: &mut Markup, overview: &Overview<'_>) {
    let page = overview.page;
    let roots = page.roots;
    let count = |is_counted: &dyn Fn(&ReportedRoot) -> bool| {
        roots.iter().filter(|root| is_counted(root)).count()
    };
    let versions: usize = (0..overview.providers.len())
        .map(|column| {
            let versions = overview.entries(column).map(|(_, entry, _)| &entry.version);
            versions.collect::<BTreeSet<_>>().len()
        })
        .sum();
    let major = overview
        .cells()
        .filter(|cell| cell.distance >= overview::Distance::Major)
        .count();
    let single = count(&|root| root.locked.iter().any(|entry| entry.h1_count == 1));
    let unlocked = count(&|root| !root.is_locked);
    let advisories = overview
        .cells()
        .filter(|cell| cell.marks.has_advisory())
        .count();
    out.raw("<section aria-labelledby=\"summary\">\n<h2 id=\"summary\">Summary</h2>\n<ul class=\"tiles\">\n");
    for (number, [singular, plural], rest) in [
        (roots.len(), ["root", "roots"], ""),
        (overview.providers.len(), ["provider", "providers"], ""),
        (versions, ["locked version", "locked versions"], ""),
        (unlocked, ["root", "roots"], " without a lock file"),
        (
            single,
            ["root", "roots"],
            " with an entry for one platform only",
        ),
        (overview.cells().count(), ["entry", "entries"], ""),
        (major, ["entry", "entries"], " a major version behind"),
        (advisories, ["entry", "entries"], " with an advisory"),
    ] {
        let noun = if number == 1 { singular } else { plural };
        out.put("<li><b>{}</b> {}{}</li>\n", &[&number, &noun, &rest]);
    }
    out.raw("</ul>\n<p>");
    let distance = if page.compared.is_some() {
        "Shades show the distance to the newest version that the constraints of the root allow."
    } else {
        "Shades show the distance to the newest version that any root locks; with <code>--upstream</code>, to the \
         newest that the constraints of the root allow."
    };
    out.raw(distance).raw("</p>\n");
    outcome(out, page.checked);
    out.raw("</section>\n");
}

/// Adds the reasons why roots could not be checked, and what concerns all of them.
fn outcome(out: &mut Markup, checked: &CommandResult) {
    for (failure, of) in checked.failures() {
        out.put("<p class=\"failure\">{}", &[&failure.title]);
        for cause in &failure.causes {
            out.put(": {}", &[cause]);
        }
        out.put(" ({})</p>\n", &[&counted(of.len(), "root")]);
    }
    for remark in &checked.remarks {
        out.raw("<p class=\"remark\">")
            .prose(&remark.text)
            .raw("</p>\n");
    }
}

/// Draws a graph as an SVG file.
#[must_use]
pub fn graph_svg(graph: &Graph) -> String {
    let (picture, size) = graph::draw(graph);
    svg_file(&picture, size, "Graph of modules and providers")
}

/// Makes a file of a picture with this width and height, in pixels.
fn svg_file(body: &Markup, (width, height): (f64, f64), title: &str) -> String {
    let mut out = Markup::default();
    out.put(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"picture\" role=\"img\" viewBox=\"0 0 {} {}\" \
         width=\"{}\" height=\"{}\">\n<title>{}</title>\n<style>",
        &[&width, &height, &width, &height, &title],
    );
    out.raw(PICTURE_STYLE)
        .raw("</style>\n")
        .add(body)
        .raw("</svg>\n");
    out.into_text()
}

/// Begins a table that scrolls where a window is narrow, up to its first row.
fn table_head(out: &mut Markup, name: &str, titles: &[&str]) {
    out.put(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table class=\"sort\">\n<thead><tr>",
        &[&name],
    );
    for title in titles {
        out.put("<th scope=\"col\">{}</th>", &[title]);
    }
    out.raw("</tr></thead>\n<tbody>\n");
}

/// Adds names as a list that opens.
fn names(out: &mut Markup, words: &str, names: &[&str]) {
    match names {
        [] => {}
        [only] => {
            out.text(only);
        }
        several => {
            out.put("<details><summary>{}</summary><ul>", &[&words]);
            for name in several {
                out.put("<li>{}", &[name]);
            }
            out.raw("</ul></details>");
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use sha2::{Digest as _, Sha256};

    use super::*;

    /// Returns the contrast of two colours as WCAG 2.2 defines it.
    fn contrast(a: &str, b: &str) -> f64 {
        let luminance = |color: &str| {
            let digits = color.trim_start_matches('#');
            let digits = match digits.len() {
                3 => digits.chars().flat_map(|c| [c, c]).collect(),
                _ => digits.to_owned(),
            };
            let part = |at: usize| {
                let value = u8::from_str_radix(&digits[at..at + 2], 16).expect("a colour");
                let value = f64::from(value) / 255.0;
                if value <= 0.04045 {
                    value / 12.92
                } else {
                    ((value + 0.055) / 1.055).powf(2.4)
                }
            };
            0.2126 * part(0) + 0.7152 * part(2) + 0.0722 * part(4)
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// Returns the colours of each block of variables in a style: light, dark, print.
    fn colors(style: &'static str) -> Vec<BTreeMap<&'static str, &'static str>> {
        style
            .split('{')
            .filter(|block| block.contains("--ink:"))
            .map(|block| {
                let (block, _) = block.split_once('}').expect("a block ends");
                let settings = block
                    .split(';')
                    .filter_map(|setting| setting.trim().split_once(": "));
                settings
                    .filter(|(name, _)| name.starts_with("--"))
                    .map(|(name, color)| (name, color.trim()))
                    .collect()
            })
            .collect()
    }

    #[test]
    fn text_can_be_read_in_every_theme() {
        let (page, picture) = (colors(STYLE), colors(PICTURE_STYLE));
        assert_eq!([page.len(), picture.len()], [3, 3]);
        for (theme, colors) in page.iter().enumerate() {
            for shade in ["--page", "--box", "--d0", "--d1", "--d2", "--d3", "--d4"] {
                let ratio = contrast(colors["--ink"], colors[shade]);
                assert!(ratio >= 4.5, "theme {theme}: ink on {shade}: {ratio:.2}");
            }
            for ink in ["--soft", "--link", "--bad", "--warn", "--note"] {
                let ratio = contrast(colors[ink], colors["--page"]);
                assert!(ratio >= 4.5, "theme {theme}: {ink}: {ratio:.2}");
            }
        }
        for (theme, colors) in picture.iter().enumerate() {
            for ink in [
                "--ink", "--bad", "--c0", "--c1", "--c2", "--c3", "--c4", "--c5", "--rest",
            ] {
                let ratio = contrast(colors[ink], colors["--page"]);
                assert!(ratio >= 4.5, "picture, theme {theme}: {ink}: {ratio:.2}");
            }
        }
    }

    #[test]
    fn only_our_script_may_run() {
        let digest = STANDARD.encode(Sha256::digest(SCRIPT));
        assert_eq!(SCRIPT_DIGEST, format!("sha256-{digest}"));
        assert!(SCRIPT.len() < 15_000);
        assert!(!SCRIPT.contains("</script") && !STYLE.contains("</style"));
    }
}
