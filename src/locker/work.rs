//! Roots on their way through the stages, and questions that several of them have.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use super::{FlavorSource, LockError, RootRequest};
use crate::addr::ProviderAddr;
use crate::lockfile::LockFile;
use crate::parallel;
use crate::resolve::{self, Query, SelectError};

/// A root on its way; `T` is what is known of each of its providers so far.
pub(super) struct RootWork<'a, T> {
    pub(super) request: &'a RootRequest<'a>,
    /// The place of its source among those of the run.
    pub(super) source: usize,
    /// The lock file as it was, with the entries that OpenTofu reads as its own.
    pub(super) before: LockFile,
    /// Entries of Terraform's registry and the OpenTofu ones that stand for them.
    pub(super) carried_over: Vec<(ProviderAddr, ProviderAddr)>,
    /// Required providers that have come this far, sorted.
    pub(super) providers: Vec<T>,
    /// What went wrong so far.
    pub(super) errors: Vec<LockError>,
}

/// Returns the sources of all roots, each once.
pub(super) fn sources<'a>(roots: &[RootRequest<'a>]) -> Vec<&'a FlavorSource<'a>> {
    let mut sources: Vec<&FlavorSource<'a>> = Vec::new();
    for root in roots {
        if !sources
            .iter()
            .any(|known| std::ptr::eq(*known, root.source))
        {
            sources.push(root.source);
        }
    }
    sources
}

/// Starts a root: which providers need a version?
pub(super) fn start<'a>(
    request: &'a RootRequest<'a>,
    sources: &[&FlavorSource<'_>],
) -> RootWork<'a, Query> {
    let source = sources
        .iter()
        .position(|known| std::ptr::eq(*known, request.source))
        .expect("the sources are those of all roots");
    let flavor = request.source.flavor;
    let mut before = request.lock.clone();
    let required = |addr: &ProviderAddr| request.requirements.providers.contains_key(addr);
    let carried_over = before.carry_over(flavor, required);
    let (queries, refused) = resolve::to_query(request.requirements, &before, flavor);
    let refused = refused.into_iter().map(|(provider, refusal)| {
        LockError::from(Box::new(SelectError::Refused { provider, refusal }))
    });
    RootWork {
        request,
        source,
        before,
        carried_over,
        providers: queries,
        errors: refused.collect(),
    }
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
