//! Attested builds of locked packages: asked for, verified, and kept beside the facts.

mod questions;
mod summary;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use self::questions::AttestationQuestions;
use self::summary::AttestationSummary;
use crate::addr::ProviderAddr;
use crate::authenticate::{AttestationRoots, AttestedPackages, MAX_ROOTS_BYTES};
use crate::contents::ReleaseBuilds;
use crate::flavor::{Flavor, Program};
use crate::hash::{Hash, Scheme};
use crate::lockfile::{LockFile, ProviderLock};
use crate::package::{AttestedBuilds, ReleaseFact};
use crate::report::Failure;
use crate::run::github::GithubApi;
use crate::run::root::Root;
use crate::run::session::Session;
use crate::sources::attestations::AttestationApi;
use crate::store::FactOrigin;
use crate::verify::AskedAttestations;

/// Finds the attested builds of locked packages.
pub(crate) struct Attester<'a> {
    session: Rc<Session<'a>>,
    questions: AttestationQuestions<'a>,
    /// The host whose repositories the API knows.
    host: String,
    /// The trusted roots, by the file that a project names.
    roots: BTreeMap<Option<PathBuf>, Rc<AttestationRoots>>,
    /// The releases of all roots.
    pub(crate) summary: AttestationSummary,
}

/// The answers about the packages of a root, and the questions that had none; of these each is named once in a run.
#[derive(Default)]
pub(crate) struct RootAttestations {
    pub(crate) asked: AskedAttestations,
    pub(crate) failures: Vec<Failure>,
}

/// The repository whose attestations count, and who names it.
struct ExpectedRepository {
    /// The host, the owner and the name.
    name: String,
    named_by: &'static str,
    /// The memory says that it attests the packages.
    is_remembered: bool,
}

impl<'a> Attester<'a> {
    /// Prepares to ask; makes no request.
    ///
    /// # Errors
    /// If the environment names no address of an API.
    pub(crate) fn new(session: &Rc<Session<'a>>) -> Result<Self, Failure> {
        let GithubApi { url, token, host } = GithubApi::read(session.world.env)?;
        Ok(Self {
            questions: AttestationQuestions::new(AttestationApi {
                net: session.net(Flavor::newest(Program::Terraform)),
                api: url,
                token,
            }),
            session: Rc::clone(session),
            host,
            roots: BTreeMap::new(),
            summary: AttestationSummary::default(),
        })
    }

    /// Finds the attested builds of the locked packages of a root; `stated` returns the address where the registry of a
    /// provider says that a package is.
    ///
    /// # Errors
    /// If the file with trusted roots cannot be used.
    pub(crate) fn of_root(
        &mut self,
        root: &Root,
        lock: &LockFile,
        stated: &dyn Fn(&ProviderAddr) -> Option<String>,
    ) -> Result<RootAttestations, Failure> {
        let roots = self.roots(root)?;
        let releases = self.session.facts.releases(root, lock, self.session.world);
        let builds = self.session.facts.builds(root, lock);
        let mut found = RootAttestations::default();
        for (provider, entry) in &lock.providers {
            if provider.is_builtin(root.flavor) {
                continue;
            }
            let name = format!("{} {}", provider.short(root.flavor), entry.version);
            let Some(repository) = self.repository(root, provider, builds.get(provider), stated)
            else {
                self.summary.add_unnamed(&name, &self.host);
                continue;
            };
            let known = releases.releases.get(provider).map(|known| &**known);
            let release = self.release(entry, known, &repository, &roots, &mut found, provider);
            // Nothing is known of a release that could not be asked about.
            if release.is_empty() {
                self.summary.add_unanswered(&name, &repository);
                continue;
            }
            self.summary.add(&name, &release, &repository);
            let facts = self.session.facts.get();
            // Not without what is known of the release: its signers would seem to be missing.
            if let Some(kept) = facts
                .release(provider, &entry.version)
                .filter(|kept| kept.origin == FactOrigin::Computed)
            {
                let mut with_builds = (*kept.release).clone();
                with_builds.attested.clone_from(&release);
                facts.keep_release(&with_builds);
            }
            found.asked.builds.insert(provider.clone(), release);
        }
        Ok(found)
    }

    /// Reads the trusted roots that count for a root.
    fn roots(&mut self, root: &Root) -> Result<Rc<AttestationRoots>, Failure> {
        let file = root.project().trust.attestation_roots.as_ref();
        let file = file.map(|file| root.project_path(file));
        if let Some(roots) = self.roots.get(&file) {
            return Ok(Rc::clone(roots));
        }
        let roots = match &file {
            None => AttestationRoots::embedded().map_err(|error| Failure::from_error(&error))?,
            Some(path) => {
                let title = format!("{} cannot be used for attestations", path.display());
                let unusable = |cause: String| Failure::new(title).because(cause);
                let world = self.session.world;
                // Where project files are those of a revision, so is this one.
                let read = match world.project_files {
                    Some(files) => files.read(path, MAX_ROOTS_BYTES),
                    None => world.disk.read(path, MAX_ROOTS_BYTES),
                };
                match read.map(|bytes| AttestationRoots::parse(&bytes)) {
                    Ok(Ok(roots)) => roots,
                    Ok(Err(error)) => return Err(unusable(error.to_string())),
                    Err(error) => return Err(unusable(error.to_string())),
                }
            }
        };
        let roots = Rc::new(roots);
        self.roots.insert(file, Rc::clone(&roots));
        Ok(roots)
    }

    /// Returns the repository that must have attested a provider: of those that are named, the one that whoever
    /// publishes a package can change least.
    fn repository(
        &self,
        root: &Root,
        provider: &ProviderAddr,
        builds: Option<&ReleaseBuilds>,
        stated: &dyn Fn(&ProviderAddr) -> Option<String>,
    ) -> Option<ExpectedRepository> {
        let memory = root.project().trust.remembered(provider, root.flavor);
        // A repository that is remembered has no substitute.
        if let Some(name) = memory.and_then(|memory| memory.provenance.as_ref()) {
            return Some(ExpectedRepository {
                name: repository_in(name, &self.host)?,
                named_by: "the project file",
                is_remembered: true,
            });
        }
        let module = memory.and_then(|memory| memory.module.clone());
        let program = builds
            .into_iter()
            .flat_map(ReleaseBuilds::known)
            .find_map(|(_, info)| Some(info.main.as_ref()?.path.clone()));
        [
            (module, "the project file"),
            (stated(provider), "its registry"),
            (program, "its program"),
        ]
        .into_iter()
        .find_map(|(text, named_by)| {
            Some(ExpectedRepository {
                name: repository_in(&text?, &self.host)?,
                named_by,
                is_remembered: false,
            })
        })
    }

    /// Finds the attested builds of the packages of an entry.
    fn release(
        &mut self,
        entry: &ProviderLock,
        known: Option<&ReleaseFact>,
        repository: &ExpectedRepository,
        roots: &AttestationRoots,
        found: &mut RootAttestations,
        provider: &ProviderAddr,
    ) -> AttestedBuilds {
        let mut builds = AttestedBuilds::new();
        let is_package = |zh: &&Hash| known.is_none_or(|known| !known.others.contains(*zh));
        for zh in entry.hashes.of(Scheme::Zh).filter(is_package) {
            if builds.contains_key(zh) {
                continue;
            }
            // An attestation is for ever; that there is none is not.
            let kept = known.and_then(|known| known.attested.get(zh)?.clone());
            if let Some(build) =
                kept.filter(|build| build.repository.eq_ignore_ascii_case(&repository.name))
            {
                builds.insert(zh.clone(), Some(build));
                continue;
            }
            let answer = self
                .questions
                .answer(zh, &repository.name, roots, &mut found.failures);
            let Some(answer) = answer else {
                break;
            };
            // An old package with its old attestation is no newer release (`authenticate` rules 7.3).
            let answer = answer.and_then(|attested| {
                let stated = attested.as_ref().and_then(|it| it.build.version());
                match stated.filter(|version| *version != entry.version) {
                    Some(version) => Err(format!("its attestation is of the version {version}")),
                    None => Ok(attested),
                }
            });
            match answer {
                Ok(Some(AttestedPackages { build, packages })) => {
                    // A statement names the packages of all platforms, so that one request is enough.
                    builds.extend(
                        packages
                            .into_iter()
                            .filter(|zh| entry.hashes.contains(zh))
                            .map(|zh| (zh, Some(build.clone()))),
                    );
                    continue;
                }
                Ok(None) => {}
                Err(reason) => found.asked.invalid.push((provider.clone(), reason)),
            }
            builds.insert(zh.clone(), None);
            // Most publishers attest nothing, which one request shows.
            if !repository.is_remembered {
                break;
            }
        }
        builds
    }
}

/// Returns the repository that an address or the path of a module leads to, if it is on a host.
fn repository_in(text: &str, host: &str) -> Option<String> {
    let mut parts = text.strip_prefix("https://").unwrap_or(text).split('/');
    let is_name = |part: &&str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    parts.next().filter(|part| *part == host)?;
    let owner = parts.next().filter(is_name)?;
    let name = parts.next().filter(is_name)?;
    Some(format!("{host}/{owner}/{name}"))
}
