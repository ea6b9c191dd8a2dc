//! What `lockctl diff` says about a file.

use crate::diag::Texts;
use crate::flavor::Flavor;
use crate::hash::{Hash, Scheme};
use crate::report::{Change, Changes, Failure, Linked, Remark, Tone, json};
use crate::review::{
    ChangeKind, ExplainedChange, FileCause, FileComparison, ProviderChange, ProviderSide, Risk,
    registry_page,
};

/// A file that was compared, and what failed on the way.
pub(in crate::cli) struct ComparedFile {
    pub(in crate::cli) comparison: FileComparison,
    /// Why a side could not be read.
    pub(in crate::cli) failures: Vec<Failure>,
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

/// Makes the row of a file.
pub(in crate::cli) fn row_of_file(
    file: &ComparedFile,
    status: json::Status,
    texts: &Texts,
) -> json::File {
    let one = &file.comparison;
    let causes = &one.review.causes;
    let sides = one.old.iter().chain(&one.new);
    let findings = sides.flat_map(|side| &side.diagnostics);
    let renamed = causes.iter().find_map(|cause| match cause {
        FileCause::Renamed { from } => Some(from.clone()),
        _ => None,
    });
    let clauses: Vec<String> = causes.iter().map(ToString::to_string).collect();
    json::File {
        path: one.path.clone(),
        old_path: renamed,
        flavor: one.flavor().to_string(),
        status,
        kinds: causes.iter().map(FileCause::kind).collect(),
        cause: clauses.join("; "),
        risk: one.review.risk(),
        findings: findings
            .map(|finding| json::Finding::new(finding, texts))
            .collect(),
        failures: file.failures.iter().map(Into::into).collect(),
        changes: one.review.providers.iter().map(row_of_change).collect(),
        unchanged: one.review.unchanged,
    }
}

fn row_of_change(one: &ExplainedChange) -> json::Change {
    let side = |side: &ProviderSide| {
        let hashes = side.lock.hashes.iter();
        json::Side {
            provider: side.addr.clone(),
            version: side.lock.version.clone(),
            constraints: side.lock.constraints.clone(),
            hashes: Some(hashes.map(|hash| hash.as_str().to_owned()).collect()),
        }
    };
    let change = &one.change;
    json::Change {
        provider: change.addr().clone(),
        kinds: change.kinds.iter().copied().collect(),
        cause: one.sentence(),
        follows_from: one.configuration.as_ref().map(ToString::to_string),
        risk: one.explained.risk,
        old: change.before().map(side),
        new: change.now().map(side),
        step: change.upgrade(),
    }
}
