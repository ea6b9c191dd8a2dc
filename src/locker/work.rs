//! Roots on their way through the stages, and questions that several of them have.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use super::{FlavorSource, LockError, RootRequest};
use crate::addr::ProviderAddr;
use crate::lockfile::LockFile;
use crate::parallel;
use crate::requirement::Refusal;
use crate::resolve::{self, Query, SelectError};
use crate::version::Constraints;

/// A root on its way; `T` is what is known of each of its providers so far.
pub(super) struct RootWork<'a, T> {
    pub(super) request: &'a RootRequest<'a>,
    /// The place of its source among those of the run.
    pub(super) source: usize,
    /// The lock file as it was, with the entries that OpenTofu reads as its own.
    pub(super) before: LockFile,
    /// Entries of Terraform's registry and the OpenTofu ones that replace them.
    pub(super) carried_over: Vec<(ProviderAddr, ProviderAddr)>,
    /// Providers to lock that have come this far, sorted.
    pub(super) providers: Vec<T>,
    /// Why entries that nothing visible requires are kept as they are.
    pub(super) unavailable: Vec<LockError>,
    /// What went wrong so far.
    pub(super) errors: Vec<LockError>,
}

/// Returns the sources of all roots, each once.
pub(super) fn sources<'a>(
    of_roots: impl Iterator<Item = &'a FlavorSource<'a>>,
) -> Vec<&'a FlavorSource<'a>> {
    let mut sources: Vec<&FlavorSource<'a>> = Vec::new();
    for source in of_roots {
        if !sources.iter().any(|known| std::ptr::eq(*known, source)) {
            sources.push(source);
        }
    }
    sources
}

/// Returns the place of a source among those of the run.
pub(super) fn place_of(source: &FlavorSource<'_>, sources: &[&FlavorSource<'_>]) -> usize {
    let place = sources
        .iter()
        .position(|known| std::ptr::eq(*known, source));
    place.expect("the sources are those of all roots")
}

/// Starts a root: which providers need a version?
pub(super) fn start<'a>(
    request: &'a RootRequest<'a>,
    sources: &[&FlavorSource<'_>],
) -> RootWork<'a, Query> {
    let source = place_of(request.source, sources);
    let flavor = request.source.flavor;
    let mut before = request.lock.clone();
    let carried_over = before.carry_over(flavor, |addr| request.requires(addr));
    let (mut queries, refused) =
        resolve::to_query(request.requirements, &before, flavor, request.goals);
    queries.extend(kept(request, &before, &carried_over));
    queries.retain(|query| !request.overridden.contains(&query.provider));
    queries.sort_by(|a, b| a.provider.cmp(&b.provider));
    let refused = refused.into_iter().map(|(provider, refusal)| {
        LockError::from(Box::new(SelectError::Refused { provider, refusal }))
    });
    RootWork {
        request,
        source,
        before,
        carried_over,
        providers: queries,
        unavailable: Vec::new(),
        errors: refused.collect(),
    }
}

/// Returns the entries that stay only because something that was not seen may require them.
///
/// Their version is known, so their hashes are completed like those of others: else `verify` would
/// recommend a run that changes nothing. An entry that another one replaces needs nothing more. One that
/// is to move is bound by the recorded conditions, which are all that is known (`resolve` rules 2.6).
fn kept(
    request: &RootRequest<'_>,
    before: &LockFile,
    carried_over: &[(ProviderAddr, ProviderAddr)],
) -> Vec<Query> {
    let requirements = request.requirements;
    if requirements.is_complete() {
        return Vec::new();
    }
    let (flavor, anything) = (request.source.flavor, Constraints::default());
    let entries = before.providers.iter().filter(|(provider, _)| {
        let is_replaced = carried_over.iter().any(|(old, _)| old == *provider);
        let is_usable =
            !provider.is_builtin(flavor) && Refusal::of(provider, &anything, flavor).is_none();
        !request.requires(provider) && !is_replaced && is_usable
    });
    let queries = entries.map(|(provider, entry)| {
        let goal = request.goals.named.get(provider);
        Query {
            provider: provider.clone(),
            constraints: match goal {
                Some(_) => entry.constraints.clone(),
                None => requirements.on_locked(provider, &entry.version, &entry.constraints),
            },
            locked: Some(entry.version.clone()),
            goal: goal.cloned().unwrap_or_default(),
        }
    });
    queries.collect()
}

/// Keeps an entry that nothing visible requires as it is if its source does not have it: this
/// must not keep a root from being locked, because nothing could be done about it.
pub(super) fn pass_over_unavailable<T>(mut root: RootWork<'_, T>) -> RootWork<'_, T> {
    let request = root.request;
    let (unavailable, errors) = root.errors.into_iter().partition(|error| {
        let absent = error.absent();
        absent.is_some_and(|provider| !request.requires(provider))
    });
    root.errors = errors;
    root.unavailable = unavailable;
    root
}

impl<'a, T> RootWork<'a, T> {
    /// Brings every provider one stage further. One that comes to nothing, and why, does not keep
    /// the others from going on.
    pub(super) fn advance<U>(
        self,
        mut step: impl FnMut(T, &mut Vec<LockError>) -> Option<U>,
    ) -> RootWork<'a, U> {
        let mut errors = self.errors;
        let providers = self.providers.into_iter();
        let providers = providers.filter_map(|one| step(one, &mut errors));
        RootWork {
            providers: providers.collect(),
            errors,
            unavailable: self.unavailable,
            request: self.request,
            source: self.source,
            before: self.before,
            carried_over: self.carried_over,
        }
    }
}

/// Something that a source is asked about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Question<T> {
    /// The place of the source among those of the run.
    pub(super) source: usize,
    pub(super) about: T,
}

/// Drops questions that were put before; the order stays.
pub(super) fn distinct<Q: Ord + Clone>(questions: impl IntoIterator<Item = Q>) -> Vec<Q> {
    let mut seen = BTreeSet::new();
    let questions = questions.into_iter();
    questions.filter(|one| seen.insert(one.clone())).collect()
}

/// Asks distinct questions side by side.
pub(super) fn answers<Q: Ord + Sync, A: Send>(
    at_once: NonZeroUsize,
    questions: Vec<Q>,
    ask: impl Fn(&Q) -> A + Sync,
) -> BTreeMap<Q, A> {
    let answers = parallel::map(at_once, &questions, ask);
    questions.into_iter().zip(answers).collect()
}
