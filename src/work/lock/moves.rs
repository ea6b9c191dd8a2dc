//! The providers that a run is about, how far their versions move, and the roots that this concerns.

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::ProviderAddr;
use crate::config::Loaded;
use crate::flavor::Flavor;
use crate::lockfile::LockFile;
use crate::package::MinAge;
use crate::report::Failure;
use crate::resolve::{Goal, Goals};
use crate::run::provider;
use crate::run::root::Root;
use crate::run::typed_addr::TypedAddr;
use crate::version::Version;

/// The providers that are locked, and the versions that move.
#[derive(Clone, Debug)]
pub(crate) struct Moves {
    /// The goal of a provider whose version is not named; of all of them if no provider is named.
    pub(crate) goal: Goal,
    /// The goal of all others beside named providers; `None` if their entries stay as they are.
    pub(crate) others: Option<Goal>,
    pub(crate) named: Vec<NamedProvider>,
    /// The least age of a release, in place of that of the project file.
    pub(crate) min_age: Option<MinAge>,
}

/// A provider that is named.
#[derive(Clone, Debug)]
pub(crate) struct NamedProvider {
    pub(crate) addr: TypedAddr,
    /// The version that it moves to, if one is named.
    pub(crate) version: Option<Version>,
}

/// The providers that are named, as far as the roots of a run require them.
#[derive(Default)]
pub(super) struct NamedInRoots {
    /// The numbers of the named providers that some root requires.
    required: BTreeSet<usize>,
    /// All providers that the roots require.
    known: BTreeSet<ProviderAddr>,
    /// The rules of the first root, and the reason why it may require more than is known.
    first: Option<(Flavor, Option<String>)>,
}

impl Moves {
    /// Keeps the versions of some providers, and leaves all other entries alone.
    pub(crate) fn kept(providers: &[TypedAddr]) -> Self {
        Self {
            goal: Goal::Keep,
            others: None,
            named: providers
                .iter()
                .map(|addr| NamedProvider {
                    addr: addr.clone(),
                    version: None,
                })
                .collect(),
            min_age: None,
        }
    }

    /// Returns the goals for the versions of a root; `None` if it requires no provider that is named.
    ///
    /// An entry that nothing visible requires moves only if it is named: what requires it may have more
    /// conditions than are recorded.
    ///
    /// # Errors
    /// If a provider is built in, or is named with two versions.
    pub(super) fn goals(
        &self,
        root: &Root,
        loaded: &Loaded,
        lock: &LockFile,
        unseen: Option<String>,
        in_roots: &mut NamedInRoots,
    ) -> Result<Option<Goals>, Failure> {
        let requirements = &loaded.requirements;
        in_roots.first.get_or_insert((root.flavor, unseen));
        in_roots
            .known
            .extend(requirements.providers.keys().cloned());
        if self.named.is_empty() {
            return Ok(Some(Goals {
                others: Some(self.goal.clone()),
                named: BTreeMap::new(),
            }));
        }
        let mut goals = BTreeMap::new();
        for (number, named) in self.named.iter().enumerate() {
            let addr = named
                .addr
                .among(requirements.providers.keys(), root.flavor)?;
            // A module that is not visible may require a provider that is locked, but not one that is not.
            let may_be_required = !requirements.is_complete() && lock.providers.contains_key(&addr);
            if !requirements.providers.contains_key(&addr) && !may_be_required {
                continue;
            }
            in_roots.required.insert(number);
            let name = addr.short(root.flavor);
            if addr.is_builtin(root.flavor) {
                return Err(Failure::new(format!(
                    "{name} is built in and has no version"
                )));
            }
            let goal = match &named.version {
                Some(version) => Goal::Exactly(version.clone()),
                None => self.goal.clone(),
            };
            // The same goal twice is no contradiction: two spellings may mean one address.
            if let Some(other) = goals.insert(addr, goal.clone())
                && other != goal
            {
                return Err(Failure::new(format!("{name} is named with two versions"))
                    .help("name each provider once"));
            }
        }
        Ok((!goals.is_empty()).then_some(Goals {
            others: self.others.clone(),
            named: goals,
        }))
    }

    /// Returns a failure for each named provider that no root requires; `is_dir` returns true if a name is
    /// that of a directory.
    pub(super) fn unknown(
        &self,
        in_roots: &NamedInRoots,
        is_dir: impl Fn(&str) -> bool,
    ) -> Vec<Failure> {
        let Some((flavor, unseen)) = &in_roots.first else {
            return Vec::new();
        };
        let help = |addr: &TypedAddr| {
            if is_dir(addr.as_str()) {
                return Some(format!("to name the directory, write ./{addr}"));
            }
            let addr = addr.by_rules_of(*flavor).ok()?;
            provider::did_you_mean(&addr, &in_roots.known, *flavor).or_else(|| {
                let names = provider::names(&in_roots.known, *flavor)?;
                Some(format!("these are required: {names}"))
            })
        };
        let done = match self.others {
            None => "locked",
            Some(_) => "updated",
        };
        self.named
            .iter()
            .enumerate()
            .filter(|(number, _)| !in_roots.required.contains(number))
            .map(|(_, named)| Failure {
                title: format!("{} cannot be {done}: nothing requires it", named.addr),
                causes: unseen.iter().cloned().collect(),
                help: help(&named.addr),
            })
            .collect()
    }
}
