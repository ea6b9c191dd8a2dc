//! The text of `lockctl lock`, and of the commands that lock after a step of their own.

use std::collections::BTreeSet;

use super::{LockOptions, conversion, dropped, in_use, several};
use crate::cli::{Look, diff};
use crate::diag::{counted, counted_as};
use crate::flavor::Flavor;
use crate::locker::ContradictedBy;
use crate::package::Provenance;
use crate::report::json::{LockedProvider, Provider};
use crate::report::reading::{self, Heading, Total};
use crate::report::{CommandResult, RootResult, TextBlock, Tone, notes};
use crate::version::{VersionStep, step};

/// The tense of a report: some options keep a run from writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tense {
    Done,
    Would,
}

impl Tense {
    pub(super) fn of(options: &LockOptions) -> Self {
        if options.writes() {
            Self::Done
        } else {
            Self::Would
        }
    }
}

/// The heads of the columns, where a table needs them.
const TITLES: [&str; 7] = [
    "PROVIDER",
    "VERSION",
    "CONSTRAINTS",
    "STATE",
    "PLATFORMS",
    "HASHES",
    "SIGNED BY",
];

/// Number of lines of the sentence about all roots, in Markdown with the empty line below it, and of that about
/// changes that are not shown.
const TOTAL_LINES: usize = 4;

/// Maximum number of lines of details of all changes in a root; of more, none is shown.
const MAX_DETAILS: usize = 24;

/// Maximum number of roots that Markdown shows at length; more have a line each.
const MAX_AT_LENGTH: usize = 10;

/// Shows each root, or of several what happened in all of them, then which versions they lock, then how all came out.
///
/// Markdown begins with what is about all roots, because it is cut where it becomes too long.
pub(super) fn of_all(result: &CommandResult, tense: Tense, look: Look) -> Vec<TextBlock> {
    let roots = result.roots();
    let is_folded = if look.markdown {
        result.has_many_roots()
    } else {
        roots.len() > 1
    };
    let is_quiet = look.quiet && roots.len() > 1 && !look.markdown;
    let in_use = if is_quiet {
        Vec::new()
    } else {
        in_use::blocks(result, look)
    };
    let each = if is_folded && !look.verbose {
        let taken = look.height(&in_use, &result.texts) + TOTAL_LINES;
        several::blocks(result, tense, look, taken)
    } else if look.markdown && roots.len() > MAX_AT_LENGTH {
        in_short(result)
    } else {
        let texts = roots
            .iter()
            .map(|root| of_root(root, tense, look))
            .collect();
        reading::each(roots, texts, Heading::Path)
    };
    // A comment of a pull request is cut at its end, a terminal shows the end.
    let (first, then) = if look.markdown {
        (in_use, each)
    } else {
        (each, in_use)
    };
    let mut blocks = [first, then].concat();
    let total = reading::total(result, Total::Result, look.verbose);
    let total = total.filter(|total| !is_quiet || total.tone != Tone::Good);
    blocks.extend(total.map(reading::verdict));
    blocks
}

/// Maximum number of failures of many roots that are shown; more are counted.
const MAX_FAILURES: usize = 20;

/// Shows what failed, and how each of many roots came out.
fn in_short(result: &CommandResult) -> Vec<TextBlock> {
    let failures = result.failures();
    let more = failures.len().saturating_sub(MAX_FAILURES);
    let mut blocks = Vec::new();
    for (failure, paths) in failures.into_iter().take(MAX_FAILURES) {
        blocks.push(notes::failure_of(
            failure,
            paths,
            result.roots().len(),
            false,
        ));
    }
    if more > 0 {
        let text = counted_as(more, "more failure is", "more failures are");
        blocks.push(TextBlock::Verdict(
            Tone::Bad,
            format!("{text} not shown here"),
        ));
    }
    let mut rows = vec![vec!["ROOT".to_owned(), "RESULT".to_owned()]];
    for root in result.roots() {
        if let Some(verdict) = &root.verdict {
            rows.push(vec![root.path.clone(), verdict.text.clone()]);
        }
    }
    blocks.push(TextBlock::Table(rows));
    blocks
}

/// Shows the entries, what was replaced in them, with `--verbose` each hash, what would change, and
/// how it ended.
fn of_root(root: &RootResult, tense: Tense, look: Look) -> Vec<TextBlock> {
    let mut blocks = Vec::new();
    if look.markdown {
        // A comment has no standard error beside it.
        blocks.extend(root.failures().cloned().map(TextBlock::Failure));
    }
    let (Some(flavor), Some(verdict)) = (root.flavor, &root.verdict) else {
        return blocks;
    };
    // Where nothing would change there is nothing that would happen.
    let tense = match root.changed {
        Some(true) => tense,
        _ => Tense::Done,
    };
    blocks.extend(table(root, flavor, tense, look));
    for row in locked(root).filter(|row| !row.replaced.is_empty()) {
        let most = if look.verbose {
            usize::MAX
        } else {
            MAX_REPLACED
        };
        blocks.push(TextBlock::Lines(replaced(row, flavor, tense, most)));
    }
    for row in locked(root).filter(|row| !row.dropped.is_empty()) {
        let are = match (tense, row.dropped.len()) {
            (Tense::Done, 1) => "is",
            (Tense::Done, _) => "are",
            (Tense::Would, _) => "would be",
        };
        let lines = dropped::lines(&name(row, flavor), &row.dropped, are);
        blocks.push(TextBlock::Lines(lines));
    }
    let lock = root.lock();
    let converted = lock.and_then(|lock| lock.converted.as_deref());
    let staying = conversion::lines(converted.unwrap_or_default(), flavor);
    if !staying.is_empty() {
        blocks.push(TextBlock::Lines(staying));
    }
    if look.verbose {
        blocks.extend(locked(root).map(|row| TextBlock::Lines(hashes(row, flavor))));
    }
    if let Some(comparison) = lock.and_then(|lock| lock.comparison.as_ref()) {
        let name = diff::text::naming(&[comparison]);
        let changes = |with_details| diff::text::changes(comparison, &name, false, with_details);
        let detailed = changes(true);
        let are_few = look.verbose || detailed.detail_lines() <= MAX_DETAILS;
        blocks.push(TextBlock::Changes(if are_few {
            detailed
        } else {
            changes(false)
        }));
        if !are_few {
            let more = "… -v shows each hash".to_owned();
            blocks.push(TextBlock::Lines(vec![more]));
        }
    }
    blocks.push(reading::verdict(verdict.clone()));
    blocks
}

/// Shows the entries in a table; in Markdown it has titles, as every table there must (GFM 4.10).
fn table(root: &RootResult, flavor: Flavor, tense: Tense, look: Look) -> Option<TextBlock> {
    // A project file may pin a key, so each is named; in every row it would only widen the table.
    let mut named_keys = BTreeSet::new();
    let mut rows: Vec<Vec<String>> = locked(root)
        .map(|row| {
            let mut cells = cells(row, flavor, tense);
            if !row.signers.is_empty() {
                cells.push(signers(row, &mut named_keys));
            }
            cells
        })
        .collect();
    let columns = rows.iter().map(Vec::len).max()?;
    if look.markdown {
        let titles: Vec<String> = TITLES[..columns].iter().map(ToString::to_string).collect();
        rows.insert(0, titles);
    }
    Some(TextBlock::Table(rows))
}

pub(super) fn locked(root: &RootResult) -> impl Iterator<Item = &LockedProvider> {
    root.providers.iter().filter_map(|provider| match provider {
        Provider::Locked(row) => Some(row),
        _ => None,
    })
}

/// Names an entry with its version, as in `hashicorp/null 3.2.1`.
fn name(row: &LockedProvider, flavor: Flavor) -> String {
    format!("{} {}", row.provider.short(flavor), row.version)
}

fn cells(row: &LockedProvider, flavor: Flavor, tense: Tense) -> Vec<String> {
    let (hash, hashes, replaced, dropped) = match tense {
        Tense::Done => ("hash added", "hashes added", "replaced", "removed"),
        Tense::Would => ("hash to add", "hashes to add", "to replace", "to remove"),
    };
    let added = row.hashes.iter().filter(|hash| hash.added).count();
    let kept = row
        .hashes
        .iter()
        .filter(|hash| !hash.added && hash.provenance == Provenance::Kept)
        .count();
    let mut counts = vec![counted_as(added, hash, hashes)];
    for (count, word) in [
        (row.replaced.len(), replaced),
        (row.dropped.len(), dropped),
        (kept, "kept"),
    ] {
        if count > 0 {
            counts.push(format!("{count} {word}"));
        }
    }
    let constraints = if row.constraints.is_empty() {
        "any version".to_owned()
    } else {
        row.constraints.to_string()
    };
    let state = match (row.selected, &row.from, tense) {
        (_, Some(_), Tense::Done) => "moved",
        (_, Some(_), Tense::Would) => "would move",
        (true, None, _) => "selected",
        (false, None, _) => "kept",
    };
    vec![
        row.provider.short(flavor),
        version(row),
        constraints,
        state.to_owned(),
        counted(row.hashed_platforms, "platform"),
        counts.join(", "),
    ]
}

/// Names who signed the list of a release, and each key that is not named yet.
fn signers<'r>(row: &'r LockedProvider, named_keys: &mut BTreeSet<&'r str>) -> String {
    let mut signers = Vec::new();
    for signer in &row.signers {
        let words = signer.words();
        if named_keys.insert(&signer.key_id) {
            signers.push(format!("{words}, key ID {}", signer.key_id));
        } else {
            signers.push(words.to_owned());
        }
    }
    signers.join("; ")
}

/// Shows the version, and the one that it moved from.
pub(super) fn version(row: &LockedProvider) -> String {
    let version = &row.version;
    let Some(from) = &row.from else {
        return version.to_string();
    };
    let kind = match step(from, version) {
        VersionStep::Up(upgrade) => upgrade.name(),
        VersionStep::Down | VersionStep::Same => "downgrade",
    };
    format!("{from} → {version} ({kind})")
}

/// Maximum number of replaced hashes of an entry, and of the hashes of its packages, that are shown; more are counted.
pub(super) const MAX_REPLACED: usize = 5;

/// Lists hashes that were replaced with the evidence against them, at most so many.
pub(super) fn replaced(
    row: &LockedProvider,
    flavor: Flavor,
    tense: Tense,
    most: usize,
) -> Vec<String> {
    let count = row.replaced.len();
    let contradict = counted_as(
        count,
        "recorded hash contradicts",
        "recorded hashes contradict",
    );
    let are = match (tense, count) {
        (Tense::Would, _) => "would be",
        (Tense::Done, 1) => "is",
        (Tense::Done, _) => "are",
    };
    let mut lines = vec![format!(
        "{}: {contradict} the checksum list ({}) and {are} replaced",
        name(row, flavor),
        signers(row, &mut BTreeSet::new())
    )];
    let more = |count: usize| match count.saturating_sub(most) {
        0 => None,
        more => Some(format!("… and {more} more (-v shows each)")),
    };
    for replaced in row.replaced.iter().take(most) {
        let hash = &replaced.hash;
        match replaced.contradicted_by {
            ContradictedBy::SignedList => lines.push(format!("  {hash}  not in the list")),
            ContradictedBy::EveryPackage => {
                lines.push(format!("  {hash}  of none of its packages, which have:"));
                for computed in replaced.computed.iter().take(most) {
                    lines.push(format!("    {}  {}", computed.hash, computed.platform));
                }
                let more = more(replaced.computed.len());
                lines.extend(more.map(|more| format!("    {more}")));
            }
        }
    }
    lines.extend(more(count).map(|more| format!("  {more}")));
    lines
}

/// Lists every hash with how it is known, and the platforms that it belongs to or the file that the
/// signed list names.
fn hashes(row: &LockedProvider, flavor: Flavor) -> Vec<String> {
    let mut lines = vec![name(row, flavor)];
    for hash in &row.hashes {
        let word = match hash.provenance {
            Provenance::Signed => "signed",
            Provenance::Proven => "proven",
            Provenance::Computed => "computed",
            Provenance::Claimed => "claimed",
            Provenance::Kept => "kept",
        };
        let mut line = format!("  {}  {word}", hash.hash);
        let evidence = hash.evidence.as_ref();
        if !hash.platforms.is_empty() {
            line += &format!(", {}", hash.platforms.join(" and "));
        } else if let Some(file) = evidence.and_then(|seen| seen.file.as_ref()) {
            line += &format!(", {file}");
        }
        if let Some(fact) = evidence.and_then(|seen| seen.fact.as_ref()) {
            line += &format!(", kept since {}", fact.since);
            if let Some(from) = &fact.imported_from {
                line += &format!(", imported from {from}");
            }
        }
        lines.push(line);
    }
    lines
}
