//! The text of `lockctl diff`, of files and of their changes.

use std::cmp::Reverse;

use crate::addr::ProviderAddr;
use crate::changes;
use crate::hash::{Hash, Scheme};
use crate::platform;
use crate::report::{
    Cell, Column, CommandResult, Look, ResultSubject, RootNames, Row, Table, TextBlock, Tone,
};
use crate::review::{
    CauseKind, ChangeKind, ExplainedChange, FileCause, FileComparison, ProviderSide, Risk,
    StepDown, registry_page,
};
use crate::run::provider;

const COLUMNS: &[Column] = &[
    Column::Key("RISK"),
    Column::Key("PROVIDER"),
    Column::Key("VERSION"),
    Column::Long("TRUST"),
    Column::Key("CHANGE"),
    Column::Prose("REMARK"),
];

/// The index of the column of trust.
const TRUST: usize = 3;

const NAMES: RootNames = RootNames::Below("lock file");

/// The name for the place of a requirement where several are meant.
const ANYWHERE: &str = "the configuration";

/// Returns what people read of a result: equal changes of several files once.
pub(crate) fn blocks(result: &CommandResult, look: Look) -> Vec<TextBlock> {
    let ResultSubject::Files(all) = &result.subject else {
        return Vec::new();
    };
    let files: Vec<&FileComparison> = all.files.iter().map(|file| &file.comparison).collect();
    let mut blocks = Vec::new();
    if let ([file], true) = (&*files, all.are_named) {
        blocks.push(TextBlock::Heading(file.path.clone()));
    }
    let details = if look.verbose || look.markdown {
        Details::All
    } else {
        Details::None
    };
    blocks.push(TextBlock::Table(causes(&files)));
    blocks.push(TextBlock::Table(table(&files, details)));
    blocks.push(TextBlock::Table(pins(&files)));
    if let Some(releases) = &all.releases {
        blocks.extend(changes::text::blocks(releases, look));
    }
    let verdict = &all.verdict;
    let verdict = TextBlock::Verdict(tone(verdict.risk), verdict.text.clone());
    // A terminal shows the end of a long text, a comment its beginning.
    let at = if look.markdown { 0 } else { blocks.len() };
    blocks.insert(at, verdict);
    // The stream of remarks is no part of a comment.
    if look.markdown {
        let warnings = result
            .remarks
            .iter()
            .filter(|remark| remark.tone > Tone::Note)
            .map(|remark| TextBlock::Remark(remark.tone, remark.text.clone()));
        blocks.splice(1..1, warnings);
    }
    blocks
}

/// The lines below each change: constraints and single hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Details {
    All,
    /// Only if all changes together have no more lines than this.
    AtMost(usize),
    None,
}

/// Returns how the providers of comparisons are named.
pub(crate) fn naming(files: &[&FileComparison]) -> impl Fn(&ProviderAddr) -> String + use<> {
    let sides = files
        .iter()
        .flat_map(|file| &file.review.providers)
        .flat_map(|provider| {
            let change = &provider.change;
            change.before().into_iter().chain(change.now())
        });
    let flavor = files.first().map(|file| file.flavor());
    let flavor = provider::short_by(sides.map(|side| &side.addr), flavor);
    move |provider| match flavor {
        Some(flavor) => provider.short(flavor),
        None => provider.to_string(),
    }
}

/// Returns the tone for a risk.
pub(crate) fn tone(risk: Risk) -> Tone {
    match risk {
        Risk::Routine => Tone::Good,
        Risk::Notice => Tone::Note,
        Risk::Warning => Tone::Warning,
        Risk::Danger => Tone::Bad,
    }
}

/// Lists what happened to files as a whole.
pub(crate) fn causes(files: &[&FileComparison]) -> Table {
    let rows = files.iter().flat_map(|file| {
        file.review.causes.iter().map(|cause| {
            let text = match cause.kind {
                // The old path and the number of comments differ from file to file.
                FileCause::Renamed if files.len() > 1 => "the file was moved".to_owned(),
                FileCause::CommentsLost if files.len() > 1 => {
                    "comments of an author were removed: the programs keep none".to_owned()
                }
                _ => cause.text.clone(),
            };
            let row = Row {
                tone: Some(tone(cause.risk)),
                ..Row::new(&file.path, [cause.risk.name().into(), text.into()])
            };
            (Reverse(cause.risk), row)
        })
    });
    Table::sorted(&[Column::Key("RISK"), Column::Sentence("FILE")], rows)
        .without_head()
        .naming(NAMES)
}

/// Lists what changed in files of pinned modules.
fn pins(files: &[&FileComparison]) -> Table {
    let rows = files.iter().flat_map(|file| {
        file.review.pins.iter().map(|change| {
            let cells = [
                change.risk.name().into(),
                format!("module {}", change.module).into(),
                change.cause.clone().into(),
            ];
            let row = Row {
                tone: Some(tone(change.risk)),
                ..Row::new(&file.path, cells)
            };
            ((Reverse(change.risk), &change.module), row)
        })
    });
    let columns = &[
        Column::Key("RISK"),
        Column::Key("MODULE"),
        Column::Prose("CHANGE"),
    ];
    Table::sorted(columns, rows)
        .without_head()
        .naming(RootNames::Below("file"))
}

/// Lists what changed in the entries of files.
pub(crate) fn table(files: &[&FileComparison], details: Details) -> Table {
    let name = naming(files);
    let are_many = files.len() > 1;
    let mut rows = Vec::new();
    for file in files {
        for provider in &file.review.providers {
            let key = |risk| (Reverse(risk), provider.change.addr());
            let [subject, version, kinds] = cells(provider, &name);
            let mut provider_now = provider.clone();
            if are_many {
                // Each file has its own configuration, so the places differ where all else is the same.
                provider_now.configuration = provider
                    .configuration
                    .as_ref()
                    .map(|cause| cause.at(ANYWHERE));
            }
            let risk = provider.explained.risk;
            let mut change = row(
                file,
                risk,
                [subject.clone(), version.clone(), kinds],
                provider_now.remarks(),
            );
            change.cells[TRUST] = provider
                .trust
                .iter()
                .map(StepDown::in_full)
                .collect::<Vec<_>>()
                .into();
            change.details = lines(provider);
            rows.push((key(risk), change));
            for build in &provider.builds {
                let cells = [subject.clone(), version.clone(), build.kind.into()];
                rows.push((
                    key(risk),
                    row(file, build.risk, cells, vec![build.text.clone()]),
                ));
            }
        }
    }
    let mut table = Table::sorted(COLUMNS, rows).without_head().naming(NAMES);
    let count: usize = table.rows.iter().map(|row| row.details.len()).sum();
    let are_shown = match details {
        Details::All => true,
        Details::AtMost(most) => count <= most,
        Details::None => false,
    };
    if !are_shown {
        table.rows.iter_mut().for_each(|row| row.details.clear());
    }
    table
}

fn row(
    file: &FileComparison,
    risk: Risk,
    [subject, version, kinds]: [Cell; 3],
    remark: Vec<String>,
) -> Row {
    let cells = [
        risk.name().into(),
        subject,
        version,
        Cell::default(),
        kinds,
        remark.into(),
    ];
    Row {
        tone: Some(tone(risk)),
        ..Row::new(&file.path, cells)
    }
}

/// Returns the cells about the provider, its versions, and in what it changed.
fn cells(provider: &ExplainedChange, name: &dyn Fn(&ProviderAddr) -> String) -> [Cell; 3] {
    let change = &provider.change;
    let version = |side: &ProviderSide| side.lock.version.to_string();
    let mut versions: Vec<String> = change
        .before()
        .into_iter()
        .chain(change.now())
        .map(version)
        .collect();
    versions.dedup();
    let shown = change.now().or(change.before());
    let page = shown.and_then(|side| registry_page(&side.addr, Some(&side.lock.version)));
    let kinds = change
        .kinds
        .iter()
        .map(|kind| match (kind, change.upgrade()) {
            (ChangeKind::Upgraded, Some(upgrade)) => {
                format!("{} ({})", kind.name(), upgrade.name())
            }
            _ => kind.name().to_owned(),
        });
    [
        Cell::linked(subject(provider, name), registry_page(change.addr(), None)),
        Cell::linked(versions.join(" → "), page),
        kinds.collect::<Vec<_>>().join(", ").into(),
    ]
}

/// Names the provider; one that replaces another publisher's, or comes from another registry than those of
/// the programs, with that one.
fn subject(provider: &ExplainedChange, name: &dyn Fn(&ProviderAddr) -> String) -> String {
    let now = name(provider.change.addr());
    let is_other = provider
        .explained
        .causes
        .iter()
        .any(|cause| cause.kind == CauseKind::OtherPublisher);
    match provider.change.before().filter(|_| is_other) {
        Some(before) => format!("{} → {now}", name(&before.addr)),
        None => now,
    }
}

/// Lists constraints and single hashes, those that were added and those that were removed, with their
/// platforms where these are known.
fn lines(provider: &ExplainedChange) -> Vec<String> {
    let change = &provider.change;
    let mut lines = Vec::new();
    let mut both = |name: &str, value: &dyn Fn(&ProviderSide) -> String| {
        let (old, new) = (change.before().map(value), change.now().map(value));
        if old == new {
            return;
        }
        let is_stated = |text: &String| !text.is_empty();
        lines.extend(old.filter(is_stated).map(|old| format!("- {name} = {old}")));
        lines.extend(new.filter(is_stated).map(|new| format!("+ {name} = {new}")));
    };
    both("provider", &|side| side.addr.to_string());
    both("version", &|side| side.lock.version.to_string());
    both("constraints", &|side| side.lock.constraints.to_string());
    for scheme in [Scheme::H1, Scheme::Zh, Scheme::Other] {
        let line = |sign: char| {
            move |hash: &Hash| match provider.owners.get(hash) {
                Some(owners) => format!("{sign} {hash}  {}", platform::join(owners, " ")),
                None => format!("{sign} {hash}"),
            }
        };
        lines.extend(change.lost(scheme).into_iter().map(line('-')));
        lines.extend(change.gained(scheme).into_iter().map(line('+')));
    }
    lines
}
