//! The builds of locked packages, from facts, from packages on this machine and from downloads.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use crate::addr::ProviderAddr;
use crate::contents::{PackageBuild, ProgramContents};
use crate::diag::Texts;
use crate::hash::Hash;
use crate::locker::{self, Contradicted, DOWNLOADS, LockError, LockSettings, RootRequest};
use crate::lockfile::LockFile;
use crate::package::{ClaimPolicy, Fact, ReleaseFact};
use crate::packages::{MatchedPackage, PackageMemo, PackagePlace};
use crate::report::{Failure, RootResult};
use crate::requirement::Requirements;
use crate::resolve::Goals;
use crate::run::facts::trusted;
use crate::run::platforms;
use crate::run::root::{LockText, Root};
use crate::run::session::Session;
use crate::run::user::enforcement;
use crate::run::user::sources::Sources;
use crate::store::{Facts, StoredContents, StoredFact, StoredRelease};
use crate::verify::LockedBuilds;
use crate::version::Version;
use crate::{parallel, upstream};

/// Reads the builds of locked packages, each once in a run.
pub(crate) struct BuildReader<'a> {
    session: Rc<Session<'a>>,
    packages: PackageMemo<'a>,
    /// The mirrors that the user names.
    named: Vec<PackagePlace>,
    /// The contents of packages on this machine, by their `h1:`.
    read: BTreeMap<Hash, Arc<ProgramContents>>,
    /// The sources of packages with unknown contents, if these may be downloaded.
    sources: Option<Sources<'a>>,
}

/// The builds of a root's packages, and the packages that could not be downloaded.
pub(crate) struct ReadBuilds {
    pub(crate) builds: LockedBuilds,
    pub(crate) errors: Vec<LockError>,
}

/// Facts about packages with known contents: all other packages are downloaded again, and their contents are kept.
struct WithContents<'f>(&'f dyn Facts);

impl Facts for WithContents<'_> {
    fn find(&self, zh: &Hash) -> Option<Arc<StoredFact>> {
        self.0.find(zh).filter(|_| self.0.contents(zh).is_some())
    }

    fn keep(&self, fact: &Fact) {
        self.0.keep(fact);
    }

    fn release(&self, provider: &ProviderAddr, version: &Version) -> Option<Arc<StoredRelease>> {
        self.0.release(provider, version)
    }

    fn keep_release(&self, release: &ReleaseFact) {
        self.0.keep_release(release);
    }

    fn contents(&self, zh: &Hash) -> Option<StoredContents> {
        self.0.contents(zh)
    }

    fn keep_contents(&self, zh: &Hash, contents: &ProgramContents) {
        self.0.keep_contents(zh, contents);
    }
}

impl<'a> BuildReader<'a> {
    /// Makes a reader that has read no package yet; without `sources` it downloads none.
    pub(crate) fn new(
        session: Rc<Session<'a>>,
        named: Vec<PackagePlace>,
        sources: Option<Sources<'a>>,
    ) -> Self {
        Self {
            packages: PackageMemo::new(session.world.disk, parallel::cores()),
            session,
            named,
            read: BTreeMap::new(),
            sources,
        }
    }

    /// Finds the builds of a root's locked packages.
    ///
    /// Packages with unknown contents are listed only if their `h1:` is recorded, which shows that the lock file is for
    /// their platform.
    ///
    /// # Errors
    /// If a place with packages, or the mirror that the project file names, cannot be used.
    pub(crate) fn of_root(
        &mut self,
        root: &Root,
        lock: &LockText,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<ReadBuilds, Failure> {
        let locked = &lock.document.lock;
        let mut errors = Vec::new();
        let on_machine = self.on_machine(root, lock, texts, result)?;
        let mut builds = self.session.facts.builds(root, locked);
        self.add(&mut builds, &on_machine);
        // Packages on this machine are read first, since each of them saves a download.
        if self.sources.is_some() {
            retain_locked(&mut builds, locked);
            // `unread` is empty for an entry without any known package, which needs a download as well.
            let mut unread = locked.clone();
            unread.providers.retain(|provider, _| {
                builds.get(provider).is_none_or(|release| {
                    release.packages.is_empty() || !release.unread().is_empty()
                })
            });
            if !unread.providers.is_empty() {
                errors = self.download(root, &unread, texts, result)?;
                // The memo remembers that they had no contents, and would not read the store again.
                self.session.facts.memo.forget_missing();
                builds = self.session.facts.builds(root, locked);
                self.add(&mut builds, &on_machine);
            }
        }
        retain_locked(&mut builds, locked);
        Ok(ReadBuilds { builds, errors })
    }

    /// Finds the packages on this machine that have a recorded hash.
    ///
    /// # Errors
    /// If a place with packages cannot be read.
    fn on_machine(
        &mut self,
        root: &Root,
        lock: &LockText,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<Vec<MatchedPackage>, Failure> {
        let user = self.session.of(root.flavor);
        result.faults(&user.errors_once(texts));
        let mut places = user.package_places(root, &self.named, texts);
        // Mirrors on the command line replace the mirror of the project file.
        if self.named.is_empty() {
            places.extend(root.project_mirror());
        }
        let facts = self.session.facts.about(root, &lock.document.lock);
        let checked = root.packages(lock, &mut self.packages, &places, &facts)?;
        Ok(checked.matched)
    }

    /// Adds the contents of packages on this machine that no fact has.
    fn add(&mut self, builds: &mut LockedBuilds, on_machine: &[MatchedPackage]) {
        for package in on_machine {
            let release = builds.entry(package.id.provider.clone()).or_default();
            // `None` equals `None`, so without the test for a `zh:` two unpacked packages would count as the same.
            let known = release.packages.iter_mut().find(|build| {
                build.platform == package.id.platform
                    && (build.h1.as_ref() == Some(&package.h1)
                        || build.zh.is_some() && build.zh == package.zh)
            });
            match known {
                Some(build) => {
                    build.h1.get_or_insert_with(|| package.h1.clone());
                    // Known contents of the same files are not read again.
                    if build.contents.is_none() {
                        build.contents = self.contents(package);
                    }
                }
                // The package has no fact: it was copied from elsewhere, or comes from a mirror without signatures.
                None => {
                    let contents = self.contents(package);
                    release.packages.push(PackageBuild {
                        platform: package.id.platform.clone(),
                        zh: package.zh.clone(),
                        h1: Some(package.h1.clone()),
                        contents,
                    });
                }
            }
            release
                .packages
                .sort_by(|a, b| (&a.platform, &a.zh).cmp(&(&b.platform, &b.zh)));
        }
    }

    /// Reads a package, unless one with the same files was read before; `None` if it cannot be read.
    fn contents(&mut self, package: &MatchedPackage) -> Option<Arc<ProgramContents>> {
        if let Some(read) = self.read.get(&package.h1) {
            return Some(Arc::clone(read));
        }
        // A package that vanished or changed since it was hashed has unknown contents; `verify` reports it.
        let contents = Arc::new(self.packages.contents(package).ok()?);
        self.read.insert(package.h1.clone(), Arc::clone(&contents));
        Some(contents)
    }

    /// Downloads packages with unknown contents, and keeps the contents of signed ones.
    fn download(
        &mut self,
        root: &Root,
        unread: &LockFile,
        texts: &mut Texts,
        result: &mut RootResult,
    ) -> Result<Vec<LockError>, Failure> {
        let Some(sources) = &mut self.sources else {
            return Ok(Vec::new());
        };
        let Some(number) = sources.of_root(root, true, texts, result)? else {
            return Ok(Vec::new());
        };
        // In a run that writes nothing, no root starts over, so its faults can be reported now.
        sources.reported(number);
        let providers: Vec<&ProviderAddr> = unread.providers.keys().collect();
        let mut wanted = platforms::typed(&[]).of_root(root, &providers, &[]);
        platforms::prefer_covered(&mut wanted, &self.session.facts.about(root, unread));
        // Without a complete configuration, each entry stays at its version and is completed.
        let requirements = Requirements {
            faulty: true,
            ..Requirements::default()
        };
        let settings = LockSettings {
            jobs: parallel::cores(),
            downloads: DOWNLOADS,
            max_download: None,
            enforced: enforcement(self.session.world.env),
            prove: false,
            contradicted: Contradicted::Alarm,
        };
        let request = RootRequest {
            source: &sources.by_number()[number],
            requirements: &requirements,
            lock: unread,
            elsewhere: &BTreeMap::new(),
            goals: &Goals::default(),
            policy: None,
            platforms: &wanted,
            dropped: &[],
            demands: &upstream::demands(root.project(), root.flavor),
            // A claimed `h1:` would replace the download, which the contents are read from.
            claims: &ClaimPolicy::default(),
            trusted: trusted(root),
            overridden: &[],
        };
        let facts = WithContents(self.session.facts.get());
        let outcomes = locker::run(self.session.world.disk, &facts, &settings, &[request]);
        Ok(outcomes
            .into_iter()
            .flat_map(|outcome| match outcome {
                Ok(locked) => locked.unavailable,
                Err(errors) => errors,
            })
            .collect())
    }
}

/// Removes packages of platforms that the lock file is not for, unless their contents are known.
fn retain_locked(builds: &mut LockedBuilds, locked: &LockFile) {
    for (provider, release) in builds {
        let Some(entry) = locked.providers.get(provider) else {
            continue;
        };
        release.packages.retain(|package| {
            let is_recorded = |h1: &Hash| entry.hashes.contains(h1);
            package.contents.is_some() || package.h1.as_ref().is_some_and(is_recorded)
        });
    }
}
