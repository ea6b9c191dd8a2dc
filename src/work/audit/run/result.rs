//! The result of an audit: rows and findings of each root.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::fixes::{FixRoute, RootConstraints};
use super::job::{AuditJob, JudgedRelease, OpenAuditRoot};
use crate::audit::{AdvisoryMatch, AuditLevel, MatchVerdict, UnknownReason};
use crate::diag::{
    Diagnostic, FileId, Finding, Help, NamedAdvisory, Severity, TurnedOff, counted, rules,
};
use crate::report::json::{
    AdvisoryRow, AdvisoryStatus, AuditedAdvisory, AuditedProvider, ContentsState, Provider,
    RootStatus,
};
use crate::report::{FindingDisplay, ResultEntry, RootDetail, RootResult, Sentence};
use crate::run::formats::Format;
use crate::run::root::Root;
use crate::version::Version;

/// The command that reads the contents of packages.
const READ_CONTENTS: &str = "lockctl show --build --contents";

/// Makes the row of a match.
pub(super) fn row(found: &AdvisoryMatch) -> AdvisoryRow {
    let (status, reason) = match found.verdict {
        MatchVerdict::Affected => (AdvisoryStatus::Affected, None),
        MatchVerdict::Unknown(why) => (
            AdvisoryStatus::Unknown,
            Some(match why {
                UnknownReason::OtherModule => "the program is built from another module",
                UnknownReason::Module => "the address does not show which module it is",
                UnknownReason::Version => "its version cannot be compared",
            }),
        ),
    };
    AdvisoryRow {
        level: found.level.name(),
        id: found.advisory.id.clone(),
        aliases: found.aliases.clone(),
        status,
        reason,
        module: found.module.clone(),
        module_version: found.version.clone(),
        fixed: found.fixed.as_ref().map(ToString::to_string),
        summary: found.advisory.summary.clone(),
        url: found.advisory.url.clone(),
    }
}

/// Counts the versions with unknown contents, and names the command that reads them.
///
/// `roots` are the arguments that name the roots of the run.
pub(super) fn unknown_contents(releases: &[JudgedRelease], roots: &str) -> Option<Sentence> {
    // Entries of one version may record other hashes.
    let version = |release: &JudgedRelease| (release.provider.clone(), release.version.clone());
    let all: BTreeSet<_> = releases.iter().map(version).collect();
    let unknown: BTreeSet<_> = releases
        .iter()
        .filter(|release| release.contents() == ContentsState::Unknown)
        .map(version)
        .collect();
    let unknown = unknown.len();
    (unknown > 0).then(|| {
        let versions = counted(unknown, "provider version");
        Sentence::note(format!(
            "the contents of {versions} of {} are unknown, so their Go version and modules were not compared; \
             `{READ_CONTENTS}{roots}` reads them",
            all.len()
        ))
    })
}

impl AuditJob<'_, '_> {
    /// Reports the releases of a root; `project` is the project file with its exceptions, if it has any.
    pub(super) fn report(
        &mut self,
        opened: &OpenAuditRoot,
        project: Option<FileId>,
        result: &mut RootResult,
    ) {
        let root = &opened.root;
        // Text is made of rows; all other formats have a finding for each advisory and root.
        let has_findings = self.options.format != Format::Human;
        let mut constraints = RootConstraints::new(&self.fixes, root);
        let mut turned_off = Vec::new();
        for (number, entry) in opened
            .releases
            .iter()
            .zip(root.document().lock.providers.values())
        {
            let release = &self.releases.all[*number];
            let mut advisories = Vec::new();
            for (found, row) in &release.matches {
                let ignored = project.and_then(|file| self.ignores.reason(file, found));
                let counts = ignored.is_none() && counts(found, self.args.fail_on.0);
                let route = fixed_version(found)
                    .map(|fixed| constraints.route(&release.provider, &entry.constraints, &fixed));
                if counts {
                    result.status = result.status.max(RootStatus::Findings);
                }
                if has_findings {
                    let finding = finding(root, release, found, row, route.as_ref(), counts);
                    match ignored.clone() {
                        Some(reason) => turned_off.push(TurnedOff { finding, reason }),
                        None => result.entries.push(ResultEntry::Finding(
                            Box::new(finding),
                            FindingDisplay::Result,
                        )),
                    }
                }
                let (command, excluded) = match &route {
                    Some(Ok(command)) => (Some(command), None),
                    Some(Err(excluded)) => (None, Some(excluded)),
                    None => (None, None),
                };
                advisories.push(AuditedAdvisory {
                    advisory: Arc::clone(row),
                    counts,
                    ignored,
                    command: command.map(|command| command.for_root.clone()),
                    command_for_all: command.map(|command| command.for_all.clone()),
                    excluded_by: excluded.map(|constraint| constraint.with_place.clone()),
                    constraint: excluded.map(|constraint| constraint.text.clone()),
                });
            }
            result.providers.push(Provider::Audited(AuditedProvider {
                provider: release.provider.clone(),
                version: release.version.clone(),
                contents: release.contents(),
                advisories,
            }));
        }
        result.detail = RootDetail::Audit(turned_off);
    }
}

/// Returns the version of a provider that is no longer affected.
fn fixed_version(found: &AdvisoryMatch) -> Option<Version> {
    let fixed = found.fixed.as_ref()?;
    // The fix may be a commit instead.
    let is_release = found.level == AuditLevel::Provider
        && found.verdict == MatchVerdict::Affected
        && fixed.commit().is_none();
    is_release.then(|| fixed.to_string().parse().ok()).flatten()
}

/// Returns true if a match makes the exit code 1, unless the project file ignores it.
fn counts(found: &AdvisoryMatch, fail_on: Option<AuditLevel>) -> bool {
    let is_high = fail_on.is_some_and(|lowest| found.level >= lowest);
    // An unknown verdict does not fail a run: without builds, providers of other registries have no other verdict
    // (`audit` rules 3.1).
    is_high && found.verdict == MatchVerdict::Affected
}

fn finding(
    root: &Root,
    release: &JudgedRelease,
    found: &AdvisoryMatch,
    row: &AdvisoryRow,
    route: Option<&FixRoute>,
    counts: bool,
) -> Finding {
    let advisory = &found.advisory;
    let provider = release.provider.short(root.flavor);
    let version = &release.version;
    let title = match (found.level, row.reason) {
        // An unknown verdict is said before the subject: it is no statement about the provider.
        (_, Some(reason)) => {
            format!(
                "{} may concern {provider} {version}: unknown, because {reason}",
                advisory.id
            )
        }
        (AuditLevel::Provider, None) => format!("{} concerns {provider} {version}", advisory.id),
        (AuditLevel::StandardLibrary, None) => format!(
            "{} concerns the standard library in {provider} {version}, which was built by {}",
            advisory.id, found.version
        ),
        (AuditLevel::Dependency, None) => format!(
            "{} concerns {} {} in {provider} {version}",
            advisory.id, found.module, found.version
        ),
    };
    // A module in a provider need not be reachable, so that its advisories are warnings.
    let severity = match (counts, found.level) {
        (true, AuditLevel::Provider) => Severity::Error,
        (true, _) => Severity::Warning,
        (false, _) => Severity::Note,
    };
    let mut diagnostic = Diagnostic {
        severity,
        ..Diagnostic::error(rules::KNOWN_VULNERABILITY, title)
    };
    let places = root.document().places.get(&release.provider);
    if let (Some(lock), Some(places)) = (&root.lock, places) {
        diagnostic = diagnostic.at(lock.file, places.version, advisory.summary.clone());
    }
    diagnostic.help = help(root, row, route, release.contents());
    Finding {
        advisory: Some(Arc::new(NamedAdvisory {
            id: advisory.id.clone(),
            summary: advisory.summary.clone(),
            aliases: found.aliases.clone(),
            url: advisory.url.clone(),
        })),
        ..Finding::about(&release.provider, diagnostic)
    }
}

/// Returns the advice on an advisory.
fn help(
    root: &Root,
    row: &AdvisoryRow,
    route: Option<&FixRoute>,
    contents: ContentsState,
) -> Option<Help> {
    if row.status == AdvisoryStatus::Unknown {
        // Known contents leave the question open, so reading them again would not answer it.
        let roots = &root.advice.roots;
        let reads = || format!("`{READ_CONTENTS}{roots}` reads the contents of the package").into();
        return (contents == ContentsState::Unknown).then(reads);
    }
    let fixed = row.fixed.as_ref()?;
    Some(match route {
        Some(Ok(command)) => command.run(&format!(" to move to the fixed version {fixed}")),
        Some(Err(constraint)) => Help::by_hand(format!(
            "it is fixed in {fixed}, which {} excludes",
            constraint.with_place
        )),
        None => format!("{} {fixed} fixes it", row.module).into(),
    })
}
