//! The text of `lockctl changes`, and of `diff --changes`.

use crate::diag::counted;
use crate::report::reading::first_lines;
use crate::report::shared::first_names;
use crate::report::{Cell, Column, Look, Row, Table, TextBlock, Tone};
use crate::sources::release_changes::ReleaseChanges;

/// Maximum number of names of a list that one screen shows.
const MAX_NAMES: usize = 8;

/// Maximum number of lines of release notes that one screen shows.
const MAX_NOTES: usize = 12;

/// Maximum number of lines about the releases between both versions.
const MAX_BETWEEN: usize = 20;

/// Maximum number of lines of the notes of each of them.
const MAX_EARLIER: usize = 3;

/// Returns what people read of releases.
pub(crate) fn blocks(releases: &[ReleaseChanges], look: Look) -> Vec<TextBlock> {
    let mut blocks = Vec::new();
    for release in releases {
        let ReleaseChanges {
            provider, old, new, ..
        } = release;
        blocks.push(TextBlock::Heading(format!("{provider} {old} → {new}")));
        let columns = &[Column::Key("WHAT"), Column::Prose("CHANGE")];
        let rows = rows(release, look)
            .into_iter()
            .map(|(what, change, tone)| Row {
                tone: Some(tone),
                ..Row::new(provider, [what.into(), change])
            });
        blocks.push(TextBlock::Table(Table::new(columns, rows).without_head()));
        let notes = notes(release, look);
        if !notes.is_empty() {
            blocks.push(TextBlock::Lines(notes));
        }
        for why in &release.unread {
            blocks.push(TextBlock::Remark(Tone::Note, format!("not known: {why}")));
        }
    }
    blocks
}

/// Lists the lines of the notes: those of the new release, then those of the releases before it, of each the first.
fn notes(release: &ReleaseChanges, look: Look) -> Vec<String> {
    let of = |notes: &str| notes.lines().map(str::to_owned).collect();
    let between = &release.between;
    let mut lines = Vec::new();
    if let Some(notes) = &release.notes {
        if !between.earlier_notes.is_empty() {
            lines.push(format!("{}:", release.new));
        }
        lines.extend(first_lines(of(notes), MAX_NOTES, look));
    }
    let mut earlier_lines = Vec::new();
    for earlier in &between.earlier_notes {
        earlier_lines.push(format!("{}:", earlier.version));
        earlier_lines.extend(first_lines(of(&earlier.notes), MAX_EARLIER, look));
    }
    lines.extend(first_lines(earlier_lines, MAX_BETWEEN, look));
    if between.more_releases > 0 {
        let more = counted(between.more_releases, "release");
        lines.push(format!("… and {more} between, whose notes are not read"));
    }
    lines
}

/// Lists what differs: the subject, the change in words, and its tone.
fn rows(release: &ReleaseChanges, look: Look) -> Vec<(String, Cell, Tone)> {
    let mut rows = Vec::new();
    for changes in release.names.iter().flatten() {
        let kind = changes.kind.name();
        for (verb, names, tone) in [
            ("removed", &changes.removed, Tone::Warning),
            ("deprecated", &changes.deprecated, Tone::Warning),
            ("added", &changes.added, Tone::Good),
        ] {
            if !names.is_empty() {
                let what = format!("{} {verb}", counted(names.len(), kind));
                rows.push((what, shown(names, look).into(), tone));
            }
        }
    }
    // Said, because an empty table would look like a failure to compare.
    if release.names.as_ref().is_some_and(Vec::is_empty) {
        rows.push((
            "resources".to_owned(),
            "the same are documented".into(),
            Tone::Good,
        ));
    }
    if let Some([old, new]) = &release.licence {
        rows.push((
            "licence".to_owned(),
            format!("{new} instead of {old}").into(),
            Tone::Note,
        ));
    }
    if let Some([old, new]) = &release.protocols {
        let change = format!("{} instead of {}", new.join(", "), old.join(", "));
        rows.push(("protocols".to_owned(), change.into(), Tone::Note));
    }
    for (verb, platforms, tone) in [
        ("removed", &release.removed_platforms, Tone::Warning),
        ("added", &release.added_platforms, Tone::Good),
    ] {
        if !platforms.is_empty() {
            let what = format!("{} {verb}", counted(platforms.len(), "platform"));
            rows.push((what, shown(platforms, look).into(), tone));
        }
    }
    if let Some(url) = &release.compare {
        let page = Cell::linked(url.clone(), Some(url.clone()));
        rows.push(("compare".to_owned(), page, Tone::Good));
    }
    rows
}

fn shown(names: &[String], look: Look) -> String {
    let most = if look.verbose { names.len() } else { MAX_NAMES };
    first_names(names.iter().cloned(), most).join(", ")
}
