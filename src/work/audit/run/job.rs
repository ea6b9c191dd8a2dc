//! The job that audits roots: it collects their releases, judges each once, and reports them for each root.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::database::LoadedAdvisories;
use super::fixes::FixSearch;
use super::ignores::ProjectIgnores;
use super::{AuditArgs, result};
use crate::addr::ProviderAddr;
use crate::audit::{self, AdvisoryMatch, AuditedRelease, ModuleSelection};
use crate::config::Loaded;
use crate::contents::{BuildInfo, ReleaseBuilds};
use crate::diag::Texts;
use crate::driver::{Job, OpenResult};
use crate::hash::Hashes;
use crate::report::json::{AdvisoryRow, ContentsState};
use crate::report::{CommandResult, Failure, RootResult, Sentence};
use crate::run::commands;
use crate::run::facts::{self, UserFacts};
use crate::run::options::Options;
use crate::run::root::Root;
use crate::run::session::Session;
use crate::version::Version;

/// Reads the advisories about some modules.
type Load<'a> = &'a dyn Fn(&ModuleSelection) -> Result<LoadedAdvisories, Failure>;

/// The job that audits roots.
pub(super) struct AuditJob<'a, 'b> {
    pub(super) args: &'a AuditArgs,
    pub(super) options: &'a Options,
    facts: &'a UserFacts<'b>,
    /// Is called when the modules of all roots are known.
    load: Load<'a>,
    pub(super) fixes: FixSearch<'a>,
    pub(super) releases: Releases,
    pub(super) ignores: ProjectIgnores,
    remarks: Vec<Sentence>,
}

/// The locked releases of all roots, each once.
#[derive(Default)]
pub(super) struct Releases {
    numbers: BTreeMap<(ProviderAddr, Version, bool, Hashes), usize>,
    pub(super) all: Vec<JudgedRelease>,
}

/// A release, with its known builds.
pub(super) struct JudgedRelease {
    pub(super) provider: ProviderAddr,
    pub(super) version: Version,
    builds: ReleaseBuilds,
    /// The verdicts on the release, with their rows.
    pub(super) matches: Vec<(AdvisoryMatch, Arc<AdvisoryRow>)>,
}

/// A root with the numbers of its releases, in the order of its lock file.
pub(super) struct OpenAuditRoot {
    pub(super) root: Root,
    pub(super) releases: Vec<usize>,
}

impl<'a, 'b> AuditJob<'a, 'b> {
    pub(super) fn new(
        session: &'a Session<'b>,
        args: &'a AuditArgs,
        load: Load<'a>,
        fixes: FixSearch<'a>,
    ) -> Self {
        Self {
            args,
            options: session.options,
            facts: &session.facts,
            load,
            fixes,
            releases: Releases::default(),
            ignores: ProjectIgnores::new(session.world.clock.now()),
            remarks: Vec::new(),
        }
    }

    /// Adds the remarks on the whole run.
    pub(super) fn complete(self, result: &mut CommandResult) {
        result.remarks.extend(self.remarks);
        result.remarks.extend(self.ignores.remarks());
        result.remarks.extend(self.facts.remarks());
    }
}

impl Releases {
    fn number(
        &mut self,
        key: (ProviderAddr, Version, bool, Hashes),
        builds: impl FnOnce() -> ReleaseBuilds,
    ) -> usize {
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        self.all.push(JudgedRelease {
            provider: key.0.clone(),
            version: key.1.clone(),
            builds: builds(),
            matches: Vec::new(),
        });
        let number = self.all.len() - 1;
        self.numbers.insert(key, number);
        number
    }
}

impl JudgedRelease {
    /// Returns the state of the contents.
    pub(super) fn contents(&self) -> ContentsState {
        // One known build is enough: platforms mostly agree.
        self.builds
            .known()
            .next()
            .map_or(ContentsState::Unknown, |_| ContentsState::Known)
    }

    /// Returns the builds that differ in audited properties; usually all platforms have the same modules.
    fn distinct_builds(&self) -> Vec<&BuildInfo> {
        let mut builds: Vec<&BuildInfo> = Vec::new();
        for (_, build) in self.builds.known() {
            let is_same = |other: &&BuildInfo| {
                other.go_version == build.go_version
                    && other.main == build.main
                    && other.deps == build.deps
                    // Equal commits have equal times: commit and time decide where versions cannot (`audit` rules 4.4).
                    && other.commit() == build.commit()
            };
            if !builds.iter().any(is_same) {
                builds.push(build);
            }
        }
        builds
    }

    fn audited<'r>(&'r self, builds: &'r [&'r BuildInfo]) -> AuditedRelease<'r> {
        AuditedRelease {
            provider: &self.provider,
            version: &self.version,
            builds,
        }
    }
}

impl Job for AuditJob<'_, '_> {
    type Opened = OpenAuditRoot;
    type Done = ();

    fn open(
        &mut self,
        root: Root,
        _: Option<Loaded>,
        _: &mut Texts,
        result: &mut RootResult,
    ) -> Result<OpenResult<OpenAuditRoot>, Failure> {
        if root.sound_lock_of(&self.args.roots, result)?.is_none() {
            return Ok(OpenResult::Finished);
        }
        let trusted = facts::trusted(&root);
        let mut releases = Vec::new();
        for (provider, entry) in &root.document().lock.providers {
            let (version, hashes) = (&entry.version, &entry.hashes);
            // A root that accepts imported facts may have builds of a release that other roots must not use.
            let accepts_imports = trusted.imported;
            let key = (
                provider.clone(),
                version.clone(),
                accepts_imports,
                hashes.clone(),
            );
            let facts = self.facts;
            releases.push(
                self.releases
                    .number(key, || facts.builds_of(trusted, provider, version, hashes)),
            );
        }
        Ok(OpenResult::Ready(OpenAuditRoot { root, releases }))
    }

    fn work(&mut self, roots: Vec<(OpenAuditRoot, &mut RootResult)>, texts: &Texts) -> Vec<()> {
        let mut selection = ModuleSelection::default();
        for release in &self.releases.all {
            release
                .audited(&release.distinct_builds())
                .select(&mut selection);
        }
        let loaded = match (self.load)(&selection) {
            Ok(loaded) => loaded,
            Err(failure) => {
                for (_, result) in roots {
                    result.fail(failure.clone());
                }
                return Vec::new();
            }
        };
        self.remarks.extend(loaded.remarks);
        // Each release is judged once, however many roots lock it.
        for release in &mut self.releases.all {
            let builds = release.distinct_builds();
            let matches = audit::audit(release.audited(&builds), &loaded.database);
            release.matches = matches
                .into_iter()
                .map(|found| {
                    let row = Arc::new(result::row(&found));
                    (found, row)
                })
                .collect();
        }
        for (opened, result) in roots {
            let project = self.ignores.of_root(&opened.root, texts);
            self.report(&opened, project, result);
            // If an advisory is missing, the answer is incomplete for each root.
            if let Some(failure) = &loaded.failure {
                result.fail(failure.clone());
            }
        }
        let roots = commands::of_all(self.options, &self.args.roots)
            .roots
            .for_all;
        self.remarks
            .extend(result::unknown_contents(&self.releases.all, &roots));
        Vec::new()
    }
}
