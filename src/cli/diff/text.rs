//! What `lockctl diff` says about a file.

use std::collections::BTreeMap;

use crate::cli::Look;
use crate::flavor::{Flavor, Program};
use crate::hash::{Hash, Scheme};
use crate::platform;
use crate::report::{
    Block, Change, Changes, CommandResult, Details, FileResult, Linked, Remark, Subject, Tone,
};
use crate::review::{
    Cause, ChangeKind, ExplainedChange, FileComparison, FileReview, FoldedChange, FoldedRemark,
    ProviderSide, Risk, fold, registry_page,
};

/// Returns what people read of a result: equal changes of several files once, unless every detail is
/// wanted on a terminal.
pub(super) fn blocks(result: &CommandResult, look: Look) -> Vec<Block> {
    let Subject::Files(all) = &result.subject else {
        return Vec::new();
    };
    let is_folded = all.files.len() > 1 && (look.markdown || !look.verbose);
    let mut blocks: Vec<Block> = if is_folded {
        vec![Block::Changes(folded(&all.files, look))]
    } else {
        let with_details = look.verbose || look.markdown;
        let files = all.files.iter();
        let changes = files.map(|file| changes(&file.comparison, all.are_named, with_details));
        changes.map(Block::Changes).collect()
    };
    let verdict = &all.verdict;
    let verdict = Block::Verdict(tone(verdict.risk), verdict.text.clone());
    // A terminal shows the end of a long text, a comment its beginning.
    let at = if look.markdown { 0 } else { blocks.len() };
    blocks.insert(at, verdict);
    blocks
}

/// Lists what changed in several files, equal changes together.
fn folded(files: &[FileResult], look: Look) -> Changes {
    let comparisons = files.iter().map(|file| &file.comparison);
    let reviews: Vec<(&str, &FileReview)> =
        comparisons.map(|one| (&*one.path, &one.review)).collect();
    let flavors: BTreeMap<&str, Flavor> = files
        .iter()
        .map(|file| (&*file.comparison.path, file.comparison.flavor()))
        .collect();
    let folded = fold(&reviews);
    let remarks = folded.causes.iter().map(|one| {
        let files = one.files.iter().map(|file| (*file).to_owned());
        Remark {
            files: files.collect(),
            ..remark(one.cause.risk(), one.text())
        }
    });
    let rows = folded.changes.iter().map(|one| {
        let first = one.files().next().map(|(file, _)| flavors[file]);
        let mut row = row(
            one.first,
            first.unwrap_or(Flavor::newest(Program::Terraform)),
        );
        let risk = one.first.explained.risk;
        row.remark = with_files(risk, &one.remark);
        let deviations = one.deviations.iter();
        row.deviations = deviations.map(|said| with_files(risk, said)).collect();
        if look.markdown {
            row.details = folded_details(one);
        }
        row
    });
    Changes {
        file: None,
        remarks: remarks.collect(),
        rows: rows.collect(),
    }
}

fn with_files(risk: Risk, said: &FoldedRemark<'_>) -> Remark {
    let files = said.files.iter().map(|(file, _)| (*file).to_owned());
    Remark {
        files: files.collect(),
        ..remark(risk, said.text.clone())
    }
}

/// Lists the details of a change in several files, equal ones once.
fn folded_details(one: &FoldedChange<'_>) -> Vec<Details> {
    let mut all: Vec<Details> = Vec::new();
    for (file, change) in one.files() {
        let lines = details(change);
        let file = file.to_owned();
        match all.iter_mut().find(|known| known.lines == lines) {
            Some(known) => known.files.push(file),
            None => all.push(Details {
                files: vec![file],
                lines,
            }),
        }
    }
    all
}

/// Returns the tone for a risk.
pub(in crate::cli) fn tone(risk: Risk) -> Tone {
    match risk {
        Risk::Routine => Tone::Good,
        Risk::Notice => Tone::Note,
        Risk::Warning => Tone::Warning,
        Risk::Danger => Tone::Bad,
    }
}

/// Lists what changed in a file.
pub(in crate::cli) fn changes(one: &FileComparison, is_named: bool, with_details: bool) -> Changes {
    let flavor = one.flavor();
    let causes = one.review.causes.iter();
    let remarks = causes.map(|cause| remark(cause.risk(), cause.to_string()));
    let rows = one.review.providers.iter().map(|one| {
        let mut row = row(one, flavor);
        if with_details {
            row.details = vec![Details {
                files: Vec::new(),
                lines: details(one),
            }];
        }
        row
    });
    Changes {
        file: is_named.then(|| one.path.clone()),
        remarks: remarks.collect(),
        rows: rows.collect(),
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

fn row(one: &ExplainedChange, flavor: Flavor) -> Change {
    let change = &one.change;
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
    Change {
        remark: remark(one.explained.risk, one.remark()),
        deviations: Vec::new(),
        subject: Linked {
            text: subject(one, flavor),
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
fn subject(one: &ExplainedChange, flavor: Flavor) -> String {
    let now = one.change.addr().short(flavor);
    let causes = &one.explained.causes;
    let is_other = causes.iter().any(Cause::is_another_publisher);
    match one.change.before().filter(|_| is_other) {
        Some(before) => format!("{} → {now}", before.addr.short(flavor)),
        None => now,
    }
}

/// Lists constraints and single hashes, those that were added and those that were removed, with their
/// platforms where these are known.
fn details(one: &ExplainedChange) -> Vec<String> {
    let change = &one.change;
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
            move |hash: &Hash| match one.owners.get(hash) {
                Some(owners) => format!("{sign} {hash}  {}", platform::join(owners, " ")),
                None => format!("{sign} {hash}"),
            }
        };
        lines.extend(change.lost(scheme).into_iter().map(line('-')));
        lines.extend(change.gained(scheme).into_iter().map(line('+')));
    }
    lines
}
