//! The text of `lockctl diff`, of files and of their changes.

use crate::addr::ProviderAddr;
use crate::cli::Look;
use crate::cli::session::provider;
use crate::hash::{Hash, Scheme};
use crate::platform;
use crate::report::{
    ChangeLine, Changes, CommandResult, Details, Linked, Remark, ResultSubject, TextBlock, Tone,
};
use crate::review::{
    Cause, ChangeKind, ExplainedChange, FileComparison, FileReview, FoldedRemark, ProviderSide,
    Risk, fold, registry_page,
};

/// Number of lines of the verdict.
const LINES_BELOW: usize = 2;

/// Returns what people read of a result: equal changes of several files once, unless every detail is
/// wanted on a terminal.
pub(super) fn blocks(result: &CommandResult, look: Look) -> Vec<TextBlock> {
    let ResultSubject::Files(all) = &result.subject else {
        return Vec::new();
    };
    let is_folded = all.files.len() > 1 && (look.markdown || !look.verbose);
    let mut blocks: Vec<TextBlock> = if is_folded {
        let all: Vec<&FileComparison> = all.files.iter().map(|file| &file.comparison).collect();
        let mut changes = folded(&all, look);
        let more = look
            .lines
            .filter(|_| !look.markdown)
            .and_then(|lines| changes.limit(lines.saturating_sub(LINES_BELOW), look.terminal));
        let more = more.map(|more| TextBlock::Lines(vec![more]));
        let mut blocks = vec![TextBlock::Changes(changes)];
        blocks.extend(more);
        blocks
    } else {
        let with_details = look.verbose || look.markdown;
        let compared: Vec<&FileComparison> =
            all.files.iter().map(|file| &file.comparison).collect();
        let name = naming(&compared);
        all.files
            .iter()
            .map(|file| changes(&file.comparison, &name, all.are_named, with_details))
            .map(TextBlock::Changes)
            .collect()
    };
    let verdict = &all.verdict;
    let verdict = TextBlock::Verdict(tone(verdict.risk), verdict.text.clone());
    // A terminal shows the end of a long text, a comment its beginning.
    let at = if look.markdown { 0 } else { blocks.len() };
    blocks.insert(at, verdict);
    blocks
}

/// Returns how the providers of comparisons are named.
pub(in crate::front::cli) fn naming(
    files: &[&FileComparison],
) -> impl Fn(&ProviderAddr) -> String + use<> {
    let changes = files.iter().flat_map(|file| &file.review.providers);
    let sides = changes.flat_map(|provider| {
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

/// Lists what changed in several files, equal changes together.
pub(in crate::front::cli) fn folded(files: &[&FileComparison], look: Look) -> Changes {
    let reviews: Vec<(&str, &FileReview)> = files
        .iter()
        .map(|file| (&*file.path, &file.review))
        .collect();
    let name = naming(files);
    let folded = fold(&reviews);
    let remarks = folded.causes.iter().map(|cause| Remark {
        files: cause.files.iter().map(|file| (*file).to_owned()).collect(),
        ..remark(cause.cause.risk(), cause.text())
    });
    let rows = folded.changes.iter().map(|change| {
        let mut row = row(change.first, &name);
        let risk = change.first.explained.risk;
        row.remark = with_files(risk, &change.remark);
        row.deviations = change
            .deviations
            .iter()
            .map(|said| with_files(risk, said))
            .collect();
        if look.markdown {
            // Files with the very same details share them.
            for (file, change) in change.files() {
                let (lines, file) = (details(change), file.to_owned());
                match row.details.iter_mut().find(|known| known.lines == lines) {
                    Some(known) => known.files.push(file),
                    None => row.details.push(Details {
                        files: vec![file],
                        lines,
                    }),
                }
            }
        }
        row
    });
    Changes {
        file: None,
        remarks: remarks.collect(),
        rows: rows.collect(),
        columns: None,
    }
}

fn with_files(risk: Risk, said: &FoldedRemark<'_>) -> Remark {
    Remark {
        files: said
            .files
            .iter()
            .map(|(file, _)| (*file).to_owned())
            .collect(),
        ..remark(risk, said.text.clone())
    }
}

/// Returns the tone for a risk.
pub(in crate::front::cli) fn tone(risk: Risk) -> Tone {
    match risk {
        Risk::Routine => Tone::Good,
        Risk::Notice => Tone::Note,
        Risk::Warning => Tone::Warning,
        Risk::Danger => Tone::Bad,
    }
}

/// Lists what changed in a file.
pub(in crate::front::cli) fn changes(
    comparison: &FileComparison,
    name: &dyn Fn(&ProviderAddr) -> String,
    is_named: bool,
    with_details: bool,
) -> Changes {
    let remarks = comparison
        .review
        .causes
        .iter()
        .map(|cause| remark(cause.risk(), comparison.review.clause(*cause)));
    let rows = comparison.review.providers.iter().map(|provider| {
        let mut row = row(provider, name);
        if with_details {
            row.details = vec![Details {
                files: Vec::new(),
                lines: details(provider),
            }];
        }
        row
    });
    Changes {
        file: is_named.then(|| comparison.path.clone()),
        remarks: remarks.collect(),
        rows: rows.collect(),
        columns: None,
    }
}

fn remark(risk: Risk, text: String) -> Remark {
    Remark {
        tone: tone(risk),
        grade: risk.name(),
        text,
        files: Vec::new(),
    }
}

fn row(provider: &ExplainedChange, name: &dyn Fn(&ProviderAddr) -> String) -> ChangeLine {
    let change = &provider.change;
    let addr = change.addr();
    let version = |side: &ProviderSide| Linked {
        text: side.lock.version.to_string(),
        url: registry_page(&side.addr, Some(&side.lock.version)),
    };
    let (old, new) = (change.before().map(version), change.now().map(version));
    let kinds = change
        .kinds
        .iter()
        .map(|kind| match (kind, change.upgrade()) {
            (ChangeKind::Upgraded, Some(upgrade)) => {
                format!("{} ({})", kind.name(), upgrade.name())
            }
            _ => kind.name().to_owned(),
        });
    ChangeLine {
        remark: remark(provider.explained.risk, provider.remark()),
        deviations: Vec::new(),
        beside: provider
            .builds
            .iter()
            .map(|change| remark(change.risk(), change.to_string()))
            .collect(),
        subject: Linked {
            text: subject(provider, name),
            url: registry_page(addr, None),
        },
        new: new.filter(|new| old.as_ref().is_none_or(|old| old.text != new.text)),
        old,
        kinds: kinds.collect(),
        details: Vec::new(),
    }
}

/// Names the provider; one that replaces another publisher's, or comes from another registry than those of
/// the programs, with that one.
fn subject(provider: &ExplainedChange, name: &dyn Fn(&ProviderAddr) -> String) -> String {
    let now = name(provider.change.addr());
    let is_other = provider
        .explained
        .causes
        .iter()
        .any(Cause::is_another_publisher);
    match provider.change.before().filter(|_| is_other) {
        Some(before) => format!("{} → {now}", name(&before.addr)),
        None => now,
    }
}

/// Lists constraints and single hashes, those that were added and those that were removed, with their
/// platforms where these are known.
fn details(provider: &ExplainedChange) -> Vec<String> {
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
