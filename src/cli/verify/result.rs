//! The result of a root, made of its verdict.

use std::collections::BTreeMap;

use super::job::VerifiedRoot;
use super::table;
use crate::addr::ProviderAddr;
use crate::diag::{Counts, TurnedOff, counted, has_errors, rules};
use crate::hash::Scheme;
use crate::lockfile::ProviderLock;
use crate::report::json::{CheckedProvider, Provider, RootStatus};
use crate::report::{
    CheckDetail, FindingDisplay, ResultEntry, RootDetail, RootResult, Sentence, Tone,
};
use crate::run::root::LockText;
use crate::verify::RootVerdict;
use crate::verify::packages::PackageOrigin;

/// Adds what was verified to the result of a root.
pub(super) fn report(result: &mut RootResult, verified: VerifiedRoot, verbose: bool) {
    let VerifiedRoot {
        root,
        fixed,
        verdict,
        unset_variables,
        failures,
        ..
    } = verified;
    result.unset_variables = unset_variables;
    let fixed = fixed.map(|fixed| fixed.report(result));
    // Of a file with errors only a part was understood, and a part would look like the whole.
    let sound = root
        .lock
        .iter()
        .filter(|lock| !has_errors(&lock.diagnostics));
    result.providers = sound.flat_map(locked).collect();
    let counts = Counts::of(
        verdict
            .findings
            .iter()
            .map(|finding| finding.diagnostic.severity),
    );
    if !counts.without_notes().is_empty() {
        result.status = RootStatus::Findings;
    }
    if verdict.is_unread {
        result.status = RootStatus::Failed;
    }
    let failed = verdict.is_unread || !failures.is_empty();
    let how = outcome(
        counts,
        &looked_at(root.lock.as_ref(), &verdict),
        verdict.turned_off.len(),
        failed,
        verbose,
    );
    result.entries.extend(
        verdict
            .findings
            .into_iter()
            .map(|finding| ResultEntry::Finding(Box::new(finding), FindingDisplay::Result)),
    );
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
        fixed,
        matrix: verdict.matrix.as_deref().map(table::json),
    });
    result.verdict = Some(Sentence {
        tone: tone(counts, failed),
        text: format!("{}: {how}", root.lock_path.display()),
    });
}

fn tone(counts: Counts, failed: bool) -> Tone {
    match counts {
        _ if failed => Tone::Bad,
        Counts { errors: 1.., .. } => Tone::Bad,
        Counts { warnings: 1.., .. } => Tone::Warning,
        _ => Tone::Good,
    }
}

/// Says how a root came out; `looked_at` is what a clean verdict is about.
fn outcome(
    counts: Counts,
    looked_at: &str,
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
        parts.push(format!("ok; {looked_at}"));
    }
    // Where all is well, notes are not worth a second look until they are shown.
    if counts.notes > 0 && (verbose || !wrong.is_empty()) {
        let hint = if verbose { "" } else { " (-v shows them)" };
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
fn looked_at(lock: Option<&LockText>, verdict: &RootVerdict) -> String {
    let Some(lock) = lock else {
        if count(verdict, rules::LOCK_MISSING) > 0 {
            return "nothing is locked".to_owned();
        }
        return "no provider is required, and nothing is locked".to_owned();
    };
    let providers = lock.document.lock.providers.len();
    let mut parts = vec![counted(providers, "provider")];
    if let (Some(wanted), true) = (&verdict.platforms, providers > 0) {
        let complete = match count(verdict, rules::PLATFORMS_INCOMPLETE) {
            0 => String::new(),
            n => format!(" of {}", providers - n),
        };
        let how = match count(verdict, rules::PLATFORMS_UNATTRIBUTED) {
            0 => "",
            _ => " (only counted)",
        };
        let counts = lock
            .document
            .lock
            .providers
            .keys()
            .map(|provider| wanted.known(provider).len());
        let least = counts.clone().min().unwrap_or(0);
        let platforms = match counts.max().unwrap_or(0) {
            most if least == most => counted(most, "platform"),
            most => format!("{least} to {most} platforms"),
        };
        parts.push(format!("h1: hashes{complete} for {platforms}{how}"));
    }
    if let Some(packages) = &verdict.packages {
        parts.push(checked_packages(&packages.counts));
    }
    if let Some(lists) = verdict.signed_lists.filter(|_| providers > 0) {
        parts.push(format!("{} compared", counted(lists, "signed list")));
    }
    parts.join(", ")
}

/// Says which packages were verified.
fn checked_packages(packages: &BTreeMap<PackageOrigin, usize>) -> String {
    let kinds: Vec<String> = packages
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
    match packages.values().sum() {
        0_usize => "no package installed".to_owned(),
        1 => format!("{} package verified", kinds.join("")),
        _ => format!("{} packages verified", kinds.join(", ")),
    }
}

/// Lists what is locked, for programs.
fn locked(lock: &LockText) -> Vec<Provider> {
    let entries = lock.document.lock.providers.iter();
    let row = |(provider, entry): (&ProviderAddr, &ProviderLock)| {
        Provider::Checked(CheckedProvider {
            provider: provider.to_string(),
            version: entry.version.to_string(),
            constraints: entry.constraints.to_string(),
            h1: entry.hashes.of(Scheme::H1).count(),
            zh: entry.hashes.of(Scheme::Zh).count(),
        })
    };
    entries.map(row).collect()
}
