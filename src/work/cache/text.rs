//! The text of `lockctl cache`.

use super::import::named;
use crate::diag::{counted, counted_as};
use crate::report::json::{
    CollectedObjects, ExportedFacts, ImportedFile, RemovedFacts, StoreReport, StoreStats,
};
use crate::report::{Column, Row, Table, TextBlock, Tone};

const COLUMNS: &[Column] = &[Column::Key("WHAT"), Column::Key("VALUE")];

/// Returns what people read of a result; what is printed unchanged is not part of it.
pub(super) fn blocks(report: &StoreReport) -> Vec<TextBlock> {
    let mut blocks = Vec::new();
    if let Some(stats) = &report.stats {
        let rows = rows(&report.dir, stats);
        let rows = rows
            .into_iter()
            .map(|(name, value)| Row::new("", [name.into(), value.into()]));
        blocks.push(TextBlock::Table(Table::new(COLUMNS, rows).without_head()));
    }
    let imported = report.imported.iter().filter_map(imported);
    let exported = report.exported.iter().filter_map(exported);
    let removed = report.removed.iter().map(removed);
    let collected = report.collected.iter().map(collected);
    blocks.extend(
        imported
            .chain(exported)
            .chain(removed)
            .chain(collected)
            .map(|text| TextBlock::Verdict(Tone::Good, text)),
    );
    blocks
}

fn rows(dir: &str, stats: &StoreStats) -> Vec<(&'static str, String)> {
    let StoreStats {
        facts,
        computed,
        imported,
        providers,
        releases,
        bytes,
        oldest,
        ignored,
        contents,
        modules,
        advisories,
    } = stats;
    let by_origin = format!("{facts}: {computed} computed, {imported} imported");
    let mut rows = vec![
        ("directory", dir.to_owned()),
        ("facts", by_origin),
        ("providers", providers.to_string()),
        ("releases", releases.to_string()),
        ("size", counted(*bytes as usize, "byte")),
    ];
    if *contents > 0 {
        rows.push(("contents", counted(*contents, "package")));
    }
    rows.extend(oldest.iter().map(|oldest| ("oldest", oldest.clone())));
    let ignored = ignored
        .iter()
        .map(|ignored| ("ignored", format!("{}: {}", ignored.count, ignored.reason)));
    rows.extend(ignored);
    let counts = [
        (modules.packages, "package", "packages"),
        (modules.locations, "place", "places"),
        (modules.versions, "list of versions", "lists of versions"),
        (modules.refs, "ref", "refs"),
    ];
    let counts: Vec<String> = counts
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, singular, plural)| counted_as(count, singular, plural))
        .collect();
    if !counts.is_empty() {
        let bytes = counted(modules.bytes as usize, "byte");
        rows.push(("modules", format!("{}: {bytes}", counts.join(", "))));
    }
    if advisories.documents > 0 {
        let documents = counted(advisories.documents, "document");
        let bytes = counted(advisories.bytes as usize, "byte");
        rows.push(("advisories", format!("{documents}: {bytes}")));
    }
    rows
}

fn imported(file: &ImportedFile) -> Option<String> {
    let ImportedFile {
        path, new, known, ..
    } = file;
    let path = named(path);
    let done = || match (new, known) {
        (0, 0) => format!("{path}: no fact about a package"),
        (0, known) => format!("{path}: nothing new, {known} known"),
        (new, 0) => format!("{path}: {} imported", counted(*new, "fact")),
        (new, known) => format!("{path}: {} imported, {known} known", counted(*new, "fact")),
    };
    file.failure.is_none().then(done)
}

fn exported(export: &ExportedFacts) -> Option<String> {
    let file = export.file.as_ref()?;
    let facts = counted(export.facts, "fact");
    Some(if export.changed? {
        format!("wrote {file}: {facts}")
    } else {
        format!("{file} is up to date: {facts}")
    })
}

fn collected(collected: &CollectedObjects) -> String {
    let CollectedObjects {
        store,
        removed,
        kept,
        dry_run,
    } = collected;
    let verb = if *dry_run { "would remove" } else { "removed" };
    let removed = counted_as(*removed, "object", "objects");
    let kept = counted_as(*kept, "is left", "are left");
    format!("{store}: {verb} {removed}; {kept}")
}

fn removed(removed: &RemovedFacts) -> String {
    let counts = &removed.counts;
    let parts = [
        (counts.old, "too old"),
        (counts.broken, "broken"),
        (counts.imported, "imported"),
        (counts.computed, "computed"),
        (removed.modules, "about modules"),
        (removed.advisories, "of advisories"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let kept = counted_as(counts.kept, "fact is left", "facts are left");
    if parts.is_empty() {
        return format!("nothing to remove; {kept}");
    }
    let verb = if removed.dry_run {
        "would remove"
    } else {
        "removed"
    };
    format!("{verb} {}; {kept}", parts.join(", "))
}
