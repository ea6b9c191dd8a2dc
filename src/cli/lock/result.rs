//! What `lockctl lock` reports of a root that was locked.

use std::collections::BTreeMap;

use super::dropped;
use super::evidence::{self, EvidenceRows};
use super::provenance;
use crate::addr::ProviderAddr;
use crate::authenticate::{self, Class};
use crate::cli::advice;
use crate::diag::{self, counted, counted_as};
use crate::flavor::Flavor;
use crate::hash::{Hash, Match, Scheme};
use crate::locker::{Locked, ProviderOutcome};
use crate::lockfile::{Document, LockFile};
use crate::package::Provenance;
use crate::package::calendar::timestamp;
use crate::platform::{self, Platform};
use crate::report::json::{
    LockedHash, LockedProvider, PassedOverRelease, Provider, RemovedProvider, SignerRow, StatedDate,
};
use crate::report::{RootResult, Sentence, Tone};
use crate::resolve::{Goal, Goals, Reach};
use crate::review::{FileComparison, LockSide};
use crate::run::root::Root;
use crate::run::unseen::{Names, Unseen};
use crate::version::{Upgrade, VersionStep, step};

/// What became of the lock file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// It is as it was.
    UpToDate,
    /// It was written.
    Written,
    /// It would be written.
    WouldWrite,
}

/// Reports what was done for each provider, and what is worth knowing about it.
pub(super) fn outcome(
    result: &mut RootResult,
    locked: &Locked,
    root: &Root,
    goals: &Goals,
    ending: Ending,
    evidence: &mut EvidenceRows,
) {
    let flavor = root.flavor;
    for one in &locked.providers {
        let row = Provider::Locked(entry(one, locked, evidence));
        result.providers.push(row);
        platforms(result, one, root);
        warnings(result, one, flavor);
        signers(result, one, flavor);
        provenance::remarks(result, one, flavor);
        announced(result, one, flavor);
        fewer_platforms(result, one, locked, root);
        let goal = goals.of(&one.provider);
        went_down(result, one, locked, goal, flavor);
        passed_over(result, one, flavor);
        newer(result, one, locked, goal, flavor);
        trust(result, one, flavor);
        not_compared(result, one, locked, flavor);
        dropped::remarks(result, one, root);
    }
    provenance::count(result, locked);
    let names = |addrs: &[ProviderAddr]| {
        let names: Vec<String> = addrs.iter().map(|addr| addr.short(flavor)).collect();
        names.join(", ")
    };
    if !locked.unrequired.is_empty() {
        result.remark(format!(
            "kept, because what cannot be seen may require it: {}",
            names(&locked.unrequired)
        ));
    }
    for error in &locked.unavailable {
        result.warn(format!("the entry was kept as it is: {error}"));
    }
    if !locked.removed.is_empty() {
        let removed = locked.removed.iter();
        let removed = removed.map(|addr| RemovedProvider {
            provider: addr.to_string(),
            removed: true,
        });
        let removed = removed.map(Provider::Removed);
        result.providers.extend(removed);
        let removed = match ending {
            Ending::UpToDate | Ending::Written => "removed",
            Ending::WouldWrite => "would be removed",
        };
        result.remark(format!(
            "{removed}, since neither configuration nor state requires it: {}",
            names(&locked.removed)
        ));
    }
    for (old, twin) in &locked.carried_over {
        let text = format!(
            "the locked version of {old} was carried over to {twin}, as OpenTofu does; its hashes \
             were not"
        );
        result.ruled(diag::named("entries-carried-over"), twin, text);
    }
}

fn entry(one: &ProviderOutcome, locked: &Locked, evidence: &mut EvidenceRows) -> LockedProvider {
    let of = owners(one);
    let entry = &locked.lock.providers[&one.provider];
    let hashes = entry.hashes.iter().map(|hash| LockedHash {
        hash: hash.clone(),
        provenance: one.provenance(hash),
        platforms: of.get(hash).cloned().unwrap_or_default(),
        added: one.added.contains(hash),
        evidence: one.evidence.of(hash).map(|seen| evidence.row(hash, &seen)),
    });
    let signers = one.signers.iter().map(|signer| SignerRow {
        class: signer.class,
        key_id: signer.key_id.clone(),
        text: signed_by(signer),
    });
    let dates = one.age.as_ref().and_then(|search| search.dates.as_ref());
    let passed_over = one.age.iter().flat_map(|search| &search.passed_over);
    let passed_over = passed_over.map(|one| PassedOverRelease {
        version: one.version.to_string(),
        dates: StatedDate::all(&one.dates),
        old_enough_at: advice::age::until(one).map(timestamp),
    });
    LockedProvider {
        provider: one.provider.clone(),
        version: one.version.clone(),
        selected: one.selected,
        from: one.moved_from.clone(),
        newest: one.newest.clone(),
        constraints: entry.constraints.clone(),
        hashes: hashes.collect(),
        replaced: evidence::replaced(one),
        dropped: dropped::rows(one),
        signers: signers.collect(),
        hashed_platforms: one.computed.len(),
        dates: dates.map(StatedDate::all).unwrap_or_default(),
        passed_over: passed_over.collect(),
        skipped_platforms: one.skipped.iter().map(ToString::to_string).collect(),
        unknown_platforms: one.unknown.iter().map(ToString::to_string).collect(),
    }
}

/// Returns which platforms each computed hash belongs to.
fn owners(one: &ProviderOutcome) -> BTreeMap<&Hash, Vec<String>> {
    let mut of: BTreeMap<&Hash, Vec<String>> = BTreeMap::new();
    for (platform, hash) in one.computed.iter().chain(&one.stated) {
        of.entry(hash).or_default().push(platform.to_string());
    }
    of
}

/// Says who signed, always with the key: a project file may pin it.
fn signed_by(signer: &authenticate::Signer) -> String {
    match signer.class {
        Class::HashiCorp => format!("{signer}, key ID {}", signer.key_id),
        Class::Partner | Class::SelfSigned | Class::Signed => signer.to_string(),
    }
}

/// Says for which platforms there is no package of their own, and how to state that for `verify`.
fn platforms(result: &mut RootResult, one: &ProviderOutcome, root: &Root) {
    let short = one.provider.short(root.flavor);
    let name = format!("{short} {}", one.version);
    let distinct = owners(one);
    if !one.unknown.is_empty() {
        result.remark(format!(
            "{name}: whether {} {} covered is not known, since no source was asked; enough recorded \
             h1: are left for that",
            platform::join(&one.unknown, ", "),
            if one.unknown.len() == 1 { "is" } else { "are" }
        ));
    }
    let mut said = Vec::new();
    if !one.skipped.is_empty() {
        said.push(format!(
            "has no package for {}: skipped",
            platform::join(&one.skipped, ", ")
        ));
    }
    let packages = one.computed.len() + one.stated.len();
    if distinct.len() < packages {
        said.push(format!(
            "has {} for {} platforms",
            counted(distinct.len(), "package"),
            packages,
        ));
    }
    if said.is_empty() {
        return;
    }
    // One platform for each package: `verify` counts hashes.
    let mut firsts: Vec<&String> = distinct.values().filter_map(|own| own.first()).collect();
    firsts.sort();
    result.remark(format!(
        "{name} {}; for `verify`, write `provider {short:?} {{ platforms = {firsts:?} }}` to {}",
        said.join(", and "),
        root.project_name()
    ));
}

/// Shows the warnings of the registry.
fn warnings(result: &mut RootResult, one: &ProviderOutcome, flavor: Flavor) {
    let name = one.provider.short(flavor);
    for warning in &one.warnings {
        let text = format!("the registry says of {name}: {warning}");
        result.ruled(diag::named("registry-warning"), &one.provider, text);
    }
}

/// Says where a release differs from what its registry lists.
fn announced(result: &mut RootResult, one: &ProviderOutcome, flavor: Flavor) {
    let name = format!("{} {}", one.provider.short(flavor), one.version);
    if !one.missing.is_empty() {
        let text = format!(
            "{name} is listed for {}, but there is no package",
            platform::join(&one.missing, ", ")
        );
        result.ruled(diag::named("package-missing"), &one.provider, text);
    }
    for (platform, filename) in &one.misnamed {
        let text = format!(
            "the package of {name} for {platform} is signed under the name {filename:?}: only \
             the registry states that it is this version and platform"
        );
        result.ruled(diag::named("package-misnamed"), &one.provider, text);
    }
}

/// Says what is unusual about keys and signatures that count all the same.
fn signers(result: &mut RootResult, one: &ProviderOutcome, flavor: Flavor) {
    let name = format!("{} {}", one.provider.short(flavor), one.version);
    for signer in &one.signers {
        for remark in &signer.remarks {
            let text = format!("{name} is signed by key {}: {remark}", signer.key_id);
            result.ruled(diag::named("signature-odd"), &one.provider, text);
        }
    }
}

/// Says why a version is lower than the locked one, if that was not asked for.
fn went_down(
    result: &mut RootResult,
    one: &ProviderOutcome,
    locked: &Locked,
    goal: &Goal,
    flavor: Flavor,
) {
    let version = &one.version;
    let from = one.moved_from.as_ref();
    let from = from.filter(|from| step(from, version) == VersionStep::Down);
    let (Some(from), Goal::Newest(_)) = (from, goal) else {
        return;
    };
    let constraints = &locked.lock.providers[&one.provider].constraints;
    let why = if constraints.allows(from) {
        "is not offered any more".to_owned()
    } else {
        format!("does not meet the constraints \"{constraints}\"")
    };
    let name = one.provider.short(flavor);
    result.remark(format!("{name} went down to {version}: {from} {why}"));
}

/// Says which hashes a move has cost: a version may have had an `h1:` for more platforms.
fn fewer_platforms(result: &mut RootResult, one: &ProviderOutcome, locked: &Locked, root: &Root) {
    let Some(from) = &one.moved_from else {
        return;
    };
    let (name, version) = (one.provider.short(root.flavor), &one.version);
    let h1 = |lock: &LockFile| {
        let entry = lock.providers.get(&one.provider);
        entry.map_or(0, |entry| entry.hashes.of(Scheme::H1).count())
    };
    let (before, now) = (h1(&root.document().lock), h1(&locked.lock));
    if now < before {
        result.remark(format!(
            "{name} {from} had {}, {version} has {now}: `--platform` names more platforms",
            counted_as(before, "h1: hash", "h1: hashes")
        ));
    }
}

/// Says which releases were not selected because of their age.
fn passed_over(result: &mut RootResult, one: &ProviderOutcome, flavor: Flavor) {
    let search = one.age.as_ref();
    let name = one.provider.short(flavor);
    if let Some(text) = search.and_then(|search| advice::age::passed_over(&name, search)) {
        result.remark(text);
    }
}

fn newer(
    result: &mut RootResult,
    one: &ProviderOutcome,
    locked: &Locked,
    goal: &Goal,
    flavor: Flavor,
) {
    let version = &one.version;
    let Some(newest) = one.newest.as_ref().filter(|newest| *newest > version) else {
        return;
    };
    let kind = match step(version, newest) {
        VersionStep::Up(Upgrade::Major) => "a major upgrade",
        VersionStep::Up(Upgrade::Minor) => "a minor upgrade",
        _ => "a patch upgrade",
    };
    let name = one.provider.short(flavor);
    let constraints = &locked.lock.providers[&one.provider].constraints;
    let held = match goal {
        Goal::Newest(_) if !constraints.allows(newest) => {
            format!("; the constraints \"{constraints}\" do not allow it")
        }
        Goal::Newest(reach @ (Reach::SameMajor | Reach::SameMinor)) => {
            format!("; only {} was looked for", reach.series(version))
        }
        Goal::Newest(Reach::Any) | Goal::Keep | Goal::Exactly(_) => String::new(),
    };
    result.remark(format!(
        "{name} {newest} is available, {kind} from {version}{held}"
    ));
}

/// Says where hashes were recorded that no evidence confirms, or that some evidence contradicts.
fn trust(result: &mut RootResult, one: &ProviderOutcome, flavor: Flavor) {
    let name = format!("{} {}", one.provider.short(flavor), one.version);
    let unchecked = |matched: &Match| matches!(matched, Match::NothingRecorded | Match::Unchecked);
    let platforms: Vec<Platform> = one
        .matched
        .iter()
        .filter(|(_, m)| unchecked(m))
        .map(|(p, _)| p.clone())
        .collect();
    if !one.selected && !platforms.is_empty() && one.signed.is_none() {
        let text = format!(
            "the lock file has no hash to compare with the package of {name} for {}",
            platform::join(&platforms, ", ")
        );
        result.ruled(diag::named("package-unverifiable"), &one.provider, text);
    }
    if one.unexplained > 0 {
        let text = format!(
            "{name}: a package of the mirror does not match the lock file, and {} recorded h1: belong \
             to no package of the mirror; either a package was replaced, or the lock file was \
             wrong before",
            one.unexplained,
        );
        result.ruled(diag::named("hashes-unexplained"), &one.provider, text);
    }
    let mut oddities: BTreeMap<_, Vec<Platform>> = BTreeMap::new();
    for (platform, oddity) in &one.oddities {
        oddities.entry(oddity).or_default().push(platform.clone());
    }
    for (oddity, platforms) in oddities {
        let text = format!(
            "{name} for {}: {}",
            platform::join(&platforms, ", "),
            oddity
        );
        result.ruled(diag::named("package-odd"), &one.provider, text);
    }
}

/// Says that an entry that was repaired still has `h1:` that nothing was compared with.
fn not_compared(result: &mut RootResult, one: &ProviderOutcome, locked: &Locked, flavor: Flavor) {
    let entry = &locked.lock.providers[&one.provider];
    let kept = entry.hashes.of(Scheme::H1);
    let kept = kept.filter(|hash| one.provenance(hash) == Provenance::Kept);
    let kept = kept.count();
    if one.replaced.is_empty() || kept == 0 {
        return;
    }
    let name = format!("{} {}", one.provider.short(flavor), one.version);
    result.remark(format!(
        "{name} keeps {} that may be of other platforms; `lockctl lock --repair --platform all` \
         compares all packages",
        counted_as(kept, "h1: hash", "h1: hashes")
    ));
}

/// Says how it ended.
pub(super) fn verdict(ending: Ending, locked: &Locked, root: &Root) -> Sentence {
    let path = root.lock_path.display();
    let suspect = locked.providers.iter().any(|one| one.unexplained > 0);
    let tone = if suspect { Tone::Warning } else { Tone::Good };
    match (ending, &root.lock) {
        (Ending::UpToDate, _) => Sentence {
            tone,
            text: format!("{path} is up to date"),
        },
        (Ending::Written, Some(old)) if locked.providers.iter().all(|one| one.added.is_empty()) => {
            let what = changes(&old.document.lock, locked);
            Sentence {
                tone,
                text: format!("updated {path}{what}"),
            }
        }
        (Ending::Written, old) => {
            let verb = if old.is_some() { "updated" } else { "created" };
            Sentence {
                tone,
                text: format!(
                    "{verb} {path}{}{}",
                    versions(locked),
                    provenance::added(locked)
                ),
            }
        }
        (Ending::WouldWrite, old) => {
            let verb = if old.is_some() {
                "change"
            } else {
                "be created"
            };
            Sentence::warning(format!("{path} would {verb}; nothing was written"))
        }
    }
}

/// Says what changed where no hash was added.
fn changes(old: &LockFile, locked: &Locked) -> String {
    let stale = locked.providers.iter().filter(|one| {
        let new = &locked.lock.providers[&one.provider];
        let old = old.providers.get(&one.provider);
        old.is_some_and(|old| old.constraints != new.constraints)
    });
    let stale = match stale.count() {
        0 => None,
        1 => Some("the constraints of 1 provider".to_owned()),
        n => Some(format!("the constraints of {n} providers")),
    };
    let removed = match locked.removed.len() {
        0 => None,
        1 => Some("1 provider removed".to_owned()),
        n => Some(format!("{n} providers removed")),
    };
    let parts = stale.into_iter().chain(removed);
    let parts: Vec<String> = taken_out(locked).chain(parts).collect();
    match &*parts {
        [] => "; layout only".to_owned(),
        parts => format!("; {}", parts.join(", ")),
    }
}

/// Says how many versions moved.
fn versions(locked: &Locked) -> String {
    let moved = locked.providers.iter();
    match moved.filter(|one| one.moved_from.is_some()).count() {
        0 => String::new(),
        n => format!("; {}", counted_as(n, "version moved", "versions moved")),
    }
}

/// Says how many hashes were replaced, and how many dropped.
pub(super) fn taken_out(locked: &Locked) -> impl Iterator<Item = String> {
    let providers = locked.providers.iter();
    let (replaced, dropped) = providers.fold((0, 0), |(replaced, dropped), one| {
        (
            replaced + one.replaced.len(),
            dropped + one.dropped.hashes.len(),
        )
    });
    let replaced = (replaced, "wrong hash replaced", "wrong hashes replaced");
    let dropped = (dropped, "hash removed", "hashes removed");
    let counts = [replaced, dropped].into_iter();
    let counts = counts.filter(|(count, ..)| *count > 0);
    counts.map(|(count, one, more)| counted_as(count, one, more))
}

/// Returns what would change in the lock file.
pub(super) fn comparison(root: &Root, locked: &Locked, text: &str) -> FileComparison {
    let old = root.lock.as_ref().map(|lock| LockSide {
        bytes: lock.bytes.to_vec(),
        document: lock.document.clone(),
        diagnostics: lock.diagnostics.clone(),
        flavor: root.flavor,
    });
    let new = LockSide {
        bytes: text.as_bytes().to_vec(),
        document: Document {
            lock: locked.lock.clone(),
            header: Some(root.flavor.program()),
            ..Document::default()
        },
        diagnostics: Vec::new(),
        flavor: root.flavor,
    };
    let path = root.lock_path.display().to_string();
    let mut comparison = FileComparison::of(path, old, Some(new));
    for change in &mut comparison.review.providers {
        let mut outcomes = locked.providers.iter();
        if let Some(one) = outcomes.find(|one| one.provider == *change.change.addr()) {
            change.owners = dropped::owners(one);
        }
    }
    comparison
}

/// Reports a provider that is not locked, because it is run from a directory.
pub(super) fn not_locked(result: &mut RootResult, provider: &ProviderAddr, flavor: Flavor) {
    let name = provider.short(flavor);
    result.remark(format!("{name} is in dev_overrides: it is not locked"));
}

/// Says that a root requires no provider that is to move.
pub(super) fn not_concerned(result: &mut RootResult, root: &Root) {
    result.changed = Some(false);
    result.verdict = Some(Sentence {
        tone: Tone::Good,
        text: format!("{}: requires no provider that is named", root.dir.display()),
    });
}

/// Says that nothing visible in the configuration requires a provider.
pub(super) fn nothing_required(result: &mut RootResult, root: &Root, unseen: &Unseen<'_>) {
    let dir = root.dir.display();
    let has_calls = !unseen.loaded.requirements.unseen_calls.is_empty();
    let unseen = unseen.remark(Names::Listed, "and may require providers");
    result.changed = Some(false);
    result.verdict = Some(match unseen.filter(|_| has_calls) {
        None => Sentence {
            tone: Tone::Good,
            text: format!("{dir}: no provider is required, so there is nothing to lock"),
        },
        Some(unseen) => Sentence::warning(format!(
            "{dir}: no visible module requires a provider, so nothing was locked; {unseen}"
        )),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_signature_names_its_key() {
        for class in [
            Class::HashiCorp,
            Class::Partner,
            Class::SelfSigned,
            Class::Signed,
        ] {
            let signer = authenticate::Signer {
                class,
                key_id: "34365D9472D7468F".to_owned(),
                fingerprint: String::new(),
                subkey: None,
                remarks: Vec::new(),
            };
            let text = signed_by(&signer);
            assert!(text.ends_with(", key ID 34365D9472D7468F"), "{text}");
        }
    }
}
