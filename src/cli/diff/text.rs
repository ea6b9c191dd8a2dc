//! What `lockctl diff` says about a file.

use crate::cli::Look;
use crate::flavor::Flavor;
use crate::hash::{Hash, Scheme};
use crate::report::{Block, Change, Changes, CommandResult, Linked, Remark, Subject, Tone};
use crate::review::{
    ChangeKind, ExplainedChange, FileComparison, ProviderChange, ProviderSide, Risk, registry_page,
};

/// Returns what people read of a result.
pub(super) fn blocks(result: &CommandResult, look: Look) -> Vec<Block> {
    let Subject::Files(all) = &result.subject else {
        return Vec::new();
    };
    let with_details = look.verbose || look.markdown;
    let files = all.files.iter();
    let changes = files.map(|file| changes(&file.comparison, all.are_named, with_details));
    let mut blocks: Vec<Block> = changes.map(Block::Changes).collect();
    let verdict = &all.verdict;
    blocks.push(Block::Verdict(tone(verdict.risk), verdict.text.clone()));
    blocks
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
            row.details = details(&one.change);
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
        remark: remark(one.explained.risk, one.sentence()),
        subject: Linked {
            text: addr.short(flavor),
            url: registry_page(addr, None),
        },
        new: new.filter(|new| old.as_ref().is_none_or(|old| old.text != new.text)),
        old,
        kinds: kinds.collect(),
        details: Vec::new(),
    }
}

/// Lists constraints and single hashes, those that came and those that went.
fn details(change: &ProviderChange) -> Vec<String> {
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
        let line = |sign: char| move |hash: &Hash| format!("{sign} {}", hash.as_str());
        lines.extend(change.lost(scheme).into_iter().map(line('-')));
        lines.extend(change.gained(scheme).into_iter().map(line('+')));
    }
    lines
}
