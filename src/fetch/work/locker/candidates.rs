//! The versions that may be selected for every provider.

use super::stages::Choice;
use super::work::{QUESTIONS, Question, RootWork, answers};
use super::{FlavorSource, LockError, RootRequest};
use crate::resolve::{self, Goal, ProviderQuery};
use crate::sources::{Offer, SourceError};
use crate::version::Constraints;

/// Asks for the versions of every required provider and finds those that may be selected.
pub(super) fn find<'a>(
    sources: &[&FlavorSource<'_>],
    roots: Vec<RootWork<'a, ProviderQuery>>,
) -> Vec<RootWork<'a, Choice>> {
    let mut questions = Vec::new();
    for root in &roots {
        for query in &root.providers {
            // The list is asked for even if a version is locked: it may be gone (`resolve` rules 2.1, 2.2). A
            // version that stays and is not allowed fails without an answer (1.2); of one that was named it is of use to
            // know that there is none (2.5).
            if query.check().is_ok() || matches!(query.goal, Goal::Exactly(_)) {
                questions.push(Question {
                    source: root.source,
                    about: query.provider.clone(),
                });
            }
        }
    }
    let offers = answers(QUESTIONS, questions, |question| {
        sources[question.source].source.versions(&question.about)
    });
    roots
        .into_iter()
        .map(|root| {
            let (source, request) = (root.source, root.request);
            root.advance(|query, errors| {
                let about = query.provider.clone();
                let offer = offers.get(&Question { source, about });
                choice(query, offer, request)
                    .map_err(|error| errors.push(error))
                    .ok()
            })
        })
        .collect()
}

fn choice(
    query: ProviderQuery,
    offer: Option<&Result<Offer, SourceError>>,
    request: &RootRequest<'_>,
) -> Result<Choice, LockError> {
    if !matches!(offer, Some(Ok(_))) {
        query.check()?;
    }
    let offer = offer
        .expect("each query that can be met was asked about")
        .as_ref()
        .map_err(Clone::clone)?;
    let mut candidates = resolve::candidates(&query, &offer.versions)?;
    let provider = &query.provider;
    if let Some(policy) = request.policy {
        let newest = candidates[0];
        // A version that stays was judged before the run (`verify::policy::not_lockable`).
        candidates.retain(|version| {
            query.goal == Goal::Keep && query.locked.as_ref() == Some(version)
                || policy.admits(provider, version, request.source.flavor)
        });
        if candidates.is_empty() {
            return Err(LockError::NotAdmitted {
                provider: Box::new(provider.clone()),
                newest: newest.clone(),
            });
        }
    }
    Ok(Choice {
        // All of them, since the newest may turn out to be younger than the policy of the root allows.
        candidates: candidates.into_iter().cloned().collect(),
        newest: Constraints::default()
            .newest(offer.versions.iter())
            .cloned(),
        warnings: offer.warnings.clone(),
        query,
    })
}
