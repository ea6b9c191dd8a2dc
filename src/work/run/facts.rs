//! The store of the user: where it is, and when it is used.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::addr::{ProviderAddr, StoreUrl};
use crate::coverage::{Attribution, Attributions};
use crate::diag::counted_as;
use crate::hash::{Hash, Hashes};
use crate::locker::TrustedFacts;
use crate::lockfile::LockFile;
use crate::package::FactKey;
use crate::project::StoreSetting;
use crate::report::shared::{MAX_ROOTS, first_names};
use crate::report::{Failure, Sentence};
use crate::review::KnownSigners;
use crate::run::World;
use crate::run::contents::ContentsMemo;
use crate::run::options::Options;
use crate::run::root::Root;
use crate::run::shared_keys;
use crate::run::user::caches;
use crate::store::shared::{self, SharedFacts, SharedStore};
use crate::store::{FactOrigin, Facts, NoFacts, Store};
use crate::verify::{AskedAttestations, LockedReleases};
use crate::version::Version;

/// The facts that a command works with.
pub(crate) struct UserFacts<'a> {
    /// The store, and its directory.
    store: Option<(Arc<Store<'a>>, PathBuf)>,
    /// The store that machines share, once a root names it.
    shared: OnceLock<JoinedStore<'a>>,
    /// The roots that state another store or other keys.
    others: Mutex<BTreeSet<String>>,
    /// The hashes that rest on signed facts, by the name and ID of the key.
    attested: Mutex<BTreeMap<String, BTreeSet<Hash>>>,
    /// The signers of all releases of the providers that were asked about: the store is read whole for each.
    signers: Mutex<BTreeMap<(TrustedFacts, ProviderAddr), KnownSigners>>,
    world: World<'a>,
    options: &'a Options,
    pub(super) memo: ContentsMemo,
}

/// A shared store, or the keys alone under which imported facts count.
struct JoinedStore<'a> {
    /// `None` if only imported facts are looked at.
    setting: Option<StoreSetting>,
    facts: SharedFacts<'a>,
    keys: Vec<FactKey>,
    /// The reasons why it is not used as it was meant.
    notes: Vec<String>,
}

impl<'a> UserFacts<'a> {
    /// Opens the store in a directory; `None` if none is to be used.
    pub(super) fn new(dir: Option<PathBuf>, world: World<'a>, options: &'a Options) -> Self {
        Self {
            store: dir.map(|dir| (Arc::new(caches::open_store(world, &dir)), dir)),
            shared: OnceLock::new(),
            others: Mutex::default(),
            attested: Mutex::default(),
            signers: Mutex::default(),
            world,
            options,
            memo: ContentsMemo::default(),
        }
    }

    pub(crate) fn get(&self) -> &dyn Facts {
        match (self.shared.get(), &self.store) {
            (Some(joined), _) => &joined.facts,
            (None, Some((store, _))) => &**store,
            (None, None) => &NoFacts,
        }
    }

    /// Opens the shared store that a root names, or that the user states.
    ///
    /// The first root with a store or with keys decides for all, because a release of several roots is worked on once.
    /// The facts of a key that a root does not name never count for it.
    ///
    /// # Errors
    /// If the environment states something that is no URL of a store, or no private key.
    pub(crate) fn join(&self, root: &Root, stated: Option<&StoreUrl>) -> Result<(), Failure> {
        if self.options.no_cache {
            return Ok(());
        }
        let setting = if self.options.offline {
            None
        } else {
            self.setting(root, stated)?
        };
        let keys = root.project().trust.fact_keys.clone();
        if setting.is_none() && keys.is_empty() {
            return Ok(());
        }
        match self.shared.get() {
            None => {
                let joined = self.open(setting, keys)?;
                self.shared.get_or_init(|| joined);
            }
            Some(joined) if joined.setting == setting && joined.keys == keys => {}
            Some(_) => {
                let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
                others.insert(root.dir.display().to_string());
            }
        }
        Ok(())
    }

    fn open(
        &self,
        setting: Option<StoreSetting>,
        keys: Vec<FactKey>,
    ) -> Result<JoinedStore<'a>, Failure> {
        let signer = match &setting {
            // A run that only reads needs no private key, and must not fail for want of one.
            Some(setting) if !setting.read_only => shared_keys::signer(self.world)?,
            _ => None,
        };
        let mut notes = Vec::new();
        if keys.is_empty() && signer.is_none() {
            notes.push("no fact in it counts: trust.fact_keys names no key".to_owned());
        }
        if let Some(signer) = signer
            .as_ref()
            .filter(|signer| !keys.contains(signer.key()))
        {
            let key = signer.key().shown();
            notes.push(format!(
                "trust.fact_keys does not name {key}, which signs what is added"
            ));
        }
        let World {
            disk, http, clock, ..
        } = self.world;
        let opened = setting
            .as_ref()
            .map(|setting| shared::open(&setting.url, disk, http));
        let objects = opened.and_then(|opened| {
            opened
                // A shared store saves work and decides nothing, so a run goes on without it.
                .map_err(|error| notes.push(format!("the run went on without it: {error}")))
                .ok()
        });
        let own: Arc<dyn Facts + Send + 'a> = match &self.store {
            Some((store, _)) => Arc::clone(store) as _,
            None => Arc::new(NoFacts),
        };
        let store = SharedStore {
            objects,
            clock,
            keys: keys.clone(),
            signer,
        };
        Ok(JoinedStore {
            setting,
            facts: SharedFacts::new(own, store),
            keys,
            notes,
        })
    }

    /// Returns the store that a root uses: the stated one, that of the environment, or that of its project file.
    fn setting(
        &self,
        root: &Root,
        stated: Option<&StoreUrl>,
    ) -> Result<Option<StoreSetting>, Failure> {
        let own = root.project().store.clone();
        let named = match stated {
            Some(url) => Some(url.clone()),
            None => shared_keys::url(self.world.env)?,
        };
        Ok(match named {
            Some(url) => Some(StoreSetting {
                url,
                read_only: own.is_some_and(|own| own.read_only),
            }),
            None => own,
        })
    }

    /// Returns which facts count for a root; signed ones only if it has the keys of the store that is in use.
    pub(crate) fn trusted(&self, root: &Root) -> TrustedFacts {
        let trust = &root.project().trust;
        let joined = self.shared.get();
        TrustedFacts {
            signed: joined
                .is_some_and(|joined| !joined.keys.is_empty() && joined.keys == trust.fact_keys),
            ..trusted(root)
        }
    }

    /// Adds what this run found out to the shared store.
    pub(crate) fn share(&self) {
        if let Some(joined) = self.shared.get() {
            joined.facts.share();
        }
    }

    /// Attributes the hashes of a lock file by facts and kept signed lists; entries without any are left out.
    pub(crate) fn about(&self, root: &Root, lock: &LockFile) -> Attributions {
        let trusted = self.trusted(root);
        if trusted.signed {
            let releases = lock
                .providers
                .iter()
                .map(|(provider, entry)| (provider.clone(), entry.version.clone()));
            self.get().read_ahead(&releases.collect::<Vec<_>>());
        }
        let mut attributions = Attributions::new();
        for (provider, entry) in &lock.providers {
            let found = self.attribute(trusted, provider, &entry.version, &entry.hashes);
            // Recorded hashes that rest on a key are counted with it.
            let recorded = found
                .packages()
                .filter(|fact| trusted.signed && entry.hashes.contains(&fact.h1));
            for fact in recorded {
                if let Some(stored) = self.get().find(&fact.zh)
                    && let FactOrigin::Signed(key) = &stored.origin
                {
                    let mut attested = self.attested.lock().unwrap_or_else(PoisonError::into_inner);
                    let of_key = attested.entry(key.clone()).or_default();
                    of_key.insert(fact.h1.clone());
                }
            }
            if !found.is_empty() {
                attributions.insert(provider.clone(), found);
            }
        }
        attributions
    }

    /// Returns the recorded `h1:` of this run that rest on signed facts of other machines.
    pub(crate) fn attested(&self) -> BTreeSet<Hash> {
        let attested = self.attested.lock().unwrap_or_else(PoisonError::into_inner);
        attested.values().flatten().cloned().collect()
    }

    /// Finds out what facts and the kept signed lists of a release say about hashes of it.
    pub(crate) fn attribute(
        &self,
        trusted: TrustedFacts,
        provider: &ProviderAddr,
        version: &Version,
        hashes: &Hashes,
    ) -> Attribution {
        let found = trusted.attribute(self.get(), provider, version, hashes);
        match trusted.release(self.get(), provider, version) {
            Some(stored) => found.with_release(stored.release.clone()),
            None => found,
        }
    }

    /// Returns the identifiers of the keys that signed a release, as far as this machine has seen it.
    pub(crate) fn signers(&self, provider: &ProviderAddr, version: &Version) -> Vec<String> {
        // A project file may accept facts of others for its hashes; a key in a list is what this machine has seen.
        TrustedFacts::OWN
            .release(self.get(), provider, version)
            .iter()
            .flat_map(|stored| &stored.release.signers)
            .map(|key| key.key_id().to_owned())
            .collect()
    }

    /// Returns the signers of all releases of a provider in the store of this machine, as far as they count for a root.
    pub(crate) fn known_signers(&self, root: &Root, provider: &ProviderAddr) -> KnownSigners {
        self.signers_by(self.trusted(root), provider)
    }

    /// Returns the signers of all releases of a provider in the store of this machine, as far as they count.
    pub(crate) fn signers_by(
        &self,
        trusted: TrustedFacts,
        provider: &ProviderAddr,
    ) -> KnownSigners {
        let mut remembered = self.signers.lock().unwrap_or_else(PoisonError::into_inner);
        remembered
            .entry((trusted, provider.clone()))
            .or_insert_with(|| {
                self.store
                    .iter()
                    .flat_map(|(store, _)| store.releases_of(provider))
                    .filter(|stored| trusted.accepts(&stored.origin))
                    .map(|stored| {
                        let release = stored.release;
                        (release.version.clone(), release.signers.clone())
                    })
                    .collect()
            })
            .clone()
    }

    /// Returns the known properties of the locked releases; releases without any are left out.
    pub(crate) fn releases(
        &self,
        root: &Root,
        lock: &LockFile,
        world: World<'_>,
    ) -> LockedReleases {
        let trusted = self.trusted(root);
        let releases = lock
            .providers
            .iter()
            .filter_map(|(provider, entry)| {
                let stored = trusted.release(self.get(), provider, &entry.version)?;
                Some((provider.clone(), stored.release.clone()))
            })
            .collect();
        LockedReleases {
            releases,
            asked: AskedAttestations::default(),
            now: world.clock.now(),
        }
    }

    /// Warns of what could not be used.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = Sentence> {
        let own = self.store.iter().flat_map(|(store, dir)| {
            store
                .notes()
                .into_iter()
                .map(move |note| Sentence::warning(format!("{}: {note}", dir.display())))
        });
        let shared = self.shared.get().into_iter().flat_map(|joined| {
            let url = joined.setting.as_ref().map(|setting| &setting.url);
            let name = url.map_or_else(|| "trust.fact_keys".to_owned(), ToString::to_string);
            joined
                .notes
                .iter()
                .cloned()
                .chain(joined.facts.notes())
                .map(move |note| Sentence::warning(format!("{name}: {note}")))
        });
        let others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        let others = (!others.is_empty()).then(|| {
            let state = if others.len() == 1 { "states" } else { "state" };
            let names = first_names(others.iter().cloned(), MAX_ROOTS).join(", ");
            Sentence::warning(format!(
                "{names} {state} another store or other keys than the first root, whose store is used; \
                 run lockctl there on its own"
            ))
        });
        let attested = self.attested.lock().unwrap_or_else(PoisonError::into_inner);
        let attested: Vec<Sentence> = attested
            .iter()
            .map(|(key, hashes)| {
                let hashes = counted_as(hashes.len(), "h1: is", "h1: are");
                Sentence::note(format!("{hashes} attested by {key}, and not computed here"))
            })
            .collect();
        own.chain(shared).chain(others).chain(attested)
    }
}

/// Returns which facts of this machine's store count for a root.
pub(crate) fn trusted(root: &Root) -> TrustedFacts {
    TrustedFacts {
        // The origin of imported facts must be trusted, so a project file has to accept them.
        imported: root.project().trust.imported_facts,
        ..TrustedFacts::OWN
    }
}
