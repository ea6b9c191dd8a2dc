//! All checks of one root, in the order in which their findings are reported.

use std::fmt;

use super::groups::{Group, Groups};
use super::inputs::{LockInput, RootInputs};
use super::known::PackageFacts;
use super::levels::TurnedOff;
use super::matrix::{Known, Locked, Outlook, Row};
use super::source_checks::{self, CheckError, PackagesVerdict, SourceChecks};
use super::subject::Subject;
use super::{
    configuration, core_version, file, foreign, levels, look_alike, missing, platforms, policy,
    signed,
};
use crate::addr::ProviderAddr;
use crate::coverage::Attributions;
use crate::diag::{Diagnostic, FileId, Finding, Severity, has_errors};
use crate::lockfile::{Document, LockFile};
use crate::package::WantedPlatforms;

/// Which checks are wanted, and what they need beside the root.
pub struct Checks<'a, 'm> {
    /// Which groups are wanted.
    pub groups: &'a Groups,
    /// For which platforms each of some providers must have an `h1:`.
    pub platforms: &'a dyn Fn(&[&ProviderAddr]) -> WantedPlatforms,
    /// What is wrong with the CLI configuration, unless another root of the run reports it.
    pub installation_faults: &'a [Diagnostic],
    /// What facts say about the hashes of a lock file; asked only where that is of use.
    pub facts: &'a dyn Fn(&LockFile) -> Attributions,
    /// The packages and the registries of the groups [`Group::Packages`] and [`Group::Upstream`].
    pub sources: SourceChecks<'a, 'm>,
    /// Whether the fate of each provider by each route is predicted as well.
    pub matrix: bool,
}

/// What all checks of a root come to.
#[derive(Debug, Default)]
pub struct RootVerdict {
    /// What is wrong, as bad as the project file says.
    pub findings: Vec<Finding>,
    /// What the project file turned off.
    pub turned_off: Vec<TurnedOff>,
    /// What could not be checked.
    pub failures: Vec<CheckError>,
    /// Whether errors of the configuration kept it from being checked.
    pub is_unread: bool,
    /// For which platforms hashes are wanted; `None` if that was not checked.
    pub platforms: Option<WantedPlatforms>,
    /// Which packages were checked; `None` if none were looked for.
    pub packages: Option<PackagesVerdict>,
    /// With how many signed lists entries were compared; `None` if no registry was to be asked.
    pub signed_lists: Option<usize>,
    /// What is predicted for each provider on each platform, if that was wanted.
    pub matrix: Option<Vec<Row>>,
}

/// Runs all wanted checks of a root.
///
/// Findings stand in this order: faults of the configuration, of the CLI configuration and of the
/// lock file; then what each group found, with `packages` before `platforms`, because packages prove
/// whose the recorded hashes are, and `upstream` before `policy`, because registries name the keys
/// that a policy may pin. Behind a fault that keeps the lock file from being read nothing else is
/// judged. What one check cannot do is a failure in the verdict and keeps no other from running.
///
/// Only `checks.sources` makes network requests or reads the disk.
///
/// # Examples
/// ```
/// use lockctl::diag::Texts;
/// use lockctl::flavor::{Flavor, FlavorChoice};
/// use lockctl::platform::Platform;
/// use lockctl::project::Project;
/// use lockctl::package::WantedPlatforms;
/// use lockctl::verify::{self, Advice, Checks, Groups, LockInput, RootInputs, SourceChecks};
///
/// let text = "provider \"registry.terraform.io/hashicorp/null\" {\n  version = \"3.2.4\"\n}\n";
/// let flavor = Flavor::Terraform1_16;
/// let mut texts = Texts::default();
/// let file = texts.add(".terraform.lock.hcl", text.as_bytes());
/// let (document, diagnostics) = lockctl::lockfile::parse(file, text.as_bytes(), flavor);
///
/// let root = RootInputs {
///     flavor,
///     choice: FlavorChoice::Auto,
///     lock_path: ".terraform.lock.hcl".as_ref(),
///     lock: Some(LockInput {
///         file,
///         bytes: text.as_bytes(),
///         document: &document,
///         diagnostics: &diagnostics,
///     }),
///     configuration: None,
///     project: &Project::default(),
///     project_file: ".lockctl.hcl",
///     advice: &Advice::here(),
/// };
/// let mut checks = Checks {
///     groups: &Groups::offline(),
///     platforms: &|_| WantedPlatforms::every(Platform::common()),
///     installation_faults: &[],
///     facts: &|_| Default::default(),
///     sources: SourceChecks::none(),
///     matrix: false,
/// };
/// let verdict = verify::run(&root, &mut checks);
/// let rules: Vec<&str> = verdict.findings.iter().map(|one| one.diagnostic.code).collect();
/// assert_eq!(rules, ["file-not-canonical", "platforms-incomplete"]);
/// ```
pub fn run(root: &RootInputs<'_>, checks: &mut Checks<'_, '_>) -> RootVerdict {
    let mut verdict = RootVerdict::default();
    if let Some(configuration) = root.configuration
        && checks.groups.wants(Group::Configuration)
    {
        verdict.report(configuration.diagnostics);
        verdict.is_unread = root.is_unread();
        verdict.findings.extend(core_version::check(root));
    }
    verdict.report(checks.installation_faults);
    let facts = match root.lock {
        Some(lock) => check_lock(root, lock, checks, &mut verdict),
        None => {
            verdict.findings.extend(missing::check(root));
            let nothing = Document::default();
            machines(root, &nothing, checks)
        }
    };
    if checks.matrix {
        verdict.matrix = Some(predict(root, checks, &facts));
    }
    let configuration = root.configuration.iter().flat_map(|one| one.diagnostics);
    let lock = root.lock.iter().flat_map(|lock| lock.diagnostics);
    let faults: Vec<&Diagnostic> = configuration.chain(lock).collect();
    let found = std::mem::take(&mut verdict.findings);
    (verdict.findings, verdict.turned_off) =
        levels::apply(found, &faults, root.project, root.flavor);
    verdict
}

/// Checks a lock file, group by group, and returns what packages prove about its hashes.
fn check_lock(
    root: &RootInputs<'_>,
    lock: LockInput<'_>,
    checks: &mut Checks<'_, '_>,
    verdict: &mut RootVerdict,
) -> PackageFacts {
    let groups = checks.groups;
    let is_broken = has_errors(lock.diagnostics);
    // A file that cannot be read is reported whichever groups are wanted: nothing can be checked.
    if is_broken || groups.wants(Group::File) {
        verdict.report(lock.diagnostics);
    }
    if is_broken {
        return machines(root, lock.document, checks);
    }
    let subject = root.subject(lock);
    if groups.wants(Group::File) {
        verdict.findings.extend(file::check(subject, lock.bytes));
        verdict.findings.extend(look_alike::check(subject));
    }
    if groups.wants(Group::Configuration) {
        verdict.findings.extend(configuration::check(subject));
    }
    let answers = checks.sources.ask(subject, verdict);
    let locked: Vec<&ProviderAddr> = lock.document.lock.providers.keys().collect();
    let wanted = (checks.platforms)(&locked);
    let is_of_use = groups.wants(Group::Platforms) || groups.wants(Group::Packages);
    let attributions = if is_of_use || !answers.is_empty() {
        (checks.facts)(&lock.document.lock)
    } else {
        Attributions::new()
    };
    let mut facts = if groups.wants(Group::Packages) {
        checks
            .sources
            .check_packages(subject, &wanted, &attributions, verdict)
    } else {
        PackageFacts::default()
    };
    facts.complete(&attributions);
    if groups.wants(Group::Platforms) {
        let found = platforms::check(subject, &wanted, &facts.known, &attributions);
        verdict.findings.extend(found);
        // Where the signed list is at hand, the comparison with it says what is missing.
        let is_open = |finding: &Finding| {
            let provider = finding.provider.as_ref();
            !provider.is_some_and(|provider| answers.contains_key(provider))
        };
        let bare = signed::unlisted(subject).into_iter().filter(is_open);
        verdict.findings.extend(bare);
        verdict.findings.extend(signed::crowded(subject));
        let found = foreign::check(subject, &attributions, &answers);
        verdict.findings.extend(found);
        verdict.platforms = Some(wanted);
    }
    let found = source_checks::compare(subject, &answers, &attributions);
    verdict.findings.extend(found);
    if let Some(policy) = &root.project.policy {
        if groups.wants(Group::Policy) {
            let found = policy::allowed(subject, policy, root.project_file);
            verdict.findings.extend(found);
        }
        let found = checks.sources.check_policy(root, groups, subject, &answers);
        verdict.findings.extend(found);
    }
    facts
}

/// Returns the packages of this machine where there is no lock file, or one that cannot be read.
fn machines(
    root: &RootInputs<'_>,
    document: &Document,
    checks: &mut Checks<'_, '_>,
) -> PackageFacts {
    if !checks.matrix || !checks.groups.wants(Group::Packages) {
        return PackageFacts::default();
    }
    checks.sources.machines(Subject {
        document,
        file: FileId::ALONE,
        flavor: root.flavor,
        requirements: root.requirements(),
        advice: root.advice,
    })
}

/// Predicts what the programs will do with the lock file, or without it.
fn predict(root: &RootInputs<'_>, checks: &Checks<'_, '_>, facts: &PackageFacts) -> Vec<Row> {
    let nothing = Document::default();
    let document = root.lock.map_or(&nothing, |lock| lock.document);
    let diagnostics = root.lock.iter().flat_map(|lock| lock.diagnostics);
    let errors = diagnostics.filter(|one| one.severity == Severity::Error);
    let titles: Vec<&str> = errors.map(|one| &*one.title).collect();
    let outlook = Outlook {
        locked: if titles.is_empty() {
            Locked::Sound(document)
        } else {
            Locked::Broken {
                document,
                titles: &titles,
            }
        },
        flavor: root.flavor,
        requirements: root.requirements(),
    };
    let providers = outlook.providers();
    let wanted = (checks.platforms)(&providers.iter().collect::<Vec<_>>());
    let known = Known {
        h1: &facts.known,
        // A zip at hand may have been zipped again, so its `zh:` need not be that of the release.
        zh: &facts.zips,
        installed: &facts.installed,
        refused: &facts.refused,
        machines: &facts.machines,
    };
    outlook.rows(&wanted, known)
}

impl RootVerdict {
    /// Adds what was found while files were read.
    fn report(&mut self, diagnostics: &[Diagnostic]) {
        let findings = diagnostics.iter().cloned().map(Finding::from);
        self.findings.extend(findings);
    }
}

impl fmt::Debug for Checks<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checks")
            .field("groups", &self.groups)
            .field("matrix", &self.matrix)
            .finish_non_exhaustive()
    }
}
