//! Remarks on the outcome of a lock run: what is worth knowing of each provider.

use std::collections::BTreeMap;

use super::ending::LockEnding;
use super::rows::{self, EvidenceRows};
use super::{dropped, provenance};
use crate::addr::ProviderAddr;
use crate::advice;
use crate::diag::{self, Diagnostic, counted, counted_as, rules};
use crate::flavor::Flavor;
use crate::hash::{Match, Scheme};
use crate::locker::{Locked, ProviderOutcome};
use crate::lockfile::{LockFile, ProviderLock};
use crate::platform::{self, Platform};
use crate::report::RootResult;
use crate::report::json::{Provider, RemovedProvider};
use crate::resolve::{Goal, Goals, Reach};
use crate::run::root::Root;
use crate::version::{Upgrade, VersionStep, step};

/// Returns true if a note says that the state is not visible.
pub(super) fn is_about_state(diagnostic: &Diagnostic) -> bool {
    diagnostic.code == rules::STATE_NOT_VISIBLE
}

/// Reports what was done for each provider, and what is worth knowing about it.
pub(super) fn report(
    result: &mut RootResult,
    locked: &Locked,
    root: &Root,
    goals: &Goals,
    ending: LockEnding,
    evidence: &mut EvidenceRows,
) {
    for outcome in &locked.providers {
        let row = rows::entry(outcome, locked, evidence);
        result.providers.push(Provider::Locked(row));
        let short = outcome.provider.short(root.flavor);
        let remarks = ProviderRemarks {
            outcome,
            name: format!("{short} {}", outcome.version),
            short,
            entry: &locked.lock.providers[&outcome.provider],
            goal: goals.of(&outcome.provider).unwrap_or(&Goal::Keep),
            root,
        };
        remarks.report(result);
    }
    provenance::count(result, locked);
    provenance::count_attested(result, locked);
    if !locked.removed.is_empty() {
        for addr in &locked.removed {
            result.providers.push(Provider::Removed(RemovedProvider {
                provider: addr.to_string(),
                removed: true,
            }));
        }
        let removed = match ending {
            LockEnding::UpToDate | LockEnding::Written => "removed",
            LockEnding::WouldWrite => "would be removed",
        };
        result.remark(format!(
            "{removed}, since neither configuration nor state requires it: {}",
            short_names(&locked.removed, root.flavor)
        ));
    }
    for (old, twin) in &locked.carried_over {
        let text = format!(
            "the locked version of {old} was carried over to {twin}, as OpenTofu does; its hashes \
             were not"
        );
        result.ruled(diag::named(rules::ENTRIES_CARRIED_OVER), twin, text);
    }
}

fn short_names(addrs: &[ProviderAddr], flavor: Flavor) -> String {
    addrs
        .iter()
        .map(|addr| addr.short(flavor))
        .collect::<Vec<String>>()
        .join(", ")
}

/// The outcome for a provider, with its names.
struct ProviderRemarks<'a> {
    outcome: &'a ProviderOutcome,
    /// Address and version, as in `hashicorp/null 3.2.1`.
    name: String,
    /// The address, as in `hashicorp/null`.
    short: String,
    /// The entry after the run.
    entry: &'a ProviderLock,
    goal: &'a Goal,
    root: &'a Root,
}

impl ProviderRemarks<'_> {
    fn report(&self, result: &mut RootResult) {
        self.platforms(result);
        for warning in &self.outcome.warnings {
            let text = format!("the registry says of {}: {warning}", self.short);
            self.rule(result, rules::REGISTRY_WARNING, text);
        }
        self.signers(result);
        provenance::remarks(result, self.outcome, &self.name);
        if !self.outcome.missing.is_empty() {
            let text = format!(
                "{} is listed for {}, but there is no package",
                self.name,
                platform::join(&self.outcome.missing, ", ")
            );
            self.rule(result, rules::PACKAGE_MISSING, text);
        }
        for (platform, filename) in &self.outcome.misnamed {
            let text = format!(
                "the package of {} for {platform} is signed under the name {filename:?}: only \
                 the registry states that it is this version and platform",
                self.name
            );
            self.rule(result, rules::PACKAGE_MISNAMED, text);
        }
        self.fewer_platforms(result);
        self.downgrade(result);
        let age = self.outcome.age.as_ref();
        if let Some(text) = age.and_then(|age| advice::age::passed_over(&self.short, age)) {
            result.remark(text);
        }
        self.newer(result);
        self.unverified(result);
        // Once for all platforms with the same oddity.
        let mut oddities: BTreeMap<_, Vec<Platform>> = BTreeMap::new();
        for (platform, oddity) in &self.outcome.oddities {
            oddities.entry(oddity).or_default().push(platform.clone());
        }
        for (oddity, platforms) in oddities {
            let platforms = platform::join(&platforms, ", ");
            let text = format!("{} for {platforms}: {oddity}", self.name);
            self.rule(result, rules::PACKAGE_ODD, text);
        }
        dropped::remarks(result, self.outcome, &self.name, self.root);
    }

    fn rule(&self, result: &mut RootResult, code: &'static str, text: String) {
        result.ruled(diag::named(code), &self.outcome.provider, text);
    }

    /// Names the platforms without a package of their own, and the setting that says so to `verify`.
    fn platforms(&self, result: &mut RootResult) {
        let outcome = self.outcome;
        let by_hash = rows::platforms_by_hash(outcome);
        // One platform for each package is enough: `verify` counts hashes.
        let mut firsts: Vec<&String> = by_hash
            .values()
            .filter_map(|platforms| platforms.first())
            .collect();
        firsts.sort();
        let file = self.root.project_name();
        let skipped = platform::join(&outcome.skipped, ", ");
        // A mirror says nothing of the release, so nothing is to be stated about the provider.
        if outcome.lacked_by_mirror {
            result.remark(format!(
                "the mirror has no package of {} for {skipped}: skipped; add it to the mirror, or write the \
                 platforms that you use to {file}, as in `platforms = {firsts:?}`",
                self.name
            ));
            return;
        }
        let mut parts = Vec::new();
        if !outcome.skipped.is_empty() {
            parts.push(format!("has no package for {skipped}: skipped"));
        }
        let platforms = outcome.computed.len() + outcome.stated.len();
        if by_hash.len() < platforms {
            let packages = counted(by_hash.len(), "package");
            parts.push(format!("has {packages} for {platforms} platforms"));
        }
        if parts.is_empty() {
            return;
        }
        result.remark(format!(
            "{} {}; for `verify`, write `provider {:?} {{ platforms = {firsts:?} }}` to {file}",
            self.name,
            parts.join(", and "),
            self.short,
        ));
    }

    /// Reports what is unusual about keys and signatures that count all the same.
    fn signers(&self, result: &mut RootResult) {
        for signer in &self.outcome.signers {
            for remark in &signer.remarks {
                let text = format!(
                    "{} is signed by key {}: {remark}",
                    self.name,
                    signer.key.key_id()
                );
                self.rule(result, rules::SIGNATURE_ODD, text);
            }
        }
    }

    /// Reports the `h1:` that a move has cost: the old version may have had them for more platforms.
    fn fewer_platforms(&self, result: &mut RootResult) {
        let Some(from) = &self.outcome.moved_from else {
            return;
        };
        // A version keeps its hashes, so a move starts with none (`locker` rules 2.3).
        let before: &LockFile = &self.root.document().lock;
        let before = before.providers.get(&self.outcome.provider);
        let before = before.map_or(0, |entry| entry.hashes.of(Scheme::H1).count());
        let now = self.entry.hashes.of(Scheme::H1).count();
        if now < before {
            result.remark(format!(
                "{} {from} had {}, {} has {now}: `--platform` names more platforms",
                self.short,
                counted_as(before, "h1: hash", "h1: hashes"),
                self.outcome.version
            ));
        }
    }

    /// Gives the reason for a version that is lower than the locked one, if no exact version was named.
    fn downgrade(&self, result: &mut RootResult) {
        let version = &self.outcome.version;
        let (Some(from), Goal::Newest(_)) = (&self.outcome.moved_from, self.goal) else {
            return;
        };
        // With an exact version the user asked for it.
        if step(from, version) != VersionStep::Down {
            return;
        }
        let constraints = &self.entry.constraints;
        let reason = if constraints.allows(from) {
            "is not offered any more".to_owned()
        } else {
            format!("does not meet the constraints \"{constraints}\"")
        };
        let short = &self.short;
        result.remark(format!("{short} went down to {version}: {from} {reason}"));
    }

    /// Names the newest release if it is newer than the locked version, and the constraints that exclude it.
    fn newer(&self, result: &mut RootResult) {
        let version = &self.outcome.version;
        let newest = self.outcome.newest.as_ref();
        let Some(newest) = newest.filter(|newest| *newest > version) else {
            return;
        };
        let kind = match step(version, newest) {
            VersionStep::Up(Upgrade::Major) => "a major upgrade",
            VersionStep::Up(Upgrade::Minor) => "a minor upgrade",
            _ => "a patch upgrade",
        };
        let constraints = &self.entry.constraints;
        let held = match self.goal {
            Goal::Newest(_) if !constraints.allows(newest) => {
                format!("; the constraints \"{constraints}\" do not allow it")
            }
            Goal::Newest(reach @ (Reach::SameMajor | Reach::SameMinor)) => {
                format!("; only {} was looked for", reach.series(version))
            }
            _ => String::new(),
        };
        // For many roots, `outdated` answers that.
        result.detail(format!(
            "{} {newest} is available, {kind} from {version}{held}",
            self.short
        ));
    }

    /// Reports hashes that no evidence confirms, or that some evidence contradicts.
    fn unverified(&self, result: &mut RootResult) {
        let outcome = self.outcome;
        let platforms: Vec<Platform> = outcome
            .matched
            .iter()
            .filter(|(_, matched)| matches!(matched, Match::NothingRecorded | Match::Unchecked))
            .map(|(platform, _)| platform.clone())
            .collect();
        // A version that this run selected has no recorded hash to be compared with.
        if !outcome.selected && !platforms.is_empty() && outcome.signed.is_none() {
            let text = format!(
                "the lock file has no hash to compare with the package of {} for {}",
                self.name,
                platform::join(&platforms, ", ")
            );
            self.rule(result, rules::PACKAGE_UNVERIFIABLE, text);
        }
        if outcome.unexplained > 0 {
            let text = format!(
                "{}: a package of the mirror does not match the lock file, and {} recorded h1: belong \
                 to no package of the mirror; either a package was replaced, or the lock file was \
                 wrong before",
                self.name, outcome.unexplained,
            );
            self.rule(result, rules::HASHES_UNEXPLAINED, text);
        }
    }
}

/// Reports entries that are not known to be required or covered; many roots share the cause, and name other entries.
pub(super) fn kept(result: &mut RootResult, locked: &Locked, root: &Root, are_many: bool) {
    // Most entries want the same platforms, so a sentence names the platforms once.
    let mut unknown: BTreeMap<&[Platform], Vec<String>> = BTreeMap::new();
    for outcome in &locked.providers {
        if !outcome.unknown.is_empty() {
            let names = unknown.entry(&outcome.unknown).or_default();
            names.push(named(outcome, root));
        }
    }
    for (platforms, names) in &unknown {
        result.detail(format!(
            "{}: whether {} {} covered is not known, since no source was asked; enough recorded h1: are left for that",
            names.join(", "),
            platform::join(platforms, ", "),
            if platforms.len() == 1 { "is" } else { "are" }
        ));
    }
    if are_many && !unknown.is_empty() {
        result.remark(
            "whether all wanted platforms are covered is not known, since no source was asked; enough recorded h1: \
             are left for that (-v shows each entry)",
        );
    }
    if !locked.unrequired.is_empty() {
        let names = short_names(&locked.unrequired, root.flavor);
        let named = format!("kept, because what cannot be seen may require it: {names}");
        if are_many {
            let text =
                "entries were kept, because what cannot be seen may require them (-v names them)";
            result.remark(text);
            result.detail(named);
        } else {
            result.remark(named);
        }
    }
    let unavailable = |error| format!("the entry was kept as it is: {error}");
    if are_many && !locked.unavailable.is_empty() {
        let text = "entries that nothing visible requires were kept as they are, since not all of their hashes could be \
                    determined (-v says why)";
        result.warn(text);
        for error in &locked.unavailable {
            result.detail(unavailable(error));
        }
    } else {
        for error in &locked.unavailable {
            result.warn(unavailable(error));
        }
    }
}

/// Counts the recorded `h1:` that were compared with no package; `option` is that of the run which compares.
pub(super) fn not_compared(result: &mut RootResult, locked: &Locked, root: &Root, option: &str) {
    let mut count = 0;
    let mut names = Vec::new();
    for outcome in &locked.providers {
        if !outcome.not_compared.is_empty() {
            count += outcome.not_compared.len();
            names.push(named(outcome, root));
        }
    }
    if count > 0 {
        result.remark(format!(
            "{} {} {} of packages that were not compared, right or wrong; `lockctl lock {option} --prove --platform \
             all` compares all packages",
            names.join(", "),
            if names.len() == 1 { "keeps" } else { "keep" },
            counted_as(count, "h1: hash", "h1: hashes")
        ));
    }
}

/// Names an entry with its version.
fn named(outcome: &ProviderOutcome, root: &Root) -> String {
    format!(
        "{} {}",
        outcome.provider.short(root.flavor),
        outcome.version
    )
}
