//! The text of `lockctl lock`, and of the commands that lock after a step of their own.

use std::collections::{BTreeMap, BTreeSet};

use super::ending::LockEnding;
use super::{LockOptions, dropped, edit};
use crate::diag::{counted, counted_as};
use crate::diff;
use crate::diff::text::Details;
use crate::flavor::Flavor;
use crate::locker::{ContradictedBy, NotConverted};
use crate::package::Provenance;
use crate::report::json::{ConvertedProvider, LockedHash, LockedProvider, Provider, RootStatus};
use crate::report::reading::{self, Total};
use crate::report::{
    Cell, Column, CommandResult, Look, RootNames, RootResult, Row, Sentence, Table, TextBlock, Tone,
};
use crate::review::FileComparison;
use crate::run::provider;
use crate::run::unseen::some_of;
use crate::version::{VersionStep, step};

const COLUMNS: &[Column] = &[
    Column::Key("PROVIDER"),
    Column::Key("VERSION"),
    Column::Joined("CONSTRAINTS"),
    Column::Key("STATE"),
    Column::Key("PLATFORMS"),
    Column::Key("HASHES"),
    Column::Joined("SIGNED BY"),
];

/// Maximum number of lines of details of all changes in a root; of more, none is shown.
const MAX_DETAILS: usize = 24;

/// Shows the edits of configuration, the entries, of several roots those that changed, then what would change, and
/// how all came out.
pub(crate) fn blocks(result: &CommandResult, options: &LockOptions, look: Look) -> Vec<TextBlock> {
    let mut blocks = edit::text::blocks(result, options.writes(), look);
    let roots = result.roots();
    let is_quiet = look.quiet && roots.len() > 1 && !look.markdown;
    blocks.push(TextBlock::Table(entries(roots, options, is_quiet, look)));
    let compared: Vec<&FileComparison> = roots
        .iter()
        .filter_map(|root| root.lock()?.comparison.as_deref())
        .collect();
    if !compared.is_empty() && !is_quiet {
        let details = match roots {
            _ if look.verbose => Details::All,
            [_] => Details::AtMost(MAX_DETAILS),
            _ => Details::None,
        };
        blocks.push(TextBlock::Table(diff::text::causes(&compared)));
        blocks.push(TextBlock::Table(diff::text::table(&compared, details)));
    }
    if !is_quiet {
        // Hashes are added only where the file changes.
        blocks.extend(added(roots, LockEnding::after(true, options)));
    }
    let verdicts = verdicts(roots, is_quiet);
    blocks.push(TextBlock::Verdicts(RootNames::Hidden, verdicts));
    let total = reading::total(result, Total::Result, look.verbose);
    let total = total.filter(|total| !is_quiet || total.tone != Tone::Good);
    blocks.extend(total.map(reading::verdict));
    blocks
}

/// Says how each root ended; of several roots in words that they share.
fn verdicts(roots: &[RootResult], is_quiet: bool) -> Vec<(String, Sentence)> {
    let verdict = |root: &RootResult| {
        let mut verdict = root.verdict.clone()?;
        if roots.len() > 1 {
            verdict.text.clone_from(root.lock()?.outcome.as_ref()?);
        }
        Some((root.path.clone(), verdict))
    };
    roots
        .iter()
        .filter(|root| !is_quiet || root.status == RootStatus::Findings)
        .filter_map(verdict)
        .collect()
}

/// Shows what happened to the entries; of several roots only changes, and in quiet only replaced hashes.
fn entries(roots: &[RootResult], options: &LockOptions, is_quiet: bool, look: Look) -> Table {
    let are_all_shown = roots.len() == 1 || look.verbose;
    let name = provider::naming(roots);
    // A project file may pin a key, so each is named; in every row it would only widen the table.
    let mut named_keys = BTreeSet::new();
    let mut rows = Vec::new();
    for root in roots {
        let (Some(flavor), Some(_)) = (root.flavor, &root.verdict) else {
            continue;
        };
        let is_changing = root.changed == Some(true);
        // Where nothing would change there is nothing that would happen.
        let ending = LockEnding::after(is_changing, options);
        let converted = root.lock().and_then(|lock| lock.converted.as_deref());
        let converted = converted.unwrap_or_default();
        for row in locked(root) {
            let became = converted
                .iter()
                .any(|entry| entry.to.as_ref() == Some(&row.provider));
            let is_shown = are_all_shown || is_changing && (became || row.is_changed());
            if !is_shown || is_quiet && row.replaced.is_empty() {
                continue;
            }
            if roots.len() > 1 {
                named_keys.clear();
            }
            let mut cells = cells(row, name(&row.provider), became, ending).to_vec();
            cells.push(signers(row, &mut named_keys).into());
            let shown = Row {
                cells,
                details: details(row, look),
                ..Row::new(&root.path, [])
            };
            rows.push(((&row.provider, &row.version), shown));
        }
        for entry in converted.iter().filter(|_| !is_quiet) {
            let Some(reason) = staying(entry, flavor) else {
                continue;
            };
            let cells = [
                name(&entry.provider).into(),
                entry.version.to_string().into(),
                Cell::default(),
                "stays as it is".into(),
            ];
            let shown = Row {
                details: vec![reason],
                ..Row::new(&root.path, cells)
            };
            rows.push(((&entry.provider, &entry.version), shown));
        }
    }
    let table = Table::sorted(COLUMNS, rows);
    if roots.len() > 1 {
        table
    } else {
        table.without_head()
    }
}

/// Returns the reason for which an entry stays as it is when a lock file is converted.
fn staying(entry: &ConvertedProvider, flavor: Flavor) -> Option<String> {
    let places = some_of(entry.places.iter().cloned()).join(", ");
    Some(match entry.reason? {
        NotConverted::OtherHost => "it is on another registry".to_owned(),
        NotConverted::Named => format!("{places} names its registry"),
        NotConverted::State => format!(
            "the state names its registry ({places}); `{} state replace-provider` changes that",
            flavor.command()
        ),
    })
}

/// Lists the evidence against replaced hashes, the hashes of dropped platforms, and with `--verbose` all hashes.
fn details(row: &LockedProvider, look: Look) -> Vec<String> {
    let mut lines = Vec::new();
    if !row.replaced.is_empty() {
        lines.extend(replaced(row, look));
    }
    if !row.dropped.is_empty() {
        lines.extend(dropped::lines(&row.dropped));
    }
    if look.verbose {
        lines.extend(row.hashes.iter().map(hash));
    }
    lines
}

fn locked(root: &RootResult) -> impl Iterator<Item = &LockedProvider> {
    root.providers.iter().filter_map(|provider| match provider {
        Provider::Locked(row) => Some(row),
        _ => None,
    })
}

fn cells(row: &LockedProvider, name: String, became: bool, ending: LockEnding) -> [Cell; 6] {
    let dropped = ending.removed();
    let replaced = match ending {
        LockEnding::UpToDate | LockEnding::Written => "replaced",
        LockEnding::WouldWrite => "to replace",
    };
    let added = row.hashes.iter().filter(|hash| hash.added).count();
    let kept = row
        .hashes
        .iter()
        .filter(|hash| !hash.added && hash.provenance == Provenance::Kept)
        .count();
    let mut counts = vec![ending.hashes_added(added)];
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
    let state = match &row.from {
        Some(_) if ending == LockEnding::WouldWrite => "would move",
        Some(_) => "moved",
        None if became => "converted",
        None if row.selected => "selected",
        None => "kept",
    };
    [
        name.into(),
        version(row).into(),
        constraints.into(),
        state.into(),
        counted(row.hashed_platforms, "platform").into(),
        counts.join(", ").into(),
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
fn version(row: &LockedProvider) -> String {
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

/// Maximum number of lines about the replaced hashes of an entry.
const MAX_REPLACED: usize = 10;

/// Lists hashes that were replaced with the evidence against them.
fn replaced(row: &LockedProvider, look: Look) -> Vec<String> {
    let contradict = counted_as(
        row.replaced.len(),
        "recorded hash contradicts",
        "recorded hashes contradict",
    );
    let mut lines = Vec::new();
    for replaced in &row.replaced {
        let hash = &replaced.hash;
        match replaced.contradicted_by {
            ContradictedBy::SignedList => lines.push(format!("  {hash}  not in the list")),
            ContradictedBy::OtherRelease => lines.push(format!("  {hash}  of another release")),
            ContradictedBy::EveryPackage => {
                lines.push(format!("  {hash}  of none of its packages, which have:"));
                for computed in &replaced.computed {
                    lines.push(format!("    {}  {}", computed.hash, computed.platform));
                }
            }
        }
    }
    let signers = signers(row, &mut BTreeSet::new());
    let mut all = vec![format!("{contradict} the checksum list ({signers})")];
    all.extend(reading::first_lines(lines, MAX_REPLACED, look));
    all
}

/// Shows a hash with how it is known, and the platforms that it belongs to or the file that the signed list names.
fn hash(hash: &LockedHash) -> String {
    let mut line = format!("{}  {}", hash.hash, hash.provenance.name());
    let evidence = hash.evidence.as_ref();
    if !hash.platforms.is_empty() {
        line += &format!(", {}", hash.platforms.join(" and "));
    } else if let Some(file) = evidence.and_then(|seen| seen.file.as_ref()) {
        line += &format!(", {file}");
    }
    if let Some(fact) = evidence.and_then(|seen| seen.fact.as_ref()) {
        line += &format!(", kept since {}", fact.since);
        if let Some(key) = &fact.signed_by {
            line += &format!(", signed by {key}");
        }
        if let Some(from) = &fact.imported_from {
            line += &format!(", imported from {from}");
        }
    }
    line
}

/// Counts the hashes that were added, by how they are known.
fn added(roots: &[RootResult], ending: LockEnding) -> Option<TextBlock> {
    // All hashes, and those that an earlier run looked at.
    let mut counts: BTreeMap<Provenance, (usize, usize)> = BTreeMap::new();
    for hash in roots.iter().flat_map(locked).flat_map(|row| &row.hashes) {
        if hash.added {
            let evidence = hash.evidence.as_ref();
            let fact = evidence.and_then(|seen| seen.fact.as_ref());
            let (count, earlier) = counts.entry(hash.provenance).or_default();
            *count += 1;
            *earlier += usize::from(fact.is_some_and(|fact| fact.signed_by.is_none()));
        }
    }
    let all: usize = counts.values().map(|(count, _)| count).sum();
    let parts: Vec<String> = counts
        .into_iter()
        .map(|(provenance, (count, earlier))| {
            let word = match provenance {
                Provenance::Computed => "computed and not covered by a signature",
                provenance => provenance.name(),
            };
            let earlier = match earlier {
                0 => String::new(),
                earlier if earlier == count => " by an earlier run".to_owned(),
                earlier => format!(" ({earlier} by an earlier run)"),
            };
            format!("{count} {word}{earlier}")
        })
        .collect();
    let hashes = ending.hashes_added(all);
    let text = format!("{hashes}: {}", parts.join(", "));
    (all > 0).then_some(TextBlock::Verdict(Tone::Good, text))
}
