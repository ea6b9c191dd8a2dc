//! What a check of roots came to, for the summary of a job or the comment of a pull request.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::text::{code, escaped, fenced};
use crate::diag::{Counts, Severity, counted};
use crate::report::rows::Finding;
use crate::report::{Checked, Root, Status};

/// How many bytes are written at most: a comment on GitHub holds 65,536 characters, and somebody may
/// put a sentence of his own beside it.
const MAX_BYTES: usize = 60_000;

/// How many of these are kept for the line that says what was left out.
const RESERVE_BYTES: usize = 200;

/// How many characters of foreign text stand in one cell.
const MAX_CELL: usize = 400;

/// How many names are listed in one line.
const MAX_NAMES: usize = 20;

/// Writes the verdict, then for each root that is not clean its failures, and its errors and warnings
/// as a table; advice, the notes of all roots and the names of clean ones are folded.
///
/// Where all would be too long, tables go before what is folded, and the last line says what is
/// missing.
///
/// # Errors
/// What the writer says.
pub fn checks(out: &mut dyn Write, checked: &Checked<'_>) -> io::Result<()> {
    let verdict = format!("lockctl {}: {}", checked.command, checked.verdict());
    let verdict = match checked.exit {
        0 => format!("{verdict}\n"),
        _ => format!("**{verdict}**\n"),
    };
    let clean = clean(&checked.roots);
    let mut page = Page {
        room: MAX_BYTES - RESERVE_BYTES - verdict.len() - clean.len(),
        seen: BTreeSet::new(),
        findings_left_out: 0,
        advice_left_out: 0,
    };
    let roots = checked.roots.iter();
    let shown: Vec<(String, Vec<&Finding>)> = roots.map(|root| page.table(root)).collect();
    writeln!(out, "{verdict}")?;
    for (table, findings) in shown {
        write!(out, "{table}{}", page.advice(&findings))?;
    }
    write!(out, "{}{clean}", page.notes(&checked.roots))?;
    page.left_out()
        .map_or(Ok(()), |text| writeln!(out, "{text}"))
}

/// What still fits, and what was shown already.
struct Page<'a> {
    /// How many bytes there are left.
    room: usize,
    /// Roots share modules and project files; what is found there is shown with the first.
    seen: BTreeSet<&'a Finding>,
    findings_left_out: usize,
    advice_left_out: usize,
}

impl<'a> Page<'a> {
    /// Takes a piece if there is room for it.
    fn fits(&mut self, piece: &str) -> bool {
        let fits = piece.len() <= self.room;
        self.room -= if fits { piece.len() } else { 0 };
        fits
    }

    /// Names a root and shows what failed, and its errors and warnings, the worst first; nothing of
    /// a clean root. Returns these findings, too.
    fn table(&mut self, root: &'a Root<'_>) -> (String, Vec<&'a Finding>) {
        let findings = root.findings.iter();
        let counts = Counts::of(findings.map(|finding| finding.severity)).to_string();
        let counts = match (root.status, counts.as_str()) {
            (Status::Clean, _) => return (String::new(), Vec::new()),
            (Status::Failed, "") => "failed".to_owned(),
            (Status::Failed, counts) => format!("failed; {counts}"),
            (Status::Findings, counts) => counts.to_owned(),
        };
        let mut findings = self.unseen(root, |severity| severity > Severity::Note);
        findings.sort_by_key(|finding| Reverse(finding.severity));
        let mut out = format!("#### {}: {counts}\n\n", code(&cut(&root.path)));
        if !self.fits(&out) {
            self.findings_left_out += findings.len();
            return (String::new(), Vec::new());
        }
        if findings.is_empty() && root.failures.is_empty() {
            out += "As above.\n\n";
        }
        for failure in &root.failures {
            let lines = failure.told();
            let lines: Vec<String> = lines.lines().map(|line| escaped(&cut(line))).collect();
            let text = format!("**Error**: {}\n\n", lines.join("<br>"));
            if self.fits(&text) {
                out += &text;
            } else {
                self.findings_left_out += 1;
            }
        }
        (out + &self.rows(&findings), findings)
    }

    /// Shows findings as a table, as far as there is room.
    fn rows(&mut self, findings: &[&Finding]) -> String {
        let head = "| Severity | Rule | Provider | Place | What |\n|---|---|---|---|---|\n";
        let mut rows = String::new();
        for finding in findings {
            let row = row(finding);
            let more = if rows.is_empty() { head.len() + 1 } else { 0 };
            if row.len() + more > self.room {
                self.findings_left_out += 1;
                continue;
            }
            self.room -= row.len() + more;
            rows += &row;
        }
        match rows.is_empty() {
            true => rows,
            false => format!("{head}{rows}\n"),
        }
    }

    /// Says what to do about findings, folded.
    fn advice(&mut self, findings: &[&Finding]) -> String {
        let advice = by_help(findings);
        let Some(mut fold) = self.open("What to do", !advice.is_empty()) else {
            self.advice_left_out += advice.len();
            return String::new();
        };
        for (help, findings) in advice {
            let lines: Vec<String> = help.lines().map(str::to_owned).collect();
            let text = format!("{}\n\n{}\n\n", names(&findings), fenced(&lines, "text"));
            if self.fits(&text) {
                fold += &text;
            } else {
                self.advice_left_out += 1;
            }
        }
        fold + CLOSE
    }

    /// Shows the notes on all roots, folded.
    fn notes(&mut self, roots: &'a [Root<'_>]) -> String {
        let mut notes = Vec::new();
        for root in roots {
            notes.extend(self.unseen(root, |severity| severity == Severity::Note));
        }
        let count = counted(notes.len(), "note");
        match self.open(&count, !notes.is_empty()) {
            Some(fold) => fold + &self.rows(&notes) + CLOSE,
            None => {
                self.findings_left_out += notes.len();
                String::new()
            }
        }
    }

    /// Begins what is folded, with room to end it, if there is anything to fold.
    fn open(&mut self, summary: &str, is_wanted: bool) -> Option<String> {
        let text = format!("<details><summary>{summary}</summary>\n\n");
        let fits = is_wanted && text.len() + CLOSE.len() <= self.room;
        self.room -= if fits { text.len() + CLOSE.len() } else { 0 };
        fits.then_some(text)
    }

    /// Returns the findings of a root of some severity that no earlier root had.
    fn unseen(&mut self, root: &'a Root<'_>, wanted: fn(Severity) -> bool) -> Vec<&'a Finding> {
        let own = root.findings.iter();
        let own = own.filter(|finding| wanted(finding.severity));
        own.filter(|finding| self.seen.insert(*finding)).collect()
    }

    fn left_out(&self) -> Option<String> {
        let parts = [
            (self.findings_left_out, "finding"),
            (self.advice_left_out, "text of advice"),
        ];
        let parts = parts.into_iter().filter(|(n, _)| *n > 0);
        let parts: Vec<String> = parts.map(|(n, word)| counted(n, word)).collect();
        let all = parts.join(" and ");
        (!all.is_empty())
            .then(|| format!("{all} would not fit here: `lockctl verify -v` shows all."))
    }
}

/// Ends what is folded.
const CLOSE: &str = "</details>\n\n";

fn row(finding: &Finding) -> String {
    let severity = match finding.severity {
        Severity::Note => "note",
        Severity::Warning => "**warning**",
        Severity::Error => "**error**",
    };
    let provider = finding.provider.iter().chain(&finding.platform);
    let provider: Vec<String> = provider.map(|text| code(&cut(text))).collect();
    let place = finding.place().map(|place| code(&cut(&place)));
    let what = [Some(&finding.title), finding.detail.as_ref()];
    let what = what.into_iter().flatten().map(|text| escaped(&cut(text)));
    format!(
        "| {severity} | {} | {} | {} | {} |\n",
        code(finding.rule),
        provider.join("<br>"),
        place.unwrap_or_default(),
        what.collect::<Vec<_>>().join("<br>"),
    )
}

/// Puts findings together that the same advice helps, in the order of the first of each.
fn by_help<'a>(findings: &[&'a Finding]) -> Vec<(&'a str, Vec<&'a Finding>)> {
    let mut order: Vec<(&str, Vec<&Finding>)> = Vec::new();
    let mut known = BTreeMap::new();
    for finding in findings {
        let Some(help) = finding.help.as_deref() else {
            continue;
        };
        let at = *known.entry(help).or_insert(order.len());
        if at == order.len() {
            order.push((help, Vec::new()));
        }
        order[at].1.push(finding);
    }
    order
}

/// Names rules, and the providers concerned.
fn names(findings: &[&Finding]) -> String {
    let rules: BTreeSet<&str> = findings.iter().map(|finding| finding.rule).collect();
    let providers = findings.iter().filter_map(|one| one.provider.as_deref());
    let providers: BTreeSet<&str> = providers.collect();
    let rules = listed(rules.into_iter());
    match providers.len() {
        0 => rules,
        _ => format!("{rules}: {}", listed(providers.into_iter())),
    }
}

/// Says which of several roots are clean, folded.
fn clean(roots: &[Root<'_>]) -> String {
    let clean = roots.iter().filter(|root| root.status == Status::Clean);
    let names: Vec<&str> = clean.map(|root| root.path.as_str()).collect();
    match (roots.len(), names.len()) {
        (1, _) | (_, 0) => String::new(),
        (_, n) => format!(
            "<details><summary>{} clean</summary>\n\n{}\n\n{CLOSE}",
            counted(n, "root"),
            listed(names.into_iter())
        ),
    }
}

/// Lists names, the first of many.
fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(MAX_NAMES);
    let mut shown: Vec<String> = names.take(MAX_NAMES).map(|name| code(&cut(name))).collect();
    if more > 0 {
        shown.push(format!("and {more} more"));
    }
    shown.join(", ")
}

/// Cuts foreign text to what a cell should hold.
fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_CELL) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}
