//! The result of a check, for the summary of a job or the comment of a pull request.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::room::height;
use super::screen::screen;
use super::text::{code, escaped, fenced};
use crate::diag::{self, Counts, Severity, counted, counted_as};
use crate::report::fold::{self, FindingIndex, Fold};
use crate::report::groups::grouped;
use crate::report::rows::FindingRow;
use crate::report::{Checked, Failure, RootRow, RootStatus};

/// Maximum size of the text, in bytes: a comment on GitHub holds 65,536 characters, and it may
/// hold other text beside this.
pub(super) const MAX_BYTES: usize = 60_000;

/// Bytes of that which are kept for the line that says what was left out.
pub(super) const RESERVE_BYTES: usize = 200;

/// Maximum number of characters of foreign text in one cell.
const MAX_CELL: usize = 400;

/// Maximum number of findings of one cause that a row names.
const MAX_MEMBERS: usize = 5;

/// Maximum number of roots whose own findings are not folded.
const MAX_OPEN_ROOTS: usize = 5;

/// Maximum number of names in one line.
const MAX_NAMES: usize = 20;

/// Writes the verdict, what several roots have in common as a table, then for each root its failures,
/// and its own errors and warnings as a table. Findings of one cause share a row. Advice, the roots of
/// a row, the notes of all roots and the names of clean ones are folded.
///
/// Where all would be too long, tables go before what is folded, and the last line says what is
/// missing. What has more lines than are stated has one row for each cause, with some of its roots.
///
/// # Errors
/// What the writer says.
pub fn checks(out: &mut dyn Write, checked: &Checked<'_>, lines: Option<usize>) -> io::Result<()> {
    let mut text = Vec::new();
    whole(&mut text, checked)?;
    let height = height(&String::from_utf8_lossy(&text));
    match lines.filter(|lines| height > *lines) {
        Some(lines) => screen(out, checked, lines),
        None => out.write_all(&text),
    }
}

/// Writes all that a comment holds.
fn whole(out: &mut dyn Write, checked: &Checked<'_>) -> io::Result<()> {
    let verdict = verdict(checked);
    let clean = clean(&checked.roots, MAX_NAMES);
    let shared_failures = shared_failures(&checked.roots);
    let mut page = Page {
        roots: &checked.roots,
        shared_failures: shared_failures
            .iter()
            .map(|(failure, _)| *failure)
            .collect(),
        room: MAX_BYTES - RESERVE_BYTES - verdict.len() - clean.len(),
        findings_left_out: 0,
        advice_left_out: 0,
    };
    let mut folds = fold::folds(&checked.roots, &|_| true);
    folds.sort_by_key(|fold| Reverse(fold.severity));
    let (notes, folds): (Vec<Fold>, Vec<Fold>) = folds
        .into_iter()
        .partition(|fold| fold.severity == Severity::Note);
    let (own, shared): (Vec<&Fold>, Vec<&Fold>) =
        folds.iter().partition(|fold| fold.root_count() == 1);
    let mut by_root: BTreeMap<usize, Vec<&Fold>> = BTreeMap::new();
    for fold in own {
        by_root.entry(fold.members[0].root).or_default().push(fold);
    }
    let failures: String = shared_failures
        .iter()
        .map(|(failure, roots)| {
            let names = listed(roots.iter().copied(), MAX_NAMES);
            page.failure(failure, &format!("in {} roots: {names}", roots.len()))
        })
        .collect();
    // These take their room first, although what roots share is written before them.
    let tables: Vec<(String, Vec<&Fold>)> = (0..checked.roots.len())
        .map(|at| page.table(at, by_root.remove(&at).unwrap_or_default()))
        .filter(|(table, _)| !table.is_empty())
        .collect();
    let own = format!("{} roots with findings of their own", tables.len());
    let folded = page.open(&own, tables.len() > MAX_OPEN_ROOTS);
    writeln!(out, "{verdict}")?;
    write!(
        out,
        "{}{failures}{}{}{}",
        page.shared(&shared),
        page.advice(&shared),
        page.places(&shared),
        folded.as_deref().unwrap_or_default()
    )?;
    for (table, folds) in tables {
        write!(out, "{table}{}", page.advice(&folds))?;
    }
    if folded.is_some() {
        write!(out, "{CLOSE}")?;
    }
    write!(out, "{}{clean}{}", page.notes(&notes), page.left_out())
}

/// Says how all roots came out, as the first line.
pub(super) fn verdict(checked: &Checked<'_>) -> String {
    let verdict = format!("lockctl {}: {}", checked.command, checked.verdict());
    match checked.exit {
        0 => format!("{verdict}\n"),
        _ => format!("**{verdict}**\n"),
    }
}

/// Returns the failures that several roots have, with the paths of the roots.
fn shared_failures<'a>(roots: &'a [RootRow<'_>]) -> Vec<(&'a Failure, Vec<&'a str>)> {
    let mut failures = grouped(roots.iter().flat_map(|root| {
        root.failures
            .iter()
            .map(|failure| (*failure, root.path.as_str()))
    }));
    failures.retain(|(_, roots)| roots.len() > 1);
    failures
}

/// The room that is left in the text.
struct Page<'a> {
    roots: &'a [RootRow<'a>],
    /// The failures that several roots have, which are shown once.
    shared_failures: BTreeSet<&'a Failure>,
    /// Number of bytes that still fit.
    room: usize,
    findings_left_out: usize,
    advice_left_out: usize,
}

impl<'a> Page<'a> {
    /// Takes a piece if there is room for it, and returns true then.
    fn try_take(&mut self, piece: &str) -> bool {
        let fits = piece.len() <= self.room;
        // The end of what is folded is paid for at its beginning: a `<details>` that is never closed would swallow
        // the rest of the comment.
        self.room -= if fits { piece.len() } else { 0 };
        fits
    }

    /// Names a root and shows what failed, and its own errors and warnings; nothing of a root that is
    /// clean or has only what others have. Returns these findings, too.
    fn table<'f>(&mut self, at: usize, folds: Vec<&'f Fold>) -> (String, Vec<&'f Fold>) {
        let root = &self.roots[at];
        let failures: Vec<&Failure> = root
            .failures
            .iter()
            .copied()
            .filter(|failure| !self.shared_failures.contains(failure))
            .collect();
        if folds.is_empty() && failures.is_empty() {
            return (String::new(), folds);
        }
        let counts = Counts::of(root.findings.iter().map(|finding| finding.severity)).to_string();
        let counts = match (root.status, counts.as_str()) {
            (RootStatus::Failed, "") => "failed".to_owned(),
            (RootStatus::Failed, counts) => format!("failed; {counts}"),
            (_, counts) => counts.to_owned(),
        };
        let mut out = format!("#### {}: {counts}\n\n", code(&cut(&root.path)));
        if !self.try_take(&out) {
            self.findings_left_out += folds.iter().map(|fold| fold.members.len()).sum::<usize>();
            return (String::new(), Vec::new());
        }
        for failure in failures {
            out += &self.failure(failure, "");
        }
        (out + &self.rows(&folds), folds)
    }

    /// Shows a failure, with the roots that it stopped if they are several, as far as there is room.
    fn failure(&mut self, failure: &Failure, roots: &str) -> String {
        let text = failed(failure, roots);
        if self.try_take(&text) {
            text
        } else {
            self.findings_left_out += 1;
            String::new()
        }
    }

    /// Shows the findings of a root as a table, as far as there is room.
    fn rows(&mut self, folds: &[&Fold]) -> String {
        let head = "| Severity | Rule | Provider | Place | What |\n|---|---|---|---|---|\n";
        let rows = folds.iter().map(|fold| (*fold, self.row(fold))).collect();
        self.filled(head, rows)
    }

    /// Shows what several roots have in common as a table, as far as there is room.
    fn shared(&mut self, folds: &[&Fold]) -> String {
        let head = "| Severity | Rule | Roots | Providers | What | Command |\n\
                    |---|---|---|---|---|---|\n";
        let row = |fold: &Fold| {
            let providers: BTreeSet<&String> = fold
                .members
                .iter()
                .map(|member| self.finding(*member))
                .flat_map(|finding| &finding.provider)
                .collect();
            let providers = match providers.len() {
                0 => String::new(),
                n => n.to_string(),
            };
            let first = self.finding(fold.members[0]);
            let mut what = vec![escaped(&cut(&fold.title))];
            // Roots that share a file have the very same finding in it.
            if first.title == fold.title {
                what.extend(first.place().map(|place| code(&cut(&place))));
                what.extend(first.detail.iter().map(|detail| escaped(&cut(detail))));
            }
            format!(
                "| {} | {} | {} | {providers} | {} | {} |\n",
                severity(fold.severity),
                code(fold.rule),
                fold.root_count(),
                what.join("<br>"),
                fold.command
                    .as_deref()
                    .map(|text| code(&cut(text)))
                    .unwrap_or_default(),
            )
        };
        let rows = folds.iter().map(|fold| (*fold, row(fold))).collect();
        self.filled(head, rows)
    }

    /// Puts rows below a head, as far as there is room.
    fn filled(&mut self, head: &str, all: Vec<(&Fold, String)>) -> String {
        let mut rows = String::new();
        for (fold, row) in all {
            // The head, and the empty line behind the table, are paid for with the first row.
            let more = if rows.is_empty() { head.len() + 1 } else { 0 };
            if row.len() + more > self.room {
                self.findings_left_out += fold.members.len();
                continue;
            }
            self.room -= row.len() + more;
            rows += &row;
        }
        if rows.is_empty() {
            return rows;
        }
        format!("{head}{rows}\n")
    }

    /// Says what to do about findings, folded.
    fn advice(&mut self, folds: &[&Fold]) -> String {
        let advice = grouped(
            folds
                .iter()
                .filter_map(|fold| Some((fold.help.as_deref()?, *fold))),
        );
        let Some(mut text) = self.open("What to do", !advice.is_empty()) else {
            self.advice_left_out += advice.len();
            return String::new();
        };
        for (help, folds) in advice {
            let lines: Vec<String> = help.lines().map(str::to_owned).collect();
            let names = self.names(&folds);
            let piece = format!("{names}\n\n{}\n\n", fenced(&lines, "text"));
            if self.try_take(&piece) {
                text += &piece;
            } else {
                self.advice_left_out += 1;
            }
        }
        text + CLOSE
    }

    /// Lists the roots of findings that several have, with the providers concerned, folded.
    fn places(&mut self, folds: &[&Fold]) -> String {
        let Some(mut text) = self.open("Where", !folds.is_empty()) else {
            return String::new();
        };
        for fold in folds {
            let lines: Vec<String> = fold
                .by_root()
                .into_iter()
                .map(|own| {
                    let providers: Vec<&str> = own
                        .iter()
                        .map(|member| self.finding(*member))
                        .filter_map(|finding| finding.provider.as_deref())
                        .collect();
                    let path = &self.roots[own[0].root].path;
                    if providers.is_empty() {
                        cut(path)
                    } else {
                        format!("{}: {}", cut(path), cut(&providers.join(", ")))
                    }
                })
                .collect();
            let all = format!("{}\n\n{}\n\n", code(fold.rule), fenced(&lines, "text"));
            if self.try_take(&all) {
                text += &all;
            }
        }
        text + CLOSE
    }

    /// Shows the notes on all roots, folded.
    fn notes(&mut self, folds: &[Fold]) -> String {
        let folds: Vec<&Fold> = folds.iter().collect();
        let count = folds.iter().map(|fold| fold.members.len()).sum::<usize>();
        match self.open(&counted(count, "note"), count > 0) {
            Some(text) => text + &self.rows(&folds) + CLOSE,
            None => {
                self.findings_left_out += count;
                String::new()
            }
        }
    }

    /// Returns the line that says what did not fit; empty if all did.
    fn left_out(&self) -> String {
        let parts: Vec<String> = [
            (self.findings_left_out, "finding", "findings"),
            (self.advice_left_out, "text of advice", "texts of advice"),
        ]
        .into_iter()
        .filter(|(n, ..)| *n > 0)
        .map(|(n, singular, plural)| counted_as(n, singular, plural))
        .collect();
        if parts.is_empty() {
            return String::new();
        }
        let parts = parts.join(" and ");
        format!("{parts} would not fit here: `lockctl verify -v` shows all.\n")
    }

    /// Begins what is folded, with room to end it, if there is anything to fold.
    fn open(&mut self, summary: &str, is_wanted: bool) -> Option<String> {
        let text = format!("<details><summary>{summary}</summary>\n\n");
        let fits = is_wanted && text.len() + CLOSE.len() <= self.room;
        self.room -= if fits { text.len() + CLOSE.len() } else { 0 };
        fits.then_some(text)
    }

    fn finding(&self, member: FindingIndex) -> &'a FindingRow {
        &self.roots[member.root].findings[member.finding]
    }

    /// Shows findings of one cause in one row.
    fn row(&self, fold: &Fold) -> String {
        let members = fold.members.iter().map(|member| self.finding(*member));
        let first = self.finding(fold.members[0]);
        let providers: BTreeSet<&str> = members
            .clone()
            .filter_map(|finding| finding.provider.as_deref())
            .collect();
        let mut names: Vec<&str> = providers.iter().take(MAX_MEMBERS).copied().collect();
        // Beside several providers a platform would not say whose it is.
        if providers.len() == 1 {
            let platforms: BTreeSet<&str> = members
                .clone()
                .filter_map(|finding| finding.platform.as_deref())
                .collect();
            names.extend(platforms.into_iter().take(MAX_MEMBERS));
        }
        let mut names: Vec<String> = names.into_iter().map(|text| code(&cut(text))).collect();
        if providers.len() > MAX_MEMBERS {
            names.push(format!("and {} more", providers.len() - MAX_MEMBERS));
        }
        let place = first.place().map(|place| code(&cut(&place)));
        format!(
            "| {} | {} | {} | {} | {} |\n",
            severity(fold.severity),
            code(fold.rule),
            names.join("<br>"),
            place.unwrap_or_default(),
            what(self.roots, fold).join("<br>"),
        )
    }

    /// Names rules, and the providers concerned.
    fn names(&self, folds: &[&Fold]) -> String {
        let rules: BTreeSet<&str> = folds.iter().map(|fold| fold.rule).collect();
        let providers: BTreeSet<&str> = folds
            .iter()
            .flat_map(|fold| &fold.members)
            .filter_map(|member| self.finding(*member).provider.as_deref())
            .collect();
        let rules = listed(rules.into_iter(), MAX_NAMES);
        match providers.len() {
            0 => rules,
            _ => format!("{rules}: {}", listed(providers.into_iter(), MAX_NAMES)),
        }
    }
}

/// Shows a failure, with the roots that it stopped if they are several.
pub(super) fn failed(failure: &Failure, roots: &str) -> String {
    let lines = failure.lines();
    let lines: Vec<String> = Some(roots.to_owned())
        .filter(|roots| !roots.is_empty())
        .into_iter()
        .chain(lines.lines().map(|line| escaped(&cut(line))))
        .collect();
    format!("**Error**: {}\n\n", lines.join("<br>"))
}

/// Says what is wrong in findings of one cause.
pub(super) fn what(roots: &[RootRow<'_>], fold: &Fold) -> Vec<String> {
    let finding = |member: &FindingIndex| &roots[member.root].findings[member.finding];
    let first = finding(&fold.members[0]);
    let mut what = vec![fold.title.as_str()];
    let has_own_titles = fold
        .members
        .iter()
        .any(|member| finding(member).title != fold.title)
        && diag::named(fold.rule).together.is_none();
    if has_own_titles {
        // If several roots have the same finding, its sentence is printed once.
        let titles: BTreeSet<&str> = fold
            .members
            .iter()
            .map(|member| &*finding(member).title)
            .filter(|title| !fold.title.starts_with(title))
            .collect();
        what.extend(titles.into_iter().take(MAX_MEMBERS));
    }
    let are_equal = fold
        .members
        .iter()
        .all(|member| finding(member).detail == first.detail);
    if what.len() == 1 && are_equal {
        what.extend(first.detail.as_deref());
    }
    what.into_iter().map(|text| escaped(&cut(text))).collect()
}

/// Ends what is folded.
pub(super) const CLOSE: &str = "</details>\n\n";

pub(super) fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "**warning**",
        Severity::Error => "**error**",
    }
}

/// Says which of several roots are clean, folded.
pub(super) fn clean(roots: &[RootRow<'_>], most: usize) -> String {
    let names: Vec<&str> = roots
        .iter()
        .filter(|root| root.status == RootStatus::Clean)
        .map(|root| root.path.as_str())
        .collect();
    match (roots.len(), names.len()) {
        (1, _) | (_, 0) => String::new(),
        (_, n) => format!(
            "<details><summary>{} clean</summary>\n\n{}\n\n{CLOSE}",
            counted(n, "root"),
            listed(names.into_iter(), most)
        ),
    }
}

/// Lists names, the first of many.
pub(super) fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>, most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let mut shown: Vec<String> = names.take(most).map(|name| code(&cut(name))).collect();
    if more > 0 {
        shown.push(format!("and {more} more"));
    }
    shown.join(", ")
}

/// Cuts foreign text to what a cell should hold.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_CELL) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}
