//! All checks of one root, in the order of their findings.

use std::cell::LazyCell;

use super::groups::{CheckGroup, Groups};
use super::inputs::RootInputs;
use super::known::{CarriedHashes, LockedBuilds, LockedReleases, PackageFacts, PackagesVerdict};
use super::levels::TurnedOff;
use super::matrix::{InitOutlook, PredictionRow};
use super::memory::KnownOrigins;
use super::platforms::PlatformEvidence;
use super::source_checks::SourceChecks;
use super::subject::CheckedLock;
use super::{
    builds, carried, configuration, core_version, expiry, file, foreign, ignored, levels,
    look_alike, matrix, memory, missing, moved, offline_policy, pins, platforms, policy, signed,
    tracked,
};
use crate::addr::ProviderAddr;
use crate::coverage::{Attribution, Attributions, CoverageProof};
use crate::diag::{Counts, Diagnostic, FileId, Finding, Severity, has_errors, rules};
use crate::hash::{Hash, Scheme};
use crate::lockfile::{Document, LockFile, LockText};
use crate::package::WantedPlatforms;
use crate::review::KnownSigners;

/// The wanted checks, with their inputs beside the root.
pub struct WantedChecks<'a> {
    /// The groups of checks that are run.
    pub groups: &'a Groups,
    /// The platforms whose `h1:` each of some providers must have.
    pub platforms: &'a dyn Fn(&[&ProviderAddr]) -> WantedPlatforms,
    /// The faults of the CLI configuration, unless another root of the run reports them.
    pub installation_faults: &'a [Diagnostic],
    /// Attributes the hashes of a lock file by facts; called only where that is of use.
    pub facts: &'a dyn Fn(&LockFile) -> Attributions,
    /// Returns what facts say about locked releases, with one read for each; called only where that is of use.
    pub releases: &'a dyn Fn(&LockFile) -> LockedReleases,
    /// Returns the builds of locked releases by facts; called only if a check needs them.
    pub builds: &'a dyn Fn(&LockFile) -> LockedBuilds,
    /// Returns the signers of all known releases of a provider; called only where another key signed one.
    pub signers: &'a dyn Fn(&ProviderAddr) -> KnownSigners,
    /// Returns the hashes that entries have kept from the version before; called only where facts do not explain
    /// every hash.
    pub carried: &'a dyn Fn(&LockFile) -> Vec<CarriedHashes>,
    /// The packages and the registries of the groups [`CheckGroup::Packages`] and [`CheckGroup::Upstream`].
    pub sources: &'a mut dyn SourceChecks,
    /// The outcome of each route is predicted for each provider as well.
    pub matrix: bool,
}

/// The result of all checks of a root.
#[derive(Debug, Default)]
pub struct RootVerdict {
    /// The findings, with the severity that the project file states.
    pub findings: Vec<Finding>,
    /// Findings by a shared policy, which the levels of the project file do not concern; empty behind a run.
    shared: Vec<Finding>,
    /// The findings that the project file turned off.
    pub turned_off: Vec<TurnedOff>,
    /// Errors of the configuration kept it from being checked.
    pub is_unread: bool,
    /// The platforms whose hashes are wanted; `None` if that was not checked.
    pub platforms: Option<WantedPlatforms>,
    /// The packages that were checked; `None` if none were looked for.
    pub packages: Option<PackagesVerdict>,
    /// The number of signed lists that entries were compared with; `None` if no registry was to be asked.
    pub signed_lists: Option<usize>,
    /// The number of recorded `h1:` that nothing compares with a package of the release, if registries were asked.
    pub h1_not_compared: usize,
    /// The names of the settings of policies that need registries or facts, and had neither.
    pub unchecked_policy: Vec<&'static str>,
    /// The predictions for each provider on each platform, if they were wanted.
    pub matrix: Option<Vec<PredictionRow>>,
}

/// The locked releases and their builds, by facts; the builds are read once, and only if a check needs them.
#[derive(Clone, Copy)]
struct KnownReleases<'a> {
    releases: &'a LockedReleases,
    builds: &'a dyn Fn() -> &'a LockedBuilds,
}

/// Runs all wanted checks of a root.
///
/// Findings have this order: faults of the configuration, of the CLI configuration and of the lock file; then
/// the findings of each group. `packages` comes before `platforms`, because packages prove the platforms of
/// recorded hashes, and `upstream` before `policy`, because registries name the keys that a policy may pin.
/// After a fault that makes the lock file unreadable no further check runs. A check that fails is a failure in
/// the verdict, and the other checks still run.
///
/// Only `checks.sources` makes network requests or reads the disk.
///
/// # Examples
/// ```
/// use std::path::Path;
///
/// use lockctl_core::diag::Texts;
/// use lockctl_core::flavor::{Flavor, FlavorChoice};
/// use lockctl_core::lockfile::LockText;
/// use lockctl_core::platform::Platform;
/// use lockctl_core::project::Project;
/// use lockctl_core::package::WantedPlatforms;
/// use lockctl_core::verify::{self, Advice, WantedChecks, Groups, LockedReleases, NoSources, RootInputs};
///
/// let text = "provider \"registry.terraform.io/hashicorp/null\" {\n  version = \"3.2.4\"\n}\n";
/// let flavor = Flavor::Terraform1_16;
/// let path = Path::new(".terraform.lock.hcl");
/// let lock = LockText::new(path, text.as_bytes().into(), flavor, &mut Texts::default());
///
/// let root = RootInputs {
///     flavor,
///     choice: FlavorChoice::Auto,
///     version_file: None,
///     lock_path: path,
///     lock: Some(&lock),
///     configuration: None,
///     project: &Project::default(),
///     project_file: ".lockctl.hcl",
///     shared: None,
///     ignored: None,
///     tracked_packages: None,
///     pins: None,
///     module_faults: &[],
///     advice: &Advice::here(),
/// };
/// let mut checks = WantedChecks {
///     groups: &Groups::offline(),
///     platforms: &|_| WantedPlatforms::every(Platform::common()),
///     installation_faults: &[],
///     facts: &|_| Default::default(),
///     releases: &|_| LockedReleases::unknown(),
///     builds: &|_| Default::default(),
///     signers: &|_| Default::default(),
///     carried: &|_| Vec::new(),
///     sources: &mut NoSources,
///     matrix: false,
/// };
/// let verdict = verify::run(&root, &mut checks);
/// let rules: Vec<&str> = verdict.findings.iter().map(|finding| finding.diagnostic.code).collect();
/// assert_eq!(rules, ["file-not-canonical", "platforms-incomplete"]);
/// ```
pub fn run(root: &RootInputs<'_>, checks: &mut WantedChecks<'_>) -> RootVerdict {
    let mut verdict = RootVerdict::default();
    if let Some(configuration) = root.configuration
        && checks.groups.wants(CheckGroup::Configuration)
    {
        verdict.report(&configuration.diagnostics);
        verdict.is_unread = root.is_unread();
        verdict.findings.extend(core_version::check(root));
        verdict.findings.extend(pins::check(root));
    }
    verdict.report(root.module_faults);
    verdict.report(checks.installation_faults);
    let facts = match root.lock {
        Some(lock) => check_lock(root, lock, checks, &mut verdict),
        None => {
            let missing = missing::check(root);
            // Where nothing is to be locked, nothing is lost by an ignored lock file.
            let is_wanted = missing.is_some() && checks.groups.wants(CheckGroup::File);
            verdict.findings.extend(missing);
            verdict
                .findings
                .extend(ignored::check(root).filter(|_| is_wanted));
            machines(root, &Document::default(), checks)
        }
    };
    if checks.matrix {
        verdict.matrix = Some(predict(root, checks, &facts));
    }
    let mut faults: Vec<&Diagnostic> = Vec::new();
    faults.extend(root.configuration.iter().flat_map(|read| &read.diagnostics));
    faults.extend(root.lock.iter().flat_map(|read| &read.diagnostics));
    let findings = std::mem::take(&mut verdict.findings);
    let (mut kept, turned_off) = levels::apply(findings, &faults, root.project, root.flavor);
    let shared = std::mem::take(&mut verdict.shared);
    // Of two lines about the same the shared one is shown: it is the one that cannot be changed here.
    kept.retain(|finding| {
        let is_same = |other: &Finding| {
            other.diagnostic.code == finding.diagnostic.code
                && other.provider == finding.provider
                && other.diagnostic.severity >= finding.diagnostic.severity
        };
        !shared.iter().any(is_same)
    });
    kept.extend(shared);
    verdict.findings = kept;
    verdict.turned_off.extend(turned_off);
    verdict
}

/// Checks a lock file, group by group, and returns what packages prove about its hashes.
fn check_lock(
    root: &RootInputs<'_>,
    lock: &LockText,
    checks: &mut WantedChecks<'_>,
    verdict: &mut RootVerdict,
) -> PackageFacts {
    let groups = checks.groups;
    let is_broken = has_errors(&lock.diagnostics);
    let repaired = lock.document.repaired(&lock.diagnostics);
    // A file that the programs refuse is reported with any choice of groups.
    if is_broken || groups.wants(CheckGroup::File) {
        report_faults(root, lock, repaired.is_some(), verdict);
    }
    if is_broken && repaired.is_none() {
        return machines(root, &lock.document, checks);
    }
    // Where only the form of texts is wrong, it is known what the file says.
    let document = repaired.as_ref().unwrap_or(&lock.document);
    let subject = CheckedLock {
        document,
        ..root.subject(lock)
    };
    if groups.wants(CheckGroup::File) {
        check_file(root, subject, lock, verdict);
    }
    if groups.wants(CheckGroup::Configuration) {
        verdict.findings.extend(configuration::check(subject));
    }
    if groups.wants(CheckGroup::Packages) {
        verdict.findings.extend(tracked::check(root));
    }
    verdict.signed_lists = checks.sources.ask(subject);
    let locked_releases = &document.lock.providers;
    let locked: Vec<&ProviderAddr> = locked_releases.keys().collect();
    let wanted = (checks.platforms)(&locked);
    let attributions = attributions(&document.lock, checks);
    // Before the platforms, because packages prove whose hashes are recorded.
    let mut facts = PackageFacts::default();
    if groups.wants(CheckGroup::Packages)
        && let Some(checked) = checks
            .sources
            .check_packages(subject, &wanted, &attributions)
    {
        verdict.findings.extend(checked.findings);
        verdict.packages = Some(checked.verdict);
        facts = checked.facts;
    }
    // Packages at hand come first: they were hashed now, and a fact only says what was hashed once.
    facts.complete(&attributions);
    let releases = known_releases(root, checks);
    facts.complete_by_releases(&document.lock, &releases);
    let findings = &mut verdict.findings;
    if groups.wants(CheckGroup::Platforms) {
        findings.extend(platform_hashes(
            root,
            subject,
            &wanted,
            &facts,
            &attributions,
            &*checks.sources,
        ));
        verdict.platforms = Some(wanted);
        let is_foreign = |found: &Attribution| !found.foreign().is_empty();
        if carried::may_be(subject, &attributions) {
            let carried = (checks.carried)(&document.lock);
            findings.extend(carried::check(subject, &carried, &attributions));
        }
        findings.extend(foreign::of_no_release(subject, &releases, |provider| {
            // The signed list as it is served now decides about `zh:`, and says nothing about `h1:`.
            checks.sources.has_answer(provider)
                && locked_releases[provider]
                    .hashes
                    .of(Scheme::Zh)
                    .next()
                    .is_some()
                || attributions.get(provider).is_some_and(is_foreign)
        }));
    }
    findings.extend(checks.sources.compare(subject, &attributions));
    verdict.h1_not_compared = not_compared(&document.lock, &*checks.sources, &attributions);
    // The group of builds and the memory compare the same builds, which cost most of what they need.
    let read_builds = checks.builds;
    let known_builds = LazyCell::new(|| read_builds(&document.lock));
    if groups.wants(CheckGroup::Build) {
        findings.extend(builds::check(subject, &known_builds));
    }
    let known = KnownReleases {
        releases: &releases,
        builds: &|| &known_builds,
    };
    // After the registries, because they name the keys that a policy may pin.
    check_policy(root, subject, known, checks, verdict);
    if let Some(shared) = root.under_shared() {
        check_shared(&shared, subject, known, checks, verdict);
    }
    facts
}

/// Asks the store about each recorded `zh:`; not at all if no check needs the facts.
fn attributions(lock: &LockFile, checks: &mut WantedChecks<'_>) -> Attributions {
    let groups = checks.groups;
    let is_of_use = groups.wants(CheckGroup::Platforms) || groups.wants(CheckGroup::Packages);
    let has_answer = |provider| checks.sources.has_answer(provider);
    if is_of_use || lock.providers.keys().any(has_answer) {
        (checks.facts)(lock)
    } else {
        Attributions::new()
    }
}

/// Counts the `h1:` that nothing compares with a package of the release, though a registry answered about it.
fn not_compared(lock: &LockFile, sources: &dyn SourceChecks, attributions: &Attributions) -> usize {
    lock.providers
        .iter()
        .filter(|(provider, _)| sources.has_answer(provider))
        .map(|(provider, entry)| match attributions.get(provider) {
            Some(attribution) => attribution.unexplained().len(),
            // A signed list holds no `h1:`.
            None => entry.hashes.of(Scheme::H1).count(),
        })
        .sum()
}

/// Checks the form of a lock file, and what its names alone show.
fn check_file(
    root: &RootInputs<'_>,
    subject: CheckedLock<'_>,
    lock: &LockText,
    verdict: &mut RootVerdict,
) {
    let mut findings = file::check(subject, &lock.bytes);
    // What the programs refuse has no canonical form; its faults are reported.
    if has_errors(&lock.diagnostics) {
        findings.retain(|finding| finding.diagnostic.code != rules::FILE_NOT_CANONICAL);
    }
    verdict.findings.extend(findings);
    verdict.findings.extend(look_alike::check(subject));
    verdict.findings.extend(moved::check(subject));
    verdict.findings.extend(ignored::check(root));
}

/// Reports the faults of a lock file; where nothing but the form of texts is wrong, with the command that fixes it.
fn report_faults(
    root: &RootInputs<'_>,
    lock: &LockText,
    is_repairable: bool,
    verdict: &mut RootVerdict,
) {
    let mut faults = lock.diagnostics.clone();
    // The commands for all roots, so that the findings of several fold.
    root.advice.add_to(&mut faults, &lock.bytes);
    let forms = || lock.document.faulty.iter().flat_map(|entry| &entry.forms);
    for fault in &mut faults {
        let span = fault.primary.as_ref().map(|label| label.span);
        if is_repairable && forms().any(|form| Some(form.span) == span) {
            fault.help = Some(root.advice.fmt.run(" to write it so"));
        }
    }
    verdict.report(&faults);
}

/// Checks a shared policy, with the levels that it states itself.
fn check_shared(
    shared: &RootInputs<'_>,
    subject: CheckedLock<'_>,
    known: KnownReleases<'_>,
    checks: &mut WantedChecks<'_>,
    verdict: &mut RootVerdict,
) {
    let mut by_shared = RootVerdict::default();
    check_policy(shared, subject, known, checks, &mut by_shared);
    // The key is the same by either policy.
    by_shared
        .findings
        .retain(|finding| finding.diagnostic.code != rules::KEY_EXPIRES);
    let (kept, turned_off) = levels::apply(by_shared.findings, &[], shared.project, shared.flavor);
    verdict.shared = kept;
    verdict.turned_off.extend(turned_off);
    verdict.unchecked_policy.extend(by_shared.unchecked_policy);
}

/// Looks up the locked releases, where a check needs them.
fn known_releases(root: &RootInputs<'_>, checks: &WantedChecks<'_>) -> LockedReleases {
    let project = root.project;
    let has_policy = project.policy.is_some()
        || root.shared.is_some()
        || project.trust.require_signature.is_some()
        || !project.trust.memory.is_empty()
        || checks.sources.asks();
    match root.lock {
        Some(lock) if checks.groups.wants(CheckGroup::Platforms) || has_policy => {
            (checks.releases)(&lock.document.lock)
        }
        _ => LockedReleases::unknown(),
    }
}

/// Checks the policy of the project file, by the answers of registries or by facts.
fn check_policy(
    root: &RootInputs<'_>,
    subject: CheckedLock<'_>,
    known: KnownReleases<'_>,
    checks: &mut WantedChecks<'_>,
    verdict: &mut RootVerdict,
) {
    let (groups, releases) = (checks.groups, known.releases);
    let invalid = memory::invalid(subject, &releases.asked);
    verdict.findings.extend(invalid);
    if groups.wants(CheckGroup::Policy) && !checks.sources.asks() {
        let expiring = expiry::check(subject, releases.key_ends(), releases.now);
        verdict.findings.extend(expiring);
    }
    if let Some(policy) = &root.project.policy
        && groups.wants(CheckGroup::Policy)
    {
        let allowed = policy::allowed(subject, policy, root.project_file);
        verdict.findings.extend(allowed);
    }
    if groups.compare_with_policy()
        && (groups.wants(CheckGroup::Policy) || checks.sources.asks())
        && !root.project.trust.memory.is_empty()
    {
        let stated = checks.sources.asks().then(|| checks.sources.signers());
        let known = KnownOrigins {
            locked: releases,
            stated: stated.as_ref(),
            releases: checks.signers,
            builds: (known.builds)(),
        };
        let steps = memory::check(subject, root.project, root.project_file, known);
        verdict.findings.extend(steps);
    }
    let by_answers = checks.sources.check_policy(root, groups, subject);
    verdict.findings.extend(by_answers);
    // Without answers of registries, facts decide as far as they reach.
    if !checks.sources.asks() && groups.wants(CheckGroup::Policy) {
        let (findings, unchecked) = offline_policy::check(root, subject, releases);
        verdict.findings.extend(findings);
        verdict.unchecked_policy = unchecked;
    }
}

/// Checks the recorded hashes against wanted platforms, by themselves and against facts.
fn platform_hashes(
    root: &RootInputs<'_>,
    subject: CheckedLock<'_>,
    wanted: &WantedPlatforms,
    facts: &PackageFacts,
    attributions: &Attributions,
    sources: &dyn SourceChecks,
) -> Vec<Finding> {
    let has_answer = |provider: &ProviderAddr| sources.has_answer(provider);
    let is_listed = |provider: &ProviderAddr, hash: &Hash| sources.is_listed(provider, hash);
    let evidence = PlatformEvidence {
        wanted,
        project_file: root.project_file,
        proven: facts,
        facts: attributions,
        claims: &sources.claim_gaps(subject, attributions),
    };
    let mut findings = platforms::check(subject, evidence);
    findings.extend(signed::unlisted(subject, has_answer));
    findings.extend(signed::crowded(subject));
    findings.extend(foreign::check(
        subject,
        attributions,
        &facts.altered,
        has_answer,
        is_listed,
    ));
    findings
}

/// Returns the packages of this machine where there is no lock file, or one that cannot be read.
fn machines(
    root: &RootInputs<'_>,
    document: &Document,
    checks: &mut WantedChecks<'_>,
) -> PackageFacts {
    if !checks.matrix || !checks.groups.wants(CheckGroup::Packages) {
        return PackageFacts::default();
    }
    checks.sources.machines(CheckedLock {
        document,
        file: FileId::ALONE,
        flavor: root.flavor,
        requirements: root.requirements(),
        advice: root.advice,
    })
}

/// Predicts the programs with the lock file, or without it.
fn predict(
    root: &RootInputs<'_>,
    checks: &WantedChecks<'_>,
    facts: &PackageFacts,
) -> Vec<PredictionRow> {
    let nothing = Document::default();
    let document = root.lock.map_or(&nothing, |lock| &lock.document);
    let titles: Vec<&str> = root
        .lock
        .iter()
        .flat_map(|lock| &lock.diagnostics)
        // A warning stops no program (`lockfile` rules 3.1), as that about `module` blocks (2.9).
        .filter(|fault| fault.severity == Severity::Error)
        .map(|fault| &*fault.title)
        .collect();
    let outlook = InitOutlook {
        document,
        faults: &titles,
        flavor: root.flavor,
        requirements: root.requirements(),
    };
    let providers = outlook.providers();
    let wanted = (checks.platforms)(&providers.iter().collect::<Vec<_>>());
    let mut rows = outlook.rows(&wanted, facts);
    if let Some(configuration) = root.configuration {
        matrix::stop(&mut rows, configuration);
    }
    rows
}

impl RootVerdict {
    /// Counts the findings by severity.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts::of(
            self.findings
                .iter()
                .map(|finding| finding.diagnostic.severity),
        )
    }

    /// Returns the evidence that each entry has the `h1:` of every wanted platform. Levels of rules in the
    /// project file do not change it.
    #[must_use]
    pub fn proof(&self) -> CoverageProof {
        let has = |rule: &str| {
            self.findings
                .iter()
                // A level in the project file hides a finding, but proves nothing.
                .chain(self.turned_off.iter().map(|off| &off.finding))
                .any(|finding| finding.diagnostic.code == rule)
        };
        if self.platforms.is_none() || has(rules::PLATFORMS_INCOMPLETE) {
            CoverageProof::None
        } else if has(rules::PLATFORMS_UNATTRIBUTED) {
            CoverageProof::Counted
        } else {
            CoverageProof::Proven
        }
    }

    /// Adds faults that were found while files were read.
    fn report(&mut self, diagnostics: &[Diagnostic]) {
        self.findings
            .extend(diagnostics.iter().cloned().map(Finding::from));
    }
}
