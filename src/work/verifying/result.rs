//! The result of a root, made of its verdict.

use std::collections::BTreeSet;

use super::job::VerifiedRoot;
use crate::addr::ProviderAddr;
use crate::coverage::CoverageProof;
use crate::diag::{Counts, Finding, Severity, Share, TurnedOff, counted, rules};
use crate::hash::Scheme;
use crate::lockfile::ProviderLock;
use crate::package::{PlatformsOrigin, WantedPlatforms};
use crate::report::json::{CheckedProvider, Provider, RootStatus};
use crate::report::shared::range;
use crate::report::{
    CheckDetail, FindingDisplay, NotSeen, ResultEntry, RootDetail, RootResult, Sentence, Tone,
};
use crate::run::root::LockText;
use crate::verify::{PackageOrigin, PackagesVerdict, RootVerdict};

/// Adds what was verified to the result of a root.
pub(super) fn report(result: &mut RootResult, verified: VerifiedRoot, verbose: bool) {
    let (root, verdict, failures) = (verified.root, verified.verdict, verified.failures);
    result.missing_values = verified.missing_values;
    let fixed = verified.fixed.map(|fixed| fixed.report(result));
    // Where only a part of a file was understood, the part would look like the whole.
    let understood = root
        .lock
        .iter()
        .filter(|lock| lock.document.has_all_versions(&lock.diagnostics));
    result.providers = understood.flat_map(locked).collect();
    let counts = verdict.counts();
    if !counts.without_notes().is_empty() {
        result.status = RootStatus::Findings;
    }
    if verdict.is_unread {
        result.status = RootStatus::Failed;
    }
    let failed = verdict.is_unread || !failures.is_empty();
    let proof = verdict.proof();
    let how = outcome(
        counts,
        &looked_at(root.lock.as_ref(), &verdict, verified.not_seen),
        NotSeen::of_roots(&[verified.not_seen]).filter(|_| !verdict.is_unread),
        verdict.turned_off.len(),
        failed,
        verbose,
    );
    for finding in verdict.findings {
        // One sentence speaks of all default platforms of the run.
        let is_folded = default_gap(&finding, verdict.platforms.as_ref()).is_some() && !verbose;
        let display = if is_folded {
            FindingDisplay::Folded
        } else {
            FindingDisplay::Result
        };
        result
            .entries
            .push(ResultEntry::Finding(Box::new(finding), display));
    }
    for failure in failures {
        result.fail(failure);
    }
    if verbose {
        for TurnedOff { finding, reason } in &verdict.turned_off {
            let (code, title) = (finding.diagnostic.code, &finding.diagnostic.title);
            result.remark(format!("{code} is off, because {reason}: {title}"));
        }
    }
    result.detail = RootDetail::Check(CheckDetail {
        turned_off: verdict.turned_off,
        proof,
        not_seen: verified.not_seen,
        policy_not_checked: verdict.unchecked_policy,
        fixed,
        matrix: verdict.matrix,
    });
    result.verdict = Some(Sentence {
        tone: tone(counts, failed),
        text: format!("{}: {how}", root.lock_path.display()),
    });
}

/// Returns the part of the platforms that an entry lacks, if nothing but the default list of platforms wants them.
pub(super) fn default_gap(finding: &Finding, wanted: Option<&WantedPlatforms>) -> Option<Share> {
    // A warning is reported by itself: `init` fails there, or the project file states a level.
    if finding.diagnostic.code != rules::PLATFORMS_INCOMPLETE
        || finding.diagnostic.severity != Severity::Note
    {
        return None;
    }
    let origin = wanted?.origin_of(finding.provider.as_ref()?);
    finding.share.filter(|_| origin == PlatformsOrigin::Default)
}

fn tone(counts: Counts, failed: bool) -> Tone {
    match counts {
        _ if failed => Tone::Bad,
        Counts { errors: 1.., .. } => Tone::Bad,
        Counts { warnings: 1.., .. } => Tone::Warning,
        _ => Tone::Good,
    }
}

/// Says how a root came out; `clean` is the verdict without errors and warnings.
fn outcome(
    counts: Counts,
    clean: &str,
    not_seen: Option<String>,
    turned_off: usize,
    failed: bool,
    verbose: bool,
) -> String {
    let mut parts = Vec::new();
    let wrong = counts.without_notes();
    if !wrong.is_empty() {
        parts.push(wrong.to_string());
    }
    if failed {
        parts.push("not everything could be checked".to_owned());
    } else if parts.is_empty() {
        parts.push(clean.to_owned());
    }
    parts.extend(not_seen);
    // Where all is well, notes are not worth a second look until they are shown.
    if counts.notes > 0 && (verbose || !wrong.is_empty()) {
        let hint = match counts.notes {
            _ if verbose => "",
            1 => " (-v shows it)",
            _ => " (-v shows them)",
        };
        parts.push(format!("{}{hint}", counted(counts.notes, "note")));
    }
    if turned_off > 0 {
        let off = counted(turned_off, "finding");
        parts.push(format!("{off} turned off"));
    }
    parts.join("; ")
}

/// Counts the findings of a rule, whether it is turned off or not.
fn count(verdict: &RootVerdict, rule: &str) -> usize {
    let off = verdict.turned_off.iter().map(|off| &off.finding);
    verdict
        .findings
        .iter()
        .chain(off)
        .filter(|finding| finding.diagnostic.code == rule)
        .count()
}

/// Says what a clean verdict is about.
fn looked_at(lock: Option<&LockText>, verdict: &RootVerdict, not_seen: NotSeen) -> String {
    // What was not seen may require anything.
    let ok = if not_seen == NotSeen::default() {
        "ok"
    } else {
        "no problem found"
    };
    let Some(lock) = lock else {
        if count(verdict, rules::LOCK_MISSING) > 0 {
            return format!("{ok}; nothing is locked");
        }
        return format!("{ok}; no provider is required, and nothing is locked");
    };
    let providers = lock.document.lock.providers.len();
    // Nothing is ok that is only likely: counting does not show whose the hashes are (`coverage` rules 1.5).
    let word = match verdict.proof() {
        CoverageProof::Counted => "complete by count",
        CoverageProof::None if count(verdict, rules::PLATFORMS_INCOMPLETE) > 0 => {
            "no problem found"
        }
        CoverageProof::Proven | CoverageProof::None => ok,
    };
    let mut parts = vec![format!("{word}; {}", counted(providers, "provider"))];
    // What is lacking has findings, or a note of the run.
    let is_covered = count(verdict, rules::PLATFORMS_INCOMPLETE) == 0;
    if let (Some(wanted), true) = (&verdict.platforms, providers > 0 && is_covered) {
        let names = || lock.document.lock.providers.keys();
        let counts: Vec<usize> = names()
            .map(|provider| wanted.known(provider).len())
            .collect();
        let is_common =
            names().all(|provider| wanted.origin_of(provider) == PlatformsOrigin::Default);
        let common = if is_common { "common " } else { "" };
        let platforms = if counts.iter().all(|count| *count == 1) {
            "platform"
        } else {
            "platforms"
        };
        parts.push(format!(
            "h1: hashes for {} {common}{platforms}",
            range(&counts)
        ));
    }
    if let Some(packages) = &verdict.packages {
        parts.push(checked_packages(packages));
    }
    if let Some(lists) = verdict.signed_lists.filter(|_| providers > 0) {
        parts.push(format!("{} compared", counted(lists, "signed list")));
    }
    parts.join(", ")
}

/// Says which packages were verified.
fn checked_packages(packages: &PackagesVerdict) -> String {
    let kinds: Vec<String> = packages
        .verified
        .iter()
        .map(|(origin, n)| {
            let kind = match origin {
                PackageOrigin::Installed => "installed",
                PackageOrigin::Cache => "cached",
                PackageOrigin::Mirror => "mirrored",
                PackageOrigin::Named => "named",
            };
            format!("{n} {kind}")
        })
        .collect();
    let noun = match packages.verified.values().sum() {
        0_usize if packages.not_verified == 0 => return "no package installed".to_owned(),
        0 => return format!("{} not verified", counted(packages.not_verified, "package")),
        1 => "package",
        _ => "packages",
    };
    let verified = format!("{} {noun} verified", kinds.join(", "));
    match packages.not_verified {
        0 => verified,
        others => format!("{verified}, {others} not"),
    }
}

/// Lists what is locked, for programs.
fn locked(lock: &LockText) -> Vec<Provider> {
    let document = lock.document.readable();
    let entries = document.lock.providers.iter();
    let row = |(provider, entry): (&ProviderAddr, &ProviderLock)| {
        Provider::Checked(CheckedProvider {
            provider: provider.to_string(),
            version: entry.version.to_string(),
            constraints: entry.constraints.to_string(),
            h1_count: entry.hashes.of(Scheme::H1).count(),
            zh_count: entry.hashes.of(Scheme::Zh).count(),
        })
    };
    entries.map(row).collect()
}

/// Counts the locked providers that project files with a memory do not remember: somebody may have taken one out.
pub(super) fn not_remembered(verified: &[VerifiedRoot]) -> Option<String> {
    let names: BTreeSet<String> = verified
        .iter()
        .map(|verified| &*verified.root)
        .filter(|root| !root.project().trust.memory.is_empty())
        .flat_map(|root| {
            let trust = &root.project().trust;
            root.document()
                .lock
                .providers
                .keys()
                .filter(|provider| !provider.is_builtin(root.flavor))
                .filter(|provider| trust.remembered(provider, root.flavor).is_none())
                .map(|provider| provider.short(root.flavor))
        })
        .collect();
    let first = names.first()?;
    Some(format!(
        "the memory of the project file lacks {}, as {first}; `lockctl trust` adds what is known",
        counted(names.len(), "locked provider")
    ))
}
