//! Which versions a run moves, and which roots that concerns.

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::ProviderAddr;
use crate::cli::session::provider;
use crate::config::Loaded;
use crate::flavor::Flavor;
use crate::lockfile::LockFile;
use crate::package::MinAge;
use crate::report::Failure;
use crate::resolve::{Goal, Goals, Reach};
use crate::run::root::Root;
use crate::version::Version;

/// Which versions move.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Moves {
    /// How far a version moves that is not stated.
    pub(in crate::cli) reach: Reach,
    /// The providers that move; all of them if none is named.
    pub(in crate::cli) named: Vec<NamedProvider>,
    /// How old a release must be, rather than what the project file says.
    pub(in crate::cli) min_age: Option<MinAge>,
}

/// A provider that is to move.
#[derive(Clone, Debug)]
pub(in crate::cli) struct NamedProvider {
    /// Its address, or its type, as typed.
    pub(in crate::cli) addr: String,
    /// The version that it moves to; `None` if to the newest.
    pub(in crate::cli) version: Option<Version>,
}

/// What the roots of a run make of the providers that are named.
#[derive(Default)]
pub(super) struct Found {
    /// The places of the named providers that some root requires.
    required: BTreeSet<usize>,
    /// What the roots require.
    known: BTreeSet<ProviderAddr>,
    /// The rules of the first root, and why it may require more than is known.
    first: Option<(Flavor, Option<String>)>,
}

impl Moves {
    /// Returns what is to become of the versions of a root; `None` if it requires no provider that is
    /// named.
    ///
    /// An entry that nothing visible requires moves only if it is named: what requires it may have more
    /// conditions than are recorded.
    ///
    /// # Errors
    /// If what was typed is no address, is built in, or is named with two versions.
    pub(super) fn goals(
        &self,
        root: &Root,
        loaded: &Loaded,
        lock: &LockFile,
        unseen: Option<String>,
        found: &mut Found,
    ) -> Result<Option<Goals>, Failure> {
        let requirements = &loaded.requirements;
        found.first.get_or_insert((root.flavor, unseen));
        found.known.extend(requirements.providers.keys().cloned());
        if self.named.is_empty() {
            return Ok(Some(Goals {
                others: Goal::Newest(self.reach),
                named: BTreeMap::new(),
            }));
        }
        let mut named = BTreeMap::new();
        for (at, one) in self.named.iter().enumerate() {
            let addr = provider::find(&one.addr, root, requirements)?;
            let may_be_required = !requirements.is_complete() && lock.providers.contains_key(&addr);
            if !requirements.providers.contains_key(&addr) && !may_be_required {
                continue;
            }
            found.required.insert(at);
            let name = addr.short(root.flavor);
            if addr.is_builtin(root.flavor) {
                return Err(failure(format!("{name} is built in and has no version")));
            }
            let goal = match &one.version {
                Some(version) => Goal::Exactly(version.clone()),
                None => Goal::Newest(self.reach),
            };
            if let Some(other) = named.insert(addr, goal.clone())
                && other != goal
            {
                return Err(failure(format!("{name} is named with two versions"))
                    .help("name each provider once"));
            }
        }
        let goals = Goals {
            others: Goal::Keep,
            named,
        };
        Ok((!goals.named.is_empty()).then_some(goals))
    }

    /// Returns a failure for each named provider that no root requires; `is_dir` says whether what was
    /// typed is a directory.
    pub(super) fn unknown(&self, found: &Found, is_dir: impl Fn(&str) -> bool) -> Vec<Failure> {
        let Some((flavor, unseen)) = &found.first else {
            return Vec::new();
        };
        let help = |typed: &str| {
            if is_dir(typed) {
                return Some(format!("to name the directory, write ./{typed}"));
            }
            let addr = ProviderAddr::parse(typed, *flavor).ok()?;
            provider::did_you_mean(&addr, &found.known, *flavor).or_else(|| {
                let names = provider::names(&found.known, *flavor)?;
                Some(format!("these are required: {names}"))
            })
        };
        let named = self.named.iter().enumerate();
        let unknown = named.filter(|(at, _)| !found.required.contains(at));
        let unknown = unknown.map(|(_, one)| Failure {
            title: format!("{} cannot be updated: nothing requires it", one.addr),
            causes: unseen.iter().cloned().collect(),
            help: help(&one.addr),
        });
        unknown.collect()
    }
}

fn failure(title: String) -> Failure {
    Failure {
        title,
        ..Failure::default()
    }
}
