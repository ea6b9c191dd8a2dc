//! What `lockctl diff` says about a file.

use std::collections::BTreeMap;

use crate::addr::ProviderAddr;
use crate::diag::{Diagnostic, Texts, has_errors};
use crate::flavor::{Flavor, Program};
use crate::hash::{Hash, Scheme};
use crate::lockfile::Document;
use crate::report::{Change, Changes, Failure, Linked, Remark, Tone, json};
use crate::review::{
    Cause, ChangeKind, Explained, FileCause, FileReview, FileSide, ProviderChange, ProviderSide,
    Risk,
};
use crate::version::Version;

/// A lock file on one side, as it was read.
pub(in crate::cli) struct Side {
    pub(in crate::cli) bytes: Vec<u8>,
    pub(in crate::cli) document: Document,
    pub(in crate::cli) diagnostics: Vec<Diagnostic>,
    pub(in crate::cli) flavor: Flavor,
}

/// A clause on each change that the configuration says something about.
pub(in crate::cli) type Because = BTreeMap<ProviderAddr, String>;

/// Both sides of a file, and what differs.
pub(in crate::cli) struct Compared {
    pub(in crate::cli) path: String,
    pub(in crate::cli) old: Option<Side>,
    pub(in crate::cli) new: Option<Side>,
    pub(in crate::cli) review: FileReview,
    /// What the configuration says about a change.
    pub(in crate::cli) because: Because,
    /// Why a side could not be read.
    pub(in crate::cli) failures: Vec<Failure>,
}

impl Side {
    /// Returns what is reviewed of it.
    pub(in crate::cli) fn as_file(&self) -> FileSide<'_> {
        FileSide {
            bytes: &self.bytes,
            document: &self.document,
            is_broken: has_errors(&self.diagnostics),
        }
    }
}

impl Compared {
    /// Returns whose rules apply now.
    pub(in crate::cli) fn flavor(&self) -> Flavor {
        let side = self.new.as_ref().or(self.old.as_ref());
        side.map_or(Flavor::newest(Program::Terraform), |side| side.flavor)
    }

    /// Tells whether a side could be read in part only.
    pub(in crate::cli) fn is_broken(&self) -> bool {
        let mut sides = self.old.iter().chain(&self.new);
        let is_unmerged = self.review.causes.contains(&FileCause::Unmerged);
        is_unmerged || sides.any(|side| has_errors(&side.diagnostics))
    }
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
pub(in crate::cli) fn changes(one: &Compared, is_named: bool, with_details: bool) -> Changes {
    let flavor = one.flavor();
    let remarks = one
        .review
        .causes
        .iter()
        .map(|cause| remark(cause.risk(), cause.to_string()));
    let rows = one.review.providers.iter().map(|(change, explained)| {
        let text = sentence(change, explained, &one.because);
        let mut row = row(change, remark(explained.risk, text), flavor);
        if with_details {
            row.details = details(change);
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

fn row(change: &ProviderChange, remark: Remark, flavor: Flavor) -> Change {
    let addr = change.addr();
    let version = |side: &ProviderSide| linked_version(&side.addr, &side.lock.version);
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
        remark,
        subject: Linked {
            text: addr.short(flavor),
            url: page(addr, None),
        },
        new: new.filter(|new| old.as_ref().is_none_or(|old| old.text != new.text)),
        old,
        kinds: kinds.collect(),
        details: Vec::new(),
    }
}

/// Returns the causes as one sentence, with the constraints where these changed.
fn sentence(change: &ProviderChange, explained: &Explained, because: &Because) -> String {
    let constraints =
        |side: Option<&ProviderSide>| side.map(|side| side.lock.constraints.to_string());
    let (old, new) = (constraints(change.before()), constraints(change.now()));
    let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
    let because = because.get(change.addr()).cloned();
    // The configuration says the same texts where the change follows from it.
    let is_said = because
        .as_ref()
        .is_some_and(|clause| clause.contains(&format!("from {old} to {new}")));
    let clauses = explained.causes.iter().map(|cause| match cause {
        Cause::Constraints(_) if is_said => cause.to_string(),
        Cause::Constraints(_) => format!("{cause} ({old} → {new})"),
        Cause::ConstraintsAdded => format!("{cause} ({new})"),
        Cause::ConstraintsDropped => format!("{cause} (they were {old})"),
        _ => cause.to_string(),
    });
    clauses.chain(because).collect::<Vec<_>>().join("; ")
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

/// Returns the page of a provider at its registry, where that has pages.
fn page(addr: &ProviderAddr, version: Option<&Version>) -> Option<String> {
    let (namespace, name) = (addr.namespace(), addr.type_name());
    let latest = || "latest".to_owned();
    let is_plain = |text: &str| {
        text.chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    };
    // Metadata would need escapes; neither registry lists such a version.
    let version = version.filter(|version| is_plain(&version.to_string()));
    if !is_plain(namespace) || !is_plain(name) {
        return None;
    }
    match addr.hostname().unicode() {
        "registry.terraform.io" => {
            let version = version.map_or_else(latest, Version::to_string);
            Some(format!(
                "https://registry.terraform.io/providers/{namespace}/{name}/{version}"
            ))
        }
        "registry.opentofu.org" => {
            let version = version.map_or_else(latest, |version| format!("v{version}"));
            Some(format!(
                "https://search.opentofu.org/provider/{namespace}/{name}/{version}"
            ))
        }
        _ => None,
    }
}

fn linked_version(addr: &ProviderAddr, version: &Version) -> Linked {
    Linked {
        text: version.to_string(),
        url: page(addr, Some(version)),
    }
}

/// Makes the row of a file.
pub(in crate::cli) fn row_of_file(
    one: &Compared,
    status: json::Status,
    texts: &Texts,
) -> json::File {
    let FileReview {
        causes, unchanged, ..
    } = &one.review;
    let sides = one.old.iter().chain(&one.new);
    let findings = sides.flat_map(|side| &side.diagnostics);
    let renamed = causes.iter().find_map(|cause| match cause {
        FileCause::Renamed { from } => Some(from.clone()),
        _ => None,
    });
    let clauses: Vec<String> = causes.iter().map(ToString::to_string).collect();
    let changes = one.review.providers.iter();
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
        failures: one.failures.iter().map(Into::into).collect(),
        changes: changes
            .map(|(change, explained)| row_of_change(change, explained, &one.because))
            .collect(),
        unchanged: *unchanged,
    }
}

fn row_of_change(
    change: &ProviderChange,
    explained: &Explained,
    because: &Because,
) -> json::Change {
    let side = |side: &ProviderSide| {
        let hashes = side.lock.hashes.iter();
        json::Side {
            provider: side.addr.to_string(),
            version: side.lock.version.to_string(),
            constraints: side.lock.constraints.to_string(),
            hashes: Some(hashes.map(|hash| hash.as_str().to_owned()).collect()),
        }
    };
    json::Change {
        provider: change.addr().to_string(),
        kinds: change.kinds.iter().copied().collect(),
        cause: sentence(change, explained, because),
        follows_from: because.get(change.addr()).cloned(),
        risk: explained.risk,
        old: change.before().map(side),
        new: change.now().map(side),
        step: change.upgrade(),
    }
}
