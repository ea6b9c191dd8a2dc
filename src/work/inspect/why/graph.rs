//! A graph of the requirements on a provider: roots, the constraints with their places, the provider.

use std::collections::{BTreeMap, BTreeSet};

use crate::addr::ProviderAddr;
use crate::report::graph::{Edge, Graph, NodeId, NodeShape, Stroke};
use crate::report::json::ExplainedProvider;
use crate::report::{Naming, RootResult};
use crate::run::unseen::some_of;

/// Maximum number of places of a constraint that are named.
const MAX_PLACES: usize = 3;

/// Draws the requirements of one provider; roots with the same constraints share a node.
pub(crate) fn of<'r>(
    rows: impl Iterator<Item = (&'r RootResult, &'r ExplainedProvider)>,
    name: &dyn Fn(&ProviderAddr) -> String,
    place: Naming<'_>,
) -> Graph {
    let mut graph = Graph::default();
    let mut places: BTreeMap<(&ProviderAddr, &str), BTreeSet<String>> = BTreeMap::new();
    let mut roots: BTreeMap<(&ProviderAddr, BTreeSet<&str>), Vec<String>> = BTreeMap::new();
    for (root, row) in rows.filter(|(_, row)| !row.places.is_empty()) {
        let constraints = row.places.iter().map(|place| &*place.constraints).collect();
        roots
            .entry((&row.provider, constraints))
            .or_default()
            .push(place(root, &root.path));
        for required in &row.places {
            let file = place(root, &required.file);
            let at = match required.line {
                Some(line) => format!("{file}:{line}"),
                None => file,
            };
            places
                .entry((&row.provider, &required.constraints))
                .or_default()
                .insert(at);
        }
    }
    let mut providers: BTreeMap<&ProviderAddr, NodeId> = BTreeMap::new();
    let mut conditions: BTreeMap<(&ProviderAddr, &str), NodeId> = BTreeMap::new();
    for ((provider, constraint), places) in places {
        let to = *providers
            .entry(provider)
            .or_insert_with(|| graph.node(NodeShape::Round, vec![name(provider)]));
        let text = if constraint.is_empty() {
            "any version"
        } else {
            constraint
        };
        let more = places.len().saturating_sub(MAX_PLACES);
        let mut lines = vec![text.to_owned()];
        lines.extend(places.into_iter().take(MAX_PLACES));
        lines.extend((more > 0).then(|| format!("and {more} more")));
        let from = graph.node(NodeShape::Box, lines);
        conditions.insert((provider, constraint), from);
        graph.edge(edge(from, to));
    }
    for ((provider, constraints), roots) in roots {
        let from = graph.node(NodeShape::Box, some_of(roots.into_iter()));
        for constraint in constraints {
            graph.edge(edge(from, conditions[&(provider, constraint)]));
        }
    }
    graph
}

fn edge(from: NodeId, to: NodeId) -> Edge {
    Edge {
        from,
        to,
        label: String::new(),
        stroke: Stroke::Solid,
    }
}
