//! The result of a check over many roots on one screen: each cause once, with some of its roots.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::io::{self, Write};

use super::checks::{
    CLOSE, MAX_BYTES, RESERVE_BYTES, clean, cut, failed, listed, severity, verdict, what,
};
use super::room::Room;
use super::text::{code, escaped};
use crate::diag::{Severity, counted, counted_as};
use crate::report::fold::{self, Fold};
use crate::report::groups::grouped;
use crate::report::shared::MAX_ROOTS;
use crate::report::{Checked, RootRow};

/// Maximum number of failures, of causes, and of texts of advice.
const MAX_FAILURES: usize = 5;
const MAX_CAUSES: usize = 15;
const MAX_ADVICE: usize = 5;

/// Number of lines for what is always there: an empty line below the verdict, and what was left out.
const RESERVE_LINES: usize = 2;

const HEAD: &str = "| Severity | Rule | Roots | Providers | What | Command |\n\
                    |---|---|---|---|---|---|\n";

/// Writes the verdict, what failed, a row for each cause, what to do, the notes, and some of the clean roots.
pub(super) fn screen(out: &mut dyn Write, checked: &Checked<'_>, lines: usize) -> io::Result<()> {
    let roots = &checked.roots;
    let verdict = verdict(checked);
    let clean = clean(roots, MAX_ROOTS);
    let mut room = Room {
        bytes: MAX_BYTES - RESERVE_BYTES,
        lines: lines.saturating_sub(RESERVE_LINES),
    };
    room.take(&verdict);
    room.take(&clean);
    let mut folds = fold::folds(roots, &|_| true);
    folds.sort_by_key(|fold| (Reverse(fold.severity), Reverse(fold.root_count())));
    let (notes, folds): (Vec<Fold>, Vec<Fold>) = folds
        .into_iter()
        .partition(|fold| fold.severity == Severity::Note);
    let mut left_out = LeftOut::default();
    let failures = failures(roots, &mut room, &mut left_out);
    let causes = rows(roots, &folds, "", "\n", &mut room, &mut left_out);
    let advice = advice(&folds, &mut room);
    let count = notes.iter().map(|fold| fold.members.len()).sum::<usize>();
    let open = opening(&counted(count, "note"));
    let notes = rows(
        roots,
        &notes,
        &open,
        &format!("\n{CLOSE}"),
        &mut room,
        &mut left_out,
    );
    writeln!(out, "{verdict}")?;
    write!(out, "{failures}{causes}{advice}{notes}{clean}")?;
    left_out.write(out)
}

/// The numbers of things that are left out for lack of room.
#[derive(Default)]
struct LeftOut {
    failures: usize,
    causes: usize,
}

impl LeftOut {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let parts: Vec<String> = [
            (self.failures, "more failure", "more failures"),
            (self.causes, "more cause", "more causes"),
        ]
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, singular, plural)| counted_as(count, singular, plural))
        .collect();
        if parts.is_empty() {
            return Ok(());
        }
        writeln!(out, "{} (`-v` shows all)", parts.join(" and "))
    }
}

fn opening(summary: &str) -> String {
    format!("<details><summary>{summary}</summary>\n\n")
}

/// Shows each failure with its roots, those of the most roots first.
fn failures(roots: &[RootRow<'_>], room: &mut Room, left_out: &mut LeftOut) -> String {
    let mut failures = grouped(roots.iter().flat_map(|root| {
        root.failures
            .iter()
            .map(|failure| (*failure, root.path.as_str()))
    }));
    failures.sort_by_key(|(_, roots)| Reverse(roots.len()));
    let mut texts = String::new();
    for (at, (failure, paths)) in failures.iter().enumerate() {
        let names = listed(paths.iter().copied(), MAX_ROOTS);
        let concerned = match paths.len() {
            1 => names,
            count => format!("in {count} roots: {names}"),
        };
        let text = failed(failure, &concerned);
        if at < MAX_FAILURES && room.try_take(&text) {
            texts += &text;
        } else {
            left_out.failures += 1;
        }
    }
    texts
}

/// Shows causes as a table between an opening and an end, as far as there is room.
fn rows(
    roots: &[RootRow<'_>],
    folds: &[Fold],
    open: &str,
    end: &str,
    room: &mut Room,
    left_out: &mut LeftOut,
) -> String {
    let around = format!("{open}{HEAD}{end}");
    if folds.is_empty() {
        return String::new();
    }
    // Not a head without a row.
    let first = row(roots, &folds[0]);
    if !room.has(&format!("{around}{first}")) {
        left_out.causes += folds.len();
        return String::new();
    }
    room.take(&around);
    let mut text = format!("{open}{HEAD}");
    for (at, fold) in folds.iter().enumerate() {
        let row = row(roots, fold);
        if at < MAX_CAUSES && room.try_take(&row) {
            text += &row;
        } else {
            left_out.causes += 1;
        }
    }
    text + end
}

/// Shows a cause with the number of its roots and the names of some.
fn row(roots: &[RootRow<'_>], fold: &Fold) -> String {
    let first = fold.members[0];
    let first = &roots[first.root].findings[first.finding];
    let providers: BTreeSet<&str> = fold
        .members
        .iter()
        .filter_map(|member| {
            roots[member.root].findings[member.finding]
                .provider
                .as_deref()
        })
        .collect();
    let providers = match providers.first() {
        None => String::new(),
        Some(name) if providers.len() == 1 => code(&cut(name)),
        Some(_) => providers.len().to_string(),
    };
    let by_root = fold.by_root();
    let paths = by_root.iter().map(|own| &*roots[own[0].root].path);
    let mut what = what(roots, fold);
    // Several places have no one place.
    let is_one_place = fold.members.len() == 1 || first.title == fold.title;
    if let Some(place) = first.place().filter(|_| is_one_place) {
        what.insert(1, code(&cut(&place)));
    }
    format!(
        "| {} | {} | {}: {} | {providers} | {} | {} |\n",
        severity(fold.severity),
        code(fold.rule),
        by_root.len(),
        listed(paths, MAX_ROOTS),
        what.join("<br>"),
        fold.command
            .as_deref()
            .map(|text| code(&cut(text)))
            .unwrap_or_default(),
    )
}

/// Lists the next steps for folded causes; a help that several causes share is printed once.
fn advice(folds: &[Fold], room: &mut Room) -> String {
    let advice = grouped(
        folds
            .iter()
            .filter_map(|fold| Some((fold.help.as_deref()?, fold.rule))),
    );
    let lines: Vec<String> = advice
        .into_iter()
        .take(MAX_ADVICE)
        .map(|(help, rules)| {
            let rules: BTreeSet<&str> = rules.into_iter().collect();
            let rules = listed(rules.into_iter(), MAX_ROOTS);
            let help: Vec<String> = help.lines().map(|line| escaped(&cut(line))).collect();
            format!("- {rules}: {}\n", help.join("<br>"))
        })
        .collect();
    let text = format!("{}{}\n{CLOSE}", opening("What to do"), lines.concat());
    if !lines.is_empty() && room.try_take(&text) {
        text
    } else {
        String::new()
    }
}
