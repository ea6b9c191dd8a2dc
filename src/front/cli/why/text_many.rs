//! The text of `lockctl why` about several roots.

use std::collections::BTreeSet;

use super::text;
use crate::addr::ProviderAddr;
use crate::cli::Look;
use crate::cli::session::provider;
use crate::flavor::Flavor;
use crate::report::json::{ExplainedProvider, Provider, RequiringPlace};
use crate::report::shared::shared;
use crate::report::shared_table::{MAX_ROWS, TableShape, shared_table};
use crate::report::{RootResult, TextBlock, Tone, reading};

/// Maximum number of roots whose constraints cannot be met, or are not met, that are explained.
const MAX_EXPLAINED: usize = 5;

/// Maximum number of places that several roots share.
const MAX_PLACES: usize = 10;

/// A root with the provider that was asked for.
struct ExplainedRoot<'r> {
    path: &'r str,
    flavor: Flavor,
    explained: &'r ExplainedProvider,
}

/// Shows the constraints of several roots on a provider, each with the locked version once, then the places in
/// modules that roots share.
pub(super) fn folded(roots: &[RootResult], look: Look) -> Vec<TextBlock> {
    let all: Vec<ExplainedRoot<'_>> = roots
        .iter()
        .filter_map(|root| match (root.flavor, root.providers.first()) {
            (Some(flavor), Some(Provider::Explained(explained))) => Some(ExplainedRoot {
                path: &root.path,
                flavor,
                explained,
            }),
            _ => None,
        })
        .collect();
    let (requiring, others): (Vec<&ExplainedRoot<'_>>, Vec<_>) = all
        .iter()
        .partition(|root| !root.explained.places.is_empty());
    if requiring.is_empty() {
        // The sentence may name the locked version, which differs.
        let sentences = others
            .iter()
            .map(|root| (text::not_required(root.explained, root.flavor), root.path));
        return shared(sentences)
            .into_iter()
            .take(MAX_ROWS)
            .map(|same| {
                let (count, names) = (same.count(roots.len()), same.names(false));
                let text = format!("{}: in {count}: {names}", same.fact);
                TextBlock::Verdict(Tone::Warning, text)
            })
            .collect();
    }
    let mut blocks = conditions(roots, &requiring, look);
    blocks.extend(places(&requiring, look));
    let unmet: Vec<&ExplainedRoot<'_>> = requiring
        .iter()
        .copied()
        .filter(|root| !root.explained.is_met())
        .collect();
    blocks.extend(explained(&unmet));
    let tone = if unmet.is_empty() {
        Tone::Good
    } else {
        Tone::Bad
    };
    let name = provider::naming(roots);
    let providers: BTreeSet<&ProviderAddr> = requiring
        .iter()
        .map(|root| &root.explained.provider)
        .collect();
    blocks.extend(providers.into_iter().map(|provider| {
        let count = requiring
            .iter()
            .filter(|root| root.explained.provider == *provider)
            .count();
        let name = name(provider);
        let text = format!("{name} is required in {count} of {} roots", roots.len());
        TextBlock::Verdict(tone, text)
    }));
    blocks
}

/// Says what is wrong in roots whose constraints cannot be met, or are not met; of many in the first ones.
fn explained(unmet: &[&ExplainedRoot<'_>]) -> Vec<TextBlock> {
    let mut blocks: Vec<TextBlock> = unmet
        .iter()
        .take(MAX_EXPLAINED)
        .map(|root| {
            let (tone, sentence) = text::verdict(root.explained, root.flavor);
            TextBlock::Verdict(tone, format!("{}: {sentence}", root.path))
        })
        .collect();
    if unmet.len() > MAX_EXPLAINED {
        let text = format!("… and {} more (-v shows each)", unmet.len() - MAX_EXPLAINED);
        blocks.push(TextBlock::Lines(vec![text]));
    }
    blocks
}

/// Groups the roots by all conditions together and by the locked version.
fn conditions(
    roots: &[RootResult],
    requiring: &[&ExplainedRoot<'_>],
    look: Look,
) -> Vec<TextBlock> {
    let name = provider::naming(roots);
    let facts = requiring.iter().map(|root| {
        let ExplainedProvider {
            provider,
            constraints,
            locked,
            ..
        } = root.explained;
        let mut version = match locked {
            None if provider.is_builtin(root.flavor) => "built in".to_owned(),
            None => "-".to_owned(),
            Some(version) => version.to_string(),
        };
        if !root.explained.satisfiable {
            version += " (no version can meet them)";
        } else if !root.explained.is_met() {
            version += " (does not meet them)";
        }
        let constraints = stated(&constraints.to_string());
        ((provider, constraints, version), root.path)
    });
    let shape = TableShape {
        titles: &["PROVIDER", "CONSTRAINTS", "LOCKED"],
        flexible: &[],
        most: MAX_ROWS / 2,
        terminal: look.terminal,
    };
    shared_table(shape, shared(facts), |(provider, constraints, version)| {
        vec![name(provider), constraints.clone(), version.clone()]
    })
}

/// Lists the places that several roots share, as those in a module that all of them call.
fn places(requiring: &[&ExplainedRoot<'_>], look: Look) -> Vec<TextBlock> {
    let facts = requiring.iter().flat_map(|root| {
        root.explained.places.iter().map(|place| {
            // Roots come to a module of the repository by other ways: `a/../m` and `b/../m` are one.
            let cleaned = RequiringPlace {
                file: reading::cleaned(&place.file),
                ..place.clone()
            };
            let fact = (text::named(&cleaned), stated(&place.constraints));
            (fact, root.path)
        })
    });
    let mut facts = shared(facts);
    facts.retain(|place| place.roots.len() > 1);
    let shape = TableShape {
        titles: &["SHARED PLACE", "CONSTRAINTS"],
        flexible: &[0],
        most: MAX_PLACES,
        terminal: look.terminal,
    };
    shared_table(shape, facts, |(place, constraints)| {
        vec![place.clone(), constraints.clone()]
    })
}

fn stated(constraints: &str) -> String {
    if constraints.is_empty() {
        "any version".to_owned()
    } else {
        constraints.to_owned()
    }
}
