//! How `lockctl lock` reads.

use super::{LockOptions, dropped, in_use};
use crate::cli::{Look, convert, diff};
use crate::diag::{counted, counted_as};
use crate::flavor::Flavor;
use crate::package::Provenance;
use crate::report::json::{ContradictedBy, LockedProvider, Provider};
use crate::report::reading::{self, Heading, Total};
use crate::report::{CommandResult, Failure, RootResult, TextBlock, Tone};
use crate::run::unseen::some_of;
use crate::version::{VersionStep, step};

/// Whether something was done, or would be: it depends on the options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Tense {
    Done,
    Would,
}

impl Tense {
    pub(in crate::cli) fn of(options: &LockOptions) -> Self {
        match options.writes() {
            true => Self::Done,
            false => Self::Would,
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

/// Shows each root, then which versions they lock, then how all came out.
///
/// Markdown begins with what is about all roots, because it is cut where it becomes too long.
pub(in crate::cli) fn of_all(result: &CommandResult, tense: Tense, look: Look) -> Vec<TextBlock> {
    let roots = result.roots();
    let each = if look.markdown && in_use::are_many(roots.len()) {
        in_short(result)
    } else {
        let own = roots
            .iter()
            .map(|root| of_root(root, tense, look))
            .collect();
        reading::each(roots, own, Heading::Path)
    };
    let in_use = in_use::blocks(result, look);
    let (first, then) = match look.markdown {
        true => (in_use, each),
        false => (each, in_use),
    };
    let mut blocks = [first, then].concat();
    let total = reading::total(result, Total::Result, look.verbose);
    blocks.extend(total.map(reading::verdict));
    blocks
}

/// How many failures of many roots are shown; more are counted.
const MAX_FAILURES: usize = 20;

/// Shows what failed, and how each of many roots came out.
fn in_short(result: &CommandResult) -> Vec<TextBlock> {
    let failures = result.failures();
    let more = failures.len().saturating_sub(MAX_FAILURES);
    let failures = failures.into_iter().take(MAX_FAILURES);
    let failures = failures.map(|(failure, paths)| {
        let paths = paths.iter().map(|path| (*path).to_owned());
        TextBlock::Failure(Failure {
            title: format!("{}: {}", some_of(paths).join(", "), failure.title),
            ..failure.clone()
        })
    });
    let mut blocks: Vec<TextBlock> = failures.collect();
    if more > 0 {
        let text = counted_as(more, "more failure is", "more failures are");
        blocks.push(TextBlock::Verdict(
            Tone::Bad,
            format!("{text} not shown here"),
        ));
    }
    let head = vec!["ROOT".to_owned(), "RESULT".to_owned()];
    let rows = result.roots().iter().filter_map(|root| {
        let verdict = root.verdict.as_ref()?;
        Some(vec![root.path.clone(), verdict.text.clone()])
    });
    blocks.push(TextBlock::Table(
        std::iter::once(head).chain(rows).collect(),
    ));
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
    let rows: Vec<Vec<String>> = locked(root).map(|one| row(one, flavor, tense)).collect();
    if look.markdown && !rows.is_empty() {
        let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        let titles = TITLES.iter().take(columns).map(|title| (*title).to_owned());
        let titles: Vec<String> = titles.collect();
        blocks.push(TextBlock::Table(
            std::iter::once(titles).chain(rows).collect(),
        ));
    } else if !rows.is_empty() {
        blocks.push(TextBlock::Table(rows));
    }
    let repaired = locked(root).filter(|one| !one.replaced.is_empty());
    blocks.extend(repaired.map(|one| TextBlock::Lines(replaced(one, flavor, tense))));
    let shrunk = locked(root).filter(|one| !one.dropped.is_empty());
    blocks.extend(shrunk.map(|one| {
        let name = format!("{} {}", one.provider.short(flavor), one.version);
        let are = match (tense, one.dropped.len()) {
            (Tense::Done, 1) => "is",
            (Tense::Done, _) => "are",
            (Tense::Would, _) => "would be",
        };
        TextBlock::Lines(dropped::lines(&name, &one.dropped, are))
    }));
    let staying = convert::lines(
        root.lock()
            .and_then(|lock| lock.converted.as_deref())
            .unwrap_or_default(),
        flavor,
    );
    if !staying.is_empty() {
        blocks.push(TextBlock::Lines(staying));
    }
    if look.verbose {
        blocks.extend(locked(root).map(|one| TextBlock::Lines(hashes(one, flavor))));
    }
    if let Some(comparison) = root.lock().and_then(|lock| lock.comparison.as_ref()) {
        let changes = diff::text::changes(comparison, false, true);
        blocks.push(TextBlock::Changes(changes));
    }
    blocks.push(reading::verdict(verdict.clone()));
    blocks
}

fn locked(root: &RootResult) -> impl Iterator<Item = &LockedProvider> {
    root.providers.iter().filter_map(|one| match one {
        Provider::Locked(one) => Some(one),
        _ => None,
    })
}

fn row(one: &LockedProvider, flavor: Flavor, tense: Tense) -> Vec<String> {
    let added = one.hashes.iter().filter(|hash| hash.added).count();
    let kept = one.hashes.iter().filter(|hash| !hash.added);
    let kept = kept.filter(|hash| hash.provenance == Provenance::Kept);
    let (hash, hashes, replaced, dropped) = match tense {
        Tense::Done => ("hash added", "hashes added", "replaced", "removed"),
        Tense::Would => ("hash to add", "hashes to add", "to replace", "to remove"),
    };
    let mut hashes = counted_as(added, hash, hashes);
    let kept = kept.count();
    if !one.replaced.is_empty() {
        hashes = format!("{hashes}, {} {replaced}", one.replaced.len());
    }
    if !one.dropped.is_empty() {
        hashes = format!("{hashes}, {} {dropped}", one.dropped.len());
    }
    if kept > 0 {
        hashes = format!("{hashes}, {kept} kept");
    }
    let constraints = one.constraints.to_string();
    let mut cells = vec![
        one.provider.short(flavor),
        version(one),
        if constraints.is_empty() {
            "any version".to_owned()
        } else {
            constraints
        },
        match (one.selected, &one.from, tense) {
            (_, Some(_), Tense::Done) => "moved",
            (_, Some(_), Tense::Would) => "would move",
            (true, None, _) => "selected",
            (false, None, _) => "kept",
        }
        .to_owned(),
        counted(one.hashed_platforms, "platform"),
        hashes,
    ];
    if !one.signers.is_empty() {
        let signers = one.signers.iter().map(|signer| signer.text.as_str());
        cells.push(signers.collect::<Vec<_>>().join("; "));
    }
    cells
}

/// Shows the version, and where it moved from.
fn version(one: &LockedProvider) -> String {
    let version = &one.version;
    let Some(from) = &one.from else {
        return version.to_string();
    };
    let kind = match step(from, version) {
        VersionStep::Up(upgrade) => upgrade.name(),
        VersionStep::Down | VersionStep::Same => "downgrade",
    };
    format!("{from} → {version} ({kind})")
}

/// Lists every hash that was replaced with the evidence against it.
fn replaced(one: &LockedProvider, flavor: Flavor, tense: Tense) -> Vec<String> {
    let name = format!("{} {}", one.provider.short(flavor), one.version);
    let (hashes, are) = match one.replaced.len() {
        1 => ("1 recorded hash contradicts".to_owned(), "is"),
        more => (format!("{more} recorded hashes contradict"), "are"),
    };
    let are = match tense {
        Tense::Done => are,
        Tense::Would => "would be",
    };
    let signers = one.signers.iter().map(|signer| signer.text.as_str());
    let signers = signers.collect::<Vec<_>>().join("; ");
    let mut lines = vec![format!(
        "{name}: {hashes} the checksum list ({signers}) and {are} replaced"
    )];
    for replaced in &one.replaced {
        let hash = &replaced.hash;
        match replaced.contradicted_by {
            ContradictedBy::SignedList => lines.push(format!("  {hash}  not in the list")),
            ContradictedBy::EveryPackage => {
                lines.push(format!("  {hash}  of none of its packages, which have:"));
                let computed = replaced.computed.iter();
                let computed = computed.map(|own| format!("    {}  {}", own.hash, own.platform));
                lines.extend(computed);
            }
        }
    }
    lines
}

/// Lists every hash with how it is known, and the platforms that it belongs to or the file that the
/// signed list names.
fn hashes(one: &LockedProvider, flavor: Flavor) -> Vec<String> {
    let mut lines = vec![format!("{} {}", one.provider.short(flavor), one.version)];
    for hash in &one.hashes {
        let word = match hash.provenance {
            Provenance::Signed => "signed",
            Provenance::Proven => "proven",
            Provenance::Computed => "computed",
            Provenance::Claimed => "claimed",
            Provenance::Kept => "kept",
        };
        let mut line = format!("  {}  {word}", hash.hash);
        let file = hash.evidence.as_ref().and_then(|seen| seen.file.as_ref());
        match file {
            _ if !hash.platforms.is_empty() => {
                line += &format!(", {}", hash.platforms.join(" and "));
            }
            Some(file) => line += &format!(", {file}"),
            None => {}
        }
        let fact = hash.evidence.as_ref().and_then(|seen| seen.fact.as_ref());
        if let Some(fact) = fact {
            line += &format!(", kept since {}", fact.since);
            if let Some(from) = &fact.imported_from {
                line += &format!(", imported from {from}");
            }
        }
        lines.push(line);
    }
    lines
}
