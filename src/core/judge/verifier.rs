//! A root verified from its path: for programs that want findings and nothing else.
//!
//! [`Verifier`] opens the root on the real disk, reads its project file, lock file, configuration and
//! state, and runs the checks of [`crate::verify`] that need no package and no registry. It writes
//! nothing and makes no network requests.

use std::path::{Path, PathBuf};

use crate::config::{ConfigSources, Loaded};
use crate::coverage::Attributions;
use crate::diag::{Diagnostic, Finding, Label, Severity, Texts, has_errors, rules};
use crate::effective;
use crate::flavor::{Flavor, FlavorChoice};
use crate::lockfile;
use crate::os::{RealClock, RealDisk, RealEnv};
use crate::package::WantedPlatforms;
use crate::platform::Platform;
use crate::remote_module::InstalledOnly;
use crate::review::KnownSigners;
use crate::verify::{
    self, Advice, Groups, LockedBuilds, LockedReleases, NoSources, RootInputs, WantedChecks,
};
use crate::workspace::{Reading, Root, Workspace, WorkspaceError};
use crate::world::Clock as _;

/// A verification of one root, as `lockctl verify` does it offline, without looking at packages.
///
/// # Examples
/// ```
/// use lockctl_core::Verifier;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// let verified = Verifier::new("fixtures/gaps")
///     .platforms(["linux_amd64".parse()?, "darwin_arm64".parse()?])
///     .run()?;
/// for finding in &verified.findings {
///     println!("{}", verified.describe(finding));
/// }
/// assert!(!verified.is_clean());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Verifier {
    dir: PathBuf,
    platforms: Option<Vec<Platform>>,
    flavor: FlavorChoice,
}

/// The result of [`Verifier::run`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Verification {
    /// The findings, in the order of `lockctl verify`.
    pub findings: Vec<Finding>,
    /// The program whose rules were applied.
    pub flavor: Flavor,
    texts: Texts,
}

/// The reason why a root could not be verified at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifierError {
    /// The root, or its lock file, could not be read.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The project file that governs the root has errors.
    #[error("the project file cannot be used: {}", .0.join("; "))]
    ProjectFile(
        /// One line for each error, with file, line and column.
        Vec<String>,
    ),
}

impl Verifier {
    /// Prepares to verify the root in a directory; the path of its lock file names the same root.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let mut dir = path.into();
        if dir.ends_with(lockfile::FILE_NAME) {
            dir.pop();
            if dir.as_os_str().is_empty() {
                dir.push(".");
            }
        }
        Self {
            dir,
            platforms: None,
            flavor: FlavorChoice::Auto,
        }
    }

    /// Replaces the platforms that the project file names, or the common ones if it names none.
    #[must_use]
    pub fn platforms(mut self, platforms: impl IntoIterator<Item = Platform>) -> Self {
        self.platforms = Some(platforms.into_iter().collect());
        self
    }

    /// Applies the rules of one program, instead of those that the root shows signs of.
    #[must_use]
    pub fn flavor(mut self, flavor: Flavor) -> Self {
        self.flavor = FlavorChoice::rules_of(flavor);
        self
    }

    /// Reads the root and checks it.
    ///
    /// Faults of the lock file and of the configuration are findings, and so is a missing lock file.
    ///
    /// # Errors
    /// If the directory or the lock file cannot be read, or the project file has errors.
    pub fn run(&self) -> Result<Verification, VerifierError> {
        let mut texts = Texts::default();
        let mut workspace = Workspace::new(
            &RealDisk,
            &RealEnv,
            self.flavor,
            None,
            RealClock.now(),
            &mut texts,
        )?;
        let file = workspace.project(&self.dir, &mut texts)?;
        let problems = file.diagnostics.clone();
        let Some(root) = workspace.open(&self.dir, file, &mut texts)? else {
            let errors = problems
                .iter()
                .filter(|problem| problem.severity == Severity::Error);
            return Err(VerifierError::ProjectFile(
                errors.map(|error| line(&texts, error)).collect(),
            ));
        };
        let outside = ConfigSources {
            files: &RealDisk,
            modules: &InstalledOnly,
        };
        let reading = Reading {
            reads_state: true,
            ..Reading::new(outside, &RealEnv)
        };
        let mut loaded = root.load(&reading, &mut texts);
        add_overridden(&root, &mut loaded, &texts);
        // A directory with nothing but a lock file is checked without configuration.
        let configuration = loaded.found.then_some(&loaded);
        let (project_file, advice) = (root.project_name(), Advice::here());
        let inputs = inputs(&root, configuration, &project_file, &advice);
        let mut checks = WantedChecks {
            groups: &Groups::offline(),
            platforms: &|providers| match &self.platforms {
                Some(platforms) => WantedPlatforms::every(platforms.clone()),
                None => root.project().wanted_platforms(providers, root.flavor),
            },
            installation_faults: &[],
            // The store of this machine is left out, so that a root has the same findings everywhere; facts
            // could only add some (`coverage` rules 1.2).
            facts: &|_| Attributions::new(),
            releases: &|_| LockedReleases::unknown(),
            builds: &|_| LockedBuilds::new(),
            signers: &|_| KnownSigners::new(),
            carried: &|_| Vec::new(),
            sources: &mut NoSources,
            matrix: false,
        };
        Ok(Verification {
            findings: verify::run(&inputs, &mut checks).findings,
            flavor: root.flavor,
            texts,
        })
    }
}

impl Verification {
    /// Returns true if there is no error and no warning; notes do not count.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.findings
            .iter()
            .all(|finding| finding.diagnostic.severity == Severity::Note)
    }

    /// Returns a finding on one line: file, line, column, severity, rule and title.
    ///
    /// As in `infra/.terraform.lock.hcl:4:1: warning[platforms-incomplete]: …`
    #[must_use]
    pub fn describe(&self, finding: &Finding) -> String {
        line(&self.texts, &finding.diagnostic)
    }

    /// Returns the place of a finding: the path of a file, the line and the column, both from 1.
    #[must_use]
    pub fn place(&self, finding: &Finding) -> Option<(&Path, usize, usize)> {
        let label = finding.diagnostic.primary.as_ref()?;
        let position = self.texts.position(label.file, label.span.start);
        let path = Path::new(self.texts.name(label.file));
        Some((path, position.line, position.column))
    }
}

fn line(texts: &Texts, diagnostic: &Diagnostic) -> String {
    let severity = diagnostic.severity.name();
    let text = format!("{severity}[{}]: {}", diagnostic.code, diagnostic.title);
    match &diagnostic.primary {
        Some(Label { file, span, .. }) => {
            let position = texts.position(*file, span.start);
            let name = texts.name(*file);
            format!("{name}:{}:{}: {text}", position.line, position.column)
        }
        None => text,
    }
}

/// Adds what override files change to the diagnostics of a configuration, if the project file asks for it: the rule is
/// off otherwise, and printing modules costs more than reading them.
pub fn add_overridden(root: &Root, loaded: &mut Loaded, texts: &Texts) {
    let is_wanted = root
        .project()
        .rule(rules::OVERRIDDEN, None, root.flavor)
        .is_some();
    if is_wanted && !has_errors(&loaded.diagnostics) {
        let found = effective::overridden(loaded, texts, root.flavor);
        loaded.diagnostics.extend(found);
    }
}

/// Returns what the checks read of a root; `project_file` is the name of its project file.
pub fn inputs<'a>(
    root: &'a Root,
    configuration: Option<&'a Loaded>,
    project_file: &'a str,
    advice: &'a Advice,
) -> RootInputs<'a> {
    RootInputs {
        flavor: root.flavor,
        choice: root.choice,
        version_file: root.tool_file.as_deref(),
        lock_path: &root.lock_path,
        lock: root.lock.as_ref(),
        configuration,
        project: root.project(),
        project_file,
        // A policy of several repositories comes from options of the command line.
        shared: None,
        // git is another program, and this one starts none.
        ignored: None,
        tracked_packages: None,
        pins: root.pins.as_ref(),
        module_faults: &[],
        advice,
    }
}
