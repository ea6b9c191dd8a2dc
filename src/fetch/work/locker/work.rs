//! Roots in progress, and questions that several of them share.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use super::{FlavorSource, LockError, RootRequest};
use crate::addr::ProviderAddr;
use crate::flavor::Flavor;
use crate::lockfile::{LockFile, ProviderLock};
use crate::parallel;
use crate::requirement::{Refusal, Requirements};
use crate::resolve::{self, Goal, ProviderQuery, SelectError};
use crate::version::Constraints;

/// Maximum number of questions under way at once. An answer is mostly a wait for the network, so this
/// does not depend on the number of cores; `sources` limits the requests to one host.
pub(super) const QUESTIONS: NonZeroUsize = NonZeroUsize::new(32).expect("positive");

/// A root in progress; `T` is the value that the last stage made for each of its providers.
pub(super) struct RootWork<'a, T> {
    pub(super) request: &'a RootRequest<'a>,
    /// The index of its source among those of the run.
    pub(super) source: usize,
    /// The lock file as it was, with the entries that OpenTofu reads as its own.
    pub(super) before: LockFile,
    /// Entries of Terraform's registry and the OpenTofu ones that replace them.
    pub(super) carried_over: Vec<(ProviderAddr, ProviderAddr)>,
    /// Providers to lock that no stage has refused, sorted.
    pub(super) providers: Vec<T>,
    /// The reasons why entries that nothing visible requires are kept as they are.
    pub(super) unavailable: Vec<LockError>,
    /// The failures of all stages so far; any of them keeps the root from being locked.
    pub(super) errors: Vec<LockError>,
}

/// Returns the sources of all roots, each once.
pub(super) fn distinct_sources<'a>(
    of_roots: impl Iterator<Item = &'a FlavorSource<'a>>,
) -> Vec<&'a FlavorSource<'a>> {
    let mut sources: Vec<&FlavorSource<'a>> = Vec::new();
    for source in of_roots {
        // Sources have no equality: roots share one if they hold the same reference.
        if !sources.iter().any(|other| std::ptr::eq(*other, source)) {
            sources.push(source);
        }
    }
    sources
}

/// Returns the index of a source among those of the run.
pub(super) fn index_of(source: &FlavorSource<'_>, sources: &[&FlavorSource<'_>]) -> usize {
    sources
        .iter()
        .position(|other| std::ptr::eq(*other, source))
        .expect("the sources are those of all roots")
}

/// Starts all roots with the providers that need a version.
pub(super) fn start<'a>(
    requests: &'a [RootRequest<'a>],
    sources: &[&FlavorSource<'_>],
) -> Vec<RootWork<'a, ProviderQuery>> {
    let mut roots = Vec::new();
    for request in requests {
        let flavor = request.source.flavor;
        let mut before = request.lock.clone();
        let carried_over = before.carry_over(flavor, |addr| {
            request.requires(addr) && request.concerns(addr)
        });
        let (mut queries, refused) =
            resolve::to_query(request.requirements, &before, flavor, request.goals);
        // Entries that stay only because something that was not seen may require them: their version is known,
        // so their hashes are completed like those of others. Else `verify` would recommend a run that changes
        // nothing.
        if !request.requirements.is_complete() {
            for (provider, entry) in unrequired(request.requirements, &before, &carried_over) {
                if !can_be_asked_about(provider, flavor) || !request.concerns(provider) {
                    continue;
                }
                // Without a name, an entry that nothing visible requires does not move.
                let named = request.goals.named.get(provider);
                let goal = named.unwrap_or(&Goal::Keep);
                // An entry that is to move is bound by the recorded conditions, which are all that is known
                // (`resolve` rules 2.6).
                let constraints = match goal {
                    Goal::Newest(_) | Goal::Exactly(_) => entry.constraints.clone(),
                    Goal::Keep => {
                        request
                            .requirements
                            .on_locked(provider, &entry.version, &entry.constraints)
                    }
                };
                queries.push(ProviderQuery {
                    provider: provider.clone(),
                    constraints,
                    locked: Some(entry.version.clone()),
                    goal: goal.clone(),
                });
            }
        }
        // A provider that is run from a directory has no release, so nothing could be asked about it.
        queries.retain(|query| !request.overridden.contains(&query.provider));
        queries.sort_by(|a, b| a.provider.cmp(&b.provider));
        roots.push(RootWork {
            request,
            source: index_of(request.source, sources),
            before,
            carried_over,
            providers: queries,
            unavailable: Vec::new(),
            errors: refused
                .into_iter()
                .map(|(provider, refusal)| SelectError::Refused { provider, refusal })
                .map(|error| LockError::from(Box::new(error)))
                .collect(),
        });
    }
    roots
}

/// Returns the entries that nothing visible requires and that no other entry replaces.
pub(super) fn unrequired<'l>(
    requirements: &Requirements,
    lock: &'l LockFile,
    carried_over: &[(ProviderAddr, ProviderAddr)],
) -> impl Iterator<Item = (&'l ProviderAddr, &'l ProviderLock)> {
    lock.providers.iter().filter(|(provider, _)| {
        // The entry that replaces it is asked about; this one goes when everything is seen.
        let is_replaced = carried_over.iter().any(|(old, _)| old == *provider);
        !requirements.providers.contains_key(*provider) && !is_replaced
    })
}

/// Returns true if a source could have a provider: it is not part of the program, and the program does not
/// refuse its address.
pub(super) fn can_be_asked_about(provider: &ProviderAddr, flavor: Flavor) -> bool {
    !provider.is_builtin(flavor) && Refusal::of(provider, &Constraints::default(), flavor).is_none()
}

/// Keeps an entry that nothing visible requires as it is if its source does not have it.
pub(super) fn pass_over_unavailable<T>(mut roots: Vec<RootWork<'_, T>>) -> Vec<RootWork<'_, T>> {
    for root in &mut roots {
        let errors = std::mem::take(&mut root.errors);
        // Such an entry must not prevent the lock of a root: there is no way to repair it.
        (root.unavailable, root.errors) = errors.into_iter().partition(|error| {
            error
                .absent()
                .is_some_and(|provider| !root.request.requires(provider))
        });
    }
    roots
}

impl<'a, T> RootWork<'a, T> {
    /// Brings every provider one stage further. A step that returns `None` adds the reason to the errors; the
    /// other providers go on.
    pub(super) fn advance<U>(
        self,
        mut step: impl FnMut(T, &mut Vec<LockError>) -> Option<U>,
    ) -> RootWork<'a, U> {
        let mut errors = self.errors;
        let mut providers = Vec::new();
        for provider in self.providers {
            providers.extend(step(provider, &mut errors));
        }
        RootWork {
            providers,
            errors,
            unavailable: self.unavailable,
            request: self.request,
            source: self.source,
            before: self.before,
            carried_over: self.carried_over,
        }
    }
}

/// A question to one of the sources of the run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Question<T> {
    /// The index of the source.
    pub(super) source: usize,
    pub(super) about: T,
}

/// Asks questions side by side, each once, in their order.
pub(super) fn answers<Q: Ord + Clone + Sync, A: Send>(
    at_once: NonZeroUsize,
    questions: impl IntoIterator<Item = Q>,
    ask: impl Fn(&Q) -> A + Sync,
) -> BTreeMap<Q, A> {
    let mut seen = BTreeSet::new();
    let questions: Vec<Q> = questions
        .into_iter()
        .filter(|question| seen.insert(question.clone()))
        .collect();
    let answers = parallel::map(at_once, &questions, ask);
    questions.into_iter().zip(answers).collect()
}
